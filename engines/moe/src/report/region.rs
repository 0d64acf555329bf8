//! Model, region and demand before anything is solved.

use super::{ANALYTIC, ANALYTIC_SHORT, failures};
use crate::model::times::LayerTimes;
use crate::scenario::{GateTrace, MoeModelChoice, MoeScenario};
use lightbay_core::report::{Facts, Section, Unit};

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
    facts.sentence(format!("on {} ranks of {} GPUs, {} for each token", shape.ep, shape.tp, shape.top_k));
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
        delay if delay <= times.attention_ms => "fits into attention compute".to_owned(),
        delay if delay <= times.expert_ms => "fits into expert compute, not into attention".to_owned(),
        _ => "fits into no phase of the forward pass".to_owned(),
    });
    let bytes = shape.copies() * shape.token_bytes();
    facts.number("rank_bytes", "a rank sends", Unit::GIGABYTES, bytes);
    facts.sentence("in one all-to-all");
    let section = Section::new("Region", facts).subject(ANALYTIC_SHORT).remark(ANALYTIC);
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
