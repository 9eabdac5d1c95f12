//! `collie report`: a recorded JSON report in another form, or two of them side by side.

use super::{Done, Failure};
use crate::monitor::Summary;
use crate::report;
use crate::selection::ReportFormat;
use std::path::{Path, PathBuf};

/// Show a recorded JSON report in another form, or compare two
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  COLLIE_REPORT=run.json mpirun -n 8 ./app      record\n  \
                        collie report run.json                          show the summary\n  \
                        collie report run.json --format csv             one line per row\n  \
                        collie report run.json --output run.html        the page, by the file's ending\n  \
                        collie report --diff before.json after.json     what changed\n  \
                        collie report run.json --matrices traffic       traffic as bare matrices in that folder")]
pub struct Arguments {
    /// A report that was written as .json
    #[arg(required_unless_present = "diff", conflicts_with = "diff")]
    file: Option<PathBuf>,
    /// text, json, csv or html; text, or what the ending of --output says, if not given
    #[arg(long, value_parser = format_named, conflicts_with = "diff")]
    format: Option<ReportFormat>,
    /// Write to this file instead of standard output
    #[arg(long, short, conflicts_with = "diff")]
    output: Option<PathBuf>,
    /// Folder for the traffic as bare matrices, as users of Open MPI's monitoring have scripts for: collie_*.mat what
    /// Collie's algorithms sent, monitoring_pml_*.mat and monitoring_coll_*.mat what Open MPI counted; of each msg
    /// (messages), size (bytes) and avg (bytes per message), from the rank of the line to that of the column
    #[arg(long, conflicts_with_all = ["diff", "format", "output"])]
    matrices: Option<PathBuf>,
    /// Two reports to compare
    #[arg(long, num_args = 2, value_names = ["A", "B"])]
    diff: Option<Vec<PathBuf>>,
}

fn format_named(name: &str) -> Result<ReportFormat, String> {
    match name {
        "text" => Ok(ReportFormat::Text),
        name => ReportFormat::from_ending(name).ok_or_else(|| "accepted: text, json, csv, html".to_owned()),
    }
}

/// Renders or compares.
pub fn execute(arguments: &Arguments) -> Result<Done, Failure> {
    if let Some([a, b]) = arguments.diff.as_deref() {
        return Ok(Done::from(report::diff(&read(a)?, &read(b)?)));
    }
    let file = arguments.file.as_deref().ok_or_else(|| Failure::usage("no report is given"))?;
    let summary = read(file)?;
    if let Some(folder) = &arguments.matrices {
        return write_matrices(folder, &summary);
    }
    let by_ending = arguments.output.as_deref().and_then(Path::extension).and_then(|ending| ending.to_str());
    let format = arguments.format.or(by_ending.and_then(ReportFormat::from_ending)).unwrap_or(ReportFormat::Text);
    let Some(output) = &arguments.output else {
        let bytes = report::render(format, &summary);
        return Ok(Done::from(String::from_utf8(bytes).expect("every form is text")));
    };
    let target = crate::selection::ReportTarget::File { path: output.clone(), format };
    report::write(&target, &summary).map_err(|error| Failure::cannot(error.to_string()))?;
    Ok(Done::from(String::new()))
}

fn write_matrices(folder: &Path, summary: &Summary) -> Result<Done, Failure> {
    let layers = [
        ("collie", &summary.traffic),
        ("monitoring_pml", &summary.native_traffic),
        ("monitoring_coll", &summary.native_collectives),
    ];
    if layers.iter().all(|(_, rows)| rows.is_empty()) {
        return Err(Failure::cannot("the report holds no traffic".to_owned()));
    }
    let cannot = |path: &Path, error: std::io::Error| Failure::cannot(format!("{}: {error}", path.display()));
    std::fs::create_dir_all(folder).map_err(|error| cannot(folder, error))?;
    let mut written = String::new();
    for (layer, rows) in layers.into_iter().filter(|(_, rows)| !rows.is_empty()) {
        for (name, text) in report::matrices(summary.ranks, rows) {
            let path = folder.join(format!("{layer}_{name}.mat"));
            std::fs::write(&path, text).map_err(|error| cannot(&path, error))?;
            written += &format!("{}\n", path.display());
        }
    }
    Ok(Done::from(written))
}

fn read(path: &Path) -> Result<Summary, Failure> {
    let bytes = std::fs::read(path).map_err(|error| Failure::cannot(format!("{}: {error}", path.display())))?;
    report::read(&bytes).map_err(|error| Failure::cannot(format!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::TrafficRow;

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
}
