//! Recomputes the figures that a plan claims.

use super::group::Symmetric;
use super::wiring::{CHIPS, ELECTRICAL, PORTS, SWITCHES, Wiring, coordinates};
use super::{EXACT, Envelope, Findings, code, off};
use crate::plan::{Claims, TpuResult};
use lightbay_core::kind::Depth;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Number of chips up to which all paths of a pod without symmetry are measured in the usual depth: about a second.
const GENERAL_AT_ONCE: usize = 1536;

/// Checks that every number of the plan is finite.
pub(super) fn finite(result: &TpuResult, envelope: &Envelope<'_>, found: &mut Findings) {
    let mut number = |name: &str, value: f64| {
        if !value.is_finite() {
            found.add(code::SCHEMA, format!("'{name}' is {value}, but must be a finite number"));
        }
    };
    number("objective.value", envelope.value);
    number("objective.bound", envelope.bound.unwrap_or(0.0));
    number("claims.avg_hops", result.claims.avg_hops);
    number("claims.mcf_lower", result.claims.mcf_lower);
    number("claims.mcf_upper", result.claims.mcf_upper);
    for (name, value) in envelope.metrics {
        number(&format!("metrics.{name}"), *value);
    }
    for (class, length) in result.certificates.class_lengths.iter().flatten().enumerate() {
        number(&format!("certificates.class_lengths[{class}]"), *length);
    }
    for (link, length) in result.certificates.link_lengths.iter().flatten().enumerate() {
        number(&format!("certificates.link_lengths[{link}]"), *length);
    }
    for case in &result.faults {
        number(&format!("faults of {}: avg_hops", case.failed_ocs), case.avg_hops);
        number(
            &format!("faults of {}: saturation", case.failed_ocs),
            case.saturation_flits_per_cycle_per_node.unwrap_or(0.0),
        );
    }
    if let Some(simulation) = &result.simulation {
        number("simulation.saturation", simulation.saturation_flits_per_cycle_per_node);
        for (offered, delivered, latency) in &simulation.curve {
            for value in [offered, delivered, latency] {
                number("simulation.curve", *value);
            }
        }
    }
}

/// Computes the sum of hops and the diameter and compares both figures with the claims. A breadth-first search runs
/// from 64 chips at once, with one bit per source chip. If the symmetry was confirmed, only cube 0 is searched. Returns
/// the sum; `None` if some chips cannot be reached.
pub(super) fn hops(
    wiring: &Wiring,
    group: Option<Symmetric>,
    claims: &Claims,
    found: &mut Findings,
) -> Option<u64> {
    let nodes = wiring.nodes();
    let cubes = if group.is_some() { 1 } else { wiring.cubes };
    let (mut sum, mut diameter) = (0_u64, 0_u32);
    for cube in 0..cubes {
        let mut seen = vec![0_u64; nodes];
        for source in 0..CHIPS {
            seen[CHIPS * cube + source] = 1 << source;
        }
        let mut steps = 0;
        loop {
            // A chip that is not reached after this many hops is at least one hop farther.
            let missing: u64 = seen.iter().map(|sources| u64::from(sources.count_zeros())).sum();
            if missing == 0 {
                break;
            }
            sum += missing;
            let reached = |(node, own): (usize, &u64)| {
                wiring.open(node).fold(*own, |all, (_, far)| all | seen[far as usize])
            };
            let next: Vec<u64> = seen.iter().enumerate().map(reached).collect();
            if next == seen {
                let (chip, sources) = seen.iter().enumerate().find(|(_, sources)| **sources != u64::MAX)?;
                let source = CHIPS * cube + sources.trailing_ones() as usize;
                found.add(code::CONNECTED, format!("chip {chip} cannot be reached from chip {source}"));
                return None;
            }
            seen = next;
            steps += 1;
        }
        diameter = diameter.max(steps);
    }
    sum *= (wiring.cubes / cubes) as u64;
    if claims.hop_sum != sum {
        found.add(code::HOPS, format!("'hop_sum' is {}, but the pod has {sum}", claims.hop_sum));
    }
    if claims.diameter != diameter {
        found.add(code::HOPS, format!("'diameter' is {}, but the pod has {diameter}", claims.diameter));
    }
    let n = nodes as f64;
    let average = sum as f64 / (n * (n - 1.0));
    if off(claims.avg_hops, average) {
        found.add(code::HOPS, format!("'avg_hops' is {}, but the pod has {average}", claims.avg_hops));
    }
    Some(sum)
}

