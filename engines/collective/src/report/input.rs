//! The network and the demand.

use super::OVERVIEW;
use crate::scenario::{CollectiveScenario, CollectiveSort, NodeSort};
use lightbay_core::report::{Cell, Column, Facts, Section, Table, Unit};
use std::collections::BTreeMap;

/// Rate in files, read as it is.
const GBYTE_PER_S: Unit = Unit::new("GB/s", 1.0, None);
/// Time in files, read as it is.
const MICROSECONDS: Unit = Unit::new("µs", 1.0, None);

/// Nodes, and links by sort, rate and latency.
pub(super) fn network(scenario: &CollectiveScenario) -> Section {
    let topology = &scenario.topology;
    let switches = topology.nodes.iter().filter(|node| node.kind == NodeSort::Switch).count();
    let mut facts = Facts::new();
    facts.add("name", "name", topology.name.clone());
    facts.add("gpus", "GPUs", topology.nodes.len() - switches);
    facts.add("switches", "switches", switches);
    if switches > 0 {
        let model = &topology.switch_model;
        let copy = if model.copy { "copy" } else { "do not copy" };
        let reduce = if model.reduce { ", add up" } else { "" };
        facts.add("switch_model", "switch model", format!("{}, {copy}{reduce}", model.hop.word()));
    }
    facts.add("symmetries", "symmetries", topology.symmetry_generators.len());
    facts.add("failed_links", "links out of order", scenario.failed_links.len());
    let mut sorts: BTreeMap<(String, u64, u64), usize> = BTreeMap::new();
    for link in &topology.links {
        // Positive floats have the order of their bits.
        let rate = (link.capacity_gbyte_per_s / link.beta_scale).to_bits();
        *sorts.entry((link.kind.clone(), rate, (link.alpha_us * link.alpha_scale).to_bits())).or_default() +=
            1;
    }
    let columns = vec![
        Column::words("kind", "links"),
        Column::numbers("capacity_gbyte_per_s", "rate", GBYTE_PER_S),
        Column::numbers("alpha_us", "latency", MICROSECONDS),
        Column::counts("links", "number"),
    ];
    let mut table = Table::new(["sort of links", "sorts of links"], columns).overview(OVERVIEW);
    for ((kind, rate, alpha), count) in sorts {
        table.row(vec![
            Cell::new(kind),
            Cell::new(f64::from_bits(rate)),
            Cell::new(f64::from_bits(alpha)),
            Cell::new(count),
        ]);
    }
    Section::empty("Network").block("facts", "", facts).block("links", "Links", table)
}

/// Collective, ranks, chunks and sizes.
pub(super) fn demand(scenario: &CollectiveScenario) -> Section {
    let (topology, demand) = (&scenario.topology, &scenario.demand);
    let chunks = demand.expand(topology);
    let mut facts = Facts::new();
    facts.add("collective", "collective", demand.collective.label());
    if demand.collective.is_named() {
        facts.add("ranks", "ranks", demand.rank_nodes(topology).len());
    }
    facts.add("chunks", "chunks", chunks.len());
    facts.add("deliveries", "deliveries", chunks.deliveries());
    facts.number(
        "chunk_bytes",
        "size of a chunk",
        Unit::new("bytes", 1.0, None),
        demand.chunk_size(topology),
    );
    if let Some(bytes) = demand.output_buffer_bytes {
        facts.number("output_buffer_bytes", "buffer", Unit::new("bytes", 1.0, None), bytes);
    }
    if !demand.copy {
        facts.add("copy", "copies on the way", "no: every destination gets its own from the source");
    }
    let section = Section::empty("Demand").block("facts", "", facts);
    if demand.collective != CollectiveSort::MultiTenant {
        return section;
    }
    let columns = vec![
        Column::words("tenant", "tenant"),
        Column::words("collective", "collective"),
        Column::counts("ranks", "ranks"),
        Column::numbers("priority", "priority", Unit::NUMBER),
    ];
    let mut table = Table::new(["tenant", "tenants"], columns).overview(OVERVIEW);
    for tenant in &demand.tenants {
        table.row(vec![
            Cell::new(tenant.name.clone()),
            Cell::new(tenant.collective.label()),
            Cell::new(tenant.ranks.len()),
            Cell::new(tenant.priority),
        ]);
    }
    section.block("tenants", "Tenants", table)
}
