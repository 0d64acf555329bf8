//! Other plans and runs of the scenario, for sections on runs.

use lightbay_core::report::{Line, PlanBeside, RunBeside, Surroundings};

/// Name of the metric of the ideal makespan; `COMM` is the name of the ideal communication time.
const IDEAL: &str = "ideal_makespan_s";
const COMM: &str = "comm_ideal_s";

/// Maximum number of lines in a chart of a run.
const LINES: usize = 3;

/// Plans of the scenario of the run, the newest first.
fn of_run(beside: &Surroundings) -> Vec<&PlanBeside> {
    let mut plans: Vec<&PlanBeside> = beside.plans.iter().filter(|plan| plan.is_of_run).collect();
    plans.sort_by_key(|plan| std::cmp::Reverse(plan.number));
    plans
}

/// Makespan on the ideal network, from the plans of the scenario of the run.
pub(super) fn ideal_s(beside: &Surroundings) -> Option<f64> {
    of_run(beside).iter().find_map(|plan| plan.metrics.get(IDEAL).copied())
}

/// Ideal communication time, from the plans of the scenario of the run; never 0.
pub(super) fn comm_ideal_s(beside: &Surroundings) -> Option<f64> {
    of_run(beside).iter().find_map(|plan| plan.metrics.get(COMM).copied()).filter(|comm_s| *comm_s > 0.0)
}

/// NCT of a makespan.
pub(super) fn nct(beside: &Surroundings, makespan_s: f64) -> Option<f64> {
    Some(1.0 + (makespan_s - ideal_s(beside)?) / comm_ideal_s(beside)?)
}

/// Plans that get a line, best first: the baseline, and allocations without a search. The label of a line is the first
/// part of the name of the method; the baseline also gets a mark.
pub(super) fn references(beside: &Surroundings) -> Vec<(Line, &'static str)> {
    let mut plans = of_run(beside);
    plans.retain(|plan| plan.is_baseline || plan.method.ends_with("-alloc") || plan.method == "iter-halve");
    plans.sort_by(|a, b| a.value.total_cmp(&b.value).then(a.number.cmp(&b.number)));
    plans.dedup_by(|a, b| a.value == b.value);
    plans.truncate(LINES);
    let line = |plan: &PlanBeside| {
        let label = plan.method.split('-').next().unwrap_or_default().to_owned();
        let line = Line { name: plan.method.clone(), label, value: plan.value };
        (line, if plan.is_baseline { "B " } else { "" })
    };
    plans.into_iter().map(line).collect()
}

/// Method of a run; a star marks a run of other parameters.
pub(super) fn subject(run: &RunBeside) -> String {
    let mark = if run.is_stale { " *" } else { "" };
    format!("{}{mark}", run.method)
}

/// Lines of text about a run: its state, and its hot start if it has one.
pub(super) fn remarks(run: &RunBeside) -> Vec<String> {
    let mut lines = vec![format!("{} run {}: {}", run.method, run.id, run.state)];
    if let Some(report) = &run.hot_start {
        let value = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.6}"));
        lines.push(format!(
            "hot start {}, objective {} s before, {} s in this run: {}",
            report.fate.word(),
            value(report.before),
            value(report.after),
            report.why
        ));
    }
    lines
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// A plan of the scenario of the run.
    pub fn plan(number: u64, method: &str, value: f64, metrics: BTreeMap<String, f64>) -> PlanBeside {
        PlanBeside {
            number,
            method: method.to_owned(),
            value,
            metrics,
            is_of_run: true,
            ..PlanBeside::default()
        }
    }

    #[test]
    fn a_run_is_measured_against_simple_allocations_and_the_baseline_of_its_scenario() {
        let none = BTreeMap::new;
        let mut plans = vec![
            plan(1, "prop-alloc", 12.5, none()),
            plan(2, "iter-halve", 12.0, none()),
            plan(3, "delta-fast", 11.0, none()),
            plan(4, "equal-alloc", 12.5, none()),
            plan(5, "flat-alloc", 9.0, none()),
        ];
        plans[2].is_baseline = true;
        plans[4].is_of_run = false;
        let lines = references(&Surroundings { plans, run: None });
        let told: Vec<(&str, &str)> = lines.iter().map(|(line, mark)| (*mark, line.label.as_str())).collect();
        assert_eq!(told, [("B ", "delta"), ("", "iter"), ("", "prop")], "equal values have one line");
    }

    #[test]
    fn the_newest_plan_of_the_scenario_tells_the_ideal_network() {
        let metrics =
            |ideal: f64, comm: f64| BTreeMap::from([(IDEAL.to_owned(), ideal), (COMM.to_owned(), comm)]);
        let plans = vec![plan(1, "a", 1.0, metrics(9.0, 3.0)), plan(2, "b", 1.0, metrics(10.0, 2.0))];
        let mut beside = Surroundings { plans, run: None };
        assert_eq!(nct(&beside, 11.0), Some(1.5));
        beside.plans[1].is_of_run = false;
        assert_eq!((ideal_s(&beside), comm_ideal_s(&beside)), (Some(9.0), Some(3.0)));
        beside.plans[0].metrics.insert(COMM.to_owned(), 0.0);
        assert_eq!(nct(&beside, 11.0), None, "no NCT if the ideal communication time is 0");
    }
}
