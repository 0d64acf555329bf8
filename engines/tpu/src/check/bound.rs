//! The claimed bound over all pods of the size.

use super::flow::interval;
use super::network::CheckedNetwork;
use super::wiring::Wiring;
use super::{EXACT, Envelope, Findings, code, cover};
use lightbay_core::kind::Depth;
use lightbay_core::watch::StopTest;

/// Number of cubes up to which the relaxation with fractional circuits is solved; for larger pods, the bound from the
/// universal cover ([`cover`]) is much tighter.
const RELAXED_UP_TO: usize = 16;

/// Returns a bound that the checker itself proves for all pods of the size. This is the cover bound. If the claim is
/// below the cover bound, the exact depth also solves, for at most [`RELAXED_UP_TO`] cubes, the relaxation with
/// fractional circuits and returns the smaller bound. A claimed bound below the throughput of a known pod is a
/// violation.
pub(super) fn check(
    wiring: &Wiring,
    envelope: &Envelope<'_>,
    depth: Depth,
    found: &mut Findings,
    remarks: &mut Vec<String>,
) -> f64 {
    let cover = cover::mcf_bound(wiring.nodes());
    if let Some(covers) = envelope.bound_covers {
        found.add(
            code::BOUND,
            format!(
                "the bound covers only '{covers}', but a bound of this kind must cover all pods of the size"
            ),
        );
    }
    let Some(claimed) = envelope.bound else { return cover };
    if claimed < envelope.value * (1.0 - EXACT) {
        found.add(code::BOUND, format!("the bound {claimed} is below the objective {}", envelope.value));
    }
    let torus = torus(wiring.cubes);
    if claimed < torus * (1.0 - EXACT) {
        found.add(
            code::BOUND,
            format!(
                "the bound over all pods is {claimed}, but the torus with the most equal sides carries a \
                 flow of {torus}"
            ),
        );
    }
    if claimed >= cover * (1.0 - EXACT) || !found.is_empty() {
        return cover;
    }
    let proven = if depth.is_exact() && wiring.cubes <= RELAXED_UP_TO {
        relaxation(wiring, claimed, depth).map_or(cover, |relaxed| relaxed.min(cover))
    } else {
        cover
    };
    if claimed < proven * (1.0 - EXACT) {
        let how = if proven < cover {
            "the relaxation with fractional circuits proves"
        } else {
            "distances in the universal cover prove"
        };
        let within = depth.not_within("the bound").map_or_else(String::new, |words| format!("{words}: "));
        remarks.push(format!(
            "{within}the bound {claimed} is claimed by {}; {how} only {proven}",
            envelope.method
        ));
    }
    proven
}

/// Throughput of the prismatic torus whose longest side is as short as possible, computed from the cut by two planes
/// across that side.
fn torus(cubes: usize) -> f64 {
    let longest = (1..=cubes)
        .flat_map(|a| (a..=cubes / a).map(move |b| (a, b)))
        .filter(|(a, b)| cubes.is_multiple_of(a * b) && cubes / (a * b) >= *b)
        .map(|(a, b)| cubes / (a * b))
        .min()
        .unwrap_or(cubes);
    8.0 / (64.0 * cubes as f64 * 4.0 * longest as f64)
}

/// Solves the relaxation with fractional circuits and returns its upper bound. The bound is valid for any lengths of
/// the links and possible circuits: the total length of the links of a pod is at most the length of its electrical
/// links plus the longest circuit of each switch, and every distance in the pod is at least the distance in the network
/// of all possible circuits.
fn relaxation(wiring: &Wiring, claimed: f64, depth: Depth) -> Option<f64> {
    let network = CheckedNetwork::of_all_circuits(wiring);
    let start = vec![1.0; network.classes];
    let settled = |known: &super::flow::FlowInterval| {
        // If fractional circuits carry more than the claim, the relaxation neither proves nor disproves the claim.
        known.upper <= claimed * (1.0 + EXACT) || known.lower > claimed * (1.0 + EXACT)
    };
    interval(&network, &start, &StopTest::new(move || depth.is_over()), &settled)
        .ok()
        .map(|known| known.upper)
}
