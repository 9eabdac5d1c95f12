//! Names of communicators, a different one for each.

use crate::monitor::{CommunicatorRow, Summary};
use std::collections::HashMap;

/// What each communicator of the report is called, by its place.
#[derive(Clone, Debug)]
pub struct Names(Vec<String>);

impl Names {
    /// The names that the program gave, with the identity where several communicators have one, and where there is none
    /// the identity alone.
    pub fn of(summary: &Summary) -> Self {
        let mut with_name: HashMap<&str, usize> = HashMap::new();
        summary.communicators.iter().for_each(|row| *with_name.entry(row.short_title()).or_default() += 1);
        // The program may have given one of its own a name that looks like one of MPI's.
        let name = |row: &CommunicatorRow| match with_name[row.short_title()] {
            1 if row.is_predefined() || row.short_title() == row.title() => row.short_title().to_owned(),
            _ => with_identity(row),
        };
        Self(summary.communicators.iter().map(name).collect())
    }

    /// Of the communicator at that place.
    pub fn get(&self, place: usize) -> &str {
        &self.0[place]
    }
}

/// The name and, where it is another, the identity.
pub fn with_identity(row: &CommunicatorRow) -> String {
    match row.short_title() {
        title if title == row.identity || row.is_predefined() => title.to_owned(),
        title => format!("{title} ({})", row.identity),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn communicators_of_one_name_are_told_apart() {
        let row = |identity: &str, name: Option<&str>| CommunicatorRow {
            identity: identity.into(),
            name: name.map(Into::into),
            ..CommunicatorRow::default()
        };
        let communicators = vec![
            row("world", Some("MPI_COMM_WORLD")),
            row("world/1.0", Some("row")),
            row("world/1.4", Some("row")),
            row("world/2.0", Some("column")),
            row("world/3.0", None),
            CommunicatorRow { made_by: "Comm_dup".into(), ..row("world/4", Some("MPI_COMM_WORLD")) },
            CommunicatorRow { made_by: "Comm_dup".into(), ..row("world/5", Some("MPI_COMM_NODE")) },
        ];
        let names = Names::of(&Summary { communicators, ..Summary::default() });
        assert_eq!(
            names.0,
            ["WORLD", "row (world/1.0)", "row (world/1.4)", "column", "world/3.0", "WORLD (world/4)", "NODE (world/5)"]
        );
    }
}
