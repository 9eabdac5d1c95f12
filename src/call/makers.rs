//! Calls that make communicators.

use super::contexts;
use crate::communicator::origin::{self, Makers};
use crate::communicator::{duplicating, making};
use crate::mpi::error::SUCCESS;
use crate::process::guard;
use crate::process::runtime;
use mpi_sys::{MPI_Comm, MPI_Request};
use std::os::raw::c_int;

/// Makes a communicator natively and notes where it comes from; `made` gives it afterwards, `request` what it may
/// be used after if that is not at once.
pub fn watch(
    made_by: &'static str,
    makers: Makers,
    parent: MPI_Comm,
    (made, request): (impl Fn() -> MPI_Comm, impl Fn() -> Option<MPI_Request>),
    native: impl Fn() -> c_int,
) -> c_int {
    let code = making::by_program(|| contexts::make(made_by, makers, parent, &made, &native));
    let note = || {
        if let Err(error) = origin::note(parent, made_by, makers, made()) {
            log::warn!("the origin of a communicator could not be recorded: {error}");
        }
    };
    if code == SUCCESS {
        // Native code is done with, so attribute callbacks of the program were not taken for Collie's doing. An error
        // handler may have made the communicator with ranks that are in none.
        guard::enter_call(
            made_by,
            || SUCCESS,
            || {
                if runtime::get().is_some() {
                    note();
                    if let Some(request) = request() {
                        duplicating::begun(request);
                    }
                }
                SUCCESS
            },
        );
    }
    code
}
