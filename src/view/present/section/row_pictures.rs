//! Pictures next to the rows of a list: bars on one scale, bars of parts, or loads over time.

use crate::view::present::PaneInput;
use crate::view::present::rows::{ends, from, line, row};
use lightbay_core::report::text::number;
use lightbay_core::report::{Column, LoadAxis, LoadSpan};
use lightbay_widgets::number::grouped;
use lightbay_widgets::{Meter, Part, Piece, Range, Scale, Strip, Theme, Tone, pieces_width};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

/// Minimum number of columns of a picture; with fewer, only the rows are drawn.
const LEAST: u16 = 8;

/// Fraction of the longest bar from which on all bars count as hardly different.
const NEAR: f64 = 0.9;

/// Minimum number of columns from one time to the next above loads.
const TICKS: u16 = 12;

/// Number of columns of a picture of loads; columns of the table may be omitted to make room for it.
const LOADS: u16 = 24;

/// Number of columns of bars of parts, including the names of the parts.
const PARTS: u16 = 60;

/// The picture next to one row.
#[derive(Clone, Debug)]
pub enum RowPicture {
    None,
    /// A bar between two values of the scale.
    Bar {
        from: f64,
        to: f64,
        tone: Tone,
    },
    Load(Vec<LoadSpan>),
    /// Lengths of the parts of a bar.
    Parts(Vec<f64>),
}

/// Paint and letter of the parts of a bar, by their order.
type Paints = &'static [(Tone, char)];

/// Paints of times; the first three are those of compute, exchanges and stalls in intervals of time.
const PAINTS: Paints =
    &[(Tone::Series(0), '#'), (Tone::Series(2), '='), (Tone::Bad, '!'), (Tone::Series(1), '+')];

/// Paints of other parts, such as costs, so that a colour has one meaning.
const GREYS: Paints = &[(Tone::Text, '#'), (Tone::Muted, '='), (Tone::Faint, '+')];

/// Scale of the pictures next to the rows of a block.
#[derive(Clone, Debug)]
pub enum PictureScale {
    Nothing,
    /// Bars on a scale from the smallest to the largest end of any bar.
    Bars {
        low: f64,
        high: f64,
        /// `true` if the bars replace the sentences next to the rows of a block of facts.
        over_sentence: bool,
        /// Reference value of the bars, with its name.
        limit: Option<(f64, String)>,
        /// Name of the scale with its lower end, and its upper end; empty for none.
        ends: [String; 2],
        /// `true` if the scale does not begin at 0, because the bars hardly differ.
        is_broken: bool,
    },
    Loads(LoadAxis),
    /// Bars of parts with these names, on a scale from 0 to the longest bar.
    Parts {
        names: Vec<&'static str>,
        paints: Paints,
        high: f64,
        /// Upper end of the scale.
        end: String,
        /// Reference value of the bars, with its name.
        limit: Option<(f64, String)>,
    },
}

