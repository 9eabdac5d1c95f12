//! What lies where in a segment: a header, what each rank shows of itself, a channel for each ordered pair of ranks,
//! the board of the algorithms that live in shared memory, and the channels' tracks, whose memory is not there before
//! they are used.
//!
//! Flags and data of different writers share no line of the cache, nor a pair of lines, which processors fetch
//! together.

use super::board::Board;
use super::cache::evicts_to_shared;
use super::channel::{Emptied, Ring, Slot};
use super::chunks::Chunks;
use super::lending::Shown;
use super::memory::BANKS;
use super::track::Track;
use std::ops::Range;

/// Bytes that channels begin at multiples of.
const PAIR_OF_LINES: usize = 128;
/// Bytes that the board begins at a multiple of.
const PAGE: usize = 4096;

/// Bytes of a channel before its slots: what its receiver has emptied, and chunks.
const BEFORE_SLOTS: usize = 2 * PAIR_OF_LINES;

/// Bytes of the header: the token.
const HEADER: usize = PAIR_OF_LINES;

/// Bytes in the areas of a rank's channels and in its windows at most.
const MOST_PER_RANK: usize = 1 << 20;
/// Bytes of a segment at most.
const MOST: usize = 64 << 20;
/// Bytes of a channel's track, the longest for which all of a segment take no more than [`MOST_OF_TRACKS`]; with more
/// ranks there are none. A longer one than twice the cache of a core gains nothing, a shorter one less.
const TRACKS: [usize; 2] = [2 << 20, 1 << 20];
/// Bytes of all tracks of a segment, if all are used.
const MOST_OF_TRACKS: usize = 64 << 20;
/// Ranks of a node at most.
const MOST_RANKS: usize = 4096;

/// Slots of a channel, bytes of a slot's area, and bytes of a bank of a window, the best first. With many ranks memory
/// counts. Areas of 4 KiB take less time than fewer of the same room: between two cores of an Intel Xeon 16 KiB there
/// and back 2.08 µs each way with 32 of them, 2.46 with 8 of 16 KiB, and 256 KiB 20.9 and 21.2. (With 64 of them no
/// operation of 2 to 8 KiB took less time.)
const SHAPES: [(usize, usize, usize); 6] = [
    (32, 4 << 10, 64 << 10),
    (16, 4 << 10, 64 << 10),
    (16, 2 << 10, 32 << 10),
    (8, 2 << 10, 16 << 10),
    (4, 1 << 10, 16 << 10),
    (4, 256, 4 << 10),
];

/// What lies where in the segment of so many ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    ranks: usize,
    slots: usize,
    area: usize,
    window: usize,
    /// Bytes of a channel's track; 0 for none.
    track: usize,
}

impl Layout {
    /// For `ranks` ranks, without tracks; `None` if that would take too much memory.
    pub fn of(ranks: usize) -> Option<Self> {
        let layouts = SHAPES.into_iter().map(|(slots, area, window)| Self { ranks, slots, area, window, track: 0 });
        let fits =
            |layout: &Self| layout.per_rank() <= MOST_PER_RANK && layout.bytes().is_some_and(|bytes| bytes <= MOST);
        layouts.into_iter().find(fits)
    }

    /// Bytes in the areas of a rank's outgoing channels, and in its windows.
    const fn per_rank(&self) -> usize {
        self.ranks.saturating_sub(1).saturating_mul(self.slots * self.area).saturating_add(BANKS * self.window)
    }

    /// Bytes of a bank of a rank's window.
    pub const fn window(&self) -> usize {
        self.window
    }

    /// Bytes of a channel.
    const fn channel(&self) -> usize {
        (BEFORE_SLOTS + self.slots * (size_of::<Slot>() + self.area)).next_multiple_of(PAIR_OF_LINES)
    }

    /// Where the channels begin.
    const fn channels_at(&self) -> usize {
        (HEADER + self.ranks * size_of::<Shown>()).next_multiple_of(PAIR_OF_LINES)
    }

    /// Where the board begins.
    fn board_at(&self) -> Option<usize> {
        let channels = self.ranks.checked_mul(self.ranks.saturating_sub(1))?;
        channels.checked_mul(self.channel())?.checked_add(self.channels_at())?.checked_next_multiple_of(PAGE)
    }

