//! Ports that serve all who want them at once.
//!
//! A connection hands its port so many bytes at once, and more as these arrive (TCP's window). What lies in a sender's
//! port leaves in the order in which it came, whoever sent it, and lies in the receiver's port until that has let it
//! through among all that arrives. A message that is longer than what is handed over at once holds both ports as long
//! as it is on its way, and shares them evenly with the others.

use std::collections::VecDeque;

/// Messages that a port serves at once; more than these wait. So many in one place are rare outside linear algorithms,
/// whose time hardly depends on it, and every one costs a look at all others when it comes and goes.
pub(super) const MOST: usize = 64;

/// What a message wants of its two ports.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The sender's port, out, and the receiver's, in.
    pub ports: [usize; 2],
    /// Of messages of one connection that go in order only one leaves at a time.
    pub connection: (u32, u32),
    /// Seconds that it takes alone.
    pub seconds: f64,
    /// Whether it is handed to the sender's port as a whole.
    pub in_order: bool,
}

/// Which of its ports a message is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// In the sender's, with others before and behind it.
    Leaves,
    /// In the receiver's.
    Arrives,
    /// In both.
    Passes,
}

/// A message in a port, or in both.
pub struct Flow<M> {
    pub message: M,
    /// Where it is.
    pub stage: Stage,
    /// When its first byte was let through; not a number before.
    pub start: f64,
    wanted: Wanted,
    /// Seconds that the rest would take alone, as of `since`.
    left: f64,
    since: f64,
    /// Share of a port that it has.
    rate: f64,
    /// Which of the ends predicted for it counts.
    version: u32,
    /// Of a message that is in its two ports one by one: the other of the two, as long as that is there.
    twin: Option<u32>,
}

/// An end predicted: it counts unless the flow's share changes before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct End {
    pub time: f64,
    pub flow: u32,
    pub version: u32,
}

/// One that a port has no room for yet.
enum Waiting<M> {
    Message(M, Wanted),
    Arrival(u32),
}

struct Port<M> {
    capacity: f64,
    /// Seconds of a message that pass at once after as long a pause, and what there was of them when it last went idle.
    burst: f64,
    saved: f64,
    idle_since: f64,
    /// In the order in which they came.
    active: Vec<u32>,
    /// How many share the capacity: of those that leave in order only the first.
    sharers: usize,
    waiting: VecDeque<Waiting<M>>,
    /// Whether its messages' shares are to be worked out anew.
    changed: bool,
}

impl<M> Port<M> {
    /// Seconds of a message that would pass at once.
    fn saved_at(&self, time: f64) -> f64 {
        if self.active.is_empty() { self.burst.min(self.saved + (time - self.idle_since)) } else { self.saved }
    }

    /// Takes so many of them.
    fn spend(&mut self, time: f64, seconds: f64) {
        self.saved = self.saved_at(time) - seconds;
    }
}

/// Ports, each in one direction, and the messages that share them.
pub struct Sharing<M> {
    ports: Vec<Port<M>>,
    flows: Vec<Option<Flow<M>>>,
    spare: Vec<u32>,
    version: u32,
    /// Ports that messages came to or went from since shares were last worked out: many do at one time, and one look at
    /// the others is enough for all of them.
    changed: Vec<usize>,
    /// Ends predicted since they were last taken.
    pub predicted: Vec<End>,
}

impl<M: Copy> Sharing<M> {
    /// Ports that serve so many messages each at full speed, and let so many seconds through at once after a pause.
    pub fn new(ports: impl Iterator<Item = (f64, f64)>) -> Self {
        let port = |(capacity, burst)| Port {
            capacity,
            burst,
            saved: burst,
            idle_since: 0.0,
            active: Vec::new(),
            sharers: 0,
            waiting: VecDeque::new(),
            changed: false,
        };
        Self {
            ports: ports.map(port).collect(),
            flows: Vec::new(),
            spare: Vec::new(),
            version: 0,
            changed: Vec::new(),
            predicted: Vec::new(),
        }
    }

