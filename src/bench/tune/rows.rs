//! Rows of one group: along the sizes the candidates that lose least, with a price for each change.

use super::cut;
use super::group::Group;
use super::losses::{Candidate, Size};
use super::path;
use super::reach::reach;
use super::settings::{Block, Extend, Settings};
use crate::algorithm::counted;
use crate::selection::{BytesOf, Rule, Span, Wanted};

/// The rows of a group; `all`: every group of the reports.
pub fn block<'a>(
    group: &Group,
    sizes: &[Size],
    all: impl Iterator<Item = &'a Group> + Clone,
    settings: Settings,
) -> Block {
    let near = group.nearest(all.clone());
    let ranks = |candidate: &Candidate, sizes: &[Size]| ranks(candidate, sizes, group, near, settings.extend);
    let mut path = path::cheapest(sizes, settings);
    if settings.extend == Extend::Alike {
        path::furthest(&mut path, sizes, |candidate, sizes| {
            let Span { least, most } = ranks(candidate, sizes);
            most - least
        });
    }
    let chosen: Vec<_> = sizes.iter().zip(&path).map(|(size, name)| &size.candidates[*name]).collect();
    let conditions = group.conditions(all);
    let mut rules: Vec<Rule> = Vec::new();
    let (mut end, mut least) = (0, 0);
    for row in chosen.chunk_by(|one, other| one.choice == other.choice) {
        let here = &sizes[end..end + row.len()];
        end += row.len();
        let next = |next: &Size| cut::between(&sizes[end - 1], path[end - 1], next, path[end]);
        let most = sizes.get(end).map_or(usize::MAX, next);
        rules.push(Rule {
            operation: group.operation,
            ranks: ranks(row[0], here),
            bytes: if (least, most) == (0, usize::MAX) { Span::ALL } else { Span { least, most } },
            bytes_of: BytesOf::Rank,
            wanted: row[0].choice.clone().map_or(Wanted::Native, Wanted::Algorithm),
            conditions: conditions.clone(),
            line: 0,
        });
        least = most.saturating_add(1);
    }
    let left = chosen.iter().filter(|candidate| candidate.choice.is_none()).count();
    let ratios: Vec<_> =
        sizes.iter().zip(&chosen).filter_map(|(size, candidate)| ratio(group, size, candidate)).collect();
    let ratios = if ratios.is_empty() { String::new() } else { format!("; native over this: {}", ratios.join(", ")) };
    let order = if group.is_commutative() { "" } else { ", not commutative" };
    let evidence = format!("{}{order}, {}{ratios}", group.name(), counted(group.ranks as usize, "rank"));
    let left_out = sizes.iter().filter_map(|size| size.left_out(group)).collect();
    Block { evidence, left_out, rules, sizes: (sizes.len(), left) }
}

/// For which numbers of ranks a row of a candidate holds that was measured for these sizes.
fn ranks(candidate: &Candidate, sizes: &[Size], group: &Group, near: Span, extend: Extend) -> Span {
    match (&candidate.choice, extend) {
        // Nobody knows how the native library behaves among other numbers of ranks.
        (None, _) | (_, Extend::Exact) => group.exactly(),
        (Some(_), Extend::Near) => near,
        (Some(choice), Extend::Alike) => {
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
