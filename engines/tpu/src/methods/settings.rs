//! Parameters of the steps after a topology is chosen, and the work that they request.

use super::begin::invalid;
use super::finish::Chosen;
use crate::methods::assemble::PodParts;
use crate::routing::faults::FaultTurns;
use crate::routing::{self, RouteSelection};
use crate::scenario::{SimulationSettings, TpuScenario};
use crate::simulate::SaturationSearch;
use crate::throughput::mcf;
use lightbay_core::method::MethodError;
use lightbay_core::param::{Effect, ParamInfo, Params};
use lightbay_core::problem::Problem;
use lightbay_core::random::Stream;
use rand::Rng;

/// Number of the random stream that seeds routes and simulations; methods number their own streams from 0.
pub const ROUTE_STREAM: u64 = 1 << 40;

/// Maximum number of chips of a torus with dimension-order routes whose routes a plan lists by default.
const WRITTEN_UP_TO: usize = 1024;

/// Maximum gap of a certificate that may be requested.
const WIDEST_GAP: f64 = 0.01;

/// Virtual channels of dimension-order routes: one before the dateline of a ring, one after it
/// (docs/methods/tpu-routes.md, section 7).
const DATELINE_VCS: u8 = 2;

/// The parameters that all methods share. If `torus`, dimension-order routes are the default.
pub fn params(torus: bool) -> Vec<ParamInfo> {
    vec![
        ParamInfo::float(
            "certificate_gap",
            0.0,
            WIDEST_GAP,
            0.001,
            "Maximum relative gap of the throughput certificate. Default: 0.1 % up to 512 chips, 0.5 % above.",
        )
        .derived(),
        ParamInfo::int("certificate_rounds", 1, 100_000, 400, "Maximum number of rounds for \
             computing the certificate, even if its gap is still too large."),
        ParamInfo::choice(
            "routing",
            &["at", "dor", "none"],
            if torus { "dor" } else { "at" },
            "Routes: by allowed turns (at), in dimension order with datelines (dor, tori only), or none.",
        ),
        ParamInfo::int("route_passes", 1, 1000, 12, "Maximum number of passes of the route selection \
             over all pairs."),
        ParamInfo::choice(
            "route_selection",
            &["prices", "ilp"],
            "prices",
            "Selection of routes: by prices that grow with the load (prices), or by prices and then by an \
             exact integer program (ilp).",
        ),
        ParamInfo::bool("balance", true, "If true, balances the load over the virtual channels; if \
             false, prefers the first one."),
        ParamInfo::bool(
            "with_routes",
            true,
            "If true, the plan contains the routes; if false, only their figures. Default: true, except \
             for tori above 1024 chips in dimension order, whose routes are not symmetric.",
        )
        .derived(),
        ParamInfo::bool(
            "with_faults",
            false,
            "If true, computes routes for the failure of each of the 48 switches and stores them in the plan.",
        ),
        ParamInfo::choice(
            "fault_turns",
            &["shared", "per_fault"],
            "shared",
            "Allowed turns for routes around a failed switch: those of the healthy pod (shared), or a new set per case.",
        ),
        ParamInfo::bool("fault_saturation", false, "If true, the flit simulator measures the saturation \
             for each failed switch."),
        ParamInfo::choice(
            "saturation_search",
            &["bisection", "steps"],
            "bisection",
            "Search for the saturation point: bisection after a coarse curve, or every rate step.",
        ),
    ]
    .into_iter()
    .map(|info| info.effect(Effect::Warm))
    .collect()
}

/// The settings of a certificate.
pub fn certificate_settings(params: &Params, nodes: usize) -> mcf::FlowSettings {
    let mut settings = mcf::FlowSettings::of(nodes);
    if let Some(gap) = params.float("certificate_gap") {
        settings.gap = gap;
    }
    if let Some(rounds) = params.int("certificate_rounds").and_then(|rounds| u32::try_from(rounds).ok()) {
        settings.max_rounds = rounds;
    }
    settings
}

/// Draws the seed of routes and simulations from the random stream that a run reserves for it.
pub fn route_seed(mut stream: Stream) -> u64 {
    stream.next_u64()
}

/// Returns the value of the parameter `saturation_search`: how the saturation point is searched.
pub fn search(params: &Params) -> SaturationSearch {
    match params.text("saturation_search") {
        Some("steps") => SaturationSearch::Steps,
        _ => SaturationSearch::Bisection,
    }
}

