//! Hash-consed terms: what a unit holds, as a tree of folds over the ranks' contributions.

use std::collections::{HashMap, HashSet};

/// A term: the numbers below the number of ranks are the ranks' own data, the others are folds.
pub type Term = u32;

struct Fold {
    left: Term,
    right: Term,
    /// Contributions in it, repetitions counted; saturating, since folding a term with itself doubles it.
    leaves: u32,
    /// The leftmost rank, if the ranks from left to right are consecutive.
    first_in_order: Option<u32>,
}

/// All terms of one verification.
pub struct Terms {
    ranks: u32,
    folds: Vec<Fold>,
    by_sides: HashMap<(Term, Term), Term>,
    /// Terms known to hold every rank exactly once.
    complete: HashSet<Term>,
}

impl Terms {
    pub fn new(ranks: usize) -> Self {
        Self { ranks: ranks as u32, folds: Vec::new(), by_sides: HashMap::new(), complete: HashSet::new() }
    }

    /// `left ∘ right`.
    pub fn fold(&mut self, left: Term, right: Term) -> Term {
        if let Some(&known) = self.by_sides.get(&(left, right)) {
            return known;
        }
        let term = self.ranks + self.folds.len() as u32;
        self.by_sides.insert((left, right), term);
        let first_in_order = match (self.first_in_order(left), self.first_in_order(right)) {
            (Some(first), Some(next)) if first + self.leaves(left) == next => Some(first),
            _ => None,
        };
        let leaves = self.leaves(left).saturating_add(self.leaves(right));
        self.folds.push(Fold { left, right, leaves, first_in_order });
        term
    }

    fn get(&self, term: Term) -> Option<&Fold> {
        term.checked_sub(self.ranks).map(|place| &self.folds[place as usize])
    }

    fn leaves(&self, term: Term) -> u32 {
        self.get(term).map_or(1, |fold| fold.leaves)
    }

    fn first_in_order(&self, term: Term) -> Option<u32> {
        self.get(term).map_or(Some(term), |fold| fold.first_in_order)
    }

    /// Whether `term` holds every rank exactly once, from left to right in rank order.
    pub fn complete_in_order(&self, term: Term) -> bool {
        self.first_in_order(term) == Some(0) && self.leaves(term) == self.ranks
    }

    /// Whether `term` holds every rank exactly once, in any order.
    pub fn complete(&mut self, term: Term) -> bool {
        if self.complete.contains(&term) {
            return true;
        }
        let complete = self.leaves(term) == self.ranks && {
            let mut seen = vec![false; self.ranks as usize];
            self.ranks_from_left(term).into_iter().for_each(|rank| seen[rank as usize] = true);
            seen.into_iter().all(|seen| seen)
        };
        if complete {
            self.complete.insert(term);
        }
        complete
    }

    /// The ranks in `term` from left to right, at most twice as many as there are ranks.
    fn ranks_from_left(&self, term: Term) -> Vec<u32> {
        let mut open = vec![term];
        let mut found = Vec::new();
        while let Some(term) = open.pop() {
            match self.get(term) {
                Some(fold) => open.extend([fold.right, fold.left]),
                None => found.push(term),
            }
            if found.len() >= 2 * self.ranks as usize {
                break;
            }
        }
        found
    }

    /// What is wrong with `term` as a result, in words.
    pub fn describe(&self, term: Term) -> String {
        let found = self.ranks_from_left(term);
        let times = |rank: u32| found.iter().filter(|other| **other == rank).count();
        let list = |ranks: Vec<u32>| ranks.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let missing: Vec<u32> = (0..self.ranks).filter(|rank| times(*rank) == 0).collect();
        let repeated: Vec<u32> = (0..self.ranks).filter(|rank| times(*rank) > 1).collect();
        let mut text = format!("the contributions of ranks {}", list(found.clone()));
        if !missing.is_empty() {
            text += &format!("; missing {}", list(missing));
        }
        if !repeated.is_empty() {
            text += &format!("; repeated {}", list(repeated));
        }
        text
    }
}
