//! A transport in memory, between ranks of one thread.

use super::super::Transport;
use super::super::resumable::Polled;
use crate::algorithm::Shared;
use crate::schedule::action::Elements;
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

/// Messages under way, by sender and receiver, of units of four bytes.
pub type Wires = Rc<RefCell<HashMap<(u32, u32), VecDeque<Vec<u32>>>>>;

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Pending {
    Nothing,
    Receive { from: u32, into: *mut u8, units: usize },
}

pub struct InMemory {
    pub rank: u32,
    pub wires: Wires,
}

impl InMemory {
    /// Takes a message that is there.
    fn take(&mut self, from: u32, into: *mut u8, units: usize) -> bool {
        let message = self.wires.borrow_mut().get_mut(&(from, self.rank)).and_then(VecDeque::pop_front);
        let Some(message) = message else { return false };
        assert_eq!(message.len(), units, "matched in the order of starting");
        if units > 0 {
            // SAFETY: the player has room for so many units there.
            unsafe { std::ptr::copy_nonoverlapping(message.as_ptr(), into.cast(), units) };
        }
        true
    }
}

// SAFETY: touches only the units named; a receive only when it is tested.
unsafe impl Transport for InMemory {
    type Request = Pending;
    type Error = String;

    fn nothing(&self) -> Pending {
        Pending::Nothing
    }

    fn stride(&self) -> isize {
        4
    }

    unsafe fn send(&mut self, _: u32, _: *mut u8, _: usize) -> Result<(), String> {
        Err("a blocking send in a program that must not block".to_owned())
    }

    unsafe fn receive(&mut self, _: u32, _: *mut u8, _: usize) -> Result<(), String> {
        Err("a blocking receive in a program that must not block".to_owned())
    }

    unsafe fn start_send(&mut self, peer: u32, from: *mut u8, units: usize) -> Result<Pending, String> {
        let mut message = vec![0; units];
        if units > 0 {
            // SAFETY: the caller's promise.
            unsafe { std::ptr::copy_nonoverlapping(from.cast::<u32>(), message.as_mut_ptr(), units) };
        }
        self.wires.borrow_mut().entry((self.rank, peer)).or_default().push_back(message);
        Ok(Pending::Nothing)
    }

    unsafe fn start_receive(&mut self, from: u32, into: *mut u8, units: usize) -> Result<Pending, String> {
        Ok(Pending::Receive { from, into, units })
    }

    fn wait(&mut self, requests: &mut [Pending]) -> Result<(), String> {
        match self.test(requests)? {
            true => Ok(()),
            false => Err("would wait for ever".to_owned()),
        }
    }

    unsafe fn copy(&mut self, from: *mut u8, into: *mut u8, units: usize) -> Result<(), String> {
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(from, into, 4 * units) };
        Ok(())
    }

    unsafe fn fold(&mut self, left: *mut u8, right: *mut u8, into: *mut u8, units: usize) {
        for unit in 0..units {
            // SAFETY: the caller's promise.
            unsafe {
                let sum = *left.cast::<u32>().add(unit) + *right.cast::<u32>().add(unit);
                *into.cast::<u32>().add(unit) = sum;
            }
        }
    }

    unsafe fn reduce_local(&mut self, input: *mut u8, inout: *mut u8, units: usize) -> Result<(), String> {
        // SAFETY: the caller's promise.
        unsafe { self.fold(input, inout, inout, units) };
        Ok(())
    }

    unsafe fn pack(&mut self, _: Elements, _: *mut u8) -> Result<(), String> {
        Err("nothing is packed here".to_owned())
    }

    unsafe fn unpack(&mut self, _: *mut u8, _: Elements) -> Result<(), String> {
        Err("nothing is packed here".to_owned())
    }

    fn shared(&mut self, _: Shared) -> Result<(), String> {
        Err("there is no board here".to_owned())
    }

    fn pass(&mut self, _: Shared) {}

    fn shared_at(&self, _: usize) -> *mut u8 {
        std::ptr::null_mut()
    }
}

impl Polled for InMemory {
    fn test(&mut self, requests: &mut [Pending]) -> Result<bool, String> {
        for request in requests {
            if let Pending::Receive { from, into, units } = *request {
                if !self.take(from, into, units) {
                    return Ok(false);
                }
                *request = Pending::Nothing;
            }
        }
        Ok(true)
    }
}
