//! `all-to-all-order`: the phases in which all GPUs exchange data without contention.

use super::idle;
use crate::Crossconnect;
use crate::plan::PhaseRule;
use crate::rollout::assemble;
use crate::rollout::phases::{self, Counter, MAX_GPUS};
use crate::scenario::CrossconnectScenario;
use lightbay_core::context::Context;
use lightbay_core::event::Severity;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::plan::Status;
use lightbay_core::problem::{Problem, Problems, counted};
use lightbay_core::scenario::Scenario;

/// Name of the method.
pub const NAME: &str = "all-to-all-order";

/// The method `all-to-all-order`: divides an all-to-all among the pods of a scenario into ordered phases.
pub(super) struct AllToAll;

impl Method<Crossconnect> for AllToAll {
    fn info(&self) -> MethodInfo {
        MethodInfo {
            name: NAME,
            help: "Divides an all-to-all between the GPUs of all pods into ordered phases; in each phase, every \
                 GPU receives from one GPU. Changes no switch.",
            proves: false,
            hot_start: false,
            params: vec![
                ParamInfo::int(
                    "gpus_per_pod",
                    1,
                    MAX_GPUS.into(),
                    8,
                    "Number of GPUs per pod; pods times GPUs per pod gives the number of phases.",
                ),
                ParamInfo::choice(
                    "phase_rule",
                    &PhaseRule::ALL.map(|(name, _)| name),
                    "corrected",
                    "Order of the phases: as printed in the paper (printed), which is correct only if the \
                     number of pods equals the GPUs per pod, or corrected for any number of pods \
                     (corrected).",
                ),
            ],
        }
    }

    fn idle(&self, _scenario: &CrossconnectScenario, _params: &Params) -> Vec<Problem> {
        idle::order()
    }

    fn solve(
        &self,
        scenario: &Scenario<Crossconnect>,
        params: &Params,
        cx: &mut Context<'_, Crossconnect>,
    ) -> Result<Outcome, MethodError> {
        let body = &scenario.body;
        let gpus = params.count("gpus_per_pod") as u32;
        let rule = match params.text("phase_rule") {
            Some("printed") => PhaseRule::Printed,
            _ => PhaseRule::Corrected,
        };
        let pods = body.pods;
        if u64::from(pods) * u64::from(gpus) > MAX_GPUS.into() {
            let most = MAX_GPUS / pods;
            return Err(Problems::from(Problem::new(
                "gpus_per_pod",
                format!(
                    "is {gpus}, which with {} gives more than {MAX_GPUS} GPUs",
                    counted(pods.into(), "pod", "pods")
                ),
                format!("give at most {most}"),
            ))
            .into());
        }
        if rule == PhaseRule::Printed && pods != gpus {
            cx.note(
                Severity::Warning,
                format!(
                    "the printed order is correct only if the number of pods equals the GPUs per pod, but there are {pods} pods of {gpus} GPUs: \
                     a GPU may receive from several GPUs at once; phase_rule=corrected is correct for any numbers"
                ),
            );
        }
        let mut order = phases::empty(rule, gpus);
        let mut counter = Counter::new(pods, gpus);
        for t in 1..=pods * gpus {
            cx.checkpoint()?;
            let phase = phases::phase(rule, pods, gpus, t);
            let (flows, contended) = counter.count(&phase);
            order.max_flows_per_pod_pair = order.max_flows_per_pod_pair.max(flows);
            order.contended_phases += u32::from(contended);
            order.phases.push(phase);
        }
        cx.count_work(u64::from(pods * gpus));
        let candidate = assemble::order(body, order);
        let short = candidate.metrics.get("pod_pairs_short_of_circuits").copied().unwrap_or_default();
        if short > 0.0 {
            let flows = candidate.metrics.get("max_flows_per_pod_pair").copied().unwrap_or_default();
            cx.note(
                Severity::Warning,
                format!(
                    "{} fewer circuits than the {flows} flows of a phase: these flows share circuits or take detours",
                    counted(short as u64, "pair of pods has", "pairs of pods have")
                ),
            );
        }
        cx.incumbent(0.0, 0.0, NAME, move || candidate)?;
        Ok(Outcome::done(Status::Heuristic))
    }
}
