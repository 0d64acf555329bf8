//! `lightbay methods`: methods with their parameters, importers and exporters.

use super::complete;
use super::console::Console;
use super::documents::{MethodsDocument, MethodsKind, NewFromPlans, ObjectiveEntry};
use super::exit::Exit;
use super::failure::Failure;
use super::table::TextTable;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use lightbay_core::method::MethodInfo;
use lightbay_core::param::{Effect, ParamInfo};
use lightbay_core::problem::{Problem, suggestion};
use lightbay_core::run::common_params;
use lightbay_engines::{
    FormatInfo, KindInfo, SubjectSort, conversion, exporters, importers, kinds, knobs, method, methods,
    name_param, unknown_method,
};
use std::io::Write as _;

/// Arguments of `methods`.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  lightbay methods training\n  lightbay methods collective trees\n  lightbay methods --formats\n  lightbay methods --json"
)]
pub struct Arguments {
    /// Kind whose methods to list [default: all]
    #[arg(value_name = "KIND", add = ArgValueCompleter::new(complete::kind))]
    kind: Option<String>,

    /// List only this method, with all its parameters
    #[arg(value_name = "METHOD", conflicts_with = "formats", add = ArgValueCompleter::new(complete::method))]
    method: Option<String>,

    /// Print one JSON object: {"schema", "kinds": [{"name", "objective", "default_method", "scenario_knobs",
    /// "new_from_plans", "methods", "exporters"}], "common_params", "importers"}
    #[arg(long)]
    json: bool,

    /// List import and export formats instead of methods
    #[arg(long)]
    formats: bool,
}

/// Lists methods or formats.
pub fn run(arguments: &Arguments, console: &mut Console) -> Result<Exit, Failure> {
    let kinds = selected(arguments.kind.as_deref())?;
    // A method is given only together with a kind, so there is exactly one kind.
    let chosen = match (&arguments.method, kinds.as_slice()) {
        (Some(name), [kind]) => Some(method(kind.name, name).ok_or_else(|| unknown_method(kind.name, name))?),
        _ => None,
    };
    if arguments.json {
        console.write_document(&document(&kinds, chosen.as_ref()))?;
        return Ok(Exit::Done);
    }
    if arguments.formats {
        formats(&kinds, console)?;
        return Ok(Exit::Done);
    }
    for kind in &kinds {
        match &chosen {
            Some(method) => one_method(kind, method, &method.params, console)?,
            None => one_kind(kind, console)?,
        }
    }
    // Tables of kinds end with a blank line, the table of a method does not.
    let title = if chosen.is_some() { "\nParameters of every method" } else { "Parameters of every method" };
    let table = params(&common_params());
    let how = "live: a running method takes a new value; cold: a run with a new value starts without a known plan.\n\
         Set a parameter with `--set NAME=VALUE`, one entry of a list with `--set NAME[3]=VALUE`.";
    writeln!(console.out(), "{title}\n{table}\n{how}")?;
    Ok(Exit::Done)
}

fn selected(name: Option<&str>) -> Result<Vec<KindInfo>, Problem> {
    let all = kinds();
    let Some(name) = name else { return Ok(all) };
    if let Some(kind) = all.iter().find(|kind| kind.name == name) {
        return Ok(vec![*kind]);
    }
    let names: Vec<&str> = all.iter().map(|kind| kind.name).collect();
    Err(Problem::new("", format!("kind '{name}' does not exist"), suggestion(name, &names)))
}

fn one_kind(kind: &KindInfo, console: &mut Console) -> Result<(), Failure> {
    let (objective, sense) = (kind.objective.name, kind.objective.sense.word());
    writeln!(console.out(), "{}: {} ({sense} {objective})\n", kind.name, kind.help)?;
    let all = methods(kind.name);
    let shared = shared(&all);
    for method in &all {
        let (common, own): (Vec<_>, Vec<_>) =
            method.params.iter().cloned().partition(|param| shared.contains(param));
        one_method(kind, method, &own, console)?;
        let names: Vec<&str> = common.iter().map(|param| param.name.as_ref()).collect();
        for (index, line) in wrapped(&names).iter().enumerate() {
            let word = if index == 0 { "shares" } else { "      " };
            writeln!(console.out(), "    {word} {line}")?;
        }
    }
    let out = console.out();
    if !shared.is_empty() {
        writeln!(out, "\nParameters that several methods share\n{}", params(&shared))?;
    }
    writeln!(out, "Parameters of the scenario")?;
    writeln!(out, "{}", params(&scenario_params(kind.name)))?;
    if let Some(conversion) = conversion(kind.name) {
        writeln!(out, "Parameters of `lightbay new {}` from plans", kind.name)?;
        writeln!(out, "{}", params(&[conversion.plans, conversion.own].concat()))?;
    }
    Ok(())
}

