//! From environment variables to a [`Configuration`], in two steps: rank 0 reads its variables and rules file into a
//! [`RawConfiguration`] and hands it to the others, so that a variable that is set on one node only cannot make ranks
//! decide differently; then every rank parses the same text.

use super::error::{ConfigurationError, ConfigurationErrors, suggestion};
use super::file_names;
use super::learn_file::LearnFile;
use super::rules::{self, Condition, Rule, Rules};
use super::settings::{
    Device, Mode, Numa, OnDifference, Piece, ReportFormat, ReportTarget, SELF_TEST, Spawned, Sync, Transport,
    VerifyResult,
};
use super::values::{is_same_file, limits, log_filter, percent, report, seconds, size, whole_number, word};
use super::variables::{self, PREFIX, VARIABLES};
use super::wanted::Wanted;
use crate::algorithm::Operation;
use crate::reading;
use crate::schedule::limits::ProtocolLimits;
use crate::schedule::simulate::{Network, brief};
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
    /// The file that `COLLIE_TABLES` names.
    pub tables: Option<RulesFile>,
    /// The file that `COLLIE_NETWORK` names, unless that is a preset; or the network that was measured instead.
    pub network: Option<RulesFile>,
    /// The file that `COLLIE_LEARN` names; of one that is not there yet an empty text.
    pub learned: Option<RulesFile>,
    /// Where that was read: the machine and the MPI library.
    pub place: [String; 2],
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
        let text = reading::text(Path::new(path)).map_err(|error| error.to_string());
        Self { path: path.to_owned(), text }
    }

    /// Reads the file that a variable names, which may be relative to `folder`.
    fn read_below(folder: &Path, path: &str) -> Self {
        let text = read_again(&folder.join(path)).map_err(|error| error.to_string());
        Self { path: path.to_owned(), text }
    }

    /// The same, if there is one.
    fn read_if_there(folder: &Path, path: &str) -> Self {
        match read_again(&folder.join(path)) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Self { path: path.to_owned(), text: Ok(String::new()) }
            }
            text => Self { path: path.to_owned(), text: text.map_err(|error| error.to_string()) },
        }
    }
}

/// The text of a file that is read several times: by `collie run`, which checks it before anything is started, and then
/// by rank 0. Of a pipe the first would leave the second nothing, and some devices never end.
fn read_again(path: &Path) -> std::io::Result<String> {
    if !std::fs::metadata(path)?.is_file() {
        let message = "it is no regular file, and is to be read more than once; accepted: a regular file";
        return Err(std::io::Error::new(ErrorKind::InvalidInput, message));
    }
    reading::text(path)
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
    /// `COLLIE_TABLES`: heard before the default tables.
    pub tables: Rules,
    /// `COLLIE_LEARN`: what earlier runs have learned, and where this one writes what it does.
    pub learn: Option<Arc<LearnFile>>,
    /// `COLLIE_LEARN_BUDGET`: the part of the calls' time that trying may take, percent, if it is set.
    pub learn_budget: Option<u32>,
    /// `COLLIE_REPRODUCIBLE`: whether the order in which a reduction combines must not depend on what was measured.
    pub reproducible: bool,
    /// `COLLIE_NETWORK`; `None` for the presets, and where it was to be measured and was not.
    pub network: Option<Arc<Network>>,
    /// `COLLIE_NETWORK=measure`: whether it is to be measured in `MPI_Init`.
    pub measures_network: bool,
    /// `COLLIE_TRANSPORT`.
    pub transport: Transport,
    /// `COLLIE_NUMA`.
    pub numa: Numa,
    /// `COLLIE_PIECE`.
    pub piece: Piece,
    /// `COLLIE_LIMITS`; `None` for what the file of `COLLIE_NETWORK` says, or is measured or known.
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
    /// `COLLIE_SPAWNED`.
    pub spawned: Spawned,
    /// `COLLIE_MAX_COMMUNICATORS`: how many private communicators may be held at once; what is right depends on the
    /// MPI.
    pub max_communicators: Option<usize>,
}

