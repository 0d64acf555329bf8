//! Transfer of the circuits of a plan to another scenario.

use super::repair::{PortLimits, REPAIR_STREAM, RepairScratch};
use crate::plan::TrainingResult;
use crate::scenario::instance::{Instance, Link};
use crate::simulate::evaluate::Evaluator;
use lightbay_core::random::Streams;
use std::collections::BTreeSet;

/// Circuits of a result in link order; `None` if the result does not list exactly `links` links in this order.
pub(crate) fn listed(result: &TrainingResult, links: usize) -> Option<Vec<u32>> {
    let ordered = result.topology.iter().enumerate().all(|(id, entry)| entry.link.index() == id);
    (ordered && result.topology.len() == links).then(|| result.circuits())
}

/// The sentence on a plan for which [`listed`] returns `None`.
pub(crate) fn unlisted(result: &TrainingResult) -> &'static str {
    if result.phases.is_some() {
        "the circuits of the plan change within the iteration"
    } else {
        "the plan does not list the circuits of every link of its scenario in link order"
    }
}

/// Circuits of a plan for `from` on the links of `to`: links with equal kinds and pod names keep their circuits, other
/// links get one circuit. Also returns, as the second element of the pair, sentences on the links of `from` and `to`
/// that have no counterpart.
///
/// # Errors
/// One sentence that says why the circuits cannot be transferred: other pods, or no link in common.
pub(crate) fn translated(
    x: &[u32],
    from: &Instance,
    to: &Instance,
) -> Result<(Vec<u32>, Vec<String>), String> {
    // Mirror pods have no ports, so only real pods must agree.
    let pods = |instance: &Instance| -> BTreeSet<String> {
        instance.pods.iter().filter(|pod| !pod.mirror).map(|pod| pod.name.clone()).collect()
    };
    let (old, new) = (pods(from), pods(to));
    if old.len() != new.len() {
        return Err(format!("the plan is for {} pods, but the scenario has {}", old.len(), new.len()));
    }
    if old != new {
        return Err("the pods of the plan and the pods of the scenario have different names".to_owned());
    }
    let name = |instance: &Instance, link: &Link| {
        let pod = |id: lightbay_core::units::PodId| {
            instance.pods.get(id.index()).map_or_else(String::new, |pod| pod.name.clone())
        };
        (link.kind, pod(link.pod_a), pod(link.pod_b))
    };
    // Links are matched by kind and pod names, because their numbers change when a job changes.
    let known: std::collections::HashMap<_, u32> =
        from.links.iter().zip(x).map(|(link, &circuits)| (name(from, link), circuits)).collect();
    let mut kept = 0;
    let mut remarks = Vec::new();
    let translated = to
        .links
        .iter()
        .map(|link| {
            if let Some(&circuits) = known.get(&name(to, link)) {
                kept += 1;
                return circuits;
            }
            let (_, a, b) = name(to, link);
            remarks.push(format!("the link between '{a}' and '{b}' is new and starts with 1 circuit"));
            1
        })
        .collect();
    let gone = from.links.len().saturating_sub(kept);
    if gone > 0 {
        remarks.push(format!("circuits of {gone} links that no longer exist were dropped"));
    }
    if kept == 0 {
        Err("no link of the plan exists in the scenario".to_owned())
    } else {
        Ok((translated, remarks))
    }
}

/// Removes circuits until every pod has enough ports; returns whether any were removed.
///
/// # Errors
/// One sentence, if a pod has fewer ports than links.
pub(crate) fn fit(evaluator: &Evaluator, x: &mut [u32]) -> Result<bool, String> {
    let budget = &evaluator.network.budget;
    let caps: Vec<u32> = (0..budget.links()).map(|link| budget.limit(link)).collect();
    let before = x.to_vec();
    // DELTA Alg. 6, with a fixed seed, so that equal plans are transferred equally.
    let mut random = Streams::new(0).stream(REPAIR_STREAM);
    if (PortLimits { budget, caps: &caps }).repair(x, &mut random, &mut RepairScratch::default()) {
        Ok(x != before)
    } else {
        Err("a pod of the changed scenario has fewer ports than links".to_owned())
    }
}
