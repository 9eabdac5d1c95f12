//! What one rank recorded, as parts that can be joined with other ranks'.

use super::durations::STEPS;
use super::index::Index;
use super::keeping::keep_within;
use super::merged::Merged;
use super::named::{RegionPart, SitePart};
use super::parts::{
    CommunicatorPart, DifferencePart, EpochsPart, EventPart, LatePart, MessagePart, OverflowPart, RankPart, RowKey,
    RowPart, TrafficPart,
};
use super::units::{seconds, sum_of_known};
use super::{
    Area, Bounds, CommunicatorRecord, CounterId, CounterRecord, EpochsRecord, Event, MessageCall, MessageRecord,
    OverflowRecord, RankRecord,
};

impl Merged {
    /// What one rank recorded.
    pub fn of(record: RankRecord, bounds: &Bounds) -> Self {
        let messages = record.messages.iter().flatten().map(|sum| message_part(record.rank, *sum));
        let mut merged = Self {
            messages: messages.collect(),
            ranks: vec![rank_part(&record)],
            regions: record.regions.into_iter().map(|region| RegionPart::of(record.rank, region)).collect(),
            sites: record.sites.into_iter().map(|site| SitePart::of(record.rank, site)).collect(),
            overhead_ns_per_call: record.overhead_ns_per_call,
            dropped_events: record.dropped_events,
            clock: record.clock,
            overflow: OverflowPart {
                calls: record.overflow.calls,
                bytes: record.overflow.bytes,
                total_ns: record.overflow.total_ns.into(),
            },
            played: record.played,
            cache: record.cache,
            learned: record.learned,
            traffic: [record.traffic, record.shared_traffic, record.native_traffic, record.native_collectives]
                .map(|sent| sent.into_iter().map(|sent| TrafficPart { from: record.rank, sent }).collect()),
            job: record.job,
            ..Self::default()
        };
        let (mut texts, mut rows, mut known) =
            (Index::of(None.into_iter()), Index::of(None.into_iter()), Index::of(None.into_iter()));
        let mut row_of = Vec::with_capacity(record.communicators.len());
        for communicator in record.communicators {
            row_of.push(merged.take(record.rank, communicator, &mut known, &mut texts, &mut rows));
        }
        let mut elements = Index::of(None.into_iter());
        let orders = orders(&record.events);
        for (event, order) in record.events.into_iter().zip(orders) {
            let row = row_of
                .get(event.communicator as usize)
                .and_then(|counters| counters.get(event.counter as usize))
                .copied();
            // Counters may have been reset after the event; such an event belongs to no row.
            let Some(Some(row)) = row else {
                // That of one without room is missing.
                if CounterId::overflow_function(event.counter).is_some() {
                    merged.tell_gap(&event_part(record.rank, 0, 0, event, order));
                }
                continue;
            };
            let place = usize::from(event.elements);
            let known = record.elements.get(place).filter(|_| place > 0);
            let elements =
                known.map_or(0, |known| elements.put(&mut merged.elements, known.clone(), known.clone()).0 + 1);
            merged.events.push(event_part(record.rank, row, elements, event, order));
        }
        keep_within(&mut merged, bounds);
        merged
    }

    /// Takes in what a rank tells of a communicator; the row of each of its counters.
    fn take(
        &mut self,
        rank: u32,
        record: CommunicatorRecord,
        known: &mut Index<String>,
        texts: &mut Index<String>,
        rows: &mut Index<RowKey>,
    ) -> Vec<Option<u32>> {
        self.verified_calls += record.verified_calls;
        self.failed_calls += record.failed_calls;
        self.rounded_calls += record.rounded_calls;
        self.unjudged_calls += record.unjudged_calls;
        self.near_calls += record.near_calls;
        self.differing_calls += record.differing_calls;
        self.verifying_ns += record.verifying_ns;
        let used = record.has_calls();
        let CommunicatorRecord { counters, epochs, late, differences, .. } = &record;
        if !used && epochs.is_empty() && late.is_empty() && differences.is_empty() {
            return vec![None; counters.len()];
        }
        let part = communicator_part(&record, used);
        let (communicator, again) = known.put(&mut self.communicators, record.identity, part);
        if let Some(again) = again {
            self.communicators[communicator as usize].add(again);
        }
        self.epochs.extend(record.epochs.into_iter().map(|epochs| epochs_part(communicator, epochs)));
        self.late.extend(record.late.into_iter().map(|record| LatePart { communicator, record }));
        self.differences.extend(record.differences.into_iter().map(|record| DifferencePart {
            rank,
            communicator,
            record,
        }));
        let mut row = |counter: CounterRecord| {
            if counter.calls == 0 {
                return None;
            }
            let mut text = |text: &str| texts.put(&mut self.texts, text.to_owned(), text.to_owned()).0;
            let (algorithm, decided_by) = (text(&counter.algorithm), text(&counter.decided_by));
            let key = (communicator, counter.function, counter.bucket, algorithm, decided_by);
            let (place, again) = rows.put(&mut self.rows, key, row_part(rank, key, &counter));
            if let Some(again) = again {
                self.rows[place as usize].add(again);
            }
            Some(place)
        };
        record.counters.into_iter().map(&mut row).collect()
    }
}

