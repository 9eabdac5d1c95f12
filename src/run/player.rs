//! The player: goes through the actions of one rank's program.
//!
//! A program that was kept is played from its list ([`Player::carry_all`]), a long or single one as it is lowered (the
//! player is a [`Sink`]); the actions go through the same code. After the first error nothing more is started, what is
//! under way is waited for, and the error is given at the end: there is no way back in the middle of an algorithm. On a
//! board the rank still raises its flags ([`Transport::pass`]).
//!
//! A call blocks until it is played to its end. Nonblocking collectives are the MPI library's own. Only tests play
//! programs bit by bit.

use super::transport::{Observer, Transport};
use crate::schedule::action::{Action, Message, Sink};
use crate::schedule::{Buffer, Range};
use smallvec::SmallVec;

/// Requests of the fragments of a message or two.
type Requests<T> = SmallVec<[<T as Transport>::Request; 8]>;

/// Numbers of blocking messages for an [`Observer`]: those of the table of requests come below.
const BLOCKING: u32 = u32::MAX - 2;

/// Where the buffers of a call lie.
#[derive(Clone, Copy, Debug)]
pub struct Buffers {
    /// First unit to send; may be null where there is none.
    pub send: *mut u8,
    /// First unit to receive; may be null where there is none.
    pub receive: *mut u8,
    /// First unit of the lengths of blocks; null where the actions use none.
    pub lengths: *mut u8,
}

impl Buffers {
    /// Without lengths.
    #[inline]
    pub const fn of(send: *mut u8, receive: *mut u8) -> Self {
        Self { send, receive, lengths: std::ptr::null_mut() }
    }
}

/// What a player has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls whose programs were played.
    pub calls: u64,
    /// Those of them whose programs had been kept.
    pub kept: u64,
    /// Actions.
    pub actions: u64,
}

impl Counts {
    /// Adds what another one has counted.
    pub const fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.kept += other.kept;
        self.actions += other.actions;
    }
}

/// Plays actions on buffers.
pub struct Player<'a, T: Transport, O: Observer> {
    transport: T,
    observer: O,
    /// First units of the buffers, by [`Buffer`]; of scratch, that of its last piece.
    bases: [*mut u8; 4],
    /// The number in scratch of the last piece's first unit.
    piece: usize,
    /// The pieces before: number of the first unit, and where it is.
    earlier: Vec<(usize, *mut u8)>,
    requests: &'a mut Vec<T::Request>,
    /// Gives working memory for so many units; not used where all of it is there from the start.
    more: &'a mut dyn FnMut(usize) -> *mut u8,
    stride: isize,
    /// Units of scratch so far.
    units: usize,
    error: Option<T::Error>,
    actions: u64,
}

impl<'a, T: Transport, O: Observer> Player<'a, T, O> {
    /// Ready for the first action. `requests` holds no message.
    ///
    /// # Safety
    /// The buffers must be valid for the units that the actions touch, as the table of [`Buffer`] says, and what `more`
    /// gives for the units asked for, until the player is finished with.
    #[inline(always)]
    pub unsafe fn new(
        transport: T,
        observer: O,
        buffers: Buffers,
        requests: &'a mut Vec<T::Request>,
        more: &'a mut dyn FnMut(usize) -> *mut u8,
    ) -> Self {
        let bases = [buffers.send, buffers.receive, std::ptr::null_mut(), buffers.lengths];
        let stride = transport.stride();
        let (error, earlier) = (None, Vec::new());
        Self { transport, observer, bases, piece: 0, earlier, requests, more, stride, units: 0, error, actions: 0 }
    }

    /// The number of actions, or the first error.
    ///
    /// # Errors
    /// What the transport said first.
    #[inline(always)]
    pub fn finish(self) -> Result<u64, T::Error> {
        self.give_back().1
    }

    /// The same, with the transport, for a program that follows.
    #[inline(always)]
    pub fn give_back(self) -> (T, Result<u64, T::Error>) {
        (self.transport, self.error.map_or(Ok(self.actions), Err))
    }

    #[inline(always)]
    fn address(&self, range: Range) -> *mut u8 {
        let mut unit = range.start;
        if range.buffer == Buffer::Scratch {
            if unit < self.piece {
                return self.earlier_address(unit);
            }
            unit -= self.piece;
        } else if range.buffer == Buffer::Shared {
            return self.transport.shared_at(unit);
        }
        self.bases[range.buffer as usize].wrapping_offset(unit as isize * self.stride)
    }

    #[cold]
    fn earlier_address(&self, unit: usize) -> *mut u8 {
        let piece = self.earlier.iter().rev().find(|(first, _)| *first <= unit);
        let (first, base) = piece.expect("the first piece begins with unit 0");
        base.wrapping_offset((unit - first) as isize * self.stride)
    }

    fn keep(&mut self, result: Result<(), T::Error>) {
        if let Err(error) = result {
            self.error.get_or_insert(error);
        }
    }

