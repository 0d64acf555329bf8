//! Makes a job from the arguments. Every error in the arguments is found here, before anything is started or written.

use super::Arguments;
use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::cli::source::stdin_at_most_once;
use crate::cli::target::Target;
use lightbay_core::param::ParamInfo;
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::run::Job;
use lightbay_engines::{AnyPlan, KindInfo, Request, apply, job, kind, method, suited, unknown_method};

/// A run that is ready to start, with the target of its plan.
pub struct PreparedSolve {
    /// The run, ready to start.
    pub job: Box<dyn Job>,
    /// Kind of the run's scenario.
    pub kind: KindInfo,
    /// The default parameters of the method.
    pub defaults: Vec<ParamInfo>,
    /// Destination of the plan.
    pub target: Target,
    /// Number of threads of the run.
    pub threads: usize,
}

/// Reads and checks all arguments and inputs.
pub fn prepare(arguments: &Arguments, console: &mut Console) -> Result<PreparedSolve, Failure> {
    stdin_at_most_once([&arguments.scenario].into_iter().chain(&arguments.hot_start))?;
    let mut wrong: Vec<Problems> = Vec::new();
    let mut keep = |problems: Problems| wrong.push(problems);

    let target = Target::prepare(arguments.output.as_deref(), arguments.force, console)
        .map_err(|problem| keep(Problems::from(problem).named("--output")))
        .ok();
    let hot_start = match &arguments.hot_start {
        None => None,
        Some(source) => source
            .plan(console)
            .map_err(|problems| keep(problems.named(format!("--hot-start {source}"))))
            .ok(),
    };
    let scenario = arguments.scenario.scenario(console).map_err(&mut keep).ok();
    let Some((scenario, of_plan)) = scenario else { return Err(Failure::Input(wrong)) };
    if of_plan {
        console.say(&format!(
            "{} is a plan, so its scenario is solved; add --hot-start with the same file to start from the plan",
            arguments.scenario
        ));
    }
    let Some(info) = kind(scenario.kind()) else {
        return Err(Failure::input("kind", format!("'{}' is unknown", scenario.kind()), "update lightbay"));
    };
    if let Some(plan) = &hot_start
        && let Err(problem) = same_kind(plan, scenario.kind())
    {
        keep(Problems::from(problem).named("--hot-start"));
    }
    let name = arguments.method.as_deref().unwrap_or_else(|| suited(&scenario, &arguments.set));
    let Some(chosen) = method(info.name, name) else {
        keep(unknown_method(info.name, name).into());
        return Err(Failure::Input(wrong));
    };
    let twice = arguments.limits.given_twice(&arguments.set, "--set");
    if !twice.is_empty() {
        keep(twice);
    }
    let applied =
        apply(&scenario, name, &arguments.set).map_err(|problems| keep(problems.named("--set"))).ok();
    let (Some((scenario, settings)), Some(target), true) = (applied, target, wrong.is_empty()) else {
        return Err(Failure::Input(wrong));
    };

    let mut request = Request::of(name).with(settings);
    let limits = &arguments.limits;
    request.common = request.common.with(limits.seed, limits.time_limit, limits.gap);
    request.hot_start = hot_start.map(|plan| plan.shared());
    let job = job(&scenario, &request).map_err(|problems| by_flag(&problems, arguments))?;
    let threads = arguments.limits.thread_budget(console);
    Ok(PreparedSolve { job, kind: info, defaults: chosen.params, target, threads })
}

/// Replaces the parameter names in problems by the flags with which the user gave the wrong values.
fn by_flag(problems: &Problems, arguments: &Arguments) -> Problems {
    let mut named = Problems::new();
    for problem in problems.list() {
        let path = match problem.path.as_str() {
            "gap" if arguments.limits.gap.is_some() => "--gap",
            "hot_start" if arguments.hot_start.is_some() => "--hot-start",
            other => other,
        };
        named.push(Problem { path: path.to_owned(), ..problem.clone() });
    }
    named
}

fn same_kind(plan: &AnyPlan, kind: &str) -> Result<(), Problem> {
    let found = plan.scenario().kind();
    if found == kind {
        return Ok(());
    }
    Err(Problem::new(
        "kind",
        format!("is '{found}', but the scenario is of kind '{kind}'"),
        "give a plan of the same kind",
    ))
}
