//! `lightbay compare`: compares plans; the first one is the reference.

use super::complete;
use super::console::Console;
use super::exit::Exit;
use super::failure::Failure;
use super::quantity;
use super::source::{Source, sound, stdin_at_most_once};
use super::table::TextTable;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use lightbay_core::json::WriteError;
use lightbay_core::problem::printable;
use lightbay_engines::{AnyPlan, AnyScenario, ScenarioDifferences, metrics, other_question};
use lightbay_sessions::compare::{Apart, CompareTable, ComparedPlan, NotRanked, TOLERANCE, Verdict, compare};
use std::fmt::Write as _;
use std::io::Write as _;

/// Arguments of `compare`.
#[derive(Args, Debug)]
#[command(after_long_help = "Example:\n  lightbay compare fair.json joint.json --md")]
pub struct Arguments {
    /// Plans of one kind; the first is the reference
    #[arg(value_name = "PLAN", required = true, num_args = 2.., value_parser = Source::parser(), add = ArgValueCompleter::new(complete::source))]
    plans: Vec<Source>,

    /// Print one JSON object: {"schema", "kind", "labels", "not_ranked", "varied", "settings", "figures", "proofs",
    /// "tolerance"}
    #[arg(long, group = "form")]
    json: bool,

    /// Print Markdown tables
    #[arg(long, group = "form")]
    md: bool,

    /// Print comma-separated values
    #[arg(long, group = "form")]
    csv: bool,

    /// Print tables for a LaTeX document
    #[arg(long, group = "form")]
    tex: bool,

    /// Print an HTML document
    #[arg(long, group = "form")]
    html: bool,

    /// Leave out figures that are equal in all plans
    #[arg(long)]
    differences: bool,
}

/// Executes the command: compares the plans, and prints the tables.
pub fn run(arguments: &Arguments, console: &mut Console) -> Result<Exit, Failure> {
    stdin_at_most_once(&arguments.plans)?;
    let mut plans: Vec<AnyPlan> = Vec::new();
    let mut wrong = Vec::new();
    for source in &arguments.plans {
        match source.plan_file(console).and_then(|file| sound(file, &source.to_string())) {
            Ok(plan) => plans.push(plan),
            Err(problems) => wrong.push(problems),
        }
    }
    if !wrong.is_empty() {
        return Err(Failure::Input(wrong));
    }
    let labels: Vec<String> = arguments.plans.iter().map(ToString::to_string).collect();
    let headers: Vec<_> = plans.iter().map(AnyPlan::header).collect();
    let standings: Vec<_> = plans.iter().map(AnyPlan::standing).collect();
    let knobs: Vec<_> = plans.iter().map(knobs).collect();
    let scenarios: Vec<_> = plans.iter().map(AnyPlan::scenario).collect();
    let mut apart: Vec<Option<Apart>> = vec![None];
    for scenario in scenarios.iter().skip(1) {
        // Plans of different kinds are refused below.
        let first = scenarios.first().filter(|first| first.kind() == scenario.kind());
        apart.push(first.map(|first| apart_from(first, scenario)).transpose()?);
    }
    let subjects: Vec<ComparedPlan<'_>> = labels
        .iter()
        .zip(&headers)
        .zip(&standings)
        .zip(&knobs)
        .zip(&apart)
        .map(|((((label, header), standing), knobs), apart)| {
            let other_question = other_question(&header.kind, &header.method);
            let apart = apart.as_ref();
            ComparedPlan { label, header, standing, knobs, other_question, apart }
        })
        .collect();
    let kind = headers.first().map_or("", |header| header.kind.as_str());
    let mut table = compare(&subjects, TOLERANCE, metrics(kind))?;
    if arguments.differences {
        table = table.only_differences();
    }
    if arguments.json {
        console.write_document(&table)?;
    } else if arguments.md {
        write!(console.out(), "{}", table.to_markdown())?;
    } else if arguments.csv {
        write!(console.out(), "{}", table.to_csv())?;
    } else if arguments.tex {
        write!(console.out(), "{}", table.to_latex())?;
    } else if arguments.html {
        write!(console.out(), "{}", table.to_html())?;
    } else {
        write!(console.out(), "{}", text(&table))?;
    }
    say_origins(&labels, &plans, console);
    for (label, plan) in labels.iter().zip(&plans) {
        let claimed = plan.claimed();
        if !claimed.is_empty() {
            console.warn(&format!("{label}: claimed by its method, not checked: {}", claimed.join(", ")));
        }
    }
    Ok(Exit::Done)
}

