//! Calls whose contents are known: what each rank contributes, and what it must get.

use crate::algorithm::{Call, Choice};
use crate::schedule::Buffer;

/// One rank's memory for one call.
pub struct Memory {
    pub send: Vec<u32>,
    pub receive: Vec<u32>,
    pub scratch: Vec<u32>,
    pub lengths: Vec<u32>,
}

/// Units of a block.
pub const COUNT: usize = 5;

/// Unit `unit` of what `rank` contributes to call `number`.
fn contribution(number: usize, rank: usize, unit: usize) -> u32 {
    (number * 1_000_000 + rank * 1000 + unit) as u32
}

/// The memory of `rank` before call `number`.
pub fn memory(choice: &Choice, call: &Call, (number, rank): (usize, usize), size: usize, scratch: usize) -> Memory {
    let row = call.operation.row();
    let [send, receive] = row.sides().map(|role| call.count * role.blocks(size, true).unwrap_or(0));
    let mut memory = Memory {
        send: (0..send).map(|unit| contribution(number, rank, unit)).collect(),
        receive: vec![7; receive],
        scratch: vec![9; scratch.max(1)],
        lengths: vec![0; (size + choice.lengths(rank, size).len()) * call.word()],
    };
    if row.contribution(call.count, size, rank == call.root).is_some_and(|range| range.buffer == Buffer::Receive) {
        memory.receive = (0..receive).map(|unit| contribution(number, rank, unit)).collect();
    }
    memory
}

/// What the rank's receive buffer must hold; nothing where it gets nothing.
pub fn expected(call: &Call, number: usize, rank: usize, size: usize) -> Vec<u32> {
    let row = call.operation.row();
    let units = call.count * row.receive.blocks(size, rank == call.root).unwrap_or(0);
    let belonging = |unit| {
        let (of, unit) = row.origin(unit, call.count, rank, call.root);
        match row.folds {
            true => (0..size).map(|rank| contribution(number, rank, unit)).sum(),
            false => contribution(number, of, unit),
        }
    };
    (0..units).map(belonging).collect()
}

/// Numbers below what is asked for, in an order that the seed decides.
pub fn random_numbers(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % below
    }
}
