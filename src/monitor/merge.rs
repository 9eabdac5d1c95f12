//! All ranks' records → one summary. Pure.

use super::learned::learned;
use super::merged::Merged;
use super::parts::{
    CommunicatorPart, DifferencePart, EpochsPart, EventPart, LatePart, MessagePart, RankPart, TrafficPart,
};
use super::rows::{Positions, RunTimes, rows};
use super::units::{seconds, share};
use super::{
    Area, Bounds, CacheRow, ClockRow, CommunicatorRow, ComparisonRow, DifferenceRow, ElementsRecord, ElementsRow,
    LateRow, MessageCall, MessageRow, OverflowRow, Overhead, PlayedRow, RankRecord, RankRow, SCHEMA_VERSION, Spread,
    Summary, TimelineGapRow, TimelineRow, TrafficRow, Verdict, Verification, compare,
};
use std::collections::{BTreeSet, HashMap};

/// Merges the records of all ranks, in any order; ranks may be missing.
pub fn merge(mut records: Vec<RankRecord>) -> Summary {
    records.sort_by_key(|record| record.rank);
    merged(&mut records.into_iter(), &Bounds::REPORT).finish()
}

/// Two by two, as ranks do it: one after the other would look at the first ones again and again.
fn merged(records: &mut std::vec::IntoIter<RankRecord>, bounds: &Bounds) -> Merged {
    let mut parts: Vec<(usize, Merged)> = Vec::new();
    for record in records {
        let (mut number, mut part) = (1, Merged::of(record, bounds));
        while let Some((_, mut before)) = parts.pop_if(|before| before.0 == number) {
            before.add(part, bounds);
            (number, part) = (2 * number, before);
        }
        parts.push((number, part));
    }
    let join = |(_, after): (usize, Merged), (number, mut before): (usize, Merged)| {
        before.add(after, bounds);
        (number, before)
    };
    parts.into_iter().rev().reduce(join).map(|(_, all)| all).unwrap_or_default()
}

impl Merged {
    /// The summary, if these are all ranks.
    pub fn finish(mut self) -> Summary {
        let job = self.job.take().unwrap_or_default();
        let ranks = job.ranks.max(self.ranks.len() as u32);
        let waiting_known = !job.sync.is_empty();
        let run_ns = self.ranks.iter().map(|rank| u128::from(rank.run_ns)).sum::<u128>() as f64;
        let whole_ns = self.ranks.iter().map(|rank| u128::from(rank.whole_ns())).sum::<u128>() as f64;
        let is_part = self.ranks.iter().any(|rank| rank.recorded_ns.is_some());
        let collective_ns = self.ranks.iter().map(|rank| u128::from(rank.total_ns)).sum::<u128>() as f64;
        let (communicators, place) = communicators(std::mem::take(&mut self.communicators));
        let run_of_members = self.run_of_members(&communicators);
        let verification = (job.mode == "verify").then(|| self.verification(&place));
        let late = self.late(&place);
        let comparisons = comparisons(std::mem::take(&mut self.epochs), &place);
        let (mut rows, row_of) = rows(std::mem::take(&mut self.rows), &self.texts, &place, &run_of_members);
        if !waiting_known {
            rows.iter_mut().for_each(|row| row.waiting_seconds = None);
        }
        let (timeline, elements) = self.timeline(&row_of);
        let [traffic, shared_traffic, native_traffic, native_collectives] =
            std::mem::take(&mut self.traffic).map(|sent| traffic(&self.ranks, &sent));
        let used = Area::ALL.map(|area| area == Area::PointToPoint || self.uses(area));
        let hosts: BTreeSet<&str> = self.ranks.iter().map(|rank| rank.host.as_str()).collect();
        Summary {
            schema_version: SCHEMA_VERSION,
            collie_version: job.collie_version,
            mpi_library: job.mpi_library,
            command: job.command,
            mode: job.mode,
            reproducible: job.reproducible,
            protocol_limits: job.limits,
            network: job.network,
            sync: waiting_known.then_some(job.sync),
            partial: None,
            missing: Vec::new(),
            under_way: Vec::new(),
            record: None,
            started_unix_seconds: seconds(self.started_unix_ns() as f64),
            ranks,
            nodes: hosts.len() as u32,
            run_seconds: seconds(run_ns) / self.ranks.len().max(1) as f64,
            recorded_seconds: is_part.then(|| seconds(whole_ns) / self.ranks.len() as f64),
            collective_seconds: Spread::of(self.ranks.iter().map(|rank| (rank.rank, rank.total_ns))),
            collective_share: share(collective_ns, whole_ns),
            message_seconds: self.seconds_in(Area::PointToPoint),
            one_sided_seconds: self.used_seconds_in(Area::OneSided),
            file_seconds: self.used_seconds_in(Area::Files),
            messages: self.messages(),
            regions: self.regions(),
            sites: self.sites(),
            overhead: self.overhead(),
            dropped_events: self.dropped_events,
            clock: self.clock.map(|clock| ClockRow {
                points: clock.points,
                error_seconds: seconds(clock.error_ns as f64),
                round_trip_seconds: seconds(clock.round_trip_ns as f64),
            }),
            timeline_gaps: self.timeline_gaps(),
            overflow: self.overflow(),
            played: self.played(),
            cache: self.cache(),
            learned: learned(&self.learned, ranks),
            left_out: (!self.left_out.is_nothing()).then_some(self.left_out),
            per_rank: self.ranks.into_iter().map(|rank| rank_row(rank, waiting_known, used)).collect(),
            verification,
            late,
            comparisons,
            communicators,
            rows,
            traffic,
            shared_traffic,
            native_traffic,
            native_collectives,
            timeline,
            elements,
        }
    }