/// Compares the claimed lower and upper end of the MCF with each other, with the hop bound, with the certificate and
/// with the routes.
pub(super) fn mcf(
    wiring: &Wiring,
    group: Option<Symmetric>,
    hop_sum: u64,
    result: &TpuResult,
    depth: Depth,
    found: &mut Findings,
    remarks: &mut Vec<String>,
) {
    let Claims { mcf_lower: lower, mcf_upper: upper, .. } = result.claims;
    let arcs: usize = (0..wiring.nodes()).map(|node| wiring.open(node).count()).sum();
    let hop_bound = arcs as f64 / hop_sum as f64;
    if lower < 0.0 {
        found.add(code::MCF, format!("'mcf_lower' is {lower}, but a flow cannot be negative"));
    }
    if lower > upper * (1.0 + EXACT) {
        found.add(code::MCF, format!("'mcf_lower' {lower} is above 'mcf_upper' {upper}"));
    }
    if lower > hop_bound * (1.0 + EXACT) {
        found.add(
            code::MCF,
            format!("'mcf_lower' {lower} is above {hop_bound}, the bound from the hop counts"),
        );
    }
    // Every certificate proves a bound; the claim must not be below the smallest of these bounds.
    let mut proven = ("the hops", hop_bound);
    let certificates = &result.certificates;
    let arcs = [
        (
            "the class lengths",
            certificates.class_lengths.as_ref().and_then(|given| by_class(wiring, given, found)),
        ),
        (
            "the link lengths",
            certificates.link_lengths.as_ref().and_then(|given| by_link(wiring, given, found)),
        ),
    ];
    let mut open = false;
    for (by, arcs) in arcs {
        let Some(arcs) = arcs else { continue };
        if group.is_none() && wiring.nodes() > GENERAL_AT_ONCE && !depth.is_exact() {
            open = true;
            continue;
        }
        match certified(wiring, group, &arcs, &|| depth.is_exact() && depth.is_over()) {
            None => open = true,
            Some(bound) if bound.is_infinite() => {
                found.add(
                    code::CERTIFICATE,
                    format!("{by} give all pairs of chips distance 0 and prove no bound"),
                );
            }
            Some(bound) if bound < proven.1 => proven = (by, bound),
            Some(_) => {}
        }
    }
    if open && upper < proven.1 * (1.0 - EXACT) {
        remarks.push(format!(
            "'mcf_upper' {upper} is claimed: the paths of {} chips without symmetry were not \
             measured{}; the hop counts prove {}",
            wiring.nodes(),
            if depth.is_exact() { " within the time limit" } else { " (--exact measures them)" },
            proven.1
        ));
    } else if upper < proven.1 * (1.0 - EXACT) {
        let (by, proven) = proven;
        found.add(code::CERTIFICATE, format!("'mcf_upper' is {upper}, but {by} prove only {proven}"));
    }
    if let Some(routing) = &result.routing {
        let rate = 1.0 / routing.claims.max_channel_load.max(1) as f64;
        if rate > upper * (1.0 + EXACT) {
            found.add(
                code::MCF,
                format!(
                    "routes with max channel load {} carry a flow of {rate}, but 'mcf_upper' is {upper}",
                    routing.claims.max_channel_load
                ),
            );
        }
    }
}

