//! Delivered load and latency of simulated routes.

use crate::model::router::Allocator;
use crate::plan::{RoutingClaims, Simulation};
use crate::scenario::SimulationSettings;
use lightbay_core::report::text::number;
use lightbay_core::report::{Cell, Curve, Curves, Facts, Line, Mark, Phrase, Point, Section, Tone, Unit};

/// Saturation that the most loaded channel allows. Under uniform traffic, a channel with L of the routes to `chips` - 1
/// other chips carries L / (`chips` - 1) of the flits that a chip offers, and at most one flit per cycle.
fn most(chips: usize, claims: &RoutingClaims) -> f64 {
    chips.saturating_sub(1) as f64 / claims.max_channel_load.max(1) as f64
}

/// The limit that the most loaded channel sets, shown before a simulation.
pub(super) fn limit(chips: usize, claims: &RoutingClaims) -> Section {
    let others = chips.saturating_sub(1) as f64;
    let limit = most(chips, claims);
    let mut facts = Facts::new();
    facts.number("limit_flits_per_cycle_per_node", "saturation, at most", Unit::FLITS, limit);
    facts.sentence("if the most loaded channel is full");
    facts.add("max_channel_load", "max channel load", claims.max_channel_load);
    facts.sentence("routes over this channel");
    let pairs = (chips as f64 * others).max(1.0);
    facts.number("avg_hops", "mean hops", Unit::RATIO, claims.route_hop_sum as f64 / pairs);
    let point = |at: f64| Point { at, value: at.min(limit) };
    let curve = Curve {
        name: "delivered_limit".to_owned(),
        label: "delivered, at most".to_owned(),
        unit: Unit::FLITS,
        points: [0.0, limit, limit * 1.5].map(point).to_vec(),
        tone: Tone::Answer,
        steps: false,
    };
    let curves = Curves {
        axis: "offered_flits_per_cycle_per_node",
        axis_label: "offered",
        axis_unit: Unit::FLITS.with_decimals(2),
        curves: vec![curve],
        range: Some((0.0, 1.1 * limit)),
        marks: vec![Mark { at: limit, name: format!("limit {}", number(limit, Unit::FLITS)) }],
        ..Curves::default()
    };
    let answer = Phrase::new().muted("at most ").answer(number(limit, Unit::FLITS));
    Section::empty("Simulation")
        .context(Phrase::new().muted("limit of the most loaded channel"))
        .answer(answer.muted(format!(" {}", Unit::FLITS.symbol)))
        .legend(Phrase::new().muted("the routes were not simulated: simulate=true adds queues and latency"))
        .on_screens("limit", "", curves)
        .on_screens("figures", "", facts)
}

/// Delivered load and latency of a simulation with `settings`; `claims` are those of the simulated routes.
pub(super) fn section(
    (chips, settings): (usize, &SimulationSettings),
    claims: Option<&RoutingClaims>,
    simulation: &Simulation,
) -> Section {
    let mut facts = Facts::new();
    facts.number(
        "saturation_flits_per_cycle_per_node",
        "saturation",
        Unit::FLITS,
        Cell::new(simulation.saturation_flits_per_cycle_per_node),
    );
    facts.sentence(format!("with {}", simulation.routers()));
    if let Some(rate) = simulation.overloaded() {
        facts.number("overloaded_flits_per_cycle_per_node", "delivered above it", Unit::FLITS, rate);
        facts.sentence("at the highest offered rate, which is above saturation");
    }
    facts.add("allocator", "allocator", simulation.allocator.word());
    if simulation.allocator != Allocator::Ideal {
        facts.add("speedup", "speedup", f64::from(simulation.speedup));
        facts.sentence("rounds of the allocator per cycle");
        facts.add("chip_ports", "ports of a chip", f64::from(settings.chip_ports));
        facts.sentence("each carries one flit per cycle into the router and one out of it");
    }
    let curve = |name: &str, label: &str, unit: Unit, tone, of: fn(&(f64, f64, f64)) -> f64| Curve {
        name: name.to_owned(),
        label: label.to_owned(),
        unit,
        points: simulation.curve.iter().map(|point| Point { at: point.0, value: of(point) }).collect(),
        tone,
        steps: false,
    };
    let latency = Unit::new("cycles", 1.0, Some(0));
    let limit_line = |value: f64| Line {
        name: "limit".to_owned(),
        label: format!("channel limit {}", number(value, Unit::FLITS)),
        value,
    };
    let at = simulation.saturation_flits_per_cycle_per_node;
    let saturation = Mark { at, name: format!("saturation {}", number(at, Unit::FLITS)) };
    let curves = Curves {
        axis: "offered_flits_per_cycle_per_node",
        axis_label: "offered",
        axis_unit: Unit::FLITS.with_decimals(2),
        lines: claims
            .map(|claims| most(chips, claims) / settings.cycles_per_flit())
            .map(limit_line)
            .into_iter()
            .collect(),
        marks: vec![saturation],
        curves: vec![
            curve("delivered_flits_per_cycle_per_node", "delivered", Unit::FLITS, Tone::Answer, |point| {
                point.1
            }),
            curve("latency_cycles", "latency", latency, Tone::Text, |point| point.2),
        ],
        ..Default::default()
    };
    let saturation = number(simulation.saturation_flits_per_cycle_per_node, Unit::FLITS);
    let unit = Unit::FLITS.symbol;
    let assumed = format!(" {unit} at saturation, {}", simulation.routers());
    let answer = Phrase::new().answer(saturation).muted(assumed);
    Section::empty("Simulation")
        .context(Phrase::new().muted("claimed until checked with --exact"))
        .answer(answer)
        .remark("These figures are claimed; `lightbay check --exact` simulates again.")
        .block("curve", "Load and latency", curves)
        .block("figures", "Saturation", facts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightbay_core::report::Body;

    #[test]
    fn the_fullest_channel_limits_the_rate_of_every_chip() {
        let claims = RoutingClaims { max_channel_load: 32, vc_hops: Vec::new(), route_hop_sum: 12_288 };
        let section = limit(64, &claims);
        // 63 other chips; a channel with 32 of the routes is full at 63 / 32 flits per cycle and chip.
        assert_eq!(section.answer.to_string(), "at most 1.969 flits/cycle/chip");
        let Body::Curves(curves) = &section.blocks[0].body else { panic!("curves") };
        assert_eq!(curves.curves[0].points[2].value, 63.0 / 32.0);
    }
}
