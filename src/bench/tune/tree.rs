//! Decision trees: rows over sizes, numbers of ranks and places at once, so that what was measured decides for what
//! lies between.
//!
//! A tree of an operation splits the measured calls by what rules can say, each time where the algorithms that are best
//! on either side lose least, until nothing is gained. Then splits that gain less than the price of a change for each
//! row that they add are taken back (cost-complexity pruning: Breiman, Friedman, Olshen, Stone 1984). What is least is
//! the time that is lost, not the number of calls for which another algorithm was the fastest: libraries of decision
//! trees count these, and a call in which two algorithms are level then weighs as much as one in which they differ by a
//! factor.

use super::cut;
use super::group::Group;
use super::leaf::{Example, Leaf};
use super::losses::{Candidate, Size};
use super::path::EQUAL;
use super::settings::{Block, Settings};
use crate::algorithm::counted;
use crate::selection::{BytesOf, Condition, Rule, Span, Wanted};
use std::collections::{BTreeMap, BTreeSet};

/// What a split asks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Question {
    /// No more bytes than that?
    Bytes(usize),
    /// No more ranks than that?
    Ranks(usize),
    /// Several nodes?
    SeveralNodes,
    /// More ranks than cores?
    Oversubscribed,
    /// No two ranks on a node?
    OnePerNode,
    /// A power of two of ranks?
    PowerOfTwo,
    /// A reduction whose order does not matter?
    Commutative,
    /// A reduction whose contributions the MPI library folds?
    ReduceLocal,
    /// No more ranks than that on any node?
    RanksPerNode(usize),
}

impl Question {
    fn holds(self, example: &Example) -> bool {
        match self {
            Self::Bytes(most) => example.size.longest() <= most,
            Self::Ranks(most) => example.group.ranks as usize <= most,
            Self::SeveralNodes => !example.group.is_on_one_node(),
            Self::Oversubscribed => example.group.is_oversubscribed(),
            Self::OnePerNode => example.group.is_one_per_node(),
            Self::PowerOfTwo => example.group.ranks.is_power_of_two(),
            Self::Commutative => example.group.is_commutative(),
            Self::ReduceLocal => example.group.is_reduced_locally(),
            Self::RanksPerNode(most) => example.group.most_on_node() <= most,
        }
    }

    /// All that tell some of the examples from others.
    fn all(examples: &[Example]) -> Vec<Self> {
        let between = |of: fn(&Example) -> usize| {
            let values: BTreeSet<usize> = examples.iter().map(of).collect();
            let values: Vec<usize> = values.into_iter().collect();
            values.windows(2).map(|pair| middle(pair[0], pair[1])).collect::<Vec<_>>()
        };
        let bytes = between_classes(examples).into_iter().map(Self::Bytes);
        let ranks = between(|example| example.group.ranks as usize).into_iter().map(Self::Ranks);
        let on_node = between(|example| example.group.most_on_node()).into_iter().map(Self::RanksPerNode);
        let words = [
            Self::SeveralNodes,
            Self::Oversubscribed,
            Self::OnePerNode,
            Self::PowerOfTwo,
            Self::Commutative,
            Self::ReduceLocal,
        ];
        let words = words.into_iter().filter(|question| {
            let holds = examples.iter().filter(|example| question.holds(example)).count();
            holds > 0 && holds < examples.len()
        });
        bytes.chain(ranks).chain(words).chain(on_node).collect()
    }
}

/// What is no more than `low` and what is at least `high` part here: in the middle, in ratio.
fn middle(low: usize, high: usize) -> usize {
    ((low.max(1) as f64 * high as f64).sqrt() as usize).clamp(low, high - 1)
}

/// Numbers of bytes that tell examples apart and lie in no size class: calls of a class are the same to whoever measured
/// them, whatever their mean.
fn between_classes(examples: &[Example]) -> Vec<usize> {
    let classes: BTreeSet<_> =
        examples.iter().map(|example| (example.size.shortest(), example.size.longest())).collect();
    let mut most = None;
    let mut all = Vec::new();
    for (shortest, longest) in classes {
        all.extend(most.filter(|most| *most < shortest).map(|most| middle(most, shortest)));
        most = most.max(Some(longest));
    }
    all
}

enum Node<'a> {
    Leaf(Leaf<'a>),
    Split { question: Question, yes: Box<Node<'a>>, no: Box<Node<'a>> },
}

/// How mixed the examples are by which candidate is the best of each: their number times Gini's impurity. Of splits
/// that gain alike the one that sorts them best is what the next ones can gain most after.
fn mixed(examples: &[Example]) -> f64 {
    let mut best: BTreeMap<&str, f64> = BTreeMap::new();
    for example in examples {
        let loss = |candidate: &Candidate| candidate.loss.total();
        let least = example.size.candidates.iter().min_by(|one, other| loss(one.1).total_cmp(&loss(other.1)));
        *best.entry(least.map_or("", |(name, _)| name)).or_default() += 1.0;
    }
    let number = examples.len() as f64;
    number - best.values().map(|of| of * of).sum::<f64>() / number
}

