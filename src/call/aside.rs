//! Where mode `verify` keeps ours and the native result apart.
//!
//! Ours works on a copy of the memory that the receive buffer spans. A copy holds the gaps between the elements too: it
//! may find nothing there where they are so long that whole pages may be missing, and not have the room for them. With
//! types of absolute addresses, some on the stack and some on the heap, that is a thousand times the memory of any
//! machine. Then ours works on the receive buffer itself, and its elements, packed, are kept and set back.

use super::local_arguments::Part;
use crate::communicator::seat::Seat;
use crate::mpi::datatype::Datatype;
use crate::mpi::error::Result;
use crate::mpi::packing::Elements;
use crate::mpi::padding::Padding;

/// Bytes of a gap inside a part from which on a page of it may be missing.
const PAGE: usize = 4096;

/// Bytes of gaps in all that are always copied, and for each byte that is somebody's.
const GAPS: usize = 1 << 20;
const GAPS_PER_BYTE: usize = 16;

/// What is written to a copy wherever nothing was copied.
const BETWEEN: u8 = 0xC5;

/// The parts of a receive buffer, with a place for our result beside them.
pub struct Aside {
    parts: Vec<Elements>,
    kept: Kept,
}

enum Kept {
    Copied(Copied),
    Packed(Packed),
}

/// A copy of the memory that a receive buffer spans.
struct Copied {
    bytes: Vec<u8>,
    /// The address that was passed, which the copy stands for.
    passed: *mut u8,
    /// Bytes from there to the first of the copy.
    lowest: isize,
    /// As it was, where the buffer has parts.
    before: Option<Vec<u8>>,
}

/// The signature bytes of the parts of a receive buffer that ours works on, each before ours and after.
struct Packed {
    passed: *mut u8,
    before: Vec<Vec<u8>>,
    ours: Vec<Vec<u8>>,
}

/// A byte between the parts that was written.
pub struct Written {
    /// What is there now.
    pub value: u8,
    /// Its place, from the address that was passed.
    pub byte: isize,
}

impl Aside {
    /// Of the parts of `receive`, each with the gaps between its elements. What lies between the parts is not the
    /// call's, and may be anything: it is not read.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn of(seat: Seat, receive: Elements, parts: &[Part]) -> Result<Self> {
        let parts: Vec<Elements> = parts.iter().map(|part| part.elements).collect();
        let kept = match Reach::of(receive, &parts) {
            reach if reach.can_be_copied(&parts) => Kept::Copied(Copied::of(receive, &parts, reach)),
            _ => Kept::Packed(Packed::of(seat, receive, &parts)?),
        };
        Ok(Self { parts, kept })
    }

    /// What ours gets in the place of the address that was passed.
    pub fn address(&mut self) -> *mut u8 {
        match &mut self.kept {
            Kept::Copied(copied) => copied.address(),
            Kept::Packed(packed) => packed.passed,
        }
    }

    /// Ours has run: its result is kept, and the receive buffer is as it was.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn keep(&mut self, seat: Seat) -> Result {
        let Kept::Packed(packed) = &mut self.kept else { return Ok(()) };
        packed.ours = self.parts.iter().map(|part| pack(seat, *part)).collect::<Result<_>>()?;
        let mut kept = self.parts.iter().zip(&packed.ours).zip(&mut packed.before);
        kept.try_for_each(|((part, ours), before)| replace(seat, *part, ours, before))
    }

    /// The signature bytes of our result, part by part, those that are nobody's as zeros.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn ours(&self, seat: Seat) -> Result<Vec<Vec<u8>>> {
        let mut ours = self.packed(seat)?;
        for (bytes, part) in ours.iter_mut().zip(&self.parts) {
            clear(part, bytes)?;
        }
        Ok(ours)
    }

    /// The same of the native result, which is in the receive buffer by now.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn native(&self, seat: Seat) -> Result<Vec<Vec<u8>>> {
        self.parts.iter().map(|part| bytes_of(seat, *part)).collect()
    }

    /// Puts our result in the place of the native one; what lies between the elements stays.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn hand_over(&self, seat: Seat) -> Result {
        let mut parts = self.parts.iter().zip(self.packed(seat)?);
        parts.try_for_each(|(part, mut ours)| replace(seat, *part, &pack(seat, *part)?, &mut ours))
    }

    /// The first byte that ours has written though it belongs to none of the parts, where that can be told.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn written_between(&self, seat: Seat) -> Result<Option<Written>> {
        match &self.kept {
            Kept::Copied(copied) => copied.written_between(seat, &self.parts),
            Kept::Packed(_) => Ok(None),
        }
    }

    /// The signature bytes of our result as they are.
    fn packed(&self, seat: Seat) -> Result<Vec<Vec<u8>>> {
        match &self.kept {
            Kept::Copied(copied) => {
                let first = copied.bytes.as_ptr().cast_mut();
                self.parts.iter().map(|part| pack(seat, copied.moved(*part, first))).collect()
            }
            Kept::Packed(packed) => Ok(packed.ours.clone()),
        }
    }
}

/// The memory from the first to past the last byte of the parts, margins included, from the address that was passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reach {
    lowest: isize,
    end: isize,
}

