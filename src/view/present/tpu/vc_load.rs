//! For each set of routes: the number of hops on each virtual channel as bars, and the distribution of the channels by
//! load.

use crate::app::action::Command;
use crate::app::drawn::{Drawn, Item, PaneDrawn};
use crate::app::pane::ItemId;
use crate::view::present::rows::{beside, columns, ends, from, line, row};
use crate::view::present::tpu::{ExplainedPod, Tori, named, no_routes};
use crate::view::present::{PaneInput, Title, below, body, frame, plain};
use lightbay_engines::tpu::analysis::sides::{Side, of_tori, sides};
use lightbay_engines::tpu::analysis::tori::ROUTED_CUBES;
use lightbay_engines::tpu::model::pod::CHIPS;
use lightbay_widgets::{
    Column, Columns, Label, Meter, PaneState as Shown, Part, Piece, Range, Scale, Spread, Table, TableRow,
    TableState, Tone, number,
};
use pieces::{head, letter, name_piece, ratio_pieces, tone};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{StatefulWidget, Widget};
use std::sync::Arc;

mod pieces;

/// Number of columns of the bars with their numbers, next to the distributions.
const BARS: u16 = 32;

/// Minimum width at which distributions are next to the bars.
const BOTH: u16 = 66;

/// Minimum size at which the figures of all channels are drawn below the distributions.
const WHOLE: (u16, u16) = (100, 28);

/// Width of a pane below which its title is abbreviated.
const NARROW: u16 = 70;

/// Number of rows of a plot with its heading and axis, up to which columns beyond the plan's get no extra height.
const LOW: u16 = 5;

/// Number of columns of the scale of shares.
const SCALE: u16 = 4;

/// Factor by which the bars of a plan leave room for those of the tori, until these are known.
const BEFORE_TORI: f64 = 1.5;

/// Factor of a channel in an item's id: the last two digits of the id are the virtual channel.
const STRIDE: ItemId = 100;

/// The displayed plan, `true` if it has routes, the number of tori, and the baseline plan.
type PlanKey = (u64, bool, usize, Option<u64>);

/// Data of the pane, refilled when the plan changes or the routes of another torus arrive.
#[derive(Debug, Default)]
pub struct VcPane {
    of: Option<PlanKey>,
    sides: Vec<Side>,
    items: Arc<[Item]>,
    spreads: Vec<Vec<Spread>>,
    spread_of: Option<(PlanKey, u16, usize)>,
    /// Number of hops for which a bar is full.
    full: f64,
    table: TableState,
}

/// The routes of the baseline plan, which are compared with the routes of the displayed plan.
#[derive(Clone, Debug)]
pub struct BaselineRoutes<'a> {
    /// The explained baseline.
    pub plan: &'a ExplainedPod,
    /// Name of the baseline: `B 3 tons-fast`.
    pub name: String,
}

/// What the routes of a plan are compared with, and whether they are current.
pub struct ComparedRoutes<'a> {
    /// The tori of the same size.
    pub tori: Option<&'a Tori>,
    /// The baseline plan.
    pub baseline: Option<&'a BaselineRoutes<'a>>,
    /// `true` while the routes of the plan are being estimated; the tori are shown until then.
    pub waits: bool,
    /// Key of the displayed plan, if the routes belong to an earlier plan.
    pub newer: Option<u64>,
}

impl BaselineRoutes<'_> {
    /// Returns the final routes of the baseline; `None` if the baseline has no routes.
    fn side(&self) -> Option<Side> {
        let own = sides(self.plan.facts.routes.as_ref()?, self.plan.by_dimension, None);
        let side = own.into_iter().find(|side| side.present)?;
        let short = self.name.rsplit_once(' ').map_or(self.name.as_str(), |(number, _)| number).to_owned();
        Some(Side { name: self.name.clone(), short, present: false, ..side })
    }
}

