//! Phases of a layer and of a micro-batch with stalls and hidden changes, and the parts of the iteration time.

use super::{ANALYTIC, ANALYTIC_SHORT, ITERATION, fabrics, failures};
use crate::plan::{LayerPhase, LayerPlan, MoeResult, STALL};
use crate::scenario::MoeScenario;
use lightbay_core::clock::Deadline;
use lightbay_core::report::{
    Cell, Column, Facts, Lane, Phrase, Section, Span, Spans, Table, Tone, Unavailable, Unit,
};

const MS: Unit = Unit::new("ms", 1.0, Some(3));

/// Number of items of a layer: one for each interval of its forward and backward pass.
const ITEMS: u32 = 64;
/// Maximum number of rows of a long table that an overview shows.
const OVERVIEW: usize = 16;

/// Returns the section on the parts of the iteration time.
///
/// # Errors
/// The deadline is over before the iteration without failed NICs is known.
pub(super) fn iteration(
    scenario: &MoeScenario,
    result: &MoeResult,
    deadline: Deadline,
) -> Result<Section, Unavailable> {
    let iteration_s = format!("{:.3} s", result.iteration.iteration_ms / 1e3);
    let waits = format!(" an iteration: {:.0} times a micro-batch, plus the gradients", times(result));
    let section = Section::new("Iteration", parts(result))
        .on_screens("layers", "A micro-batch in the layers of the stage", layer_parts(result))
        .on_screens("micro_batch", "", spans(result))
        .answer(Phrase::new().answer(iteration_s).muted(waits))
        .subject(ANALYTIC_SHORT)
        .remark(ANALYTIC);
    Ok(match failures::cost(scenario, result.iteration.fabric, deadline)? {
        Some(facts) => section.block("failures", "Failed NICs", facts),
        None => section,
    })
}

/// Returns the parts of an iteration, which add up to its time: the parts of all micro-batches for which the iteration
/// waits, and the gradient reduction.
fn parts(result: &MoeResult) -> Facts {
    let plan = &result.iteration;
    let [compute, tensor, exchange, stall] =
        [plan.compute_ms, plan.tensor_parallel_ms, plan.all_to_all_ms, plan.stall_ms];
    let all = |part: f64| times(result) * part;
    let mut facts = Facts::new();
    facts.number("iteration_ms", "iteration", ITERATION, Cell::new(plan.iteration_ms).tone(Tone::Answer));
    facts.part("all_compute_ms", "computing", ITERATION, all(compute));
    facts.part("all_tensor_parallel_ms", "tensor-parallel exchanges", ITERATION, all(tensor));
    facts.part("all_exchanges_ms", "all-to-alls", ITERATION, Cell::new(all(exchange)).tone(Tone::Answer));
    let tone = if stall > 0.0 { Tone::Bad } else { Tone::Text };
    facts.part("all_stalls_ms", "stalls", ITERATION, Cell::new(all(stall)).tone(tone));
    facts.part("data_parallel_ms", "gradients", ITERATION, plan.data_parallel_ms);
    facts.sentence("once per iteration");
    facts.add("fabric", "network", plan.fabric.word().replace('_', "-"));
    facts.number("compute_ms", "compute per micro-batch", MS, compute);
    facts.number("tensor_parallel_ms", "tensor-parallel exchanges per micro-batch", MS, tensor);
    facts.number("all_to_all_ms", "all-to-alls per micro-batch", MS, exchange);
    facts.number("stall_ms", "stalls per micro-batch", MS, Cell::new(stall).tone(tone));
    facts.number("eps_bytes", "over packet switches", Unit::GIGABYTES, plan.eps_bytes);
    facts.sentence("of a micro-batch, between the servers of a region");
    if plan.free_changes > 0 {
        facts.add("free_changes", "changes whose delay is not counted", plan.free_changes);
    }
    let per_dollar = result.cost.performance_per_dollar;
    facts.number("performance_per_dollar", "performance per dollar", Unit::RATIO, per_dollar);
    facts.sentence("relative to a fat-tree");
    facts
}

