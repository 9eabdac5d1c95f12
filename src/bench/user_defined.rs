//! A reduction's operation as programs define their own, commutative or not as far as MPI knows: what calls cost whose
//! contributions the MPI library folds, and that may have to keep the ranks' order.

use super::cell::Datatype;
use crate::mpi::{Result, check, constants};
use mpi_sys::{MPI_Datatype, MPI_Op};
use std::ffi::{c_int, c_void};

/// The operation: it sums, and of bytes combines the bits, so that results are those of the predefined one.
pub struct UserDefined(MPI_Op);

impl UserDefined {
    /// Makes it, declared commutative or not.
    ///
    /// # Errors
    /// What MPI returned.
    pub fn new(commutative: bool) -> Result<Self> {
        let mut op = constants::op_null();
        // SAFETY: the function combines as many elements as it is given; the out-parameter is valid for writes.
        check(unsafe { mpi_sys::PMPI_Op_create(Some(combine), c_int::from(commutative), &mut op) })?;
        Ok(Self(op))
    }

    /// As MPI knows it.
    pub const fn op(&self) -> MPI_Op {
        self.0
    }

    /// Takes it from MPI.
    ///
    /// # Errors
    /// What MPI returned.
    pub fn free(mut self) -> Result {
        // SAFETY: no call uses it any more.
        check(unsafe { mpi_sys::PMPI_Op_free(&mut self.0) })
    }
}

/// What MPI calls.
unsafe extern "C" fn combine(own: *mut c_void, other: *mut c_void, count: *mut c_int, datatype: *mut MPI_Datatype) {
    // SAFETY: MPI hands over how many elements of which type lie in each buffer.
    unsafe {
        let (count, datatype) = (*count as usize, *datatype);
        match [Datatype::Double, Datatype::Float, Datatype::Int].into_iter().find(|known| handle(*known) == datatype) {
            Some(Datatype::Double) => each::<f64>(own, other, count, |one, other| one + other),
            Some(Datatype::Float) => each::<f32>(own, other, count, |one, other| one + other),
            Some(Datatype::Int) => each::<i32>(own, other, count, i32::wrapping_add),
            _ => each::<u8>(own, other, count, |one, other| one | other),
        }
    }
}

fn handle(datatype: Datatype) -> MPI_Datatype {
    match datatype {
        Datatype::Double | Datatype::Strided => constants::double(),
        Datatype::Float => constants::float(),
        Datatype::Int => constants::int(),
        Datatype::Byte => constants::byte(),
    }
}

/// # Safety
/// Both hold so many elements of the type, each where such may lie.
unsafe fn each<T: Copy>(own: *mut c_void, other: *mut c_void, count: usize, combine: fn(T, T) -> T) {
    for place in 0..count {
        // SAFETY: as the caller says.
        unsafe {
            let (own, other) = (own.cast::<T>().add(place), other.cast::<T>().add(place));
            other.write_unaligned(combine(own.read_unaligned(), other.read_unaligned()));
        }
    }
}
