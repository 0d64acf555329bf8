use super::text::{Extent, grid, heading};
use super::*;
use serde_json::json;

fn curves() -> Curves {
    let curve = |name: &str, points: &[(f64, f64)]| Curve {
        name: format!("{name}_s"),
        label: name.to_owned(),
        unit: Unit::MILLISECONDS,
        points: points.iter().map(|&(at, value)| Point { at, value }).collect(),
        tone: Tone::Text,
        steps: false,
    };
    Curves {
        axis: "offered",
        axis_label: "offered",
        axis_unit: Unit::RATIO.with_decimals(1),
        axis_range: None,
        axis_is_log: false,
        values_are_log: false,
        curves: vec![curve("joint", &[(1.0, 0.002), (2.0, 0.004)]), curve("fair", &[(2.0, 0.005)])],
        ..Default::default()
    }
}

fn matrix() -> Matrix {
    Matrix {
        name: "circuits",
        unit: Unit::COUNT,
        rows: vec!["p0".to_owned(), "p1".to_owned()],
        columns: vec!["p0".to_owned(), "p1".to_owned()],
        cells: vec![Cell::none(), Cell::new(3), Cell::new(3), Cell::none()],
        symmetric: true,
        shaded: true,
        ..Default::default()
    }
}

fn spans() -> Spans {
    let span = Span {
        name: "F1".to_owned(),
        start_s: 0.5,
        end_s: 1.25,
        tone: Tone::Text,
        item: Some(7),
        ..Span::default()
    };
    Spans {
        lanes: vec![Lane { name: "p0-p1".to_owned(), spans: vec![span], ..Lane::default() }],
        end_s: 2.0,
        ..Spans::default()
    }
}

#[test]
fn curves_share_an_axis_and_leave_gaps_where_they_have_no_point() {
    let shown = grid(&curves().into(), Extent::All);
    assert_eq!(shown.heads, ["offered", "joint ms", "fair ms"]);
    assert_eq!(shown.rows, [["1.0", "2.000", ""], ["2.0", "4.000", "5.000"]]);
    let data = json::section(&Section::new("Load", curves()));
    assert_eq!(data["curves"][1], json!({ "name": "fair_s", "points": [[2.0, 0.005]] }));
}

#[test]
fn a_matrix_has_its_names_in_front_and_numbers_to_the_right() {
    let shown = grid(&matrix().into(), Extent::All);
    assert_eq!(
        (shown.heads, shown.right),
        (vec![String::new(), "p0".to_owned(), "p1".to_owned()], vec![false, true, true])
    );
    assert_eq!(shown.rows, [["p0", "-", "3"], ["p1", "3", "-"]]);
    assert_eq!(json::section(&Section::new("x", matrix()))["circuits"], json!([[null, 3], [3, null]]));
}

#[test]
fn spans_are_rows_with_their_lane() {
    assert_eq!(grid(&spans().into(), Extent::All).rows, [["p0-p1", "F1", "0.500000", "1.250000"]]);
    let row = json!([{ "lane": "p0-p1", "name": "F1", "start_s": 0.5, "end_s": 1.25 }]);
    assert_eq!(json::section(&Section::new("x", spans())), row);
}

#[test]
fn an_overview_says_how_much_it_leaves_out() {
    let mut table = Table::new(["task", "tasks"], vec![Column::counts("task", "task")]).overview(2);
    (0..5).for_each(|task| {
        table.row(vec![Cell::new(task)]);
    });
    let section = Section::new("Schedule", table);
    let block = &section.blocks[0];
    let shown = grid(&block.body, Extent::Overview);
    assert_eq!(heading(&section, block, &shown), "Schedule, 2 of 5 tasks");
    let all = grid(&block.body, Extent::All);
    assert_eq!((heading(&section, block, &all), all.rows.len()), ("Schedule".to_owned(), 5));
}

#[test]
fn figures_are_read_with_unit_and_note_and_written_in_base_units() {
    let mut facts = Facts::new();
    facts.number("loss_s", "loss", Unit::MILLISECONDS, Cell::new(0.02861).note("claimed"));
    facts.sentence("over the ideal network");
    let section = Section::new("Path", facts).remark("Rates are planned.");
    let shown = grid(&section.blocks[0].body, Extent::All);
    assert_eq!(shown.rows, [["loss", "28.610 ms, claimed; over the ideal network"]]);
    assert_eq!(json::section(&section), json!({ "loss_s": 0.02861, "remarks": ["Rates are planned."] }));
}

