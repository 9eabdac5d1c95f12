//! Which receive gets which send, for programs too many to keep as steps.

use super::Broken;
use super::tape::{Beat, Tapes};

/// The two ends of every message, numbered over all ranks in the order in which they start.
pub struct Ends {
    /// The other end of each.
    pub peer: Vec<u32>,
    /// Each rank's first end, and one past the last.
    pub first_of: Vec<u32>,
}

/// Pairs the ends, in the order in which they start, per sender and receiver.
pub fn ends(tapes: &Tapes) -> Result<Ends, Broken> {
    let size = tapes.size();
    let mut first_of = vec![0u32];
    let mut sends_to = vec![0u32; size + 1];
    for rank in 0..size {
        let mut ends = *first_of.last().expect("starts with one entry");
        for beat in tapes.rank(rank) {
            match *beat {
                Beat::Send { to, .. } => {
                    *sends_to.get_mut(to as usize + 1).ok_or(Broken::Unmatched { rank })? += 1;
                    ends += 1;
                }
                Beat::Receive { .. } => ends += 1,
                _ => {}
            }
        }
        first_of.push(ends);
    }
    (0..size).for_each(|rank| sends_to[rank + 1] += sends_to[rank]);
    // By receiver, then by sender, then in the order in which they start.
    let mut incoming = vec![(0u32, 0u32); sends_to[size] as usize];
    let mut next = sends_to.clone();
    for (rank, first) in first_of[..size].iter().enumerate() {
        for (end, beat) in (*first..).zip(starts(tapes, rank)) {
            if let Beat::Send { to, .. } = beat {
                incoming[next[to as usize] as usize] = (rank as u32, end);
                next[to as usize] += 1;
            }
        }
    }
    let mut peer = vec![u32::MAX; first_of[size] as usize];
    let mut receives = Vec::new();
    for (rank, first) in first_of[..size].iter().enumerate() {
        receives.clear();
        for (end, beat) in (*first..).zip(starts(tapes, rank)) {
            if let Beat::Receive { from, .. } = beat {
                receives.push((from, end));
            }
        }
        receives.sort_unstable();
        let incoming = &incoming[sends_to[rank] as usize..sends_to[rank + 1] as usize];
        let fits = |(send, receive): (&(u32, u32), &(u32, u32))| send.0 == receive.0;
        if incoming.len() != receives.len() || !incoming.iter().zip(&receives).all(fits) {
            return Err(Broken::Unmatched { rank });
        }
        for ((_, send), (_, receive)) in incoming.iter().zip(&receives) {
            peer[*send as usize] = *receive;
            peer[*receive as usize] = *send;
        }
    }
    Ok(Ends { peer, first_of })
}

fn starts(tapes: &Tapes, rank: usize) -> impl Iterator<Item = Beat> {
    tapes.rank(rank).iter().copied().filter(|beat| matches!(beat, Beat::Send { .. } | Beat::Receive { .. }))
}
