//! `lightbay check`: runs the independent checker on any plan file.

use super::console::Console;
use super::exit::Exit;
use super::failure::Failure;
use super::source::Source;
use super::value;
use clap::{Args, ValueHint};
use lightbay_core::clock::Deadline;
use lightbay_core::kind::Depth;
use lightbay_core::problem::{counted, printable};
use lightbay_engines::files::EXACT_LIMIT;
use std::io::Write as _;
use std::time::Duration;

/// Arguments of `check`.
#[derive(Args, Debug)]
#[command(after_long_help = "Exit codes: 0 no violation, 1 violations, 2 the file cannot be read as a plan.")]
pub struct Arguments {
    /// Plan: a file or `-`
    #[arg(value_name = "PLAN", value_parser = Source::parser(), value_hint = ValueHint::FilePath)]
    plan: Source,

    /// Also run slow checks, such as an independent proof of the bound
    #[arg(long)]
    exact: bool,

    /// Time for --exact: 90, 90s, 5m; 0 is no limit. The rest is reported as not verified
    #[arg(long, value_name = "TIME", default_value_t = EXACT_LIMIT.as_secs_f64(), requires = "exact", value_parser = value::duration_s)]
    time_limit: f64,
}

/// Checks the plan.
pub fn run(arguments: &Arguments, console: &mut Console) -> Result<Exit, Failure> {
    let deadline = match arguments.time_limit {
        0.0 => Deadline::NEVER,
        limit_s => Deadline::after(Duration::from_secs_f64(limit_s)),
    };
    let depth = if arguments.exact { Depth::Exact(deadline) } else { Depth::Usual };
    let file = arguments.plan.plan_file()?;
    let report = file.check(depth);
    for warning in &report.warnings {
        console.warn(&format!("{}: {warning}", arguments.plan));
    }
    let out = console.out();
    for violation in &report.violations {
        writeln!(out, "{violation}")?;
    }
    writeln!(out, "{}", counted(report.violations.len() as u64, "violation", "violations"))?;
    if let Some(standing) = report.standing() {
        writeln!(out, "{}", standing.words(true))?;
    }
    for remark in &report.remarks {
        writeln!(out, "{}", printable(remark))?;
    }
    Ok(if report.violations.is_empty() { Exit::Done } else { Exit::Failure })
}
