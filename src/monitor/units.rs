//! From what is recorded to what is reported.

/// Nanoseconds in seconds.
pub(super) fn seconds(nanoseconds: f64) -> f64 {
    nanoseconds / 1e9
}

/// The sum of what is known of two; nothing where nothing is.
pub(super) fn sum_of_known<T: std::ops::Add<Output = T>>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one + other),
        (one, other) => one.or(other),
    }
}

/// A part of a whole, 0 to 1; nothing is no part of nothing.
pub(super) fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
