//! The knobs of a scenario: what forms, flags and help are made from.

use super::read::{MAX_ITERATION, MAX_MS, MAX_RATE, MAX_WIDTH};
use super::shapes::{MoeModel, MoeModelChoice, MoeModelPreset};
use super::trace::{GateTrace, SyntheticTrace};
use super::{DELAY_PROFILES, MAX_EXPERTS, MAX_NICS, MAX_REDUNDANT, MAX_SERVERS, MeasuredTimes, MoeScenario};
use lightbay_core::method::without_effect;
use lightbay_core::param::{Effect, ParamInfo, ParamValue};
use lightbay_core::problem::{Problem, suggestion};

/// Name for a model, and for a delay, that is none of the named ones.
const OWN: &str = "own";

/// A whole number of the model.
type ModelField = fn(&mut MoeModel) -> &mut u32;

/// Whole numbers of the model: name, smallest and largest value, place, meaning.
const MODEL: [(&str, i64, i64, ModelField, &str); 12] = [
    ("layers", 1, MAX_WIDTH, |m| &mut m.layers, "Layers of the model, each with attention and experts."),
    ("hidden", 1, MAX_WIDTH, |m| &mut m.hidden, "Width of a token between layers."),
    ("ffn", 1, MAX_WIDTH, |m| &mut m.ffn, "Inner width of an expert."),
    (
        "shared_ffn",
        0,
        MAX_WIDTH,
        |m| &mut m.shared_ffn,
        "Inner width of the experts that every token visits.",
    ),
    ("experts", 1, MAX_EXPERTS as i64, |m| &mut m.experts, "Experts of a layer."),
    ("top_k", 1, MAX_EXPERTS as i64, |m| &mut m.top_k, "Experts that a token is sent to."),
    ("kv_width", 1, MAX_WIDTH, |m| &mut m.kv_width, "Width of the keys and values of attention."),
    ("seq", 1, MAX_WIDTH, |m| &mut m.seq, "Tokens of a sequence."),
    ("micro_batch", 1, MAX_WIDTH, |m| &mut m.micro_batch, "Sequences of a micro-batch."),
    ("ep", 1, 4096, |m| &mut m.ep, "Expert-parallel ranks; the region grows with them."),
    ("tp", 1, 64, |m| &mut m.tp, "Tensor-parallel GPUs of a rank."),
    ("pp", 1, MAX_WIDTH, |m| &mut m.pp, "Pipeline stages."),
];

