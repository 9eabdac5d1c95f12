//! From what is recorded to what is reported.

/// Nanoseconds in seconds.
pub(super) fn seconds(nanoseconds: f64) -> f64 {
    nanoseconds / 1e9
}

/// A part of a whole, 0 to 1; nothing is no part of nothing.
pub(super) fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