    /// For `ranks` ranks, with tracks if they gain anything on this machine; `None` if that would take too much memory.
    pub fn here(ranks: usize) -> Option<Self> {
        Self::of(ranks).map(|layout| if evicts_to_shared() { layout.with_tracks() } else { layout })
    }

    /// The same with tracks, unless there are too many ranks.
    pub fn with_tracks(self) -> Self {
        let channels = self.ranks.saturating_mul(self.ranks.saturating_sub(1));
        let fits = |track: &usize| channels.saturating_mul(*track) <= MOST_OF_TRACKS;
        Self { track: TRACKS.into_iter().find(fits).unwrap_or(0), ..self }
    }

    /// Bytes of the segment with the tracks, if that is a number of memory.
    pub fn mapped(&self) -> Option<usize> {
        let tracks = self.ranks.checked_mul(self.ranks.saturating_sub(1))?.checked_mul(self.track)?;
        self.bytes()?.checked_next_multiple_of(PAGE)?.checked_add(tracks)
    }

    /// Bytes of the segment that are there from the beginning, if that is a number of memory.
    pub fn bytes(&self) -> Option<usize> {
        if self.ranks > MOST_RANKS {
            return None;
        }
        self.board_at()?.checked_add(Board::bytes(self.ranks, self.window))
    }

    /// The parts of the segment whose memory rank `rank` allocates: the areas that it writes to and its windows, so that
    /// they lie on its own NUMA node; the first rank, also all that nobody owns.
    pub fn own(&self, rank: usize) -> [Range<usize>; 2] {
        let board = self.board_at().expect("a layout that was made is one that memory was found for");
        let channels = |rank: usize| self.channels_at() + rank * (self.ranks - 1) * self.channel();
        let windows = Board::windows(self.ranks, rank, self.window);
        let [mut areas, mut windows] = [channels(rank)..channels(rank + 1), board + windows.start..board + windows.end];
        if rank == 0 {
            areas.start = 0;
            windows.start = channels(self.ranks);
        }
        [areas, windows]
    }

    /// The board of rank `rank`.
    ///
    /// # Safety
    /// At `segment`, the beginning of a page, there are as many bytes as [`bytes`](Self::bytes) says, all zero before
    /// the first use, for as long as the board is used, and each rank has one board there.
    pub unsafe fn board(&self, segment: *mut u8, rank: usize) -> Board {
        let at = self.board_at().expect("a layout that was made is one that memory was found for");
        // SAFETY: within the segment, where nothing else lies.
        unsafe { Board::new(segment.wrapping_add(at), self.ranks, rank, self.window) }
    }

    /// What a rank shows of itself.
    ///
    /// # Safety
    /// At `segment` there are as many bytes as [`bytes`](Self::bytes) says.
    pub unsafe fn shown(&self, segment: *mut u8, rank: usize) -> *mut Shown {
        segment.wrapping_add(HEADER + rank * size_of::<Shown>()).cast()
    }

    /// The number of the channel from one rank to another.
    const fn number(&self, from: usize, to: usize) -> usize {
        from * (self.ranks - 1) + if to < from { to } else { to - 1 }
    }

    /// The channel from one rank to another.
    ///
    /// # Safety
    /// At `segment`, which is a multiple of 128, there are as many bytes as [`mapped`](Self::mapped) says, all zero
    /// before the first use, for as long as the ring is used, and of each channel there is one sender and one receiver.
    pub unsafe fn ring<'a>(&self, segment: *mut u8, from: usize, to: usize) -> Ring<'a> {
        assert!(from != to && from < self.ranks && to < self.ranks, "a channel connects two ranks of the segment");
        let channel = segment.wrapping_add(self.channels_at() + self.number(from, to) * self.channel());
        let slots = channel.wrapping_add(BEFORE_SLOTS);
        let areas = slots.wrapping_add(self.slots * size_of::<Slot>());
        let tracks =
            self.bytes().expect("a layout that was made is one that memory was found for").next_multiple_of(PAGE);
        let track = segment.wrapping_add(tracks + self.number(from, to) * self.track);
        // SAFETY: within the segment, by the sums in `channel` and `mapped`, and aligned as the segment is; zeroes are
        // values of all of them.
        unsafe {
            let emptied = &*channel.cast::<Emptied>();
            let chunks = &*channel.wrapping_add(PAIR_OF_LINES).cast::<Chunks>();
            let slots = std::slice::from_raw_parts(slots.cast(), self.slots);
            let track = (self.track > 0).then(|| Track::new(track, self.track));
            Ring::new(slots, (emptied, chunks), (areas, self.area), track)
        }
    }
}

