//! What the user asks for: the options that `collie fit` and `collie-bench fit` share.

#![forbid(unsafe_code)]

use crate::algorithm::{format_bytes, parse_bytes};

/// What is measured and how thoroughly.
#[derive(Clone, Debug, PartialEq, clap::Args)]
pub struct Settings {
    /// Seconds for each kind of message and size
    #[arg(short, long, default_value_t = 0.2, value_parser = crate::bench::pattern::seconds)]
    pub seconds: f64,
    /// Longest message
    #[arg(long, default_value = "4M", value_name = "BYTES", value_parser = most)]
    pub most: usize,
    /// Name of the network
    #[arg(long, default_value = "fitted")]
    pub name: String,
}

impl Settings {
    /// The words that say the same on a command line.
    pub fn words(&self) -> [String; 6] {
        let Self { seconds, most, name } = self;
        let most = format_bytes(*most);
        ["--seconds".to_owned(), seconds.to_string(), "--most".to_owned(), most, "--name".to_owned(), name.clone()]
    }
}

fn most(text: &str) -> Result<usize, String> {
    let accepted = || "accepted: bytes from 64K to 1G, such as 4M".to_owned();
    parse_bytes(text).filter(|bytes| (1 << 16..=1 << 30).contains(bytes)).ok_or_else(accepted)
}
