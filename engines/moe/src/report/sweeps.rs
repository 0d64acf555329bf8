//! Iteration time as a function of the delay of the switch and of the optical degree, and the delay up to which
//! changing circuits shortens the iteration.

use super::{ANALYTIC, ANALYTIC_SHORT, DELAYS, ITERATION, delay, regions};
use crate::plan::FabricKind;
use crate::scenario::{DELAY_PROFILES, MoeScenario, NoPackets};
use crate::schedule::assemble::fabric_ms;
use crate::schedule::break_even::DelayStudy;
use crate::schedule::policies::SwitchPolicy;
use crate::search::routes::Unreachable;
use lightbay_core::clock::Deadline;
use lightbay_core::quantity::percent;
use lightbay_core::report::{
    Cell, Column, Curve, Curves, Facts, Mark, Phrase, Point, Section, Table, Tone, Unavailable, Unit,
};

const MS: Unit = Unit::new("ms", 1.0, Some(3));

/// Minimum gain by circuit changes that counts, as a fraction of the time with static circuits.
const LEAST_GAIN: f64 = 1e-6;

/// Computes circuits for every layer, and static circuits, or returns the reason that there are none.
fn study(scenario: &MoeScenario, deadline: Deadline) -> Result<DelayStudy, Unavailable> {
    let none = |pair: Unreachable| {
        Unavailable::absent(
            format!("server {} cannot reach server {}", pair.from, pair.to),
            pair.because.remedy(),
        )
    };
    DelayStudy::of(scenario, || deadline.is_over()).map_err(none)?.ok_or_else(|| Unavailable::late(deadline))
}

/// Returns the section on iteration time as a function of the delay of the switch, by policy, and on the break-even
/// delay, above which static circuits are at least as good.
pub(super) fn delays(scenario: &MoeScenario, deadline: Deadline) -> Result<Section, Unavailable> {
    let study = study(scenario, deadline)?;
    let still = study.still();
    let slider = delay::slider(scenario, study.break_even_ms());
    let steps = 6 * i32::from(DELAYS.0)..=6 * i32::from(DELAYS.1);
    let mut places: Vec<f64> = steps.map(|step| 10_f64.powf(f64::from(step) / 6.0)).collect();
    places.extend(DELAY_PROFILES.iter().map(|(_, delay)| *delay));
    // The cursor starts at the delay of the scenario.
    let present = scenario.cluster.reconfiguration_delay_ms;
    places.extend(Some(present).filter(|present| slider.ends.0 <= *present && *present <= slider.ends.1));
    places.sort_by(f64::total_cmp);
    places.dedup();
    let policies = [
        ("paper", SwitchPolicy::Paper, Tone::Text),
        ("reuse", SwitchPolicy::Reuse, Tone::Text),
        ("best over all layers", SwitchPolicy::Exact, Tone::Answer),
    ];
    let mut curves: Vec<Curve> = Vec::new();
    for (label, policy, tone) in policies {
        let mut points = Vec::with_capacity(places.len());
        for &at in &places {
            if deadline.is_over() {
                return Err(Unavailable::late(deadline));
            }
            points.extend(study.time(policy, at).map(|value| Point { at, value }));
        }
        curves.push(curve(&format!("{}_ms", policy.word()), label, points, tone));
    }
    if let Some(value) = still {
        let points = places.iter().map(|&at| Point { at, value }).collect();
        curves.push(curve("static_ms", "static circuits", points, Tone::Muted));
    }
    if curves.iter().all(|curve| curve.points.is_empty()) {
        return Err(regions::without_path(scenario));
    }
    let mut facts = Facts::new();
    if let Some((at_once, still)) = study.time(SwitchPolicy::Exact, 0.0).zip(still) {
        facts.number("static_ms", "static circuits", ITERATION, still);
        facts.number("at_once_ms", "changes without delay", ITERATION, at_once);
        facts.number("gain", "maximum gain", Unit::PERCENT, 1.0 - at_once / still);
    }
    if let Some(delay) = study.break_even_ms() {
        facts.number("break_even_ms", "break-even reconfiguration delay", MS, delay);
        facts.sentence("delay at which the fastest schedule takes as long as static circuits");
    } else {
        facts.add("break_even_ms", "break-even reconfiguration delay", "never");
        facts.sentence("static circuits are as good as circuits that change");
    }
    let mut summary = Phrase::new();
    if let Some((at_once, still)) = study.time(SwitchPolicy::Exact, 0.0).zip(still) {
        summary = summary
            .muted("static circuits ")
            .answer(format!("{:.6} s", still / 1e3))
            .muted(", changes without delay ")
            .answer(format!("{:.6} s", at_once / 1e3));
        summary = if still - at_once > LEAST_GAIN * still {
            summary.muted(format!(": at most {} shorter", percent(1.0 - at_once / still)))
        } else {
            summary.muted(": a tie, circuit changes shorten nothing")
        };
    }
    let mut marks = vec![Mark { at: present, name: "now".to_owned() }];
    marks.extend(study.break_even_ms().map(|at| Mark { at, name: "break-even".to_owned() }));
    // A logarithmic axis starts above zero.
    marks.retain(|mark| mark.at > 0.0 && mark.at.is_finite());
    let answer = match study.break_even_ms() {
        Some(at) => {
            let phrase = Phrase::new().muted("pays up to ").answer(delay::words(at));
            match study.time(SwitchPolicy::Exact, 0.0).zip(still) {
                Some((at_once, still)) => {
                    phrase.muted(format!(", at most {}", percent(1.0 - at_once / still)))
                }
                None => phrase,
            }
        }
        None => Phrase::new().muted("changing circuits never pays"),
    };
    // At long delays, policies that change circuits for every layer take far longer than all others, so they do not set
    // the shown range.
    let range = study.time(SwitchPolicy::Exact, 0.0).zip(still).map(|(least, still)| {
        let gain = still - least;
        // Without a gain, a thousandth of the time around static circuits.
        let width = if gain > LEAST_GAIN * still { gain } else { 1e-3 * still };
        (least - 0.2 * width, still + 3.0 * width)
    });
    let curves = Curves {
        range,
        marks,
        axis: "delay_ms",
        axis_knob: "reconfiguration_delay_ms",
        axis_label: "delay",
        axis_unit: MS,
        axis_range: Some(slider.ends),
        axis_is_log: true,
        values_are_log: false,
        curves,
        ..Curves::default()
    };
    Ok(Section::empty("Delays")
        .slider(slider)
        .subject(ANALYTIC_SHORT)
        .answer(answer)
        .sentence(summary)
        .legend(
            "time of an iteration, s; paper: circuits change before every dispatch; reuse: a dispatch uses the \
             circuits of the previous layer",
        )
        .block("break_even", "Break-even", facts)
        .only_written()
        .block("iteration", "Time of an iteration", curves)
        .remark(ANALYTIC))
}

