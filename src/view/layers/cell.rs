//! The bar that replaces the log while the user edits the cells of a plan: the change, and the figures of the changed
//! plan after each step.

use crate::app::layer::CellEdit;
use crate::app::state::App;
use crate::view::figures::{Goal, Room, change, in_unit};
use lightbay_engines::metrics;
use lightbay_sessions::compare::{self, TOLERANCE};
use lightbay_widgets::{Pen, Piece, Tone};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

pub fn draw(app: &App, edit: &CellEdit, area: Rect, buf: &mut Buffer) {
    let theme = &app.look.theme;
    let mut pen = Pen::new(buf, area, theme);
    let (width, height) = (pen.width(), pen.height());
    pen.clear(0, 0, width, height, theme.popup());
    let mut pieces = entry(edit);
    let mut outcome = outcome(app, edit);
    let problem = [Piece::new("! ", Tone::Bad).bold(), Piece::new(edit.problem.clone(), Tone::Bad)];
    if height >= 2 {
        pen.pieces(1, 0, width - 2, &pieces);
        pen.pieces(1, 1, width - 2, &outcome);
        if !edit.problem.is_empty() {
            pen.pieces(1, if height >= 3 { 2 } else { 1 }, width - 2, &problem);
        }
        return;
    }
    pieces.push(Piece::text("   "));
    if edit.problem.is_empty() {
        pieces.append(&mut outcome);
    } else {
        pieces.extend(problem);
    }
    pen.pieces(1, 0, width - 2, &pieces);
}

/// Returns the edited entry, as in `edit p0–p1  6 → 7  of 0 to 8`, and the number of other changed entries.
fn entry(edit: &CellEdit) -> Vec<Piece> {
    let at = |values: &[i64]| values.get(edit.entry).copied().unwrap_or_default();
    let (old, new) = (at(&edit.cells.values), at(&edit.values));
    let name = edit.cells.names.get(edit.entry).cloned().unwrap_or_default();
    let mut pieces = vec![Piece::muted("edit "), Piece::answer(name), Piece::text(format!("  {old}"))];
    if new != old {
        pieces.push(Piece::muted(" → "));
        pieces.push(Piece::new(format!("{new} *"), Tone::Changed).bold());
    }
    let (low, high) = edit.cells.range;
    pieces.push(Piece::muted(format!("  of {low} to {high}")));
    let others = (0..edit.values.len())
        .filter(|index| *index != edit.entry && edit.values.get(*index) != edit.cells.values.get(*index))
        .count();
    if others > 0 {
        pieces.push(Piece::new(format!("  {others} more changed"), Tone::Changed));
    }
    pieces
}

/// Returns the figures of the changed plan, compared with the plan before the edit; one result per variant of the
/// evaluation, such as fair sharing and scheduled rates.
fn outcome(app: &App, edit: &CellEdit) -> Vec<Piece> {
    let Some(work) = &app.work else { return Vec::new() };
    let goal = Goal::of(work.objective);
    let base = app.plans.shown();
    if !edit.is_changed() {
        return vec![Piece::muted("+ - or digits change it; every step is evaluated")];
    }
    let mut pieces = Vec::new();
    for preview in &edit.previews {
        if !pieces.is_empty() {
            pieces.push(Piece::text("   "));
        }
        if !preview.variant.is_empty() {
            pieces.push(Piece::muted(format!("{} ", preview.variant)));
        }
        match &preview.plan {
            Ok(plan) => {
                let header = plan.0.header();
                let value = header.objective.value;
                pieces.push(Piece::answer(goal.with_unit(value, Room::Long)));
                // Figures beyond the objective: the columns that the table always shows.
                for info in metrics(work.kind) {
                    let place = info.table.filter(|place| place.priority == 0);
                    if let (Some(place), Some(value)) = (place, header.metrics.get(info.name)) {
                        let value = in_unit(*value, info.unit, Room::Long);
                        pieces.push(Piece::muted(format!("  {} {value}", place.title)));
                    }
                }
                if let Some(base) = base {
                    pieces.push(Piece::text("  "));
                    pieces.push(change(&compare::change(base.value, value, Some(goal.sense), TOLERANCE)));
                }
            }
            Err(why) => pieces.push(Piece::new(format!("! {why}"), Tone::Bad)),
        }
    }
    if edit.waiting {
        // The last result stays until the next one arrives, so that numbers do not flicker.
        let words = if pieces.is_empty() { "evaluating" } else { "   evaluating" };
        pieces.push(Piece::muted(words));
    }
    pieces
}
