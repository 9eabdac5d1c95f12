//! Blocks that lie in several places, as they are sent in one message or handed out of one.

use crate::operation::{Comm, Range};
use smallvec::SmallVec;

/// Several ranges as one after the other; neighbours are one.
pub type Ranges = SmallVec<[Range; 8]>;

/// Appends a range.
pub fn push(ranges: &mut Ranges, range: Range) {
    match ranges.last_mut() {
        Some(last) if last.buffer == range.buffer && last.end() == range.start => last.len += range.len,
        _ => ranges.push(range),
    }
}

/// How many units they hold.
pub fn units(ranges: &Ranges) -> usize {
    ranges.iter().map(|range| range.len).sum()
}

/// One range with what the ranges hold: they themselves if they are one, else a copy in `room`.
pub fn packed(comm: &mut dyn Comm, ranges: &Ranges, room: impl FnOnce(&mut dyn Comm) -> Range) -> Range {
    if let [only] = ranges[..] {
        return only;
    }
    let room = room(comm);
    let mut end = 0;
    for range in ranges {
        comm.copy(*range, room.part(end, range.len));
        end += range.len;
    }
    room.part(0, end)
}

/// Copies what some ranges hold to others, of the same length together.
pub fn copy(comm: &mut dyn Comm, from: &Ranges, into: &Ranges) {
    let (mut place, mut done) = (0, 0);
    for target in into {
        let mut filled = 0;
        while filled < target.len {
            let source = from[place];
            let len = (source.len - done).min(target.len - filled);
            comm.copy(source.part(done, len), target.part(filled, len));
            (filled, done) = (filled + len, done + len);
            if done == source.len {
                (place, done) = (place + 1, 0);
            }
        }
    }
}
