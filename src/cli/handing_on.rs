//! How the library and the variables are handed on: each launcher gives environment variables to the ranks that it
//! starts in a way of its own.
//!
//! The library is to be preloaded into the ranks only, on all nodes: set in the launcher's own environment, Open MPI
//! would not hand it to ranks on other nodes, and every launcher would load it into its own processes.

use super::env_command::{last_env, settings_end, takes_away};
use super::launcher::Launcher;
use super::preloads;
use super::program::{executable, family_of};
use crate::reading;
use std::ffi::OsString;
use std::path::Path;

/// A `COLLIE_` variable that the ranks are to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Whether an option of `collie run` asked for it; what comes from the environment may be set anew by the command.
    pub is_asked: bool,
}

/// A command to start, with what is new in its environment.
#[derive(Debug, PartialEq, Eq)]
pub struct Launch {
    /// Variables to set before it starts.
    pub environment: Vec<(String, String)>,
    /// Program and arguments.
    pub command: Vec<OsString>,
}

/// `command` so that the ranks it starts preload `library` and see `variables`. `inherited` is the `LD_PRELOAD` of our
/// own environment; what was to be preloaded before still is, behind `library`, which has to see the calls first. Only
/// the `sanitizers`, runtimes that the program needs, come before it.
///
/// # Errors
/// The command says about the environment what cannot be joined with this.
pub fn prepare(
    launcher: Launcher,
    command: &[OsString],
    (library, sanitizers): (&str, &[String]),
    inherited: Option<&str>,
    variables: &[Variable],
) -> Result<Launch, String> {
    let place = match launcher {
        Launcher::None => settings_end(command, 0).unwrap_or(0),
        _ => Launcher::place(command),
    };
    let (before, command) = command.split_at(place);
    let (program, rest) = command.split_first().ok_or("there is no command")?;
    let handed = Handed::new((library, sanitizers), inherited, variables, before)?;
    let rest = match launcher {
        Launcher::None => rest.to_vec(),
        _ => in_each_part(rest, |part| handed.by_env(part))?,
    };
    let rest = &rest[..];
    // What a launcher hands on of its own environment. The library is not for itself.
    let mut environment: Vec<_> =
        handed.variables.iter().map(|variable| (variable.name.clone(), variable.value.clone())).collect();
    let words = match launcher {
        Launcher::OpenMpi => in_each_part(rest, |part| handed.for_open_mpi(part))?,
        Launcher::Hydra => {
            environment.clear();
            handed.for_hydra(rest)?
        }
        Launcher::Srun => in_each_part(rest, |part| handed.for_srun(part))?,
        Launcher::Flux => {
            let Some((subcommand, rest)) = rest.split_first().filter(|(word, _)| *word == "run" || *word == "submit")
            else {
                return Err("with flux, only `flux run` and `flux submit` can be given the library; use one of these"
                    .to_owned());
            };
            let setting = format!("--env={PRELOAD}={}", handed.preload(None));
            std::iter::once(subcommand.clone()).chain(handed.library_only(rest, "--env", &[setting])?).collect()
        }
        Launcher::Jsrun | Launcher::Pals | Launcher::Aprun => {
            let option = if launcher == Launcher::Aprun { "-e" } else { "--env" };
            let setting = format!("{PRELOAD}={}", handed.preload(None));
            handed.library_only(rest, option, &[option.to_owned(), setting])?
        }
        Launcher::None => {
            environment.push((PRELOAD.to_owned(), handed.preload(None)));
            rest.to_vec()
        }
    };
    let mut command = before.to_vec();
    if let Some((_, end)) = last_env(before) {
        // `env` may empty the environment (-i) or set the same variables, and its last settings count.
        let settings = environment.drain(..).map(|(name, value)| OsString::from(format!("{name}={value}")));
        command.splice(end..end, settings);
    }
    command.push(program.clone());
    command.extend(words);
    Ok(Launch { environment, command })
}

const PRELOAD: &str = "LD_PRELOAD";

/// What is to be handed to the ranks.
struct Handed<'a> {
    library: &'a str,
    /// Runtimes that the program needs before any other library.
    sanitizers: &'a [String],
    /// What would be preloaded without us, where no option of the launcher says so.
    inherited: Option<String>,
    variables: Vec<Variable>,
}

