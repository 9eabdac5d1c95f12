//! Is ours faster than the native collective? A statistic that assumes nothing about the shape of the noise, nor about
//! what the program repeats.
//!
//! One observation is a pair of neighbouring epochs, one of each side, in an order that a coin decided
//! ([`Turn`](super::Turn)): the logarithm of the ratio of their mean times per call, the slowest rank's. If the sides
//! do not differ, its sign is the coin's, whatever the calls of the two epochs were. That is what Wilcoxon's
//! signed-rank test needs, and all of it. The ratio and its interval are the Hodges–Lehmann estimate that belongs to
//! that test: the median of the means of any two observations; the interval excludes 1 exactly where the test sees a
//! difference (but for ties).
//!
//! What is saved is the same estimate of the differences themselves: a call that waits for a late rank does so on
//! either side, and that cancels. A share of times that are mostly waiting would be mostly of the waiting.

use super::Epochs;
use crate::statistics::{quantile, sorted};
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

/// Probability of seeing a difference where there is none.
const SIGNIFICANCE: f64 = 0.05;

/// Fewer pairs can never be told apart: of five, all point the same way by chance one time in sixteen.
const FEWEST: usize = 6;

/// Most pairs; the estimates look at each two of them.
const MOST: usize = 256;

/// Up to so many pairs the probabilities are counted out; of more, sums are as good as normal (within 0.0002).
const COUNTED: usize = 64;

/// What a comparison says about Collie's algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Ours takes less time.
    Faster,
    /// Ours takes more time.
    Slower,
    /// The test finds no difference.
    NoDifference,
    /// Fewer than six pairs of epochs.
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
    /// Pairs of an epoch that ran natively and a neighbouring one that ran with Collie's algorithm.
    pub pairs: u32,
    /// Median over epochs of the slowest rank's mean time per native call, waiting for late ranks included.
    pub native_median_seconds: f64,
    /// The same for Collie's algorithm.
    pub collie_median_seconds: f64,
    /// Native time over ours, within pairs: above 1 ours is faster. Not the ratio of the medians, in which calls are
    /// compared that may be far from each other.
    pub ratio: f64,
    /// Lower end of the 95 % confidence interval of the ratio; absent with too few epochs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio_low: Option<f64>,
    /// Upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio_high: Option<f64>,
    /// What the fastest tenth of the epochs that ran natively took at most: the least that they waited for late ranks.
    /// Absent in older reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_p10_seconds: Option<f64>,
    /// The same for Collie's algorithm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collie_p10_seconds: Option<f64>,
    /// Native time per call minus ours, within pairs: above 0 ours is faster. What both wait for late ranks cancels.
    /// Absent in older reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference_seconds: Option<f64>,
    /// Lower end of its 95 % confidence interval; absent with too few epochs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference_low_seconds: Option<f64>,
    /// Upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference_high_seconds: Option<f64>,
    /// Probability of a difference at least as large by chance (two-sided Wilcoxon signed-rank).
    pub p_value: f64,
    /// The answer.
    pub verdict: Verdict,
}

impl Comparison {
    /// What a call of ours saves; negative if it takes longer. Nothing without a verdict.
    pub fn saved_seconds(&self) -> Option<f64> {
        self.difference_seconds.filter(|_| matches!(self.verdict, Verdict::Faster | Verdict::Slower))
    }

    /// What a call saves or costs for certain, by the end of the interval that is nearer to 0; 0 without a verdict, and
    /// where the interval holds 0.
    pub fn certain_seconds(&self) -> f64 {
        let certain = match self.verdict {
            Verdict::Faster => self.difference_low_seconds,
            Verdict::Slower => self.difference_high_seconds.map(|end| -end),
            Verdict::NoDifference | Verdict::TooFewEpochs => None,
        };
        certain.map_or(0.0, |certain| certain.max(0.0))
    }
}

