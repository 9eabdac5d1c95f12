//! What two groups of ranks recorded, as one.

use super::epochs::MOST;
use super::index::Index;
use super::keeping::keep_within;
use super::learned::join_learned;
use super::merged::Merged;
use super::named::SitePart;
use super::parts::{CommunicatorPart, DifferencePart, EpochsPart, EventPart, LatePart, MessagePart, united};
use super::{Bounds, CacheRecord, ClockRecord, PlayedRecord};

impl Merged {
    /// Takes in what the ranks after these recorded.
    pub fn add(&mut self, after: Self, bounds: &Bounds) {
        let communicators = self.add_communicators(after.communicators);
        let mut known = Index::of(self.texts.iter().cloned());
        let texts: Vec<u32> =
            after.texts.into_iter().map(|text| known.put(&mut self.texts, text.clone(), text).0).collect();
        let mut known = Index::of(self.rows.iter().map(|row| row.key));
        let rows: Vec<u32> = after
            .rows
            .into_iter()
            .map(|mut row| {
                let (communicator, function, bucket, algorithm, decided_by) = row.key;
                let text = |place: u32| texts[place as usize];
                row.key = (communicators[communicator as usize], function, bucket, text(algorithm), text(decided_by));
                let (place, again) = known.put(&mut self.rows, row.key, row);
                if let Some(again) = again {
                    self.rows[place as usize].add(again);
                }
                place
            })
            .collect();
        let mut known = Index::of(self.elements.iter().cloned());
        let elements: Vec<u32> =
            after.elements.into_iter().map(|item| known.put(&mut self.elements, item.clone(), item).0 + 1).collect();
        self.events.extend(after.events.into_iter().map(|event| EventPart {
            row: rows[event.row as usize],
            elements: event.elements.checked_sub(1).map_or(0, |place| elements[place as usize]),
            ..event
        }));
        self.add_epochs(after.epochs, &communicators);
        let place = |communicator: u32| communicators[communicator as usize];
        let differences = after.differences.into_iter();
        self.differences
            .extend(differences.map(|part| DifferencePart { communicator: place(part.communicator), ..part }));
        let late = after.late.into_iter();
        self.late.extend(late.map(|part| LatePart { communicator: place(part.communicator), ..part }));
        for (own, after) in self.traffic.iter_mut().zip(after.traffic) {
            own.extend(after);
        }
        self.job = self.job.take().or(after.job);
        self.ranks.extend(after.ranks);
        self.overhead_ns_per_call = self.overhead_ns_per_call.max(after.overhead_ns_per_call);
        self.dropped_events += after.dropped_events;
        self.verified_calls += after.verified_calls;
        self.failed_calls += after.failed_calls;
        self.rounded_calls += after.rounded_calls;
        self.unjudged_calls += after.unjudged_calls;
        self.near_calls += after.near_calls;
        self.differing_calls += after.differing_calls;
        self.verifying_ns += after.verifying_ns;
        self.clock = worst_clock(self.clock, after.clock);
        self.overflow.add(after.overflow);
        self.played = sum_of_played(self.played, after.played);
        self.cache = sum_of_caches(self.cache, after.cache);
        join_learned(&mut self.learned, after.learned);
        self.left_out.add(after.left_out);
        self.add_messages(after.messages);
        let mut known = Index::of(self.regions.iter().map(|part| part.name.clone()));
        for part in after.regions {
            let (place, again) = known.put(&mut self.regions, part.name.clone(), part);
            again.into_iter().for_each(|again| self.regions[place as usize].add(again));
        }
        let mut known = Index::of(self.sites.iter().map(SitePart::key));
        for part in after.sites {
            let (place, again) = known.put(&mut self.sites, part.key(), part);
            again.into_iter().for_each(|again| self.sites[place as usize].add(again));
        }
        keep_within(self, bounds);
    }

    fn add_messages(&mut self, after: Vec<MessagePart>) {
        for part in after {
            match self.messages.iter_mut().find(|own| own.call == part.call) {
                Some(own) => own.add(part),
                None => self.messages.push(part),
            }
        }
    }

    /// Where each of the communicators is from now on.
    fn add_communicators(&mut self, after: Vec<CommunicatorPart>) -> Vec<u32> {
        let mut known = Index::of(self.communicators.iter().map(|part| part.identity.clone()));
        let add = |part: CommunicatorPart| {
            let (place, again) = known.put(&mut self.communicators, part.identity.clone(), part);
            if let Some(again) = again {
                self.communicators[place as usize].add(again);
            }
            place
        };
        after.into_iter().map(add).collect()
    }

    fn add_epochs(&mut self, after: Vec<EpochsPart>, communicators: &[u32]) {
        let mut known = Index::of(self.epochs.iter().map(|part| part.key));
        for mut part in after {
            part.key.0 = communicators[part.key.0 as usize];
            let (place, again) = known.put(&mut self.epochs, part.key, part);
            let Some(mut again) = again else { continue };
            let own = &mut self.epochs[place as usize];
            own.calls = own.calls.max(again.calls);
            // One of two ranks may have recorded for longer.
            while own.halvings != again.halvings {
                if own.halvings < again.halvings { own.halve() } else { again.halve() }
            }
            own.slowest = united(&own.slowest, &again.slowest, f64::max);
            while own.slowest.len() > MOST {
                own.halve();
            }
        }
    }
}

fn worst_clock(left: Option<ClockRecord>, right: Option<ClockRecord>) -> Option<ClockRecord> {
    let (Some(left), Some(right)) = (left, right) else { return left.or(right) };
    Some(ClockRecord {
        points: left.points.max(right.points),
        error_ns: left.error_ns.max(right.error_ns),
        round_trip_ns: left.round_trip_ns.max(right.round_trip_ns),
    })
}

fn sum_of_played(left: PlayedRecord, right: PlayedRecord) -> PlayedRecord {
    PlayedRecord {
        calls: left.calls + right.calls,
        kept: left.kept + right.kept,
        actions: left.actions + right.actions,
    }
}

/// The most of what a rank holds, and all that had to go.
fn sum_of_caches(left: CacheRecord, right: CacheRecord) -> CacheRecord {
    CacheRecord {
        most_bytes: left.most_bytes.max(right.most_bytes),
        bound: left.bound.max(right.bound),
        evicted: left.evicted + right.evicted,
        refused: left.refused + right.refused,
    }
}
