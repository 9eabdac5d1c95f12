//! The event queue.
//!
//! Every rank runs ahead on its own clock until it has to wait for a message whose end is not known yet; messages take
//! ports in the order of time. So there are two or three events per message, whatever the ranks do in between.

use super::board::Step;
use super::boards::Boards;
use super::event::{Event, Message, What};
use super::lane::{Lane, Traffic};
use super::matching::{Ends, ends};
use super::network::{Link, Memory, Network};
use super::ports::{self, Ports};
use super::sharing::{self, Sharing, Stage};
use super::tape::{Beat, Tapes};
use super::{Activity, Broken, Observer, Outcome, Span};
use crate::schedule::Shared;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

#[derive(Clone, Copy, Default)]
struct Rank {
    /// Next step, as a place among all ranks' steps.
    beat: usize,
    /// Messages started.
    started: u32,
    clock: f64,
    /// The end that it waits for, counted from 1; 0 for none, [`FLAG`] for a flag.
    awaits: u32,
}

/// Whether a message that waits for its receive is asked for behind what ports have taken on.
const fn asks(link: &Link) -> bool {
    link.shares && link.queue > 0
}

/// What a rank waits for that waits for a flag.
const FLAG: u32 = u32::MAX;

/// After so many events it asks whether to go on: every few milliseconds.
const LOOK_EVERY: usize = 1 << 14;

pub struct Engine<'a, O> {
    tapes: &'a Tapes,
    network: &'a Network,
    node: Vec<u32>,
    ends: Ends,
    ranks: Vec<Rank>,
    /// When each end was started, then when it is finished; not a number before.
    started: Vec<f64>,
    finished: Vec<f64>,
    /// When the question of each sending end is with the receiver, where questions can be held up.
    asked: Vec<f64>,
    /// There too, when each rank is ready to ask at all, as a share of a start-up; not a number before it wants to. So
    /// many have wanted to.
    turns: Vec<f64>,
    askers: usize,
    /// Whether each sending end is finished only when its receive has begun, though its message waits for nothing.
    synchronous: Vec<bool>,
    /// Overhead still to be paid where the end is waited for: that of a receive.
    owed: Vec<f64>,
    ports: Ports,
    /// Shared ports in the same order, out and in.
    sharing: Sharing<Message>,
    /// Lanes in use, with those who wait for them.
    lanes: HashMap<Lane, Traffic>,
    boards: Boards<'a>,
    events: BinaryHeap<Reverse<Event>>,
    outcome: Outcome,
    observer: &'a mut O,
}

impl<'a, O: Observer> Engine<'a, O> {
    pub fn new(tapes: &'a Tapes, network: &'a Network, nodes: &[u32], observer: &'a mut O) -> Result<Self, Broken> {
        let size = tapes.size();
        let ends = ends(tapes)?;
        // Where nothing is said of nodes, there is one.
        let node: Vec<u32> = (0..size).map(|rank| nodes.get(rank).copied().unwrap_or(0)).collect();
        let number_of_nodes = node.iter().max().map_or(0, |last| *last as usize + 1);
        let asks = [&network.on_node, &network.off_node].into_iter().any(asks);
        let of_asking = |number: usize| vec![f64::NAN; if asks { number } else { 0 }];
        Ok(Self {
            tapes,
            network,
            node,
            ranks: tapes.bounds[..size].iter().map(|beat| Rank { beat: *beat, ..Rank::default() }).collect(),
            started: vec![f64::NAN; ends.peer.len()],
            finished: vec![f64::NAN; ends.peer.len()],
            asked: of_asking(ends.peer.len()),
            turns: of_asking(size),
            askers: 0,
            synchronous: vec![false; ends.peer.len()],
            owed: vec![0.0; ends.peer.len()],
            ports: Ports::new(network, size, number_of_nodes),
            sharing: ports::shared(network, size, number_of_nodes),
            lanes: HashMap::new(),
            boards: Boards::new(&tapes.seats),
            events: BinaryHeap::new(),
            outcome: Outcome { finished: vec![0.0; size], ..Outcome::default() },
            observer,
            ends,
        })
    }

