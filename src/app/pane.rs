//! Panes as the state of the workbench knows them: a number, a name and a few properties. Only the view knows their
//! content.

use crate::app::sweeps::PaneSweeps;
use lightbay_core::report::SectionInfo;
use std::fmt;

/// Id of an item inside a pane, such as a row or a cell; the id stays the same as long as the content of the pane does.
pub type ItemId = u32;

/// A region that can have the focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PaneId {
    /// The list on the start screen.
    Start,
    /// The parameters form.
    Params,
    /// The table of plans.
    Plans,
    /// The solve strip.
    Solve,
    /// A pane of the kind: panes 1 to 9 have a key, the others are opened from the list of panes or the palette.
    Kind(u8),
}

impl fmt::Display for PaneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start => f.write_str("start"),
            Self::Params => f.write_str("parameters"),
            Self::Plans => f.write_str("plans"),
            Self::Solve => f.write_str("solve"),
            Self::Kind(number) => write!(f, "{number}"),
        }
    }
}

/// Description of a pane of a kind, with the data that the state of the workbench needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaneInfo {
    /// Number of the pane, consecutive from 1.
    pub number: u8,
    /// Name in the tab line and title.
    pub name: &'static str,
    /// The question that the pane answers, for help and the list of panes.
    pub help: &'static str,
    /// Names of the pane's forms, which `v` cycles through; empty if there is only one form.
    pub modes: &'static [&'static str],
    /// Name of the overlay that `o` shows; empty if there is none.
    pub overlay: &'static str,
    /// `true` if the axis of the pane can be stretched.
    pub zooms: bool,
    /// Name of the steps that `[` and `]` move through; empty if there are none.
    pub steps: &'static str,
    /// Knobs that the forms of the pane sweep over, and methods that they compare; `None` if the pane shows no sweeps.
    pub sweeps: Option<&'static PaneSweeps>,
    /// Home of the pane: number of the place on the screen where the pane is drawn by default; 2 is the large place.
    pub home: u8,
    /// Name of the section of the kind's report that the pane shows; empty for a pane with its own drawing code.
    pub shows: &'static str,
    /// Description of this section; `None` for a pane with its own drawing code.
    pub section: Option<&'static SectionInfo>,
    /// Preferred number of rows in the large place of the grid, if the home of the pane is the large place; 0 for the
    /// default share.
    pub rows: u16,
}

impl PaneInfo {
    /// Describes a pane with one form, no overlay, a fixed axis and no steps; the home of the pane is the place with
    /// the number of the pane.
    pub const fn new(number: u8, name: &'static str, help: &'static str) -> Self {
        Self {
            number,
            name,
            help,
            modes: &[],
            overlay: "",
            zooms: false,
            steps: "",
            sweeps: None,
            home: number,
            shows: "",
            section: None,
            rows: 0,
        }
    }

    /// Makes the pane show a section of the kind's report, given by name.
    #[must_use]
    pub const fn of_section(mut self, section: &'static str) -> Self {
        self.shows = section;
        self
    }

    /// Returns the id of the pane as a region that can have the focus.
    pub const fn id(&self) -> PaneId {
        PaneId::Kind(self.number)
    }
}

/// Function that returns the panes of a kind, given by name.
pub type PaneTable = fn(&str) -> &'static [PaneInfo];

/// Choices of the user in a pane, which are kept when the layout changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PaneState {
    /// Item selected in the pane.
    pub selected: Option<ItemId>,
    /// First row shown; drawing may correct this value.
    pub offset: usize,
    /// First column shown; drawing may correct this value.
    pub column: usize,
    /// Stretch of the axis in steps: 0 shows the whole axis, and each step doubles the stretch.
    pub zoom: u8,
    /// Middle of the visible part of the axis, as a fraction of the whole axis.
    pub centre: f64,
    /// Step chosen with the bracket keys; `None` shows the last step.
    pub step: Option<u32>,
    /// Index into [`PaneInfo::modes`].
    pub mode: u8,
    /// `true` if the overlay is on.
    pub overlay: bool,
}

impl PaneState {
    /// The maximum stretch of an axis.
    pub const DEEPEST: u8 = 12;

    /// Returns start and end of the part of the axis that is shown, as fractions of the whole axis.
    pub fn window(&self) -> (f64, f64) {
        let width = 0.5_f64.powi(i32::from(self.zoom));
        let start = (self.centre - width / 2.0).clamp(0.0, 1.0 - width);
        (start, start + width)
    }

