//! The player on a board in memory of its own, a thread for each rank: every row that lives in shared memory, call after call
//! without anything between them.

use super::tests::{expected, fastrand_like, memory};
use super::{Buffers, Player, Transport, play, shared};
use crate::algorithm::{Call, Choice, Operation, Shared, SharedMemory, all, parse_choice};
use crate::schedule::action::Elements;
use crate::schedule::lower::{Combine, Form, Part, lower};
use crate::shared::Board;
use std::alloc::Layout;
use std::time::{Duration, Instant};

/// Units are of four bytes.
const UNIT: usize = 4;

/// A rank's board; messages there are none.
struct OnBoard<'a> {
    board: &'a mut Board,
}

type Told<T = ()> = Result<T, String>;

fn no_messages<T>() -> Told<T> {
    Err("there are no messages here".to_owned())
}

// SAFETY: touches only the units named.
unsafe impl Transport for OnBoard<'_> {
    type Request = ();
    type Error = String;

    fn nothing(&self) {}

    fn stride(&self) -> isize {
        UNIT as isize
    }

    unsafe fn send(&mut self, _: u32, _: *mut u8, _: usize) -> Told {
        no_messages()
    }

    unsafe fn receive(&mut self, _: u32, _: *mut u8, _: usize) -> Told {
        no_messages()
    }

    unsafe fn start_send(&mut self, _: u32, _: *mut u8, _: usize) -> Told {
        no_messages()
    }

    unsafe fn start_receive(&mut self, _: u32, _: *mut u8, _: usize) -> Told {
        no_messages()
    }

    fn wait(&mut self, _: &mut [()]) -> Told {
        no_messages()
    }

    fn test(&mut self, _: &mut [()]) -> Told<bool> {
        no_messages()
    }

    unsafe fn copy(&mut self, from: *mut u8, into: *mut u8, units: usize) -> Told {
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(from, into, UNIT * units) };
        Ok(())
    }

    unsafe fn fold(&mut self, left: *mut u8, right: *mut u8, into: *mut u8, units: usize) {
        for unit in 0..units {
            // SAFETY: the caller's promise.
            unsafe {
                let sum = *left.cast::<u32>().add(unit) + *right.cast::<u32>().add(unit);
                *into.cast::<u32>().add(unit) = sum;
            }
        }
    }

    unsafe fn reduce_local(&mut self, input: *mut u8, inout: *mut u8, units: usize) -> Told {
        // SAFETY: the caller's promise.
        unsafe { self.fold(input, inout, inout, units) };
        Ok(())
    }

    unsafe fn pack(&mut self, _: Elements, _: *mut u8) -> Told {
        no_messages()
    }

    unsafe fn unpack(&mut self, _: *mut u8, _: Elements) -> Told {
        no_messages()
    }

    fn shared(&mut self, step: Shared) -> Told {
        let since = Instant::now();
        shared::take(self.board, step, |is_over| {
            while !is_over() {
                std::thread::yield_now();
                if since.elapsed() > Duration::from_secs(60) {
                    return Err(format!("waits for ever: {step}"));
                }
            }
            Ok(())
        })
    }

    fn shared_at(&self, start: usize) -> *mut u8 {
        shared::address(self.board, start, UNIT as isize)
    }
}

/// Memory for the board of so many ranks.
struct Segment {
    base: *mut u8,
    layout: Layout,
}

// SAFETY: an address; what lies there is the boards' affair.
unsafe impl Sync for Segment {}

impl Segment {
    fn new(ranks: usize, window: usize) -> Self {
        let layout = Layout::from_size_align(Board::bytes(ranks, window), 4096).unwrap();
        // SAFETY: of more than 0 bytes.
        Self { base: unsafe { std::alloc::alloc_zeroed(layout) }, layout }
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: from the same allocator with the same layout; no thread uses it any more.
        unsafe { std::alloc::dealloc(self.base, self.layout) };
    }
}

/// One call of all ranks.
struct OneCall {
    choice: Choice,
    root: usize,
    count: usize,
    form: Form,
}

