//! Checks the claims about the pod with one failed switch.

use super::routes::{self, Pod};
use super::wiring::SWITCHES;
use super::{EXACT, Findings, code};
use crate::plan::TpuResult;
use crate::scenario::TpuScenario;
use lightbay_core::problem::counted;

/// Checks the cases of failed switches: each switch has at most one case, and the listed routes and figures of each
/// case are correct.
pub(super) fn check(
    pod: &Pod<'_>,
    scenario: &TpuScenario,
    result: &TpuResult,
    found: &mut Findings,
    remarks: &mut Vec<String>,
) {
    let pairs = (pod.wiring.nodes() * (pod.wiring.nodes() - 1)) as f64;
    if let Some(two) = result.faults.windows(2).find(|two| two[0].failed_ocs > two[1].failed_ocs) {
        found.add(
            code::FAULTS,
            format!(
                "the failure of switch {} is listed after the failure of switch {}",
                two[1].failed_ocs, two[0].failed_ocs
            ),
        );
    }
    let mut seen = [false; SWITCHES];
    let mut unreachable = Vec::new();
    let mut claimed = 0;
    for case in &result.faults {
        let id = case.failed_ocs;
        match seen.get_mut(usize::from(id)) {
            None => {
                found.add(code::FAULTS, format!("switch {id} does not exist, so it cannot fail"));
                continue;
            }
            Some(seen) if *seen => {
                found.add(code::FAULTS, format!("the failure of switch {id} is listed twice"));
            }
            Some(seen) => *seen = true,
        }
        let mut fault = |what: String| found.add(code::FAULTS, format!("failure of switch {id}: {what}"));
        if case.max_channel_load.is_none() == case.unreachable.is_empty() {
            fault("the case must have either unreachable pairs or a load".to_owned());
        }
        if let Some(load) = case.max_channel_load {
            // Lower bound on the maximum load of every routing: the mean load of the remaining links.
            let links = (6 * pod.wiring.nodes() - 2 * pod.wiring.cubes) as f64;
            let least = case.avg_hops * pairs / links;
            if case.avg_hops < result.claims.avg_hops * (1.0 - EXACT) {
                fault(format!(
                    "routes of {} hops are shorter than the shortest paths without the switch",
                    case.avg_hops
                ));
            }
            if (load as f64) < least * (1.0 - EXACT) {
                fault(format!("a load of {load} is below the mean load {least:.3} of its routes"));
            }
            // Without the links of a switch, a pod cannot carry more than with all links.
            if 1.0 / load.max(1) as f64 > result.claims.mcf_upper * (1.0 + EXACT) {
                fault(format!(
                    "routes with max channel load {load} carry more than 'mcf_upper' {} allows",
                    result.claims.mcf_upper
                ));
            }
        } else {
            if case.avg_hops != 0.0 || case.routing.is_some() {
                fault("pairs are unreachable, so the case must not have routes or hops".to_owned());
            }
            unreachable.push(id);
        }
        let nodes = pod.wiring.nodes() as u32;
        let pair = |&(source, target): &(u32, u32)| source < nodes && target < nodes && source != target;
        let order = case.unreachable.windows(2).find(|two| two[0] >= two[1]);
        if let Some((source, target)) = case.unreachable.iter().find(|named| !pair(named)) {
            fault(format!(
                "the unreachable pair of chip {source} and chip {target} is not a pair of two chips of the pod"
            ));
        } else if let Some(two) = order {
            fault(format!(
                "the unreachable pair of chip {} and chip {} is listed twice or not in ascending order",
                two[1].0, two[1].1
            ));
        }
        let Some(routing) = &case.routing else {
            claimed += 1;
            continue;
        };
        if routing.routes.is_empty() {
            found.add(
                code::FAULTS,
                format!("failure of switch {id}: figures of routes are given, but no route is listed"),
            );
            continue;
        }
        let mut avoided = scenario.failed_ocs.clone();
        avoided.push(id);
        let place = format!("faults of switch {id}");
        let sums = routes::check(pod, routing, &avoided, result.claims.mcf_upper, &place, found);
        if let Some(sums) = sums {
            if case.max_channel_load != Some(sums.max_load) {
                found.add(
                    code::FAULTS,
                    format!(
                        "failure of switch {id}: 'max_channel_load' is {}, but the routes give {}",
                        case.max_channel_load.map_or_else(|| "missing".to_owned(), |load| load.to_string()),
                        sums.max_load
                    ),
                );
            }
            let average = sums.hops as f64 / pairs;
            if (case.avg_hops - average).abs() > EXACT * average {
                found.add(
                    code::FAULTS,
                    format!(
                        "failure of switch {id}: 'avg_hops' is {}, but the routes give {average}",
                        case.avg_hops
                    ),
                );
            }
        }
    }
    if claimed > 0 {
        remarks.push(format!(
            "the figures of {} are claimed, because the plan does not contain the routes; solve with with_faults=true \
             to include them",
            counted(claimed, "failed switch", "failed switches")
        ));
    }
    if !unreachable.is_empty() {
        let ids: Vec<String> = unreachable.iter().map(ToString::to_string).collect();
        remarks.push(format!("if switch {} fails, some pairs have no route", ids.join(" or ")));
    }
    if scenario.tolerated_ocs_faults > 0 {
        let missing = seen.iter().filter(|seen| !**seen).count();
        if missing > 0 {
            remarks.push(format!(
                "{missing} of the 48 switch failures that the pod must tolerate were not examined"
            ));
        }
    }
}
