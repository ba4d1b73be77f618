//! From records to items: which format a record has, and what becomes of one that has none.
//!
//! The format is looked at again only for a record that the last one cannot make out, so that files that were put
//! behind each other are read, and a file of one format is looked at once.

use std::borrow::Cow;

use crate::context::Context;
use crate::input::{Framing, Input, Record};
use crate::{chatgpt, claude_code, json, messages, openclaw};
use crate::{Format, Item, Options, ReadError, Reason, Rule};

/// Items of a history, in its order.
pub struct Reader<'a> {
    input: Option<Input<'a>>,
    buffer: Vec<u8>,
    context: Context,
    /// Why reading ended early; told after what came before.
    failure: Option<ReadError>,
    /// The format of the record before.
    format: Format,
    /// What message arrays are in this history.
    dialect: Format,
}

/// Reads a history.
///
/// # Errors
/// Nothing can be read from the bytes.
pub fn read<'a>(bytes: &'a [u8], options: &Options) -> Result<Reader<'a>, ReadError> {
    let (input, prefix) = Input::open(bytes, options.max_bytes)?;
    Ok(Reader {
        input: Some(input),
        buffer: Vec::new(),
        context: Context::new(options.clone()),
        failure: None,
        format: options.format,
        dialect: messages::dialect(&prefix),
    })
}

/// What became of a record.
enum Outcome {
    /// Its items are in the queue.
    Read,
    /// It is an object that no format knows.
    Unknown,
}

impl Iterator for Reader<'_> {
    type Item = Result<Item, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(item) = self.context.queue.pop() {
                return Some(Ok(item));
            }
            let Some(input) = self.input.as_mut() else {
                return self.failure.take().map(Err);
            };
            // Blank records give no item: without this a caller would not get a word in.
            (self.context.options.pause)();
            let framing = input.framing();
            let mut buffer = std::mem::take(&mut self.buffer);
            match input.next(&mut buffer) {
                Ok(Some(record)) => {
                    self.context.line = record.line;
                    self.record(&record, framing);
                }
                Ok(None) => {
                    self.input = None;
                    self.context.queue.finish();
                }
                Err(error) => {
                    let (line, _) = input.place();
                    self.input = None;
                    self.context.queue.finish();
                    match ReadError::of(&error, self.context.options.max_bytes) {
                        error @ ReadError::TooLong { .. } => self.failure = Some(error),
                        _ => {
                            self.context.line = line;
                            self.context.bad(Reason::Compression);
                        }
                    }
                }
            }
            self.buffer = buffer;
        }
    }
}

