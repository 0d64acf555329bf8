//! The kind `training`: implements the traits of the core for scenario, result, checker and hot starts.

mod listed;
mod metrics;
mod named;
mod terms;

use crate::Training;
use crate::check::{self, Claims};
use crate::plan::TrainingResult;
use crate::scenario::{TrainingScenario, knobs};
use lightbay_core::checked::Verdict;
use lightbay_core::exchange::{CircuitMatrix, Switching, TrafficMatrix};
use lightbay_core::kind::{Carried, Depth, Kind, ObjectiveInfo, SweepInfo};
use lightbay_core::metric::MetricInfo;
use lightbay_core::param::{ParamInfo, ParamValue};
use lightbay_core::plan::Plan;
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::read::Fields;
use lightbay_core::report::differences::Differences;
use lightbay_core::report::{Report, SectionInfo};
use lightbay_core::scenario::Scenario;
use lightbay_core::term::Term;

/// Returns the claims of a plan outside its result.
fn claims(plan: &Plan<Training>) -> Claims<'_> {
    Claims {
        makespan_s: plan.objective.value,
        bound_s: plan.objective.bound,
        bound_covers: plan.provenance.bound_covers(),
        method: &plan.method,
        metrics: Some(&plan.metrics),
        robust: plan.parameters.text("robust").map(str::trim).filter(|text| !text.is_empty()),
    }
}

impl Kind for Training {
    const NAME: &'static str = "training";
    const OBJECTIVE: ObjectiveInfo = metrics::OBJECTIVE;
    const DEFAULT_METHOD: &'static str = "auto";
    const PREVIEW_METHOD: &'static str = "prop-alloc";

    const METRICS: &'static [MetricInfo] = metrics::METRICS;
    const SECTIONS: &'static [SectionInfo] = crate::report::SECTIONS;
    const SWEEPS: SweepInfo = SweepInfo {
        methods: &["prop-alloc", "sqrt-alloc", "iter-halve", "delta-topo", "delta-joint"],
        figure: "nct",
        // No plan is faster than the ideal network.
        best: Some(("ideal", 1.0)),
        ..SweepInfo::over(
            &["bandwidth_gbps", "seq", "micro_batches", "ports_per_pod", "mfu"],
            &["bandwidth", "sequence", "micro-batches", "ports", "MFU", "other parameter"],
        )
    };
    const SYNONYMS: &'static [(&'static str, &'static str)] = &[(knobs::DP, "gpus")];
    const TERMS: &'static [Term] = terms::TERMS;

    type Scenario = TrainingScenario;
    type Result = TrainingResult;

    fn suited_method(scenario: &TrainingScenario) -> &'static str {
        match scenario {
            TrainingScenario::Shared(_) => "reallocate",
            _ if scenario.reconfiguration().is_some() => "delta-phases",
            TrainingScenario::Job(_) | TrainingScenario::Instance(_) => Self::DEFAULT_METHOD,
        }
    }

    fn read_scenario(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<TrainingScenario> {
        TrainingScenario::read(fields, problems)
    }

    fn read_result(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<TrainingResult> {
        TrainingResult::read(fields, problems)
    }

    fn validate(scenario: &TrainingScenario) -> Result<(), Problems> {
        scenario.validate()
    }

    fn knobs(scenario: Option<&TrainingScenario>) -> Vec<ParamInfo> {
        match scenario {
            Some(scenario) => scenario.knobs().to_vec(),
            None => knobs::every_knob(),
        }
    }

    fn idle(scenario: &TrainingScenario) -> Vec<Problem> {
        scenario.idle()
    }

    fn question(scenario: &TrainingScenario) -> Option<String> {
        scenario.question()
    }

    fn knob(scenario: &TrainingScenario, name: &str) -> Option<ParamValue> {
        scenario.get(name)
    }

    fn set_knob(
        scenario: &mut TrainingScenario,
        name: &str,
        index: Option<usize>,
        value: &ParamValue,
    ) -> Result<(), Problem> {
        scenario.set(name, index, value)
    }

    fn report<'a>(
        scenario: &'a Scenario<Self>,
        plan: Option<&'a Plan<Self>>,
    ) -> Result<Box<dyn Report + 'a>, Problems> {
        Ok(crate::report::report(scenario, plan))
    }

    fn check(plan: &Plan<Self>, depth: Depth) -> Verdict {
        check::check_plan(&plan.scenario.body, &plan.result, &claims(plan), depth)
    }

    fn claimed(plan: &Plan<Self>) -> Vec<&'static str> {
        check::claimed(&plan.scenario.body, &plan.result, &claims(plan))
    }

    fn carry(
        result: &TrainingResult,
        from: &TrainingScenario,
        to: &TrainingScenario,
    ) -> Result<Carried<TrainingResult>, String> {
        match (from, to) {
            (TrainingScenario::Shared(from), TrainingScenario::Shared(to)) => {
                crate::search::reallocate::carry(result, from, to)
            }
            (TrainingScenario::Shared(_), _) => {
                Err("the plan is for several jobs, but the scenario has one job".to_owned())
            }
            (_, TrainingScenario::Shared(_)) => {
                Err("the plan is for one job, but the scenario has several jobs".to_owned())
            }
            _ => crate::methods::carry(result, from, to),
        }
    }

    fn differences(a: &Plan<Self>, b: &Plan<Self>) -> Differences {
        crate::report::differences::of(a, b)
    }

    fn circuits(plan: &Plan<Self>) -> Option<CircuitMatrix> {
        crate::files::handover::circuits(&plan.scenario.body, &plan.result)
    }

    fn circuits_of_phase(plan: &Plan<Self>, phase: u32) -> Option<(CircuitMatrix, Switching)> {
        let circuits = crate::files::handover::circuits_of_phase(&plan.scenario.body, &plan.result, phase)?;
        let delay_s = plan.scenario.body.reconfiguration()?.delay_s;
        let time_s = plan.result.phases.as_ref()?.events.get(phase as usize - 1)?.time_s;
        Some((circuits, Switching { phase, time_s, period_s: plan.objective.value, delay_s }))
    }

    fn traffic(plan: &Plan<Self>) -> Option<TrafficMatrix> {
        crate::files::handover::traffic(&plan.scenario.body)
    }
}
