//! The memory that the ranks of a communicator share within each node (`COLLIE_TRANSPORT=shared`), made with its
//! private communicator. Either all its ranks have it or none has: who carries out what must not depend on one rank's
//! luck.

use super::agreement::Agreed;
use super::facts::Facts;
use crate::monitor::{Budget, SharedList};
use crate::mpi::communicator::{allgather, most, receive_words, send_words};
use crate::mpi::error::Result;
use crate::mpi::{node, numa};
use crate::process::runtime::Runtime;
use crate::shared::Segment;
use crate::shared::layout::Layout;
use crate::shared::mapping::{self, FOLDER, Found, Mapping, Place, Secret};
use crate::shared::segment::Mapped;
use mpi_sys::MPI_Comm;
use std::cell::RefCell;
use std::io::{Error, ErrorKind};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a rank tells the first one of its node that needs no name of the object.
const MAPPED: u64 = 1;

/// Segments that a process has at most.
const MOST: usize = 64;
/// The part of `COLLIE_MEMORY` that a process's share of its segments takes at most is one of so many; the tracks that it
/// sends along take as much again.
const PART: usize = 8;

/// Segments that this process has, its share of their bytes, and the bytes of its tracks.
static HELD: [AtomicUsize; 3] = [AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0)];
const SEGMENTS: usize = 1;
const TRACKS: usize = 2;

/// Why ranks of one node exchange messages all the same. The one that stands last counts where ranks met several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Without {
    /// There is a node without memory for it.
    NoRoom = 1,
    /// The system does not allow it.
    Refused,
    /// A rank does not see what another one of its node has made.
    Unseen,
    /// So many ranks on a node would need too much.
    TooManyRanks,
    /// As many as a process may have are there.
    TooManySegments,
    /// The memory for what is recorded would have to hold it.
    NoMemory,
    /// There is no way to what another one has made.
    NoProc,
}

impl Without {
    const ALL: [Self; 7] = [
        Self::NoRoom,
        Self::Refused,
        Self::Unseen,
        Self::TooManyRanks,
        Self::TooManySegments,
        Self::NoMemory,
        Self::NoProc,
    ];

    /// The words of the report.
    pub const fn words(self) -> &'static str {
        match self {
            Self::NoProc => "/proc, by which ranks find each other's memory, is not mounted",
            Self::NoRoom => "no room in /dev/shm",
            Self::Refused => "/dev/shm cannot be used",
            Self::Unseen => "ranks of a node do not see each other's /dev/shm",
            Self::TooManyRanks => "too many ranks on a node",
            Self::TooManySegments => "the limit of communicators with shared memory is reached",
            Self::NoMemory => "COLLIE_MEMORY has no room for shared memory",
        }
    }

    fn of(error: &Error) -> Self {
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::OutOfMemory | ErrorKind::FileTooLarge | ErrorKind::QuotaExceeded => {
                Self::NoRoom
            }
            ErrorKind::NotFound if !Path::new("/proc/self/fd").exists() => Self::NoProc,
            ErrorKind::NotFound | ErrorKind::InvalidData => Self::Unseen,
            _ => Self::Refused,
        }
    }
}

/// What has become of a communicator's shared memory.
#[derive(Debug, Default)]
pub enum Shared {
    /// Nobody wants it, or no call has needed the private communicator yet.
    #[default]
    Unmade,
    /// There are no two ranks on a node.
    Pointless,
    /// The other ranks of other nodes have it; this one is alone on its own.
    Elsewhere(Window),
    /// Here it is.
    Made(Held),
    /// The ranks found together that it cannot be had.
    Refused(Without),
    /// It was given back; messages have gone through it.
    Released(Readable),
}

/// A segment, accounted for as long as this lasts.
#[derive(Debug)]
pub struct Held {
    segment: Rc<Segment>,
    /// NUMA node of each rank of the communicator; empty if there is one or several nodes.
    numa: Arc<SharedList>,
    window: Window,
    readable: Readable,
    _charged: Charged,
}

/// Ranks whose memory this one can read (`process_vm_readv`), among those that share memory with it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Readable {
    /// Whose memory it can read.
    pub ranks: u32,
    /// All of them but itself.
    pub of: u32,
}

/// Bytes of a bank of a rank's window that algorithms go by on all ranks: of the node with the smallest ones.
pub type Window = usize;

impl Shared {
    /// The segment, if there is one and this rank has somebody to share it with.
    #[inline]
    pub const fn segment(&self) -> Option<&Rc<Segment>> {
        match self {
            Self::Made(held) => Some(&held.segment),
            _ => None,
        }
    }

