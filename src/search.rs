//! `memory_search` and `memory_explain`: the arms, fused by rank, one row a path.
//!
//! Runs with the caller's rights through SPI, so row-level security holds in both arms. Reads only, so it
//! works on a hot standby. A missing or broken model does not stop a search: the BM25 arm answers and the
//! column `degraded` says why.

use std::collections::HashMap;
use std::time::Instant;

use memory_embed::Kind;
use memory_search::{collapse, fuse, Arms, Fused, Fusion, Group, Hit, Method, PathScore};
use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};
use pgrx::iter::TableIterator;
use pgrx::pg_sys;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;
use pgrx::{JsonB, PgOid};
use serde_json::json;

use crate::bm25::{self, Bm25Result};
use crate::embed::shorten;
use crate::error::{Failure, OrRaise};
use crate::link::Linked;
use crate::pg::jsonb::Jsonb;
use crate::pg::vector::Vector;
use crate::pg::{catalog, statement};
use crate::{embed, link, settings, store};

/// Most rows one search returns; more are never asked for by hand and would only fill memory.
pub const MAX_K: usize = 100_000;

/// Condition on a memory `m`: it has not expired.
pub const ALIVE: &str = "(m.expires_at is null or m.expires_at operator(pg_catalog.>) pg_catalog.now())";

/// Argument `k` of a function that returns so many `rows`, as its hint calls them; never more than `most`.
pub fn row_limit(k: Option<i32>, default: i32, most: usize, rows: &str) -> Result<usize, Failure> {
    let k = k.unwrap_or(default);
    let wanted = usize::try_from(k).map_err(|_| {
        Failure::argument(format!("k must not be negative, not {k}"))
            .hint(format!("k is the number of {rows} to return."))
    })?;
    Ok(wanted.min(most))
}

/// A row an arm found.
#[derive(Debug, Clone)]
pub struct Arm {
    pub id: i64,
    pub score: f64,
    /// Key of the document the row is a chunk of, see `Scope::document_sql`.
    pub document: Option<String>,
}

/// Which arms take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Hybrid,
    Bm25,
    Vector,
}

impl Mode {
    fn parse(text: &str) -> Result<Self, Failure> {
        match text {
            "hybrid" => Ok(Self::Hybrid),
            "bm25" => Ok(Self::Bm25),
            "vector" => Ok(Self::Vector),
            other => Err(Failure::argument(format!("unknown search mode: \"{}\"", shorten(other)))
                .hint("Use 'hybrid', 'bm25' or 'vector'.")),
        }
    }
}

fn parse_fusion(text: &str) -> Result<Fusion, Failure> {
    let fusion = Fusion {
        method: Method::Rrf,
        vector_weight: settings::VECTOR_WEIGHT.get(),
        bm25_weight: settings::BM25_WEIGHT.get(),
        link_weight: settings::LINK_WEIGHT.get(),
        rank_constant: f64::from(settings::RRF_K.get()),
    };
    match text {
        "rrf" => Ok(fusion),
        "convex" => {
            let sum = fusion.vector_weight + fusion.bm25_weight + fusion.link_weight;
            let share = |weight: f64| if sum > 0.0 { weight / sum } else { weight };
            Ok(Fusion {
                method: Method::Convex,
                vector_weight: share(fusion.vector_weight),
                bm25_weight: share(fusion.bm25_weight),
                link_weight: share(fusion.link_weight),
                ..fusion
            })
        }
        other => Err(Failure::argument(format!("unknown fusion: \"{}\"", shorten(other)))
            .hint("Use 'rrf' or 'convex'.")),
    }
}

/// Which rows a search is about. `namespace` limits what counts for statistics too; the filters do not.
#[derive(Default)]
pub struct Scope {
    /// `None` means every namespace the caller may see.
    pub namespace: Option<String>,
    pub metadata: Option<Jsonb>,
    pub since: Option<TimestampWithTimeZone>,
    pub until: Option<TimestampWithTimeZone>,
    /// Paths from the first up to but not including the second; the second is missing for an endless range.
    pub paths: Option<(String, Option<String>)>,
    pub tags: Option<Vec<String>>,
}

impl Scope {
    /// Condition on rows that exist for this search. Parameters start at `$2`; `$1` belongs to the arm.
    pub fn visible_sql(&self) -> String {
        match self.namespace {
            Some(_) => format!("m.namespace operator(pg_catalog.=) $2 and {ALIVE}"),
            None => ALIVE.to_owned(),
        }
    }