/// Returns the table of the layers of the stage with the parts of their time, in order.
fn layer_parts(result: &MoeResult) -> Table {
    let columns = vec![
        Column::counts("layer", "layer"),
        Column::numbers("layer_ms", "both passes", MS),
        Column::numbers("all_to_all_ms", "all-to-alls", MS),
        Column::numbers("stall_ms", "stalls", MS),
    ];
    let mut table = Table::new(["layer", "layers"], columns).bar(1).parts(&PARTS);
    let longest_ms = result.layers.iter().map(length_ms).fold(0.0, f64::max);
    for layer in &result.layers {
        let parts = parts_of(layer);
        let stalls = if parts[2] > 0.0 { Tone::Bad } else { Tone::Muted };
        let row = table.row(vec![
            Cell::new(layer.layer),
            Cell::new(length_ms(layer)).tone(bold(length_ms(layer) >= longest_ms)),
            Cell::new(parts[1]),
            Cell::new(parts[2]).tone(stalls),
        ]);
        row.parts = parts;
    }
    table
}

/// Returns the number of times that an iteration waits for a micro-batch: pipeline stages plus micro-batches, minus 1.
pub(super) fn times(result: &MoeResult) -> f64 {
    let plan = &result.iteration;
    let one = plan.compute_ms + plan.tensor_parallel_ms + plan.all_to_all_ms + plan.stall_ms;
    if one > 0.0 { (plan.iteration_ms - plan.data_parallel_ms) / one } else { 0.0 }
}

/// Name of the row of compute phases.
pub(super) const COMPUTE: &str = "compute";
/// Name of the row of exchanges.
pub(super) const ALL_TO_ALL: &str = "all-to-all";

/// Name of the row of stalls.
pub(super) const STALLS: &str = "stall";

/// Name of the time of one exchange of a layer, of which both passes have two each.
pub(super) const ONE_ALL_TO_ALL: &str = "one all-to-all";

/// Names of the lanes of a micro-batch.
const LANES: [&str; 4] = [COMPUTE, ALL_TO_ALL, STALLS, "change of circuits"];

/// Returns the section on the timeline: layers, slowest first, each with its phases; one micro-batch; the iteration.
pub(super) fn section(result: &MoeResult) -> Section {
    let stall = result.iteration.stall_ms;
    let answer =
        Phrase::new().answer(format!("{} ms", milliseconds(stall))).muted(" stalls of a micro-batch");
    let mut changes = result.layers.iter().flat_map(|layer| &layer.timeline.reconfigurations);
    let is_hidden = changes.any(|change| change.delay_ms > change.stall_ms);
    Section::empty("Timeline")
        .subject(ANALYTIC_SHORT)
        .context("longest stage")
        .answer(answer)
        .legend(if is_hidden { "changes of circuits are underlined if hidden" } else { "" })
        .legend_in("iteration", "")
        .on_screens("layer", "", layers(result))
        .block("micro_batch", "One micro-batch in the stage with the most layers", spans(result))
        .on_screens("iteration", "", parts(result))
        .remark(ANALYTIC)
}

/// Formats a time in ms with enough decimals that a value above zero is not written as zero.
fn milliseconds(time_ms: f64) -> String {
    if time_ms > 0.0 && time_ms < 0.05 { format!("{time_ms:.3}") } else { format!("{time_ms:.1}") }
}

fn length_ms(layer: &LayerPlan) -> f64 {
    layer.timeline.events.iter().map(|event| event.end_ms - event.start_ms).sum()
}

/// Parts of the bar of a layer.
const PARTS: [&str; 3] = [COMPUTE, ALL_TO_ALL, STALLS];

/// Returns the lengths of [`PARTS`] in both passes of a layer, ms.
fn parts_of(layer: &LayerPlan) -> Vec<f64> {
    let mut parts = vec![0.0; PARTS.len()];
    for event in &layer.timeline.events {
        let Some(phase) = phase_of(&event.phase) else { continue };
        let part = match (event.phase.starts_with(STALL), LayerPhase::EXCHANGES.contains(&phase)) {
            (true, _) => 2,
            (false, true) => 1,
            (false, false) => 0,
        };
        parts[part] += event.end_ms - event.start_ms;
    }
    parts
}

/// Returns the tone of a number, which is bold in the row that answers the question of the section.
pub(super) const fn bold(is_answer: bool) -> Tone {
    if is_answer { Tone::Answer } else { Tone::Text }
}

