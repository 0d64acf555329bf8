//! Converts the results of algorithms into the records of files and plans, and back.

use crate::model::group::Group;
use crate::model::pod::{SWITCHES, switch_dimension, switch_position};
use crate::model::topology::Topology;
use crate::plan::{
    Certificates, Claims, Dimension, FaultCase, OcsState, Routing, Simulation, SymmetryRecord,
    TopologyRecord, TpuResult,
};
use crate::throughput::mcf::Certificate;
use crate::throughput::metrics::Hops;
use lightbay_core::kind::Candidate;
use lightbay_core::problem::Problem;
use std::collections::BTreeMap;

/// All results for a pod, from which a candidate is built.
#[derive(Clone, Debug)]
pub struct PodParts {
    /// States of the switches and the resulting links.
    pub topology: Topology,
    /// Hop distances between the chips of the pod.
    pub hops: Hops,
    /// Both ends of the interval that contains the MCF of the pod.
    pub certificate: Certificate,
    /// Routes, if they were computed.
    pub routing: Option<Routing>,
    /// The fault sweep, empty if there was none.
    pub faults: Vec<FaultCase>,
    /// Result of the simulator, if it ran.
    pub simulation: Option<Simulation>,
}

impl PodParts {
    /// Collects a pod with its distances and certificate, without routes.
    pub const fn of(topology: Topology, hops: Hops, certificate: Certificate) -> Self {
        Self { topology, hops, certificate, routing: None, faults: Vec::new(), simulation: None }
    }
}

/// Builds a candidate from these parts: result, objective and metrics. All candidates are built here.
pub fn candidate(parts: PodParts) -> Candidate<TpuResult> {
    let claims =
        claims(parts.topology.nodes(), parts.hops, (parts.certificate.lower, parts.certificate.upper));
    let result = TpuResult {
        topology: TopologyRecord::of(&parts.topology),
        claims,
        certificates: Certificates {
            class_lengths: parts.certificate.class_lengths,
            link_lengths: parts.certificate.link_lengths,
        },
        routing: parts.routing,
        faults: parts.faults,
        simulation: parts.simulation,
    };
    Candidate { value: claims.mcf_lower, metrics: metrics(parts.topology.nodes(), &result), result }
}

/// The claims of a pod of `nodes` chips with its distances and the two ends of its MCF.
pub fn claims(nodes: usize, hops: Hops, mcf: (f64, f64)) -> Claims {
    Claims {
        hop_sum: hops.hop_sum,
        diameter: hops.diameter,
        avg_hops: hops.average(nodes),
        mcf_lower: mcf.0,
        mcf_upper: mcf.1,
    }
}

/// The figures of a result that a plan repeats as metrics outside the result.
pub fn metrics(nodes: usize, result: &TpuResult) -> BTreeMap<String, f64> {
    let mut metrics = BTreeMap::new();
    let mut put = |name: &str, value: f64| {
        metrics.insert(name.to_owned(), value);
    };
    put("mcf_upper", result.claims.mcf_upper);
    put("n_mcf", nodes as f64 * result.claims.mcf_lower);
    put("avg_hops", result.claims.avg_hops);
    put("diameter", f64::from(result.claims.diameter));
    if let Some(routing) = &result.routing {
        put("max_channel_load", routing.claims.max_channel_load as f64);
        if let Some(ratio) = vc_ratio(&routing.claims.vc_hops) {
            put("vc_ratio", ratio);
        }
    }
    let worst = result.faults.iter().map(|case| case.max_channel_load).max();
    if let Some(Some(worst)) = worst
        && result.faults.iter().all(|case| case.max_channel_load.is_some())
    {
        put("worst_fault_load", worst as f64);
    }
    if let Some(simulation) = &result.simulation {
        put("saturation_flits_per_cycle_per_node", simulation.saturation_flits_per_cycle_per_node);
    }
    metrics
}

/// VC ratio: hops on the least used virtual channel divided by hops on the most used one, 0 to 1.
pub fn vc_ratio(vc_hops: &[u64]) -> Option<f64> {
    let (least, most) = (vc_hops.iter().min()?, vc_hops.iter().max()?);
    (*most > 0).then(|| *least as f64 / *most as f64)
}