impl PictureScale {
    /// Makes the scale of bars of a column after the columns of a table. If the bars hardly differ, the scale begins
    /// below the shortest bar. `full` is the value at which the scale ends.
    pub fn bars<'a>(
        pictures: impl Iterator<Item = &'a RowPicture> + Clone,
        limit: Option<(f64, String)>,
        full: Option<f64>,
        column: &Column,
    ) -> Self {
        let to = |picture: &RowPicture| match picture {
            RowPicture::Bar { from: 0.0, to, .. } => Some(*to),
            _ => None,
        };
        let values = || pictures.clone().filter_map(to).chain(limit.as_ref().map(|limit| limit.0));
        let least = values().fold(f64::INFINITY, f64::min);
        let is_whole = pictures.clone().all(|picture| to(picture).is_some());
        let mut scale = Self::scale(pictures.clone(), false, limit.clone());
        if let Self::Bars { low, high, ends, is_broken, .. } = &mut scale {
            *high = full.unwrap_or(*high);
            if is_whole && least > NEAR * *high && least < *high {
                (*low, *is_broken) = (least - (*high - least) / 2.0, true);
            }
            let name = if column.label.is_empty() { String::new() } else { format!("{}: ", column.label) };
            let value = |value: f64| match value {
                0.0 => "0".to_owned(),
                value => grouped(&number(value, column.unit)),
            };
            *ends = [format!("{name}{}", value(*low)), format!("{} {}", value(*high), column.unit.symbol)];
        }
        scale
    }

    /// Makes the scale of bars that replace the sentences next to the rows of a block of facts.
    pub fn over_sentence<'a>(pictures: impl Iterator<Item = &'a RowPicture>) -> Self {
        Self::scale(pictures, true, None)
    }

    /// Makes the scale of bars of parts after the columns of a table.
    pub fn parts<'a>(
        pictures: impl Iterator<Item = &'a RowPicture>,
        names: &[&'static str],
        limit: Option<(f64, String)>,
        column: Option<&Column>,
    ) -> Self {
        let sum = |picture: &RowPicture| match picture {
            RowPicture::Parts(parts) => parts.iter().sum(),
            _ => 0.0,
        };
        let high = pictures.map(sum).fold(limit.as_ref().map_or(0.0, |limit| limit.0), f64::max);
        let end = |column: &Column| format!("{} {}", grouped(&number(high, column.unit)), column.unit.symbol);
        let end = column.map_or_else(String::new, |column| end(column).trim().to_owned());
        let is_time = |column: &Column| ["s", "ms"].contains(&column.unit.symbol);
        let paints = if column.is_none_or(is_time) { PAINTS } else { GREYS };
        if high > 0.0 && high.is_finite() {
            Self::Parts { names: names.to_vec(), paints, high, end, limit }
        } else {
            Self::Nothing
        }
    }

    pub const fn loads(axis: LoadAxis) -> Self {
        Self::Loads(axis)
    }

    fn scale<'a>(
        pictures: impl Iterator<Item = &'a RowPicture>,
        over_sentence: bool,
        limit: Option<(f64, String)>,
    ) -> Self {
        let (mut low, mut high) = (0.0_f64, limit.as_ref().map_or(0.0, |limit| limit.0.max(0.0)));
        for picture in pictures {
            if let RowPicture::Bar { from, to, .. } = picture {
                low = low.min(*from).min(*to);
                high = high.max(*from).max(*to);
            }
        }
        // Only bars that replace the sentences of facts show negative values, because a part of a sum may be negative.
        let low = if over_sentence { low } else { 0.0 };
        if high > low && (high - low).is_finite() {
            Self::Bars { low, high, over_sentence, limit, ends: Default::default(), is_broken: false }
        } else {
            Self::Nothing
        }
    }

    pub const fn is_some(&self) -> bool {
        !matches!(self, Self::Nothing)
    }

    pub const fn is_over_sentence(&self) -> bool {
        matches!(self, Self::Bars { over_sentence: true, .. })
    }

    /// Returns the number of columns of the pictures; columns of the table may be omitted to make room for them.
    pub const fn wanted(&self) -> u16 {
        match self {
            Self::Nothing => 0,
            Self::Bars { .. } => LEAST,
            Self::Loads(_) => LOADS,
            Self::Parts { .. } => PARTS,
        }
    }

    /// Returns `true` if there is something to draw and enough room.
    pub const fn fits(&self, columns: u16) -> bool {
        self.is_some() && columns >= LEAST
    }

    /// Returns `true` if the pictures are bars after the columns of a table, which may have several rows each.
    pub const fn is_tall(&self) -> bool {
        matches!(self, Self::Bars { over_sentence: false, .. } | Self::Parts { .. })
    }

    /// Draws the pictures of the visible rows, each with `tall` rows; the ends of the axis are in the row of the column
    /// names.
    pub fn draw(
        &self,
        input: &PaneInput<'_>,
        (heads, tall): (bool, u16),
        pictures: &[&RowPicture],
        area: Rect,
        buf: &mut Buffer,
    ) {
        let theme = &input.app.look.theme;
        let rows = (u16::from(heads)..area.height).step_by(usize::from(tall));
        let rows = rows.map(|at| Rect { height: tall.min(area.height - at), ..from(area, at) });
        match self {
            Self::Nothing => {}
            Self::Bars { low, high, limit, ends: names, is_broken, over_sentence } => {
                let limit_at = limit.as_ref().map(|limit| limit.0 - low);
                for (place, picture) in rows.zip(pictures) {
                    let bar = match picture {
                        RowPicture::Bar { from, to, tone } if *to >= *low && from != to => {
                            let (from, to) = (from.min(*to).max(*low), from.max(*to));
                            Some((from - low, Part::new(to - from, *tone, '#')))
                        }
                        _ => None,
                    };
                    let start = bar.as_ref().map_or(0.0, |bar| bar.0);
                    let part: Vec<Part> = bar.into_iter().map(|bar| bar.1).collect();
                    // Parts of a sum need no gap, because each begins where the part above ends; eighths show short ones.
                    let meter = Meter::new(theme, &part, high - low).start(start).spaced(!over_sentence);
                    (&meter.limit(limit_at)).render(place, buf);
                    for at in (0..place.height).filter(|at| *is_broken && (*at == 0 || !theme.is_ascii())) {
                        let sign = Piece::muted(theme.glyphs.fold);
                        line(theme, &[sign], Rect { width: 1.min(place.width), ..row(place, at) }, buf);
                    }
                    // A bar that is longer than the scale ends with an arrow.
                    if matches!(picture, RowPicture::Bar { to, .. } if to > high) {
                        let last = Rect { x: place.right().saturating_sub(1), width: 1, ..place };
                        for at in (0..place.height).filter(|at| *at == 0 || !theme.is_ascii()) {
                            line(theme, &[Piece::muted(theme.glyphs.forward)], row(last, at), buf);
                        }
                    }
                }
                if heads && limit.is_none() {
                    // Without room for both ends, the upper end says more.
                    let [low, high] = names.each_ref().map(|name| [Piece::muted(name.trim_end().to_owned())]);
                    let [short, long] = [&low, &high].map(|pieces| pieces_width(pieces, theme.glyphs));
                    let left: &[Piece] = if short + 2 + long <= area.width { &low } else { &[] };
                    let right: &[Piece] = if long <= area.width { &high } else { &[] };
                    ends(theme, left, right, row(area, 0), buf);
                }
                if let Some((_, name)) = limit.as_ref().filter(|_| heads) {
                    // The name is above the mark, as far as it fits between the ends of the axis.
                    let meter = Meter::new(theme, &[], high - low).spaced(true).limit(limit_at);
                    let at = meter.limit_at(area.width).unwrap_or(0);
                    // Without room for the whole name, its part before the comma says most.
                    let whole = name.chars().count() as u16 <= area.width;
                    let name = if whole { name.as_str() } else { name.split(',').next().unwrap_or(name) };
                    let long = name.chars().count() as u16;
                    let start = at.saturating_sub(long / 2).min(area.width.saturating_sub(long));
                    let place = Rect { x: area.x + start, width: area.width - start, height: 1, ..area };
                    line(theme, &[Piece::text(name.to_owned())], place, buf);
                    // The upper end of the scale follows if there is room.
                    let end = [Piece::muted(names[1].trim_end().to_owned())];
                    let rest = Rect { x: place.x + long, width: place.width.saturating_sub(long), ..place };
                    if pieces_width(&end, theme.glyphs) + 2 <= rest.width {
                        ends(theme, &[], &end, rest, buf);
                    }
                }
            }
            Self::Parts { names, paints, high, end: of_scale, limit } => {
                let paint = |at: usize| paints[at % paints.len()];
                let part = |(at, amount): (usize, &f64)| Part::new(*amount, paint(at).0, paint(at).1);
                let mut named = limit.is_none();
                for (number, (place, picture)) in rows.zip(pictures).enumerate() {
                    let RowPicture::Parts(parts) = picture else { continue };
                    let drawn: Vec<Part> = parts.iter().enumerate().map(part).collect();
                    let limit_at = limit.as_ref().map(|limit| limit.0);
                    let meter = Meter::new(theme, &drawn, *high).spaced(true).limit(limit_at);
                    (&meter).render(place, buf);
                    // The limit is named where it ends: right of the last bar, if this bar is not longer.
                    let Some((value, name)) = limit.as_ref().filter(|_| number + 1 == pictures.len()) else {
                        continue;
                    };
                    let at = meter.limit_at(area.width).map_or(area.width, |at| at + 1);
                    let is_free = |at: &u16| buf[(place.x + at, place.y)].symbol() == " ";
                    let from = (at..area.width).find(is_free).map_or(area.width, |at| at + 1);
                    let name = [name.as_str(), name.split(',').next().unwrap_or(name)];
                    let fits = |name: &&str| name.chars().count() <= usize::from(area.width - from);
                    if let Some(name) = name.into_iter().find(fits)
                        && parts.iter().sum::<f64>() <= value * (1.0 + 1e-9)
                    {
                        let place = Rect { x: place.x + from, width: area.width - from, ..place };
                        line(theme, &[Piece::muted(name.to_owned())], place, buf);
                        named = true;
                    }
                }
                if heads {
                    let swatch = |(at, name): (usize, &&'static str)| {
                        let (tone, letter) = paint(at);
                        let sign = if theme.shades() && !theme.is_ascii() {
                            theme.glyphs.square.to_owned()
                        } else {
                            letter.to_string()
                        };
                        [Piece::new(sign, tone), Piece::muted(format!(" {name}  "))]
                    };
                    // A part that no bar has is not named.
                    let occurs = |(at, _): &(usize, &&'static str)| {
                        let amount = |picture: &&RowPicture| match picture {
                            RowPicture::Parts(parts) => parts.get(*at).copied().unwrap_or(0.0),
                            _ => 0.0,
                        };
                        pictures.iter().any(|picture| amount(picture) > 0.0)
                    };
                    let mut of_parts: Vec<Piece> =
                        names.iter().enumerate().filter(occurs).flat_map(swatch).collect();
                    if let Some((_, name)) = limit.as_ref().filter(|_| !named) {
                        let name = name.split(',').next().unwrap_or(name);
                        of_parts.push(Piece::answer(theme.glyphs.vertical_dotted));
                        of_parts.push(Piece::muted(format!(" {name}")));
                    }
                    if let Some(last) = of_parts.last_mut() {
                        last.text = last.text.trim_end().to_owned().into();
                    }
                    let close =
                        |piece: &Piece| Piece { text: piece.text.replace("  ", " ").into(), ..*piece };
                    let closer: Vec<Piece> = of_parts.iter().map(close).collect();
                    // Without room, first gaps give way, then the names; nothing is cut.
                    let fits = |words: &Vec<Piece>| pieces_width(words, theme.glyphs) <= area.width;
                    let legend = [of_parts, closer].into_iter().find(fits).unwrap_or_default();
                    let end = [Piece::muted(of_scale.clone())];
                    let wide = [&legend[..], &end[..]].map(|words| pieces_width(words, theme.glyphs));
                    let has_end = wide[0] + 2 + wide[1] <= area.width;
                    ends(theme, &legend, if has_end { &end } else { &[] }, row(area, 0), buf);
                }
            }
            Self::Loads(axis) => {
                let (from_s, to_s) = window(input, axis);
                if heads {
                    draw_times(theme, (from_s, to_s), row(area, 0), buf);
                }
                let step_s = (to_s - from_s) / f64::from(area.width);
                for (place, picture) in rows.zip(pictures) {
                    let RowPicture::Load(load) = picture else { continue };
                    let moment = |column: u16| from_s + step_s * f64::from(column);
                    let columns = || (0..area.width).map(|at| (moment(at), moment(at + 1)));
                    let means: Vec<f64> = columns().map(|(from_s, to_s)| mean(load, from_s, to_s)).collect();
                    let peaks: Vec<f64> = columns().map(|(from_s, to_s)| most(load, from_s, to_s)).collect();
                    (&Strip::new(theme, &means).peaks(&peaks)).render(place, buf);
                }
            }
        }
    }
}

