//! Mode `verify`: ours beside the native collective on every call, and the results compared.
//!
//! Ours works on a copy of the receive buffer; what the program gets is the native result, unless it asked for ours
//! (`COLLIE_VERIFY_RESULT`), and that one counts as the program's call. Data movement and integers must agree bit for
//! bit, but for bytes that are nobody's; what lies between blocks with places of their own must stay as it was.
//! Floating-point reductions may differ by the order of the folds, within a bound for each element; the results of
//! allreduce must be the same bits on all ranks. What a commutative operation of the program's makes of elements of
//! several kinds, or of bytes, cannot be judged unless it is the same bits, and neither can numbers whose overflow or
//! NaN depends on the order: that is counted.

use super::arguments::Arguments;
use super::begin::Outside;
use super::local_arguments::{LocalArguments, Part};
use super::meaning::{Meaning, bytes_of, written};
use super::play;
use super::program::{Prepared, seat_and_call};
use super::tolerance::{Tolerance, Verdict};
use crate::algorithm::{Choice, Operation};
use crate::communicator::seat::Seat;
use crate::communicator::state::Communicator;
use crate::monitor::DifferenceRecord;
use crate::mpi::communicator;
use crate::mpi::end::{EX_DATAERR, end_job};
use crate::mpi::error::{Result, SUCCESS};
use crate::mpi::packing::Elements;
use crate::mpi::words::tell_before_the_end;
use crate::process::guard;
use crate::process::runtime::Runtime;
use crate::selection::{OnDifference, VerifyResult};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::raw::c_int;

/// Differences kept per communicator; further ones are counted and told of where they occur.
const KEPT: usize = 16;

/// One verified call.
pub struct Outcome {
    /// What to return to the program.
    pub code: c_int,
    /// Whose result the program got.
    pub result: VerifyResult,
    /// Ticks of the call that gave it.
    pub ticks: u64,
}

/// Runs both and compares.
pub fn run(
    runtime: &Runtime,
    communicator: &Communicator,
    arguments: &Arguments,
    local: &LocalArguments,
    (choice, prepared): (&Choice, &Prepared),
    outside: Outside,
) -> Outcome {
    let operation = arguments.operation;
    let (seat, _) = seat_and_call(communicator, operation, local);
    let meaning = Meaning::of(local);
    let root = operation.rooted().then_some(local.root);
    let tolerance = match operation.reduces() {
        true => outside.wait(|| Tolerance::of(seat, local, &meaning, root)),
        false => Ok(Tolerance::NOTHING),
    };
    let both = Both::run(runtime, communicator, operation, local, (choice, prepared), outside);
    let everybody_has_it = operation.reduces() && !operation.rooted();
    // The others ask whether the results are the same, whatever went wrong here.
    let apart = match everybody_has_it {
        true => outside.wait(|| differ_between_ranks(seat, both.ours.map(|()| both.on_copy.receive))),
        false => Ok(false),
    };
    keep(runtime, communicator, operation, choice, both.judge(seat, local, (meaning, tolerance), apart));
    let agreed = communicator.agreed.as_ref().expect("verified calls rest on an agreement");
    let result = agreed.configuration.verify_result;
    if result == VerifyResult::Native {
        return Outcome { code: both.code, result, ticks: both.native_ticks };
    }
    let code =
        both.hand_over(seat, local).map_or_else(|error| guard::raise(arguments.comm, error, operation), |()| SUCCESS);
    Outcome { code, result, ticks: both.our_ticks }
}

/// Both results of a call: the native one in the program's receive buffer, ours in a copy of that.
struct Both {
    copy: Option<Copied>,
    /// The arguments, with the copy in the place of the receive buffer.
    on_copy: LocalArguments,
    /// What became of ours.
    ours: Result,
    our_ticks: u64,
    /// What the native call returned.
    code: c_int,
    native_ticks: u64,
}

impl Both {
    /// Runs both, ours first, on buffers as the program left them.
    fn run(
        runtime: &Runtime,
        communicator: &Communicator,
        operation: Operation,
        local: &LocalArguments,
        (choice, prepared): (&Choice, &Prepared),
        outside: Outside,
    ) -> Self {
        let mut copy = local.receive.map(|receive| Copied::of(receive, &local.received()));
        let mut on_copy = local.clone();
        if let (Some(copy), Some(receive)) = (&mut copy, &mut on_copy.receive) {
            receive.address = copy.address();
        }
        let start = runtime.clock.raw();
        let address = |side: Option<Elements>| side.map_or(std::ptr::null_mut(), |side| side.address);
        let sides = [address(on_copy.send), address(on_copy.receive)];
        let ours = outside.play(operation, || play::play(communicator, operation, &on_copy, sides, choice, prepared));
        let between = runtime.clock.raw();
        let code = outside.native();
        let end = runtime.clock.raw();
        Self { copy, on_copy, ours, our_ticks: between - start, code, native_ticks: end - between }
    }

