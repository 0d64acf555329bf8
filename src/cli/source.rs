//! Sources of an input: a file, standard input, a preset, a session.

use super::console::Console;
use super::failure::Failure;
use clap::builder::{OsStringValueParser, TypedValueParser};
use lightbay_core::format::STDIN;
use lightbay_core::kind::Depth;
use lightbay_core::problem::{Problem, Problems, nearest, printable};
use lightbay_engines::{AnyFile, AnyPlan, AnyScenario, PlanFile, presets, read_file};
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

pub mod saved;

/// An input as named on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Standard input, written `-`.
    Stdin,
    /// A built-in scenario, written `preset:NAME`.
    Preset(String),
    /// A saved session, written `session:NAME`, or one of its plans, written `session:NAME/NUMBER`.
    Session(String),
    /// A file: a text of any other form is the path of a file.
    File(PathBuf),
}

impl Source {
    /// Interprets an argument. The user writes a file whose name begins with `preset:` as `./preset:…`.
    pub fn of(argument: OsString) -> Self {
        match argument.to_str() {
            Some("-") => Self::Stdin,
            Some(text) => match text.split_once(':') {
                Some(("preset", name)) => Self::Preset(name.to_owned()),
                Some(("session", name)) => Self::Session(name.to_owned()),
                _ => Self::File(argument.into()),
            },
            None => Self::File(argument.into()),
        }
    }

    /// Returns the parser of the argument for clap.
    pub fn parser() -> impl TypedValueParser<Value = Self> {
        OsStringValueParser::new().map(Self::of)
    }

    /// Reads any input. A preset is a scenario; a session is its best plan, or its scenario if it has no plan.
    ///
    /// # Errors
    /// Every problem of the input, under its name.
    pub fn read(&self, console: &Console) -> Result<AnyFile, Problems> {
        let name = self.to_string();
        match self {
            Self::Stdin => read_file(io::stdin().lock(), &name),
            Self::Preset(preset) => lightbay_engines::preset(preset)
                .map(AnyFile::Scenario)
                .map_err(|problem| Problems::from(problem).named(name)),
            Self::Session(session) => {
                let part = saved::plan(session, console).transpose();
                let path = part.unwrap_or_else(|| saved::scenario(session, console));
                from_file(&path.map_err(|problem| Problems::from(problem).named(&name))?, &name)
            }
            Self::File(path) => from_file(path, &name),
        }
    }

    /// Reads a scenario, or the scenario of a plan. The second value is `true` if the input is a plan.
    ///
    /// # Errors
    /// Every problem of the input, under its name.
    pub fn scenario(&self, console: &Console) -> Result<(AnyScenario, bool), Problems> {
        let read = match self {
            Self::Session(session) if !session.contains('/') => {
                let name = self.to_string();
                let path = saved::scenario(session, console);
                from_file(&path.map_err(|problem| Problems::from(problem).named(&name))?, &name)
            }
            _ => self.read(console),
        };
        match read? {
            AnyFile::Scenario(scenario) => Ok((scenario, false)),
            AnyFile::Plan(plan) => plan.scenario().map(|scenario| (scenario, true)).ok_or_else(|| {
                let problem =
                    Problem::new("result", "cannot be read", "see `lightbay check`, or give a scenario");
                Problems::from(problem).named(self.to_string())
            }),
        }
    }

    /// Reads a plan, not yet checked.
    ///
    /// # Errors
    /// Every problem of the input, under its name.
    pub fn plan_file(&self, console: &Console) -> Result<PlanFile, Problems> {
        match self.read(console)? {
            AnyFile::Plan(plan) => Ok(plan),
            AnyFile::Scenario(_) => {
                let problem = Problem::new("", "is a scenario, not a plan", "solve it with `lightbay solve`");
                Err(Problems::from(problem).named(self.to_string()))
            }
        }
    }

    /// Reads and checks a plan, for commands that accept only valid plans.
    ///
    /// # Errors
    /// Every problem of the input, or every rule that the plan breaks.
    pub fn plan(&self, console: &Console) -> Result<AnyPlan, Problems> {
        sound(self.plan_file(console)?, &self.to_string())
    }
}

/// Returns the plan of a file, if it breaks no rule.
///
/// # Errors
/// Every rule that the plan breaks, under the name of its file.
pub fn sound(file: PlanFile, name: &str) -> Result<AnyPlan, Problems> {
    let report = file.check(Depth::Usual);
    let mut problems = Problems::of(name);
    for violation in &report.violations {
        problems.add(violation.code, violation.message.clone(), "give a plan that passes `lightbay check`");
    }
    problems.into_result(())?;
    report.plan.ok_or_else(|| {
        Problems::from(Problem::new("result", "cannot be read", "see `lightbay check`")).named(name)
    })
}

/// Reads a file; `name` is the name of the file in messages.
fn from_file(path: &Path, name: &str) -> Result<AnyFile, Problems> {
    open(path).map_err(|problem| Problems::from(problem).named(name)).and_then(|file| read_file(file, name))
}

fn open(path: &Path) -> Result<File, Problem> {
    let refused = |message: String, remedy: String| Problem::new("", message, remedy);
    match File::open(path) {
        Ok(file) => match file.metadata() {
            Ok(found) if found.is_dir() => {
                Err(refused("is a folder".to_owned(), "give the name of a file in it".to_owned()))
            }
            _ => Ok(file),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let name = path.to_string_lossy();
            let all = presets();
            let names = all.iter().map(|preset| preset.name);
            Err(refused(
                "the file does not exist".to_owned(),
                match nearest(&name, names) {
                    Some(near) => format!("did you mean the preset 'preset:{near}'?"),
                    None => "check the name; presets are written 'preset:NAME'".to_owned(),
                },
            ))
        }
        Err(error) => Err(refused(
            format!("cannot be opened: {error}"),
            "check the file and its permissions".to_owned(),
        )),
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdin => f.write_str(STDIN),
            Self::Preset(name) => write!(f, "preset:{}", printable(name)),
            Self::Session(name) => write!(f, "session:{}", printable(name)),
            Self::File(path) => f.write_str(&printable(&path.to_string_lossy())),
        }
    }
}

/// Checks that standard input is named at most once, because it can be read only once.
///
/// # Errors
/// If standard input is named more than once.
pub fn stdin_at_most_once<'a>(sources: impl IntoIterator<Item = &'a Source>) -> Result<(), Failure> {
    if sources.into_iter().filter(|source| **source == Source::Stdin).count() > 1 {
        return Err(Failure::input(
            "-",
            "standard input can be read once only",
            "give files for the other inputs",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_say_what_they_are() {
        assert_eq!(Source::of("-".into()), Source::Stdin);
        assert_eq!(Source::of("preset:tiny4".into()), Source::Preset("tiny4".to_owned()));
        assert_eq!(Source::of("session:a b".into()), Source::Session("a b".to_owned()));
        assert_eq!(Source::of("./preset:x".into()), Source::File("./preset:x".into()));
        assert_eq!(Source::of("C:x".into()), Source::File("C:x".into()));
    }
}
