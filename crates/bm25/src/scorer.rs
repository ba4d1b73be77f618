//! The BM25 formula for one document.
//!
//! score(d) = Σ over query terms t in d of
//! idf(t) · tf · (k1 + 1) / (tf + k1 · (1 − b + b · len(d) / avg(len))),
//! after Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the
//! inverse document frequency of Lucene, which is never negative.

use std::fmt;

/// The two free parameters of BM25.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Params {
    k1: f64,
    b: f64,
}

impl Params {
    /// `k1` (saturation of term frequency) must be finite and >= 0, `b` (strength of the length
    /// normalisation) within 0 to 1; anything else could make a score infinite or negative.
    pub fn new(k1: f64, b: f64) -> Result<Self, ParamsError> {
        if !(k1.is_finite() && k1 >= 0.0) {
            return Err(ParamsError::K1(k1));
        }
        if !(0.0..=1.0).contains(&b) {
            return Err(ParamsError::B(b));
        }
        Ok(Self { k1, b })
    }

    /// Saturation of term frequency.
    pub fn k1(&self) -> f64 {
        self.k1
    }

    /// Strength of the length normalisation.
    pub fn b(&self) -> f64 {
        self.b
    }
}

impl Default for Params {
    /// 1.2 and 0.75, the values of Lucene and of most published figures.
    fn default() -> Self {
        Self { k1: 1.2, b: 0.75 }
    }
}

/// A parameter outside its range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ParamsError {
    /// `k1` is negative or not a number.
    K1(f64),
    /// `b` is outside 0 to 1.
    B(f64),
}

impl fmt::Display for ParamsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::K1(k1) => write!(f, "bm25 parameter k1 must be a finite number of at least 0, not {k1}"),
            Self::B(b) => write!(f, "bm25 parameter b must be between 0 and 1, not {b}"),
        }
    }
}

impl std::error::Error for ParamsError {}

/// Size of the collection the scores refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Number of documents, those without any term included.
    pub docs: u64,
    /// Sum of the lengths of all documents, in terms.
    pub total_len: u64,
}

impl Stats {
    /// Mean length of a document; 0 for an empty collection.
    fn average_len(self) -> f64 {
        if self.docs == 0 {
            0.0
        } else {
            self.total_len as f64 / self.docs as f64
        }
    }
}

/// Inverse document frequency ln(1 + (N − df + 0.5) / (df + 0.5)): always > 0 and finite.
///
/// Statistics can lag behind the documents; if `df` exceeds `docs`, the collection is taken to hold
/// `df` documents.
pub fn idf(docs: u64, df: u64) -> f64 {
    let missing = docs.saturating_sub(df) as f64;
    ((missing + 0.5) / (df as f64 + 0.5)).ln_1p()
}

/// BM25 for one query: everything that is the same for all documents is computed once.
#[derive(Debug, Clone)]
pub struct Scorer {
    k1: f64,
    /// k1 · (1 − b), the part of the length norm that no length changes.
    norm_base: f64,
    /// k1 · b / avg(len); 0 where there is no average, so that the norm becomes that of a mean document.
    norm_per_len: f64,
    idfs: Vec<f64>,
}

impl Scorer {
    /// `dfs` holds, per distinct query term, the number of documents that contain it.
    pub fn new(params: Params, stats: Stats, dfs: &[u64]) -> Self {
        let average = stats.average_len();
        let (norm_base, norm_per_len) = if average > 0.0 {
            (params.k1 * (1.0 - params.b), params.k1 * params.b / average)
        } else {
            (params.k1, 0.0)
        };
        let idfs = dfs.iter().map(|&df| idf(stats.docs, df)).collect();
        Self { k1: params.k1, norm_base, norm_per_len, idfs }
    }

