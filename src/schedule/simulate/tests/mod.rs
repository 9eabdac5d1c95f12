//! Tests of the simulation on networks whose times can be worked out by hand.

mod messages;
mod sharing;
