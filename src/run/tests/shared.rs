//! The player on a board in memory of its own, a thread for each rank: every row that lives in shared memory, call
//! after call without anything between them.

use super::super::resumable::play;
use super::super::{Buffers, Player, Transport, shared};
use super::calls::{expected, memory, random_numbers};
use crate::algorithm::{Call, Choice, Operation, Shared, SharedMemory, all, parse_choice};
use crate::schedule::action::{Action, Elements, Side};
use crate::schedule::lower::{Combine, Form, Part, lower};
use crate::schedule::{Buffer, Range};
use crate::shared::Board;
use std::alloc::Layout;
use std::time::{Duration, Instant};

/// Units are of four bytes.
const UNIT: usize = 4;

/// A rank's board; messages there are none.
struct OnBoard<'a> {
    board: &'a mut Board,
    /// Copies until one fails.
    left: usize,
}

type Told<T = ()> = Result<T, String>;

fn no_messages<T>() -> Told<T> {
    Err("there are no messages here".to_owned())
}

fn wait(is_over: &mut dyn FnMut() -> bool, step: Shared) -> Told {
    let since = Instant::now();
    while !is_over() {
        std::thread::yield_now();
        if since.elapsed() > Duration::from_secs(60) {
            return Err(format!("waits for ever: {step}"));
        }
    }
    Ok(())
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

    unsafe fn copy(&mut self, from: *mut u8, into: *mut u8, units: usize) -> Told {
        self.left = self.left.checked_sub(1).ok_or("a copy fails")?;
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(from, into, UNIT * units) };
        Ok(())
    }

    unsafe fn fold(&mut self, left: *mut u8, right: *mut u8, into: *mut u8, units: usize) {
        for unit in 0..units {
            // SAFETY: the caller's promise.
            unsafe {
                // What comes from a rank that has failed is anything.
                let sum = (*left.cast::<u32>().add(unit)).wrapping_add(*right.cast::<u32>().add(unit));
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
        shared::take(self.board, step, |is_over| wait(is_over, step))
    }

    fn pass(&mut self, step: Shared) {
        shared::pass(self.board, step, |is_over| wait(is_over, step)).unwrap();
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
    /// A rank that meets an error, after so many copies; after none, before it begins the call.
    fails: Option<(usize, usize)>,
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

/// Calls in an order that a seed decides: short ones and such as fill windows several times, roots changing. In some of
/// them a rank may meet an error.
fn calls(ranks: usize, number: usize, seed: u64, may_fail: bool) -> Vec<OneCall> {
    let (choices, mut random) = (choices(), random_numbers(seed));
    let counts = [1, 3, 12, 13, 40, 100, 301];
    let locally = Form { combine: Combine::ReduceLocal { may_swap: false }, ..Form::PLAIN };
    let one = |_| {
        let choice = choices[random(choices.len())].clone();
        let rooted = choice.algorithm.operation.rooted();
        let root = if rooted { random(ranks) } else { 0 };
        let count = if choice.algorithm.operation.has_data() { counts[random(counts.len())] } else { 0 };
        let form = if random(4) == 0 { locally } else { Form::PLAIN };
        let fails = (may_fail && random(3) == 0).then(|| (random(ranks), [0, 0, 1, 2, 5][random(5)]));
        OneCall { choice, root, count, form, fails }
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
        board.expect(call.bytes() as u64);
        let after = one.fails.filter(|(of, _)| *of == rank).map(|(_, copies)| copies);
        let own = OnBoard { board: &mut board, left: after.unwrap_or(usize::MAX) };
        // SAFETY: the memory is as long as the call's buffers, and lives until the end of the call.
        let mut player = unsafe { Player::new(own, (), Buffers::of(send, receive), &mut table, &mut more) };
        if after == Some(0) {
            player.carry_all(&[PACK], 0);
        }
        let played = play(player, &lowered.actions, lowered.scratch);
        assert!(played.is_ok() || after.is_some(), "{played:?}");
        check_failure(one, &board, size);
        if played.is_err() || board.has_failed() {
            continue;
        }
        let expected = expected(&call, number, rank, size);
        assert_eq!(
            memory.receive[..expected.len()],
            expected[..],
            "{} rank {rank} of {size}, call {number}",
            one.choice
        );
    }
}

/// Non-contiguous data are packed before the call begins, which fails here.
const PACK: Action = Action::Pack {
    from: Elements { side: Side::Send, first: 0, number: 0 },
    into: Range { buffer: Buffer::Scratch, start: 0, len: 0 },
};

/// Nobody is told of an error where there is none, and everybody who gets data of all ranks of the one that there was.
fn check_failure(one: &OneCall, board: &Board, size: usize) {
    let gets_from_all = matches!(one.choice.algorithm.operation, Operation::Allreduce | Operation::Allgather);
    match one.fails {
        None => assert!(!board.has_failed(), "{}", one.choice),
        Some((_, 0)) if gets_from_all && size > 1 => assert!(board.has_failed(), "{}", one.choice),
        Some(_) => {}
    }
}

fn all_at_once(size: usize, number: usize, window: usize, seed: u64, may_fail: bool) {
    let (segment, calls) = (Segment::new(size, window), calls(size, number, seed, may_fail));
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
            all_at_once(size, if deep { 20_000 } else { 200 }, window, seed + size as u64, false);
        }
    }
}

#[test]
fn a_rank_that_meets_an_error_holds_nobody_up_and_what_it_should_have_given_is_not_taken_for_data() {
    for size in 1..=5 {
        for (window, seed) in [(128, 4), (4096, 5)] {
            all_at_once(size, 300, window, seed + size as u64, true);
        }
    }
}
