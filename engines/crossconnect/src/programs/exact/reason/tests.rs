use super::*;
use crate::model::assignment::Cell;
use crate::programs::exact::ExactProgram;
use crate::scenario::presets;
use lightbay_highs::conflict::conflict_of;

/// A task of three pods and two switches without installed circuits.
fn task(ports_a: [[u32; 3]; 2], ports_b: [[u32; 3]; 2], wanted: &[(u32, u32, u32)]) -> Task {
    let mut task = Task::of(&presets::scenario("crossconnect-example").unwrap());
    task.pods = 3;
    task.ports_a = ports_a.map(|row| row.to_vec()).to_vec();
    task.ports_b = ports_b.map(|row| row.to_vec()).to_vec();
    task.installed.ocs.iter_mut().for_each(Vec::clear);
    task.wanted = wanted.iter().map(|&(a, b, count)| Cell { a, b, count }).collect();
    task
}

fn why(task: &Task) -> String {
    let program = ExactProgram::new(task, Orientation::Joint);
    let conflict =
        if program.model().columns() > 0 { conflict_of(program.model(), 10.0).unwrap() } else { None };
    infeasible(task, Orientation::Joint, conflict.as_ref())
}

#[test]
fn a_pair_without_a_common_switch_is_named_with_what_it_can_carry() {
    // Pod 0 has ports on switch 0 only, pod 1 on switch 1 only.
    let ports = [[1, 0, 0], [0, 1, 0]];
    let said = why(&task(ports, ports, &[(0, 1, 1)]));
    assert!(
        said.contains(
            "the 1 circuit between pods 0 and 1 cannot be placed, because the switches on which both pods"
        ),
        "{said}"
    );
    assert!(said.contains("can carry only 0; add ports"), "{said}");
}

#[test]
fn pairs_that_need_the_same_ports_are_named_with_them() {
    // Both pairs meet on switch 0 only, where pod 0 has one A port and one B port, and pod 1 takes both.
    let said = why(&task([[1, 1, 1], [0, 1, 1]], [[1, 1, 1], [0, 1, 1]], &[(0, 1, 2), (0, 2, 1)]));
    for words in [
        "the 2 circuits between pods 0 and 1",
        "the 1 circuit between pods 0 and 2",
        "the A ports of pod 0 on switch 0 and the B ports of pod 0 on switch 0 cannot all hold; add ports",
    ] {
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn ports_without_sides_are_named_as_ports() {
    // Pods 0 and 1, and pods 1 and 2, meet on switch 0 only, where pod 1 has one port.
    let mut task = task([[1, 1, 2], [1, 0, 1]], [[0; 3]; 2], &[(0, 1, 1), (1, 2, 1)]);
    task.single_sided = true;
    let said = why(&task);
    let words = "the 1 circuit between pods 0 and 1, the 1 circuit between pods 1 and 2 and the ports of pod 1 on \
                 switch 0 cannot all hold; add a switch, or use two_sided wiring";
    assert!(said.contains(words), "{said}");
}