    /// What the chunks of one document have in common: the path, and the namespace where several are searched.
    pub fn document_sql(&self) -> &'static str {
        match self.namespace {
            Some(_) => "m.path",
            None => "m.namespace operator(pg_catalog.||) E'\\n' operator(pg_catalog.||) m.path",
        }
    }

    /// Condition of the filters, `true` without any.
    pub fn filters_sql(&self) -> String {
        let moment = "coalesce(m.occurred_at, m.created_at)";
        let mut conditions = Vec::new();
        if self.metadata.is_some() {
            conditions.push("m.metadata operator(pg_catalog.@>) $3".to_owned());
        }
        if self.since.is_some() {
            conditions.push(format!("{moment} operator(pg_catalog.>=) $4"));
        }
        if self.until.is_some() {
            conditions.push(format!("{moment} operator(pg_catalog.<) $5"));
        }
        if let Some((_, end)) = &self.paths {
            conditions.push("m.path operator(pg_catalog.>=) $6".to_owned());
            if end.is_some() {
                conditions.push("m.path operator(pg_catalog.<) $7".to_owned());
            }
        }
        if self.tags.is_some() {
            conditions.push("m.tags operator(pg_catalog.@>) $8".to_owned());
        }
        if conditions.is_empty() {
            "true".to_owned()
        } else {
            conditions.join(" and ")
        }
    }

    /// Whether anything but the namespace narrows the rows.
    fn is_filtered(&self) -> bool {
        self.metadata.is_some()
            || self.since.is_some()
            || self.until.is_some()
            || self.paths.is_some()
            || self.tags.is_some()
    }

    /// Types and values of `$1` to `$8`.
    pub fn arguments<'a>(
        &self,
        first_type: PgOid,
        first: DatumWithOid<'a>,
    ) -> (Vec<PgOid>, Vec<DatumWithOid<'a>>) {
        let types = vec![
            first_type,
            PgOid::from(pg_sys::TEXTOID),
            PgOid::from(pg_sys::JSONBOID),
            PgOid::from(pg_sys::TIMESTAMPTZOID),
            PgOid::from(pg_sys::TIMESTAMPTZOID),
            PgOid::from(pg_sys::TEXTOID),
            PgOid::from(pg_sys::TEXTOID),
            PgOid::from(pg_sys::TEXTARRAYOID),
        ];
        let (from, to) = match &self.paths {
            Some((from, to)) => (Some(from.clone()), to.clone()),
            None => (None, None),
        };
        let metadata = self.metadata.clone();
        let values: Vec<DatumWithOid<'a>> = vec![
            first,
            self.namespace.clone().into(),
            metadata.into(),
            self.since.into(),
            self.until.into(),
            from.into(),
            to.into(),
            self.tags.clone().into(),
        ];
        (types, values)
    }
}

/// First string after all strings that begin with `prefix`, in byte order.
fn after_prefix(prefix: &str) -> Option<String> {
    let mut characters: Vec<char> = prefix.chars().collect();
    while let Some(last) = characters.pop() {
        let next = match last {
            '\u{D7FF}' => Some('\u{E000}'),
            other => char::from_u32(u32::from(other) + 1),
        };
        if let Some(next) = next {
            characters.push(next);
            return Some(characters.into_iter().collect());
        }
    }
    None
}

/// Everything a search was asked.
struct Search {
    text: String,
    k: usize,
    scope: Scope,
    mode: Mode,
    collapse: bool,
    fusion: Fusion,
}

