//! Checks the method that the envelope of a plan file names: the catalogue knows the methods, the core does not.
//!
//! Every plan that is read from a file is checked here. The plan of a run of this program needs no such check, because
//! its method and parameters come from the catalogue.

use crate::solve::unknown_method;
use crate::subject::Variants;
use lightbay_core::checked::{BoundTrust, Checked, Violation};
use lightbay_core::format::SubjectSort;
use lightbay_core::method::MethodInfo;
use lightbay_core::param::ParamInfo;
use lightbay_core::plan::{Plan, Status};
use lightbay_core::problem::{Problem, printable, suggestion};
use lightbay_core::run::common_params;

/// Returns the rules that the method, its parameters and the names of the figures break.
pub(crate) fn violations<K: Variants>(plan: &Plan<K>) -> Vec<Violation> {
    let mut found = Vec::new();
    let figures: Vec<&str> =
        K::METRICS.iter().filter(|metric| metric.is_carried()).map(|metric| metric.name).collect();
    for name in plan.metrics.keys().filter(|name| !figures.contains(&name.as_str())) {
        let text = format!(
            "plans of kind {1} have no metric '{0}'; {2}",
            printable(name),
            K::NAME,
            suggestion(name, &figures)
        );
        found.push(Violation::new("metrics", text));
    }
    let mut methods: Vec<_> = K::methods().iter().map(|method| method.info()).collect();
    // A plan from a file of another tool names the import format as its method, with the parameters of the import.
    let from_files = K::importers().into_iter().filter(|format| format.of == SubjectSort::Plan);
    methods.extend(from_files.map(|format| MethodInfo {
        name: format.name,
        help: format.help,
        proves: false,
        hot_start: false,
        params: format.params,
    }));
    let Some(info) = methods.iter().find(|info| info.name == plan.method) else {
        found.push(from("method", &unknown_method(K::NAME, &plan.method)));
        return found;
    };
    let mut known: Vec<ParamInfo> = info.params.clone();
    // A limit that was changed during the run is recorded like a parameter.
    known.extend(common_params());
    for (name, value) in plan.parameters.iter() {
        let Some(param) = known.iter().find(|param| param.name == name) else {
            let names: Vec<&str> = info.params.iter().map(|param| param.name.as_ref()).collect();
            let problem = Problem::new(
                name.to_owned(),
                format!("is not a parameter of {}", info.name),
                suggestion(name, &names),
            );
            found.push(from("parameters", &problem));
            continue;
        };
        if let Err(problem) = param.accept(value) {
            found.push(from("parameters", &problem));
        }
    }
    let claims = matches!(plan.status, Status::Optimal | Status::GapReached | Status::Feasible);
    if claims && !info.proves {
        let text =
            format!("is '{}', but {} proves no bound; write 'heuristic'", plan.status.word(), info.name);
        found.push(Violation::new("status", text));
    }
    found
}

/// Returns a violation if the method cannot prove bounds, and the checker did not confirm the bound that the plan
/// claims.
pub(crate) fn unfounded<K: Variants>(checked: &Checked<K>) -> Option<Violation> {
    let plan = checked.plan();
    let proves =
        K::methods().iter().map(|method| method.info()).any(|info| info.name == plan.method && info.proves);
    (checked.bound_trust() == BoundTrust::Claimed && !proves).then(|| {
        Violation::new(
            "objective",
            format!(
                "a bound is given, but {} proves no bound, and the checker cannot confirm the given bound",
                printable(&plan.method)
            ),
        )
    })
}

fn from(code: &'static str, problem: &Problem) -> Violation {
    Violation::new(code, problem.to_string())
}
