//! `lightbay check`: runs the independent checker on any plan file.

use super::complete;
use super::console::Console;
use super::documents::CheckDocument;
use super::exit::Exit;
use super::failure::Failure;
use super::source::{Source, stdin_at_most_once};
use super::value;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use lightbay_core::checked::Violation;
use lightbay_core::clock::Deadline;
use lightbay_core::kind::Depth;
use lightbay_core::problem::{counted, printable};
use lightbay_engines::files::EXACT_LIMIT;
use lightbay_engines::{AnyPlan, AnyScenario, Difference, ScenarioDifferences};
use std::io::Write as _;
use std::time::Duration;

/// Arguments of `check`.
#[derive(Args, Debug)]
#[command(
    after_long_help = "Examples:\n  lightbay check plan.json\n  lightbay check plan.json --exact --time-limit 5m\n  lightbay check plan.json --scenario job.json --json | jq .violations\n\nExit codes: 0 no violation; 1 violations, or another failure; 2 the file cannot be read as a plan."
)]
pub struct Arguments {
    /// Plan: a file or `-`
    #[arg(value_name = "PLAN", value_parser = Source::parser(), add = ArgValueCompleter::new(complete::source))]
    plan: Source,

    /// Compare the scenario of the plan with this one: a file, `-`, preset:NAME, session:NAME, or a plan, whose scenario
    /// is used. Every difference is a violation
    #[arg(long, value_name = "FILE", value_parser = Source::parser(), add = ArgValueCompleter::new(complete::source))]
    scenario: Option<Source>,

    /// Also run slow checks, such as an independent proof of the bound
    #[arg(long)]
    exact: bool,

    /// Time limit for --exact: 90, 90s or 5m; 0: no limit. Figures that are not checked by then count as not verified
    #[arg(long, value_name = "TIME", default_value_t = EXACT_LIMIT.as_secs_f64(), requires = "exact", value_parser = value::duration_s)]
    time_limit: f64,

    /// Print one JSON object (`lightbay schema check`)
    #[arg(long)]
    json: bool,
}

/// Compares the scenario `own` of a plan with the given scenario `asked`. Returns each difference as a violation. If
/// the scenarios state the same problem (they differ at most in name and origin), returns a remark instead.
fn held_against(
    own: &AnyScenario,
    asked: &AnyScenario,
    name: &str,
) -> Result<(Vec<Violation>, Option<String>), Failure> {
    const RULE: &str = "scenario";
    if own.kind() != asked.kind() {
        let message = format!("the plan is of kind {}, but {name} is of kind {}", own.kind(), asked.kind());
        return Ok((vec![Violation::new(RULE, message)], None));
    }
    let found = ScenarioDifferences::of(own, asked)?;
    if found.is_same_question {
        return Ok((Vec::new(), Some(format!("the plan is for the scenario of {name}"))));
    }
    let violation = |(field, [own, asked]): &Difference| {
        Violation::new(RULE, format!("{field} is {own} in the plan, but {asked} in {name}"))
    };
    let violations = found.asked().map(violation).collect();
    Ok((violations, None))
}

/// Executes the command: checks the plan, and prints the violations.
pub fn run(arguments: &Arguments, console: &mut Console) -> Result<Exit, Failure> {
    let deadline = match arguments.time_limit {
        0.0 => Deadline::NEVER,
        limit_s => Deadline::after(Duration::from_secs_f64(limit_s)),
    };
    let depth = if arguments.exact { Depth::Exact(deadline) } else { Depth::Usual };
    stdin_at_most_once(std::iter::once(&arguments.plan).chain(&arguments.scenario))?;
    let file = arguments.plan.plan_file(console)?;
    let asked =
        arguments.scenario.as_ref().map(|source| Ok::<_, Failure>((source, source.scenario(console)?.0)));
    let asked = asked.transpose()?;
    let own = file.scenario().filter(|_| asked.is_some());
    let mut report = file.check(depth);
    if let (Some((source, asked)), Some(own)) = (&asked, own) {
        let (violations, remark) = held_against(&own, asked, &source.to_string())?;
        report.violations.extend(violations);
        report.remarks.extend(remark);
    }
    let exit = if report.violations.is_empty() { Exit::Done } else { Exit::Failure };
    if arguments.json {
        let standing = report.standing();
        console.write_document(&CheckDocument {
            file: arguments.plan.to_string(),
            claimed: report.plan.iter().flat_map(AnyPlan::claimed).map(str::to_owned).collect(),
            bounds: standing.map_or_else(Vec::new, |standing| standing.bounds().to_vec()),
            plan: report.header,
            violations: report.violations,
            warnings: report.warnings.iter().map(ToString::to_string).collect(),
            remarks: report.remarks,
            bound_trust: report.bound,
            verified_bound: report.verified,
        })?;
        return Ok(exit);
    }
    for warning in &report.warnings {
        console.warn(&format!("{}: {warning}", arguments.plan));
    }
    let out = console.out();
    for violation in &report.violations {
        writeln!(out, "{violation}")?;
    }
    writeln!(out, "{}", counted(report.violations.len() as u64, "violation", "violations"))?;
    if let Some(standing) = report.standing().filter(|_| report.violations.is_empty()) {
        writeln!(out, "{}", standing.words(true))?;
    }
    for remark in &report.remarks {
        writeln!(out, "{}", printable(remark))?;
    }
    Ok(exit)
}
