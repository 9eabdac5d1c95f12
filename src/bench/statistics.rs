//! From samples to numbers. Nothing here assumes a shape of the noise.

#![forbid(unsafe_code)]

use crate::statistics::{quantile, sorted};
use serde::{Deserialize, Serialize};
use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, StudentsT};

/// Confidence of all intervals.
const CONFIDENCE: f64 = 0.95;

/// Fewest samples whose extremes hold the median with that confidence: 1 − 2·2⁻⁶ = 0.97, with five only 0.94.
pub const FEWEST: usize = 6;

/// Where samples lie, in their unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Half of the samples are below.
    pub median: f64,
    /// A tenth is below.
    pub p10: f64,
    /// Nine tenths are below.
    pub p90: f64,
    /// The least.
    pub min: f64,
    /// All of them together, divided: with what seldom takes long.
    #[serde(default)]
    pub mean: f64,
}

/// How much longer one thing takes than another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The first over the second.
    pub ratio: f64,
    /// Lower end of the 95 % confidence interval; absent with too few samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// Where the samples lie.
///
/// # Panics
/// If there are none.
pub fn spread(samples: &[f64]) -> Spread {
    let sorted = sorted(samples.iter().copied());
    Spread {
        median: quantile(&sorted, 0.5),
        p10: quantile(&sorted, 0.1),
        p90: quantile(&sorted, 0.9),
        min: sorted[0],
        mean: samples.iter().sum::<f64>() / samples.len() as f64,
    }
}

/// Median of values.
///
/// # Panics
/// If there are none.
pub fn median(values: &[f64]) -> f64 {
    quantile(&sorted(values.iter().copied()), 0.5)
}

/// Median of `first` over median of `second`; both above zero.
///
/// The interval joins those of the two medians, which are order statistics and so exact whatever the distribution, on
/// logarithms (Zou and Donner, Construction of confidence limits about effect measures, Statistics in Medicine 2008).
///
/// # Panics
/// If one of the two is empty.
pub fn ratio(first: &[f64], second: &[f64]) -> Ratio {
    let (first, second) = (MedianInterval::of(first), MedianInterval::of(second));
    let log = (first.median / second.median).ln();
    let limits = first.limits.zip(second.limits).map(|((low, high), (other_low, other_high))| {
        let down = (first.median / low).ln().hypot((other_high / second.median).ln());
        let up = (high / first.median).ln().hypot((second.median / other_low).ln());
        ((log - down).exp(), (log + up).exp())
    });
    Ratio { ratio: log.exp(), low: limits.map(|limits| limits.0), high: limits.map(|limits| limits.1) }
}

struct MedianInterval {
    median: f64,
    limits: Option<(f64, f64)>,
}

impl MedianInterval {
    fn of(samples: &[f64]) -> Self {
        let sorted = sorted(samples.iter().copied());
        let outside = if sorted.len() < FEWEST {
            0
        } else {
            // As many samples on each side as lie below the median with a chance of at most 2.5 %, and one less.
            let below = Binomial::new(0.5, sorted.len() as u64).expect("a half is a probability");
            below.inverse_cdf((1.0 - CONFIDENCE) / 2.0) as usize
        };
        let limits = (outside > 0).then(|| (sorted[outside - 1], sorted[sorted.len() - outside]));
        Self { median: quantile(&sorted, 0.5), limits }
    }
}

/// The ratios that several runs found as one: geometric mean, with Student's interval on the logarithms. Between runs
/// more differs than within one (where pages lie, who got which core), so this interval is the honest one. One run
/// alone keeps its own.
pub fn over_runs(ratios: &[Ratio]) -> Option<Ratio> {
    let of_one = ratios.iter().map(|ratio| (*ratio, 1));
    over_reports(&of_one.collect::<Vec<_>>())
}

/// The ratios that several reports found as one, each over so many runs, as if each run had been told of by itself: of
/// several runs the interval, which is Student's, says how far these were apart. Without an interval where a report of
/// several runs has none.
pub fn over_reports(ratios: &[(Ratio, u32)]) -> Option<Ratio> {
    if let [(only, _)] = ratios {
        return Some(*only);
    }
    let all: f64 = ratios.iter().map(|(_, runs)| f64::from(*runs)).sum();
    let log = ratios.iter().map(|(one, runs)| f64::from(*runs) * one.ratio.ln()).sum::<f64>() / all;
    let squares = |(one, runs): &(Ratio, u32)| {
        let runs = f64::from(*runs);
        let between = runs * (one.ratio.ln() - log).powi(2);
        if runs < 2.0 {
            return Some(between);
        }
        // The variance that makes an interval so wide.
        let half = (one.high?.ln() - one.low?.ln()) / 2.0;
        Some(between + (runs - 1.0) * runs * (half / student(runs - 1.0)).powi(2))
    };
    let ratio = log.exp();
    if !ratio.is_finite() {
        return None;
    }
    let Some(squares) = ratios.iter().map(squares).sum::<Option<f64>>() else {
        return Some(Ratio { ratio, low: None, high: None });
    };
    let half = student(all - 1.0) * (squares / (all - 1.0) / all).sqrt();
    Some(Ratio { ratio, low: Some(ratio * (-half).exp()), high: Some(ratio * half.exp()) })
}

/// How many standard errors a mean may be off, by Student's distribution.
fn student(freedom: f64) -> f64 {
    let student = StudentsT::new(0.0, 1.0, freedom).expect("a degree of freedom is left");
    student.inverse_cdf(f64::midpoint(1.0, CONFIDENCE))
}