    /// Shows the part of the axis from `from` to `to`, as fractions of the present window, in the smallest window that
    /// holds it. Returns `false` if no smaller window does.
    pub fn show_range(&mut self, from: f64, to: f64) -> bool {
        let (start, end) = self.window();
        let at = |share: f64| start + (end - start) * share.clamp(0.0, 1.0);
        let (from, to) = (at(from.min(to)), at(from.max(to)));
        let deepest = (0..=Self::DEEPEST).rev().find(|zoom| 0.5_f64.powi(i32::from(*zoom)) >= to - from);
        let zoom = deepest.unwrap_or(0).max(self.zoom);
        if zoom == self.zoom {
            return false;
        }
        let width = 0.5_f64.powi(i32::from(zoom));
        (self.zoom, self.centre) = (zoom, f64::midpoint(from, to).clamp(width / 2.0, 1.0 - width / 2.0));
        true
    }

    /// Stretches (1) or shrinks (-1) the axis so that the point at fraction `at` of the present window keeps its place.
    pub fn stretch(&mut self, by: i8, at: f64) {
        let (start, end) = self.window();
        let fixed = start + (end - start) * at;
        self.zoom = self.zoom.saturating_add_signed(by).min(Self::DEEPEST);
        let width = 0.5_f64.powi(i32::from(self.zoom));
        self.centre = (fixed + width * (0.5 - at)).clamp(width / 2.0, 1.0 - width / 2.0);
    }
}

/// Size class of the terminal, which decides the room for panes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum SizeClass {
    /// Too small for panes: one message states the required size.
    #[default]
    TooSmall,
    /// One pane at a time, and a short solve strip, fit.
    Compact,
    /// A side bar, one large pane and small panes fit.
    Grid,
    /// All regions fit at once.
    Wide,
}

/// Minimum usable width and height.
pub const SMALLEST: (u16, u16) = (60, 16);

impl SizeClass {
    /// Returns the size class of a screen.
    pub const fn of(width: u16, height: u16) -> Self {
        if width < SMALLEST.0 || height < SMALLEST.1 {
            Self::TooSmall
        } else if width < 100 || height < 30 {
            Self::Compact
        } else if width < 160 || height < 45 {
            Self::Grid
        } else {
            Self::Wide
        }
    }

    /// Returns the word for this size class in line 1 of the screen.
    pub const fn word(self) -> &'static str {
        match self {
            Self::TooSmall => "too small",
            Self::Compact => "compact",
            Self::Grid => "grid",
            Self::Wide => "wide",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretching_keeps_what_is_under_the_pointer() {
        let mut state = PaneState::default();
        assert_eq!(state.window(), (0.0, 1.0));
        state.stretch(1, 0.75);
        let (start, end) = state.window();
        assert!((start + (end - start) * 0.75 - 0.75).abs() < 1e-12);
        state.stretch(-1, 0.1);
        assert_eq!(state.window(), (0.0, 1.0));
        for _ in 0..40 {
            state.stretch(1, 1.0);
        }
        assert_eq!(state.zoom, PaneState::DEEPEST);
        assert!((state.window().1 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_range_is_shown_in_the_smallest_window_that_holds_it() {
        let mut state = PaneState::default();
        assert!(!state.show_range(0.0, 0.9), "more than half of the axis needs all of it");
        assert!(state.show_range(0.75, 0.5));
        assert_eq!(state.window(), (0.5, 0.75));
        assert!(state.show_range(0.0, 0.4));
        let (start, end) = state.window();
        assert!(start <= 0.5 + 1e-12 && end >= 0.6 && (end - start - 0.125).abs() < 1e-12, "{start} {end}");
    }

    #[test]
    fn break_points_are_where_the_layouts_were_drawn_for() {
        let classes =
            [(59, 16), (60, 15), (60, 16), (99, 40), (100, 29), (100, 30), (159, 60), (160, 44), (160, 45)]
                .map(|(width, height)| SizeClass::of(width, height));
        use SizeClass::{Compact, Grid, TooSmall, Wide};
        assert_eq!(classes, [TooSmall, TooSmall, Compact, Compact, Compact, Grid, Grid, Grid, Wide]);
    }
}
