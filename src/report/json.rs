//! Everything that the summary holds; the schema is `docs/report-schema.json`.

use crate::monitor::{SCHEMA_VERSION, Summary};
use serde::Deserialize;

/// The report.
pub fn render(summary: &Summary) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(summary).expect("a summary has no part that JSON cannot hold");
    bytes.push(b'\n');
    bytes
}

/// A recorded report cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Not JSON, or a field is missing or of the wrong kind.
    #[error("not a report of Collie: {0}")]
    Malformed(#[from] serde_json::Error),
    /// Of another version.
    #[error("a report of schema version {0}; this Collie reads version {SCHEMA_VERSION}")]
    Version(u64),
}

/// The summary that [`render`] wrote.
///
/// # Errors
/// Anything else, and reports of another schema version.
pub fn read(bytes: &[u8]) -> Result<Summary, ReadError> {
    #[derive(Deserialize)]
    struct Version {
        schema_version: u64,
    }
    // Told apart first: a report of another version would otherwise be called malformed for some missing field.
    let Version { schema_version } = serde_json::from_slice(bytes)?;
    if schema_version != u64::from(SCHEMA_VERSION) {
        return Err(ReadError::Version(schema_version));
    }
    Ok(serde_json::from_slice(bytes)?)
}