impl Default for Configuration {
    /// Nothing set.
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            forced: Default::default(),
            rules: Rules::default(),
            tables: Rules::default(),
            learn: None,
            learn_budget: None,
            reproducible: false,
            network: None,
            measures_network: false,
            transport: Transport::default(),
            numa: Numa::default(),
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
            spawned: Spawned::default(),
            max_communicators: None,
        }
    }
}

impl RawConfiguration {
    /// Takes this process's variables, and reads the files that they name, relative to the current folder. Nothing is
    /// judged here: whatever is wrong, an unreadable file included, comes out of [`RawConfiguration::parse`], all at
    /// once.
    pub fn from_environment() -> Self {
        Self::from_environment_below(Path::new(""))
    }

    /// The same with names of files relative to `folder`.
    pub fn from_environment_below(folder: &Path) -> Self {
        let text = |value: std::ffi::OsString| value.to_string_lossy().into_owned();
        let variables = std::env::vars_os().map(|(name, value)| (text(name), text(value)));
        Self::below(folder, variables.filter(|(name, _)| name.starts_with(PREFIX)).collect())
    }

    /// Of these variables; reads the files that they name.
    pub fn new(variables: Vec<(String, String)>) -> Self {
        Self::below(Path::new(""), variables)
    }

    fn below(folder: &Path, mut variables: Vec<(String, String)>) -> Self {
        variables.retain(|(name, _)| !variables::is_of_module(name));
        variables.sort();
        let set = |variable| {
            let found = variables.iter().find(|(name, _)| name == variable);
            found.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
        };
        let rules = set(variables::RULES).map(|path| RulesFile::read_below(folder, path));
        let tables = set(variables::TABLES).map(|path| RulesFile::read_below(folder, path));
        let is_file = |name: &&str| *name != Network::MEASURE && Network::preset(name).is_none();
        let network = set(variables::NETWORK).filter(is_file).map(|path| RulesFile::read_below(folder, path));
        let learned = set(variables::LEARN).map(|path| RulesFile::read_if_there(folder, path));
        Self { variables, rules, tables, network, learned, place: Default::default() }
    }

    /// The same with the network that was measured, if that is what the variable wants: of equals, equals come out.
    pub fn with_measured(&self, network: &str) -> Option<Self> {
        let wanted = |(name, value): &(String, String)| name == variables::NETWORK && value.trim() == Network::MEASURE;
        let measured = RulesFile { path: Network::MEASURE.to_owned(), text: Ok(network.to_owned()) };
        self.variables.iter().any(wanted).then(|| Self { network: Some(measured), ..self.clone() })
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
        let files = [
            (variables::RULES, &self.rules, &mut configuration.rules),
            (variables::TABLES, &self.tables, &mut configuration.tables),
        ];
        for (variable, file, understood) in files {
            match file {
                None => {}
                Some(RulesFile { path, text: Ok(text) }) => match rules::parse(path, text) {
                    Ok(rules) => *understood = rules,
                    Err(wrong) => errors.extend(wrong.0),
                },
                Some(RulesFile { path, text: Err(why) }) => {
                    errors.push(ConfigurationError::variable(variable, format!("cannot read '{path}': {why}")));
                }
            }
        }
        match &self.learned {
            // Nobody else asks what is in it.
            _ if configuration.mode != Mode::Learn => {}
            None => {}
            Some(RulesFile { path, text: Ok(text) }) => match LearnFile::new(path, text, self.place.clone()) {
                Ok(file) => configuration.learn = Some(Arc::new(file)),
                Err(wrong) => errors.extend(wrong.0),
            },
            Some(RulesFile { path, text: Err(why) }) => {
                errors.push(ConfigurationError::variable(variables::LEARN, format!("cannot read '{path}': {why}")));
            }
        }
        if let Some(RulesFile { path, text }) = &self.network {
            let network = match text {
                Ok(text) => Network::parse(path, text).map_err(|error| error.to_string()),
                Err(why) => {
                    let (presets, measure) = (Network::names(), Network::MEASURE);
                    let nearest = suggestion(path, presets.split(", ").chain([measure]));
                    Err(format!(
                        "'{path}' is neither a preset ({presets}), nor {measure}, nor readable: {why}{nearest}"
                    ))
                }
            };
            match network {
                Ok(network) if configuration.measures_network => configuration.network = Some(Arc::new(network)),
                Ok(network) => configuration.take_limits(network),
                Err(message) => errors.push(ConfigurationError::variable(variables::NETWORK, message)),
            }
        }
        if configuration.measures_network && configuration.reproducible {
            let message = "with measure, algorithms and segments depend on times that differ from run to run, which \
                           COLLIE_REPRODUCIBLE=on rules out; accepted with it: a preset, or a file that collie fit wrote";
            errors.push(ConfigurationError::variable(variables::NETWORK, message));
        }
        if configuration.limits_vary() {
            errors.extend(by_measured_limits(&configuration));
        }
        errors.extend(self.given_twice(&configuration));
        if errors.is_empty() { Ok(configuration) } else { Err(ConfigurationErrors(errors)) }
    }
}

