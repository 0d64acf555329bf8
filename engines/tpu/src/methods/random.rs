//! `random`: the random baseline.

use super::finish::{self, Chosen};
use super::idle;
use super::{begin, certify, settings};
use crate::Tpu;
use crate::model::pod::SWITCHES;
use crate::model::topology::Topology;
use crate::scenario::{TopologyChoice, TpuScenario};
use crate::throughput::mcf::Certificate;
use crate::throughput::metrics;
use lightbay_core::context::Context;
use lightbay_core::event::Severity;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome, without_effect};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::plan::Status;
use lightbay_core::problem::Problem;
use lightbay_core::random::Stream;
use lightbay_core::scenario::Scenario;
use rand::RngExt;
use rand::seq::SliceRandom;

/// The method `random`: pods with random voltages or random permutations.
pub(super) struct Random;

/// Maximum number of draws for a connected pod. Without failed switches, nearly every draw is connected, so this number
/// of failures in a row means that the failed switches split the pod.
const TRIES: u64 = 1000;

impl Method<Tpu> for Random {
    fn info(&self) -> MethodInfo {
        let mut params = vec![
            ParamInfo::int("samples", 1, 10_000, 1, "Number of random pods drawn; the best one is kept."),
            ParamInfo::bool(
                "symmetric",
                true,
                "If true, draws one element of `group` per switch; if false, one permutation of the cubes per \
                 switch.",
            ),
        ];
        params.extend(settings::params(false));
        MethodInfo {
            name: "random",
            help: "Random baseline: the best of several random pods.",
            proves: false,
            hot_start: false,
            params,
        }
    }

    fn idle(&self, scenario: &TpuScenario, params: &Params) -> Vec<Problem> {
        let mut idle = idle::finishing(scenario, params);
        idle.extend(idle::without_torus("random", scenario));
        if !params.bool("symmetric") {
            let why = "with symmetric=false, which draws any permutation for each switch";
            idle.extend(without_effect(["group"], why, "leave one of them out"));
        }
        idle
    }

    fn solve(
        &self,
        scenario: &Scenario<Tpu>,
        params: &Params,
        cx: &mut Context<'_, Tpu>,
    ) -> Result<Outcome, MethodError> {
        let body = &scenario.body;
        if body.topology != TopologyChoice::Design {
            return Err(begin::other_topology("random", body));
        }
        let group = body.group().map_err(begin::invalid)?;
        begin::announce(body, cx);
        let symmetric = params.bool("symmetric");
        let samples = params.count("samples").max(1);
        let mut best: Option<(Topology, Certificate)> = None;
        let (mut hops, mut throughputs) = (SampleSpread::default(), SampleSpread::default());
        for sample in 0..samples {
            let (pod, distances) = loop_until_connected(cx, sample as u64, body, |stream| {
                let pod = if symmetric {
                    let order = group.order();
                    let voltage = std::array::from_fn(|_| stream.random_range(0..order) as u16);
                    Topology::symmetric(group.clone(), voltage)
                } else {
                    permuted(group.order(), stream)
                };
                pod.failing(&body.failed_ocs)
            })?;
            hops.add(distances.average(pod.nodes()));
            let certificate = certify::certify(&pod, distances, "random", None, cx)?;
            throughputs.add(certificate.lower);
            if best.as_ref().is_none_or(|(_, known)| certificate.lower > known.lower) {
                certify::offer(&pod, distances, &certificate, "random", cx)?;
                best = Some((pod, certificate));
            }
        }
        if samples > 1 {
            let text = format!("{samples} random pods: mean hops {hops}, throughput {throughputs}");
            cx.note(Severity::Info, text);
        }
        if let Some((pod, certificate)) = best {
            let chosen = Chosen { certificate: Some(certificate), ..Chosen::new(pod, "random") };
            finish::finish(chosen, body, cx)?;
        }
        Ok(Outcome::done(Status::Heuristic))
    }
}

/// Draws pods, at most [`TRIES`], until one is connected.
fn loop_until_connected(
    cx: &Context<'_, Tpu>,
    sample: u64,
    body: &TpuScenario,
    mut draw: impl FnMut(&mut Stream) -> Topology,
) -> Result<(Topology, metrics::Hops), MethodError> {
    for attempt in 0..TRIES {
        let pod = draw(&mut cx.stream(sample * TRIES + attempt));
        if let Some(hops) = metrics::hops(&pod) {
            return Ok((pod, hops));
        }
    }
    if !body.failed_ocs.is_empty() {
        return Err(begin::invalid(finish::not_connected(body)));
    }
    Err(MethodError::Failed(format!("{TRIES} random pods in a row were not connected; try another seed")))
}

fn permuted(cubes: usize, stream: &mut Stream) -> Topology {
    let identity: Vec<u16> = (0..cubes as u16).collect();
    let states: Vec<Vec<u16>> = (0..SWITCHES)
        .map(|_| {
            let mut state = identity.clone();
            state.shuffle(stream);
            state
        })
        .collect();
    // Shuffled identities are permutations, so the construction cannot fail; the fallback is never used.
    Topology::general(&states).unwrap_or_else(|_| {
        Topology::symmetric(crate::model::group::Group::most_square(cubes), [0; SWITCHES])
    })
}

/// Mean and standard deviation of the throughputs of a sample of pods.
#[derive(Default)]
struct SampleSpread {
    count: f64,
    sum: f64,
    squares: f64,
}

impl SampleSpread {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        self.sum += value;
        self.squares += value * value;
    }
}

impl std::fmt::Display for SampleSpread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mean = self.sum / self.count;
        let variance = (self.squares / self.count - mean * mean).max(0.0);
        write!(f, "{mean:.5} ± {:.5}", variance.sqrt())
    }
}