impl Search {
    #[allow(clippy::too_many_arguments)]
    fn new(
        text: &str,
        k: Option<i32>,
        namespace: Option<&str>,
        filter: Option<Jsonb>,
        since: Option<TimestampWithTimeZone>,
        until: Option<TimestampWithTimeZone>,
        path_prefix: Option<&str>,
        tags: Option<Vec<Option<String>>>,
        mode: Option<&str>,
        collapse: Option<bool>,
        fusion: Option<&str>,
    ) -> Result<Self, Failure> {
        let k = row_limit(k, 10, MAX_K, "rows")?;
        let namespace = settings::searched_namespace(namespace);
        if let Some(json) = &filter {
            if !json.is_object() {
                return Err(Failure::argument("filter must be a JSON object").hint(
                    "It selects rows whose metadata contains it, for example '{\"source\": \"diary\"}'.",
                ));
            }
        }
        let tags: Option<Vec<String>> = tags.unwrap_or_default().into_iter().collect();
        let Some(tags) = tags else {
            return Err(
                Failure::argument("tags must not contain NULL").hint("Name the tags a row must have.")
            );
        };
        let paths = path_prefix
            .filter(|prefix| !prefix.is_empty())
            .map(|prefix| (prefix.to_owned(), after_prefix(prefix)));
        Ok(Self {
            text: text.to_owned(),
            k,
            scope: Scope {
                namespace,
                metadata: filter,
                since,
                until,
                paths,
                tags: Some(tags).filter(|tags| !tags.is_empty()),
            },
            mode: Mode::parse(mode.unwrap_or("hybrid"))?,
            collapse: collapse.unwrap_or(true),
            fusion: parse_fusion(fusion.unwrap_or("rrf"))?,
        })
    }
}

/// How the vector arm reads the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VectorPlan {
    Exact,
    Hnsw,
}

/// SQL of the vector arm; `$1` is the query vector, `$9` the number of rows.
pub fn vector_sql(
    schema: &store::Schema,
    scope: &Scope,
    model: &str,
    dims: usize,
    plan: VectorPlan,
) -> String {
    let literal = pgrx::spi::quote_literal(model);
    let distance = match plan {
        VectorPlan::Exact => format!("m.embedding operator({0}.<=>) $1", schema.vector),
        VectorPlan::Hnsw => {
            let half = dims > 2_000;
            let kind = if half { "halfvec" } else { "vector" };
            format!(
                "(m.embedding::{0}.{kind}({dims})) operator({0}.<=>) ($1::{0}.{kind}({dims}))",
                schema.vector
            )
        }
    };
    // The index gives rows by distance alone.
    let order = match plan {
        VectorPlan::Exact => format!("{distance}, m.id"),
        VectorPlan::Hnsw => distance.clone(),
    };
    let shape = match plan {
        VectorPlan::Exact => {
            format!(" and {}.vector_dims(m.embedding) operator(pg_catalog.=) {dims}", schema.vector)
        }
        VectorPlan::Hnsw => String::new(),
    };
    format!(
        "select m.id, {document}, {distance} as distance from {schema}.memories m \
         where m.model operator(pg_catalog.=) {literal} and m.embedding is not null{shape} and {visible} and {filters} \
         order by {order} limit $9",
        document = scope.document_sql(),
        schema = schema.name,
        visible = scope.visible_sql(),
        filters = scope.filters_sql(),
    )
}

struct VectorResult {
    hits: Vec<Arm>,
    plan: VectorPlan,
}

fn run_vector_plan(
    client: &SpiClient<'_>,
    schema: &store::Schema,
    scope: &Scope,
    model: &str,
    query: &[f32],
    limit: usize,
    plan: VectorPlan,
) -> Result<Vec<Arm>, Failure> {
    let vector_type =
        crate::pg::vector::type_oid().ok_or_else(|| Failure::missing("type vector does not exist"))?;
    let sql = vector_sql(schema, scope, model, query.len(), plan);
    // SAFETY of the value: made by IntoDatum of the very type it is declared as.
    let (mut types, mut arguments) = scope.arguments(
        PgOid::from(vector_type),
        crate::pg::vector::argument(Vector(query.to_vec()), vector_type),
    );
    types.push(PgOid::from(pg_sys::INT8OID));
    arguments.push(i64::try_from(limit).unwrap_or(i64::MAX).into());
    let mut hits = store::query(client, &sql, &types, &arguments, |row| {
        let id = row[1].value::<i64>()?.unwrap_or(0);
        let distance = row[3].value::<f64>()?.unwrap_or(1.0);
        Ok(Arm { id, score: 1.0 - distance, document: row[2].value()? })
    })?;
    // Equal distances in the order of ids, whatever the index gave.
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
    Ok(hits)
}

