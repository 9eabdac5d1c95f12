//! From environment variables to a [`Configuration`], in two steps: rank 0 reads its variables and rules file into a
//! [`RawConfiguration`] and hands it to the others, so that a variable that is set on one node only cannot make ranks
//! decide differently; then every rank parses the same text.

use super::error::{ConfigurationError, ConfigurationErrors, suggestion};
use super::file_names;
use super::rules::{self, Rules};
use super::settings::{
    Device, Mode, OnDifference, Piece, ReportFormat, ReportTarget, SELF_TEST, Sync, Transport, VerifyResult,
};
use super::variables::{self, PREFIX, VARIABLES};
use super::wanted::Wanted;
use crate::algorithm::{Operation, format_bytes, parse_bytes};
use crate::schedule::limits::ProtocolLimits;
use crate::schedule::simulate::Network;
use once_cell::sync::Lazy;
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What rank 0 hands to the other ranks: its variables as set and the text of its rules file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RawConfiguration {
    /// Name and value of every variable that begins with `COLLIE_`, sorted by name.
    pub variables: Vec<(String, String)>,
    /// The file that `COLLIE_RULES` names.
    pub rules: Option<RulesFile>,
    /// The file that `COLLIE_NETWORK` names, unless that is a preset.
    pub network: Option<RulesFile>,
    /// The file that `COLLIE_LEARN` names; of one that is not there yet an empty text.
    pub learned: Option<RulesFile>,
    /// Where that was read: the machine and the MPI library.
    pub place: [String; 2],
}

/// The file that `COLLIE_LEARN` names, and where it was read: what was learned elsewhere does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearnFile {
    /// As the user wrote it.
    pub path: String,
    /// What was in it.
    pub text: String,
    /// The processor, and how many cores.
    pub machine: String,
    /// The MPI library's own version text.
    pub mpi: String,
}

/// A rules file, or a network's, as read.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RulesFile {
    /// As the user wrote it.
    pub path: String,
    /// Its text, or why it could not be read.
    pub text: Result<String, String>,
}

impl RulesFile {
    /// Reads the file.
    pub fn read(path: &str) -> Self {
        Self { path: path.to_owned(), text: std::fs::read_to_string(path).map_err(|error| error.to_string()) }
    }

    /// Reads the file if there is one.
    fn read_if_there(path: &str) -> Self {
        match std::fs::read_to_string(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Self { path: path.to_owned(), text: Ok(String::new()) }
            }
            text => Self { path: path.to_owned(), text: text.map_err(|error| error.to_string()) },
        }
    }
}

/// The variables and the rules file, understood.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// `COLLIE_MODE`.
    pub mode: Mode,
    /// The variable of each operation, at `operation as usize`.
    pub forced: [Wanted; Operation::ALL.len()],
    /// The rules file.
    pub rules: Rules,
    /// `COLLIE_LEARN`: what earlier runs have learned, and where this one writes what it does.
    pub learn: Option<Arc<LearnFile>>,
    /// `COLLIE_REPRODUCIBLE`: whether results must not depend on what was measured.
    pub reproducible: bool,
    /// `COLLIE_NETWORK`.
    pub network: Option<Arc<Network>>,
    /// `COLLIE_TRANSPORT`.
    pub transport: Transport,
    /// `COLLIE_PIECE`.
    pub piece: Piece,
    /// `COLLIE_LIMITS`; `None` for what is measured or known.
    pub limits: Option<ProtocolLimits>,
    /// `COLLIE_REPORT`; empty for `off`.
    pub report: Vec<ReportTarget>,
    /// `COLLIE_TRACE`: where rank 0 writes the time line of all calls; with placeholders.
    pub trace: Option<PathBuf>,
    /// `COLLIE_MEMORY`: bytes that a rank holds at most of what it records.
    pub memory: usize,
    /// `COLLIE_SPILL`: bytes of the trace that a rank may put into a file.
    pub spill: u64,
    /// `COLLIE_ON_DIFFERENCE`.
    pub on_difference: OnDifference,
    /// `COLLIE_VERIFY_RESULT`.
    pub verify_result: VerifyResult,
    /// `COLLIE_SYNC`.
    pub sync: Sync,
    /// `COLLIE_WATCHDOG`: after how many seconds a call is told to be stuck.
    pub watchdog_seconds: Option<u32>,
    /// `COLLIE_OBSERVE`: whether point-to-point calls are counted too.
    pub observe_messages: bool,
    /// `COLLIE_SITES`: whether it is told where calls come from.
    pub sites: bool,
    /// `COLLIE_CHECKPOINT`: after how many seconds each rank writes what it knows.
    pub checkpoint_seconds: Option<u32>,
    /// `COLLIE_LOG`, a filter that env_logger understands.
    pub log: String,
    /// `COLLIE_AFTER`: the first call on a communicator that may be replaced.
    pub after: Option<u32>,
    /// `COLLIE_DEVICE`.
    pub device: Device,
    /// `COLLIE_MAX_COMMUNICATORS`: how many private communicators may be held at once; what is right depends on the MPI.
    pub max_communicators: Option<usize>,
}

