//! Down a tree: every rank passes each segment on to its children as it comes.

use crate::algorithm::{Call, Cost, Shape};
use crate::operation::{Comm, Range, Request, Requests};
use crate::pattern::segments::Segments;
use crate::pattern::tree::{Downward, Links, Tree, rounds, widest};
use smallvec::SmallVec;

/// Segments whose receives are posted before the first of them has come, and whose sends may be unfinished. Enough to
/// keep a link busy while one segment is handed over and one is passed on; more would only pile up requests.
const AHEAD: usize = 4;

/// Sends `message` from the root to all ranks below it, segment by segment.
pub fn down(comm: &mut dyn Comm, links: &Links, message: Range, segments: Segments) {
    let fan = links.children.len();
    let mut arriving = SmallVec::<[Request; AHEAD]>::new();
    let mut sends = Requests::new();
    for segment in 0..segments.number() {
        let part = message.slice(&segments.units(segment));
        if let Some(parent) = links.parent {
            let posted = segment + arriving.len();
            for ahead in posted..segments.number().min(segment + AHEAD) {
                arriving.push(comm.irecv(parent, message.slice(&segments.units(ahead))));
            }
            let first = arriving.remove(0);
            comm.wait(&[first]);
        }
        if fan > 0 && sends.len() >= AHEAD * fan {
            comm.wait(&sends[..fan]);
            sends.drain(..fan);
        }
        sends.extend(links.children.iter().map(|child| comm.isend(child.number, part)));
    }
    comm.wait(&sends);
}

/// Broadcasts the message of `call` down `tree`, turned to its root.
pub fn bcast(comm: &mut dyn Comm, call: &Call, tree: &dyn Tree, segments: Segments) {
    let links = Downward(tree).rooted(comm.rank(), call.root);
    down(comm, &links, Range::receive(0, call.count), segments);
}

/// Cost of [`bcast`].
pub fn cost(shape: &Shape, tree: &dyn Tree, segments: Segments) -> Cost {
    cost_through(shape, &Downward(tree), segments)
}

/// Cost of [`down`] through the whole of `tree`.
///
/// The last segment may be shorter: it follows the one before it at the pace of the widest rank at most.
pub fn cost_through(shape: &Shape, tree: &dyn Tree, segments: Segments) -> Cost {
    let number = segments.number();
    let count = rounds(tree, number) as f64;
    if number == 1 {
        return Cost { rounds: count, bytes: count * shape.bytes as f64, ..Cost::default() };
    }
    let whole = rounds(tree, number - 1) * segments.length() + widest(tree) * segments.units(number - 1).len();
    Cost { rounds: count, bytes: (whole * shape.unit) as f64, ..Cost::default() }
}
