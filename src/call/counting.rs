//! Which of the first calls on a communicator count until its ranks agree (`COLLIE_AFTER`): those that they all make,
//! so none that the MPI library refused on this rank.

use crate::communicator::state::Communicator;
use crate::mpi::error::{SUCCESS, is_of_arguments};
use crate::mpi::handler::{self, ErrorsReturned};
use std::os::raw::c_int;

/// A call that has been counted, and may have to be counted no more.
pub struct Counting(Option<First>);

/// The same before the ranks have agreed.
struct First {
    /// Calls left when this one is counted.
    after: u32,
    /// Errors are returned as long as this lasts, where the MPI library would keep them for the error handler.
    returned: Option<ErrorsReturned>,
}

impl Counting {
    /// A call begins that was counted just now; there were `before` calls left. Until it ends it is taken back: an
    /// error handler that jumps out of it is mostly one that has heard of wrong arguments.
    pub fn begin(communicator: &mut Communicator, before: u32) -> Self {
        let after = communicator.calls_left();
        if communicator.is_agreed() || after == before {
            return Self(None);
        }
        communicator.set_calls_left(before);
        let comm = communicator.facts.comm;
        // What fails here leaves things as they are: the program's handler hears of the error in any case.
        let hides = handler::hides_errors(comm).unwrap_or(false);
        let returned = if hides { ErrorsReturned::on(comm).ok() } else { None };
        Self(Some(First { after, returned }))
    }

    /// The call ends. Whether its error is still to be raised, and not returned.
    pub fn end(self, communicator: &mut Communicator, code: c_int) -> bool {
        let Self(Some(First { after, returned })) = self else { return false };
        let is_refused = code != SUCCESS && is_of_arguments(code);
        if !is_refused {
            communicator.set_calls_left(after);
        }
        code != SUCCESS && returned.is_some()
    }
}
