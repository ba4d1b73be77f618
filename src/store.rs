//! The store's tables as Rust sees them: their schema, their options, and the words of a row.
//!
//! The tables themselves are made by `memory_init()` in `sql/40_store.sql`.

use std::cell::RefCell;
use std::collections::HashSet;

use pgrx::prelude::*;
use pgrx::spi::{OwnedPreparedStatement, SpiClient};
use pgrx::{pg_sys, PgOid, PgSubXactCallbackEvent, PgXactCallbackEvent};
use sha2::{Digest, Sha256};

use crate::error::{Failure, OrRaise};
use crate::pg::catalog;
use crate::pg::tsvector::{self, TsVector};

/// Where the extension lives, looked up for each call because a session outlives an extension.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    pub oid: pg_sys::Oid,
    /// Quoted for SQL.
    pub name: String,
    /// pgvector's schema, quoted.
    pub vector: String,
}

/// The schemas of summer_memory and pgvector.
pub fn schema() -> Result<Schema, Failure> {
    let find = |name: &'static std::ffi::CStr| {
        let oid = catalog::extension_schema_oid(name)?;
        Some((oid, catalog::quoted_schema(oid)?))
    };
    let missing = |name: &str| {
        Failure::state(format!("extension \"{name}\" is not installed in this database"))
            .hint("Run: create extension summer_memory cascade")
    };
    let (oid, name) = find(c"summer_memory").ok_or_else(|| missing("summer_memory"))?;
    let (_, vector) = find(c"vector").ok_or_else(|| missing("vector"))?;
    Ok(Schema { oid, name, vector })
}

/// Oid of table `memories`.
pub fn memories_oid(schema: &Schema) -> Result<pg_sys::Oid, Failure> {
    catalog::relation_oid(c"memories", schema.oid).ok_or_else(|| {
        Failure::new(
            PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE,
            format!("table {}.memories does not exist", schema.name),
        )
        .hint(format!("Run: select {}.memory_init()", schema.name))
    })
}

thread_local! {
    /// By text and parameter types: pgvector created again has another type of the same name.
    static STATEMENTS: RefCell<Vec<Prepared>> = const { RefCell::new(Vec::new()) };
}

/// A statement kept for the session.
struct Prepared {
    sql: String,
    types: Vec<PgOid>,
    statement: OwnedPreparedStatement,
}

/// Most statements a session keeps prepared.
const PREPARED: usize = 32;

