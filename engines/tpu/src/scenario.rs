//! The scenario of a pod: how many cubes, which topology, how it is to be routed.

mod knobs;
pub mod presets;
mod read;
mod validate;

pub use knobs::knobs;

use crate::model::baselines;
use crate::model::group::Group;
use crate::model::pod::{CHIPS, MAX_CUBES};
use crate::model::topology::Topology;
use crate::plan::TopologyRecord;
use lightbay_core::problem::Problem;
use schemars::JsonSchema;
use serde::Serialize;

/// Chips from which on routes may be 2 hops longer than the shortest allowed, unless the scenario says otherwise.
pub const SLACK_FROM_CHIPS: usize = 512;
/// Most virtual channels of a link.
pub const MAX_VCS: u8 = 8;

/// Fields of a scenario of kind `tpu`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TpuScenario {
    /// Cubes of 64 chips, 1 to 144.
    pub cubes: u16,
    /// Chips along X, Y, Z of the job, multiples of 4, for the tori.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_shape: Option<[u16; 3]>,
    /// Wiring of the pod.
    pub topology: TopologyChoice,
    /// The group that numbers the cubes of a design; left to the method if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupChoice>,
    /// Virtual channels that routes may use.
    pub vc_count: u8,
    /// Order in which turns are tried.
    pub turn_priority: TurnPriority,
    /// Hops by which a route may be longer than the shortest allowed, 0 or 2; 2 from 512 chips on if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slack_hops: Option<u8>,
    /// Failed switches at once that the plan has to survive, 0 or 1.
    pub tolerated_ocs_faults: u8,
    /// Switches that are out of order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_ocs: Vec<u8>,
    /// Run the flit simulator on the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulate: Option<SimulationSettings>,
}

/// A group, by its cyclic factors or by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum GroupChoice {
    /// Cyclic factors: `[2, 2]`.
    Factors(Vec<u16>),
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
    /// This one.
    #[serde(untagged)]
    Given(TopologyRecord),
}

/// Order in which turns are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnPriority {
    /// All-paths load: minimal paths of all pairs that use the turn.
    Apl,
    /// Chosen-path load: how often the unconstrained route selection uses the turn.
    Cpl,
    /// Random.
    Random,
    /// All of them; the one with the smallest maximum channel load is kept.
    Best,
}

/// Settings of the flit simulator.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SimulationSettings {
    /// Clock of the routers.
    pub clock_ghz: f64,
    /// Bandwidth of a link and direction.
    pub link_gbyte_per_s: f64,
    /// Size of a flit.
    pub flit_bytes: u32,
    /// Latency of an electrical link.
    pub link_latency_electrical_cycles: u32,
    /// Latency of an optical link.
    pub link_latency_optical_cycles: u32,
    /// Latency of a router.
    pub router_latency_cycles: u32,
    /// Latency from the source queue into the router.
    pub injection_latency_cycles: u32,
    /// Virtual channels of a link.
    pub vc_count: u8,
    /// Virtual channels that follow the routes' labels; the others are free lanes.
    pub escape_vc_count: u8,
    /// Buffer of a virtual channel.
    pub buffer_flits_per_vc: u32,
    /// Flits of a packet.
    pub packet_flits: u32,
    /// Cycles before measuring.
    pub warmup_cycles: u32,
    /// Cycles measured.
    pub measure_cycles: u32,
    /// Step of the offered rate, flits per cycle and node.
    pub rate_step: f64,
    /// Traffic pattern.
    pub traffic: Traffic,
}

impl TpuScenario {
    /// A pod to be designed, with the usual settings of everything else.
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

    /// Hops by which a route may be longer than the shortest allowed.
    pub fn slack(&self) -> u8 {
        self.slack_hops.unwrap_or(if self.nodes() >= SLACK_FROM_CHIPS { 2 } else { 0 })
    }

    /// The group that numbers the cubes of a design; the most square product of cyclic groups if none is named.
    ///
    /// # Errors
    /// A name that is none, or a group of another order than there are cubes.
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

    /// The job shape of the plain torus: the one given, or the usual one of the size.
    pub fn pt_shape(&self) -> [u16; 3] {
        self.job_shape.unwrap_or_else(|| baselines::usual_shape(usize::from(self.cubes)))
    }

    /// The job shape of the doubly twisted torus: the one given, or the one of the size.
    ///
    /// # Errors
    /// A shape or a size for which it is not defined.
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

    /// The pod that the scenario names; `None` if it is to be designed.
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
    /// The word for it in messages and knobs; a given topology has none of its own.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Design => "design",
            Self::Pt => "pt",
            Self::Pdtt => "pdtt",
            Self::Given(_) => "given",
        }
    }
}

impl TurnPriority {
    /// All, with their names in files.
    pub const ALL: [(&'static str, Self); 4] =
        [("apl", Self::Apl), ("cpl", Self::Cpl), ("random", Self::Random), ("best", Self::Best)];

    /// The name in files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Apl => "apl",
            Self::Cpl => "cpl",
            Self::Random => "random",
            Self::Best => "best",
        }
    }
}

fn wrong_order(group: &str, cubes: usize) -> Problem {
    Problem::new(
        "group",
        format!("{group} does not have as many elements as there are cubes, {cubes}"),
        format!(
            "give a group of order {cubes}, such as '{}', or leave it out",
            Group::most_square(cubes).name()
        ),
    )
}

impl Default for SimulationSettings {
    fn default() -> Self {
        Self {
            clock_ghz: 1.05,
            link_gbyte_per_s: 128.0,
            flit_bytes: 128,
            link_latency_electrical_cycles: 50,
            link_latency_optical_cycles: 25,
            router_latency_cycles: 25,
            injection_latency_cycles: 25,
            vc_count: 4,
            escape_vc_count: 2,
            buffer_flits_per_vc: 200,
            packet_flits: 1,
            warmup_cycles: 3000,
            measure_cycles: 3000,
            rate_step: 0.01,
            traffic: Traffic::Uniform,
        }
    }
}

/// Traffic pattern: the destinations of the packets of every chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Traffic {
    /// Everybody to everybody else, with equal probability.
    Uniform,
}

#[cfg(test)]
mod tests;
