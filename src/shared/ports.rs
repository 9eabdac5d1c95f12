//! A rank's ends of its channels, and the messages that are under way on them.
//!
//! Messages between two ranks go one after the other in the order in which they were started, in each direction.
//! Whoever waits for one goes on with all that are under way: another rank may need one of them before it sends what
//! this one waits for.

use super::channel::{Incoming, Outgoing, Receiver, Sender};

/// Stands for no message.
const NONE: u32 = u32::MAX;

/// Why a message has not arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failed {
    /// It was longer than the room for it, which holds its beginning.
    Truncated,
    /// Its sender has given it up, after an error of its own.
    Withdrawn,
}

/// Bytes that came.
pub type Received = Result<usize, Failed>;

/// The channels between this rank and another one.
#[derive(Debug)]
pub struct Port<'a> {
    sender: Sender<'a>,
    receiver: Receiver<'a>,
    /// The first and the last message under way, outgoing and incoming.
    under_way: [(u32, u32); 2],
}

impl<'a> Port<'a> {
    /// With nothing under way.
    pub const fn new(sender: Sender<'a>, receiver: Receiver<'a>) -> Self {
        Self { sender, receiver, under_way: [(NONE, NONE); 2] }
    }
}

/// Either end of a message that was started.
#[derive(Clone, Copy, Debug)]
enum End {
    Out(Outgoing),
    In(Incoming),
}

impl End {
    const fn direction(&self) -> usize {
        match self {
            Self::Out(_) => OUT,
            Self::In(_) => IN,
        }
    }

    const fn received(&self) -> Received {
        match self {
            Self::In(message) if message.is_withdrawn() => Err(Failed::Withdrawn),
            Self::In(message) if message.is_truncated() => Err(Failed::Truncated),
            Self::In(message) => Ok(message.received()),
            Self::Out(_) => Ok(0),
        }
    }
}

const OUT: usize = 0;
const IN: usize = 1;

/// A message that was started and not yet asked for.
#[derive(Debug)]
struct Started {
    peer: u32,
    end: End,
    /// The one after it in its direction.
    next: u32,
    done: bool,
}

/// All ports of a rank.
#[derive(Debug)]
pub struct Ports<'a> {
    /// By rank; none where there is no channel, as to most ranks of a communicator of many nodes.
    ports: Box<[Option<Box<Port<'a>>>]>,
    /// By number.
    started: Vec<Started>,
    /// Numbers that are free.
    free: Vec<u32>,
    /// Those that are not done, in the order in which they were started.
    under_way: Vec<u32>,
    /// How many of them come in, and one that is waited for as soon as it is started.
    incoming: usize,
    /// Why messages were given up in the middle, if they were.
    lost: Option<i32>,
}

impl<'a> Ports<'a> {
    /// With these channels, by rank.
    pub fn new(ports: Box<[Option<Box<Port<'a>>>]>) -> Self {
        Self { ports, started: Vec::new(), free: Vec::new(), under_way: Vec::new(), incoming: 0, lost: None }
    }

    /// Bytes that those of a communicator of `size` ranks take, to as many of which there are channels.
    pub const fn bytes(size: usize, channels: usize) -> usize {
        size * size_of::<Option<Box<Port<'_>>>>() + channels * size_of::<Port<'_>>()
    }

    /// Whether there is a channel to that rank and back.
    #[inline(always)]
    pub fn reach(&self, peer: u32) -> bool {
        self.ports[peer as usize].is_some()
    }

    /// Whether nothing is under way.
    #[inline(always)]
    pub const fn are_idle(&self) -> bool {
        self.under_way.is_empty()
    }

    #[inline(always)]
    fn port(&mut self, peer: u32) -> &mut Port<'a> {
        self.ports[peer as usize].as_deref_mut().expect("only ranks that are reached are sent to")
    }

    /// Starts a send; its number, or `None` if all of it is on its way already.
    ///
    /// # Safety
    /// There are `length` bytes at `from`, which nobody writes until it is done.
    #[inline(always)]
    pub unsafe fn start_send(&mut self, peer: u32, from: *const u8, length: usize) -> Option<u32> {
        let mut message = Outgoing::new(from, length);
        let port = self.port(peer);
        // SAFETY: the caller's promise.
        if port.under_way[OUT].0 == NONE && unsafe { port.sender.advance(&mut message, false) } {
            return None;
        }
        Some(self.start(peer, End::Out(message)))
    }

    /// Starts a receive; its number.
    ///
    /// # Safety
    /// There is room for `room` bytes at `into`, which nobody touches until it is done.
    pub unsafe fn start_receive(&mut self, peer: u32, into: *mut u8, room: usize) -> u32 {
        self.start(peer, End::In(Incoming::new(into, room)))
    }

