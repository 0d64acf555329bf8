//! Results and events of plain runs.

use crate::models::{Recorder, flows, knapsack, two_products};
use lightbay_highs::event::{MipProgress, NoListener, SolverEvent, Stage};
use lightbay_highs::instance::{Instance, solve_here};
use lightbay_highs::model::{Domain, Model};
use lightbay_highs::options::Options;
use lightbay_highs::solution::{Start, Status};

#[test]
fn a_linear_program_has_values_duals_and_a_basis() {
    let solution = solve_here(&two_products(), &Options::new(), &Start::None, &mut NoListener).unwrap();
    assert_eq!(solution.status, Status::Optimal);
    assert_eq!(solution.values.unwrap(), [3.0, 1.0]);
    assert_eq!(solution.row_values, [4.0, 6.0]);
    assert_eq!(solution.objective, Some(11.0));
    assert_eq!(solution.bound, Some(11.0));
    assert_eq!(solution.row_duals, [2.0, 0.0]);
    assert_eq!(solution.column_duals, [1.0, 0.0]);
    assert!(solution.basis.is_some());
}

#[test]
fn a_linear_program_tells_its_stages_size_and_iterations() {
    let model = flows(12, 10);
    let mut watch = Recorder::default();
    let solution = solve_here(&model, &Options::new(), &Start::None, &mut watch).unwrap();
    assert_eq!(solution.status, Status::Optimal);
    assert_eq!(model.first_broken(solution.values.as_ref().unwrap(), 1e-6), None);
    let stages: Vec<&SolverEvent> =
        watch.0.iter().filter(|event| matches!(event, SolverEvent::Stage(_))).collect();
    assert_eq!(stages, [&SolverEvent::Stage(Stage::Presolve), &SolverEvent::Stage(Stage::Lp)]);
    let presolved = watch
        .0
        .iter()
        .find_map(|event| if let SolverEvent::Presolved(size) = event { Some(*size) } else { None })
        .unwrap();
    assert!(presolved.columns > 0 && presolved.columns <= model.size().columns);
    assert!(presolved.rows > 0 && presolved.nonzeros > 0);
    assert!(watch.0.iter().any(|event| matches!(event, SolverEvent::Simplex(_))));
    assert!(solution.simplex_iterations > 0);
}

#[test]
fn a_tree_search_tells_stages_points_and_bounds() {
    let model = knapsack(30);
    let mut watch = Recorder::default();
    let solution = solve_here(&model, &Options::new().relative_gap(0.0), &Start::None, &mut watch).unwrap();
    assert_eq!(solution.status, Status::Optimal);
    let stages: Vec<Stage> = watch
        .0
        .iter()
        .filter_map(|event| if let SolverEvent::Stage(stage) = event { Some(*stage) } else { None })
        .collect();
    assert_eq!(stages[..3], [Stage::Presolve, Stage::RootLp, Stage::Root]);
    let points = watch.points();
    assert!(points.len() > 2);
    assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0), "points only improve");
    for (objective, values, source) in &points {
        assert_eq!(values.len(), 30);
        assert_eq!(model.first_broken(values, 1e-6), None);
        assert!((model.objective(values) - objective).abs() < 1e-6);
        assert_ne!(*source, ' ', "every point has a letter");
    }
    let optimum = solution.objective.unwrap();
    assert!((points[points.len() - 1].0 - optimum).abs() < 1e-6);
    let mut figures = 0;
    for event in &watch.0 {
        if let SolverEvent::Mip(MipProgress { bound: Some(bound), .. }) = event {
            figures += 1;
            assert!(*bound >= optimum - 1e-6, "{bound} is beaten by {optimum}");
        }
    }
    assert!(figures > 0);
    let Some(SolverEvent::Mip(last)) = watch.0.last() else { panic!("the last word is the figures") };
    assert_eq!((last.incumbent, last.nodes), (solution.objective, solution.nodes));
    assert!(last.open.is_some() && last.cuts.is_some(), "read from the log");
}

#[test]
fn every_method_agrees() {
    let model = flows(12, 10);
    let exact = solve_here(&model, &Options::new(), &Start::None, &mut NoListener).unwrap();
    let exact = exact.objective.unwrap();
    for (solver, tolerance) in
        [("simplex", 1e-9), ("ipx", 1e-6), ("ipm", 1e-6), ("hipdlp", 1e-3), ("pdlp", 1e-3)]
    {
        let options = Options::new().set("solver", solver).time_limit_s(20.0);
        let solution = solve_here(&model, &options, &Start::None, &mut NoListener).unwrap();
        assert_eq!(solution.status, Status::Optimal, "{solver}");
        let objective = solution.objective.unwrap();
        assert!((objective - exact).abs() <= tolerance * exact, "{solver}: {objective}, not {exact}");
        if solver.starts_with("ip") {
            assert!(solution.ipm_iterations > 0, "{solver} must be an interior point method");
            assert!(solution.basis.is_some(), "crossover leaves a basis");
        }
    }
}

