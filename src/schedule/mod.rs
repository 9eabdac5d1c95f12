//! The one idea of the crate: an algorithm is written once against [`Comm`] and read by several interpreters.

#![forbid(unsafe_code)]

pub mod action;
pub mod count;
pub mod draw;
pub mod fragments;
pub mod limits;
pub mod lower;
pub mod overlap;
pub mod record;
pub mod seats;
pub mod simulate;
pub mod verify;

pub use crate::operation::{Buffer, Comm, Place, Range, Request, Requests, Shared, View};
pub use record::{Program, Step, record, record_all, record_body};
