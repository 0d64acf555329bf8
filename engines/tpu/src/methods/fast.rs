//! `tons-fast`: annealing with metrics that cost microseconds, and exact throughput for the best designs
//! (docs/methods/tpu-search.md, section 5).
//!
//! | phase | content |
//! |---|---|
//! | certify | for pods of 64 cubes or more, the torus of the job shape, as first plan |
//! | anneal | a tournament of groups and symmetries, judged by two-length metrics |
//! | certify | the exact throughput of the winners |
//! | cuts | metrics of certificates become linear cuts; annealing continues at a lower temperature |
//! | general | on request: a search without symmetry from the best design |
//! | route, faults, simulate | as for every method |
//!
//! All limits are counts of work, so the same seed gives the same plan on any machine.

use super::finish::{self, Chosen};
use super::idle;
use super::{begin, certify, settings};
use crate::Tpu;
use crate::model::group::Group;
use crate::model::pod::SWITCHES;
use crate::model::topology::Topology;
use crate::scenario::{TopologyChoice, TpuScenario};
use crate::search::anneal::families::{CubeSymmetries, Family, families};
use crate::search::anneal::ties::Ties;
use crate::search::anneal::tournament::{self, Entry};
use crate::search::anneal::{AnnealSettings, Design, Objective, anneal};
use crate::series;
use crate::throughput::mcf::{self, Certificate};
use crate::throughput::metrics::cuts::LinearCut;
use crate::throughput::metrics::{self, Hops, Lengths};
use lightbay_core::context::{Context, Stop};
use lightbay_core::event::{EventBody, HotStartFate, SeriesPoint, Severity};
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome, without_effect};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::plan::Status;
use lightbay_core::problem::Problem;
use lightbay_core::scenario::Scenario;

mod curve;
mod effort;
mod first;
mod general;

use curve::AnnealingCurve;
use effort::{
    CERTIFIED, COMPARED, FAMILY_STREAM, FINAL, FIRST_GAP, LONG_ROUNDS, MOST_CUTS, PATIENCE, PER_ROUND,
    REHEAT, ROUND_STEPS, ROUND_STREAM, STREAMS, UNTIED, WORTH, usual,
};

/// The method `tons-fast`, which is the default.
pub(super) struct Fast;

impl Method<Tpu> for Fast {
    fn info(&self) -> MethodInfo {
        let usual = AnnealSettings::default();
        let mut params = vec![
            ParamInfo::int(
                "steps",
                1,
                1_000_000_000,
                20_000,
                "Number of evaluations per chain in the last round of the tournament. Default: depends \
                 on the size.",
            )
            .derived(),
            ParamInfo::int(
                "chains",
                1,
                64,
                8,
                "Number of annealing chains in parallel. Default: depends \
                 on the size.",
            )
            .derived(),
            ParamInfo::int(
                "rounds",
                0,
                1000,
                2,
                "Maximum number of rounds after the tournament; each round adds a cut and anneals from the \
                 best design. Default: depends on the size.",
            )
            .derived(),
            ParamInfo::choice(
                "symmetry",
                &["any", "free", "diagonal", "centre", "mirror", "half_turn"],
                "any",
                "Symmetry of the cube that designs must have: a third of a turn about a diagonal (diagonal), \
                 an exchange of chips across the centre (centre), a mirror across X (mirror), half a turn \
                 about Z (half_turn), none (free), or the best of all (any).",
            ),
            ParamInfo::float(
                "hot",
                0.0,
                1.0,
                usual.hot,
                "Initial temperature, as a fraction of the \
                 score.",
            ),
            ParamInfo::float(
                "cold",
                0.0,
                1.0,
                usual.cold,
                "Final temperature, as a fraction of the \
                 score.",
            ),
            ParamInfo::float(
                "swaps",
                0.0,
                1.0,
                usual.swaps,
                "Fraction of moves that exchange two \
                 voltages.",
            ),
            ParamInfo::float(
                "mean_share",
                0.0,
                1.0,
                0.1,
                "Weight of the mean of the metrics, which is added to the worst metric in the score.",
            ),
            general::knob(),
        ];
        params.extend(settings::params(false));
        MethodInfo {
            name: "tons-fast",
            help: "The default method: simulated annealing with bounds that are fast to evaluate, then a \
                 certificate of the throughput.",
            proves: true,
            hot_start: true,
            params,
        }
    }

