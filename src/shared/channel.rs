//! A channel: messages from one rank to another, one after the other.
//!
//! A ring of slots, each a line of 64 bytes and an area. What is short travels in lines, each with the message's length
//! and the number that says that it is there, so that nothing but these lines goes from one core to the other; longer
//! messages travel in fragments through the areas. The sender numbers what it puts into slots, from 1 on and never
//! anew, so that no slot has to be cleared; the receiver tells how many it has emptied, on a line that only it writes
//! and that the sender reads only when the ring seems full.
//!
//! Where a channel has a [track](super::track), the areas of longer messages lie along it, once so much has gone through
//! the channel that making it ready pays.
//!
//! A long message may also be lent: its slot says where it is, and the receiver reads it out of the sender's memory,
//! with one copy instead of two, of which the sender makes a part if it only waits ([`Chunks`]). What a receiver cannot
//! read it declines; that message goes through the areas, and all later ones if it may read none. So do those of a
//! length that comes faster through them, which the receiver finds out by declining some ([`Comparison`]). A sender that
//! gives its messages up withdraws the one that it lends.

use super::cache::{about_to_write, written_for_another};
use super::chunks::{self, Chunk, Chunks};
use super::comparison::{Comparison, Way};
use super::lending::{Failure, PeerMemory};
use super::sync::{AtomicU64, Ordering, UnsafeCell, fence, spin_loop, yield_now};
use super::track::{Along, Track};
use std::fmt;
use std::rc::Rc;
use std::time::Instant;

/// Bytes that a slot's line carries. (With slots of two lines and 112 bytes, and a number in the first one only,
/// messages of 64 and 112 bytes took as long as through the area, and shorter ones between two ranks of an Intel Xeon
/// up to 10 % longer.)
pub const IN_LINE: usize = 48;

/// Lines that a message travels in at most, and at most half of a ring's. Each has a number of its own, so that the
/// receiver has all of them when it has the last one; what is in an area it can ask for only when it has the line:
/// 64 bytes there and back took 185 ns through the area and 171 in two lines (Granite Rapids), 112 bytes 206 and 180,
/// 256 bytes as long.
const MOST_LINES: usize = 4;

/// The longest fragment whose area is handed over to the reader as the line is. Of longer ones the reader has the first
/// lines before the last would be.
const HANDED_OVER: usize = 768;

/// On a track messages from so many areas on travel in fragments of several areas: so the sender gets far enough ahead of
/// the receiver that its cache has evicted what that reads. Along 2 MiB 256 KiB took 9 to 28 µs in fragments of 4 KiB
/// and 8.4 to 8.8 in ones of 16, 1 MiB 39 to 104 and 31 to 40.
const LONG_FRAGMENTS_FROM: usize = 16;
const LONG_FRAGMENT: usize = 4;

/// Set in the length of a message that is lent.
const LENT: u64 = 1 << 63;

/// Set in the length of a message whose fragments are on the track, and of one that is lent where the track is ready.
const TRACKED: u64 = 1 << 62;

/// In the number of a slot that is declined: messages of such a length would be declined for a while.
const OF_SUCH_A_LENGTH: u64 = 1 << 62;
/// There: all messages are.
const ALL: u64 = 1 << 63;

/// After so many messages in a row that cannot be read, those of their lengths are not lent for a while.
const UNREADABLE: u32 = 4;

/// The number of a slot whose message is lent no longer.
const WITHDRAWN: u64 = u64::MAX;

/// Messages after which lengths that are not lent are so again: what was faster may be no longer, as when cores are moved
/// or others use the caches.
const LENT_AGAIN: u32 = 4096;

/// Areas that a sender fills before it has all the others mapped at once. Each page takes 4 us at its first use and half of
/// that with others; most communicators exchange nothing that long, or a lot.
const MAPPED_AFTER: u32 = 4;

/// Looks for a chunk that the sender has taken, after which the receiver gives its core away between looks and sees
/// whether the sender is still there: the sender is in the middle of copying it.
const LOOKS: u32 = 10_000;

/// What one rank writes into a slot's line and the other reads.
#[repr(C)]
#[derive(Debug)]
pub struct Content {
    /// Bytes of the whole message; and whether it is lent, so that the line tells where it is.
    length: u64,
    /// Those of a short message.
    bytes: [u8; IN_LINE],
}

/// A slot's line. Zeroes are an empty one.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Slot {
    /// Number of what was last put into the slot; 0 if nothing was yet.
    number: AtomicU64,
    content: UnsafeCell<Content>,
}

