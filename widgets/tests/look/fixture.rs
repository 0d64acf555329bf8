//! Data of the designed screens: the numbers of one moment of a real search.

use lightbay_widgets::{
    Activity, ActivityKind, ActivityRow, ActivityState, Axis, AxisPart, Baseline, Chart, Column, Edge, Event,
    Form, FormRow, FormState, GapBar, Interval, ItemShape, Label, Lane, Matrix, MatrixCell, MatrixState,
    Meter, MethodRow, Part, Piece, RowSum, RunWord, Sentence, Series, SolveStrip, Stack, StackLayer,
    StackMark, Table, TableRow, TableState, Theme, Timeline, TimelineItem, TimelineState, Tone,
};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::widgets::{StatefulWidget, Widget};

/// Start and length of the last intervals, in seconds and milliseconds.
const INTERVALS: [(f64, f64); 13] = [
    (11.6317, 0.3),
    (11.6320, 155.4),
    (11.7874, 0.5),
    (11.7879, 77.8),
    (11.8657, 0.5),
    (11.8662, 77.6),
    (11.9438, 155.6),
    (12.0994, 0.5),
    (12.0999, 155.9),
    (12.2558, 155.6),
    (12.4114, 263.1),
    (12.6745, 30.2),
    (12.7047, 124.3),
];

pub fn intervals() -> Vec<Interval> {
    INTERVALS.iter().map(|&(start_s, ms)| Interval { start_s, length_s: ms / 1e3 }).collect()
}

fn pp(id: u32, name: &'static str, critical: bool, at: usize) -> ActivityRow {
    ActivityRow {
        id,
        name: name.into(),
        tone: Tone::Backward,
        critical,
        first: at,
        amounts: vec![4.0],
        full: 8.0,
        ..ActivityRow::default()
    }
}

fn dp(id: u32, name: &'static str, first: usize, amounts: &[f64]) -> ActivityRow {
    ActivityRow {
        id,
        name: name.into(),
        tone: Tone::Gradient,
        critical: id == 8,
        first,
        amounts: amounts.to_vec(),
        full: 4.0,
        window: Some(first.saturating_sub(1)..12),
        ..ActivityRow::default()
    }
}

fn link(name: &'static str, full: f64, first: usize, amounts: &[f64]) -> ActivityRow {
    ActivityRow {
        kind: ActivityKind::Capacity,
        name: name.into(),
        first,
        amounts: amounts.to_vec(),
        full,
        ..ActivityRow::default()
    }
}

pub fn activity_rows() -> Vec<ActivityRow> {
    vec![
        pp(0, "B46 s3>s2", false, 0),
        pp(1, "B48 s5>s4", true, 2),
        pp(2, "B47 s3>s2", false, 4),
        pp(3, "B48 s3>s2", true, 7),
        dp(4, "DP s6", 0, &[3.0, 3.0, 3.0, 0.0, 0.0, 0.5, 1.5, 1.5, 1.5, 1.5, 1.5]),
        dp(5, "DP s5", 3, &[3.0, 3.0, 2.5, 1.5, 1.5, 1.5, 1.5, 1.5]),
        link("of 3", 3.0, 0, &[3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0]),
        dp(6, "DP s4", 6, &[4.0, 4.0, 0.0, 2.0, 2.0, 2.0]),
        dp(7, "DP s3", 8, &[4.0, 2.0, 2.0, 2.0]),
        link("of 4", 4.0, 6, &[4.0, 4.0, 4.0, 4.0, 4.0, 4.0]),
        dp(8, "DP s2", 9, &[4.0, 2.0, 2.0, 2.5]),
        dp(9, "DP s1", 10, &[4.0, 4.0, 3.5]),
        link("of 6", 6.0, 9, &[4.0, 6.0, 6.0, 6.0]),
    ]
}

pub fn draw_activity(theme: &Theme, area: Rect, buf: &mut Buffer) {
    let mut state =
        ActivityState { selected: Some(8), column_offset: usize::MAX, ..ActivityState::default() };
    Activity::new(theme, &intervals(), &activity_rows()).render(area, buf, &mut state);
}