/// Compares epochs, by their number: its mean seconds per call, ascending. `None` if no pair has both.
pub fn compare(epochs: &[(u32, f64)]) -> Option<Comparison> {
    // A tenth of a nanosecond stands for what the clock cannot tell from zero.
    let seconds = |epoch: &(u32, f64)| epoch.1.max(1e-10);
    let pairs = epochs.chunk_by(|left, right| left.0 / 2 == right.0 / 2);
    let pairs: Vec<(f64, f64)> = pairs
        .filter_map(|pair| match pair {
            [native, collie] if Epochs::is_native(native.0) => Some((seconds(native), seconds(collie))),
            _ => None,
        })
        .collect();
    let pairs: Vec<(f64, f64)> = pairs.iter().copied().step_by(pairs.len().div_ceil(MOST).max(1)).collect();
    if pairs.is_empty() {
        return None;
    }
    // A difference of logarithms is the same either way round, to the last bit; a logarithm of the ratio is not, and
    // would break ties by their sign.
    let ratios: Vec<f64> = pairs.iter().map(|(native, collie)| native.ln() - collie.ln()).collect();
    let differences: Vec<f64> = pairs.iter().map(|(native, collie)| native - collie).collect();
    let p_value = signed_rank(&ratios);
    let (ratio, interval) = hodges_lehmann(&ratios);
    let (difference, difference_interval) = hodges_lehmann(&differences);
    let verdict = match interval {
        None => Verdict::TooFewEpochs,
        // Of a coarse clock most pairs may be equal, which the test leaves out.
        Some(_) if p_value >= SIGNIFICANCE || ratio == 0.0 => Verdict::NoDifference,
        Some(_) if ratio > 0.0 => Verdict::Faster,
        Some(_) => Verdict::Slower,
    };
    let (native, collie) = (sorted(pairs.iter().map(|pair| pair.0)), sorted(pairs.iter().map(|pair| pair.1)));
    Some(Comparison {
        pairs: pairs.len() as u32,
        native_median_seconds: quantile(&native, 0.5),
        collie_median_seconds: quantile(&collie, 0.5),
        ratio: ratio.exp(),
        ratio_low: interval.map(|(low, _)| low.exp()),
        ratio_high: interval.map(|(_, high)| high.exp()),
        native_p10_seconds: Some(tenth(&native)),
        collie_p10_seconds: Some(tenth(&collie)),
        difference_seconds: Some(difference),
        difference_low_seconds: difference_interval.map(|(low, _)| low),
        difference_high_seconds: difference_interval.map(|(_, high)| high),
        p_value,
        verdict,
    })
}

/// The median of the means of any two of the observations, and the interval in which the true one lies with 95 %
/// confidence, unless they are too few.
fn hodges_lehmann(observations: &[f64]) -> (f64, Option<(f64, f64)>) {
    let means = sorted(
        (0..observations.len())
            .flat_map(|one| observations[one..].iter().map(move |other| (one, *other)))
            .map(|(one, other)| f64::midpoint(observations[one], other)),
    );
    (quantile(&means, 0.5), interval(&means, observations.len()))
}

/// The value that a tenth of them does not exceed, of sorted values.
fn tenth(values: &[f64]) -> f64 {
    values[(values.len() - 1) / 10]
}

/// The order statistics of the means of any two of `n` observations between which the true one lies with 95 %
/// confidence.
fn interval(means: &[f64], n: usize) -> Option<(f64, f64)> {
    if n < FEWEST {
        return None;
    }
    // As many means may lie beyond either end as the sum of ranks may be at most for a difference to be seen.
    let outside = if n <= COUNTED {
        let ranks: Vec<usize> = (1..=n).collect();
        let below = sums(&ranks).scan(0.0, |below, probability| {
            *below += probability;
            Some(*below)
        });
        below.take_while(|below| *below <= SIGNIFICANCE / 2.0).count() - 1
    } else {
        let (mean, deviation) = moments(n as f64, 0.0);
        let z = Normal::standard().inverse_cdf(1.0 - SIGNIFICANCE / 2.0);
        (mean - z * deviation - 0.5).floor().max(0.0) as usize
    };
    Some((means[outside], means[means.len() - 1 - outside]))
}