fn stall_ms(layer: &LayerPlan) -> f64 {
    layer.timeline.reconfigurations.iter().map(|change| change.stall_ms).sum()
}

/// Returns the table of the layers of the stage, slowest first.
fn layers(result: &MoeResult) -> Table {
    let columns = vec![
        Column::counts("layer", "layer"),
        Column::numbers("layer_ms", "both passes", MS),
        Column::numbers("all_to_alls_ms", "four all-to-alls", MS),
        Column::numbers("stall_ms", "stalls", MS),
        Column::numbers("hidden_ms", "hidden", MS).priority(1),
    ];
    let mut order: Vec<&LayerPlan> = result.layers.iter().collect();
    order.sort_by(|a, b| length_ms(b).total_cmp(&length_ms(a)).then(a.layer.cmp(&b.layer)));
    let count = order.len();
    let mean = order.iter().map(|layer| parts_of(layer)[1]).sum::<f64>() / count.max(1) as f64;
    let mut table = Table::new(["layer", "layers"], columns).overview(OVERVIEW).bar(1).parts(&PARTS);
    for (rank, layer) in order.into_iter().enumerate() {
        let hidden: f64 =
            layer.timeline.reconfigurations.iter().map(|change| change.delay_ms - change.stall_ms).sum();
        let parts = parts_of(layer);
        let (exchange, stall) = (parts[1], stall_ms(layer));
        let row = table.row(vec![
            Cell::new(layer.layer),
            Cell::new(length_ms(layer)).tone(bold(rank == 0)),
            Cell::new(exchange),
            Cell::new(stall).tone(if stall > 0.0 { Tone::Bad } else { Tone::Muted }),
            Cell::new(hidden.max(0.0)).tone(Tone::Muted),
        ]);
        row.item = Some(layer.layer * ITEMS);
        row.parts = parts;
        let slowest = if rank == 0 && count > 1 { ", the slowest" } else { "" };
        let mut sentence = Phrase::new()
            .answer(format!("> layer {} of {count}{slowest}", layer.layer))
            .text(format!("  four all-to-alls {exchange:.3} ms"));
        if mean > 0.0 && count > 1 {
            let than = 100.0 * (exchange / mean - 1.0);
            let word = if than < 0.0 { "below" } else { "above" };
            sentence = sentence.muted(format!(", {:.0} % {word} the mean", than.abs()));
        }
        row.sentence = match busiest_pair(layer) {
            Some(words) => sentence.muted(format!("; {words}")),
            None => sentence,
        };
    }
    table
}

/// Returns a text on the pair of servers with the most bytes, and the circuits between them; `None` without such a
/// pair.
fn busiest_pair(layer: &LayerPlan) -> Option<String> {
    let cells = layer.demand_bytes.iter().enumerate().flat_map(|(from, row)| {
        row.iter().enumerate().filter(move |(to, _)| *to != from).map(move |(to, bytes)| (from, to, *bytes))
    });
    let (from, to, bytes) = cells.max_by(|a, b| a.2.total_cmp(&b.2)).filter(|cell| cell.2 > 0.0)?;
    let joins =
        |a: u32, b: u32| (a as usize, b as usize) == (from, to) || (b as usize, a as usize) == (from, to);
    let circuits = super::circuits::set(layer).filter(|at| joins(at.server_a, at.server_b)).count();
    let over = super::circuits::over(circuits as u32);
    Some(format!("server {from} sends {:.2} GB to {to} over {over}", bytes / 1e9))
}

