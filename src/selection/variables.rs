//! THE table of environment variables: the README's section and `collie help env` are printed from it, and a variable
//! that is not in it is refused.

use crate::algorithm::{Operation, Row};
use once_cell::sync::Lazy;

/// One environment variable.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    /// `COLLIE_...`.
    pub name: &'static str,
    /// What it accepts, in words.
    pub accepted: &'static str,
    /// What holds when it is not set, or set to nothing.
    pub default: &'static str,
    /// What it does, in sentences.
    pub help: &'static str,
}

const ALGORITHM: &str = "auto, native, or an algorithm: name or name:parameter=value,...";

const fn of_operation(row: &Row) -> Variable {
    Variable { name: row.variable, accepted: ALGORITHM, default: "auto", help: row.variable_help }
}

/// The mode.
pub const MODE: &str = "COLLIE_MODE";
/// What a difference does.
pub const ON_DIFFERENCE: &str = "COLLIE_ON_DIFFERENCE";
/// Whose result the program gets where both ran.
pub const VERIFY_RESULT: &str = "COLLIE_VERIFY_RESULT";
/// The rules file.
pub const RULES: &str = "COLLIE_RULES";
/// Rows that are heard before the default tables.
pub const TABLES: &str = "COLLIE_TABLES";
/// What was learned by runs before and is by this one.
pub const LEARN: &str = "COLLIE_LEARN";
/// The part of the calls' time that trying may take.
pub const LEARN_BUDGET: &str = "COLLIE_LEARN_BUDGET";
/// Whether the order in which a reduction combines must not depend on what was measured.
pub const REPRODUCIBLE: &str = "COLLIE_REPRODUCIBLE";
/// The network that segments are cut for.
pub const NETWORK: &str = "COLLIE_NETWORK";
/// How messages travel within a node.
pub const TRANSPORT: &str = "COLLIE_TRANSPORT";
/// The NUMA nodes of ranks that share memory.
pub const NUMA: &str = "COLLIE_NUMA";
/// The longest message between nodes that is sent whole.
pub const PIECE: &str = "COLLIE_PIECE";
/// Lengths beyond which a message within a node takes a slower path through the MPI library.
pub const LIMITS: &str = "COLLIE_LIMITS";
/// Where the report goes.
pub const REPORT: &str = "COLLIE_REPORT";
/// Where the trace goes.
pub const TRACE: &str = "COLLIE_TRACE";
/// How waiting is separated from working.
pub const SYNC: &str = "COLLIE_SYNC";
/// Memory for what is recorded.
pub const MEMORY: &str = "COLLIE_MEMORY";
/// Disk for what is recorded.
pub const SPILL: &str = "COLLIE_SPILL";
/// When a call is told to be stuck.
pub const WATCHDOG: &str = "COLLIE_WATCHDOG";
/// What is counted.
pub const OBSERVE: &str = "COLLIE_OBSERVE";
/// Whether it is told where calls come from.
pub const SITES: &str = "COLLIE_SITES";
/// How often each rank writes what it knows.
pub const CHECKPOINT: &str = "COLLIE_CHECKPOINT";
/// Filter of the log.
pub const LOG: &str = "COLLIE_LOG";
/// From which call on a communicator's calls are replaced.
pub const AFTER: &str = "COLLIE_AFTER";
/// What is done about memory of GPUs.
pub const DEVICE: &str = "COLLIE_DEVICE";
/// Communicators with ranks of other worlds.
pub const SPAWNED: &str = "COLLIE_SPAWNED";
/// Budget of private communicators.
pub const MAX_COMMUNICATORS: &str = "COLLIE_MAX_COMMUNICATORS";

/// Every variable, in the order in which it is printed.
pub static VARIABLES: Lazy<Vec<Variable>> = Lazy::new(|| {
    let of_operations = Operation::ALL.map(|operation| of_operation(operation.row()));
    [BEFORE_OPERATIONS, &of_operations, AFTER_OPERATIONS].concat()
});

