//! Chat histories into messages: OpenClaw transcripts, their SQLite rows and hook events, Claude Code sessions,
//! ChatGPT exports, and message arrays as the OpenAI and Anthropic interfaces take them.
//!
//! What it does not do: it opens no file, keeps nothing between two histories, and never asks the clock. It does not
//! know what is stored already; [`Message`] says what has to be compared for that.
//!
//! What must hold:
//! - a message that was said is returned, whatever else the line holds: half surrogate pairs and bad UTF-8 become
//!   U+FFFD, NUL is left out, everything else is verbatim;
//! - every other record is returned too, as skipped by a [`Rule`], bad or pending, with its line;
//! - no input makes it panic or recurse deeply, and beside the input it takes memory for one record only (a line, or
//!   one conversation of a document), for up to 1 MiB of messages that are held back, and 32 bytes for each message
//!   that has neither id nor time. A compressed history may be all one record: [`Options::max_bytes`] bounds that.
//!
//! # Identity
//!
//! Two deliveries are the same message if they have the same [`Message::source`] and [`Message::message_id`], within
//! their session (its id, too, where both name one: a chat that was begun anew keeps its key) or, for `claude_code`,
//! anywhere: a resumed session repeats the lines of the one before under its own
//! session id. Without an id in common (two sources, or no id) it is the same session, role and
//! [`Message::fingerprint`] within five seconds.
//!
//! A message with neither an id nor a time of its own would be taken for every other one with the same words. It
//! gets an id of its words and of how often they have been said in the history so far. So the same history, or a
//! longer one, adds nothing twice, and two equal messages of one history are two.
//!
//! Claude Code has two levels of identity. The `uuid` of a line is the message id. The id of the API message, which
//! may span several lines, is [`Message::part_of`]; a later line of it that begins with the words of an earlier,
//! unfinished one and is longer is a snapshot of the same block if no other block of the API message stands between
//! them, and only the longest is returned. It names those it replaces in [`Message::supersedes`]. They may have been
//! stored from a history that ended between them, so for the same rows in whatever order histories are read, a store
//! - replaces the rows whose message ids are in `supersedes`, all of them, by the new message, and adds nothing;
//! - takes a message that [may still grow](Message::may_grow) for a duplicate if a row of the same `part_of` begins
//!   with its words.
//!
//! # Sessions
//!
//! The key is the caller's, else the one the history names, else one made of the first message and, where several
//! conversations of one history begin with the same words, of its place among them. OpenClaw has two
//! names for a session: a file knows its `session_id`, hooks know the `session_key`, and SQLite rows know both
//! ([`Session::key`], [`Session::id`]). Where rows of the same id are stored under another key, that key is the
//! session's.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod blob;
mod chatgpt;
mod claude_code;
mod compare;
mod context;
mod input;
mod json;
mod messages;
mod openclaw;
mod queue;
mod reader;
mod speech;
mod time;

use std::fmt;
use std::io;
use std::str::FromStr;

use serde_json::{Map, Value};

pub use compare::{comparison_text, fingerprint};
pub use reader::{read, Reader};
pub use time::Zone;

/// Longest message id in bytes; a longer one is replaced by its hash.
pub const MAX_MESSAGE_ID: usize = 500;
/// Longest session key in bytes that is taken from a history; a longer one is replaced by its hash.
pub const MAX_SESSION_KEY: usize = 2_000;

/// What kind of history it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// The history tells.
    #[default]
    Auto,
    /// OpenClaw session files and rows of `transcript_events`.
    OpenClaw,
    /// OpenClaw hook events `message:received` and `message:sent`.
    OpenClawHooks,
    /// Claude Code session files.
    ClaudeCode,
    /// `conversations.json` of a ChatGPT export, or one conversation of it.
    ChatGpt,
    /// OpenAI messages: one a line, an array, or objects with a member `messages`.
    OpenAi,
    /// Anthropic messages, likewise.
    Anthropic,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 7] = [
        Format::Auto,
        Format::OpenClaw,
        Format::OpenClawHooks,
        Format::ClaudeCode,
        Format::ChatGpt,
        Format::OpenAi,
        Format::Anthropic,
    ];

    /// Its name, which is also the [`Message::source`] of its messages.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Auto => "auto",
            Format::OpenClaw => "openclaw",
            Format::OpenClawHooks => "openclaw_hooks",
            Format::ClaudeCode => "claude_code",
            Format::ChatGpt => "chatgpt",
            Format::OpenAi => "openai",
            Format::Anthropic => "anthropic",
        }
    }
}

/// A name that no [`Format`] has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownFormat;