    fn idle(&self, scenario: &TpuScenario, params: &Params) -> Vec<Problem> {
        let mut idle = idle::finishing(scenario, params);
        idle.extend(idle::without_torus("tons-fast", scenario));
        if scenario.cubes <= 2 {
            let why = "on pods of up to 2 cubes, because all of these pods are symmetric";
            let remedy = "leave it at 0, or design more cubes";
            idle.extend(without_effect(["general_steps"], why, remedy));
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
            return Err(begin::other_topology("tons-fast", body));
        }
        let given = match &body.group {
            Some(_) => Some(body.group().map_err(begin::invalid)?),
            None => None,
        };
        let general_steps =
            params.int("general_steps").and_then(|steps| u64::try_from(steps).ok()).unwrap_or(0);
        general::suits(general_steps, body)?;
        begin::announce(body, cx);
        let mut search = FastSearch::new(params, body, cx);
        search.search(body, given.as_ref(), general_steps)?;
        if let Some(best) = search.best {
            let chosen = Chosen {
                lengths: best.certificate.class_lengths.clone(),
                certificate: Some(best.certificate),
                ..Chosen::new(best.pod, best.source)
            };
            finish::finish(chosen, body, cx)?;
        }
        Ok(Outcome::done(Status::Feasible))
    }
}

/// The best pod so far.
#[derive(Clone, Debug)]
struct BestPod {
    pod: Topology,
    /// Family (group and symmetry) and voltages of the pod, from which the search continues; `None` for a pod without
    /// symmetry.
    entry: Option<Entry>,
    certificate: Certificate,
    source: String,
}

struct FastSearch<'s, 'a> {
    cx: &'s mut Context<'a, Tpu>,
    cubes: usize,
    /// Failed switches: annealing assumes that all switches work, but designs are compared without the circuits of the
    /// failed switches.
    failed: &'s [u8],
    settings: AnnealSettings,
    rounds: u32,
    turns: CubeSymmetries,
    mean_share: f64,
    /// Relative gap of the certificates that compare designs.
    gap: f64,
    max_rounds: u32,
    best: Option<BestPod>,
    curve: AnnealingCurve,
}

impl<'s, 'a> FastSearch<'s, 'a> {
    fn new(params: &Params, scenario: &'s TpuScenario, cx: &'s mut Context<'a, Tpu>) -> Self {
        let cubes = usize::from(scenario.cubes);
        let (steps, chains, rounds) = usual(cubes);
        let mut settings = AnnealSettings { chains, steps, ..AnnealSettings::default() };
        let count = |name: &str| params.int(name).and_then(|value| u64::try_from(value).ok());
        settings.steps = count("steps").unwrap_or(steps).max(1);
        settings.chains = count("chains").map_or(chains, |chains| chains as u32).max(1);
        settings.hot = params.float("hot").unwrap_or(settings.hot).max(f64::MIN_POSITIVE);
        settings.cold = params.float("cold").unwrap_or(settings.cold).max(f64::MIN_POSITIVE);
        settings.swaps = params.float("swaps").unwrap_or(settings.swaps);
        let certificate = settings::certificate_settings(params, scenario.nodes());
        Self {
            cx,
            cubes,
            failed: &scenario.failed_ocs,
            settings,
            rounds: count("rounds").map_or(rounds, |rounds| rounds as u32),
            turns: match params.text("symmetry") {
                Some("free") => CubeSymmetries::Free,
                Some("diagonal") => CubeSymmetries::Diagonal,
                Some("centre") => CubeSymmetries::Centre,
                Some("mirror") => CubeSymmetries::Mirror,
                Some("half_turn") => CubeSymmetries::HalfTurn,
                _ => CubeSymmetries::Any,
            },
            mean_share: params.float("mean_share").unwrap_or(0.1),
            gap: if params.float("certificate_gap").is_some() {
                certificate.gap.max(COMPARED)
            } else {
                COMPARED
            },
            max_rounds: certificate.max_rounds,
            best: None,
            curve: AnnealingCurve { score: f64::INFINITY, drawn_s: f64::NEG_INFINITY },
        }
    }

