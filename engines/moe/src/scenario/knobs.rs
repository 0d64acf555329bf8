//! The parameters of a scenario, from which forms, flags and help are generated.

use super::failures::{FAILED, FailedNic, without_traffic};
use super::shapes::{MoeModel, MoeModelChoice, MoeModelPreset};
use super::trace::GateTrace;
use super::{DELAY_PROFILES, MAX_ITERATION, MAX_NICS, MAX_WIDTH, MeasuredTimes, MoeScenario};
use lightbay_core::param::{Effect, ParamInfo, ParamValue};
use lightbay_core::problem::Problem;
use lightbay_core::record::{Idle, Knob, Knobs, Record};
use std::sync::LazyLock;

/// Value of a parameter if the model or the delay has no name.
const OWN: &str = "own";

/// The parameters of a scenario.
pub static KNOBS: LazyLock<Knobs<MoeScenario>> = LazyLock::new(|| {
    Knobs::new(vec![
        model(),
        width("layers").refused_if(|moe| {
            let why = "with a counted trace, which gives the layers of a stage";
            is_counted(moe).then_some((why.into(), "set `pp`; every stage has that number of layers"))
        }),
        width("hidden"),
        width("ffn"),
        width("shared_ffn"),
        width("experts"),
        width("top_k"),
        width("kv_width"),
        width("seq"),
        width("micro_batch"),
        width("ep"),
        width("tp"),
        width("pp").set_by(MoeScenario::set_stages),
        region("link_gbps").described(|info| usual(info, 400.0)),
        optical_degree(),
        region("eps_total_gbps")
            .shown_by(|moe: &MoeScenario| Some(ParamValue::Float(moe.region.eps_gbps())))
            .set_by(|moe, rate| {
                let rate = rate.as_f64().unwrap_or_default();
                // Without a given rate, the total rate of the links applies.
                let by_links = moe.region.eps_nics.len() as f64 * moe.region.link_gbps;
                let given = moe.region.eps_total_gbps.is_some();
                moe.region.eps_total_gbps = (given || rate != by_links).then_some(rate);
                Ok(())
            })
            .idle_if(without_packet_switches),
        failed_nics(),
        region("nvlink_gbytes_per_s").described(|info| usual(info, 450.0)),
        region("pipeline_chunks").described(|info| usual(info, 8)).idle_if(on_one_server),
        planned_iteration(),
        drawn("seed").described(|info| ParamInfo { name: "trace_seed".into(), ..info }),
        drawn("kappa").idle_if(|moe| {
            // The shares of the ranks do not change the total tokens of an expert or of a rank.
            let inside = moe.region.servers == 1 && moe.placement.is_none();
            let why = "in a region of one server, where the exchange time depends only on the busiest expert or rank";
            inside.then_some((why.into(), "raise `ep` or `tp`"))
        }),
        expert_placement(),
        room("redundant_experts"),
        room("expert_groups"),
        cluster("servers").described(|info| usual(ParamInfo { name: "cluster_servers".into(), ..info }, 128)),
        delay_profile().idle_if(without_circuits),
        cluster("reconfiguration_delay_ms").described(|info| usual(info, 25.0)).idle_if(without_circuits),
        cluster("sustained_tflops").described(|info| usual(info, 93.6)).idle_if(|moe| {
            let all = matches!(
                moe.measured,
                MeasuredTimes { attention_ms: Some(_), gate_ms: Some(_), expert_ms: Some(_) }
            );
            let why = "if all compute times are measured";
            all.then_some((why.into(), "set attention_ms, gate_ms or expert_ms"))
        }),
        cluster("micro_batches").described(|info| usual(info, 8)),
        measured("attention_ms"),
        measured("gate_ms"),
        measured("expert_ms"),
        Knob::of("copper_links", |moe: &MoeScenario| Some(&moe.prices), |moe| &mut moe.prices)
            .idle_if(without_packet_switches),
    ])
});

/// Returns the description of a parameter that has the value `value` in presets and that files must state.
fn usual<T>(info: ParamInfo, value: T) -> ParamInfo
where
    ParamValue: From<T>,
{
    ParamInfo { default: Some(value.into()), ..info }
}

fn region(key: &'static str) -> Knob<MoeScenario> {
    Knob::of(key, |moe: &MoeScenario| Some(&moe.region), |moe| &mut moe.region)
}

fn cluster(key: &'static str) -> Knob<MoeScenario> {
    Knob::of(key, |moe: &MoeScenario| Some(&moe.cluster), |moe| &mut moe.cluster)
}

fn measured(key: &'static str) -> Knob<MoeScenario> {
    Knob::of(key, |moe: &MoeScenario| Some(&moe.measured), |moe| &mut moe.measured)
}

