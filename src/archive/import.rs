//! `conv_import`: a history into rows, a batch at a time.
//!
//! A first pass names the sessions, so that their locks are taken at once and in order: two imports never wait
//! for each other in a circle. The second pass writes. What it holds in memory is one batch and what the crate
//! holds; the rest of the history stays where the caller put it. A short history is read once and held.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use memory_archive::{Format, Item, Message, Options, ReadError, TimeOrigin, Zone};
use pgrx::datum::TimestampWithTimeZone;
use pgrx::iter::TableIterator;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;
use pgrx::JsonB;
use serde_json::json;

use crate::embed::shorten;
use crate::error::{Failure, OrRaise};
use crate::pg::statement;
use crate::store;

/// Most messages and most bytes of text written at once.
const BATCH_ROWS: usize = 2_000;
const BATCH_BYTES: usize = 8 << 20;

/// Up to this size a history is read once, and its messages are held until their locks are taken.
const HELD_BYTES: usize = 8 << 20;

/// Most bad lines and sessions a report lists; all are counted.
const LISTED: usize = 100;

/// Most bytes compressed data may unpack to: what one value of PostgreSQL can hold.
const MAX_UNPACKED: u64 = 1 << 30;

/// How data compressed with zstd begins.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Microseconds either way in which the same words are the same message, as in `conv_find()`.
const WINDOW: u64 = 5_000_000;

/// Microseconds between 1970 and 2000, where PostgreSQL's time begins.
const EPOCH: i64 = 946_684_800_000_000;

#[derive(Default)]
struct Report {
    added: i64,
    updated: i64,
    duplicates: i64,
    skipped: BTreeMap<&'static str, i64>,
    bad: i64,
    bad_lines: Vec<serde_json::Value>,
    pending: Option<serde_json::Value>,
    sessions: BTreeSet<String>,
    times: BTreeMap<&'static str, i64>,
    unreadable_times: i64,
}

impl Report {
    fn to_json(&self) -> JsonB {
        let mut report = json!({
            "skipped": self.skipped,
            "bad": self.bad_lines,
            "sessions": self.sessions,
        });
        if let Some(map) = report.as_object_mut() {
            if let Some(pending) = &self.pending {
                map.insert("pending".to_owned(), pending.clone());
            }
            if !self.times.is_empty() {
                map.insert("times_not_their_own".to_owned(), json!(self.times));
            }
            if self.unreadable_times > 0 {
                map.insert("times_unreadable".to_owned(), json!(self.unreadable_times));
            }
        }
        JsonB(report)
    }
}

/// What is done with every history of one call.
struct Import<'a> {
    data: &'a [u8],
    options: Options,
    source: Option<&'a str>,
    strict: bool,
    schema: store::Schema,
}

fn unreadable(error: ReadError) -> Failure {
    let code = match error {
        ReadError::TooLong { .. } => PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
        _ => PgSqlErrorCode::ERRCODE_INVALID_TEXT_REPRESENTATION,
    };
    Failure::new(code, error.to_string()).hint(error.hint())
}

