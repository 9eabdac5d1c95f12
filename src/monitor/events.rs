//! The per-call log: every call's entry and exit, in bounded memory, the rest in a file.

use super::Event;
use super::picked::{Parts, Picked, Shown};
use crate::writing::{longest_file, without_write_signals};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};

/// With a file behind it, memory is written out in pieces of at most 1 MiB: a call that has to write one is late by a
/// millisecond, not by the tenth of a second that 64 MiB take.
const PIECE_BYTES: usize = 1 << 20;

/// One rank's log. Without a file, or when the file is full or fails, the oldest events in memory give way to new ones
/// and are counted as dropped.
#[derive(Debug)]
pub struct EventLog {
    events: VecDeque<Event>,
    capacity: usize,
    /// What the capacity is once the file takes no more.
    most: usize,
    spill: Option<Spill>,
    /// What takes in the oldest calls where not only the last ones are to be kept.
    picked: Option<Picked>,
    failure: Option<io::Error>,
    dropped: u64,
    /// Calls that a log of picked ones has passed over, as it should.
    passed_over: u64,
}

/// Calls that are read from a file at once.
const PIECE: usize = 1 << 14;

#[derive(Debug)]
struct Spill {
    file: File,
    events: u64,
    most: u64,
}

impl EventLog {
    /// A log that keeps the last calls in at most `memory_bytes` bytes. The addresses are taken at once, so that the
    /// log never grows by copying; the system gives them memory as calls come.
    pub fn in_memory(memory_bytes: usize) -> Self {
        let capacity = (memory_bytes / Event::BYTES).max(1);
        let events = VecDeque::with_capacity(capacity);
        Self { events, capacity, most: capacity, spill: None, picked: None, failure: None, dropped: 0, passed_over: 0 }
    }

    /// A log that keeps the first, the slowest and the last calls.
    pub fn for_page(parts: Parts) -> Self {
        Self { picked: Some(Picked::new(parts)), ..Self::in_memory(parts.last * Event::BYTES) }
    }

    /// A log that writes the calls to `file`, which is empty, up to `file_bytes` bytes and what a file may have; from
    /// then on it keeps the last calls in memory as well.
    pub fn spilling(memory_bytes: usize, file: File, file_bytes: u64) -> Self {
        let most = file_bytes.min(longest_file()) / Event::BYTES as u64;
        let spill = Spill { file, events: 0, most };
        let most = (memory_bytes / Event::BYTES).max(1);
        Self { spill: Some(spill), most, ..Self::in_memory(memory_bytes.min(PIECE_BYTES)) }
    }

    /// Keeps one call.
    #[inline]
    pub fn push(&mut self, event: Event) {
        if self.events.len() == self.capacity {
            self.make_room();
        }
        self.events.push_back(event);
    }

    #[cold]
    fn make_room(&mut self) {
        match self.spill.as_mut().map(|spill| spill.write(&self.events)) {
            Some(Ok(true)) => return self.events.clear(),
            Some(Err(failure)) => {
                // What the file held can still be read; it gets nothing more.
                self.failure.get_or_insert(failure);
            }
            Some(Ok(false)) | None => {}
        }
        if self.capacity < self.most {
            self.capacity = self.most;
            self.events.reserve_exact(self.most - self.events.len());
            return;
        }
        let Some(oldest) = self.events.pop_front() else { return };
        match &mut self.picked {
            Some(picked) => self.passed_over += u64::from(picked.offer(oldest)),
            None => self.dropped += 1,
        }
    }

