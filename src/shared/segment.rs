//! A rank's view of the segment that it shares with the other ranks of its node.

use super::board::Board;
use super::cache::past_caches_from;
use super::channel::{Preparation, Receiver, Sender};
use super::comparison::Comparison;
use super::layout::Layout;
use super::lending::{PeerMemory, Proof};
use super::mapping::{Mapping, Secret, make_present, map_present};
use super::ports::{Port, Ports};
use std::cell::RefCell;
use std::rc::Rc;

/// Bytes of a message that is worth lending: below, a system call takes longer than the second copy. On 2 cores of an
/// Intel Xeon (all algorithms between two ranks, of 2 to 16 KiB, three jobs each with 2, 4, 8, 16 and 32 KiB here)
/// lending gained 10 to 40 % at 16 KiB and lost up to as much below.
pub const LENT_FROM: usize = 16 << 10;

/// Bytes of long messages after which a channel's track is made ready. It takes some 0.25 ms, which messages of 32 KiB
/// save in eighty.
const TRACK_AFTER: usize = 2 << 20;

/// The segment of a communicator on one node, as one of its ranks has it.
#[derive(Debug)]
pub struct Segment {
    /// What the rank sends to and receives from. Refers to the mapping.
    ports: RefCell<Ports<'static>>,
    /// Where algorithms live; in the mapping.
    board: RefCell<Board>,
    /// The other ranks that share it.
    others: Box<[u32]>,
    window: usize,
    crowded: bool,
    readable: usize,
    /// Keeps what was allowed for tracks, which are there as long as the mapping is.
    _preparation: Preparation,
    _proof: Proof,
    _mapping: Mapping,
}

/// A segment that this rank has mapped, before it knows that all others have.
#[derive(Debug)]
pub struct Mapped {
    mapping: Mapping,
    layout: Layout,
    rank: usize,
    secret: Secret,
    proof: Proof,
}

impl Mapped {
    /// Of the rank that is number `rank` among the ranks of its node, which shows the others what they need to read its
    /// memory.
    ///
    /// # Safety
    /// The mapping has been made by that secret with as many bytes as `layout` says, was all zero but for the header,
    /// and nobody else is the same rank in it.
    pub unsafe fn new(mapping: Mapping, layout: Layout, rank: usize, secret: Secret) -> Self {
        let proof = Proof::of(secret.token(), rank);
        // SAFETY: within the mapping; only this rank writes there, and nobody reads before all have it.
        unsafe { layout.shown(mapping.address(), rank).write(proof.shown()) };
        Self { mapping, layout, rank, secret, proof }
    }
}

impl Segment {
    /// Of what all ranks of the node have mapped. They are those ranks of the communicator that `members` tells in
    /// order, of `size`. `crowded`: whether ranks outnumber cores. `allow` is asked for so many bytes more, for a
    /// track, and makes them ready by what it is given; it is dropped with the segment.
    ///
    /// # Safety
    /// All of them have mapped it, and it is of as many ranks.
    pub unsafe fn new(
        mapped: Mapped,
        (members, size): (&[u32], usize),
        crowded: bool,
        allow: impl Fn(usize, &dyn Fn() -> bool) -> bool + 'static,
    ) -> Self {
        let Mapped { mapping, layout, rank, secret, proof } = mapped;
        // SAFETY: a track of this segment, which lasts longer than its channels, and of which this rank is the sender.
        let prepare = move |at, bytes| allow(bytes, &|| unsafe { make_present(at, bytes) }.is_ok());
        let preparation = Preparation { after: TRACK_AFTER, prepare: Rc::new(prepare) };
        let (address, mut readable) = (mapping.address(), 0);
        let mut ports: Box<[Option<Box<Port<'static>>>]> = (0..size).map(|_| None).collect();
        // SAFETY: areas and tracks of this segment, which are present when ends of channels ask for them.
        let map_to_write = |at, bytes| unsafe { map_present(at, bytes, true) };
        // SAFETY: as above.
        let map_to_read = |at, bytes| unsafe { map_present(at, bytes, false) };
        for (place, peer) in members.iter().enumerate().filter(|(place, _)| *place != rank) {
            // SAFETY: the caller's promise; pages are multiples of 128 bytes. The mapping goes after the ports, with
            // this.
            let (sender, receiver) = unsafe {
                let comparison = if crowded { Comparison::none() } else { Comparison::begin() };
                let memory = PeerMemory::of(&*layout.shown(address, place), secret.token(), place);
                readable += usize::from(memory.can_read());
                (
                    Sender::new(
                        layout.ring(address, rank, place),
                        LENT_FROM,
                        memory,
                        map_to_write,
                        Some(preparation.clone()),
                    ),
                    Receiver::new(
                        layout.ring(address, place, rank),
                        memory,
                        comparison,
                        map_to_read,
                        past_caches_from(),
                    ),
                )
            };
            ports[*peer as usize] = Some(Box::new(Port::new(sender, receiver)));
        }
        // SAFETY: the caller's promise.
        let board = unsafe { layout.board(address, rank) };
        Self {
            ports: RefCell::new(Ports::new(ports)),
            board: RefCell::new(board),
            others: members.iter().enumerate().filter(|(place, _)| *place != rank).map(|(_, other)| *other).collect(),
            window: layout.window(),
            crowded,
            readable,
            _preparation: preparation,
            _proof: proof,
            _mapping: mapping,
        }
    }

    /// The rank's ends of its channels, by rank of the communicator.
    pub const fn ports(&self) -> &RefCell<Ports<'static>> {
        &self.ports
    }