impl fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown format; there are")?;
        for (place, format) in Format::ALL.iter().enumerate() {
            f.write_str(if place == 0 { " " } else { ", " })?;
            f.write_str(format.name())?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownFormat {}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Format::ALL.into_iter().find(|format| format.name() == name).ok_or(UnknownFormat)
    }
}

/// How a history is read.
#[derive(Clone, Debug)]
pub struct Options {
    /// What it is. Records of another shape are skipped unless this is [`Format::Auto`].
    pub format: Format,
    /// The session of all its messages, whatever the history says; taken as it is, without a limit.
    pub session_key: Option<String>,
    /// Where messages were said, if the history does not say.
    pub channel: Option<String>,
    /// The zone of times that are written without one.
    pub zone: Zone,
    /// Whether messages bring the text they were read from.
    pub keep_raw: bool,
    /// Most bytes that are unpacked from compressed data.
    pub max_bytes: u64,
    /// Called before each record, for a caller that may have to give up; blank ones give no item.
    pub pause: fn(),
}

impl Default for Options {
    /// Anything, in UTC, at most 1 GiB unpacked.
    fn default() -> Self {
        Options {
            format: Format::Auto,
            session_key: None,
            channel: None,
            zone: Zone::UTC,
            keep_raw: false,
            max_bytes: 1 << 30,
            pause: || {},
        }
    }
}

/// What a history holds, in its order. Lines count from 1; of a value over many lines it is the first.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// The messages that follow belong to this session; it may have none.
    Session(Session),
    /// Something that was said.
    Message(Box<Message>),
    /// A record that is nothing that was said, or not again.
    Skipped {
        /// Where it is.
        line: u64,
        /// Why.
        rule: Rule,
    },
    /// A record that cannot be read.
    Bad {
        /// Where it is.
        line: u64,
        /// Why.
        reason: Reason,
    },
    /// The history ends in the middle of this record: the rest may still be written.
    Pending {
        /// Where it is.
        line: u64,
        /// Unpacked bytes before it.
        offset: u64,
    },
}

/// A conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Where it begins.
    pub line: u64,
    /// [`Message::session_key`] of its messages.
    pub key: String,
    /// Where the key comes from.
    pub origin: KeyOrigin,
    /// What the program calls the session, the same or another name.
    pub id: Option<String>,
    /// Its title.
    pub title: Option<String>,
}

/// Where a session key comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyOrigin {
    /// The caller gave it.
    Given,
    /// The history names it.
    Named,
    /// Nobody named it: it is made of the first message, so that a longer history of the session has the same.
    Derived,
}

/// One message, without a NUL in any of its texts.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Where it is.
    pub line: u64,
    /// The conversation, at most [`MAX_SESSION_KEY`] bytes unless the caller gave it; never empty.
    pub session_key: String,
    /// `user` or `assistant`.
    pub role: &'static str,
    /// The text, verbatim; never blank. Blocks of text are joined by line ends.
    pub content: String,
    /// Microseconds since 1970 in UTC.
    pub timestamp: i64,
    /// Where the time comes from.
    pub time: TimeOrigin,
    /// Whether there is a time that cannot be read.
    pub unreadable_time: bool,
    /// Its id, at most [`MAX_MESSAGE_ID`] bytes, never empty. See the [crate](crate#identity).
    pub message_id: Option<String>,
    /// Ids of the messages it is a longer snapshot of.
    pub supersedes: Vec<String>,
    /// The API message it is part of, at most [`MAX_MESSAGE_ID`] bytes; in `metadata`, too, as `api_message_id`.
    pub part_of: Option<String>,
    /// Whether it may be an unfinished snapshot of a block of that API message: nothing yet says that it is whole.
    pub may_grow: bool,
    /// [`Format::name`] of the format it was read as.
    pub source: &'static str,
    /// Where it was said: `telegram`, `feishu` …
    pub channel: Option<String>,
    /// Who said it, as the channel names them.
    pub sender: Option<String>,
    /// Whichever the history has of the texts `session_id`, `parent_id`, `title`, `provider`, `model`, `cwd`,
    /// `git_branch`, `api_message_id`, `conversation_id`, `recipient`; and `time` if that is not the message's own.
    pub metadata: Map<String, Value>,
    /// The text it was read from, if that was asked for.
    pub raw: Option<String>,
    /// [`fingerprint`] of the content.
    pub fingerprint: i64,
}

/// Where the time of a message comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeOrigin {
    /// It has one.
    Own,
    /// The record before it, or what is said of the whole session.
    Inherited,
    /// The first record after it that has one.
    Following,
    /// There is none: it is 1970-01-01T00:00:00Z.
    Unknown,
}

impl TimeOrigin {
    /// `own`, `inherited`, `following`, `unknown`.
    pub const fn name(self) -> &'static str {
        match self {
            TimeOrigin::Own => "own",
            TimeOrigin::Inherited => "inherited",
            TimeOrigin::Following => "following",
            TimeOrigin::Unknown => "unknown",
        }
    }
}

