//! The scenario of a pod: how many cubes, which topology, how it is to be routed.

use crate::plan::TopologyRecord;
use schemars::JsonSchema;
use serde::Serialize;

/// Fields of a scenario of kind `tpu`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TpuScenario {
    /// Cubes of 64 chips, 1 to 144.
    pub cubes: u16,
    /// Chips along X, Y, Z of the job, multiples of 4, for the tori.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_shape: Option<[u16; 3]>,
    /// What the pod is wired as.
    pub topology: TopologyChoice,
    /// Cyclic factors of the group that numbers the cubes; the most square product if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<Vec<u16>>,
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

/// What the pod is wired as.
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
    /// How many of them follow the routes' labels; the others are free lanes.
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
    /// Who sends to whom.
    pub traffic: Traffic,
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

/// Who sends to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Traffic {
    /// Everybody to everybody else, with equal probability.
    Uniform,
}
