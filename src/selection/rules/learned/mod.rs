//! Rules that were learned (`COLLIE_LEARN`): each stands below the evidence that it rests on, a line for each kind of
//! call.
//!
//! ```text
//! #: {"machine":"AMD EPYC 7B13, 2 cores","mpi":"Open MPI v4.1.4","date":"2026-11-22","function":"MPI_Allreduce",…}
//! allreduce   4          4K-8191        ring if one_node and commutative and no_shared_memory and …
//! ```
//!
//! A rule follows from its evidence. Where it says something else somebody has edited it, and it is theirs. All that is
//! not evidence, or a rule that follows from it, stays as it is written and where it is.

mod evidence;
mod line;
mod rule;

pub use evidence::{Learned, MARK, Tried};
pub use rule::LearnedRule;

use super::Rule;
use line::{bare, end_of, is_comment};
use std::fmt::{Display, Formatter};

/// What a file begins with that had nothing in it.
const HEAD: [&str; 2] = [
    "# What Collie has learned while programs ran (COLLIE_MODE=learn, COLLIE_LEARN): rules, each below its evidence.",
    "# operation ranks      bytes          algorithm",
];

/// Whether a line is one of those with which a file begins.
pub(super) fn is_head(line: &str) -> bool {
    HEAD.contains(&bare(line))
}

/// A file of rules that were learned.
#[derive(Clone, Debug)]
pub struct LearnedRules {
    rules: Vec<LearnedRule>,
    /// The lines below the last of them.
    below: Vec<String>,
    /// How lines end.
    end: &'static str,
}

impl LearnedRules {
    /// Reads a file's text, whatever it is.
    pub fn read(text: &str) -> Self {
        let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let (mut rules, mut lines, mut first) = (Vec::new(), Vec::new(), 0);
        for (number, line) in (1..).zip(text.split_inclusive('\n')) {
            if is_comment(line) {
                lines.push(line.to_owned());
                continue;
            }
            match LearnedRule::read(std::mem::take(&mut lines), first, line, number) {
                Ok(rule) => rules.push(rule),
                Err(above) => lines = above.into_iter().chain([line.to_owned()]).collect(),
            }
            first = lines.len();
        }
        Self { rules, below: lines, end }
    }

    /// The rules, in the file's order.
    pub fn iter(&self) -> impl Iterator<Item = &LearnedRule> {
        self.rules.iter()
    }

    /// Where anything was learned, machine and MPI library, in the file's order.
    pub fn places(&self) -> Vec<(&str, &str)> {
        let mut places = Vec::new();
        for (_, learned) in self.rules.iter().flat_map(|rule| &rule.evidence) {
            let place = (&*learned.machine, &*learned.mpi);
            if !places.contains(&place) {
                places.push(place);
            }
        }
        places
    }

    /// Whether the rule of that line stands below evidence.
    pub fn has_evidence(&self, line: u32) -> bool {
        self.rules.iter().filter_map(|learned| learned.rule.as_ref()).any(|rule| rule.line == line)
    }

    /// The rules that somebody has edited and whose evidence is of this machine and this MPI library.
    pub fn edited(&self, machine: &str, mpi: &str) -> impl Iterator<Item = &Rule> {
        let is_here = move |rule: &&LearnedRule| {
            let mut evidence = rule.evidence.iter().map(|(_, learned)| learned);
            rule.is_edited && evidence.any(|learned| learned.machine == machine && learned.mpi == mpi)
        };
        self.rules.iter().filter(is_here).filter_map(|rule| rule.rule.as_ref())
    }

    /// Puts what `change` gives for a line of evidence in its place, wherever it gives anything.
    pub fn replace(&mut self, mut change: impl FnMut(&str) -> Option<String>) {
        for rule in self.rules.iter_mut().filter(|rule| !rule.is_edited) {
            let mut has_changed = false;
            for (place, learned) in &mut rule.evidence {
                let line = &mut rule.lines[*place];
                let Some(changed) = change(line) else { continue };
                let Some(read) = Learned::read(&changed) else { continue };
                (*line, *learned) = (format!("{changed}{}", end_of(line)), read);
                has_changed = true;
            }
            if has_changed {
                rule.follow();
            }
        }
    }

    /// Adds evidence: to the rule for the same calls, or else with a rule of its own.
    pub fn add(&mut self, line: &str) {
        let Some(learned) = Learned::read(line) else { return };
        let Some(rule) = learned.rule() else { return };
        let line = format!("{line}{}", self.end);
        if let Some(known) = self.rules.iter_mut().find(|known| known.is_about(&rule)) {
            return known.add(line, learned);
        }
        // An edited rule for the same calls comes before it.
        let is_above = |known: &LearnedRule| known.evidence[0].1.key() <= learned.key();
        let place = self.rules.iter().rposition(is_above).map_or(0, |above| above + 1);
        let mut lines = match self.rules.get_mut(place) {
            _ if place > 0 => Vec::new(),
            Some(first) => {
                // The comment above the first rule is of that rule, what stands above an empty line is of the file.
                let is_of_file = |line: &String| bare(line).is_empty() || !is_comment(line) || is_head(line);
                let number = first.lines.iter().rposition(is_of_file).map_or(0, |last| last + 1);
                first.take_above(number.min(first.evidence[0].0))
            }
            None if bare(&self.below.concat()).is_empty() => {
                self.below.clear();
                HEAD.iter().chain(&[""]).map(|line| format!("{line}{}", self.end)).collect()
            }
            None => std::mem::take(&mut self.below),
        };
        let above = place.checked_sub(1).map(|above| &mut self.rules[above].written);
        if let Some(last) = above.or(lines.last_mut()).filter(|last| !last.ends_with('\n')) {
            last.push_str(self.end);
        }
        let first = lines.iter().rposition(|line| !is_comment(line)).map_or(0, |last| last + 1);
        lines.push(line);
        self.rules.splice(place..place, LearnedRule::new(lines, first, self.end));
    }

    /// Makes one rule of those about the same calls: of two the second would match nothing.
    pub fn join(&mut self) {
        let mut left = Vec::new();
        for mut rule in std::mem::take(&mut self.rules) {
            rule.put_above(std::mem::take(&mut left));
            // The comment behind a rule is somebody's.
            let calls = rule.rule.as_ref().filter(|_| !rule.is_edited && !rule.written.contains('#'));
            let same = calls.and_then(|calls| self.rules.iter_mut().find(|known| known.is_about(calls)));
            let Some(known) = same else {
                self.rules.push(rule);
                continue;
            };
            for (place, learned) in rule.evidence {
                known.add(std::mem::take(&mut rule.lines[place]), learned);
            }
            left = rule.lines.into_iter().filter(|line| !line.is_empty()).collect();
        }
        left.append(&mut self.below);
        self.below = left;
    }
}

impl Display for LearnedRules {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        for rule in &self.rules {
            rule.lines.iter().chain([&rule.written]).try_for_each(|line| f.write_str(line))?;
        }
        self.below.iter().try_for_each(|line| f.write_str(line))
    }
}
