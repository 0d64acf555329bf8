//! Comparison of the displayed plan with the baseline, below the table of plans.

use crate::app::plans::PlanEntry;
use crate::app::state::App;
use crate::view::figures::{self, Goal, Room};
use lightbay_core::kind::Sense;
use lightbay_core::metric::Figures;
use lightbay_engines::metrics;
use lightbay_sessions::compare::{TOLERANCE, change};
use lightbay_widgets::{Cut, Pen, Piece, Tone, number};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Minimum width at which the baseline's value is shown too, with all decimals.
const ROOMY: u16 = 36;

/// Maximum number of rows, including the heading.
pub const ROWS: u16 = 5;

/// One figure of the comparison.
#[derive(Debug)]
struct AgainstRow {
    name: String,
    new: String,
    old: String,
    change: Piece,
}

/// The rows of the comparison below the table of plans.
#[derive(Debug, Default)]
pub struct Against {
    heading: String,
    rows: Vec<AgainstRow>,
}

impl Against {
    /// Compares the displayed plan with the baseline. Returns the number of rows needed; 0 if there is nothing to
    /// compare.
    pub fn fill(&mut self, app: &App, width: u16) -> u16 {
        self.rows.clear();
        let (Some(work), Some(shown), Some(base)) = (&app.work, app.plans.shown(), app.plans.baseline())
        else {
            return 0;
        };
        let goal = Goal::of(work.objective);
        let roomy = width >= ROOMY;
        let room = if roomy { Room::Long } else { Room::Short };
        let same =
            if shown.scenario_sha256 == base.scenario_sha256 { "same job" } else { "other parameters" };
        self.heading = match roomy {
            true => format!("{} against B {} {}, {same}", shown.number, base.number, base.method),
            false if same == "same job" => format!("{} against B {}", shown.number, base.number),
            false => format!("{} against B {}, {same}", shown.number, base.number),
        };
        // A plan for another problem is neither better nor worse.
        let ranked = shown.competes() && base.competes();
        let mut row = |name: &str,
                       pair: (Option<f64>, Option<f64>),
                       sense: Option<Sense>,
                       text: &dyn Fn(f64) -> String| {
            if let (Some(new), Some(old)) = pair {
                let change = change(old, new, sense.filter(|_| ranked), TOLERANCE);
                self.rows.push(AgainstRow {
                    name: name.to_owned(),
                    new: text(new),
                    old: text(old),
                    change: figures::change(&change),
                });
            }
        };
        let value = (Some(shown.value), Some(base.value));
        row(goal.name, value, Some(goal.sense), &|value| goal.value(value, room).into());
        for info in metrics(work.kind) {
            let Some(place) = info.comparison else { continue };
            let of = |entry: &PlanEntry| {
                let scaled =
                    info.of(&Figures { value: entry.value, bound: None, metrics: &entry.metrics })?;
                Some(scaled * info.unit.scale)
            };
            let decimals = usize::from(place.decimals[usize::from(!roomy)]);
            let text = |value: f64| number::fixed(value, decimals).into();
            row(place.title, (of(shown), of(base)), info.sense, &text);
        }
        self.rows.len() as u16 + 1
    }

    pub fn draw(&self, app: &App, area: Rect, buf: &mut Buffer) {
        let theme = &app.look.theme;
        let mut pen = Pen::new(buf, area, theme);
        let (width, roomy) = (pen.width(), area.width >= ROOMY);
        let muted = theme.style(Tone::Muted);
        pen.cut(0, 0, width, &self.heading, Cut::End, muted);
        let widest = self.rows.iter().map(|row| row.change.text.chars().count()).max().unwrap_or(0);
        let old_end = width - (widest as i32 + 1).max(9);
        let new_end = if roomy { old_end - 11 } else { old_end };
        for (y, row) in (1..).zip(&self.rows) {
            pen.cut(0, y, 10, &row.name, Cut::End, theme.style(Tone::Text));
            pen.right(new_end, y, &row.new, theme.style(Tone::Answer));
            if roomy {
                pen.right(old_end, y, &row.old, muted);
            }
            pen.right(width, y, &row.change.text, theme.ink(row.change.tone, row.change.bold));
        }
    }
}
