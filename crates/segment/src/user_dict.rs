//! The users' own words: one entry, its rules, and the text form `word [freq] [tag]`.
//!
//! It does not touch a dictionary; [`crate::Segmenter::set_user_words`] does.

use std::fmt;

/// Longest word a user may add, in characters; longer ones only slow every look-up down.
const MAX_WORD_CHARS: usize = 64;

/// Highest frequency a user may give; the whole default dictionary sums up to 60 million, and a word
/// above that wins every cut anyway.
const MAX_FREQ: usize = 1_000_000_000;

/// A word of the user dictionary.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct UserWord {
    /// The word, as it stands in texts.
    pub word: String,
    /// Its frequency; `None` picks the lowest one that keeps the word whole.
    pub freq: Option<usize>,
    /// Its part of speech, as in jieba's dictionary.
    pub tag: Option<String>,
}

/// Why a word cannot be in the user dictionary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserWordError {
    /// It has no characters.
    Empty,
    /// It contains a blank; the segmenter cuts at blanks first, so it could never be found.
    Blank,
    /// It contains a control character or NUL.
    Control,
    /// It has neither a letter nor a digit.
    OnlyPunctuation,
    /// It has more than 64 characters.
    TooLong,
}

impl fmt::Display for UserWordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UserWordError::Empty => f.write_str("the word is empty"),
            UserWordError::Blank => f.write_str("the word contains a blank, and text is cut at blanks first"),
            UserWordError::Control => f.write_str("the word contains a control character"),
            UserWordError::OnlyPunctuation => f.write_str("the word has neither a letter nor a digit"),
            UserWordError::TooLong => write!(f, "the word has more than {MAX_WORD_CHARS} characters"),
        }
    }
}

impl std::error::Error for UserWordError {}

/// The first bad line of a user dictionary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserDictError {
    /// Number of the line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for UserDictError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for UserDictError {}

/// Whether `word` can be in the user dictionary.
pub(crate) fn validate(word: &str) -> Result<(), UserWordError> {
    if word.is_empty() {
        return Err(UserWordError::Empty);
    }
    if word.chars().any(char::is_whitespace) {
        return Err(UserWordError::Blank);
    }
    if word.chars().any(char::is_control) {
        return Err(UserWordError::Control);
    }
    if word.chars().nth(MAX_WORD_CHARS).is_some() {
        return Err(UserWordError::TooLong);
    }
    if !word.chars().any(char::is_alphanumeric) {
        return Err(UserWordError::OnlyPunctuation);
    }
    Ok(())
}

/// Read a user dictionary: one `word [freq] [tag]` a line, as jieba's own files. Blank lines and a byte
/// order mark are skipped.
///
/// # Errors
/// The first bad line; nothing of the text is to be used then.
pub fn parse_user_dict(text: &str) -> Result<Vec<UserWord>, UserDictError> {
    let mut words = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let bad = |reason: String| UserDictError { line: index + 1, reason };
        let line = line.trim_start_matches('\u{feff}');
        let mut fields = line.split_whitespace();
        let Some(word) = fields.next() else { continue };
        validate(word).map_err(|e| bad(e.to_string()))?;
        let (mut freq, mut tag) = (None, None);
        if let Some(field) = fields.next() {
            if field.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+') {
                let value = field.parse::<usize>().ok().filter(|f| *f <= MAX_FREQ);
                freq = Some(
                    value
                        .ok_or_else(|| bad(format!("the frequency is not a number from 0 to {MAX_FREQ}")))?,
                );
                tag = fields.next();
            } else {
                tag = Some(field);
            }
        }
        if fields.next().is_some() {
            return Err(bad("more than a word, a frequency and a tag".to_string()));
        }
        words.push(UserWord { word: word.to_string(), freq, tag: tag.map(str::to_string) });
    }
    Ok(words)
}
