//! Stop words: words that are in nearly every text and tell nothing about it.
//!
//! The Chinese list holds particles, conjunctions, prepositions, pronouns and question words. Words of
//! content, also those of one character (猫, 水), stay out of it, and so do negations (不, 没), time words
//! and `有`. The English list is PostgreSQL's `english.stop`.

use crate::fold;
use rustc_hash::FxHashSet;

const CHINESE: &str = include_str!("stop/chinese.txt");
const ENGLISH: &str = include_str!("stop/english.txt");

/// A set of folded words that get no index entry.
#[derive(Debug, Clone, Default)]
pub struct StopWords {
    words: FxHashSet<Box<str>>,
    /// Bytes of the longest one; a longer word needs no look-up.
    longest: usize,
}

impl StopWords {
    /// Chinese function words and PostgreSQL's English stop words.
    pub fn builtin() -> Self {
        let mut stop_words = Self::from_lines(CHINESE);
        stop_words.add_lines(ENGLISH);
        stop_words
    }

    /// No stop words at all.
    pub fn none() -> Self {
        StopWords::default()
    }

    /// One word a line; blank lines are skipped, words are folded.
    pub fn from_lines(lines: &str) -> Self {
        let mut stop_words = Self::none();
        stop_words.add_lines(lines);
        stop_words
    }

    fn add_lines(&mut self, lines: &str) {
        for word in lines.lines().map(|line| fold(line.trim())).filter(|word| !word.is_empty()) {
            self.longest = self.longest.max(word.len());
            self.words.insert(word.into_owned().into_boxed_str());
        }
    }

    /// Whether `word`, which must be folded, is a stop word.
    pub fn contains(&self, word: &str) -> bool {
        word.len() <= self.longest && self.words.contains(word)
    }
}

#[cfg(test)]
mod tests {
    use super::StopWords;

    #[test]
    fn function_words_go_and_content_words_stay() {
        let stop_words = StopWords::builtin();
        for word in ["的", "了", "是", "和", "与", "以及", "什么", "the", "of", "and"] {
            assert!(stop_words.contains(word), "{word}");
        }
        for word in ["", "狗", "猫", "水", "茶", "有", "不", "没", "桌上", "not a word", "postgres"]
        {
            assert!(!stop_words.contains(word), "{word}");
        }
    }

    #[test]
    fn own_lists_are_folded() {
        let stop_words = StopWords::from_lines("\u{feff}Foo\r\n\n  這個 \n");
        assert!(stop_words.contains("foo") && stop_words.contains("这个") && !stop_words.contains("的"));
        assert!(!StopWords::none().contains("的"));
    }
}