    /// Compares the results; `apart` says whether ours differ between the ranks.
    fn judge(
        &self,
        seat: Seat,
        local: &LocalArguments,
        (meaning, tolerance): (Result<Meaning>, Result<Tolerance>),
        apart: Result<bool>,
    ) -> Judgement {
        let compared = self
            .ours
            .and_then(|()| compare(seat, &local.received(), &self.on_copy.received(), (&meaning?, &tolerance?)));
        let of_all = if let Ok(compared) = &compared { compared.of_all } else { Verdict::Alike };
        let difference = compared.and_then(|compared| {
            let written = match (&self.copy, &local.own) {
                (Some(copy), Some(_)) => copy.written_between(seat, &self.on_copy.received())?,
                _ => None,
            };
            let between_ranks = apart?.then(Difference::between_ranks);
            Ok(compared.difference.or(written).or(between_ranks))
        });
        Judgement { difference, of_all }
    }

    /// Puts our result in the place of the native one.
    fn hand_over(&self, seat: Seat, local: &LocalArguments) -> Result {
        self.ours?;
        let mut parts = self.on_copy.received().into_iter().zip(local.received());
        parts.try_for_each(|(ours, native)| hand_over(seat, ours.elements, native.elements))
    }
}

/// What is found of a call.
struct Judgement {
    /// The first difference; an error where the results could not be compared.
    difference: Result<Option<Difference>>,
    /// The gravest verdict on an element.
    of_all: Verdict,
}

/// Counts the call, and tells of its difference and keeps that, if there is one.
fn keep(
    runtime: &Runtime,
    communicator: &Communicator,
    operation: Operation,
    choice: &Choice,
    Judgement { difference, of_all }: Judgement,
) {
    let number = {
        let mut verified = communicator.tally.verified.borrow_mut();
        verified.calls += 1;
        verified.unjudged += u64::from(of_all == Verdict::Unknown);
        verified.near += u64::from(of_all == Verdict::Near);
        verified.differing += u64::from(matches!(difference, Ok(Some(_))));
        verified.calls
    };
    match difference {
        Ok(None) => {}
        Ok(Some(Difference { element, native, ours })) => {
            let (function, algorithm) = (operation.into(), choice.to_string());
            let record = DifferenceRecord { function, call: number, algorithm, element: element as u64, native, ours };
            // Nothing is borrowed meanwhile: the job may end there, and a report looks at all this.
            tell(runtime, communicator, &record);
            let differences = &mut communicator.tally.verified.borrow_mut().differences;
            if differences.len() < KEPT {
                differences.push(record);
            }
        }
        Err(error) => log::error!("a call could not be verified: {error}"),
    }
}

/// Puts ours in the place of the native ones; what lies between the elements stays.
fn hand_over(seat: Seat, ours: Elements, native: Elements) -> Result {
    let mut bytes = vec![0; ours.bytes()];
    // SAFETY: the elements are a copy of the program's receive buffer, which has as many; there is room for their
    // bytes.
    unsafe {
        ours.pack(seat.comm, seat.rank, bytes.as_mut_ptr())?;
        native.unpack(seat.comm, seat.rank, bytes.as_mut_ptr())
    }
}

/// Tells of a difference; ends the job if that is asked for.
fn tell(runtime: &Runtime, communicator: &Communicator, record: &DifferenceRecord) {
    let agreed = communicator.agreed.as_ref().expect("verified calls rest on an agreement");
    let words = format!(
        "rank {}: {}, call {} on {}: {} differs from the native result at element {}: \
         native {}, ours {}",
        runtime.world_rank,
        record.function,
        record.call,
        communicator.title(false),
        record.algorithm,
        record.element,
        record.native,
        record.ours
    );
    if agreed.configuration.on_difference == OnDifference::Abort {
        end_job(&words, EX_DATAERR);
    }
    tell_before_the_end(&words);
}

/// What is written to a copy wherever nothing was copied.
const BETWEEN: u8 = 0xC5;

/// A copy of the memory that a receive buffer spans.
struct Copied {
    bytes: Vec<u8>,
    /// Bytes from the address that was passed to the first of these.
    lowest: isize,
    /// As it was, where the buffer has parts.
    before: Option<Vec<u8>>,
}

