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

/// Most names of a memory that are looked up: as many as a text can give.
const LOOKED_UP: usize = memory_link::MAX_ENTITIES + memory_link::MAX_TAGS;

/// Memories of the same document before and behind that are candidates.
const NEIGHBOURS: i32 = 10;

/// Candidates by their names that are read whole at a time.
const READ: usize = 50;

/// Scores closer than this are equal: they are sums in different orders.
const ROUNDING: f64 = 1e-9;

/// Rows are not read ahead: of a hub's most would be read for nothing. And the index is used however small the table
/// is: without it the names of all rows are read for every one that is looked up. (The `offset 0` in [`holders`] keeps
/// other conditions away from it, which could be met by another index.)
const SCANNED: [(&std::ffi::CStr, &str); 2] =
    [(c"effective_io_concurrency", "1"), (c"enable_seqscan", "off")];

/// Most names in common that a row lists.
const SHOWN: usize = 5;

/// Most rows a call returns.
const MAX_K: usize = 1_000;

/// Memories the distribution of similarities is taken from, and the fewest pairs of them that tell anything.
const SAMPLED: usize = 64;
const TELLING: usize = 40;

/// How far apart two of them that are compared lie.
const APART: usize = 27;

/// Rows that are looked at for one with a vector.
const AHEAD: usize = 4;

/// Rounds of looking for those memories, at most.
const ROUNDS: usize = 16;

/// Best hits of a search whose names are followed, and so many names of each.
const FOLLOWED: usize = 5;
const TRACED: usize = 64;

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
        .filter(|key| !key.is_empty())
        .collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// At most so many of the keys, spread evenly over their order: the first ones would be those of one script.
