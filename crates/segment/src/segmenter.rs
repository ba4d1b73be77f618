//! The segmenter: jieba's default dictionary with the users' words laid over it.
//!
//! It works on jieba-rs (pinned to one version: an upgrade changes how texts are cut, and then old index
//! entries no longer agree with new queries) and gives what python jieba 0.42.1 gives. Where jieba-rs
//! deviates on purpose, this module puts python's result back:
//!
//! - jieba-rs keeps runs such as `AB-7.2.1` whole; python cuts them at `-`, `_` and most dots;
//! - jieba-rs takes all ideographs into its blocks, python those from U+4E00 to U+9FD5;
//! - `cut_for_search` adds inner words by python's rule, `cut_all` follows python's walk (without the empty
//!   words python's gives around blanks);
//! - one word (`B超`) of python's dictionary is missing from jieba-rs.
//!
//! On 5,000 passages of Chinese encyclopedias every cut is python's but one, where two readings of unknown
//! characters score alike (常|在, 常在) and the last bit decides. Not equal to python: parts of speech of
//! words that are in no dictionary (python's tagger cuts a text anew), and keyword weights that depend on
//! them. A user word that cuts an English word in two (`ens` in `license`) does so here as in python; the
//! text search parser never does.
//!
//! What must hold: the same words give the same cut in every session, whatever their order and whatever
//! words were there before. `&self` never writes to the dictionary, so processes that were forked from one
//! that loaded it share its memory.

use crate::fold::fold_han;
use crate::user_dict::{self, UserWord, UserWordError};
use jieba_rs::{Jieba, KeywordExtract, KeywordExtractConfig, TextRank, TfIdf};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// Longest word of the default dictionary, in characters.
const MAX_DICT_WORD: usize = 16;

/// The word of python jieba's dictionary that jieba-rs 0.11.0 lacks, its frequency and its tag.
const MISSING_WORD: (&str, usize, &str) = ("B超", 3, "n");

/// Neighbourhood of a word in the TextRank graph, in words; python's default.
const TEXT_RANK_SPAN: usize = 5;

/// Parts of speech TextRank takes words from: place names, nouns, verbal nouns and verbs; python's default.
const TEXT_RANK_TAGS: [&str; 4] = ["ns", "n", "vn", "v"];

/// Longest text cut at once, in bytes: some 20 ms of work between two calls of `pause`.
const PORTION: usize = 256 * 1024;

/// Words held back where a portion ends within a run of word characters: what follows may bind them
/// otherwise, and the next portion begins with them.
const HELD_BACK: usize = 16;

/// How keywords are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeywordMethod {
    /// Frequency in the text times rarity in jieba's corpus.
    TfIdf,
    /// Rank in the graph of neighbouring words; the best has 1.
    TextRank,
}

/// A user's word as it is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    freq: Option<usize>,
    tag: Option<String>,
}

/// jieba's dictionary with the users' words laid over it.
#[derive(Debug)]
pub struct Segmenter {
    jieba: Jieba,
    /// The default dictionary once more, without anybody's words.
    spare: Option<Box<Jieba>>,
    user: BTreeMap<String, Entry>,
    /// Rare ideographs of user words; text is not cut at them.
    rare: BTreeSet<char>,
    longest_word: usize,
    tf_idf: OnceLock<TfIdf>,
    pause: fn(),
}

impl Default for Segmenter {
    fn default() -> Self {
        Self::new()
    }
}

impl Segmenter {
    /// Load the default dictionary; takes about 0.1 s and 32 MB.
    pub fn new() -> Self {
        Segmenter {
            jieba: load(),
            spare: None,
            user: BTreeMap::new(),
            rare: BTreeSet::new(),
            longest_word: MAX_DICT_WORD,
            tf_idf: OnceLock::new(),
            pause: || (),
        }
    }

    /// Have `pause` called every now and then while a long text is cut; a panic in it ends the work.
    #[must_use]
    pub fn pausing(mut self, pause: fn()) -> Self {
        self.pause = pause;
        self
    }

