//! The report of one rank, as it is written of [parts](super::partial) of a job and at
//! [checkpoints](super::checkpoint).

use crate::monitor::{RankRecord, Summary, merge};
use crate::process::runtime::Runtime;
use crate::report::on_one_rank;

/// The report of a rank alone, which others can be merged with.
pub fn summary(runtime: &Runtime, record: RankRecord, when: &str) -> Summary {
    let (rank, size) = (runtime.world_rank, runtime.world_size);
    let partial = format!("rank {rank} of {size} alone, {when}{}", on_one_rank(&record.under_way));
    let text = record.to_text();
    let under_way = record.under_way.rows(record.rank).collect();
    Summary { partial: Some(partial), under_way, record: Some(text), ..merge(vec![record]) }
}
