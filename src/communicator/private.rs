//! The private communicator of a communicator, in which the messages of our algorithms travel.

use super::fallback::Fallback;
use super::making;
use super::origin;
use crate::mpi::communicator::{self, Ids};
use crate::mpi::error::Result;
use crate::process::runtime::Runtime;
use mpi_sys::MPI_Comm;
use parking_lot::Mutex;

/// The private communicators that this process holds, each after the program's that it belongs to. Apart from what is
/// kept of the latter, which a thread that waits in a call holds for as long.
static HELD: Mutex<Vec<Pair>> = Mutex::new(Vec::new());

/// A communicator of the program's and its private one.
struct Pair {
    program: MPI_Comm,
    private: MPI_Comm,
}

// SAFETY: handles mean the same on every thread; what they lead to is the MPI library's to guard.
unsafe impl Send for Pair {}

/// How many this process holds.
pub fn held() -> usize {
    HELD.lock().len()
}

/// That of one of the program's communicators, whoever is using it; `None` if it has none. The last one: a call whose
/// error handler has freed its communicator holds that one's until it ends, and the handle may be another one's by then.
pub fn of(comm: MPI_Comm) -> Option<MPI_Comm> {
    HELD.lock().iter().rev().find(|pair| pair.program == comm).map(|pair| pair.private)
}

/// The private communicator of a communicator.
#[derive(Clone, Copy, Debug)]
pub enum Private {
    /// No call has needed it yet.
    Unmade,
    /// Other communicators are being made on some rank, so that it cannot be made in the call that is under way.
    Postponed,
    /// Here it is.
    Made(MPI_Comm),
    /// The ranks found together that it cannot be had.
    Refused,
    /// The ranks gave it back together, for a communicator of the program's.
    GivenBack,
}

impl Private {
    /// Another call begins, which may make it if the last one could not.
    #[inline]
    pub const fn begin_call(&mut self) {
        if matches!(self, Self::Postponed) {
            *self = Self::Unmade;
        }
    }

    /// It, if it is made. All ranks see it alike.
    pub const fn made(&self) -> Option<MPI_Comm> {
        match self {
            Self::Made(comm) => Some(*comm),
            _ => None,
        }
    }

    /// Whether it could not be made in this call, and may be in a later one. All ranks see it alike.
    pub const fn is_postponed(&self) -> bool {
        matches!(self, Self::Postponed)
    }

    /// Makes it for `comm` if no call has needed it yet and no rank has `most` of them or no context id left: between the
    /// call in which the ranks agreed and this one, others may have been made. Collective over `comm`.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn get_or_make(&mut self, runtime: &Runtime, comm: MPI_Comm, most: usize) -> Result<Option<MPI_Comm>> {
        match *self {
            Self::Made(private) => return Ok(Some(private)),
            Self::Postponed | Self::Refused | Self::GivenBack => return Ok(None),
            Self::Unmade => {}
        }
        let is_room = || communicator::all(comm, held() < most && origin::leaves_room());
        let made = match most > 0 && runtime.uncounted(is_room)? {
            true => {
                let Some(_leave) = runtime.uncounted(|| making::ask(comm))? else {
                    *self = Self::Postponed;
                    return Ok(None);
                };
                runtime.uncounted(|| communicator::make_private(comm, Ids::Left))?
            }
            false => None,
        };
        *self = match made {
            Some(private) => {
                HELD.lock().push(Pair { program: comm, private });
                Self::Made(private)
            }
            None => Self::Refused,
        };
        Ok(made)
    }

    /// Frees it.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn release(&mut self) -> Result {
        if let Self::Made(private) = std::mem::replace(self, Self::Refused) {
            HELD.lock().retain(|pair| pair.private != private);
            communicator::free(private)?;
        }
        Ok(())
    }

    /// Frees it for good, since the program needs its id.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn give_back(&mut self) -> Result {
        let released = self.release();
        *self = Self::GivenBack;
        released
    }

    /// Why there is none where there is none.
    pub const fn without(&self) -> Fallback {
        match self {
            Self::GivenBack => Fallback::GivenBack,
            Self::Postponed => Fallback::BeingMade,
            Self::Unmade | Self::Made(_) | Self::Refused => Fallback::NoPrivateCommunicator,
        }
    }
}
