//! Positions of the nodes of a network on a screen: grids by their coordinates, boxes as circles next to each other,
//! any other network as one circle. Of many equal boxes, one is drawn.

use crate::scenario::{NodeRecord, NodeSort, Topology};
use std::collections::BTreeSet;
use std::f64::consts::TAU;

/// Maximum number of nodes for which a network is readable as a picture.
const MOST_DRAWN: usize = 40;

/// Maximum number of nodes of a grid: its links are short and do not cross.
const MOST_IN_GRID: usize = 64;

/// Fraction of its field that a box fills, so that boxes are separate.
const FILL: f64 = 0.86;

/// Fraction of the width of its field that a box next to others fills, so that there is room for the names.
const FILL_ACROSS: f64 = 0.78;

/// Fraction of the height below the boxes, for nodes without a box.
const FREE: f64 = 0.12;

/// Returns the positions of the nodes as fractions of width and height, and whether they form a grid; no positions if
/// there are too many nodes.
pub(super) fn places(topology: &Topology) -> (Vec<[f64; 2]>, bool) {
    match topology.nodes.len() {
        count if count > MOST_IN_GRID => (Vec::new(), false),
        count => match grid(topology) {
            Some(places) => (places, true),
            None if count > MOST_DRAWN => (Vec::new(), false),
            None => (boxes(&topology.nodes), false),
        },
    }
}

/// One of several equal boxes, and the nodes outside of boxes.
pub(super) struct FoldedBoxes {
    /// Indices of the nodes that are drawn: the first box, then the nodes without a box.
    pub(super) nodes: Vec<u32>,
    /// Number of equal boxes.
    pub(super) boxes: usize,
    /// Number of drawn nodes in the box.
    pub(super) in_box: usize,
    /// Positions of the drawn nodes: switches of the box at the top, its GPUs in the middle, the other nodes at the bottom;
    /// a circle if GPUs have links to each other.
    pub(super) places: Vec<[f64; 2]>,
}

/// A link of a box: for each end, whether it is in the box, and its position there or its number outside of boxes; then
/// rate and latency as bits.
type BoxLink = ([(bool, usize); 2], [u64; 2]);

/// Returns the first box and the nodes without a box, if all boxes are equal: the nodes at the same position in their
/// boxes have links of equal rates and latencies to each other and to the same nodes without a box. `None` for other
/// networks, and if even one box has too many nodes.
pub(super) fn folded(topology: &Topology) -> Option<FoldedBoxes> {
    let groups = topology.nodes.iter().filter_map(|node| node.group).max()? as usize + 1;
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); groups];
    let mut free: Vec<u32> = Vec::new();
    // Position of a node in its box.
    let mut at = Vec::with_capacity(topology.nodes.len());
    for (number, node) in (0_u32..).zip(&topology.nodes) {
        let list = node.group.map_or(&mut free, |group| &mut members[group as usize]);
        at.push(list.len());
        list.push(number);
    }
    let first = members.first()?;
    if groups < 2 || first.len() + free.len() > MOST_DRAWN || members.iter().any(|of| of.len() != first.len())
    {
        return None;
    }
    let sort = |node: u32| topology.nodes[node as usize].kind;
    let is_alike = |of: &Vec<u32>| of.iter().zip(first).all(|(a, b)| sort(*a) == sort(*b));
    let mut links: Vec<BTreeSet<BoxLink>> = vec![BTreeSet::new(); groups];
    for link in &topology.links {
        let group = |node: u32| topology.nodes[node as usize].group;
        let of = match (group(link.from), group(link.to)) {
            (Some(a), Some(b)) if a != b => return None,
            (None, None) => continue,
            (a, b) => a.or(b)? as usize,
        };
        let end = |node: u32| (group(node).is_some(), at[node as usize]);
        let rate = link.capacity_gbyte_per_s / link.beta_scale;
        let figures = [rate.to_bits(), (link.alpha_us * link.alpha_scale).to_bits()];
        links[of].insert(([end(link.from), end(link.to)], figures));
    }
    if !members.iter().all(is_alike) || links.iter().any(|of| *of != links[0]) {
        return None;
    }
    let is_gpu = |node: &u32| sort(*node) == NodeSort::Gpu;
    let (gpus, switches): (Vec<u32>, Vec<u32>) = first.iter().partition(|node| is_gpu(node));
    // Links between GPUs would lie on each other if the GPUs were in a row.
    if links[0].iter().any(|([a, b], _)| [a, b].iter().all(|end| end.0 && is_gpu(&first[end.1]))) {
        let nodes: Vec<u32> = first.iter().chain(&free).copied().collect();
        let sub = |node: &u32| topology.nodes[*node as usize].clone();
        let places = boxes(&nodes.iter().map(sub).collect::<Vec<_>>());
        return Some(FoldedBoxes { nodes, boxes: groups, in_box: first.len(), places });
    }
    let row = |nodes: &[u32], y: f64| -> Vec<[f64; 2]> {
        (0..nodes.len()).map(|at| [(at as f64 + 0.5) / nodes.len() as f64, y]).collect()
    };
    let levels = [(&gpus, 0.5), (&switches, 0.0), (&free, 1.0)];
    let places = levels.iter().flat_map(|(nodes, y)| row(nodes, *y)).collect();
    let nodes: Vec<u32> = levels.iter().flat_map(|(nodes, _)| nodes.iter().copied()).collect();
    Some(FoldedBoxes { nodes, boxes: groups, in_box: first.len(), places })
}

