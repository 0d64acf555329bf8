//! The worst NCT and the mean makespan that a plan claims over several configurations of its scenario. The mean
//! makespan is checked too, because it reveals a plan that replaces a configuration by an easier configuration even if
//! the worst NCT stays the same.
//!
//! For each configuration, the checker computes a lower bound on the makespan on the circuits of the plan. If
//! contention is exact, the bound is the makespan; otherwise the makespan lies between the bound and the makespan at
//! max-min fair rates.

use super::case::Case;
use super::exact::least_s;
use super::nics::nic_groups;
use super::replay::replay;
use super::walk::critical_communication_s;
use super::{CHECK_RELATIVE, Claims, Findings, code, job};
use crate::plan::TrainingResult;
use crate::scenario::TrainingScenario;
use lightbay_core::checked::{Figure, Violation};

/// Name of the metric of the largest NCT over the configurations.
const WORST_NCT: &str = "worst_nct";
/// Name of the metric of the mean makespan over the configurations.
const MEAN_MAKESPAN: &str = "mean_makespan_s";

/// The worst NCT and the mean makespan over the configurations that `text` names. A figure that the checker knows only
/// within a range has a remark.
///
/// # Errors
/// Configurations that the scenario does not have, or circuits that cannot be simulated with one of them.
pub(super) fn figures(
    scenario: &TrainingScenario,
    text: &str,
    result: &TrainingResult,
    claims: &Claims<'_>,
) -> Result<[(Figure, Option<String>); 2], Violation> {
    let wrong = |message: String| Violation::new(code::NCT, message);
    let variants = scenario
        .variants(text)
        .map_err(|problem| wrong(format!("parameter 'robust' is invalid: {problem}")))?;
    let circuits = result.circuits();
    let mut found = Findings::default();
    let (mut least, mut most) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    let (mut least_s, mut most_s) = (0.0, 0.0);
    // Largest NCT that a configuration without an exact makespan can have.
    let mut open = f64::NEG_INFINITY;
    let share = 1.0 / variants.len().max(1) as f64;
    for variant in &variants {
        let case = match &variant.scenario {
            TrainingScenario::Job(job) => job::case(job, &mut found),
            TrainingScenario::Instance(instance) => Case::from_instance(instance).ok(),
            // Several jobs have no circuits in common.
            TrainingScenario::Shared(_) => None,
        };
        let range = case
            .filter(|case| case.net.links.len() == circuits.len())
            .and_then(|case| range(&case, &circuits));
        let Some(RateRange { nct: (low, high), makespan_s, is_exact }) = range else {
            return Err(wrong(format!(
                "the circuits cannot be simulated in the configuration {}",
                variant.name
            )));
        };
        (least, most) = (least.max(low), most.max(high));
        open = if is_exact { open } else { open.max(high) };
        (least_s, most_s) = (least_s + share * makespan_s.0, most_s + share * makespan_s.1);
    }
    let with_remark = |name, code, least: f64, most: f64, is_open: bool| {
        let method = claims.method;
        let remark = is_open.then(|| {
            format!(
                "metric '{name}' is claimed by '{method}'; the checker itself finds a value between {least:.6} and \
                 {most:.6}"
            )
        });
        (Figure { name, code, least, most }, remark)
    };
    Ok([
        with_remark(WORST_NCT, code::NCT, least, most, open > least),
        with_remark(MEAN_MAKESPAN, code::MAKESPAN, least_s, most_s, open > f64::NEG_INFINITY),
    ])
}

/// Smallest and largest figures that scheduled rates can reach on the circuits.
struct RateRange {
    nct: (f64, f64),
    makespan_s: (f64, f64),
    /// `true` if both ends are the same makespan, apart from rounding.
    is_exact: bool,
}

fn range(case: &Case<'_>, circuits: &[u32]) -> Option<RateRange> {
    let nics = nic_groups(case);
    let ideal = replay(case, &nics, None)?;
    let communication_s = critical_communication_s(case, &ideal).filter(|length_s| *length_s > 0.0)?;
    let nct = |end_s: f64| 1.0 + (end_s - ideal.makespan_s) / communication_s;
    let fair_s = replay(case, &nics, Some(circuits))?.makespan_s;
    let (least_s, exact) = least_s(case, &nics, circuits)?;
    let most_s = if exact { least_s } else { fair_s };
    let is_exact = most_s - least_s <= CHECK_RELATIVE * most_s;
    let rounding_s = CHECK_RELATIVE * most_s;
    let (low_s, high_s) = (least_s - rounding_s, most_s + rounding_s);
    let rounding = rounding_s / communication_s;
    let nct = (nct(least_s) - rounding, nct(most_s) + rounding);
    Some(RateRange { nct, makespan_s: (low_s, high_s), is_exact })
}
