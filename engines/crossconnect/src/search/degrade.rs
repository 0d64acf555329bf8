//! Target circuits that the working ports can carry, if failed ports leave too few for all
//! (docs/methods/crossconnect.md, section 2).
//!
//! A minimum-cost flow, which orients all target circuits at once, keeps the maximum number of circuits. Among such
//! solutions, the flow distributes the losses over the pairs of pods in proportion to their targets (the s-th circuit
//! that a pair with C circuits loses in one direction costs (2s - 1)/C). The kept circuits are then placed on the
//! switches as a test, so that methods never start from a demand without a solution; a circuit that cannot be placed is
//! lost too.

use crate::model::assignment::Cell;
use crate::model::task::{Task, merged};
use crate::scenario::{CrossconnectScenario, Side, Wiring};
use crate::search::flow::{Arc, FlowNetwork};
use crate::search::halving::{self, Bipartition};
use crate::search::orient::{Preference, count, orient, reach, together};
use crate::search::polish::feasible;
use crate::search::repair::repair_most;
use lightbay_core::method::MethodError;
use lightbay_core::watch::{Unwatched, Watch};

mod room;
mod single;

#[cfg(test)]
mod tests;

/// Factor that scales fractional costs to integers.
const SCALE: i64 = 1000;
/// Maximum number of pairs with lost circuits for which the search tries to restore a circuit.
const SECOND_CHANCES: usize = 64;

/// Returns an upper bound on the number of target circuits that the working ports can carry, from counting the ports of
/// every pod and of every switch.
pub fn most_by_ports(scenario: &CrossconnectScenario) -> u64 {
    let (pods, ocs_count) = (scenario.pods as usize, scenario.ocs_count as usize);
    // Ports by pod, and by switch and side.
    let mut of_pod = vec![0u64; pods];
    let mut of_switch = vec![[0u64; 2]; ocs_count];
    for (side, slot) in [(Side::A, 0), (Side::B, 1)] {
        for (pod, sum) in of_pod.iter_mut().enumerate() {
            for (ocs, sums) in of_switch.iter_mut().enumerate() {
                let ports = u64::from(scenario.ports(side, pod, ocs));
                *sum += ports;
                sums[slot] += ports;
            }
        }
    }
    for port in &scenario.failed_ports {
        let slot = usize::from(port.side == Side::B);
        // A failed port counts in neither sum.
        if let (Some(sum), Some(sums)) =
            (of_pod.get_mut(port.pod as usize), of_switch.get_mut(port.ocs_id as usize))
        {
            *sum = sum.saturating_sub(1);
            sums[slot] = sums[slot].saturating_sub(1);
        }
    }
    let single = scenario.wiring == Wiring::SingleSided;
    // A single-sided switch joins its ports in pairs.
    let switches: u64 = of_switch.iter().map(|&[a, b]| if single { a / 2 } else { a.min(b) }).sum();
    // A circuit of a pod to itself uses two of its ports. Circuits need ports at both pods, and a place on some switch.
    let mut degree = vec![0u64; pods];
    for ((i, j), count) in scenario.wanted_pairs() {
        degree[i as usize] += u64::from(count);
        degree[j as usize] += u64::from(count);
    }
    let ends: u64 = of_pod.iter().zip(&degree).map(|(&ports, &degree)| ports.min(degree)).sum();
    switches.min(ends / 2).min(scenario.wanted_circuits())
}

impl Task {
    /// Builds the task of a valid scenario. If failed ports leave too few ports for all target circuits, the demand of
    /// the task is the part that can be kept.
    pub fn of(scenario: &CrossconnectScenario) -> Self {
        let mut task = Self::of_all(scenario);
        if !scenario.failed_ports.is_empty() && !scenario.is_placed() {
            // The loss is due to failures only if the demand fits when all ports work, so `kept` also gets the task
            // without failures.
            let all_in_order = CrossconnectScenario { failed_ports: Vec::new(), ..scenario.clone() };
            if let Some(kept) = kept(&task, &Self::of_all(&all_in_order)) {
                task.wanted = kept.wanted;
                task.lost = kept.lost;
            }
        }
        task
    }
}

/// The target circuits that can be kept, and the lost target circuits: unordered cells, sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    /// Circuits that remain targets.
    pub wanted: Vec<Cell>,
    /// Circuits that are lost.
    pub lost: Vec<Cell>,
}

/// Returns the target circuits of a task that can be kept; `None` if all target circuits can be kept, or if they would
/// not fit even with all ports working. `sound` is the task with all working ports.
pub(crate) fn kept(task: &Task, sound: &Task) -> Option<Kept> {
    if task.single_sided {
        return single::kept(task, sound);
    }
    let mut watch = Unwatched::default();
    // These flows are short and have no stop check.
    kept_by_flows(task, sound, &mut watch).ok().flatten()
}

