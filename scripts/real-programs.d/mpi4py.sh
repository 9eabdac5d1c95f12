# mpi4py's own tests, of the version that Debian has. How many ran and which failed is compared.
packages="python3-mpi4py python3-numpy"
needs="/usr/lib/python3/dist-packages/mpi4py"
sizes="1 2 4"
python=/usr/bin/python3

prepare() {
    local version
    version=$("$python" -c 'import mpi4py; print(mpi4py.__version__)')
    if [ ! -e "../mpi4py-$version.tar.gz" ]; then
        python3 -m pip download -q --no-deps --no-binary mpi4py "mpi4py==$version" -d ..
    fi
    tar -xzf "../mpi4py-$version.tar.gz"
}

# Spawning processes hangs in Open MPI 4.1.4 where ranks outnumber cores, without Collie too.
run() { "$@" "$python" mpi4py-*/test/runtests.py --no-builddir -q -e spawn -e dynproc; }

# Ranks write at once, so that what one says may follow on a line of another's.
lines() {
    grep -oE '((^|-)OK( \(.*)?|^(FAIL|ERROR|FAILED|status).*|(^|-)Ran [0-9]+ tests)' | sed 's/^-//' | sort
}
