//! Pane 8: what active flows ask for against circuits, way by way over time; what matters most first.

use super::explained::Explained;
use super::{Choice, Facts, links};
use crate::app::action::{Action, Command};
use crate::app::drawn::{Drawn, Hit, Item, PaneDrawn};
use crate::app::pane::ItemId;
use crate::view::present::rows::{beside, ends, line, row};
use crate::view::present::{PaneInput, Title, below, body, frame, plain};
use lightbay_widgets::{Column, PaneState as Shown, Piece, Strip, Table, TableRow, TableState, Tone, number};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{StatefulWidget, Widget};
use std::sync::Arc;

/// Columns of the figures: with all of them, and with those that never go.
const WIDE: u16 = 57;
const NARROW: u16 = 33;

/// From this width on all figures are shown.
const ALL: u16 = 84;

/// Least columns of a strip.
const STRIP: u16 = 10;

/// Data of the pane, refilled when the plan changes.
#[derive(Debug, Default)]
pub struct ContentionPane {
    of_plan: Option<u64>,
    columns: Vec<Column>,
    rows: Vec<TableRow>,
    items: Arc<[Item]>,
    shares: Vec<f64>,
    table: TableState,
}

impl ContentionPane {
    #[expect(clippy::too_many_arguments, reason = "a pane is drawn from all that it shows")]
    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        facts: &Facts,
        choice: Choice,
        area: Rect,
        buf: &mut Buffer,
        drawn: &mut PaneDrawn,
        out: &mut Drawn,
    ) {
        let theme = &input.app.look.theme;
        if self.of_plan != Some(facts.key) {
            self.of_plan = Some(facts.key);
            self.fill(facts);
        }
        let above = facts.ways.iter().filter(|way| facts.analysis.demand[**way as usize].above_s > 0.0);
        let value = format!("{} of {} oversubscribed", above.count(), facts.ways.len());
        let span = span(input, facts);
        let mut context = facts.title();
        context.push(Piece::muted(input.mode()));
        frame(input, &Title { context, value: vec![Piece::answer(value)] }, Shown::Ready, area, buf);
        let legend = u16::from(area.height >= 9);
        let inner = body(area, 1 + legend);
        let figures = if inner.width >= ALL { WIDE } else { NARROW };
        let strips = inner.width >= figures + 2 + STRIP;
        let (left, right) = if strips { beside(inner, figures, 2) } else { (inner, Rect::ZERO) };
        let chosen = choice.way.and_then(|way| facts.place_of(way)).map(|place| place as ItemId);
        self.table.selected = chosen;
        self.table.offset = input.state.offset;
        (&Table::new(theme, &self.columns, &self.rows)).render(left, buf, &mut self.table);
        if strips {
            let mark = |seconds: f64| Piece::muted(format!("{} s", number::seconds3(seconds).as_str()));
            ends(theme, &[mark(span.0)], &[mark(span.1)], row(right, 0), buf);
            let visible = facts.ways.get(self.table.visible.clone()).unwrap_or(&[]);
            for (at, way) in (1..).zip(visible) {
                self.fill_shares(facts, *way, span, right.width);
                (&Strip::new(theme, &self.shares)).render(row(right, at), buf);
            }
        }
        let sentence = sentence(facts, choice.way);
        let under = below(inner);
        line(theme, &sentence, under, buf);
        if legend > 0 {
            line(theme, &legend_line(), Rect { y: under.y + 1, ..under }, buf);
        }
        drawn.items = Arc::clone(&self.items);
        drawn.page = usize::from(inner.height.saturating_sub(1)).max(1);
        drawn.offset = self.table.offset;
        drawn.chosen = chosen.filter(|_| choice.by_person);
        drawn.sentence = plain(&sentence);
        if input.focused {
            drawn.details = facts.ways.iter().map(|way| plain(&self::sentence(facts, Some(*way)))).collect();
        }
        let pane = drawn.pane;
        out.hits.extend(self.table.hits.iter().map(|hit| Hit {
            rect: Rect { width: inner.width, ..hit.rect },
            click: Action::Select { pane, item: Some(hit.id) },
            open: Some(Action::Do(Command::Inspect)),
        }));
    }

    fn fill(&mut self, facts: &Explained) {
        let ms = |seconds: f64| number::millis(seconds, 1).as_str().to_owned();
        self.columns = vec![
            Column::left("direction", 9).grow(),
            Column::right("peak", 6),
            Column::right("oversub. ms", 11).priority(1),
            Column::right("extra ms", 8).priority(2),
            Column::right("adds ms", 8),
        ];
        self.rows.clear();
        for (place, way) in facts.ways.iter().enumerate() {
            let demand = &facts.analysis.demand[*way as usize];
            let over = demand.peak_flows > demand.circuits;
            let costs = demand.costs_s > 5e-7;
            let peak = format!("{}/{}{}", demand.peak_flows, demand.circuits, if over { "!" } else { "" });
            self.rows.push(TableRow::item(
                place as u32,
                vec![
                    Piece::text(links::way(&facts.analysis.setting.instance, *way)),
                    Piece::new(peak, if over { Tone::Bad } else { Tone::Text }),
                    Piece::muted(ms(demand.above_s)),
                    Piece::muted(ms(demand.late_s)),
                    if costs { Piece::new(ms(demand.costs_s), Tone::Bad).bold() } else { Piece::muted("·") },
                ],
            ));
        }
        self.items =
            (0..facts.ways.len() as u32).map(|place| Item { id: place, row: place, place: 0.0 }).collect();
    }

    /// The most that is asked for within each column, as a share of the circuits.
    fn fill_shares(&mut self, facts: &Explained, way: u32, span: (f64, f64), width: u16) {
        let demand = &facts.analysis.demand[way as usize];
        let circuits = f64::from(demand.circuits.max(1));
        let moment = |column: u16| span.0 + (span.1 - span.0) * f64::from(column) / f64::from(width);
        self.shares.clear();
        self.shares.extend((0..width).map(|x| demand.most_flows(moment(x), moment(x + 1)) / circuits));
    }
}

