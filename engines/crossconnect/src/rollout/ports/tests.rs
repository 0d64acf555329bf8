use super::*;
use crate::scenario::Family;
use crate::scenario::presets;
use lightbay_core::param::ParamValue;
use proptest::prelude::*;

/// The worked example with the solution of its source: switch 1 keeps 0->2 and 1->3.
fn example() -> (CrossconnectScenario, Assignment) {
    let scenario = presets::scenario("crossconnect-example").unwrap();
    let ring = [(0, 0, 1), (0, 1, 2), (0, 2, 3), (0, 3, 0)];
    let pairs = [(1, 0, 2), (1, 1, 3), (1, 2, 1), (1, 3, 0)];
    (scenario, Assignment::of(2, ring.into_iter().chain(pairs)))
}

fn set(scenario: &mut CrossconnectScenario, knob: &str, text: &str) {
    scenario.set(knob, None, &ParamValue::Text(text.into())).unwrap();
}

/// Switch, and pod and port index at both ends.
type Joined = (u32, (u32, u32), (u32, u32));

/// Switch, action, ports at both ends.
fn actions(wired: &Wired, action: Action) -> Vec<Joined> {
    let of = |ocs: &OcsChanges| {
        let ocs_id = ocs.ocs_id;
        let wanted = ocs.cross_connects.iter().filter(move |entry| entry.action == action);
        let ends = wanted.map(move |e| (ocs_id, (e.pod_a, e.port_a_index), (e.pod_b, e.port_b_index)));
        ends.collect::<Vec<_>>()
    };
    wired.ocs.iter().flat_map(of).collect()
}

#[test]
fn the_worked_example_moves_two_circuits() {
    let (scenario, target) = example();
    let wired = assign(&scenario, &target);
    assert_eq!(actions(&wired, Action::Remove), [(1, (2, 0), (0, 0)), (1, (3, 0), (1, 0))]);
    assert_eq!(actions(&wired, Action::Add), [(1, (2, 0), (1, 0)), (1, (3, 0), (0, 0))]);
    assert_eq!(actions(&wired, Action::Keep).len(), 6);
    let panel: Vec<_> =
        wired.ocs[0].cross_connects.iter().map(|e| (e.switch_port_a, e.switch_port_b)).collect();
    assert_eq!(panel, [(1, 2), (2, 3), (3, 4), (4, 1)]);
}

#[test]
fn the_lowest_indices_stay_and_pinned_circuits_before_them() {
    let mut scenario = presets::scenario("crossconnect-2-3-0").unwrap();
    // One switch with three parallel circuits 0->1 and three 1->0.
    scenario.ocs_count = 1;
    scenario.ports_a = vec![vec![3]; 2];
    scenario.ports_b = vec![vec![3]; 2];
    let circuit =
        |(pod_a, port_a_index, pod_b, port_b_index)| Circuit { pod_a, port_a_index, pod_b, port_b_index };
    scenario.installed.ocs.truncate(1);
    scenario.installed.ocs[0].cross_connects =
        [(0, 2, 1, 0), (0, 0, 1, 1), (0, 1, 1, 2), (1, 0, 0, 0)].map(circuit).to_vec();
    let target = Assignment::of(1, [(0, 0, 1), (0, 0, 1), (0, 1, 0)]);
    assert_eq!(actions(&assign(&scenario, &target), Action::Remove), [(0, (0, 2), (1, 0))]);
    set(&mut scenario, "pinned", "0:0.2-1.0");
    assert_eq!(actions(&assign(&scenario, &target), Action::Remove), [(0, (0, 1), (1, 2))]);
}

#[test]
fn circuits_at_failed_ports_go_and_nothing_comes_there() {
    let (mut scenario, target) = example();
    // All pods get a second pair of ports on both switches, and a port of the ring fails.
    scenario.ports_a = vec![vec![2; 2]; 4];
    scenario.ports_b = vec![vec![2; 2]; 4];
    set(&mut scenario, "failed_ports", "0:1:b0");
    let wired = assign(&scenario, &target);
    let forced: Vec<_> = wired
        .forced
        .iter()
        .map(|at| wired.ocs[at.ocs_id as usize].cross_connects[at.entry as usize])
        .collect();
    assert_eq!(forced.len(), 1);
    assert_eq!((forced[0].pod_a, forced[0].pod_b, forced[0].action), (0, 1, Action::Remove));
    assert!(actions(&wired, Action::Add).contains(&(0, (0, 0), (1, 1))), "{wired:?}");
}