impl Slot {
    /// Empty.
    pub fn new() -> Self {
        Self { number: AtomicU64::new(0), content: UnsafeCell::new(Content { length: 0, bytes: [0; IN_LINE] }) }
    }
}

impl Default for Slot {
    fn default() -> Self {
        Self::new()
    }
}

/// What the receiver tells the sender. Zeroes are nothing.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Emptied {
    /// How many slots it has emptied so far.
    slots: AtomicU64,
    /// The number of the slot whose message it has declined, and which later ones it will; 0 for none.
    declined: AtomicU64,
}

impl Emptied {
    /// Nothing.
    pub fn new() -> Self {
        Self { slots: AtomicU64::new(0), declined: AtomicU64::new(0) }
    }
}

impl Default for Emptied {
    fn default() -> Self {
        Self::new()
    }
}

/// Where a channel lies.
#[derive(Clone, Copy, Debug)]
pub struct Ring<'a> {
    slots: &'a [Slot],
    emptied: &'a Emptied,
    chunks: &'a Chunks,
    areas: *mut u8,
    area: usize,
    /// Bytes of the longest message that travels in lines.
    in_lines: usize,
    track: Option<Track>,
}

/// How a message goes through a ring.
#[derive(Clone, Copy)]
struct Fragments {
    /// Bytes of each but the last.
    most: usize,
    /// Whether they travel in the slots' lines.
    in_lines: bool,
}

impl<'a> Ring<'a> {
    /// A power of two of slots, each with `area` bytes from `areas` on, and perhaps a track.
    ///
    /// # Safety
    /// The areas are valid for as long as the ring is used, and nothing but one [`Sender`] and one [`Receiver`] uses
    /// slots, areas, `emptied`, `chunks` and the track.
    pub unsafe fn new(
        slots: &'a [Slot],
        (emptied, chunks): (&'a Emptied, &'a Chunks),
        (areas, area): (*mut u8, usize),
        track: Option<Track>,
    ) -> Self {
        assert!(slots.len().is_power_of_two() && area > 0, "a channel has a power of two of slots with room in them");
        let longest = LONG_FRAGMENT * area;
        assert!(track.is_none_or(|track| track.holds(slots.len(), longest)), "a track holds what is under way");
        let in_lines = IN_LINE * (slots.len() / 2).clamp(1, MOST_LINES);
        Self { slots, emptied, chunks, areas, area, in_lines, track }
    }

    /// How a message of `length` bytes goes through. (Halves of an area for what fits into two made a bcast of 4 KiB
    /// between two cores of an Intel Xeon 5 % faster, but an exchange 25 % slower: each rank read one half while the
    /// other one wrote the next.)
    #[inline(always)]
    const fn fragments(&self, length: usize, tracked: bool) -> Fragments {
        let in_lines = length <= self.in_lines;
        let most = if in_lines {
            IN_LINE
        } else if tracked && length >= LONG_FRAGMENTS_FROM * self.area {
            LONG_FRAGMENT * self.area
        } else {
            self.area
        };
        Fragments { most, in_lines }
    }

    /// Whether fragments of a message of `length` bytes may be on the track: of one that fills half an area, so that what
    /// it saves shows.
    #[inline(always)]
    const fn may_be_tracked(&self, length: usize) -> bool {
        length > self.area / 2
    }

    /// The slot of number `number`, and its area.
    #[inline(always)]
    fn slot(&self, number: u64) -> (&'a Slot, *mut u8) {
        let place = number as usize & (self.slots.len() - 1);
        // SAFETY: less than the number of slots, by the mask.
        (unsafe { self.slots.get_unchecked(place) }, self.areas.wrapping_add(place * self.area))
    }
}

/// A message that goes out.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing {
    from: *const u8,
    length: usize,
    /// Bytes that are in slots or have been.
    sent: usize,
    /// The number of the slot that lends it; 0 if none does.
    lent: u64,
    /// Whether it goes through the areas since it was declined.
    declined: bool,
    /// Whether its fragments are on the track.
    tracked: bool,
}

impl Outgoing {
    /// Of `length` bytes at `from`.
    #[inline(always)]
    pub const fn new(from: *const u8, length: usize) -> Self {
        Self { from, length, sent: 0, lent: 0, declined: false, tracked: false }
    }
}

/// A message that comes in.
#[derive(Clone, Copy, Debug)]
pub struct Incoming {
    into: *mut u8,
    room: usize,
    /// Bytes that have come, those without room included.
    received: usize,
    /// Whether its sender has given it up while it lent it.
    withdrawn: bool,
}

