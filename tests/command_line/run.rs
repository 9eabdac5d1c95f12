//! `collie run`: what it starts, and what it refuses to start.

use crate::started::{collie, failed, printed, text};
use std::path::Path;
use std::process::{Command, Output};

/// Makes `to` an executable copy of `from`, by another process: what this one wrote itself, it could not start while a
/// child that another test has just forked still has it open for writing.
fn install(from: &Path, to: &Path) {
    assert!(Command::new("install").args(["-m", "755"]).args([from, to]).status().unwrap().success());
}

/// A folder laid out as `scripts/build` leaves it, with a launcher in it that only tells how it was called.
struct Installed {
    folder: tempfile::TempDir,
}

impl Installed {
    fn new(families: &[&str], version: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("bin")).unwrap();
        install(Path::new(env!("CARGO_BIN_EXE_collie")), &path("bin/collie"));
        for family in families {
            std::fs::create_dir_all(path(family).join("lib")).unwrap();
            std::fs::write(path(family).join("lib/libcollie.so"), "").unwrap();
        }
        let script = format!(
            "#!/bin/sh\nif [ \"$1\" = --version ]; then echo '{version}'; exit 0; fi\n\
             echo \"$*\"\nenv | grep '^COLLIE_' | sort\nexit 7\n"
        );
        std::fs::write(path("mpirun.text"), script).unwrap();
        install(&path("mpirun.text"), &path("mpirun"));
        Self { folder }
    }

    fn path(&self, name: &str) -> String {
        let folder = std::fs::canonicalize(self.folder.path()).unwrap();
        folder.join(name).to_str().unwrap().to_owned()
    }

    /// `collie run` with `options`, then this launcher with two ranks of ./app.
    fn run(&self, options: &[&str]) -> Command {
        let mut command = collie(&[]);
        let mut installed = Command::new(self.path("bin/collie"));
        for (name, value) in command.env_remove("LD_PRELOAD").get_envs() {
            match value {
                Some(value) => installed.env(name, value),
                None => installed.env_remove(name),
            };
        }
        installed.arg("run").args(options).args(["--", &self.path("mpirun"), "-n", "2", "./app"]);
        installed
    }
}

#[test]
fn run_hands_library_and_variables_to_open_mpi() {
    let installed = Installed::new(&["openmpi", "mpich"], "mpirun (Open MPI) 4.1.4");
    let library = installed.path("openmpi/lib/libcollie.so");
    let options = ["--algorithm", "bcast=linear", "--algorithm", "allreduce=ring", "--report", "off"];
    let Output { status, stdout, stderr } = installed.run(&options).env("COLLIE_GATHER", "native").output().unwrap();
    assert_eq!(text(&stderr), "");
    assert_eq!(status.code(), Some(7), "the launcher's own status");
    assert_eq!(
        text(&stdout),
        format!(
            "-x LD_PRELOAD={library} -x COLLIE_ALLREDUCE=ring -x COLLIE_BCAST=linear -x COLLIE_GATHER=native \
             -x COLLIE_REPORT=off -n 2 ./app\n\
             COLLIE_ALLREDUCE=ring\nCOLLIE_BCAST=linear\nCOLLIE_GATHER=native\nCOLLIE_REPORT=off\n"
        )
    );
}

#[test]
fn run_takes_one_algorithm_for_an_operation() {
    let installed = Installed::new(&["mpich"], "HYDRA build details:");
    let (code, words) = failed(&mut installed.run(&["-a", "allreduce=ring", "-a", "allreduce=native"]));
    assert_eq!(code, 2);
    assert!(words.contains("--algorithm 'allreduce=native': another --algorithm says 'ring' for allreduce"), "{words}");
    let shown = printed(&mut installed.run(&["--dry-run", "-a", "allreduce=ring", "-a", "allreduce=ring"]));
    assert!(shown.contains("-genv COLLIE_ALLREDUCE ring -n 2"), "{shown}");
}

#[test]
fn run_hands_library_and_variables_to_hydra() {
    let installed = Installed::new(&["mpich"], "HYDRA build details:");
    let library = installed.path("mpich/lib/libcollie.so");
    let Output { stdout, .. } = installed.run(&["--mode", "native"]).output().unwrap();
    assert_eq!(text(&stdout), format!("-genv LD_PRELOAD {library} -genv COLLIE_MODE native -n 2 ./app\n"));
}

