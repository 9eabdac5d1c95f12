# GROMACS in double precision: 216 SPC/E waters with PME electrostatics, 50 steps. The energies of its log are compared,
# which sums over ranks in another order may change in the last digits.
packages="gromacs gromacs-data"
needs="gmx_mpi_d gmx_d /usr/share/gromacs/top/spc216.gro"
tolerance=2e-5

prepare() {
    cat >water.top <<'IN'
#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spce.itp"
[ system ]
water
[ molecules ]
SOL 216
IN
    cat >water.mdp <<'IN'
integrator = md
dt = 0.001
nsteps = 50
nstlog = 10
nstenergy = 10
nstcalcenergy = 1
cutoff-scheme = Verlet
coulombtype = PME
rcoulomb = 0.75
rvdw = 0.75
fourierspacing = 0.12
verlet-buffer-tolerance = -1
rlist = 0.8
gen_vel = yes
gen_temp = 300
gen_seed = 1
IN
    gmx_d grompp -f water.mdp -c /usr/share/gromacs/top/spc216.gro -p water.top -o water.tpr -maxwarn 5 >grompp.out 2>&1
}

run() {
    rm -f water.log
    "$@" gmx_mpi_d mdrun -s water.tpr -deffnm water -g water.log -reprod -npme 0 -ntomp 1 -pin off || return $?
    cat water.log
}

# The blocks of energies, up to the averages at the end.
lines() { awk '/^status/; /A V E R A G E S/ {exit} /Energies/ {on = 1} on; /^ *$/ {on = 0}'; }
