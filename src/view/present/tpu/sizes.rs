//! Pane 6: throughput per chip over sizes: what was designed in this session, the tori, and what any pod could reach.

use crate::app::drawn::{Item, PaneDrawn};
use crate::app::plans::PlanEntry;
use crate::app::state::App;
use crate::view::figures::bound_for;
use crate::view::present::rows::{from, line};
use crate::view::present::{PaneInput, Title, below, body, frame, plain};
use lightbay_engines::tpu::analysis::tori::SizeRow;
use lightbay_widgets::{
    Axis, Baseline, Chart, Column, Meter, PaneState as Shown, Part, Piece, Series, Table, TableRow,
    TableState, Tone, number, scroll,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{StatefulWidget, Widget};
use std::collections::BTreeMap;
use std::sync::Arc;

/// From this size on curves stand above the table.
const CHART: (u16, u16) = (60, 24);

/// A bar of the share of the bound takes this much.
const BAR: u16 = 9;

/// Chips and throughput per chip of a design; `None` for a torus.
fn design(entry: &PlanEntry) -> Option<(usize, f64)> {
    let &rate = entry.metrics.get("n_mcf").filter(|_| entry.method != "pt" && entry.method != "pdtt")?;
    // The figure is n times the objective.
    (rate.is_finite() && rate > 0.0 && entry.value > 0.0)
        .then(|| ((rate / entry.value).round() as usize, rate))
}

/// The best designs of a session by chips: throughput per chip, and the number of the plan. At its own size the plan
/// that is shown stands, so that all panes speak of one plan.
pub fn designs(app: &App) -> BTreeMap<usize, (f64, u64)> {
    let mut best = BTreeMap::<usize, (f64, u64)>::new();
    for entry in app.plans.iter() {
        let Some((chips, rate)) = design(entry) else { continue };
        let known = best.entry(chips).or_insert((rate, entry.number));
        if rate >= known.0 {
            *known = (rate, entry.number);
        }
    }
    if let Some((entry, (chips, rate))) = app.plans.shown().and_then(|entry| Some((entry, design(entry)?))) {
        best.insert(chips, (rate, entry.number));
    }
    best
}

/// The sizes with the best bounds known: the one in closed form, or what was proven of the plan shown.
fn bounded(app: &App, sizes: &[SizeRow]) -> Vec<SizeRow> {
    let shown = app.plans.shown().and_then(|entry| Some((design(entry)?.0, bound_for(app, entry)?)));
    let better = |row: &SizeRow| match shown {
        Some((chips, bound)) if chips == row.chips => row.bound.min(bound * chips as f64),
        _ => row.bound,
    };
    sizes.iter().map(|row| SizeRow { bound: better(row), ..*row }).collect()
}

/// Data of the pane.
#[derive(Debug, Default)]
pub struct SizesPane {
    table: TableState,
}

impl SizesPane {
    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        sizes: Option<&[SizeRow]>,
        chips: usize,
        area: Rect,
        buf: &mut Buffer,
        drawn: &mut PaneDrawn,
    ) {
        let theme = &input.app.look.theme;
        let times = theme.glyphs.times;
        let sizes = sizes.map(|sizes| bounded(input.app, sizes));
        let sizes = sizes.as_deref();
        let designs = designs(input.app);
        let own = designs.get(&chips);
        let bound = |chips: usize| sizes?.iter().find(|row| row.chips == chips).map(|row| row.bound);
        let value = match own.zip(bound(chips)) {
            Some(((rate, _), bound)) => vec![
                Piece::answer(format!("{} %", number::percent(rate / bound, 1))),
                Piece::muted(" of the bound"),
            ],
            None => vec![Piece::muted(format!("n {times} MCF"))],
        };
        let title = Title { context: vec![Piece::muted(format!("per chip, n {times} MCF"))], value };
        let Some(sizes) = sizes else {
            return frame(input, &title, Shown::Waiting("the tori of all sizes"), area, buf);
        };
        frame(input, &title, Shown::Ready, area, buf);
        let inner = body(area, u16::from(area.height >= 8));
        if inner.is_empty() {
            return;
        }
        let only = input.mode() == "table";
        let chart = !only && inner.width >= CHART.0 && inner.height >= CHART.1;
        let table_rows = sizes.len() as u16 + 1;
        let lower = if chart {
            let height = inner.height.saturating_sub(table_rows + 1).max(8);
            draw_chart(input, sizes, &designs, Rect { height, ..inner }, buf);
            from(inner, height + 1)
        } else {
            inner
        };
        self.draw_table(input, sizes, &designs, chips, lower, buf);
        drawn.items = (0..)
            .zip(sizes)
            .map(|(row, size)| Item { id: size.chips as u32, row, place: 0.0 })
            .collect::<Arc<[_]>>();
        drawn.page = usize::from(lower.height.saturating_sub(1));
        drawn.offset = self.table.offset;
        let at = input.state.selected.map_or(chips, |id| id as usize);
        let row = sizes.iter().find(|row| row.chips == at).or_else(|| sizes.first());
        let sentence = row.map_or_else(Vec::new, |row| sentence(row, designs.get(&row.chips).copied()));
        if area.height >= 8 {
            line(theme, &sentence, below(inner), buf);
        }
        drawn.sentence = plain(&sentence);
        drawn.details =
            sizes.iter().map(|row| plain(&self::sentence(row, designs.get(&row.chips).copied()))).collect();
    }

    fn draw_table(
        &mut self,
        input: &PaneInput<'_>,
        sizes: &[SizeRow],
        designs: &BTreeMap<usize, (f64, u64)>,
        chips: usize,
        area: Rect,
        buf: &mut Buffer,
    ) {
        let theme = &input.app.look.theme;
        let bars = area.width >= 56;
        let head = [
            Column::right("chips", 6),
            Column::right("design", 7),
            Column::right("PDTT", 6).priority(1),
            Column::right("PT", 6).priority(2),
            Column::right("bound", 6),
            Column::right("", if bars { BAR } else { 0 }).priority(4).gap(if bars { 2 } else { 0 }),
            Column::right("of bound", 10).priority(3),
        ];
        let rate = |value: Option<f64>| {
            value.map_or_else(|| number::UNKNOWN.to_owned(), |v| number::fixed(v, 3).into())
        };
        let shown = usize::from(area.height.saturating_sub(1)).max(1);
        let own = sizes.iter().position(|row| row.chips == chips);
        let at = input.state.selected.and_then(|id| sizes.iter().position(|row| row.chips == id as usize));
        // The size that is open stays in view until a person goes elsewhere.
        let offset = match at {
            Some(_) => scroll::follow(input.state.offset, at, shown, sizes.len()),
            None => own.map_or(0, |own| own.saturating_sub(shown / 2)).min(sizes.len().saturating_sub(shown)),
        };
        let visible = &sizes[offset..sizes.len().min(offset + shown)];
        let rows: Vec<TableRow> = visible
            .iter()
            .map(|row| {
                let design = designs.get(&row.chips).map(|design| design.0);
                let present = row.chips == chips;
                let cell = |text: String| if present { Piece::answer(text) } else { Piece::text(text) };
                let share = design.map(|rate| rate / row.bound);
                let best = [row.pdtt, Some(row.pt)].into_iter().flatten().fold(0.0, f64::max) / row.bound;
                let shown = match share {
                    Some(share) => cell(format!("{} %", number::percent(share, 0))),
                    // What the best torus reaches says where a design would begin.
                    None => Piece::muted(format!("torus {} %", number::percent(best, 0))),
                };
                TableRow::item(
                    row.chips as u32,
                    vec![
                        cell(row.chips.to_string()),
                        cell(rate(design)),
                        Piece::muted(rate(row.pdtt)),
                        Piece::muted(rate(Some(row.pt))),
                        Piece::text(rate(Some(row.bound))),
                        Piece::text(""),
                        shown,
                    ],
                )
            })
            .collect();
        self.table.selected = input.state.selected.or(Some(chips as u32)).filter(|_| input.focused);
        self.table.offset = 0;
        (&Table::new(theme, &head, &rows)).render(area, buf, &mut self.table);
        self.table.offset = offset;
        if bars {
            // The bars stand in the column that was kept free for them.
            let x = area.x + 2 + 6 + 2 + 7 + 2 + 6 + 2 + 6 + 2 + 6 + 2;
            for (y, row) in (area.y + 1..area.bottom()).zip(visible) {
                let design = designs.get(&row.chips).map(|design| design.0);
                let best = [row.pdtt, Some(row.pt)].into_iter().flatten().fold(0.0, f64::max);
                let (value, tone) = match design {
                    Some(rate) if row.chips == chips => (rate, Tone::Good),
                    Some(rate) => (rate, Tone::Muted),
                    None => (best, Tone::Rule),
                };
                let place = Rect { x, y, width: BAR, height: 1 };
                (&Meter::new(theme, &[Part::new(value, tone, '#')], row.bound).track(true))
                    .render(place, buf);
            }
        }
    }
}

