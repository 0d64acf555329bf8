//! Rows, items and sentences of sections, without a terminal.

use super::list::{List, ListBlock};
use super::matrix::MatrixView;
use super::spans::SpansView;
use super::*;
use crate::app::drawn::Item;
use lightbay_core::report::{Cell, Column, Facts, Lane, Matrix, Section, Span, Spans, Table, Unit};

fn section() -> Section {
    let mut facts = Facts::new();
    facts.number("makespan_s", "makespan", Unit::SECONDS, 12.5);
    facts.sentence("of one iteration");
    let columns = vec![
        Column::words("pod", "pod"),
        Column::counts("ports", "ports"),
        Column::numbers("gain_s", "gains", Unit::MILLISECONDS),
    ];
    let mut table = Table::new(["pod", "pods"], columns).bar(2);
    table.row(vec![Cell::new("p0"), Cell::new(16), Cell::new(0.002)]).item = Some(7);
    table.row(vec![Cell::new("p1"), Cell::new(8), Cell::none()]).sentence = "> p1 is full".into();
    Section::empty("Pods").block("sum", "Sum", facts).block("pods", "Pods", table)
}

fn list(section: &Section) -> List {
    let blocks = 0..section.blocks.len();
    List::new(blocks.filter_map(|index| ListBlock::all(section, index, None).first().cloned()))
}

#[test]
fn blocks_stand_one_below_the_other_with_headings_and_a_gap() {
    let section = section();
    let list = list(&section);
    // Heading and one fact; a gap; heading, names of columns and two rows.
    assert_eq!(list.rows(), 2 + 1 + 4);
    let rows: Vec<u32> = list.items().iter().map(|item| item.row).collect();
    assert_eq!(rows, [1, 5, 6]);
    assert_eq!(list.items()[1].id, 7, "a row keeps the item that the kind gave it");
}

#[test]
fn sentences_are_those_of_the_kind_or_made_of_the_figures() {
    let section = section();
    let list = list(&section);
    let first = list.first().unwrap();
    assert_eq!(
        list.sentence(&section, first).unwrap().to_string(),
        "> makespan  12.500000 s  of one iteration"
    );
    assert_eq!(list.sentence(&section, 7).unwrap().to_string(), "> p0  ports 16  gains 2.000 ms");
    assert_eq!(list.details(&section, 7), ["pod  p0", "ports  16", "gains  2.000 ms"]);
    assert_eq!(list.sentences(&section)[2], "> p1 is full");
}

#[test]
fn cells_of_a_matrix_are_items_named_by_row_and_column() {
    let matrix = Matrix {
        name: "circuits",
        unit: Unit::COUNT,
        rows: vec!["p0".into(), "p1".into()],
        columns: vec!["q0".into(), "q1".into(), "q2".into()],
        cells: (0..6).map(Cell::new).collect(),
        symmetric: false,
        shaded: true,
        ..Default::default()
    };
    let view = MatrixView::new(1, &matrix);
    let items: Vec<Item> = view.items(10).collect();
    assert_eq!((items[4].row, items[4].place), (11, 1.0));
    assert_eq!(view.sentence(items[4].id).unwrap().to_string(), "> p1 x q1  4");
    assert!(view.sentence(item_id(0, 4)).is_none(), "a cell of another block");
}

#[test]
fn spans_that_overlap_stand_in_rows_of_their_own() {
    let span =
        |name: &str, start_s: f64, end_s: f64| Span { name: name.into(), start_s, end_s, ..Span::default() };
    let lane = |name: &str, spans: Vec<Span>| Lane { name: name.into(), spans, ..Lane::default() };
    let spans = Spans {
        lanes: vec![
            lane("a", vec![span("one", 0.0, 2.0), span("two", 1.0, 3.0), span("three", 2.0, 3.0)]),
            lane("b", vec![span("four", 0.0, 1.0)]),
        ],
        end_s: 3.0,
        ..Spans::default()
    };
    let view = SpansView::new(0, &spans);
    // Two rows of lane a, one of lane b, and the axis.
    assert_eq!(view.rows(), 4);
    let rows: Vec<u32> = view.items(0).map(|item| item.row).collect();
    assert_eq!(rows, [0, 0, 1, 2]);
    let id = view.items(0).nth(1).unwrap().id;
    assert_eq!(view.sentence(id).unwrap().to_string(), "> three  a  2.000000 s to 3.000000 s  1.000000 s");
}

