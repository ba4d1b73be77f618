//! Links: names and tags of a text, `memory_related`, and the link arm of `memory_search`.
//!
//! What is a name is decided in the crate `memory_link`. Columns `entities` and `tags` are kept in step by
//! `memory_derive()`; the index over their keys answers which memories share a name.

use std::collections::{BTreeMap, HashMap, HashSet};

use memory_link::Kind;
use memory_search::Fused;
use pgrx::iter::TableIterator;
use pgrx::pg_sys;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;
use pgrx::PgOid;

use crate::error::{Failure, OrRaise};
use crate::pg::vector::Vector;
use crate::pg::{catalog, words};
use crate::search::{self, Arm, Scope, ALIVE};
use crate::store;

/// A name in more memories than this relates nothing: it is looked at for the overlap only.
const HUB: usize = 64;

/// Most names of a memory that are looked up.
const LOOKED_UP: usize = 64;

/// Memories of the same document before and behind that are candidates.
const NEIGHBOURS: i32 = 10;

/// Candidates by their names that are read whole, at least; of each row asked for so many.
const READ: usize = 50;
const READ_A_ROW: usize = 4;

/// Rows are not read ahead: of a hub's most would be read for nothing.
const SCANNED: [(&std::ffi::CStr, &str); 1] = [(c"effective_io_concurrency", "1")];

/// Most names in common that a row lists.
const SHOWN: usize = 5;

/// Most rows a call returns.
const MAX_K: usize = 1_000;

/// Pairs of memories the distribution of similarities is taken from, and the fewest that tell anything.
const SAMPLED: i64 = 64;
const TELLING: usize = 40;

/// Best hits of a search whose names are followed.
const FOLLOWED: usize = 5;

/// A name in more memories than this leads nowhere in particular.
const TRACE: usize = 50;

/// Most rows of the link arm.
const LINKED: usize = 30;

#[pg_extern(sql = false)]
fn memory_extract(text: &str) -> TableIterator<'static, (name!(name, String), name!(kind, String))> {
    let found = words::with_segmenter(|segmenter| memory_link::extract(text, segmenter));
    let names = found.entities.into_iter().map(|entity| (entity.name, entity.kind.name().to_owned()));
    let tags = found.tags.into_iter().map(|tag| (tag, Kind::Tag.name().to_owned()));
    TableIterator::new(names.chain(tags).collect::<Vec<_>>())
}

#[pg_extern(sql = false)]
fn memory_entity_key(name: &str) -> String {
    memory_link::key(name)
}

