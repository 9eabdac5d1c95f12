! A fixed number of calls, for a test that holds the report against them field by field. Two ranks.
program records
  use mpi_f08
  implicit none
  integer rank, i, failures, message
  double precision own(6), total(6)
  type(MPI_Comm) pair
  failures = 0
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, pair)
  call MPI_Comm_set_name(pair, 'pair')
  do i = 1, 5
    own = rank + i
    call MPI_Allreduce(own, total, 6, MPI_DOUBLE_PRECISION, MPI_PROD, MPI_COMM_WORLD)
    if (any(total /= i * (i + 1))) failures = failures + 1
  end do
  do i = 1, 3
    message = 10 * rank + i
    call MPI_Bcast(message, 1, MPI_INTEGER, 1, pair)
    if (message /= i) failures = failures + 1
  end do
  call MPI_Comm_free(pair)
  if (rank == 0) then
    write (*, '(a)') 'check: allreduce calls 10'
    write (*, '(a)') 'check: bcast calls 6'
  end if
  call MPI_Finalize()
  if (failures /= 0) stop 1
end program
