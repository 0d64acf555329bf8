//! The first line of a SimAI text workload: policy and `key: value` pairs, with the variations that occur in real
//! files.

use lightbay_core::problem::{Problems, suggestion};

use crate::detect::SIMAI_POLICIES;
use crate::number;

/// Fields of line 1; missing fields are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimaiHeader {
    /// The parallelism policy, one of [`SIMAI_POLICIES`].
    pub policy: String,
    /// Number of ranks of a tensor-parallel group (`model_parallel_NPU_group`).
    pub tp: Option<u64>,
    /// Number of ranks of an expert-parallel group (`ep`, `expert_parallel_npu_group`).
    pub ep: Option<u64>,
    /// Number of pipeline stages (`pp`).
    pub pp: Option<u64>,
    /// Number of layers per stage (`vpp`); not the virtual pipeline of Megatron.
    pub layers_per_stage: Option<u64>,
    /// Number of micro-batches per iteration (`ga`).
    pub micro_batches: Option<u64>,
    /// Number of GPUs of the job (`all_gpus`).
    pub gpus: Option<u64>,
    /// Numbers of the layers whose activations are stored.
    pub checkpoints: Vec<u64>,
    /// Numbers of the layers at which recomputation starts.
    pub checkpoint_initiates: Vec<u64>,
    /// Bytes that one stage sends to the next per micro-batch and rank (`pp_comm`).
    pub pp_bytes: Option<u64>,
    /// Unknown keys, which are ignored.
    pub unknown: Vec<String>,
}

const TP: &str = "model_parallel_NPU_group";
const KEYS: [&str; 10] = [
    TP,
    "ep",
    "expert_parallel_npu_group",
    "pp",
    "vpp",
    "ga",
    "all_gpus",
    "checkpoints",
    "checkpoint_initiates",
    "pp_comm",
];

/// Maximum size of one parallel dimension or count.
const MAX_COUNT: u64 = 1 << 24;
/// Maximum number of pipeline stages, because each stage needs a record in memory.
const MAX_STAGES: u64 = 4096;
/// Maximum number of unknown keys in the summary.
const MAX_UNKNOWN: usize = 32;
/// Maximum number of layers in a checkpoint list.
const MAX_LAYERS: u64 = 100_000;

/// Reads line 1; adds problems to `problems`.
pub(crate) fn parse(line: &str, problems: &mut Problems) -> SimaiHeader {
    let mut tokens = line.split_whitespace().flat_map(split_glued).peekable();
    let policy = tokens.next().unwrap_or_default();
    if !SIMAI_POLICIES.contains(&policy) {
        let remedy = suggestion(policy, &SIMAI_POLICIES);
        problems.add("line 1", format!("'{policy}' is not a parallelism policy"), remedy);
    }
    let mut header = SimaiHeader { policy: policy.to_owned(), ..SimaiHeader::default() };
    let mut seen: Vec<&str> = Vec::new();
    while let Some(token) = tokens.next() {
        let key = token.strip_suffix(':').unwrap_or(token);
        let canonical = if key == "expert_parallel_npu_group" { "ep" } else { key };
        if KEYS.contains(&key) {
            if seen.contains(&canonical) {
                problems.add(place(key), "is given twice", "keep only one of the entries");
            }
            seen.push(canonical);
        }
        match key {
            TP => header.tp = count(&mut tokens, key, MAX_COUNT, problems),
            "ep" | "expert_parallel_npu_group" => {
                header.ep = count(&mut tokens, key, MAX_COUNT, problems);
            }
            "pp" => header.pp = count(&mut tokens, key, MAX_STAGES, problems),
            "vpp" => header.layers_per_stage = count(&mut tokens, key, MAX_LAYERS, problems),
            "ga" => header.micro_batches = count(&mut tokens, key, MAX_COUNT, problems),
            "all_gpus" => header.gpus = count(&mut tokens, key, MAX_COUNT, problems),
            "checkpoints" => header.checkpoints = layers(&mut tokens, key, problems),
            "checkpoint_initiates" => header.checkpoint_initiates = layers(&mut tokens, key, problems),
            "pp_comm" => header.pp_bytes = pp_bytes(&mut tokens, problems),
            _ => {
                if header.unknown.len() < MAX_UNKNOWN {
                    header.unknown.push(key.chars().take(64).collect());
                }
                while tokens.next_if(|next| next.parse::<f64>().is_ok()).is_some() {}
            }
        }
    }
    let needs_tp = policy.starts_with("HYBRID_TRANSFORMER");
    if needs_tp && !seen.contains(&TP) {
        problems.add(
            "line 1",
            format!("'{TP}' is missing"),
            format!("add '{TP}: N', the tensor-parallel size"),
        );
    }
    header
}

/// Splits `key:value` without a space into two tokens.
fn split_glued(token: &str) -> impl Iterator<Item = &str> {
    let cut = token.find(':').filter(|at| at + 1 < token.len());
    let (head, tail) = cut.map_or((token, None), |at| (&token[..=at], Some(&token[at + 1..])));
    std::iter::once(head).chain(tail)
}