/// Returns the section on iteration time as a function of the optical degree: all other NICs are connected to packet
/// switches, whose total rate per server is `eps_total_gbps` if the scenario sets it.
pub(super) fn degrees(scenario: &MoeScenario, deadline: Deadline) -> Result<Section, Unavailable> {
    let mut measured: Vec<Point> = Vec::new();
    let mut least: Vec<Point> = Vec::new();
    for degree in 1..scenario.region.nics_per_server {
        let mut other = scenario.clone();
        other.region.share_nics(degree);
        // Failed NICs may leave a server without packet switches at some degrees, which have no plan.
        if matches!(other.region.first_without_packets(), Some(NoPackets::Failed { .. })) {
            continue;
        }
        let study = study(&other, deadline)?;
        let at = f64::from(degree);
        let delay = scenario.cluster.reconfiguration_delay_ms;
        measured.extend(study.time(SwitchPolicy::Exact, delay).map(|value| Point { at, value }));
        least.extend(fabric_ms(&other, FabricKind::Pooled).ok().map(|value| Point { at, value }));
    }
    let shortest = measured.iter().min_by(|a, b| a.value.total_cmp(&b.value));
    let answer = shortest.map_or_else(Phrase::new, |shortest| {
        Phrase::new()
            .muted(format!("shortest with {:.0} optical: ", shortest.at))
            .answer(format!("{:.3} s", shortest.value / 1e3))
    });
    let curves = vec![
        curve("iteration_ms", "iteration", measured, Tone::Answer),
        curve("pooled_ms", "pooled, a bound", least, Tone::Muted),
    ];
    let curves = Curves {
        axis: "optical_degree",
        axis_knob: "optical_degree",
        axis_label: "optical NICs",
        axis_unit: Unit::COUNT,
        axis_range: None,
        axis_is_log: false,
        values_are_log: false,
        marks: vec![Mark { at: scenario.region.ocs_nics.len() as f64, name: "now".to_owned() }],
        curves,
        ..Curves::default()
    };
    Ok(Section::new("Degrees", curves)
        .answer(answer)
        .subject(ANALYTIC_SHORT)
        .context(match scenario.region.eps_total_gbps {
            Some(rate) => format!("packet switches at {rate} Gb/s per server in total"),
            None => "all other NICs at packet switches".to_owned(),
        })
        .remark(ANALYTIC))
}

