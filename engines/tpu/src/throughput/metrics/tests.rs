use super::*;
use crate::model::group::Group;
use crate::model::topology::tests::vector;

#[test]
fn the_evaluator_vectors_come_out() {
    for (cubes, hop_sum, diameter) in
        [(2, 56_320, 6), (3, 132_876, 6), (4, 275_008, 7), (8, 1_186_592, 8), (16, 5_269_152, 9)]
    {
        let found = hops(&vector(cubes)).unwrap();
        assert_eq!(found, Hops { hop_sum, diameter }, "{cubes} cubes");
    }
}

#[test]
fn one_cube_is_a_torus_of_four_by_four_by_four() {
    let pod = Topology::symmetric(Group::abelian(&[1]).unwrap(), [0; 48]);
    // Distances on a ring of four are 0, 1, 1, 2: a mean of one for each axis.
    assert_eq!(hops(&pod).unwrap(), Hops { hop_sum: 64 * 64 * 3, diameter: 6 });
}

#[test]
fn a_pod_in_two_parts_has_no_distances() {
    let group = Group::abelian(&[2]).unwrap();
    assert_eq!(hops(&Topology::symmetric(group, [0; 48])), None);
    let apart: Vec<Vec<u16>> = (0..48).map(|_| (0..7).collect()).collect();
    assert_eq!(two_length(&Topology::general(&apart).unwrap(), 1, 2), None);
}

#[test]
fn symmetric_pods_are_seen_the_same_without_their_symmetry() {
    let pod = vector(6);
    let states: Vec<Vec<u16>> = (0..48).map(|switch| pod.state(switch).to_vec()).collect();
    let general = Topology::general(&states).unwrap();
    assert_eq!(hops(&general), hops(&pod));
    assert_eq!(two_length(&general, 2, 5), two_length(&pod, 2, 5));
}

#[test]
fn equal_lengths_bound_like_hops() {
    let pod = vector(5);
    let by_hops = hop_bound(pod.nodes(), hops(&pod).unwrap().hop_sum);
    for length in [1, 3] {
        assert!((two_length(&pod, length, length).unwrap() / by_hops - 1.0).abs() < 1e-12);
    }
}

#[test]
fn the_tori_have_their_published_distances() {
    let table: [(bool, [u16; 3], u32, f64); 11] = [
        (false, [4, 4, 8], 8, 4.0315),
        (true, [4, 4, 8], 6, 3.4646),
        (false, [4, 4, 12], 10, 5.0262),
        (false, [4, 8, 8], 10, 5.0196),
        (false, [4, 4, 16], 12, 6.0235),
        (true, [4, 8, 8], 6, 4.3294),
        (false, [8, 8, 8], 12, 6.0117),
        (true, [8, 8, 16], 12, 6.9756),
        (false, [4, 8, 12], 12, 6.0157),
        (true, [8, 16, 16], 12, 8.7230),
        (true, [16, 16, 32], 24, 13.9861),
    ];
    for (twisted, shape, diameter, average) in table {
        let pod =
            if twisted { crate::model::baselines::pdtt(shape) } else { crate::model::baselines::pt(shape) }
                .unwrap();
        let found = hops(&pod).unwrap();
        assert_eq!(found.diameter, diameter, "{shape:?}");
        assert!(
            (found.average(pod.nodes()) - average).abs() < 6e-5,
            "{shape:?}: {}",
            found.average(pod.nodes())
        );
    }
}
