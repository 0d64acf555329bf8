//! The configuration file and `lightbay config`: default values of flags.

use super::console::Console;
use super::documents::ConfigDocument;
use super::exit::Exit;
use super::failure::Failure;
use super::look::{BackgroundName, GlyphName, LookArguments, PaletteName, When};
use crate::app::keymap::{Keymap, Remap};
use crate::app::table;
use clap::{Args, Subcommand};
use lightbay_core::problem::{Problem, Problems, nearest, printable};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use toml::Spanned;

/// Text that `lightbay config default` prints; its values are exactly the defaults.
const DEFAULT: &str = include_str!("config/default.toml");

/// Arguments of `config`.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  lightbay config default > ~/.config/lightbay/config.toml\n  lightbay config path\n  lightbay config check"
)]
pub struct Arguments {
    /// Subcommand [default: check]
    #[command(subcommand)]
    command: Option<Command>,

    /// Print one JSON object with path and existence of the file (`lightbay schema config`); a faulty file is an error
    #[arg(long, global = true)]
    json: bool,
}

/// Subcommands of `config`.
#[derive(Clone, Copy, Debug, Subcommand)]
enum Command {
    /// Print a commented file with all defaults
    Default,
    /// Print the path of the configuration file
    Path,
    /// Validate the configuration file
    Check,
}

/// Content of the configuration file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Appearance of the screen, and use of the mouse.
    pub ui: Ui,
    /// Defaults for runs.
    pub solve: Solve,
    /// Changes of key bindings, in the order of the file.
    pub keys: Vec<Remap>,
    /// The file, for messages about its keys.
    pub name: String,
    /// Problems of the file; the default applies where the file has a problem.
    pub problems: Problems,
}

/// The configuration file as TOML has it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct ConfigFile {
    /// Appearance of the screen, and use of the mouse.
    ui: Ui,
    /// Defaults for runs.
    solve: Solve,
    /// Keys of actions, by the names that `lightbay keys` lists: a key such as "F5", a sequence such as "g r", a list
    /// of these, or "" for no key.
    #[schemars(with = "BTreeMap<String, OneOrSeveral>")]
    keys: BTreeMap<Spanned<String>, toml::Value>,
}

/// Keys of an action in the schema of the file.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only the schema is used")]
enum OneOrSeveral {
    /// One key or sequence; "" or "none" unbinds the action.
    One(String),
    /// Several keys or sequences.
    Several(Vec<String>),
}

/// Returns the JSON Schema of the configuration file.
pub fn schema() -> Value {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<ConfigFile>().to_value()
}

/// Appearance of the screen, and use of the mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ui {
    /// Use of colour.
    pub color: When,
    /// Family of colours.
    pub theme: PaletteName,
    /// Background of the terminal; without a value, the terminal is queried.
    pub background: Option<BackgroundName>,
    /// Characters to draw with; without a value, chosen by locale and terminal.
    pub glyphs: Option<GlyphName>,
    /// `true` if the workbench uses the mouse.
    pub mouse: bool,
    /// `true` if the terminal shows the progress of runs; without a value, only terminals that are known to do so.
    pub progress: Option<bool>,
    /// Minimum duration of a run whose end rings the bell, s; 0: no bell.
    pub bell_after_s: u32,
}

impl Default for Ui {
    fn default() -> Self {
        Self {
            color: When::Auto,
            theme: PaletteName::Okabe,
            background: None,
            glyphs: None,
            mouse: true,
            progress: None,
            bell_after_s: 0,
        }
    }
}

/// Defaults for runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Solve {
    /// Threads for all runs together; 0: all cores, in the workbench all cores but one.
    pub threads: u16,
}

impl Config {
    /// Reads the user's file; if there is none, returns the defaults. A line with a problem does not stop a command: its
    /// default applies.
    pub fn load(console: &Console) -> Self {
        // Without a home folder, a configuration file cannot exist.
        console.places().map_or_else(|_| Self::default(), |places| Self::lenient(places.config()))
    }

    /// Reads the user's file, and prints its problems as warnings.
    pub fn load_and_warn(console: &mut Console) -> Self {
        let config = Self::load(console);
        for warning in config.warnings() {
            console.warn(&warning);
        }
        config
    }

    /// Returns a sentence for every problem of the file.
    pub fn warnings(&self) -> Vec<String> {
        let sentence =
            |problem: &Problem| format!("{}: {problem}; the default applies", self.problems.source);
        self.problems.list().iter().map(sentence).collect()
    }