#[test]
fn the_constant_counts_in_points_and_bounds() {
    let mut model = knapsack(12);
    let without =
        solve_here(&model, &Options::new().relative_gap(0.0), &Start::None, &mut NoListener).unwrap();
    model.offset = 1000.0;
    let mut watch = Recorder::default();
    let with = solve_here(&model, &Options::new().relative_gap(0.0), &Start::None, &mut watch).unwrap();
    let near = |one: Option<f64>, other: Option<f64>| (one.unwrap() - other.unwrap() - 1000.0).abs() < 1e-6;
    assert!(near(with.objective, without.objective));
    assert!(near(with.bound, without.bound));
    let points = watch.points();
    assert!((points[points.len() - 1].0 - with.objective.unwrap()).abs() < 1e-6);
}

#[test]
fn a_column_may_be_zero_or_at_least_two() {
    let mut model = Model::new("batch");
    let x = model.column_of(Domain::SemiContinuous, "x", 2.0, 5.0, 1.0);
    let y = model.column("y", 0.0, 1.0, 3.0);
    model.at_least("need", 1.5, [(x, 1.0), (y, 1.0)]);
    let mut watch = Recorder::default();
    let solution = solve_here(&model, &Options::new(), &Start::None, &mut watch).unwrap();
    // x = 2 costs 2; x = 0 leaves y = 1 short.
    assert_eq!(solution.values.unwrap(), [2.0, 0.0]);
    assert!(watch.points().iter().all(|(_, values, _)| values.len() == 2));
}

#[test]
fn endings_are_told_apart() {
    let mut model = two_products();
    model.row_lower[0] = 5.0;
    model.row_upper[0] = f64::INFINITY;
    model.row_upper[1] = 1.0;
    let solution = solve_here(&model, &Options::new(), &Start::None, &mut NoListener).unwrap();
    assert_eq!((solution.status, solution.values), (Status::Infeasible, None));

    let mut model = two_products();
    model.row_upper.fill(f64::INFINITY);
    let options = Options::new().set("presolve", "off");
    let mut instance = Instance::new(&model).unwrap();
    instance.apply(&options).unwrap();
    let solution = instance.run(&mut NoListener).unwrap();
    assert_eq!((solution.status, solution.bound), (Status::Unbounded, None));

    let nothing = solve_here(&Model::new("nothing"), &Options::new(), &Start::None, &mut NoListener).unwrap();
    assert_eq!(nothing.status, Status::Empty);

    let options = Options::new().set("mip_max_nodes", 0).set("mip_heuristic_effort", 0.0);
    let solution = solve_here(&knapsack(60), &options, &Start::None, &mut NoListener).unwrap();
    assert_eq!(solution.status, Status::WorkLimit);
    let options = Options::new().set("objective_target", -100.0);
    let mut model = knapsack(60);
    model.maximise = false;
    for cost in &mut model.costs {
        *cost = -*cost;
    }
    let solution = solve_here(&model, &options, &Start::None, &mut NoListener).unwrap();
    assert_eq!(solution.status, Status::ObjectiveLimit);
}

#[test]
fn the_time_limit_ends_a_run_with_the_best_point() {
    let options = Options::new().time_limit_s(0.3).relative_gap(0.0);
    let run = || {
        let solution = solve_here(&knapsack(100), &options, &Start::None, &mut NoListener).unwrap();
        assert_eq!(solution.status, Status::TimeLimit);
        solution
    };
    // A machine that stands still may take the time in which the first point is found.
    let solution = (0..5).map(|_| run()).find(|solution| solution.values.is_some()).unwrap();
    let values = solution.values.unwrap();
    assert_eq!(knapsack(100).first_broken(&values, 1e-6), None);
    assert!(solution.bound.unwrap() >= solution.objective.unwrap());
    // Too short for the root relaxation: no point is requested, but no error either.
    let options = Options::new().time_limit_s(1e-6);
    let solution = solve_here(&knapsack(100), &options, &Start::None, &mut NoListener).unwrap();
    assert_eq!(solution.status, Status::TimeLimit);
}

#[test]
fn the_same_seed_takes_the_same_path() {
    let options = Options::new().set("random_seed", 5);
    let one = solve_here(&knapsack(30), &options, &Start::None, &mut NoListener).unwrap();
    let two = solve_here(&knapsack(30), &options, &Start::None, &mut NoListener).unwrap();
    assert_eq!(
        (one.nodes, one.simplex_iterations, one.values),
        (two.nodes, two.simplex_iterations, two.values)
    );
}
