//! Loads of experts over iterations, predicted and actual, and the accuracy of predictions.

use super::timeline::bold;
use crate::plan::MoeResult;
use crate::predict::accuracy::{Predictor, accuracy, busiest};
use crate::predict::passage::FitSettings;
use crate::predict::rolling::RollingPassage;
use crate::scenario::MoeScenario;
use crate::scenario::trace::GateHistory;
use lightbay_core::clock::Deadline;
use lightbay_core::problem::counted;
use lightbay_core::report::{Cell, Column, Matrix, Phrase, Section, Table, Tone, Unavailable, Unit};

/// Number of iterations that are shown, at most as many as fit next to the means in a pane of the grid.
const SHOWN: usize = 15;
/// Number of iterations over which accuracies are averaged, with up to [`FEW`] experts.
const JUDGED: usize = 20;
/// Number of busiest experts that are marked.
const MARKED: usize = 2;

/// Number of experts above which accuracies are averaged over fewer iterations, because the time of a fit grows with the
/// cube of this number.
const FEW: usize = 64;

/// Returns the number of iterations over which accuracies are averaged.
fn judged(experts: usize) -> usize {
    (JUDGED * FEW / experts.max(FEW)).max(2)
}

/// Number of experts above which shares have a decimal, because most are below 10 %.
const MANY: usize = 16;

/// Returns the layer whose hottest expert has the largest share: the layer with the most imbalance.
fn most_uneven(of_layers: &[Vec<f64>]) -> usize {
    let hottest = |means: &Vec<f64>| means.iter().copied().fold(0.0, f64::max);
    let order = of_layers.iter().map(hottest).enumerate();
    order.reduce(|best, next| if next.1 > best.1 { next } else { best }).map_or(0, |(layer, _)| layer)
}

/// Returns the unit of shares.
fn share_unit(experts: usize) -> Unit {
    Unit::PERCENT.with_decimals(u8::from(experts > MANY))
}

/// Adds the hottest expert with its mean share to a text: `expert 196 has 14.5 %, 37.1 x the mean`.
fn hottest_words(start: Phrase, means: &[f64]) -> Phrase {
    let Some(&hot) = busiest(means, 1).first() else { return start };
    let share = means[hot];
    start
        .answer(format!("expert {hot}"))
        .muted(" has ")
        .answer(format!("{:.1} %", 100.0 * share))
        .muted(format!(", {:.1} x the mean", share * means.len() as f64))
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
        Column::words("next", "next").priority(2),
        Column::numbers("next_share", "tokens", Unit::PERCENT.with_decimals(1)).priority(2),
        Column::numbers("to_mean", "hottest to mean", Unit::RATIO.with_decimals(2)).priority(1),
    ];
    let mut table = Table::new(["layer", "layers"], columns).bar(3);
    let experts = history.experts;
    let of_layers: Vec<Vec<f64>> = (0..history.layers).map(|layer| means(history, first, layer)).collect();
    let uneven = most_uneven(&of_layers);
    for (layer, means) in of_layers.into_iter().enumerate() {
        let top = busiest(&means, 2);
        let [Some(&hot), next] = [top.first(), top.get(1)] else { continue };
        let ranks = ranks_of(scenario, plan, layer, experts);
        let next_of = |of: &dyn Fn(usize) -> Cell| next.map_or_else(Cell::none, |next| of(*next));
        let row = table.row(vec![
            Cell::new(layer),
            Cell::new(format!("expert {hot}")),
            Cell::new(ranks[hot].clone()),
            Cell::new(means[hot]).tone(bold(layer == uneven)),
            next_of(&|next| Cell::new(format!("expert {next}"))),
            next_of(&|next| Cell::new(means[next])),
            Cell::new(means[hot] * experts as f64),
        ]);
        row.item = Some(layer as u32);
        row.sentence = hottest_words(Phrase::new().answer(format!("> layer {layer}  ")), &means);
    }
    table
}

/// Returns a text on the iterations that a prediction uses.
fn window(settings: &FitSettings) -> String {
    format!("the previous {}", counted(settings.window as u64, "iteration", "iterations"))
}

