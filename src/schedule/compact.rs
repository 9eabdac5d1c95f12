//! A rank's program in a form that is quick to carry out: messages that are waited for at once become one blocking call,
//! an exchange becomes one call, and all else is worked out beforehand.

use super::comm::{Buffer, Range, Request};
use super::record::{Program, Step};
use std::os::raw::c_int;

/// Longer programs are walked anew: their messages cost more than the walk, and their actions would fill the cache.
const MOST_STEPS: usize = 64;
/// Bytes of a message that needs no help on its way: its sender is done with it at once, and it may arrive before it is
/// asked for. Longer ones are started before anything else, so that they travel meanwhile.
const SHORT: c_int = 4096;

/// Where something lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The buffer.
    pub buffer: Buffer,
    /// Bytes from its start.
    pub offset: usize,
}

/// A message's other end and its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Rank of the other end.
    pub peer: c_int,
    /// Bytes, as MPI counts them.
    pub bytes: c_int,
    /// Bytes of each piece that it travels in but the last, which may be shorter; as many as it has if it travels whole.
    pub piece: c_int,
    /// Where they lie.
    pub at: Place,
}

impl Message {
    /// The pieces, each with its place, in order: one if the message is empty.
    #[inline]
    pub fn pieces(self) -> impl Iterator<Item = (Place, c_int)> {
        let mut next = Some(0);
        std::iter::from_fn(move || {
            let start = next?;
            let bytes = self.piece.min(self.bytes - start);
            next = Some(start + bytes).filter(|next| *next < self.bytes);
            Some((Place { offset: self.at.offset + start as usize, ..self.at }, bytes))
        })
    }
}

/// One thing to do; sizes in bytes but for folds, which count units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Action {
    Send(Message),
    Receive(Message),
    /// Both at once: out, in.
    Exchange(Message, Message),
    /// The number is the place in the table of requests, of the first if there are several pieces.
    StartSend(Message, u32),
    StartReceive(Message, u32),
    /// For requests that stand one after another.
    Wait {
        first: u32,
        number: u32,
    },
    Copy {
        from: Place,
        into: Place,
        bytes: usize,
    },
    Fold {
        left: Place,
        right: Place,
        into: Place,
        units: usize,
    },
}

/// What one rank does, worked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compact {
    /// In order.
    pub actions: Box<[Action]>,
    /// Bytes of scratch.
    pub scratch: usize,
    /// Places in the table of requests.
    pub requests: usize,
}

impl Compact {
    /// Works a program out for units of `unit` bytes; `None` if it is too long or a message too large for one count.
    ///
    /// Without `blocking`, every message is started and waited for: for those who wait in a way of their own.
    /// `piece` tells the units of each piece of a message to or from a rank, by the message's units, if it is to be cut.
    pub fn of(
        program: &Program,
        unit: usize,
        blocking: bool,
        piece: impl Fn(usize, usize) -> Option<usize>,
    ) -> Option<Self> {
        if program.steps.len() > MOST_STEPS {
            return None;
        }
        let mut writer = Writer { unit, blocking, piece, actions: Vec::new(), slots: Vec::new() };
        let mut steps = &program.steps[..];
        while !steps.is_empty() {
            let taken = writer.write(steps)?;
            steps = &steps[taken..];
        }
        let requests = writer.slots.len();
        Some(Self { actions: writer.actions.into(), scratch: program.scratch * unit, requests })
    }

