//! Tests of the places of regions: they are inside the screen, do not overlap, and do not move.

use crate::fixture::{Bench, Style};
use lightbay::app::{App, Command, PaneId, PaneInfo, SizeClass};
use lightbay::view::layout::{Layout, LayoutForm, Placed};
use proptest::prelude::*;
use ratatui::layout::Rect;

const PANES: &[PaneInfo] = &[
    PaneInfo::new(1, "DAG", ""),
    PaneInfo::new(2, "Activity", ""),
    PaneInfo::new(3, "Ports", ""),
    PaneInfo::new(4, "GA", ""),
    PaneInfo::new(5, "Search", ""),
    PaneInfo::new(6, "Path", ""),
    PaneInfo::new(7, "Rates", ""),
    PaneInfo::new(8, "Contention", ""),
    PaneInfo::new(9, "What-if", ""),
    PaneInfo::new(10, "Slack", ""),
];

/// Returns a workbench with `panes` panes.
fn bench(panes: usize) -> Bench {
    let mut bench = Bench::open("tiny4", Style::Colour);
    bench.app.work.as_mut().unwrap().panes = &PANES[..panes];
    bench
}

fn at(app: &App, width: u16, height: u16) -> Layout {
    Layout::of(app, Rect::new(0, 0, width, height))
}

fn place(layout: &Layout, number: u8) -> Rect {
    layout.place(PaneId::Kind(number)).unwrap().area
}

#[test]
fn the_grid_has_the_places_of_the_drawing() {
    let mut bench = bench(9);
    bench.run(Command::Focus(PaneId::Kind(2)));
    let layout = at(&bench.app, 120, 40);
    assert_eq!(layout.form, LayoutForm::Grid);
    assert_eq!(layout.place(PaneId::Params).unwrap().area, Rect::new(1, 3, 27, 12));
    assert_eq!(layout.place(PaneId::Plans).unwrap().area, Rect::new(1, 16, 27, 13));
    assert_eq!(layout.place(PaneId::Solve).unwrap().area, Rect::new(1, 30, 27, 8));
    assert_eq!(place(&layout, 2), Rect::new(30, 3, 89, 15));
    assert_eq!(place(&layout, 1), Rect::new(30, 19, 51, 13));
    assert_eq!(place(&layout, 3), Rect::new(83, 19, 36, 6));
    assert_eq!(place(&layout, 6), Rect::new(83, 26, 36, 6));
    assert_eq!(place(&layout, 4), Rect::new(30, 33, 43, 5));
    assert_eq!(place(&layout, 5), Rect::new(75, 33, 44, 5));
    assert!(layout.place(PaneId::Kind(7)).is_none());
}

#[test]
fn the_wide_form_has_the_places_of_the_drawing() {
    let bench = bench(9);
    let layout = at(&bench.app, 200, 60);
    assert_eq!(layout.form, LayoutForm::Wide);
    assert_eq!(layout.place(PaneId::Params).unwrap().area, Rect::new(1, 3, 40, 18));
    assert_eq!(layout.place(PaneId::Plans).unwrap().area, Rect::new(1, 22, 40, 19));
    assert_eq!(layout.place(PaneId::Solve).unwrap().area, Rect::new(1, 42, 40, 14));
    let rows = [1, 2, 4].map(|number| place(&layout, number).y);
    assert_eq!(rows, [3, 22, 42]);
    assert_eq!(layout.log, Rect::new(0, 56, 200, 3));
}

#[test]
fn compact_shows_one_pane_and_three_rows_of_the_strip() {
    let mut bench = bench(9);
    bench.run(Command::Focus(PaneId::Kind(5)));
    let layout = at(&bench.app, 80, 24);
    assert_eq!(layout.panes.len(), 2);
    assert_eq!(place(&layout, 5), Rect::new(1, 3, 78, 15));
    assert_eq!(layout.place(PaneId::Solve).unwrap().area, Rect::new(1, 19, 78, 3));
    bench.run(Command::Focus(PaneId::Params));
    let layout = at(&bench.app, 80, 24);
    assert_eq!(layout.popup.map(|placed| placed.pane), Some(PaneId::Params));
    assert_eq!(place(&layout, 5), Rect::new(1, 3, 78, 15), "the pane behind stays");
}