/// All that lives in shared memory, and what makes two calls on the board of one.
fn choices() -> Vec<Choice> {
    let mut choices: Vec<_> = all().filter(|row| row.needs.shared_memory).map(Choice::new).collect();
    let written = [
        (Operation::Bcast, "shared_queue:fragment=8,slots=2,radix=1"),
        (Operation::Bcast, "shared_queue:fragment=20,radix=2"),
        (Operation::Barrier, "combining_tree:radix=2"),
        (Operation::Allreduce, "reduce_bcast:reduce=shared_slices,bcast=shared_queue"),
    ];
    choices.extend(written.map(|(operation, text)| parse_choice(operation, text).unwrap()));
    choices
}

/// Calls in an order that a seed decides: short ones and such as fill windows several times, roots changing.
fn calls(ranks: usize, number: usize, seed: u64) -> Vec<OneCall> {
    let (choices, mut random) = (choices(), fastrand_like(seed));
    let counts = [1, 3, 12, 13, 40, 100, 301];
    let locally = Form { combine: Combine::ReduceLocal { commutative: true }, ..Form::PLAIN };
    let one = |_| {
        let choice = choices[random(choices.len())].clone();
        let rooted = choice.algorithm.operation.rooted();
        let root = if rooted { random(ranks) } else { 0 };
        let count = if choice.algorithm.operation.has_data() { counts[random(counts.len())] } else { 0 };
        OneCall { choice, root, count, form: if random(4) == 0 { locally } else { Form::PLAIN } }
    };
    (0..number).map(one).collect()
}

/// What `rank` does in all calls, each with data of its own.
fn take_part(calls: &[OneCall], mut board: Board, (rank, size): (usize, usize), window: usize) {
    // Few enough numbers for sums of what is made from them to fit.
    for (number, one) in (0..50).cycle().zip(calls) {
        // So few steps that long messages are several calls on the board, of some fills each.
        let shared = Some(SharedMemory { window, last_step: 3 * size, ..SharedMemory::PLAIN });
        let operation = one.choice.algorithm.operation;
        let call = Call { root: one.root, shared, ..Call::plain(operation, one.count, UNIT) };
        one.choice.accepts(&call, size).expect("its needs are met");
        let part = Part { choice: &one.choice, call: &call, rank, size };
        let lowered = lower(&part, &one.form, usize::MAX).expect("no limit");
        let mut memory = memory(&one.choice, &call, (number, rank), size, lowered.scratch);
        let [send, receive] = [&mut memory.send, &mut memory.receive].map(|units| units.as_mut_ptr().cast());
        let scratch = memory.scratch.as_mut_ptr().cast::<u8>();
        let (mut table, mut more) = (Vec::new(), |_: usize| scratch);
        let own = OnBoard { board: &mut board };
        // SAFETY: the memory is as long as the call's buffers, and lives until the end of the call.
        let player = unsafe { Player::new(own, (), Buffers::of(send, receive), &mut table, &mut more) };
        play(player, &lowered.actions, lowered.scratch).unwrap();
        let expected = expected(&call, number, rank, size);
        assert_eq!(
            memory.receive[..expected.len()],
            expected[..],
            "{} rank {rank} of {size}, call {number}",
            one.choice
        );
    }
}

fn all_at_once(size: usize, number: usize, window: usize, seed: u64) {
    let (segment, calls) = (Segment::new(size, window), calls(size, number, seed));
    std::thread::scope(|scope| {
        for rank in 0..size {
            let (segment, calls) = (&segment, &calls);
            scope.spawn(move || {
                // SAFETY: zeroed memory of that size, which outlives the threads; each has a rank of its own.
                let board = unsafe { Board::new(segment.base, size, rank, window) };
                take_part(calls, board, (rank, size), window);
            });
        }
    });
}

#[test]
#[should_panic(expected = "step 1048576 of call 1 is more than a flag in shared memory can tell")]
fn a_step_that_no_flag_can_tell_ends_the_job() {
    let segment = Segment::new(1, 64);
    // SAFETY: zeroed memory of that size, which outlives the board.
    let mut board = unsafe { Board::new(segment.base, 1, 0, 64) };
    board.enter(0);
    board.signal(1 << 20);
}

/// `COLLIE_TEST_DEEP=1` plays a hundred times as many.
#[test]
fn calls_in_shared_memory_get_what_they_should_whoever_is_late() {
    let deep = std::env::var("COLLIE_TEST_DEEP").is_ok_and(|value| value == "1");
    for size in 1..=8 {
        for (window, seed) in [(128, 1), (320, 2), (4096, 3)] {
            all_at_once(size, if deep { 20_000 } else { 200 }, window, seed + size as u64);
        }
    }
}