    /// The same where `Send` and `Receive` share no memory: what arrives only to be folded with the contribution into the
    /// result arrives where the result goes.
    ///
    /// One buffer less to bring into the cache: a reduce of 32 KiB between two ranks of Open MPI 4.1.4 took 1.2 times the
    /// native time before, whose receives go there as well.
    #[must_use]
    pub fn with_results_in_place(mut self, unit: usize) -> Self {
        for place in 1..self.actions.len() {
            let (before, after) = self.actions.split_at_mut(place);
            let [fold @ Action::Fold { .. }, later @ ..] = after else { continue };
            let Action::Fold { left, right, into, units } = fold else { unreachable!("just matched") };
            let (Action::Receive(message) | Action::Exchange(_, message)) = &mut before[place - 1] else { continue };
            let arriving = Stretch { at: message.at, bytes: *units * unit };
            let incoming = message.at == *left || message.at == *right;
            let own = if message.at == *left { *right } else { *left };
            let buffers = (message.at.buffer, own.buffer, into.buffer);
            let whole = usize::try_from(message.bytes) == Ok(arriving.bytes);
            if incoming
                && whole
                && buffers == (Buffer::Scratch, Buffer::Send, Buffer::Receive)
                && arriving.is_over(later, unit)
            {
                let operand = if message.at == *left { left } else { right };
                *operand = *into;
                message.at = *into;
            }
        }
        self
    }

    /// Whether it combines anything.
    pub fn folds(&self) -> bool {
        self.actions.iter().any(|action| matches!(action, Action::Fold { .. }))
    }
}

/// Bytes in a row.
#[derive(Clone, Copy)]
struct Stretch {
    at: Place,
    bytes: usize,
}

impl Stretch {
    const fn of(message: &Message) -> Self {
        Self { at: message.at, bytes: message.bytes as usize }
    }

    fn overlaps(self, other: Self) -> bool {
        self.at.buffer == other.at.buffer
            && self.at.offset < other.at.offset + other.bytes
            && other.at.offset < self.at.offset + self.bytes
    }

    /// Whether nothing reads it before it is written anew.
    fn is_over(self, later: &[Action], unit: usize) -> bool {
        let covers = |written: Self| {
            written.at.buffer == self.at.buffer
                && written.at.offset <= self.at.offset
                && written.at.offset + written.bytes >= self.at.offset + self.bytes
        };
        for action in later {
            let (reads, written) = touched(action, unit);
            if reads.into_iter().flatten().any(|read| read.overlaps(self)) {
                return false;
            }
            if written.is_some_and(covers) {
                return true;
            }
        }
        true
    }
}

/// What an action reads, and what it writes. A receive that is started writes, as it must not be touched before.
fn touched(action: &Action, unit: usize) -> ([Option<Stretch>; 2], Option<Stretch>) {
    match action {
        Action::Send(message) | Action::StartSend(message, _) => ([Some(Stretch::of(message)), None], None),
        Action::Receive(message) | Action::StartReceive(message, _) => ([None, None], Some(Stretch::of(message))),
        Action::Exchange(out, into) => ([Some(Stretch::of(out)), None], Some(Stretch::of(into))),
        Action::Wait { .. } => ([None, None], None),
        Action::Copy { from, into, bytes } => {
            ([Some(Stretch { at: *from, bytes: *bytes }), None], Some(Stretch { at: *into, bytes: *bytes }))
        }
        Action::Fold { left, right, into, units } => {
            let of = |at: &Place| Some(Stretch { at: *at, bytes: units * unit });
            ([of(left), of(right)], of(into))
        }
    }
}

/// Turns steps into actions.
struct Writer<Piece> {
    unit: usize,
    blocking: bool,
    piece: Piece,
    actions: Vec<Action>,
    /// The program's requests, by place in the table: each as often as its message has pieces.
    slots: Vec<Request>,
}

impl<Piece: Fn(usize, usize) -> Option<usize>> Writer<Piece> {
    const fn place(&self, range: &Range) -> Place {
        Place { buffer: range.buffer, offset: range.start * self.unit }
    }

