# PETSc through petsc4py: a Poisson equation by conjugate gradients and by GMRES, and an eigenvalue estimate. Residuals and
# the solution's error are compared to the digits that another order of sums leaves alone.
packages="python3-petsc4py python3-numpy"
needs="/usr/lib/petscdir"
tolerance=1e-9
python=/usr/bin/python3

prepare() {
    cat >poisson.py <<'IN'
import sys
import time
import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc

n = 48
A = PETSc.Mat().createAIJ([n * n, n * n], nnz=5)
first, last = A.getOwnershipRange()
for row in range(first, last):
    i, j = divmod(row, n)
    A[row, row] = 4.0
    for k, l in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
        if 0 <= k < n and 0 <= l < n:
            A[row, k * n + l] = -1.0
A.assemble()
exact, b = A.createVecs()
for row in range(first, last):
    exact[row] = (row % 17) / 17.0
exact.assemble()
A.mult(exact, b)
PETSc.COMM_WORLD.barrier()
begun = time.monotonic()
for method, preconditioner in (("cg", "jacobi"), ("gmres", "bjacobi"), ("bcgs", "none")) * EFFORT:
    x = A.createVecLeft()
    ksp = PETSc.KSP().create()
    ksp.setOperators(A)
    ksp.setType(method)
    ksp.getPC().setType(preconditioner)
    ksp.setTolerances(rtol=1e-12, max_it=2000)
    ksp.setConvergenceHistory()
    ksp.setComputeSingularValues(method == "cg")
    ksp.solve(b, x)
    history = ksp.getConvergenceHistory()
    x.axpy(-1.0, exact)
    PETSc.Sys.Print("%s converged %s, norm of b %.12g" % (method, ksp.reason > 0, b.norm()))
    for step in range(0, 30, 3):
        PETSc.Sys.Print("%s residual %d: %.12g" % (method, step, history[step]))
    PETSc.Sys.Print("%s error below 1e-7: %s" % (method, x.norm(PETSc.NormType.INFINITY) < 1e-7))
PETSc.COMM_WORLD.barrier()
PETSc.Sys.Print("took %.6f s" % (time.monotonic() - begun))
IN
    sed -i "s/EFFORT/$((effort == 1 ? 1 : 5 * effort))/" poisson.py
}

# Which of Debian's builds; petsc4py finds no other without being told where no default has been chosen.
run() { PETSC_DIR=$(echo /usr/lib/petscdir/petsc*/*-real) "$@" "$python" poisson.py; }

lines() { grep -E 'converged|residual|error|^status'; }

seconds() { sed -n 's/^took \([0-9.]*\) s$/\1/p'; }
