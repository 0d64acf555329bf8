//! The list of switches: what each keeps, adds and removes, with bars.

use crate::app::action::{Action, Command};
use crate::app::drawn::{Drawn, Hit, Item};
use crate::app::pane::PaneId;
use crate::view::present::PaneInput;
use crate::view::present::rows::line;
use lightbay_engines::crossconnect::rollout::explained::ChangeFacts;
use lightbay_widgets::{Column, Piece, Table, TableRow, TableState, Tone};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::StatefulWidget;
use std::sync::Arc;

/// Columns of the bars: least and most.
const BARS: (u16, u16) = (6, 20);

/// Data of the list, refilled when plan or width change.
#[derive(Debug, Default)]
pub struct SwitchList {
    key: Option<(u64, u16)>,
    columns: Vec<Column>,
    rows: Vec<TableRow>,
    sum: Vec<Piece>,
    state: TableState,
    pub items: Arc<[Item]>,
}

impl SwitchList {
    /// Columns that it takes at least, and that it makes use of.
    pub fn widths(facts: &ChangeFacts) -> (u16, u16) {
        let numbers = numbers(facts);
        (numbers + BARS.0, numbers + BARS.1)
    }

    /// Draws the list. The chosen switch is marked in any case; `scroll` is where the list stands.
    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        (plan, facts): (u64, &ChangeFacts),
        chosen: usize,
        area: Rect,
        buf: &mut Buffer,
        out: &mut Drawn,
    ) {
        if area.is_empty() {
            return;
        }
        if self.key != Some((plan, area.width)) {
            self.key = Some((plan, area.width));
            self.fill(facts, area.width);
        }
        let theme = &input.app.look.theme;
        // The sum has a row of its own unless all switches just fit without it.
        let all = self.rows.len() as u16 + 1;
        let height =
            if area.height == all { all } else { area.height.saturating_sub(u16::from(area.height >= 6)) };
        self.state.selected = Some(chosen as u32);
        let table = Table::new(theme, &self.columns, &self.rows);
        (&table).render(Rect { height, ..area }, buf, &mut self.state);
        out.hits.extend(self.state.hits.iter().map(|hit| Hit {
            rect: hit.rect,
            click: Action::Select { pane: super::SWITCHES, item: Some(hit.id) },
            open: Some(Action::Do(Command::Focus(PaneId::Kind(2)))),
        }));
        if height < area.height {
            let below = self.rows.len() - self.state.visible.end.min(self.rows.len());
            let last = Rect { y: area.y + height, height: 1, ..area };
            if below > 0 {
                let more = format!("    {below} more below");
                line(theme, &[Piece::muted(more)], last, buf);
            } else {
                line(theme, &self.sum, last, buf);
            }
        }
    }

    /// First row shown and rows shown by the last draw.
    pub const fn seen(&self) -> (usize, usize) {
        (self.state.visible.start, self.state.visible.end - self.state.visible.start)
    }

    fn fill(&mut self, facts: &ChangeFacts, width: u16) {
        let forced = facts.switches.iter().any(|switch| switch.forced > 0);
        let number = |title: &'static str, width| Column::right(title, width).gap(1);
        let [add, remove] = signed_widths(facts);
        self.columns =
            vec![number("OCS", 3).gap(0), number("keep", 4), number("add", add), number("rem", remove)];
        if forced {
            self.columns.push(number("lost", 4).priority(1));
        }
        let bars = width.saturating_sub(numbers(facts));
        self.columns.push(Column::left("", bars.max(1)).gap(1).priority(2));
        let most = facts.switches.iter().map(|switch| switch.remove).max().unwrap_or(0);
        // One square for each circuit as long as they have room.
        let squares = |count: u32| match u32::from(bars) {
            room if most <= room => count,
            room => (count * room).div_ceil(most.max(1)),
        };
        let signed = |sign: char, count: u32, tone| match count {
            0 => Piece::new("·", Tone::Faint),
            count => Piece::new(format!("{sign}{count}"), tone).bold(),
        };
        self.rows.clear();
        self.rows.extend((0u32..).zip(&facts.switches).map(|(id, switch)| {
            let mut cells = vec![
                Piece::text(id.to_string()),
                Piece::muted(switch.keep.to_string()),
                signed('+', switch.add, Tone::Good),
                signed('−', switch.remove, Tone::Bad),
            ];
            if forced {
                cells.push(signed('!', switch.forced, Tone::Changed));
            }
            cells.push(Piece::new("■".repeat(squares(switch.remove) as usize), Tone::Bad));
            TableRow::item(id, cells)
        }));
        let sum = |of: fn(&lightbay_engines::crossconnect::rollout::explained::Switch) -> u32| {
            facts.switches.iter().map(|switch| u64::from(of(switch))).sum::<u64>()
        };
        self.sum = vec![
            Piece::muted("   all "),
            Piece::text(sum(|switch| switch.keep).to_string()),
            Piece::new(format!(" +{}", sum(|switch| switch.add)), Tone::Good).bold(),
            Piece::new(format!(" −{}", sum(|switch| switch.remove)), Tone::Bad).bold(),
        ];
        if forced {
            let lost = sum(|switch| switch.forced);
            self.sum.push(Piece::new(format!(" !{lost} at failed ports"), Tone::Changed).bold());
        }
        let item = |id: u32| Item { id, row: id, place: 0.0 };
        self.items = (0..facts.switches.len() as u32).map(item).collect();
    }
}

/// Columns of signed numbers of additions and of removals.
fn signed_widths(facts: &ChangeFacts) -> [u16; 2] {
    let widest = |of: fn(&lightbay_engines::crossconnect::rollout::explained::Switch) -> u32| {
        let most = facts.switches.iter().map(of).max().unwrap_or(0);
        (most.checked_ilog10().unwrap_or(0) as u16 + 2).max(3)
    };
    [widest(|switch| switch.add), widest(|switch| switch.remove)]
}

/// Columns of the list without bars: marks, number of the switch, counts with a blank before each.
fn numbers(facts: &ChangeFacts) -> u16 {
    let forced = facts.switches.iter().any(|switch| switch.forced > 0);
    3 + 3 + 5 + signed_widths(facts).iter().sum::<u16>() + 2 + if forced { 5 } else { 0 } + 1
}
