use super::*;
use crate::presets;
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
