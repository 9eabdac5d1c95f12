//! Everything that the summary holds; the schema is `docs/report-schema.json`.

use super::found::found;
use crate::monitor::{SCHEMA_VERSION, Spread, Summary};
use serde::Deserialize;
use serde_json::Value;

/// The report.
pub fn render(summary: &Summary) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(summary).expect("a summary has no part that JSON cannot hold");
    bytes.push(b'\n');
    bytes
}

/// A recorded report cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A field is missing or of the wrong kind.
    #[error("not a report of Collie: {0}")]
    Malformed(serde_json::Error),
    /// Something else, in words.
    #[error("found {0}; accepted: a report that a run with COLLIE_REPORT=run.json wrote")]
    Other(String),
    /// Of another version.
    #[error("a report of schema version {0}; this Collie reads version {SCHEMA_VERSION}")]
    Version(u64),
    /// A time that there is not.
    #[error("not a report of Collie: {what} {place} says {field} {found}; accepted: 0 and more")]
    Negative {
        /// What is wrong: a list of the report.
        what: &'static str,
        /// Which of its entries.
        place: usize,
        /// The field.
        field: &'static str,
        /// What it says.
        found: f64,
    },
    /// A size class that ends before it begins.
    #[error(
        "not a report of Collie: {what} {place} says bytes_from {from} and bytes_to {to}; accepted: no less than bytes_from"
    )]
    Backwards {
        /// What is wrong: a list of the report.
        what: &'static str,
        /// Which of its entries.
        place: usize,
        /// Where the class begins.
        from: u64,
        /// Where it ends.
        to: u64,
    },
    /// A place in a list that it has not, or a rank that there is not.
    #[error("not a report of Collie: {what} {place} says {field} {found}, of {known} from 0 on")]
    Nowhere {
        /// What is wrong: a list of the report.
        what: &'static str,
        /// Which of its entries.
        place: usize,
        /// The field.
        field: &'static str,
        /// What it says.
        found: usize,
        /// How many there are.
        known: usize,
    },
}

/// The summary that [`render`] wrote.
///
/// # Errors
/// Anything else, and reports of another schema version.
pub fn read(bytes: &[u8]) -> Result<Summary, ReadError> {
    #[derive(Deserialize)]
    struct Version {
        schema_version: u64,
    }
    // Some editors begin a file with a byte order mark.
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    // Told apart first: a report of another version would otherwise be called malformed for some missing field.
    let Version { schema_version } = serde_json::from_slice(bytes).map_err(|error| unreadable(bytes, error))?;
    if schema_version != u64::from(SCHEMA_VERSION) {
        // Measurements of `collie bench` have versions of their own.
        let has_cells = serde_json::from_slice(bytes).is_ok_and(|value: Value| value["cells"].is_array());
        return Err(if has_cells { ReadError::Other(found(bytes)) } else { ReadError::Version(schema_version) });
    }
    let summary: Summary = serde_json::from_slice(bytes).map_err(|error| unreadable(bytes, error))?;
    check(&summary)?;
    check_times(&summary)?;
    check_sizes(&summary)?;
    Ok(summary)
}

/// A report with a mistake in it, or something else.
fn unreadable(bytes: &[u8], error: serde_json::Error) -> ReadError {
    match serde_json::from_slice::<Value>(bytes) {
        Ok(value) if value["rows"].is_array() => ReadError::Malformed(error),
        _ => ReadError::Other(found(bytes)),
    }
}

/// Whether each place that an entry names is one: whoever edits a report, or loses a part of it, is told here and not
/// by a panic.
fn check(summary: &Summary) -> Result<(), ReadError> {
    let Summary { communicators, rows, comparisons, late, timeline, elements, .. } = summary;
    let (communicators, ranks) = (communicators.len(), summary.ranks as usize);
    let of_rows = rows.iter().map(|row| row.communicator).enumerate();
    in_list("rows", "communicator", of_rows, communicators)?;
    in_list("comparisons", "communicator", comparisons.iter().map(|row| row.communicator).enumerate(), communicators)?;
    in_list("late", "communicator", late.iter().map(|row| row.communicator).enumerate(), communicators)?;
    let differences = summary.verification.iter().flat_map(|verification| &verification.differences);
    in_list("differences", "communicator", differences.map(|row| row.communicator).enumerate(), communicators)?;
    in_list("timeline", "row", timeline.iter().map(|row| row.row).enumerate(), rows.len())?;
    let with_elements = timeline.iter().enumerate().filter_map(|(place, row)| Some((place, row.elements?)));
    in_list("timeline", "elements", with_elements, elements.len())?;
    let traffic = [&summary.traffic, &summary.shared_traffic, &summary.native_traffic, &summary.native_collectives];
    for (what, traffic) in
        ["traffic", "shared_traffic", "native_traffic", "native_collectives"].into_iter().zip(traffic)
    {
        in_list(what, "from", traffic.iter().map(|row| row.from as usize).enumerate(), ranks)?;
        in_list(what, "to", traffic.iter().map(|row| row.to as usize).enumerate(), ranks)?;
    }
    Ok(())
}

