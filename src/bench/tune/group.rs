//! Calls that are measured together.

use super::settings::Form;
use crate::algorithm::Operation;
use crate::bench::result::CellRow;
use crate::selection::{Condition, Implementation, Span, Transport, Versions};
use std::collections::BTreeSet;

/// Calls that are measured together and get rules of their own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Group {
    /// Of which operation.
    pub operation: Operation,
    one_node: bool,
    oversubscribed: bool,
    several_per_node: bool,
    /// Whether order matters to the reduction's operation.
    non_commutative: bool,
    /// Whether the MPI library folds the contributions.
    reduce_local: bool,
    /// Ranks on the node that has most of them. None where all that have several of them count alike.
    most_on_node: Option<u32>,
    /// None where all MPI libraries count alike.
    mpi: Option<(Implementation, Versions)>,
    /// Whether messages go through shared memory. None where all calls count alike.
    shares_memory: Option<bool>,
    /// Number of ranks.
    pub ranks: u32,
}

/// How ranks lie on nodes, as far as what was measured of one tells nothing of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Placement {
    /// One node.
    Together,
    /// Several nodes with one rank each.
    Apart,
    /// Several nodes with several ranks on some.
    Grouped,
}

impl Placement {
    /// The fewest ranks that can lie so.
    pub const fn fewest(self) -> usize {
        match self {
            Self::Together | Self::Apart => 2,
            Self::Grouped => 3,
        }
    }
}

/// What tables and conditions tell apart: one node, oversubscribed, several ranks on a node.
type Place = (bool, bool, bool);

impl Group {
    /// That of a cell, for rows of that form; `mpi` where libraries are told apart, `transport` where transports are.
    pub fn of(
        cell: &CellRow,
        form: Form,
        mpi: Option<(Implementation, Versions)>,
        transport: Option<Transport>,
    ) -> Self {
        let on_nodes = cell.ranks_per_node.iter();
        Self {
            operation: cell.cell.operation,
            one_node: cell.ranks_per_node.len() == 1,
            oversubscribed: cell.oversubscribed,
            several_per_node: on_nodes.clone().any(|ranks| *ranks > 1),
            non_commutative: !cell.cell.commutative,
            reduce_local: cell.cell.reduces_locally(),
            most_on_node: on_nodes.max().copied().filter(|_| form == Form::Tree),
            mpi,
            shares_memory: transport.map(|transport| transport == Transport::Shared),
            ranks: cell.ranks,
        }
    }

    const fn place(&self) -> Place {
        (self.one_node, self.oversubscribed, self.several_per_node && !self.one_node)
    }

    /// Whether all ranks share a node.
    pub const fn is_on_one_node(&self) -> bool {
        self.one_node
    }

    /// How its ranks lie on nodes.
    pub const fn placement(&self) -> Placement {
        match (self.one_node, self.several_per_node) {
            (true, _) => Placement::Together,
            (false, false) => Placement::Apart,
            (false, true) => Placement::Grouped,
        }
    }

    /// Whether ranks outnumber cores.
    pub const fn is_oversubscribed(&self) -> bool {
        self.oversubscribed
    }

    /// Whether no two ranks share a node.
    pub const fn is_one_per_node(&self) -> bool {
        !self.one_node && !self.several_per_node
    }

    /// Whether order does not matter to the reduction's operation, if it is a reduction.
    pub const fn is_commutative(&self) -> bool {
        !self.non_commutative
    }

    /// Whether the MPI library folds the contributions, as it does those of user-defined operations.
    pub const fn is_reduced_locally(&self) -> bool {
        self.reduce_local
    }

    /// Ranks on the node that has most of them, where a tree is made.
    pub fn most_on_node(&self) -> usize {
        self.most_on_node.unwrap_or(self.ranks) as usize
    }

    /// Whether messages go through shared memory.
    pub fn shares_memory(&self) -> bool {
        self.shares_memory == Some(true)
    }

    /// Whether conditions tell these calls from all others: not how many ranks lie on nodes that hold several, of which a
    /// table makes one row, but a tree does not.
    pub fn is_told_apart(&self) -> bool {
        self.most_on_node.is_none() || self.one_node || self.is_one_per_node()
    }

    /// What says that transport and MPI library are this group's; nothing where all count alike.
    pub fn library(&self) -> impl Iterator<Item = Condition> + use<> {
        let memory = self.shares_memory.map(|shares| match shares {
            true => Condition::SharedMemory,
            false => Condition::NoSharedMemory,
        });
        let conditions = |(implementation, versions)| [Condition::Mpi(implementation), Condition::MpiVersion(versions)];
        memory.into_iter().chain(self.mpi.map(conditions).into_iter().flatten())
    }

    /// Its operation, and the transport where transports are told apart, in words.
    pub fn name(&self) -> String {
        let through = match self.shares_memory {
            None => "",
            Some(true) => " through shared memory",
            Some(false) => " by messages",
        };
        self.operation.name().to_owned() + through
    }

