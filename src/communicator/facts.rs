//! What a rank knows of a communicator without asking the others.

use super::origin::{self, Origin};
use crate::mpi::communicator;
use crate::mpi::error::Result;
use mpi_sys::MPI_Comm;
use std::sync::Arc;

/// What a rank knows of a communicator by itself.
#[derive(Debug)]
pub struct Facts {
    /// The program's communicator.
    pub comm: MPI_Comm,
    /// Own rank in it.
    pub rank: usize,
    /// Its size (of the local group of an intercommunicator).
    pub size: usize,
    /// Ranks of both groups of an intercommunicator; else its size.
    pub all_ranks: usize,
    /// Whether it connects two groups.
    pub inter: bool,
    /// What all its ranks work out alike, and different for every other communicator of the job.
    pub identity: Arc<str>,
    /// Where it comes from.
    pub origin: Arc<Origin>,
}

impl Facts {
    /// Whether all ranks are sure to work out the same identity.
    pub fn is_named_alike(&self) -> bool {
        !self.identity.starts_with(origin::UNSEEN)
    }

    /// Of `comm`, whose size is known already.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn of(comm: MPI_Comm, size: usize) -> Result<Self> {
        let (rank, inter) = (communicator::rank(comm)?, communicator::is_inter(comm)?);
        let origin = origin::of(comm)?;
        let identity = Arc::clone(origin.identity(comm)?);
        let all_ranks = if inter { size + communicator::remote_size(comm)? } else { size };
        Ok(Self { comm, rank, size, all_ranks, inter, identity, origin })
    }
}
