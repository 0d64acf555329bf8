//! Changes, and the removals that they wait for.

use super::{entries, is_change};
use crate::plan::{Action, EntryRef};
use crate::rollout::ports::Wired;
use crate::scenario::{CrossconnectScenario, Side};
use petgraph::unionfind::UnionFind;
use rustc_hash::FxHashMap;

/// A removal or an addition.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub at: EntryRef,
    pub removal: bool,
    /// Pods at the ends of the circuit, the smaller first.
    pub pods: (u32, u32),
    /// `true` if the circuit ends at a failed port, so that its removal loses no capacity.
    pub forced: bool,
    /// Removals that free the ports of an addition, at most two; none for a removal.
    pub waits_for: Vec<u32>,
}

/// Removals that are made together as one move: all removals that one addition waits for, or a single removal that no
/// addition waits for.
pub(super) type MaintenanceMove = Vec<u32>;

/// Changes that are connected by shared ports.
#[derive(Clone, Debug, Default)]
pub(super) struct Component {
    /// Removals of the component.
    pub removals: Vec<u32>,
    /// Additions of the component.
    pub additions: Vec<u32>,
    /// Moves of the component; moves with fewer removals come first.
    pub moves: Vec<MaintenanceMove>,
}

/// All changes and their components.
#[derive(Clone, Debug)]
pub(super) struct ChangeComponents {
    pub changes: Vec<Change>,
    /// Components, those with most removals first.
    pub components: Vec<Component>,
}

impl ChangeComponents {
    pub(super) fn of(scenario: &CrossconnectScenario, wired: &Wired) -> Self {
        let mut changes = Vec::new();
        // For each port in use, the removal that frees it.
        let mut busy: FxHashMap<(u32, Side, u32, u32), u32> = FxHashMap::default();
        let ends = |at: EntryRef, entry: &crate::plan::Entry| {
            scenario.ends(entry.circuit()).map(|(side, pod, index)| (at.ocs_id, side, pod, index))
        };
        // Removals first: an addition waits for the removals that hold its ports.
        for wanted in [Action::Remove, Action::Add] {
            for (at, entry) in entries(wired).filter(|(_, entry)| is_change(entry) && entry.action == wanted)
            {
                let number = changes.len() as u32;
                let removal = wanted == Action::Remove;
                let mut waits_for = Vec::new();
                if removal {
                    busy.extend(ends(at, entry).map(|end| (end, number)));
                } else {
                    // At most two removals, one for each end of the addition.
                    waits_for.extend(ends(at, entry).iter().filter_map(|end| busy.get(end)));
                    waits_for.sort_unstable();
                    waits_for.dedup();
                }
                let forced = wired.forced.contains(&at);
                changes.push(Change { at, removal, pods: super::pair(entry), forced, waits_for });
            }
        }
        let components = components(&changes);
        Self { changes, components }
    }
}

fn components(changes: &[Change]) -> Vec<Component> {
    let mut joined = UnionFind::<u32>::new(changes.len());
    let mut awaited = vec![false; changes.len()];
    // Additions join the removals that they wait for.
    for (number, change) in (0u32..).zip(changes) {
        for &removal in &change.waits_for {
            awaited[removal as usize] = true;
            joined.union(number, removal);
        }
    }
    let label = joined.into_labeling();
    let mut of_label: FxHashMap<u32, usize> = FxHashMap::default();
    let mut found: Vec<Component> = Vec::new();
    for (number, change) in (0u32..).zip(changes) {
        // Components in order of their first change.
        let at = *of_label.entry(label[number as usize]).or_insert_with(|| {
            found.push(Component::default());
            found.len() - 1
        });
        let component = &mut found[at];
        if change.removal {
            component.removals.push(number);
            // A removal that no addition waits for is a separate move.
            if !awaited[number as usize] {
                component.moves.push(vec![number]);
            }
        } else {
            component.additions.push(number);
            component.moves.push(change.waits_for.clone());
        }
    }
    for component in &mut found {
        // Moves with fewer removals complete additions sooner.
        component.moves.sort_by_key(Vec::len);
    }
    // Largest first: they are the hardest to fit (first fit decreasing).
    found.sort_by_key(|component| std::cmp::Reverse(component.removals.len()));
    found
}
