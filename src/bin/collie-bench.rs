//! The MPI program behind `collie bench` and `collie fit`.

fn main() -> std::process::ExitCode {
    if std::env::args_os().nth(1).is_some_and(|word| word == "fit") {
        return collie::fit::main(std::env::args_os().skip(1));
    }
    collie::bench::main(std::env::args_os())
}
