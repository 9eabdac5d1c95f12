//! The board that ranks share (`src/shared/board.rs`), compiled against loom, which tries the orders of the ranks'
//! steps and every value that a load may see: the lowered actions of every row that lives in shared memory, calls in
//! turns.
//!
//! Orders with up to two changes of rank where none has to wait: as many of them as 0.6 s allow for each model (most
//! rows have several of them), all with `COLLIE_TEST_DEEP=1`. What flags order is data in cells that loom watches, a
//! cell for each unit, so that a read or write that no flag orders ends the test. That the programs are right for any
//! number of ranks is the verifier's affair (`schedule::verify`): it rests on what is seen here, that a flag which is
//! seen brings what was done before it was raised.

#![allow(dead_code, reason = "what is compiled here is more than what is tried")]

use board::Board;
use collie::algorithm::{Call, Choice, Operation, SharedMemory, all, parse_choice};
use collie::schedule::action::Action;
use collie::schedule::lower::{Form, Part, lower};
use collie::schedule::{Buffer, Place, Range, Shared};
use loom::thread;
use memory::Memory;

#[path = "../src/shared/board.rs"]
mod board;
#[path = "../src/shared/cache.rs"]
mod cache;

/// What `src/run/shared.rs` looks for in the crate.
#[path = "../src/run/shared.rs"]
mod steps;

mod operation {
    pub use collie::operation::{Place, Range, Shared, SharedMemory};
}

mod shared {
    pub use crate::board::{Board, LONGEST_STEP};
    pub use collie::shared::{BANKS, LENT_FROM, LINES, PAYLOAD};
}

mod sync {
    pub use loom::sync::atomic::Ordering;
}

/// What `src/shared/memory.rs` is to the library.
mod memory {
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicU64;

    pub use collie::shared::{BANKS, LENGTHS};

    /// Fewer than the library's, so that few calls use one again.
    pub const LINES: usize = 2;

    /// Units of a window's bank and of a line that there are cells for.
    pub const UNITS: usize = 3;

    type Cells = Vec<UnsafeCell<u32>>;
    type Length = std::sync::atomic::AtomicU64;

    #[derive(Debug)]
    struct OfRank {
        own: AtomicU64,
        /// Not watched: they order nothing, and what they tell is the same in every order.
        lengths: Vec<Length>,
        release: AtomicU64,
        lines: Vec<AtomicU64>,
        payloads: Vec<Cells>,
        windows: Vec<Cells>,
    }

    #[derive(Debug)]
    struct Flags {
        arrivals: AtomicU64,
        arrived: AtomicU64,
        ranks: Vec<OfRank>,
    }

    /// Shared by the boards of all ranks.
    #[derive(Clone, Debug)]
    pub struct Memory(Arc<Flags>);

    // SAFETY: loom watches who touches the cells.
    unsafe impl Send for Memory {}
    // SAFETY: as above.
    unsafe impl Sync for Memory {}

    impl Memory {
        pub fn of(ranks: usize) -> Self {
            let flag = || AtomicU64::new(0);
            let cells = |_| (0..UNITS).map(|_| UnsafeCell::new(0)).collect();
            let of_rank = |_| OfRank {
                own: flag(),
                lengths: (0..LENGTHS + LINES).map(|_| Length::new(0)).collect(),
                release: flag(),
                lines: (0..LINES).map(|_| flag()).collect(),
                payloads: (0..LINES).map(cells).collect(),
                windows: (0..BANKS).map(cells).collect(),
            };
            Self(Arc::new(Flags { arrivals: flag(), arrived: flag(), ranks: (0..ranks).map(of_rank).collect() }))
        }

        pub fn arrivals(&self) -> &AtomicU64 {
            &self.0.arrivals
        }

        pub fn arrived(&self) -> &AtomicU64 {
            &self.0.arrived
        }

        pub fn own(&self, rank: usize) -> &AtomicU64 {
            &self.0.ranks[rank].own
        }

        pub fn length(&self, rank: usize, place: usize) -> &Length {
            &self.0.ranks[rank].lengths[place]
        }

        pub fn line_length(&self, rank: usize, line: usize) -> &Length {
            &self.0.ranks[rank].lengths[LENGTHS + line]
        }

