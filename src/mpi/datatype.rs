//! What Collie has to know of a datatype: its bytes, its layout, and what may be done to it.

use super::envelope::Envelope;
use super::error::{Error, Result, check};
use super::family::{self, Handle};
use super::text::printable;
use super::{alone, constants};
use crate::reduction::Element;
use mpi_sys::{MPI_Count, MPI_Datatype};
use once_cell::sync::OnceCell;
use std::ffi::CStr;
use std::os::raw::{c_char, c_int};

/// What the standard lets be done to a predefined datatype (section "Predefined Reduction Operations").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// C or Fortran integer with the C logical operations allowed.
    CInteger,
    /// Fortran integer.
    FortranInteger,
    /// Integer of several languages: `MPI_AINT`, `MPI_OFFSET`, `MPI_COUNT`.
    MultiLanguage,
    /// Floating point.
    Float,
    /// Complex.
    Complex,
    /// C or Fortran logical.
    Logical,
    /// `MPI_BYTE`.
    Byte,
    /// Value-and-index pair.
    Pair,
    /// Text and packed data: nothing.
    Text,
}

/// A datatype, as one rank passed it.
#[derive(Clone, Copy, Debug)]
pub struct Datatype {
    /// The handle.
    pub handle: MPI_Datatype,
    /// Signature bytes of one element.
    pub size: usize,
    /// Bytes from one element to the next.
    pub extent: isize,
    /// Bytes from the address passed to the lower bound, where the extent begins.
    pub lower: isize,
    /// Bytes from the address passed to the first byte in use.
    pub true_lower: isize,
    /// Bytes from the first byte in use to past the last.
    pub true_extent: usize,
    /// Whether the elements lie in memory in signature order without gaps, from the address passed on.
    pub contiguous: bool,
    /// What it is, if it is predefined.
    pub kind: Option<Kind>,
    /// Whether it is a `long double` of C, alone, complex, or in a pair.
    pub extended: bool,
    /// What the reduction kernels call it, if they know it.
    pub element: Option<Element>,
}

/// What calls with a derived datatype rest on, apart from its handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Shape {
    pub size: usize,
    pub extent: isize,
    lower: isize,
    true_lower: isize,
    true_extent: usize,
    contiguous: bool,
}

impl Datatype {
    /// Whether the program made it, so that its handle may come to mean another type.
    pub const fn is_derived(&self) -> bool {
        self.kind.is_none()
    }

    /// What it looks like, if it is derived: of such a type nothing else is known.
    pub const fn shape(&self) -> Shape {
        let Self { size, extent, lower, true_lower, true_extent, contiguous, .. } = *self;
        Shape { size, extent, lower, true_lower, true_extent, contiguous }
    }

    /// Looks a datatype up.
    ///
    /// # Errors
    /// What PMPI says of an invalid handle.
    pub fn of(handle: MPI_Datatype) -> Result<Self> {
        match of_mpi(handle) {
            Some(known) => Ok(*known),
            None => Self::ask(handle),
        }
    }

    /// The same without its layout: of a type that need not be committed.
    ///
    /// # Errors
    /// What PMPI says of an invalid handle.
    pub(super) fn measured(handle: MPI_Datatype) -> Result<Self> {
        match of_mpi(handle) {
            Some(known) => Ok(*known),
            None => Self::measure(handle),
        }
    }

    fn ask(handle: MPI_Datatype) -> Result<Self> {
        // The questions that follow end the job where a handle is invalid, unless the program lets errors return
        // everywhere.
        if family::datatype_handle(handle) == Handle::Invalid {
            return Err(Error(mpi_sys::MPI_ERR_TYPE as c_int));
        }
        refuse_unusable(handle)?;
        let mut datatype = Self::measure(handle)?;
        datatype.contiguous = datatype.size == 0 || (datatype.contiguous && in_order(handle).unwrap_or(false));
        Ok(datatype)
    }

    /// Sizes of a datatype; `contiguous` says only that there are no gaps.
    fn measure(handle: MPI_Datatype) -> Result<Self> {
        let (mut size, mut lower, mut extent, mut true_lower, mut true_extent): (MPI_Count, _, _, _, _) =
            (0, 0, 0, 0, 0);
        // SAFETY: out-parameters are valid for writes; PMPI answers for any handle, with an error for an invalid one.
        unsafe {
            check(mpi_sys::PMPI_Type_size_x(handle, &mut size))?;
            check(mpi_sys::PMPI_Type_get_extent_x(handle, &mut lower, &mut extent))?;
            check(mpi_sys::PMPI_Type_get_true_extent_x(handle, &mut true_lower, &mut true_extent))?;
        }
        Ok(Self {
            handle,
            size: size as usize,
            extent: extent as isize,
            lower: lower as isize,
            true_lower: true_lower as isize,
            true_extent: true_extent as usize,
            contiguous: size == extent && size == true_extent && true_lower == 0,
            kind: None,
            extended: false,
            element: None,
        })
    }