/// Rows with a vector of the model that the filters accept, counted up to `most`.
fn count_matching(
    client: &SpiClient<'_>,
    schema: &store::Schema,
    scope: &Scope,
    model: &str,
    most: usize,
) -> Result<usize, Failure> {
    let sql = format!(
        "select pg_catalog.count(*) from (select 1 from {schema}.memories m where m.model operator(pg_catalog.=) $1 \
         and m.embedding is not null and {visible} and {filters} limit {most}) s",
        schema = schema.name,
        visible = scope.visible_sql(),
        filters = scope.filters_sql(),
    );
    let (types, arguments) = scope.arguments(PgOid::from(pg_sys::TEXTOID), model.into());
    let rows = store::query(client, &sql, &types, &arguments, |row| row[1].value::<i64>())?;
    Ok(usize::try_from(rows.first().copied().flatten().unwrap_or(0)).unwrap_or(0))
}

/// Rows in reach of a search without filters, counted up to `most`, with or without a vector: an index alone
/// answers.
fn count_visible(
    client: &SpiClient<'_>,
    schema: &store::Schema,
    scope: &Scope,
    most: usize,
) -> Result<usize, Failure> {
    let sql = format!(
        "select pg_catalog.count(*) from (select 1 from {schema}.memories m where {visible} limit {most}) s",
        schema = schema.name,
        visible = scope.visible_sql(),
    );
    let (types, arguments) = scope.arguments(PgOid::from(pg_sys::TEXTOID), "".into());
    let rows = store::query(client, &sql, &types, &arguments, |row| row[1].value::<i64>())?;
    Ok(usize::try_from(rows.first().copied().flatten().unwrap_or(0)).unwrap_or(0))
}

fn search_vectors(
    client: &SpiClient<'_>,
    schema: &store::Schema,
    scope: &Scope,
    model: &str,
    query: &[f32],
    limit: usize,
) -> Result<VectorResult, Failure> {
    let exact_rows = usize::try_from(settings::EXACT_ROWS.get()).unwrap_or(0);
    let exact = |client: &SpiClient<'_>| -> Result<VectorResult, Failure> {
        let hits = run_vector_plan(client, schema, scope, model, query, limit, VectorPlan::Exact)?;
        Ok(VectorResult { hits, plan: VectorPlan::Exact })
    };
    if query.len() > 4_000 {
        return exact(client);
    }
    let table = store::memories_oid(schema)?;
    let estimate = catalog::estimated_rows(table);
    // A table that was never analysed has no estimate: count.
    let small = match estimate {
        Some(rows) if rows * 2.0 <= exact_rows as f64 => true,
        Some(rows) if rows > exact_rows as f64 && !scope.is_filtered() && scope.namespace.is_none() => false,
        // Of rows without a vector the index knows nothing: if it gives too few, all are compared after all.
        _ if !scope.is_filtered() => count_visible(client, schema, scope, exact_rows + 1)? <= exact_rows,
        _ => count_matching(client, schema, scope, model, exact_rows + 1)? <= exact_rows,
    };
    if small {
        return exact(client);
    }
    let wanted = limit.to_string();
    let breadth = limit.clamp(40, 1_000).to_string();
    let settings = [
        (c"hnsw.iterative_scan", "strict_order"),
        (c"hnsw.ef_search", breadth.as_str()),
        (c"enable_seqscan", "off"),
        (c"enable_sort", "off"),
    ];
    let hits = catalog::with_settings(&settings, || {
        run_vector_plan(client, schema, scope, model, query, limit, VectorPlan::Hnsw)
    })?;
    if hits.len() < limit && count_matching(client, schema, scope, model, limit)? > hits.len() {
        debug1!("summer_memory: HNSW gave {} of {wanted} rows, comparing exactly", hits.len());
        return exact(client);
    }
    Ok(VectorResult { hits, plan: VectorPlan::Hnsw })
}

/// Ids of the memories of a namespace whose vectors are nearest to one, nearest first.
pub fn nearest(
    client: &SpiClient<'_>,
    schema: &store::Schema,
    namespace: &str,
    model: &str,
    vector: &[f32],
    limit: usize,
) -> Result<Vec<i64>, Failure> {
    let scope = Scope { namespace: Some(namespace.to_owned()), ..Scope::default() };
    let found = search_vectors(client, schema, &scope, model, vector, limit)?;
    Ok(found.hits.into_iter().map(|hit| hit.id).collect())
}

/// A search carried out: the arms, their fusion, and how long each part took.
struct Outcome {
    rows: Vec<Group>,
    vector: Option<VectorResult>,
    bm25: Option<Bm25Result>,
    link: Option<Linked>,
    degraded: Option<String>,
    model: String,
    times: Times,
}

