//! Keeping the store complete: pending rows, expired rows.
//!
//! A row is pending while it has no vector of the store's model and no recorded error. Filling never holds
//! a row while the model computes: the row is read, embedded, and written only if its text is still the same.

use std::cell::Cell;

use pgrx::pg_sys;
use pgrx::prelude::*;
use pgrx::{PgOid, PgXactCallbackEvent};

use memory_embed::Kind;

use crate::embed::{self, EmbedFailure};
use crate::error::{Failure, OrRaise};
use crate::pg::vector::{self, Vector};
use crate::pg::{catalog, queue, statement};
use crate::store;

/// Rows read at a time.
const BATCH: i64 = 32;

/// A row without a vector of the store's model.
pub struct PendingRow {
    id: i64,
    text: String,
    hash: Vec<u8>,
}

/// What to do with a row that somebody else is changing.
#[derive(Clone, Copy)]
pub enum Busy {
    /// Wait for it: for one who holds no other row.
    Wait,
    /// Leave it pending.
    Skip,
}

/// How embedding a pending row ended.
type Embedded = Result<Option<Vec<f32>>, EmbedFailure>;

/// The next rows to fill; none where the store is not there.
pub fn pending_batch() -> Vec<PendingRow> {
    read_pending(BATCH, 0).unwrap_or_default()
}

fn read_pending(limit: i64, after: i64) -> Result<Vec<PendingRow>, Failure> {
    let schema = store::schema()?;
    store::memories_oid(&schema)?;
    let model = embed::active_model().unwrap_or_else(|| embed::DEFAULT_MODEL.to_owned());
    let sql = format!(
        "select m.id, {0}.memory_whole_text(m.title, m.content), m.content_hash from {0}.memories m \
         where (m.embedding is null or m.model is null or m.model operator(pg_catalog.<>) $1) and m.embed_error is null \
         and m.id operator(pg_catalog.>) $3 order by m.id limit $2",
        schema.name
    );
    let types = [PgOid::from(pg_sys::TEXTOID), PgOid::from(pg_sys::INT8OID), PgOid::from(pg_sys::INT8OID)];
    Spi::connect(|client| {
        store::query(client, &sql, &types, &[model.into(), limit.into(), after.into()], |row| {
            Ok(PendingRow {
                id: row[1].value::<i64>()?.unwrap_or(0),
                text: row[2].value::<String>()?.unwrap_or_default(),
                hash: row[3].value::<Vec<u8>>()?.unwrap_or_default(),
            })
        })
    })
}

impl PendingRow {
    /// The vector of the row's text; no lock is held.
    pub fn embed(&self, model: &str) -> Embedded {
        embed::embed_one(model, &self.text, Kind::Passage)
    }

    /// Writes the outcome if the row still has the text that was embedded; true if it did.
    pub fn write(&self, model: &str, embedded: &Embedded, busy: Busy) -> bool {
        self.try_write(model, embedded, busy).or_raise()
    }

    fn try_write(&self, model: &str, embedded: &Embedded, busy: Busy) -> Result<bool, Failure> {
        let schema = store::schema()?;
        let (values, problem) = match embedded {
            Ok(Some(values)) => (Some(values), None),
            Ok(None) => (None, Some("blank text, nothing to embed".to_owned())),
            Err(error) => (None, Some(error.failure.message.clone())),
        };
        let wait = match busy {
            Busy::Wait => "",
            Busy::Skip => " skip locked",
        };
        let row = format!(
            "id operator(pg_catalog.=) (select m.id from {}.memories m where m.id operator(pg_catalog.=) $1 \
             and m.content_hash operator(pg_catalog.=) $2 for update{wait}) returning id",
            schema.name
        );
        Spi::connect_mut(|client| {
            let changed = match values {
                Some(values) => {
                    let kind =
                        vector::type_oid().ok_or_else(|| Failure::missing("type vector does not exist"))?;
                    client.update(
                        &format!(
                            "update {}.memories set embedding = $3, model = $4 where {row}",
                            schema.name
                        ),
                        None,
                        &[
                            self.id.into(),
                            self.hash.clone().into(),
                            vector::argument(Vector(values.clone()), kind),
                            model.into(),
                        ],
                    )?
                }
                None => client.update(
                    &format!(
                        "update {}.memories set embed_error = $3, embedding = null, model = null where {row}",
                        schema.name
                    ),
                    None,
                    &[self.id.into(), self.hash.clone().into(), problem.into()],
                )?,
            };
            Ok(!changed.is_empty())
        })
    }
}

/// Deletes rows whose time has passed; the number of rows.
pub fn sweep_expired() -> i64 {
    try_sweep().unwrap_or(0)
}

fn try_sweep() -> Result<i64, Failure> {
    let schema = store::schema()?;
    store::memories_oid(&schema)?;
    let sql = format!(
        "with gone as (delete from {}.memories where expires_at operator(pg_catalog.<=) pg_catalog.now() returning 1) \
         select pg_catalog.count(*) from gone",
        schema.name
    );
    Spi::connect_mut(|client| {
        let rows = client.update(&sql, None, &[])?;
        Ok(rows.first().get_one::<i64>()?.unwrap_or(0))
    })
}

#[pg_extern(sql = false)]
fn memory_sweep() -> i64 {
    statement::require_writable(c"memory_sweep()");
    try_sweep().or_raise()
}

/// Fills up to `max_rows` pending rows in this transaction and waits for nobody; 0 means that none is left to fill. Rows whose text the model cannot
/// take get an `embed_error`, everything else that goes wrong is raised.
#[pg_extern(sql = false)]
fn memory_backfill(max_rows: Option<i64>) -> i64 {
    statement::require_writable(c"memory_backfill()");
    let mut left = max_rows.unwrap_or(i64::MAX);
    let mut after = 0i64;
    let mut filled = 0i64;
    let model = embed::active_model().unwrap_or_else(|| embed::DEFAULT_MODEL.to_owned());
    while left > 0 {
        let batch = read_pending(BATCH.min(left), after).or_raise();
        if batch.is_empty() {
            break;
        }
        let texts: Vec<&str> = batch.iter().map(|row| row.text.as_str()).collect();
        let vectors = embed::embed_many(&model, &texts, Kind::Passage);
        for (row, embedded) in batch.iter().zip(vectors) {
            after = after.max(row.id);
            if let Err(error) = &embedded {
                if !error.blames_the_text() {
                    error.failure.clone().raise();
                }
            }
            if row.write(&model, &embedded, Busy::Skip) && matches!(embedded, Ok(Some(_))) {
                filled += 1;
                left -= 1;
            }
        }
    }
    filled
}

thread_local! {
    /// Whether this transaction will announce pending rows.
    static WILL_ANNOUNCE: Cell<bool> = const { Cell::new(false) };
}

/// Tells the launcher, at commit, that this database has pending rows.
#[pg_extern(sql = false)]
fn memory_announce_pending() {
    if !queue::available() || WILL_ANNOUNCE.replace(true) {
        return;
    }
    let database = catalog::current_database();
    for end in [PgXactCallbackEvent::Commit, PgXactCallbackEvent::Abort, PgXactCallbackEvent::Prepare] {
        pgrx::register_xact_callback(end, move || {
            WILL_ANNOUNCE.set(false);
            if end == PgXactCallbackEvent::Commit {
                queue::announce_pending(database);
            }
        });
    }
}
