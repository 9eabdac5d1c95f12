//! What the program passed to a collective.

use super::own_arguments::digest;
use crate::mpi::constants;
use crate::mpi::datatype::Datatype;
use crate::mpi::passed::{Arrays, Passed};
use crate::operation::{InPlace, Operation};
use mpi_sys::{MPI_Comm, MPI_Datatype, MPI_Op};
use std::os::raw::{c_int, c_void};

/// One buffer argument with its count and type.
#[derive(Clone, Copy)]
pub struct Side {
    /// The address as passed; may be `MPI_IN_PLACE`, and may mean nothing on this rank.
    pub address: *const c_void,
    /// The count as passed.
    pub count: i64,
    /// The datatype as passed.
    pub datatype: MPI_Datatype,
}

/// The arguments of a collective.
#[derive(Clone, Copy)]
pub struct Arguments {
    /// Which collective.
    pub operation: Operation,
    /// Send side. For bcast the same as the receive side, for reductions with the one count and type.
    pub send: Side,
    /// Receive side.
    pub receive: Side,
    /// The reduction operation; null where there is none.
    pub op: MPI_Op,
    /// The root as passed; 0 where there is none.
    pub root: c_int,
    /// The program's communicator.
    pub comm: MPI_Comm,
    /// Counts and displacements of the two sides, where each rank passes its own.
    pub arrays: Option<[Arrays; 2]>,
}

/// All that the understanding of a call rests on besides where the buffers lie: two calls with one key on one
/// communicator are understood alike, as long as their handles are predefined and
/// [`fits`](super::local_arguments::LocalArguments::fits).
///
/// In words of one width, which are compared and hashed without a branch: counts or the digests of their arrays, types,
/// reduction operation, and the rest.
#[derive(Clone, Copy, Debug)]
pub struct Key([u64; 6]);

impl Arguments {
    /// What was passed to `operation` on `comm`.
    #[inline(always)]
    pub const fn of(operation: Operation, passed: &Passed, comm: MPI_Comm) -> Self {
        let Passed { send, send_count, send_type, receive, receive_count, receive_type, op, root, .. } = *passed;
        Self {
            operation,
            send: Side { address: send, count: send_count, datatype: send_type },
            receive: Side { address: receive, count: receive_count, datatype: receive_type },
            op,
            root,
            comm,
            arrays: if operation.has_own_counts() { Some(passed.arrays()) } else { None },
        }
    }

    /// The key of these arguments, of which arrays have `entries` entries.
    ///
    /// Arrays count by their contents, of which the key has a digest: who finds something under it has to compare
    /// them ([`fits`](super::local_arguments::LocalArguments::fits)).
    #[inline]
    pub fn key(&self, entries: usize) -> Key {
        self.key_of(match self.arrays {
            None => [self.send.count as u64, self.receive.count as u64],
            Some([_, received]) if is_in_place(self.send.address) => [0, digest(received, entries)],
            Some(arrays) => arrays.map(|arrays| digest(arrays, entries)),
        })
    }

    /// The same without a look at arrays: they count by where their counts are, so that calls with the same contents
    /// may differ.
    #[inline(always)]
    pub fn shape(&self) -> Key {
        self.key_of(match self.arrays {
            None => [self.send.count as u64, self.receive.count as u64],
            Some(arrays) => arrays.map(|arrays| arrays.counts.addr() as u64),
        })
    }

    #[inline(always)]
    fn key_of(&self, [sent, received]: [u64; 2]) -> Key {
        let (send, receive, in_place) = (self.send.address, self.receive.address, constants::in_place());
        let is_usual =
            send != in_place && receive != in_place && !send.is_null() && !receive.is_null() && send != receive;
        // Which addresses are in place or null, and whether they are one. Five branches that go one way in most
        // programs take less time than so many bits.
        let addresses = if is_usual {
            0
        } else {
            u8::from(send == in_place)
                | u8::from(receive == in_place) << 1
                | u8::from(send.is_null()) << 2
                | u8::from(receive.is_null()) << 3
                | u8::from(send == receive) << 4
        };
        let addresses = addresses | u8::from(self.passes_one_array_of_counts()) << 5;
        let rest = (self.root as u32 as u64) << 32 | (addresses as u64) << 8 | self.operation as u64;
        let handles = [self.send.datatype.0 as usize, self.receive.datatype.0 as usize, self.op.0 as usize];
        let [send_type, receive_type, op] = handles.map(|handle| handle as u64);
        Key([sent, received, send_type, receive_type, op, rest])
    }

    /// Whether the counts of both sides are one array, which MPICH looks at.
    pub(super) fn passes_one_array_of_counts(&self) -> bool {
        self.arrays.is_some_and(|[send, receive]| send.counts == receive.counts)
    }

