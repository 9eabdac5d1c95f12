//! The ring allreduce with blocks cut into segments, so that a segment travels on while the next one is folded.
//!
//! As in `ring`, block b starts at rank b, is folded at every rank that it reaches, and once complete goes round again.
//! Its segments are messages of their own: while rank r folds segment j of a block, segment j − 1 is already on its way
//! to r + 1, and segment j + 1 has its receive started.
//!
//! Segments in flight at p = 4 with two segments per block (a' and a" of block a; the four ranks in a row):
//!
//! ```text
//! start        a'  b'  c'  d'    sent unfolded
//! message 1    a"  b"  c"  d"    sent while d' a' b' c' arrive and are folded
//! message 2    d'  a'  b'  c'    sent while d" a" b" c" arrive and are folded
//! message 3    d"  a"  b"  c"    and so on, 2(p−1)S messages each way
//! ```
//!
//! Cost: 2(p−1)Sα + 2((p−1)/p)nβ + ((p−1)/p)nγ for S segments per block, folds behind messages except for the last of
//! each block. Needs: a commutative operation. Memory: two segments of scratch.
//!
//! Source: as `ring`, segmented as in Open MPI's coll/base (segmented ring). Departures: 1. segments follow one another
//! without a phase per segment, so that the ring is never drained in between.

use crate::algorithm::{Algorithm, Call, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape};
use crate::operation::{Comm, Range, Request};
use crate::pattern::blocks::Blocks;
use crate::pattern::segments::Segments;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Allreduce,
    name: "segmented_ring",
    summary: "The ring allreduce with blocks cut into segments, so that a segment travels while the next is reduced.",
    parameters: &[Parameter {
        name: "segment",
        kind: Kind::Bytes,
        // Open MPI's fixed decision for its segmented ring.
        default: Default::Bytes(1 << 20),
        help: "bytes of a block's segment",
    }],
    needs: Needs::NOTHING,
    ordered: false,
    alone: true,
    formula: "2(p−1)Sα+2((p−1)/p)nβ+((p−1)/p)nγ, S=⌈n/ps⌉",
    cost,
    source: "Patarasuk, Yuan, JPDC 69(2), 2009; Open MPI coll/base",
    run,
};

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let steps = (shape.ranks - 1) as f64;
    let block = Blocks::new(shape.bytes / shape.unit, shape.ranks).units(0).len();
    let segments = Segments::new(block, (parameters.count("segment") / shape.unit).max(1)).number() as f64;
    let bytes = (block * shape.unit) as f64;
    Cost { rounds: 2.0 * steps * segments, bytes: 2.0 * steps * bytes, folded: steps * bytes, ..Cost::default() }
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let (own, result) = (Range::send(0, call.count), Range::receive(0, call.count));
    if comm.size() == 1 {
        comm.copy(own, result);
        return;
    }
    let segment = call.units_in(parameters.count("segment"));
    Ring::new(comm, call.count, segment).run(comm, own, result);
}

/// The messages of one rank: number m is segment m mod S of the block of step m / S.
struct Ring {
    blocks: Blocks,
    p: usize,
    r: usize,
    segment: usize,
    /// S, the same for all blocks: the shorter ones have an empty segment if need be.
    segments: usize,
    places: [Range; 2],
}

impl Ring {
    fn new(comm: &mut dyn Comm, count: usize, segment: usize) -> Self {
        let (p, r) = (comm.size(), comm.rank());
        let blocks = Blocks::new(count, p);
        let longest = Segments::new(blocks.units(0).len(), segment);
        let places = [comm.scratch(longest.length()), comm.scratch(longest.length())];
        Self { blocks, p, r, segment: longest.length(), segments: longest.number(), places }
    }

    /// Units of message m that rank r sends (`behind` = 0) or receives (`behind` = 1).
    fn units(&self, message: usize, behind: usize) -> std::ops::Range<usize> {
        let (step, segment) = (message / self.segments, message % self.segments);
        let block = self.blocks.units((self.r + 2 * self.p - step - behind) % self.p);
        let start = (block.start + segment * self.segment).min(block.end);
        start..(start + self.segment).min(block.end)
    }

    /// Where message m arrives: to be folded in the first p − 1 steps, in the result afterwards.
    fn arrival(&self, message: usize, result: Range) -> Range {
        let units = self.units(message, 1);
        if message < self.folded() { self.places[message % 2].part(0, units.len()) } else { result.slice(&units) }
    }

    /// Number of messages that arrive to be folded.
    fn folded(&self) -> usize {
        (self.p - 1) * self.segments
    }

    fn run(&self, comm: &mut dyn Comm, own: Range, result: Range) {
        let (left, right) = ((self.r + self.p - 1) % self.p, (self.r + 1) % self.p);
        let total = 2 * self.folded();
        let mut sent: Option<Request> = None;
        let mut arriving = comm.irecv(left, self.arrival(0, result));
        for message in 0..total {
            let from = if message < self.segments { own } else { result };
            let sending = comm.isend(right, from.slice(&self.units(message, 0)));
            // A send is given one message more to finish. It reads what this one's arrival may overwrite only a whole
            // step later, or at once if a step is one message.
            if self.segments == 1 {
                comm.wait(&[sending]);
            } else if let Some(previous) = sent.replace(sending) {
                comm.wait(&[previous]);
            }
            comm.wait(&[arriving]);
            if message + 1 < total {
                arriving = comm.irecv(left, self.arrival(message + 1, result));
            }
            if message < self.folded() {
                let units = self.units(message, 1);
                comm.fold(self.arrival(message, result), own.slice(&units), result.slice(&units));
            }
        }
        if let Some(last) = sent {
            comm.wait(&[last]);
        }
    }
}
