//! What was learned, in a file for the runs to come (`COLLIE_LEARN`): rules in our own format, each below its evidence.
//!
//! ```text
//! #: {"machine":"AMD EPYC 7B13, 2 cores","mpi":"Open MPI v4.1.4","date":"2026-11-22","function":"MPI_Allreduce",…}
//! allreduce   4          4K-8191        ring if one_node and commutative and no_shared_memory and …
//! ```
//!
//! The line that begins with `#:` is the row of the report, with the machine, the MPI library and the day. A run takes the rules
//! whose evidence is of its machine and its MPI library; what the rule says counts where the two differ, so that people may
//! change it. As a rules file (`COLLIE_RULES`) it holds everywhere.

use crate::algorithm::Operation;
use crate::monitor::LearnedRow;
use crate::selection::{BytesOf, Condition, LearnFile, Rule, Span, Wanted};
use serde::{Deserialize, Serialize};

/// What evidence begins with.
const MARK: &str = "#:";

/// A rule with its evidence.
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
            let LearnedRow { bytes_from, commutative, units_per_rank, ranks, nodes, most_on_node, .. } = of.row;
            let place = (ranks, nodes, most_on_node, of.row.oversubscribed, of.row.shared_memory);
            (bytes_from, commutative, units_per_rank, place)
        };
        of(self) == of(other)
            && self.row.function == other.row.function
            && self.machine == other.machine
            && self.mpi == other.mpi
    }

    /// Takes in what a later run has learned: its times, and the calls of both.
    fn add(&mut self, later: Self) {
        let (calls, before) = (self.row.calls, std::mem::replace(self, later));
        self.row.calls += calls;
        for tried in before.row.candidates {
            match self.row.candidates.iter_mut().find(|known| known.algorithm == tried.algorithm) {
                Some(known) => {
                    known.calls += tried.calls;
                    known.seconds = known.seconds.or(tried.seconds);
                }
                None => self.row.candidates.push(tried),
            }
        }
    }

    /// The operation; `None` of a function that has no algorithms.
    pub fn operation(&self) -> Option<Operation> {
        Operation::ALL.into_iter().find(|operation| operation.row().mpi_name == self.row.function)
    }

    /// As a rule; `None` if it names nobody that there is.
    fn rule(&self) -> Option<Rule> {
        let operation = self.operation()?;
        let LearnedRow { bytes_from, bytes_to, ranks, nodes, commutative, oversubscribed, shared_memory, .. } =
            self.row;
        let mut conditions = vec![if nodes > 1 { Condition::SeveralNodes } else { Condition::OneNode }];
        if operation.reduces() {
            conditions.push(if commutative { Condition::Commutative } else { Condition::NonCommutative });
        }
        if nodes == 1 {
            // Who won over messages need not over shared memory.
            conditions.push(if shared_memory { Condition::SharedMemory } else { Condition::NoSharedMemory });
        }
        conditions.push(if oversubscribed { Condition::Oversubscribed } else { Condition::NotOversubscribed });
        let span = |least: u64, most: u64| Span { least: least as usize, most: most as usize };
        let all_sizes = operation.has_own_counts() || !operation.has_data();
        Some(Rule {
            operation,
            ranks: span(ranks.into(), ranks.into()),
            bytes: if all_sizes { Span::ALL } else { span(bytes_from, bytes_to) },
            bytes_of: BytesOf::Rank,
            wanted: Wanted::parse(operation, &self.row.algorithm).ok()?,
            conditions,
            line: 0,
        })
    }
}

/// The rules of a file that have evidence.
pub fn read(text: &str) -> Vec<Evidence> {
    let mut found = Vec::new();
    let mut evidence: Option<Evidence> = None;
    for line in text.lines().map(str::trim) {
        if let Some(json) = line.strip_prefix(MARK) {
            evidence = serde_json::from_str(json).ok();
        } else if !line.is_empty() && !line.starts_with('#') {
            let asked = line.split_whitespace().nth(3).map(str::to_owned);
            if let (Some(mut known), Some(asked)) = (evidence.take(), asked) {
                known.row.algorithm = asked;
                found.push(known);
            }
        }
    }
    found
}