/// Refuses as the name of a file what other variables take for something else.
fn no_word(value: &str) -> Result<(), String> {
    match ["off", "on", "none", "stderr"].contains(&value) {
        true => Err(format!(
            "'{value}' is not accepted; accepted: the name of a file (./{value} for one of that name); unset for none"
        )),
        false => Ok(()),
    }
}

/// Rules of reductions that hold by which messages travel in pieces, which is measured in each run.
fn by_measured_limits(configuration: &Configuration) -> impl Iterator<Item = ConfigurationError> {
    let learned = configuration.learn.as_ref().map(|file| (variables::LEARN, &file.edited));
    let files = [(variables::RULES, &configuration.rules), (variables::TABLES, &configuration.tables)];
    let files = files.into_iter().chain(learned);
    let rests = |rule: &&Rule| rule.operation.reduces() && rule.conditions.contains(&Condition::InPieces);
    let first = files.filter_map(move |(variable, rules)| Some((variable, rules, rules.iter().find(rests)?)));
    let told = first.map(|(variable, rules, rule)| {
        let message = format!(
            "{}:{}: which messages travel in pieces is measured in each run, which COLLIE_REPRODUCIBLE=on rules out; \
             accepted with it: the condition {} where {} or a file of {} says it",
            rules.path,
            rule.line,
            Condition::InPieces,
            variables::LIMITS,
            variables::NETWORK
        );
        ConfigurationError::variable(variable, message)
    });
    told.collect::<Vec<_>>().into_iter()
}

impl RawConfiguration {
    /// Files that two variables name: of what both write there only the last would be left.
    fn given_twice(&self, configuration: &Configuration) -> Vec<ConfigurationError> {
        let reports = configuration.report.iter().filter_map(|target| match target {
            ReportTarget::File { path, .. } => Some((variables::REPORT, path.as_path())),
            ReportTarget::Stderr => None,
        });
        let trace = configuration.trace.iter().map(|path| (variables::TRACE, path.as_path()));
        let learned = self.learned.iter().filter(|_| configuration.mode == Mode::Learn);
        let learned = learned.map(|file| (variables::LEARN, Path::new(file.path.trim())));
        let all: Vec<_> = reports.chain(trace).chain(learned).collect();
        let taken = |(place, (variable, path)): (usize, &(&str, &Path))| {
            let before = &all[..place];
            let (other, _) = before.iter().find(|(other, known)| other != variable && is_same_file(known, path))?;
            let message = format!("'{}' is already the file of {other}; accepted: another file", path.display());
            Some(ConfigurationError::variable(variable, message))
        };
        all.iter().enumerate().filter_map(taken).collect()
    }
}

impl Configuration {
    /// Takes a network that was measured, with the length of its pieces where no variable sets that.
    fn take_limits(&mut self, network: Network) {
        self.piece = match (self.piece, network.fragment) {
            (Piece::Auto, Some(0)) => Piece::Off,
            (Piece::Auto, Some(bytes)) => Piece::Bytes(bytes),
            (set, _) => set,
        };
        self.network = Some(Arc::new(network));
    }

    /// Whether a page is to be written.
    pub fn wants_page(&self) -> bool {
        let is_page = |target: &ReportTarget| matches!(target, ReportTarget::File { format: ReportFormat::Html, .. });
        self.report.iter().any(is_page)
    }