    /// What tells the reduction's operation from a predefined one, after a comma.
    pub const fn of_operation(&self) -> &'static str {
        match (self.non_commutative, self.reduce_local) {
            (true, _) => ", not commutative",
            (false, true) => ", user-defined",
            (false, false) => "",
        }
    }

    /// The same calls among so many ranks.
    pub fn among(&self, ranks: u32) -> Self {
        // On one node all ranks are those of the node that has most.
        let most_on_node = self.most_on_node.map(|most| if self.one_node { ranks } else { most });
        Self { ranks, most_on_node, ..self.clone() }
    }

    /// Whether both are the same calls, but for the number of ranks.
    pub fn differs_in_ranks_only(&self, other: &Self) -> bool {
        self.among(other.ranks) == *other
    }

    /// Whether both are of one operation, and of one transport and MPI library where these are told apart.
    pub fn is_of_same_calls(&self, other: &Self) -> bool {
        let calls = |group: &Self| (group.operation, group.shares_memory, group.mpi);
        calls(self) == calls(other)
    }

    /// What has to hold for calls of this group, as far as the reports hold calls for which it does not.
    pub fn conditions<'a>(&self, all: impl Iterator<Item = &'a Self>) -> Vec<Condition> {
        let all: Vec<_> = all.collect();
        let of_operation = self.conditions_of_operation(all.iter().copied());
        let all: BTreeSet<Place> = all.into_iter().map(Self::place).collect();
        let mut conditions = Vec::new();
        if all.iter().any(|place| place.0 != self.one_node) {
            conditions.push(if self.one_node { Condition::OneNode } else { Condition::SeveralNodes });
        }
        if all.iter().any(|place| place.1 != self.oversubscribed) {
            conditions.push(match self.oversubscribed {
                true => Condition::Oversubscribed,
                false => Condition::NotOversubscribed,
            });
        }
        // Where both were measured, the others come last and need no condition.
        if !self.one_node && !self.several_per_node && all.iter().any(|place| place.2) {
            conditions.push(Condition::OnePerNode);
        }
        conditions.extend(of_operation);
        conditions.extend(self.library());
        conditions
    }

    /// What says of which operations the reductions of this group are, as far as the reports hold those of others: other
    /// algorithms may carry those out, of which measurements of one kind say nothing.
    fn conditions_of_operation<'a>(&self, all: impl Iterator<Item = &'a Self>) -> Vec<Condition> {
        let same: Vec<_> = all.filter(|other| other.operation == self.operation).collect();
        let has_both_orders = same.iter().any(|other| other.non_commutative != self.non_commutative);
        let commuting = |other: &&&Self| !other.non_commutative;
        let has_both_folds = same.iter().filter(commuting).any(|other| other.reduce_local != self.reduce_local);
        let mut conditions = Vec::new();
        if has_both_orders || self.non_commutative {
            conditions.push(if self.non_commutative { Condition::NonCommutative } else { Condition::Commutative });
        }
        // One that does not commute is always user-defined.
        if !self.non_commutative && (has_both_folds || self.reduce_local) {
            conditions.push(if self.reduce_local { Condition::ReduceLocal } else { Condition::NoReduceLocal });
        }
        conditions
    }

    /// Those [of their operations](Self::conditions_of_operation) that hold for all of `groups`.
    pub fn common_of_operation<'a>(
        groups: impl Iterator<Item = &'a Self> + Clone,
        all: impl Iterator<Item = &'a Self> + Clone,
    ) -> Vec<Condition> {
        let mut of_each = groups.clone().map(|group| group.conditions_of_operation(all.clone()));
        let mut common = of_each.next().unwrap_or_default();
        of_each.for_each(|conditions| common.retain(|condition| conditions.contains(condition)));
        // Some that commute and some that do not, all user-defined.
        if common.is_empty() && groups.clone().all(|group| group.reduce_local) {
            common.push(Condition::ReduceLocal);
        }
        common
    }

    /// What has to hold where all calls are on one node, or all on several, or ranks outnumber cores in all, and
    /// [`conditions`](Self::conditions) say nothing of it: what was measured there tells nothing of others.
    pub fn in_common<'a>(all: impl Iterator<Item = &'a Self> + Clone) -> Vec<Condition> {
        let places: BTreeSet<bool> = all.clone().map(|group| group.one_node).collect();
        let mut conditions = match Vec::from_iter(places)[..] {
            [true] => vec![Condition::OneNode],
            [false] => vec![Condition::SeveralNodes],
            _ => Vec::new(),
        };
        if all.clone().next().is_some() && all.clone().all(|group| group.oversubscribed) {
            conditions.push(Condition::Oversubscribed);
        }
        conditions
    }

    /// Whether no call on several nodes has several ranks on any of them, of which single ranks tell nothing.
    pub fn are_one_per_node<'a>(mut all: impl Iterator<Item = &'a Self>) -> bool {
        all.all(|group| group.one_node || group.is_one_per_node())
    }

    /// The numbers of ranks that are nearest to this group's among those measured, in ratio; none further away than a
    /// factor of two, beyond which a measurement says little.
    pub fn nearest<'a>(&self, all: impl Iterator<Item = &'a Self>) -> Span {
        let kind = |group: &Self| {
            let folded = (group.non_commutative, group.reduce_local);
            (group.operation, group.place(), folded, group.shares_memory, group.mpi)
        };
        let counts: BTreeSet<u32> = all.filter(|other| kind(other) == kind(self)).map(|other| other.ranks).collect();
        let middle = |one: u32, other: u32| (f64::from(one) * f64::from(other)).sqrt() as usize;
        let ranks = self.ranks;
        let after = counts.range(..ranks).next_back().map_or(0, |before| middle(*before, ranks) + 1);
        let until = counts.range(ranks + 1..).next().map_or(usize::MAX, |next| middle(ranks, *next));
        Span { least: after.max(ranks.div_ceil(2) as usize).max(2), most: until.min(2 * ranks as usize) }
    }

    /// Its own number of ranks.
    pub const fn exactly(&self) -> Span {
        Span { least: self.ranks as usize, most: self.ranks as usize }
    }
}