    /// Load the default dictionary a second time. For one whose memory many processes share: with it their users'
    /// words can change without a dictionary of their own each.
    #[must_use]
    pub fn with_spare(mut self) -> Self {
        self.spare = Some(Box::new(load()));
        self
    }

    /// Replace the users' words; words that cannot be user words are left out, of equal ones the last
    /// counts.
    ///
    /// If words only come in, a few pages of memory are written; a word that comes without its frequency beside
    /// others needs the spare for that. A word that goes or changes takes a fresh dictionary, for jieba-rs cannot
    /// take a word out again: the spare the first time, then one that is loaded (0.1 s).
    pub fn set_user_words(&mut self, words: &[UserWord]) {
        let mut user = BTreeMap::new();
        for word in words.iter().filter(|w| user_dict::validate(&w.word).is_ok()) {
            let entry = Entry { freq: word.freq, tag: word.tag.clone() };
            // The parser cuts folded text: a word in traditional characters is needed in simplified ones.
            let simplified: String = word.word.chars().map(fold_han).collect();
            if simplified != word.word {
                user.entry(simplified).or_insert_with(|| entry.clone());
            }
            user.insert(word.word.clone(), entry);
        }
        if user == self.user {
            return;
        }
        let stays = self.user.iter().all(|(word, entry)| user.get(word) == Some(entry));
        let is_news = |word: &String| !self.user.contains_key(word);
        let suggests = user.iter().any(|(word, entry)| is_news(word) && entry.freq.is_none());
        if !stays || (suggests && !self.user.is_empty() && self.spare.is_none()) {
            self.jieba = match self.spare.take() {
                Some(spare) => *spare,
                None => {
                    // The old one goes first: together they would take twice the memory.
                    self.jieba = Jieba::empty();
                    load()
                }
            };
            self.user.clear();
        }
        // A suggested frequency is that of the default dictionary: it must not depend on the other words.
        let unchanged = self.spare.as_deref().unwrap_or(&self.jieba);
        let news: Vec<(&String, usize, &Entry)> = user
            .iter()
            .filter(|(word, _)| !self.user.contains_key(*word))
            .map(|(word, entry)| {
                let freq = entry.freq.unwrap_or_else(|| unchanged.suggest_freq(word));
                (word, freq.max(1), entry)
            })
            .collect();
        for (word, freq, entry) in news {
            self.jieba.add_word(word, Some(freq), entry.tag.as_deref());
        }
        self.rare = user.keys().flat_map(|word| word.chars()).filter(|c| is_rare_ideograph(*c)).collect();
        let longest_user_word = user.keys().map(|word| word.chars().count()).max().unwrap_or(0);
        self.longest_word = longest_user_word.max(MAX_DICT_WORD);
        self.user = user;
    }

