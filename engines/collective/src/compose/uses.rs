//! Transmissions on links under a plan in compact form, without a list of its sends. The links of an orbit carry equal
//! amounts of data at equal times, because each element of the group maps a hop to another link of its orbit
//! (docs/methods/collective-trees.md, section 11).

use super::unfold::{Unfolding, part_of_one, unfoldings};
use crate::plan::CollectiveResult;
use crate::plan::compact::{CompactDiscipline, CompactTree};
use crate::scenario::CollectiveScenario;
use rustc_hash::{FxHashMap, FxHashSet};

/// Pieces that a link transmits one after the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkUse {
    /// Epoch at the beginning of which the link starts to transmit.
    pub transmits: u32,
    /// Epoch at the beginning of which the send starts: its last byte has reached the sending node. A cut-through
    /// switch may begin to transmit earlier.
    pub epoch: u32,
    /// Epoch at the beginning of which all of the data is usable at the other end.
    pub usable: u32,
    /// Number of pieces, which are transmitted in consecutive epochs.
    pub pieces: u32,
    /// Size of all pieces, bytes.
    pub bytes: f64,
    /// `true` if the data is reduced on its way.
    pub adds_up: bool,
}

/// Transmissions on each link under a plan in compact form, by parts of the collective.
#[derive(Clone, Debug)]
pub struct LinkUses {
    parts: Vec<PartUses>,
}

#[derive(Clone, Debug, Default)]
struct PartUses {
    /// Orbit of each link, keyed by the ends of the link.
    orbits: FxHashMap<(u32, u32), u32>,
    /// Uses of one link of each orbit, by epoch.
    uses: FxHashMap<u32, Vec<LinkUse>>,
}

impl LinkUses {
    /// Computes the transmissions on links under a plan in compact form.
    ///
    /// # Errors
    /// A sentence on why the plan cannot be followed.
    pub fn of(scenario: &CollectiveScenario, result: &CollectiveResult) -> Result<Self, String> {
        let parts = unfoldings(scenario, result)?;
        let parts = parts.iter().map(PartUses::of).collect::<Result<_, _>>()?;
        Ok(Self { parts })
    }

    /// Returns, for each part, the orbit of a link: equal for links that transmit at the same times.
    pub fn orbits_of(&self, ends: (u32, u32)) -> Vec<Option<u32>> {
        self.parts.iter().map(|part| part.orbits.get(&ends).copied()).collect()
    }

    /// Returns the transmissions on a link, part by part and by epoch.
    pub fn of_link(&self, ends: (u32, u32)) -> impl Iterator<Item = &LinkUse> {
        self.parts.iter().flat_map(move |part| {
            let uses = part.orbits.get(&ends).and_then(|orbit| part.uses.get(orbit));
            uses.into_iter().flatten()
        })
    }
}

impl PartUses {
    fn of(part: &Unfolding<'_>) -> Result<Self, String> {
        let mut network = part.network.clone();
        // Orbits of links under the generators of the plan.
        let symmetries = part.part.generators.iter().map(|nodes| part.network.symmetry(nodes));
        network.add_generators(symmetries.collect::<Result<Vec<_>, _>>()?);
        let orbit_of = network.link_orbits();
        let ends = |link: usize| {
            // Reduced data crosses the real link in the other direction.
            let ends = &network.links()[link];
            if part.adds { (ends.to, ends.from) } else { (ends.from, ends.to) }
        };
        let mut all = Self {
            orbits: orbit_of.iter().enumerate().map(|(link, orbit)| (ends(link), *orbit)).collect(),
            uses: FxHashMap::default(),
        };
        for tree in &part.part.trees {
            all.add(part, tree, &orbit_of)?;
        }
        for uses in all.uses.values_mut() {
            uses.sort_unstable_by(|a, b| a.epoch.cmp(&b.epoch).then(a.usable.cmp(&b.usable)));
        }
        Ok(all)
    }