/// The knobs of a scenario; of any scenario of the kind if none is given.
pub fn knobs(_scenario: Option<&MoeScenario>) -> Vec<ParamInfo> {
    let names: Vec<&str> = MoeModelPreset::ALL.iter().map(|(name, _)| *name).chain([OWN]).collect();
    let delays: Vec<&str> = DELAY_PROFILES.iter().map(|(name, _)| *name).chain([OWN]).collect();
    let trace = SyntheticTrace::default();
    let mut knobs = vec![
        ParamInfo::choice("model", &names, "mixtral_8x7b", "Model with its parallelism, by name.")
            .effect(Effect::Cold),
    ];
    knobs.extend(MODEL.iter().map(|(name, least, most, _, help)| {
        ParamInfo::int(name, *least, *most, *least, help).derived().effect(Effect::Cold)
    }));
    knobs.extend([
        ParamInfo::float("link_gbps", 1e-3, MAX_RATE, 400.0, "Rate of a NIC.").unit("Gb/s"),
        ParamInfo::int(
            "optical_degree",
            0,
            i64::from(MAX_NICS),
            6,
            "NICs of a server at the optical switch; the others end at packet switches.",
        ),
        ParamInfo::float(
            "eps_total_gbps",
            0.0,
            MAX_RATE,
            800.0,
            "Rate of all packet-switched NICs of a server together; that of their links if not given.",
        )
        .derived()
        .unit("Gb/s"),
        ParamInfo::float(
            "nvlink_gbytes_per_s",
            1e-3,
            MAX_RATE,
            450.0,
            "Rate between the GPUs of a server, per GPU and direction.",
        )
        .unit("GB/s"),
        ParamInfo::int("pipeline_chunks", 1, 1 << 16, 8, "Pieces of an all-to-all whose steps overlap."),
        ParamInfo::int(
            "planned_iteration",
            0,
            MAX_ITERATION,
            i64::from(trace.iteration),
            "Iteration of the trace that is planned; those before it are what a prediction knows.",
        ),
        ParamInfo::int("trace_seed", 0, i64::MAX, trace.seed as i64, "Seed of a drawn trace."),
        ParamInfo::float("kappa", 1e-3, 1e9, trace.kappa, "Dirichlet concentration of the per-rank expert shares: the larger, the closer to the mean shares."),
        ParamInfo::choice(
            "expert_placement",
            &["blocks", "free"],
            "blocks",
            "Experts stand in blocks, in order, or where a method puts them.",
        ),
        ParamInfo::int(
            "redundant_experts",
            0,
            i64::from(MAX_REDUNDANT),
            0,
            "Slots of all ranks together beyond one for each expert, for copies of busy experts; with free placement.",
        ),
        ParamInfo::int(
            "expert_groups",
            1,
            i64::from(MAX_EXPERTS),
            1,
            "Groups of experts, each on one server if all servers hold as many groups; with free placement.",
        ),
        ParamInfo::int("cluster_servers", 1, i64::from(MAX_SERVERS), 128, "Servers of the cluster."),
        ParamInfo::choice(
            "delay_profile",
            &delays,
            "ideal",
            "Delay of setting circuits by name: 7 us, 25 us, 25 ms, 46.75 ms with the control path, 5.67 s with NICs.",
        ),
        ParamInfo::float("reconfiguration_delay_ms", 0.0, MAX_MS, 25.0, "Time in which other circuits are set.")
            .unit("ms"),
        ParamInfo::float("sustained_tflops", 1e-6, 1e9, 93.6, "Sustained rate of computing of a GPU.")
            .unit("Tflop/s"),
        ParamInfo::int("micro_batches", 1, 1 << 20, 8, "Micro-batches of an iteration."),
        ParamInfo::float("attention_ms", 0.0, MAX_MS, 0.0, "Measured time of attention, forward.")
            .derived()
            .unit("ms"),
        ParamInfo::float("gate_ms", 0.0, MAX_MS, 0.0, "Measured time of the gate, forward.").derived().unit("ms"),
        ParamInfo::float("expert_ms", 0.0, MAX_MS, 0.0, "Measured time of the experts, forward.")
            .derived()
            .unit("ms"),
        ParamInfo::bool("copper_links", false, "Copper cables between servers and packet switches."),
    ]);
    knobs
}

impl MoeScenario {
    /// Knobs of the kind that cannot act on the scenario.
    pub fn idle(&self) -> Vec<Problem> {
        let mut idle = Vec::new();
        if matches!(self.trace, GateTrace::Counts(_)) {
            let why = "on a trace that was counted, not drawn";
            idle.extend(without_effect(["trace_seed", "kappa"], why, "take a preset, whose trace is drawn"));
        }
        if self.placement.is_none() {
            let why = "while experts stand in blocks";
            let names = ["redundant_experts", "expert_groups"];
            idle.extend(without_effect(names, why, "set expert_placement=free"));
        }
        if self.region.servers == 1 {
            let why = "in a region of one server, whose exchanges stay inside it";
            let names = ["reconfiguration_delay_ms", "delay_profile", "pipeline_chunks"];
            idle.extend(without_effect(names, why, "raise `ep` or `tp`"));
        } else if self.region.ocs_nics.is_empty() {
            let why = "without NICs at an optical switch";
            let names = ["reconfiguration_delay_ms", "delay_profile"];
            idle.extend(without_effect(names, why, "raise `optical_degree`"));
        }
        if let MeasuredTimes { attention_ms: Some(_), gate_ms: Some(_), expert_ms: Some(_) } = self.measured {
            let why = "where all times of computing were measured";
            idle.extend(without_effect(["sustained_tflops"], why, "set attention_ms, gate_ms or expert_ms"));
        }
        if self.region.eps_nics.is_empty() {
            let why = "without packet-switched NICs";
            let names = ["eps_total_gbps", "copper_links"];
            idle.extend(without_effect(names, why, "lower `optical_degree`"));
        }
        idle
    }