/// Keys of names and tags, sorted, each once.
#[pg_extern(sql = false)]
fn memory_entity_keys(entities: Vec<Option<String>>, tags: Vec<Option<String>>) -> Vec<String> {
    // A text with the tag #RSS and one that speaks of RSS share a name.
    let mut keys: Vec<String> = entities
        .into_iter()
        .flatten()
        .chain(tags.into_iter().flatten())
        .map(|name| memory_link::key(&name))
        .collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// The kind a text gives to a name; `name` where the text does not have it.
#[pg_extern(sql = false)]
fn memory_entity_kind(name: &str, text: &str) -> String {
    let key = memory_link::key(name);
    let found = words::with_segmenter(|segmenter| memory_link::extract(text, segmenter));
    let kind = found.entities.iter().find(|entity| memory_link::key(&entity.name) == key);
    kind.map_or(Kind::Name, |entity| entity.kind).name().to_owned()
}

/// The names a memory has: those given, without those only its former text had, and those of its text.
#[pg_extern(sql = false)]
fn memory_merge_names(
    given: Vec<Option<String>>,
    found: Vec<Option<String>>,
    stale: Vec<Option<String>>,
) -> Vec<String> {
    let keys = |names: &[Option<String>]| -> HashSet<String> {
        names.iter().flatten().map(|name| memory_link::key(name)).collect()
    };
    let (fresh, stale) = (keys(&found), keys(&stale));
    let mut seen: HashSet<String> = HashSet::new();
    let mut merged = Vec::with_capacity(given.len() + found.len());
    for name in given.into_iter().flatten() {
        let key = memory_link::key(&name);
        if stale.contains(&key) && !fresh.contains(&key) {
            continue;
        }
        seen.insert(key);
        merged.push(name);
    }
    for name in found.into_iter().flatten() {
        if seen.insert(memory_link::key(&name)) {
            merged.push(name);
        }
    }
    merged
}

/// The memory that others are to be related to.
struct Source {
    namespace: String,
    path: Option<String>,
    chunk_index: i32,
    keys: Vec<String>,
    model: Option<String>,
    embedding: Option<Vector>,
}

/// A memory that may be related.
struct Candidate {
    id: i64,
    path: Option<String>,
    chunk_index: i32,
    title: Option<String>,
    preview: String,
    /// Names and tags as they are shown, by key.
    names: HashMap<String, String>,
    similarity: Option<f64>,
}

/// A row of the result.
struct Related {
    candidate: Candidate,
    score: f64,
    overlap: f64,
    shared: Vec<String>,
    same_path: bool,
}

fn read_source(client: &SpiClient<'_>, schema: &store::Schema, id: i64) -> Result<Option<Source>, Failure> {
    let sql = format!(
        "select m.namespace, m.path, m.chunk_index, {0}.memory_entity_keys(m.entities, m.tags), m.model, m.embedding \
         from {0}.memories m where m.id operator(pg_catalog.=) $1 and {ALIVE}",
        schema.name
    );
    let rows = store::query(client, &sql, &[PgOid::from(pg_sys::INT8OID)], &[id.into()], |row| {
        Ok(Source {
            namespace: row[1].value::<String>()?.unwrap_or_default(),
            path: row[2].value()?,
            chunk_index: row[3].value::<i32>()?.unwrap_or(0),
            keys: row[4].value::<Vec<String>>()?.unwrap_or_default(),
            model: row[5].value()?,
            embedding: row[6].value()?,
        })
    })?;
    Ok(rows.into_iter().next())
}

/// A memory that has a name, the document it is of, and whether the filters accept it.
type Holder = (i64, Option<String>, bool);

/// For each key the memories in scope that have it, of a hub any `most` + 1 of them.
fn holders(
    client: &SpiClient<'_>,
    schema: &store::Schema,
    scope: &Scope,
    keys: &[String],
    most: usize,
) -> Result<Vec<Vec<Holder>>, Failure> {
    let sql = format!(
        "select k.place, p.id, p.document, p.accepted from pg_catalog.unnest($1) with ordinality k (key, place) \
         cross join lateral (select m.id, {document} as document, ({filters}) as accepted from {schema}.memories m \
         where {schema}.memory_entity_keys(m.entities, m.tags) operator(pg_catalog.@>) array[k.key] \
         and {visible} limit {limit}) p",
        document = scope.document_sql(),
        filters = scope.filters_sql(),
        schema = schema.name,
        visible = scope.visible_sql(),
        limit = most + 1
    );
    let (types, arguments) = scope.arguments(PgOid::from(pg_sys::TEXTARRAYOID), keys.to_vec().into());
    let mut found: Vec<Vec<Holder>> = vec![Vec::new(); keys.len()];
    catalog::with_settings(&SCANNED, || {
        store::query(client, &sql, &types, &arguments, |row| {
            let place = usize::try_from(row[1].value::<i64>()?.unwrap_or(1) - 1).unwrap_or(0);
            let id = row[2].value::<i64>()?.unwrap_or(0);
            let holder = (id, row[3].value()?, row[4].value::<bool>()?.unwrap_or(false));
            if let Some(list) = found.get_mut(place) {
                list.push(holder);
            }
            Ok(())
        })
    })?;
    Ok(found)
}

/// How many memories rarities are relative to: about those of the table, and never fewer than were found.
fn documents(schema: &store::Schema, counts: impl Iterator<Item = usize>) -> Result<u64, Failure> {
    let table = store::memories_oid(schema)?;
    let most = counts.max().unwrap_or(0) as u64;
    Ok((catalog::estimated_rows(table).unwrap_or(0.0).max(0.0) as u64).max(most))
}

/// Places of the source's names by the memory that has them too.
type Postings = HashMap<i64, Vec<usize>>;

/// Ids that share a name with the source, and in how many memories each of its names is, up to `HUB` + 1.
fn postings(
    client: &SpiClient<'_>,
    schema: &store::Schema,
    id: i64,
    source: &Source,
) -> Result<(Postings, Vec<usize>), Failure> {
    let scope = Scope { namespace: Some(source.namespace.clone()), ..Scope::default() };
    let keys: Vec<String> = source.keys.iter().take(LOOKED_UP).cloned().collect();
    let found = holders(client, schema, &scope, &keys, HUB)?;
    let mut shared = Postings::new();
    for (place, list) in found.iter().enumerate().filter(|(_, list)| list.len() <= HUB) {
        for (other, _, _) in list.iter().filter(|(other, _, _)| *other != id) {
            shared.entry(*other).or_default().push(place);
        }
    }
    Ok((shared, found.iter().map(Vec::len).collect()))
}

fn neighbours(client: &SpiClient<'_>, schema: &store::Schema, source: &Source) -> Result<Vec<i64>, Failure> {
    let Some(path) = &source.path else { return Ok(Vec::new()) };
    let sql = format!(
        "select m.id from {0}.memories m where m.namespace operator(pg_catalog.=) $1 and m.path operator(pg_catalog.=) $2 \
         and m.chunk_index operator(pg_catalog.>=) $3 and m.chunk_index operator(pg_catalog.<=) $4 and {ALIVE}",
        schema.name
    );
    let text = PgOid::from(pg_sys::TEXTOID);
    let number = PgOid::from(pg_sys::INT4OID);
    let (from, to) =
        (source.chunk_index.saturating_sub(NEIGHBOURS), source.chunk_index.saturating_add(NEIGHBOURS));
    store::query(
        client,
        &sql,
        &[text, text, number, number],
        &[source.namespace.as_str().into(), path.as_str().into(), from.into(), to.into()],
        |row| Ok(row[1].value::<i64>()?.unwrap_or(0)),
    )
}

/// Mean and deviation of the similarity of memories that have nothing to do with each other: pairs of rows
/// spread evenly over the table. `None` where there are too few.
fn distribution(
    client: &SpiClient<'_>,
    schema: &store::Schema,
    namespace: &str,
    model: &str,
) -> Result<Option<(f64, f64)>, Failure> {
    let sql = format!(
        "with bounds as (select pg_catalog.min(m.id) as low, pg_catalog.max(m.id) as high from {0}.memories m), \
         spread as (select p.n, r.id, r.embedding from bounds b, \
         pg_catalog.generate_series(0, {SAMPLED} operator(pg_catalog.-) 1) p (n) \
         cross join lateral (select m.id, m.embedding from {0}.memories m \
         where m.id operator(pg_catalog.>=) (b.low operator(pg_catalog.+) \
         ((b.high operator(pg_catalog.-) b.low) operator(pg_catalog.*) p.n operator(pg_catalog./) {SAMPLED})) \
         and m.namespace operator(pg_catalog.=) $1 and m.model operator(pg_catalog.=) $2 and m.embedding is not null \
         order by m.id limit 1) r) \
         select 1 operator(pg_catalog.-) (a.embedding operator({1}.<=>) b.embedding) from spread a join spread b \
         on b.n operator(pg_catalog.=) ((a.n operator(pg_catalog.*) 37 operator(pg_catalog.+) 11) operator(pg_catalog.%) {SAMPLED}) \
         and b.id operator(pg_catalog.<>) a.id and {1}.vector_dims(a.embedding) operator(pg_catalog.=) {1}.vector_dims(b.embedding)",
        schema.name, schema.vector
    );
    let text = PgOid::from(pg_sys::TEXTOID);
    let found = store::query(client, &sql, &[text, text], &[namespace.into(), model.into()], |row| {
        Ok(row[1].value::<f64>()?.unwrap_or(0.0))
    })?;
    if found.len() < TELLING {
        return Ok(None);
    }
    let count = found.len() as f64;
    let mean = found.iter().sum::<f64>() / count;
    let variance = found.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    Ok(Some((mean, variance.sqrt().max(1e-6))))
}

fn read_candidates(
    client: &SpiClient<'_>,
    schema: &store::Schema,
    source: &Source,
    ids: Vec<i64>,
) -> Result<Vec<Candidate>, Failure> {
    let sql = format!(
        "select m.id, m.path, m.chunk_index, m.title, {0}.memory_preview(m.content), m.entities, m.tags, \
         case when m.model operator(pg_catalog.=) $2 then m.embedding end \
         from {0}.memories m where m.id operator(pg_catalog.=) any ($1) and {ALIVE}",
        schema.name
    );
    let types = [PgOid::from(pg_sys::INT8ARRAYOID), PgOid::from(pg_sys::TEXTOID)];
    store::query(client, &sql, &types, &[ids.into(), source.model.clone().into()], |row| {
        let entities = row[6].value::<Vec<Option<String>>>()?.unwrap_or_default();
        let tags = row[7].value::<Vec<Option<String>>>()?.unwrap_or_default();
        let tags = tags.into_iter().flatten().map(|tag| (memory_link::key(&tag), format!("#{tag}")));
        let entities = entities.into_iter().flatten().map(|name| (memory_link::key(&name), name));
        // An entity that is a tag as well is shown as the entity.
        let names: HashMap<String, String> = tags.chain(entities).collect();
        let embedding = row[8].value::<Vector>()?;
        let similarity = match (&source.embedding, &embedding) {
            (Some(one), Some(other)) if one.0.len() == other.0.len() => Some(cosine(&one.0, &other.0)),
            _ => None,
        };
        Ok(Candidate {
            id: row[1].value::<i64>()?.unwrap_or(0),
            path: row[2].value()?,
            chunk_index: row[3].value::<i32>()?.unwrap_or(0),
            title: row[4].value()?,
            preview: row[5].value::<String>()?.unwrap_or_default(),
            names,
            similarity,
        })
    })
}

impl Candidate {
    /// How the source and this memory are related; `None` if they are not.
    fn relate(
        self,
        source: &Source,
        rarities: &HashMap<&str, f64>,
        usual: Option<(f64, f64)>,
    ) -> Option<Related> {
        // A name of the candidate only was not counted: it is taken for a rare one.
        let weight = |key: &str| rarities.get(key).copied().unwrap_or(1.0);
        let mut common: Vec<(&str, f64)> = source
            .keys
            .iter()
            .filter(|key| self.names.contains_key(key.as_str()))
            .map(|key| (key.as_str(), weight(key)))
            .collect();
        common.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
        let of_source: HashSet<&str> = source.keys.iter().map(String::as_str).collect();
        let only_source = source.keys.iter().filter(|key| !self.names.contains_key(key.as_str()));
        let only_other = self.names.keys().filter(|key| !of_source.contains(key.as_str()));
        let near = match (self.similarity, usual) {
            (Some(similarity), Some((mean, deviation))) => {
                Some(memory_link::nearness(similarity, mean, deviation))
            }
            _ => None,
        };
        let same_path = source.path.is_some() && source.path == self.path;
        let weights: Vec<f64> = common.iter().map(|name| name.1).collect();
        let score = memory_link::relatedness(
            &weights,
            only_source.map(|key| weight(key)).sum(),
            only_other.map(|key| weight(key)).sum(),
            near,
            same_path,
        );
        let all = source.keys.len() + self.names.len() - common.len();
        let overlap = if all > 0 { common.len() as f64 / all as f64 } else { 0.0 };
        let shared = common.iter().take(SHOWN).filter_map(|name| self.names.get(name.0).cloned()).collect();
        (score > 0.0).then_some(Related { candidate: self, score, overlap, shared, same_path })
    }
}

fn related(id: i64, k: usize, namespace: Option<&str>) -> Result<Vec<Related>, Failure> {
    let schema = store::schema()?;
    store::memories_oid(&schema)?;
    Spi::connect(|client| {
        let Some(source) = read_source(client, &schema, id)? else { return Ok(Vec::new()) };
        if namespace.is_some_and(|name| name != "*" && name != source.namespace) || k == 0 {
            return Ok(Vec::new());
        }
        let (shared, counts) = postings(client, &schema, id, &source)?;
        let documents = documents(&schema, counts.iter().copied())?;
        let rarities: HashMap<&str, f64> = source
            .keys
            .iter()
            .zip(&counts)
            .map(|(key, &count)| {
                let rarity = if count > HUB { 0.0 } else { memory_link::rarity(count as u64, documents) };
                (key.as_str(), rarity)
            })
            .collect();
        // The most promising by their names, then neighbours in the document and in meaning.
        let promise = |places: &[usize]| -> f64 {
            places
                .iter()
                .filter_map(|&place| source.keys.get(place))
                .map(|key| rarities.get(key.as_str()).copied().unwrap_or(0.0))
                .sum()
        };
        let mut by_names: Vec<(i64, f64)> =
            shared.iter().map(|(&other, places)| (other, promise(places))).collect();
        by_names.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut ids: Vec<i64> =
            by_names.into_iter().take(READ.max(READ_A_ROW * k)).map(|other| other.0).collect();
        ids.extend(neighbours(client, &schema, &source)?);
        let mut usual = None;
        if let (Some(vector), Some(model)) = (&source.embedding, &source.model) {
            usual = distribution(client, &schema, &source.namespace, model)?;
            if usual.is_some() {
                ids.extend(search::nearest(
                    client,
                    &schema,
                    &source.namespace,
                    model,
                    &vector.0,
                    2 * k + 10,
                )?);
            }
        }
        let mut seen = HashSet::from([id]);
        ids.retain(|other| seen.insert(*other));
        let mut rows: Vec<Related> = read_candidates(client, &schema, &source, ids)?
            .into_iter()
            .filter_map(|candidate| candidate.relate(&source, &rarities, usual))
            .collect();
        rows.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.candidate.id.cmp(&b.candidate.id)));
        rows.truncate(k);
        Ok(rows)
    })
}