    /// Run time of the ranks of each communicator, as far as they are here and it was recorded.
    fn run_of_members(&self, communicators: &[CommunicatorRow]) -> RunTimes {
        let all: u128 = self.ranks.iter().map(|rank| u128::from(rank.whole_ns())).sum();
        let run_of: HashMap<u32, u64> = self.ranks.iter().map(|rank| (rank.rank, rank.whole_ns())).collect();
        let of = |row: &CommunicatorRow| {
            let members = row.members.iter().filter_map(|rank| run_of.get(rank));
            members.fold((0, 0), |(ranks, ns), run| (ranks + 1, ns + u128::from(*run)))
        };
        RunTimes {
            mean_ns: all as f64 / self.ranks.len().max(1) as f64,
            of_members: communicators.iter().map(of).collect(),
        }
    }

    /// Over ranks, where they counted such calls.
    fn seconds_in(&self, area: Area) -> Option<Spread> {
        let known = || self.ranks.iter().filter_map(|rank| Some((rank.rank, rank.area_ns?[area as usize])));
        known().next().map(|_| Spread::of(known()))
    }

    /// The same where there were such calls.
    fn used_seconds_in(&self, area: Area) -> Option<Spread> {
        self.seconds_in(area).filter(|_| self.uses(area))
    }

    fn uses(&self, area: Area) -> bool {
        self.messages
            .iter()
            .filter_map(|part| MessageCall::ALL.get(usize::from(part.call)))
            .any(|call| call.area() == area)
    }

    /// Most time first.
    fn messages(&self) -> Vec<MessageRow> {
        let row = |part: &MessagePart| {
            let call = MessageCall::ALL.get(usize::from(part.call))?;
            Some(MessageRow {
                function: call.name().to_owned(),
                area: call.area(),
                ranks: part.ranks,
                calls_all_ranks: part.calls,
                bytes: part.bytes,
                all_ranks_seconds: seconds(part.total_ns as f64),
                max_seconds: seconds(part.most_total_ns as f64),
                max_rank: part.most_rank,
            })
        };
        let mut rows: Vec<MessageRow> = self.messages.iter().filter_map(row).collect();
        rows.sort_by(|left, right| right.all_ranks_seconds.total_cmp(&left.all_ranks_seconds));
        rows
    }

    fn overhead(&self) -> Overhead {
        let calls = self.ranks.iter().map(|rank| rank.calls).max().unwrap_or(0);
        Overhead {
            nanoseconds_per_call: self.overhead_ns_per_call,
            seconds_per_rank: seconds(self.overhead_ns_per_call * calls as f64),
            init_seconds: self.ranks.iter().filter_map(|rank| rank.init_ns).max().map(|ns| seconds(ns as f64)),
            finalize_seconds: None,
            reports_seconds: None,
        }
    }

