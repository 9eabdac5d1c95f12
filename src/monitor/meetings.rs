//! What all ranks' arrivals at one call together say of waiting: who came last, and for whom the others waited how
//! long.
//!
//! Time that ranks wait is charged to the ranks that they wait for: at any moment to those that have not come yet, in
//! equal parts. So a rank that comes last by a hair is charged a hair and not the whole, of two that are late each has
//! its part, and all ranks' parts make up the time waited. To come last most often says nothing: some rank has to be
//! the last. Ranks whose call returned before all had come, such as the root of a broadcast, waited no longer than
//! that.

use super::LateRecord;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Ranks that a call keeps by name, those that came last. More ranks may be late in one call, of a slow node perhaps:
/// then they take turns at coming last, and each is charged in some of the calls.
const LATEST: usize = 3;

/// One call on several ranks of its communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meeting {
    pub(super) number: u64,
    function: u8,
    /// How many ranks these are.
    ranks: u32,
    /// When the first of them came, nanoseconds.
    earliest: i64,
    /// How much later than that all of them came, in sum.
    after_first: u64,
    /// Those that came last, the very last first; as many as there are ranks, then without meaning.
    latest: [Coming; LATEST],
}

/// A rank that came to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Coming {
    pub(super) moment: i64,
    /// Its rank in the communicator.
    rank: u32,
}

impl Meeting {
    /// The call on one rank, which came to it then.
    pub(super) fn of(number: u64, function: u8, rank: u32, moment: i64) -> Self {
        let latest = [Coming { moment, rank }; LATEST];
        Self { number, function, ranks: 1, earliest: moment, after_first: 0, latest }
    }

    /// The rank that came last.
    pub(super) fn last(&self) -> Coming {
        self.latest[0]
    }

    /// How long a rank that came at `moment` to a call that took it `took` nanoseconds waited there for the last rank.
    pub(super) fn waited(&self, moment: i64, took: f64) -> f64 {
        ((self.last().moment - moment) as f64).clamp(0.0, took)
    }

    /// How long all ranks waited together if each stayed until the last had come, nanoseconds.
    fn until_the_last(&self) -> f64 {
        (self.last().moment - self.earliest) as f64 * f64::from(self.ranks) - self.after_first as f64
    }

    fn latest(&self) -> &[Coming] {
        &self.latest[..LATEST.min(self.ranks as usize)]
    }

    /// The same call on these and on other ranks.
    fn with(&self, other: &Self) -> Self {
        let earliest = self.earliest.min(other.earliest);
        let since = |part: &Self| part.after_first + u64::from(part.ranks) * part.earliest.abs_diff(earliest);
        let (mut own, mut others) = (self.latest().iter().peekable(), other.latest().iter().peekable());
        // Of two that came at once the lower rank, whichever side it is on.
        let key = |coming: &Coming| (coming.moment, u32::MAX - coming.rank);
        let later = |_| {
            let other_is_later = match (own.peek(), others.peek()) {
                (Some(own), Some(other)) => key(other) > key(own),
                (own, _) => own.is_none(),
            };
            // The lists may end before there are three: what follows is without meaning.
            if other_is_later { others.next() } else { own.next() }.copied().unwrap_or(self.last())
        };
        let latest = [0; LATEST].map(later);
        let (ranks, after_first) = (self.ranks + other.ranks, since(self) + since(other));
        Self { ranks, earliest, after_first, latest, ..*self }
    }

    /// Of all ranks' waiting in this call, the part for each of the ranks that came last, nanoseconds.
    fn charges(&self) -> impl Iterator<Item = (u32, f64)> {
        let latest = self.latest();
        // From the last one back: while it alone was missing, all others waited for it; while two were, half for each;
        // ...
        let mut parts = [0.0; LATEST];
        for (place, coming) in latest.iter().enumerate() {
            let missing = place + 1;
            let waiting = f64::from(self.ranks) - missing as f64;
            let waited = match latest.get(missing) {
                Some(before) => (coming.moment - before.moment) as f64 * waiting,
                // All who came before the last few waited for those, as far as is known.
                None => {
                    let since_first = |coming: &Coming| (coming.moment - self.earliest) as f64;
                    let others = self.after_first as f64 - latest.iter().map(since_first).sum::<f64>();
                    since_first(coming) * waiting - others
                }
            };
            parts[..missing].iter_mut().for_each(|part| *part += waited / missing as f64);
        }
        latest.iter().zip(parts).map(|(coming, part)| (coming.rank, part))
    }
}

/// The calls that both know, by number. A program whose ranks disagree about a call, after an error perhaps, has none
/// under that number.
pub fn meet(left: &[Meeting], right: &[Meeting]) -> Vec<Meeting> {
    let mut met = Vec::with_capacity(left.len().min(right.len()));
    let mut rest = right;
    for one in left {
        rest = &rest[rest.partition_point(|other| other.number < one.number)..];
        let Some(other) = rest.first().filter(|other| other.number == one.number) else { continue };
        if other.function == one.function {
            met.push(one.with(other));
        }
    }
    met
}

/// How long the others waited for each rank and how often it was the last, longest waiting first; `members` are the
/// world ranks of the communicator's. `waited` is how long all ranks together waited in each call, nanoseconds: without
/// it each stayed until the last had come. What was waited in all calls is `scale` times that in these.
pub fn late(met: &[Meeting], waited: Option<&[f64]>, members: &[u32], scale: f64) -> Vec<LateRecord> {
    let mut ranks: BTreeMap<u32, (u64, f64)> = BTreeMap::new();
    for (place, meeting) in met.iter().enumerate() {
        ranks.entry(meeting.last().rank).or_default().0 += 1;
        let whole = meeting.until_the_last();
        let part = match waited {
            Some(waited) if whole > 0.0 => (waited[place] / whole).min(1.0),
            _ => 1.0,
        };
        for (rank, charged) in meeting.charges() {
            ranks.entry(rank).or_default().1 += charged * part;
        }
    }
    let record = |(rank, (calls, waited)): (u32, (u64, f64))| {
        Some(LateRecord { rank: *members.get(rank as usize)?, calls, waited_ns: (waited * scale).round() as u64 })
    };
    let mut records: Vec<LateRecord> = ranks.into_iter().filter_map(record).collect();
    records.retain(|record| record.calls > 0 || record.waited_ns > 0);
    records.sort_by_key(|record| std::cmp::Reverse((record.waited_ns, record.calls)));
    records
}
