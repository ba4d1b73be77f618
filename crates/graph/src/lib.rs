//! Documents and what they have in common, as a weighted graph.
//!
//! Two documents are near if their vectors are, measured against the other pairs of the same graph: cosines of a
//! model are compressed into a narrow band, so no constant tells what is near. And they are near if they share
//! names, rare ones more than frequent ones.
//!
//! What it does not do: it reads nothing and draws nothing. What must hold: the result depends on the documents
//! alone, not on their order; every pair is compared once, n² / 2 distances, so callers bound n; edges are bounded
//! by [`PER_NODE`] times n, and memory by four bytes a pair. The caller is asked before each document whether to go on.
#![forbid(unsafe_code)]

use std::collections::HashMap;

use memory_link::sameness;

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
    /// Names in it, by numbers that are the same in all documents.
    pub names: Vec<u32>,
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
    /// Names both have, rarest first, then by number; at most five.
    pub shared: Vec<u32>,
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
    /// How near a similarity is, from 0 at the mean to 1. Documents that are the same are near even where all are.
    pub fn nearness(&self, similarity: f64) -> f64 {
        let measured = if self.deviation > 0.0 {
            ((similarity - self.mean) / (NEAR * self.deviation)).clamp(0.0, 1.0)
        } else {
            0.0
        };
        measured.max(sameness(similarity))
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

/// Compares all pairs. With a `threshold` those that similar are joined, whatever the others are like, and those with
/// a name in common; without one lighter edges are there too, for who wants to see more. `go_on` is called before each
/// document, for the caller to end it all.
pub fn build(documents: &[Document], threshold: Option<f64>, mut go_on: impl FnMut()) -> Graph {
    let similarities = similarities(documents, &mut go_on);
    let distribution =
        measure(similarities.iter().flatten().map(|&cosine| f64::from(cosine)).filter(|x| !x.is_nan()));
    let nearness = |similarity: Option<f64>| match (&distribution, similarity) {
        (Some(distribution), Some(similarity)) => distribution.nearness(similarity),
        _ => 0.0,
    };
    let names = Names::of(documents);
    let mut best: Vec<Vec<Edge>> = vec![Vec::new(); documents.len()];
    let mut common = vec![0.0; documents.len()];
    for (source, row) in similarities.iter().enumerate() {
        go_on();
        names.in_common(source, &mut common);
        for (target, &cosine) in (source + 1..).zip(row) {
            let similarity = (!cosine.is_nan()).then_some(f64::from(cosine));
            let shared = common.get(target).copied().unwrap_or(0.0);
            let all = names.weight_of(source) + names.weight_of(target) - shared;
            let overlap = if all > 0.0 { shared / all } else { 0.0 };
            let weight = HALF * nearness(similarity) + HALF * overlap.sqrt();
            let given = threshold.is_some_and(|at| similarity.is_some_and(|similarity| similarity >= at));
            let weight = if given { weight.max(LIGHTEST) } else { weight };
            let joined = if threshold.is_some() { given || shared > 0.0 } else { weight >= LIGHTEST };
            if joined && weight > 0.0 {
                let edge = Edge { source, target, weight, similarity, shared: Vec::new() };
                for end in [source, target] {
                    if let Some(best) = best.get_mut(end) {
                        keep(best, &edge);
                    }
                }
            }
        }
    }
    // Of each document its own best: an edge is there if it is among those of either end.
    let mut edges: Vec<Edge> = best.into_iter().flatten().collect();
    edges.sort_by(Edge::heavier);
    edges.dedup_by_key(|edge| (edge.source, edge.target));
    for edge in &mut edges {
        edge.shared = names.shared(edge.source, edge.target);
    }
    let threshold = threshold.or_else(|| distribution.map(|distribution| distribution.usual_threshold()));
    Graph { edges, distribution, threshold, threshold_weight: HALF * nearness(threshold) }
}

impl Edge {
    /// Heaviest first, then by source and target.
    fn heavier(a: &Edge, b: &Edge) -> std::cmp::Ordering {
        b.weight.total_cmp(&a.weight).then(a.source.cmp(&b.source)).then(a.target.cmp(&b.target))
    }
}

/// Puts the edge into its place among the best of a document.
fn keep(best: &mut Vec<Edge>, edge: &Edge) {
    let place = best.partition_point(|other| Edge::heavier(other, edge).is_lt());
    if place < PER_NODE {
        best.truncate(PER_NODE - 1);
        best.insert(place, edge.clone());
    }
}

/// The cosines of each document with those behind it; not a number where there is none.
fn similarities(documents: &[Document], go_on: &mut impl FnMut()) -> Vec<Vec<f32>> {
    let units: Vec<Vec<f32>> = documents.iter().map(|document| unit(&document.centroid)).collect();
    let mut rows = Vec::with_capacity(units.len());
    for (source, one) in units.iter().enumerate() {
        go_on();
        let behind = units.iter().skip(source + 1);
        let cosine = |other: &Vec<f32>| {
            if one.is_empty() || one.len() != other.len() {
                f32::NAN
            } else {
                dot(one, other)
            }
        };
        rows.push(behind.map(cosine).collect());
    }
    rows
}

fn unit(vector: &[f32]) -> Vec<f32> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 && length.is_finite() {
        vector.iter().map(|x| x / length).collect()
    } else {
        Vec::new()
    }
}

