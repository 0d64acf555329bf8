use super::*;

fn small() -> Model {
    let mut model = Model::new("small");
    let x = model.integer("x", 0.0, 4.0, -1.0);
    let y = model.column("y", 0.0, f64::INFINITY, -2.0);
    model.at_most("both", 5.0, [(x, 1.0), (y, 1.0), (x, 1.0)]);
    model
}

#[test]
fn terms_of_one_column_are_added_up() {
    let model = small();
    assert_eq!(model.terms(Row(0)).collect::<Vec<_>>(), [(Column(0), 2.0), (Column(1), 1.0)]);
    assert_eq!(model.size(), Size { columns: 2, rows: 1, nonzeros: 2, integers: 1 });
}

#[test]
fn the_objective_has_constant_and_quadratic_part() {
    let mut model = small();
    model.offset = 10.0;
    model.quadratic =
        Some(Quadratic { starts: vec![0, 2], indices: vec![0, 1, 1], values: vec![2.0, 1.0, 4.0] });
    // 10 - 2 - 2*3 + (2*4/2 + 1*2*3 + 4*9/2)
    assert_eq!(model.objective(&[2.0, 3.0]), 30.0);
}

#[test]
fn the_first_broken_thing_is_named() {
    let model = small();
    assert_eq!(model.first_broken(&[2.0, 1.0], 1e-9), None);
    let broken = model.first_broken(&[2.5, 0.0], 1e-6).expect("fractional");
    assert_eq!(broken.to_string(), "x is 2.5, not a whole number");
    let broken = model.first_broken(&[3.0, 1.0], 1e-6).expect("too much");
    assert_eq!(broken.to_string(), "both is 7, above its upper bound 5");
    assert!(model.first_broken(&[f64::NAN, 0.0], 1e-6).is_some());
}

#[test]
fn terms_of_long_rows_are_added_up_too() {
    let mut model = Model::new("long");
    let columns: Vec<Column> =
        (0..100).map(|column| model.column(format!("x{column}"), 0.0, 1.0, 0.0)).collect();
    let twice = columns.iter().chain(columns.iter().rev()).map(|column| (*column, f64::from(column.0) + 1.0));
    model.row("all", 0.0, 1.0, twice);
    let terms: Vec<_> = model.terms(Row(0)).collect();
    assert_eq!(
        terms,
        columns.iter().map(|column| (*column, 2.0 * f64::from(column.0) + 2.0)).collect::<Vec<_>>()
    );
}