    fn add(&mut self, part: &Unfolding<'_>, tree: &CompactTree, orbit_of: &[u32]) -> Result<(), String> {
        let hops = part.hops(tree, &|node| Ok(node))?;
        // Pieces of periodic schedules take the same path one epoch after the other, so one use represents all of
        // them.
        let (runs, pieces, bytes) = match part.part.discipline {
            CompactDiscipline::WholeChunk => (tree.starts.len(), 1, part.piece_bytes),
            CompactDiscipline::Fluid => {
                let pieces = part.part.pieces_per_tree;
                (1, pieces, part.part.shard_bytes * part_of_one(&tree.share)?)
            }
        };
        let mut seen: FxHashSet<(u32, u32)> = FxHashSet::default();
        for run in 0..runs {
            seen.clear();
            let mut ends: Vec<u32> = Vec::with_capacity(hops.len());
            for (hop, (links, before)) in hops.iter().enumerate() {
                let start = part.start(tree, (run, hop), before.map(|before| ends[before]))?;
                let (way, takes) = part.way(links);
                for (link, passage, back) in way {
                    // Hops that start together through one switch share the link into it.
                    if !seen.insert((link, start + passage.starts)) {
                        continue;
                    }
                    let (from, on_link) = if part.adds {
                        // Mirrored in time: the last piece of the reversed plan comes first.
                        let last = start + takes + pieces - 1;
                        let finish = part.part.finish_epochs as u32;
                        (
                            finish
                                .checked_sub(last)
                                .ok_or("a tree ends after the last representable epoch")?,
                            back,
                        )
                    } else {
                        (start, passage)
                    };
                    let at = part.begin + from;
                    self.uses.entry(orbit_of[link as usize]).or_default().push(LinkUse {
                        transmits: at + on_link.transmits,
                        epoch: at + on_link.starts,
                        usable: at + on_link.arrives + pieces - 1,
                        pieces,
                        bytes,
                        adds_up: part.adds,
                    });
                }
                ends.push(start + takes);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::unfolded;
    use crate::testing::preset;
    use lightbay_core::checked::downcast;
    use lightbay_core::testing::Ask;
    use std::collections::BTreeMap;

    #[test]
    fn links_carry_what_the_list_of_sends_puts_on_them() {
        for (name, schedule) in [
            ("torus3x3-allreduce-1mb", "matching"),
            ("dgx1-allgather-1mb", "list"),
            ("dgx1-allgather-1mb", "periodic"),
            ("ndv2x2-allgather-1mb", "list"),
        ] {
            let scenario = preset(name);
            let typed = [("schedule", schedule), ("most_sends", "0"), ("most_pieces", "4")];
            let ended = Ask::of(&crate::methods::all(), "trees", scenario.clone()).typed(&typed).run();
            let plan = downcast::<crate::Collective>(ended.done.plan.as_ref().unwrap()).unwrap();
            let short = &plan.plan().result;
            assert!(!short.trees.is_empty(), "{name}");
            let uses = LinkUses::of(&scenario, short).unwrap();
            let listed = unfolded(&scenario, short, u64::MAX).unwrap();
            let mut by_link: BTreeMap<(u32, u32), (f64, u32)> = BTreeMap::new();
            for send in &listed.sends {
                let load = by_link.entry((send.from, send.to)).or_default();
                load.0 += listed.pieces[send.piece as usize].size_bytes;
                load.1 += 1;
            }
            for link in &scenario.topology.links {
                let ends = (link.from, link.to);
                let (bytes, sends) = by_link.get(&ends).copied().unwrap_or_default();
                let carried: f64 = uses.of_link(ends).map(|one| one.bytes).sum();
                assert!(
                    (carried - bytes).abs() <= 1e-6 * bytes.max(1.0),
                    "{name} {ends:?}: {carried} {bytes}"
                );
                assert_eq!(uses.of_link(ends).map(|one| one.pieces).sum::<u32>(), sends, "{name} {ends:?}");
            }
        }
    }
}
