//! What a buffer holds, as runs of units, so that a count of a million costs no more than a count of one.

use super::terms::{Term, Terms};

/// `len` units from `start` on, unit `start + i` holding `term` of the ranks' units `origin + i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    pub start: usize,
    pub len: usize,
    pub term: Term,
    pub origin: usize,
}

impl Run {
    pub const fn end(&self) -> usize {
        self.start + self.len
    }

    /// The part between two units; both inside the run.
    const fn between(&self, start: usize, end: usize) -> Self {
        Self { start, len: end - start, term: self.term, origin: self.origin + (start - self.start) }
    }

    fn continues(&self, before: &Self) -> bool {
        before.end() == self.start && before.term == self.term && before.origin + before.len == self.origin
    }
}

/// Adds `run` behind `runs`, as part of the last one where it continues it.
fn push(runs: &mut Vec<Run>, run: Run) {
    match runs.last_mut() {
        Some(last) if run.continues(last) => last.len += run.len,
        _ => runs.push(run),
    }
}

/// The contents of one buffer: disjoint runs in order; a unit in no run was never written.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    runs: Vec<Run>,
}

impl Memory {
    /// Everything that was written, in order.
    pub fn runs(&self) -> impl Iterator<Item = Run> {
        self.runs.iter().copied()
    }

    /// Appends the runs of `start..start + len` to `out`, their starts counted from `start`.
    ///
    /// # Errors
    /// The first unit that was never written.
    pub fn read(&self, start: usize, len: usize, out: &mut Vec<Run>) -> Result<(), usize> {
        let end = start + len;
        let mut next = start;
        let first = self.runs.partition_point(|run| run.end() <= start);
        for run in &self.runs[first..] {
            if next == end {
                break;
            }
            if run.start > next {
                return Err(next);
            }
            let upto = run.end().min(end);
            let mut part = run.between(next, upto);
            part.start -= start;
            out.push(part);
            next = upto;
        }
        if next < end { Err(next) } else { Ok(()) }
    }

    /// Replaces what is in `start..start + len` by `new`, whose starts count from `start` and which cover it.
    pub fn write(&mut self, start: usize, len: usize, new: &[Run]) {
        let end = start + len;
        let mut first = self.runs.partition_point(|run| run.end() <= start);
        let mut last = first + self.runs[first..].partition_point(|run| run.start < end);
        let mut pieces = Vec::with_capacity(new.len() + 4);
        // The neighbours take part, so that what continues them becomes one run with them.
        if first > 0 && self.runs[first - 1].end() == start {
            first -= 1;
        }
        if first < last && self.runs[first].start < start {
            let run = self.runs[first];
            pieces.push(run.between(run.start, run.end().min(start)));
        }
        for run in new {
            push(&mut pieces, Run { start: run.start + start, ..*run });
        }
        if last > first && self.runs[last - 1].end() > end {
            let run = self.runs[last - 1];
            push(&mut pieces, run.between(end, run.end()));
        } else if last < self.runs.len() && self.runs[last].start == end {
            push(&mut pieces, self.runs[last]);
            last += 1;
        }
        self.runs.splice(first..last, pieces);
    }
}

/// Appends `left[i] ∘ right[i]` to `out`; both cover the same units from 0 on.
///
/// # Errors
/// The first unit whose two sides stem from different units, with these.
pub fn fold(terms: &mut Terms, left: &[Run], right: &[Run], out: &mut Vec<Run>) -> Result<(), (usize, usize, usize)> {
    let (mut i, mut j, mut next) = (0, 0, 0);
    while i < left.len() && j < right.len() {
        let upto = left[i].end().min(right[j].end());
        let (a, b) = (left[i].between(next, upto), right[j].between(next, upto));
        if a.origin != b.origin {
            return Err((next, a.origin, b.origin));
        }
        push(out, Run { term: terms.fold(a.term, b.term), ..a });
        next = upto;
        i += usize::from(left[i].end() == upto);
        j += usize::from(right[j].end() == upto);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The naive oracle: one entry per unit.
    fn units(memory: &Memory, len: usize) -> Vec<Option<(Term, usize)>> {
        let mut out = vec![None; len];
        for run in &memory.runs {
            for i in 0..run.len {
                out[run.start + i] = Some((run.term, run.origin + i));
            }
        }
        out
    }

    #[test]
    fn writes_agree_with_one_entry_per_unit_and_runs_stay_merged() {
        let mut state = 12345u32;
        let mut random = |below: usize| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) as usize % below
        };
        for _ in 0..300 {
            let (mut memory, mut naive) = (Memory::default(), vec![None; 24]);
            for _ in 0..20 {
                let start = random(23);
                let len = 1 + random(24 - start);
                let term = random(2) as Term;
                memory.write(start, len, &[Run { start: 0, len, term, origin: start }]);
                naive[start..start + len].iter_mut().enumerate().for_each(|(i, unit)| *unit = Some((term, start + i)));
                assert_eq!(units(&memory, 24), naive);
                assert!(memory.runs.windows(2).all(|pair| !pair[1].continues(&pair[0])));
            }
            let mut read = Vec::new();
            let whole = memory.read(3, 9, &mut read);
            assert_eq!(whole.err(), (3..12).find(|unit| naive[*unit].is_none()));
        }
    }
}
