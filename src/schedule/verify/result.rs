//! Whether every rank ends with what the operation promises.

use super::buffers::{Buffers, LENGTHS};
use super::fault::{Fault, What};
use super::memory::Run;
use super::terms::Terms;
use crate::operation::Call;
use crate::schedule::{Program, Range};

/// Checks the results of all ranks.
pub fn check(call: &Call, buffers: &[Buffers], terms: &mut Terms) -> Result<(), Fault> {
    let size = buffers.len();
    let mut first: Vec<Run> = Vec::new();
    let mut runs = Vec::new();
    for (rank, of) in buffers.iter().enumerate() {
        let results = call.results(rank, size);
        for range in &results {
            runs.clear();
            let read = of.read(*range, &mut runs).map_err(|what| match what {
                What::Undefined { unit, .. } => What::Missing { unit },
                other => other,
            });
            let right = read.and_then(|()| match call.operation.reduces() {
                true => reduced(call, rank, range.start, &runs, terms),
                false => moved(call, rank, range.start, &runs),
            });
            let right = right.and_then(|()| {
                if !call.operation.gives_one_result() {
                    return Ok(());
                }
                if first.is_empty() {
                    first.clone_from(&runs);
                }
                alike(&first, &runs)
            });
            right.map_err(|what| Fault { rank, step: None, what })?;
        }
        if let Some(unit) = of.written_outside(&results).filter(|_| !results.is_empty()) {
            return Err(Fault { rank, step: None, what: What::BetweenBlocks { unit } });
        }
    }
    Ok(())
}

/// Checks that the lengths which the bodies rest on are those that arrived.
pub fn check_lengths(call: &Call, programs: &[Program], buffers: &[Buffers]) -> Result<(), Fault> {
    let (size, word) = (buffers.len(), call.word());
    for (rank, (program, of)) in programs.iter().zip(buffers).enumerate() {
        for (number, (from, to)) in program.learned.iter().copied().enumerate() {
            let mut runs = Vec::new();
            let read = of.read(Range::lengths((size + number) * word, word), &mut runs);
            let right = |run: &Run| run.len == word && run.term as usize == from && run.origin == LENGTHS + to * word;
            if read.is_err() || !runs.first().is_some_and(right) {
                return Err(Fault { rank, step: None, what: What::Length { number, from, to } });
            }
        }
    }
    Ok(())
}

/// Whether every unit is folded out of everybody's unit that belongs there.
fn reduced(call: &Call, rank: usize, start: usize, runs: &[Run], terms: &mut Terms) -> Result<(), What> {
    for run in runs {
        let unit = start + run.start;
        if run.origin != call.operation.row().origin(unit, call.count, rank, call.root).1 {
            return Err(What::Shifted { unit, found: run.origin });
        }
        if terms.complete_in_order(run.term) {
            continue;
        }
        if !terms.complete(run.term) {
            return Err(What::Incomplete { unit, found: terms.describe(run.term) });
        }
        if !call.commutative {
            return Err(What::Order { unit, found: terms.describe(run.term) });
        }
    }
    Ok(())
}

/// Whether every unit is folded in the same way as on the first rank, each side where it is there: an operation that commutes
/// may still give other bits for the sides changed, as a maximum does of a number and a NaN.
fn alike(first: &[Run], runs: &[Run]) -> Result<(), What> {
    let (mut i, mut j) = (0, 0);
    while i < first.len() && j < runs.len() {
        let upto = first[i].end().min(runs[j].end());
        if first[i].term != runs[j].term {
            return Err(What::Differs { unit: first[i].start.max(runs[j].start) });
        }
        i += usize::from(first[i].end() == upto);
        j += usize::from(runs[j].end() == upto);
    }
    Ok(())
}

/// Whether every unit is the one that the operation moves there.
fn moved(call: &Call, rank: usize, start: usize, runs: &[Run]) -> Result<(), What> {
    for run in runs {
        let mut passed = 0;
        while passed < run.len {
            let unit = start + run.start + passed;
            let wanted = call.origin(unit, rank).expect("something belongs in every part of a result");
            let (found, from) = (run.origin + passed, run.term);
            if found != wanted.unit || from as usize != wanted.rank {
                return Err(What::Misplaced { unit, found, from, wanted: wanted.unit, of: wanted.rank as u32 });
            }
            passed += wanted.len;
        }
    }
    Ok(())
}
