//! Maps keys to actions with a trie for the panes and a trie for each layer, made from the action table. A key that
//! begins a sequence waits for the next key.

use crate::app::key::{Key, sequence};
use crate::app::layer::LayerKind;
use crate::app::table::{self, ActionInfo};
use std::borrow::Cow;
use std::collections::BTreeMap;

mod remap;

pub use remap::Remap;

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

type Trie = BTreeMap<Key, Node>;

/// All key bindings: the defaults of the action table with the changes of the configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keymap {
    base: Trie,
    layers: BTreeMap<LayerKind, Trie>,
    /// Keys of each action, in the order of the table.
    keys: Vec<Vec<String>>,
}

impl Keymap {
    fn empty(actions: usize) -> Self {
        Self { base: Trie::new(), layers: BTreeMap::new(), keys: vec![Vec::new(); actions] }
    }

    /// Builds the bindings of a table of actions.
    ///
    /// # Errors
    /// Every conflict. A text that does not name a key is reported as a conflict of the action with itself.
    pub fn new(actions: &[ActionInfo]) -> Result<Self, Vec<Conflict>> {
        let mut map = Self::empty(actions.len());
        let mut conflicts = Vec::new();
        for (index, info) in actions.iter().enumerate() {
            for text in info.keys {
                let bound = sequence(text).map_or(Err(index), |keys| map.bind(index, info, &keys));
                if let Err(other) = bound {
                    conflicts.push(Conflict {
                        keys: (*text).to_owned(),
                        first: actions[other].name,
                        second: info.name,
                    });
                }
            }
        }
        if conflicts.is_empty() { Ok(map) } else { Err(conflicts) }
    }

    /// Binds keys to an action in all its places.
    ///
    /// # Errors
    /// The action to which the keys are bound already; then nothing is changed.
    fn bind(&mut self, action: ActionIndex, info: &ActionInfo, keys: &[Key]) -> Result<(), ActionIndex> {
        let kinds = info.layers();
        for kind in kinds {
            self.layers.entry(*kind).or_default();
        }
        let mut tries: Vec<&mut Trie> = if kinds.is_empty() {
            vec![&mut self.base]
        } else {
            self.layers.iter_mut().filter(|(kind, _)| kinds.contains(kind)).map(|(_, trie)| trie).collect()
        };
        if let Some(other) = tries.iter().find_map(|trie| taken(trie, keys)) {
            return Err(other);
        }
        for trie in &mut tries {
            insert(trie, keys, action);
        }
        self.keys[action].push(keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
        Ok(())
    }

    /// Returns the keys of an action.
    pub fn keys(&self, action: ActionIndex) -> &[String] {
        self.keys.get(action).map_or(&[], Vec::as_slice)
    }

    /// Returns the keys of an action, as the help shows them: `?, F1`.
    pub fn listed(&self, action: ActionIndex) -> String {
        self.keys(action).join(", ")
    }

    /// Returns the first key of the action with this name; without keys, the name as it is typed in the palette, such
    /// as `:quit`.
    pub fn hint(&self, name: &str) -> String {
        let action = table::all().iter().position(|info| info.name == name);
        action.and_then(|action| self.keys(action).first().cloned()).unwrap_or_else(|| format!(":{name}"))
    }

    /// Replaces every `{action}` in a text by the first key of that action; other text in braces stays as it is.
    pub fn in_words<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !text.contains('{') {
            return Cow::Borrowed(text);
        }
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            out.push_str(before);
            match after.split_once('}') {
                Some((name, tail)) if table::named(name).is_some() => {
                    out.push_str(&self.hint(name));
                    rest = tail;
                }
                _ => {
                    out.push('{');
                    rest = after;
                }
            }
        }
        out.push_str(rest);
        Cow::Owned(out)
    }

    /// Returns the key that begins most sequences among the panes, if it begins at least three.
    pub fn leader(&self) -> Option<Key> {
        let sequences = |node: &Node| match node {
            Node::Leaf(_) => 0,
            Node::Inner(inner) => inner.len(),
        };
        let (key, node) = self.base.iter().max_by_key(|(_, node)| sequences(node))?;
        (sequences(node) >= 3).then_some(*key)
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
        Self::new(table::all()).unwrap_or_else(|_| Self::empty(table::all().len()))
    }
}

/// Returns the action that these keys would conflict with: the same keys, the beginning of the keys, or longer keys.
fn taken(trie: &Trie, keys: &[Key]) -> Option<ActionIndex> {
    let (first, rest) = keys.split_first()?;
    match trie.get(first)? {
        Node::Leaf(action) => Some(*action),
        node @ Node::Inner(_) if rest.is_empty() => Some(any_leaf(node)),
        Node::Inner(inner) => taken(inner, rest),
    }
}

fn insert(trie: &mut Trie, keys: &[Key], action: ActionIndex) {
    let Some((first, rest)) = keys.split_first() else { return };
    if rest.is_empty() {
        trie.insert(*first, Node::Leaf(action));
    } else if let Node::Inner(inner) = trie.entry(*first).or_insert_with(|| Node::Inner(Trie::new())) {
        insert(inner, rest, action);
    }
}

fn any_leaf(node: &Node) -> ActionIndex {
    match node {
        Node::Leaf(action) => *action,
        Node::Inner(inner) => inner.values().next().map_or(0, any_leaf),
    }
}

fn find<'a>(trie: &'a Trie, keys: &[Key]) -> Found<'a> {
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
