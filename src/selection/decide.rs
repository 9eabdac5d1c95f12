//! The choice for one call: the program's own word, then the operation's variable, then the first rule that matches,
//! then the default table.
//!
//! What is asked for but may not be used (its needs are not met) gives way to the default table, and the reason says
//! so. If nothing in the default table may be used either, the call is the MPI library's.

use super::configuration::Configuration;
use super::settings::Mode;
use super::situation::Situation;
use super::wanted::Wanted;
use super::{defaults, variables};
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
    /// A row of a default table.
    Default {
        /// The table's name.
        table: &'static str,
        /// From 1.
        line: u32,
    },
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

impl Reason {
    /// Whether the call got something else than what was asked for.
    pub const fn is_fallback(&self) -> bool {
        self.refused.is_some()
    }
}

impl Display for By {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Mode => write!(f, "{}=native", variables::MODE),
            Self::Program => f.write_str("program"),
            Self::Variable(operation) => f.write_str(variables::of(*operation)),
            Self::Rule { file, line } => write!(f, "{file}:{line}"),
            Self::Default { table, line } => write!(f, "default {table}:{line}"),
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

/// As [`decide`], but what the program itself asks for (`collie.h`) is heard before variables and rules. Its needs count
/// like any other's.
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
            Wanted::Native => return Decided::Native { by: Reason { by, refused } },
            Wanted::Algorithm(choice) => match choice.accepts(call, situation.ranks) {
                Ok(()) => {
                    // A default row that gives way to the next one is as meant; only what the user asked for is told.
                    let refused = refused.filter(|refused: &Refused| !matches!(refused.by, By::Default { .. }));
                    return Decided::Ours { choice, by: Reason { by, refused } };
                }
                Err(unmet) => {
                    refused.get_or_insert(Refused { algorithm: choice.algorithm, by, unmet });
                }
            },
        }
    }
    Decided::Native { by: Reason { by: By::Nobody, refused } }
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
/// matching row of the default table.
pub struct Candidates<'a, 'b> {
    asked: Option<Candidate<'a>>,
    table: &'static str,
    rows: std::slice::Iter<'static, super::Rule>,
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
        let (table, rules) = defaults::of(situation);
        let rows = rules.of(call.operation).iter();
        let asked = asked(program, configuration, situation, call);
        Self { asked, table, rows, situation, call }
    }
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
    let rule = configuration.rules.first(situation, call)?;
    let file = Arc::clone(&configuration.rules.path);
    Some(Candidate { by: By::Rule { file, line: rule.line }, wanted: &rule.wanted })
}

impl<'a> Iterator for Candidates<'a, '_> {
    type Item = Candidate<'a>;

    fn next(&mut self) -> Option<Candidate<'a>> {
        if let Some(asked) = self.asked.take() {
            return Some(asked);
        }
        let (situation, call) = (self.situation, self.call);
        let row = self.rows.find(|row| row.matches(situation, call))?;
        Some(Candidate { by: By::Default { table: self.table, line: row.line }, wanted: &row.wanted })
    }
}