    /// The other ranks that share it, as the communicator numbers them.
    pub const fn others(&self) -> &[u32] {
        &self.others
    }

    /// Whether ranks outnumber cores.
    pub const fn is_crowded(&self) -> bool {
        self.crowded
    }

    /// Bytes of this process alone that one of so many ranks of a node takes, in a communicator of `size` ranks.
    pub const fn own_bytes(members: usize, size: usize) -> usize {
        Ports::bytes(size, members.saturating_sub(1))
    }

    /// How many of the others' memory this rank can read.
    pub const fn readable(&self) -> usize {
        self.readable
    }

    /// Bytes of a bank of each rank's window on the board.
    pub const fn window(&self) -> usize {
        self.window
    }

    /// The board of the ranks of this node, by their numbers there.
    pub const fn board(&self) -> &RefCell<Board> {
        &self.board
    }
}

#[cfg(test)]
mod tests {
    use super::super::Failed;
    use super::super::mapping::Secret;
    use super::super::waiting::{Idle, wait_until};
    use super::*;
    use std::convert::Infallible;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// The segments of all ranks of a communicator of `size` ranks that are `members`, in this process; `crowded`: as
    /// if they shared cores.
    fn segments(members: &[u32], size: usize, crowded: bool) -> Vec<Segment> {
        segments_with(members, size, crowded, || |_, make: &dyn Fn() -> bool| make())
    }

