//! What was verified, what found no room, and what Collie itself costs.

use super::writer::{REASONS, Writer, function};
use crate::monitor::{LeftOut, LimitsRecord, LinkRecord, NetworkRecord, Summary, TrafficRow};
use crate::report::layout::Extent;
use crate::report::left;
use crate::report::quantity::{bytes, count, duration, of_several, percent, several};
use crate::schedule::simulate::brief;
use crate::selection::Mode;

impl Writer<'_> {
    /// Results against the native ones.
    pub fn verification(&mut self) {
        let Some(verification) = &self.summary.verification else { return };
        let failed = match verification.failed {
            0 => String::new(),
            number => format!("{} NOT compared for an error, ", several(number, "call")),
        };
        if verification.calls == 0 && verification.failed == 0 && verification.differing() == 0 {
            self.line("verify: there were no results to compare");
            return;
        }
        let results = format!("{} {}", several(verification.calls, "result"), self.on_ranks());
        let (differing, listed) = (verification.differing(), verification.differences.len());
        let mut apart = failed;
        if verification.not_comparable > 0 {
            apart += &format!("{} not comparable, ", count(verification.not_comparable));
        }
        let loosely = match verification.judged_loosely {
            0 => String::new(),
            number => format!(" ({} by a bound for the whole vector only)", count(number)),
        };
        // Of older reports as many are told as they do.
        let rounded = verification.within_rounding.max(verification.judged_loosely);
        if rounded > 0 {
            apart += &format!("{} within rounding{loosely}, ", count(rounded));
        }
        if differing == 0 {
            let all = if apart.is_empty() { "all" } else { "all others" };
            self.line(&format!("verify: {results}, {apart}{all} equal to the native ones"));
            self.verifying(verification.seconds);
            return;
        }
        self.line(&format!("verify: {results}, {apart}{} DIFFERENT from the native ones:", count(differing)));
        let shown = match self.layout.extent {
            Extent::Screen => 3,
            Extent::Most(_) | Extent::All => self.layout.rows(listed),
        };
        for row in verification.differences.iter().take(shown) {
            self.line(&format!(
                "  rank {}, {}, verified call {} on {}, element {}: {}, native {} ({}{})",
                row.rank,
                function(&row.function),
                row.call,
                self.names.get(row.communicator),
                row.element,
                row.ours,
                row.native,
                row.algorithm,
                if row.passed.is_empty() { String::new() } else { format!("; {}", row.passed) }
            ));
        }
        let shown = shown.min(listed) as u64;
        if differing > shown {
            let only_counted = match differing - listed as u64 {
                0 => String::new(),
                number => format!(", {} of them only counted", count(number)),
            };
            self.line(&format!("  and {} more{only_counted}", count(differing - shown)));
        }
        self.verifying(verification.seconds);
    }

    /// What that took: it looks like the program's own time otherwise.
    fn verifying(&mut self, seconds: f64) {
        if seconds > 0.0 {
            let share = seconds / self.summary.whole_seconds().max(f64::MIN_POSITIVE);
            let whole = if self.summary.recorded_seconds.is_some() { "recorded" } else { "run" };
            self.line(&format!(
                "verifying took {} a rank, {} of the {whole} time: second calls, copies, comparisons",
                duration(seconds),
                percent(share)
            ));
        }
    }

    /// In mode `best`, the calls that the MPI library carries out, by what left them to it.
    fn left_to_native(&mut self) {
        if self.summary.mode != Mode::Best.name() {
            return;
        }
        let (left, calls) = left::to_native(&self.summary.rows);
        let entries: Vec<String> = left
            .iter()
            .take(REASONS)
            .map(|(why, part)| format!("{why} {} ({})", count(*part), percent(*part as f64 / calls as f64)))
            .collect();
        if !entries.is_empty() {
            self.line(&format!("left to native, of all that could be replaced: {}", entries.join(", ")));
        }
    }

    /// Whether results are to be the same from run to run, and where that cannot be had.
    fn reproducible(&mut self) {
        let mode = &self.summary.mode;
        if !self.summary.reproducible || *mode == Mode::Native.name() {
            return;
        }
        let by_turns = [Mode::Compare, Mode::CompareSelf, Mode::Verify].map(Mode::name);
        if by_turns.contains(&mode.as_str()) {
            self.line(&format!("not reproducible: in mode {mode} the MPI library also carries out reductions"));
        } else {
            self.line("reproducible: the order in which reductions combine does not depend on measurements");
        }
    }

    /// Communicators whose ranks were to share memory and do not, by the reason.
    fn not_shared(&mut self) {
        let mut reasons: Vec<(&str, u64)> = Vec::new();
        for why in self.summary.communicators.iter().filter_map(|row| row.no_shared_memory.as_deref()) {
            match reasons.iter_mut().find(|(known, _)| *known == why) {
                Some((_, number)) => *number += 1,
                None => reasons.push((why, 1)),
            }
        }
        for (why, number) in reasons {
            self.line(&format!("no shared memory on {}: {why}", several(number, "communicator")));
        }
    }

    /// Communicators on which ranks share memory but cannot all read each other's own.
    fn not_readable(&mut self) {
        let memory = self.summary.communicators.iter().filter_map(|row| row.shared_memory);
        let refused =
            memory.filter(|memory| memory.readable < memory.pairs).map(|memory| (memory.pairs, memory.readable));
        let (pairs, readable) = refused
            .fold((0, 0), |sum: (u64, u64), (pairs, readable)| (sum.0 + u64::from(pairs), sum.1 + u64::from(readable)));
        if pairs > 0 {
            self.line(&format!(
                "process_vm_readv refused for {} of {} that share memory: long messages are copied twice",
                count(pairs - readable),
                several(pairs, "ordered pair"),
            ));
        }
    }

    /// What was measured of the network in MPI_Init, if that was asked for.
    fn network(&mut self) {
        let Some(NetworkRecord { within_node, between_nodes, measured_seconds }) = self.summary.network else { return };
        let links = [(within_node, "on a node", true), (between_nodes, "between nodes", false)];
        let links = links.into_iter().filter_map(|(found, place, one_node)| Some(link(&found?, place, one_node)));
        let links = links.collect::<Vec<_>>().join(", ");
        self.line(&format!("network measured in {}: {links}", duration(measured_seconds)));
    }

    /// How many messages went through memory that ranks share, if any did.
    fn through_shared_memory(&self) -> Option<String> {
        let (shared, by_mpi) = (&self.summary.shared_traffic, &self.summary.traffic);
        if shared.is_empty() {
            return None;
        }
        let messages = |rows: &[TrafficRow]| count(rows.iter().map(|row| row.messages).sum());
        let bytes = bytes(shared.iter().map(|row| row.bytes).sum());
        Some(format!("messages: {} shared ({bytes}) and {} by MPI", messages(shared), messages(by_mpi)))
    }

    /// What is not in the report, and what was left to the MPI library.
    pub fn notes(&mut self) {
        self.left_to_native();
        self.reproducible();
        self.not_shared();
        self.not_readable();
        self.network();
        let summary = self.summary;
        if let Some(overflow) = &summary.overflow {
            self.line(&format!(
                "{} {} ({} in them) not in any row: COLLIE_MEMORY is exhausted",
                several(overflow.calls, "call"),
                self.on_ranks(),
                duration(overflow.seconds)
            ));
        }
        if let Some(cache) = &summary.cache {
            self.line(&format!(
                "call cache: {} evicted, {} not stored; peak {} of {}",
                count(cache.evicted),
                count(cache.refused),
                bytes(cache.most_bytes),
                bytes(cache.bound)
            ));
        }
        if let Some(left_out) = &summary.left_out {
            self.line(&format!("left out to save memory on rank 0: {}", too_much(left_out).join(", ")));
        }
    }

    /// What Collie itself costs, and what it found out for that: in so many lines, or else as much of it as one holds.
    pub fn monitoring(&mut self, lines: usize) {
        let summary = self.summary;
        let overhead = &summary.overhead;
        // Where messages go through shared memory, few are left to be cut.
        let is_brief = self.layout.extent == Extent::Screen && !summary.shared_traffic.is_empty();
        if let Some(limits) = summary.protocol_limits.as_ref().filter(|_| !is_brief) {
            self.line(&cut(limits));
        }
        let mut entries = vec![
            format!("from {} a collective", duration(overhead.nanoseconds_per_call / 1e9)),
            format!("from {} on the busiest rank{}", duration(overhead.seconds_per_rank), unmeasured(summary)),
        ];
        let within = [
            (overhead.init_seconds, "MPI_Init"),
            (overhead.reports_seconds, "reports before the end"),
            (overhead.finalize_seconds, "MPI_Finalize"),
        ];
        let within = within.into_iter().filter_map(|(seconds, place)| Some((seconds?, place)));
        entries.extend(within.map(|(seconds, place)| format!("{} in {place}", duration(seconds))));
        entries.extend(self.through_shared_memory());
        if summary.dropped_events > 0 {
            entries
                .push(format!("{} missing from the trace for want of room", several(summary.dropped_events, "call")));
        }
        let lead = "monitoring: ";
        let mut wrapped = Writer { text: String::new(), ..*self };
        wrapped.wrapped(lead, &entries);
        if wrapped.text.lines().count() <= lines {
            self.text += &wrapped.text;
        } else {
            // As many as one line holds; what is observed without being measured is said where there is room.
            entries[1] = format!("from {} on the busiest rank", duration(overhead.seconds_per_rank));
            while lead.len() + entries.join(", ").chars().count() > self.layout.width && entries.len() > 1 {
                entries.pop();
            }
            self.line(&format!("{lead}{}", entries.join(", ")));
        }
    }
}

