/* One-sided communication and files, in calls of known numbers, on two ranks; rank 1 comes 50 ms late to the first fence. The file
 * is named by WINDOWS_AND_FILES. */
#include "check.h"
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int window[4] = {0}, own = 5, got[2] = {0}, four[4], other, added = 3, before = 0;
    const char *name = getenv("WINDOWS_AND_FILES");
    MPI_Win win;
    MPI_File file;
    MPI_Status status;
    check_start(&argc, &argv);
    REQUIRE(check_size == 2 && name, "for two ranks, and a file");
    other = 1 - check_rank;
    OK(MPI_Win_create(window, sizeof window, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    if (check_rank == 1) usleep(50000);
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(&own, 1, MPI_INT, other, 0, 1, MPI_INT, win));
    OK(MPI_Get(got, 2, MPI_INT, other, 2, 2, MPI_INT, win));
    OK(MPI_Fetch_and_op(&added, &before, MPI_INT, other, 1, MPI_SUM, win));
    OK(MPI_Win_fence(0, win));
    REQUIRE(window[0] == 5 && window[1] == 3 && before == 0, "put %d, added %d to %d", window[0], window[1], before);
    OK(MPI_Win_free(&win));
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    for (int i = 0; i < 4; i++) four[i] = 4 * check_rank + i;
    OK(MPI_File_write_at_all(file, 16 * check_rank, four, 4, MPI_INT, &status));
    OK(MPI_File_read_at(file, 16 * check_rank + 4, &own, 1, MPI_INT, &status));
    REQUIRE(own == 4 * check_rank + 1, "read %d", own);
    OK(MPI_File_close(&file));
    if (check_rank == 0) OK(MPI_File_delete(name, MPI_INFO_NULL));
    return check_finish();
}