    /// Finds the best pod. If the best pod so far meets a bound that another run proved, the search ends early; the run
    /// still routes this pod.
    fn search(
        &mut self,
        scenario: &TpuScenario,
        given: Option<&Group>,
        general_steps: u64,
    ) -> Result<(), MethodError> {
        // A bound of another run may end the search, but not the steps after it.
        self.cx.end_when_proven(true);
        let ended = self.steps(scenario, given, general_steps);
        self.cx.end_when_proven(false);
        match ended {
            Err(MethodError::Stopped(Stop::Proven)) => Ok(()),
            ended => ended,
        }
    }

    /// Runs the steps of the search in order.
    fn steps(
        &mut self,
        scenario: &TpuScenario,
        given: Option<&Group>,
        general_steps: u64,
    ) -> Result<(), MethodError> {
        self.hot_start(scenario)?;
        self.torus(scenario)?;
        self.tournament(given)?;
        self.rounds()?;
        self.without_symmetry(given)?;
        self.tighten()?;
        self.general(general_steps)
    }

    /// Certifies the plan that the run was started from, and continues the search from this plan if it is symmetric.
    fn hot_start(&mut self, scenario: &TpuScenario) -> Result<(), MethodError> {
        let Some(hot) = begin::hot_start(scenario, self.cx) else { return Ok(()) };
        let Some(hops) = metrics::hops(&hot.topology) else {
            self.cx.hot_start_fate(HotStartFate::Rejected, "the pod is not connected", Some(hot.value), None);
            return Ok(());
        };
        let certificate = self.certify(&hot.topology, hops, hot.lengths.as_deref(), "hot start", self.gap)?;
        let entry = self.entry_of(&hot.topology);
        let why = match &entry {
            Some(entry) => {
                format!("the search also starts from this design of family '{}'", entry.family.name)
            }
            None => "the plan has no symmetry, so symmetric designs are searched too".to_owned(),
        };
        self.cx.hot_start_fate(HotStartFate::Accepted, why, Some(hot.value), Some(certificate.lower));
        self.best = Some(BestPod { pod: hot.topology, entry, certificate, source: "hot start".to_owned() });
        // A first round from the hot start, before the tournament.
        if self.best.as_ref().is_some_and(|best| best.entry.is_some()) && self.rounds > 0 {
            self.round(0, &mut Vec::new())?;
        }
        Ok(())
    }

    /// Converts a pod from another source into a design from which the search can continue; `None` for a pod without
    /// symmetry.
    fn entry_of(&self, pod: &Topology) -> Option<Entry> {
        let symmetry = pod.symmetry()?;
        let bounds = tournament::metrics(self.cubes)
            .iter()
            .map(|lengths| metrics::class_lengths(pod, lengths))
            .collect::<Option<Vec<f64>>>()?;
        let bound = bounds.into_iter().fold(f64::INFINITY, f64::min);
        let design = Design { voltage: symmetry.voltage, score: f64::INFINITY, bound };
        Some(Entry { family: Family::free(symmetry.group.clone()), design })
    }

