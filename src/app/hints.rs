//! Actions that are possible now, for the footer, and the keys that may follow a pending key.

use crate::app::action::Command;
use crate::app::keymap::{ActionIndex, Found, Node};
use crate::app::possible;
use crate::app::state::App;
use crate::app::table::{self, Make, TablePlace};

/// Importance of the leader key in the footer.
const LEADER_WEIGHT: u8 = 7;

/// An entry of the footer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// Index of the action; `None` for the key that begins the longest list of sequences.
    pub action: Option<ActionIndex>,
    /// First key of the action.
    pub keys: String,
    /// Label of the action: one or two words.
    pub label: &'static str,
    /// `true` if the action is possible now.
    pub possible: bool,
    /// `true` if the entry must not be cut.
    pub keep: bool,
}

/// A key that may follow the pending keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Next {
    /// The key.
    pub key: String,
    /// Effect of the key, in one line; empty if more keys follow.
    pub help: &'static str,
    /// The action, unless more keys follow.
    pub action: Option<ActionIndex>,
}

/// Returns the entries of the footer, most useful first: possible actions before impossible ones, then by weight.
/// Entries that must not be cut come last, where the screen also shows them.
pub fn footer(app: &App) -> Vec<Hint> {
    let layer = app.layers.last().map(crate::app::layer::Layer::kind);
    let mut hints: Vec<(u8, Hint)> = table::all()
        .iter()
        .enumerate()
        .filter(|(action, info)| info.weight > 0 && !app.keymap.keys(*action).is_empty())
        .filter(|(_, info)| match (info.place, layer) {
            (TablePlace::Layers(kinds), Some(kind)) => kinds.contains(&kind),
            (TablePlace::Workbench, None) => app.work.is_some(),
            (TablePlace::Anywhere, None) => true,
            _ => false,
        })
        .map(|(action, info)| {
            let hint = Hint {
                action: Some(action),
                keys: app.keymap.keys(action).first().cloned().unwrap_or_default(),
                label: label(app, info),
                possible: (info.possible)(app).is_yes(),
                keep: info.weight >= 10,
            };
            (info.weight, hint)
        })
        // Impossible actions are shown only if they are important.
        .filter(|(weight, hint)| hint.possible || *weight >= 7)
        .collect();
    if layer.is_none()
        && let Some(leader) = app.keymap.leader()
    {
        let hint =
            Hint { action: None, keys: leader.to_string(), label: "more", possible: true, keep: false };
        hints.push((LEADER_WEIGHT, hint));
    }
    hints.sort_by_key(|(weight, hint)| (hint.keep, !hint.possible, std::cmp::Reverse(*weight)));
    hints.into_iter().map(|(_, hint)| hint).collect()
}

/// Returns the label of an action in the footer: `resume` for the pause key if the key would resume runs, otherwise the
/// label in the table.
fn label(app: &App, info: &table::ActionInfo) -> &'static str {
    match &info.make {
        Make::Plain(Command::TogglePause) if app.would_resume() => "resume",
        Make::Plain(Command::Edit) if !possible::editable(app).is_yes() => "form",
        _ => info.label,
    }
}

/// Returns the keys that may follow the pending keys.
pub fn next_keys(app: &App) -> Vec<Next> {
    let found = match app.layers.last() {
        Some(layer) => app.keymap.layer(layer.kind(), &app.pending),
        None => app.keymap.base(&app.pending),
    };
    match found {
        Found::Pending(keys) if !app.pending.is_empty() => keys
            .iter()
            .map(|(key, node)| match node {
                Node::Leaf(action) => {
                    Next { key: key.to_string(), help: table::all()[*action].help, action: Some(*action) }
                }
                Node::Inner(_) => Next { key: key.to_string(), help: "", action: None },
            })
            .collect(),
        _ => Vec::new(),
    }
}
