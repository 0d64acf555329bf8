use super::*;
use crate::model::group::Group;
use crate::routing::testing::random_pod;
use lightbay_core::random::Streams;
use rand::RngExt;
use rand::seq::SliceRandom;

/// A set of versions without cycles (they follow a random order of channels), and some that may close one.
fn random_turns(frame: &Frame, vcs: u8, seed: u64) -> Turns {
    let mut stream = Streams::new(seed).stream(1);
    let width = usize::from(vcs);
    let mut rank: Vec<usize> = (0..frame.classes() * width).collect();
    rank.shuffle(&mut stream);
    let spoilt = if seed.is_multiple_of(2) { 0.0 } else { 0.002 };
    let mut turns = Turns::none(frame.classes(), vcs);
    for (class, port) in all(frame) {
        let next = Turns::next_class(frame, class, port);
        for (first, second) in (0..width).flat_map(|first| (0..width).map(move |second| (first, second))) {
            let rises = rank[class * width + first] < rank[next * width + second];
            if rises || stream.random_bool(spoilt) {
                turns.allow(class, port, first, second);
            }
        }
    }
    turns
}

#[test]
fn one_cube_tells_whether_the_pod_is_safe() {
    let mut safe = 0;
    for seed in 0..24 {
        let pod = random_pod(Group::abelian(&[2]).unwrap(), seed);
        let (cube, full) = (Frame::new(&pod, &[], false), Frame::new(&pod, &[], true));
        let turns = random_turns(&cube, 2, seed);
        let mut lifted = Turns::none(full.classes(), 2);
        for (arc, port) in all(&full) {
            for bit in 0..4 {
                if turns.allows(cube.class(arc as u32), port, bit / 2, bit % 2) {
                    lifted.allow(arc, port, bit / 2, bit % 2);
                }
            }
        }
        assert_eq!(turns.is_safe(&cube), lifted.is_safe(&full), "seed {seed}");
        safe += usize::from(turns.is_safe(&cube));
    }
    assert!((6..=18).contains(&safe), "both answers occur: {safe} of 24 are safe");
}

#[test]
fn a_filled_set_is_safe_and_takes_no_more() {
    for (seed, vcs) in [(1, 1), (2, 2), (3, 3)] {
        let pod = random_pod(Group::abelian(&[4]).unwrap(), seed);
        let frame = Frame::new(&pod, &[7], false);
        let mut order: Vec<(usize, u8)> = all(&frame).collect();
        order.shuffle(&mut Streams::new(seed).stream(2));
        let turns = Builder::new(&frame, vcs).fill(&order);
        assert!(turns.is_safe(&frame));
        let mut stream = Streams::new(seed).stream(3);
        for _ in 0..40 {
            let (class, port) = order[stream.random_range(0..order.len())];
            let (first, second) =
                (stream.random_range(0..usize::from(vcs)), stream.random_range(0..usize::from(vcs)));
            if !turns.allows(class, port, first, second) {
                let mut more = turns.clone();
                more.allow(class, port, first, second);
                assert!(!more.is_safe(&frame), "a version that fits was left out");
            }
        }
    }
}

#[test]
fn all_turns_together_wait_in_a_circle() {
    let frame = Frame::new(&random_pod(Group::abelian(&[2]).unwrap(), 5), &[], false);
    assert!(!Turns::free(&frame).is_safe(&frame));
    assert_eq!(Turns::free(&frame).count(), 384 * 5);
}
