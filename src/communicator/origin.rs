//! Where communicators come from: the functions that make them are watched, so that each communicator has an identity
//! that all its ranks work out alike, without a message.
//!
//! The ranks of a communicator make others from it in one order. So `world/2.4` is what the second such call on
//! `MPI_COMM_WORLD` gave to world rank 4 and those whose first rank it is. Calls that not all ranks of a parent take
//! part in (`MPI_Comm_create_group`), and those that join two groups, are counted among the ranks that do.

use crate::mpi::communicator::{self, Key};
use crate::mpi::error::{Error, Result, SUCCESS};
use crate::mpi::{constants, family};
use mpi_sys::MPI_Comm;
use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::raw::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// What identities begin with of communicators that nothing watched made, and of all that are made from them.
pub const UNSEEN: &str = "unseen/";

/// Where a communicator comes from.
#[derive(Debug, Default)]
pub struct Origin {
    /// Worked out when it is first asked for, and before others are made from this one: many communicators go without
    /// a call on them.
    identity: OnceCell<Arc<str>>,
    /// The function that made it; empty for what MPI made itself or was not seen made.
    pub made_by: &'static str,
    /// Identity of the communicator it was made from, if there was one.
    parent: Option<Arc<str>>,
    /// Which of the calls that made others from that one made it, from 1.
    call: u32,
    /// Calls so far that made others from it.
    children: AtomicU32,
}

impl Origin {
    /// With an identity that need not be worked out.
    fn known(identity: String) -> Self {
        Self { identity: OnceCell::with_value(identity.into()), ..Self::default() }
    }

    /// The same on all ranks of `comm` in one `MPI_COMM_WORLD`, which it belongs to, and different for every other communicator of the job;
    /// that of `MPI_COMM_SELF` stands for every rank's own. No communication.
    ///
    /// # Errors
    /// What PMPI returned.
    pub fn identity(&self, comm: MPI_Comm) -> Result<&Arc<str>> {
        let work_out = || {
            // A rank that is the first knows that without asking about groups; of two groups each has one.
            let is_first = communicator::rank(comm)? == 0 && !communicator::is_inter(comm)?;
            let first = match is_first {
                true => communicator::rank(constants::comm_world())? as c_int,
                false => communicator::first_world_rank(comm)?,
            };
            let parent = self.parent();
            // Of programs that were started separately each has a world of its own, and a report of its own.
            Ok(match first == mpi_sys::MPI_UNDEFINED as c_int {
                true => below(parent, &format!("{}.elsewhere", self.call)),
                false => below(parent, &format!("{}.{first}", self.call)),
            })
        };
        self.identity.get_or_try_init(work_out)
    }

    /// Identity of the communicator it was made from; empty if none.
    pub fn parent(&self) -> &str {
        self.parent.as_deref().unwrap_or_default()
    }
}

/// What is kept for all communicators together.
static ORIGINS: OnceCell<Origins> = OnceCell::new();

/// What is kept for all communicators together.
#[derive(Debug)]
struct Origins {
    /// Where a communicator's [`Origin`] hangs.
    key: Key,
    /// Communicators made so far among the same ranks, by the ranks' digest.
    among: Mutex<HashMap<u64, u32>>,
    /// Of `MPI_Comm_idup`: no attribute may be set on its communicators before the program has waited for them. Locked
    /// while an origin is hung on a communicator that has none, as threads may come to ask at once.
    unfinished: Mutex<HashMap<usize, Arc<Origin>>>,
}

/// Communicators of the program's that are there, as far as they were seen.
static LIVE: AtomicUsize = AtomicUsize::new(0);

/// Who takes part in a call that makes communicators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Makers {
    /// All ranks of the parent.
    Parent,
    /// The same, and the communicator may be used only when its request is complete.
    ParentLater,
    /// The ranks of the new one.
    Members,
    /// The ranks of two parents.
    TwoParents,
}

/// Where `comm` comes from, as far as that was seen.
///
/// # Errors
/// What PMPI says of an invalid handle.
pub fn of(comm: MPI_Comm) -> Result<Arc<Origin>> {
    Origins::get()?.of(comm)
}

/// Whether the program leaves so many context ids that Collie may take one. Where one rank has none, Open MPI 4.1.4
/// hangs in making a communicator rather than return an error.
pub fn leaves_room() -> bool {
    LIVE.load(Ordering::Relaxed) < family::CONTEXT_IDS / 4 * 3
}

