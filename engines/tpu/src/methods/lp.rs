//! `tons-lp`: the relaxation of the optimisation model, and pods rounded from it.

use super::approach::ModelMethod;
use super::finish::{self, Chosen};
use super::{certify, settings};
use crate::Tpu;
use crate::model::group::Group;
use crate::model::pod::SWITCHES;
use crate::model::topology::Topology;
use crate::programs::relaxation::{self, Allowed, Relaxed, relax};
use crate::scenario::TpuScenario;
use crate::series;
use crate::throughput::metrics::{hop_bound, hops, two_length};
use lightbay_core::context::Context;
use lightbay_core::event::{EventBody, SeriesPoint, Severity};
use lightbay_core::method::{MethodError, MethodInfo, Outcome};
use lightbay_core::param::{Effect, ParamInfo, Params};
use lightbay_core::plan::Status;
use rand::RngExt;

/// The method `tons-lp`: solves one relaxation and rounds its fractions to pods.
pub(super) struct Relaxation;

/// Maximum number of sweeps per relaxation: a safeguard against stalling, because normally `relaxation_gap` ends a
/// relaxation.
const MOST_ROUNDS: u32 = 2000;

/// First number of the random streams of roundings.
const ROUNDING_STREAM: u64 = 1;

impl ModelMethod for Relaxation {
    const NAME: &'static str = "tons-lp";
    /// Maximum number of cubes of a pod; for larger pods, the bound from the universal cover is much tighter.
    const MOST_CUBES: usize = 16;

    fn info(&self) -> MethodInfo {
        let mut params = vec![
            gap(),
            ParamInfo::int(
                "roundings",
                1,
                1_000_000,
                2000,
                "Number of random pods drawn with the \
                 fractional values of the relaxation as probabilities.",
            )
            .effect(Effect::Warm),
            ParamInfo::int(
                "certified",
                1,
                1000,
                2,
                "Number of drawn pods that are certified: the pods with the best metrics.",
            )
            .effect(Effect::Warm),
        ];
        params.extend(settings::params(false));
        MethodInfo {
            name: Self::NAME,
            help: "Bounds all pods of this size by a relaxation with fractional circuits, and rounds its \
                 solution to pods.",
            proves: true,
            hot_start: false,
            params,
        }
    }

    fn run(
        &self,
        group: Group,
        body: &TpuScenario,
        params: &Params,
        cx: &mut Context<'_, Tpu>,
    ) -> Result<Outcome, MethodError> {
        let relaxed = relaxed(&group, &relaxation::all(&group), params, true, cx)?;
        cx.phase("rounding", "random pods with the fractional values of the relaxation as probabilities");
        let mut best: Vec<(f64, Topology)> = Vec::new();
        let keep = params.count("certified").max(1);
        for draw in 0..params.count("roundings").max(1) as u64 {
            cx.checkpoint()?;
            let mut stream = cx.stream(ROUNDING_STREAM + draw);
            let voltage: [u16; SWITCHES] = std::array::from_fn(|switch| {
                let mut left = stream.random::<f64>();
                let found = relaxed.shares[switch].iter().position(|share| {
                    left -= share;
                    left < 0.0
                });
                found.unwrap_or(0) as u16
            });
            let pod = Topology::symmetric(group.clone(), voltage);
            if let Some(score) = score(&pod) {
                best.push((score, pod));
                best.sort_by(|one, other| other.0.total_cmp(&one.0));
                best.truncate(keep);
            }
            cx.count_work(1);
        }
        let mut chosen: Option<Chosen> = None;
        for (_, pod) in best {
            if cx.closed() {
                break;
            }
            let pod = pod.failing(&body.failed_ocs);
            let Some(distances) = hops(&pod) else { continue };
            let certificate = certify::certify(&pod, distances, "rounding", None, cx)?;
            let known = chosen.as_ref().and_then(|chosen| chosen.certificate.as_ref());
            if known.is_none_or(|known| certificate.lower > known.lower) {
                certify::offer(&pod, distances, &certificate, "rounding", cx)?;
                chosen = Some(Chosen { certificate: Some(certificate), ..Chosen::new(pod, "rounding") });
            }
        }
        let Some(chosen) = chosen else {
            return Err(MethodError::Failed(
                "no pod that was drawn is connected; try another seed".to_owned(),
            ));
        };
        finish::finish(chosen, body, cx)?;
        Ok(Outcome::done(Status::Feasible))
    }
}

/// The smaller of two upper bounds on the throughput of a pod: from hops, and from optical links of twice the
/// electrical length. `None` if the pod is not connected.
pub(super) fn score(pod: &Topology) -> Option<f64> {
    let distances = hops(pod)?;
    let bound = hop_bound(pod.nodes(), distances.hop_sum);
    Some(two_length(pod, 1, 2).map_or(bound, |other| bound.min(other)))
}

/// Returns the parameter for the accuracy of relaxations.
pub(super) fn gap() -> ParamInfo {
    ParamInfo::float(
        "relaxation_gap",
        1e-7,
        0.1,
        0.002,
        "Relative gap at which a relaxation counts as solved.",
    )
    .effect(Effect::Warm)
}

/// Solves a relaxation with the allowed elements of each switch. If `free`, no switch is fixed, and the upper bound is
/// reported as the bound on all pods of the size.
pub(super) fn relaxed(
    group: &Group,
    allowed: &Allowed,
    params: &Params,
    free: bool,
    cx: &mut Context<'_, Tpu>,
) -> Result<Relaxed, MethodError> {
    let fixed = allowed.iter().filter(|elements| elements.len() == 1).count();
    cx.phase("relaxation", format!("{} of {SWITCHES} switches fixed", if free { 0 } else { fixed }));
    cx.solver(format!("HiGHS {}", lightbay_highs::instance::version()));
    let settings = relaxation::RelaxationSettings {
        gap: params.float("relaxation_gap").unwrap_or(0.002),
        max_rounds: MOST_ROUNDS,
    };
    let relaxed = relax(group, allowed, settings, cx, |cx, lower, upper| {
        let x = cx.elapsed_s();
        for (name, y) in [(series::RELAXATION_LOWER, lower), (series::RELAXATION_UPPER, upper)] {
            cx.report(EventBody::Series(SeriesPoint { name: name.to_owned(), x, y }));
        }
        if free {
            cx.bound(upper);
        }
    })?;
    let text = format!(
        "{} is between {:.7} and {:.7} after {} sweeps",
        if free {
            "the relaxation, an upper bound on the throughput of every pod of this size,"
        } else {
            "the relaxation, an upper bound on the throughput of pods with the fixed switches,"
        },
        relaxed.lower,
        relaxed.upper,
        relaxed.rounds
    );
    cx.note(Severity::Info, text);
    Ok(relaxed)
}

#[cfg(test)]
mod tests;
