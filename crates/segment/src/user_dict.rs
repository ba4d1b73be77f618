//! The users' own words: one entry, its rules, and the text form `word [freq] [tag]`.
//!
//! It does not touch a dictionary; [`crate::Segmenter::set_user_words`] does.

use crate::segmenter;
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
    /// Its frequency, from 1; `None` picks the lowest one that keeps the word whole.
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
    /// It contains this character, at which the segmenter cuts first, so it could never be found.
    CutCharacter(char),
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
            UserWordError::CutCharacter(c) => {
                write!(f, "the word contains \"{c}\", and text is cut there first")
            }
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
    match word.chars().find(|c| !segmenter::is_word_character(*c)) {
        Some(c) => Err(UserWordError::CutCharacter(c)),
        None => Ok(()),
    }
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
        if line.starts_with(char::is_whitespace) && word.bytes().all(|b| b.is_ascii_digit()) {
            return Err(bad("the word is missing".to_string()));
        }
        validate(word).map_err(|e| bad(e.to_string()))?;
        let (mut freq, mut tag) = (None, None);
        if let Some(field) = fields.next() {
            if field.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+') {
                let value = field.parse().ok().filter(|freq| (1..=MAX_FREQ).contains(freq));
                let range = format!("the frequency is not a number from 1 to {MAX_FREQ}");
                freq = Some(value.ok_or_else(|| bad(range))?);
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{parse_user_dict, validate, UserWord, UserWordError};

    fn word(word: &str, freq: Option<usize>, tag: Option<&str>) -> UserWord {
        UserWord { word: word.to_string(), freq, tag: tag.map(str::to_string) }
    }

    #[test]
    fn reads_words_with_and_without_frequency_and_tag() {
        let text = "\u{feff}云海科技 5 nz\r\n\n  只有词\n缺频率 nz\n有频率\t7\n\u{feff}带BOM 3 n\n   \n";
        let words = parse_user_dict(text).unwrap();
        assert_eq!(
            words,
            [
                word("云海科技", Some(5), Some("nz")),
                word("只有词", None, None),
                word("缺频率", None, Some("nz")),
                word("有频率", Some(7), None),
                word("带BOM", Some(3), Some("n")),
            ]
        );
        assert!(parse_user_dict("").unwrap().is_empty());
    }

    #[test]
    fn names_the_first_bad_line() {
        for (text, line) in [
            ("\n云海科技 5 nz\n\n 3 n\n负频率 -7 n\n", 4),
            ("好词 1 n\n负频率 -7 n\n", 2),
            ("大频率 99999999999999999999 n", 1),
            ("零频率 0 n", 1),
            ("好词\n多 1 n 了\n", 2),
            ("，。 3 n", 1),
            ("列奥纳多·达芬奇 3 nr", 1),
        ] {
            let error = parse_user_dict(text).unwrap_err();
            assert_eq!(error.line, line, "{error}");
            assert!(error.to_string().starts_with(&format!("line {line}: ")));
        }
    }

    #[test]
    fn refuses_words_that_could_never_be_found() {
        assert_eq!(validate(""), Err(UserWordError::Empty));
        assert_eq!(validate("Blue Whale认证"), Err(UserWordError::Blank));
        assert_eq!(validate("云\u{3000}海"), Err(UserWordError::Blank));
        assert_eq!(validate("云\0海"), Err(UserWordError::Control));
        assert_eq!(validate("--"), Err(UserWordError::OnlyPunctuation));
        assert_eq!(validate("。，"), Err(UserWordError::OnlyPunctuation));
        assert_eq!(validate("达·芬奇"), Err(UserWordError::CutCharacter('·')));
        assert_eq!(validate(&"长".repeat(65)), Err(UserWordError::TooLong));
        for good in ["云海科技", "小w", "GPT-4o", "C++", "𠮷野家", "資料庫", &"长".repeat(64)] {
            assert_eq!(validate(good), Ok(()), "{good}");
        }
    }
}