fn spread_evenly(keys: &[String], most: usize) -> Vec<String> {
    let count = keys.len().min(most);
    (0..count).filter_map(|nth| keys.get(nth * keys.len() / count)).cloned().collect()
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
        if !key.is_empty() && (fresh.contains(&key) || !stale.contains(&key)) && seen.insert(key) {
            merged.push(name);
        }
    }
    for name in found.into_iter().flatten() {
        let key = memory_link::key(&name);
        if !key.is_empty() && seen.insert(key) {
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

/// A memory that has a name.
#[derive(Clone)]
struct Holder {
    id: i64,
    /// The document it is of.
    document: Option<String>,
    /// Whether the filters accept it.
    accepted: bool,
}

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
         cross join lateral (select m.id, {document} as document, ({filters}) as accepted from (select m.* from {schema}.memories m \
         where {schema}.memory_entity_keys(m.entities, m.tags) operator(pg_catalog.@>) array[k.key] offset 0) m \
         where {visible} limit {limit}) p",
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
            let holder = Holder {
                id: row[2].value::<i64>()?.unwrap_or(0),
                document: row[3].value()?,
                accepted: row[4].value::<bool>()?.unwrap_or(false),
            };
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

/// A memory that shares names with the source, as far as the index tells.
struct Sharer {
    id: i64,
    /// Places of the names it shares.
    places: Vec<usize>,
    /// How many names it has, at least.
    names: usize,
    same_path: bool,
}

/// The memories that share one of these names with the source, and in how many memories each name is, up to `HUB` + 1.
fn sharers(
    client: &SpiClient<'_>,
    schema: &store::Schema,
    id: i64,
    source: &Source,
    keys: &[String],
) -> Result<(Vec<Sharer>, Vec<usize>), Failure> {
    let scope = Scope { namespace: Some(source.namespace.clone()), ..Scope::default() };
    let found = holders(client, schema, &scope, keys, HUB)?;
    let counts = found.iter().map(Vec::len).collect();
    let mut sharers: HashMap<i64, Sharer> = HashMap::new();
    for (place, list) in found.into_iter().enumerate().filter(|(_, list)| list.len() <= HUB) {
        for holder in list.into_iter().filter(|holder| holder.id != id) {
            let same_path = source.path.is_some() && source.path == holder.document;
            let new = || Sharer { id: holder.id, places: Vec::new(), names: 0, same_path };
            sharers.entry(holder.id).or_insert_with(new).places.push(place);
        }
    }
    if sharers.len() > READ {
        count_names(client, schema, &mut sharers)?;
    }
    Ok((sharers.into_values().collect(), counts))
}

/// Puts in how many names each has, at least: one may be a tag as well.
fn count_names(
    client: &SpiClient<'_>,
    schema: &store::Schema,
    sharers: &mut HashMap<i64, Sharer>,
) -> Result<(), Failure> {
    let sql = format!(
        "select m.id, greatest(pg_catalog.cardinality(m.entities), pg_catalog.cardinality(m.tags)) \
         from {0}.memories m where m.id operator(pg_catalog.=) any ($1)",
        schema.name
    );
    let ids: Vec<i64> = sharers.keys().copied().collect();
    store::query(client, &sql, &[PgOid::from(pg_sys::INT8ARRAYOID)], &[ids.into()], |row| {
        let names = usize::try_from(row[2].value::<i32>()?.unwrap_or(0)).unwrap_or(0);
        if let Some(sharer) = row[1].value::<i64>()?.and_then(|id| sharers.get_mut(&id)) {
            sharer.names = names;
        }
        Ok(())
    })?;
    Ok(())
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

/// Ids of memories of the namespace that have a vector of the model, spread evenly over their numbers.
fn sample(
    client: &SpiClient<'_>,
    schema: &store::Schema,
    namespace: &str,
    model: &str,
) -> Result<Vec<i64>, Failure> {
    // The order is that of the index over namespace and id, so that no other rows are read.
    let sql = format!(
        "select (select f.id from (select m.id, m.namespace from {0}.memories m \
         where row(m.namespace, m.id) operator(pg_catalog.<) row($1, p.point) \
         order by m.namespace desc, m.id desc limit 1) f where f.namespace operator(pg_catalog.=) $1), \
         (select f.id from (select m.id, m.namespace, m.embedding is not null and m.model operator(pg_catalog.=) $2 as has \
         from {0}.memories m where row(m.namespace, m.id) operator(pg_catalog.>=) row($1, p.point) \
         order by m.namespace, m.id limit {AHEAD}) f where f.namespace operator(pg_catalog.=) $1 \
         order by f.has desc, f.id limit 1) \
         from pg_catalog.unnest($3) with ordinality p (point, place) order by p.place",
        schema.name
    );
    let types =
        [PgOid::from(pg_sys::TEXTOID), PgOid::from(pg_sys::TEXTOID), PgOid::from(pg_sys::INT8ARRAYOID)];
    let ask = |points: Vec<i64>| {
        store::query(client, &sql, &types, &[namespace.into(), model.into(), points.into()], |row| {
            Ok((row[1].value::<i64>()?, row[2].value::<i64>()?))
        })
    };
    let ends = ask(vec![i64::MIN, i64::MAX])?;
    let (Some((_, Some(first))), Some((Some(last), _))) = (ends.first().copied(), ends.last().copied())
    else {
        return Ok(Vec::new());
    };
    let mut spread = memory_link::Spread::new(first, last, SAMPLED);
    for _ in 0..ROUNDS {
        let points = spread.points();
        if points.is_empty() {
            break;
        }
        let answers = ask(points)?;
        // Between two rows there is one at each side of every point.
        spread.answer(
            &answers
                .iter()
                .map(|(low, high)| (low.unwrap_or(first), high.unwrap_or(last)))
                .collect::<Vec<_>>(),
        );
    }
    Ok(spread.found().to_vec())
}

/// Mean and deviation of the similarity of memories that have nothing to do with each other: pairs of rows
/// spread evenly over the namespace. `None` where there are too few.
fn distribution(
    client: &SpiClient<'_>,
    schema: &store::Schema,
    namespace: &str,
    model: &str,
) -> Result<Option<(f64, f64)>, Failure> {
    let ids = sample(client, schema, namespace, model)?;
    let sql = format!(
        "with sampled as materialized (select pg_catalog.row_number() over (order by m.id) operator(pg_catalog.-) 1 as n, \
         pg_catalog.count(*) over () as count, m.id, m.embedding from {0}.memories m \
         where m.id operator(pg_catalog.=) any ($1) and m.model operator(pg_catalog.=) $2 and m.embedding is not null \
         and m.namespace operator(pg_catalog.=) $3) \
         select 1 operator(pg_catalog.-) (a.embedding operator({1}.<=>) b.embedding) from sampled a join sampled b \
         on b.n operator(pg_catalog.=) ((a.n operator(pg_catalog.+) {APART}) operator(pg_catalog.%) a.count) \
         and b.id operator(pg_catalog.<>) a.id and {1}.vector_dims(a.embedding) operator(pg_catalog.=) {1}.vector_dims(b.embedding) \
         order by a.n",
        schema.name, schema.vector
    );
    let text = PgOid::from(pg_sys::TEXTOID);
    let types = [PgOid::from(pg_sys::INT8ARRAYOID), text, text];
    let found = store::query(client, &sql, &types, &[ids.into(), model.into(), namespace.into()], |row| {
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
        pgrx::check_for_interrupts!();
        let entities = row[6].value::<Vec<Option<String>>>()?.unwrap_or_default();
        let tags = row[7].value::<Vec<Option<String>>>()?.unwrap_or_default();
        let tags = tags.into_iter().flatten().map(|tag| (memory_link::key(&tag), format!("#{tag}")));
        let entities = entities.into_iter().flatten().map(|name| (memory_link::key(&name), name));
        // An entity that is a tag as well is shown as the entity.
        let names: HashMap<String, String> =
            tags.chain(entities).filter(|(key, _)| !key.is_empty()).collect();
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
        // Of the source's names those that were looked up count.
        let weight = |key: &str| rarities.get(key).copied().unwrap_or(0.0);
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
            // A name of the candidate only was not counted: it is taken for a rare one.
            only_other.count() as f64,
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
        let keys = spread_evenly(&source.keys, LOOKED_UP);
        let (sharers, counts) = sharers(client, &schema, id, &source, &keys)?;
        let documents = documents(&schema, counts.iter().copied())?;
        let weights: Vec<f64> = counts
            .iter()
            .map(|&count| if count > HUB { 0.0 } else { memory_link::rarity(count as u64, documents) })
            .collect();
        let rarities: HashMap<&str, f64> =
            keys.iter().map(String::as_str).zip(weights.iter().copied()).collect();
        let mut usual = None;
        let mut nearest = Vec::new();
        let most_near = 2 * k + 10;
        if let (Some(vector), Some(model)) = (&source.embedding, &source.model) {
            usual = distribution(client, &schema, &source.namespace, model)?;
            if usual.is_some() {
                nearest = search::nearest(client, &schema, &source.namespace, model, &vector.0, most_near)?;
            }
        }
        let near_full = nearest.len() >= most_near;
        let mut seen = HashSet::from([id]);
        let mut best: Vec<Related> = Vec::new();
        let mut farthest = f64::INFINITY;
        let mut read = |ids: Vec<i64>, best: &mut Vec<Related>| -> Result<f64, Failure> {
            let ids: Vec<i64> = ids.into_iter().filter(|other| seen.insert(*other)).collect();
            for candidate in read_candidates(client, &schema, &source, ids)? {
                farthest = farthest.min(candidate.similarity.unwrap_or(f64::INFINITY));
                best.extend(candidate.relate(&source, &rarities, usual));
            }
            best.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.candidate.id.cmp(&b.candidate.id)));
            best.truncate(k);
            Ok(farthest)
        };
        // Who is not among the nearest is not nearer than the last of them.
        let farthest = read(nearest, &mut best)?;
        let near = match usual {
            Some((mean, deviation)) if near_full && farthest.is_finite() => {
                Some(memory_link::nearness(farthest, mean, deviation))
            }
            _ => None,
        };
        read(neighbours(client, &schema, &source)?, &mut best)?;
        // Those that share names, by the best score they can have, as long as that is good enough.
        let of_source: f64 = weights.iter().sum();
        let idle = source.keys.len() - weights.iter().filter(|weight| **weight > 0.0).count();
        let bound = |sharer: &Sharer| -> f64 {
            let shared: Vec<f64> =
                sharer.places.iter().filter_map(|&place| weights.get(place)).copied().collect();
            let only_source = of_source - shared.iter().sum::<f64>();
            let only_other = sharer.names.saturating_sub(shared.len() + idle) as f64;
            memory_link::relatedness(&shared, only_source, only_other, near, sharer.same_path)
        };
        let mut promising: Vec<(i64, f64)> =
            sharers.iter().map(|sharer| (sharer.id, bound(sharer))).collect();
        promising.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        for batch in promising.chunks(READ) {
            let good_enough = |&(other, bound): &(i64, f64)| {
                best.get(k - 1).is_none_or(|last| {
                    bound > last.score + ROUNDING
                        || bound > last.score - ROUNDING && other < last.candidate.id
                })
            };
            let ids: Vec<i64> =
                batch.iter().take_while(|other| good_enough(other)).map(|other| other.0).collect();
            let done = ids.len() < batch.len();
            read(ids, &mut best)?;
            if done {
                break;
            }
        }
        Ok(best)
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
        for key in spread_evenly(&row[2].value::<Vec<String>>()?.unwrap_or_default(), TRACED) {
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
        for Holder { id, document, .. } in rows.into_iter().filter(|holder| holder.accepted) {
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
