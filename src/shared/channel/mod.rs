//! A channel: messages from one rank to another, one after the other.
//!
//! A ring of slots, each a line of 64 bytes and an area. What is short travels in lines, each with the message's length
//! and the number that says that it is there, so that nothing but these lines goes from one core to the other; longer
//! messages travel in fragments through the areas. The sender numbers what it puts into slots, from 1 on and never
//! anew, so that no slot has to be cleared; the receiver tells how many it has emptied, on a line that only it writes
//! and that the sender reads only when the ring seems full.
//!
//! Where a channel has a [track](super::track), the areas of longer messages lie along it, once so much has gone through
//! the channel that making it ready pays.
//!
//! A long message may also be lent: its slot says where it is, and the receiver reads it out of the sender's memory,
//! with one copy instead of two, of which the sender makes a part if it only waits ([`Chunks`](super::chunks::Chunks)). What a receiver cannot
//! read it declines; that message goes through the areas, and all later ones if it may read none. So do those of a
//! length that comes faster through them, which the receiver finds out by declining some ([`Comparison`](super::comparison::Comparison)). A sender that
//! gives its messages up withdraws the one that it lends.
//!
//! * [`ring`]: the slots, and how a message goes through them. [`message`]: one that is under way.
//! * [`sender`], [`receiver`]: the two ends. [`tracking`]: when a channel begins to use its track.

mod message;
mod receiver;
mod ring;
mod sender;
mod tracking;

pub use message::{Incoming, Outgoing};
pub use receiver::Receiver;
pub use ring::{Emptied, Ring, Slot};
pub use sender::Sender;
pub use tracking::Preparation;