/// Two-sided probability of such signs, counted out or by the normal approximation with corrections for ties and
/// continuity.
fn signed_rank(differences: &[f64]) -> f64 {
    // What does not differ says nothing about the direction.
    let mut differences: Vec<f64> = differences.iter().copied().filter(|difference| *difference != 0.0).collect();
    differences.sort_by(|left, right| left.abs().total_cmp(&right.abs()));
    // Twice the ranks: of equal ones each gets the mean of theirs, which may be half an odd number.
    let (mut ranks, mut positive, mut ties) = (Vec::with_capacity(differences.len()), 0, 0.0);
    for tied in differences.chunk_by(|left, right| left.abs() == right.abs()) {
        let twice = 2 * ranks.len() + tied.len() + 1;
        let t = tied.len() as f64;
        ties += t * t * t - t;
        positive += twice * tied.iter().filter(|difference| **difference > 0.0).count();
        ranks.extend(tied.iter().map(|_| twice));
    }
    let all: usize = ranks.iter().sum();
    let fewer = positive.min(all - positive);
    if ranks.len() <= COUNTED {
        let below: f64 = sums(&ranks).take(fewer + 1).sum();
        return (2.0 * below).min(1.0);
    }
    let (mean, deviation) = moments(ranks.len() as f64, ties);
    let z = ((mean - fewer as f64 / 2.0).abs() - 0.5).max(0.0) / deviation;
    2.0 * Normal::standard().cdf(-z)
}

/// Mean and standard deviation of the sum of the positive ones of `n` ranks; `ties`: the sum of t³ − t over ties of t.
fn moments(n: f64, ties: f64) -> (f64, f64) {
    (n * (n + 1.0) / 4.0, (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0).sqrt())
}

