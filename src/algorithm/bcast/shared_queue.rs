//! The root writes fragments into a queue in shared memory, from which all others copy them.
//!
//! The queue is the root's window: two banks of so many slots of a fragment each. The root writes ahead of the others,
//! and waits only before it writes to a bank again, until all have gone on to the other one. That a fragment is there
//! is told by the root's flag, which all watch, or along a tree: then a rank raises its own flag for those below before
//! it copies. A message that fits beside a flag travels with it in one line.
//!
//! State at p = 3 with two slots in a bank (A is rank 0's queue):
//!
//! ```text
//!             bank 0   bank 1   ranks 1 and 2 have
//! start       . .      . .      .
//! put a       a .      . .      .
//! put b       a b      . .      a
//! put c       a b      c .      a b
//! put d       a b      c d      a b c      bank 0 is left: all tell that they have begun the other
//! put e       e b      c d      a b c d
//! ```
//!
//! Cost, with fragments of f bytes and where all watch the root's flag: n ≤ 48: t_W + 2nt; else ⌈n/f⌉t_W + (n + f)t.
//! Where banks of m slots are filled N > 1 times, (p−1)t_W until all have begun the call, mt_W for the first fill and
//! max(m, p)t_W for each further one: seeing its fragments, or seeing that its bank is left. Least at f = √(bt_W/t) for
//! n = b bytes in a bank. Needs: shared memory. Memory: the root's window.
//!
//! Source: M. Kurnosov's lectures on collective operations; as in Open MPI's coll/sm and in MVAPICH.

use crate::algorithm::engine::windows::{self, Fills, Room};
use crate::algorithm::{
    Algorithm, Call, Cost, Default, Kind, Needs, Operation, Parameter, Parameters, Shape, SharedMemory,
};
use crate::operation::{Comm, Range};
use crate::pattern::complete::Complete;
use crate::pattern::tree::Tree;

/// The catalogue row.
pub const ROW: Algorithm = Algorithm {
    operation: Operation::Bcast,
    name: "shared_queue",
    summary: "The root writes fragments into a queue in shared memory, from which all others copy them.",
    parameters: &[
        Parameter {
            name: "fragment",
            kind: Kind::Segment,
            default: Default::Auto,
            help: "f: bytes of a slot; auto: √(b·t_W/t) for b bytes in a bank; none: a bank is one slot",
        },
        Parameter {
            name: "slots",
            kind: Kind::Blocks,
            default: Default::Auto,
            help: "m: slots of a bank; auto: as many as fit",
        },
        Parameter {
            name: "radix",
            kind: Kind::Count { least: 1 },
            default: Default::Count(1024),
            help: "k: maximum number of ranks that watch one flag; from p−1 on all watch the root's",
        },
    ],
    needs: Needs::SHARED_MEMORY,
    ordered: true,
    alone: true,
    formula: "⌈n/f⌉t_W+(n+f)t, k≥p−1; k≥p−1, N=⌈n/mf⌉, N>1: at most (p−1+m+(N−1)max(m,p))t_W+(n+f)t; n≤48: t_W+2nt",
    cost,
    source: "Kurnosov, lectures on collective operations; Open MPI coll/sm; MVAPICH",
    run,
};

/// The queue of one message, or of the part of it that goes in one call on the board.
struct Queue {
    fills: Fills,
    /// Units of a slot.
    slot: usize,
    /// Slots of a bank.
    slots: usize,
}

/// A fragment: its bank as a fill of it, its slot there, and its units.
struct Fragment {
    fill: usize,
    slot: usize,
    start: usize,
    len: usize,
}

impl Queue {
    /// For `units` units of `unit` bytes with this room in a bank, by the calls on the board that they go in.
    fn of_calls(
        units: usize,
        unit: usize,
        room: Room,
        notification: usize,
        parameters: &Parameters,
    ) -> impl Iterator<Item = Self> + use<> {
        let best = || ((room.units.min(units) * unit) as f64 * notification as f64).sqrt() as usize;
        let bytes = parameters.number("fragment").unwrap_or_else(best);
        let slot = (bytes / unit).max(1).min(room.units);
        // A bank's fragments are told of in one call.
        let slots = parameters.number("slots").unwrap_or(usize::MAX).min(room.units / slot).min(room.last_step);
        let bank = Room { units: slot * slots, ..room };
        Fills::of_calls(units, bank, slots).map(move |fills| Self { fills, slot, slots })
    }

    fn fragments(&self) -> impl Iterator<Item = Fragment> + '_ {
        (0..self.fills.number()).flat_map(move |fill| {
            let units = self.fills.units_of(fill);
            let starts = units.clone().step_by(self.slot).enumerate();
            starts.map(move |(slot, start)| Fragment { fill, slot, start, len: self.slot.min(units.end - start) })
        })
    }

    /// The step that tells of a fragment.
    const fn step(&self, fill: usize, slot: usize) -> usize {
        fill * self.slots + slot + 1
    }

    /// Where a fragment lies in the window of `root`.
    fn place(&self, root: usize, fragment: &Fragment) -> Range {
        self.fills.window(root, fragment.fill, fragment.slot * self.slot, fragment.len)
    }
}

