//! The choice for one call: the program's own word, then the operation's variable, then the first rule that matches, in
//! mode `learn` then the first of those that were learned and edited, then the user's tables, then the default table.
//!
//! In mode `best`, the table is the one that has the native library among its rows; where ranks share memory, calls that
//! were measured so go by the tables of mode `replace`. A call of which none of these speaks stays native, unless the cost
//! model predicts a clear gain over what that library is known to do.
//!
//! What is asked for but may not be used (its needs are not met) gives way to the default table, and the reason says
//! so. If nothing in the default table may be used either, the call is the MPI library's.

use super::configuration::Configuration;
use super::predicted::Predicted;
use super::settings::Mode;
use super::situation::Situation;
use super::wanted::Wanted;
use super::{Rules, defaults, predicted, variables};
use crate::algorithm::{Algorithm, Call, Choice, Operation, Unmet};
use std::fmt::{Display, Formatter};
use std::sync::Arc;

/// Who carries the call out, and why.
#[derive(Clone, Debug, PartialEq)]
pub enum Decided<'a> {
    /// One of our algorithms; its needs are met.
    Ours {
        /// The algorithm and its parameters.
        choice: &'a Choice,
        /// Why.
        by: Reason,
    },
    /// The MPI library.
    Native {
        /// Why.
        by: Reason,
    },
}

/// Why a call got what it got; `Display` gives the words for reports.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// Who decided.
    pub by: By,
    /// What should have been used first, but could not be.
    pub refused: Option<Refused>,
}

/// Who decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum By {
    /// `COLLIE_MODE=native`.
    Mode,
    /// The program itself, through `collie.h`.
    Program,
    /// The variable of this operation.
    Variable(Operation),
    /// A rule of the user's file.
    Rule {
        /// The file as the user wrote it.
        file: Arc<str>,
        /// From 1.
        line: u32,
    },
    /// A row of the user's tables.
    Table {
        /// The file as the user wrote it.
        file: Arc<str>,
        /// From 1.
        line: u32,
    },
    /// A row of a default table.
    Default {
        /// The table's name.
        table: &'static str,
        /// From 1.
        line: u32,
    },
    /// A row of a table of mode `best`.
    Best {
        /// The table's name.
        table: &'static str,
        /// From 1.
        line: u32,
    },
    /// Mode `best`, whose tables hold no measurement of such calls, but the cost model predicts that this row of a
    /// default table is clearly faster than the MPI library.
    Predicted {
        /// The table's name.
        table: &'static str,
        /// From 1.
        line: u32,
    },
    /// Mode `best`, whose tables hold no measurement of such calls.
    Unmeasured,
    /// Nobody: no algorithm that was asked for, and none of the default table, may be used.
    Nobody,
}

/// An algorithm that was asked for and may not be used.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// The algorithm.
    pub algorithm: &'static Algorithm,
    /// Who asked for it.
    pub by: By,
    /// Its need.
    pub unmet: Unmet,
}

impl By {
    /// Whether this is a table's word, or that of nobody: then mode `learn` may find a faster one.
    pub const fn is_default(&self) -> bool {
        match self {
            Self::Table { .. } | Self::Default { .. } | Self::Best { .. } => true,
            Self::Predicted { .. } | Self::Unmeasured | Self::Nobody => true,
            Self::Mode | Self::Program | Self::Variable(_) | Self::Rule { .. } => false,
        }
    }
}

impl Display for By {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Mode => write!(f, "{}=native", variables::MODE),
            Self::Program => f.write_str("program"),
            Self::Variable(operation) => f.write_str(variables::of(*operation)),
            Self::Rule { file, line } => write!(f, "{file}:{line}"),
            Self::Table { file, line } => write!(f, "table {file}:{line}"),
            Self::Default { table, line } => write!(f, "default {table}:{line}"),
            Self::Best { table, line } => write!(f, "best {table}:{line}"),
            Self::Predicted { table, line } => write!(f, "best: predicted {table}:{line}"),
            Self::Unmeasured => f.write_str("best: not measured"),
            Self::Nobody => f.write_str("fallback: no algorithm may be used"),
        }
    }
}

impl Display for Refused {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {} {}", self.algorithm.name, self.by, self.unmet)
    }
}

impl Display for Reason {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.by.fmt(f)?;
        self.refused.as_ref().map_or(Ok(()), |refused| write!(f, " ({refused})"))
    }
}

/// Who carries out `call` in `situation`. Equal arguments on all ranks give equal answers; nothing is allocated.
pub fn decide<'a>(configuration: &'a Configuration, situation: &Situation, call: &Call) -> Decided<'a> {
    decide_with(None, configuration, situation, call)
}

/// As [`decide`], but what the program itself asks for (`collie.h`) is heard before variables and rules. Its needs
/// count like any other's.
pub fn decide_with<'a>(
    program: Option<&'a Wanted>,
    configuration: &'a Configuration,
    situation: &Situation,
    call: &Call,
) -> Decided<'a> {
    let mut refused = None;
    for candidate in Candidates::of(program, configuration, situation, call) {
        let Candidate { by, wanted } = candidate;
        match wanted {
            Wanted::Auto => {}
            Wanted::Native => return Decided::Native { by: Reason { by, refused: asked_for(refused) } },
            Wanted::Algorithm(choice) => match choice.accepts(call, situation.ranks) {
                Ok(()) => {
                    return Decided::Ours { choice, by: Reason { by, refused: asked_for(refused) } };
                }
                Err(unmet) => {
                    refused.get_or_insert(Refused { algorithm: choice.algorithm, by, unmet });
                }
            },
        }
    }
    if !matches!(configuration.mode, Mode::Best | Mode::Learn) {
        return Decided::Native { by: Reason { by: By::Nobody, refused } };
    }
    let refused = asked_for(refused);
    match predicted::clearly_faster(configuration, situation, call) {
        Some(Predicted { choice, table, line }) => {
            Decided::Ours { choice, by: Reason { by: By::Predicted { table, line }, refused } }
        }
        None => Decided::Native { by: Reason { by: By::Unmeasured, refused } },
    }
}

