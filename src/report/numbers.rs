//! Names beside those that another job's files have.

use std::path::{Path, PathBuf};

/// `report.json` is `report.2.json` for the second job; the first one's names are as they are.
pub fn numbered(path: &Path, job: u32) -> PathBuf {
    if job <= 1 { path.to_owned() } else { with_word(path, &job.to_string()) }
}

/// `report.json` with the word `rank3` is `report.rank3.json`.
pub fn with_word(path: &Path, word: &str) -> PathBuf {
    match path.extension() {
        Some(ending) => path.with_extension(format!("{word}.{}", ending.to_string_lossy())),
        None => path.with_extension(word),
    }
}

/// The number of the first job that would overwrite none of the files, nor what single ranks of a job before wrote in their
/// place.
pub fn free(paths: &[PathBuf]) -> u32 {
    (1..u32::MAX).find(|job| paths.iter().all(|path| !is_taken(&numbered(path, *job)))).unwrap_or(u32::MAX)
}

/// The same for one file while the job runs: what single ranks have written may be its own.
pub fn free_of_files(path: &Path) -> u32 {
    (1..u32::MAX).find(|job| !holds_something(&numbered(path, *job))).unwrap_or(u32::MAX)
}

/// Whether something would be lost. Empty files, as `mktemp` makes them, and empty folders are there to be written to; so are
/// pipes and devices.
fn holds_something(path: &Path) -> bool {
    let Ok(found) = std::fs::metadata(path) else { return false };
    match found.is_dir() {
        true => std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some()),
        false => found.is_file() && found.len() > 0,
    }
}

fn is_taken(path: &Path) -> bool {
    if holds_something(path) {
        return true;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (Some(stem), ending) = (path.file_stem(), path.extension().unwrap_or_default()) else { return false };
    let (beginning, ending) = (format!("{}.rank", stem.to_string_lossy()), ending.to_string_lossy());
    let of_a_rank = |name: &str| {
        let rest = name.strip_prefix(&beginning).and_then(|rest| rest.strip_suffix(&*ending));
        rest.is_some_and(|rest| rest.trim_end_matches('.').parse::<u32>().is_ok())
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| of_a_rank(&entry.file_name().to_string_lossy()) && holds_something(&entry.path()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_with_which_nothing_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let paths = [at("run.json"), at("run.html"), at("run.checkpoint"), "/dev/null".into()];
        std::fs::create_dir(&paths[2]).unwrap();
        let mut expected = 1;
        for (name, content, taken) in [
            ("run.json", "", false),
            ("run.rankless.json", "other", false),
            ("run.html", "a page", true),
            ("run.2.rank3.json", "of a rank", true),
            ("run.4.json", "later", false),
            ("run.3.json", "third", true),
        ] {
            std::fs::write(at(name), content).unwrap();
            expected = if name == "run.3.json" { 5 } else { expected + u32::from(taken) };
            assert_eq!(free(&paths), expected, "{name}");
        }
        assert_eq!(free_of_files(&paths[0]), 1, "an empty one");
        assert_eq!(free_of_files(&paths[1]), 2);
        assert_eq!(free_of_files(&at("run.2.json")), 1, "with one of a rank");
        std::fs::create_dir(at("run.5.checkpoint")).unwrap();
        assert_eq!(free(&paths), 5, "an empty folder");
        std::fs::write(at("run.5.checkpoint/rank0.json"), "of a rank").unwrap();
        assert_eq!(free(&paths), 6);
        assert_eq!(numbered(&paths[0], 5), at("run.5.json"));
        assert_eq!(numbered(&paths[0], 1), paths[0]);
        assert_eq!(numbered(Path::new("trace"), 2), Path::new("trace.2"));
    }
}