fn cost(shape: &Shape, parameters: &Parameters) -> Cost {
    let Shape { ranks, bytes, unit, .. } = *shape;
    if ranks == 1 || bytes == 0 {
        return Cost::default();
    }
    if windows::fits_line(bytes) {
        return Cost { notified: 1.0, copied: 2.0 * bytes as f64, ..Cost::default() };
    }
    let notification = shape.shared.unwrap_or(SharedMemory::PLAIN).notification;
    let mut cost = Cost { copied: bytes as f64, ..Cost::default() };
    for queue in Queue::of_calls(bytes / unit, unit, windows::room(shape.shared, unit), notification, parameters) {
        cost.notified += notified(&queue, ranks, parameters);
        cost.copied += (queue.slot.min(queue.fills.units) * unit) as f64;
    }
    cost
}

/// Flags seen one after another until the last rank has seen the last fragment, and the root that both banks are left.
fn notified(queue: &Queue, ranks: usize, parameters: &Parameters) -> f64 {
    let tree = Complete { ranks, radix: parameters.count("radix") };
    let depth = |v: usize| std::iter::successors(Some(v), |v| tree.links(*v).parent).count() - 1;
    let depths: Vec<usize> = (1..ranks).map(depth).collect();
    let deepest = tree.height();
    let fills = queue.fills.number();
    let mut root = queue.fills.notifications(ranks) as usize;
    // By depth: when a rank has seen the first fragment of the fill before, and its last one.
    let (mut begun, mut seen) = (vec![0; deepest + 1], vec![0; deepest + 1]);
    let left =
        |root: usize, begun: &[usize]| depths.iter().fold(root, |time: usize, depth| time.max(begun[*depth]) + 1);
    for fill in 0..fills {
        if fill >= 2 {
            root = left(root, &begun);
        }
        let slots = queue.fills.units_of(fill).len().div_ceil(queue.slot);
        let (mut first, mut last) = (root, root);
        for depth in 1..=deepest {
            begun[depth] = seen[depth].max(first) + 1;
            // One after another, as they are seen above.
            seen[depth] = (begun[depth] + slots - 1).max(last + 1);
            (first, last) = (begun[depth], seen[depth]);
        }
    }
    if fills > 1 {
        root = left(root, &begun);
    }
    root.max(seen[deepest]) as f64
}

fn run(comm: &mut dyn Comm, call: &Call, parameters: &Parameters) {
    let (root, message) = (call.root, Range::receive(0, call.count));
    if comm.size() == 1 || call.count == 0 {
        return;
    }
    let is_root = comm.rank() == root;
    if windows::fits_line(call.bytes()) {
        comm.enter(0);
        if is_root {
            windows::post(comm, message);
        } else {
            comm.await_post(root);
            comm.copy(Range::line(root, message.len), message);
        }
        return;
    }
    let notification = call.shared.unwrap_or(SharedMemory::PLAIN).notification;
    let tree = Complete { ranks: comm.size(), radix: parameters.count("radix") };
    for queue in Queue::of_calls(call.count, call.unit, windows::room(call.shared, call.unit), notification, parameters)
    {
        comm.enter(0);
        if is_root { write(comm, &queue, message) } else { read(comm, &queue, root, message, &tree) }
    }
}

fn write(comm: &mut dyn Comm, queue: &Queue, message: Range) {
    let root = comm.rank();
    queue.fills.await_banks(comm);
    for fragment in queue.fragments() {
        if fragment.slot == 0 && fragment.fill >= 2 {
            await_left(comm, queue, fragment.fill - 1);
        }
        comm.copy(message.part(fragment.start, fragment.len), queue.place(root, &fragment));
        comm.signal(queue.step(fragment.fill, fragment.slot));
    }
    // The other bank has to be left by the end of the call.
    if queue.fills.number() > 1 {
        await_left(comm, queue, queue.fills.number() - 1);
    }
}

/// Waits until all others have begun a fill, and so have left the one before it.
fn await_left(comm: &mut dyn Comm, queue: &Queue, fill: usize) {
    let (p, root) = (comm.size(), comm.rank());
    (1..p).for_each(|v| comm.await_flag((root + v) % p, queue.step(fill, 0)));
}

fn read(comm: &mut dyn Comm, queue: &Queue, root: usize, message: Range, tree: &Complete) {
    let links = tree.rooted(comm.rank(), root);
    let parent = links.parent.expect("the root writes");
    for fragment in queue.fragments() {
        let step = queue.step(fragment.fill, fragment.slot);
        comm.await_flag(parent, step);
        // Those below want to know of every fragment, the root when a bank is left.
        if !links.children.is_empty() || fragment.slot == 0 && fragment.fill > 0 {
            comm.signal(step);
        }
        comm.copy(queue.place(root, &fragment), message.part(fragment.start, fragment.len));
    }
}
