//! Grammar of the command line.

use super::source::Source;
use super::{
    check, compare, complete, completions, config, exit, explain, export, import, info, keys, look, man,
    methods, new, presets, schema, sessions, show, solve, sweep, version,
};
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{
    Arg, ArgMatches, Args, CommandFactory as _, FromArgMatches as _, Id, Parser, Subcommand, ValueHint,
};
use clap_complete::engine::ArgValueCompleter;
use lightbay_core::problem::nearest;
use lightbay_sessions::Overrides;
use std::ffi::OsString;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  lightbay                                        open the last session
  lightbay preset:megatron_177b --solve           open a training job and solve it
  lightbay presets                                list the built-in scenarios
  lightbay solve preset:tiny8 -o plan.json        solve without the workbench
  lightbay check plan.json                        verify the plan
  lightbay export plan.json --to json | jq .metrics

A first argument that is not a command names a scenario, a plan or a session to open in the workbench. If a file has the \
name of a command, add its folder: ./solve";

/// Plans optical circuit switches of AI clusters: a workbench for the terminal, and commands for scripts.
#[derive(Debug, Parser)]
#[command(
    name = "lightbay",
    version = version::FULL,
    about = "Plans optical circuit switches of AI clusters",
    long_about = "Plans optical circuit switches of AI clusters: a workbench for the terminal, and commands for scripts.",
    after_long_help = format!("{EXAMPLES}\n\n{}", exit::HELP),
    max_term_width = 100
)]
pub struct Grammar {
    /// Subject and options of the workbench.
    #[command(flatten)]
    pub opening: OpeningArguments,

    /// Folders and configuration file.
    #[command(flatten)]
    pub places: PlaceArguments,

    /// Amount of output.
    #[command(flatten)]
    pub output: OutputArguments,

    /// Subcommand, in place of the workbench.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Arguments of the workbench.
#[derive(Args, Clone, Debug)]
pub struct OpeningArguments {
    /// Scenario, plan or session to open: a file, preset:NAME or session:NAME [default: the last session]
    #[arg(value_name = "SCENARIO|PLAN|session:NAME", value_parser = Source::parser(), add = ArgValueCompleter::new(complete::source))]
    pub subject: Option<Source>,

    /// Start solving at once, with the default method unless one is named
    #[arg(long, value_name = "METHOD", num_args = 0..=1, add = ArgValueCompleter::new(complete::method))]
    pub solve: Option<Option<String>>,

    /// Threads for all runs together [default: all cores but one]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,

    /// Look of the screen.
    #[command(flatten)]
    pub look: look::LookArguments,
}

/// Amount of output.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Output")]
pub struct OutputArguments {
    /// Print errors only: no notes, warnings or progress on standard error
    #[arg(short, long, global = true)]
    pub quiet: bool,
}

/// Folders and configuration file.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Paths")]
pub struct PlaceArguments {
    /// Folder of saved work [default: $LIGHTBAY_DATA, else $XDG_DATA_HOME/lightbay]
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath, hide_short_help = true)]
    pub data_dir: Option<PathBuf>,

    /// Folder of logs [default: $LIGHTBAY_STATE, else $XDG_STATE_HOME/lightbay]
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath, hide_short_help = true)]
    pub state_dir: Option<PathBuf>,

    /// Configuration file [default: $LIGHTBAY_CONFIG, else $XDG_CONFIG_HOME/lightbay/config.toml]
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub config: Option<PathBuf>,
}

