//! C and Fortran programs (`c_tests/`) under the preload, on every MPI: one test per program and number of ranks, and
//! one per algorithm and setting, forced by the variable that users set.
//!
//! The programs compare `MPI_X` with `PMPI_X` themselves and end with 1 on a difference. On top of that the report of
//! each run must account for every call the program made, and where an algorithm was forced, for calls that it ran.
//! `scripts/build` has to have built the libraries; `scripts/test` does both.

mod algorithms;
mod bounds;
mod communicators;
mod device;
mod exits;
mod job;
mod learn;
mod messages;
mod modes;
mod monitored;
mod mpi;
mod network;
mod nodes;
mod outputs;
mod parts;
mod pitfalls;
mod programs;
mod records;
mod report;
mod sessions;
mod shared;
mod waiting;

use libtest_mimic::{Arguments, Trial};

fn main() {
    let mut arguments = Arguments::from_args();
    // Two cores are idle for half of the time of two jobs.
    arguments.test_threads.get_or_insert(5);
    let mut all = Vec::new();
    for family in mpi::families() {
        let mut trials = Trials::new(family);
        trials.add(programs::trials(family));
        trials.add(pitfalls::trials(family));
        trials.add(waiting::trials(family));
        trials.add(algorithms::trials(family));
        trials.add(nodes::trials(family));
        trials.add(network::trials(family));
        trials.add(shared::trials(family));
        trials.add(bounds::trials(family));
        trials.add(communicators::trials(family));
        trials.add(sessions::trials(family));
        trials.add(device::trials(family));
        trials.add(records::trials(family));
        trials.add(messages::trials(family));
        trials.add(monitored::trials(family));
        trials.add(modes::trials(family));
        trials.add(learn::trials(family));
        trials.add(exits::trials(family));
        trials.add(outputs::trials(family));
        trials.add(parts::trials(family));
        all.append(&mut trials.of_family);
    }
    // Whatever has the machine for itself waits until all others have ended: one such job after the other, they wait
    // once.
    all.sort_by_key(|trial| job::is_alone(trial) || ranks(trial.name()) >= job::MANY);
    libtest_mimic::run(&arguments, all).exit();
}

/// The ranks that a test's name ends in; 0 if it names none.
fn ranks(name: &str) -> usize {
    name.rsplit_once("::ranks_").and_then(|(_, ranks)| ranks.parse().ok()).unwrap_or(0)
}

/// Programs that compare with a native library which is wrong itself or crashes: the MPI, the test, and what names the
/// defect in the first column of docs/native-defects.md, which is a case of defects.c or a program of c_tests.
const NATIVE_DEFECTS: &[(&str, &str, &str)] = &[
    ("mpich5", "errors::", "null_datatype"),
    ("abi", "errors::", "null_datatype"),
    ("mpich5", "large_count_types::", "negative_bound"),
    ("abi", "large_count_types::", "negative_bound"),
    ("intel", "large_count_types::", "negative_bound"),
    ("mpich5", "jumps", "null_datatype"),
    ("abi", "jumps", "null_datatype"),
    ("mpich5", "throws", "null_datatype"),
    ("abi", "throws", "null_datatype"),
    ("mpich5", "handler_calls", "error_after_handler"),
    ("abi", "handler_calls", "error_after_handler"),
    ("mpich5", "freed_by_handler::", "error_after_handler"),
    ("abi", "freed_by_handler::", "error_after_handler"),
    ("mpich5", "handler_set_in_copy::", "error_after_handler"),
    ("abi", "handler_set_in_copy::", "error_after_handler"),
    ("mpich5", "failing_calls::", "c_tests/failing_calls.c"),
    ("abi", "failing_calls::", "c_tests/failing_calls.c"),
    ("mpich5", "idle_communicators", "c_tests/many_live_communicators.c most"),
    ("abi", "idle_communicators", "c_tests/many_live_communicators.c most"),
    ("mpich5", "many_live_communicators::most", "c_tests/many_live_communicators.c most"),
    ("abi", "many_live_communicators::most", "c_tests/many_live_communicators.c most"),
    ("intel", "data_movement", "differing_maps"),
    ("intel", "forced_with_unmet_need", "differing_maps"),
    ("intel", "truncated::", "c_tests/truncated.c"),
    ("intel", "failing_calls::", "c_tests/failing_calls.c"),
    ("intel", "many_communicators::", "c_tests/many_live_communicators.c"),
    ("intel", "many_live_communicators", "c_tests/many_live_communicators.c"),
    ("intel", "idle_communicators", "c_tests/many_live_communicators.c"),
    ("intel", "sessions::alone", "init_after_session"),
    ("intel", "sessions::before", "init_after_session"),
    ("intel", "learn_by_threads", "c_tests/pitfall_12_threads.c"),
];

/// What a family is tested with.
struct Trials {
    family: &'static mpi::Family,
    of_family: Vec<Trial>,
}

impl Trials {
    /// Words in the names of tests whose programs are Fortran's.
    const FORTRAN: &[&str] = &["mpif", "f08", "fortran", "_mpi::", "blocks_of_several_sizes"];

    /// What MPIs from PyPI are tested with where time is short: types, algorithms, communicators, threads, errors,
    /// large counts, and what differs between MPIs of one family.
    const SAMPLE: &[&str] = &[
        "data_movement::ranks_3",
        "reductions::ranks_3",
        "predefined::ranks_3",
        "repeated::ranks_2",
        "::learn_watched",
        "::learn_by_threads",
        "aliased_buffers::ranks_2",
        "large_count",
        "observed::ranks_2",
        "waits::ranks_3",
        "pitfall_9_communicators::ranks_4",
        "pitfall_12_threads::ranks_3",
        "errors::ranks_2",
        "errors_of_duplicates",
        "garbage_communicator",
        "refused_calls",
        "handled_errors",
        "sessions",
        "survivors",
        "weak_names",
        "exit_code",
        "spawned::native",
        "reduce_sum::",
        "control::linked",
        "::python",
        "pitfall_14_preload",
        "library_of_another",
        "monitored::messages",
    ];

    fn new(family: &'static mpi::Family) -> Self {
        Self { family, of_family: Vec::new() }
    }

    fn add(&mut self, trials: Vec<Trial>) {
        let has = |trial: &Trial, words: &[&str]| words.iter().any(|word| trial.name().contains(word));
        let fits = |trial: &Trial| {
            (self.family.has_fortran() || !has(trial, Self::FORTRAN))
                && (!self.family.is_sampled() || has(trial, Self::SAMPLE))
        };
        let defect = |trial: &Trial| {
            NATIVE_DEFECTS.iter().any(|(mpi, test, _)| *mpi == self.family.name && trial.name().contains(test))
        };
        let trials = trials.into_iter().filter(fits).map(|trial| {
            let left_out = defect(&trial);
            trial.with_ignored_flag(left_out)
        });
        self.of_family.extend(trials);
    }
}
