//! Ranked arms into one list: reciprocal rank fusion, or a convex sum of normalised scores.

use std::collections::HashMap;

use crate::rank::order_with_evidence;
use crate::{rank, Hit, Ranked};

/// The constant of reciprocal rank fusion: Cormack, Clarke & Büttcher (2009) found 60 robust.
pub const RANK_CONSTANT: f64 = 60.0;

/// How scores are fused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Σ weight / (constant + rank).
    Rrf,
    /// Σ weight · (score − min) / (max − min), minimum and maximum taken over the arm's hits; where all of
    /// them are equal, each counts as 1.
    Convex,
}

/// A method with its weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fusion {
    /// How scores are fused.
    pub method: Method,
    /// Weight of the vector arm, finite and >= 0.
    pub vector_weight: f64,
    /// Weight of the BM25 arm, finite and >= 0.
    pub bm25_weight: f64,
    /// Weight of the link arm, finite and >= 0; 0 where it does not take part.
    pub link_weight: f64,
    /// Added to a rank, finite and >= 0; used by [`Method::Rrf`] only.
    pub rank_constant: f64,
}

impl Fusion {
    /// Reciprocal rank fusion of vectors and words, each weighing 1.
    pub fn rrf() -> Self {
        Self {
            method: Method::Rrf,
            vector_weight: 1.0,
            bm25_weight: 1.0,
            link_weight: 0.0,
            rank_constant: RANK_CONSTANT,
        }
    }

    /// Convex sum of vectors and words, each weighing 0.5, so that 1 is the highest score there is.
    pub fn convex() -> Self {
        Self { method: Method::Convex, vector_weight: 0.5, bm25_weight: 0.5, ..Self::rrf() }
    }
}

/// A row of the fused list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fused {
    /// The row.
    pub id: i64,
    /// The fused score, higher is better.
    pub score: f64,
    /// Weighted sum of the arms' normalised scores. Ranks (1, 2) and (2, 1) fuse to the same score; the arm
    /// that sets its first hit further apart from the others is right more often.
    pub evidence: f64,
    /// Place in the vector arm, from 1; `None` if that arm does not have the row.
    pub vector_rank: Option<u32>,
    /// What the vector arm adds to the score.
    pub vector_term: Option<f64>,
    /// Place in the BM25 arm, from 1.
    pub bm25_rank: Option<u32>,
    /// Score of the vector arm.
    pub similarity: Option<f64>,
    /// Score of the BM25 arm.
    pub bm25_score: Option<f64>,
    /// What the BM25 arm adds to the score.
    pub bm25_term: Option<f64>,
    /// Place in the link arm, from 1.
    pub link_rank: Option<u32>,
    /// Score of the link arm.
    pub link_score: Option<f64>,
    /// What the link arm adds to the score.
    pub link_term: Option<f64>,
}

/// What the arms found; hits need no order, an arm that does not take part has none.
#[derive(Debug, Clone, Copy, Default)]
pub struct Arms<'a> {
    /// Rows near in meaning.
    pub vector: &'a [Hit],
    /// Rows with words of the question.
    pub bm25: &'a [Hit],
    /// Rows linked to the best of the other two.
    pub link: &'a [Hit],
}

/// Fuses the hits of the arms.
///
/// Every row of any arm comes back once, score falling, ties by evidence, then by id rising. Hits whose score is not
/// finite are ignored.
pub fn fuse(arms: Arms<'_>, fusion: &Fusion) -> Vec<Fused> {
    let mut rows: HashMap<i64, Fused> = HashMap::with_capacity(arms.vector.len() + arms.bm25.len());
    let mut add = |hits: &[Hit], weight: f64, place: fn(&mut Fused, &Ranked, f64)| {
        let hits = rank(hits);
        let share = Share::new(&hits, weight, fusion);
        let evidence = Share::new(&hits, weight, &Fusion { method: Method::Convex, ..*fusion });
        for hit in &hits {
            let row = rows.entry(hit.id).or_insert_with(|| empty(hit.id));
            let term = share.of(hit);
            place(row, hit, term);
            row.score += term;
            row.evidence += evidence.of(hit);
        }
    };
    add(arms.vector, fusion.vector_weight, |row, hit, term| {
        (row.vector_rank, row.similarity, row.vector_term) = (Some(hit.rank), Some(hit.score), Some(term));
    });
    add(arms.bm25, fusion.bm25_weight, |row, hit, term| {
        (row.bm25_rank, row.bm25_score, row.bm25_term) = (Some(hit.rank), Some(hit.score), Some(term));
    });
    add(arms.link, fusion.link_weight, |row, hit, term| {
        (row.link_rank, row.link_score, row.link_term) = (Some(hit.rank), Some(hit.score), Some(term));
    });
    let mut fused: Vec<Fused> = rows.into_values().collect();
    fused.sort_unstable_by(|a, b| {
        order_with_evidence((a.score, a.evidence, a.id), (b.score, b.evidence, b.id))
    });
    fused
}

