//! Model files written and read back.

use crate::models::{Numbers, knapsack, sites, two_products};
use lightbay_highs::event::NoListener;
use lightbay_highs::file::{ModelFormat, read, write};
use lightbay_highs::instance::solve_here;
use lightbay_highs::model::{Column, Domain, Model};
use lightbay_highs::options::Options;
use lightbay_highs::solution::Start;
use proptest::prelude::*;
use std::collections::HashSet;

const FORMATS: [ModelFormat; 2] = [ModelFormat::Mps, ModelFormat::Lp];

#[test]
fn names_are_spelled_for_other_solvers_and_lead_back() {
    let mut model = Model::new("names");
    for name in [
        "circuits pod0-pod1",
        "circuits pod0 pod1",
        "e5",
        "free",
        "3 ports",
        "größe",
        "",
        "CIRCUITS POD0-POD1",
    ] {
        model.column(name, 0.0, 1.0, 1.0);
    }
    model.at_most("flow lo", 3.0, (0..8).map(|column| (Column(column), 1.0)));
    model.at_most("flow", 3.0, (0..4).map(|column| (Column(column), 1.0)));
    for format in FORMATS {
        let file = write(&model, format).unwrap();
        let spelled: Vec<&str> = file.names.columns.iter().map(|name| name.file.as_str()).collect();
        assert_eq!(
            spelled,
            [
                "circuits_pod0_pod1",
                "circuits_pod0_pod1_1",
                "c_e5",
                "free_",
                "c_3_ports",
                "gr_e",
                "c",
                "CIRCUITS_POD0_POD1_7"
            ]
        );
        assert_eq!(file.names.rows[0].file, "flow_lo_");
        let read = read(&file.text, format).unwrap();
        let back: HashSet<&str> = read.column_names.iter().map(String::as_str).collect();
        assert_eq!(back, spelled.iter().copied().collect());
        let restored = file.names.restore(&read);
        assert_eq!(restored.column_names, model.column_names);
        assert_eq!(restored.row_names, model.row_names);
    }
}

#[test]
fn a_file_has_the_same_optimum() {
    for model in [two_products(), knapsack(15), sites(4, 5)] {
        let optimum = |model: &Model| {
            let options = Options::new().relative_gap(0.0);
            solve_here(model, &options, &Start::None, &mut NoListener).unwrap().objective.unwrap()
        };
        for format in FORMATS {
            let file = write(&model, format).unwrap();
            let read = read(&file.text, format).unwrap();
            assert!((optimum(&read) - optimum(&model)).abs() < 1e-6);
        }
    }
}

#[test]
fn what_a_format_cannot_say_is_an_error() {
    let mut model = two_products();
    model.lower[0] = 9.0;
    assert!(
        write(&model, ModelFormat::Mps)
            .unwrap_err()
            .to_string()
            .contains("the lower bound of 'x' is above its upper bound")
    );
    let mut model = two_products();
    model.domains[1] = Domain::SemiInteger;
    model.upper[1] = 9.0;
    assert!(write(&model, ModelFormat::Lp).unwrap_err().to_string().contains("use MPS"));
    model.domains[1] = Domain::SemiContinuous;
    let said = write(&model, ModelFormat::Lp).unwrap_err().to_string();
    assert!(said.contains("'y' is zero or between its bounds") && said.contains("use MPS"), "{said}");
    model.domains[1] = Domain::SemiInteger;
    assert_eq!(
        read(&write(&model, ModelFormat::Mps).unwrap().text, ModelFormat::Mps).unwrap().domains[1],
        Domain::SemiInteger
    );
    for format in FORMATS {
        let error = read(b"this is\nno model 3 < < x\n\xff\0", format).unwrap_err();
        assert!(error.to_string().starts_with("model file: "), "{error}");
    }
}

