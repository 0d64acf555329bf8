use super::*;
use crate::scenario::presets;
use crate::scenario::{CrossconnectScenario, Family, Wiring};
use lightbay_highs::event::NoListener;
use lightbay_highs::instance::solve_here;
use lightbay_highs::options::Options;
use lightbay_highs::solution::{Start, Status};

fn solved(program: &ExactProgram) -> (Status, Option<(u64, Assignment)>) {
    let options = Options::new().set("mip_rel_gap", 0.0);
    let solution = solve_here(program.model(), &options, &Start::None, &mut NoListener).unwrap();
    let found = solution.values.map(|point| {
        assert_eq!(solution.objective.unwrap().fract().abs(), 0.0);
        (solution.objective.unwrap() as u64, program.assignment(&point))
    });
    (solution.status, found)
}

/// Three pods, a circuit between every two of them, one port per pod and switch.
fn triangle(ocs_count: u32) -> CrossconnectScenario {
    let mut scenario = presets::scenario("crossconnect-example").unwrap();
    scenario.pods = 3;
    scenario.ocs_count = ocs_count;
    scenario.wiring = Wiring::SingleSided;
    scenario.ports_a = vec![vec![1; ocs_count as usize]; 3];
    scenario.ports_b = vec![vec![0; ocs_count as usize]; 3];
    scenario.logical_circuits = vec![vec![0, 1, 1], vec![1, 0, 1], vec![1, 1, 0]];
    scenario.installed.ocs.clear();
    scenario.validate().unwrap();
    scenario
}

#[test]
fn the_worked_example_removes_two_circuits() {
    let task = Task::of(&presets::scenario("crossconnect-example").unwrap());
    let program = ExactProgram::new(&task, Orientation::Joint);
    let (status, found) = solved(&program);
    let (objective, plan) = found.unwrap();
    assert_eq!((status, objective), (Status::Optimal, 2));
    assert_eq!(task.misfit(&plan), None);
    assert_eq!(task.removed(&plan), 2);
    // The same with the orientation of that plan.
    let oriented = crate::model::task::merged(plan.ocs.iter().flatten().copied());
    let fixed = ExactProgram::new(&task, Orientation::Fixed(&oriented));
    assert!(fixed.model().columns() < program.model().columns());
    assert_eq!(solved(&fixed).1.unwrap().0, 2);
}

#[test]
fn a_solution_and_its_point_are_the_same() {
    let task = Task::of(&presets::random(6, 3, Family { changed_percent: 0, instance_seed: 1 }));
    let program = ExactProgram::new(&task, Orientation::Joint);
    let point = program.point(&task.installed).unwrap();
    assert_eq!(program.model().objective(&point), 0.0);
    assert_eq!(program.assignment(&point), task.installed);
    let half = Assignment { ocs: vec![task.installed.ocs[0].clone(), Vec::new(), Vec::new()] };
    assert_eq!(program.point(&half), None);
}

#[test]
fn several_circuits_of_a_pair_on_a_switch_are_kept_up_to_what_is_installed() {
    let mut task = Task::of(&presets::scenario("crossconnect-example").unwrap());
    task.ports_a.iter_mut().chain(&mut task.ports_b).for_each(|row| row.fill(3));
    task.wanted = vec![Cell { a: 0, b: 1, count: 3 }];
    task.installed = Assignment::of(2, [(0, 0, 1), (0, 0, 1), (1, 1, 0), (1, 2, 3)]);
    let (_, found) = solved(&ExactProgram::new(&task, Orientation::Joint));
    let (objective, plan) = found.unwrap();
    assert_eq!(objective, 1);
    assert_eq!(plan, Assignment::of(2, [(0, 0, 1), (0, 0, 1), (1, 1, 0)]));
    let program = ExactProgram::new(&task, Orientation::Joint);
    assert_eq!(program.model().objective(&program.point(&plan).unwrap()), 1.0);
}

#[test]
fn a_triangle_without_sides_needs_three_switches() {
    let task = Task::of(&triangle(2));
    assert_eq!(solved(&ExactProgram::new(&task, Orientation::Joint)).0, Status::Infeasible);
    let words = reason::infeasible(&task, Orientation::Joint, None);
    assert!(words.contains("the target has 3 circuits, but the 2 switches can hold 2"), "{words}");
    let task = Task::of(&triangle(3));
    let (status, found) = solved(&ExactProgram::new(&task, Orientation::Joint));
    assert_eq!(status, Status::Optimal);
    assert_eq!(task.misfit(&found.unwrap().1), None);
}

#[test]
fn the_relaxation_has_no_whole_columns() {
    let task = Task::of(&presets::random(6, 3, Family { changed_percent: 25, instance_seed: 1 }));
    let program = ExactProgram::new(&task, Orientation::Joint);
    let relaxed = program.relaxed();
    assert!(program.model().is_mip() && !relaxed.is_mip());
    let solution = solve_here(&relaxed, &Options::new(), &Start::None, &mut NoListener).unwrap();
    let (_, found) = solved(&program);
    let optimum = found.unwrap().0 as f64;
    assert!(solution.objective.unwrap() <= optimum + 1e-6);
    assert!(solution.objective.unwrap() >= task.count_bound() as f64 - 1e-6);
}

#[test]
fn a_stop_while_the_model_is_written_ends_it_at_once() {
    let task = Task::of(&presets::random(12, 4, Family { changed_percent: 25, instance_seed: 1 }));
    let pairs = asked(&task, Orientation::Joint).len() as u64;
    let whole = ExactProgram::new(&task, Orientation::Joint);
    // Asked after every pair of pods, then about the rows of ports.
    let mut heard = Vec::new();
    let written = ExactProgram::write(&task, Orientation::Joint, |pairs| {
        heard.push(pairs);
        Ok::<(), Infallible>(())
    });
    assert_eq!(written.map(|program| program.model().size()), Ok(whole.model().size()));
    assert!(heard.windows(2).all(|two| two[0] <= two[1] && two[1] <= two[0] + 1), "{heard:?}");
    assert!(
        (0..=pairs).all(|pair| heard.contains(&pair)) && heard.len() as u64 > pairs + 2 * task.pods as u64
    );
    // Nothing is asked, so nothing is written, after the stop.
    for stop in [1, pairs / 2, pairs, heard.len() as u64] {
        let mut questions = 0;
        let written = ExactProgram::write(&task, Orientation::Joint, |_| {
            questions += 1;
            if questions == stop { Err("stopped") } else { Ok(()) }
        });
        assert_eq!((written.err(), questions), (Some("stopped"), stop));
    }
    let mut patience = crate::search::anneal::tests::Patience(pairs);
    let stopped = ExactProgram::watched(&task, Orientation::Joint, &mut patience);
    assert!(matches!(stopped, Err(MethodError::Stopped(_))));
}
