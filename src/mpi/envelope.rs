//! How a datatype was made: its constructor, and what that was given.

use super::constants;
use super::error::{Result, check};
use mpi_sys::{MPI_Aint, MPI_Count, MPI_Datatype};
use std::os::raw::c_int;

/// How a type was made, and how many arguments its constructor had of each sort.
pub(super) struct Envelope {
    pub combiner: c_int,
    integers: usize,
    addresses: usize,
    large_counts: usize,
    pub types: usize,
}

/// The numbers that a constructor was given, in their order: `MPI_Type_vector` and `MPI_Type_create_hvector` have
/// count, block length and stride, whether those are integers, addresses or large counts.
#[derive(Default)]
pub(super) struct Numbers {
    all: [i64; Self::MOST],
    number: usize,
}

impl Numbers {
    /// Room enough for the constructors that are looked into.
    const MOST: usize = 3;

    #[allow(clippy::unnecessary_cast, reason = "an address is of this type on one MPI, of another on the other")]
    fn of(integers: &[c_int], addresses: &[MPI_Aint], large_counts: &[MPI_Count]) -> Self {
        let mut numbers = Self::default();
        let integers = integers.iter().map(|number| i64::from(*number));
        let all = integers.chain(addresses.iter().map(|address| *address as i64));
        for (slot, number) in numbers.all.iter_mut().zip(all.chain(large_counts.iter().copied())) {
            *slot = number;
            numbers.number += 1;
        }
        numbers
    }

    pub fn given(&self) -> &[i64] {
        &self.all[..self.number]
    }
}

/// Where the arguments of a constructor go.
struct Room<'a> {
    integers: &'a mut [c_int],
    addresses: &'a mut [MPI_Aint],
    large_counts: &'a mut [MPI_Count],
    types: &'a mut [MPI_Datatype],
}

impl Envelope {
    pub fn of(handle: MPI_Datatype) -> Result<Self> {
        #[cfg(mpi_large_count)]
        if large_counts::are_there() {
            return large_counts::envelope(handle);
        }
        let (mut integers, mut addresses, mut types, mut combiner) = (0, 0, 0, 0);
        // SAFETY: out-parameters are valid for writes.
        check(unsafe {
            mpi_sys::PMPI_Type_get_envelope(handle, &mut integers, &mut addresses, &mut types, &mut combiner)
        })?;
        let [integers, addresses, types] = [integers, addresses, types].map(|number: c_int| number as usize);
        Ok(Self { combiner, integers, addresses, large_counts: 0, types })
    }

    /// Whether the type is a predefined one: under a name, or under precision and range.
    pub fn is_predefined(&self) -> bool {
        self.combiner == constants::combiners()[0] || constants::combiners_f90().contains(&self.combiner)
    }

    /// Whether there is one type, and few numbers.
    pub const fn has_little(&self) -> bool {
        self.types == 1 && self.integers + self.addresses + self.large_counts <= Numbers::MOST
    }

    /// The numbers and the type that a constructor was given which [has little](Self::has_little).
    pub fn contents(&self, handle: MPI_Datatype) -> Result<(Numbers, MPI_Datatype)> {
        let mut integers: [c_int; Numbers::MOST] = [0; Numbers::MOST];
        let mut addresses: [MPI_Aint; Numbers::MOST] = [0; Numbers::MOST];
        let mut large_counts: [MPI_Count; Numbers::MOST] = [0; Numbers::MOST];
        let mut inner = [constants::datatype_null()];
        let (integers, addresses) = (&mut integers[..self.integers], &mut addresses[..self.addresses]);
        let large_counts = &mut large_counts[..self.large_counts];
        self.read(handle, Room { integers, addresses, large_counts, types: &mut inner[..self.types] })?;
        Ok((Numbers::of(integers, addresses, large_counts), inner[0]))
    }

    /// The integers or large counts and all types that a constructor was given, in their order.
    pub fn all_contents(&self, handle: MPI_Datatype) -> Result<(Vec<i64>, Vec<MPI_Datatype>)> {
        let mut integers: Vec<c_int> = vec![0; self.integers];
        let mut addresses: Vec<MPI_Aint> = vec![0; self.addresses];
        let mut large_counts: Vec<MPI_Count> = vec![0; self.large_counts];
        let mut types = vec![constants::datatype_null(); self.types];
        let room = Room {
            integers: &mut integers,
            addresses: &mut addresses,
            large_counts: &mut large_counts,
            types: &mut types,
        };
        self.read(handle, room)?;
        Ok((integers.into_iter().map(i64::from).chain(large_counts).collect(), types))
    }

    /// `room` is for as many arguments of each sort as the envelope announced.
    fn read(&self, handle: MPI_Datatype, room: Room) -> Result {
        #[cfg(mpi_large_count)]
        if large_counts::are_there() {
            return large_counts::read(handle, room);
        }
        debug_assert!(room.large_counts.is_empty());
        // SAFETY: the arrays have room for as many entries as is said.
        check(unsafe {
            mpi_sys::PMPI_Type_get_contents(
                handle,
                room.integers.len() as c_int,
                room.addresses.len() as c_int,
                room.types.len() as c_int,
                room.integers.as_mut_ptr(),
                room.addresses.as_mut_ptr(),
                room.types.as_mut_ptr(),
            )
        })
    }
}

/// MPICH ends the job when the forms without large counts are asked about a type that was made with them. They are
/// looked up by name, since MPICH 3 has none, and a program for it is to be linked with this library all the same.
#[cfg(mpi_large_count)]
mod large_counts {
    use super::*;
    use crate::mpi::error::throwing;
    use crate::mpi::procedures;
    use once_cell::sync::OnceCell;

    /// Whether the MPI library of the process has these forms.
    pub fn are_there() -> bool {
        static THERE: OnceCell<bool> = OnceCell::new();
        *THERE.get_or_init(|| procedures::has(c"PMPI_Type_get_contents_c"))
    }

    pub fn envelope(handle: MPI_Datatype) -> Result<Envelope> {
        let mut numbers: [MPI_Count; 4] = [0; 4];
        let [integers, addresses, large_counts, types] = &mut numbers;
        let mut combiner = 0;
        // SAFETY: out-parameters are valid for writes.
        check(unsafe {
            throwing!(
                PMPI_Type_get_envelope_c(
                    MPI_Datatype,
                    *mut MPI_Count,
                    *mut MPI_Count,
                    *mut MPI_Count,
                    *mut MPI_Count,
                    *mut c_int,
                )
            )(handle, integers, addresses, large_counts, types, &mut combiner)
        })?;
        let [integers, addresses, large_counts, types] = numbers.map(|number| number as usize);
        Ok(Envelope { combiner, integers, addresses, large_counts, types })
    }

    pub fn read(handle: MPI_Datatype, room: Room) -> Result {
        // SAFETY: the arrays have room for as many entries as is said.
        check(unsafe {
            throwing!(
                PMPI_Type_get_contents_c(
                    MPI_Datatype,
                    MPI_Count,
                    MPI_Count,
                    MPI_Count,
                    MPI_Count,
                    *mut c_int,
                    *mut MPI_Aint,
                    *mut MPI_Count,
                    *mut MPI_Datatype,
                )
            )(
                handle,
                room.integers.len() as MPI_Count,
                room.addresses.len() as MPI_Count,
                room.large_counts.len() as MPI_Count,
                room.types.len() as MPI_Count,
                room.integers.as_mut_ptr(),
                room.addresses.as_mut_ptr(),
                room.large_counts.as_mut_ptr(),
                room.types.as_mut_ptr(),
            )
        })
    }
}