    pub fn run(mut self) -> Result<Outcome, Broken> {
        (0..self.ranks.len()).for_each(|rank| self.advance(rank));
        let mut now = 0.0;
        for number in 1usize.. {
            if number.is_multiple_of(LOOK_EVERY) && !self.observer.goes_on() {
                return Err(Broken::GivenUp);
            }
            while let Some(rank) = self.boards.woken() {
                self.advance(rank);
            }
            let goes_on = self.events.peek().is_none_or(|Reverse(next)| next.time > now);
            if goes_on && self.sharing.is_due() {
                self.sharing.share_out(now);
                self.predict();
                continue;
            }
            let Some(Reverse(event)) = self.events.pop() else { break };
            now = event.time;
            let Event { time, what, message } = event;
            match what {
                What::Asks => self.ask(message, time),
                What::Answers => self.answer(message, time),
                What::Departs => self.depart(message, time),
                What::Arrives => self.arrive(message, time),
                What::Ends { flow, version } => self.end(sharing::End { time, flow, version }),
                What::Lands => self.land(message, time),
                What::Returns => self.finish(message.sender, message.end, time),
                What::Frees => self.leave_lane(message, time),
            }
        }
        for (rank, state) in self.ranks.iter().enumerate() {
            if state.awaits > 0 {
                return Err(Broken::Deadlock { rank });
            }
            self.outcome.finished[rank] = state.clock;
            self.outcome.time = self.outcome.time.max(state.clock);
        }
        Ok(self.outcome)
    }

    fn link(&self, sender: u32, receiver: u32) -> (&'a Link, bool) {
        let on_node = self.node[sender as usize] == self.node[receiver as usize];
        (if on_node { &self.network.on_node } else { &self.network.off_node }, on_node)
    }

    /// Runs `rank` until it waits for a message whose end is not known.
    fn advance(&mut self, rank: usize) {
        let mut state = self.ranks[rank];
        state.awaits = 0;
        let tapes = self.tapes;
        while state.beat < tapes.bounds[rank + 1] {
            match tapes.beats[state.beat] {
                Beat::Send { to, bytes, synchronous } => {
                    self.synchronous[(self.ends.first_of[rank] + state.started) as usize] = synchronous;
                    self.start(rank, &mut state, to, bytes, true);
                }
                Beat::Receive { from, bytes } => self.start(rank, &mut state, from, bytes, false),
                Beat::Wait(request) => {
                    let end = self.ends.first_of[rank] + request;
                    let finished = self.finished[end as usize];
                    if finished.is_nan() {
                        state.awaits = end + 1;
                        break;
                    }
                    let late = finished - state.clock;
                    self.spend(rank, Activity::Wait, &mut state.clock, late.max(0.0));
                    let owed = self.owed[end as usize];
                    self.spend(rank, Activity::Overhead, &mut state.clock, owed);
                }
                Beat::Fold(bytes) => {
                    let seconds = bytes as f64 * self.network.per_folded_byte;
                    self.spend(rank, Activity::Fold, &mut state.clock, seconds);
                }
                Beat::Copy(bytes) => {
                    let seconds = bytes as f64 * self.network.per_copied_byte;
                    self.spend(rank, Activity::Copy, &mut state.clock, seconds);
                }
                Beat::Move(bytes) => {
                    let seconds = bytes as f64 * self.network.memory.per_byte;
                    self.spend(rank, Activity::Copy, &mut state.clock, seconds);
                }
                Beat::Shared(step) => {
                    if !self.take_shared(rank, &mut state.clock, step) {
                        state.awaits = FLAG;
                        break;
                    }
                }
            }
            state.beat += 1;
        }
        self.ranks[rank] = state;
    }

    /// Takes a step on the board, unless it has to wait; whether it is taken.
    fn take_shared(&mut self, rank: usize, clock: &mut f64, step: Shared) -> bool {
        let Memory { notification, arrival, .. } = self.network.memory;
        match self.boards.step(rank, step, *clock, arrival) {
            Step::Done => {}
            Step::Waits(_) => return false,
            Step::Sees { time, flags, of } => {
                let late = (time - *clock).max(0.0);
                self.spend(rank, Activity::Wait, clock, late);
                let start = *clock;
                self.spend(rank, Activity::Overhead, clock, flags as f64 * notification);
                self.observer.notified(of as usize, rank, Span { start, end: *clock });
            }
            Step::Arrives { turn } => {
                let late = (turn - *clock).max(0.0);
                self.spend(rank, Activity::Wait, clock, late);
                self.spend(rank, Activity::Overhead, clock, arrival);
            }
        }
        true
    }

    fn spend(&mut self, rank: usize, activity: Activity, clock: &mut f64, seconds: f64) {
        let start = *clock;
        *clock += seconds;
        if seconds > 0.0 {
            self.observer.activity(rank, activity, Span { start, end: *clock });
        }
    }

