//! `lightbay info`: versions, places, terminal capabilities, and a card with samples of glyphs and colours.

use super::config::Config;
use super::console::Console;
use super::documents::InfoDocument;
use super::exit::Exit;
use super::failure::Failure;
use super::look::{self, LookArguments, When};
use super::{table::TextTable, version};
use crate::runtime::clipboard::Between;
use clap::Args;
use lightbay_core::problem::printable;
use lightbay_engines::{kinds, methods, solver};
use lightbay_widgets::{HEAT_STEPS, Theme, Tone};
use ratatui::style::{Color, Modifier, Style};
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;

mod sgr;

/// Arguments of `info`.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  lightbay info\n  lightbay info --json | jq .methods.training\n  lightbay info --color always --theme contrast"
)]
pub struct Arguments {
    /// Look of the card.
    #[command(flatten)]
    look: LookArguments,

    /// Print one JSON object (`lightbay schema info`)
    #[arg(long)]
    json: bool,
}

/// Prints the information.
pub fn run(arguments: &Arguments, console: &mut Console) -> Result<Exit, Failure> {
    let config = Config::load_and_warn(console);
    let mut asked = config.look(arguments.look);
    // Escape sequences do not belong in a file or pipe.
    let paint = asked.color == Some(When::Always) || console.out_is_terminal();
    if !paint && !arguments.json {
        asked.color = Some(When::Never);
    }
    let theme = look::theme(asked, |name| std::env::var_os(name));
    if arguments.json {
        console.write_document(&document(&theme, &config, console))?;
        return Ok(Exit::Done);
    }
    let mut table = TextTable::new(&["", ""]);
    let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
    row("version", version::FULL.to_owned());
    row("formats", version::SCHEMAS.join(", "));
    for kind in kinds() {
        let names: Vec<&str> = methods(kind.name).iter().map(|method| method.name).collect();
        row(kind.name, names.join(", "));
    }
    row("solver", solver());
    row(
        "cores",
        std::thread::available_parallelism().map_or_else(|_| "unknown".to_owned(), |cores| cores.to_string()),
    );
    match console.places() {
        Ok(places) => {
            row("configuration", place(places.config()));
            row("sessions", place(&places.sessions()));
            row("logs", place(&places.logs()));
        }
        Err(_) => row("places", "none known: HOME is not set".to_owned()),
    }
    row("terminal", terminal(console));
    row("colours", colours(&theme));
    row("characters", theme.glyphs.set.name().to_owned());
    let (multiplexer, clipboard) = between();
    row("multiplexer", multiplexer.unwrap_or("none").to_owned());
    row("clipboard", clipboard.to_owned());
    for (number, protocol) in protocols(&config).into_iter().enumerate() {
        row(if number == 0 { "protocols" } else { "" }, protocol);
    }
    write!(console.out(), "{table}\n{}", card(&theme, paint))?;
    Ok(Exit::Done)
}

fn colours(theme: &Theme) -> String {
    format!("{} ({})", theme.depth.name(), theme.palette.name())
}

/// Returns the terminal multiplexer, and the way in which copied text reaches the clipboard.
fn between() -> (Option<&'static str>, &'static str) {
    match Between::of(|name| std::env::var_os(name)) {
        Between::Nothing => (None, "OSC 52, up to 74,994 bytes; longer texts go to a file"),
        Between::Tmux => {
            (Some("tmux"), "`tmux load-buffer -w`, which also sends OSC 52 to the outer terminal")
        }
        Between::Screen => (Some("GNU screen"), "OSC 52 in parts of 700 bytes"),
    }
}

/// Returns the protocols that the workbench uses, each with its purpose.
fn protocols(config: &Config) -> Vec<String> {
    let mouse = if config.ui.mouse { "on (SGR 1006); hold Shift to select text" } else { "off (ui.mouse)" };
    let shows = config.ui.progress.unwrap_or_else(|| look::shows_progress(|name| std::env::var_os(name)));
    let progress = if shows { "shown (OSC 9;4)" } else { "not shown (ui.progress = true shows it, OSC 9;4)" };
    vec![
        "keys: protocol of kitty if the terminal offers it, otherwise xterm's sequences".to_owned(),
        format!("mouse: {mouse}"),
        "paste: bracketed (2004)".to_owned(),
        "frames: synchronized (2026); terminals without it ignore the marks".to_owned(),
        format!("progress of runs: {progress}"),
    ]
}

