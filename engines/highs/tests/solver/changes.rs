//! Models changed in place and solved again.

use crate::models::{Numbers, flows, knapsack, two_products};
use lightbay_highs::error::Error;
use lightbay_highs::event::NoListener;
use lightbay_highs::instance::{Instance, solve_here};
use lightbay_highs::model::{Column, Row};
use lightbay_highs::options::Options;
use lightbay_highs::solution::{Basis, Start, Status};
use proptest::prelude::*;

#[test]
fn a_second_run_needs_fewer_iterations() {
    let model = flows(16, 16);
    let mut instance = Instance::new(&model).unwrap();
    let cold = instance.run(&mut NoListener).unwrap().simplex_iterations;
    assert!(cold > 50, "{cold}");
    assert_eq!(instance.run(&mut NoListener).unwrap().simplex_iterations, 0);
    for column in (0..model.columns()).step_by(100) {
        instance.set_cost(Column(column as u32), model.costs[column] * 1.3).unwrap();
    }
    let warm = instance.run(&mut NoListener).unwrap().simplex_iterations;
    assert!(warm * 3 < cold, "{warm} after {cold}");
    let basis = instance.basis().unwrap();
    // Another instance of the same model has no basis of its own.
    let mut other = Instance::new(instance.model()).unwrap();
    assert_eq!(other.basis(), None);
    other.set_basis(&basis).unwrap();
    assert_eq!(other.run(&mut NoListener).unwrap().simplex_iterations, 0);
    assert!(instance.set_basis(&Basis::default()).is_err());
}

#[test]
fn the_time_limit_counts_from_the_beginning_of_each_run() {
    let mut instance = Instance::new(&knapsack(100)).unwrap();
    instance.apply(&Options::new().time_limit_s(0.2).relative_gap(0.0)).unwrap();
    let mut works = || {
        let solution = instance.run(&mut NoListener).unwrap();
        assert_eq!(solution.status, Status::TimeLimit);
        solution.nodes > 0 || solution.simplex_iterations > 0 || solution.values.is_some()
    };
    // A machine that stands still may take the time of some.
    assert_eq!((0..20).filter(|_| works()).take(2).count(), 2);
}

#[test]
fn columns_are_added_and_deleted() {
    let mut instance = Instance::new(&two_products()).unwrap();
    let (x, y) = (Column(0), Column(1));
    // max 3x + 2y: x <= 2 now, so y = 2.
    instance.set_bounds(x, 0.0, 2.0).unwrap();
    assert_eq!(instance.run(&mut NoListener).unwrap().objective, Some(10.0));
    // A product of 4 that uses the hours, a product of 1 that uses the stock.
    let added = [(4.0, vec![(Row(0), 1.0)]), (1.0, vec![(Row(1), 1.0)])];
    let first = instance.add_columns("new ", 0.0, 1.0, &added).unwrap();
    assert_eq!(first, Column(2));
    // Hours: 1 + x = 2 + y = 1. Stock: 2 + 3 + 1. So 4 + 6 + 2 + 1.
    assert_eq!(instance.run(&mut NoListener).unwrap().objective, Some(13.0));
    instance.set_cost(Column(3), 0.0).unwrap();
    assert_eq!(instance.run(&mut NoListener).unwrap().objective, Some(12.0));
    instance.delete_columns(&[y, Column(3)]).unwrap();
    assert_eq!(instance.model().column_names, ["x", "new 2"]);
    // x = 2 and the product of 4.
    assert_eq!(instance.run(&mut NoListener).unwrap().objective, Some(10.0));
}

#[test]
fn a_wrong_change_is_refused_and_changes_nothing() {
    let mut instance = Instance::new(&two_products()).unwrap();
    let before = instance.model().clone();
    assert!(matches!(instance.set_cost(Column(9), 1.0), Err(Error::Missing { .. })));
    assert!(matches!(instance.set_cost(Column(0), f64::NAN), Err(Error::Model(_))));
    assert!(instance.set_bounds(Column(0), f64::INFINITY, 1.0).is_err());
    assert!(instance.add_columns("z", 0.0, 1.0, &[(0.0, vec![(Row(1), 1.0), (Row(1), 1.0)])]).is_err());
    assert!(instance.add_columns("z", 0.0, 1.0, &[(0.0, vec![(Row(2), 1.0)])]).is_err());
    assert!(instance.add_columns("z", f64::NAN, 1.0, &[]).is_err());
    assert!(instance.add_columns("z", 0.0, 1.0, &[(0.0, vec![(Row(0), f64::INFINITY)])]).is_err());
    assert!(instance.delete_columns(&[Column(2)]).is_err());
    assert_eq!(instance.model(), &before);
    assert_eq!(instance.run(&mut NoListener).unwrap().objective, Some(11.0));
}

#[derive(Clone, Debug)]
enum Change {
    Cost(u32, f64),
    Bounds(u32, f64),
    AddColumns(u64),
    DropColumn(u32),
    Solve,
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (any::<u32>(), -9.0..9.0).prop_map(|(at, value)| Change::Cost(at, value)),
        (any::<u32>(), 0.0..9.0).prop_map(|(at, value)| Change::Bounds(at, value)),
        any::<u64>().prop_map(Change::AddColumns),
        any::<u32>().prop_map(Change::DropColumn),
        Just(Change::Solve),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn after_any_changes_the_instance_agrees_with_its_model(changes in prop::collection::vec(change(), 1..25)) {
        let mut instance = Instance::new(&two_products()).unwrap();
        for change in changes {
            let (rows, columns) = (instance.model().rows() as u32, instance.model().columns() as u32);
            match change {
                Change::Cost(at, value) if columns > 0 => instance.set_cost(Column(at % columns), value).unwrap(),
                Change::Bounds(at, value) if columns > 0 => {
                    instance.set_bounds(Column(at % columns), -value, value).unwrap();
                }
                Change::AddColumns(seed) => {
                    let mut numbers = Numbers(seed);
                    let mut column = || {
                        let entries = (0..rows).map(|at| (Row(at), (numbers.draw() % 3.0).floor())).collect();
                        (numbers.draw() % 7.0, entries)
                    };
                    let added: Vec<(f64, Vec<(Row, f64)>)> = (0..3).map(|_| column()).collect();
                    let first = instance.add_columns("many", 0.0, 2.0, &added).unwrap();
                    prop_assert_eq!(first, Column(columns));
                }
                Change::DropColumn(at) if columns > 1 => instance.delete_columns(&[Column(at % columns)]).unwrap(),
                Change::Solve => drop(instance.run(&mut NoListener).unwrap()),
                _ => {}
            }
        }
        instance.model().check().unwrap();
        let warm = instance.run(&mut NoListener).unwrap();
        let fresh = solve_here(instance.model(), &Options::new(), &Start::None, &mut NoListener).unwrap();
        // The point of an unbounded model is any point of it.
        prop_assert_eq!(warm.status == Status::Optimal, fresh.status == Status::Optimal);
        if fresh.status == Status::Optimal {
            let (warm, fresh) = (warm.objective.unwrap(), fresh.objective.unwrap());
            prop_assert!((warm - fresh).abs() < 1e-6 * fresh.abs().max(1.0), "{} {}", warm, fresh);
        }
    }
}
