//! `lightbay show`: what a scenario or plan amounts to. The part of each kind is in a file of its own.

use super::check::bound_sentence;
use super::console::Console;
use super::exit::Exit;
use super::failure::Failure;
use super::quantity;
use super::source::Source;
use super::table::Table;
use clap::{Args, ValueHint};
use lightbay_core::checked::BoundTrust;
use lightbay_core::kind::Depth;
use lightbay_core::plan::Header;
use lightbay_core::problem::printable;
use lightbay_engines::{AnyFile, AnyPlan, AnyScenario};
use serde_json::{Value, json};
use std::io::Write as _;

mod training;

/// Arguments of `show`.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  lightbay show preset:megatron_177b\n  lightbay show plan.json --json | jq .training.links"
)]
pub struct Arguments {
    /// What to show: a file, `-` or preset:NAME
    #[arg(value_name = "FILE", value_parser = Source::parser(), value_hint = ValueHint::FilePath)]
    file: Source,

    /// Print one JSON object: {"schema", "what", "kind", "name", "scenario_sha256", "plan", "violations"} and an object
    /// named after the kind with its figures
    #[arg(long)]
    json: bool,
}

/// What is shown, whatever its kind.
struct Shown {
    scenario: AnyScenario,
    header: Option<Header>,
    plan: Option<AnyPlan>,
    violations: usize,
    bound: BoundTrust,
}

/// Shows it.
pub fn run(arguments: &Arguments, console: &mut Console) -> Result<Exit, Failure> {
    let shown = read(&arguments.file)?;
    let figures = match &shown.scenario {
        AnyScenario::Training(scenario) => {
            let plan = shown.plan.as_ref().map(|AnyPlan::Training(plan)| plan.plan());
            training::Figures::of(scenario, plan)
                .map_err(|problems| problems.named(arguments.file.to_string()))?
        }
    };
    if arguments.json {
        let mut document = document(&shown)?;
        document[shown.scenario.kind()] = figures.json();
        serde_json::to_writer_pretty(console.out(), &document)?;
        writeln!(console.out())?;
    } else {
        write!(console.out(), "{}{}", head(&shown)?, figures.text())?;
    }
    if shown.violations > 0 {
        console.warn(&format!(
            "the plan breaks {} rules; see `lightbay check {}`",
            shown.violations, arguments.file
        ));
    }
    Ok(Exit::Done)
}

fn read(source: &Source) -> Result<Shown, Failure> {
    match source.read()? {
        AnyFile::Scenario(scenario) => {
            Ok(Shown { scenario, header: None, plan: None, violations: 0, bound: BoundTrust::None })
        }
        AnyFile::Plan(file) => {
            let Some(scenario) = file.scenario() else {
                return Err(Failure::input(
                    source.to_string(),
                    "its result cannot be read",
                    "see `lightbay check`",
                ));
            };
            let report = file.check(Depth::Usual);
            Ok(Shown {
                scenario,
                header: report.header,
                plan: report.plan,
                violations: report.violations.len(),
                bound: report.bound,
            })
        }
    }
}

fn head(shown: &Shown) -> Result<String, Failure> {
    let scenario = &shown.scenario;
    let mut table = Table::new(&["", ""]);
    let mut row = |name: &str, value: String| table.row([format!("{name:<16}"), value]);
    let title = match &shown.header {
        None => format!("{} scenario '{}'\n", scenario.kind(), printable(scenario.name())),
        Some(header) => format!("{} plan '{}'\n", scenario.kind(), printable(&header.name)),
    };
    if let Some(header) = &shown.header {
        let objective = &header.objective;
        row("  method", printable(&header.method));
        let limit =
            header.limit.map_or_else(String::new, |limit| format!(", {limit:?} limit").to_lowercase());
        row("  status", format!("{}{limit}", header.status.word().replace('_', " ")));
        row(
            &format!("  {}", printable(&quantity::label(&objective.name))),
            quantity::value(&objective.name, objective.value),
        );
        if shown.violations == 0 {
            row("  bound", bound_sentence(header, shown.bound));
        }
        for (name, value) in &header.metrics {
            row(&format!("  {}", printable(&quantity::label(name))), quantity::value(name, *value));
        }
        let parameters: Vec<String> =
            header.parameters.iter().map(|(name, value)| printable(&format!("{name}={value}"))).collect();
        if !parameters.is_empty() {
            row("  parameters", parameters.join(" "));
        }
        row(
            "  found",
            format!(
                "after {} s, seed {}, {} threads",
                quantity::number(header.provenance.elapsed_s),
                header.seed,
                header.threads
            ),
        );
        if let Some(why) = &header.provenance.not_reproducible_because {
            row("  not repeatable", printable(why));
        }
    }
    row("  scenario", scenario.sha256()?);
    Ok(format!("{title}{table}"))
}

fn document(shown: &Shown) -> Result<Value, Failure> {
    Ok(json!({
        "schema": "lightbay.show/1",
        "what": if shown.header.is_some() { "plan" } else { "scenario" },
        "kind": shown.scenario.kind(),
        "name": shown.scenario.name(),
        "scenario_sha256": shown.scenario.sha256()?,
        "plan": shown.header,
        "violations": shown.violations,
    }))
}
