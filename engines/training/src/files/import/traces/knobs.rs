//! The parameters of the importer of traces.

use crate::scenario::limits::{MAX_GBPS, MAX_GPUS, MAX_PORTS, MIN_GBPS};
use lightbay_core::param::{ParamInfo, Params};

/// Rate of NVLink of the fourth generation, per GPU and direction, Gb/s.
const INSIDE_GBPS: f64 = 3600.0;
/// Latency of one step of a ring over NVLink, launch included, µs.
const LATENCY_US: f64 = 5.0;
/// Rate of one NIC, Gb/s.
const BANDWIDTH_GBPS: f64 = 400.0;

/// Returns all parameters. Parameters without a default get their values from the files, or an assumed value.
pub(super) fn knobs() -> Vec<ParamInfo> {
    let gpus = i64::from(MAX_GPUS);
    let rate = |name, default, help| {
        ParamInfo::float(name, MIN_GBPS, MAX_GBPS, default, help).derived().unit("Gb/s")
    };
    vec![
        ParamInfo::int("gpus_per_pod", 1, gpus, 8, "Number of ranks per pod; ranks are assigned to pods in order. A table of pods among the files replaces it.").derived(),
        ParamInfo::int("ports_per_pod", 1, i64::from(MAX_PORTS), 1, "Optical ports of each pod. Default: its ranks.").derived(),
        rate("bandwidth_gbps", BANDWIDTH_GBPS, "Rate of one NIC and of one circuit per direction."),
        rate("intra_pod_gbps", INSIDE_GBPS, "Rate of one GPU inside a pod, for messages and collectives there."),
        ParamInfo::float("latency_us", 0.0, 1e6, LATENCY_US, "Latency of one step of a collective inside a pod.").derived().unit("us"),
        ParamInfo::float("elem_bytes", 0.125, 16.0, 2.0, "Number of bytes per unit in which the traces give sizes. Default: 1 if sizes are bytes, 2 for traces of STAGE, which count elements.").derived().unit("bytes"),
        ParamInfo::choice("size", &["input", "total"], "input", "Meaning of the size of an all-gather: the part of each rank (input) or the whole buffer (total).").derived(),
        ParamInfo::float("tflops", 1e-3, 1e6, 400.0, "Operations that a GPU performs per second; used for computations without measured times. STAGE counts a multiplication with its addition as one operation.").derived().unit("TFLOP/s"),
        ParamInfo::float("memory_gbyte_per_s", 1e-3, 1e6, 3350.0, "Rate of a GPU's memory: a computation takes at least the time in which the memory moves the bytes that the trace gives for it; used with tflops.").derived().unit("GB/s"),
        ParamInfo::choice("compute", &["auto", "zero"], "auto", "Compute times: taken from the traces or computed from tflops (auto), or none (zero)."),
        ParamInfo::bool("serialise_compute", true, "If true, the computations of a GPU run one after the other, in the order in which they become ready at full rates; if false, only dependencies order them."),
        ParamInfo::bool("promote_nccl", false, "If true, computations named nccl… or c10d::… are collectives without a size."),
        ParamInfo::float("unsized_bytes", 1.0, 1e15, 1e6, "Size of a collective whose size the traces do not give, per rank. Default: such collectives are fixed work with the time in the trace.").derived().unit("bytes"),
        ParamInfo::choice("missing_ranks", &["refuse", "ready"], "refuse", "Ranks without a trace: refuse them, or let collectives and messages not wait for them (ready)."),
        ParamInfo::choice("rings", &["both", "one"], "both", "Direction of rings between pods: half of the parallel groups in each direction (both), or all in one."),
    ]
}

/// Values of the parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct TraceOptions {
    pub gpus_per_pod: Option<u32>,
    pub ports_per_pod: Option<u32>,
    pub bandwidth_gbps: Option<f64>,
    pub intra_pod_gbps: Option<f64>,
    pub latency_us: Option<f64>,
    pub elem_bytes: Option<f64>,
    /// `true` if the size of an all-gather is the whole buffer; `None` if not set.
    pub total: Option<bool>,
    pub tflops: Option<f64>,
    pub memory_gbyte_per_s: Option<f64>,
    pub no_compute: bool,
    pub serialise: bool,
    pub promote: bool,
    pub unsized_bytes: Option<f64>,
    /// `true` if collectives and messages do not wait for ranks without a trace.
    pub ready: bool,
    pub both_directions: bool,
}

impl TraceOptions {
    pub(super) fn of(params: &Params) -> Self {
        let count = |name: &str| params.int(name).and_then(|value| u32::try_from(value).ok());
        Self {
            gpus_per_pod: count("gpus_per_pod"),
            ports_per_pod: count("ports_per_pod"),
            bandwidth_gbps: params.float("bandwidth_gbps"),
            intra_pod_gbps: params.float("intra_pod_gbps"),
            latency_us: params.float("latency_us"),
            elem_bytes: params.float("elem_bytes"),
            total: params.text("size").map(|meaning| meaning == "total"),
            tflops: params.float("tflops"),
            memory_gbyte_per_s: params.float("memory_gbyte_per_s"),
            no_compute: params.text("compute") == Some("zero"),
            serialise: params.bool("serialise_compute"),
            promote: params.bool("promote_nccl"),
            unsized_bytes: params.float("unsized_bytes"),
            ready: params.text("missing_ranks") == Some("ready"),
            both_directions: params.text("rings") != Some("one"),
        }
    }

    /// Returns the rate of a NIC, Gb/s.
    pub(super) fn bandwidth(&self) -> f64 {
        self.bandwidth_gbps.unwrap_or(BANDWIDTH_GBPS)
    }

    /// Returns the rate inside a pod, Gb/s.
    pub(super) fn inside_gbps(&self) -> f64 {
        self.intra_pod_gbps.unwrap_or(INSIDE_GBPS)
    }

    /// Returns the latency of a step inside a pod, µs.
    pub(super) fn latency(&self) -> f64 {
        self.latency_us.unwrap_or(LATENCY_US)
    }
}
