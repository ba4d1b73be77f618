//! Chunks of one path become one result, which the path's best chunk stands for.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use crate::rank::order_with_evidence;
use crate::Fused;

/// What a path scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathScore {
    /// As much as its best chunk.
    Best,
    /// The sum of its chunks. Ranks fuse to scores that lie close together, so a path with many chunks in reach
    /// beats one with few, whatever they say.
    Sum,
}

/// One path of the result.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The chunk with the highest score of its own (ties: the lowest id), as it was fused.
    pub best: Fused,
    /// The path's other chunks, the best first.
    pub others: VecDeque<Fused>,
    /// Score of the path.
    pub score: f64,
    /// Evidence of the chunks that score, which decides between equal scores.
    pub evidence: f64,
}

impl Group {
    /// A row on its own.
    pub fn of(row: Fused) -> Self {
        Self { best: row, others: VecDeque::new(), score: row.score, evidence: row.evidence }
    }

    /// Lets the next chunk stand for the path, for the score of which nothing changes. False if there is none.
    pub fn show_next(&mut self) -> bool {
        match self.others.pop_front() {
            Some(next) => {
                self.best = next;
                true
            }
            None => false,
        }
    }
}

/// Groups a fused list by the key `group_of` gives for a row; a row without a key is its own group.
///
/// `group_of` is asked once per row. Groups come back with the score falling, ties by evidence, then by the id of the best chunk rising.
pub fn collapse<K: Eq + Hash>(
    fused: &[Fused],
    score: PathScore,
    mut group_of: impl FnMut(i64) -> Option<K>,
) -> Vec<Group> {
    let mut rows: Vec<Fused> = fused.to_vec();
    // In order, the first chunk of a group is its best, and sums do not depend on the caller's order.
    rows.sort_unstable_by(|a, b| {
        order_with_evidence((a.score, a.evidence, a.id), (b.score, b.evidence, b.id))
    });
    let mut places: HashMap<K, usize> = HashMap::new();
    let mut groups: Vec<Group> = Vec::with_capacity(rows.len());
    for row in rows {
        let next = groups.len();
        let place = group_of(row.id).map_or(next, |key| *places.entry(key).or_insert(next));
        match groups.get_mut(place) {
            Some(group) => {
                if score == PathScore::Sum {
                    group.score += row.score;
                    group.evidence += row.evidence;
                }
                group.others.push_back(row);
            }
            None => groups.push(Group::of(row)),
        }
    }
    groups.sort_unstable_by(|a, b| {
        order_with_evidence((a.score, a.evidence, a.best.id), (b.score, b.evidence, b.best.id))
    });
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row(id: i64, score: f64) -> Fused {
        Fused {
            id,
            score,
            evidence: 0.0,
            vector_rank: Some(1),
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

    fn two_paths(id: i64) -> Option<&'static str> {
        match id {
            2 | 3 => Some("b.md"),
            1 => Some("a.md"),
            _ => None,
        }
    }

    #[test]
    fn a_path_scores_as_its_best_chunk() {
        let fused = [row(1, 0.5), row(2, 0.4), row(3, 0.3), row(4, 0.1)];
        let groups = collapse(&fused, PathScore::Best, two_paths);
        let shown: Vec<_> = groups.iter().map(|g| (g.best.id, g.others.len(), g.score)).collect();
        assert_eq!(shown, [(1, 0, 0.5), (2, 1, 0.4), (4, 0, 0.1)]);
    }

    #[test]
    fn chunks_of_a_path_are_summed_where_asked() {
        let fused = [row(1, 0.5), row(2, 0.4), row(3, 0.3), row(4, 0.1)];
        let groups = collapse(&fused, PathScore::Sum, two_paths);
        let shown: Vec<_> = groups.iter().map(|g| (g.best.id, g.others.len())).collect();
        assert_eq!(shown, [(2, 1), (1, 0), (4, 0)]);
        assert!(groups.first().is_some_and(|g| (g.score - 0.7).abs() < 1e-12 && g.best.score == 0.4));
    }

    #[test]
    fn rows_without_a_path_stay_apart() {
        let groups = collapse(&[row(1, 0.2), row(2, 0.2)], PathScore::Best, |_| None::<u8>);
        assert_eq!(groups.iter().map(|g| g.best.id).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn equal_chunks_are_represented_by_the_lowest_id() {
        let groups = collapse(&[row(9, 0.2), row(4, 0.2)], PathScore::Best, |_| Some(()));
        assert_eq!(groups.iter().map(|g| (g.best.id, g.others.len())).collect::<Vec<_>>(), [(4, 1)]);
    }

    #[test]
    fn another_chunk_can_stand_for_a_path() {
        let groups = collapse(&[row(1, 0.5), row(2, 0.4), row(3, 0.3)], PathScore::Best, |_| Some(()));
        for mut group in groups {
            let mut shown = vec![group.best.id];
            while group.show_next() {
                shown.push(group.best.id);
            }
            assert_eq!((shown, group.score), (vec![1, 2, 3], 0.5));
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_order_does_not_matter(
            scores in proptest::collection::vec(0u8..20, 0..50), keys in 1i64..9,
        ) {
            let fused: Vec<Fused> =
                (0..).zip(&scores).map(|(id, &score)| row(id, f64::from(score) / 3.0)).collect();
            let backwards: Vec<Fused> = fused.iter().rev().copied().collect();
            let key = |id: i64| (id % keys != 0).then_some(id % keys);
            for score in [PathScore::Best, PathScore::Sum] {
                let groups = collapse(&fused, score, key);
                prop_assert_eq!(&groups, &collapse(&backwards, score, key));
                prop_assert_eq!(groups.iter().map(|g| 1 + g.others.len()).sum::<usize>(), fused.len());
                prop_assert!(groups.windows(2).all(|w| w[0].score >= w[1].score));
                prop_assert!(groups.iter().all(|g| g.score >= g.best.score));
            }
            let groups = collapse(&fused, PathScore::Sum, key);
            let total: f64 = fused.iter().map(|row| row.score).sum();
            let grouped: f64 = groups.iter().map(|group| group.score).sum();
            prop_assert!((total - grouped).abs() < 1e-9);
        }
    }
}