impl Import<'_> {
    fn run(&self) -> Result<Report, Failure> {
        // Compressed data is longer than it looks.
        let is_short = self.data.len() <= HELD_BYTES && !self.data.starts_with(&ZSTD_MAGIC);
        let mut held: Vec<Item> = Vec::new();
        let keys = self.sessions(|item| {
            if is_short {
                held.push(item);
            }
        })?;
        let indexed =
            Spi::get_one::<bool>(&format!("select {}.conv_indexed()", self.schema.name))?.unwrap_or(true);
        let mut report = Report::default();
        let mut batch: Vec<Message> = Vec::new();
        let mut bytes = 0usize;
        let again: Box<dyn Iterator<Item = Result<Item, ReadError>>> = if is_short {
            Box::new(held.into_iter().map(Ok))
        } else {
            Box::new(memory_archive::read(self.data, &self.options).map_err(unreadable)?)
        };
        for item in again {
            pgrx::check_for_interrupts!();
            match item.map_err(unreadable)? {
                Item::Session(session) => {
                    if report.sessions.len() < LISTED {
                        let stored = keys.stored_key(&session.key, session.id.as_deref());
                        report.sessions.insert(stored.unwrap_or(&session.key).clone());
                    }
                }
                Item::Message(mut message) => {
                    if let Some(key) = keys.stored_key(&message.session_key, session_id(&message)) {
                        message.session_key.clone_from(key);
                    }
                    if message.time != TimeOrigin::Own {
                        *report.times.entry(message.time.name()).or_default() += 1;
                    }
                    report.unreadable_times += i64::from(message.unreadable_time);
                    bytes += weight(&message);
                    batch.push(*message);
                    if batch.len() >= BATCH_ROWS || bytes >= BATCH_BYTES {
                        self.write(std::mem::take(&mut batch), indexed, &keys, &mut report)?;
                        bytes = 0;
                    }
                }
                Item::Skipped { rule, .. } => *report.skipped.entry(rule.name()).or_default() += 1,
                Item::Bad { line, reason } => {
                    if self.strict {
                        return Err(Failure::new(
                            PgSqlErrorCode::ERRCODE_INVALID_TEXT_REPRESENTATION,
                            format!("line {line} of the history is {reason}"),
                        )
                        .hint("Without strict the line is left out and reported."));
                    }
                    report.bad += 1;
                    if report.bad_lines.len() < LISTED {
                        report.bad_lines.push(json!({"line": line, "reason": reason.to_string()}));
                    }
                }
                Item::Pending { line, offset } => {
                    report.pending = Some(json!({"line": line, "offset": offset}));
                }
            }
        }
        self.write(batch, indexed, &keys, &mut report)?;
        Ok(report)
    }

    /// The first pass: takes the locks of all sessions, and finds out which are stored under another key.
    fn sessions(&self, mut each: impl FnMut(Item)) -> Result<Sessions, Failure> {
        let mut seen: BTreeSet<(String, Option<String>)> = BTreeSet::new();
        let mut sources: BTreeSet<&'static str> = BTreeSet::new();
        let given = self.options.session_key.is_some();
        if let Some(key) = &self.options.session_key {
            seen.insert((key.clone(), None));
        }
        for item in memory_archive::read(self.data, &self.options).map_err(unreadable)? {
            pgrx::check_for_interrupts!();
            let item = item.map_err(unreadable)?;
            match &item {
                Item::Session(session) if !given => {
                    seen.insert((session.key.clone(), session.id.clone()));
                }
                Item::Message(message) => {
                    sources.insert(message.source);
                }
                _ => {}
            }
            each(item);
        }
        let (keys, ids): (Vec<String>, Vec<Option<String>>) = seen.into_iter().unzip();
        let sources: Vec<&str> = match self.source {
            Some(source) => vec![source],
            None => sources.into_iter().collect(),
        };
        let claim = format!(
            "select session_key, session_id, stored_key from {}.conv_claim($1, $2, $3)",
            self.schema.name
        );
        let global =
            format!("select s from pg_catalog.unnest($1) s where {}.conv_global_ids(s)", self.schema.name);
        Spi::connect_mut(|client| {
            let mut found = Sessions::default();
            for row in client.update(&claim, None, &[keys.into(), ids.into(), sources.clone().into()])? {
                if let (Some(key), id, Some(stored)) =
                    (row.get::<String>(1)?, row.get::<String>(2)?, row.get::<String>(3)?)
                {
                    if key != stored && !given {
                        found.stored.entry(key).or_default().insert(id.unwrap_or_default(), stored);
                    }
                }
            }
            for row in client.update(&global, None, &[sources.into()])? {
                found.global_sources.extend(row.get::<String>(1)?);
            }
            Ok(found)
        })
    }

    /// Writes what is new of a batch.
    fn write(
        &self,
        batch: Vec<Message>,
        indexed: bool,
        keys: &Sessions,
        report: &mut Report,
    ) -> Result<(), Failure> {
        if batch.is_empty() {
            return Ok(());
        }
        Spi::connect_mut(|client| {
            let stored = self.stored(client, &batch)?;
            let mut fresh: Vec<Message> = Vec::with_capacity(batch.len());
            let mut seen = Seen::new(&keys.global_sources);
            for (message, is_stored) in batch.into_iter().zip(stored) {
                let is_longer = !message.supersedes.is_empty();
                if is_stored || !seen.insert(&message, self.source_of(&message)) {
                    if is_stored && is_longer {
                        self.replace(client, &message, true)?;
                    }
                    report.duplicates += 1;
                } else if is_longer && self.replace(client, &message, false)? {
                    report.updated += 1;
                } else {
                    fresh.push(message);
                }
            }
            report.added += self.insert(client, fresh, indexed)?;
            Ok(())
        })
    }

    fn source_of<'m>(&'m self, message: &'m Message) -> &'m str {
        self.source.unwrap_or(message.source)
    }

    /// Which messages of a batch are there already.
    fn stored(&self, client: &mut SpiClient<'_>, batch: &[Message]) -> Result<Vec<bool>, Failure> {
        let sql = format!(
            "select exists (select from {0}.conv_find(m.session_key, m.role, m.fingerprint, m.said_at, m.message_id, m.source, \
             m.content, m.part_of, m.session_id)) \
             from unnest($1, $2, $3, $4, $5, $6, $7, $8, $9) with ordinality \
             m (session_key, role, fingerprint, said_at, message_id, source, content, part_of, session_id, place) \
             order by m.place",
            self.schema.name
        );
        // The text is needed for what may be a shorter snapshot only.
        let content = |m: &Message| m.may_grow.then(|| m.content.clone());
        let part_of = |m: &Message| m.part_of.clone().filter(|_| m.may_grow);
        let table = client.update(
            &sql,
            None,
            &[
                column(batch, |m| m.session_key.clone()).into(),
                column(batch, |m| m.role).into(),
                column(batch, |m| m.fingerprint).into(),
                times(batch)?.into(),
                column(batch, |m| m.message_id.clone()).into(),
                column(batch, |m| self.source_of(m).to_owned()).into(),
                column(batch, content).into(),
                column(batch, part_of).into(),
                column(batch, |m| session_id(m).map(str::to_owned)).into(),
            ],
        )?;
        let mut stored = Vec::with_capacity(batch.len());
        for row in table {
            stored.push(row.get::<bool>(1)?.unwrap_or(false));
        }
        Ok(stored)
    }

    /// Puts a longer snapshot in the place of the first of those that are stored, and removes the others; false if
    /// there is none. Where it `is_stored` itself they all go.
    fn replace(
        &self,
        client: &mut SpiClient<'_>,
        message: &Message,
        is_stored: bool,
    ) -> Result<bool, Failure> {
        // Only what is shorter: whatever a history calls superseded, no words are lost.
        let find = format!(
            "select o.id from {0}.conversations o where o.message_id operator(pg_catalog.=) any ($1) \
             and o.source operator(pg_catalog.=) $2 \
             and (o.session_key operator(pg_catalog.=) $3 or {0}.conv_global_ids(o.source)) \
             and pg_catalog.length(o.content) operator(pg_catalog.<) pg_catalog.length($4) order by o.id",
            self.schema.name
        );
        let mut ids: Vec<i64> = Vec::new();
        for row in client.update(
            &find,
            None,
            &[
                message.supersedes.clone().into(),
                self.source_of(message).into(),
                message.session_key.as_str().into(),
                message.content.as_str().into(),
            ],
        )? {
            ids.extend(row.get::<i64>(1)?);
        }
        let rest = if is_stored { 0 } else { 1.min(ids.len()) };
        let others = ids.split_off(rest);
        if !others.is_empty() {
            let delete = format!(
                "delete from {}.conversations c where c.id operator(pg_catalog.=) any ($1)",
                self.schema.name
            );
            client.update(&delete, None, &[others.into()])?;
        }
        let Some(id) = ids.first() else { return Ok(false) };
        let sql = format!(
            "update {}.conversations c set content = $1, message_id = $2, metadata = c.metadata operator(pg_catalog.||) $3, \
             raw = coalesce($4, c.raw) where c.id operator(pg_catalog.=) $5",
            self.schema.name
        );
        let done = client.update(
            &sql,
            None,
            &[
                message.content.as_str().into(),
                message.message_id.clone().into(),
                JsonB(message.metadata.clone().into()).into(),
                message.raw.clone().into(),
                (*id).into(),
            ],
        )?;
        Ok(!done.is_empty())
    }

    fn insert(&self, client: &mut SpiClient<'_>, fresh: Vec<Message>, indexed: bool) -> Result<i64, Failure> {
        if fresh.is_empty() {
            return Ok(0);
        }
        let (search, length) = if indexed {
            (
                format!("{}.memory_tsvector(null, m.content)", self.schema.name),
                format!("{}.memory_token_count(w.search)", self.schema.name),
            )
        } else {
            ("null::pg_catalog.tsvector".to_owned(), "null::pg_catalog.int4".to_owned())
        };
        let sql = format!(
            "insert into {0}.conversations (session_key, role, content, \"timestamp\", message_id, source, channel, sender, \
             metadata, raw, fingerprint, search, token_count) \
             select m.session_key, m.role, m.content, m.said_at, m.message_id, m.source, m.channel, m.sender, \
             m.metadata::pg_catalog.jsonb, m.raw, m.fingerprint, w.search, {length} \
             from unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) with ordinality \
             m (session_key, role, content, said_at, message_id, source, channel, sender, metadata, raw, fingerprint, place), \
             lateral (select {search} as search offset 0) w \
             order by m.place",
            self.schema.name
        );
        let table = client.update(
            &sql,
            None,
            &[
                column(&fresh, |m| m.session_key.clone()).into(),
                column(&fresh, |m| m.role).into(),
                column(&fresh, |m| m.content.clone()).into(),
                times(&fresh)?.into(),
                column(&fresh, |m| m.message_id.clone()).into(),
                column(&fresh, |m| self.source_of(m).to_owned()).into(),
                column(&fresh, |m| m.channel.clone()).into(),
                column(&fresh, |m| m.sender.clone()).into(),
                column(&fresh, |m| serde_json::Value::Object(m.metadata.clone()).to_string()).into(),
                column(&fresh, |m| m.raw.clone()).into(),
                column(&fresh, |m| m.fingerprint).into(),
            ],
        )?;
        Ok(i64::try_from(table.len()).unwrap_or(i64::MAX))
    }
}

