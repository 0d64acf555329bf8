//! Built-in scenarios: the worked example, and the family of random instances `crossconnect-P-K-PERCENT` (P pods, K
//! switches, percentage of changed circuits).

use crate::scenario::{
    Circuit, CrossconnectScenario, Family, Installed, InstalledOcs, MAX_OCS, MAX_PODS, Rollout, Wiring,
};
use lightbay_core::listed::Preset;
use lightbay_core::random::{Stream, Streams};
use rand::RngExt;
use rand::seq::SliceRandom;

#[cfg(test)]
mod tests;

/// The worked example.
const EXAMPLE: &str = "crossconnect-example";
/// Beginning of the names of the random family.
const FAMILY: &str = "crossconnect-";
/// Maximum number of circuits of a random instance. The name of an instance gives its size; names of larger instances
/// are unknown, because they could require more memory than is available.
const MAX_FAMILY_CIRCUITS: usize = 1 << 16;

/// The listed scenarios, smallest first; other members of the random family can be named too.
pub const PRESETS: &[Preset] = &[
    Preset::new(EXAMPLE, "4 pods on 2 switches: 2 of 8 installed circuits must be removed"),
    Preset::new(
        "crossconnect-8-8-25",
        "8 pods on 8 switches, 64 installed circuits, of which the target changes a quarter",
    ),
    Preset::new(
        "crossconnect-16-8-25",
        "16 pods on 8 switches, 128 installed circuits, of which the target changes a quarter",
    ),
    Preset::new("crossconnect-16-16-5", "16 pods on 16 switches, 256 circuits, 5 % changed"),
    Preset::new(
        "crossconnect-16-16-25",
        "16 pods on 16 switches, 256 installed circuits, of which the target changes a quarter",
    ),
    Preset::new(
        "crossconnect-16-16-100",
        "16 pods on 16 switches, 256 circuits, an independent new topology",
    ),
    Preset::new(
        "crossconnect-32-16-25",
        "32 pods on 16 switches, 512 installed circuits, of which the target changes a quarter",
    ),
    Preset::new(
        "crossconnect-64-16-25",
        "64 pods on 16 switches, 1024 installed circuits, of which the target changes a quarter",
    ),
    Preset::new(
        "crossconnect-256-64-25",
        "256 pods on 64 switches, 16384 installed circuits, of which the target changes a quarter",
    ),
];

/// Returns the scenario called `name`: one of [`PRESETS`], or another member of the random family; `None` if the name
/// is unknown.
pub fn scenario(name: &str) -> Option<CrossconnectScenario> {
    if name == EXAMPLE {
        return Some(example());
    }
    let mut numbers = name.strip_prefix(FAMILY)?.split('-').map(str::parse::<usize>);
    let mut next = || numbers.next()?.ok();
    let (pods, ocs, percent) = (next()?, next()?, next()?);
    let sensible = (2..=MAX_PODS).contains(&pods) && (1..=MAX_OCS).contains(&ocs) && percent <= 100;
    if !sensible || numbers.next().is_some() || pods * ocs > MAX_FAMILY_CIRCUITS {
        return None;
    }
    Some(random(pods, ocs, Family { changed_percent: percent as u32, instance_seed: 1 }))
}

/// Creates a scenario without pods, to be filled.
pub(crate) fn bare() -> CrossconnectScenario {
    CrossconnectScenario {
        pods: 0,
        ocs_count: 0,
        wiring: Wiring::TwoSided,
        ports_a: Vec::new(),
        ports_b: Vec::new(),
        logical_circuits: Vec::new(),
        installed: Installed::default(),
        strays: Vec::new(),
        placed: Vec::new(),
        failed_ports: Vec::new(),
        failed_before: Vec::new(),
        pinned: Vec::new(),
        rollout: Rollout::default(),
        panels: Vec::new(),
        pod_names: None,
        family: None,
        predicted_makespan_s: None,
        switching: None,
        derived_from: None,
    }
}

