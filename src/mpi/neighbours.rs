//! To which ranks the neighbourhood collectives of a communicator send.

use super::constants;
use super::error::{Error, Result, check};
use mpi_sys::MPI_Comm;
use smallvec::SmallVec;
use std::os::raw::c_int;

/// Which blocks this rank sends in a neighbourhood collective on `comm`, which has a topology: at the edges of a grid
/// there are blocks for nobody.
///
/// # Errors
/// What PMPI returned; and that there is no topology.
pub fn destinations(comm: MPI_Comm) -> Result<SmallVec<[usize; 8]>> {
    let [cartesian, graph, distributed] = constants::topologies();
    let (mut kind, mut number) = (0, 0);
    // SAFETY: out-parameters are valid for writes.
    check(unsafe { mpi_sys::PMPI_Topo_test(comm, &mut kind) })?;
    if kind == cartesian {
        // SAFETY: as above.
        check(unsafe { mpi_sys::PMPI_Cartdim_get(comm, &mut number) })?;
        let mut blocks = SmallVec::new();
        // One each way along each dimension.
        for dimension in 0..number {
            let (mut before, mut after) = (0, 0);
            // SAFETY: as above.
            check(unsafe { mpi_sys::PMPI_Cart_shift(comm, dimension, 1, &mut before, &mut after) })?;
            let first = 2 * usize::try_from(dimension).unwrap_or(0);
            let there = [before, after].map(|rank| rank != mpi_sys::MPI_PROC_NULL as c_int);
            blocks.extend((first..).zip(there).filter(|(_, is_there)| *is_there).map(|(block, _)| block));
        }
        return Ok(blocks);
    } else if kind == graph {
        let mut rank = 0;
        // SAFETY: as above.
        check(unsafe { mpi_sys::PMPI_Comm_rank(comm, &mut rank) })?;
        // SAFETY: as above.
        check(unsafe { mpi_sys::PMPI_Graph_neighbors_count(comm, rank, &mut number) })?;
    } else if kind == distributed {
        let (mut sources, mut weighted) = (0, 0);
        // SAFETY: as above.
        check(unsafe { mpi_sys::PMPI_Dist_graph_neighbors_count(comm, &mut sources, &mut number, &mut weighted) })?;
    } else {
        return Err(Error(mpi_sys::MPI_ERR_TOPOLOGY as c_int));
    }
    Ok((0..usize::try_from(number).unwrap_or(0)).collect())
}
