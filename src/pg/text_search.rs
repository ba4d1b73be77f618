//! Text search parser and dictionary `jieba`: PostgreSQL's callbacks around `memory_segment`.
//!
//! Parser: start → state, nexttoken → (kind, bytes), end. Dictionary: init(options) → state, lexize(token)
//! → lexemes. States are dropped with the memory context that PostgreSQL made them in, so an ERROR leaks
//! nothing. Nothing here keeps a pointer across calls except into the text PostgreSQL passed to start.

use std::ffi::{c_char, CStr};

use memory_segment::{lexize, Lexemes, Parser, StopWords, TokenKind};
use pgrx::pg_sys;
use pgrx::prelude::*;
use pgrx::PgMemoryContexts;

use super::{catalog, words};
use crate::error::Failure;

macro_rules! v1_function {
    ($info:ident) => {
        #[no_mangle]
        #[doc(hidden)]
        pub extern "C" fn $info() -> &'static pg_sys::Pg_finfo_record {
            const RECORD: pg_sys::Pg_finfo_record = pg_sys::Pg_finfo_record { api_version: 1 };
            &RECORD
        }
    };
}

/// # Safety
/// `index` is smaller than the number of arguments the SQL declaration has.
unsafe fn argument(fcinfo: pg_sys::FunctionCallInfo, index: usize) -> pg_sys::Datum {
    (*(*fcinfo).args.as_slice(index + 1).as_ptr().add(index)).value
}

/// State of a running parser; emptied at the end so that the memory is free at once.
struct ParserState {
    parser: Option<Parser<'static>>,
    text: *mut c_char,
    tokens: u32,
}

v1_function!(pg_finfo_jieba_parser_start);
#[no_mangle]
#[pg_guard]
unsafe extern "C-unwind" fn jieba_parser_start(fcinfo: pg_sys::FunctionCallInfo) -> pg_sys::Datum {
    if !catalog::is_utf8() {
        Failure::new(
            PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
            "text search parser \"jieba\" needs a database with encoding UTF8",
        )
        .hint("Create the database with: create database … encoding 'UTF8' template template0.")
        .raise();
    }
    let text = argument(fcinfo, 0).cast_mut_ptr::<c_char>();
    let length = argument(fcinfo, 1).value() as i32;
    let bytes: &'static [u8] = if text.is_null() || length <= 0 {
        &[]
    } else {
        std::slice::from_raw_parts(text.cast::<u8>(), length as usize)
    };
    let valid: &'static str = match std::str::from_utf8(bytes) {
        Ok(valid) => valid,
        Err(error) => Failure::new(
            PgSqlErrorCode::ERRCODE_CHARACTER_NOT_IN_REPERTOIRE,
            format!("invalid UTF-8 at byte {} of the text to parse", error.valid_up_to()),
        )
        .raise(),
    };
    words::look_for_changes();
    let state = ParserState { parser: Some(Parser::new(valid)), text, tokens: 0 };
    pg_sys::Datum::from(PgMemoryContexts::CurrentMemoryContext.leak_and_drop_on_delete(state))
}

v1_function!(pg_finfo_jieba_parser_nexttoken);
#[no_mangle]
#[pg_guard]
unsafe extern "C-unwind" fn jieba_parser_nexttoken(fcinfo: pg_sys::FunctionCallInfo) -> pg_sys::Datum {
    let state = &mut *argument(fcinfo, 0).cast_mut_ptr::<ParserState>();
    state.tokens = state.tokens.wrapping_add(1);
    if state.tokens.is_multiple_of(1024) {
        pgrx::check_for_interrupts!();
    }
    let Some(parser) = state.parser.as_mut() else { return pg_sys::Datum::from(0usize) };
    match words::for_token(|segmenter| parser.next_token(segmenter)) {
        Some(token) => {
            *argument(fcinfo, 1).cast_mut_ptr::<*mut c_char>() = state.text.add(token.start);
            *argument(fcinfo, 2).cast_mut_ptr::<i32>() = (token.end - token.start) as i32;
            pg_sys::Datum::from(usize::from(token.kind.number()))
        }
        None => pg_sys::Datum::from(0usize),
    }
}

v1_function!(pg_finfo_jieba_parser_end);
#[no_mangle]
#[pg_guard]
unsafe extern "C-unwind" fn jieba_parser_end(fcinfo: pg_sys::FunctionCallInfo) -> pg_sys::Datum {
    (*argument(fcinfo, 0).cast_mut_ptr::<ParserState>()).parser = None;
    (*fcinfo).isnull = false;
    pg_sys::Datum::from(0usize)
}

v1_function!(pg_finfo_jieba_parser_lextype);
#[no_mangle]
#[pg_guard]
unsafe extern "C-unwind" fn jieba_parser_lextype(_fcinfo: pg_sys::FunctionCallInfo) -> pg_sys::Datum {
    let kinds = TokenKind::ALL;
    let list = pg_sys::palloc0((kinds.len() + 1) * std::mem::size_of::<pg_sys::LexDescr>())
        .cast::<pg_sys::LexDescr>();
    for (index, kind) in kinds.iter().enumerate() {
        let entry = &mut *list.add(index);
        entry.lexid = i32::from(kind.number());
        entry.alias = copy_string(kind.name());
        entry.descr = copy_string(kind.description());
    }
    pg_sys::Datum::from(list)
}

/// A NUL-terminated copy in the current memory context.
///
/// # Safety
/// Needs a current memory context, as every call from PostgreSQL has.
unsafe fn copy_string(text: &str) -> *mut c_char {
    pg_sys::pnstrdup(text.as_ptr().cast(), text.len())
}

