//! Rows spread evenly over a table by asking for few of them.
//!
//! Ids have holes: one row far ahead of the others, or ids that begin with the time. So it is asked where rows are: each
//! point between two known rows is answered by the rows at both sides of it, and the widest spaces that may hold more
//! rows are asked about next. Where ids lie close together the first round is enough.
//!
//! What must hold: the same answers give the same rows; every question lies between two known rows; each round either
//! finds a row or closes a space, so it ends.

/// Rows found so far, and where others may be.
#[derive(Debug)]
pub struct Spread {
    wanted: usize,
    /// Spaces between two known rows, ends included, in order.
    open: Vec<(i64, i64)>,
    asked: Vec<Question>,
    found: Vec<i64>,
    /// Rows beside those found, for the case that there are no others.
    beside: Vec<i64>,
}

/// Points within a space.
#[derive(Debug)]
struct Question {
    space: (i64, i64),
    points: Vec<i64>,
}

impl Spread {
    /// To find `wanted` rows of a table whose first and last are known.
    pub fn new(first: i64, last: i64, wanted: usize) -> Spread {
        let mut found = vec![first, last];
        found.dedup();
        Spread { wanted, open: vec![(first, last)], asked: Vec::new(), found, beside: Vec::new() }
    }

    /// Where to look next, ascending: for the first row at or behind each point, and the last one before it. Empty once
    /// there are enough, or no more.
    pub fn points(&mut self) -> Vec<i64> {
        self.asked.clear();
        let missing = self.wanted.saturating_sub(self.found.len());
        self.open.retain(|(low, high)| i128::from(*high) - i128::from(*low) > 1);
        if missing == 0 || self.open.is_empty() {
            if missing > 0 {
                self.found.append(&mut self.beside);
                self.found.sort_unstable();
                self.found.dedup();
            }
            return Vec::new();
        }
        // The widest first, each cut into as many pieces as it has a share of the whole width.
        let mut spaces = std::mem::take(&mut self.open);
        let width = |space: &(i64, i64)| i128::from(space.1) - i128::from(space.0);
        spaces.sort_by_key(|space| (std::cmp::Reverse(width(space)), space.0));
        let whole: i128 = spaces.iter().map(width).sum();
        let mut left = missing;
        for space in spaces {
            let share =
                (width(&space) * missing as i128 / whole).max(1).min(left as i128).min(width(&space) - 1);
            left -= usize::try_from(share).unwrap_or(left).min(left);
            let step = |nth: i128| i128::from(space.0) + width(&space) * nth / (share + 1);
            let mut points: Vec<i64> = (1..=share)
                .filter_map(|nth| i64::try_from(step(nth)).ok())
                .filter(|at| *at > space.0)
                .collect();
            points.dedup();
            if points.is_empty() {
                // For later, if others close.
                self.open.push(space);
            } else {
                self.asked.push(Question { space, points });
            }
        }
        self.asked.sort_by_key(|question| question.space.0);
        self.asked.iter().flat_map(|question| question.points.iter().copied()).collect()
    }

    /// Takes the answers to [`Spread::points`], in their order: the last row before each point, and the first at or
    /// behind it.
    pub fn answer(&mut self, answers: &[(i64, i64)]) {
        let mut answers = answers.iter().copied();
        for Question { space, points } in self.asked.drain(..) {
            let mut low = space.0;
            for (before, behind) in answers.by_ref().take(points.len()) {
                if before > low {
                    self.open.push((low, before));
                    self.beside.push(before);
                }
                self.found.push(behind);
                low = low.max(behind);
            }
            if space.1 > low {
                self.open.push((low, space.1));
            }
        }
        self.found.sort_unstable();
        self.found.dedup();
    }

    /// The rows found, ascending.
    pub fn found(&self) -> &[i64] {
        &self.found
    }
}

#[cfg(test)]
mod tests {
    use super::Spread;
    use proptest::prelude::*;

    /// The rows found, and in how many rounds.
    fn spread(rows: &[i64], wanted: usize) -> (Vec<i64>, usize) {
        let mut spread = Spread::new(rows[0], *rows.last().unwrap(), wanted);
        for round in 0.. {
            let points = spread.points();
            if points.is_empty() {
                return (spread.found().to_vec(), round);
            }
            assert!(points.is_sorted() && points.len() <= wanted && round < 200, "{points:?}");
            let answers: Vec<(i64, i64)> = points
                .iter()
                .map(|point| {
                    let behind = rows.partition_point(|row| row < point);
                    (rows[behind - 1], rows[behind])
                })
                .collect();
            spread.answer(&answers);
        }
        unreachable!()
    }

    #[test]
    fn close_rows_take_one_round() {
        let rows: Vec<i64> = (1..=100_000).collect();
        let (found, rounds) = spread(&rows, 64);
        assert_eq!((found.len(), rounds), (64, 1));
        assert!(found.windows(2).all(|pair| (1_400..1_800).contains(&(pair[1] - pair[0]))));
    }

    #[test]
    fn a_row_far_away_hides_none() {
        for far in [1_000_000_000, i64::MAX] {
            let mut rows: Vec<i64> = (1..=200).collect();
            rows.push(far);
            rows.insert(0, -far);
            let (found, rounds) = spread(&rows, 64);
            assert!(found.len() >= 64 && rounds <= 6, "{} in {rounds}", found.len());
        }
        // Numbers that begin with the time, a few at a time.
        let rows: Vec<i64> =
            (0..300).map(|n| ((1_700_000_000_000 + (n / 7) * 86_400_000) << 22) + n).collect();
        assert!(spread(&rows, 64).0.len() >= 64);
    }

    proptest! {
        #[test]
        fn enough_are_found_or_all(rows in prop::collection::btree_set(any::<i64>(), 1..200), near in any::<bool>()) {
            let rows: Vec<i64> = rows.into_iter().map(|row| if near { row >> 50 } else { row }).collect();
            let mut rows = rows;
            rows.dedup();
            let (found, _) = spread(&rows, 64);
            prop_assert!(found.len() >= 64.min(rows.len()), "{} of {}", found.len(), rows.len());
            prop_assert!(found.iter().all(|row| rows.binary_search(row).is_ok()));
        }
    }
}
