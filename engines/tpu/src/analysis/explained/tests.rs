use super::*;
use crate::model::pod;
use crate::plan::{Certificates, Dimension, OcsState, SymmetryRecord};

fn record(pod: &Topology, symmetric: bool) -> TopologyRecord {
    let ocs = (0..SWITCHES)
        .map(|id| OcsState {
            id: id as u8,
            dim: [Dimension::X, Dimension::Y, Dimension::Z][pod::switch_dimension(id)],
            pos: pod::switch_position(id),
            to: pod.state(id).to_vec(),
        })
        .collect();
    let symmetry = pod
        .symmetry()
        .filter(|_| symmetric)
        .map(|symmetry| SymmetryRecord { table: symmetry.group.rows(), voltage: symmetry.voltage.to_vec() });
    TopologyRecord { ocs, symmetry }
}

fn result(topology: TopologyRecord) -> TpuResult {
    let claims =
        Claims { hop_sum: 274_560, diameter: 6, avg_hops: 4.2, mcf_lower: 0.005, mcf_upper: 0.005_025 };
    let certificates = Certificates::default();
    TpuResult { topology, claims, certificates, routing: None, faults: Vec::new(), simulation: None }
}

/// Four cubes: all switches of a dimension carry the same element.
fn quad() -> Topology {
    Topology::symmetric(Group::most_square(4), std::array::from_fn(|switch| [1, 2, 0][switch / 16]))
}

#[test]
fn a_symmetric_pod_is_known_by_its_group_and_a_general_one_by_its_states() {
    let facts = PodFacts::of(&result(record(&quad(), true))).unwrap();
    assert!((0..SWITCHES).all(|switch| facts.pod.state(switch) == quad().state(switch)));
    assert_eq!(facts.group.as_deref(), Some("Z2 x Z2"));
    assert_eq!((facts.voltage(0), facts.voltage(40), facts.chips()), (Some(1), Some(0), 256));
    let general = PodFacts::of(&result(record(&quad(), false))).unwrap();
    assert_eq!((general.group.clone(), general.voltage(0)), (None, None));
    assert_eq!(general.pod.state(17), quad().state(17));
    let mut wrong = record(&quad(), true);
    wrong.symmetry.as_mut().unwrap().voltage[5] = 4;
    assert!(PodFacts::of(&result(wrong)).unwrap_err().contains("voltage 4"));
}

#[test]
fn circuits_are_counted_between_cubes() {
    let facts = PodFacts::of(&result(record(&quad(), true))).unwrap();
    let between = facts.between();
    // X links 0-1 and 2-3 both ways, Y 0-2 and 1-3, Z wraps inside each cube.
    assert_eq!(between[0], [16, 32, 32, 0]);
    assert_eq!(between[3], [0, 32, 32, 16]);
    // Every cube has 96 face ports; a circuit inside takes two of them.
    for (cube, row) in between.iter().enumerate() {
        let ports: u32 = row.iter().sum::<u32>() + row[cube];
        assert_eq!(ports, 96);
    }
}

#[test]
fn circuits_that_differ_are_counted_switch_by_switch() {
    let facts = PodFacts::of(&result(record(&quad(), true))).unwrap();
    assert_eq!(facts.circuits_that_differ(&quad()), Some(0));
    let mut voltage = quad().symmetry().unwrap().voltage;
    voltage[7] = 3;
    voltage[20] = 0;
    let other = Topology::symmetric(Group::most_square(4), voltage);
    assert_eq!(facts.circuits_that_differ(&other), Some(8));
    let small = Topology::symmetric(Group::most_square(2), [0; SWITCHES]);
    assert_eq!(facts.circuits_that_differ(&small), None);
}

#[test]
fn routes_that_the_plan_leaves_out_are_only_stated() {
    let mut plan = result(record(&quad(), true));
    plan.routing = Some(Routing {
        vc_count: 2,
        expand: crate::plan::Expansion::Translation,
        claims: RoutingClaims { max_channel_load: 190, vc_hops: vec![7, 8], route_hop_sum: 15 },
        routes: Vec::new(),
        unbalanced: None,
    });
    let facts = PodFacts::of(&plan).unwrap();
    assert!(facts.routes.is_none(), "no channel is shown as empty");
    let stated = facts.stated.unwrap();
    assert_eq!((stated.max_channel_load, stated.vc_hops), (190, vec![7, 8]));
}