impl PlaceArguments {
    /// Returns the folders and the configuration file in the form of the session crate.
    pub fn overrides(&self) -> Overrides {
        Overrides { data: self.data_dir.clone(), state: self.state_dir.clone(), config: self.config.clone() }
    }
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the built-in scenarios
    Presets(presets::Arguments),
    /// Write a scenario file from a preset, from a kind (its first preset) or from a plan
    New(new::Arguments),
    /// List methods and their parameters, or (with --formats) file formats
    Methods(methods::Arguments),
    /// Solve a scenario without the workbench and write the plan
    Solve(Box<solve::Arguments>),
    /// Solve every combination of parameter values and methods; write a table row for each
    Sweep(Box<sweep::Arguments>),
    /// Verify a plan and print every violation
    Check(check::Arguments),
    /// Summarise a scenario or plan
    Show(show::Arguments),
    /// Explain a term, such as NCT or gap
    Explain(explain::Arguments),
    /// Print the JSON Schema of scenarios, plans, events, config.toml or a command's JSON object
    Schema(schema::Arguments),
    /// Compare plans side by side
    Compare(compare::Arguments),
    /// Write a scenario or plan in another format
    Export(export::Arguments),
    /// Make a scenario or plan from files of other tools
    Import(import::Arguments),
    /// List, show, rename, note, pack or remove saved work
    Sessions(sessions::Arguments),
    /// Show versions, folders, terminal capabilities, and samples of glyphs and colours
    Info(info::Arguments),
    /// Print the default configuration, or locate or check the configuration file
    Config(config::Arguments),
    /// List the keys of the workbench
    Keys(keys::Arguments),
    /// Write completions for a shell
    Completions(completions::Arguments),
    /// Write the manual page
    Man(man::Arguments),
}

impl Grammar {
    /// Parses arguments. Every command accepts the options of [`PlaceArguments`], but only the main help page lists
    /// them.
    ///
    /// # Errors
    /// A request for help or the version, or a mistake in the arguments.
    pub fn of(arguments: &[OsString]) -> Result<Self, clap::Error> {
        let mut command = Self::command();
        let places: Vec<_> = PlaceArguments::augment_args(clap::Command::new(""))
            .get_arguments()
            .map(Arg::get_id)
            .cloned()
            .collect();
        command.build();
        let mut command = with_exit_codes(command.mut_subcommands(|sub| without(sub, &places)));
        let mut matches = command.try_get_matches_from_mut(arguments).map_err(explained)?;
        refuse_opening(&mut command, &matches)?;
        let grammar = Self::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))?;
        Ok(grammar.with_threads())
    }

    /// Passes `--threads` before a command that has this option on to the command.
    fn with_threads(mut self) -> Self {
        let limits = match &mut self.command {
            Some(Command::Solve(arguments)) => &mut arguments.limits,
            Some(Command::Sweep(arguments)) => &mut arguments.limits,
            _ => return self,
        };
        limits.threads = limits.threads.or(self.opening.threads);
        self
    }
}

/// Exit codes of a command that does not run for long.
const SHORT_EXIT_CODES: &str =
    "Exit codes: 0 done; 1 failure; 2 wrong usage or input; `lightbay --help` lists all";

/// Adds the exit codes to the help of the commands that do not list them.
pub fn with_exit_codes(command: clap::Command) -> clap::Command {
    command.mut_subcommands(|sub| {
        let help = sub.get_after_long_help().map(ToString::to_string).unwrap_or_default();
        if help.contains("Exit codes") {
            return sub;
        }
        let gap = if help.is_empty() { "" } else { "\n\n" };
        sub.after_long_help(format!("{help}{gap}{SHORT_EXIT_CODES}"))
    })
}

/// Replaces clap's advice on an unknown option, which is to pass the option as a value: no value of lightbay begins with
/// `--`.
fn explained(mut error: clap::Error) -> clap::Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    error.remove(ContextKind::Suggested);
    let given = error.get(ContextKind::InvalidArg).map(ToString::to_string).unwrap_or_default();
    let opening = OpeningArguments::augment_args(clap::Command::new(""));
    let is_opening = opening
        .get_arguments()
        .filter_map(Arg::get_long)
        .any(|long| given.strip_prefix("--").is_some_and(|given| given.split('=').next() == Some(long)));
    if is_opening {
        let advice = format!("{given} belongs to the workbench; leave it out");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(advice)]));
    }
    error
}

