//! Mode `verify`: ours beside the native collective on every call, and the results compared.
//!
//! Ours works on a copy of the receive buffer, or on the buffer itself, which is set back ([`super::aside`]); what the
//! program gets is the native result, unless it asked for ours (`COLLIE_VERIFY_RESULT`), and that one counts as the
//! program's call. Whichever comes first would wait for late ranks, so the ranks meet before both, and the program's call
//! is taken to begin there. Data movement and integers must agree bit for
//! bit, but for bytes that are nobody's; what lies between blocks with places of their own must stay as it was.
//! Floating-point reductions may differ by the order of the folds, within a bound for each element; the results of
//! allreduce must be the same bits on all ranks. What a commutative operation of the program's makes of elements of
//! several kinds, or of bytes, cannot be judged unless it is the same bits, and neither can numbers whose overflow or
//! NaN depends on the order: that is counted.

use super::arguments::Arguments;
use super::aside::{Aside, Written};
use super::begin::Outside;
use super::local_arguments::LocalArguments;
use super::meaning::{Meaning, written};
use super::play;
use super::program::{Prepared, seat_and_call};
use super::tolerance::{Tolerance, Verdict};
use crate::communicator::failures;
use crate::communicator::seat::Seat;
use crate::communicator::state::Communicator;
use crate::monitor::DifferenceRecord;
use crate::mpi::communicator;
use crate::mpi::datatype;
use crate::mpi::end::{EX_DATAERR, end_job};
use crate::mpi::error::{Error, Result, SUCCESS};
use crate::mpi::operation;
use crate::mpi::packing::Elements;
use crate::mpi::words::tell_before_the_end;
use crate::operation::{Choice, Holds, Operation};
use crate::process::floating_point::apart;
use crate::process::guard;
use crate::process::runtime::Runtime;
use crate::selection::{OnDifference, VerifyResult};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::raw::c_int;
use std::sync::atomic::Ordering;

/// Differences kept and told of per communicator; further ones are counted.
const KEPT: usize = 16;

/// One verified call.
pub struct Outcome {
    /// What to return to the program.
    pub code: c_int,
    /// Whose result the program got.
    pub result: VerifyResult,
    /// Ticks of the call that gave it, and of waiting for late ranks before.
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
    let start = runtime.clock.raw();
    let operation = arguments.operation;
    let (seat, _) = seat_and_call(communicator, operation, local);
    if let Err(error) = outside.wait(|| runtime.uncounted(|| communicator::all(seat.comm, true))) {
        log::warn!("the ranks could not meet before a call that is verified: {error}");
    }
    let waited = runtime.clock.raw() - start;
    let meaning = Meaning::of(local);
    let root = operation.rooted().then_some(local.root);
    let tolerance = match operation.reduces() {
        true => outside.wait(|| apart(|| Tolerance::of(seat, local, &meaning, root))),
        false => Ok(Tolerance::NOTHING),
    };
    let both = Both::run(runtime, communicator, operation, local, (choice, prepared), outside);
    let everybody_has_it = operation.gives_one_result() && !operation.rooted();
    // The others ask whether the results are the same, whatever went wrong here.
    let differ = match everybody_has_it {
        true => outside.wait(|| differ_between_ranks(seat, both.ours(seat))),
        false => Ok(false),
    };
    // What the root of a broadcast has in its buffer is its own.
    let only_gives = operation.row().send.holds == Holds::Nothing && root == Some(seat.rank);
    let has_result = !only_gives && local.received().iter().any(|part| part.elements.bytes() > 0);
    let judgement = apart(|| both.judge(seat, local, (meaning, tolerance), differ));
    keep(runtime, communicator, (arguments, local), choice, has_result, judgement);
    let agreed = communicator.agreed.as_ref().expect("verified calls rest on an agreement");
    let result = agreed.configuration.verify_result;
    let ticks = waited + if result == VerifyResult::Native { both.native_ticks } else { both.our_ticks };
    let beside = runtime.clock.raw().saturating_sub(start).saturating_sub(ticks);
    if runtime.recording.load(Ordering::Relaxed) {
        communicator.tally.verified.borrow_mut().ticks += beside;
    }
    if result == VerifyResult::Native {
        return Outcome { code: both.code, result, ticks };
    }
    let code = both
        .hand_over(seat)
        .map_or_else(|error| guard::raise(arguments.comm, error, operation.row().mpi_name), |()| SUCCESS);
    Outcome { code, result, ticks }
}

