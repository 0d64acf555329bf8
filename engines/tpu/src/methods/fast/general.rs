//! The search without symmetry for `general_steps`: starts from the best pod and may change all states of all switches.

use super::curve::DRAWN_EVERY_S;
use super::{BestPod, FastSearch, MOST_CUTS, REHEAT, STREAMS, WORTH};
use crate::methods::begin;
use crate::model::topology::Topology;
use crate::scenario::TpuScenario;
use crate::search::anneal::AnnealSettings;
use crate::search::anneal::general::{GeneralObjective, anneal};
use crate::search::anneal::tournament;
use crate::series;
use crate::throughput::mcf::{self, Certificate, UNSOLVED};
use crate::throughput::metrics;
use crate::throughput::metrics::circuit_cuts::CircuitCut;
use lightbay_core::event::Severity;
use lightbay_core::method::MethodError;
use lightbay_core::param::ParamInfo;
use lightbay_core::problem::Problem;

/// Number of the first random stream of the rounds.
const GENERAL_STREAM: u64 = 1 << 43;
/// Maximum number of rounds. Each round adds the metric of the last certificate to the objective. Rounds end earlier if
/// a certificate gives no cut.
const ROUNDS: u32 = 4;

/// Returns the description of the parameter `general_steps`.
pub(super) fn knob() -> ParamInfo {
    ParamInfo::int(
        "general_steps",
        0,
        1_000_000_000,
        0,
        "Number of evaluations per chain in a final search without symmetry, for 3 to 16 cubes; 0 skips \
         it. In tests so far, this search has not improved any best design.",
    )
}

/// Refuses the search for pods that are too large to be certified without their symmetry.
pub(super) fn suits(steps: u64, scenario: &TpuScenario) -> Result<(), MethodError> {
    if steps > 0 && scenario.nodes() >= UNSOLVED {
        return Err(begin::invalid(Problem::new(
            "general_steps",
            format!(
                "is {steps}, but the search without symmetry does not support {} chips",
                scenario.nodes()
            ),
            "leave it at 0, or design at most 16 cubes",
        )));
    }
    Ok(())
}

impl FastSearch<'_, '_> {
    /// Anneals pods without symmetry, starting from the best pod; a pod with a better certificate replaces the best
    /// pod.
    pub(super) fn general(&mut self, steps: u64) -> Result<(), MethodError> {
        if steps == 0 {
            return Ok(());
        }
        let Some(mut best) = self.best.clone() else { return Ok(()) };
        if self.cubes <= 2 {
            let text = "general_steps has no effect on pods of up to 2 cubes, because all of these pods are symmetric";
            self.cx.note(Severity::Info, text);
            return Ok(());
        }
        let mut cuts: Vec<CircuitCut> = Vec::new();
        add_cut(&mut cuts, &best.pod, &best.certificate);
        for round in 1..=ROUNDS {
            self.cx.phase(
                "general",
                format!("round {round} of {ROUNDS} without symmetry: {steps} steps, {} cuts", cuts.len()),
            );
            let objective = GeneralObjective {
                metrics: tournament::metrics(self.cubes),
                cuts: cuts.clone(),
                mean_share: self.mean_share,
            };
            let settings = AnnealSettings { steps, hot: self.settings.hot * REHEAT, ..self.settings };
            let first = GENERAL_STREAM + u64::from(round) * STREAMS;
            let streams: Vec<_> =
                (0..u64::from(settings.chains)).map(|chain| self.cx.stream(first + chain)).collect();
            let mut drawn = (f64::INFINITY, f64::NEG_INFINITY);
            let designs = anneal(
                &objective,
                &settings,
                &best.pod,
                |chain| streams[chain as usize].clone(),
                self.cx,
                |cx, design| {
                    let x = cx.elapsed_s();
                    if design.score < drawn.0 && x >= drawn.1 + DRAWN_EVERY_S {
                        drawn = (design.score, x);
                        super::point(cx, series::METRIC_UPPER, design.bound);
                    }
                },
            )?;
            let found = designs.into_iter().next();
            let Some(design) = found.filter(|design| design.bound > best.certificate.upper * (1.0 + WORTH))
            else {
                let text = "the search found no design without symmetry whose metrics allow a higher \
                            throughput than the best pod";
                self.cx.note(Severity::Info, text);
                return Ok(());
            };
            let Some(pod) = design.topology().map(|pod| pod.failing(self.failed)) else { return Ok(()) };
            let Some(hops) = metrics::hops(&pod) else { return Ok(()) };
            self.cx.phase("certify", format!("{} chips without symmetry", pod.nodes()));
            let lengths = super::start_lengths(&pod);
            let certificate = self.certify(&pod, hops, lengths.as_deref(), "general", self.gap)?;
            add_cut(&mut cuts, &pod, &certificate);
            if certificate.lower > best.certificate.lower {
                best = BestPod { pod, entry: None, certificate, source: "general".to_owned() };
                self.best = Some(best.clone());
            }
        }
        Ok(())
    }
}

/// Adds the metric of a certificate and its images to `cuts`. Adds nothing if all lengths are equal, because the
/// objective already contains their metric.
fn add_cut(cuts: &mut Vec<CircuitCut>, pod: &Topology, certificate: &Certificate) {
    let spread = certificate.class_lengths.as_ref().map(|lengths| mcf::spread(pod, lengths));
    let lengths = certificate.link_lengths.clone().or(spread);
    if let Some(cut) = lengths.and_then(|lengths| CircuitCut::new(pod, &lengths)) {
        cuts.extend(cut.images());
        cuts.drain(..cuts.len().saturating_sub(MOST_CUTS));
    }
}