fn is_counted(moe: &MoeScenario) -> bool {
    matches!(moe.trace, GateTrace::Counts(_))
}

fn without_packet_switches(moe: &MoeScenario) -> Option<Idle> {
    let none = moe.region.eps_nics.is_empty();
    none.then_some(("without packet-switched NICs".into(), "lower `optical_degree`"))
}

fn on_one_server(moe: &MoeScenario) -> Option<Idle> {
    let why = "in a region of one server, where exchanges stay inside the server";
    (moe.region.servers == 1).then_some((why.into(), "raise `ep` or `tp`"))
}

fn without_circuits(moe: &MoeScenario) -> Option<Idle> {
    let none = moe.region.ocs_nics.is_empty();
    let why = "without NICs at an optical switch";
    let alone = moe.region.eps_nics.is_empty();
    let no_plan =
        "without packet-switched NICs: the gradients of the replicas have no path, so no plan exists";
    on_one_server(moe)
        .or_else(|| none.then_some((why.into(), "raise `optical_degree`")))
        .or_else(|| alone.then_some((no_plan.into(), "lower `optical_degree`")))
}

/// Returns an integer parameter of the model.
fn width(key: &'static str) -> Knob<MoeScenario> {
    let info = MoeModel::param(key).unwrap_or_else(|| ParamInfo::text(key, ""));
    Knob::own(
        info,
        move |moe: &MoeScenario| moe.shape().field(key),
        move |moe, value| {
            let mut shape = moe.shape();
            shape.set_field(key, value);
            moe.set_shape(shape);
            Ok(())
        },
    )
}

fn model() -> Knob<MoeScenario> {
    let names: Vec<&str> = MoeModelPreset::ALL.iter().map(|(name, _)| *name).chain([OWN]).collect();
    let help = "Model with its parallelism, by name.";
    Knob::own(
        ParamInfo::choice("model", &names, "mixtral_8x7b", help).effect(Effect::Cold),
        |moe: &MoeScenario| {
            Some(text(match moe.model {
                MoeModelChoice::Preset(preset) => preset.word(),
                MoeModelChoice::Own(_) => OWN,
            }))
        },
        |moe, word| {
            match MoeModelPreset::of_word(&word.to_string()) {
                Some(preset) => moe.model = MoeModelChoice::Preset(preset),
                None if matches!(moe.model, MoeModelChoice::Own(_)) => {}
                None => {
                    let remedy = "set the fields that differ, such as hidden or experts";
                    return Err(Problem::new(
                        "model",
                        "'own' stands for a model without a name and cannot be set",
                        remedy,
                    ));
                }
            }
            moe.fit_region();
            Ok(())
        },
    )
}

fn optical_degree() -> Knob<MoeScenario> {
    let help = "Number of NICs per server connected to the optical switch; the others connect to packet \
         switches.";
    Knob::own(
        ParamInfo::int("optical_degree", 0, i64::from(MAX_NICS), 6, help),
        |moe: &MoeScenario| Some(ParamValue::Int(moe.region.ocs_nics.len() as i64)),
        |moe, degree| {
            let degree = degree.as_i64().unwrap_or_default();
            let most = moe.region.nics_per_server;
            if degree > i64::from(most) {
                let message = format!("is {degree}, more than the NICs of a server");
                return Err(Problem::new("optical_degree", message, format!("give at most {most}")));
            }
            if degree != moe.region.ocs_nics.len() as i64 {
                moe.region.share_nics(degree as u32);
            }
            Ok(())
        },
    )
}

fn failed_nics() -> Knob<MoeScenario> {
    let help = "Failed NICs, by server and NIC from 0: 's3:1, s0:7'; 'none' for no NIC. A failed optical NIC takes one \
         circuit from its server, a failed packet-switched NIC lowers the packet rate of its server.";
    Knob::own(
        ParamInfo::text(FAILED, help),
        |moe: &MoeScenario| Some(text(&FailedNic::text(&moe.region.failed_nics))),
        |moe, nics| {
            moe.region.failed_nics = FailedNic::list(&nics.to_string())?;
            Ok(())
        },
    )
    .idle_if(without_traffic)
}

fn planned_iteration() -> Knob<MoeScenario> {
    let help = "Iteration of the trace to plan; predictions use only earlier iterations.";
    Knob::own(
        ParamInfo::int("planned_iteration", 0, MAX_ITERATION, 200, help),
        |moe: &MoeScenario| Some(ParamValue::Int(moe.trace.iteration().into())),
        |moe, iteration| {
            let iteration = iteration.as_i64().unwrap_or_default() as u32;
            match &mut moe.trace {
                GateTrace::Synthetic(trace) => trace.iteration = iteration,
                GateTrace::Counts(trace) => trace.iteration = iteration,
            }
            Ok(())
        },
    )
}