impl<'a> Node<'a> {
    /// Splits as long as that gains something.
    fn grown(examples: Vec<Example<'a>>) -> Self {
        let leaf = Leaf::of(examples);
        if leaf.loss < EQUAL {
            return Self::Leaf(leaf);
        }
        let split = |question: &Question| -> [Vec<Example<'a>>; 2] {
            let (yes, no) = leaf.examples.iter().copied().partition(|example| question.holds(example));
            [yes, no]
        };
        let mut best: Option<(f64, f64, Question)> = None;
        for question in Question::all(&leaf.examples) {
            let sides = split(&question);
            let mixed: f64 = sides.iter().map(|side| mixed(side)).sum();
            let loss: f64 = sides.into_iter().map(|side| Leaf::of(side).loss).sum();
            let is_better = best.is_none_or(|(least, least_mixed, _)| {
                loss < least - EQUAL || (loss < least + EQUAL && mixed < least_mixed - EQUAL)
            });
            if is_better {
                best = Some((loss, mixed, question));
            }
        }
        // A split that gains nothing by itself may be what the next ones need; pruning takes back what was in vain.
        let Some((.., question)) = best else { return Self::Leaf(leaf) };
        let [yes, no] = split(&question).map(|side| Box::new(Self::grown(side)));
        Self::Split { question, yes, no }
    }

    /// Takes splits back that gain less than `price` for each leaf more; loss and leaves of what remains.
    fn pruned(self, price: f64) -> (Self, f64, usize) {
        let (question, yes, no) = match self {
            Self::Leaf(leaf) => {
                let loss = leaf.loss;
                return (Self::Leaf(leaf), loss, 1);
            }
            Self::Split { question, yes, no } => (question, yes, no),
        };
        let ((yes, yes_loss, yes_leaves), (no, no_loss, no_leaves)) = (yes.pruned(price), no.pruned(price));
        let (loss, leaves) = (yes_loss + no_loss, yes_leaves + no_leaves);
        let mut examples = Vec::new();
        yes.collect(&mut examples);
        no.collect(&mut examples);
        let whole = Leaf::of(examples);
        if whole.loss - loss < price * (leaves - 1) as f64 + EQUAL {
            let loss = whole.loss;
            return (Self::Leaf(whole), loss, 1);
        }
        (Self::Split { question, yes: Box::new(yes), no: Box::new(no) }, loss, leaves)
    }

    fn collect(&self, examples: &mut Vec<Example<'a>>) {
        match self {
            Self::Leaf(leaf) => examples.extend(&leaf.examples),
            Self::Split { yes, no, .. } => {
                yes.collect(examples);
                no.collect(examples);
            }
        }
    }

