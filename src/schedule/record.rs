//! Interpreter *record*: one rank's straight-line program as the algorithm says it, for what looks at its steps and
//! not at the actions that they are lowered to: verification, counting for the cost formulas, mode learn.

use crate::operation::comm::{Buffer, Comm, Range, Request};
use crate::operation::{Call, Choice, Shared, Stage};
use std::fmt;

/// One step of a rank's program; fields as in [`Comm`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Step {
    Isend { to: usize, from: Range, request: Request },
    Irecv { from: usize, into: Range, request: Request },
    Wait { requests: Vec<Request> },
    Copy { from: Range, into: Range },
    Fold { left: Range, right: Range, into: Range },
    Shared(Shared),
}

/// What one rank does in one collective call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The steps in order.
    pub steps: Vec<Step>,
    /// Units of scratch asked for.
    pub scratch: usize,
    /// Whose block and for whom, of each length that stands behind the own ones in the end.
    pub learned: Vec<(usize, usize)>,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Isend { to, from, request } => write!(f, "isend {from} to rank {to}, request {}", request.0),
            Self::Irecv { from, into, request } => write!(f, "irecv {into} from rank {from}, request {}", request.0),
            Self::Wait { requests } => {
                let numbers: Vec<_> = requests.iter().map(|request| request.0.to_string()).collect();
                write!(f, "wait for requests {}", numbers.join(" "))
            }
            Self::Copy { from, into } => write!(f, "copy {from} to {into}"),
            Self::Fold { left, right, into } => write!(f, "fold {left} and {right} into {into}"),
            Self::Shared(step) => step.fmt(f),
        }
    }
}

/// Records what `rank` of `size` does for `call` under `choice`.
pub fn record(choice: &Choice, call: &Call, rank: usize, size: usize) -> Program {
    let program = record_body(rank, size, |comm| choice.run(Stage::Whole, comm, call));
    Program { learned: choice.lengths(rank, size), ..program }
}

/// Records what `rank` of `size` does in `body`.
pub fn record_body(rank: usize, size: usize, body: impl FnOnce(&mut dyn Comm)) -> Program {
    let mut recorder = Recorder { rank, size, requests: 0, program: Program::default() };
    body(&mut recorder);
    recorder.program
}

/// All ranks' programs, by rank.
pub fn record_all(choice: &Choice, call: &Call, size: usize) -> Vec<Program> {
    (0..size).map(|rank| record(choice, call, rank, size)).collect()
}

struct Recorder {
    rank: usize,
    size: usize,
    requests: u32,
    program: Program,
}

impl Recorder {
    fn request(&mut self) -> Request {
        self.requests += 1;
        Request(self.requests - 1)
    }
}

impl Comm for Recorder {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn scratch(&mut self, units: usize) -> Range {
        let start = self.program.scratch;
        self.program.scratch += units;
        Range { buffer: Buffer::Scratch, start, len: units }
    }

    fn isend(&mut self, to: usize, from: Range) -> Request {
        let request = self.request();
        self.program.steps.push(Step::Isend { to, from, request });
        request
    }

    fn irecv(&mut self, from: usize, into: Range) -> Request {
        let request = self.request();
        self.program.steps.push(Step::Irecv { from, into, request });
        request
    }

    fn wait(&mut self, requests: &[Request]) {
        if !requests.is_empty() {
            self.program.steps.push(Step::Wait { requests: requests.to_vec() });
        }
    }

    fn copy(&mut self, from: Range, into: Range) {
        if from.len > 0 && from != into {
            self.program.steps.push(Step::Copy { from, into });
        }
    }

    fn fold(&mut self, left: Range, right: Range, into: Range) {
        if into.len > 0 {
            self.program.steps.push(Step::Fold { left, right, into });
        }
    }

    fn shared(&mut self, step: Shared) {
        self.program.steps.push(Step::Shared(step));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::parse_choice;
    use crate::operation::Operation;

    /// The ranks to which `rank` of 8 sends, from root 5.
    fn receivers(operation: Operation, algorithm: &str, rank: usize) -> Vec<usize> {
        let call = Call { root: 5, ..Call::plain(operation, 4, 1) };
        let steps = record(&parse_choice(operation, algorithm).unwrap(), &call, rank, 8).steps;
        let to = |step: &Step| if let Step::Isend { to, .. } = step { Some(*to) } else { None };
        steps.iter().filter_map(to).collect()
    }

    #[test]
    fn what_only_goes_down_reaches_the_next_root_first_among_equals() {
        for operation in [Operation::Bcast, Operation::Scatter] {
            assert_eq!(receivers(operation, "linear", 5), [6, 7, 0, 1, 2, 3, 4]);
            assert_eq!(receivers(operation, "knomial:radix=4", 5), [1, 6, 7, 0]);
            assert_eq!(receivers(operation, "knomial:radix=4", 1), [2, 3, 4]);
            assert_eq!(receivers(operation, "knomial:radix=3", 5), [0, 3, 6, 7]);
        }
    }
}
