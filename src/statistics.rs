//! Where samples lie, by their order: nothing here assumes a shape of the noise.

#![forbid(unsafe_code)]

/// The values in ascending order.
pub fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The value that a share of the sorted values lies below, linear between neighbours.
///
/// # Panics
/// If there are no values.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    match place.fract() {
        0.0 => below,
        // The middle of two is that of their opposites, to the last bit.
        0.5 => f64::midpoint(below, above),
        part => below + (above - below) * part,
    }
}

/// The median; `None` of nothing.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let sorted = sorted(values);
    (!sorted.is_empty()).then(|| quantile(&sorted, 0.5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_neighbours() {
        let values = sorted([5.0, 1.0, 4.0, 2.0, 3.0]);
        assert_eq!((quantile(&values, 0.0), quantile(&values, 0.5), quantile(&values, 1.0)), (1.0, 3.0, 5.0));
        assert!((quantile(&values, 0.1) - 1.4).abs() < 1e-12 && (quantile(&values, 0.9) - 4.6).abs() < 1e-12);
        assert_eq!(quantile(&[7.0], 0.9), 7.0);
    }

    #[test]
    fn medians() {
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0]), Some(2.5));
        let (one, other) = (0.1, 0.7000000000000001);
        assert_eq!(median([-one, -other]), median([one, other]).map(|median| -median));
        assert_eq!(median([f64::INFINITY, 1.0, f64::INFINITY]), Some(f64::INFINITY));
        assert_eq!(median([]), None);
    }
}
