//! Lowering: from an algorithm's steps to the actions that are carried out.
//!
//! [`Lower`] is the [`Comm`] that an algorithm speaks to. It keeps the steps up to the next wait in a window, fuses
//! what is waited for at once into blocking calls ([`fuse`]), cuts messages into [`Fragments`], and hands actions to a
//! [`Sink`]: a list that is kept for the next like call, or the player itself where the list would grow too long. Two
//! more passes go over lists: [`results_in_place`], and [`local_reduction`] where no kernel knows the operation.
//!
//! Both ends of a message cut it alike, as they agree on its length; which calls block is each rank's own affair.

mod fuse;
mod liveness;
mod local_reduction;
mod results_in_place;
mod slots;
#[cfg(test)]
mod tests;

use super::action::{Action, Expansion, Lowered, Message, Sink, Steps};
use super::fragments::Fragments;
use super::limits::ProtocolLimits;
use super::record::{Program, Step};
use crate::operation::comm::{Buffer, Comm, Range, Request};
use crate::operation::{Call, Choice, Shared, Stage};
use local_reduction::LocalReduction;
use slots::Slots;

/// Steps that wait for company at most: an algorithm that starts more messages than that before it waits gets none
/// fused.
const WINDOW: usize = 1024;

/// How actions combine two ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// By a kernel, which takes three ranges.
    Kernel,
    /// By `PMPI_Reduce_local`, which takes two.
    ReduceLocal {
        /// Whether the two may change places: not where several ranks compute the same, which must get the same bits.
        may_swap: bool,
    },
}

impl Combine {
    /// By `PMPI_Reduce_local`, in a call of a choice. Sides may change where one rank computes what all get, unless
    /// another algorithm is to give the same result.
    pub fn local(choice: &Choice, call: &Call, reproducible: bool) -> Self {
        let alone = call.operation.rooted() || choice.algorithm.alone;
        Self::ReduceLocal { may_swap: call.commutative && alone && !reproducible }
    }
}

/// What a call is lowered for, besides the algorithm and the call: the passes that apply.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// Which messages travel in fragments.
    pub fragments: Fragments,
    /// Whether what is waited for at once may block; otherwise everything is started and waited for.
    pub blocking: bool,
    /// Whether the send and the receive buffer share no memory.
    pub apart: bool,
    /// How ranges are combined.
    pub combine: Combine,
}

impl Form {
    /// Messages whole, blocking where possible, kernels, buffers apart: what most calls within a node run as.
    pub const PLAIN: Self = Self {
        fragments: Fragments { between_nodes: None, within_node: ProtocolLimits::NONE },
        blocking: true,
        apart: true,
        combine: Combine::Kernel,
    };
}

/// A call of a choice, as one rank of several sees it.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// The algorithm and its parameters.
    pub choice: &'a Choice,
    /// The call.
    pub call: &'a Call<'a>,
    /// Own rank.
    pub rank: usize,
    /// Number of ranks.
    pub size: usize,
}

/// Lowers the rank's part into a list; `None` if that would take more than `most` actions.
pub fn lower(part: &Part, form: &Form, most: usize) -> Option<Lowered> {
    lower_stage(part, Stage::Whole, form, most)
}

/// The same of one stage. Those of the stages, one after the other, do what that of the whole does: the first one ends
/// in a wait, and no pass looks beyond a wait but those over results in place and local reductions, which only look at
/// what is folded: of operations with stages, nothing is.
pub fn lower_stage(part: &Part, stage: Stage, form: &Form, most: usize) -> Option<Lowered> {
    let mut kept = Kept { actions: Vec::new(), scratch: 0, most };
    let requests = stream_stage(part, stage, &Form { combine: Combine::Kernel, ..*form }, &mut kept);
    if kept.actions.len() > most {
        return None;
    }
    let Kept { mut actions, mut scratch, .. } = kept;
    if form.apart {
        results_in_place::apply(&mut actions, form.combine == Combine::ReduceLocal { may_swap: false });
    }
    if let Combine::ReduceLocal { may_swap } = form.combine {
        let local = LocalReduction::new(may_swap, part.call.unit, form.apart);
        (actions, scratch) = local_reduction::apply(&actions, scratch, local);
    }
    // Calls that need no working memory are spared asking for it.
    if !actions.iter().any(liveness::uses_scratch) {
        scratch = 0;
    }
    Some(Lowered { actions: actions.into(), scratch, requests })
}

/// Lowers the rank's part action by action. Gives the number of places in the table of requests that it took.
///
/// The pass over results in place does not apply, and right sides are not written over: both have to see the whole list.
pub fn stream(part: &Part, form: &Form, sink: &mut impl Sink) -> usize {
    stream_stage(part, Stage::Whole, form, sink)
}

/// The same of one stage.
pub fn stream_stage(part: &Part, stage: Stage, form: &Form, sink: &mut impl Sink) -> usize {
    let Part { choice, call, rank, size } = *part;
    stream_body(rank, size, call.unit, call.nodes, form, sink, |comm| choice.run(stage, comm, call))
}

