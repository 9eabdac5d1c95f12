//! A call made ready to be played: its layout and the lowered program.
//!
//! Nothing here depends on the addresses of one call, so that it is kept and serves the next like call. Programs of
//! more actions than are worth keeping are lowered anew each time, straight into the player: the same lowering, the
//! same player.

use super::layout::{Base, Bases, Layout, units};
use super::length_prelude::{self, LengthPrelude};
use super::local_arguments::LocalArguments;
use super::made::Made;
use super::pool::with_pool;
use crate::communicator::private::Private;
use crate::communicator::seat::Seat;
use crate::communicator::state::Communicator;
use crate::monitor::{HeapBytes, Traffic};
use crate::mpi::error::{Error, Result};
use crate::mpi::family;
use crate::mpi::memory::Pool;
use crate::mpi::messages::{Channel, Messages, Units};
use crate::mpi::mixed::{self, Mixed};
use crate::operation::{Blocks, Call, Choice, Operation, SharedMemory, Stage};
use crate::process::flags::{self, WATCHED};
use crate::process::watched;
use crate::run::{Buffers, Counts, Observer, Player, Transport};
use crate::schedule::action::Lowered;
use crate::schedule::fragments::Fragments;
use crate::schedule::limits::{ProtocolLimits, Way};
use crate::schedule::lower::{self, Combine, Form, Part};
use crate::shared::Segment;
use mpi_sys::{MPI_Op, MPI_Request};
use std::cell::RefCell;
use std::os::raw::c_int;
use std::rc::Rc;
use std::sync::Arc;

/// Programs of more actions are not kept: their messages cost more than the walk through the algorithm, and their
/// actions would fill the processor's cache.
const MOST_KEPT: usize = 1024;

/// The memory that the ranks of each node share, for calls whose units are bytes in a row on all of them: those that
/// fold nothing, or fold elements of a predefined type without gaps by a kernel. Alike on all ranks, on one that is
/// alone on its node as well.
pub fn shared_memory(communicator: &Communicator, by_kernel: bool) -> Option<SharedMemory> {
    let window = communicator.shared.window().filter(|_| by_kernel)?;
    let network = communicator.agreed.as_ref().and_then(|agreed| agreed.configuration.network.as_deref());
    // What `collie fit` has measured, where the user names it.
    let plain = network.map_or(SharedMemory::PLAIN, |network| network.memory.in_calls());
    Some(SharedMemory { window, ..plain })
}

/// Whether a kernel folds elements without gaps, or there is nothing to fold.
pub fn folds_by_kernel(local: &LocalArguments) -> bool {
    local.reduction.is_none_or(|reduction| reduction.kernel.is_some() && matches!(units(local), Units::Bytes(_)))
}

/// This rank's seat and the call, for an algorithm that was decided on.
pub fn seat_and_call<'a>(
    communicator: &'a Communicator,
    operation: Operation,
    local: &'a LocalArguments,
) -> (Seat<'a>, Call<'a>) {
    let agreed = communicator.agreed.as_ref().expect("a plan of ours rests on an agreement");
    let Private::Made(comm) = communicator.private else { unreachable!("a plan of ours has a private communicator") };
    let segment = communicator.shared.segment();
    // Where all messages go through shared memory, waiting is its own.
    let waits_in_mpi = segment.is_none() || !agreed.nodes.is_empty();
    let yielding = agreed.situation.oversubscribed && family::SPINS_WHILE_WAITING && waits_in_mpi;
    // There no length of a message is slower than others.
    let within_node = segment.map_or(agreed.fragments.within_node, |_| ProtocolLimits::NONE);
    let call = Call {
        operation,
        root: local.root,
        count: local.count,
        blocks: local.own.as_ref().map_or(Blocks::Alike, |own| Blocks::Own { blocks: &own.blocks, learned: &[] }),
        unit: local.unit,
        commutative: local.reduction.is_none_or(|reduction| reduction.commutative),
        reduce_local: local.reduction.is_some_and(|reduction| reduction.kernel.is_none()),
        in_place: operation.tells_in_place() && local.send.is_none(),
        nodes: &agreed.nodes,
        half_bandwidth: agreed.half_bandwidth,
        shared: shared_memory(communicator, folds_by_kernel(local)),
        numa: communicator.shared.numa().map_or(&[], |numa| numa),
    };
    let (rank, size) = (communicator.facts.rank, communicator.facts.size);
    (Seat { comm, rank, size, yielding, fragments: Fragments { within_node, ..agreed.fragments }, segment }, call)
}

