//! Maps keys to actions with a trie for the panes and a trie for each layer, made from the action table. A key that
//! begins a sequence waits for the next key.

use crate::app::key::{Key, sequence};
use crate::app::layer::LayerKind;
use crate::app::table::{self, ActionInfo, TablePlace};
use std::collections::BTreeMap;

/// Index into [`table::all`].
pub type ActionIndex = usize;

/// Result of looking up the keys pressed so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found<'a> {
    /// The keys are complete and name this action.
    Action(ActionIndex),
    /// More keys are needed; the map contains the possible next keys.
    Pending(&'a BTreeMap<Key, Node>),
    /// The keys name no action.
    Nothing,
}

/// A node of the trie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// The end of a sequence.
    Leaf(ActionIndex),
    /// Keys that may follow, each with its node.
    Inner(BTreeMap<Key, Node>),
}

/// Two actions with the same keys in the same place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{keys}' is bound to '{first}' and '{second}'; change the keys of one of these actions")]
pub struct Conflict {
    /// The keys that are bound twice.
    pub keys: String,
    /// The action to which the keys are bound.
    pub first: &'static str,
    /// The other action with the same keys.
    pub second: &'static str,
}

/// All key bindings.
#[derive(Clone, Debug)]
pub struct Keymap {
    base: BTreeMap<Key, Node>,
    layers: BTreeMap<LayerKind, BTreeMap<Key, Node>>,
}

impl Keymap {
    /// Builds the bindings of a table of actions.
    ///
    /// # Errors
    /// Every conflict. A text that does not name a key is reported as a conflict of the action with itself.
    pub fn new(actions: &[ActionInfo]) -> Result<Self, Vec<Conflict>> {
        let mut map = Self { base: BTreeMap::new(), layers: BTreeMap::new() };
        let mut conflicts = Vec::new();
        for (index, info) in actions.iter().enumerate() {
            for text in info.keys {
                let Ok(keys) = sequence(text) else {
                    conflicts.push(Conflict {
                        keys: (*text).to_owned(),
                        first: info.name,
                        second: info.name,
                    });
                    continue;
                };
                let tries: Vec<&mut BTreeMap<Key, Node>> = if let TablePlace::Layers(kinds) = info.place {
                    for kind in kinds {
                        map.layers.entry(*kind).or_default();
                    }
                    map.layers
                        .iter_mut()
                        .filter(|(kind, _)| kinds.contains(kind))
                        .map(|(_, trie)| trie)
                        .collect()
                } else {
                    vec![&mut map.base]
                };
                for trie in tries {
                    if let Err(other) = insert(trie, &keys, index) {
                        conflicts.push(Conflict {
                            keys: (*text).to_owned(),
                            first: actions[other].name,
                            second: info.name,
                        });
                    }
                }
            }
        }
        if conflicts.is_empty() { Ok(map) } else { Err(conflicts) }
    }

    /// Looks up keys in the bindings that apply while no layer is open.
    pub fn base(&self, keys: &[Key]) -> Found<'_> {
        find(&self.base, keys)
    }

    /// Looks up keys in the bindings of a layer.
    pub fn layer(&self, kind: LayerKind, keys: &[Key]) -> Found<'_> {
        self.layers.get(&kind).map_or(Found::Nothing, |trie| find(trie, keys))
    }
}

impl Default for Keymap {
    fn default() -> Self {
        // A test proves that the table has no conflicts.
        Self::new(table::all()).unwrap_or(Self { base: BTreeMap::new(), layers: BTreeMap::new() })
    }
}

fn insert(trie: &mut BTreeMap<Key, Node>, keys: &[Key], action: ActionIndex) -> Result<(), ActionIndex> {
    let Some((first, rest)) = keys.split_first() else { return Ok(()) };
    if rest.is_empty() {
        return match trie.get(first) {
            None => {
                trie.insert(*first, Node::Leaf(action));
                Ok(())
            }
            Some(node) => Err(any_leaf(node)),
        };
    }
    match trie.entry(*first).or_insert_with(|| Node::Inner(BTreeMap::new())) {
        Node::Leaf(other) => Err(*other),
        Node::Inner(inner) => insert(inner, rest, action),
    }
}

fn any_leaf(node: &Node) -> ActionIndex {
    match node {
        Node::Leaf(action) => *action,
        Node::Inner(inner) => inner.values().next().map_or(0, any_leaf),
    }
}

fn find<'a>(trie: &'a BTreeMap<Key, Node>, keys: &[Key]) -> Found<'a> {
    let mut here = trie;
    for (index, key) in keys.iter().enumerate() {
        match here.get(&key.normal()) {
            Some(Node::Leaf(action)) if index + 1 == keys.len() => return Found::Action(*action),
            Some(Node::Inner(inner)) => here = inner,
            _ => return Found::Nothing,
        }
    }
    Found::Pending(here)
}
