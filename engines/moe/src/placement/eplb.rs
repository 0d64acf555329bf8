//! The placement of EPLB (expert-parallel load balancer, DeepSeek; docs/methods/moe.md, section 11, step 1).
//!
//! It packs groups of experts on servers, replicates the busy experts of a server, and packs the replicas on its ranks.
//! Each packing step puts the heaviest item on the lightest server or rank that has room. If groups cannot be divided
//! evenly among the servers, all ranks count as one server. Ties go to the first item.

use super::PlacementShape;

/// Returns the expert of every slot, rank by rank, for the loads of the experts of a layer.
pub fn eplb(load: &[f64], shape: &PlacementShape) -> Vec<u32> {
    // Global: all ranks count as one server.
    if !shape.keeps_groups() {
        let all: Vec<u32> = (0..shape.experts as u32).collect();
        return within(load, &all, shape.slots, shape.ranks);
    }
    // Hierarchical: whole groups go to servers first.
    let size = shape.experts / shape.groups.max(1);
    let weights: Vec<f64> = load.chunks(size.max(1)).map(|group| group.iter().sum()).collect();
    of_groups(load, shape, &packed(&weights, shape.servers))
}

/// Returns the expert of every slot if the groups of every server are given.
pub fn of_groups(load: &[f64], shape: &PlacementShape, groups: &[Vec<usize>]) -> Vec<u32> {
    let size = shape.experts / shape.groups.max(1);
    let ranks = shape.ranks / shape.servers.max(1);
    let experts = |groups: &Vec<usize>| -> Vec<u32> {
        groups.iter().flat_map(|group| group * size..(group + 1) * size).map(|expert| expert as u32).collect()
    };
    groups.iter().flat_map(|groups| within(load, &experts(groups), shape.slots_per_server(), ranks)).collect()
}

/// Returns the groups of every server as EPLB packs them.
pub fn groups(load: &[f64], shape: &PlacementShape) -> Vec<Vec<usize>> {
    let size = shape.experts / shape.groups.max(1);
    let weights: Vec<f64> = load.chunks(size.max(1)).map(|group| group.iter().sum()).collect();
    packed(&weights, shape.servers)
}

/// Returns the experts of the slots of some ranks: each expert once, then replicas of the busiest ones while slots are
/// left.
fn within(load: &[f64], experts: &[u32], slots: usize, ranks: usize) -> Vec<u32> {
    // Load of an expert of the layer.
    let weight = |expert: u32| load.get(expert as usize).copied().unwrap_or(0.0);
    let mut copied: Vec<u32> = experts.to_vec();
    let mut counts = vec![1.0; experts.len()];
    // Replicate the expert with the largest load per replica.
    while copied.len() < slots {
        let mut busiest = 0;
        for (at, expert) in experts.iter().enumerate() {
            // Strictly greater, so ties go to the first expert, as in EPLB.
            if weight(*expert) / counts[at] > weight(experts[busiest]) / counts[busiest] {
                busiest = at;
            }
        }
        copied.push(experts[busiest]);
        counts[busiest] += 1.0;
    }
    // Every copy carries an equal part.
    let count = |expert: u32| experts.iter().position(|known| *known == expert).map_or(1.0, |at| counts[at]);
    let weights: Vec<f64> = copied.iter().map(|expert| weight(*expert) / count(*expert)).collect();
    // Packs equal numbers of replicas on the ranks, by weight.
    packed(&weights, ranks).into_iter().flatten().map(|at| copied[at]).collect()
}

/// Returns the items of every pack in insertion order: the heaviest item first, each to the lightest pack with room.
/// All packs hold the same number of items; if this number is 1, the items keep their order.
fn packed(weights: &[f64], packs: usize) -> Vec<Vec<usize>> {
    let packs = packs.max(1);
    let each = weights.len() / packs;
    // With one item per pack, items keep their order.
    if each == 1 {
        return (0..packs).map(|at| vec![at]).collect();
    }
    let mut order: Vec<usize> = (0..weights.len()).collect();
    // Heaviest first; the sort is stable, so equal items keep their order.
    order.sort_by(|a, b| weights[*b].total_cmp(&weights[*a]));
    let mut held = vec![Vec::with_capacity(each); packs];
    let mut sums = vec![0.0_f64; packs];
    for item in order {
        // A full pack accepts no more items, because all packs hold the same number.
        let open = (0..packs).filter(|pack| held[*pack].len() < each);
        // Ties go to the first pack.
        let lightest = open.min_by(|a, b| sums[*a].total_cmp(&sums[*b]));
        if let Some(pack) = lightest {
            held[pack].push(item);
            sums[pack] += weights[item];
        }
    }
    held
}
