//! The one idea of the crate: an algorithm is written once against [`Comm`] and read by several interpreters.

#![forbid(unsafe_code)]

pub mod action;
pub mod comm;
pub mod count;
pub mod cover;
pub mod draw;
pub mod fragments;
pub mod lower;
pub mod overlap;
pub mod record;
pub mod simulate;
pub mod verify;
pub mod view;

pub use comm::{Buffer, Comm, Range, Request, Requests};
pub use record::{Program, Step, record, record_all, record_body};
pub use view::View;
