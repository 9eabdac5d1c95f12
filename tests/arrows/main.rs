//! Which file of `src` needs which: no circles, and between rooms (the folders of `src`) only the arrows of a table.
//!
//! Every file is read, whatever features and MPI it is for. Tests (`#[cfg(test)]`) are exempt: they stand beside what
//! they test and may look anywhere, but nothing rests on them. A `pub use` is no need of the file that it stands in:
//! whoever uses the name needs the file that defines it. Methods are looked for nowhere but in the file of their type.

mod lists;
mod modules;
mod uses;

use collie::selection::RawConfiguration;
use lists::left_out;
use modules::Modules;
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use uses::{Arrow, arrows};

/// The rooms, each with those that it may need: only such as stand before it, so that rooms need each other in no
/// circle.
///
/// Entries hand on to calls, calls rest on what is kept of communicators, and all of it on what is known of the
/// process. Services stand beside the calls, which do not know them.
const ROOMS: &[(&str, &[&str])] = &[
    ("pattern", &[]),
    ("threads", &[]),
    ("reading", &[]),
    ("writing", &[]),
    ("statistics", &[]),
    ("shared", &["writing"]),
    ("family", &[]),
    ("operation", &[]),
    ("algorithm", &["pattern", "operation"]),
    ("schedule", &["reading", "statistics", "operation"]),
    ("run", &["shared", "operation", "schedule"]),
    ("monitor", &["writing", "statistics", "operation", "run"]),
    ("mpi", &["writing", "shared", "family", "operation", "schedule", "run", "monitor"]),
    ("selection", &["reading", "operation", "algorithm", "schedule"]),
    ("trial", &["operation", "algorithm", "schedule", "monitor", "selection"]),
    ("report", &["writing", "operation", "algorithm", "schedule", "monitor", "selection"]),
    ("process", &["threads", "operation", "schedule", "monitor", "mpi", "selection"]),
    ("communicator", &["shared", "operation", "schedule", "run", "monitor", "mpi", "selection", "process"]),
    (
        "call",
        &[
            "threads",
            "shared",
            "operation",
            "schedule",
            "run",
            "monitor",
            "mpi",
            "selection",
            "trial",
            "process",
            "communicator",
        ],
    ),
    (
        "service",
        &[
            "operation",
            "algorithm",
            "schedule",
            "run",
            "monitor",
            "mpi",
            "selection",
            "trial",
            "report",
            "process",
            "communicator",
            "call",
        ],
    ),
    ("entry", &["operation", "monitor", "mpi", "selection", "process", "communicator", "call", "service"]),
    (
        "bench",
        &[
            "reading",
            "statistics",
            "operation",
            "algorithm",
            "schedule",
            "monitor",
            "mpi",
            "selection",
            "trial",
            "report",
            "entry",
        ],
    ),
    ("fit", &["operation", "schedule", "mpi", "selection", "bench"]),
    (
        "cli",
        &[
            "reading",
            "statistics",
            "family",
            "operation",
            "algorithm",
            "schedule",
            "monitor",
            "selection",
            "trial",
            "report",
            "bench",
            "fit",
        ],
    ),
    ("bin", &["bench", "fit", "cli"]),
];

/// Files that may ask which family of MPI they are compiled for: the one that says what the families differ in, and the
/// entries, where it decides which symbols there are.
fn may_ask_for_the_family(file: &str) -> bool {
    file == "mpi/family.rs" || file.starts_with("entry/")
}

fn sources() -> BTreeMap<String, String> {
    fn read(folder: &Path, name: &str, sources: &mut BTreeMap<String, String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = format!("{name}{}", path.file_name().unwrap().to_str().unwrap());
            if path.is_dir() {
                read(&path, &format!("{name}/"), sources);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                sources.insert(name, std::fs::read_to_string(path).unwrap());
            }
        }
    }
    let mut sources = BTreeMap::new();
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "", &mut sources);
    sources
}

/// The room that a file is in.
fn room(file: &str) -> &str {
    file.split_once('/').map_or(file.trim_end_matches(".rs"), |(room, _)| room)
}

/// The circles, one line for each arrow of one; empty if there is none.
fn circles(arrows: &[Arrow]) -> String {
    let mut graph: DiGraphMap<&str, ()> = DiGraphMap::new();
    for arrow in arrows {
        graph.add_edge(arrow.from.as_str(), arrow.to.as_str(), ());
    }
    let mut text = String::new();
    for circle in tarjan_scc(&graph).into_iter().filter(|component| component.len() > 1) {
        _ = writeln!(text, "a circle of {} files:", circle.len());
        let within = |file: &String| circle.contains(&file.as_str());
        for arrow in arrows.iter().filter(|arrow| within(&arrow.from) && within(&arrow.to)) {
            _ = writeln!(text, "  {arrow}");
        }
    }
    text
}

/// The arrows between rooms that are not in the table, and rows of the table that nothing needs.
fn strays(arrows: &[Arrow], table: &[(&str, &[&str])]) -> String {
    let mut text = String::new();
    for arrow in arrows {
        let (from, to) = (room(&arrow.from), room(&arrow.to));
        let allowed = table.iter().any(|(room, needs)| *room == from && needs.contains(&to));
        if from != to && !allowed {
            _ = writeln!(text, "{from} may not need {to}: {arrow}");
        }
    }
    for (from, needs) in table {
        for to in *needs {
            if !arrows.iter().any(|arrow| room(&arrow.from) == *from && room(&arrow.to) == *to) {
                _ = writeln!(text, "nothing in {from} needs {to}; take it out of the table");
            }
        }
    }
    text
}

