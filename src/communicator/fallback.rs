//! Why calls go to the native library.

use crate::monitor::ONE_RANK;

/// Why a call goes to the native library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// The communicator connects two groups.
    Intercommunicator,
    /// There is nobody to send to.
    OneRank,
    /// An argument that MPI forbids: the native library says so, in its own words.
    InvalidArgument,
    /// A predefined operation on a type that MPI does not define it on.
    UndefinedOperation,
    /// A predefined operation on a type that was asked for by precision and range: no table says what combines it.
    ByPrecision,
    /// A reduction of elements that reach into one another: no room for more of them than the call has.
    Interleaved,
    /// The communicator is a new one, which may be gone before its agreement has paid.
    FirstCalls,
    /// Other communicators are being made, beside which no private one can be.
    BeingMade,
    /// No private communicator could be had.
    NoPrivateCommunicator,
    /// A buffer on some rank was memory of a GPU, in this call or an earlier one.
    DeviceMemory,
    /// Some rank uses a GPU, and such communicators are to be left alone.
    Gpu,
    /// Some of its ranks belong to another `MPI_COMM_WORLD`, which may be without Collie.
    OtherWorlds,
    /// It was given back when the program could make no communicator otherwise.
    GivenBack,
}

impl Fallback {
    /// The words of the report.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Intercommunicator => "fallback: intercommunicator",
            Self::OneRank => ONE_RANK,
            Self::InvalidArgument => "fallback: invalid argument",
            Self::UndefinedOperation => "fallback: operation not defined on this datatype",
            Self::ByPrecision => "fallback: reduction of a type by precision and range",
            Self::Interleaved => "fallback: elements reach into one another",
            Self::FirstCalls => "first calls on the communicator (COLLIE_AFTER)",
            Self::BeingMade => "fallback: communicators are being made",
            Self::NoPrivateCommunicator => "fallback: no private communicator left",
            Self::DeviceMemory => "fallback: device memory",
            Self::Gpu => "COLLIE_DEVICE=native",
            Self::OtherWorlds => "fallback: ranks of another MPI_COMM_WORLD (COLLIE_SPAWNED)",
            Self::GivenBack => "fallback: private communicator given back to the program",
        }
    }
}
