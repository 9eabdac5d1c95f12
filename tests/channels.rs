//! Channels between ranks of a node (`src/shared`), compiled against loom, which tries every order of the ranks' steps
//! and every value that a load may see: messages arrive whole and in order, no slot is written while it is read, and
//! ranks that exchange more than there is room for get through.

#![allow(dead_code, reason = "what is compiled here is more than what is tried")]

use channel::{Emptied, Preparation, Receiver, Ring, Sender, Slot};
use chunks::Chunks;
use comparison::Comparison;
use lending::PeerMemory;
use loom::sync::Arc;
use loom::thread;
use ports::{Failed, Port, Ports};
use std::convert::Infallible;
use std::rc::Rc;
use track::Track;

#[path = "../src/shared/cache.rs"]
mod cache;
#[path = "../src/shared/channel/mod.rs"]
mod channel;
#[path = "../src/shared/chunks.rs"]
mod chunks;
#[path = "../src/shared/comparison.rs"]
mod comparison;
#[path = "../src/shared/ports.rs"]
mod ports;
#[path = "../src/shared/track.rs"]
mod track;

/// Another rank's memory, which here is the own. Loom does not watch it: others may come in between before a copy.
mod lending {
    use loom::thread::yield_now;

    /// Why something was not copied.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Failure {
        Ended,
        Refused,
        NotThis,
    }

    /// Whether it can be read, and written.
    #[derive(Clone, Copy, Debug)]
    pub struct PeerMemory(pub bool, pub bool);

    impl PeerMemory {
        pub const fn can_read(&self) -> bool {
            self.0
        }

        pub unsafe fn read(&self, from: u64, into: *mut u8, length: usize) -> Result<(), Failure> {
            if self.0 {
                yield_now();
                // SAFETY: the sender promises the bytes until it is told that they are read, the caller the room.
                unsafe { std::ptr::copy_nonoverlapping(from as *const u8, into, length) };
            }
            self.0.then_some(()).ok_or(Failure::Refused)
        }

        pub unsafe fn write(&self, from: *const u8, into: u64, length: usize) -> Result<(), Failure> {
            if self.1 {
                yield_now();
                // SAFETY: the caller promises the bytes, the receiver the room until it is told that they are there.
                unsafe { std::ptr::copy_nonoverlapping(from, into as *mut u8, length) };
            }
            self.1.then_some(()).ok_or(Failure::NotThis)
        }

        pub fn has_ended(&self) -> bool {
            false
        }
    }
}

mod sync {
    pub use loom::cell::UnsafeCell;
    pub use loom::sync::atomic::{AtomicU64, Ordering, fence};
    pub use loom::thread::yield_now;
    pub use loom::thread::yield_now as spin_loop;
}

/// Slots and bytes of an area. Less than what travels in a line, so that few steps make a message of several fragments.
#[derive(Clone, Copy)]
struct Shape(usize, usize);
const SHAPE: Shape = Shape(2, AREA);
const AREA: usize = 25;
/// Some messages travel in two lines.
const LINES: Shape = Shape(4, 60);
/// More than there is room for in a channel at once.
const LONG: usize = 3 * AREA - 1;

/// What becomes of what is lent to a rank.
#[derive(Clone, Copy)]
enum Lent {
    Declined,
    Read,
    /// It is read in chunks, of which the sender takes some; `written`: and can write them.
    InChunks {
        written: bool,
    },
}

/// Messages that are lent: longer ones than the others here.
const LENT_FROM: usize = LONG + 1;
/// Those that are written past the caches: the longest only.
const PAST_CACHES_FROM: usize = 6 * AREA;

struct Channel {
    slots: Vec<Slot>,
    emptied: Emptied,
    chunks: Chunks,
    areas: std::cell::UnsafeCell<Vec<u8>>,
    track: std::cell::UnsafeCell<Vec<u8>>,
}

/// The channels between all ranks.
struct Memory {
    channels: Vec<Channel>,
    ranks: usize,
    area: usize,
    tracks: Tracks,
}

