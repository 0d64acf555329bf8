//! Intervals of time by lane, on one axis.

use super::{item_id, report_hits, tone};
use crate::app::drawn::{Drawn, Item};
use crate::app::pane::ItemId;
use crate::view::present::PaneInput;
use crate::view::present::rows::{InSight, in_sight};
use lightbay_core::report::text::number;
use lightbay_core::report::{HUES, Lane, Phrase, Span, Spans, Tone as Meaning, Unit};
use lightbay_widgets::{SpanBar, SpanLane, SpanLanes, SpanLanesState, Tone};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::StatefulWidget;
use std::collections::BTreeSet;

/// Maximum number of rows of a lane.
const TALL: u16 = 3;

/// Height of a full bar among bars whose heights are amounts, as a fraction of the lane.
const SPACED: f64 = 0.75;

/// Characters of numbered intervals if colours are missing.
const LETTERS: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Spans on the screen.
#[derive(Debug)]
pub struct SpansView {
    lanes: Vec<SpanLane>,
    /// The same intervals in fewer lanes, for areas without room for all lanes; may be empty.
    short: Vec<SpanLane>,
    /// Items by lane and start, each with the sentence that the kind gives for it.
    spans: Vec<(Item, Phrase)>,
    /// The axis, s.
    axis_s: (f64, f64),
    unit: Unit,
    words: &'static str,
    /// `true` if there are more numbers of intervals than hues.
    by_selection: bool,
    /// Number of lanes of the last draw, including those out of sight.
    shown: usize,
    state: SpanLanesState,
}

impl SpansView {
    /// Prepares the spans of a block, given by its index. Overlapping spans of a lane get separate rows.
    pub fn new(block: usize, spans: &Spans) -> Self {
        let unit = if spans.unit.symbol.is_empty() { Unit::SECONDS } else { spans.unit };
        let numbers = spans.lanes.iter().flat_map(|lane| &lane.spans).filter_map(|span| span.series);
        let by_selection = numbers.max().is_some_and(|last| last >= HUES);
        let (mut lanes, mut items) = laid_out(block, &spans.lanes, unit);
        let (mut short, _) = laid_out(block, &spans.short, unit);
        if by_selection {
            lanes.iter_mut().chain(&mut short).for_each(in_greys);
        }
        items.sort_by(|(a, _), (b, _)| a.row.cmp(&b.row).then(a.place.total_cmp(&b.place)));
        let state = SpanLanesState::default();
        let axis_s = (spans.begin_s, spans.end_s);
        Self { lanes, short, spans: items, axis_s, unit, words: spans.words, by_selection, shown: 0, state }
    }

    /// Returns the number of rows, including the axis.
    pub fn rows(&self) -> u16 {
        self.lanes.len().min(usize::from(u16::MAX) - 1) as u16 + 1
    }

    /// Returns the number of rows that the intervals can use in a large pane, including the axis.
    pub fn most_rows(&self) -> u16 {
        (self.rows() - 1).saturating_mul(TALL) + 1
    }

    /// Returns the number of rows of the fewest lanes that show all intervals, including the axis.
    pub fn least_rows(&self) -> u16 {
        if self.short.is_empty() { self.rows() } else { self.rows().min(self.short.len() as u16 + 1) }
    }

    /// Iterates over the items; `first` is the row of the first item.
    pub fn items(&self, first: u32) -> impl Iterator<Item = Item> + '_ {
        self.spans.iter().map(move |(item, _)| Item { row: first + item.row, ..*item })
    }

    /// Returns the first visible lane, and the number of lanes that fit.
    pub fn page(&self) -> (usize, usize) {
        (self.state.offset, self.state.rows_shown.max(1))
    }

    /// Returns the visible lanes, if some are hidden.
    pub fn in_sight(&self) -> Option<InSight> {
        in_sight((self.state.offset, self.state.rows_shown, self.shown), (0, 0, 0))
    }

    /// Returns the sentence about a span.
    pub fn sentence(&self, id: ItemId) -> Option<Phrase> {
        self.spans.iter().find(|(item, _)| item.id == id).map(|(_, sentence)| sentence.clone())
    }

    /// Returns the start of a span as a fraction of the axis.
    pub fn on_axis(&self, id: ItemId) -> Option<f64> {
        let (begin_s, end_s) = self.axis_s;
        let (item, _) = self.spans.iter().find(|(item, _)| item.id == id)?;
        Some((f64::from(item.place) - begin_s) / (end_s - begin_s)).filter(|at| (0.0..=1.0).contains(at))
    }

    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        chosen: Option<ItemId>,
        area: Rect,
        buf: &mut Buffer,
        out: &mut Drawn,
    ) {
        let (begin_s, end_s) = self.axis_s;
        let at = |share: f64| (begin_s + share * (end_s - begin_s)) * self.unit.scale;
        let (first, last) = input.state.window();
        self.state.selected = chosen;
        self.state.offset = input.state.offset;
        let is_short = area.height < self.rows() && !self.short.is_empty();
        let shown = if is_short { &self.short } else { &self.lanes };
        self.shown = shown.len();
        let lanes = SpanLanes::new(&input.app.look.theme, shown, (at(first), at(last)), self.unit.symbol);
        let tall = area.height.saturating_sub(1) / (shown.len() as u16).max(1);
        let lanes = lanes.words(self.words).tall(tall.clamp(1, TALL)).by_selection(self.by_selection);
        out.axes.extend(lanes.axis_place(area).map(|place| (input.pane, place)));
        (&lanes).render(area, buf, &mut self.state);
        report_hits(input, &self.state.hits, |id, _| id, out);
    }
}

