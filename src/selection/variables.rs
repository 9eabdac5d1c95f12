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
/// Whether the order in which a reduction combines must not depend on what was measured.
pub const REPRODUCIBLE: &str = "COLLIE_REPRODUCIBLE";
/// The network that segments are cut for.
pub const NETWORK: &str = "COLLIE_NETWORK";
/// How messages travel within a node.
pub const TRANSPORT: &str = "COLLIE_TRANSPORT";
/// Bytes of a message between nodes.
pub const PIECE: &str = "COLLIE_PIECE";
/// Bytes of a message within a node that needs no buffer.
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
        help: "replace runs the collectives with Collie's algorithms; best runs those that measurements say are faster than \
               the MPI library's, and leaves to it what they say nothing of; native leaves all to the MPI library and only \
               observes; compare lets both take turns of a few calls each and tells which is faster; learn finds out while \
               the program runs which of several is fastest for each kind of call, the MPI library's own among them, and \
               stays with that one, where neither the program nor a variable nor a rule decides; verify runs both \
               on every call, compares the results and gives the program one of them (COLLIE_VERIFY_RESULT).",
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
        help: "Whose result the program gets in mode verify, and whose calls the report counts and times as the program's. \
               ours lets a program run on where the MPI library's result is the wrong one.",
    },
];

