//! What an algorithm is lowered to: the actions of one rank, in order, which the player carries out and the verifier,
//! the simulator and the drawings read.
//!
//! Ranges count units, so one program serves rows of bytes and elements of any datatype alike; requests are numbered by
//! their place in a table that the program states the size of.

use super::record::{Program, Step};
use crate::operation::Shared;
use crate::operation::comm::{Range, Request};

/// Fragments of a message that are under way at once; those within a node are fewer.
const AT_ONCE: usize = 64;

const _: () = assert!(AT_ONCE > 32, "as are measured to pay");

/// One end of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Rank of the other end.
    pub peer: u32,
    /// What is sent, or where it arrives.
    pub range: Range,
    /// Units of each fragment that it travels in but the last, which may be shorter; at least its length if it travels
    /// whole.
    pub fragment: usize,
}

impl Message {
    /// The fragments in order: one if the message is empty.
    #[inline]
    pub fn fragments(self) -> impl Iterator<Item = Range> {
        let mut next = Some(0);
        std::iter::from_fn(move || {
            let start = next?;
            let len = self.fragment.min(self.range.len - start);
            next = Some(start + len).filter(|next| *next < self.range.len);
            Some(Range { buffer: self.range.buffer, start: self.range.start + start, len })
        })
    }

    /// Parts of so many fragments as are under way at once in an action that blocks; one if the message is empty.
    ///
    /// One after the other, a send that blocks lets each of Open MPI's but the shortest wait for the receiver to have
    /// copied it; all of a long message at once would be as many requests, and as many copies in the MPI library.
    #[inline]
    pub fn parts(self) -> impl Iterator<Item = Self> {
        let part = Self { fragment: self.fragment.saturating_mul(AT_ONCE), ..self };
        part.fragments().map(move |range| Self { range, ..self })
    }

    /// Whether it travels as one.
    #[inline]
    pub const fn is_whole(&self) -> bool {
        self.range.len <= self.fragment
    }

    /// Whether a fragment is the last one.
    #[inline]
    pub const fn ends_with(&self, fragment: Range) -> bool {
        fragment.start + fragment.len == self.range.start + self.range.len
    }

    /// How many there are.
    #[inline]
    pub const fn number_of_fragments(self) -> usize {
        if self.is_whole() { 1 } else { self.range.len.div_ceil(self.fragment) }
    }
}

/// Which of the program's two buffer arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The send buffer.
    Send,
    /// The receive buffer; of a broadcast, the only one.
    Receive,
}

/// Elements of one of the program's buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elements {
    /// The buffer.
    pub side: Side,
    /// The first of them, counted from the address that was passed.
    pub first: isize,
    /// How many.
    pub number: usize,
}

/// One thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A send that blocks.
    Send(Message),
    /// A receive that blocks.
    Receive(Message),
    /// Both at once; done when both are.
    Exchange {
        /// What goes out.
        out: Message,
        /// What comes in.
        into: Message,
    },
    /// Starts a send; its fragments take the places from `slot` on in the table of requests.
    StartSend {
        /// What goes out.
        message: Message,
        /// Place of the first fragment's request.
        slot: u32,
    },
    /// Starts a receive, likewise.
    StartReceive {
        /// What comes in.
        message: Message,
        /// Place of the first fragment's request.
        slot: u32,
    },
    /// Waits for `number` requests from place `first` on.
    Wait {
        /// Place of the first.
        first: u32,
        /// How many.
        number: u32,
    },
    /// As [`Comm::copy`](super::Comm::copy); the ranges are not the same.
    Copy {
        /// Read.
        from: Range,
        /// Written.
        into: Range,
    },
    /// As [`Comm::fold`](super::Comm::fold), by a kernel.
    Fold {
        /// Of lower ranks, if order matters.
        left: Range,
        /// Of higher ranks.
        right: Range,
        /// The result.
        into: Range,
    },
    /// `inout = input ∘ inout`, by `PMPI_Reduce_local`.
    ReduceLocal {
        /// Of lower ranks, if order matters.
        input: Range,
        /// Of higher ranks, then the result.
        inout: Range,
    },
    /// Writes the signature bytes of elements that do not lie in a row to a range of units of one byte.
    Pack {
        /// Read.
        from: Elements,
        /// Written.
        into: Range,
    },
    /// Sets such elements from their signature bytes.
    Unpack {
        /// Read.
        from: Range,
        /// Written.
        into: Elements,
    },
    /// A step on the board.
    Shared(Shared),
}

