//! Tests of hits, of selections that move, and of the words of each state of a pane.
#![allow(clippy::unwrap_used, reason = "a failed test may stop")]

use lightbay_widgets::*;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier};
use ratatui_core::widgets::{StatefulWidget, Widget};

fn buffer(width: u16, height: u16) -> (Rect, Buffer) {
    let area = Rect::new(0, 0, width, height);
    (area, Buffer::empty(area))
}

fn row(id: u32) -> TableRow {
    TableRow::item(id, vec![Piece::text(format!("plan {id}"))])
}

#[test]
fn a_table_keeps_the_selected_row_when_rows_move() {
    let theme = Theme::default();
    let columns = [Column::left("name", 10)];
    let mut rows: Vec<_> = (0..50).map(row).collect();
    let mut state = TableState { selected: Some(40), ..TableState::default() };
    let (area, mut buf) = buffer(20, 6);
    Table::new(&theme, &columns, &rows).render(area, &mut buf, &mut state);
    assert_eq!(state.visible, 36..41);
    assert_eq!(state.hits.at(3, 5).map(|hit| hit.id), Some(40));
    assert!(text_of(&buf).ends_with(">  plan 40"), "{}", text_of(&buf));
    rows.insert(0, row(99));
    rows.swap(41, 2);
    let (area, mut buf) = buffer(20, 6);
    Table::new(&theme, &columns, &rows).render(area, &mut buf, &mut state);
    assert_eq!(state.selected, Some(40));
    assert!(text_of(&buf).contains(">  plan 40"));
}

#[test]
fn stepping_skips_what_cannot_be_selected() {
    let rows = [TableRow::heading("result"), row(1), TableRow::gap(), TableRow::fixed(vec![]), row(2)];
    let mut state = TableState::default();
    state.step(&rows, 1);
    assert_eq!(state.selected, Some(1));
    state.step(&rows, 1);
    assert_eq!(state.selected, Some(2));
    state.step(&rows, -9);
    assert_eq!(state.selected, Some(1));
    let fields = [FormRow::heading("job"), FormRow::field(7, "seq", "1"), FormRow::note("x")];
    let mut state = FormState::default();
    state.step(&fields, -1);
    assert_eq!(state.selected, Some(7));
}

#[test]
fn columns_go_by_priority_before_a_name_does() {
    let theme = Theme::default();
    let columns = [
        Column::left("method", 14),
        Column::right("makespan s", 10).priority(2),
        Column::right("NCT", 6).priority(1),
    ];
    let rows = [TableRow::item(0, vec!["delta-interval".into(), "12.829852".into(), "1.0691".into()])];
    let draw = |width| {
        let (area, mut buf) = buffer(width, 2);
        Table::new(&theme, &columns, &rows).render(area, &mut buf, &mut TableState::default());
        text_of(&buf).lines().nth(1).unwrap().to_owned()
    };
    assert_eq!(draw(40), "   delta-interval   12.829852  1.0691");
    assert_eq!(draw(36), "   delta-interval  1.0691");
    assert_eq!(draw(20), "   delta-interval");
    assert_eq!(draw(12), "   delt…rval");
}

#[test]
fn a_number_too_wide_for_its_column_is_not_cut() {
    let theme = Theme::default();
    let columns = [Column::right("s", 4)];
    let rows = [TableRow::item(0, vec!["12.829852".into()])];
    let (area, mut buf) = buffer(12, 2);
    Table::new(&theme, &columns, &rows).render(area, &mut buf, &mut TableState::default());
    assert_eq!(text_of(&buf), "      s\n      …");
}

#[test]
fn cells_of_the_activity_report_task_and_interval() {
    let theme = Theme::default();
    let intervals: Vec<_> = (0..30).map(|i| Interval { start_s: f64::from(i), length_s: 1.0 }).collect();
    let task = |id| ActivityRow {
        id,
        name: "DP s1".into(),
        amounts: vec![1.0; 30],
        full: 4.0,
        ..ActivityRow::default()
    };
    let rows = [task(11), task(12)];
    let mut state = ActivityState { selected: Some(12), interval: Some(29), ..ActivityState::default() };
    let (area, mut buf) = buffer(30, 4);
    Activity::new(&theme, &intervals, &rows).render(area, &mut buf, &mut state);
    assert_eq!(state.columns, 27..30);
    assert_eq!(state.hits.at(12, 2).map(|hit| (hit.id, hit.part)), Some((11, 27)));
    assert_eq!(state.hits.at(24, 3).map(|hit| (hit.id, hit.part)), Some((12, 29)));
    let cursor = buf.cell((24, 3)).unwrap();
    assert_eq!((cursor.fg, cursor.bg), (theme.cursor().fg.unwrap(), theme.cursor().bg.unwrap()));
    state.interval = Some(0);
    Activity::new(&theme, &intervals, &rows).render(area, &mut buf, &mut state);
    assert_eq!(state.columns.start, 0);
}

