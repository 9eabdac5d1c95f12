# OpenFOAM: icoFoam's lid-driven cavity on 20 x 20 cells, 20 steps, cut in two or four. Residuals and Courant numbers are
# compared to the digits printed but for the last ones; what is left of the continuity error is rounding.
packages="openfoam"
needs="icoFoam blockMesh decomposePar /usr/share/openfoam/etc/bashrc"
tolerance=1e-4

header() { echo "FoamFile { version 2.0; format ascii; class $1; object $2; }"; }

prepare() {
    mkdir -p system constant 0
    { header dictionary blockMeshDict; cat <<'IN'; } >system/blockMeshDict
scale 0.1;
vertices ((0 0 0) (1 0 0) (1 1 0) (0 1 0) (0 0 0.1) (1 0 0.1) (1 1 0.1) (0 1 0.1));
blocks (hex (0 1 2 3 4 5 6 7) (20 20 1) simpleGrading (1 1 1));
edges ();
boundary
(
    lid { type wall; faces ((3 7 6 2)); }
    walls { type wall; faces ((0 4 7 3) (2 6 5 1) (1 5 4 0)); }
    frontAndBack { type empty; faces ((0 3 2 1) (4 5 6 7)); }
);
IN
    { header dictionary controlDict; cat <<'IN'; } >system/controlDict
application icoFoam;
startFrom startTime; startTime 0; stopAt endTime; endTime 0.1; deltaT 0.005;
writeControl timeStep; writeInterval 20; writeFormat ascii; writePrecision 8; timePrecision 6; runTimeModifiable false;
IN
    { header dictionary fvSchemes; cat <<'IN'; } >system/fvSchemes
ddtSchemes { default Euler; }
gradSchemes { default Gauss linear; }
divSchemes { default none; div(phi,U) Gauss linear; }
laplacianSchemes { default Gauss linear orthogonal; }
interpolationSchemes { default linear; }
snGradSchemes { default orthogonal; }
IN
    { header dictionary fvSolution; cat <<'IN'; } >system/fvSolution
solvers
{
    p { solver PCG; preconditioner DIC; tolerance 1e-06; relTol 0.05; }
    pFinal { $p; relTol 0; }
    U { solver smoothSolver; smoother symGaussSeidel; tolerance 1e-05; relTol 0; }
}
PISO { nCorrectors 2; nNonOrthogonalCorrectors 0; pRefCell 0; pRefValue 0; }
IN
    { header dictionary decomposeParDict; cat <<IN; } >system/decomposeParDict
numberOfSubdomains $ranks;
method simple;
simpleCoeffs { n ($((ranks / 2)) 2 1); delta 0.001; }
IN
    { header dictionary transportProperties; echo 'nu 0.01;'; } >constant/transportProperties
    { header volScalarField p; cat <<'IN'; } >0/p
dimensions [0 2 -2 0 0 0 0];
internalField uniform 0;
boundaryField { lid { type zeroGradient; } walls { type zeroGradient; } frontAndBack { type empty; } }
IN
    { header volVectorField U; cat <<'IN'; } >0/U
dimensions [0 1 -1 0 0 0 0];
internalField uniform (0 0 0);
boundaryField
{
    lid { type fixedValue; value uniform (1 0 0); }
    walls { type noSlip; }
    frontAndBack { type empty; }
}
IN
    { foam blockMesh && foam decomposePar; } >prepare.out 2>&1
}

foam() { WM_PROJECT_DIR=/usr/share/openfoam "$@"; }

run() { foam "$@" icoFoam -parallel; }

lines() { grep -E '^Time = |Initial residual|Courant|^status'; }
