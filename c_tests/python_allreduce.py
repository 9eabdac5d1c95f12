"""Collectives of mpi4py, which loads the MPI library itself and keeps it from the rest of the process."""

import array

from mpi4py import MPI

comm = MPI.COMM_WORLD
own, total = array.array("d", [comm.rank + 1.0]), array.array("d", [0.0])
for _ in range(6):
    comm.Allreduce(own, total)
    assert total[0] == comm.size * (comm.size + 1) / 2, total
comm.Bcast(own)
assert own[0] == 1, own
if comm.rank == 0:
    print("check: allreduce calls", 6 * comm.size)
    print("check: bcast calls", comm.size)
    print("check: 0 differences")
