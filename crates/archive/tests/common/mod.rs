//! What a history gives, sorted by kind, for the tests of the formats.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use memory_archive::{read, Item, Message, Options, Reason, Rule, Session};

/// All items of a history.
#[derive(Debug, Default, PartialEq)]
pub struct Outcome {
    pub sessions: Vec<Session>,
    pub messages: Vec<Message>,
    pub skipped: Vec<(u64, Rule)>,
    pub bad: Vec<(u64, Reason)>,
    pub pending: Vec<(u64, u64)>,
}

/// Reads a history that must be readable.
pub fn outcome(history: impl AsRef<[u8]>, options: &Options) -> Outcome {
    let mut outcome = Outcome::default();
    for item in read(history.as_ref(), options).unwrap() {
        match item.unwrap() {
            Item::Session(session) => outcome.sessions.push(session),
            Item::Message(message) => outcome.messages.push(*message),
            Item::Skipped { line, rule } => outcome.skipped.push((line, rule)),
            Item::Bad { line, reason } => outcome.bad.push((line, reason)),
            Item::Pending { line, offset } => outcome.pending.push((line, offset)),
        }
    }
    outcome
}

/// Reads a history as the caller does who knows nothing about it.
pub fn auto(history: impl AsRef<[u8]>) -> Outcome {
    outcome(history, &Options::default())
}

impl Outcome {
    /// Line, id, role and text of each message.
    pub fn lines(&self) -> Vec<(u64, &str, &str, &str)> {
        let line = |m: &Message| m.line;
        self.messages
            .iter()
            .map(|m| (line(m), m.message_id.as_deref().unwrap_or(""), m.role, m.content.as_str()))
            .collect()
    }

    pub fn texts(&self) -> Vec<&str> {
        self.messages.iter().map(|message| message.content.as_str()).collect()
    }

    pub fn times(&self) -> Vec<String> {
        self.messages.iter().map(|message| time(message.timestamp)).collect()
    }

    pub fn rules(&self) -> Vec<Rule> {
        self.skipped.iter().map(|(_, rule)| *rule).collect()
    }
}

/// Microseconds as ISO 8601.
pub fn time(microseconds: i64) -> String {
    jiff::Timestamp::from_microsecond(microseconds).unwrap().to_string()
}