    /// Anneals all families and certifies the best designs of the best families.
    fn tournament(&mut self, given: Option<&Group>) -> Result<(), MethodError> {
        let mut random = self.cx.stream(FAMILY_STREAM);
        let tried = families(self.cubes, given, self.turns, &mut random, self.cx)?;
        let names: Vec<&str> = tried.iter().map(|family| family.name.as_str()).collect();
        self.cx.phase(
            "anneal",
            format!(
                "{} chains of up to {} steps: {}",
                self.settings.chains,
                self.settings.steps,
                names.join(", ")
            ),
        );
        let streams = lightbay_core::random::Streams::new(self.seed());
        let (settings, mean_share, gap, max_rounds) =
            (self.settings, self.mean_share, self.gap, self.max_rounds);
        let (mut curve, mut first) = (self.curve, self.best.is_none());
        let (cubes, failed) = (self.cubes, self.failed);
        // The best pod certified so far, in case the search ends early.
        let mut early: Option<BestPod> = None;
        let entries = tournament::tournament(
            tried,
            &settings,
            mean_share,
            |n| streams.stream(n),
            self.cx,
            |cx, family, progress| curve.draw(cx, family, progress),
            |cx, entry| {
                // The first winner is certified as a first plan; if rounds take long, every winner is certified.
                if std::mem::take(&mut first) || cubes >= LONG_ROUNDS {
                    cx.phase(
                        "certify",
                        format!("the best design so far, from the family {}", entry.family.name),
                    );
                    let pod = Topology::symmetric(entry.family.group.clone(), entry.design.voltage);
                    let pod = pod.failing(failed);
                    if let Some(hops) = metrics::hops(&pod) {
                        let settings =
                            // A wide certificate is enough for a first plan.
                            mcf::FlowSettings { gap: gap.max(FIRST_GAP), max_rounds, ..Default::default() };
                        let certificate = mcf::certify(&pod, &settings, start_lengths(&pod).as_deref(), cx)?;
                        certify::offer(&pod, hops, &certificate, &entry.family.name, cx)?;
                        let source = entry.family.name.clone();
                        if early.as_ref().is_none_or(|known| certificate.lower > known.certificate.lower) {
                            early = Some(BestPod { pod, entry: Some(entry.clone()), certificate, source });
                        }
                    }
                    cx.phase("anneal", "the tournament continues");
                }
                Ok(())
            },
        );
        self.curve = curve;
        let entries = match entries {
            Ok(entries) => entries,
            Err(ended) => {
                self.keep(early);
                return Err(ended);
            }
        };
        let ended = entries.into_iter().take(CERTIFIED).try_for_each(|entry| self.contend(entry).map(drop));
        // A winner of an earlier round may carry more than the winners of the last round, because metrics only bound
        // the throughput.
        self.keep(early);
        ended
    }

    /// A number that determines the random streams of the tournament.
    fn seed(&self) -> u64 {
        use rand::Rng;
        self.cx.stream(FAMILY_STREAM + 1).next_u64()
    }

