//! From measured times to a link: robust lines through medians, so that a few disturbed samples change nothing.

#![forbid(unsafe_code)]

use super::Link;
use crate::statistics;

/// Messages of up to so many bytes count as empty: their bytes take no time worth mentioning on any network.
pub const EMPTY: u64 = 64;
/// Messages from here on show what their bytes cost.
const LONG: u64 = 8192;
/// A limit that no message reaches: everything leaves at once.
const NO_LIMIT: u64 = 1 << 40;
/// From here on two that should take once the time take rather twice as long.
const RATHER_TWICE: f64 = 1.5;
/// From here on, of two messages of one rank to two others, the first to arrive comes with the second rather than after
/// half their time.
const RATHER_TOGETHER: f64 = 0.75;

/// What was measured between two ranks, seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Bytes and time of a message one way: half of there and back.
    pub one_way: Vec<(u64, f64)>,
    /// A rank's own time in a send of few bytes.
    pub sending: f64,
    /// From one message of few bytes to the next in a row of them.
    pub period: f64,
    /// Fewest bytes of which a send waits for its receive; none if none did.
    pub eager_limit: Option<u64>,
    /// Time of two messages at once in opposite directions that wait for their receives, and of one alone.
    pub swap: Option<[f64; 2]>,
    /// When the first and the second of two messages to two ranks had arrived that wait for their receives.
    pub two: Option<[f64; 2]>,
    /// How much longer a message takes to reach a rank that is sending a long one to a third, if it waits for its
    /// receive.
    pub behind: Option<f64>,
}

/// The link that explains what was measured.
pub fn link(measured: &Measured) -> Link {
    let empty = median(measured.one_way.iter().filter(|(bytes, _)| *bytes <= EMPTY).map(|(_, time)| *time));
    // Every part of the shortest message is some part of its time.
    let overhead = measured.sending.clamp(0.0, empty / 3.0);
    let gap = measured.period.clamp(0.0, empty / 3.0);
    let eager_limit = measured.eager_limit.unwrap_or(NO_LIMIT);
    let waiting: Vec<_> = measured.one_way.iter().copied().filter(|(bytes, _)| *bytes >= eager_limit).collect();
    let per_byte = slope(if waiting.len() > 1 { &waiting } else { &measured.one_way }).max(0.0);
    let extra = |(bytes, time): &(u64, f64)| time - empty - *bytes as f64 * per_byte;
    let eager = measured.one_way.iter().filter(|(bytes, _)| (LONG..eager_limit).contains(bytes));
    // What comes sooner than its bytes at the rate of long messages was let through at once.
    let early = -median(eager.map(extra)).min(0.0);
    let above = median(waiting.iter().map(extra)) + early;
    let shares = measured.two.is_some_and(|[first, second]| first > RATHER_TOGETHER * second);
    let bytes = |seconds: f64| if per_byte > 0.0 { (seconds / per_byte) as u64 } else { 0 };
    // Where nothing is left, rounding may leave less than nothing.
    let latency = (empty - 2.0 * overhead - gap).max(0.0);
    Link {
        latency,
        overhead,
        gap,
        per_byte,
        eager_limit,
        handshake: if waiting.is_empty() { 2.0 * latency } else { above.max(0.0) },
        half_duplex: measured.swap.is_some_and(|[both, one]| both > RATHER_TWICE * one),
        shares,
        burst: if shares { bytes(early) } else { 0 },
        queue: if shares { bytes(measured.behind.unwrap_or(0.0).max(0.0)) } else { 0 },
    }
}

/// The median; 0 of nothing, as of what no time was left to measure.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    statistics::median(values).unwrap_or(0.0)
}

/// Slope of the line through points: the median of the slopes between any two, weighted by how far apart they are
/// (Theil and Sen; weights after Jaeckel).
fn slope(points: &[(u64, f64)]) -> f64 {
    let mut slopes = Vec::new();
    for (place, (bytes, time)) in points.iter().enumerate() {
        for (other_bytes, other_time) in &points[..place] {
            let apart = *bytes as f64 - *other_bytes as f64;
            if apart != 0.0 {
                slopes.push(((time - other_time) / apart, apart.abs()));
            }
        }
    }
    slopes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = slopes.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let mut passed = 0.0;
    let middle = slopes.iter().find(|(_, weight)| {
        passed += weight;
        passed >= half
    });
    middle.map_or(0.0, |(slope, _)| *slope)
}

/// What a network of 20 us and 1 ns a byte shows, with 30 us more from 64 KiB on, one size disturbed.
#[cfg(test)]
pub fn example() -> Measured {
    let time = |bytes: u64| 20e-6 + bytes as f64 * 1e-9 + if bytes >= 65536 { 30e-6 } else { 0.0 };
    let mut one_way: Vec<_> =
        (3..23).map(|power| 1 << power).map(|bytes| (bytes, if bytes == 8 { 20e-6 } else { time(bytes) })).collect();
    one_way.iter_mut().filter(|(bytes, _)| *bytes == 1 << 18).for_each(|(_, time)| *time *= 3.0);
    Measured {
        one_way,
        sending: 2e-6,
        period: 1e-6,
        eager_limit: Some(65536),
        swap: Some([2.0, 1.0]),
        two: Some([1.0, 2.0]),
        behind: Some(1e-4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-6, "{found} instead of {expected}");
    }

    #[test]
    fn parameters_come_back() {
        let link = link(&example());
        near(link.per_byte, 1e-9);
        assert!((link.handshake - 30e-6).abs() < 1e-7, "{link:?}");
        assert!((link.latency + 2.0 * link.overhead + link.gap - 20e-6).abs() < 1e-7, "{link:?}");
        assert_eq!((link.eager_limit, link.half_duplex, link.shares), (65536, true, false));
        assert_eq!((link.burst, link.queue), (0, 0), "they are of shared ports");
    }

    #[test]
    fn bursts_and_queues_come_back() {
        let mut measured = Measured { two: Some([1.0, 1.0]), ..example() };
        measured.one_way.iter_mut().filter(|(bytes, _)| *bytes >= 8192).for_each(|(_, time)| *time -= 6e-6);
        let link = link(&measured);
        assert!(link.shares && link.burst.abs_diff(6000) < 100 && link.queue.abs_diff(100_000) < 100, "{link:?}");
        assert!((link.handshake - 30e-6).abs() < 1e-7, "{link:?}");
    }
}
