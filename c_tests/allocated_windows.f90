! Windows of memory that MPI allocates, by the names that `use mpi` has for pointers of C.
program allocated_windows
  use, intrinsic :: iso_c_binding, only : c_ptr, c_f_pointer
  use mpi
  implicit none
  integer :: ierror, win
  integer(MPI_ADDRESS_KIND) :: size
  type(c_ptr) :: base
  integer, pointer :: window(:)
  call MPI_Init(ierror)
  size = 16
  call MPI_Win_allocate(size, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierror)
  call c_f_pointer(base, window, [4])
  window = 1
  call MPI_Win_free(win, ierror)
  call MPI_Win_allocate_shared(size, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierror)
  call c_f_pointer(base, window, [4])
  window = 2
  call MPI_Win_free(win, ierror)
  call MPI_Finalize(ierror)
end program
