//! Is ours faster than the native collective? A statistic that assumes nothing about the shape of the noise.
//!
//! One observation is one epoch: its mean time per call, the slowest rank's. Both sides' observations are compared by
//! the Mann–Whitney test; the ratio and its interval are the Hodges–Lehmann estimate on logarithms, which belongs to
//! that test: the interval excludes 1 exactly where the test sees a difference (but for the correction for ties).

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

/// Probability of seeing a difference where there is none.
const SIGNIFICANCE: f64 = 0.05;

/// Below that many observations a side the normal approximation of the test is too coarse: with five, the smallest
/// probability is 0.012 instead of the exact 0.008.
const FEWEST: usize = 5;

/// Most observations a side; the ratio looks at all pairs.
const MOST: usize = 512;

/// What a comparison says about Collie's algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Ours takes less time.
    Faster,
    /// Ours takes more time.
    Slower,
    /// The numbers do not tell them apart.
    NoDifference,
    /// Fewer than five epochs of one of the two.
    TooFewEpochs,
}

impl Verdict {
    /// In words.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::NoDifference => "no difference",
            Self::TooFewEpochs => "too few epochs",
        }
    }
}

/// Native against ours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Comparison {
    /// Epochs that ran natively.
    pub native_epochs: u32,
    /// Epochs that ran with Collie's algorithm.
    pub collie_epochs: u32,
    /// Median over epochs of the slowest rank's mean time per native call.
    pub native_median_seconds: f64,
    /// The same for Collie's algorithm.
    pub collie_median_seconds: f64,
    /// Native time over ours: above 1 ours is faster.
    pub ratio: f64,
    /// Lower end of the 95 % confidence interval of the ratio; absent with too few epochs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio_low: Option<f64>,
    /// Upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio_high: Option<f64>,
    /// Probability of a difference at least as large by chance (two-sided Mann–Whitney).
    pub p_value: f64,
    /// The answer.
    pub verdict: Verdict,
}

/// Compares the observations of both sides, in seconds; `None` if one side has none.
pub fn compare(native: &[f64], collie: &[f64]) -> Option<Comparison> {
    if native.is_empty() || collie.is_empty() {
        return None;
    }
    let (native, collie) = (prepared(native), prepared(collie));
    let ratios = sorted(native.iter().flat_map(|n| collie.iter().map(move |c| n / c)).collect());
    let p_value = mann_whitney(&native, &collie);
    let interval = interval(&ratios, native.len(), collie.len());
    let ratio = median(&ratios);
    let verdict = match interval {
        None => Verdict::TooFewEpochs,
        Some(_) if p_value >= SIGNIFICANCE => Verdict::NoDifference,
        Some(_) if ratio > 1.0 => Verdict::Faster,
        Some(_) => Verdict::Slower,
    };
    Some(Comparison {
        native_epochs: native.len() as u32,
        collie_epochs: collie.len() as u32,
        native_median_seconds: median(&native),
        collie_median_seconds: median(&collie),
        ratio,
        ratio_low: interval.map(|(low, _)| low),
        ratio_high: interval.map(|(_, high)| high),
        p_value,
        verdict,
    })
}

