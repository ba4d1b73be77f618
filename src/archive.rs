//! The conversation archive: reading chat histories into table `conversations`, and searching it.
//!
//! What a history means is decided in the crate `memory_archive`, whether a message is there already by
//! `conv_find()` in `sql/60_archive.sql`. Nothing here is used by `memory_search`.

use memory_bm25::{Accumulator, Params, Stats};
use pgrx::datum::TimestampWithTimeZone;
use pgrx::iter::TableIterator;
use pgrx::pg_sys;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;
use pgrx::PgOid;

use crate::bm25::{self, Question};
use crate::error::{Failure, OrRaise};
use crate::pg::catalog;
use crate::pg::tsvector::TsVector;
use crate::{search, settings, store};

mod import;

#[pg_extern(sql = false)]
fn conv_fingerprint(content: &str) -> i64 {
    memory_archive::fingerprint(content)
}

/// Which messages a search is about.
struct Scope<'a> {
    session_key: Option<&'a str>,
    role: Option<&'a str>,
    since: Option<TimestampWithTimeZone>,
    until: Option<TimestampWithTimeZone>,
}

impl Scope<'_> {
    /// Parameters `$2` to `$5`; those that are not given put no condition into the plan.
    fn conditions(&self) -> String {
        let mut conditions = String::new();
        let mut add = |given: bool, condition: &str| {
            if given {
                conditions.push_str(" and ");
                conditions.push_str(condition);
            }
        };
        add(self.session_key.is_some(), "c.session_key operator(pg_catalog.=) $2");
        add(self.role.is_some(), "c.role operator(pg_catalog.=) $3");
        add(self.since.is_some(), "c.\"timestamp\" operator(pg_catalog.>=) $4");
        add(self.until.is_some(), "c.\"timestamp\" operator(pg_catalog.<) $5");
        conditions
    }
}

/// Messages that may be hits, and what BM25 needs to know of each.
fn gather(
    client: &SpiClient<'_>,
    schema: &store::Schema,
    question: &Question,
    words: &[String],
    scope: &Scope<'_>,
) -> Result<(Accumulator, u64, u64), Failure> {
    let types = [
        PgOid::from(pg_sys::TEXTOID),
        PgOid::from(pg_sys::TEXTOID),
        PgOid::from(pg_sys::TEXTOID),
        PgOid::from(pg_sys::TIMESTAMPTZOID),
        PgOid::from(pg_sys::TIMESTAMPTZOID),
    ];
    let (first, sql) = match question {
        Question::Substring(text) => (
            text.clone(),
            format!(
                "select c.id, c.token_count, {occurrences} \
                 from {0}.conversations c, lateral (select {0}.jieba_fold(c.content) as folded) f \
                 where pg_catalog.strpos(f.folded, $1) operator(pg_catalog.>) 0{1}",
                schema.name,
                scope.conditions(),
                occurrences = bm25::OCCURRENCES,
            ),
        ),
        _ => (
            bm25::any_of(words),
            format!(
                "select c.id, c.search from {0}.conversations c \
                 where c.search operator(pg_catalog.@@) ($1::pg_catalog.text)::pg_catalog.tsquery{1}",
                schema.name,
                scope.conditions()
            ),
        ),
    };
    let arguments = [
        first.as_str().into(),
        scope.session_key.into(),
        scope.role.into(),
        scope.since.into(),
        scope.until.into(),
    ];
    let mut accumulator = Accumulator::new(words.len());
    let (mut candidates, mut total) = (0u64, 0u64);
    let mut frequencies = vec![0u32; words.len()];
    store::query(client, &sql, &types, &arguments, |row| {
        candidates += 1;
        if candidates.is_multiple_of(4_096) {
            pgrx::check_for_interrupts!();
        }
        let id = row[1].value::<i64>()?.unwrap_or(0);
        let length = if let Question::Substring(_) = question {
            if let Some(slot) = frequencies.first_mut() {
                *slot = row[3].value::<i32>()?.unwrap_or(0).unsigned_abs();
            }
            row[2].value::<i32>()?.unwrap_or(0).unsigned_abs()
        } else {
            let Some(vector) = row[2].value::<TsVector>()? else { return Ok(()) };
            for (slot, word) in frequencies.iter_mut().zip(words) {
                *slot = vector.frequency(word.as_bytes());
            }
            vector.total()
        };
        total += u64::from(length);
        accumulator.push(id, length, &frequencies);
        Ok(())
    })?;
    Ok((accumulator, candidates, total))
}

/// The best messages. Document frequencies are exact; the number of messages is the planner's estimate and
/// their length that of the candidates, because counting a whole archive would take longer than searching it.
fn rank(text: &str, k: usize, scope: &Scope<'_>) -> Result<Vec<(i64, f64)>, Failure> {
    let schema = store::schema()?;
    let table = catalog::relation_oid(c"conversations", schema.oid).ok_or_else(|| {
        Failure::new(
            PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE,
            format!("table {}.conversations does not exist", schema.name),
        )
        .hint(format!("Run: select {}.conv_init()", schema.name))
    })?;
    if store::option("conversation_search").as_deref() == Some("off") {
        return Err(Failure::state("conversation search is switched off")
            .hint(format!("Switch it on with: select {}.conv_index(true)", schema.name)));
    }
    let question = bm25::read_question(&schema, text)?;
    let words = match &question {
        Question::Words(words) => words.clone(),
        Question::Substring(text) => vec![text.clone()],
        Question::Nothing => return Ok(Vec::new()),
    };
    let params = Params::new(settings::BM25_K1.get(), settings::BM25_B.get())
        .map_err(|error| Failure::argument(error.to_string()))?;
    let (accumulator, candidates, total) =
        Spi::connect(|client| gather(client, &schema, &question, &words, scope))?;
    let estimated = catalog::estimated_rows(table).unwrap_or(0.0).max(0.0) as u64;
    let docs = estimated.max(candidates);
    let mean = total.checked_div(candidates).unwrap_or(0).max(1);
    let stats = Stats { docs, total_len: mean.saturating_mul(docs) };
    Ok(accumulator.finish(params, stats, k).into_iter().map(|hit| (hit.id, hit.score)).collect())
}

#[pg_extern(sql = false)]
fn conv_rank(
    query: Option<&str>,
    k: Option<i32>,
    session_key: Option<&str>,
    role: Option<&str>,
    since: Option<TimestampWithTimeZone>,
    until: Option<TimestampWithTimeZone>,
) -> TableIterator<'static, (name!(id, i64), name!(score, f64))> {
    let k = search::row_limit(k, 10, search::MAX_K, "messages").or_raise();
    let scope = Scope { session_key, role, since, until };
    TableIterator::new(rank(query.unwrap_or(""), k, &scope).or_raise())
}