    /// Whether `word` can be a user's word.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn validate_user_word(word: &str) -> Result<(), UserWordError> {
        user_dict::validate(word)
    }

    /// Cut precisely, as python's `jieba.cut(text, HMM=hmm)`; the pieces joined are the text.
    pub fn cut<'a>(&self, text: &'a str, hmm: bool) -> Vec<&'a str> {
        let mut words = Vec::with_capacity(text.len() / 4 + 1);
        self.for_each_piece(text, hmm, |piece| words.push(piece));
        words
    }

    /// Cut as python's `jieba.cut_for_search`: the inner words of two and three characters before each
    /// longer word.
    pub fn cut_for_search<'a>(&self, text: &'a str, hmm: bool) -> Vec<&'a str> {
        let mut words = Vec::with_capacity(text.len() / 3 + 1);
        self.for_each_piece(text, hmm, |piece| {
            self.for_each_inner_word(piece, |inner| words.push(inner));
            words.push(piece);
        });
        words
    }

    /// Every dictionary word of the text, as python's `jieba.cut(text, cut_all=True)`.
    pub fn cut_all<'a>(&self, text: &'a str) -> Vec<&'a str> {
        let mut words = Vec::with_capacity(text.len() / 3 + 1);
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let in_block = is_block(first);
            let end = rest.find(|c| is_block(c) != in_block).unwrap_or(rest.len());
            let (block, after) = rest.split_at(end);
            if in_block {
                self.cut_all_block(block, &mut words);
            } else {
                between_blocks(block, &mut words);
            }
            rest = after;
        }
        words
    }

    /// Words with their parts of speech: the user's tag, the dictionary's, or a guess.
    pub fn tag<'a>(&'a self, text: &'a str) -> Vec<(&'a str, &'a str)> {
        let mut tags = Vec::with_capacity(text.len() / 4 + 1);
        self.for_each_block(text, |block| match block {
            Block::Rest(rest) => {
                let tag_portion = |portion| self.jieba.tag(portion, true);
                for_each_portion(
                    rest,
                    self.pause,
                    tag_portion,
                    |tag| tag.word,
                    |tag| {
                        let user = self.user.get(tag.word).and_then(|entry| entry.tag.as_deref());
                        if let Some(tag_of_user) = user {
                            tags.push((tag.word, tag_of_user));
                        } else if self.is_glued(tag.word) {
                            split_glued(tag.word, |piece| tags.push((piece, ascii_tag(piece))));
                        } else {
                            tags.push((tag.word, if tag.tag.is_empty() { "x" } else { tag.tag }));
                        }
                    },
                );
            }
            Block::Rare(character) => tags.push((character, "x")),
        });
        tags
    }

    /// The tag of a user's word, empty if they gave none; `None` for words that are not theirs.
    pub fn user_tag(&self, word: &str) -> Option<&str> {
        self.user.get(word).map(|entry| entry.tag.as_deref().unwrap_or(""))
    }

    /// The `k` best keywords and their weights, best first.
    pub fn keywords(&self, text: &str, k: usize, method: KeywordMethod) -> Vec<(String, f64)> {
        let config = KeywordExtractConfig::builder().use_hmm(true).build();
        match method {
            KeywordMethod::TfIdf => {
                let tf_idf = self.tf_idf.get_or_init(|| {
                    let mut tf_idf = TfIdf::default();
                    *tf_idf.config_mut() = config;
                    tf_idf
                });
                let found = tf_idf.extract_keywords(&self.jieba, text, k, Vec::new());
                found.into_iter().map(|word| (word.keyword, word.weight)).collect()
            }
            KeywordMethod::TextRank => {
                let tags = TEXT_RANK_TAGS.map(String::from).to_vec();
                let rank = TextRank::new(TEXT_RANK_SPAN, config);
                let found = rank.extract_keywords(&self.jieba, text, text.len(), tags);
                let (Some(best), Some(worst)) = (found.first(), found.last()) else { return Vec::new() };
                // Python's scale: the best is 1, the worst a little above 0.
                let floor = worst.weight / 10.0;
                let range = best.weight - floor;
                let scale = |weight: f64| if range > 0.0 { (weight - floor) / range } else { 1.0 };
                found.iter().take(k).map(|word| (word.keyword.clone(), scale(word.weight))).collect()
            }
        }
    }

    /// Hand the words of a Han run to `emit`, in order; together they are the run.
    pub(crate) fn for_each_word<'a>(&self, run: &'a str, mut emit: impl FnMut(&'a str)) {
        self.for_each_piece(run, true, &mut emit);
    }

    /// Hand the inner words of `word` to `emit`, by python's rule: the dictionary words of two characters
    /// if it has three or more, then those of three characters if it has four or more.
    pub(crate) fn for_each_inner_word<'a>(&self, word: &'a str, mut emit: impl FnMut(&'a str)) {
        // A word of two Han characters, by far the most frequent, has no inner words.
        if word.len() < 3 || word.len() <= 6 && word.chars().nth(2).is_none() {
            return;
        }
        let chars = word.chars().count();
        for len in [2, 3] {
            if chars <= len {
                return;
            }
            let ends = word.char_indices().map(|(at, _)| at).skip(len).chain([word.len()]);
            for ((start, _), end) in word.char_indices().zip(ends) {
                if let Some(inner) = word.get(start..end).filter(|inner| self.jieba.has_word(inner)) {
                    emit(inner);
                }
            }
        }
    }

    /// Hand python's words of the text to `emit`, in order.
    fn for_each_piece<'a>(&self, text: &'a str, hmm: bool, mut emit: impl FnMut(&'a str)) {
        self.for_each_block(text, |block| match block {
            Block::Rest(rest) => {
                let cut_portion = |portion| self.jieba.cut(portion, hmm);
                for_each_portion(
                    rest,
                    self.pause,
                    cut_portion,
                    |token| token.word,
                    |token| {
                        if hmm && self.is_glued(token.word) {
                            split_glued(token.word, &mut emit);
                        } else {
                            emit(token.word);
                        }
                    },
                );
            }
            Block::Rare(character) => emit(character),
        });
    }

    /// Cut the text at every rare ideograph, as python does, unless a user word has it.
    fn for_each_block<'a>(&self, text: &'a str, mut emit: impl FnMut(Block<'a>)) {
        let mut rest = text;
        while !rest.is_empty() {
            let Some(at) = rest.find(|c| is_rare_ideograph(c) && !self.rare.contains(&c)) else {
                emit(Block::Rest(rest));
                return;
            };
            let (head, tail) = rest.split_at(at);
            if !head.is_empty() {
                emit(Block::Rest(head));
            }
            let (rare, after) = tail.split_at(tail.chars().next().map_or(tail.len(), char::len_utf8));
            emit(Block::Rare(rare));
            rest = after;
        }
    }

    /// Whether jieba-rs kept this run whole although it is no word.
    fn is_glued(&self, word: &str) -> bool {
        word.len() > 2
            && word.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric)
            && word.bytes().any(|b| matches!(b, b'.' | b'_' | b'-'))
            && !self.jieba.has_word(word)
    }

    /// Python's walk over all words of a block: single characters only where no word begins or ends, runs
    /// of ASCII letters and digits joined.
    fn cut_all_block<'a>(&self, block: &'a str, words: &mut Vec<&'a str>) {
        let bounds: Vec<usize> = block.char_indices().map(|(at, _)| at).chain([block.len()]).collect();
        let slice = |from: usize, to: usize| -> &'a str {
            bounds.get(from).zip(bounds.get(to)).and_then(|(s, e)| block.get(*s..*e)).unwrap_or("")
        };
        let chars = bounds.len() - 1;
        let mut ascii_start: Option<usize> = None;
        // Character behind the last one that a word covers.
        let mut covered = 0;
        for at in 0..chars {
            if at % PORTION == PORTION - 1 {
                (self.pause)();
            }
            // Python looks at the first character only.
            let is_ascii_word = |word: &str| word.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric());
            if let Some(start) = ascii_start.filter(|_| !is_ascii_word(slice(at, at + 1))) {
                words.push(slice(start, covered));
                ascii_start = None;
            }
            let longest = self.longest_word.min(chars - at);
            let mut ends: Vec<usize> =
                (at + 1..=at + longest).filter(|end| self.jieba.has_word(slice(at, *end))).collect();
            if ends.is_empty() {
                ends.push(at + 1);
            }
            match ends.as_slice() {
                [end] if at >= covered => {
                    let word = slice(at, *end);
                    if is_ascii_word(word) {
                        ascii_start.get_or_insert(at);
                    }
                    if ascii_start.is_none() {
                        words.push(word);
                    }
                    covered = *end;
                }
                ends => {
                    for &end in ends.iter().filter(|end| **end > at + 1) {
                        words.push(slice(at, end));
                        covered = end;
                    }
                }
            }
        }
        if let Some(start) = ascii_start {
            words.push(slice(start, covered));
        }
    }
}

