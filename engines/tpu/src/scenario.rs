//! The scenario of a pod: number of cubes, topology and requirements on routes.

mod knobs;
pub mod presets;
mod read;
mod validate;

pub use knobs::KNOBS;

use crate::model::baselines;
use crate::model::group::Group;
use crate::model::pod::{CHIPS, MAX_CUBES, SWITCHES};
use crate::model::router::Allocator;
use crate::model::topology::Topology;
use crate::plan::TopologyRecord;
use lightbay_core::problem::Problem;
use lightbay_core::record::{any, usual, within};
use lightbay_core::{record, words};
use schemars::JsonSchema;
use serde::Serialize;

/// Minimum number of chips for which routes may by default be 2 hops longer than the shortest allowed route.
pub const SLACK_FROM_CHIPS: usize = 512;
/// Maximum number of virtual channels of a link.
const MAX_VCS: i64 = 8;
/// Largest side of a job shape, chips.
const MAX_SIDE: i64 = 4 * MAX_CUBES as i64;
/// Maximum latency, cycles.
const MAX_LATENCY: i64 = 1_000_000;
/// Maximum number of iterations of iSLIP: a router has at most twelve inputs, and every iteration adds a match.
const MAX_ITERATIONS: i64 = 12;
/// Maximum length of a simulation, cycles.
const MAX_CYCLES: i64 = 100_000_000;

record! {
    /// Fields of a scenario of kind `tpu`.
    pub struct TpuScenario {
        /// Cubes of 64 chips.
        pub cubes: u16 = within(1..=MAX_CUBES as i64).cold(),
        /// Chips along X, Y, Z of the tori, multiples of 4. Default: the standard shape of the size.
        pub job_shape: Option<[u16; 3]> = within(4..=MAX_SIDE).cold(),
        /// Wiring of the pod: designed by a method (design), the prismatic torus, or the doubly twisted torus.
        pub topology: TopologyChoice = any().or(TopologyChoice::Design).cold(),
        /// Symmetry group of a designed pod, with one element for each cube; if missing, the method chooses it.
        pub group: Option<GroupChoice> = any().cold(),
        /// Virtual channels that routes may use.
        pub vc_count: u8 = within(1..=MAX_VCS).or(2),
        /// Order in which turns are allowed: all-paths load, chosen-path load, random, or the best of all.
        pub turn_priority: TurnPriority = any().or(TurnPriority::Apl),
        /// Number of hops by which a route may exceed the shortest allowed route, 0 or 2. Default: 2 for 512 chips or
        /// more, otherwise 0.
        pub slack_hops: Option<u8> = within(0..=2),
        /// Number of switches that may fail at the same time; 1 computes and measures routes for all 48 cases.
        pub tolerated_ocs_faults: u8 = within(0..=1).or(0),
        /// Failed switches, 0 to 47.
        pub failed_ocs: Vec<u8> = within(0..=SWITCHES as i64 - 1).or(Vec::new()).omitted(),
        /// If true, runs the flit simulator on the finished routes.
        pub simulate: Option<SimulationSettings> = any(),
    }
}

/// A group, by its cyclic factors or by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum GroupChoice {
    /// Cyclic factors: `[2, 2]`.
    Factors(#[schemars(inner(range(min = 1, max = 144)))] Vec<u16>),
    /// A name: `D6`, `Z2 x Z4`, `S3`.
    Named(String),
}

/// Wiring of a pod.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TopologyChoice {
    /// To be designed.
    Design,
    /// Prismatic torus.
    Pt,
    /// Prismatic doubly twisted torus.
    Pdtt,
    /// The given topology.
    #[serde(untagged)]
    Given(TopologyRecord),
}

words! {
    /// Order in which turns are tried.
    pub enum TurnPriority {
        /// All-paths load: number of shortest paths, of all pairs, that use the turn.
        Apl = "apl",
        /// Chosen-path load: how often the unconstrained route selection uses the turn.
        Cpl = "cpl",
        /// Random.
        Random = "random",
        /// Tries all of these orders and keeps the order with the smallest maximum channel load.
        Best = "best",
    }
}

