//! Whole numbers on the command line: whoever gives another one is told what is accepted, of a negative one too.

#![forbid(unsafe_code)]

use crate::operation::upper_bound;
use clap::Command;
use std::ops::{Bound, RangeBounds};

/// Reads a whole number of the range, as far as the type holds it.
pub fn whole<N: TryFrom<u64>>(
    range: impl RangeBounds<u64>,
) -> impl Fn(&str) -> Result<N, String> + Clone + Send + Sync + 'static {
    let least = match range.start_bound() {
        Bound::Included(least) => *least,
        Bound::Excluded(before) => before + 1,
        Bound::Unbounded => 0,
    };
    let held = u64::MAX >> (64 - 8 * size_of::<N>().clamp(1, 8));
    let most = match range.end_bound() {
        Bound::Included(most) => *most,
        Bound::Excluded(behind) => behind - 1,
        Bound::Unbounded => held,
    };
    move |text| {
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        number.and_then(|number| N::try_from(number).ok()).ok_or_else(|| match most {
            u64::MAX => format!("accepted: a whole number from {least} on{}", upper_bound(text)),
            most => format!("accepted: a whole number from {least} to {most}"),
        })
    }
}

/// The command with options, also those of its subcommands, that take `-3` for their value. They would refuse it as an
/// option that nobody knows, and never say what they accept.
#[must_use]
pub fn taking_negative_numbers(command: Command) -> Command {
    let command = command.mut_args(|argument| {
        let is_option = !argument.is_positional() && argument.get_action().takes_values();
        if is_option { argument.allow_negative_numbers(true) } else { argument }
    });
    command.mut_subcommands(taking_negative_numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_accepted_is_told() {
        assert_eq!(whole::<u32>(1..=256)("256"), Ok(256));
        for wrong in ["0", "257", "-3", "", "x", "1.5", "99999999999999999999"] {
            assert_eq!(
                whole::<u32>(1..=256)(wrong),
                Err("accepted: a whole number from 1 to 256".to_owned()),
                "{wrong}"
            );
        }
        assert_eq!(whole::<u32>(1..)("4294967296"), Err("accepted: a whole number from 1 to 4294967295".to_owned()));
        assert_eq!(whole::<usize>(..)("-1"), Err("accepted: a whole number from 0 on".to_owned()));
        let told = "accepted: a whole number from 0 on, at most 18446744073709551615";
        assert_eq!(whole::<usize>(..)("99999999999999999999"), Err(told.to_owned()));
        assert_eq!(whole::<u64>(..)("18446744073709551615"), Ok(u64::MAX));
    }
}
