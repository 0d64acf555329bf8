//! Standing of a pod: its certified throughput, the bound from its metrics, the bound on any pod, and the tori.

use crate::analysis::Yardsticks;
use crate::model::baselines;
use crate::plan::TpuResult;
use crate::report::sizes::of_the_bound;
use crate::series;
use lightbay_core::report::session::RunPoint;
use lightbay_core::report::{Phrase, RunBeside};

/// Certificate that proved a higher throughput than all earlier certificates of its run. The certificate of a new
/// design starts far below the best certificate, so a design counts only after its certificate exceeds the best
/// certificate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Certified {
    /// Time of the certificate, and the proven throughput of a flow.
    pub lower: RunPoint,
    /// Upper end of the same certificate, which the design cannot exceed.
    pub upper: Option<f64>,
}

/// Returns, in order, the certificates that proved a higher throughput than all earlier certificates of the run.
pub(super) fn certificates(run: &RunBeside) -> Vec<Certified> {
    let uppers = run.points(series::MCF_UPPER);
    let mut best: Vec<Certified> = Vec::new();
    for &lower in run.points(series::MCF_LOWER) {
        let known = uppers.partition_point(|upper| upper.count <= lower.count);
        let upper = known.checked_sub(1).and_then(|at| uppers.get(at)).map(|upper| upper.value);
        if let Some(last) = best.last_mut().filter(|last| lower.value <= last.lower.value) {
            // A later round of the same design may only lower the upper end.
            if lower.value == last.lower.value {
                last.upper = last.upper.into_iter().chain(upper).reduce(f64::min);
            }
            continue;
        }
        best.push(Certified { lower, upper });
    }
    best
}

/// Throughput and bounds of a pod, and the tori to compare with it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PodStanding {
    /// Bound on the throughput of any pod of the size.
    pub any: f64,
    /// Bound on the throughput of this pod by its metrics.
    pub metric: Option<f64>,
    /// Proven throughput of a flow on this pod.
    pub certified: Option<f64>,
    /// Name and throughput of the tori, best first.
    pub tori: Vec<(String, f64)>,
}

impl PodStanding {
    /// The values of the active run, or of a plan if there is no active run.
    pub(super) fn of(
        run: Option<&RunBeside>,
        result: Option<&TpuResult>,
        bound: Option<f64>,
        yardsticks: &Yardsticks,
    ) -> Self {
        let best = run.and_then(|run| certificates(run).pop());
        let claims = result.filter(|_| run.is_none()).map(|result| result.claims);
        // The plan with the certified throughput may have a lower upper end than the rounds of the run.
        let upper = result.map(|result| result.claims).and_then(|claims| {
            best.filter(|best| claims.mcf_lower >= best.lower.value).map(|_| claims.mcf_upper)
        });
        let tori = [("PDTT", &yardsticks.pdtt), ("PT", &yardsticks.pt)];
        let named = tori.into_iter().filter_map(|(family, torus)| {
            let torus = torus.as_ref()?;
            Some((format!("{family} {}", baselines::named(torus.shape)), torus.mcf))
        });
        Self {
            any: bound.map_or(yardsticks.cover.mcf, |bound| bound.min(yardsticks.cover.mcf)),
            metric: best
                .and_then(|best| best.upper)
                .map(|bound| upper.map_or(bound, |upper| upper.min(bound)))
                .or_else(|| run?.last(series::METRIC_UPPER))
                .or(claims.map(|claims| claims.mcf_upper)),
            certified: best
                .map(|best| best.lower.value)
                .or_else(|| run?.best)
                .or(claims.map(|claims| claims.mcf_lower)),
            tori: named.collect(),
        }
    }

    /// Relative gap of the certificate: upper end divided by lower end, minus 1.
    pub(super) fn gap(&self) -> Option<f64> {
        let (upper, lower) = (self.metric?, self.certified?);
        (lower > 0.0).then(|| (upper / lower - 1.0).max(0.0))
    }

    /// Returns a phrase with the ratios of the throughput to each torus and to the bound on any pod; the first ratio is
    /// the answer.
    pub(super) fn answer(&self) -> Phrase {
        let phrase = Phrase::new();
        let Some(certified) = self.certified else { return phrase };
        let ratio = |(name, torus): &(String, f64)| {
            (format!("×{:.2}", certified / torus), format!(" {}", name.split(' ').next().unwrap_or(name)))
        };
        let mut ratios = self.tori.iter().map(ratio);
        let Some((best, name)) = ratios.next() else { return of_the_bound(phrase, certified / self.any) };
        let phrase = phrase.answer(best).muted(name);
        let phrase = ratios.fold(phrase, |phrase, (ratio, name)| phrase.muted(format!("  {ratio}{name}")));
        phrase.muted(format!("  {:.1} % of the bound", certified / self.any * 100.0))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use lightbay_core::event::RunId;
    use std::collections::BTreeMap;

    pub fn run() -> RunBeside {
        let mut series: BTreeMap<String, Vec<RunPoint>> = BTreeMap::new();
        let mut say = |name: &str, points: &[(f64, f64)]| {
            let points = points.iter().map(|&(at_s, value)| RunPoint { at_s, count: at_s, value });
            series.insert(name.to_owned(), points.collect());
        };
        say(series::METRIC_UPPER, &[(0.01, 0.0061), (0.4, 0.006_34)]);
        say(series::MCF_UPPER, &[(0.6, 0.006_36), (5.0, 0.006_329)]);
        say(series::MCF_LOWER, &[(0.6, 0.004), (5.0, 0.006_313)]);
        RunBeside {
            id: RunId(1),
            method: "tons-fast".to_owned(),
            state: "RUNNING",
            is_active: true,
            elapsed_s: 5.0,
            series,
            ..RunBeside::default()
        }
    }

    fn standing(run: &RunBeside) -> PodStanding {
        PodStanding::of(Some(run), None, Some(0.006_624), &Yardsticks::of(4, None))
    }

    #[test]
    fn a_run_stands_between_its_certificate_and_the_tori() {
        let standing = standing(&run());
        assert_eq!(
            (standing.any, standing.metric, standing.certified),
            (0.006_624, Some(0.006_329), Some(0.006_313))
        );
        assert!((standing.gap().unwrap() - 0.002_534).abs() < 1e-5);
        assert!(standing.answer().to_string().ends_with("95.3 % of the bound"));
    }

    #[test]
    fn the_certificate_of_a_new_design_takes_nothing_back() {
        let mut run = run();
        for (name, value) in [(series::MCF_UPPER, 0.006_4), (series::MCF_LOWER, 0.003)] {
            run.series.get_mut(name).unwrap().push(RunPoint { at_s: 6.0, count: 6.0, value });
        }
        let standing = standing(&run);
        assert_eq!((standing.metric, standing.certified), (Some(0.006_329), Some(0.006_313)));
        assert_eq!(certificates(&run).len(), 2);
    }

    #[test]
    fn before_the_first_certificate_only_the_metric_is_known() {
        let mut run = run();
        run.series.remove(series::MCF_UPPER);
        run.series.remove(series::MCF_LOWER);
        let standing = standing(&run);
        assert_eq!((standing.metric, standing.certified, standing.gap()), (Some(0.006_34), None, None));
    }
}
