//! Which messages are timed to measure a link in a few milliseconds: a short one and some long ones there and back, and
//! short ones in a row.

#![forbid(unsafe_code)]

use super::estimate::{Measured, link, median};
use super::{Link, Network};
use std::time::Duration;

/// After so long nothing more is begun on a link.
pub const PATIENCE: Duration = Duration::from_millis(20);
/// After so long nothing more is begun at all.
pub const PATIENCE_IN_ALL: Duration = Duration::from_millis(50);

/// Bytes of a message that counts as empty.
pub const SHORT: usize = 8;
/// Bytes of the long messages, ascending. Of a link that is too slow for all of them, the first ones tell.
pub const LONG: [usize; 5] = [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20];
/// So many lengths have to be measured: the time per byte is in what they differ by.
const LEAST: usize = 2;
/// Short messages there and back that are timed at most, so many between two looks at the clock, in this part of the
/// time.
const SHORT_TIMES: (usize, usize, u32) = (64, 4, 8);
/// Rows of short messages: so many of so many messages, none begun after this part of the time.
const ROWS: (usize, usize, u32) = (5, 32, 6);
/// The same of a long one, in this part of the time that is left, unless none has been timed yet.
const LONG_TIMES: (usize, usize) = (9, 2);
const LONG_PART: u32 = 6;

/// A message there and back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Echo {
    /// Seconds, half of there and back.
    pub one_way: f64,
    /// Seconds of the call that sends it.
    pub sending: f64,
}

/// Two ranks and the clock of the first of them.
pub trait Pair {
    /// What may go wrong.
    type Error;

    /// Since this link's turn began.
    fn elapsed(&self) -> Duration;

    /// So many messages there and back, one after the other.
    ///
    /// # Errors
    /// Messages fail.
    fn echo(&mut self, bytes: usize, times: usize) -> Result<Vec<Echo>, Self::Error>;

    /// Seconds from one to the next of so many messages of [`SHORT`] bytes in a row.
    ///
    /// # Errors
    /// Messages fail.
    fn row(&mut self, times: usize) -> Result<f64, Self::Error>;
}

/// Measures between a pair, beginning nothing after `patience`, and nothing long that would not be over by then.
///
/// # Errors
/// Messages fail.
pub fn measure<P: Pair>(pair: &mut P, patience: Duration) -> Result<Measured, P::Error> {
    let mut measured = Measured::default();
    if pair.elapsed() >= patience {
        return Ok(measured);
    }
    let (most, each, part) = SHORT_TIMES;
    // The first ones bring connections and queues in.
    pair.echo(SHORT, each)?;
    let mut short = pair.echo(SHORT, each)?;
    while short.len() < most && pair.elapsed() < patience / part {
        short.extend(pair.echo(SHORT, each)?);
    }
    measured.one_way.push((SHORT as u64, one_way(&short)));
    measured.sending = median(short.iter().map(|echo| echo.sending));
    let (most, messages, part) = ROWS;
    let mut periods = Vec::new();
    while periods.len() < most && pair.elapsed() < patience / part {
        periods.push(pair.row(messages)?);
    }
    measured.period = median(periods);
    let mut last: Option<(usize, f64)> = None;
    for bytes in LONG {
        // A message takes at most as many times as long as it has times the bytes.
        let expected = last.map_or(0.0, |(shorter, seconds)| seconds * (bytes / shorter) as f64);
        let Some(seconds) = long(pair, bytes, expected, patience)? else { break };
        measured.one_way.push((bytes as u64, seconds));
        last = Some((bytes, seconds));
    }
    Ok(measured)
}

