//! The report of one rank, as it is written of [parts](super::partial) of a job and at [checkpoints](super::checkpoint).

use super::under_way::UnderWay;
use crate::monitor::{RankRecord, Summary, merge};
use crate::process::runtime::Runtime;

/// The report of a rank alone, which others can be merged with.
pub fn summary(runtime: &Runtime, record: RankRecord, under_way: &UnderWay, when: &str) -> Summary {
    let (rank, size) = (runtime.world_rank, runtime.world_size);
    let partial = format!("rank {rank} of {size} alone, {when}{}", under_way.words());
    let text = record.to_text();
    Summary { partial: Some(partial), record: Some(text), ..merge(vec![record]) }
}
