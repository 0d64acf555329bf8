//! Models that are none.

use crate::models::two_products;
use lightbay_highs::conflict::conflict_of;
use lightbay_highs::error::Error;
use lightbay_highs::event::NoListener;
use lightbay_highs::instance::{Instance, solve_here};
use lightbay_highs::model::Model;
use lightbay_highs::options::Options;
use lightbay_highs::solution::{Start, Status};

fn refused(spoil: impl FnOnce(&mut Model)) -> String {
    let mut model = two_products();
    spoil(&mut model);
    match Instance::new(&model) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("accepted"),
    }
}

#[test]
fn numbers_that_are_none_are_named() {
    assert!(refused(|model| model.costs[1] = f64::NAN).contains("the cost of 'y' is NaN"));
    assert!(refused(|model| model.costs[1] = f64::INFINITY).contains("the cost of 'y' is inf"));
    assert!(refused(|model| model.lower[0] = f64::NAN).contains("a bound of 'x'"));
    assert!(refused(|model| model.lower[0] = f64::INFINITY).contains("the bounds of 'x'"));
    assert!(refused(|model| model.row_upper[1] = f64::NAN).contains("a bound of 'stock'"));
    assert!(refused(|model| model.values[3] = f64::NAN).contains("the coefficient of 'y' in 'stock' is NaN"));
    assert!(refused(|model| model.offset = f64::NAN).contains("constant"));
}

#[test]
fn arrays_that_do_not_fit_are_named() {
    assert!(refused(|model| model.lower.clear()).contains("'lower bounds of columns' has 0 values"));
    assert!(refused(|model| model.row_names.clear()).contains("'names of rows' has 0 values"));
    assert!(refused(|model| model.values.clear()).contains("'entries'"));
    assert!(
        refused(|model| model.indices[0] = 9).contains("'hours' names column 9, but the model has 2 columns")
    );
    assert!(refused(|model| model.indices[1] = 0).contains("'hours' names 'x' twice"));
    assert!(refused(|model| model.starts[1] = 99).contains("end before they begin"));
    assert!(refused(|model| model.starts[0] = 1).contains("first row"));
    assert!(
        refused(|model| {
            model.set_quadratic([(0, 0, 1.0)]);
            model.quadratic.as_mut().unwrap().starts.pop();
        })
        .contains("quadratic")
    );
}

#[test]
fn crossed_bounds_are_infeasible_not_an_error() {
    let mut model = two_products();
    model.lower[0] = 4.0;
    let solution = solve_here(&model, &Options::new(), &Start::None, &mut NoListener).unwrap();
    assert_eq!(solution.status, Status::Infeasible);
    let conflict = conflict_of(&model, 10.0).unwrap().unwrap();
    assert_eq!(conflict.to_string(), "4 <= x <= 3");
}

#[test]
fn errors_cross_processes() {
    let error = Error::OptionValue { name: "a".into(), value: "b".into(), allowed: "c".into() };
    let bytes = postcard::to_stdvec(&error).unwrap();
    assert_eq!(postcard::from_bytes::<Error>(&bytes).unwrap(), error);
}