/// The dialect that CBC 2.10, GLPK 5.0, HiGHS 1.16 and SCIP 10 read alike: optimum 24.75 in all of them.
#[test]
fn an_lp_file_has_long_section_names_and_its_constant_as_a_column() {
    let mut model = Model::new("sites");
    let a = model.integer("open a", 0.0, 1.0, 3.0);
    let b = model.integer("open b", 0.0, 1.0, 4.0);
    let pieces = model.integer("pieces", 0.0, 7.0, 2.5);
    let rest = model.column("rest", 0.0, 4.0, 1.5);
    model.at_least("need", 13.5, [(a, 4.0), (b, 5.0), (pieces, 2.0), (rest, 1.0)]);
    model.at_most("one at most", 1.0, [(a, 1.0), (b, 1.0)]);
    model.at_most("share", 1.5, [(pieces, -1.0), (rest, 2.0)]);
    model.offset = 10.0;
    let file = write(&model, ModelFormat::Lp).unwrap();
    assert!(file.names.constant);
    let expected = "Minimize
 obj: 3 open_a + 4 open_b + 2.5 pieces + 1.5 rest + 10 constant_term
Subject To
 need: 4 open_a + 5 open_b + 2 pieces + 1 rest >= 13.5
 one_at_most: 1 open_a + 1 open_b <= 1
 share: -1 pieces + 2 rest <= 1.5
Bounds
 pieces <= 7
 rest <= 4
 constant_term = 1
Binaries
 open_a
 open_b
Generals
 pieces
End
";
    assert_eq!(String::from_utf8(file.text.clone()).unwrap(), expected);
    let read = read(&file.text, ModelFormat::Lp).unwrap();
    let solved = solve_here(&read, &Options::new().relative_gap(0.0), &Start::None, &mut NoListener).unwrap();
    assert_eq!(solved.objective, Some(24.75));
    same(&model, &file.names.restore(&read)).unwrap();
}

#[test]
fn an_lp_file_is_never_without_term_or_row_and_keeps_all_digits() {
    let mut model = Model::new("bare");
    let x = model.column("x", f64::NEG_INFINITY, 0.1 + 0.2, 0.0);
    let y = model.integer("y", 1.0, 1.0, 0.0);
    let file = write(&model, ModelFormat::Lp).unwrap();
    let text = String::from_utf8(file.text.clone()).unwrap();
    assert_eq!(
        text,
        "Minimize\n obj: 0 x + 0 y + 0 constant_term\nSubject To\n r_none: constant_term = 1\nBounds\n \
         -inf <= x <= 0.30000000000000004\n y = 1\n constant_term = 1\nGenerals\n y\nEnd\n"
    );
    let restored = file.names.restore(&read(&file.text, ModelFormat::Lp).unwrap());
    assert_eq!((restored.columns(), restored.rows(), restored.upper[0]), (2, 0, 0.1 + 0.2));
    // A range is two rows, a row without bounds none, and a name of the file itself is spelled otherwise.
    model.row("range", -1.0, 2e-7, [(x, 1.0), (y, -2.5e20)]);
    model.row("loose", f64::NEG_INFINITY, f64::INFINITY, [(x, 1.0)]);
    model.integer("constant_term", 0.0, 1.0, 1.0);
    let text = String::from_utf8(write(&model, ModelFormat::Lp).unwrap().text).unwrap();
    assert!(text.contains(" rangelo: 1 x - 2.5e20 y >= -1\n rangeup: 1 x - 2.5e20 y <= 2e-7\n"), "{text}");
    assert!(!text.contains("loose") && text.contains("Binaries\n constant_term_\n"), "{text}");
}