/// Both results of a call: the native one in the program's receive buffer, ours beside it.
struct Both {
    aside: Option<Aside>,
    /// What ours returned.
    ours: Result,
    /// Whether its result could be kept.
    kept: Result,
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
        let (seat, _) = seat_and_call(communicator, operation, local);
        let aside = local.receive.map(|receive| Aside::of(seat, receive, &local.received())).transpose();
        // The others wait for ours, whatever went wrong here.
        let (mut aside, can_be_kept) = aside.map_or_else(|error| (None, Err(error)), |aside| (aside, Ok(())));
        let address = |side: Option<Elements>| side.map_or(std::ptr::null_mut(), |side| side.address);
        let received = aside.as_mut().map_or_else(|| address(local.receive), Aside::address);
        let sides = [address(local.send), received];
        let start = runtime.clock.raw();
        let ours = outside.play(operation, || {
            let played = play::play(communicator, operation, local, sides, choice, prepared);
            played.map_err(|error| failures::noticed(communicator.facts.comm, error))
        });
        let our_ticks = runtime.clock.raw() - start;
        let kept = aside.as_mut().map_or(can_be_kept, |aside| aside.keep(seat));
        let between = runtime.clock.raw();
        let code = outside.native();
        let native_ticks = runtime.clock.raw() - between;
        Self { aside, ours, kept, our_ticks, code, native_ticks }
    }

    /// The signature bytes of our result, part by part; none where this rank gets none.
    fn ours(&self, seat: Seat) -> Result<Vec<Vec<u8>>> {
        self.ours.and(self.kept)?;
        self.aside.as_ref().map_or(Ok(Vec::new()), |aside| aside.ours(seat))
    }

    /// Compares the results; `differ` says whether ours do between the ranks.
    fn judge(
        &self,
        seat: Seat,
        local: &LocalArguments,
        (meaning, tolerance): (Result<Meaning>, Result<Tolerance>),
        differ: Result<bool>,
    ) -> Judgement {
        // Only ours failed; where both did, or where ours had no room to work in, nothing is known of it.
        if let (Err(error), Ok(()), SUCCESS) = (self.ours, self.kept, self.code) {
            return Judgement { difference: Ok(Some(Difference::failed(error))), of_all: Verdict::Apart };
        }
        let compared = self.ours(seat).and_then(|ours| {
            let native = self.aside.as_ref().map_or(Ok(Vec::new()), |aside| aside.native(seat))?;
            compare(seat, local, (&native, &ours), (&meaning?, &tolerance?))
        });
        let of_all = if let Ok(compared) = &compared { compared.of_all } else { Verdict::Same };
        let difference = compared.and_then(|compared| {
            let written = match (&self.aside, &local.own) {
                (Some(aside), Some(_)) => aside.written_between(seat)?.map(Difference::between_blocks),
                _ => None,
            };
            let between_ranks = differ?.then(Difference::between_ranks);
            Ok(compared.difference.or(written).or(between_ranks))
        });
        Judgement { difference, of_all }
    }

    /// Puts our result in the place of the native one.
    fn hand_over(&self, seat: Seat) -> Result {
        self.ours.and(self.kept)?;
        self.aside.as_ref().map_or(Ok(()), |aside| aside.hand_over(seat))
    }
}

/// What is found of a call.
struct Judgement {
    /// The first difference; an error where the results could not be compared.
    difference: Result<Option<Difference>>,
    /// The gravest verdict on an element.
    of_all: Verdict,
}

/// Counts the call, and tells of its difference and keeps that, if there is one. Where nothing arrives there is no result:
/// in barriers, and on ranks that only contribute.
fn keep(
    runtime: &Runtime,
    communicator: &Communicator,
    (arguments, local): (&Arguments, &LocalArguments),
    choice: &Choice,
    has_result: bool,
    Judgement { difference, of_all }: Judgement,
) {
    let number = {
        let mut verified = communicator.tally.verified.borrow_mut();
        verified.calls += 1;
        verified.compared += u64::from(has_result && difference.is_ok());
        verified.failed += u64::from(difference.is_err());
        // A result within rounding may still differ from rank to rank, and is one result then too.
        let differs = matches!(difference, Ok(Some(_)));
        verified.rounded += u64::from(matches!(of_all, Verdict::Alike | Verdict::Near) && !differs);
        verified.unjudged += u64::from(of_all == Verdict::Unknown && !differs);
        verified.near += u64::from(of_all == Verdict::Near && !differs);
        verified.differing += u64::from(differs);
        verified.calls
    };
    match difference {
        Ok(None) => {}
        Ok(Some(Difference { element, native, ours })) => {
            let record = DifferenceRecord {
                function: arguments.operation.into(),
                call: number,
                passed: passed(arguments, local),
                algorithm: choice.to_string(),
                element: element as u64,
                native,
                ours,
            };
            let known = communicator.tally.verified.borrow().differences.len();
            if known == KEPT {
                return;
            }
            // Nothing is borrowed meanwhile: the job may end there, and a report looks at all this.
            tell(runtime, communicator, &record, known + 1 == KEPT);
            communicator.tally.verified.borrow_mut().differences.push(record);
        }
        Err(error) => log::error!("a call could not be verified: {error}"),
    }
}

