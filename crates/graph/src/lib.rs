//! Documents and what they have in common, as a weighted graph.
//!
//! Two documents are near if their vectors are, measured against the other pairs of the same graph: cosines of a
//! model are compressed into a narrow band, so no constant tells what is near. And they are near if they share
//! names, rare ones more than frequent ones.
//!
//! What it does not do: it reads nothing and draws nothing. What must hold: the result depends on the documents
//! alone, not on their order; every pair is compared once, n² / 2 distances, so callers bound n; edges are bounded
//! by [`PER_NODE`] times n.
#![forbid(unsafe_code)]

use std::collections::HashMap;

/// Most edges a document keeps of its own; it may have more through others.
pub const PER_NODE: usize = 8;

/// Edges lighter than this are noise.
pub const LIGHTEST: f64 = 0.1;

/// How many deviations above the mean count as entirely near.
const NEAR: f64 = 4.0;

/// How many deviations above the mean the threshold lies, unless one is given.
const USUAL: f64 = 1.5;

/// Most names an edge lists.
const LISTED: usize = 5;

/// A document.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    /// Mean of the vectors of its chunks, of any length; empty if it has none.
    pub centroid: Vec<f32>,
    /// Names in it, each once, in a form that can be compared.
    pub names: Vec<String>,
}

/// Two documents that have something in common.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    /// Place of the first document; smaller than `target`.
    pub source: usize,
    /// Place of the second document.
    pub target: usize,
    /// From 0 to 1.
    pub weight: f64,
    /// Cosine of the centroids, if both have one.
    pub similarity: Option<f64>,
    /// Names both have, rarest first, at most five.
    pub shared: Vec<String>,
}

/// How similar the documents of a graph are to each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distribution {
    /// Lowest cosine of a pair.
    pub min: f64,
    /// Mean cosine.
    pub mean: f64,
    /// Standard deviation.
    pub deviation: f64,
    /// Highest cosine.
    pub max: f64,
}

