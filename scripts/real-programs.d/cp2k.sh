# CP2K: the energy and the forces of a water molecule, PBE with Gaussians and plane waves. Its energies converge to
# EPS_SCF.
packages="cp2k cp2k-data"
needs="cp2k.psmp /usr/share/cp2k/BASIS_MOLOPT"
tolerance=1e-6

prepare() {
    cat >water.inp <<'IN'
&GLOBAL
  PROJECT water
  RUN_TYPE ENERGY_FORCE
  PRINT_LEVEL LOW
&END GLOBAL
&FORCE_EVAL
  METHOD Quickstep
  &DFT
    BASIS_SET_FILE_NAME BASIS_MOLOPT
    POTENTIAL_FILE_NAME GTH_POTENTIALS
    &MGRID
      CUTOFF 200
    &END MGRID
    &SCF
      EPS_SCF 1.0E-7
      SCF_GUESS ATOMIC
      MAX_SCF 60
    &END SCF
    &XC
      &XC_FUNCTIONAL PBE
      &END XC_FUNCTIONAL
    &END XC
  &END DFT
  &PRINT
    &FORCES ON
    &END FORCES
  &END PRINT
  &SUBSYS
    &CELL
      ABC 6.0 6.0 6.0
    &END CELL
    &COORD
      O 3.0000 3.0000 3.1173
      H 3.0000 3.7572 2.5308
      H 3.0000 2.2428 2.5308
    &END COORD
    &KIND O
      BASIS_SET DZVP-MOLOPT-SR-GTH
      POTENTIAL GTH-PBE-q6
    &END KIND
    &KIND H
      BASIS_SET DZVP-MOLOPT-SR-GTH
      POTENTIAL GTH-PBE-q1
    &END KIND
  &END SUBSYS
&END FORCE_EVAL
IN
}

run() { CP2K_DATA_DIR=/usr/share/cp2k "$@" cp2k.psmp water.inp; }

lines() { grep -E 'ENERGY\||^ +[0-9]+ +[12] +[HO] |SCF run converged in|^status'; }