    /// Reads a file that must have no problem, in its keys neither. The problems are in the order of the lines.
    fn read(path: &Path) -> Result<Self, Problems> {
        let mut config = Self::lenient(path);
        let mut found: Vec<Problem> = std::mem::take(&mut config.problems).list().to_vec();
        found.extend_from_slice(config.keymap().1.list());
        found.sort_by_key(|problem| line_of(&problem.path));
        let mut problems = Problems::of(printable(&path.to_string_lossy()));
        for problem in found {
            problems.push(problem);
        }
        problems.into_result(config)
    }

    fn lenient(path: &Path) -> Self {
        let name = printable(&path.to_string_lossy());
        let config = match fs::read_to_string(path) {
            Ok(text) => Self { name: name.clone(), ..Self::parse(&text) },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::default(),
            Err(error) => {
                let problem =
                    Problem::new("", format!("cannot be read: {error}"), "correct the file or remove it");
                Self { problems: problem.into(), ..Self::default() }
            }
        };
        Self { problems: config.problems.clone().named(name), ..config }
    }

    fn parse(text: &str) -> Self {
        let (written, mut problems) = valid_part(text);
        let ConfigFile { ui, solve, keys } = written;
        let mut keys: Vec<_> = keys.into_iter().collect();
        keys.sort_by_key(|(name, _)| name.span().start);
        let keys = keys.into_iter().map(|(name, value)| Remap {
            place: place(text, name.span().start),
            action: name.into_inner(),
            keys: key_texts(&value),
        });
        let mut config =
            Self { ui, solve, keys: keys.collect(), name: String::new(), problems: Problems::new() };
        if config.solve.threads > 1024 {
            let message = format!("'{}' is not valid", config.solve.threads);
            problems.add("solve.threads", message, "give 1 to 1024, or 0 for all cores");
            config.solve.threads = 0;
        }
        Self { problems, ..config }
    }

    /// Returns the flags about the appearance; flags that are not given have the values of the configuration file.
    pub fn look(&self, flags: LookArguments) -> LookArguments {
        LookArguments {
            color: flags.color.or(Some(self.ui.color)),
            theme: flags.theme.or(Some(self.ui.theme)),
            background: flags.background.or(self.ui.background),
            glyphs: flags.glyphs.or(self.ui.glyphs),
        }
    }

    /// Returns the key bindings with the changes of the file, and the problems of the changes. A change with a problem
    /// is not applied.
    pub fn keymap(&self) -> (Keymap, Problems) {
        let (keymap, list) = Keymap::remapped(&self.keys);
        let mut problems = Problems::of(self.name.clone());
        for problem in list {
            problems.push(problem);
        }
        (keymap, problems)
    }

    /// Returns the number of threads requested by flag or file.
    pub fn threads(&self, flag: Option<u16>) -> Option<usize> {
        flag.or(Some(self.solve.threads).filter(|threads| *threads > 0)).map(usize::from)
    }
}

/// Returns the valid part of a file, and every problem of the rest.
fn valid_part(text: &str) -> (ConfigFile, Problems) {
    let mut found: Vec<(usize, Problem)> = Vec::new();
    let mut rest = text.to_owned();
    let mut valid = ConfigFile::default();
    // Each round blanks the lines of one problem, so that the line numbers of the other problems do not change.
    for _ in text.lines() {
        let error = match toml::from_str::<ConfigFile>(&rest) {
            Ok(written) => {
                valid = written;
                break;
            }
            Err(error) => error,
        };
        let start = error.span().map_or(0, |span| span.start.min(rest.len()));
        let path = error.span().map_or_else(String::new, |span| place(text, span.start));
        let remedy =
            format!("{}`lightbay config default` prints every key with its values", meant(error.message()));
        found.push((start, Problem::new(path, error.message(), remedy)));
        // A file with faulty syntax has no valid part.
        if rest.parse::<toml::Table>().is_err() {
            break;
        }
        let first = rest[..start].rfind('\n').map_or(0, |at| at + 1);
        let is_section = rest[first..].trim_start().starts_with('[');
        let mut end = first;
        for (number, line) in rest[first..].split_inclusive('\n').enumerate() {
            // A section ends where the next one begins.
            if number > 0 && (!is_section || line.trim_start().starts_with('[')) {
                break;
            }
            end += line.len();
        }
        let blank: String =
            rest[first..end].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect();
        rest.replace_range(first..end, &blank);
    }
    // In the order of the file.
    found.sort_by_key(|(start, _)| *start);
    let mut problems = Problems::new();
    for (_, problem) in found {
        problems.push(problem);
    }
    (valid, problems)
}

