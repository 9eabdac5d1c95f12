//! The bytes of what a rank hands in, and their text.

use super::{Bucket, CounterRecord, Function, RankRecord, Steps};
use data_encoding::BASE64;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// A rank's bytes could not be read.
#[derive(Debug, thiserror::Error)]
#[error("record of a rank cannot be read: {0}")]
pub struct DecodeError(#[from] postcard::Error);

/// A rank's text could not be read.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// Another version's, whose bytes mean something else.
    #[error(
        "the record of a rank was written by {found}; this is Collie {}, which reads records of layout {LAYOUT} by its own version; \
         accepted: the collie that was built together with the library",
        env!("CARGO_PKG_VERSION")
    )]
    Version {
        /// Who wrote it.
        found: String,
    },
    /// No such bytes.
    #[error(transparent)]
    Decode(#[from] DecodeError),
}

/// The layout of a record's bytes, which goes up with every change to it.
const LAYOUT: u32 = 12;

/// What the text of a record begins with: layout and version.
fn text_mark() -> String {
    format!("{LAYOUT} {}\n", env!("CARGO_PKG_VERSION"))
}

/// Who wrote a record that begins with another mark, in words.
fn writer(bytes: &[u8]) -> String {
    let line = bytes.split(|byte| *byte == b'\n').next().and_then(|line| std::str::from_utf8(line).ok());
    match line.and_then(|line| line.split_once(' ')) {
        Some((layout, version)) if layout.parse::<u32>().is_ok() => format!("Collie {version}, with layout {layout}"),
        _ => "something else".to_owned(),
    }
}

/// A record on its way but for the numbers of its counters, which follow it: there may be thousands of counters, of few
/// kinds.
#[derive(Serialize, Deserialize)]
struct Packed<R> {
    record: R,
    texts: Vec<String>,
    /// What counters have in common; texts by their place.
    kinds: Vec<Kind>,
    /// Of each communicator.
    numbers_of_cells: Vec<u32>,
}

/// Function, size class, algorithm, what decided it.
type Kind = (Function, Bucket, u32, u32);

/// Bytes of a counter's numbers: place of its kind, steps of its durations, and six longer ones, little-endian.
const CELL: usize = 2 * 4 + 6 * 8;
/// Bytes of a step and its count.
const STEP: usize = 2 + 4;

/// Texts and their places.
#[derive(Default)]
struct Texts<'a> {
    texts: Vec<String>,
    place_of: HashMap<&'a str, u32>,
    /// The same text is mostly at the same address, and an address is found faster.
    place_at: HashMap<usize, u32>,
}

impl<'a> Texts<'a> {
    fn place(&mut self, text: &'a Arc<str>) -> u32 {
        let Self { texts, place_of, place_at } = self;
        *place_at.entry(text.as_ptr() as usize).or_insert_with(|| {
            *place_of.entry(text).or_insert_with(|| {
                texts.push(text.to_string());
                texts.len() as u32 - 1
            })
        })
    }
}

/// Places of equal values, in the order in which they came.
fn place<T: Copy + Eq + std::hash::Hash>(values: &mut Vec<T>, places: &mut HashMap<T, u32>, value: T) -> u32 {
    *places.entry(value).or_insert_with(|| {
        values.push(value);
        values.len() as u32 - 1
    })
}

/// The numbers of a counter.
fn numbers(bytes: &[u8; CELL]) -> ([u32; 2], [u64; 6]) {
    let (short, long) = bytes.split_at(8);
    let short = |place: usize| u32::from_le_bytes(std::array::from_fn(|byte| short[place * 4 + byte]));
    let long = |place: usize| u64::from_le_bytes(std::array::from_fn(|byte| long[place * 8 + byte]));
    (std::array::from_fn(short), std::array::from_fn(long))
}

/// In the place of the time that was spent waiting; no run takes so many nanoseconds.
const NOT_MEASURED: u64 = u64::MAX;

impl RankRecord {
    /// The record as text, for a file that another process of this version reads.
    pub fn to_text(&self) -> String {
        BASE64.encode(&[text_mark().as_bytes(), &self.encode()].concat())
    }

