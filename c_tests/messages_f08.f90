! Point-to-point calls with mpi_f08, without error arguments: as messages_mpif.F.
program messages
  use mpi_f08
  implicit none
  integer :: rank, other, i, numbers(4)
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: status
  double precision :: values(8)
  logical :: flag
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  other = 1 - rank
  values = 1
  numbers = rank
  do i = 1, 20
    call MPI_Irecv(numbers(2:2), 1, MPI_INTEGER, other, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(numbers(1:1), 1, MPI_INTEGER, other, 1, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  end do
  if (numbers(2) /= other) call MPI_Abort(MPI_COMM_WORLD, 1)
  if (rank == 0) then
    call MPI_Send(values, 8, MPI_DOUBLE_PRECISION, 1, 2, MPI_COMM_WORLD)
  else
    call MPI_Recv(values, 8, MPI_DOUBLE_PRECISION, 0, 2, MPI_COMM_WORLD, status)
  end if
  call MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, flag, status)
  call MPI_Finalize()
end program