impl TopologyRecord {
    /// Returns the record of a pod for files.
    pub fn of(pod: &Topology) -> Self {
        const DIMENSIONS: [Dimension; 3] = [Dimension::X, Dimension::Y, Dimension::Z];
        let ocs = (0..SWITCHES)
            .map(|switch| OcsState {
                id: switch as u8,
                dim: DIMENSIONS[switch_dimension(switch)],
                pos: switch_position(switch),
                to: pod.state(switch).to_vec(),
            })
            .collect();
        let symmetry = pod.symmetry().map(|symmetry| SymmetryRecord {
            table: symmetry.group.rows(),
            voltage: symmetry.voltage.to_vec(),
        });
        Self { ocs, symmetry }
    }

    /// Returns the pod that the record describes, after all checks of the record.
    ///
    /// # Errors
    /// The first error, with a path inside the record.
    pub fn topology(&self) -> Result<Topology, Problem> {
        let here = |mut problem: Problem| {
            if let Some(inner) = problem.path.strip_prefix("topology.") {
                problem.path = inner.to_owned();
            }
            problem
        };
        if self.ocs.len() != SWITCHES {
            return Err(Problem::new(
                "ocs",
                format!("describes {} switches", self.ocs.len()),
                "give all 48 switches in order of id",
            ));
        }
        for (switch, state) in self.ocs.iter().enumerate() {
            let (dim, pos) = (switch_dimension(switch), switch_position(switch));
            if usize::from(state.id) != switch || state.dim as usize != dim || state.pos != pos {
                return Err(Problem::new(
                    format!("ocs[{switch}]"),
                    format!("has id {}, dim {:?} and pos {:?}", state.id, state.dim, state.pos),
                    format!(
                        "the switch in this place has id {switch}, dim \"{}\" and pos {pos:?}",
                        ["x", "y", "z"][dim]
                    ),
                ));
            }
        }
        let to: Vec<Vec<u16>> = self.ocs.iter().map(|state| state.to.clone()).collect();
        let general = Topology::general(&to).map_err(here)?;
        let Some(symmetry) = &self.symmetry else { return Ok(general) };
        let cubes = general.cubes();
        if symmetry.table.len() != cubes {
            return Err(Problem::new(
                "symmetry.table",
                format!("has {} rows, but there are {cubes} cubes", symmetry.table.len()),
                "give one row and column for every cube, or null for a pod without symmetry",
            ));
        }
        let group = Group::from_table(&symmetry.table).map_err(here)?;
        let voltage: [u16; SWITCHES] = symmetry.voltage.clone().try_into().map_err(|given: Vec<u16>| {
            Problem::new(
                "symmetry.voltage",
                format!("has {} entries", given.len()),
                "give one element of the group for each of the 48 switches",
            )
        })?;
        if let Some(switch) = voltage.iter().position(|&g| usize::from(g) >= cubes) {
            return Err(Problem::new(
                format!("symmetry.voltage[{switch}]"),
                format!("is {}", voltage[switch]),
                format!("elements of the group are 0 to {}", cubes - 1),
            ));
        }
        let symmetric = Topology::symmetric(recognised(group), voltage);
        let other = (0..SWITCHES).find(|&switch| symmetric.state(switch) != general.state(switch));
        if let Some(switch) = other {
            return Err(Problem::new(
                format!("ocs[{switch}].to"),
                format!("differs from the state that voltage {} of the symmetry gives", voltage[switch]),
                "make 'to' and 'symmetry' agree, or give null as symmetry",
            ));
        }
        Ok(symmetric)
    }
}

/// Returns the group under a common name, such as `Z2 x Z4`, if the group with this name has the same multiplication
/// table; otherwise returns it unchanged.
fn recognised(group: Group) -> Group {
    let order = group.order();
    let mut usual = Vec::new();
    for a in (1..=order).filter(|a| order.is_multiple_of(*a)) {
        let rest = order / a;
        for b in (1..=rest).filter(|b| rest.is_multiple_of(*b)) {
            usual.extend(Group::abelian(&[a, b, rest / b]));
        }
    }
    if order >= 6 && order.is_multiple_of(2) {
        usual.extend(Group::dihedral(order / 2));
    }
    let rows = group.rows();
    let known = usual.into_iter().find(|known| known.rows() == rows);
    known.unwrap_or(group)
}

#[cfg(test)]
mod tests;
