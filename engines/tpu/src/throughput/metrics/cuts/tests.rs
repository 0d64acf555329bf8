use super::*;
use crate::throughput::metrics::{self, Lengths};
use lightbay_core::random::Streams;
use rand::{Rng, RngExt};

fn random_pod(group: &Group, random: &mut impl Rng) -> Topology {
    let voltage = std::array::from_fn(|_| random.random_range(0..group.order()) as u16);
    Topology::symmetric(group.clone(), voltage)
}

#[test]
fn a_cut_bounds_its_own_pod_like_its_lengths() {
    let mut random = Streams::new(5).stream(0);
    for group in
        [Group::abelian(&[2, 2]).unwrap(), Group::dihedral(3).unwrap(), Group::abelian(&[7]).unwrap()]
    {
        let pod = random_pod(&group, &mut random);
        let classes: [u8; LINK_CLASSES] = std::array::from_fn(|_| random.random_range(4..8));
        let lengths: Vec<f64> = classes.iter().map(|&length| f64::from(length)).collect();
        let cut = LinearCut::new(&pod, &lengths).unwrap();
        let own = metrics::class_lengths(&pod, &Lengths::new(classes)).unwrap();
        // Distances between the ends of a link may be shorter than the link.
        let bound = cut.bound(&pod.symmetry().unwrap().voltage);
        assert!(bound <= own * (1.0 + 1e-12) && bound > 0.9 * own, "{bound} {own}");
    }
}

#[test]
fn symmetries_of_the_cube_keep_distances_and_carry_cuts_along() {
    let mut random = Streams::new(9).stream(0);
    assert_eq!(CubeSymmetry::all().count(), 48);
    for group in [Group::abelian(&[3, 2]).unwrap(), Group::dihedral(4).unwrap()] {
        let pod = random_pod(&group, &mut random);
        let voltage = pod.symmetry().unwrap().voltage;
        let classes: [u8; LINK_CLASSES] = std::array::from_fn(|_| random.random_range(2..6));
        let lengths: Vec<f64> = classes.iter().map(|&length| f64::from(length)).collect();
        let cut = LinearCut::new(&pod, &lengths).unwrap();
        for symmetry in CubeSymmetry::all() {
            let moved = symmetry.voltages(&group, &voltage);
            let image = Topology::symmetric(group.clone(), moved);
            assert_eq!(metrics::hops(&image), metrics::hops(&pod));
            assert_eq!(metrics::two_length(&image, 1, 3), metrics::two_length(&pod, 1, 3));
            assert!((cut.image(&symmetry, &group).bound(&moved) - cut.bound(&voltage)).abs() < 1e-15);
            let mut carried = [0; LINK_CLASSES];
            for class in 0..LINK_CLASSES {
                carried[symmetry.link(class)] = classes[class];
            }
            assert_eq!(
                metrics::class_lengths(&image, &Lengths::new(carried)),
                metrics::class_lengths(&pod, &Lengths::new(classes))
            );
        }
        assert!(cut.images(&group).len() <= 48);
    }
}

#[test]
fn relabelled_cubes_are_the_same_pod() {
    // Multiplication by 3 is an automorphism of Z7, and conjugation one of D4.
    let mut random = Streams::new(3).stream(0);
    let (z7, d4) = (Group::abelian(&[7]).unwrap(), Group::dihedral(4).unwrap());
    let automorphisms: [(&Group, Vec<usize>); 2] = [
        (&z7, (0..7).map(|g| 3 * g % 7).collect()),
        (&d4, (0..8).map(|g| d4.times(d4.times(5, g), d4.inverse(5))).collect()),
    ];
    for (group, map) in automorphisms {
        let pod = random_pod(group, &mut random);
        let moved = pod.symmetry().unwrap().voltage.map(|voltage| map[usize::from(voltage)] as u16);
        let other = Topology::symmetric(group.clone(), moved);
        assert_eq!(metrics::hops(&other), metrics::hops(&pod));
        assert_eq!(metrics::two_length(&other, 2, 3), metrics::two_length(&pod, 2, 3));
    }
}

#[test]
fn cuts_bound_what_other_pods_carry() {
    use crate::throughput::mcf;
    let mut random = Streams::new(21).stream(0);
    let group = Group::abelian(&[2]).unwrap();
    let settings = mcf::FlowSettings { gap: 0.01, ..mcf::FlowSettings::default() };
    let certify = |pod: &Topology| {
        mcf::certify(pod, &settings, None, &mut lightbay_core::watch::Unwatched::default()).unwrap()
    };
    let first = random_pod(&group, &mut random);
    let certificate = certify(&first);
    let lengths = certificate.class_lengths.clone().unwrap_or_else(|| vec![1.0; LINK_CLASSES]);
    let cuts = LinearCut::new(&first, &lengths).unwrap().images(&group);
    let own = cuts[0].bound(&first.symmetry().unwrap().voltage);
    assert!((own / certificate.upper - 1.0).abs() < 1e-6, "{own} {certificate:?}");
    for _ in 0..4 {
        let pod = random_pod(&group, &mut random);
        if metrics::hops(&pod).is_none() {
            continue;
        }
        let lower = certify(&pod).lower;
        let voltage = pod.symmetry().unwrap().voltage;
        assert!(cuts.iter().all(|cut| cut.bound(&voltage) >= lower));
    }
}
