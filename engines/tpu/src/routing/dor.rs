//! Dimension-order routing with datelines on tori (docs/methods/tpu-routes.md, section 7): the routing that tori use in
//! practice.
//!
//! A route follows a shortest vector of signed steps, first in X, then in Y, then in Z. Each dimension starts on
//! virtual channel 0; the hop over its wrap-around and the later hops in that dimension use channel 1.

use crate::model::pod::{self, PORTS, SWITCHES};
use crate::model::topology::Topology;
use crate::plan::{Expansion, Route, Routing, RoutingClaims};
use crate::routing::memory::Estimate;
use crate::routing::{Missing, RouteError};
use lattice::{Lattice, Vector};
use lightbay_core::problem::Problem;
use lightbay_core::watch::Watch;

pub mod lattice;

/// Number of virtual channels that datelines need.
const VCS: u8 = 2;

/// Maximum number of pairs that a message names if they have no route.
const NAMED_PAIRS: usize = 20;

/// Number of flows between two stop checks.
const BATCH: usize = 4096;

/// Settings of dimension-order routing.
#[derive(Clone, Debug, PartialEq)]
pub struct DorSettings {
    /// Number of passes over the flows with several shortest vectors.
    pub passes: u32,
    /// Switches that have failed. A pair has no route if all its vectors cross failed switches.
    pub failed: Vec<u8>,
    /// `true` to return the routes; otherwise only the claims are computed.
    pub with_routes: bool,
    /// Maximum memory that the routes may take, bytes.
    pub memory_limit_bytes: u64,
}

impl Default for DorSettings {
    fn default() -> Self {
        Self { passes: 6, failed: Vec::new(), with_routes: true, memory_limit_bytes: 8 << 30 }
    }
}

/// Computes dimension-order routes of a prismatic torus of job shape `shape`, doubly twisted or not.
///
/// # Errors
/// A pod that is not this torus, more memory than allowed, pairs without a route, or a stop requested by the watch.
pub fn route(
    pod: &Topology,
    shape: [u16; 3],
    twisted: bool,
    settings: &DorSettings,
    watch: &mut impl Watch,
) -> Result<Routing, RouteError> {
    routed(pod, shape, twisted, settings, watch, |_, _| ())
}

/// Returns the figures of dimension-order routes, and the number of routes over every channel, `[vc][6·node + port]`;
/// no route is stored, so that large tori need little memory.
///
/// # Errors
/// Like [`route`].
pub fn channels(
    pod: &Topology,
    shape: [u16; 3],
    twisted: bool,
    watch: &mut impl Watch,
) -> Result<(RoutingClaims, Vec<Vec<u32>>), RouteError> {
    let settings = DorSettings { with_routes: false, ..DorSettings::default() };
    let mut loads = vec![vec![0; PORTS * pod.nodes()]; usize::from(VCS)];
    let on = |arc: u32, vc: u8| loads[usize::from(vc)][arc as usize] += 1;
    let routing = routed(pod, shape, twisted, &settings, watch, on)?;
    Ok((routing.claims, loads))
}

fn routed(
    pod: &Topology,
    shape: [u16; 3],
    twisted: bool,
    settings: &DorSettings,
    watch: &mut impl Watch,
    on: impl FnMut(u32, u8),
) -> Result<Routing, RouteError> {
    // Checks every circuit, because the pod must be exactly this torus.
    let lattice = Lattice::new(shape, twisted).map_err(RouteError::Invalid)?;
    lattice.check(pod).map_err(RouteError::Invalid)?;
    if let Some(switch) = settings.failed.iter().find(|switch| usize::from(**switch) >= SWITCHES) {
        return Err(RouteError::Invalid(Problem::new(
            "failed_ocs",
            format!("switch {switch} does not exist"),
            format!("switches are 0 to {}", SWITCHES - 1),
        )));
    }
    let nodes = pod.nodes() as u64;
    if settings.with_routes {
        Estimate::new(nodes, nodes, 1, lattice.diameter())
            .within(
                settings.memory_limit_bytes,
                "set with_routes=false, or list only the routes of cube 0 with routing=at",
            )
            .map_err(RouteError::Invalid)?;
    }
    let mut run = DorSelection::new(pod, &lattice, settings);
    run.select(settings.passes, watch)?;
    run.routing(settings.with_routes, watch, on)
}

