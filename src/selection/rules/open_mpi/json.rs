//! The JSON format (version 3, Open MPI 6.0 and later).
//!
//! ```json
//! {"rule_file_version": 3, "module": "tuned", "collectives": {"allreduce": [
//!   {"comm_size_min": 2, "comm_size_max": 64, "comm_rank_distribution": "single-node",
//!    "rules": [{"msg_size_min": 0, "msg_size_max": "inf", "alg": "ring", "seg_size": 0, "faninout": 0, "reqs": 0}]}]}}
//! ```
//!
//! The first entry that fits a communicator is the only one that counts for it; a message that none of its rules fits
//! is left to the tables. Where Open MPI skips what it does not know, this reader refuses it.

use super::{
    COLLECTIVES, Condition, Named, Read, Rule, Settings, Span, Wanted, error, never_found, not_ours, rule, translated,
    wanted,
};
use crate::algorithm::Operation;
use crate::selection::error::{ConfigurationError, ConfigurationErrors, Location, suggestion};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt::Formatter;

/// An object's values, as they stand in the text.
type Object<'a> = BTreeMap<String, &'a RawValue>;

/// The same with those of all keys that stand there twice.
struct Entries<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Reading;

        impl<'de> Visitor<'de> for Reading {
            type Value = Entries<'de>;

            fn expecting(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<'de>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        from.deserialize_map(Reading)
    }
}

/// What stands behind a collective.
const ENTRIES: &str = "a list of objects with comm_size_min, comm_size_max, rules";

/// Nothing to show for it; what is wrong has been told.
struct Told;

/// Reads the rules of `text` about operations that are [`translated`].
///
/// # Errors
/// Everything that is wrong, in the order of the text.
pub fn parse(path: &str, text: &str) -> Result<Read, ConfigurationErrors> {
    let root: &RawValue = serde_json::from_str(text).map_err(|error| {
        // Its columns count bytes, and what is wrong is the last of these.
        let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
        let before = line.char_indices().take_while(|(place, _)| place + 1 < error.column()).count();
        let place = Location::File { path: path.to_owned(), line: error.line().max(1), column: before + 1 };
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        ConfigurationErrors(vec![ConfigurationError { place, message: format!("no JSON: {message}") }])
    })?;
    let newlines = text.match_indices('\n').map(|(place, _)| place).collect();
    let mut reader = Reader { text, newlines, rules: Vec::new(), skipped: Vec::new(), wrong: Vec::new() };
    let _ = reader.file(root);
    let Reader { rules, skipped, mut wrong, .. } = reader;
    if wrong.is_empty() {
        return Ok((rules, skipped));
    }
    wrong.sort_by_key(|(offset, _)| *offset);
    Err(ConfigurationErrors(wrong.into_iter().map(|(offset, message)| error(path, text, offset, message)).collect()))
}

struct Reader<'a> {
    text: &'a str,
    /// Where lines end.
    newlines: Vec<usize>,
    rules: Vec<Rule>,
    skipped: Vec<(usize, String)>,
    /// Offset and words of what is wrong.
    wrong: Vec<(usize, String)>,
}

impl<'a> Reader<'a> {
    /// Where a value stands: it is borrowed from the text.
    fn offset(&self, value: &RawValue) -> usize {
        value.get().as_ptr() as usize - self.text.as_ptr() as usize
    }

    fn line(&self, value: &RawValue) -> usize {
        let offset = self.offset(value);
        self.newlines.partition_point(|newline| *newline < offset) + 1
    }

    fn refuse(&mut self, value: &RawValue, message: impl Into<String>) -> Told {
        self.wrong.push((self.offset(value), message.into()));
        Told
    }

