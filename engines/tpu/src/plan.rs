//! The result of the plan of a pod: topology, claimed figures, certificates, routes and faults.
//!
//! This module checks only the form; the checker verifies the content.

use crate::model::router::Allocator;
use lightbay_core::problem::Problems;
use lightbay_core::read::brief;
use lightbay_core::record::{FieldType, NumberRange, Place, Spec, any, index, within};
use lightbay_core::{record, words};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value;

/// The range of numbers that a valid file may contain.
fn sane<T>() -> Spec<T> {
    within(-1e18..=1e18)
}

record! {
    /// Fields of `result` in a plan of kind `tpu`.
    pub struct TpuResult {
        /// States of the switches.
        pub topology: TopologyRecord = any(),
        /// Figures of the topology.
        pub claims: Claims = any(),
        /// Proofs of the claims.
        pub certificates: Certificates = any().or(Certificates::default()),
        /// One route for every pair of chips, if routes were requested.
        pub routing: Option<Routing> = any().or_null(),
        /// Cases of one failed switch, in order of the failed switch; empty if the sweep was not requested.
        pub faults: Vec<FaultCase> = any().or(Vec::new()),
        /// Saturation by the flit simulator, if requested.
        pub simulation: Option<Simulation> = any().or_null(),
    }
}

record! {
    /// States of the switches.
    #[derive(Eq)]
    pub struct TopologyRecord {
        /// The 48 switches, in order of id.
        pub ocs: Vec<OcsState> = any(),
        /// The group of a symmetric pod and the voltages that give the states.
        pub symmetry: Option<SymmetryRecord> = any().or_null(),
    }
}

record! {
    /// State of one optical circuit switch.
    #[derive(Eq)]
    pub struct OcsState {
        /// Number of the switch: 16·d + u + 4·v.
        pub id: u8 = index(),
        /// Dimension of the switch: `x`, `y` or `z`.
        pub dim: Dimension = any(),
        /// Position of the switch on the face: (u, v).
        pub pos: [u8; 2] = index(),
        /// `to[c]`: the cube whose minus port is connected to the plus port of cube c.
        pub to: Vec<u16> = index(),
    }
}

words! {
    /// A dimension of the pod.
    pub enum Dimension {
        /// Along x.
        X = "x",
        /// Along y.
        Y = "y",
        /// Along z.
        Z = "z",
    }
}

record! {
    /// A group and one of its elements for each switch.
    #[derive(Eq)]
    pub struct SymmetryRecord {
        /// Multiplication table; element 0 is the identity.
        pub table: Vec<Vec<u16>> = index(),
        /// Group element of each switch: `to[o][c] = table[c][voltage[o]]`.
        pub voltage: Vec<u16> = index(),
    }
}

record! {
    /// Figures of a topology.
    #[derive(Copy)]
    pub struct Claims {
        /// Sum of hop distances over ordered pairs.
        pub hop_sum: u64 = index(),
        /// Largest hop distance.
        pub diameter: u32 = index(),
        /// Mean hop distance: `hop_sum / (n (n - 1))`.
        pub avg_hops: f64 = sane(),
        /// Lower end of the certificate: a flow of this rate exists, in flits per cycle and ordered pair.
        pub mcf_lower: f64 = sane(),
        /// Upper end of the certificate: no flow is larger.
        pub mcf_upper: f64 = sane(),
    }
}

record! {
    /// Proofs of the claims.
    #[derive(Default)]
    pub struct Certificates {
        /// Lengths of the 192 link classes whose metric gives `mcf_upper`: the electrical links of X, Y, Z by lower
        /// chip, then the 48 switches. Absent if the hop bound is the certificate.
        pub class_lengths: Option<Vec<f64>> = sane().or_null(),
        /// Lengths of single links, if they prove a tighter bound for a pod without symmetry than lengths of classes:
        /// entry `3 * node + axis` is the link at the node's plus port.
        pub link_lengths: Option<Vec<f64>> = sane(),
    }
}

words! {
    /// Expansion of the routes of cube 0 to the routes of all cubes.
    pub enum Expansion {
        /// Only sources 0 to 63 are listed; the group of the topology translates them to every cube.
        Translation = "translation",
        /// All sources are listed.
        None = "none",
    }
}

record! {
    /// Static routes with virtual channels.
    pub struct Routing {
        /// Number of virtual channels of a link.
        pub vc_count: u8 = within(1..=10),
        /// Sources whose routes are listed.
        pub expand: Expansion = any(),
        /// Figures of the expanded routes.
        pub claims: RoutingClaims = any(),
        /// The routes, by source, then target.
        pub routes: Vec<Route> = any(),
        /// The same paths before the virtual channels were balanced, if a method balanced them.
        pub unbalanced: Option<Unbalanced> = any().or_null(),
    }
}

record! {
    /// Figures of the routes of all sources.
    #[derive(Eq)]
    pub struct RoutingClaims {
        /// Number of routes over the most loaded arc.
        pub max_channel_load: u64 = index(),
        /// Number of hops on each virtual channel.
        pub vc_hops: Vec<u64> = index(),
        /// Number of hops of all routes.
        pub route_hop_sum: u64 = index(),
    }
}