/// The state of a selection.
struct DorSelection<'a> {
    lattice: &'a Lattice,
    /// Node at the end of each arc, at index `6 * node + port`.
    next: Vec<u32>,
    failed: [bool; SWITCHES],
    /// Number of the vector that each flow uses; [`CLOSED`] if all cross failed switches.
    choice: Vec<u8>,
    loads: Vec<u32>,
    missing: Missing,
}

/// Marks a flow whose vectors all cross failed switches.
const CLOSED: u8 = u8::MAX;

impl<'a> DorSelection<'a> {
    fn new(pod: &Topology, lattice: &'a Lattice, settings: &DorSettings) -> Self {
        let mut failed = [false; SWITCHES];
        for switch in &settings.failed {
            failed[usize::from(*switch)] = true;
        }
        // One entry for each arc: 6 for each node.
        Self {
            lattice,
            next: pod.neighbours().concat(),
            failed,
            choice: vec![0; pod.nodes() * pod.nodes()],
            loads: vec![0; PORTS * pod.nodes()],
            missing: Missing::default(),
        }
    }

    const fn nodes(&self) -> usize {
        self.loads.len() / PORTS
    }

    /// Calls `hop` with every arc of a route in order and the virtual channel on the arc.
    fn walk(&self, source: u32, vector: Vector, mut hop: impl FnMut(u32, u8)) {
        let mut node = source;
        for (axis, &steps) in vector.iter().enumerate() {
            // Port 2a leads in the plus direction of axis a, port 2a + 1 in the minus direction.
            let port = 2 * axis as u8 + u8::from(steps < 0);
            let mut vc = 0;
            // The channel changes at the dateline, which breaks the cycle of the ring (Dally and Seitz).
            for _ in 0..steps.unsigned_abs() {
                if self.lattice.wraps(node, axis, steps > 0) {
                    vc = 1;
                }
                let arc = PORTS as u32 * node + u32::from(port);
                hop(arc, vc);
                node = self.next[arc as usize];
            }
        }
    }

    fn is_open(&self, source: u32, vector: Vector) -> bool {
        let mut open = true;
        self.walk(source, vector, |arc, _| {
            let (chip, port) = ((arc / PORTS as u32 % pod::CHIPS as u32) as u8, (arc % PORTS as u32) as u8);
            open &= pod::switch(chip, port).is_none_or(|switch| !self.failed[switch]);
        });
        open
    }

    /// Returns the cost of a route: the maximum load of its arcs and, for ties, the sum of the squares of their loads.
    fn weight(&self, source: u32, vector: Vector) -> (u32, u64) {
        // Lexicographic order: the maximum load, then the sum of squares, which balances the other arcs.
        let (mut top, mut sum) = (0, 0);
        self.walk(source, vector, |arc, _| {
            let load = self.loads[arc as usize];
            top = top.max(load);
            sum += u64::from(load) * u64::from(load);
        });
        (top, sum)
    }

    fn carry(&mut self, source: u32, vector: Vector, sign: i32) {
        let mut loads = std::mem::take(&mut self.loads);
        self.walk(source, vector, |arc, _| {
            // Wrapping addition of +1 or -1 is safe, because loads never fall below 0.
            loads[arc as usize] = loads[arc as usize].wrapping_add_signed(sign);
        });
        self.loads = loads;
    }

    /// Fills `open` with those shortest vectors of a flow that cross no failed switch, each with its number.
    fn open_vectors(&self, source: u32, target: u32, open: &mut Vec<(u8, Vector)>) {
        let all_work = !self.failed.contains(&true);
        let vectors = self.lattice.vectors(source, target).iter().enumerate();
        open.clear();
        open.extend(
            vectors
                .map(|(at, vector)| (at as u8, *vector))
                .filter(|(_, vector)| all_work || self.is_open(source, *vector)),
        );
    }