/// Seconds one way of a message of which they are `expected` at most, 0 if nobody knows; `None` if time does not
/// suffice.
fn long<P: Pair>(pair: &mut P, bytes: usize, expected: f64, patience: Duration) -> Result<Option<f64>, P::Error> {
    let (most, each) = LONG_TIMES;
    let begun = pair.elapsed();
    let fits = |times: usize, one_way: f64, elapsed: Duration| {
        let seconds = Duration::try_from_secs_f64(2.0 * one_way * times as f64);
        seconds.is_ok_and(|seconds| elapsed + seconds <= patience)
    };
    if begun >= patience || !fits(1 + each, expected, begun) {
        return Ok(None);
    }
    // The first one brings the pages in.
    let mut known = one_way(&pair.echo(bytes, 1)?);
    if expected > 0.0 {
        known = known.min(expected);
    } else if fits(1, known, pair.elapsed()) {
        known = known.min(one_way(&pair.echo(bytes, 1)?));
    }
    let mut echoes: Vec<Echo> = Vec::new();
    // The longer ones are to have time as well.
    let part = (patience - begun) / LONG_PART;
    while echoes.len() < most
        && (echoes.is_empty() || pair.elapsed() < begun + part)
        && fits(each, known, pair.elapsed())
    {
        echoes.extend(pair.echo(bytes, each)?);
        known = one_way(&echoes);
    }
    Ok((!echoes.is_empty()).then_some(known))
}

fn one_way(echoes: &[Echo]) -> f64 {
    median(echoes.iter().map(|echo| echo.one_way))
}

/// The link that was measured, like `preset` in all that was not; `None` where time was too short, or something
/// disturbed the measurement.
pub fn estimate(measured: &Measured, preset: &Link) -> Option<Link> {
    if measured.one_way.len() < 1 + LEAST {
        return None;
    }
    let Link { latency, overhead, gap, per_byte, .. } = link(measured);
    let link = Link { latency, overhead, gap, per_byte, ..*preset };
    (link.start_up() > 0.0 && link.start_up().is_finite() && per_byte > 0.0 && per_byte.is_finite()).then_some(link)
}

/// A network of the links that were measured, and those of the presets elsewhere.
///
/// # Panics
/// Never: both presets are there.
pub fn network([on_node, off_node]: [Option<Link>; 2]) -> Network {
    let [within, between] = [true, false].map(standing_in);
    // Copies inside a rank are not measured: they are taken to be as much faster or slower as those of messages are.
    let memory = on_node.map_or(1.0, |link| link.per_byte / within.on_node.per_byte);
    Network {
        name: "measured".to_owned(),
        description: "Measured in MPI_Init.".to_owned(),
        on_node: on_node.unwrap_or(within.on_node),
        off_node: off_node.unwrap_or(between.off_node),
        per_copied_byte: between.per_copied_byte * memory,
        ..between
    }
}

