//! What a file holds that is no report, in words for whoever gave it.

use serde_json::Value;

/// Names of fields, or of columns, that are told of an unknown file.
const NAMED: usize = 4;

/// What these bytes are, as in "found …".
pub fn found(bytes: &[u8]) -> String {
    let Ok(text) = std::str::from_utf8(bytes) else { return "no text".to_owned() };
    if text.trim().is_empty() {
        return "an empty file".to_owned();
    }
    match serde_json::from_str(text) {
        Ok(value) => json(&value),
        Err(error) => columns(text).unwrap_or_else(|| format!("no JSON ({error})")),
    }
}

fn json(value: &Value) -> String {
    match value {
        Value::Object(fields) if fields.is_empty() => "an empty JSON object".to_owned(),
        Value::Object(fields) if fields.get("cells").is_some_and(Value::is_array) => {
            "JSON of collie bench (--json)".to_owned()
        }
        Value::Object(fields) => {
            format!("JSON of another kind (fields: {})", first(fields.keys().map(String::as_str)))
        }
        Value::Array(_) => "a JSON list".to_owned(),
        _ => "a single JSON value".to_owned(),
    }
}

/// Whether it is a table, by its first line: names with commas between, or with what some programs write instead.
fn columns(text: &str) -> Option<String> {
    let line = text.lines().next()?;
    [(',', "CSV"), (';', "CSV with semicolons instead of commas"), ('\t', "a table with tabs instead of commas")]
        .into_iter()
        .find_map(|(between, kind)| {
            let heads: Vec<_> = line.split(between).map(|head| head.trim().trim_matches('"')).collect();
            let is_name = |head: &&str| head.starts_with(char::is_alphabetic) && !head.contains([':', '{', '[', '"']);
            let is_table = heads.len() > 2 && heads.iter().all(is_name);
            is_table.then(|| format!("{kind} (columns: {})", first(heads.into_iter())))
        })
}

fn first<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names = names.peekable();
    let mut told: Vec<_> = names.by_ref().take(NAMED).collect();
    told.extend(names.peek().map(|_| "..."));
    told.join(", ")
}

#[cfg(test)]
mod tests {
    use super::found;

    #[test]
    fn files_are_told_for_what_they_are() {
        for (content, told) in [
            ("", "an empty file"),
            ("{}", "an empty JSON object"),
            ("[1, 2]", "a JSON list"),
            ("7", "a single JSON value"),
            (r#"{"a": 1, "b": 2}"#, "JSON of another kind (fields: a, b)"),
            (r#"{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}"#, "JSON of another kind (fields: a, b, c, d, ...)"),
            (r#"{"cells": []}"#, "JSON of collie bench (--json)"),
            ("function,communicator,bytes\nMPI_Bcast,world,8\n", "CSV (columns: function, communicator, bytes)"),
            ("a,b,c,d,e\n", "CSV (columns: a, b, c, d, ...)"),
        ] {
            assert_eq!(found(content.as_bytes()), told);
        }
        assert!(found(b"bcast * * binomial\n").starts_with("no JSON ("));
        assert!(found(br#"{"rows": [1, 2, 3"#).starts_with("no JSON ("));
        assert_eq!(found(b"\xff\xfe"), "no text");
    }
}