    /// First routes the flows that have only one shortest vector without a failed switch, then repeatedly moves each
    /// other flow to the least loaded of its vectors.
    fn select(&mut self, passes: u32, watch: &mut impl Watch) -> Result<(), RouteError> {
        let nodes = self.nodes() as u32;
        // Flows with one vector are fixed in pass 0; their load is known before any choice is made.
        let mut open = Vec::new();
        // Sources in ascending order would fill one region first, so golden-section steps spread them. A stride prime
        // to the number of nodes visits every source once.
        let stride = spread(nodes);
        for pass in 0..=passes {
            let before = self.loads.iter().copied().max();
            for turn in 0..nodes {
                let source = (u64::from(turn) * u64::from(stride) % u64::from(nodes)) as u32;
                for target in (0..nodes).filter(|target| *target != source) {
                    if (source as usize * self.nodes() + target as usize).is_multiple_of(BATCH) {
                        watch.checkpoint()?;
                    }
                    self.open_vectors(source, target, &mut open);
                    self.flow(source, target, pass, &open);
                }
            }
            // Passes end when the maximum load stops improving.
            if pass > 1 && self.loads.iter().copied().max() >= before {
                break;
            }
        }
        if self.missing.total > 0 {
            return Err(RouteError::Unreachable(std::mem::take(&mut self.missing)));
        }
        Ok(())
    }

    fn flow(&mut self, source: u32, target: u32, pass: u32, open: &[(u8, Vector)]) {
        let flow = source as usize * self.nodes() + target as usize;
        match open {
            [] if pass == 0 => {
                // All vectors cross failed switches: the pair is listed once.
                self.choice[flow] = CLOSED;
                self.missing.total += 1;
                if self.missing.named.len() < NAMED_PAIRS {
                    self.missing.named.push((source, target));
                }
            }
            [(at, vector)] if pass == 0 => {
                // A flow with one vector has no choice, so its load is fixed.
                self.choice[flow] = *at;
                self.carry(source, *vector, 1);
            }
            [] | [_] => {}
            // Flows with a choice wait until the others are placed.
            _ if pass == 0 => {}
            open => {
                // Each flow is placed on its least loaded vector (best response). In pass 1 it has no vector yet; in
                // later passes it is first removed from its old vector.
                if pass > 1
                    && let Some((_, old)) = open.iter().find(|(at, _)| *at == self.choice[flow])
                {
                    self.carry(source, *old, -1);
                }
                let best = open.iter().min_by_key(|(_, vector)| self.weight(source, *vector));
                if let Some((at, vector)) = best {
                    self.choice[flow] = *at;
                    self.carry(source, *vector, 1);
                }
            }
        }
    }

    /// Returns the routes. Calls `on` with the arc and virtual channel of every hop of all routes.
    fn routing(
        &self,
        with_routes: bool,
        watch: &mut impl Watch,
        mut on: impl FnMut(u32, u8),
    ) -> Result<Routing, RouteError> {
        let nodes = self.nodes() as u32;
        let mut routes = Vec::with_capacity(if with_routes { self.choice.len() } else { 0 });
        let mut vc_hops = vec![0; usize::from(VCS)];
        for source in 0..nodes {
            watch.checkpoint()?;
            for target in (0..nodes).filter(|target| *target != source) {
                let choice = self.choice[(source * nodes + target) as usize];
                // The chosen vector of each flow, with its hops.
                let vector = self.lattice.vectors(source, target)[usize::from(choice)];
                let hops = vector.iter().map(|steps| usize::from(steps.unsigned_abs())).sum();
                let (mut ports, mut vcs) = (Vec::with_capacity(hops), Vec::with_capacity(hops));
                self.walk(source, vector, |arc, vc| {
                    vc_hops[usize::from(vc)] += 1;
                    on(arc, vc);
                    if with_routes {
                        ports.push((arc % PORTS as u32) as u8);
                        vcs.push(vc);
                    }
                });
                if with_routes {
                    routes.push(Route { source, target, ports, vcs });
                }
            }
        }
        let claims = RoutingClaims {
            max_channel_load: self.loads.iter().copied().max().unwrap_or(0).into(),
            route_hop_sum: vc_hops.iter().sum(),
            vc_hops,
        };
        Ok(Routing { vc_count: VCS, expand: Expansion::None, claims, routes, unbalanced: None })
    }
}

/// Returns a step near the golden section of `nodes`: the multiples of the step modulo `nodes` are spread evenly (low
/// discrepancy). The greatest common divisor of the step and `nodes` is 1, so its multiples visit every node.
fn spread(nodes: u32) -> u32 {
    let wanted = (f64::from(nodes) * 0.618) as u32;
    (wanted.max(1)..=nodes.max(1)).find(|step| gcd(*step, nodes) == 1).unwrap_or(1)
}

const fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests;
