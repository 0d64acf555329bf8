//! Events of a layer: the phases in sequence, with the stalls of the listed changes.

use super::sizes::Sizes;
use super::{Findings, code, compare_figure};
use crate::plan::{LayerPhase, LayerPlan, Reconfiguration, STALL};
use lightbay_core::checked::same;

/// Checks one layer of `layers`.
pub(super) fn check(sizes: &Sizes, layers: usize, layer: &LayerPlan, found: &mut Findings) {
    let name = format!("layer {}", layer.layer);
    let changes = &layer.timeline.reconfigurations;
    let last = layer.layer as usize + 1 == layers;
    for change in changes {
        self::change(sizes, &name, last, change, found);
    }
    // Changes are in the order of the exchanges, at most one per exchange.
    if changes.windows(2).any(|pair| pair[0].before >= pair[1].before) {
        found.add(
            code::CHANGE,
            format!(
                "{name}: changes are not in the order of the exchanges, or two changes precede the same \
                 exchange"
            ),
        );
    }
    let mut wanted: Vec<(String, f64)> = Vec::new();
    for (word, phase) in LayerPhase::ALL {
        let stall =
            changes.iter().find(|change| change.before == phase).map_or(0.0, |change| change.stall_ms);
        if stall > 0.0 {
            wanted.push((format!("{STALL}{word}"), stall));
        }
        wanted.push((word.to_owned(), length(sizes, layer, phase)));
    }
    let events = &layer.timeline.events;
    let names = |at: usize| wanted.get(at).map_or("nothing", |(name, _)| name.as_str());
    if let Some(at) = (0..events.len().max(wanted.len()))
        .find(|at| events.get(*at).is_none_or(|event| event.phase != names(*at)))
    {
        let there = events.get(at).map_or("nothing", |event| event.phase.as_str());
        found.add(code::TIMELINE, format!("{name}: event {at} is '{there}', but must be '{}'", names(at)));
        return;
    }
    let mut now = 0.0;
    for (event, (word, length)) in events.iter().zip(&wanted) {
        if !same(event.start_ms, now) {
            let text = format!("{name}: {word} starts at {} ms, but must start at {now} ms", event.start_ms);
            found.add(code::TIMELINE, text);
        }
        now += length;
        if !same(event.end_ms, now) {
            let text = format!("{name}: {word} ends at {} ms, but must end at {now} ms", event.end_ms);
            found.add(code::TIMELINE, text);
        }
    }
}

/// Returns the length of a phase, ms.
fn length(sizes: &Sizes, layer: &LayerPlan, phase: LayerPhase) -> f64 {
    let [attention, gate, expert] = sizes.compute;
    match phase {
        LayerPhase::AttentionFwd => attention,
        LayerPhase::GateFwd => gate,
        LayerPhase::ExpertFwd => expert,
        LayerPhase::ExpertOutBwd => 2.0 * gate,
        LayerPhase::ExpertBwd => 2.0 * expert,
        LayerPhase::AttentionBwd => 2.0 * attention,
        exchange => {
            let other = layer.other_exchanges.iter().find(|other| other.phase == exchange);
            other.map_or(&layer.all_to_all, |other| &other.all_to_all).all_to_all_ms
        }
    }
}

/// Checks one change: its delay, the phase that may hide it, and the remaining stall.
fn change(sizes: &Sizes, name: &str, last: bool, change: &Reconfiguration, found: &mut Findings) {
    let [attention, _, expert] = sizes.compute;
    let word = change.before.word();
    let allowed: &[(&str, f64)] = match change.before {
        LayerPhase::A2a1 => &[("none", 0.0), ("attention_fwd", attention)],
        LayerPhase::A2a2 => &[("expert_fwd", expert)],
        LayerPhase::A2a3 if last => &[("none", 0.0)],
        LayerPhase::A2a3 => &[("attention_bwd", 2.0 * attention)],
        LayerPhase::A2a4 => &[("expert_bwd", 2.0 * expert)],
        _ => &[],
    };
    let Some((_, length)) = allowed.iter().find(|(window, _)| *window == change.window) else {
        let text = format!("{name}: the window '{}' cannot hide the change before {word}", change.window);
        found.add(code::CHANGE, text);
        return;
    };
    compare_figure(found, code::CHANGE, format!("{name}: delay before {word}"), change.delay_ms, sizes.delay);
    compare_figure(found, code::CHANGE, format!("{name}: window before {word}"), change.window_ms, *length);
    let stall = (sizes.delay - length).max(0.0);
    compare_figure(found, code::CHANGE, format!("{name}: stall before {word}"), change.stall_ms, stall);
}
