//! Who carries out the calls of a cell: names that the user gave become what Collie is told.

#![forbid(unsafe_code)]

use super::program::{AUTO, CANDIDATES, LEARN, MODES, NATIVE};
use crate::algorithm::{Call, Choice, parse_choice};
use crate::selection::{Configuration, Decided, Mode, Situation, decide};
use crate::trial::{Candidates, MOST};

/// One that carries calls out.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// As in reports.
    pub name: String,
    /// What runs, with all its parameters.
    pub algorithm: String,
    /// What Collie is told to run; nothing where it decides by itself, or is not asked.
    pub told: Option<String>,
    /// The place of its communicators: the same in all cells of an operation, since what they are told and have learned
    /// stays.
    pub slot: usize,
}

/// Places that the variants of these names may take.
pub fn slots(names: &[String]) -> usize {
    names.len() + if names.iter().any(|name| name == CANDIDATES) { MOST } else { 0 }
}

/// Those that can carry out `call` and those that cannot, with the reason. `learning`: in a job that is in mode
/// `learn`, where what is decided otherwise has to be told.
pub fn named(
    names: &[String],
    configuration: &Configuration,
    situation: &Situation,
    call: &Call,
    learning: bool,
) -> (Vec<Named>, Vec<(String, String)>) {
    let (mut able, mut unable) = (Vec::new(), Vec::new());
    let by = |mode| decided(&Configuration { mode, ..configuration.clone() }, situation, call);
    for (slot, name) in names.iter().enumerate() {
        let entry = |algorithm: String, told: bool| Named {
            name: name.clone(),
            told: told.then(|| algorithm.clone()),
            algorithm,
            slot,
        };
        match name.as_str() {
            NATIVE => able.push(entry(NATIVE.to_owned(), false)),
            AUTO => able.push(entry(by(Mode::Replace), learning)),
            LEARN => able.push(entry(LEARN.to_owned(), false)),
            CANDIDATES => {
                let tried = tried(configuration, situation, call).into_iter().map(|choice| choice.to_string());
                let tried = (names.len()..).zip(tried.filter(|text| !names.contains(text)));
                able.extend(tried.map(|(slot, text)| Named { name: text.clone(), slot, ..entry(text, true) }));
            }
            mode if MODES.contains(&mode) => {
                let mode = Mode::ALL.into_iter().find(|known| known.name() == mode).expect("it is one");
                able.push(entry(by(mode), true));
            }
            text => {
                let choice = parse_choice(call.operation, text).expect("rank 0 has read it");
                match choice.accepts(call, situation.ranks) {
                    Ok(()) => able.push(Named { told: Some(text.to_owned()), ..entry(choice.to_string(), false) }),
                    Err(unmet) => unable.push((name.clone(), unmet.to_string())),
                }
            }
        }
    }
    (able, unable)
}

/// What Collie chooses by itself.
fn decided(configuration: &Configuration, situation: &Situation, call: &Call) -> String {
    match decide(configuration, situation, call) {
        Decided::Ours { choice, .. } if situation.ranks > 1 => choice.to_string(),
        _ => NATIVE.to_owned(),
    }
}

/// The algorithms of ours that mode `learn` tries.
fn tried(configuration: &Configuration, situation: &Situation, call: &Call) -> Vec<Choice> {
    let configuration = Configuration { mode: Mode::Learn, ..configuration.clone() };
    let default = match decide(&configuration, situation, call) {
        Decided::Ours { choice, .. } => Some(choice),
        Decided::Native { .. } => None,
    };
    let call = &Call { half_bandwidth: configuration.half_bandwidth(situation.one_node), ..*call };
    Candidates::of(&configuration, situation, call, default).choices.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Operation;
    use crate::selection::parse_rules;

    fn found(names: &[&str], tables: &str, learning: bool) -> Vec<Named> {
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let configuration = Configuration { tables: parse_rules("t", tables).unwrap(), ..Configuration::default() };
        let situation = Situation::plain(4);
        let (able, unable) =
            named(&names, &configuration, &situation, &Call::plain(Operation::Allreduce, 512, 8), learning);
        assert!(unable.is_empty());
        able
    }

    #[test]
    fn modes_are_told_what_their_tables_say_and_learning_is_told_nothing() {
        let table = "allreduce * * linear";
        for learning in [false, true] {
            let all = found(&["native", "auto", "best", "learn"], table, learning);
            let told: Vec<_> = all.iter().map(|named| named.told.as_deref()).collect();
            assert_eq!(told, [None, learning.then_some("linear"), Some("linear"), None]);
            assert_eq!(all[1].algorithm, "linear");
        }
        assert_eq!(found(&["best"], "", false)[0].told.as_deref(), Some("native"), "nothing was measured");
    }

    #[test]
    fn candidates_are_those_of_the_mode_and_none_comes_twice() {
        let names = ["native", "ring", "candidates"];
        let all = found(&names, "allreduce * * linear", true);
        let names = names.map(str::to_owned);
        assert!(all.iter().any(|named| named.name == "linear"), "the default is one");
        assert!(all.len() > 4 && all.iter().all(|one| one.slot < slots(&names)), "{all:?}");
        for (place, one) in all.iter().enumerate() {
            assert!(all[..place].iter().all(|other| other.name != one.name), "{one:?} twice");
        }
    }

    #[test]
    fn what_needs_something_else_is_left_out_with_the_reason() {
        let (configuration, names) = (Configuration::default(), ["recursive_doubling".to_owned()]);
        let situation = Situation::plain(3);
        let call = Call::plain(Operation::Allgather, 8, 1);
        let (able, unable) = named(&names, &configuration, &situation, &call, false);
        assert!(able.is_empty() && unable[0].1.contains("power-of-two"), "{unable:?}");
    }
}