/// Bytes a message brings into a batch.
fn weight(message: &Message) -> usize {
    let metadata =
        message.metadata.iter().map(|(name, value)| name.len() + value.as_str().map_or(0, str::len));
    message.content.len() + message.raw.as_ref().map_or(0, String::len) + metadata.sum::<usize>()
}

fn column<T>(batch: &[Message], value: impl Fn(&Message) -> T) -> Vec<T> {
    batch.iter().map(value).collect()
}

fn times(batch: &[Message]) -> Result<Vec<TimestampWithTimeZone>, Failure> {
    batch
        .iter()
        .map(|message| {
            TimestampWithTimeZone::try_from(message.timestamp.saturating_sub(EPOCH)).map_err(|_| {
                Failure::new(
                    PgSqlErrorCode::ERRCODE_DATETIME_FIELD_OVERFLOW,
                    format!("time of line {} of the history is out of range", message.line),
                )
            })
        })
        .collect()
}

/// What the sessions of a history are called where they are stored.
#[derive(Default)]
struct Sessions {
    /// Stored keys by the history's key and its session id, if it is not the history's.
    stored: HashMap<String, HashMap<String, String>>,
    /// Sources of which ids are unique over sessions, by `conv_global_ids()`.
    global_sources: HashSet<String>,
}

