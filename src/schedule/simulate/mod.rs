//! Interpreter *simulate*: how long the ranks' lowered programs take on a stated network.
//!
//! A rank runs its steps one after the other; starting a send costs it the link's overhead, and so does the end of
//! waiting for a receive; folding and copying take their time per byte. A message keeps a port of its sender busy for
//! `gap + m·per_byte`; `latency` later, or as soon as one is free, it keeps a port of its receiver busy for as long.
//! Ports serve what comes first; or, where the link `shares` them, all messages at once, each at the least of the
//! shares that its two ports give it, and one after the other between the same two ranks. A message that is not below
//! the eager limit departs when its receive has been started and the two sides have told each other so (`handshake`);
//! on a `half_duplex` link it also takes turns with such messages of the opposite direction between the same two ranks.
//! The last fragment of a message that was cut waits in the same way for its receive once so much has been sent ahead
//! ([`ends_synchronously`](crate::schedule::fragments::ends_synchronously)); it departs at once, and its sender goes on
//! when it has come, the receive has been started, and an answer has travelled back.
//!
//! In shared memory a rank that waits for a flag goes on a `notification` after it was raised, copies take their time
//! per byte, and ranks that arrive at a counter do so one after another.
//!
//! Where the ranks lie, the call says, which knows of no nodes where there is one ([`Network::nodes`] lays them out as
//! the network has it). Where its ranks share memory, messages within a node go through that too.

mod board;
mod boards;
pub mod brief;
mod engine;
pub mod estimate;
mod event;
mod formula;
mod lane;
mod matching;
mod network;
mod outcome;
mod ports;
mod sharing;
mod tape;
#[cfg(test)]
mod tests;

pub use formula::Scales;
pub use network::{Link, Memory, Network, NetworkError};
pub use outcome::{Activity, Broken, Observer, Outcome, Span, While};
pub use tape::{Beat, Tapes};

use crate::operation::{Call, Choice};

/// Steps up to which a call among few ranks is simulated to judge a formula by it: some 0.1 s.
const STEPS_OF_FEW: usize = 500_000;

/// How long a call takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Seconds.
    pub time: f64,
    /// Whether it was simulated; otherwise the cost formula tells it, under the links between nodes if there are any, and
    /// scaled by what simulation makes of it on a few of the nodes.
    pub simulated: bool,
}

/// Simulates what `choice` does for `call` among `size` ranks, or takes the cost formula if that is more than `steps`
/// steps (16 bytes and about 0.2 µs each); none if the call does not meet the algorithm's needs.
///
/// # Errors
/// Programs that do not fit together.
pub fn predict(
    choice: &Choice,
    call: &Call,
    size: usize,
    network: &Network,
    steps: usize,
) -> Result<Option<Prediction>, Broken> {
    predict_while(choice, call, size, network, (steps, &|| true), &Scales::default())
}

/// As [`predict`]; the cost formula tells also what is not simulated when `goes_on` says no, which it is asked now and
/// then. What formulas are scaled by is kept in `scales`, for the same network.
///
/// # Errors
/// Programs that do not fit together.
pub fn predict_while(
    choice: &Choice,
    call: &Call,
    size: usize,
    network: &Network,
    (steps, goes_on): (usize, &dyn Fn() -> bool),
    scales: &Scales,
) -> Result<Option<Prediction>, Broken> {
    if choice.accepts(call, size).is_err() {
        return Ok(None);
    }
    let formula = || {
        let few = |call: &Call, size: usize| {
            simulate(choice, call, size, network, STEPS_OF_FEW, &|| true).ok().flatten().map(|outcome| outcome.time)
        };
        Prediction { time: formula::seconds(choice, call, size, network, scales, few), simulated: false }
    };
    // To find out that there are more than none would take as long as to list the steps of a rank.
    let outcome = if steps == 0 { None } else { simulate(choice, call, size, network, steps, goes_on)? };
    let simulated = outcome.map(|outcome| Prediction { time: outcome.time, simulated: true });
    Ok(Some(simulated.unwrap_or_else(formula)))
}

/// Simulates what `choice` does for `call` among `size` ranks; none if that takes more than `steps` steps, or when
/// `goes_on` says no.
fn simulate(
    choice: &Choice,
    call: &Call,
    size: usize,
    network: &Network,
    steps: usize,
    goes_on: &dyn Fn() -> bool,
) -> Result<Option<Outcome>, Broken> {
    let network = network.of_transport(call);
    let tapes = Tapes::record_while(choice, call, size, &network.form(choice, call), steps, goes_on);
    let Some(tapes) = tapes else { return Ok(None) };
    match simulate_tapes(&tapes, &network, call.nodes, &mut While(goes_on)) {
        Err(Broken::GivenUp) => Ok(None),
        outcome => outcome.map(Some),
    }
}

/// Simulates recorded steps; `nodes` as in [`Call`].
///
/// # Errors
/// Programs that do not fit together.
pub fn simulate_tapes(
    tapes: &Tapes,
    network: &Network,
    nodes: &[u32],
    observer: &mut impl Observer,
) -> Result<Outcome, Broken> {
    engine::Engine::new(tapes, network, nodes, observer)?.run()
}
