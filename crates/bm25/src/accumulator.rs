//! Collects the documents of one query and picks the best.
//!
//! The number of documents with a term is known only after the last candidate, so candidates are stored
//! first (12 bytes each, and 8 per term they contain) and scored in [`Accumulator::finish`]. It does not
//! read documents and does not fetch rows; memory grows with the candidates, nothing else does.

use std::cmp::Ordering;

use crate::{Params, Scorer, Stats};

/// One scored document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The id the document was pushed with.
    pub id: i64,
    /// BM25 score, finite and > 0; higher is better.
    pub score: f64,
}

impl Hit {
    /// Best first: score falling, then id rising.
    fn order(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(self.id.cmp(&other.id))
    }
}

#[derive(Debug, Clone, Copy)]
struct Candidate {
    id: i64,
    len: u32,
}

/// The candidates of one query. Every id may be pushed once.
#[derive(Debug, Clone)]
pub struct Accumulator {
    candidates: Vec<Candidate>,
    /// Where the candidate's part of `frequencies` ends; it starts where the one before ends.
    ends: Vec<usize>,
    /// (index of the query term, its frequency), in the order of the terms, zeros left out.
    frequencies: Vec<(u32, u32)>,
    dfs: Vec<u64>,
}

impl Accumulator {
    /// For a query of `terms` distinct terms.
    pub fn new(terms: usize) -> Self {
        Self { candidates: Vec::new(), ends: Vec::new(), frequencies: Vec::new(), dfs: vec![0; terms] }
    }

    /// Adds a document of `len` terms with the frequency of each query term in it.
    ///
    /// A shorter slice means 0 for the rest, frequencies past the query's terms are ignored. A document
    /// without any query term is no candidate and is left out.
    pub fn push(&mut self, id: i64, len: u32, frequencies: &[u32]) {
        let start = self.frequencies.len();
        for ((term, df), &tf) in (0u32..).zip(self.dfs.iter_mut()).zip(frequencies) {
            if tf > 0 {
                *df += 1;
                self.frequencies.push((term, tf));
            }
        }
        if self.frequencies.len() > start {
            self.candidates.push(Candidate { id, len });
            self.ends.push(self.frequencies.len());
        }
    }

    /// Number of candidates so far.
    pub fn len(&self) -> usize {
        self.candidates.len()
    }

    /// Whether there is no candidate yet.
    pub fn is_empty(&self) -> bool {
        self.candidates.is_empty()
    }

    /// Number of candidates that contain each query term.
    pub fn dfs(&self) -> &[u64] {
        &self.dfs
    }

    /// The best `limit` candidates, with the document frequencies counted here.
    ///
    /// Right when every document of the collection `stats` describes that contains a term was pushed.
    pub fn finish(self, params: Params, stats: Stats, limit: usize) -> Vec<Hit> {
        let scorer = Scorer::new(params, stats, &self.dfs);
        self.finish_with(&scorer, limit)
    }

