//! Running time and accuracy of predictions, by experts, and of the traces that they are judged on.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)] // a table is the point; a failed unwrap ends it

use lightbay_moe::MoeScenario;
use lightbay_moe::predict::accuracy::{Predictor, accuracy};
use lightbay_moe::predict::passage::{FitSettings, PassageFit};
use lightbay_moe::predict::rolling::RollingPassage;
use lightbay_moe::scenario::trace::GateHistory;
use lightbay_moe::scenario::{GateTrace, MoeModel, MoeModelChoice, MoeModelPreset, SyntheticTrace, presets};
use std::hint::black_box;
use std::time::Instant;

/// Seeds of the traces that accuracies are means over.
const SEEDS: u64 = 12;
/// Iterations that are predicted in each.
const JUDGED: u32 = 200;

/// A trace with one layer after the first.
fn scenario(experts: u32, ranks: u32, seed: u64, iteration: u32) -> MoeScenario {
    let shape = MoeModelChoice::Preset(MoeModelPreset::Mixtral8x7b).shape();
    let shape = MoeModel { layers: 2, pp: 1, experts, ep: ranks, tp: 1, ..shape };
    let mut scenario = presets::of(MoeModelChoice::Own(shape), 512);
    scenario.trace = GateTrace::Synthetic(SyntheticTrace { iteration, seed, ..SyntheticTrace::default() });
    scenario
}

/// The sums of one window.
fn sums(history: &GateHistory, settings: &FitSettings) -> PassageFit {
    let mut fit = PassageFit::new(history.experts, settings.ridge_for(history.experts));
    let last = history.iterations - 1;
    for at in last - settings.window..last {
        fit.observe(history.load(at, 0), history.load(at, 1), settings.weight(last - 1 - at));
    }
    fit
}

/// Milliseconds that this thread worked.
fn cpu_ms() -> f64 {
    let words = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    words.split(' ').next().and_then(|word| word.parse::<f64>().ok()).unwrap_or(0.0) / 1e6
}

fn times(experts: u32) {
    let settings = FitSettings::default();
    let history = scenario(experts, experts, 1, 600).history(150);
    let fit = sums(&history, &settings);
    let repeats = 400;
    let began = cpu_ms();
    let mut steps = 0;
    for _ in 0..repeats {
        let mut passage = fit.even();
        steps = fit.solve(&mut passage);
        black_box(&passage);
    }
    let fresh_ms = (cpu_ms() - began) / f64::from(repeats);
    let mut rolling = RollingPassage::new(&history, 1, &settings);
    black_box(rolling.expected(settings.window));
    let began = cpu_ms();
    let next = settings.window + 1..history.iterations;
    let count = next.len() as f64;
    for at in next {
        black_box(rolling.expected(at));
    }
    let next_ms = (cpu_ms() - began) / count;
    let goal = if experts == 64 { " (goal under 2; prototype 8 to 27)" } else { "" };
    println!("figure: fit of {experts} experts, ms: {fresh_ms:.3}{goal}");
    println!(
        "figure: fit of {experts} experts, started from the fit of the previous iteration, ms: {next_ms:.3}"
    );
    println!("{experts} experts: {steps} steps, {fresh_ms:.3} ms, and {next_ms:.3} ms for the next");
}

/// Mean and standard deviation over seeds.
fn spread(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (mean, (squares / (values.len() as f64 - 1.0)).sqrt())
}

fn accuracies(experts: u32, ranks: u32, iteration: u32) {
    let settings = FitSettings::default();
    let histories: Vec<GateHistory> =
        (1..=SEEDS).map(|seed| scenario(experts, ranks, seed, iteration).history(JUDGED + 50)).collect();
    for (name, predictor) in Predictor::ALL {
        let found = histories.iter().filter_map(|history| accuracy(predictor, history, 1, 50, &settings));
        let rows: Vec<[f64; 4]> = found.map(|one| [one.top[0], one.top[1], one.top[2], one.l1]).collect();
        let of = |at: usize| spread(&rows.iter().map(|row| row[at]).collect::<Vec<_>>());
        let text = [0, 1, 2, 3].map(&of).map(|(mean, sd)| format!("{mean:.3} ± {sd:.3}"));
        println!("{experts} experts, {ranks} ranks, to iteration {iteration}, {name}: {}", text.join(", "));
        if predictor == Predictor::Copilot && ranks == experts.min(16) {
            println!("figure: copilot of {experts} experts to iteration {iteration}, top 1: {:.3}", of(0).0);
            println!("figure: copilot of {experts} experts to iteration {iteration}, top 4: {:.3}", of(2).0);
            println!("figure: copilot of {experts} experts to iteration {iteration}, L1: {:.3}", of(3).0);
        }
    }
}

fn main() {
    let began = Instant::now();
    black_box(scenario(8, 8, 1, 1999).history_at(1999, 1999));
    println!("figure: 2000 iterations of a trace, s: {:.3} (goal under 5)", began.elapsed().as_secs_f64());
    for experts in [8, 16, 64] {
        times(experts);
    }
    for (experts, ranks) in [(8, 8), (16, 16), (64, 16), (64, 64)] {
        for iteration in [300, 600, 2000] {
            accuracies(experts, ranks, iteration);
        }
    }
}
