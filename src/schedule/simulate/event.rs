//! What happens to messages, in the order of time.

use std::cmp::Ordering;

/// Of events at the same time, that of the message which its rank started first goes first.
#[derive(Clone, Copy, PartialEq)]
pub struct Event {
    pub time: f64,
    pub what: What,
    pub message: Message,
}

#[derive(Clone, Copy, PartialEq)]
pub struct Message {
    /// The sending end.
    pub end: u32,
    pub sender: u32,
    pub receiver: u32,
    pub bytes: u64,
}

#[derive(Clone, Copy, PartialEq)]
pub enum What {
    /// Its sender asks for its receive.
    Asks,
    /// Its receiver has the question, and the receive has been started.
    Answers,
    /// It asks for a port of its sender's, or for both ports where they are shared.
    Departs,
    /// It asks for a port of its receiver's.
    Arrives,
    /// Its share of the ports lets it end now, unless that has changed.
    Ends { flow: u32, version: u32 },
    /// Its last byte has come through shared ports.
    Lands,
    /// Its sender knows that its receive has begun.
    Returns,
    /// It lets another one through between the same two ranks.
    Frees,
}

impl Eq for Event {}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Event {
    fn cmp(&self, other: &Self) -> Ordering {
        self.time.total_cmp(&other.time).then(self.message.end.cmp(&other.message.end))
    }
}
