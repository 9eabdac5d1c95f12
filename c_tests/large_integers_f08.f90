! What mpi_f08 of MPI 4 has for large integers, and the one persistent collective without buffers.
program large_integers
  use, intrinsic :: iso_c_binding, only : c_ptr, c_f_pointer
  use mpi_f08
  implicit none
  integer(MPI_ADDRESS_KIND) :: size, unit
  integer(MPI_COUNT_KIND) :: detached
  integer, pointer :: window(:)
  integer, asynchronous :: buffer(1024)
  type(c_ptr) :: base
  type(MPI_Win) :: win
  type(MPI_Request) :: request
  integer :: i
  call MPI_Init()
  size = 16
  unit = 4
  call MPI_Win_allocate(size, unit, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
  call c_f_pointer(base, window, [4])
  window = 1
  call MPI_Win_free(win)
  call MPI_Win_allocate_shared(size, unit, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
  call MPI_Win_free(win)
  call MPI_Buffer_attach(buffer, 4096)
  call MPI_Buffer_detach(base, detached)
  if (detached /= 4096) call MPI_Abort(MPI_COMM_WORLD, 1)
  call MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, request)
  do i = 1, 3
    call MPI_Start(request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
  end do
  call MPI_Request_free(request)
  call MPI_Finalize()
end program
