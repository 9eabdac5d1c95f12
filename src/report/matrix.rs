//! Traffic as the bare matrices that users of Open MPI's monitoring have scripts for: one line per sender, one number
//! per receiver, each followed by a space.

use crate::monitor::TrafficRow;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// What a matrix holds of the messages, and of the bytes, of a pair.
pub type Entry = fn(u64, u64) -> u64;

/// The matrices by their names: messages, bytes, and bytes per message, rounded down.
pub const MATRICES: [(&str, Entry); 3] = [
    ("msg", |messages, _| messages),
    ("size", |_, bytes| bytes),
    ("avg", |messages, bytes| bytes.checked_div(messages).unwrap_or(0)),
];

/// Messages and bytes by sender and receiver, of those pairs that have any: with many ranks, most have none.
#[derive(Debug)]
pub struct Pairs {
    ranks: u32,
    sums: BTreeMap<(u32, u32), (u64, u64)>,
}

impl Pairs {
    /// Those of `ranks` senders and receivers. Traffic with ranks outside is left out.
    pub fn of(ranks: u32, traffic: &[TrafficRow]) -> Self {
        let mut sums: BTreeMap<_, (u64, u64)> = BTreeMap::new();
        for row in traffic.iter().filter(|row| row.from < ranks && row.to < ranks) {
            let (messages, bytes) = sums.entry((row.from, row.to)).or_default();
            (*messages, *bytes) = (*messages + row.messages, *bytes + row.bytes);
        }
        Self { ranks, sums }
    }

    /// Writes that matrix of them, a sender after the other: all of it at once may not fit into memory.
    ///
    /// # Errors
    /// What writing fails with.
    pub fn write(&self, entry: Entry, into: &mut dyn Write) -> io::Result<()> {
        let mut line = Vec::new();
        for from in 0..self.ranks {
            line.clear();
            let mut next = 0;
            for ((_, to), (messages, bytes)) in self.sums.range((from, 0)..=(from, u32::MAX)) {
                line.extend(b"0 ".repeat((to - next) as usize));
                write!(line, "{} ", entry(*messages, *bytes))?;
                next = to + 1;
            }
            line.extend(b"0 ".repeat((self.ranks - next) as usize));
            line.push(b'\n');
            into.write_all(&line)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_per_sender_and_a_number_per_receiver() {
        let row = |from, to, messages, bytes| TrafficRow { from, to, messages, bytes, on_node: true };
        let texts = |ranks, traffic: &[TrafficRow]| {
            let pairs = Pairs::of(ranks, traffic);
            MATRICES.map(|(_, entry)| {
                let mut text = Vec::new();
                pairs.write(entry, &mut text).unwrap();
                String::from_utf8(text).unwrap()
            })
        };
        let traffic = [row(1, 0, 1, 8), row(0, 1, 2, 6), row(1, 7, 1, 1), row(0, 1, 1, 4)];
        assert_eq!(texts(2, &traffic), ["0 3 \n1 0 \n", "0 10 \n8 0 \n", "0 3 \n8 0 \n"]);
        assert_eq!(texts(3, &[row(2, 1, 5, 0)])[0], "0 0 0 \n0 0 0 \n0 5 0 \n");
        assert_eq!(texts(0, &[])[0], "");
        assert_eq!(MATRICES.map(|(name, _)| name), ["msg", "size", "avg"]);
    }
}