/// Prints the source files of the plans and their scenarios, and the assumptions of imports; prints them only once if
/// they are equal for all plans.
fn say_origins(labels: &[String], plans: &[AnyPlan], console: &mut Console) {
    let lines: Vec<Vec<String>> =
        plans.iter().map(|plan| plan.scenario().origin_lines(Some(&plan.header()))).collect();
    let alike = lines.windows(2).all(|pair| pair[0] == pair[1]);
    for (label, lines) in labels.iter().zip(&lines).take(if alike { 1 } else { labels.len() }) {
        for line in lines {
            let label = if alike { "all plans" } else { label };
            console.say(&format!("{label}: {line}"));
        }
    }
}

/// Returns the differences between the scenarios of a plan and of the first plan, other than knobs.
fn apart_from(first: &AnyScenario, scenario: &AnyScenario) -> Result<Apart, WriteError> {
    let ScenarioDifferences { fields, job, origin, is_same_question, .. } =
        ScenarioDifferences::of(first, scenario)?;
    Ok(Apart { fields, job, origin, is_same_question })
}

fn knobs(plan: &AnyPlan) -> Vec<(String, lightbay_core::param::ParamValue)> {
    let scenario = plan.scenario();
    let names = scenario.every_knob();
    names.iter().filter_map(|info| Some((info.name.to_string(), scenario.knob(&info.name)?))).collect()
}

fn text(comparison: &CompareTable) -> String {
    let labels: Vec<String> = comparison.labels.iter().map(|label| printable(label)).collect();
    let mut out = String::new();
    if comparison.settings.is_empty() {
        out.push_str("The plans have the same settings.\n\n");
    } else {
        let mut table = TextTable::new(
            &["different settings", "of"]
                .into_iter()
                .chain(labels.iter().map(String::as_str))
                .collect::<Vec<_>>(),
        );
        for setting in &comparison.settings {
            let values = setting.values.iter().map(|value| {
                value.as_ref().map_or_else(|| "-".to_owned(), |value| printable(&value.to_string()))
            });
            let head = [printable(&setting.name), setting.scope.word().to_owned()];
            table.row(head.into_iter().chain(values));
        }
        out.push_str(&table.to_string());
        out.push('\n');
    }
    let mut columns = vec!["figure".to_owned()];
    for (index, label) in labels.iter().enumerate() {
        columns.push(format!(">{label}"));
        if index > 0 {
            columns.push(">change".to_owned());
            columns.push(String::new());
        }
    }
    let mut table = TextTable::new(&columns.iter().map(String::as_str).collect::<Vec<_>>());
    for figure in &comparison.figures {
        let value = |value: &Option<f64>| value.map_or_else(|| "-".to_owned(), |value| figure.text(value));
        let label = printable(&figure.label);
        let mut cells = vec![label, value(figure.values.first().unwrap_or(&None))];
        for (number, change) in figure.values.iter().skip(1).zip(&figure.changes) {
            cells.push(value(number));
            match change {
                None => cells.extend(["-".to_owned(), String::new()]),
                Some(change) => {
                    let percent = match (change.verdict, change.percent) {
                        (Verdict::Tie, _) => "0".to_owned(),
                        (_, Some(percent)) => signed_percent(percent),
                        (_, None) => format!("{:+}", change.difference),
                    };
                    let word = match change.verdict {
                        // Figures without a verdict show their role instead.
                        Verdict::Different => figure.role.word(),
                        verdict => verdict.word(),
                    };
                    cells.extend([percent, word.to_owned()]);
                }
            }
        }
        table.row(cells);
    }
    let mut proofs = vec!["proof".to_owned()];
    for (index, proof) in comparison.proofs.iter().enumerate() {
        proofs.push(printable(&proof.gaps));
        if index > 0 {
            proofs.extend([String::new(), String::new()]);
        }
    }
    table.row(proofs);
    out.push_str(&table.to_string());
    let notes = comparison.not_ranked.iter().map(NotRanked::sentence).chain(comparison.varied_sentence());
    for note in notes {
        let _ = write!(out, "\n{}\n", printable(&note));
    }
    out
}

fn signed_percent(percent: f64) -> String {
    let text = quantity::percent(percent / 100.0);
    if percent > 0.0 { format!("+{text}") } else { text }
}