/// Returns the section on the phases, to scale, of the layer that an item number belongs to.
///
/// # Errors
/// No such layer.
pub(super) fn of_layer(
    scenario: &MoeScenario,
    result: &MoeResult,
    item: u32,
) -> Result<Section, Unavailable> {
    let number = item / ITEMS;
    let layer = result.layers.iter().find(|layer| layer.layer == number).ok_or_else(|| {
        Unavailable::absent(format!("layer {number} does not exist"), "name a layer of the stage")
    })?;
    let mut lanes: Vec<Lane> = Vec::new();
    let mut short = ShortLanes::default();
    let mut end_ms = 0.0_f64;
    for event in &layer.timeline.events {
        let length = event.end_ms - event.start_ms;
        let stalls = event.phase.starts_with(STALL);
        let Some(phase) = phase_of(&event.phase) else { continue };
        end_ms = end_ms.max(event.end_ms);
        let change = change_of(layer, phase).filter(|change| stalls || change.stall_ms <= 0.0);
        if let Some(change) = change {
            // The change ends where its stall or, without one, the exchange begins.
            let end = if stalls { event.end_ms } else { event.start_ms };
            let hidden = span(
                format!("change before {}", called(phase)),
                ((end - change.delay_ms).max(0.0), if stalls { event.start_ms } else { end }),
                Paint::Change,
                None,
            );
            // A rest of rounding is not hidden time.
            if change.delay_ms - change.stall_ms > 1e-9 * change.delay_ms {
                let words = format!("{:.3}", change.delay_ms - change.stall_ms);
                // Attention of the next layer, which is not in this picture, hides the change before the first
                // exchange back.
                let is_here = phase != LayerPhase::A2a3;
                let name = if is_here { "  hidden change" } else { "  hidden in the next layer" }.to_owned();
                let hidden = is_here.then_some(Span { hidden: true, ..hidden });
                if let Some(hidden) = &hidden {
                    short.add(3, hidden);
                }
                lanes.push(Lane { name, spans: hidden.into_iter().collect(), words, tone: Tone::Text });
            }
        }
        if length <= 0.0 {
            continue;
        }
        let (name, lane, paint) = match (stalls, LayerPhase::EXCHANGES.contains(&phase)) {
            (true, _) => ("  stall", 2, Paint::Stall),
            (false, true) => (called(phase), 1, Paint::Exchange),
            (false, false) => (called(phase), 0, Paint::Compute),
        };
        // The time of an exchange on circuits of another layer differs from that of the other exchanges.
        let is_other = layer.other_exchanges.iter().any(|other| other.phase == phase) && !stalls;
        let name = if is_other { format!("{name}, other circuits") } else { name.to_owned() };
        let of_phase = span(name.clone(), (event.start_ms, event.end_ms), paint, None);
        short.add(lane, &of_phase);
        lanes.push(Lane {
            spans: vec![of_phase],
            name,
            words: format!("{length:.3}"),
            tone: if stalls { Tone::Bad } else { Tone::Text },
        });
    }
    let spans = Spans {
        lanes,
        short: short.lanes(),
        end_s: end_ms / 1e3,
        unit: Unit::MILLISECONDS,
        words: "ms",
        ..Spans::default()
    };
    let times = layer.all_to_all;
    let between_ms = times.step3_ocs_ms.max(times.step3_eps_ms).max(times.local_ms);
    let context = format!(
        "an all-to-all: {between_ms:.3} ms between servers + {:.3} ms to gather and scatter",
        times.all_to_all_ms - between_ms
    );
    Ok(Section::empty(format!("layer {number}"))
        .block("phases", "", spans)
        .block("networks", "Iteration time on this network and on others", fabrics::bars(scenario, result))
        .context(context)
        .answer(Phrase::new().answer(format!("{:.3} ms", length_ms(layer))))
        .remark(ANALYTIC))
}

/// Phases of a layer in four lanes, for screens without room for a lane for each phase.
#[derive(Default)]
struct ShortLanes {
    spans: [Vec<Span>; 4],
}

impl ShortLanes {
    fn add(&mut self, lane: usize, span: &Span) {
        self.spans[lane].push(span.clone());
    }

    /// Returns the lanes that have intervals, each with the sum of their lengths.
    fn lanes(self) -> Vec<Lane> {
        let of = |(name, spans): (&str, Vec<Span>)| {
            let sum_s: f64 = spans.iter().map(|span| span.end_s - span.start_s).sum();
            let tone = if name == STALLS { Tone::Bad } else { Tone::Text };
            Lane { name: name.to_owned(), words: format!("{:.3}", 1e3 * sum_s), spans, tone }
        };
        let filled = LANES.into_iter().zip(self.spans).filter(|(_, spans)| !spans.is_empty());
        filled.map(of).collect()
    }
}

