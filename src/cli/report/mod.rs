//! `collie report`: a recorded JSON report in another form, those of single ranks as one, or runs side by side.

mod recorded;

use super::file::{cannot_write, refuse_to_replace, write_file};
use super::{Done, Failure};
use crate::bench::numbers::whole;
use crate::monitor::Summary;
use crate::report::{self, Extent, Layout, MATRICES, Pairs, TableOf, several};
use crate::selection::ReportFormat;
use std::path::{Path, PathBuf};

/// Show a recorded JSON report in another form, or compare runs
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  collie run --report run.json -- mpirun ./app    record\n  \
                        collie report run.json                          show the summary\n  \
                        collie report run.json --top 30                 totals and tables of 30 rows each\n  \
                        collie report run.json --by rank --all          one table, all of it\n  \
                        collie report run.json --format csv --by late   the same table for a script\n  \
                        collie report run.json --output run.html        the page, by the file's ending\n  \
                        collie report run.checkpoint                    what the ranks of a killed job left\n  \
                        collie report --diff before.json after.json     what changed\n  \
                        collie report --diff a1.json,a2.json,a3.json b1.json,b2.json,b3.json -o diff.html\n  \
                        collie report run.json --matrices traffic       traffic as bare matrices in that folder")]
pub struct Arguments {
    /// A report written as .json; or reports of single ranks of one job, as files or folders, which are merged
    #[arg(required_unless_present = "diff", conflicts_with = "diff")]
    paths: Vec<PathBuf>,
    /// text, json, csv or html [default: by the ending of --output, or else text]
    #[arg(long, value_parser = format_named)]
    format: Option<ReportFormat>,
    /// Write to this file instead of standard output
    #[arg(long, short)]
    output: Option<PathBuf>,
    /// Show one table only: row (function, communicator, size, algorithm), function, communicator, message
    /// (point-to-point, one-sided and file calls), region, site, rank, late (ranks that others waited for) or verdict
    /// (mode compare)
    #[arg(long, value_name = "WHAT", value_parser = TableOf::parse, conflicts_with = "diff")]
    by: Option<TableOf>,
    /// Show this many rows of each table, those that matter most (in CSV by rank, the first ranks)
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..))]
    top: Option<u32>,
    /// Show all rows of each table
    #[arg(long, conflicts_with = "top")]
    all: bool,
    /// Write the traffic as plain matrices into this folder, in the format of Open MPI's monitoring component: what
    /// Collie's algorithms sent by MPI (collie_*.mat) and through shared memory (collie_shared_*.mat), and what Open
    /// MPI counted (monitoring_pml_*.mat, monitoring_coll_*.mat); of each msg (messages), size (bytes) and avg (bytes
    /// per message), a line for each sender and a column for each receiver
    #[arg(long, conflicts_with_all = ["diff", "format", "output", "by", "top", "all"])]
    matrices: Option<PathBuf>,
    /// Two reports to compare, or several on each side, separated by commas, so that noise can be told from change
    #[arg(long, num_args = 2, value_names = ["A", "B"])]
    diff: Option<Vec<String>>,
}

fn format_named(name: &str) -> Result<ReportFormat, String> {
    match name {
        "text" => Ok(ReportFormat::Text),
        name => ReportFormat::from_ending(name).ok_or_else(|| "accepted: text, json, csv, html".to_owned()),
    }
}

/// Renders or compares.
pub fn execute(arguments: &Arguments) -> Result<Done, Failure> {
    let format = arguments.format()?;
    arguments.check(format).map_err(Failure::usage)?;
    let layout = arguments.layout(format);
    let sides = arguments.diff.iter().flatten().flat_map(|side| side.split(',')).map(Path::new);
    let inputs = arguments.paths.iter().map(PathBuf::as_path).chain(sides);
    refuse_to_replace("--output", arguments.output.as_deref(), inputs)?;
    if let Some([a, b]) = arguments.diff.as_deref() {
        let run = |path: &str| match path {
            "" => Err(Failure::usage("--diff: a list has an empty name; accepted: files, several joined by a comma")),
            path => recorded::read_all(&[path.into()]),
        };
        let runs = |paths: &str| paths.split(',').map(run).collect();
        let (a, b): (Result<Vec<_>, _>, Result<Vec<_>, _>) = (runs(a), runs(b));
        let difference = report::diff(&a?, &b?).map_err(|words| Failure::cannot(format!("--diff: {words}")))?;
        return arguments.put(&report::render_difference(&difference, format, &layout));
    }
    let summary = recorded::read_all(&arguments.paths)?;
    if let Some(folder) = &arguments.matrices {
        return write_matrices(folder, &summary);
    }
    arguments.put(&report::render(format, &summary, &layout))
}

impl Arguments {
    /// The form that is asked for, or that the name of the output asks for.
    fn format(&self) -> Result<ReportFormat, Failure> {
        if let Some(format) = self.format {
            return Ok(format);
        }
        let Some(output) = &self.output else { return Ok(ReportFormat::Text) };
        // Pipes and devices have no ending.
        let ending = match output.extension() {
            None if std::fs::metadata(output).is_ok_and(|found| !found.is_file()) => return Ok(ReportFormat::Text),
            ending => ending.and_then(|ending| ending.to_str()),
        };
        ending.and_then(ReportFormat::from_ending).ok_or_else(|| {
            Failure::usage(format!(
                "--output: the ending of '{}' names no format; accepted: .txt, .json, .csv, .html, or any name with --format",
                output.display()
            ))
        })
    }

