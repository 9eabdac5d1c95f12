//! What the player needs of the world: messages, waiting, and the memory that buffers lie in.

use crate::operation::Shared;
use crate::schedule::action::Elements;

/// Carries messages and moves memory for one call on one rank.
///
/// # Safety
/// An implementation touches only the units that it is told to, and those of a started message only until a wait for
/// its request has come back.
pub unsafe trait Transport {
    /// A started message.
    type Request;
    /// What can go wrong.
    type Error;

    /// The request of no message.
    fn nothing(&self) -> Self::Request;

    /// Bytes from one unit to the next; negative where elements go downwards.
    fn stride(&self) -> isize;

    /// Sends and returns when the units may be used again.
    ///
    /// # Errors
    /// What the transport says.
    ///
    /// # Safety
    /// There are `units` units at `from`.
    unsafe fn send(&mut self, peer: u32, from: *mut u8, units: usize) -> Result<(), Self::Error>;

    /// Receives and returns when the units are there.
    ///
    /// # Errors
    /// What the transport says.
    ///
    /// # Safety
    /// There is room for `units` units at `into`, and nothing else uses it meanwhile.
    unsafe fn receive(&mut self, peer: u32, into: *mut u8, units: usize) -> Result<(), Self::Error>;

    /// Starts a send.
    ///
    /// # Errors
    /// What the transport says; nothing was started then.
    ///
    /// # Safety
    /// There are `units` units at `from`, which nothing writes until the request is finished.
    unsafe fn start_send(&mut self, peer: u32, from: *mut u8, units: usize) -> Result<Self::Request, Self::Error>;

    /// Starts the send of the last fragment of a message of `whole` units: as [`start_send`](Self::start_send), but a
    /// transport may have it finish only when the receiver has come, so that not too much lies on its way to one that
    /// is late.
    ///
    /// # Errors
    /// What the transport says; nothing was started then.
    ///
    /// # Safety
    /// As for [`start_send`](Self::start_send).
    unsafe fn start_send_last(
        &mut self,
        peer: u32,
        from: *mut u8,
        units: usize,
        _whole: usize,
    ) -> Result<Self::Request, Self::Error> {
        // SAFETY: the caller's promise.
        unsafe { self.start_send(peer, from, units) }
    }

    /// Starts a receive.
    ///
    /// # Errors
    /// What the transport says; nothing was started then.
    ///
    /// # Safety
    /// There is room for `units` units at `into`, which nothing touches until the request is finished.
    unsafe fn start_receive(&mut self, peer: u32, into: *mut u8, units: usize) -> Result<Self::Request, Self::Error>;

    /// Waits for all of some requests, which are no messages afterwards.
    ///
    /// # Errors
    /// What the transport says.
    fn wait(&mut self, requests: &mut [Self::Request]) -> Result<(), Self::Error>;

    /// Copies units.
    ///
    /// # Errors
    /// What the transport says.
    ///
    /// # Safety
    /// There are `units` units at either address; they do not overlap.
    unsafe fn copy(&mut self, from: *mut u8, into: *mut u8, units: usize) -> Result<(), Self::Error>;

    /// `into = left ∘ right`.
    ///
    /// # Safety
    /// There are `units` units at each address; `into` is one of the others or overlaps neither.
    unsafe fn fold(&mut self, left: *mut u8, right: *mut u8, into: *mut u8, units: usize);

    /// `inout = input ∘ inout`.
    ///
    /// # Errors
    /// What the transport says.
    ///
    /// # Safety
    /// There are `units` units at either address; they do not overlap.
    unsafe fn reduce_local(&mut self, input: *mut u8, inout: *mut u8, units: usize) -> Result<(), Self::Error>;

    /// Writes the signature bytes of the program's elements to `into`.
    ///
    /// # Errors
    /// What the transport says.
    ///
    /// # Safety
    /// The call's buffers hold the elements; there is room for their bytes at `into`.
    unsafe fn pack(&mut self, from: Elements, into: *mut u8) -> Result<(), Self::Error>;

    /// Sets the program's elements from their signature bytes.
    ///
    /// # Errors
    /// What the transport says.
    ///
    /// # Safety
    /// The call's buffers hold the elements; their bytes are at `from`.
    unsafe fn unpack(&mut self, from: *mut u8, into: Elements) -> Result<(), Self::Error>;

    /// Takes a step on the board of the communicator, and waits if it has to ([`shared::take`](super::shared::take)).
    ///
    /// # Errors
    /// There is no board, or what waiting says.
    fn shared(&mut self, step: Shared) -> Result<(), Self::Error>;

    /// Takes a step on the board after an error ([`shared::pass`](super::shared::pass)); that one is told, whatever
    /// comes of this.
    fn pass(&mut self, step: Shared);

    /// Where shared memory lies that begins so ([`shared::address`](super::shared::address)); null where there is none.
    fn shared_at(&self, start: usize) -> *mut u8;
}

/// Sees which messages are under way. Watching changes nothing about what is done.
pub trait Observer {
    /// A message is started, or about to block; `number` is new or that of one that has ended.
    fn started(&self, number: u32, peer: u32, outgoing: bool);
    /// The messages of these numbers are finished.
    fn ended(&self, numbers: std::ops::Range<u32>);
}

impl Observer for () {
    #[inline(always)]
    fn started(&self, _: u32, _: u32, _: bool) {}
    #[inline(always)]
    fn ended(&self, _: std::ops::Range<u32>) {}
}