#[test]
fn proportional_columns_are_true_to_time_and_never_vanish() {
    let theme = Theme::default();
    let lengths = [0.7, 0.000_1, 0.3];
    let intervals: Vec<_> = lengths.iter().map(|&length_s| Interval { start_s: 0.0, length_s }).collect();
    let rows = [ActivityRow { name: "t".into(), amounts: vec![1.0; 3], full: 1.0, ..ActivityRow::default() }];
    let mut state = ActivityState::default();
    let (area, mut buf) = buffer(113, 4);
    let scale = ActivityScale::Proportional(3);
    Activity::new(&theme, &intervals, &rows).scale(scale).render(area, &mut buf, &mut state);
    let widths: Vec<_> = state.places.iter().map(|place| place.1).collect();
    assert!((69..=72).contains(&widths[0]) && widths[1] == 1 && (29..=31).contains(&widths[2]), "{widths:?}");
}

#[test]
fn a_full_link_is_heavy_and_another_is_not() {
    let theme = Theme::default();
    let intervals = [Interval { start_s: 0.0, length_s: 1.0 }; 2];
    let rows = [ActivityRow {
        kind: ActivityKind::Capacity,
        name: "of 6".into(),
        amounts: vec![6.0, 4.0],
        full: 6.0,
        ..ActivityRow::default()
    }];
    let (area, mut buf) = buffer(40, 3);
    Activity::new(&theme, &intervals, &rows).render(area, &mut buf, &mut ActivityState::default());
    assert_eq!(text_of(&buf).lines().nth(2).unwrap(), "  of 6    ━━━ 6 ━ ─── 4 ─");
}

#[test]
fn items_in_one_cell_are_counted_and_all_can_be_hit() {
    let theme = Theme::default();
    let parts = [AxisPart::Span { from_s: 0.0, to_s: 100.0, weight: 1 }];
    let lanes = [Lane { id: 3, name: "p0→p1".into(), rail: true, ..Lane::default() }];
    let item = |id: u32, start_s, critical| TimelineItem {
        id,
        start_s,
        end_s: start_s,
        critical,
        ..TimelineItem::default()
    };
    let items = [item(1, 50.0, false), item(2, 50.1, true), item(3, 50.2, false), item(4, 90.0, true)];
    let (area, mut buf) = buffer(48, 2);
    let mut state = TimelineState::default();
    Timeline::new(&theme, &parts, &lanes, &items).render(area, &mut buf, &mut state);
    let line = text_of(&buf).lines().nth(1).unwrap().to_owned();
    assert!(line.contains("┈3*┈") && line.contains("┈▸*┈"), "{line}");
    assert_eq!(state.hits.iter().filter(|hit| hit.part == 3).count(), 4);
}

#[test]
fn an_edge_carries_its_delay_to_the_selected_item() {
    let theme = Theme::default();
    let parts = [AxisPart::Span { from_s: 0.0, to_s: 30.0, weight: 1 }];
    let lanes = ["a", "b", "c"].map(|name| Lane { name: name.into(), ..Lane::default() });
    let bar = |id, lane, start_s, end_s| TimelineItem {
        id,
        lane,
        start_s,
        end_s,
        name: "x".into(),
        shape: ItemShape::Bar,
        ..TimelineItem::default()
    };
    let items = [bar(0, 0, 2.0, 10.0), bar(1, 2, 14.0, 25.0)];
    let edges = [Edge { from: 0, to: 1, label: "+4 s".into() }];
    let (area, mut buf) = buffer(34, 4);
    let mut state = TimelineState { selected: Some(1), ..TimelineState::default() };
    Timeline::new(&theme, &parts, &lanes, &items).edges(&edges).render(area, &mut buf, &mut state);
    let text = text_of(&buf);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[2], " b            │");
    assert_eq!(lines[3], ">c        +4 s└──▸▇x▇▇▇▇▇▇▇▇▇");
}