/// What the link arm of a search found.
#[derive(Default)]
pub struct Linked {
    /// Best first.
    pub hits: Vec<Arm>,
    /// Keys of the names each hit has in common with one of the best.
    pub names: HashMap<i64, Vec<String>>,
}

/// Memories that share rare names with the best hits of a search.
///
/// A memory scores, for each of the best hits but itself, the rarities of the names they share, weighted by that
/// hit's score relative to the first. Rarity is that of the namespace; the filters choose among what is found.
pub fn linked(
    client: &SpiClient<'_>,
    schema: &store::Schema,
    scope: &Scope,
    best: &[Fused],
) -> Result<Linked, Failure> {
    let first = best.first().map_or(0.0, |row| row.score);
    let weights: HashMap<i64, f64> =
        best.iter().take(FOLLOWED).filter(|_| first > 0.0).map(|row| (row.id, row.score / first)).collect();
    let mut named: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    let sql = format!(
        "select m.id, {0}.memory_entity_keys(m.entities, m.tags) from {0}.memories m \
         where m.id operator(pg_catalog.=) any ($1)",
        schema.name
    );
    let ids: Vec<i64> = weights.keys().copied().collect();
    store::query(client, &sql, &[PgOid::from(pg_sys::INT8ARRAYOID)], &[ids.into()], |row| {
        let id = row[1].value::<i64>()?.unwrap_or(0);
        for key in row[2].value::<Vec<String>>()?.unwrap_or_default().into_iter().take(LOOKED_UP) {
            named.entry(key).or_default().push(id);
        }
        Ok(())
    })?;
    let keys: Vec<String> = named.keys().cloned().collect();
    let found = holders(client, schema, scope, &keys, TRACE)?;
    let documents = documents(schema, found.iter().map(Vec::len))?;
    let mut arms: HashMap<i64, Arm> = HashMap::new();
    let mut linked = Linked::default();
    for ((key, of_best), rows) in named.iter().zip(found).filter(|(_, rows)| rows.len() <= TRACE) {
        let rarity = memory_link::rarity(rows.len() as u64, documents);
        for (id, document, _) in rows.into_iter().filter(|(_, _, accepted)| *accepted) {
            let by_others: f64 =
                of_best.iter().filter(|other| **other != id).filter_map(|other| weights.get(other)).sum();
            if rarity * by_others > 0.0 {
                arms.entry(id).or_insert(Arm { id, score: 0.0, document }).score += rarity * by_others;
                linked.names.entry(id).or_default().push(key.clone());
            }
        }
    }
    linked.hits = arms.into_values().collect();
    linked.hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
    linked.hits.truncate(LINKED);
    Ok(linked)
}

