//! Differences of two pods beyond their figures: number of circuits of each dimension, and of which switches.

use crate::app::plans::PlanEntry;
use crate::view::present::{CompareBlocks, CompareRow};
use lightbay_engines::AnyPlan;
use lightbay_engines::tpu::analysis::explained::pod_of;
use lightbay_engines::tpu::model::pod::SWITCHES;
use lightbay_engines::tpu::model::topology::Topology;
use lightbay_engines::tpu::report::words;

/// Circuits of two plans. Empty where the pods differ in size or are not in memory.
pub fn blocks(a: &PlanEntry, b: &PlanEntry) -> CompareBlocks {
    let pod = |entry: &PlanEntry| match &entry.plan.as_ref()?.0 {
        AnyPlan::Tpu(plan) => pod_of(&plan.plan().result.topology).ok().map(|pod| pod.0),
        _ => None,
    };
    let (Some(a), Some(b)) = (pod(a), pod(b)) else { return CompareBlocks::default() };
    CompareBlocks { row: row(&a, &b).map(|row| ("circuits, by dimension", row)), bars: None }
}

/// Circuits inside a cube, between cubes, and those that are patched to another cube than in the other plan.
pub fn row(a: &Topology, b: &Topology) -> Option<CompareRow> {
    let cubes = a.cubes();
    if cubes != b.cubes() {
        return None;
    }
    let mut row = CompareRow::default();
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
        for (name, first, second) in [
            (format!("{axis} in a cube"), inside(a), inside(b)),
            (format!("{axis} to others"), all - inside(a), all - inside(b)),
            (format!("{axis} differ"), all - same as i64, 0),
        ] {
            row.names.push(name);
            row.a.push(first);
            row.b.push(second);
        }
    }
    Some(row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightbay_engines::tpu::model::group::Group;

    #[test]
    fn circuits_are_compared_by_dimension() {
        let pod = |x: u16, first: u16| {
            let mut voltage: [u16; SWITCHES] = std::array::from_fn(|switch| [x, 1, 2][switch / 16]);
            voltage[16] = first;
            Topology::symmetric(Group::most_square(4), voltage)
        };
        let row = row(&pod(0, 1), &pod(3, 2)).unwrap();
        assert_eq!(row.names[..3], ["X in a cube", "X to others", "X differ"]);
        assert_eq!((row.a[..3].to_vec(), row.b[..3].to_vec()), (vec![64, 0, 64], vec![0, 64, 0]));
        assert_eq!((row.a[5], row.a[8]), (4, 0), "one switch of Y is set another way, none of Z");
        let small = Topology::symmetric(Group::most_square(2), [0; SWITCHES]);
        assert!(super::row(&pod(0, 0), &small).is_none());
    }
}