        pub fn release(&self, rank: usize) -> &AtomicU64 {
            &self.0.ranks[rank].release
        }

        pub fn line(&self, rank: usize, line: usize) -> &AtomicU64 {
            &self.0.ranks[rank].lines[line]
        }

        pub fn payload_cells(&self, rank: usize, line: usize) -> &[UnsafeCell<u32>] {
            &self.0.ranks[rank].payloads[line]
        }

        pub fn window_cells(&self, rank: usize, bank: usize) -> &[UnsafeCell<u32>] {
            &self.0.ranks[rank].windows[bank]
        }

        // Addresses there are none here.
        pub fn payload(&self, _: usize, _: usize) -> *mut u8 {
            std::ptr::null_mut()
        }

        pub fn window(&self, _: usize, _: usize) -> *mut u8 {
            std::ptr::null_mut()
        }
    }
}

const UNIT: usize = 4;

/// One rank: its board, and its own buffers in the call that it is in.
struct Rank {
    board: Board,
    buffers: [Vec<u32>; 3],
}

impl Rank {
    fn cells(&self, range: Range) -> (&[loom::cell::UnsafeCell<u32>], usize) {
        let (place, rank, start) = Range::place(range.start);
        let memory = self.board.memory();
        let cells = match place {
            Place::Line => memory.payload_cells(rank, self.board.line()),
            _ => memory.window_cells(rank, self.board.bank(place == Place::OtherWindow)),
        };
        (cells, start)
    }

    fn read(&self, range: Range) -> Vec<u32> {
        if range.buffer != Buffer::Shared {
            return self.buffers[range.buffer as usize][range.start..range.end()].to_vec();
        }
        let (cells, start) = self.cells(range);
        // SAFETY: loom tells if another rank may write it now.
        cells[start..start + range.len].iter().map(|cell| cell.with(|unit| unsafe { *unit })).collect()
    }

    fn write(&mut self, range: Range, units: &[u32]) {
        if range.buffer != Buffer::Shared {
            return self.buffers[range.buffer as usize][range.start..range.end()].copy_from_slice(units);
        }
        let (cells, start) = self.cells(range);
        for (cell, unit) in cells[start..].iter().zip(units) {
            // SAFETY: loom tells if another rank may touch it now.
            cell.with_mut(|place| unsafe { *place = *unit });
        }
    }

    fn carry_out(&mut self, action: Action) {
        match action {
            Action::Copy { from, into } => {
                let units = self.read(from);
                self.write(into, &units);
            }
            Action::Fold { left, right, into } => {
                let (left, right) = (self.read(left), self.read(right));
                let sums: Vec<_> = left.iter().zip(right).map(|(left, right)| left + right).collect();
                self.write(into, &sums);
            }
            Action::Shared(step) => {
                let done = steps::take(&mut self.board, step, |is_over| {
                    while !is_over() {
                        thread::yield_now();
                    }
                    Ok::<(), ()>(())
                });
                done.expect("waiting has no errors");
            }
            other => panic!("{other:?} is for messages"),
        }
    }
}

/// One call of all ranks: the algorithm, its root, the units, and the NUMA nodes of the ranks.
#[derive(Clone)]
struct OneCall {
    choice: Choice,
    root: usize,
    count: usize,
    numa: &'static [u32],
    last_step: usize,
}

impl OneCall {
    fn of(choice: Choice, root: usize, count: usize) -> Self {
        Self { choice, root, count, numa: &[], last_step: SharedMemory::PLAIN.last_step }
    }
}

fn one(operation: Operation, text: &str, root: usize, count: usize) -> OneCall {
    OneCall::of(parse_choice(operation, text).unwrap(), root, count)
}