pub fn draw_form(theme: &Theme, area: Rect, buf: &mut Buffer) {
    let rows = [
        FormRow::field(0, "gpus", "384"),
        FormRow::field(1, "tp × pp", "8 × 6"),
        FormRow::field(2, "micro_batches", "48"),
        FormRow::field(3, "seq", "4 096"),
        FormRow::field(4, "bandwidth_gbps", "800").changed_from("400"),
        FormRow::field(5, "mfu", "0.40"),
        FormRow::field(6, "ports_per_pod", "16"),
        FormRow::field(7, "gap", "0.01").unit("%"),
        FormRow::field(8, "time_limit", "10:00"),
        FormRow { changed: true, ..FormRow::note("run uses 400   r solve") },
    ];
    let mut state = FormState { selected: Some(4), ..FormState::default() };
    Form::new(theme, &rows).render(area, buf, &mut state);
}

fn plan(
    id: u32,
    number: &'static str,
    method: &'static str,
    makespan: &'static str,
    nct: &'static str,
) -> TableRow {
    TableRow::item(
        id,
        vec![Piece::muted(number), Piece::text(method), Piece::text(makespan), Piece::text(nct)],
    )
}

pub fn draw_plans(theme: &Theme, area: Rect, buf: &mut Buffer) {
    let columns = [
        Column::right("#", 1),
        Column::left("method", 14).gap(1).grow(),
        Column::right("makespan s", 10).priority(1).gap(1),
        Column::right("NCT", 6),
    ];
    let mut rows = vec![
        plan(6, "6", "delta-level", "12.829852", "1.0691"),
        plan(7, "7", "delta-interval", "12.829852", "1.0691"),
        plan(5, "5", "delta-fast", "12.868430", "1.1622"),
        plan(4, "4", "iter-halve", "12.871114", "1.1687").mark("B"),
        plan(3, "3", "sqrt-alloc", "12.871114", "1.1687"),
        plan(2, "2", "prop-alloc", "12.921446", "1.2902"),
    ];
    rows[0].cells[1] = Piece::answer("delta-level");
    rows.push(TableRow::fixed(vec![
        Piece::muted("–"),
        Piece::muted("ideal network"),
        Piece::muted("12.801242"),
        Piece::muted("1.0000"),
    ]));
    let mut state = TableState { selected: Some(6), ..TableState::default() };
    Table::new(theme, &columns, &rows).render(area, buf, &mut state);
}

pub fn draw_solve(theme: &Theme, area: Rect, buf: &mut Buffer) {
    let method = |id, name: &'static str, state, elapsed: &'static str| MethodRow {
        id,
        name: name.into(),
        state,
        elapsed: elapsed.into(),
        ..MethodRow::default()
    };
    let mut methods = vec![
        method(1, "delta-interval", RunWord::Running, ""),
        method(2, "delta-joint", RunWord::Paused, ""),
        method(3, "delta-level", RunWord::Done, ""),
        method(4, "delta-fast", RunWord::Done, ""),
    ];
    methods[1].note = vec![Piece::muted("vector "), Piece::text("1 of 61")];
    let ideal = [Piece::muted("ideal "), Piece::text("12.801")];
    let bound = [Piece::muted("bound "), Piece::new("12.821", Tone::Good)];
    let best = [Piece::muted("best "), Piece::answer("12.830")];
    let left = [Piece::new("19.90", Tone::Good).bold(), Piece::muted(" of 28.61 ms")];
    let right = [Piece::answer("70 %")];
    let strip = SolveStrip::new(theme, &methods)
        .ends(&ideal, &bound, &best)
        .bar(GapBar::new(theme, 12.801_242, Some(12.821_14), Some(12.829_852)))
        .caption(&left, &right);
    strip.render(area, buf, &mut lightbay_widgets::Hits::default());
}

