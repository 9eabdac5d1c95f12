//! Which arguments of a collective count on this rank, and how its buffers lie.

use super::arguments::{Arguments, Side, is_in_place};
use super::own_arguments::{self, OwnArguments};
use crate::communicator::fallback::Fallback;
use crate::mpi::alias;
use crate::mpi::basics;
use crate::mpi::constants;
use crate::mpi::datatype::Datatype;
use crate::mpi::family::ALLREDUCE_TAKES_BOTTOM_TWICE;
use crate::mpi::operation::Operation as Reduction;
use crate::mpi::packing::Elements;
use crate::mpi::passed::Arrays;
use crate::operation::{InPlace, Operation};
use crate::schedule::overlap::{Distances, Overlap, Reach};
use mpi_sys::{MPI_Datatype, MPI_Op};
use std::rc::Rc;

/// The arguments that count on this rank, understood.
#[derive(Clone, Debug)]
pub struct LocalArguments {
    /// Root rank; 0 where there is none.
    pub root: usize,
    /// Units, as [`Call::count`](crate::algorithm::Call::count); 0 where each rank passes its own counts.
    pub count: usize,
    /// Bytes of one unit, as [`Call::unit`](crate::algorithm::Call::unit).
    pub unit: usize,
    /// What this rank contributes; `None` in place or where it contributes nothing.
    pub send: Option<Elements>,
    /// Where its result goes; `None` where it gets none (or, in scatter, keeps it in place).
    pub receive: Option<Elements>,
    /// The reduction operation.
    pub reduction: Option<Reduction>,
    /// How the two buffers lie: what is said here holds for calls whose buffers lie so. Those that are in place without
    /// being passed so are taken for in place; from others that overlap, all must be read before anything is written.
    pub overlap: Overlap,
    distances: Distances,
    /// Whether a type that counts was made by the program, also one of a side that is in place without being passed so.
    has_derived: bool,
    /// Counts and displacements, where each rank passes its own.
    pub own: Option<Rc<OwnArguments>>,
}

/// For which calls it holds what was understood of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasts {
    /// For none but that.
    Once,
    /// For those with the same [key](Arguments::key).
    WhileAlike,
    /// For those with the same [key](super::made::MadeKey) of what the program made.
    WhileMadeAlike,
}

/// Elements of a buffer of the program's.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The place of the first of them in the buffer.
    pub first: isize,
    /// These.
    pub elements: Elements,
}

impl LocalArguments {
    /// Those of a barrier.
    pub const fn nothing() -> Self {
        let (overlap, distances) = (Overlap::Apart, Distances::NOWHERE);
        let (send, receive, reduction, own) = (None, None, None, None);
        Self { root: 0, count: 0, unit: 1, send, receive, reduction, overlap, distances, has_derived: false, own }
    }

    /// Signature bytes that one rank contributes, where all know them.
    pub const fn known_bytes(&self) -> usize {
        self.count * self.unit
    }

