//! Which messages travel in fragments, and how long a fragment is.
//!
//! Both ends of a message cut it alike, since they agree on its length and on these limits.

use super::limits::ProtocolLimits;

/// So many bytes may be on their way from one rank to another in fragments that nobody has received: after them, or a
/// message more, a message ends in a fragment that waits for its receive.
///
/// Fragments are short enough for the MPI library to take each before its receiver asks for it, where it would have
/// made the whole message wait. Without this, ranks that gather to a root that waits for another one fill its memory.
/// Odd, so that no sequence of messages of a program's steps across in the same one each time.
const MOST_AHEAD: u64 = (512 << 10) - 1237;

/// Whether a message of `whole` bytes that is cut ends so, after which `sent` bytes have been sent to its receiver.
#[must_use]
pub const fn ends_synchronously(sent: u64, whole: u64) -> bool {
    sent / MOST_AHEAD > sent.saturating_sub(whole) / MOST_AHEAD
}

/// The limits of one communicator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fragments {
    /// Longest message between nodes, in bytes.
    pub between_nodes: Option<usize>,
    /// Which messages within a node travel in pieces.
    pub within_node: ProtocolLimits,
}

impl Fragments {
    /// Units of each fragment of a message of `len` units of `unit` bytes; `None` if it travels whole.
    #[inline]
    pub fn units(self, len: usize, unit: usize, within_node: bool) -> Option<usize> {
        if !within_node {
            let units = (self.between_nodes? / unit.max(1)).max(1);
            return (units < len).then_some(units);
        }
        let limit = self.within_node.of_message(len.saturating_mul(unit))?;
        // Pieces beyond the limit would be as slow as the whole, each of them, and shorter ones are more than were
        // measured to pay.
        let units = limit.bytes / unit;
        (units > 0 && len.div_ceil(units) <= limit.most_pieces()).then_some(units)
    }
}

#[cfg(test)]
mod tests {
    use super::super::limits::Limit;
    use super::{Fragments, ProtocolLimits};

    #[test]
    fn short_messages_and_those_without_limit_travel_whole() {
        let fragments = Fragments { between_nodes: Some(1000), within_node: ProtocolLimits::of([256]).unwrap() };
        assert_eq!(fragments.units(1000, 1, false), None);
        assert_eq!(fragments.units(1001, 1, false), Some(1000));
        assert_eq!(fragments.units(64, 4, true), None);
        assert_eq!(fragments.units(65, 4, true), Some(64));
        assert_eq!(fragments.units(128, 4, true), Some(64));
        assert_eq!(fragments.units(129, 4, true), None, "three fragments would be no gain");
        assert_eq!(Fragments::default().units(usize::MAX, 8, true), None);
        assert_eq!(Fragments::default().units(usize::MAX, 8, false), None);
    }

    #[test]
    fn a_fragment_holds_whole_units_and_at_least_one() {
        let fragments = Fragments { between_nodes: Some(1000), within_node: ProtocolLimits::of([256]).unwrap() };
        assert_eq!(fragments.units(10, 300, false), Some(3));
        assert_eq!(fragments.units(2, 3000, false), Some(1));
        assert_eq!(fragments.units(1, 3000, false), None);
        assert_eq!(fragments.units(5, 0, false), None);
        let many = ProtocolLimits::of(["4040x32".parse::<Limit>().unwrap()]).unwrap();
        let fragments = Fragments { between_nodes: None, within_node: many };
        assert_eq!(fragments.units(26, 5000, true), None, "no unit is short enough");
        assert_eq!(fragments.units(26, 2000, true), Some(2));
        assert_eq!([35, 34, 33].map(|len| fragments.units(len, 3000, true)), [None, Some(1), Some(1)], "one unit each");
        let two = Fragments { between_nodes: None, within_node: ProtocolLimits::of([256]).unwrap() };
        assert_eq!(two.units(3, 170, true), None, "three fragments");
    }
}
