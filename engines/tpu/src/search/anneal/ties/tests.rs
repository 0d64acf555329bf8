use super::*;
use crate::model::topology::Topology;
use crate::throughput::metrics;
use lightbay_core::random::Streams;

fn is_automorphism(group: &Group, map: &[u16]) -> bool {
    let seen: Vec<bool> = (0..group.order()).map(|e| map.contains(&(e as u16))).collect();
    let products = (0..group.order() * group.order()).all(|at| {
        let (a, b) = (at / group.order(), at % group.order());
        usize::from(map[group.times(a, b)]) == group.times(usize::from(map[a]), usize::from(map[b]))
    });
    !seen.contains(&false) && products
}

#[test]
fn automorphisms_are_found_where_there_are_some() {
    let mut random = Streams::new(1).stream(0);
    for factors in [&[2, 2][..], &[2, 2, 4], &[4, 4, 4], &[2, 8, 8], &[4, 12], &[7]] {
        let group = Group::abelian(factors).unwrap();
        let map = automorphism(&group, 3, &mut random).unwrap();
        assert!(is_automorphism(&group, &map), "{factors:?}");
        let twice: Vec<u16> = map.iter().map(|&e| map[usize::from(e)]).collect();
        let thrice: Vec<u16> = twice.iter().map(|&e| map[usize::from(e)]).collect();
        assert!(map.iter().enumerate().any(|(e, &image)| e != usize::from(image)));
        assert!(thrice.iter().enumerate().all(|(e, &image)| e == usize::from(image)));
    }
    // The automorphisms of Z16 and of D4 are as many as a power of two.
    for group in [Group::abelian(&[16]).unwrap(), Group::dihedral(4).unwrap(), Group::abelian(&[1]).unwrap()]
    {
        assert_eq!(automorphism(&group, 3, &mut random), None, "{}", group.name());
    }
}

#[test]
fn tied_designs_look_the_same_after_the_turn() {
    let mut random = Streams::new(2).stream(0);
    for group in [Group::abelian(&[2, 2, 3]).unwrap(), Group::dihedral(9).unwrap()] {
        let map = automorphism(&group, 3, &mut random).unwrap();
        let turn = CubeSymmetry::diagonal();
        let ties = Ties::new(&group, &[(turn, map.clone())]);
        assert_eq!(ties.all().len(), 16);
        let mut voltage = [0; SWITCHES];
        for tie in ties.all() {
            let chosen = tie.choices[random.random_range(0..tie.choices.len())];
            for (switch, of) in &tie.switches {
                voltage[*switch] = of[usize::from(chosen)];
            }
        }
        let turned = turn.voltages(&group, &voltage).map(|element| map[usize::from(element)]);
        assert_eq!(turned, voltage);
        assert!(metrics::hops(&Topology::symmetric(group, voltage)).is_some());
    }
}

#[test]
fn what_a_symmetry_cannot_carry_is_no_choice() {
    // A reflection of all axes maps each switch to one with its sides exchanged: with the identity as automorphism
    // the voltages of a pair are inverses, and no switch is its own image.
    let group = Group::abelian(&[5]).unwrap();
    let reflection = CubeSymmetry::all().nth(7).unwrap();
    let ties = Ties::new(&group, &[(reflection, (0..5).collect())]);
    assert_eq!(ties.all().len(), 24);
    assert!(ties.all().iter().all(|tie| tie.choices.len() == 5));
    // Exchanging X and Y keeps the switches of Z on the diagonal: they have to be fixed by the automorphism.
    let swap = CubeSymmetry::all()
        .find(|symmetry| symmetry.switch(0) == (16, false) && symmetry.switch(32) == (32, false))
        .unwrap();
    let ties = Ties::new(&group, &[(swap, (0..5).map(|e| (5 - e) % 5).collect())]);
    let fixed = ties.all().iter().filter(|tie| tie.switches.len() == 1);
    assert!(fixed.clone().count() == 4 && fixed.into_iter().all(|tie| tie.choices == [0]));
}

#[test]
fn coincidences_count_switches_with_equal_voltages() {
    let group = Group::abelian(&[5]).unwrap();
    assert_eq!(Ties::free(&group).coincidences(), 0.0);
    // Three axes wired alike: three pairs for each of the 16 positions, whatever is chosen.
    let alike = Ties::new(&group, &[(CubeSymmetry::diagonal(), (0..5).collect())]);
    assert!((alike.coincidences() - 48.0).abs() < 1e-12);
    assert!((alike.bits() - 16.0 * 5f64.log2()).abs() < 1e-9);
    assert_eq!(alike.sources().len(), 24);
}
