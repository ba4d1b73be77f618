//! Chinese names: places, persons, institutions, products and technical terms.
//!
//! Chinese has no capitals, so names are found by words: the runs of Han characters are gathered, cut and tagged by
//! jieba a block at a time, and the rules look at the words. Jieba's tags alone are not worth much: of its places 城市,
//! 登山 and 美丽 are some, of its persons 谢谢 and 安静, and a guess is as often wrong as right where no surname
//! holds it. So every rule needs a second sign: a list, a length, a surname, a form of address, a last word.
//!
//! - Place: in the list of well-known places, or of three characters and more in the dictionary as a place.
//! - Person: a frequent surname and two more characters that are tagged as a person; a surname and one more if that
//!   was a guess (the dictionary's are 王朝, 顾问); surname or 老, 小 with a form of address; foreign names of three
//!   characters and more in the dictionary.
//! - Institution: four characters and more in the dictionary with the last word of one (大学, 医院, 局); proper nouns
//!   before such a word.
//! - Product: in the list of well-known ones.
//! - A user's word is what its tag says (nr, ns, nt, nz), and a name without one.
//! - Term: see `term`.
//!
//! What must hold: names are made of whole words, never of more than one run, and read as they are written though
//! words are looked up folded.

mod person;
mod term;

use std::sync::LazyLock;

use memory_segment::{fold, Segmenter};
use rustc_hash::FxHashSet;

use crate::character::{at, is_han, is_unseen, slice};
use crate::collect::Collector;
use crate::Kind;

/// Characters after which a block is cut and tagged, at the next end of a line.
const BLOCK: usize = 4_096;

/// Characters after which a block ends wherever it is; no line of prose is that long.
const MAX_BLOCK: usize = 4 * BLOCK;

/// Longest name made of two words, in characters.
const MAX_PAIR: usize = 8;

/// Most proper nouns before the last word of an institution.
const MAX_OWNERS: usize = 3;

/// Last words of institutions.
const INSTITUTIONS: [&str; 28] = [
    "大学",
    "学院",
    "中学",
    "小学",
    "幼儿园",
    "医院",
    "银行",
    "公司",
    "集团",
    "出版社",
    "研究院",
    "研究所",
    "科学院",
    "事务所",
    "电视台",
    "图书馆",
    "博物馆",
    "美术馆",
    "体育馆",
    "委员会",
    "协会",
    "学会",
    "基金会",
    "法院",
    "工作室",
    "火车站",
    "高铁站",
    "机场",
];

/// Last characters of the dictionary's institutions, besides [`INSTITUTIONS`].
const OFFICES: [char; 9] = ['局', '厅', '部', '署', '社', '院', '校', '台', '馆'];

/// Words of a list file: blanks between them, `#` before remarks.
fn list(text: &'static str) -> FxHashSet<&'static str> {
    text.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace).collect()
}

static PLACES: LazyLock<FxHashSet<&str>> = LazyLock::new(|| list(include_str!("places.txt")));
static NOT_PLACES: LazyLock<FxHashSet<&str>> = LazyLock::new(|| list(include_str!("not_places.txt")));
static PRODUCTS: LazyLock<FxHashSet<&str>> = LazyLock::new(|| list(include_str!("products.txt")));

/// A word of a run.
#[derive(Debug, Clone, Copy)]
struct Word<'b> {
    /// Folded.
    text: &'b str,
    /// Jieba's part of speech.
    tag: &'b str,
    /// Its first character in the block.
    at: usize,
    /// Its first byte in the folded block.
    byte: usize,
    /// How many characters it has.
    chars: usize,
}

/// The Han runs of a block.
#[derive(Debug, Default)]
pub(crate) struct Han {
    /// Their characters, folded, each run followed by a line feed.
    folded: String,
    /// Where each character of `folded` stands in the text.
    offsets: Vec<usize>,
}

