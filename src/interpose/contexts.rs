//! When the MPI library has no context id left for a communicator of the program's: private ones are given back, and it is
//! tried again.
//!
//! MPICH has 2046 of them, and says so when there are no more. Open MPI has 65532 and hangs instead, in the library and
//! outside it, so that nothing can be done there. What is left as it is: `MPI_Comm_create_group`, where not all ranks of the
//! parent take part, `MPI_Comm_idup`, of which only the request tells, intercommunicators, and parents with ranks of another
//! `MPI_COMM_WORLD`.

use super::attention;
use super::guard;
use super::origin::Makers;
use super::runtime::{self, Runtime};
use super::state::{Private, Shared, State, Visit};
use crate::mpi::error::{Error, Result};
use crate::mpi::handler::{Quiet, says_that_contexts_ran_out};
use crate::mpi::{communicator, constants};
use crate::threads::{Held, Threads};
use mpi_sys::MPI_Comm;
use std::cell::Cell;
use std::os::raw::c_int;
use std::sync::Arc;

const SUCCESS: c_int = mpi_sys::MPI_SUCCESS as c_int;

/// What is given back, in this order: all but the private communicators of `MPI_COMM_WORLD` and of the parent, which a
/// program is likely to go on using; then those too.
const ROUNDS: [Round; 2] = [Round::Others, Round::All];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Round {
    Others,
    All,
}

/// Makes a communicator of the program's from `parent` by `native`; `made` gives it afterwards.
pub fn make(
    made_by: &'static str,
    makers: Makers,
    parent: MPI_Comm,
    made: &impl Fn() -> MPI_Comm,
    native: &impl Fn() -> c_int,
) -> c_int {
    let Some(runtime) = runtime::get().filter(|_| may_run_out(makers, parent)) else { return native() };
    match communicator::is_inter(parent) {
        Ok(true) => native(),
        // The handle is no communicator's, and that has been raised just now.
        Err(error) => error.0,
        Ok(false) => match try_and_give_back(runtime, made_by, parent, made, native) {
            SUCCESS => SUCCESS,
            code => communicator::raise(parent, Error(code)),
        },
    }
}

/// Whether ids run out in such a call where all ranks of the parent see it.
fn may_run_out(makers: Makers, parent: MPI_Comm) -> bool {
    cfg!(mpi_family = "mpich") && makers == Makers::Parent && parent != constants::comm_null()
}

fn try_and_give_back(
    runtime: &Runtime,
    made_by: &'static str,
    parent: MPI_Comm,
    made: &impl Fn() -> MPI_Comm,
    native: &impl Fn() -> c_int,
) -> c_int {
    let mut code = attempt(parent, made, native);
    for round in ROUNDS {
        // All ranks find the same, so that all of them agree, or none does.
        if code == SUCCESS || !says_that_contexts_ran_out(Error(code)) {
            break;
        }
        let given_back = Cell::new(false);
        let give_back = || {
            match runtime.apart(|| give_back(runtime, parent, round)) {
                Ok(done) => given_back.set(done),
                Err(error) => log::warn!("private communicators could not be given back: {error}"),
            }
            SUCCESS
        };
        guard::enter(made_by, || SUCCESS, give_back);
        if given_back.get() {
            code = attempt(parent, made, native);
        }
    }
    code
}

/// Runs `native`, whose errors are not raised yet.
fn attempt(parent: MPI_Comm, made: &impl Fn() -> MPI_Comm, native: &impl Fn() -> c_int) -> c_int {
    let quiet = match Quiet::on(parent) {
        Ok(quiet) => quiet,
        Err(error) => return error.0,
    };
    let code = native();
    if code == SUCCESS
        && made() != constants::comm_null()
        && let Err(error) = quiet.hand_down(made())
    {
        log::error!("the error handler of a new communicator could not be set: {error}");
    }
    code
}

/// Frees the private communicators whose ranks all take part; whether all of them could, and any rank had one. Collective
/// over `parent`, between calls on the communicators concerned: all their ranks are here.
fn give_back(runtime: &Runtime, parent: MPI_Comm, round: Round) -> Result<bool> {
    let states: Vec<Arc<Shared>> = runtime.states.lock().clone();
    // What fails here alone keeps all of them from it.
    let candidates = candidates(runtime, &states, parent, round).unwrap_or_default();
    let none = candidates.as_ref().is_some_and(Vec::is_empty);
    let [able, none] = communicator::least(parent, [u64::from(candidates.is_some()), u64::from(none)])?;
    let Some(candidates) = candidates.filter(|_| able == 1 && none == 0) else { return Ok(false) };
    for mut state in candidates {
        if let Err(error) = state.give_back(runtime) {
            log::warn!("a private communicator could not be freed: {error}");
        }
    }
    Ok(true)
}

/// The communicators whose private ones can be given back, held; `None` where other threads may be using them.
fn candidates<'a>(
    runtime: &Runtime,
    states: &'a [Arc<Shared>],
    parent: MPI_Comm,
    round: Round,
) -> Result<Option<Vec<Held<'a, State>>>> {
    let mut takes_part = vec![false; runtime.world_size];
    for rank in communicator::world_ranks(parent, false)? {
        match usize::try_from(rank) {
            Ok(rank) => takes_part[rank] = true,
            // Another world's, where Collie may not be.
            Err(_) => return Ok(None),
        }
    }
    if attention::threads() == Threads::AtOnce {
        return Ok(None);
    }
    let mut candidates = Vec::new();
    for shared in states {
        // SAFETY: this thread is in no collective: making a communicator holds nothing.
        let Some(state) = (unsafe { shared.try_hold(Visit::BetweenCalls) }) else { return Ok(None) };
        if is_candidate(&state, &takes_part, parent, round) {
            candidates.push(state);
        }
    }
    Ok(Some(candidates))
}

fn is_candidate(state: &State, takes_part: &[bool], parent: MPI_Comm, round: Round) -> bool {
    let spared = round == Round::Others && (state.comm == parent || state.comm == constants::comm_world());
    // Ranks of other worlds are none of `takes_part`.
    let all_here = |members: &[u32]| members.iter().all(|rank| takes_part.get(*rank as usize) == Some(&true));
    matches!(state.private, Private::Made(_))
        && !spared
        && state.agreed.as_ref().is_some_and(|agreed| all_here(&agreed.members))
}