const BEFORE_OPERATIONS: &[Variable] = &[
    Variable {
        name: MODE,
        accepted: "replace, best, native, compare, learn, verify",
        default: "replace",
        help: "replace runs the collectives with Collie's algorithms wherever they can run; best does so only for calls where \
               measurements say that Collie is faster than the MPI library, or, where there are no measurements, for calls \
               between nodes that the cost model predicts to take half the time of what the MPI library is known to do, \
               and leaves all others to it; native leaves all to the MPI library and only observes; compare lets both \
               take turns of a few calls each and reports which is faster; learn finds out while the program runs \
               which of several algorithms, the MPI library's own among them, is fastest for each kind of call, and \
               stays with it, unless the program, a variable or a rule decides; verify runs both on every call, \
               compares the results and gives the program one of them (COLLIE_VERIFY_RESULT). compare-self, a test of \
               the comparison itself, is compare with the MPI library on both sides.",
    },
    Variable {
        name: ON_DIFFERENCE,
        accepted: "report, abort",
        default: "report",
        help: "What happens when verify finds a difference: the difference is reported and the program continues, or the job ends with \
               exit code 65.",
    },
    Variable {
        name: VERIFY_RESULT,
        accepted: "native, ours",
        default: "native",
        help: "Whose result the program gets in mode verify, and whose calls the report counts and times as the \
               program's. ours lets the program continue correctly where the MPI library's result is wrong.",
    },
];

