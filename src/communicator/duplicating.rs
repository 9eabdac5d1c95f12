//! Duplicates that are being made: what the program has begun with `MPI_Comm_idup` and not completed yet.
//!
//! Open MPI finds the id of a new communicator in several steps, each a nonblocking collective on the parent that
//! begins when a rank notices that the one before has ended. Where two communicators are made of one parent at a time,
//! ranks may begin their steps in different orders, and hang or come to different ids (docs/native-defects.md); where
//! they are made of different parents, one waits for the other ([`making`](super::making)).

use crate::mpi::constants;
use crate::mpi::error::Result;
use crate::mpi::family;
use crate::mpi::waiting;
use mpi_sys::MPI_Request;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A duplicate that is being made.
#[derive(Clone, Copy)]
struct Duplicate {
    /// No other has the same: handles are given out again.
    number: usize,
    request: MPI_Request,
}

// SAFETY: handles mean the same on every thread; what they lead to is the MPI library's to guard.
unsafe impl Send for Duplicate {}

/// What this process knows of them.
struct Duplicates {
    begun: AtomicUsize,
    /// Of how many it is not known that they are complete.
    left: AtomicUsize,
    known: Mutex<Vec<Duplicate>>,
}

static DUPLICATES: Duplicates = Duplicates::none();

/// `MPI_Comm_idup` was called and gave `request`.
pub fn begun(request: MPI_Request) {
    if family::MAKES_ONE_COMMUNICATOR_AT_A_TIME && request != constants::request_null() {
        DUPLICATES.begun(request);
    }
}

/// Whether some may be unfinished.
#[inline]
pub fn are_left() -> bool {
    DUPLICATES.left.load(Ordering::Relaxed) > 0
}

/// The number of the duplicate that `request` is of, if it is one's.
pub fn of(request: MPI_Request) -> Option<usize> {
    DUPLICATES.of(request)
}

/// The program has completed the request of that one.
pub fn completed(number: usize) {
    DUPLICATES.completed(number);
}

/// Whether none is being made here. Does not wait.
///
/// # Errors
/// What PMPI returned.
pub fn are_complete() -> Result<bool> {
    if are_left() {
        for Duplicate { number, request } in DUPLICATES.all() {
            // Another thread may be about to complete it. Open MPI keeps the memory of requests for later ones and
            // answers what is there, and once that thread is done, the duplicate is no longer known here.
            if waiting::is_complete(request)? {
                DUPLICATES.completed(number);
            }
        }
    }
    Ok(!are_left())
}

impl Duplicates {
    const fn none() -> Self {
        Self { begun: AtomicUsize::new(0), left: AtomicUsize::new(0), known: Mutex::new(Vec::new()) }
    }

    fn begun(&self, request: MPI_Request) {
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        self.change(|known| {
            // What had this handle before was completed by ways that were not seen.
            known.retain(|duplicate| duplicate.request != request);
            known.push(Duplicate { number, request });
        });
    }

    fn of(&self, request: MPI_Request) -> Option<usize> {
        let known = self.known.lock();
        known.iter().find(|duplicate| duplicate.request == request).map(|duplicate| duplicate.number)
    }

    fn all(&self) -> Vec<Duplicate> {
        self.known.lock().clone()
    }

    fn completed(&self, number: usize) {
        self.change(|known| known.retain(|duplicate| duplicate.number != number));
    }

    fn change(&self, action: impl FnOnce(&mut Vec<Duplicate>)) {
        let mut known = self.known.lock();
        action(&mut known);
        self.left.store(known.len(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_given_out_again_is_the_later_duplicates() {
        let duplicates = Duplicates::none();
        let [request, another] = [0x2a, 0x2b].map(|handle| MPI_Request(handle as _));
        let left = |duplicates: &Duplicates| duplicates.left.load(Ordering::Relaxed);
        duplicates.begun(request);
        duplicates.begun(another);
        let first = duplicates.of(request).unwrap();
        // One thread has completed the first and comes to say so when another has been given its handle.
        duplicates.begun(request);
        duplicates.completed(first);
        assert_eq!((duplicates.of(request), left(&duplicates)), (Some(first + 2), 2));
        duplicates.completed(duplicates.of(another).unwrap());
        duplicates.completed(duplicates.of(request).unwrap());
        assert_eq!((duplicates.of(request), left(&duplicates)), (None, 0));
    }
}