/// Writes times at round values into the row above the loads, each at its column.
fn draw_times(theme: &Theme, (from_s, to_s): (f64, f64), area: Rect, buf: &mut Buffer) {
    let range = Range::new(from_s, to_s, Scale::Linear);
    let ticks = range.ticks(usize::from(area.width / TICKS).max(1));
    let mut free = 0;
    for value in ticks.clone() {
        let Some(share) = range.share(value) else { continue };
        let text = format!("{} s", ticks.label(value).as_str());
        let at = (share * f64::from(area.width)).round() as u16;
        let wide = text.chars().count() as u16;
        if at >= free && at + wide <= area.width {
            line(theme, &[Piece::muted(text)], Rect { x: area.x + at, width: wide, ..area }, buf);
            free = at + wide + 1;
        }
    }
}

/// Returns start and end of the displayed time, s: the interval of the present form, or the visible part of this
/// interval if the user stretched the axis.
fn window(input: &PaneInput<'_>, axis: &LoadAxis) -> (f64, f64) {
    let known = axis.windows.iter().find(|(name, ..)| *name == input.mode()).or(axis.windows.first());
    let (from_s, to_s) = known.map_or((0.0, 1.0), |(_, from_s, to_s)| (*from_s, *to_s));
    let length_s = (to_s - from_s).max(f64::MIN_POSITIVE);
    let (first, last) = input.state.window();
    (from_s + first * length_s, from_s + last * length_s)
}