const AFTER_OPERATIONS: &[Variable] = &[
    Variable {
        name: RULES,
        accepted: "a file name",
        default: "no rules",
        help: "Rules file, read by rank 0: Collie's own format, or Open MPI's (classic, version 2, JSON). The first \
               rule that matches a call decides, unless the operation's own variable does. `collie check` reports what \
               is wrong with a file.",
    },
    Variable {
        name: TABLES,
        accepted: "a file name",
        default: "Collie's own tables",
        help: "Rules file whose rows are consulted before those of Collie's own tables. Unlike rules, they are not \
               final: where the algorithm of a row cannot be used, the next matching row is tried, and \
               mode learn starts from what they say but may find another algorithm faster.",
    },
    Variable {
        name: LEARN,
        accepted: "a file name",
        default: "nothing is kept",
        help: "In mode learn, the file through which runs pass on what they have learned: rank 0 reads it at the \
               start, if it exists, so that the run begins with the winners, and at the end adds what was learned \
               to it, keeping what other jobs wrote in the meantime. It holds rules in Collie's own format, each \
               below its evidence: machine, MPI library, day, candidates with their calls and times. What was \
               learned on another kind of processor or MPI library stays in the file but is not used here. A rule \
               that was edited by hand decides the calls that it matches and, like comments, stays as it is. The \
               file may also be given to COLLIE_RULES, where it applies in every mode. What cannot be written to it goes \
               to the folder for temporary files (TMPDIR).",
    },
    Variable {
        name: LEARN_BUDGET,
        accepted: "a whole number of percent from 1 to 50, with or without %",
        default: "2",
        help: "In mode learn, the share of the time of a kind of call that may be spent on trying algorithms, in percent of \
               the time of four times as many calls as were made so far, which is what programs mostly make; of twice \
               as many between nodes and where calls are very short. Where the cost model promises much, a trial may also begin \
               earlier. With the default, many short calls are needed before anything is tried. With a larger share, a short run learns what later ones use (COLLIE_LEARN).",
    },
    Variable {
        name: REPRODUCIBLE,
        accepted: "on, off",
        default: "off",
        help: "on keeps the results of reductions from depending on what was measured (algorithms that combine the \
               ranks' contributions in another order round differently): in mode learn, only algorithms that \
               combine in the same order as the one that the tables name may take its place; the MPI library, whose \
               order is unknown, may not. Operations that only move data are learned as usual. Communicators are \
               replaced from the first call on (COLLIE_AFTER), so that no call of the same kind is left to the MPI \
               library. Modes compare and verify, in which the MPI library carries out calls too, are not affected.",
    },
    Variable {
        name: NETWORK,
        accepted: "shared_memory, ethernet, infiniband, measure, or a file name",
        default: "shared_memory within a node, ethernet between nodes",
        help: "Network whose start-up time and bandwidth determine the values of `segment=auto` and `blocks=auto`, which \
               candidates mode learn tries, and which calls between nodes mode best replaces where there are no measurements; a \
               file is one that `collie fit` wrote, read by rank 0. The protocol limits in it apply where COLLIE_PIECE and \
               COLLIE_LIMITS set none. measure takes measurements in MPI_Init between rank 0 and the first other rank of its node, \
               and between rank 0 and the first rank of another node, starting no further ones on a link after 20 ms and none \
               at all after 50 ms; for a link that does not exist or could not be measured in time the default remains. The \
               report says what was measured, which differs from run to run: it is refused with COLLIE_REPRODUCIBLE=on. \
               Nothing is measured in mode native or with a single rank.",
    },
    Variable {
        name: TRANSPORT,
        accepted: "messages, shared",
        default: "messages",
        help: "How the messages of Collie's algorithms travel between ranks of a node. messages uses MPI's \
               point-to-point messages; shared sends them through memory that the ranks share: a segment of at most \
               about 1 MiB for each rank and communicator, and in all at most an eighth of COLLIE_MEMORY and 64 \
               segments; on AMD processors channels of long messages take up to 2 MiB more each, in all at most a quarter. Where that is not available, all ranks of the communicator exchange messages, and the \
               report says why. Messages between nodes are always MPI's.",
    },
    Variable {
        name: NUMA,
        accepted: "auto, or a number of NUMA nodes",
        default: "auto",
        help: "How ranks that share memory are grouped by NUMA nodes, for barrier numa_hierarchical. auto groups those that may \
               run on the same NUMA nodes by what they are bound to when the memory is made: ranks that are not \
               bound are one group. A number spreads the ranks of each communicator evenly over that many groups of \
               neighbours, whatever they are bound to.",
    },
    Variable {
        name: PIECE,
        accepted: "auto, off, or bytes (K, M, G are powers of 1024)",
        default: "auto",
        help: "Longest message between nodes that is sent whole; longer ones travel in fragments of this length (\"pieces\" in \
               the name of this variable and in the condition in_pieces of rules). Over TCP, where two \
               ranks exchange messages, MPI libraries send long ones in one direction at a time and short ones in \
               both. auto is what the file of COLLIE_NETWORK says; without one it is 16K, or off where a node has \
               InfiniBand, Omni-Path or Slingshot.",
    },
    Variable {
        name: LIMITS,
        accepted: "auto, off, or one or two ascending numbers of bytes, separated by a comma, each of which may be \
                   followed by x and a power of two up to 128, and by :one_way or :exchange, such as \
                   256:one_way,4040x32:exchange",
        default: "auto",
        help: "Lengths beyond which a message within a node takes a slower path through the MPI library: a message \
               that is longer than the limit, but at most twice as long, is sent in fragments of that length. With x32 \
               that holds for messages of up to 32 times the limit, or up to the next power of two if that takes only \
               one more fragment; with :one_way only in operations with a root and in algorithms made of them, with \
               :exchange only in the others. auto takes them from the file of COLLIE_NETWORK, or else measures them in \
               MPI_Init between rank 0 and the first other rank of its node, in some 20 ms: a search for limits that has \
               not finished after 30 ms is given up, and after 50 ms no larger number of fragments is tried. Without a measurement it is what is known of Open MPI 4 \
               (256,4040:exchange, or the values of OMPI_MCA_btl_vader_max_inline_send and \
               OMPI_MCA_btl_vader_eager_limit), or off. Where ranks outnumber cores, measured limits allow no more than two fragments.",
    },
    Variable {
        name: REPORT,
        accepted: "off, or a comma-separated list of stderr and file names that end in .txt, .json, .csv or .html",
        default: "stderr",
        help: "Where rank 0 writes the report at the end of the run. In file names, %p stands for the process id of \
               rank 0, %j for the id of the job (that of the batch system or else of Open MPI's launcher; otherwise \
               the same as %p), %h for the host of rank 0, %t for the start as 20261231T235959, %x for the \
               program's name, %% for a percent sign. Relative names are resolved against the folder that the \
               launcher was started in. A file of another job is never overwritten: if there is one, this job's \
               files get a number before the ending (report.2.json), and a line says so. Spawned processes write a \
               report of their own: its file name gets spawned- and the number of their first process before the \
               ending, as does that of COLLIE_TRACE. A path that cannot be written to is reported at the start; \
               what could not be written at the end, for example to a pipe without a reader, goes to the folder \
               for temporary files (TMPDIR), or else to stderr.",
    },
    Variable {
        name: TRACE,
        accepted: "a file name",
        default: "no trace",
        help: "Where rank 0 writes every collective as a time line that Perfetto and chrome://tracing can open; the \
               clocks of several nodes are compared at the start and at the end, and all calls are placed by that of rank 0. File names are as for COLLIE_REPORT. Where there was no room for all calls of a rank (COLLIE_SPILL, \
               COLLIE_MEMORY), the rank has a slice that says how many are missing there.",
    },
    Variable {
        name: OBSERVE,
        accepted: "all, collectives",
        default: "all",
        help: "all also counts and times calls other than collectives: point-to-point (MPI_Send, MPI_Irecv, \
               MPI_Waitall and the like), one-sided and file calls, so that the report shows how much of the run is \
               spent in them. Every call that may wait is timed, which takes two readings of the clock (some \
               20 ns); of the short ones that return at once (MPI_Isend, MPI_Test, MPI_Put) only a sample is timed \
               and stands for the rest. collectives leaves these calls alone.",
    },
    Variable {
        name: SITES,
        accepted: "on, off",
        default: "off",
        help: "on reports the functions and lines of the program that collectives are called from, with calls, \
               bytes and time of each, if its files hold symbols and line numbers (compile with -g). Each \
               call then walks up the stack, which takes some 3 to 5 microseconds; up to 20 have been measured on a \
               busy machine.",
    },
    Variable {
        name: CHECKPOINT,
        accepted: "a whole number of seconds, at least 1",
        default: "no checkpoints",
        help: "At this interval, each rank writes its records so far into a folder beside the report, so that it \
               survives if the job is killed: run.checkpoint for COLLIE_REPORT=run.json, collie.checkpoint where no \
               report goes to a file, with a file for each rank. A rank's record is taken at its next collective \
               once the time has come, a separate thread writes it, and the rank's previous file stays until the \
               new one is complete. `collie report run.checkpoint` shows the files as one report. They are removed \
               when the report of all ranks is written.",
    },
    Variable {
        name: MEMORY,
        accepted: "a number of bytes, at least 1M; K, M and G are powers of 1024",
        default: "64M",
        help: "The most memory that a rank uses for what it records: half for the rows of the report (3 KiB each; 0.7 to 2.5 \
               KiB remain of a communicator that was called on and freed) \
               and for memory shared within a node (COLLIE_TRANSPORT; at most an eighth of the whole, on AMD processors a quarter), a quarter for single \
               calls (40 bytes each), an eighth for arrivals (COLLIE_SYNC), an eighth for the call cache, which holds calls ready for their repetition. The report says for how many calls there was no room.",
    },
    Variable {
        name: SPILL,
        accepted: "a number of bytes; K, M and G are powers of 1024",
        default: "1G",
        help: "How much of the trace a rank may put into an unnamed file in the folder for temporary files \
               (TMPDIR), within the limit on file sizes (ulimit -f); beyond that only its memory is used. 0: no \
               file.",
    },
    Variable {
        name: SYNC,
        accepted: "off, clock, barrier",
        default: "off",
        help: "How waiting for late ranks is separated from the collective itself. clock synchronises the ranks' \
               clocks at the start, at the end and now and then in between, and compares when each rank arrived at a \
               call; barrier inserts one of Collie's barriers before each blocking collective, and counts the time in it \
               as waiting. The report then names the ranks that the others wait for.",
    },
    Variable {
        name: WATCHDOG,
        accepted: "a whole number of seconds, at least 1",
        default: "no watch",
        help: "A blocking collective that has not returned after this time is reported on stderr, once: which rank, \
               which call on which communicator, and which ranks it waits for, to that rank's knowledge.",
    },
    Variable {
        name: LOG,
        accepted: "off, error, warn, info, debug or trace, or a comma-separated list of collie[::module]=level",
        default: "warn",
        help: "Diagnostics on stderr, each line with its rank; collie=trace prints one line per call.",
    },
    Variable {
        name: AFTER,
        accepted: "a whole number, at least 1",
        default: "4; 1 in mode verify, with COLLIE_SYNC, and with COLLIE_REPRODUCIBLE=on",
        help: "The number of the first call on a communicator that may be replaced, counting all operations that Collie has \
               algorithms for. In that call the ranks agree on what they need and create a private communicator, a cost \
               that is avoided for communicators that are freed after a few calls; earlier calls stay with the MPI \
               library. On MPI_COMM_WORLD it is always the first call. With COLLIE_SYNC it is 1 whatever is set; on \
               communicators with ranks of another MPI_COMM_WORLD it is the default.",
    },
    Variable {
        name: DEVICE,
        accepted: "auto, host, native, ask",
        default: "auto",
        help: "How buffers in GPU memory are handled, which Collie's messages cannot come from or go to. auto asks CUDA or \
               ROCm on communicators where some rank uses a GPU by the first call that may be replaced: a rank that \
               has such a buffer in a call that Collie carries out copies it to the host and back, and the ranks tell \
               each other of it before some of the first calls and then before every 64th, after which the \
               communicator is left to the MPI library. ask does so on all communicators, for programs that load CUDA or ROCm \
               later; host promises that no call has such a buffer; native leaves communicators with such ranks to the \
               MPI library.",
    },
    Variable {
        name: SPAWNED,
        accepted: "native, replace",
        default: "native",
        help: "What is done with collectives on communicators with ranks of another MPI_COMM_WORLD, that is, of spawned or \
               connected processes. native leaves them to the MPI library, since ranks without Collie would not answer: \
               Open MPI 5 does not pass on to spawned processes what mpirun -x sets, LD_PRELOAD included. replace promises \
               that all those processes have Collie and the same value here; their calls are then replaced as \
               elsewhere.",
    },
    Variable {
        name: MAX_COMMUNICATORS,
        accepted: "a whole number, at least 1",
        default: "512; 128 with MPICH",
        help: "How many private communicators Collie may hold at once. Collectives on communicators beyond that \
               stay with the MPI library. MPICH has 2046 context ids per process: when a program cannot create a \
               communicator for lack of one, private ones are given back for good, and collectives on those \
               communicators go to the MPI library.",
    },
];

