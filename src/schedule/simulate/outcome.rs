//! What a simulation comes to, and what it lets others see.

/// What a simulated call comes to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Seconds until the last rank is done.
    pub time: f64,
    /// Seconds until each rank is done.
    pub finished: Vec<f64>,
    /// Messages, all ranks together.
    pub messages: u64,
    /// Bytes sent between ranks of one node.
    pub bytes_on_node: u64,
    /// Bytes sent between nodes.
    pub bytes_off_node: u64,
}

/// Why programs have no time: they cannot be simulated, of which the verifier says more, or nobody wants to know any
/// more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Broken {
    #[error("the messages to rank {rank} do not match its receives")]
    Unmatched { rank: usize },
    #[error("rank {rank} waits for ever")]
    Deadlock { rank: usize },
    #[error("the simulation was given up")]
    GivenUp,
}

/// Seconds from `start` to `end`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Span {
    pub start: f64,
    pub end: f64,
}

/// What a rank spends its own time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Activity {
    Overhead,
    Wait,
    Fold,
    Copy,
}

/// Sees what happens when. All methods may do nothing.
pub trait Observer {
    /// Whether the simulation is to go on, which it asks now and then.
    fn goes_on(&mut self) -> bool {
        true
    }
    /// A rank spent its time so.
    fn activity(&mut self, _rank: usize, _activity: Activity, _span: Span) {}
    /// A rank saw a flag of another one: that it is raised took so long to come through.
    fn notified(&mut self, _teller: usize, _rank: usize, _span: Span) {}
    /// A message kept a port busy: one of the sender's if `departs`, else one of the receiver's.
    fn transfer(&mut self, _sender: usize, _receiver: usize, _departs: bool, _bytes: u64, _span: Span) {}
}

impl Observer for () {}

/// Sees nothing, and says whether to go on.
pub struct While<'a>(pub &'a dyn Fn() -> bool);

impl Observer for While<'_> {
    fn goes_on(&mut self) -> bool {
        (self.0)()
    }
}
