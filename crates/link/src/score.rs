//! How closely two texts are related: formulas only, simple enough to be written in SQL as well.
//!
//! What must hold: every result is between 0 and 1 whatever goes in; relatedness is symmetric, grows with what
//! is shared, falls with what is not, and is next to nothing if only what everything has is shared.

/// Up to so many texts a name is no hub, however small the store is.
const NO_HUB: f64 = 8.0;

/// Standard deviations above the mean similarity of unrelated texts at which two texts begin to be near: the
/// nearest of forty unrelated pairs get there.
const NEAR_FROM: f64 = 2.0;

/// Standard deviations at which they cannot be nearer; unrelated texts never get there.
const NEAR_TO: f64 = 5.0;

/// Cosine from which two texts are the same but for details, whatever the model and the other texts.
const SAME_FROM: f64 = 0.99;

/// What nearness alone can make of two texts that share no name.
const NEARNESS_WEIGHT: f64 = 0.5;

/// What a common file adds to texts that are related without it.
const SAME_PATH_BONUS: f64 = 0.25;

/// The weight of a name that occurs in `document_frequency` of `documents` texts.
///
/// 1 up to 8 texts, 0 if it occurs in all of more, in between `(ln(N / df) / ln(N / 8))²`: idf on a scale
/// that does not depend on the size of the store, squared so that hubs fall away fast.
pub fn rarity(document_frequency: u64, documents: u64) -> f64 {
    let (df, n) = (document_frequency as f64, documents as f64);
    if df <= NO_HUB {
        return 1.0;
    }
    // A count of texts that lags behind must not turn the scale around.
    if df >= n {
        return 0.0;
    }
    let share = (n / df).ln() / (n / NO_HUB).ln();
    (share * share).clamp(0.0, 1.0)
}

/// How near two texts are by their vectors: 0 for the similarity of unrelated texts, 1 for one no unrelated
/// texts reach.
///
/// Cosines of different models mean different things (those of E5 lie between .75 and .95). So `similarity` is
/// measured in standard deviations from the mean of that model's similarities of unrelated texts, and
/// everything from 2 to 5 is stretched over 0 to 1. Texts that are all alike have no such scale: see [`sameness`].
pub fn nearness(similarity: f64, mean: f64, deviation: f64) -> f64 {
    let z = (similarity - mean) / deviation;
    let measured = if deviation > 0.0 && z.is_finite() {
        ((z - NEAR_FROM) / (NEAR_TO - NEAR_FROM)).clamp(0.0, 1.0)
    } else {
        0.0
    };
    measured.max(sameness(similarity))
}

/// How far two texts are the same by their vectors alone, without a scale: 0 up to a cosine of 0.99, 1 for equal ones.
pub fn sameness(similarity: f64) -> f64 {
    unit((similarity - SAME_FROM) / (1.0 - SAME_FROM))
}

/// How closely two texts are related.
///
/// `shared` holds the [`rarity`] of each name both have, `only_left` and `only_right` the sums of the rarities
/// of the names one of them has, `similarity` their [`nearness`] if both have vectors, `same_path` whether they
/// are pieces of one file.
///
/// The names score `Σshared / (Σshared + only_left + only_right) · max(shared)`: the share of names in common by
/// weight, and never more than the rarest of them deserves, so that a common hub relates nothing, not even two
/// texts that have nothing else. Where every name is rare this is the plain Jaccard index. Nearness n fills
/// up what the names s leave: `1 - (1 - s)(1 - n / 2)`. A common file makes related texts more so, `x + x(1 - x)
/// / 4`, but relates nothing by itself.
pub fn relatedness(
    shared: &[f64],
    only_left: f64,
    only_right: f64,
    similarity: Option<f64>,
    same_path: bool,
) -> f64 {
    let in_common: f64 = shared.iter().copied().map(unit).sum();
    let rarest = shared.iter().copied().map(unit).fold(0.0, f64::max);
    let all = in_common + amount(only_left) + amount(only_right);
    let by_names = if in_common > 0.0 { in_common / all * rarest } else { 0.0 };
    let near = similarity.map_or(0.0, unit);
    let score = 1.0 - (1.0 - by_names) * (1.0 - NEARNESS_WEIGHT * near);
    let bonus = if same_path { SAME_PATH_BONUS * score * (1.0 - score) } else { 0.0 };
    unit(score + bonus)
}

/// `x` between 0 and 1; what is no number is 0.
fn unit(x: f64) -> f64 {
    if x.is_nan() {
        0.0
    } else {
        x.clamp(0.0, 1.0)
    }
}