    /// Whether the form can hold what is asked for, and the file the form.
    fn check(&self, format: ReportFormat) -> Result<(), String> {
        let (name, endings, is_whole) = match format {
            ReportFormat::Text => ("text", &["txt"][..], false),
            ReportFormat::Csv => ("csv", &["csv"][..], false),
            ReportFormat::Json => ("json", &["json"][..], true),
            ReportFormat::Html => ("html", &["html", "htm"][..], true),
        };
        let cut = [("--by", self.by.is_some()), ("--top", self.top.is_some())];
        if let Some((option, _)) = cut.into_iter().find(|(_, is_given)| is_whole && *is_given) {
            return Err(format!(
                "{option}: a report in {name} holds all of every table; accepted: with --format text or csv"
            ));
        }
        let Some(output) = &self.output else { return Ok(()) };
        if output == std::path::Path::new("-") {
            return Err("--output '-': accepted: the name of a file".to_owned());
        }
        report::fits("--output", output, &format!("a report in {name}"), endings)
    }

    /// Tables for programs are whole unless somebody wants less.
    fn layout(&self, format: ReportFormat) -> Layout {
        let extent = match self.top {
            Some(most) => Extent::Most(most as usize),
            None if self.all || format != ReportFormat::Text => Extent::All,
            None if self.output.is_some() => Layout::FILE.extent,
            None => Extent::Screen,
        };
        Layout { extent, table: self.by, ..Layout::SCREEN }.within(self.width())
    }

    /// Columns of the terminal, or as many as `COLUMNS` says.
    fn width(&self) -> usize {
        let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
        let seen = || terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0));
        if self.output.is_some() { report::WIDTH } else { said.or_else(seen).unwrap_or(report::WIDTH) }
    }

    fn put(&self, bytes: &[u8]) -> Result<Done, Failure> {
        let Some(output) = &self.output else {
            return Ok(Done::from(String::from_utf8_lossy(bytes).into_owned()));
        };
        write_file(output, bytes)?;
        Ok(Done::from(String::new()))
    }
}

fn write_matrices(folder: &Path, summary: &Summary) -> Result<Done, Failure> {
    let layers = [
        ("collie", &summary.traffic),
        ("collie_shared", &summary.shared_traffic),
        ("monitoring_pml", &summary.native_traffic),
        ("monitoring_coll", &summary.native_collectives),
    ];
    if layers.iter().all(|(_, rows)| rows.is_empty()) {
        return Err(Failure::cannot("the report holds no traffic".to_owned()));
    }
    std::fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
    let mut written = String::new();
    for (layer, rows) in layers.into_iter().filter(|(_, rows)| !rows.is_empty()) {
        let pairs = Pairs::of(summary.ranks, rows);
        for (name, entry) in MATRICES {
            let path = folder.join(format!("{layer}_{name}.mat"));
            report::write_output_by(&path, |file| pairs.write(entry, file))
                .map_err(|error| cannot_write(&path, &error))?;
            written += &format!("{}\n", path.display());
        }
    }
    Ok(Done { notes: missing_traffic(summary), ..Done::from(written) })
}

/// What zeros in the matrices may stand for besides no traffic.
fn missing_traffic(summary: &Summary) -> Vec<String> {
    let mut notes = Vec::new();
    let known = summary.per_rank.len();
    if known < summary.ranks as usize {
        let of_all = several(summary.ranks.into(), "rank");
        notes.push(format!("the matrices are incomplete: the report tells what {known} of {of_all} sent"));
    }
    if let Some(left_out) = summary.left_out.filter(|left_out| left_out.traffic > 0) {
        let pairs = several(left_out.traffic, "pair");
        notes.push(format!(
            "the matrices are incomplete: {pairs} of ranks, those with fewest bytes, left out to save memory on rank 0"
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::{LeftOut, RankRow, TrafficRow};

    #[test]
    fn matrices_are_written_of_what_the_report_holds() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let folder = folder.path().join("traffic");
        let row = |from, to| TrafficRow { from, to, messages: 2, bytes: 10, on_node: true };
        let mut summary = Summary { ranks: 2, traffic: vec![row(0, 1)], ..Summary::default() };
        write_matrices(&folder, &summary).expect("the folder can be made");
        assert_eq!(std::fs::read_to_string(folder.join("collie_size.mat")).unwrap(), "0 10 \n0 0 \n");
        assert!(!folder.join("monitoring_coll_msg.mat").exists());
        summary.native_collectives = vec![row(1, 0)];
        write_matrices(&folder, &summary).expect("the folder is there");
        assert_eq!(std::fs::read_to_string(folder.join("monitoring_coll_msg.mat")).unwrap(), "0 0 \n2 0 \n");
        assert!(write_matrices(&folder, &Summary::default()).is_err(), "there is nothing to write");
    }

    #[test]
    fn what_matrices_lack_is_told() {
        let rank = |rank| RankRow { rank, ..RankRow::default() };
        let mut summary = Summary { ranks: 2, per_rank: vec![rank(0), rank(1)], ..Summary::default() };
        assert!(missing_traffic(&summary).is_empty());
        summary.left_out = Some(LeftOut { rows: 1, ..LeftOut::default() });
        assert!(missing_traffic(&summary).is_empty());
        summary.left_out = Some(LeftOut { traffic: 5000, ..LeftOut::default() });
        summary.per_rank.pop();
        let notes = missing_traffic(&summary);
        let words =
            ["the report tells what 1 of 2 ranks sent", "5000 pairs of ranks, those with fewest bytes, left out"];
        assert!(words.iter().zip(&notes).all(|(words, note)| note.contains(words)), "{notes:?}");
    }
}
