//! The parameters of the importer.

use crate::scenario::limits::{MAX_GBPS, MAX_GPUS, MIN_GBPS};
use crate::scenario::presets;
use lightbay_core::param::ParamInfo;

/// Largest byte count of one call or stage, as in the readers.
const MAX_BYTES: i64 = 10_000_000_000_000;

/// The parameters of the AICB importer. Parameters without a default get their values from the files, or an assumed
/// value.
pub fn aicb_knobs() -> Vec<ParamInfo> {
    let gpus = i64::from(MAX_GPUS);
    let int = |name, max, help| ParamInfo::int(name, 1, max, 1, help).derived();
    let rate = |name, help| ParamInfo::float(name, MIN_GBPS, MAX_GBPS, 400.0, help).derived().unit("Gb/s");
    let choice = |name, names: &[&'static str], help| ParamInfo::choice(name, names, names[0], help);
    vec![
        int("gpus", gpus, "Number of GPUs of the job, if the file does not state it."),
        int(
            "gpus_per_pod_per_replica",
            gpus,
            "Number of GPUs of one replica per pod; replicas do not \
             share pods.",
        ),
        int(
            "gpus_per_pod",
            gpus,
            "Number of GPUs of the job per pod; ranks are assigned to pods in \
             order.",
        ),
        rate("bandwidth_gbps", "Rate of one NIC and of one circuit per direction."),
        rate("intra_pod_gbps", "Rate of pipeline transfers inside a pod, per GPU."),
        ParamInfo::int(
            "pp_bytes",
            1,
            MAX_BYTES,
            1,
            "Bytes of one micro-batch that one rank sends to the next stage.",
        )
        .derived()
        .unit("bytes"),
        ParamInfo::int(
            "dp_bytes",
            0,
            MAX_BYTES,
            0,
            "Bytes that one GPU sends to its ring neighbour per iteration.",
        )
        .derived()
        .unit("bytes"),
        choice(
            "compute",
            &["auto", "file", "aiob", "zero"],
            "Source of compute times: kernel times if given, otherwise the workload file; or none.",
        ),
        ParamInfo::float("tflops", 0.001, 1e6, 989.0, "Peak rate of one GPU. If set, compute times follow from the FLOPs of `model`, not from the file.")
            .derived()
            .unit("TFLOP/s"),
        ParamInfo::float(
            "mfu",
            0.001,
            1.0,
            0.4,
            "Fraction of the peak that compute reaches; used with \
             tflops.",
        )
        .derived(),
        choice("model", &presets::model_names(), "Model whose FLOPs are counted; used with tflops.").derived(),
        int("seq", 1 << 26, "Number of tokens per micro-batch; used with tflops.").unit("tokens"),
        int(
            "layers",
            1 << 16,
            "Number of layers per stage, for kernel times with a per-call CSV that \
             does not show the layers.",
        ),
        choice(
            "collectives",
            &["auto", "measured", "busbw", "alpha_beta", "zero"],
            "Time of tensor- and expert-parallel collectives: zero, measured (in the file), from a bus-bandwidth table (busbw), from latency and rate (alpha_beta), or the first available of measured, busbw and alpha_beta (auto).",
        ),
        rate(
            "collective_gbps",
            "Rate of one GPU inside the pod for collectives without measured bus bandwidth.",
        ),
        ParamInfo::float(
            "collective_latency_us",
            0.0,
            1e6,
            5.0,
            "Latency of one step of a collective inside the pod.",
        )
        .derived()
        .unit("us"),
        choice(
            "parameter_gather",
            &["dp", "column"],
            "Group of the all-gather that shares a row with the reduce-scatter of the gradients: data parallel (dp), or the group that its column states (column).",
        )
        .derived(),
        choice(
            "order",
            &["file", "1f1b"],
            "Order of the passes: the order in the file if it states one (file), or 1F1B (1f1b).",
        ),
    ]
}