/// Returns the section on the loads of the experts over the last iterations: the hottest experts of every layer, and the
/// loads of the layer with the most imbalance.
pub(super) fn loads(
    scenario: &MoeScenario,
    plan: Option<&MoeResult>,
    settings: &FitSettings,
    deadline: Deadline,
) -> Result<Section, Unavailable> {
    let history = scenario.history((SHOWN + settings.window) as u32);
    let first = history.iterations.saturating_sub(SHOWN);
    let of_layers: Vec<Vec<f64>> = (0..history.layers).map(|layer| means(&history, first, layer)).collect();
    let layer = most_uneven(&of_layers);
    let shown = layer_blocks(scenario, plan, settings, &history, layer, deadline)?;
    let mut mean: Vec<f64> = vec![0.0; history.experts];
    for means in &of_layers {
        mean.iter_mut().zip(means).for_each(|(most, mean)| *most = most.max(*mean));
    }
    let order = busiest(&mean, mean.len());
    let cells = order.iter().flat_map(|at| of_layers.iter().map(move |means| Cell::new(means[*at])));
    let by_layer = Matrix {
        name: "mean_share",
        unit: share_unit(history.experts),
        rows: order.iter().map(|expert| format!("expert {expert}")).collect(),
        columns: (0..history.layers).map(|layer| format!("layer {layer}")).collect(),
        cells: cells.collect(),
        shaded: true,
        ..Matrix::default()
    };
    let legend = format!(
        "% of the tokens by iteration, hottest expert first; the {MARKED} busiest are bold, wrong predictions have a *"
    );
    let start = Phrase::new().muted(format!("layer {layer} is the most uneven: "));
    let answer = of_layers.get(layer).map_or_else(Phrase::new, |means| hottest_words(start, means));
    let table = hottest(&history, first, scenario, plan);
    let [actual, predicted, error] = shown;
    Ok(Section::empty("Expert loads")
        .answer(answer)
        .remark(format!(
            "Layer {layer}, predicted from {}. The {MARKED} busiest experts of every iteration are marked; * marks a \
             wrong prediction.",
            window(settings)
        ))
        .legend(legend)
        .legend_in(
            "predicted",
            format!("predicted % of the tokens; the {MARKED} busiest are bold, wrong predictions have a *"),
        )
        .legend_in("error", "predicted minus actual % of the tokens; wrong predictions have a *")
        .legend_in("by_layer", "mean % of the tokens, hottest expert first")
        .usual(Some(layer as u32))
        .block("actual", "Share of the tokens", actual)
        .only_written()
        .block("predicted", "Predicted share", predicted)
        .only_written()
        .on_screens("layers", "", table)
        .only_in(&["actual", "predicted", "error"])
        .block("error", "Predicted minus actual share", error)
        .only_written()
        .on_screens("by_layer", "", by_layer))
}

/// Returns the section on the loads of the experts of one layer over the last iterations: actual, predicted, and their
/// difference.
///
/// # Errors
/// No such layer, or the deadline is over.
pub(super) fn of_layer(
    scenario: &MoeScenario,
    plan: Option<&MoeResult>,
    settings: &FitSettings,
    layer: usize,
    deadline: Deadline,
) -> Result<Section, Unavailable> {
    let history = scenario.history((SHOWN + settings.window) as u32);
    if layer >= history.layers {
        let why = format!("layer {layer} does not exist");
        return Err(Unavailable::absent(why, "name a layer of the stage"));
    }
    let [actual, predicted, error] = layer_blocks(scenario, plan, settings, &history, layer, deadline)?;
    Ok(Section::empty(format!("layer {layer} of {}", history.layers))
        .context(format!("by iteration; predicted from the previous {}", settings.window))
        .block("actual", "", actual)
        .block("predicted", "", predicted)
        .block("error", "", error))
}

