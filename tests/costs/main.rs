//! Every row's cost formula: against what is counted, against what is printed, and what it makes of `auto`.
//!
//! The tests are named `operation::algorithm`, `printed operation::algorithm`, `auto operation::algorithm` and `bound
//! operation::algorithm`.

mod counted;
mod expression;
mod printed;
mod segments;

use collie::algorithm::{Algorithm, all};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let mut trials: Vec<Trial> = all().map(|row| trial("", row, counted::check_row)).collect();
    let printed = all().filter(|row| printed::is_expression(row));
    trials.extend(printed.map(|row| trial("printed ", row, printed::check_row)));
    trials.push(Trial::test("printed prose", printed::check_list));
    let cutting = all().filter(|row| segments::cutting(row).is_some());
    trials.extend(cutting.map(|row| trial("auto ", row, segments::check_row)));
    let bounds = all().filter(|row| counted::is_bound_by_segments(row));
    trials.extend(bounds.map(|row| trial("bound ", row, counted::check_bound)));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn trial(prefix: &str, row: &'static Algorithm, check: fn(&'static Algorithm) -> Result<(), Failed>) -> Trial {
    Trial::test(format!("{prefix}{}::{}", row.operation, row.name), move || check(row))
}
