//! Ranges of ranks and bytes, both ends in them.

use crate::algorithm::{format_bytes, parse_bytes};
use crate::operation::upper_bound;
use std::fmt::{Display, Formatter, Result};

/// `least..=most`; `most` is `usize::MAX` where there is no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// In it.
    pub least: usize,
    /// In it.
    pub most: usize,
}

/// Whose bytes a rule speaks of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BytesOf {
    /// What one rank contributes.
    #[default]
    Rank,
    /// What all ranks contribute together, for gather, scatter and allgather.
    All,
}

impl Span {
    /// Everything.
    pub const ALL: Self = Self { least: 0, most: usize::MAX };

    /// Whether `number` is in it.
    pub const fn contains(self, number: usize) -> bool {
        self.least <= number && number <= self.most
    }

    /// What is in both; none if nothing is.
    pub fn and(self, other: Self) -> Option<Self> {
        let (least, most) = (self.least.max(other.least), self.most.min(other.most));
        (least <= most).then_some(Self { least, most })
    }

    /// The spans between all ends of `spans`, from 0 on, without those that begin beyond `most`.
    pub fn between(spans: impl Iterator<Item = Self>, most: usize) -> Vec<Self> {
        let mut starts = vec![0];
        for span in spans {
            starts.push(span.least);
            starts.extend(span.most.checked_add(1));
        }
        starts.retain(|start| *start <= most);
        starts.sort_unstable();
        starts.dedup();
        let ends = starts.iter().skip(1).map(|next| next - 1).chain([usize::MAX]);
        starts.iter().zip(ends).map(|(least, most)| Self { least: *least, most }).collect()
    }

    /// Reads a range of ranks.
    pub fn parse_ranks(text: &str) -> std::result::Result<Self, String> {
        let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        Self::parse(text, number, "*, a number, or a range such as 2-8 or 9-inf")
    }

    /// Reads a range of bytes.
    pub fn parse_bytes(text: &str) -> std::result::Result<Self, String> {
        Self::parse(text, parse_bytes, "*, bytes, or a range such as 0-2K or 2K-inf (K, M, G are powers of 1024)")
    }

    fn parse(text: &str, number: impl Fn(&str) -> Option<usize>, accepted: &str) -> std::result::Result<Self, String> {
        let refuse = || match text.split('-').any(|end| !upper_bound(end).is_empty()) {
            true => {
                format!("'{text}': numbers go up to {}; inf stands for no limit; accepted: {accepted}", usize::MAX)
            }
            false => format!("'{text}' is not a range; accepted: {accepted}"),
        };
        let end = |text: &str| if matches!(text, "inf" | "*") { Some(usize::MAX) } else { number(text) };
        let (least, most) = match text.split_once('-') {
            _ if text == "*" => return Ok(Self::ALL),
            Some((least, most)) => (number(least).ok_or_else(refuse)?, end(most).ok_or_else(refuse)?),
            None => number(text).map(|only| (only, only)).ok_or_else(refuse)?,
        };
        if least > most {
            return Err(format!("'{text}' is empty: its end is below its start"));
        }
        Ok(Self { least, most })
    }

    /// Written with K, M, G.
    pub fn in_bytes(self) -> String {
        self.written(&format_bytes)
    }

    fn written(self, number: &dyn Fn(usize) -> String) -> String {
        match self {
            Self::ALL => "*".to_owned(),
            Self { least, most } if least == most => number(least),
            Self { least, most: usize::MAX } => format!("{}-inf", number(least)),
            Self { least, most } => format!("{}-{}", number(least), number(most)),
        }
    }
}

impl Display for Span {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.pad(&self.written(&|number| number.to_string()))
    }
}
