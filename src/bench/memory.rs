//! What memory costs that ranks of a node share, from times of the algorithms that live there: each is what its formula
//! says, solved for one number.

use crate::schedule::simulate::Memory;

/// The allgather whose copies are timed, at any length through the windows.
pub const COPY: &str = "shared_copy:read_from=none";
/// Number of the ranks that were timed.
const RANKS: f64 = 2.0;

/// Times of calls between two ranks, seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Times {
    /// Of a barrier `tournament`.
    pub tournament: f64,
    /// Of a barrier `central_counter`.
    pub counter: f64,
    /// Of allgathers [`COPY`], of few bytes of each rank and of many.
    pub copies: [(usize, f64); 2],
    /// Bytes of a bank.
    pub window: usize,
}

impl Times {
    /// None where more bytes took no longer, which only a disturbance explains.
    pub fn memory(&self) -> Option<Memory> {
        // One rank sees the other's flag, and then the other one this one's.
        let notification = self.tournament / RANKS;
        // (p−1)t_W + pbt, of which the bytes are what two lengths differ in.
        let [(few, short), (many, long)] = self.copies;
        let per_byte = (long - short) / (RANKS * (many - few) as f64);
        // p·t_A + t_W. Less than nothing is nothing: an arrival may hide behind what is waited for.
        let arrival = ((self.counter - notification) / RANKS).max(0.0);
        (per_byte > 0.0 && notification > 0.0).then_some(Memory {
            per_byte,
            notification,
            arrival,
            window: self.window,
            ranks_per_numa_node: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{Choice, Operation, Shape, SharedMemory, parse_choice};
    use crate::schedule::simulate::Network;

    #[test]
    fn numbers_are_those_that_the_formulas_give_the_times_of() {
        let memory =
            Memory { per_byte: 3e-11, notification: 6e-8, arrival: 4e-8, window: 16 << 10, ranks_per_numa_node: None };
        let network = Network { memory, ..Network::preset("shared_memory").unwrap() };
        let time = |operation, algorithm: &str, bytes| {
            let choice: Choice = parse_choice(operation, algorithm).unwrap();
            let shared = SharedMemory { window: memory.window, ..memory.in_calls() };
            let call =
                crate::algorithm::Call { shared: Some(shared), ..crate::algorithm::Call::plain(operation, bytes, 1) };
            network.seconds(choice.cost(&Shape::of(&call, 2)), true, true)
        };
        let copies = [2048, 16 << 10].map(|bytes| (bytes, time(Operation::Allgather, COPY, bytes)));
        let barrier = |algorithm| time(Operation::Barrier, algorithm, 0);
        let [tournament, counter] = ["tournament", "central_counter"].map(barrier);
        let found = Times { tournament, counter, copies, window: memory.window }.memory().unwrap();
        let near = |found: f64, expected: f64| (found - expected).abs() <= expected * 1e-6;
        assert!(near(found.notification, memory.notification), "{found:?}");
        assert!(near(found.arrival, memory.arrival) && near(found.per_byte, memory.per_byte), "{found:?}");
        let flat = Times { tournament, counter, copies: [copies[0], (16 << 10, copies[0].1)], window: memory.window };
        assert_eq!(flat.memory(), None);
    }
}
