use super::*;
use crate::scenario::network::LinkNetwork;

fn member(network: FamilySort, size: &[u32]) -> Topology {
    NetworkFamily { network, size: size.to_vec() }.topology().unwrap()
}

#[test]
fn every_usual_member_is_a_network_with_its_symmetries() {
    let sizes: [(FamilySort, &[u32]); 18] = [
        (FamilySort::Ndv2, &[1]),
        (FamilySort::Ndv2, &[2]),
        (FamilySort::Ndv2, &[4]),
        (FamilySort::Dgx1, &[1]),
        (FamilySort::Dgx2, &[1]),
        (FamilySort::Dgx2, &[2]),
        (FamilySort::Amd, &[1]),
        (FamilySort::Amd, &[2]),
        (FamilySort::Mi250, &[1]),
        (FamilySort::Mi250, &[2]),
        (FamilySort::A100, &[1]),
        (FamilySort::A100, &[4]),
        (FamilySort::H800, &[1]),
        (FamilySort::H100, &[64]),
        (FamilySort::Ring, &[3]),
        (FamilySort::Mesh, &[4, 4]),
        (FamilySort::Torus, &[2, 3, 4]),
        (FamilySort::Torus, &[4, 4, 4]),
    ];
    for (network, size) in sizes {
        let topology = member(network, size);
        let network = LinkNetwork::of(&topology).unwrap();
        let orbits = network.node_orbits();
        assert!(!network.generators().is_empty(), "{}", topology.name);
        assert!(
            (0..orbits.len()).any(|node| orbits[node] != node as u32),
            "{} has no symmetry",
            topology.name
        );
    }
}

#[test]
fn machines_have_the_links_that_are_published() {
    let count = |network, size: &[u32]| {
        let topology = member(network, size);
        (topology.nodes.len(), topology.links.len())
    };
    assert_eq!(count(FamilySort::Dgx1, &[1]), (8, 32));
    assert_eq!(count(FamilySort::Ndv2, &[2]), (16, 66));
    assert_eq!(count(FamilySort::Ndv2, &[4]), (33, 136));
    assert_eq!(count(FamilySort::Dgx2, &[2]), (34, 80));
    assert_eq!(count(FamilySort::Amd, &[1]), (16, 56));
    assert_eq!(count(FamilySort::Amd, &[2]), (49, 112 + 2 * (32 + 16)));
    assert_eq!(count(FamilySort::Torus, &[4, 4, 4]), (64, 384));
    assert_eq!(count(FamilySort::Torus, &[2, 3]), (6, 6 + 12));
    assert_eq!(count(FamilySort::Mesh, &[4, 4]), (16, 48));
}

#[test]
fn a_torus_looks_the_same_from_every_node() {
    let network = LinkNetwork::of(&member(FamilySort::Torus, &[3, 4])).unwrap();
    assert!(network.node_orbits().iter().all(|orbit| *orbit == 0));
    let orbits: std::collections::BTreeSet<u32> = network.link_orbits().into_iter().collect();
    assert_eq!(orbits.len(), 4, "one orbit for each direction");
}

#[test]
fn sizes_that_there_are_not_are_refused() {
    for (network, size) in [
        (FamilySort::Ndv2, vec![3]),
        (FamilySort::Torus, vec![]),
        (FamilySort::Torus, vec![128, 128, 2]),
        (FamilySort::Torus, vec![u32::MAX, u32::MAX]),
        (FamilySort::Ring, vec![2]),
        (FamilySort::H800, vec![2, 2]),
    ] {
        let problem = NetworkFamily { network, size }.topology().unwrap_err().to_string();
        assert!(problem.contains("is not a size of"), "{problem}");
    }
}
