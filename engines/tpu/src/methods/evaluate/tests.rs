use super::*;
use crate::model::group::Group;

fn pod() -> Chosen {
    let topology = Topology::symmetric(Group::most_square(4), std::array::from_fn(|at| (at % 4) as u16));
    Chosen { lengths: Some(vec![1.0; 192]), ..Chosen::new(topology, "hot start") }
}

#[test]
fn voltages_change_the_switches_they_are_given_for() {
    let mut voltages: Vec<i64> = (0..48).map(|at| at % 4).collect();
    let same = edited(pod(), &voltages).unwrap();
    assert_eq!((same.source.as_str(), &same.topology), ("hot start", &pod().topology));
    voltages[9] = 3;
    let other = edited(pod(), &voltages).unwrap();
    assert_eq!(other.source, "edit");
    assert_eq!(other.lengths, pod().lengths, "a near pod begins with the lengths of this one");
    let differ = (0..48).filter(|&at| other.topology.state(at) != pod().topology.state(at));
    assert_eq!(differ.collect::<Vec<_>>(), [9]);
    assert_eq!(other.topology.to(9, 1), 2, "1 and 3 make 2 in Z2 x Z2");
}

#[test]
fn voltages_that_do_not_fit_are_refused_in_words() {
    let said = |chosen: Chosen, voltages: &[i64]| edited(chosen, voltages).unwrap_err().to_string();
    assert!(said(pod(), &[0; 47]).contains("47 entries"));
    let mut voltages = [0; 48];
    voltages[5] = 4;
    let words = said(pod(), &voltages);
    assert!(words.contains("switch 5") && words.contains("0 to 3"), "{words}");
    let states: Vec<Vec<u16>> = (0..48).map(|at| pod().topology.state(at).to_vec()).collect();
    let general = Chosen::new(Topology::general(&states).unwrap(), "given");
    assert!(said(general, &[0; 48]).contains("without symmetry"));
}