    /// Signature bytes that this rank contributes: one rank's block, or where blocks differ in length all that it
    /// sends.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.own.as_ref().map_or_else(|| self.known_bytes(), |own| own.bytes)
    }

    /// The same for a call with other buffers.
    #[inline]
    pub fn at(&self, arguments: &Arguments) -> Self {
        let mut local = self.clone();
        if let Some(send) = &mut local.send {
            send.address = arguments.send.address.cast_mut().cast();
        }
        if let Some(receive) = &mut local.receive {
            receive.address = arguments.receive.address.cast_mut().cast();
        }
        local
    }

    /// The parts of the receive buffer: all of it in one, or each block that is not empty where each rank places its
    /// own.
    pub fn received(&self) -> Vec<Part> {
        let Some(all) = self.receive else { return Vec::new() };
        match &self.own {
            None => vec![Part { first: 0, elements: all }],
            Some(own) => {
                let filled = own.filled(own_arguments::Side::Receive).map(|(_, placed)| placed);
                filled.map(|at| Part { first: at.first, elements: all.part(at.first, at.number) }).collect()
            }
        }
    }

    /// The handles that `PMPI_Reduce_local` takes, in reductions.
    #[inline]
    pub fn operation_and_type(&self) -> Option<(MPI_Op, MPI_Datatype)> {
        let side = self.receive.as_ref().or(self.send.as_ref())?;
        self.reduction.as_ref().map(|reduction| (reduction.handle, side.datatype.handle))
    }

    /// What the overlap of the two buffers rests on.
    pub const fn distances(&self) -> Distances {
        self.distances
    }

    /// Whether the buffers of such a call lie as those that this was made of, and its arrays hold the same.
    #[inline]
    pub fn fits(&self, arguments: &Arguments) -> bool {
        self.distances.overlap(arguments.distance()) == self.overlap
            && match (&self.own, &arguments.arrays) {
                (Some(own), Some(arrays)) => own.is_of(*arrays),
                _ => true,
            }
    }

    /// For which calls it holds. Handles that are not predefined may mean something else the next time, and of buffers
    /// that overlap the native library may refuse some.
    pub fn lasts(&self) -> Lasts {
        match self.reduction {
            _ if self.overlap == Overlap::Partial => Lasts::Once,
            Some(_) if self.has_derived => Lasts::Once,
            Some(reduction) if reduction.predefined => Lasts::WhileAlike,
            Some(_) => Lasts::WhileMadeAlike,
            None if self.has_derived => Lasts::WhileMadeAlike,
            None => Lasts::WhileAlike,
        }
    }

    /// Sorts the arguments out for rank `rank` of `size`.
    ///
    /// # Errors
    /// What keeps the call from being replaced.
    pub fn of(arguments: &Arguments, rank: usize, size: usize) -> Result<Self, Fallback> {
        Self::sorted(arguments, rank, size)?.with_overlap(arguments, rank)
    }

    /// The same with buffers that lie apart.
    fn sorted(arguments: &Arguments, rank: usize, size: usize) -> Result<Self, Fallback> {
        let root = usize::try_from(arguments.root).ok().filter(|root| *root < size).ok_or(Fallback::InvalidArgument)?;
        let (row, at_root) = (arguments.operation.row(), rank == root);
        if row.folds {
            return Self::reduction(arguments, root, at_root);
        }
        if let Some(arrays) = &arguments.arrays {
            return Self::own(arguments, arrays, size);
        }
        let [send, receive] = arguments.sides(size, at_root);
        let send = send.map(|blocks| elements(&arguments.send, blocks)).transpose()?;
        let receive = receive.map(|blocks| elements(&arguments.receive, blocks)).transpose()?;
        // Where one holds a block for each rank, its count is a block's.
        let bytes = match (send, receive) {
            (None, None) => 0,
            (Some(all), _) if row.send.per_rank() => all.bytes() / size,
            (_, Some(all)) if row.receive.per_rank() => all.bytes() / size,
            (_, Some(one)) | (Some(one), None) => one.bytes(),
        };
        Ok(Self { root, count: bytes, send, receive, ..Self::nothing() })
    }

    /// The same of a call with counts and displacements of its own.
    fn own(arguments: &Arguments, arrays: &[Arrays; 2], size: usize) -> Result<Self, Fallback> {
        let valid = |side: &Side| {
            let address = side.address.cast_mut().cast();
            datatype(side).map(|datatype| Elements { address, count: 0, datatype })
        };
        let (sent, mut received) = (&arguments.send, valid(&arguments.receive)?);
        let mut send = if is_in_place(sent.address) { None } else { Some(valid(sent)?) };
        let given = send.as_ref().map(|send| (arrays[0], &send.datatype));
        let own = OwnArguments::of(given, (arrays[1], &received.datatype), size)?;
        received.count = own.elements(own_arguments::Side::Receive);
        if let Some(send) = &mut send {
            send.count = own.elements(own_arguments::Side::Send);
        }
        let starts_at_null = |side, elements: &Elements| {
            elements.address.is_null()
                && elements.datatype.contiguous
                && elements.datatype.size > 0
                && own.filled(side).any(|(_, placed)| placed.first == 0)
        };
        if starts_at_null(own_arguments::Side::Receive, &received)
            || send.as_ref().is_some_and(|send| starts_at_null(own_arguments::Side::Send, send))
        {
            return Err(Fallback::InvalidArgument);
        }
        Ok(Self { send, receive: Some(received), own: Some(Rc::new(own)), ..Self::nothing() })
    }

    /// Finds out how the buffers lie.
    fn with_overlap(self, arguments: &Arguments, rank: usize) -> Result<Self, Fallback> {
        let has_derived = [self.send, self.receive].iter().flatten().any(|side| side.datatype.is_derived());
        let mut local = Self { has_derived, ..self }.with_distances(arguments, rank)?;
        if let Some(own) = local.own.as_mut().and_then(Rc::get_mut) {
            own.settle(rank, local.send.is_none(), local.overlap == Overlap::Partial);
        }
        Ok(local)
    }

    /// The same, where both count.
    fn with_distances(mut self, arguments: &Arguments, rank: usize) -> Result<Self, Fallback> {
        let (Some(send), Some(receive)) = (self.send, self.receive) else { return Ok(self) };
        let elements = self.own.as_ref().map_or(arguments.send.count, |_| (send.count + receive.count) as i64);
        if native_refuses(arguments, rank, elements) {
            return Err(Fallback::InvalidArgument);
        }
        let own = |all: &Elements, one: &Elements| {
            let (all_type, one_type) = (&all.datatype, &one.datatype);
            let rows = all_type.contiguous && one_type.contiguous;
            // Places are told in elements where each rank passes its own.
            let rows = rows && (self.own.is_none() || all_type.size == one_type.size);
            let alike = all_type.handle == one_type.handle || rows;
            alike.then(|| (rank * self.count) as isize / all.datatype.size.max(1) as isize * all.datatype.extent)
        };
        let row = arguments.operation.row();
        let in_place = match row.in_place {
            InPlace::OwnOfReceive => own(&receive, &send),
            InPlace::OwnOfSend => own(&send, &receive).map(|offset| -offset),
            InPlace::All if row.folds => Some(0),
            InPlace::All if self.own.as_ref().is_some_and(|own| !own.sides_are_alike()) => None,
            InPlace::All => own(&receive, &send).map(|_| 0),
            InPlace::Never => None,
        };
        let reach = |side: Elements| {
            let Datatype { true_lower, true_extent, extent, .. } = side.datatype;
            Reach::of(side.count, true_lower, true_extent, extent)
        };
        let (sent, received) = match &self.own {
            None => (reach(send), reach(receive)),
            Some(own) => {
                let [sent, received] = [own_arguments::Side::Send, own_arguments::Side::Receive];
                (own.reach(sent, &send.datatype), own.reach(received, &receive.datatype))
            }
        };
        self.distances = Distances::of(sent, received, in_place);
        self.overlap = self.distances.overlap(arguments.distance());
        if self.overlap == Overlap::InPlace {
            let result = row.in_place == InPlace::OwnOfSend;
            *(if result { &mut self.receive } else { &mut self.send }) = None;
        }
        Ok(self)
    }

    fn reduction(arguments: &Arguments, root: usize, at_root: bool) -> Result<Self, Fallback> {
        let (send, receive) = (&arguments.send, &arguments.receive);
        if arguments.op == constants::op_null() {
            return Err(Fallback::InvalidArgument);
        }
        let result = arguments.operation.row().receive.blocks(1, at_root).is_some();
        let in_place = is_in_place(send.address);
        if in_place && !result {
            return Err(Fallback::InvalidArgument);
        }
        let receive = if result { Some(elements(receive, 1)?) } else { None };
        let send = if in_place { None } else { Some(elements(send, 1)?) };
        let side = receive.or(send).expect("one of them counts on every rank");
        // A type map that skips over its neighbours' places leaves room for a few elements only, while algorithms hold
        // several messages in a row. All ranks see it, since MPI reduces elements of one type.
        if side.datatype.extent.unsigned_abs() < side.datatype.true_extent {
            return Err(Fallback::Interleaved);
        }
        let reduction = Reduction::of(arguments.op, &side.datatype);
        let undefined = || match basics::is_by_precision(&side.datatype) {
            true => Fallback::ByPrecision,
            false => Fallback::UndefinedOperation,
        };
        let reduction = reduction.map_err(|_| Fallback::InvalidArgument)?.ok_or_else(undefined)?;
        let (count, unit) = (side.count, side.datatype.size.max(1));
        Ok(Self { root, count, unit, send, receive, reduction: Some(reduction), ..Self::nothing() }
            .without_empty_types(side.datatype.size))
    }

    /// A type of no bytes makes a call of no bytes, whatever the count.
    const fn without_empty_types(mut self, size: usize) -> Self {
        if size == 0 {
            self.count = 0;
        }
        self
    }
}