/// The ratios of different calls as one: geometric mean, with the intervals that what is independent adds up to; without
/// one where one of them has none.
pub fn over_kinds(ratios: &[Ratio]) -> Option<Ratio> {
    let ratio = geometric_mean(ratios.iter().map(|one| one.ratio))?;
    let half = |limit: fn(&Ratio) -> Option<f64>| {
        let apart = ratios.iter().map(|one| Some((limit(one)? / one.ratio).ln().powi(2)));
        Some(apart.sum::<Option<f64>>()?.sqrt() / ratios.len() as f64)
    };
    let (low, high) = (half(|one| one.low), half(|one| one.high));
    Some(Ratio { ratio, low: low.map(|half| ratio * (-half).exp()), high: high.map(|half| ratio * half.exp()) })
}

/// Geometric mean; `None` of nothing.
pub fn geometric_mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut number) = (0.0, 0.0);
    for value in values {
        sum += value.ln();
        number += 1.0;
    }
    (number > 0.0).then(|| (sum / number).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(random: &mut fastrand::Rng, count: usize, scale: f64) -> Vec<f64> {
        // Skewed with a long tail upwards, as timings are; the median of the factor is 1.
        (0..count).map(|_| scale * (2.0 * (random.f64() - 0.5)).exp()).collect()
    }

    #[test]
    fn quantiles() {
        let spread = spread(&[5.0, 1.0, 4.0, 2.0, 3.0]);
        assert_eq!((spread.median, spread.min), (3.0, 1.0));
        assert!((spread.p10 - 1.4).abs() < 1e-12 && (spread.p90 - 4.6).abs() < 1e-12);
        assert_eq!(median(&[1.0, 2.0]), 1.5);
    }

    #[test]
    fn few_samples_give_a_ratio_and_no_interval() {
        assert_eq!(ratio(&[3.0; 5], &[2.0; 50]), Ratio { ratio: 1.5, low: None, high: None });
        let six = ratio(&[2.0, 3.0, 4.0, 5.0, 6.0, 7.0], &[1.0; 6]);
        assert_eq!(six.low.map(f64::round), Some(2.0));
        assert_eq!(six.high.map(f64::round), Some(7.0));
    }

    #[test]
    fn intervals_hold_the_truth_as_often_as_they_promise() {
        let mut random = fastrand::Rng::with_seed(5);
        for count in [6, 25, 200] {
            let mut inside = 0;
            for _ in 0..1000 {
                let (native, ours) = (samples(&mut random, count, 3.0), samples(&mut random, count, 2.0));
                let found = ratio(&native, &ours);
                inside += u32::from(found.low.unwrap() <= 1.5 && found.high.unwrap() >= 1.5);
            }
            assert!((935..=1000).contains(&inside), "{inside} of 1000 with {count} samples");
        }
    }

    #[test]
    fn reports_of_several_runs_join_as_their_runs_would() {
        let run = |ratio| Ratio { ratio, low: None, high: None };
        let runs = [0.95, 0.97, 0.93, 0.96, 0.99, 0.94].map(run);
        let [first, second] = [&runs[..4], &runs[4..]].map(|runs| (over_runs(runs).unwrap(), runs.len() as u32));
        let (all, joined) = (over_runs(&runs).unwrap(), over_reports(&[first, second]).unwrap());
        let single = [first, (runs[4], 1), (runs[5], 1)];
        for found in [joined, over_reports(&single).unwrap()] {
            let limits = [(all.ratio, found.ratio), (all.low.unwrap(), found.low.unwrap())];
            assert!(limits.iter().all(|(one, other)| (one - other).abs() < 1e-12), "{all:?} {found:?}");
        }
        assert_eq!(over_reports(&[(runs[0], 5), first]).unwrap().low, None, "nobody knows how far its runs were apart");
        assert_eq!(over_reports(&[]), None);
    }

    #[test]
    fn kinds_join_with_what_their_intervals_come_to() {
        let of = |ratio: f64, share: f64| Ratio { ratio, low: Some(ratio / share), high: Some(ratio * share) };
        let joined = over_kinds(&[of(0.9, 1.02), of(1.6, 1.02)]).unwrap();
        assert!((joined.ratio - 1.2).abs() < 1e-12);
        let narrower = 1.02f64.powf(0.5f64.sqrt());
        assert!((joined.high.unwrap() / 1.2 - narrower).abs() < 1e-12);
        assert!((1.2 / joined.low.unwrap() - narrower).abs() < 1e-12);
        let unknown = Ratio { low: None, high: None, ..of(1.6, 1.02) };
        assert_eq!(over_kinds(&[of(0.9, 1.02), unknown]).unwrap().low, None);
        let alone = over_kinds(&[of(0.9, 1.02)]).unwrap();
        assert!((alone.ratio - 0.9).abs() < 1e-12 && (alone.low.unwrap() - 0.9 / 1.02).abs() < 1e-12);
        assert_eq!(over_kinds(&[]), None);
    }

    #[test]
    fn runs_join_geometrically() {
        let one = Ratio { ratio: 2.0, low: Some(1.9), high: Some(2.1) };
        assert_eq!(over_runs(&[one]), Some(one));
        let joined = over_runs(&[one, Ratio { ratio: 0.5, low: None, high: None }]).unwrap();
        assert!((joined.ratio - 1.0).abs() < 1e-12);
        // Two runs that disagree say next to nothing: t with one degree of freedom is 12.7.
        assert!(joined.low.unwrap() < 1e-3 && joined.high.unwrap() > 1e3);
        let same = over_runs(&[one; 3]).unwrap();
        assert!((same.low.unwrap() - 2.0).abs() < 1e-9 && (same.high.unwrap() - 2.0).abs() < 1e-9);
        assert_eq!(over_runs(&[]), None);
    }
}
