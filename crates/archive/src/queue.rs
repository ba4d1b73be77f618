//! Items on their way to the caller, some of them held back until what follows is known: a snapshot until no longer
//! one can follow, messages at the beginning until there is a time for them.
//!
//! What must hold: items leave in the order in which they came, and what is held back is small.

use std::collections::VecDeque;

use serde_json::Value;

use crate::{Item, Message, Rule, TimeOrigin};

/// Most items that are held back, and most bytes of text in them.
const MOST_ITEMS: usize = 1_000;
const MOST_BYTES: usize = 1 << 20;
/// How far back shorter snapshots are looked for, in items; blocks of one API message are few and close together.
const REACH: usize = 100;

/// What a message weighs while it is held back, in bytes of text.
fn weight(message: &Message) -> usize {
    message.content.len() + message.raw.as_ref().map_or(0, String::len)
}

/// What a message is to the one before it.
enum Relation {
    /// A longer snapshot of it.
    Replaces,
    /// A shorter snapshot of it.
    Covered,
    /// Something else.
    Other,
}

/// Items in order, the first `free` of them ready to leave.
#[derive(Default)]
pub(crate) struct Queue {
    items: VecDeque<Item>,
    free: usize,
    held_bytes: usize,
    /// The API message of which the last block may still grow.
    group: Option<String>,
    /// Whether messages wait for a time.
    untimed: bool,
}

impl Queue {
    /// The next item that is ready.
    pub(crate) fn pop(&mut self) -> Option<Item> {
        self.free = self.free.checked_sub(1)?;
        self.items.pop_front()
    }

    /// Appends an item that is no message.
    pub(crate) fn push(&mut self, item: Item) {
        self.append(item);
    }

    /// Appends a message; one of [`TimeOrigin::Unknown`] waits for [`Queue::time`].
    pub(crate) fn message(&mut self, mut message: Message) {
        if message.part_of.is_some() {
            match self.compare(&mut message) {
                Relation::Covered => {
                    self.append(Item::Skipped { line: message.line, rule: Rule::Snapshot });
                    return;
                }
                Relation::Replaces => {}
                Relation::Other => {
                    self.close();
                    self.group.clone_from(&message.part_of);
                }
            }
        }
        self.untimed |= message.time == TimeOrigin::Unknown;
        self.append(Item::Message(Box::new(message)));
    }

    /// What a message is to the block of its API message that may still grow, if there is one; a shorter snapshot is
    /// taken out.
    fn compare(&mut self, message: &mut Message) -> Relation {
        if message.part_of != self.group {
            return Relation::Other;
        }
        let Queue { items, free, held_bytes, .. } = self;
        let held = (*free).max(items.len().saturating_sub(REACH));
        for item in items.iter_mut().skip(held).rev() {
            let Item::Message(earlier) = item else { continue };
            if earlier.part_of != message.part_of {
                continue;
            }
            if earlier.may_grow && message.content.starts_with(&earlier.content) {
                message.supersedes.append(&mut earlier.supersedes);
                message.supersedes.extend(earlier.message_id.take());
                message.supersedes.retain(|id| Some(id) != message.message_id.as_ref());
                *held_bytes = held_bytes.saturating_sub(weight(earlier));
                *item = Item::Skipped { line: earlier.line, rule: Rule::Snapshot };
                return Relation::Replaces;
            }
            if message.may_grow && earlier.content.starts_with(&message.content) {
                let other = message.message_id.take().filter(|id| Some(id) != earlier.message_id.as_ref());
                earlier.supersedes.extend(other);
                return Relation::Covered;
            }
            return Relation::Other;
        }
        Relation::Other
    }

    /// An API message goes on with something else: its block so far is whole.
    pub(crate) fn end_block(&mut self, part_of: &str) {
        if self.group.as_deref() == Some(part_of) {
            self.close();
        }
    }

    /// The block that may still grow is whole.
    fn close(&mut self) {
        let Some(group) = self.group.take() else { return };
        let held = self.free.max(self.items.len().saturating_sub(REACH));
        for item in self.items.iter_mut().skip(held) {
            if let Item::Message(message) = item {
                if message.part_of.as_ref() == Some(&group) {
                    message.may_grow = false;
                }
            }
        }
        self.release();
    }

    fn append(&mut self, item: Item) {
        if let Item::Message(message) = &item {
            self.held_bytes += weight(message);
        }
        self.items.push_back(item);
        if self.items.len() - self.free > MOST_ITEMS || self.held_bytes > MOST_BYTES {
            self.finish();
        } else {
            self.release();
        }
    }

    /// A time is known: messages that wait for one get it.
    pub(crate) fn time(&mut self, time: i64) {
        if self.untimed {
            self.settle(time, TimeOrigin::Following);
            self.release();
        }
    }

    /// Nothing follows: everything may leave.
    pub(crate) fn finish(&mut self) {
        self.group = None;
        if self.untimed {
            self.settle(0, TimeOrigin::Unknown);
        }
        self.release();
    }

    fn settle(&mut self, time: i64, origin: TimeOrigin) {
        self.untimed = false;
        for item in self.items.iter_mut().skip(self.free) {
            if let Item::Message(message) = item {
                if message.time == TimeOrigin::Unknown {
                    message.timestamp = time;
                    message.time = origin;
                    message.metadata.insert("time".to_owned(), Value::from(origin.name()));
                }
            }
        }
    }

    /// Lets go of what nothing holds back.
    fn release(&mut self) {
        if self.group.is_none() && !self.untimed {
            self.free = self.items.len();
            self.held_bytes = 0;
        }
    }
}
