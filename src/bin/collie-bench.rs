//! The MPI program behind `collie bench`.

fn main() -> std::process::ExitCode {
    collie::bench::main(std::env::args_os())
}
