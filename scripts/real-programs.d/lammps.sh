# LAMMPS: a Lennard-Jones melt of 2,048 atoms, 100 steps. Numbers of the simulation are compared; not the times.
packages="lammps"
needs="lmp"

prepare() {
    cat >melt.in <<IN
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 8 0 8 0 8
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
compute msd all msd
thermo_style custom step temp epair etotal press c_msd[4]
thermo 10
run $((100 * effort))
IN
}

run() { "$@" lmp -in melt.in -log none; }

lines() { grep -E '^ *[0-9]+ +-?[0-9.]+ |^status'; }

seconds() { sed -n 's/^Loop time of \([0-9.e+-]*\) .*/\1/p'; }
