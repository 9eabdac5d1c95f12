//! Whether the two buffers of a call share memory: arithmetic on distances, without addresses of its own.
//!
//! MPI forbids it, but libraries accept some of it, and programs do it: every rewrite of a schedule that rests on
//! buffers that lie apart has to ask here, at every call, since the same arguments may come with other addresses.

/// How the buffer that a rank sends from lies to the one it receives into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overlap {
    /// No byte is in both.
    #[default]
    Apart,
    /// The rank's contribution lies exactly where its own part of the result does: as with `MPI_IN_PLACE`.
    InPlace,
    /// Some bytes may be in both, in another way.
    Partial,
}

/// The bytes that a buffer reaches over, counted from the address that the program passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    first: isize,
    end: isize,
}

impl Reach {
    /// Of `count` elements that use `true_extent` bytes from `true_lower` on and follow each other at `extent` bytes.
    pub fn of(count: usize, true_lower: isize, true_extent: usize, extent: isize) -> Self {
        if count == 0 || true_extent == 0 {
            return Self { first: 0, end: 0 };
        }
        let last = extent * (count as isize - 1);
        Self { first: true_lower + last.min(0), end: true_lower + true_extent as isize + last.max(0) }
    }

    /// The same so many bytes further on.
    #[must_use]
    pub const fn moved(self, bytes: isize) -> Self {
        Self { first: self.first.wrapping_add(bytes), end: self.end.wrapping_add(bytes) }
    }

    /// From the first byte of either to the last one of either.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self.is_empty(), other.is_empty()) {
            (true, _) => other,
            (_, true) => self,
            _ => Self { first: self.first.min(other.first), end: self.end.max(other.end) },
        }
    }

    /// Bytes from the address passed to the first one.
    pub const fn first(self) -> isize {
        self.first
    }

    /// From the first byte to past the last.
    pub const fn bytes(self) -> usize {
        if self.is_empty() { 0 } else { self.first.abs_diff(self.end) }
    }

    const fn is_empty(self) -> bool {
        self.first >= self.end
    }
}

/// What the overlap of a call's buffers rests on besides the distance between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Distances {
    /// The distances at which the buffers touch: `width` of them from `first` on.
    first: isize,
    width: usize,
    /// The distance at which the contribution lies in its place.
    in_place: Option<isize>,
}

impl Distances {
    /// Of buffers that do not overlap wherever they lie.
    pub const NOWHERE: Self = Self { first: 0, width: 0, in_place: None };

    /// Of buffers that reach so far. `in_place` is the distance at which the contribution is its own part of the
    /// result; `None` where the two are laid out differently.
    pub fn of(send: Reach, receive: Reach, in_place: Option<isize>) -> Self {
        if send.is_empty() || receive.is_empty() {
            return Self::NOWHERE;
        }
        // With the send buffer at distance d: d + send.first < receive.end and receive.first < d + send.end.
        let first = receive.first - send.end + 1;
        Self { first, width: (receive.end - send.first - first) as usize, in_place }
    }

    /// How the buffers lie if the address of the send buffer less that of the receive buffer is `distance`.
    #[inline(always)]
    pub fn overlap(&self, distance: isize) -> Overlap {
        if distance.wrapping_sub(self.first) as usize >= self.width {
            Overlap::Apart
        } else if self.in_place == Some(distance) {
            Overlap::InPlace
        } else {
            Overlap::Partial
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The distances from -40 to 40, told by marking bytes.
    fn by_bytes(send: (usize, isize, usize, isize), receive: (usize, isize, usize, isize)) -> Vec<bool> {
        let marked = |(count, lower, bytes, extent): (usize, isize, usize, isize)| {
            let starts = (0..count as isize).map(|element| element * extent + lower).collect::<Vec<_>>();
            let lowest = starts.iter().min().copied().unwrap_or(0);
            let end = starts.iter().max().map_or(0, |start| start + bytes as isize);
            (lowest..end.max(lowest)).collect::<Vec<_>>()
        };
        let (send, receive) = (marked(send), marked(receive));
        (-40..=40).map(|distance| send.iter().any(|byte| receive.contains(&(byte + distance)))).collect()
    }

    #[test]
    fn touching_is_told_as_by_marking_bytes() {
        let layouts = [
            (0, 0, 4, 4),
            (1, 0, 4, 4),
            (3, 0, 4, 4),
            (2, 0, 4, 12),
            (2, -3, 5, 7),
            (3, 2, 4, -5),
            (4, 0, 0, 3),
            (3, 1, 2, 0),
        ];
        for send in layouts {
            for receive in layouts {
                let reach = |(count, lower, bytes, extent)| Reach::of(count, lower, bytes, extent);
                let distances = Distances::of(reach(send), reach(receive), None);
                let told: Vec<_> = (-40..=40).map(|distance| distances.overlap(distance) != Overlap::Apart).collect();
                let empty = |layout: (usize, isize, usize, isize)| layout.0 == 0 || layout.2 == 0;
                let expected = if empty(send) || empty(receive) { vec![false; 81] } else { by_bytes(send, receive) };
                assert_eq!(told, expected, "{send:?} {receive:?}");
            }
        }
    }

    #[test]
    fn reaches_are_moved_and_joined() {
        let one = |count, at| Reach::of(count, 0, 4, 4).moved(at);
        assert_eq!(one(2, 8).and(one(1, -4)), Reach { first: -4, end: 16 });
        assert_eq!(one(0, 100).and(one(1, 8)), one(1, 8), "what is empty lies nowhere");
        assert_eq!(one(1, 8).and(Reach::default()), one(1, 8));
    }

    #[test]
    fn the_own_block_is_in_place_and_others_are_not() {
        // Rank 2 of four ranks that gather two ints each.
        let distances = Distances::of(Reach::of(2, 0, 4, 4), Reach::of(8, 0, 4, 4), Some(16));
        assert_eq!(distances.overlap(16), Overlap::InPlace);
        for distance in [-7, -4, 0, 8, 15, 17, 24, 31] {
            assert_eq!(distances.overlap(distance), Overlap::Partial, "{distance}");
        }
        for distance in [-8, -100, 32, 1000, isize::MIN, isize::MAX] {
            assert_eq!(distances.overlap(distance), Overlap::Apart, "{distance}");
        }
    }

    #[test]
    fn what_is_empty_overlaps_nothing() {
        for distance in [isize::MIN, -1, 0, 1, isize::MAX] {
            assert_eq!(Distances::NOWHERE.overlap(distance), Overlap::Apart);
        }
        let nothing = Distances::of(Reach::of(0, 0, 4, 4), Reach::of(8, 0, 4, 4), Some(0));
        assert_eq!(nothing.overlap(0), Overlap::Apart);
    }
}
