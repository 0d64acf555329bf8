//! `lightbay check`: runs the independent checker on any plan file.

use super::console::Console;
use super::exit::Exit;
use super::failure::Failure;
use super::quantity;
use super::source::Source;
use clap::{Args, ValueHint};
use lightbay_core::checked::BoundTrust;
use lightbay_core::kind::Depth;
use lightbay_core::plan::Header;
use lightbay_core::problem::{counted, printable};
use std::io::Write as _;

/// Arguments of `check`.
#[derive(Args, Debug)]
#[command(after_long_help = "Exit codes: 0 no violation, 1 violations, 2 the file cannot be read as a plan.")]
pub struct Arguments {
    /// The plan: a file or `-`
    #[arg(value_name = "PLAN", value_parser = Source::parser(), value_hint = ValueHint::FilePath)]
    plan: Source,

    /// Also what may take long, such as proving optimality again by other means
    #[arg(long)]
    exact: bool,
}

/// Checks the plan.
pub fn run(arguments: &Arguments, console: &mut Console) -> Result<Exit, Failure> {
    let depth = if arguments.exact { Depth::EXACT } else { Depth::Usual };
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
    if report.violations.is_empty()
        && let Some(header) = &report.header
    {
        writeln!(out, "{}", bound_sentence(header, report.bound))?;
    }
    for remark in &report.remarks {
        writeln!(out, "{}", printable(remark))?;
    }
    Ok(if report.violations.is_empty() { Exit::Done } else { Exit::Failure })
}

/// What is known about the bound of a sound plan.
fn bound_sentence(header: &Header, trust: BoundTrust) -> String {
    let objective = &header.objective;
    let Some(bound) = objective.bound else {
        return format!("no bound is claimed by {}", printable(&header.method));
    };
    let what = quantity::phrase(&objective.name, bound);
    let gap = objective.gap.map_or_else(String::new, |gap| format!(", gap {}", quantity::percent(gap)));
    match trust {
        BoundTrust::Verified => format!("bound on {what} is verified{gap}"),
        BoundTrust::Claimed | BoundTrust::None => {
            format!("bound on {what} is claimed by {}{gap}", printable(&header.method))
        }
    }
}