    fn start(&mut self, rank: usize, state: &mut Rank, partner: u32, bytes: u64, sends: bool) {
        let end = self.ends.first_of[rank] + state.started;
        state.started += 1;
        let peer = self.ends.peer[end as usize];
        let own = rank as u32;
        let (sender, receiver) = if sends { (own, partner) } else { (partner, own) };
        let (link, on_node) = self.link(sender, receiver);
        let (eager, way) = (bytes < link.eager_limit, link.handshake / 2.0);
        if sends {
            self.spend(rank, Activity::Overhead, &mut state.clock, link.overhead);
            self.outcome.messages += 1;
            *(if on_node { &mut self.outcome.bytes_on_node } else { &mut self.outcome.bytes_off_node }) += bytes;
            if eager && !self.synchronous[end as usize] {
                self.finished[end as usize] = state.clock;
            }
        } else {
            self.owed[end as usize] = link.overhead;
        }
        self.started[end as usize] = state.clock;
        let other = self.started[peer as usize];
        let message = Message { end: if sends { end } else { peer }, sender, receiver, bytes };
        if !eager && asks(link) {
            let start_up = link.start_up();
            match self.asked.get(peer as usize) {
                _ if sends => {
                    let ready = start_up * self.turn(rank);
                    self.push(state.clock.max(ready), What::Asks, message);
                }
                Some(asked) if !asked.is_nan() => self.push(asked.max(state.clock), What::Answers, message),
                _ => {}
            }
            return;
        }
        let departs_at = match (eager, sends) {
            (true, true) => state.clock,
            (true, false) => {
                let landed = self.finished[end as usize];
                if self.synchronous[peer as usize] && !landed.is_nan() {
                    self.push(landed.max(state.clock) + way, What::Returns, message);
                }
                return;
            }
            (false, _) if other.is_nan() => return,
            // The sender's question travels to the receiver, and the answer back.
            (false, true) => (state.clock + way).max(other) + way,
            (false, false) => (other + way).max(state.clock) + way,
        };
        self.push(departs_at, What::Departs, message);
    }

    /// Where one message holds up another, it matters that no two ranks ask at once: in lock step all would find their
    /// ports empty, as real ones do not. So at the start of a call no rank but the first one asks at once, and the last
    /// one does within a start-up; what is short and waits for nobody is not held up.
    fn turn(&mut self, rank: usize) -> f64 {
        let Self { turns, askers, .. } = self;
        if turns[rank].is_nan() {
            turns[rank] = (*askers as f64 * 0.618_033_988_749_894_9).fract();
            *askers += 1;
        }
        turns[rank]
    }

    /// A question leaves, behind what its port has taken on.
    fn ask(&mut self, message: Message, time: f64) {
        let Message { end, sender, receiver, .. } = message;
        let asked = time + self.word(sender, receiver, time);
        self.asked[end as usize] = asked;
        let receive = self.started[self.ends.peer[end as usize] as usize];
        if !receive.is_nan() {
            self.push(asked.max(receive), What::Answers, message);
        }
    }

    /// An answer leaves in the same way.
    fn answer(&mut self, message: Message, time: f64) {
        let departs_at = time + self.word(message.receiver, message.sender, time);
        self.push(departs_at, What::Departs, message);
    }

    /// Seconds that a question or an answer takes from a rank to another.
    fn word(&self, from: u32, to: u32, time: f64) -> f64 {
        let (link, on_node) = self.link(from, to);
        let ahead = link.queue as f64 * link.per_byte;
        let port = 2 * self.port(from, on_node);
        link.handshake / 2.0 + self.sharing.backlog(port, time, |_| ahead)
    }

    /// Place of a rank's ports, or of its node's.
    fn port(&self, rank: u32, on_node: bool) -> usize {
        if on_node { rank as usize } else { self.ranks.len() + self.node[rank as usize] as usize }
    }

    fn push(&mut self, time: f64, what: What, message: Message) {
        self.events.push(Reverse(Event { time, what, message }));
    }

    fn depart(&mut self, message: Message, time: f64) {
        if let Some(lane) = self.lane(&message) {
            let queue = self.in_order(&message);
            let traffic = self.lanes.entry(lane).or_default();
            if !traffic.waiting.is_empty() || !traffic.takes(message.bytes, queue) {
                return traffic.waiting.push_back(message);
            }
        }
        self.go(message, time);
    }

    fn lane(&self, message: &Message) -> Option<Lane> {
        let Message { sender, receiver, bytes, .. } = *message;
        let (link, _) = self.link(sender, receiver);
        if link.half_duplex && bytes >= link.eager_limit {
            return Some((true, sender.min(receiver), sender.max(receiver)));
        }
        link.shares.then_some((false, sender, receiver))
    }

    /// Bytes of the message's connection that lie in its port at once: none where it is not known to hand over any
    /// ahead, or where long messages take turns.
    fn in_order(&self, message: &Message) -> u64 {
        let (link, _) = self.link(message.sender, message.receiver);
        let turns = link.half_duplex && message.bytes >= link.eager_limit;
        if link.shares && !turns { link.queue } else { 0 }
    }