    /// A message wants its two ports.
    pub fn join(&mut self, message: M, wanted: Wanted, time: f64) {
        let (stage, needed) =
            if wanted.in_order { (Stage::Leaves, &wanted.ports[..1]) } else { (Stage::Passes, &wanted.ports[..]) };
        if let Some(full) = needed.iter().find(|port| self.ports[**port].active.len() >= MOST) {
            self.ports[*full].waiting.push_back(Waiting::Message(message, wanted));
            return;
        }
        let saved = needed.iter().map(|port| self.ports[*port].saved_at(time));
        let at_once = saved.fold(wanted.seconds, f64::min);
        needed.iter().for_each(|port| self.ports[*port].spend(time, at_once));
        let place = self.add(message, stage, wanted, wanted.seconds - at_once, time);
        needed.iter().for_each(|port| self.enter(*port, place));
    }

    fn add(&mut self, message: M, stage: Stage, wanted: Wanted, left: f64, time: f64) -> u32 {
        self.version += 1;
        let (version, start) = (self.version, f64::NAN);
        let flow = Flow { message, stage, start, wanted, left, since: time, rate: 0.0, version, twin: None };
        let place = self.spare.pop().unwrap_or_else(|| {
            self.flows.push(None);
            self.flows.len() as u32 - 1
        });
        self.flows[place as usize] = Some(flow);
        place
    }

    fn flow(&mut self, place: u32) -> &mut Flow<M> {
        self.flows[place as usize].as_mut().expect("places in use hold flows")
    }

    fn enter(&mut self, port: usize, place: u32) {
        self.ports[port].active.push(place);
        self.change(port);
    }

    fn change(&mut self, port: usize) {
        if !std::mem::replace(&mut self.ports[port].changed, true) {
            self.changed.push(port);
        }
    }

    /// The first byte of one that leaves in order is out: it is in the receiver's port from now on, too.
    fn arrive(&mut self, leaving: u32, time: f64) {
        let Flow { message, wanted, left, .. } = *self.flow(leaving);
        let port = wanted.ports[1];
        // What the sender's port let through at once may pass this one at once, but no more.
        let at_once = self.ports[port].saved_at(time).min(wanted.seconds - left);
        self.ports[port].spend(time, at_once);
        let place = self.add(message, Stage::Arrives, wanted, wanted.seconds - at_once, time);
        self.flow(place).twin = Some(leaving);
        self.flow(leaving).twin = Some(place);
        if self.ports[port].active.len() < MOST {
            self.enter(port, place);
        } else if self.flow(place).left > 0.0 {
            self.ports[port].waiting.push_back(Waiting::Arrival(place));
        }
        // What has come through at once waits for no room: it ends as soon as it has left.
    }

    /// Whether shares are to be worked out anew before time goes on.
    pub fn is_due(&self) -> bool {
        !self.changed.is_empty()
    }

    /// The flow whose end is due, which makes room for others; none if its share has changed since, or if it arrives
    /// and has not left yet.
    pub fn end(&mut self, end: End) -> Option<Flow<M>> {
        let flow = self.flows[end.flow as usize].as_mut().filter(|flow| flow.version == end.version)?;
        let early = flow.stage == Stage::Arrives && flow.twin.is_some();
        let (stage, twin, [out, into]) = (flow.stage, flow.twin, flow.wanted.ports);
        if early {
            (flow.left, flow.rate) = (0.0, 0.0);
            self.leave(into, end);
            return None;
        }
        match stage {
            Stage::Leaves => self.leave(out, end),
            // It had come through before it had left.
            Stage::Arrives if !self.ports[into].active.contains(&end.flow) => {}
            Stage::Arrives => self.leave(into, end),
            Stage::Passes => [out, into].into_iter().for_each(|port| self.leave(port, end)),
        }
        if let Some(twin) = twin {
            let arriving = self.flow(twin);
            arriving.twin = None;
            if arriving.left == 0.0 && arriving.rate == 0.0 {
                let due = End { time: end.time, flow: twin, version: arriving.version };
                self.predicted.push(due);
            }
        }
        self.spare.push(end.flow);
        self.flows[end.flow as usize].take()
    }

