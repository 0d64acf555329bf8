//! The figures that a plan claims, recomputed.

use super::group::Symmetric;
use super::wiring::{CHIPS, ELECTRICAL, PORTS, SWITCHES, Wiring, coordinates};
use super::{EXACT, Envelope, Findings, SOLVED, code, cover};
use crate::plan::{Claims, TpuResult};
use lightbay_core::checked::BoundTrust;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Every number of the plan must be one.
pub(super) fn finite(result: &TpuResult, envelope: &Envelope<'_>, found: &mut Findings) {
    let mut number = |name: &str, value: f64| {
        if !value.is_finite() {
            found.add(code::SCHEMA, format!("'{name}' is {value}, must be a finite number"));
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

/// Relative difference of a claim.
fn off(claimed: f64, exact: f64, tolerance: f64) -> bool {
    (claimed - exact).abs() > tolerance * exact.abs().max(1e-12)
}

/// Sum of hops and diameter by a search from every chip; where the symmetry was confirmed, cube 0 stands for all.
pub(super) fn hops(
    wiring: &Wiring,
    group: Option<Symmetric>,
    claims: &Claims,
    found: &mut Findings,
) -> Option<u64> {
    let sources = if group.is_some() { CHIPS } else { wiring.nodes() };
    let copies = (wiring.nodes() / sources) as u64;
    let (mut sum, mut diameter) = (0_u64, 0_u32);
    let mut distance = vec![u32::MAX; wiring.nodes()];
    let mut queue = VecDeque::with_capacity(wiring.nodes());
    for source in 0..sources {
        distance.fill(u32::MAX);
        distance[source] = 0;
        queue.push_back(source);
        let mut reached = 0;
        while let Some(node) = queue.pop_front() {
            reached += 1;
            sum += u64::from(distance[node]);
            diameter = diameter.max(distance[node]);
            for &next in &wiring.next[node] {
                if distance[next as usize] == u32::MAX {
                    distance[next as usize] = distance[node] + 1;
                    queue.push_back(next as usize);
                }
            }
        }
        if reached < wiring.nodes() {
            found.add(
                code::CONNECTED,
                format!("{} chips cannot be reached from chip {source}", wiring.nodes() - reached),
            );
            return None;
        }
    }
    sum *= copies;
    if claims.hop_sum != sum {
        found.add(code::HOPS, format!("'hop_sum' is {}, the pod has {sum}", claims.hop_sum));
    }
    if claims.diameter != diameter {
        found.add(code::HOPS, format!("'diameter' is {}, the pod has {diameter}", claims.diameter));
    }
    let n = wiring.nodes() as f64;
    let average = sum as f64 / (n * (n - 1.0));
    if off(claims.avg_hops, average, EXACT) {
        found.add(code::HOPS, format!("'avg_hops' is {}, the pod has {average}", claims.avg_hops));
    }
    Some(sum)
}

/// The two ends of the MCF against each other, the hop bound, the certificate and the routes.
pub(super) fn mcf(
    wiring: &Wiring,
    group: Option<Symmetric>,
    hop_sum: u64,
    result: &TpuResult,
    found: &mut Findings,
) {
    let Claims { mcf_lower: lower, mcf_upper: upper, .. } = result.claims;
    let hop_bound = PORTS as f64 * wiring.nodes() as f64 / hop_sum as f64;
    if lower < 0.0 {
        found.add(code::MCF, format!("'mcf_lower' is {lower}, no flow is negative"));
    }
    if lower > upper * (1.0 + EXACT) {
        found.add(code::MCF, format!("'mcf_lower' {lower} is above 'mcf_upper' {upper}"));
    }
    if lower > hop_bound * (1.0 + EXACT) {
        found.add(code::MCF, format!("'mcf_lower' {lower} is above {hop_bound}, what the hops allow"));
    }
    // Every certificate proves a bound; the smallest has to bear the claim.
    let mut proven = ("the hops", hop_bound);
    let certificates = &result.certificates;
    let arcs = [
        (
            "the class lengths",
            certificates.class_lengths.as_ref().map(|given| by_class(wiring, given, found)),
        ),
        ("the link lengths", certificates.link_lengths.as_ref().map(|given| by_link(wiring, given, found))),
    ];
    for (by, arcs) in arcs {
        let bound = arcs.flatten().and_then(|arcs| certified(wiring, group, &arcs, found));
        if let Some(bound) = bound.filter(|bound| *bound < proven.1) {
            proven = (by, bound);
        }
    }
    if upper < proven.1 * (1.0 - SOLVED) {
        let (by, proven) = proven;
        found.add(code::CERTIFICATE, format!("'mcf_upper' is {upper}, {by} prove only {proven}"));
    }
    if let Some(routing) = &result.routing {
        let rate = 1.0 / routing.claims.max_channel_load.max(1) as f64;
        if rate > upper * (1.0 + EXACT) {
            found.add(
                code::MCF,
                format!(
                    "routes of load {} carry {rate}, 'mcf_upper' is {upper}",
                    routing.claims.max_channel_load
                ),
            );
        }
    }
}

/// What lengths of the arcs prove: their sum over the distances of all pairs. Where the symmetry was confirmed, one
/// cube's arcs against the sources of one cube.
fn certified(
    wiring: &Wiring,
    group: Option<Symmetric>,
    arcs: &[[f64; PORTS]],
    found: &mut Findings,
) -> Option<f64> {
    let sources = if group.is_some() { CHIPS } else { wiring.nodes() };
    let mut sum = 0.0;
    let mut distance = vec![f64::INFINITY; wiring.nodes()];
    // Lengths are not negative, so their bits order as they do.
    let mut queue: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    for source in 0..sources {
        distance.fill(f64::INFINITY);
        distance[source] = 0.0;
        queue.push(Reverse((0, source)));
        while let Some(Reverse((bits, node))) = queue.pop() {
            let at = f64::from_bits(bits);
            if at > distance[node] {
                continue;
            }
            for (port, &next) in wiring.next[node].iter().enumerate() {
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
        found.add(code::CERTIFICATE, "the lengths put all chips in one place and prove nothing");
        return None;
    }
    Some(arcs[..sources].iter().flatten().sum::<f64>() / sum)
}

fn sound(lengths: &[f64], expected: usize, name: &str, found: &mut Findings) -> bool {
    let sound = lengths.len() == expected && lengths.iter().all(|&length| length >= 0.0);
    if !sound {
        found.add(
            code::CERTIFICATE,
            format!("'{name}' must be {expected} lengths of at least 0, {} are given", lengths.len()),
        );
    }
    sound
}

/// Length of every arc of the pod from the lengths of the classes.
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

/// Length of every arc of the pod from those of the links at plus ports.
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

/// Objective and metrics against the result.
pub(super) fn envelope(wiring: &Wiring, result: &TpuResult, envelope: &Envelope<'_>, found: &mut Findings) {
    let claims = &result.claims;
    if off(envelope.value, claims.mcf_lower, EXACT) {
        found.add(
            code::METRICS,
            format!("the objective is {}, 'mcf_lower' is {}", envelope.value, claims.mcf_lower),
        );
    }
    let routing = result.routing.as_ref().map(|routing| &routing.claims);
    let ratio = routing.and_then(|claims| {
        let (least, most) = (claims.vc_hops.iter().min()?, claims.vc_hops.iter().max()?);
        (*most > 0).then(|| *least as f64 / *most as f64)
    });
    let worst = result.faults.iter().map(|case| case.max_channel_load).collect::<Option<Vec<u64>>>();
    let figures = [
        ("mcf_lower", Some(claims.mcf_lower)),
        ("mcf_upper", Some(claims.mcf_upper)),
        ("n_mcf", Some(wiring.nodes() as f64 * claims.mcf_lower)),
        ("avg_hops", Some(claims.avg_hops)),
        ("diameter", Some(f64::from(claims.diameter))),
        ("max_channel_load", routing.map(|claims| claims.max_channel_load as f64)),
        ("vc_ratio", ratio),
        ("worst_fault_load", worst.and_then(|loads| loads.into_iter().max()).map(|load| load as f64)),
        (
            "saturation_flits_per_cycle_per_node",
            result.simulation.as_ref().map(|simulation| simulation.saturation_flits_per_cycle_per_node),
        ),
    ];
    for (name, exact) in figures {
        let Some(&claimed) = envelope.metrics.get(name) else { continue };
        match exact {
            None => found
                .add(code::METRICS, format!("metric '{name}' is {claimed}, the result has no such figure")),
            Some(exact) if off(claimed, exact, EXACT) => {
                found.add(code::METRICS, format!("metric '{name}' is {claimed}, the result has {exact}"));
            }
            Some(_) => {}
        }
    }
}

/// The bound over all pods of the size: what no cover can beat is recomputed, more is the method's claim.
pub(super) fn bound(
    wiring: &Wiring,
    envelope: &Envelope<'_>,
    found: &mut Findings,
    remarks: &mut Vec<String>,
) -> BoundTrust {
    let Some(claimed) = envelope.bound else { return BoundTrust::None };
    let cover = cover::mcf_bound(wiring.nodes());
    if claimed >= cover * (1.0 - EXACT) {
        return BoundTrust::Verified;
    }
    if claimed < envelope.value * (1.0 - EXACT) {
        found.add(code::BOUND, format!("the bound {claimed} is below the objective {}", envelope.value));
    }
    remarks.push(format!(
        "the bound {claimed} is claimed by {}; hop counts in the universal cover prove {cover}",
        envelope.method
    ));
    BoundTrust::Claimed
}

/// Figures of the simulator that cannot be.
pub(super) fn simulation(result: &TpuResult, found: &mut Findings) {
    let Some(simulation) = &result.simulation else { return };
    let saturation = simulation.saturation_flits_per_cycle_per_node;
    // Six links leave a chip, and one flit per cycle goes over each.
    if !(0.0..=PORTS as f64).contains(&saturation) {
        found.add(code::SIMULATION, format!("saturation at {saturation} flits per cycle and chip cannot be"));
    }
    let mut last = f64::NEG_INFINITY;
    for &(offered, delivered, latency) in &simulation.curve {
        if offered < last || offered < 0.0 || delivered < 0.0 || latency < 0.0 {
            found.add(
                code::SIMULATION,
                format!("the point [{offered}, {delivered}, {latency}] of the curve cannot be there"),
            );
        }
        last = offered;
    }
}