/// Returns the lanes of a block, given by its index, and their items. Overlapping intervals of a lane get separate rows.
fn laid_out(block: usize, of_lanes: &[Lane], unit: Unit) -> (Vec<SpanLane>, Vec<(Item, Phrase)>) {
    let (mut lanes, mut items): (Vec<SpanLane>, Vec<(Item, Phrase)>) = (Vec::new(), Vec::new());
    let mut count = 0;
    let mut known: BTreeSet<ItemId> = BTreeSet::new();
    // Bars whose heights are amounts leave a gap to the lane above, so that lanes with full bars do not merge.
    let has_heights = of_lanes.iter().flat_map(|lane| &lane.spans).any(|span| span.idle > 0.0);
    let full = if has_heights { SPACED } else { 1.0 };
    for of in of_lanes {
        let first = lanes.len();
        lanes.push(SpanLane {
            name: of.name.clone().into(),
            tone: if of.tone == Meaning::Text { Tone::Muted } else { tone(of.tone) },
            words: of.words.clone().into(),
            bars: Vec::new(),
        });
        for span in &of.spans {
            let is_free =
                |lane: &SpanLane| lane.bars.last().is_none_or(|last| last.to <= span.start_s * unit.scale);
            let row = lanes[first..].iter().position(is_free).unwrap_or(lanes.len() - first) + first;
            if row == lanes.len() {
                lanes.push(SpanLane {
                    name: "  overlap".into(),
                    tone: lanes[first].tone,
                    ..SpanLane::default()
                });
            }
            // Intervals of one item have different ids: the first one has the id of the item, the others have their
            // own.
            let of_item = span.item.filter(|item| known.insert(*item));
            let id = of_item.unwrap_or_else(|| item_id(block, count));
            count += 1;
            let bar = bar(id, span, unit);
            lanes[row].bars.push(SpanBar { idle: 1.0 - full * (1.0 - span.idle), ..bar });
            let sentence = match &span.sentence {
                own if !own.is_empty() => own.clone(),
                _ => worded(&of.name, span, unit),
            };
            items.push((Item { id, row: row as u32, place: span.start_s as f32 }, sentence));
        }
    }
    (lanes, items)
}

/// Gives the intervals of a lane two greys in turn.
fn in_greys(lane: &mut SpanLane) {
    let mut is_dark = false;
    for run in lane.bars.chunk_by_mut(|a, b| a.letter == b.letter) {
        for bar in run.iter_mut() {
            bar.tone = if is_dark { Tone::Rule } else { Tone::Muted };
        }
        is_dark = !is_dark;
    }
}

/// Returns the tone of a numbered object: four hues, then the same hues darker; [`HUES`] in all.
const fn hue(number: u32) -> Tone {
    let hue = (number % 4) as u8;
    if (number / 4).is_multiple_of(2) { Tone::Series(hue) } else { Tone::SeriesDim(hue) }
}

fn bar(id: ItemId, span: &Span, unit: Unit) -> SpanBar {
    let (paint, letter) = match (span.series, span.tone) {
        (Some(number), Meaning::Text | Meaning::Muted) => {
            (Tone::Muted, char::from(LETTERS[number as usize % LETTERS.len()]))
        }
        (None, Meaning::Text) => (Tone::Series(0), '#'),
        (_, Meaning::Muted) => (Tone::Muted, '-'),
        (_, Meaning::Answer) => (Tone::Answer, '='),
        (_, Meaning::Good) => (Tone::Good, '+'),
        (_, Meaning::Changed | Meaning::Warn) => (Tone::Changed, '*'),
        (_, Meaning::Bad) => (Tone::Bad, '!'),
    };
    // A muted number is a count, which has no colour of its own.
    let paint = span.series.filter(|_| span.tone != Meaning::Muted).map_or(paint, hue);
    SpanBar {
        id,
        from: span.start_s * unit.scale,
        to: span.end_s * unit.scale,
        tone: paint,
        letter,
        thin: span.hidden,
        idle: span.idle,
    }
}

/// Makes a sentence from name and times.
fn worded(lane: &str, span: &Span, unit: Unit) -> Phrase {
    let time = |value: f64| format!("{} {}", number(value, unit), unit.symbol);
    let lane = lane.trim_start_matches(['▌', ' ']);
    Phrase::new()
        .answer(format!("> {}", span.name))
        .muted(format!("  {lane}  "))
        .text(format!("{} to {}", time(span.start_s), time(span.end_s)))
        .muted(format!("  {}", time(span.end_s - span.start_s)))
}
