! Rank 1 ends the job after a collective, with `use mpi_f08` and no ierror.
program abort
  use mpi_f08
  implicit none
  integer rank, total
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 1) call MPI_Abort(MPI_COMM_WORLD, 9)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Finalize()
end program