    fn leave_lane(&mut self, message: Message, time: f64) {
        let Some(lane) = self.lane(&message) else { return };
        let Some(traffic) = self.lanes.get_mut(&lane) else { return };
        traffic.messages -= 1;
        traffic.bytes -= message.bytes;
        while let Some(next) = self.lanes.get(&lane).and_then(|traffic| traffic.waiting.front()).copied() {
            let queue = self.in_order(&next);
            let traffic = self.lanes.get_mut(&lane).expect("it has just been looked at");
            if !traffic.takes(next.bytes, queue) {
                break;
            }
            traffic.waiting.pop_front();
            self.go(next, time);
        }
        if self.lanes[&lane].messages == 0 {
            self.lanes.remove(&lane);
        }
    }

    fn go(&mut self, message: Message, time: f64) {
        let Message { sender, receiver, bytes, .. } = message;
        let (link, on_node) = self.link(sender, receiver);
        let seconds = link.gap + bytes as f64 * link.per_byte;
        if link.shares {
            let ports = [2 * self.port(sender, on_node), 2 * self.port(receiver, on_node) + 1];
            let in_order = bytes <= self.in_order(&message);
            let wanted = sharing::Wanted { ports, connection: (sender, receiver), seconds, in_order };
            return self.sharing.join(message, wanted, time);
        }
        let span = self.ports.occupy(self.port(sender, on_node), 0, time, seconds);
        self.observer.transfer(sender as usize, receiver as usize, true, bytes, span);
        self.push(span.start + link.latency, What::Arrives, message);
        if link.half_duplex && bytes >= link.eager_limit {
            self.push(span.end, What::Frees, message);
        }
        self.leave(message, span.end);
    }

    fn predict(&mut self) {
        let nobody = Message { end: u32::MAX, sender: 0, receiver: 0, bytes: 0 };
        for sharing::End { time, flow, version } in std::mem::take(&mut self.sharing.predicted) {
            self.push(time, What::Ends { flow, version }, nobody);
        }
    }

    /// The last byte of a message has come through a shared port, or through both.
    fn end(&mut self, end: sharing::End) {
        let Some(flow) = self.sharing.end(end) else { return self.predict() };
        self.predict();
        let Message { sender, receiver, bytes, .. } = flow.message;
        let span = Span { start: flow.start, end: end.time };
        if flow.stage != Stage::Arrives {
            self.observer.transfer(sender as usize, receiver as usize, true, bytes, span);
            self.leave(flow.message, end.time);
        }
        if flow.stage != Stage::Leaves {
            let latency = self.link(sender, receiver).0.latency;
            let span = Span { start: span.start + latency, end: span.end + latency };
            self.observer.transfer(sender as usize, receiver as usize, false, bytes, span);
            self.push(span.end, What::Lands, flow.message);
            self.leave_lane(flow.message, end.time);
        }
    }

    fn arrive(&mut self, message: Message, time: f64) {
        let Message { sender, receiver, bytes, .. } = message;
        let (link, on_node) = self.link(sender, receiver);
        let seconds = link.gap + bytes as f64 * link.per_byte;
        let span = self.ports.occupy(self.port(receiver, on_node), 1, time, seconds);
        self.observer.transfer(sender as usize, receiver as usize, false, bytes, span);
        self.land(message, span.end);
    }

    /// The last byte has left the sender.
    fn leave(&mut self, message: Message, time: f64) {
        let end = message.end as usize;
        let waits = self.synchronous[end] && self.is_eager(&message);
        if self.finished[end].is_nan() && !waits {
            self.finish(message.sender, message.end, time);
        }
    }

    /// It has come to the receiver.
    fn land(&mut self, message: Message, time: f64) {
        let Message { end, sender, receiver, .. } = message;
        let peer = self.ends.peer[end as usize];
        let receive = self.started[peer as usize];
        if self.synchronous[end as usize] && self.is_eager(&message) && !receive.is_nan() {
            let way = self.link(sender, receiver).0.handshake / 2.0;
            self.push(time.max(receive) + way, What::Returns, message);
        }
        self.finish(receiver, peer, time);
    }

    /// Whether a message waits for nothing.
    fn is_eager(&self, message: &Message) -> bool {
        message.bytes < self.link(message.sender, message.receiver).0.eager_limit
    }

    fn finish(&mut self, rank: u32, end: u32, time: f64) {
        self.finished[end as usize] = time;
        if self.ranks[rank as usize].awaits == end + 1 {
            self.advance(rank as usize);
        }
    }
}
