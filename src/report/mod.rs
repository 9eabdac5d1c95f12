//! One writer per form of the report: the monitor's [`Summary`](crate::monitor::Summary) in, bytes out. Only [`write`]
//! and [`NewFile`] touch files.
//!
//! Modules in reading order:
//!
//! * `layout`: how much of a report a reader wants to see. `render`: the report in one of its forms.
//! * `text`: the summary for people. `csv`: one table of it. `json`: everything that it holds. `html`: one page that
//!   needs nothing else, with `drawings` of the algorithms that ran. `trace`: the time line of the calls. `matrix`:
//!   traffic as bare matrices. `diff`: two runs side by side.
//! * What these share: `columns`: tables for a screen. `quantity`: numbers with their units. `names`: a different one
//!   for each communicator. `totals`: rows summed up. `compared`: which of them a verdict is about. `left`: which calls
//!   mode `best` left to the MPI library; `under_way`: which had not ended.
//! * `recovered`: what single ranks wrote before their job ended. `sites`: the functions and lines of the program, by
//!   their addresses.
//! * `write`: a report to where it goes. `file`: files that appear only when they are whole; `numbers`: names beside
//!   another job's; `output`: what the command line is told to write. `ending`: what the ending of a name promises; `found`: what a file is that is no report.

#![forbid(unsafe_code)]

mod columns;
mod compared;
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
mod output;
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

pub use compared::compared_with;
pub use diff::{Difference, diff, render_difference};
pub use ending::fits;
pub use file::{NewFile, may_replace, try_path};
pub use found::found;
pub use html::Page;
pub use json::{ReadError, read};
pub use layout::{Extent, Layout, TableOf, WIDTH};
pub use matrix::{MATRICES, Pairs};
pub use numbers::{Claim, claim, free, numbered, with_word};
pub use output::{try_output, write_output, write_output_by};
pub use quantity::several;
pub use recovered::recover;
pub use render::render;
pub use sites::name_sites;
pub use trace::Trace;
pub use under_way::{left_out, on_one_rank};
pub use write::{WriteError, replace, write, write_beside};
