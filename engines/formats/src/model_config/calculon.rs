//! Calculon: a model, an execution and a system, each in a separate JSON file.

use super::described::DescribedJob;
use super::{ModelSizes, json_of};
use crate::gz::Limits;
use crate::imported::Imported;
use lightbay_core::param::ParamValue;
use lightbay_core::problem::{Problem, Problems};
use serde_json::{Map, Value};

/// Assumed vocabulary size, because Calculon omits the embedding: the padded size of GPT-3's vocabulary.
const VOCAB: u32 = 51_200;
/// Datatypes of an execution, each with its name and bytes.
const DATATYPES: [(&str, (&str, f64)); 4] = [
    ("float8", ("float8", 1.0)),
    ("float16", ("float16", 2.0)),
    ("bfloat16", ("bfloat16", 2.0)),
    ("float32", ("float32", 4.0)),
];
/// Datatype whose rate is read if no execution states one.
const DATATYPE: &str = "float16";

/// Reads the files of one job, each with its name, in any order.
///
/// # Errors
/// Every problem of the files; files without a model, or two files of the same kind.
pub fn read(files: &[(&str, &[u8])], limits: &Limits) -> Result<Imported<DescribedJob>, Problems> {
    let mut parts: [Option<(&str, Map<String, Value>)>; 3] = [None, None, None];
    for (name, content) in files {
        let keys = json_of(*content, limits).map_err(|problems| problems.named(*name))?;
        let part = ["num_blocks", "tensor_par", "networks"].iter().position(|key| keys.contains_key(*key));
        let Some(part) = part else {
            let message =
                "is not a model (num_blocks), an execution (tensor_par) or a system (networks) of Calculon";
            return Err(Problems::one(Problem::new("", message, "leave it out")).named(*name));
        };
        if let Some((other, _)) = &parts[part] {
            let message = format!("describes the same part of the job as {other}");
            return Err(Problems::one(Problem::new("", message, "use only one of them")).named(*name));
        }
        parts[part] = Some((name, keys));
    }
    let [model, run, system] = parts;
    let Some((name, model)) = model else {
        let message = "none of the files is a model, which has num_blocks, hidden and attn_heads";
        return Err(Problem::new("", message, "add the model of the job").into());
    };
    let mut keys = Keys { map: &model, problems: Problems::new() };
    let sizes = sizes(&mut keys);
    let seq = keys.number("seq_size", 1);
    let sizes = match sizes {
        Some(sizes) if keys.problems.is_empty() => sizes,
        _ => return Err(keys.problems.named(name)),
    };
    let mut made = Imported::new(DescribedJob::of(sizes));
    made.value.set("seq", seq);
    if !model.contains_key("vocab_size") {
        made.assume("vocab", VOCAB.to_string(), "vocab=");
    }
    let (mut network, mut datatype) = (None, None);
    if let Some((name, keys)) = &run {
        (network, datatype) = execution(keys, &mut made).map_err(|problems| problems.named(*name))?;
    }
    if let Some((name, keys)) = &system {
        rates(keys, network, datatype.unwrap_or(DATATYPE), &mut made)
            .map_err(|problems| problems.named(*name))?;
    }
    Ok(made)
}

struct Keys<'k> {
    map: &'k Map<String, Value>,
    problems: Problems,
}

impl Keys<'_> {
    /// Reads a required integer.
    fn number(&mut self, key: &'static str, least: u64) -> Option<u64> {
        let value = self.map.get(key);
        let number =
            value.and_then(Value::as_u64).filter(|number| (least..=u64::from(u32::MAX)).contains(number));
        if number.is_none() {
            let message = value.map_or_else(|| "is missing".to_owned(), |value| format!("is {value}"));
            self.problems.add(key, message, format!("use an integer from {least} to {}", u32::MAX));
        }
        number
    }

    /// Reads an integer that may be missing.
    fn optional(&mut self, key: &'static str, least: u64) -> Option<u64> {
        if self.map.contains_key(key) { self.number(key, least) } else { None }
    }

    /// Reads a flag that may be missing.
    fn flag(&mut self, key: &'static str) -> Option<bool> {
        let value = self.map.get(key)?;
        if !value.is_boolean() {
            self.problems.add(key, format!("is {value}"), "use true or false");
        }
        value.as_bool()
    }

    /// Reads one of the words, each with its meaning; the key may be missing.
    fn word<T: Copy>(&mut self, key: &'static str, words: &[(&str, T)]) -> Option<T> {
        let value = self.map.get(key)?;
        let found = words.iter().find(|(word, _)| value.as_str() == Some(word));
        if found.is_none() {
            let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.problems.add(key, format!("is {value}"), format!("use {}", names.join(", ")));
        }
        found.map(|(_, meaning)| *meaning)
    }

    fn size(&mut self, key: &'static str) -> Option<u32> {
        self.number(key, 1).and_then(|size| u32::try_from(size).ok())
    }
}

fn sizes(keys: &mut Keys<'_>) -> Option<ModelSizes> {
    let layers = keys.size("num_blocks");
    let hidden = keys.size("hidden");
    let ffn = keys.size("feedforward");
    let heads = keys.size("attn_heads");
    let head_dim = keys.size("attn_size");
    let vocab = if keys.map.contains_key("vocab_size") { keys.size("vocab_size") } else { Some(VOCAB) };
    Some(ModelSizes {
        layers: layers?,
        hidden: hidden?,
        ffn: ffn?,
        // Calculon's feed-forward block has two matrices.
        gated: false,
        heads: heads?,
        kv_heads: heads?,
        head_dim: head_dim?,
        vocab: vocab?,
        tied: false,
        experts: None,
        latent: None,
        window: None,
    })
}