#[derive(Default)]
struct Times {
    embed: f64,
    vector: f64,
    bm25: f64,
    link: f64,
    fusion: f64,
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1_000.0
}

impl Outcome {
    fn empty(model: String) -> Self {
        Self {
            rows: Vec::new(),
            vector: None,
            bm25: None,
            link: None,
            degraded: None,
            model,
            times: Times::default(),
        }
    }
}

fn carry_out(client: &SpiClient<'_>, schema: &store::Schema, search: &Search) -> Result<Outcome, Failure> {
    let model = embed::active_model().unwrap_or_else(|| embed::DEFAULT_MODEL.to_owned());
    let mut outcome = Outcome::empty(model);
    if search.k == 0 || search.text.trim().is_empty() {
        return Ok(outcome);
    }
    let mut query_vector = None;
    if search.mode != Mode::Bm25 {
        let start = Instant::now();
        match embed::embed_one(&outcome.model, &search.text, Kind::Query) {
            Ok(vector) => query_vector = vector,
            Err(error) => {
                outcome.degraded = Some(format!("no vector for the query: {}", Failure::from(error).message))
            }
        }
        outcome.times.embed = milliseconds(start);
    }
    let with_bm25 = search.mode != Mode::Vector || outcome.degraded.is_some();
    let question =
        if with_bm25 { bm25::read_question(schema, &search.text)? } else { bm25::Question::Nothing };
    let mut factor = 1usize;
    loop {
        let size = |rows: i32| usize::try_from(rows).unwrap_or(30).max(search.k).saturating_mul(factor);
        let (vector_limit, bm25_limit) = (size(settings::VECTOR_ROWS.get()), size(settings::BM25_ROWS.get()));
        if let Some(vector) = &query_vector {
            let start = Instant::now();
            outcome.vector =
                Some(search_vectors(client, schema, &search.scope, &outcome.model, vector, vector_limit)?);
            outcome.times.vector += milliseconds(start);
        }
        if with_bm25 {
            let start = Instant::now();
            outcome.bm25 = Some(bm25::search(client, schema, &search.scope, &question, bm25_limit)?);
            outcome.times.bm25 += milliseconds(start);
        }
        let found = |hits: Option<&Vec<Arm>>| hits.map_or(0, Vec::len);
        let more = found(outcome.vector.as_ref().map(|arm| &arm.hits)) >= vector_limit
            || found(outcome.bm25.as_ref().map(|arm| &arm.hits)) >= bm25_limit;
        outcome.link = None;
        let mut start = Instant::now();
        let mut fused = fuse_arms(search, &outcome);
        if search.mode == Mode::Hybrid && search.fusion.link_weight > 0.0 {
            outcome.times.fusion += milliseconds(start);
            start = Instant::now();
            outcome.link = Some(link::linked(client, schema, &search.scope, &fused)?);
            outcome.times.link += milliseconds(start);
            start = Instant::now();
            fused = fuse_arms(search, &outcome);
        }
        collapse_rows(search, fused, &mut outcome);
        outcome.times.fusion += milliseconds(start);
        if outcome.rows.len() >= search.k || !more || factor >= 1 << 16 {
            break;
        }
        factor *= 4;
    }
    outcome.rows.truncate(search.k);
    Ok(outcome)
}

fn fuse_arms(search: &Search, outcome: &Outcome) -> Vec<Fused> {
    let hits = |arm: Option<&Vec<Arm>>| -> Vec<Hit> {
        arm.into_iter().flatten().map(|row| Hit { id: row.id, score: row.score }).collect()
    };
    let arms = Arms {
        vector: &hits(outcome.vector.as_ref().map(|arm| &arm.hits)),
        bm25: &hits(outcome.bm25.as_ref().map(|arm| &arm.hits)),
        link: &hits(outcome.link.as_ref().map(|arm| &arm.hits)),
    };
    fuse(arms, &search.fusion)
}