    /// Calls that were thrown away for want of room; a log that is to keep only some throws none away.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Nanoseconds since 1970 from the end of the last call before those that were thrown away to the entry of the
    /// first one after them; no beginning where nothing before them is kept.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn gap(&mut self) -> io::Result<Option<(Option<u64>, u64)>> {
        let Some(after) = self.events.front().filter(|_| self.dropped > 0).copied() else { return Ok(None) };
        let before = match self.spill.as_ref().map_or(0, |spill| spill.events) {
            0 => None,
            in_file => self.part(in_file - 1, 1)?.first().map(|event| event.enter_unix_ns + event.duration_ns),
        };
        Ok(Some((before, after.enter_unix_ns)))
    }

    /// What kept the file from taking more, if something did.
    pub const fn failure(&self) -> Option<&io::Error> {
        self.failure.as_ref()
    }

    /// Calls that are kept, in file and memory.
    pub fn len(&self) -> u64 {
        self.spill.as_ref().map_or(0, |spill| spill.events) + self.events.len() as u64
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The kept calls, oldest first, without the first `skip`, and no more than `most`.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn part(&mut self, skip: u64, most: usize) -> io::Result<Vec<Event>> {
        let mut part = Vec::with_capacity(most.min(self.len().saturating_sub(skip) as usize));
        let mut in_file = 0;
        if let Some(spill) = &mut self.spill {
            in_file = spill.events;
            spill.read(skip.min(in_file)..(skip.saturating_add(most as u64)).min(in_file), &mut part)?;
        }
        let left = most - part.len();
        part.extend(self.events.iter().skip(skip.saturating_sub(in_file) as usize).take(left));
        Ok(part)
    }

    /// The last `most` calls that are kept.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn tail(&mut self, most: usize) -> io::Result<Vec<Event>> {
        self.part(self.len().saturating_sub(most as u64), most)
    }

    /// The first, the slowest and the last of all calls, or all if they are no more than that.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn shown(&mut self, parts: Parts) -> io::Result<Shown> {
        if let Some(picked) = &self.picked {
            return Ok(picked.with(self.events.iter().copied(), self.passed_over));
        }
        let kept = self.len();
        // Without a file the first calls went first.
        let first_are_gone = self.dropped > 0 && self.spill.as_ref().is_none_or(|spill| spill.events == 0);
        let parts = if first_are_gone { Parts { first: 0, ..parts } } else { parts };
        let middle = kept.saturating_sub(parts.last as u64);
        let mut picked = Picked::new(parts);
        let mut missing = self.dropped;
        for begin in (0..middle).step_by(PIECE) {
            let piece = self.part(begin, PIECE.min((middle - begin) as usize))?;
            missing += piece.into_iter().map(|event| u64::from(picked.offer(event))).sum::<u64>();
        }
        Ok(picked.with(self.tail(parts.last)?.into_iter(), missing))
    }
}

impl Spill {
    /// Appends `events`, all or none; whether they had room.
    fn write(&mut self, events: &VecDeque<Event>) -> io::Result<bool> {
        if self.events + events.len() as u64 > self.most {
            return Ok(false);
        }
        let bytes: Vec<u8> = events.iter().flat_map(|event| event.to_bytes()).collect();
        // A failed write may have left a part of the piece, which the next one overwrites.
        self.file.seek(SeekFrom::Start(self.events * Event::BYTES as u64))?;
        if let Err(failure) = without_write_signals(|| self.file.write_all(&bytes)) {
            self.most = self.events;
            return Err(failure);
        }
        self.events += events.len() as u64;
        Ok(true)
    }

