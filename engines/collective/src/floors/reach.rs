//! Data that no schedule can deliver, for any chunking and any epoch length, because links are up too early.

use crate::model::distances::arrivals;
use crate::model::task::CollectiveTask;
use crate::scenario::network::{LinkNetwork, NetworkLink};
use lightbay_core::problem::few;

/// Returns the reason that some chunk of a task cannot reach a destination, for any number of pieces; `None` if every
/// chunk by itself reaches all of its destinations.
pub fn out_of_reach(task: &CollectiveTask) -> Option<String> {
    let network = &task.real;
    let mut known: Vec<Option<Vec<f64>>> = vec![None; network.node_count()];
    (0..task.chunks.len()).find_map(|chunk| {
        let source = task.origins[task.chunks.source(chunk) as usize];
        let times = known[source as usize].get_or_insert_with(|| earliest(network, source));
        let mut ends = task.chunks.dests(chunk).map(|end| task.origins[end as usize]);
        let lost = ends.find(|end| times[*end as usize].is_infinite())?;
        Some(reason(network, times, (source, lost)))
    })
}

/// Returns, for every node, the earliest time at which the data of the given source can be at this node, µs; infinite
/// where the data never arrives. Transmission takes no time here, and data may wait everywhere, so no schedule is
/// earlier.
fn earliest(network: &LinkNetwork, source: u32) -> Vec<f64> {
    arrivals(network, source, false, |link, at| {
        let link = &network.links()[link as usize];
        let start = if link.up_us.is_empty() {
            at
        } else {
            let window = link.up_us.iter().find(|[_, end]| at < *end);
            window.map_or(f64::INFINITY, |[begin, _]| at.max(*begin))
        };
        start + link.alpha_us
    })
}

fn reason(network: &LinkNetwork, times: &[f64], (source, lost): (u32, u32)) -> String {
    let late =
        |link: &&NetworkLink| times[link.from as usize].is_finite() && times[link.to as usize].is_infinite();
    let links: Vec<String> = network
        .links()
        .iter()
        .filter(late)
        .map(|link| {
            let last = link.up_us.last().map_or(0.0, |window| window[1]);
            format!(
                "{}->{} (up until {last} us, needed from {} us)",
                link.from, link.to, times[link.from as usize]
            )
        })
        .collect();
    format!(
        "the data of node {source} cannot reach node {lost}, because the 'up_us' times of these links do \
         not fit together: {}; lengthen 'up_us' of one of them, or omit it",
        few(&links)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::task::CollectiveTasks;
    use crate::scenario::CollectiveScenario;
    use crate::scenario::presets;

    /// The preset of two chassis with links between them that are up for some microseconds only.
    fn between(up_us: Vec<[f64; 2]>) -> CollectiveScenario {
        let mut scenario = presets::scenario("ndv2x2-allgather-1gb").unwrap();
        for link in &mut scenario.topology.links {
            if (link.from < 8) != (link.to < 8) {
                link.up_us.clone_from(&up_us);
            }
        }
        scenario
    }

    #[test]
    fn data_that_arrives_at_a_link_after_its_times_is_named_with_the_link() {
        // A latency inside a chassis is above 0.1 us, so that only the GPUs at the links between can send in time.
        let scenario = between(vec![[0.0, 0.1]]);
        let tasks = CollectiveTasks::of(&scenario, None).unwrap();
        let why = out_of_reach(&tasks.tasks[0]).unwrap();
        assert!(
            why.contains("do not fit together") && why.contains("(up until 0.1 us, needed from"),
            "{why}"
        );
        for enough in [Vec::new(), vec![[0.0, 0.1], [1e6, 2e6]]] {
            let tasks = CollectiveTasks::of(&between(enough), None).unwrap();
            assert_eq!(out_of_reach(&tasks.tasks[0]), None);
        }
    }
}
