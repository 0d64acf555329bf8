//! Positions of the nodes of a network on a screen: grids by their coordinates, boxes as circles next to each other,
//! any other network as one circle.

use crate::scenario::{NodeRecord, Topology};
use std::f64::consts::TAU;

/// Maximum number of nodes for which a network is readable as a picture.
const MOST_DRAWN: usize = 40;

/// Fraction of its field that a box fills, so that boxes are separate.
const FILL: f64 = 0.86;

/// Returns the positions of the nodes as fractions of width and height; empty if there are too many nodes.
pub(super) fn places(topology: &Topology) -> Vec<[f64; 2]> {
    if topology.nodes.len() > MOST_DRAWN {
        return Vec::new();
    }
    grid(topology).unwrap_or_else(|| boxes(topology))
}

/// Returns the positions of nodes that are named by two or three coordinates, as in the grids of this program; planes
/// are next to each other. `None` for other names.
fn grid(topology: &Topology) -> Option<Vec<[f64; 2]>> {
    let coordinates = |name: &str| -> Option<Vec<u32>> {
        name.strip_prefix('g')?.split('.').map(|part| part.parse().ok()).collect()
    };
    let all: Vec<Vec<u32>> =
        topology.nodes.iter().map(|node| coordinates(&node.name)).collect::<Option<_>>()?;
    let axes = all.first().map_or(0, Vec::len);
    if !(2..=3).contains(&axes) || all.iter().any(|at| at.len() != axes) {
        return None;
    }
    let size = |axis: usize| all.iter().map(|at| at[axis] + 1).max().unwrap_or(1);
    let sizes: Vec<u32> = (0..axes).map(size).collect();
    let planes = sizes.get(2).copied().unwrap_or(1);
    let middle = |at: u32, of: u32| (f64::from(at) + 0.5) / f64::from(of);
    let place = |at: &Vec<u32>| {
        let plane = f64::from(at.get(2).copied().unwrap_or(0));
        let across = 0.5 + (middle(at[0], sizes[0]) - 0.5) * FILL;
        [(plane + across) / f64::from(planes), middle(at[1], sizes[1])]
    };
    Some(all.iter().map(place).collect())
}

/// Returns the positions of nodes in boxes: the nodes of each box form a circle in a field of the picture. The fields
/// are next to each other, and nodes without a box are on the horizontal centre line of the picture.
fn boxes(topology: &Topology) -> Vec<[f64; 2]> {
    let groups = topology.nodes.iter().filter_map(|node| node.group).max().map_or(0, |last| last + 1);
    let count = groups.max(1);
    // The drawing area is about twice as wide as high, so there are twice as many fields in a row as in a column.
    let across = (f64::from(count) * 2.0).sqrt().ceil().min(f64::from(count));
    let down = (f64::from(count) / across).ceil();
    let has_boxes = groups > 1;
    let in_box = |group: Option<u32>| -> Vec<usize> {
        let is_here = |(_, node): &(usize, &NodeRecord)| !has_boxes || node.group == group;
        topology.nodes.iter().enumerate().filter(is_here).map(|(at, _)| at).collect()
    };
    let mut places = vec![[0.5, 0.5]; topology.nodes.len()];
    for group in 0..count {
        let nodes = in_box(Some(group));
        let (column, row) = (f64::from(group) % across, (f64::from(group) / across).floor());
        let half = if nodes.len() > 1 { FILL / 2.0 } else { 0.0 };
        for (at, node) in nodes.iter().enumerate() {
            // Nodes are placed clockwise, from the top.
            let angle = TAU * at as f64 / nodes.len() as f64;
            let (x, y) = (0.5 + half * angle.sin(), 0.5 - half * angle.cos());
            places[*node] = [(column + x) / across, (row + y) / down];
        }
    }
    if has_boxes {
        let free = in_box(None);
        for (at, node) in free.iter().enumerate() {
            places[*node] = [(at as f64 + 0.5) / free.len() as f64, 0.5];
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::preset;

    #[test]
    fn boxes_stand_side_by_side_each_on_a_circle() {
        let two = places(&preset("ndv2x2-allgather-1gb").topology);
        assert_eq!(two.len(), 16);
        // The first box is left of the second one, its first node on top.
        assert!(two[..8].iter().all(|at| at[0] < 0.5) && two[8..].iter().all(|at| at[0] > 0.5));
        assert!((two[0][0] - 0.25).abs() < 1e-9 && two[..8].iter().all(|at| at[1] >= two[0][1]));
        for (at, place) in two.iter().enumerate() {
            assert!(!two[..at].contains(place), "two nodes in one place: {at}");
        }
    }

    #[test]
    fn grids_stand_by_their_coordinates() {
        let mut topology = preset("ndv2x2-allgather-1gb").topology;
        topology.nodes.truncate(6);
        for (at, node) in topology.nodes.iter_mut().enumerate() {
            (node.name, node.group) = (format!("g{}.{}", at / 2, at % 2), None);
        }
        // Three columns of two rows.
        let at = places(&topology);
        assert!(at[0][0] == at[1][0] && at[0][0] < at[2][0] && at[2][0] < at[4][0]);
        assert_eq!((at[0][1], at[1][1]), (0.25, 0.75));
    }
}