impl Incoming {
    /// To `into`, where there is room for `room` bytes.
    #[inline(always)]
    pub const fn new(into: *mut u8, room: usize) -> Self {
        Self { into, room, received: 0, withdrawn: false }
    }

    /// Bytes that have come.
    #[inline(always)]
    pub const fn received(&self) -> usize {
        self.received
    }

    /// Whether its sender has given it up: what has come, if anything, may not be the message.
    #[inline(always)]
    pub const fn is_withdrawn(&self) -> bool {
        self.withdrawn
    }

    /// Whether more came than there was room for.
    #[inline(always)]
    pub const fn is_truncated(&self) -> bool {
        self.received > self.room
    }
}

/// Makes the memory of a track ready, which is there from then on, if there is enough.
#[derive(Clone)]
pub struct Preparation {
    /// Bytes of long messages that come first: making it ready takes as long as it saves in some of them.
    pub after: usize,
    /// Whether the bytes at that address are there now.
    pub prepare: Rc<dyn Fn(*mut u8, usize) -> bool>,
}

/// What is done before pages at that address are used, which are there: they are mapped together, not one by one.
pub type Mapping = fn(*mut u8, usize);

impl fmt::Debug for Preparation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Preparation").field("after", &self.after).finish_non_exhaustive()
    }
}

/// A sender's track.
#[derive(Debug)]
enum Tracking {
    /// None, or there was no memory for it.
    Never,
    /// Not ready yet.
    Later(Preparation),
    /// Ready.
    Now(Along),
}

impl Tracking {
    /// Whether it is ready for a message of `length` bytes; it is made so when enough has gone through.
    #[cold]
    fn prepare(&mut self, track: Track, length: usize) -> bool {
        let Self::Later(Preparation { after, prepare }) = self else { return false };
        *after = after.saturating_sub(length);
        if *after > 0 {
            return false;
        }
        let (at, bytes) = track.parts();
        let is_ready = prepare(at, bytes);
        *self = if is_ready { Self::Now(Along::begin(track)) } else { Self::Never };
        is_ready
    }
}

/// The end that messages go into.
#[derive(Debug)]
pub struct Sender<'a> {
    ring: Ring<'a>,
    /// Slots filled so far.
    filled: u64,
    /// Slots emptied, when this was last looked at.
    emptied: u64,
    /// Bytes of the shortest message that is lent.
    lent_from: usize,
    /// A bit for each class of lengths that is not.
    not_lent: u64,
    /// Messages of these until they are.
    lent_again: u32,
    /// The receiver's.
    memory: PeerMemory,
    /// Whether chunks can be written to it, as far as is known.
    writes: bool,
    /// Maps the areas, and how many are filled until then; 0 when it is done.
    map: Mapping,
    mapped_after: u32,
    tracking: Tracking,
}

impl<'a> Sender<'a> {
    /// Of a channel that nothing has gone through; messages of `lent_from` bytes and more are lent. `memory` is the
    /// receiver's; the ring's track is used if there is a way to make it ready.
    pub fn new(
        ring: Ring<'a>,
        lent_from: usize,
        memory: PeerMemory,
        map: Mapping,
        preparation: Option<Preparation>,
    ) -> Self {
        let tracking = preparation.filter(|_| ring.track.is_some()).map_or(Tracking::Never, Tracking::Later);
        Self {
            ring,
            filled: 0,
            emptied: 0,
            lent_from,
            not_lent: 0,
            lent_again: 0,
            memory,
            writes: true,
            map,
            mapped_after: MAPPED_AFTER,
            tracking,
        }
    }

    /// Whether the fragments of a message are on the track. To be asked once of a message when it goes into its first
    /// slot: what has gone through is counted.
    #[inline(always)]
    fn is_tracked(&mut self, length: usize) -> bool {
        match (&self.tracking, self.ring.track) {
            _ if !self.ring.may_be_tracked(length) => false,
            (Tracking::Now(_), _) => true,
            (Tracking::Later(_), Some(track)) => self.tracking.prepare(track, length),
            _ => false,
        }
    }

    #[inline(always)]
    fn is_full(&mut self) -> bool {
        let slots = self.ring.slots.len() as u64;
        if self.filled - self.emptied < slots {
            return false;
        }
        // With this the receiver's reads of the slot are over.
        self.emptied = self.ring.emptied.slots.load(Ordering::Acquire);
        self.filled - self.emptied == slots
    }