/// Why a record is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// A copy that OpenClaw keeps of what it delivered.
    DeliveryMirror,
    /// An answer that is only `NO_REPLY` or `HEARTBEAT_OK`.
    SilentReply,
    /// A hook event of a message that was not delivered.
    Undelivered,
    /// Thinking, tools, compaction, labels, settings …
    NotSpeech,
    /// A message without a word.
    NoText,
    /// A message its program does not show.
    Hidden,
    /// What the agents of an agent say to it.
    Sidechain,
    /// What Claude Code adds for the model.
    Meta,
    /// A summary in place of older messages.
    Compaction,
    /// A command to the program.
    Command,
    /// What the program says in place of the model, such as errors.
    Synthetic,
    /// Instructions of a system or a developer.
    SystemRole,
    /// An answer that was replaced by another.
    OtherBranch,
    /// A shorter snapshot of a message that is returned in full.
    Snapshot,
    /// A line that is JSON but no object.
    NotObject,
    /// An object of an unknown shape.
    Unrecognised,
}

impl Rule {
    /// Its name, which never changes.
    pub const fn name(self) -> &'static str {
        match self {
            Rule::DeliveryMirror => "delivery_mirror",
            Rule::SilentReply => "silent_reply",
            Rule::Undelivered => "undelivered",
            Rule::NotSpeech => "not_speech",
            Rule::NoText => "no_text",
            Rule::Hidden => "hidden",
            Rule::Sidechain => "sidechain",
            Rule::Meta => "meta",
            Rule::Compaction => "compaction",
            Rule::Command => "command",
            Rule::Synthetic => "synthetic",
            Rule::SystemRole => "system_role",
            Rule::OtherBranch => "other_branch",
            Rule::Snapshot => "snapshot",
            Rule::NotObject => "not_object",
            Rule::Unrecognised => "unrecognised",
        }
    }
}

/// Why a record cannot be read. Nothing of its text is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is not JSON, as far as can be said from this byte of the record on (from 1; 0 if that is unknown).
    Json {
        /// The byte.
        column: usize,
    },
    /// An element of an array that is no object.
    NotObject,
    /// A conversation without a tree of messages.
    NoTree,
    /// An event whose compressed text cannot be unpacked.
    Event,
    /// Compressed data that cannot be unpacked. The history ends here.
    Compression,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Json { column: 0 } => f.write_str("not valid JSON"),
            Reason::Json { column } => write!(f, "not valid JSON from byte {column} on"),
            Reason::NotObject => f.write_str("not an object"),
            Reason::NoTree => f.write_str("conversation without a tree of messages"),
            Reason::Event => f.write_str("event that cannot be unpacked"),
            Reason::Compression => f.write_str("damaged compressed data"),
        }
    }
}

/// Why a whole history cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// It is an SQLite database.
    Sqlite,
    /// It is a ZIP archive.
    Zip,
    /// It is compressed with gzip.
    Gzip,
    /// It is UTF-16.
    Utf16,
    /// It is compressed with zstd and damaged from the beginning, or needs a window of more than 128 MiB.
    Compression,
    /// More than [`Options::max_bytes`] would have to be unpacked. Items before that have been returned.
    TooLong {
        /// [`Options::max_bytes`].
        limit: u64,
    },
}

impl ReadError {
    /// What an error of unpacking means.
    pub(crate) fn of(error: &io::Error, limit: u64) -> Self {
        match error.kind() {
            io::ErrorKind::QuotaExceeded => ReadError::TooLong { limit },
            _ => ReadError::Compression,
        }
    }

    /// What can be done about it.
    pub const fn hint(self) -> &'static str {
        match self {
            ReadError::Sqlite => {
                "Export table transcript_events with the sqlite3 program in mode json and import that."
            }
            ReadError::Zip => "Unpack it and import the file conversations.json.",
            ReadError::Gzip => "Unpack it first; of compressed histories those of zstd are read.",
            ReadError::Utf16 => "Convert it to UTF-8.",
            ReadError::Compression => "Check it with: zstd --test",
            ReadError::TooLong { .. } => "Unpack it and import it in parts.",
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Sqlite => f.write_str("history is an SQLite database"),
            ReadError::Zip => f.write_str("history is a ZIP archive"),
            ReadError::Gzip => f.write_str("history is compressed with gzip"),
            ReadError::Utf16 => f.write_str("history is UTF-16 text"),
            ReadError::Compression => f.write_str("history is damaged compressed data"),
            ReadError::TooLong { limit } => write!(f, "history is longer than {limit} bytes when unpacked"),
        }
    }
}

impl std::error::Error for ReadError {}
