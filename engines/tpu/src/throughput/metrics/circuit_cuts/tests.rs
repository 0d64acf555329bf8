use super::*;
use crate::model::group::Group;
use crate::model::pod::LINK_CLASSES;
use crate::model::topology::tests::vector;
use crate::throughput::mcf::{self, FlowSettings};
use crate::throughput::metrics::cuts::LinearCut;
use lightbay_core::random::Streams;
use lightbay_core::watch::Unwatched;
use rand::{Rng, RngExt};

/// Any permutations.
fn random_pod(cubes: usize, random: &mut impl Rng) -> Topology {
    let states: Vec<Vec<u16>> = (0..SWITCHES)
        .map(|_| {
            let mut state: Vec<u16> = (0..cubes as u16).collect();
            for at in (1..cubes).rev() {
                state.swap(at, random.random_range(0..=at));
            }
            state
        })
        .collect();
    Topology::general(&states).unwrap()
}

#[test]
fn a_cut_is_that_of_the_voltages_where_there_is_symmetry() {
    let mut random = Streams::new(5).stream(0);
    let pod = vector(4);
    let group = pod.symmetry().unwrap().group.clone();
    let lengths: Vec<f64> = (0..LINK_CLASSES).map(|_| f64::from(random.random_range(4..8u8))).collect();
    let by_voltage = LinearCut::new(&pod, &lengths).unwrap();
    let cut = CircuitCut::new(&pod, &mcf::spread(&pod, &lengths)).unwrap();
    for _ in 0..20 {
        let voltage = std::array::from_fn(|_| random.random_range(0..4));
        let other = Topology::symmetric(group.clone(), voltage);
        assert!((cut.bound(&other) / by_voltage.bound(&voltage) - 1.0).abs() < 1e-12);
    }
    for (image, symmetry) in CubeSymmetry::all().map(|symmetry| (cut.image(&symmetry), symmetry)) {
        let voltage = pod.symmetry().unwrap().voltage;
        let moved = Topology::symmetric(group.clone(), symmetry.voltages(&group, &voltage));
        assert!((image.bound(&moved) / cut.bound(&pod) - 1.0).abs() < 1e-12);
    }
    assert!(cut.images().len() > 1);
}

#[test]
fn cuts_bound_what_any_pod_carries() {
    let mut random = Streams::new(7).stream(0);
    // A few rounds: their lower end holds at any width.
    let settings = FlowSettings { max_rounds: 4, ..FlowSettings::default() };
    for _ in 0..2 {
        let [one, other] = [0, 1].map(|_| random_pod(3, &mut random));
        let lengths: Vec<f64> =
            (0..3 * one.nodes()).map(|_| f64::from(random.random_range(1..4u8))).collect();
        let cut = CircuitCut::new(&one, &lengths).unwrap();
        let certificate = mcf::certify(&other, &settings, None, &mut Unwatched::default()).unwrap();
        assert!(cut.bound(&other) >= certificate.lower, "{} {certificate:?}", cut.bound(&other));
        // The best responses of all switches together are what the cut allows at most.
        let best: Vec<Vec<u16>> = (0..SWITCHES).map(|switch| cut.best_response(switch)).collect();
        let most = cut.bound(&Topology::general(&best).unwrap());
        assert!(most >= cut.bound(&other) && most >= cut.bound(&one));
    }
    assert_eq!(CircuitCut::new(&vector(2), &[1.0]), None);
    let apart = Topology::symmetric(Group::abelian(&[2]).unwrap(), [0; SWITCHES]);
    assert_eq!(CircuitCut::new(&apart, &vec![1.0; 3 * 128]), None);
}