    /// Bytes of a bank of the windows that ranks of some node have. All ranks see it alike.
    pub const fn window(&self) -> Option<Window> {
        match self {
            Self::Made(Held { window, .. }) | Self::Elsewhere(window) => Some(*window),
            _ => None,
        }
    }

    /// NUMA node of each rank, as algorithms are told it, if there is a segment.
    pub const fn numa(&self) -> Option<&Arc<SharedList>> {
        match self {
            Self::Made(held) => Some(&held.numa),
            _ => None,
        }
    }

    /// Whether messages between ranks of a node go or went through it.
    pub const fn was_used(&self) -> bool {
        matches!(self, Self::Made(_) | Self::Released(_))
    }

    /// Why there is none though it was wanted.
    pub const fn without(&self) -> Option<Without> {
        match self {
            Self::Refused(why) => Some(*why),
            _ => None,
        }
    }

    /// Of how many ranks that share memory with this one it can read, or could read, the memory.
    pub fn readable(&self) -> Readable {
        match self {
            Self::Made(Held { readable, .. }) | Self::Released(readable) => *readable,
            _ => Readable::default(),
        }
    }

    /// Lets go of it.
    pub fn release(&mut self) {
        match self {
            Self::Made(held) => *self = Self::Released(held.readable),
            Self::Elsewhere(_) => *self = Self::Released(Readable::default()),
            _ => (),
        }
    }
}

/// Makes it for the ranks of `comm`, a private communicator. Collective over it.
///
/// # Errors
/// What PMPI returned.
pub fn make(runtime: &Runtime, facts: &Facts, agreed: &Agreed, comm: MPI_Comm) -> Result<Shared> {
    let members = members(facts, &agreed.nodes);
    if !agreed.nodes.is_empty() && !has_pair(&agreed.nodes) {
        return Ok(Shared::Pointless);
    }
    // Ranks that share a core share its cache as well.
    let layout_of = if agreed.situation.oversubscribed { Layout::of } else { Layout::here };
    let layout = layout_of(members.len());
    let on_numa = numa::identity();
    let (own, [numa, not_numa]) =
        match agree(comm, facts, own(runtime, facts, agreed, comm, &members, layout)?, on_numa)? {
            Ok(found) => found,
            Err(why) => return Ok(Shared::Refused(why)),
        };
    let numa = runtime.lists.of(numa_nodes(facts, agreed, comm, on_numa, numa == !not_numa)?);
    let window = smallest_window(facts, &agreed.nodes);
    let Some((mapped, charged)) = own else { return Ok(Shared::Elsewhere(window)) };
    let crowded = agreed.situation.oversubscribed;
    // SAFETY: all have found that they have it; it was made for as many ranks.
    let segment = unsafe { Segment::new(mapped, (&members, facts.size), crowded, allowance(runtime, agreed)) };
    let readable = Readable { ranks: segment.readable() as u32, of: members.len() as u32 - 1 };
    let Readable { ranks, of } = readable;
    log::info!("shared memory: the memory of {ranks} of the {of} other ranks of the node can be read");
    Ok(Shared::Made(Held { segment: Rc::new(segment), numa, window, readable, _charged: charged }))
}

/// What the ranks find together: what this one has, and the most and the least of their `on_numa`, both as [`most`]
/// gives them; or why there is none. What the object is found by goes here, whatever is found: by then all have mapped
/// it, and a job that ends afterwards leaves nothing behind.
fn agree(comm: MPI_Comm, facts: &Facts, own: Own, on_numa: u64) -> Result<OfAll> {
    // Ranks that are alone on their node have nothing to find.
    let failure = own.as_ref().err().map_or(0, |why| *why as u64);
    let [failure, numa, not_numa] = most(comm, facts.rank, facts.size, [failure, on_numa, !on_numa])?;
    if let Some(why) = Without::ALL.into_iter().find(|why| *why as u64 == failure) {
        return Ok(Err(why));
    }
    let not_found = |(mapped, found, charged)| {
        drop::<Option<Found>>(found);
        (mapped, charged)
    };
    Ok(own.map(|own| (own.map(not_found), [numa, not_numa])))
}

/// The NUMA node of each rank: as stated, or by what the ranks are bound to, which they exchange unless it is alike
/// (`one`). Between nodes nobody asks.
fn numa_nodes(facts: &Facts, agreed: &Agreed, comm: MPI_Comm, own: u64, one: bool) -> Result<Vec<u32>> {
    if !agreed.nodes.is_empty() {
        return Ok(Vec::new());
    }
    let nodes = match agreed.configuration.numa.stated(facts.size) {
        Some(stated) => stated,
        None if one => Vec::new(),
        None => node::number(allgather(comm, facts.size, [own])?.into_iter().map(|[numa]| numa)),
    };
    log::debug!(
        "shared memory of {} ranks on {} NUMA nodes",
        facts.size,
        nodes.iter().max().map_or(1, |last| last + 1)
    );
    Ok(nodes)
}

