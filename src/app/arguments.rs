//! Arguments of actions in the palette: typed texts, offered values, and the resulting command.

use crate::app::action::Command;
use crate::app::layer::Layer;
use crate::app::state::App;
use crate::app::sweeps::suggestion;
use lightbay_engines::glossary;

/// A value offered for the argument of an action in the palette.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offered {
    /// Text to type.
    pub value: String,
    /// Meaning of the value.
    pub help: String,
}

/// The argument of an action.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    /// Placeholder, such as `FILE`.
    pub name: &'static str,
    /// Function that returns the values to choose from now; no values if any text may be typed.
    pub offered: fn(&App) -> Vec<Offered>,
    /// Function that makes the command from the typed text, or returns the problem of the text.
    pub command: fn(&str) -> Result<Command, String>,
}

fn offer(value: impl Into<String>, help: impl Into<String>) -> Offered {
    Offered { value: value.into(), help: help.into() }
}

fn methods(app: &App) -> Vec<Offered> {
    let methods = app.work.as_ref().map_or(&[][..], |work| &work.methods);
    methods.iter().map(|method| offer(method.name, method.help)).collect()
}

fn settings(app: &App) -> Vec<Offered> {
    let rows = app.work.as_ref().map_or_else(Vec::new, super::work::Work::rows);
    rows.into_iter()
        .map(|row| {
            let value =
                row.value.map_or_else(|| "follows from the scenario".to_owned(), |value| value.to_string());
            let unit = if row.info.unit.is_empty() { String::new() } else { format!(" {}", row.info.unit) };
            offer(format!("{}=", row.name), format!("{value}{unit}: {}", row.info.help))
        })
        .collect()
}

fn sweeps(app: &App) -> Vec<Offered> {
    let Some(work) = &app.work else { return Vec::new() };
    let panes = app.kind_panes().iter().filter_map(|info| info.sweeps);
    let knobs = panes.flat_map(|sweeps| sweeps.knobs);
    knobs
        .filter_map(|name| {
            let info = work.now.scenario.knobs().into_iter().find(|info| info.name == *name)?;
            let values = suggestion(&work.now.scenario, name).unwrap_or_default();
            Some(offer(format!("{name}={values}"), info.help))
        })
        .collect()
}

fn panes(app: &App) -> Vec<Offered> {
    app.kind_panes().iter().map(|info| offer(info.name, info.help)).collect()
}

fn plans(app: &App) -> Vec<Offered> {
    app.plans.rows().iter().map(|entry| offer(entry.number.to_string(), app.plans.words(entry))).collect()
}

fn formats(app: &App) -> Vec<Offered> {
    let kind = app.work.as_ref().map_or("", |work| work.kind);
    lightbay_engines::exporters(kind).iter().map(|format| offer(format.name, format.help)).collect()
}

fn importers(_: &App) -> Vec<Offered> {
    lightbay_engines::importers()
        .iter()
        .map(|format| offer(format!("{} ", format.name), format.help))
        .collect()
}

/// Parameters of the format that is being typed, as completions of the whole argument.
fn import_params(app: &App) -> Vec<Offered> {
    let Some(Layer::Palette(list)) = app.layers.last() else { return Vec::new() };
    let argument = list.field.text().trim_start().split_once(' ').map_or("", |(_, argument)| argument);
    let Some((format, _)) = argument.split_once(' ') else { return Vec::new() };
    let before = argument.rfind(' ').map_or("", |blank| &argument[..=blank]);
    let known = lightbay_engines::importers();
    let params = known.iter().filter(|info| info.name == format).flat_map(|info| &info.params);
    params
        .map(|param| offer(format!("{before}{}=", param.name), format!("{}: {}", param.help, param.valid())))
        .collect()
}

fn presets(app: &App) -> Vec<Offered> {
    app.start
        .presets
        .iter()
        .map(|preset| offer(preset.name, format!("{}: {}", preset.kind, preset.help)))
        .collect()
}

fn sessions(app: &App) -> Vec<Offered> {
    let recent = app.start.recent.iter().flatten();
    recent.map(|recent| offer(format!("session:{}", recent.name), format!("saved {}", recent.age))).collect()
}

/// Files of the folder whose path is being typed, as completions of the whole argument.
fn files(app: &App) -> Vec<Offered> {
    let Some((before, listing)) = app.listing_of_field() else { return Vec::new() };
    listing
        .entries
        .iter()
        .map(|entry| offer(format!("{before}{}", entry.name), entry.about.clone()))
        .collect()
}

fn words(app: &App) -> Vec<Offered> {
    let open = app.work.as_ref().map(|work| work.kind);
    let entries = glossary::entries().into_iter();
    entries
        .filter(|entry| entry.kind.is_none() || open.is_none() || entry.kind == open)
        .map(|entry| offer(entry.word, entry.sentence))
        .collect()
}

