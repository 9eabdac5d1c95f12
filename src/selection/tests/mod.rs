//! Tests of the selection as a whole: each error's words, and the round trip of rules.

mod configuration;
mod decide;
mod open_mpi;
mod rules;
