//! Blocks travel by the digits of the distance that they have to go, many in one message, after their lengths.
//!
//! In the round of digit z at weight w = k^j, all blocks that have to go a distance with that digit go z·w ranks on.
//! First the lengths make that journey, a word each, so that every rank knows how long the blocks are that come by, and
//! how long the messages that hold them. Then the blocks do: out of the send buffer where they start, out of scratch
//! where they came by, into the receive buffer where they end.
//!
//! State at p = 5, k = 2 (ranks whose blocks have arrived), in either phase:
//!
//! ```text
//! rank       0        1        2        3        4
//! start      0        1        2        3        4
//! weight 1   0,4      1,0      2,1      3,2      4,3
//! weight 2   0,4,3,2  1,0,4,3  2,1,0,4  3,2,1,0  4,3,2,1
//! weight 4   all      all      all      all      all
//! ```
//!
//! Cost: with b bytes a block, ⌈log_k p⌉ rounds of k−1 messages of about (p/k)b bytes and as many of 8(p/k); for k = 2
//! at most 2qα + q(p/2)(b+8)β. Needs: the lengths of the blocks that come by. Memory: what arrives, up to ⌈log_k p⌉(p − p/k)b
//! bytes of scratch, and a message; in place as much as the blocks besides; 8 bytes for each length.
//!
//! Source: K. Fan, T. Gilray, V. Pascucci, X. Huang, K. Micinski, S. Kumar, "Optimizing the Bruck Algorithm for
//! Non-uniform All-to-all Communication", HPDC 2022; on the radix K. Fan, J. Domke, S. Ba, S. Kumar, "Configurable
//! Non-uniform All-to-all Algorithms", 2024. Departures: 1. the lengths of all rounds travel before any of the blocks,
//! in as many messages, so that what the blocks' messages are is known before the first of them; 2. what is known of
//! the lengths replaces the agreement on the longest block, which the source allots room by; 3. blocks stay where they
//! arrived until they go on, instead of having a place each.

use crate::algorithm::engine::digits::{self, Digit};
use crate::algorithm::{Algorithm, Call, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Prelude, Shape};
use crate::operation::{Comm, Range};

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Alltoallv,
    name: "two_phase_bruck",
    summary: "Blocks travel by the digits of the distance that they have to go, many in one message, after their lengths.",
    parameters: &[Parameter {
        name: "radix",
        kind: Kind::Count { least: 2 },
        default: Default::Count(2),
        help: "k: base of the digits; more means more messages and fewer bytes",
    }],
    needs: Needs { lengths: Some(&PRELUDE), ..Needs::NOTHING },
    ordered: true,
    alone: true,
    formula: "at most 2(k−1)⌈log_k p⌉α+(k−1)⌈log_k p⌉(p/k)(b+8)β",
    cost,
    source: "Fan, Gilray, Pascucci, Huang, Micinski, Kumar, HPDC 2022",
    run,
};

const PRELUDE: Prelude = Prelude {
    parameter: "radix",
    lengths: |rank, size, radix| digits::coming_by(rank, size, radix).collect(),
    run: digits::bring_lengths,
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let (p, radix) = (shape.ranks, parameters.count("radix"));
    let lengths = digits::cost(&Shape { bytes: 8, ..*shape }, radix, |digit| digits::copies(digit, p));
    let rotated = Cost { packed: (8 * p) as f64, ..Cost::default() };
    // Blocks go from message to message, and are copied home in the end, but for those that are a message by themselves.
    let is_single = |digit: Digit| digit.blocks(p) == 1;
    let blocks = digits::cost(shape, radix, |digit| if is_single(digit) { 0.0 } else { 1.0 });
    let direct = Digit::all(p, radix).filter(|digit| is_single(*digit)).count();
    let home = Cost { packed: ((p - 1 - direct) * shape.bytes) as f64, ..Cost::default() };
    lengths + rotated + blocks + home
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let (p, r, radix) = (comm.size(), comm.rank(), parameters.count("radix"));
    // By the distance that the blocks have to go in all: where they are.
    let mut blocks: Vec<Range> = (0..p).map(|distance| call.outgoing(r, (r + distance) % p)).collect();
    if call.in_place {
        move_away(comm, &mut blocks[1..]);
    }
    let mut room = comm.scratch(0);
    let mut lengths =
        digits::coming_by(r, p, radix).enumerate().map(|(number, pair)| (call.learned(number, pair), pair));
    for digit in Digit::all(p, radix) {
        let distances = || digit.runs(p).flatten();
        let leaving = distances().map(|distance| blocks[distance]);
        let outgoing = joined(comm, leaving.filter(|block| block.len > 0), &mut room);
        let arriving: Vec<_> =
            distances().zip(&mut lengths).map(|(distance, (len, pair))| (distance, len, pair)).collect();
        let ends_here = |distance| digit.passed(distance) == distance;
        let full = || arriving.iter().filter(|(_, len, _)| *len > 0);
        let incoming = match (full().next(), full().nth(1)) {
            (Some((distance, len, (from, _))), None) if ends_here(*distance) && call.incoming(r, *from).len == *len => {
                call.incoming(r, *from)
            }
            _ => comm.scratch(arriving.iter().map(|(_, len, _)| len).sum()),
        };
        let (to, from) = ((r + digit.distance()) % p, (r + p - digit.distance()) % p);
        exchange(comm, (to, outgoing), (from, incoming));
        let mut end = 0;
        for (distance, len, (from, _)) in arriving {
            let block = incoming.part(end, len);
            end += len;
            if ends_here(distance) {
                land(comm, block, call.incoming(r, from));
            } else {
                blocks[distance] = block;
            }
        }
    }
    land(comm, call.outgoing(r, r), call.incoming(r, r));
}

/// Moves blocks to scratch, where nothing that arrives meets them.
fn move_away(comm: &mut dyn Comm, blocks: &mut [Range]) {
    let room = comm.scratch(blocks.iter().map(|block| block.len).sum());
    let mut end = 0;
    for block in blocks {
        let away = room.part(end, block.len);
        end += block.len;
        comm.copy(*block, away);
        *block = away;
    }
}

/// Puts ranges behind one another, in a room that grows with what it has to hold; one alone stays where it is.
fn joined(comm: &mut dyn Comm, ranges: impl Iterator<Item = Range> + Clone, room: &mut Range) -> Range {
    if let (Some(only), None) = (ranges.clone().next(), ranges.clone().nth(1)) {
        return only;
    }
    let units = ranges.clone().map(|range| range.len).sum();
    if units > room.len {
        *room = comm.scratch(units);
    }
    let mut end = 0;
    for range in ranges {
        comm.copy(range, room.part(end, range.len));
        end += range.len;
    }
    room.part(0, units)
}

/// Sends and receives what is not empty.
fn exchange(comm: &mut dyn Comm, (to, outgoing): (usize, Range), (from, incoming): (usize, Range)) {
    match (outgoing.len > 0, incoming.len > 0) {
        (true, true) => comm.sendrecv(to, outgoing, from, incoming),
        (true, false) => comm.send(to, outgoing),
        (false, true) => comm.recv(from, incoming),
        (false, false) => {}
    }
}

/// Copies a block to its place. Where their lengths differ the call is wrong, and what has room there is copied.
fn land(comm: &mut dyn Comm, block: Range, place: Range) {
    let len = block.len.min(place.len);
    comm.copy(block.part(0, len), place.part(0, len));
}
