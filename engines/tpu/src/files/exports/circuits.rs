//! Circuits of the switches, and the changes from one state of all switches to another.
//!
//! Ports of a switch count from 1, as in the files of the vendors: the plus port of cube c is port `c + 1`, the minus
//! port of cube c is port `cubes + c + 1`. A circuit joins a plus port (`port_in`) to a minus port (`port_out`) and
//! carries both directions.
//!
//! For manual patching, each end is also given by its cube, side and index on the face. Side `X+` is the face at the
//! far end of dimension X, and index `u + 4 v` the position (u, v) on it. The sign comes last, because spreadsheets
//! interpret a text that begins with `+` or `-` as a formula.

use super::PodSubject;
use crate::model::baselines;
use crate::model::pod::{SWITCHES, switch_dimension, switch_position};
use crate::model::topology::Topology;
use lightbay_core::problem::Problem;
use std::fmt::Write as _;

/// Columns of a circuit: its switch, the two ports on the switch, and the cubes at its ends.
const CIRCUIT: &str = "ocs,port_in,port_out,cube_a,cube_b";
/// Columns of the ends of a circuit for manual patching.
const ENDS: &str = "side_a,index_a,side_b,index_b";

/// Writes all circuits of working switches as CSV with the columns [`CIRCUIT`] and [`ENDS`].
pub fn table(pod: &Topology) -> String {
    let mut text = format!("{CIRCUIT},{ENDS}\n");
    for switch in (0..SWITCHES).filter(|&switch| !pod.is_failed(switch)) {
        for cube in 0..pod.cubes() {
            let _ = writeln!(text, "{},{}", row(pod, switch, cube), ends(switch));
        }
    }
    text
}

fn row(pod: &Topology, switch: usize, cube: usize) -> String {
    let far = pod.to(switch, cube);
    format!("{switch},{},{},{cube},{far}", cube + 1, pod.cubes() + far + 1)
}

/// Returns the values of the columns [`ENDS`] for the circuits of a switch.
fn ends(switch: usize) -> String {
    let axis = ["X", "Y", "Z"].get(switch_dimension(switch)).copied().unwrap_or_default();
    let [u, v] = switch_position(switch);
    let index = u + 4 * v;
    format!("{axis}+,{index},{axis}-,{index}")
}

/// Returns the pod before the changes: the torus that `name` selects; `None` for `dark`, which has no circuits.
///
/// # Errors
/// A torus that does not exist for this number of cubes.
pub fn before(subject: &PodSubject<'_>, name: &str) -> Result<Option<Topology>, Problem> {
    let cubes = subject.pod.cubes();
    let shape = subject.scenario.job_shape;
    match name {
        "dark" => Ok(None),
        "pdtt" => {
            let shape = shape.or_else(|| baselines::usual_pdtt(cubes)).ok_or_else(|| {
                Problem::new(
                    "from",
                    format!("no doubly twisted torus has {cubes} cubes"),
                    "start from the prismatic torus: --set from=pt",
                )
            })?;
            baselines::pdtt(shape).map(Some)
        }
        _ => baselines::pt(shape.unwrap_or_else(|| baselines::usual_shape(cubes))).map(Some),
    }
}

/// Number of circuits that differ: this number is removed, and the same number is added.
pub fn difference(before: &Topology, after: &Topology) -> usize {
    let cubes = before.cubes().min(after.cubes());
    (0..SWITCHES)
        .flat_map(|switch| (0..cubes).map(move |cube| (switch, cube)))
        .filter(|&(switch, cube)| before.to(switch, cube) != after.to(switch, cube))
        .count()
}

/// Steps of the change in their order: `batch`, columns [`CIRCUIT`], `action`, columns [`ENDS`]. Batches are executed
/// one after the other. A batch only removes or only adds circuits, and added circuits use ports that earlier batches
/// have freed. `switches_per_batch` switches change at the same time. Without `before`, all circuits are added. The
/// circuits of switches that have failed in `after` do not change; switches that have failed in `before` hold no
/// circuits before the change.
///
/// # Errors
/// Pods of different sizes.
pub fn changes(
    before: Option<&Topology>,
    after: &Topology,
    switches_per_batch: usize,
) -> Result<String, Problem> {
    if let Some(before) = before
        && before.cubes() != after.cubes()
    {
        return Err(Problem::new(
            "against",
            format!(
                "a pod of {} cubes cannot be changed into a pod of {} cubes",
                before.cubes(),
                after.cubes()
            ),
            "use two pods of the same size",
        ));
    }
    let mut text = format!("batch,{CIRCUIT},action,{ENDS}\n");
    let mut batch = 0;
    let has_circuits = |switch: usize| before.is_some_and(|before| !before.is_failed(switch));
    let differs = |switch: usize, cube: usize| {
        !after.is_failed(switch)
            && before.is_none_or(|before| {
                before.is_failed(switch) || before.to(switch, cube) != after.to(switch, cube)
            })
    };
    let all: Vec<usize> =
        (0..SWITCHES).filter(|&switch| (0..after.cubes()).any(|cube| differs(switch, cube))).collect();
    for switches in all.chunks(switches_per_batch.max(1)) {
        for (pod, action) in [(before, "remove"), (Some(after), "add")] {
            let Some(pod) = pod else { continue };
            let is_added = action == "add";
            let held: Vec<usize> =
                switches.iter().copied().filter(|&switch| is_added || has_circuits(switch)).collect();
            if held.is_empty() {
                continue;
            }
            for switch in held {
                for cube in (0..pod.cubes()).filter(|&cube| differs(switch, cube)) {
                    let _ = writeln!(text, "{batch},{},{action},{}", row(pod, switch, cube), ends(switch));
                }
            }
            batch += 1;
        }
    }
    Ok(text)
}
