//! Symmetries of presets without those that they declare.

use super::*;
use crate::model::group::Folding;
use crate::scenario::presets;
use crate::trees::fold::Fold;

/// The network of a preset without its declared symmetries, nodes and links in another order.
fn undeclared(name: &str, step: usize) -> (CollectiveScenario, LinkNetwork) {
    let mut scenario = presets::scenario(name).unwrap();
    let topology = &mut scenario.topology;
    topology.symmetry_generators.clear();
    let count = topology.nodes.len();
    let place = |node: u32| ((node as usize * step) % count) as u32;
    let old = topology.nodes.clone();
    for (node, from) in (0u32..).zip(old) {
        topology.nodes[place(node) as usize] = from;
    }
    for link in &mut topology.links {
        (link.from, link.to) = (place(link.from), place(link.to));
    }
    let network = LinkNetwork::of(topology).unwrap();
    (scenario, network)
}

#[test]
fn symmetries_that_are_not_declared_are_found() {
    for (name, order, step) in [
        ("dgx1-allgather-200kb", 4, 1),
        ("ndv2x4-allgather-1gb", 4, 1),
        ("dgx2x2-allgather-1gb", 16, 1),
        ("amdx2-allgather-1gb", 8, 1),
        ("mi250x4-allgather-1gb", 16, 1),
        ("a100x4-allgather-1gb", 32, 1),
        ("h800x64-allgather-1gb", 512, 1),
        ("ring8-allgather-1mb", 8, 3),
        ("torus3x5-allgather-1mb", 15, 7),
        ("torus4x4x4-allgather-1mb", 64, 1),
        ("torus4x4x4-allgather-1mb", 64, 27),
        ("torus4x8x8-allgather-1mb", 256, 37),
        ("mesh4x4-allgather-1mb", 2, 1),
    ] {
        let (scenario, mut network) = undeclared(name, step);
        let found = symmetries_of(&scenario, &network);
        assert!(found.iter().all(|symmetry| network.symmetry(&symmetry.nodes).is_ok()), "{name}");
        network.add_generators(found);
        assert!(Fold::of(&network).order() >= order, "{name}: {}", Fold::of(&network).order());
        let folding = Folding::largest(&network, &scenario.demand.expand(&scenario.topology));
        assert!(folding.order() >= order, "{name}: {}", folding.order());
    }
}

#[test]
fn one_slow_link_or_one_root_leaves_no_symmetry() {
    let (mut scenario, network) = undeclared("ring8-broadcast-1mb", 1);
    assert_eq!(symmetries_of(&scenario, &network), []);
    scenario = presets::scenario("ring8-allgather-1mb").unwrap();
    scenario.topology.symmetry_generators.clear();
    scenario.topology.links[3].capacity_gbyte_per_s = 1.0;
    let network = LinkNetwork::of(&scenario.topology).unwrap();
    assert_eq!(symmetries_of(&scenario, &network), []);
}
