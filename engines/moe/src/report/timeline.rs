//! Phases of a micro-batch with stalls and hidden changes, and what an iteration spends its time on.

use super::{ANALYTIC, ITERATION};
use crate::plan::{LayerPhase, MoeResult, STALL};
use lightbay_core::report::{Cell, Facts, Lane, Phrase, Section, Span, Spans, Tone, Unit};

const MS: Unit = Unit::new("ms", 1.0, Some(3));

/// Parts of the time of an iteration.
pub(super) fn iteration(result: &MoeResult) -> Section {
    let plan = &result.iteration;
    let mut facts = Facts::new();
    facts.add("fabric", "network", plan.fabric.word());
    facts.number("iteration_ms", "iteration", ITERATION, Cell::new(plan.iteration_ms).tone(Tone::Answer));
    facts.number("compute_ms", "computing", MS, plan.compute_ms).sentence("of a micro-batch in the stage");
    facts.number("tensor_parallel_ms", "tensor-parallel exchanges", MS, plan.tensor_parallel_ms);
    facts.number("all_to_all_ms", "all-to-alls", MS, plan.all_to_all_ms);
    let tone = if plan.stall_ms > 0.0 { Tone::Bad } else { Tone::Good };
    facts.number("stall_ms", "stalls", MS, Cell::new(plan.stall_ms).tone(tone));
    facts.number("data_parallel_ms", "gradients", MS, plan.data_parallel_ms).sentence("once in an iteration");
    facts.number("eps_bytes", "over packet switches", Unit::GIGABYTES, plan.eps_bytes);
    facts.sentence("of a micro-batch, between the servers of a region");
    if plan.free_changes > 0 {
        facts.add("free_changes", "changes that are not charged", plan.free_changes);
    }
    facts.number(
        "performance_per_dollar",
        "performance per dollar",
        Unit::RATIO,
        result.cost.performance_per_dollar,
    );
    facts.sentence("relative to a fat-tree");
    Section::new("Iteration", facts).remark(ANALYTIC)
}

/// Lane of computing.
pub(super) const COMPUTE: &str = "compute";
/// Lane of the exchanges.
pub(super) const ALL_TO_ALL: &str = "all-to-all";

/// The timeline of a micro-batch.
pub(super) fn section(result: &MoeResult) -> Section {
    let stall = result.iteration.stall_ms;
    let answer = Phrase::new().answer(format!("{stall:.1} ms")).muted(" stalls of a micro-batch");
    Section::new("Timeline", spans(result))
        .context("one micro-batch in the fullest stage")
        .answer(answer)
        .remark(ANALYTIC)
}

/// One micro-batch through the stage: all layers forward, then back. Changes stand on a lane of their own, hidden in
/// the phase that hides them.
pub(super) fn spans(result: &MoeResult) -> Spans {
    let names = [COMPUTE, ALL_TO_ALL, "stall", "change of circuits"];
    let mut lanes: Vec<Lane> =
        names.iter().map(|name| Lane { name: (*name).to_owned(), spans: Vec::new() }).collect();
    let mut now = 0.0;
    let phase_of = |name: &str| LayerPhase::of_word(name.strip_prefix(STALL).unwrap_or(name));
    let forward = result.layers.iter().map(|layer| (layer, true));
    let backward = result.layers.iter().rev().map(|layer| (layer, false));
    for (layer, ahead) in forward.chain(backward) {
        for event in &layer.timeline.events {
            let Some(phase) = phase_of(&event.phase) else { continue };
            if (phase < LayerPhase::ExpertOutBwd) != ahead {
                continue;
            }
            let stalls = event.phase.starts_with(STALL);
            let exchange = LayerPhase::EXCHANGES.contains(&phase);
            let (lane, tone) = match (stalls, exchange) {
                (true, _) => (2, Tone::Bad),
                (false, true) => (1, Tone::Answer),
                (false, false) => (0, Tone::Text),
            };
            let length = event.end_ms - event.start_ms;
            if length <= 0.0 {
                continue;
            }
            let span = |name: String, from: f64, to: f64, tone| Span {
                name,
                start_s: from / 1e3,
                end_s: to / 1e3,
                tone,
                item: Some(layer.layer),
            };
            let change = layer.timeline.reconfigurations.iter().find(|change| change.before == phase);
            // The change ends with the exchange that it is for; what hides it has just gone by.
            let first = stalls || change.is_some_and(|change| change.stall_ms <= 0.0);
            if let Some(change) = change.filter(|_| first) {
                let end = if stalls { now + length } else { now };
                let (tone, how) = if stalls { (Tone::Warn, "stands out") } else { (Tone::Good, "hidden") };
                let name = format!("layer {} before {}: {how}", layer.layer, phase.word());
                if change.delay_ms > 0.0 {
                    lanes[3].spans.push(span(name, (end - change.delay_ms).max(0.0), end, tone));
                }
            }
            lanes[lane].spans.push(span(
                format!("layer {} {}", layer.layer, event.phase),
                now,
                now + length,
                tone,
            ));
            now += length;
        }
    }
    Spans { lanes, end_s: now / 1e3 }
}
