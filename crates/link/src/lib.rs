//! What a text is about: its entities and tags; and how closely two texts are related by them.
//!
//! [`extract`] reads a text once and returns the names that can link it to other texts. [`rarity`],
//! [`nearness`] and [`relatedness`] turn what two texts share into a score. What it does not do: it stores
//! nothing, counts nothing across texts, knows no database and no model, and never changes a text.
//!
//! # What is an entity
//!
//! | kind | what | examples |
//! |---|---|---|
//! | `name` | Latin names: inner capitals, letters with digits, `++` and `#`, capitalised words and phrases where the line is Chinese or the word before is an ordinary one; `[[wiki links]]`; well-known Chinese products and companies; the users' own words | OpenClaw, GPT-4o, C++, Element Plus, 微信 |
//! | `acronym` | two or more capitals, with digits behind | RSS, BM25 |
//! | `code` | code spans up to 100 characters, names with inner `_` | `memory_search` |
//! | `term` | Chinese technical terms by their last word, built of whole words | 博客订阅系统 |
//! | `title` | what stands between 《 and 》, or as a title between quotation marks | 置身事内 |
//! | `url` | web addresses, hosts, e-mail addresses | https://a.example/x |
//! | `path` | paths and file names | /etc/hosts, rss.xml |
//! | `person` | Chinese names with a frequent surname, names with a form of address | 陆一鸣, 何工 |
//! | `place` | the dictionary's places of three characters and more, well-known shorter ones | 苏州工业园区, 盐城 |
//! | `organisation` | institutions: the dictionary's, and proper nouns before 医院, 大学, 公司 … | 九龙医院 |
//!
//! Not entities: a version or number by itself, the number behind a name (`Vue 3` is `Vue`), amounts and units,
//! hashes, what looks like a key or a password (`ghp_…`), whatever stands in front matter, and in code fences whatever is not an address or a path below the home
//! folder or a well-known one. In a code span acronyms and names count besides the span: `NAS:/photo` speaks of NAS,
//! and so does a hyphenated name: GPT-4o is a GPT. A term is Chinese only:
//! 博客RSS订阅系统 gives `RSS` and 订阅系统.
//!
//! # What must hold
//!
//! - The same text and user words give the same result; the order is that of first occurrence.
//! - A name is a piece of the text (after [`key`] of both), on one line, at most [`MAX_NAME_CHARS`] long.
//! - The work is linear in the length of the text, whatever it looks like, and the result is bounded by
//!   [`MAX_ENTITIES`] and [`MAX_TAGS`]. No input is an error.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod address;
mod character;
mod code;
mod collect;
mod han;
mod latin;
mod scan;
mod score;
mod secret;
mod spread;
mod tag;

use memory_segment::{fold, Segmenter};

pub use score::{nearness, rarity, relatedness, sameness};
pub use spread::Spread;

/// Most entities of one text; a text with more is a list, and a list relates everything.
pub const MAX_ENTITIES: usize = 256;

/// Most tags of one text.
pub const MAX_TAGS: usize = 256;

/// Longest name of an entity or a tag, in characters. What is longer is left out: cut short, two different
/// things could become one.
pub const MAX_NAME_CHARS: usize = 200;

/// What an entity is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A name in Latin letters, a wiki link, a well-known product, or a user's word.
    Name,
    /// Capitals, with digits behind.
    Acronym,
    /// A code span or an identifier.
    Code,
    /// A Chinese technical term.
    Term,
    /// The title of a book, a film, a song.
    Title,
    /// A web address, a host or an e-mail address.
    Url,
    /// A path or a file name.
    Path,
    /// A tag. [`extract`] keeps tags apart; [`Extracted::links`] brings both together.
    Tag,
    /// A person.
    Person,
    /// A place.
    Place,
    /// An institution.
    Organisation,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 11] = [
        Kind::Name,
        Kind::Acronym,
        Kind::Code,
        Kind::Term,
        Kind::Title,
        Kind::Url,
        Kind::Path,
        Kind::Tag,
        Kind::Person,
        Kind::Place,
        Kind::Organisation,
    ];

    /// The stable name, to be stored.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Name => "name",
            Kind::Acronym => "acronym",
            Kind::Code => "code",
            Kind::Term => "term",
            Kind::Title => "title",
            Kind::Url => "url",
            Kind::Path => "path",
            Kind::Tag => "tag",
            Kind::Person => "person",
            Kind::Place => "place",
            Kind::Organisation => "organisation",
        }
    }

    /// The kind of this name.
    pub fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Something a text is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entity {
    /// As it is written where it occurs first.
    pub name: String,
    /// What it is.
    pub kind: Kind,
}

/// Entities and tags of a text, each in the order of first occurrence and unique by [`key`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extracted {
    /// At most [`MAX_ENTITIES`].
    pub entities: Vec<Entity>,
    /// Without their `#`; at most [`MAX_TAGS`].
    pub tags: Vec<String>,
}

/// A name by which a text is linked to others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Equal for equal names; see [`key`].
    pub key: String,
    /// As it is written.
    pub name: String,
    /// What it is; an entity that is a tag as well keeps the kind of the entity.
    pub kind: Kind,
}

impl Extracted {
    /// Entities and tags together, entities first, unique by key: a text with the tag `#RSS` and one that
    /// speaks of RSS share a link.
    pub fn links(&self) -> Vec<Link> {
        let mut seen = rustc_hash::FxHashSet::default();
        let entities = self.entities.iter().map(|entity| (entity.name.as_str(), entity.kind));
        let tags = self.tags.iter().map(|tag| (tag.as_str(), Kind::Tag));
        entities
            .chain(tags)
            .filter_map(|(name, kind)| {
                let key = key(name);
                seen.insert(key.clone()).then(|| Link { key, name: name.to_owned(), kind })
            })
            .collect()
    }
}

/// The entities and tags of a text.
///
/// `segmenter` brings the words of the dictionary and of the users; a user's word without a tag is an entity
/// wherever it occurs.
pub fn extract(text: &str, segmenter: &Segmenter) -> Extracted {
    scan::scan(text, segmenter)
}

/// The form in which names are compared: folded as words are for the index (case, width, traditional
/// characters, what is not seen), white space as single blanks, no slash at the end, at most
/// [`MAX_NAME_CHARS`] characters. `key(key(x)) == key(x)`.
pub fn key(name: &str) -> String {
    let folded = fold(name);
    let mut key = String::with_capacity(folded.len());
    for (index, word) in folded.split_whitespace().enumerate() {
        if index > 0 {
            key.push(' ');
        }
        key.push_str(word);
    }
    if let Some((end, _)) = key.char_indices().nth(MAX_NAME_CHARS) {
        key.truncate(end);
    }
    // A name of slashes only stays one.
    let end = key.trim_end_matches([' ', '/']).len();
    key.truncate(end.max(usize::from(key.starts_with('/'))));
    key
}

#[cfg(test)]
mod tests;