/// State of the dictionary.
struct DictionaryState {
    stop_words: StopWords,
    /// `english_stem`, found at the first word that needs it.
    stemmer: std::cell::Cell<pg_sys::Oid>,
}

v1_function!(pg_finfo_jieba_dictionary_init);
#[no_mangle]
#[pg_guard]
unsafe extern "C-unwind" fn jieba_dictionary_init(fcinfo: pg_sys::FunctionCallInfo) -> pg_sys::Datum {
    let options = argument(fcinfo, 0).cast_mut_ptr::<pg_sys::List>();
    let mut stop_words = StopWords::builtin();
    let count = if options.is_null() { 0 } else { (*options).length };
    for index in 0..count {
        let option = (*(*options).elements.add(index as usize)).ptr_value.cast::<pg_sys::DefElem>();
        let name = CStr::from_ptr((*option).defname).to_string_lossy().to_lowercase();
        let value = CStr::from_ptr(pg_sys::defGetString(option)).to_string_lossy().into_owned();
        match (name.as_str(), value.as_str()) {
            ("stopwords", "builtin") => stop_words = StopWords::builtin(),
            ("stopwords", "none") => stop_words = StopWords::none(),
            ("stopwords", file) => stop_words = read_stop_file(file),
            _ => Failure::argument(format!("unrecognized jieba parameter: \"{name}\""))
                .hint("The only parameter is \"stopwords\": builtin, none, or the name of a file in tsearch_data.")
                .raise(),
        }
    }
    let state = DictionaryState { stop_words, stemmer: std::cell::Cell::new(pg_sys::InvalidOid) };
    pg_sys::Datum::from(PgMemoryContexts::CurrentMemoryContext.leak_and_drop_on_delete(state))
}

/// A stop-word file of `tsearch_data`, read by PostgreSQL's own reader, which checks the name.
///
/// # Safety
/// Needs a current memory context.
unsafe fn read_stop_file(name: &str) -> StopWords {
    let mut list = pg_sys::StopList::default();
    pg_sys::readstoplist(copy_string(name), &mut list, None);
    let mut lines = String::new();
    for index in 0..list.len {
        lines.push_str(&CStr::from_ptr(*list.stop.add(index as usize)).to_string_lossy());
        lines.push('\n');
    }
    StopWords::from_lines(&lines)
}

v1_function!(pg_finfo_jieba_dictionary_lexize);
#[no_mangle]
#[pg_guard]
unsafe extern "C-unwind" fn jieba_dictionary_lexize(fcinfo: pg_sys::FunctionCallInfo) -> pg_sys::Datum {
    let state = &*argument(fcinfo, 0).cast_mut_ptr::<DictionaryState>();
    let start = argument(fcinfo, 1).cast_mut_ptr::<u8>();
    let length = argument(fcinfo, 2).value() as i32;
    let bytes = std::slice::from_raw_parts(start, usize::try_from(length).unwrap_or(0));
    let Ok(token) = std::str::from_utf8(bytes) else { return pg_sys::Datum::from(0usize) };
    match words::for_token(|segmenter| lexize(token, segmenter, &state.stop_words)) {
        Lexemes::Unknown => pg_sys::Datum::from(0usize),
        Lexemes::Stop => pg_sys::Datum::from(allocate(0)),
        Lexemes::Filtered(text) => {
            let list = allocate(1);
            (*list).lexeme = copy_string(&text);
            (*list).flags = pg_sys::TSL_FILTER as u16;
            pg_sys::Datum::from(list)
        }
        Lexemes::Words(lexemes) => {
            let list = allocate(lexemes.len());
            for (index, lexeme) in lexemes.iter().enumerate() {
                let entry = &mut *list.add(index);
                entry.nvariant = lexeme.variant;
                entry.lexeme =
                    if lexeme.stem { stem(state, &lexeme.text) } else { copy_string(&lexeme.text) };
            }
            pg_sys::Datum::from(list)
        }
    }
}

/// Room for `count` lexemes and the terminator.
///
/// # Safety
/// Needs a current memory context.
unsafe fn allocate(count: usize) -> *mut pg_sys::TSLexeme {
    pg_sys::palloc0((count + 1) * std::mem::size_of::<pg_sys::TSLexeme>()).cast()
}

/// The word as `english_stem` has it; the word itself where that dictionary drops it.
///
/// # Safety
/// Needs a current memory context and a transaction.
unsafe fn stem(state: &DictionaryState, word: &str) -> *mut c_char {
    if state.stemmer.get() == pg_sys::InvalidOid {
        let name = pg_sys::lappend(
            pg_sys::lappend(std::ptr::null_mut(), pg_sys::makeString(copy_string("pg_catalog")).cast()),
            pg_sys::makeString(copy_string("english_stem")).cast(),
        );
        state.stemmer.set(pg_sys::get_ts_dict_oid(name, true));
    }
    if state.stemmer.get() == pg_sys::InvalidOid {
        return copy_string(word);
    }
    let dictionary = pg_sys::lookup_ts_dictionary_cache(state.stemmer.get());
    let stems = pg_sys::FunctionCall4Coll(
        &mut (*dictionary).lexize,
        pg_sys::InvalidOid,
        pg_sys::Datum::from((*dictionary).dictData),
        pg_sys::Datum::from(word.as_ptr()),
        pg_sys::Datum::from(word.len() as i32),
        pg_sys::Datum::from(0usize),
    )
    .cast_mut_ptr::<pg_sys::TSLexeme>();
    if stems.is_null() || (*stems).lexeme.is_null() {
        return copy_string(word);
    }
    (*stems).lexeme
}
