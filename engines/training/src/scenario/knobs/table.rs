//! The descriptions of the knobs and where their values are kept.

use crate::scenario::job::{Balance, RunConfig};
use crate::scenario::limits::{MAX_GBPS, MAX_GPUS, MAX_PORTS, MIN_GBPS};
use crate::scenario::{presets, reconfiguration};
use lightbay_core::param::{Domain, Effect, ParamInfo, ParamValue};
use std::sync::LazyLock;

/// Field of `run` that keeps a knob, by type.
#[derive(Clone, Copy)]
enum Slot {
    Int(fn(&mut RunConfig) -> &mut u32),
    Float(fn(&mut RunConfig) -> &mut f64),
    OptionalFloat(fn(&mut RunConfig) -> &mut Option<f64>),
    Bool(fn(&mut RunConfig) -> &mut bool),
    Balance(fn(&mut RunConfig) -> &mut Balance),
}

/// A knob of `run`.
pub(crate) struct RunKnob {
    pub(crate) info: ParamInfo,
    /// The name once more, as files use it.
    pub(crate) key: &'static str,
    /// `true` if a file must give it.
    pub(crate) required: bool,
    slot: Slot,
}

impl RunKnob {
    /// The value; `None` if it is left to follow from another.
    pub(crate) fn get(&self, run: &RunConfig) -> Option<ParamValue> {
        let mut run = *run;
        Some(match self.slot {
            Slot::Int(at) => ParamValue::Int(i64::from(*at(&mut run))),
            Slot::Float(at) => ParamValue::Float(*at(&mut run)),
            Slot::OptionalFloat(at) => ParamValue::Float((*at(&mut run))?),
            Slot::Bool(at) => ParamValue::Bool(*at(&mut run)),
            Slot::Balance(at) => ParamValue::Text(at(&mut run).name().to_owned()),
        })
    }

    /// Stores a value that `info` has accepted.
    pub(crate) fn put(&self, run: &mut RunConfig, value: &ParamValue) {
        match (self.slot, value) {
            (Slot::Int(at), ParamValue::Int(value)) => {
                if let Ok(value) = u32::try_from(*value) {
                    *at(run) = value;
                }
            }
            (Slot::Float(at), ParamValue::Float(value)) => *at(run) = *value,
            (Slot::OptionalFloat(at), ParamValue::Float(value)) => *at(run) = Some(*value),
            (Slot::Bool(at), ParamValue::Bool(value)) => *at(run) = *value,
            (Slot::Balance(at), ParamValue::Text(value)) => {
                if let Some(value) = Balance::from_name(value) {
                    *at(run) = value;
                }
            }
            // `info` has brought the value to the type of the slot.
            _ => {}
        }
    }
}

/// Every key of `run`, in the order of files.
pub(crate) static RUN_KNOBS: LazyLock<Vec<RunKnob>> = LazyLock::new(|| {
    use Slot::{Bool, Float, Int, OptionalFloat};
    let count = |max| Domain::Int { min: 1, max };
    let number = |min, max| Domain::Float { min, max };
    let gpus = i64::from(MAX_GPUS);
    let (warm, cold) = (Effect::Warm, Effect::Cold);
    vec![
        knob("tp", "", count(4096), Int(|r| &mut r.tp), cold, "Tensor-parallel size."),
        knob("pp", "", count(4096), Int(|r| &mut r.pp), cold, "Pipeline stages of a replica."),
        knob("ep", "", count(4096), Int(|r| &mut r.ep), cold, "Expert-parallel size."),
        knob("etp", "", count(4096), Int(|r| &mut r.etp), cold, "Tensor-parallel size inside an expert."),
        knob("gpus", "", count(gpus), Int(|r| &mut r.gpus), cold, "GPUs of the job."),
        knob(
            "gpus_per_pod_per_replica",
            "",
            count(gpus),
            Int(|r| &mut r.gpus_per_pod_per_replica),
            cold,
            "GPUs that one replica has in one pod, a multiple of the GPUs per stage.",
        ),
        knob(
            "micro_batches",
            "",
            count(100_000),
            Int(|r| &mut r.micro_batches),
            warm,
            "Micro-batches per iteration.",
        ),
        knob(
            "micro_batch_size",
            "",
            count(1 << 20),
            Int(|r| &mut r.micro_batch_size),
            warm,
            "Sequences in a micro-batch.",
        ),
        knob("seq", "tokens", count(1 << 26), Int(|r| &mut r.seq), warm, "Length of a sequence."),
        knob(
            "bandwidth_gbps",
            "Gb/s",
            number(MIN_GBPS, MAX_GBPS),
            Float(|r| &mut r.bandwidth_gbps),
            warm,
            "Rate of one NIC and of one circuit per direction.",
        ),
        knob(
            "peak_tflops",
            "TFLOP/s",
            number(0.001, 1e6),
            Float(|r| &mut r.peak_tflops),
            warm,
            "Peak compute of one GPU.",
        ),
        knob(
            "mfu",
            "",
            number(0.001, 1.0),
            Float(|r| &mut r.mfu),
            warm,
            "Share of the peak that is reached.",
        ),
        knob(
            "bwd_ratio",
            "",
            number(0.0, 100.0),
            Float(|r| &mut r.bwd_ratio),
            warm,
            "Backward time over forward time.",
        ),
        knob(
            "act_bytes",
            "B",
            number(0.01, 16.0),
            Float(|r| &mut r.act_bytes),
            warm,
            "Size of one activation value between stages.",
        ),
        knob(
            "grad_bytes",
            "B",
            number(0.01, 16.0),
            Float(|r| &mut r.grad_bytes),
            warm,
            "Size of one gradient value in the reduce-scatter between replicas.",
        ),
        knob(
            "gather_bytes",
            "B",
            number(0.0, 16.0),
            Float(|r| &mut r.gather_bytes),
            warm,
            "Size of one weight in the all-gather between replicas.",
        ),
        knob(
            "blocking_p2p",
            "",
            Domain::Bool,
            Bool(|r| &mut r.blocking_p2p),
            warm,
            "If true, a stage waits for its send to finish before it continues.",
        ),
        knob(
            "intra_pod_gbps",
            "Gb/s",
            number(MIN_GBPS, MAX_GBPS),
            OptionalFloat(|r| &mut r.intra_pod_gbps),
            warm,
            "Rate of a transfer inside a pod per GPU; as `bandwidth_gbps` if not given.",
        ),
        knob(
            "balance",
            "",
            Domain::Choice { names: Balance::NAMES.map(Into::into).to_vec() },
            Slot::Balance(|r| &mut r.balance),
            warm,
            "Spread of compute over the stages: all alike, or by their exact layers and tables.",
        ),
        knob(
            "virtual_stages",
            "",
            count(4096),
            Int(|r| &mut r.virtual_stages),
            cold,
            "Chunks of layers that a stage holds; from 2 on 1F1B is interleaved over them.",
        ),
        knob(
            "dp_buckets",
            "",
            count(4096),
            Int(|r| &mut r.dp_buckets),
            cold,
            "Buckets in which a stage exchanges its gradients, last layers first; from 2 on inside the last backward.",
        ),
    ]
});