/// Reads the sizes of the layout, and notes the parts of the execution that a job cannot represent. Returns the index of
/// the network between replicas and the datatype, if the execution states them.
fn execution(
    map: &Map<String, Value>,
    made: &mut Imported<DescribedJob>,
) -> Result<(Option<u64>, Option<&'static str>), Problems> {
    let mut keys = Keys { map, problems: Problems::new() };
    let names = ["num_procs", "tensor_par", "pipeline_par", "data_par", "batch_size", "microbatch_size"];
    let numbers = names.map(|name| keys.number(name, 1));
    let chunks = keys.optional("pipeline_interleaving", 1);
    let network = keys.optional("data_par_net", 0);
    let training = keys.flag("training");
    let sharded = keys.flag("optimizer_sharding");
    // `partial` is the former name of `attn_only`.
    let again = [("none", "none"), ("full", "full"), ("attn_only", "selective"), ("partial", "selective")];
    let recompute = keys.word("activation_recompute", &again);
    let single = keys.word("attention_type", &[("multihead", false), ("multiquery", true)]) == Some(true);
    let datatype = keys.word("datatype", &DATATYPES);
    // Calculon divides the sends of a stage among its ranks, unless activations are reduced to all of them.
    let sends = keys.word("tensor_par_comm_type", &[("ar", true), ("p2p_rs_ag", false), ("rs_ag", false)]);
    let omitted = ["weight_offload", "activations_offload", "optimizer_offload", "data_par_overlap"]
        .map(|key| (key, keys.flag(key)));
    keys.problems.into_result(())?;
    let [procs, tensor, pipeline, data, batch, micro] = numbers.map(|number| number.unwrap_or(1));
    let product = tensor.checked_mul(pipeline).and_then(|ranks| ranks.checked_mul(data));
    if product != Some(procs) {
        let message = format!(
            "is {procs}, but tensor_par {tensor} times pipeline_par {pipeline} times data_par {data} is another \
             number"
        );
        return Err(Problem::new("num_procs", message, "correct one of the numbers").into());
    }
    let step = data.saturating_mul(micro);
    if !batch.is_multiple_of(step) {
        let message =
            format!("is {batch}, which is not a multiple of data_par {data} times microbatch_size {micro}");
        return Err(Problem::new("batch_size", message, "correct one of the numbers").into());
    }
    let job = &mut made.value;
    for (name, value) in [
        ("gpus", procs),
        ("tp", tensor),
        ("pp", pipeline),
        ("micro_batch_size", micro),
        ("micro_batches", batch / step),
    ] {
        job.set(name, Some(value));
    }
    job.set("virtual_stages", chunks.filter(|chunks| *chunks > 1));
    if training == Some(false) {
        let message = "is false: the execution is an inference, which has no iteration to plan";
        return Err(Problem::new("training", message, "use an execution for training").into());
    }
    job.set("zero", sharded.map(u64::from));
    if single {
        job.sizes.kv_heads = 1;
    }
    job.whole_sends = sends == Some(true);
    if let Some((_, bytes)) = datatype {
        // Calculon exchanges gradients in the datatype of the weights.
        let sizes = ["act_bytes", "grad_bytes", "gather_bytes"];
        job.run.extend(sizes.map(|name| (name, ParamValue::Float(bytes))));
    }
    job.run.extend(recompute.map(|word| ("recompute", ParamValue::Text(word.to_owned()))));
    for (key, _) in omitted.into_iter().filter(|(_, on)| *on == Some(true)) {
        made.note(format!("{key} is omitted"));
    }
    if datatype.is_none() {
        made.note("datatype is missing; the sizes of activations, gradients and weights have their defaults");
    }
    Ok((network, datatype.map(|(name, _)| name)))
}

/// Reads the rate of the matrix units for a datatype, and of the network between groups.
fn rates(
    map: &Map<String, Value>,
    network: Option<u64>,
    datatype: &str,
    made: &mut Imported<DescribedJob>,
) -> Result<(), Problems> {
    let mut problems = Problems::new();
    let tflops = map
        .get("matrix")
        .and_then(|matrix| matrix.get(datatype)?.get("tflops")?.as_f64())
        .filter(|rate| rate.is_finite() && *rate > 0.0);
    match tflops {
        Some(rate) => made.value.run.push(("peak_tflops", ParamValue::Float(rate))),
        None => problems.add(
            format!("matrix.{datatype}.tflops"),
            "is missing or not a positive number",
            "give the TFLOP/s of the datatype of the execution",
        ),
    }
    let networks = map.get("networks").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let index =
        network.and_then(|network| usize::try_from(network).ok()).unwrap_or(networks.len().saturating_sub(1));
    let rate = networks.get(index).and_then(|network| network.get("bandwidth")?.as_f64());
    match rate.filter(|rate| rate.is_finite() && *rate > 0.0) {
        Some(gbyte_per_s) => {
            made.value.run.push(("bandwidth_gbps", ParamValue::Float(8.0 * gbyte_per_s)));
            made.note(format!(
                "networks[{index}] connects the pods; efficiencies and latencies of the \
                 system are omitted, so set mfu="
            ));
        }
        None => problems.add(
            format!("networks[{index}].bandwidth"),
            "is missing or not a positive number",
            "give GB/s",
        ),
    }
    problems.into_result(())
}
