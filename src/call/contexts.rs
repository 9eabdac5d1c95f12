//! When the MPI library has no context id left for a communicator of the program's: private ones are given back, one by
//! one, those idle longest first, and it is tried again.
//!
//! MPICH has 2046 of them, and says so when there are no more. Open MPI has 65532 and hangs instead, in the library and
//! outside it, so that nothing can be done there. What is left as it is: `MPI_Comm_create_group`, where not all ranks
//! of the parent take part, `MPI_Comm_idup`, of which only the request tells, intercommunicators, and parents with
//! ranks of another `MPI_COMM_WORLD`.

use super::attachment::{Attached, Attachment};
use super::registry;
use crate::communicator::origin::{self, Makers};
use crate::communicator::private::{self, Private};
use crate::communicator::state::Communicator;
use crate::mpi::error::{Error, Result, SUCCESS};
use crate::mpi::handler::{self, ErrorsReturned, may_be_unset, says_that_contexts_ran_out};
use crate::mpi::{alone, communicator, constants, family};
use crate::process::flags;
use crate::process::guard;
use crate::process::runtime::{self, Runtime};
use crate::threads::{Held, Threads};
use mpi_sys::MPI_Comm;
use std::cell::Cell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::raw::c_int;
use std::sync::Arc;

/// What is no communicator's turn and no name; the highest of the words that ranks can compare.
const NONE: u64 = i64::MAX as u64;
/// Bit of a turn that comes after all that have it not.
const LATE: u64 = 1 << 61;

/// When it is a communicator's turn to lose its private one, the lowest first: the longer it has had no call the
/// earlier, but those of `MPI_COMM_WORLD` and of the parent, which a program is likely to go on using, after all
/// others.
fn turn(likely: bool, idle_nanoseconds: u64) -> u64 {
    (if likely { LATE } else { 0 }) + (LATE - 1 - idle_nanoseconds.min(LATE - 1))
}

/// Makes a communicator of the program's from `parent` by `native`; `made` gives it afterwards.
pub fn make(
    made_by: &'static str,
    makers: Makers,
    parent: MPI_Comm,
    made: &impl Fn() -> MPI_Comm,
    native: &impl Fn() -> c_int,
) -> c_int {
    let Some(runtime) = runtime::get().filter(|_| may_run_out(makers, parent)) else {
        return heard(makers, parent, made, native);
    };
    match communicator::is_inter(parent) {
        Ok(true) => heard(makers, parent, made, native),
        // The handle is no communicator's, and that has been raised just now.
        Err(error) => error.0,
        Ok(false) => match try_and_give_back(runtime, made_by, parent, made, native) {
            Ended { code, is_raised: false } if code != SUCCESS => communicator::raise(parent, Error(code)),
            Ended { code, .. } => code,
        },
    }
}

/// Runs `native`, and gives an error also where the MPI library would tell the parent's handler alone: nothing was made
/// then. Of `MPI_Comm_idup` only the request tells, and what it makes would have our handler.
fn heard(makers: Makers, parent: MPI_Comm, made: &impl Fn() -> MPI_Comm, native: &impl Fn() -> c_int) -> c_int {
    let is_asked = parent != constants::comm_null() && makers != Makers::ParentLater;
    if !is_asked {
        return native();
    }
    let quiet = match handler::hides_errors(parent) {
        Ok(hides) => hides.then(|| ErrorsReturned::on(parent).ok()).flatten(),
        // The handle is no communicator's, and that has been raised just now.
        Err(error) => return error.0,
    };
    let Some(quiet) = quiet else { return native() };
    let code = native();
    if code == SUCCESS {
        hand_down(&quiet, made());
        return code;
    }
    drop(quiet);
    communicator::raise(parent, Error(code))
}

fn hand_down(quiet: &ErrorsReturned, made: MPI_Comm) {
    if made != constants::comm_null()
        && let Err(error) = quiet.hand_down(made)
    {
        log::error!("the error handler of a new communicator could not be set: {error}");
    }
}

/// Whether ids run out in such a call where all ranks of the parent see it.
fn may_run_out(makers: Makers, parent: MPI_Comm) -> bool {
    family::TELLS_WHEN_CONTEXTS_RAN_OUT && makers == Makers::Parent && parent != constants::comm_null()
}

fn try_and_give_back(
    runtime: &Runtime,
    made_by: &'static str,
    parent: MPI_Comm,
    made: &impl Fn() -> MPI_Comm,
    native: &impl Fn() -> c_int,
) -> Ended {
    let mut ended = attempt(parent, made, native);
    // All ranks find the same, so that all of them agree, or none does. Which id the next one sets free, and on how
    // many of the parent's ranks, only the library knows: one after the other, so that no more go than are needed.
    while ended.code != SUCCESS && says_that_contexts_ran_out(Error(ended.code)) {
        let given_back = Cell::new(false);
        let give_back = || {
            match runtime.uncounted(|| give_back(runtime, parent)) {
                Ok(done) => given_back.set(done),
                Err(error) => log::warn!("a private communicator could not be given back: {error}"),
            }
            SUCCESS
        };
        guard::enter(made_by, || SUCCESS, give_back);
        if !given_back.get() {
            break;
        }
        ended = attempt(parent, made, native);
    }
    ended
}

