//! The end of a channel that messages go into.

use super::super::cache::{about_to_write, longest_asked_for, written_for_another};
use super::super::chunks;
use super::super::comparison::Comparison;
use super::super::lending::PeerMemory;
use super::super::sync::{Ordering, fence};
use super::message::Outgoing;
use super::ring::{ALL, Fragments, LENT, OF_SUCH_A_LENGTH, Ring, Slot, TRACKED, WITHDRAWN};
use super::tracking::{Mapping, Preparation, Tracking};

/// The longest fragment whose area is handed over to the reader as the line is. Of longer ones the reader has the first
/// lines before the last would be.
const HANDED_OVER: usize = 768;

/// Messages after which lengths that are not lent are so again: what was faster may be no longer, as when cores are moved
/// or others use the caches.
const LENT_AGAIN: u32 = 4096;

/// Areas that a sender fills before it has all the others mapped at once. Each page takes 4 us at its first use and half of
/// that with others; most communicators exchange nothing that long, or a lot.
const MAPPED_AFTER: u32 = 4;

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
    /// Bytes of the longest fragment whose lines are asked for before they are written.
    asked_for: usize,
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
            asked_for: longest_asked_for(),
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
    /// the rank waits for what it sends, and for nothing that comes through shared memory.
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
            if !in_lines && part <= self.asked_for {
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
        // proved that this process's number means it when the segment was made. (Should it have been killed in the middle of
        // the message, and its number be that of another process of this user by now, that one would be written to: the
        // launcher ends a job before numbers come round.)
        let written = unsafe {
            self.memory.write(message.from.wrapping_add(chunk.at), chunks.wanted_at() + chunk.at as u64, chunk.length)
        };
        // For good, whatever the reason: of a message one chunk can be told to have failed.
        self.writes = written.is_ok();
        chunks.tell(message.lent, chunk, self.writes);
    }
}
