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

fn drawn(theme: &Theme, chart: &Chart<'_>, (width, height): (u16, u16)) -> String {
    let area = Rect::new(0, 0, width, height);
    let mut buf = Buffer::empty(area);
    chart.render(area, &mut buf);
    assert!(!theme.is_ascii() || crate::text_of(&buf).is_ascii());
    crate::text_of(&buf)
}

/// Two curves that end in one row: only one label can be there, so letters join both labels to their curves.
#[test]
fn labels_away_from_their_curves_have_letters() {
    let theme = Theme::default();
    let line = |name: &'static str, letter, high| {
        Series::new(name, letter, Tone::Text).points((0..60).map(|at| (f64::from(at), high)).collect())
    };
    let apart = [line("ring", 'r', 1.0), line("single tree", 'i', 9.0)];
    let chart = |series| Chart::new(&theme, series, Axis::linear("s"), Axis::linear("GB/s"));
    let plain = drawn(&theme, &chart(&apart), (80, 12));
    assert!(!plain.contains("i single tree"), "{plain}");
    let close = [line("ring", 'r', 9.0), line("single tree", 'i', 9.001), line("low", 'l', 1.0)];
    let lettered = drawn(&theme, &chart(&close), (80, 12));
    assert!(lettered.contains("i single tree") && lettered.contains("ring"), "{lettered}");
    let plot =
        |text: &str| text.lines().map(|line| line.chars().take(60).collect::<String>()).collect::<String>();
    assert!(plot(&lettered).contains('l') && !plot(&plain).contains('i'), "{lettered}");
}

#[test]
fn a_curve_that_leaves_the_plot_is_named_at_its_exit() {
    let theme = Theme::default();
    let series = [
        Series::new("flat", 'f', Tone::Answer).points(vec![(0.0, 1.0), (100.0, 1.0)]),
        Series::new("steep", 's', Tone::Text).points(vec![(0.0, 0.0), (20.0, 10.0), (100.0, 50.0)]),
    ];
    let y = Axis::linear("s").bounds(0.0, 10.0);
    let text = drawn(&theme, &Chart::new(&theme, &series, Axis::linear("ms"), y), (80, 14));
    let row = text.lines().position(|line| line.contains("steep")).unwrap();
    let column = text.lines().nth(row).and_then(|line| line.find("steep")).unwrap();
    assert!(row < 3 && (10..40).contains(&column), "{text}");
    assert!(text.lines().any(|line| line.ends_with(" flat")), "{text}");
}

/// The plot begins below the names, so that names never cover curves and lines never cross names.
#[test]
fn names_of_events_are_above_the_plot() {
    let theme = Theme::default();
    let series = [Series::new("top", 't', Tone::Answer).points(vec![(0.0, 5.0), (50.0, 5.0), (100.0, 0.0)])];
    let event = |at, name: &'static str| Event { at, name: name.into(), cursor: false };
    let events = [event(40.0, "break-even"), event(44.0, "now"), event(99.0, "a long last name")];
    let chart = Chart::new(&theme, &series, Axis::linear("ms"), Axis::linear("s")).events(&events);
    let text = drawn(&theme, &chart, (80, 20));
    for name in ["break-even", "now", "a long last name"] {
        assert!(text.lines().take(3).any(|line| line.contains(name)), "{name}: {text}");
    }
    let first = text.lines().position(|line| line.chars().any(|c| ('\u{2801}'..='\u{28ff}').contains(&c)));
    assert!(first.is_some_and(|row| row >= 2), "{text}");
}

/// A name next to its mark keeps its row; far from it, it would be read as the name of another curve.
#[test]
fn the_name_of_a_mark_is_in_its_row_or_the_next() {
    let theme = Theme::default();
    let curve = |high: f64| (0..60).map(|at| (f64::from(at), high)).collect::<Vec<_>>();
    let series = [
        Series::new("replay", 'r', Tone::Answer).points(vec![(30.0, 9.0)]),
        Series::new("bound", 'b', Tone::Good).points(curve(9.6)),
        Series::new("ring", 'i', Tone::Text).points(curve(4.0)),
    ];
    for height in [8, 12, 16] {
        let chart = Chart::new(&theme, &series, Axis::linear("s"), Axis::linear("GB/s"));
        let text = drawn(&theme, &chart, (60, height));
        let row = |name: &str| text.lines().position(|line| line.contains(name));
        let mark = row("\u{25cf}").unwrap();
        assert!(row("replay").is_none_or(|name| name.abs_diff(mark) <= 1), "{text}");
    }
}

/// Labels that collide are moved; a label below them whose row is free stays in it, and so does a baseline at the top.
#[test]
fn only_labels_that_collide_leave_their_rows() {
    let theme = Theme::default();
    let line = |name: &'static str, letter, high| {
        Series::new(name, letter, Tone::Text).points((0..60).map(|at| (f64::from(at), high)).collect())
    };
    let row = |text: &str, name: &str| text.lines().position(|line| line.contains(name)).unwrap();
    let axis = || Axis::linear("GB/s").bounds(0.0, 10.0);
    let series = [line("a", 'a', 9.0), line("b", 'b', 9.0), line("c", 'c', 9.0), line("low end", 'l', 6.0)];
    let chart = Chart::new(&theme, &series, Axis::linear("s"), axis());
    let crowded = drawn(&theme, &chart, (80, 12));
    let alone = drawn(&theme, &Chart::new(&theme, &series[3..], Axis::linear("s"), axis()), (80, 12));
    assert_eq!(row(&crowded, "low end"), row(&alone, "low end"), "{crowded}");
    let lines = [Baseline { name: "any pod".into(), value: 9.0 }];
    let series = [line("upper bound", 'u', 8.99), line("certified", 'c', 8.98)];
    let chart = Chart::new(&theme, &series, Axis::linear("s"), axis()).baselines(&lines);
    let text = drawn(&theme, &chart, (80, 12));
    let curve = text.lines().position(|line| line.chars().any(|c| ('\u{2801}'..='\u{28ff}').contains(&c)));
    assert_eq!(Some(row(&text, "any pod")), curve, "{text}");
}

#[test]
fn a_long_name_of_an_axis_takes_the_place_of_no_tick() {
    let theme = Theme::default();
    let curve = Series::new("latency", 'l', Tone::Text).points(vec![(0.0, 1.0), (1.6, 5.0)]);
    let long = Axis::linear("offered, flits/cycle/chip");
    let text = drawn(&theme, &Chart::new(&theme, &[curve], long, Axis::linear("us")), (60, 10));
    let axis = text.lines().last().unwrap_or_default();
    assert!(axis.contains("1.5") && axis.ends_with("offered"), "{text}");
}