/// What this rank passed, in words. Whoever looks for the cause of a difference makes the call again.
fn passed(arguments: &Arguments, local: &LocalArguments) -> String {
    let elements = local.receive.or(local.send);
    let elements = elements.map(|side| format!("{} {}", side.count, datatype::name(side.datatype.handle)));
    let reduction = local.reduction.map(|_| operation::name(arguments.op).to_owned());
    let root = arguments.operation.rooted().then(|| format!("root {}", local.root));
    elements.into_iter().chain(reduction).chain(root).collect::<Vec<_>>().join(", ")
}

/// Tells of a difference, which may be the last one that is told of; ends the job if that is asked for.
fn tell(runtime: &Runtime, communicator: &Communicator, record: &DifferenceRecord, is_last: bool) {
    let agreed = communicator.agreed.as_ref().expect("verified calls rest on an agreement");
    let words = format!(
        "rank {}: {}, verified call {} on {}{}: {} differs from the native result at element {}: \
         native {}, ours {}{}",
        runtime.world_rank,
        record.function,
        record.call,
        communicator.title(false),
        if record.passed.is_empty() { String::new() } else { format!(", {}", record.passed) },
        record.algorithm,
        record.element,
        record.native,
        record.ours,
        if is_last { "; further ones of this rank there are only counted" } else { "" }
    );
    if agreed.configuration.on_difference == OnDifference::Abort {
        end_job(&words, EX_DATAERR);
    }
    tell_before_the_end(&words);
}

/// One element that differs.
struct Difference {
    element: usize,
    native: String,
    ours: String,
}

impl Difference {
    fn failed(error: Error) -> Self {
        Self { element: 0, native: "success".to_owned(), ours: error.to_string() }
    }

    fn between_blocks(Written { value, byte }: Written) -> Self {
        Self {
            element: 0,
            native: "nothing between the blocks".to_owned(),
            ours: format!("{value:#04x} at byte {byte} of the buffer"),
        }
    }

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

/// Compares results with the parts that `local` says; `meaning` is the elements', with what is known of the
/// contributions.
fn compare(
    seat: Seat,
    local: &LocalArguments,
    (native, ours): (&[Vec<u8>], &[Vec<u8>]),
    (meaning, tolerance): (&Meaning, &Tolerance),
) -> Result<Compared> {
    let mut of_all = Verdict::Same;
    for (part, (native_bytes, our_bytes)) in local.received().iter().zip(native.iter().zip(ours)) {
        if native_bytes == our_bytes {
            continue;
        }
        if matches!(meaning, Meaning::Unknown) {
            return Ok(Compared { of_all: Verdict::Unknown, difference: None });
        }
        let datatype = part.elements.datatype;
        let pairs = native_bytes.chunks(datatype.size).zip(our_bytes.chunks(datatype.size)).enumerate();
        for (element, (one, other)) in pairs.filter(|(_, (one, other))| one != other) {
            let element = usize::try_from(part.first).unwrap_or(0) + element;
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
fn differ_between_ranks(seat: Seat, result: Result<Vec<Vec<u8>>>) -> Result<bool> {
    let own = result.map(|result| {
        let mut hasher = DefaultHasher::new();
        result.hash(&mut hasher);
        hasher.finish()
    });
    let all = communicator::allgather(seat.comm, seat.size, [u64::from(own.is_ok()), own.unwrap_or(0)])?;
    own?;
    let mut results = all.iter().filter(|[is_there, _]| *is_there != 0);
    let first = results.next();
    Ok(results.any(|other| Some(other) != first))
}
