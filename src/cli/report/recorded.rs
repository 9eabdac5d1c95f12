//! Recorded reports: one of all ranks, or those of single ranks, which are merged.

use super::super::Failure;
use super::super::visible::visible;
use crate::monitor::{RankRecord, Summary};
use crate::reading;
use crate::report;
use crate::report::several;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The report that the paths hold: a file of one, or files of single ranks of a job and folders of them.
///
/// # Errors
/// What cannot be read, what is no report, and reports that do not belong together.
pub fn read_all(paths: &[PathBuf]) -> Result<Summary, Failure> {
    if let [path] = paths
        && !path.is_dir()
    {
        return read(path);
    }
    let mut of_ranks: Vec<(PathBuf, RankRecord)> = Vec::new();
    let mut of_all: Vec<(PathBuf, Summary)> = Vec::new();
    let mut left_out = 0;
    for path in paths {
        let (files, is_named) = if path.is_dir() { (reports_in(path)?, false) } else { (vec![path.clone()], true) };
        for file in files {
            match read(&file).and_then(|summary| Ok((unpacked(&file, &summary)?, summary))) {
                Ok((Some(record), _)) => of_ranks.push((file, record)),
                Ok((None, summary)) if is_named => return Err(not_of_a_rank(&file, &summary)),
                Ok((None, summary)) => of_all.push((file, summary)),
                Err(failure) if is_named => return Err(failure),
                // A folder may hold other JSON, or a damaged report: its ranks are told to be missing, and why here.
                Err(failure) => {
                    eprintln!("collie: left out {}", visible(&failure.message));
                    left_out += 1;
                }
            }
        }
    }
    let names = paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
    match (of_ranks.is_empty(), of_all.len()) {
        (false, 0) => merged(of_ranks),
        (false, _) => Err(Failure::cannot(format!(
            "{names}: reports of single ranks, such as {}, beside a report of all ranks; name that one, or those: {}",
            of_ranks[0].0.display(),
            of_all[0].0.display()
        ))),
        (true, 1) => Ok(of_all.remove(0).1),
        (true, 0) if left_out > 0 => {
            let files = several(left_out, "file");
            Err(Failure::cannot(format!("{names}: no report found: {files} left out, see above")))
        }
        (true, 0) => Err(Failure::cannot(format!("{names}: no report found; reports end in .json"))),
        (true, number) => {
            let files = of_all.iter().map(|(file, _)| file.display().to_string()).collect::<Vec<_>>().join(", ");
            Err(Failure::cannot(format!("{names}: {number} reports of all ranks; name one of them: {files}")))
        }
    }
}

/// One report.
///
/// # Errors
/// It cannot be read, or is none.
pub fn read(path: &Path) -> Result<Summary, Failure> {
    let bytes = reading::bytes(path).map_err(|error| Failure::cannot(format!("{}: {error}", path.display())))?;
    report::read(&bytes).map_err(|error| Failure::cannot(format!("{}: {error}", path.display())))
}

fn reports_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let cannot = |error| Failure::cannot(format!("{}: {error}", folder.display()));
    let entries = std::fs::read_dir(folder).map_err(cannot)?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|ending| ending == "json")).collect();
    paths.sort();
    Ok(paths)
}

/// The record of a single rank, if the report is of one.
fn unpacked(file: &Path, summary: &Summary) -> Result<Option<RankRecord>, Failure> {
    let record = summary.record.as_deref().map(RankRecord::from_text).transpose();
    record.map_err(|error| Failure::cannot(format!("{}: {error}", file.display())))
}

fn not_of_a_rank(file: &Path, summary: &Summary) -> Failure {
    let what = match &summary.partial {
        None => "a report of all ranks".to_owned(),
        Some(_) => format!("a report of {} of {} ranks together", summary.per_rank.len(), summary.ranks),
    };
    Failure::cannot(format!("{}: this is {what}; only reports of single ranks can be merged", file.display()))
}

