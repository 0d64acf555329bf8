//! The result of a pod's plan: topology, what it claims to reach, its certificates, routes and faults.

pub(crate) mod read;

use schemars::JsonSchema;
use serde::Serialize;

/// Fields of `result` in a plan of kind `tpu`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TpuResult {
    /// States of the switches.
    pub topology: TopologyRecord,
    /// Figures of the topology.
    pub claims: Claims,
    /// Proofs of the claims.
    pub certificates: Certificates,
    /// One route for every pair of chips, if routes were asked for.
    pub routing: Option<Routing>,
    /// Cases of one failed switch, in order of the failed switch; empty if the sweep was not asked for.
    pub faults: Vec<FaultCase>,
    /// Saturation by the flit simulator, if asked for.
    pub simulation: Option<Simulation>,
}

/// States of the switches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TopologyRecord {
    /// The 48 switches, in order of id.
    pub ocs: Vec<OcsState>,
    /// The group of a symmetric pod and the voltages that give the states.
    pub symmetry: Option<SymmetryRecord>,
}

/// State of one optical circuit switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OcsState {
    /// 16·d + u + 4·v.
    pub id: u8,
    /// `x`, `y` or `z`.
    pub dim: Dimension,
    /// Face position (u, v).
    pub pos: [u8; 2],
    /// `to[c]` is the cube whose minus port the plus port of cube c is patched to.
    pub to: Vec<u16>,
}

/// A dimension of the pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// Along x.
    X,
    /// Along y.
    Y,
    /// Along z.
    Z,
}

/// A group and one of its elements for each switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SymmetryRecord {
    /// Multiplication table; element 0 is the identity.
    pub table: Vec<Vec<u16>>,
    /// `to[o][c] = table[c][voltage[o]]`.
    pub voltage: Vec<u16>,
}

/// Figures of a topology.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Claims {
    /// Sum of hop distances over ordered pairs.
    pub hop_sum: u64,
    /// Largest hop distance.
    pub diameter: u32,
    /// `hop_sum / (n (n - 1))`.
    pub avg_hops: f64,
    /// A flow of this many flits per cycle and ordered pair exists.
    pub mcf_lower: f64,
    /// No flow is larger.
    pub mcf_upper: f64,
}

/// Proofs of the claims.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Certificates {
    /// Lengths of the 192 link classes whose metric gives `mcf_upper`: the electrical links of X, Y, Z by lower
    /// chip, then the 48 switches. Absent where the hop bound is the certificate.
    pub class_lengths: Option<Vec<f64>>,
    /// Lengths of single links, where those of a pod without symmetry prove more than any of classes: entry
    /// `3 * node + axis` is the link at the node's plus port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_lengths: Option<Vec<f64>>,
}

/// Expansion of the routes of cube 0 to those of all cubes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Expansion {
    /// Only sources 0 to 63 are listed; the group of the topology carries them to every cube.
    Translation,
    /// All sources are listed.
    None,
}

/// Static routes with virtual channels.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Routing {
    /// Virtual channels of a link.
    pub vc_count: u8,
    /// Sources that are listed.
    pub expand: Expansion,
    /// Figures of the expanded routes.
    pub claims: RoutingClaims,
    /// The routes, by source, then target.
    pub routes: Vec<Route>,
    /// The same paths before the virtual channels were balanced, where a method balanced them.
    pub unbalanced: Option<Unbalanced>,
}

/// Figures of the expanded routes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RoutingClaims {
    /// Routes over the fullest arc.
    pub max_channel_load: u64,
    /// Hops on each virtual channel.
    pub vc_hops: Vec<u64>,
    /// Hops of all routes.
    pub route_hop_sum: u64,
}

/// One route: `[source, target, ports, vcs]` in files, one digit per hop.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(with = "(u32, u32, String, String)")]
pub struct Route {
    /// First node.
    pub source: u32,
    /// Last node.
    pub target: u32,
    /// Port taken at each node, 0 to 5.
    pub ports: Vec<u8>,
    /// Virtual channel of each hop.
    pub vcs: Vec<u8>,
}

impl Serialize for Route {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let digits = |of: &[u8]| of.iter().map(|digit| char::from(b'0' + digit)).collect::<String>();
        (self.source, self.target, digits(&self.ports), digits(&self.vcs)).serialize(serializer)
    }
}

/// The labels of the same paths if the first virtual channel always has priority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Unbalanced {
    /// Hops on each virtual channel, expanded.
    pub vc_hops: Vec<u64>,
    /// `loads[vc][arc]`: routes over each arc class (expansion by translation) or arc (no expansion).
    pub loads: Vec<Vec<u32>>,
}

/// Routes and figures of the pod with one switch failed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FaultCase {
    /// The switch.
    pub failed_ocs: u8,
    /// Routes over the fullest arc; `None` if a pair cannot be reached.
    pub max_channel_load: Option<u64>,
    /// Mean length of the routes, hops.
    pub avg_hops: f64,
    /// Saturation by the flit simulator, if asked for.
    pub saturation_flits_per_cycle_per_node: Option<f64>,
    /// Pairs without a route: source in cube 0 (translation) or anywhere, target. At most 20 are named.
    pub unreachable: Vec<(u32, u32)>,
    /// The routes, if asked for.
    pub routing: Option<Routing>,
}

/// Result of the flit simulator.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Simulation {
    /// Highest rate at which the network delivers what is offered.
    pub saturation_flits_per_cycle_per_node: f64,
    /// Offered rate, delivered rate (flits per cycle and node), mean latency (cycles).
    pub curve: Vec<(f64, f64, f64)>,
}