#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)]
fn memory_related(
    id: Option<i64>,
    k: Option<i32>,
    namespace: Option<&str>,
) -> TableIterator<
    'static,
    (
        name!(id, i64),
        name!(path, Option<String>),
        name!(chunk_index, i32),
        name!(title, Option<String>),
        name!(preview, String),
        name!(score, f64),
        name!(overlap, f64),
        name!(shared, Vec<String>),
        name!(similarity, Option<f64>),
        name!(same_path, bool),
    ),
> {
    let k = search::row_limit(k, 5, MAX_K, "memories").or_raise();
    let rows = match id {
        Some(id) => related(id, k, namespace).or_raise(),
        None => Vec::new(),
    };
    TableIterator::new(rows.into_iter().map(|row| {
        let found = row.candidate;
        (
            found.id,
            found.path,
            found.chunk_index,
            found.title,
            found.preview,
            row.score,
            row.overlap,
            row.shared,
            found.similarity,
            row.same_path,
        )
    }))
}

fn cosine(one: &[f32], other: &[f32]) -> f64 {
    let (mut dot, mut left, mut right) = (0.0f64, 0.0f64, 0.0f64);
    for (a, b) in one.iter().zip(other) {
        let (a, b) = (f64::from(*a), f64::from(*b));
        dot += a * b;
        left += a * a;
        right += b * b;
    }
    if left > 0.0 && right > 0.0 {
        dot / (left.sqrt() * right.sqrt())
    } else {
        0.0
    }
}
