use super::relaxation::{Settings, all, relax};
use crate::group::Group;
use crate::mcf;
use crate::topology::Topology;
use crate::watch::Unwatched;

#[test]
fn the_relaxation_with_every_switch_fixed_is_the_flow_of_that_pod() {
    let group = Group::abelian(&[2]).unwrap();
    let voltage: [u16; 48] = std::array::from_fn(|o| ((o * o + 3 * o + 1) % 2) as u16);
    let fixed = voltage.iter().map(|g| vec![*g]).collect();
    let settings = Settings { gap: 1e-3, max_rounds: 200 };
    let relaxed = relax(&group, &fixed, settings, &mut Unwatched::default(), |_, _, _| ()).unwrap();
    let pod = Topology::symmetric(group, voltage);
    let known = mcf::certify(&pod, &mcf::Settings::default(), None, &mut Unwatched::default()).unwrap();
    assert!(relaxed.lower <= known.upper && relaxed.upper >= known.lower, "{relaxed:?} {known:?}");
    assert!(relaxed.upper <= relaxed.lower * 1.001);
}

#[test]
fn the_relaxation_of_two_cubes_is_the_known_bound() {
    let group = Group::abelian(&[2]).unwrap();
    let settings = Settings { gap: 1e-3, max_rounds: 200 };
    let relaxed = relax(&group, &all(&group), settings, &mut Unwatched::default(), |_, _, _| ()).unwrap();
    assert!(relaxed.lower <= 0.0144235 && relaxed.upper >= 0.0144225, "{relaxed:?}");
    assert!(relaxed.upper <= relaxed.lower * 1.001, "{relaxed:?}");
    for shares in &relaxed.shares {
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
}
