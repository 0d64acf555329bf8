//! Convex quadratic objectives.

use lightbay_highs::error::Error;
use lightbay_highs::event::NoListener;
use lightbay_highs::instance::{Instance, solve_here};
use lightbay_highs::model::Model;
use lightbay_highs::options::Options;
use lightbay_highs::solution::{Start, Status};

/// (x - 1)^2 + (y - 2)^2 with x + y <= 2.
fn near_a_point() -> Model {
    let mut model = Model::new("near a point");
    let x = model.column("x", f64::NEG_INFINITY, f64::INFINITY, -2.0);
    let y = model.column("y", f64::NEG_INFINITY, f64::INFINITY, -4.0);
    model.offset = 5.0;
    model.at_most("sum", 2.0, [(x, 1.0), (y, 1.0)]);
    model.set_quadratic([(0, 0, 2.0), (1, 1, 2.0)]);
    model
}

#[test]
fn the_nearest_point_of_a_half_plane_is_found() {
    for maximise in [false, true] {
        let mut model = near_a_point();
        if maximise {
            model.maximise = true;
            model.offset = -model.offset;
            model.costs.iter_mut().for_each(|cost| *cost = -*cost);
            model.set_quadratic([(0, 0, -2.0), (1, 1, -2.0)]);
        }
        let solution = solve_here(&model, &Options::new(), &Start::None, &mut NoListener).unwrap();
        assert_eq!(solution.status, Status::Optimal);
        let values = solution.values.unwrap();
        assert!((values[0] - 0.5).abs() < 1e-6 && (values[1] - 1.5).abs() < 1e-6, "{values:?}");
        let sign = if maximise { -1.0 } else { 1.0 };
        assert!((solution.objective.unwrap() - sign * 0.5).abs() < 1e-6);
        assert!((solution.bound.unwrap() - sign * 0.5).abs() < 1e-6);
    }
}

#[test]
fn entries_off_the_diagonal_count_twice() {
    // x^2 + xy + y^2 - 3x - 3y: both are 1.
    let mut model = Model::new("coupled");
    model.column("x", -9.0, 9.0, -3.0);
    model.column("y", -9.0, 9.0, -3.0);
    model.set_quadratic([(1, 0, 0.5), (0, 1, 0.5), (0, 0, 2.0), (1, 1, 2.0)]);
    let solution = solve_here(&model, &Options::new(), &Start::None, &mut NoListener).unwrap();
    let values = solution.values.unwrap();
    assert!((values[0] - 1.0).abs() < 1e-6 && (values[1] - 1.0).abs() < 1e-6, "{values:?}");
    assert!((solution.objective.unwrap() + 3.0).abs() < 1e-6);
}

fn refused(model: &Model) -> String {
    match Instance::new(model) {
        Err(Error::Quadratic(why)) => why,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("accepted"),
    }
}

#[test]
fn what_is_not_convex_is_refused_by_name() {
    let mut model = near_a_point();
    model.set_quadratic([(0, 0, 2.0), (1, 1, -1.0)]);
    assert!(refused(&model).contains("not convex in the direction of 'y'"));
    // Indefinite with a positive diagonal: 1 4 1.
    model.set_quadratic([(0, 0, 2.0), (0, 1, 4.0), (1, 1, 2.0)]);
    assert!(refused(&model).contains("'y'"));
    // A product alone is a saddle.
    model.set_quadratic([(0, 1, 1.0)]);
    assert!(refused(&model).contains("'x'"));
    model.set_quadratic([(0, 0, 2.0)]);
    model.maximise = true;
    assert!(refused(&model).contains("not concave in the direction of 'x'"));
}

#[test]
fn a_square_of_a_sum_is_convex() {
    // (x + y)^2 has a zero eigenvalue.
    let mut model = near_a_point();
    model.set_quadratic([(0, 0, 2.0), (0, 1, 2.0), (1, 1, 2.0)]);
    assert_eq!(model.check(), Ok(()));
    // Separable, ten thousand columns: checked at once.
    let mut model = Model::new("wide");
    for column in 0..10_000 {
        model.column(format!("x{column}"), 0.0, 1.0, -1.0);
    }
    model.set_quadratic((0..10_000).map(|column| (column, column, 1.0)));
    assert_eq!(model.check(), Ok(()));
}

#[test]
fn whole_columns_beside_it_are_refused() {
    let mut model = near_a_point();
    model.domains[0] = lightbay_highs::model::Domain::Integer;
    assert!(refused(&model).contains("integer columns"));
}