/// The preset that stands for links within a node, or between nodes, where nobody has measured.
///
/// # Panics
/// Never: both are there.
pub fn standing_in(one_node: bool) -> Network {
    Network::preset(if one_node { "shared_memory" } else { "ethernet" }).expect("it is a preset")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// A link in numbers; the clock is what its messages take.
    struct Made {
        start_up: f64,
        per_byte: f64,
        /// Every so many messages one takes a time slice longer.
        slice: Option<usize>,
        elapsed: f64,
        begun: Vec<f64>,
        messages: usize,
    }

    impl Made {
        fn new(start_up: f64, per_byte: f64) -> Self {
            Self { start_up, per_byte, slice: None, elapsed: 0.0, begun: Vec::new(), messages: 0 }
        }

        fn one(&mut self, bytes: usize) -> f64 {
            self.messages += 1;
            let late = self.slice.is_some_and(|each| self.messages.is_multiple_of(each));
            self.start_up + bytes as f64 * self.per_byte + if late { 4e-3 } else { 0.0 }
        }
    }

    impl Pair for Made {
        type Error = Infallible;

        fn elapsed(&self) -> Duration {
            Duration::from_secs_f64(self.elapsed)
        }

        fn echo(&mut self, bytes: usize, times: usize) -> Result<Vec<Echo>, Infallible> {
            let echo = |_| {
                self.begun.push(self.elapsed);
                let one_way = self.one(bytes);
                self.elapsed += 2.0 * one_way;
                Echo { one_way, sending: self.start_up / 10.0 }
            };
            Ok((0..times).map(echo).collect())
        }

        fn row(&mut self, times: usize) -> Result<f64, Infallible> {
            self.begun.push(self.elapsed);
            let period = self.start_up / 5.0;
            self.elapsed += times as f64 * period + self.one(SHORT);
            Ok(period)
        }
    }

    fn measured(link: &mut Made) -> Option<Link> {
        let Ok(measured) = measure(link, PATIENCE);
        estimate(&measured, &standing_in(false).off_node)
    }

    fn near(found: f64, expected: f64, by: f64) {
        assert!((found / expected - 1.0).abs() < by, "{found} in place of {expected}");
    }

    /// Shared memory, InfiniBand, 10 Gbit/s, 1 Gbit/s and 100 Mbit/s.
    const LINKS: [(f64, f64); 5] = [(4e-7, 1e-10), (1.3e-6, 4e-11), (2e-5, 8.5e-10), (4e-5, 8.5e-9), (1e-4, 8.5e-8)];

    #[test]
    fn links_come_back_within_the_time() {
        for (start_up, per_byte) in LINKS {
            let mut made = Made::new(start_up, per_byte);
            let link = measured(&mut made).unwrap_or_else(|| panic!("nothing of {start_up} and {per_byte}"));
            near(link.start_up(), start_up + SHORT as f64 * per_byte, 0.01);
            near(link.per_byte, per_byte, 0.01);
            near(link.overhead, start_up / 10.0, 0.01);
            near(link.gap, start_up / 5.0, 0.01);
            assert!(made.elapsed <= PATIENCE.as_secs_f64(), "{} s for {start_up} and {per_byte}", made.elapsed);
            assert!(made.messages < 150, "{} messages", made.messages);
        }
    }

    #[test]
    fn nothing_is_begun_late_on_links_however_slow() {
        for start_up in [1e-6, 1e-4, 1e-3, 1e-2, 1.0] {
            for per_byte in [1e-10, 1e-8, 1e-6, 1e-4] {
                let mut made = Made::new(start_up, per_byte);
                measured(&mut made);
                // What cannot be known before is what the first messages take.
                let known = made.begun.iter().skip(2 * SHORT_TIMES.1).fold(0.0f64, |last, begun| last.max(*begun));
                assert!(known <= PATIENCE.as_secs_f64(), "begun after {known} s on {start_up} and {per_byte}");
                assert!(made.messages < 150, "{} messages", made.messages);
            }
        }
        let mut made = Made { elapsed: 0.02, ..Made::new(1e-6, 1e-10) };
        assert!(measured(&mut made).is_none() && made.messages == 0, "no time is left");
    }

    #[test]
    fn slices_of_the_scheduler_change_little() {
        for slice in [11, 23, 40] {
            let mut made = Made { slice: Some(slice), ..Made::new(4e-7, 1e-10) };
            let link = measured(&mut made).unwrap_or_else(|| panic!("no measurement with slices of {slice}"));
            near(link.start_up(), 4e-7, 0.1);
            near(link.per_byte, 1e-10, 0.1);
        }
    }

    #[test]
    fn what_more_bytes_do_not_lengthen_is_no_measurement() {
        assert!(measured(&mut Made::new(1e-5, 0.0)).is_none());
        assert!(measured(&mut Made::new(0.0, 1e-9)).is_some(), "the bytes of a short message are its start-up time");
    }

    #[test]
    fn links_that_were_not_measured_are_the_presets() {
        let link = Link { per_byte: 3e-10, ..standing_in(true).on_node };
        let both = network([None; 2]);
        assert_eq!([both.on_node, both.off_node], [standing_in(true).on_node, standing_in(false).off_node]);
        assert_eq!((network([Some(link), None]).on_node, network([Some(link), None]).off_node), (link, both.off_node));
        assert_eq!((network([None, Some(link)]).on_node, network([None, Some(link)]).off_node), (both.on_node, link));
        let text = serde_json::to_string(&network([Some(link), None])).unwrap();
        assert_eq!(Network::parse("x", &text).unwrap(), network([Some(link), None]));
        assert_eq!(both.protocol_limits(), None, "limits are measured or known, as without a network");
    }
}