impl OneCall {
    fn call(&self, window: usize) -> Call<'static> {
        let shared = SharedMemory { window: window * UNIT, last_step: self.last_step, ..SharedMemory::PLAIN };
        let plain = Call::plain(self.choice.algorithm.operation, self.count, UNIT);
        Call { root: self.root, shared: Some(shared), numa: self.numa, ..plain }
    }

    fn actions(&self, rank: usize, size: usize, window: usize) -> (Vec<Action>, usize) {
        let part = Part { choice: &self.choice, call: &self.call(window), rank, size };
        let lowered = lower(&part, &Form::PLAIN, usize::MAX).expect("no limit");
        let with_few_lines = |action: &Action| match *action {
            Action::Shared(Shared::Begun { before }) if before == SharedMemory::LINES - 1 => {
                Action::Shared(Shared::Begun { before: memory::LINES as u32 - 1 })
            }
            same => same,
        };
        (lowered.actions.iter().map(with_few_lines).collect(), lowered.scratch)
    }

    fn contribution(number: usize, rank: usize, unit: usize) -> u32 {
        (number * 10_000 + rank * 100 + unit) as u32
    }

    /// Send and receive buffer of a rank, as they are before the call.
    fn buffers(&self, number: usize, rank: usize, size: usize) -> [Vec<u32>; 2] {
        let call = self.call(1);
        let mut buffers = call.buffers(rank, size).map(|units| vec![7; units.unwrap_or(0)]);
        for range in call.contributions(rank, size) {
            for unit in 0..range.len {
                buffers[range.buffer as usize][range.start + unit] =
                    Self::contribution(number, rank, unit + range.start);
            }
        }
        buffers
    }

    fn check(&self, number: usize, rank: usize, size: usize, received: &[u32]) {
        let (call, row) = (self.call(1), self.choice.algorithm.operation.row());
        for range in call.results(rank, size) {
            for (unit, received) in received.iter().enumerate().take(range.end()).skip(range.start) {
                let expected = if row.folds {
                    (0..size).map(|rank| Self::contribution(number, rank, unit)).sum()
                } else {
                    let (of, unit) = row.origin(unit, self.count, rank, self.root);
                    Self::contribution(number, of, unit)
                };
                assert_eq!(*received, expected, "{} call {number} rank {rank} of {size}", self.choice);
            }
        }
    }
}

/// Plays the calls one after another on all ranks, in the first [`MOST`] orders that loom finds; with `COLLIE_TEST_DEEP=1`
/// in all of them.
fn in_many_orders(calls: &[OneCall], size: usize) {
    in_orders(calls, size, |_| (), Some(MOST));
}

