//! Orders in which reductions combine, as they are read from schedules.

use super::super::order::{Order, Orders, SameOrder};
use crate::algorithm::{Call, Choice, Operation, cover, of, parse_choice};
use std::collections::HashMap;
use std::fmt::Write;

/// The algorithms of an operation with their defaults, those together that combine alike.
fn classes(call: &Call, size: usize) -> Vec<Vec<&'static str>> {
    let mut orders = Orders::new(call, size);
    let mut found: Vec<(Order, Vec<&'static str>)> = Vec::new();
    let choices = of(call.operation).iter().map(|row| Choice::new(row));
    for choice in choices.filter(|choice| choice.accepts(call, size).is_ok()) {
        let order = orders.of(&choice).expect("few steps");
        match found.iter_mut().find(|(known, _)| *known == order) {
            Some((_, names)) => names.push(choice.algorithm.name),
            None => found.push((order, vec![choice.algorithm.name])),
        }
    }
    found.into_iter().map(|(_, names)| names).collect()
}

/// Which of the catalogue's algorithms combine alike: what may be tried with COLLIE_REPRODUCIBLE.
#[test]
fn algorithms_that_combine_alike() {
    let mut text = String::new();
    for operation in [Operation::Reduce, Operation::Allreduce] {
        for ranks in [2, 3, 4, 6, 8] {
            _ = writeln!(text, "{operation}, {ranks} ranks, 1000 elements:");
            for names in classes(&Call::plain(operation, 1000, 8), ranks) {
                _ = writeln!(text, "    {}", names.join(" "));
            }
        }
    }
    insta::assert_snapshot!(text);
}

/// Reduces on numbers whose sum depends on the order, by a naive run of the same steps.
fn rounded(choice: &Choice, call: &Call, size: usize) -> Vec<Vec<u64>> {
    naive::run(choice, call, size).into_iter().map(|units| units.into_iter().map(f64::to_bits).collect()).collect()
}

#[test]
fn the_same_order_rounds_alike_and_another_one_mostly_does_not() {
    let (mut alike, mut apart, mut differs) = (0, 0, 0);
    for operation in [Operation::Reduce, Operation::Allreduce] {
        for size in [2, 3, 4, 5, 7, 8, 12] {
            for (root, count) in [(0, 1), (size - 1, size), (1, 5 * size + 3)] {
                let root = if operation == Operation::Reduce { root } else { 0 };
                let call = Call { root, ..Call::plain(operation, count, 8) };
                let mut orders = Orders::new(&call, size);
                let mut found: Vec<(Order, Vec<Vec<u64>>)> = Vec::new();
                let choices = of(operation).iter().flat_map(|row| cover::choices(row, &call, size));
                for choice in choices.filter(|choice| choice.accepts(&call, size).is_ok()) {
                    let (order, result) = (orders.of(&choice).unwrap(), rounded(&choice, &call, size));
                    for (other, its) in &found {
                        if *other == order {
                            assert_eq!(*its, result, "{operation} {choice} among {size}, root {root}, {count}");
                            alike += 1;
                        } else {
                            apart += 1;
                            differs += usize::from(*its != result);
                        }
                    }
                    found.push((order, result));
                }
            }
        }
    }
    assert!(alike > 1000 && apart > 1000, "{alike} alike, {apart} apart");
    // Two orders of few numbers come to the same now and then.
    assert!(differs * 2 > apart, "of {apart} in another order only {differs} round otherwise");
}

#[test]
fn how_data_travels_does_not_matter() {
    let call = Call::plain(Operation::Reduce, 5000, 8);
    let parse = |text| parse_choice(Operation::Reduce, text).unwrap();
    let mut same = SameOrder::new(&call, 7, &parse("binary:segment=none"));
    assert!(same.has(&parse("binary:segment=1K,max_requests=2")));
    assert!(!same.has(&parse("binomial:segment=none")));
}

#[test]
fn every_root_counts() {
    let call = Call::plain(Operation::Reduce, 9, 8);
    let mut orders = Orders::new(&call, 4);
    let mut all = Vec::new();
    for one in of(Operation::Reduce).iter().map(|row| Choice::new(row)).filter(|one| one.accepts(&call, 4).is_ok()) {
        let order = orders.of(&one);
        all.push((one, order));
    }
    let mut apart = 0;
    for (one, order) in &all {
        let mut same = SameOrder::new(&call, 4, one);
        assert!(same.has(one));
        apart += all.iter().filter(|(other, its)| its == order && !same.has(other)).count();
    }
    assert!(apart > 0, "some are alike at root 0 and not at others");
}

#[test]
fn sides_count_whether_the_operation_commutes_or_not() {
    // A ring begins with each block at another rank.
    let choices = ["linear", "ring"].map(|text| parse_choice(Operation::Allreduce, text).unwrap());
    for commutative in [true, false] {
        let call = Call { commutative, ..Call::plain(Operation::Allreduce, 6, 8) };
        let mut orders = Orders::new(&call, 2);
        let [one, other] = choices.each_ref().map(|choice| orders.of(choice).unwrap());
        assert_ne!(one, other);
    }
}