/// `x` if it is a positive number, or else 0.
fn amount(x: f64) -> f64 {
    if x > 0.0 {
        x
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::{nearness, rarity, relatedness};
    use proptest::prelude::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn rare_names_give_the_plain_jaccard_index() {
        // {alpha, beta} and {beta, gamma} of three texts.
        let w = rarity(1, 3);
        assert!(close(relatedness(&[w], w, w, None, false), 1.0 / 3.0));
        assert_eq!(relatedness(&[], w, w, None, false), 0.0);
        assert_eq!(relatedness(&[], 0.0, 0.0, None, false), 0.0);
    }

    #[test]
    fn hubs_relate_nothing() {
        assert_eq!(rarity(2000, 2000), 0.0);
        assert!(rarity(1000, 2000) < 0.02);
        assert!(rarity(300, 768) < 0.05);
        // Two texts that have nothing but a hub are not related by it.
        assert!(relatedness(&[rarity(1000, 2000)], 0.0, 0.0, None, true) < 0.02);
        let (hub, topic) = (rarity(2000, 2000), rarity(2, 2000));
        let pair = relatedness(&[hub, topic], 0.0, 0.0, None, false);
        let stranger = relatedness(&[hub], topic, topic, None, false);
        assert!(close(pair, 1.0) && stranger == 0.0);
    }

    #[test]
    fn a_small_store_has_no_hubs() {
        for n in 0..=8 {
            for df in 0..=n {
                assert_eq!(rarity(df, n), 1.0, "{df} of {n}");
            }
        }
        // Counts that have not caught up.
        assert_eq!(rarity(50, 10), 0.0);
    }

    #[test]
    fn nearness_is_measured_by_the_model() {
        assert_eq!(nearness(0.81, 0.81, 0.02), 0.0);
        assert!(close(nearness(0.88, 0.81, 0.02), 0.5));
        assert_eq!(nearness(0.95, 0.81, 0.02), 1.0);
        for (similarity, mean, deviation) in [(f64::NAN, 0.8, 0.02), (0.9, 0.8, 0.0), (0.9, 0.8, -1.0)] {
            assert_eq!(nearness(similarity, mean, deviation), 0.0);
        }
        // Where everything is the same.
        assert_eq!(nearness(1.0, 1.0, 0.0), 1.0);
        assert!(close(nearness(0.995, 0.995, 1e-6), 0.5));
    }

    #[test]
    fn a_common_file_relates_nothing_by_itself() {
        assert_eq!(relatedness(&[], 1.0, 1.0, None, true), 0.0);
        assert!(relatedness(&[1.0], 1.0, 1.0, None, true) > relatedness(&[1.0], 1.0, 1.0, None, false));
    }

    proptest! {
        #[test]
        fn rarity_falls(df in 0u64..5_000, more in 0u64..5_000, n in 0u64..10_000) {
            let (rare, frequent) = (rarity(df, n), rarity(df + more, n));
            prop_assert!((0.0..=1.0).contains(&rare) && (0.0..=1.0).contains(&frequent));
            prop_assert!(rare >= frequent);
        }

        #[test]
        fn bounded_whatever_goes_in(
            shared in prop::collection::vec(any::<f64>(), 0..5),
            left in any::<f64>(), right in any::<f64>(), near in any::<Option<f64>>(), same in any::<bool>(),
        ) {
            let score = relatedness(&shared, left, right, near, same);
            prop_assert!((0.0..=1.0).contains(&score), "{}", score);
        }

        #[test]
        fn symmetric_and_monotone(
            shared in prop::collection::vec(0.0..=1.0f64, 0..6), more in 0.0..=1.0f64,
            left in 0.0..20.0f64, right in 0.0..20.0f64, extra in 0.0..5.0f64,
            near in 0.0..=1.0f64, same in any::<bool>(),
        ) {
            let slack = 1e-12;
            let score = relatedness(&shared, left, right, Some(near), same);
            prop_assert!((score - relatedness(&shared, right, left, Some(near), same)).abs() < slack);
            prop_assert!(score + slack >= relatedness(&shared, left + extra, right, Some(near), same));
            prop_assert!(score + slack >= relatedness(&shared, left, right, None, same));
            prop_assert!(score + slack >= relatedness(&shared, left, right, Some(near / 2.0), same));
            prop_assert!(score + slack >= relatedness(&shared, left, right, Some(near), false));
            let mut with_more = shared.clone();
            with_more.push(more);
            prop_assert!(relatedness(&with_more, left, right, Some(near), same) + slack >= score);
            prop_assert!(relatedness(&[], left, right, None, same) == 0.0);
        }
    }
}
