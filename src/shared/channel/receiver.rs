//! The end of a channel that messages come out of.

use super::super::cache::copy_past_caches;
use super::super::chunks::{self, Chunk};
use super::super::comparison::{Comparison, Way};
use super::super::lending::{Failure, PeerMemory};
use super::super::sync::{Ordering, fence, spin_loop, yield_now};
use super::super::track::Along;
use super::message::Incoming;
use super::ring::{ALL, Content, Fragments, LENT, OF_SUCH_A_LENGTH, Ring, Slot, TRACKED, WITHDRAWN};
use super::tracking::{Mapping, map_track};
use std::time::Instant;

/// After so many messages in a row that cannot be read, those of their lengths are not lent for a while.
const UNREADABLE: u32 = 4;

/// Looks for a chunk that the sender has taken, after which the receiver gives its core away between looks and sees
/// whether the sender is still there: the sender is in the middle of copying it.
const LOOKS: u32 = 10_000;

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
    /// Bytes of the shortest message that is written past the caches.
    past_caches_from: usize,
}

impl<'a> Receiver<'a> {
    /// Of a channel that nothing has gone through; messages of `past_caches_from` bytes and more are written past the
    /// caches.
    pub fn new(
        ring: Ring<'a>,
        memory: PeerMemory,
        comparison: Comparison,
        map: Mapping,
        past_caches_from: usize,
    ) -> Self {
        let track = ring.track.map(Along::begin);
        Self {
            ring,
            emptied: 0,
            memory,
            comparison,
            unreadable: 0,
            declined: None,
            track,
            map: Some(map),
            past_caches_from,
        }
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
                let into = message.into.wrapping_add(message.received);
                // SAFETY: as many bytes were put there; the caller promises the room.
                unsafe {
                    match length < self.past_caches_from {
                        true => std::ptr::copy_nonoverlapping(from, into, kept),
                        false => copy_past_caches(from, into, kept),
                    }
                }
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
                    // Its sender has gone on, perhaps without the memory, and sends nothing any more.
                    if is_withdrawn(slot) {
                        message.withdrawn = true;
                        return true;
                    }
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
                message.withdrawn = is_withdrawn(slot);
                if let Some(begun) = begun {
                    self.comparison.took(length, true, begun.elapsed());
                }
                true
            }
            Way::Areas | Way::AreasForWhile if is_withdrawn(slot) => {
                message.withdrawn = true;
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

/// Between two looks for what the sender is copying; how many there were, from the last multiple on.
fn look_again(looks: &mut u32) {
    *looks = if *looks == 2 * LOOKS { LOOKS + 1 } else { *looks + 1 };
    if *looks < LOOKS {
        spin_loop();
    } else {
        yield_now();
    }
}

/// Whether the sender has given the message of the slot up. It does so before it goes on, so that whoever has met memory
/// that is gone or another's sees it.
fn is_withdrawn(slot: &Slot) -> bool {
    fence(Ordering::Acquire);
    slot.number.load(Ordering::Relaxed) == WITHDRAWN
}
