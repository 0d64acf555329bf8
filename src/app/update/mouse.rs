//! The mouse: never required, because every mouse action has a key.

use crate::app::action::{Action, Command, Motion, Mouse, MouseKind};
use crate::app::effect::Effects;
use crate::app::pane::{PaneId, SizeClass};
use crate::app::state::{App, RangeDrag};
use lightbay_core::event::Severity;
use std::time::Duration;

/// Maximum time between two clicks on the same cell that count as a double click.
const DOUBLE_CLICK: Duration = Duration::from_millis(400);

/// Minimum number of columns between press and release that choose a range.
const LEAST_RANGE: u16 = 2;

/// Number of rows by which one turn of the wheel moves.
const WHEEL_ROWS: usize = 3;

impl App {
    pub(super) fn mouse(&mut self, mouse: Mouse, effects: &mut Effects) {
        self.touch();
        let Mouse { what, x, y } = mouse;
        match what {
            MouseKind::Press => self.press(x, y, effects),
            MouseKind::Drag => {
                if let Some(from) = self.dragging {
                    self.dragging = Some(x);
                    self.resize_side(i16::try_from(i32::from(x) - i32::from(from)).unwrap_or(0));
                }
                if let Some(range) = &mut self.range {
                    range.columns.1 = x.clamp(range.axis.left(), range.axis.right().saturating_sub(1));
                }
            }
            MouseKind::Release => {
                self.dragging = None;
                if let Some(range) = self.range.take() {
                    self.show_range(range);
                }
            }
            MouseKind::RightPress => {
                self.click(x, y, effects);
                if self.layers.is_empty() {
                    self.run(Command::Inspect, effects);
                }
            }
            MouseKind::Wheel(by) => self.wheel(by, x, y, effects),
        }
    }

    fn press(&mut self, x: u16, y: u16, effects: &mut Effects) {
        let double = self.clicked.is_some_and(|(at, cx, cy)| {
            (cx, cy) == (x, y) && self.now.saturating_duration_since(at) <= DOUBLE_CLICK
        });
        self.clicked = if double { None } else { Some((self.now, x, y)) };
        if self.layers.is_empty() && self.at_border(x, y) {
            self.dragging = Some(x);
            return;
        }
        let at = ratatui::layout::Position { x, y };
        let axis = self.drawn.axes.iter().find(|(_, axis)| axis.contains(at)).copied();
        self.range = axis.filter(|_| self.layers.is_empty()).map(|(pane, axis)| RangeDrag {
            pane,
            axis,
            columns: (x, x),
        });
        let open = self.drawn.hit(x, y).and_then(|hit| hit.open.clone());
        match (double, open) {
            (true, Some(open)) => self.do_hit(open, effects),
            (true, None) if self.layers.is_empty() && self.drawn.hit(x, y).is_some() => {
                self.run(Command::Inspect, effects);
            }
            _ => self.click(x, y, effects),
        }
    }

    /// Stretches the axis of a pane to the range that was chosen.
    fn show_range(&mut self, range: RangeDrag) {
        let RangeDrag { pane, axis, columns: (from, to) } = range;
        let (from, to) = (from.min(to), from.max(to));
        if to - from < LEAST_RANGE {
            return;
        }
        let share = |x: u16| f64::from(x.saturating_sub(axis.x)) / f64::from(axis.width.max(1));
        if self.pane_mut(pane).show_range(share(from), share(to + 1)) {
            let name = self.pane_info(pane).map_or("the pane", |info| info.name);
            let text = format!("{name} shows the chosen range; {{axis_fit}} shows the whole axis");
            self.say(Severity::Info, text);
        }
    }

    fn click(&mut self, x: u16, y: u16, effects: &mut Effects) {
        if let Some(click) = self.drawn.hit(x, y).map(|hit| hit.click.clone()) {
            self.do_hit(click, effects);
        } else if self.layers.is_empty()
            && let Some(pane) = self.drawn.pane_at(x, y).map(|pane| pane.pane)
        {
            self.focus(pane);
        }
    }

    /// Executes the action of a rectangle directly, without calling `update`.
    fn do_hit(&mut self, action: Action, effects: &mut Effects) {
        match action {
            Action::Do(command) => self.run(command, effects),
            Action::Select { pane, item } => self.select(pane, item, effects),
            Action::SelectLine(line) => self.select_line(line),
            Action::Key(key) => self.key(key, effects),
            _ => {}
        }
    }

    /// Returns `true` if a cell is in the gap right of the side bar; dragging this gap changes the width of the side
    /// bar.
    fn at_border(&self, x: u16, y: u16) -> bool {
        matches!(self.size.class, SizeClass::Grid | SizeClass::Wide)
            && !self.focus.zoomed
            && [PaneId::Params, PaneId::Plans, PaneId::Solve]
                .iter()
                .filter_map(|pane| self.drawn_pane(*pane))
                .any(|pane| {
                    let area = pane.area;
                    let right = area.right();
                    (area.top()..area.bottom()).contains(&y) && (right..=right.saturating_add(1)).contains(&x)
                })
    }

    fn wheel(&mut self, by: i8, x: u16, y: u16, effects: &mut Effects) {
        if !self.layers.is_empty() {
            self.layer_move(i64::from(by) * WHEEL_ROWS as i64);
            return;
        }
        let Some(drawn) = self.drawn.pane_at(x, y) else { return };
        let (pane, area) = (drawn.pane, drawn.area);
        if self.pane_info(pane).is_some_and(|info| info.zooms) {
            let at = f64::from(x.saturating_sub(area.x)) / f64::from(area.width.max(1));
            self.axis_of(pane, -by, at);
            return;
        }
        // The wheel scrolls the table of plans without displaying another plan.
        if pane == PaneId::Plans {
            let offset = &mut self.pane_mut(pane).offset;
            *offset = if by > 0 { *offset + WHEEL_ROWS } else { offset.saturating_sub(WHEEL_ROWS) };
            return;
        }
        for _ in 0..WHEEL_ROWS {
            self.go_in(pane, if by > 0 { Motion::Down } else { Motion::Up }, effects);
        }
    }
}
