//! Which rules of the file of mode `learn` a run would go by that takes place where they were learned.

use super::candidates::Candidates;
use super::cell::{Cell, CommunicatorShape};
use super::file::Evidence;
use crate::algorithm::{Call, Choice};
use crate::selection::{Configuration, LearnedRule, LearnedRules, Mode, Rule, Situation, Transport, Wanted};
use once_cell::unsync::Lazy;

/// The lines of the rules that decide or begin calls like this one, one for each place of which the file holds anything
/// about them. `default`: who carries the calls out otherwise.
///
/// As in a run, a rule that somebody has edited decides unless a rule of `COLLIE_RULES` matches, even one that leaves
/// the call to the tables. Of the others the winner carries out the first calls if it may take the default's place.
pub fn heard(configuration: &Configuration, situation: &Situation, call: &Call, default: Option<&Choice>) -> Vec<u32> {
    let Some(file) = configuration.learn.as_ref().filter(|_| configuration.mode == Mode::Learn) else {
        return Vec::new();
    };
    let learned = LearnedRules::read(&file.text);
    let asks = configuration.rules.first(situation, call).is_none();
    let decides = |wanted: &Wanted| match wanted {
        Wanted::Auto => false,
        Wanted::Native => true,
        Wanted::Algorithm(choice) => choice.accepts(call, situation.ranks).is_ok(),
    };
    let winners = Lazy::new(|| Winners::of(configuration, situation, call, default));
    let mut lines = Vec::new();
    for (machine, mpi) in learned.places() {
        let matches = |rule: &&Rule| rule.operation == call.operation && rule.matches(situation, call);
        let edited = learned.edited(machine, mpi).filter(|_| asks).find(matches);
        let line = match edited.filter(|rule| decides(&rule.wanted)) {
            Some(rule) => Some(rule.line),
            None => winners.line(&learned, (machine, mpi)),
        };
        lines.extend(line.filter(|line| !lines.contains(line)));
    }
    lines
}

/// Who may carry out such calls, where anything is learned of them.
struct Winners<'a> {
    candidates: Option<Candidates>,
    call: &'a Call<'a>,
    ranks: usize,
    shape: CommunicatorShape,
}

impl<'a> Winners<'a> {
    fn of(configuration: &Configuration, situation: &Situation, call: &'a Call<'a>, default: Option<&Choice>) -> Self {
        let shares_memory = configuration.transport == Transport::Shared;
        let moves = call.bytes() > 0 || !call.operation.has_data() || call.operation.has_own_counts();
        // What cannot lie in shared memory is not learned where the rest of its kind does.
        let lies_apart = shares_memory && call.nodes.is_empty() && call.shared.is_none();
        let candidates = (moves && !lies_apart).then(|| Candidates::of(configuration, situation, call, default));
        Self {
            candidates: candidates.filter(|found| found.choices.len() > 1),
            call,
            ranks: situation.ranks,
            shape: CommunicatorShape::of(situation, call.nodes, shares_memory),
        }
    }

    /// The line of the rule above which a winner stands that a run at this place would begin with.
    fn line(&self, learned: &LearnedRules, (machine, mpi): (&str, &str)) -> Option<u32> {
        let mut candidates = self.candidates.clone()?;
        let cell = Cell::of(self.call, self.ranks);
        let is_it = |found: &Evidence| {
            // Only of a reduction it is known here how many bytes a unit has.
            let of_found = Cell { units_per_rank: found.row.units_per_rank, ..cell };
            let cell = if self.call.operation.reduces() { &cell } else { &of_found };
            found.machine == machine && found.mpi == mpi && found.is_of(&self.shape, cell)
        };
        let first = |rule: &LearnedRule| rule.evidence().filter_map(Evidence::read).find(is_it);
        let (line, found) = learned.iter().find_map(|rule| Some((rule.line()?, first(rule)?)))?;
        candidates.place_of(self.call, self.ranks, &found.row.algorithm).map(|_| line)
    }
}

#[cfg(test)]
mod tests {
    use super::super::file::merged;
    use super::super::file::tests::evidence;
    use super::*;
    use crate::algorithm::{Operation, parse_choice};
    use crate::selection::{LearnFile, parse_rules};
    use std::sync::Arc;

    /// An allreduce of doubles among four ranks was learned, at a place: `algorithm` won.
    fn won(algorithm: &str, bytes_from: u64, machine: &str) -> Evidence {
        Evidence { machine: machine.into(), ..evidence(algorithm, bytes_from, 7) }
    }

    fn of(text: &str) -> Configuration {
        let learn = LearnFile::new("site.rules", text, Default::default()).unwrap_or_else(|error| panic!("{error}"));
        Configuration { mode: Mode::Learn, learn: Some(Arc::new(learn)), ..Configuration::default() }
    }

    fn lines(configuration: &Configuration, default: &str) -> Vec<u32> {
        let call = Call::plain(Operation::Allreduce, 128, 8);
        let default = (default != "native").then(|| parse_choice(Operation::Allreduce, default).unwrap());
        heard(configuration, &Situation::plain(4), &call, default.as_ref())
    }

    #[test]
    fn with_reproducible_only_who_combines_alike_takes_the_place_of_the_default() {
        for (winner, default, may) in [
            ("native", "recursive_doubling", false),
            ("recursive_doubling", "native", false),
            ("ring", "recursive_doubling", false),
            ("rabenseifner", "recursive_doubling", true),
        ] {
            let mut configuration = of(&merged("", [won(winner, 1024, "here")]));
            assert_eq!(lines(&configuration, default), [5], "{winner}");
            configuration.reproducible = true;
            assert_eq!(lines(&configuration, default).len(), usize::from(may), "{winner}");
        }
    }

    #[test]
    fn edited_rules_come_first_but_behind_those_of_the_user() {
        let text = merged("", [won("rabenseifner", 1024, "here"), won("ring", 8192, "here")]);
        let edited = text.replacen(" 8K-16383 ", " 64-inf ", 1);
        assert_ne!(edited, text);
        let mut configuration = of(&edited);
        assert_eq!(lines(&configuration, "native"), [7]);
        let names_none = edited.replacen(" ring if", " auto if", 1);
        assert_ne!(names_none, edited);
        assert_eq!(lines(&of(&names_none), "native"), [5]);
        configuration.rules = parse_rules("mine.rules", "allreduce * * auto").unwrap();
        assert_eq!(lines(&configuration, "native"), [5], "what nobody edited is no rule");
        configuration.mode = Mode::Best;
        assert!(lines(&configuration, "native").is_empty());
    }

    #[test]
    fn each_place_has_its_own() {
        let text = merged("", [won("ring", 1024, "here"), won("ring", 8192, "there")]);
        assert_eq!(lines(&of(&text), "native"), [5]);
        // What was edited there holds there alone.
        let edited = text.replacen(" 8K-16383 ", " 64-inf ", 1);
        assert_eq!(lines(&of(&edited), "native"), [5, 7]);
        // Another kind: less than four units for each rank.
        let mut few = won("ring", 1024, "here");
        few.row.units_per_rank = 3;
        assert!(lines(&of(&merged("", [few])), "native").is_empty());
    }
}