fn kept_by_flows(task: &Task, sound: &Task, watch: &mut impl Watch) -> Result<Option<Kept>, MethodError> {
    let all: Vec<usize> = (0..task.ocs_count).collect();
    // All circuits fit: nothing is lost.
    if feasible(orient(task, &all, &task.wanted, Preference::none(), watch))?.is_some() {
        return Ok(None);
    }
    // If the circuits do not fit even with all ports working, failures are not the reason.
    let Some(oriented) = feasible(orient(sound, &all, &task.wanted, Preference::none(), watch))? else {
        return Ok(None);
    };
    let mut wanted = fair(task, &all, &oriented, watch);
    // Another orientation of the kept circuits may make room for pairs that the first flow left out.
    second_chances(task, &all, &mut wanted, watch)?;
    let reduced = Task { wanted: wanted.clone(), ..task.clone() };
    let Some(demand) = feasible(orient(&reduced, &all, &wanted, Preference::none(), watch))? else {
        return Ok(None);
    };
    // Circuits are placed only once: circuits without a place are lost too, although the totals would allow them.
    let settings = halving::HalvingSettings { bipartition: Bipartition::Best, preference: None };
    if feasible(halving::halve(&reduced, demand.clone(), all, settings, watch))?.is_none() {
        let (placed, _) = repair_most(&reduced, &demand, &task.installed, watch)?;
        wanted = merged(placed.ocs.iter().flatten().map(unordered));
    }
    let lost =
        task.wanted.iter().map(|cell| Cell { count: cell.count - count(&wanted, cell.a, cell.b), ..*cell });
    let lost: Vec<Cell> = lost.filter(|cell| cell.count > 0).collect();
    Ok((!lost.is_empty()).then_some(Kept { wanted, lost }))
}

fn unordered(cell: &Cell) -> Cell {
    Cell { a: cell.a.min(cell.b), b: cell.a.max(cell.b), count: cell.count }
}

/// Returns as many target circuits as the ports of all switches together can carry, as unordered cells; lost circuits
/// are distributed over the pairs in proportion to their targets. Among equal distributions, pairs with installed
/// circuits keep them.
fn fair(task: &Task, switches: &[usize], oriented: &[Cell], watch: &mut impl Watch) -> Vec<Cell> {
    // Ports of all switches together, as if they were one switch.
    let (sum_a, sum_b) = (together(&task.ports_a, switches), together(&task.ports_b, switches));
    let pods = task.pods as u32;
    let hub = 2 * pods;
    let mut network = FlowNetwork::new(2 * task.pods + 1);
    for pod in 0..pods {
        let (a, b) = (i64::from(sum_a[pod as usize]), i64::from(sum_b[pod as usize]));
        network.add_arc(Arc { from: hub, to: pod, lower: 0, upper: a, cost: 0 });
        network.add_arc(Arc { from: pods + pod, to: hub, lower: 0, upper: b, cost: 0 });
    }
    let circuits: i64 = oriented.iter().map(|cell| i64::from(cell.count)).sum();
    // A kept circuit weighs more than all loss fractions together (lexicographic by weights).
    let prize = (2 * SCALE + 1) * (circuits + 1);
    let installed = merged(task.installed.ocs.iter().flatten().map(unordered));
    let mut arcs = Vec::new();
    for (number, cell) in oriented.iter().enumerate() {
        let whole = i64::from(count(&task.wanted, cell.a.min(cell.b), cell.a.max(cell.b)).max(1));
        // A pair can get circuits only on switches at which both of its pods have ports; `reach` is the limit on its
        // circuits there.
        let most = cell.count.min(reach(task, switches, cell.a, cell.b));
        let pair = unordered(cell);
        let kept_without_change = i64::from(count(&installed, pair.a, pair.b).min(cell.count));
        // Convex loss: the s-th circuit that a pair loses costs (2s - 1)/C, so losses are distributed in proportion to
        // the targets of the pairs. The loop runs backwards, because the first circuit that is kept avoids the most
        // expensive loss.
        for lost in (i64::from(cell.count - most) + 1..=i64::from(cell.count)).rev() {
            // The smallest unit of the cost breaks ties. The first circuits that a pair keeps are installed ones, so the
            // loss stays convex.
            let tie = i64::from(i64::from(cell.count) - lost < kept_without_change);
            let cost = -prize - (2 * lost - 1) * SCALE / whole - tie;
            let arc = Arc { from: cell.a, to: pods + cell.b, lower: 0, upper: 1, cost };
            arcs.push((number, network.add_arc(arc)));
        }
    }
    let flow = network.minimize(&mut || watch.checkpoint());
    // Without lower bounds and supplies the zero flow is feasible, so an error only means that the search was stopped.
    let Ok(flow) = flow else { return Vec::new() };
    merged(
        arcs.into_iter()
            .map(|(number, arc)| Cell { count: flow.flow[arc] as u32, ..unordered(&oriented[number]) }),
    )
}

/// Restores lost circuits that fit if the other circuits are oriented differently; pairs that keep the smallest
/// fraction come first.
fn second_chances(
    task: &Task,
    switches: &[usize],
    wanted: &mut Vec<Cell>,
    watch: &mut impl Watch,
) -> Result<(), MethodError> {
    let share =
        |wanted: &[Cell], cell: &Cell| f64::from(count(wanted, cell.a, cell.b)) / f64::from(cell.count);
    let mut short: Vec<Cell> =
        task.wanted.iter().filter(|cell| count(wanted, cell.a, cell.b) < cell.count).copied().collect();
    short.sort_by(|one, other| share(wanted, one).total_cmp(&share(wanted, other)));
    // Tries only the first `SECOND_CHANCES` pairs, because each try needs a flow computation; later pairs already keep
    // a larger fraction.
    for cell in short.into_iter().take(SECOND_CHANCES) {
        let more = merged(wanted.iter().copied().chain([Cell { count: 1, ..cell }]));
        if feasible(orient(task, switches, &more, Preference::none(), watch))?.is_some() {
            *wanted = more;
        }
    }
    Ok(())
}