fn load() -> Jieba {
    let mut jieba = Jieba::new();
    let (word, freq, tag) = MISSING_WORD;
    if !jieba.has_word(word) {
        jieba.add_word(word, Some(freq), Some(tag));
    }
    jieba
}

/// Cut a text portion by portion, with `pause` between two of them, and hand each piece to `emit`.
///
/// A portion ends behind a character that is in no word, where jieba begins anew, and the cut is that of
/// the whole text. Where there is none for so long, the portion's last words are cut again with the next.
fn for_each_portion<'a, T>(
    text: &'a str,
    pause: fn(),
    cut: impl Fn(&'a str) -> Vec<T>,
    word: impl Fn(&T) -> &'a str,
    mut emit: impl FnMut(T),
) {
    let mut rest = text;
    while rest.len() > PORTION {
        pause();
        let (head, _) = rest.split_at(floor_boundary(rest, PORTION));
        let end_of_run = head
            .char_indices()
            .rev()
            .find(|(_, c)| !is_word_character(*c) && *c != '\r')
            .map(|(at, c)| at + c.len_utf8());
        let (head, held_back) = match end_of_run {
            Some(end) => (head.split_at(end).0, 0),
            None => (head, HELD_BACK),
        };
        let mut pieces = cut(head);
        if pieces.len() > held_back {
            pieces.truncate(pieces.len() - held_back);
        }
        let mut done = 0;
        for piece in pieces {
            done += word(&piece).len();
            emit(piece);
        }
        rest = rest.split_at(done).1;
    }
    cut(rest).into_iter().for_each(emit);
}