    /// Goes on with a message as far as there are free slots; whether all of it is on its way, so that its memory may
    /// be used again. Messages follow each other: none is begun before this was so of the one before. `waits`: whether
    /// the rank has nothing to do but wait for what it sends.
    ///
    /// # Safety
    /// The message's bytes are there, and this has not been so of it before.
    #[inline(always)]
    pub unsafe fn advance(&mut self, message: &mut Outgoing, waits: bool) -> bool {
        if message.length >= self.lent_from && message.sent == 0 && self.is_lent(message, waits) {
            return message.sent == message.length;
        }
        while !self.is_full() {
            if message.sent == 0 && message.length > self.ring.in_lines && !message.declined {
                message.tracked = self.is_tracked(message.length);
            }
            let Fragments { most, in_lines } = self.ring.fragments(message.length, message.tracked);
            let (slot, area) = self.ring.slot(self.filled);
            let rest = message.length - message.sent;
            let part = rest.min(most);
            let area = match &mut self.tracking {
                Tracking::Now(along) if message.tracked => along.next(part),
                _ => area,
            };
            if self.mapped_after > 0 && !in_lines && !message.tracked {
                self.count_area();
            }
            if !in_lines {
                about_to_write(area, part);
            }
            slot.content.with_mut(|content| {
                // SAFETY: until the number is stored the slot is the sender's alone.
                let content = unsafe { &mut *content };
                content.length = message.length as u64 | if message.tracked { TRACKED } else { 0 };
                let into = if in_lines { content.bytes.as_mut_ptr() } else { area };
                // SAFETY: the caller's promise; there is room for as many bytes in the line or the area.
                unsafe { std::ptr::copy_nonoverlapping(message.from.wrapping_add(message.sent), into, part) };
            });
            if !in_lines && part <= HANDED_OVER {
                written_for_another(area, part);
            }
            self.filled += 1;
            slot.number.store(self.filled, Ordering::Release);
            if part <= HANDED_OVER {
                written_for_another(std::ptr::from_ref(slot).cast(), size_of::<Slot>());
            }
            message.sent += part;
            if part == rest {
                return true;
            }
        }
        false
    }
}

impl Sender<'_> {
    /// One more area is filled.
    #[cold]
    fn count_area(&mut self) {
        self.mapped_after -= 1;
        if self.mapped_after == 0 {
            (self.map)(self.ring.areas, self.ring.slots.len() * self.ring.area);
        }
    }

    /// Lends a message, or looks what has become of it; whether there is nothing else to do with it now. All of it is
    /// sent when it has been read.
    #[cold]
    fn is_lent(&mut self, message: &mut Outgoing, waits: bool) -> bool {
        if message.declined {
            return false;
        }
        if self.not_lent >> Comparison::class(message.length) & 1 == 1 {
            // With room it is begun now, and not asked about again.
            if !self.is_full() {
                self.lent_again -= 1;
            }
            if self.lent_again == 0 {
                self.not_lent = 0;
            }
            return false;
        }
        if message.lent == 0 {
            if self.is_full() {
                return true;
            }
            // Before the receiver sees how long it takes.
            message.tracked = self.is_tracked(message.length);
            let ready = if message.tracked { TRACKED } else { 0 };
            let (slot, _) = self.ring.slot(self.filled);
            slot.content.with_mut(|content| {
                // SAFETY: until the number is stored the slot is the sender's alone.
                let content = unsafe { &mut *content };
                content.length = message.length as u64 | LENT | ready;
                content.bytes[..size_of::<u64>()].copy_from_slice(&(message.from as u64).to_ne_bytes());
            });
            self.filled += 1;
            slot.number.store(self.filled, Ordering::Release);
            message.lent = self.filled;
            return true;
        }
        // With this the receiver's reads of the message are over, and it has said if there were none.
        self.emptied = self.ring.emptied.slots.load(Ordering::Acquire);
        if self.emptied < message.lent {
            if waits && self.writes && chunks::are_of_use(message.length) {
                self.copy_a_chunk(message);
            }
            return true;
        }
        let declined = self.ring.emptied.declined.load(Ordering::Relaxed);
        if declined & !(ALL | OF_SUCH_A_LENGTH) == message.lent {
            message.declined = true;
            if declined & ALL != 0 {
                self.lent_from = usize::MAX;
            } else if declined & OF_SUCH_A_LENGTH != 0 {
                self.not_lent |= 1 << Comparison::class(message.length);
                self.lent_again = LENT_AGAIN;
            }
            return false;
        }
        message.sent = message.length;
        true
    }

    /// Gives up a message that is under way, whose bytes may be others from then on: one that is lent is not read any
    /// more, or not taken for the message. Nothing may follow.
    pub fn withdraw(&mut self, message: &Outgoing) {
        if message.lent == 0 || message.declined {
            return;
        }
        let (slot, _) = self.ring.slot(message.lent - 1);
        slot.number.store(WITHDRAWN, Ordering::Relaxed);
        // Whoever reads other bytes finds that number.
        fence(Ordering::Release);
    }

    /// Takes part in copying a lent message, if the receiver has begun with it.
    fn copy_a_chunk(&mut self, message: &Outgoing) {
        let chunks = self.ring.chunks;
        let Some(chunk) = chunks.take(message.lent, message.length, 1) else { return };
        // SAFETY: the message's bytes are there, as whoever started it promised. The receiver has opened this message,
        // for which it has room, and does not go on before it knows what has become of the chunk, or it has ended. It
        // proved that this process's number means it when the segment was made.
        let written = unsafe {
            self.memory.write(message.from.wrapping_add(chunk.at), chunks.wanted_at() + chunk.at as u64, chunk.length)
        };
        // For good, whatever the reason: of a message one chunk can be told to have failed.
        self.writes = written.is_ok();
        chunks.tell(message.lent, chunk, self.writes);
    }
}