/// Runs a query whose plan is kept for the session, and gives each row to `each`.
pub fn query<R>(
    client: &SpiClient<'_>,
    sql: &str,
    types: &[PgOid],
    arguments: &[pgrx::datum::DatumWithOid<'_>],
    mut each: impl FnMut(&pgrx::spi::SpiHeapTupleData<'_>) -> Result<R, pgrx::spi::Error>,
) -> Result<Vec<R>, Failure> {
    let is_it = |prepared: &Prepared| prepared.sql == sql && prepared.types == types;
    let known = STATEMENTS.with(|list| list.borrow().iter().any(is_it));
    if !known {
        let statement = client.prepare(sql, types)?.keep();
        STATEMENTS.with(|list| {
            let mut list = list.borrow_mut();
            if list.len() >= PREPARED {
                list.remove(0);
            }
            list.push(Prepared { sql: sql.to_owned(), types: types.to_vec(), statement });
        });
    }
    let taken = STATEMENTS.with(|list| {
        let mut list = list.borrow_mut();
        list.iter().position(is_it).map(|place| list.remove(place))
    });
    let Some(prepared) = taken else { return Err(Failure::internal("prepared statement is gone")) };
    // While it runs the statement is out of the list: a search inside a search prepares its own.
    let table = client.select(&prepared.statement, None, arguments)?;
    let mut rows = Vec::with_capacity(table.len());
    for row in table {
        rows.push(each(&row)?);
    }
    STATEMENTS.with(|list| list.borrow_mut().push(prepared));
    Ok(rows)
}

/// A value of table `memory_options`; `None` if unset or the table is not there.
pub fn option(name: &str) -> Option<String> {
    let schema = schema().ok()?;
    catalog::relation_oid(c"memory_options", schema.oid)?;
    let sql = format!("select value from {}.memory_options where name = $1", schema.name);
    Spi::connect(|client| {
        query(client, &sql, &[PgOid::from(pg_sys::TEXTOID)], &[name.into()], |row| row[1].value::<String>())
    })
    .ok()
    .and_then(|rows| rows.into_iter().next().flatten())
}

/// Documents a transaction locks one by one. More would fill the server's lock table, which has room for some
/// 6,000 locks of all transactions; the unique index over path and place holds for those as well.
const DOCUMENT_LOCKS: usize = 500;

thread_local! {
    /// Keys of the documents this transaction has locked.
    static LOCKED: RefCell<HashSet<i32>> = RefCell::new(HashSet::new());
}

/// The key of the advisory lock a writer of a document has to take; `None` if this transaction has it already,
/// or has as many as it may.
#[pg_extern(sql = false)]
fn memory_document_lock(namespace: &str, path: &str) -> Option<i32> {
    let mut hash = Sha256::new();
    hash.update(namespace.as_bytes());
    hash.update([0]);
    hash.update(path.as_bytes());
    let key = hash.finalize().first_chunk().map_or(0, |bytes| i32::from_le_bytes(*bytes));
    let (first, wanted) = LOCKED.with(|locked| {
        let mut locked = locked.borrow_mut();
        let first = locked.is_empty();
        (first, locked.len() < DOCUMENT_LOCKS && locked.insert(key))
    });
    if first {
        let forget = || LOCKED.with(|locked| locked.borrow_mut().clear());
        for end in [PgXactCallbackEvent::Commit, PgXactCallbackEvent::Abort, PgXactCallbackEvent::Prepare] {
            pgrx::register_xact_callback(end, forget);
        }
        // A rollback to a savepoint gives back the locks taken since: better asked for twice than not held.
        pgrx::register_subxact_callback(PgSubXactCallbackEvent::AbortSub, move |_, _| forget());
    }
    wanted.then_some(key)
}

/// Title and content as one text, the way they are embedded and indexed.
pub fn whole_text(title: Option<&str>, content: &str) -> String {
    memory_chunk::embedded_text(title, content).into_owned()
}

#[pg_extern(sql = false)]
fn memory_whole_text(title: Option<&str>, content: Option<&str>) -> String {
    whole_text(title, content.unwrap_or(""))
}

#[pg_extern(sql = false)]
fn memory_content_hash(title: Option<&str>, content: Option<&str>) -> Vec<u8> {
    let mut hash = Sha256::new();
    hash.update(title.unwrap_or("").as_bytes());
    hash.update([0]);
    hash.update(content.unwrap_or("").as_bytes());
    hash.finalize().to_vec()
}

/// Texts above this size are indexed in pieces when they do not fit into one tsvector.
const PIECE: usize = 128 * 1024;

/// The words of a row. A text with more words than a tsvector can hold keeps as many as fit, without positions.
fn index_text(text: &str) -> Result<TsVector, Failure> {
    let schema = schema()?;
    let configuration = tsvector::configuration_oid(c"jieba", schema.oid)
        .ok_or_else(|| Failure::missing("text search configuration \"jieba\" does not exist"))?;
    if text.len() <= PIECE {
        return tsvector::to_tsvector(configuration, text)
            .ok_or_else(|| Failure::internal("to_tsvector gave NULL"));
    }
    let whole = PgTryBuilder::new(|| tsvector::to_tsvector(configuration, text))
        .catch_when(PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED, |_| None)
        .execute();
    if let Some(vector) = whole {
        return Ok(vector);
    }
    let mut sum: Option<TsVector> = None;
    let mut rest = text;
    while !rest.is_empty() {
        let mut end = PIECE.min(rest.len());
        while !rest.is_char_boundary(end) {
            end -= 1;
        }
        let (piece, tail) = rest.split_at(end);
        rest = tail;
        let Some(words) = tsvector::to_tsvector(configuration, piece).and_then(tsvector::strip) else {
            continue;
        };
        let joined = match sum {
            None => Some(words),
            Some(before) => {
                PgTryBuilder::new(std::panic::AssertUnwindSafe(|| tsvector::concat(before, words)))
                    .catch_when(PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED, |_| None)
                    .execute()
            }
        };
        match joined {
            Some(vector) => sum = Some(vector),
            None => {
                notice!(
                    "the text has more different words than one row can index; those of its end are left out"
                );
                break;
            }
        }
    }
    sum.ok_or_else(|| Failure::internal("a text gave no words"))
}

#[pg_extern(sql = false)]
fn memory_tsvector(title: Option<&str>, content: Option<&str>) -> TsVector {
    index_text(&whole_text(title, content.unwrap_or(""))).or_raise()
}

#[pg_extern(sql = false)]
fn memory_token_count(search: TsVector) -> i32 {
    i32::try_from(search.total()).unwrap_or(i32::MAX)
}
