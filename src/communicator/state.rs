//! All that is kept of a communicator whatever its calls are.

use super::agreement::{self, Agreed, FOREIGN, agree};
use super::device_calls::DeviceCalls;
use super::facts::Facts;
use super::fallback::Fallback;
use super::private::Private;
use super::segment::{self, Shared};
use super::tally::Tally;
use crate::monitor::{Bucket, CommunicatorRecord, FoldKind, Function, ReadableRecord, SharedList, Subject, Traffic};
use crate::mpi::error::Result;
use crate::mpi::{communicator, constants};
use crate::operation::Operation;
use crate::process::device::Gpu;
use crate::process::runtime::Runtime;
use crate::selection::{Device, Mode, Transport};
use mpi_sys::MPI_Comm;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What Collie keeps of a communicator. What each call looks at comes first.
#[repr(C)]
pub struct Communicator {
    /// What Collie knows of the process.
    pub runtime: &'static Runtime,
    /// When its last call began, in ticks of the clock.
    pub last_call: u64,
    /// What it was a call of, if there has been one.
    pub last_function: Option<Function>,
    /// Calls until its ranks agree, the one that they agree in included; all ranks count them alike.
    new_for: u32,
    /// What is counted.
    pub tally: Tally,
    /// What this rank knows by itself.
    pub facts: Facts,
    /// World ranks of its ranks, those of both groups of an intercommunicator, on the first of them, without those of
    /// other worlds. Known from the start: where a report comes at any time, MPI cannot be asked.
    members: Option<Arc<SharedList>>,
    /// The name that it had when MPI was last asked.
    name: Mutex<Option<String>>,
    /// Whether it is gone, so that its handle means nothing any more, or another one.
    is_gone: AtomicBool,
    /// What its ranks have agreed on; nothing until the first call that needs it.
    pub agreed: Option<Agreed>,
    /// Why its ranks have agreed to leave all its calls to the MPI library from here on.
    left: Option<Fallback>,
    /// The private communicator.
    pub private: Private,
    /// The memory that its ranks share within a node.
    pub shared: Shared,
    /// How its messages travel where it is not as the configuration says: for programs that measure.
    pub transport: Option<Transport>,
    /// Calls with buffers in memory of GPUs.
    pub device: DeviceCalls,
    /// Whether its calls are only observed, once somebody has found out.
    pub only_observed: Option<bool>,
    /// Number of the last watched call, and what is told of the communicator.
    pub watched: Option<(u64, Arc<Subject>)>,
}