/// The end that messages come out of.
#[derive(Debug)]
pub struct Receiver<'a> {
    ring: Ring<'a>,
    /// Slots emptied so far.
    emptied: u64,
    /// The sender's.
    memory: PeerMemory,
    comparison: Comparison,
    /// Messages in a row of which the system would not read anything: [`UNREADABLE`] at most.
    unreadable: u32,
    /// Since when a message that was declined to see how long it takes is on its way.
    declined: Option<Instant>,
    track: Option<Along>,
    /// To be done before the track is read for the first time.
    map: Option<Mapping>,
}

impl<'a> Receiver<'a> {
    /// Of a channel that nothing has gone through.
    pub fn new(ring: Ring<'a>, memory: PeerMemory, comparison: Comparison, map: Mapping) -> Self {
        let track = ring.track.map(Along::begin);
        Self { ring, emptied: 0, memory, comparison, unreadable: 0, declined: None, track, map: Some(map) }
    }

    /// Goes on with a message as far as it has come; whether all of it has. What there is no room for is taken and
    /// dropped, so that the next message is found.
    ///
    /// # Safety
    /// There is the room that was said, and this has not been so of the message before.
    #[inline(always)]
    pub unsafe fn advance(&mut self, message: &mut Incoming) -> bool {
        loop {
            let (slot, area) = self.ring.slot(self.emptied);
            let number = slot.number.load(Ordering::Acquire);
            if number != self.emptied + 1 {
                message.withdrawn = number == WITHDRAWN;
                return message.withdrawn;
            }
            let all = slot.content.with(|content| {
                // SAFETY: until this slot is told to be empty it is the receiver's.
                let content = unsafe { &*content };
                if content.length & LENT != 0 {
                    // SAFETY: the caller's promise.
                    return unsafe { self.borrow(slot, content, message) };
                }
                let length = (content.length & !TRACKED) as usize;
                let tracked = content.length & TRACKED != 0;
                let Fragments { most, in_lines } = self.ring.fragments(length, tracked);
                let part = most.min(length - message.received);
                let from = match &mut self.track {
                    _ if in_lines => content.bytes.as_ptr(),
                    Some(along) if tracked => {
                        if let (Some(map), Some(track)) = (self.map.take(), self.ring.track) {
                            map_track(map, track);
                        }
                        along.next(part).cast_const()
                    }
                    _ => area.cast_const(),
                };
                let kept = part.min(message.room.saturating_sub(message.received));
                // SAFETY: as many bytes were put there; the caller promises the room.
                unsafe { std::ptr::copy_nonoverlapping(from, message.into.wrapping_add(message.received), kept) };
                message.received += part;
                message.received == length
            });
            self.emptied += 1;
            self.ring.emptied.slots.store(self.emptied, Ordering::Release);
            if all {
                if let Some(since) = self.declined.take() {
                    self.comparison.took(message.received, false, since.elapsed());
                }
                return true;
            }
        }
    }

