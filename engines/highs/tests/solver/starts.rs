//! Hot starts: whole, partial, unfit, injected.

use crate::models::{Recorder, flows, knapsack, sites};
use lightbay_highs::error::Error;
use lightbay_highs::event::{Flow, MipProgress, NoListener, SolverEvent, SolverListener, Stage, StartFate};
use lightbay_highs::instance::{Instance, solve_here};
use lightbay_highs::model::{Domain, Model};
use lightbay_highs::options::{MIN_START_SHARE, Options};
use lightbay_highs::solution::{Solution, Start, Status};

fn best() -> (Model, Vec<f64>, f64) {
    let model = sites(8, 12);
    let options = Options::new().relative_gap(0.0);
    let solution = solve_here(&model, &options, &Start::None, &mut NoListener).unwrap();
    (model, solution.values.unwrap(), solution.objective.unwrap())
}

fn run(model: &Model, start: &Start) -> (Recorder, Solution) {
    let mut watch = Recorder::default();
    let options = Options::new().relative_gap(0.0);
    let solution = solve_here(model, &options, start, &mut watch).unwrap();
    (watch, solution)
}

fn integers(model: &Model, values: &[f64]) -> Vec<(u32, f64)> {
    (0..model.columns())
        .filter(|column| model.domains[*column] == Domain::Integer)
        .map(|column| (column as u32, values[column]))
        .collect()
}

fn rejected(watch: &Recorder) -> &str {
    match watch.fate() {
        Some(StartFate::Rejected(why)) => why,
        other => panic!("rejected was expected, not {other:?}"),
    }
}

#[test]
fn a_whole_start_is_the_first_point() {
    let (model, values, objective) = best();
    let (watch, solution) = run(&model, &Start::Full(values));
    assert!(matches!(watch.fate(), Some(StartFate::Accepted(of)) if (of - objective).abs() < 1e-6));
    let points = watch.points();
    assert!((points[0].0 - objective).abs() < 1e-6);
    assert_eq!(points[0].2, '0');
    assert_eq!(points.len(), 1, "nothing is better");
    assert!((solution.objective.unwrap() - objective).abs() < 1e-6);
}

#[test]
fn integers_alone_are_completed_by_one_linear_program() {
    let (model, values, objective) = best();
    let (watch, _) = run(&model, &Start::Partial(integers(&model, &values)));
    assert!(matches!(watch.fate(), Some(StartFate::Completed(of)) if (of - objective).abs() < 1e-6));
    assert!((watch.points()[0].0 - objective).abs() < 1e-6);
    assert!(watch.0.contains(&SolverEvent::Stage(Stage::Start)));
    let stages: Vec<_> = watch.0.iter().filter(|event| matches!(event, SolverEvent::Stage(_))).collect();
    assert_eq!(stages[0], &SolverEvent::Stage(Stage::Start));
    assert!(stages.contains(&&SolverEvent::Stage(Stage::RootLp)));
}

#[test]
fn half_of_the_integers_are_completed_by_a_restricted_search() {
    let (model, values, objective) = best();
    let mut half = integers(&model, &values);
    half.truncate(4);
    let (watch, solution) = run(&model, &Start::Partial(half));
    assert!(matches!(watch.fate(), Some(StartFate::Completed(of)) if (of - objective).abs() < 1e-6));
    assert!((solution.objective.unwrap() - objective).abs() < 1e-6);
    // Bounds of the restricted problem are not bounds of the model.
    let fate = watch.0.iter().position(|event| matches!(event, SolverEvent::Start(_))).unwrap();
    for event in &watch.0[..fate] {
        assert!(!matches!(event, SolverEvent::Mip(MipProgress { bound: Some(_), .. })), "{event:?}");
        assert!(!matches!(event, SolverEvent::Presolved(_)), "{event:?}");
    }
    for event in &watch.0 {
        if let SolverEvent::Mip(MipProgress { bound: Some(bound), .. }) = event {
            assert!(*bound <= objective + 1e-6);
        }
    }
    let points = watch.points();
    assert!(points.windows(2).all(|pair| pair[1].0 < pair[0].0), "no point is told twice");
}

#[test]
fn values_that_are_not_given_are_not_zero() {
    // Only half of the sites, all of them closed: padded with zero the rest would be closed as well.
    let (model, _, _) = best();
    let (watch, _) = run(&model, &Start::Partial((0..4).map(|site| (site, 0.0)).collect()));
    let Some(StartFate::Completed(objective)) = watch.fate() else { panic!("{:?}", watch.fate()) };
    assert!(objective.is_finite());
    let first = watch.points()[0].1;
    assert!(first[4..8].iter().any(|open| *open > 0.5));
}

#[test]
fn a_start_that_nothing_completes_is_rejected() {
    let (model, _, objective) = best();
    // All sites closed: no client is served.
    let (watch, solution) = run(&model, &Start::Partial((0..8).map(|site| (site, 0.0)).collect()));
    assert!(rejected(&watch).contains("cannot be completed"), "{}", rejected(&watch));
    assert!((solution.objective.unwrap() - objective).abs() < 1e-6);
    // One site is too small: found out by a search, not by a linear program.
    let (watch, _) = run(&model, &Start::Partial((0..7).map(|site| (site, 0.0)).collect()));
    assert!(rejected(&watch).contains("cannot be completed"), "{}", rejected(&watch));
    // Whole values only, and all of them given.
    let (watch, _) = run(&knapsack(15), &Start::Full(vec![1.0; 15]));
    let why = rejected(&watch);
    assert!(why.contains("no feasible point; weight 0 is ") && why.contains(", above "), "{why}");
}

