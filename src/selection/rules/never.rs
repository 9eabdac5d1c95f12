//! Rules that no call ever gets: what earlier rows of the file leave nothing of, what holds for no call, and algorithms
//! whose needs no such call meets. Only what is certain is told.

use super::communicators::{self, Place};
use super::{BytesOf, Condition, Rule, Rules, Span};
use crate::algorithm::{Call, Operation, SharedMemory, Unmet};
use crate::schedule::limits::ProtocolLimits;
use crate::selection::mpi_library::{Implementation, Mpi, Version};
use crate::selection::situation::Situation;
use crate::selection::wanted::Wanted;

/// Ranks up to which needs are tried one number after another, from the least of a rule on.
const TRIED: usize = 1 << 10;

/// Ranks up to which sums are tried one number after another.
const MOST_TRIED: usize = 1 << 20;

/// What a file of rules is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// `COLLIE_RULES`: the first rule that matches decides.
    Rules,
    /// `COLLIE_TABLES`: a row whose algorithm cannot be used, or that says `auto`, gives way to the next that matches.
    Tables,
}

/// The rules that no call gets: line, and why. In the order of the lines.
pub fn never_used(rules: &Rules, purpose: Purpose) -> Vec<(u32, String)> {
    let mut found = Vec::new();
    for operation in Operation::ALL {
        let rows = rules.of(operation);
        for (place, rule) in rows.iter().enumerate() {
            let shadowed = || shadowed(rule, &rows[..place], purpose);
            let why = nothing(rule).or_else(shadowed).or_else(|| unmet(rule, purpose));
            found.extend(why.map(|why| (rule.line, why)));
        }
    }
    found.sort();
    found
}

/// Where no call can be.
fn nothing(rule: &Rule) -> Option<String> {
    if rule.ranks.most == 0 {
        return Some("never matches: no communicator has 0 ranks".to_owned());
    }
    if rule.ranks.most == 1 {
        return Some("changes nothing: collectives of one rank stay with the MPI library".to_owned());
    }
    if !rule.operation.has_data() && rule.bytes.least > 0 {
        return Some(format!("never matches: {} has 0 bytes", rule.operation));
    }
    if rule.conditions.contains(&Condition::InPieces) {
        if rule.operation.has_own_counts() {
            return Some(format!("never matches: only each rank itself knows the bytes of {}", rule.operation));
        }
        if !rule.operation.has_data() || rule.bytes.most == 0 {
            return Some("never matches: what has no bytes travels in no pieces".to_owned());
        }
    }
    let Span { least, most } = rule.bytes;
    let ranks = rule.ranks.and(communicators::SEVERAL)?;
    let have_it = |ranks: usize| most / ranks * ranks >= least;
    // More ranks than bytes have none; and of a long span whose first numbers do not fit one is taken to do.
    let some = || (ranks.least..=ranks.most.min(most)).take(MOST_TRIED + 1).enumerate();
    if rule.bytes_of == BytesOf::All
        && least > 0
        && !some().any(|(tried, number)| tried == MOST_TRIED || have_it(number))
    {
        let bytes = rule.bytes.in_bytes();
        let of = if rule.ranks == Span::ALL { String::new() } else { format!("{} ", rule.ranks) };
        return Some(format!("never matches: {of}ranks, all of the same size, never have {bytes} bytes together"));
    }
    communicators::none(rule)
}

/// A part of the plane of ranks and bytes.
#[derive(Clone, Copy)]
struct Area {
    ranks: Span,
    bytes: Span,
}

impl Area {
    /// What is left of it without `other`, all of it where there is no other.
    fn parts_without(self, other: Option<Self>) -> Vec<Self> {
        other.map_or_else(|| vec![self], |other| self.without(other).collect())
    }