/// Returns the mean load between two times.
fn mean(load: &[LoadSpan], from_s: f64, to_s: f64) -> f64 {
    let first = load.partition_point(|span| span.end_s <= from_s);
    let inside = load[first..].iter().take_while(|span| span.start_s < to_s);
    let area = inside.map(|span| (span.end_s.min(to_s) - span.start_s.max(from_s)) * span.share);
    area.sum::<f64>() / (to_s - from_s).max(f64::MIN_POSITIVE)
}

/// Returns the maximum load between two times.
fn most(load: &[LoadSpan], from_s: f64, to_s: f64) -> f64 {
    let first = load.partition_point(|span| span.end_s <= from_s);
    let inside = load[first..].iter().take_while(|span| span.start_s < to_s);
    inside.map(|span| span.share).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_load_of_a_column_is_that_of_any_moment_in_it() {
        let span = |start_s: f64, end_s: f64, share: f64| LoadSpan { start_s, end_s, share };
        let load = [span(0.0, 1.0, 0.5), span(1.0, 1.1, 2.0), span(3.0, 4.0, 1.0)];
        assert_eq!(most(&load, 0.0, 2.0), 2.0);
        assert_eq!(most(&load, 0.0, 1.0), 0.5, "an end is not part of the span");
        assert_eq!(most(&load, 1.1, 3.0), 0.0);
        assert!((mean(&load, 0.0, 2.0) - 0.35).abs() < 1e-12, "half of the time at 0.5, a twentieth at 2");
    }

    #[test]
    fn bars_of_parts_reach_to_the_longest_sum_or_the_limit() {
        let bars = [RowPicture::Parts(vec![3.0, 1.0]), RowPicture::Parts(vec![2.0, 2.5]), RowPicture::None];
        let high = |limit: Option<f64>| {
            let limit = limit.map(|value| (value, "bound".to_owned()));
            match PictureScale::parts(bars.iter(), &["a", "b"], limit, None) {
                PictureScale::Parts { high, .. } => high,
                _ => 0.0,
            }
        };
        assert_eq!((high(None), high(Some(6.0)), high(Some(1.0))), (4.5, 6.0, 4.5));
    }

    #[test]
    fn parts_of_a_sum_have_a_scale_of_their_own() {
        let bar = |from: f64, to: f64| RowPicture::Bar { from, to, tone: Tone::Text };
        let parts = [bar(0.0, 3.0), RowPicture::None, bar(3.0, 2.0)];
        assert!(matches!(
            PictureScale::over_sentence(parts.iter()),
            PictureScale::Bars { low, high, .. } if low == 0.0 && high == 3.0
        ));
        let column = Column::counts("sends", "sends");
        let bars = |bars: &[RowPicture]| PictureScale::bars(bars.iter(), None, None, &column);
        assert!(!bars(&[bar(0.0, 0.0)]).is_some());
        assert!(!bars(&[bar(0.0, -1.0)]).is_some(), "nothing above zero");
    }

    #[test]
    fn a_scale_begins_at_zero_unless_the_bars_hardly_differ() {
        let bar = |to: f64| RowPicture::Bar { from: 0.0, to, tone: Tone::Text };
        let column = Column::counts("sends", "sends");
        let ends = |values: &[f64]| {
            let bars: Vec<RowPicture> = values.iter().map(|to| bar(*to)).collect();
            match PictureScale::bars(bars.iter(), None, None, &column) {
                PictureScale::Bars { low, high, ends, is_broken, .. } => (low, high, ends, is_broken),
                _ => panic!("no bars"),
            }
        };
        let usual = ["sends: 0".to_owned(), "100 ".to_owned()];
        assert_eq!(ends(&[50.0, 100.0]), (0.0, 100.0, usual.clone(), false));
        assert_eq!(ends(&[96.0, 100.0]), (94.0, 100.0, ["sends: 94".to_owned(), "100 ".to_owned()], true));
        assert_eq!(ends(&[100.0, 100.0]), (0.0, 100.0, usual, false), "equal bars are whole");
    }
}