pub fn draw_ports(theme: &Theme, area: Rect, buf: &mut Buffer) {
    let rows = ["p0", "p1", "p2"].map(Label::from);
    let columns = ["p0", "p1", "p2", "peer"].map(Label::from);
    let none = MatrixCell::default();
    let cell = |value: i32, difference: i32| MatrixCell {
        value: Some(value),
        difference,
        heat: Some(Theme::heat_level(f64::from(value) / 8.0)),
        ..MatrixCell::default()
    };
    let cells = [
        [none, cell(4, 2), none, cell(6, -1)],
        [cell(4, 2), none, cell(4, 2), cell(4, -2)],
        [none, cell(4, 2), none, cell(3, -4)],
    ]
    .concat();
    let sums = [16, 16, 10].map(|used| RowSum { used, limit: 16 });
    Matrix::new(theme, &rows, &columns, &cells).sums(&sums).render(area, buf, &mut MatrixState::default());
}

fn point(id: u32, lane: usize, name: String, start_s: f64, shape: ItemShape, critical: bool) -> TimelineItem {
    TimelineItem { id, lane, name: name.into(), start_s, end_s: start_s + 0.0005, shape, critical, row: 0 }
}

fn bar(id: u32, lane: usize, row: u16, name: &'static str, span_s: (f64, f64)) -> TimelineItem {
    TimelineItem {
        id,
        lane,
        row,
        name: name.into(),
        start_s: span_s.0,
        end_s: span_s.1,
        shape: ItemShape::Bar,
        critical: id == 105,
    }
}

pub fn draw_dag(theme: &Theme, area: Rect, buf: &mut Buffer) {
    let parts = [
        AxisPart::Span { from_s: 0.0, to_s: 1.2, weight: 2 },
        AxisPart::Fold,
        AxisPart::Span { from_s: 11.4, to_s: 12.83, weight: 5 },
    ];
    let lane = |name: &'static str, folded: u32| Lane {
        name: name.into(),
        rows: 1,
        rail: true,
        folded: vec![folded],
        ..Lane::default()
    };
    let gradients = |name: &'static str| Lane { name: name.into(), rows: 2, ..Lane::default() };
    let lanes = [
        lane("p0→p1", 43),
        lane("p1→p0", 43),
        lane("p1→p2", 44),
        lane("p2→p1", 44),
        gradients("p2 dp"),
        gradients("p1 dp"),
        gradients("p0 dp"),
    ];
    let mut items = Vec::new();
    for (i, start) in [0.156, 0.234, 0.312, 0.390, 0.520].into_iter().enumerate() {
        items.push(point(i as u32, 0, (i + 1).to_string(), start, ItemShape::Forward, i == 0));
    }
    items.push(point(10, 1, "1".into(), 1.09, ItemShape::Backward, true));
    for (i, start) in [11.4, 11.63, 11.866, 12.1].into_iter().enumerate() {
        items.push(point(11 + i as u32, 1, (45 + i).to_string(), start, ItemShape::Backward, i == 3));
    }
    items.push(point(20, 2, "1".into(), 0.312, ItemShape::Forward, true));
    items.push(point(21, 2, "2".into(), 0.312_2, ItemShape::Forward, false));
    items.push(point(30, 3, "48".into(), 11.788, ItemShape::Backward, true));
    items.extend([
        bar(101, 4, 0, "DP s6", (11.55, 12.67)),
        bar(102, 4, 1, "DP s5", (11.71, 12.67)),
        bar(103, 5, 0, "DP s4", (11.87, 12.70)),
        bar(104, 5, 1, "DP s3", (12.02, 12.70)),
        bar(105, 6, 0, "DP s2", (12.256_5, 12.829_852)),
        bar(106, 6, 1, "DP s1", (12.41, 12.829_852)),
    ]);
    let from = items.iter().position(|item| item.id == 14).unwrap();
    let to = items.iter().position(|item| item.id == 105).unwrap();
    let edges = [Edge { from, to, label: "+155.9 ms".into() }];
    let mut state = TimelineState { selected: Some(105), ..TimelineState::default() };
    Timeline::new(theme, &parts, &lanes, &items).edges(&edges).render(area, buf, &mut state);
}

