//! Static deadlock-free routes: allowed turns, one route for every pair, virtual channels for its hops
//! (docs/methods/tpu-routes.md, section 7).
//!
//! | module | content |
//! |---|---|
//! | [`frame`] | a pod prepared for routing: one cube represents all, or every arc is its own class |
//! | [`order`] | a topological order that is maintained while edges are added |
//! | [`turns`], [`priority`], [`trees`] | allowed turns, their order, seeds that connect all pairs |
//! | [`steps`], [`path`] | distances under the turns, the cheapest route of a pair |
//! | [`select`], [`exact`] | one route for every pair with small loads, by prices or by an exact program |
//! | [`label`] | balanced assignment of virtual channels |
//! | [`memory`] | estimated memory of a request |
//! | [`dor`] | dimension-order routes of tori |
//! | [`faults`] | routes around each failed switch |
//!
//! A symmetric pod is routed from the 64 chips of cube 0; the group translates the routes to all cubes, so the turns
//! take the same time for 128 and for 8192 chips.

use crate::model::pod::SWITCHES;
use crate::model::topology::Topology;
use crate::plan::{Expansion, Route, Routing, RoutingClaims, Unbalanced};
use crate::scenario::{TpuScenario, TurnPriority};
use frame::{Frame, MAX_VCS};
use label::Labeller;
use lightbay_core::method::MethodError;
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::random::Streams;
use lightbay_core::watch::Watch;
use select::{SelectedRoutes, SelectionEffort, Ways};
use steps::Steps;
use turns::{Builder, Turns};

pub mod dor;
pub mod exact;
pub mod faults;
pub mod frame;
pub mod label;
pub mod memory;
pub mod order;
pub mod path;
pub mod priority;
pub mod select;
pub mod steps;
pub mod trees;
pub mod turns;

/// Minimum number of chips for which routes may by default be two hops longer than the shortest allowed route.
pub const SLACK_FROM_NODES: usize = 512;

/// Maximum number of pairs that a message names if they have no route.
const NAMED_PAIRS: usize = 20;

/// Number of other random orders of turns tried for a symmetric pod before the routing ignores its symmetry.
const RESCUES: u64 = 6;

/// Number of the random stream for orders of turns.
const TURN_STREAM: u64 = 1 << 32;

/// Selection among the allowed routes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RouteSelection {
    /// By prices that grow with the load.
    #[default]
    Prices,
    /// By prices that grow with the load, then improved by an exact integer program.
    Ilp,
}

/// Settings of the routing.
#[derive(Clone, Debug, PartialEq)]
pub struct RoutingSettings {
    /// Virtual channels that routes may use, 1 to 8.
    pub vc_count: u8,
    /// Order in which turns are tried.
    pub priority: TurnPriority,
    /// Maximum number of hops by which a route may exceed the shortest allowed route: 0 or 2.
    pub slack_hops: u8,
    /// `true` to balance the load over the virtual channels; otherwise the first virtual channel has priority.
    pub balance: bool,
    /// Number of passes of the route selection over the flows.
    pub passes: u32,
    /// Switches that have failed.
    pub failed: Vec<u8>,
    /// Seed of all random choices.
    pub seed: u64,
    /// Selection among the allowed routes.
    pub selection: RouteSelection,
    /// Maximum number of seconds of the exact program.
    pub exact_limit_s: f64,
    /// Number of simultaneously failed switches for which the turns of the healthy pod must still connect every pair.
    /// If this number is above 0 and spanning trees are needed, two trees without a common switch are tried first.
    pub tolerated_faults: u8,
    /// Maximum memory for the routing of a pod, bytes.
    pub memory_limit_bytes: u64,
}

impl Default for RoutingSettings {
    fn default() -> Self {
        Self {
            vc_count: 2,
            priority: TurnPriority::Apl,
            slack_hops: 0,
            balance: true,
            passes: 12,
            failed: Vec::new(),
            seed: 0,
            selection: RouteSelection::Prices,
            exact_limit_s: exact::TIME_LIMIT_S,
            tolerated_faults: 0,
            memory_limit_bytes: 8 << 30,
        }
    }
}