impl Distribution {
    /// How near a similarity is, from 0 at the mean to 1.
    pub fn nearness(&self, similarity: f64) -> f64 {
        if self.deviation > 0.0 {
            ((similarity - self.mean) / (NEAR * self.deviation)).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    /// The similarity from which documents are joined if nobody says otherwise.
    pub fn usual_threshold(&self) -> f64 {
        (self.mean + USUAL * self.deviation).min(self.max)
    }
}

/// A graph of documents.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    /// Heaviest first, then by source and target.
    pub edges: Vec<Edge>,
    /// `None` with fewer than two vectors.
    pub distribution: Option<Distribution>,
    /// The similarity that joins documents.
    pub threshold: Option<f64>,
    /// The weight an edge of that similarity alone has.
    pub threshold_weight: f64,
}

/// Weight of nearness and of names in an edge with both.
const HALF: f64 = 0.5;

/// Compares all pairs. With a `threshold`, pairs without a name in common must be at least so similar; without one
/// lighter edges are there too, for who wants to see more.
pub fn build(documents: &[Document], threshold: Option<f64>) -> Graph {
    let units: Vec<Vec<f32>> = documents.iter().map(|document| unit(&document.centroid)).collect();
    let rarities = rarities(documents);
    let own: Vec<f64> = documents
        .iter()
        .map(|document| {
            document.names.iter().map(|name| rarities.get(name.as_str()).copied().unwrap_or(0.0)).sum()
        })
        .collect();
    let mut pairs: Vec<(usize, usize, Option<f64>)> = Vec::new();
    for (source, one) in units.iter().enumerate() {
        for (target, other) in units.iter().enumerate().skip(source + 1) {
            let similarity = (!one.is_empty() && one.len() == other.len()).then(|| dot(one, other));
            pairs.push((source, target, similarity));
        }
    }
    let distribution = measure(pairs.iter().filter_map(|pair| pair.2));
    let nearness = |similarity: Option<f64>| match (&distribution, similarity) {
        (Some(distribution), Some(similarity)) => distribution.nearness(similarity),
        _ => 0.0,
    };
    let shared = shared_names(documents);
    let mut edges: Vec<Edge> = Vec::new();
    for (source, target, similarity) in pairs {
        let mut names: Vec<(&str, f64)> = shared
            .get(&(source, target))
            .into_iter()
            .flatten()
            .map(|&name| (name, rarities.get(name).copied().unwrap_or(0.0)))
            .collect();
        names.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
        let common: f64 = names.iter().map(|name| name.1).sum();
        let all = own.get(source).zip(own.get(target)).map_or(0.0, |(a, b)| a + b - common);
        let overlap = if all > 0.0 { common / all } else { 0.0 };
        let weight = HALF * nearness(similarity) + HALF * overlap.sqrt();
        let is_near = match threshold {
            Some(threshold) => common > 0.0 || similarity.is_some_and(|similarity| similarity >= threshold),
            None => weight >= LIGHTEST,
        };
        if is_near && weight > 0.0 {
            let shared = names.into_iter().take(LISTED).map(|name| name.0.to_owned()).collect();
            edges.push(Edge { source, target, weight, similarity, shared });
        }
    }
    edges.sort_by(|a, b| {
        b.weight.total_cmp(&a.weight).then(a.source.cmp(&b.source)).then(a.target.cmp(&b.target))
    });
    let mut kept = vec![0usize; documents.len()];
    edges.retain(|edge| {
        let room = [edge.source, edge.target].iter().any(|&end| kept.get(end).is_some_and(|n| *n < PER_NODE));
        if room {
            for end in [edge.source, edge.target] {
                if let Some(count) = kept.get_mut(end) {
                    *count += 1;
                }
            }
        }
        room
    });
    let threshold = threshold.or_else(|| distribution.map(|distribution| distribution.usual_threshold()));
    Graph { edges, distribution, threshold, threshold_weight: HALF * nearness(threshold) }
}

fn unit(vector: &[f32]) -> Vec<f32> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 && length.is_finite() {
        vector.iter().map(|x| x / length).collect()
    } else {
        Vec::new()
    }
}

fn dot(one: &[f32], other: &[f32]) -> f64 {
    // In lanes: the compiler may not reorder the sum of a plain loop.
    let mut lanes = [0.0f32; 8];
    let (a, b) = (one.chunks_exact(8), other.chunks_exact(8));
    let rest: f32 = a.remainder().iter().zip(b.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a.zip(b) {
        for (lane, (x, y)) in lanes.iter_mut().zip(x.iter().zip(y)) {
            *lane += x * y;
        }
    }
    f64::from(lanes.iter().sum::<f32>() + rest)
}

fn measure(similarities: impl Iterator<Item = f64>) -> Option<Distribution> {
    let (mut count, mut sum, mut squares) = (0.0f64, 0.0f64, 0.0f64);
    let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
    for similarity in similarities {
        count += 1.0;
        sum += similarity;
        squares += similarity * similarity;
        min = min.min(similarity);
        max = max.max(similarity);
    }
    (count > 0.0).then(|| {
        let mean = sum / count;
        Distribution { min, mean, deviation: (squares / count - mean * mean).max(0.0).sqrt(), max }
    })
}

/// ln(n / df) / ln(n): 1 for a name of one document, 0 for one of all. Of two documents, a name in both counts half.
fn rarities(documents: &[Document]) -> HashMap<&str, f64> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for name in documents.iter().flat_map(|document| &document.names) {
        *counts.entry(name).or_default() += 1;
    }
    let n = documents.len() as f64;
    // One more than there are, so that small graphs have edges at all.
    counts.into_iter().map(|(name, df)| (name, ((n + 1.0) / df as f64).ln() / (n + 1.0).ln())).collect()
}

/// Most documents a name joins: one in more is everywhere and joins nothing.
const WIDEST: usize = 64;

