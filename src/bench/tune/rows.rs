//! Rows of one group: along the sizes the candidates that lose least, with a price for each change.

use super::between::Estimate;
use super::cut;
use super::estimated::with_middles;
use super::group::Group;
use super::losses::{Candidate, Size};
use super::path;
use super::reach::reach;
use super::settings::{Block, Extend, Settings};
use crate::algorithm::counted;
use crate::selection::{BytesOf, Condition, Rule, Span, Wanted};

/// The rows of a group; `all`: every group of the reports.
pub fn block<'a>(
    group: &Group,
    sizes: &[Size],
    all: impl Iterator<Item = &'a Group> + Clone,
    settings: Settings,
) -> Block {
    let near = group.nearest(all.clone());
    let sizes = &with_middles(sizes)[..];
    let ranks = |candidate: &Candidate, sizes: &[Size]| ranks(candidate, sizes, group, near, settings.extend);
    let mut path = path::cheapest(sizes, settings);
    if matches!(settings.extend, Extend::Alike | Extend::Estimated) {
        path::furthest(&mut path, sizes, |candidate, sizes| {
            let Span { least, most } = ranks(candidate, sizes);
            most - least
        });
    }
    let rules = along(group, sizes, &path, &group.conditions(all), ranks);
    let chosen: Vec<_> = sizes.iter().zip(&path).map(|(size, name)| &size.candidates[*name]).collect();
    let measured = || sizes.iter().zip(&chosen).filter(|(size, _)| size.is_measured);
    let left = measured().filter(|(_, candidate)| candidate.choice.is_none()).count();
    let ratios: Vec<_> = measured().filter_map(|(size, candidate)| ratio(group, size, candidate)).collect();
    let ratios = if ratios.is_empty() { String::new() } else { format!("; native over this: {}", ratios.join(", ")) };
    let evidence = format!("{}, {}{ratios}", named(group), counted(group.ranks as usize, "rank"));
    let left_out = sizes.iter().filter_map(|size| size.left_out(group)).collect();
    Block { evidence, left_out, rules, sizes: (measured().count(), left) }
}

/// The rows of estimates, one block for those next to each other that come to the same; `all`: every group of the
/// reports.
pub fn estimated<'a>(
    estimates: &[Estimate],
    all: impl Iterator<Item = &'a Group> + Clone,
    settings: Settings,
) -> Vec<Block> {
    let mut found: Vec<(&Estimate, Span, Vec<Rule>)> = Vec::new();
    for estimate in estimates {
        let sizes = with_middles(&estimate.sizes);
        let path = path::cheapest(&sizes, settings);
        let conditions = estimate.group.conditions(all.clone());
        let mut rules = along(&estimate.group, &sizes, &path, &conditions, |_, _| estimate.ranks);
        // How native behaves there nobody knows, but that Collie's lost where they were measured: no row says either.
        rules.retain(|rule| !estimate.is_beyond() || rule.wanted != Wanted::Native);
        let anywhere = |rule: &Rule| Rule { ranks: Span::ALL, ..rule.clone() };
        match found.last_mut() {
            Some((before, ranks, known))
                if before.rests_on_the_same(estimate)
                    && ranks.most + 1 == estimate.ranks.least
                    && known.iter().map(anywhere).eq(rules.iter().map(anywhere)) =>
            {
                ranks.most = estimate.ranks.most;
                known.iter_mut().for_each(|rule| rule.ranks = *ranks);
            }
            _ => found.push((estimate, estimate.ranks, rules)),
        }
    }
    let block = |(estimate, ranks, rules): (&Estimate, Span, Vec<Rule>)| {
        let group = &estimate.group;
        let among = match ranks {
            Span { least, most } if least == most => counted(least, "rank"),
            Span { least, most } => format!("{least} to {most} ranks"),
        };
        let from: Vec<_> = estimate.from.iter().map(u32::to_string).collect();
        let from = from.join(" and ");
        let evidence = format!("{}, {among}, estimated from what was measured among {from} ranks", named(group));
        Block { evidence, left_out: Vec::new(), rules, sizes: (0, 0) }
    };
    found.into_iter().map(block).collect()
}

/// The calls of a group in words, but for the number of ranks.
fn named(group: &Group) -> String {
    group.name() + group.of_operation()
}

/// A row for each stretch of sizes with the same candidate on the path; `ranks`: for which numbers of them that of a
/// candidate for these sizes holds.
fn along(
    group: &Group,
    sizes: &[Size],
    path: &[&str],
    conditions: &[Condition],
    ranks: impl Fn(&Candidate, &[Size]) -> Span,
) -> Vec<Rule> {
    let mut rules = Vec::new();
    let (mut end, mut least) = (0, 0);
    for row in path.chunk_by(|one, other| one == other) {
        let here = &sizes[end..end + row.len()];
        let candidate = &here[0].candidates[row[0]];
        end += row.len();
        let next = |next: &Size| cut::between(&sizes[end - 1], path[end - 1], next, path[end]);
        let most = sizes.get(end).map_or(usize::MAX, next);
        rules.push(Rule {
            operation: group.operation,
            ranks: ranks(candidate, here),
            bytes: if (least, most) == (0, usize::MAX) { Span::ALL } else { Span { least, most } },
            bytes_of: BytesOf::Rank,
            wanted: candidate.choice.clone().map_or(Wanted::Native, Wanted::Algorithm),
            conditions: conditions.to_vec(),
            line: 0,
        });
        least = most.saturating_add(1);
    }
    rules
}

/// For which numbers of ranks a row of a candidate holds that was measured for these sizes.
fn ranks(candidate: &Candidate, sizes: &[Size], group: &Group, near: Span, extend: Extend) -> Span {
    match (&candidate.choice, extend) {
        // Nobody knows how the native library behaves among other numbers of ranks.
        (None, _) | (_, Extend::Exact) => group.exactly(),
        // Between two ranks most algorithms are the same messages, among three no longer.
        (Some(_), Extend::Near) if group.ranks == 2 => group.exactly(),
        (Some(_), Extend::Near) => near,
        (Some(choice), Extend::Alike | Extend::Estimated) => {
            let measured = sizes.iter().flat_map(|size| size.candidates.values());
            let measured: Vec<_> = measured.filter_map(|candidate| candidate.choice.as_ref()).collect();
            let bytes: Vec<_> = sizes.iter().map(|size| size.bytes).collect();
            reach(choice, &measured, group, &bytes, near, &|_| true)
        }
    }
}

/// Native's time over that of what was chosen for a size, in words; none where native was not measured.
fn ratio(group: &Group, size: &Size, candidate: &Candidate) -> Option<String> {
    let (ratio, to_native) = match candidate.choice {
        Some(_) => (candidate.against_native.exp(), ""),
        None => (size.native?.exp(), " native"),
    };
    size.native?;
    let undecided = if candidate.is_undecided { " undecided" } else { "" };
    Some(match group.operation.has_own_counts() {
        true => format!("{ratio:.2}{to_native}{undecided} over all sizes"),
        false => format!("{} {ratio:.2}{to_native}{undecided}", size.name()),
    })
}
