//! Model, region and demand before anything is solved.

use super::delay::words as delay_words;
use super::{ANALYTIC, ANALYTIC_SHORT, failures};
use crate::model::times::LayerTimes;
use crate::scenario::{DELAY_PROFILES, GateTrace, MoeModelChoice, MoeScenario};
use lightbay_core::problem::counted;
use lightbay_core::report::{Cell, Column, Facts, Phrase, Section, Table, Tone, Unit};

const MS: Unit = Unit::new("ms", 1.0, Some(3));

pub(super) fn section(scenario: &MoeScenario) -> Section {
    let shape = scenario.shape();
    let region = &scenario.region;
    let mut facts = Facts::new();
    let name = match scenario.model {
        MoeModelChoice::Preset(preset) => preset.word(),
        MoeModelChoice::Own(_) => "own",
    };
    facts.add("model", "model", name);
    facts.add("stage_layers", "layers of a stage", scenario.stage_layers());
    facts.sentence(format!("{} layers in {} stages", shape.layers, shape.pp));
    facts.add("experts", "experts of a layer", shape.experts);
    let gpus = counted(u64::from(shape.tp), "GPU", "GPUs");
    facts.sentence(format!("{} ranks of {gpus}; top {}", shape.ep, shape.top_k));
    facts.add("servers", "servers of a region", region.servers);
    facts.add("regions", "regions", scenario.regions());
    facts.add("ocs_nics", "optical NICs of a server", region.ocs_nics.len());
    facts.add("eps_nics", "packet-switched NICs", region.eps_nics.len());
    failures::left(scenario, &mut facts);
    facts.number("link_gbps", "rate of a NIC", Unit::GBPS, region.link_gbps);
    let times = LayerTimes::of(scenario);
    facts.part("attention_ms", "attention", MS, times.attention_ms);
    facts.part("gate_ms", "gate", MS, times.gate_ms);
    facts.part("expert_ms", "experts", MS, times.expert_ms);
    facts.number("delay_ms", "delay of the switch", MS, scenario.cluster.reconfiguration_delay_ms);
    let delay = scenario.cluster.reconfiguration_delay_ms;
    facts.sentence(match delay {
        delay if delay <= times.attention_ms => "fits into attention".to_owned(),
        delay if delay <= times.expert_ms => "fits into experts, not attention".to_owned(),
        _ => "fits into no forward phase".to_owned(),
    });
    let bytes = shape.copies() * shape.token_bytes();
    facts.number("rank_bytes", "a rank sends", Unit::GIGABYTES, bytes);
    facts.sentence("in one all-to-all");
    let answer = Phrase::new()
        .answer(format!("{:.2} GB", bytes / 1e9))
        .muted(" of each rank in an all-to-all; switch delay ")
        .answer(delay_words(delay));
    let section = Section::new("Region", facts)
        .answer(answer)
        .on_screens("delays", "Delays of switches, and the phases that hide them", delays(scenario, &times))
        .on_screens("prices", "Prices of one part, $", prices(scenario))
        .subject(ANALYTIC_SHORT)
        .remark(ANALYTIC);
    let section = match &scenario.trace {
        GateTrace::Counts(trace) if trace.counts.iter().any(|count| count.tokens.len() == 1) => {
            section.remark("Counts are totals over all ranks; every rank is assumed to send an equal share.")
        }
        _ => section,
    };
    if delay > 1.0 {
        section.remark(
            "In the testbed of mFabric, an optical switch needed 41 to 68 ms including its control path, and NICs were active \
             again after 5.67 s; the parameter delay_profile sets measured delays by name.",
        )
    } else {
        section
    }
}

/// Returns the table of the delays of switches that have a name, and of the delay of the scenario, with the compute
/// phases of the forward pass that are at least as long.
fn delays(scenario: &MoeScenario, times: &LayerTimes) -> Table {
    let current = scenario.cluster.reconfiguration_delay_ms;
    let mut all: Vec<(String, f64)> =
        DELAY_PROFILES.iter().map(|(name, delay)| (name.replace('_', " "), *delay)).collect();
    if all.iter().all(|(_, delay)| *delay != current) {
        all.push(("this scenario".to_owned(), current));
        all.sort_by(|a, b| a.1.total_cmp(&b.1));
    }
    let columns = vec![
        Column::words("profile", "switch"),
        Column::words("delay", "delay"),
        Column::words("attention", "attention hides it"),
        Column::words("experts", "experts hide it"),
    ];
    let mut table = Table::new(["delay", "delays"], columns);
    for (name, delay) in all {
        let hides = |phase_ms: f64| {
            if delay <= phase_ms { Cell::new("yes") } else { Cell::new("no").tone(Tone::Muted) }
        };
        let tone = if delay == current { Tone::Answer } else { Tone::Text };
        table.row(vec![
            Cell::new(name).tone(tone),
            Cell::new(delay_words(delay)).tone(tone),
            hides(times.attention_ms),
            hides(times.expert_ms),
        ]);
    }
    table
}

/// Returns the table of prices by rate; the rate of the scenario stands out.
fn prices(scenario: &MoeScenario) -> Table {
    let columns = vec![
        Column::numbers("link_gbps", "rate", Unit::GBPS),
        Column::counts("nic_usd", "NIC"),
        Column::counts("transceiver_usd", "transceiver"),
        Column::counts("eps_port_usd", "packet switch port"),
        Column::counts("ocs_port_usd", "optical switch port"),
        Column::counts("patch_port_usd", "patch panel port"),
    ];
    let mut table = Table::new(["rate", "rates"], columns);
    for row in &scenario.prices.rates {
        let tone = if row.link_gbps == scenario.region.link_gbps { Tone::Answer } else { Tone::Text };
        let all = [
            row.link_gbps,
            row.nic_usd,
            row.transceiver_usd,
            row.eps_port_usd,
            row.ocs_port_usd,
            row.patch_port_usd,
        ];
        table.row(all.map(|value| Cell::new(value).tone(tone)).to_vec());
    }
    table
}