    /// Carries one action out; one that waits does so with `wait`, which tells whether it is over.
    #[inline(always)]
    pub(super) fn act(
        &mut self,
        action: &Action,
        wait: impl FnOnce(&mut T, &mut [T::Request]) -> Result<bool, T::Error>,
    ) -> bool {
        if let Action::Wait { first, number } = *action {
            let run = match self.requests.get_mut(first as usize..(first + number) as usize) {
                Some(run) => run,
                // After an error nothing is started, so that the table may end before.
                None => self.requests.get_mut(first as usize..).unwrap_or_default(),
            };
            match wait(&mut self.transport, run) {
                Ok(false) => return false,
                Ok(true) => {}
                Err(error) => self.keep(Err(error)),
            }
            self.observer.ended(first..first + number);
        } else if self.error.is_none() {
            // SAFETY: the promise that `new` asks for; the table of requests is grown where messages are started.
            let result = unsafe { self.carry_out(action) };
            self.keep(result);
        } else if let Action::Shared(step) = *action {
            self.transport.pass(step);
        }
        self.actions += 1;
        true
    }

    /// Carries one action out to its end.
    #[inline(always)]
    fn carry(&mut self, action: &Action) {
        let over = self.act(action, |transport, requests| transport.wait(requests).map(|()| true));
        debug_assert!(over, "a wait ends what it waits for");
    }

    /// Carries actions out that need `scratch` units of working memory, one after another.
    pub fn carry_all(&mut self, actions: &[Action], scratch: usize) {
        if scratch > 0 {
            self.scratch(scratch);
        }
        for action in actions {
            self.carry(action);
        }
    }

    /// # Safety
    /// As [`Player::new`] says; the action does not wait for requests.
    #[inline(always)]
    unsafe fn carry_out(&mut self, action: &Action) -> Result<(), T::Error> {
        // SAFETY: the caller vouches for the ranges; the verifier holds algorithms to using them as the transport asks.
        unsafe {
            match *action {
                Action::Send(ref message) => self.send(message),
                Action::Receive(ref message) => self.receive(message),
                Action::Exchange { ref out, ref into } => self.exchange(out, into),
                Action::StartSend { ref message, slot } => self.start(message, slot, true),
                Action::StartReceive { ref message, slot } => self.start(message, slot, false),
                Action::Wait { .. } => unreachable!("waiting is not carried out here"),
                Action::Copy { from, into } => {
                    let (source, target) = (self.address(from), self.address(into));
                    if source == target { Ok(()) } else { self.transport.copy(source, target, from.len) }
                }
                Action::Fold { left, right, into } => {
                    // Not by `map` over an array, which is compiled to a call.
                    let (left, right, target) = (self.address(left), self.address(right), self.address(into));
                    self.transport.fold(left, right, target, into.len);
                    Ok(())
                }
                Action::ReduceLocal { input, inout } => {
                    let (first, second) = (self.address(input), self.address(inout));
                    self.transport.reduce_local(first, second, inout.len)
                }
                Action::Pack { from, into } => {
                    let row = self.address(into);
                    self.transport.pack(from, row)
                }
                Action::Unpack { from, into } => {
                    let row = self.address(from);
                    self.transport.unpack(row, into)
                }
                Action::Shared(step) => self.transport.shared(step),
            }
        }
    }

    /// # Safety
    /// The message's range is valid.
    #[inline(always)]
    unsafe fn send(&mut self, message: &Message) -> Result<(), T::Error> {
        self.observer.started(BLOCKING, message.peer, true);
        // SAFETY: the caller's promise.
        let sent = unsafe {
            match message.is_whole() {
                true => self.transport.send(message.peer, self.address(message.range), message.range.len),
                false => self.send_fragments(message),
            }
        };
        self.observer.ended(BLOCKING..BLOCKING + 1);
        sent
    }

    /// # Safety
    /// The message's range is valid.
    #[inline(never)]
    unsafe fn send_fragments(&mut self, message: &Message) -> Result<(), T::Error> {
        message.parts().try_for_each(|part| {
            let mut requests = Requests::<T>::new();
            // SAFETY: the caller's promise; waited for here.
            let started = unsafe { self.start_sends(message, &part, &mut requests) };
            started.and(self.transport.wait(&mut requests))
        })
    }

    /// Starts the sends of the fragments of a part.
    ///
    /// # Safety
    /// The message's range is valid until the requests are waited for.
    unsafe fn start_sends(
        &mut self,
        message: &Message,
        part: &Message,
        requests: &mut Requests<T>,
    ) -> Result<(), T::Error> {
        part.fragments().try_for_each(|range| {
            // SAFETY: the caller's promise.
            requests.push(unsafe { self.start_send(message, range) }?);
            Ok(())
        })
    }

    /// Starts the send of a fragment.
    ///
    /// # Safety
    /// The range, a fragment of the message, is valid until the request is waited for.
    #[inline(always)]
    unsafe fn start_send(&mut self, message: &Message, range: Range) -> Result<T::Request, T::Error> {
        let from = self.address(range);
        // SAFETY: the caller's promise.
        unsafe {
            match !message.is_whole() && message.ends_with(range) {
                true => self.transport.start_send_last(message.peer, from, range.len, message.range.len),
                false => self.transport.start_send(message.peer, from, range.len),
            }
        }
    }