    /// What is left of it without `other`: at most four parts.
    fn without(self, other: Self) -> impl Iterator<Item = Self> {
        let below =
            |span: Span, cut: Span| part(span.least, span.most.min(cut.least.wrapping_sub(1)), cut.least > span.least);
        let above =
            |span: Span, cut: Span| part(span.least.max(cut.most.wrapping_add(1)), span.most, cut.most < span.most);
        let ranks = part(self.ranks.least.max(other.ranks.least), self.ranks.most.min(other.ranks.most), true);
        let bytes = part(self.bytes.least.max(other.bytes.least), self.bytes.most.min(other.bytes.most), true);
        let parts = match (ranks, bytes) {
            (Some(ranks), Some(_)) => {
                let beside = [below(self.ranks, other.ranks), above(self.ranks, other.ranks)];
                let within = [below(self.bytes, other.bytes), above(self.bytes, other.bytes)];
                let beside = beside.map(|ranks| ranks.map(|ranks| Self { ranks, ..self }));
                let within = within.map(|bytes| bytes.map(|bytes| Self { ranks, bytes }));
                [beside[0], beside[1], within[0], within[1]]
            }
            _ => [Some(self), None, None, None],
        };
        parts.into_iter().flatten()
    }
}

fn part(least: usize, most: usize, is_there: bool) -> Option<Span> {
    (is_there && least <= most).then_some(Span { least, most })
}

/// What a row matches for certain among calls of that many ranks, whose bytes are counted as `of`.
///
/// Where the row counts them in another way, its bytes depend on the ranks: those are taken that it matches for each
/// number of ranks. Of all ranks together only multiples of their number occur.
fn surely_matched(row: &Rule, of: BytesOf, among: Span) -> Option<Area> {
    let ranks = row.ranks.and(among)?;
    let (fewest, most) = (ranks.least.max(1), ranks.most.max(1));
    let Span { least, most: last } = row.bytes;
    let up_to_all = |bytes: usize| if last == Span::ALL.most { last } else { bytes };
    let bytes = match (row.bytes_of, of) {
        (BytesOf::Rank, BytesOf::All) => {
            let first = if least == 0 { 0 } else { (least - 1).saturating_mul(most).saturating_add(1) };
            part(first, up_to_all(last.saturating_add(1).saturating_mul(fewest) - 1), true)
        }
        (BytesOf::All, BytesOf::Rank) => part(least.div_ceil(fewest), up_to_all(last / most), true),
        _ => Some(row.bytes),
    };
    bytes.map(|bytes| Area { ranks, bytes })
}

/// Whether the rows before it, all of them together, match whatever it matches.
fn shadowed(rule: &Rule, before: &[Rule], purpose: Purpose) -> Option<String> {
    let mut by: Vec<u32> = Vec::new();
    // Rows for other ranks or bytes matter to none of its calls.
    let meets = |row: &&Rule| {
        let bytes = || row.bytes_of != rule.bytes_of || row.bytes.and(rule.bytes).is_some();
        row.ranks.and(rule.ranks).is_some() && bytes()
    };
    let before: Vec<&Rule> = before.iter().filter(meets).collect();
    let before = &before[..];
    // Calls that move nothing have no other number of bytes, whatever the rule leaves open.
    let bytes = if rule.operation.has_data() { rule.bytes } else { Span { least: 0, most: 0 } };
    for World { situation, call, ranks, power_of_two } in worlds(rule, before) {
        let holds = |rule: &Rule| rule.conditions.iter().all(|condition| condition.holds(&situation, &call));
        let is_there = |part: &Area| {
            let several = part.ranks.and(communicators::SEVERAL);
            several.is_some_and(|ranks| power_of_two.is_none_or(|power| communicators::holds(ranks, power)))
        };
        let whole = rule.ranks.and(ranks).map(|ranks| Area { ranks, bytes });
        let Some(whole) = whole.filter(is_there).filter(|_| holds(rule)) else { continue };
        let decides = |row: &Rule| purpose == Purpose::Rules || is_always_usable(&row.wanted, &call);
        let mut left = vec![whole];
        for row in before.iter().copied().filter(|row| holds(row) && decides(row)) {
            let area = |part: &Area| surely_matched(row, rule.bytes_of, part.ranks);
            let rest: Vec<_> = left.iter().flat_map(|part| part.parts_without(area(part))).collect();
            let untouched = rest.len() == left.len()
                && rest.iter().zip(&left).all(|(one, other)| (one.ranks, one.bytes) == (other.ranks, other.bytes));
            if !untouched {
                by.push(row.line);
            }
            left = rest.into_iter().filter(is_there).collect();
            if left.is_empty() {
                break;
            }
        }
        if !left.is_empty() {
            return None;
        }
    }
    by.sort_unstable();
    by.dedup();
    let lines: Vec<_> = by.iter().map(ToString::to_string).collect();
    match &lines[..] {
        [] => Some("never matches: its conditions never hold together".to_owned()),
        [only] => Some(format!("never matches: line {only} already matches all of its calls")),
        lines => Some(format!("never matches: lines {} already match all of its calls", lines.join(", "))),
    }
}