#[test]
fn matrix_shows_refused_and_edited_cells_in_words_of_one_letter() {
    let theme = Theme::mono(GlyphSet::Ascii);
    let names = ["p0", "p1"].map(Label::from);
    let cell = |value, flag| MatrixCell { value: Some(value), difference: 2, flag, ..MatrixCell::default() };
    let cells =
        [MatrixCell::default(), cell(4, CellFlag::Edited), cell(5, CellFlag::Refused), MatrixCell::default()];
    let sums = [RowSum { used: 20, limit: 16 }, RowSum { used: 8, limit: 16 }];
    let mut state = MatrixState { selected: Some((1, 0)), ..MatrixState::default() };
    let (area, mut buf) = buffer(40, 3);
    let matrix = Matrix::new(&theme, &names, &names, &cells).sums(&sums).editing(true);
    matrix.render(area, &mut buf, &mut state);
    let text = text_of(&buf);
    for sign in ["* 4 +2", "![5]+2", "+2! =", "20/16", "8/16"] {
        assert!(text.contains(sign), "{sign} missing in\n{text}");
    }
    let hit = state.hits.iter().find(|hit| (hit.id, hit.part) == (1, 0)).unwrap();
    assert_eq!(hit.rect.y, 2);
}

#[test]
fn panes_say_what_is_missing_and_what_to_do() {
    let theme = Theme::mono(GlyphSet::Ascii);
    let draw = |state| {
        let (area, mut buf) = buffer(40, 6);
        let pane = Pane::new(&theme, "GA").number(4).focused(true).state(state);
        pane.render(area, &mut buf);
        text_of(&buf)
    };
    let text = draw(PaneState::Empty { what: "no plan yet", remedy: "press r to solve" });
    assert!(text.contains("no plan yet") && text.contains("press r to solve"), "{text}");
    let text = draw(PaneState::Stale("from plan 6, parameters changed"));
    assert!(text.contains("from plan 6, parameters"), "{text}");
    let failed = PaneState::Failed {
        what: "no plan fits: pod 2 needs 38 ports, has 32",
        remedy: "raise 'ports_per_pod' or lower 'links_per_peer'",
    };
    let text = draw(failed);
    assert!(
        text.contains("! no plan fits: pod 2 needs 38") && text.contains("raise 'ports_per_pod'"),
        "{text}"
    );
    assert!(text.starts_with("= 4 GA ===="), "{text}");
}

#[test]
fn the_footer_never_loses_help_and_quit() {
    let theme = Theme::default();
    let mut hints: Vec<_> = (0..12).map(|id| KeyHint::new(id, "k", "a longer label")).collect();
    hints.push(KeyHint::new(20, "?", "help").keep());
    hints.push(KeyHint::new(21, "q", "quit").keep());
    for width in 16..120 {
        let (area, mut buf) = buffer(width, 1);
        Footer::new(&theme, &hints).render(area, &mut buf, &mut Hits::default());
        let text = text_of(&buf);
        assert!(text.ends_with("? help  q quit"), "{width}: {text}");
        // Whole entries only.
        assert_eq!(text.matches("k a").count(), text.matches("longer label").count(), "{text}");
    }
}

#[test]
fn the_header_keeps_answer_and_state_when_it_gets_narrow() {
    let theme = Theme::default();
    let segments = [
        Segment::new("", "megatron_177b"),
        Segment::new("plan", "6 delta-level").plain().priority(3),
        Segment::new("makespan", "12.829852 s"),
        Segment::new("NCT", "1.0691"),
        Segment::new("gap", "2.1 % NCT").priority(1),
    ];
    let state = [Piece::answer("RUNNING 01:02")];
    let draw = |width| {
        let (area, mut buf) = buffer(width, 1);
        Header::new(&theme, &segments, &state).brand("lightbay").render(area, &mut buf);
        text_of(&buf)
    };
    assert_eq!(draw(80), " megatron_177b  makespan 12.829852 s  NCT 1.0691  gap 2.1 % NCT   RUNNING 01:02");
    let narrow = draw(64);
    for sign in ["12.829852 s", "NCT 1.0691", "RUNNING 01:02"] {
        assert!(narrow.contains(sign), "{narrow}");
    }
}

