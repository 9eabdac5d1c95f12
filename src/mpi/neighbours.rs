//! To how many ranks the neighbourhood collectives of a communicator send.

use super::constants;
use super::error::{Error, Result, check};
use mpi_sys::MPI_Comm;
use std::os::raw::c_int;

/// Blocks that this rank sends in a neighbourhood collective on `comm`, which has a topology.
///
/// # Errors
/// What PMPI returned; and that there is no topology.
pub fn destinations(comm: MPI_Comm) -> Result<usize> {
    let [cartesian, graph, distributed] = constants::topologies();
    let (mut kind, mut number) = (0, 0);
    // SAFETY: out-parameters are valid for writes.
    check(unsafe { mpi_sys::PMPI_Topo_test(comm, &mut kind) })?;
    if kind == cartesian {
        // SAFETY: as above.
        check(unsafe { mpi_sys::PMPI_Cartdim_get(comm, &mut number) })?;
        // One each way along each dimension, also where nobody is there.
        number *= 2;
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
    Ok(usize::try_from(number).unwrap_or(0))
}