/// Probability of each sum, from 0 on, of those of the ranks whose sign is positive if each of two signs is as likely.
fn sums(ranks: &[usize]) -> impl Iterator<Item = f64> {
    let mut probability = vec![0.0; ranks.iter().sum::<usize>() + 1];
    probability[0] = 1.0;
    let mut most = 0;
    for rank in ranks {
        most += rank;
        for sum in (0..=most).rev() {
            let with = if sum >= *rank { probability[sum - rank] } else { 0.0 };
            probability[sum] = f64::midpoint(probability[sum], with);
        }
    }
    probability.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noisy(base: f64, count: usize, seed: u64) -> Vec<f64> {
        // A deterministic spread of ±10 % with a long tail upwards, as timings have it.
        (0..count as u64)
            .map(|i| {
                let mixed = (i << 32 | seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let noise = (mixed >> 40) as f64 / f64::from(1u32 << 24);
                base * (0.9 + 0.2 * noise) * if noise > 0.95 { 8.0 } else { 1.0 }
            })
            .collect()
    }

    fn epochs(native: &[f64], collie: &[f64]) -> Vec<(u32, f64)> {
        let side =
            |side: u32, values: &[f64]| values.iter().zip(0..).map(|(v, k)| (2 * k + side, *v)).collect::<Vec<_>>();
        let mut epochs = [side(0, native), side(1, collie)].concat();
        epochs.sort_by_key(|epoch| epoch.0);
        epochs
    }

    fn compared(native: &[f64], collie: &[f64]) -> Comparison {
        compare(&epochs(native, collie)).unwrap()
    }

    #[test]
    fn a_clear_difference_is_seen_either_way() {
        let (slow, fast) = (noisy(20e-6, 40, 1), noisy(10e-6, 40, 77));
        let comparison = compared(&slow, &fast);
        assert_eq!(comparison.verdict, Verdict::Faster);
        assert!((comparison.ratio - 2.0).abs() < 0.1, "{comparison:?}");
        assert!(comparison.ratio_low.unwrap() > 1.8 && comparison.ratio_high.unwrap() < 2.2, "{comparison:?}");
        assert!((comparison.saved_seconds().unwrap() - 10e-6).abs() < 0.6e-6, "{comparison:?}");
        assert!(comparison.certain_seconds() > 8e-6 && comparison.certain_seconds() < 10e-6);
        assert!(comparison.native_p10_seconds.unwrap() < comparison.native_median_seconds);
        let comparison = compared(&fast, &slow);
        assert_eq!(comparison.verdict, Verdict::Slower);
        assert!(comparison.saved_seconds().unwrap() < 0.0 && comparison.certain_seconds() > 0.0);
    }

    #[test]
    fn what_both_sides_wait_for_late_ranks_is_not_saved_or_lost() {
        // Every other epoch of either side waits some 200 us.
        let late = |times: Vec<f64>, seed: u64| -> Vec<f64> {
            let waits = noisy(200e-6, times.len(), seed + 31);
            let is_late = noisy(1.0, times.len(), seed);
            let waited = times.iter().zip(waits).zip(is_late);
            waited.map(|((time, wait), late)| time + if late > 1.0 { wait } else { 0.0 }).collect()
        };
        let (native, collie) = (late(noisy(6e-6, 250, 1), 5), late(noisy(32e-6, 250, 77), 900));
        let comparison = compared(&native, &collie);
        assert_eq!(comparison.verdict, Verdict::Slower);
        let saved = comparison.saved_seconds().unwrap();
        assert!((-40e-6..-15e-6).contains(&saved), "{comparison:?}");
        let fastest = [comparison.native_p10_seconds, comparison.collie_p10_seconds].map(Option::unwrap);
        assert!((5e-6..7e-6).contains(&fastest[0]) && (28e-6..36e-6).contains(&fastest[1]), "{comparison:?}");
    }

    #[test]
    fn no_difference_is_not_made_up() {
        let comparison = compared(&noisy(10e-6, 60, 3), &noisy(10e-6, 60, 1000));
        assert_eq!(comparison.verdict, Verdict::NoDifference, "{comparison:?}");
        assert!(comparison.ratio_low.unwrap() < 1.0 && comparison.ratio_high.unwrap() > 1.0, "{comparison:?}");
        assert_eq!((comparison.saved_seconds(), comparison.certain_seconds()), (None, 0.0));
        let equal = compared(&[1e-6; 9], &[1e-6; 9]);
        assert_eq!((equal.verdict, equal.ratio, equal.p_value), (Verdict::NoDifference, 1.0, 1.0));
    }

    #[test]
    fn a_few_epochs_give_no_verdict_and_none_no_comparison() {
        assert_eq!(compared(&[1.0; 5], &[2.0; 40]).verdict, Verdict::TooFewEpochs);
        assert_eq!(compared(&[1.0; 6], &[2.0; 6]).verdict, Verdict::Slower);
        assert_eq!(compare(&epochs(&[], &[1.0])), None);
        assert_eq!(compare(&[(0, 1.0), (3, 1.0), (4, 1.0)]), None, "epochs of different pairs");
    }

    #[test]
    fn the_probability_is_that_of_the_tables() {
        // Six of one sign: 2 in 64. Ranks 1 and 2 against 3 to 8: sums of at most 3 are 5 of 256, two-sided.
        assert_eq!(signed_rank(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), 2.0 / 64.0);
        assert_eq!(signed_rank(&[-1.0, -2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]), 10.0 / 256.0);
        // Ties: ranks 1.5, 1.5 and 3 to 6; sums of at most 1.5 are 3 of 64.
        assert_eq!(signed_rank(&[-1.0, 1.0, 0.0, 2.0, 3.0, 4.0, 5.0]), 6.0 / 64.0);
        // Critical values of the two-sided test at 5 % (Wilcoxon and Wilcox, 1964): 0 at 6, 8 at 10, 52 at 20.
        for (n, critical) in [(6, 0), (10, 8), (20, 52)] {
            let ranks: Vec<usize> = (1..=n).collect();
            let below = |most: usize| 2.0 * sums(&ranks).take(most + 1).sum::<f64>();
            assert!(below(critical) <= 0.05 && below(critical + 1) > 0.05, "{n}");
        }
    }

    #[test]
    fn the_normal_approximation_goes_on_where_counting_ends() {
        // 64 and 65 differences of which every third is negative.
        let of = |n: i32| signed_rank(&(1..=n).map(|k| f64::from(if k % 3 == 0 { -k } else { k })).collect::<Vec<_>>());
        assert!(of(65) < of(62) && (of(65) / of(62)) > 0.7, "{} {}", of(62), of(65));
        let low = |n: usize| compared(&noisy(1.0, n, 9), &noisy(1.0, n, 5000)).ratio_low.unwrap();
        assert!((low(64) - low(65)).abs() < 0.02, "{} {}", low(64), low(65));
    }

    #[test]
    fn the_interval_excludes_1_where_there_is_a_verdict() {
        for trial in 0..300u64 {
            let n = 6 + (trial % 80) as usize;
            let comparison = compared(&noisy(1e-6, n, trial * 997), &noisy(1.02e-6, n, trial * 991 + 500));
            let (low, high) = (comparison.ratio_low.unwrap(), comparison.ratio_high.unwrap());
            let verdict = comparison.verdict == Verdict::NoDifference;
            assert_eq!(verdict, low <= 1.0 && 1.0 <= high, "{n}: {comparison:?}");
        }
    }
}
