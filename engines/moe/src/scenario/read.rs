//! Reading a scenario from JSON, all problems at once.

use super::shapes::{MoeModel, MoeModelChoice, MoeModelPreset};
use super::trace::{CountedMatrix, CountedTrace, GateTrace, SyntheticTrace};
use super::{
    MAX_EXPERTS, MAX_NICS, MAX_REDUNDANT, MAX_REGION, MAX_SERVERS, MeasuredTimes, MoeCluster, MoeRegion,
    MoeScenario, PlacementRoom, PriceList, PriceRow,
};
use lightbay_core::problem::{Problems, suggestion};
use lightbay_core::read::{Fields, brief, list_at, whole_numbers};
use serde_json::Value;

/// Largest width of a model, and of sequences.
pub(super) const MAX_WIDTH: i64 = 1 << 20;
/// Longest time that is read, ms.
pub(super) const MAX_MS: f64 = 1e9;
/// Largest rate that is read.
pub(super) const MAX_RATE: f64 = 1e7;
/// Largest number of an iteration.
pub(super) const MAX_ITERATION: i64 = 1_000_000;
/// Most numbers of a counted trace.
const MAX_COUNTS: usize = 1 << 24;

impl MoeScenario {
    /// Reads the scenario's own keys. The caller finishes `fields`.
    pub fn read(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Self> {
        let region = part(fields, "region", problems, region);
        let model = model(fields, problems);
        let trace = part(fields, "trace", problems, |inner, problems| {
            if inner.has("counts") {
                counted(inner, problems).map(GateTrace::Counts)
            } else {
                synthetic(inner, problems).map(GateTrace::Synthetic)
            }
        });
        let placement = match fields.optional("placement") {
            None => Some(None),
            Some(_) => part(fields, "placement", problems, placement).map(Some),
        };
        let cluster = part(fields, "cluster", problems, cluster);
        let measured = match fields.optional("measured") {
            None => Some(MeasuredTimes::default()),
            Some(_) => part(fields, "measured", problems, measured),
        };
        let prices = match fields.optional("prices") {
            None => Some(PriceList::default()),
            Some(_) => part(fields, "prices", problems, prices),
        };
        Some(Self {
            region: region?,
            model: model?,
            trace: trace?,
            placement: placement?,
            cluster: cluster?,
            measured: measured?,
            prices: prices?,
        })
    }
}

fn part<T>(
    fields: &mut Fields<'_>,
    key: &'static str,
    problems: &mut Problems,
    read: impl FnOnce(&mut Fields<'_>, &mut Problems) -> Option<T>,
) -> Option<T> {
    let mut inner = fields.object(key, problems)?;
    let value = read(&mut inner, problems);
    inner.finish(problems);
    value
}

fn count(fields: &mut Fields<'_>, key: &'static str, most: u32, problems: &mut Problems) -> Option<u32> {
    fields.int(key, 1..=i64::from(most), problems).map(|number| number as u32)
}

fn region(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<MoeRegion> {
    let servers = count(fields, "servers", MAX_REGION, problems);
    let gpus = count(fields, "gpus_per_server", 64, problems);
    let nics = count(fields, "nics_per_server", MAX_NICS, problems);
    let mut list = |key| {
        let value = fields.required(key, problems)?;
        let path = fields.path_of(key);
        whole_numbers::<u32>(value, &path, problems)
    };
    let (ocs, eps, numa) = (list("ocs_nics"), list("eps_nics"), list("numa_of_nic"));
    let link = fields.float("link_gbps", 1e-3..=MAX_RATE, problems);
    let total = match fields.optional("eps_total_gbps") {
        None => Some(None),
        Some(_) => fields.float("eps_total_gbps", 0.0..=MAX_RATE, problems).map(Some),
    };
    let nvlink = fields.float("nvlink_gbytes_per_s", 1e-3..=MAX_RATE, problems);
    let chunks = count(fields, "pipeline_chunks", 1 << 16, problems);
    Some(MoeRegion {
        servers: servers?,
        gpus_per_server: gpus?,
        nics_per_server: nics?,
        ocs_nics: ocs?,
        eps_nics: eps?,
        numa_of_nic: numa?,
        link_gbps: link?,
        eps_total_gbps: total?,
        nvlink_gbytes_per_s: nvlink?,
        pipeline_chunks: chunks?,
    })
}

fn model(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<MoeModelChoice> {
    let path = fields.path_of("model");
    match fields.required("model", problems)? {
        Value::String(name) => {
            let preset = MoeModelPreset::of(name);
            if preset.is_none() {
                let names = MoeModelPreset::ALL.map(|(name, _)| name);
                problems.add(path, format!("is '{name}'"), suggestion(name, &names));
            }
            preset.map(MoeModelChoice::Preset)
        }
        Value::Object(_) => part(fields, "model", problems, shape).map(MoeModelChoice::Own),
        other => {
            problems.add(
                path,
                format!("is {}", brief(other)),
                "give the name of a preset or an object { … }",
            );
            None
        }
    }
}

fn shape(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<MoeModel> {
    let mut width = |key, least| fields.int(key, least..=MAX_WIDTH, problems).map(|number| number as u32);
    let (layers, hidden, ffn) = (width("layers", 1), width("hidden", 1), width("ffn", 1));
    let shared_ffn = width("shared_ffn", 0);
    let (kv_width, seq, micro_batch) = (width("kv_width", 1), width("seq", 1), width("micro_batch", 1));
    let (tp, pp) = (width("tp", 1), width("pp", 1));
    let experts = count(fields, "experts", MAX_EXPERTS, problems);
    let (top_k, ep) = (count(fields, "top_k", MAX_EXPERTS, problems), count(fields, "ep", 4096, problems));
    Some(MoeModel {
        layers: layers?,
        hidden: hidden?,
        ffn: ffn?,
        shared_ffn: shared_ffn?,
        experts: experts?,
        top_k: top_k?,
        kv_width: kv_width?,
        seq: seq?,
        micro_batch: micro_batch?,
        ep: ep?,
        tp: tp?,
        pp: pp?,
    })
}

fn synthetic(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<SyntheticTrace> {
    let usual = SyntheticTrace::default();
    let iteration = fields.int_or("iteration", 0..=MAX_ITERATION, i64::from(usual.iteration), problems);
    let seed = fields.int_or("seed", 0..=i64::MAX, usual.seed as i64, problems);
    let kappa = fields.float_or("kappa", 1e-3..=1e9, usual.kappa, problems);
    let scale = fields.float_or("popularity_scale", 0.0..=20.0, usual.popularity_scale, problems);
    let memory = fields.float_or("popularity_memory", 0.0..=1.0, usual.popularity_memory, problems);
    let passage = fields.float_or("passage_std", 0.0..=20.0, usual.passage_std, problems);
    let balance = fields.float_or("balance", 0.0..=1.0, usual.balance, problems);
    let iterations = fields.float_or("balance_iterations", 1e-3..=1e9, usual.balance_iterations, problems);
    Some(SyntheticTrace {
        iteration: iteration? as u32,
        seed: seed? as u64,
        kappa: kappa?,
        popularity_scale: scale?,
        popularity_memory: memory?,
        passage_std: passage?,
        balance: balance?,
        balance_iterations: iterations?,
    })
}

fn counted(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<CountedTrace> {
    let iteration = fields.int("iteration", 0..=i64::from(u32::MAX), problems);
    let counts = fields.each("counts", problems, |fields, problems| {
        let iteration = fields.int("iteration", 0..=i64::from(u32::MAX), problems);
        let layer = fields.int("layer", 0..=MAX_WIDTH, problems);
        let path = fields.path_of("tokens");
        let rows = fields.list("tokens", problems)?;
        let mut tokens = Vec::with_capacity(rows.len());
        for (index, row) in rows.iter().enumerate() {
            tokens.extend(numbers(row, &format!("{path}[{index}]"), problems));
        }
        let complete = tokens.len() == rows.len();
        Some(CountedMatrix {
            iteration: iteration? as u32,
            layer: layer? as u32,
            tokens: complete.then_some(tokens)?,
        })
    })?;
    let size: usize = counts.iter().flat_map(|count| &count.tokens).map(Vec::len).sum();
    if size > MAX_COUNTS {
        let path = fields.path_of("counts");
        problems.add(path, format!("has {size} numbers"), format!("give at most {MAX_COUNTS}"));
        return None;
    }
    Some(CountedTrace { iteration: iteration? as u32, counts })
}

/// A row of counts: finite and not negative.
fn numbers(value: &Value, path: &str, problems: &mut Problems) -> Option<Vec<f64>> {
    let list = list_at(value, path, problems)?;
    let mut row = Vec::with_capacity(list.len());
    for (index, entry) in list.iter().enumerate() {
        match entry.as_f64().filter(|number| number.is_finite() && (0.0..=1e15).contains(number)) {
            Some(number) => row.push(number),
            None => problems.add(
                format!("{path}[{index}]"),
                format!("is {}", brief(entry)),
                "give a count of tokens, 0 or more",
            ),
        }
    }
    (row.len() == list.len()).then_some(row)
}

fn placement(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<PlacementRoom> {
    let usual = PlacementRoom::default();
    let redundant = fields.int_or("redundant_experts", 0..=i64::from(MAX_REDUNDANT), 0, problems);
    let most = i64::from(MAX_EXPERTS);
    let groups = fields.int_or("expert_groups", 1..=most, i64::from(usual.expert_groups), problems);
    Some(PlacementRoom { redundant_experts: redundant? as u32, expert_groups: groups? as u32 })
}

fn cluster(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<MoeCluster> {
    let servers = count(fields, "servers", MAX_SERVERS, problems);
    let delay = fields.float("reconfiguration_delay_ms", 0.0..=MAX_MS, problems);
    let tflops = fields.float("sustained_tflops", 1e-6..=1e9, problems);
    let micro_batches = count(fields, "micro_batches", 1 << 20, problems);
    Some(MoeCluster {
        servers: servers?,
        reconfiguration_delay_ms: delay?,
        sustained_tflops: tflops?,
        micro_batches: micro_batches?,
    })
}

fn measured(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<MeasuredTimes> {
    let mut time = |key| match fields.optional(key) {
        None => Some(None),
        Some(_) => fields.float(key, 0.0..=MAX_MS, problems).map(Some),
    };
    let (attention_ms, gate_ms, expert_ms) = (time("attention_ms"), time("gate_ms"), time("expert_ms"));
    Some(MeasuredTimes { attention_ms: attention_ms?, gate_ms: gate_ms?, expert_ms: expert_ms? })
}

fn prices(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<PriceList> {
    let note = fields.text("note", problems).map(str::to_owned);
    let rates = fields.each("rates", problems, |fields, problems| {
        let link = fields.float("link_gbps", 1e-3..=MAX_RATE, problems);
        let mut price = |key| fields.float(key, 0.0..=1e9, problems);
        let (transceiver, nic) = (price("transceiver_usd"), price("nic_usd"));
        let (eps, ocs, patch) = (price("eps_port_usd"), price("ocs_port_usd"), price("patch_port_usd"));
        Some(PriceRow {
            link_gbps: link?,
            transceiver_usd: transceiver?,
            nic_usd: nic?,
            eps_port_usd: eps?,
            ocs_port_usd: ocs?,
            patch_port_usd: patch?,
        })
    });
    let fibre = fields.float("fibre_usd", 0.0..=1e9, problems);
    let cable = fields.float("copper_cable_usd", 0.0..=1e9, problems);
    let copper = fields.bool_or("copper_links", false, problems);
    Some(PriceList {
        note: note?,
        rates: rates?,
        fibre_usd: fibre?,
        copper_cable_usd: cable?,
        copper_links: copper?,
    })
}
