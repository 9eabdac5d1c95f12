//! What is a difference and what is noise.
//!
//! Runs of one program differ from one another, and only several runs of a side tell by how much: then the means of a
//! call in each run are compared, by Welch's t-test of their logarithms. Of one run on a side nothing is known but how
//! much its own calls differ. That says how well its mean is known, but not what another run would have given; so
//! besides the means being apart by three of their errors, they have to be apart by what runs on a quiet machine differ
//! by anyway. Where the other side has several runs, these tell between which times one more like them would be, and
//! the single run has to be outside of that, too (a prediction interval). Calls of all ranks in one collective end
//! together, so they count as one.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Probability of calling noise a difference, where there are several runs.
const SIGNIFICANCE: f64 = 0.05;

/// Errors of the means that they have to be apart, where there is one run of a side.
const ERRORS: f64 = 3.0;

/// What they have to be apart then at least, as a part of the smaller one: means of the same calls in runs after one
/// another, on an otherwise idle machine, were mostly within that.
const LEAST: f64 = 0.05;

/// What became of the calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Those of the second side take less time.
    Faster,
    /// They take more time.
    Slower,
    /// The times do not tell the sides apart.
    Noise,
    /// Only the first side has such calls.
    Gone,
    /// Only the second has them.
    New,
}

impl Change {
    /// In words.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Noise => "noise",
            Self::Gone => "only A",
            Self::New => "only B",
        }
    }

    /// The same, if the means over all calls say so too: where runs have different numbers of calls, those may be apart
    /// the other way than the runs' means, and then neither is certain.
    pub fn borne_out_by(self, a: Option<f64>, b: Option<f64>) -> Self {
        match (self, a, b) {
            (Self::Faster, Some(a), Some(b)) if b >= a => Self::Noise,
            (Self::Slower, Some(a), Some(b)) if b <= a => Self::Noise,
            _ => self,
        }
    }
}

/// The calls of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Mean time of a call, seconds.
    pub mean: f64,
    /// Calls of a rank.
    pub calls: u64,
    /// Standard deviation of a call, as a part of the mean.
    pub deviation: f64,
}

/// Standard deviation as a part of the mean, of durations and how many calls took up to that long, by powers of two.
pub fn deviation(durations: &[(f64, u64)]) -> f64 {
    // The middle of a class is three quarters of its upper end.
    let all: f64 = durations.iter().map(|(_, calls)| *calls as f64).sum();
    let mean = durations.iter().map(|(seconds, calls)| 0.75 * seconds * *calls as f64).sum::<f64>() / all.max(1.0);
    let square = |seconds: f64| (0.75 * seconds - mean).powi(2);
    let variance =
        durations.iter().map(|(seconds, calls)| square(*seconds) * *calls as f64).sum::<f64>() / all.max(1.0);
    // Within a class, which is from half its end to its end, calls differ too.
    let within = 1.0 / 27.0;
    if mean > 0.0 { (variance / (mean * mean) + within).sqrt() } else { 0.0 }
}

/// The mean of the runs' means, each of which counts as one; nothing if no run has such calls.
fn mean(samples: &[Sample]) -> Option<f64> {
    (!samples.is_empty()).then(|| samples.iter().map(|sample| sample.mean).sum::<f64>() / samples.len() as f64)
}

/// How it is told, for the reader.
pub fn told_apart_by(a: usize, b: usize) -> String {
    if a > 1 && b > 1 {
        format!(
            "{a} and {b} runs: faster and slower where Welch's t-test of the runs' means sees a difference \
             (wrongly in {:.0} of 100 cases)",
            SIGNIFICANCE * 100.0
        )
    } else if a > 1 || b > 1 {
        format!(
            "{a} and {b} runs: faster and slower where a single run's mean is where one more run like those of the other side would be in \
             {:.0} of 100 cases at most, and means are apart by {:.0} % and by {ERRORS:.0} times what calls within the runs explain",
            SIGNIFICANCE * 100.0,
            LEAST * 100.0
        )
    } else {
        format!(
            "a single run on each side does not show how much runs vary: faster and slower where means differ by {:.0} % and \
             by {ERRORS:.0} times what calls within the runs explain; --diff takes several runs of a side, A1,A2,.. B1,B2,..",
            LEAST * 100.0
        )
    }
}

