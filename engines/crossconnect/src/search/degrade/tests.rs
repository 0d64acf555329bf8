use super::*;
use crate::model::assignment::Assignment;
use crate::scenario::Wiring;
use crate::scenario::presets;
use lightbay_core::param::ParamValue;

fn failing(name: &str, knob: &str, value: &str) -> CrossconnectScenario {
    let mut scenario = presets::scenario(name).unwrap();
    scenario.set(knob, None, &ParamValue::Text(value.into())).unwrap();
    scenario.validate().unwrap();
    scenario
}

/// Full halls lose what the lost ports carried and not a circuit more.
#[test]
fn a_full_hall_loses_exactly_the_circuits_of_the_lost_ports() {
    for (name, knob, value, lost) in [
        ("crossconnect-example", "failed_ocs", "1", 4),
        ("crossconnect-8-8-25", "failed_ocs", "3", 8),
        ("crossconnect-8-8-25", "failed_ocs", "0,7", 16),
        ("crossconnect-16-16-25", "failed_ocs", "3", 16),
        ("crossconnect-8-8-25", "failed_ports", "2:3:a0", 1),
        ("crossconnect-8-8-25", "failed_ports", "2:3:a0,2:5:b0", 1),
        ("crossconnect-8-8-25", "failed_ports", "2:3:a0,4:5:b0,6:1:a0", 3),
    ] {
        let scenario = failing(name, knob, value);
        let task = Task::of(&scenario);
        let sum = |cells: &[Cell]| cells.iter().map(|cell| u64::from(cell.count)).sum::<u64>();
        let wanted = scenario.wanted_circuits();
        assert_eq!(sum(&task.wanted) + sum(&task.lost), wanted, "{name} {value}");
        assert!(sum(&task.wanted) <= most_by_ports(&scenario), "{name} {value}");
        assert_eq!(sum(&task.lost), lost, "{name} {value}: {:?}", task.lost);
    }
}

/// The switches that are left have the same ports, so the losses are spread: no pair loses two where others lose none of
/// as many.
#[test]
fn losses_fall_on_pairs_in_proportion() {
    let scenario = failing("crossconnect-8-8-25", "failed_ocs", "3,4");
    let task = Task::of(&scenario);
    let whole = |cell: &Cell| scenario.logical_circuits[cell.a as usize][cell.b as usize];
    let cut_off = task.lost.iter().filter(|cell| cell.count == whole(cell) && cell.count > 1).count();
    assert_eq!(cut_off, 0, "{:?}", task.lost);
}

/// Pod 0 has one working port and wants one circuit each to pods 1 and 2, so one of them is lost: whichever of the two is
/// installed stays.
#[test]
fn installed_circuits_break_ties_between_equal_losses() {
    let example = Task::of(&presets::scenario("crossconnect-example").unwrap());
    let of = |a: u32, b: u32| Cell { a, b, count: 1 };
    for stays in [1, 2] {
        let sound = Task {
            pods: 3,
            ocs_count: 2,
            ports_a: vec![vec![1, 0, 0]; 2],
            ports_b: vec![vec![0, 1, 1]; 2],
            wanted: vec![of(0, 1), of(0, 2)],
            lost: Vec::new(),
            installed: Assignment { ocs: vec![vec![of(0, stays)], vec![]] },
            pinned: Assignment { ocs: vec![vec![], vec![]] },
            single_sided: false,
            ..example.clone()
        };
        let failed = Task { ports_a: vec![vec![1, 0, 0], vec![0, 0, 0]], ..sound.clone() };
        let kept = kept(&failed, &sound).unwrap();
        assert_eq!(kept.wanted, [of(0, stays)]);
        assert_eq!(kept.lost, [of(0, 3 - stays)]);
    }
}

