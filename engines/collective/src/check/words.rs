//! Checks the text of a bound, which must be true of the plan.

use super::bound::BoundProof;
use crate::plan::BoundClaim;
use crate::scenario::{CollectiveScenario, NodeSort};

/// Maximum number of nodes that the name of a set lists.
const MOST_NAMED: usize = 6;

/// Returns the text that a bound should have; `None` if the text of the bound is right. If `proves`, which is set for
/// plans of whole chunks, a named path or sum must also reach the claimed number of epochs.
pub(super) fn wrong(
    scenario: &CollectiveScenario,
    proof: &BoundProof<'_>,
    claim: &BoundClaim,
    turned: bool,
    proves: bool,
) -> Option<&'static str> {
    let text = claim.because.as_str();
    if !claim.inside.is_sorted_by(|a, b| a < b) {
        return Some("the nodes inside the cut in ascending order, each once");
    }
    if claim.inside.is_empty() {
        let right = match text {
            "nothing is wanted" => claim.epochs == 0,
            "hops of all chunks against all links" => {
                !proves || proof.metric(false) >= u64::from(claim.epochs)
            }
            "epochs of all chunks on all links" => !proves || proof.metric(true) >= u64::from(claim.epochs),
            _ => is_path(scenario, proof, claim, turned, proves),
        };
        return (!right)
            .then_some("a path of this length, or a sum over all links that gives the same value");
    }
    let into = if turned { "cut out of " } else { "cut into " };
    let rest = text.strip_prefix(into).and_then(|rest| rest.strip_prefix(&set_name(scenario, &claim.inside)));
    let numbers = rest.and_then(|rest| {
        let (chunks, rest) = rest.strip_prefix(", ")?.split_once(" chunks, head ")?;
        let (head, tail) = rest.split_once(", tail ")?;
        Some((chunks.parse::<usize>().ok()?, head.parse().ok()?, tail.parse().ok()?))
    });
    let right = numbers.is_some_and(|(chunks, head, tail)| {
        proof.items(&claim.inside).iter().filter(|item| item.head >= head && item.tail >= tail).count()
            == chunks
    });
    (!right).then_some("the nodes inside the cut, and the chunks that cross the cut with this head and tail")
}

fn is_path(
    scenario: &CollectiveScenario,
    proof: &BoundProof<'_>,
    claim: &BoundClaim,
    turned: bool,
    proves: bool,
) -> bool {
    let name = |node: u32| scenario.topology.nodes.get(node as usize).map_or("", |node| node.name.as_str());
    let is_named = |source: u32, dest: u32| {
        let (from, to) = if turned { (dest, source) } else { (source, dest) };
        claim.because == format!("path {}->{}", name(from), name(to))
    };
    let long_enough = |source: u32, dest: u32| {
        !proves
            || proof
                .latency_from(source)
                .get(dest as usize)
                .is_some_and(|way| *way >= u64::from(claim.epochs))
    };
    proof.pairs().any(|(source, dest)| is_named(source, dest) && long_enough(source, dest))
}

/// Returns the name of a set of nodes: its only GPU, "all but" the only GPU that it lacks, its groups if it has exactly
/// the GPUs of these groups, or otherwise a list of its first nodes.
pub(super) fn set_name(scenario: &CollectiveScenario, inside: &[u32]) -> String {
    let nodes = &scenario.topology.nodes;
    let name = |node: u32| nodes.get(node as usize).map_or("", |node| node.name.as_str());
    let is_in = |node: u32| inside.binary_search(&node).is_ok();
    let gpus = || nodes.iter().filter(|node| node.kind == NodeSort::Gpu);
    let own: Vec<u32> = gpus().map(|node| node.id).filter(|id| is_in(*id)).collect();
    let others: Vec<u32> = gpus().map(|node| node.id).filter(|id| !is_in(*id)).collect();
    if let [only] = own[..] {
        return name(only).to_owned();
    }
    if let [only] = others[..] {
        return format!("all but {}", name(only));
    }
    let whole = |group: &u32| {
        let mut members = gpus().filter(|node| node.group == Some(*group)).peekable();
        members.peek().is_some() && members.all(|node| is_in(node.id))
    };
    let last = nodes.iter().filter_map(|node| node.group).max().map_or(0, |group| group + 1);
    let groups: Vec<u32> = (0..last).filter(whole).collect();
    let covered = gpus().filter(|node| node.group.is_some_and(|group| groups.contains(&group))).count();
    if covered == own.len() {
        match groups[..] {
            [only] => return format!("group {only}"),
            [_, ..] => {
                let names: Vec<String> = groups.iter().map(u32::to_string).collect();
                return format!("groups {}", names.join(", "));
            }
            [] => {}
        }
    }
    let names: Vec<&str> = inside.iter().take(MOST_NAMED).map(|node| name(*node)).collect();
    let rest = inside.len() - names.len();
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("{{{}{more}}}", names.join(", "))
}