/// What became of a sum over a run's calls; none unless both sides have several runs, since calls within a run say
/// nothing of how its sums vary.
pub fn judge_sums(a: &[f64], b: &[f64]) -> Option<Change> {
    if a.len() < 2 || b.len() < 2 || a.iter().chain(b).any(|sum| *sum <= 0.0) {
        return None;
    }
    let samples = |sums: &[f64]| sums.iter().map(|mean| Sample { mean: *mean, calls: 1, deviation: 0.0 }).collect();
    let (a, b): (Vec<Sample>, Vec<Sample>) = (samples(a), samples(b));
    Some(judge(&a, &b))
}

/// What became of the calls of `a` in `b`.
pub fn judge(a: &[Sample], b: &[Sample]) -> Change {
    let (Some(mean_a), Some(mean_b)) = (mean(a), mean(b)) else {
        return if b.is_empty() { Change::Gone } else { Change::New };
    };
    let apart = match (a, b) {
        ([one], [other]) => seem_apart(&[*one], &[*other]),
        ([one], several) | (several, [one]) => seem_apart(a, b) && is_unlike(*one, several),
        _ => are_apart(a, b),
    };
    match (apart, mean_b < mean_a) {
        (false, _) => Change::Noise,
        (true, true) => Change::Faster,
        (true, false) => Change::Slower,
    }
}

/// Logarithm of a run's mean.
fn logarithm(sample: &Sample) -> f64 {
    sample.mean.max(f64::MIN_POSITIVE).ln()
}

/// Mean and variance of the logarithms of the means of two runs or more.
fn of_logarithms(samples: &[Sample]) -> (f64, f64) {
    let logarithms: Vec<f64> = samples.iter().map(logarithm).collect();
    let number = logarithms.len() as f64;
    let mean = logarithms.iter().sum::<f64>() / number;
    (mean, logarithms.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (number - 1.0))
}

/// Whether a run is outside of where one more like `several` would be.
fn is_unlike(one: Sample, several: &[Sample]) -> bool {
    let ((mean, variance), number) = (of_logarithms(several), several.len() as f64);
    let (distance, error) = ((logarithm(&one) - mean).abs(), (variance * (1.0 + 1.0 / number)).sqrt());
    if error <= 0.0 {
        return distance > 0.0;
    }
    let Ok(distribution) = StudentsT::new(0.0, 1.0, number - 1.0) else { return false };
    2.0 * distribution.sf(distance / error) < SIGNIFICANCE
}

/// Welch's t-test of the logarithms of the runs' means.
fn are_apart(a: &[Sample], b: &[Sample]) -> bool {
    let moments = |samples: &[Sample]| {
        let ((mean, variance), number) = (of_logarithms(samples), samples.len() as f64);
        (mean, variance / number, number - 1.0)
    };
    let ((mean_a, error_a, freedom_a), (mean_b, error_b, freedom_b)) = (moments(a), moments(b));
    let error = error_a + error_b;
    if error <= 0.0 {
        return mean_a != mean_b;
    }
    let freedom = error * error / (error_a * error_a / freedom_a + error_b * error_b / freedom_b);
    let Ok(distribution) = StudentsT::new(0.0, 1.0, freedom) else { return false };
    let distance = (mean_a - mean_b).abs() / error.sqrt();
    2.0 * distribution.sf(distance) < SIGNIFICANCE
}