/// The evidence of a file that counts in the place where it was read.
pub fn read_here(file: &LearnFile) -> Vec<Evidence> {
    let mut all = read(&file.text);
    all.retain(|evidence| evidence.machine == file.machine && evidence.mpi == file.mpi);
    all
}

/// The text of a file that had `before` in it and to which a run adds what it has learned. Rules without evidence, which people
/// wrote, are kept.
pub fn merged(before: &str, learned: impl IntoIterator<Item = Evidence>) -> String {
    let mut all = read(before);
    for learned in learned {
        match all.iter_mut().find(|known| known.is_of_same(&learned)) {
            Some(known) => known.add(learned),
            None => all.push(learned),
        }
    }
    let key = |of: &Evidence| {
        let row = &of.row;
        (
            of.machine.clone(),
            of.mpi.clone(),
            row.function.clone(),
            row.ranks,
            row.nodes,
            row.most_on_node,
            row.bytes_from,
            // Between nodes rules do not tell transports apart: the first counts, that of messages.
            row.shared_memory,
        )
    };
    all.sort_by_key(key);
    let mut text = String::from(
        "# What Collie has learned while programs ran (COLLIE_MODE=learn, COLLIE_LEARN): rules, each below its evidence.\n\
         # operation ranks      bytes          algorithm\n",
    );
    for evidence in &all {
        let Some(rule) = evidence.rule() else { continue };
        let json = serde_json::to_string(evidence).expect("numbers and texts can be written");
        text.push_str(&format!("{MARK} {json}\n{rule}\n"));
    }
    let own = without_evidence(before);
    if !own.is_empty() {
        text.push_str(&format!("\n{own}"));
    }
    text
}

/// The lines of a file that are rules without evidence.
fn without_evidence(text: &str) -> String {
    let mut has_evidence = false;
    let mut kept = String::new();
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with(MARK) {
            has_evidence = true;
        } else if !trimmed.is_empty() && !trimmed.starts_with('#') && !std::mem::take(&mut has_evidence) {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{Call, SharedMemory};
    use crate::monitor::TriedRow;
    use crate::schedule::limits::ProtocolLimits;
    use crate::selection::{Mpi, Situation, parse_rules};

    fn evidence(algorithm: &str, bytes_from: u64, calls: u64) -> Evidence {
        let tried = |algorithm: &str, seconds| TriedRow { algorithm: algorithm.to_owned(), calls, seconds };
        Evidence {
            machine: "a processor, 2 cores".into(),
            mpi: "An MPI 1.2".into(),
            date: "2026-11-22".into(),
            row: LearnedRow {
                function: "MPI_Allreduce".into(),
                bytes_from,
                bytes_to: 2 * bytes_from - 1,
                commutative: true,
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
        let situation = Situation {
            ranks: 4,
            one_node: true,
            oversubscribed: false,
            mpi: Mpi::UNKNOWN,
            limits: ProtocolLimits::NONE,
        };
        for (shared, algorithm) in [(None, "ring"), (Some(SharedMemory::PLAIN), "shared_slices")] {
            let call = Call { shared, ..Call::plain(Operation::Allreduce, 12, 8) };
            let rule = rules.first(&situation, &call).unwrap();
            assert!(rule.wanted.to_string().starts_with(algorithm), "{rule}\n{text}");
        }
    }

    #[test]
    fn runs_add_to_one_another_and_people_have_the_last_word() {
        let first = merged("bcast 4 8 native\n", [evidence("ring", 64, 7)]);
        let second = merged(&first, [evidence("native", 64, 5), evidence("ring", 128, 1)]);
        let found = read(&second);
        assert_eq!((found.len(), found[0].row.calls, found[0].row.algorithm.as_str()), (2, 12, "native"));
        assert_eq!(found[0].row.candidates[0].calls, 12);
        assert_eq!(second.matches("bcast").count(), 1, "a rule without evidence stays:\n{second}");
        let changed = second.replacen(" native if", " rabenseifner if", 1);
        assert_eq!(read(&changed)[0].row.algorithm, "rabenseifner");
        let here = |mpi: &str| LearnFile {
            path: "x".into(),
            text: second.clone(),
            machine: "a processor, 2 cores".into(),
            mpi: mpi.into(),
        };
        assert_eq!((read_here(&here("An MPI 1.2")).len(), read_here(&here("An MPI 1.3")).len()), (2, 0));
    }
}
