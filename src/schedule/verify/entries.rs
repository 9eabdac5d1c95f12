//! Whether a barrier holds back: which ranks a rank knows to have come, when it leaves.
//!
//! That a message or a flag has arrived tells of all that its sender knew when it sent it. As on the [`board`](super::board),
//! every run of the programs has the same messages and flags, so one of them tells about all.

use super::board::Flag;
use super::fault::What;
use crate::schedule::Shared;
use crate::schedule::seats::Seats;
use std::collections::HashMap;

/// By rank: whether it is known to have come.
type Come = Box<[bool]>;

/// What a flag has said: an entry and a step, and what whoever sees that knows.
struct Told {
    value: (u32, u32),
    come: Come,
}

/// What each rank knows of a call.
pub struct Entries {
    seats: Seats,
    knows: Vec<Come>,
    /// What is known at the sending end of a message.
    sent: HashMap<usize, Come>,
    /// By rank: how often it has entered the board in this call.
    entered: Vec<u32>,
    /// By node and flag, ascending.
    told: HashMap<(usize, Flag), Vec<Told>>,
    /// By node and entry: how many have arrived, and what they know.
    arrived: HashMap<(usize, u32), (usize, Come)>,
}

impl Entries {
    /// Each rank knows of itself.
    pub fn new(ranks: usize, nodes: &[u32]) -> Self {
        Self {
            seats: Seats::new(nodes, ranks),
            knows: (0..ranks).map(|rank| (0..ranks).map(|of| of == rank).collect()).collect(),
            sent: HashMap::new(),
            entered: vec![0; ranks],
            told: HashMap::new(),
            arrived: HashMap::new(),
        }
    }

    /// A message departs from that end.
    pub fn sent(&mut self, rank: usize, end: usize) {
        self.sent.insert(end, self.knows[rank].clone());
    }

    /// The message from that end has arrived.
    pub fn received(&mut self, rank: usize, end: usize) {
        if let Some(come) = self.sent.get(&end) {
            join(&mut self.knows[rank], come);
        }
    }

    /// A step on the board is done.
    pub fn step(&mut self, rank: usize, step: Shared) {
        let (node, seat) = self.seats.of(rank);
        match step {
            Shared::Enter { step } => {
                self.entered[rank] += 1;
                self.tell(rank, Flag::Own(seat), step);
            }
            Shared::Signal { step } => self.tell(rank, Flag::Own(seat), step),
            Shared::Post => self.tell(rank, Flag::Line(seat), 1),
            Shared::Release { rank: to } => self.tell(rank, Flag::Release(to as usize), 1),
            Shared::Await { rank: of, step } => self.see(rank, Flag::Own(of as usize), (self.entered[rank], step)),
            Shared::AwaitPost { rank: of } => self.see(rank, Flag::Line(of as usize), (self.entered[rank], 1)),
            Shared::AwaitRelease => self.see(rank, Flag::Release(seat), (self.entered[rank], 1)),
            Shared::AwaitArrivals => self.see(rank, Flag::Arrived, (self.entered[rank], 1)),
            Shared::Begun { before } => {
                let width = self.seats.widths().nth(node).unwrap_or(0);
                // Of earlier calls nothing follows for this one.
                let entry = self.entered[rank].saturating_sub(before);
                (0..width).filter(|_| entry > 0).for_each(|of| self.see(rank, Flag::Own(of), (entry, 0)));
            }
            Shared::Arrive => self.arrive(rank),
        }
    }

    fn tell(&mut self, rank: usize, flag: Flag, step: u32) {
        let told = Told { value: (self.entered[rank], step), come: self.knows[rank].clone() };
        self.told.entry((self.seats.of(rank).0, flag)).or_default().push(told);
    }

    /// By the first setting of the flag that will do.
    fn see(&mut self, rank: usize, flag: Flag, value: (u32, u32)) {
        let told = self.told.get(&(self.seats.of(rank).0, flag));
        if let Some(first) = told.and_then(|told| told.iter().find(|told| told.value >= value)) {
            join(&mut self.knows[rank], &first.come);
        }
    }

    fn arrive(&mut self, rank: usize) {
        let (node, entry) = (self.seats.of(rank).0, self.entered[rank]);
        let (number, come) = self.arrived.entry((node, entry)).or_insert_with(|| (0, self.knows[rank].clone()));
        join(come, &self.knows[rank]);
        *number += 1;
        if self.seats.widths().nth(node) == Some(*number) {
            let told = Told { value: (entry, 1), come: come.clone() };
            self.told.entry((node, Flag::Arrived)).or_default().push(told);
        }
    }

    /// Whether every rank knows of all.
    ///
    /// # Errors
    /// The first rank that does not.
    pub fn check(&self) -> Result<(), (usize, What)> {
        let early = |(rank, come): (usize, &Come)| Some((rank, come.iter().position(|come| !come)?));
        let found = self.knows.iter().enumerate().find_map(early);
        found.map_or(Ok(()), |(rank, without)| Err((rank, What::LeavesBefore { without })))
    }
}

fn join(knows: &mut Come, more: &Come) {
    knows.iter_mut().zip(more).for_each(|(known, more)| *known |= more);
}
