//! `lightbay solve MODEL.mps`: the model of another program, solved by the HiGHS that is built in.

use super::Arguments;
use crate::cli::console::Console;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::limits::Progress;
use crate::cli::source::Source;
use crate::cli::target::Target;
use lightbay_core::problem::{Problem, Problems, printable};
use lightbay_core::read::MAX_UNPACKED_BYTES;
use lightbay_engines::{ModelOutcome, is_foreign_model, solve_foreign_model};
use std::fs::File;
use std::io::{self, Read as _, Write as _};

/// Number of bytes by which a model is recognised.
const HEAD_BYTES: u64 = 64 << 10;

/// Returns the content of the file, if the file is a model.
pub(super) fn model_in(source: &Source) -> Result<Option<Vec<u8>>, Failure> {
    let Source::File(path) = source else { return Ok(None) };
    // Another file, or one that cannot be read, is reported as a scenario.
    let Ok(mut file) = File::open(path) else { return Ok(None) };
    let mut content = Vec::new();
    let read = io::Read::take(&mut file, HEAD_BYTES).read_to_end(&mut content);
    if read.is_err() || !is_foreign_model(&content) {
        return Ok(None);
    }
    let read = file.take(MAX_UNPACKED_BYTES).read_to_end(&mut content);
    read.map_err(|error| {
        let problem =
            Problem::new("", format!("cannot be read: {error}"), "check the file and its permissions");
        Failure::Input(vec![Problems::from(problem).named(source.to_string())])
    })?;
    Ok(Some(content))
}

/// Solves the model, prints a summary, and writes the solution.
pub(super) fn run(content: &[u8], arguments: &Arguments, console: &mut Console) -> Result<Exit, Failure> {
    let mut problems = Problems::of(arguments.scenario.to_string());
    let without_effect = [
        ("--method", arguments.method.is_some()),
        ("--set", !arguments.set.is_empty()),
        ("--hot-start", arguments.hot_start.is_some()),
        ("--seed", arguments.limits.seed.is_some()),
        ("--json", arguments.json),
        ("--progress", arguments.progress.is_some_and(|form| form != Progress::None)),
    ];
    for (flag, _) in without_effect.into_iter().filter(|(_, given)| *given) {
        problems.add(flag, "has no effect on the model of another program", "leave it out");
    }
    if !problems.is_empty() {
        return Err(Failure::Input(vec![problems]));
    }
    let target = match &arguments.output {
        Some(path) => Some(Target::prepare(Some(path.as_path()), arguments.force, console)?),
        None => None,
    };
    let limits = &arguments.limits;
    let threads = limits.thread_budget(console);
    let answer = solve_foreign_model(content, limits.time_limit, limits.gap, threads)
        .map_err(|problems| Failure::Input(vec![problems.named(arguments.scenario.to_string())]))?;
    for line in &answer.lines {
        writeln!(console.out(), "{}", printable(line))?;
    }
    if let (Some(mut target), Some(solution)) = (target, &answer.solution) {
        target.write(solution.as_bytes(), console)?;
    }
    Ok(match answer.outcome {
        ModelOutcome::Point => Exit::Done,
        ModelOutcome::NoOptimum => Exit::Infeasible,
        ModelOutcome::NoPoint => Exit::NoPlan,
    })
}