#[test]
fn run_can_be_looked_at_first() {
    let installed = Installed::new(&["openmpi"], "mpirun (Open MPI) 4.1.4");
    let (library, launcher) = (installed.path("openmpi/lib/libcollie.so"), installed.path("mpirun"));
    let shown = printed(&mut installed.run(&["--dry-run", "--algorithm", "reduce=linear"]));
    let options = format!("-x LD_PRELOAD={library} -x COLLIE_REDUCE=linear");
    assert_eq!(shown, format!("COLLIE_REDUCE=linear {launcher} {options} -n 2 ./app\n"));
    let bound = installed.run(&["--dry-run"]).env("LD_BIND_NOW", "1").output().unwrap();
    assert!(bound.status.success() && text(&bound.stderr).starts_with("collie: LD_BIND_NOW is set: "));
    let shown = printed(&mut installed.run(&["--dry-run", "--launcher", "none", "--family", "openmpi"]));
    assert_eq!(shown, format!("LD_PRELOAD={library} {launcher} -n 2 ./app\n"));
}

#[test]
fn run_refuses_before_anything_is_started() {
    let installed = Installed::new(&["mpich"], "mpirun (Open MPI) 4.1.4");
    let missing = installed.path("openmpi/lib/libcollie.so");
    let (code, words) = failed(&mut installed.run(&[]));
    let advice = "build it with scripts/build or install a package, or name one with collie run --library";
    assert_eq!((code, words), (1, format!("collie: there is no {missing}; {advice}\n")));
    let (code, words) = failed(&mut installed.run(&["--algorithm", "bcast=lineer"]));
    assert_eq!(code, 2);
    let start = "collie: --algorithm 'bcast=lineer': unknown bcast algorithm 'lineer'; accepted: ";
    assert!(words.starts_with(start), "{words}");
    assert!(words.ends_with("; did you mean 'linear'?\n"), "{words}");
    for (option, value) in [
        ("--rules", "/nowhere.rules"),
        ("--mode", "foo"),
        ("--report", "x.pdf"),
        ("--log", "loud"),
        ("--algorithm", "gater=linear"),
    ] {
        let (code, words) = failed(&mut installed.run(&[option, value]));
        assert_eq!(code, 2, "{words}");
        assert!(words.starts_with(&format!("collie: {option}")) && !words.contains("COLLIE_"), "{words}");
    }
    let (code, words) = failed(installed.run(&["--mode", "native"]).env("COLLIE_RULES", "/nowhere.rules"));
    assert_eq!(code, 2);
    assert!(words.starts_with("collie: COLLIE_RULES: cannot read '/nowhere.rules'"), "{words}");
    assert_eq!(failed(&mut installed.run(&["--algorithm", "bcast"])).0, 2);
    assert_eq!(failed(&mut installed.run(&["--library", "/nowhere.so"])).0, 1);
    let unknown = Installed::new(&["openmpi"], "mpirun of nobody");
    let (code, words) = failed(&mut unknown.run(&[]));
    assert_eq!(code, 1);
    assert!(words.contains("cannot determine what launcher 'mpirun' is") && words.contains("--launcher"), "{words}");
    let with_library = |path: &str| failed(&mut collie(&["run", "--library", path, "--", "/nowhere/app"]));
    let (code, words) = with_library(&installed.path("mpirun"));
    assert_eq!(code, 1);
    assert!(words.ends_with("accepted: a library of Collie, as is in the folder lib of each family\n"), "{words}");
    std::fs::write(installed.path("own.so"), b"\x7fELF\0collie_version\0").unwrap();
    let (code, words) = with_library(&installed.path("own.so"));
    assert_eq!(code, 127, "{words}");
}

#[test]
fn run_tells_a_launcher_and_a_program_of_two_mpis_apart() {
    let installed = Installed::new(&["mpich"], "mpirun (Open MPI) 4.1.4");
    let program = installed.path("app.text");
    std::fs::write(&program, b"\x7fELF\0libmpich.so.12\0").unwrap();
    install(Path::new(&program), Path::new(&installed.path("app")));
    let mut command = installed.run(&["--report", "off"]);
    let Output { status, stdout, stderr } = command.current_dir(installed.path(".")).output().unwrap();
    assert_eq!(status.code(), Some(7), "it is started all the same");
    assert!(text(&stdout).contains(&installed.path("mpich/lib/libcollie.so")), "{}", text(&stdout));
    let told = "collie: the launcher is of Open MPI, the program uses MPICH, Intel MPI and compatible libraries: each \
                of its processes may find itself alone, as rank 0 of 1\n";
    assert_eq!(text(&stderr), told);
}
