//! Words as SQL functions: cuts, tags, keywords, folding, and checks of the user dictionary.
//!
//! The text search parser and dictionary themselves are in `pg::text_search`; the thinking is in the crate
//! `memory_segment`.

use memory_segment::{KeywordMethod, Segmenter};
use pgrx::iter::TableIterator;
use pgrx::prelude::*;

use crate::embed::shorten;
use crate::error::{Failure, OrRaise};
use crate::pg::words;

fn owned(words: Vec<&str>) -> Vec<String> {
    words.into_iter().map(str::to_owned).collect()
}

#[pg_extern(sql = false)]
fn jieba_cut(text: &str, hmm: bool) -> Vec<String> {
    words::with_segmenter(|segmenter| owned(segmenter.cut(text, hmm)))
}

#[pg_extern(sql = false)]
fn jieba_cut_for_search(text: &str, hmm: bool) -> Vec<String> {
    words::with_segmenter(|segmenter| owned(segmenter.cut_for_search(text, hmm)))
}

#[pg_extern(sql = false)]
fn jieba_cut_all(text: &str) -> Vec<String> {
    words::with_segmenter(|segmenter| owned(segmenter.cut_all(text)))
}

#[pg_extern(sql = false)]
fn jieba_tag(text: &str) -> TableIterator<'static, (name!(word, String), name!(tag, String))> {
    let rows: Vec<(String, String)> = words::with_segmenter(|segmenter| {
        segmenter.tag(text).into_iter().map(|(word, tag)| (word.to_owned(), tag.to_owned())).collect()
    });
    TableIterator::new(rows)
}

#[pg_extern(sql = false)]
fn jieba_keywords(
    text: &str,
    k: i32,
    method: &str,
) -> TableIterator<'static, (name!(word, String), name!(weight, f64))> {
    let method = match method {
        "tfidf" => KeywordMethod::TfIdf,
        "textrank" => KeywordMethod::TextRank,
        other => Failure::argument(format!("unknown keyword method: \"{}\"", shorten(other)))
            .hint("Use 'tfidf' or 'textrank'.")
            .raise(),
    };
    let count = usize::try_from(k).unwrap_or(0);
    TableIterator::new(words::with_segmenter(|segmenter| segmenter.keywords(text, count, method)))
}

#[pg_extern(sql = false)]
fn jieba_fold(text: &str) -> String {
    memory_segment::fold(text).into_owned()
}

/// Raises if a word cannot be a dictionary entry; true otherwise. For the check constraint of `memory_words`.
#[pg_extern(sql = false)]
fn jieba_check_word(word: &str) -> bool {
    Segmenter::validate_user_word(word)
        .map_err(|error| {
            Failure::argument(format!("word \"{}\" cannot be a dictionary entry: {error}", shorten(word)))
                .hint("A dictionary word has at most 64 characters, no blanks, and at least one letter, digit or Chinese character.")
        })
        .or_raise();
    true
}

/// Lines of a jieba user dictionary as rows.
#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)]
fn jieba_parse_dictionary(
    text: &str,
) -> TableIterator<'static, (name!(word, String), name!(freq, Option<i32>), name!(tag, Option<String>))> {
    let entries = memory_segment::parse_user_dict(text)
        .map_err(|error| {
            Failure::new(
                PgSqlErrorCode::ERRCODE_INVALID_TEXT_REPRESENTATION,
                format!("invalid user dictionary at line {}: {}", error.line, error.reason),
            )
            .hint("A line is: word [frequency] [tag].")
        })
        .or_raise();
    TableIterator::new(entries.into_iter().map(|entry| {
        let freq = entry.freq.map(|freq| i32::try_from(freq).unwrap_or(i32::MAX));
        (entry.word, freq, entry.tag)
    }))
}
