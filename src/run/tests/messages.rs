//! The player on a transport in memory: all ranks in one thread, going on in any order.

use super::super::resumable::{Resumable, play};
use super::super::{Buffers, Player};
use super::calls::{COUNT, Memory, expected, memory, random_numbers};
use super::in_memory::{InMemory, Pending, Wires};
use crate::algorithm::cover;
use crate::algorithm::{Blocks, Call, Choice, Operation, Stage, all, parse_choice};
use crate::schedule::Range;
use crate::schedule::action::{Action, Lowered};
use crate::schedule::lower::{Combine, Form, Part, lower, lower_stage};
use std::rc::Rc;

/// Two calls in turns on every rank, stopped wherever one of them has to wait, in orders that a seed decides.
fn interleaved(choice: &Choice, size: usize, form: &Form, seed: u64) {
    let call = Call { root: size / 2, ..Call::plain(choice.algorithm.operation, COUNT, 4) };
    if choice.accepts(&call, size).is_err() {
        return;
    }
    let programs: Vec<_> = (0..size)
        .map(|rank| lower(&Part { choice, call: &call, rank, size }, form, usize::MAX).expect("no limit"))
        .collect();
    // Two communicators' worth of wires: the two calls never match each other's messages.
    let wires: [Wires; 2] = Default::default();
    let mut memories: Vec<Memory> = (0..2 * size)
        .map(|place| memory(choice, &call, (1 + place / size, place % size), size, programs[place % size].scratch))
        .collect();
    let mut tables: Vec<Vec<Pending>> = (0..2 * size).map(|_| Vec::new()).collect();
    let mut scratches: Vec<_> = memories
        .iter_mut()
        .map(|memory| {
            let scratch = memory.scratch.as_mut_ptr().cast::<u8>();
            move |_: usize| scratch
        })
        .collect();
    let mut running: Vec<_> = Vec::new();
    for (place, ((memory, table), more)) in memories.iter_mut().zip(&mut tables).zip(&mut scratches).enumerate() {
        let (number, rank) = (place / size, place % size);
        let transport = InMemory { rank: rank as u32, wires: Rc::clone(&wires[number]) };
        let [send, receive, lengths] =
            [&mut memory.send, &mut memory.receive, &mut memory.lengths].map(|units| units.as_mut_ptr().cast());
        // SAFETY: the memory is as long as the call's buffers, and lives until the end.
        let player = unsafe { Player::new(transport, (), Buffers { send, receive, lengths }, table, more) };
        let program = &programs[rank];
        running.push(Resumable::new(player, &program.actions, program.scratch).expect("nothing in it blocks"));
    }
    let mut random = random_numbers(seed);
    let mut left: Vec<usize> = (0..running.len()).collect();
    let mut idle = 0;
    while !left.is_empty() {
        let place = random(left.len());
        if running[left[place]].progress() {
            left.swap_remove(place);
            idle = 0;
        }
        idle += 1;
        assert!(idle < 100_000, "{choice} among {size} does not end");
    }
    for resumable in running {
        resumable.finish().expect("no error");
    }
    for (place, memory) in memories.iter().enumerate() {
        let (number, rank) = (1 + place / size, place % size);
        let expected = expected(&call, number, rank, size);
        assert_eq!(memory.receive[..expected.len()], expected[..], "{choice} rank {rank} of {size}, call {number}");
    }
}

#[test]
fn every_row_stops_and_goes_on_wherever_it_would_wait() {
    let started = Form { blocking: false, ..Form::PLAIN };
    for row in all() {
        let may_swap = row.operation.rooted() || row.alone;
        let locally = Form { combine: Combine::ReduceLocal { may_swap }, ..started };
        for size in [2, 3, 4, 5, 8] {
            interleaved(&Choice::new(row), size, &started, size as u64);
            interleaved(&Choice::new(row), size, &locally, 77 + size as u64);
        }
    }
}

/// Plays the preludes of all ranks, each with the lengths of its own blocks; what each has learned.
fn learned(choice: &Choice, call: &Call, size: usize, form: &Form) -> Vec<Vec<usize>> {
    let wires = Wires::default();
    let preludes: Vec<_> = (0..size)
        .map(|rank| {
            lower_stage(&Part { choice, call, rank, size }, Stage::Prelude, form, usize::MAX).expect("no limit")
        })
        .collect();
    // A unit is four bytes here, a length a word of two units.
    let mut lengths: Vec<Vec<u64>> = (0..size)
        .map(|rank| {
            let own = (0..size).map(|to| call.outgoing(rank, to).len as u64);
            own.chain(choice.lengths(rank, size).iter().map(|_| u64::MAX)).collect()
        })
        .collect();
    let mut tables: Vec<Vec<Pending>> = (0..size).map(|_| Vec::new()).collect();
    let mut scratches: Vec<Vec<u32>> = preludes.iter().map(|prelude| vec![9; prelude.scratch.max(1)]).collect();
    let mut more: Vec<_> = scratches
        .iter_mut()
        .map(|scratch| {
            let scratch = scratch.as_mut_ptr().cast::<u8>();
            move |_: usize| scratch
        })
        .collect();
    let mut running = Vec::new();
    for (rank, ((lengths, table), more)) in lengths.iter_mut().zip(&mut tables).zip(&mut more).enumerate() {
        let nowhere = std::ptr::null_mut();
        let buffers = Buffers { send: nowhere, receive: nowhere, lengths: lengths.as_mut_ptr().cast() };
        let transport = InMemory { rank: rank as u32, wires: Rc::clone(&wires) };
        // SAFETY: a prelude touches the lengths and its scratch only, which live until the end.
        let player = unsafe { Player::new(transport, (), buffers, table, more) };
        let Lowered { actions, scratch, .. } = &preludes[rank];
        running.push(Resumable::new(player, actions, *scratch).expect("nothing in it blocks"));
    }
    let mut left: Vec<usize> = (0..size).collect();
    while !left.is_empty() {
        left.retain(|rank| !running[*rank].progress());
    }
    running.into_iter().for_each(|prelude| _ = prelude.finish().expect("no error"));
    lengths.iter().map(|words| words[size..].iter().map(|length| *length as usize).collect()).collect()
}

