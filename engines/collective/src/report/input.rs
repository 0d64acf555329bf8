//! The network and the demand.

use super::occupancy::binding;
use super::places::{folded, has_far_links, places};
use super::{ExplainedPlan, OVERVIEW};
use crate::scenario::{ChunkList, CollectiveScenario, CollectiveSort, LinkRecord, NodeSort, Topology};
use lightbay_core::quantity::grouped;
use lightbay_core::report::{About, Cell, Column, Facts, Matrix, Phrase, Section, Table, Tone, Unit, text};
use std::collections::{BTreeMap, BTreeSet};

/// Unit of rates, which are stored in GB/s.
const GBYTE_PER_S: Unit = Unit::new("GB/s", 1.0, None);
/// Unit of times, which are stored in µs.
const MICROSECONDS: Unit = Unit::new("µs", 1.0, None);

/// Forms in which a screen shows the network.
pub(super) const FORMS: &[&str] = &["drawn", "matrix"];

/// Maximum number of rows, and of columns, of a matrix that is shown.
const MOST_NODES: usize = 64;

/// Maximum number of nodes of which equal boxes are all drawn.
const MOST_UNFOLDED: usize = 24;

/// Nodes of a matrix of links.
struct DrawnNodes {
    nodes: Vec<u32>,
    places: Vec<[f64; 2]>,
    is_grid: bool,
    /// Number of equal boxes of which the first is drawn, and the number of its nodes; `None` if all nodes are drawn.
    fold: Option<(usize, usize)>,
}

impl DrawnNodes {
    /// Returns all nodes, or one of several equal boxes; `None` if the network has too many nodes for both.
    fn of(topology: &Topology) -> Option<Self> {
        let count = topology.nodes.len();
        let folded = if count > MOST_UNFOLDED { folded(topology) } else { None };
        let Some(folded) = folded else {
            let (places, is_grid) = places(topology);
            let nodes = (0..count as u32).collect();
            return (count <= MOST_NODES).then_some(Self { nodes, places, is_grid, fold: None });
        };
        let fold = Some((folded.boxes, folded.in_box));
        Some(Self { nodes: folded.nodes, places: folded.places, is_grid: false, fold })
    }
}

/// Returns the matrix of link rates, by tail and head; links of the cut that gives the bound of a plan are marked.
fn links(scenario: &CollectiveScenario, binding: &BTreeSet<(u32, u32)>, drawn: &DrawnNodes) -> Matrix {
    let topology = &scenario.topology;
    let mut rates: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for link in &topology.links {
        *rates.entry((link.from, link.to)).or_default() += link.capacity_gbyte_per_s / link.beta_scale;
    }
    let failed: BTreeSet<(u32, u32)> = scenario.failed_links.iter().map(|ends| (ends[0], ends[1])).collect();
    let name = |node: u32| topology.nodes.get(node as usize).map_or("", |node| node.name.as_str());
    let nodes = || drawn.nodes.iter().flat_map(|from| drawn.nodes.iter().map(move |to| (*from, *to)));
    let cell = |ends: (u32, u32)| match rates.get(&ends) {
        _ if failed.contains(&ends) => Cell::new("x").tone(Tone::Bad),
        Some(rate) if binding.contains(&ends) => Cell::new(*rate).tone(Tone::Answer),
        Some(rate) => Cell::new(*rate),
        None => Cell::new("·").tone(Tone::Muted),
    };
    let about = |at: (usize, (u32, u32))| {
        let (at, ends) = at;
        let known = rates.get(&ends).copied().filter(|_| !failed.contains(&ends));
        let phrase = Phrase::new().answer(format!("> {}→{}", name(ends.0), name(ends.1)));
        let sentence = match known {
            Some(rate) => phrase.text(format!("  {} GB/s", text::number(rate, GBYTE_PER_S))),
            None if failed.contains(&ends) => phrase.bad("  failed"),
            None => return About::default(),
        };
        let sentence = match drawn.fold {
            Some((boxes, _)) => sentence.muted(format!("  one such link in each of {boxes} boxes")),
            None if binding.contains(&ends) => sentence.muted("  across a binding cut"),
            None => sentence,
        };
        About { item: Some(at as u32), sentence, details: Vec::new() }
    };
    let names: Vec<String> = drawn.nodes.iter().map(|node| name(*node).to_owned()).collect();
    Matrix {
        name: "capacity_gbyte_per_s",
        unit: GBYTE_PER_S,
        rows: names.clone(),
        columns: names,
        cells: nodes().map(cell).collect(),
        shaded: true,
        about: nodes().enumerate().map(about).collect(),
        places: drawn.places.clone(),
        is_grid: drawn.is_grid,
        ..Matrix::default()
    }
}

