//! How fast segments go through each tree, in closed form: a rank need not walk the whole tree to cut its message.

use crate::algorithm::optimum::Pace;
use crate::pattern::hypercube::floor_log2;
use crate::pattern::ordered::fibonacci_rounds;

/// Through [`Complete`](crate::pattern::complete::Complete) trees. With h full levels below the root and f ranks in
/// those and at the root, the first segment takes kh + ⌊(p − f)/k^h⌋ rounds: one more for each k^h ranks of the last
/// level, which fills from the side that is served first.
pub const fn complete(ranks: usize, radix: usize) -> Pace {
    if ranks == 1 {
        return Pace::new(0, 0);
    }
    if radix == 1 {
        return Pace::new(ranks - 1, 1);
    }
    let period = if radix < ranks { radix } else { ranks - 1 };
    let (mut full, mut width, mut first) = (1, 1, 0);
    // The level below has `radix` times as many ranks as this one, if they are all there.
    while ranks - full >= width * period {
        width *= period;
        full += width;
        first += period;
    }
    Pace::new(first + (ranks - full) / width, period)
}

/// Through [`Preorder`](crate::pattern::ordered::Preorder) trees of halves: as long as through complete binary ones.
pub const fn preorder(ranks: usize) -> Pace {
    complete(ranks, 2)
}

/// Through [`Postorder`](crate::pattern::ordered::Postorder) trees: ⌊log2 p⌋ + ⌊log2(p/3)⌋ + 1 rounds.
pub const fn postorder(ranks: usize) -> Pace {
    match ranks {
        1 => Pace::new(0, 0),
        2 => Pace::new(1, 1),
        _ => Pace::new((floor_log2(ranks) + floor_log2(ranks / 3)) as usize + 1, 2),
    }
}

/// Through Fibonacci trees, in which the first three ranks are a chain.
pub fn fibonacci(ranks: usize) -> Pace {
    let period = if ranks > 3 { 2 } else { (ranks - 1).min(1) };
    Pace::new(fibonacci_rounds(ranks), period)
}

/// Through [`Chains`](crate::pattern::chain::Chains): the last and longest one is served first.
pub fn chains(ranks: usize, chains: usize) -> Pace {
    let below = ranks - 1;
    let period = chains.min(below);
    Pace::new(if below == 0 { 0 } else { period + below / period - 1 }, period)
}

/// Through the slower one of both [`TwoTree`](crate::pattern::two_tree::TwoTree)s: 2⌊log2 p⌋ rounds, but that the
/// second tree of four ranks lacks the leaf that would be last.
pub const fn two_trees(ranks: usize) -> Pace {
    match ranks {
        1 => Pace::new(0, 0),
        2 => Pace::new(1, 1),
        4 => Pace::new(3, 2),
        _ => Pace::new(2 * floor_log2(ranks) as usize, 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::chain::Chains;
    use crate::pattern::complete::Complete;
    use crate::pattern::ordered::{Division, Postorder, Preorder};
    use crate::pattern::tree::{Tree, rounds};
    use crate::pattern::two_tree::TwoTree;

    #[test]
    fn segments_go_through_trees_as_fast_as_counted() {
        for ranks in 1..=300 {
            let paced = |pace: Pace, tree: &dyn Tree| {
                for segments in [1, 2, 3, 9] {
                    assert_eq!(pace.rounds(segments), rounds(tree, segments), "p = {ranks}, {segments} segments");
                }
            };
            for radix in [1, 2, 3, 4, 5, 7, 63, 300, 1000] {
                paced(complete(ranks, radix), &Complete { ranks, radix });
                paced(chains(ranks, radix), &Chains { ranks, chains: radix });
            }
            paced(preorder(ranks), &Preorder { ranks, division: Division::Halves });
            paced(postorder(ranks), &Postorder { ranks });
            paced(fibonacci(ranks), &Preorder { ranks, division: Division::Fibonacci });
            let both = [false, true].map(|second| rounds(&TwoTree { ranks, second }, 1));
            assert_eq!(Some(two_trees(ranks).rounds(1)), both.into_iter().max(), "p = {ranks}");
        }
    }
}
