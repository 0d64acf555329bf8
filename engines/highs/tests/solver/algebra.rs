//! Models written in good_lp's algebra.

use good_lp::solvers::ObjectiveDirection;
use good_lp::{Expression, ProblemVariables, constraint, variable};
use lightbay_highs::error::Error;
use lightbay_highs::event::NoListener;
use lightbay_highs::instance::solve_here;
use lightbay_highs::model::{Column, Domain, Model, Row};
use lightbay_highs::options::Options;
use lightbay_highs::solution::Start;

#[test]
fn constant_names_wholeness_and_initial_values_are_kept() {
    let mut variables = ProblemVariables::new();
    let x = variables.add(variable().integer().min(0).max(7).name("circuits pod0-pod1").initial(2));
    let y = variables.add(variable().min(-1.5));
    let z = variables.add(variable().binary().name("open"));
    let objective = 3.0 * x + 2.0 * y + 40.0;
    let constraints = [
        constraint!(x + y + 1.0 <= 6.5 + z).set_name("ports of pod 0".to_owned()),
        constraint!(x - y >= -2.0),
        constraint!(2.0 * y == 1.0 + z),
    ];
    let algebra = Model::from_good_lp(
        "from algebra",
        &variables,
        ObjectiveDirection::Maximisation,
        objective.clone(),
        constraints,
    )
    .unwrap();
    let model = &algebra.model;
    assert!(model.maximise);
    assert_eq!(model.offset, 40.0);
    assert_eq!(model.costs, [3.0, 2.0, 0.0]);
    assert_eq!(model.lower, [0.0, -1.5, 0.0]);
    assert_eq!(model.upper, [7.0, f64::INFINITY, 1.0]);
    assert_eq!(model.domains, [Domain::Integer, Domain::Continuous, Domain::Integer]);
    assert_eq!(model.column_names, ["circuits pod0-pod1", "column 1", "open"]);
    assert_eq!(model.row_names, ["ports of pod 0", "row 1", "row 2"]);
    assert_eq!(model.row_upper, [5.5, 2.0, 1.0]);
    assert_eq!(model.row_lower, [f64::NEG_INFINITY, f64::NEG_INFINITY, 1.0]);
    let terms: Vec<_> = model.terms(Row(0)).collect();
    assert_eq!(terms, [(Column(0), 1.0), (Column(1), 1.0), (Column(2), -1.0)]);
    assert_eq!(algebra.start, Start::Partial(vec![(0, 2.0)]));
    assert_eq!(algebra.column(y), Some(Column(1)));
    // z = 1: y = 1, x <= 5.5 whole: 5; 15 + 2 + 40. z = 0: y = 0.5, x = 5: 15 + 1 + 40.
    let solution = solve_here(model, &Options::new(), &algebra.start, &mut NoListener).unwrap();
    let values = solution.values.unwrap();
    assert!((solution.objective.unwrap() - 57.0).abs() < 1e-6);
    assert!((algebra.value(objective, &values) - 57.0).abs() < 1e-6);
}

#[test]
fn a_variable_of_another_model_is_refused() {
    let mut variables = ProblemVariables::new();
    variables.add(variable());
    let mut others = ProblemVariables::new();
    others.add(variable());
    let stranger = others.add(variable());
    let error = Model::from_good_lp(
        "mixed",
        &variables,
        ObjectiveDirection::Minimisation,
        Expression::from(stranger),
        [],
    )
    .unwrap_err();
    assert!(matches!(error, Error::Model(_)));
}
