//! The picture of a plan for a review: circuits between pods before and after, and the changes of every switch.

use crate::plan::{Action, Changes};
use crate::scenario::CrossconnectScenario;
use lightbay_core::problem::counted;
use lightbay_formats::svg::matrix::{Matrix, MatrixEntry};
use lightbay_formats::svg::{Anchor, Area, Drawing, Fill, Font, Stroke};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Name of the format.
pub(super) const NAME: &str = "svg";
/// Description of the format.
pub(super) const HELP: &str = "Picture for a review: circuits between pods before and after, and what \
     every switch keeps, adds and removes; also readable in black and white.";
/// Parts of a plan that the picture omits.
pub(super) const LEAVES_OUT: &[&str] = &["the ports", "the order of the batches"];

/// Width of the picture.
const WIDTH: f64 = 1120.0;
/// Margin around the picture, and space between the two states.
const MARGIN: f64 = 30.0;
/// Width of one state.
const COLUMN: f64 = (WIDTH - 3.0 * MARGIN) / 2.0;
/// Maximum number of pods for which the circuits of all pairs are drawn.
const MOST_PODS: usize = 64;
/// Maximum number of pods whose cells have room for counts.
const COUNTED_PODS: usize = 32;
/// Maximum number of switches that get a bar.
const MOST_SWITCHES: usize = 64;

const HEADING: Font = Font::plain(14.0).bold();
const BODY: Font = Font::plain(11.0);

const KEPT: Fill = Fill::White;
const ADDED: Fill = Fill::Dotted;
const REMOVED: Fill = Fill::Falling;
const MOVED: Fill = Fill::Crossed;

/// Numbers of circuits that are kept, added and removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    kept: u64,
    added: u64,
    removed: u64,
}

/// Function that returns a number of circuits from [`Counts`].
type CountOf = fn(Counts) -> u64;

impl Counts {
    const fn count(&mut self, action: Action) {
        match action {
            Action::Keep => self.kept += 1,
            Action::Add => self.added += 1,
            Action::Remove => self.removed += 1,
        }
    }

    const fn before(self) -> u64 {
        self.kept + self.removed
    }

    const fn after(self) -> u64 {
        self.kept + self.added
    }

    /// Returns the fill that shows how the circuits of a pair of pods change.
    const fn fill(self) -> Fill {
        if self.after() > self.before() {
            ADDED
        } else if self.after() < self.before() {
            REMOVED
        } else if self.removed > 0 {
            MOVED
        } else {
            KEPT
        }
    }

    fn words(self) -> String {
        format!("{} kept, {} added, {} removed", self.kept, self.added, self.removed)
    }
}

/// Returns the content of the file.
pub(super) fn svg(name: &str, scenario: &CrossconnectScenario, changes: &Changes) -> String {
    let mut drawing = Drawing::new(WIDTH, &format!("{name}: circuits before and after"));
    let mut y = MARGIN + 12.0;
    drawing.text((MARGIN, y), Font::plain(18.0).bold(), name);
    y += 20.0;
    let totals = &changes.totals;
    let line = format!(
        "{} kept, {} added and {} removed, in {}.",
        counted(totals.kept_circuits, "circuit is", "circuits are"),
        totals.added_circuits,
        totals.removed_circuits + totals.forced_removed_circuits.unwrap_or(0),
        counted(changes.batches.len() as u64, "batch", "batches")
    );
    drawing.text((MARGIN, y), BODY, &line);
    y = pairs(&mut drawing, scenario, changes, y + 30.0) + 26.0;
    drawing.text((MARGIN, y), HEADING, "Switches");
    y = switches(&mut drawing, changes, y + 10.0);
    y = legend(&mut drawing, y + 24.0);
    drawing.into_text(y + MARGIN)
}

/// Draws the circuits of every pair of pods, before and after; returns the height below the drawing.
fn pairs(drawing: &mut Drawing, scenario: &CrossconnectScenario, changes: &Changes, y: f64) -> f64 {
    let pods = scenario.pods as usize;
    let mut counts: BTreeMap<(u32, u32), Counts> = BTreeMap::new();
    for entry in changes.ocs.iter().flat_map(|ocs| &ocs.cross_connects) {
        let pair = (entry.pod_a.min(entry.pod_b), entry.pod_a.max(entry.pod_b));
        counts.entry(pair).or_default().count(entry.action);
    }
    let mut end = y;
    let states = [("Before", Counts::before as CountOf), ("After", Counts::after)];
    for (at, (title, of)) in states.into_iter().enumerate() {
        let x = MARGIN + (COLUMN + MARGIN) * at as f64;
        drawing.text((x, y), HEADING, &format!("{title}: circuits between pods"));
        if pods > MOST_PODS {
            let words = format!("{pods} pods do not fit in the picture; `--to csv` lists all circuits.");
            drawing.text((x, y + 20.0), BODY, &words);
            end = end.max(y + 26.0);
            continue;
        }
        let names = (0..pods).map(|pod| scenario.pod_name(pod).chars().take(8).collect()).collect();
        let mut matrix = Matrix::new(names);
        for (&(a, b), counts) in counts.iter().filter(|(_, counts)| of(**counts) > 0) {
            let names = [a, b].map(|pod| scenario.pod_name(pod as usize));
            // Cells without room for counts get a visible fill.
            let fill = match counts.fill() {
                KEPT if pods > COUNTED_PODS => Fill::Light,
                fill => fill,
            };
            let about = format!("{} – {}: {}", names[0], names[1], counts.words());
            let entry = MatrixEntry { count: of(*counts), fill, about };
            matrix.set(a as usize, b as usize, entry.clone());
            matrix.set(b as usize, a as usize, entry);
        }
        end = end.max(matrix.draw(drawing, (x, y + 8.0), COLUMN));
    }
    end
}

