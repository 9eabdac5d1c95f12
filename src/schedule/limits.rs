//! Lengths beyond which a message within a node takes another, slower way through the MPI library.

use crate::operation::{Choice, Value};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::fmt;
use std::str::FromStr;

/// Which calls have messages that a limit is for.
///
/// What two pieces gain depends on what the receiver does meanwhile. On an Intel Emerald Rapids, Open MPI 4.1.4 takes
/// 0.4 to 0.6 of the time for 512 bytes one way as two messages and 0.8 to 0.95 for an exchange; of 4,096 bytes it is
/// the exchange that takes 0.7 to 0.8, and one way they take up to half as long again. On an AMD EPYC both gain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Way {
    /// All.
    #[default]
    Both,
    /// Those where one rank sends and another one waits, as in operations with a root.
    OneWay,
    /// Those where ranks send and receive at the same time, as in operations without a root.
    Exchange,
}

impl Way {
    /// That of a choice's messages within a node; `nodes` as in [`Call`](crate::operation::Call).
    ///
    /// What is made of operations with a root goes their way, and so do hierarchical algorithms, whose leaders are on
    /// nodes of their own. Cut as an exchange, an allreduce `hierarchical` of 4 KiB on 4 nodes of 2 ranks took 1.4
    /// times as long, on Open MPI 4.1.4.
    pub fn of(choice: &Choice, nodes: &[u32]) -> Self {
        if choice.algorithm.operation.rooted() {
            return Self::OneWay;
        }
        let inner = || {
            choice.parameters.iter().filter_map(|(_, value)| match value {
                Value::Inner(inner) => Some(&**inner),
                _ => None,
            })
        };
        let among_all = inner().find(|inner| !inner.algorithm.operation.rooted());
        let has_root = inner().any(|inner| inner.algorithm.operation.rooted());
        match among_all {
            Some(among_all) if nodes.is_empty() || !has_root => Self::of(among_all, nodes),
            _ if has_root => Self::OneWay,
            _ => Self::Exchange,
        }
    }

    /// Its name.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Both => "both",
            Self::OneWay => "one_way",
            Self::Exchange => "exchange",
        }
    }
}

/// One limit. Written as its bytes, with the most pieces behind an `x` unless these are two, and the way behind a colon
/// unless it is for all messages: `4040:exchange`, `8192x32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Limit {
    /// The length, bytes.
    pub bytes: usize,
    /// The most pieces of this length that a message travels in, a power of two from 2 on: one that is longer travels
    /// whole.
    pub pieces: usize,
    /// What it is for.
    pub way: Way,
}

impl Limit {
    /// The most pieces that there are.
    pub const MOST_PIECES: usize = 128;

    /// Beyond which messages of this way travel as two, up to twice as long ones.
    pub const fn of_two(bytes: usize, way: Way) -> Self {
        Self { bytes, pieces: 2, way }
    }

    /// The longest message that travels in pieces. Where these may be more than two, up to the next power of two if
    /// that takes no more than one more, so that what is just beyond does not lose for the limit being a little less
    /// than one.
    pub const fn longest(self) -> usize {
        let longest = self.bytes * self.pieces;
        let rounded = longest.next_power_of_two();
        if self.pieces > 2 && rounded - longest <= self.bytes { rounded } else { longest }
    }

    /// The most pieces of a message whose units need not fill them.
    pub const fn most_pieces(self) -> usize {
        if self.pieces > 2 { self.longest().div_ceil(self.bytes) + 1 } else { 2 }
    }
}

/// A limit in JSON: a number where it is for all messages, otherwise text.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Number(usize),
    Text(String),
}

impl From<usize> for Limit {
    fn from(bytes: usize) -> Self {
        Self::of_two(bytes, Way::Both)
    }
}

impl From<Limit> for Written {
    fn from(limit: Limit) -> Self {
        if limit == limit.bytes.into() { Self::Number(limit.bytes) } else { Self::Text(limit.to_string()) }
    }
}

impl TryFrom<Written> for Limit {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        match written {
            Written::Number(bytes) => Ok(bytes.into()),
            Written::Text(text) => text.parse().map_err(|()| {
                format!(
                    "'{text}' is not a limit; accepted: bytes, such as 4040, followed by the greatest number of fragments if it is more than \
                     two (4040x32), and by :one_way or :exchange if the limit is for such messages only"
                )
            }),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{}", self.bytes)?;
        if self.pieces != 2 {
            write!(out, "x{}", self.pieces)?;
        }
        if self.way == Way::Both { Ok(()) } else { write!(out, ":{}", self.way.word()) }
    }
}

impl FromStr for Limit {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (length, way) = match text.trim().split_once(':') {
            None => (text.trim(), Way::Both),
            Some((length, word)) => {
                (length, [Way::OneWay, Way::Exchange].into_iter().find(|way| way.word() == word).ok_or(())?)
            }
        };
        let (bytes, pieces) = match length.split_once('x') {
            None => (length, 2),
            Some((bytes, pieces)) => (bytes, pieces.parse().map_err(|_| ())?),
        };
        Ok(Self { bytes: crate::operation::parse_bytes(bytes).ok_or(())?, pieces, way })
    }
}