fn model() -> impl Strategy<Value = Model> {
    (any::<u64>(), 1_u32..7, 0_u32..6, any::<bool>(), any::<bool>()).prop_map(
        |(seed, columns, rows, maximise, quadratic)| {
            let mut numbers = Numbers(seed);
            let mut model = Model::new("model");
            model.maximise = maximise;
            model.offset = if seed % 3 == 0 { 0.0 } else { numbers.draw() / 8.0 - 50.0 };
            for column in 0..columns {
                let low = numbers.draw().rem_euclid(20.0) - 10.0;
                let high = low + numbers.draw().rem_euclid(12.0);
                let (lower, upper) = match numbers.draw() as u32 % 6 {
                    0 => (f64::NEG_INFINITY, f64::INFINITY),
                    1 => (f64::NEG_INFINITY, high),
                    2 => (low, f64::INFINITY),
                    3 => (0.0, f64::INFINITY),
                    4 => (0.0, 1.0),
                    _ => (low, high),
                };
                let domain =
                    if !quadratic && numbers.draw() < 500.0 { Domain::Integer } else { Domain::Continuous };
                let cost = if numbers.draw() < 300.0 { 0.0 } else { numbers.draw() / 16.0 - 30.0 };
                model.column_of(domain, format!("x {column}"), lower, upper, cost);
            }
            for row in 0..rows {
                let low = numbers.draw() / 4.0 - 100.0;
                let (lower, upper) = match numbers.draw() as u32 % 4 {
                    0 => (low, f64::INFINITY),
                    1 => (f64::NEG_INFINITY, low),
                    2 => (low, low),
                    _ => (low, low + 1.0 + numbers.draw()),
                };
                let mut terms: Vec<(Column, f64)> = (0..columns)
                    .map(|column| (Column(column), ((numbers.draw() as i32 % 7) - 3) as f64 * 0.5))
                    .collect();
                terms[0].1 = 1.0;
                model.row(format!("row {row}"), lower, upper, terms);
            }
            if quadratic {
                let sign = if maximise { -1.0 } else { 1.0 };
                let mut entries: Vec<(u32, u32, f64)> = (0..columns)
                    .map(|column| (column, column, sign * (4.0 + numbers.draw() / 100.0)))
                    .collect();
                if columns > 1 {
                    entries.push((0, columns - 1, 1.5));
                }
                model.set_quadratic(entries);
            }
            model
        },
    )
}

/// The same but for rounding in the last of 15 digits, and for the order of terms in a row.
fn same(one: &Model, other: &Model) -> Result<(), String> {
    let near = |one: f64, other: f64| one == other || (one - other).abs() <= 1e-12 * one.abs().max(1.0);
    let all = |one: &[f64], other: &[f64]| {
        one.len() == other.len() && one.iter().zip(other).all(|(one, other)| near(*one, *other))
    };
    let sorted = |model: &Model, row: u32| {
        let mut terms: Vec<_> = model.terms(lightbay_highs::model::Row(row)).collect();
        terms.sort_by_key(|(column, _)| *column);
        terms
    };
    if one.maximise != other.maximise || !near(one.offset, other.offset) {
        return Err("sense or constant".to_owned());
    }
    for (what, fits) in [
        ("costs", all(&one.costs, &other.costs)),
        ("lower bounds", all(&one.lower, &other.lower)),
        ("upper bounds", all(&one.upper, &other.upper)),
        ("lower sides", all(&one.row_lower, &other.row_lower)),
        ("upper sides", all(&one.row_upper, &other.row_upper)),
        ("domains", one.domains == other.domains),
        ("names", one.column_names == other.column_names && one.row_names == other.row_names),
        (
            "quadratic part",
            match (&one.quadratic, &other.quadratic) {
                (Some(one), Some(other)) => {
                    one.starts == other.starts
                        && one.indices == other.indices
                        && all(&one.values, &other.values)
                }
                (one, other) => one == other,
            },
        ),
    ] {
        if !fits {
            return Err(format!("{what}:\n{one:?}\n{other:?}"));
        }
    }
    for row in 0..one.rows() as u32 {
        if sorted(one, row) != sorted(other, row) {
            return Err(format!("row {row}:\n{one:?}\n{other:?}"));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_model_survives_the_way_through_a_file(model in model()) {
        for format in FORMATS {
            let file = write(&model, format).unwrap();
            let restored = file.names.restore(&read(&file.text, format).unwrap());
            let verdict = same(&model, &restored);
            prop_assert!(
                verdict.is_ok(),
                "{format:?}: {}\n{}",
                verdict.unwrap_err(),
                String::from_utf8_lossy(&file.text)
            );
        }
    }
}
