//! A rule that was learned, with what stands above it.

use super::evidence::{Learned, following, matches_same};
use super::line::end_of;
use crate::selection::rules::{Rule, own};

/// A rule, its evidence, and whatever stands above them.
#[derive(Clone, Debug)]
pub struct LearnedRule {
    /// The lines above the rule, from the learned one before it on, as they are written.
    pub(super) lines: Vec<String>,
    /// Which of them are its evidence, and what they say.
    pub(super) evidence: Vec<(usize, Learned)>,
    /// The rule as it is written.
    pub(super) written: String,
    /// The rule as it is understood, if it is.
    pub(super) rule: Option<Rule>,
    /// Whether it does not follow from the evidence.
    pub(super) is_edited: bool,
}

impl LearnedRule {
    /// That of line `number`, which is `written`, below `lines`; these come back if none of them, from the one at
    /// `first` on, is evidence.
    pub(super) fn read(lines: Vec<String>, first: usize, written: &str, number: u32) -> Result<Self, Vec<String>> {
        let evidence = evidence(&lines, first);
        if evidence.is_empty() {
            return Err(lines);
        }
        let parsed = own::parse("", written.trim_start_matches('\u{feff}')).ok().and_then(|mut rules| rules.pop());
        let rule = parsed.map(|rule| Rule { line: number, ..rule });
        let mut found = Self { lines, evidence, written: written.to_owned(), rule, is_edited: false };
        found.is_edited = !found.follows() && !found.follows_as_at_first();
        Ok(found)
    }

    /// What follows from the evidence among `lines`, from the one at `first` on; nothing if nothing does.
    pub(super) fn new(lines: Vec<String>, first: usize, end: &str) -> Option<Self> {
        let evidence = evidence(&lines, first);
        let mut rule = Self { lines, evidence, written: end.to_owned(), rule: None, is_edited: false };
        rule.follow();
        rule.rule.is_some().then_some(rule)
    }

    /// The line that it stands in, from 1, if it is understood.
    pub fn line(&self) -> Option<u32> {
        self.rule.as_ref().map(|rule| rule.line)
    }

    /// Its lines of evidence; none where the rule was edited, since they are of what it was.
    pub fn evidence(&self) -> impl Iterator<Item = &str> {
        let places = self.evidence.iter().filter(|_| !self.is_edited);
        places.map(|(place, _)| self.lines[*place].as_str())
    }

    /// Whether it follows from evidence of the same calls as `rule`.
    pub(super) fn is_about(&self, rule: &Rule) -> bool {
        // Unless it was edited, the rule as it is understood is what follows.
        !self.is_edited && self.rule.as_ref().is_some_and(|own| matches_same(own, rule))
    }

    fn following(&self) -> Option<Rule> {
        following(self.evidence.iter().map(|(_, learned)| learned))
    }

    fn follows(&self) -> bool {
        let written = self.rule.as_ref().map(|rule| Rule { line: 0, ..rule.clone() });
        written.is_some() && written == self.following()
    }

    /// Whether it follows, but for the ranks per node that it does not name yet.
    fn follows_as_at_first(&self) -> bool {
        let Some((written, following)) = self.rule.as_ref().zip(self.following()) else { return false };
        let mut at_first = self.evidence.iter().filter_map(|(_, learned)| learned.rule_of_any_placement());
        at_first.any(|rule| *written == Rule { wanted: following.wanted.clone(), line: written.line, ..rule })
    }

    /// Says what follows from the evidence, which has changed.
    pub(super) fn follow(&mut self) {
        if self.follows() {
            return;
        }
        let Some(rule) = self.following() else { return };
        let comment = self.written.find('#').map_or("", |place| self.written[place..].trim_end());
        let space = if comment.is_empty() { "" } else { "  " };
        self.written = format!("{rule}{space}{comment}{}", end_of(&self.written));
        self.rule = Some(rule);
    }

    /// Takes in more evidence of the same calls.
    pub(super) fn add(&mut self, line: String, learned: Learned) {
        let place = self.evidence.last().map_or(self.lines.len(), |(place, _)| place + 1);
        self.lines.insert(place, line);
        self.evidence.push((place, learned));
        self.follow();
    }

    /// Puts lines above the others.
    pub(super) fn put_above(&mut self, mut lines: Vec<String>) {
        self.evidence.iter_mut().for_each(|(place, _)| *place += lines.len());
        lines.append(&mut self.lines);
        self.lines = lines;
    }

    /// Takes the first `number` lines away, none of which is evidence.
    pub(super) fn take_above(&mut self, number: usize) -> Vec<String> {
        self.evidence.iter_mut().for_each(|(place, _)| *place -= number);
        self.lines.drain(..number).collect()
    }
}

/// The evidence among `lines`, from the one at `first` on, that is about the same calls as the last of it: somebody has
/// taken the rules of the rest away.
fn evidence(lines: &[String], first: usize) -> Vec<(usize, Learned)> {
    let read = |(place, line): (usize, &String)| Learned::read(line).map(|learned| (place, learned));
    let mut found: Vec<_> = lines.iter().enumerate().skip(first).filter_map(read).collect();
    match found.last().and_then(|(_, learned)| learned.rule()) {
        Some(calls) => found.retain(|(_, learned)| learned.rule().is_some_and(|rule| matches_same(&rule, &calls))),
        None => found.clear(),
    }
    found
}