/// Whether channels have tracks, which are to be made ready after [`TRACK_AFTER`] bytes.
#[derive(Clone, Copy, PartialEq)]
enum Tracks {
    None,
    /// There is no memory for them.
    Refused,
    Ready,
}

/// The second message of several fragments is on the track.
const TRACK_AFTER: usize = AREA + 2;
/// Four fragments of [`SHAPE`], of which two may be under way.
const TRACK: usize = 512;

// SAFETY: areas and tracks are used as slots are, which loom watches.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    fn of(ranks: usize, Shape(slots, area): Shape, tracks: Tracks) -> Arc<Self> {
        let channel = |_| Channel {
            slots: (0..slots).map(|_| Slot::new()).collect(),
            emptied: Emptied::new(),
            chunks: Chunks::new(),
            areas: vec![0; slots * area].into(),
            track: vec![0; TRACK].into(),
        };
        Arc::new(Self { channels: (0..ranks * ranks).map(channel).collect(), ranks, area, tracks })
    }

    fn ring(&self, from: usize, to: usize) -> Ring<'_> {
        let channel = &self.channels[from * self.ranks + to];
        // SAFETY: each end is made once by the tests.
        unsafe {
            let track = Track::new((*channel.track.get()).as_mut_ptr(), TRACK);
            Ring::new(
                &channel.slots,
                (&channel.emptied, &channel.chunks),
                ((*channel.areas.get()).as_mut_ptr(), self.area),
                (self.tracks != Tracks::None).then_some(track),
            )
        }
    }

    fn ports(&self, rank: usize, lent: Lent) -> Ports<'_> {
        let port = |peer| {
            let ends = || {
                let (memory, comparison) = match lent {
                    Lent::Declined => (PeerMemory(false, false), Comparison::none()),
                    Lent::Read => (PeerMemory(true, false), Comparison::none()),
                    Lent::InChunks { written } => (PeerMemory(true, written), Comparison::begin()),
                };
                let is_ready = self.tracks == Tracks::Ready;
                let preparation = Preparation { after: TRACK_AFTER, prepare: Rc::new(move |_, _| is_ready) };
                let sender = Sender::new(self.ring(rank, peer), LENT_FROM, memory, |_, _| {}, Some(preparation));
                let receiver = Receiver::new(self.ring(peer, rank), memory, comparison, |_, _| {}, PAST_CACHES_FROM);
                Box::new(Port::new(sender, receiver))
            };
            (peer != rank).then(ends)
        };
        Ports::new((0..self.ranks).map(port).collect())
    }
}

fn bytes(length: usize, seed: usize) -> Vec<u8> {
    (0..length).map(|byte| (byte * 7 + seed * 91 + 1) as u8).collect()
}

fn pause() -> Result<(), Infallible> {
    thread::yield_now();
    Ok(())
}

/// Runs each rank's part in every order, as far as some changes of thread where none has to wait tell them apart.
fn in_every_order(ranks: usize, changes: Option<usize>, part: fn(usize, &mut Ports)) {
    with_lent(SHAPE, ranks, changes, |_| Lent::Read, part);
}

/// The same; `lent`: what becomes of what is lent to a rank.
fn with_lent(shape: Shape, ranks: usize, changes: Option<usize>, lent: fn(usize) -> Lent, part: fn(usize, &mut Ports)) {
    with_tracks(Tracks::None, shape, ranks, changes, lent, part);
}

/// The same with tracks.
fn with_tracks(
    tracks: Tracks,
    shape: Shape,
    ranks: usize,
    changes: Option<usize>,
    lent: fn(usize) -> Lent,
    part: fn(usize, &mut Ports),
) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = changes;
    model.max_branches = 10_000;
    model.check(move || {
        let memory = Memory::of(ranks, shape, tracks);
        let others: Vec<_> = (1..ranks)
            .map(|rank| {
                let memory = Arc::clone(&memory);
                thread::spawn(move || part(rank, &mut memory.ports(rank, lent(rank))))
            })
            .collect();
        part(0, &mut memory.ports(0, lent(0)));
        others.into_iter().for_each(|other| other.join().unwrap());
    });
}