    /// The best `limit` candidates by `scorer`: for callers that pushed only a part of the collection (a
    /// filter) and take statistics and document frequencies from the whole.
    pub fn finish_with(self, scorer: &Scorer, limit: usize) -> Vec<Hit> {
        let mut start = 0;
        let mut hits: Vec<Hit> = Vec::with_capacity(self.candidates.len());
        for (candidate, &end) in self.candidates.iter().zip(&self.ends) {
            let frequencies = self.frequencies.get(start..end).unwrap_or_default();
            start = end;
            let score = scorer.score(candidate.len, frequencies.iter().map(|&(t, tf)| (t as usize, tf)));
            if score > 0.0 {
                hits.push(Hit { id: candidate.id, score });
            }
        }
        // Selecting before sorting keeps a query of 50 rows out of 100,000 candidates linear.
        if limit > 0 && limit < hits.len() {
            hits.select_nth_unstable_by(limit - 1, Hit::order);
        }
        hits.truncate(limit);
        hits.sort_unstable_by(Hit::order);
        hits
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_documents_with_a_term_come_back() {
        let mut found = Accumulator::new(2);
        found.push(1, 10, &[0, 0]);
        found.push(2, 10, &[]);
        found.push(3, 10, &[0, 1]);
        found.push(4, 0, &[0, 0, 9]);
        assert_eq!(found.len(), 1);
        assert_eq!(found.dfs(), [0, 1]);
        let hits = found.finish(Params::default(), Stats { docs: 4, total_len: 30 }, 10);
        assert_eq!(hits.iter().map(|h| h.id).collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn no_terms_no_candidates_no_room() {
        assert!(Accumulator::new(0).finish(Params::default(), Stats::default(), 5).is_empty());
        let mut found = Accumulator::new(1);
        found.push(1, 3, &[1]);
        assert!(!found.is_empty());
        assert!(found.finish(Params::default(), Stats { docs: 1, total_len: 3 }, 0).is_empty());
    }

    #[test]
    fn the_dense_document_beats_the_one_that_mentions_in_passing() {
        // Case S12: higher is better.
        let mut found = Accumulator::new(1);
        found.push(2, 14, &[1]);
        found.push(1, 4, &[3]);
        let hits = found.finish(Params::default(), Stats { docs: 2, total_len: 18 }, 2);
        assert_eq!(hits.iter().map(|h| h.id).collect::<Vec<_>>(), [1, 2]);
        assert!(hits[0].score > hits[1].score);
    }

    #[test]
    fn ties_go_to_the_lower_id_at_the_limit_too() {
        let mut found = Accumulator::new(1);
        for id in [9, -4, 7, 2, 5] {
            found.push(id, 8, &[1]);
        }
        let hits = found.finish(Params::default(), Stats { docs: 9, total_len: 80 }, 3);
        assert_eq!(hits.iter().map(|h| h.id).collect::<Vec<_>>(), [-4, 2, 5]);
    }

    #[test]
    fn a_filter_keeps_the_statistics_of_the_whole() {
        let stats = Stats { docs: 1000, total_len: 10_000 };
        let scorer = Scorer::new(Params::default(), stats, &[400, 2]);
        let mut found = Accumulator::new(2);
        found.push(1, 10, &[1, 0]);
        found.push(2, 10, &[0, 1]);
        let hits = found.finish_with(&scorer, 10);
        assert_eq!(hits.iter().map(|h| h.id).collect::<Vec<_>>(), [2, 1]);
    }

    type Doc = (u32, Vec<u32>);

    fn docs() -> impl Strategy<Value = Vec<Doc>> {
        let doc = (0u32..60, proptest::collection::vec(0u32..4, 4));
        proptest::collection::vec(doc, 0..80)
    }

    /// The formula of the module doc of `scorer`, written out without any of its shortcuts.
    fn brute_force(docs: &[(i64, Doc)], stats: Stats, limit: usize) -> Vec<Hit> {
        let average = stats.total_len as f64 / stats.docs.max(1) as f64;
        let mut hits = Vec::new();
        for (id, (len, tfs)) in docs {
            let mut score = 0.0;
            for (term, &tf) in tfs.iter().enumerate() {
                let df = docs.iter().filter(|(_, (_, tfs))| tfs[term] > 0).count() as f64;
                let idf = (1.0 + (stats.docs as f64 - df + 0.5) / (df + 0.5)).ln();
                let ratio = if average > 0.0 { f64::from(*len) / average } else { 1.0 };
                let tf = f64::from(tf);
                score += idf * (tf * 2.2) / (tf + 1.2 * (1.0 - 0.75 + 0.75 * ratio));
            }
            if tfs.iter().any(|&tf| tf > 0) {
                hits.push(Hit { id: *id, score });
            }
        }
        // Scores that differ by rounding alone are ties in one computation and not in the other.
        for hit in &mut hits {
            hit.score = (hit.score * 1e9).round();
        }
        hits.sort_by(Hit::order);
        hits.truncate(limit);
        hits
    }

    fn run(docs: &[(i64, Doc)], stats: Stats, limit: usize) -> Vec<Hit> {
        let mut found = Accumulator::new(4);
        for (id, (len, tfs)) in docs {
            found.push(*id, *len, tfs);
        }
        found.finish(Params::default(), stats, limit)
    }

    proptest! {
        #[test]
        fn equals_brute_force(docs in docs(), limit in 0usize..100) {
            let docs: Vec<(i64, Doc)> = (0..).zip(docs).collect();
            let total_len = docs.iter().map(|(_, (len, _))| u64::from(*len)).sum();
            let stats = Stats { docs: docs.len() as u64, total_len };
            let hits = run(&docs, stats, limit);
            let expected = brute_force(&docs, stats, limit);
            prop_assert_eq!(hits.len(), expected.len());
            for (hit, wanted) in hits.iter().zip(&expected) {
                prop_assert!(hit.score.is_finite() && hit.score > 0.0);
                prop_assert!((hit.score * 1e9 - wanted.score).abs() <= 1.0);
            }
        }

        #[test]
        fn order_of_arrival_does_not_matter(
            (docs, shuffled) in docs().prop_flat_map(|docs| {
                let docs: Vec<(i64, Doc)> = (0..).zip(docs).collect();
                (Just(docs.clone()), Just(docs).prop_shuffle())
            }),
            limit in 1usize..20,
        ) {
            let stats = Stats { docs: docs.len() as u64, total_len: 900 };
            prop_assert_eq!(run(&docs, stats, limit), run(&shuffled, stats, limit));
        }

        #[test]
        fn a_smaller_limit_is_a_prefix(docs in docs(), limit in 0usize..40) {
            let docs: Vec<(i64, Doc)> = (0..).zip(docs).collect();
            let stats = Stats { docs: docs.len() as u64, total_len: 900 };
            let all = run(&docs, stats, usize::MAX);
            let some = run(&docs, stats, limit);
            prop_assert_eq!(&all[..limit.min(all.len())], &some[..]);
        }
    }
}
