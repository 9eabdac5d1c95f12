//! Trees over a process grid: along the rows first, then along the columns, and so on for more dimensions.

use super::linear_array::LinearArray;
use super::tree::{Child, Links, Tree};
use smallvec::SmallVec;

/// A grid of `ranks` ranks in row-major order, the last size the fastest.
///
/// The first size is taken as large as the number of ranks asks for; the last of its layers may be incomplete, so any
/// number of ranks has a grid of any width.
#[derive(Clone, Debug)]
pub struct Mesh {
    ranks: usize,
    /// Sizes of all dimensions but the first, the fastest first.
    sizes: SmallVec<[usize; 4]>,
}

impl Mesh {
    /// A grid of sizes `dims`, each at least 1.
    pub fn new(ranks: usize, dims: &[usize]) -> Self {
        Self { ranks, sizes: dims.iter().skip(1).rev().copied().collect() }
    }

    /// The two-dimensional grid without gaps that is nearest to a square, its rows not shorter than its columns.
    pub fn balanced(ranks: usize) -> Self {
        let rows = (1..=ranks.isqrt()).rev().find(|rows| ranks.is_multiple_of(*rows));
        Self::new(ranks, &[0, ranks / rows.unwrap_or(1)])
    }

    /// Stride and size of every dimension, the fastest first.
    fn dimensions(&self) -> impl Iterator<Item = (usize, usize)> {
        let mut stride = 1usize;
        let ranks = self.ranks;
        let rest = std::iter::once(usize::MAX);
        self.sizes.iter().copied().chain(rest).map_while(move |size| {
            let own = stride;
            stride = stride.saturating_mul(size);
            (own < ranks).then_some((own, size))
        })
    }
}

impl Tree for Mesh {
    fn ranks(&self) -> usize {
        self.ranks
    }

    /// A number is reached along the slowest dimension in which it is not first, and then serves the slower ones.
    fn links(&self, v: usize) -> Links {
        let mut links = Links::new(v, None, None);
        for (stride, size) in self.dimensions() {
            let (place, base) = (v / stride % size, v % stride);
            if v / stride / size != 0 {
                // Not first along a slower dimension: it was reached along that one, later.
                continue;
            }
            let line = LinearArray { ranks: (self.ranks - base).div_ceil(stride).min(size) };
            let along = line.links(place).renumbered(|place| base + place * stride);
            links.parent = links.parent.or(along.parent);
            links.children.extend(along.children.iter().map(|child| Child { number: child.number, before: false }));
        }
        links
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::hypercube::ceil_log2;
    use crate::pattern::tree::{check, rounds};

    #[test]
    fn grids_of_any_width_are_trees() {
        for ranks in 1..=64 {
            for dims in
                [&[1][..], &[2, 1], &[1, 2], &[4, 4], &[3, 5], &[2, 2, 2], &[3, 2, 4], &[1, 64], &[9, 1, 3, 1, 2]]
            {
                let tree = Mesh::new(ranks, dims);
                check::is_tree(&tree);
                check::rounds_are_as_counted(&tree);
            }
            check::is_tree(&Mesh::balanced(ranks));
        }
    }

    #[test]
    fn a_full_grid_takes_the_rounds_of_its_dimensions_one_after_the_other() {
        for rows in 1..=8 {
            for columns in 1..=8 {
                let tree = Mesh::new(rows * columns, &[rows, columns]);
                assert_eq!(rounds(&tree, 1), (ceil_log2(rows) + ceil_log2(columns)) as usize);
            }
        }
    }
}
