//! Tests of the reasons that a model has no optimum.

use crate::models::{flows, two_products};
use lightbay_highs::conflict::{Sides, conflict_of};
use lightbay_highs::event::NoListener;
use lightbay_highs::instance::Instance;
use lightbay_highs::model::Model;
use lightbay_highs::solution::Status;

#[test]
fn a_planted_conflict_is_found_among_many_rows() {
    let mut model = flows(12, 4);
    let (x, y) = (
        model.column("ports of pod 3", 0.0, 4.0, 0.0),
        model.column("ports of pod 4", 0.0, f64::INFINITY, 0.0),
    );
    model.at_least("circuits pod3-pod4", 6.0, [(x, 1.0), (y, -1.0)]);
    let mut instance = Instance::new(&model).unwrap();
    assert_eq!(instance.run(&mut NoListener).unwrap().status, Status::Infeasible);
    let conflict = instance.conflict().unwrap().unwrap();
    assert!(conflict.relaxed && conflict.minimal);
    assert_eq!(conflict.rows.len(), 1);
    assert_eq!(conflict.rows[0].name, "circuits pod3-pod4");
    assert_eq!(conflict.rows[0].sides, Sides::Lower);
    assert_eq!(conflict.to_string(), "circuits pod3-pod4 >= 6; ports of pod 3 <= 4; ports of pod 4 >= 0");
}

#[test]
fn rows_that_contradict_each_other_are_found() {
    let mut model = two_products();
    let [x, y] = [0, 1].map(lightbay_highs::model::Column);
    model.at_least("order", 3.5, [(y, 1.0)]);
    model.at_least("promise", 2.0, [(x, 1.0)]);
    // Hours: x + y <= 4, but 5.5 are promised.
    let conflict = conflict_of(&model, 10.0).unwrap().unwrap();
    let names: Vec<&str> = conflict.rows.iter().map(|party| party.name.as_str()).collect();
    let by_hours = ["hours", "order", "promise"];
    let by_stock = ["stock", "order", "promise"];
    assert!(
        names == by_hours || names == by_stock || names == ["stock", "order"],
        "3.5 * 3 is above 9, so the stock alone contradicts the order: {names:?}"
    );
    // Without any one of them the rest holds together.
    for party in &conflict.rows {
        let mut rest = Model { row_lower: model.row_lower.clone(), ..model.clone() };
        let kept: Vec<_> = conflict.rows.iter().map(|party| party.index).collect();
        for row in 0..rest.rows() {
            if !kept.contains(&(row as u32)) || row as u32 == party.index {
                rest.row_lower[row] = f64::NEG_INFINITY;
                rest.row_upper[row] = f64::INFINITY;
            }
        }
        assert_eq!(conflict_of(&rest, 10.0).unwrap(), None, "without {}", party.name);
    }
}

#[test]
fn a_conflict_of_whole_numbers_is_found_by_leaving_out_rows() {
    // 2x + 2y = 5 has no whole answer, but a fractional one.
    let mut model = Model::new("parity");
    let x = model.integer("x", 0.0, 10.0, 1.0);
    let y = model.integer("y", 0.0, 10.0, 1.0);
    for row in 0..7 {
        model.at_most(format!("room {row}"), 15.0 + f64::from(row), [(x, 1.0), (y, 1.0)]);
    }
    model.equal("parity", 5.0, [(x, 2.0), (y, 2.0)]);
    let conflict = Instance::new(&model).unwrap().conflict().unwrap().unwrap();
    assert!(!conflict.relaxed && conflict.minimal);
    assert_eq!(conflict.to_string(), "parity = 5 (in whole numbers)");
}

#[test]
fn a_feasible_model_has_no_conflict() {
    assert_eq!(Instance::new(&two_products()).unwrap().conflict().unwrap(), None);
    assert_eq!(conflict_of(&crate::models::knapsack(10), 10.0).unwrap(), None);
    assert_eq!(conflict_of(&Model::new("nothing"), 10.0).unwrap(), None);
}

#[test]
fn asking_for_a_conflict_keeps_the_basis() {
    let mut instance = Instance::new(&flows(12, 6)).unwrap();
    instance.run(&mut NoListener).unwrap();
    instance.conflict().unwrap();
    assert_eq!(instance.run(&mut NoListener).unwrap().simplex_iterations, 0);
}
