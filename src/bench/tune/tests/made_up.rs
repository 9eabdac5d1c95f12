//! Measurements that are made up, and the rows that come out of them, as text.

use super::super::*;
use crate::algorithm::Operation;
use crate::bench::result::tests::row;
use crate::bench::result::{CellRow, Report, VariantRow};
use crate::bench::statistics::Ratio;

pub const SETTINGS: Settings =
    Settings { form: Form::Table, price: 0.05, native: false, by_mpi: false, anywhere: true, extend: Extend::Alike };

/// A cell of allreduce with times of algorithms in microseconds; native takes ten.
pub fn cell(bytes: usize, ranks: u32, times: &[(&str, f64)]) -> CellRow {
    let mut cell = row(Operation::Allreduce, bytes, ranks, 1.0);
    let auto = cell.variants.pop().expect("auto");
    cell.variants.extend(times.iter().map(|(name, time)| {
        let mut row = VariantRow { variant: (*name).to_owned(), algorithm: (*name).to_owned(), ..auto.clone() };
        row.seconds.median = time / 1e6;
        let ratio = 10.0 / time;
        row.against_native = Some(Ratio { ratio, low: Some(ratio * 0.99), high: Some(ratio * 1.01) });
        row
    }));
    cell
}

pub fn lines(reports: &[Report], settings: Settings) -> Vec<String> {
    let blocks = tune(reports, settings).unwrap();
    let all = blocks.iter().flat_map(|block| &block.rules);
    all.map(|rule| rule.to_string().split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}