/// The last character boundary of `text` that is not behind `at`.
fn floor_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Whether a word with this character can be found: the segmenter cuts at all others first.
pub(crate) fn is_word_character(c: char) -> bool {
    is_block(c) || is_rare_ideograph(c)
}

/// Characters of python's dictionary blocks.
fn is_block(c: char) -> bool {
    matches!(c, '\u{4E00}'..='\u{9FD5}' | '+' | '#' | '&' | '.' | '_' | '%' | '-')
        || c.is_ascii_alphanumeric()
}

/// Ideographs outside python's blocks but inside those of jieba-rs.
fn is_rare_ideograph(c: char) -> bool {
    matches!(c,
        '\u{9FD6}'..='\u{9FFF}' | '\u{3400}'..='\u{4DBF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{2FA1F}')
}

enum Block<'a> {
    Rest(&'a str),
    Rare(&'a str),
}

/// Split a run of ASCII letters, digits and connectors as python's `[a-zA-Z0-9]+(?:\.\d+)?%?` does: what
/// matches, and what stands between.
fn split_glued<'a>(run: &'a str, mut emit: impl FnMut(&'a str)) {
    let bytes = run.as_bytes();
    let span = |from: usize, test: fn(&u8) -> bool| {
        bytes.get(from..).map_or(0, |tail| tail.iter().take_while(|b| test(b)).count())
    };
    let mut pos = 0;
    while pos < bytes.len() {
        let mut end = pos + span(pos, u8::is_ascii_alphanumeric);
        if end > pos {
            let decimals = if bytes.get(end) == Some(&b'.') { span(end + 1, u8::is_ascii_digit) } else { 0 };
            if decimals > 0 {
                end += 1 + decimals;
            }
            if bytes.get(end) == Some(&b'%') {
                end += 1;
            }
        } else {
            end = pos + span(pos, |b| !b.is_ascii_alphanumeric());
        }
        emit(run.get(pos..end).unwrap_or(""));
        pos = end;
    }
}

/// What python's `cut_all` gives for text between blocks: blanks one by one, anything else whole.
fn between_blocks<'a>(text: &'a str, words: &mut Vec<&'a str>) {
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = if rest.starts_with("\r\n") {
            2
        } else if first.is_whitespace() {
            first.len_utf8()
        } else {
            rest.find(char::is_whitespace).unwrap_or(rest.len())
        };
        let (word, after) = rest.split_at(end);
        words.push(word);
        rest = after;
    }
}

/// The tag of a piece of an ASCII run.
fn ascii_tag(piece: &str) -> &'static str {
    let has_letter = piece.bytes().any(|b| b.is_ascii_alphabetic());
    let has_digit = piece.bytes().any(|b| b.is_ascii_digit());
    match (has_letter, has_digit) {
        (true, _) => "eng",
        (false, true) => "m",
        (false, false) => "x",
    }
}