impl RoutingSettings {
    /// Returns the settings of a scenario.
    pub fn of(scenario: &TpuScenario, seed: u64) -> Self {
        let nodes = crate::model::pod::CHIPS * usize::from(scenario.cubes);
        Self {
            vc_count: scenario.vc_count,
            priority: scenario.turn_priority,
            slack_hops: scenario.slack_hops.unwrap_or(Self::usual_slack(nodes)),
            failed: scenario.failed_ocs.clone(),
            seed,
            tolerated_faults: scenario.tolerated_ocs_faults,
            ..Self::default()
        }
    }

    /// Default maximum number of hops by which a route may exceed the shortest allowed route, for a pod of `nodes`
    /// chips.
    pub const fn usual_slack(nodes: usize) -> u8 {
        // On large pods, two more hops balance the loads; on small ones, they only lengthen routes.
        if nodes >= SLACK_FROM_NODES { 2 } else { 0 }
    }

    fn check(&self) -> Result<(), Problem> {
        if !(1..=MAX_VCS).contains(&self.vc_count) {
            return Err(Problem::new(
                "vc_count",
                format!("routing does not support {} virtual channels", self.vc_count),
                format!("give 1 to {MAX_VCS}"),
            ));
        }
        if !matches!(self.slack_hops, 0 | 2) {
            return Err(Problem::new(
                "slack_hops",
                format!("routing does not support a slack of {} hops", self.slack_hops),
                "give 0 or 2: all routes between two chips have lengths of the same parity",
            ));
        }
        if let Some(switch) = self.failed.iter().find(|switch| usize::from(**switch) >= SWITCHES) {
            return Err(Problem::new(
                "failed_ocs",
                format!("switch {switch} does not exist"),
                format!("switches are 0 to {}", SWITCHES - 1),
            ));
        }
        Ok(())
    }
}

/// Pairs without a route.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// Source and target of the first twenty pairs.
    pub named: Vec<(u32, u32)>,
    /// Number of pairs without a route; in a symmetric pod, only pairs with a source in cube 0 are counted.
    pub total: usize,
}

