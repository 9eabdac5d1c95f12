//! Calls that are passed on as they came, as far as the fast path has to know them: in a line of their own each, so that nothing
//! has to be followed to find out where the next one like it is counted.

use super::arguments::{Arguments, Key};
use super::local_arguments::LocalArguments;
use super::own_arguments::OwnArguments;
use crate::monitor::{CacheAccount, CounterId, Direct};
use crate::mpi::collectives::Arrays;
use crate::schedule::overlap::{Distances, Overlap};
use std::rc::{Rc, Weak};
use std::sync::Arc;

/// Those of a communicator.
#[derive(Debug)]
pub struct NativeCalls(Direct<NativeCall>);

/// One of them. Begins a cache line: two hold what most need.
#[derive(Debug)]
#[repr(align(64))]
struct NativeCall {
    key: Key,
    distances: Distances,
    counter: CounterId,
    bytes: u64,
    /// Counts and displacements to compare the next call's with, for as long as the call itself is kept.
    own: Option<Weak<OwnArguments>>,
}

impl NativeCall {
    /// Whether its arrays hold the same as these. Part of the entry that calls it: handed on to a function, the arguments would have
    /// to lie in memory, in entries without arrays as well.
    #[inline(always)]
    fn holds(&self, arrays: Option<[Arrays; 2]>) -> bool {
        let (Some(own), Some(arrays)) = (&self.own, arrays) else { return true };
        match own.upgrade() {
            Some(own) => own.is_of(arrays),
            None => false,
        }
    }
}

impl NativeCalls {
    /// None yet; what they come to hold is charged to `account`.
    pub const fn new(account: Arc<CacheAccount>) -> Self {
        Self(Direct::new(account))
    }

    /// Where a call is counted that came before and was passed on, and its bytes.
    #[inline(always)]
    pub fn find(&self, arguments: &Arguments) -> Option<(CounterId, u64)> {
        let key = arguments.shape();
        let known = self.0.find(key.line())?;
        let is_known = known.key == key
            && known.distances.overlap(arguments.distance()) == Overlap::Apart
            && known.holds(arguments.arrays);
        is_known.then_some((known.counter, known.bytes))
    }

    /// Makes note of a call that is passed on and counted in `counter`, for the next one like it.
    pub fn add(&mut self, arguments: &Arguments, local: &LocalArguments, counter: CounterId) {
        if local.overlap != Overlap::Apart {
            return;
        }
        let (distances, bytes) = (local.distances(), local.bytes() as u64);
        let (key, own) = (arguments.shape(), local.own.as_ref().map(Rc::downgrade));
        self.0.put(key.line(), NativeCall { key, distances, counter, bytes, own });
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}