/// Returns the display name of a phase.
pub(super) const fn called(phase: LayerPhase) -> &'static str {
    match phase {
        LayerPhase::AttentionFwd => "attention",
        LayerPhase::GateFwd => "gate",
        LayerPhase::A2a1 => "dispatch",
        LayerPhase::ExpertFwd => "experts",
        LayerPhase::A2a2 => "combine",
        LayerPhase::ExpertOutBwd => "output, back",
        LayerPhase::A2a3 => "dispatch, back",
        LayerPhase::ExpertBwd => "experts, back",
        LayerPhase::A2a4 => "combine, back",
        LayerPhase::AttentionBwd => "attention, back",
    }
}

fn phase_of(name: &str) -> Option<LayerPhase> {
    LayerPhase::of_word(name.strip_prefix(STALL).unwrap_or(name))
}

fn change_of(layer: &LayerPlan, phase: LayerPhase) -> Option<&crate::plan::Reconfiguration> {
    layer.timeline.reconfigurations.iter().find(|change| change.before == phase && change.delay_ms > 0.0)
}

/// What an interval of the timeline is, for its colour.
#[derive(Clone, Copy)]
enum Paint {
    Compute,
    Exchange,
    Stall,
    Change,
}

fn span(name: String, (from_ms, to_ms): (f64, f64), paint: Paint, item: Option<u32>) -> Span {
    // The tone decides the letter on screens without colours.
    let (tone, series) = match paint {
        Paint::Compute => (Tone::Text, None),
        Paint::Exchange => (Tone::Answer, Some(2)),
        Paint::Stall => (Tone::Bad, None),
        Paint::Change => (Tone::Muted, Some(3)),
    };
    Span { name, start_s: from_ms / 1e3, end_s: to_ms / 1e3, tone, series, item, ..Span::default() }
}

/// Returns one micro-batch through the stage as intervals: all layers forward, then back. Changes have a separate row,
/// below the phase that hides them.
pub(super) fn spans(result: &MoeResult) -> Spans {
    let mut lanes = LANES.map(|name| Lane { name: name.to_owned(), ..Lane::default() });
    let mut sums_ms = [0.0; 4];
    let mut now = 0.0;
    let forward = result.layers.iter().map(|layer| (layer, true));
    let backward = result.layers.iter().rev().map(|layer| (layer, false));
    for (layer, ahead) in forward.chain(backward) {
        for (number, event) in (0_u32..).zip(&layer.timeline.events) {
            let Some(phase) = phase_of(&event.phase) else { continue };
            if (phase < LayerPhase::ExpertOutBwd) != ahead {
                continue;
            }
            let stalls = event.phase.starts_with(STALL);
            let exchange = LayerPhase::EXCHANGES.contains(&phase);
            let (lane, paint) = match (stalls, exchange) {
                (true, _) => (2, Paint::Stall),
                (false, true) => (1, Paint::Exchange),
                (false, false) => (0, Paint::Compute),
            };
            let length = event.end_ms - event.start_ms;
            if length <= 0.0 {
                continue;
            }
            // Two items for each event: the change before it, and the event itself.
            let item = |second: u32| Some(layer.layer * ITEMS + (2 * number + second) % ITEMS);
            let change = change_of(layer, phase);
            // The change ends when its exchange begins; the phase that hides it precedes the exchange.
            let first = stalls || change.is_some_and(|change| change.stall_ms <= 0.0);
            if let Some(change) = change.filter(|_| first) {
                let end = if stalls { now + length } else { now };
                let how = if stalls { "not all hidden" } else { "hidden" };
                let name = format!("layer {}: change before {}, {how}", layer.layer, called(phase));
                let times = ((end - change.delay_ms).max(0.0), end);
                lanes[3].spans.push(Span { hidden: !stalls, ..span(name, times, Paint::Change, item(0)) });
                sums_ms[3] += change.delay_ms;
            }
            let word = if stalls { "stall before " } else { "" };
            let name = format!("layer {} {word}{}", layer.layer, called(phase));
            lanes[lane].spans.push(span(name, (now, now + length), paint, item(1)));
            sums_ms[lane] += length;
            now += length;
        }
    }
    for (lane, sum_ms) in lanes.iter_mut().zip(sums_ms) {
        lane.words = format!("{sum_ms:.3}");
    }
    if sums_ms[2] > 0.0 {
        lanes[2].tone = Tone::Bad;
    }
    Spans { lanes: lanes.into(), end_s: now / 1e3, unit: Unit::MILLISECONDS, words: "ms", ..Spans::default() }
}
