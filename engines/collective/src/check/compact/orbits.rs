//! Orbits of links and GPUs under the symmetries of a plan in compact form.

use crate::scenario::{NodeSort, Topology};
use rustc_hash::{FxHashMap, FxHashSet};

/// Orbits of links and GPUs under a group in which every element except the identity moves every link and every GPU.
pub(super) struct LinkOrbits {
    /// Id of the link between two nodes.
    pub(super) by_ends: FxHashMap<(u32, u32), u32>,
    /// Orbit of each link.
    pub(super) links: Vec<u32>,
    /// Orbit of each GPU; switches have none.
    pub(super) gpus: Vec<u32>,
}

impl LinkOrbits {
    pub(super) fn of(topology: &Topology, generators: &[Vec<u32>]) -> Result<Self, String> {
        let count = topology.nodes.len();
        let by_ends: FxHashMap<(u32, u32), u32> =
            topology.links.iter().enumerate().map(|(id, link)| ((link.from, link.to), id as u32)).collect();
        let image = |images: &[u32], link: usize| {
            let link = &topology.links[link];
            by_ends.get(&(images[link.from as usize], images[link.to as usize])).copied()
        };
        for (place, images) in generators.iter().enumerate() {
            let distinct: FxHashSet<u32> =
                images.iter().copied().filter(|image| (*image as usize) < count).collect();
            if images.len() != count || distinct.len() != count {
                return Err(format!("generators[{place}] is not a permutation of the nodes"));
            }
            if (0..count).all(|node| images[node] as usize == node) {
                return Err(format!("generators[{place}] leaves every node in place"));
            }
            if (0..count).any(|node| topology.nodes[node].kind != topology.nodes[images[node] as usize].kind)
            {
                return Err(format!("generators[{place}] maps a node to a node of another kind"));
            }
            for (id, link) in topology.links.iter().enumerate() {
                let alike = image(images, id).map(|other| &topology.links[other as usize]).filter(|other| {
                    let rate = |capacity: f64, scale: f64| capacity / scale;
                    rate(other.capacity_gbyte_per_s, other.beta_scale)
                        == rate(link.capacity_gbyte_per_s, link.beta_scale)
                        && other.alpha_us * other.alpha_scale == link.alpha_us * link.alpha_scale
                });
                if alike.is_none() {
                    return Err(format!(
                        "generators[{place}] maps link {}->{} to a pair of nodes without an equal link",
                        link.from, link.to
                    ));
                }
            }
        }
        let elements = group(topology, generators)?;
        let mut links = vec![u32::MAX; topology.links.len()];
        for link in 0..topology.links.len() {
            if links[link] != u32::MAX {
                continue;
            }
            for (element, images) in elements.iter().enumerate() {
                match image(images, link).map(|other| &mut links[other as usize]) {
                    Some(orbit) if *orbit == u32::MAX => *orbit = link as u32,
                    _ => {
                        return Err(format!(
                            "element {element} of the group and an earlier one map a link to the same link, so an element other than the identity maps it to itself"
                        ));
                    }
                }
            }
        }
        let mut gpus = vec![u32::MAX; count];
        for node in (0..count).filter(|node| topology.nodes[*node].kind == NodeSort::Gpu) {
            if gpus[node] == u32::MAX {
                for images in &elements {
                    let orbit = &mut gpus[images[node] as usize];
                    if *orbit != u32::MAX {
                        return Err(
                            "an element of the group other than the identity maps a GPU to itself".to_owned()
                        );
                    }
                    *orbit = node as u32;
                }
            }
        }
        Ok(Self { by_ends, links, gpus })
    }
}

/// Returns all products of the generators. Each product is identified by the image of the first GPU.
fn group(topology: &Topology, generators: &[Vec<u32>]) -> Result<Vec<Vec<u32>>, String> {
    let mut elements: Vec<Vec<u32>> = vec![(0..topology.nodes.len() as u32).collect()];
    let Some(first) = topology.nodes.iter().position(|node| node.kind == NodeSort::Gpu) else {
        return Ok(elements);
    };
    let mut known: FxHashMap<u32, usize> = FxHashMap::default();
    known.insert(first as u32, 0);
    let mut at = 0;
    while at < elements.len() {
        for generator in generators {
            let product: Vec<u32> = elements[at].iter().map(|node| generator[*node as usize]).collect();
            if let Some(&same) = known.get(&product[first]) {
                if elements[same] != product {
                    return Err(
                        "an element of the group other than the identity maps a GPU to itself".to_owned()
                    );
                }
            } else {
                known.insert(product[first], elements.len());
                elements.push(product);
            }
        }
        at += 1;
    }
    Ok(elements)
}