    /// The same, where each rank asks what `allow` gives for memory for tracks.
    fn segments_with<A: Fn(usize, &dyn Fn() -> bool) -> bool + 'static>(
        members: &[u32],
        size: usize,
        crowded: bool,
        allow: impl Fn() -> A,
    ) -> Vec<Segment> {
        let folder = tempfile::tempdir().unwrap();
        let (secret, layout) = (Secret::random().unwrap(), Layout::of(members.len()).unwrap().with_tracks());
        let bytes = layout.mapped().unwrap();
        let (first, found) = Mapping::create(folder.path(), secret, bytes, &layout.own(0)).unwrap();
        let others =
            (1..members.len()).map(|rank| Mapping::open(&found.place(), secret, bytes, &layout.own(rank)).unwrap());
        let mappings: Vec<_> = std::iter::once(first).chain(others).collect();
        // SAFETY: as many bytes as the layout says, each rank once.
        let mapped = |(rank, mapping)| unsafe { Mapped::new(mapping, layout, rank, secret) };
        let mapped: Vec<_> = mappings.into_iter().enumerate().map(mapped).collect();
        // SAFETY: all are mapped.
        mapped.into_iter().map(|mapped| unsafe { Segment::new(mapped, (members, size), crowded, allow()) }).collect()
    }

    fn bytes(length: usize, seed: usize) -> Vec<u8> {
        (0..length).map(|byte| (byte * 31 + seed * 17 + byte / 251) as u8).collect()
    }

    /// Runs each rank's part on a thread of its own.
    fn on_threads(segments: Vec<Segment>, part: impl Fn(usize, &Segment) + Sync) {
        struct Moved(Segment);
        // SAFETY: each thread has the segment of one rank to itself.
        unsafe impl Send for Moved {}
        std::thread::scope(|scope| {
            for (rank, segment) in segments.into_iter().enumerate() {
                let (moved, part) = (Moved(segment), &part);
                scope.spawn(move || {
                    let moved = moved;
                    part(rank, &moved.0);
                });
            }
        });
    }

    fn pausing() -> impl FnMut() -> Result<(), Infallible> {
        let mut idle = Idle::new(true, || ());
        move || {
            idle.pause();
            Ok(())
        }
    }

    #[test]
    fn what_is_allowed_for_tracks_is_kept_as_long_as_the_segment() {
        let charged = Arc::new(AtomicUsize::new(0));
        struct Charge(Arc<AtomicUsize>);
        impl Drop for Charge {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::Relaxed);
            }
        }
        let allow = || {
            let (charged, charges) = (Arc::clone(&charged), RefCell::new(Vec::new()));
            move |_, make: &dyn Fn() -> bool| {
                charged.fetch_add(1, Ordering::Relaxed);
                charges.borrow_mut().push(Charge(Arc::clone(&charged)));
                make()
            }
        };
        let (long, held) = (8192, Arc::clone(&charged));
        on_threads(segments_with(&[0, 1], 2, false, allow), |rank, segment| {
            let mut ports = segment.ports().borrow_mut();
            let (out, mut into) = (bytes(long, rank), vec![0; long]);
            for _ in 0..=TRACK_AFTER / long {
                // SAFETY: the buffers are as long.
                unsafe {
                    match rank {
                        0 => ports.send(1, out.as_ptr(), long, pausing()).unwrap(),
                        _ => drop(ports.receive(0, into.as_mut_ptr(), long, pausing()).unwrap()),
                    }
                }
            }
            if rank == 0 {
                assert_eq!(held.load(Ordering::Relaxed), 1, "the track is in use");
            }
        });
        assert_eq!(charged.load(Ordering::Relaxed), 0);
    }

    const LENGTHS: [usize; 12] = [0, 1, 47, 48, 49, 64, 4096, 16384, 16385, 131_072, 131_073, 1_000_003];

    #[test]
    fn messages_of_all_lengths_arrive_in_order_both_ways_at_once() {
        for crowded in [true, false] {
            on_threads(segments(&[0, 1], 2, crowded), |rank, segment| {
                let peer = 1 - rank;
                let mut ports = segment.ports().borrow_mut();
                for round in 0..3 {
                    for length in LENGTHS {
                        let (out, mut into) = (bytes(length, rank + round), vec![0; length]);
                        // SAFETY: both vectors outlive the wait.
                        unsafe {
                            let sent = ports.start_send(peer as u32, out.as_ptr(), length);
                            let received = ports.receive(peer as u32, into.as_mut_ptr(), length, pausing()).unwrap();
                            assert_eq!(received, Ok(length));
                            sent.map(|sent| ports.finish(sent, pausing()).unwrap());
                        }
                        assert!(into == bytes(length, peer + round), "{length}");
                    }
                }
                assert!(ports.are_idle());
            });
        }
    }

    #[test]
    fn a_sender_that_waits_writes_a_part_of_what_it_lends() {
        on_threads(segments(&[0, 1], 2, false), |rank, segment| {
            let mut ports = segment.ports().borrow_mut();
            for round in 0..40 {
                // Of many lengths, so that most of them are read.
                let length = (16 << 10) + round * 100_001;
                let (out, mut into) = (bytes(length, round), vec![0; length]);
                // SAFETY: both vectors outlive the calls.
                unsafe {
                    match rank {
                        0 => ports.send(1, out.as_ptr(), length, pausing()).unwrap(),
                        _ => {
                            let received = ports.receive(0, into.as_mut_ptr(), length, pausing()).unwrap();
                            assert_eq!(received, Ok(length));
                            assert!(into == out, "{length}");
                        }
                    }
                }
            }
        });
    }

    #[test]
    fn many_messages_are_under_way_at_once_between_all_ranks() {
        // Two ranks of the communicator are on another node.
        let members = [0, 2, 3, 5];
        on_threads(segments(&members, 6, true), |rank, segment| {
            let mut ports = segment.ports().borrow_mut();
            assert!(!ports.reach(1) && !ports.reach(members[rank]));
            for length in [8, 300_000] {
                let (mut out, mut into, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
                for (place, peer) in members.iter().enumerate().filter(|(place, _)| *place != rank) {
                    for number in 0..3 {
                        out.push((*peer, bytes(length, rank * 100 + place * 10 + number)));
                        into.push((*peer, place, number, vec![0; length]));
                    }
                }
                // SAFETY: the vectors outlive the waits.
                unsafe {
                    for (peer, bytes) in &out {
                        numbers.extend(ports.start_send(*peer, bytes.as_ptr(), length));
                    }
                    for (peer, _, _, room) in &mut into {
                        numbers.push(ports.start_receive(*peer, room.as_mut_ptr(), length));
                    }
                }
                for number in numbers.into_iter().rev() {
                    ports.finish(number, pausing()).unwrap().unwrap();
                }
                for (_, place, number, room) in into {
                    assert!(room == bytes(length, place * 100 + rank * 10 + number));
                }
            }
        });
    }

    #[test]
    fn what_has_no_room_is_told_and_the_next_message_is_found() {
        on_threads(segments(&[0, 1], 2, true), |rank, segment| {
            let mut ports = segment.ports().borrow_mut();
            for (length, room) in [(40, 8), (100_000, 20_000), (60, 0), (10, 30)] {
                let (out, mut into) = (bytes(length, 5), vec![0; room + 1]);
                // SAFETY: the vectors outlive the calls.
                unsafe {
                    if rank == 0 {
                        ports.send(1, out.as_ptr(), length, pausing()).unwrap();
                        continue;
                    }
                    let received = ports.receive(0, into.as_mut_ptr(), room, pausing()).unwrap();
                    assert_eq!(received, if length > room { Err(Failed::Truncated) } else { Ok(length) });
                }
                let kept = room.min(length);
                assert!(into[..kept] == out[..kept] && into[kept..].iter().all(|byte| *byte == 0));
            }
        });
    }

    #[test]
    fn a_wait_that_is_given_up_says_why() {
        let mut all = segments(&[0, 1], 2, true);
        let mut ports = all.pop().unwrap();
        let ports = ports.ports.get_mut();
        let mut room = [0; 8];
        let mut patience = 3;
        let pause = || {
            patience -= 1;
            if patience > 0 { Ok(()) } else { Err("gone") }
        };
        // SAFETY: `room` is of 8 bytes and outlives the receive, which is forgotten when the wait for it is given up.
        assert_eq!(unsafe { ports.receive(0, room.as_mut_ptr(), 8, pause) }, Err("gone"));
        ports.abandon(3);
        assert_eq!(ports.lost(), Some(3));
        assert!(ports.are_idle());
    }

    #[test]
    fn what_is_lent_and_given_up_does_not_arrive() {
        let mut all = segments(&[0, 1], 2, true);
        let (mut receiver, mut sender) = (all.pop().unwrap(), all.pop().unwrap());
        let (out, mut into) = (bytes(2 << 20, 1), vec![0; 2 << 20]);
        let sender = sender.ports.get_mut();
        // SAFETY: the vectors outlive the calls, and the room the receive.
        unsafe {
            assert!(sender.start_send(1, out.as_ptr(), out.len()).is_some());
            sender.abandon(3);
            let received = receiver.ports.get_mut().receive(0, into.as_mut_ptr(), into.len(), pausing()).unwrap();
            assert_eq!(received, Err(Failed::Withdrawn));
        }
        assert!(into.iter().all(|byte| *byte == 0));
    }

    #[test]
    fn the_board_is_the_same_for_all_and_apart_from_the_channels() {
        on_threads(segments(&[0, 1, 2], 3, true), |rank, segment| {
            let (mut board, mut ports) = (segment.board().borrow_mut(), segment.ports().borrow_mut());
            assert_eq!(board.ranks(), 3);
            let mut idle = Idle::new(segment.is_crowded(), || ());
            for round in 0..100 {
                board.enter(1);
                board.arrive();
                wait_until(|| board.have_arrived(), &mut idle);
                let (to, from) = ((rank + 1) % 3, (rank + 2) % 3);
                let (out, mut into) = (bytes(5000, rank + round), vec![0; 5000]);
                // SAFETY: the vectors outlive the calls.
                unsafe {
                    ports.send(to as u32, out.as_ptr(), 5000, pausing()).unwrap();
                    ports.receive(from as u32, into.as_mut_ptr(), 5000, pausing()).unwrap().unwrap();
                }
                assert!(into == bytes(5000, from + round));
            }
        });
    }
}