impl Default for Configuration {
    /// Nothing set.
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            forced: Default::default(),
            rules: Rules::default(),
            learn: None,
            reproducible: false,
            network: None,
            transport: Transport::default(),
            piece: Piece::default(),
            limits: None,
            report: vec![ReportTarget::Stderr],
            trace: None,
            memory: 64 << 20,
            spill: 1 << 30,
            on_difference: OnDifference::default(),
            verify_result: VerifyResult::default(),
            sync: Sync::default(),
            watchdog_seconds: None,
            observe_messages: true,
            sites: false,
            checkpoint_seconds: None,
            log: "warn".to_owned(),
            after: None,
            device: Device::default(),
            max_communicators: None,
        }
    }
}

impl RawConfiguration {
    /// Takes this process's variables, and reads the rules file if one is named. Nothing is judged here: whatever is
    /// wrong, an unreadable file included, comes out of [`RawConfiguration::parse`], all at once.
    pub fn from_environment() -> Self {
        let text = |value: std::ffi::OsString| value.to_string_lossy().into_owned();
        let variables = std::env::vars_os().map(|(name, value)| (text(name), text(value)));
        Self::new(variables.filter(|(name, _)| name.starts_with(PREFIX)).collect())
    }

    /// Of these variables; reads the files that they name.
    pub fn new(mut variables: Vec<(String, String)>) -> Self {
        variables.sort();
        let set = |variable| variables.iter().find(|(name, value)| name == variable && !value.is_empty());
        let rules = set(variables::RULES).map(|(_, path)| RulesFile::read(path));
        let network = set(variables::NETWORK).filter(|(_, name)| Network::preset(name).is_none());
        let network = network.map(|(_, path)| RulesFile::read(path));
        let learned = set(variables::LEARN).map(|(_, path)| RulesFile::read_if_there(path));
        Self { variables, rules, network, learned, place: Default::default() }
    }

    /// What the variables and the rules file say. A variable set to nothing counts as not set.
    ///
    /// # Errors
    /// Everything that is wrong.
    pub fn parse(&self) -> Result<Configuration, ConfigurationErrors> {
        let mut configuration = Configuration::default();
        let mut errors = Vec::new();
        for (name, value) in &self.variables {
            if value.trim().is_empty() && variables::find(name).is_some() {
                continue;
            }
            if let Err(message) = configuration.set(name, value) {
                errors.push(ConfigurationError::variable(name, message));
            }
        }
        match &self.rules {
            None => {}
            Some(RulesFile { path, text: Ok(text) }) => match rules::parse(path, text) {
                Ok(rules) => configuration.rules = rules,
                Err(wrong) => errors.extend(wrong.0),
            },
            Some(RulesFile { path, text: Err(why) }) => {
                errors.push(ConfigurationError::variable(variables::RULES, format!("cannot read '{path}': {why}")));
            }
        }
        match &self.learned {
            None => {}
            Some(RulesFile { path, text: Ok(text) }) => {
                // Whatever is in it has to be rules.
                if let Err(wrong) = rules::parse(path, text) {
                    errors.extend(wrong.0);
                }
                let [machine, mpi] = self.place.clone();
                let file = LearnFile { path: path.clone(), text: text.clone(), machine, mpi };
                configuration.learn = Some(Arc::new(file));
            }
            Some(RulesFile { path, text: Err(why) }) => {
                errors.push(ConfigurationError::variable(variables::LEARN, format!("cannot read '{path}': {why}")));
            }
        }
        if let Some(RulesFile { path, text }) = &self.network {
            let network = match text {
                Ok(text) => Network::parse(path, text).map_err(|error| error.to_string()),
                Err(why) => Err(format!("'{path}' is neither a preset ({}) nor readable: {why}", Network::names())),
            };
            match network {
                Ok(network) => configuration.network = Some(Arc::new(network)),
                Err(message) => errors.push(ConfigurationError::variable(variables::NETWORK, message)),
            }
        }
        if errors.is_empty() { Ok(configuration) } else { Err(ConfigurationErrors(errors)) }
    }
}

