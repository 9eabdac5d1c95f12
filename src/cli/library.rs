//! `collie library`: which library to preload into a program by hand.

use super::run::{LIBRARY, place, unknown_family, usable};
use super::{Done, Failure, program};
use crate::family::Family;
use std::ffi::OsString;

/// Print the path of the library to preload into a program
///
/// Looks at the libraries that the program needs, or that the mpi4py of its Python loads.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  LD_PRELOAD=$(collie library ./app) ./app\n  \
                        mpirun -x LD_PRELOAD=$(collie library ./app) -n 8 ./app\n  collie library --family abi")]
pub struct Arguments {
    /// MPI family of the library, if it cannot be determined from the program
    #[arg(long)]
    family: Option<Family>,
    /// The program, or a command: its first word that is a program using MPI counts
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        required_unless_present = "family",
        value_name = "PROGRAM"
    )]
    command: Vec<OsString>,
}

/// Gives the path.
pub fn execute(arguments: &Arguments) -> Result<Done, Failure> {
    let family = match arguments.family {
        Some(family) => family,
        None => {
            let found = program::family_of(&arguments.command);
            found.family.ok_or_else(|| unknown_family(&arguments.command, &found.looked_at))?
        }
    };
    Ok(Done::from(usable(place(family, LIBRARY)?)? + "\n"))
}
