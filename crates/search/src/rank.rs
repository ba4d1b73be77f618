//! Ranks for the hits of one arm.

use std::cmp::Ordering;
use std::collections::HashSet;

/// A row that an arm found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The row.
    pub id: i64,
    /// The arm's own score, higher is better: cosine similarity or BM25.
    pub score: f64,
}

/// A hit with its place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// The row.
    pub id: i64,
    /// The arm's own score.
    pub score: f64,
    /// 1 for the best hit, then 2, 3, … without gaps.
    pub rank: u32,
}

/// Best first: score falling, then id rising.
pub(crate) fn order(a: (f64, i64), b: (f64, i64)) -> Ordering {
    // Adding zero turns -0 into 0, which `total_cmp` would tell apart.
    (b.0 + 0.0).total_cmp(&(a.0 + 0.0)).then(a.1.cmp(&b.1))
}

/// Best first, where scores may be equal that mean different things: then the evidence falling, then id rising.
pub(crate) fn order_with_evidence(a: (f64, f64, i64), b: (f64, f64, i64)) -> Ordering {
    (b.0 + 0.0).total_cmp(&(a.0 + 0.0)).then(order((a.1, a.2), (b.1, b.2)))
}

/// Puts hits in order (score falling, ties by id rising) and numbers them from 1.
///
/// Hits whose score is not finite are left out; of an id that comes more than once the best hit counts.
pub fn rank(hits: &[Hit]) -> Vec<Ranked> {
    let mut sorted: Vec<Hit> = hits.iter().copied().filter(|hit| hit.score.is_finite()).collect();
    sorted.sort_unstable_by(|a, b| order((a.score, a.id), (b.score, b.id)));
    let mut seen = HashSet::with_capacity(sorted.len());
    sorted.retain(|hit| seen.insert(hit.id));
    (1..).zip(sorted).map(|(rank, hit)| Ranked { id: hit.id, score: hit.score, rank }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ties_take_the_lower_id_first() {
        let hits = [(7, 0.5), (3, 0.5), (9, 0.9), (-1, 0.5)].map(|(id, score)| Hit { id, score });
        let ranks: Vec<_> = rank(&hits).iter().map(|r| (r.id, r.rank)).collect();
        assert_eq!(ranks, [(9, 1), (-1, 2), (3, 3), (7, 4)]);
    }

    #[test]
    fn zeros_of_either_sign_are_equal() {
        let hits = [(1, -0.0), (2, 0.0)].map(|(id, score)| Hit { id, score });
        assert_eq!(rank(&hits).iter().map(|r| r.id).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn scores_that_are_no_numbers_and_repeated_ids_are_dropped() {
        let hits = [(1, f64::NAN), (2, f64::INFINITY), (3, 0.1), (3, 0.4), (4, 0.2)];
        let ranks: Vec<_> =
            rank(&hits.map(|(id, score)| Hit { id, score })).iter().map(|r| (r.id, r.rank)).collect();
        assert_eq!(ranks, [(3, 1), (4, 2)]);
    }

    proptest! {
        #[test]
        fn ranks_have_no_gaps_and_need_no_order(
            hits in proptest::collection::vec((0i64..50, -3i32..3), 0..60).prop_flat_map(|pairs| {
                let hits: Vec<Hit> = pairs
                    .into_iter()
                    .map(|(id, score)| Hit { id, score: f64::from(score) })
                    .collect();
                (Just(hits.clone()), Just(hits).prop_shuffle())
            }),
        ) {
            let (given, shuffled) = hits;
            let ranked = rank(&given);
            prop_assert_eq!(&ranked, &rank(&shuffled));
            for (index, pair) in ranked.iter().enumerate() {
                prop_assert_eq!(pair.rank as usize, index + 1);
            }
            prop_assert!(ranked.windows(2).all(|w| w[0].score >= w[1].score));
        }
    }
}
