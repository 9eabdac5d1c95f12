//! Calls and settings that cover what an algorithm can meet, for tests and sweeps over the whole catalogue.

use crate::algorithm::{Algorithm, AllBlocks, Block, Call, Choice, Kind, Operation, OwnBlocks, Parameter, Value, of};
use smallvec::SmallVec;

/// Numbers of ranks: every one up to 33, then both sides of a larger power of two.
pub fn sizes() -> impl Iterator<Item = usize> {
    (1..=33).chain([64, 65])
}

/// Counts around the number of ranks, and a large prime. Zero only for what never looks at a count.
pub fn counts(operation: Operation, size: usize) -> Vec<usize> {
    if !operation.has_data() {
        return vec![0];
    }
    let mut counts = vec![1, size - 1, size, size + 1, 1009];
    counts.retain(|count| *count > 0);
    counts.dedup();
    counts
}

/// Roots: every one up to 17 ranks, beyond that the ends, the middle, and one rank that is special to nobody.
pub fn roots(operation: Operation, size: usize) -> Vec<usize> {
    if !operation.rooted() {
        vec![0]
    } else if size <= 17 {
        (0..size).collect()
    } else {
        vec![0, 1, size / 2, size * 2 / 3, size - 1]
    }
}

/// Nodes of the ranks: none known, unequal nodes one after the other, and ranks dealt to nodes in turn.
pub fn placements(size: usize) -> Vec<Vec<u32>> {
    let mut placements = vec![Vec::new()];
    if size >= 3 {
        let (mut unequal, mut node, mut width) = (Vec::new(), 0, 2);
        while unequal.len() < size {
            let ranks = width.min(size - unequal.len());
            unequal.extend(std::iter::repeat_n(node, ranks));
            (node, width) = (node + 1, width % 5 + 1);
        }
        placements.push(unequal);
        let nodes = (size as u32 / 2).clamp(2, 5);
        placements.push((0..size as u32).map(|rank| rank % nodes).collect());
    }
    placements
}

/// Blocks of lengths and in places of their own among `size` ranks, each with a name: in orders and with gaps that
/// differ between the ranks. In place, a rank sends as much to another one as it gets from it, and from where it gets
/// that.
pub fn own_blocks(size: usize, in_place: bool) -> Vec<(&'static str, AllBlocks)> {
    type Length = fn(usize, usize, usize) -> usize;
    let lengths: [(&str, Length); 6] = [
        ("uneven blocks", |from, to, _| (7 * from + 3 * to + from * to) % 11),
        ("blocks for ranks a power of two away", |from, to, size| {
            let distance = (to + size - from) % size;
            if distance.is_power_of_two() { 5 } else { 0 }
        }),
        ("a rank with nothing", |from, to, size| match size / 2 {
            silent if [from, to].contains(&silent) => 0,
            _ => 3 + (from + to) % 2,
        }),
        ("all with one rank", |from, to, _| if from.min(to) == 0 { 4 } else { 0 }),
        ("blocks for higher ranks", |from, to, _| if from <= to { 6 } else { 0 }),
        ("nothing", |_, _, _| 0),
    ];
    let blocks = |length: Length| {
        let length = |from: usize, to: usize| match in_place {
            true => length(from.min(to), from.max(to), size),
            false => length(from, to, size),
        };
        let own = |rank| {
            let receive = placed(size, rank, |other| length(other, rank));
            let send = if in_place { receive.clone() } else { placed(size, rank + 1, |other| length(rank, other)) };
            OwnBlocks { send, receive }
        };
        AllBlocks::new((0..size).map(own).collect())
    };
    lengths.into_iter().map(|(name, length)| (name, blocks(length))).collect()
}

/// Blocks of these lengths one behind another, with a gap or none before each, in an order that `turn` decides.
fn placed(size: usize, turn: usize, length: impl Fn(usize) -> usize) -> Box<[Block]> {
    let step = [3, 5, 7, 11].into_iter().find(|step| !size.is_multiple_of(*step)).unwrap_or(1);
    let (mut blocks, mut end) = (vec![Block::default(); size], 0);
    for place in 0..size {
        let other = (turn + place * step) % size;
        blocks[other] = Block { start: end + (turn + place) % 3, len: length(other) };
        end = blocks[other].end();
    }
    blocks.into()
}

/// The defaults, every parameter at a few other values of its kind, and several parameters changed at once; only
/// what `call` among `size` ranks allows.
pub fn choices(algorithm: &'static Algorithm, call: &Call, size: usize) -> Vec<Choice> {
    let default = Choice::new(algorithm);
    let mut choices = vec![default.clone()];
    let others: Vec<_> = algorithm.parameters.iter().map(|parameter| values(parameter, call, size)).collect();
    for (parameter, values) in algorithm.parameters.iter().zip(&others) {
        for value in values {
            let mut choice = default.clone();
            choice.set(parameter.name, value.clone());
            choices.push(choice);
        }
    }
    if algorithm.parameters.len() > 1 {
        for step in 0..2 {
            let mut choice = default.clone();
            for (parameter, values) in algorithm.parameters.iter().zip(&others) {
                if let Some(value) = values.get(step % values.len().max(1)) {
                    choice.set(parameter.name, value.clone());
                }
            }
            choices.push(choice);
        }
    }
    let mut kept: Vec<Choice> = Vec::new();
    for choice in choices {
        if choice.accepts(call, size).is_ok() && !kept.contains(&choice) {
            kept.push(choice);
        }
    }
    kept
}

fn values(parameter: &Parameter, call: &Call, size: usize) -> Vec<Value> {
    match parameter.kind {
        Kind::Count { least } => [least, least + 1, 5, size].map(|number| Value::Number(number.max(least))).to_vec(),
        Kind::Blocks => [1, 2, 5, size].map(Value::Number).to_vec(),
        Kind::Bytes => segments(call, size).into_iter().chain(around_block(call)).map(Value::Number).collect(),
        Kind::Segment => segments(call, size).into_iter().map(Value::Number).collect(),
        Kind::Word(words) => words.iter().map(|word| Value::Word(word)).collect(),
        Kind::Inner(operation) | Kind::OnNode(operation) => {
            of(operation).iter().map(|row| Value::Inner(Box::new(Choice::new(row)))).collect()
        }
        Kind::Dims => {
            let dims = [&[size][..], &[1, size], &[2, size.div_ceil(2)], &[3, 2, 2]];
            dims.into_iter().map(|dims| Value::Dims(SmallVec::from_slice(dims))).collect()
        }
    }
}

/// Bytes that a block falls short of, and just reaches: what depends on its length goes one way and the other.
fn around_block(call: &Call) -> impl Iterator<Item = usize> + use<> {
    let bytes = call.bytes();
    [bytes + 1, bytes].into_iter().filter(move |_| bytes > 0)
}

/// Segments of one unit and of a few where that makes no endless list of messages; else a few segments in all.
fn segments(call: &Call, size: usize) -> Vec<usize> {
    let units = if call.operation.has_blocks() { call.count * size } else { call.count };
    if units <= 70 {
        vec![call.unit, 3 * call.unit + 1, usize::MAX]
    } else {
        vec![(units / 7).max(1) * call.unit, (units / 3 + 1) * call.unit - 1, usize::MAX]
    }
}