/// Plays them with actions that are `change`d, in so many orders at `most`.
fn in_orders(calls: &[OneCall], size: usize, change: fn(&mut Vec<Action>), most: Option<usize>) {
    type Program = Vec<(Vec<Action>, usize)>;
    let programs: Vec<Program> = (0..size)
        .map(|rank| {
            let lowered = calls.iter().map(|one| one.actions(rank, size, memory::UNITS));
            let changed = lowered.map(|(mut actions, scratch)| {
                change(&mut actions);
                (actions, scratch)
            });
            changed.collect()
        })
        .collect();
    let (programs, calls) = (std::sync::Arc::new(programs), std::sync::Arc::new(calls.to_vec()));
    let mut model = loom::model::Builder::new();
    // More changes of rank where none has to wait take too long and show little.
    model.preemption_bound = Some(2);
    model.max_branches = 100_000;
    let deep = std::env::var("COLLIE_TEST_DEEP").is_ok_and(|value| value == "1");
    // As often it is looked at how many there have been.
    model.checkpoint_interval = 50;
    model.max_permutations = most.filter(|_| !deep);
    model.check(move || {
        let memory = Memory::of(size);
        let threads: Vec<_> = (0..size)
            .map(|rank| {
                let (memory, programs, calls) = (memory.clone(), programs.clone(), calls.clone());
                let part = move || {
                    let mut of = Rank { board: Board::over(memory, size, rank), buffers: Default::default() };
                    for (number, one) in calls.iter().enumerate() {
                        let (actions, scratch) = &programs[rank][number];
                        let [send, receive] = one.buffers(number, rank, size);
                        of.buffers = [send, receive, vec![9; *scratch]];
                        actions.iter().for_each(|action| of.carry_out(*action));
                        one.check(number, rank, size, &of.buffers[1]);
                    }
                };
                thread::spawn(part)
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// Orders of a model that are tried where there is not all the time in the world: half a second's.
const MOST: usize = 1_500;

#[test]
fn two_ranks_in_every_row_twice() {
    for row in all().filter(|row| row.needs.shared_memory) {
        let rooted = row.operation.rooted();
        let count = if row.operation.has_data() { 2 } else { 0 };
        let call = |root| OneCall::of(Choice::new(row), if rooted { root } else { 0 }, count);
        in_many_orders(&[call(0), call(1)], 2);
    }
}

#[test]
fn three_ranks_in_every_row() {
    for row in all().filter(|row| row.needs.shared_memory) {
        let count = if row.operation.has_data() { 1 } else { 0 };
        in_many_orders(&[OneCall::of(Choice::new(row), 0, count)], 3);
    }
}

/// One call more than there are lines, each with other data.
#[test]
fn lines_are_used_again() {
    for row in all().filter(|row| row.needs.shared_memory && row.operation.has_data()) {
        for size in [2, 3] {
            let rooted = row.operation.rooted();
            let calls = [0, 1, 0].map(|root| OneCall::of(Choice::new(row), if rooted { root } else { 0 }, 1));
            in_many_orders(&calls, size);
        }
    }
}

#[test]
fn ranks_on_several_numa_nodes() {
    const PLACES: [&[u32]; 4] = [&[0, 1], &[0, 0, 1], &[0, 1, 0], &[0, 1, 2]];
    for numa in PLACES {
        let call = OneCall { numa, ..one(Operation::Barrier, "numa_hierarchical", 0, 0) };
        in_many_orders(&[call.clone(), call], numa.len());
    }
}

/// More bytes than a line carries, in windows of one to three units.
fn long(operation: Operation, text: &str, root: usize) -> OneCall {
    one(operation, text, root, SharedMemory::LINE / UNIT + 1)
}

#[test]
fn windows_are_filled_again_and_again() {
    let rows = [
        (Operation::Bcast, "shared_queue:fragment=4,slots=3"),
        (Operation::Reduce, "shared_slices"),
        (Operation::Allreduce, "shared_slices"),
        (Operation::Gather, "shared_copy"),
        (Operation::Scatter, "shared_copy"),
        (Operation::Allgather, "shared_copy"),
    ];
    for (operation, text) in rows {
        let calls = [1, 0].map(|root| long(operation, text, if operation.rooted() { root } else { 0 }));
        in_many_orders(&calls, 2);
        // So few steps that the same messages are several calls on the board.
        let [first, second] = calls.map(|call| OneCall { last_step: 4, ..call });
        in_many_orders(&[first, second], 2);
    }
}

#[test]
fn three_ranks_fill_windows() {
    for (operation, text) in [(Operation::Allreduce, "shared_slices"), (Operation::Bcast, "shared_queue:radix=1")] {
        in_many_orders(&[long(operation, text, 0), long(operation, text, 0)], 3);
    }
}

/// A short message, which travels in a line.
fn unsynchronised(change: fn(&mut Vec<Action>)) {
    in_orders(&[one(Operation::Bcast, "shared_queue", 0, 1)], 2, change, None);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn a_read_that_waits_for_nothing_is_found() {
    unsynchronised(|actions| actions.retain(|action| !matches!(action, Action::Shared(Shared::AwaitPost { .. }))));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn a_line_that_is_told_of_before_it_is_written_is_found() {
    unsynchronised(|actions| {
        let post = actions.iter().position(|action| *action == Action::Shared(Shared::Post));
        if let Some(post) = post {
            let told = actions.remove(post);
            actions.insert(post - 1, told);
        }
    });
}

#[test]
#[should_panic(expected = "Causality violation")]
fn a_line_that_is_written_while_it_is_read_is_found() {
    let calls = [0; 3].map(|root| one(Operation::Bcast, "shared_queue", root, 1));
    in_orders(
        &calls,
        2,
        |actions| {
            actions.retain(|action| !matches!(action, Action::Shared(Shared::Begun { .. })));
        },
        None,
    );
}

#[test]
#[should_panic(expected = "Causality violation")]
fn a_bank_that_is_written_while_it_is_read_is_found() {
    let calls = [0; 2].map(|root| long(Operation::Bcast, "shared_queue:fragment=none", root));
    in_orders(
        &calls,
        2,
        |actions| {
            actions.retain(|action| !matches!(action, Action::Shared(Shared::Begun { .. })));
        },
        None,
    );
}
