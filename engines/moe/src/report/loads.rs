//! Loads of experts over iterations, predicted and actual, and the accuracy of predictions.

use crate::plan::MoeResult;
use crate::predict::accuracy::{Predictor, accuracy, busiest};
use crate::predict::passage::FitSettings;
use crate::predict::rolling::RollingPassage;
use crate::scenario::MoeScenario;
use crate::scenario::trace::GateHistory;
use lightbay_core::clock::Deadline;
use lightbay_core::problem::counted;
use lightbay_core::report::{Cell, Column, Matrix, Phrase, Section, Table, Tone, Unavailable, Unit};

/// Number of iterations that are shown.
const SHOWN: usize = 20;
/// Number of iterations over which accuracies are averaged.
const JUDGED: usize = 20;
/// Number of busiest experts that are marked.
const MARKED: usize = 2;

/// Returns the layer that is shown: the first layer with predictions, if there is one.
fn layer(scenario: &MoeScenario) -> usize {
    usize::from(scenario.stage_layers() > 1)
}

/// Returns the ranks that hold each expert: from the placement of the plan, otherwise in blocks.
fn ranks_of(scenario: &MoeScenario, plan: Option<&MoeResult>, layer: usize, experts: usize) -> Vec<String> {
    let count = (scenario.shape().ep as usize).max(1);
    let placed = plan.and_then(|plan| plan.layers.get(layer)?.placement.as_ref());
    let blocks: Vec<u32> = (0..experts as u32).collect();
    let slots = placed.map_or(&blocks, |placed| &placed.physical_to_logical);
    let of_rank = slots.len().div_ceil(count).max(1);
    let mut ranks: Vec<Vec<usize>> = vec![Vec::new(); experts];
    for (slot, expert) in slots.iter().enumerate() {
        let rank = slot / of_rank;
        if let Some(known) = ranks.get_mut(*expert as usize).filter(|known| known.last() != Some(&rank)) {
            known.push(rank);
        }
    }
    let words = |ranks: &Vec<usize>| {
        let numbers: Vec<String> = ranks.iter().map(usize::to_string).collect();
        format!("rank {}", numbers.join(", "))
    };
    ranks.iter().map(words).collect()
}

/// Returns the mean share of every expert of a layer, over the iterations from `first`.
fn means(history: &GateHistory, first: usize, layer: usize) -> Vec<f64> {
    let mut means = vec![0.0; history.experts];
    let count = history.iterations.saturating_sub(first).max(1) as f64;
    for at in first..history.iterations {
        for (mean, load) in means.iter_mut().zip(history.load(at, layer)) {
            *mean += load / count;
        }
    }
    means
}

/// Returns the table of the two busiest experts of each layer, by the mean over the iterations from `first`.
fn hottest(history: &GateHistory, first: usize, scenario: &MoeScenario, plan: Option<&MoeResult>) -> Table {
    let columns = vec![
        Column::counts("layer", "layer"),
        Column::words("hottest", "hottest"),
        Column::words("ranks", "on"),
        Column::numbers("share", "tokens", Unit::PERCENT.with_decimals(1)),
        Column::words("next", "next"),
        Column::numbers("next_share", "tokens", Unit::PERCENT.with_decimals(1)),
        Column::numbers("to_mean", "hottest to mean", Unit::RATIO.with_decimals(2)).priority(1),
    ];
    let mut table = Table::new(["layer", "layers"], columns).bar(3);
    let experts = history.experts;
    for layer in 0..history.layers {
        let means = means(history, first, layer);
        let top = busiest(&means, 2);
        let [Some(&hot), next] = [top.first(), top.get(1)] else { continue };
        let ranks = ranks_of(scenario, plan, layer, experts);
        let next_of = |of: &dyn Fn(usize) -> Cell| next.map_or_else(Cell::none, |next| of(*next));
        table.row(vec![
            Cell::new(layer),
            Cell::new(format!("expert {hot}")),
            Cell::new(ranks[hot].clone()),
            Cell::new(means[hot]).tone(Tone::Answer),
            next_of(&|next| Cell::new(format!("expert {next}"))),
            next_of(&|next| Cell::new(means[next])),
            Cell::new(means[hot] * experts as f64),
        ]);
    }
    table
}