    /// The message that a step starts, its request, and whether it goes out; `None` for other steps and for messages
    /// that are too large.
    fn message(&self, step: &Step) -> Option<(Message, Request, bool)> {
        let (peer, range, request, outgoing) = match step {
            Step::Isend { to, from, request } => (to, from, request, true),
            Step::Irecv { from, into, request } => (from, into, request, false),
            _ => return None,
        };
        let bytes = c_int::try_from(range.len * self.unit).ok()?;
        let piece = (self.piece)(*peer, range.len).map_or(bytes, |units| (units * self.unit) as c_int);
        Some((Message { peer: *peer as c_int, bytes, piece, at: self.place(range) }, *request, outgoing))
    }

    /// Writes the first of the steps, with those that go into one action with it; tells how many that were.
    fn write(&mut self, steps: &[Step]) -> Option<usize> {
        match &steps[0] {
            Step::Isend { .. } | Step::Irecv { .. } => return self.write_message(steps),
            Step::Wait { requests } => self.write_wait(requests),
            Step::Copy { from, into } => {
                let bytes = from.len * self.unit;
                self.actions.push(Action::Copy { from: self.place(from), into: self.place(into), bytes });
            }
            Step::Fold { left, right, into } => {
                let [left, right, place] = [left, right, into].map(|range| self.place(range));
                self.actions.push(Action::Fold { left, right, into: place, units: into.len });
            }
        }
        Some(1)
    }

    fn write_message(&mut self, steps: &[Step]) -> Option<usize> {
        let (message, request, outgoing) = self.message(&steps[0])?;
        if self.blocking {
            if let Some(taken) = self.write_beside_copies(steps) {
                return Some(taken);
            }
            if let [_, second, Step::Wait { requests }, ..] = steps
                && let Some((other, other_request, other_outgoing)) = self.message(second)
                && other_outgoing != outgoing
                && requests.len() == 2
                && requests.contains(&request)
                && requests.contains(&other_request)
            {
                let (out, into) = if outgoing { (message, other) } else { (other, message) };
                self.actions.push(Action::Exchange(out, into));
                return Some(3);
            }
            // What else the wait is for is waited for afterwards.
            if let [_, Step::Wait { requests }, ..] = steps
                && requests.contains(&request)
            {
                self.actions.push(if outgoing { Action::Send(message) } else { Action::Receive(message) });
                return Some(1);
            }
        }
        self.start(message, request, outgoing);
        Some(1)
    }

    /// Short messages, at most one each way, that are under way while something is copied: blocking calls do here as well,
    /// and take 15 to 50 ns less than starting and waiting (a receive needs no request from Open MPI's lists).
    fn write_beside_copies(&mut self, steps: &[Step]) -> Option<usize> {
        let copies = |step: &Step| matches!(step, Step::Copy { .. });
        let messages = steps.iter().take_while(|step| self.message(step).is_some()).count();
        let number = steps[messages..].iter().take_while(|step| copies(step)).count();
        let (Some(Step::Wait { requests }), true) = (steps.get(messages + number), number > 0) else { return None };
        let (mut out, mut into) = (None, None);
        for step in &steps[..messages] {
            let (message, request, outgoing) = self.message(step)?;
            let side = if outgoing { &mut out } else { &mut into };
            if message.bytes > SHORT || !requests.contains(&request) || side.replace((message, request)).is_some() {
                return None;
            }
        }
        match (out, into) {
            (Some((out, request)), Some(_)) => self.start(out, request, true),
            (Some((out, _)), None) => self.actions.push(Action::Send(out)),
            _ => {}
        }
        for step in &steps[messages..messages + number] {
            self.write(std::slice::from_ref(step))?;
        }
        if let Some((into, _)) = into {
            self.actions.push(Action::Receive(into));
        }
        Some(messages + number)
    }

    fn start(&mut self, message: Message, request: Request, outgoing: bool) {
        let slot = self.slots.len() as u32;
        self.slots.extend(message.pieces().map(|_| request));
        let start = if outgoing { Action::StartSend } else { Action::StartReceive };
        self.actions.push(start(message, slot));
    }