/// What every variable's name begins with.
pub const PREFIX: &str = "COLLIE_";

/// Variables that the module files of clusters set for whatever package they are of, and that mean nothing here.
const OF_MODULES: [&str; 11] = [
    "COLLIE_BASE",
    "COLLIE_BIN",
    "COLLIE_DIR",
    "COLLIE_HOME",
    "COLLIE_INC",
    "COLLIE_INCLUDE",
    "COLLIE_LIB",
    "COLLIE_PATH",
    "COLLIE_PREFIX",
    "COLLIE_ROOT",
    "COLLIE_VERSION",
];

/// Whether a module file may have set the variable of that name: it says where the package is.
pub fn is_of_module(name: &str) -> bool {
    OF_MODULES.contains(&name)
}

/// The row of that name.
pub fn find(name: &str) -> Option<&'static Variable> {
    VARIABLES.iter().find(|row| row.name == name)
}

/// The variable that forces the algorithm of `operation`.
pub const fn of(operation: Operation) -> &'static str {
    operation.row().variable
}

/// The table in Markdown, as the README shows it.
pub fn markdown() -> String {
    let mut text = String::from("| variable | accepted | default | meaning |\n| --- | --- | --- | --- |\n");
    for row in VARIABLES.iter() {
        text.push_str(&format!("| `{}` | {} | {} | {} |\n", row.name, row.accepted, row.default, row.help));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_a_variable() {
        for operation in Operation::ALL {
            let name = of(operation);
            assert!(find(name).is_some(), "{name}");
            assert_eq!(name.strip_prefix(PREFIX).unwrap().to_lowercase(), operation.name());
        }
    }

    #[test]
    fn names_are_unique_and_no_cell_breaks_the_table() {
        for (place, row) in VARIABLES.iter().enumerate() {
            assert!(VARIABLES[place + 1..].iter().all(|other| other.name != row.name), "{}", row.name);
            assert!(row.name.starts_with(PREFIX) && !is_of_module(row.name), "{}", row.name);
            for cell in [row.accepted, row.default, row.help] {
                assert!(!cell.contains(['|', '\n']) && !cell.is_empty(), "{}", row.name);
            }
        }
    }
}
