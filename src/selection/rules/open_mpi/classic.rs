//! The classic format: numbers only, in nested blocks whose lengths stand before them.
//!
//! ```text
//! rule-file-version-2                         optional; then a rule may have a fifth number
//! COLLECTIVES
//!   COLLECTIVE SIZES
//!     RANKS RULES
//!       BYTES ALGORITHM FANOUT SEGMENT [REQUESTS]
//! ```
//!
//! A block holds for communicators of its RANKS and more, up to the next block; the first one also for smaller ones,
//! and a rule for messages of its BYTES and more, up to the next. So do releases 4.1 and 5.0 read them (6.0 takes RANKS
//! of the next block as the end of this one in another way).

use super::{
    COLLECTIVES, Named, Read, Rule, Settings, Span, Wanted, error, never_found, not_ours, rule, translated, wanted,
};
use crate::algorithm::Operation;
use crate::selection::error::{ConfigurationError, ConfigurationErrors};

const VERSION: &str = "rule-file-version-";

/// Whether `text` is in this format: a number, or the version, comes first.
pub fn is_classic(text: &str) -> bool {
    let first = words(text).next();
    first.is_some_and(|word| {
        word.text.starts_with(VERSION) || word.text.starts_with(|first: char| first.is_ascii_digit())
    })
}

/// Reads the rules of `text` about operations that are [`translated`]; the others are checked for their form only.
///
/// # Errors
/// The first thing that breaks the form, or every algorithm that is not known.
pub fn parse(path: &str, text: &str) -> Result<Read, ConfigurationErrors> {
    let words: Vec<_> = words(text).collect();
    let (rules, skipped, errors) = Default::default();
    let mut reader = Reader { path, text, words: &words, version: 1, rules, skipped, errors };
    match reader.file() {
        Ok(()) if reader.errors.is_empty() => Ok((reader.rules, reader.skipped)),
        Ok(()) => Err(ConfigurationErrors(reader.errors)),
        Err(error) => {
            reader.errors.push(error);
            Err(ConfigurationErrors(reader.errors))
        }
    }
}

#[derive(Clone, Copy)]
struct Word<'a> {
    text: &'a str,
    offset: usize,
    line: usize,
}

/// Words of all lines, comments left out.
fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
    let mut start = 0;
    text.split('\n').enumerate().flat_map(move |(place, line)| {
        let begin = start;
        start += line.len() + 1;
        let code = line.split_once('#').map_or(line, |(before, _)| before);
        code.split_whitespace().map(move |word| {
            let offset = begin + (word.as_ptr() as usize - line.as_ptr() as usize);
            Word { text: word, offset, line: place + 1 }
        })
    })
}

struct Reader<'a> {
    path: &'a str,
    text: &'a str,
    /// What is not read yet.
    words: &'a [Word<'a>],
    version: usize,
    rules: Vec<Rule>,
    skipped: Vec<(usize, String)>,
    errors: Vec<ConfigurationError>,
}

impl<'a> Reader<'a> {
    fn wrong(&self, offset: usize, message: impl Into<String>) -> ConfigurationError {
        error(self.path, self.text, offset, message)
    }

    /// The next number, which is `what`.
    fn number(&mut self, what: &str) -> Result<(usize, Word<'a>), ConfigurationError> {
        let Some((word, rest)) = self.words.split_first() else {
            return Err(self.wrong(self.text.len(), format!("the file ends where a {what} is expected")));
        };
        self.words = rest;
        let refuse = || {
            // Who writes an operation does not mean this format.
            let why = match Operation::from_name(word.text) {
                Some(_) => ", since the file begins with one and is therefore read as one of Open MPI's",
                None => "",
            };
            self.wrong(word.offset, format!("'{}' is not a {what}; accepted: a whole number{why}", word.text))
        };
        Ok((whole_number(word.text).ok_or_else(refuse)?, *word))
    }

    fn file(&mut self) -> Result<(), ConfigurationError> {
        if let Some((word, rest)) = self.words.split_first()
            && let Some(version) = word.text.strip_prefix(VERSION)
        {
            let known = version.parse().ok().filter(|version| (1..=2).contains(version));
            self.version = known.ok_or_else(|| {
                self.wrong(word.offset, format!("version '{version}' is not known; accepted: {VERSION}1, {VERSION}2"))
            })?;
            self.words = rest;
        }
        let mut seen = [false; COLLECTIVES.len()];
        let (collectives, _) = self.number("number of collectives")?;
        for _ in 0..collectives {
            self.collective(&mut seen)?;
        }
        match self.words.first() {
            None => Ok(()),
            Some(word) => {
                let found = word.text;
                Err(self.wrong(
                    word.offset,
                    format!("'{found}' is left over: by the counts before it there are no more rules"),
                ))
            }
        }
    }