impl Reach {
    fn of(receive: Elements, parts: &[Elements]) -> Self {
        let reach = |part: &Elements| (first_of(receive.address, *part), part.datatype.span(part.count));
        let filled = || parts.iter().map(reach).filter(|(_, span)| *span > 0);
        let (below, past) = receive.datatype.margins();
        let lowest = filled().map(|(first, _)| first - below as isize).min().unwrap_or(0);
        let end = filled().map(|(first, span)| first + (span + past) as isize).max().unwrap_or(0);
        Self { lowest, end }
    }

    const fn bytes(self) -> usize {
        (self.end - self.lowest) as usize
    }

    fn can_be_copied(self, parts: &[Elements]) -> bool {
        let bytes: usize = parts.iter().map(Elements::bytes).sum();
        parts.iter().all(|part| longest_gap(part) < PAGE)
            && self.bytes() <= bytes.saturating_mul(GAPS_PER_BYTE).saturating_add(GAPS)
    }
}

/// The most bytes that may lie between two that are in use, in an element or between two of them.
fn longest_gap(part: &Elements) -> usize {
    let Datatype { size, extent, true_extent, .. } = part.datatype;
    let between = if part.count > 1 { extent.unsigned_abs().saturating_sub(true_extent) } else { 0 };
    true_extent.saturating_sub(size).max(between)
}

/// Bytes from `passed` to the first in use by `part`.
fn first_of(passed: *mut u8, part: Elements) -> isize {
    (part.address as isize).wrapping_sub(passed as isize).wrapping_add(part.datatype.lowest(part.count))
}

impl Copied {
    fn of(receive: Elements, parts: &[Elements], reach: Reach) -> Self {
        let (passed, lowest) = (receive.address, reach.lowest);
        let mut bytes = vec![BETWEEN; reach.bytes()];
        for part in parts {
            let span = part.datatype.span(part.count);
            if span > 0 {
                let first = first_of(passed, *part);
                let into = &mut bytes[(first - lowest) as usize..][..span];
                // SAFETY: the program passed these elements as part of its receive buffer, so the first byte and the
                // last are its memory, and the gaps between them are too short for a page to be missing.
                unsafe { std::ptr::copy_nonoverlapping(passed.wrapping_offset(first), into.as_mut_ptr(), span) };
            }
        }
        let before = (parts.len() > 1).then(|| bytes.clone());
        Self { bytes, passed, lowest, before }
    }

    /// What stands for the address that was passed.
    fn address(&mut self) -> *mut u8 {
        self.bytes.as_mut_ptr().wrapping_offset(-self.lowest)
    }

    /// The part of memory that is laid out like the copy and begins at `first`.
    fn moved(&self, part: Elements, first: *mut u8) -> Elements {
        let offset = (part.address as isize).wrapping_sub(self.passed as isize).wrapping_sub(self.lowest);
        Elements { address: first.wrapping_offset(offset), ..part }
    }

    fn written_between(&self, seat: Seat, parts: &[Elements]) -> Result<Option<Written>> {
        let Some(before) = &self.before else { return Ok(None) };
        let mut belongs = vec![0u8; self.bytes.len()];
        for part in parts {
            let marks = self.moved(*part, belongs.as_mut_ptr());
            // SAFETY: there is as much memory as in the copy, laid out alike.
            unsafe { marks.unpack(seat.comm, seat.rank, vec![1; marks.bytes()].as_ptr().cast_mut()) }?;
        }
        let mut bytes = self.bytes.iter().zip(before).zip(belongs);
        let found = bytes.position(|((now, before), belongs)| belongs == 0 && now != before);
        Ok(found.map(|byte| Written { value: self.bytes[byte], byte: byte as isize + self.lowest }))
    }
}

impl Packed {
    fn of(seat: Seat, receive: Elements, parts: &[Elements]) -> Result<Self> {
        let before = parts.iter().map(|part| pack(seat, *part)).collect::<Result<_>>()?;
        Ok(Self { passed: receive.address, before, ours: Vec::new() })
    }
}

/// Sets elements that hold `now` to `wanted`. What holds it already is left alone: at the root of a broadcast it may be
/// memory that can only be read.
fn replace(seat: Seat, elements: Elements, now: &[u8], wanted: &mut [u8]) -> Result {
    if *now == *wanted {
        return Ok(());
    }
    // SAFETY: the elements are the program's receive buffer, and these are as many bytes.
    unsafe { elements.unpack(seat.comm, seat.rank, wanted.as_mut_ptr()) }
}

/// The signature bytes, those that are nobody's as zeros.
///
/// # Errors
/// What PMPI returned.
pub fn bytes_of(seat: Seat, elements: Elements) -> Result<Vec<u8>> {
    let mut bytes = pack(seat, elements)?;
    clear(&elements, &mut bytes)?;
    Ok(bytes)
}

fn pack(seat: Seat, elements: Elements) -> Result<Vec<u8>> {
    let mut bytes = vec![0; elements.bytes()];
    // SAFETY: the elements are a buffer of the program's or a copy of it; there is room for their bytes.
    unsafe { elements.pack(seat.comm, seat.rank, bytes.as_mut_ptr()) }?;
    Ok(bytes)
}

fn clear(elements: &Elements, bytes: &mut [u8]) -> Result {
    if let Some(padding) = Padding::of(&elements.datatype)? {
        padding.clear(bytes);
    }
    Ok(())
}
