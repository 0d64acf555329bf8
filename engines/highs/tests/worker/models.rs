//! Models for the tests and measurements of the helper process.
#![allow(dead_code, reason = "the measurements use a part")]

use lightbay_highs::model::Model;

/// Numbers that look random and are the same everywhere: the generator of D. Knuth's MMIX.
pub struct Noise(u64);

impl Noise {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// Cover every row with columns at least cost. All columns at 1 are feasible.
pub fn covering(rows: u64, columns: u64, per_row: u64) -> Model {
    let mut noise = Noise::new(1);
    let mut model = Model::new("covering");
    let all: Vec<_> = (0..columns)
        .map(|number| model.binary(format!("x{number}"), 10.0 + noise.below(1000) as f64))
        .collect();
    for row in 0..rows {
        let terms: Vec<_> =
            (0..per_row).map(|_| (all[noise.below(columns) as usize], 1.0 + noise.below(3) as f64)).collect();
        model.at_least(format!("row{row}"), 2.0, terms);
    }
    model
}

/// A model whose first relaxation takes far longer than any test: minutes.
pub fn endless() -> Model {
    covering(8_000, 8_000, 40)
}

/// Choose things of greatest value within a weight: solved at once. The best is 60 + 100, weight 30.
pub fn knapsack() -> Model {
    let mut model = Model::new("knapsack");
    model.maximise = true;
    let things = [(60.0, 10.0), (100.0, 20.0), (120.0, 45.0)];
    let columns: Vec<_> = things
        .iter()
        .enumerate()
        .map(|(number, (value, weight))| (model.binary(format!("thing {number}"), *value), *weight))
        .collect();
    model.at_most("weight", 50.0, columns);
    model
}
