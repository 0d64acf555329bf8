//! Delivered load and latency of simulated routes.

use crate::plan::Simulation;
use lightbay_core::report::text::number;
use lightbay_core::report::{Cell, Curve, Curves, Facts, Phrase, Point, Section, Tone, Unit};

pub(super) fn section(simulation: &Simulation) -> Section {
    let mut facts = Facts::new();
    facts.number(
        "saturation_flits_per_cycle_per_node",
        "saturation",
        Unit::FLITS,
        Cell::new(simulation.saturation_flits_per_cycle_per_node),
    );
    let curve = |name: &str, label: &str, unit: Unit, tone, of: fn(&(f64, f64, f64)) -> f64| Curve {
        name: name.to_owned(),
        label: label.to_owned(),
        unit,
        points: simulation.curve.iter().map(|point| Point { at: point.0, value: of(point) }).collect(),
        tone,
        steps: false,
    };
    let cycles = Unit::new("cycles", 1.0, Some(0));
    let curves = Curves {
        axis: "offered_flits_per_cycle_per_node",
        axis_label: "offered",
        axis_unit: Unit::FLITS.with_decimals(2),
        axis_range: None,
        axis_is_log: false,
        values_are_log: false,
        curves: vec![
            curve("delivered_flits_per_cycle_per_node", "delivered", Unit::FLITS, Tone::Answer, |point| {
                point.1
            }),
            curve("latency_cycles", "latency", cycles, Tone::Text, |point| point.2),
        ],
        ..Default::default()
    };
    let saturation = number(simulation.saturation_flits_per_cycle_per_node, Unit::FLITS);
    let answer = Phrase::new().answer(saturation).muted(format!(" {} at saturation", Unit::FLITS.symbol));
    Section::empty("Simulation")
        .context(Phrase::new().muted("claimed until checked with --exact"))
        .answer(answer)
        .remark("These figures are claimed; `lightbay check --exact` simulates again.")
        .block("curve", "Load and latency", curves)
        .block("figures", "Saturation", facts)
}