// What programs that are kept cost.
const _: () = assert!(std::mem::size_of::<Action>() <= 88);

/// Takes the actions of a rank's program as they come.
pub trait Sink {
    /// The next action.
    fn take(&mut self, action: Action);
    /// So many more units of scratch are there from now on.
    fn scratch(&mut self, units: usize);
    /// Whether nothing more is kept, so that what messages hold needs not be known.
    fn is_full(&self) -> bool {
        false
    }
}

/// The primitives that actions are made of.
pub trait Primitives {
    /// A message of one fragment is started; gives its number.
    fn start(&mut self, peer: u32, range: Range, outgoing: bool) -> Request;
    /// The last fragment of a message of `whole` units is sent, which was cut.
    fn send_last(&mut self, peer: u32, range: Range, whole: usize) -> Request {
        let _ = whole;
        self.start(peer, range, true)
    }
    /// A message is waited for.
    fn wait(&mut self, request: Request);
    /// A range is copied.
    fn copy(&mut self, from: Range, into: Range);
    /// Two ranges are folded.
    fn fold(&mut self, left: Range, right: Range, into: Range);
    /// A step on the board.
    fn shared(&mut self, step: Shared);
    /// Whether nothing more is kept.
    fn is_full(&self) -> bool {
        false
    }
}

/// Takes actions apart into primitives, in the order in which the player goes through them.
#[derive(Debug, Default)]
pub struct Expansion<P> {
    /// Takes the primitives.
    pub primitives: P,
    /// By place in the table of requests.
    pub requests: Vec<Request>,
    /// Units of scratch.
    pub scratch: usize,
}

impl<P: Primitives> Expansion<P> {
    /// Into these primitives.
    pub const fn new(primitives: P) -> Self {
        Self { primitives, requests: Vec::new(), scratch: 0 }
    }

    /// Starts a fragment of a message.
    fn start_fragment(&mut self, message: &Message, range: Range, outgoing: bool) -> Request {
        match outgoing && !message.is_whole() && message.ends_with(range) {
            true => self.primitives.send_last(message.peer, range, message.range.len),
            false => self.primitives.start(message.peer, range, outgoing),
        }
    }

    /// Starts all fragments of a part of a message.
    fn begin(&mut self, message: &Message, part: Message, outgoing: bool, started: &mut Vec<Request>) {
        started.extend(part.fragments().map(|range| self.start_fragment(message, range, outgoing)));
    }

    fn wait_for(&mut self, started: Vec<Request>) {
        started.into_iter().for_each(|request| self.primitives.wait(request));
    }

    fn at_once(&mut self, message: Message, outgoing: bool) {
        for part in message.parts() {
            let mut started = Vec::new();
            self.begin(&message, part, outgoing, &mut started);
            self.wait_for(started);
        }
    }

    fn start(&mut self, message: Message, slot: u32, outgoing: bool) {
        for (range, slot) in message.fragments().zip(slot as usize..) {
            if self.primitives.is_full() {
                break;
            }
            let request = self.start_fragment(&message, range, outgoing);
            if self.requests.len() <= slot {
                self.requests.resize(slot + 1, Request(u32::MAX));
            }
            self.requests[slot] = request;
        }
    }
}

impl<P: Primitives> Sink for Expansion<P> {
    fn is_full(&self) -> bool {
        self.primitives.is_full()
    }

