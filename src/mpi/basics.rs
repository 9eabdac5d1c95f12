//! The predefined types that a datatype is made of.

use super::constants;
use super::datatype::{Datatype, Kind, release_unless_predefined};
use super::envelope::Envelope;
use super::error::Result;
use mpi_sys::MPI_Datatype;

/// Each of them once; `None` where one is not known.
///
/// # Errors
/// What PMPI returned.
pub fn of(datatype: &Datatype) -> Result<Option<Vec<Datatype>>> {
    let mut found = Vec::new();
    Ok(add(*datatype, &mut found)?.then_some(found))
}

/// Adds those of one type; whether all of them are known.
fn add(datatype: Datatype, found: &mut Vec<Datatype>) -> Result<bool> {
    if datatype.kind.is_some() {
        if found.iter().all(|known| known.handle != datatype.handle) {
            found.push(datatype);
        }
        return Ok(true);
    }
    let made = Envelope::of(datatype.handle)?;
    if made.is_predefined() {
        let kind = kind_by_precision(made.combiner, datatype.size);
        return if kind.is_some() { add(Datatype { kind, ..datatype }, found) } else { Ok(false) };
    }
    let (_, mut types) = made.all_contents(datatype.handle)?;
    let known: Result<Vec<bool>> =
        types.iter().map(|inner: &MPI_Datatype| add(Datatype::measured(*inner)?, found)).collect();
    types.iter_mut().try_for_each(release_unless_predefined)?;
    Ok(known?.into_iter().all(|known| known))
}

/// Whether it is a type that was asked for by precision and range.
pub fn is_by_precision(datatype: &Datatype) -> bool {
    datatype.kind.is_none() && Envelope::of(datatype.handle).is_ok_and(|made| made.is_predefined())
}

/// What a type that was asked for by precision and range is; numbers of sixteen bytes have several forms.
fn kind_by_precision(combiner: i32, size: usize) -> Option<Kind> {
    let [real, complex, integer] = constants::combiners_f90();
    match size {
        4 | 8 if combiner == real => Some(Kind::Float),
        8 | 16 if combiner == complex => Some(Kind::Complex),
        _ if combiner == integer => Some(Kind::FortranInteger),
        _ => None,
    }
}