/// Two pods with one port each way on each of two switches want two circuits of one pair.
#[test]
fn free_ports_take_a_circuit_that_counts_as_lost() {
    let mut scenario = presets::scenario("crossconnect-example").unwrap();
    scenario.failed_ports.clear();
    let task = Task::of(&scenario);
    let of = |a: u32, b: u32, count: u32| Cell { a, b, count };
    let two = |wiring_is_single| Task {
        pods: 2,
        ocs_count: 2,
        ports_a: vec![vec![1, 1]; 2],
        ports_b: vec![vec![1, 1]; 2],
        wanted: vec![of(0, 1, 1)],
        lost: vec![of(0, 1, 1)],
        installed: Assignment { ocs: vec![vec![], vec![of(0, 1, 1)]] },
        pinned: Assignment { ocs: vec![vec![], vec![]] },
        single_sided: wiring_is_single,
        ..task.clone()
    };
    let found = Assignment { ocs: vec![vec![of(0, 1, 1)], vec![]] };
    // The installed circuit is the last choice: pod 1 has its A port on switch 0 free, and pod 0 its B port.
    let completed = two(false).completed(&found);
    assert_eq!(completed.ocs, [vec![of(0, 1, 1), of(1, 0, 1)], vec![]]);
    assert_eq!(two(false).trimmed(completed).circuits(), 1);
    // Without sides switch 0 is full.
    let completed = two(true).completed(&found);
    assert_eq!(completed.ocs, [vec![of(0, 1, 1)], vec![of(0, 1, 1)]]);
    assert_eq!(two(true).trimmed(completed.clone()).circuits(), 1);
    // Nothing fits any more.
    assert_eq!(two(true).completed(&completed), completed);
}

#[test]
fn nothing_is_lost_where_the_other_ports_suffice() {
    let mut scenario = presets::scenario("crossconnect-8-8-25").unwrap();
    for knob in ["ports_a", "ports_b"] {
        scenario.set(knob, None, &ParamValue::Int(2)).unwrap();
    }
    scenario.set("failed_ocs", None, &ParamValue::Text("3".into())).unwrap();
    let task = Task::of(&scenario);
    assert!(task.lost.is_empty());
    assert_eq!(task.wanted.iter().map(|cell| u64::from(cell.count)).sum::<u64>(), 64);
}

/// Four pods without sides, a circuit between every two of them, one port per pod and switch.
fn square(ocs_count: u32, failed: &str, failed_ports: &str) -> CrossconnectScenario {
    let mut scenario = presets::scenario("crossconnect-example").unwrap();
    scenario.pods = 4;
    scenario.ocs_count = ocs_count;
    scenario.wiring = Wiring::SingleSided;
    scenario.ports_a = vec![vec![1; ocs_count as usize]; 4];
    scenario.ports_b = vec![vec![0; ocs_count as usize]; 4];
    scenario.logical_circuits = (0..4).map(|a| (0..4).map(|b| u32::from(a != b)).collect()).collect();
    scenario.installed.ocs.clear();
    scenario.set("failed_ocs", None, &ParamValue::Text(failed.into())).unwrap();
    scenario.set("failed_ports", None, &ParamValue::Text(failed_ports.into())).unwrap();
    scenario.validate().unwrap();
    scenario
}

/// Three switches hold the three ways to pair four pods. What is lost is what counting says, so it is the least.
#[test]
fn halls_without_sides_lose_no_more_than_counting_says() {
    for (failed, ports, lost) in [
        ("none", "none", 0),
        // A switch holds two circuits; one with three working ports holds one, so does one with two.
        ("2", "none", 2),
        ("none", "1:0:a0", 1),
        ("none", "1:0:a0,1:3:a0", 1),
        ("0,1", "none", 4),
        ("0,1,2", "none", 6),
    ] {
        let scenario = square(3, failed, ports);
        let task = Task::of(&scenario);
        let sum = |cells: &[Cell]| cells.iter().map(|cell| u64::from(cell.count)).sum::<u64>();
        assert_eq!((sum(&task.wanted), sum(&task.lost)), (6 - lost, lost), "{failed} {ports}");
        assert_eq!(most_by_ports(&scenario), 6 - lost, "{failed} {ports}");
    }
    // A fourth switch takes over.
    assert!(Task::of(&square(4, "2", "none")).lost.is_empty());
}

/// Two switches are too few for six circuits when all is in order: that is no loss by a failed port.
#[test]
fn what_does_not_fit_ports_in_order_either_is_not_lost_to_failed_ones() {
    let mut scenario = square(3, "none", "none");
    // Three pods want all of each other: an odd ring, which needs three switches though every pod has two ports.
    scenario.logical_circuits = vec![vec![0, 1, 1, 0], vec![1, 0, 1, 0], vec![1, 1, 0, 0], vec![0; 4]];
    scenario.ports_a = vec![vec![1, 1, 0]; 4];
    scenario.validate().unwrap();
    scenario.set("failed_ports", None, &ParamValue::Text("0:3:a0".into())).unwrap();
    assert!(Task::of(&scenario).lost.is_empty());
}