fn merged(records: Vec<(PathBuf, RankRecord)>) -> Result<Summary, Failure> {
    let mut jobs: BTreeMap<String, Vec<(PathBuf, RankRecord)>> = BTreeMap::new();
    for (file, record) in records {
        let id = record.job.as_ref().map(|job| job.id.clone()).unwrap_or_default();
        jobs.entry(id).or_default().push((file, record));
    }
    if jobs.len() > 1 {
        let words = jobs.values().map(|files| {
            let command = files[0].1.job.as_ref().map_or("", |job| job.command.as_str());
            let more = match files.len() - 1 {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("\n  {command}: {}{more}", files[0].0.display())
        });
        return Err(Failure::cannot(format!(
            "these are ranks of {} jobs; name the files of one:{}",
            jobs.len(),
            words.collect::<String>()
        )));
    }
    Ok(report::recover(jobs.into_values().flatten().map(|(_, record)| record).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::{JobRecord, merge};
    use crate::report::Layout;
    use crate::selection::ReportFormat;

    fn write(path: &Path, summary: &Summary) {
        std::fs::write(path, report::render(ReportFormat::Json, summary, &Layout::FILE)).unwrap();
    }

    fn rank(rank: u32, id: &str) -> Summary {
        let job = Some(JobRecord { ranks: 4, id: id.into(), command: format!("./{id}"), ..JobRecord::default() });
        let record = RankRecord { rank, run_ns: 1_000_000_000, job, ..RankRecord::default() };
        let text = record.to_text();
        Summary { partial: Some("alone".into()), record: Some(text), ..merge(vec![record]) }
    }

    #[test]
    fn ranks_of_a_folder_become_one_report() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("other.json"), "[]").unwrap();
        let nothing = read_all(&[folder.path().into()]).unwrap_err().message;
        assert!(nothing.contains("no report found"), "{nothing}");
        write(&at("run.json"), &merge(Vec::new()));
        assert_eq!(read_all(&[folder.path().into()]).unwrap().ranks, 0, "the only report");
        write(&at("run.rank1.json"), &rank(1, "a"));
        write(&at("run.rank3.json"), &rank(3, "a"));
        let is_of_both = |paths: &[PathBuf]| {
            let summary = read_all(paths).unwrap();
            (summary.per_rank.len(), summary.missing) == (2, vec![0, 2])
        };
        assert!(is_of_both(&[at("run.rank1.json"), at("run.rank3.json")]));
        assert_eq!(read_all(&[at("run.rank1.json")]).unwrap().partial.unwrap(), "alone");
        let mixed = read_all(&[at("run.rank1.json"), at("run.json")]).unwrap_err().message;
        assert!(mixed.contains("run.json: this is a report of all ranks"), "{mixed}");
        let beside = read_all(&[folder.path().into()]).unwrap_err().message;
        assert!(beside.contains("such as ") && beside.ends_with("run.json"), "{beside}");
        std::fs::remove_file(at("run.json")).unwrap();
        assert!(is_of_both(&[folder.path().into()]));
        write(&at("second.rank0.json"), &rank(0, "b"));
        let two = read_all(&[folder.path().into()]).unwrap_err().message;
        assert!(two.contains("ranks of 2 jobs") && two.contains("./b: ") && two.contains("and 1 more"), "{two}");
    }

    #[test]
    fn records_of_another_version_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("run.rank1.json"), folder.path().join("run.rank2.json"));
        write(&other, &rank(2, "a"));
        let refused = |record: String| {
            write(&path, &Summary { record: Some(record), ..rank(1, "a") });
            read_all(&[other.clone(), path.clone()]).unwrap_err().message
        };
        let message = refused(data_encoding::BASE64.encode(b"1 0.0.1\nrest"));
        assert!(message.contains("run.rank1.json") && message.contains("by Collie 0.0.1, with layout 1"), "{message}");
        let message = refused("?".to_owned());
        assert!(message.contains("by something else"), "{message}");
    }

    #[test]
    fn a_damaged_record_costs_its_own_rank_only() {
        let folder = tempfile::tempdir().unwrap();
        let (whole, damaged) = (folder.path().join("rank0.json"), folder.path().join("rank1.json"));
        write(&whole, &rank(0, "a"));
        let record = data_encoding::BASE64.decode(rank(1, "a").record.unwrap().as_bytes()).unwrap();
        let record = data_encoding::BASE64.encode(&record[..record.len() / 2]);
        write(&damaged, &Summary { record: Some(record), ..rank(1, "a") });
        let summary = read_all(&[folder.path().into()]).unwrap();
        assert_eq!((summary.per_rank.len(), summary.missing), (1, vec![1, 2, 3]));
        let message = read_all(&[whole.clone(), damaged]).unwrap_err().message;
        assert!(message.contains("rank1.json: "), "named by the user: {message}");
        std::fs::remove_file(whole).unwrap();
        let message = read_all(&[folder.path().into()]).unwrap_err().message;
        assert!(message.ends_with("no report found: 1 file left out, see above"), "{message}");
    }
}
