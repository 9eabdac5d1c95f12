//! One writer per form of the report: the monitor's [`Summary`] in, bytes out. Only [`write`] and [`NewFile`] touch
//! files.

#![forbid(unsafe_code)]

mod columns;
mod csv;
mod diff;
mod drawings;
mod ending;
mod file;
mod found;
mod html;
mod json;
mod layout;
mod left;
mod matrix;
mod names;
mod numbers;
mod quantity;
mod recovered;
mod render;
mod sites;
#[cfg(test)]
mod tests;
mod text;
mod totals;
mod trace;
mod under_way;
mod write;

pub use diff::{Difference, diff, render_difference};
pub use ending::fits;
pub use file::{NewFile, try_path};
pub use found::found;
pub use html::Page;
pub use json::{ReadError, read};
pub use layout::{Extent, Layout, TableOf, WIDTH};
pub use matrix::matrices;
pub use numbers::{Claim, claim, free, numbered, with_word};
pub use quantity::several;
pub use recovered::recover;
pub use render::render;
pub use sites::name_sites;
pub use trace::Trace;
pub use under_way::{left_out, on_one_rank};
pub use write::{WriteError, replace, write, write_beside};