/// Returns the bound that lengths of the arcs prove: the sum of the lengths divided by the sum of the distances of all
/// pairs. If the symmetry was confirmed, the arcs and the sources of one cube are enough. Infinite if all distances are
/// 0; `None` if the run stops.
fn certified(
    wiring: &Wiring,
    group: Option<Symmetric>,
    arcs: &[[f64; PORTS]],
    stop: &dyn Fn() -> bool,
) -> Option<f64> {
    let sources = if group.is_some() { CHIPS } else { wiring.nodes() };
    let mut sum = 0.0;
    let mut distance = vec![f64::INFINITY; wiring.nodes()];
    // Lengths are not negative, so their bit patterns have the same order.
    let mut queue: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    for source in 0..sources {
        if stop() {
            return None;
        }
        distance.fill(f64::INFINITY);
        distance[source] = 0.0;
        queue.push(Reverse((0, source)));
        while let Some(Reverse((bits, node))) = queue.pop() {
            let at = f64::from_bits(bits);
            if at > distance[node] {
                continue;
            }
            for (port, next) in wiring.open(node) {
                let there = at + arcs[node][port];
                if there < distance[next as usize] {
                    distance[next as usize] = there;
                    queue.push(Reverse((there.to_bits(), next as usize)));
                }
            }
        }
        sum += distance.iter().sum::<f64>();
    }
    if sum <= 0.0 {
        return Some(f64::INFINITY);
    }
    let open = (0..sources).flat_map(|node| wiring.open(node).map(move |(port, _)| arcs[node][port]));
    Some(open.sum::<f64>() / sum)
}

fn sound(lengths: &[f64], expected: usize, name: &str, found: &mut Findings) -> bool {
    if lengths.len() != expected {
        found.add(
            code::CERTIFICATE,
            format!("'{name}' must have {expected} lengths, but has {}", lengths.len()),
        );
        return false;
    }
    let wrong = lengths.iter().find(|length| length.is_nan() || **length < 0.0);
    if let Some(wrong) = wrong {
        found.add(
            code::CERTIFICATE,
            format!("'{name}' has the length {wrong}, but lengths must be 0 or more"),
        );
    }
    wrong.is_none()
}

/// Returns the length of every arc of the pod from the lengths of the link classes; `None` and a violation if the
/// lengths are invalid.
fn by_class(wiring: &Wiring, lengths: &[f64], found: &mut Findings) -> Option<Vec<[f64; PORTS]>> {
    if !sound(lengths, ELECTRICAL + SWITCHES, "class_lengths", found) {
        return None;
    }
    let mut cube = [[0.0; PORTS]; CHIPS];
    let mut class = 0;
    for axis in 0..3 {
        for chip in (0..CHIPS).filter(|&chip| coordinates(chip)[axis] < 3) {
            cube[chip][2 * axis] = lengths[class];
            cube[chip + 4_usize.pow(axis as u32)][2 * axis + 1] = lengths[class];
            class += 1;
        }
    }
    for (chip, arcs) in cube.iter_mut().enumerate() {
        for (port, arc) in arcs.iter_mut().enumerate() {
            if let Some(switch) = wiring.switch[chip][port] {
                *arc = lengths[ELECTRICAL + usize::from(switch)];
            }
        }
    }
    Some((0..wiring.nodes()).map(|node| cube[node % CHIPS]).collect())
}

/// Returns the length of every arc of the pod from the lengths of the links at plus ports; `None` and a violation if
/// the lengths are invalid.
fn by_link(wiring: &Wiring, lengths: &[f64], found: &mut Findings) -> Option<Vec<[f64; PORTS]>> {
    if !sound(lengths, 3 * wiring.nodes(), "link_lengths", found) {
        return None;
    }
    let mut arcs = vec![[0.0; PORTS]; wiring.nodes()];
    for node in 0..wiring.nodes() {
        for axis in 0..3 {
            let length = lengths[3 * node + axis];
            arcs[node][2 * axis] = length;
            arcs[wiring.next[node][2 * axis] as usize][2 * axis + 1] = length;
        }
    }
    Some(arcs)
}
