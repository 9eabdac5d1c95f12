//! Mode `best` where nobody has measured: Collie's algorithm if the cost model predicts that it is clearly faster than
//! what the MPI library is known to do.
//!
//! Only between nodes, where messages are most of what a call takes. Within a node an MPI library lets all ranks read
//! one sender's memory at once, say, which the formulas know nothing of; and ranks that share cores wait for one
//! another rather than for messages.

use super::configuration::Configuration;
use super::situation::Situation;
use super::{defaults, native};
use crate::algorithm::{Call, Choice, Shape};

/// How much slower the MPI library has to be by the formulas, which are off by a factor of two now and then.
const CLEARLY: f64 = 2.0;

/// A row of the default table whose algorithm is predicted to be faster than the MPI library.
#[derive(Clone, Copy, Debug)]
pub struct Predicted {
    /// Its algorithm, whose needs are met.
    pub choice: &'static Choice,
    /// Where the row stands.
    pub table: &'static str,
    /// From 1.
    pub line: u32,
}

/// What mode `replace` would take for a call, if that is predicted to be clearly faster.
pub fn clearly_faster(configuration: &Configuration, situation: &Situation, call: &Call) -> Option<Predicted> {
    if situation.one_node || situation.oversubscribed {
        return None;
    }
    let of_native = native::choice(situation, call)?;
    let (table, rules) = defaults::of(situation, false);
    let (choice, line) = native::first_usable(rules, situation, call)?;
    let network = configuration.network(situation.one_node);
    let shape = Shape { root: 0, ..Shape::of(call, situation.ranks) };
    let seconds = |choice: &Choice| network.seconds(choice.cost(&shape), situation.one_node, false);
    (seconds(of_native) >= CLEARLY * seconds(choice)).then_some(Predicted { choice, table, line })
}
