//! Programs played bit by bit, by tests that have the ranks of a thread go on in any order.

use super::player::Player;
use super::transport::{Observer, Transport};
use crate::schedule::action::{Action, Sink};

/// A transport that can look without waiting.
pub trait Polled: Transport {
    /// Whether all of some requests are finished; if so they are no messages afterwards.
    ///
    /// # Errors
    /// What the transport says.
    fn test(&mut self, requests: &mut [Self::Request]) -> Result<bool, Self::Error>;
}

/// Plays a list of actions with `scratch` units of working memory, to its end.
///
/// # Errors
/// The first error of the transport.
pub fn play<T: Transport, O: Observer>(
    mut player: Player<T, O>,
    actions: &[Action],
    scratch: usize,
) -> Result<u64, T::Error> {
    player.carry_all(actions, scratch);
    player.finish()
}

/// A list of actions that is played bit by bit.
pub struct Resumable<'a, T: Polled, O: Observer> {
    player: Player<'a, T, O>,
    actions: &'a [Action],
    next: usize,
}

impl<'a, T: Polled, O: Observer> Resumable<'a, T, O> {
    /// Nothing is done yet; `None` if an action would block other than by waiting for requests.
    pub fn new(mut player: Player<'a, T, O>, actions: &'a [Action], scratch: usize) -> Option<Self> {
        if actions.iter().any(blocks) {
            return None;
        }
        if scratch > 0 {
            player.scratch(scratch);
        }
        Some(Self { player, actions, next: 0 })
    }

    /// Goes on as far as that takes no waiting; whether everything is done.
    pub fn progress(&mut self) -> bool {
        while let Some(action) = self.actions.get(self.next) {
            if !self.player.act(action, |transport, requests| transport.test(requests)) {
                return false;
            }
            self.next += 1;
        }
        true
    }

    /// Goes on to the end.
    ///
    /// # Errors
    /// The first error of the transport.
    pub fn finish(mut self) -> Result<u64, T::Error> {
        self.player.carry_all(&self.actions[self.next..], 0);
        self.player.finish()
    }
}

/// Whether an action may block, other than by waiting for requests.
fn blocks(action: &Action) -> bool {
    match action {
        Action::Send(_) | Action::Receive(_) | Action::Exchange { .. } => true,
        Action::Shared(step) => step.waits(),
        _ => false,
    }
}