#[test]
fn an_overview_picks_the_rows_that_rank_highest() {
    let columns = vec![Column::words("task", "task"), Column::numbers("adds_s", "adds", Unit::MILLISECONDS)];
    let mut table = Table::new(["task", "tasks"], columns).overview(2).rank(1);
    for (name, adds_s) in [("a", 0.001), ("b", 0.003), ("c", 0.002)] {
        table.row(vec![Cell::new(name), Cell::new(adds_s)]).mark = if name == "c" { "!" } else { "" };
    }
    let body = table.into();
    assert_eq!(grid(&body, Extent::Overview).rows, [["b", "3.000"], ["c !", "2.000"]]);
    assert_eq!(grid(&body, Extent::All).rows[0], ["a", "1.000"], "all of them stand in their own order");
}

#[test]
fn rows_are_listed_in_the_orders_of_the_table() {
    let columns = vec![Column::words("task", "task"), Column::counts("link", "link")];
    let mut table =
        Table::new(["task", "tasks"], columns).order("by link", vec![1, 0]).order("by name", vec![0]);
    for (name, link) in [("b", Cell::new(10)), ("c", Cell::new(9)), ("a", Cell::new(10)), ("d", Cell::none())]
    {
        table.row(vec![Cell::new(name), link]);
    }
    assert_eq!(table.ordered("by link"), [3, 1, 2, 0], "numbers by size, ties by name, nothing first");
    assert_eq!(table.ordered("by name"), [2, 0, 1, 3]);
    assert_eq!(table.ordered("whatever"), [0, 1, 2, 3]);
}

#[test]
fn loads_over_time_are_data_of_their_row() {
    let mut table = Table::new(["link", "links"], vec![Column::words("link", "link")]);
    table.loads = Some(LoadAxis { name: "demand", windows: vec![("", 0.0, 2.0)] });
    table.row(vec![Cell::new("p0")]).load = vec![LoadSpan { start_s: 0.5, end_s: 1.0, share: 2.0 }];
    let data = json::section(&Section::new("x", table));
    assert_eq!(data, json!([{ "link": "p0", "demand": [[0.5, 1.0, 2.0]] }]));
}

#[test]
fn overviews_thin_long_curves_and_say_so() {
    let mut curves = curves();
    curves.curves.truncate(1);
    curves.curves[0].points = (0..1000).map(|at| Point { at: f64::from(at), value: 0.0 }).collect();
    let section = Section::new("Load", curves);
    let shown = grid(&section.blocks[0].body, Extent::Overview);
    // 50 of 1000 points, the first and the last among them.
    assert_eq!((shown.rows.len(), &*shown.rows[0][0], &*shown.rows[49][0]), (50, "0.0", "999.0"));
    assert!(heading(&section, &section.blocks[0], &shown).ends_with("50 of 1000 points"));
    assert_eq!(grid(&section.blocks[0].body, Extent::All).rows.len(), 1000);
}

#[test]
fn a_slider_goes_in_steps_of_one_two_and_five() {
    let slider = SectionInfo::of_scenario("x", "X", "").slides("delay_ms", (-3, 1)).slides.unwrap();
    assert_eq!(slider.next(0.0, true), Some(0.001));
    // From a value between steps to the next one on either side.
    assert_eq!((slider.next(0.025, true), slider.next(0.025, false)), (Some(0.05), Some(0.02)));
    assert_eq!((slider.next(0.2, true), slider.next(0.2, false)), (Some(0.5), Some(0.1)));
    assert_eq!((slider.next(5.0, true), slider.next(10.0, true)), (Some(10.0), None));
    assert_eq!((slider.next(0.001, false), slider.next(5670.0, false)), (None, Some(10.0)));
}

#[test]
fn a_slider_stops_at_named_values_too() {
    let section =
        SectionInfo::of_scenario("x", "X", "").slides("delay_ms", (-3, 1)).stops(&[(25, -2), (7, -3)]);
    let slider = section.slides.unwrap();
    assert_eq!((slider.next(0.2, true), slider.next(0.5, false)), (Some(0.25), Some(0.25)));
    assert_eq!((slider.next(0.25, true), slider.next(0.25, false)), (Some(0.5), Some(0.2)));
    assert_eq!((slider.next(0.005, true), slider.next(0.01, false)), (Some(0.007), Some(0.007)));
}