/// What the user asked for: a row of a table that gives way to the next one is as meant, and not told.
fn asked_for(refused: Option<Refused>) -> Option<Refused> {
    refused.filter(|refused| !refused.by.is_default())
}

/// Something that speaks about a call, in the order in which it is heard.
#[derive(Clone, Debug)]
pub struct Candidate<'a> {
    /// Who speaks.
    pub by: By,
    /// What it asks for.
    pub wanted: &'a Wanted,
}

/// Whatever speaks about a call: the mode, or the program, or the variable, or else the first matching rule; then every
/// matching row of the user's tables; then, where ranks share memory, every matching row of the table for that; then
/// every matching row of the default table, or in the modes `best` and `learn` of its table.
pub struct Candidates<'a, 'b> {
    asked: Option<Candidate<'a>>,
    file: &'a Arc<str>,
    own: std::slice::Iter<'a, super::Rule>,
    kept: Option<Candidate<'static>>,
    table: &'static str,
    best: bool,
    rows: std::slice::Iter<'static, super::Rule>,
    shared: std::slice::Iter<'static, super::Rule>,
    situation: &'b Situation,
    call: &'b Call<'b>,
}

impl<'a, 'b> Candidates<'a, 'b> {
    /// Those of `call`.
    pub fn of(
        program: Option<&'a Wanted>,
        configuration: &'a Configuration,
        situation: &'b Situation,
        call: &'b Call<'b>,
    ) -> Self {
        // What is not learned goes by measurements as well.
        let best = matches!(configuration.mode, Mode::Best | Mode::Learn);
        let kept = if best { measured_in_shared_memory(situation, call) } else { None };
        let best = best && kept.as_ref().is_none_or(|row| *row.wanted != Wanted::Auto);
        let (table, rules) = defaults::of(situation, best);
        let rows = rules.of(call.operation).iter();
        let own = configuration.tables.of(call.operation).iter();
        let asked = asked(program, configuration, situation, call);
        let shares_memory = call.shared.is_some() && !best;
        let of_shared = defaults::of_shared_memory(call.nodes.is_empty()).1;
        let shared = if shares_memory { of_shared.of(call.operation).iter() } else { [].iter() };
        Self { asked, file: &configuration.tables.path, own, kept, table, best, rows, shared, situation, call }
    }
}

/// What mode `best` has of a call whose ranks share memory, if such calls were measured.
fn measured_in_shared_memory(situation: &Situation, call: &Call) -> Option<Candidate<'static>> {
    call.shared.as_ref().filter(|_| call.nodes.is_empty())?;
    let (table, rules) = defaults::best_of_shared_memory();
    let row = rules.first(situation, call)?;
    Some(Candidate { by: By::Best { table, line: row.line }, wanted: &row.wanted })
}

fn asked<'a>(
    program: Option<&'a Wanted>,
    configuration: &'a Configuration,
    situation: &Situation,
    call: &Call,
) -> Option<Candidate<'a>> {
    if configuration.mode == Mode::Native {
        return Some(Candidate { by: By::Mode, wanted: &Wanted::Native });
    }
    if let Some(wanted) = program.filter(|wanted| **wanted != Wanted::Auto) {
        return Some(Candidate { by: By::Program, wanted });
    }
    let forced = &configuration.forced[call.operation as usize];
    if *forced != Wanted::Auto {
        return Some(Candidate { by: By::Variable(call.operation), wanted: forced });
    }
    // Rules that were learned are rules once somebody has edited them.
    let learned = configuration.learn.as_ref().filter(|_| configuration.mode == Mode::Learn);
    let files = [Some(&configuration.rules), learned.map(|file| &file.edited)];
    let of = |rules: &'a Rules| Some((rules.first(situation, call)?, Arc::clone(&rules.path)));
    let (rule, file) = files.into_iter().flatten().find_map(of)?;
    Some(Candidate { by: By::Rule { file, line: rule.line }, wanted: &rule.wanted })
}

impl<'a> Iterator for Candidates<'a, '_> {
    type Item = Candidate<'a>;

    fn next(&mut self) -> Option<Candidate<'a>> {
        if let Some(asked) = self.asked.take() {
            return Some(asked);
        }
        let (situation, call) = (self.situation, self.call);
        if let Some(row) = self.own.find(|row| row.matches(situation, call)) {
            let by = By::Table { file: Arc::clone(self.file), line: row.line };
            return Some(Candidate { by, wanted: &row.wanted });
        }
        if let Some(kept) = self.kept.take() {
            return Some(kept);
        }
        if let Some(row) = self.shared.find(|row| row.matches(situation, call)) {
            let by = By::Default { table: defaults::of_shared_memory(call.nodes.is_empty()).0, line: row.line };
            return Some(Candidate { by, wanted: &row.wanted });
        }
        let row = self.rows.find(|row| row.matches(situation, call))?;
        let (table, line) = (self.table, row.line);
        let by = if self.best { By::Best { table, line } } else { By::Default { table, line } };
        Some(Candidate { by, wanted: &row.wanted })
    }
}
