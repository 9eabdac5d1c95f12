//! What single ranks wrote before their job ended, as one report.

use super::quantity::{duration, ranges, several};
use super::sites::name_sites;
use super::under_way::on_ranks;
use crate::monitor::{RankRecord, Summary, merge};
use std::cmp::Reverse;

/// Merges what ranks of one job told, each for itself and perhaps at different times; of several records of a rank the
/// newest counts. The report names the ranks that are missing.
pub fn recover(mut records: Vec<RankRecord>) -> Summary {
    records.sort_by_key(|record| (record.rank, Reverse(record.ended_unix_ns)));
    records.dedup_by_key(|record| record.rank);
    let number = records.len();
    let until = |record: &RankRecord| (record.run_ns as f64 / 1e9, record.rank);
    let first = records.iter().map(until).min_by(|left, right| left.0.total_cmp(&right.0));
    let last = records.iter().map(until).max_by(|left, right| left.0.total_cmp(&right.0));
    let known: Vec<u32> = records.iter().map(|record| record.rank).collect();
    let under_way = records.iter().flat_map(|record| record.under_way.rows(record.rank)).collect();
    let in_words = on_ranks(&records);
    let mut summary = Summary { under_way, ..merge(records) };
    summary.missing = (0..summary.ranks).filter(|rank| known.binary_search(rank).is_err()).collect();
    let mut words = format!("{number} of {}, as recorded by each", several(summary.ranks.into(), "rank"));
    if let (Some((first, early)), Some((last, late))) = (first, last) {
        words += &format!(": {} (rank {early}) to {} (rank {late}) after the start", duration(first), duration(last));
    }
    if !summary.missing.is_empty() {
        words += &format!("; missing: {}", ranges(&summary.missing));
    }
    summary.partial = Some(words + &in_words);
    name_sites(&mut summary);
    summary
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::{CallUnderWayRecord, JobRecord, UnderWayRecord};
    use crate::report::{Layout, render};
    use crate::selection::ReportFormat;

    #[test]
    fn the_newest_of_each_rank_counts_and_those_without_are_named() {
        let record = |rank: u32, ended: u64, pid: u32| RankRecord {
            rank,
            pid,
            ended_unix_ns: ended,
            run_ns: ended * 1_000_000_000,
            job: Some(JobRecord { ranks: 9, ..JobRecord::default() }),
            ..RankRecord::default()
        };
        let summary = recover(vec![record(4, 10, 1), record(0, 60, 2), record(4, 30, 3), record(4, 20, 4)]);
        assert_eq!(summary.per_rank.iter().map(|row| (row.rank, row.pid)).collect::<Vec<_>>(), [(0, 2), (4, 3)]);
        assert_eq!(summary.missing, [1, 2, 3, 5, 6, 7, 8]);
        assert_eq!(
            summary.partial.unwrap(),
            "2 of 9 ranks, as recorded by each: 30.0s (rank 4) to 60.0s (rank 0) after the start; missing: 1-3, 5-8"
        );
        assert_eq!(summary.ranks, 9);
    }

    #[test]
    fn calls_under_way_are_told_in_every_form() {
        let record = |rank: u32, ns: u64| {
            let communicator = "MPI_COMM_WORLD".to_owned();
            let call = CallUnderWayRecord { function: "MPI_Scan".to_owned(), communicator, ns };
            RankRecord {
                rank,
                run_ns: 20_000_000_000,
                job: Some(JobRecord { ranks: 3, ..JobRecord::default() }),
                under_way: UnderWayRecord { calls: vec![call], ..UnderWayRecord::default() },
                ..RankRecord::default()
            }
        };
        let packed = [record(0, 1_500_000_000), record(2, 12_000_000_000)].map(|record| record.to_text());
        let summary = recover(packed.iter().map(|text| RankRecord::from_text(text).unwrap()).collect());
        let rows: Vec<_> = summary.under_way.iter().map(|row| (row.rank, row.seconds)).collect();
        assert_eq!(rows, [(0, 1.5), (2, 12.0)]);
        let rendered = |format| String::from_utf8(render(format, &summary, &Layout::FILE)).unwrap();
        let text = rendered(ReportFormat::Text);
        let words = "missing: 1, under way: MPI_Scan on MPI_COMM_WORLD for 1.5 s to 12.0 s (ranks 0, 2)\n";
        let [line, words] = [&text, words].map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
        assert!(line.contains(&words), "{text}");
        assert!(text.lines().all(|line| line.len() <= 100), "{text}");
        assert!(rendered(ReportFormat::Json).contains("\"function\": \"MPI_Scan\""));
        assert!(rendered(ReportFormat::Html).contains("\"under_way\":[{\"rank\":0,\"function\":\"MPI_Scan\""));
    }
}