/// Returns the setting of the rate of each link, by cell of the matrix; failed links have none.
fn edits(scenario: &CollectiveScenario, drawn: &DrawnNodes) -> BTreeMap<u32, String> {
    let place: BTreeMap<u32, usize> = drawn.nodes.iter().enumerate().map(|(at, node)| (*node, at)).collect();
    let width = drawn.nodes.len();
    let links = scenario.topology.links.iter();
    let works = links.filter(|link| !scenario.failed_links.contains(&[link.from, link.to]));
    let edit = |link: &LinkRecord| {
        let at = place.get(&link.from)? * width + place.get(&link.to)?;
        Some((at as u32, format!("capacities={}-{}:{}", link.from, link.to, link.capacity_gbyte_per_s)))
    };
    works.filter_map(edit).collect()
}

/// Returns the section on nodes, and on links by type, rate and latency; on screens, the section lists every link if
/// the network has few nodes.
pub(super) fn network(scenario: &CollectiveScenario, plan: Option<ExplainedPlan<'_>>) -> Section {
    let topology = &scenario.topology;
    let switches = topology.nodes.iter().filter(|node| node.kind == NodeSort::Switch).count();
    let mut facts = Facts::new();
    facts.add("name", "name", topology.name.clone());
    facts.add("gpus", "GPUs", topology.nodes.len() - switches);
    facts.add("switches", "switches", switches);
    if switches > 0 {
        let model = &topology.switch_model;
        let copy = if model.copy { "copy" } else { "do not copy" };
        let reduce = if model.reduce { ", reduce" } else { "" };
        facts.add("switch_model", "switch model", format!("{}, {copy}{reduce}", model.hop.word()));
    }
    facts.add("symmetries", "generators of symmetries", topology.symmetry_generators.len());
    facts.add("failed_links", "failed links", scenario.failed_links.len());
    let mut sorts: BTreeMap<(String, u64, u64), usize> = BTreeMap::new();
    for link in &topology.links {
        // The bits of positive floats sort in the same order as the numbers.
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
    let drawn = DrawnNodes::of(topology);
    let binding = plan.map(binding).unwrap_or_default();
    let marks = [
        (!binding.is_empty()).then_some("bold or @: link across a binding cut"),
        (!scenario.failed_links.is_empty()).then_some("x: failed link"),
        drawn
            .as_ref()
            .filter(|drawn| drawn.is_grid && has_far_links(topology))
            .map(|_| "short lines: links to nodes farther away"),
    ];
    let section = match &drawn {
        Some(drawn) => Section::empty("Network")
            .edits(edits(scenario, drawn))
            .on_screens("rates", "", links(scenario, &binding, drawn))
            .legend(marks.into_iter().flatten().collect::<Vec<_>>().join("; ")),
        None => Section::empty("Network"),
    };
    let count = |count: usize| grouped(count as u64);
    let mut size = format!("{} nodes, {} links", count(topology.nodes.len()), count(topology.links.len()));
    if let Some((boxes, nodes)) = drawn.and_then(|drawn| drawn.fold) {
        size = format!("{size}; 1 of {boxes} equal boxes of {nodes} nodes");
    }
    section.context(size).block("facts", "", facts).block("links", "Links", table)
}

/// Returns the matrix of the number of hops to the destinations, with a row for each chunk, or for each source if there
/// are many chunks; `None` without chunks, or if there are too many sources or ranks.
fn distances(scenario: &CollectiveScenario, chunks: &ChunkList) -> Option<Matrix> {
    let topology = &scenario.topology;
    let ranks = scenario.demand.rank_nodes(topology);
    let by_source = chunks.len() > MOST_NODES;
    // Chunks of each row, in the order of the rows.
    let mut rows: Vec<(u32, Vec<usize>)> = Vec::new();
    let mut row_of: BTreeMap<u32, usize> = BTreeMap::new();
    for chunk in 0..chunks.len() {
        let source = chunks.source(chunk);
        if let Some(row) = row_of.get(&source).filter(|_| by_source) {
            rows[*row].1.push(chunk);
        } else {
            row_of.insert(source, rows.len());
            rows.push((source, vec![chunk]));
        }
    }
    if rows.is_empty() || rows.len() > MOST_NODES || ranks.len() > MOST_NODES {
        return None;
    }
    let name =
        |node: u32| topology.nodes.get(node as usize).map_or_else(String::new, |node| node.name.clone());
    let mut hops: BTreeMap<u32, BTreeMap<u32, u32>> = BTreeMap::new();
    let mut cells = Vec::with_capacity(rows.len() * ranks.len());
    let mut about = Vec::with_capacity(cells.capacity());
    for (source, of) in &rows {
        let known = hops.entry(*source).or_insert_with(|| hops_from(scenario, *source));
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        for dest in of.iter().flat_map(|chunk| chunks.dests(*chunk)) {
            *counts.entry(dest).or_default() += 1;
        }
        for rank in &ranks {
            let number = cells.len() as u32;
            let (count, hops) = (counts.get(rank), known.get(rank));
            cells.push(match (count, hops) {
                (Some(_), Some(hops)) => Cell::new(*hops),
                (Some(_), None) => Cell::new("x").tone(Tone::Bad),
                (None, _) => Cell::new("·").tone(Tone::Muted),
            });
            let Some((count, hops)) = count.zip(hops) else {
                about.push(About::default());
                continue;
            };
            let chunk = match (by_source, count) {
                (false, _) => format!("> chunk {}", of[0]),
                (true, 1) => "> 1 chunk".to_owned(),
                (true, _) => format!("> {count} chunks"),
            };
            let word = if *hops == 1 { "hop" } else { "hops" };
            let sentence = Phrase::new()
                .answer(chunk)
                .muted("  from ")
                .text(name(*source))
                .muted(" to ")
                .text(format!("{}  {hops} {word}", name(*rank)))
                .muted(" on the shortest path");
            about.push(About { item: Some(number), sentence, details: Vec::new() });
        }
    }
    let row = |(source, of): &(u32, Vec<usize>)| {
        if by_source { name(*source) } else { format!("{} {}", of[0], name(*source)) }
    };
    Some(Matrix {
        name: "hops",
        unit: Unit::COUNT,
        rows: rows.iter().map(row).collect(),
        columns: ranks.iter().map(|rank| name(*rank)).collect(),
        cells,
        shaded: true,
        about,
        ..Matrix::default()
    })
}

/// Returns, for every node that can be reached over working links, the number of hops of the shortest path from
/// `source`.
fn hops_from(scenario: &CollectiveScenario, source: u32) -> BTreeMap<u32, u32> {
    let mut hops = BTreeMap::from([(source, 0)]);
    let mut last = vec![source];
    while !last.is_empty() {
        let links = scenario.topology.links.iter();
        let works = links.filter(|link| !scenario.failed_links.contains(&[link.from, link.to]));
        let mut next = Vec::new();
        for link in works.filter(|link| last.contains(&link.from)) {
            let far = hops[&link.from] + 1;
            if let std::collections::btree_map::Entry::Vacant(open) = hops.entry(link.to) {
                open.insert(far);
                next.push(link.to);
            }
        }
        last = next;
    }
    hops
}

/// Returns the section on collective, ranks, chunks and sizes.
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
        facts.add("copy", "copies on the way", "no: the source sends every destination a separate copy");
    }
    let section = match distances(scenario, &chunks) {
        Some(matrix) => {
            let rows = if chunks.len() > MOST_NODES { "sources" } else { "chunks by source" };
            // The first part of an AllReduce is the same demand in the other direction.
            let part = match demand.collective {
                CollectiveSort::AllReduce => "AllGather (ReduceScatter: reversed); ",
                _ => "",
            };
            Section::empty("Demand").on_screens("hops", "", matrix).legend(format!(
                "{part}rows: {rows}, columns: destinations; hops of the shortest path, · no delivery"
            ))
        }
        None => Section::empty("Demand"),
    };
    let deliveries = grouped(chunks.deliveries() as u64);
    let answer = Phrase::new().answer(format!("{deliveries} deliveries"));
    let section = section.answer(answer).block("facts", "", facts);
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
