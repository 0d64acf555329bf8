//! Tests of the reasons that a model has no optimum.

use crate::models::{flows, two_products};
use lightbay_highs::conflict::{Conflict, Sides, conflict_of, sentence};
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
    let conflict = conflict_of(&model, 10.0).unwrap().unwrap();
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
    let conflict = conflict_of(&model, 10.0).unwrap().unwrap();
    assert!(!conflict.relaxed && conflict.minimal);
    assert_eq!(conflict.to_string(), "parity = 5 (in whole numbers)");
}

#[test]
fn a_feasible_model_has_no_conflict() {
    assert_eq!(conflict_of(&two_products(), 10.0).unwrap(), None);
    assert_eq!(conflict_of(&crate::models::knapsack(10), 10.0).unwrap(), None);
    assert_eq!(conflict_of(&Model::new("nothing"), 10.0).unwrap(), None);
}

#[test]
fn a_row_without_columns_is_in_conflict_by_itself() {
    let mut model = Model::new("nothing can be done");
    model.at_least("deliver", 1.0, []);
    for columns in 0..2 {
        let conflict = conflict_of(&model, 10.0).unwrap().unwrap();
        assert!(conflict.relaxed && conflict.minimal);
        assert_eq!(conflict.to_string(), "deliver >= 1", "{columns} columns");
        model.column("other", 0.0, 1.0, 0.0);
    }
}

#[test]
fn sentences_name_each_constraint_once_and_at_most_eight() {
    let conflict = Conflict { rows: Vec::new(), columns: Vec::new(), relaxed: true, minimal: true };
    let said = |words: &[&str]| sentence(words.iter().map(ToString::to_string), &conflict);
    assert_eq!(said(&["A"]), "A cannot hold");
    assert_eq!(said(&["A", "B", "A"]), "A and B cannot both hold");
    assert_eq!(said(&["A", "B", "C"]), "A, B and C cannot all hold");
    let ten = ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J"];
    assert_eq!(said(&ten), "A, B, C, D, E, F, G, H and 2 more constraints cannot all hold");
    let whole = Conflict { relaxed: false, minimal: false, ..conflict };
    let words = ["A".to_owned(), "B".to_owned()];
    assert_eq!(
        sentence(words, &whole),
        "A and B cannot both hold in whole numbers (a subset of these may already conflict)"
    );
}
