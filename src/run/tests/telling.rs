//! What the player asks of a transport, held against what the verifier reads.

use super::super::{Buffers, Player, Transport};
use super::calls::COUNT;
use crate::algorithm::{Call, Choice, Shared, SharedMemory, all};
use crate::schedule::action::{Action, Elements, Expansion, Primitives, Sink};
use crate::schedule::lower::{Form, Part, lower, stream};
use crate::schedule::{Buffer, Range, Request};
use std::cell::RefCell;

/// Where shared memory begins for the transport below.
const SHARED: usize = 1 << 60;

/// A transport that tells what it is asked for, as primitives, and touches no memory.
struct Telling<'a, P> {
    told: &'a mut P,
    unit: usize,
}

impl<P: Primitives> Telling<'_, P> {
    fn range(&self, at: *mut u8, units: usize) -> Range {
        // Buffers lie 2^40 apart, shared memory far above them.
        let buffer = [Buffer::Send, Buffer::Receive, Buffer::Scratch, Buffer::Lengths];
        let at = at as usize;
        if at >= SHARED {
            return Range { buffer: Buffer::Shared, start: (at - SHARED) / self.unit, len: units };
        }
        Range { buffer: buffer[(at >> 40) - 1], start: (at & ((1 << 40) - 1)) / self.unit, len: units }
    }
}

// SAFETY: touches no memory at all.
unsafe impl<P: Primitives> Transport for Telling<'_, P> {
    type Request = Option<Request>;
    type Error = String;

    fn nothing(&self) -> Option<Request> {
        None
    }

    fn stride(&self) -> isize {
        self.unit as isize
    }

    unsafe fn send(&mut self, peer: u32, from: *mut u8, units: usize) -> Result<(), String> {
        let request = self.told.start(peer, self.range(from, units), true);
        self.told.wait(request);
        Ok(())
    }

    unsafe fn receive(&mut self, peer: u32, into: *mut u8, units: usize) -> Result<(), String> {
        let request = self.told.start(peer, self.range(into, units), false);
        self.told.wait(request);
        Ok(())
    }

    unsafe fn start_send(&mut self, peer: u32, from: *mut u8, units: usize) -> Result<Option<Request>, String> {
        Ok(Some(self.told.start(peer, self.range(from, units), true)))
    }

    unsafe fn start_receive(&mut self, peer: u32, into: *mut u8, units: usize) -> Result<Option<Request>, String> {
        Ok(Some(self.told.start(peer, self.range(into, units), false)))
    }

    fn wait(&mut self, requests: &mut [Option<Request>]) -> Result<(), String> {
        for request in requests {
            self.told.wait(request.take().ok_or("waits for nothing")?);
        }
        Ok(())
    }

    unsafe fn copy(&mut self, from: *mut u8, into: *mut u8, units: usize) -> Result<(), String> {
        self.told.copy(self.range(from, units), self.range(into, units));
        Ok(())
    }

    unsafe fn fold(&mut self, left: *mut u8, right: *mut u8, into: *mut u8, units: usize) {
        let [left, right, into] = [left, right, into].map(|at| self.range(at, units));
        self.told.fold(left, right, into);
    }

    unsafe fn reduce_local(&mut self, input: *mut u8, inout: *mut u8, units: usize) -> Result<(), String> {
        let [input, inout] = [input, inout].map(|at| self.range(at, units));
        self.told.fold(input, inout, inout);
        Ok(())
    }

    unsafe fn pack(&mut self, _: Elements, _: *mut u8) -> Result<(), String> {
        Ok(())
    }

    unsafe fn unpack(&mut self, _: *mut u8, _: Elements) -> Result<(), String> {
        Ok(())
    }

    fn shared(&mut self, step: Shared) -> Result<(), String> {
        self.told.shared(step);
        Ok(())
    }

    fn pass(&mut self, _: Shared) {}

    fn shared_at(&self, start: usize) -> *mut u8 {
        (SHARED + self.unit * start) as *mut u8
    }
}

/// What the player asks of a transport for these actions.
fn played(feed: impl FnOnce(&mut dyn FnMut(Action), &mut dyn FnMut(usize))) -> crate::schedule::Program {
    let mut steps = crate::schedule::action::Steps::default();
    let mut table = Vec::new();
    let mut given = 0;
    let mut more = |units: usize| {
        let at = (3usize << 40) + 4 * given;
        given += units;
        at as *mut u8
    };
    let transport = Telling { told: &mut steps, unit: 4 };
    let [send, receive, lengths] = [1usize, 2, 4].map(|place| (place << 40) as *mut u8);
    let buffers = Buffers { send, receive, lengths };
    // SAFETY: no memory is touched.
    let player = unsafe { Player::new(transport, (), buffers, &mut table, &mut more) };
    let player = RefCell::new(player);
    feed(&mut |action| player.borrow_mut().take(action), &mut |units| player.borrow_mut().scratch(units));
    player.into_inner().finish().expect("no error");
    Expansion::new(steps).program()
}

#[test]
fn the_player_does_what_the_verifier_reads() {
    let forms = [Form::PLAIN, Form { blocking: false, ..Form::PLAIN }];
    for row in all() {
        let choice = Choice::new(row);
        for (size, form) in [2, 5, 8].into_iter().flat_map(|size| forms.map(|form| (size, form))) {
            let within_node = crate::schedule::limits::ProtocolLimits::of([12]).unwrap();
            let fragments = crate::schedule::fragments::Fragments { between_nodes: None, within_node };
            let form = Form { fragments, ..form };
            let shared = Some(SharedMemory::PLAIN);
            let call = Call { shared, ..Call::plain(row.operation, COUNT, 4) };
            if choice.accepts(&call, size).is_err() {
                continue;
            }
            for rank in 0..size {
                let part = Part { choice: &choice, call: &call, rank, size };
                let kept = lower(&part, &form, usize::MAX).expect("no limit");
                let from_list = played(|take, scratch| {
                    scratch(kept.scratch);
                    kept.actions.iter().for_each(|action| take(*action));
                });
                assert_eq!(from_list.steps, kept.program().steps, "{choice} rank {rank} of {size}");
                struct Forward<'a>(&'a mut dyn FnMut(Action), &'a mut dyn FnMut(usize));
                impl Sink for Forward<'_> {
                    fn take(&mut self, action: Action) {
                        (self.0)(action);
                    }
                    fn scratch(&mut self, units: usize) {
                        (self.1)(units);
                    }
                }
                let streamed = played(|take, scratch| _ = stream(&part, &form, &mut Forward(take, scratch)));
                let expanded = &crate::schedule::lower::stream_all(&choice, &call, size, &form)[rank];
                assert_eq!(streamed.steps, expanded.steps, "{choice} rank {rank} of {size}, streamed");
            }
        }
    }
}