impl<'a> Handed<'a> {
    /// With what the words before the launcher say about its environment.
    fn new(
        (library, sanitizers): (&'a str, &'a [String]),
        inherited: Option<&str>,
        variables: &[Variable],
        before: &[OsString],
    ) -> Result<Self, String> {
        let inherited = inherited.map(str::to_owned);
        let mut handed = Self { library, sanitizers, inherited, variables: variables.to_vec() };
        if last_env(before).is_some_and(|(start, end)| takes_away(&before[start..end], PRELOAD)) {
            handed.inherited = None;
        }
        for (name, value) in before.iter().filter_map(|word| word.to_str()?.split_once('=')) {
            if name == PRELOAD {
                handed.inherited = Some(value.to_owned());
            } else if name.starts_with("COLLIE_") {
                handed.instead(name, Some(value))?;
                let value = value.to_owned();
                match handed.variables.iter_mut().find(|variable| variable.name == name) {
                    Some(known) => known.value = value,
                    None => handed.variables.push(Variable { name: name.to_owned(), value, is_asked: false }),
                }
            }
        }
        Ok(handed)
    }

    /// The value of `LD_PRELOAD` where an option sets it to `given`, or none does.
    fn preload(&self, given: Option<&str>) -> String {
        preloads::with(self.library, given.or(self.inherited.as_deref()), self.sanitizers)
    }

    /// What the command has to set a variable to instead of `value`, or of what the launcher inherits: `None` where it
    /// may stay as it is.
    fn instead(&self, name: &str, value: Option<&str>) -> Result<Option<String>, String> {
        if name == PRELOAD {
            return Ok(Some(self.preload(value)));
        }
        let Some(known) = self.variables.iter().find(|variable| variable.name == name) else { return Ok(None) };
        match value {
            Some(value) if known.is_asked && value != known.value => Err(format!(
                "the command sets {name}={value}, and the options of collie run {name}={}; leave one of them out",
                known.value
            )),
            Some(_) => Ok(None),
            None => Ok(Some(known.value.clone())),
        }
    }

    /// The words of a part of the job with what an `env` between the launcher and the program does to the variables: its
    /// settings hold for the program, whatever the launcher hands on.
    fn by_env(&self, part: &[OsString]) -> Result<Vec<OsString>, String> {
        let mut words = part.to_vec();
        let at = own_length(part);
        let Some(end) = settings_end(part, at) else { return Ok(words) };
        let mut names = Vec::new();
        for word in &mut words[at + 1..end] {
            let setting = word.to_string_lossy().into_owned();
            let Some((name, value)) = setting.split_once('=').filter(|(name, _)| !name.starts_with('-')) else {
                continue;
            };
            if let Some(value) = self.instead(name, Some(value))? {
                *word = format!("{name}={value}").into();
            }
            names.push(name.to_owned());
        }
        let options = &part[at + 1..end];
        let lost = |name: &str| takes_away(options, name) && !names.iter().any(|known| known == name);
        let mut settings = Vec::new();
        if lost(PRELOAD) {
            // What the launcher hands on is lost as well.
            settings.push(format!("{PRELOAD}={}", preloads::with(self.library, None, self.sanitizers)));
        }
        let variables = self.variables.iter().filter(|variable| lost(&variable.name));
        settings.extend(variables.map(|variable| format!("{}={}", variable.name, variable.value)));
        words.splice(end..end, settings.into_iter().map(OsString::from));
        Ok(words)
    }

    /// The variables that are not among `names`.
    fn others(&self, names: &[String]) -> impl Iterator<Item = &Variable> {
        self.variables.iter().filter(|variable| !names.contains(&variable.name))
    }

    /// What stands before a colon holds for the ranks of that part of the job only.
    fn for_open_mpi(&self, part: &[OsString]) -> Result<Vec<OsString>, String> {
        if let Some(file) = value_of(part, &["-app", "--app"]) {
            let settings = self.variables.iter().map(|variable| format!(" -x {}={}", variable.name, variable.value));
            return Err(format!(
                "with --app, Open MPI 4 ignores all other options; write -x {PRELOAD}={}{} into each line of {file}, \
                 and start it without collie run",
                self.preload(None),
                settings.collect::<String>()
            ));
        }
        // Where a variable is set twice, Open MPI 4 takes the last value, Open MPI 5 the first.
        let (words, names) = self.joined(part, &["-x", "--x"], false)?;
        let mut options = Vec::new();
        if !names.iter().any(|name| name == PRELOAD) {
            options.extend(["-x".to_owned(), format!("{PRELOAD}={}", self.preload(None))]);
        }
        let settings = self.others(&names).map(|variable| format!("{}={}", variable.name, variable.value));
        options.extend(settings.flat_map(|setting| ["-x".to_owned(), setting]));
        Ok(options.into_iter().map(OsString::from).chain(words).collect())
    }