/// Whether so many context ids are taken, by the program's communicators and as many as Collie has, that the next one may
/// find none.
pub fn are_scarce(held: usize) -> bool {
    LIVE.load(Ordering::Relaxed) + held >= family::CONTEXT_IDS / 4 * 3
}

/// Notes that `made_by`, called on `parent`, made `comm`, if it is one for this rank.
///
/// # Errors
/// What PMPI returned.
pub fn note(parent: MPI_Comm, made_by: &'static str, makers: Makers, comm: MPI_Comm) -> Result {
    Origins::get()?.note(parent, made_by, makers, comm)
}

/// Notes that `made_by` made `comm` of a group, from no other communicator.
///
/// # Errors
/// What PMPI returned.
pub fn note_first(made_by: &'static str, comm: MPI_Comm) -> Result {
    let origins = Origins::get()?;
    if comm == constants::comm_null() {
        return Ok(());
    }
    let (ranks, number) = origins.count_among(comm)?;
    let identity = format!("group/{ranks}.{number}");
    origins.keep(comm, &Arc::new(Origin { made_by, ..Origin::known(identity) }))
}

/// What is kept of `comm`, which the program is about to free, if that is a duplicate that nobody has asked for: nothing
/// goes with it when it goes, and another communicator may have its handle next.
pub fn take_unfinished(comm: MPI_Comm) -> Option<Arc<Origin>> {
    ORIGINS.get()?.unfinished.lock().remove(&(comm.0 as usize))
}

/// It has not been freed.
pub fn put_back(comm: MPI_Comm, unfinished: Arc<Origin>) {
    if let Some(origins) = ORIGINS.get() {
        origins.unfinished.lock().insert(comm.0 as usize, unfinished);
    }
}

impl Origins {
    /// Those of this process.
    fn get() -> Result<&'static Self> {
        ORIGINS.get_or_try_init(|| {
            Ok(Self { key: Key::new(forget)?, among: Mutex::default(), unfinished: Mutex::default() })
        })
    }

    fn of(&self, comm: MPI_Comm) -> Result<Arc<Origin>> {
        if let Some(known) = self.known(comm)? {
            return Ok(known);
        }
        let mut unfinished = self.unfinished.lock();
        if let Some(known) = self.known(comm)? {
            return Ok(known);
        }
        let origin = match unfinished.remove(&(comm.0 as usize)) {
            Some(origin) => origin,
            None => Arc::new(self.unseen(comm)?),
        };
        self.keep(comm, &origin)?;
        Ok(origin)
    }

    /// The one that hangs on `comm`.
    fn known(&self, comm: MPI_Comm) -> Result<Option<Arc<Origin>>> {
        let known = self.key.get(comm).map_err(|_| Error(mpi_sys::MPI_ERR_COMM as c_int))?;
        let known = known.cast_const().cast::<Origin>();
        // SAFETY: made by `keep` from an `Arc` that lives until `forget`, which MPI calls when the communicator goes, as
        // another one is never set on it: `of` asks again under a lock, and `note` and `note_first` have one that is
        // new. No thread may free a communicator while another calls on it. This one is counted on its own.
        Ok((!known.is_null()).then(|| unsafe {
            Arc::increment_strong_count(known);
            Arc::from_raw(known)
        }))
    }

    fn keep(&self, comm: MPI_Comm, origin: &Arc<Origin>) -> Result {
        LIVE.fetch_add(1, Ordering::Relaxed);
        self.key.set(comm, Arc::into_raw(Arc::clone(origin)).cast_mut().cast())
    }

    /// Of a communicator that nothing watched made: MPI's own, and for instance a spawned program's.
    fn unseen(&self, comm: MPI_Comm) -> Result<Origin> {
        let identity = if comm == constants::comm_world() {
            "world".to_owned()
        } else if comm == constants::comm_self() {
            "self".to_owned()
        } else {
            let (ranks, number) = self.count_among(comm)?;
            format!("{UNSEEN}{ranks}.{number}")
        };
        Ok(Origin::known(identity))
    }

    /// A name for the ranks of `comm` (both groups), and its number among the communicators of these ranks, from 1.
    fn count_among(&self, comm: MPI_Comm) -> Result<(String, u32)> {
        let digest = digest(&communicator::sides(comm)?);
        let mut among = self.among.lock();
        let number = among.entry(digest).or_default();
        *number += 1;
        Ok((name(digest), *number))
    }

    fn note(&self, from: MPI_Comm, made_by: &'static str, makers: Makers, comm: MPI_Comm) -> Result {
        let parent = self.of(from)?;
        let call = match makers {
            Makers::Parent | Makers::ParentLater => parent.children.fetch_add(1, Ordering::Relaxed) + 1,
            Makers::Members | Makers::TwoParents => 0,
        };
        if comm == constants::comm_null() {
            return Ok(());
        }
        // It may be freed before those that are made from it.
        let before = Arc::clone(parent.identity(from)?);
        let identity = match makers {
            Makers::Parent => OnceCell::new(),
            // A duplicate that may not be asked yet, of which only that it is one counts.
            Makers::ParentLater => OnceCell::with_value(below(&before, &call.to_string())),
            Makers::Members | Makers::TwoParents => {
                let (ranks, number) = self.count_among(comm)?;
                let before = if makers == Makers::Members { &*before } else { "between" };
                OnceCell::with_value(below(before, &format!("{ranks}.{number}")))
            }
        };
        let origin = Origin { identity, made_by, parent: Some(before), call, ..Origin::default() };
        let origin = Arc::new(origin);
        if makers == Makers::ParentLater {
            self.unfinished.lock().insert(comm.0 as usize, origin);
            return Ok(());
        }
        // What had this handle before may have gone without ever being asked for.
        self.unfinished.lock().remove(&(comm.0 as usize));
        self.keep(comm, &origin)
    }
}