/// The requested kind of routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RouteKind {
    Turns,
    DimensionOrder,
    None,
}

/// Work that parameters and scenario request in addition to the certificate.
#[derive(Clone, Debug)]
pub(super) struct FinishSteps {
    pub(super) routing: RouteKind,
    pub(super) settings: routing::RoutingSettings,
    pub(super) with_routes: bool,
    pub(super) faults: bool,
    pub(super) with_faults: bool,
    pub(super) fault_turns: FaultTurns,
    pub(super) fault_saturation: bool,
    pub(super) simulate: Option<SimulationSettings>,
    pub(super) search: SaturationSearch,
    pub(super) seed: u64,
}

impl FinishSteps {
    pub(super) fn of(
        params: &Params,
        scenario: &TpuScenario,
        chosen: &Chosen,
        seed: u64,
    ) -> Result<Self, MethodError> {
        let routing = match params.text("routing") {
            Some("dor") if chosen.torus.is_none() => {
                return Err(invalid(Problem::new(
                    "routing",
                    "is 'dor', but dimension order is defined on tori only",
                    "use 'at', or the methods 'pt' and 'pdtt'",
                )));
            }
            Some("dor") if scenario.vc_count < DATELINE_VCS => {
                return Err(invalid(Problem::new(
                    "vc_count",
                    format!(
                        "is {}, but dimension order changes its virtual channel at datelines",
                        scenario.vc_count
                    ),
                    format!("give at least {DATELINE_VCS}, or set routing=at"),
                )));
            }
            Some("dor") => RouteKind::DimensionOrder,
            Some("none") => RouteKind::None,
            _ => RouteKind::Turns,
        };
        let with_faults = params.bool("with_faults");
        let fault_saturation = params.bool("fault_saturation");
        let faults = with_faults || fault_saturation || scenario.tolerated_ocs_faults > 0;
        let after = [(faults, "failed switches"), (scenario.simulate.is_some(), "the simulator")];
        if routing == RouteKind::None
            && let Some((_, what)) = after.into_iter().find(|(asked, _)| *asked)
        {
            return Err(invalid(Problem::new(
                "routing",
                format!("is 'none', but {what} need routes"),
                "give 'at' or 'dor', or omit the settings that need routes",
            )));
        }
        let large = chosen.topology.nodes() > WRITTEN_UP_TO && routing == RouteKind::DimensionOrder;
        let with_routes = params.get("with_routes").map_or(!large, |_| params.bool("with_routes"));
        let mut settings = routing::RoutingSettings::of(scenario, seed);
        settings.balance = params.bool("balance");
        if let Some(passes) = params.int("route_passes").and_then(|passes| u32::try_from(passes).ok()) {
            settings.passes = passes;
        }
        if params.text("route_selection") == Some("ilp") {
            settings.selection = RouteSelection::Ilp;
        }
        let simulate = scenario.simulate.clone();
        Ok(Self {
            routing,
            settings,
            with_routes,
            faults,
            with_faults,
            fault_turns: if params.text("fault_turns") == Some("per_fault") {
                FaultTurns::PerFault
            } else {
                FaultTurns::Shared
            },
            fault_saturation,
            simulate,
            search: search(params),
            seed,
        })
    }

    /// Returns `true` if requested results depend on the routes.
    pub(super) const fn needs_routes(&self) -> bool {
        self.faults || self.simulate.is_some()
    }

    /// If route selection by the exact integer program was requested, returns a copy of these steps that selects by
    /// prices (a fast heuristic), whose plan is reported first; otherwise `None`.
    pub(super) fn before_the_exact_program(&self) -> Option<Self> {
        let exact = self.routing == RouteKind::Turns && self.settings.selection == RouteSelection::Ilp;
        exact.then(|| {
            let mut quick = self.clone();
            quick.settings.selection = RouteSelection::Prices;
            quick
        })
    }

    /// Returns a copy of the results for the plan, without the routes if routes are not requested.
    pub(super) fn written(&self, parts: &PodParts) -> PodParts {
        let mut parts = parts.clone();
        if let (false, Some(routing)) = (self.with_routes, &mut parts.routing) {
            routing.routes = Vec::new();
        }
        parts
    }
}
