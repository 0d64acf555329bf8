use super::*;
use crate::model::topology::Topology;
use crate::throughput::metrics::wavefront::Wavefront;
use proptest::prelude::*;

/// Every chip as a source.
fn all() -> Vec<(u8, u8)> {
    (0..CHIPS as u8).map(|chip| (chip, 1)).collect()
}

fn groups() -> Vec<Group> {
    let factors: [&[usize]; 6] = [&[8], &[2, 12], &[4, 8], &[2, 2, 10], &[4, 4, 4], &[12, 12]];
    let abelian = factors.into_iter().map(|factors| Group::abelian(factors).unwrap());
    abelian.chain([Group::dihedral(12).unwrap(), Group::dihedral(20).unwrap()]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn blocks_find_what_single_cubes_find(
        which in 0usize..8,
        seeds in proptest::collection::vec(any::<u16>(), 2 * SWITCHES),
        classes in proptest::collection::vec(1u8..7, LINK_CLASSES),
        both in any::<bool>(),
    ) {
        let group = &groups()[which];
        let order = group.order();
        let pods = if both { 2 } else { 1 };
        let lengths = Lengths::new(std::array::from_fn(|class| classes[class]));
        let mut blocks = Blocks::new(group, pods, &all()).unwrap();
        let mut expected = Vec::new();
        for pod in 0..pods {
            let voltage = std::array::from_fn(|o| seeds[pod * SWITCHES + o] % order as u16);
            for (switch, &voltage) in voltage.iter().enumerate() {
                blocks.set(pod, switch, group, usize::from(voltage));
            }
            let mut single = Wavefront::new(order, 1);
            single.wire(0, &Topology::symmetric(group.clone(), voltage));
            expected.push(single.run(&lengths, 0)[0].map(|found| found.sum));
        }
        prop_assert_eq!(&blocks.run(&lengths)[..pods], &expected[..]);
        let other = expected.clone();
        let plain = blocks.run_on(&lengths, Arch::Scalar);
        prop_assert_eq!(&plain[..pods], &other[..]);
    }
}

#[test]
fn a_pod_in_pieces_has_no_distances_and_does_not_disturb_its_neighbour() {
    let group = Group::abelian(&[3, 8]).unwrap();
    let mut blocks = Blocks::new(&group, 2, &all()).unwrap();
    for switch in 0..SWITCHES {
        blocks.set(1, switch, &group, 1 + switch % 23);
    }
    let [apart, whole] = blocks.run(&Lengths::two(1, 2));
    let pod = Topology::symmetric(group, std::array::from_fn(|switch| 1 + switch as u16 % 23));
    let mut single = Wavefront::new(24, 1);
    single.wire(0, &pod);
    assert_eq!(apart, None);
    assert_eq!(whole, single.run(&Lengths::two(1, 2), 0)[0].map(|found| found.sum));
}

#[test]
fn a_group_whose_order_is_no_multiple_of_eight_has_no_blocks() {
    assert!(Blocks::new(&Group::abelian(&[20]).unwrap(), 1, &all()).is_none());
}