/// The names of each pair that has some, by going through the documents of each name.
fn shared_names(documents: &[Document]) -> HashMap<(usize, usize), Vec<&str>> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (place, document) in documents.iter().enumerate() {
        for name in &document.names {
            let list = places.entry(name).or_default();
            if list.last() != Some(&place) {
                list.push(place);
            }
        }
    }
    let mut shared: HashMap<(usize, usize), Vec<&str>> = HashMap::new();
    for (name, list) in places {
        if list.len() > WIDEST {
            continue;
        }
        for (nth, &source) in list.iter().enumerate() {
            for &target in list.iter().skip(nth + 1) {
                shared.entry((source, target)).or_default().push(name);
            }
        }
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn document(centroid: &[f32], names: &[&str]) -> Document {
        Document { centroid: centroid.to_vec(), names: names.iter().map(|name| (*name).to_owned()).collect() }
    }

    #[test]
    fn nothing_and_one_document_have_no_edges() {
        assert!(build(&[], None).edges.is_empty());
        let one = build(&[document(&[1.0, 0.0], &["rss"])], None);
        assert!(one.edges.is_empty() && one.distribution.is_none());
    }

    #[test]
    fn rare_names_join_more_than_frequent_ones() {
        let mut documents = vec![document(&[], &["api", "topic 1"]), document(&[], &["api", "topic 1"])];
        documents.extend((0..10).map(|n| document(&[], &["api", ["x", "y"][n % 2]])));
        let graph = build(&documents, None);
        let weight = |source, target| {
            graph.edges.iter().find(|e| (e.source, e.target) == (source, target)).map_or(0.0, |e| e.weight)
        };
        assert!(weight(0, 1) > weight(0, 2));
        assert_eq!(
            graph.edges.iter().find(|e| e.target == 1).map(|e| e.shared.clone()).unwrap_or_default(),
            ["topic 1", "api"]
        );
    }

    #[test]
    fn what_is_near_is_measured_against_the_others() {
        // All cosines are high; the one pair that stands out is joined.
        let documents: Vec<Document> = (0..12)
            .map(|n| {
                let mut centroid = vec![3.0f32; 12];
                centroid[if n == 11 { 10 } else { n }] += 2.0;
                document(&centroid, &[])
            })
            .collect();
        let graph = build(&documents, None);
        assert_eq!((graph.edges[0].source, graph.edges[0].target), (10, 11));
        assert_eq!(graph.edges.len(), 1);
        let threshold = graph.threshold.unwrap_or(0.0);
        assert!(graph.edges[0].similarity.unwrap_or(0.0) >= threshold);
        let all = build(&documents, Some(0.0));
        assert!(all.edges.len() == 1, "without nearness an edge has no weight");
    }

    #[test]
    fn vectors_of_other_lengths_and_zero_vectors_are_not_compared() {
        let graph =
            build(&[document(&[1.0, 0.0], &[]), document(&[1.0], &[]), document(&[0.0, 0.0], &[])], None);
        assert!(graph.edges.is_empty() && graph.distribution.is_none());
    }

    proptest! {
        #[test]
        fn weights_are_bounded_and_edges_few(
            vectors in prop::collection::vec(prop::collection::vec(-1.0f32..1.0, 16), 0..40),
            names in prop::collection::vec(prop::collection::vec("[a-e]", 0..4), 40),
        ) {
            let documents: Vec<Document> = vectors
                .into_iter()
                .zip(names)
                .map(|(centroid, mut names)| {
                    names.sort();
                    names.dedup();
                    Document { centroid, names }
                })
                .collect();
            let graph = build(&documents, None);
            prop_assert!(graph.edges.len() <= documents.len() * PER_NODE);
            for edge in &graph.edges {
                prop_assert!(edge.source < edge.target && edge.target < documents.len());
                prop_assert!((0.0..=1.0).contains(&edge.weight));
            }
            prop_assert!(graph.edges.windows(2).all(|w| w[0].weight >= w[1].weight));
        }
    }
}