/// Returns the coordinates in the name of a node, such as `g0.1`.
fn coordinates(name: &str) -> Option<Vec<u32>> {
    name.strip_prefix('g')?.split('.').map(|part| part.parse().ok()).collect()
}

/// Returns `true` if a link of a grid joins nodes that are not next to each other in a row or a column of the drawing.
pub(super) fn has_far_links(topology: &Topology) -> bool {
    let at = |node: u32| coordinates(&topology.nodes.get(node as usize)?.name);
    topology.links.iter().filter_map(|link| Some((at(link.from)?, at(link.to)?))).any(|(a, b)| {
        let apart: u32 = a.iter().zip(&b).map(|(a, b)| a.abs_diff(*b)).sum();
        apart > 1 || a.get(2) != b.get(2)
    })
}

/// Returns the positions of nodes that are named by two or three coordinates, as in the grids of this program; planes
/// are next to each other, in one or several rows. `None` for other names.
fn grid(topology: &Topology) -> Option<Vec<[f64; 2]>> {
    let all: Vec<Vec<u32>> =
        topology.nodes.iter().map(|node| coordinates(&node.name)).collect::<Option<_>>()?;
    let axes = all.first().map_or(0, Vec::len);
    if !(2..=3).contains(&axes) || all.iter().any(|at| at.len() != axes) {
        return None;
    }
    let size = |axis: usize| all.iter().map(|at| at[axis] + 1).max().unwrap_or(1);
    let sizes: Vec<u32> = (0..axes).map(size).collect();
    let planes = sizes.get(2).copied().unwrap_or(1);
    let across = f64::from(planes).sqrt().ceil() as u32;
    let down = planes.div_ceil(across);
    let middle = |at: u32, of: u32, planes: u32| {
        let fill = if planes > 1 { FILL } else { 1.0 };
        0.5 + ((f64::from(at) + 0.5) / f64::from(of) - 0.5) * fill
    };
    let place = |at: &Vec<u32>| {
        let plane = at.get(2).copied().unwrap_or(0);
        let (column, row) = (f64::from(plane % across), f64::from(plane / across));
        let (x, y) = (middle(at[0], sizes[0], across), middle(at[1], sizes[1], down));
        [(column + x) / f64::from(across), (row + y) / f64::from(down)]
    };
    Some(all.iter().map(place).collect())
}

