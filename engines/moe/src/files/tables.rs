//! Tables of a plan: cross-connects of the region's switch, and bytes over packet switches.
//!
//! The switch of a region can join any two of its ports. The NIC with index `i` among the `n` optical NICs of server
//! `s` is connected to port `s * n + i + 1`.

use super::handover::own_phases;
use crate::Moe;
use crate::plan::{
    CircuitAction, FabricKind, LayerPhase, LayerPlan, MoeResult, RegionCircuit, RegionRoute, RoutePath,
};
use crate::scenario::MoeRegion;
use lightbay_core::format::{Artifact, FormatInfo, SubjectOf, SubjectSort, file_stem, needs_plan};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::{Problem, Problems};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Name of the format.
const NAME: &str = "circuits";

/// Returns all formats.
pub fn formats() -> Vec<FormatInfo> {
    let info = FormatInfo::new(
        NAME,
        "Cross-connects of the region's switch by layer, or the bytes that packet switches carry.",
        SubjectSort::Plan,
        "csv",
    );
    vec![info.leaving_out(&["times and costs", "routes over circuits"]).with(vec![ParamInfo::choice(
        "listing",
        &["circuits", "packet_switched"],
        "circuits",
        "What to list: circuits and their changes in each layer, or bytes over packet switches per pair \
         of servers. The last column names the all-to-alls to which a row applies.",
    )])]
}

/// Returns the tables of a plan as files.
///
/// # Errors
/// A scenario, or a plan of a network without circuits of a region.
pub fn export(subject: SubjectOf<'_, Moe>, format: &str, params: &Params) -> Result<Vec<Artifact>, Problems> {
    let SubjectOf::Plan(plan) = subject else { return Err(needs_plan(format).into()) };
    let plan = plan.plan();
    if plan.result.iteration.fabric != FabricKind::Mfabric {
        let message = "the network of the plan has no circuits of a region";
        return Err(Problem::new("to", message, "solve with a method such as auto").into());
    }
    let table = params.text("listing").unwrap_or("circuits");
    let text = if table == "circuits" {
        circuits(&plan.scenario.body.region, &plan.result)
    } else {
        packet_switched(&plan.result)
    };
    Ok(vec![Artifact::new(format!("{}.{table}.csv", file_stem(subject.name())), text)])
}

/// Returns the port of the switch to which a NIC is connected.
fn port(region: &MoeRegion, server: u32, nic: u32) -> u32 {
    let place = region.ocs_nics.iter().position(|known| *known == nic).unwrap_or(0);
    server * region.ocs_nics.len() as u32 + place as u32 + 1
}

/// Returns the sets of circuits of a layer with their routes and the names of the exchanges that use them: the set of
/// the layer first.
fn sets(layer: &LayerPlan) -> Vec<(String, &[RegionCircuit], &[RegionRoute])> {
    let names = |phases: &[LayerPhase]| phases.iter().map(|phase| phase.word()).collect::<Vec<_>>().join(" ");
    let mut sets = vec![(names(&own_phases(layer)), layer.circuits.as_slice(), layer.routes.as_slice())];
    let others = layer.other_exchanges.iter();
    sets.extend(others.map(|other| (names(&[other.phase]), &*other.circuits, &*other.routes)));
    sets
}

/// Returns the table of the circuits: the action of a circuit of the layer compares with the previous layer, the action
/// of a circuit of another exchange with the circuits of the layer.
fn circuits(region: &MoeRegion, result: &MoeResult) -> String {
    let mut table = "layer,action,port_a,port_b,server_a,nic_a,server_b,nic_b,exchanges\n".to_owned();
    for layer in &result.layers {
        for (at, (exchanges, circuits, _)) in sets(layer).into_iter().enumerate() {
            let ends =
                |circuit: &RegionCircuit| [circuit.server_a, circuit.nic_a, circuit.server_b, circuit.nic_b];
            let set: BTreeSet<[u32; 4]> = circuits.iter().map(ends).collect();
            // The plan lists the set of another exchange without the circuits of the layer that it removes.
            let removed =
                layer.circuits.iter().filter(|circuit| at > 0 && circuit.action != CircuitAction::Remove);
            let removed = removed.filter(|circuit| !set.contains(&ends(circuit)));
            let removed = removed.map(|circuit| (CircuitAction::Remove, ends(circuit)));
            let listed = circuits.iter().map(|circuit| (circuit.action, ends(circuit)));
            for (action, [server_a, nic_a, server_b, nic_b]) in removed.chain(listed) {
                let (from, to) = (port(region, server_a, nic_a), port(region, server_b, nic_b));
                let _ = writeln!(
                    table,
                    "{},{},{from},{to},{server_a},{nic_a},{server_b},{nic_b},{exchanges}",
                    layer.layer,
                    action.word()
                );
            }
        }
    }
    table
}

/// Returns the table of bytes over packet switches of one exchange, in the direction of the dispatch, by layer, pair of
/// servers and exchanges with the same routes.
fn packet_switched(result: &MoeResult) -> String {
    let mut table = "layer,src_server,dst_server,bytes,exchanges\n".to_owned();
    for layer in &result.layers {
        for (exchanges, _, routes) in sets(layer) {
            let mut sums: BTreeMap<(u32, u32), f64> = BTreeMap::new();
            for route in routes.iter().filter(|route| route.path == RoutePath::Eps) {
                *sums.entry((route.src_server, route.dst_server)).or_default() += route.bytes;
            }
            for ((from, to), bytes) in sums {
                let _ = writeln!(table, "{},{from},{to},{bytes},{exchanges}", layer.layer);
            }
        }
    }
    table
}
