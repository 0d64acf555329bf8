//! Sound plans to be damaged.

use crate::check::{self, Envelope, code};
use crate::methods::assemble::{PodParts, candidate};
use crate::model::topology::Topology;
use crate::plan::{Routing, Simulation, TpuResult};
use crate::routing;
use crate::scenario::TpuScenario;
use crate::simulate::{self, SaturationSearch};
use crate::throughput::mcf::{self, Certificate};
use crate::throughput::metrics;
use lightbay_core::checked::Verdict;
use lightbay_core::kind::Depth;
use lightbay_core::watch::Unwatched;
use std::collections::BTreeMap;

/// A plan with its scenario and envelope.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub scenario: TpuScenario,
    pub result: TpuResult,
    pub value: f64,
    pub bound: Option<f64>,
    pub metrics: BTreeMap<String, f64>,
    pub with_routes: Option<bool>,
}

impl Case {
    /// A pod, certified and routed.
    pub fn of(scenario: TpuScenario, pod: &Topology) -> Self {
        let mut parts = Self::certified(&pod.failing(&scenario.failed_ocs));
        let settings = routing::RoutingSettings::of(&scenario, 1);
        let routed = routing::route(pod, &settings, &mut Unwatched::default()).unwrap();
        parts.routing = Some(routed.routing);
        Self::from_parts(scenario, parts)
    }

    /// A pod with nothing but its certificate.
    pub fn unrouted(scenario: TpuScenario, pod: &Topology) -> Self {
        Self::from_parts(scenario, Self::certified(pod))
    }

    pub fn certified(pod: &Topology) -> PodParts {
        let settings = mcf::FlowSettings { gap: 0.01, ..mcf::FlowSettings::default() };
        let certificate = mcf::certify(pod, &settings, None, &mut Unwatched::default()).unwrap();
        PodParts::of(pod.clone(), metrics::hops(pod).unwrap(), certificate)
    }

    pub fn from_parts(scenario: TpuScenario, parts: PodParts) -> Self {
        let candidate = candidate(parts);
        let bound = Some(metrics::cover_bound(scenario.nodes()).mcf);
        Self {
            scenario,
            result: candidate.result,
            value: candidate.value,
            bound,
            metrics: candidate.metrics,
            with_routes: None,
        }
    }

    pub fn verdict(&self, depth: Depth) -> Verdict {
        let envelope = Envelope {
            value: self.value,
            bound: self.bound,
            bound_covers: None,
            method: "test",
            is_whole: true,
            with_routes: self.with_routes,
            metrics: &self.metrics,
        };
        let simulator = |routing: &Routing, _: Depth| Ok(self.simulation(routing));
        let router = |_: Depth| Ok(self.routed_again());
        check::check(&self.scenario, &self.result, &envelope, &simulator, &router, depth)
    }

    /// The routes of [`Case::of`].
    fn routed_again(&self) -> Routing {
        let pod = self.result.topology.topology().unwrap();
        let settings = routing::RoutingSettings::of(&self.scenario, 1);
        routing::route(&pod, &settings, &mut Unwatched::default()).unwrap().routing
    }

    fn simulation(&self, routing: &Routing) -> Simulation {
        let pod = self.result.topology.topology().unwrap();
        let settings = self.scenario.simulate.clone().unwrap_or_default();
        simulate::simulate(
            &pod,
            routing,
            &settings,
            SaturationSearch::Bisection,
            1,
            &mut Unwatched::default(),
        )
        .unwrap()
    }

    /// Figures of the simulator with the routes of the plan.
    pub fn simulated_again(&self) -> Simulation {
        self.simulation(self.result.routing.as_ref().unwrap())
    }

    pub fn codes(&self) -> Vec<&'static str> {
        let mut codes: Vec<&'static str> =
            self.verdict(Depth::Usual).violations.iter().map(|violation| violation.code).collect();
        codes.sort_unstable();
        codes.dedup();
        codes
    }

    pub fn assert_passes(&self) {
        let violations = self.verdict(Depth::Usual).violations;
        assert!(violations.is_empty(), "{violations:#?}");
    }

    /// The damaged plan breaks this rule, perhaps with others.
    pub fn assert_breaks(&self, rule: &'static str) {
        let violations = self.verdict(Depth::Usual).violations;
        assert!(violations.iter().any(|violation| violation.code == rule), "{rule} not in {violations:#?}");
    }

    /// The damaged plan breaks exactly these rules.
    pub fn assert_codes(&self, expected: &[&str]) {
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(self.codes(), expected, "{:#?}", self.verdict(Depth::Usual).violations);
    }

    /// The plan with a damage.
    pub fn with(&self, damage: impl FnOnce(&mut Self)) -> Self {
        let mut damaged = self.clone();
        damage(&mut damaged);
        damaged
    }
}

/// The certificate that needs no proof, with a lower end of its own.
pub(super) fn hop_certificate(pod: &Topology, lower: f64) -> Certificate {
    let hops = metrics::hops(pod).unwrap();
    Certificate {
        lower,
        upper: metrics::hop_bound(pod.nodes(), hops.hop_sum),
        class_lengths: None,
        link_lengths: None,
        rounds: 0,
    }
}

#[test]
fn rules_have_names_of_their_own() {
    let mut names = vec![
        code::SCHEMA,
        code::SCENARIO,
        code::TOPOLOGY,
        code::PERMUTATION,
        code::PARALLEL,
        code::SYMMETRY,
        code::CONNECTED,
        code::HOPS,
        code::MCF,
        code::CERTIFICATE,
        code::METRICS,
        code::BOUND,
        code::PAIR,
        code::ROUTE,
        code::FAILED,
        code::DEADLOCK,
        code::LOAD,
        code::FAULTS,
        code::SIMULATION,
    ];
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}