/// Sorted, above zero, at most [`MOST`], evenly chosen.
fn prepared(observations: &[f64]) -> Vec<f64> {
    let step = observations.len().div_ceil(MOST);
    // A tenth of a nanosecond stands for what the clock cannot tell from zero.
    sorted(observations.iter().step_by(step).map(|value| value.max(1e-10)).collect())
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// Of sorted values.
fn median(values: &[f64]) -> f64 {
    let middle = values.len() / 2;
    if values.len().is_multiple_of(2) { f64::midpoint(values[middle - 1], values[middle]) } else { values[middle] }
}

/// The order statistics of all pairs' ratios between which the true ratio lies with 95 % confidence.
fn interval(ratios: &[f64], m: usize, n: usize) -> Option<(f64, f64)> {
    if m.min(n) < FEWEST {
        return None;
    }
    let (m, n) = (m as f64, n as f64);
    let z = Normal::standard().inverse_cdf(1.0 - SIGNIFICANCE / 2.0);
    let outside = (m * n / 2.0 - z * (m * n * (m + n + 1.0) / 12.0).sqrt()).floor().max(0.0) as usize;
    Some((ratios[outside], ratios[ratios.len() - 1 - outside]))
}

/// Two-sided probability, by the normal approximation with corrections for ties and continuity; both sides sorted.
fn mann_whitney(left: &[f64], right: &[f64]) -> f64 {
    let mut all: Vec<(f64, bool)> = left.iter().map(|value| (*value, true)).collect();
    all.extend(right.iter().map(|value| (*value, false)));
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (m, n, total) = (left.len() as f64, right.len() as f64, all.len() as f64);
    let (mut ranks_of_left, mut ties, mut below) = (0.0, 0.0, 0.0);
    for tied in all.chunk_by(|a, b| a.0 == b.0) {
        let t = tied.len() as f64;
        let ours = tied.iter().filter(|(_, is_left)| *is_left).count() as f64;
        ranks_of_left += ours * (below + (t + 1.0) / 2.0);
        ties += t * t * t - t;
        below += t;
    }
    let u = ranks_of_left - m * (m + 1.0) / 2.0;
    let variance = m * n / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let z = ((u - m * n / 2.0).abs() - 0.5).max(0.0) / variance.sqrt();
    2.0 * Normal::standard().cdf(-z)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noisy(base: f64, count: usize, seed: u64) -> Vec<f64> {
        // A deterministic spread of ±10 % with a long tail upwards, as timings have it.
        (0..count as u64)
            .map(|i| {
                let noise = ((i + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / f64::from(1u32 << 24);
                base * (0.9 + 0.2 * noise) * if noise > 0.95 { 8.0 } else { 1.0 }
            })
            .collect()
    }

    #[test]
    fn a_clear_difference_is_seen_either_way() {
        let (slow, fast) = (noisy(20e-6, 40, 1), noisy(10e-6, 40, 77));
        let comparison = compare(&slow, &fast).unwrap();
        assert_eq!(comparison.verdict, Verdict::Faster);
        assert!((comparison.ratio - 2.0).abs() < 0.1, "{comparison:?}");
        assert!(comparison.ratio_low.unwrap() > 1.8 && comparison.ratio_high.unwrap() < 2.2, "{comparison:?}");
        let comparison = compare(&fast, &slow).unwrap();
        assert_eq!(comparison.verdict, Verdict::Slower);
    }

    #[test]
    fn no_difference_is_not_made_up() {
        let comparison = compare(&noisy(10e-6, 60, 3), &noisy(10e-6, 60, 1000)).unwrap();
        assert_eq!(comparison.verdict, Verdict::NoDifference, "{comparison:?}");
        assert!(comparison.ratio_low.unwrap() < 1.0 && comparison.ratio_high.unwrap() > 1.0, "{comparison:?}");
        let equal = compare(&[1e-6; 9], &[1e-6; 9]).unwrap();
        assert_eq!((equal.verdict, equal.ratio, equal.p_value), (Verdict::NoDifference, 1.0, 1.0));
    }

    #[test]
    fn a_few_epochs_give_no_verdict_and_none_no_comparison() {
        assert_eq!(compare(&[1.0; 4], &[2.0; 40]).unwrap().verdict, Verdict::TooFewEpochs);
        assert_eq!(compare(&[], &[1.0]), None);
    }

    #[test]
    fn the_probability_is_that_of_the_tables() {
        // U = 25 − 23 = 2 of 5 × 5: exact 0.0317, normal approximation with continuity correction 0.0367.
        let p = mann_whitney(&[1.0, 2.0, 3.0, 4.0, 7.0], &[5.0, 6.0, 8.0, 9.0, 10.0]);
        assert!((p - 0.0367).abs() < 5e-4, "{p}");
        // With ties, against R's wilcox.test(c(1,2,2,3,4), c(2,4,5,6,7), exact = FALSE): W = 3.5, p = 0.0714.
        let p = mann_whitney(&[1.0, 2.0, 2.0, 3.0, 4.0], &[2.0, 4.0, 5.0, 6.0, 7.0]);
        assert!((p - 0.07137).abs() < 5e-5, "{p}");
    }

    #[test]
    fn chance_differences_are_as_rare_as_promised() {
        let mut seen = 0;
        for trial in 0..400u64 {
            let side = |offset: u64| noisy(1e-6, 20, trial * 1_000 + offset * 500_000);
            seen += u32::from(compare(&side(1), &side(2)).unwrap().verdict != Verdict::NoDifference);
        }
        assert!(seen <= 32, "{seen} of 400 at 5 %");
    }
}
