//! Pane 2: how full the channels are, level by level, and the fullest of them with the flows on them.

use super::{Explained, Yard, no_routes, words};
use crate::app::action::{Action, Command};
use crate::app::drawn::{Drawn, Hit, Item, PaneDrawn};
use crate::app::pane::ItemId;
use crate::view::present::rows::{beside, ends, from, line, row};
use crate::view::present::{PaneInput, Title, below, body, frame, plain};
use lightbay_engines::tpu::analysis::loads::{Level, RoutedFlow, is_optical, levels};
use lightbay_widgets::{
    Column, Meter, PaneState as Shown, Part, Piece, Table, TableRow, TableState, Tone, number,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{StatefulWidget, Widget};
use std::sync::Arc;

/// Levels that are told apart; more are put into bins.
const LEVELS: usize = 12;

/// Arcs in the list of the fullest.
const HOTTEST: usize = 512;

/// From this width on the list stands beside the levels.
const BOTH: u16 = 72;

/// Flows named in the details of an arc.
const NAMED: usize = 400;

/// Data of the pane, refilled when the plan changes.
#[derive(Debug, Default)]
pub struct ChannelPane {
    of: Option<(u64, u16)>,
    levels: Vec<Level>,
    hottest: Vec<u32>,
    items: Arc<[Item]>,
    table: TableState,
}

/// What arcs are measured against.
struct Ideal {
    mean: f64,
    /// No routes of the pod can keep below this: `1 / mcf_upper`.
    least: f64,
}

impl ChannelPane {
    #[expect(clippy::too_many_arguments, reason = "a pane is drawn from all that it shows")]
    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        plan: &Explained,
        yard: Option<&Yard>,
        flows: Option<&[RoutedFlow]>,
        area: Rect,
        buf: &mut Buffer,
        drawn: &mut PaneDrawn,
        out: &mut Drawn,
    ) {
        let Some(routes) = &plan.facts.routes else { return no_routes(input, plan, area, buf) };
        let totals = &routes.totals;
        let sum: u64 = totals.iter().map(|&load| u64::from(load)).sum();
        let ideal =
            Ideal { mean: sum as f64 / totals.len().max(1) as f64, least: 1.0 / plan.facts.claims.mcf_upper };
        let times = routes.most as f64 / ideal.least;
        let mut value = vec![Piece::muted("max "), Piece::answer(number::count(routes.most))];
        if area.width >= 44 {
            value.extend([
                Piece::muted(" = "),
                Piece::answer(number::fixed(times, 3)),
                Piece::muted(" of ideal"),
            ]);
        }
        let unit = if routes.after.each > 1 { "classes" } else { "channels" };
        let context = vec![Piece::muted(format!("{} {unit}", totals.len()))];
        frame(input, &Title { context, value }, Shown::Ready, area, buf);
        let inner = body(area, 1);
        if inner.is_empty() {
            return;
        }
        let room = inner.height.min(LEVELS as u16).max(1);
        if self.of != Some((plan.key, room)) {
            self.of = Some((plan.key, room));
            self.fill(totals, usize::from(room));
        }
        let selected = input.state.selected.filter(|id| (*id as usize) < totals.len());
        let selected = selected.or_else(|| self.hottest.first().copied());
        let wide = inner.width >= BOTH;
        let left_width = if wide { (inner.width * 9 / 20).max(34) } else { inner.width };
        let (left, right) = beside(inner, left_width, 3);
        self.draw_levels(input, &ideal, left, buf);
        if wide {
            self.draw_list(input, plan, flows, selected, &ideal, right, buf, out);
        } else {
            let rest = from(inner, self.levels.len() as u16 + 2);
            if rest.height >= 3 {
                Self::draw_tori(input, yard, from(inner, self.levels.len() as u16), buf);
                self.draw_list(input, plan, flows, selected, &ideal, rest, buf, out);
            }
        }
        if wide {
            Self::draw_tori(input, yard, from(left, self.levels.len() as u16 + 1), buf);
        }
        let sentence = Self::sentence(plan, flows, selected, &ideal);
        line(&input.app.look.theme, &sentence, below(inner), buf);
        drawn.items = Arc::clone(&self.items);
        drawn.page = usize::from(inner.height.saturating_sub(1));
        drawn.offset = self.table.offset;
        drawn.sentence = plain(&sentence);
        drawn.details = Self::details(plan, flows, selected, &ideal);
    }

    fn fill(&mut self, totals: &[u32], room: usize) {
        self.levels = levels(totals, room);
        let mut arcs: Vec<u32> = (0..totals.len() as u32).collect();
        arcs.sort_by(|a, b| totals[*b as usize].cmp(&totals[*a as usize]).then(a.cmp(b)));
        arcs.truncate(HOTTEST);
        self.items = (0..).zip(&arcs).map(|(row, &id)| Item { id, row, place: 0.0 }).collect();
        self.hottest = arcs;
    }

    fn draw_levels(&self, input: &PaneInput<'_>, ideal: &Ideal, area: Rect, buf: &mut Buffer) {
        let theme = &input.app.look.theme;
        let name = |level: &Level| match level.load {
            (low, high) if low == high => low.to_string(),
            (low, high) => format!("{low}-{high}"),
        };
        let label = self.levels.iter().map(|level| name(level).len()).max().unwrap_or(1) as u16;
        let most = self.levels.iter().map(|level| level.electrical + level.optical).max().unwrap_or(1);
        // The word of a line needs its number and a name.
        let words = 13.min(area.width.saturating_sub(label + 8));
        let width = area.width.saturating_sub(label + 1 + words + 6);
        let inside = |level: &Level, value: f64| {
            f64::from(level.load.0) - 0.5 <= value && value < f64::from(level.load.1) + 0.5
        };
        // Where no level holds a value its line stands at the lowest one above it.
        let home = |value: f64| {
            let exact = self.levels.iter().position(|level| inside(level, value));
            exact.or_else(|| self.levels.iter().rposition(|level| f64::from(level.load.1) >= value))
        };
        let (mean_at, least_at) = (home(ideal.mean), home(ideal.least));
        for (at, level) in self.levels.iter().enumerate() {
            let strip = row(area, at as u16);
            if strip.is_empty() {
                break;
            }
            let count = level.electrical + level.optical;
            let text = format!("{:>width$}", name(level), width = usize::from(label));
            let hot = at == 0;
            line(theme, &[if hot { Piece::answer(text) } else { Piece::muted(text) }], strip, buf);
            let bar = Rect { x: strip.x + label + 1, width: width.min(strip.width), ..strip };
            let parts = [
                Part::new(level.electrical as f64, Tone::Muted, '#'),
                Part::new(level.optical as f64, Tone::Series(4), 'o'),
            ];
            (&Meter::new(theme, &parts, most as f64)).render(bar, buf);
            let used = (count as f64 / most as f64 * f64::from(width)).ceil() as u16;
            let after = bar.x + used.min(width) + 1;
            let rest = Rect { x: after, width: strip.right().saturating_sub(after), ..strip };
            let mut words = Vec::new();
            if hot {
                words.push(Piece::answer("max"));
            }
            if mean_at == Some(at) {
                words.push(Piece::muted(if words.is_empty() { "mean " } else { ", mean " }));
                words.push(Piece::text(number::fixed(ideal.mean, 1)));
            }
            if least_at == Some(at) {
                words.push(Piece::muted(if words.is_empty() { "1/MCF " } else { ", 1/MCF " }));
                words.push(Piece::new(number::fixed(ideal.least, 1), Tone::Good));
            }
            ends(theme, &[Piece::text(count.to_string())], &words, rest, buf);
        }
    }

    /// What the same demand does on the tori, and what the bars are made of.
    fn draw_tori(input: &PaneInput<'_>, yard: Option<&Yard>, area: Rect, buf: &mut Buffer) {
        let theme = &input.app.look.theme;
        let square = theme.glyphs.left_eighths[7];
        let (electrical, optical) = if theme.is_ascii() { ("#", "o") } else { (square, square) };
        let legend = [
            Piece::new(electrical, Tone::Muted),
            Piece::muted(" electrical  "),
            Piece::new(optical, Tone::Series(4)),
            Piece::muted(" optical"),
        ];
        line(theme, &legend, row(area, 0), buf);
        let mut tori = vec![Piece::muted("DOR")];
        for torus in yard.iter().flat_map(|yard| &yard.tori) {
            if let Some(routes) = &torus.routes {
                tori.push(Piece::muted(format!(" {} max ", torus.name)));
                tori.push(Piece::text(routes.most.to_string()));
            }
        }
        if tori.len() > 1 {
            line(theme, &tori, row(area, 1), buf);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "where it goes and what it shows")]
    fn draw_list(
        &mut self,
        input: &PaneInput<'_>,
        plan: &Explained,
        flows: Option<&[RoutedFlow]>,
        selected: Option<u32>,
        ideal: &Ideal,
        area: Rect,
        buf: &mut Buffer,
        out: &mut Drawn,
    ) {
        let theme = &input.app.look.theme;
        if input.mode() == "flows" {
            return Self::draw_flows(input, flows, selected, area, buf);
        }
        let Some(routes) = &plan.facts.routes else { return };
        let symmetric = routes.after.each > 1;
        let head = [
            Column::left(if symmetric { "fullest classes" } else { "fullest channels" }, 12).grow(),
            Column::left("", 10).priority(2),
            Column::right("load", 6),
            Column::right("over ideal", 10).priority(1),
            Column::right("vc0 / vc1", 11).priority(3),
        ];
        // Only what can be seen is made: the list may have hundreds of rows.
        let shown = usize::from(area.height.saturating_sub(1));
        let at = selected.and_then(|id| self.hottest.iter().position(|arc| *arc == id));
        let follow = input.state.selected.and(at);
        let offset = lightbay_widgets::scroll::follow(input.state.offset, follow, shown, self.hottest.len());
        let rows: Vec<TableRow> = self
            .hottest
            .iter()
            .skip(offset)
            .take(shown)
            .map(|&arc| {
                let load = routes.totals[arc as usize];
                let by_vc: Vec<String> =
                    routes.after.vc.iter().map(|loads| format!("{:>3}", loads[arc as usize])).collect();
                let carrier = words::carrier(arc as usize % lightbay_engines::tpu::model::pod::ARC_CLASSES);
                let tone = if is_optical(arc as usize) { Tone::Series(4) } else { Tone::Muted };
                TableRow::item(
                    arc,
                    vec![
                        Piece::text(arc_name(arc, symmetric)),
                        Piece::new(carrier, tone),
                        Piece::answer(load.to_string()),
                        Piece::text(over(load, ideal)),
                        Piece::muted(by_vc.join(" / ")),
                    ],
                )
            })
            .collect();
        self.table.selected = selected;
        self.table.offset = 0;
        (&Table::new(theme, &head, &rows)).render(area, buf, &mut self.table);
        self.table.offset = offset;
        let pane = input.pane;
        out.hits.extend(self.table.hits.iter().map(|hit| Hit {
            rect: hit.rect,
            click: Action::Select { pane, item: Some(hit.id) },
            open: Some(Action::Do(Command::Inspect)),
        }));
    }

    /// The flows on the selected arc.
    fn draw_flows(
        input: &PaneInput<'_>,
        flows: Option<&[RoutedFlow]>,
        selected: Option<ItemId>,
        area: Rect,
        buf: &mut Buffer,
    ) {
        let theme = &input.app.look.theme;
        let name = selected.map_or_else(String::new, |arc| {
            words::arc(arc as usize % lightbay_engines::tpu::model::pod::ARC_CLASSES)
        });
        let Some(flows) = flows else {
            return line(theme, &[Piece::muted(format!("counting the flows on {name}"))], area, buf);
        };
        let head = format!("flows on {name}");
        let count = [Piece::answer(flows.len().to_string())];
        ends(theme, &[Piece::muted(head)], &count, row(area, 0), buf);
        for (at, flow) in (1..area.height).zip(flows) {
            line(theme, &flow_pieces(flow, theme.glyphs.arrow), row(area, at), buf);
        }
    }

    fn sentence(
        plan: &Explained,
        flows: Option<&[RoutedFlow]>,
        selected: Option<ItemId>,
        ideal: &Ideal,
    ) -> Vec<Piece> {
        let (Some(routes), Some(arc)) = (&plan.facts.routes, selected) else {
            return vec![Piece::muted("no channel selected")];
        };
        let load = routes.totals[arc as usize];
        let mut pieces = vec![
            Piece::answer(format!("> {}", arc_name(arc, routes.after.each > 1))),
            Piece::new(
                format!(
                    "  {}",
                    words::carrier(arc as usize % lightbay_engines::tpu::model::pod::ARC_CLASSES)
                ),
                if is_optical(arc as usize) { Tone::Series(4) } else { Tone::Muted },
            ),
            Piece::muted("  load "),
            Piece::answer(load.to_string()),
            Piece::text(format!("  {} over ideal", over(load, ideal))),
        ];
        for (vc, loads) in routes.after.vc.iter().enumerate() {
            pieces.push(Piece::muted(format!("  vc{vc} ")));
            pieces.push(Piece::text(loads[arc as usize].to_string()));
        }
        if let Some(flow) = flows.and_then(<[RoutedFlow]>::first) {
            let longest = flows.iter().flat_map(|flows| flows.iter()).map(|flow| flow.hops).max();
            pieces.push(Piece::muted("  flows of up to "));
            pieces.push(Piece::text(format!("{} hops", longest.unwrap_or(flow.hops))));
        }
        pieces
    }

    fn details(
        plan: &Explained,
        flows: Option<&[RoutedFlow]>,
        selected: Option<ItemId>,
        ideal: &Ideal,
    ) -> Vec<String> {
        let (Some(routes), Some(arc)) = (&plan.facts.routes, selected) else { return Vec::new() };
        let load = routes.totals[arc as usize];
        let mut lines = vec![
            format!(
                "{} over {}",
                arc_name(arc, routes.after.each > 1),
                words::carrier(arc as usize % lightbay_engines::tpu::model::pod::ARC_CLASSES)
            ),
            format!("load {load}, {} over 1/MCF {:.1}", over(load, ideal), ideal.least),
        ];
        match flows {
            Some(flows) => {
                let image = if routes.after.each > 1 { ", and as many from every other cube" } else { "" };
                lines.push(format!("{} flows{image}:", flows.len()));
                lines.extend(flows.iter().take(NAMED).map(|flow| plain(&flow_pieces(flow, "→"))));
                if flows.len() > NAMED {
                    lines.push(format!("and {} more", flows.len() - NAMED));
                }
            }
            None => lines.push("select it to see the flows on it".to_owned()),
        }
        lines
    }
}

/// `3 (2,0,0) → 1 (0,1,2)  hop 2 of 4  vc0`.
pub(super) fn flow_pieces(flow: &RoutedFlow, arrow: &str) -> Vec<Piece> {
    vec![
        Piece::text(format!("{} {arrow} {}", words::node(flow.source), words::node(flow.target))),
        Piece::muted(format!("  hop {} of {}", flow.before + 1, flow.hops)),
        Piece::muted(format!("  vc{}", flow.vc)),
    ]
}

pub(super) fn arc_name(arc: u32, symmetric: bool) -> String {
    use lightbay_engines::tpu::model::pod::ARC_CLASSES;
    let arc = arc as usize;
    if symmetric {
        words::arc(arc)
    } else {
        format!("{} {}", arc / ARC_CLASSES, words::arc(arc % ARC_CLASSES))
    }
}

/// `+2.5 %`: how far a load is above what is unavoidable.
fn over(load: u32, ideal: &Ideal) -> String {
    format!("{} %", number::signed((f64::from(load) / ideal.least - 1.0) * 100.0, 1))
}
