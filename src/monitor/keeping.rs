//! What goes first where a merged record holds too much.
//!
//! Each bound keeps the entries that matter most by an order that does not depend on who merged first, so that a bound
//! that is met at several ranks on the way leaves the same entries as one at the end would. Rows are the exception
//! where different ranks' calls have one key: a row that is small so far may go although it would have grown.

use super::merged::Merged;
use super::parts::EventPart;
use super::{Bounds, GapRecord};
use std::cmp::Reverse;

/// Leaves out what is too much.
pub(super) fn keep_within(merged: &mut Merged, bounds: &Bounds) {
    let dropped = keep_most(&mut merged.events, bounds.events, |event| Reverse(event.order));
    merged.left_out.events += dropped.len() as u64;
    dropped.into_iter().for_each(|(_, event)| merged.tell_gap(&event));
    for traffic in &mut merged.traffic {
        merged.left_out.traffic += keep_most(traffic, bounds.traffic, |part| part.sent.bytes).len() as u64;
    }
    merged.left_out.late += keep_most(&mut merged.late, bounds.late, |part| part.record.waited_ns).len() as u64;
    merged.left_out.comparisons += keep_most(&mut merged.epochs, bounds.comparisons, |part| part.calls).len() as u64;
    merged.left_out.differences += keep_most(&mut merged.differences, bounds.differences, |_| ()).len() as u64;
    merged.left_out.regions += keep_most(&mut merged.regions, bounds.regions, |part| part.total_ns).len() as u64;
    merged.left_out.sites += keep_most(&mut merged.sites, bounds.sites, |part| part.total_ns).len() as u64;
    merged.keep_rows(bounds.rows);
    merged.keep_members(bounds.members);
    merged.forget_unused();
}

impl Merged {
    /// Says where the call is missing in the time line of its rank.
    pub(super) fn tell_gap(&mut self, event: &EventPart) {
        let (from_unix_ns, to_unix_ns) = (event.enter_unix_ns, event.enter_unix_ns + event.duration_ns);
        let gap = GapRecord { from_unix_ns, to_unix_ns, calls: 1 };
        // Ranks are in order.
        if let Ok(place) = self.ranks.binary_search_by_key(&event.rank, |rank| rank.rank) {
            let known = &mut self.ranks[place].gap;
            *known = Some(known.map_or(gap, |known| known.and(gap)));
        }
    }

    fn keep_rows(&mut self, most: usize) {
        let dropped = keep_most(&mut self.rows, most, |row| row.total_ns);
        if dropped.is_empty() {
            return;
        }
        self.left_out.rows += dropped.len() as u64;
        self.left_out.calls += dropped.iter().map(|(_, row)| row.calls).sum::<u64>();
        let mut kept = vec![true; self.rows.len() + dropped.len()];
        dropped.iter().for_each(|(place, _)| kept[*place] = false);
        let place = places(&kept);
        let (events, dropped): (Vec<EventPart>, Vec<EventPart>) =
            std::mem::take(&mut self.events).into_iter().partition(|event| kept[event.row as usize]);
        self.events = events;
        self.events.iter_mut().for_each(|event| event.row = place[event.row as usize]);
        self.left_out.events += dropped.len() as u64;
        dropped.iter().for_each(|event| self.tell_gap(event));
        // A communicator with no row left is not in the report.
        let mut used = vec![false; self.communicators.len()];
        let rows = self.rows.iter().map(|row| row.key.0);
        let others = self.epochs.iter().map(|part| part.key.0).chain(self.late.iter().map(|part| part.communicator));
        let others = others.chain(self.differences.iter().map(|part| part.communicator));
        rows.chain(others).for_each(|place| used[place as usize] = true);
        let place = keep_used(&mut self.communicators, &used);
        self.rows.iter_mut().for_each(|row| row.key.0 = place[row.key.0 as usize]);
        self.epochs.iter_mut().for_each(|part| part.key.0 = place[part.key.0 as usize]);
        self.late.iter_mut().for_each(|part| part.communicator = place[part.communicator as usize]);
        self.differences.iter_mut().for_each(|part| part.communicator = place[part.communicator as usize]);
    }

    fn keep_members(&mut self, most: usize) {
        if self.communicators.iter().map(|part| part.members.len()).sum::<usize>() <= most {
            return;
        }
        let mut order: Vec<usize> = (0..self.communicators.len()).collect();
        order.sort_by_cached_key(|place| {
            let part = &self.communicators[*place];
            (part.members.len(), part.identity.clone())
        });
        let mut held = 0;
        for place in order {
            let members = &mut self.communicators[place].members;
            held += members.len();
            if held > most {
                *members = Vec::new();
                self.left_out.members += 1;
            }
        }
    }

    /// Elements that no call of the time line has any more, and texts that no row has.
    fn forget_unused(&mut self) {
        if self.elements.len() > self.events.len() {
            let mut used = vec![false; self.elements.len()];
            let place_of = |event: &EventPart| event.elements.checked_sub(1).map(|place| place as usize);
            self.events.iter().filter_map(place_of).for_each(|place| used[place] = true);
            let place = keep_used(&mut self.elements, &used);
            for event in &mut self.events {
                event.elements = place_of(event).map_or(0, |known| place[known] + 1);
            }
        }
        if self.texts.len() > 2 * self.rows.len() {
            let mut used = vec![false; self.texts.len()];
            let texts = self.rows.iter().flat_map(|row| [row.key.3, row.key.4]);
            texts.for_each(|place| used[place as usize] = true);
            let place = keep_used(&mut self.texts, &used);
            for row in &mut self.rows {
                (row.key.3, row.key.4) = (place[row.key.3 as usize], place[row.key.4 as usize]);
            }
        }
    }
}

/// Keeps the `most` entries with the highest keys, of equal ones the first, in their order; the others with their
/// places.
fn keep_most<T, K: Ord>(items: &mut Vec<T>, most: usize, key: impl Fn(&T) -> K) -> Vec<(usize, T)> {
    let Some(over) = items.len().checked_sub(most).filter(|over| *over > 0) else { return Vec::new() };
    let mut order: Vec<(K, Reverse<usize>)> =
        items.iter().enumerate().map(|(place, item)| (key(item), Reverse(place))).collect();
    order.select_nth_unstable(over - 1);
    let mut kept = vec![true; items.len()];
    order[..over].iter().for_each(|(_, Reverse(place))| kept[*place] = false);
    let (mut left, mut dropped) = (Vec::with_capacity(most), Vec::with_capacity(over));
    for (place, item) in std::mem::take(items).into_iter().enumerate() {
        if kept[place] {
            left.push(item);
        } else {
            dropped.push((place, item));
        }
    }
    *items = left;
    dropped
}

/// Where those that stay will be.
fn places(kept: &[bool]) -> Vec<u32> {
    let mut next = 0;
    let place = |kept: &bool| {
        next += u32::from(*kept);
        next.saturating_sub(1)
    };
    kept.iter().map(place).collect()
}

/// Keeps the used ones; where each of them is then.
fn keep_used<T>(items: &mut Vec<T>, used: &[bool]) -> Vec<u32> {
    let mut place = used.iter();
    items.retain(|_| *place.next().expect("a word for each"));
    places(used)
}