/// Creates the worked example: 4 pods, 2 switches, one A and one B port per pod and switch; a ring of the pods is
/// installed on the first switch, and two circuits for each of the pairs 0-2 and 1-3 on the second one.
fn example() -> CrossconnectScenario {
    let circuit = |(pod_a, pod_b)| Circuit { pod_a, port_a_index: 0, pod_b, port_b_index: 0 };
    let ring = [(0, 1), (1, 2), (2, 3), (3, 0)].map(circuit);
    let pairs = [(0, 2), (1, 3), (2, 0), (3, 1)].map(circuit);
    let installed = [ring, pairs];
    CrossconnectScenario {
        pods: 4,
        ocs_count: 2,
        ports_a: vec![vec![1; 2]; 4],
        ports_b: vec![vec![1; 2]; 4],
        logical_circuits: vec![vec![0, 1, 1, 2], vec![1, 0, 2, 1], vec![1, 2, 0, 1], vec![2, 1, 1, 0]],
        installed: Installed {
            ocs: installed
                .iter()
                .enumerate()
                .map(|(ocs, circuits)| InstalledOcs { ocs_id: ocs as u32, cross_connects: circuits.to_vec() })
                .collect(),
        },
        ..bare()
    }
}

/// Creates a random instance: one A and one B port per pod and switch, a permutation without fixed points installed on
/// every switch, and a target topology of the same degrees that differs from the installed one as the family states.
pub fn random(pods: usize, ocs_count: usize, family: Family) -> CrossconnectScenario {
    let streams = Streams::new(family.instance_seed);
    let old = decomposition(pods, ocs_count, &mut streams.stream(0));
    let wanted = if family.changed_percent >= 100 {
        decomposition(pods, ocs_count, &mut streams.stream(1)).concat()
    } else {
        let circuits = pods * ocs_count;
        let exchanges = (circuits * family.changed_percent as usize + 100) / 200;
        exchanged(old.concat(), exchanges, &mut streams.stream(1))
    };
    let mut logical_circuits = vec![vec![0; pods]; pods];
    for (a, b) in wanted {
        logical_circuits[a as usize][b as usize] += 1;
        logical_circuits[b as usize][a as usize] += 1;
    }
    let circuit = |&(pod_a, pod_b): &(u32, u32)| Circuit { pod_a, port_a_index: 0, pod_b, port_b_index: 0 };
    let installed = old.iter().enumerate().map(|(ocs, circuits)| InstalledOcs {
        ocs_id: ocs as u32,
        cross_connects: circuits.iter().map(circuit).collect(),
    });
    CrossconnectScenario {
        pods: pods as u32,
        ocs_count: ocs_count as u32,
        ports_a: vec![vec![1; ocs_count]; pods],
        ports_b: vec![vec![1; ocs_count]; pods],
        logical_circuits,
        installed: Installed { ocs: installed.collect() },
        family: Some(family),
        ..bare()
    }
}

/// Returns, for every switch, a random permutation of the pods without fixed points.
fn decomposition(pods: usize, ocs_count: usize, stream: &mut Stream) -> Vec<Vec<(u32, u32)>> {
    (0..ocs_count).map(|_| derangement(pods, stream)).collect()
}

fn derangement(pods: usize, stream: &mut Stream) -> Vec<(u32, u32)> {
    let mut to: Vec<u32> = (0..pods as u32).collect();
    // About one permutation in e has no fixed point, so a few attempts suffice.
    loop {
        to.shuffle(stream);
        if (0u32..).zip(&to).all(|(from, &to)| from != to) {
            return (0u32..).zip(to).collect();
        }
    }
}

/// Exchanges the far ends of two circuits, which keeps all degrees. Exchanges that would join a pod to itself are
/// sampled again.
fn exchanged(mut circuits: Vec<(u32, u32)>, exchanges: usize, stream: &mut Stream) -> Vec<(u32, u32)> {
    let mut done = 0;
    // With two pods no exchange changes anything, so the number of samples is limited too.
    for _ in 0..exchanges.saturating_mul(100) {
        if done == exchanges {
            break;
        }
        let (first, second) =
            (stream.random_range(0..circuits.len()), stream.random_range(0..circuits.len()));
        let ((a, b), (mut c, mut d)) = (circuits[first], circuits[second]);
        // A circuit has no direction, so either end may move.
        if stream.random_bool(0.5) {
            (c, d) = (d, c);
        }
        if first == second || a == d || c == b {
            continue;
        }
        circuits[first] = (a, d);
        circuits[second] = (c, b);
        done += 1;
    }
    circuits
}
