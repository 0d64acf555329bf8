use super::*;

#[test]
fn a_curve_of_one_point_is_seen_and_counts_have_whole_ticks() {
    let theme = Theme::default().with_glyphs(crate::glyphs::GlyphSet::Braille);
    let series = [
        Series::new("plan", 'p', Tone::Answer).points(vec![(4.0, 1.0)]),
        Series::new("floor", 'f', Tone::Text).points(vec![(1.0, 2.0), (7.0, 2.0)]),
    ];
    let area = Rect::new(0, 0, 90, 6);
    let mut buf = Buffer::empty(area);
    let x = Axis::linear("NICs").whole(true);
    (&Chart::new(&theme, &series, x, Axis::linear("s"))).render(area, &mut buf);
    let text = crate::text_of(&buf);
    assert!(text.contains('●'), "{text}");
    let ticks: Vec<&str> = text.lines().last().unwrap_or_default().split_whitespace().collect();
    assert_eq!(ticks, ["1", "2", "3", "4", "5", "6", "7", "NICs"]);
}