impl Han {
    /// Takes the run that begins at `start`; returns where it ends.
    pub(crate) fn read(&mut self, text: &str, start: usize) -> usize {
        let (from, mut end) = (self.offsets.len(), start);
        let mut pos = start;
        for c in slice(text, start, text.len()).chars() {
            if is_han(c) && self.offsets.len() < MAX_BLOCK {
                self.offsets.push(pos);
                pos += c.len_utf8();
                end = pos;
            } else if is_unseen(c) {
                pos += c.len_utf8();
            } else {
                break;
            }
        }
        let run = fold(slice(text, start, end));
        if run.chars().count() == self.offsets.len() - from {
            self.folded.push_str(&run);
        } else {
            self.folded.extend(slice(text, start, end).chars().filter(|c| is_han(*c)));
        }
        self.folded.push('\n');
        self.offsets.push(end);
        end
    }

    /// Whether the block is long enough to be looked at.
    pub(crate) fn is_long(&self) -> bool {
        self.offsets.len() >= BLOCK
    }

    /// Whether the block must be looked at before more is read.
    pub(crate) fn is_full(&self) -> bool {
        self.offsets.len() >= MAX_BLOCK
    }

    /// Forgets what was read.
    pub(crate) fn clear(&mut self) {
        self.folded.clear();
        self.offsets.clear();
    }

    /// Finds the names of the block, which was read from `text`.
    pub(crate) fn find(&self, text: &str, segmenter: &Segmenter, out: &mut Collector) {
        if self.offsets.is_empty() {
            return;
        }
        let mut words: Vec<Word> = Vec::new();
        let (mut at, mut byte) = (0, 0);
        for (word, tag) in segmenter.tag(&self.folded) {
            let chars = word.chars().count();
            if word.starts_with('\n') {
                Run { words: &words, block: self, text, segmenter }.find(out);
                words.clear();
            } else {
                words.push(Word { text: word, tag, at, byte, chars });
            }
            at += chars;
            byte += word.len();
        }
    }

    /// As it is written: the characters from `from` to `to` of the block.
    fn written(&self, text: &str, from: usize, to: usize) -> Option<(usize, String)> {
        let start = *self.offsets.get(from)?;
        let last = *self.offsets.get(to.checked_sub(1)?)?;
        let end = last + at(text, last)?.len_utf8();
        Some((start, slice(text, start, end).chars().filter(|c| !is_unseen(*c)).collect()))
    }
}

/// The words of one run.
struct Run<'b> {
    words: &'b [Word<'b>],
    block: &'b Han,
    text: &'b str,
    segmenter: &'b Segmenter,
}

impl<'b> Run<'b> {
    fn find(&self, out: &mut Collector) {
        let mut next = 0;
        for index in 0..self.words.len() {
            if index >= next {
                if let Some((words, kind)) = self.name(index) {
                    self.hand_in(index, index + words, kind, out);
                    next = index + words;
                } else if let Some(chars) = person::addressed(self, index) {
                    self.hand_in_chars(index, chars, Kind::Person, out);
                }
            }
            if let Some(start) = term::start(self, index) {
                self.hand_in_from(start.word, start.skipped, index + 1, Kind::Term, out);
            }
        }
    }

    /// The name that begins with the word at `index`: how many words it has, and what it is.
    fn name(&self, index: usize) -> Option<(usize, Kind)> {
        let word = self.word(index)?;
        if let Some(pair) = self.pair(index) {
            if PRODUCTS.contains(pair) {
                return Some((2, Kind::Name));
            }
            if PLACES.contains(pair) {
                return Some((2, Kind::Place));
            }
        }
        if word.chars < 2 {
            return None;
        }
        if let Some(words) = self.institution(index) {
            return Some((words, Kind::Organisation));
        }
        let kind = if let Some(kind) = self.of_user(word) {
            kind
        } else if PLACES.contains(word.text) {
            Kind::Place
        } else if PRODUCTS.contains(word.text) {
            Kind::Name
        } else if word.tag == "ns" && word.chars >= 3 {
            let known = !NOT_PLACES.contains(word.text) && self.is_dictionary_word(word);
            known.then_some(Kind::Place)?
        } else if word.tag == "nt" && word.chars >= 4 {
            (is_institution(word.text) && self.is_dictionary_word(word)).then_some(Kind::Organisation)?
        } else if word.tag.starts_with("nr") {
            return person::is_person(self, index).then(|| (person::words(self, index), Kind::Person));
        } else {
            return None;
        };
        Some((1, kind))
    }