/// The identity of what was made from `parent`. A program may make each of a hundred thousand communicators from the one
/// before: of what is longer than anybody reads, a digest stands for the parent.
fn below(parent: &str, last: &str) -> Arc<str> {
    const LONGEST: usize = 256;
    if parent.len() + 1 + last.len() <= LONGEST {
        return format!("{parent}/{last}").into();
    }
    let mut hasher = DefaultHasher::new();
    parent.hash(&mut hasher);
    format!("{}.../{last}", name(hasher.finish())).into()
}

/// What stands for these ranks of both sides, the same on all of them.
fn digest(sides: &[Vec<c_int>; 2]) -> u64 {
    let mut hasher = DefaultHasher::new();
    sides.hash(&mut hasher);
    hasher.finish()
}

/// The part of an identity that stands for its ranks. All of the digest: of 24 bits five thousand groups have two alike
/// as often as not.
fn name(digest: u64) -> String {
    format!("{digest:016x}")
}

/// MPI's callback when a communicator goes away.
///
/// # Safety
/// Called by MPI with the pointer that was set on the communicator.
unsafe extern "C" fn forget(_: MPI_Comm, _: c_int, origin: *mut c_void, _: *mut c_void) -> c_int {
    LIVE.fetch_sub(1, Ordering::Relaxed);
    // SAFETY: made by `keep`, and given back once.
    drop(unsafe { Arc::from_raw(origin.cast_const().cast::<Origin>()) });
    SUCCESS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_chains_have_short_names_that_differ() {
        let mut seen = std::collections::HashSet::new();
        let mut identity: Arc<str> = "world".into();
        for _ in 0..10_000 {
            identity = below(&identity, "1.0");
            assert!(identity.len() <= 256 && seen.insert(Arc::clone(&identity)), "{identity}");
        }
        assert_eq!(&*below("world/1.0", "2.4"), "world/1.0/2.4");
    }
    use std::collections::HashSet;

    #[test]
    fn other_ranks_have_another_name() {
        // All groups of 16 ranks; of 24 bits of the digest more than a hundred pairs would be alike.
        let ranks = |group: u32| (0..16).filter(|rank| group >> rank & 1 == 1).collect::<Vec<c_int>>();
        let names = (0..1 << 16).map(|group| name(digest(&[ranks(group), Vec::new()])));
        assert_eq!(names.collect::<HashSet<_>>().len(), 1 << 16);
    }

    #[test]
    fn the_sides_of_two_groups_are_told_apart() {
        assert_ne!(digest(&[vec![0, 1], vec![2]]), digest(&[vec![0], vec![1, 2]]));
        assert_eq!(digest(&[vec![0, 1], vec![2]]), digest(&[vec![0, 1], vec![2]]));
    }
}