impl Sessions {
    fn stored_key(&self, key: &str, id: Option<&str>) -> Option<&String> {
        self.stored.get(key)?.get(id.unwrap_or_default())
    }
}

/// What the program calls the session of a message.
fn session_id(message: &Message) -> Option<&str> {
    message.metadata.get("session_id").and_then(serde_json::Value::as_str)
}

/// A message by its id: where it was said, by which source it came, and its words.
struct Named {
    session_key: String,
    session_id: Option<String>,
    source: String,
    fingerprint: i64,
}

/// When something was said, whether with an id, and by which source it came.
struct Said {
    timestamp: i64,
    has_id: bool,
    source: String,
}

/// The messages of a batch that are to be written, by the rules of `conv_find()`, which sees only what is stored.
struct Seen<'a> {
    global_sources: &'a HashSet<String>,
    ids: HashMap<String, Vec<Named>>,
    words: HashMap<(String, &'static str, i64), Vec<Said>>,
}

impl<'a> Seen<'a> {
    fn new(global_sources: &'a HashSet<String>) -> Self {
        Seen { global_sources, ids: HashMap::new(), words: HashMap::new() }
    }

    /// Notes a message of a source; false if it is a copy of one before.
    fn insert(&mut self, message: &Message, source: &str) -> bool {
        let id = session_id(message);
        let is_global = |source: &str| self.global_sources.contains(source);
        let is_same = |other: &Named| {
            let session = other.session_key == message.session_key
                && (id.is_none() || other.session_id.is_none() || other.session_id.as_deref() == id)
                || is_global(&other.source) && is_global(source);
            session && (other.source == source || other.fingerprint == message.fingerprint)
        };
        let named = message.message_id.as_ref().and_then(|id| self.ids.get(id));
        if named.is_some_and(|others| others.iter().any(is_same)) {
            return false;
        }
        let has_id = message.message_id.is_some();
        let key = (message.session_key.clone(), message.role, message.fingerprint);
        let said = self.words.entry(key).or_default();
        let is_copy = |other: &Said| {
            other.timestamp.abs_diff(message.timestamp) <= WINDOW
                && !(has_id && other.has_id && other.source == source)
        };
        if said.iter().any(is_copy) {
            return false;
        }
        said.push(Said { timestamp: message.timestamp, has_id, source: source.to_owned() });
        if let Some(name) = &message.message_id {
            self.ids.entry(name.clone()).or_default().push(Named {
                session_key: message.session_key.clone(),
                session_id: id.map(str::to_owned),
                source: source.to_owned(),
                fingerprint: message.fingerprint,
            });
        }
        true
    }
}