/// The communicator's ranks on the own node.
fn members(facts: &Facts, nodes: &[u32]) -> Vec<u32> {
    let on_own = |rank: &u32| nodes.is_empty() || nodes[*rank as usize] == nodes[facts.rank];
    (0..facts.size as u32).filter(on_own).collect()
}

/// Windows are the smaller the more ranks a node has.
fn smallest_window(facts: &Facts, nodes: &[u32]) -> Window {
    let mut widths = vec![0; facts.size];
    nodes.iter().for_each(|node| widths[*node as usize] += 1);
    let widest = if nodes.is_empty() { facts.size } else { widths.into_iter().max().unwrap_or(1) };
    Layout::of(widest).expect("all nodes have found room for theirs").window()
}

/// The number of the own rank among them.
fn place(facts: &Facts, members: &[u32]) -> usize {
    members.iter().position(|rank| *rank as usize == facts.rank).expect("the own rank is on the own node")
}

/// Takes the names of objects that are being made from them, where this process ends before the other ranks have mapped
/// them. May be called by handlers of signals.
pub fn remove_names() {
    mapping::remove_names();
}

/// Whether two ranks are on one node.
pub fn has_pair(nodes: &[u32]) -> bool {
    // Numbered by first ranks, so that all differ if each rank is the first of its node.
    nodes.iter().enumerate().any(|(rank, node)| rank as u32 != *node)
}

/// What this rank gets hold of: nothing if it is alone on its node.
type Own = std::result::Result<Option<(Mapped, Option<Found>, Charged)>, Without>;

/// What all have, and nobody finds any more.
type OfAll = std::result::Result<(Option<(Mapped, Charged)>, [u64; 2]), Without>;

/// The own part of it: the node's first rank makes the object, the others map it, by a name if one of them may not look
/// at the first one's files. It is found as long as the first rank keeps that.
fn own(
    runtime: &Runtime,
    facts: &Facts,
    agreed: &Agreed,
    comm: MPI_Comm,
    members: &[u32],
    layout: Option<Layout>,
) -> Result<Own> {
    let [first, others @ ..] = members else { unreachable!("the own rank is among them") };
    if others.is_empty() {
        return Ok(Ok(None));
    }
    let sized =
        layout.and_then(|layout| Some((layout, layout.mapped()?, layout.bytes()?))).ok_or(Without::TooManyRanks);
    let charged = sized.and_then(|(layout, mapped, bytes)| {
        Ok((
            layout,
            mapped,
            bytes,
            Charged::take(runtime, agreed, bytes / members.len() + Segment::own_bytes(members.len(), facts.size))?,
        ))
    });
    let folder = Path::new(FOLDER);
    let place = place(facts, members);
    // SAFETY: made or opened with the layout's bytes, for this communicator, in which this rank is this one only.
    let mapped = |mapping, layout, secret| unsafe { Mapped::new(mapping, layout, place, secret) };
    if *first as usize != facts.rank {
        let first = *first as usize;
        let [made, process, descriptor, words @ ..] = receive_words::<7>(comm, first)?;
        // What the first rank met it tells.
        if made == 0 {
            return Ok(Ok(None));
        }
        let secret = Secret::of(words);
        let (layout, bytes, _, charged) = match charged {
            Ok(charged) => charged,
            Err(why) => {
                send_words(comm, first, [MAPPED])?;
                return Ok(Err(why));
            }
        };
        let open = |at: &Place| Mapping::open(at, secret, bytes, &layout.own(place));
        let mut mapping = open(&Place::OpenIn { process: process as u32, descriptor: descriptor as u32 });
        send_words(comm, first, [if mapping.is_ok() { MAPPED } else { 0 }])?;
        if mapping.is_err() {
            let [_] = receive_words(comm, first)?;
            mapping = open(&Place::Named(folder.to_owned()));
        }
        return Ok(match mapping {
            Ok(mapping) => Ok(Some((mapped(mapping, layout, secret), None, charged))),
            Err(error) => Err(because(&error)),
        });
    }
    let made = charged.and_then(|(layout, all, bytes, charged)| {
        let made = mapping::leave_room(folder, bytes)
            .and_then(|()| Secret::random())
            .and_then(|secret| Ok((secret, Mapping::create(folder, secret, all, &layout.own(place))?)));
        let (secret, (mapping, found)) = made.map_err(|error| because(&error))?;
        Ok((secret, (mapped(mapping, layout, secret), Some(found), charged)))
    });
    let words = made.as_ref().map_or([0; 7], |(secret, (_, found, _))| {
        let place = found.as_ref().map(Found::place);
        let Some(Place::OpenIn { process, descriptor }) = place else { unreachable!("just made here") };
        let [a, b, c, d] = secret.words();
        [1, process.into(), descriptor.into(), a, b, c, d]
    });
    others.iter().try_for_each(|rank| send_words(comm, *rank as usize, words))?;
    let Ok((_, (mapped, Some(mut found), charged))) = made else { return Ok(made.map(|(_, own)| Some(own))) };
    let mut named = Ok(());
    for rank in others {
        if receive_words(comm, *rank as usize)? != [MAPPED] {
            // Where that fails the rank finds nothing by it.
            named = named.and_then(|()| found.name());
            send_words(comm, *rank as usize, [0])?;
        }
    }
    Ok(match named {
        Ok(()) => Ok(Some((mapped, Some(found), charged))),
        Err(error) => Err(because(&error)),
    })
}

