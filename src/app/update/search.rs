//! Search for text in the focused pane or in a list: a field for the text, then the next and previous match.

use crate::app::effect::Effects;
use crate::app::layer::{Layer, TextField};
use crate::app::pane::{ItemId, PaneId};
use crate::app::state::App;
use lightbay_core::event::Severity;
use lightbay_core::problem::printable;

impl App {
    /// Opens the field for the text to search for.
    pub(super) fn show_search(&mut self) {
        self.layers.push(Layer::Search(TextField::fresh(self.search.clone())));
    }

    /// Searches for the typed text from the selection on.
    pub(super) fn accept_search(&mut self, effects: &mut Effects) {
        let Some(Layer::Search(field)) = self.layers.last() else { return };
        let text = field.text().trim().to_owned();
        self.layers.pop();
        if text.is_empty() {
            return;
        }
        self.search = text;
        self.find(1, true, effects);
    }

    /// Goes to the next (1) or previous (-1) match; `here` allows the selected item itself.
    pub(super) fn find(&mut self, by: i8, here: bool, effects: &mut Effects) {
        if self.search.is_empty() {
            self.show_search();
            return;
        }
        let in_layer = self.layer_texts();
        let pane = self.focus.pane;
        let named = self.drawn_pane(pane).is_some_and(|drawn| !drawn.labels.is_empty());
        if in_layer.is_none() && matches!(pane, PaneId::Kind(_)) && !named && self.find_due.is_none() {
            self.find_due = Some((by, here));
            self.touch();
            return;
        }
        let (texts, at): (Vec<String>, Option<usize>) = if let Some((texts, at)) = &in_layer {
            (texts.clone(), Some(*at))
        } else {
            let labels = self.labels(pane);
            let chosen = self.drawn_pane(pane).and_then(|drawn| drawn.chosen);
            let selected = chosen.or(self.pane(pane).selected);
            let at = selected.and_then(|id| labels.iter().position(|(other, _)| *other == id));
            (labels.into_iter().map(|(_, text)| text).collect(), at)
        };
        let needle = folded(&self.search);
        let shown = printable(&self.search);
        let matches: Vec<usize> =
            (0..texts.len()).filter(|index| folded(&texts[*index]).contains(&needle)).collect();
        if texts.is_empty() {
            self.say(Severity::Info, "nothing in this pane has a name to search for");
            return;
        }
        if matches.is_empty() {
            self.say(Severity::Warning, format!("'{shown}' is not among the {} names here", texts.len()));
            return;
        }
        let from = at.map_or(-1, |at| at as i64);
        let next = if by > 0 {
            let after = matches.iter().position(|index| {
                let index = *index as i64;
                index > from || here && index == from
            });
            after.unwrap_or(0)
        } else {
            matches.iter().rposition(|index| (*index as i64) < from).unwrap_or(matches.len() - 1)
        };
        let found = matches[next];
        if in_layer.is_some() {
            self.layer_move(found as i64 - at.unwrap_or(0) as i64);
        } else if let Some((item, _)) = self.labels(pane).get(found).cloned() {
            self.choose(pane, Some(item), effects);
        }
        if matches!(self.layers.last(), Some(Layer::Log(_))) {
            // A message would be a new line of this list.
            return;
        }
        let place = format!("match {} of {}", next + 1, matches.len());
        self.say(
            Severity::Info,
            format!("{place} for '{shown}'; {{find_next}} next, {{find_previous}} previous"),
        );
    }

    /// Continues a search that waited for a frame with the names of the items.
    pub(super) fn find_in_drawn(&mut self, effects: &mut Effects) {
        if let Some((by, here)) = self.find_due {
            self.find(by, here, effects);
            self.find_due = None;
        }
    }

    /// Returns the names of the selectable items of a pane, in order.
    fn labels(&self, pane: PaneId) -> Vec<(ItemId, String)> {
        match pane {
            PaneId::Params => {
                let rows = self.form_rows().into_iter();
                rows.map(|row| (row.id, format!("{} {}", row.name, row.info.help))).collect()
            }
            PaneId::Plans => {
                let rows = self.plans.rows().into_iter();
                rows.map(|entry| {
                    let text = format!(
                        "{} {} {}",
                        entry.number,
                        self.plans.words(entry),
                        entry.status.map_or("", |status| status.word())
                    );
                    (entry.number as ItemId, text)
                })
                .collect()
            }
            PaneId::Solve => {
                let runs = self.runs.newest().into_iter();
                runs.map(|run| {
                    (run.id.0 as ItemId, format!("{} {} {}", run.id, run.method, self.run_word(run)))
                })
                .collect()
            }
            PaneId::Start => {
                let items = self.start.items().into_iter().zip(0..);
                items.map(|(item, id)| (id, self.start.label(&item))).collect()
            }
            PaneId::Kind(_) => self.drawn_pane(pane).map_or_else(Vec::new, |drawn| drawn.labels.to_vec()),
        }
    }

    /// Returns the lines of the top layer and the chosen line, if the layer is a list that can be searched.
    fn layer_texts(&self) -> Option<(Vec<String>, usize)> {
        match self.layers.last()? {
            Layer::Log(list) => {
                let lines = self.log.iter().rev().map(|entry| format!("{} {}", entry.source, entry.text));
                Some((lines.collect(), list.selected))
            }
            Layer::Runs(list) => {
                let lines = self.runs.iter().map(|run| format!("{} {} {}", run.id, run.method, run.word()));
                Some((lines.collect(), list.selected))
            }
            Layer::Panes(list) => {
                let name = |pane: &PaneId| {
                    self.pane_info(*pane).map_or_else(|| format!("{pane:?}"), |info| info.name.to_owned())
                };
                Some((self.focus_order().iter().map(name).collect(), list.selected))
            }
            _ => None,
        }
    }
}

/// Returns a text as searches compare it: in lower case, with the dashes and arrows of link names as hyphens.
fn folded(text: &str) -> String {
    text.to_lowercase().replace(['–', '→'], "-")
}