#[pg_extern(sql = false)]
#[allow(clippy::too_many_arguments, clippy::type_complexity)]
fn conv_import(
    data: Option<&[u8]>,
    format: Option<&str>,
    session_key: Option<&str>,
    source: Option<&str>,
    time_zone: Option<&str>,
    channel: Option<&str>,
    keep_raw: Option<bool>,
    strict: Option<bool>,
) -> TableIterator<
    'static,
    (
        name!(added, i64),
        name!(updated, i64),
        name!(duplicates, i64),
        name!(skipped, i64),
        name!(bad, i64),
        name!(pending, i64),
        name!(report, JsonB),
    ),
> {
    statement::require_writable(c"conv_import()");
    let Some(data) = data else {
        Failure::argument("data must not be NULL").hint("Pass the content of the file.").raise();
    };
    let name = format.unwrap_or("auto");
    let Ok(format) = name.parse::<Format>() else {
        let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
        Failure::argument(format!("unknown format: \"{}\"", shorten(name)))
            .hint(format!("Use one of: {}.", names.join(", ")))
            .raise();
    };
    let zone = time_zone.unwrap_or("UTC");
    let Some(zone) = Zone::named(zone) else {
        Failure::argument(format!("unknown time zone: \"{}\"", shorten(zone)))
            .hint("Use a name such as Asia/Shanghai, or an offset such as +08:00.")
            .raise();
    };
    if session_key.is_some_and(|key| key.is_empty() || key.len() > memory_archive::MAX_SESSION_KEY) {
        Failure::argument("session_key must have 1 to 2000 bytes")
            .hint("Leave it out to take the session the history names.")
            .raise();
    }
    let import = Import {
        data,
        options: Options {
            format,
            session_key: session_key.map(str::to_owned),
            channel: channel.map(str::to_owned),
            zone,
            keep_raw: keep_raw.unwrap_or(false),
            max_bytes: MAX_UNPACKED,
            pause: || {
                pgrx::check_for_interrupts!();
            },
        },
        source,
        strict: strict.unwrap_or(false),
        schema: store::schema().or_raise(),
    };
    let report = import.run().or_raise();
    TableIterator::once((
        report.added,
        report.updated,
        report.duplicates,
        report.skipped.values().sum(),
        report.bad,
        i64::from(report.pending.is_some()),
        report.to_json(),
    ))
}