impl Communicator {
    /// Of `comm`, of `size` ranks, at `place` of this rank's record. No communication.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn new(runtime: &'static Runtime, comm: MPI_Comm, size: usize, place: usize) -> Result<Self> {
        let facts = Facts::of(comm, size)?;
        let members = || -> Result<_> {
            let ranks = communicator::sides(comm)?.into_iter().flatten();
            Ok(runtime.lists.of(ranks.filter_map(|rank| u32::try_from(rank).ok()).collect()))
        };
        Ok(Self {
            runtime,
            members: if facts.rank == 0 { Some(members()?) } else { None },
            name: Mutex::new(communicator::name(comm)?),
            is_gone: AtomicBool::new(false),
            facts,
            agreed: None,
            left: None,
            private: Private::Unmade,
            shared: Shared::default(),
            transport: None,
            device: DeviceCalls::default(),
            last_call: runtime.clock.raw(),
            last_function: None,
            new_for: if comm == constants::comm_world() { 1 } else { runtime.replaced_from(comm)? },
            tally: Tally::new(runtime, place, size),
            only_observed: None,
            watched: None,
        })
    }

    /// Makes the ranks agree, if they have not yet. Collective over the program's communicator, unless it is one that
    /// is left to the MPI library because it has ranks of other worlds.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn agree(&mut self, runtime: &Runtime) -> Result<&Agreed> {
        if self.agreed.is_none() {
            if runtime.leaves_alone(self.facts.comm)? {
                self.leave(Fallback::OtherWorlds);
                return Ok(self.agreed.insert(agreement::alone(runtime, &self.facts)?));
            }
            let start = runtime.clock.raw();
            let agreed = runtime.uncounted(|| agree(runtime, &self.facts))?;
            self.tally.arrivals.lock().agreed(runtime.clock.raw().saturating_sub(start));
            if agreed.gpu != Gpu::Absent && agreed.configuration.device == Device::Native {
                self.leave(Fallback::Gpu);
            }
            self.agreed = Some(agreed);
        }
        Ok(self.agreed.as_ref().expect("just set"))
    }

    /// The private communicator, made if this is the first call that needs it, with the memory that its ranks share if
    /// that is wanted. Collective over the program's.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn private(&mut self, runtime: &Runtime) -> Result<Option<MPI_Comm>> {
        let agreed = self.agreed.as_ref().filter(|agreed| agreed.within_budget);
        let most = agreed.map_or(0, |agreed| agreement::most_private(&agreed.configuration));
        let made = self.private.get_or_make(runtime, self.facts.comm, most)?;
        if let (Some(comm), Some(agreed), Shared::Unmade) = (made, &self.agreed, &self.shared)
            && self.wants_shared_memory()
        {
            self.shared = runtime.uncounted(|| segment::make(runtime, &self.facts, agreed, comm))?;
        }
        Ok(made)
    }

    /// Whether messages within a node are to go through memory that its ranks share. All ranks see it alike once they
    /// have agreed.
    pub fn wants_shared_memory(&self) -> bool {
        // What is only observed sends no messages of ours.
        let sends = |agreed: &&Agreed| agreed.configuration.mode != Mode::Native;
        let configured = || self.agreed.as_ref().filter(sends).map(|agreed| agreed.configuration.transport);
        self.transport.or_else(configured) == Some(Transport::Shared)
    }

    /// Whether messages within a node go through memory that its ranks share, of which there is one with several. All
    /// ranks see it alike once the private communicator is made: on a rank that is alone on its node as well.
    pub fn shares_memory(&self) -> bool {
        let has_pair = |agreed: &Agreed| agreed.nodes.is_empty() || segment::has_pair(&agreed.nodes);
        matches!(self.private, Private::Made(_))
            && self.wants_shared_memory()
            && self.shared.without().is_none()
            && self.agreed.as_ref().is_some_and(has_pair)
    }

    /// Frees the private communicator, and lets go of the memory that its ranks share.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn release(&mut self) -> Result {
        self.shared.release();
        self.private.release()
    }

    /// Frees the private communicator for good, since the program needs its id.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn give_back(&mut self) -> Result {
        self.shared.release();
        self.private.give_back()
    }

    /// In mode `compare`, the epoch of the next call of a size that all ranks know, and of a kind of reduction.
    pub fn next_epoch(&self, operation: Operation, bucket: Bucket, kind: FoldKind) -> u32 {
        let agreed = self.agreed.as_ref().expect("both sides rest on an agreement");
        self.tally.alternation.borrow_mut().next(agreed.seed, operation, bucket, kind)
    }

    /// What was recorded, for the report; `None` if nothing was. MPI is asked for the name unless `is_any_time`.
    pub fn record(&self, runtime: &Runtime, is_any_time: bool) -> Option<CommunicatorRecord> {
        let counters = self.tally.table.records(runtime.nanoseconds_per_tick);
        if counters.is_empty() {
            return None;
        }
        let (facts, readable) = (&self.facts, self.shared.readable());
        Some(CommunicatorRecord {
            identity: self.identity().to_owned(),
            name: if is_any_time { self.last_name() } else { self.name() },
            made_by: facts.origin.made_by.to_owned(),
            parent: facts.origin.parent().to_owned(),
            size: facts.all_ranks as u32,
            rank: facts.rank as u32,
            members: self.members(),
            no_shared_memory: self.shared.without().map_or_else(String::new, |why| why.words().to_owned()),
            shared_memory: ReadableRecord { pairs: readable.of, readable: readable.ranks },
            counters,
            epochs: self.tally.alternation.borrow().epochs.records(runtime.nanoseconds_per_tick),
            verified_calls: self.tally.verified.borrow().compared,
            failed_calls: self.tally.verified.borrow().failed,
            rounded_calls: self.tally.verified.borrow().rounded,
            unjudged_calls: self.tally.verified.borrow().unjudged,
            near_calls: self.tally.verified.borrow().near,
            differing_calls: self.tally.verified.borrow().differing,
            verifying_ns: runtime.nanoseconds(self.tally.verified.borrow().ticks),
            differences: self.tally.verified.borrow().differences.clone(),
            ..CommunicatorRecord::default()
        })
    }

    /// Its identity: what all its ranks work out alike, or else what they have agreed on.
    pub fn identity(&self) -> &str {
        self.agreed.as_ref().map_or(&*self.facts.identity, |agreed| &*agreed.identity)
    }

    /// The name that MPI or the program has given it.
    pub fn name(&self) -> Option<String> {
        if self.is_gone.load(Ordering::Relaxed) {
            return self.last_name();
        }
        let name = communicator::name(self.facts.comm).ok().flatten();
        self.name.lock().clone_from(&name);
        name
    }

    /// The communicator goes away in the middle of a call on it: MPI is not asked for its name any more.
    pub fn mark_gone(&self) {
        drop(self.name());
        self.is_gone.store(true, Ordering::Relaxed);
    }

    /// The name that it had when MPI was last asked. May be called at any time, also while MPI is in the middle of
    /// something that a signal has interrupted.
    pub fn last_name(&self) -> Option<String> {
        // Held where the interrupted thread was about to change it.
        self.name.try_lock()?.clone()
    }

    /// What messages call it: the name that MPI or the program has given it, or else its identity. MPI is asked for the
    /// name unless `is_any_time`, when it may be in the middle of something that a signal has interrupted.
    pub fn title(&self, is_any_time: bool) -> String {
        let name = if is_any_time { self.last_name() } else { self.name() };
        name.unwrap_or_else(|| format!("communicator {}", self.identity()))
    }

    /// World ranks of its ranks, told by one of them.
    fn members(&self) -> Vec<u32> {
        self.members.as_ref().map_or_else(Vec::new, |members| members.to_vec())
    }

    /// Adds the messages of our algorithms, by world rank: those that MPI carried, and those through shared memory.
    /// Those to other worlds have no place in this one's report.
    pub fn count_traffic(&self, [by_mpi, shared]: &mut [Traffic; 2]) {
        let Some(agreed) = &self.agreed else { return };
        let (own, nodes) = (self.facts.rank, &agreed.nodes);
        for sent in self.tally.traffic.borrow().records() {
            let (receiver, to) = (sent.to as usize, agreed.members[sent.to as usize]);
            let on_node = receiver != own && (nodes.is_empty() || nodes[receiver] == nodes[own]);
            let all = if on_node && self.shared.was_used() { &mut *shared } else { &mut *by_mpi };
            if to != FOREIGN {
                all.add_to(to as usize, sent.messages, sent.bytes);
            }
        }
    }

    /// Counts a call of an operation that may be replaced; whether it is one of the first, which are left to the MPI
    /// library without asking the other ranks for anything (`COLLIE_AFTER`).
    pub fn is_new(&mut self) -> bool {
        self.new_for = self.new_for.saturating_sub(1);
        self.new_for > 0 && self.agreed.is_none() && self.never().is_none()
    }

    /// Calls until the ranks agree, this one included.
    pub const fn calls_left(&self) -> u32 {
        self.new_for
    }

    /// Has so many calls left, where one counts no more, or counts again.
    pub const fn set_calls_left(&mut self, calls_left: u32) {
        self.new_for = calls_left;
    }

    /// Whether the ranks have agreed, so that calls are counted no more.
    pub const fn is_agreed(&self) -> bool {
        self.agreed.is_some()
    }

    /// Whether buffers of calls that are replaced may be memory of a GPU. All ranks see it alike.
    pub fn asks_for_device_memory(&self) -> bool {
        let Some(agreed) = self.agreed.as_ref().filter(|_| self.left.is_none()) else { return false };
        match (agreed.configuration.device, self.private) {
            _ if agreed.configuration.mode == Mode::Native => false,
            // Nothing of ours can run.
            (_, Private::Refused | Private::GivenBack) => false,
            (Device::Auto, _) => agreed.gpu != Gpu::Absent,
            (Device::Ask, _) => true,
            (Device::Host | Device::Native, _) => false,
        }
    }

    /// Whether some rank has memory of a GPU, or may come to, that only the MPI library can move. All ranks see it alike.
    pub fn has_foreign_memory(&self) -> bool {
        self.agreed.as_ref().is_some_and(|agreed| agreed.gpu == Gpu::Foreign)
    }

    /// Leaves all calls from here on to the MPI library. All ranks do so in the same call, and what was kept of calls
    /// no longer holds.
    pub fn leave(&mut self, why: Fallback) {
        self.left = Some(why);
    }

    /// Why calls are not replaced from here on, if they are not.
    pub const fn stays_native(&self) -> Option<Fallback> {
        match self.never() {
            None => self.left,
            never => never,
        }
    }

    /// Why the communicator's calls are never replaced, if they are not.
    pub const fn never(&self) -> Option<Fallback> {
        if self.facts.inter {
            Some(Fallback::Intercommunicator)
        } else if self.facts.size == 1 {
            Some(Fallback::OneRank)
        } else {
            None
        }
    }
}