impl VcPane {
    #[expect(clippy::too_many_arguments, reason = "the pane draws all of these values")]
    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        plan: Option<&ExplainedPod>,
        compared: &ComparedRoutes<'_>,
        area: Rect,
        buf: &mut Buffer,
        drawn: &mut PaneDrawn,
        out: &mut Drawn,
    ) {
        let ComparedRoutes { tori, baseline, waits, newer } = *compared;
        let key = plan.map_or(0, |plan| plan.key);
        let routed = plan.and_then(|plan| Some((plan, plan.facts.routes.as_ref()?)));
        let routes = routed.map(|(_, routes)| routes);
        let count = tori.map_or(0, |tori| tori.tori.len() + 1);
        let of = (key, routes.is_some(), count, baseline.map(|baseline| baseline.plan.key));
        if self.of != Some(of) {
            self.of = Some(of);
            self.sides = match routed {
                Some((plan, routes)) => sides(routes, plan.by_dimension, tori),
                None => tori.filter(|_| waits).map_or_else(Vec::new, of_tori),
            };
            // The baseline comes after the plan and before the tori, which are dropped first if space is short.
            if let Some(side) = baseline.and_then(BaselineRoutes::side) {
                let after = self.sides.iter().position(|side| side.present).map_or(0, |at| at + 1);
                self.sides.insert(after, side);
            }
            self.items = self.items();
            let most = self.sides.iter().flat_map(|side| &side.hops).copied().max().unwrap_or(0) as f64;
            self.full = if tori.is_some() { most } else { BEFORE_TORI * most };
        }
        if self.sides.is_empty() {
            return match plan.filter(|_| !waits) {
                Some(plan) => no_routes(input, plan, area, buf),
                None => {
                    frame(input, &Title::default(), Shown::Waiting("an estimate of the routes"), area, buf);
                }
            };
        }
        let mut value = Vec::new();
        if let Some(routes) = routes.filter(|routes| routes.hops.len() > 1) {
            value.push(Piece::muted("min/max "));
            if let Some(before) = routes.ratio_before().filter(|_| area.width >= NARROW) {
                let arrow = format!(" {} ", input.app.look.theme.glyphs.arrow);
                value.extend([Piece::muted(number::fixed(before, 2)), Piece::muted(arrow)]);
            }
            value.push(Piece::answer(number::fixed(routes.ratio().unwrap_or(f64::NAN), 2)));
        }
        let unrouted = tori.is_some_and(|tori| tori.cubes > ROUTED_CUBES);
        let limit = ROUTED_CUBES * CHIPS;
        let remark = format!("; tori of more than {limit} chips are not routed for comparison");
        let remark = if unrouted { &*remark } else { "" };
        let context = if plan.is_none() {
            vec![Piece::muted("tori only, no plan yet")]
        } else if routes.is_none() {
            vec![Piece::muted("waiting for the routes").bold(), Piece::muted("  tori only")]
        } else if let Some(newer) = newer {
            vec![Piece::new(format!("{}, drawing {}", named(key), named(newer)), Tone::Changed)]
        } else if plan.is_some_and(|plan| plan.is_estimate) {
            let words =
                if area.width < NARROW { "estimate" } else { "estimate: one routing pass, no routes yet" };
            vec![Piece::muted(words).bold()]
        } else {
            vec![Piece::muted(format!("hops per VC, whole pod{remark}"))]
        };
        let title = Title { context, value };
        frame(input, &title, Shown::Ready, area, buf);
        let inner = body(area, 1);
        if inner.is_empty() {
            return;
        }
        let selected = self.selected(input);
        self.table.visible = 0..0;
        match input.mode() {
            "figures" => self.figures(input, selected, inner, buf),
            "hops" => self.bars(input, selected, inner, buf, out),
            _ if inner.width >= WHOLE.0 && inner.height >= WHOLE.1 => {
                self.whole(input, selected, inner, buf, out);
            }
            _ if inner.width >= BOTH && inner.height >= 8 => {
                let width = BARS.max(inner.width * 2 / 5).min(46);
                let (left, right) = beside(inner, width, 3);
                self.bars(input, selected, left, buf, out);
                let shown = self.own_and_baseline(baseline.is_some());
                self.spread(input, &shown, None, right, buf);
            }
            _ => self.bars(input, selected, inner, buf, out),
        }
        let sentence = self.sentence(selected);
        let (seen, all) = (self.table.visible.clone(), self.items.len());
        let is_cut = !seen.is_empty() && seen.len() < all;
        let rows = is_cut.then(|| Piece::muted(format!("rows {}-{} of {all}", seen.start + 1, seen.end)));
        ends(&input.app.look.theme, &sentence, rows.as_slice(), below(inner), buf);
        drawn.items = Arc::clone(&self.items);
        drawn.chosen = selected.map(|(side, vc)| side as ItemId * STRIDE + vc as ItemId);
        drawn.page = usize::from(inner.height);
        drawn.sentence = plain(&sentence);
        drawn.details = self.details();
    }

    fn items(&self) -> Arc<[Item]> {
        let mut items = Vec::new();
        for (at, side) in self.sides.iter().enumerate() {
            for vc in 0..side.hops.len() {
                let id = at as ItemId * STRIDE + vc as ItemId;
                items.push(Item { id, row: items.len() as u32, place: 0.0 });
            }
        }
        items.into()
    }

    /// Returns the chosen channel, or the most loaded channel of the plan.
    fn selected(&self, input: &PaneInput<'_>) -> Option<(usize, usize)> {
        let chosen = input.state.selected.map(|id| ((id / STRIDE) as usize, (id % STRIDE) as usize));
        let exists =
            |(side, vc): &(usize, usize)| self.sides.get(*side).is_some_and(|side| *vc < side.hops.len());
        chosen.filter(exists).or_else(|| {
            let side = self.sides.iter().position(|side| side.present).unwrap_or(0);
            let most = |vc: &usize| self.sides[side].figures(*vc).most;
            Some((side, (0..self.sides.get(side)?.hops.len()).rev().max_by_key(most)?))
        })
    }

    /// Returns the indices of the plan's own sets of routes: before and after balancing. Without routes of the plan, all
    /// sets count.
    fn own(&self) -> Vec<usize> {
        let present = self.sides.iter().position(|side| side.present);
        (0..present.map_or(self.sides.len(), |at| at + 1)).collect()
    }

    /// Returns the sets of routes next to the bars: of the plan and its baseline, else before and after balancing.
    fn own_and_baseline(&self, has_baseline: bool) -> Vec<usize> {
        let own = self.own();
        let present = own.last().copied().unwrap_or(0);
        if has_baseline && present + 1 < self.sides.len() { vec![present, present + 1] } else { own }
    }

    fn bars(
        &self,
        input: &PaneInput<'_>,
        selected: Option<(usize, usize)>,
        area: Rect,
        buf: &mut Buffer,
        out: &mut Drawn,
    ) {
        let theme = &input.app.look.theme;
        let full = self.full;
        let rows_of = |side: &Side| side.hops.len() as u16 + 1;
        // Tori that do not fit are dropped from the end, then the routes before balancing.
        let mut shown: Vec<(usize, &Side)> = self.sides.iter().enumerate().collect();
        let rows_of_all = |shown: &[(usize, &Side)]| shown.iter().map(|(_, side)| rows_of(side)).sum::<u16>();
        while rows_of_all(&shown) > area.height && shown.len() > 1 {
            let is_last = shown.last().is_some_and(|(_, side)| side.present);
            shown.remove(if is_last { 0 } else { shown.len() - 1 });
        }
        let used = rows_of_all(&shown);
        // Channels go before the heading of the only set.
        let heading = u16::from(used <= area.height);
        let gap = u16::from(used + shown.len() as u16 <= area.height + 1);
        let digits = number::count(full as u64).len() as u16;
        let mut y = 0;
        for (index, side) in shown {
            if heading > 0 {
                ends(theme, &[name_piece(side, false)], &ratio_pieces(side), row(area, y), buf);
            }
            for (vc, hops) in side.hops.iter().enumerate() {
                let place = row(area, y + heading + vc as u16);
                if place.is_empty() {
                    break;
                }
                let chosen = input.focused && selected == Some((index, vc));
                let mark = if chosen { ">" } else { " " };
                let label = [Piece::answer(mark), Piece::new(format!("vc{vc}"), tone(vc, true))];
                line(theme, &label, place, buf);
                let (bar, value) =
                    beside(from_column(place, 5), place.width.saturating_sub(5 + digits + 3), 1);
                let part = [Part::new(*hops as f64, tone(vc, side.present), letter(vc))];
                (&Meter::new(theme, &part, full).track(true).spaced(!theme.shades())).render(bar, buf);
                let text = number::count(*hops);
                let number = if side.present { Piece::answer(text) } else { Piece::text(text) };
                // Two columns are reserved for the `!` of the heading.
                let value = Rect { width: value.width.saturating_sub(2), ..value };
                ends(theme, &[], &[number], value, buf);
                let id = index as ItemId * STRIDE + vc as ItemId;
                out.hits.push(input.hit(place, id, Command::Inspect));
            }
            y += rows_of(side) + gap;
        }
        if let Some(text) = self.same_hops()
            && y < area.height
        {
            line(theme, &[Piece::muted(text)], row(area, y), buf);
        }
    }

    /// Returns a remark if the routes have the same number of hops before and after balancing.
    fn same_hops(&self) -> Option<String> {
        let own = self.own();
        let [before, after] = own.as_slice() else { return None };
        self.sides.get(*after).filter(|side| side.present)?;
        let sum = |at: usize| self.sides[at].hops.iter().sum::<u64>();
        let (old, new) = (sum(*before), sum(*after));
        (old == new).then(|| format!("{} hops before and after", number::count(new)))
    }

    /// Draws the distributions of several sets of routes, one column per set and one row of plots per virtual channel.
    /// With `share`, channels are counted in per cent, for sets with different numbers of channels.
    fn spread(
        &mut self,
        input: &PaneInput<'_>,
        shown: &[usize],
        share: Option<()>,
        area: Rect,
        buf: &mut Buffer,
    ) {
        let theme = &input.app.look.theme;
        let channels = shown.iter().map(|at| self.sides[*at].hops.len()).max().unwrap_or(0) as u16;
        if channels == 0 || area.height < 3 * channels + u16::from(share.is_none()) || area.width < 16 {
            return;
        }
        // The shares have a scale at the left, which all columns have in common.
        let (scale, area) = match share {
            Some(()) => beside(area, SCALE, 0),
            None => (Rect::ZERO, area),
        };
        let places: Vec<Rect> = columns(area, shown.len() as u16, 3).collect();
        let width = places.first().map_or(0, |place| place.width);
        self.fill_spreads(shown, width);
        // The scale fits the plan; a column beyond it shows its amount as a number.
        let own = self.own();
        let tallest = |of: &dyn Fn(usize) -> bool| {
            let sides = shown.iter().zip(&self.spreads).filter(|(at, _)| of(**at));
            let spreads = sides.flat_map(|(at, spreads)| spreads.iter().map(|spread| (*at, spread)));
            spreads.map(|(at, spread)| self.scaled(at, spread, share).tallest()).fold(0.0, f64::max)
        };
        let present = tallest(&|at| self.sides[at].present);
        let heading = u16::from(share.is_none());
        let plot = (area.height - heading) / channels;
        // In few rows, the plan gets all of them.
        let factor = if plot > LOW { 2.0 } else { 1.1 };
        let limit = if present > 0.0 { factor * present } else { f64::INFINITY };
        let top = tallest(&|at| share.is_none() || own.contains(&at)).min(limit);
        let end = self.spreads.first().and_then(|spreads| spreads.first()).map_or(1.0, |spread| spread.end);
        let ticks = ticks(end, width);
        // Of many plots, only the lowest has ticks; all have one scale.
        let has_ticks = |vc: u16| channels <= 2 || vc + 1 == channels;
        // Of very low plots, the ends of the scale would be in one row.
        for vc in (0..channels).filter(|_| plot > 3) {
            // Below the heading of the plot; the axis and its ticks are below the columns.
            let top_row = row(scale, vc * plot + 1);
            let below = u16::from(plot > 3) + u16::from(plot > 4 && has_ticks(vc));
            let base = row(scale, vc * plot + plot.saturating_sub(1 + below));
            line(theme, &[Piece::muted(format!("{top:>2.0}%"))], top_row, buf);
            if base.y > top_row.y {
                line(theme, &[Piece::muted(" 0")], base, buf);
            }
        }
        for ((place, &at), spreads) in places.iter().zip(shown).zip(&self.spreads) {
            let side = &self.sides[at];
            if share.is_none() {
                let channels = side.loads.channels();
                let roomy = usize::from(place.width) > side.short.len() + 14;
                let count = if roomy { format!("{channels} channels") } else { channels.to_string() };
                ends(theme, &[name_piece(side, true)], &[Piece::muted(count)], row(*place, 0), buf);
            }
            for (vc, spread) in spreads.iter().enumerate() {
                let part = from(*place, heading + vc as u16 * plot);
                let part = Rect { height: plot.min(part.height), ..part };
                let tone = tone(vc, side.present);
                line(theme, &head(side, vc, part.width), row(part, 0), buf);
                let scaled = self.scaled(at, spread, share);
                let plot = from(part, 1);
                (&Columns::new(theme, &scaled, top, tone, letter(vc))
                    .ticks(if has_ticks(vc as u16) { &ticks } else { &[] })
                    .unit(if share.is_some() { "%" } else { "" }))
                    .render(plot, buf);
            }
        }
    }

    fn fill_spreads(&mut self, shown: &[usize], width: u16) {
        let of = (self.of.unwrap_or_default(), width, shown.len());
        if self.spread_of == Some(of) {
            return;
        }
        self.spread_of = Some(of);
        let most = shown.iter().map(|at| self.sides[*at].loads.most()).max().unwrap_or(0);
        let bins = u32::from(width.max(1));
        // Each bin covers a whole number of loads; otherwise some bins would be empty by construction.
        let step = (most + 1).div_ceil(bins).max(1);
        let bins = (most + 1).div_ceil(step).max(1);
        let end = f64::from(bins * step);
        self.spreads = shown
            .iter()
            .map(|at| {
                let spread = |loads: &Vec<u32>| {
                    Spread::of(loads.iter().map(|load| f64::from(*load)), end, bins as usize)
                };
                self.sides[*at].loads.vc.iter().map(spread).collect()
            })
            .collect();
    }

    /// Returns a distribution in numbers of channels, or with `share` in per cent of the channels.
    fn scaled(&self, at: usize, spread: &Spread, share: Option<()>) -> Spread {
        let mut scaled = spread.clone();
        if share.is_some() {
            let all = self.sides[at].loads.channels().max(1) as f64;
            for amount in &mut scaled.amounts {
                *amount *= 100.0 / all;
            }
        }
        scaled
    }

    /// Draws the whole pane: one column per set of routes, and the figures below.
    fn whole(
        &mut self,
        input: &PaneInput<'_>,
        selected: Option<(usize, usize)>,
        area: Rect,
        buf: &mut Buffer,
        out: &mut Drawn,
    ) {
        let theme = &input.app.look.theme;
        let shown: Vec<usize> = (0..self.sides.len().min(if area.width >= 160 { 4 } else { 3 })).collect();
        let channels = shown.iter().map(|at| self.sides[*at].hops.len() as u16).max().unwrap_or(0);
        let rows = self.sides.iter().map(|side| side.hops.len() as u16).sum::<u16>() + 1;
        // Each plot gets at least five rows.
        let rows = rows.min(area.height.saturating_sub(4 + 6 * channels));
        let places: Vec<Rect> = columns(area, shown.len() as u16, 3).collect();
        let full = self.full;
        for (place, &at) in places.iter().zip(&shown) {
            let side = &self.sides[at];
            ends(theme, &[name_piece(side, false)], &ratio_pieces(side), row(*place, 0), buf);
            line(theme, &[Piece::muted(side.note)], row(*place, 1), buf);
            for (vc, hops) in side.hops.iter().enumerate() {
                let strip = row(*place, 2 + vc as u16);
                let chosen = input.focused && selected == Some((at, vc));
                let label = [
                    Piece::answer(if chosen { ">" } else { " " }),
                    Piece::new(format!("vc{vc}"), tone(vc, true)),
                ];
                line(theme, &label, strip, buf);
                let text = number::count(*hops);
                let (bar, value) = beside(from_column(strip, 5), strip.width.saturating_sub(18), 1);
                let part = [Part::new(*hops as f64, tone(vc, side.present), letter(vc))];
                (&Meter::new(theme, &part, full).track(true).spaced(!theme.shades())).render(bar, buf);
                let piece = if side.present { Piece::answer(text) } else { Piece::text(text) };
                ends(theme, &[], &[piece], Rect { width: value.width.saturating_sub(2), ..value }, buf);
                let id = at as ItemId * STRIDE + vc as ItemId;
                out.hits.push(input.hit(strip, id, Command::Inspect));
            }
        }
        let top = 2 + channels;
        let glyphs = theme.glyphs;
        let legend = [
            Piece::muted("share of channels by load, %, one scale; "),
            Piece::text(glyphs.mean),
            Piece::muted(" mean  "),
            Piece::text(glyphs.most),
            Piece::muted(" max  "),
            Piece::new("!", Tone::Bad).bold(),
            Piece::muted(" idle or uneven"),
        ];
        line(theme, &legend, row(area, top), buf);
        let middle = from(area, top + 1);
        let middle = Rect { height: middle.height.saturating_sub(rows + 1), ..middle };
        self.spread(input, &shown, Some(()), middle, buf);
        let lower = from(area, area.height - rows);
        self.figures(input, selected, lower, buf);
    }

    /// Draws the figures of all channels.
    fn figures(
        &mut self,
        input: &PaneInput<'_>,
        selected: Option<(usize, usize)>,
        area: Rect,
        buf: &mut Buffer,
    ) {
        let head = [
            Column::left("loads of", 24),
            Column::left("", 4),
            Column::right("channels", 8).priority(5),
            Column::right("idle", 6),
            Column::right("p10", 6).priority(4),
            Column::right("p50", 6),
            Column::right("p90", 6).priority(3),
            Column::right("p99", 6).priority(2),
            Column::right("max", 6),
            Column::right("max/mean", 8).priority(6),
            Column::right("hops", 11),
        ];
        let mut rows = Vec::new();
        for (at, side) in self.sides.iter().enumerate() {
            for (vc, hops) in side.hops.iter().enumerate() {
                let figures = side.figures(vc);
                let cell = |text: String| {
                    if side.present { Piece::answer(text) } else { Piece::text(text) }
                };
                let name = if vc == 0 { name_piece(side, area.width < WHOLE.0) } else { Piece::text("") };
                let mut cells = vec![
                    name,
                    Piece::new(format!("vc{vc}"), tone(vc, true)),
                    Piece::muted(figures.channels.to_string()),
                    cell(figures.idle.to_string()),
                ];
                cells.extend(figures.percentiles.iter().map(|load| cell(load.to_string())));
                cells.push(cell(figures.most.to_string()));
                cells.push(cell(number::fixed(figures.crest().unwrap_or(f64::NAN), 2).into()));
                cells.push(cell(number::count(*hops).into()));
                rows.push(TableRow::item(at as ItemId * STRIDE + vc as ItemId, cells));
            }
        }
        self.table.selected =
            selected.filter(|_| input.focused).map(|(side, vc)| side as ItemId * STRIDE + vc as ItemId);
        (&Table::new(&input.app.look.theme, &head, &rows)).render(area, buf, &mut self.table);
    }

    fn sentence(&self, selected: Option<(usize, usize)>) -> Vec<Piece> {
        let Some((at, vc)) = selected else { return vec![Piece::muted("no virtual channels")] };
        let side = &self.sides[at];
        let figures = side.figures(vc);
        let mut line = vec![
            Piece::answer(format!("> {} vc{vc}", side.name)),
            Piece::text(format!("  {} hops", number::count(side.hops[vc]))),
            Piece::muted("  fullest channel "),
            Piece::answer(figures.most.to_string()),
            Piece::muted("  mean "),
            Piece::text(number::fixed(figures.mean, 1)),
            Piece::muted("  p99 "),
            Piece::text(figures.percentiles[3].to_string()),
        ];
        let idle = format!("  {} of {} idle", figures.idle, figures.channels);
        line.push(if figures.idle > 0 { Piece::new(idle, Tone::Bad) } else { Piece::muted(idle) });
        line
    }

    fn details(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for side in &self.sides {
            let ratio = number::fixed(side.ratio().unwrap_or(f64::NAN), 4);
            lines.push(format!("{} ({}): VC ratio {ratio}", side.name, side.note));
            for (vc, hops) in side.hops.iter().enumerate() {
                let f = side.figures(vc);
                let [p10, p50, p90, p99] = f.percentiles;
                lines.push(format!(
                    "  vc{vc}  {} hops; load p10 {p10}, p50 {p50}, p90 {p90}, p99 {p99}, max {}; {} of {} channels idle",
                    number::count(*hops),
                    f.most,
                    f.idle,
                    f.channels
                ));
            }
        }
        lines
    }
}

fn from_column(area: Rect, at: u16) -> Rect {
    let at = at.min(area.width);
    Rect { x: area.x + at, width: area.width - at, ..area }
}

/// Minimum number of columns from one tick to the next.
const TICK: u16 = 8;

/// Returns ticks at round loads, from zero to at most the end of the scale.
fn ticks(end: f64, width: u16) -> Vec<(f64, Label)> {
    let ticks = Range::new(0.0, end, Scale::Linear).ticks(usize::from(width / TICK).max(1));
    ticks.clone().map(|value| (value, ticks.label(value).into())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        let labels = |end: f64, width: u16| -> Vec<String> {
            ticks(end, width).into_iter().map(|(_, label)| label.into_owned()).collect()
        };
        assert_eq!(labels(176.0, 22), ["0", "100"]);
        assert_eq!(labels(34.0, 32), ["0", "10", "20", "30"]);
    }
}