/// One route: `[source, target, ports, vcs]` in files, one digit per hop.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(with = "(u32, u32, String, String)")]
pub struct Route {
    /// First node of the route.
    pub source: u32,
    /// Last node of the route.
    pub target: u32,
    /// Out port at each node of the route, 0 to 5.
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

impl FieldType for Route {
    fn read(value: &Value, place: &Place<'_>, _range: NumberRange, problems: &mut Problems) -> Option<Self> {
        let read = || {
            let [source, target, ports, vcs] = value.as_array()?.as_slice() else { return None };
            let node = |value: &Value| u32::try_from(value.as_u64()?).ok();
            let digits = |value: &Value| -> Option<Vec<u8>> {
                value.as_str()?.bytes().map(|byte| byte.is_ascii_digit().then(|| byte - b'0')).collect()
            };
            Some(Self {
                source: node(source)?,
                target: node(target)?,
                ports: digits(ports)?,
                vcs: digits(vcs)?,
            })
        };
        let route = read();
        if route.is_none() {
            let remedy = "give [source, target, \"ports\", \"virtual channels\"] with one digit per hop";
            problems.add(place.to_string(), format!("is {}", brief(value)), remedy);
        }
        route
    }

    fn schema(generator: &mut SchemaGenerator, _range: NumberRange) -> Schema {
        generator.subschema_for::<Self>()
    }
}

record! {
    /// Hops and loads of the listed paths before balancing: with virtual channels of smaller number preferred.
    #[derive(Eq)]
    pub struct Unbalanced {
        /// Hops on each virtual channel, over the routes of all sources.
        pub vc_hops: Vec<u64> = index(),
        /// `loads[vc][arc]`: number of routes over each arc class (expansion by translation) or arc (no expansion).
        pub loads: Vec<Vec<u32>> = index(),
    }
}

record! {
    /// Routes and figures of the pod with one switch failed.
    pub struct FaultCase {
        /// Number of the failed switch.
        pub failed_ocs: u8 = index(),
        /// Number of routes over the most loaded arc; `None` if a pair cannot be reached.
        pub max_channel_load: Option<u64> = index().or_null(),
        /// Mean length of the routes, hops.
        pub avg_hops: f64 = sane(),
        /// Saturation by the flit simulator, if requested.
        pub saturation_flits_per_cycle_per_node: Option<f64> = sane().or_null(),
        /// Pairs (source, target) without a route, at most 20. In a symmetric pod, the sources are in cube 0.
        pub unreachable: Vec<(u32, u32)> = index().or(Vec::new()),
        /// The routes, if requested.
        pub routing: Option<Routing> = any().or_null(),
    }
}

record! {
    /// Result of the flit simulator.
    pub struct Simulation {
        /// Highest offered rate that the network fully delivers.
        pub saturation_flits_per_cycle_per_node: f64 = sane(),
        /// Allocator that the figures assume.
        pub allocator: Allocator = any().or(Allocator::Ideal),
        /// Speedup of the crossbar that the figures assume.
        pub speedup: u8 = within(1..=2).or(1),
        /// Offered rate, delivered rate (flits per cycle and node), mean latency (cycles).
        pub curve: Vec<(f64, f64, f64)> = sane(),
    }
}

impl Simulation {
    /// Returns the assumption of the figures on the routers.
    pub fn routers(&self) -> String {
        self.allocator.named(self.speedup)
    }

    /// Returns the delivered rate at the highest offered rate, flits per cycle and node; `None` if the network
    /// delivers that rate or was not offered more.
    pub fn overloaded(&self) -> Option<f64> {
        let most = self.curve.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
        (most.0 > self.saturation_flits_per_cycle_per_node).then_some(most.1)
    }

    /// Returns the remark on a saturation that the measurement window limits, not the network: at the highest rate that
    /// counts as delivered (or at the lowest rate, if none does), packets take longer than the warm-up, so too many of
    /// them are still under way when the window ends. `None` if the warm-up is long enough.
    pub fn window_note(&self, warmup_cycles: u32) -> Option<String> {
        let reached = self.saturation_flits_per_cycle_per_node * (1.0 + 1e-9);
        let by_rate = |a: &&(f64, f64, f64), b: &&(f64, f64, f64)| a.0.total_cmp(&b.0);
        let delivered = self.curve.iter().filter(|point| point.0 <= reached).max_by(by_rate);
        let &(rate, flits, cycles) = delivered.or_else(|| self.curve.iter().min_by(by_rate))?;
        let why = if flits == 0.0 {
            "no packet left the network within the window".to_owned()
        } else if cycles > f64::from(warmup_cycles) {
            format!("packets took {cycles:.0} cycles on average, longer than warmup_cycles={warmup_cycles}")
        } else {
            return None;
        };
        Some(format!(
            "the saturation is a limit of the simulated window, not of the network: at {rate} flits per cycle and chip, \
             {why}; set warmup_cycles to at least {:.0}",
            (2.0 * cycles).max(1000.0)
        ))
    }
}
