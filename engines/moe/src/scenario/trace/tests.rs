//! Statistics of drawn traces.

use super::super::presets;
use super::super::shapes::{MoeModel, MoeModelChoice};
use super::*;

/// 8 experts on 8 ranks, two layers.
fn eight() -> MoeScenario {
    let shape = MoeModelChoice::Preset(super::super::MoeModelPreset::Mixtral8x7b).shape();
    presets::of(MoeModelChoice::Own(MoeModel { layers: 2, pp: 1, ..shape }), 64)
}

fn variation(load: &[f64]) -> f64 {
    let mean = load.iter().sum::<f64>() / load.len() as f64;
    let spread = load.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / load.len() as f64;
    spread.sqrt() / mean
}

/// Share of the busiest quarter of the pairs of rank and expert.
fn busiest_quarter(tokens: &[f64]) -> f64 {
    let mut sorted = tokens.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    sorted[..sorted.len() / 4].iter().sum::<f64>() / sorted.iter().sum::<f64>()
}

#[test]
fn loads_even_out_and_pairs_stay_uneven() {
    let scenario = eight();
    let history = scenario.history_at(1999, 1999);
    assert_eq!(history.iterations, 2000);
    let mean = |from: usize, to: usize| {
        (from..to).map(|at| variation(history.load(at, 1))).sum::<f64>() / (to - from) as f64
    };
    let (early, late) = (mean(0, 100), mean(1500, 2000));
    assert!(late < 0.5 * early, "{early} {late}");
    let quarter = (0..20).map(|at| busiest_quarter(scenario.history_at(1900 + 5 * at, 0).tokens(1)));
    let quarter = quarter.sum::<f64>() / 20.0;
    assert!(quarter > 0.35, "{quarter}");
}

#[test]
fn an_iteration_is_the_same_whatever_is_asked_for_beside_it() {
    let scenario = eight();
    let long = scenario.history_at(150, 120);
    let short = scenario.history_at(150, 3);
    assert_eq!(long.tokens, short.tokens);
    assert_eq!(long.load(118, 1), short.load(1, 1));
    assert_ne!(long.load(118, 1), short.load(2, 1));
    assert_ne!(scenario.history_at(151, 0).tokens, long.tokens);
}

#[test]
fn every_rank_sends_all_its_copies() {
    let scenario = eight();
    let shape = scenario.shape();
    let history = scenario.history(0);
    for layer in 0..2 {
        for row in history.tokens(layer).chunks(8) {
            assert!((row.iter().sum::<f64>() / shape.copies() - 1.0).abs() < 1e-12);
        }
        assert!((history.load(0, layer).iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}

#[test]
fn the_bridge_has_the_spread_of_the_plain_process() {
    // Without balancing and with hardly any fixed passage, the drift alone makes the loads of layer 1 uneven.
    let mut scenario = eight();
    let spread = |scenario: &mut MoeScenario, at: u32| {
        let mut sum = 0.0;
        for seed in 0..12 {
            scenario.trace = GateTrace::Synthetic(SyntheticTrace {
                seed,
                passage_std: 0.0,
                balance: 0.0,
                kappa: 1e6,
                ..SyntheticTrace::default()
            });
            sum += variation(scenario.history_at(at, 0).load(0, 1));
        }
        sum / 12.0
    };
    let (none, little, much) =
        (spread(&mut scenario, 0), spread(&mut scenario, 16), spread(&mut scenario, 600));
    assert!(none < 0.01 && little > 0.02 && much > 2.0 * little, "{none} {little} {much}");
}

#[test]
fn counts_of_one_row_are_shared_by_all_ranks() {
    let mut scenario = eight();
    let one = |layer, iteration| CountedMatrix {
        iteration,
        layer,
        tokens: vec![vec![4.0, 2.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]],
    };
    let counts = vec![one(0, 3), one(1, 3), one(0, 7), one(1, 7)];
    scenario.trace = GateTrace::Counts(CountedTrace { iteration: 7, counts });
    let history = scenario.history(100);
    assert_eq!((history.first, history.iterations), (3, 2));
    let copies = scenario.shape().copies();
    for row in history.tokens(1).chunks(8) {
        assert_eq!(row[..4], [0.5, 0.25, 0.125, 0.125].map(|share| share * copies));
    }
    assert_eq!(history.load(0, 0)[0], 0.5);
}

/// A token goes to different experts: with 8 of 8 experts per token, all loads are equal.
#[test]
fn no_expert_gets_more_tokens_than_there_are() {
    let shape = MoeModelChoice::Preset(super::super::MoeModelPreset::Mixtral8x7b).shape();
    for (top_k, most) in [(8, 0.125), (4, 0.25), (2, 0.5)] {
        let scenario = presets::of(MoeModelChoice::Own(MoeModel { layers: 2, pp: 1, top_k, ..shape }), 64);
        let history = scenario.history(3);
        for layer in 0..2 {
            for row in history.tokens(layer).chunks(8) {
                let sum: f64 = row.iter().sum();
                assert!((sum / scenario.shape().copies() - 1.0).abs() < 1e-12);
                assert!(row.iter().all(|tokens| *tokens <= sum * most * (1.0 + 1e-9)), "{row:?}");
            }
        }
    }
}
