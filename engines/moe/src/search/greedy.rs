//! Algorithm 1 of mFabric: adds one circuit at a time for the pair that takes longest (docs/methods/moe.md, section 3).

use super::circuits::CircuitCounts;

/// Rule for a pair that takes longest and has no free port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockedRule {
    /// The algorithm ends, as printed in the paper; the remaining ports stay unused.
    Printed,
    /// The pair is skipped, and the algorithm continues with the next pair.
    Continue,
}

/// Returns the circuits of Algorithm 1 between servers with the given numbers of ports. `weights` gives the bytes of
/// both directions of every pair, row by row. Pairs without bytes get no circuits.
pub fn greedy(ports: &[u32], weights: &[f64], rule: BlockedRule) -> CircuitCounts {
    let servers = ports.len();
    let mut circuits = CircuitCounts::none(ports);
    // Pairs in order, so that ties go to the smaller numbers.
    let mut open: Vec<(usize, usize, f64)> = (0..servers)
        .flat_map(|a| (a + 1..servers).map(move |b| (a, b, weights[a * servers + b])))
        .filter(|(_, _, weight)| *weight > 0.0)
        .collect();
    // Line 7: the pair with the longest time, infinite without a circuit; ties by bytes, then by number.
    let time = |circuits: &CircuitCounts, a: usize, b: usize, weight: f64| {
        let count = circuits.between(a, b);
        if count == 0 { f64::INFINITY } else { weight / f64::from(count) }
    };
    loop {
        let mut longest: Option<(usize, f64, f64)> = None;
        for (at, &(a, b, weight)) in open.iter().enumerate() {
            let time = time(&circuits, a, b, weight);
            // Strictly greater, so ties go to the first pair.
            if longest.is_none_or(|(_, most, heaviest)| time > most || (time == most && weight > heaviest)) {
                longest = Some((at, time, weight));
            }
        }
        let Some((at, ..)) = longest else { break };
        let (a, b, _) = open[at];
        if circuits.free(a) > 0 && circuits.free(b) > 0 {
            // Lines 8 to 11.
            circuits.add(a, b);
        } else if rule == BlockedRule::Printed {
            // Line 13: the first blocked pair ends the algorithm.
            break;
        } else {
            // The pair stays blocked, because the algorithm never removes a circuit.
            open.remove(at);
        }
    }
    circuits
}
