//! Which calls on a communicator count, until its ranks agree (`COLLIE_AFTER`) and for what they do together now and
//! again: those that they all make, so none that the MPI library refused on this rank.

use crate::communicator::state::Communicator;
use crate::mpi::error::{SUCCESS, is_of_arguments};
use crate::mpi::handler::{self, ErrorsReturned};
use mpi_sys::MPI_Comm;
use std::os::raw::c_int;

/// A call under way that is to be counted unless it is refused.
pub struct Counting {
    /// Before the ranks have agreed: the calls left when this one is counted.
    after: Option<u32>,
    /// Errors are returned as long as this lasts, where the MPI library would keep them for the error handler.
    returned: Option<ErrorsReturned>,
}

/// How a call has ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ended {
    /// The MPI library refused it, for its arguments: it was none that the other ranks make.
    pub is_refused: bool,
    /// Its error is still to be raised, and not returned.
    pub is_hidden: bool,
}

impl Counting {
    /// A call begins that was counted just now; there were `before` calls left. Until it ends it is taken back: an
    /// error handler that jumps out of it is mostly one that has heard of wrong arguments. `may_be_refused`: it is only
    /// passed on, and something rests on its being made.
    pub fn begin(communicator: &mut Communicator, before: u32, may_be_refused: bool) -> Self {
        let after = communicator.calls_left();
        let is_first = !communicator.is_agreed() && after != before;
        if is_first {
            communicator.set_calls_left(before);
        }
        let returned = if is_first || may_be_refused { returned(communicator.facts.comm) } else { None };
        Self { after: is_first.then_some(after), returned }
    }

    /// The call ends.
    pub fn end(self, communicator: &mut Communicator, code: c_int) -> Ended {
        let is_refused = code != SUCCESS && is_of_arguments(code);
        if let Some(after) = self.after.filter(|_| !is_refused) {
            communicator.set_calls_left(after);
        }
        Ended { is_refused, is_hidden: code != SUCCESS && self.returned.is_some() }
    }
}

/// Has errors on `comm` returned where its handler alone would hear of them. What fails here leaves things as they are:
/// the program's handler hears of the error in any case.
pub fn returned(comm: MPI_Comm) -> Option<ErrorsReturned> {
    let hides = handler::hides_errors(comm).unwrap_or(false);
    if hides { ErrorsReturned::on(comm).ok() } else { None }
}
