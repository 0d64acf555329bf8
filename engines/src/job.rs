//! Parameters that state the job or its demand, such as the trained model or the size of a buffer. Plans for different
//! values of them solve different problems, so they are not ranked. All other parameters, such as ports, bandwidths and
//! the parallelism, are part of the design that a plan may choose.

#[cfg(test)]
mod tests;

/// Returns the names of the parameters that state the job or its demand, for scenarios of a kind.
fn names(kind: &str) -> &'static [&'static str] {
    match kind {
        "training" => &[
            "model",
            "layers",
            "hidden",
            "ffn",
            "gated",
            "heads",
            "kv_heads",
            "head_dim",
            "vocab",
            "experts",
            "top_k",
            "expert_ffn",
            "shared_experts",
            "dense_layers",
            "moe_layers",
            "gpus",
            "dp",
            "micro_batches",
            "micro_batch_size",
            "seq",
            "bwd_ratio",
            "act_bytes",
            "grad_bytes",
            "gather_bytes",
        ],
        "tpu" => &["cubes", "job_shape"],
        "crossconnect" => &["circuits"],
        "moe" => &[
            "model",
            "layers",
            "hidden",
            "ffn",
            "shared_ffn",
            "experts",
            "top_k",
            "kv_width",
            "seq",
            "micro_batch",
            "micro_batches",
            "planned_iteration",
            "trace_seed",
            "kappa",
        ],
        "collective" => {
            &["network_size", "collective", "output_buffer_bytes", "sizes", "root", "chunk_bytes"]
        }
        _ => &[],
    }
}

/// Returns `true` if a parameter of scenarios of a kind states the job or its demand.
pub fn states_job(kind: &str, name: &str) -> bool {
    names(kind).contains(&name)
}