/// Returns a parameter of a synthetic trace.
fn drawn(key: &'static str) -> Knob<MoeScenario> {
    let counted = |moe: &MoeScenario| -> Option<Idle> {
        let why = "with a counted trace, which is not synthetic";
        is_counted(moe).then_some((why.into(), "use a preset, which has a synthetic trace"))
    };
    Knob::of_part(
        key,
        |moe: &MoeScenario| match &moe.trace {
            GateTrace::Synthetic(trace) => Some(trace),
            GateTrace::Counts(_) => None,
        },
        |moe| match &mut moe.trace {
            GateTrace::Synthetic(trace) => Some(trace),
            GateTrace::Counts(_) => None,
        },
    )
    .refused_if(counted)
}

fn expert_placement() -> Knob<MoeScenario> {
    let help = "Placement of experts on ranks: in consecutive blocks (blocks), or chosen by a method \
         (free).";
    Knob::own(
        ParamInfo::choice("expert_placement", &["blocks", "free"], "blocks", help),
        |moe: &MoeScenario| Some(text(if moe.placement.is_some() { "free" } else { "blocks" })),
        |moe, word| {
            moe.placement = (*word == text("free")).then(|| moe.placement.unwrap_or_default());
            Ok(())
        },
    )
}

/// Returns a parameter that limits a free placement.
fn room(key: &'static str) -> Knob<MoeScenario> {
    Knob::of_part(key, |moe: &MoeScenario| moe.placement.as_ref(), |moe| moe.placement.as_mut()).refused_if(
        |moe| {
            let why = "while expert_placement is blocks";
            moe.placement.is_none().then_some((why.into(), "set expert_placement=free first"))
        },
    )
}

fn delay_profile() -> Knob<MoeScenario> {
    let names: Vec<&str> = DELAY_PROFILES.iter().map(|(name, _)| *name).chain([OWN]).collect();
    let help = "Reconfiguration delay by name: 7 us (silicon_photonics), 25 us (fast), 25 ms (ideal), 46.75 ms with \
         the control path (control_path), 5.67 s with the NICs (with_nic); own: reconfiguration_delay_ms has \
         another value.";
    let name_of = |moe: &MoeScenario| {
        let delay = moe.cluster.reconfiguration_delay_ms;
        DELAY_PROFILES.iter().find(|(_, known)| *known == delay).map_or(OWN, |(name, _)| name)
    };
    Knob::own(
        ParamInfo::choice("delay_profile", &names, "ideal", help),
        move |moe| Some(text(name_of(moe))),
        move |moe, word| {
            match DELAY_PROFILES.iter().find(|(name, _)| *word == text(name)) {
                Some((_, delay)) => moe.cluster.reconfiguration_delay_ms = *delay,
                None if name_of(moe) == OWN => {}
                None => {
                    let remedy = "give the delay in reconfiguration_delay_ms";
                    return Err(Problem::new(
                        "delay_profile",
                        "'own' stands for a delay without a name and cannot be set",
                        remedy,
                    ));
                }
            }
            Ok(())
        },
    )
}

fn text(word: &str) -> ParamValue {
    ParamValue::Text(word.to_owned())
}

impl MoeScenario {
    /// Sets a parameter.
    ///
    /// # Errors
    /// An unknown name or a value that is not valid.
    pub fn set(&mut self, name: &str, index: Option<usize>, value: &ParamValue) -> Result<(), Problem> {
        KNOBS.set(self, name, index, value)
    }

    /// Sets the model; if a preset has the same fields, the scenario stores the name of the preset.
    fn set_shape(&mut self, shape: MoeModel) {
        self.model = MoeModelChoice::of(shape);
        self.fit_region();
    }

    /// Sets the pipeline stages. Counted traces cover one stage, so more stages then mean a model with more layers.
    fn set_stages(&mut self, stages: &ParamValue) -> Result<(), Problem> {
        let mut shape = self.shape();
        shape.set_field("pp", stages);
        if is_counted(self) {
            let per_stage = u64::from(self.stage_layers());
            let layers = per_stage * u64::from(shape.pp);
            if layers > MAX_WIDTH as u64 {
                let message = format!("is {stages}, which gives a model of {layers} layers");
                let most = MAX_WIDTH as u64 / per_stage.max(1);
                return Err(Problem::new("pp", message, format!("give at most {most}")));
            }
            shape.layers = layers as u32;
        }
        self.set_shape(shape);
        Ok(())
    }
}
