//! Options: what is set reaches the solver, what is wrong is named.

use crate::models::{Recorder, flows, knapsack, two_products};
use lightbay_highs::error::Error;
use lightbay_highs::event::NoListener;
use lightbay_highs::instance::{Instance, solve_here};
use lightbay_highs::options::{OptionValue, Options, has_hipo};
use lightbay_highs::solution::Start;

fn refuse(name: &str, value: impl Into<OptionValue>) -> String {
    let mut instance = Instance::new(&two_products()).unwrap();
    let error = instance.apply(&Options::new().set(name, value)).unwrap_err();
    assert!(matches!(error, Error::UnknownOption { .. } | Error::OptionValue { .. }), "{error}");
    let message = error.to_string();
    assert!(message.contains(&format!("'{name}'")), "{message}");
    message
}

#[test]
fn an_unknown_option_is_named_with_the_nearest_one() {
    assert!(refuse("mip_relgap", 0.1).contains("did you mean 'mip_rel_gap'?"));
    assert!(refuse("Threads", 1).contains("did you mean 'threads'?"));
    assert!(refuse("colour of the sky", 1).contains("see the list"));
    assert!(refuse("", 1).contains("see the list"));
    assert!(refuse("thre\0ads", 1).contains("threads"));
}

#[test]
fn a_wrong_value_is_named_with_what_is_valid() {
    assert!(refuse("threads", -1).contains("whole numbers from 0 to"));
    assert!(refuse("threads", "two").contains("whole numbers from 0 to"));
    assert!(refuse("mip_rel_gap", -0.5).contains("numbers from 0.0 to inf"));
    assert!(refuse("mip_rel_gap", f64::NAN).contains("numbers from 0.0"));
    assert!(refuse("mip_rel_gap", true).contains("'true'"));
    assert!(refuse("presolve", "perhaps").contains("off, choose, on"));
    assert!(refuse("presolve", 1).contains("off, choose, on"));
    assert!(refuse("output_flag", "on").contains("true or false"));
    assert!(refuse("solver", "guess").contains("ipx"));
    assert!(refuse("log_to_console", true).contains("terminal"));
    assert!(refuse("log_file", "solver.log").contains("not write files"));
    assert!(refuse("min_start_share", 3.0).contains("0 to 1"));
}

#[test]
fn options_reach_the_solver() {
    let cold = solve_here(&flows(12, 10), &Options::new(), &Start::None, &mut NoListener).unwrap();
    let options = Options::new().set("simplex_iteration_limit", 5).set("presolve", "off");
    let short = solve_here(&flows(12, 10), &options, &Start::None, &mut NoListener).unwrap();
    assert!(short.simplex_iterations <= 5 && cold.simplex_iterations > 5);
    // A whole number is a number.
    let options = Options::new().set("time_limit", 50);
    assert!(solve_here(&two_products(), &options, &Start::None, &mut NoListener).is_ok());
    let options = Options::new().set("output_flag", false);
    let mut watch = Recorder::default();
    solve_here(&knapsack(20), &options, &Start::None, &mut watch).unwrap();
    assert_eq!(watch.lines(), Vec::<&str>::new());
    assert!(!watch.points().is_empty(), "points come without a log");
}

#[test]
fn the_later_value_of_a_name_wins() {
    let options = Options::new().set("presolve", "off").set("presolve", "on");
    assert_eq!(options.get("presolve"), Some(&OptionValue::Text("on".to_owned())));
    let mut watch = Recorder::default();
    solve_here(&flows(12, 4), &options, &Start::None, &mut watch).unwrap();
    assert!(watch.lines().iter().any(|line| line.starts_with("Presolve reductions")));
}

#[test]
fn the_method_that_needs_a_library_is_used_or_refused() {
    let simplex = solve_here(&flows(12, 4), &Options::new(), &Start::None, &mut NoListener).unwrap();
    let mut instance = Instance::new(&flows(12, 4)).unwrap();
    let applied = instance.apply(&Options::new().set("solver", "hipo"));
    assert_eq!(applied.is_ok(), has_hipo(), "{applied:?}");
    if let Err(error) = applied {
        assert!(matches!(error, Error::OptionValue { .. }), "{error:?}");
        let message = error.to_string();
        assert!(message.contains("'solver'") && message.contains("libhighs_extras"), "{message}");
    }
    // Refused or not, the instance solves: by the method where there is one, else as if nothing had been asked.
    let solution = instance.run(&mut NoListener).unwrap();
    assert_eq!(solution.ipm_iterations > 0, has_hipo());
    let [found, wanted] = [&solution, &simplex].map(|solution| solution.objective.unwrap());
    assert!((found - wanted).abs() <= 1e-6 * wanted.abs(), "{found} {wanted}");
}
