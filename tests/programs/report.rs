//! What a run's JSON report must account for.

use crate::job::Outcome;
use libtest_mimic::Failed;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// One row of the report.
#[derive(Debug)]
pub struct Row {
    pub function: String,
    pub algorithm: String,
    pub decided_by: String,
    pub calls: u64,
}

/// A report, deleted from disk when read.
#[derive(Debug)]
pub struct Report {
    pub rows: Vec<Row>,
    pub whole: Value,
}

/// A name for a report that no other test uses.
pub fn fresh() -> PathBuf {
    static GIVEN: AtomicU64 = AtomicU64::new(0);
    let number = GIVEN.fetch_add(1, Ordering::Relaxed);
    crate::mpi::scratch().join(format!("report-{}-{number}.json", std::process::id()))
}

impl Report {
    pub fn read(path: &Path, outcome: &Outcome) -> Result<Self, Failed> {
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|error| format!("no report {}: {error}\n{}", path.display(), outcome.told()))?;
        std::fs::remove_file(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let whole: Value =
            serde_json::from_str(&text).map_err(|error| format!("the report is no JSON: {error}\n{text}"))?;
        let rows = whole["rows"].as_array().ok_or("the report has no rows")?;
        let text = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let rows = rows.iter().map(|row| Row {
            function: text(row, "function"),
            algorithm: text(row, "algorithm"),
            decided_by: text(row, "decided_by"),
            calls: row["calls_all_ranks"].as_u64().unwrap_or_default(),
        });
        Ok(Self { rows: rows.collect(), whole })
    }

    /// Calls of all ranks that `wanted` picks.
    pub fn calls(&self, wanted: impl Fn(&Row) -> bool) -> u64 {
        self.rows.iter().filter(|row| wanted(row)).map(|row| row.calls).sum()
    }

    /// Every call that the program says it made is in the report once.
    pub fn accounts_for(&self, outcome: &Outcome) -> Result<(), Failed> {
        let mut made = BTreeMap::new();
        for line in outcome.stdout.lines() {
            let Some((operation, calls)) = line.strip_prefix("check: ").and_then(|line| line.split_once(" calls "))
            else {
                continue;
            };
            let calls: u64 = calls.trim().parse().map_err(|_| format!("the program printed '{line}'"))?;
            made.insert(operation.to_owned(), calls);
        }
        // A program says nothing of what it never calls, and the report must not either.
        for operation in ["bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "barrier"] {
            made.entry(operation.to_owned()).or_default();
        }
        for (operation, made) in made {
            let name = format!("mpi_{operation}");
            let told = self.calls(|row| {
                let function = row.function.to_lowercase();
                function == name || function == format!("{name}_c")
            });
            if made != told {
                let rows: Vec<_> = self.rows.iter().map(|row| format!("{row:?}")).collect();
                let rows = rows.join("\n");
                return Err(
                    format!("{operation}: {made} calls, {told} in the report\n{rows}\n{}", outcome.told()).into()
                );
            }
        }
        Ok(())
    }
}
