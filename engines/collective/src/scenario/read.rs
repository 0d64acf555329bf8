//! Reading a scenario from JSON, all problems at once.

use super::demand::{ChunkWish, CollectiveSort, Demand, TenantDemand};
use super::families::{FamilySort, NetworkFamily};
use super::{
    CollectiveScenario, EpochRule, LinkRecord, MAX_NODES, NodeRecord, NodeSort, SwitchHop, SwitchModel,
    TimeRule, Topology,
};
use lightbay_core::exchange::DerivedFrom;
use lightbay_core::problem::Problems;
use lightbay_core::read::{Fields, brief, list_at, whole_numbers};
use serde_json::Value;

/// Largest number in a file: bytes, microseconds, GB/s.
const HUGE: f64 = 1e18;
/// Largest number of chunks of a rank.
pub(super) const MAX_PER_RANK: i64 = 1 << 16;
/// Smallest and largest rate, GB/s.
pub(super) const RATES: [f64; 2] = [1e-9, 1e9];
/// Largest latency, µs.
pub(super) const MAX_ALPHA: f64 = 1e12;
/// Smallest and largest factor of a straggler.
pub(super) const SCALES: [f64; 2] = [1e-6, 1e6];

impl CollectiveScenario {
    /// Reads the scenario's own keys. The caller finishes `fields`.
    pub fn read(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Self> {
        let topology = fields.object("topology", problems).and_then(|mut inner| {
            let topology = Topology::read(&mut inner, problems);
            inner.finish(problems);
            topology
        });
        let demand = fields.object("demand", problems).and_then(|mut inner| {
            let demand = Demand::read(&mut inner, problems);
            inner.finish(problems);
            demand
        });
        let time = match fields.optional_object("time", problems) {
            None if fields.has("time") => None,
            None => Some(TimeRule::default()),
            Some(mut inner) => {
                let time = TimeRule::read(&mut inner, problems);
                inner.finish(problems);
                time
            }
        };
        let failed_links = match fields.optional("failed_links") {
            None => Some(Vec::new()),
            Some(value) => pairs(value, &fields.path_of("failed_links"), problems),
        };
        let buffer = match fields.optional("buffer_limit_chunks") {
            None => Some(None),
            Some(_) => {
                fields.int("buffer_limit_chunks", 1..=1 << 30, problems).map(|limit| Some(limit as u32))
            }
        };
        let family = match fields.optional_object("family", problems) {
            None => Some(None),
            Some(mut inner) => {
                let network = inner.choice("network", &FamilySort::ALL, problems);
                let size = inner.required("size", problems);
                let size = size.and_then(|value| whole_numbers(value, &inner.path_of("size"), problems));
                inner.finish(problems);
                network.zip(size).map(|(network, size)| Some(NetworkFamily { network, size }))
            }
        };
        let derived_from = match fields.optional_object("derived_from", problems) {
            None => Some(None),
            Some(mut inner) => {
                let mut text = |key| inner.text(key, problems).map(str::to_owned);
                let (kind, scenario, plan) = (text("kind"), text("scenario_sha256"), text("plan_sha256"));
                inner.finish(problems);
                kind.zip(scenario).zip(plan).map(|((kind, scenario_sha256), plan_sha256)| {
                    Some(DerivedFrom { kind, scenario_sha256, plan_sha256 })
                })
            }
        };
        Some(Self {
            topology: topology?,
            demand: demand?,
            time: time?,
            failed_links: failed_links?,
            buffer_limit_chunks: buffer?,
            family: family?,
            derived_from: derived_from?,
        })
    }
}

impl Topology {
    /// Reads the keys of a topology. The caller finishes `fields`. A number of nodes stands for as many GPUs.
    pub fn read(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Self> {
        fields.skip("format");
        let name = fields.optional_text("name", problems).unwrap_or("own").to_owned();
        let nodes = nodes(fields, problems);
        let links = fields.each("links", problems, link);
        let switch_model = match fields.optional_object("switch_model", problems) {
            None => Some(SwitchModel { copy: true, hop: SwitchHop::StoreAndForward, reduce: false }),
            Some(mut inner) => {
                let copy = inner.bool_or("copy", true, problems);
                let hop = match inner.optional("hop") {
                    None => Some(SwitchHop::StoreAndForward),
                    Some(_) => inner.choice("hop", &SwitchHop::ALL, problems),
                };
                let reduce = inner.bool_or("reduce", false, problems);
                inner.finish(problems);
                copy.zip(hop).zip(reduce).map(|((copy, hop), reduce)| SwitchModel { copy, hop, reduce })
            }
        };
        let path = fields.path_of("symmetry_generators");
        let generators = match fields.optional("symmetry_generators") {
            None => Some(Vec::new()),
            Some(value) => list_at(value, &path, problems).and_then(|list| {
                let rows: Vec<Vec<u32>> = list
                    .iter()
                    .enumerate()
                    .filter_map(|(at, row)| whole_numbers(row, &format!("{path}[{at}]"), problems))
                    .collect();
                (rows.len() == list.len()).then_some(rows)
            }),
        };
        let notes = fields.optional_text("notes", problems).unwrap_or_default().to_owned();
        Some(Self {
            name,
            nodes: nodes?,
            links: links?,
            switch_model: switch_model?,
            symmetry_generators: generators?,
            notes,
        })
    }
}

fn nodes(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Vec<NodeRecord>> {
    if fields.optional("nodes").is_some_and(Value::is_number) {
        let count = fields.int("nodes", 1..=MAX_NODES as i64, problems)?;
        let gpu = |id| NodeRecord { id, name: format!("g{id}"), kind: NodeSort::Gpu, group: None };
        return Some((0..count as u32).map(gpu).collect());
    }
    fields.each("nodes", problems, |fields, problems| {
        let id = fields.int("id", 0..=MAX_NODES as i64, problems);
        let kind = match fields.optional("kind") {
            None => Some(NodeSort::Gpu),
            Some(_) => fields.choice("kind", &NodeSort::ALL, problems),
        };
        let group = match fields.optional("group") {
            None => Some(None),
            Some(_) => fields.int("group", 0..=MAX_NODES as i64, problems).map(|group| Some(group as u32)),
        };
        let (id, kind) = (id? as u32, kind?);
        let letter = if kind == NodeSort::Gpu { "g" } else { "sw" };
        let name =
            fields.optional_text("name", problems).map_or_else(|| format!("{letter}{id}"), str::to_owned);
        Some(NodeRecord { id, name, kind, group: group? })
    })
}

fn link(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<LinkRecord> {
    let from = fields.int("from", 0..=MAX_NODES as i64, problems);
    let to = fields.int("to", 0..=MAX_NODES as i64, problems);
    let capacity = fields.float("capacity_gbyte_per_s", RATES[0]..=RATES[1], problems);
    let alpha = fields.float_or("alpha_us", 0.0..=MAX_ALPHA, 0.0, problems);
    let kind = fields.optional_text("kind", problems).unwrap_or("link").to_owned();
    let alpha_scale = fields.float_or("alpha_scale", 0.0..=SCALES[1], 1.0, problems);
    let beta_scale = fields.float_or("beta_scale", SCALES[0]..=SCALES[1], 1.0, problems);
    let path = fields.path_of("up_us");
    let up_us = match fields.optional("up_us") {
        None => Some(Vec::new()),
        Some(value) => list_at(value, &path, problems).and_then(|list| {
            let spans: Vec<[f64; 2]> = list
                .iter()
                .enumerate()
                .filter_map(|(at, entry)| {
                    let span = entry.as_array().filter(|ends| ends.len() == 2);
                    let ends = span.and_then(|ends| Some([ends[0].as_f64()?, ends[1].as_f64()?]));
                    if ends.is_none() {
                        problems.add(
                            format!("{path}[{at}]"),
                            format!("is {}", brief(entry)),
                            "give [begin, end] in µs",
                        );
                    }
                    ends
                })
                .collect();
            (spans.len() == list.len()).then_some(spans)
        }),
    };
    Some(LinkRecord {
        from: from? as u32,
        to: to? as u32,
        capacity_gbyte_per_s: capacity?,
        alpha_us: alpha?,
        kind,
        alpha_scale: alpha_scale?,
        beta_scale: beta_scale?,
        up_us: up_us?,
    })
}

fn pairs(value: &Value, path: &str, problems: &mut Problems) -> Option<Vec<[u32; 2]>> {
    let list = list_at(value, path, problems)?;
    let mut pairs = Vec::with_capacity(list.len());
    for (at, entry) in list.iter().enumerate() {
        let path = format!("{path}[{at}]");
        match whole_numbers::<u32>(entry, &path, problems)?.as_slice() {
            [from, to] => pairs.push([*from, *to]),
            _ => problems.add(path, format!("is {}", brief(entry)), "give [from, to]"),
        }
    }
    (pairs.len() == list.len()).then_some(pairs)
}

impl Demand {
    /// Reads the keys of a demand. The caller finishes `fields`.
    pub fn read(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Self> {
        for known in ["format", "name"] {
            fields.skip(known);
        }
        let collective = fields.choice("collective", &CollectiveSort::ALL, problems);
        let size = |key, fields: &mut Fields<'_>, problems: &mut Problems| match fields.optional(key) {
            None => Some(None),
            Some(_) => fields.float(key, 0.0..=HUGE, problems).map(Some),
        };
        let output_buffer_bytes = size("output_buffer_bytes", fields, problems);
        let chunk_bytes = size("chunk_bytes", fields, problems);
        let path = fields.path_of("sizes_bytes");
        let sizes_bytes = match fields.optional("sizes_bytes") {
            None => Some(Vec::new()),
            Some(value) => whole_numbers(value, &path, problems),
        };
        let chunks_per_rank = fields.int_or("chunks_per_rank", 1..=MAX_PER_RANK, 1, problems);
        let path = fields.path_of("ranks");
        let ranks = match fields.optional("ranks") {
            None => Some(None),
            Some(value) => whole_numbers(value, &path, problems).map(Some),
        };
        let root = root(fields, problems);
        let copy = fields.bool_or("copy", true, problems);
        let chunks = match fields.optional("chunks") {
            None => Some(Vec::new()),
            Some(_) => fields.each("chunks", problems, chunk),
        };
        let path = fields.path_of("matrix");
        let matrix = match fields.optional("matrix") {
            None => Some(Vec::new()),
            Some(value) => list_at(value, &path, problems).and_then(|list| {
                let rows: Vec<Vec<u32>> = list
                    .iter()
                    .enumerate()
                    .filter_map(|(at, row)| whole_numbers(row, &format!("{path}[{at}]"), problems))
                    .collect();
                (rows.len() == list.len()).then_some(rows)
            }),
        };
        let tenants = match fields.optional("tenants") {
            None => Some(Vec::new()),
            Some(_) => fields.each("tenants", problems, tenant),
        };
        Some(Self {
            collective: collective?,
            output_buffer_bytes: output_buffer_bytes?,
            chunk_bytes: chunk_bytes?,
            sizes_bytes: sizes_bytes?,
            chunks_per_rank: chunks_per_rank? as u32,
            ranks: ranks?,
            root: root.ok()?,
            copy: copy?,
            chunks: chunks?,
            matrix: matrix?,
            tenants: tenants?,
        })
    }
}

/// The root, if there is one; `Err` if it cannot be read.
fn root(fields: &mut Fields<'_>, problems: &mut Problems) -> Result<Option<u32>, ()> {
    match fields.optional("root") {
        None => Ok(None),
        Some(_) => fields.int("root", 0..=MAX_NODES as i64, problems).map(|root| Some(root as u32)).ok_or(()),
    }
}

fn priority(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<f64> {
    fields.float_or("priority", 1e-6..=1e6, 1.0, problems)
}

fn chunk(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<ChunkWish> {
    // Ids follow the list, and local numbers only name chunks.
    for known in ["id", "local"] {
        fields.skip(known);
    }
    let source = fields.int("source", 0..=MAX_NODES as i64, problems);
    let path = fields.path_of("dests");
    let dests = fields.required("dests", problems).and_then(|value| whole_numbers(value, &path, problems));
    let tenant = fields.int_or("tenant", 0..=1 << 20, 0, problems);
    let priority = priority(fields, problems);
    Some(ChunkWish { source: source? as u32, dests: dests?, tenant: tenant? as u32, priority: priority? })
}

fn tenant(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<TenantDemand> {
    let name = fields.text("name", problems).map(str::to_owned);
    let collective = fields.choice("collective", &CollectiveSort::ALL, problems);
    let per_rank = fields.int_or("chunks_per_rank", 1..=MAX_PER_RANK, 1, problems);
    let path = fields.path_of("ranks");
    let ranks = fields.required("ranks", problems).and_then(|value| whole_numbers(value, &path, problems));
    let root = root(fields, problems);
    let priority = priority(fields, problems);
    Some(TenantDemand {
        name: name?,
        collective: collective?,
        chunks_per_rank: per_rank? as u32,
        ranks: ranks?,
        root: root.ok()?,
        priority: priority?,
    })
}

impl TimeRule {
    fn read(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Self> {
        let epoch = match fields.optional("epoch") {
            None => Some(EpochRule::FastestLink),
            Some(_) => fields.choice("epoch", &EpochRule::ALL, problems),
        };
        let epoch_us = match fields.optional("epoch_us") {
            None => Some(None),
            Some(_) => fields.float("epoch_us", 1e-9..=HUGE, problems).map(Some),
        };
        let multiplier = fields.float_or("epoch_multiplier", SCALES[0]..=SCALES[1], 1.0, problems);
        let alpha_threshold = fields.float_or("alpha_threshold", 0.0..=1e6, 0.1, problems);
        Some(Self {
            epoch: epoch?,
            epoch_us: epoch_us?,
            epoch_multiplier: multiplier?,
            alpha_threshold: alpha_threshold?,
        })
    }
}