fn place(key: &str) -> String {
    format!("line 1, {key}")
}

/// Returns the value of `key`: the next token, unless that token is a key.
fn value<'a>(
    tokens: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
    key: &str,
    problems: &mut Problems,
) -> Option<&'a str> {
    let is_key = |token: &str| KEYS.contains(&token.strip_suffix(':').unwrap_or(token));
    let found = tokens.next_if(|next| !is_key(next));
    if found.is_none() {
        problems.add(place(key), "has no value", format!("write '{key}: N'"));
    }
    found
}

fn count<'a>(
    tokens: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
    key: &str,
    high: u64,
    problems: &mut Problems,
) -> Option<u64> {
    let token = value(tokens, key, problems)?;
    match number::whole(token, 1, high) {
        Ok(count) => Some(count),
        Err(wrong) => {
            problems.add(place(key), format!("'{token}' {wrong}"), format!("write 1 to {high}"));
            None
        }
    }
}

fn layers<'a>(
    tokens: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
    key: &str,
    problems: &mut Problems,
) -> Vec<u64> {
    let Some(token) = value(tokens, key, problems) else { return Vec::new() };
    let listed = match number::whole(token, 0, MAX_LAYERS) {
        Ok(listed) => listed,
        Err(wrong) => {
            problems.add(
                place(key),
                format!("'{token}' {wrong}"),
                format!("write how many layers follow, 0 to {MAX_LAYERS}"),
            );
            return Vec::new();
        }
    };
    let mut layers = Vec::new();
    for _ in 0..listed {
        let Some(token) = tokens.next_if(|next| next.parse::<f64>().is_ok()) else {
            problems.add(
                place(key),
                format!("announces '{listed}' layers, but '{}' follow", layers.len()),
                "correct the count or add the layers",
            );
            break;
        };
        match number::whole(token, 0, MAX_COUNT) {
            Ok(layer) => layers.push(layer),
            Err(wrong) => {
                problems.add(place(key), format!("layer '{token}' {wrong}"), "write a layer number");
            }
        }
    }
    layers
}

fn pp_bytes<'a>(
    tokens: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
    problems: &mut Problems,
) -> Option<u64> {
    let token = value(tokens, "pp_comm", problems)?;
    match number::bytes(token) {
        Ok(bytes) => Some(bytes),
        Err(wrong) => {
            let remedy = "write the bytes of one micro-batch per rank as a whole number, at most 1e13";
            problems.add(place("pp_comm"), format!("'{token}' {wrong}"), remedy);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good(line: &str) -> SimaiHeader {
        let mut problems = Problems::new();
        let header = parse(line, &mut problems);
        assert!(problems.is_empty(), "{problems}");
        header
    }

    fn bad(line: &str) -> String {
        let mut problems = Problems::new();
        parse(line, &mut problems);
        problems.to_string()
    }

    #[test]
    fn colons_floats_and_glue() {
        let header = good(
            "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group:8 ep 2 pp: 6 vpp: 16\tga: 48 all_gpus: 384 \
             checkpoints: 2 3 4 checkpoint_initiates: 0 pp_comm 12582912.0 novel: 3 4.5",
        );
        assert_eq!(
            (header.tp, header.ep, header.pp, header.micro_batches),
            (Some(8), Some(2), Some(6), Some(48))
        );
        assert_eq!((header.layers_per_stage, header.gpus), (Some(16), Some(384)));
        assert_eq!(header.checkpoints, [3, 4]);
        assert_eq!(header.checkpoint_initiates, [0_u64; 0]);
        assert_eq!(header.pp_bytes, Some(12_582_912));
        assert_eq!(header.unknown, ["novel"]);
        assert_eq!(good("MICRO").tp, None);
        assert_eq!(good("DATA pp_comm: 5368709120").pp_bytes, Some(5_368_709_120));
    }

    #[test]
    fn each_slip_is_named() {
        let all = bad(
            "HYBRID_TRANSFORMER ep: pp: 0 ga: x ga: 3 pp_comm: 1.5 checkpoints: 3 1 2 all_gpus: 99999999999 vpp:",
        );
        for part in [
            "line 1, ep: has no value; write 'ep: N'",
            "line 1, pp: '0' is too small; write 1 to 4096",
            "line 1, ga: 'x' is not a number",
            "line 1, ga: is given twice; keep only one of the entries",
            "line 1, pp_comm: '1.5' is not a whole number",
            "line 1, checkpoints: announces '3' layers, but '2' follow",
            "line 1, all_gpus: '99999999999' is too large",
            "line 1, vpp: has no value",
            "line 1: 'model_parallel_NPU_group' is missing",
        ] {
            assert!(all.contains(part), "{part} is not in\n{all}");
        }
        assert!(bad("HYBRID_TRANSFORMERS").contains("did you mean 'HYBRID_TRANSFORMER'?"));
    }
}