fn document(theme: &Theme, config: &Config, console: &Console) -> InfoDocument {
    let (multiplexer, clipboard) = between();
    let places = console.places().ok();
    let path = |path: &Path| path.to_string_lossy().into_owned();
    let names = |kind: &str| methods(kind).iter().map(|method| method.name.to_owned()).collect();
    InfoDocument {
        version: version::FULL.to_owned(),
        formats: version::SCHEMAS.map(str::to_owned).to_vec(),
        methods: kinds().iter().map(|kind| (kind.name.to_owned(), names(kind.name))).collect(),
        solver: solver(),
        cores: std::thread::available_parallelism().ok().map(std::num::NonZero::get),
        configuration: places.as_ref().map(|places| path(places.config())),
        sessions: places.as_ref().map(|places| path(&places.sessions())),
        logs: places.as_ref().map(|places| path(&places.logs())),
        terminal: terminal(console),
        colours: colours(theme),
        glyphs: theme.glyphs.set.name().to_owned(),
        multiplexer,
        clipboard,
        protocols: protocols(config),
    }
}

fn place(path: &Path) -> String {
    let there = if path.exists() { "" } else { " (does not exist yet)" };
    format!("{}{there}", printable(&path.to_string_lossy()))
}

fn terminal(console: &Console) -> String {
    let name = std::env::var("TERM").map_or_else(|_| "TERM is not set".to_owned(), |name| printable(&name));
    if !console.out_is_terminal() {
        return format!("{name}, but the output is not a terminal");
    }
    let size = console.size().map_or_else(
        || "size unknown".to_owned(),
        |(columns, rows)| {
            let enough = if columns < 60 || rows < 16 { ", the workbench needs 60x16" } else { "" };
            format!("{columns}x{rows}{enough}")
        },
    );
    let keys = if io::stdin().is_terminal() { "" } else { ", keys are read from the controlling terminal" };
    format!("{name}, {size}{keys}")
}

/// Tones (meanings of colours) with their names.
const TONES: [(Tone, &str); 13] = [
    (Tone::Text, "text"),
    (Tone::Answer, "answer"),
    (Tone::Muted, "muted"),
    (Tone::Rule, "rule"),
    (Tone::Faint, "faint"),
    (Tone::Forward, "forward"),
    (Tone::Backward, "backward"),
    (Tone::Gradient, "gradient"),
    (Tone::GradientDim, "gradient dim"),
    (Tone::GradientFull, "gradient full"),
    (Tone::Good, "good"),
    (Tone::Bad, "bad"),
    (Tone::Changed, "changed"),
];

fn card(theme: &Theme, paint: bool) -> String {
    let glyphs = theme.glyphs;
    let mut out = String::new();
    let mut line = |name: &str, parts: &[(Style, String)]| {
        // Writing to a String cannot fail.
        let _ = write!(out, "{name:<12}");
        for (style, text) in parts {
            let style = if paint { *style } else { Style::new() };
            out.push_str(&sgr::paint(style, text));
            out.push(' ');
        }
        out.truncate(out.trim_end_matches(' ').len());
        out.push('\n');
    };
    let tones: Vec<_> = TONES.iter().map(|(tone, name)| (theme.style(*tone), (*name).to_owned())).collect();
    line("tones", &tones[..8]);
    line("", &tones[8..]);
    let heat: Vec<_> =
        (0..HEAT_STEPS).map(|step| (theme.style(Tone::Heat(step)), format!(" {step} "))).collect();
    line("heat", &heat);
    let series: Vec<_> = (0..6)
        .map(|number| (theme.style(Tone::Series(number)), format!("{}{number}", glyphs.square)))
        .collect();
    line("series", &series);
    let stack: Vec<_> = (0..4).map(|layer| (theme.style(Tone::Stack(layer)), format!(" {layer} "))).collect();
    line("stack", &stack);
    let plain = |parts: &[&str]| -> Vec<(Style, String)> { vec![(Style::new(), parts.join(" "))] };
    line("eighths", &plain(&glyphs.eighths));
    line("frame", &plain(&glyphs.frame));
    line(
        "bars",
        &plain(&[
            glyphs.bar,
            glyphs.used,
            glyphs.free,
            glyphs.limit,
            glyphs.gap_full,
            glyphs.gap_empty,
            glyphs.baseline,
        ]),
    );
    line(
        "marks",
        &plain(&[
            glyphs.forward,
            glyphs.backward,
            glyphs.square,
            glyphs.window,
            glyphs.inactive,
            glyphs.fold,
            glyphs.up,
            glyphs.arrow,
        ]),
    );
    line(
        "rules",
        &plain(&[
            glyphs.rule,
            glyphs.rule_focus,
            glyphs.vertical,
            glyphs.vertical_dotted,
            glyphs.edge,
            glyphs.tick,
        ]),
    );
    out
}
