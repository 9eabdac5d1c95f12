//! Where the algorithm's buffers lie in a call, and what is packed and unpacked.

use super::local_arguments::LocalArguments;
use super::own_arguments::{self, OwnArguments};
use crate::mpi::messages::Units;
use crate::mpi::packing::Elements;
use crate::operation::{Call, InPlace};
use crate::schedule::Range;
use crate::schedule::action::{self, Action, Side};
use crate::schedule::overlap::Overlap;
use smallvec::SmallVec;

/// Where one of the algorithm's buffers lies: an offset in bytes from one of several addresses of a call.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    base: Base,
    offset: isize,
}

/// What a [`Start`] counts from.
#[derive(Clone, Copy, Debug)]
pub enum Base {
    /// The program's send buffer.
    Send,
    /// The program's receive buffer.
    Receive,
    /// A row in working memory.
    FirstRow,
    /// Another one.
    SecondRow,
    /// Nothing: the buffer does not count.
    Nowhere,
}

/// The addresses of a call, by [`Base`].
pub type Bases = [*mut u8; 5];

impl Start {
    const fn at(base: Base) -> Self {
        Self { base, offset: 0 }
    }

    /// Its address.
    #[inline(always)]
    pub fn of(self, bases: &Bases) -> *mut u8 {
        bases[self.base as usize].wrapping_offset(self.offset)
    }
}

/// How a call's buffers become the algorithm's.
#[derive(Debug)]
pub struct Layout {
    pub units: Units,
    pub send: Start,
    pub receive: Start,
    /// Units of the rows in working memory.
    pub rows: SmallVec<[usize; 2]>,
    pub before: SmallVec<[Action; 1]>,
    pub after: SmallVec<[Action; 1]>,
}

impl Layout {
    /// Of rank `rank` of `size`.
    pub fn of(rank: usize, size: usize, call: &Call, local: &LocalArguments) -> Self {
        let nowhere = Start::at(Base::Nowhere);
        let (rows, before, after) = (SmallVec::new(), SmallVec::new(), SmallVec::new());
        let mut layout = Self { units: Units::Bytes(1), send: nowhere, receive: nowhere, rows, before, after };
        let (send, receive) = (local.send, local.receive);
        let out_of_the_way = local.overlap == Overlap::Partial;
        if call.operation.reduces() {
            layout.units = units(local);
            layout.receive = Start::at(receive.map_or(Base::Nowhere, |_| Base::Receive));
            layout.send = match send {
                Some(send) if out_of_the_way => layout.copied(&send, call.count),
                Some(_) => Start::at(Base::Send),
                None => layout.receive,
            };
            return layout;
        }
        if let Some(own) = &local.own {
            layout.own_blocks(local, own);
            return layout;
        }
        let (row, own) = (call.operation.row(), rank * call.count);
        if let Some(all) = receive {
            layout.receive = layout.row(&all, Base::Receive);
            if !all.datatype.contiguous {
                let bytes = Range::receive(0, all.bytes());
                match row.contribution(call.count, size, rank == call.root) == Some(bytes) {
                    true => layout.pack(Side::Receive, 0, all.count, bytes),
                    false => layout.unpack(bytes, all.count),
                }
            }
        }
        if let Some(send) = send {
            layout.send = match out_of_the_way {
                true => layout.copied(&send, send.bytes()),
                false => layout.packed(&send),
            };
        }
        match (send, receive, row.in_place) {
            (None, Some(all), InPlace::OwnOfReceive) => {
                layout.send = Start { offset: own as isize, ..layout.receive };
                if !all.datatype.contiguous {
                    let block = all.count / size;
                    layout.pack(Side::Receive, (rank * block) as isize, block, Range::send(0, call.count));
                }
            }
            (None, Some(all), InPlace::All) => {
                layout.send = layout.receive;
                if !all.datatype.contiguous {
                    layout.pack(Side::Receive, 0, all.count, Range::send(0, all.bytes()));
                }
            }
            (Some(_), None, InPlace::OwnOfSend) => layout.receive = Start { offset: own as isize, ..layout.send },
            _ => {}
        }
        layout
    }

    /// Of a call with counts and displacements of the rank's own: blocks of contiguous types where they are, others in
    /// a row. A send side that overlaps the receive side is moved out of its way.
    fn own_blocks(&mut self, local: &LocalArguments, own: &OwnArguments) {
        let (sent, received) = (own_arguments::Side::Send, own_arguments::Side::Receive);
        let receive = local.receive.expect("every rank receives");
        let blocks = &own.blocks;
        if receive.datatype.contiguous {
            self.receive = Start { base: Base::Receive, offset: own.offset(received) };
        } else {
            self.receive = self.new_row(own.row(received));
            for (rank, elements) in own.filled(received) {
                let block = blocks.receive[rank];
                let into = action::Elements { side: Side::Receive, first: elements.first, number: elements.number };
                self.after.push(Action::Unpack { from: Range::receive(block.start, block.len), into });
            }
        }
        let side = match local.send {
            None => {
                self.send = self.receive;
                (!receive.datatype.contiguous).then_some(Side::Receive)
            }
            Some(send) if send.datatype.contiguous && local.overlap != Overlap::Partial => {
                self.send = Start { base: Base::Send, offset: own.offset(sent) };
                None
            }
            Some(_) => {
                self.send = self.new_row(own.row(sent));
                Some(Side::Send)
            }
        };
        for (rank, elements) in own.filled(sent) {
            let block = blocks.send[rank];
            if let Some(side) = side {
                self.pack(side, elements.first, elements.number, Range::send(block.start, block.len));
            }
        }
    }

    /// A row for the bytes of elements; their own place if they are a row.
    fn row(&mut self, elements: &Elements, own: Base) -> Start {
        if elements.datatype.contiguous { Start::at(own) } else { self.new_row(elements.bytes()) }
    }

    fn new_row(&mut self, units: usize) -> Start {
        self.rows.push(units);
        Start::at(if self.rows.len() == 1 { Base::FirstRow } else { Base::SecondRow })
    }

    /// The contribution as a row of bytes.
    fn packed(&mut self, send: &Elements) -> Start {
        if send.datatype.contiguous { Start::at(Base::Send) } else { self.copied(send, send.bytes()) }
    }

    /// The contribution in working memory, `units` units of it.
    fn copied(&mut self, send: &Elements, units: usize) -> Start {
        self.pack(Side::Send, 0, send.count, Range::send(0, units));
        self.new_row(units)
    }

    fn pack(&mut self, side: Side, first: isize, number: usize, into: Range) {
        self.before.push(Action::Pack { from: action::Elements { side, first, number }, into });
    }

    fn unpack(&mut self, from: Range, number: usize) {
        self.after.push(Action::Unpack { from, into: action::Elements { side: Side::Receive, first: 0, number } });
    }
}

/// The units of a reduction. Each side may have a layout of its own only where both are rows of the same bytes.
pub fn units(local: &LocalArguments) -> Units {
    let side = local.receive.or(local.send).expect("one of them counts on every rank");
    if side.datatype.contiguous { Units::Bytes(side.datatype.size) } else { Units::Typed(side.datatype) }
}