    /// What a user's word is; `None` for other words, and where its tag is not that of a name.
    fn of_user(&self, word: Word) -> Option<Kind> {
        match self.segmenter.user_tag(word.text)? {
            "" | "nz" => Some(Kind::Name),
            "ns" => Some(Kind::Place),
            "nt" => Some(Kind::Organisation),
            tag if tag.starts_with("nr") => Some(Kind::Person),
            _ => None,
        }
    }

    /// The word at `index` and the one behind it as one, if that is not too long.
    fn pair(&self, index: usize) -> Option<&'b str> {
        let (first, second) = (self.word(index)?, self.word(index + 1)?);
        if first.chars + second.chars > MAX_PAIR {
            return None;
        }
        // Words of one run lie side by side in the block.
        self.block.folded.get(first.byte..second.byte + second.text.len())
    }

    /// How many words the institution has that begins with the word at `index`: proper nouns and a last word.
    fn institution(&self, index: usize) -> Option<usize> {
        let words = self.words.get(index..)?;
        let owners = words.iter().take(MAX_OWNERS).take_while(|word| self.is_owner(word)).count();
        let last = words.get(owners).filter(|_| owners > 0)?;
        INSTITUTIONS.contains(&last.text).then_some(owners + 1)
    }

    /// Whether the word is a proper noun an institution may be called by.
    fn is_owner(&self, word: &Word) -> bool {
        word.chars >= 2
            && (PLACES.contains(word.text)
                || PRODUCTS.contains(word.text)
                || matches!(word.tag, "ns" | "nz" | "nt") && self.is_dictionary_word(*word))
    }

    fn word(&self, index: usize) -> Option<Word<'b>> {
        self.words.get(index).copied()
    }

    /// Whether the word is in the dictionary or the users', and not a guess: it stays whole without guessing.
    fn is_dictionary_word(&self, word: Word) -> bool {
        self.segmenter.cut(word.text, false).len() == 1
    }

    /// Hands in the words from `first` to `end` as one name.
    fn hand_in(&self, first: usize, end: usize, kind: Kind, out: &mut Collector) {
        let chars = self.words.get(first..end).unwrap_or(&[]).iter().map(|word| word.chars).sum();
        self.hand_in_chars(first, chars, kind, out);
    }

    /// The same without the first characters.
    fn hand_in_from(&self, first: usize, skipped: usize, end: usize, kind: Kind, out: &mut Collector) {
        let chars: usize = self.words.get(first..end).unwrap_or(&[]).iter().map(|word| word.chars).sum();
        let Some(word) = self.word(first) else { return };
        if let Some((offset, name)) = self.block.written(self.text, word.at + skipped, word.at + chars) {
            out.entity(offset, &name, kind);
        }
    }

    /// Hands in so many characters from the word at `first` on as one name.
    fn hand_in_chars(&self, first: usize, chars: usize, kind: Kind, out: &mut Collector) {
        let Some(word) = self.word(first) else { return };
        if let Some((offset, name)) = self.block.written(self.text, word.at, word.at + chars) {
            out.entity(offset, &name, kind);
        }
    }
}

fn is_institution(word: &str) -> bool {
    INSTITUTIONS.iter().any(|last| word.ends_with(last)) || word.ends_with(OFFICES)
}
