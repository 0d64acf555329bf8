//! Networks without regional circuits: `fat-tree`, `rail`, `topoopt`, and the bound `pooled`.

use super::{POOLED, knobs, session};
use crate::Moe;
use crate::plan::FabricKind;
use crate::schedule::assemble::fabric;
use lightbay_core::context::Context;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome, without_effect};
use lightbay_core::param::Params;
use lightbay_core::plan::Status;
use lightbay_core::problem::Problem;
use lightbay_core::scenario::Scenario;

/// A method that plans a network without regional circuits.
#[derive(Clone, Copy)]
pub(super) struct FabricBaseline {
    name: &'static str,
    help: &'static str,
    fabric: FabricKind,
}

/// All methods of this type.
pub(super) const BASELINES: &[FabricBaseline] = &[
    FabricBaseline {
        name: "fat-tree",
        help: "Baseline: non-blocking packet switches, with one NIC per GPU.",
        fabric: FabricKind::FatTree,
    },
    FabricBaseline {
        name: "rail",
        help: "Baseline: rail-optimised packet switches, with a hop inside the server to the rail of the destination.",
        fabric: FabricKind::Rail,
    },
    FabricBaseline {
        name: "topoopt",
        help: "Baseline: a patch panel with the same circuits at every server; servers forward traffic, and there are no packet switches.",
        fabric: FabricKind::Topoopt,
    },
    FabricBaseline {
        name: POOLED,
        help: "Bound: treats all NICs of a server as one NIC with their total rate and ignores hops in the \
             server; no network is faster for experts in blocks.",
        fabric: FabricKind::Pooled,
    },
];

impl Method<Moe> for FabricBaseline {
    fn info(&self) -> MethodInfo {
        MethodInfo { name: self.name, help: self.help, proves: false, hot_start: false, params: Vec::new() }
    }

    fn idle(&self, scenario: &crate::MoeScenario, _params: &Params) -> Vec<Problem> {
        let mut names = vec!["reconfiguration_delay_ms", "delay_profile", "gap", "seed"];
        let is_bound = self.fabric == FabricKind::Pooled;
        if !is_bound {
            names.push("optical_degree");
        }
        // The bound uses the fastest NICs of any network, so `eps_total_gbps` has no effect while the rate of the links
        // is at least as high.
        let by_links = scenario.region.eps_nics.len() as f64 * scenario.region.link_gbps;
        if !is_bound || scenario.region.eps_gbps() <= by_links {
            names.push("eps_total_gbps");
        }
        // The bound and the fat-tree have no hops inside a server, so pieces have nothing to overlap with.
        if is_bound || self.fabric == FabricKind::FatTree {
            names.push("pipeline_chunks");
        }
        let why = "with a network that has no circuits of a region";
        without_effect(names, why, "leave it out, or use another method")
            .chain(knobs::unplaced(scenario))
            .collect()
    }

    fn solve(
        &self,
        scenario: &Scenario<Moe>,
        _params: &Params,
        cx: &mut Context<'_, Moe>,
    ) -> Result<Outcome, MethodError> {
        let found = match fabric(&scenario.body, self.fabric) {
            Ok(found) => found,
            Err(none) => return session::outcome(Err(none.into())),
        };
        cx.incumbent(found.value, 0.0, self.name, move || found)?;
        Ok(Outcome::done(Status::Heuristic))
    }
}
