//! Remark on programs of ranks for networks with switches: copies and sums of switches become sends of the ranks.

use super::import;
use super::transfers::transfers;
use super::{listed, program};
use crate::Collective;
use crate::plan::{CollectiveResult, SizeRange};
use crate::scenario::{CollectiveScenario, NodeSort};
use lightbay_core::format::{FormatInfo, Input};
use lightbay_core::param::{ParamValue, Params};
use lightbay_core::plan::Plan;
use lightbay_core::problem::{Problems, counted};

/// Maximum number of transfers for which the time of the file is computed.
const MOST_TIMED: usize = 100_000;

/// Returns the remark for a plan whose switches copy or sum data: how many sends the file has in addition, and how long
/// the file takes on the network of the plan. `None` if there are no such sends.
pub(super) fn remark(info: &FormatInfo, plan: &Plan<Collective>) -> Option<String> {
    let (scenario, result) = (&plan.scenario.body, &plan.result);
    let (more, all) = if result.ranges.is_empty() {
        additional(scenario, result).ok()?
    } else {
        let of = |range: &SizeRange| {
            additional(&scenario.sized(range.planned_for_bytes as f64), &range.schedule).unwrap_or_default()
        };
        result.ranges.iter().map(of).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    };
    if more == 0 {
        return None;
    }
    let sends = counted(more as u64, "additional send", "additional sends");
    let text =
        format!("the file has {sends} of ranks for the copies and sums that switches make in the plan");
    let timed = (result.ranges.is_empty() && all <= MOST_TIMED).then(|| file_us(info, plan)).flatten();
    Some(match (timed, result.claims.replay_us) {
        (Some(file), Some(own)) => {
            format!("{text}; on this network, the file takes {file:.3} us and the plan {own:.3} us")
        }
        _ => format!("{text}; it may take longer than the plan"),
    })
}

/// Returns the number of transfers between ranks that the sends of the ranks do not have, and the number of all
/// transfers.
fn additional(scenario: &CollectiveScenario, result: &CollectiveResult) -> Result<(usize, usize), Problems> {
    let result = &*listed(scenario, result)?;
    let all = transfers(scenario, result)?.len();
    let is_gpu = |node: u32| scenario.topology.nodes[node as usize].kind == NodeSort::Gpu;
    // A copied piece leaves its rank once; a summed piece reaches its rank once.
    let of_ranks = result
        .sends
        .iter()
        .filter(|send| is_gpu(if result.pieces[send.piece as usize].adds_up { send.to } else { send.from }));
    Ok((all.saturating_sub(of_ranks.count()), all))
}

/// Returns the time of the file on the network of the plan, without epochs, µs.
fn file_us(info: &FormatInfo, plan: &Plan<Collective>) -> Option<f64> {
    let none = std::iter::empty::<(&str, &ParamValue)>();
    let params = Params::resolve(&info.params, none).ok()?;
    let written = program(info.name, "plan", (&plan.scenario.body, &plan.result), &params, "plan").ok()?;
    let file = Input { name: written.name, bytes: written.bytes };
    import::replay_us(info.name, &plan.scenario, &file)
}
