! A region from Fortran, with blanks behind its name.
program regions
  use mpi_f08
  implicit none
  integer :: i, one, sum
  character(len=20) :: name
  external :: collie_region_begin, collie_region_end
  call MPI_Init()
  name = 'in fortran'
  one = 1
  do i = 1, 3
    call collie_region_begin(name)
    call MPI_Allreduce(one, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call collie_region_end('in fortran')
  end do
  call MPI_Finalize()
end program