    /// What [`to_text`](Self::to_text) wrote.
    ///
    /// # Errors
    /// Text of another version, or of no record.
    pub fn from_text(text: &str) -> Result<Self, TextError> {
        let bytes = BASE64.decode(text.as_bytes()).unwrap_or_default();
        match bytes.strip_prefix(text_mark().as_bytes()) {
            Some(record) => Ok(Self::decode(record)?),
            None => Err(TextError::Version { found: writer(&bytes) }),
        }
    }

    /// The record as bytes, for the way to rank 0.
    pub fn encode(&self) -> Vec<u8> {
        let (mut texts, mut kinds, mut place_of) = (Texts::default(), Vec::new(), HashMap::new());
        let (mut counters, mut steps) = (Vec::new(), Vec::new());
        for counter in self.communicators.iter().flat_map(|communicator| &communicator.counters) {
            let kind =
                (counter.function, counter.bucket, texts.place(&counter.algorithm), texts.place(&counter.decided_by));
            for short in [place(&mut kinds, &mut place_of, kind), counter.durations.len() as u32] {
                counters.extend_from_slice(&short.to_le_bytes());
            }
            let waiting_ns = counter.waiting_ns.unwrap_or(NOT_MEASURED);
            for long in [counter.calls, counter.bytes, counter.total_ns, counter.min_ns, counter.max_ns, waiting_ns] {
                counters.extend_from_slice(&long.to_le_bytes());
            }
            for (step, count) in counter.durations.iter() {
                steps.extend_from_slice(&step.to_le_bytes());
                steps.extend_from_slice(&count.to_le_bytes());
            }
        }
        let numbers_of_cells =
            self.communicators.iter().map(|communicator| communicator.counters.len() as u32).collect();
        let packed = Packed { record: self, texts: texts.texts, kinds, numbers_of_cells };
        let mut bytes = postcard::to_stdvec(&packed).expect("a record has no part that cannot be written to memory");
        bytes.append(&mut counters);
        bytes.append(&mut steps);
        bytes
    }

    /// The record that [`encode`](Self::encode) wrote.
    ///
    /// # Errors
    /// Bytes that no such record has.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let (packed, bytes) = postcard::take_from_bytes::<Packed<Self>>(bytes)?;
        let Packed { mut record, texts, kinds, numbers_of_cells } = packed;
        let end = || DecodeError(postcard::Error::DeserializeUnexpectedEnd);
        let all: usize = numbers_of_cells.iter().map(|number| *number as usize).sum();
        let (counters, steps) = bytes.split_at_checked(all * CELL).ok_or_else(end)?;
        let (mut counters, steps) = (counters.as_chunks::<CELL>().0.iter(), steps.as_chunks::<STEP>().0);
        let steps: Arc<[(u16, u32)]> = steps
            .iter()
            .map(|[a, b, c, d, e, f]| (u16::from_le_bytes([*a, *b]), u32::from_le_bytes([*c, *d, *e, *f])))
            .collect();
        let texts: Vec<Arc<str>> = texts.into_iter().map(Arc::from).collect();
        let text = |place: u32| texts.get(place as usize).map(Arc::clone);
        let mut first = 0;
        for (communicator, number) in record.communicators.iter_mut().zip(numbers_of_cells) {
            let unpacked = counters.by_ref().take(number as usize).map(|counter| {
                let ([kind, length], [calls, bytes, total_ns, min_ns, max_ns, waiting_ns]) = numbers(counter);
                let (function, bucket, algorithm, decided_by) = *kinds.get(kind as usize)?;
                let durations = Steps::part(&steps, first..first.checked_add(length)?);
                first += length;
                let (algorithm, decided_by) = (text(algorithm)?, text(decided_by)?);
                Some(CounterRecord {
                    function,
                    bucket,
                    algorithm,
                    decided_by,
                    calls,
                    bytes,
                    total_ns,
                    min_ns,
                    max_ns,
                    waiting_ns: Some(waiting_ns).filter(|waiting_ns| *waiting_ns != NOT_MEASURED),
                    durations,
                })
            });
            communicator.counters = unpacked.collect::<Option<Vec<CounterRecord>>>().ok_or_else(end)?;
        }
        if first as usize == steps.len() { Ok(record) } else { Err(end()) }
    }
}
