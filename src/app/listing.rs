//! Files of a folder, for the completion of a path that is being typed. The runtime lists the folder.

use crate::app::effect::{Effect, Effects};
use crate::app::layer::Layer;
use crate::app::state::App;
use std::path::PathBuf;

/// Names of actions whose argument is a path.
const WHOLE: [&str; 4] = ["open", "record", "script", "save_to"];

/// Names of actions whose last words are paths.
const LAST_WORD: [&str; 2] = ["import", "export"];

/// A file or folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedFile {
    /// Name in the folder; the name of a folder ends with `/`.
    pub name: String,
    /// Content of the file, in a few words.
    pub about: String,
}

/// Files of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The folder, as it was requested.
    pub folder: PathBuf,
    /// Its files and folders, by name; empty if the folder cannot be read or has not been read yet.
    pub entries: Vec<ListedFile>,
}

/// Splits the typed text of the palette into the part of the argument before the name that is being typed, and that
/// name; `None` if no path is being typed.
fn typed_path(query: &str) -> Option<(&str, &str)> {
    let (action, argument) = query.trim_start().split_once(' ')?;
    let path_at = if WHOLE.contains(&action) {
        0
    } else if let Some(blank) = argument.rfind(' ').filter(|_| LAST_WORD.contains(&action)) {
        blank + 1
    } else if action == "import" {
        // The format may be left out.
        0
    } else {
        return None;
    };
    let name_at = argument[path_at..].rfind('/').map_or(path_at, |slash| path_at + slash + 1);
    Some(argument.split_at(name_at))
}

impl App {
    /// Returns the path that is being typed: the argument before the name, and the folder to list.
    fn folder_of_field(&self) -> Option<(String, PathBuf)> {
        match self.layers.last()? {
            Layer::Palette(list) => {
                let (before, _) = typed_path(list.field.text())?;
                let action = list.field.text().split_whitespace().next().unwrap_or_default();
                // Of an action whose whole argument is a path, the path may contain blanks.
                let folder = if WHOLE.contains(&action) {
                    before
                } else {
                    before.rsplit(' ').next().unwrap_or_default()
                };
                Some((before.to_owned(), self.path(folder)))
            }
            Layer::Export(edit) => {
                let text = edit.path.text();
                let at = text.rfind('/').map_or(0, |slash| slash + 1);
                Some((text[..at].to_owned(), self.path(&text[..at])))
            }
            _ => None,
        }
    }

    /// Returns the argument before the name that is being typed, with the files that may follow.
    pub fn listing_of_field(&self) -> Option<(String, &Listing)> {
        let (before, folder) = self.folder_of_field()?;
        let listing = self.listing.as_ref().filter(|listing| listing.folder == folder)?;
        Some((before, listing))
    }

    /// Requests the files of the folder whose path is being typed.
    pub(crate) fn request_listing(&mut self, effects: &mut Effects) {
        match self.folder_of_field() {
            // A later visit lists the folder again.
            None => self.listing = None,
            Some((_, folder)) if self.listing.as_ref().is_none_or(|listing| listing.folder != folder) => {
                self.listing = Some(Listing { folder: folder.clone(), entries: Vec::new() });
                effects.push(Effect::ListFolder(folder));
            }
            Some(_) => {}
        }
    }

    /// Stores the files of a folder, unless another folder is needed by now.
    pub(crate) fn listed(&mut self, listing: Listing) {
        if self.listing.as_ref().is_some_and(|wanted| wanted.folder == listing.folder) {
            self.listing = Some(listing);
            self.touch();
        }
    }

    /// Completes the typed path of a file to write: the only match, or the beginning that all matches share.
    pub(crate) fn complete_path(&mut self) {
        let Some((before, listing)) = self.listing_of_field() else { return };
        let Some(Layer::Export(edit)) = self.layers.last() else { return };
        let typed = &edit.path.text()[before.len()..];
        let names: Vec<&str> = listing
            .entries
            .iter()
            .map(|entry| entry.name.as_str())
            .filter(|name| name.starts_with(typed))
            .collect();
        let Some(first) = names.first() else { return };
        let shared = names.iter().fold(*first, |shared, name| {
            let same = shared.char_indices().zip(name.chars()).find(|((_, a), b)| a != b);
            same.map_or(&shared[..shared.len().min(name.len())], |((at, _), _)| &shared[..at])
        });
        let text = format!("{before}{shared}");
        if let Some(Layer::Export(edit)) = self.layers.last_mut() {
            edit.path = crate::app::layer::TextField::holding(text);
            edit.typed = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_before_the_name_is_kept() {
        let cases = [
            ("open ", Some(("", ""))),
            ("open jobs/my jo", Some(("jobs/", "my jo"))),
            ("open /tmp/", Some(("/tmp/", ""))),
            ("export json out/pl", Some(("json out/", "pl"))),
            ("import ", Some(("", ""))),
            ("import data/h", Some(("data/", "h"))),
            ("export ", None),
            ("import hall a.csv b", Some(("hall a.csv ", "b"))),
            ("set seq", None),
            ("open", None),
        ];
        for (query, expected) in cases {
            assert_eq!(typed_path(query), expected, "{query}");
        }
    }
}