/// Rows and scores of the result, one row a path where that is wanted.
fn collapse_rows(search: &Search, fused: Vec<Fused>, outcome: &mut Outcome) {
    if !search.collapse {
        outcome.rows = fused.into_iter().map(Group::of).collect();
        return;
    }
    let vector = outcome.vector.iter().flat_map(|arm| &arm.hits);
    let bm25 = outcome.bm25.iter().flat_map(|arm| &arm.hits);
    let link = outcome.link.iter().flat_map(|arm| &arm.hits);
    let documents: HashMap<i64, &str> =
        vector.chain(bm25).chain(link).filter_map(|row| Some((row.id, row.document.as_deref()?))).collect();
    let score = match settings::PATH_SCORE.get() {
        settings::PathScore::Best => PathScore::Best,
        settings::PathScore::Sum => PathScore::Sum,
    };
    outcome.rows = collapse(&fused, score, |id| documents.get(&id).copied());
}

/// One WARNING a statement when a search could not use everything.
fn warn_degraded(message: &str) {
    if statement::first_time("memory_search") {
        Failure::new(PgSqlErrorCode::ERRCODE_WARNING, format!("memory_search: {message}"))
            .hint("The words still answer. See memory_status for the model, and run memory_backfill() for missing vectors.")
            .warn();
    }
}

/// The columns of a stored row that a result shows.
struct Stored {
    path: Option<String>,
    chunk_index: Option<i32>,
    title: Option<String>,
    content: String,
    metadata: Option<Jsonb>,
    occurred_at: Option<TimestampWithTimeZone>,
    degraded: Option<String>,
}

fn fetch(
    client: &SpiClient<'_>,
    schema: &store::Schema,
    ids: Vec<i64>,
    model: &str,
) -> Result<HashMap<i64, Stored>, Failure> {
    let sql = format!(
        "select m.id, m.path, m.chunk_index, m.title, m.content, m.metadata, m.occurred_at, \
         m.embedding is null, m.model from {}.memories m where m.id operator(pg_catalog.=) any ($1)",
        schema.name
    );
    let rows = store::query(client, &sql, &[PgOid::from(pg_sys::INT8ARRAYOID)], &[ids.into()], |row| {
        let row_model: Option<String> = row[9].value()?;
        let degraded = if row[8].value::<bool>()?.unwrap_or(true) {
            Some("this memory has no vector yet".to_owned())
        } else if row_model.as_deref() != Some(model) {
            Some("this memory has a vector of another model".to_owned())
        } else {
            None
        };
        Ok((
            row[1].value::<i64>()?.unwrap_or(0),
            Stored {
                path: row[2].value()?,
                chunk_index: row[3].value()?,
                title: row[4].value()?,
                content: row[5].value::<String>()?.unwrap_or_default(),
                metadata: row[6].value()?,
                occurred_at: row[7].value()?,
                degraded,
            },
        ))
    })?;
    Ok(rows.into_iter().collect())
}

impl Stored {
    /// A heading and no text of its own, as an import makes of the title of a file.
    fn is_heading(&self) -> bool {
        let before = self.title.as_deref().and_then(|title| title.strip_suffix(self.content.as_str()));
        before.is_some_and(|before| before.is_empty() || before.ends_with(" > "))
    }
}

/// The stored rows of the result. Where a mere heading would stand for its path, the next chunk does.
fn fetch_shown(
    client: &SpiClient<'_>,
    schema: &store::Schema,
    outcome: &mut Outcome,
) -> Result<HashMap<i64, Stored>, Failure> {
    let mut stored = HashMap::new();
    let mut wanted: Vec<i64> = outcome.rows.iter().map(|row| row.best.id).collect();
    while !wanted.is_empty() {
        stored.extend(fetch(client, schema, wanted, &outcome.model)?);
        wanted = outcome
            .rows
            .iter_mut()
            .filter_map(|row| {
                let heading = stored.get(&row.best.id).is_some_and(Stored::is_heading);
                (heading && row.show_next()).then_some(row.best.id)
            })
            .collect();
    }
    Ok(stored)
}

/// Rows in reach that the vector arm cannot compare.
fn has_rows_without_vector(
    client: &SpiClient<'_>,
    schema: &store::Schema,
    scope: &Scope,
    model: &str,
) -> Result<bool, Failure> {
    let sql = format!(
        "select exists (select 1 from {schema}.memories m where (m.embedding is null or m.model operator(pg_catalog.<>) $1) \
         and m.embed_error is null and {visible} and {filters})",
        schema = schema.name,
        visible = scope.visible_sql(),
        filters = scope.filters_sql(),
    );
    let (types, arguments) = scope.arguments(PgOid::from(pg_sys::TEXTOID), model.into());
    let rows = store::query(client, &sql, &types, &arguments, |row| row[1].value::<bool>())?;
    Ok(rows.first().copied().flatten().unwrap_or(false))
}

