//! Tests of the verifier: that it catches what is wrong, and reads orders as they are.

mod faults;
mod orders;
mod shared;
