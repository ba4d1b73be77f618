//! Token vectors into one vector, and the arithmetic on it.

use crate::{Error, Pooling};

/// Pools the rows of `hidden` (tokens × width, row by row) into one row.
///
/// Every token counts: one text per run has no padding. `None` if `hidden` is empty, is no whole number of
/// rows, or the model pools by itself.
pub(crate) fn pool(hidden: &[f32], width: usize, pooling: Pooling) -> Option<Vec<f32>> {
    if width == 0 || hidden.is_empty() || !hidden.len().is_multiple_of(width) {
        return None;
    }
    let mut rows = hidden.chunks_exact(width);
    match pooling {
        Pooling::Cls => rows.next().map(<[f32]>::to_vec),
        Pooling::LastToken => rows.next_back().map(<[f32]>::to_vec),
        Pooling::Mean => {
            let tokens = rows.len() as f64;
            let mut sum = vec![0.0f64; width];
            for row in rows {
                add(&mut sum, row, 1.0);
            }
            Some(sum.into_iter().map(|x| (x / tokens) as f32).collect())
        }
        Pooling::InGraph => None,
    }
}

/// sum += weight · row
pub(crate) fn add(sum: &mut [f64], row: &[f32], weight: f64) {
    for (total, &x) in sum.iter_mut().zip(row) {
        *total += weight * f64::from(x);
    }
}

/// Length of a vector that is fit for use.
pub(crate) fn norm(vector: &[f32]) -> Result<f64, Error> {
    if !vector.iter().all(|x| x.is_finite()) {
        return Err(Error::NotFinite);
    }
    let norm = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
    // Below this a quotient by it is noise, and 1 / norm may overflow.
    if norm < f64::from(f32::MIN_POSITIVE) {
        return Err(Error::ZeroVector);
    }
    Ok(norm)
}

/// Scales a vector to length 1.
pub(crate) fn normalize(vector: &mut [f32]) -> Result<(), Error> {
    let norm = norm(vector)?;
    for x in vector {
        *x = (f64::from(*x) / norm) as f32;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HIDDEN: [f32; 6] = [1.0, 2.0, 3.0, 6.0, 5.0, -2.0];

    #[test]
    fn each_kind_takes_its_rows() {
        assert_eq!(pool(&HIDDEN, 2, Pooling::Cls).unwrap(), [1.0, 2.0]);
        assert_eq!(pool(&HIDDEN, 2, Pooling::LastToken).unwrap(), [5.0, -2.0]);
        assert_eq!(pool(&HIDDEN, 2, Pooling::Mean).unwrap(), [3.0, 2.0]);
        assert_eq!(pool(&HIDDEN, 2, Pooling::InGraph), None);
    }

    #[test]
    fn shapes_that_do_not_fit_give_nothing() {
        assert_eq!(pool(&HIDDEN, 4, Pooling::Mean), None);
        assert_eq!(pool(&HIDDEN, 0, Pooling::Mean), None);
        assert_eq!(pool(&[], 2, Pooling::Cls), None);
    }

    #[test]
    fn unusable_vectors_are_refused() {
        assert_eq!(normalize(&mut [1.0, f32::NAN]), Err(Error::NotFinite));
        assert_eq!(normalize(&mut [f32::INFINITY, 0.0]), Err(Error::NotFinite));
        assert_eq!(normalize(&mut [0.0, -0.0]), Err(Error::ZeroVector));
        assert_eq!(normalize(&mut []), Err(Error::ZeroVector));
    }

    proptest! {
        #[test]
        fn a_normalised_vector_has_length_one(mut v in proptest::collection::vec(-1e30f32..1e30, 1..50)) {
            prop_assume!(v.iter().any(|x| x.abs() > 1e-30));
            normalize(&mut v).unwrap();
            prop_assert!((norm(&v).unwrap() - 1.0).abs() < 1e-4);
        }
    }
}