    /// Where the first byte in use of each buffer that counts on rank `rank` of `size` is, as far as its arguments can
    /// be understood.
    pub fn first_bytes(&self, rank: usize, size: usize) -> impl Iterator<Item = *const c_void> {
        let at_root = usize::try_from(self.root) == Ok(rank);
        // Of one block per rank there is no telling how many, nor is that asked.
        let [sends, receives] = self.operation.row().sides().map(|role| role.blocks(1, at_root).is_some());
        let counts = |side: &Side| !is_in_place(side.address) && side.datatype != constants::datatype_null();
        let arrays = self.arrays.map_or([None; 2], |arrays| arrays.map(Some));
        let sides = [self.send, self.receive].into_iter().zip([sends, receives]).zip(arrays);
        sides.filter(move |((side, wanted), _)| *wanted && counts(side)).filter_map(move |((side, _), arrays)| {
            // Those of a side that does not count need not be there.
            let place = arrays.map_or(Some(0), |arrays| first_place(arrays, size))?;
            let datatype = Datatype::of(side.datatype).ok();
            let (lower, extent) = datatype.map_or((0, 0), |datatype| (datatype.true_lower, datatype.extent));
            Some(side.address.wrapping_byte_offset(place.wrapping_mul(extent).wrapping_add(lower)))
        })
    }

    /// Blocks in the send and the receive buffer among `size` ranks; none of a side that does not count on this rank,
    /// whose type may mean nothing. In place, one of two buffers stands for both.
    pub(super) fn sides(&self, size: usize, at_root: bool) -> [Option<usize>; 2] {
        let row = self.operation.row();
        let [mut send, mut receive] = row.sides().map(|role| role.blocks(size, at_root));
        if send.is_some() && receive.is_some() {
            match row.in_place {
                InPlace::All | InPlace::OwnOfReceive if is_in_place(self.send.address) => send = None,
                InPlace::OwnOfSend if is_in_place(self.receive.address) => receive = None,
                _ => {}
            }
        }
        [send, receive]
    }

    /// Bytes from the receive buffer's address to the send buffer's.
    #[inline(always)]
    pub(super) fn distance(&self) -> isize {
        (self.send.address as isize).wrapping_sub(self.receive.address as isize)
    }
}

impl Key {
    /// The same with other words for the two types.
    pub const fn with_types(self, [send, receive]: [u64; 2]) -> Self {
        let Self([sent, received, _, _, op, rest]) = self;
        Self([sent, received, send, receive, op, rest])
    }

    /// The same with another word for the operation.
    pub const fn with_operation(self, word: u64) -> Self {
        let Self([sent, received, send_type, receive_type, _, rest]) = self;
        Self([sent, received, send_type, receive_type, word, rest])
    }

    /// Differs between most keys of a program, in its top bits.
    #[inline(always)]
    pub const fn hash(&self) -> u64 {
        let Self([send, receive, _, _, _, rest]) = *self;
        let counts = send.wrapping_mul(3).wrapping_add(receive);
        // The root, from its upper half, lies beside the operation.
        let others = (rest >> 29).wrapping_add(rest);
        counts.wrapping_mul(0x2545_F491_4F6C_DD1D).wrapping_add(others).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

impl Key {
    /// The same for a table of few lines, in fewer steps.
    #[inline(always)]
    pub const fn line(&self) -> u64 {
        let Self([send, receive, _, _, _, rest]) = *self;
        // The root counts where the operation does too: from its upper half alone every other root would come to one
        // line.
        let others = (rest >> 29).wrapping_add(rest);
        send.wrapping_mul(3).wrapping_add(receive).wrapping_add(others).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

impl Key {
    /// The same where calls of one count differ in the words of their types.
    pub const fn hash_with_types(&self) -> u64 {
        let Self([_, _, send_type, receive_type, ..]) = *self;
        let types = send_type.wrapping_mul(3).wrapping_add(receive_type);
        self.hash().rotate_left(32).wrapping_add(types).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

impl PartialEq for Key {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).fold(0, |differing, (one, another)| differing | (one ^ another)) == 0
    }
}

/// The place of the first element in use, where there is one.
fn first_place(arrays: Arrays, size: usize) -> Option<isize> {
    if arrays.are_missing() {
        return None;
    }
    // SAFETY: they are there, with an entry for each rank of the communicator.
    let filled = unsafe { arrays.each(size) }.find(|[count, _]| *count > 0);
    filled.map(|[_, displacement]| displacement as isize)
}

/// Whether the address is the one that stands for "in place".
pub fn is_in_place(address: *const c_void) -> bool {
    address == constants::in_place()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_in_turn_come_to_lines_of_their_own() {
        for operation in [Operation::Bcast, Operation::Gather] {
            let line = |root: u64| Key([8, 8, 5, 5, 0, root << 32 | operation as u64]).line() >> 60;
            let mut lines: Vec<_> = (0..8).map(line).collect();
            lines.sort_unstable();
            lines.dedup();
            assert_eq!(lines.len(), 8, "{operation}: {lines:?}");
        }
    }
}