#[test]
fn the_focus_swaps_two_panes_and_leaves_the_others() {
    let mut bench = bench(9);
    bench.run(Command::Focus(PaneId::Kind(2)));
    let before = at(&bench.app, 120, 40);
    bench.run(Command::Focus(PaneId::Kind(5)));
    let after = at(&bench.app, 120, 40);
    assert_eq!(place(&after, 5), place(&before, 2));
    assert_eq!(place(&after, 2), place(&before, 5));
    for number in [1, 3, 4, 6] {
        assert_eq!(place(&after, number), place(&before, number));
    }
    // A pane of the side bar takes no place.
    bench.run(Command::Focus(PaneId::Plans));
    assert_eq!(place(&at(&bench.app, 120, 40), 5), place(&after, 5));
}

#[test]
fn in_the_wide_form_only_a_pane_without_a_home_moves() {
    let mut bench = bench(10);
    let before = at(&bench.app, 200, 60);
    bench.run(Command::Focus(PaneId::Kind(5)));
    assert_eq!(at(&bench.app, 200, 60).panes, before.panes);
    bench.run(Command::Focus(PaneId::Kind(8)));
    assert_eq!(place(&at(&bench.app, 200, 60), 8), place(&before, 2));
    // On a very wide screen the panes 7 to 9 have homes too.
    let wider = at(&bench.app, 320, 90);
    assert!((1..=9).all(|number| wider.place(PaneId::Kind(number)).is_some()));
}

#[test]
fn the_side_bar_can_be_resized_within_bounds() {
    let mut bench = bench(6);
    bench.app.focus.side = 10;
    assert_eq!(at(&bench.app, 120, 40).place(PaneId::Params).unwrap().area.width, 37);
    for (side, width) in [(-300, 20), (300, 70)] {
        bench.app.focus.side = side;
        assert_eq!(at(&bench.app, 120, 40).place(PaneId::Params).unwrap().area.width, width);
    }
}

#[test]
fn a_zoomed_pane_has_everything_between_tabs_and_log() {
    let mut bench = bench(6);
    bench.run(Command::Focus(PaneId::Kind(3)));
    bench.run(Command::Zoom);
    let layout = at(&bench.app, 200, 60);
    let area = Rect::new(1, 3, 198, 55);
    assert_eq!(layout.panes, [Placed { pane: PaneId::Kind(3), area, large: true, popup: false }]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) })]

    /// Regions are always inside the screen, have a gap between neighbours in a row, and have a row above their titles.
    #[test]
    fn regions_lie_apart_inside_the_screen(
        width in 60u16..400,
        height in 16u16..120,
        panes in 0usize..=10,
        focus in 0u8..=13,
        side in -100i16..100,
        zoomed in any::<bool>(),
    ) {
        let mut bench = bench(panes);
        let pane = match focus {
            0 => PaneId::Params,
            1 => PaneId::Plans,
            2 => PaneId::Solve,
            number => PaneId::Kind(number - 2),
        };
        bench.run(Command::Focus(pane));
        bench.app.focus.side = side;
        bench.app.focus.zoomed = zoomed;
        let layout = at(&bench.app, width, height);
        let screen = Rect::new(0, 0, width, height);
        for (index, placed) in layout.panes.iter().enumerate() {
            let area = placed.area;
            prop_assert!(!area.is_empty());
            prop_assert_eq!(area.intersection(layout.content), area);
            prop_assert_eq!(area.intersection(screen), area);
            for other in &layout.panes[index + 1..] {
                prop_assert_ne!(placed.pane, other.pane);
                // Two blank columns or one blank row between them.
                let grown = Rect { width: area.width + 2, height: area.height + 1, ..area };
                let grown_other = Rect { width: other.area.width + 2, height: other.area.height + 1, ..other.area };
                prop_assert!(grown.intersection(other.area).is_empty(), "{placed:?} {other:?}");
                prop_assert!(grown_other.intersection(area).is_empty(), "{placed:?} {other:?}");
            }
        }
        // Whatever has the focus can be seen.
        let focus = bench.app.focus.pane;
        let known = bench.app.focus_order().contains(&focus);
        prop_assert!(!known || layout.place(focus).is_some(), "{focus:?} at {width}x{height} of {panes}");
        prop_assert!(SizeClass::of(width, height) != SizeClass::TooSmall);
    }
}
