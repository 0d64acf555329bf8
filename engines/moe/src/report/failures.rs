//! Cost of failed NICs: the time of an iteration if all NICs work, and with the NICs that have not failed.

use super::ITERATION;
use crate::model::iteration::data_parallel_ms;
use crate::model::rates::RegionRates;
use crate::plan::FabricKind;
use crate::scenario::{FailedNic, MoeScenario};
use crate::schedule::assemble::fabric_ms;
use crate::schedule::break_even::DelayStudy;
use crate::schedule::policies::SwitchPolicy;
use lightbay_core::clock::Deadline;
use lightbay_core::report::{Cell, Facts, Tone, Unavailable};
use std::collections::BTreeSet;

/// Adds to `facts` the failed NICs, and the numbers of working NICs of their servers.
pub(super) fn left(scenario: &MoeScenario, facts: &mut Facts) {
    let region = &scenario.region;
    if region.failed_nics.is_empty() {
        return;
    }
    facts.add("failed_nics", "failed NICs", FailedNic::text(&region.failed_nics));
    let servers: BTreeSet<u32> = region.failed_nics.iter().map(|failed| failed.server).collect();
    let left = |server: &u32| {
        format!(
            "server {server} has {} of {} optical and {} of {} packet-switched NICs left",
            region.optical_of(*server).len(),
            region.ocs_nics.len(),
            region.packet_of(*server).len(),
            region.eps_nics.len()
        )
    };
    facts.sentence(servers.iter().map(left).collect::<Vec<_>>().join("; "));
}

/// Returns the scenario without failed NICs.
fn whole(scenario: &MoeScenario) -> MoeScenario {
    MoeScenario { region: scenario.region.without_failures(), ..scenario.clone() }
}

/// Returns the time by which failed NICs lengthen the gradient reduction, once per iteration, ms.
pub(super) fn gradients_ms(scenario: &MoeScenario, fabric: FabricKind) -> f64 {
    let time = |scenario| data_parallel_ms(scenario, fabric, &RegionRates::of(scenario)).unwrap_or(0.0);
    time(scenario) - time(&whole(scenario))
}

/// Returns the time of an iteration on a network, ms. On regional circuits, local search finds the circuits, which
/// change at the cheapest times.
fn iteration_ms(
    scenario: &MoeScenario,
    fabric: FabricKind,
    deadline: Deadline,
) -> Result<Option<f64>, Unavailable> {
    if fabric != FabricKind::Mfabric {
        return Ok(fabric_ms(scenario, fabric).ok());
    }
    let Ok(study) = DelayStudy::of(scenario, || deadline.is_over()) else { return Ok(None) };
    let study = study.ok_or_else(|| Unavailable::late(deadline))?;
    Ok(study.time(SwitchPolicy::Exact, scenario.cluster.reconfiguration_delay_ms))
}

/// Returns facts that compare the iteration on a network, with some NICs failed, to an iteration in which all NICs
/// work; `None` if no NIC has failed, or if one of the two iterations has no plan.
///
/// # Errors
/// The deadline is over.
pub(super) fn cost(
    scenario: &MoeScenario,
    fabric: FabricKind,
    deadline: Deadline,
) -> Result<Option<Facts>, Unavailable> {
    if scenario.region.failed_nics.is_empty() {
        return Ok(None);
    }
    let all = iteration_ms(&whole(scenario), fabric, deadline)?;
    let some = iteration_ms(scenario, fabric, deadline)?;
    let Some((all, some)) = all.zip(some) else { return Ok(None) };
    let mut facts = Facts::new();
    left(scenario, &mut facts);
    facts.number("all_nics_ms", "iteration with all NICs", ITERATION, all);
    facts.number("working_nics_ms", "iteration with the working NICs", ITERATION, some);
    if fabric == FabricKind::Mfabric {
        facts.sentence("both iterations: experts in blocks, circuits from local search, and changes of circuits where the iteration is shortest");
    }
    let tone = if some > all { Tone::Bad } else { Tone::Text };
    facts.number("longer_ms", "longer by", ITERATION, Cell::new(some - all).tone(tone));
    let gradients = gradients_ms(scenario, fabric);
    facts.sentence(format!(
        "{:.2} %; gradients take {gradients:.3} ms of it, all-to-alls and stalls {:.3} ms",
        100.0 * (some / all - 1.0),
        some - all - gradients
    ));
    Ok(Some(facts))
}