/// What a call of an algorithm that was decided on is lowered for on this rank.
pub fn form(communicator: &Communicator, seat: &Seat, choice: &Choice, call: &Call, local: &LocalArguments) -> Form {
    let reproducible = communicator.agreed.as_ref().is_some_and(|agreed| agreed.configuration.reproducible);
    let combine = match local.reduction {
        Some(reduction) if reduction.kernel.is_none() => Combine::local(choice, call, reproducible),
        _ => Combine::Kernel,
    };
    // What overlaps in another way than in place is moved out of the way first.
    let in_place = local.send.is_none() || local.receive.is_none();
    let within_node = seat.fragments.within_node.for_way(Way::of(choice, call.nodes));
    let fragments = Fragments { within_node, ..seat.fragments };
    Form { fragments, blocking: !seat.yielding, apart: !in_place, combine }
}

/// What a lowered program rests on, within a communicator and a version of the program's choices.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    operation: Operation,
    root: usize,
    count: usize,
    unit: usize,
    commutative: bool,
    apart: bool,
    combine: Combine,
}

impl Key {
    /// Of a call in a form.
    pub fn of(call: &Call, form: &Form) -> Self {
        let Call { operation, root, count, unit, commutative, .. } = *call;
        Self { operation, root, count, unit, commutative, apart: form.apart, combine: form.combine }
    }

