! The README's example with `use mpi_f08`, without ierror.
program reduce_sum
  use mpi_f08
  implicit none
  integer :: rank, contribution, total
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  contribution = rank + 1
  total = 0
  call MPI_Reduce(contribution, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) write (*, '(a,i0)') 'Sum result: ', total
  call MPI_Finalize()
end program