pub fn draw_path(theme: &Theme, area: Rect, buf: &mut Buffer) {
    let rows = [
        ("ideal", "12 801.24", 0.0, 0.0, Tone::Text),
        ("PP, 4 of 8", "+12.58", 0.0, 12.58, Tone::Forward),
        ("DP s1 s2", "+16.03", 12.58, 16.03, Tone::Bad),
        ("makespan", "12 829.85", 0.0, 0.0, Tone::Answer),
    ];
    for (y, (name, value, start, amount, tone)) in (area.y..area.bottom()).zip(rows) {
        let row = Rect { y, height: 1, ..area };
        let words = [Piece::new(format!("{name:<10}  {value:>9}"), tone)];
        Sentence::new(theme, &words).render(row, buf);
        let taken = 23.min(row.width);
        let bar = Rect { x: row.x + taken, width: row.width - taken, ..row };
        Meter::new(theme, &[Part::new(amount, tone, '#')], 28.61).start(start).render(bar, buf);
    }
}

pub fn draw_ga(theme: &Theme, area: Rect, buf: &mut Buffer) {
    let best: Vec<_> = (0..=228).map(|g| (f64::from(g), if g < 24 { 35.0 } else { 28.61 })).collect();
    let mean: Vec<_> = (0..=228)
        .map(|g: i32| (f64::from(g), 60.0 + 900.0 / f64::from(1 + g * g) + f64::from(g % 7) * 9.0))
        .collect();
    let series = [
        Series::new("best 1.069", '*', Tone::Answer).points(best).step().bold(),
        Series::new("mean", 'm', Tone::Muted).points(mean),
    ];
    let baselines = [
        Baseline { name: "prop 1.290".into(), value: 120.2 },
        Baseline { name: "B iter 1.169".into(), value: 69.87 },
    ];
    let events = [Event { at: 24.0, name: "offer".into(), cursor: false }];
    Chart::new(theme, &series, Axis::log_from_zero("generation"), Axis::log("ms"))
        .baselines(&baselines)
        .events(&events)
        .render(area, buf);
}

pub fn draw_search(theme: &Theme, area: Rect, buf: &mut Buffer) {
    let best =
        vec![(0.0, 12.888_78), (10.0, 12.868), (12.0, 12.831_362), (16.8, 12.829_852), (62.0, 12.829_852)];
    let bound =
        vec![(0.0, 12.801), (12.0, 12.813_372), (17.0, 12.813_825), (49.9, 12.820_989), (62.0, 12.820_989)];
    let series = [
        Series::new("best 12.830", 'U', Tone::Answer).points(best).step().bold(),
        Series::new("bound 12.821", 'L', Tone::Good).points(bound).step().bold(),
    ];
    Chart::new(theme, &series, Axis::linear("seconds"), Axis::linear("s")).render(area, buf);
}

pub fn draw_rates(theme: &Theme, area: Rect, buf: &mut Buffer) {
    let times_s = [32.097, 32.249, 32.400, 32.552, 32.917, 32.958];
    let layer = |name: &'static str, shade: u8, letter: char, amounts: [f64; 5]| StackLayer {
        name: name.into(),
        shade,
        letter,
        amounts: amounts.to_vec(),
    };
    let layers = [
        layer("DP s4 4.0", 0, '4', [4.0, 4.0, 0.0, 1.3, 0.0]),
        layer("DP s3 1.3", 1, '3', [0.0, 4.0, 4.0, 1.35, 0.0]),
        layer("DP s2 1.3", 2, '2', [0.0, 0.0, 4.0, 1.35, 0.0]),
        layer("DP s1 4.0", 3, '1', [0.0, 0.0, 0.0, 4.0, 4.0]),
    ];
    let marks = [StackMark { at_s: 32.958, name: "ends 32.958".into(), tone: Tone::Good, dotted: false }];
    Stack::new(theme, &times_s, &layers)
        .limit(8.0, "8 circuits")
        .span_s(32.07, 33.02)
        .marks(&marks)
        .selected(Some(3))
        .render(area, buf);
}