/// What is observed without being in what monitoring costs.
fn unmeasured(summary: &Summary) -> &'static str {
    match (summary.message_seconds.is_some(), summary.sites.is_empty()) {
        (true, true) => " (without other calls)",
        (true, false) => " (without other calls, sites)",
        (false, false) => " (without sites)",
        (false, true) => "",
    }
}

/// Which messages within a node travelled in fragments, and what finding that out took.
fn cut(limits: &LimitsRecord) -> String {
    let span = |(place, limit): (usize, &u64)| {
        let way = match limits.ways.get(place).map(String::as_str) {
            Some("one_way") => " (with a root)",
            Some("exchange") => " (without a root)",
            _ => "",
        };
        format!("{}-{}{way}", limit + 1, limits.longest.get(place).copied().unwrap_or(2 * limit))
    };
    let spans: Vec<_> = limits.bytes.iter().enumerate().map(span).collect();
    let with = limits.measured_with.map_or_else(String::new, |rank| format!(" with rank {rank}"));
    let took = limits
        .measured_seconds
        .map_or_else(String::new, |seconds| format!("; measured{with} in {}", duration(seconds)));
    format!("fragments within a node, bytes: {}{took}", spans.join(", "))
}

/// What a message takes and each of its bytes on a link that was measured, or which preset stands for one that could
/// not be.
fn link(found: &LinkRecord, place: &str, one_node: bool) -> String {
    match (found.start_up_seconds, found.seconds_per_byte) {
        (Some(start_up), Some(per_byte)) => format!("{place} {} + {:.3}ns/byte", duration(start_up), per_byte * 1e9),
        _ => format!("{place} preset {}, not measured in time", brief::standing_in(one_node).name),
    }
}

/// What is not in the report, most important first: the line may be cut.
fn too_much(left_out: &LeftOut) -> Vec<String> {
    let parts = [
        (left_out.rows, "row", "rows"),
        (left_out.differences, "difference", "differences"),
        (left_out.comparisons, "comparison", "comparisons"),
        (left_out.events, "call of the time line", "calls of the time line"),
        (left_out.traffic, "pair of the traffic", "pairs of the traffic"),
        (left_out.late, "late rank", "late ranks"),
        (left_out.members, "communicator's members", "communicators' members"),
        (left_out.regions, "region", "regions"),
        (left_out.sites, "call site", "call sites"),
    ];
    parts.iter().filter(|part| part.0 > 0).map(|(number, one, many)| of_several(*number, one, many)).collect()
}