/// Reason that there are no routes.
#[derive(Debug, thiserror::Error)]
pub enum RouteError {
    /// Some pairs cannot be connected.
    #[error("{}", unreachable_words(.0))]
    Unreachable(Missing),
    /// The settings cannot be used for the pod.
    #[error("{0}")]
    Invalid(Problem),
    /// The watch requests a stop.
    #[error("{0}")]
    Stopped(#[from] MethodError),
}

fn unreachable_words(missing: &Missing) -> String {
    let named: Vec<String> =
        missing.named.iter().map(|(source, target)| format!("chip {source} to chip {target}")).collect();
    let rest = missing.total.saturating_sub(missing.named.len());
    let more = if rest > 0 { format!(" and {rest} more pairs") } else { String::new() };
    format!("no route leads from {}{more}", named.join(", "))
}

impl From<RouteError> for MethodError {
    fn from(error: RouteError) -> Self {
        match error {
            RouteError::Stopped(why) => why,
            RouteError::Invalid(problem) => Self::Invalid(Problems::one(problem)),
            RouteError::Unreachable(missing) => Self::Invalid(Problems::one(Problem::new(
                "routing",
                unreachable_words(&missing),
                "allow more virtual channels (vc_count), name fewer failed switches, or change the topology",
            ))),
        }
    }
}

/// Turns and selected routes of a pod, before they are converted into the record of a plan.
#[derive(Clone, Debug)]
pub struct FoundRoutes {
    /// Arcs and arc classes of the pod as it was routed.
    pub frame: Frame,
    /// Turns that the routes may take.
    pub turns: Turns,
    /// The selected route of every pair.
    pub selection: SelectedRoutes,
    /// Order of turns that gave the best routes.
    pub priority: TurnPriority,
    /// `true` if up/down turns of spanning trees were allowed first.
    pub seeded: bool,
    /// Lower bound on the maximum load of every selection under the same turns, if the exact program ran.
    pub load_floor: Option<u32>,
}

/// Routes, and the data from which they were built.
#[derive(Clone, Debug)]
pub struct Routed {
    /// The routes with claims, for a plan.
    pub routing: Routing,
    /// Turns and selected routes from which `routing` was written.
    pub found: FoundRoutes,
}

impl Routed {
    /// Mean hops of the routes of all pairs.
    pub fn avg_hops(&self) -> f64 {
        let nodes = self.found.frame.nodes() as f64;
        self.routing.claims.route_hop_sum as f64 / (nodes * (nodes - 1.0)).max(1.0)
    }
}

/// Routes every pair of a pod without deadlock. For symmetric pods, returns the routes from cube 0, which translations
/// expand to all routes. If some pairs get routes only with the turns of spanning trees, which have no symmetry,
/// returns the routes from all cubes.
///
/// # Errors
/// [`RouteError`].
pub fn route(
    pod: &Topology,
    settings: &RoutingSettings,
    watch: &mut impl Watch,
) -> Result<Routed, RouteError> {
    let found = find(pod, settings, watch)?;
    let routing = write(&found, settings.balance)?;
    Ok(Routed { routing, found })
}

/// Finds the allowed turns and one route for every pair.
///
/// # Errors
/// [`RouteError`].
pub fn find(
    pod: &Topology,
    settings: &RoutingSettings,
    watch: &mut impl Watch,
) -> Result<FoundRoutes, RouteError> {
    settings.check().map_err(RouteError::Invalid)?;
    let frame = Frame::new(pod, &settings.failed, false);
    // Fails before large data is allocated.
    memory::check(&frame, settings).map_err(RouteError::Invalid)?;
    let priorities: &[TurnPriority] = match settings.priority {
        TurnPriority::Best => &[TurnPriority::Apl, TurnPriority::Cpl, TurnPriority::Random],
        TurnPriority::Apl => &[TurnPriority::Apl],
        TurnPriority::Cpl => &[TurnPriority::Cpl],
        TurnPriority::Random => &[TurnPriority::Random],
    };
    let mut best: Option<FoundRoutes> = None;
    let mut missing = Missing::default();
    // Each priority gives a set of turns; the best selection under any of them is kept.
    for &priority in priorities {
        let turns = allowed_turns(&frame, priority, settings, watch)?;
        match select_under(&frame, turns, settings, watch)? {
            Ok(chosen) => {
                // The better selection has the smaller maximum load; ties are broken by the smaller number of hops.
                if best.as_ref().is_none_or(|best| chosen.selection.rank() < best.selection.rank()) {
                    best = Some(chosen.found(frame.clone(), priority, false));
                }
            }
            Err(pairs) => missing = pairs,
        }
    }
    if let Some(found) = best {
        return Ok(found);
    }
    rescue(pod, frame, settings, missing, watch)
}

/// Finds the allowed turns by adding turns in an order of priority, without spanning trees.
///
/// # Errors
/// The watch requests a stop.
pub fn allowed_turns(
    frame: &Frame,
    priority: TurnPriority,
    settings: &RoutingSettings,
    watch: &mut impl Watch,
) -> Result<Turns, MethodError> {
    let order = turn_order(frame, priority, settings, watch)?;
    Ok(Builder::new(frame, settings.vc_count).fill(&order))
}

fn turn_order(
    frame: &Frame,
    priority: TurnPriority,
    settings: &RoutingSettings,
    watch: &mut impl Watch,
) -> Result<Vec<(usize, u8)>, MethodError> {
    // A separate stream, so that selections do not depend on the order of turns.
    let mut stream = Streams::new(settings.seed).stream(TURN_STREAM);
    let worths = match priority {
        TurnPriority::Apl | TurnPriority::Best => priority::all_paths(frame, watch)?,
        TurnPriority::Cpl => priority::chosen_paths(frame, &effort(settings), watch)?,
        TurnPriority::Random => priority::random(frame, &mut stream),
    };
    Ok(priority::ordered(frame, &worths, &mut stream))
}

fn effort(settings: &RoutingSettings) -> SelectionEffort {
    SelectionEffort {
        slack: u16::from(settings.slack_hops),
        passes: settings.passes,
        stream: settings.seed,
        speak: true,
    }
}

/// A selection under a set of turns.
struct ChosenTurns {
    turns: Turns,
    selection: SelectedRoutes,
    load_floor: Option<u32>,
}

impl ChosenTurns {
    fn found(self, frame: Frame, priority: TurnPriority, seeded: bool) -> FoundRoutes {
        let Self { turns, selection, load_floor } = self;
        FoundRoutes { frame, turns, selection, priority, seeded, load_floor }
    }
}

/// Selects routes under a set of turns; returns the pairs without a route if there are any.
fn select_under(
    frame: &Frame,
    turns: Turns,
    settings: &RoutingSettings,
    watch: &mut impl Watch,
) -> Result<Result<ChosenTurns, Missing>, MethodError> {
    // Distances under the turns show first whether every pair has a walk.
    let steps = Steps::new(frame, &turns);
    let reaches = select::reaches(frame, &steps, watch)?;
    let ways = Ways { frame, steps: &steps, reaches: &reaches };
    let (named, total) = ways.missing(NAMED_PAIRS);
    if total > 0 {
        return Ok(Err(Missing { named, total }));
    }
    // A shortest walk may pass a node twice, so a pair may still lack a simple route.
    let selection = select::select(ways, effort(settings), None, watch)?;
    let missing = unrouted(&selection, frame);
    if missing.total > 0 {
        return Ok(Err(missing));
    }
    // The exact program begins with the selection by prices.
    if settings.selection == RouteSelection::Ilp {
        let slack = u16::from(settings.slack_hops);
        let exact = exact::improve(ways, slack, &selection, settings.exact_limit_s, watch)?;
        return Ok(Ok(ChosenTurns { turns, selection: exact.selection, load_floor: Some(exact.floor) }));
    }
    Ok(Ok(ChosenTurns { turns, selection, load_floor: None }))
}

/// Pairs that have no route in a selection.
pub(crate) fn unrouted(selection: &SelectedRoutes, frame: &Frame) -> Missing {
    let mut missing = Missing::default();
    for source in 0..frame.sources() as u32 {
        for target in (0..frame.nodes() as u32).filter(|target| *target != source) {
            if selection.route(source, target).is_empty() {
                missing.total += 1;
                if missing.named.len() < NAMED_PAIRS {
                    missing.named.push((source, target));
                }
            }
        }
    }
    missing
}

/// Fallback if some pair has no route: tries other orders of turns (only for symmetric pods), then spanning trees on
/// all arcs.
fn rescue(
    pod: &Topology,
    frame: Frame,
    settings: &RoutingSettings,
    missing: Missing,
    watch: &mut impl Watch,
) -> Result<FoundRoutes, RouteError> {
    // A pod that is not connected cannot be routed.
    if trees::breadth_first(&frame, 0).is_none() {
        return Err(RouteError::Unreachable(missing));
    }
    // Symmetric turns reduce the work by a factor of the number of cubes, so other orders are tried before the symmetry
    // is ignored.
    if frame.is_symmetric() {
        for attempt in 1..=RESCUES {
            // Other high bits of the seed give another order of the turns.
            let other = RoutingSettings { seed: settings.seed ^ attempt << 48, ..settings.clone() };
            let turns = allowed_turns(&frame, TurnPriority::Random, &other, watch)?;
            if let Ok(chosen) = select_under(&frame, turns, settings, watch)? {
                return Ok(chosen.found(frame, TurnPriority::Random, false));
            }
        }
    }
    let frame = Frame::new(pod, &settings.failed, true);
    if let Err(problem) = memory::check(&frame, settings) {
        // Without symmetry, routes of all pairs are listed.
        return Err(if missing.total > 0 {
            RouteError::Unreachable(missing)
        } else {
            RouteError::Invalid(problem)
        });
    }
    let priority = match settings.priority {
        TurnPriority::Best => TurnPriority::Apl,
        priority => priority,
    };
    // Without symmetry every arc is its own class.
    let order = turn_order(&frame, priority, settings, watch)?;
    let mut builder = Builder::new(&frame, settings.vc_count);
    // Two trees without a common switch: after the failure of any one switch, at least one tree still connects all
    // chips.
    let pair = (settings.tolerated_faults > 0 && settings.vc_count > 1).then(|| trees::disjoint(&frame));
    match pair.flatten() {
        Some(pair) => {
            for (vc, tree) in pair.iter().enumerate() {
                trees::seed(&mut builder, &frame, tree, vc);
            }
        }
        None => {
            if let Some(tree) = trees::breadth_first(&frame, 0) {
                trees::seed(&mut builder, &frame, &tree, 0);
            }
        }
    }
    // Seeds first: up/down turns of a tree connect every pair and cannot close a cycle.
    let turns = builder.fill(&order);
    match select_under(&frame, turns, settings, watch)? {
        Ok(chosen) => Ok(chosen.found(frame, priority, true)),
        Err(missing) => Err(RouteError::Unreachable(missing)),
    }
}

/// Assigns virtual channels to the routes and writes them with their claims.
///
/// # Errors
/// A route that the turns do not allow, which would be a defect.
pub fn write(found: &FoundRoutes, balance: bool) -> Result<Routing, MethodError> {
    let FoundRoutes { frame, turns, selection, .. } = found;
    let refused = || MethodError::Failed("a selected route uses a forbidden turn".to_owned());
    // Virtual channels are assigned route by route, so the balance depends on the order of the routes.
    let mut labeller = Labeller::new(turns, balance);
    let mut routes = Vec::with_capacity(frame.sources() * (frame.nodes() - 1));
    for (source, target, ports) in selection.routes() {
        let vcs = labeller.label(frame, source, ports).ok_or_else(refused)?.to_vec();
        routes.push(Route { source, target, ports: ports.to_vec(), vcs });
    }
    let copies = frame.copies() as u64;
    // Routes of cube 0 represent their images.
    let expanded = |hops: &[u64]| hops.iter().map(|hops| hops * copies).collect::<Vec<u64>>();
    // The same routes without balance, for comparison.
    let unbalanced = if balance {
        let mut plain = Labeller::new(turns, false);
        let mut loads = vec![vec![0; frame.classes()]; turns.vcs()];
        for (source, _, ports) in selection.routes() {
            let vcs = plain.label(frame, source, ports).ok_or_else(refused)?;
            let mut node = source;
            for (port, vc) in ports.iter().zip(vcs) {
                // Loads by class and virtual channel.
                let arc = Frame::arc(node, *port);
                loads[usize::from(*vc)][frame.class(arc)] += 1;
                node = frame.head(arc);
            }
        }
        Some(Unbalanced { vc_hops: expanded(&plain.hops), loads })
    } else {
        None
    };
    Ok(Routing {
        vc_count: turns.vcs() as u8,
        expand: if frame.is_symmetric() { Expansion::Translation } else { Expansion::None },
        claims: RoutingClaims {
            max_channel_load: u64::from(selection.max_load()),
            vc_hops: expanded(&labeller.hops),
            route_hop_sum: selection.hop_sum * copies,
        },
        routes,
        unbalanced,
    })
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