fn send(ports: &mut Ports, to: usize, bytes: &[u8]) {
    // SAFETY: the slice is there until the message is on its way.
    unsafe { ports.send(to as u32, bytes.as_ptr(), bytes.len(), pause) }.unwrap();
}

fn receive(ports: &mut Ports, from: usize, length: usize) -> Vec<u8> {
    let mut room = vec![0; length];
    // SAFETY: there is the room.
    let received = unsafe { ports.receive(from as u32, room.as_mut_ptr(), length, pause) }.unwrap();
    assert_eq!(received, Ok(length));
    room
}

#[test]
fn short_and_long_messages_arrive_whole_and_in_order() {
    in_every_order(2, Some(2), |rank, ports| {
        for length in [8, LONG] {
            match rank {
                0 => send(ports, 1, &bytes(length, length)),
                _ => assert_eq!(receive(ports, 0, length), bytes(length, length)),
            }
        }
    });
}

#[test]
fn messages_of_several_lines_arrive_whole_and_in_order() {
    let part = |rank: usize, ports: &mut Ports| {
        for length in [60, 1, 97] {
            match rank {
                0 => send(ports, 1, &bytes(length, length)),
                _ => assert_eq!(receive(ports, 0, length), bytes(length, length)),
            }
        }
    };
    with_lent(LINES, 2, Some(2), |_| Lent::Read, part);
}

#[test]
fn fragments_on_a_track_arrive_whole_and_in_order() {
    for tracks in [Tracks::Refused, Tracks::Ready] {
        let part = |rank: usize, ports: &mut Ports| {
            for (seed, length) in [(0, AREA + 1), (1, LONG), (2, 3), (3, LONG)] {
                match rank {
                    0 => send(ports, 1, &bytes(length, seed)),
                    _ => assert_eq!(receive(ports, 0, length), bytes(length, seed)),
                }
            }
        };
        with_tracks(tracks, SHAPE, 2, Some(1), |_| Lent::Read, part);
    }
}

#[test]
fn fragments_of_several_areas_arrive_whole_and_in_order() {
    let part = |rank: usize, ports: &mut Ports| {
        for (seed, length) in [(0, AREA + 1), (1, 4 * AREA), (2, 8 * AREA + 3), (3, PAST_CACHES_FROM), (4, 1)] {
            match rank {
                0 => send(ports, 1, &bytes(length, seed)),
                _ => assert_eq!(receive(ports, 0, length), bytes(length, seed)),
            }
        }
    };
    with_tracks(Tracks::Ready, SHAPE, 2, Some(1), |_| Lent::Declined, part);
}

#[test]
fn ranks_that_exchange_more_than_there_is_room_for_on_tracks_get_through() {
    let part = |rank: usize, ports: &mut Ports| {
        for round in 0..2 {
            let (peer, own) = (1 - rank, bytes(LENT_FROM, rank + round));
            // SAFETY: waited for below.
            let sent = unsafe { ports.start_send(peer as u32, own.as_ptr(), LENT_FROM) };
            assert_eq!(receive(ports, peer, LENT_FROM), bytes(LENT_FROM, peer + round));
            sent.map(|sent| ports.finish(sent, pause).unwrap());
        }
    };
    with_tracks(Tracks::Ready, SHAPE, 2, Some(1), |_| Lent::Declined, part);
}

#[test]
fn slots_are_used_again_only_when_they_have_been_read() {
    in_every_order(2, Some(2), |rank, ports| {
        for number in 0..4 {
            match rank {
                0 => send(ports, 1, &[number]),
                _ => assert_eq!(receive(ports, 0, 1), [number]),
            }
        }
    });
}

#[test]
fn ranks_that_exchange_more_than_there_is_room_for_get_through() {
    in_every_order(2, Some(2), |rank, ports| {
        let (peer, own) = (1 - rank, bytes(LONG, rank));
        // SAFETY: waited for below.
        let sent = unsafe { ports.start_send(peer as u32, own.as_ptr(), LONG) };
        assert_eq!(receive(ports, peer, LONG), bytes(LONG, peer));
        sent.map(|sent| ports.finish(sent, pause).unwrap());
        assert!(ports.are_idle());
    });
}