    fn verification(&mut self, place: &Positions) -> Verification {
        let row = |part: DifferencePart| {
            let record = part.record;
            Some(DifferenceRow {
                rank: part.rank,
                communicator: place.get(part.communicator)?,
                function: record.function.name().to_owned(),
                passed: record.passed,
                algorithm: record.algorithm,
                call: record.call,
                element: record.element,
                native: record.native,
                ours: record.ours,
            })
        };
        let differences = std::mem::take(&mut self.differences);
        Verification {
            calls: self.verified_calls,
            failed: self.failed_calls,
            within_rounding: self.rounded_calls,
            not_comparable: self.unjudged_calls,
            judged_loosely: self.near_calls,
            differing: self.differing_calls,
            seconds: self.verifying_ns as f64 * 1e-9 / self.ranks.len().max(1) as f64,
            differences: differences.into_iter().filter_map(row).collect(),
        }
    }

    fn late(&self, place: &Positions) -> Vec<LateRow> {
        let row = |part: &LatePart| {
            Some(LateRow {
                communicator: place.get(part.communicator)?,
                rank: part.record.rank,
                calls: part.record.calls,
                waited_seconds: seconds(part.record.waited_ns as f64),
            })
        };
        let mut rows: Vec<LateRow> = self.late.iter().filter_map(row).collect();
        rows.sort_by(|left, right| {
            let longest_first = right.waited_seconds.total_cmp(&left.waited_seconds);
            left.communicator.cmp(&right.communicator).then(longest_first).then(left.rank.cmp(&right.rank))
        });
        rows
    }

    /// The calls of the time line, and what their elements are.
    fn timeline(&self, row_of: &[u32]) -> (Vec<TimelineRow>, Vec<ElementsRow>) {
        let elements_of = |place: u32| place.checked_sub(1).map(|place| &self.elements[place as usize]);
        let elements: BTreeSet<&ElementsRecord> =
            self.events.iter().filter_map(|event| elements_of(event.elements)).collect();
        let elements: Vec<&ElementsRecord> = elements.into_iter().collect();
        let start = self.started_unix_ns();
        let row = |event: &EventPart| TimelineRow {
            rank: event.rank,
            thread: u32::from(event.thread),
            row: row_of[event.row as usize] as usize,
            enter_seconds: seconds(event.enter_unix_ns.saturating_sub(start) as f64),
            seconds: seconds(event.duration_ns as f64),
            bytes: event.bytes,
            root: u32::try_from(event.root).ok(),
            elements: elements_of(event.elements).and_then(|known| elements.binary_search(&known).ok()),
        };
        let mut rows: Vec<TimelineRow> = self.events.iter().map(row).collect();
        rows.sort_by(|left, right| left.rank.cmp(&right.rank).then(left.enter_seconds.total_cmp(&right.enter_seconds)));
        (rows, elements.into_iter().map(elements_row).collect())
    }

    fn timeline_gaps(&self) -> Vec<TimelineGapRow> {
        let start = self.started_unix_ns();
        let since_start = |unix_ns: u64| seconds(unix_ns.saturating_sub(start) as f64);
        let row = |rank: &RankPart| {
            let gap = rank.gap?;
            let (from_seconds, to_seconds) = (since_start(gap.from_unix_ns), since_start(gap.to_unix_ns));
            Some(TimelineGapRow { rank: rank.rank, from_seconds, to_seconds, calls: gap.calls })
        };
        self.ranks.iter().filter_map(row).collect()
    }

    fn overflow(&self) -> Option<OverflowRow> {
        let overflow = self.overflow;
        let seconds = seconds(overflow.total_ns as f64);
        (overflow.calls > 0).then_some(OverflowRow { calls: overflow.calls, bytes: overflow.bytes, seconds })
    }

    fn played(&self) -> Option<PlayedRow> {
        let played = self.played;
        (played.calls > 0).then_some(PlayedRow { calls: played.calls, kept: played.kept, actions: played.actions })
    }

    fn cache(&self) -> Option<CacheRow> {
        let cache = self.cache;
        (cache.evicted + cache.refused > 0).then_some(CacheRow {
            most_bytes: cache.most_bytes,
            bound: cache.bound,
            evicted: cache.evicted,
            refused: cache.refused,
        })
    }
}