/// The reason for the report; what the system said goes into the log.
fn because(error: &Error) -> Without {
    log::info!("no shared memory: {error}");
    Without::of(error)
}

/// Memory of segments that a process has, accounted for as long as this lasts.
#[derive(Debug)]
struct Charged {
    share: u64,
    /// Where it counts in [`HELD`].
    place: usize,
    budget: Arc<Budget>,
}

impl Charged {
    /// The process's share of a segment.
    fn take(runtime: &Runtime, agreed: &Agreed, share: usize) -> std::result::Result<Self, Without> {
        if HELD[0].fetch_add(1, Ordering::Relaxed) >= MOST {
            HELD[0].fetch_sub(1, Ordering::Relaxed);
            return Err(Without::TooManySegments);
        }
        let charged = Self::within(&runtime.budget, agreed.configuration.memory / PART, SEGMENTS, share);
        charged.ok_or_else(|| {
            HELD[0].fetch_sub(1, Ordering::Relaxed);
            Without::NoMemory
        })
    }

    /// So many bytes, if all that count in the same place are then no more than `most`.
    fn within(budget: &Arc<Budget>, most: usize, place: usize, share: usize) -> Option<Self> {
        let within = HELD[place].fetch_add(share, Ordering::Relaxed).saturating_add(share) <= most;
        if within && budget.take(share as u64) {
            return Some(Self { share: share as u64, place, budget: Arc::clone(budget) });
        }
        HELD[place].fetch_sub(share, Ordering::Relaxed);
        None
    }
}

/// Whether there are so many bytes more for a track, and they could be made ready; accounted for as long as this lasts.
fn allowance(runtime: &Runtime, agreed: &Agreed) -> impl Fn(usize, &dyn Fn() -> bool) -> bool + 'static {
    let (budget, most) = (Arc::clone(&runtime.budget), agreed.configuration.memory / PART);
    let charged = RefCell::new(Vec::new());
    move |bytes, make| {
        let is_there = || mapping::leave_room(Path::new(FOLDER), bytes).is_ok() && make();
        let track = Charged::within(&budget, most, TRACKS, bytes).filter(|_| is_there());
        let found = if track.is_some() { "memory for" } else { "none for" };
        log::debug!("shared memory: {found} a track of {bytes} bytes");
        track.map(|track| charged.borrow_mut().push(track)).is_some()
    }
}

impl Drop for Charged {
    fn drop(&mut self) {
        HELD[0].fetch_sub(usize::from(self.place == SEGMENTS), Ordering::Relaxed);
        HELD[self.place].fetch_sub(self.share as usize, Ordering::Relaxed);
        self.budget.give(self.share);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_with_two_ranks_are_found() {
        assert!(!has_pair(&[0, 1, 2]) && has_pair(&[0, 1, 0]) && has_pair(&[0, 1, 1]));
    }

    #[test]
    fn what_the_system_says_becomes_a_reason() {
        let of = |error| Without::of(&Error::from_raw_os_error(error));
        assert_eq!([of(libc::ENOSPC), of(libc::ENOMEM)], [Without::NoRoom; 2]);
        assert_eq!(
            [of(libc::EACCES), of(libc::ENFILE), of(libc::ENOENT)],
            [Without::Refused, Without::Refused, Without::Unseen]
        );
        for (place, why) in Without::ALL.into_iter().enumerate() {
            assert_eq!(why as usize, place + 1);
        }
    }
}
