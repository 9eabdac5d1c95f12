//! Bytes of elements that are nobody's.
//!
//! A `long double` of x86-64 is an x87 number of ten bytes in sixteen. What lies in the other six is whatever was there
//! before: arithmetic does not write it, copies may or may not. Two results that are equal may differ there.

use super::constants;
use super::datatype::{Datatype, Kind, release_unless_predefined};
use super::envelope::Envelope;
use super::error::Result;
use mpi_sys::MPI_Datatype;

/// Bytes of an x87 number, and of the place that it takes.
const NUMBER: usize = 10;
const PLACE: usize = 16;

/// Which of the signature bytes of an element are nobody's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Padding {
    /// For each byte, whether it is somebody's.
    used: Vec<bool>,
}

impl Padding {
    /// Of a datatype's elements; `None` where every byte is somebody's. Derived types are looked into.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn of(datatype: &Datatype) -> Result<Option<Self>> {
        Ok(if cfg!(target_arch = "x86_64") { used(datatype)?.map(|used| Self { used }) } else { None })
    }

    /// Sets them to zero in the signature bytes of some elements.
    pub fn clear(&self, elements: &mut [u8]) {
        for element in elements.chunks_mut(self.used.len()) {
            element.iter_mut().zip(&self.used).filter(|(_, used)| !**used).for_each(|(byte, _)| *byte = 0);
        }
    }
}

fn used(datatype: &Datatype) -> Result<Option<Vec<bool>>> {
    match datatype.kind {
        Some(kind) => Ok(datatype.extended.then(|| used_by_extended(kind, datatype.size))),
        None => used_by_derived(datatype.handle, datatype.size),
    }
}

/// One number, two of them, or one and an index.
fn used_by_extended(kind: Kind, size: usize) -> Vec<bool> {
    let places = if kind == Kind::Complex { 2 } else { 1 };
    (0..size).map(|byte| byte >= places * PLACE || byte % PLACE < NUMBER).collect()
}

/// The types that a type was made of, as often as they stand in it, in the order of its signature.
fn used_by_derived(handle: MPI_Datatype, size: usize) -> Result<Option<Vec<bool>>> {
    let made = Envelope::of(handle)?;
    if made.is_predefined() || made.types == 0 {
        return Ok(None);
    }
    let (numbers, mut types) = made.all_contents(handle)?;
    let parts: Result<Vec<(usize, Option<Vec<bool>>)>> = types
        .iter()
        .map(|inner| {
            let inner = Datatype::measured(*inner)?;
            Ok((inner.size, used(&inner)?))
        })
        .collect();
    types.iter_mut().try_for_each(release_unless_predefined)?;
    let parts = parts?;
    if parts.iter().all(|(_, used)| used.is_none()) {
        return Ok(None);
    }
    // A structure has a block of each of its types; all others repeat one type as often as fits.
    let is_structure = made.combiner == constants::combiners()[5];
    let repeated = parts.iter().enumerate().flat_map(|(place, (inner, used))| {
        let times = match is_structure {
            true => numbers.get(1 + place).map_or(0, |length| *length as usize),
            false => size / (*inner).max(1),
        };
        let one = used.clone().unwrap_or_else(|| vec![true; *inner]);
        std::iter::repeat_n(one, times).flatten()
    });
    Ok(Some(repeated.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_owns_is_cleared_and_nothing_else() {
        for (kind, size, expected) in [(Kind::Float, 16, 10), (Kind::Complex, 32, 20), (Kind::Pair, 20, 14)] {
            let padding = Padding { used: used_by_extended(kind, size) };
            assert_eq!(padding.used.iter().filter(|used| **used).count(), expected, "{kind:?}");
            let mut bytes = vec![7; 3 * size];
            padding.clear(&mut bytes);
            let cleared: Vec<usize> = (0..size).filter(|byte| bytes[2 * size + byte] == 0).collect();
            let second = if kind == Kind::Complex { 26..32 } else { 0..0 };
            assert_eq!(cleared, (10..16).chain(second).collect::<Vec<_>>(), "{kind:?}");
            assert_eq!(bytes[..size], bytes[size..2 * size]);
        }
    }
}
