//! `memory_graph`: documents and their relations as JSON, and the page that shows them.
//!
//! The rows are read as the caller; what is near is decided in the crate `memory_graph`. The page is built from
//! `web/` and compiled in, so that creating the extension needs no other file.

use std::collections::{BTreeMap, HashMap};

use memory_graph::{build, Document};
use pgrx::pg_sys;
use pgrx::prelude::*;
use pgrx::spi::SpiClient;
use pgrx::{JsonB, PgOid};
use serde_json::{json, Value};

use crate::error::{Failure, OrRaise};
use crate::pg::vector::Vector;
use crate::search::ALIVE;
use crate::{embed, settings, store};

/// Most documents a graph may have: it compares every pair.
const MOST_NODES: i32 = 2_000;

/// Most names and tags a node lists.
const LISTED: usize = 12;

const PAGE: &str = include_str!("../web/dist/graph.html");

/// A document as it is drawn.
struct Node {
    namespace: String,
    path: String,
    /// Among all nodes of the graph.
    id: String,
    json: Value,
    centroid: Vec<f32>,
}

/// Which rows, of those alive: `$1` is the namespace, or NULL for all the caller may see.
const SCOPE: &str = "($1::pg_catalog.text is null or m.namespace operator(pg_catalog.=) $1)";

fn read_nodes(
    client: &SpiClient<'_>,
    schema: &store::Schema,
    namespace: Option<&str>,
    model: &str,
    most: i32,
) -> Result<Vec<Node>, Failure> {
    let sql = format!(
        "select m.path, m.namespace, pg_catalog.count(*), pg_catalog.sum(pg_catalog.length(m.content))::pg_catalog.int8, \
         pg_catalog.to_json(pg_catalog.min(m.occurred_at)) operator(pg_catalog.#>>) '{{}}', \
         pg_catalog.to_json(pg_catalog.max(m.occurred_at)) operator(pg_catalog.#>>) '{{}}', \
         coalesce((pg_catalog.array_agg(m.metadata operator(pg_catalog.->>) 'title' order by m.chunk_index))[1], \
         case when pg_catalog.count(distinct coalesce(pg_catalog.split_part(m.title, ' > ', 1), '')) operator(pg_catalog.=) 1 \
         then pg_catalog.min(pg_catalog.split_part(m.title, ' > ', 1)) end), \
         (pg_catalog.array_agg({0}.memory_preview(m.content) order by m.chunk_index))[1], \
         {1}.avg(m.embedding) filter (where m.model operator(pg_catalog.=) $2) \
         from {0}.memories m where m.path is not null and {SCOPE} and {ALIVE} \
         group by m.namespace, m.path order by 4 desc, 2, 1 limit $3",
        schema.name, schema.vector
    );
    let text = PgOid::from(pg_sys::TEXTOID);
    store::query(
        client,
        &sql,
        &[text, text, PgOid::from(pg_sys::INT4OID)],
        &[namespace.into(), model.into(), most.into()],
        |row| {
            let path = row[1].value::<String>()?.unwrap_or_default();
            let of = row[2].value::<String>()?.unwrap_or_default();
            let heading = row[7].value::<String>()?;
            // Documents of different people may have the same path.
            let id = if namespace.is_some() { path.clone() } else { format!("{of}:{path}") };
            let json = json!({
                "id": id,
                "namespace": of,
                "path": path,
                "title": title(&path, heading.as_deref()),
                "chunks": row[3].value::<i64>()?,
                "characters": row[4].value::<i64>()?,
                "first_at": row[5].value::<String>()?,
                "last_at": row[6].value::<String>()?,
                "preview": row[8].value::<String>()?,
            });
            let centroid = row[9].value::<Vector>()?.map_or(Vec::new(), |vector| vector.0);
            Ok(Node { namespace: of, path, id, json, centroid })
        },
    )
}

/// What a document is called or what stands above all of it, else the name of its file without its ending.
fn title(path: &str, heading: Option<&str>) -> String {
    let heading = heading.map(str::trim).filter(|title| !title.is_empty());
    let file = path.rsplit('/').next().unwrap_or(path);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    heading.unwrap_or(if stem.is_empty() { file } else { stem }).to_owned()
}

/// Names and tags of the chunks of a document: by the number of the key, how it is written and in how many chunks it is.
#[derive(Default)]
struct Names {
    names: BTreeMap<u32, (String, usize)>,
    tags: BTreeMap<u32, (String, usize)>,
}

/// Numbers of keys.
#[derive(Default)]
struct Numbers(HashMap<String, u32>);

impl Numbers {
    /// `None` for a name of nothing that can be seen.
    fn of(&mut self, name: &str) -> Option<u32> {
        let next = u32::try_from(self.0.len()).ok()?;
        let key = memory_link::key(name);
        (!key.is_empty()).then(|| *self.0.entry(key).or_insert(next))
    }
}

/// Namespace and path.
type Place = (String, String);