    /// Bytes from the address passed to the first byte in use by `count` elements; a negative extent puts the first
    /// element at the upper end.
    pub fn lowest(&self, count: usize) -> isize {
        (count.max(1) - 1) as isize * self.extent.min(0) + self.true_lower
    }

    /// Bytes of an element's extent below the first byte in use and past the last: reduction functions may assign whole
    /// structures, of which a datatype describes a part. None of those whose extent is that of far more than a
    /// structure.
    pub fn margins(&self) -> (usize, usize) {
        const MOST: isize = 16 << 20;
        let below = self.true_lower.saturating_sub(self.lower);
        let end = self.true_lower.saturating_add(self.true_extent as isize);
        let past = self.lower.saturating_add(self.extent).saturating_sub(end);
        let margin = |bytes: isize| if (0..=MOST).contains(&bytes) { bytes as usize } else { 0 };
        (margin(below), margin(past))
    }

    /// Bytes in memory from the first to past the last byte in use by `count` elements.
    pub fn span(&self, count: usize) -> usize {
        if count == 0 { 0 } else { self.true_extent + (count - 1) * self.extent.unsigned_abs() }
    }
}

/// Whether it is one of MPI's own.
pub fn is_predefined(handle: MPI_Datatype) -> bool {
    size_of_predefined(handle).is_some()
}

/// Signature bytes of one of MPI's own, which nobody has to be asked for.
pub fn size_of_predefined(handle: MPI_Datatype) -> Option<usize> {
    of_mpi(handle).map(|known| known.size)
}

/// Signature bytes of an element of one that the program made, which need not be one that can be used; `None` if it is
/// none.
pub fn ask_size(handle: MPI_Datatype) -> Option<usize> {
    // What is no type although it looks like one, as numbers may, would be told to MPI_COMM_WORLD by the question.
    let is_one = || family::IS_OPEN_MPI || refuse_unusable(handle).is_ok();
    if family::datatype_handle(handle) == Handle::Invalid || !is_one() {
        return None;
    }
    let mut size: MPI_Count = 0;
    // SAFETY: the out-parameter is valid for writes; PMPI answers for any handle, with an error for an invalid one.
    check(unsafe { mpi_sys::PMPI_Type_size_x(handle, &mut size) }).ok()?;
    usize::try_from(size).ok()
}

/// What is known of one of MPI's own.
fn of_mpi(handle: MPI_Datatype) -> Option<&'static Datatype> {
    let known = predefined();
    // Most of the program's own lie beyond all of MPI's.
    let (first, last) = (known.first()?.handle.0 as usize, known.last()?.handle.0 as usize);
    if !(first..=last).contains(&(handle.0 as usize)) {
        return None;
    }
    known.binary_search_by_key(&(handle.0 as usize), |known| known.handle.0 as usize).ok().map(|place| &known[place])
}

/// The name that MPI or the program gave a datatype; `derived` without one.
pub fn name(handle: MPI_Datatype) -> String {
    let mut text = [0 as c_char; mpi_sys::MPI_MAX_OBJECT_NAME as usize + 1];
    let mut length = 0;
    // SAFETY: the buffer has the room that MPI asks for, and ends in a zero that MPI does not write over.
    let name = unsafe {
        mpi_sys::PMPI_Type_get_name(handle, text.as_mut_ptr(), &mut length);
        CStr::from_ptr(text.as_ptr())
    };
    // Open MPI puts that before the name of what a type was made of, also where that has none.
    if name.is_empty() || name == c"Dup " { "derived".to_owned() } else { printable(&name.to_string_lossy()) }
}

/// MPI has no question for it, but refuses to pack nothing of what is no type, or was never committed. Found out later,
/// in the middle of an algorithm, it would leave the ranks out of step.
fn refuse_unusable(handle: MPI_Datatype) -> Result {
    alone::ask(|comm| {
        let (mut room, mut position) = ([0u64; 1], 0);
        let room = room.as_mut_ptr().cast::<std::os::raw::c_void>();
        // SAFETY: no element is read and no byte written.
        check(unsafe { mpi_sys::PMPI_Pack(room, 0, handle, room, 0, &mut position, comm) })
    })
}

