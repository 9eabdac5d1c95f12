//! What Collie has to know of a reduction operation.

use super::constants;
use super::datatype::{Datatype, Kind};
use super::defined;
use super::error::{Error, Result, check};
use super::family::{self, Handle};
use crate::reduction::{Kernel, Op, kernel};
use mpi_sys::MPI_Op;

/// In the order of the shim's table.
const PREDEFINED: [Op; 12] = [
    Op::Sum,
    Op::Prod,
    Op::Min,
    Op::Max,
    Op::Land,
    Op::Lor,
    Op::Lxor,
    Op::Band,
    Op::Bor,
    Op::Bxor,
    Op::MinLoc,
    Op::MaxLoc,
];

/// How a reduction combines two elements.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// The handle.
    pub handle: MPI_Op,
    /// Whether it is one of MPI's own.
    pub predefined: bool,
    /// Whether contributions may be folded in any order.
    pub commutative: bool,
    /// The kernel; without one, `PMPI_Reduce_local` combines.
    pub kernel: Option<Kernel>,
}

impl Operation {
    /// Looks an operation on a datatype up; `None` if MPI does not define it, or if no kernel combines it and the native
    /// library does not either, so that the native library says so.
    ///
    /// # Errors
    /// What PMPI says of an invalid handle.
    pub fn of(handle: MPI_Op, datatype: &Datatype) -> Result<Option<Self>> {
        if let Some(place) = constants::ops().iter().position(|known| *known == handle) {
            let op = PREDEFINED[place];
            let Some(kind) = datatype.kind else { return Ok(None) };
            if !allowed(op, kind) {
                return Ok(None);
            }
            let kernel = datatype.element.and_then(|element| kernel(op, element));
            if kernel.is_none() && !defined::is_defined(handle, place, datatype) {
                return Ok(None);
            }
            return Ok(Some(Self { handle, predefined: true, commutative: true, kernel }));
        }
        if is_of_windows(handle) {
            return Ok(None);
        }
        match family::op_handle(handle) {
            Handle::Made => {}
            Handle::Predefined => return Ok(None),
            // MPICH would answer the question below, and fail in the middle of an algorithm.
            Handle::Invalid => return Err(Error(mpi_sys::MPI_ERR_OP as std::os::raw::c_int)),
        }
        let commutative = commutes(handle)?;
        Ok(Some(Self { handle, predefined: false, commutative, kernel: None }))
    }
}

fn commutes(handle: MPI_Op) -> Result<bool> {
    let mut commutative = 0;
    // SAFETY: the out-parameter is valid for writes.
    check(unsafe { mpi_sys::PMPI_Op_commutative(handle, &mut commutative) })?;
    Ok(commutative != 0)
}

/// Whether an operation that the program made commutes; `None` if it is none.
pub fn ask_commutative(handle: MPI_Op) -> Option<bool> {
    if family::op_handle(handle) == Handle::Made { commutes(handle).ok() } else { None }
}

/// The handle of a predefined operation.
pub fn handle(op: Op) -> MPI_Op {
    let place = PREDEFINED.iter().position(|known| *known == op);
    constants::ops()[place.expect("the table has all of them")]
}

/// Which of MPI's own it is.
pub fn predefined(handle: MPI_Op) -> Option<Op> {
    constants::ops().iter().position(|known| *known == handle).map(|place| PREDEFINED[place])
}

/// Whether it is one of MPI's own.
pub fn is_predefined(handle: MPI_Op) -> bool {
    constants::ops().contains(&handle)
}

/// Whether it is one of MPI's own that are for windows only.
pub fn is_of_windows(handle: MPI_Op) -> bool {
    constants::ops_of_windows().contains(&handle)
}

/// MPI's name of a predefined operation.
pub fn name(handle: MPI_Op) -> &'static str {
    const NAMES: [&str; 12] = [
        "MPI_SUM",
        "MPI_PROD",
        "MPI_MIN",
        "MPI_MAX",
        "MPI_LAND",
        "MPI_LOR",
        "MPI_LXOR",
        "MPI_BAND",
        "MPI_BOR",
        "MPI_BXOR",
        "MPI_MINLOC",
        "MPI_MAXLOC",
    ];
    constants::ops().iter().position(|known| *known == handle).map_or("user-defined", |place| NAMES[place])
}

/// The standard's table of operations and the kinds of types they are defined on.
const fn allowed(op: Op, kind: Kind) -> bool {
    use Kind::{Byte, CInteger, Complex, Float, FortranInteger, Logical, MultiLanguage, Pair};
    match op {
        Op::Min | Op::Max => matches!(kind, CInteger | FortranInteger | Float | MultiLanguage),
        Op::Sum | Op::Prod => matches!(kind, CInteger | FortranInteger | Float | Complex | MultiLanguage),
        Op::Land | Op::Lor | Op::Lxor => matches!(kind, CInteger | Logical),
        Op::Band | Op::Bor | Op::Bxor => matches!(kind, CInteger | FortranInteger | Byte | MultiLanguage),
        Op::MinLoc | Op::MaxLoc => matches!(kind, Pair),
    }
}