    /// Whether single calls are to be recorded with their times: for a trace or a page.
    pub fn wants_time_lines(&self) -> bool {
        self.trace.is_some() || self.wants_page()
    }

    /// Whether it is said which messages within a node travel in pieces, so that nobody has to measure it.
    pub fn knows_limits(&self) -> bool {
        self.limits.or(self.limits_of_network()).is_some()
    }

    /// Whether it is measured in each run, on which no reduction's result is to depend.
    pub fn limits_vary(&self) -> bool {
        self.reproducible && !self.knows_limits()
    }

    /// Which messages within a node travel in pieces: those that the variable names, else those that the file of
    /// `COLLIE_NETWORK` does, else `found`. Where ranks outnumber cores, what was measured is for two pieces at most:
    /// many fill the queues, and a rank that shares its core then waits for a slice of the scheduler's.
    pub fn limits_within_node(&self, found: ProtocolLimits, oversubscribed: bool) -> ProtocolLimits {
        self.limits.unwrap_or_else(|| {
            let measured = self.limits_of_network().unwrap_or(found);
            if oversubscribed { measured.of_two() } else { measured }
        })
    }

    fn limits_of_network(&self) -> Option<ProtocolLimits> {
        self.network.as_ref().and_then(|network| network.protocol_limits())
    }

    /// The first call on a communicator that is replaced unless somebody says otherwise. Programs make communicators
    /// for one or two calls, or for thousands.
    pub const REPLACED_FROM: u32 = 4;

    /// The same as set: verification is to miss no call, arrivals (`COLLIE_SYNC`) rest on the agreement from the start,
    /// and what reduces in one order is not to begin in the MPI library's.
    pub fn replaced_from(&self) -> u32 {
        match self.after {
            _ if self.sync != Sync::Off => 1,
            Some(first) => first,
            None if self.mode == Mode::Verify || self.reproducible => 1,
            None => Self::REPLACED_FROM,
        }
    }

    /// The network that is set, or else the one that stands for communicators within a node, or across nodes.
    pub fn network(&self, one_node: bool) -> Arc<Network> {
        static PRESETS: Lazy<[Arc<Network>; 2]> =
            Lazy::new(|| [false, true].map(|one_node| Arc::new(brief::standing_in(one_node))));
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
            variables::RULES | variables::TABLES => {}
            variables::LEARN => no_word(value)?,
            variables::LEARN_BUDGET => self.learn_budget = Some(percent(value)?),
            variables::REPRODUCIBLE => self.reproducible = word(value, &[("on", true), ("off", false)])?,
            // That of a file, or one that was measured, is read further on.
            variables::NETWORK => {
                self.measures_network = value == Network::MEASURE;
                self.network = Network::preset(value).map(Arc::new);
            }
            variables::TRANSPORT => {
                self.transport = word(value, &Transport::ALL.map(|transport| (transport.name(), transport)))?;
            }
            variables::NUMA => self.numa = Numa::parse(value)?,
            variables::PIECE => self.piece = Piece::parse(value)?,
            variables::LIMITS => self.limits = limits(value)?,
            variables::REPORT => self.report = report(value)?,
            variables::TRACE => {
                no_word(value)?;
                file_names::check(value)?;
                self.trace = Some(PathBuf::from(value));
            }
            variables::SYNC => self.sync = word(value, &Sync::ALL.map(|sync| (sync.name(), sync)))?,
            variables::MEMORY => self.memory = size(value, 1 << 20)?,
            variables::SPILL => self.spill = size(value, 0)? as u64,
            variables::WATCHDOG => self.watchdog_seconds = Some(seconds(value)?),
            variables::OBSERVE => self.observe_messages = word(value, &[("all", true), ("collectives", false)])?,
            variables::SITES => self.sites = word(value, &[("on", true), ("off", false)])?,
            variables::CHECKPOINT => self.checkpoint_seconds = Some(seconds(value)?),
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
            variables::SPAWNED => {
                self.spawned = word(value, &[("native", Spawned::Native), ("replace", Spawned::Replace)])?;
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