    /// The leaf of its longest, or else of its shortest calls; none where ranks or places decide which that is.
    fn edge(&self, longest: bool) -> Option<&Leaf<'a>> {
        match self {
            Self::Leaf(leaf) => Some(leaf),
            Self::Split { question: Question::Bytes(_), yes, no } => if longest { no } else { yes }.edge(longest),
            Self::Split { .. } => None,
        }
    }

    /// The most bytes of this node where `longer` is for more bytes: between the longest calls here and the shortest
    /// there, where the times of what is chosen for them meet, in the mean over groups that have both. None where they
    /// do not tell.
    fn cut(&self, longer: &Self) -> Option<usize> {
        let (one, other) = (self.edge(true)?, longer.edge(false)?);
        let (mut here, mut there) = (Vec::new(), Vec::new());
        self.collect(&mut here);
        longer.collect(&mut there);
        let low = here.iter().map(|example| example.size.longest()).max()?;
        let high = there.iter().map(|example| example.size.shortest()).min()?;
        let last = |group: &Group| {
            let of_group = one.examples.iter().filter(|example| example.group == group);
            of_group.max_by_key(|example| example.size.bytes)
        };
        let mut firsts: BTreeMap<&Group, &Size> = BTreeMap::new();
        for Example { group, size } in &other.examples {
            let first = firsts.entry(*group).or_insert(*size);
            if size.bytes < first.bytes {
                *first = *size;
            }
        }
        let share = |(group, after): (&Group, &Size)| cut::share(last(group)?.size, one.name, after, other.name);
        let shares: Vec<f64> = firsts.into_iter().filter_map(share).collect();
        let share = (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)?;
        let (from, to) = ((low.max(1) as f64).ln(), (high.max(1) as f64).ln());
        (low < high).then(|| ((from + share * (to - from)).exp() as usize).clamp(low, high - 1))
    }

    /// Rules for each leaf, within what `rule` says.
    fn rules(&self, rule: &Rule, settings: Settings, rules: &mut Vec<Rule>) {
        match self {
            Self::Leaf(leaf) => leaf.rules(rule, settings, rules),
            Self::Split { question, yes, no } => {
                let mut inside = [rule.clone(), rule.clone()];
                match *question {
                    Question::Bytes(most) => {
                        let most = yes.cut(no).unwrap_or(most);
                        inside[0].bytes.most = most;
                        inside[1].bytes.least = most + 1;
                    }
                    Question::Ranks(most) => {
                        inside[0].ranks.most = most;
                        inside[1].ranks.least = most + 1;
                    }
                    Question::SeveralNodes => {
                        inside[0].conditions.push(Condition::SeveralNodes);
                        inside[1].conditions.push(Condition::OneNode);
                    }
                    Question::Oversubscribed => {
                        inside[0].conditions.push(Condition::Oversubscribed);
                        inside[1].conditions.push(Condition::NotOversubscribed);
                    }
                    // Leaves say how the others lie.
                    Question::OnePerNode => inside[0].conditions.push(Condition::OnePerNode),
                    Question::PowerOfTwo => {
                        inside[0].conditions.push(Condition::PowerOfTwo);
                        inside[1].conditions.push(Condition::NotPowerOfTwo);
                    }
                    Question::Commutative => {
                        inside[0].conditions.push(Condition::Commutative);
                        inside[1].conditions.push(Condition::NonCommutative);
                    }
                    Question::ReduceLocal => {
                        inside[0].conditions.push(Condition::ReduceLocal);
                        inside[1].conditions.push(Condition::NoReduceLocal);
                    }
                    Question::RanksPerNode(most) => {
                        inside[0].narrow_ranks_per_node(Span { least: 1, most });
                        inside[1].narrow_ranks_per_node(Span { least: most + 1, most: usize::MAX });
                    }
                }
                yes.rules(&inside[0], settings, rules);
                no.rules(&inside[1], settings, rules);
            }
        }
    }
}

/// The rules of one operation, and of one MPI library where these are told apart, with what they rest on; `all`: every
/// group of the reports.
pub fn block<'a>(
    groups: &[(&'a Group, Vec<Size>)],
    all: impl Iterator<Item = &'a Group> + Clone,
    settings: Settings,
) -> Option<Block> {
    let (group, _) = groups.first()?;
    let examples: Vec<_> =
        groups.iter().flat_map(|(group, sizes)| sizes.iter().map(move |size| Example { group, size })).collect();
    let cells = examples.len();
    let (tree, loss, leaves) = Node::grown(examples).pruned(settings.price);
    let rule = Rule {
        operation: group.operation,
        ranks: Span::ALL,
        bytes: Span::ALL,
        bytes_of: BytesOf::Rank,
        wanted: Wanted::Native,
        // What splits tell apart, rules say.
        conditions: Group::common_of_operation(groups.iter().map(|(group, _)| *group), all),
        line: 0,
    };
    let mut rules = Vec::new();
    tree.rules(&rule, settings, &mut rules);
    rules.sort_by_key(|rule| !rule.conditions.contains(&Condition::OnePerNode));
    rules.iter_mut().for_each(|rule| rule.conditions.extend(group.library()));
    let left = tree.count(&|leaf, _| leaf.candidate.choice.is_none());
    let undecided = tree
        .count(&|leaf, example| example.size.candidates.get(leaf.name).is_some_and(|candidate| candidate.is_undecided));
    let is_alike = groups.iter().all(|(other, _)| other.of_operation() == group.of_operation());
    let of_operation = if is_alike { group.of_operation() } else { "" };
    let evidence = format!(
        "{}{}, a tree of {} over {}, which loses {:.1} % on average{}",
        group.name(),
        of_operation,
        counted(leaves, "row"),
        counted(cells, "cell"),
        100.0 * (loss / cells as f64).exp_m1(),
        if undecided > 0 { format!("; undecided against native in {undecided}") } else { String::new() }
    );
    let sizes = groups.iter().flat_map(|(group, sizes)| sizes.iter().map(move |size| (group, size)));
    let left_out = sizes.filter_map(|(group, size)| size.left_out(group)).collect();
    Some(Block { evidence, left_out, rules, sizes: (cells, left) })
}

impl Node<'_> {
    /// The examples of which this holds, with the leaf that each is in.
    fn count(&self, holds: &dyn Fn(&Leaf, &Example) -> bool) -> usize {
        match self {
            Self::Leaf(leaf) => leaf.examples.iter().filter(|example| holds(leaf, example)).count(),
            Self::Split { yes, no, .. } => yes.count(holds) + no.count(holds),
        }
    }
}