/// The same from how much calls differ within runs.
fn seem_apart(a: &[Sample], b: &[Sample]) -> bool {
    let moments = |samples: &[Sample]| {
        let calls: f64 = samples.iter().map(|sample| sample.calls as f64).sum();
        let deviation = samples.iter().map(|sample| sample.deviation).fold(0.0, f64::max);
        let mean = mean(samples).unwrap_or(0.0);
        (mean, (mean * deviation).powi(2) / calls.max(1.0))
    };
    let ((mean_a, error_a), (mean_b, error_b)) = (moments(a), moments(b));
    let distance = (mean_a - mean_b).abs();
    distance > ERRORS * (error_a + error_b).sqrt() && distance > LEAST * mean_a.min(mean_b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_judged_by_how_much_runs_differ() {
        assert_eq!(judge_sums(&[1.0, 1.01, 0.99], &[1.5, 1.51, 1.49]), Some(Change::Slower));
        assert_eq!(judge_sums(&[1.0, 2.0, 1.5], &[1.6, 1.1, 2.4]), Some(Change::Noise));
        assert_eq!(judge_sums(&[1.0], &[1.5, 1.51, 1.49]), None, "a single run");
        assert_eq!(judge_sums(&[0.0, 0.0], &[1.0, 1.1]), None, "no collectives in A");
    }

    #[test]
    fn no_verdict_denies_the_means() {
        let means = |a, b| [Change::Faster, Change::Slower, Change::Gone].map(|change| change.borne_out_by(a, b));
        assert_eq!(means(Some(2.0), Some(1.0)), [Change::Faster, Change::Noise, Change::Gone]);
        assert_eq!(means(Some(1.0), Some(2.0)), [Change::Noise, Change::Slower, Change::Gone]);
        assert_eq!(means(Some(1.0), None), [Change::Faster, Change::Slower, Change::Gone]);
    }

    fn run(mean: f64, calls: u64) -> Sample {
        Sample { mean, calls, deviation: 0.5 }
    }

    #[test]
    fn single_runs_are_told_apart_where_calls_say_so_and_runs_would_not() {
        for (a, b, expected) in [
            // Known to half a per cent, and twice as fast.
            (run(2.0, 10_000), run(1.0, 10_000), Change::Faster),
            (run(1.0, 10_000), run(2.0, 10_000), Change::Slower),
            // Three calls of that spread say nothing.
            (run(2.0, 3), run(1.5, 3), Change::Noise),
            // Known well, but another run of the same may do as much.
            (run(1.03, 1_000_000), run(1.0, 1_000_000), Change::Noise),
        ] {
            assert_eq!(judge(&[a], &[b]), expected, "{a:?} {b:?}");
        }
        assert_eq!(judge(&[run(1.0, 1)], &[]), Change::Gone);
        assert_eq!(judge(&[], &[run(1.0, 1)]), Change::New);
    }

    #[test]
    fn several_runs_say_themselves_how_much_they_differ() {
        let runs = |means: &[f64]| means.iter().map(|mean| run(*mean, 10)).collect::<Vec<_>>();
        assert_eq!(judge(&runs(&[1.00, 1.01, 0.99]), &runs(&[0.95, 0.96, 0.94])), Change::Faster);
        assert_eq!(judge(&runs(&[1.0, 1.4, 0.7]), &runs(&[0.8, 1.3, 0.6])), Change::Noise);
        assert_eq!(judge(&runs(&[1.0, 1.0]), &runs(&[1.0, 1.0])), Change::Noise);
    }

    #[test]
    fn a_single_run_is_held_to_what_the_others_differ_by() {
        let runs = |means: &[f64]| means.iter().map(|mean| run(*mean, 1_000_000)).collect::<Vec<_>>();
        let differing = runs(&[1.0, 1.3, 0.8]);
        for (mean, expected) in
            [(0.8, Change::Noise), (1.5, Change::Noise), (0.1, Change::Faster), (10.0, Change::Slower)]
        {
            assert_eq!(judge(&differing, &runs(&[mean])), expected, "{mean}");
        }
        assert_eq!(judge(&runs(&[0.1]), &differing), Change::Slower);
        assert_eq!(judge(&runs(&[0.8]), &differing), Change::Noise);
        let alike = runs(&[1.0, 1.01, 0.99]);
        assert_eq!(judge(&alike, &runs(&[0.9])), Change::Faster);
        assert_eq!(judge(&alike, &runs(&[0.96])), Change::Noise, "runs on a quiet machine differ by as much");
        assert_eq!(judge(&runs(&[1.0, 1.0]), &runs(&[0.5])), Change::Faster);
        assert!(told_apart_by(3, 1).starts_with("3 and 1 runs: ") && told_apart_by(1, 1).starts_with("a single run"));
    }

    #[test]
    fn noise_is_rarely_called_a_difference() {
        // Means of three runs each, log-normal with a tenth of spread, from a fixed generator.
        let mut state = 7u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut normal = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
        let trials = 4000;
        let wrong = (0..trials).filter(|_| {
            let mut runs = || (0..3).map(|_| run((0.1 * normal()).exp(), 100)).collect::<Vec<_>>();
            judge(&runs(), &runs()) != Change::Noise
        });
        let rate = wrong.count() as f64 / f64::from(trials);
        assert!((0.02..0.065).contains(&rate), "{rate}");
    }

    #[test]
    fn the_spread_of_calls_is_that_of_their_classes() {
        assert!((deviation(&[(8.0, 100)]) - (1.0f64 / 27.0).sqrt()).abs() < 1e-12);
        assert!(deviation(&[(1.0, 99), (1024.0, 1)]) > 5.0, "rare long calls count");
        assert_eq!(deviation(&[]), 0.0);
    }
}
