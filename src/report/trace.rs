//! The per-call time line in the JSON that Perfetto and `chrome://tracing` read: a process per rank, a thread per
//! thread, a slice per call; and a slice where calls are missing, beside the threads, since it may be any one's.

use super::quantity::several;
use crate::monitor::{CounterId, Event, GapRecord, RankRecord};
use serde::Serialize;
use std::io::{self, Write};

/// The thread, so to speak, that says where calls are missing: no real one's number, which are 16 bits long.
const MISSING: u32 = 1 << 16;

/// A trace that is being written, rank by rank, so that no more than one rank's calls are in memory.
pub struct Trace<W: Write> {
    out: W,
    origin_unix_ns: u64,
    empty: bool,
}

/// One entry; times in microseconds, as the format has them.
#[derive(Serialize)]
struct Slice<'a, A> {
    name: &'a str,
    cat: &'a str,
    ph: &'a str,
    ts: f64,
    dur: f64,
    pid: u32,
    tid: u32,
    args: A,
}

#[derive(Serialize)]
struct MissingArguments {
    calls: u64,
}

#[derive(Serialize)]
struct Arguments<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    communicator: &'a str,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    root: Option<u32>,
    #[serde(skip_serializing_if = "str::is_empty")]
    datatype: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    operation: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    algorithm: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    decided_by: &'a str,
}

#[derive(Serialize)]
struct Name<'a> {
    name: &'a str,
    ph: &'a str,
    pid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    tid: Option<u32>,
    args: NameArguments<'a>,
}

#[derive(Serialize)]
struct NameArguments<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sort_index: Option<u32>,
}

impl<W: Write> Trace<W> {
    /// Begins a trace whose time starts at `origin_unix_ns`, nanoseconds since 1970; calls before it have negative
    /// times.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn begin(mut out: W, origin_unix_ns: u64) -> io::Result<Self> {
        out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
        Ok(Self { out, origin_unix_ns, empty: true })
    }

    /// Begins a rank; `rank` gives the names that its events are written with, and where some of them are missing.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn rank(&mut self, rank: &RankRecord) -> io::Result<()> {
        let name = format!("rank {} on {}", rank.rank, rank.host);
        let named = NameArguments { name: Some(&name), sort_index: None };
        self.entry(&Name { name: "process_name", ph: "M", pid: rank.rank, tid: None, args: named })?;
        let sorted = NameArguments { name: None, sort_index: Some(rank.rank) };
        self.entry(&Name { name: "process_sort_index", ph: "M", pid: rank.rank, tid: None, args: sorted })?;
        rank.gap.map_or(Ok(()), |gap| self.gap(rank.rank, gap))
    }

    /// Says where a rank's calls are missing, and how many.
    fn gap(&mut self, pid: u32, gap: GapRecord) -> io::Result<()> {
        let named = NameArguments { name: Some("missing calls"), sort_index: None };
        self.entry(&Name { name: "thread_name", ph: "M", pid, tid: Some(MISSING), args: named })?;
        self.entry(&Slice {
            name: &format!("{} missing here", several(gap.calls, "call")),
            cat: "missing",
            ph: "X",
            ts: self.since_origin(gap.from_unix_ns),
            dur: gap.to_unix_ns.saturating_sub(gap.from_unix_ns) as f64 / 1e3,
            pid,
            tid: MISSING,
            args: MissingArguments { calls: gap.calls },
        })
    }

    /// Microseconds.
    fn since_origin(&self, unix_ns: u64) -> f64 {
        (i128::from(unix_ns) - i128::from(self.origin_unix_ns)) as f64 / 1e3
    }

    /// Writes one call of `rank`. One whose counter there was no room for is written with its function, and its
    /// communicator if that is known; any other whose communicator or counter the record does not hold was forgotten,
    /// and is left out.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn event(&mut self, rank: &RankRecord, event: &Event) -> io::Result<()> {
        let communicator = rank.communicators.get(event.communicator as usize);
        let counter = communicator.and_then(|communicator| communicator.counters.get(event.counter as usize));
        let function = counter.map(|counter| counter.function).or_else(|| CounterId::overflow_function(event.counter));
        let Some(function) = function else { return Ok(()) };
        let elements = rank.elements.get(usize::from(event.elements));
        self.entry(&Slice {
            name: function.name(),
            cat: "collective",
            ph: "X",
            ts: self.since_origin(event.enter_unix_ns),
            dur: event.duration_ns as f64 / 1e3,
            pid: rank.rank,
            tid: u32::from(event.thread),
            args: Arguments {
                communicator: communicator
                    .map_or("", |communicator| communicator.name.as_deref().unwrap_or(&communicator.identity)),
                bytes: event.bytes,
                root: u32::try_from(event.root).ok(),
                datatype: elements.map_or("", |elements| &elements.datatype),
                operation: elements.map_or("", |elements| &elements.operation),
                algorithm: counter.map_or("", |counter| &counter.algorithm),
                decided_by: counter.map_or("", |counter| &counter.decided_by),
            },
        })
    }

    fn entry(&mut self, entry: &impl Serialize) -> io::Result<()> {
        self.out.write_all(if std::mem::take(&mut self.empty) { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut self.out, entry).map_err(io::Error::from)
    }

    /// Ends the trace and gives `out` back.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn end(mut self) -> io::Result<W> {
        self.out.write_all(b"\n]}\n")?;
        self.out.flush()?;
        Ok(self.out)
    }
}