#[test]
fn what_is_behind_a_popup_fades_and_the_popup_does_not() {
    let theme = Theme::default();
    let (area, mut buf) = buffer(30, 6);
    Pane::new(&theme, "Plans").render(area, &mut buf);
    Popup::dim(&theme, area, &mut buf);
    let behind = buf.cell((2, 0)).unwrap();
    // A third of D8DEE9 on 101418.
    assert_eq!((behind.symbol(), behind.fg), ("P", Color::Rgb(83, 87, 94)));
    let popup = Popup::centred(area, 20, 4);
    Popup::new(&theme, "Quit").render(popup, &mut buf);
    assert_eq!(buf.cell((popup.x, popup.y)).unwrap().symbol(), "╔");
    assert!(text_of(&buf).contains("╔═ Quit ═"));
}

#[test]
fn the_list_marks_matches_and_the_input_shows_its_cursor() {
    let theme = Theme::default();
    let items = [ListItem::new(1, "mark_plan").matches(vec![0, 5]), ListItem::new(2, "quit").enabled(false)];
    let mut state = ListState { selected: Some(2), ..ListState::default() };
    let (area, mut buf) = buffer(40, 2);
    List::new(&theme, &items).render(area, &mut buf, &mut state);
    let underlined: String = (0..40)
        .filter(|&x| buf.cell((x, 0)).unwrap().modifier.contains(Modifier::UNDERLINED))
        .map(|x| buf.cell((x, 0)).unwrap().symbol().to_owned())
        .collect();
    assert_eq!(underlined, "mp");
    assert_eq!(buf.cell((0, 1)).unwrap().symbol(), ">");
    let (area, mut buf) = buffer(12, 1);
    Input::new(&theme, "a long text that scrolls", 24).render(area, &mut buf);
    assert!(text_of(&buf).ends_with("hat scrolls"), "{}", text_of(&buf));
    assert_eq!(buf.cell((11, 0)).unwrap().bg, theme.cursor().bg.unwrap());
}

#[test]
fn the_gap_bar_never_claims_more_than_is_proven() {
    let theme = Theme::mono(GlyphSet::Ascii);
    let full = |bound, best| {
        let (area, mut buf) = buffer(20, 1);
        GapBar::new(&theme, 10.0, bound, best).render(area, &mut buf);
        text_of(&buf).matches('#').count()
    };
    assert_eq!(full(Some(10.999), Some(11.0)), 19);
    assert_eq!(full(Some(11.0), Some(11.0)), 20);
    assert_eq!(full(None, Some(11.0)), 0);
    assert_eq!(full(Some(10.5), None), 0);
    assert_eq!(full(Some(f64::NAN), Some(11.0)), 0);
    assert_eq!(full(None, Some(10.0)), 20);
}

#[test]
fn a_spike_between_two_columns_is_not_thinned_away() {
    let theme = Theme::mono(GlyphSet::Ascii);
    let points = (0..4000).map(|i| (f64::from(i), if i == 2001 { 100.0 } else { 0.0 })).collect();
    let series = [Series::new("load", '*', Tone::Text).points(points)];
    let (area, mut buf) = buffer(60, 8);
    Chart::new(&theme, &series, Axis::linear("s"), Axis::linear("")).render(area, &mut buf);
    assert!(text_of(&buf).lines().next().unwrap().contains('*'), "{}", text_of(&buf));
}

#[test]
fn gaps_are_counted_and_constant_curves_are_drawn() {
    let theme = Theme::mono(GlyphSet::Ascii);
    let points = vec![(0.0, 5.0), (1.0, f64::NAN), (2.0, f64::INFINITY), (3.0, 5.0)];
    let series = [Series::new("mean", 'm', Tone::Text).points(points)];
    let (area, mut buf) = buffer(50, 7);
    Chart::new(&theme, &series, Axis::linear("s"), Axis::linear("ms")).render(area, &mut buf);
    let text = text_of(&buf);
    assert!(text.contains("mean 2 gaps"), "{text}");
    assert_eq!(
        text.matches('m').count(),
        2 + "mean".matches('m').count() + "ms".matches('m').count(),
        "{text}"
    );
}
