//! Steps of all methods once a topology is chosen; what is known is handed over after each.
//!
//! | step | asked for by | what the plan gains |
//! |---|---|---|
//! | certify | always | both ends of the MCF; better lower ends are handed over while they are found |
//! | route | `routing` is not `none` | one route for every pair, loads, virtual channels |
//! | faults | `tolerated_ocs_faults = 1` or `with_faults` | what remains when one switch fails, for all 48 |
//! | simulate | `simulate` | saturation and latency by the flit simulator |

mod tightening;

use crate::Tpu;
use crate::methods::assemble::{Parts, candidate};
use crate::model::baselines;
use crate::model::topology::Topology;
use crate::plan::Routing;
use crate::routing::dor;
use crate::routing::faults::{self, FaultTurns};
use crate::routing::{self, FoundRoutes, RouteError, RouteSelection};
use crate::scenario::{SimulationSettings, TpuScenario};
use crate::series;
use crate::simulate::{self, SaturationSearch};
use crate::throughput::mcf::{self, Certificate};
use crate::throughput::metrics::{self, Hops};
use lightbay_core::context::Context;
use lightbay_core::event::{EventBody, HotStartFate, SeriesPoint, Severity};
use lightbay_core::kind::Kind;
use lightbay_core::method::MethodError;
use lightbay_core::param::{Effect, ParamInfo, Params};
use lightbay_core::plan::Plan;
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::random::{Stream, Streams};
use lightbay_core::watch::{Unwatched, Watch};
use rand::Rng;
use std::sync::Arc;
use tightening::Tightening;

/// Number of the random stream that seeds routes and simulations; methods count theirs from 0.
pub const ROUTE_STREAM: u64 = 1 << 40;
/// Chips of a torus up to which all routes are written unless asked otherwise.
const WRITTEN_UP_TO: usize = 1024;
/// Widest certificate that may be asked for.
const WIDEST_GAP: f64 = 0.01;

/// A topology that a method has chosen.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// States of the switches and the links that follow.
    pub topology: Topology,
    /// Origin of the topology, in a word.
    pub source: String,
    /// Certificate that it has already.
    pub certificate: Option<Certificate>,
    /// Lengths of the 192 link classes to begin the certificate with.
    pub lengths: Option<Vec<f64>>,
    /// Its shape, if it is a torus: only those can be routed in dimension order.
    pub torus: Option<Torus>,
}

/// The shape of a torus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torus {
    /// Chips along X, Y, Z.
    pub shape: [u16; 3],
    /// `true` if it is doubly twisted.
    pub twisted: bool,
}

impl Chosen {
    /// A topology of which nothing is known.
    pub fn new(topology: Topology, source: impl Into<String>) -> Self {
        Self { topology, source: source.into(), certificate: None, lengths: None, torus: None }
    }
}

