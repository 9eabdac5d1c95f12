# ScaLAPACK's own tests of LU, Cholesky and orthogonal factorisations, which compare with residuals of their own, on grids of
# all ranks. What was tested and its verdict are compared; not the times. Their tests of iterative refinement stay off: on 1 x 4
# ranks they end in an error or not at all, without Collie too.
packages="scalapack-mpi-test"
needs="/usr/lib/$(uname -m)-linux-gnu/scalapack/@family-tests/xdlu"
families="openmpi mpich"

prepare() {
    local grids="2\t\tgrids\n1 $((ranks / 2))\t\tP\n$ranks 2\t\tQ"
    printf "%b\n" "'LU'" "'of all ranks'" "'LU.out'" "6\tdevice" "2\n60 81\tM\n60 70\tN" "2\n5 8\tNB" "2\n1 9\tNRHS" \
        "2\n2 5\tNBRHS" "$grids" "1.0\tthreshold" "F\trefinement" >LU.dat
    printf "%b\n" "'LLT'" "'of all ranks'" "'LLT.out'" "6\tdevice" "'U'" "2\n60 81\tN" "2\n5 8\tNB" "2\n1 9\tNRHS" \
        "2\n2 5\tNBRHS" "$grids" "3.0\tthreshold" "F\trefinement" >LLT.dat
    printf "%b\n" "'QR'" "'of all ranks'" "'QR.out'" "6\tdevice" "6\n'QR' 'QL' 'LQ' 'RQ' 'QP' 'TZ'" "2\n40 50\tM\n30 60\tN" \
        "2\n5 6\tMB\n4 6\tNB" "$grids" "5.0\tthreshold" >QR.dat
}

run() {
    local test
    for test in xdlu xdllt xdqr; do
        "$@" "/usr/lib/$(uname -m)-linux-gnu/scalapack/$family-tests/$test" || return $?
    done
}

# Without times, speeds and residuals: all but the last word of a result's line are its sizes.
lines() { grep -E 'PASSED|FAILED|tests? (completed|passed|failed|skipped)|^status' | sed -E 's/ +[0-9]+\.[0-9.E+-]+//g'; }