type ResultRow = (
    i64,
    Option<String>,
    Option<i32>,
    Option<String>,
    String,
    f64,
    Option<i32>,
    Option<i32>,
    Option<f64>,
    Option<f64>,
    Option<Jsonb>,
    Option<TimestampWithTimeZone>,
    Option<String>,
);

fn rank_number(rank: Option<u32>) -> Option<i32> {
    rank.and_then(|rank| i32::try_from(rank).ok())
}

fn result_rows(search: &Search) -> Result<Vec<ResultRow>, Failure> {
    let schema = store::schema()?;
    store::memories_oid(&schema)?;
    Spi::connect(|client| {
        let mut outcome = carry_out(client, &schema, search)?;
        let few = outcome.vector.as_ref().is_some_and(|result| result.hits.len() < search.k.max(30));
        if outcome.degraded.is_none()
            && few
            && has_rows_without_vector(client, &schema, &search.scope, &outcome.model)?
        {
            warn_degraded(&format!(
                "some memories have no vector of model \"{}\" and are found by words only",
                outcome.model
            ));
        }
        if let Some(message) = &outcome.degraded {
            warn_degraded(message);
        }
        let mut stored = fetch_shown(client, &schema, &mut outcome)?;
        let rows = std::mem::take(&mut outcome.rows);
        Ok(rows
            .into_iter()
            .filter_map(|Group { best: row, score, .. }| {
                let data = stored.remove(&row.id)?;
                Some((
                    row.id,
                    data.path,
                    data.chunk_index,
                    data.title,
                    data.content,
                    score,
                    rank_number(row.vector_rank),
                    rank_number(row.bm25_rank),
                    row.similarity,
                    row.bm25_score,
                    data.metadata,
                    data.occurred_at,
                    outcome.degraded.clone().or(if search.mode == Mode::Bm25 { None } else { data.degraded }),
                ))
            })
            .collect())
    })
}

#[pg_extern(sql = false)]
#[allow(clippy::too_many_arguments, clippy::type_complexity)]
fn memory_search(
    query: Option<&str>,
    k: Option<i32>,
    namespace: Option<&str>,
    filter: Option<Jsonb>,
    since: Option<TimestampWithTimeZone>,
    until: Option<TimestampWithTimeZone>,
    path_prefix: Option<&str>,
    tags: Option<Vec<Option<String>>>,
    mode: Option<&str>,
    collapse: Option<bool>,
    fusion: Option<&str>,
) -> TableIterator<
    'static,
    (
        name!(id, i64),
        name!(path, Option<String>),
        name!(chunk_index, Option<i32>),
        name!(title, Option<String>),
        name!(content, String),
        name!(score, f64),
        name!(vector_rank, Option<i32>),
        name!(bm25_rank, Option<i32>),
        name!(similarity, Option<f64>),
        name!(bm25_score, Option<f64>),
        name!(metadata, Option<Jsonb>),
        name!(occurred_at, Option<TimestampWithTimeZone>),
        name!(degraded, Option<String>),
    ),
> {
    let search = Search::new(
        query.unwrap_or(""),
        k,
        namespace,
        filter,
        since,
        until,
        path_prefix,
        tags,
        mode,
        collapse,
        fusion,
    )
    .or_raise();
    TableIterator::new(result_rows(&search).or_raise())
}

/// Why nothing was found, in one sentence.
fn empty_because(
    client: &SpiClient<'_>,
    schema: &store::Schema,
    search: &Search,
    outcome: &Outcome,
) -> Result<Option<String>, Failure> {
    if !outcome.rows.is_empty() {
        return Ok(None);
    }
    if search.text.trim().is_empty() {
        return Ok(Some("the query is empty".to_owned()));
    }
    if search.k == 0 {
        return Ok(Some("k is 0".to_owned()));
    }
    let all = Scope { namespace: search.scope.namespace.clone(), ..Scope::default() };
    let sql =
        format!("select exists (select 1 from {0}.memories m where {1})", schema.name, all.visible_sql());
    let (types, arguments) = all.arguments(PgOid::from(pg_sys::TEXTOID), "".into());
    let some = store::query(client, &sql, &types, &arguments, |row| row[1].value::<bool>())?;
    if !some.first().copied().flatten().unwrap_or(false) {
        return Ok(Some(match &search.scope.namespace {
            Some(name) => format!("namespace \"{}\" has no memories you may see", shorten(name)),
            None => "there are no memories you may see".to_owned(),
        }));
    }
    if search.scope.is_filtered() {
        return Ok(Some("no memory meets the filters and the query".to_owned()));
    }
    Ok(Some("no memory contains a word of the query, and the vector arm gave nothing".to_owned()))
}