#[test]
fn what_would_take_too_long_is_like_nothing() {
    let call = Call::plain(Operation::Allreduce, 100_000, 8);
    let ring = parse_choice(Operation::Allreduce, "ring").unwrap();
    let mut same = SameOrder::new(&call, 1000, &ring);
    assert!(!same.has(&ring));
}

/// A run of all ranks' steps on numbers.
mod naive {
    use super::*;
    use crate::schedule::{Buffer, Program, Range, Step, record_all};

    /// The results by rank.
    pub fn run(choice: &Choice, call: &Call, size: usize) -> Vec<Vec<f64>> {
        let programs = record_all(choice, call, size);
        let mut state: Vec<State> =
            programs.iter().enumerate().map(|(rank, of)| State::new(call, rank, size, of)).collect();
        let mut channels: HashMap<(usize, usize), Vec<Vec<f64>>> = HashMap::new();
        // In rounds, until nobody gets further.
        let mut moved = true;
        while moved {
            moved = false;
            for (rank, program) in programs.iter().enumerate() {
                while let Some(step) = program.steps.get(state[rank].next) {
                    if !state[rank].step(rank, step, &mut channels) {
                        break;
                    }
                    state[rank].next += 1;
                    moved = true;
                }
            }
        }
        let all = state.iter().zip(&programs).all(|(state, program)| state.next == program.steps.len());
        assert!(all, "{choice} among {size} comes to its end");
        let result =
            |rank: usize, range: Range| state[rank].units[&(range.buffer as usize)][range.start..range.end()].to_vec();
        let of = |rank| call.results(rank, size).into_iter().flat_map(|range| result(rank, range)).collect();
        (0..size).map(of).collect()
    }

    struct State {
        units: HashMap<usize, Vec<f64>>,
        /// Receives that are under way: request, from whom, and where to.
        under_way: Vec<(u32, usize, Range)>,
        next: usize,
    }

    impl State {
        fn new(call: &Call, rank: usize, size: usize, program: &Program) -> Self {
            let number = |unit: usize| (1.0 + unit as f64 / 7.0) * 10f64.powi((rank as i32 * 5) % 13 - 6);
            let [send, receive] = call.buffers(rank, size).map(Option::unwrap_or_default);
            let units = [
                (Buffer::Send as usize, (0..send).map(number).collect()),
                (Buffer::Receive as usize, vec![f64::NAN; receive]),
                (Buffer::Scratch as usize, vec![f64::NAN; program.scratch]),
            ];
            Self { units: units.into(), under_way: Vec::new(), next: 0 }
        }

        fn read(&self, range: Range) -> Vec<f64> {
            self.units[&(range.buffer as usize)][range.start..range.end()].to_vec()
        }

        fn write(&mut self, range: Range, numbers: &[f64]) {
            let units = self.units.get_mut(&(range.buffer as usize)).unwrap();
            units[range.start..range.end()].copy_from_slice(numbers);
        }

        /// Whether the step is done.
        fn step(&mut self, rank: usize, step: &Step, channels: &mut HashMap<(usize, usize), Vec<Vec<f64>>>) -> bool {
            match step {
                Step::Isend { to, from, .. } => channels.entry((rank, *to)).or_default().push(self.read(*from)),
                Step::Irecv { from, into, request } => self.under_way.push((request.0, *from, *into)),
                Step::Wait { requests } => {
                    return self.wait(rank, requests.iter().map(|one| one.0).collect(), channels);
                }
                Step::Copy { from, into } => self.write(*into, &self.read(*from)),
                Step::Fold { left, right, into } => {
                    let sums: Vec<f64> = self.read(*left).iter().zip(self.read(*right)).map(|(a, b)| a + b).collect();
                    self.write(*into, &sums);
                }
                Step::Shared(_) => panic!("nothing is shared here"),
            }
            true
        }

        /// Messages of a channel arrive in the order in which their receives were started.
        fn wait(
            &mut self,
            rank: usize,
            requests: Vec<u32>,
            channels: &mut HashMap<(usize, usize), Vec<Vec<f64>>>,
        ) -> bool {
            while let Some(place) = self.under_way.iter().position(|(request, ..)| requests.contains(request)) {
                let (_, from, _) = self.under_way[place];
                // An earlier receive of the same channel comes first, whoever waits for it.
                let first = self.under_way.iter().position(|(_, other, _)| *other == from).unwrap();
                let Some(queue) = channels.get_mut(&(from, rank)).filter(|queue| !queue.is_empty()) else {
                    return false;
                };
                let (numbers, (_, _, into)) = (queue.remove(0), self.under_way.remove(first));
                self.write(into, &numbers);
            }
            true
        }
    }
}
