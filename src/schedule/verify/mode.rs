//! Under what programs are verified, and what that amounts to.

/// When a send is finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sends {
    /// At once, as if there were room for every message.
    Buffered,
    /// When the matching receive has been started.
    Synchronous,
}

/// Under what the programs run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// Whether `Send` and `Receive` share memory (`MPI_IN_PLACE`), where both exist.
    pub in_place: bool,
    /// When a send is finished.
    pub sends: Sends,
}

impl Mode {
    /// Separate buffers, synchronous sends.
    pub const STRICT: Self = Self { in_place: false, sends: Sends::Synchronous };
    /// `MPI_IN_PLACE`, synchronous sends.
    pub const STRICT_IN_PLACE: Self = Self { in_place: true, sends: Sends::Synchronous };
}

/// What a verified call amounts to, all ranks together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Messages sent, those of zero units too.
    pub messages: usize,
    /// Units sent.
    pub units_sent: usize,
    /// Units of results of folds.
    pub units_folded: usize,
}
