//! The text search dictionary: from a token to its lexemes.
//!
//! It sees the token's text only, not its kind; the form tells what it is. Words of letters are handed on
//! folded, so that a stemmer or a dictionary of synonyms can follow. Everything else ends here:
//!
//! - a Han word gives itself, and its inner words of two and three characters;
//! - a compound gives itself and its parts, unless the parser hands the parts out as tokens of their own
//!   (hyphenated words, addresses);
//! - a name with a number, such as `Vue3`, gives itself, the name and the number;
//! - a number gives itself, and its digits without sign, percent sign or thousands separators.
//!
//! Lexemes of one variant are AND-ed in a query, variants are OR-ed, all are at the token's position: a
//! query for a compound finds the compound, or all of its parts.
//!
//! What must hold: the lexemes depend on the token and the dictionary alone, none is longer than PostgreSQL
//! takes, and their number is bounded.

use crate::class::{is_emoji, is_han, is_skin_tone, may_be_emoji};
use crate::fold::fold;
use crate::parser::Parser;
use crate::{Segmenter, StopWords, TokenKind};
use smallvec::SmallVec;
use std::borrow::Cow;
use unicode_normalization::char::is_combining_mark;

/// Longest lexeme PostgreSQL stores, in bytes.
const MAX_LEXEME: usize = 2046;

/// Most parts of one token that are indexed; a long base64 or hash list must not flood the index.
const MAX_PARTS: usize = 64;

/// One lexeme of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lexeme<'t> {
    /// Folded text, at most 2,046 bytes; of the token itself if that was folded already.
    pub text: Cow<'t, str>,
    /// PostgreSQL's `nvariant`: lexemes of one number are AND-ed in a query, numbers are OR-ed.
    pub variant: u16,
    /// An English word, to be stemmed like English words that are tokens of their own.
    pub stem: bool,
}

/// What the dictionary makes of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lexemes<'t> {
    /// There is nothing in the token to index.
    Unknown,
    /// A stop word, or a token too long to index.
    Stop,
    /// This folded text is to go on to the next dictionary.
    Filtered(Cow<'t, str>),
    /// The lexemes of the token, all at its position.
    Words(SmallVec<[Lexeme<'t>; 1]>),
}

/// The lexemes of a token.
pub fn lexize<'t>(token: &'t str, segmenter: &Segmenter, stop_words: &StopWords) -> Lexemes<'t> {
    let folded = fold(token);
    let text = folded.as_ref();
    let Some(first) = text.chars().next() else { return Lexemes::Unknown };
    if is_han(first) && text.chars().all(is_han) {
        return han(folded, segmenter, stop_words);
    }
    if text.bytes().all(|b| b.is_ascii_lowercase()) {
        return word(folded, stop_words);
    }
    if is_emoji_token(token, text) {
        return emoji(folded);
    }
    match whole_kind(text, segmenter) {
        Some(TokenKind::AsciiWord | TokenKind::Word) => word(folded, stop_words),
        Some(TokenKind::Version | TokenKind::SFloat | TokenKind::Uint) => whole(folded),
        Some(TokenKind::Float | TokenKind::Int) => number(folded),
        Some(TokenKind::NumHword | TokenKind::AsciiHword | TokenKind::Hword | TokenKind::Url) => {
            whole(folded)
        }
        Some(TokenKind::Identifier) if is_decorated_number(text) => number(folded),
        Some(TokenKind::Blank) => Lexemes::Unknown,
        _ => compound(folded, segmenter),
    }
}

/// The kind the parser gives to the text if it is one token.
fn whole_kind(folded: &str, segmenter: &Segmenter) -> Option<TokenKind> {
    if folded.bytes().all(|b| b.is_ascii_digit()) {
        return Some(TokenKind::Uint);
    }
    let token = Parser::new(folded).next_token(segmenter)?;
    (token.end == folded.len()).then_some(token.kind)
}

fn word<'t>(folded: Cow<'t, str>, stop_words: &StopWords) -> Lexemes<'t> {
    if folded.len() > MAX_LEXEME || stop_words.contains(&folded) {
        return Lexemes::Stop;
    }
    Lexemes::Filtered(folded)
}

fn whole(folded: Cow<'_, str>) -> Lexemes<'_> {
    Collector::default().finish(folded)
}

/// A Han word and its inner words, by the rule of python jieba's `cut_for_search`.
fn han<'t>(folded: Cow<'t, str>, segmenter: &Segmenter, stop_words: &StopWords) -> Lexemes<'t> {
    if stop_words.contains(&folded) {
        return Lexemes::Stop;
    }
    let mut parts = Collector::default();
    segmenter.for_each_inner_word(&folded, |inner| {
        if !stop_words.contains(inner) {
            parts.add(inner);
        }
    });
    parts.finish(folded)
}

/// Whether the parser would call the token an emoji. Folding takes the selector away that makes an emoji of
/// some symbols.
fn is_emoji_token(token: &str, folded: &str) -> bool {
    let Some(first) = folded.chars().next() else { return false };
    is_emoji(first)
        || may_be_emoji(first) && token.contains('\u{FE0F}')
        || first.is_ascii_digit() && folded.chars().nth(1) == Some('\u{20E3}')
}