/// Returns the section on iteration time and break-even delay at every rate that has prices.
pub(super) fn rates(scenario: &MoeScenario, deadline: Deadline) -> Result<Section, Unavailable> {
    let columns = vec![
        Column::numbers("link_gbps", "NIC", Unit::GBPS),
        Column::numbers("iteration_ms", "iteration", ITERATION.with_decimals(3)),
        Column::numbers("static_ms", "static", ITERATION.with_decimals(3)),
        Column::numbers("fat_tree_ms", "fat-tree", ITERATION.with_decimals(3)),
        Column::numbers("pooled_ms", "pooled", ITERATION.with_decimals(3)),
        Column::numbers("break_even_ms", "break-even", MS),
    ];
    let mut table = Table::new(["rate", "rates"], columns).bar(1);
    let names = ["iteration", "static circuits", "fat-tree", "pooled, a bound"];
    let mut points: [Vec<Point>; 4] = Default::default();
    let mut answer = Phrase::new();
    let mut usual = None;
    for (number, row) in (0_u32..).zip(&scenario.prices.rates) {
        let mut other = scenario.clone();
        other.region.link_gbps = row.link_gbps;
        let study = study(&other, deadline)?;
        if deadline.is_over() {
            return Err(Unavailable::late(deadline));
        }
        let time = |value: Option<f64>| value.map_or_else(Cell::none, Cell::new);
        let present = row.link_gbps == scenario.region.link_gbps;
        let times = [
            study.time(SwitchPolicy::Exact, scenario.cluster.reconfiguration_delay_ms),
            study.still(),
            fabric_ms(&other, FabricKind::FatTree).ok(),
            fabric_ms(&other, FabricKind::Pooled).ok(),
        ];
        for (points, value) in points.iter_mut().zip(times) {
            points.extend(value.map(|value| Point { at: row.link_gbps, value }));
        }
        if let Some(now) = times[0].filter(|_| present) {
            usual = Some(number);
            answer = Phrase::new()
                .muted(format!("{} Gb/s: ", row.link_gbps))
                .answer(format!("{:.3} s", now / 1e3));
        }
        let mut cells = vec![Cell::new(row.link_gbps).tone(if present { Tone::Answer } else { Tone::Text })];
        cells.extend(times.map(time));
        cells.push(time(study.break_even_ms()));
        table.row(cells).item = Some(number);
    }
    let tones = [Tone::Answer, Tone::Text, Tone::Text, Tone::Muted];
    let keys = ["iteration_ms", "static_ms", "fat_tree_ms", "pooled_ms"];
    let curves = points.into_iter().zip(keys).zip(names.into_iter().zip(tones));
    let curves = Curves {
        axis: "link_gbps",
        axis_label: "rate of a NIC",
        axis_unit: Unit::GBPS,
        axis_is_log: true,
        curves: curves.map(|((points, key), (name, tone))| curve(key, name, points, tone)).collect(),
        marks: vec![Mark { at: scenario.region.link_gbps, name: "now".to_owned() }],
        ..Curves::default()
    };
    Ok(Section::new("Rates", table)
        .answer(answer)
        .usual(usual)
        .on_screens("times", "", curves)
        .subject(ANALYTIC_SHORT)
        .context(format!("circuits change in {}", delay::words(scenario.cluster.reconfiguration_delay_ms)))
        .remark("Without a break-even delay, static circuits are as good as circuits that change.")
        .remark(ANALYTIC))
}

fn curve(name: &str, label: &str, points: Vec<Point>, tone: Tone) -> Curve {
    Curve { name: name.to_owned(), label: label.to_owned(), unit: ITERATION, points, tone, steps: false }
}