/// The parameters that all methods share. `torus` says whether routes in dimension order are usual.
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
        ParamInfo::int("certificate_rounds", 1, 100_000, 400, "Rounds after which a certificate ends at any width."),
        ParamInfo::choice(
            "routing",
            &["at", "dor", "none"],
            if torus { "dor" } else { "at" },
            "Routes: allowed turns, dimension order with datelines (tori only), or none.",
        ),
        ParamInfo::int("route_passes", 1, 1000, 12, "Passes of the route selection over all pairs."),
        ParamInfo::choice(
            "route_selection",
            &["prices", "ilp"],
            "prices",
            "Selection of routes by prices that grow with the load, or by an exact integer program after that.",
        ),
        ParamInfo::bool("balance", true, "Even use of the virtual channels; otherwise the first has priority."),
        ParamInfo::bool(
            "with_routes",
            true,
            "Routes in the plan, not only their figures; true if not given, but for tori above 1024 chips in \
             dimension order, whose routes are not symmetric.",
        )
        .derived(),
        ParamInfo::bool(
            "with_faults",
            false,
            "Sweep over all 48 failed switches with the routes of every case in the plan.",
        ),
        ParamInfo::choice(
            "fault_turns",
            &["shared", "per_fault"],
            "shared",
            "Allowed turns for routes around a failed switch: those of the healthy pod (shared), or a new set per case.",
        ),
        ParamInfo::bool("fault_saturation", false, "Saturation by the flit simulator for every failed switch."),
        ParamInfo::choice(
            "saturation_search",
            &["bisection", "steps"],
            "bisection",
            "Search for the saturation point: bisection after a coarse curve, or every step of the rate.",
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

/// The seed of routes and simulations, from their random stream of a run.
pub fn route_seed(mut stream: Stream) -> u64 {
    stream.next_u64()
}

/// Search for the saturation point that the parameters ask for.
pub fn search(params: &Params) -> SaturationSearch {
    match params.text("saturation_search") {
        Some("steps") => SaturationSearch::Steps,
        _ => SaturationSearch::Bisection,
    }
}

/// A problem of the scenario or a parameter as the end of a method.
pub fn invalid(problem: Problem) -> MethodError {
    MethodError::Invalid(Problems::one(problem))
}

/// The refusal of a method whose scenario names another topology.
pub fn other_topology(method: &str, scenario: &TpuScenario) -> MethodError {
    let (word, suited) = (scenario.topology.word(), Tpu::suited_method(scenario));
    let remedy = if suited == "evaluate" {
        "use 'evaluate', or set topology=design".to_owned()
    } else {
        format!("use '{suited}' or 'evaluate', or set topology=design")
    };
    let what = if word == "given" {
        format!("is given, '{method}' would have to change it")
    } else {
        format!("is '{word}', which '{method}' does not make")
    };
    invalid(Problem::new("topology", what, remedy))
}

/// Says what is known before anything is computed: the bound over all pods of the size, and the tori of the size.
pub fn announce(scenario: &TpuScenario, cx: &mut Context<'_, Tpu>) {
    let nodes = scenario.nodes();
    cx.bound(metrics::cover_bound(nodes).mcf);
    if !scenario.failed_ocs.is_empty() {
        // The tori are known with all switches working.
        return;
    }
    point(cx, series::BASELINE_PT, baselines::pt_mcf(scenario.pt_shape()));
    // The hops of a doubly twisted torus are spread evenly over its links: the hop bound is its throughput.
    let twisted = scenario.pdtt_shape().ok().and_then(|shape| baselines::pdtt(shape).ok());
    if let Some(hops) = twisted.and_then(|pod| metrics::hops(&pod)) {
        point(cx, series::BASELINE_PDTT, metrics::hop_bound(nodes, hops.hop_sum));
    }
}

fn point(cx: &mut Context<'_, Tpu>, name: &str, y: f64) {
    let x = cx.elapsed_s();
    cx.report(EventBody::Series(SeriesPoint { name: name.to_owned(), x, y }));
}

/// The topology of the plan that a run was started from.
#[derive(Clone, Debug)]
pub struct Hot {
    /// States of the switches and the links that follow.
    pub topology: Topology,
    /// The throughput it claims.
    pub value: f64,
    /// Lengths of the 192 link classes that prove its upper end.
    pub lengths: Option<Vec<f64>>,
}

/// The topology of the plan that the run was started from, if it has as many cubes; otherwise the rejection is
/// reported here. What became of an accepted one is for the method to report.
pub fn hot_start(scenario: &TpuScenario, cx: &mut Context<'_, Tpu>) -> Option<Hot> {
    let hot = cx.hot_start()?;
    let plan = hot.plan.plan();
    let before = Some(plan.objective.value);
    let found = match plan.result.topology.topology() {
        Ok(pod) if pod.cubes() == usize::from(scenario.cubes) => Ok(pod.failing(&scenario.failed_ocs)),
        Ok(pod) => Err(format!("the plan is for {} cubes, the scenario has {}", pod.cubes(), scenario.cubes)),
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

/// Certifies a pod and hands over every better lower end while it is found.
///
/// # Errors
/// The reason to stop, or a candidate that the checker refused.
pub fn certify(
    pod: &Topology,
    hops: Hops,
    source: &str,
    lengths: Option<&[f64]>,
    cx: &mut Context<'_, Tpu>,
) -> Result<Certificate, MethodError> {
    let settings = certificate_settings(cx.params(), pod.nodes());
    cx.phase(
        "certify",
        format!(
            "{} chips to {} %, {} rounds at most",
            pod.nodes(),
            100.0 * settings.gap,
            settings.max_rounds
        ),
    );
    cx.solver(format!("HiGHS {}", lightbay_highs::instance::version()));
    let mut tightening = Tightening { cx, pod: Arc::new(pod.clone()), hops, source, refused: None };
    let attempt = mcf::attempt(pod, &settings, lengths, &mut tightening);
    if let Some(refused) = tightening.refused {
        return Err(refused);
    }
    match (attempt.stopped, attempt.certificate) {
        (None, Some(certificate)) => Ok(certificate),
        (Some(stopped), certificate) => {
            // What was proven by then is worth more than the hop bound beside the last lower end.
            if let Some(certificate) = certificate
                && cx.best().is_none_or(|(value, _)| certificate.lower >= value)
            {
                hand_over(&Parts::of(pod.clone(), hops, certificate), source, cx)?;
            }
            Err(stopped)
        }
        (None, None) => Err(MethodError::Failed("no round of the flow computation was done".to_owned())),
    }
}

/// Hands over a pod of which only the throughput is known. Returns whether it is better than what was known.
///
/// # Errors
/// The checker refused it.
pub fn offer(
    pod: &Topology,
    hops: Hops,
    certificate: &Certificate,
    source: &str,
    cx: &mut Context<'_, Tpu>,
) -> Result<bool, MethodError> {
    let parts = Parts::of(pod.clone(), hops, certificate.clone());
    cx.incumbent(certificate.lower, 0.0, source, move || candidate(parts))
}

/// Certifies a chosen topology if that is not done yet, then routes it, looks at failed switches and simulates as
/// the parameters and the scenario ask, and hands over the plan after every step.
///
/// # Errors
/// A request that cannot be fulfilled, a pod that is not connected, or the reason to stop: what was handed over by
/// then is kept.
pub fn finish(chosen: Chosen, scenario: &TpuScenario, cx: &mut Context<'_, Tpu>) -> Result<(), MethodError> {
    let seed = route_seed(cx.stream(ROUTE_STREAM));
    let wanted = Wanted::of(cx.params(), scenario, &chosen, seed)?;
    let pod = &chosen.topology.failing(&scenario.failed_ocs);
    let hops = metrics::hops(pod).ok_or_else(|| invalid(not_connected(scenario)))?;
    point(cx, series::HOP_BOUND, metrics::hop_bound_of(pod, hops));
    let settings = certificate_settings(cx.params(), pod.nodes());
    let certificate = match chosen.certificate {
        Some(certificate) if certificate.gap() <= settings.gap => certificate,
        known => {
            let lengths = known.and_then(|known| known.class_lengths).or(chosen.lengths);
            certify(pod, hops, &chosen.source, lengths.as_deref(), cx)?
        }
    };
    let mut parts = Parts::of(pod.clone(), hops, certificate);
    hand_over(&parts, &chosen.source, cx)?;
    if wanted.routing == Wished::None {
        return Ok(());
    }
    if let Some(quick) = wanted.before_the_exact_program() {
        // Two minutes of solving are too long to be without routes.
        match route(pod, chosen.torus, &quick, cx) {
            Ok(routed) => {
                parts.routing = Some(routed.routing);
                hand_over(&quick.written(&parts), "routes", cx)?;
            }
            Err(RouteError::Unreachable(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let routed = match route(pod, chosen.torus, &wanted, cx) {
        Err(RouteError::Unreachable(missing)) if !wanted.needs_routes() => {
            // What the pod carries is known all the same.
            let remedy = "allow more virtual channels (vc_count) or longer routes (slack_hops=2)";
            let text = format!("no routes are in the plan: {}; {remedy}", RouteError::Unreachable(missing));
            cx.note(Severity::Warning, text);
            return Ok(());
        }
        routed => routed?,
    };
    parts.routing = Some(routed.routing);
    hand_over(&wanted.written(&parts), "routes", cx)?;
    // The exact program keeps what it has when it is stopped; that it was stopped is seen here.
    cx.checkpoint()?;
    if wanted.faults {
        sweep(&mut parts, routed.found, &wanted, cx)?;
        hand_over(&wanted.written(&parts), "failed switches", cx)?;
    }
    if let (Some(settings), Some(routing)) = (&wanted.simulate, &parts.routing) {
        let seed = wanted.seed;
        parts.simulation = Some(simulate::simulate(pod, routing, settings, wanted.search, seed, cx)?);
        hand_over(&wanted.written(&parts), "simulation", cx)?;
    }
    Ok(())
}

/// The problem of a pod of which some chips cannot be reached.
pub fn not_connected(scenario: &TpuScenario) -> Problem {
    let what = "is not connected: some chips cannot be reached";
    if scenario.failed_ocs.is_empty() {
        Problem::new("topology", what, "let the circuits join all cubes")
    } else {
        Problem::new(
            "failed_ocs",
            "leave the pod in parts: some chips cannot be reached",
            "name fewer failed switches, or change the topology",
        )
    }
}

/// Hands over all that is known, in place of what was known before of the same pod.
fn hand_over(parts: &Parts, source: &str, cx: &mut Context<'_, Tpu>) -> Result<(), MethodError> {
    let parts = parts.clone();
    cx.supersede(parts.certificate.lower, 0.0, source, move || candidate(parts))
}

/// Kind of routes that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wished {
    Turns,
    DimensionOrder,
    None,
}

/// Work that parameters and scenario ask for beside the certificate.
#[derive(Clone, Debug)]
struct Wanted {
    routing: Wished,
    settings: routing::RoutingSettings,
    with_routes: bool,
    faults: bool,
    with_faults: bool,
    fault_turns: FaultTurns,
    fault_saturation: bool,
    simulate: Option<SimulationSettings>,
    search: SaturationSearch,
    seed: u64,
}

/// Virtual channels that routes in dimension order use: one before the dateline of a ring, one behind it
/// (docs/methods/tpu.md, section 7).
const DATELINE_VCS: u8 = 2;

impl Wanted {
    fn of(params: &Params, scenario: &TpuScenario, chosen: &Chosen, seed: u64) -> Result<Self, MethodError> {
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
            Some("dor") => Wished::DimensionOrder,
            Some("none") => Wished::None,
            _ => Wished::Turns,
        };
        let with_faults = params.bool("with_faults");
        let fault_saturation = params.bool("fault_saturation");
        let faults = with_faults || fault_saturation || scenario.tolerated_ocs_faults > 0;
        let after = [(faults, "failed switches"), (scenario.simulate.is_some(), "the simulator")];
        if routing == Wished::None
            && let Some((_, what)) = after.into_iter().find(|(asked, _)| *asked)
        {
            return Err(invalid(Problem::new(
                "routing",
                format!("is 'none', but {what} need routes"),
                "give 'at' or 'dor', or leave them out",
            )));
        }
        let large = chosen.topology.nodes() > WRITTEN_UP_TO && routing == Wished::DimensionOrder;
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

    /// Returns `true` if something is asked for that follows from the routes.
    const fn needs_routes(&self) -> bool {
        self.faults || self.simulate.is_some()
    }

    /// The same with routes by prices, if the exact program was asked for.
    fn before_the_exact_program(&self) -> Option<Self> {
        let exact = self.routing == Wished::Turns && self.settings.selection == RouteSelection::Ilp;
        exact.then(|| {
            let mut quick = self.clone();
            quick.settings.selection = RouteSelection::Prices;
            quick
        })
    }

    /// The parts as the plan is to hold them: without the routes if they are not wanted.
    fn written(&self, parts: &Parts) -> Parts {
        let mut parts = parts.clone();
        if let (false, Some(routing)) = (self.with_routes, &mut parts.routing) {
            routing.routes = Vec::new();
        }
        parts
    }
}

/// Routes and, where turns were chosen for them, what a sweep over faults begins with.
struct Routes {
    routing: Routing,
    found: Option<FoundRoutes>,
}

fn route(
    pod: &Topology,
    torus: Option<Torus>,
    wanted: &Wanted,
    cx: &mut Context<'_, Tpu>,
) -> Result<Routes, RouteError> {
    let how =
        if wanted.routing == Wished::DimensionOrder { "in dimension order" } else { "by allowed turns" };
    cx.phase("route", format!("{} chips {how}", pod.nodes()));
    routes(pod, torus, wanted, cx)
}

/// Routes a pod as the method of a plan did, with the settings and the seed of the plan.
///
/// # Errors
/// Settings that give no routes, or the reason to stop.
pub fn route_again(plan: &Plan<Tpu>, pod: &Topology, watch: &mut impl Watch) -> Result<Routing, MethodError> {
    let scenario = &plan.scenario.body;
    let torus = match plan.method.as_str() {
        "pt" => Some(Torus { shape: scenario.pt_shape(), twisted: false }),
        "pdtt" => Some(Torus { shape: scenario.pdtt_shape().map_err(invalid)?, twisted: true }),
        _ => super::evaluate::torus(scenario)?,
    };
    let seed = route_seed(Streams::new(plan.seed).stream(ROUTE_STREAM));
    let chosen = Chosen { torus, ..Chosen::new(pod.clone(), "plan") };
    let wanted = Wanted::of(&plan.parameters, scenario, &chosen, seed)?;
    Ok(routes(pod, torus, &wanted, watch)?.routing)
}

fn routes(
    pod: &Topology,
    torus: Option<Torus>,
    wanted: &Wanted,
    watch: &mut impl Watch,
) -> Result<Routes, RouteError> {
    if let (Wished::DimensionOrder, Some(torus)) = (wanted.routing, torus) {
        let settings = dor::DorSettings {
            failed: wanted.settings.failed.clone(),
            with_routes: wanted.with_routes || wanted.simulate.is_some(),
            ..dor::DorSettings::default()
        };
        match dor::route(pod, torus.shape, torus.twisted, &settings, watch) {
            Ok(routing) => return Ok(Routes { routing, found: None }),
            // A failed switch cuts lines through; allowed turns lead around it.
            Err(RouteError::Unreachable(_)) if !wanted.settings.failed.is_empty() => {}
            Err(error) => return Err(error),
        }
    }
    let routed = routing::route(pod, &wanted.settings, watch)?;
    Ok(Routes { routing: routed.routing, found: Some(routed.found) })
}

/// Looks at every failed switch. Routes in dimension order cannot avoid one, so tori are swept with allowed turns.
fn sweep(
    parts: &mut Parts,
    found: Option<FoundRoutes>,
    wanted: &Wanted,
    cx: &mut Context<'_, Tpu>,
) -> Result<(), MethodError> {
    cx.phase("faults", format!("{} chips without each of 48 switches", parts.topology.nodes()));
    let pod = &parts.topology;
    let found = match found {
        Some(found) => found,
        None => routing::find(pod, &wanted.settings, cx)?,
    };
    let settings = faults::FaultSettings {
        routing: wanted.settings.clone(),
        turns: wanted.fault_turns,
        with_routes: wanted.with_faults,
    };
    let simulate = wanted.simulate.clone().unwrap_or_default();
    let search = wanted.search;
    let saturation = |_: u8, routing: &Routing| -> Option<f64> {
        let mut alone = Unwatched::default();
        simulate::simulate(pod, routing, &simulate, search, wanted.seed, &mut alone)
            .ok()
            .map(|found| found.saturation_flits_per_cycle_per_node)
    };
    let asked: Option<faults::Saturation<'_>> =
        if wanted.fault_saturation { Some(&saturation) } else { None };
    let cases = faults::sweep_from(pod, &found, &settings, asked, cx, |_| {})?;
    let cut: Vec<String> = cases
        .iter()
        .filter(|case| case.max_channel_load.is_none())
        .map(|case| case.failed_ocs.to_string())
        .collect();
    if !cut.is_empty() {
        cx.note(Severity::Warning, format!("without switch {} some pairs have no route", cut.join(" or ")));
    }
    parts.faults = cases;
    Ok(())
}