fn read_names(
    client: &SpiClient<'_>,
    schema: &store::Schema,
    namespace: Option<&str>,
    nodes: &[Node],
) -> Result<HashMap<Place, Names>, Failure> {
    // In order, so that numbers depend on the rows alone.
    let sql = format!(
        "select m.namespace, m.path, m.entities, m.tags from {0}.memories m \
         where m.path operator(pg_catalog.=) any ($2) and {SCOPE} and {ALIVE} order by m.namespace, m.path, m.chunk_index",
        schema.name
    );
    let types = [PgOid::from(pg_sys::TEXTOID), PgOid::from(pg_sys::TEXTARRAYOID)];
    let paths: Vec<String> = nodes.iter().map(|node| node.path.clone()).collect();
    let mut all: HashMap<Place, Names> =
        nodes.iter().map(|node| ((node.namespace.clone(), node.path.clone()), Names::default())).collect();
    let mut numbers = Numbers::default();
    store::query(client, &sql, &types, &[namespace.into(), paths.into()], |row| {
        pgrx::check_for_interrupts!();
        let place =
            (row[1].value::<String>()?.unwrap_or_default(), row[2].value::<String>()?.unwrap_or_default());
        let Some(of) = all.get_mut(&place) else { return Ok(()) };
        for (column, known) in [(3, &mut of.names), (4, &mut of.tags)] {
            for name in row[column].value::<Vec<Option<String>>>()?.into_iter().flatten().flatten() {
                if let Some(number) = numbers.of(&name) {
                    known.entry(number).or_insert((name, 0)).1 += 1;
                }
            }
        }
        Ok(())
    })?;
    Ok(all)
}

/// The most frequent ones in display form.
fn listed(names: &BTreeMap<u32, (String, usize)>) -> Vec<&str> {
    let mut sorted: Vec<(&str, usize)> =
        names.values().map(|(name, count)| (name.as_str(), *count)).collect();
    sorted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    sorted.into_iter().take(LISTED).map(|(name, _)| name).collect()
}

fn graph(threshold: Option<f64>, namespace: Option<&str>, most: i32) -> Result<Value, Failure> {
    if !(0..=MOST_NODES).contains(&most) {
        return Err(Failure::argument(format!("max_nodes must be between 0 and {MOST_NODES}, not {most}"))
            .hint("Every pair of documents is compared; show a part of the store by its namespace."));
    }
    if threshold.is_some_and(|threshold| !(-1.0..=1.0).contains(&threshold)) {
        return Err(Failure::argument("threshold must be between -1 and 1").hint(
            "It is a cosine similarity; leave it out to take one from the documents' own distribution.",
        ));
    }
    let schema = store::schema()?;
    store::memories_oid(&schema)?;
    let namespace = settings::searched_namespace(namespace);
    let model = embed::active_model().unwrap_or_else(|| embed::DEFAULT_MODEL.to_owned());
    let (nodes, names, total) = Spi::connect(|client| -> Result<_, Failure> {
        let nodes = read_nodes(client, &schema, namespace.as_deref(), &model, most)?;
        let names = read_names(client, &schema, namespace.as_deref(), &nodes)?;
        let sql = format!(
            "select pg_catalog.count(distinct row(m.namespace, m.path)) from {0}.memories m \
             where m.path is not null and {SCOPE} and {ALIVE}",
            schema.name
        );
        let text = [PgOid::from(pg_sys::TEXTOID)];
        let total =
            store::query(client, &sql, &text, &[namespace.clone().into()], |row| row[1].value::<i64>())?;
        Ok((nodes, names, total.first().copied().flatten().unwrap_or(0)))
    })?;
    let nothing = Names::default();
    let places: Vec<Place> = nodes.iter().map(|node| (node.namespace.clone(), node.path.clone())).collect();
    let own: Vec<&Names> = places.iter().map(|place| names.get(place).unwrap_or(&nothing)).collect();
    let documents: Vec<Document> = nodes
        .iter()
        .zip(&own)
        // A tag and an entity of the same key are one name.
        .map(|(node, own)| Document {
            names: own.names.keys().chain(own.tags.keys()).copied().collect(),
            centroid: node.centroid.clone(),
        })
        .collect();
    let built = build(&documents, threshold, || {
        pgrx::check_for_interrupts!();
    });
    let display = |node: usize, number: &u32| {
        let own = own.get(node)?;
        own.names
            .get(number)
            .map(|(name, _)| name.clone())
            .or_else(|| own.tags.get(number).map(|(tag, _)| format!("#{tag}")))
    };
    let round = |value: f64| (value * 10_000.0).round() / 10_000.0;
    let edges: Vec<Value> = built
        .edges
        .iter()
        .filter_map(|edge| {
            let (source, target) = (nodes.get(edge.source)?, nodes.get(edge.target)?);
            let shared: Vec<String> =
                edge.shared.iter().filter_map(|number| display(edge.source, number)).collect();
            Some(json!({
                "source": source.id,
                "target": target.id,
                "weight": round(edge.weight),
                "similarity": edge.similarity.map(round),
                "shared": shared,
            }))
        })
        .collect();
    let drawn: Vec<Value> = nodes
        .iter()
        .zip(&own)
        .map(|(node, own)| {
            let mut json = node.json.clone();
            if let Some(map) = json.as_object_mut() {
                map.insert("entities".to_owned(), json!(listed(&own.names)));
                map.insert("tags".to_owned(), json!(listed(&own.tags)));
            }
            json
        })
        .collect();
    Ok(json!({
        "namespace": namespace.unwrap_or_else(|| "*".to_owned()),
        "model": model,
        "threshold": built.threshold.map(round),
        "default_weight": round(built.threshold_weight),
        "similarity": built.distribution.map(|d| json!({
            "min": round(d.min), "mean": round(d.mean), "deviation": round(d.deviation), "max": round(d.max),
        })),
        "total_paths": total,
        "truncated": i64::try_from(drawn.len()).is_ok_and(|shown| shown < total),
        "nodes": drawn,
        "edges": edges,
    }))
}

#[pg_extern(sql = false)]
fn memory_graph(threshold: Option<f64>, namespace: Option<&str>, max_nodes: Option<i32>) -> JsonB {
    JsonB(graph(threshold, namespace, max_nodes.unwrap_or(500)).or_raise())
}

#[pg_extern(sql = false)]
fn memory_graph_page() -> &'static str {
    PAGE
}