    /// Sends; `pause` is called between two looks at whether there is room.
    ///
    /// # Errors
    /// What `pause` says.
    ///
    /// # Safety
    /// There are `length` bytes at `from`.
    #[inline(always)]
    pub unsafe fn send<E>(
        &mut self,
        peer: u32,
        from: *const u8,
        length: usize,
        pause: impl FnMut() -> Result<(), E>,
    ) -> Result<(), E> {
        // SAFETY: the caller's promise; waited for here.
        match unsafe { self.start_send(peer, from, length) } {
            None => Ok(()),
            Some(number) => self.finish(number, pause).map(drop),
        }
    }

    /// Receives; `pause` is called between two looks at whether it has come.
    ///
    /// # Errors
    /// What `pause` says.
    ///
    /// # Safety
    /// There is room for `room` bytes at `into`.
    #[inline(always)]
    pub unsafe fn receive<E>(
        &mut self,
        peer: u32,
        into: *mut u8,
        room: usize,
        mut pause: impl FnMut() -> Result<(), E>,
    ) -> Result<Received, E> {
        if self.port(peer).under_way[IN].0 != NONE {
            // SAFETY: the caller's promise; waited for here.
            let number = unsafe { self.start_receive(peer, into, room) };
            return self.finish(number, pause);
        }
        let mut message = Incoming::new(into, room);
        self.incoming += 1;
        // SAFETY: the caller's promise.
        while !unsafe { self.port(peer).receiver.advance(&mut message) } {
            self.progress();
            if let Err(error) = pause() {
                self.incoming -= 1;
                return Err(error);
            }
        }
        self.incoming -= 1;
        Ok(End::In(message).received())
    }

    /// Waits for a message that was started, and forgets it.
    ///
    /// # Errors
    /// What `pause` says.
    pub fn finish<E>(&mut self, number: u32, mut pause: impl FnMut() -> Result<(), E>) -> Result<Received, E> {
        loop {
            self.progress();
            match self.take(number) {
                Some(received) => return Ok(received),
                None => pause()?,
            }
        }
    }

    /// What has become of a message, if it is done or was given up: it is forgotten then.
    pub fn take(&mut self, number: u32) -> Option<Received> {
        let started = &self.started[number as usize];
        if !started.done && self.lost.is_none() {
            return None;
        }
        self.free.push(number);
        Some(started.end.received())
    }

    /// Goes on with all that is under way, as far as that takes no waiting.
    #[inline(always)]
    pub fn progress(&mut self) {
        if !self.under_way.is_empty() {
            self.progress_all();
        }
    }

    fn progress_all(&mut self) {
        let Self { ports, started, under_way, incoming, .. } = self;
        under_way.retain(|number| {
            let Started { peer, end, next, done } = &mut started[*number as usize];
            let port = ports[*peer as usize].as_deref_mut().expect("what is under way has a channel");
            let direction = end.direction();
            if port.under_way[direction].0 != *number {
                return true;
            }
            // SAFETY: the memory is there until whoever started it has been told that it is done.
            *done = unsafe {
                match end {
                    End::Out(message) => port.sender.advance(message, *incoming == 0),
                    End::In(message) => port.receiver.advance(message),
                }
            };
            if *done {
                *incoming -= usize::from(direction == IN);
                port.under_way[direction].0 = *next;
            }
            !*done
        });
    }

    /// Drops all that is under way, whose memory is not touched any more, and what of it others read is not taken for the
    /// message. The channels are of no use afterwards. `why`: what whoever asks afterwards is told.
    pub fn abandon(&mut self, why: i32) {
        for number in self.under_way.drain(..) {
            let Started { peer, end, .. } = &self.started[number as usize];
            if let (End::Out(message), Some(port)) = (end, &mut self.ports[*peer as usize]) {
                port.sender.withdraw(message);
            }
        }
        (self.incoming, self.lost) = (0, Some(why));
    }

    /// Why that was done, if it was.
    pub const fn lost(&self) -> Option<i32> {
        self.lost
    }

    fn start(&mut self, peer: u32, end: End) -> u32 {
        let started = Started { peer, end, next: NONE, done: false };
        let number = match self.free.pop() {
            Some(number) => {
                self.started[number as usize] = started;
                number
            }
            None => {
                self.started.push(started);
                self.started.len() as u32 - 1
            }
        };
        let direction = end.direction();
        self.incoming += usize::from(direction == IN);
        let (first, last) = &mut self.port(peer).under_way[direction];
        let before = std::mem::replace(last, number);
        if *first == NONE {
            *first = number;
        } else {
            self.started[before as usize].next = number;
        }
        self.under_way.push(number);
        number
    }
}