/// Returns the actual shares, the predicted shares and their differences for a layer, by iteration, the hottest expert
/// first.
fn layer_blocks(
    scenario: &MoeScenario,
    plan: Option<&MoeResult>,
    settings: &FitSettings,
    history: &GateHistory,
    layer: usize,
    deadline: Deadline,
) -> Result<[Matrix; 3], Unavailable> {
    let first = history.iterations.saturating_sub(SHOWN);
    let shown = first..history.iterations;
    let mut predicted = Vec::with_capacity(SHOWN);
    let mut passage = RollingPassage::new(history, layer, settings);
    for at in shown.clone() {
        if deadline.is_over() {
            return Err(Unavailable::late(deadline));
        }
        predicted.push(passage.expected(at));
    }
    let means = means(history, first, layer);
    let order = busiest(&means, means.len());
    let mut blocks: [Vec<Cell>; 3] = Default::default();
    for &expert in &order {
        for (at, expected) in shown.clone().zip(&predicted) {
            let load = history.load(at, layer);
            let named = busiest(expected, MARKED).contains(&expert);
            let busy = busiest(load, MARKED).contains(&expert);
            let (actual, share) = (load[expert], expected[expert]);
            let tone = |marked: bool| match marked {
                true if named != busy => Tone::Changed,
                true => Tone::Answer,
                false => Tone::Text,
            };
            blocks[0].push(Cell::new(actual).tone(tone(busy)));
            blocks[1].push(Cell::new(share).tone(tone(named)));
            blocks[2].push(Cell::new(share - actual).tone(tone(named != busy)));
        }
    }
    let columns: Vec<String> = shown.clone().map(|at| (history.first as usize + at).to_string()).collect();
    let ranks = ranks_of(scenario, plan, layer, history.experts);
    // Mean and peak are those of the cells in the row.
    let words = |(expert, cells): (&usize, &[Cell])| {
        let values = || cells.iter().filter_map(|cell| cell.value.as_f64());
        let mean = values().sum::<f64>() / cells.len().max(1) as f64;
        let peak = values().reduce(|most, value| if value.abs() > most.abs() { value } else { most });
        let percent = |share: f64| format!("{:4.1}", (1e3 * share).round() / 10.0 + 0.0);
        Phrase::new().text(percent(mean)).muted(format!(
            "  {}  {}",
            percent(peak.unwrap_or(0.0)),
            ranks[*expert]
        ))
    };
    let width = columns.len().max(1);
    let matrix = |name, unit, cells: Vec<Cell>| Matrix {
        name,
        unit,
        rows: order.iter().map(|expert| format!("expert {expert}")).collect(),
        columns: columns.clone(),
        shaded: true,
        words_heading: "mean  peak  on",
        words: order.iter().zip(cells.chunks(width)).map(words).collect(),
        cells,
        ..Matrix::default()
    };
    let percent = share_unit(history.experts);
    let [actual, share, error] = blocks;
    Ok([
        matrix("share", percent, actual),
        matrix("predicted_share", percent, share),
        matrix("share_error", percent.signed(), error),
    ])
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
    let judged = judged(scenario.shape().experts as usize);
    let history = scenario.history((judged + settings.window) as u32);
    let first = history.iterations.saturating_sub(judged).max(1);
    let columns = vec![
        Column::counts("layer", "layer"),
        Column::words("predictor", "predictor"),
        Column::numbers("top_1", "top-1", Unit::PERCENT.with_decimals(0)),
        Column::numbers("top_2", "top-2", Unit::PERCENT.with_decimals(0)),
        Column::numbers("top_4", "top-4", Unit::PERCENT.with_decimals(0)),
        Column::numbers("l1", "L1 error", Unit::RATIO.with_decimals(3)),
    ];
    let mut table = Table::new(["prediction", "predictions"], columns).overview(16).bar(5);
    let (mut worse, mut of_copilot) = (Vec::new(), Vec::new());
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
            let is_copilot = predictor == Predictor::Copilot;
            let tone = bold(is_copilot);
            if is_copilot {
                of_copilot.push((found.top[0], found.l1));
            }
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
    let mean =
        |of: fn(&(f64, f64)) -> f64| of_copilot.iter().map(of).sum::<f64>() / of_copilot.len().max(1) as f64;
    let answer = Phrase::new()
        .muted("copilot, mean of the layers: top-1 ")
        .answer(format!("{:.0} %", 100.0 * mean(|of| of.0)))
        .muted(", L1 ")
        .answer(format!("{:.3}", mean(|of| of.1)));
    let section = Section::empty("Predictor")
        .answer(answer)
        .on_screens("errors", "", errors_by_layer(&all_errors))
        .block("", "", table)
        .context(
            Phrase::new()
                .muted(format!("means of {judged} iterations, from {}", window(settings))),
        )
        .legend("top-N: share of the N busiest experts that were predicted; L1: sum of absolute errors of the shares")
        .remark("Predictions cover only the load of each expert, not which rank sends to which expert.");
    Ok(if worse.is_empty() {
        section
    } else {
        section.remark(format!(
            "Layers in which a trivial baseline has a smaller error than copilot: {}.",
            worse.join(", ")
        ))
    })
}