fn dot(one: &[f32], other: &[f32]) -> f32 {
    // In lanes: the compiler may not reorder the sum of a plain loop.
    let mut lanes = [0.0f32; 8];
    let (a, b) = (one.chunks_exact(8), other.chunks_exact(8));
    let rest: f32 = a.remainder().iter().zip(b.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a.zip(b) {
        for (lane, (x, y)) in lanes.iter_mut().zip(x.iter().zip(y)) {
            *lane += x * y;
        }
    }
    (lanes.iter().sum::<f32>() + rest).clamp(-1.0, 1.0)
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

/// Most documents a name joins: one in more is everywhere and joins nothing.
const WIDEST: usize = 64;

/// Which names join which documents.
struct Names {
    /// Names of each document, ascending.
    of_document: Vec<Vec<u32>>,
    /// Documents of each name, ascending; none of a name that is everywhere.
    documents: HashMap<u32, Vec<usize>>,
    rarities: HashMap<u32, f64>,
    /// Sums of the rarities of each document.
    weights: Vec<f64>,
}

impl Names {
    fn of(documents: &[Document]) -> Names {
        let mut of_document: Vec<Vec<u32>> = Vec::with_capacity(documents.len());
        let mut places: HashMap<u32, Vec<usize>> = HashMap::new();
        for (place, document) in documents.iter().enumerate() {
            let mut names = document.names.clone();
            names.sort_unstable();
            names.dedup();
            for name in &names {
                places.entry(*name).or_default().push(place);
            }
            of_document.push(names);
        }
        // ln(n / df) / ln(n): 1 for a name of one document, 0 for one of all. One more than there are, so that small
        // graphs have edges at all: of two documents, a name in both counts half.
        let n = documents.len() as f64 + 1.0;
        let rarities: HashMap<u32, f64> =
            places.iter().map(|(name, list)| (*name, (n / list.len() as f64).ln() / n.ln())).collect();
        let weight = |names: &Vec<u32>| names.iter().filter_map(|name| rarities.get(name)).sum();
        let weights = of_document.iter().map(weight).collect();
        places.retain(|_, list| list.len() <= WIDEST);
        Names { of_document, documents: places, rarities, weights }
    }

    fn weight_of(&self, document: usize) -> f64 {
        self.weights.get(document).copied().unwrap_or(0.0)
    }

    /// What each document behind `source` has in common with it, by weight.
    fn in_common(&self, source: usize, common: &mut [f64]) {
        common.fill(0.0);
        for name in self.of_document.get(source).into_iter().flatten() {
            let Some(list) = self.documents.get(name) else { continue };
            let rarity = self.rarities.get(name).copied().unwrap_or(0.0);
            for target in list.iter().rev().take_while(|target| **target > source) {
                if let Some(common) = common.get_mut(*target) {
                    *common += rarity;
                }
            }
        }
    }

    /// The rarest names both documents have.
    fn shared(&self, source: usize, target: usize) -> Vec<u32> {
        let (Some(one), Some(other)) = (self.of_document.get(source), self.of_document.get(target)) else {
            return Vec::new();
        };
        let both = one.iter().filter(|name| other.binary_search(name).is_ok());
        let mut names: Vec<(u32, f64)> = both
            .filter(|name| self.documents.contains_key(name))
            .map(|name| (*name, self.rarities.get(name).copied().unwrap_or(0.0)))
            .collect();
        names.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        names.into_iter().take(LISTED).map(|name| name.0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn document(centroid: &[f32], names: &[u32]) -> Document {
        Document { centroid: centroid.to_vec(), names: names.to_vec() }
    }

    fn build(documents: &[Document], threshold: Option<f64>) -> Graph {
        super::build(documents, threshold, || ())
    }

    fn pairs(graph: &Graph) -> Vec<(usize, usize)> {
        let mut pairs: Vec<_> = graph.edges.iter().map(|edge| (edge.source, edge.target)).collect();
        pairs.sort_unstable();
        pairs
    }

    #[test]
    fn nothing_and_one_document_have_no_edges() {
        assert!(build(&[], None).edges.is_empty());
        let one = build(&[document(&[1.0, 0.0], &[7])], None);
        assert!(one.edges.is_empty() && one.distribution.is_none());
    }

    #[test]
    fn rare_names_join_more_than_frequent_ones() {
        let mut documents = vec![document(&[], &[1, 2]), document(&[], &[1, 2])];
        documents.extend((0..10).map(|n| document(&[], &[1, [3, 4][n % 2]])));
        let graph = build(&documents, None);
        let weight = |source, target| {
            graph.edges.iter().find(|e| (e.source, e.target) == (source, target)).map_or(0.0, |e| e.weight)
        };
        assert!(weight(0, 1) > weight(0, 2));
        assert_eq!(
            graph.edges.iter().find(|e| e.target == 1).map(|e| e.shared.clone()).unwrap_or_default(),
            [2, 1]
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
    }

    #[test]
    fn a_given_threshold_joins_whatever_the_others_are_like() {
        // One pair has no deviation; of three pairs, one is always below the mean.
        let two = [document(&[1.0, 0.1], &[]), document(&[1.0, 0.0], &[])];
        assert_eq!(pairs(&build(&two, Some(0.5))), [(0, 1)]);
        assert!(build(&two, Some(0.999)).edges.is_empty());
        let three = [two.as_slice(), &[document(&[1.0, 0.5], &[])]].concat();
        let graph = build(&three, Some(0.5));
        assert_eq!(pairs(&graph), [(0, 1), (0, 2), (1, 2)]);
        assert!(graph
            .edges
            .iter()
            .all(|edge| edge.weight >= graph.threshold_weight && edge.weight >= LIGHTEST));
    }

    #[test]
    fn the_same_documents_are_near() {
        for count in [2, 3, 60] {
            let graph = build(&vec![document(&[0.6, 0.8], &[]); count], None);
            assert!(
                graph.edges.len() >= count - 1 && graph.edges.iter().all(|edge| edge.weight > 0.4),
                "{count}"
            );
            assert!(graph.threshold_weight <= graph.edges[0].weight + 1e-6);
        }
    }

    #[test]
    fn the_caller_is_asked() {
        let mut asked = 0;
        super::build(&vec![document(&[0.6, 0.8], &[1]); 5], None, || asked += 1);
        assert_eq!(asked, 10);
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
            names in prop::collection::vec(prop::collection::vec(0u32..5, 0..4), 40),
        ) {
            let documents: Vec<Document> = vectors
                .into_iter()
                .zip(names)
                .map(|(centroid, names)| Document { centroid, names })
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