/// The same for any body, with units of `unit` bytes and ranks on `nodes`.
pub fn stream_body(
    rank: usize,
    size: usize,
    unit: usize,
    nodes: &[u32],
    form: &Form,
    sink: &mut impl Sink,
    body: impl FnOnce(&mut dyn Comm),
) -> usize {
    let local = match form.combine {
        Combine::Kernel => None,
        Combine::ReduceLocal { may_swap } => Some(LocalReduction::new(may_swap, unit, form.apart)),
    };
    let mut lower = Lower {
        rank,
        size,
        unit,
        nodes,
        form,
        local,
        window: Vec::new(),
        requests: 0,
        scratch: 0,
        slots: Slots::default(),
        sink,
    };
    body(&mut lower);
    lower.flush(&[]);
    lower.slots.most()
}

/// All ranks' programs, by rank, as the actions of `form` come to.
pub fn lower_all(choice: &Choice, call: &Call, size: usize, form: &Form) -> Vec<Program> {
    let program = |rank| {
        let lowered = lower(&Part { choice, call, rank, size }, form, usize::MAX).expect("there is no limit");
        Program { learned: choice.lengths(rank, size), ..lowered.program() }
    };
    (0..size).map(program).collect()
}

/// All ranks' programs, by rank, of actions that are carried out as they come.
pub fn stream_all(choice: &Choice, call: &Call, size: usize, form: &Form) -> Vec<Program> {
    let program = |rank| {
        let mut expansion = Expansion::new(Steps::default());
        stream(&Part { choice, call, rank, size }, form, &mut expansion);
        Program { learned: choice.lengths(rank, size), ..expansion.program() }
    };
    (0..size).map(program).collect()
}

/// A list, up to a limit.
struct Kept {
    actions: Vec<Action>,
    scratch: usize,
    most: usize,
}

impl Sink for Kept {
    fn take(&mut self, action: Action) {
        // One more than the limit tells that there are more.
        if self.actions.len() <= self.most {
            self.actions.push(action);
        }
    }

    fn scratch(&mut self, units: usize) {
        self.scratch += units;
    }
}

/// The [`Comm`] that writes actions.
struct Lower<'a, S> {
    rank: usize,
    size: usize,
    unit: usize,
    nodes: &'a [u32],
    form: &'a Form,
    local: Option<LocalReduction>,
    window: Vec<Step>,
    requests: u32,
    scratch: usize,
    slots: Slots,
    sink: &'a mut S,
}

impl<S: Sink> Lower<'_, S> {
    /// Hands an action on.
    fn emit(&mut self, action: Action) {
        match (action, &mut self.local) {
            (Action::Fold { left, right, into }, Some(local)) => {
                let (sink, scratch) = (&mut *self.sink, &mut self.scratch);
                local.replace([left, right, into], false, scratch, sink);
            }
            _ => self.sink.take(action),
        }
    }

    fn request(&mut self) -> Request {
        // First, so that whatever is waited for before this request's step is written does not take it for one that is
        // done with.
        self.make_room();
        let request = Request(self.requests);
        self.requests += 1;
        self.slots.expect(request);
        request
    }

    /// Writes the steps of the window if it is full.
    fn make_room(&mut self) {
        if self.window.len() == WINDOW {
            self.flush(&[]);
        }
    }

    fn add(&mut self, step: Step) {
        self.make_room();
        self.window.push(step);
    }

    fn message(&self, peer: usize, range: Range) -> Message {
        let within_node = self.nodes.is_empty() || self.nodes[peer] == self.nodes[self.rank];
        let fragment = self.form.fragments.units(range.len, self.unit, within_node).unwrap_or(range.len);
        Message { peer: peer as u32, range, fragment }
    }

    /// Writes the steps of the window, which end in waiting for `requests`, as actions.
    fn flush(&mut self, requests: &[Request]) {
        let window = std::mem::take(&mut self.window);
        let mut steps = &window[..];
        while !steps.is_empty() {
            let taken = self.write(steps, requests);
            steps = &steps[taken..];
        }
        self.window = window;
        self.window.clear();
        self.slots.wait(requests, |first, number| self.sink.take(Action::Wait { first, number }));
    }
}

impl<S: Sink> Comm for Lower<'_, S> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn scratch(&mut self, units: usize) -> Range {
        let range = Range { buffer: Buffer::Scratch, start: self.scratch, len: units };
        self.scratch += units;
        self.sink.scratch(units);
        range
    }

    fn isend(&mut self, to: usize, from: Range) -> Request {
        let request = self.request();
        self.add(Step::Isend { to, from, request });
        request
    }

    fn irecv(&mut self, from: usize, into: Range) -> Request {
        let request = self.request();
        self.add(Step::Irecv { from, into, request });
        request
    }

    fn wait(&mut self, requests: &[Request]) {
        if !requests.is_empty() {
            self.flush(requests);
        }
    }

    fn copy(&mut self, from: Range, into: Range) {
        if from.len > 0 && from != into {
            self.add(Step::Copy { from, into });
        }
    }

    fn fold(&mut self, left: Range, right: Range, into: Range) {
        if into.len > 0 {
            self.add(Step::Fold { left, right, into });
        }
    }

    /// Nothing that comes before may be put off until after it.
    fn shared(&mut self, step: Shared) {
        self.flush(&[]);
        self.sink.take(Action::Shared(step));
    }
}