    fn read<T: Deserialize<'a>>(&mut self, value: &'a RawValue, accepted: &str) -> Result<T, Told> {
        serde_json::from_str(value.get()).map_err(|_| {
            let found: String = value.get().chars().take(40).collect();
            self.refuse(value, format!("'{found}' is not accepted; accepted: {accepted}"))
        })
    }

    /// An object in which each key stands once.
    fn entries(&mut self, value: &'a RawValue, accepted: &str) -> Result<Object<'a>, Told> {
        let Entries(entries) = self.read(value, accepted)?;
        let mut object = Object::new();
        for (key, value) in entries {
            if object.contains_key(&key) {
                self.refuse(value, format!("the key '{key}' is given twice"));
            }
            object.insert(key, value);
        }
        Ok(object)
    }

    /// An object with these keys only.
    fn object(&mut self, value: &'a RawValue, keys: &[&str]) -> Result<Object<'a>, Told> {
        let object = self.entries(value, &format!("an object with {}", keys.join(", ")))?;
        for (key, value) in &object {
            if !keys.contains(&key.as_str()) {
                let nearest = suggestion(key, keys.iter().copied());
                self.refuse(value, format!("unknown key '{key}'; accepted: {}{nearest}", keys.join(", ")));
            }
        }
        Ok(object)
    }

    fn file(&mut self, root: &'a RawValue) -> Result<(), Told> {
        // The key that names the schema of a JSON file is for editors.
        let object = self.object(root, &["$schema", "rule_file_version", "module", "collectives"])?;
        if let Some(version) = object.get("rule_file_version")
            && version.get() != "3"
        {
            self.refuse(version, format!("rule_file_version {} is not known; accepted: 3", version.get()));
        }
        if let Some(module) = object.get("module")
            && module.get() != "\"tuned\""
        {
            self.refuse(module, format!("module {} is not known; accepted: \"tuned\"", module.get()));
        }
        let Some(collectives) = object.get("collectives") else {
            return Err(
                self.refuse(root, "the key 'collectives' is missing, which a JSON file of rules for Open MPI has")
            );
        };
        let collectives = self.entries(collectives, "an object with a list for each collective")?;
        for (name, value) in collectives {
            if !COLLECTIVES.contains(&name.as_str()) {
                let nearest = suggestion(&name, COLLECTIVES);
                self.refuse(
                    value,
                    format!("unknown collective '{name}'; accepted: {}{nearest}", COLLECTIVES.join(", ")),
                );
            } else if let Some(operation) = translated(&name) {
                let _ = self.collective(operation, value);
            } else {
                let entries: Result<Vec<&RawValue>, Told> = self.read(value, ENTRIES);
                if entries.is_ok_and(|entries| !entries.is_empty()) {
                    self.skipped.push((self.line(value), not_ours(&name)));
                }
            }
        }
        Ok(())
    }

    fn collective(&mut self, operation: Operation, value: &'a RawValue) -> Result<(), Told> {
        let entries: Vec<&RawValue> = self.read(value, ENTRIES)?;
        for entry in entries {
            let _ = self.communicators(operation, entry);
        }
        Ok(())
    }

    fn communicators(&mut self, operation: Operation, entry: &'a RawValue) -> Result<(), Told> {
        let keys = ["comm_size_min", "comm_size_max", "comm_rank_distribution", "rules"];
        let object = self.object(entry, &keys)?;
        let ranks = self.span(&object, "comm_size_min", "comm_size_max")?;
        let conditions = match object.get("comm_rank_distribution").map(|value| (value.get(), *value)) {
            None | Some(("\"any\"", _)) => vec![],
            Some(("\"single-node\"", _)) => vec![Condition::OneNode],
            Some(("\"one-per-node\"", _)) => vec![Condition::OnePerNode],
            Some((found, value)) => {
                let accepted = "\"any\", \"single-node\", \"one-per-node\"";
                return Err(self.refuse(value, format!("{found} is not accepted; accepted: {accepted}")));
            }
        };
        let Some(rules) = object.get("rules") else { return Err(self.refuse(entry, "the key 'rules' is missing")) };
        let rules: Vec<&RawValue> = self.read(rules, "a list of objects with msg_size_min, msg_size_max, alg")?;
        let first = self.rules.len();
        for value in rules {
            if let Ok((bytes, wanted)) = self.rule(operation, value) {
                let line = self.line(value);
                match rule(operation, ranks, bytes, conditions.clone(), wanted, line) {
                    Some(rule) => self.rules.push(rule),
                    None => self.skipped.push((line, never_found(operation))),
                }
            }
        }
        if covers_all(&self.rules[first..]) {
            return Ok(());
        }
        // Later entries do not count for these communicators.
        let line = self.line(entry);
        self.rules.extend(rule(operation, ranks, Span::ALL, conditions, Wanted::Auto, line));
        Ok(())
    }

    fn rule(&mut self, operation: Operation, value: &'a RawValue) -> Result<(Span, Wanted), Told> {
        let keys = ["msg_size_min", "msg_size_max", "alg", "faninout", "seg_size", "reqs"];
        let object = self.object(value, &keys)?;
        let bytes = self.span(&object, "msg_size_min", "msg_size_max")?;
        let settings = Settings {
            fanout: self.number(&object, "faninout", 0)?,
            segment: self.number(&object, "seg_size", 0)?,
            requests: self.number(&object, "reqs", 0)?,
        };
        let Some(algorithm) = object.get("alg") else { return Err(self.refuse(value, "the key 'alg' is missing")) };
        let wanted = match serde_json::from_str::<usize>(algorithm.get()) {
            Ok(number) => wanted(operation, &Named::Number(number), settings),
            Err(_) => {
                let name: String = self.read(algorithm, "an algorithm's number or name")?;
                wanted(operation, &Named::Name(&name), settings)
            }
        };
        wanted.map(|wanted| (bytes, wanted)).map_err(|message| self.refuse(algorithm, message))
    }

    fn span(&mut self, object: &Object<'a>, least: &str, most: &str) -> Result<Span, Told> {
        let span = Span { least: self.number(object, least, 0)?, most: self.number(object, most, usize::MAX)? };
        match object.get(most) {
            Some(value) if span.least > span.most => {
                Err(self.refuse(value, format!("{most} {} is below {least} {}", span.most, span.least)))
            }
            _ => Ok(span),
        }
    }

    fn number(&mut self, object: &Object<'a>, key: &str, default: usize) -> Result<usize, Told> {
        match object.get(key) {
            None => Ok(default),
            Some(value) if ["\"inf\"", "\"Inf\"", "\"INF\""].contains(&value.get()) => Ok(usize::MAX),
            Some(value) => self.read(value, &format!("for {key} a whole number, or \"inf\"")),
        }
    }
}

/// Whether there is a rule for messages of every size.
fn covers_all(rules: &[Rule]) -> bool {
    let mut spans: Vec<Span> = rules.iter().map(|rule| rule.bytes).collect();
    spans.sort_by_key(|span| span.least);
    // All sizes below it have one.
    let mut end = 0;
    for span in spans {
        match (span.least > end, span.most) {
            (true, _) => return false,
            (false, usize::MAX) => return true,
            (false, most) => end = end.max(most + 1),
        }
    }
    false
}