    /// The value of a knob. `None` for unknown names and for times that were not measured.
    pub fn get(&self, name: &str) -> Option<ParamValue> {
        let whole = |number: u32| ParamValue::Int(i64::from(number));
        if let Some((.., field, _)) = MODEL.iter().find(|(known, ..)| *known == name) {
            let mut shape = self.shape();
            return Some(whole(*field(&mut shape)));
        }
        let text = |word: &str| ParamValue::Text(word.to_owned());
        Some(match name {
            "model" => text(match self.model {
                MoeModelChoice::Preset(preset) => preset.word(),
                MoeModelChoice::Own(_) => OWN,
            }),
            "link_gbps" => ParamValue::Float(self.region.link_gbps),
            "optical_degree" => whole(self.region.ocs_nics.len() as u32),
            "eps_total_gbps" => ParamValue::Float(self.region.eps_gbps()),
            "nvlink_gbytes_per_s" => ParamValue::Float(self.region.nvlink_gbytes_per_s),
            "pipeline_chunks" => whole(self.region.pipeline_chunks),
            "planned_iteration" => whole(self.trace.iteration()),
            "trace_seed" | "kappa" => match &self.trace {
                GateTrace::Synthetic(trace) if name == "kappa" => ParamValue::Float(trace.kappa),
                GateTrace::Synthetic(trace) => ParamValue::Int(trace.seed as i64),
                GateTrace::Counts(_) => return None,
            },
            "expert_placement" => text(if self.placement.is_some() { "free" } else { "blocks" }),
            "redundant_experts" => whole(self.placement?.redundant_experts),
            "expert_groups" => whole(self.placement?.expert_groups),
            "cluster_servers" => whole(self.cluster.servers),
            "delay_profile" => {
                let delay = self.cluster.reconfiguration_delay_ms;
                text(DELAY_PROFILES.iter().find(|(_, known)| *known == delay).map_or(OWN, |(name, _)| name))
            }
            "reconfiguration_delay_ms" => ParamValue::Float(self.cluster.reconfiguration_delay_ms),
            "sustained_tflops" => ParamValue::Float(self.cluster.sustained_tflops),
            "micro_batches" => whole(self.cluster.micro_batches),
            "attention_ms" => ParamValue::Float(self.measured.attention_ms?),
            "gate_ms" => ParamValue::Float(self.measured.gate_ms?),
            "expert_ms" => ParamValue::Float(self.measured.expert_ms?),
            "copper_links" => ParamValue::Bool(self.prices.copper_links),
            _ => return None,
        })
    }

