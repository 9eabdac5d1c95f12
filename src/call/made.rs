//! Types and operations of the program's own in the arguments of a call, as far as the understanding of it rests on
//! them.
//!
//! Programs make them for one call and free them after it, as ScaLAPACK does for each matrix that it sends or adds, and
//! a handle may mean something else the next time. So such calls are kept by what the types look like and whether the
//! operation commutes, rather than by handles: whoever finds one has just asked the MPI library what the handles mean.
//! The handles themselves are needed only to pack, unpack and combine
//! ([`Prepared::set_handles`](super::program::Prepared::set_handles)).

use super::arguments::{Arguments, Key};
use crate::communicator::facts::Facts;
use crate::mpi::constants;
use crate::mpi::datatype::{self, Datatype, Shape};
use crate::mpi::operation::{self, Operation};
use mpi_sys::{MPI_Datatype, MPI_Op};

/// What counts on this rank, some of it made by the program.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    /// The types of the send and the receive side.
    types: [Option<Datatype>; 2],
    /// The operation, if the program made it.
    operation: Option<Operation>,
}

/// What the understanding of such a call rests on: two calls with one key on one communicator are understood alike, as
/// others are by their [`Key`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MadeKey {
    /// With nothing for handles but those of predefined types that count.
    others: Key,
    shapes: [Option<Shape>; 2],
    /// Whether both types have one handle, to which the MPI library looks where buffers overlap.
    are_one: bool,
    /// Whether the operation commutes, if it is one of the program's.
    commutes: Option<bool>,
}

impl Made {
    /// Whether a handle is none of MPI's own, of an argument that may count on no rank but others.
    #[inline]
    pub fn is_named(arguments: &Arguments) -> bool {
        let is_own = |handle: MPI_Datatype| handle != constants::datatype_null() && !datatype::is_predefined(handle);
        // First what is compared with the fewest handles.
        arguments.operation.row().folds && !operation::is_predefined(arguments.op)
            || is_own(arguments.send.datatype)
            || is_own(arguments.receive.datatype)
    }

    /// Of a call; `None` where the program made nothing of it, something is invalid, or elements of a derived type are
    /// folded, whose handle is used in more places than the others'. Nor between two groups, where which arguments
    /// count depends on the side.
    pub fn of(arguments: &Arguments, facts: &Facts) -> Option<Self> {
        let Facts { rank, size, inter, .. } = *facts;
        let root = usize::try_from(arguments.root).ok().filter(|root| *root < size && !inter)?;
        let folds = arguments.operation.row().folds;
        // Open MPI would tell MPI_COMM_WORLD of null handles, rather than whom the call is to tell.
        if folds && (arguments.op == constants::op_null() || operation::is_predefined(arguments.op)) {
            return None;
        }
        let counts = arguments.sides(size, rank == root).map(|blocks| blocks.is_some());
        let given = [arguments.send.datatype, arguments.receive.datatype];
        let mut types = [None; 2];
        for ((place, handle), _) in types.iter_mut().zip(given).zip(counts).filter(|(_, counts)| *counts) {
            let is_left_out = folds && !datatype::is_predefined(handle);
            if is_left_out || handle == constants::datatype_null() {
                return None;
            }
            *place = Some(Datatype::of(handle).ok()?);
        }
        if !folds && !types.iter().flatten().any(Datatype::is_derived) {
            return None;
        }
        let operation = match folds {
            true => Some(Operation::of(arguments.op, types.iter().flatten().next()?).ok()??),
            false => None,
        };
        Some(Self { types, operation })
    }

    /// The key of the call with these; arrays have `entries` entries.
    pub fn key(&self, arguments: &Arguments, entries: usize) -> MadeKey {
        let word = |datatype: Datatype| if datatype.is_derived() { 0 } else { datatype.handle.0 as usize as u64 };
        let shape = |datatype: Datatype| datatype.is_derived().then(|| datatype.shape());
        let others = arguments.key(entries).with_types(self.types.map(|datatype| datatype.map_or(0, word)));
        MadeKey {
            others: if self.operation.is_some() { others.with_operation(0) } else { others },
            shapes: self.types.map(|datatype| datatype.and_then(shape)),
            are_one: arguments.send.datatype == arguments.receive.datatype,
            commutes: self.operation.map(|operation| operation.commutative),
        }
    }

    /// The types.
    pub const fn types(&self) -> [Option<Datatype>; 2] {
        self.types
    }

    /// Whether all types are MPI's own.
    pub fn are_all_predefined(&self) -> bool {
        !self.types.iter().flatten().any(Datatype::is_derived)
    }

    /// Whether the operation commutes, if the program made it.
    pub fn commutes(&self) -> Option<bool> {
        self.operation.map(|operation| operation.commutative)
    }

    /// The handle of the operation.
    pub fn operation(&self) -> Option<MPI_Op> {
        self.operation.map(|operation| operation.handle)
    }
}

impl MadeKey {
    /// Differs between most keys of a program, in its top bits.
    pub fn hash(&self) -> u64 {
        let mix = |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let shapes = self.shapes.iter().flatten();
        shapes.fold(self.others.hash(), |hash, shape| mix(mix(hash, shape.size as u64), shape.extent as u64))
    }
}