#[test]
fn without_sides_both_ends_are_ports_of_one_panel() {
    let (mut scenario, _) = example();
    set(&mut scenario, "wiring", "single_sided");
    let circuit =
        |(pod_a, port_a_index, pod_b, port_b_index)| Circuit { pod_a, port_a_index, pod_b, port_b_index };
    scenario.installed.ocs[0].cross_connects = [(1, 0, 0, 0), (3, 1, 2, 1)].map(circuit).to_vec();
    scenario.installed.ocs[1].cross_connects.clear();
    let wired = assign(&scenario, &Assignment::of(2, [(0, 0, 1), (0, 0, 2), (0, 1, 3)]));
    assert_eq!(actions(&wired, Action::Keep), [(0, (1, 0), (0, 0))]);
    assert_eq!(actions(&wired, Action::Remove), [(0, (3, 1), (2, 1))]);
    assert_eq!(actions(&wired, Action::Add), [(0, (0, 1), (2, 0)), (0, (1, 1), (3, 0))]);
    let add =
        wired.ocs[0].cross_connects.iter().find(|entry| entry.pod_b == 2 && entry.action == Action::Add);
    assert_eq!(add.map(|entry| (entry.switch_port_a, entry.switch_port_b)), Some((2, 5)));
}

#[test]
fn a_circuit_without_a_free_port_is_left_out() {
    let (scenario, _) = example();
    let wired = assign(&scenario, &Assignment::of(2, [(0, 0, 1), (0, 0, 2)]));
    assert_eq!(actions(&wired, Action::Add), []);
    assert_eq!(actions(&wired, Action::Keep), [(0, (0, 0), (1, 0))]);
}

/// Two random decompositions of the same pods, the switches of each merged in groups so that pods have several ports.
pub(crate) fn pair_of_states(
    pods: usize,
    ocs: usize,
    ports: usize,
    seed: u64,
) -> (CrossconnectScenario, Assignment) {
    let family = |instance_seed| Family { changed_percent: 100, instance_seed };
    let mut scenario = presets::random(pods, ocs * ports, family(seed));
    let other = presets::random(pods, ocs * ports, family(seed + 1));
    let target = other.installed_circuits().map(|(layer, c)| (layer as usize / ports, c.pod_a, c.pod_b));
    let target = Assignment::of(ocs, target);
    let circuits: Vec<_> = scenario.installed_circuits().collect();
    scenario.installed.ocs.truncate(ocs);
    for (number, entry) in scenario.installed.ocs.iter_mut().enumerate() {
        entry.cross_connects = circuits
            .iter()
            .filter(|(layer, _)| *layer as usize / ports == number)
            .map(|&(layer, c)| {
                let port = layer % ports as u32;
                Circuit { port_a_index: port, port_b_index: port, ..c }
            })
            .collect();
    }
    scenario.ocs_count = ocs as u32;
    scenario.ports_a = vec![vec![ports as u32; ocs]; pods];
    scenario.ports_b = scenario.ports_a.clone();
    scenario.logical_circuits = vec![vec![0; pods]; pods];
    for cell in target.ocs.iter().flatten() {
        scenario.logical_circuits[cell.a as usize][cell.b as usize] += cell.count;
        scenario.logical_circuits[cell.b as usize][cell.a as usize] += cell.count;
    }
    (scenario, target)
}

proptest! {
    #[test]
    fn ports_hold_one_circuit_in_both_states_and_the_target_is_met(
        pods in 2usize..7, ocs in 1usize..4, ports in 1usize..4, seed in 0u64..1000,
    ) {
        let (scenario, target) = pair_of_states(pods, ocs, ports, seed);
        let wired = assign(&scenario, &target);
        let old = Assignment::installed(&scenario);
        prop_assert_eq!(actions(&wired, Action::Remove).len() as u64, target.lacks(&old));
        prop_assert_eq!(actions(&wired, Action::Add).len() as u64, old.lacks(&target));
        for without in [Action::Add, Action::Remove] {
            let mut seen = FxHashSet::default();
            let mut circuits = Vec::new();
            for ocs in &wired.ocs {
                for entry in ocs.cross_connects.iter().filter(|entry| entry.action != without) {
                    prop_assert!(seen.insert((ocs.ocs_id, Side::A, entry.switch_port_a)));
                    prop_assert!(seen.insert((ocs.ocs_id, Side::B, entry.switch_port_b)));
                    circuits.push((ocs.ocs_id as usize, entry.pod_a, entry.pod_b));
                }
            }
            let state = Assignment::of(scenario.ocs_count as usize, circuits);
            prop_assert_eq!(&state, if without == Action::Add { &old } else { &target });
        }
    }
}
