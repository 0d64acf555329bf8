//! Differences between two pods in addition to their figures: number of circuits by dimension and by switch.

use super::words;
use crate::Tpu;
use crate::analysis::explained::pod_of;
use crate::model::pod::SWITCHES;
use crate::model::topology::Topology;
use lightbay_core::plan::Plan;
use lightbay_core::report::differences::{CountPair, Differences};

/// Compares the circuits of two plans. Empty if the pods differ in size.
pub(crate) fn of(a: &Plan<Tpu>, b: &Plan<Tpu>) -> Differences {
    let pod = |plan: &Plan<Tpu>| pod_of(&plan.result.topology).ok().map(|pod| pod.0);
    let counts = pod(a).zip(pod(b)).and_then(|(a, b)| counts(&a, &b));
    counts
        .map_or_else(Differences::default, |counts| Differences::of_counts("circuits, by dimension", counts))
}

/// For each dimension, numbers of circuits in both pods: circuits from a cube to itself, circuits between cubes, and
/// circuits that end at a different cube in the other pod. `None` if the pods differ in size.
fn counts(a: &Topology, b: &Topology) -> Option<Vec<CountPair>> {
    let cubes = a.cubes();
    if cubes != b.cubes() {
        return None;
    }
    let mut counts = Vec::new();
    for dimension in 0..3 {
        let switches = dimension * SWITCHES / 3..(dimension + 1) * SWITCHES / 3;
        let inside = |pod: &Topology| {
            let within = |switch: usize| (0..cubes).filter(|cube| pod.to(switch, *cube) == *cube).count();
            switches.clone().map(within).sum::<usize>() as i64
        };
        let same: usize = switches
            .clone()
            .map(|switch| (0..cubes).filter(|cube| a.to(switch, *cube) == b.to(switch, *cube)).count())
            .sum();
        let all = (SWITCHES / 3 * cubes) as i64;
        let axis = words::axis(dimension);
        let pair = |what: &str, values| CountPair { name: format!("{axis} {what}"), values };
        counts.push(pair("in a cube", [inside(a), inside(b)]));
        counts.push(pair("to others", [all - inside(a), all - inside(b)]));
        counts.push(pair("differ", [all - same as i64, 0]));
    }
    Some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::group::Group;

    #[test]
    fn circuits_are_compared_by_dimension() {
        let pod = |x: u16, first: u16| {
            let mut voltage: [u16; SWITCHES] = std::array::from_fn(|switch| [x, 1, 2][switch / 16]);
            voltage[16] = first;
            Topology::symmetric(Group::most_square(4), voltage)
        };
        let found = counts(&pod(0, 1), &pod(3, 2)).unwrap();
        let told: Vec<(&str, [i64; 2])> =
            found[..3].iter().map(|pair| (pair.name.as_str(), pair.values)).collect();
        assert_eq!(told, [("X in a cube", [64, 0]), ("X to others", [0, 64]), ("X differ", [64, 0])]);
        let differ = (found[5].values[0], found[8].values[0]);
        assert_eq!(differ, (4, 0), "one switch of Y is set another way, none of Z");
        let small = Topology::symmetric(Group::most_square(2), [0; SWITCHES]);
        assert!(counts(&pod(0, 0), &small).is_none());
    }
}