/// Characters of a memory that an explanation shows.
const SHOWN: usize = 100;

fn explain(search: &Search) -> Result<serde_json::Value, Failure> {
    let schema = store::schema()?;
    store::memories_oid(&schema)?;
    Spi::connect(|client| {
        let start = Instant::now();
        let mut outcome = carry_out(client, &schema, search)?;
        let chunks: Vec<usize> = outcome.rows.iter().map(|row| 1 + row.others.len()).collect();
        let stored = fetch_shown(client, &schema, &mut outcome)?;
        let total = milliseconds(start);
        let results: Vec<serde_json::Value> = outcome
            .rows
            .iter()
            .zip(chunks)
            .filter_map(|(Group { best: row, score, .. }, chunks)| {
                let data = stored.get(&row.id)?;
                Some(json!({
                    "id": row.id,
                    "path": data.path,
                    "title": data.title,
                    "content": data.content.chars().take(SHOWN).collect::<String>(),
                    "score": score,
                    "chunks": chunks,
                    "vector": row.vector_rank.map(|rank| json!({"rank": rank, "similarity": row.similarity,
                        "term": row.vector_term})),
                    "bm25": row.bm25_rank.map(|rank| json!({"rank": rank, "score": row.bm25_score,
                        "term": row.bm25_term})),
                    "link": row.link_rank.map(|rank| json!({"rank": rank, "score": row.link_score,
                        "names": outcome.link.as_ref().and_then(|arm| arm.names.get(&row.id)),
                        "term": row.link_term})),
                }))
            })
            .collect();
        let reason = empty_because(client, &schema, search, &outcome)?;
        Ok(json!({
            "query": search.text,
            "namespace": search.scope.namespace.clone().unwrap_or_else(|| "*".to_owned()),
            "fusion": if search.fusion.method == Method::Rrf { "rrf" } else { "convex" },
            "model": outcome.model,
            "tokens": outcome.bm25.as_ref().map(|arm| arm.terms.iter()
                .map(|term| json!({"word": term.lexeme, "df": term.df, "idf": term.idf})).collect::<Vec<_>>()),
            "arms": {
                "vector": outcome.vector.as_ref().map(|arm| json!({
                    "rows": arm.hits.len(),
                    "plan": if arm.plan == VectorPlan::Exact { "exact" } else { "hnsw" },
                })),
                "bm25": outcome.bm25.as_ref().map(|arm| json!({
                    "rows": arm.hits.len(),
                    "candidates": arm.candidates,
                    "documents": arm.stats.docs,
                    "average_length": if arm.stats.docs == 0 { 0.0 } else { arm.stats.total_len as f64 / arm.stats.docs as f64 },
                })),
                "link": outcome.link.as_ref().map(|arm| json!({"rows": arm.hits.len()})),
            },
            "degraded": outcome.degraded,
            "empty_because": reason,
            "milliseconds": {
                "embed": outcome.times.embed,
                "vector": outcome.times.vector,
                "bm25": outcome.times.bm25,
                "link": outcome.times.link,
                "fusion": outcome.times.fusion,
                "total": total,
            },
            "results": results,
        }))
    })
}

#[pg_extern(sql = false)]
#[allow(clippy::too_many_arguments)]
fn memory_explain(
    query: Option<&str>,
    k: Option<i32>,
    namespace: Option<&str>,
    filter: Option<Jsonb>,
    since: Option<TimestampWithTimeZone>,
    until: Option<TimestampWithTimeZone>,
    path_prefix: Option<&str>,
    tags: Option<Vec<Option<String>>>,
    mode: Option<&str>,
    collapse: Option<bool>,
    fusion: Option<&str>,
) -> JsonB {
    let search = Search::new(
        query.unwrap_or(""),
        k,
        namespace,
        filter,
        since,
        until,
        path_prefix,
        tags,
        mode,
        collapse,
        fusion,
    )
    .or_raise();
    JsonB(explain(&search).or_raise())
}