fn draw_chart(
    input: &PaneInput<'_>,
    sizes: &[SizeRow],
    designs: &BTreeMap<usize, (f64, u64)>,
    area: Rect,
    buf: &mut Buffer,
) {
    let at = |row: &SizeRow| row.chips as f64;
    let design: Vec<(f64, f64)> = designs.iter().map(|(chips, (rate, _))| (*chips as f64, *rate)).collect();
    let points = |of: &dyn Fn(&SizeRow) -> Option<f64>| -> Vec<(f64, f64)> {
        sizes.iter().filter_map(|row| Some((at(row), of(row)?))).collect()
    };
    let mut series = Vec::new();
    if !design.is_empty() {
        series.push(Series::new("design", 'D', Tone::Good).points(design).bold());
    }
    series.push(Series::new("any pod", 'B', Tone::Answer).points(points(&|row| Some(row.bound))));
    series.push(Series::new("PDTT", 'T', Tone::Series(1)).points(points(&|row| row.pdtt)));
    series.push(Series::new("PT", 'P', Tone::Series(2)).points(points(&|row| Some(row.pt))));
    let none: [Baseline; 0] = [];
    let most = sizes.iter().map(|row| row.bound).fold(1.0, f64::max);
    (&Chart::new(&input.app.look.theme, &series, Axis::log("chips"), Axis::linear("").bounds(0.0, most))
        .baselines(&none))
        .render(area, buf);
}

fn sentence(row: &SizeRow, design: Option<(f64, u64)>) -> Vec<Piece> {
    let mut pieces = vec![Piece::answer(format!("> {} chips", row.chips))];
    if let Some((rate, plan)) = design {
        pieces.push(Piece::muted(format!("  plan {plan} ")));
        pieces.push(Piece::answer(number::fixed(rate, 3)));
        pieces.push(Piece::muted(format!(
            "  {} % of {}",
            number::percent(rate / row.bound, 1),
            number::fixed(row.bound, 3)
        )));
        if let Some(pdtt) = row.pdtt {
            pieces.push(Piece::text(format!("  x{} PDTT", number::fixed(rate / pdtt, 2))));
        }
        pieces.push(Piece::text(format!("  x{} PT", number::fixed(rate / row.pt, 2))));
    } else {
        pieces.push(Piece::muted("  not designed in this session; "));
        if let Some(pdtt) = row.pdtt {
            pieces.push(Piece::text(format!("PDTT {}  ", number::fixed(pdtt, 3))));
        }
        pieces.push(Piece::text(format!("PT {}", number::fixed(row.pt, 3))));
        pieces.push(Piece::muted(format!("  any pod at most {}", number::fixed(row.bound, 3))));
    }
    pieces
}
