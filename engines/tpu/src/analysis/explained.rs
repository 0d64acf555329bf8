//! Explains a plan of a pod: its links, the loads of its channels, and its claimed figures.

use super::loads::{Loads, ratio};
use crate::model::group::Group;
use crate::model::pod::{CHIPS, SWITCHES};
use crate::model::topology::Topology;
use crate::plan::{Claims, FaultCase, Routing, RoutingClaims, TopologyRecord, TpuResult};

/// Loads and hops of the routes of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Routes {
    /// Loads of the channels, with the final virtual channels of the routes.
    pub after: Loads,
    /// Loads of the channels for the same paths, before the virtual channels were balanced.
    pub before: Option<Loads>,
    /// Number of hops on each virtual channel, as the plan states it.
    pub hops: Vec<u64>,
    /// Hops on each virtual channel before the virtual channels were balanced.
    pub hops_before: Option<Vec<u64>>,
    /// Number of routes over every arc, or over every arc class of a symmetric pod.
    pub totals: Vec<u32>,
    /// Number of routes over the most loaded arc.
    pub most: u64,
    /// Mean number of hops of a route.
    pub avg_hops: f64,
}

impl Routes {
    /// Counts the routes of a plan on every channel and computes their figures.
    pub fn of(pod: &Topology, routing: &Routing) -> Self {
        let before = routing.unbalanced.as_ref();
        Self {
            before: before.map(|before| Loads::stated(&before.loads, pod.cubes())),
            hops_before: before.map(|before| before.vc_hops.clone()),
            ..Self::with(pod, &routing.claims, Loads::of(pod, routing))
        }
    }

    /// Computes the figures of the routes of all sources from the number of routes on every channel, `[vc][arc]`.
    pub fn counted(pod: &Topology, claims: &RoutingClaims, loads: Vec<Vec<u32>>) -> Self {
        Self::with(pod, claims, Loads { vc: loads, each: 1 })
    }

    fn with(pod: &Topology, claims: &RoutingClaims, after: Loads) -> Self {
        let pairs = pod.nodes() as f64 * (pod.nodes() as f64 - 1.0);
        Self {
            totals: after.totals(),
            after,
            before: None,
            hops: claims.vc_hops.clone(),
            hops_before: None,
            most: claims.max_channel_load,
            avg_hops: claims.route_hop_sum as f64 / pairs,
        }
    }

    /// VC ratio: hops on the least used virtual channel divided by hops on the most used one.
    pub fn ratio(&self) -> Option<f64> {
        ratio(&self.hops)
    }

    /// VC ratio before the virtual channels were balanced.
    pub fn ratio_before(&self) -> Option<f64> {
        ratio(self.hops_before.as_ref()?)
    }
}

/// Figures derived from the result of a plan.
#[derive(Clone, Debug)]
pub struct PodFacts {
    /// The pod with its links.
    pub pod: Topology,
    /// Name of the group of a symmetric pod.
    pub group: Option<String>,
    /// Figures that the result claims.
    pub claims: Claims,
    /// Routes of the result, if it lists any.
    pub routes: Option<Routes>,
    /// Claimed figures of the routes if the result does not list the routes, so that they cannot be counted.
    pub stated: Option<RoutingClaims>,
    /// Figures for each failed switch, without routes; empty if no sweep was requested.
    pub faults: Vec<FaultCase>,
}

impl PodFacts {
    /// Derives the figures of a result.
    ///
    /// # Errors
    /// An invalid topology.
    pub fn of(result: &TpuResult) -> Result<Self, String> {
        let (pod, group) = pod_of(&result.topology)?;
        let listed = result.routing.as_ref().filter(|routing| !routing.routes.is_empty());
        let routes = listed.map(|routing| Routes::of(&pod, routing));
        let unlisted = result.routing.as_ref().filter(|routing| routing.routes.is_empty());
        let stated = unlisted.map(|routing| routing.claims.clone());
        let faults = result.faults.iter().map(|case| FaultCase { routing: None, ..case.clone() }).collect();
        Ok(Self { pod, group, claims: result.claims, routes, stated, faults })
    }

    /// Number of chips of the pod.
    pub fn chips(&self) -> usize {
        self.pod.nodes()
    }

    /// The voltage of a switch (an element of the group); `None` if the pod is not symmetric.
    pub fn voltage(&self, switch: usize) -> Option<usize> {
        self.pod.symmetry().map(|symmetry| usize::from(symmetry.voltage[switch]))
    }

    /// Symmetric matrix with the number of circuits between each two cubes, regardless of which cube has the plus end;
    /// the diagonal has the circuits from a cube to itself.
    pub fn between(&self) -> Vec<Vec<u32>> {
        between(&self.pod)
    }

    /// Number of plus ports whose circuit ends at a different cube in `other`; `None` if `other` has a different number
    /// of cubes.
    pub fn circuits_that_differ(&self, other: &Topology) -> Option<usize> {
        if other.cubes() != self.pod.cubes() {
            return None;
        }
        let differ = |switch| self.pod.state(switch).iter().zip(other.state(switch)).filter(|(a, b)| a != b);
        Some((0..SWITCHES).map(|switch| differ(switch).count()).sum())
    }
}

/// Symmetric matrix with the number of circuits between each two cubes of a pod; see [`PodFacts::between`].
pub fn between(pod: &Topology) -> Vec<Vec<u32>> {
    let cubes = pod.cubes();
    let mut count = vec![vec![0; cubes]; cubes];
    for switch in 0..SWITCHES {
        for (cube, &to) in pod.state(switch).iter().enumerate() {
            let to = usize::from(to);
            count[cube][to] += 1;
            if to != cube {
                count[to][cube] += 1;
            }
        }
    }
    count
}

/// The pod that a plan describes, with the name of its group.
///
/// # Errors
/// An invalid record.
pub fn pod_of(record: &TopologyRecord) -> Result<(Topology, Option<String>), String> {
    let Some(symmetry) = &record.symmetry else {
        let states: Vec<Vec<u16>> = record.ocs.iter().map(|switch| switch.to.clone()).collect();
        return Topology::general(&states).map(|pod| (pod, None)).map_err(|problem| problem.to_string());
    };
    let group = Group::from_table(&symmetry.table).map_err(|problem| problem.to_string())?;
    let voltage: [u16; SWITCHES] = symmetry
        .voltage
        .clone()
        .try_into()
        .map_err(|found: Vec<u16>| format!("the plan names {} voltages, not {SWITCHES}", found.len()))?;
    if let Some(wrong) = voltage.iter().find(|&&voltage| usize::from(voltage) >= group.order()) {
        return Err(format!(
            "the voltage {wrong} is not an element of the group, which has {} elements",
            group.order()
        ));
    }
    let usual = Group::most_square(group.order());
    let name = if usual.rows() == group.rows() { usual.name() } else { group.name() }.to_owned();
    Ok((Topology::symmetric(group, voltage), Some(name)))
}

/// Throughput per chip: n λ, for n chips and the throughput λ per ordered pair.
pub fn per_chip(cubes: usize, mcf: f64) -> f64 {
    (cubes * CHIPS) as f64 * mcf
}

#[cfg(test)]
mod tests;