/// Draws a bar with kept, added and removed circuits for every switch; returns the height below the bars.
fn switches(drawing: &mut Drawing, changes: &Changes, y: f64) -> f64 {
    let mut rows: Vec<(u32, Counts)> = changes
        .ocs
        .iter()
        .map(|ocs| {
            let mut counts = Counts::default();
            ocs.cross_connects.iter().for_each(|entry| counts.count(entry.action));
            (ocs.ocs_id, counts)
        })
        .collect();
    if rows.len() > MOST_SWITCHES {
        rows.sort_by_key(|(ocs, counts)| (Reverse(counts.added + counts.removed), *ocs));
    }
    let most = rows.iter().map(|(_, counts)| counts.kept + counts.added + counts.removed).max().unwrap_or(0);
    let (left, right) = (MARGIN + 60.0, WIDTH - MARGIN - 230.0);
    let scale = (right - left) / most.max(1) as f64;
    let (height, step) = (11.0, 15.0);
    let mut at = y;
    for (ocs, counts) in rows.iter().take(MOST_SWITCHES) {
        let baseline = at + height - 2.0;
        drawing.text((left - 6.0, baseline), BODY.at(Anchor::End), &format!("OCS {ocs}"));
        let mut x = left;
        for (count, fill) in [(counts.kept, KEPT), (counts.added, ADDED), (counts.removed, REMOVED)] {
            let width = scale * count as f64;
            if count > 0 {
                let area = Area { x, y: at, width, height };
                drawing.rectangle(area, fill, Stroke::solid(0.5), &counts.words());
            }
            x += width;
        }
        drawing.text((x + 8.0, baseline), BODY, &counts.words());
        at += step;
    }
    if rows.len() > MOST_SWITCHES {
        let rest = rows.len() - MOST_SWITCHES;
        let more = format!(
            "{rest} more switches are not shown; none of them changes more circuits than the last switch \
             above."
        );
        drawing.text((left, at + 10.0), BODY, &more);
        at += step;
    }
    at
}

fn legend(drawing: &mut Drawing, y: f64) -> f64 {
    let mut x = MARGIN;
    let entries = [
        (KEPT, "kept"),
        (ADDED, "added; pairs of pods that get more circuits"),
        (REMOVED, "removed; pairs that get fewer"),
        (MOVED, "pairs with the same number of circuits, some of them moved"),
    ];
    for (fill, words) in entries {
        let area = Area { x, y: y - 9.0, width: 20.0, height: 11.0 };
        drawing.rectangle(area, fill, Stroke::solid(0.5), "");
        drawing.text((x + 26.0, y), BODY, words);
        x += 26.0 + BODY.width(words) + 20.0;
    }
    y
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn the_picture_has_every_switch_and_both_states() {
        let (scenario, changes) = testing::example();
        let text = svg("example", &scenario, &changes);
        let document = roxmltree::Document::parse(&text).unwrap();
        let words: Vec<&str> = document
            .descendants()
            .filter(|node| node.has_tag_name("text"))
            .filter_map(|node| node.text())
            .collect();
        for wanted in ["Before: circuits between pods", "After: circuits between pods", "OCS 0", "OCS 1"] {
            assert!(words.contains(&wanted), "{wanted}: {words:?}");
        }
        let removed = format!("and {} removed", changes.totals.removed_circuits);
        assert!(words.iter().any(|line| line.contains(&removed)), "{words:?}");
    }

    #[test]
    fn what_becomes_of_pairs_is_told_apart() {
        let counts = |kept, added, removed| Counts { kept, added, removed };
        let fills = [counts(2, 0, 0), counts(2, 1, 0), counts(2, 0, 1), counts(2, 1, 1)].map(Counts::fill);
        assert_eq!(fills, [KEPT, ADDED, REMOVED, MOVED]);
    }
}
