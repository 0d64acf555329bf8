use super::*;
use crate::model::assignment::Assignment;

fn matrix(ports: &[u32], circuits: &[(u32, u32, u32)]) -> CircuitMatrix {
    CircuitMatrix {
        pods: (0..ports.len()).map(|pod| format!("stage {pod}")).collect(),
        ports_per_pod: ports.to_vec(),
        circuits: circuits.to_vec(),
        ..CircuitMatrix::default()
    }
}

const fn hall(ocs_count: u32) -> SwitchHall {
    SwitchHall { ocs_count, wiring: Wiring::TwoSided }
}

#[test]
fn ports_are_spread_evenly_over_switches_and_sides() {
    let handed = scenario(&matrix(&[8, 16], &[(0, 1, 8)]), hall(4)).unwrap();
    assert_eq!(handed.scenario.ports_a, [[1; 4], [2; 4]]);
    assert_eq!(handed.scenario.ports_b, [[1; 4], [2; 4]]);
    assert_eq!(handed.scenario.logical_circuits, [[0, 8], [8, 0]]);
    assert_eq!(handed.scenario.pod_name(1), "stage 1");
    assert!(handed.scenario.is_uniform() && handed.notes.is_empty());
}

#[test]
fn what_is_left_over_goes_to_the_first_switches_and_is_said() {
    let handed = scenario(&matrix(&[11, 11, 12], &[(0, 1, 2)]), hall(4)).unwrap();
    let scenario = &handed.scenario;
    assert_eq!(scenario.ports_a, [[2, 2, 1, 1], [2, 1, 1, 1], [2, 2, 1, 1]]);
    assert_eq!(scenario.ports_b, [[2, 1, 1, 1], [2, 2, 1, 1], [2, 2, 1, 1]]);
    assert!(!scenario.is_uniform());
    assert!(
        handed.notes[0].starts_with("3 pods have a number of ports that is not a multiple of 8"),
        "{:?}",
        handed.notes
    );
}

#[test]
fn without_sides_all_ports_are_a_ports() {
    let hall = SwitchHall { ocs_count: 3, wiring: Wiring::SingleSided };
    let handed = scenario(&matrix(&[7, 6], &[(0, 1, 6)]), hall).unwrap();
    assert_eq!(handed.scenario.ports_a, [[3, 2, 2], [2, 2, 2]]);
    assert_eq!(handed.scenario.ports_b, [[0; 3]; 2]);
}

#[test]
fn the_number_of_switches_suits_the_ports() {
    let suited = |ports: &[u32]| SwitchHall::suited(&matrix(ports, &[])).ocs_count;
    assert_eq!(suited(&[32, 64, 32]), 16);
    assert_eq!(suited(&[24, 16]), 4);
    assert_eq!(suited(&[48, 0]), 12);
    // No number of switches suits odd ports.
    assert_eq!(suited(&[7, 9]), 3);
}

#[test]
fn what_does_not_fit_is_named() {
    let text = |matrix: &CircuitMatrix, hall: SwitchHall| scenario(matrix, hall).unwrap_err().to_string();
    assert!(text(&matrix(&[4, 4], &[(0, 0, 1)]), hall(2)).contains("1 circuit between pods 0 and 0"));
    assert!(
        text(&matrix(&[4, 4], &[(0, 1, 5)]), hall(2)).contains("stage 0 needs 5 circuits but has 4 ports")
    );
    assert!(text(&matrix(&[4, 4], &[]), hall(0)).contains("ocs_count: is 0"));
    assert!(text(&matrix(&[20_000, 4], &[]), hall(1)).contains("more than 4096 ports"));
    assert!(text(&matrix(&[], &[]), hall(1)).contains("has 0 pods"));
}

#[test]
fn a_plan_becomes_the_installed_state() {
    let old = scenario(&matrix(&[4, 4, 4], &[(0, 1, 2), (1, 2, 1)]), hall(2)).unwrap().scenario;
    let target = Assignment::of(2, [(0, 0, 1), (0, 1, 2), (1, 1, 0)]);
    let plan = assemble::candidate(&old, &target).result;
    let new = scenario(&matrix(&[4, 4, 4], &[(0, 1, 2), (0, 2, 1)]), hall(2)).unwrap();
    let handed = install(new, &old, plan.changes().unwrap()).unwrap();
    assert_eq!(Assignment::installed(&handed.scenario), target);
    assert!(
        handed.notes[0].starts_with("at least 1 of 3 installed circuits must be removed"),
        "{:?}",
        handed.notes
    );
}

#[test]
fn an_installed_plan_of_other_switches_is_refused_by_name() {
    let of = |ports: &[u32], ocs: u32| scenario(&matrix(ports, &[]), hall(ocs)).unwrap();
    let refused = |old: Handed| {
        let plan = assemble::candidate(&old.scenario, &Assignment::installed(&old.scenario)).result;
        install(of(&[8, 8], 2), &old.scenario, plan.changes().unwrap()).unwrap_err().to_string()
    };
    assert!(refused(of(&[8, 8, 8], 2)).contains("is for 3 pods, but 2 are planned"));
    assert!(refused(of(&[8, 8], 4)).contains("is for 4 switches, but 'ocs_count' is 2"));
    assert!(
        refused(of(&[8, 4], 2))
            .contains("stage 1 has 1 A ports on switch 0 in that plan and 2 in this scenario")
    );
}
