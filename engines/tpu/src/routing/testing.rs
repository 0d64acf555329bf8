//! Pods and slow, plain checks for tests of routes.

use super::order::TopologicalOrder;
use crate::model::group::Group;
use crate::model::pod::{self, PORTS, SWITCHES};
use crate::model::topology::Topology;
use crate::plan::{Expansion, Routing};
use lightbay_core::random::Streams;
use rand::RngExt;

/// The pod of the evaluator vectors: voltage `o² + 3·o + 1` modulo the number of cubes.
pub fn vector_pod(cubes: usize) -> Topology {
    let voltage = std::array::from_fn(|o| ((o * o + 3 * o + 1) % cubes) as u16);
    Topology::symmetric(Group::abelian(&[cubes]).unwrap(), voltage)
}

/// Random voltages over a group.
pub fn random_pod(group: Group, seed: u64) -> Topology {
    let mut stream = Streams::new(seed).stream(0);
    let voltage = std::array::from_fn(|_| stream.random_range(0..group.order()) as u16);
    Topology::symmetric(group, voltage)
}

/// The same circuits without the symmetry.
pub fn plain(pod: &Topology) -> Topology {
    let to: Vec<Vec<u16>> = (0..SWITCHES).map(|switch| pod.state(switch).to_vec()).collect();
    Topology::general(&to).unwrap()
}

/// All routes of a plan: source, target, ports, labels.
pub fn expanded(pod: &Topology, routing: &Routing) -> Vec<(u32, u32, Vec<u8>, Vec<u8>)> {
    let mut all = Vec::new();
    let copies = match routing.expand {
        Expansion::Translation => pod.cubes(),
        Expansion::None => 1,
    };
    for cube in 0..copies {
        let moved = |node: u32| match (routing.expand, pod.symmetry()) {
            (Expansion::Translation, Some(symmetry)) => {
                let (at, chip) = pod::parts(node);
                pod::node(symmetry.group.times(cube, at), chip)
            }
            _ => node,
        };
        for route in &routing.routes {
            all.push((moved(route.source), moved(route.target), route.ports.clone(), route.vcs.clone()));
        }
    }
    all
}

/// Checks all rules for routes of a pod by following every route.
pub fn assert_sound(pod: &Topology, routing: &Routing, failed: &[usize]) {
    let nodes = pod.nodes();
    let vcs = usize::from(routing.vc_count);
    let mut seen = vec![false; nodes * nodes];
    let mut loads = vec![0u64; PORTS * nodes];
    let mut hops = vec![0u64; vcs];
    let mut waits = rustc_hash::FxHashSet::default();
    for (source, target, ports, labels) in expanded(pod, routing) {
        assert!(!std::mem::replace(&mut seen[source as usize * nodes + target as usize], true));
        assert_eq!(ports.len(), labels.len());
        let (mut node, mut passed, mut before) = (source, vec![source], None);
        for (&port, &label) in ports.iter().zip(&labels) {
            if let Some(switch) = pod::switch((node as usize % pod::CHIPS) as u8, port) {
                assert!(!failed.contains(&switch), "{source} to {target} uses switch {switch}");
            }
            let arc = PORTS * node as usize + usize::from(port);
            let channel = arc * vcs + usize::from(label);
            loads[arc] += 1;
            hops[usize::from(label)] += 1;
            if let Some(before) = before {
                waits.insert((before, channel as u32));
            }
            before = Some(channel as u32);
            node = pod.neighbour(node, port);
            assert!(!passed.contains(&node), "{source} to {target} passes {node} twice");
            passed.push(node);
        }
        assert_eq!(node, target);
    }
    let pairs = seen.iter().filter(|seen| **seen).count();
    assert_eq!(pairs, nodes * (nodes - 1), "every pair has a route");
    let mut order = TopologicalOrder::new(PORTS * nodes * vcs);
    for (from, to) in waits {
        assert!(order.try_add(from, to), "channels wait in a circle");
    }
    assert_eq!(routing.claims.max_channel_load, loads.iter().copied().max().unwrap());
    assert_eq!(routing.claims.route_hop_sum, loads.iter().sum::<u64>());
    assert_eq!(routing.claims.vc_hops, hops);
}