record! {
    /// Settings of the flit simulator.
    pub struct SimulationSettings {
        /// Clock of the simulated routers.
        pub clock_ghz: f64 = within(0.001..=1000.0).or(1.05).unit("GHz"),
        /// Bandwidth of a link and direction.
        pub link_gbyte_per_s: f64 = within(0.001..=1e6).or(128.0).unit("GB/s"),
        /// Size of a flit.
        pub flit_bytes: u32 = within(1..=65_536).or(128).unit("B"),
        /// Latency of an electrical link.
        pub link_latency_electrical_cycles: u32 = within(0..=MAX_LATENCY).or(50).unit("cycles"),
        /// Latency of an optical link.
        pub link_latency_optical_cycles: u32 = within(0..=MAX_LATENCY).or(25).unit("cycles"),
        /// Latency of a router.
        pub router_latency_cycles: u32 = within(0..=MAX_LATENCY).or(25).unit("cycles"),
        /// Latency from a source queue into its router.
        pub injection_latency_cycles: u32 = within(0..=MAX_LATENCY).or(25).unit("cycles"),
        /// Number of all virtual channels of a simulated link: those of the routes, and those that every packet may use
        /// ('vc_count' of 'simulate').
        pub vc_count: u8 = within(1..=MAX_VCS).or(4),
        /// Number of virtual channels on which packets follow the virtual channels of their routes.
        pub escape_vc_count: u8 = within(1..=MAX_VCS).or(2),
        /// Buffer of a virtual channel.
        pub buffer_flits_per_vc: u32 = within(1..=1_000_000).or(200).unit("flits"),
        /// Size of a packet.
        pub packet_flits: u32 = within(1..=10_000).or(1).unit("flits"),
        /// Allocator of the simulated routers: every output serves any request (ideal), or a crossbar matches inputs to
        /// outputs by wavefronts or by iSLIP.
        pub allocator: Allocator = any().or(Allocator::Ideal),
        /// Number of rounds of the allocator per cycle.
        pub speedup: u8 = within(1..=2).or(1),
        /// Iterations of iSLIP per round.
        pub islip_iterations: u8 = within(1..=MAX_ITERATIONS).or(1),
        /// Ports between a chip and its router with a crossbar; each carries one flit per cycle into the router and
        /// one out of it.
        pub chip_ports: u8 = within(1..=6).or(1),
        /// Simulated time before measuring.
        pub warmup_cycles: u32 = within(0..=MAX_CYCLES).or(3000).unit("cycles"),
        /// Simulated time of a measurement.
        pub measure_cycles: u32 = within(1..=MAX_CYCLES).or(3000).unit("cycles"),
        /// Step of the offered rate.
        pub rate_step: f64 = within(0.0001..=1.0).or(0.01).unit("flits/cycle/node"),
        /// Traffic pattern.
        pub traffic: Traffic = any().or(Traffic::Uniform),
    }
}

impl Default for SimulationSettings {
    fn default() -> Self {
        usual()
    }
}

/// Largest relative difference at which the time of a flit on a link counts as a whole number of cycles: the published
/// settings, 128 B at 1.05 GHz and 128 GB/s, mean one flit per cycle.
const WHOLE_CYCLES: f64 = 0.05 + 1e-9;

impl SimulationSettings {
    /// Returns the number of cycles that a link needs for one flit; at least 1, because a port passes on at most one
    /// flit per cycle.
    pub fn cycles_per_flit(&self) -> f64 {
        let ratio = self.clocks_per_flit();
        let whole = ratio.round();
        (if (ratio - whole).abs() <= WHOLE_CYCLES * whole { whole } else { ratio }).max(1.0)
    }

    /// Largest number of flits per cycle that a chip can send; `None` without a limit.
    pub fn chip_limit(&self) -> Option<f64> {
        (self.allocator != Allocator::Ideal).then(|| f64::from(self.chip_ports))
    }

    /// Settings that differ from their defaults but have no effect with the allocator: key, value, default, and reason.
    pub fn idle(&self) -> Vec<(&'static str, u8, u8, &'static str)> {
        let usual = Self::default();
        let (plain, other) =
            ("with allocator 'ideal', which has no crossbar", "with an allocator other than 'islip'");
        let (has_crossbar, has_islip) =
            (self.allocator != Allocator::Ideal, self.allocator == Allocator::Islip);
        let all = [
            ("speedup", self.speedup, usual.speedup, has_crossbar, plain),
            ("chip_ports", self.chip_ports, usual.chip_ports, has_crossbar, plain),
            ("islip_iterations", self.islip_iterations, usual.islip_iterations, has_islip, other),
        ];
        let idle = all.into_iter().filter(|(_, given, usual, has_effect, _)| !has_effect && given != usual);
        idle.map(|(key, given, usual, _, why)| (key, given, usual, why)).collect()
    }

    /// Returns a remark if the ports of a chip, not the routes, limit the rate; the most loaded channel of the routes
    /// would carry `routes` flits per cycle and chip.
    pub fn port_note(&self, routes: f64) -> Option<String> {
        let limit = self.chip_limit().filter(|&limit| limit < routes)?;
        Some(format!(
            "with allocator={}, a chip sends at most {limit} flits per cycle (chip_ports={}), but the routes could \
             carry {routes:.3}",
            self.allocator.word(),
            self.chip_ports
        ))
    }

    /// Returns a remark if the routers, not the links, limit the rate.
    pub fn rate_note(&self) -> Option<String> {
        let ratio = self.clocks_per_flit();
        (ratio < 1.0 - WHOLE_CYCLES).then(|| {
            format!(
                "link_gbyte_per_s={} has the effect of {}, because a port of the simulated router passes on at most \
                 one flit per cycle",
                self.link_gbyte_per_s,
                (self.link_gbyte_per_s * ratio * 1e3).round() / 1e3
            )
        })
    }

