//! The `collie` command line.

fn main() -> std::process::ExitCode {
    collie::cli::main(std::env::args_os())
}