    /// -genv holds for the whole job wherever it stands, -env for one part of it, where it takes precedence.
    fn for_hydra(&self, words: &[OsString]) -> Result<Vec<OsString>, String> {
        let mut names = Vec::new();
        let words = in_each_part(words, |part| {
            let file = value_of(part, &["-configfile", "--configfile"]);
            let sets = |file: &String| reading::text(Path::new(file)).is_ok_and(|text| text.contains(PRELOAD));
            if let Some(file) = file.filter(sets) {
                return Err(format!(
                    "{file} of -configfile sets {PRELOAD} anew for some ranks, which would run without Collie; set it \
                     on the command line instead"
                ));
            }
            let (part, global) = self.joined(part, &["-genv", "--genv"], true)?;
            names.extend(global);
            Ok(self.joined(&part, &["-env", "--env"], true)?.0)
        })?;
        let mut options = Vec::new();
        if !names.iter().any(|name| name == PRELOAD) {
            options.extend(["-genv".to_owned(), PRELOAD.to_owned(), self.preload(None)]);
        }
        let others = self.others(&names);
        options.extend(others.flat_map(|one| ["-genv".to_owned(), one.name.clone(), one.value.clone()]));
        Ok(options.into_iter().map(OsString::from).chain(words).collect())
    }

    /// Each component of a heterogeneous job has an --export of its own.
    fn for_srun(&self, part: &[OsString]) -> Result<Vec<OsString>, String> {
        let mut words = part.to_vec();
        let mut is_given = false;
        for at in 0..own_length(part) {
            let word = part[at].to_string_lossy();
            if let Some(list) = word.strip_prefix("--export=") {
                words[at] = format!("--export={}", self.exported(list)?).into();
                is_given = true;
            } else if word == "--export" && at + 1 < part.len() {
                words[at + 1] = self.exported(&part[at + 1].to_string_lossy())?.into();
                is_given = true;
            }
        }
        if !is_given {
            words.insert(0, format!("--export=ALL,{PRELOAD}={}", self.preload(None)).into());
        }
        Ok(words)
    }

    /// The list of an --export with the library, and with the names of the variables where it does not export all.
    fn exported(&self, list: &str) -> Result<String, String> {
        if list.eq_ignore_ascii_case("NONE") || list.eq_ignore_ascii_case("NIL") {
            return Err(format!(
                "srun's --export={list} hands no variable to the ranks, the library included; leave it out, or name \
                 the variables they need: --export=PATH,HOME"
            ));
        }
        let (mut items, mut names) = (Vec::new(), Vec::new());
        let mut preload = self.preload(None);
        for item in list.split(',') {
            let (name, value) = item.split_once('=').map_or((item, None), |(name, value)| (name, Some(value)));
            if name == PRELOAD {
                preload = self.preload(value);
                continue;
            }
            self.instead(name, value)?;
            items.push(item.to_owned());
            names.push(name.to_owned());
        }
        items.push(format!("{PRELOAD}={preload}"));
        if !names.iter().any(|name| name.eq_ignore_ascii_case("ALL")) {
            items.extend(self.others(&names).map(|variable| variable.name.clone()));
        }
        Ok(items.join(","))
    }

    /// For launchers that hand their own environment on: `setting` in front, if `option` does not set it already.
    fn library_only(&self, words: &[OsString], option: &str, setting: &[String]) -> Result<Vec<OsString>, String> {
        let (words, names) = self.joined(words, &[option], false)?;
        let is_given = names.iter().any(|name| name == PRELOAD);
        let setting = setting.iter().filter(|_| !is_given).map(OsString::from);
        Ok(setting.chain(words).collect())
    }