fn rank_part(record: &RankRecord) -> RankPart {
    let OverflowRecord { calls, bytes, total_ns } = record.overflow;
    let part = RankPart {
        rank: record.rank,
        host: record.host.clone(),
        pid: record.pid,
        oversubscribed: record.oversubscribed,
        started_unix_ns: record.started_unix_ns,
        run_ns: record.run_ns,
        init_ns: record.init_ns,
        recorded_ns: record.recorded_ns,
        total_ns,
        waiting_ns: None,
        calls,
        bytes,
        area_ns: record.messages.as_deref().map(by_area),
        gap: record.gap,
    };
    let counters = record.communicators.iter().flat_map(|communicator| &communicator.counters);
    counters.fold(part, |part, counter| RankPart {
        total_ns: part.total_ns + counter.total_ns,
        waiting_ns: sum_of_known(part.waiting_ns, counter.waiting_ns),
        calls: part.calls + counter.calls,
        bytes: part.bytes.wrapping_add(counter.bytes),
        ..part
    })
}

/// Time in calls beside collectives, by area.
fn by_area(messages: &[MessageRecord]) -> [u64; 3] {
    let mut sums = [0; Area::ALL.len()];
    for record in messages {
        if let Some(call) = MessageCall::ALL.get(usize::from(record.call)) {
            sums[call.area() as usize] += record.total_ns;
        }
    }
    sums
}

fn message_part(rank: u32, record: MessageRecord) -> MessagePart {
    let MessageRecord { call, calls, bytes, total_ns } = record;
    let all = u128::from(total_ns);
    MessagePart { call, ranks: 1, calls, bytes, total_ns: all, most_total_ns: total_ns, most_rank: rank }
}

fn communicator_part(record: &CommunicatorRecord, used: bool) -> CommunicatorPart {
    let identity = record.identity.clone();
    if !used {
        return CommunicatorPart { identity, ..CommunicatorPart::default() };
    }
    CommunicatorPart {
        identity,
        used,
        name: record.name.clone(),
        made_by: record.made_by.clone(),
        parent: record.parent.clone(),
        size: record.size,
        members: record.members.clone(),
        no_shared_memory: Some(record.no_shared_memory.clone()).filter(|why| !why.is_empty()),
        shared_memory: record.shared_memory,
        compared: (record.comparable_calls > 0).then_some((record.compared_calls, record.comparable_calls)),
    }
}

fn row_part(rank: u32, key: RowKey, counter: &CounterRecord) -> RowPart {
    RowPart {
        key,
        ranks: 1,
        most_calls: counter.calls,
        calls: counter.calls,
        bytes: counter.bytes,
        total_ns: counter.total_ns.into(),
        waiting_ns: counter.waiting_ns.map(u128::from),
        least_total_ns: counter.total_ns,
        least_rank: rank,
        most_total_ns: counter.total_ns,
        most_rank: rank,
        min_ns: counter.min_ns,
        max_ns: counter.max_ns,
        durations: counter.durations.iter().map(|&(step, calls)| (step.min(STEPS as u16 - 1), calls.into())).collect(),
    }
}

fn epochs_part(communicator: u32, record: EpochsRecord) -> EpochsPart {
    let mean = |calls: u32, ns: u64| seconds(ns as f64 / f64::from(calls.max(1)));
    EpochsPart {
        key: (communicator, record.function, record.bucket, record.kind),
        calls: record.epochs.iter().map(|epoch| u64::from(epoch.1)).sum(),
        halvings: record.halvings,
        slowest: record.epochs.iter().map(|&(epoch, calls, ns)| (epoch, mean(calls, ns))).collect(),
    }
}

fn event_part(rank: u32, row: u32, elements: u32, event: Event, order: u16) -> EventPart {
    let Event { enter_unix_ns, duration_ns, bytes, root, thread, .. } = event;
    EventPart { rank, row, elements, root, thread, order, enter_unix_ns, duration_ns, bytes }
}

/// Of a rank's calls, which stay longest where there is no room for all.
fn orders(events: &[Event]) -> Vec<u16> {
    let mut slowest: Vec<usize> = (0..events.len()).collect();
    slowest.sort_by_key(|place| std::cmp::Reverse(events[*place].duration_ns));
    let mut orders: Vec<usize> = (0..events.len()).map(|place| place.min(events.len() - 1 - place)).collect();
    slowest.into_iter().enumerate().for_each(|(order, place)| orders[place] = orders[place].min(order));
    orders.into_iter().map(|order| u16::try_from(order).unwrap_or(u16::MAX)).collect()
}
