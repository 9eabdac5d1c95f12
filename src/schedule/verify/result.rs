//! Whether every rank ends with what the operation promises.

use super::buffers::{Buffers, existing};
use super::fault::{Fault, What};
use super::memory::Run;
use super::terms::Terms;
use crate::operation::Call;
use crate::schedule::Range;

/// Checks the results of all ranks.
pub fn check(call: &Call, buffers: &[Buffers], terms: &mut Terms) -> Result<(), Fault> {
    let size = buffers.len();
    let mut first: Vec<Run> = Vec::new();
    let mut runs = Vec::new();
    for (rank, of) in buffers.iter().enumerate() {
        let Some(units) = existing(call, rank, size)[1] else { continue };
        let range = Range::receive(0, units);
        runs.clear();
        let read = of.read(range, &mut runs).map_err(|what| match what {
            What::Undefined { unit, .. } => What::Missing { unit },
            other => other,
        });
        let right = read.and_then(|()| match call.operation.reduces() {
            true => reduced(call, &runs, terms),
            false => moved(call, rank, &runs),
        });
        let right = right.and_then(|()| {
            if !call.operation.reduces() {
                return Ok(());
            }
            if first.is_empty() {
                first.clone_from(&runs);
            }
            alike(call, &first, &runs, terms)
        });
        right.map_err(|what| Fault { rank, step: None, what })?;
    }
    Ok(())
}

fn reduced(call: &Call, runs: &[Run], terms: &mut Terms) -> Result<(), What> {
    for run in runs {
        let unit = run.start;
        if run.origin != unit {
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

/// Whether every unit is folded in the same way as on the first rank.
fn alike(call: &Call, first: &[Run], runs: &[Run], terms: &Terms) -> Result<(), What> {
    let key = |run: &Run| if call.commutative { terms.canonical(run.term) } else { run.term };
    let (mut i, mut j) = (0, 0);
    while i < first.len() && j < runs.len() {
        let upto = first[i].end().min(runs[j].end());
        if key(&first[i]) != key(&runs[j]) {
            return Err(What::Differs { unit: first[i].start.max(runs[j].start) });
        }
        i += usize::from(first[i].end() == upto);
        j += usize::from(runs[j].end() == upto);
    }
    Ok(())
}

/// Whether every unit is the one that the operation moves there.
fn moved(call: &Call, rank: usize, runs: &[Run]) -> Result<(), What> {
    for run in runs {
        let mut unit = run.start;
        while unit < run.end() {
            // The rank and unit that belong here, and up to where they go on in step with the run.
            let (of, wanted) = call.operation.row().origin(unit, call.count, rank, call.root);
            let upto = (unit / call.count + 1) * call.count;
            let (found, from) = (run.origin + (unit - run.start), run.term);
            if found != wanted || from as usize != of {
                return Err(What::Misplaced { unit, found, from, wanted, of: of as u32 });
            }
            unit = upto.min(run.end());
        }
    }
    Ok(())
}