/// The time that is shown.
fn span(input: &PaneInput<'_>, facts: &Explained) -> (f64, f64) {
    let analysis = &facts.analysis;
    let tail = input.mode() == "tail";
    let from_s = if tail { analysis.events.get(analysis.tail_begins()).copied().unwrap_or(0.0) } else { 0.0 };
    let length = (analysis.makespan_s - from_s).max(f64::MIN_POSITIVE);
    let (first, last) = input.state.window();
    (from_s + first * length, from_s + last * length)
}

fn sentence(facts: &Explained, way: Option<u32>) -> Vec<Piece> {
    let Some(way) = way else { return vec![Piece::muted("nothing selected")] };
    let demand = &facts.analysis.demand[way as usize];
    let ms = |seconds: f64| number::millis(seconds, 1);
    let mut words = vec![
        Piece::answer(format!("> {}", links::way(&facts.analysis.setting.instance, way))),
        Piece::text(format!(
            "  peak {} flows on {}",
            demand.peak_flows,
            super::pieces::circuits(demand.circuits)
        )),
    ];
    if demand.above_s > 0.0 {
        words.push(Piece::muted(format!(", {} ms oversubscribed", ms(demand.above_s).as_str())));
    } else {
        words.push(Piece::muted(", never oversubscribed"));
    }
    words.push(Piece::muted(format!("; {} ms extra transfer time", ms(demand.late_s).as_str())));
    if demand.costs_s > 5e-7 {
        words.push(Piece::muted(", adds "));
        words.push(Piece::new(format!("{} ms", number::signed(demand.costs_s * 1e3, 1)), Tone::Bad).bold());
        words.push(Piece::muted(" to makespan"));
    } else {
        words.push(Piece::muted(", adds nothing to makespan"));
    }
    words
}

fn legend_line() -> Vec<Piece> {
    vec![
        Piece::muted("bar: share of the circuits in demand   "),
        Piece::text("2"),
        Piece::muted(": up to twice, "),
        Piece::text("3"),
        Piece::muted(": three times …"),
    ]
}