    /// The words of a launcher with all variables that its `options` set as they have to be, and the names of these. A
    /// setting is `NAME=value`, with `values_apart` also `NAME` `value`, and `NAME` alone without.
    fn joined(
        &self,
        words: &[OsString],
        options: &[&str],
        values_apart: bool,
    ) -> Result<(Vec<OsString>, Vec<String>), String> {
        let own = own_length(words);
        let mut words = words.to_vec();
        let mut names = Vec::new();
        let mut at = 0;
        while at < own {
            let word = words[at].to_string_lossy().into_owned();
            at += 1;
            let (setting_at, option) = match word.split_once('=') {
                Some((option, _)) if options.contains(&option) => (at - 1, format!("{option}=")),
                None if options.contains(&word.as_str()) && at < words.len() => (at, String::new()),
                _ => continue,
            };
            let setting = words[setting_at].to_string_lossy()[option.len()..].to_owned();
            at = setting_at + 1;
            if let Some((name, value)) = setting.split_once('=') {
                if let Some(value) = self.instead(name, Some(value))? {
                    words[setting_at] = format!("{option}{name}={value}").into();
                }
                names.push(name.to_owned());
            } else if values_apart && at < words.len() {
                if let Some(value) = self.instead(&setting, Some(&words[at].to_string_lossy()))? {
                    words[at] = value.into();
                }
                at += 1;
                names.push(setting);
            } else {
                if let Some(value) = self.instead(&setting, None)? {
                    words[setting_at] = format!("{option}{setting}={value}").into();
                }
                names.push(setting);
            }
        }
        Ok((words, names))
    }
}

/// `words` with what `change` makes of each of the parts that colons separate.
fn in_each_part(
    words: &[OsString],
    change: impl FnMut(&[OsString]) -> Result<Vec<OsString>, String>,
) -> Result<Vec<OsString>, String> {
    let parts = words.split(|word| word == ":").map(change).collect::<Result<Vec<_>, _>>()?;
    Ok(parts.join(&OsString::from(":")))
}

/// Options that take two words, unless the first is `NAME=value`. `--env` of other launchers than MPICH's takes one.
const TWO_WORDS: &[&str] =
    &["mca", "gmca", "omca", "gomca", "prtemca", "gprtemca", "pmixmca", "gpmixmca", "env", "genv"];

/// How many words of a launcher stand before the program, whose own arguments may look like those of the launcher: all
/// where the program is not found.
fn own_length(words: &[OsString]) -> usize {
    let mut doubtful = None;
    let mut at = 0;
    while at < words.len() {
        let word = words[at].to_string_lossy();
        if TWO_WORDS.contains(&word.strip_prefix("--").or(word.strip_prefix('-')).unwrap_or_default())
            && word != "--env"
        {
            let is_one = words.get(at + 1).is_some_and(|next| next.to_string_lossy().contains('='));
            at += if is_one { 2 } else { 3 };
            continue;
        }
        if executable(&words[at]).is_some() {
            let before = at.checked_sub(1).map_or_else(Default::default, |before| words[before].to_string_lossy());
            // It may be the option's value, as in `-launcher-exec /usr/bin/ssh`; we do not know every option.
            let may_be_value = before.starts_with('-') && before != "--" && !before.contains('=');
            if !may_be_value || family_of(&words[at..=at]).family.is_some() {
                return at;
            }
            doubtful = Some(at);
        }
        at += 1;
    }
    doubtful.unwrap_or(words.len())
}