fn empty(id: i64) -> Fused {
    Fused {
        id,
        score: 0.0,
        evidence: 0.0,
        vector_rank: None,
        bm25_rank: None,
        similarity: None,
        bm25_score: None,
        link_rank: None,
        link_score: None,
        vector_term: None,
        bm25_term: None,
        link_term: None,
    }
}

/// What one arm adds to the score of its hits.
enum Share {
    Rank { weight: f64, constant: f64 },
    Score { weight: f64, min: f64, span: f64 },
}

impl Share {
    fn new(hits: &[Ranked], weight: f64, fusion: &Fusion) -> Self {
        match fusion.method {
            Method::Rrf => Self::Rank { weight, constant: fusion.rank_constant },
            Method::Convex => {
                // Ranked hits fall in score, so the ends are the extremes.
                let max = hits.first().map_or(0.0, |hit| hit.score);
                let min = hits.last().map_or(0.0, |hit| hit.score);
                Self::Score { weight, min, span: max - min }
            }
        }
    }

    fn of(&self, hit: &Ranked) -> f64 {
        match *self {
            Self::Rank { weight, constant } => weight / (constant + f64::from(hit.rank)),
            Self::Score { weight, min, span } if span > 0.0 => weight * ((hit.score - min) / span),
            Self::Score { weight, .. } => weight,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn arm(ids: &[i64]) -> Vec<Hit> {
        (1u32..).zip(ids).map(|(n, &id)| Hit { id, score: 1.0 / f64::from(n) }).collect()
    }

    fn two(vector: &[Hit], bm25: &[Hit], fusion: &Fusion) -> Vec<Fused> {
        fuse(Arms { vector, bm25, link: &[] }, fusion)
    }

    fn score(fused: &[Fused], id: i64) -> f64 {
        fused.iter().find(|row| row.id == id).unwrap().score
    }

    #[test]
    fn reciprocal_ranks_to_the_digit() {
        // Case S10.
        let fused = two(&arm(&[1, 2]), &arm(&[1, 2]), &Fusion::rrf());
        assert!((score(&fused, 1) - 0.032_786_885_245_9).abs() < 1e-12);
        assert!((score(&fused, 1) - 2.0 / 61.0).abs() < 1e-15);
        assert!((score(&fused, 2) - 2.0 / 62.0).abs() < 1e-15);

        let crossed = two(&arm(&[4, 3]), &arm(&[3, 4]), &Fusion::rrf());
        assert!((score(&crossed, 3) - 0.032_522_474_881_0).abs() < 1e-12);
        assert_eq!(score(&crossed, 3), score(&crossed, 4), "ranks (1,2) and (2,1) are a tie");
        assert_eq!(
            crossed.iter().map(|row| row.id).collect::<Vec<_>>(),
            [3, 4],
            "all else alike, the lower id wins it"
        );
    }

    #[test]
    fn of_equal_scores_the_clearer_first_hit_wins() {
        let hits = |scores: &[(i64, f64)]| -> Vec<Hit> {
            scores.iter().map(|&(id, score)| Hit { id, score }).collect()
        };
        let vector = hits(&[(1, 0.90), (2, 0.89), (3, 0.50)]);
        let bm25 = hits(&[(2, 20.0), (1, 8.0), (4, 2.0)]);
        let fused = two(&vector, &bm25, &Fusion::rrf());
        assert_eq!(score(&fused, 1), score(&fused, 2));
        assert_eq!(fused.iter().take(2).map(|row| row.id).collect::<Vec<_>>(), [2, 1]);
    }

    #[test]
    fn a_row_of_one_arm_gets_nothing_from_the_other() {
        // Case S10: no invented last rank.
        let fused = two(&arm(&[5]), &arm(&[8, 9]), &Fusion::rrf());
        assert!((score(&fused, 5) - 0.016_393_442_623_0).abs() < 1e-12);
        assert_eq!(score(&fused, 5), 1.0 / 61.0);
        assert_eq!(score(&fused, 9), 1.0 / 62.0);
        let row = fused.iter().find(|row| row.id == 5).unwrap();
        assert_eq!((row.vector_rank, row.bm25_rank, row.bm25_score), (Some(1), None, None));
        assert_eq!(row.similarity, Some(1.0));
    }

    #[test]
    fn weights_and_constant_are_used() {
        let fusion = Fusion { vector_weight: 0.6, bm25_weight: 0.4, rank_constant: 9.0, ..Fusion::rrf() };
        let fused = two(&arm(&[1]), &arm(&[2, 1]), &fusion);
        assert!((score(&fused, 1) - (0.06 + 0.4 / 11.0)).abs() < 1e-15);
        assert!((score(&fused, 2) - 0.04).abs() < 1e-15);
    }

    #[test]
    fn convex_spreads_each_arm_over_zero_to_one() {
        let vector = [(1, 0.90), (2, 0.85), (3, 0.80)].map(|(id, score)| Hit { id, score });
        let bm25 = [(3, 12.0), (1, 2.0)].map(|(id, score)| Hit { id, score });
        let fused = two(&vector, &bm25, &Fusion::convex());
        assert!((score(&fused, 1) - 0.5).abs() < 1e-12);
        assert!((score(&fused, 2) - 0.25).abs() < 1e-12);
        assert!((score(&fused, 3) - 0.5).abs() < 1e-12);
        assert_eq!(fused.len(), 3, "a row that normalises to nothing is still a row");
    }

    #[test]
    fn convex_counts_an_arm_without_spread_as_one() {
        let single = [Hit { id: 1, score: 0.83 }];
        assert_eq!(score(&two(&single, &[], &Fusion::convex()), 1), 0.5);
        let equal = [Hit { id: 1, score: 3.0 }, Hit { id: 2, score: 3.0 }];
        let fused = two(&[], &equal, &Fusion::convex());
        assert_eq!((score(&fused, 1), score(&fused, 2)), (0.5, 0.5));
    }

    #[test]
    fn a_third_arm_adds_its_share() {
        let (vector, bm25, link) = (arm(&[1]), arm(&[1, 2]), arm(&[3, 2]));
        let arms = Arms { vector: &vector, bm25: &bm25, link: &link };
        let fused = fuse(arms, &Fusion { link_weight: 0.5, ..Fusion::rrf() });
        assert_eq!(fused.iter().map(|row| row.id).collect::<Vec<_>>(), [1, 2, 3]);
        assert!((score(&fused, 2) - (1.0 / 62.0 + 0.5 / 62.0)).abs() < 1e-15);
        assert!((score(&fused, 3) - 0.5 / 61.0).abs() < 1e-15);
        let linked = fused.iter().find(|row| row.id == 3).unwrap();
        assert_eq!((linked.vector_rank, linked.bm25_rank, linked.link_rank), (None, None, Some(1)));
    }

    #[test]
    fn nothing_fuses_to_nothing() {
        assert!(two(&[], &[], &Fusion::rrf()).is_empty());
        assert!(two(&[], &[], &Fusion::convex()).is_empty());
    }

    fn hits() -> impl Strategy<Value = Vec<Hit>> {
        proptest::collection::vec((0i64..40, 0u8..12), 0..40).prop_map(|pairs| {
            pairs.into_iter().map(|(id, score)| Hit { id, score: f64::from(score) / 7.0 }).collect()
        })
    }

    proptest! {
        #[test]
        fn a_fused_list_is_in_order_and_complete(vector in hits(), bm25 in hits(), convex: bool) {
            let fusion = if convex { Fusion::convex() } else { Fusion::rrf() };
            let fused = two(&vector, &bm25, &fusion);
            let key = |row: &Fused| (row.score, row.evidence, -row.id);
            prop_assert!(fused.windows(2).all(|w| key(&w[0]) > key(&w[1])));
            let mut ids: Vec<i64> = fused.iter().map(|row| row.id).collect();
            let mut wanted: Vec<i64> = vector.iter().chain(&bm25).map(|hit| hit.id).collect();
            ids.sort_unstable();
            wanted.sort_unstable();
            wanted.dedup();
            prop_assert_eq!(ids, wanted);
            for row in &fused {
                prop_assert!(row.score.is_finite() && row.score >= 0.0);
                prop_assert!(row.vector_rank.is_some() || row.bm25_rank.is_some());
                prop_assert_eq!(row.vector_rank.is_some(), row.similarity.is_some());
                prop_assert_eq!(row.bm25_rank.is_some(), row.bm25_score.is_some());
            }
        }

        #[test]
        fn the_order_hits_come_in_does_not_matter(vector in hits(), bm25 in hits()) {
            let reversed = |hits: &[Hit]| hits.iter().rev().copied().collect::<Vec<_>>();
            for fusion in [Fusion::rrf(), Fusion::convex()] {
                prop_assert_eq!(
                    two(&vector, &bm25, &fusion),
                    two(&reversed(&vector), &reversed(&bm25), &fusion)
                );
            }
        }
    }
}