/// Returns a question with the nearest valid name, if a message of the reader names what it found and what it expected.
fn meant(message: &str) -> String {
    let mut names = message.split('`').skip(1).step_by(2);
    let near = names.next().and_then(|found| nearest(found, names));
    near.map_or_else(String::new, |near| format!("did you mean `{near}`? "))
}

/// Returns the keys of an action; an empty text, an empty list and "none" mean no keys.
fn key_texts(value: &toml::Value) -> Option<Vec<String>> {
    let texts = match value {
        toml::Value::String(text) => vec![text.clone()],
        toml::Value::Array(list) => {
            list.iter().map(|one| one.as_str().map(str::to_owned)).collect::<Option<_>>()?
        }
        _ => return None,
    };
    Some(texts.into_iter().filter(|text| !text.trim().is_empty() && text != "none").collect())
}

/// Returns the text that `config default` prints: the values, then the section of keys as comments.
fn default_text() -> String {
    let mut text = DEFAULT.to_owned();
    let keymap = Keymap::default();
    let shown = |action: usize| {
        let keys: Vec<String> = keymap.keys(action).iter().map(|keys| format!("{keys:?}")).collect();
        if let [only] = keys.as_slice() { only.clone() } else { format!("[{}]", keys.join(", ")) }
    };
    let lines = table::all().iter().enumerate().map(|(action, info)| {
        let assignment = format!("# {} = {}", info.name, shown(action));
        (info.group, format!("{assignment:<48} # {}\n", keymap.in_words(info.help)))
    });
    let mut last = None;
    for (group, line) in lines {
        if last != Some(group) {
            last = Some(group);
            let _ = writeln!(text, "\n# {}", group.title());
        }
        text.push_str(&line);
    }
    text
}

/// Returns the number of the line of a place such as `line 3, column 1`; places without a line come last.
fn line_of(place: &str) -> usize {
    let number = place.strip_prefix("line ").and_then(|rest| rest.split(',').next());
    number.and_then(|number| number.parse().ok()).unwrap_or(usize::MAX)
}

fn place(text: &str, offset: usize) -> String {
    let before = text.get(..offset).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    format!("line {line}, column {column}")
}