#[test]
fn a_rank_that_has_learned_lengths_does_what_is_verified_with_all_of_them_known() {
    let form = Form { blocking: false, ..Form::PLAIN };
    let learning = all().filter(|row| row.needs.lengths.is_some());
    for (row, size) in learning.flat_map(|row| [1, 2, 3, 5, 8, 13].map(|size| (row, size))) {
        for (name, all_blocks) in cover::own_blocks(size, false) {
            let call = Call { blocks: Blocks::All(&all_blocks), ..Call::plain(row.operation, 0, 4) };
            for choice in cover::choices(row, &call, size) {
                for (rank, learned) in learned(&choice, &call, size, &form).iter().enumerate() {
                    let own = Call { blocks: Blocks::Own { blocks: all_blocks.of(rank), learned }, ..call };
                    let body = |call: &Call| {
                        let part = Part { choice: &choice, call, rank, size };
                        lower_stage(&part, Stage::Body, &Form::PLAIN, usize::MAX)
                    };
                    assert_eq!(body(&own), body(&call), "{choice} rank {rank} of {size}, {name}");
                    let lengths = |call: &Call| {
                        let pairs = choice.lengths(rank, size).into_iter().enumerate();
                        pairs.map(|(number, pair)| call.learned(number, pair)).collect::<Vec<_>>()
                    };
                    assert_eq!(lengths(&own), lengths(&call));
                }
            }
        }
    }
}

#[test]
fn what_blocks_is_not_resumable() {
    let choice = parse_choice(Operation::Bcast, "linear").unwrap();
    let call = Call::plain(Operation::Bcast, COUNT, 4);
    let program = lower(&Part { choice: &choice, call: &call, rank: 0, size: 2 }, &Form::PLAIN, 10).unwrap();
    let (mut table, mut memory) = (Vec::new(), [0u32; COUNT]);
    let transport = InMemory { rank: 0, wires: Wires::default() };
    let buffers = Buffers::of(std::ptr::null_mut(), memory.as_mut_ptr().cast());
    let mut more = |_| std::ptr::null_mut();
    // SAFETY: a broadcast of so many units needs no other buffer.
    let player = unsafe { Player::new(transport, (), buffers, &mut table, &mut more) };
    assert!(Resumable::new(player, &program.actions, 0).is_none());
}

#[test]
fn after_an_error_what_is_under_way_is_waited_for_and_nothing_is_started() {
    let wires = Wires::default();
    wires.borrow_mut().entry((1, 0)).or_default().push_back(vec![5]);
    let (mut table, mut memory, mut more) = (Vec::new(), [0u32; 2], |_| std::ptr::null_mut());
    let buffers = Buffers::of(std::ptr::null_mut(), memory.as_mut_ptr().cast());
    // SAFETY: the actions touch two units of the receive buffer.
    let player =
        unsafe { Player::new(InMemory { rank: 0, wires: Rc::clone(&wires) }, (), buffers, &mut table, &mut more) };
    let message = |peer, start| crate::schedule::action::Message { peer, range: Range::receive(start, 1), fragment: 1 };
    let actions = [
        Action::StartReceive { message: message(1, 0), slot: 0 },
        // The transport refuses this one.
        Action::Send(message(1, 1)),
        Action::StartSend { message: message(2, 1), slot: 1 },
        Action::Wait { first: 0, number: 1 },
    ];
    let error = play(player, &actions, 0).unwrap_err();
    assert!(error.contains("blocking send"));
    let starts = |slot| Action::StartSend { message: message(2, 1), slot };
    for actions in [
        &[actions[1], starts(0), Action::Wait { first: 0, number: 1 }][..],
        &[actions[0], actions[1], starts(1), starts(2), Action::Wait { first: 0, number: 3 }],
    ] {
        wires.borrow_mut().entry((1, 0)).or_default().push_back(vec![5]);
        let mut table = Vec::new();
        let transport = InMemory { rank: 0, wires: Rc::clone(&wires) };
        // SAFETY: the actions touch two units of the receive buffer.
        let player = unsafe { Player::new(transport, (), buffers, &mut table, &mut more) };
        assert!(
            play(player, actions, 0).unwrap_err().contains("blocking send"),
            "what was not started is not waited for"
        );
    }
    assert_eq!((memory[0], wires.borrow().contains_key(&(0, 2))), (5, false));
}
