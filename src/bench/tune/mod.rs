//! From measured cells to rules: for each operation and number of ranks the fewest rows that lose little.
//!
//! Of each cell every forced algorithm counts with its median over the best one's, as the geometric mean over reports
//! (which may be of different MPI libraries), datatypes and roots. Along the sizes, rows are chosen so that what they
//! lose against the best of each size, plus a fixed price per change of the algorithm, is least: noise alone then
//! changes nothing. What a row loses to native counts once more: the mean over the cells of one MPI library, and of
//! several libraries that where it is most, since being fast under one library does not make up for being slower than
//! without Collie under another. Among rows that lose alike, the one with fewer messages wins, and of these the one that
//! reaches further.
//!
//! Modules in reading order: `settings` says what rules may be made of, `group` which cells are measured together,
//! `compared` what of them can be compared, `losses` what each candidate loses, `path` the candidates that cost least
//! along the sizes, `rows` makes rows of that, `cut` says where between two sizes one ends, `reach` says for which
//! other numbers of ranks they hold, by the cost formulas of `formula`, `between` says what the candidates would lose
//! among further ones, which `estimated` tells from what they lose elsewhere, `tree` makes rows for all numbers at
//! once, each of its leaves being a `leaf`; `site` goes from the reports of a site to its rules; `costs` puts
//! predictions in the place of measurements; `verdicts` makes cells of what mode `compare` found; `validate` says how
//! good the rows are for what was left out, and `unforced` what was faster than all that was forced.

#![forbid(unsafe_code)]

mod between;
mod compared;
mod costs;
mod cut;
mod estimated;
mod formula;
mod group;
mod leaf;
mod losses;
mod path;
mod reach;
mod rows;
mod settings;
mod site;
#[cfg(test)]
mod tests;
mod tree;
mod unforced;
mod validate;
mod verdicts;

pub use compared::{ours, wrong};
pub use costs::{STEPS as PREDICTED_STEPS, predicted};
pub use settings::{Block, Extend, Form, Settings};
pub use site::tune;
pub use unforced::faster_unforced;
pub use validate::{LeftOut, Model, Regret, validate};
pub use verdicts::of_comparisons;

/// The blocks as a rules file; each line of `header` becomes a comment.
pub fn text(blocks: &[Block], header: &str) -> String {
    let comment = |line: &str| format!("# {line}").trim_end().to_owned() + "\n";
    let mut text: String = header.lines().map(comment).collect();
    for block in blocks {
        text.push('\n');
        text.push_str(&comment(&block.evidence));
        text.extend(block.left_out.iter().map(|line| comment(line)));
        for rule in &block.rules {
            text.push_str(&format!("{rule}\n"));
        }
    }
    text
}
