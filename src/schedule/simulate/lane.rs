//! Messages that hold one another up between two ranks.

use super::event::Message;
use std::collections::VecDeque;

/// Two ranks whose messages hold one another up: those of one direction where ports are shared, for they are one
/// connection's; those of both that wait for their receives where these take turns.
pub type Lane = (bool, u32, u32);

/// The messages of a lane.
#[derive(Default)]
pub struct Traffic {
    /// Those that the port has taken on, and their bytes.
    pub messages: usize,
    pub bytes: u64,
    pub waiting: VecDeque<Message>,
}

impl Traffic {
    /// Takes another message on if there is room for it: beside others for `queue` bytes at most.
    pub fn takes(&mut self, bytes: u64, queue: u64) -> bool {
        let takes = self.messages == 0 || self.bytes + bytes <= queue;
        if takes {
            self.messages += 1;
            self.bytes += bytes;
        }
        takes
    }
}
