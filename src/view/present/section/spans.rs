//! Intervals of time by lane, on one axis.

use super::{item_id, report_hits};
use crate::app::drawn::{Drawn, Item};
use crate::app::pane::ItemId;
use crate::view::present::PaneInput;
use lightbay_core::report::text::number;
use lightbay_core::report::{Phrase, Spans, Tone as Meaning, Unit};
use lightbay_widgets::{AxisPart, ItemShape, Lane, Timeline, TimelineItem, TimelineState};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::StatefulWidget;

/// Spans on the screen.
#[derive(Debug)]
pub struct SpansView {
    lanes: Vec<Lane>,
    items: Vec<TimelineItem>,
    end_s: f64,
    state: TimelineState,
}

impl SpansView {
    /// Prepares the spans of a block, given by its index. Spans of a lane that overlap stand in rows of their own.
    pub fn new(block: usize, spans: &Spans) -> Self {
        let (mut lanes, mut items) = (Vec::new(), Vec::new());
        for (lane, of) in spans.lanes.iter().enumerate() {
            // The end of the last span of each row of the lane.
            let mut ends_s: Vec<f64> = Vec::new();
            for span in &of.spans {
                let row = ends_s.iter().position(|end_s| *end_s <= span.start_s).unwrap_or(ends_s.len());
                if row == ends_s.len() {
                    ends_s.push(span.end_s);
                } else {
                    ends_s[row] = span.end_s;
                }
                items.push(TimelineItem {
                    id: span.item.unwrap_or_else(|| item_id(block, items.len())),
                    lane,
                    row: row as u16,
                    start_s: span.start_s,
                    end_s: span.end_s,
                    name: span.name.clone().into(),
                    shape: ItemShape::Bar,
                    critical: span.tone == Meaning::Bad,
                });
            }
            lanes.push(Lane {
                id: lane as u32,
                name: of.name.clone().into(),
                rows: ends_s.len().max(1) as u16,
                ..Lane::default()
            });
        }
        items.sort_by(|a, b| {
            a.lane.cmp(&b.lane).then(a.row.cmp(&b.row)).then(a.start_s.total_cmp(&b.start_s))
        });
        Self { lanes, items, end_s: spans.end_s, state: TimelineState::default() }
    }

    /// Rows that it takes with its axis.
    pub fn rows(&self) -> u16 {
        self.lanes.iter().map(|lane| lane.rows).sum::<u16>() + 1
    }

    /// Its items; `first` is the row of the first of them.
    pub fn items(&self, first: u32) -> impl Iterator<Item = Item> + '_ {
        let mut tops = Vec::with_capacity(self.lanes.len());
        let mut top = first;
        for lane in &self.lanes {
            tops.push(top);
            top += u32::from(lane.rows);
        }
        self.items.iter().map(move |item| Item {
            id: item.id,
            row: tops[item.lane] + u32::from(item.row),
            place: item.start_s as f32,
        })
    }

    /// The sentence on a span.
    pub fn sentence(&self, id: ItemId) -> Option<Phrase> {
        let item = self.items.iter().find(|item| item.id == id)?;
        let seconds = |value: f64| format!("{} s", number(value, Unit::SECONDS));
        let lane = self.lanes.get(item.lane)?;
        Some(
            Phrase::new()
                .answer(format!("> {}", item.name.as_ref()))
                .muted(format!("  {}  ", lane.name.as_ref()))
                .text(format!("{} to {}", seconds(item.start_s), seconds(item.end_s)))
                .muted(format!("  {}", seconds(item.end_s - item.start_s))),
        )
    }

    pub fn draw(&mut self, input: &PaneInput<'_>, area: Rect, buf: &mut Buffer, out: &mut Drawn) {
        let (first, last) = input.state.window();
        let parts = [AxisPart::Span { from_s: first * self.end_s, to_s: last * self.end_s, weight: 1 }];
        self.state.selected = input.state.selected.filter(|_| input.focused);
        self.state.offset = input.state.offset;
        let timeline = Timeline::new(&input.app.look.theme, &parts, &self.lanes, &self.items);
        timeline.render(area, buf, &mut self.state);
        report_hits(input, &self.state.hits, |id, _| id, out);
    }
}
