//! How a message goes through windows of shared memory: in fills of a bank, two banks in turns.
//!
//! Calls use banks in turns: the one of this call was last used two calls ago, the other one in the call before this
//! and in the one after it. So a call may write to
//!
//! * its own bank as soon as all ranks have begun the call before: they have left the one before that;
//! * the other bank between the time when all have begun this call, and its own end, by which time it has to know that
//!   all who read there have left.
//!
//! [`Fills`] puts the last fill into the own bank. What the other one gets is read before that, so that the flags of
//! the last fill tell that it is left.
//!
//! The flags of one call tell of so many steps and no more. So a message of more fills than that is several calls on
//! the board, one after another ([`Fills::of_calls`]), each of which keeps these rules for itself.
//!
//! What goes through a window is copied twice, in and out. So long blocks are messages instead ([`READ_FROM`]), which
//! the receiver reads out of the sender's memory with one copy.

use crate::operation::{Comm, Default, Kind, Parameter, Parameters, Range, SharedMemory};

/// `read_from` of algorithms that copy blocks through windows. The default is the length from which messages are read
/// out of the sender's memory; shorter messages are copied twice as well, so that a lower value gains nothing.
pub const READ_FROM: Parameter = Parameter {
    name: "read_from",
    kind: Kind::Bytes,
    default: Default::Bytes(SharedMemory::LENT_FROM),
    help: "r: bytes from which blocks are sent as messages (from 16K on read from their ranks' memory); none: never",
};

/// Whether blocks of so many bytes are messages.
pub fn are_read(bytes: usize, parameters: &Parameters) -> bool {
    bytes >= parameters.count(READ_FROM.name)
}

/// The fills of a message, or of the part of it that goes in one call on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fills {
    /// First unit of the part.
    pub first: usize,
    /// Units of the part.
    pub units: usize,
    /// Units of each fill but the last, which may be shorter.
    pub fill: usize,
}

impl Fills {
    /// Of a message of `units` units that each has so much room in a bank, by the calls on the board that it goes in:
    /// one, unless its fills, of `steps` steps each, are more than a flag can tell of.
    pub fn of_calls(units: usize, room: Room, steps: usize) -> impl Iterator<Item = Self> + use<> {
        let fill = room.units.max(1).min(units.max(1));
        let most = fill.saturating_mul((room.last_step / steps).max(1));
        (0..units).step_by(most).map(move |first| Self { first, units: most.min(units - first), fill })
    }

    /// How many there are.
    pub fn number(&self) -> usize {
        self.units.div_ceil(self.fill)
    }

    /// Units of the message that are in one of them.
    pub fn units_of(&self, fill: usize) -> std::ops::Range<usize> {
        let start = self.first + fill * self.fill;
        start..(start + self.fill).min(self.first + self.units)
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

/// What goes through a bank at once, and in one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Units that fit into a bank.
    pub units: usize,
    /// The last step of a call.
    pub last_step: usize,
}

impl Room {
    /// The same for each of so many blocks that lie beside each other.
    #[must_use]
    pub const fn of_each(self, blocks: usize) -> Self {
        Self { units: self.units / blocks, ..self }
    }
}

/// The room for units of `unit` bytes in this memory.
pub fn room(memory: Option<SharedMemory>, unit: usize) -> Room {
    // Formulas are also asked for where there is none.
    let SharedMemory { window, last_step, .. } = memory.unwrap_or(SharedMemory::PLAIN);
    Room { units: window / unit, last_step }
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

#[cfg(test)]
mod tests {
    use super::{Fills, Room, room};
    use crate::operation::SharedMemory;

    /// Units, room, steps of a fill: what is one call and what is several.
    #[test]
    fn no_call_has_more_steps_than_a_flag_can_tell() {
        let last_step = SharedMemory::PLAIN.last_step;
        let window = |window| room(Some(SharedMemory { window, ..SharedMemory::PLAIN }), 4).units;
        let of_64_ranks = room(Some(SharedMemory { window: 16 << 10, ..SharedMemory::PLAIN }), 1).of_each(63).units;
        let cases = [
            (4_327_440, of_64_ranks, 63, 1),
            (4_500_000, of_64_ranks, 63, 2),
            ((2 << 30) / 4, window(4 << 10), 2, 2),
            ((64 << 30) / 4, window(4 << 10), 2, 33),
            (last_step, 1, 1, 1),
            (last_step + 1, 1, 1, 2),
            (1000, 0, 1, 1),
            (isize::MAX as usize, 1 << 50, 2, 1),
            (0, 4, 2, 0),
        ];
        for (units, room, steps, number) in cases {
            let calls = || Fills::of_calls(units, Room { units: room, last_step }, steps);
            assert_eq!(calls().count(), number, "{units} units, {room} at once, {steps} steps each");
            let mut next = 0;
            for fills in calls() {
                assert_eq!(fills.first, next);
                assert!(fills.number() * steps <= last_step);
                assert_eq!(fills.units_of(0).start, fills.first);
                next = fills.units_of(fills.number() - 1).end;
                assert_eq!(next, fills.first + fills.units);
            }
            assert_eq!(next, units);
        }
    }
}