/// Communicators with calls in the order of their identities, and where each is in it.
fn communicators(mut parts: Vec<CommunicatorPart>) -> (Vec<CommunicatorRow>, Positions) {
    let mut order: Vec<usize> = (0..parts.len()).filter(|place| parts[*place].used).collect();
    order.sort_by(|left, right| parts[*left].identity.cmp(&parts[*right].identity));
    let place = Positions::of(parts.len(), &order);
    (order.into_iter().map(|place| communicator_row(std::mem::take(&mut parts[place]))).collect(), place)
}

fn communicator_row(part: CommunicatorPart) -> CommunicatorRow {
    CommunicatorRow {
        identity: part.identity,
        name: part.name,
        made_by: part.made_by,
        parent: part.parent,
        size: part.size,
        members: part.members,
        no_shared_memory: part.no_shared_memory,
        shared_memory: Some(part.shared_memory).filter(|memory| memory.pairs > 0),
        compared_calls: part.compared.map(|compared| compared.0),
        comparable_calls: part.compared.map(|compared| compared.1),
    }
}

fn rank_row(part: RankPart, waiting_known: bool, used: [bool; 3]) -> RankRow {
    let seconds_in =
        |area: Area| part.area_ns.filter(|_| used[area as usize]).map(|ns| seconds(ns[area as usize] as f64));
    RankRow {
        rank: part.rank,
        host: part.host,
        pid: part.pid,
        oversubscribed: part.oversubscribed,
        run_seconds: seconds(part.run_ns as f64),
        recorded_seconds: part.recorded_ns.map(|ns| seconds(ns as f64)),
        collective_seconds: seconds(part.total_ns as f64),
        waiting_seconds: part.waiting_ns.filter(|_| waiting_known).map(|ns| seconds(ns as f64)),
        message_seconds: seconds_in(Area::PointToPoint),
        one_sided_seconds: seconds_in(Area::OneSided),
        file_seconds: seconds_in(Area::Files),
        calls: part.calls,
        bytes: part.bytes,
    }
}

/// Those with a verdict, by what is saved or lost for certain; then those that do not differ, by the time of their
/// calls; then those with too few epochs. Else by communicator, function and size class.
fn comparisons(parts: Vec<EpochsPart>, place: &Positions) -> Vec<ComparisonRow> {
    let placed = parts.into_iter().filter_map(|part| Some((place.get(part.key.0)?, part)));
    let mut parts: Vec<(usize, EpochsPart)> = placed.collect();
    parts.sort_by_key(|(communicator, part)| (*communicator, part.key.1, part.key.2, part.key.3));
    let mut rows: Vec<ComparisonRow> = Vec::new();
    for (communicator, EpochsPart { key: (_, function, bucket, kind), calls, slowest, .. }) in parts {
        let Some(result) = compare::compare(&slowest) else { continue };
        rows.push(ComparisonRow {
            function: function.name().to_owned(),
            communicator,
            bytes_from: bucket.first(),
            bytes_to: bucket.last(),
            commutative: !kind.in_order,
            reduce_local: kind.locally,
            calls,
            saved_seconds: result.saved_seconds().map(|saved| calls as f64 * saved),
            result,
        });
    }
    let weight = |row: &ComparisonRow| {
        let native_seconds = row.calls as f64 * row.result.native_median_seconds;
        match row.result.verdict {
            Verdict::Faster | Verdict::Slower => (0, row.calls as f64 * row.result.certain_seconds()),
            Verdict::NoDifference => (1, native_seconds),
            Verdict::TooFewEpochs => (2, native_seconds),
        }
    };
    rows.sort_by(|left, right| {
        let (left, right) = (weight(left), weight(right));
        left.0.cmp(&right.0).then(right.1.total_cmp(&left.1))
    });
    rows
}

fn traffic(ranks: &[RankPart], sent: &[TrafficPart]) -> Vec<TrafficRow> {
    let host: HashMap<u32, &str> = ranks.iter().map(|rank| (rank.rank, rank.host.as_str())).collect();
    let row = |TrafficPart { from, sent }: &TrafficPart| TrafficRow {
        from: *from,
        to: sent.to,
        messages: sent.messages,
        bytes: sent.bytes,
        on_node: host.get(&sent.to).is_some_and(|there| host.get(from) == Some(there)),
    };
    sent.iter().map(row).collect()
}

fn elements_row(record: &ElementsRecord) -> ElementsRow {
    ElementsRow { datatype: record.datatype.clone(), operation: record.operation.clone() }
}
