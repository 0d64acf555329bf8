use super::*;
use crate::model::pod::LINK_CLASSES;
use crate::model::topology::tests::vector;
use crate::throughput::metrics::cuts::Walk;
use proptest::prelude::*;

/// Returns the sums that the wavefront should find, by Dijkstra.
fn by_walking(pod: &Topology, lengths: &Lengths, source: usize) -> WavefrontSums {
    let real: [f64; LINK_CLASSES] = std::array::from_fn(|class| f64::from(lengths.classes()[class]));
    let mut walk = Walk::new(pod);
    let (mut sum, mut longest) = (0, 0);
    for chip in 0..CHIPS as u8 {
        for &distance in walk.distances(pod::node(source, chip), &real) {
            sum += distance as u64;
            longest = longest.max(distance as u32);
        }
    }
    WavefrontSums { sum, longest }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn wavefronts_find_shortest_paths(
        cubes in 1usize..40,
        seed in proptest::collection::vec(any::<u16>(), SWITCHES),
        classes in proptest::collection::vec(1u8..9, LINK_CLASSES),
        source in any::<usize>(),
    ) {
        let group = Group::most_square(cubes);
        // Switch 0 and 16 keep the pod connected.
        let pod = Topology::symmetric(group, std::array::from_fn(|o| (seed[o] as usize % cubes) as u16));
        prop_assume!(crate::throughput::metrics::hops(&pod).is_some());
        let lengths = Lengths::new(std::array::from_fn(|class| classes[class]));
        let mut wavefront = Wavefront::new(cubes, 1);
        wavefront.wire(0, &pod);
        let source = source % cubes;
        prop_assert_eq!(wavefront.run(&lengths, source)[0], Some(by_walking(&pod, &lengths, source)));
    }
}

#[test]
fn pods_side_by_side_do_not_disturb_each_other() {
    for cubes in [2usize, 3, 5, 12, 24, 33, 80, 96, 128, 144] {
        let pods = Wavefront::best_pods(cubes);
        let group = Group::most_square(cubes);
        let mut together = Wavefront::new(cubes, pods);
        let voltage = |which: usize, switch: usize| {
            (which * which + 7 * switch * (which + 1) + switch * switch) % cubes
        };
        for which in 0..pods {
            for switch in 0..SWITCHES {
                together.set(which, switch, &group, voltage(which, switch));
            }
        }
        let lengths = Lengths::two(1, 2);
        let found = together.run(&lengths, 0).to_vec();
        for (which, &found) in found.iter().enumerate() {
            let pod = Topology::symmetric(
                group.clone(),
                std::array::from_fn(|switch| voltage(which, switch) as u16),
            );
            let mut alone = Wavefront::new(cubes, 1);
            alone.wire(0, &pod);
            assert_eq!(alone.run(&lengths, 0)[0], found, "{cubes} cubes, pod {which}");
        }
    }
}

#[test]
fn a_wavefront_can_be_wired_again() {
    let mut wavefront = Wavefront::new(4, 1);
    wavefront.wire(0, &vector(4));
    let first = wavefront.run(&Lengths::two(2, 7), 0).to_vec();
    let hops = wavefront.run(&Lengths::hops(), 0)[0].unwrap();
    assert_eq!(hops, WavefrontSums { sum: 275_008 / 4, longest: 7 });
    assert_eq!(wavefront.run(&Lengths::two(2, 7), 0), first);
}
