use super::*;
use lightbay_core::random::Streams;
use lightbay_core::watch::Unwatched;

#[test]
fn what_is_drawn_is_a_group_of_the_order() {
    let mut random = Streams::new(5).stream(0);
    for order in [1, 6, 24, 32, 45, 48] {
        for _ in 0..4 {
            let group = draw(order, &mut random);
            assert_eq!(group.order(), order);
            let rows = group.rows();
            assert!(Group::from_table(&rows).is_ok(), "{order}");
        }
    }
}

#[test]
fn groups_differ_and_those_with_few_involutions_come_first() {
    let mut random = Streams::new(6).stream(0);
    let known = vec![Group::abelian(&[2, 2, 6]).unwrap(), Group::abelian(&[24]).unwrap()];
    let groups = drawn(24, known, &mut random, &mut Unwatched::default()).unwrap();
    let profiles: Vec<Profile> = groups.iter().map(Profile::of).collect();
    // 15 groups have 24 elements; the quaternion group and SL(2,3) are behind two of those with one involution.
    assert!(groups.len() >= 10 && profiles.is_sorted() && profiles.windows(2).all(|pair| pair[0] != pair[1]));
    assert!(profiles[0].involutions == 1 && !groups[0].is_abelian());
    assert!(groups.iter().any(|group| group.name() == "Z24"));
}
