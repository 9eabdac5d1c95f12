//! C and Fortran programs (`c_tests/`) under the preload, on every MPI: one test per program and number of ranks, and one
//! per algorithm and setting, forced by the variable that users set.
//!
//! The programs compare `MPI_X` with `PMPI_X` themselves and end with 1 on a difference. On top of that the report of each
//! run must account for every call the program made, and where an algorithm was forced, for calls that it ran.
//! `scripts/build` has to have built the libraries; `scripts/test` does both.

mod algorithms;
mod bounds;
mod communicators;
mod device;
mod exits;
mod job;
mod modes;
mod monitored;
mod mpi;
mod nodes;
mod outputs;
mod pitfalls;
mod programs;
mod records;
mod report;
mod waiting;

use libtest_mimic::Arguments;

fn main() {
    let mut arguments = Arguments::from_args();
    // A job of eight ranks fills the machine by itself.
    arguments.test_threads.get_or_insert(1);
    let mut trials = Vec::new();
    for family in mpi::FAMILIES {
        trials.extend(programs::trials(family));
        trials.extend(pitfalls::trials(family));
        trials.extend(waiting::trials(family));
        trials.extend(algorithms::trials(family));
        trials.extend(nodes::trials(family));
        trials.extend(bounds::trials(family));
        trials.extend(communicators::trials(family));
        trials.extend(device::trials(family));
        trials.extend(records::trials(family));
        trials.extend(monitored::trials(family));
        trials.extend(modes::trials(family));
        trials.extend(exits::trials(family));
        trials.extend(outputs::trials(family));
    }
    libtest_mimic::run(&arguments, trials).exit();
}
