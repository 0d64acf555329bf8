//! First steps of every method: reports known bounds and reference values, and reads the plan that a run starts from.

use crate::Tpu;
use crate::model::baselines;
use crate::model::topology::Topology;
use crate::scenario::TpuScenario;
use crate::series;
use crate::throughput::metrics;
use lightbay_core::context::Context;
use lightbay_core::event::{EventBody, HotStartFate, SeriesPoint};
use lightbay_core::kind::Kind;
use lightbay_core::method::MethodError;
use lightbay_core::problem::{Problem, Problems};

/// Converts a problem with the scenario or with a parameter to the error of a method.
pub fn invalid(problem: Problem) -> MethodError {
    MethodError::Invalid(Problems::one(problem))
}

/// The error of a method for a scenario that names a topology which the method does not build.
pub fn other_topology(method: &str, scenario: &TpuScenario) -> MethodError {
    let (word, suited) = (scenario.topology.word(), Tpu::suited_method(scenario));
    let remedy = if suited == "evaluate" {
        "use 'evaluate', or set topology=design".to_owned()
    } else {
        format!("use '{suited}' or 'evaluate', or set topology=design")
    };
    let what = if word == "given" {
        format!("is given, but '{method}' makes a different topology")
    } else {
        format!("is '{word}', which '{method}' does not make")
    };
    invalid(Problem::new("topology", what, remedy))
}

/// Reports values that are known in advance: the bound over all pods of the size and, if no switch has failed, the
/// throughput of the tori of the size.
pub fn announce(scenario: &TpuScenario, cx: &mut Context<'_, Tpu>) {
    let nodes = scenario.nodes();
    cx.bound(metrics::cover::tight_cover_bound(nodes));
    if !scenario.failed_ocs.is_empty() {
        // The throughput of the tori is known only for pods without failed switches.
        return;
    }
    point(cx, series::BASELINE_PT, baselines::pt_mcf(scenario.pt_shape()));
    // Shortest paths load all links of a doubly twisted torus equally, so its throughput is the hop bound.
    let twisted = scenario.pdtt_shape().ok().and_then(|shape| baselines::pdtt(shape).ok());
    if let Some(hops) = twisted.and_then(|pod| metrics::hops(&pod)) {
        point(cx, series::BASELINE_PDTT, metrics::hop_bound(nodes, hops.hop_sum));
    }
}

/// Reports a point of a series: the value `y` at the elapsed time of the run.
pub(super) fn point(cx: &mut Context<'_, Tpu>, name: &str, y: f64) {
    let x = cx.elapsed_s();
    cx.report(EventBody::Series(SeriesPoint { name: name.to_owned(), x, y }));
}

/// The topology and claims of the plan that a run was started from.
#[derive(Clone, Debug)]
pub struct Hot {
    /// States of the switches and the resulting links.
    pub topology: Topology,
    /// Claimed throughput of the plan.
    pub value: f64,
    /// Lengths of the 192 link classes that prove the upper end of the certificate of the plan.
    pub lengths: Option<Vec<f64>>,
}

/// The topology of the plan that the run was started from, if it has the number of cubes of the scenario; otherwise
/// this function reports the rejection. The calling method must report how it used an accepted plan.
pub fn hot_start(scenario: &TpuScenario, cx: &mut Context<'_, Tpu>) -> Option<Hot> {
    let hot = cx.hot_start()?;
    let plan = hot.plan.plan();
    let before = Some(plan.objective.value);
    let found = match plan.result.topology.topology() {
        Ok(pod) if pod.cubes() == usize::from(scenario.cubes) => Ok(pod.failing(&scenario.failed_ocs)),
        Ok(pod) => {
            Err(format!("the plan is for {} cubes, but the scenario has {}", pod.cubes(), scenario.cubes))
        }
        Err(problem) => Err(problem.to_string()),
    };
    match found {
        Ok(topology) => Some(Hot {
            topology,
            value: plan.objective.value,
            lengths: plan.result.certificates.class_lengths.clone(),
        }),
        Err(why) => {
            cx.hot_start_fate(HotStartFate::Rejected, why, before, None);
            None
        }
    }
}
