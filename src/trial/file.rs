//! What was learned, in a file for the runs to come (`COLLIE_LEARN`): evidence above the rules that follow from it.
//!
//! A line of evidence is the row of the report, with the machine, the MPI library and the day. A run takes what is of
//! its machine and its MPI library; where somebody has edited the rule, the rule decides instead. As a rules file
//! (`COLLIE_RULES`) it holds everywhere.

use super::cell::{Cell, CommunicatorShape};
use crate::monitor::LearnedRow;
use crate::selection::{LearnFile, LearnedRules, MARK};
use serde::{Deserialize, Serialize};

/// What was learned of one kind of call, and where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Processor of the node of rank 0, and its cores.
    pub machine: String,
    /// The MPI library's own version text.
    pub mpi: String,
    /// The last day on which it was learned.
    pub date: String,
    /// What was learned.
    #[serde(flatten)]
    pub row: LearnedRow,
}

impl Evidence {
    /// Whether the other is of the same calls in the same place.
    fn is_of_same(&self, other: &Self) -> bool {
        let of = |of: &Self| {
            let LearnedRow { bytes_from, units_per_rank, ranks, nodes, most_on_node, .. } = of.row;
            let place = (ranks, nodes, most_on_node, of.row.oversubscribed, of.row.shared_memory);
            (bytes_from, (of.row.commutative, of.row.reduce_local), units_per_rank, place)
        };
        of(self) == of(other)
            && self.row.function == other.row.function
            && self.machine == other.machine
            && self.mpi == other.mpi
    }

    /// Takes in what a later run has learned: its times, and the calls of both. One that has measured nothing knows
    /// only what it has read, which another job may have found to be otherwise since: its calls count.
    fn add(&mut self, later: Self) {
        let other = if later.row.from_earlier_runs { later } else { std::mem::replace(self, later) };
        self.row.calls = self.row.calls.saturating_add(other.row.calls);
        for tried in other.row.candidates {
            match self.row.candidates.iter_mut().find(|known| known.algorithm == tried.algorithm) {
                Some(known) => {
                    known.calls = known.calls.saturating_add(tried.calls);
                    known.seconds = known.seconds.or(tried.seconds);
                }
                None => self.row.candidates.push(tried),
            }
        }
    }

    /// Whether it is of this kind of call on communicators of this shape.
    pub fn is_of(&self, shape: &CommunicatorShape, cell: &Cell) -> bool {
        let LearnedRow { bytes_from, commutative, reduce_local, units_per_rank, .. } = self.row;
        let LearnedRow { ranks, nodes, most_on_node, oversubscribed, shared_memory, .. } = self.row;
        *shape == CommunicatorShape { ranks, nodes, most_on_node, oversubscribed, shared_memory }
            && self.row.function == cell.operation.row().mpi_name
            && (bytes_from, units_per_rank) == (cell.bucket.first(), cell.units_per_rank)
            && (commutative, reduce_local) == (cell.commutative, cell.reduce_local)
    }

    /// What a line says; `None` if no run has written it.
    pub(super) fn read(line: &str) -> Option<Self> {
        serde_json::from_str(line.trim_start_matches('\u{feff}').trim().strip_prefix(MARK)?).ok()
    }

    /// As a line.
    fn written(&self) -> String {
        format!("{MARK} {}", serde_json::to_string(self).expect("numbers and texts can be written"))
    }
}

/// The evidence of a file that counts in the place where it was read.
pub fn read_here(file: &LearnFile) -> Vec<Evidence> {
    let mut all = read(&file.text);
    all.retain(|evidence| evidence.machine == file.machine && evidence.mpi == file.mpi);
    all
}

/// The evidence of a file, but for rules that somebody has edited.
fn read(text: &str) -> Vec<Evidence> {
    LearnedRules::read(text).iter().flat_map(|rule| rule.evidence()).filter_map(Evidence::read).collect()
}