    fn collective(&mut self, seen: &mut [bool]) -> Result<(), ConfigurationError> {
        let (collective, word) = self.number("collective")?;
        let Some(name) = COLLECTIVES.get(collective) else {
            let most = COLLECTIVES.len() - 1;
            return Err(self.wrong(word.offset, format!("there is no collective {collective}; accepted: 0 to {most}")));
        };
        if std::mem::replace(&mut seen[collective], true) {
            return Err(self.wrong(word.offset, format!("collective {collective} ({name}) is given twice")));
        }
        let operation = translated(name);
        let (sizes, _) = self.number("number of communicator sizes")?;
        let mut blocks = Vec::new();
        let mut least = 0;
        for _ in 0..sizes {
            let (ranks, word) = self.number("communicator size")?;
            // The search stops at the first block that is too large, so one out of order is never reached below its
            // predecessors.
            least = least.max(ranks);
            let rules = self.block(operation)?;
            blocks.push((least, word.line, rules));
        }
        let Some(operation) = operation else {
            self.skipped.extend((sizes > 0).then(|| (word.line, not_ours(name))));
            return Ok(());
        };
        let later = blocks.iter().flat_map(|(.., rules)| rules).filter(|(least, ..)| *least > 0);
        let later = later.filter(|_| operation.has_own_counts());
        self.skipped.extend(later.map(|(_, line, _)| (*line, never_found(operation))));
        for (place, (ranks, line, rules)) in blocks.iter().enumerate() {
            let first = if place == 0 { 0 } else { *ranks };
            let next = blocks.get(place + 1);
            let Some(ranks) = up_to(first, next.map(|(next, ..)| *next)) else {
                let taken_by = blocks.iter().rev().find(|(least, ..)| least == ranks).map_or(0, |(_, line, _)| *line);
                self.skipped.push((*line, displaced("these rules match", taken_by, "ranks")));
                continue;
            };
            // Those that begin no later than one before them take its place, the last of them all of their places.
            for alike in rules.chunk_by(|(one, ..), (next, ..)| one == next) {
                let Some(((bytes, taken_by, _), others)) = alike.split_last() else { continue };
                // Of what has counts of its own, later rules are told to be for no call already.
                if operation.has_own_counts() && *bytes > 0 {
                    continue;
                }
                let why = || displaced("this rule matches", *taken_by, "bytes");
                self.skipped.extend(others.iter().map(|(_, line, _)| (*line, why())));
            }
            self.rules.extend(joined(operation, ranks, *line, rules));
        }
        Ok(())
    }

    /// Least bytes, line and meaning of each rule of a block.
    fn block(&mut self, operation: Option<Operation>) -> Result<Vec<(usize, usize, Wanted)>, ConfigurationError> {
        let (count, _) = self.number("number of rules")?;
        let mut rules = Vec::new();
        let mut least = 0;
        for place in 0..count {
            let (bytes, first) = self.number("message size")?;
            if place == 0 && bytes != 0 {
                let message = format!("the first rule of a communicator size starts at {bytes} bytes; accepted: 0");
                return Err(self.wrong(first.offset, message));
            }
            least = least.max(bytes);
            let (algorithm, algorithm_word) = self.number("algorithm")?;
            let (fanout, _) = self.number("fan-out")?;
            let (segment, last) = self.number("segment size")?;
            let more = self.version > 1 && self.words.first().is_some_and(|word| word.line == last.line);
            let requests = if more { self.number("number of requests")?.0 } else { 0 };
            let settings = Settings { fanout, segment, requests };
            let Some(operation) = operation else { continue };
            match wanted(operation, &Named::Number(algorithm), settings) {
                Ok(wanted) => rules.push((least, first.line, wanted)),
                Err(message) => {
                    let error = self.wrong(algorithm_word.offset, message);
                    self.errors.push(error);
                }
            }
        }
        Ok(rules)
    }
}

/// Why rules are for no call whose place those of a later line take.
fn displaced(these: &str, line: usize, of: &str) -> String {
    format!(
        "{these} no call: line {line} comes later, begins at no more {of} than one before it, and takes all of them"
    )
}

/// From `least` up to where the next one starts; `None` if that is nothing.
fn up_to(least: usize, next: Option<usize>) -> Option<Span> {
    match next {
        None => Some(Span { least, most: usize::MAX }),
        Some(next) => (least < next).then(|| Span { least, most: next - 1 }),
    }
}

/// A block as our rules. An empty one leaves its communicators to the tables, and must keep later rules off them.
fn joined(operation: Operation, ranks: Span, line: usize, rules: &[(usize, usize, Wanted)]) -> Vec<Rule> {
    if rules.is_empty() {
        return rule(operation, ranks, Span::ALL, Vec::new(), Wanted::Auto, line).into_iter().collect();
    }
    let with_next = rules.iter().enumerate().filter_map(|(place, (least, line, wanted))| {
        let bytes = up_to(*least, rules.get(place + 1).map(|(next, ..)| *next))?;
        rule(operation, ranks, bytes, Vec::new(), wanted.clone(), *line)
    });
    with_next.collect()
}

/// As C's `%li` reads it: decimal, 0x hexadecimal, 0 octal.
fn whole_number(text: &str) -> Option<usize> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None if text.len() > 1 && text.starts_with('0') => (&text[1..], 8),
        None => (text, 10),
    };
    if digits.starts_with('+') {
        return None;
    }
    usize::from_str_radix(digits, radix).ok()
}