#[test]
fn files_need_each_other_in_no_circle() {
    let found = circles(&arrows(&Modules::of(&sources())));
    assert!(found.is_empty(), "{found}");
}

#[test]
fn rooms_need_what_they_may() {
    let found = strays(&arrows(&Modules::of(&sources())), ROOMS);
    assert!(found.is_empty(), "{found}");
}

#[test]
fn rooms_stand_in_order() {
    for (place, (room, needs)) in ROOMS.iter().enumerate() {
        let before = |need: &&str| ROOMS[..place].iter().any(|(other, _)| other == need);
        assert!(needs.iter().all(before), "{room} needs a room that does not stand before it");
    }
    let sources = sources();
    let missing =
        sources.keys().filter(|file| **file != "lib.rs" && !ROOMS.iter().any(|(name, _)| *name == room(file)));
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<&String>::new(), "in no room of the table");
}

#[test]
fn the_family_of_the_mpi_matters_where_it_may() {
    let sources = sources();
    let asking = sources.iter().filter(|(file, text)| text.contains("mpi_family") && !may_ask_for_the_family(file));
    assert_eq!(asking.map(|(file, _)| file).collect::<Vec<_>>(), Vec::<&String>::new());
    assert!(sources["mpi/family.rs"].contains("mpi_family"));
}

/// What `COLLIE_LOG` may name.
#[test]
fn rooms_that_log_can_be_asked_for_more() {
    let macros = ["error", "warn", "info", "debug", "trace", "log"].map(|level| format!("log::{level}!("));
    let sources = sources();
    let logging = sources.iter().filter(|(_, text)| macros.iter().any(|name| text.contains(name)));
    let rooms: BTreeSet<&str> = logging.map(|(file, _)| room(file)).collect();
    let accepts = |room: &str| {
        let variables = vec![("COLLIE_LOG".to_owned(), format!("collie::{room}=trace"))];
        RawConfiguration { variables, ..RawConfiguration::default() }.parse().is_ok()
    };
    assert!(rooms.len() > 3 && !accepts("nosuch"), "{rooms:?}");
    let refused: Vec<_> = rooms.into_iter().filter(|room| !accepts(room)).collect();
    assert!(refused.is_empty(), "COLLIE_LOG refuses {refused:?}");
}

#[test]
fn lists_of_modules_leave_none_out() {
    let sources = sources();
    let found: Vec<String> = sources
        .iter()
        .flat_map(|(file, text)| {
            left_out(text).into_iter().map(move |name| format!("{file} lists modules, not `{name}`"))
        })
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// A tree of made-up files.
fn made_up(files: &[(&str, &str)]) -> Vec<Arrow> {
    let sources = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    arrows(&Modules::of(&sources))
}

/// The arrows, without what they are there for.
fn pairs(arrows: &[Arrow]) -> Vec<(&str, &str)> {
    arrows.iter().map(|arrow| (arrow.from.as_str(), arrow.to.as_str())).collect()
}

#[test]
fn a_circle_is_found() {
    let arrows = made_up(&[
        ("lib.rs", "mod call; mod process;"),
        ("call/mod.rs", "mod play; pub use play::play;"),
        ("call/play.rs", "use crate::process::Process; pub fn play(_: Process) {}"),
        ("process.rs", "pub struct Process; fn start() { println!(\"{:?}\", crate::call::play(Process)); }"),
    ]);
    assert_eq!(
        circles(&arrows),
        "a circle of 2 files:\n  call/play.rs -> process.rs: crate::process::Process\n  \
         process.rs -> call/play.rs: crate::call::play\n"
    );
    let table: &[(&str, &[&str])] = &[("call", &["process", "threads"])];
    assert_eq!(
        strays(&arrows, table),
        "process may not need call: process.rs -> call/play.rs: crate::call::play\n\
         nothing in call needs threads; take it out of the table\n"
    );
}

#[test]
fn names_are_followed_to_the_files_that_define_them() {
    let arrows = made_up(&[
        ("lib.rs", "pub mod a; mod b; pub use b::outer as reached;"),
        ("a/mod.rs", "mod deep; mod other; pub use self::deep::*; use other::helper; fn f() { helper(); }"),
        ("a/deep.rs", "pub struct Deep; macro_rules! made { () => {}; } pub(crate) use made;"),
        // Through a name for a module, out of an inline module, and in the arguments of a macro.
        (
            "a/other.rs",
            "use crate::reached; mod inner { use super::super::Deep; } pub fn helper() { vec![reached::X]; }",
        ),
        ("b/mod.rs", "pub mod outer;"),
        ("b/outer.rs", "pub const X: u8 = 0; use log::warn; #[cfg(feature = \"x\")] use crate::a::made;"),
    ]);
    let expected = [
        ("a/mod.rs", "a/other.rs"),
        ("a/other.rs", "a/deep.rs"),
        ("a/other.rs", "b/outer.rs"),
        ("b/outer.rs", "a/deep.rs"),
    ];
    assert_eq!(pairs(&arrows), expected);
    assert!(circles(&arrows).is_empty());
}

#[test]
fn tests_are_exempt() {
    let arrows = made_up(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "pub struct A; #[cfg(test)] mod tests { use crate::b::B; } #[cfg(all(test, unix))] mod more;"),
        ("a/more.rs", "use crate::b::B;"),
        ("b.rs", "use crate::a::A; pub struct B(A); #[test] fn f() { crate::a::more(); }"),
    ]);
    assert_eq!(pairs(&arrows), [("b.rs", "a.rs")]);
}