/// Returns a text on the iterations that a prediction uses.
fn window(settings: &FitSettings) -> String {
    counted(settings.window as u64, "iteration before", "iterations before")
}

/// Returns the section on the loads of the experts of one layer over the last iterations: actual, predicted, and their
/// difference.
pub(super) fn loads(
    scenario: &MoeScenario,
    plan: Option<&MoeResult>,
    settings: &FitSettings,
    deadline: Deadline,
) -> Result<Section, Unavailable> {
    let history = scenario.history((SHOWN + settings.window) as u32);
    let (layer, experts) = (layer(scenario), history.experts);
    let first = history.iterations.saturating_sub(SHOWN);
    let shown = first..history.iterations;
    let mut predicted = Vec::with_capacity(SHOWN);
    let mut passage = RollingPassage::new(&history, layer, settings);
    for at in shown.clone() {
        if deadline.is_over() {
            return Err(Unavailable::late(deadline));
        }
        predicted.push(passage.expected(at));
    }
    let mut sums = vec![0.0; experts];
    let mut blocks: [Vec<Cell>; 3] = Default::default();
    for expert in 0..experts {
        for (at, expected) in shown.clone().zip(&predicted) {
            let load = history.load(at, layer);
            let named = busiest(expected, MARKED).contains(&expert);
            let busy = busiest(load, MARKED).contains(&expert);
            let (actual, share) = (load[expert], expected[expert]);
            sums[expert] += actual;
            let tone = |marked| if marked { Tone::Answer } else { Tone::Text };
            blocks[0].push(Cell::new(actual).tone(tone(busy)));
            let missed = if named { Tone::Warn } else { Tone::Text };
            blocks[1].push(Cell::new(share).tone(if named && busy { Tone::Good } else { missed }));
            blocks[2].push(Cell::new(share - actual).tone(if named == busy {
                Tone::Text
            } else {
                Tone::Warn
            }));
        }
    }
    let rows: Vec<String> = (0..experts).map(|expert| format!("expert {expert}")).collect();
    let columns: Vec<String> = shown.map(|at| (history.first as usize + at).to_string()).collect();
    let ranks = ranks_of(scenario, plan, layer, experts);
    let words: Vec<Phrase> = ranks
        .iter()
        .zip(&sums)
        .map(|(ranks, sum)| {
            let mean = 100.0 * sum / columns.len().max(1) as f64;
            Phrase::new().text(format!("{mean:4.1} %")).muted(format!("  {ranks}"))
        })
        .collect();
    let [actual, share, error] = blocks;
    let matrix = |name, unit, cells| Matrix {
        name,
        unit,
        rows: rows.clone(),
        columns: columns.clone(),
        cells,
        symmetric: false,
        shaded: true,
        words: words.clone(),
        ..Matrix::default()
    };
    let percent = Unit::PERCENT.with_decimals(0);
    let of_layers: Vec<Vec<f64>> = (0..history.layers).map(|layer| means(&history, first, layer)).collect();
    let by_layer = Matrix {
        name: "mean_share",
        unit: percent,
        rows: rows.clone(),
        columns: (0..history.layers).map(|layer| format!("layer {layer}")).collect(),
        cells: (0..experts).flat_map(|at| of_layers.iter().map(move |means| Cell::new(means[at]))).collect(),
        shaded: true,
        ..Matrix::default()
    };
    let legend = format!(
        "% of the tokens by iteration, busiest brightest; bold: the {MARKED} busiest, * predicted wrongly; right: mean, ranks"
    );
    Ok(Section::empty("Expert loads")
        .context(format!("layer {layer}, by iteration; predicted from {}", window(settings)))
        .remark(format!(
            "The {MARKED} busiest experts of every iteration are marked; * marks a wrong prediction."
        ))
        .legend(legend)
        .block("actual", "Share of the tokens", matrix("share", percent, actual))
        .block("predicted", "Predicted share", matrix("predicted_share", percent, share))
        .on_screens("layers", "Busiest experts by layer, means", hottest(&history, first, scenario, plan))
        .block("error", "Predicted minus actual share", matrix("share_error", percent.signed(), error))
        .on_screens("by_layer", "", by_layer))
}

