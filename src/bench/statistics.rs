//! From samples to numbers. Nothing here assumes a shape of the noise.

#![forbid(unsafe_code)]

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
    let sorted = sorted(samples);
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
    quantile(&sorted(values), 0.5)
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// Of sorted values, linear between neighbours.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    sorted[below] + (sorted[above] - sorted[below]) * place.fract()
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
        let sorted = sorted(samples);
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
    if let [only] = ratios {
        return Some(*only);
    }
    let ratio = geometric_mean(ratios.iter().map(|one| one.ratio))?;
    let runs = ratios.len() as f64;
    let variance = ratios.iter().map(|one| (one.ratio / ratio).ln().powi(2)).sum::<f64>() / (runs - 1.0);
    let student = StudentsT::new(0.0, 1.0, runs - 1.0).expect("a degree of freedom is left");
    let half = student.inverse_cdf(f64::midpoint(1.0, CONFIDENCE)) * (variance / runs).sqrt();
    Some(Ratio { ratio, low: Some(ratio * (-half).exp()), high: Some(ratio * half.exp()) })
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