/// Whether a type without gaps lists its parts in the order of their addresses. Sure answers only: a type that is not
/// understood is packed, which is always right.
fn in_order(handle: MPI_Datatype) -> Result<bool> {
    let made = Envelope::of(handle)?;
    let [_, dup, contiguous, vector, hvector, _] = constants::combiners();
    if made.is_predefined() {
        return Ok(true);
    }
    let known = [dup, contiguous, vector, hvector].contains(&made.combiner);
    if !known || !made.has_little() {
        return Ok(false);
    }
    let (numbers, mut inner) = made.contents(handle)?;
    let parts = Datatype::of(inner);
    let ordered = parts.map(|parts| {
        // A dense vector with a positive stride visits its blocks in the order of their addresses.
        let forward = match (made.combiner == vector || made.combiner == hvector, numbers.given()) {
            (true, [count, _, stride]) => *stride > 0 || *count <= 1,
            (true, _) => false,
            (false, _) => true,
        };
        parts.contiguous && parts.size > 0 && forward
    });
    release_unless_predefined(&mut inner)?;
    ordered
}

/// Handles from `MPI_Type_get_contents` are ours to free, unless they are predefined.
pub(super) fn release_unless_predefined(handle: &mut MPI_Datatype) -> Result {
    if is_predefined(*handle) || Envelope::of(*handle)?.is_predefined() {
        return Ok(());
    }
    // SAFETY: the handle is ours and used nowhere else.
    check(unsafe { mpi_sys::PMPI_Type_free(handle) })
}

/// The predefined datatypes of this MPI, by their handles; of several names for one the first.
fn predefined() -> &'static [Datatype] {
    struct Table(Vec<Datatype>);
    // SAFETY: datatype handles are plain values; predefined ones are valid on every thread for all the run.
    unsafe impl Send for Table {}
    // SAFETY: as above; the table is never written after it is made.
    unsafe impl Sync for Table {}
    static TABLE: OnceCell<Table> = OnceCell::new();
    &TABLE
        .get_or_init(|| {
            let null = constants::datatype_null();
            // SAFETY: zeroes are a value of every kind of handle, integer or pointer.
            let lacking = unsafe { std::mem::zeroed() };
            let known = constants::types().iter().filter(|row| row.handle != null && row.handle != lacking);
            let mut described: Vec<Datatype> = known.filter_map(|row| describe(row).ok()).collect();
            described.sort_by_key(|datatype| datatype.handle.0 as usize);
            described.dedup_by_key(|datatype| datatype.handle.0 as usize);
            Table(described)
        })
        .0
}

fn describe(row: &constants::PredefinedType) -> Result<Datatype> {
    let mut datatype = Datatype::measure(row.handle)?;
    if datatype.size == 0 {
        return Err(Error(mpi_sys::MPI_ERR_TYPE as c_int));
    }
    let (kind, pair) = (row.kind as u8, row.pair as u8);
    let size = datatype.size;
    let integer = |signed: bool| match (signed, size) {
        (true, 1) => Some(Element::I8),
        (true, 2) => Some(Element::I16),
        (true, 4) => Some(Element::I32),
        (true, 8) => Some(Element::I64),
        (false, 1) => Some(Element::U8),
        (false, 2) => Some(Element::U16),
        (false, 4) => Some(Element::U32),
        (false, 8) => Some(Element::U64),
        _ => None,
    };
    let (kind, element) = match kind {
        b'i' => (Kind::CInteger, integer(true)),
        b'u' => (Kind::CInteger, integer(false)),
        b'I' => (Kind::FortranInteger, integer(true)),
        b'a' => (Kind::MultiLanguage, integer(true)),
        b'f' => (Kind::Float, [(4, Element::F32), (8, Element::F64)].iter().find(|(s, _)| *s == size).map(|(_, e)| *e)),
        b'c' => {
            (Kind::Complex, [(8, Element::C32), (16, Element::C64)].iter().find(|(s, _)| *s == size).map(|(_, e)| *e))
        }
        b'b' => (Kind::Logical, (size == 1).then_some(Element::Bool8)),
        b'l' => (Kind::Logical, (size == 4).then_some(Element::Logical32)),
        b'B' => (Kind::Byte, Some(Element::Byte)),
        b'p' => (Kind::Pair, pair_element(pair)),
        _ => (Kind::Text, None),
    };
    // A pair whose layout here is not the one the kernels know is left to PMPI_Reduce_local.
    let element = element.filter(|element| element.size() as isize == datatype.extent);
    datatype.kind = Some(kind);
    datatype.extended = pair == b'L';
    datatype.element = element;
    Ok(datatype)
}

fn pair_element(pair: u8) -> Option<Element> {
    match pair {
        b'f' => Some(Element::FloatInt),
        b'd' => Some(Element::DoubleInt),
        b'l' => Some(Element::LongInt),
        b's' => Some(Element::ShortInt),
        b'i' => Some(Element::TwoInt),
        b'R' => Some(Element::TwoReal),
        b'D' => Some(Element::TwoDouble),
        _ => None,
    }
}
