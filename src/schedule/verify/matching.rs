//! Which receive gets which send: a matter of the programs alone, since messages match in the order in which they
//! start.

use super::fault::{At, Fault, What};
use crate::schedule::{Program, Range, Step};

/// A started message, seen from one of its ends.
pub struct End {
    /// Whose end.
    pub rank: usize,
    /// The step that starts it.
    pub step: usize,
    /// Whether it is the sending end.
    pub sends: bool,
    /// What it reads or writes.
    pub range: Range,
    /// Who is at the other end.
    pub partner: usize,
    /// The other end.
    pub peer: usize,
}

impl End {
    pub const fn word(&self) -> &'static str {
        if self.sends { "send" } else { "receive" }
    }
}

/// All ends of all messages, and the place of each rank's request 0 among them.
pub struct Matching {
    pub ends: Vec<End>,
    pub first_of: Vec<usize>,
}

const UNMATCHED: usize = usize::MAX;

pub fn at(programs: &[Program], rank: usize, number: usize) -> Option<At> {
    Some(At { number, text: programs[rank].steps[number].to_string() })
}

/// Matches the messages of all ranks.
///
/// # Errors
/// A message without a counterpart, with one of another length, or with an impossible partner.
pub fn matching(programs: &[Program]) -> Result<Matching, Fault> {
    let size = programs.len();
    let mut ends: Vec<End> = Vec::new();
    let mut first_of = Vec::with_capacity(size + 1);
    for (rank, program) in programs.iter().enumerate() {
        first_of.push(ends.len());
        for (step, what) in program.steps.iter().enumerate() {
            let (sends, partner, range) = match *what {
                Step::Isend { to, from, .. } => (true, to, from),
                Step::Irecv { from, into, .. } => (false, from, into),
                _ => continue,
            };
            if partner >= size || partner == rank {
                return Err(Fault { rank, step: at(programs, rank, step), what: What::Partner(partner) });
            }
            ends.push(End { rank, step, sends, range, partner, peer: UNMATCHED });
        }
    }
    first_of.push(ends.len());
    pair(programs, &mut ends)?;
    Ok(Matching { ends, first_of })
}

fn pair(programs: &[Program], ends: &mut [End]) -> Result<(), Fault> {
    // A stable sort leaves the order in which each rank starts its messages within a channel.
    let channel = |end: &End| if end.sends { (end.rank, end.partner) } else { (end.partner, end.rank) };
    let ordered = |sends: bool, ends: &[End]| {
        let mut places: Vec<usize> = (0..ends.len()).filter(|place| ends[*place].sends == sends).collect();
        places.sort_by_key(|place| channel(&ends[*place]));
        places
    };
    let (sends, receives) = (ordered(true, ends), ordered(false, ends));
    let (mut i, mut j) = (0, 0);
    while i < sends.len() || j < receives.len() {
        let send = sends.get(i).map(|place| channel(&ends[*place]));
        let receive = receives.get(j).map(|place| channel(&ends[*place]));
        match (send, receive) {
            (Some(a), Some(b)) if a == b => {
                let (from, into) = (sends[i], receives[j]);
                ends[from].peer = into;
                ends[into].peer = from;
                check_lengths(programs, &ends[from], &ends[into])?;
                i += 1;
                j += 1;
            }
            (Some(a), b) if b.is_none_or(|b| a < b) => return Err(unmatched(programs, ends, sends[i])),
            _ => return Err(unmatched(programs, ends, receives[j])),
        }
    }
    Ok(())
}

fn check_lengths(programs: &[Program], from: &End, into: &End) -> Result<(), Fault> {
    if from.range.len == into.range.len {
        return Ok(());
    }
    let what = What::MessageLength { sent: from.range.len, expected: into.range.len, partner: from.rank };
    Err(Fault { rank: into.rank, step: at(programs, into.rank, into.step), what })
}

fn unmatched(programs: &[Program], ends: &[End], place: usize) -> Fault {
    let end = &ends[place];
    let same = |other: &&End| other.rank == end.rank && other.partner == end.partner && other.sends == end.sends;
    let number = ends[..place].iter().filter(same).count();
    let what = What::Unmatched { message: end.word(), partner: end.partner, number };
    Fault { rank: end.rank, step: at(programs, end.rank, end.step), what }
}
