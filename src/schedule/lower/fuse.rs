//! Fusing: a message that is waited for at once becomes one blocking call, an exchange becomes one action.
//!
//! A blocking call starts a message and waits for it, so what has to be checked is only that nothing else comes between
//! the two in the algorithm, or that what does is neither touched by the message nor waited for by another rank before
//! it sends.

use super::Lower;
use crate::schedule::action::{Action, Message, Sink};
use crate::schedule::{Range, Request, Step};

/// Bytes of a message that needs no help on its way: its sender is done with it at once, and it may arrive before it is
/// asked for. Longer ones are started before anything else, so that they travel meanwhile.
const SHORT: usize = 4096;

/// A started message of the window.
struct Started {
    message: Message,
    request: Request,
    outgoing: bool,
}

impl<S: Sink> Lower<'_, S> {
    /// Writes the first of the steps, with those that go into one action with it; gives their number. The steps end in
    /// waiting for `waited`.
    pub(super) fn write(&mut self, steps: &[Step], waited: &[Request]) -> usize {
        match &steps[0] {
            Step::Copy { from, into } => self.emit(Action::Copy { from: *from, into: *into }),
            Step::Fold { left, right, into } => self.emit(Action::Fold { left: *left, right: *right, into: *into }),
            Step::Isend { .. } | Step::Irecv { .. } => return self.write_message(steps, waited),
            Step::Wait { .. } | Step::Shared(_) => unreachable!("a window ends before a wait and a step on the board"),
        }
        1
    }

    fn started(&self, step: &Step) -> Option<Started> {
        let (peer, range, request, outgoing): (usize, Range, _, _) = match *step {
            Step::Isend { to, from, request } => (to, from, request, true),
            Step::Irecv { from, into, request } => (from, into, request, false),
            _ => return None,
        };
        Some(Started { message: self.message(peer, range), request, outgoing })
    }

    fn write_message(&mut self, steps: &[Step], waited: &[Request]) -> usize {
        let first = self.started(&steps[0]).expect("a message");
        if self.form.blocking {
            if let Some(taken) = self.write_beside_copies(steps, waited) {
                return taken;
            }
            if let [_, second] = steps
                && let Some(second) = self.started(second)
                && second.outgoing != first.outgoing
                && waited.len() == 2
                && waited.contains(&first.request)
                && waited.contains(&second.request)
            {
                let (out, into) = if first.outgoing { (first, second) } else { (second, first) };
                self.emit(Action::Exchange { out: out.message, into: into.message });
                return 2;
            }
            // What else the wait is for is waited for afterwards.
            if steps.len() == 1 && waited.contains(&first.request) {
                self.emit(if first.outgoing { Action::Send(first.message) } else { Action::Receive(first.message) });
                return 1;
            }
        }
        self.start(&first);
        1
    }

    /// Short messages, at most one each way, that are under way while something is copied: blocking calls do here as
    /// well, and take 15 to 50 ns less than starting and waiting (a receive needs no request from Open MPI's lists).
    fn write_beside_copies(&mut self, steps: &[Step], waited: &[Request]) -> Option<usize> {
        // A window may hold a thousand messages, and this is asked at each of them.
        if waited.is_empty() || !matches!(steps.last(), Some(Step::Copy { .. })) {
            return None;
        }
        let messages = steps.iter().take(3).take_while(|step| self.started(step).is_some()).count();
        if messages > 2 {
            return None;
        }
        let copies = &steps[messages..];
        if copies.is_empty() || !copies.iter().all(|step| matches!(step, Step::Copy { .. })) {
            return None;
        }
        let (mut out, mut into) = (None, None);
        for step in &steps[..messages] {
            let started = self.started(step)?;
            let fits = started.message.range.len * self.unit <= SHORT && waited.contains(&started.request);
            let side = if started.outgoing { &mut out } else { &mut into };
            if !fits || side.replace(started).is_some() {
                return None;
            }
        }
        match (&out, &into) {
            (Some(out), Some(_)) => self.start(out),
            (Some(out), None) => self.emit(Action::Send(out.message)),
            _ => {}
        }
        for step in copies {
            self.write(std::slice::from_ref(step), &[]);
        }
        if let Some(into) = into {
            self.emit(Action::Receive(into.message));
        }
        Some(steps.len())
    }

    fn start(&mut self, started: &Started) {
        // One that holds no places is not waited for.
        if self.sink.is_full() {
            return;
        }
        let Started { message, request, outgoing } = *started;
        let slot = self.slots.take(request, message.number_of_fragments());
        self.emit(match outgoing {
            true => Action::StartSend { message, slot },
            false => Action::StartReceive { message, slot },
        });
    }
}
