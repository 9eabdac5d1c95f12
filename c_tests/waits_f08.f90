! Requests of nonblocking collectives, waited for and tested in every way, with `use mpi_f08` and no ierror.
program waits
  use mpi_f08
  implicit none
  integer rank, size, way, i, number, place, failures
  integer indices(3)
  integer, asynchronous :: own, totals(3)
  type(MPI_Request) requests(3)
  logical flag
  failures = 0
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  own = rank
  do way = 1, 8
    totals = -1
    do i = 1, 3
      call MPI_Iallreduce(own, totals(i), 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(i))
    end do
    select case (way)
    case (1)
      do i = 1, 3
        call MPI_Wait(requests(i), MPI_STATUS_IGNORE)
      end do
    case (2)
      call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE)
    case (3)
      do i = 1, 3
        call MPI_Waitany(3, requests, place, MPI_STATUS_IGNORE)
      end do
    case (4)
      number = 0
      do while (number /= MPI_UNDEFINED)
        call MPI_Waitsome(3, requests, number, indices, MPI_STATUSES_IGNORE)
      end do
    case (5)
      do i = 1, 3
        flag = .false.
        do while (.not. flag)
          call MPI_Test(requests(i), flag, MPI_STATUS_IGNORE)
        end do
      end do
    case (6)
      flag = .false.
      do while (.not. flag)
        call MPI_Testall(3, requests, flag, MPI_STATUSES_IGNORE)
      end do
    case (7)
      number = 0
      do while (number < 3)
        call MPI_Testany(3, requests, place, flag, MPI_STATUS_IGNORE)
        if (flag) number = number + 1
      end do
    case (8)
      number = 0
      do while (number /= MPI_UNDEFINED)
        call MPI_Testsome(3, requests, number, indices, MPI_STATUSES_IGNORE)
      end do
    end select
    if (any(totals /= size * (size - 1) / 2)) failures = failures + 1
  end do
  if (rank == 0) then
    write (*, '(a,i0)') 'check: iallreduce calls ', 24 * size
    write (*, '(a,i0)') 'check: iallreduce (wait) calls ', 24 * size
  end if
  call MPI_Finalize()
  if (failures /= 0) stop 1
end program