/// Executes the subcommand: prints the defaults or the path, or checks the file.
pub fn run(arguments: &Arguments, console: &mut Console) -> Result<Exit, Failure> {
    let path = || Ok::<_, Failure>(console.places()?.config().to_owned());
    match arguments.command.unwrap_or(Command::Check) {
        Command::Default if arguments.json => {
            let remedy = "leave it out, or use it with `lightbay config check` or `lightbay config path`";
            return Err(Failure::input(
                "--json",
                "cannot be combined with `default`, which prints TOML",
                remedy,
            ));
        }
        command if arguments.json => {
            let path = path()?;
            if matches!(command, Command::Check) {
                Config::read(&path)?;
            }
            let exists = path.exists();
            console.write_document(&ConfigDocument { path: path.to_string_lossy().into_owned(), exists })?;
        }
        Command::Default => console.out().write_all(default_text().as_bytes())?,
        Command::Path => {
            let path = path()?;
            writeln!(console.out(), "{}", printable(&path.to_string_lossy()))?;
        }
        Command::Check => {
            let path = path()?;
            let shown = printable(&path.to_string_lossy());
            Config::read(&path)?;
            let verdict = if path.exists() { "is valid" } else { "does not exist, so all defaults apply" };
            writeln!(console.out(), "{shown} {verdict}")?;
        }
    }
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn resources() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/resources/configs")
    }

    #[test]
    fn the_printed_file_is_exactly_the_defaults() {
        assert_eq!(Config::parse(DEFAULT), Config::default());
        let keys = ["color", "theme", "background", "glyphs", "mouse", "progress", "bell_after_s", "threads"];
        for key in keys {
            assert!(
                DEFAULT.lines().any(|line| line.trim_start_matches("# ").starts_with(&format!("{key} = "))),
                "{key}"
            );
        }
    }

    #[test]
    fn good_files_load_and_say_what_they_say() {
        let config = Config::read(&resources().join("good/full.toml")).unwrap();
        let ui = Ui {
            color: When::Never,
            theme: PaletteName::Contrast,
            background: Some(BackgroundName::Light),
            glyphs: Some(GlyphName::Ascii),
            mouse: false,
            progress: Some(true),
            bell_after_s: 30,
        };
        assert_eq!((config.ui, config.solve), (ui, Solve { threads: 3 }));
        let name = resources().join("good/empty.toml").display().to_string();
        assert_eq!(
            Config::read(&resources().join("good/empty.toml")),
            Ok(Config { name, ..Config::default() })
        );
        assert_eq!(Config::read(&resources().join("good/not_there.toml")), Ok(Config::default()));
    }

    #[test]
    fn bad_files_fail_with_their_message() {
        let mut seen = 0;
        for entry in fs::read_dir(resources().join("bad")).unwrap() {
            let path = entry.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            // The first line of the error is enough for the message.
            let expected: Vec<&str> =
                text.lines().next().unwrap().trim_start_matches("# ").split(" | ").collect();
            let message = Config::read(&path).unwrap_err().to_string();
            for part in expected {
                assert!(message.contains(part), "{}: '{part}' is missing in {message}", path.display());
            }
            seen += 1;
        }
        assert_eq!(seen, 6);
    }

    #[test]
    fn the_printed_keys_are_the_defaults_and_can_be_uncommented() {
        let text = default_text();
        assert_eq!(Config::parse(&text), Config::default());
        let (_, keys) = text.split_once("[keys]").unwrap();
        // Assignments have `=`; the comments before them are sentences and headings.
        let keys: Vec<&str> = keys
            .lines()
            .filter_map(|line| line.strip_prefix("# "))
            .filter(|line| line.split_once(" = ").is_some_and(|(name, _)| table::named(name).is_some()))
            .collect();
        assert_eq!(keys.len(), table::all().len());
        let config = Config::parse(&format!("[keys]\n{}", keys.join("\n")));
        assert_eq!(config.keymap(), (Keymap::default(), Problems::new()));
    }

    #[test]
    fn every_problem_is_told_and_the_rest_of_the_file_applies() {
        let text = "[ui]\nthem = \"okabe ü\"\ntheme = \"constrast\"\nmouse = false # für\n  [screen]\nx = 1\ny = 2\n[solve]\nthreads = 3\n";
        let config = Config::parse(text);
        let problems: Vec<String> = config.problems.list().iter().map(ToString::to_string).collect();
        assert_eq!(problems.len(), 3, "{problems:?}");
        for (problem, [place, name]) in problems.iter().zip([
            ["line 2", "`theme`?"],
            ["line 3", "`contrast`?"],
            ["line 5", "unknown field `screen`"],
        ]) {
            assert!(problem.starts_with(place) && problem.contains(name), "{problem}");
        }
        assert_eq!((config.ui.mouse, config.ui.theme, config.solve.threads), (false, PaletteName::Okabe, 3));
        let broken = Config::parse("[ui\nmouse = false\n");
        assert_eq!((broken.ui.mouse, broken.problems.list().len()), (true, 1));
    }

    #[test]
    fn keys_are_read_with_their_place() {
        let config = Config::read(&resources().join("good/keys.toml")).unwrap();
        let keys: Vec<_> = config.keys.iter().map(|remap| (remap.action.as_str(), &remap.keys)).collect();
        let solve = Some(vec!["F5".to_owned(), "Space k r".to_owned()]);
        assert_eq!(keys[0], ("solve_warm", &solve));
        assert!(keys[1..].iter().all(|(_, keys)| **keys == Some(Vec::new())), "{keys:?}");
        assert!(config.keymap().1.is_empty());
        let config = Config::parse("[keys]\nzoom = \"F5\"\n  zom = \"F6\"\nedit = 7\nquit = \"u\"\n");
        let problems: Vec<String> = config.keymap().1.list().iter().map(ToString::to_string).collect();
        let expected = [
            "line 3, column 3: keys.zom: this action",
            "line 4, column 1: keys.edit: the value",
            "line 5, column 1: keys.quit: 'u'",
        ];
        for (problem, expected) in problems.iter().zip(expected) {
            assert!(problem.starts_with(expected), "{problems:?}");
        }
        assert_eq!(problems.len(), 3);
    }

    #[test]
    fn flags_win_over_the_file() {
        let config = Config::parse("[ui]\ntheme = \"ansi\"\nglyphs = \"ascii\"\n[solve]\nthreads = 4\n");
        let flags = LookArguments { glyphs: Some(GlyphName::Block), ..LookArguments::default() };
        let look = config.look(flags);
        assert_eq!((look.theme, look.glyphs), (Some(PaletteName::Ansi), Some(GlyphName::Block)));
        assert_eq!((config.threads(Some(2)), config.threads(None)), (Some(2), Some(4)));
        assert_eq!(Config::default().threads(None), None);
    }
}
