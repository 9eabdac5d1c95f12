//! How a message goes through windows of shared memory: in fills of a bank, two banks in turns.
//!
//! Calls use banks in turns: the one of this call was last used two calls ago, the other one in the call before this and in
//! the one after it. So a call may write to
//!
//! * its own bank as soon as all ranks have begun the call before: they have left the one before that;
//! * the other bank between the time when all have begun this call, and its own end, by which time it has to know that all
//!   who read there have left.
//!
//! [`Fills`] puts the last fill into the own bank. What the other one gets is read before that, so that the flags of the last
//! fill tell that it is left.
//!
//! What goes through a window is copied twice, in and out. So long blocks are messages instead ([`READ_FROM`]), which the receiver
//! reads out of the sender's memory with one copy.

use crate::operation::{Call, Comm, Default, Kind, Parameter, Parameters, Range, Shape, SharedMemory};

/// `read_from` of algorithms that copy blocks through windows. The default is the length from which messages are read out of the
/// sender's memory; shorter messages are copied twice as well, so that a lower value gains nothing.
pub const READ_FROM: Parameter = Parameter {
    name: "read_from",
    kind: Kind::Bytes,
    default: Default::Bytes(SharedMemory::LENT_FROM),
    help: "bytes from which blocks are messages, read out of their ranks' memory from 16K on; none: no blocks are",
};

/// Whether blocks of so many bytes are messages.
pub fn are_read(bytes: usize, parameters: &Parameters) -> bool {
    bytes >= parameters.count(READ_FROM.name)
}

/// The fills of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fills {
    /// Units of the message.
    pub units: usize,
    /// Units of each fill but the last, which may be shorter.
    pub fill: usize,
}

impl Fills {
    /// Of a message of `units` units where `room` units fit into a bank; as many fills as flags can tell, so that
    /// `steps` steps for each fit, are the most.
    pub fn new(units: usize, room: usize) -> Self {
        Self { units, fill: room.max(1).min(units.max(1)) }
    }

    /// How many there are.
    pub fn number(&self) -> usize {
        self.units.div_ceil(self.fill)
    }

    /// Units of one of them.
    pub fn units_of(&self, fill: usize) -> std::ops::Range<usize> {
        let start = fill * self.fill;
        start..(start + self.fill).min(self.units)
    }

    /// Whether a fill goes to the other bank.
    pub fn is_other(&self, fill: usize) -> bool {
        (self.number() - 1 - fill) % 2 == 1
    }

    /// `len` units of the window of `rank` from `at` on, in the bank of a fill.
    pub fn window(&self, rank: usize, fill: usize, at: usize, len: usize) -> Range {
        Range::window(rank, self.is_other(fill), at, len)
    }

    /// Waits until the banks may be written to: by a rank that has begun the call.
    pub fn await_banks(&self, comm: &mut dyn Comm) {
        comm.await_begun(u32::from(self.number() == 1));
    }

    /// Notifications that waiting for the banks costs.
    pub fn notifications(&self, ranks: usize) -> f64 {
        // Where one bank is enough, those who have begun the call before have long done so.
        if self.number() > 1 { (ranks - 1) as f64 } else { 0.0 }
    }
}

/// Units that fit into a bank of a rank's window.
pub fn window_units(call: &Call) -> usize {
    shared(call.shared).window / call.unit
}

/// The same for a cost formula.
pub fn window_units_of(shape: &Shape) -> usize {
    shared(shape.shared).window / shape.unit
}

/// Whether what a rank contributes fits into a line.
pub const fn fits_line(bytes: usize) -> bool {
    bytes <= SharedMemory::LINE
}

/// Begins a call and posts a line with this in it.
pub fn post(comm: &mut dyn Comm, from: Range) {
    // The line was last used so many calls ago.
    comm.await_begun(SharedMemory::LINES - 1);
    let line = Range::line(comm.rank(), from.len);
    comm.copy(from, line);
    comm.shared(crate::operation::Shared::Post);
}

/// Formulas are also asked for where there is none.
fn shared(shared: Option<SharedMemory>) -> SharedMemory {
    shared.unwrap_or(SharedMemory::PLAIN)
}
