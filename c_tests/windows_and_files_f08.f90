! One-sided communication and files with mpi_f08, without error arguments: as windows_and_files.c.
program windows_and_files
  use mpi_f08
  implicit none
  integer :: rank, other, own, got(2), four(4), i
  integer, asynchronous :: window(4)
  integer(8) :: from, now, rate
  integer(MPI_ADDRESS_KIND) :: size, place
  integer(MPI_OFFSET_KIND) :: offset
  character(len=1000) :: name
  type(MPI_Win) :: win
  type(MPI_File) :: file
  type(MPI_Status) :: status
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call get_environment_variable('WINDOWS_AND_FILES', name)
  other = 1 - rank
  window = 0
  own = 5
  size = 16
  call MPI_Win_create(window, size, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
  if (rank == 1) then
    call system_clock(from, rate)
    do
      call system_clock(now)
      if (now - from >= rate / 20) exit
    end do
  end if
  call MPI_Win_fence(0, win)
  place = 0
  call MPI_Put(own, 1, MPI_INTEGER, other, place, 1, MPI_INTEGER, win)
  place = 2
  call MPI_Get(got, 2, MPI_INTEGER, other, place, 2, MPI_INTEGER, win)
  place = 1
  call MPI_Fetch_and_op(own, i, MPI_INTEGER, other, place, MPI_SUM, win)
  call MPI_Win_fence(0, win)
  if (window(1) /= 5) call MPI_Abort(MPI_COMM_WORLD, 1)
  call MPI_Win_free(win)
  call MPI_File_open(MPI_COMM_WORLD, trim(name), ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_INFO_NULL, file)
  four = [(4 * rank + i, i = 0, 3)]
  offset = 16 * rank
  call MPI_File_write_at_all(file, offset, four, 4, MPI_INTEGER, status)
  offset = offset + 4
  call MPI_File_read_at(file, offset, own, 1, MPI_INTEGER, status)
  if (own /= 4 * rank + 1) call MPI_Abort(MPI_COMM_WORLD, 2)
  call MPI_File_close(file)
  if (rank == 0) call MPI_File_delete(trim(name), MPI_INFO_NULL)
  call MPI_Finalize()
end program
