# MUMPS: the package's test program on the five-point Laplacian of 40 x 40 points, whose solution is known. MUMPS solves to
# the rounding errors of a well-conditioned system.
packages="mumps-test"
needs="/usr/lib/mumps/dsimpletest"
tolerance=1e-9

prepare() {
    awk -v n=40 'function entry(k, l, v) { if (l > 0) { printf "%d %d %.1f\n", k, l, v; b[k] += v * (l % 10) } }
        BEGIN {
            N = n * n
            printf "%d :N\n%d :NZ\n", N, 5 * N - 4 * n
            for (i = 0; i < n; i++) for (j = 1; j <= n; j++) {
                k = i * n + j
                entry(k, k, 4)
                entry(k, i > 0 ? k - n : 0, -1); entry(k, i < n - 1 ? k + n : 0, -1)
                entry(k, j > 1 ? k - 1 : 0, -1); entry(k, j < n ? k + 1 : 0, -1)
            }
            for (k = 1; k <= N; k++) printf "%.1f\n", b[k]
        }' >laplacian
}

run() { "$@" /usr/lib/mumps/dsimpletest <laplacian; }

# One number a line, from "Solution is" on.
lines() { awk '/^status/; /Entering DMUMPS/ {on = 0} /Solution is/ {on = 1} on' | tr -s ' ' '\n'; }
