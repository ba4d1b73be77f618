//! Gathers what was found: in the order of the text, once per key, no more than the bounds allow.
//!
//! Latin names are found while the text is read, Chinese ones a block later. So candidates wait, each with its
//! offset, until a block is done. Whoever calls [`Collector::settle`] must have handed in everything that lies
//! before the offset from which candidates still come.

use rustc_hash::FxHashSet;

use crate::character::is_unseen;
use crate::secret::has_secret;
use crate::{key, Entity, Extracted, Kind, MAX_ENTITIES, MAX_NAME_CHARS, MAX_TAGS};

struct Candidate {
    offset: usize,
    name: String,
    kind: Kind,
}

/// What was found so far.
#[derive(Default)]
pub(crate) struct Collector {
    found: Extracted,
    waiting: Vec<Candidate>,
    entity_keys: FxHashSet<String>,
    tag_keys: FxHashSet<String>,
}

impl Collector {
    /// Adds an entity found at `offset`.
    pub(crate) fn entity(&mut self, offset: usize, name: &str, kind: Kind) {
        if !self.entities_full() && fits(name) && !has_secret(name) {
            self.waiting.push(Candidate { offset, name: name.replace(is_unseen, ""), kind });
        }
    }

    /// Adds a tag; tags come in the order of the text.
    pub(crate) fn tag(&mut self, name: &str) {
        if !self.tags_full() && fits(name) && self.tag_keys.insert(key(name)) {
            self.found.tags.push(name.to_owned());
        }
    }

    /// How many candidates wait for their order.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Takes the waiting candidates over, in order.
    pub(crate) fn settle(&mut self) {
        // Stable: of several at one offset, the first handed in comes first.
        self.waiting.sort_by_key(|candidate| candidate.offset);
        for Candidate { name, kind, .. } in self.waiting.drain(..) {
            if self.found.entities.len() == MAX_ENTITIES {
                continue;
            }
            let key = key(&name);
            if !key.is_empty() && self.entity_keys.insert(key) {
                self.found.entities.push(Entity { name, kind });
            }
        }
    }

    /// Whether no more entities can be added.
    pub(crate) fn entities_full(&self) -> bool {
        self.found.entities.len() >= MAX_ENTITIES
    }

    fn tags_full(&self) -> bool {
        self.found.tags.len() >= MAX_TAGS
    }

    /// Whether nothing more can be added.
    pub(crate) fn is_full(&self) -> bool {
        self.entities_full() && self.tags_full()
    }

    /// The result.
    pub(crate) fn finish(mut self) -> Extracted {
        self.settle();
        self.found
    }
}

fn fits(name: &str) -> bool {
    let is_line = !name.is_empty() && !name.contains(char::is_control);
    is_line && (name.len() <= MAX_NAME_CHARS || name.chars().nth(MAX_NAME_CHARS).is_none())
}
