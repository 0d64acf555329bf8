//! Circuits for several configurations: parameter `robust` lists configurations, and the method minimises the worst NCT
//! over them instead of the iteration time of one scenario.
//!
//! The plan belongs to the scenario itself; the circuits of the plan minimise the worst NCT over the configurations.
//! The makespan of the plan in the scenario may therefore exceed the bound, which remains the bound of the scenario. A
//! proof of the smallest worst NCT does not make the plan optimal for the scenario; a note reports what is proven about
//! the worst NCT.

use super::session::{Session, candidate};
use super::{auto, start};
use crate::search::ports::TOLERANCE;
use crate::search::robust::Configurations;
use lightbay_core::event::Severity;
use lightbay_core::kind::Candidate;
use lightbay_core::method::{MethodError, Outcome};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::plan::{Limit, Status};
use lightbay_core::problem::counted;
use std::sync::Arc;

/// Name of the metric of the largest NCT over the configurations.
pub(super) const WORST_NCT: &str = "worst_nct";

/// Name of the metric of the mean makespan over all configurations.
const MEAN_MAKESPAN: &str = "mean_makespan_s";

/// Difference of NCT that counts as zero.
const PROVEN: f64 = 1e-9;

/// Returns the parameter that lists the configurations to plan for.
pub(super) fn knob() -> ParamInfo {
    ParamInfo::text(
        "robust",
        "Configurations such as seq=2048,8192;bandwidth_gbps=200,400; the method minimises the worst NCT \
         over all combinations.",
    )
}

/// Searches for the circuits with the smallest worst NCT if parameter `robust` is set; otherwise returns `None`.
pub(super) fn run(session: &mut Session<'_, '_>, params: &Params) -> Result<Option<Outcome>, MethodError> {
    let Some(configurations) = session.configurations.clone() else { return Ok(None) };
    let mut start = start::start(session)?;
    // The reported bound is on the makespan of the scenario itself, not on the worst NCT.
    auto::widest(session, &start);
    let count = configurations.each(&start.best.x).count() as u64;
    let detail = format!("the worst NCT over {}", counted(count, "configuration", "configurations"));
    session.cx.phase("robust", detail);
    // The plan of the scenario is the first seed.
    start.seeds.insert(0, start.best.x.clone());
    let listed =
        params.int("listed_vectors").map_or(crate::search::allocations::LISTED, |value| value.max(1) as u64);
    let of_all = Arc::clone(&configurations);
    let served = configurations.search(&start.seeds, listed, session, move |session, x, _| {
        hand_over(session, &of_all, x, "robust")
    })?;
    let mut x = served.x;
    if session.cx.params().bool("min_ports") {
        // Circuits are removed only if the worst NCT does not change.
        session.cx.phase("ports", "fewer circuits that keep the worst NCT");
        let had = session.evaluator.network.budget.total(&x);
        configurations.fewest(&mut x, served.worst_nct * (1.0 + TOLERANCE), session)?;
        if session.evaluator.network.budget.total(&x) < had {
            hand_over(session, &configurations, &x, "fewer ports")?;
        }
    }
    for (name, nct) in configurations.each(&x) {
        session.cx.note(Severity::Info, format!("{name}: NCT {nct:.4}"));
    }
    // Plan and bound meet within rounding.
    let proven = served.worst_nct <= served.bound + PROVEN;
    let text = if proven {
        format!("no circuits have a worst NCT below {:.4} (proven)", served.bound)
    } else {
        format!(
            "no circuits have a worst NCT below {:.4}; this plan has {:.4}",
            served.bound, served.worst_nct
        )
    };
    session.cx.note(Severity::Info, text);
    let limit = if proven { None } else { Some(Limit::Work) };
    Ok(Some(Outcome::Done { status: Status::Feasible, limit }))
}

/// Reports circuits whose worst NCT is the best so far, regardless of their makespan in this scenario.
fn hand_over(
    session: &mut Session<'_, '_>,
    configurations: &Arc<Configurations>,
    x: &[u32],
    source: &str,
) -> Result<(), MethodError> {
    let evaluator = Arc::clone(&session.evaluator);
    let mut scratch = crate::simulate::evaluate::Scratch::default();
    let makespan = evaluator.makespan(x, session.rates, &mut scratch);
    let ports = evaluator.network.budget.total(x) as f64;
    let (x, rates, all) = (x.to_vec(), session.rates, Arc::clone(configurations));
    session.cx.supersede(makespan, ports, source, move || with_worst(candidate(&evaluator, &x, rates), &all))
}

/// A plan with the worst NCT and the mean makespan of its circuits over all configurations.
pub(super) fn with_worst(
    mut candidate: Candidate<crate::plan::TrainingResult>,
    configurations: &Configurations,
) -> Candidate<crate::plan::TrainingResult> {
    let circuits = candidate.result.circuits();
    candidate.metrics.insert(WORST_NCT.to_owned(), configurations.worst(&circuits));
    candidate.metrics.insert(MEAN_MAKESPAN.to_owned(), configurations.mean_makespan_s(&circuits));
    candidate
}