fn given(text: &str, what: &str, make: fn(String) -> Command) -> Result<Command, String> {
    if text.is_empty() { Err(format!("type {what}")) } else { Ok(make(text.to_owned())) }
}

/// Argument: a method to start.
pub const METHOD: Argument = Argument {
    name: "METHOD",
    offered: methods,
    command: |text| {
        given(text, "the name of a method", |name| Command::Solve { method: Some(name), warm: true })
    },
};

/// Argument: a method to choose.
pub const CHOICE: Argument = Argument {
    name: "METHOD",
    offered: methods,
    command: |text| given(text, "the name of a method", Command::ChooseMethod),
};

/// Argument: a setting.
pub const SETTING: Argument = Argument {
    name: "NAME=VALUE",
    offered: settings,
    command: |text| given(text, "NAME=VALUE", Command::Set),
};

/// Argument: a name for the scenario.
pub const NAME: Argument = Argument {
    name: "TEXT",
    offered: |_| Vec::new(),
    command: |text| given(text, "a name", |name| Command::Set(format!("name={name}"))),
};

/// Argument: a name for a plan.
pub const PLAN_NAME: Argument = Argument {
    name: "TEXT",
    offered: |_| Vec::new(),
    command: |text| given(text, "a name, or - for none", |name| Command::NamePlan(name.clone())),
};

/// Argument: a note on a plan.
pub const NOTE: Argument = Argument {
    name: "TEXT",
    offered: |_| Vec::new(),
    command: |text| given(text, "a note, or - for none", |note| Command::NotePlan(note.clone())),
};

/// Argument: a knob with values, and optionally methods.
pub const SWEEP: Argument = Argument {
    name: "NAME=VALUES [METHODS]",
    offered: sweeps,
    command: |text| given(text, "NAME=VALUES, such as seq=2048,4096", Command::Sweep),
};

/// Argument: a pane of the kind, with or without a key.
pub const PANE: Argument = Argument {
    name: "NAME",
    offered: panes,
    command: |text| given(text, "the name of a pane", Command::FocusNamed),
};

/// Argument: the number or the name of a plan.
pub const PLAN: Argument = Argument {
    name: "NUMBER|NAME",
    offered: plans,
    command: |text| {
        let by_name = || given(text, "the number or the name of a plan", Command::ShowPlanNamed);
        text.parse().map(Command::ShowPlan).or_else(|_| by_name())
    },
};

/// Argument: a format and optionally a path.
pub const FORMAT: Argument = Argument {
    name: "FORMAT [FILE]",
    offered: |app| formats(app).into_iter().chain(files(app)).collect(),
    command: |text| given(text, "a format, such as json", Command::Export),
};

/// Argument: a format of another tool, files, and parameters of the format.
pub const IMPORT: Argument = Argument {
    name: "[FORMAT] FILE… [NAME=VALUE]",
    offered: |app| importers(app).into_iter().chain(files(app)).chain(import_params(app)).collect(),
    command: |text| given(text, "files, and perhaps their format before them", Command::Import),
};

/// Argument: a name for the session.
pub const SESSION_NAME: Argument = Argument {
    name: "NAME",
    offered: |_| Vec::new(),
    command: |text| given(text, "a name for the session", Command::RenameSession),
};

/// Argument: a note on the session.
pub const SESSION_NOTE: Argument = Argument {
    name: "TEXT",
    offered: |_| Vec::new(),
    command: |text| given(text, "a note, or - for none", Command::NoteSession),
};

/// Argument: a file or session.
pub const FILE: Argument = Argument {
    name: "FILE",
    offered: |app| sessions(app).into_iter().chain(files(app)).collect(),
    command: |text| given(text, "the name of a file, such as job.json or plan.json", Command::Open),
};

/// Argument: a file for recorded keys.
pub const RECORDING: Argument = Argument {
    name: "FILE",
    offered: files,
    command: |text| given(text, "the name of a file for the keys, such as demo.keys", Command::Record),
};

/// Argument: a file of keys to replay.
pub const SCRIPT: Argument = Argument {
    name: "FILE",
    offered: files,
    command: |text| given(text, "the name of a file of keys", Command::Script),
};

/// Argument: a folder to save in.
pub const FOLDER: Argument = Argument {
    name: "FOLDER",
    offered: files,
    command: |text| given(text, "the name of a folder with free space", Command::SaveTo),
};

/// Argument: a term of the glossary.
pub const WORD: Argument = Argument {
    name: "WORD",
    offered: words,
    command: |text| given(text, "a term, such as NCT", Command::Explain),
};

/// Argument: a preset.
pub const PRESET: Argument = Argument {
    name: "PRESET",
    offered: presets,
    command: |text| given(text, "the name of a preset", Command::New),
};