#[test]
fn items_are_shared_where_rows_are_of_the_sort_that_panes_share() {
    let section = section();
    let of = |linked: &str| {
        let blocks = 0..section.blocks.len();
        let list = List::new(blocks.flat_map(|index| ListBlock::all(&section, index, Some(linked))));
        list.items()[1].id
    };
    assert_eq!(of("pod"), 7, "pods are what the panes share");
    assert_eq!(of("task"), item_id(1, 0), "a pod is no task of the same number");
}

#[test]
fn a_list_has_a_block_for_every_order_and_finds_the_row_of_an_item_in_each() {
    let mut table =
        Table::new(["pod", "pods"], vec![Column::words("pod", "pod"), Column::counts("ports", "ports")])
            .order("by name", vec![0])
            .order("by ports", vec![1]);
    table.row(vec![Cell::new("p0"), Cell::new(16)]).item = Some(0);
    table.row(vec![Cell::new("p1"), Cell::new(8)]).item = Some(1);
    let section = Section::new("Pods", table);
    let blocks = ListBlock::all(&section, 0, None);
    assert_eq!(blocks.iter().map(|block| block.order()).collect::<Vec<_>>(), ["by name", "by ports"]);
    let list = List::new(blocks.into_iter().skip(1));
    assert_eq!(list.items().iter().map(|item| item.id).collect::<Vec<_>>(), [1, 0]);
    assert_eq!(list.sentence(&section, 1).unwrap().to_string(), "> p1  ports 8");
}

#[test]
fn intervals_of_one_item_can_all_be_chosen() {
    let span = |start_s: f64| Span {
        name: "p0".into(),
        start_s,
        end_s: start_s + 1.0,
        item: Some(4),
        ..Span::default()
    };
    let lane = Lane { name: "p0".into(), spans: vec![span(0.0), span(2.0), span(4.0)], ..Lane::default() };
    let view = SpansView::new(0, &Spans { lanes: vec![lane], end_s: 5.0, ..Spans::default() });
    let ids: Vec<ItemId> = view.items(0).map(|item| item.id).collect();
    assert_eq!((ids[0], ids.len()), (4, 3), "the first one stands for the item");
    assert_ne!(ids[1], ids[2]);
    let text = view.sentence(ids[2]).unwrap().to_string();
    assert_eq!(text, "> p0  p0  4.000000 s to 5.000000 s  1.000000 s");
}

#[test]
fn large_numbers_of_a_list_are_grouped() {
    let unit = Unit::new("µs", 1.0, Some(3));
    let mut table = Table::new(["chunk", "chunks"], vec![Column::numbers("end_us", "ends", unit)]);
    table.row(vec![Cell::new(40468.75)]).item = Some(1);
    let section = Section::new("Chunks", table);
    let list = list(&section);
    assert_eq!(list.sentence(&section, 1).unwrap().to_string(), "> ends 40 468.750 µs");
}

#[test]
fn a_title_names_the_visible_rows_and_columns_briefly() {
    let whole = (0, 4, 4);
    let of = |rows, columns| rows::in_sight(rows, columns).unwrap();
    let all = [of((0, 4, 8), whole), of((3, 4, 8), whole), of(whole, (0, 17, 28)), of((1, 3, 4), (0, 3, 4))];
    let full = ["rows 1-4 of 8", "rows 4-7 of 8", "columns 1-17 of 28", "rows 2-4 of 4, columns 1-3 of 4"];
    assert_eq!(all.map(|part| part.to_string()), full);
    assert_eq!(all.map(rows::InSight::brief), ["4 of 8", "4-7 of 8", "columns 17 of 28", "3 x 3 of 4 x 4"]);
    assert_eq!(rows::in_sight(whole, whole), None);
    let lists = [whole, (0, 3, 5)].map(|rows| rows::InSight::of_list(rows, 48).unwrap());
    assert_eq!(lists.map(|part| part.to_string()), ["48 rows below", "rows 1-3 of 5, 48 below"]);
    assert_eq!(lists.map(rows::InSight::brief), ["48 below", "50 below"]);
}