/// Whether it decides for all ranks, however many they are: it names somebody whose needs they meet.
fn is_always_usable(wanted: &Wanted, call: &Call) -> bool {
    let choice = match wanted {
        Wanted::Native => return true,
        Wanted::Auto => return false,
        Wanted::Algorithm(choice) => choice,
    };
    let call = Call { nodes: &[], ..*call };
    // Every need of a certain number of ranks refuses one of these. Memory may be too small even where it is shared.
    !choice.shares_memory() && [3, 5].iter().all(|ranks| choice.accepts(&call, *ranks).is_ok())
}

/// A way in which the conditions of rules can hold or not: a call, and for which numbers of ranks they hold so.
struct World {
    situation: Situation,
    call: Call<'static>,
    ranks: Span,
    /// Whether only for powers of two, or only for others.
    power_of_two: Option<bool>,
}

/// One for each way in which the conditions of these rules can hold or not.
fn worlds(rule: &Rule, before: &[&Rule]) -> Vec<World> {
    let rules = || before.iter().copied().chain([rule]);
    let conditions = || rules().flat_map(|rule| &rule.conditions);
    let mut libraries = vec![Mpi::UNKNOWN];
    let mut implementations: Vec<_> = conditions()
        .filter_map(|condition| match condition {
            Condition::Mpi(implementation) => Some(*implementation),
            _ => None,
        })
        .collect();
    implementations.sort_unstable();
    implementations.dedup();
    let mut versions = vec![Version::default()];
    for condition in conditions() {
        if let Condition::MpiVersion(range) = condition {
            versions.extend(range.edges());
        }
    }
    versions.sort_unstable();
    versions.dedup();
    for implementation in implementations {
        debug_assert_ne!(implementation, Implementation::Other);
        libraries.extend(versions.iter().map(|version| Mpi { implementation, version: *version }));
    }
    let asks_for_powers = rules().any(|rule| rule.power_of_two().is_some());
    let powers: &[Option<bool>] = if asks_for_powers { &[Some(true), Some(false)] } else { &[None] };
    let places = communicators::places(rules());
    // Two bytes travel in pieces, or nothing does.
    let cut = ProtocolLimits::of([1]).expect("a length");
    // Whether the operation commutes, and whether `PMPI_Reduce_local` knows it alone, as it does all that does not.
    let reductions: &[_] =
        if rule.operation.reduces() { &[(true, false), (true, true), (false, true)] } else { &[(true, false)] };
    let mut worlds = Vec::new();
    for mpi in libraries {
        let located = places.iter().flat_map(|place| powers.iter().map(move |power| (*place, *power)));
        for (Place { nodes, shared, most_on_node, ranks }, power_of_two) in located {
            for (oversubscribed, limits) in
                [false, true].into_iter().flat_map(|crowded| [(crowded, ProtocolLimits::NONE), (crowded, cut)])
            {
                let number = if power_of_two == Some(false) { 3 } else { 2 };
                let one_node = nodes.is_empty();
                let here = Situation::plain(number);
                let situation = Situation { one_node, most_on_node, oversubscribed, mpi, limits, ..here };
                worlds.extend(reductions.iter().map(|&(commutative, reduce_local)| {
                    let shared = shared.filter(|_| !reduce_local);
                    let plain = Call::plain(rule.operation, 2, 1);
                    let call = Call { commutative, reduce_local, nodes, shared, ..plain };
                    World { situation, call, ranks, power_of_two }
                }));
            }
        }
    }
    worlds
}

