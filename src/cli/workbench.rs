//! Opens the workbench: chooses what to show first, and checks for a terminal.

use super::config::Config;
use super::console::Console;
use super::exit::Exit;
use super::failure::Failure;
use super::grammar::OpeningArguments;
use super::look;
use super::source::{Source, sound};
use super::version;
use crate::app::drawn::{Drawn, JobKey, JobResult};
use crate::app::effect::Source as AppSource;
use crate::app::{App, Signs};
use crate::helper::{self, ProcessGroup};
use crate::runtime::kept_look::KeptLook;
use crate::runtime::{self, First, Opening, View};
use crate::view::{self, ViewCache};
use lightbay_core::problem::{Problem, suggestion};
use lightbay_engines::{AnyFile, kinds, method, methods, unknown_method};
use ratatui::Frame;
use std::io::{self, IsTerminal as _};

/// Opens the workbench.
pub fn run(arguments: OpeningArguments, console: &mut Console) -> Result<Exit, Failure> {
    let arguments = untangle(arguments);
    require_terminal(&arguments, console)?;
    let opening = prepare(arguments, console)?;
    console.divert(true);
    let ended = runtime::run(opening, Screen::default())
        .map_err(|error| Failure::Mendable(format!("the workbench cannot use this terminal: {error}")))?;
    if let Some(message) = &ended.message {
        console.say(message);
    }
    Ok(Exit::of_code(ended.code))
}

/// The view with its cache, in the form that the event loop calls.
#[derive(Debug, Default)]
struct Screen(ViewCache);

impl View for Screen {
    fn draw(&mut self, app: &App, frame: &mut Frame<'_>) -> Drawn {
        view::draw(app, &mut self.0, frame)
    }

    fn deliver(&mut self, key: JobKey, result: JobResult) {
        self.0.accept(key, result);
    }
}

/// If the value of `--solve` is not the name of a method, as in `--solve preset:tiny4`, takes the value as the scenario
/// to open, and solves with the default method.
fn untangle(mut arguments: OpeningArguments) -> OpeningArguments {
    if arguments.subject.is_none()
        && let Some(Some(word)) = &arguments.solve
        && kinds().iter().all(|kind| method(kind.name, word).is_none())
    {
        arguments.subject = Some(Source::of(word.into()));
        arguments.solve = Some(None);
    }
    arguments
}

fn require_terminal(arguments: &OpeningArguments, console: &Console) -> Result<(), Failure> {
    // Keys may come from the controlling terminal while a scenario comes from standard input.
    let keys = io::stdin().is_terminal() || std::fs::File::open("/dev/tty").is_ok();
    if keys && console.out_is_terminal() {
        return Ok(());
    }
    let subject = arguments.subject.as_ref().map_or_else(|| "SCENARIO".to_owned(), ToString::to_string);
    Err(Failure::input(
        "",
        "the workbench needs a terminal",
        format!("without a terminal use `lightbay solve {subject} -o plan.json`"),
    ))
}

fn prepare(arguments: OpeningArguments, console: &Console) -> Result<Opening, Failure> {
    let first = match &arguments.subject {
        None => First::Source(AppSource::Last),
        Some(Source::Session(name)) if !name.contains('/') => First::Source(AppSource::Session(name.clone())),
        Some(source) => match source.read(console)? {
            AnyFile::Scenario(scenario) => First::Scenario(scenario, source.to_string()),
            AnyFile::Plan(file) => First::Plan(sound(file, &source.to_string())?, source.to_string()),
        },
    };
    let solve = match arguments.solve {
        None => None,
        // An empty name stands for the default method of the kind, because the kind may not be known yet.
        Some(None) => Some(String::new()),
        Some(Some(name)) => Some(known(name, &first)?),
    };
    let config = Config::load(console);
    let by_flag = (arguments.look.theme.is_some(), arguments.look.glyphs.is_some());
    let look = config.look(arguments.look);
    let places = console.places()?;
    let theme = look::theme(look, |name| std::env::var_os(name));
    let (keymap, problems) = config.keymap();
    let named = |problem: &Problem| format!("{}: {problem}; the other keys apply", problems.source);
    let warnings = config.warnings().into_iter().chain(problems.list().iter().map(named)).collect();
    let kept = KeptLook::read(&places);
    Ok(Opening {
        first_steps: !kept.first_steps_seen,
        out: console.out_handle()?,
        err: console.err_handle().ok(),
        first,
        solve,
        threads: config.threads(arguments.threads).unwrap_or_else(all_but_one),
        launcher: helper::launcher(ProcessGroup::Own),
        base: (theme.palette, theme.glyphs.set),
        theme: kept.apply(theme, by_flag),
        ask_background: look.background.is_none(),
        mouse: config.ui.mouse,
        signs: Signs {
            progress: config
                .ui
                .progress
                .unwrap_or_else(|| look::shows_progress(|name| std::env::var_os(name))),
            bell_after_s: config.ui.bell_after_s,
        },
        places,
        version: version::FULL,
        panes: view::present::panes,
        keymap,
        warnings,
    })
}

fn known(name: String, first: &First) -> Result<String, Problem> {
    let kinds: Vec<&str> = match first {
        First::Scenario(scenario, _) => vec![scenario.kind()],
        First::Plan(plan, _) => vec![plan.scenario().kind()],
        First::Source(_) => kinds().iter().map(|kind| kind.name).collect(),
    };
    let all: Vec<_> = kinds.iter().flat_map(|kind| methods(kind)).collect();
    if all.iter().any(|method| method.name == name) {
        return Ok(name);
    }
    let names: Vec<&str> = all.iter().map(|method| method.name).collect();
    let problem = match kinds[..] {
        [kind] => unknown_method(kind, &name),
        _ => Problem::new("", format!("method '{name}' does not exist"), suggestion(&name, &names)),
    };
    Err(Problem { path: "--solve".to_owned(), ..problem })
}

/// Returns the number of cores minus 1: one core stays free for the screen.
fn all_but_one() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get().saturating_sub(1).max(1))
}