/// Refuses arguments of the workbench in front of a command: they would have no effect.
fn refuse_opening(command: &mut clap::Command, matches: &ArgMatches) -> Result<(), clap::Error> {
    let Some(name) = matches.subcommand_name() else { return Ok(()) };
    let opening = OpeningArguments::augment_args(clap::Command::new(""));
    let given = opening
        .get_arguments()
        .filter(|argument| argument.get_id() != "threads" || !["solve", "sweep"].contains(&name))
        .find(|argument| matches.value_source(argument.get_id().as_str()) == Some(ValueSource::CommandLine));
    let Some(given) = given else { return Ok(()) };
    let what =
        given.get_long().map_or_else(|| "a scenario, plan or session".to_owned(), |long| format!("--{long}"));
    let message = format!(
        "{what} before the command `{name}` belongs to the workbench; write it after the command, if `lightbay {name} \
         --help` lists it"
    );
    Err(command.error(ErrorKind::ArgumentConflict, message))
}

/// Hides some arguments in the help of a command and its subcommands.
fn without(command: clap::Command, hidden: &[Id]) -> clap::Command {
    command
        .mut_args(|argument| {
            let hide = hidden.contains(argument.get_id());
            if hide { argument.hide(true) } else { argument }
        })
        .mut_subcommands(|sub| without(sub, hidden))
}

/// Returns the command whose name is most similar to `word`, the first argument. Returns `None` if no name is similar,
/// or if `word` is a command, an option, a file name with folder or extension, a preset or a session.
pub fn meant_command(word: &str) -> Option<String> {
    let mut grammar = Grammar::command();
    grammar.build();
    let names: Vec<&str> = grammar.get_subcommands().map(clap::Command::get_name).collect();
    if names.contains(&word) || word.starts_with('-') || word.contains(['.', '/', ':']) {
        return None;
    }
    nearest(&word.to_lowercase(), names).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Grammar {
        Grammar::try_parse_from(std::iter::once(&"lightbay").chain(arguments)).unwrap()
    }

    #[test]
    fn the_grammar_is_consistent() {
        Grammar::command().debug_assert();
    }

    #[test]
    fn a_first_argument_that_is_no_command_is_opened() {
        let grammar = parse(&["preset:tiny4", "--solve"]);
        assert!(grammar.command.is_none());
        assert_eq!(grammar.opening.subject, Some(Source::Preset("tiny4".to_owned())));
        assert_eq!(grammar.opening.solve, Some(None));
        let grammar = parse(&["a.json", "--solve", "delta-fast", "--threads", "2"]);
        assert_eq!(grammar.opening.solve, Some(Some("delta-fast".to_owned())));
        assert_eq!(grammar.opening.threads, Some(2));
        assert!(matches!(parse(&["presets"]).command, Some(Command::Presets(_))));
        assert!(parse(&[]).opening.subject.is_none());
    }

    #[test]
    fn slips_of_commands_are_told_from_files() {
        for (word, meant) in [("slove", "solve"), ("exprot", "export"), ("hlep", "help"), ("Solve", "solve")]
        {
            assert_eq!(meant_command(word), Some(meant.to_owned()), "{word}");
        }
        for word in ["a.json", "preset:tiny8", "session:x", "-", "solve", "help", "plans/solv", "megatron"] {
            assert_eq!(meant_command(word), None, "{word}");
        }
    }

    #[test]
    fn threads_before_a_command_are_those_of_the_command() {
        let threads = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            match Grammar::of(&words).map(|grammar| grammar.command) {
                Ok(Some(Command::Solve(arguments))) => arguments.limits.threads,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(threads(&["lightbay", "--threads", "2", "solve", "preset:tiny4"]), Some(2));
        assert_eq!(
            threads(&["lightbay", "--threads", "2", "solve", "preset:tiny4", "--threads", "3"]),
            Some(3)
        );
        let words = ["lightbay", "--threads", "2", "check", "plan.json"].map(OsString::from);
        assert_eq!(Grammar::of(&words).unwrap_err().kind(), ErrorKind::ArgumentConflict);
    }

    #[test]
    fn places_can_be_named_with_every_command() {
        let grammar = parse(&["presets", "--data-dir", "d", "--config", "c.toml"]);
        assert_eq!(grammar.places.overrides().data, Some("d".into()));
        assert_eq!(grammar.places.overrides().config, Some("c.toml".into()));
    }
}
