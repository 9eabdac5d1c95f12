//! Every collective function of MPI, by name.

use crate::operation::Operation;
use serde::{Deserialize, Serialize};

macro_rules! collectives {
    ($($name:ident = $text:literal / $immediate:literal),* $(,)?) => {
        /// What the function does, whichever form it has.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[repr(u8)]
        #[allow(missing_docs, reason = "the names say it")]
        pub enum Collective { $($name),* }

        impl Collective {
            /// All of them; `collective as usize` is the place in it.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The names of the forms, in the order of [`Form::ALL`].
            const fn names(self) -> [&'static str; 5] {
                match self {
                    $(Self::$name => [
                        concat!("MPI_", $text),
                        concat!("MPI_I", $immediate),
                        concat!("MPI_I", $immediate, " (wait)"),
                        concat!("MPI_", $text, "_init"),
                        concat!("MPI_", $text, "_init (wait)"),
                    ]),*
                }
            }
        }
    };
}

collectives! {
    Bcast = "Bcast" / "bcast",
    Reduce = "Reduce" / "reduce",
    Allreduce = "Allreduce" / "allreduce",
    Gather = "Gather" / "gather",
    Scatter = "Scatter" / "scatter",
    Allgather = "Allgather" / "allgather",
    Barrier = "Barrier" / "barrier",
    Gatherv = "Gatherv" / "gatherv",
    Scatterv = "Scatterv" / "scatterv",
    Allgatherv = "Allgatherv" / "allgatherv",
    Alltoall = "Alltoall" / "alltoall",
    Alltoallv = "Alltoallv" / "alltoallv",
    Alltoallw = "Alltoallw" / "alltoallw",
    ReduceScatter = "Reduce_scatter" / "reduce_scatter",
    ReduceScatterBlock = "Reduce_scatter_block" / "reduce_scatter_block",
    Scan = "Scan" / "scan",
    Exscan = "Exscan" / "exscan",
    NeighborAllgather = "Neighbor_allgather" / "neighbor_allgather",
    NeighborAllgatherv = "Neighbor_allgatherv" / "neighbor_allgatherv",
    NeighborAlltoall = "Neighbor_alltoall" / "neighbor_alltoall",
    NeighborAlltoallv = "Neighbor_alltoallv" / "neighbor_alltoallv",
    NeighborAlltoallw = "Neighbor_alltoallw" / "neighbor_alltoallw",
}

/// How a collective is called, and which part of its life a duration belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub enum Form {
    /// `MPI_X`: from entry to exit.
    Blocking,
    /// `MPI_Ix`: the call that starts it.
    Nonblocking,
    /// `MPI_Ix`: the calls that wait for it or test it.
    NonblockingWait,
    /// `MPI_X_init` and `MPI_Start` of it.
    Persistent,
    /// A persistent collective: the calls that wait for it or test it.
    PersistentWait,
}

impl Form {
    /// All of them; `form as usize` is the place in it.
    pub const ALL: [Self; 5] =
        [Self::Blocking, Self::Nonblocking, Self::NonblockingWait, Self::Persistent, Self::PersistentWait];
}

/// A collective in one of its forms: what the rows of a report are named after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Function {
    /// What it does.
    pub collective: Collective,
    /// How it is called.
    pub form: Form,
}

impl Function {
    /// `MPI_X`.
    pub const fn blocking(collective: Collective) -> Self {
        Self { collective, form: Form::Blocking }
    }

    /// MPI's name for it; the parts of a call that only wait say so in brackets.
    pub const fn name(self) -> &'static str {
        self.collective.names()[self.form as usize]
    }

    /// Small, and different for every function.
    pub const fn number(self) -> u8 {
        self.collective as u8 * Form::ALL.len() as u8 + self.form as u8
    }

    /// The function with that number.
    pub fn from_number(number: u8) -> Option<Self> {
        let forms = Form::ALL.len();
        let collective = *Collective::ALL.get(usize::from(number) / forms)?;
        Some(Self { collective, form: Form::ALL[usize::from(number) % forms] })
    }
}

/// The collective of each operation: the one of its name.
const OF: [Collective; Operation::ALL.len()] = {
    let mut of = [Collective::Barrier; Operation::ALL.len()];
    let mut place = 0;
    while place < of.len() {
        let mut other = 0;
        while !same(Function::blocking(Collective::ALL[other]).name(), Operation::ALL[place].row().mpi_name) {
            other += 1;
        }
        of[place] = Collective::ALL[other];
        place += 1;
    }
    of
};

/// Whether two texts are one, for constants.
const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut place = 0;
    while place < one.len() && place < other.len() && one[place] == other[place] {
        place += 1;
    }
    place == one.len() && place == other.len()
}

impl From<Operation> for Function {
    fn from(operation: Operation) -> Self {
        Self::blocking(OF[operation as usize])
    }
}

impl std::fmt::Display for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn numbers_and_names_are_unique() {
        let all: Vec<Function> = (0..=u8::MAX).map_while(Function::from_number).collect();
        assert_eq!(all.len(), Collective::ALL.len() * Form::ALL.len());
        assert!(all.iter().enumerate().all(|(place, function)| usize::from(function.number()) == place));
        assert_eq!(all.iter().map(|function| function.name()).collect::<BTreeSet<_>>().len(), all.len());
    }

    #[test]
    fn names_are_mpis() {
        for operation in Operation::ALL {
            assert_eq!(Function::from(operation).name(), operation.row().mpi_name);
        }
        let started = Function { collective: Collective::ReduceScatterBlock, form: Form::Nonblocking };
        assert_eq!(started.name(), "MPI_Ireduce_scatter_block");
    }
}
