//! What of a rank's memory is still looked for: by the actions that come later, and by sends that are under way.

use crate::schedule::action::Action;
use crate::schedule::{Buffer, Range};

/// Whether nothing reads the range before it is written anew.
pub fn is_over(range: Range, later: &[Action]) -> bool {
    let covers =
        |written: Range| written.buffer == range.buffer && written.start <= range.start && written.end() >= range.end();
    for action in later {
        let (reads, written) = touched(action);
        if reads.into_iter().flatten().any(|read| read.overlaps(range)) {
            return false;
        }
        if written.is_some_and(covers) {
            return true;
        }
    }
    true
}

/// Whether an action reads or writes scratch.
pub fn uses_scratch(action: &Action) -> bool {
    let (reads, written) = touched(action);
    reads.into_iter().chain([written]).flatten().any(|range| range.buffer == Buffer::Scratch)
}

/// What an action reads, and what it writes. A receive that is started writes, as it must not be touched before.
fn touched(action: &Action) -> ([Option<Range>; 2], Option<Range>) {
    match *action {
        Action::Send(message) | Action::StartSend { message, .. } => ([Some(message.range), None], None),
        Action::Receive(message) | Action::StartReceive { message, .. } => ([None, None], Some(message.range)),
        Action::Exchange { out, into } => ([Some(out.range), None], Some(into.range)),
        Action::Wait { .. } | Action::Shared(_) => ([None, None], None),
        Action::Copy { from, into } => ([Some(from), None], Some(into)),
        Action::Fold { left, right, into } => ([Some(left), Some(right)], Some(into)),
        Action::ReduceLocal { input, inout } => ([Some(input), Some(inout)], Some(inout)),
        Action::Pack { into, .. } => ([None, None], Some(into)),
        Action::Unpack { from, .. } => ([Some(from), None], None),
    }
}

/// Sends that are started and not waited for yet.
#[derive(Debug, Default)]
pub struct Outgoing(Vec<Sending>);

#[derive(Debug)]
struct Sending {
    /// Places of its requests.
    slots: std::ops::Range<u32>,
    /// How many of them are not waited for.
    left: u32,
    /// What is read.
    range: Range,
}

impl Outgoing {
    /// Takes the next action of a list.
    pub fn take(&mut self, action: &Action) {
        match *action {
            Action::StartSend { message, slot } => {
                let left = message.number_of_fragments() as u32;
                self.0.push(Sending { slots: slot..slot + left, left, range: message.range });
            }
            Action::Wait { first, number } => {
                for sending in &mut self.0 {
                    let waited = (first + number).min(sending.slots.end).saturating_sub(first.max(sending.slots.start));
                    sending.left -= waited;
                }
                self.0.retain(|sending| sending.left > 0);
            }
            _ => {}
        }
    }

    /// Whether one of them reads some of the range.
    pub fn reads(&self, range: Range) -> bool {
        self.0.iter().any(|sending| sending.range.overlaps(range))
    }
}