const _: () = assert!(
    size_of::<Slot>() == 64 && size_of::<Emptied>() == 64 && size_of::<Chunks>() == 64 && size_of::<Shown>() == 64
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_get_smaller_as_ranks_become_more_and_stay_within_their_bounds() {
        let shape = |ranks| Layout::of(ranks).map(|layout| (layout.slots, layout.area, layout.window));
        assert_eq!(shape(2), Some((32, 4 << 10, 64 << 10)));
        assert_eq!(shape(8), Some((32, 4 << 10, 64 << 10)));
        assert_eq!(shape(15), Some((16, 4 << 10, 64 << 10)));
        assert_eq!(shape(64), Some((4, 1 << 10, 16 << 10)));
        assert_eq!(shape(128), Some((4, 256, 4 << 10)));
        assert_eq!((shape(2000), shape(usize::MAX)), (None, None));
        for ranks in 1..200 {
            let bytes = Layout::of(ranks).unwrap().bytes().unwrap();
            assert!(bytes <= MOST && bytes / ranks <= MOST_PER_RANK + ranks * 64 * 38 + 3 * PAGE, "{ranks}: {bytes}");
        }
    }

    #[test]
    fn tracks_follow_all_else_where_few_ranks_have_room_for_them() {
        let track = |ranks| Layout::of(ranks).unwrap().with_tracks().track;
        assert_eq!([2, 6, 7, 8, 9].map(track), [2 << 20, 2 << 20, 1 << 20, 1 << 20, 0]);
        for ranks in [1, 2, 5, 9] {
            let (without, with) = (Layout::of(ranks).unwrap(), Layout::of(ranks).unwrap().with_tracks());
            assert_eq!(with.bytes(), without.bytes());
            let begin = with.bytes().unwrap().next_multiple_of(PAGE);
            assert_eq!(with.mapped(), Some(begin + ranks * (ranks - 1) * with.track));
            assert!((0..ranks).all(|rank| with.own(rank) == without.own(rank)));
        }
    }

    #[test]
    fn every_byte_is_allocated_by_one_rank_and_a_channel_by_its_sender() {
        for ranks in [1, 2, 3, 5, 64] {
            let layout = Layout::of(ranks).unwrap();
            let own: Vec<_> = (0..ranks).map(|rank| layout.own(rank)).collect();
            let mut parts: Vec<_> = own.iter().flatten().cloned().collect();
            parts.sort_by_key(|part| part.start);
            let end = parts.iter().fold(0, |end, part| {
                assert_eq!(part.start, end);
                part.end
            });
            assert_eq!(Some(end), layout.bytes());
            for (from, to) in (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to))).filter(|(a, b)| a != b) {
                let at = layout.channels_at() + layout.number(from, to) * layout.channel();
                assert!(own[from][0].contains(&at) && own[from][0].contains(&(at + layout.channel() - 1)));
            }
        }
    }

    #[test]
    fn channels_and_board_follow_each_other_without_overlap() {
        for ranks in [1, 2, 3, 5] {
            let layout = Layout::of(ranks).unwrap();
            let pairs =
                (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to))).filter(|(from, to)| from != to);
            let numbers: Vec<_> = pairs.map(|(from, to)| layout.number(from, to)).collect();
            assert_eq!(numbers, (0..ranks * (ranks - 1)).collect::<Vec<_>>());
            let (board, channels) =
                (layout.board_at().unwrap(), layout.channels_at() + numbers.len() * layout.channel());
            assert!(board % PAGE == 0 && (channels..channels + PAGE).contains(&board));
            assert_eq!(layout.bytes(), Some(board + Board::bytes(ranks, layout.window)));
        }
    }
}
