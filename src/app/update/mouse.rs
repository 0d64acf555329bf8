//! The mouse: never required, because every mouse action has a key.

use crate::app::action::{Action, Command, Motion, Mouse, MouseKind};
use crate::app::effect::Effects;
use crate::app::pane::{PaneId, SizeClass};
use crate::app::state::App;
use std::time::Duration;

/// Maximum time between two clicks on the same cell that count as a double click.
const DOUBLE_CLICK: Duration = Duration::from_millis(400);

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
            }
            MouseKind::Release => self.dragging = None,
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
        let open = self.drawn.hit(x, y).and_then(|hit| hit.open.clone());
        match (double, open) {
            (true, Some(open)) => self.do_hit(open, effects),
            (true, None) if self.layers.is_empty() && self.drawn.hit(x, y).is_some() => {
                self.run(Command::Inspect, effects);
            }
            _ => self.click(x, y, effects),
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