    fn clocks_per_flit(&self) -> f64 {
        self.clock_ghz * f64::from(self.flit_bytes) / self.link_gbyte_per_s
    }
}

words! {
    /// Traffic pattern: the destinations of the packets of every chip.
    pub enum Traffic {
        /// Every chip sends to every other chip with equal probability.
        Uniform = "uniform",
    }
}

impl TpuScenario {
    /// Returns the scenario of a pod to be designed, with default settings.
    pub const fn design(cubes: u16) -> Self {
        Self {
            cubes,
            job_shape: None,
            topology: TopologyChoice::Design,
            group: None,
            vc_count: 2,
            turn_priority: TurnPriority::Apl,
            slack_hops: None,
            tolerated_ocs_faults: 0,
            failed_ocs: Vec::new(),
            simulate: None,
        }
    }

    /// Number of chips.
    pub fn nodes(&self) -> usize {
        CHIPS * usize::from(self.cubes)
    }

    /// Maximum number of hops by which a route may exceed the shortest allowed route.
    pub fn slack(&self) -> u8 {
        self.slack_hops.unwrap_or(if self.nodes() >= SLACK_FROM_CHIPS { 2 } else { 0 })
    }

    /// The symmetry group of a designed pod, with one element for each cube. If the scenario names no group, returns
    /// the product of cyclic groups whose factors are as equal as possible.
    ///
    /// # Errors
    /// An invalid name, or a group whose order is not the number of cubes.
    pub fn group(&self) -> Result<Group, Problem> {
        let cubes = usize::from(self.cubes);
        let group = match &self.group {
            None => Group::most_square(cubes),
            Some(GroupChoice::Factors(factors)) => {
                let factors: Vec<usize> = factors.iter().map(|&factor| usize::from(factor)).collect();
                if factors.iter().product::<usize>() > MAX_CUBES {
                    return Err(wrong_order(&format!("{factors:?}"), cubes));
                }
                Group::abelian(&factors)?
            }
            Some(GroupChoice::Named(name)) => Group::parse(name)?,
        };
        if group.order() == cubes { Ok(group) } else { Err(wrong_order(group.name(), cubes)) }
    }

    /// The job shape of the plain torus: the given shape, or the default shape of the size.
    pub fn pt_shape(&self) -> [u16; 3] {
        self.job_shape.unwrap_or_else(|| baselines::usual_shape(usize::from(self.cubes)))
    }

    /// The job shape of the doubly twisted torus: the given shape, or the default shape of the size.
    ///
    /// # Errors
    /// A shape or a size for which the doubly twisted torus is not defined.
    pub fn pdtt_shape(&self) -> Result<[u16; 3], Problem> {
        let cubes = usize::from(self.cubes);
        match self.job_shape {
            Some(shape) => baselines::pdtt(shape).map(|_| shape),
            None => baselines::usual_pdtt(cubes).ok_or_else(|| {
                Problem::new(
                    "topology",
                    format!("a doubly twisted torus is not defined for {cubes} cubes"),
                    "use 'pt', the plain torus; 'pdtt' needs n x n x 2n or n x 2n x 2n chips, such as 2, 4, 16, 32 \
                     or 128 cubes",
                )
            }),
        }
    }

    /// The pod that the scenario names; `None` if the pod is to be designed.
    ///
    /// # Errors
    /// A shape or a topology that does not exist.
    pub fn named_topology(&self) -> Result<Option<Topology>, Problem> {
        match &self.topology {
            TopologyChoice::Design => Ok(None),
            TopologyChoice::Pt => baselines::pt(self.pt_shape()).map(Some),
            TopologyChoice::Pdtt => self.pdtt_shape().and_then(baselines::pdtt).map(Some),
            TopologyChoice::Given(record) => record.topology().map(Some),
        }
    }
}

impl TopologyChoice {
    /// The wirings that have a name; `WORDS` has their names.
    const NAMED: [Self; 3] = [Self::Design, Self::Pt, Self::Pdtt];
    const WORDS: [&str; 3] = ["design", "pt", "pdtt"];

    /// The word for the wiring in messages and parameters; a given topology has no name of its own.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Design => "design",
            Self::Pt => "pt",
            Self::Pdtt => "pdtt",
            Self::Given(_) => "given",
        }
    }
}

fn wrong_order(group: &str, cubes: usize) -> Problem {
    Problem::new(
        "group",
        format!("{group} does not have exactly one element for each of the {cubes} cubes"),
        format!(
            "give a group of order {cubes}, such as '{}', or leave it out",
            Group::most_square(cubes).name()
        ),
    )
}

#[cfg(test)]
mod tests;
