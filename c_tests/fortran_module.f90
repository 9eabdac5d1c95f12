! A module for host.c with `use mpi`: its buffers are in place and at absolute addresses, in calls that are replaced and in one
! that is passed on.
function run() bind(C) result(status)
  use mpi
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  integer(c_int) :: status
  integer :: rank, size, ierror, i, failures, whole, request, place
  integer :: lengths(1), numbers(16), ones(16), places(16)
  integer(kind=MPI_ADDRESS_KIND) :: addresses(1)
  failures = 0
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  do place = 1, 3
    numbers = rank + 1
    call MPI_Allreduce(MPI_IN_PLACE, numbers, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    if (any(numbers(1:2) /= size * (size + 1) / 2)) failures = failures + 1
    numbers = 0
    if (rank == 0) numbers = 7
    call MPI_Get_address(numbers, addresses(1), ierror)
    lengths(1) = 2
    call MPI_Type_create_hindexed(1, lengths, addresses, MPI_INTEGER, whole, ierror)
    call MPI_Type_commit(whole, ierror)
    call MPI_Bcast(MPI_BOTTOM, 1, whole, 0, MPI_COMM_WORLD, ierror)
    call MPI_Type_free(whole, ierror)
    if (any(numbers(1:2) /= 7)) failures = failures + 1
    ones = 1
    places = [(i - 1, i = 1, 16)]
    numbers = rank + 1
    if (rank == 0) then
      call MPI_Gatherv(MPI_IN_PLACE, 77, 123456, numbers, ones, places, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
      do i = 1, size
        if (numbers(i) /= i) failures = failures + 1
      end do
    else
      call MPI_Gatherv(numbers, 1, MPI_INTEGER, numbers, ones, places, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    end if
    numbers = rank + 1
    call MPI_Iallreduce(MPI_IN_PLACE, numbers, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    if (numbers(1) /= size * (size + 1) / 2) failures = failures + 1
  end do
  if (rank == 0) then
    write (*, '(a,i0)') 'check: allreduce calls ', 3 * size
    write (*, '(a,i0)') 'check: bcast calls ', 3 * size
    write (*, '(a,i0)') 'check: gatherv calls ', 3 * size
    write (*, '(a,i0)') 'check: iallreduce calls ', 3 * size
  end if
  call MPI_Finalize(ierror)
  if (failures /= 0) write (*, '(i0,a)') failures, ' differences'
  status = failures
end function
