! The operations with `use mpi_f08` and no ierror: MPI_IN_PLACE, MPI_BOTTOM, a user's operation, a derived type.
module operations
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none

contains

subroutine left_heavy(in, inout, len, datatype)
  type(c_ptr), value :: in, inout
  integer len, i, tens
  type(MPI_Datatype) datatype
  integer, pointer :: left(:), right(:)
  if (datatype /= MPI_INTEGER) stop 2
  call c_f_pointer(in, left, [len])
  call c_f_pointer(inout, right, [len])
  do i = 1, len
    tens = 10
    do while (tens <= right(i))
      tens = tens * 10
    end do
    right(i) = mod(left(i) * tens + right(i), 100000000)
  end do
end subroutine
end module

program fortran_f08
  use mpi_f08
  use operations
  implicit none
  integer rank, size, root, i, failures, all_failures
  integer own, total, values(8), expected(8), message(3)
  integer mine(2), pairs(16), lengths(1)
  integer round, counts(8), starts(8), blocks(16), received(16)
  integer(kind=MPI_ADDRESS_KIND) places(1)
  type(MPI_Op) op
  type(MPI_Datatype) absolute
  common /addressed/ mine
  failures = 0
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  do root = 0, size - 1
    message = -1
    if (rank == root) message = [4, 5, 6 + root]
    call MPI_Bcast(message, 3, MPI_INTEGER, root, MPI_COMM_WORLD)
    call check('bcast', message(3), 6 + root)
    own = rank + 1
    total = 0
    call MPI_Reduce(own, total, 1, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD)
    if (rank == root) then
      call check('reduce', total, size * (size + 1) / 2)
      total = own
      call MPI_Reduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD)
      call check('reduce in place', total, size * (size + 1) / 2)
    else
      call MPI_Reduce(own, total, 1, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD)
    end if
    values = 0
    if (rank == root) then
      values(rank + 1) = own
      call MPI_Gather(MPI_IN_PLACE, 1, MPI_INTEGER, values, 1, MPI_INTEGER, root, MPI_COMM_WORLD)
      do i = 1, size
        call check('gather in place', values(i), i)
      end do
      call MPI_Scatter(values, 1, MPI_INTEGER, MPI_IN_PLACE, 1, MPI_INTEGER, root, MPI_COMM_WORLD)
    else
      call MPI_Gather(own, 1, MPI_INTEGER, values, 1, MPI_INTEGER, root, MPI_COMM_WORLD)
      total = 0
      call MPI_Scatter(values, 1, MPI_INTEGER, total, 1, MPI_INTEGER, root, MPI_COMM_WORLD)
      call check('scatter', total, own)
    end if
  end do
  call MPI_Allreduce(own, total, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
  call check('allreduce', total, size)
  total = own
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call check('allreduce in place', total, size * (size + 1) / 2)
  values = 0
  call MPI_Allgather(own, 1, MPI_INTEGER, values, 1, MPI_INTEGER, MPI_COMM_WORLD)
  do i = 1, size
    call check('allgather', values(i), i)
  end do
  values = 0
  values(rank + 1) = own
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values, 1, MPI_INTEGER, MPI_COMM_WORLD)
  do i = 1, size
    call check('allgather in place', values(i), i)
  end do
  ! Blocks of one or two integers, backwards; then of others in the same arrays, and in place.
  do round = 0, 2
    do i = 1, size
      counts(i) = 1 + mod(rank + i + round, 2)
      starts(i) = 2 * (size - i)
      blocks(starts(i) + 1) = 100 * rank + i
      blocks(starts(i) + 2) = 1000 * rank + i
    end do
    received = -1
    if (round < 2) then
      call MPI_Alltoallv(blocks, counts, starts, MPI_INTEGER, received, counts, starts, MPI_INTEGER, MPI_COMM_WORLD)
    else
      received = blocks
      call MPI_Alltoallv(MPI_IN_PLACE, counts, starts, MPI_DATATYPE_NULL, received, counts, starts, MPI_INTEGER, &
                         MPI_COMM_WORLD)
    end if
    do i = 1, size
      call check('alltoallv', received(starts(i) + 1), 100 * (i - 1) + rank + 1)
      if (counts(i) == 2) call check('alltoallv, second', received(starts(i) + 2), 1000 * (i - 1) + rank + 1)
      if (counts(i) == 1 .and. round < 2) call check('alltoallv, between', received(starts(i) + 2), -1)
    end do
  end do
  ! One digit a rank, in rank order: the operation does not commute.
  call MPI_Op_create(left_heavy, .false., op)
  own = rank + 1
  call MPI_Allreduce(own, total, 1, MPI_INTEGER, op, MPI_COMM_WORLD)
  expected(1) = 0
  do i = 1, size
    expected(1) = mod(expected(1) * 10 + i, 100000000)
  end do
  call check('user operation', total, expected(1))
  call MPI_Op_free(op)
  ! Two integers by absolute address.
  mine = [10 * rank, 10 * rank + 1]
  lengths = 2
  call MPI_Get_address(mine, places(1))
  call MPI_Type_create_hindexed(1, lengths, places, MPI_INTEGER, absolute)
  call MPI_Type_commit(absolute)
  pairs = -1
  call MPI_Allgather(MPI_BOTTOM, 1, absolute, pairs, 2, MPI_INTEGER, MPI_COMM_WORLD)
  do i = 1, size
    call check('allgather bottom', pairs(2 * i), 10 * i - 9)
  end do
  if (rank == 0) mine = [70, 71]
  call MPI_Bcast(MPI_BOTTOM, 1, absolute, 0, MPI_COMM_WORLD)
  call check('bcast bottom', mine(2), 71)
  call MPI_Type_free(absolute)
  if (rank == 0) then
    write (*, '(a,i0)') 'check: bcast calls ', size * (size + 1)
    write (*, '(a,i0)') 'check: reduce calls ', 2 * size * size
    write (*, '(a,i0)') 'check: allreduce calls ', 3 * size
    write (*, '(a,i0)') 'check: gather calls ', size * size
    write (*, '(a,i0)') 'check: scatter calls ', size * size
    write (*, '(a,i0)') 'check: allgather calls ', 3 * size
    write (*, '(a,i0)') 'check: alltoallv calls ', 3 * size
  end if
  ! Every rank learns of every failure by messages that are not counted.
  all_failures = failures
  if (rank > 0) then
    call MPI_Recv(all_failures, 1, MPI_INTEGER, rank - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    all_failures = all_failures + failures
  end if
  if (rank < size - 1) call MPI_Send(all_failures, 1, MPI_INTEGER, rank + 1, 3, MPI_COMM_WORLD)
  call MPI_Finalize()
  if (all_failures > 0) stop 1

contains
subroutine check(what, ours, right)
  character(len=*) what
  integer ours, right
  if (ours == right) return
  failures = failures + 1
  write (0, '(a,i0,4a,i0,a,i0)') 'rank ', rank, ': ', what, ': ', 'ours ', ours, ', expected ', right
end subroutine
end program