#[test]
fn what_is_under_way_goes_on_while_another_message_is_waited_for() {
    // Rank 1 needs all of what rank 0 sends before it answers rank 2, for which rank 0 waits.
    in_every_order(3, Some(0), |rank, ports| match rank {
        0 => {
            let own = bytes(LONG, 0);
            // SAFETY: waited for below.
            let sent = unsafe { ports.start_send(1, own.as_ptr(), LONG) };
            assert_eq!(receive(ports, 2, 1), [3]);
            sent.map(|sent| ports.finish(sent, pause).unwrap());
        }
        1 => {
            assert_eq!(receive(ports, 0, LONG), bytes(LONG, 0));
            send(ports, 2, &[2]);
        }
        _ => {
            assert_eq!(receive(ports, 1, 1), [2]);
            send(ports, 0, &[3]);
        }
    });
}

#[test]
fn what_is_lent_is_read_or_declined_and_the_next_message_is_found() {
    with_lent(
        SHAPE,
        2,
        Some(2),
        |rank| if rank == 1 { Lent::Read } else { Lent::Declined },
        |rank, ports| {
            let lent = bytes(LENT_FROM, rank);
            // SAFETY: waited for below.
            let sent = unsafe { ports.start_send(1 - rank as u32, lent.as_ptr(), LENT_FROM) };
            assert_eq!(receive(ports, 1 - rank, LENT_FROM), bytes(LENT_FROM, 1 - rank));
            sent.map(|sent| ports.finish(sent, pause).unwrap());
            match rank {
                0 => send(ports, 1, &[7]),
                _ => assert_eq!(receive(ports, 0, 1), [7]),
            }
        },
    );
}

#[test]
fn what_is_lent_and_given_up_is_not_taken_for_the_message() {
    in_every_order(2, Some(3), |rank, ports| {
        if rank == 0 {
            // It stays: nobody tells when the other rank has read the last of it.
            let own = bytes(LENT_FROM, 3).leak().as_mut_ptr();
            // SAFETY: the bytes are there, and others when they are given up.
            unsafe {
                assert!(ports.start_send(1, own, LENT_FROM).is_some());
                ports.progress();
                ports.abandon(3);
                own.write_bytes(0, LENT_FROM);
            }
            return;
        }
        let mut room = vec![0; LENT_FROM];
        // SAFETY: there is the room.
        match unsafe { ports.receive(0, room.as_mut_ptr(), LENT_FROM, pause) }.unwrap() {
            Ok(_) => assert_eq!(room, bytes(LENT_FROM, 3)),
            Err(failed) => assert_eq!(failed, Failed::Withdrawn),
        }
    });
}

/// One that is read in sixteen chunks.
const IN_CHUNKS: usize = 1 << 20;

/// A second change of thread takes more than a minute; with it a message that is opened without publishing where it is
/// wanted is found.
fn changes_in_chunks() -> Option<usize> {
    Some(if std::env::var_os("COLLIE_TEST_DEEP").is_some() { 2 } else { 1 })
}

fn in_chunks(rank: usize, ports: &mut Ports) {
    match rank {
        0 => {
            send(ports, 1, &bytes(IN_CHUNKS, 3));
            send(ports, 1, &[7]);
        }
        _ => {
            assert!(receive(ports, 0, IN_CHUNKS) == bytes(IN_CHUNKS, 3));
            assert_eq!(receive(ports, 0, 1), [7]);
        }
    }
}

#[test]
fn a_sender_that_waits_takes_chunks_of_what_it_lends() {
    with_lent(SHAPE, 2, changes_in_chunks(), |_| Lent::InChunks { written: true }, in_chunks);
}

#[test]
fn chunks_that_the_sender_cannot_write_are_read() {
    with_lent(SHAPE, 2, changes_in_chunks(), |_| Lent::InChunks { written: false }, in_chunks);
}
