//! Makes cells from the arguments. Every error in the arguments is found here, before anything is started or written.

use super::plans::Plans;
use super::table::RowTarget;
use super::{Arguments, parts};
use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::cli::source::stdin_at_most_once;
use lightbay_core::problem::Problems;
use lightbay_engines::sweep::{FoundRow, Shard, Starts, Sweep};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A sweep that is ready to start, with the targets of its rows and plans.
pub struct PreparedSweep {
    /// All cells.
    pub sweep: Arc<Sweep>,
    /// Part of the cells that this command solves.
    pub shard: Shard,
    /// Numbers of the cells to solve.
    pub todo: Vec<usize>,
    /// Plans of finished cells to start from.
    pub starts: Starts,
    /// Target of the rows.
    pub table: RowTarget,
    /// Target of the plans.
    pub plans: Plans,
    /// Rows that the table already has.
    pub found: Vec<FoundRow>,
    /// Threads of every run.
    pub threads: usize,
}

/// Reads and checks all arguments and inputs.
pub fn prepare(arguments: &Arguments, console: &mut Console) -> Result<PreparedSweep, Failure> {
    stdin_at_most_once(&arguments.scenarios)?;
    let shard = parts::shard(&arguments.shard, |name| std::env::var(name).ok(), console)?;
    let sweep = Arc::new(parts::divisible(sweep(arguments, console)?, shard, console)?);
    if arguments.limits.gap.is_some() && !sweep.heeds_gap() {
        let message = "has no effect: none of the methods proves a bound";
        return Err(Failure::input("--gap", message, "leave it out, or add a method that proves a bound"));
    }
    let threads = arguments.limits.thread_budget(console);
    let (resume, force) = (arguments.resume, arguments.force);
    let to_stdout = arguments.json || arguments.output.as_deref().is_none_or(|path| path.as_os_str() == "-");
    if to_stdout && console.out_is_closed() {
        let message = "is closed, and the rows would be lost";
        return Err(Failure::input(
            "standard output",
            message,
            "name a table with -o, or redirect standard output",
        ));
    }
    let (mut table, found) =
        RowTarget::prepare(arguments.output.as_deref(), &sweep, resume, arguments.retry_failed, force)?;
    if arguments.json && matches!(table, RowTarget::Stdout) {
        table = RowTarget::Nowhere;
    }
    let there: BTreeSet<usize> = found.iter().map(|row| row.cell).collect();
    let part = sweep.shard(shard);
    let todo: Vec<usize> = part.into_iter().filter(|number| !there.contains(number)).collect();
    let mut plans = Plans::new(arguments.plans.as_deref(), arguments.output.as_deref(), resume || force);
    plans.prepare(&todo)?;
    let starts = plans.starts(&sweep, &found, &todo, console);
    Ok(PreparedSweep { sweep, shard, todo, starts, table, plans, found, threads })
}

pub fn sweep(arguments: &Arguments, console: &Console) -> Result<Sweep, Failure> {
    let mut wrong: Vec<Problems> = Vec::new();
    let mut scenarios = Vec::new();
    for source in &arguments.scenarios {
        match source.scenario(console) {
            Ok((scenario, _)) => scenarios.push(scenario),
            Err(problems) => wrong.push(problems),
        }
    }
    for (settings, flag) in [(&arguments.set, "--set"), (&arguments.over, "--over")] {
        wrong.push(arguments.limits.given_twice(settings, flag));
    }
    wrong.retain(|problems| !problems.is_empty());
    if !wrong.is_empty() {
        return Err(Failure::Input(wrong));
    }
    let named = |flag: &'static str| move |problems: Problems| Failure::from(problems.named(flag));
    let sweep = Sweep::of(scenarios)?.methods(&arguments.method).map_err(named("--method"))?;
    let sweep = sweep.set(&arguments.set).map_err(named("--set"))?;
    let sweep = sweep.over(&arguments.over).map_err(named("--over"))?;
    let limits = &arguments.limits;
    Ok(sweep.limited(limits.time_limit, limits.gap, limits.seed).cold(arguments.cold))
}
