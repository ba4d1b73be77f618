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

/// Items in order, the first `free` of them ready to leave.
#[derive(Default)]
pub(crate) struct Queue {
    items: VecDeque<Item>,
    free: usize,
    held_bytes: usize,
    /// The API message that may still grow.
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
        if message.part_of.is_some() && message.part_of != self.group {
            self.group = None;
            self.release();
            self.group.clone_from(&message.part_of);
        }
        if message.part_of.is_some() && !self.supersede(&mut message) {
            self.append(Item::Skipped { line: message.line, rule: Rule::Snapshot });
            return;
        }
        self.untimed |= message.time == TimeOrigin::Unknown;
        self.append(Item::Message(Box::new(message)));
    }

    /// Takes the shorter snapshots of a message out; `false` if it is the shorter one itself.
    fn supersede(&mut self, message: &mut Message) -> bool {
        let Queue { items, free, held_bytes, .. } = self;
        let held = (*free).max(items.len().saturating_sub(REACH));
        for item in items.iter_mut().skip(held) {
            let Item::Message(earlier) = item else { continue };
            if earlier.part_of != message.part_of {
                continue;
            }
            if message.content.starts_with(&earlier.content) {
                message.supersedes.append(&mut earlier.supersedes);
                message.supersedes.extend(earlier.message_id.take());
                *held_bytes = held_bytes.saturating_sub(weight(earlier));
                *item = Item::Skipped { line: earlier.line, rule: Rule::Snapshot };
            } else if earlier.content.starts_with(&message.content) {
                earlier.supersedes.extend(message.message_id.take());
                return false;
            }
        }
        message.supersedes.retain(|id| Some(id) != message.message_id.as_ref());
        true
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
