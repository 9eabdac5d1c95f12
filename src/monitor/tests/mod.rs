//! Tests of the monitor's parts as their users see them.

mod caches;
mod merging;
mod summaries;