    fn leave(&mut self, port: usize, End { time, flow, .. }: End) {
        self.ports[port].active.retain(|active| *active != flow);
        if self.ports[port].active.is_empty() {
            self.ports[port].idle_since = time;
        }
        self.change(port);
        match self.ports[port].waiting.pop_front() {
            Some(Waiting::Message(message, wanted)) => self.join(message, wanted, time),
            Some(Waiting::Arrival(place)) => {
                self.flow(place).since = time;
                self.enter(port, place);
            }
            None => {}
        }
    }

    /// Seconds that something new at `port` waits behind what it has taken on of the messages on their way: `of` says
    /// how much of each at most.
    pub fn backlog(&self, port: usize, time: f64, of: impl Fn(&M) -> f64) -> f64 {
        let flows = self.ports[port].active.iter().map(|place| self.flows[*place as usize].as_ref());
        let left = |flow: &Flow<M>| (flow.left - (time - flow.since) * flow.rate).max(0.0).min(of(&flow.message));
        flows.flatten().map(left).sum()
    }

    /// Gives all that use ports which have changed their share from `time` on.
    pub fn share_out(&mut self, time: f64) {
        let mut next = 0;
        // The port of a receiver that something begins to come to gets to the end of the list.
        while next < self.changed.len() {
            self.serve(self.changed[next], time);
            next += 1;
        }
        let changed = std::mem::take(&mut self.changed);
        for port in &changed {
            self.ports[*port].changed = false;
        }
        for port in &changed {
            let mut rooms = Room::of(&self.ports[*port]);
            for nth in 0..self.ports[*port].active.len() {
                let place = self.ports[*port].active[nth];
                let served =
                    self.flow(place).stage != Stage::Leaves || rooms.serves(self.flow(place).wanted.connection);
                self.set_rate(place, served, time);
            }
        }
    }

    /// Counts who shares the capacity of `port`, and lets those which begin to leave it arrive.
    fn serve(&mut self, port: usize, time: f64) {
        let mut room = Room::of(&self.ports[port]);
        let mut sharers = 0;
        for nth in 0..self.ports[port].active.len() {
            let place = self.ports[port].active[nth];
            let Flow { stage, twin, wanted, start, .. } = *self.flow(place);
            if stage == Stage::Leaves {
                if !room.serves(wanted.connection) {
                    continue;
                }
                if twin.is_none() && start.is_nan() {
                    self.flow(place).start = time;
                    self.arrive(place, time);
                }
            }
            sharers += 1;
        }
        self.ports[port].sharers = sharers;
    }

    fn set_rate(&mut self, place: u32, served: bool, time: f64) {
        let Self { ports, flows, version, predicted, .. } = self;
        let flow = flows[place as usize].as_mut().expect("active flows are there");
        let share = |port: usize| (ports[port].capacity / ports[port].sharers as f64).min(1.0);
        let rate = match flow.stage {
            _ if !served => 0.0,
            Stage::Leaves => share(flow.wanted.ports[0]),
            Stage::Arrives => share(flow.wanted.ports[1]),
            Stage::Passes => share(flow.wanted.ports[0]).min(share(flow.wanted.ports[1])),
        };
        if rate == flow.rate {
            return;
        }
        flow.left = (flow.left - (time - flow.since) * flow.rate).max(0.0);
        *version += 1;
        (flow.rate, flow.since, flow.version) = (rate, time, *version);
        if flow.start.is_nan() {
            flow.start = time;
        }
        if rate > 0.0 {
            predicted.push(End { time: time + flow.left / rate, flow: place, version: *version });
        }
    }
}

/// What a port has room for among the messages that leave it in order: as many as it has capacity for, one of each
/// connection.
struct Room {
    left: usize,
    connections: Vec<(u32, u32)>,
}

impl Room {
    fn of<M>(port: &Port<M>) -> Self {
        Self { left: port.capacity as usize, connections: Vec::new() }
    }

    /// Whether the next in order, of this connection, is served.
    fn serves(&mut self, connection: (u32, u32)) -> bool {
        let serves = self.left > 0 && !self.connections.contains(&connection);
        if serves {
            self.left -= 1;
            self.connections.push(connection);
        }
        serves
    }
}