    fn read(&mut self, range: std::ops::Range<u64>, part: &mut Vec<Event>) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(range.start * Event::BYTES as u64))?;
        let mut reader = BufReader::new(&self.file);
        let mut bytes = [0; Event::BYTES];
        for _ in range {
            reader.read_exact(&mut bytes)?;
            part.push(Event::from_bytes(&bytes));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(number: u64) -> Event {
        Event {
            enter_unix_ns: number,
            duration_ns: number * 3,
            bytes: u64::MAX - number,
            communicator: 1,
            counter: number as u32,
            root: -1,
            thread: 2,
            elements: 7,
        }
    }

    fn kept(log: &mut EventLog) -> Vec<u64> {
        log.tail(usize::MAX).unwrap().iter().map(|event| event.enter_unix_ns).collect()
    }

    #[test]
    fn bytes_of_an_event_are_the_event() {
        assert_eq!(Event::from_bytes(&event(0x0102_0304_0506).to_bytes()), event(0x0102_0304_0506));
        assert_eq!(size_of::<Event>(), Event::BYTES);
    }

    #[test]
    fn without_a_file_the_last_calls_stay_and_the_others_are_counted() {
        let mut log = EventLog::in_memory(10 * Event::BYTES);
        (0..25).for_each(|number| log.push(event(number)));
        assert_eq!((kept(&mut log), log.dropped()), ((15..25).collect(), 15));
        assert_eq!(log.gap().unwrap(), Some((None, 15)));
        assert_eq!(log.tail(2).unwrap(), [event(23), event(24)]);
    }

    #[test]
    fn with_a_file_nothing_is_lost_until_it_is_full() {
        let mut log = EventLog::spilling(10 * Event::BYTES, tempfile::tempfile().unwrap(), 1 << 20);
        (0..95).for_each(|number| log.push(event(number)));
        assert_eq!((kept(&mut log), log.dropped()), ((0..95).collect(), 0));
        assert_eq!(log.part(17, 30).unwrap(), (17..47).map(event).collect::<Vec<_>>());
        assert_eq!(log.part(85, 30).unwrap(), (85..95).map(event).collect::<Vec<_>>());
        assert_eq!(log.tail(7).unwrap(), (88..95).map(event).collect::<Vec<_>>());
        assert_eq!(log.gap().unwrap(), None);
        // Reading in between does not disturb writing.
        (95..120).for_each(|number| log.push(event(number)));
        assert_eq!(kept(&mut log), (0..120).collect::<Vec<_>>());

        let most = 20 * Event::BYTES as u64;
        let mut log = EventLog::spilling(10 * Event::BYTES, tempfile::tempfile().unwrap(), most);
        (0..95).for_each(|number| log.push(event(number)));
        assert_eq!((kept(&mut log), log.dropped()), ((0..20).chain(85..95).collect(), 65));
        assert_eq!(log.gap().unwrap(), Some((Some(19 + 19 * 3), 85)));
    }

    /// Thirty calls of which 13, 20 and 17 are slow, in that order.
    fn with_slow_ones(log: &mut EventLog) {
        for number in 0..30 {
            let duration_ns = [(13, 900), (20, 800), (17, 700)].into_iter().find(|(slow, _)| *slow == number);
            log.push(Event { duration_ns: duration_ns.map_or(5, |(_, ns)| ns), ..event(number) });
        }
    }

    const PARTS: Parts = Parts { first: 4, slowest: 3, last: 5 };

    fn numbers(shown: &Shown) -> Vec<u64> {
        shown.events.iter().map(|event| event.enter_unix_ns).collect()
    }

    #[test]
    fn a_page_has_the_first_the_slowest_and_the_last_calls_whether_a_file_has_all_or_not() {
        let file = || tempfile::tempfile().unwrap();
        let logs = [
            EventLog::for_page(PARTS),
            EventLog::in_memory(100 * Event::BYTES),
            EventLog::spilling(10 * Event::BYTES, file(), 1 << 20),
        ];
        for mut log in logs {
            with_slow_ones(&mut log);
            let shown = log.shown(PARTS).unwrap();
            assert_eq!(numbers(&shown), [0, 1, 2, 3, 13, 17, 20, 25, 26, 27, 28, 29]);
            assert_eq!((shown.missing, shown.between), (18, Some((Some(3 + 5), 25))));
            assert_eq!((log.dropped(), log.gap().unwrap()), (0, None), "none for want of room");
        }
        // Few calls are all there.
        let mut log = EventLog::for_page(PARTS);
        (0..12).for_each(|number| log.push(event(number)));
        let shown = log.shown(PARTS).unwrap();
        assert_eq!((numbers(&shown), shown.missing, shown.between), ((0..12).collect(), 0, None));
        // A log that has let its first calls go says so.
        let mut log = EventLog::in_memory(14 * Event::BYTES);
        with_slow_ones(&mut log);
        let shown = log.shown(PARTS).unwrap();
        assert_eq!(numbers(&shown), [16, 17, 20, 25, 26, 27, 28, 29]);
        assert_eq!((shown.missing, shown.between), (22, Some((None, 25))));
    }

    #[test]
    fn memory_of_a_page_stays_however_many_calls_there_are() {
        let mut log = EventLog::for_page(PARTS);
        (0..100_000).for_each(|number| log.push(Event { duration_ns: number % 1000, ..event(number) }));
        let shown = log.shown(PARTS).unwrap();
        assert_eq!((shown.events.len(), shown.missing), (PARTS.sum(), 100_000 - PARTS.sum() as u64));
        assert_eq!(numbers(&shown)[4..7], [999, 1999, 2999], "of equals the first");
        assert_eq!(log.events.capacity(), PARTS.last);
    }

    #[test]
    fn a_full_disk_is_told_and_costs_only_what_did_not_fit() {
        let full = File::options().read(true).write(true).open("/dev/full").unwrap();
        let mut log = EventLog::spilling(10 * Event::BYTES, full, 1 << 20);
        (0..15).for_each(|number| log.push(event(number)));
        assert_eq!((kept(&mut log), log.dropped()), ((5..15).collect(), 5));
        assert!(log.failure().is_some());
    }

    #[test]
    fn a_file_gets_no_more_than_files_may_have() {
        let log = |bytes| EventLog::spilling(10 * Event::BYTES, tempfile::tempfile().unwrap(), bytes);
        let most = |log: EventLog| log.spill.map(|spill| spill.most);
        assert_eq!(most(log(u64::MAX)), Some(longest_file() / Event::BYTES as u64));
        assert_eq!(most(log(400)), Some(10));
    }

    #[test]
    fn memory_stays_under_the_bound() {
        let mut log = EventLog::in_memory(1000 * Event::BYTES);
        (0..100_000).for_each(|number| log.push(event(number)));
        assert_eq!(log.events.capacity(), 1000);
    }
}
