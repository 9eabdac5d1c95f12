! Collectives that are passed on, with `use mpi_f08` and no ierror, blocking and nonblocking.
program observed
  use mpi_f08
  implicit none
  integer rank, size, i, failures
  integer, asynchronous :: own, total
  integer send(16), receive(16), ones(16), places(16)
  type(MPI_Request) request
  failures = 0
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  send = [(rank * 100 + i - 1, i = 1, 16)]
  ones = 1
  places = [(i - 1, i = 1, 16)]
  call MPI_Alltoall(send, 1, MPI_INTEGER, receive, 1, MPI_INTEGER, MPI_COMM_WORLD)
  do i = 1, size
    if (receive(i) /= (i - 1) * 100 + rank) failures = failures + 1
  end do
  call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, send, 1, MPI_INTEGER, MPI_COMM_WORLD)
  do i = 1, size
    if (send(i) /= (i - 1) * 100 + rank) failures = failures + 1
  end do
  send(1) = rank + 7
  call MPI_Allgatherv(send, 1, MPI_INTEGER, receive, ones, places, MPI_INTEGER, MPI_COMM_WORLD)
  do i = 1, size
    if (receive(i) /= i + 6) failures = failures + 1
  end do
  own = rank
  call MPI_Iallreduce(own, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  if (total /= size * (size - 1) / 2) failures = failures + 1
  call MPI_Ibarrier(MPI_COMM_WORLD, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) then
    write (*, '(a,i0)') 'check: ibarrier calls ', size
    write (*, '(a,i0)') 'check: barrier calls ', size
    write (*, '(a,i0)') 'check: alltoall calls ', 2 * size
    write (*, '(a,i0)') 'check: allgatherv calls ', size
    write (*, '(a,i0)') 'check: iallreduce calls ', size
  end if
  call MPI_Finalize()
  if (failures /= 0) stop 1
end program
