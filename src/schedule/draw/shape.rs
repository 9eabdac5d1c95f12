//! What there is to draw: the messages by round, and the tree that they may form.

use crate::schedule::count::one_ported;
use crate::schedule::simulate::{Broken, Memory, Network, Observer, Span, Tapes, simulate_tapes};
use std::collections::{HashMap, VecDeque};

/// A message in the model of one port in either direction, where only rounds cost time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Message {
    pub from: usize,
    pub to: usize,
    pub bytes: u64,
    /// Rounds before it departs.
    pub departs: usize,
    /// Rounds until it has arrived.
    pub arrives: usize,
}

#[derive(Default)]
struct Watch {
    messages: Vec<Message>,
    /// By sender and receiver: those on their way.
    travelling: HashMap<(usize, usize), VecDeque<usize>>,
}

impl Observer for Watch {
    fn transfer(&mut self, from: usize, to: usize, departs: bool, bytes: u64, span: Span) {
        let travelling = self.travelling.entry((from, to)).or_default();
        if departs {
            travelling.push_back(self.messages.len());
            self.messages.push(Message { from, to, bytes, departs: span.start as usize, arrives: 0 });
        } else if let Some(message) = travelling.pop_front() {
            self.messages[message].arrives = span.end as usize;
        }
    }

    fn notified(&mut self, from: usize, to: usize, span: Span) {
        let (departs, arrives) = (span.start as usize, span.end as usize);
        self.messages.push(Message { from, to, bytes: 0, departs, arrives });
    }
}

/// All messages by round; in shared memory, who sees whose flag.
pub fn messages(tapes: &Tapes) -> Result<Vec<Message>, Broken> {
    let mut watch = Watch::default();
    let memory = Memory { notification: 1.0, arrival: 1.0, ..Memory::FREE };
    simulate_tapes(tapes, &Network { memory, ..one_ported(1.0, 0.0, 0.0) }, &[], &mut watch)?;
    watch.messages.sort_by_key(|message| (message.departs, message.from, message.to));
    Ok(watch.messages)
}

/// A tree of ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    pub root: usize,
    /// By rank, in the order of their first messages.
    pub children: Vec<Vec<usize>>,
    /// By rank: rounds before its first message to or from its parent departs.
    pub round: Vec<usize>,
    /// Whether messages go from the root to the leaves.
    pub down: bool,
    /// To whom the root passes the result on in the end.
    pub passes_on_to: Option<usize>,
}

impl Tree {
    /// The tree up which the messages go, perhaps to another rank than `root`, which then passes the result on to it.
    pub fn up(messages: &[Message], size: usize, root: usize) -> Option<Self> {
        Self::of(messages, size, root, false).or_else(|| {
            let inner =
                messages.iter().filter(|message| message.to == root).max_by_key(|message| message.arrives)?.from;
            let rest: Vec<_> =
                messages.iter().copied().filter(|other| (other.from, other.to) != (inner, root)).collect();
            Self::of(&rest, size, inner, false).map(|tree| Self { passes_on_to: Some(root), ..tree })
        })
    }

    /// The tree that the messages form, if each goes along one of its edges and all in the same direction.
    pub fn of(messages: &[Message], size: usize, root: usize, down: bool) -> Option<Self> {
        let mut parent = vec![None; size];
        let mut tree = Self { root, children: vec![Vec::new(); size], round: vec![0; size], down, passes_on_to: None };
        for message in messages {
            let (above, below) = if down { (message.from, message.to) } else { (message.to, message.from) };
            match parent[below] {
                None => {
                    parent[below] = Some(above);
                    tree.children[above].push(below);
                    tree.round[below] = message.departs;
                }
                Some(known) if known == above => {}
                Some(_) => return None,
            }
        }
        let mut reached = 0;
        let mut open = vec![root];
        while let Some(rank) = open.pop() {
            reached += 1;
            if reached > size {
                return None;
            }
            open.extend(&tree.children[rank]);
        }
        (parent[root].is_none() && reached == size && size > 1).then_some(tree)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{Call, Choice, Operation, find};
    use crate::schedule::lower::Form;

    fn drawn(operation: Operation, name: &str, size: usize) -> Vec<Message> {
        let call = Call::plain(operation, 64, 1);
        let choice = Choice::new(find(operation, name).unwrap());
        messages(&Tapes::record(&choice, &call, size, &Form::PLAIN, usize::MAX).unwrap()).unwrap()
    }

    #[test]
    fn a_binomial_broadcast_is_a_tree() {
        let messages = drawn(Operation::Bcast, "binomial", 7);
        let tree = Tree::of(&messages, 7, 0, true).unwrap();
        assert_eq!(tree.children[0], [4, 2, 1]);
        assert_eq!(tree.children[4], [6, 5]);
        assert_eq!(tree.round, [0, 2, 1, 2, 0, 2, 1]);
        assert_eq!(Tree::of(&messages, 7, 0, false), None);
    }

    #[test]
    fn a_reduction_to_an_inner_root_is_a_tree_that_passes_on() {
        let messages = drawn(Operation::Reduce, "in_order_binary", 7);
        let tree = Tree::up(&messages, 7, 0).unwrap();
        assert_eq!((tree.root, tree.passes_on_to), (6, Some(0)));
    }

    #[test]
    fn an_exchange_is_no_tree_and_has_its_rounds() {
        let messages = drawn(Operation::Allreduce, "recursive_doubling", 8);
        assert_eq!(Tree::of(&messages, 8, 0, true), None);
        assert_eq!(messages.len(), 24);
        for message in messages {
            assert_eq!(message.from ^ message.to, 1 << message.departs);
            assert_eq!(message.arrives, message.departs + 1);
        }
    }
}