    /// Changes a knob. Only the knob's own range is checked: several changes may only fit together.
    ///
    /// # Errors
    /// An unknown name or a value that is not valid.
    pub fn set(&mut self, name: &str, index: Option<usize>, value: &ParamValue) -> Result<(), Problem> {
        let all = knobs(Some(self));
        let Some(info) = all.iter().find(|info| info.name == name) else {
            let names: Vec<&str> = all.iter().map(|info| info.name.as_ref()).collect();
            return Err(Problem::new(name, "is not a parameter of this scenario", suggestion(name, &names)));
        };
        if index.is_some() {
            return Err(Problem::new(name, "has no entries", "write it without [ ]"));
        }
        let value = info.accept(value)?;
        let (whole, number) = (value.as_i64().unwrap_or_default(), value.as_f64().unwrap_or_default());
        if let Some((.., field, _)) = MODEL.iter().find(|(known, ..)| *known == name) {
            let mut shape = self.shape();
            *field(&mut shape) = whole as u32;
            self.model = MoeModelChoice::of(shape);
            self.fit_region();
            return Ok(());
        }
        match name {
            "model" => self.set_model(&value)?,
            "link_gbps" => self.region.link_gbps = number,
            "optical_degree" => {
                if whole > i64::from(self.region.nics_per_server) {
                    let remedy = format!("give at most {}", self.region.nics_per_server);
                    return Err(Problem::new(
                        name,
                        format!("{whole} is more NICs than a server has"),
                        remedy,
                    ));
                }
                if whole != self.region.ocs_nics.len() as i64 {
                    self.region.share_nics(whole as u32);
                }
            }
            "eps_total_gbps" => {
                // The rate of the links is what holds if nothing is given.
                let by_links = self.region.eps_nics.len() as f64 * self.region.link_gbps;
                let given = self.region.eps_total_gbps.is_some();
                self.region.eps_total_gbps = (given || number != by_links).then_some(number);
            }
            "nvlink_gbytes_per_s" => self.region.nvlink_gbytes_per_s = number,
            "pipeline_chunks" => self.region.pipeline_chunks = whole as u32,
            "planned_iteration" => match &mut self.trace {
                GateTrace::Synthetic(trace) => trace.iteration = whole as u32,
                GateTrace::Counts(trace) => trace.iteration = whole as u32,
            },
            "trace_seed" | "kappa" => match &mut self.trace {
                GateTrace::Synthetic(trace) if name == "kappa" => trace.kappa = number,
                GateTrace::Synthetic(trace) => trace.seed = whole as u64,
                GateTrace::Counts(_) => {
                    let why = "has no effect on a trace that was counted, not drawn";
                    return Err(Problem::new(name, why, "take a preset, whose trace is drawn"));
                }
            },
            "expert_placement" => {
                let free = value == ParamValue::Text("free".to_owned());
                self.placement = free.then(|| self.placement.unwrap_or_default());
            }
            "redundant_experts" | "expert_groups" => self.set_room(name, whole as u32)?,
            "cluster_servers" => self.cluster.servers = whole as u32,
            "delay_profile" => {
                let known =
                    DELAY_PROFILES.iter().find(|(name, _)| value == ParamValue::Text((*name).to_owned()));
                match known {
                    Some((_, delay)) => self.cluster.reconfiguration_delay_ms = *delay,
                    None if self.get(name) == Some(value) => {}
                    None => {
                        let remedy = "give the delay in reconfiguration_delay_ms";
                        return Err(Problem::new(name, "'own' names no delay", remedy));
                    }
                }
            }
            "reconfiguration_delay_ms" => self.cluster.reconfiguration_delay_ms = number,
            "sustained_tflops" => self.cluster.sustained_tflops = number,
            "micro_batches" => self.cluster.micro_batches = whole as u32,
            "attention_ms" => self.measured.attention_ms = Some(number),
            "gate_ms" => self.measured.gate_ms = Some(number),
            "expert_ms" => self.measured.expert_ms = Some(number),
            _ => self.prices.copper_links = value == ParamValue::Bool(true),
        }
        Ok(())
    }

    fn set_room(&mut self, name: &str, number: u32) -> Result<(), Problem> {
        let Some(room) = &mut self.placement else {
            let why = "has no effect while experts stand in blocks";
            return Err(Problem::new(name, why, "set expert_placement=free before it"));
        };
        if name == "redundant_experts" {
            room.redundant_experts = number;
        } else {
            room.expert_groups = number;
        }
        Ok(())
    }

    fn set_model(&mut self, value: &ParamValue) -> Result<(), Problem> {
        let ParamValue::Text(word) = value else { return Ok(()) };
        match MoeModelPreset::of(word) {
            Some(preset) => self.model = MoeModelChoice::Preset(preset),
            None if matches!(self.model, MoeModelChoice::Own(_)) => {}
            None => {
                let remedy = "set the fields that differ, such as hidden or experts";
                return Err(Problem::new("model", "'own' names no model", remedy));
            }
        }
        self.fit_region();
        Ok(())
    }
}
