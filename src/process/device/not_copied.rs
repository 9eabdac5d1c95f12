//! Memory of a GPU that was not copied.

use std::ffi::c_int;

/// Why memory was not copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotCopied {
    /// Nothing that is loaded can.
    #[error("a buffer is in memory of a GPU, and the library that says so has no function that copies it")]
    NoFunction,
    /// What the function returned, and whose it was.
    #[error("a buffer could not be copied between the GPU and the host: {0} returned {1}")]
    Failed(&'static str, c_int),
}