fn knob(
    key: &'static str,
    unit: &'static str,
    domain: Domain,
    slot: Slot,
    effect: Effect,
    help: &'static str,
) -> RunKnob {
    // The sizes of a job differ between jobs by nature, so they have no default.
    let required = matches!(key, "tp" | "pp" | "gpus" | "gpus_per_pod_per_replica" | "micro_batches");
    let (name, unit, help) = (key.into(), unit.into(), help.into());
    let info = ParamInfo { name, unit, domain, default: None, help, effect, hint: "".into() };
    let mut knob = RunKnob { info, key, required, slot };
    if !required {
        knob.info.default = knob.get(&RunConfig::of(1, 1, 1, 1, 1));
    }
    knob
}

/// Knobs in the order in which people turn them; the others follow.
const TURNED_FIRST: [&str; 8] =
    ["gpus", "tp", "pp", "micro_batches", "seq", "bandwidth_gbps", "mfu", "ports_per_pod"];

static JOB_KNOBS: LazyLock<Vec<ParamInfo>> = LazyLock::new(|| {
    let models = presets::model_names();
    let model = ParamInfo::choice("model", &models, models[0], "Model that is trained.").derived();
    let model = model.hint(presets::OWN_MODEL);
    let ports = ParamInfo::int_or_list(
        "ports_per_pod",
        1,
        i64::from(MAX_PORTS),
        "Optical ports of a pod: one number, or one per pod position; the job's GPUs in the pod if not given.",
    );
    let reverse =
        ParamInfo::bool("reverse", false, "If true, stages are placed on the pods in reverse order.");
    let mut knobs = vec![model];
    knobs.extend(RUN_KNOBS.iter().map(|knob| knob.info.clone()));
    knobs.extend([ports, reverse.effect(Effect::Cold)]);
    knobs.extend(reconfiguration::knobs());
    // A stable sort: what is not named keeps the order of files.
    knobs.sort_by_key(|knob| {
        TURNED_FIRST.iter().position(|name| *name == knob.name).unwrap_or(TURNED_FIRST.len())
    });
    knobs
});

static INSTANCE_KNOBS: LazyLock<Vec<ParamInfo>> = LazyLock::new(|| {
    let bandwidth = RUN_KNOBS.iter().find(|knob| knob.key == "bandwidth_gbps");
    let mut knobs: Vec<ParamInfo> = bandwidth.map(|knob| knob.info.clone().derived()).into_iter().collect();
    knobs.push(ParamInfo::int_or_list(
        "ports_per_pod",
        0,
        i64::from(MAX_PORTS),
        "Optical ports of a pod: one number, or one per pod that is not a mirror.",
    ));
    knobs.extend(reconfiguration::knobs());
    knobs
});

/// The knobs of a job.
pub fn job_knobs() -> &'static [ParamInfo] {
    &JOB_KNOBS
}

/// The knobs of an explicit instance.
pub fn instance_knobs() -> &'static [ParamInfo] {
    &INSTANCE_KNOBS
}
