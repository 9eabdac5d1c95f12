//! A count of units cut into segments of equal length, the last one shorter.

use std::ops::Range;

/// `count` units in segments of `length` units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segments {
    count: usize,
    length: usize,
}

impl Segments {
    /// Segments of `length` units (at least 1, at most `count` is used).
    pub fn new(count: usize, length: usize) -> Self {
        Self { count, length: length.clamp(1, count.max(1)) }
    }

    /// One segment.
    pub const fn whole(count: usize) -> Self {
        Self { count, length: if count == 0 { 1 } else { count } }
    }

    /// Number of segments; at least 1, so that an empty message is still one message.
    pub const fn number(&self) -> usize {
        if self.count == 0 { 1 } else { self.count.div_ceil(self.length) }
    }

    /// Units of segment `segment`.
    pub fn units(&self, segment: usize) -> Range<usize> {
        let start = (segment * self.length).min(self.count);
        start..(start + self.length).min(self.count)
    }

    /// Units of the longest segment.
    pub const fn length(&self) -> usize {
        self.length
    }
}

#[cfg(test)]
mod tests {
    use super::Segments;

    #[test]
    fn segments_cover_all_units_in_order() {
        for count in 0..200 {
            for length in 1..210 {
                let segments = Segments::new(count, length);
                let mut next = 0;
                for segment in 0..segments.number() {
                    let units = segments.units(segment);
                    assert_eq!(units.start, next);
                    assert!(count == 0 || !units.is_empty());
                    next = units.end;
                }
                assert_eq!(next, count);
            }
        }
    }
}
