//! Messages that this rank sent, by receiver.

use super::TrafficRecord;

/// Messages and bytes to each world rank; 16 bytes of memory per rank of the world.
#[derive(Debug, Default)]
pub struct Traffic {
    sent: Vec<(u64, u64)>,
}

impl Traffic {
    /// No messages yet, to `ranks` possible receivers.
    pub fn new(ranks: usize) -> Self {
        Self { sent: vec![(0, 0); ranks] }
    }

    /// Counts one message of `bytes` bytes to world rank `to`. Receivers outside the world (of spawned processes) have
    /// no place in the matrix and are not counted.
    #[inline]
    pub fn sent(&mut self, to: usize, bytes: u64) {
        self.add_to(to, 1, bytes);
    }

    /// Counts `messages` messages of `bytes` bytes in all to world rank `to`.
    #[inline]
    pub fn add_to(&mut self, to: usize, messages: u64, bytes: u64) {
        if let Some((number, sum)) = self.sent.get_mut(to) {
            *number += messages;
            *sum += bytes;
        }
    }

    /// Adds what another thread of this rank counted.
    pub fn add(&mut self, other: &Self) {
        for (own, more) in self.sent.iter_mut().zip(&other.sent) {
            *own = (own.0 + more.0, own.1 + more.1);
        }
    }

    /// Forgets what was counted.
    pub fn reset(&mut self) {
        self.sent.fill((0, 0));
    }

    /// The receivers that got something.
    pub fn records(&self) -> Vec<TrafficRecord> {
        let receivers = (0u32..).zip(&self.sent).filter(|(_, (messages, _))| *messages > 0);
        receivers.map(|(to, &(messages, bytes))| TrafficRecord { to, messages, bytes }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_add_up_per_receiver() {
        let mut traffic = Traffic::new(3);
        traffic.sent(2, 10);
        traffic.sent(2, 0);
        traffic.sent(7, 99);
        let mut other = Traffic::new(3);
        other.sent(0, 1);
        traffic.add(&other);
        let expected =
            [TrafficRecord { to: 0, messages: 1, bytes: 1 }, TrafficRecord { to: 2, messages: 2, bytes: 10 }];
        assert_eq!(traffic.records(), expected);
        traffic.reset();
        assert!(traffic.records().is_empty());
    }
}