impl Configuration {
    /// The first call on a communicator that is replaced unless somebody says otherwise. Programs make communicators for one or
    /// two calls, or for thousands.
    pub const REPLACED_FROM: u32 = 4;

    /// The same as set: verification is to miss no call, and arrivals (`COLLIE_SYNC`) rest on the agreement from the start.
    pub fn replaced_from(&self) -> u32 {
        match self.after {
            _ if self.sync != Sync::Off => 1,
            Some(first) => first,
            None if self.mode == Mode::Verify => 1,
            None => Self::REPLACED_FROM,
        }
    }

    /// The network that is set, or else the one that stands for communicators within a node, or across nodes.
    pub fn network(&self, one_node: bool) -> Arc<Network> {
        static PRESETS: Lazy<[Arc<Network>; 2]> = Lazy::new(|| {
            ["ethernet", "shared_memory"].map(|name| Arc::new(Network::preset(name).expect("it is a preset")))
        });
        self.network.as_ref().map_or_else(|| Arc::clone(&PRESETS[usize::from(one_node)]), Arc::clone)
    }

    /// α/β of that network, bytes.
    pub fn half_bandwidth(&self, one_node: bool) -> usize {
        self.network(one_node).half_bandwidth(one_node)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        if variables::find(name).is_none() {
            return Err(unknown_variable(name));
        }
        if value.contains(char::REPLACEMENT_CHARACTER) {
            return Err(format!("'{value}' is not UTF-8"));
        }
        let value = value.trim();
        match name {
            variables::MODE => {
                let words = Mode::ALL.map(|mode| (mode.name(), mode));
                self.mode = if value == SELF_TEST { Mode::CompareSelf } else { word(value, &words)? };
            }
            variables::ON_DIFFERENCE => {
                let words = [("report", OnDifference::Report), ("abort", OnDifference::Abort)];
                self.on_difference = word(value, &words)?;
            }
            variables::VERIFY_RESULT => {
                let words = [("native", VerifyResult::Native), ("ours", VerifyResult::Ours)];
                self.verify_result = word(value, &words)?;
            }
            variables::RULES | variables::LEARN => {}
            variables::REPRODUCIBLE => self.reproducible = word(value, &[("on", true), ("off", false)])?,
            // That of a file is read further on.
            variables::NETWORK => self.network = Network::preset(value).map(Arc::new),
            variables::TRANSPORT => {
                self.transport = word(value, &[("messages", Transport::Messages), ("shared", Transport::Shared)])?;
            }
            variables::PIECE => self.piece = Piece::parse(value)?,
            variables::LIMITS => self.limits = limits(value)?,
            variables::REPORT => self.report = report(value)?,
            variables::TRACE => {
                file_names::check(value)?;
                self.trace = Some(PathBuf::from(value));
            }
            variables::SYNC => self.sync = word(value, &Sync::ALL.map(|sync| (sync.name(), sync)))?,
            variables::MEMORY => self.memory = size(value, 1 << 20)?,
            variables::SPILL => self.spill = size(value, 0)? as u64,
            variables::WATCHDOG => {
                let seconds = whole_number(value, 1)?;
                self.watchdog_seconds = Some(u32::try_from(seconds).unwrap_or(u32::MAX));
            }
            variables::OBSERVE => self.observe_messages = word(value, &[("all", true), ("collectives", false)])?,
            variables::SITES => self.sites = word(value, &[("on", true), ("off", false)])?,
            variables::CHECKPOINT => {
                let seconds = whole_number(value, 1)?;
                self.checkpoint_seconds = Some(u32::try_from(seconds).unwrap_or(u32::MAX));
            }
            variables::LOG => self.log = log_filter(value)?,
            variables::AFTER => {
                let first = whole_number(value, 1)?;
                self.after = Some(u32::try_from(first).unwrap_or(u32::MAX));
            }
            variables::DEVICE => {
                let words =
                    [("auto", Device::Auto), ("host", Device::Host), ("native", Device::Native), ("ask", Device::Ask)];
                self.device = word(value, &words)?;
            }
            variables::MAX_COMMUNICATORS => self.max_communicators = Some(whole_number(value, 1)?),
            _ => {
                let operation = Operation::ALL.into_iter().find(|operation| variables::of(*operation) == name);
                let operation = operation.expect("what is left of the table belongs to an operation");
                self.forced[operation as usize] = Wanted::parse(operation, value)?;
            }
        }
        Ok(())
    }
}