/// Whether the native library says that the two buffers are one, on a rank where both count. It compares addresses, not
/// the bytes in use, and blocks as if elements lay in a row. The call has `elements` elements.
fn native_refuses(arguments: &Arguments, rank: usize, elements: i64) -> bool {
    let Arguments { operation, send, receive, .. } = arguments;
    let same_counts = match arguments.arrays {
        None => send.count == receive.count,
        Some(_) => arguments.passes_one_array_of_counts(),
    };
    let alike = send.datatype == receive.datatype && same_counts;
    let own = || {
        let size = Datatype::of(send.datatype).map_or(0, |datatype| datatype.size);
        (rank * size) as isize * send.count as isize
    };
    let row = operation.row();
    let one = match row.in_place {
        _ if *operation == Operation::Allreduce && ALLREDUCE_TAKES_BOTTOM_TWICE && send.address.is_null() => false,
        InPlace::Never => false,
        InPlace::All => send.address == receive.address && (row.folds || alike),
        InPlace::OwnOfReceive => alike && arguments.distance() == own(),
        InPlace::OwnOfSend => alike && arguments.distance() == -own(),
    };
    one && alias::is_refused(*operation, elements)
}

/// The type of a side's elements.
fn datatype(side: &Side) -> Result<Datatype, Fallback> {
    if side.datatype == constants::datatype_null() || is_in_place(side.address) {
        return Err(Fallback::InvalidArgument);
    }
    Datatype::of(side.datatype).map_err(|_| Fallback::InvalidArgument)
}

/// `blocks` times the side's elements.
fn elements(side: &Side, blocks: usize) -> Result<Elements, Fallback> {
    let count = usize::try_from(side.count).map_err(|_| Fallback::InvalidArgument)?;
    let datatype = datatype(side)?;
    let all = Elements { address: side.address.cast_mut().cast(), count: count * blocks, datatype };
    // Elements in a row from address 0 on cannot be meant; absolute addresses come with types of another kind.
    if all.address.is_null() && datatype.contiguous && all.bytes() > 0 {
        return Err(Fallback::InvalidArgument);
    }
    Ok(all)
}
