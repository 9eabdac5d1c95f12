//! Variables that are set and change nothing, since what they change is not asked for.

use super::configuration::{Configuration, RawConfiguration};
use super::settings::{Mode, Sync, Transport};
use super::variables as of;
use crate::algorithm::Operation;

/// Why variables have no effect, whether they have one, and which these are.
type Vain = (&'static str, fn(&Configuration) -> bool, &'static [&'static str]);

const VAIN: [Vain; 5] = [
    ("the mode is not verify", |all| all.mode == Mode::Verify, &[of::ON_DIFFERENCE, of::VERIFY_RESULT]),
    ("the mode is not learn", |all| all.mode == Mode::Learn, &[of::LEARN, of::LEARN_BUDGET]),
    ("COLLIE_TRANSPORT is not shared", |all| all.transport == Transport::Shared, &[of::NUMA]),
    ("COLLIE_TRACE is not set", |all| all.trace.is_some(), &[of::SPILL]),
    ("with COLLIE_SYNC calls are replaced from the first one on", |all| all.sync == Sync::Off, &[of::AFTER]),
];

/// What mode native makes no use of, besides the variables of operations.
const OF_REPLACED: [&str; 10] = [
    of::RULES,
    of::TABLES,
    of::REPRODUCIBLE,
    of::TRANSPORT,
    of::NUMA,
    of::AFTER,
    of::NETWORK,
    of::PIECE,
    of::LIMITS,
    of::DEVICE,
];

/// Each of them, with the reason.
pub fn without_effect(configuration: &Configuration, raw: &RawConfiguration) -> Vec<(String, &'static str)> {
    let is_of_operation = |name: &str| Operation::ALL.into_iter().any(|operation| of::of(operation) == name);
    let why = |name: &str| {
        let native = configuration.mode == Mode::Native && (OF_REPLACED.contains(&name) || is_of_operation(name));
        let is_vain = |(_, has_effect, names): &&Vain| names.contains(&name) && !has_effect(configuration);
        let other = || VAIN.iter().find(is_vain).map(|(why, ..)| *why);
        if native { Some("the mode is native") } else { other() }
    };
    let set = raw.variables.iter().filter(|(_, value)| !value.trim().is_empty());
    set.filter_map(|(name, _)| Some((name.clone(), why(name)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(variables: &[(&str, &str)]) -> Vec<String> {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let raw = RawConfiguration::new(variables.collect());
        let told = without_effect(&raw.parse().unwrap(), &raw);
        told.into_iter().map(|(name, why)| format!("{name}: {why}")).collect()
    }

    #[test]
    fn what_changes_nothing_is_found() {
        let verify = [("COLLIE_ON_DIFFERENCE", "abort"), ("COLLIE_VERIFY_RESULT", "ours")];
        assert_eq!(
            told(&verify),
            ["COLLIE_ON_DIFFERENCE: the mode is not verify", "COLLIE_VERIFY_RESULT: the mode is not verify"]
        );
        assert!(told(&[verify[0], verify[1], ("COLLIE_MODE", "verify")]).is_empty());
        assert_eq!(
            told(&[("COLLIE_BCAST", "linear"), ("COLLIE_MODE", "native"), ("COLLIE_NUMA", "2")]),
            ["COLLIE_BCAST: the mode is native", "COLLIE_NUMA: the mode is native"]
        );
        assert_eq!(
            told(&[("COLLIE_NUMA", "2"), ("COLLIE_BCAST", "")]),
            ["COLLIE_NUMA: COLLIE_TRANSPORT is not shared"]
        );
        assert_eq!(told(&[("COLLIE_SPILL", "1M")]).len(), 1);
        assert!(told(&[("COLLIE_SPILL", "1M"), ("COLLIE_TRACE", "trace.json")]).is_empty());
        assert_eq!(told(&[("COLLIE_AFTER", "2"), ("COLLIE_SYNC", "clock")]).len(), 1);
        assert!(told(&[("COLLIE_AFTER", "2"), ("COLLIE_BCAST", "linear"), ("COLLIE_TRANSPORT", "shared")]).is_empty());
    }

    #[test]
    fn every_variable_of_the_table_exists() {
        let all = VAIN.iter().flat_map(|(.., variables)| *variables).chain(&OF_REPLACED);
        all.for_each(|name| assert!(of::find(name).is_some(), "{name}"));
    }
}