impl Reader<'_> {
    fn record(&mut self, record: &Record<'_>, framing: Framing) {
        let text = match std::str::from_utf8(record.bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(record.bytes),
        };
        // Files that were put behind each other have byte order marks in between, and a crash leaves blocks of NUL.
        let blank = |c: char| c.is_ascii_whitespace() || matches!(c, '\0' | '\u{feff}');
        let shown = text.trim_start_matches(blank);
        let before = text.len() - shown.len();
        let text = shown.trim_end_matches(blank);
        if text.is_empty() {
            return;
        }
        if record.begins {
            self.context.begin();
        }
        let result = match self.object_or_list(text, framing) {
            Err(error) => match json::repair(text) {
                Some(repaired) => self.object_or_list(&repaired, framing).map_err(|_| error),
                None => Err(error),
            },
            result => result,
        };
        match result {
            Ok(Outcome::Read) => {}
            Ok(Outcome::Unknown) => self.context.skip(Rule::Unrecognised),
            Err(_) if record.open && may_be_completed(text) => {
                self.context.queue.push(Item::Pending { line: record.line, offset: record.offset });
            }
            Err(error) => {
                let column = match (error.line(), error.column()) {
                    (1, column @ 1..) => place(record.bytes, before + column),
                    _ => 0,
                };
                self.context.bad(Reason::Json { column });
            }
        }
    }

    /// Reads a record that must be JSON.
    fn object_or_list(&mut self, text: &str, framing: Framing) -> Result<Outcome, json::Error> {
        match json::kind(text) {
            b'{' => self.object(text),
            kind => {
                let dialect = self.dialect();
                if kind == b'[' && self.lists() && messages::read(&mut self.context, text, dialect)? {
                    return Ok(Outcome::Read);
                }
                json::check(text)?;
                match framing {
                    Framing::Lines => self.context.skip(Rule::NotObject),
                    Framing::Values => self.context.bad(Reason::NotObject),
                }
                Ok(Outcome::Read)
            }
        }
    }

    fn object(&mut self, text: &str) -> Result<Outcome, json::Error> {
        if self.format != Format::Auto && self.read_as(self.format, text)? {
            return Ok(Outcome::Read);
        }
        if self.context.options.format != Format::Auto {
            return Ok(Outcome::Unknown);
        }
        match shape(text)? {
            Some(format) if format != self.format && self.read_as(format, text)? => {
                self.format = format;
                Ok(Outcome::Read)
            }
            _ => Ok(Outcome::Unknown),
        }
    }

    /// Whether an array may be a list of messages.
    fn lists(&self) -> bool {
        matches!(self.context.options.format, Format::Auto | Format::OpenAi | Format::Anthropic)
    }

    /// Whose message arrays are.
    fn dialect(&self) -> Format {
        match self.context.options.format {
            format @ (Format::OpenAi | Format::Anthropic) => format,
            _ => self.dialect,
        }
    }

    fn read_as(&mut self, format: Format, text: &str) -> Result<bool, json::Error> {
        let context = &mut self.context;
        match format {
            Format::Auto => Ok(false),
            Format::OpenClaw | Format::OpenClawHooks => openclaw::read(context, text),
            Format::ClaudeCode => claude_code::read(context, text),
            Format::ChatGpt => chatgpt::read(context, text),
            Format::OpenAi | Format::Anthropic => {
                let dialect = self.dialect();
                messages::read(&mut self.context, text, dialect)
            }
        }
    }
}

/// Whether a text that is not JSON is the beginning of some.
fn may_be_completed(text: &str) -> bool {
    let repaired = json::repair(text);
    json::check(repaired.as_deref().unwrap_or(text)).is_err_and(|error| error.is_eof())
}

/// The byte of a record, from 1, that is byte `column` of its text, in which bytes that are no UTF-8 became U+FFFD.
fn place(bytes: &[u8], column: usize) -> usize {
    let (mut shown, mut read) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        let valid = chunk.valid().len();
        if shown + valid >= column {
            return read + column - shown;
        }
        shown += valid;
        read += valid;
        if !chunk.invalid().is_empty() {
            shown += '\u{fffd}'.len_utf8();
            if shown >= column {
                return read + 1;
            }
            read += chunk.invalid().len();
        }
    }
    read
}

/// The format an object looks like.
fn shape(text: &str) -> Result<Option<Format>, json::Error> {
    let [kind, mapping, messages, role, event_json, event_zstd, uuid, session_id, leaf, snapshot] =
        json::record(
            text,
            &[
                "type",
                "mapping",
                "messages",
                "role",
                "event_json",
                "event_zstd",
                "uuid",
                "sessionId",
                "leafUuid",
                "messageId",
            ],
        )?;
    let kind = kind.and_then(json::string);
    Ok(if mapping.is_some() {
        Some(Format::ChatGpt)
    } else if event_json.or(event_zstd).is_some() {
        Some(Format::OpenClaw)
    } else if messages.or(role).is_some() {
        Some(Format::OpenAi)
    } else if kind
        .is_some_and(|kind| claude_code::is_line(&kind, uuid.or(session_id).or(leaf).or(snapshot).is_some()))
    {
        Some(Format::ClaudeCode)
    } else {
        Some(Format::OpenClaw)
    })
}