/// An emoji without the colour of its skin; what joins its parts was folded away.
fn emoji(folded: Cow<'_, str>) -> Lexemes<'_> {
    let plain: String = folded.chars().filter(|c| !is_skin_tone(*c)).collect();
    whole(if plain.is_empty() { folded } else { Cow::Owned(plain) })
}

/// Whether an identifier is a number with a percent sign or thousands separators.
fn is_decorated_number(folded: &str) -> bool {
    let digits = folded.trim_start_matches(['+', '-']);
    let digits = digits.strip_suffix('%').unwrap_or(digits);
    let is_plain = digits.bytes().all(|b| b.is_ascii_digit() || matches!(b, b',' | b'.'));
    is_plain && (folded.ends_with('%') || digits.contains(','))
}

/// A number as it stands, and its digits alone.
fn number(folded: Cow<'_, str>) -> Lexemes<'_> {
    let mut parts = Collector::default();
    let digits: String = folded.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
    parts.add(&digits);
    parts.finish(folded)
}

/// A compound and its parts, coarse ones first: the names between slashes and the like, those without their
/// extension, the runs of letters and digits.
fn compound<'t>(folded: Cow<'t, str>, segmenter: &Segmenter) -> Lexemes<'t> {
    let mut parts = Collector::default();
    if let Some(version) = plain_version(&folded) {
        parts.add(version);
        return parts.finish(folded);
    }
    for name in folded.split(|c: char| !is_name(c)).map(|name| name.trim_matches(is_joint)) {
        parts.add(name);
        let mut rest = name;
        while let Some(at) = splitting_dot(rest).filter(|_| !parts.is_full()) {
            let (head, tail) = rest.split_at(at);
            parts.add(head.trim_matches(is_joint));
            rest = tail.trim_start_matches(is_joint);
        }
        parts.add(rest.trim_matches(is_joint));
        runs(name, segmenter, &mut parts);
        if parts.is_full() {
            break;
        }
    }
    parts.finish(folded)
}

/// The number of a version such as `v1.2.3`.
fn plain_version(folded: &str) -> Option<&str> {
    let number = folded.strip_prefix('v')?;
    let is_number = number.contains('.') && number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    is_number.then_some(number)
}

/// Characters of the names that slashes, colons and the like stand between.
fn is_name(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c) || is_joint(c) || matches!(c, '+' | '#')
}

fn is_joint(c: char) -> bool {
    matches!(c, '.' | '-' | '_')
}

/// The first dot of `name` that is not between digits.
fn splitting_dot(name: &str) -> Option<usize> {
    let bytes = name.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    bytes
        .iter()
        .enumerate()
        .position(|(at, b)| *b == b'.' && !(is_digit(at.wrapping_sub(1)) && is_digit(at + 1)))
}

/// The runs of letters and digits of `name`; Han runs are cut into words.
fn runs(name: &str, segmenter: &Segmenter, parts: &mut Collector) {
    let mut rest = name.trim_start_matches(|c: char| !is_word(c));
    while let Some(first) = rest.chars().next().filter(|_| !parts.is_full()) {
        let end = rest.find(|c: char| !is_word(c) || is_han(c) != is_han(first)).unwrap_or(rest.len());
        let (run, tail) = rest.split_at(end);
        let mut end = end;
        if is_han(first) {
            segmenter.for_each_word(run, |word| {
                parts.add(word);
                segmenter.for_each_inner_word(word, |inner| parts.add(inner));
            });
        } else if run.bytes().all(|b| b.is_ascii_digit()) {
            let number = decimal(rest).unwrap_or(run);
            parts.add(number);
            end = number.len();
        } else {
            let sign = ["++", "#"].into_iter().find(|sign| tail.starts_with(sign));
            if let Some(sign) = sign {
                end += sign.len();
                parts.add(rest.get(..end).unwrap_or(run));
            }
            // C of C++ is another language.
            if sign.is_none() || run.chars().nth(2).is_some() {
                parts.add(run);
                name_and_number(run, parts);
            }
        }
        rest = rest.get(end..).unwrap_or("").trim_start_matches(|c: char| !is_word(c));
    }
}

/// The digits and dots at the start of `text`, if they are one number: `18.0` and `7.2.1`, but not `1.2a`.
fn decimal(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, tail) = text.split_at(end);
    let number = number.trim_end_matches('.');
    (!number.contains("..") && !tail.starts_with(is_word)).then_some(number)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c)
}

/// A name with a number behind it, such as `vue3` or `pg18`, also is the name and the number. Not so codes
/// of single letters (`v2`, `h264`) and mixtures, such as hashes.
fn name_and_number(run: &str, parts: &mut Collector) {
    let letters = run.bytes().take_while(u8::is_ascii_lowercase).count();
    let (name, number) = run.split_at(letters);
    let is_number = (1..=4).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
    if letters >= 2 && is_number {
        parts.add(name);
        parts.add(number);
    }
}

/// Gathers the parts of a token.
#[derive(Default)]
struct Collector {
    parts: Vec<String>,
}

impl Collector {
    fn is_full(&self) -> bool {
        self.parts.len() >= MAX_PARTS
    }

    /// Add a part, unless it is there already or cannot be stored.
    fn add(&mut self, part: &str) {
        let fits = (1..=MAX_LEXEME).contains(&part.len()) && !self.is_full();
        if fits && self.parts.iter().all(|other| other != part) {
            self.parts.push(part.to_string());
        }
    }

    /// The whole token as variant 1 and its parts as variant 2; a token of which nothing can be stored is a
    /// stop word.
    fn finish(self, whole: Cow<'_, str>) -> Lexemes<'_> {
        let mut lexemes = SmallVec::with_capacity(1 + self.parts.len());
        for part in self.parts.into_iter().filter(|part| *part != whole) {
            let stem = part.bytes().all(|b| b.is_ascii_lowercase());
            lexemes.push(Lexeme { text: Cow::Owned(part), variant: 2, stem });
        }
        if whole.len() <= MAX_LEXEME {
            lexemes.insert(0, Lexeme { text: whole, variant: 1, stem: false });
        }
        if lexemes.is_empty() {
            Lexemes::Stop
        } else {
            Lexemes::Words(lexemes)
        }
    }
}
