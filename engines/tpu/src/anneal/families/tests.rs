use super::*;
use lightbay_core::random::Streams;

#[test]
fn every_size_has_families() {
    for cubes in 1..=144 {
        let found = families(cubes, None, Turns::Any, &mut Streams::new(3).stream(0));
        assert!(!found.is_empty(), "{cubes}");
        assert!(found.iter().all(|family| family.group.order() == cubes));
    }
}

#[test]
fn a_given_group_and_symmetry_are_kept() {
    let group = Group::dihedral(3).unwrap();
    let mut random = Streams::new(3).stream(0);
    let free = families(6, Some(&group), Turns::Free, &mut random);
    assert_eq!(free, [Family::free(group.clone())]);
    let turning = families(6, Some(&group), Turns::Diagonal, &mut random);
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
fn large_pods_turn_in_several_ways_if_they_can() {
    let mut random = Streams::new(7).stream(0);
    let turning = families(64, None, Turns::Any, &mut random);
    assert!(turning.iter().all(|family| family.ties.all().len() == 16), "{turning:?}");
    assert!(turning.iter().filter(|family| family.group.name() == "Z4 x Z4 x Z4").count() == 2);
    // No group of 20 elements that is tried turns: designs are free.
    let free = families(20, None, Turns::Any, &mut random);
    assert!(
        !free.is_empty()
            && free.iter().any(|family| family.ties.all().len() == 48 || family.name.contains("turning"))
    );
}
