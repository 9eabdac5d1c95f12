//! Compiles the shim that turns MPI's macros into symbols, with the compiler wrapper that `MPICC` names, and tells the
//! crate which family of MPI it is built for. Without the feature `mpi` there is nothing to do.

use std::env;
use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for variable in ["MPICC", "MPI_HEADERS_OF", "MPI_HEADERS", "MPI_HEADERS_CFLAGS"] {
        println!("cargo:rerun-if-env-changed={variable}");
    }
    println!("cargo:rustc-check-cfg=cfg(mpi_family, values(\"openmpi\", \"mpich\"))");
    println!("cargo:rustc-check-cfg=cfg(mpi_abi)");
    println!("cargo:rustc-check-cfg=cfg(mpi_large_count)");
    link_with_old_glibc();
    if env::var_os("CARGO_FEATURE_MPI").is_none() {
        return;
    }
    let library = match build_probe_mpi::probe() {
        Ok(library) => library,
        Err(reasons) => {
            let reasons: Vec<_> = reasons.iter().map(ToString::to_string).collect();
            panic!(
                "no MPI found; set MPICC to an MPI compiler wrapper, e.g. MPICC=mpicc.openmpi\n{}",
                reasons.join("\n")
            );
        }
    };
    describe_family(&library);
    compile_shim(&library);
    bind_lazily(&library);
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libcollie.so");
    // The system and the MPI library hold addresses of functions here: what frees a thread's data, and callbacks.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}

/// Has what is linked run on systems as old as a version of glibc, whose start file and libraries scripts/old-glibc has
/// made.
fn link_with_old_glibc() {
    println!("cargo:rerun-if-env-changed=OLD_GLIBC");
    if let Some(folder) = env::var_os("OLD_GLIBC") {
        let folder = folder.to_string_lossy();
        // libgcc_s of this machine needs its newer glibc; the user's own does not.
        for argument in [format!("-B{folder}"), format!("-L{folder}"), "-Wl,--allow-shlib-undefined".to_owned()] {
            println!("cargo:rustc-link-arg={argument}");
        }
    }
}

/// Leaves the procedures of MPI to be found in the process, at the first call of each (see src/mpi/library.rs).
fn bind_lazily(library: &build_probe_mpi::Library) {
    if !library.libs.is_empty() {
        println!(
            "cargo:warning=this build needs the MPI library of MPICC itself; for one that runs under any of its family \
             use scripts/build"
        );
    }
    // Only then does the compiler emit calls that can be bound late.
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    if !flags.contains("relro-level=partial") {
        println!("cargo:warning=without RUSTFLAGS='-C relro-level=partial' the library can be loaded only beside MPI");
    }
    for argument in ["-Wl,--unresolved-symbols=ignore-all", "-Wl,-z,lazy"] {
        println!("cargo:rustc-link-arg={argument}");
    }
    // What a program leaves open stays a symbol only if all its symbols are.
    println!("cargo:rustc-link-arg-bins=-Wl,--export-dynamic");
    println!("cargo:rustc-link-arg-tests=-Wl,--export-dynamic");
}

/// A C compiler for MPI sources.
fn compiler(library: &build_probe_mpi::Library) -> cc::Build {
    let mut build = cc::Build::new();
    match &library.mpicc {
        Some(mpicc) => {
            build.compiler(mpicc);
        }
        None => {
            build.includes(&library.include_paths);
        }
    }
    build
}

/// Sets `mpi_family`, `mpi_abi` and `mpi_large_count` from what mpi.h says of itself.
fn describe_family(library: &build_probe_mpi::Library) {
    let probe = Path::new(&env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("family.c");
    let text = "#include <mpi.h>\n#ifdef OPEN_MPI\ncollie_family openmpi\n#else\ncollie_family mpich\n#endif\n\
                collie_version MPI_VERSION\n#ifdef MPI_ABI_VERSION\ncollie_abi yes\n#else\ncollie_abi no\n#endif\n";
    std::fs::write(&probe, text).expect("OUT_DIR is writable");
    let expanded = compiler(library).file(&probe).expand();
    let expanded = String::from_utf8_lossy(&expanded);
    let value = |key: &str| {
        let line = expanded.lines().find_map(|line| line.trim().strip_prefix(key));
        line.unwrap_or_else(|| panic!("mpi.h of MPICC does not say its {key}")).trim().to_owned()
    };
    println!("cargo:rustc-cfg=mpi_family=\"{}\"", value("collie_family"));
    if value("collie_abi") == "yes" {
        println!("cargo:rustc-cfg=mpi_abi");
    }
    // Exporting the large-count forms where the MPI has none would make mpi4py call them.
    let large_count = value("collie_version").parse::<u32>().is_ok_and(|version| version >= 4);
    if large_count || expanded.contains("PMPI_Bcast_c") {
        println!("cargo:rustc-cfg=mpi_large_count");
    }
}

fn compile_shim(library: &build_probe_mpi::Library) {
    println!("cargo:rerun-if-changed=src/mpi/shim.c");
    compiler(library).file("src/mpi/shim.c").warnings(true).compile("collie_shim");
}