    /// # Safety
    /// The message's range is valid.
    #[inline(always)]
    unsafe fn receive(&mut self, message: &Message) -> Result<(), T::Error> {
        self.observer.started(BLOCKING, message.peer, false);
        // SAFETY: the caller's promise.
        let received = unsafe {
            match message.is_whole() {
                true => self.transport.receive(message.peer, self.address(message.range), message.range.len),
                false => self.receive_fragments(message),
            }
        };
        self.observer.ended(BLOCKING..BLOCKING + 1);
        received
    }

    /// # Safety
    /// The message's range is valid.
    #[inline(never)]
    unsafe fn receive_fragments(&mut self, message: &Message) -> Result<(), T::Error> {
        message.parts().try_for_each(|part| {
            let mut requests = Requests::<T>::new();
            // SAFETY: the caller's promise; waited for here.
            let started = unsafe { self.start_receives(&part, &mut requests) };
            started.and(self.transport.wait(&mut requests))
        })
    }

    /// Starts the receives of the fragments of a part: what comes before its receive the MPI library copies twice.
    ///
    /// # Safety
    /// The part's range is valid until the requests are waited for.
    unsafe fn start_receives(&mut self, part: &Message, requests: &mut Requests<T>) -> Result<(), T::Error> {
        part.fragments().try_for_each(|range| {
            let into = self.address(range);
            // SAFETY: the caller's promise.
            requests.push(unsafe { self.transport.start_receive(part.peer, into, range.len) }?);
            Ok(())
        })
    }

    /// Both ways at once. A send that is started and a receive that blocks take 40 to 50 ns less than `PMPI_Sendrecv`
    /// for 8 and 64 bytes, on Open MPI 4.1.4, which then needs no request from its lists, and on MPICH 4.0.2; from 512
    /// bytes on as much.
    ///
    /// # Safety
    /// Both messages' ranges are valid.
    #[inline(always)]
    unsafe fn exchange(&mut self, out: &Message, into: &Message) -> Result<(), T::Error> {
        self.observer.started(BLOCKING + 1, out.peer, true);
        let exchanged = if out.is_whole() && into.is_whole() {
            let (from, target) = (self.address(out.range), self.address(into.range));
            // SAFETY: the caller's promise; waited for below.
            let started = unsafe { self.transport.start_send(out.peer, from, out.range.len) };
            started.and_then(|request| {
                self.observer.started(BLOCKING, into.peer, false);
                // SAFETY: the caller's promise.
                let received = unsafe { self.transport.receive(into.peer, target, into.range.len) };
                self.observer.ended(BLOCKING..BLOCKING + 1);
                received.and(self.transport.wait(&mut [request]))
            })
        } else {
            // SAFETY: the caller's promise.
            unsafe { self.exchange_fragments(out, into) }
        };
        self.observer.ended(BLOCKING + 1..BLOCKING + 2);
        exchanged
    }

    /// # Safety
    /// As for [`exchange`](Self::exchange).
    unsafe fn exchange_fragments(&mut self, out: &Message, into: &Message) -> Result<(), T::Error> {
        self.observer.started(BLOCKING, into.peer, false);
        let (mut parts_out, mut parts_into) = (out.parts(), into.parts());
        let exchanged = loop {
            let (part_out, part_into) = (parts_out.next(), parts_into.next());
            if part_out.is_none() && part_into.is_none() {
                break Ok(());
            }
            let mut requests = Requests::<T>::new();
            // SAFETY: the caller's promise; waited for here.
            let started = unsafe {
                let received = part_into.map_or(Ok(()), |part| self.start_receives(&part, &mut requests));
                received.and_then(|()| part_out.map_or(Ok(()), |part| self.start_sends(out, &part, &mut requests)))
            };
            let done = started.and(self.transport.wait(&mut requests));
            if done.is_err() {
                break done;
            }
        };
        self.observer.ended(BLOCKING..BLOCKING + 1);
        exchanged
    }

    /// # Safety
    /// The message's range is valid until it is waited for.
    #[inline]
    unsafe fn start(&mut self, message: &Message, slot: u32, outgoing: bool) -> Result<(), T::Error> {
        let end = slot as usize + message.number_of_fragments();
        while self.requests.len() < end {
            self.requests.push(self.transport.nothing());
        }
        for (range, slot) in message.fragments().zip(slot as usize..) {
            self.observer.started(slot as u32, message.peer, outgoing);
            // SAFETY: the caller's promise.
            self.requests[slot] = unsafe {
                match outgoing {
                    true => self.start_send(message, range),
                    false => self.transport.start_receive(message.peer, self.address(range), range.len),
                }
            }?;
        }
        Ok(())
    }
}

impl<T: Transport, O: Observer> Sink for Player<'_, T, O> {
    #[inline]
    fn take(&mut self, action: Action) {
        self.carry_all(&[action], 0);
    }

    fn scratch(&mut self, units: usize) {
        if self.units > 0 {
            self.earlier.push((self.piece, self.bases[Buffer::Scratch as usize]));
        }
        (self.piece, self.bases[Buffer::Scratch as usize]) = (self.units, (self.more)(units));
        self.units += units;
    }
}
