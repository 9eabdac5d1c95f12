//! The segments that minimise a cost formula.
//!
//! What is minimised is the time of the messages: folds are not counted, since what they cost per byte is nothing that
//! all ranks have agreed on, as they have on α/β. Where folding a byte takes as long as sending it, the best segment of
//! a reduction is about 0.7 times as long as that of `auto`.

use super::{Call, Default, Kind, Parameter, Parameters, Shape};
use crate::pattern::segments::Segments;

/// `segment` of algorithms that gain nothing from it unless ranks have more than one port: no limit.
pub const SEGMENT: Parameter = Parameter {
    name: "segment",
    kind: Kind::Segment,
    default: Default::Unlimited,
    help: "bytes of a segment; none: the whole message at once",
};

/// `segment` of algorithms that live by it. `auto` is the optimum of the messages alone.
pub const SEGMENT_AUTO: Parameter = Parameter {
    name: "segment",
    kind: Kind::Segment,
    default: Default::Auto,
    help: "bytes of a segment; auto: the optimum of the cost formula, folds not counted; none: the whole message at once",
};

/// `max_requests` of segmented reductions.
pub const MAX_REQUESTS: Parameter = Parameter {
    name: "max_requests",
    kind: Kind::Count { least: 1 },
    default: Default::Count(8),
    help: "segments that a leaf sends before it waits for the first of them to be received",
};

/// How a message goes in segments: how long the first one takes, and by how much each further one comes later.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Rounds of the first segment.
    pub first: usize,
    /// Rounds between two segments.
    pub period: usize,
    /// Rounds that are lost as soon as a second one follows.
    pub second: usize,
    /// Rounds that are lost until the segments have found their pace, one by each further one until all are lost.
    pub late: usize,
}

impl Pace {
    /// Where no round is lost.
    pub const fn new(first: usize, period: usize) -> Self {
        Self { first, period, second: 0, late: 0 }
    }

    /// The same where so many rounds are lost, one by each further segment.
    pub const fn losing(self, late: usize) -> Self {
        Self { late, ..self }
    }

    /// Rounds that `segments` segments take.
    pub fn rounds(self, segments: usize) -> usize {
        let further = segments - 1;
        let second = if further > 0 { self.second } else { 0 };
        self.first + second + self.period * further + self.late.min(further)
    }

    /// The segments of a message of `count` units of `unit` bytes that take the least time where α/β is
    /// `half_bandwidth` bytes, all but the last of equal length.
    ///
    /// S > 1 segments of n bytes in all take R(S)(α + nβ/S), where R(S) = first + second + period·(S−1) +
    /// min(late, S−1). On either side of S−1 = late that is (a + bS)(α + nβ/S), which is least at S = √(a·nβ/(bα)). The
    /// least is flat: an α/β that is off by a factor of two costs at most a few per cent. Time for folding is left out:
    /// calls tell what messages cost, which all ranks have agreed on, and not what folds cost.
    pub fn segments(self, count: usize, unit: usize, half_bandwidth: usize) -> Segments {
        let (bytes, alpha) = ((count * unit) as f64, half_bandwidth as f64);
        let most = count.max(1);
        let time = |segments: usize| self.rounds(segments) as f64 * (alpha + bytes / segments as f64);
        let least = |first: usize, period: usize| {
            let fill = first.saturating_sub(period) as f64;
            (fill * bytes / (period as f64 * alpha)).sqrt() as usize
        };
        let first = self.first + self.second;
        let (early, settled) = (least(first, self.period + 1), least(first + self.late, self.period));
        let mut best = 1;
        for candidate in [early, early.saturating_add(1), self.late + 1, settled, settled.saturating_add(1)] {
            let candidate = candidate.clamp(1, most);
            if time(candidate) < time(best) {
                best = candidate;
            }
        }
        Segments::new(count, count.div_ceil(best))
    }
}

impl Parameters {
    /// The segments that the parameter `segment` makes of the message of `call`; `auto` is the optimum for `pace`.
    pub fn segments(&self, call: &Call, pace: Pace) -> Segments {
        self.cut(call.count, call.unit, call.half_bandwidth, pace)
    }

    /// The same for a cost formula.
    pub fn segments_of(&self, shape: &Shape, pace: Pace) -> Segments {
        self.cut(shape.bytes / shape.unit, shape.unit, shape.half_bandwidth, pace)
    }

    fn cut(&self, count: usize, unit: usize, half_bandwidth: usize, pace: Pace) -> Segments {
        match self.number("segment") {
            Some(bytes) => Segments::new(count, bytes / unit),
            None => pace.segments(count, unit, half_bandwidth),
        }
    }
}