    fn take(&mut self, action: Action) {
        // Of messages that are not kept nobody knows the numbers that are waited for.
        if self.primitives.is_full() {
            return;
        }
        match action {
            Action::Send(message) => self.at_once(message, true),
            Action::Receive(message) => self.at_once(message, false),
            Action::Exchange { out, into } if out.is_whole() && into.is_whole() => {
                let mut started = Vec::new();
                self.begin(&out, out, true, &mut started);
                self.at_once(into, false);
                self.wait_for(started);
            }
            Action::Exchange { out, into } => {
                let (mut parts_out, mut parts_into) = (out.parts(), into.parts());
                loop {
                    let (part_out, part_into) = (parts_out.next(), parts_into.next());
                    if part_out.is_none() && part_into.is_none() {
                        break;
                    }
                    let mut started = Vec::new();
                    part_into.into_iter().for_each(|part| self.begin(&into, part, false, &mut started));
                    part_out.into_iter().for_each(|part| self.begin(&out, part, true, &mut started));
                    self.wait_for(started);
                }
            }
            Action::StartSend { message, slot } => self.start(message, slot, true),
            Action::StartReceive { message, slot } => self.start(message, slot, false),
            Action::Wait { first, number } => {
                for slot in first..first + number {
                    self.primitives.wait(self.requests[slot as usize]);
                }
            }
            Action::Copy { from, into } => self.primitives.copy(from, into),
            Action::Fold { left, right, into } => self.primitives.fold(left, right, into),
            Action::ReduceLocal { input, inout } => self.primitives.fold(input, inout, inout),
            // The same units in another layout.
            Action::Pack { .. } | Action::Unpack { .. } => {}
            Action::Shared(step) => self.primitives.shared(step),
        }
    }

    fn scratch(&mut self, units: usize) {
        self.scratch += units;
    }
}

/// Writes primitives down as a [`Program`].
#[derive(Debug, Default)]
pub struct Steps(Vec<Step>, u32);

impl Primitives for Steps {
    fn start(&mut self, peer: u32, range: Range, outgoing: bool) -> Request {
        let request = Request(self.1);
        self.1 += 1;
        let peer = peer as usize;
        self.0.push(match outgoing {
            true => Step::Isend { to: peer, from: range, request },
            false => Step::Irecv { from: peer, into: range, request },
        });
        request
    }

    fn wait(&mut self, request: Request) {
        match self.0.last_mut() {
            Some(Step::Wait { requests }) => requests.push(request),
            _ => self.0.push(Step::Wait { requests: vec![request] }),
        }
    }

    fn copy(&mut self, from: Range, into: Range) {
        self.0.push(Step::Copy { from, into });
    }

    fn fold(&mut self, left: Range, right: Range, into: Range) {
        self.0.push(Step::Fold { left, right, into });
    }

    fn shared(&mut self, step: Shared) {
        self.0.push(Step::Shared(step));
    }
}

impl Expansion<Steps> {
    /// The steps taken so far, as a program.
    pub fn program(self) -> Program {
        Program { steps: self.primitives.0, scratch: self.scratch, learned: Vec::new() }
    }
}

/// One rank's actions for one form of call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lowered {
    /// In order.
    pub actions: Box<[Action]>,
    /// Units of scratch.
    pub scratch: usize,
    /// Places in the table of requests.
    pub requests: usize,
}

impl Lowered {
    /// Bytes of memory that it takes.
    pub const fn bytes(&self) -> usize {
        std::mem::size_of::<Self>() + std::mem::size_of_val::<[Action]>(&self.actions)
    }

    /// What the actions come to, one by one.
    pub fn program(&self) -> Program {
        let mut expansion = Expansion::new(Steps::default());
        expansion.scratch(self.scratch);
        self.actions.iter().for_each(|action| expansion.take(*action));
        expansion.program()
    }
}
