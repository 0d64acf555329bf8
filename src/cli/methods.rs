//! `lightbay methods`: methods with their knobs, importers and exporters.

use super::console::Console;
use super::exit::Exit;
use super::failure::Failure;
use super::table::Table;
use clap::Args;
use lightbay_core::param::{Effect, ParamInfo};
use lightbay_core::problem::{Problem, suggestion};
use lightbay_core::run::common_params;
use lightbay_engines::{
    FormatInfo, KindInfo, SubjectSort, conversion, exporters, importers, kinds, knobs, methods,
};
use serde_json::{Value, json};
use std::io::Write as _;

/// Arguments of `methods`.
#[derive(Args, Debug)]
pub struct Arguments {
    /// Only this kind
    #[arg(value_name = "KIND")]
    kind: Option<String>,

    /// Print one JSON object: {"schema", "kinds": [{"name", "objective", "default_method", "scenario_knobs",
    /// "new_from_plans", "methods", "exporters"}], "common_params", "importers"}
    #[arg(long)]
    json: bool,

    /// Importers and exporters instead of methods
    #[arg(long)]
    formats: bool,
}

/// Lists what there is.
pub fn run(arguments: &Arguments, console: &mut Console) -> Result<Exit, Failure> {
    let kinds = selected(arguments.kind.as_deref())?;
    if arguments.json {
        console.write_json(&document(&kinds))?;
    } else if arguments.formats {
        formats(&kinds, console)?;
    } else {
        for kind in &kinds {
            one_kind(kind, console)?;
        }
        writeln!(console.out(), "All methods take")?;
        write!(console.out(), "{}", params(&common_params()))?;
        writeln!(
            console.out(),
            "\nSet one with `--set NAME=VALUE`; for one entry of a list `--set NAME[3]=VALUE`."
        )?;
    }
    Ok(Exit::Done)
}

fn selected(name: Option<&str>) -> Result<Vec<KindInfo>, Problem> {
    let all = kinds();
    let Some(name) = name else { return Ok(all) };
    if let Some(kind) = all.iter().find(|kind| kind.name == name) {
        return Ok(vec![*kind]);
    }
    let names: Vec<&str> = all.iter().map(|kind| kind.name).collect();
    Err(Problem::new("kind", format!("'{name}' is no kind"), suggestion(name, &names)))
}

fn one_kind(kind: &KindInfo, console: &mut Console) -> Result<(), Failure> {
    let out = console.out();
    let (objective, sense) = (kind.objective.name, kind.objective.sense.word());
    writeln!(out, "{}: {} ({sense} {objective})\n", kind.name, kind.help)?;
    for method in methods(kind.name) {
        let default = if method.name == kind.default_method { ", the default" } else { "" };
        let proves = if method.proves { ", proves a bound" } else { "" };
        let hot = if method.hot_start { ", takes a hot start" } else { "" };
        writeln!(out, "  {}{default}{proves}{hot}\n    {}", method.name, method.help)?;
        write!(out, "{}", params(&method.params))?;
    }
    writeln!(out, "\nKnobs of the scenario")?;
    writeln!(out, "{}", params(&knobs(kind.name)))?;
    if let Some(conversion) = conversion(kind.name) {
        writeln!(out, "Knobs of `lightbay new {}` from plans", kind.name)?;
        writeln!(out, "{}", params(&[conversion.plans, conversion.own].concat()))?;
    }
    Ok(())
}

fn params(infos: &[ParamInfo]) -> Table {
    let mut table = Table::new(&["", "", "", ""]);
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

fn document(kinds: &[KindInfo]) -> Value {
    let kinds: Vec<Value> = kinds
        .iter()
        .map(|kind| {
            json!({
                "name": kind.name,
                "help": kind.help,
                "objective": { "name": kind.objective.name, "sense": kind.objective.sense },
                "default_method": kind.default_method,
                "scenario_knobs": knobs(kind.name),
                "new_from_plans": conversion(kind.name).map(|conversion| {
                    json!({ "plans": conversion.plans, "own": conversion.own })
                }),
                "methods": methods(kind.name),
                "exporters": exporters(kind.name),
            })
        })
        .collect();
    json!({
        "schema": "lightbay.methods/1",
        "kinds": kinds,
        "common_params": common_params(),
        "importers": importers(),
    })
}