/// The text of a file that had `before` in it and to which a run adds what it has learned. What people wrote stays as
/// it is.
pub fn merged(before: &str, learned: impl IntoIterator<Item = Evidence>) -> String {
    let mut file = LearnedRules::read(before);
    file.join();
    // What several communicators have learned of the same calls counts as one.
    let mut found: Vec<Evidence> = Vec::new();
    for learned in learned {
        match found.iter_mut().find(|known| known.is_of_same(&learned)) {
            Some(known) => known.add(learned),
            None => found.push(learned),
        }
    }
    file.replace(|line| {
        let mut known = Evidence::read(line)?;
        let place = found.iter().position(|learned| known.is_of_same(learned))?;
        known.add(found.remove(place));
        Some(known.written())
    });
    // What a run has only read, and somebody has taken out since, stays out.
    let measured = found.iter().filter(|learned| !learned.row.from_earlier_runs);
    measured.for_each(|learned| file.add(&learned.written()));
    file.to_string()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::algorithm::{Call, Operation, SharedMemory};
    use crate::monitor::{Bucket, TriedRow};
    use crate::selection::{By, Configuration, Decided, Mode, Purpose, Situation, decide, never_used, parse_rules};
    use std::sync::Arc;

    const MACHINE: &str = "a processor, 2 cores";
    const MPI: &str = "An MPI 1.2";

    /// An allreduce of doubles among four ranks was learned: `algorithm` won.
    pub fn evidence(algorithm: &str, bytes_from: u64, calls: u64) -> Evidence {
        let tried = |algorithm: &str, seconds| TriedRow { algorithm: algorithm.to_owned(), calls, seconds };
        Evidence {
            machine: MACHINE.into(),
            mpi: MPI.into(),
            date: "2026-11-22".into(),
            row: LearnedRow {
                function: "MPI_Allreduce".into(),
                bytes_from,
                bytes_to: 2 * bytes_from - 1,
                commutative: true,
                reduce_local: false,
                units_per_rank: 4,
                ranks: 4,
                nodes: 1,
                most_on_node: 4,
                algorithm: algorithm.into(),
                won: true,
                calls,
                candidates: vec![tried("ring", Some(2e-6)), tried("native", None)],
                ..LearnedRow::default()
            },
        }
    }

    fn situation(ranks: usize) -> Situation {
        Situation::plain(ranks)
    }

    fn of_file(text: &str, mpi: &str) -> LearnFile {
        LearnFile::new("site.rules", text, [MACHINE.into(), mpi.into()])
            .unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    /// Who decides an allreduce of so many bytes among four ranks in mode `learn`: a line of the file, if any.
    fn line_that_decides(text: &str, bytes: usize) -> Option<u32> {
        let learn = Some(Arc::new(of_file(text, MPI)));
        let configuration = Configuration { mode: Mode::Learn, learn, ..Configuration::default() };
        let call = Call::plain(Operation::Allreduce, bytes, 1);
        let (Decided::Ours { by, .. } | Decided::Native { by }) = decide(&configuration, &situation(4), &call);
        match by.by {
            By::Rule { line, .. } => Some(line),
            _ => None,
        }
    }

    #[test]
    fn what_is_written_is_read_and_is_a_rules_file() {
        let learned = [evidence("native", 4096, 10), evidence("ring", 64, 7)];
        let text = merged("", learned.clone());
        assert_eq!(read(&text), [learned[1].clone(), learned[0].clone()]);
        let parsed = parse_rules("learned.rules", &text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        assert_eq!(parsed.iter().count(), 2);
    }

    #[test]
    fn what_was_learned_over_one_transport_says_nothing_about_another() {
        let messages = evidence("ring", 64, 7);
        let mut shared = evidence("shared_slices", 64, 5);
        shared.row.shared_memory = true;
        let text = merged(&merged("", [shared.clone()]), [messages.clone()]);
        assert_eq!(read(&text), [messages, shared]);
        let rules = parse_rules("learned.rules", &text).unwrap();
        for (shared, algorithm) in [(None, "ring"), (Some(SharedMemory::PLAIN), "shared_slices")] {
            let call = Call { shared, ..Call::plain(Operation::Allreduce, 12, 8) };
            let rule = rules.first(&situation(4), &call).unwrap();
            assert!(rule.wanted.to_string().starts_with(algorithm), "{rule}\n{text}");
        }
    }

    #[test]
    fn what_was_learned_of_local_reductions_says_nothing_about_others_and_stands_above_them() {
        let by_kernel = evidence("ring", 64, 7);
        let mut locally = evidence("native", 64, 5);
        locally.row.reduce_local = true;
        let text = merged(&merged("", [by_kernel.clone()]), [locally.clone()]);
        assert_eq!(read(&text), [locally.clone(), by_kernel.clone()]);
        let elsewhere = Evidence { mpi: "A library that comes first".to_owned(), ..by_kernel.clone() };
        for all in [[elsewhere.clone(), locally.clone()], [locally.clone(), elsewhere]] {
            let text = all.into_iter().fold(String::new(), |text, more| merged(&text, [more]));
            assert!(never_used(&parse_rules("learned.rules", &text).unwrap(), Purpose::Rules).is_empty(), "{text}");
        }
        let rules = parse_rules("learned.rules", &text).unwrap();
        assert!(never_used(&rules, Purpose::Rules).is_empty());
        let shape = CommunicatorShape::of(&situation(4), &[], false);
        for (reduce_local, algorithm, learned) in [(false, "ring", by_kernel), (true, "native", locally)] {
            let call = Call { reduce_local, ..Call::plain(Operation::Allreduce, 12, 8) };
            let rule = rules.first(&situation(4), &call).unwrap();
            assert_eq!(rule.wanted.to_string(), algorithm, "{text}");
            let of = Call { count: 32, ..call };
            assert!(learned.is_of(&shape, &Cell { bucket: Bucket::of(64), ..Cell::of(&of, 4) }));
            let other = Call { reduce_local: !reduce_local, ..of };
            assert!(!learned.is_of(&shape, &Cell { bucket: Bucket::of(64), ..Cell::of(&other, 4) }));
        }
    }

    #[test]
    fn runs_add_to_one_another_where_they_were() {
        let first = merged("bcast 4 8 native\n", [evidence("ring", 64, 7)]);
        let second = merged(&first, [evidence("native", 64, 5), evidence("ring", 128, 1)]);
        let found = read(&second);
        assert_eq!((found.len(), found[0].row.calls, found[0].row.algorithm.as_str()), (2, 12, "native"));
        assert_eq!(found[0].row.candidates[0].calls, 12);
        assert!(second.starts_with("bcast 4 8 native\n"), "a rule without evidence stays:\n{second}");
        assert_eq!(parse_rules("x", &second).unwrap().of(Operation::Allreduce)[0].wanted.to_string(), "native");
        let here = |mpi| read_here(&of_file(&second, mpi)).len();
        assert_eq!((here(MPI), here("An MPI 1.3")), (2, 0));
    }

    #[test]
    fn a_run_that_has_measured_nothing_changes_nothing_but_the_number_of_calls() {
        let mut read_only = evidence("ring", 64, 7);
        read_only.row.from_earlier_runs = true;
        read_only.date = "2026-11-25".into();
        let since = Evidence { date: "2026-11-24".into(), ..evidence("native", 64, 5) };
        let text = merged("", [since.clone()]);
        let found = read(&merged(&text, [read_only.clone()]));
        let [found] = &found[..] else { panic!("one kind of call: {found:?}") };
        assert_eq!((found.row.algorithm.as_str(), &found.date, found.row.calls), ("native", &since.date, 12));
        let seconds = |of: &Evidence| of.row.candidates.iter().map(|tried| tried.seconds).collect::<Vec<_>>();
        assert_eq!(seconds(found), seconds(&since));
        assert!(!found.row.from_earlier_runs);
        assert_eq!(read(&merged("", [read_only])), [], "what was taken out of the file stays out");
    }

    /// Comments of all places, a rule without evidence, one whose evidence another release may have written, and a last
    /// line without an end.
    #[test]
    fn what_people_wrote_stays_as_it_is() {
        let text = merged("", [evidence("ring", 64, 7), evidence("ring", 256, 7)]);
        let (above, rule) = text.split_once("#: ").unwrap();
        let mine = "# mine, of the file\n\n# mine, of the rule\n";
        let unknown = "#: {\"machine\":\"another\",\"new\":1}\nallreduce   8  512-4K  ring # why\n";
        let text = format!("{mine}{above}{unknown}#: {}\n# the end", rule.replacen(" if", "  if", 1).trim_end());
        for text in [text.clone(), text.replace('\n', "\r\n"), format!("\u{feff}{text}")] {
            assert_eq!(merged(&text, []), text);
            let more = merged(&text, [evidence("native", 128, 1), evidence("ring", 1024, 3)]);
            let mut left = more.split_inclusive('\n');
            for line in text.split_inclusive('\n') {
                let is_it = |other: &str| other.trim_end() == line.trim_end();
                assert!(left.by_ref().any(is_it), "{line:?} is not where it was:\n{more}");
            }
            assert_eq!(read(&more).iter().map(|known| known.row.bytes_from).collect::<Vec<_>>(), [64, 128, 256, 1024]);
            assert_eq!(merged(&more, []), more);
            assert_eq!(
                more.matches('\n').count(),
                more.matches(if text.contains('\r') { "\r\n" } else { "\n" }).count()
            );
        }
    }

    #[test]
    fn an_edited_rule_decides_what_it_matches_and_nobody_changes_it() {
        let text = merged("", [evidence("ring", 512, 7), evidence("ring", 4096, 7)]);
        assert_eq!(line_that_decides(&text, 600), None);
        let edited = text.replacen(" 512-1023 ", " 512-4K ", 1);
        assert_ne!(edited, text);
        let lines = [400, 600, 3000, 4096, 4097].map(|bytes| line_that_decides(&edited, bytes));
        assert_eq!(lines, [None, Some(5), Some(5), Some(5), None], "{edited}");
        // Its evidence is of what it was; what a run learns of the rest stands below it.
        assert_eq!(read(&edited).len(), 1);
        let more = merged(&edited, [evidence("native", 512, 9), evidence("native", 4096, 8)]);
        assert!(more.contains(&edited[..edited.find(" 512-4K ").unwrap()]), "{more}");
        assert_eq!(line_that_decides(&more, 600), Some(5), "{more}");
        assert_eq!(read(&more).iter().map(|known| known.row.calls).collect::<Vec<_>>(), [9, 15]);
        assert_eq!(merged(&more, []), more);
        // The same of another algorithm or other conditions, but elsewhere it says nothing.
        for edited in [text.replacen(" ring if", " rabenseifner if", 1), text.replacen(" if one_node and", " if", 1)] {
            assert_eq!(line_that_decides(&edited, 600), Some(5));
            assert!(of_file(&edited, "An MPI 1.3").edited.iter().next().is_none());
        }
    }

    #[test]
    fn placements_between_nodes_are_told_apart() {
        let between = |algorithm: &str, nodes, most_on_node| {
            let mut learned = evidence(algorithm, 64, 7);
            learned.row = LearnedRow { ranks: 8, nodes, most_on_node, ..learned.row };
            learned
        };
        let text = merged("", [between("ring", 8, 1), between("native", 4, 2)]);
        let rules = parse_rules("learned.rules", &text).unwrap();
        for (nodes, algorithm) in [([0, 1, 2, 3, 4, 5, 6, 7], "ring"), ([0, 0, 1, 1, 2, 2, 3, 3], "native")] {
            let call = Call { nodes: &nodes, ..Call::plain(Operation::Allreduce, 12, 8) };
            let rule = rules.first(&situation(8).on(&nodes), &call).unwrap();
            assert_eq!(rule.wanted.to_string(), algorithm, "{text}");
        }
        // One that was written without them was edited by nobody, and gets them when its evidence changes.
        let old = merged("", [between("ring", 8, 1)]);
        let old = old.replace(" and ranks_per_node=1", "");
        assert_eq!((read(&old).len(), merged(&old, [])), (1, old.clone()));
        let new = merged(&old, [between("native", 8, 1)]);
        assert_eq!(read(&new).iter().map(|known| known.row.calls).collect::<Vec<_>>(), [14]);
        assert!(new.contains(" native if several_nodes and ranks_per_node=1 and "), "{new}");
    }

    #[test]
    fn kinds_that_rules_do_not_tell_apart_share_one() {
        let double = |algorithm, calls| {
            let mut few = evidence(algorithm, 8, calls);
            few.row.units_per_rank = 0;
            few
        };
        let [few, many] = [double("native", 10), evidence("ring", 8, 7)];
        let text = merged("", [few.clone(), many.clone()]);
        assert_eq!(read(&text), [few.clone(), many.clone()]);
        let rules = parse_rules("x", &text).unwrap();
        assert_eq!((rules.iter().count(), never_used(&rules, Purpose::Rules)), (1, vec![]));
        assert_eq!(rules.of(Operation::Allreduce)[0].wanted.to_string(), "native", "that of most calls");
        let more = merged(&text, [evidence("ring", 8, 4)]);
        assert_eq!(parse_rules("x", &more).unwrap().of(Operation::Allreduce)[0].wanted.to_string(), "ring");
        // Files in which each had its own become such.
        let own = merged("", [few]) + "# mine\n" + merged("", [many]).split_once("\n\n").unwrap().1;
        let joined = merged(&own, []);
        assert_eq!(joined, text.clone() + "# mine\n");
        assert_eq!(merged(&joined, []), joined);
    }

    #[test]
    fn where_a_rule_was_taken_away_its_evidence_says_nothing_about_the_next() {
        let text = merged("", [evidence("ring", 64, 7), evidence("ring", 256, 7)]);
        let rule = text.lines().find(|line| line.starts_with("allreduce")).unwrap();
        let without = text.replacen(&format!("{rule}\n"), "", 1);
        assert_eq!((read(&without).len(), merged(&without, [])), (1, without.clone()));
        assert!(of_file(&without, MPI).edited.iter().next().is_none());
    }
}
