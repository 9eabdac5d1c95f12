//! Traffic as the bare matrices that users of Open MPI's monitoring have scripts for: one line per sender, one number
//! per receiver, each followed by a space.

use crate::monitor::TrafficRow;
use std::fmt::Write;

/// The `msg` (messages), `size` (bytes) and `avg` (bytes per message, rounded down) matrices, with these names, of
/// `ranks` senders and receivers. Traffic with ranks outside is left out.
pub fn matrices(ranks: u32, traffic: &[TrafficRow]) -> [(&'static str, String); 3] {
    let size = ranks as usize;
    let mut sums = vec![(0u64, 0u64); size * size];
    for row in traffic.iter().filter(|row| row.from < ranks && row.to < ranks) {
        let (messages, bytes) = &mut sums[row.from as usize * size + row.to as usize];
        (*messages, *bytes) = (*messages + row.messages, *bytes + row.bytes);
    }
    let text = |of: fn(&(u64, u64)) -> u64| {
        let mut text = String::new();
        for row in sums.chunks(size.max(1)) {
            for entry in row {
                write!(text, "{} ", of(entry)).expect("a string takes every number");
            }
            text.push('\n');
        }
        text
    };
    [
        ("msg", text(|(messages, _)| *messages)),
        ("size", text(|(_, bytes)| *bytes)),
        ("avg", text(|(messages, bytes)| bytes.checked_div(*messages).unwrap_or(0))),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_per_sender_and_a_number_per_receiver() {
        let row = |from, to, messages, bytes| TrafficRow { from, to, messages, bytes, on_node: true };
        let [messages, bytes, average] = matrices(2, &[row(0, 1, 3, 10), row(1, 0, 1, 8), row(1, 7, 1, 1)]);
        assert_eq!(messages, ("msg", "0 3 \n1 0 \n".to_owned()));
        assert_eq!(bytes, ("size", "0 10 \n8 0 \n".to_owned()));
        assert_eq!(average, ("avg", "0 3 \n8 0 \n".to_owned()));
        assert_eq!(matrices(0, &[])[0].1, "");
    }
}