/// Such lengths. A message that is longer than one of them, and no longer than so many times that, travels in pieces of
/// that length.
///
/// Open MPI 4.1.4 (ob1, vader) hands up to 256 bytes over together with their header, and up to 4,040 through a queue
/// of buffers; more waits for its receive. One way between two ranks of an AMD EPYC 4,040 bytes take 0.9 to 1.0 us,
/// 4,044 bytes 2.5 to 2.9, and 1.3 to 1.8 as two messages; an exchange 1.4, 3.4 and 1.4 to 1.7. MPICH 4.0.2 (UCX) has
/// such a step between 8,160 bytes (0.45 us) and 8,320 (2.9 us). In more pieces messages gain less on some machines, on
/// others much more: on 2 cores of an AMD EPYC 32 KiB one way took 4.4 us whole on MPICH 4.0.2 and 1.3 as four, on Open
/// MPI 4.1.4 3.8 and 2.2 as nine. Five of Open MPI's fill the queue of buffers of a fresh pair, and a rank that shares
/// its core then waits for a slice of the scheduler's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProtocolLimits([u32; ProtocolLimits::MOST]);

impl ProtocolLimits {
    /// As many as there are: a message of two pieces never is cut again, so that they do not meet.
    pub const MOST: usize = 2;
    /// None.
    pub const NONE: Self = Self([0; Self::MOST]);
    /// Bits of a word that hold the length. Above them are three for the pieces and two for the way.
    const LENGTH: u32 = 27;
    const WAY: u32 = Self::LENGTH + 3;

    /// These; `None` if they are too many, too long, or not in ascending order from 1 on.
    pub fn of<L: Into<Limit>>(limits: impl IntoIterator<Item = L>) -> Option<Self> {
        let limits: SmallVec<[Limit; 4]> = limits.into_iter().map(Into::into).collect();
        let lengths = 1..1 << Self::LENGTH;
        let pieces = |limit: &Limit| limit.pieces.is_power_of_two() && (2..=Limit::MOST_PIECES).contains(&limit.pieces);
        let are_right = limits.len() <= Self::MOST
            && limits.iter().all(|limit| lengths.contains(&limit.bytes) && pieces(limit))
            && limits.is_sorted_by(|a, b| a.bytes < b.bytes);
        let mut packed = Self::NONE;
        for (place, limit) in packed.0.iter_mut().zip(limits.iter().filter(|_| are_right)) {
            *place = (limit.way as u32) << Self::WAY | limit.pieces.ilog2() << Self::LENGTH | limit.bytes as u32;
        }
        are_right.then_some(packed)
    }

    /// Them, ascending.
    pub fn limits(self) -> impl Iterator<Item = Limit> {
        self.0.into_iter().take_while(|word| *word > 0).map(|word| Limit {
            bytes: (word & ((1 << Self::LENGTH) - 1)) as usize,
            pieces: 1 << (word >> Self::LENGTH & 7),
            way: match word >> Self::WAY {
                0 => Way::Both,
                1 => Way::OneWay,
                _ => Way::Exchange,
            },
        })
    }

    /// Their lengths, ascending.
    pub fn bytes(self) -> impl Iterator<Item = usize> {
        self.limits().map(|limit| limit.bytes)
    }

    /// Those that are for messages that go this way.
    #[must_use]
    pub fn for_way(self, way: Way) -> Self {
        let those = self.limits().filter(|limit| limit.way == way || limit.way == Way::Both);
        Self::of(those.map(|limit| Limit { way: Way::Both, ..limit })).expect("some of what was right")
    }

    /// The same with two pieces at most.
    #[must_use]
    pub fn of_two(self) -> Self {
        Self::of(self.limits().map(|limit| Limit::of_two(limit.bytes, limit.way)))
            .expect("what was right, with pieces that are")
    }

    /// Into whose pieces a message of `bytes` is cut; `None` if it travels whole.
    #[inline]
    pub fn of_message(self, bytes: usize) -> Option<Limit> {
        // Between two limits the longer one makes fewer pieces.
        self.limits().filter(|limit| limit.bytes < bytes && bytes <= limit.longest()).last()
    }

    /// As one word.
    pub const fn word(self) -> u64 {
        (self.0[1] as u64) << 32 | self.0[0] as u64
    }

    /// What [`word`](Self::word) was made from.
    pub const fn from_word(word: u64) -> Self {
        Self([word as u32, (word >> 32) as u32])
    }
}

#[cfg(test)]
mod tests {
    use super::{Limit, ProtocolLimits, Way};
    use crate::algorithm::parse_choice;
    use crate::operation::Operation;

