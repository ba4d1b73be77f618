//! Where reading stands in a history: the session, the last time that was seen, the items that are on their way.
//!
//! The formats read records and say here what they found; what holds for all of them is done here: whose session,
//! which time, which id.

use std::borrow::Cow;
use std::collections::hash_map::DefaultHasher;
use std::collections::HashMap;
use std::fmt::Write;
use std::hash::{Hash, Hasher};

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::compare::fingerprint;
use crate::queue::Queue;
use crate::time::{self, Reading};
use crate::{json, Item, KeyOrigin, Message, Options, Reason, Rule, Session, TimeOrigin};
use crate::{MAX_MESSAGE_ID, MAX_SESSION_KEY};

/// State of reading one history.
pub(crate) struct Context {
    pub options: Options,
    /// Line of the record that is read.
    pub line: u64,
    pub queue: Queue,
    session: Option<Session>,
    last_time: Option<i64>,
    /// How often a message without id and time has been said, by its hash.
    said: HashMap<u64, u32>,
    /// How many conversations without a name began with the same words.
    unnamed: HashMap<i64, u32>,
}

/// A time and where it comes from; `None` if none is known so far.
#[derive(Clone, Copy)]
pub(crate) struct Moment {
    time: Option<i64>,
    own: bool,
    unreadable: bool,
}

/// A message as a format finds it.
pub(crate) struct Draft<'a> {
    pub role: &'static str,
    pub content: Cow<'a, str>,
    pub moment: Moment,
    pub id: Option<Cow<'a, str>>,
    /// The API message it is part of.
    pub part_of: Option<Cow<'a, str>>,
    /// Whether that API message is known to end here.
    pub complete: bool,
    pub source: &'static str,
    pub channel: Option<Cow<'a, str>>,
    pub sender: Option<Cow<'a, str>>,
    pub metadata: Metadata,
    pub raw: &'a str,
}

/// What else is known of a message.
#[derive(Default)]
pub(crate) struct Metadata(Map<String, Value>);

impl Metadata {
    /// Adds a JSON string or number as text; anything else is left out.
    pub(crate) fn json(&mut self, name: &str, value: Option<&str>) {
        self.text(name, value.and_then(json::scalar));
    }

    /// Adds a text.
    pub(crate) fn text(&mut self, name: &str, value: Option<Cow<'_, str>>) {
        if let Some(value) = value {
            self.0.insert(name.to_owned(), Value::String(value.into_owned()));
        }
    }
}

impl Context {
    pub(crate) fn new(options: Options) -> Self {
        Context {
            options,
            line: 1,
            queue: Queue::default(),
            session: None,
            last_time: None,
            said: HashMap::new(),
            unnamed: HashMap::new(),
        }
    }

    /// The record is no message.
    pub(crate) fn skip(&mut self, rule: Rule) {
        self.queue.push(Item::Skipped { line: self.line, rule });
    }

    /// The record is a block of an API message that holds no words: what comes before it is whole.
    pub(crate) fn block(&mut self, part_of: &str) {
        self.queue.end_block(&bounded(part_of, MAX_MESSAGE_ID));
    }

    /// The record cannot be read.
    pub(crate) fn bad(&mut self, reason: Reason) {
        self.queue.push(Item::Bad { line: self.line, reason });
    }

    /// What follows has nothing to do with what came before: another conversation, without a name yet.
    pub(crate) fn begin(&mut self) {
        self.queue.finish();
        self.session = None;
        self.last_time = None;
    }

    /// Messages belong to the session of this key from now on. `id` is what the program calls it.
    pub(crate) fn enter(&mut self, key: &str, id: Option<&str>, title: Option<&str>) {
        let (key, origin) = match &self.options.session_key {
            Some(given) => (Cow::Borrowed(given.as_str()), KeyOrigin::Given),
            None => (bounded(key, MAX_SESSION_KEY), KeyOrigin::Named),
        };
        let known = self.session.as_ref().is_some_and(|session| {
            session.key == key && session.id.as_deref() == id && session.title.as_deref() == title
        });
        if known {
            return;
        }
        let key = key.into_owned();
        self.announce(Session {
            line: self.line,
            key,
            origin,
            id: id.map(str::to_owned),
            title: title.map(str::to_owned),
        });
    }

    fn announce(&mut self, session: Session) {
        self.queue.push(Item::Session(session.clone()));
        self.session = Some(session);
    }

    /// Key of the session messages belong to, if it is known.
    pub(crate) fn session_key(&self) -> Option<&str> {
        self.session.as_ref().map(|session| session.key.as_str()).or(self.options.session_key.as_deref())
    }

