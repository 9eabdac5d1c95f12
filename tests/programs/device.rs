//! Buffers in memory of a GPU, which a stand-in for CUDA's driver library owns: once the ranks have told each other, the
//! calls on the communicator are the MPI library's, and no others; until then, copies stand for such buffers, if there is
//! something to copy with.

use crate::job::Outcome;
use crate::mpi::{Family, Launch};
use crate::report::{self, Report};
use libtest_mimic::{Failed, Trial};
use std::path::PathBuf;

const SOURCE: &str = "device_memory.c";

/// A job with the stand-in.
struct Setting {
    name: &'static str,
    /// The first rank that has it.
    first: &'static str,
    /// COLLIE_DEVICE.
    device: &'static str,
    /// COLLIE_MODE.
    mode: &'static str,
    /// COLLIE_TRANSPORT.
    transport: &'static str,
    /// Whether the stand-in can copy.
    copies: bool,
    /// Whether it is asked.
    asked: bool,
    /// Calls with device memory that a rank takes part in with copies, before the ranks tell each other.
    copied: u64,
}

const SETTINGS: [Setting; 10] = [
    setting("all_ranks", "0", "", true, true, 2),
    setting("one_rank", "2", "", true, true, 2),
    setting("no_rank", "9", "", true, false, 0),
    setting("ask", "1", "ask", true, true, 2),
    setting("host", "0", "host", true, false, 0),
    setting("native", "2", "native", true, false, 0),
    Setting { transport: "shared", ..setting("shared", "0", "", true, true, 2) },
    Setting { mode: "verify", ..setting("verify", "0", "", true, true, 0) },
    setting("foreign", "0", "", false, true, 0),
    setting("foreign_of_one_rank", "2", "", false, true, 0),
];

const fn setting(
    name: &'static str,
    first: &'static str,
    device: &'static str,
    copies: bool,
    asked: bool,
    copied: u64,
) -> Setting {
    Setting { name, first, device, mode: "replace", transport: "messages", copies, asked, copied }
}

pub fn trials(family: &'static Family) -> Vec<Trial> {
    let trial = |setting: &'static Setting| {
        Trial::test(format!("{}::device_memory::{}", family.name, setting.name), move || device_memory(family, setting))
    };
    SETTINGS.iter().map(trial).collect()
}

/// The stand-in under the name by which CUDA's is known.
fn stand_in(family: &Family, copies: bool) -> Result<PathBuf, Failed> {
    let flags = ["-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", if copies { "-DCOPIES" } else { "-DFOREIGN" }];
    let library = family.compiled("device_runtime.c", &flags)?;
    let link =
        library.with_file_name(format!("libcuda.so.{}", report::fresh().file_stem().unwrap_or_default().display()));
    std::os::unix::fs::symlink(&library, &link).map_err(|error| format!("{}: {error}", link.display()))?;
    Ok(link)
}

/// What became of the calls of one case.
struct Case<'a> {
    name: &'a str,
    /// Whether a rank had device memory in the later ones.
    claimed: bool,
    /// Calls of all ranks before that, and from then on.
    before: u64,
    after: u64,
    /// Of the latter, those of which a rank had a copy.
    copied: u64,
}

impl<'a> Case<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let (name, rest) = line.strip_prefix("case ")?.split_once(": ")?;
        let mut words = rest.split(' ');
        let claimed = words.next()? == "claimed";
        let mut number = || words.next()?.parse().ok();
        Some(Self { name, claimed, before: number()?, after: number()?, copied: number()? })
    }
}

fn device_memory(family: &Family, setting: &Setting) -> Result<(), Failed> {
    let (path, library) = (report::fresh(), stand_in(family, setting.copies)?);
    let path_text = path.display().to_string();
    let mut command = vec![
        family.program(SOURCE)?.display().to_string(),
        library.display().to_string(),
        setting.first.to_owned(),
        setting.copied.to_string(),
    ];
    // Its ranks agree before they have the stand-in, and are to ask for it all the same or not.
    let takes_late_ones = setting.device == "ask";
    if !takes_late_ones {
        command.push("not the first".to_owned());
    }
    let variables = [
        ("COLLIE_REPORT", path_text.as_str()),
        ("COLLIE_DEVICE", setting.device),
        ("COLLIE_MODE", setting.mode),
        ("COLLIE_TRANSPORT", setting.transport),
    ];
    let launch = Launch { ranks: 3, command, variables: &variables, preload: family.preload()?, others: Vec::new() };
    let outcome = family.run(&launch)?.success()?;
    std::fs::remove_file(&library).map_err(|error| format!("{}: {error}", library.display()))?;
    let report = Report::read(&path, &outcome)?;
    report.accounts_for(&outcome)?;
    if outcome.stdout.contains("was asked: yes") != setting.asked {
        return Err(format!("whether the stand-in was asked is wrong\n{}", outcome.told()).into());
    }
    let cases: Vec<_> = outcome.stdout.lines().filter_map(Case::of).collect();
    if cases.len() != 11 {
        return Err(format!("{} cases\n{}", cases.len(), outcome.told()).into());
    }
    let mut copied = 0;
    for Case { name, claimed, before, after, copied: of_case } in cases {
        let found = claimed && (name != "loaded late" || takes_late_ones);
        // All ranks make as many calls, of which some come before they tell each other.
        let left = if name == "late" && setting.copied > 0 { 0 } else { after - setting.copied * 3 };
        let (native, reason) = match setting.device {
            "" | "ask" if found => (left, "fallback: device memory"),
            "native" if name != "loaded late" => (before + after, "COLLIE_DEVICE=native"),
            _ => (0, ""),
        };
        expect(&report, &outcome, (name, of_case), before + after - native, (native, reason))?;
        copied += of_case;
    }
    if (copied > 0) != (setting.copied > 0) {
        return Err(format!("{copied} calls with copies\n{}", outcome.told()).into());
    }
    Ok(())
}

/// So many calls on the communicator are replaced, those with copies among them, so many native for that reason, and no
/// others; barriers left out.
fn expect(
    report: &Report,
    outcome: &Outcome,
    (name, with_copies): (&str, u64),
    replaced: u64,
    (native, reason): (u64, &str),
) -> Result<(), Failed> {
    let communicators = report.whole["communicators"].as_array().ok_or("no communicators")?;
    let place = communicators.iter().position(|row| row["name"] == name).ok_or_else(|| format!("no '{name}'"))?;
    let rows = report.whole["rows"].as_array().ok_or("no rows")?;
    let rows = rows.iter().filter(|row| row["communicator"] == place && row["function"] != "MPI_Barrier");
    let (mut found_replaced, mut found_native, mut found_copied) = (0, 0, 0);
    for row in rows {
        let calls = row["calls_all_ranks"].as_u64().unwrap_or_default();
        match row["algorithm"] == "native" {
            true if row["decided_by"] == reason => found_native += calls,
            // By both.
            true if row["decided_by"].as_str().is_some_and(|by| by.starts_with("mode verify")) => {
                found_replaced += calls
            }
            true => return Err(format!("{name}: native by {}\n{}", row["decided_by"], outcome.told()).into()),
            false if row["decided_by"] == "device memory, copied to the host" => found_copied += calls,
            false => found_replaced += calls,
        }
    }
    if (found_replaced + found_copied, found_copied, found_native) == (replaced, with_copies, native) {
        return Ok(());
    }
    let found = format!("{found_replaced} replaced, {found_copied} with copies, {found_native} native");
    let expected = format!("{replaced} of which {with_copies} with copies, and {native}");
    Err(format!("{name}: {found}, expected {expected}\n{}", outcome.told()).into())
}
