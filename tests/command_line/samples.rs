//! Files that several subcommands read.

use std::path::Path;

/// A report of `collie bench`: bcast of 512 bytes among eight ranks.
pub const MEASURED: &str = r#"{"schema_version": 1, "collie_version": "1", "mpi_library": "An MPI 4.0", "cold": false, "runs": 1, "seed": 1,
    "cells": [{"operation": "bcast", "datatype": "double", "root": 0, "bytes": 512, "ranks": 8, "ranks_per_node": [8],
        "oversubscribed": false, "rounds": 100, "variants": [
        {"variant": "native", "algorithm": "native", "seconds": {"median": 1e-5, "p10": 9e-6, "p90": 2e-5, "min": 8e-6}},
        {"variant": "binomial", "algorithm": "binomial:segment=none",
         "seconds": {"median": 5e-6, "p10": 4e-6, "p90": 6e-6, "min": 4e-6},
         "against_native": {"ratio": 2.0, "low": 1.8, "high": 2.2}}]}]}"#;

/// A report of a run of mode compare, from the snapshot that holds how these are written.
pub fn compared() -> String {
    let snapshot =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/compared.json.snap"));
    snapshot.unwrap().rsplit_once("---\n").unwrap().1.replace("ring:segment=128K", "ring")
}

/// The JSON report of a fixed run.
pub const RECORDED: &str = include_str!("../snapshots/compared.json.snap");