    /// Reads a message that is lent; whether it has. Otherwise it comes through the areas.
    ///
    /// # Safety
    /// There is the room that was said.
    #[cold]
    unsafe fn borrow(&mut self, slot: &Slot, content: &Content, message: &mut Incoming) -> bool {
        let length = (content.length & !(LENT | TRACKED)) as usize;
        let track = self.ring.track.filter(|_| content.length & TRACKED != 0);
        if let Some(track) = track {
            // Not in the time that the message takes.
            self.map.take().into_iter().for_each(|map| map_track(map, track));
        }
        let mut address = [0; size_of::<u64>()];
        address.copy_from_slice(&content.bytes[..size_of::<u64>()]);
        // The store of the number of emptied slots publishes it.
        let decline = |later| self.ring.emptied.declined.store((self.emptied + 1) | later, Ordering::Relaxed);
        // What there is no room for is an error, and no time that it takes counts.
        let is_open = length <= message.room && self.memory.can_read() && self.comparison.is_open(length);
        let way =
            if is_open { self.comparison.way(length, track.map_or(0, |track| track.parts().1)) } else { Way::Read };
        let begun = is_open.then(Instant::now);
        match way {
            Way::Read => {
                let from = u64::from_ne_bytes(address);
                // SAFETY: the caller's promise.
                let read = unsafe {
                    match is_open && chunks::are_of_use(length) {
                        true => self.read_in_chunks(from, message.into, length),
                        false => self.memory.read(from, message.into, length.min(message.room)),
                    }
                };
                if let Err(failure) = read {
                    self.unreadable = (self.unreadable + 1).min(UNREADABLE);
                    decline(match failure {
                        // A program that sends from such memory does so again and again.
                        Failure::NotThis if self.unreadable == UNREADABLE => OF_SUCH_A_LENGTH,
                        Failure::NotThis => 0,
                        _ => ALL,
                    });
                    return false;
                }
                self.unreadable = 0;
                message.received = length;
                // If the bytes were others already, this is the number.
                fence(Ordering::Acquire);
                message.withdrawn = slot.number.load(Ordering::Relaxed) == WITHDRAWN;
                if let Some(begun) = begun {
                    self.comparison.took(length, true, begun.elapsed());
                }
                true
            }
            Way::Areas => {
                decline(0);
                self.declined = begun;
                false
            }
            Way::AreasForWhile => {
                decline(OF_SUCH_A_LENGTH);
                false
            }
        }
    }

    /// Reads a message that is lent together with its sender. The sender writes nothing more then, whether all of it is
    /// there or not.
    ///
    /// # Errors
    /// A part of it could not be read.
    ///
    /// # Safety
    /// There is room for as many bytes at `into`.
    unsafe fn read_in_chunks(&self, from: u64, into: *mut u8, length: usize) -> Result<(), Failure> {
        let (chunks, message) = (self.ring.chunks, self.emptied + 1);
        if !self.memory.can_read() {
            return Err(Failure::Refused);
        }
        // SAFETY: the caller's promise.
        let read = |chunk: Chunk| unsafe {
            self.memory.read(from + chunk.at as u64, into.wrapping_add(chunk.at), chunk.length)
        };
        chunks.open(message, into as u64);
        // As long as the sender does something else, fewer and fewer calls to the system.
        let (mut own, mut most, mut before, mut all) = (0, 1, None, Ok(()));
        while let Some(chunk) = chunks.take(message, length, most) {
            // After a failure the others are just taken, so that the sender takes none of them.
            all = all.and_then(|()| read(chunk));
            own += chunk.number;
            most = if before.is_none_or(|before| chunk.follows(before)) { 2 * most } else { 1 };
            before = Some(chunk);
        }
        let (mut looks, mut redone) = (0, false);
        while !chunks.are_written(message, length, own) {
            match chunks.failed(message, length).filter(|_| !redone) {
                Some(chunk) => {
                    all = all.and_then(|()| read(chunk));
                    (own, redone) = (own + 1, true);
                }
                None => look_again(&mut looks),
            }
            if looks == 2 * LOOKS && self.memory.has_ended() {
                return Err(Failure::Ended);
            }
        }
        all
    }
}

#[cold]
fn map_track(map: Mapping, track: Track) {
    let (at, bytes) = track.parts();
    map(at, bytes);
}

/// Between two looks for what the sender is copying; how many there were, from the last multiple on.
fn look_again(looks: &mut u32) {
    *looks = if *looks == 2 * LOOKS { LOOKS + 1 } else { *looks + 1 };
    if *looks < LOOKS {
        spin_loop();
    } else {
        yield_now();
    }
}
