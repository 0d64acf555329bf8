//! The slider of a parameter above the body of a section.

use crate::view::present::PaneInput;
use lightbay_core::report::SliderPlace;
use lightbay_widgets::Slider;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

/// Draws the slider of a section; `axis` has the ends and the columns of the axis of a chart below it.
pub fn slider(
    input: &PaneInput<'_>,
    place: &SliderPlace,
    axis: Option<((f64, f64), Rect)>,
    area: Rect,
    buf: &mut Buffer,
) {
    let ticks: Vec<(f64, &str)> = place.ticks.iter().map(|tick| (tick.at, tick.name.as_str())).collect();
    let turn = place.turn.as_ref().map(|(turn, _)| (turn.at, turn.name.as_str()));
    let theme = &input.app.look.theme;
    let [down, up] = ["narrower", "wider"].map(|action| input.app.keymap.hint(action));
    let mut words = format!("{down} {up} move it");
    if let Some((_, what)) = &place.turn {
        words = format!("{} {what}  {words}", theme.glyphs.up);
    }
    let ends = axis.map_or(place.ends, |(ends, _)| ends);
    let slider = Slider::new(theme, place.label, ends, (place.now.at, &place.now.name));
    let slider = slider.ticks(&ticks).turn(turn).words(&words);
    let slider = match axis {
        Some((_, columns)) => slider.plot(columns.x.saturating_sub(area.x), columns.width),
        None => slider,
    };
    slider.render(area, buf);
}
