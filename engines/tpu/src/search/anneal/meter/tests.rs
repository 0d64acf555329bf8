use super::*;
use crate::throughput::metrics::cuts::CubeSymmetry;

#[test]
fn one_chip_of_each_orbit_is_enough() {
    // Axes wired alike: chips that the third of a turn carries into each other see the same.
    let group = Group::abelian(&[3, 8]).unwrap();
    let identity = (0..24).collect();
    let ties = Ties::new(&group, &[(CubeSymmetry::diagonal(), identity)]);
    assert!(ties.sources().len() == 24);
    let mut blocks = Meter::new(&group, 2, &ties);
    let mut lanes = Meter::Lanes(Wavefront::new(24, 2));
    assert!(matches!(blocks, Meter::Blocks(_)));
    for pod in 0..2 {
        for (at, tie) in ties.all().iter().enumerate() {
            let chosen = (at * (pod + 3) + 1) % 24;
            for (switch, of) in &tie.switches {
                blocks.set(pod, *switch, &group, usize::from(of[chosen]));
                lanes.set(pod, *switch, &group, usize::from(of[chosen]));
            }
        }
    }
    for lengths in [Lengths::hops(), Lengths::two(1, 3)] {
        let found = blocks.run(&lengths);
        assert!(found[0].is_some() && found[0] != found[1]);
        assert_eq!(found, lanes.run(&lengths));
    }
}