fn unknown_variable(name: &str) -> String {
    let names = || VARIABLES.iter().map(|row| row.name);
    let accepted = names().collect::<Vec<_>>().join(", ");
    format!("unknown variable; accepted: {accepted}{}", suggestion(name, names()))
}

fn word<T: Copy>(found: &str, words: &[(&str, T)]) -> Result<T, String> {
    if let Some((_, value)) = words.iter().find(|(word, _)| *word == found) {
        return Ok(*value);
    }
    let accepted: Vec<_> = words.iter().map(|(word, _)| *word).collect();
    let list = accepted.join(", ");
    Err(format!("'{found}' is not accepted; accepted: {list}{}", suggestion(found, accepted)))
}

fn limits(text: &str) -> Result<Option<ProtocolLimits>, String> {
    match text {
        "auto" => Ok(None),
        "off" => Ok(Some(ProtocolLimits::NONE)),
        list => {
            let bytes: Option<Vec<usize>> = list.split(',').map(|bytes| parse_bytes(bytes.trim())).collect();
            let limits = bytes.and_then(ProtocolLimits::of);
            limits.map(Some).ok_or_else(|| {
                format!("'{list}' is not accepted; accepted: auto, off, or one or two numbers of bytes, ascending, such as 256,4040")
            })
        }
    }
}

fn whole_number(found: &str, least: usize) -> Result<usize, String> {
    let refuse = || format!("'{found}' is not accepted; accepted: a whole number from {least} on");
    found.parse().ok().filter(|number| *number >= least).ok_or_else(refuse)
}

fn size(found: &str, least: usize) -> Result<usize, String> {
    let refuse = || format!("'{found}' is not accepted; accepted: bytes from {} on", format_bytes(least));
    parse_bytes(found).filter(|bytes| *bytes >= least).ok_or_else(refuse)
}

fn report(list: &str) -> Result<Vec<ReportTarget>, String> {
    if list == "off" {
        return Ok(Vec::new());
    }
    let mut targets = Vec::new();
    for item in list.split(',').map(str::trim) {
        let target = report_target(item)?;
        if targets.contains(&target) {
            return Err(format!("'{item}' is given twice"));
        }
        targets.push(target);
    }
    Ok(targets)
}

fn report_target(item: &str) -> Result<ReportTarget, String> {
    match item {
        "stderr" => return Ok(ReportTarget::Stderr),
        "off" => return Err("off stands alone, not in a list".to_owned()),
        _ => {}
    }
    let ending = Path::new(item).extension().and_then(|ending| ending.to_str());
    let format = ending.and_then(ReportFormat::from_ending).ok_or_else(|| {
        let suggestion = suggestion(item, ["off", "stderr"]);
        format!(
            "'{item}' is not accepted; accepted: off, stderr, a file name that ends in .txt, .json, .csv or .html{suggestion}"
        )
    })?;
    file_names::check(item)?;
    Ok(ReportTarget::File { path: PathBuf::from(item), format })
}

const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// A misspelt level would be a module's name to env_logger, and switch everything off.
fn log_filter(text: &str) -> Result<String, String> {
    let directives = text.split_once('/').map_or(text, |(directives, _)| directives);
    for directive in directives.split(',').map(str::trim) {
        let (module, level) = match directive.split_once('=') {
            Some((module, level)) => (Some(module), Some(level)),
            None if directive == "collie" || directive.starts_with("collie::") => (Some(directive), None),
            None => (None, Some(directive)),
        };
        if let Some(module) = module.filter(|module| *module != "collie" && !module.starts_with("collie::")) {
            return Err(format!("'{module}' is no module of Collie; accepted: collie, collie::..."));
        }
        if let Some(level) = level.filter(|level| !LEVELS.contains(&level.to_ascii_lowercase().as_str())) {
            let nearest = suggestion(level, LEVELS);
            return Err(format!("'{level}' is no level; accepted: {}{nearest}", LEVELS.join(", ")));
        }
    }
    Ok(text.to_owned())
}