    /// Score of a document of `len` terms from (index of the query term, its frequency in the document).
    ///
    /// Terms are summed in the given order; indexes past the query and frequencies of 0 add nothing. 0 means
    /// that the document contains no query term.
    pub fn score(&self, len: u32, frequencies: impl IntoIterator<Item = (usize, u32)>) -> f64 {
        let norm = self.norm_base + self.norm_per_len * f64::from(len);
        frequencies
            .into_iter()
            .filter(|&(_, tf)| tf > 0)
            .filter_map(|(term, tf)| self.idfs.get(term).map(|idf| (idf, f64::from(tf))))
            .map(|(idf, tf)| idf * tf * (self.k1 + 1.0) / (tf + norm))
            .sum()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn idf_is_the_non_negative_form() {
        assert!((idf(10, 3) - (1.0f64 + 7.5 / 3.5).ln()).abs() < 1e-12);
        assert!(idf(10, 10) > 0.0, "a term of every document still counts a little");
        assert!(idf(0, 5).is_finite() && idf(0, 5) > 0.0, "stale statistics stay harmless");
        assert!(idf(u64::MAX, 0).is_finite());
    }

    #[test]
    fn one_term_by_hand() {
        let stats = Stats { docs: 4, total_len: 40 };
        let scorer = Scorer::new(Params::default(), stats, &[2]);
        // idf = ln(1 + 2.5/2.5) = ln 2; tf 3, len 20, average 10: norm = 1.2 * (0.25 + 0.75 * 2) = 2.1
        let expected = std::f64::consts::LN_2 * 3.0 * 2.2 / (3.0 + 2.1);
        assert!((scorer.score(20, [(0, 3)]) - expected).abs() < 1e-12);
        assert_eq!(scorer.score(20, [(0, 0)]), 0.0);
        assert_eq!(scorer.score(20, [(7, 1)]), 0.0);
    }

    #[test]
    fn an_average_length_of_zero_divides_by_nothing() {
        for stats in [Stats::default(), Stats { docs: 5, total_len: 0 }] {
            let score = Scorer::new(Params::default(), stats, &[1]).score(0, [(0, 1)]);
            assert!(score.is_finite() && score > 0.0);
        }
    }

    #[test]
    fn parameters_outside_their_range_are_refused() {
        assert!(Params::new(1.2, 0.75).is_ok());
        assert!(Params::new(0.0, 0.0).is_ok() && Params::new(3.0, 1.0).is_ok());
        for k1 in [-0.1, f64::NAN, f64::INFINITY] {
            assert!(matches!(Params::new(k1, 0.5), Err(ParamsError::K1(_))));
        }
        for b in [-0.1, 1.1, f64::NAN] {
            assert!(matches!(Params::new(1.2, b), Err(ParamsError::B(_))));
        }
        assert_eq!(
            Params::new(1.0, 2.0).unwrap_err().to_string(),
            "bm25 parameter b must be between 0 and 1, not 2"
        );
    }

    proptest! {
        #[test]
        fn scores_are_finite_and_positive(
            k1 in 0.0f64..10.0, b in 0.0f64..=1.0, docs: u64, total_len: u64, df: u64, len: u32, tf in 1u32..,
        ) {
            let scorer = Scorer::new(Params::new(k1, b).unwrap(), Stats { docs, total_len }, &[df]);
            let score = scorer.score(len, [(0, tf)]);
            prop_assert!(score.is_finite() && score > 0.0, "{score}");
        }

        #[test]
        fn more_occurrences_never_lower_and_more_length_never_raises_a_score(
            tf in 1u32..1000, len in 0u32..100_000, more in 1u32..1000,
        ) {
            let scorer = Scorer::new(Params::default(), Stats { docs: 100, total_len: 5000 }, &[7]);
            prop_assert!(scorer.score(len, [(0, tf + more)]) >= scorer.score(len, [(0, tf)]));
            prop_assert!(scorer.score(len + more, [(0, tf)]) <= scorer.score(len, [(0, tf)]));
        }

        #[test]
        fn rarer_terms_weigh_more(docs in 2u64..1_000_000, df in 1u64..1_000_000) {
            prop_assume!(df < docs);
            prop_assert!(idf(docs, df) > idf(docs, df + 1));
        }
    }
}
