//! Who is which rank of which board: each node has one, and numbers its ranks in ascending order.

/// The number of each rank on its node, and back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seats {
    /// By rank: node, and number there.
    seats: Vec<(usize, usize)>,
    /// By node: its ranks.
    members: Vec<Vec<usize>>,
}

impl Seats {
    /// Of `size` ranks where `nodes` has the node of each, as in [`Call`](crate::operation::Call): one node if it is
    /// empty.
    pub fn new(nodes: &[u32], size: usize) -> Self {
        let mut members = vec![Vec::new(); nodes.iter().max().map_or(1, |last| *last as usize + 1)];
        let seat = |rank| {
            let node = nodes.get(rank).map_or(0, |node| *node as usize);
            let of_node: &mut Vec<usize> = &mut members[node];
            of_node.push(rank);
            (node, of_node.len() - 1)
        };
        let seats = (0..size).map(seat).collect();
        Self { seats, members }
    }

    /// Node of a rank, and its number there.
    pub fn of(&self, rank: usize) -> (usize, usize) {
        self.seats[rank]
    }

    /// The rank with a number on a node.
    pub fn rank(&self, node: usize, seat: usize) -> usize {
        self.members[node][seat]
    }

    /// How many ranks each node has.
    pub fn widths(&self) -> impl Iterator<Item = usize> {
        self.members.iter().map(Vec::len)
    }
}

#[cfg(test)]
mod tests {
    use super::Seats;

    #[test]
    fn ranks_of_a_node_are_numbered_in_order() {
        let seats = Seats::new(&[0, 1, 0, 2, 1], 5);
        assert_eq!((0..5).map(|rank| seats.of(rank)).collect::<Vec<_>>(), [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1)]);
        assert!((0..5).all(|rank| seats.rank(seats.of(rank).0, seats.of(rank).1) == rank));
        assert_eq!(seats.widths().collect::<Vec<_>>(), [2, 2, 1]);
        assert_eq!(Seats::new(&[], 3).of(2), (0, 2));
    }
}
