//! `pt` and `pdtt`: the tori that designs are compared with.

use super::finish::{self, Chosen, Torus};
use super::idle;
use super::{begin, settings};
use crate::Tpu;
use crate::model::baselines;
use crate::scenario::{TopologyChoice, TpuScenario};
use lightbay_core::context::Context;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::Params;
use lightbay_core::plan::Status;
use lightbay_core::problem::Problem;
use lightbay_core::scenario::Scenario;

/// Method `pt` or `pdtt`: builds a torus of the scenario's job shape.
pub(super) struct BaselineMethod {
    pub twisted: bool,
}

impl BaselineMethod {
    const fn name(&self) -> &'static str {
        if self.twisted { "pdtt" } else { "pt" }
    }
}

impl Method<Tpu> for BaselineMethod {
    fn info(&self) -> MethodInfo {
        MethodInfo {
            name: self.name(),
            help: if self.twisted {
                "Prismatic doubly twisted torus of the job shape (n x n x 2n or n x 2n x 2n), measured and routed."
            } else {
                "Prismatic torus of the job shape, measured and routed."
            },
            proves: false,
            hot_start: false,
            params: settings::params(true),
        }
    }

    fn idle(&self, scenario: &TpuScenario, params: &Params) -> Vec<Problem> {
        let mut idle = idle::finishing(scenario, params);
        idle.extend(idle::without_group(self.name()));
        idle
    }

    fn solve(
        &self,
        scenario: &Scenario<Tpu>,
        _params: &Params,
        cx: &mut Context<'_, Tpu>,
    ) -> Result<Outcome, MethodError> {
        let own = if self.twisted { TopologyChoice::Pdtt } else { TopologyChoice::Pt };
        let body = &scenario.body;
        if body.topology != TopologyChoice::Design && body.topology != own {
            return Err(begin::other_topology(self.name(), body));
        }
        let shape = if self.twisted { body.pdtt_shape().map_err(begin::invalid)? } else { body.pt_shape() };
        let pod = if self.twisted { baselines::pdtt(shape) } else { baselines::pt(shape) };
        let pod = pod.map_err(begin::invalid)?;
        begin::announce(body, cx);
        let torus = Some(Torus { shape, twisted: self.twisted });
        finish::finish(Chosen { torus, ..Chosen::new(pod, self.name()) }, body, cx)?;
        Ok(Outcome::done(Status::Heuristic))
    }
}