/// Whether no time is negative, of those that shares, means and ratios are made of.
fn check_times(summary: &Summary) -> Result<(), ReadError> {
    let not_negative = |what, place, times: &[(&'static str, Option<f64>)]| {
        let negative = times.iter().find_map(|(field, time)| Some((*field, time.filter(|time| *time < 0.0)?)));
        negative.map_or(Ok(()), |(field, found)| Err(ReadError::Negative { what, place, field, found }))
    };
    let whole = [("run_seconds", Some(summary.run_seconds)), ("recorded_seconds", summary.recorded_seconds)];
    not_negative("run", 0, &whole)?;
    for (place, row) in summary.rows.iter().enumerate() {
        let Spread { min, mean, max, .. } = row.total_seconds;
        let times = [
            ("total_seconds", Some(min.min(mean).min(max))),
            ("mean_seconds", Some(row.mean_seconds)),
            ("min_seconds", Some(row.min_seconds)),
            ("p50_seconds", Some(row.p50_seconds)),
            ("p90_seconds", Some(row.p90_seconds)),
            ("p99_seconds", Some(row.p99_seconds)),
            ("max_seconds", Some(row.max_seconds)),
            ("waiting_seconds", row.waiting_seconds),
            ("durations", row.durations.iter().map(|(seconds, _)| *seconds).reduce(f64::min)),
        ];
        not_negative("rows", place, &times)?;
    }
    for (place, rank) in summary.per_rank.iter().enumerate() {
        let times = [
            ("run_seconds", Some(rank.run_seconds)),
            ("recorded_seconds", rank.recorded_seconds),
            ("collective_seconds", Some(rank.collective_seconds)),
            ("waiting_seconds", rank.waiting_seconds),
            ("message_seconds", rank.message_seconds),
            ("one_sided_seconds", rank.one_sided_seconds),
            ("file_seconds", rank.file_seconds),
        ];
        not_negative("per_rank", place, &times)?;
    }
    Ok(())
}

/// Whether each size class begins before it ends.
fn check_sizes(summary: &Summary) -> Result<(), ReadError> {
    let rows = summary.rows.iter().map(|row| (row.bytes_from, row.bytes_to));
    let comparisons = summary.comparisons.iter().map(|row| (row.bytes_from, row.bytes_to));
    in_order("rows", rows)?;
    in_order("comparisons", comparisons)
}

fn in_order(what: &'static str, classes: impl Iterator<Item = (u64, u64)>) -> Result<(), ReadError> {
    match classes.enumerate().find(|(_, (from, to))| from > to) {
        Some((place, (from, to))) => Err(ReadError::Backwards { what, place, from, to }),
        None => Ok(()),
    }
}

fn in_list(
    what: &'static str,
    field: &'static str,
    mut entries: impl Iterator<Item = (usize, usize)>,
    known: usize,
) -> Result<(), ReadError> {
    match entries.find(|(_, found)| *found >= known) {
        Some((place, found)) => Err(ReadError::Nowhere { what, place, field, found, known }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::{CommunicatorRow, Row, TrafficRow};

    #[test]
    fn negative_times_are_told_with_their_place() {
        let rows = vec![Row::default(), Row { p50_seconds: -0.5, ..Row::default() }];
        let communicators = vec![CommunicatorRow::default()];
        let summary = Summary { schema_version: SCHEMA_VERSION, rows, communicators, ..Summary::default() };
        let words = read(&render(&summary)).unwrap_err().to_string();
        assert_eq!(words, "not a report of Collie: rows 1 says p50_seconds -0.5; accepted: 0 and more");
    }

    #[test]
    fn size_classes_that_end_before_they_begin_are_told_with_their_place() {
        let rows = vec![Row { bytes_from: 1024, bytes_to: 0, ..Row::default() }];
        let communicators = vec![CommunicatorRow::default()];
        let summary = Summary { schema_version: SCHEMA_VERSION, rows, communicators, ..Summary::default() };
        let words = read(&render(&summary)).unwrap_err().to_string();
        let told = "rows 0 says bytes_from 1024 and bytes_to 0; accepted: no less than bytes_from";
        assert_eq!(words, format!("not a report of Collie: {told}"));
    }

    #[test]
    fn what_names_no_entry_is_told_with_its_place() {
        let read_back = |summary: Summary| read(&render(&Summary { schema_version: SCHEMA_VERSION, ..summary }));
        assert!(read_back(Summary { ranks: 2, ..Summary::default() }).is_ok());
        let rows = Summary { rows: vec![Row { communicator: 99, ..Row::default() }], ..Summary::default() };
        let words = read_back(rows).unwrap_err().to_string();
        assert_eq!(words, "not a report of Collie: rows 0 says communicator 99, of 0 from 0 on");
        let traffic = vec![TrafficRow { from: 0, to: 2, messages: 1, bytes: 8, on_node: true }];
        let traffic = Summary { ranks: 2, traffic, ..Summary::default() };
        assert!(matches!(
            read_back(traffic),
            Err(ReadError::Nowhere { what: "traffic", field: "to", found: 2, known: 2, .. })
        ));
    }
}
