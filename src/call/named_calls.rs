//! Calls with types or an operation of the program's own that are only passed on, found by what that rests on: counts,
//! sizes of the types, and whether the operation commutes; and reductions of ours by an operation of the program's on a
//! type of MPI's own, of which the operation is all that may have become another one.
//!
//! The MPI library is asked one question for each of these, where understanding such a call
//! ([`Made`]) takes a dozen. A call that is found is carried out as others like it were, and so it is on all
//! ranks; where it is passed on, the layout of its types, and whether they may be used at all, is the MPI library's
//! business.

use super::arguments::{Arguments, Key};
use super::made::Made;
use crate::communicator::facts::Facts;
use crate::monitor::{CacheAccount, CounterId, Direct};
use crate::mpi::datatype::{self, Datatype};
use crate::mpi::{constants, operation};
use std::rc::{Rc, Weak};
use std::sync::Arc;

/// How many of a communicator are known at most: programs that make a type for each call make them of many sizes.
const LINES: usize = 64;

/// Those of a communicator that came lately. What is played for one of ours is found in a `C`, for as long as that is
/// kept.
#[derive(Debug)]
pub struct NamedCalls<C> {
    lines: Direct<Line<C>, LINES>,
    /// Whether there have been any, so that nobody asks in vain.
    any: bool,
}

/// What is known of one of them.
#[derive(Debug)]
pub struct Found<'a, C> {
    /// Where it is counted, and its bytes.
    pub counted: (CounterId, u64),
    /// What is played; none if it is passed on.
    pub played: Option<&'a Weak<C>>,
}

/// One of them.
#[derive(Debug)]
#[repr(align(64))]
struct Line<C> {
    key: NamedKey,
    counted: (CounterId, u64),
    played: Option<Weak<C>>,
}

/// Two calls with one key on one communicator are decided alike, and have the same bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NamedKey(Key);

/// Marks the word of a type of the program's, whose size stands for it: no size is as large as what a handle that has this
/// bit, as some of MPICH's have, would be without it.
const SIZE: u64 = 1 << 63;

impl NamedKey {
    /// Asks the MPI library for the key of a call; `None` where something is invalid or not asked about: arrays, calls
    /// between two groups, null handles.
    pub fn ask(arguments: &Arguments, facts: &Facts) -> Option<Self> {
        Self::with(arguments, facts, datatype::ask_size, operation::ask_commutative)
    }

    /// The same of a call that has been understood.
    pub fn known(arguments: &Arguments, facts: &Facts, made: &Made) -> Option<Self> {
        let [send, receive] = made.types();
        let size = |handle| {
            let is_it = |datatype: &&Datatype| datatype.handle == handle;
            [send, receive].iter().flatten().find(is_it).map(|datatype| datatype.size)
        };
        Self::with(arguments, facts, size, |_| made.commutes())
    }

    fn with(
        arguments: &Arguments,
        facts: &Facts,
        size: impl Fn(mpi_sys::MPI_Datatype) -> Option<usize>,
        commutes: impl Fn(mpi_sys::MPI_Op) -> Option<bool>,
    ) -> Option<Self> {
        let root = usize::try_from(arguments.root).ok().filter(|root| *root < facts.size && !facts.inter)?;
        let folds = arguments.operation.row().folds;
        let is_named = folds && !operation::is_predefined(arguments.op);
        // Open MPI would tell MPI_COMM_WORLD of a null handle, and those of windows are none for collectives.
        let is_none = is_named && (arguments.op == constants::op_null() || operation::is_of_windows(arguments.op));
        if arguments.arrays.is_some() || is_none {
            return None;
        }
        let counts = arguments.sides(facts.size, facts.rank == root).map(|blocks| blocks.is_some());
        let given = [arguments.send.datatype, arguments.receive.datatype];
        let word = |handle| match datatype::is_predefined(handle) {
            _ if handle == constants::datatype_null() => None,
            true => Some(handle.0 as usize as u64),
            false => Some(SIZE | size(handle)? as u64),
        };
        let words = match counts {
            // Mostly one type, about which one question is enough.
            [true, true] if given[0] == given[1] => [word(given[0])?; 2],
            [sends, receives] => {
                let of = |counts, handle| if counts { word(handle) } else { Some(0) };
                [of(sends, given[0])?, of(receives, given[1])?]
            }
        };
        let key = arguments.shape().with_types(words);
        Some(Self(if is_named { key.with_operation(1 + u64::from(commutes(arguments.op)?)) } else { key }))
    }
}

impl<C> NamedCalls<C> {
    /// None yet; what they come to hold is charged to `account`.
    pub const fn new(account: Arc<CacheAccount>) -> Self {
        Self { lines: Direct::new(account), any: false }
    }

    /// Whether none has been added.
    pub const fn is_empty(&self) -> bool {
        !self.any
    }

    /// What is known of a call like this one.
    pub fn find(&self, key: &NamedKey) -> Option<Found<'_, C>> {
        let line = self.lines.find(key.0.hash_with_types())?;
        (line.key == *key).then_some(Found { counted: line.counted, played: line.played.as_ref() })
    }

    /// Makes note of one that has one candidate for good, as all ranks have decided, and that nothing but the table of
    /// counters wants to know of. One that is played tells no more of its types than their handles do.
    pub fn add(&mut self, key: NamedKey, counted: (CounterId, u64), played: Option<&Rc<C>>) {
        self.lines.put(key.0.hash_with_types(), Line { key, counted, played: played.map(Rc::downgrade) });
        self.any = true;
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.lines.clear();
        self.any = false;
    }
}
