use super::*;
use crate::model::task::merged;
use proptest::prelude::*;

/// A task whose ports differ from switch to switch, some unused, and a solution of it.
fn random(pods: usize, ocs_count: usize, seed: u64) -> (Task, Assignment) {
    let mut dice = Dice::new(seed);
    let mut draw = |most: usize| -> Assignment {
        let mut circuits = Vec::new();
        for ocs in 0..ocs_count {
            for _ in 0..dice.below(most) {
                let (a, b) = (dice.below(pods), dice.below(pods));
                if a != b {
                    circuits.push((ocs, a as u32, b as u32));
                }
            }
        }
        Assignment::of(ocs_count, circuits)
    };
    let (start, installed) = (draw(3 * pods), draw(2 * pods));
    let mut task = task_of(pods, &start, installed);
    for row in task.ports_a.iter_mut().chain(&mut task.ports_b) {
        for ports in row {
            *ports += u32::from(dice.below(4) == 0);
        }
    }
    (task, start)
}

/// The task that a solution solves with just enough ports.
fn task_of(pods: usize, start: &Assignment, installed: Assignment) -> Task {
    let ocs_count = start.ocs.len();
    let (mut ports_a, mut ports_b) = (vec![vec![0; pods]; ocs_count], vec![vec![0; pods]; ocs_count]);
    for (ocs, cells) in start.ocs.iter().enumerate() {
        for cell in cells {
            ports_a[ocs][cell.a as usize] += cell.count;
            ports_b[ocs][cell.b as usize] += cell.count;
        }
    }
    let all = start.ocs.iter().flatten();
    let wanted = merged(all.map(|cell| Cell { a: cell.a.min(cell.b), b: cell.a.max(cell.b), ..*cell }));
    Task {
        pods,
        ocs_count,
        ports_a,
        ports_b,
        lost: Vec::new(),
        wanted,
        installed,
        pinned: Assignment { ocs: vec![Vec::new(); ocs_count] },
        single_sided: false,
        uniform: false,
    }
}

/// Circuits of every oriented pair over all switches.
fn oriented(assignment: &Assignment) -> Vec<Cell> {
    merged(assignment.ocs.iter().flatten().copied())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_proper_state_solves_the_task(
        pods in 2usize..7, ocs_count in 1usize..5, seed: u64, joint: bool,
    ) {
        let (task, start) = random(pods, ocs_count, seed);
        prop_assert_eq!(task.misfit(&start), None);
        let mut walk = AssignmentWalk::new(&task, &start, joint);
        let installed = task.installed.circuits() as i64;
        let (mut dice, heat) = (Dice::new(seed ^ 1), Heat::new(5.0, 1.0));
        for _ in 0..3000 {
            if walk.step(&heat, &mut dice) == Step::Arrived {
                let state = walk.assignment();
                prop_assert_eq!(task.misfit(&state), None);
                prop_assert_eq!(walk.kept(), installed - task.removed(&state) as i64);
                if !joint {
                    prop_assert_eq!(oriented(&state), oriented(&start));
                }
            }
        }
    }
}

#[test]
fn a_cold_walk_never_keeps_less() {
    let (task, start) = random(8, 6, 3);
    let mut walk = AssignmentWalk::new(&task, &start, true);
    let (mut dice, heat) = (Dice::new(1), Heat::new(1e-3, 0.0));
    let mut kept = walk.kept();
    let begun = kept;
    for _ in 0..100_000 {
        walk.step(&heat, &mut dice);
        assert!(walk.kept() >= kept);
        kept = walk.kept();
    }
    assert!(kept > begun);
}

#[test]
fn the_walk_reaches_every_latin_square_of_order_three() {
    // One circuit from every A port to every B port: the switches of a solution are the symbols of a Latin square. Pods 0
    // to 2 have the A ports, pods 3 to 5 the B ports. There are 12 squares of order 3.
    let square = (0..3u32).flat_map(|a| (0..3u32).map(move |b| (((a + b) % 3) as usize, a, b + 3)));
    let start = Assignment::of(3, square);
    let task = task_of(6, &start, Assignment { ocs: vec![Vec::new(); 3] });
    let mut walk = AssignmentWalk::new(&task, &start, true);
    let (mut dice, heat) = (Dice::new(1), Heat::new(1.0, 0.0));
    let mut seen = std::collections::HashSet::new();
    for _ in 0..20_000 {
        if walk.step(&heat, &mut dice) == Step::Arrived {
            seen.insert(walk.assignment());
        }
    }
    assert_eq!(seen.len(), 12);
}

#[test]
fn chances_follow_metropolis() {
    let heat = Heat::new(0.5, 1.0);
    let mut dice = Dice::new(4);
    let mut taken =
        |proper, kept| (0..100_000).filter(|_| heat.allows(proper, kept, &mut dice)).count() as f64;
    assert_eq!(taken(0, 0), 100_000.0);
    assert_eq!(taken(1, -1), 100_000.0);
    let expected = 100_000.0 * (-2.0f64).exp();
    assert!((taken(0, -1) - expected).abs() < 500.0);
    assert!((taken(-1, 0) - expected).abs() < 500.0);
}