/// How an attempt has ended.
struct Ended {
    code: c_int,
    /// Whether an error has been raised.
    is_raised: bool,
}

/// Runs `native`. Its errors are not raised yet, unless the parent may have no error handler and there are ids to spare:
/// then there is hardly anything to try again for, and a handler that is put back would be one.
fn attempt(parent: MPI_Comm, made: &impl Fn() -> MPI_Comm, native: &impl Fn() -> c_int) -> Ended {
    let returned = match may_be_unset(parent) {
        Ok(true) if !origin::are_scarce(private::held()) => return Ended { code: native(), is_raised: true },
        Ok(_) => ErrorsReturned::on(parent),
        Err(error) => Err(error),
    };
    let quiet = match returned {
        Ok(quiet) => quiet,
        Err(error) => return Ended { code: error.0, is_raised: false },
    };
    let code = native();
    if code == SUCCESS {
        hand_down(&quiet, made());
    }
    Ended { code, is_raised: false }
}

/// Frees the private communicator whose turn it is, of those whose ranks all take part; whether there was one.
/// Collective over `parent`, between calls on the communicators concerned: all their ranks are here.
///
/// Its ranks may differ in how long it has been idle, and other ranks do not know it: the parent's ranks agree on the
/// one that is first by any rank's count, and its ranks know it by its identity.
fn give_back(runtime: &Runtime, parent: MPI_Comm) -> Result<bool> {
    if runtime.leaves_alone(parent)? {
        return Ok(false);
    }
    // Each rank has one, and a question finds a way without it.
    let lone = alone::give_back().unwrap_or(false);
    let attachments = registry::all();
    // What fails here alone keeps all of them from it.
    let candidates = candidates(runtime, &attachments, parent).unwrap_or_default();
    let able = u64::from(candidates.is_some());
    let now = runtime.clock.raw();
    let mut own = (NONE, NONE);
    for communicator in candidates.iter().flatten().map(|attached| &attached.communicator) {
        let comm = communicator.facts.comm;
        let likely = comm == parent || comm == constants::comm_world();
        own = own
            .min((turn(likely, runtime.nanoseconds(now.saturating_sub(communicator.last_call))), name(communicator)));
    }
    let [able, first, lone] = communicator::least(parent, [able, own.0, u64::from(lone)])?;
    if lone == 1 {
        return Ok(true);
    }
    if able == 0 || first == NONE {
        return Ok(false);
    }
    let [chosen] = communicator::least(parent, [if own.0 == first { own.1 } else { NONE }])?;
    for mut attached in candidates.into_iter().flatten().filter(|attached| name(&attached.communicator) == chosen) {
        if let Err(error) = attached.give_back() {
            log::warn!("a private communicator could not be freed: {error}");
        }
    }
    Ok(true)
}

/// A number for a communicator's identity, the same on all its ranks. Where two have the same one, both go.
fn name(communicator: &Communicator) -> u64 {
    let mut hasher = DefaultHasher::new();
    communicator.identity().hash(&mut hasher);
    hasher.finish() >> 2
}

/// The communicators whose private ones can be given back, held; `None` where other threads may be using them.
fn candidates<'a>(
    runtime: &Runtime,
    attachments: &'a [Arc<Attachment>],
    parent: MPI_Comm,
) -> Result<Option<Vec<Held<'a, Attached>>>> {
    let mut takes_part = vec![false; runtime.world_size];
    for rank in communicator::world_ranks(parent, false)? {
        match usize::try_from(rank) {
            Ok(rank) => takes_part[rank] = true,
            // Another world's, where Collie may not be.
            Err(_) => return Ok(None),
        }
    }
    if flags::threads() == Threads::AtOnce {
        return Ok(None);
    }
    let mut candidates = Vec::new();
    for attachment in attachments {
        // SAFETY: this thread is in no collective: making a communicator holds nothing.
        let Some(attached) = (unsafe { attachment.try_hold() }) else { return Ok(None) };
        if is_candidate(&attached.communicator, &takes_part) {
            candidates.push(attached);
        }
    }
    Ok(Some(candidates))
}

fn is_candidate(communicator: &Communicator, takes_part: &[bool]) -> bool {
    // Ranks of other worlds are none of `takes_part`.
    let all_here = |members: &[u32]| members.iter().all(|rank| takes_part.get(*rank as usize) == Some(&true));
    matches!(communicator.private, Private::Made(_))
        && communicator.agreed.as_ref().is_some_and(|agreed| all_here(&agreed.members))
}

#[cfg(test)]
mod tests {
    use super::{LATE, NONE, turn};

    #[test]
    fn idle_longest_goes_first_and_what_is_likely_used_again_last() {
        let times = [0, 1, 1_000_000_000, 3600 * 1_000_000_000, LATE - 1];
        for pair in times.windows(2) {
            assert!(turn(false, pair[1]) < turn(false, pair[0]) && turn(true, pair[1]) < turn(true, pair[0]));
        }
        assert!(turn(false, 0) < turn(true, u64::MAX));
        assert_eq!(turn(false, u64::MAX), turn(false, LATE - 1));
        assert!(turn(true, 0) < NONE);
    }
}
