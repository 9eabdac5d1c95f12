# Quantum ESPRESSO: the ground state of silicon, two atoms, ten k points in two pools. It promises energies to the
# threshold of its iterations (conv_thr, in Ry). On eight ranks ScaLAPACK diagonalises, whose calls have types and
# operations made for each of them.
packages="quantum-espresso quantum-espresso-data"
needs="pw.x /usr/share/doc/quantum-espresso/examples/EPW/sic/pp/Si.pz-vbc.UPF.gz"
tolerance=1e-7
sizes="2 4 8"

prepare() {
    gunzip -c /usr/share/doc/quantum-espresso/examples/EPW/sic/pp/Si.pz-vbc.UPF.gz >Si.UPF
    cat >silicon.in <<'IN'
&control
  calculation = 'scf', prefix = 'silicon', pseudo_dir = '.', outdir = '.', tprnfor = .true., tstress = .true.
/
&system
  ibrav = 2, celldm(1) = 10.2, nat = 2, ntyp = 1, ecutwfc = 18.0
/
&electrons
  conv_thr = 1.0d-9
/
ATOMIC_SPECIES
Si 28.086 Si.UPF
ATOMIC_POSITIONS alat
Si 0.00 0.00 0.00
Si 0.26 0.25 0.24
K_POINTS automatic
4 4 4 1 1 1
IN
}

run() { "$@" pw.x -npool 2 -in silicon.in; }

lines() {
    grep -E '^! +total energy|highest occupied|Total force|total +stress|^ +atom .* force|convergence has been|^status'
}

# "PWSCF        :      0.44s CPU      1m 0.45s WALL", of a run that lasts long enough as it is.
seconds() { sed -n 's/^ *PWSCF .* CPU *\(\([0-9]*\)m\)\? *\([0-9.]*\)s WALL$/\2 \3/p' | awk '{ print NF == 2 ? 60 * $1 + $2 : $1 }'; }