/// Whether no call that it matches meets the algorithm's needs.
fn unmet(rule: &Rule, purpose: Purpose) -> Option<String> {
    let Wanted::Algorithm(choice) = &rule.wanted else { return None };
    let has = |condition| rule.conditions.contains(&condition);
    let Span { least, most } = communicators::ranks(rule)?;
    let most = most.min(1 << 20);
    let power_of_two = rule.power_of_two();
    let counts = |ranks: &usize| power_of_two.is_none_or(|wanted| ranks.is_power_of_two() == wanted);
    let near = (least..=most).filter(counts).take(TRIED);
    let powers = (1..=20).map(|power| 1 << power).filter(|ranks| (least..=most).contains(ranks) && counts(ranks));
    let one_per_node = rule.conditions.iter().any(|condition| match condition {
        Condition::OnePerNode => true,
        Condition::RanksPerNode(ranks) => ranks.most <= 1,
        _ => false,
    });
    // Of these none goes through shared memory, wherever there is some.
    let by_messages =
        one_per_node || [Condition::InPieces, Condition::ReduceLocal, Condition::NonCommutative].into_iter().any(has);
    let mut first: Option<Unmet> = None;
    for ranks in near.chain(powers) {
        let bytes = match rule.bytes_of {
            BytesOf::Rank => rule.bytes.most,
            BytesOf::All => rule.bytes.most / ranks,
        };
        // Inside nodes ranks may share memory also where not all do.
        let by_all = choice.algorithm.needs.shared_memory;
        let shares = choice.shares_memory() && !by_messages && !(by_all && has(Condition::NoSharedMemory));
        let has_one = !has(Condition::SeveralNodes) && !one_per_node;
        let has_several = !has(Condition::OneNode) && !has(Condition::SharedMemory);
        let on_each = if one_per_node { 1 } else { 2 };
        let several = || (0..ranks as u32).map(|rank| rank / on_each).collect();
        let mut placements: Vec<Vec<u32>> =
            has_several.then(several).into_iter().chain(has_one.then(Vec::new)).collect();
        if by_all {
            // Why it cannot be there is the better reason.
            placements.reverse();
        }
        for nodes in &placements {
            let call = Call {
                commutative: !has(Condition::NonCommutative),
                reduce_local: has(Condition::ReduceLocal) || has(Condition::NonCommutative),
                nodes,
                shared: shares.then_some(SharedMemory::PLAIN),
                ..Call::plain(rule.operation, bytes.min(1 << 40), 1)
            };
            match choice.accepts(&call, ranks) {
                Ok(()) => return None,
                Err(why) => _ = first.get_or_insert(why),
            }
        }
    }
    let why = first?;
    if by_messages && choice.shares_memory() && matches!(why, Unmet::NoSharedMemory | Unmet::NoSharedMemoryInside) {
        let name = choice.algorithm.name;
        return Some(format!("is never used: {name} needs shared memory, through which its calls never go"));
    }
    let next = match purpose {
        Purpose::Rules => "the default tables",
        Purpose::Tables => "the rows after it",
    };
    Some(format!("is never used: {} {why}, so that its calls go to {next}", choice.algorithm.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selection::parse_rules;

    fn findings(text: &str) -> Vec<String> {
        findings_in(text, Purpose::Rules)
    }

    fn findings_in(text: &str, purpose: Purpose) -> Vec<String> {
        let rules = parse_rules("f", text).unwrap();
        never_used(&rules, purpose).into_iter().map(|(line, why)| format!("{line}: {why}")).collect()
    }

    #[test]
    fn in_tables_a_row_that_decides_nothing_hides_nothing() {
        let tables = |text: &str| findings_in(text, Purpose::Tables);
        for first in [
            "allgather * * recursive_doubling",
            "allgather * * neighbor_exchange",
            "allreduce * * ring",
            "bcast * * shared_queue",
            "bcast * * hierarchical:node=shared_queue",
            "bcast * * auto",
        ] {
            let operation = first.split_once(' ').unwrap().0;
            let text = format!("{first}\n{operation} * * linear");
            assert_eq!(findings(&text).len(), 1, "{first}");
            assert_eq!(tables(&text), [""; 0], "{first}");
        }
        let hidden = ["2: never matches: line 1 already matches all of its calls"];
        assert_eq!(tables("bcast * * ring\nbcast * * linear"), hidden);
        assert_eq!(tables("bcast * * native\nbcast * * linear"), hidden);
        assert_eq!(tables("allreduce * * ring if commutative\nallreduce * * linear if commutative"), hidden);
        let odd = tables("allgather 3 * recursive_doubling");
        let why =
            "recursive_doubling needs a power-of-two number of ranks, not 3, so that its calls go to the rows after it";
        assert_eq!(odd, [format!("1: is never used: {why}")]);
    }

    #[test]
    fn no_row_of_the_default_tables_is_in_vain() {
        use crate::selection::defaults::{BEST, SHARED, SHARED_BEST, SHARED_INSIDE, TABLES};
        for (name, text) in TABLES.into_iter().chain(BEST).chain([SHARED, SHARED_INSIDE, SHARED_BEST]) {
            assert_eq!(never_used(&parse_rules(name, text).unwrap(), Purpose::Tables), [], "{name}");
        }
    }

    #[test]
    fn rows_that_earlier_ones_hide() {
        let one = findings("bcast * 0-2K binomial\nbcast 4 1K-2K linear\nbcast 4 1K-4K linear");
        assert_eq!(one, ["2: never matches: line 1 already matches all of its calls"]);
        let two =
            findings("bcast 2-8 0-2K binomial\nbcast 2-8 2049-inf linear\nbcast 9-inf * ring\nbcast 2-inf * pipeline");
        assert_eq!(two, ["4: never matches: lines 1, 2, 3 already match all of its calls"]);
        assert!(findings("bcast 2-8 0-2K binomial\nbcast 2-8 2050-inf linear\nbcast 2-8 * ring").is_empty());
        assert!(findings("reduce * 0-2K binomial\nbcast * 0-2K linear").is_empty(), "another operation");
    }

    #[test]
    fn conditions_count() {
        assert!(findings("bcast * * binomial if one_node\nbcast * * linear").is_empty());
        assert_eq!(findings("bcast * * binomial\nbcast * * linear if one_node").len(), 1);
        let both = findings("bcast * * binomial if one_node\nbcast * * ring if several_nodes\nbcast * * linear");
        assert_eq!(both, ["3: never matches: lines 1, 2 already match all of its calls"]);
        assert!(findings("reduce * * binomial if commutative\nreduce * * linear").is_empty());
        // What reduces nothing is always commutative.
        assert_eq!(findings("bcast * * binomial if commutative\nbcast * * linear").len(), 1);
        assert!(findings("bcast * * ring if one_per_node\nbcast * * linear if several_nodes").is_empty());
        assert_eq!(findings("bcast * * ring if several_nodes\nbcast * * linear if one_per_node").len(), 1);
    }

    #[test]
    fn powers_of_two_count() {
        let first = |text: &str| findings(text).first().cloned().unwrap_or_default();
        assert_eq!(
            first("bcast 5-7 * linear if power_of_two"),
            "1: never matches: no number of ranks in 5-7 is a power of two"
        );
        assert_eq!(first("bcast 4 * linear if not_power_of_two"), "1: never matches: 4 is a power of two");
        assert_eq!(first("bcast 1-2 * linear if not_power_of_two"), "1: never matches: 2 is a power of two");
        assert!(findings("bcast 4 * linear if power_of_two\nbcast 3-4 * linear if not_power_of_two").is_empty());
        let both = "bcast * * ring if power_of_two\nbcast * * binomial if not_power_of_two\nbcast 8 * linear";
        assert_eq!(findings(both), ["3: never matches: line 1 already matches all of its calls"]);
        let others = "bcast 2-4 * ring if power_of_two\nbcast 3 * binomial\nbcast 2-4 * linear\nbcast 2-5 * linear";
        assert_eq!(findings(others), ["3: never matches: lines 1, 2 already match all of its calls"]);
        assert_eq!(findings("allgather 3-7 * recursive_doubling if not_power_of_two").len(), 1, "needs a power of two");
        assert!(findings("allgather 3-7 * recursive_doubling if power_of_two").is_empty());
        // One rank is a power of two, too, but its collectives are not ours.
        let of_one = "bcast 2 * linear\nbcast * * linear if power_of_two and one_node and ranks_per_node=2-3";
        assert_eq!(findings(of_one), ["2: never matches: line 1 already matches all of its calls"]);
        assert_eq!(
            findings("bcast 2-inf * linear\nbcast * * linear"),
            ["2: never matches: line 1 already matches all of its calls"]
        );
    }

    #[test]
    fn ranks_per_node_count() {
        let first = |text: &str| findings(text).first().cloned().unwrap_or_default();
        assert_eq!(
            first("bcast 2-8 * linear if ranks_per_node=9-inf"),
            "1: never matches: among 2-8 ranks no node has 9-inf of them"
        );
        for never in [
            "bcast * * linear if ranks_per_node=0",
            "bcast 8 * linear if several_nodes and ranks_per_node=8",
            "bcast 8 * linear if one_node and ranks_per_node=4",
            "bcast 5-9 * linear if one_node and ranks_per_node=5-7 and power_of_two",
            "bcast * * linear if shared_memory and ranks_per_node=1",
        ] {
            assert!(first(never).starts_with("1: never matches: "), "{never}: {:?}", findings(never));
        }
        assert!(
            findings("bcast 8 * linear if ranks_per_node=8\nbcast 9 * linear if several_nodes and ranks_per_node=8")
                .is_empty()
        );
        let alike = "bcast * * ring if ranks_per_node=1-8\nbcast 9-inf * linear\nbcast * * linear if several_nodes";
        assert_eq!(findings(alike), ["3: never matches: lines 1, 2 already match all of its calls"]);
        assert_eq!(findings("bcast * * ring if one_per_node\nbcast * * linear if ranks_per_node=1").len(), 1);
        assert!(findings("bcast * * ring if ranks_per_node=4\nbcast * * linear if ranks_per_node=3-5").is_empty());
        let parts = "bcast * * ring if ranks_per_node=1-3\nbcast * * ring if ranks_per_node=4-inf\nbcast * * linear";
        assert_eq!(findings(parts), ["3: never matches: lines 1, 2 already match all of its calls"]);
        let small = "bcast * * ring if one_node and ranks_per_node=1-4\nbcast 3 * linear if one_node\nbcast 5 * linear";
        assert_eq!(findings(small), ["2: never matches: line 1 already matches all of its calls"]);
    }

    #[test]
    fn shared_memory_counts() {
        assert!(findings("bcast * * shared_queue if shared_memory\nbcast * * linear").is_empty());
        assert!(findings("bcast * * shared_queue\nbarrier * * mcs if one_node").is_empty());
        assert_eq!(findings("bcast * * shared_queue if several_nodes").len(), 1);
        assert!(findings("bcast * * hierarchical:node=shared_queue if several_nodes").is_empty());
        assert_eq!(findings("bcast * * hierarchical:leaders=shared_queue if several_nodes").len(), 1);
        assert_eq!(findings("bcast * * shared_queue if no_shared_memory").len(), 1);
        for none in ["reduce_local", "non_commutative", "in_pieces", "one_per_node", "ranks_per_node=1"] {
            assert_eq!(findings(&format!("allreduce * * shared_slices if {none}")).len(), 1, "{none}");
            assert!(findings(&format!("allreduce * * reduce_bcast if {none}")).is_empty(), "{none}");
        }
        assert!(findings("allreduce * * shared_slices if ranks_per_node=1-2").is_empty());
        let pieces = "bcast * * ring if in_pieces\nbcast * * binomial\nbcast * * linear if in_pieces";
        assert_eq!(findings(pieces).len(), 1, "of the second row some is left");
        let both = "bcast * * ring if shared_memory\nbcast * * binomial if no_shared_memory\nbcast * * linear";
        assert_eq!(findings(both), ["3: never matches: lines 1, 2 already match all of its calls"]);
    }

    #[test]
    fn libraries_and_releases_count() {
        assert!(findings("bcast * * ring if mpi=openmpi\nbcast * * linear if mpi=mpich").is_empty());
        let ring = "bcast * * ring if mpi=openmpi and mpi_version=4-5\n";
        assert!(findings(&format!("{ring}bcast * * linear if mpi=openmpi")).is_empty());
        assert_eq!(findings(&format!("{ring}bcast * * linear if mpi=openmpi and mpi_version=4.1")).len(), 1);
        let later = "bcast * * linear if mpi=openmpi and mpi_version=6-inf\nbcast * * ring if mpi=openmpi and mpi_version=5-inf";
        assert_eq!(findings(&format!("{ring}{later}")).len(), 1, "between them, 4 to 5 and from 6 on leave nothing");
    }

    #[test]
    fn bytes_of_all_ranks_are_another_measure() {
        assert!(findings("gather 4-8 0-99 linear\ngather 4-8 total=0-400 binomial").is_empty(), "4 ranks may have 400");
        assert_eq!(findings("gather 4-8 0-99 linear\ngather 4-8 total=0-399 binomial").len(), 1);
        assert!(findings("gather 4-8 100-inf linear\ngather 4-8 total=792-inf binomial").is_empty(), "8 may have 792");
        assert_eq!(findings("gather 4-8 100-inf linear\ngather 4-8 total=793-inf binomial").len(), 1);
        let by_all = ["2: never matches: line 1 already matches all of its calls"];
        assert_eq!(findings("gather 8 total=0-80 linear\ngather 8 0-10 binomial"), by_all);
        assert!(findings("gather 8 total=0-80 linear\ngather 8 0-11 binomial").is_empty());
        assert!(findings("gather 8 total=9-80 linear\ngather 8 1-10 binomial").is_empty(), "8 ranks of 1 byte have 8");
        assert_eq!(findings("gather 8 total=8-80 linear\ngather 8 1-10 binomial"), by_all);
        assert_eq!(findings("gather * total=1-inf linear\ngather 2-inf 1-inf binomial"), by_all);
        let parts = "gather 2-3 total=0-30 linear\ngather 4-8 total=0-80 linear\ngather 2-8 0-10 binomial";
        assert_eq!(findings(parts), ["3: never matches: lines 1, 2 already match all of its calls"]);
        assert_eq!(findings("gather * * linear\ngather * total=0-1K binomial").len(), 1);
        for (never, matches) in [("8-64 total=1-7", "7-64 total=1-7"), ("5-7 total=16-17", "5-8 total=16-17")] {
            assert_eq!(findings(&format!("gather {never} linear")).len(), 1, "{never}");
            assert!(findings(&format!("gather {matches} linear")).is_empty(), "{matches}");
        }
        assert!(findings("gather * total=1-1 linear").len() == 1 && findings("gather * total=2-2 linear").is_empty());
        assert!(findings("gather 3000000-inf total=1024G-1024G linear").is_empty());
        let none = findings("gather 8 total=1-7 linear");
        assert_eq!(none, ["1: never matches: 8 ranks, all of the same size, never have 1-7 bytes together"]);
    }

    #[test]
    fn needs_that_no_such_call_meets() {
        let odd = findings("allgather 3 * recursive_doubling");
        let end = "so that its calls go to the default tables";
        assert_eq!(
            odd,
            [format!("1: is never used: recursive_doubling needs a power-of-two number of ranks, not 3, {end}")]
        );
        assert!(findings("allgather 3-4 * recursive_doubling").is_empty());
        assert!(findings("allgather 1025-inf * recursive_doubling").is_empty());
        assert_eq!(findings("allreduce * * ring if non_commutative").len(), 1);
        // What needs the memory of all ranks somewhere in it can be had on one node.
        for rule in [
            "allreduce * * reduce_bcast:bcast=shared_queue",
            "allgather * * linear:gather=shared_copy",
            "bcast * * hierarchical:leaders=shared_queue",
        ] {
            assert!(findings(rule).is_empty(), "{rule}");
            assert_eq!(findings(&format!("{rule} if several_nodes")).len(), 1, "{rule}");
        }
        assert!(findings("allreduce * * ring").is_empty());
    }

    #[test]
    fn bytes_that_no_barrier_has() {
        assert_eq!(findings("barrier * 1K-inf linear"), ["1: never matches: barrier has 0 bytes"]);
        assert!(findings("barrier 2 0-8 linear\nbarrier 3 * linear").is_empty());
        let hidden = ["2: never matches: line 1 already matches all of its calls"];
        assert_eq!(findings("barrier 4 0 dissemination\nbarrier 4 * linear"), hidden);
        assert_eq!(findings("barrier 4 0-8 dissemination\nbarrier 4 0-64 linear"), hidden);
        assert!(findings("bcast 4 0 linear\nbcast 4 * ring").is_empty());
    }

    #[test]
    fn ranks_that_no_call_has() {
        assert_eq!(findings("bcast 0 * linear"), ["1: never matches: no communicator has 0 ranks"]);
        assert_eq!(
            findings("bcast 1 * linear"),
            ["1: changes nothing: collectives of one rank stay with the MPI library"]
        );
    }
}