/// Returns the matrix of the errors of the predictors by layer, the largest brightest.
fn errors_by_layer(errors: &[Vec<Option<f64>>]) -> Matrix {
    let predictors = Predictor::ALL.len();
    let cell = |at: usize, errors: &Vec<Option<f64>>| {
        errors.get(at).copied().flatten().map_or_else(Cell::none, Cell::new)
    };
    Matrix {
        name: "l1",
        unit: Unit::RATIO.with_decimals(3),
        rows: Predictor::ALL.iter().map(|(name, _)| format!("{name}, L1")).collect(),
        columns: (1..=errors.len()).map(|layer| format!("layer {layer}")).collect(),
        cells: (0..predictors).flat_map(|at| errors.iter().map(move |errors| cell(at, errors))).collect(),
        shaded: true,
        ..Matrix::default()
    }
}

/// Returns the section on the accuracy of predictions by layer, compared with trivial baselines.
pub(super) fn predictor(
    scenario: &MoeScenario,
    settings: &FitSettings,
    deadline: Deadline,
) -> Result<Section, Unavailable> {
    let history = scenario.history((JUDGED + settings.window) as u32);
    let first = history.iterations.saturating_sub(JUDGED).max(1);
    let columns = vec![
        Column::counts("layer", "layer"),
        Column::words("predictor", "predictor"),
        Column::numbers("top_1", "of top 1", Unit::PERCENT.with_decimals(0)),
        Column::numbers("top_2", "of top 2", Unit::PERCENT.with_decimals(0)),
        Column::numbers("top_4", "of top 4", Unit::PERCENT.with_decimals(0)),
        Column::numbers("l1", "L1 error", Unit::RATIO.with_decimals(3)),
    ];
    let mut table = Table::new(["prediction", "predictions"], columns).overview(16);
    let mut worse = Vec::new();
    // Errors by layer, then predictor.
    let mut all_errors: Vec<Vec<Option<f64>>> = Vec::new();
    for layer in 1..history.layers {
        let mut errors = Vec::new();
        let mut by_predictor = Vec::new();
        for (name, predictor) in Predictor::ALL {
            if deadline.is_over() {
                return Err(Unavailable::late(deadline));
            }
            let found = accuracy(predictor, &history, layer, first, settings);
            by_predictor.push(found.as_ref().map(|found| found.l1));
            let Some(found) = found else { continue };
            errors.push(found.l1);
            let tone = if predictor == Predictor::Copilot { Tone::Answer } else { Tone::Text };
            let cells = found.top.map(|share| Cell::new(share).tone(tone));
            let [one, two, four] = cells;
            table.row(vec![
                Cell::new(layer),
                Cell::new(name),
                one,
                two,
                four,
                Cell::new(found.l1).tone(tone),
            ]);
        }
        if errors.iter().skip(1).any(|other| errors.first().is_some_and(|copilot| other < copilot)) {
            worse.push(layer.to_string());
        }
        all_errors.push(by_predictor);
    }
    if table.rows.is_empty() {
        return Err(Unavailable::absent(
            "the trace has no iteration before the planned one, or the stage has only one layer",
            "plan a later iteration of a model with several layers in a stage",
        ));
    }
    let judged = history.iterations.saturating_sub(first);
    let section = Section::empty("Predictor")
        .on_screens("errors", "", errors_by_layer(&all_errors))
        .block("", "", table)
        .context(
            Phrase::new()
                .muted(format!("means over {judged} iterations, each predicted from {}", window(settings))),
        )
        .legend("of top N: fraction of the N busiest experts that were predicted; L1: sum of absolute errors of the shares")
        .remark("Predictions cover only the load of each expert, not which rank sends to which expert.");
    Ok(if worse.is_empty() {
        section
    } else {
        section.remark(format!(
            "In layer {}, a trivial baseline has a smaller error than copilot.",
            worse.join(", ")
        ))
    })
}
