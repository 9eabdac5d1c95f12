//! How much of a report a reader wants to see, and in which table.

/// Columns of a line where nobody says otherwise.
pub const WIDTH: usize = 100;

/// Fewest columns that a table is laid out for.
const NARROWEST: usize = 60;

/// How the summary for people is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Columns of a line.
    pub width: usize,
    /// How much there is of each table.
    pub extent: Extent,
    /// The only table that is wanted; all of them if none is named.
    pub table: Option<TableOf>,
}

/// How much there is of each table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// What a screen holds: some 20 lines in all, totals as lines in place of tables.
    Screen,
    /// So many rows of each table, those that matter most.
    Most(usize),
    /// Everything.
    All,
}

/// What a table has a row for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableOf {
    /// Function, communicator, size class, algorithm, what decided it.
    Rows,
    /// A function.
    Functions,
    /// A communicator.
    Communicators,
    /// A function beside collectives: it deals with messages, windows or files.
    Messages,
    /// A region that the program names.
    Regions,
    /// A place that the program calls collectives from.
    Sites,
    /// A rank.
    Ranks,
    /// A rank that others waited for on a communicator.
    Late,
    /// Native against ours for a function, communicator and size class.
    Verdicts,
}

impl TableOf {
    /// All of them, with the names that users write.
    pub const ALL: [(&'static str, Self); 9] = [
        ("row", Self::Rows),
        ("function", Self::Functions),
        ("communicator", Self::Communicators),
        ("message", Self::Messages),
        ("region", Self::Regions),
        ("site", Self::Sites),
        ("rank", Self::Ranks),
        ("late", Self::Late),
        ("verdict", Self::Verdicts),
    ];

    /// The one of that name.
    ///
    /// # Errors
    /// What is accepted.
    pub fn parse(name: &str) -> Result<Self, String> {
        let known = Self::ALL.iter().find(|(known, _)| *known == name);
        known.map(|(_, table)| *table).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|(name, _)| *name).collect();
            format!("accepted: {}", names.join(", "))
        })
    }
}

impl Layout {
    /// A screen of the usual width.
    pub const SCREEN: Self = Self { width: WIDTH, extent: Extent::Screen, table: None };

    /// What a file holds: nobody has to read it all at once.
    pub const FILE: Self = Self { width: WIDTH, extent: Extent::Most(100), table: None };

    /// The same for lines of so many columns, as far as tables can be laid out in them.
    #[must_use]
    pub fn within(self, width: usize) -> Self {
        Self { width: width.max(NARROWEST), ..self }
    }

    /// Whether that table is wanted.
    pub fn shows(&self, table: TableOf) -> bool {
        self.table.is_none_or(|wanted| wanted == table)
    }

    /// Rows of a table of so many: one more than asked for where the remark on what is missing would take its line.
    pub fn rows(&self, all: usize) -> usize {
        match self.extent {
            Extent::Screen => all.min(20),
            Extent::Most(most) if all == most + 1 => all,
            Extent::Most(most) => all.min(most),
            Extent::All => all,
        }
    }

    /// The same of a table for programs, where no remark takes a line: no more than asked for.
    pub fn rows_for_programs(&self, all: usize) -> usize {
        match self.extent {
            Extent::Most(most) => all.min(most),
            Extent::Screen | Extent::All => self.rows(all),
        }
    }
}
