//! The `collie` command line.
fn main() {}
