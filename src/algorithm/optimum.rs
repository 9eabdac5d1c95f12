//! The segment that minimises a cost formula.

use super::{Call, Default, Kind, Parameter, Parameters, Shape};
use crate::pattern::segments::Segments;

/// `segment` of algorithms that gain nothing from it unless ranks have more than one port: no limit.
pub const SEGMENT: Parameter = Parameter {
    name: "segment",
    kind: Kind::Segment,
    default: Default::Unlimited,
    help: "bytes of a segment; none: the whole message at once",
};

/// `segment` of algorithms that live by it.
pub const SEGMENT_AUTO: Parameter = Parameter {
    name: "segment",
    kind: Kind::Segment,
    default: Default::Auto,
    help: "bytes of a segment; auto: the optimum of the cost formula; none: the whole message at once",
};

/// `max_requests` of segmented reductions.
pub const MAX_REQUESTS: Parameter = Parameter {
    name: "max_requests",
    kind: Kind::Count { least: 1 },
    default: Default::Count(8),
    help: "segments that a leaf sends before it waits for the first of them to be received",
};

/// How a segmented tree goes: the first segment has gone through after `first` rounds and each further one takes
/// `period` rounds more.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Rounds of the first segment.
    pub first: usize,
    /// Rounds between two segments.
    pub period: usize,
}

impl Pace {
    /// Bytes of the best segment for a message of `bytes` bytes where α/β is `half_bandwidth` bytes.
    ///
    /// S segments take (first + (S−1)·period)(α + nβ/S), which is least at S = √((first − period)·nβ / (period·α)). The
    /// least is flat: an α/β that is off by a factor of two costs at most a few per cent.
    pub fn segment(self, bytes: usize, half_bandwidth: usize) -> usize {
        let fill = self.first.saturating_sub(self.period);
        if fill == 0 || self.period == 0 {
            return usize::MAX;
        }
        let best = (bytes as f64 * half_bandwidth as f64 * self.period as f64 / fill as f64).sqrt();
        best.max(1.0) as usize
    }
}

impl Parameters {
    /// The segments that the parameter `segment` makes of the message of `call`; `auto` is the optimum for `pace`.
    pub fn segments(&self, call: &Call, pace: Pace) -> Segments {
        let bytes = self.number("segment").unwrap_or_else(|| pace.segment(call.bytes(), call.half_bandwidth));
        Segments::new(call.count, call.units_in(bytes))
    }

    /// The same for a cost formula.
    pub fn segments_of(&self, shape: &Shape, pace: Pace) -> Segments {
        let bytes = self.number("segment").unwrap_or_else(|| pace.segment(shape.bytes, shape.half_bandwidth));
        Segments::new(shape.bytes / shape.unit, (bytes / shape.unit).max(1))
    }
}