/// Prints one method with the parameters in `listed`.
fn one_method(
    kind: &KindInfo,
    method: &MethodInfo,
    listed: &[ParamInfo],
    console: &mut Console,
) -> Result<(), Failure> {
    let default = if method.name == kind.default_method { ", the default" } else { "" };
    let proves = if method.proves { ", proves a bound" } else { "" };
    let hot = if method.hot_start { ", accepts a hot start" } else { "" };
    writeln!(console.out(), "  {}{default}{proves}{hot}\n    {}", method.name, method.help)?;
    write!(console.out(), "{}", params(listed))?;
    Ok(())
}

/// Returns the parameters that at least two methods have with the same description. If a parameter has several such
/// descriptions, returns it once, with the description that most methods have.
fn shared(methods: &[MethodInfo]) -> Vec<ParamInfo> {
    let mut forms: Vec<(&ParamInfo, usize)> = Vec::new();
    for param in methods.iter().flat_map(|method| &method.params) {
        match forms.iter_mut().find(|(form, _)| *form == param) {
            Some((_, count)) => *count += 1,
            None => forms.push((param, 1)),
        }
    }
    let most = |name: &str| {
        let counts = forms.iter().filter(|(form, _)| form.name == name).map(|(_, count)| *count);
        counts.max().unwrap_or_default()
    };
    let mut shared: Vec<ParamInfo> = Vec::new();
    for (form, count) in &forms {
        let listed = shared.iter().any(|other| other.name == form.name);
        if *count > 1 && *count == most(&form.name) && !listed {
            shared.push((*form).clone());
        }
    }
    shared
}

/// Joins names with commas, in lines of at most [`LINE_CHARS`] characters.
fn wrapped(names: &[&str]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let comma = if index + 1 < names.len() { "," } else { "" };
        match lines.last_mut() {
            Some(line) if line.len() + name.len() + 2 <= LINE_CHARS => {
                line.push(' ');
                line.push_str(name);
                line.push_str(comma);
            }
            _ => lines.push(format!("{name}{comma}")),
        }
    }
    lines
}

/// Maximum number of characters in a line of names, so that an indented line fits a terminal of 100 columns.
const LINE_CHARS: usize = 88;

fn params(infos: &[ParamInfo]) -> TextTable {
    let mut table = TextTable::new(&["", "", "", ""]);
    for info in infos {
        let default = match &info.default {
            Some(value) if info.unit.is_empty() => format!("= {value}"),
            Some(value) => format!("= {value} {}", info.unit),
            None => info.unit.to_string(),
        };
        let effect = match info.effect {
            Effect::Live => "live",
            Effect::Warm => "",
            Effect::Cold => "cold",
        };
        table.row([
            format!("    {}", info.name),
            default,
            effect.to_owned(),
            format!("{} ({})", info.help, info.valid()),
        ]);
    }
    table
}

fn formats(kinds: &[KindInfo], console: &mut Console) -> Result<(), Failure> {
    let out = console.out();
    for kind in kinds {
        writeln!(out, "{}: `lightbay export FILE --to FORMAT`", kind.name)?;
        for format in exporters(kind.name) {
            one_format(&format, &format!(", of {}", sort(format.of)), out)?;
        }
        writeln!(out)?;
    }
    writeln!(out, "`lightbay import FORMAT FILE…`")?;
    for format in importers() {
        one_format(&format, "", out)?;
    }
    Ok(())
}

const fn sort(of: SubjectSort) -> &'static str {
    match of {
        SubjectSort::Scenario => "a scenario",
        SubjectSort::Plan => "a plan",
        SubjectSort::Either => "a scenario or plan",
    }
}

fn one_format(format: &FormatInfo, of: &str, out: &mut impl std::io::Write) -> std::io::Result<()> {
    writeln!(out, "  {} (.{}{of})\n    {}", format.name, format.extension, format.help)?;
    if !format.leaves_out.is_empty() {
        writeln!(out, "    leaves out: {}", format.leaves_out.join("; "))?;
    }
    if let Some(second) = format.against {
        let instead = second.replaces.map_or_else(String::new, |knob| format!(", in place of {knob}"));
        writeln!(out, "    --against {}: {}{instead}", sort(second.of), second.help)?;
    }
    write!(out, "{}", params(&format.params))
}

/// Returns the knobs of a kind, and the name that every scenario has.
fn scenario_params(kind: &str) -> Vec<ParamInfo> {
    let mut params = vec![name_param()];
    params.extend(knobs(kind));
    params
}

fn document(kinds: &[KindInfo], chosen: Option<&MethodInfo>) -> MethodsDocument {
    let entry = |kind: &KindInfo| MethodsKind {
        name: kind.name,
        help: kind.help,
        objective: ObjectiveEntry { name: kind.objective.name, sense: kind.objective.sense },
        default_method: kind.default_method,
        scenario_knobs: scenario_params(kind.name),
        new_from_plans: conversion(kind.name)
            .map(|conversion| NewFromPlans { plans: conversion.plans, own: conversion.own }),
        methods: chosen.map_or_else(|| methods(kind.name), |method| vec![method.clone()]),
        exporters: exporters(kind.name),
    };
    MethodsDocument {
        kinds: kinds.iter().map(entry).collect(),
        common_params: common_params(),
        importers: importers(),
    }
}