    #[test]
    fn what_is_made_of_operations_with_a_root_goes_their_way() {
        let way = |operation, text, nodes: &[u32]| Way::of(&parse_choice(operation, text).unwrap(), nodes);
        let (one_node, two_nodes) = (&[][..], &[0, 0, 1, 1][..]);
        for nodes in [one_node, two_nodes] {
            assert_eq!(way(Operation::Bcast, "binomial", nodes), Way::OneWay);
            assert_eq!(way(Operation::Allreduce, "ring", nodes), Way::Exchange);
            assert_eq!(way(Operation::Allreduce, "reduce_bcast", nodes), Way::OneWay);
            assert_eq!(way(Operation::Allreduce, "allgather_reduce", nodes), Way::Exchange);
        }
        assert_eq!(way(Operation::Allreduce, "hierarchical", two_nodes), Way::OneWay);
        assert_eq!(way(Operation::Allreduce, "hierarchical", one_node), Way::Exchange, "the leaders are all ranks");
        assert_eq!(way(Operation::Allreduce, "hierarchical:leaders=reduce_bcast", one_node), Way::OneWay);
        assert_eq!(way(Operation::Allgather, "hierarchical", two_nodes), Way::OneWay);
    }

    #[test]
    fn what_is_no_more_than_twice_as_long_travels_as_two() {
        let piece = |limits: ProtocolLimits, bytes| limits.of_message(bytes).map(|limit| limit.bytes);
        let limits = ProtocolLimits::of([256, 4040]).unwrap();
        let cut = [256, 257, 512, 513, 4040, 4041, 8080, 8081].map(|bytes| piece(limits, bytes));
        assert_eq!(cut, [None, Some(256), Some(256), None, None, Some(4040), Some(4040), None]);
        assert_eq!(piece(ProtocolLimits::NONE, 1), None);
        assert_eq!(piece(ProtocolLimits::of([300, 400]).unwrap(), 500), Some(400), "fewer pieces");
        let limits: Vec<Limit> = ["256", "4040x8"].map(|text| text.parse().unwrap()).into();
        let limits = ProtocolLimits::of(limits).unwrap();
        let cut = [512, 513, 4041, 32320, 32768, 32769].map(|bytes| piece(limits, bytes));
        assert_eq!(cut, [Some(256), None, Some(4040), Some(4040), Some(4040), None]);
        let longest = |text: &str| text.parse::<Limit>().unwrap().longest();
        assert_eq!(["8192x32", "4100x8", "4040"].map(longest), [256 << 10, 32_800, 8080], "not by many pieces more");
        assert_eq!(limits.of_two(), ProtocolLimits::of([256, 4040]).unwrap());
    }

    #[test]
    fn bad_ones_are_refused_and_words_come_back() {
        for wrong in [&[1, 2, 3][..], &[0], &[5, 5], &[6, 5], &[1 << 27], &[1 << 40]] {
            assert_eq!(ProtocolLimits::of(wrong.iter().copied()), None, "{wrong:?}");
        }
        for right in [&[][..], &[7], &[256, 4040]] {
            let limits = ProtocolLimits::of(right.iter().copied()).unwrap();
            assert_eq!(ProtocolLimits::from_word(limits.word()), limits);
            assert!(limits.bytes().eq(right.iter().copied()));
        }
    }

    #[test]
    fn a_limit_may_be_for_one_way_only() {
        let read: Vec<Limit> = ["256:one_way", " 4K:exchange", "9000"].map(|text| text.parse().unwrap()).into();
        assert_eq!(read[1], Limit::of_two(4096, Way::Exchange));
        assert_eq!(read.iter().map(Limit::to_string).collect::<Vec<_>>(), ["256:one_way", "4096:exchange", "9000"]);
        for wrong in ["256:both", "256:", "x", ":exchange", "", "256x", "256x2x2", "x4"] {
            assert_eq!(wrong.parse::<Limit>(), Err(()), "{wrong}");
        }
        let many: Limit = "8Kx32:one_way".parse().unwrap();
        assert_eq!(
            (many, many.to_string().as_str()),
            (Limit { bytes: 8192, pieces: 32, way: Way::OneWay }, "8192x32:one_way")
        );
        let words = ProtocolLimits::of([Limit::from(256), many]).unwrap();
        assert_eq!(ProtocolLimits::from_word(words.word()).limits().collect::<Vec<_>>(), [256.into(), many]);
        for pieces in [0, 1, 3, 256] {
            assert_eq!(ProtocolLimits::of([Limit { pieces, ..many }]), None, "{pieces} pieces");
        }
        let limits = ProtocolLimits::of(read[..2].iter().copied()).unwrap();
        assert_eq!(ProtocolLimits::from_word(limits.word()), limits);
        assert_eq!(limits.limits().collect::<Vec<_>>(), read[..2]);
        let of = |way| limits.for_way(way).bytes().collect::<Vec<_>>();
        assert_eq!((of(Way::OneWay), of(Way::Exchange)), (vec![256], vec![4096]));
        let json = serde_json::to_string(&read).unwrap();
        assert_eq!(json, r#"["256:one_way","4096:exchange",9000]"#);
        assert_eq!(serde_json::from_str::<Vec<Limit>>(&json).unwrap(), read);
        assert!(serde_json::from_str::<Limit>("\"9:up\"").unwrap_err().to_string().contains("'9:up' is not a limit"));
    }
}
