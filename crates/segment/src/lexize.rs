//! The text search dictionary: from a token to its lexemes.
//!
//! It sees the token's text only, not its kind; the form tells what it is. Words of letters are handed on
//! folded, so that a stemmer or a dictionary of synonyms can follow. Everything else ends here:
//!
//! - a Han word gives itself, and its inner words of two and three characters;
//! - a compound gives itself and its parts, unless the parser hands the parts out as tokens of their own
//!   (hyphenated words, addresses);
//! - a number gives itself, and without its sign, percent sign or thousands separators.
//!
//! Lexemes of one variant are AND-ed in a query, variants are OR-ed, all are at the token's position: a
//! query for a compound finds the compound, or all of its parts.
//!
//! What must hold: the lexemes depend on the token and the dictionary alone, none is longer than PostgreSQL
//! takes, and their number is bounded.

use crate::class::{is_emoji, is_han, is_skin_tone};
use crate::fold::fold;
use crate::parser::Parser;
use crate::{Segmenter, StopWords, TokenKind};

/// Longest lexeme PostgreSQL stores, in bytes.
const MAX_LEXEME: usize = 2046;

/// Most parts of one token that are indexed; a long base64 or hash list must not flood the index.
const MAX_PARTS: usize = 64;

/// One lexeme of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lexeme {
    /// Folded text, at most 2,046 bytes.
    pub text: String,
    /// PostgreSQL's `nvariant`: lexemes of one number are AND-ed in a query, numbers are OR-ed.
    pub variant: u16,
    /// An English word, to be stemmed like English words that are tokens of their own.
    pub stem: bool,
}

/// What the dictionary makes of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lexemes {
    /// There is nothing in the token to index.
    Unknown,
    /// A stop word, or a token too long to index.
    Stop,
    /// This folded text is to go on to the next dictionary.
    Filtered(String),
    /// The lexemes of the token, all at its position.
    Words(Vec<Lexeme>),
}

/// The lexemes of a token.
pub fn lexize(token: &str, segmenter: &Segmenter, stop_words: &StopWords) -> Lexemes {
    let folded = fold(token);
    let folded = folded.as_ref();
    let Some(first) = folded.chars().next() else { return Lexemes::Unknown };
    if is_han(first) && folded.chars().all(is_han) {
        return han(folded, segmenter, stop_words);
    }
    if folded.bytes().all(|b| b.is_ascii_lowercase()) {
        return word(folded, stop_words);
    }
    if let Some(emoji) = emoji(folded) {
        return words(vec![lexeme(&emoji, 1)]);
    }
    match whole_kind(folded, segmenter) {
        Some(TokenKind::AsciiWord | TokenKind::Word) => word(folded, stop_words),
        Some(TokenKind::NumWord | TokenKind::Version | TokenKind::SFloat | TokenKind::Uint) => {
            words(vec![lexeme(folded, 1)])
        }
        Some(TokenKind::Float | TokenKind::Int) => number(folded),
        Some(TokenKind::NumHword | TokenKind::AsciiHword | TokenKind::Hword | TokenKind::Url) => {
            words(vec![lexeme(folded, 1)])
        }
        Some(TokenKind::Blank) => Lexemes::Unknown,
        Some(TokenKind::Identifier) if is_number(folded) => number(folded),
        _ => compound(folded, segmenter),
    }
}

fn lexeme(text: &str, variant: u16) -> Lexeme {
    Lexeme { text: text.to_string(), variant, stem: false }
}

/// The lexemes that can be stored; nothing but a stop word if there is none.
fn words(mut lexemes: Vec<Lexeme>) -> Lexemes {
    lexemes.retain(|l| l.text.len() <= MAX_LEXEME);
    if lexemes.is_empty() {
        Lexemes::Stop
    } else {
        Lexemes::Words(lexemes)
    }
}

fn word(folded: &str, stop_words: &StopWords) -> Lexemes {
    if folded.len() > MAX_LEXEME || stop_words.contains(folded) {
        return Lexemes::Stop;
    }
    Lexemes::Filtered(folded.to_string())
}

/// The kind the parser gives to the text if it is one token.
fn whole_kind(folded: &str, segmenter: &Segmenter) -> Option<TokenKind> {
    let token = Parser::new(folded).next_token(segmenter)?;
    (token.end == folded.len()).then_some(token.kind)
}

/// A Han word and its inner words. Inner words as python jieba's `cut_for_search`: every dictionary word of
/// two characters in a word of three and more, of three characters in a word of four and more.
fn han(folded: &str, segmenter: &Segmenter, stop_words: &StopWords) -> Lexemes {
    if stop_words.contains(folded) {
        return Lexemes::Stop;
    }
    let mut lexemes = vec![lexeme(folded, 1)];
    segmenter.for_each_inner_word(folded, |inner| {
        if lexemes.len() <= MAX_PARTS && !stop_words.contains(inner) {
            lexemes.push(lexeme(inner, 2));
        }
    });
    words(lexemes)
}

/// The emoji without the modifiers of its skin, if the text is one. What joins its parts is gone already.
fn emoji(folded: &str) -> Option<String> {
    let is_keycap = folded.ends_with('\u{20E3}');
    let first = folded.chars().next()?;
    if !is_keycap && (first.is_alphanumeric() || !first.is_ascii() && !is_emoji(first) && !is_symbol(first)) {
        return None;
    }
    if first.is_ascii() && !is_keycap {
        return None;
    }
    let plain: String = folded.chars().filter(|c| !is_skin_tone(*c)).collect();
    Some(if plain.is_empty() { folded.to_string() } else { plain })
}

fn is_symbol(c: char) -> bool {
    crate::class::may_be_emoji(c)
}

/// Digits with an optional sign, thousands separators, a fraction and a percent sign.
fn is_number(folded: &str) -> bool {
    folded.ends_with('%')
        || folded.contains(',') && folded.bytes().all(|b| b.is_ascii_digit() || b",.".contains(&b))
}

fn number(folded: &str) -> Lexemes {
    let plain: String = folded.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
    let mut lexemes = vec![lexeme(folded, 1)];
    if plain != folded {
        lexemes.push(lexeme(&plain, 2));
    }
    words(lexemes)
}

fn compound(folded: &str, segmenter: &Segmenter) -> Lexemes {
    let mut lexemes = vec![lexeme(folded, 1)];
    let _ = segmenter;
    for part in folded.split(|c: char| !c.is_alphanumeric()).filter(|p| !p.is_empty()).take(MAX_PARTS) {
        lexemes.push(Lexeme { stem: part.bytes().all(|b| b.is_ascii_lowercase()), ..lexeme(part, 2) });
    }
    words(lexemes)
}
