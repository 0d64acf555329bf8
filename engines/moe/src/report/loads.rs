//! Loads of experts over iterations, predicted and actual, and how often predictions are right.

use crate::predict::accuracy::{Predictor, accuracy, busiest};
use crate::predict::passage::FitSettings;
use crate::predict::rolling::RollingPassage;
use crate::scenario::MoeScenario;
use lightbay_core::clock::Deadline;
use lightbay_core::problem::counted;
use lightbay_core::report::{Cell, Column, Matrix, Phrase, Section, Table, Tone, Unavailable, Unit};

/// Iterations that are shown.
const SHOWN: usize = 24;
/// Iterations that accuracies are means over.
const JUDGED: usize = 20;
/// Busiest experts that are marked.
const MARKED: usize = 2;

/// The layer that is shown: the first one that is predicted, if there is one.
fn layer(scenario: &MoeScenario) -> usize {
    usize::from(scenario.stage_layers() > 1)
}

/// The iterations that a prediction looks at.
fn window(settings: &FitSettings) -> String {
    counted(settings.window as u64, "iteration before", "iterations before")
}

/// Loads of the experts of one layer over the last iterations: actual, predicted, and their difference.
pub(super) fn loads(
    scenario: &MoeScenario,
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
    let mut blocks: [Vec<Cell>; 3] = Default::default();
    for expert in 0..experts {
        for (at, expected) in shown.clone().zip(&predicted) {
            let load = history.load(at, layer);
            let named = busiest(expected, MARKED).contains(&expert);
            let busy = busiest(load, MARKED).contains(&expert);
            let (actual, share) = (load[expert], expected[expert]);
            let tone = |marked| if marked { Tone::Answer } else { Tone::Text };
            blocks[0].push(Cell::new(actual).tone(tone(busy)));
            let hit = if named && busy { Tone::Good } else { tone(named) };
            blocks[1].push(Cell::new(share).tone(hit));
            blocks[2].push(Cell::new(share - actual).tone(if named == busy {
                Tone::Text
            } else {
                Tone::Warn
            }));
        }
    }
    let rows: Vec<String> = (0..experts).map(|expert| format!("expert {expert}")).collect();
    let columns: Vec<String> = shown.map(|at| (history.first as usize + at).to_string()).collect();
    let [actual, share, error] = blocks;
    let matrix = |name, unit, cells| Matrix {
        name,
        unit,
        rows: rows.clone(),
        columns: columns.clone(),
        cells,
        symmetric: false,
        shaded: true,
        ..Matrix::default()
    };
    let percent = Unit::PERCENT.with_decimals(1);
    Ok(Section::empty("Expert loads")
        .context(format!("layer {layer}, by iteration; predicted from {}", window(settings)))
        .remark(format!(
            "The {MARKED} busiest experts of every iteration are marked; green ones were predicted."
        ))
        .block("actual", "Share of the tokens", matrix("share", percent, actual))
        .block("predicted", "Predicted share", matrix("predicted_share", percent, share))
        .block("error", "Predicted less actual share", matrix("share_error", percent.signed(), error)))
}

/// Accuracy of predictions by layer, beside predictions that cost nothing.
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
        Column::numbers("top_1", "top 1", Unit::PERCENT.with_decimals(0)),
        Column::numbers("top_2", "top 2", Unit::PERCENT.with_decimals(0)),
        Column::numbers("top_4", "top 4", Unit::PERCENT.with_decimals(0)),
        Column::numbers("l1", "L1 error", Unit::RATIO.with_decimals(3)),
    ];
    let mut table = Table::new(["prediction", "predictions"], columns).overview(16);
    let mut worse = Vec::new();
    for layer in 1..history.layers {
        let mut errors = Vec::new();
        for (name, predictor) in Predictor::ALL {
            if deadline.is_over() {
                return Err(Unavailable::late(deadline));
            }
            let Some(found) = accuracy(predictor, &history, layer, first, settings) else { continue };
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
    }
    if table.rows.is_empty() {
        return Err(Unavailable::absent(
            "there is no earlier iteration, or no layer before another one",
            "plan a later iteration of a model with several layers in a stage",
        ));
    }
    let judged = history.iterations.saturating_sub(first);
    let section = Section::new("Predictor", table)
        .context(
            Phrase::new()
                .muted(format!("means over {judged} iterations, each predicted from {}", window(settings))),
        )
        .remark("Only loads of experts are predicted, not which rank sends to which.");
    Ok(if worse.is_empty() {
        section
    } else {
        section.remark(format!(
            "In layer {} a trivial baseline has a smaller error than copilot.",
            worse.join(", ")
        ))
    })
}
