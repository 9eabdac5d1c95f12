! The README's example with `use mpi`.
program reduce_sum
  use mpi
  implicit none
  integer :: rank, contribution, total, ierror
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  contribution = rank + 1
  total = 0
  call MPI_Reduce(contribution, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
  if (rank == 0) write (*, '(a,i0)') 'Sum result: ', total
  call MPI_Finalize(ierror)
end program