/// The value that a launcher's options have among `words`.
fn value_of(words: &[OsString], options: &[&str]) -> Option<String> {
    let own = &words[..own_length(words)];
    own.iter().enumerate().find_map(|(at, word)| {
        let word = word.to_string_lossy();
        match word.split_once('=') {
            Some((option, value)) => options.contains(&option).then(|| value.to_owned()),
            None if options.contains(&&*word) => words.get(at + 1).map(|value| value.to_string_lossy().into_owned()),
            None => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(launcher: Launcher, command: &str, inherited: Option<&str>) -> Result<(String, String), String> {
        let command: Vec<OsString> = command.split(' ').map(OsString::from).collect();
        let variables = [Variable { name: "COLLIE_BCAST".to_owned(), value: "linear".to_owned(), is_asked: true }];
        let launch = prepare(launcher, &command, ("/l.so", &[]), inherited, &variables)?;
        let environment: Vec<_> = launch.environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let command: Vec<_> = launch.command.iter().map(|word| word.to_string_lossy()).collect();
        Ok((environment.join(" "), command.join(" ")))
    }

    fn words(launcher: Launcher, command: &str, inherited: Option<&str>) -> (String, String) {
        prepared(launcher, command, inherited).unwrap()
    }

    fn pair(environment: &str, command: &str) -> (String, String) {
        (environment.to_owned(), command.to_owned())
    }

    #[test]
    fn env_behind_the_launcher() {
        let found = |command: &str| words(Launcher::Hydra, &format!("mpiexec -n 2 {command}"), Some("/m.so")).1;
        let expected =
            |command: &str| format!("mpiexec -genv LD_PRELOAD /l.so:/m.so -genv COLLIE_BCAST linear -n 2 {command}");
        assert_eq!(found("env X=1 ./a -i"), expected("env X=1 ./a -i"));
        assert_eq!(found("env LD_PRELOAD=/t.so ./a"), expected("env LD_PRELOAD=/l.so:/t.so ./a"));
        let emptied = expected("env -i X=1 LD_PRELOAD=/l.so COLLIE_BCAST=linear ./a");
        assert_eq!(found("env -i X=1 ./a"), emptied);
        assert_eq!(found("env -u LD_PRELOAD ./a"), expected("env -u LD_PRELOAD LD_PRELOAD=/l.so ./a"));
        let conflict = prepared(Launcher::Hydra, "mpiexec -n 2 env COLLIE_BCAST=ring ./a", None).unwrap_err();
        assert!(conflict.contains("COLLIE_BCAST=ring"), "{conflict}");
    }

    #[test]
    fn open_mpi() {
        let found = words(Launcher::OpenMpi, "mpirun -n 2 ./a", None);
        assert_eq!(found, pair("COLLIE_BCAST=linear", "mpirun -x LD_PRELOAD=/l.so -x COLLIE_BCAST=linear -n 2 ./a"));
        let found = words(Launcher::OpenMpi, "mpirun -n 2 ./a", Some("/m.so"));
        assert_eq!(found.1, "mpirun -x LD_PRELOAD=/l.so:/m.so -x COLLIE_BCAST=linear -n 2 ./a");
        let found = words(Launcher::OpenMpi, "mpirun -x LD_PRELOAD=/t.so -n 2 ./a", Some("/m.so"));
        assert_eq!(found.1, "mpirun -x COLLIE_BCAST=linear -x LD_PRELOAD=/l.so:/t.so -n 2 ./a");
        let found = words(Launcher::OpenMpi, "mpirun -x LD_PRELOAD -n 2 ./a", Some("/m.so"));
        assert_eq!(found.1, "mpirun -x COLLIE_BCAST=linear -x LD_PRELOAD=/l.so:/m.so -n 2 ./a");
        let found = words(Launcher::OpenMpi, "mpirun -x LD_PRELOAD=/t.so --x LD_PRELOAD=/u.so -x X=1 -n 2 ./a", None);
        let line = "mpirun -x COLLIE_BCAST=linear -x LD_PRELOAD=/l.so:/t.so --x LD_PRELOAD=/l.so:/u.so -x X=1 -n 2 ./a";
        assert_eq!(found.1, line, "Open MPI 4 takes the last, Open MPI 5 the first");
        let found = words(Launcher::OpenMpi, "mpirun -x COLLIE_BCAST -x=LD_PRELOAD=/t.so -n 2 ./a", None);
        assert_eq!(found.1, "mpirun -x COLLIE_BCAST=linear -x=LD_PRELOAD=/l.so:/t.so -n 2 ./a");
        let found = words(Launcher::OpenMpi, "mpirun -n 1 ./a : -n 2 ./b", None);
        let options = "-x LD_PRELOAD=/l.so -x COLLIE_BCAST=linear";
        assert_eq!(found.1, format!("mpirun {options} -n 1 ./a : {options} -n 2 ./b"), "in each part");
        for option in ["--app lines", "--app=lines"] {
            let error = prepared(Launcher::OpenMpi, &format!("mpirun {option}"), Some("/m.so")).unwrap_err();
            let advice = "write -x LD_PRELOAD=/l.so:/m.so -x COLLIE_BCAST=linear into each line of lines";
            assert!(error.contains(advice), "{error}");
        }
    }

    #[test]
    fn hydra() {
        let found = words(Launcher::Hydra, "mpiexec -n 2 ./a", None);
        assert_eq!(found, pair("", "mpiexec -genv LD_PRELOAD /l.so -genv COLLIE_BCAST linear -n 2 ./a"));
        let found = words(Launcher::Hydra, "mpiexec -genv LD_PRELOAD /t.so -n 2 ./a", None);
        assert_eq!(found.1, "mpiexec -genv COLLIE_BCAST linear -genv LD_PRELOAD /l.so:/t.so -n 2 ./a");
        let found = words(Launcher::Hydra, "mpiexec -genv LD_PRELOAD=/t.so -genv=X=1 -n 2 ./a", None);
        assert_eq!(found.1, "mpiexec -genv COLLIE_BCAST linear -genv LD_PRELOAD=/l.so:/t.so -genv=X=1 -n 2 ./a");
    }

    #[test]
    fn parts_of_a_job_under_hydra() {
        let global = "-genv LD_PRELOAD /l.so:/m.so -genv COLLIE_BCAST linear";
        for (given, handed) in [("-env LD_PRELOAD /t.so", "-env LD_PRELOAD /l.so:/t.so"), ("-env A B", "-env A B")] {
            let found = words(Launcher::Hydra, &format!("mpiexec -n 1 {given} ./a : -n 2 ./b"), Some("/m.so"));
            assert_eq!(found.1, format!("mpiexec {global} -n 1 {handed} ./a : -n 2 ./b"));
            let found = words(Launcher::Hydra, &format!("mpiexec -n 1 ./a : -n 2 {given} ./b"), Some("/m.so"));
            assert_eq!(found.1, format!("mpiexec {global} -n 1 ./a : -n 2 {handed} ./b"));
        }
        let found = words(Launcher::Hydra, "mpiexec -genv LD_PRELOAD /t.so ./a : -env LD_PRELOAD=/u.so ./b", None);
        let rest = "-genv LD_PRELOAD /l.so:/t.so ./a : -env LD_PRELOAD=/l.so:/u.so ./b";
        assert_eq!(found.1, format!("mpiexec -genv COLLIE_BCAST linear {rest}"));

        let mut lines = tempfile::NamedTempFile::new().unwrap();
        std::io::Write::write_all(&mut lines, b"-n 1 -env LD_PRELOAD /t.so ./a\n").unwrap();
        let command = format!("mpiexec -configfile {}", lines.path().display());
        let error = prepared(Launcher::Hydra, &command, None).unwrap_err();
        assert!(error.contains("of -configfile sets LD_PRELOAD anew"), "{error}");
        lines.as_file().set_len(0).unwrap();
        assert_eq!(words(Launcher::Hydra, &command, Some("/m.so")).1, command.replacen(' ', &format!(" {global} "), 1));
    }

    #[test]
    fn srun() {
        let found = words(Launcher::Srun, "srun -n 2 ./a", Some(""));
        assert_eq!(found, pair("COLLIE_BCAST=linear", "srun --export=ALL,LD_PRELOAD=/l.so -n 2 ./a"));
        let export = |given: &str| words(Launcher::Srun, &format!("srun {given} -n 2 ./a"), Some("/m.so")).1;
        assert_eq!(export("--export=ALL"), "srun --export=ALL,LD_PRELOAD=/l.so:/m.so -n 2 ./a");
        assert_eq!(export("--export=LD_PRELOAD"), "srun --export=LD_PRELOAD=/l.so:/m.so,COLLIE_BCAST -n 2 ./a");
        let found = export("--export PATH,LD_PRELOAD=/t.so,X=1");
        assert_eq!(found, "srun --export PATH,X=1,LD_PRELOAD=/l.so:/t.so,COLLIE_BCAST -n 2 ./a");
        let found = words(Launcher::Srun, "srun -n 1 ./a : --export=ALL,X=1 -n 2 ./b", None);
        let line = "srun --export=ALL,LD_PRELOAD=/l.so -n 1 ./a : --export=ALL,X=1,LD_PRELOAD=/l.so -n 2 ./b";
        assert_eq!(found.1, line, "in each part");
        let error = prepared(Launcher::Srun, "srun --export=NONE ./a", None).unwrap_err();
        assert!(error.starts_with("srun's --export=NONE hands no variable to the ranks"), "{error}");
    }

    #[test]
    fn what_the_options_of_collie_ask_for_is_not_set_otherwise() {
        for (launcher, command) in [
            (Launcher::OpenMpi, "mpirun -x COLLIE_BCAST=tree ./a"),
            (Launcher::OpenMpi, "mpirun ./a : -x COLLIE_BCAST=tree ./b"),
            (Launcher::OpenMpi, "env COLLIE_BCAST=tree mpirun ./a"),
            (Launcher::Hydra, "mpiexec -genv COLLIE_BCAST tree ./a"),
            (Launcher::Hydra, "mpiexec ./a : -env COLLIE_BCAST=tree ./b"),
            (Launcher::Srun, "srun --export=ALL,COLLIE_BCAST=tree ./a"),
            (Launcher::Flux, "flux run --env=COLLIE_BCAST=tree ./a"),
            (Launcher::None, "env COLLIE_BCAST=tree ./a"),
        ] {
            let told = "the command sets COLLIE_BCAST=tree, and the options of collie run COLLIE_BCAST=linear; leave \
                        one of them out";
            assert_eq!(prepared(launcher, command, None).unwrap_err(), told, "{command}");
            let same = command.replace("tree", "linear");
            assert!(prepared(launcher, &same, None).is_ok(), "{same}");
        }
        let command: Vec<_> = ["mpirun", "-x", "COLLIE_MODE=best", "./a"].map(OsString::from).into();
        let exported = [Variable { name: "COLLIE_MODE".to_owned(), value: "native".to_owned(), is_asked: false }];
        let launch = prepare(Launcher::OpenMpi, &command, ("/l.so", &[]), None, &exported).unwrap();
        assert_eq!(launch.command[3..], command[1..], "what the command says holds against the environment");
    }

    #[test]
    fn arguments_of_the_program_are_its_own() {
        let found = words(Launcher::OpenMpi, "mpirun -n 2 /bin/sh -x LD_PRELOAD=/t.so", None);
        let options = "-x LD_PRELOAD=/l.so -x COLLIE_BCAST=linear";
        assert_eq!(found.1, format!("mpirun {options} -n 2 /bin/sh -x LD_PRELOAD=/t.so"));
        let found = words(Launcher::OpenMpi, "mpirun --map-by sh -x LD_PRELOAD=/t.so -n 2 sh", None);
        assert_eq!(
            found.1, "mpirun -x COLLIE_BCAST=linear --map-by sh -x LD_PRELOAD=/l.so:/t.so -n 2 sh",
            "sh of an option"
        );
        let found = words(Launcher::Hydra, "mpiexec -n 2 sh -env LD_PRELOAD /t.so", None);
        let options = "-genv LD_PRELOAD /l.so -genv COLLIE_BCAST linear";
        assert_eq!(found.1, format!("mpiexec {options} -n 2 sh -env LD_PRELOAD /t.so"));
        let found = words(Launcher::Srun, "srun --export-file=vars -n 2 sh --export=mesh", None);
        assert_eq!(found.1, "srun --export=ALL,LD_PRELOAD=/l.so --export-file=vars -n 2 sh --export=mesh");
    }

    /// What stands behind an option may be its value or the program.
    #[test]
    fn programs_as_values_of_options_end_nothing() {
        let joined = "-x LD_PRELOAD=/l.so:/t.so -n 2 /bin/sh -x LD_PRELOAD=/u.so";
        for option in ["--mca plm_rsh_agent sh", "--mca plm_rsh_agent /bin/sh", "--launch-agent /bin/sh"] {
            let command = format!("mpirun {option} -x LD_PRELOAD=/t.so -n 2 /bin/sh -x LD_PRELOAD=/u.so");
            let found = words(Launcher::OpenMpi, &command, None);
            assert_eq!(found.1, format!("mpirun -x COLLIE_BCAST=linear {option} {joined}"));
        }
        let found = words(Launcher::Hydra, "mpiexec -launcher-exec /bin/sh -genv LD_PRELOAD /t.so -n 2 /bin/sh", None);
        let rest = "-launcher-exec /bin/sh -genv LD_PRELOAD /l.so:/t.so -n 2 /bin/sh";
        assert_eq!(found.1, format!("mpiexec -genv COLLIE_BCAST linear {rest}"));
        let found = words(Launcher::Srun, "srun --task-prolog /bin/sh --export=ALL,X=1 -n 2 /bin/sh", None);
        assert_eq!(found.1, "srun --task-prolog /bin/sh --export=ALL,X=1,LD_PRELOAD=/l.so -n 2 /bin/sh");

        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("a");
        std::fs::write(&program, b"\x7fELF\0libmpi.so.40\0").unwrap();
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let arguments = format!("--oversubscribe {} -x LD_PRELOAD=/u.so /bin/sh", program.display());
        let found = words(Launcher::OpenMpi, &format!("mpirun {arguments}"), None);
        assert_eq!(found.1, format!("mpirun -x LD_PRELOAD=/l.so -x COLLIE_BCAST=linear {arguments}"), "it uses MPI");
    }

    #[test]
    fn the_program_itself() {
        let found = words(Launcher::None, "./a b", Some("/m.so"));
        assert_eq!(found, pair("COLLIE_BCAST=linear LD_PRELOAD=/l.so:/m.so", "./a b"));
        let found = words(Launcher::None, "env -i -u A PATH=/bin ./a b=1", Some("/m.so"));
        assert_eq!(found, pair("", "env -i -u A PATH=/bin COLLIE_BCAST=linear LD_PRELOAD=/l.so ./a b=1"));
        let found = words(Launcher::None, "env LD_PRELOAD=/t.so ./a", Some("/m.so"));
        assert_eq!(found.1, "env LD_PRELOAD=/t.so COLLIE_BCAST=linear LD_PRELOAD=/l.so:/t.so ./a");
    }

    #[test]
    fn launchers_behind_other_commands() {
        let found = words(Launcher::OpenMpi, "env X=1 timeout -k 1 60 mpirun -n 2 ./a", None);
        let options = "-x LD_PRELOAD=/l.so -x COLLIE_BCAST=linear";
        let line = format!("env X=1 COLLIE_BCAST=linear timeout -k 1 60 mpirun {options} -n 2 ./a");
        assert_eq!(found, pair("", &line));
        let found = words(Launcher::OpenMpi, "env LD_PRELOAD=/t.so COLLIE_LOG=info mpirun -n 2 ./a", Some("/m.so"));
        let rest = "-x LD_PRELOAD=/l.so:/t.so -x COLLIE_BCAST=linear -x COLLIE_LOG=info -n 2 ./a";
        assert!(found.1.ends_with(&format!("mpirun {rest}")), "{}", found.1);
        let found = words(Launcher::Hydra, "env -i PATH=/bin mpiexec -n 2 ./a", Some("/m.so"));
        let line = "env -i PATH=/bin mpiexec -genv LD_PRELOAD /l.so -genv COLLIE_BCAST linear -n 2 ./a";
        assert_eq!(found, pair("", line), "nothing is inherited");
        let found = words(Launcher::Srun, "env -i PATH=/bin srun -n 2 ./a", Some("/m.so"));
        let line = "env -i PATH=/bin COLLIE_BCAST=linear srun --export=ALL,LD_PRELOAD=/l.so -n 2 ./a";
        assert_eq!(found, pair("", line));
        let found = words(Launcher::Srun, "nice srun -n 2 ./a", None);
        assert_eq!(found.1, "nice srun --export=ALL,LD_PRELOAD=/l.so -n 2 ./a");
    }

    #[test]
    fn launchers_that_hand_their_environment_on() {
        let found = words(Launcher::Flux, "flux run -n 2 ./a", None);
        assert_eq!(found, pair("COLLIE_BCAST=linear", "flux run --env=LD_PRELOAD=/l.so -n 2 ./a"));
        assert!(prepared(Launcher::Flux, "flux batch x", None).unwrap_err().starts_with("with flux, only `flux run`"));
        let found = words(Launcher::Flux, "flux run --env=LD_PRELOAD=/t.so -n 2 ./a", None);
        assert_eq!(found.1, "flux run --env=LD_PRELOAD=/l.so:/t.so -n 2 ./a");
        let found = words(Launcher::Jsrun, "jsrun -n 2 ./a", Some("/m.so"));
        assert_eq!(found.1, "jsrun --env LD_PRELOAD=/l.so:/m.so -n 2 ./a");
        let found = words(Launcher::Aprun, "aprun -n 2 ./a", None);
        assert_eq!(found.1, "aprun -e LD_PRELOAD=/l.so -n 2 ./a");
        let found = words(Launcher::Pals, "mpiexec -n 2 ./a", None);
        assert_eq!(found.1, "mpiexec --env LD_PRELOAD=/l.so -n 2 ./a");
    }
}
