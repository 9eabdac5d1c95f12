//! Calls that are under way while a report is written: what it holds of their communicators, in words.

use crate::communicator::state::Communicator;
use crate::process::runtime::Runtime;

/// Calls that a report names; of the others it gives the number.
const NAMED: usize = 4;

/// What is under way.
#[derive(Debug, Default)]
pub struct UnderWay {
    /// The calls, each with how long it has been so. What was counted before them is in the report.
    calls: Vec<String>,
    /// Communicators of them whose messages are not in it.
    without_messages: usize,
    /// Communicators of which nothing is in it, since a call was just counting, or agreeing on something.
    pub left_out: usize,
}

impl UnderWay {
    /// A call is under way on the communicator; `is_sending`: in an algorithm of ours, which counts its messages.
    pub fn add(&mut self, runtime: &Runtime, communicator: &Communicator, is_sending: bool) {
        let call = communicator.last_function.map_or("a call", |function| function.name());
        let name = communicator.name().unwrap_or_else(|| format!("communicator {}", communicator.identity()));
        let seconds = runtime.nanoseconds(runtime.clock.raw().saturating_sub(communicator.last_call)) as f64 * 1e-9;
        self.calls.push(format!("{call} on {name} for {seconds:.1} s"));
        self.without_messages += usize::from(is_sending);
    }

    /// In words, to stand behind others.
    pub fn words(&self) -> String {
        let mut words = String::new();
        if !self.calls.is_empty() {
            words += &format!("; under way: {}", self.calls[..self.calls.len().min(NAMED)].join(", "));
            if self.calls.len() > NAMED {
                words += &format!(" and {} more", self.calls.len() - NAMED);
            }
        }
        if self.without_messages > 0 {
            words += &format!("; without the messages sent on {}", communicators(self.without_messages));
        }
        if let Some(left_out) = self.left_out() {
            words += &format!("; without {left_out}");
        }
        words
    }

    /// What is left out, in words.
    pub fn left_out(&self) -> Option<String> {
        (self.left_out > 0).then(|| format!("{} that a call is at work on", communicators(self.left_out)))
    }
}

fn communicators(number: usize) -> String {
    crate::report::several(number as u64, "communicator")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_under_way_is_named_and_what_is_missing_counted() {
        assert_eq!(UnderWay::default().words(), "");
        let call = |number| format!("MPI_Barrier on c{number} for 1.5 s");
        let one = UnderWay { calls: vec![call(0)], without_messages: 1, left_out: 2 };
        let expected = "; under way: MPI_Barrier on c0 for 1.5 s; without the messages sent on 1 communicator; \
                        without 2 communicators that a call is at work on";
        assert_eq!(one.words(), expected);
        let many = UnderWay { calls: (0..6).map(call).collect(), ..UnderWay::default() };
        assert!(many.words().ends_with("MPI_Barrier on c3 for 1.5 s and 2 more"), "{}", many.words());
    }
}