    /// Key and id of the session of a message with this text.
    fn session_of(&mut self, content: &str) -> (String, Option<String>) {
        if self.session.is_none() {
            let (key, origin) = match &self.options.session_key {
                Some(given) => (given.clone(), KeyOrigin::Given),
                None => (self.derived_key(content), KeyOrigin::Derived),
            };
            self.announce(Session { line: self.line, key, origin, id: None, title: None });
        }
        self.session.as_ref().map(|session| (session.key.clone(), session.id.clone())).unwrap_or_default()
    }

    /// The key of a conversation that nobody named: its first words, and which of this history's it is that begin
    /// with them.
    fn derived_key(&mut self, content: &str) -> String {
        let first = fingerprint(content);
        let count = self.unnamed.entry(first).or_insert(0);
        *count += 1;
        match count {
            1 => format!("chat:{first:016x}"),
            count => format!("chat:{first:016x}:{count}"),
        }
    }

    /// The first of several places for a time that holds one, else the last time before.
    pub(crate) fn moment(&mut self, places: &[Option<&str>]) -> Moment {
        let mut unreadable = false;
        for place in places {
            match time::read(*place, &self.options.zone) {
                Reading::Time(time) => {
                    self.last_time = Some(time);
                    self.queue.time(time);
                    return Moment { time: Some(time), own: true, unreadable };
                }
                Reading::Unreadable => unreadable = true,
                Reading::Missing => {}
            }
        }
        Moment { time: self.last_time, own: false, unreadable }
    }

    /// The record is a message.
    pub(crate) fn say(&mut self, draft: Draft<'_>) {
        let (session_key, session_id) = self.session_of(&draft.content);
        let fingerprint = fingerprint(&draft.content);
        let message_id = match draft.id {
            Some(id) => Some(bounded(&id, MAX_MESSAGE_ID).into_owned()),
            None if draft.moment.own => None,
            None => Some(self.id_of_words(&session_key, draft.role, fingerprint)),
        };
        let (timestamp, time) = match draft.moment {
            Moment { time: Some(time), own: true, .. } => (time, TimeOrigin::Own),
            Moment { time: Some(time), .. } => (time, TimeOrigin::Inherited),
            Moment { time: None, .. } => (0, TimeOrigin::Unknown),
        };
        let part_of =
            draft.part_of.filter(|id| !id.is_empty()).map(|id| bounded(&id, MAX_MESSAGE_ID).into_owned());
        let mut metadata = draft.metadata;
        metadata.text("session_id", session_id.map(Cow::Owned));
        metadata.text("api_message_id", part_of.as_deref().map(Cow::Borrowed));
        if time == TimeOrigin::Inherited {
            metadata.text("time", Some(Cow::Borrowed(time.name())));
        }
        let raw = self.options.keep_raw.then(|| json::without_nul(Cow::Borrowed(draft.raw)).into_owned());
        self.queue.message(Message {
            line: self.line,
            session_key,
            role: draft.role,
            content: draft.content.into_owned(),
            timestamp,
            time,
            unreadable_time: draft.moment.unreadable,
            message_id,
            supersedes: Vec::new(),
            may_grow: part_of.is_some() && !draft.complete,
            part_of,
            source: draft.source,
            channel: draft.channel.map(Cow::into_owned).or_else(|| self.options.channel.clone()),
            sender: draft.sender.map(Cow::into_owned),
            metadata: metadata.0,
            raw,
            fingerprint,
        });
    }

    /// An id for a message that has none and no time either: its words, and how often they have been said.
    fn id_of_words(&mut self, session_key: &str, role: &str, fingerprint: i64) -> String {
        let mut hasher = DefaultHasher::new();
        (session_key, role, fingerprint).hash(&mut hasher);
        let count = self.said.entry(hasher.finish()).or_insert(0);
        *count += 1;
        format!("text:{role}:{fingerprint:016x}:{count}")
    }
}

/// The text, or if it is longer than `most` bytes its hash.
fn bounded(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let mut name = String::from("sha256:");
    for byte in Sha256::digest(text.as_bytes()) {
        // Writing into a string does not fail.
        let _ = write!(name, "{byte:02x}");
    }
    Cow::Owned(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_hashed() {
        assert_eq!(bounded("abc", 3), "abc");
        assert_eq!(
            bounded("abcd", 3),
            "sha256:88d4266fd4e6338d13b845fcf289579d209c897823b9217da3e161936f031589"
        );
    }
}
