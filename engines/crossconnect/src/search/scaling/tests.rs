use super::*;
use crate::programs::bound::whole;
use crate::programs::exact::{ExactProgram, Orientation};
use crate::scenario::presets;
use crate::scenario::{CrossconnectScenario, Family};
use lightbay_core::watch::Unwatched;
use lightbay_highs::event::NoListener;
use lightbay_highs::instance::solve_here;
use lightbay_highs::options::Options;
use lightbay_highs::solution::Start;

fn random(seed: u64) -> CrossconnectScenario {
    presets::random(8, 6, Family { changed_percent: 30, instance_seed: seed })
}

fn proof(task: &Task) -> f64 {
    let mut watch = Unwatched::default();
    Scaling::new(task, &mut watch).unwrap().proof(&mut watch).unwrap().1
}

fn relaxed(task: &Task) -> f64 {
    let model = ExactProgram::new(task, Orientation::Joint).relaxed();
    solve_here(&model, &Options::new(), &Start::None, &mut NoListener).unwrap().objective.unwrap()
}

#[test]
fn the_example_needs_two_removals() {
    let task = Task::of(&presets::scenario("crossconnect-example").unwrap());
    assert_eq!(whole(proof(&task)), 2);
}

#[test]
fn prices_prove_almost_the_value_of_the_relaxation_and_never_more() {
    for seed in 1..7 {
        let mut scenario = random(seed);
        if seed % 2 == 0 {
            // Ports to spare: rows of ports are inequalities.
            for (a, b) in (0..8).flat_map(|a| (0..a).map(move |b| (a, b))) {
                let fewer = scenario.logical_circuits[a][b].saturating_sub(1);
                (scenario.logical_circuits[a][b], scenario.logical_circuits[b][a]) = (fewer, fewer);
            }
        }
        let task = Task::of(&scenario);
        let (proof, relaxed) = (proof(&task), relaxed(&task));
        assert!(proof <= relaxed + 1e-6, "seed {seed}: {proof} above {relaxed}");
        assert!(proof > relaxed - 0.5, "seed {seed}: {proof} below {relaxed}");
    }
}

#[test]
fn fixed_circuits_use_their_lines() {
    let task = Task::of(&random(1));
    let mut scaling = Scaling::new(&task, &mut Unwatched::default()).unwrap();
    let (left, columns) = (scaling.left(), scaling.columns());
    let spot = scaling.fix(0).unwrap();
    assert!(scaling.fix(0).is_none(), "one port on each side");
    scaling.prune();
    assert_eq!(scaling.left(), left - 1.0);
    assert!(scaling.columns() < columns);
    assert_eq!(placed(task.ocs_count, &[spot]).circuits(), 1);
}

/// Two pods with one circuit and ports to spare, so that the lines form no cycle: the circuit can stay (weight e), or
/// move to one of three other places (weight 1 each).
#[test]
fn beliefs_of_one_circuit_are_exact() {
    let mut scenario = presets::scenario("crossconnect-2-2-0").unwrap();
    scenario.logical_circuits = vec![vec![0, 1], vec![1, 0]];
    for ocs in &mut scenario.installed.ocs {
        ocs.cross_connects.retain(|circuit| ocs.ocs_id == 1 && circuit.pod_a == 1);
    }
    let mut watch = Unwatched::default();
    let mut scaling = Scaling::new(&Task::of(&scenario), &mut watch).unwrap();
    scaling.believe(1.0, 3, &mut watch).unwrap();
    let e = std::f32::consts::E;
    for (belief, stays) in scaling.believed().zip(&scaling.stays) {
        let exact = if *stays { e / (e + 3.0) } else { 1.0 / (e + 3.0) };
        assert!((belief - exact).abs() < 1e-6, "{belief} instead of {exact}");
    }
    assert_eq!((scaling.columns(), scaling.stays.iter().filter(|stays| **stays).count()), (4, 1));
}

#[test]
fn beliefs_add_up_to_the_circuits_that_are_not_fixed() {
    for seed in 1..4 {
        let mut watch = Unwatched::default();
        let mut scaling = Scaling::new(&Task::of(&random(seed)), &mut watch).unwrap();
        for fixed in [0, 20] {
            scaling.fix(fixed);
            scaling.prune();
            scaling.believe(0.3, 60, &mut watch).unwrap();
            let sum: f64 = scaling.believed().map(f64::from).sum();
            assert!((sum / scaling.left() - 1.0).abs() < 0.02, "seed {seed}: {sum} of {}", scaling.left());
        }
    }
}
