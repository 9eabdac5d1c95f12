//! Which rows of a run hold the calls that a verdict of mode `compare` is about.

use crate::algorithm::{Choice, Operation, Value, parse_choice};
use crate::monitor::{ComparisonRow, NATIVE, Row, Summary};

/// Places of the rows of Collie's algorithms that may have carried out the calls of `verdict`: it is about one of them
/// only where it is the only one. Rows do not tell apart whether order mattered. Where several kinds of reductions of a
/// size class were compared, an algorithm that does not keep order carried out those of which it does not matter, and
/// the others those of which it does.
///
/// What each rank knows its own counts of has one verdict for all lengths, and rows by lengths.
pub fn compared_with(summary: &Summary, verdict: &ComparisonRow, operation: Operation) -> Vec<usize> {
    let is_alike = |function: &str, communicator: usize, bytes_from: u64| {
        (function, communicator) == (verdict.function.as_str(), verdict.communicator)
            && (operation.has_own_counts() || bytes_from == verdict.bytes_from)
    };
    let is_ours = |row: &Row| is_alike(&row.function, row.communicator, row.bytes_from) && row.algorithm != NATIVE;
    let ours: Vec<usize> = (0..).zip(&summary.rows).filter(|(_, row)| is_ours(row)).map(|(place, _)| place).collect();
    let keeps = |place: &usize| keeps_order(operation, &summary.rows[*place].algorithm);
    let (in_order, others): (Vec<usize>, Vec<usize>) = ours.iter().copied().partition(keeps);
    let is_another_kind = |known: &ComparisonRow| {
        (known.commutative, known.reduce_local) != (verdict.commutative, verdict.reduce_local)
            && is_alike(&known.function, known.communicator, known.bytes_from)
    };
    let has_both = summary.comparisons.iter().any(is_another_kind);
    match (has_both, verdict.commutative) {
        (false, true) => ours,
        (true, true) if !others.is_empty() => others,
        _ => in_order,
    }
}

/// Whether reductions whose order matters may have been carried out by it; so too one that this catalogue does not
/// have.
fn keeps_order(operation: Operation, algorithm: &str) -> bool {
    fn is_ordered(choice: &Choice) -> bool {
        let inside = |(_, value): (_, &Value)| if let Value::Inner(inner) = value { is_ordered(inner) } else { true };
        choice.algorithm.ordered && choice.parameters.iter().all(inside)
    }
    parse_choice(operation, algorithm).map_or(true, |choice| is_ordered(&choice))
}