const AFTER_OPERATIONS: &[Variable] = &[
    Variable {
        name: RULES,
        accepted: "a file name",
        default: "no rules",
        help: "Rules file, read by rank 0: Collie's own format, or Open MPI's (classic, version 2, JSON). The first \
               rule that matches a call decides, unless the operation's own variable does. `collie check` tells what \
               is wrong with a file.",
    },
    Variable {
        name: TABLES,
        accepted: "a file name",
        default: "Collie's own tables",
        help: "Rules file whose rows are heard before the rows of Collie's own tables. Unlike rules they decide nothing for good: a \
               row whose algorithm may not be used gives way to the next one that matches, and mode learn begins with what \
               they say and may find another faster.",
    },
    Variable {
        name: LEARN,
        accepted: "a file name",
        default: "nothing is kept",
        help: "In mode learn, the file in which runs hand on what they have learned: rank 0 reads it at the start, if it is \
               there, so that the run begins with the winners, and at the end adds what was learned, beside what other jobs \
               wrote meanwhile. It holds rules in Collie's own format, each below its evidence: machine, MPI library, day, \
               candidates with their calls and times. What was learned on another kind of processor or MPI library stays in the \
               file and counts for nothing here. It may be given to COLLIE_RULES, where it counts in every mode.",
    },
    Variable {
        name: REPRODUCIBLE,
        accepted: "on, off",
        default: "off",
        help: "on keeps results of reductions from depending on what was measured, since algorithms that combine the ranks' \
               contributions in another order round differently: in mode learn, only algorithms that combine in the same order as the \
               one that the tables name take its place, and the MPI library, whose order nobody knows, does not; what only moves \
               data is learned as ever. Communicators are replaced from the first call on (COLLIE_AFTER), so that no call of the \
               same kind is the MPI library's. Modes compare and verify, in which the MPI library has its turns, are not affected.",
    },
    Variable {
        name: NETWORK,
        accepted: "shared_memory, ethernet, infiniband, or a file name",
        default: "shared_memory within a node, ethernet between nodes",
        help: "Network whose start-up and bandwidth decide what `segment=auto` and `blocks=auto` come to; the file is one \
               that `collie fit` wrote, read by rank 0; the protocol limits that it found hold where COLLIE_PIECE and \
               COLLIE_LIMITS set none.",
    },
    Variable {
        name: TRANSPORT,
        accepted: "messages, shared",
        default: "messages",
        help: "How the messages of Collie's algorithms travel between ranks of a node. messages are MPI's point-to-point messages; \
               shared has them go through memory that the ranks share, a segment of about 1 MiB at most for each rank and \
               communicator, and at most an eighth of COLLIE_MEMORY and 64 segments in all. Where that cannot be had, all ranks of \
               the communicator exchange messages, and the report says why. Messages between nodes are always MPI's.",
    },
    Variable {
        name: PIECE,
        accepted: "auto, off, or bytes (K, M, G are powers of 1024)",
        default: "auto",
        help: "Longest message between nodes; longer ones travel in pieces. Over TCP, MPI libraries send long messages one \
               way at a time where two ranks exchange them, and short ones both ways. auto is what the file of COLLIE_NETWORK \
               says, or else 16K, or off where a node has InfiniBand, Omni-Path or Slingshot.",
    },
    Variable {
        name: LIMITS,
        accepted: "auto, off, or one or two numbers of bytes, ascending, with a comma between",
        default: "auto",
        help: "Beyond which lengths a message within a node takes a slower way through the MPI library: one that is longer, \
               and no longer than twice that, travels as two. auto takes those of the file of COLLIE_NETWORK, or else measures \
               them in MPI_Init between ranks 0 and 1, if these are on one node, for at most 30 ms; otherwise it is what is known of Open MPI 4 (256,4040, or what \
               OMPI_MCA_btl_vader_max_inline_send and OMPI_MCA_btl_vader_eager_limit come to), or off.",
    },
    Variable {
        name: REPORT,
        accepted: "off, or a comma-separated list of stderr and file names that end in .txt, .json, .csv or .html",
        default: "stderr",
        help: "Where rank 0 writes the report at the end of the run. In file names, %p stands for the process id of rank 0, %j for \
               the id of the job (the batch system's, or else Open MPI's launcher's, or else as %p), %h for the host of \
               rank 0, %t for the start as 20261231T235959, %x for the program's name, %% for a percent sign. Relative names \
               are seen from the folder that the launcher was started in. A file of another job is never overwritten: where one \
               is there already, this job's get a number before the ending (report.2.json), which is told. Spawned processes \
               write one of their own: the file name gets spawned- and the number of their first process before its ending, as \
               that of COLLIE_TRACE. A path that cannot be written is told at the start; what could not be written at the end \
               goes to the folder for temporary files (TMPDIR), or else to stderr.",
    },
    Variable {
        name: TRACE,
        accepted: "a file name",
        default: "no trace",
        help: "Where rank 0 writes every call as a time line that Perfetto and chrome://tracing read; the name is read as \
               those of COLLIE_REPORT are.",
    },
    Variable {
        name: OBSERVE,
        accepted: "all, collectives",
        default: "all",
        help: "all counts and times calls beside collectives too: point-to-point (MPI_Send, MPI_Irecv, MPI_Waitall and the like), \
               one-sided and on files, so that the report tells how much of the run is spent in them; of short ones some are \
               timed and stand for the others. collectives leaves them alone.",
    },
    Variable {
        name: SITES,
        accepted: "on, off",
        default: "off",
        help: "on tells the functions and lines of the program that collectives are called from, with calls, bytes and time of each, \
               as far as its files hold symbols and lines (compile with -g). Each call then walks up the stack, which takes it \
               one to a few microseconds.",
    },
    Variable {
        name: CHECKPOINT,
        accepted: "a whole number of seconds from 1 on",
        default: "no checkpoints",
        help: "Every so often, each rank writes what it knows into a folder beside the report, so that a job that is killed leaves \
               it: run.checkpoint for COLLIE_REPORT=run.json, collie.checkpoint where no report goes to a file, with a file for \
               each rank. A rank writes at its next collective when the time has come, a thread of its own does the writing, and \
               the last file of a rank stays until the next one is whole. `collie report run.checkpoint` shows them as one \
               report. They go away when the report of all ranks is written.",
    },
    Variable {
        name: MEMORY,
        accepted: "a number of bytes, at least 1M; K, M and G are powers of 1024",
        default: "64M",
        help: "What a rank holds at most of what it records: half for the rows of the report, 3 KiB each, a \
               quarter for single calls, 40 bytes each, an eighth for arrivals (COLLIE_SYNC), an eighth for what calls were made ready for the next like them. The report says how many \
               calls found no room.",
    },
    Variable {
        name: SPILL,
        accepted: "a number of bytes; K, M and G are powers of 1024",
        default: "1G",
        help: "What a rank may put of the trace's calls into a file without a name in the folder for temporary files \
               (TMPDIR) before its memory has to do; 0 for no file.",
    },
    Variable {
        name: SYNC,
        accepted: "off, clock, barrier",
        default: "off",
        help: "How waiting for late ranks is separated from the collective itself. clock makes the ranks' clocks agree at the \
               start, at the end and now and then between, and compares when each rank came to a call; barrier puts a \
               barrier of Collie's before each blocking collective, and the time in it is waiting. The report then \
               names the ranks that the others wait for.",
    },
    Variable {
        name: WATCHDOG,
        accepted: "a whole number of seconds from 1 on",
        default: "no watch",
        help: "A blocking collective that has not ended for so long is told on stderr, once: which rank, which call of \
               which communicator, and which ranks it waits for as far as that rank knows.",
    },
    Variable {
        name: LOG,
        accepted: "off, error, warn, info, debug or trace, or a comma-separated list of collie[::module]=level",
        default: "warn",
        help: "Diagnostics on stderr, each line with its rank; collie=trace prints one line a call.",
    },
    Variable {
        name: AFTER,
        accepted: "a whole number from 1 on",
        default: "4; 1 in mode verify, with COLLIE_SYNC, and with COLLIE_REPRODUCIBLE=on",
        help: "The first call on a communicator that may be replaced, counted over all operations that Collie has algorithms \
               for. In it the ranks agree on what they need and make a private communicator, which communicators that are \
               used a few times and freed do not pay for; calls before it stay with the MPI library. On MPI_COMM_WORLD it is \
               always the first call. 1 with COLLIE_SYNC, whatever is set; the default on communicators with ranks of \
               another MPI_COMM_WORLD.",
    },
    Variable {
        name: DEVICE,
        accepted: "auto, host, native, ask",
        default: "auto",
        help: "What is done about buffers in memory of a GPU, which the MPI library has to move. auto asks CUDA or ROCm before \
               every call on communicators of which some rank uses a GPU at the first call that may be replaced, and leaves a \
               communicator to the MPI library once any rank has such a buffer; the ranks exchange one word a call for that. \
               ask does so on all communicators, for programs that load CUDA or ROCm later; host is the promise that no call \
               has such a buffer; native leaves communicators with such ranks to the MPI library.",
    },
    Variable {
        name: MAX_COMMUNICATORS,
        accepted: "a whole number from 1 on",
        default: "512; 128 with MPICH",
        help: "How many private communicators Collie may hold at once. Collectives on communicators beyond that stay \
               with the MPI library. MPICH has 2046 ids for the communicators of a process: where a program can make none \
               for want of one, private ones are given back for good, and collectives there go to the MPI library.",
    },
];

/// What every variable's name begins with.
pub const PREFIX: &str = "COLLIE_";

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
            assert!(row.name.starts_with(PREFIX), "{}", row.name);
            for cell in [row.accepted, row.default, row.help] {
                assert!(!cell.contains(['|', '\n']) && !cell.is_empty(), "{}", row.name);
            }
        }
    }
}
