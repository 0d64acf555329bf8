//! The configuration file and `lightbay config`: default values of flags.

use super::console::Console;
use super::documents::ConfigDocument;
use super::exit::Exit;
use super::failure::Failure;
use super::look::{BackgroundName, GlyphName, LookArguments, PaletteName, When};
use clap::{Args, Subcommand};
use lightbay_core::problem::{Problem, Problems, printable};
use serde::Deserialize;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Appearance of the screen, and use of the mouse.
    pub ui: Ui,
    /// Defaults for runs.
    pub solve: Solve,
}

/// Appearance of the screen, and use of the mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Solve {
    /// Threads for all runs together; 0: all cores, in the workbench all cores but one.
    pub threads: u16,
}

impl Config {
    /// Reads the user's file; if there is none, returns the defaults.
    ///
    /// # Errors
    /// Returns the problems of the file, with line and column.
    pub fn load(console: &Console) -> Result<Self, Failure> {
        match console.places() {
            Ok(places) => Ok(Self::read(places.config())?),
            // Without a home folder, a configuration file cannot exist.
            Err(_) => Ok(Self::default()),
        }
    }

    fn read(path: &Path) -> Result<Self, Problems> {
        let name = printable(&path.to_string_lossy());
        match fs::read_to_string(path) {
            Ok(text) => Self::parse(&text).map_err(|problem| Problems::from(problem).named(name)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => {
                let problem =
                    Problem::new("", format!("cannot be read: {error}"), "correct the file or remove it");
                Err(Problems::from(problem).named(name))
            }
        }
    }

    fn parse(text: &str) -> Result<Self, Problem> {
        let config: Self = toml::from_str(text).map_err(|error| {
            let path = error.span().map_or_else(String::new, |span| place(text, span.start));
            Problem::new(path, error.message(), "`lightbay config default` prints every key with its values")
        })?;
        if config.solve.threads > 1024 {
            let message = format!("'{}' is not valid", config.solve.threads);
            return Err(Problem::new("solve.threads", message, "give 1 to 1024, or 0 for all cores"));
        }
        Ok(config)
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

    /// Returns the number of threads requested by flag or file.
    pub fn threads(&self, flag: Option<u16>) -> Option<usize> {
        flag.or(Some(self.solve.threads).filter(|threads| *threads > 0)).map(usize::from)
    }
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
        Command::Default => console.out().write_all(DEFAULT.as_bytes())?,
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
        assert_eq!(Config::parse(DEFAULT), Ok(Config::default()));
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
        assert_eq!(config, Config { ui, solve: Solve { threads: 3 } });
        assert_eq!(Config::read(&resources().join("good/empty.toml")), Ok(Config::default()));
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
        assert_eq!(seen, 5);
    }

    #[test]
    fn flags_win_over_the_file() {
        let config =
            Config::parse("[ui]\ntheme = \"ansi\"\nglyphs = \"ascii\"\n[solve]\nthreads = 4\n").unwrap();
        let flags = LookArguments { glyphs: Some(GlyphName::Block), ..LookArguments::default() };
        let look = config.look(flags);
        assert_eq!((look.theme, look.glyphs), (Some(PaletteName::Ansi), Some(GlyphName::Block)));
        assert_eq!((config.threads(Some(2)), config.threads(None)), (Some(2), Some(4)));
        assert_eq!(Config::default().threads(None), None);
    }
}