/// Returns the positions of nodes in boxes: the GPUs of each box form a circle around its switches in a field of the
/// picture. The fields are next to each other, and nodes without a box are in a row below the fields.
fn boxes(nodes: &[NodeRecord]) -> Vec<[f64; 2]> {
    let groups = nodes.iter().filter_map(|node| node.group).max().map_or(0, |last| last + 1);
    let count = groups.max(1);
    // The drawing area is about twice as wide as high, so there are twice as many fields in a row as in a column.
    let across = (f64::from(count) * 2.0).sqrt().ceil().min(f64::from(count));
    let down = (f64::from(count) / across).ceil();
    let has_boxes = groups > 0;
    let has_free = has_boxes && nodes.iter().any(|node| node.group.is_none());
    let height = if has_free { 1.0 - FREE } else { 1.0 };
    let in_box = |group: Option<u32>| -> Vec<usize> {
        let is_here = |(_, node): &(usize, &NodeRecord)| !has_boxes || node.group == group;
        nodes.iter().enumerate().filter(is_here).map(|(at, _)| at).collect()
    };
    let wide = if across > 1.0 { FILL_ACROSS } else { FILL };
    let mut places = vec![[0.5, 0.5]; nodes.len()];
    for group in 0..count {
        let (column, row) = (f64::from(group) % across, (f64::from(group) / across).floor());
        let (gpus, switches): (Vec<usize>, Vec<usize>) =
            in_box(Some(group)).into_iter().partition(|node| nodes[*node].kind == NodeSort::Gpu);
        for (of, size) in [(gpus, 1.0), (switches, 1.0 / 3.0)] {
            let half = if of.len() > 1 { size / 2.0 } else { 0.0 };
            for (at, node) in of.iter().enumerate() {
                // Nodes are placed clockwise, from the top.
                let angle = TAU * at as f64 / of.len() as f64;
                let (x, y) = (0.5 + half * wide * angle.sin(), 0.5 - half * FILL * angle.cos());
                places[*node] = [(column + x) / across, (row + y) / down * height];
            }
        }
    }
    if has_boxes {
        let free = in_box(None);
        for (at, node) in free.iter().enumerate() {
            places[*node] = [(at as f64 + 0.5) / free.len() as f64, 1.0];
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
        let (two, _) = places(&preset("ndv2x2-allgather-1gb").topology);
        assert_eq!(two.len(), 16);
        // The first box is left of the second one, its first node on top.
        assert!(two[..8].iter().all(|at| at[0] < 0.5) && two[8..].iter().all(|at| at[0] > 0.5));
        assert!((two[0][0] - 0.25).abs() < 1e-9 && two[..8].iter().all(|at| at[1] >= two[0][1]));
        for (at, place) in two.iter().enumerate() {
            assert!(!two[..at].contains(place), "two nodes in one place: {at}");
        }
    }

    #[test]
    fn of_equal_boxes_one_is_drawn() {
        let many = preset("h800x64-allgather-1gb").topology;
        assert!(places(&many).0.is_empty());
        let folded = folded(&many).unwrap();
        // 8 GPUs and a switch of 64 boxes, and 8 rails.
        assert_eq!((folded.boxes, folded.in_box, folded.nodes.len(), folded.places.len()), (64, 9, 17, 17));
        let mut unequal = many.clone();
        unequal.links[0].capacity_gbyte_per_s *= 0.5;
        assert!(super::folded(&unequal).is_none());
        assert!(super::folded(&preset("dgx1-allgather-1mb").topology).is_none());
    }

    #[test]
    fn grids_stand_by_their_coordinates() {
        let mut topology = preset("ndv2x2-allgather-1gb").topology;
        topology.nodes.truncate(6);
        for (at, node) in topology.nodes.iter_mut().enumerate() {
            (node.name, node.group) = (format!("g{}.{}", at / 2, at % 2), None);
        }
        // Three columns of two rows.
        let (at, is_grid) = places(&topology);
        assert!(is_grid && at[0][0] == at[1][0] && at[0][0] < at[2][0] && at[2][0] < at[4][0]);
        assert!(at[0][1] < 0.5 && at[1][1] > 0.5 && at[0][1] == at[2][1]);
        // Four planes in two rows.
        topology = preset("torus4x4x4-allgather-6.4mb").topology;
        let (at, _) = places(&topology);
        let first = |name: &str| {
            topology.nodes.iter().position(|node| node.name == name).map(|node| at[node]).unwrap()
        };
        let [a, b, c, d] = ["g0.0.0", "g0.0.1", "g0.0.2", "g0.0.3"].map(first);
        assert!(a[1] == b[1] && c[1] == d[1] && a[1] < c[1]);
        assert!(a[0] == c[0] && b[0] == d[0] && a[0] < b[0]);
    }
}