    fn write_wait(&mut self, requests: &[Request]) {
        for request in requests {
            let Some(slot) = self.slots.iter().position(|known| known == request) else { continue };
            let pieces = self.slots[slot..].iter().take_while(|known| *known == request).count() as u32;
            let slot = slot as u32;
            match self.actions.last_mut() {
                Some(Action::Wait { first, number }) if *first + *number == slot => *number += pieces,
                _ => self.actions.push(Action::Wait { first: slot, number: pieces }),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{Call, Choice, Operation};
    use crate::schedule::{record, record_body};

    const UNIT: usize = 4;

    const fn whole(_: usize, _: usize) -> Option<usize> {
        None
    }

    fn compact(operation: Operation, choice: &str, rank: usize, size: usize, blocking: bool) -> Compact {
        let choice = Choice::parse(operation, choice).expect("in the catalogue");
        let call =
            Call { operation, root: 0, count: 3, unit: UNIT, commutative: true, nodes: &[], half_bandwidth: 8192 };
        Compact::of(&record(&choice, &call, rank, size), UNIT, blocking, whole).expect("a short program")
    }

    const fn at(buffer: Buffer, offset: usize) -> Place {
        Place { buffer, offset }
    }

    #[test]
    fn what_is_waited_for_at_once_is_one_blocking_call() {
        let message = Message { peer: 1, bytes: 12, piece: 12, at: at(Buffer::Receive, 0) };
        assert_eq!(*compact(Operation::Bcast, "linear", 0, 2, true).actions, [Action::Send(message)]);
        let waiting = [Action::StartSend(message, 0), Action::Wait { first: 0, number: 1 }];
        assert_eq!(*compact(Operation::Bcast, "linear", 0, 2, false).actions, waiting);
    }

    #[test]
    fn two_ways_at_once_are_one_exchange() {
        let program = compact(Operation::Allreduce, "recursive_doubling", 1, 2, true);
        let [Action::Exchange(out, into), Action::Fold { units: 3, into: result, .. }] = *program.actions else {
            panic!("{program:?}")
        };
        assert_eq!((out.peer, out.bytes, out.at), (0, 12, at(Buffer::Send, 0)));
        assert_eq!((into.peer, into.bytes), (0, 12));
        assert_eq!((result, program.requests), (at(Buffer::Receive, 0), 0));
        assert!(program.folds());
    }

    #[test]
    fn what_is_folded_into_the_result_arrives_there() {
        let program = compact(Operation::Allreduce, "recursive_doubling", 1, 4, true).with_results_in_place(UNIT);
        let [Action::Exchange(_, first), Action::Fold { left, right, .. }, Action::Exchange(_, second), ..] =
            program.actions[..]
        else {
            panic!("{program:?}")
        };
        let result = at(Buffer::Receive, 0);
        assert_eq!((first.at, left, right), (result, result, at(Buffer::Send, 0)));
        assert_eq!(second.at.buffer, Buffer::Scratch, "the result is folded with it");
    }

    #[test]
    fn what_is_needed_again_stays_in_scratch() {
        let scratch = at(Buffer::Scratch, 0);
        let message = |at| Message { peer: 0, bytes: 12, piece: 12, at };
        let fold = Action::Fold { left: scratch, right: at(Buffer::Send, 0), into: at(Buffer::Receive, 0), units: 3 };
        let actions = |last| [Action::Receive(message(scratch)), fold, Action::Send(message(last))];
        let changed = |last| {
            let program = Compact { actions: Box::new(actions(last)), scratch: 12, requests: 0 };
            program.clone().with_results_in_place(UNIT) != program
        };
        assert!(!changed(scratch));
        assert!(changed(at(Buffer::Receive, 0)));
    }

    #[test]
    fn the_last_message_of_a_group_blocks_and_the_others_are_waited_for() {
        let program = record_body(1, 3, |comm| {
            let (first, second) = (comm.irecv(0, Range::receive(0, 1)), comm.irecv(2, Range::receive(1, 1)));
            let third = comm.isend(0, Range::send(0, 1));
            comm.wait(&[first, second, third]);
        });
        let message = |peer, buffer, offset| Message { peer, bytes: 4, piece: 4, at: at(buffer, offset) };
        let expected = [
            Action::StartReceive(message(0, Buffer::Receive, 0), 0),
            Action::StartReceive(message(2, Buffer::Receive, 4), 1),
            Action::Send(message(0, Buffer::Send, 0)),
            Action::Wait { first: 0, number: 2 },
        ];
        assert_eq!(*Compact::of(&program, UNIT, true, whole).expect("a short program").actions, expected);
    }

    #[test]
    fn short_messages_beside_copies_block() {
        let message = |buffer, offset| Message { peer: 1, bytes: 12, piece: 12, at: at(buffer, offset) };
        let copy = |into| Action::Copy { from: at(Buffer::Send, 0), into: at(Buffer::Receive, into), bytes: 12 };
        let root = compact(Operation::Gather, "linear", 0, 2, true);
        assert_eq!(*root.actions, [copy(0), Action::Receive(message(Buffer::Receive, 12))]);
        let root = compact(Operation::Scatter, "linear", 0, 2, true);
        assert_eq!(*root.actions, [Action::Send(message(Buffer::Send, 12)), copy(0)]);
        let rank = compact(Operation::Allgather, "direct", 0, 2, true);
        let expected = [
            Action::StartSend(message(Buffer::Send, 0), 0),
            copy(0),
            Action::Receive(message(Buffer::Receive, 12)),
            Action::Wait { first: 0, number: 1 },
        ];
        assert_eq!(*rank.actions, expected);
        let many = compact(Operation::Gather, "linear", 0, 3, true);
        let last = [copy(0), Action::Receive(message(Buffer::Receive, 12)), Action::Wait { first: 0, number: 1 }];
        assert_eq!(many.actions[1..], last, "the other was started");
    }

    #[test]
    fn messages_are_cut_and_each_piece_has_a_request() {
        let program = record_body(0, 2, |comm| {
            let first = comm.irecv(1, Range::receive(0, 5));
            let second = comm.isend(1, Range::send(0, 2));
            comm.wait(&[first]);
            comm.wait(&[second]);
        });
        let piece = |_, units| (units > 2).then_some(2);
        let message = |buffer, units: c_int| Message { peer: 1, bytes: 4 * units, piece: 8, at: at(buffer, 0) };
        let compact = Compact::of(&program, UNIT, false, piece).expect("a short program");
        let expected = [
            Action::StartReceive(message(Buffer::Receive, 5), 0),
            Action::StartSend(message(Buffer::Send, 2), 3),
            Action::Wait { first: 0, number: 4 },
        ];
        assert_eq!((&*compact.actions, compact.requests), (&expected[..], 4));
        let pieces: Vec<_> = message(Buffer::Receive, 5).pieces().map(|(at, bytes)| (at.offset, bytes)).collect();
        assert_eq!(pieces, [(0, 8), (8, 8), (16, 4)]);
        let nothing = Message { peer: 1, bytes: 0, piece: 0, at: at(Buffer::Send, 12) };
        assert_eq!(nothing.pieces().count(), 1, "a message of no bytes is a message");
    }

    #[test]
    fn long_programs_and_large_messages_have_no_such_form() {
        let choice = Choice::parse(Operation::Bcast, "linear").expect("in the catalogue");
        let call = |count| Call {
            operation: Operation::Bcast,
            root: 0,
            count,
            unit: 1,
            commutative: true,
            nodes: &[],
            half_bandwidth: 8192,
        };
        assert_eq!(Compact::of(&record(&choice, &call(8), 0, 100), 1, true, whole), None);
        assert_eq!(Compact::of(&record(&choice, &call(1 << 31), 0, 2), 1, true, whole), None);
    }
}