    /// Runs rounds of cuts, starting from the best design.
    fn rounds(&mut self) -> Result<(), MethodError> {
        let mut cuts = Vec::new();
        let mut in_vain = 0;
        for number in 1..=self.rounds {
            self.take_offer()?;
            if self.round(number, &mut cuts)? {
                in_vain = 0;
            } else {
                in_vain += 1;
                if in_vain >= PATIENCE {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Searches designs without symmetry of the cube separately, for sizes at which such designs are best after cuts
    /// although the metrics of the tournament rank them lower. This gains 0.1 % at 256 chips, nothing at 128 and 192.
    fn without_symmetry(&mut self, given: Option<&Group>) -> Result<(), MethodError> {
        let tied = |best: &BestPod| {
            best.entry.as_ref().is_some_and(|Entry { family, .. }| family.ties != Ties::free(&family.group))
        };
        if self.cubes != UNTIED || self.turns != CubeSymmetries::Any || !self.best.as_ref().is_some_and(tied)
        {
            return Ok(());
        }
        // Sets the best pod aside: the first designs of this search are found without cuts, and `contend` would skip
        // the designs whose bounds are at most the upper end of that pod's certificate.
        let known = self.best.take();
        self.turns = CubeSymmetries::Free;
        let ended = self.tournament(given).and_then(|()| self.rounds());
        let found = std::mem::replace(&mut self.best, known);
        self.keep(found);
        ended
    }

    /// Makes a pod the best pod if its certified throughput exceeds the throughput of the current best pod.
    fn keep(&mut self, pod: Option<BestPod>) {
        let lower = |best: &Option<BestPod>| best.as_ref().map(|best| best.certificate.lower);
        if lower(&pod) > lower(&self.best) {
            self.best = pod;
        }
    }

    /// Narrows the certificate of the best design, which until now was only accurate enough to compare designs. If the
    /// user set a gap, [`finish`] narrows the certificate instead.
    fn tighten(&mut self) -> Result<(), MethodError> {
        let Some(best) = self.best.clone() else { return Ok(()) };
        if self.cx.params().float("certificate_gap").is_some() || best.certificate.gap() <= FINAL {
            return Ok(());
        }
        let Some(hops) = metrics::hops(&best.pod) else { return Ok(()) };
        self.cx.phase(
            "certify",
            format!("best design of {} chips, until its gap is {:.2} %", best.pod.nodes(), 100.0 * FINAL),
        );
        let lengths = best.certificate.class_lengths.clone().or_else(|| start_lengths(&best.pod));
        let certificate = self.certify(&best.pod, hops, lengths.as_deref(), &best.source, FINAL)?;
        if certificate.lower > best.certificate.lower {
            self.best = Some(BestPod { certificate, ..best });
        }
        Ok(())
    }

    /// Runs one round: adds the metric of the last certificate to the objective, if this tightens the bound by more
    /// than [`WORTH`], and continues the annealing. Returns whether a better pod was found.
    fn round(&mut self, number: u32, cuts: &mut Vec<LinearCut>) -> Result<bool, MethodError> {
        let Some(best) = self.best.clone() else { return Ok(false) };
        let Some(entry) = best.entry else { return Ok(false) };
        let group = &entry.family.group;
        // Cuts of another group do not apply here.
        cuts.retain(|cut| cut.order() == group.order());
        if let Some(lengths) = &best.certificate.class_lengths
            // The metric of the certificate gives a smaller bound than the metrics of the objective, so it is a
            // violated cut.
            && best.certificate.upper < entry.design.bound * (1.0 - WORTH)
            && let Some(cut) = LinearCut::new(&best.pod, lengths)
        {
            // By symmetry of the cube, the images of the cut are also valid cuts.
            let images = cut.images(group);
            let new = images.len();
            cuts.extend(images);
            let from = cuts.len().saturating_sub(MOST_CUTS);
            cuts.drain(..from);
            self.cx.note(
                Severity::Info,
                format!(
                    "{new} new cuts: the metrics allow a flow of {:.4e}, the certificate only {:.4e}",
                    entry.design.bound, best.certificate.upper
                ),
            );
        }
        self.cx.phase(
            "cuts",
            format!("round {number} of {}: {} cuts, {}", self.rounds, cuts.len(), entry.family.name),
        );
        let objective = Objective {
            group: group.clone(),
            ties: entry.family.ties.clone(),
            metrics: tournament::metrics(self.cubes),
            cuts: cuts.clone(),
            mean_share: self.mean_share,
        };
        // The temperature and the number of steps are lower than in the tournament, because the search starts near a
        // good design.
        let settings = AnnealSettings {
            steps: ((self.settings.steps as f64 * ROUND_STEPS) as u64).max(1),
            hot: self.settings.hot * REHEAT,
            ..self.settings
        };
        let first = ROUND_STREAM + u64::from(number) * STREAMS;
        let streams: Vec<_> =
            (0..u64::from(settings.chains)).map(|chain| self.cx.stream(first + chain)).collect();
        let mut curve = AnnealingCurve { score: f64::INFINITY, ..self.curve };
        let (start, family) = ([entry.design.voltage], &entry.family);
        let found = anneal(
            &objective,
            &settings,
            &start,
            |chain| streams[chain as usize].clone(),
            self.cx,
            |cx, progress| curve.draw(cx, family, progress),
        )?;
        self.curve.drawn_s = curve.drawn_s;
        let mut better = false;
        let mut known: Vec<[u16; SWITCHES]> = vec![entry.design.voltage];
        for design in found {
            if known.len() <= PER_ROUND && !known.contains(&design.voltage) {
                known.push(design.voltage);
                better |= self.contend(Entry { family: entry.family.clone(), design })?;
            }
        }
        Ok(better)
    }

    /// Certifies a design that may be better than the best design; returns `true` if this design is better.
    fn contend(&mut self, entry: Entry) -> Result<bool, MethodError> {
        // If the bound of the design is at most the upper end of the best pod's certificate, the design cannot be
        // clearly better.
        if self.best.as_ref().is_some_and(|best| entry.design.bound <= best.certificate.upper) {
            return Ok(false);
        }
        let pod = Topology::symmetric(entry.family.group.clone(), entry.design.voltage).failing(self.failed);
        let Some(hops) = metrics::hops(&pod) else { return Ok(false) };
        point(self.cx, series::HOP_BOUND, metrics::hop_bound_of(&pod, hops));
        self.cx.phase("certify", format!("{} chips, {}", pod.nodes(), entry.family.name));
        let lengths = start_lengths(&pod);
        let source = entry.family.name.clone();
        let certificate = self.certify(&pod, hops, lengths.as_deref(), &source, self.gap)?;
        let better = self.best.as_ref().is_none_or(|best| certificate.lower > best.certificate.lower);
        if better {
            self.best = Some(BestPod { pod, entry: Some(entry), certificate, source });
        }
        Ok(better)
    }

    fn certify(
        &mut self,
        pod: &Topology,
        hops: Hops,
        lengths: Option<&[f64]>,
        source: &str,
        gap: f64,
    ) -> Result<Certificate, MethodError> {
        let settings = mcf::FlowSettings { gap, max_rounds: self.max_rounds, ..mcf::FlowSettings::default() };
        let certificate = mcf::certify(pod, &settings, lengths, self.cx)?;
        certify::offer(pod, hops, &certificate, source, self.cx)?;
        Ok(certificate)
    }

    /// Examines the plan that another run offers.
    fn take_offer(&mut self) -> Result<(), MethodError> {
        let Some(plan) = self.cx.offered() else { return Ok(()) };
        let Ok(pod) = plan.plan().result.topology.topology() else { return Ok(()) };
        let pod = pod.failing(self.failed);
        let Some(hops) = metrics::hops(&pod) else { return Ok(()) };
        let lengths = plan.plan().result.certificates.class_lengths.clone();
        let certificate = self.certify(&pod, hops, lengths.as_deref(), "offer", self.gap)?;
        let taken = self.best.as_ref().is_none_or(|best| certificate.lower > best.certificate.lower);
        self.cx.offer_fate(&plan, Some(certificate.lower), taken);
        if taken {
            let entry = self.entry_of(&pod);
            self.best = Some(BestPod { pod, entry, certificate, source: "offer".to_owned() });
        }
        Ok(())
    }
}

/// Reports a point of a curve at the elapsed time of the run.
fn point(cx: &mut Context<'_, Tpu>, name: &str, y: f64) {
    let x = cx.elapsed_s();
    cx.report(EventBody::Series(SeriesPoint { name: name.to_owned(), x, y }));
}

/// Start lengths for a certificate: of a few pairs of an electrical and an optical length, the pair with the tightest
/// bound; `None` if its two lengths are equal.
fn start_lengths(pod: &Topology) -> Option<Vec<f64>> {
    let tried = [(1, 1), (2, 3), (1, 2), (2, 5), (1, 3)];
    let bounds = tried.into_iter().filter_map(|(electrical, optical)| {
        let lengths = Lengths::two(electrical, optical);
        Some((metrics::class_lengths(pod, &lengths)?, lengths))
    });
    let (_, best) = bounds.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let uniform = best.longest() == 1;
    (!uniform).then(|| best.classes().iter().map(|&length| f64::from(length)).collect())
}

#[cfg(test)]
mod tests;
