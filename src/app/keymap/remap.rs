//! Changes of key bindings by the user, as in `[keys]` of the configuration file.

use super::Keymap;
use crate::app::action::Command;
use crate::app::key::{Key, meant, sequence};
use crate::app::layer::LayerKind;
use crate::app::table::{self, ActionInfo, Make};
use lightbay_core::problem::{Problem, suggestion};

/// The keys of one action as the user wrote them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remap {
    /// Place in the file, such as `line 3, column 1`.
    pub place: String,
    /// Name of the action.
    pub action: String,
    /// The keys, each a sequence separated by blanks; no keys unbind the action; `None` if the value is neither a text
    /// nor a list of texts.
    pub keys: Option<Vec<String>>,
}

impl Keymap {
    /// Builds the bindings of the action table with the changes of the user. A change with a problem is not applied:
    /// the action keeps its default keys, if they are free.
    pub fn remapped(remaps: &[Remap]) -> (Self, Vec<Problem>) {
        let actions = table::all();
        let mut problems = Vec::new();
        let mut changes: Vec<(usize, &Remap, Vec<Vec<Key>>)> = Vec::new();
        for remap in remaps {
            match change(remap) {
                Ok((action, _)) if changes.iter().any(|(other, ..)| *other == action) => {}
                Ok((action, keys)) => changes.push((action, remap, keys)),
                Err(problem) => problems.push(problem),
            }
        }
        let mut map = Self::empty(actions.len());
        for (action, info) in actions.iter().enumerate() {
            if changes.iter().all(|(changed, ..)| *changed != action) {
                map.bind_defaults(action, info);
            }
        }
        for (action, remap, keys) in &changes {
            let info = &actions[*action];
            for keys in keys {
                let Err(other) = map.bind(*action, info, keys) else { continue };
                let text = keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
                let (other, by_user) =
                    (actions[other].name, changes.iter().any(|(index, ..)| *index == other));
                let (message, remedy) = if other == info.name {
                    (format!("'{text}' is listed twice, or begins another sequence"), "remove one".to_owned())
                } else if by_user {
                    let message = format!("'{text}' is bound to '{other}' too, in this file");
                    (message, "change the keys of one of these actions".to_owned())
                } else {
                    let message = format!("'{text}' conflicts with the default keys of '{other}'");
                    (
                        message,
                        format!(
                            "choose other keys, or give '{other}' other keys too: {other} = \"\" unbinds it"
                        ),
                    )
                };
                problems.push(problem(remap, message, remedy));
            }
            if map.keys[*action].is_empty() && !keys.is_empty() {
                map.bind_defaults(*action, info);
            }
        }
        let ways: Vec<usize> = ["quit", "palette", "interrupt"]
            .iter()
            .filter_map(|name| actions.iter().position(|info| info.name == *name))
            .collect();
        if ways.iter().all(|action| map.keys(*action).is_empty()) {
            let message = "quit, palette and interrupt have no key, so the workbench could not be left";
            problems.push(Problem::new("keys", message, "give one of them a key"));
            for action in ways {
                map.bind_defaults(action, &actions[action]);
            }
        }
        (map, problems)
    }

    /// Binds the default keys of an action, as far as they are free.
    fn bind_defaults(&mut self, action: usize, info: &ActionInfo) {
        for keys in info.keys.iter().filter_map(|text| sequence(text).ok()) {
            // A conflict of the user's keys with a default is reported with the user's keys.
            let _ = self.bind(action, info, &keys);
        }
    }
}

fn problem(remap: &Remap, message: impl Into<String>, remedy: impl Into<String>) -> Problem {
    Problem::new(format!("{}: keys.{}", remap.place, remap.action), message, remedy)
}

/// Finds the action, and reads its keys.
fn change(remap: &Remap) -> Result<(usize, Vec<Vec<Key>>), Problem> {
    let actions = table::all();
    let Some(action) = actions.iter().position(|info| info.name == remap.action) else {
        let names: Vec<&str> = actions.iter().map(|info| info.name).collect();
        let near = suggestion(&remap.action, &names);
        let remedy = if near.starts_with("did you mean") {
            near
        } else {
            "`lightbay keys` lists the actions".to_owned()
        };
        return Err(problem(remap, "this action does not exist", remedy));
    };
    let info = &actions[action];
    let Some(texts) = &remap.keys else {
        let remedy = "give a key such as \"F5\", a list such as [\"F5\", \"g r\"], or \"\" for no key";
        return Err(problem(remap, "the value is not a key", remedy));
    };
    let mut keys = Vec::new();
    for text in texts {
        let read = sequence(text).map_err(|error| problem(remap, format!("'{}' is not a key", error.0), ""));
        let read = read.map_err(|error| {
            let near = meant(text).map_or_else(String::new, |near| format!("did you mean '{near}'? "));
            let remedy = format!(
                "{near}write a character, a name such as Tab or PgUp, or a key with C-, A- or S- before it"
            );
            Problem { remedy, ..error }
        })?;
        if let Some(typed) = read.first().and_then(|key| typed_in(info, *key)) {
            return Err(problem(
                remap,
                format!("'{text}' {typed}"),
                "use a key with C-, or a key such as F5",
            ));
        }
        keys.push(read);
    }
    if keys.is_empty() && !info.layers().is_empty() && leaves(info) {
        return Err(problem(
            remap,
            "without a key, pop-ups could not be used",
            format!("give it a key, such as {}", info.keys.first().unwrap_or(&"Esc")),
        ));
    }
    Ok((action, keys))
}

/// Returns `true` if the action closes a layer or runs what its text field contains.
fn leaves(info: &ActionInfo) -> bool {
    matches!(&info.make, Make::Plain(Command::Back)) || info.name == "accept"
}

/// Returns the reason that a key cannot begin the keys of this action: the key is typed in one of its layers.
fn typed_in(info: &ActionInfo, key: Key) -> Option<&'static str> {
    let character = key.text()?;
    if info.layers().iter().any(|kind| kind.types()) {
        return Some("is typed into the text field of a pop-up");
    }
    let digit = character.is_ascii_digit() && info.layers().contains(&LayerKind::EditCell);
    digit.then_some("is typed as a number")
}
