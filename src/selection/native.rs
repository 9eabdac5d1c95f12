//! What MPI libraries decide by themselves, as far as it is known: by Collie's algorithms of the same kind, in the
//! rules format, one table per library and range of releases. A table has rows for every call of an operation, or is
//! silent about it where nobody has looked.

use super::mpi_library::{Implementation, Mpi, Version};
use super::rules::{self, Rules};
use super::situation::Situation;
use super::wanted::Wanted;
use crate::algorithm::{Call, Choice};
use once_cell::sync::Lazy;

/// Name and text of each table.
const TABLES: [(&str, &str); 3] = [
    ("Open MPI up to 4.0", include_str!("native/open_mpi_4_0.rules")),
    ("Open MPI 4.1", include_str!("native/open_mpi_4_1.rules")),
    ("MPICH", include_str!("native/mpich.rules")),
];

static PARSED: Lazy<[Rules; 3]> = Lazy::new(|| {
    TABLES.map(|(name, text)| rules::parse(name, text).unwrap_or_else(|errors| panic!("decisions of {errors}")))
});

/// What `mpi` decides; nothing where that is not known: Open MPI 5 hands collectives between nodes to another component
/// (HAN), and those made of MPICH have tables of their own.
pub fn of(mpi: Mpi) -> Option<&'static Rules> {
    let [of_open_mpi_4_0, of_open_mpi_4_1, of_mpich] = &*PARSED;
    match mpi.implementation {
        Implementation::OpenMpi if mpi.version < Version([4, 1, 0]) => Some(of_open_mpi_4_0),
        Implementation::OpenMpi if mpi.version < Version([5, 0, 0]) => Some(of_open_mpi_4_1),
        Implementation::Mpich => Some(of_mpich),
        _ => None,
    }
}

/// The algorithm that the MPI library takes for a call.
pub fn choice(situation: &Situation, call: &Call) -> Option<&'static Choice> {
    first_usable(of(situation.mpi)?, situation, call).map(|(choice, _)| choice)
}

/// The first algorithm of `rules` for a call whose needs are met, with its line.
pub fn first_usable<'a>(rules: &'a Rules, situation: &Situation, call: &Call) -> Option<(&'a Choice, u32)> {
    let rows = rules.of(call.operation).iter().filter(|row| row.matches(situation, call));
    let choices = rows.filter_map(|row| match &row.wanted {
        Wanted::Algorithm(choice) => Some((choice, row.line)),
        Wanted::Auto | Wanted::Native => None,
    });
    choices.into_iter().find(|(choice, _)| choice.accepts(call, situation.ranks).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Operation;
    use Operation::{Allgather, Allreduce, Alltoall, Alltoallv, Barrier, Bcast, Gather, Reduce, Scatter};

    /// The operations that every table speaks of.
    const SPOKEN_OF: [Operation; 9] =
        [Bcast, Reduce, Allreduce, Gather, Scatter, Allgather, Alltoall, Alltoallv, Barrier];

    #[test]
    fn every_table_knows_an_algorithm_for_every_call_of_the_operations_that_it_speaks_of() {
        for mpi in ["Open MPI v3.1.6", "Open MPI v4.1.4", "MPICH Version:\t4.0.2"].map(Mpi::of) {
            let table = of(mpi).unwrap();
            assert!(SPOKEN_OF.iter().all(|operation| !table.of(*operation).is_empty()), "{mpi:?}");
            for operation in Operation::ALL.into_iter().filter(|operation| !table.of(*operation).is_empty()) {
                for ranks in (2..=70).chain([127, 128, 1000, 4096, 5000]) {
                    for bytes in [8, 64, 4096, 1 << 16, 1 << 20, 1 << 24] {
                        let unit = if operation.reduces() { 8 } else { 1 };
                        let count = if operation.has_data() { bytes / unit } else { 0 };
                        let situation = Situation { one_node: false, mpi, ..Situation::plain(ranks) };
                        let call = Call::plain(operation, count, unit);
                        assert!(choice(&situation, &call).is_some(), "{mpi:?}: {operation} of {bytes} among {ranks}");
                    }
                }
            }
        }
        assert!(of(Mpi::of("Open MPI v5.0.7")).is_none() && of(Mpi::UNKNOWN).is_none());
    }
}
