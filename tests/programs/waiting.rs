//! Waiting apart from working: the report must name the rank that a program makes late, and tell what the others waited.

use crate::mpi::Family;
use crate::programs::accounted;
use libtest_mimic::{Failed, Trial};
use serde_json::Value;

/// The late rank of `late_rank.c`, how often it is late on the world and on its half, and by how much at least.
const LATE: u64 = 2;
const ON_WORLD: u64 = 40;
const ON_HALF: u64 = 20;
const LATENESS_SECONDS: f64 = 0.010;

pub fn trials(family: &'static Family) -> Vec<Trial> {
    let mut trials = Vec::new();
    for sync in ["clock", "barrier"] {
        for mode in ["replace", "native", "compare"] {
            let name = format!("{}::late_rank::{sync}::{mode}", family.name);
            trials.push(Trial::test(name, move || late_rank(family, sync, mode)));
        }
    }
    trials
}

fn late_rank(family: &Family, sync: &str, mode: &str) -> Result<(), Failed> {
    let variables = [("COLLIE_SYNC", sync), ("COLLIE_MODE", mode)];
    let (outcome, report) = accounted(family, "late_rank.c", &[], 4, &variables)?;
    let report = report.whole;
    let wrong = |what: String| Failed::from(format!("{what}\n{report:#}\n{}", outcome.told()));
    if report["sync"] != sync {
        return Err(wrong(format!("sync is {}", report["sync"])));
    }
    if sync == "clock"
        && !(report["clock"]["points"] == 2 && report["clock"]["round_trip_seconds"].as_f64() > Some(0.0))
    {
        return Err(wrong("the clocks were not synchronised at the start and at the end".to_owned()));
    }
    for (members, calls) in [(4, ON_WORLD), (2, ON_HALF)] {
        let (last, compared) = last(&report, members).ok_or_else(|| wrong(format!("nobody late of {members}")))?;
        // A rank that is kept from running may be later still now and then.
        if compared != calls || last["calls"].as_u64() < Some(calls / 2 + 1) {
            return Err(wrong(format!("of {members}: rank {LATE} is last in {last} of {compared} calls")));
        }
    }
    let waiting: Vec<f64> = numbers(&report["per_rank"], "waiting_seconds");
    let working: Vec<f64> = numbers(&report["per_rank"], "collective_seconds");
    let others = LATENESS_SECONDS * ON_WORLD as f64 / 2.0;
    for rank in 0..4 {
        let late = rank as u64 == LATE;
        if waiting[rank] > working[rank] * 1.001
            || (!late && waiting[rank] < others)
            || (late && waiting[rank] > others)
        {
            return Err(wrong(format!("rank {rank} waited {} of {} s", waiting[rank], working[rank])));
        }
    }
    Ok(())
}

/// The row of the late rank, the first of its communicator, which has so many members; and the calls compared there.
fn last(report: &Value, members: usize) -> Option<(&Value, u64)> {
    let communicators = report["communicators"].as_array()?;
    let of_members = |place: usize| {
        let all = communicators[place]["members"].as_array();
        all.is_some_and(|all| all.len() == members && all.iter().any(|rank| *rank == LATE))
    };
    let first = report["late"]
        .as_array()?
        .iter()
        .find(|row| row["communicator"].as_u64().is_some_and(|place| of_members(place as usize)))?;
    let place = first["communicator"].as_u64()? as usize;
    (first["rank"] == LATE).then_some((first, communicators[place]["compared_calls"].as_u64()?))
}

fn numbers(rows: &Value, name: &str) -> Vec<f64> {
    rows.as_array().into_iter().flatten().map(|row| row[name].as_f64().unwrap_or(-1.0)).collect()
}