#[test]
fn an_unfit_start_is_turned_away_with_a_reason() {
    let (model, values, _) = best();
    let case = |start: Start, part: &str| {
        let (watch, _) = run(&model, &start);
        let why = rejected(&watch);
        assert!(why.contains(part), "{why}");
        assert!(!watch.0.contains(&SolverEvent::Stage(Stage::Start)), "no time was spent on it");
    };
    let mut instance = Instance::new(&model).unwrap();
    assert!(matches!(instance.start(&Start::Full(vec![0.0; 3])), Err(Error::Length { .. })));
    case(Start::Partial(vec![(0, 2.0)]), "'open 0' is 2, above its upper bound 1");
    case(Start::Partial(vec![(0, f64::NAN)]), "'open 0' is NaN");
    case(Start::Partial(vec![(900, 1.0)]), "names column 900");
    case(Start::Partial(vec![(1, 1.0), (1, 0.0)]), "names 'open 1' twice");
    case(Start::Partial(vec![(1, 1.0)]), "1 of 8 integer columns, but at least 2");
    // Fractional values count as not given.
    case(Start::Partial((0..8).map(|site| (site, 0.5)).collect()), "0 of 8 integer columns");
    // The rule is an option.
    let options = Options::new().set(MIN_START_SHARE, 0.0);
    let mut watch = Recorder::default();
    solve_here(&model, &options, &Start::Partial(vec![(0, values[0])]), &mut watch).unwrap();
    assert!(matches!(watch.fate(), Some(StartFate::Completed(_))));
}

#[test]
fn a_start_counts_for_one_run_only() {
    let (model, values, _) = best();
    let mut instance = Instance::new(&model).unwrap();
    instance.start(&Start::Full(values)).unwrap();
    let mut watch = Recorder::default();
    instance.run(&mut watch).unwrap();
    assert!(watch.fate().is_some());
    let mut watch = Recorder::default();
    instance.run(&mut watch).unwrap();
    assert_eq!(watch.fate(), None);
}

#[test]
fn a_linear_program_starts_from_a_whole_point_only() {
    let model = flows(12, 6);
    let optimal = solve_here(&model, &Options::new(), &Start::None, &mut NoListener).unwrap();
    let (watch, solution) = run(&model, &Start::Full(optimal.values.unwrap()));
    assert!(matches!(watch.fate(), Some(StartFate::Accepted(_))));
    assert!((solution.objective.unwrap() - optimal.objective.unwrap()).abs() < 1e-6);
    let (watch, _) = run(&model, &Start::Full(vec![0.0; model.columns()]));
    assert!(rejected(&watch).contains("balance"), "{}", rejected(&watch));
    let (watch, _) = run(&model, &Start::Partial(vec![(0, 1.0)]));
    assert!(rejected(&watch).contains("every column"), "{}", rejected(&watch));
}

#[test]
fn the_time_limit_holds_for_start_and_search_together() {
    let model = knapsack(100);
    let start = Start::Partial((0..30).map(|item| (item, 0.0)).collect());
    let options = Options::new().time_limit_s(1.5).relative_gap(0.0).set("mip_max_start_nodes", 1_000_000);
    let mut watch = Recorder::default();
    let solution = solve_here(&model, &options, &start, &mut watch).unwrap();
    assert_eq!(solution.status, Status::TimeLimit);
    // Once for the restricted problem and once for the whole one would be 3 s.
    assert!(solution.elapsed_s < 2.8, "{} s", solution.elapsed_s);
}

/// Hands in a point as soon as it is asked.
struct Helper {
    point: Option<Vec<f64>>,
    heard: Vec<(f64, char)>,
}

impl SolverListener for Helper {
    fn event(&mut self, event: &SolverEvent) -> Flow {
        if let SolverEvent::Incumbent { objective, source, .. } = event {
            self.heard.push((*objective, *source));
        }
        Flow::Continue
    }

    fn better(&mut self) -> Option<Vec<f64>> {
        self.point.take()
    }
}

#[test]
fn a_better_point_from_elsewhere_is_taken_while_the_search_runs() {
    let model = knapsack(35);
    let options = Options::new().relative_gap(0.0);
    let optimal = solve_here(&model, &options, &Start::None, &mut NoListener).unwrap();
    let point: Vec<f64> = optimal.values.unwrap().iter().map(|value| value.round()).collect();
    let objective = model.objective(&point);
    let mut helper = Helper { point: Some(point), heard: Vec::new() };
    let solution = solve_here(&model, &options, &Start::None, &mut helper).unwrap();
    assert_eq!(helper.point, None, "it was asked for");
    assert!(helper.heard.contains(&(objective, 'X')), "{:?}", helper.heard);
    assert_eq!(helper.heard.iter().filter(|(_, source)| *source == 'X').count(), 1);
    assert!((solution.objective.unwrap() - objective).abs() < 1e-6);
}

#[test]
fn a_point_that_breaks_a_row_is_not_taken() {
    let model = knapsack(20);
    for point in [vec![1.0; 20], vec![0.0; 7], vec![f64::NAN; 20]] {
        let mut helper = Helper { point: Some(point), heard: Vec::new() };
        let solution = solve_here(&model, &Options::new(), &Start::None, &mut helper).unwrap();
        assert!(helper.heard.iter().all(|(_, source)| *source != 'X'));
        assert_eq!(model.first_broken(&solution.values.unwrap(), 1e-6), None);
    }
}
