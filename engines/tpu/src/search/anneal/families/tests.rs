use super::*;
use crate::model::pod::{LINK_CLASSES, SWITCHES};
use crate::model::topology::Topology;
use crate::throughput::metrics::cuts::Walk;
use lightbay_core::random::Streams;
use lightbay_core::watch::Unwatched;
use rand::RngExt;

#[test]
fn every_size_has_families() {
    for cubes in 1..=144 {
        let found = families(
            cubes,
            None,
            CubeSymmetries::Any,
            &mut Streams::new(3).stream(0),
            &mut Unwatched::default(),
        )
        .unwrap();
        assert!(!found.is_empty(), "{cubes}");
        assert!(found.iter().all(|family| family.group.order() == cubes));
    }
}

#[test]
fn a_given_group_and_symmetry_are_kept() {
    let group = Group::dihedral(3).unwrap();
    let mut random = Streams::new(3).stream(0);
    let free =
        families(6, Some(&group), CubeSymmetries::Free, &mut random, &mut Unwatched::default()).unwrap();
    assert_eq!(free, [Family::free(group.clone())]);
    let turning =
        families(6, Some(&group), CubeSymmetries::Diagonal, &mut random, &mut Unwatched::default()).unwrap();
    assert_eq!(turning.len(), 2, "one that turns the group, one that does not");
    assert!(turning.iter().all(|family| family.group == group && family.ties.all().len() == 16));
}

#[test]
fn extensions_by_a_turn_are_groups_with_their_names() {
    let names: Vec<String> = groups(24).iter().map(|group| group.name().to_owned()).collect();
    assert!(names.iter().any(|name| name == "Z2^2:Z3 x Z2") && names.iter().any(|name| name == "SL(2,3)"));
    // The products of elements tell: neither is abelian.
    for group in groups(12).iter().chain(&groups(24)).filter(|group| group.name().contains('3')) {
        let expected =
            group.name().starts_with("Z2 x") || group.name().starts_with("Z3") || group.name() == "Z2 x Z12";
        assert_eq!(group.is_abelian(), expected, "{}", group.name());
    }
}

#[test]
fn large_pods_have_families_of_several_groups_and_symmetries() {
    let mut random = Streams::new(7).stream(0);
    let all = families(64, None, CubeSymmetries::Any, &mut random, &mut Unwatched::default()).unwrap();
    let groups: Vec<&str> = all.iter().map(|family| family.group.name()).collect();
    assert!(groups.iter().any(|name| *name != groups[0]), "{groups:?}");
    for word in ["centred", "mirrored", "half turned"] {
        assert!(all.iter().any(|family| family.name.ends_with(word)), "{word}");
    }
    assert!(all.iter().any(|family| family.name == "Z4 x Z4 x Z4 turning"));
    // A third of a turn leaves 16 voltages, a symmetry of order 2 24 or, where switches stay in place, 32.
    assert!(all.iter().all(|family| [16, 24, 32].contains(&family.ties.all().len())));
    // No group of 20 elements that is tried turns: designs are free.
    let free = families(20, None, CubeSymmetries::Any, &mut random, &mut Unwatched::default()).unwrap();
    assert!(
        !free.is_empty()
            && free.iter().any(|family| family.ties.all().len() == 48 || family.name.contains("turning"))
    );
}

#[test]
fn a_symmetry_of_order_two_maps_designs_onto_themselves() {
    let mut random = Streams::new(8).stream(0);
    let group = Group::abelian(&[2, 12]).unwrap();
    let cases = [
        (CubeSymmetries::Centre, CubeSymmetry::centre()),
        (CubeSymmetries::Mirror, CubeSymmetry::mirror()),
        (CubeSymmetries::HalfTurn, CubeSymmetry::half_turn()),
    ];
    for (turns, symmetry) in cases {
        let found = families(24, Some(&group), turns, &mut random, &mut Unwatched::default()).unwrap();
        assert_eq!(found.len(), 1, "{turns:?}");
        let family = &found[0];
        let weights: usize = family.ties.sources().iter().map(|&(_, weight)| usize::from(weight)).sum();
        assert_eq!((family.ties.sources().len(), weights), (32, 64));
        let mut voltage = [0; SWITCHES];
        for tie in family.ties.all() {
            let chosen = tie.choices[random.random_range(0..tie.choices.len())];
            for (switch, of) in &tie.switches {
                voltage[*switch] = of[usize::from(chosen)];
            }
        }
        // Chips that the symmetry exchanges see the same distances.
        let pod = Topology::symmetric(group.clone(), voltage);
        let mut walk = Walk::new(&pod);
        let lengths = [1.0; LINK_CLASSES];
        let mut seen = |chip: u8| walk.distances(u32::from(chip), &lengths).iter().sum::<f64>();
        assert!((0..64).all(|chip| seen(chip) == seen(symmetry.chip(chip))), "{turns:?}");
    }
}