    /// Differs between most keys of a program, in its top bits.
    pub const fn hash(&self) -> u64 {
        let mixed = (self.count as u64).wrapping_mul(31).wrapping_add(self.root as u64).wrapping_mul(31);
        mixed.wrapping_add(self.operation as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

/// The program of a call on this rank; `None` if it is too long to keep, or rests on what is yet to be learned.
pub fn lowered(seat: &Seat, call: &Call, choice: &Choice, form: &Form) -> Option<Lowered> {
    if choice.algorithm.needs.lengths.is_some() {
        return None;
    }
    lower::lower(&Part { choice, call, rank: seat.rank, size: seat.size }, form, MOST_KEPT)
}

/// A call made ready.
#[derive(Debug)]
pub struct Prepared {
    channel: Channel,
    layout: Layout,
    /// Whether nothing but the kept program's actions is to do: no working memory, no packing.
    plain: bool,
    form: Form,
    /// None if it is lowered anew each time.
    kept: Option<Arc<Lowered>>,
    /// What has to be learned before the program is known.
    learning: Option<LengthPrelude>,
    /// Bytes that each rank contributes, where all do alike.
    length: u64,
    /// Whether the rank sends itself more than it has room for, which is told when the others have what they wait for.
    truncated: bool,
    /// The table of requests. All are null between calls, as whatever was started is waited for.
    requests: RefCell<Vec<MPI_Request>>,
    /// The memory shared within the node, and the table of requests of messages some of which go through it.
    shared: Option<(Rc<Segment>, RefCell<Vec<mixed::Request>>)>,
}

impl HeapBytes for Prepared {
    fn heap_bytes(&self) -> usize {
        let request = if self.shared.is_some() { size_of::<mixed::Request>() } else { size_of::<MPI_Request>() };
        let requests = self.kept.as_ref().map_or(0, |lowered| lowered.requests) * request;
        let learning = self.learning.as_ref().map_or(0, LengthPrelude::bytes);
        requests + self.kept.as_ref().map_or(0, |lowered| lowered.bytes()) + learning
    }
}

impl Prepared {
    /// Makes calls like this of `choice` ready on this rank, with their lowered program unless that is too long or yet
    /// to be found out.
    pub fn new(
        seat: Seat,
        (choice, call): (&Choice, &Call),
        local: &LocalArguments,
        form: Form,
        kept: Option<Arc<Lowered>>,
    ) -> Self {
        let layout = Layout::of(seat.rank, seat.size, call, local);
        let part = Part { choice, call, rank: seat.rank, size: seat.size };
        let learning = LengthPrelude::of(&part, &form, MOST_KEPT);
        let truncated = local.own.as_ref().is_some_and(|own| own.truncated);
        let kernel = local.reduction.and_then(|reduction| reduction.kernel);
        let channel = Channel::new(
            (seat.comm, seat.rank, seat.yielding),
            layout.units,
            kernel,
            local.operation_and_type(),
            [local.send, local.receive],
        );
        let Layout { rows, before, after, .. } = &layout;
        let plain = rows.is_empty() && before.is_empty() && after.is_empty();
        let plain = plain && kept.as_ref().is_some_and(|lowered| lowered.scratch == 0) && !truncated;
        let shared = seat.segment.map(|segment| (Rc::clone(segment), RefCell::default()));
        let length = call.bytes() as u64;
        let requests = RefCell::default();
        Self { channel, layout, plain, form, kept, learning, length, truncated, requests, shared }
    }

    /// Whether the program is kept, so that playing it needs no algorithm.
    #[inline]
    pub const fn is_kept(&self) -> bool {
        self.kept.is_some()
    }

    /// Has it played with other handles from now on, of what is like what it was made ready for.
    pub fn set_handles(&self, made: &Made) {
        self.channel
            .set_handles(made.types().map(|datatype| datatype.map(|datatype| datatype.handle)), made.operation());
    }

    /// The same for another operation of the program's alone.
    pub fn set_operation(&self, operation: MPI_Op) {
        self.channel.set_handles([None; 2], Some(operation));
    }

    /// Plays it for a call with the program's send and receive buffers at `sides`; `part` is there unless the program
    /// is kept. What is sent is counted in `traffic`, by rank of the communicator.
    ///
    /// # Errors
    /// The first error that PMPI returned.
    pub fn play(&self, sides: [*mut u8; 2], part: Option<&Part>, traffic: &mut Traffic, counts: &mut Counts) -> Result {
        if !flags::is_set(WATCHED) {
            return self.play_before((), sides.into(), part, traffic, counts);
        }
        let thread = watched::of_this_thread();
        thread.runs(part.map(|part| (part.choice.algorithm.operation, part.choice.algorithm.name)));
        let played = self.play_before(&*thread, sides.into(), part, traffic, counts);
        thread.runs(None);
        played
    }

    /// The same for a kept program that nobody looks on at.
    ///
    /// # Errors
    /// The first error that PMPI returned.
    #[inline]
    pub fn play_kept(&self, send: *mut u8, receive: *mut u8, traffic: &mut Traffic, counts: &mut Counts) -> Result {
        self.play_before((), (send, receive), None, traffic, counts)
    }

    /// The same with somebody or nobody who looks on.
    #[inline]
    fn play_before<O: Observer + Copy>(
        &self,
        observer: O,
        // Not an array, which would be read back in another width than it was just written in.
        sides: (*mut u8, *mut u8),
        part: Option<&Part>,
        traffic: &mut Traffic,
        counts: &mut Counts,
    ) -> Result {
        let channel = &self.channel;
        // Messages are made where they are handed on: made before, they are written to memory and read back in another
        // width.
        match (&self.shared, &self.kept) {
            (None, Some(lowered)) if self.plain => {
                let messages = Messages { channel, addresses: sides, traffic };
                self.play_plain(messages, &mut self.requests.borrow_mut(), lowered, observer, sides, counts)
            }
            (None, _) => {
                let messages = Messages { channel, addresses: sides, traffic };
                self.play_over(messages, &mut self.requests.borrow_mut(), observer, sides, part, counts)
            }
            (Some(shared), _) => self.play_mixed(shared, observer, sides, part, traffic, counts),
        }
    }

    /// The same where nothing but the actions of the kept program is to do. What the player is made of is handed to no
    /// function on the way: it would be written to memory and read back in another width, which takes some 10 ns.
    #[inline(always)]
    fn play_plain<T: Transport<Error = Error>, O: Observer + Copy>(
        &self,
        transport: T,
        requests: &mut Vec<T::Request>,
        lowered: &Lowered,
        observer: O,
        sides: (*mut u8, *mut u8),
        counts: &mut Counts,
    ) -> Result {
        let Layout { send, receive, .. } = &self.layout;
        let nowhere = std::ptr::null_mut();
        let bases = [sides.0, sides.1, nowhere, nowhere, nowhere];
        let buffers = Buffers::of(send.of(&bases), receive.of(&bases));
        let mut none = |_| nowhere;
        // SAFETY: the buffers are the program's for as long as its call lasts; a plain program has no working memory.
        let mut player = unsafe { Player::new(transport, observer, buffers, requests, &mut none) };
        player.carry_all(&lowered.actions, 0);
        counts.calls += 1;
        counts.kept += 1;
        counts.actions += player.finish()?;
        Ok(())
    }

    /// The same through memory shared within the node.
    #[inline(never)]
    fn play_mixed<O: Observer + Copy>(
        &self,
        (segment, requests): &(Rc<Segment>, RefCell<Vec<mixed::Request>>),
        observer: O,
        sides: (*mut u8, *mut u8),
        part: Option<&Part>,
        traffic: &mut Traffic,
        counts: &mut Counts,
    ) -> Result {
        let (channel, requests) = (&self.channel, &mut *requests.borrow_mut());
        mixed::check_usable(channel, segment)?;
        match &self.kept {
            Some(lowered) if self.plain => {
                let messages = Messages { channel, addresses: sides, traffic };
                let transport = Mixed::new(messages, segment, self.length);
                self.play_plain(transport, requests, lowered, observer, sides, counts)?;
            }
            _ => {
                let messages = Messages { channel, addresses: sides, traffic };
                let transport = Mixed::new(messages, segment, self.length);
                self.play_over(transport, requests, observer, sides, part, counts)?;
            }
        }
        // What algorithms read out of shared memory has no envelope.
        let board = segment.board().borrow();
        match (board.has_failed(), board.disagrees()) {
            (true, _) => Err(Error(mpi_sys::MPI_ERR_OTHER as c_int)),
            (false, true) => Err(Error(mpi_sys::MPI_ERR_TRUNCATE as c_int)),
            (false, false) => Ok(()),
        }
    }

    /// The same over a transport, in the thread's working memory where it needs some.
    #[inline(always)]
    fn play_over<T: Transport<Error = Error>, O: Observer + Copy>(
        &self,
        transport: T,
        requests: &mut Vec<T::Request>,
        observer: O,
        sides: (*mut u8, *mut u8),
        part: Option<&Part>,
        counts: &mut Counts,
    ) -> Result {
        let played = self.play_in_memory(transport, requests, observer, sides, part, counts);
        if !self.plain {
            with_pool(Pool::settle);
        }
        played
    }

    #[inline(always)]
    fn play_in_memory<T: Transport<Error = Error>, O: Observer + Copy>(
        &self,
        transport: T,
        requests: &mut Vec<T::Request>,
        observer: O,
        sides: (*mut u8, *mut u8),
        part: Option<&Part>,
        counts: &mut Counts,
    ) -> Result {
        let Layout { send, receive, before, after, .. } = &self.layout;
        let nowhere = std::ptr::null_mut();
        let mut bases = [sides.0, sides.1, nowhere, nowhere, nowhere];
        if !self.plain {
            self.make_rows(&mut bases);
        }
        let buffers = Buffers::of(send.of(&bases), receive.of(&bases));
        if let (Some(learning), Some(part)) = (&self.learning, part) {
            return self.learn_and_play(transport, requests, learning, observer, buffers, part, counts);
        }
        let mut more = |number| in_pool(self.channel.units(), number);
        // SAFETY: the buffers are the program's for as long as its call lasts, or rows of the pool with room for what
        // the layout says; working memory is the pool's until it is cleared for the next call.
        let mut player = unsafe { Player::new(transport, observer, buffers, requests, &mut more) };
        player.carry_all(before, 0);
        match (&self.kept, part) {
            (Some(lowered), _) => player.carry_all(&lowered.actions, lowered.scratch),
            (None, Some(part)) => _ = lower::stream(part, &self.form, &mut player),
            (None, None) => unreachable!("what is not kept is played with its algorithm"),
        }
        player.carry_all(after, 0);
        counts.calls += 1;
        counts.kept += u64::from(self.kept.is_some());
        counts.actions += player.finish()?;
        self.check_room()
    }

    /// The same where the program is not known before lengths have been learned.
    #[allow(clippy::too_many_arguments, reason = "those of play, and what is learned")]
    fn learn_and_play<T: Transport<Error = Error>, O: Observer + Copy>(
        &self,
        transport: T,
        requests: &mut Vec<T::Request>,
        learning: &LengthPrelude,
        observer: O,
        buffers: Buffers,
        part: &Part,
        counts: &mut Counts,
    ) -> Result {
        let Layout { before, after, .. } = &self.layout;
        let mut more = |number| in_pool(self.channel.units(), number);
        let prelude = learning.prelude();
        let lengths = Buffers { lengths: learning.lengths(), ..buffers };
        // SAFETY: the lengths are so many as the prelude reads and brings; working memory as for the program.
        let mut player = unsafe { Player::new(transport, observer, lengths, &mut *requests, &mut more) };
        player.carry_all(&prelude.actions, prelude.scratch);
        counts.calls += 1;
        // Without them nothing can be said to the other ranks that they would expect.
        let (transport, played) = player.give_back();
        counts.actions += played?;
        let body = learning.body(part, &self.form);
        // SAFETY: as for every program; the lengths that it rests on are those of the messages on their way.
        let mut player = unsafe { Player::new(transport, observer, buffers, requests, &mut more) };
        player.carry_all(before, 0);
        match &body.lowered {
            Some(lowered) => player.carry_all(&lowered.actions, lowered.scratch),
            None => {
                let call = length_prelude::with_learned(part.call, &body.learned);
                lower::stream_stage(&Part { call: &call, ..*part }, Stage::Body, &self.form, &mut player);
            }
        }
        player.carry_all(after, 0);
        counts.kept += u64::from(body.lowered.is_some());
        counts.actions += player.finish()?;
        learning.check()?;
        self.check_room()
    }

    /// # Errors
    /// The rank sent itself more than it has room for.
    #[inline]
    fn check_room(&self) -> Result {
        if self.truncated { Err(Error(mpi_sys::MPI_ERR_TRUNCATE as c_int)) } else { Ok(()) }
    }

    /// Begins with the working memory anew, and takes the rows of the call from it.
    fn make_rows(&self, bases: &mut Bases) {
        with_pool(Pool::clear);
        for (base, number) in [Base::FirstRow, Base::SecondRow].into_iter().zip(&self.layout.rows) {
            bases[base as usize] = in_pool(self.channel.units(), *number);
        }
    }
}

/// Working memory for so many units.
fn in_pool(units: &Units, number: usize) -> *mut u8 {
    let (bytes, offset) = units.room(number);
    with_pool(|pool| pool.take(bytes)).wrapping_offset(offset)
}