impl Copied {
    /// Of the parts of `receive`, each with the gaps between its elements. What lies between the parts is not the
    /// call's, and may be anything: it is not read.
    fn of(receive: Elements, parts: &[Part]) -> Self {
        let reach = |part: &Part| {
            let Elements { address, count, datatype } = part.elements;
            let first = (address as isize).wrapping_sub(receive.address as isize).wrapping_add(datatype.lowest(count));
            (first, datatype.span(count))
        };
        let filled = || parts.iter().map(reach).filter(|(_, span)| *span > 0);
        let (below, past) = receive.datatype.margins();
        let lowest = filled().map(|(first, _)| first - below as isize).min().unwrap_or(0);
        let end = filled().map(|(first, span)| first + (span + past) as isize).max().unwrap_or(0);
        let mut bytes = vec![BETWEEN; (end - lowest) as usize];
        for (first, span) in filled() {
            let into = &mut bytes[(first - lowest) as usize..][..span];
            // SAFETY: the program passed these elements as part of its receive buffer, so the span is its memory.
            unsafe { std::ptr::copy_nonoverlapping(receive.address.wrapping_offset(first), into.as_mut_ptr(), span) };
        }
        let before = (parts.len() > 1).then(|| bytes.clone());
        Self { bytes, lowest, before }
    }

    /// What stands for the address that was passed.
    fn address(&mut self) -> *mut u8 {
        self.bytes.as_mut_ptr().wrapping_offset(-self.lowest)
    }

    /// Whether something was written that belongs to none of the parts of the copy.
    fn written_between(&self, seat: Seat, parts: &[Part]) -> Result<Option<Difference>> {
        let Some(before) = &self.before else { return Ok(None) };
        let mut belongs = vec![0u8; self.bytes.len()];
        for part in parts {
            let Elements { address, .. } = part.elements;
            let offset = (address as usize).wrapping_sub(self.bytes.as_ptr() as usize) as isize;
            let marks = Elements { address: belongs.as_mut_ptr().wrapping_offset(offset), ..part.elements };
            // SAFETY: there is as much memory as in the copy, laid out alike.
            unsafe { marks.unpack(seat.comm, seat.rank, vec![1; marks.bytes()].as_ptr().cast_mut()) }?;
        }
        let mut bytes = self.bytes.iter().zip(before).zip(belongs);
        let found = bytes.position(|((now, before), belongs)| belongs == 0 && now != before);
        Ok(found.map(|byte| Difference {
            element: 0,
            native: "nothing between the blocks".to_owned(),
            ours: format!("{:#04x} at byte {} of the buffer", self.bytes[byte], byte as isize + self.lowest),
        }))
    }
}

/// One element that differs.
struct Difference {
    element: usize,
    native: String,
    ours: String,
}

impl Difference {
    fn between_ranks() -> Self {
        Self {
            element: 0,
            native: "one result on all ranks".to_owned(),
            ours: "results that differ between ranks".to_owned(),
        }
    }
}

/// What comparing two results has shown.
struct Compared {
    /// The gravest verdict on an element.
    of_all: Verdict,
    /// The first element that differs more than it may.
    difference: Option<Difference>,
}

/// Compares buffers with like parts; `meaning` is the elements', with what is known of the contributions.
fn compare(
    seat: Seat,
    native: &[Part],
    ours: &[Part],
    (meaning, tolerance): (&Meaning, &Tolerance),
) -> Result<Compared> {
    let mut of_all = Verdict::Alike;
    for (native, ours) in native.iter().zip(ours) {
        let (native_bytes, our_bytes) = (bytes_of(seat, native.elements)?, bytes_of(seat, ours.elements)?);
        if native_bytes == our_bytes {
            continue;
        }
        if matches!(meaning, Meaning::Unknown) {
            return Ok(Compared { of_all: Verdict::Unknown, difference: None });
        }
        let datatype = native.elements.datatype;
        let pairs = native_bytes.chunks(datatype.size).zip(our_bytes.chunks(datatype.size)).enumerate();
        for (element, (one, other)) in pairs.filter(|(_, (one, other))| one != other) {
            let element = usize::try_from(native.first).unwrap_or(0) + element;
            of_all = of_all.max(tolerance.judge(seat.size, meaning, element, one, other));
            if of_all == Verdict::Apart {
                let [native, ours] = [one, other].map(|bytes| written(&datatype, meaning, bytes));
                return Ok(Compared { of_all, difference: Some(Difference { element, native, ours }) });
            }
        }
    }
    Ok(Compared { of_all, difference: None })
}

/// Whether the results are not the same bits on all ranks that have one. Collective, also where this rank has none.
fn differ_between_ranks(seat: Seat, result: Result<Option<Elements>>) -> Result<bool> {
    let own = result.and_then(|result| {
        let mut hasher = DefaultHasher::new();
        if let Some(result) = result {
            bytes_of(seat, result)?.hash(&mut hasher);
        }
        Ok(hasher.finish())
    });
    let all = communicator::allgather(seat.comm, seat.size, [u64::from(own.is_ok()), own.unwrap_or(0)])?;
    own?;
    let mut results = all.iter().filter(|[is_there, _]| *is_there != 0);
    let first = results.next();
    Ok(results.any(|other| Some(other) != first))
}
