# NWChem: Hartree-Fock and B3LYP of a water molecule with gradients. It promises energies to the
# thresholds of its iterations. Debian 12's build for MPICH is left out: its Hartree-Fock does not converge on two ranks, with
# and without Collie.
packages="nwchem-openmpi nwchem-data"
needs="nwchem.openmpi /usr/share/nwchem/libraries"
tolerance=2e-6

prepare() {
    cat >water.nw <<'IN'
start water
memory total 400 mb
geometry units angstroms noautosym
  O 0.0 0.0 0.1173
  H 0.0 0.7572 -0.4692
  H 0.0 -0.7572 -0.4692
end
basis
  * library 6-31g*
end
scf
  thresh 1e-8
end
task scf gradient
dft
  xc b3lyp
  convergence energy 1e-8
end
task dft gradient
IN
}

run() { NWCHEM_BASIS_LIBRARY=/usr/share/nwchem/libraries/ "$@" nwchem.openmpi water.nw; }

lines() { grep -E 'Total (SCF|DFT) energy|Nuclear repulsion|^ +[123] +[OH] +-?[0-9]|^status'; }
