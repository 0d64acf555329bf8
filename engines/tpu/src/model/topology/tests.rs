use super::*;

/// The pods of the evaluator vectors: Z_C with voltage (o² + 3o + 1) mod C.
pub(crate) fn vector(cubes: usize) -> Topology {
    let group = Group::abelian(&[cubes]).unwrap();
    Topology::symmetric(group, std::array::from_fn(|o| ((o * o + 3 * o + 1) % cubes) as u16))
}

#[test]
fn links_lead_back_and_change_parity() {
    let parity = |node: u32| pod::position(pod::parts(node).1).iter().sum::<u8>() % 2;
    let pod = vector(3);
    for (node, near) in pod.neighbours().iter().enumerate() {
        let node = node as u32;
        for (port, &far) in near.iter().enumerate() {
            let port = port as u8;
            assert_eq!(pod.neighbour(far, pod::opposite(port)), node);
            assert_ne!(parity(node), parity(far));
            assert_eq!(near.iter().filter(|&&other| other == far).count(), 1, "no parallel links");
        }
    }
}

#[test]
fn a_state_that_is_no_permutation_is_refused() {
    let mut to = vec![vec![1, 0]; SWITCHES];
    assert!(Topology::general(&to).is_ok());
    to[7] = vec![1, 1];
    let said = Topology::general(&to).unwrap_err().to_string();
    assert!(said.contains("ocs[7]") && said.contains("cubes 0 and 1"), "{said}");
    to[7] = vec![1, 2];
    assert!(Topology::general(&to).unwrap_err().to_string().contains("cube 2"));
    to.pop();
    assert!(Topology::general(&to).is_err());
}

#[test]
fn a_symmetric_pod_is_its_permutations() {
    let pod = vector(5);
    let states: Vec<Vec<u16>> = (0..SWITCHES).map(|switch| pod.state(switch).to_vec()).collect();
    let general = Topology::general(&states).unwrap();
    assert_eq!(general.neighbours(), pod.neighbours());
}
