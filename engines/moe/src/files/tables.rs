//! Tables of a plan: cross-connects of the region's switch, and bytes over packet switches.
//!
//! The switch of a region can join any two of its ports. The NIC with index `i` among the `n` optical NICs of server
//! `s` is connected to port `s * n + i + 1`.

use crate::Moe;
use crate::plan::{CircuitAction, FabricKind, MoeResult, RegionCircuit, RoutePath};
use crate::scenario::MoeRegion;
use lightbay_core::format::{Artifact, FormatInfo, SubjectOf, SubjectSort, file_stem, needs_plan};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::{Problem, Problems};
use std::collections::BTreeMap;
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
         of servers.",
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

fn circuits(region: &MoeRegion, result: &MoeResult) -> String {
    let mut table = "layer,action,port_a,port_b,server_a,nic_a,server_b,nic_b\n".to_owned();
    for layer in &result.layers {
        for circuit in &layer.circuits {
            let action = match circuit.action {
                CircuitAction::Keep => "keep",
                CircuitAction::Add => "add",
                CircuitAction::Remove => "remove",
            };
            let RegionCircuit { server_a, nic_a, server_b, nic_b, .. } = *circuit;
            let (from, to) = (port(region, server_a, nic_a), port(region, server_b, nic_b));
            let _ =
                writeln!(table, "{},{action},{from},{to},{server_a},{nic_a},{server_b},{nic_b}", layer.layer);
        }
    }
    table
}

/// Returns the table of bytes over packet switches of one dispatch, by layer and pair of servers.
fn packet_switched(result: &MoeResult) -> String {
    let mut table = "layer,src_server,dst_server,bytes\n".to_owned();
    for layer in &result.layers {
        let mut sums: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        for route in layer.routes.iter().filter(|route| route.path == RoutePath::Eps) {
            *sums.entry((route.src_server, route.dst_server)).or_default() += route.bytes;
        }
        for ((from, to), bytes) in sums {
            let _ = writeln!(table, "{},{from},{to},{bytes}", layer.layer);
        }
    }
    table
}
