//! Places of all regions on the screen. There are four forms for four sizes, one for a zoomed pane, and one for the
//! start screen.
//!
//! ```text
//! compact, from 60x16                 grid, from 100x30
//! +------------------------------+    +--------------------------------------------------------+
//! | header                       |    | header                                                 |
//! | tabs                         |    | tabs                                                   |
//! | = 2 Activity =============== |    | - Parameters --   = 2 Activity ======================= |
//! | the pane with the focus;     |    | knobs             the large pane                       |
//! | parameters and plans come    |    |                                                        |
//! | as pop-ups over it           |    | - Plans -------   - 1 DAG ------------   - 3 Ports --- |
//! |                              |    | plans, compared                                        |
//! | - Solve -------------------- |    |                                          - 6 Path ---- |
//! | two rows of runs             |    | - Solve -------   - 4 GA -------   - 5 Search -------- |
//! | last event                   |    | last event                                             |
//! | keys                         |    | keys                                                   |
//! +------------------------------+    +--------------------------------------------------------+
//!
//! wide, from 160x45                                            from 250 columns on
//! +--------------------------------------------------------------------------+---------------+
//! | header                                                                                   |
//! | tabs                                                                                     |
//! | - Parameters --   - 1 DAG ----------------------------   - 3 Ports -----   - 7 Rates --- |
//! |                                                                                          |
//! | - Plans -------   = 2 Activity =======================   - 6 Path ------   - 8 Cont. --- |
//! |                                                                                          |
//! | - Solve -------   - 4 GA ---------------   - 5 Search -----------------    - 9 What-if - |
//! |                                                                                          |
//! | three last events                                                                        |
//! | keys                                                                                     |
//! +--------------------------------------------------------------------------+---------------+
//! ```
//!
//! The numbers in the drawing identify places. The home of a pane is the number of the place where the pane is drawn by
//! default; a kind may choose homes that differ from the numbers of its panes. A pane that gets the focus moves to the
//! large place, and the pane whose home is the large place moves to the home of the focused pane, so that all other
//! panes stay in place. A small grid, below about 110x38, has only the places 1 to 3. In the wide form only a pane without
//! a home moves. There are two blank columns between panes, and one blank row above a title.

use crate::app::pane::{PaneId, PaneInfo, SizeClass};
use crate::app::state::App;
use ratatui::layout::Rect;

/// Division of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayoutForm {
    /// The start screen: no scenario is open.
    Start,
    /// One pane and a short solve strip.
    Compact,
    /// Side bar, one large pane, small ones.
    Grid,
    /// All regions at once.
    Wide,
    /// One zoomed pane.
    Zoomed,
}

impl LayoutForm {
    /// Returns the word for this form in line 1 of the screen.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Start => "",
            Self::Compact => "compact",
            Self::Grid => "grid",
            Self::Wide => "wide",
            Self::Zoomed => "zoomed",
        }
    }
}

/// A pane with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Id of the pane.
    pub pane: PaneId,
    /// Cells of the pane, title included.
    pub area: Rect,
    /// `true` if the pane has room for details.
    pub large: bool,
    /// `true` if the pane is drawn in a frame over the other panes.
    pub popup: bool,
}

/// Places of all regions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Division of the screen.
    pub form: LayoutForm,
    /// Area of the header, line 0.
    pub header: Rect,
    /// Area of the tabs, line 1.
    pub tabs: Rect,
    /// The area between tabs and log, over which pop-ups are drawn.
    pub content: Rect,
    /// Panes in drawing order.
    pub panes: Vec<Placed>,
    /// A pane of the shell that is drawn over the others.
    pub popup: Option<Placed>,
    /// Area of the last events.
    pub log: Rect,
    /// Area of the footer, the last line.
    pub footer: Rect,
}

/// Number of blank columns between panes.
const GAP: u16 = 2;

/// Number of columns of the side bar in the grid and in the wide form.
const SIDE: [u16; 2] = [27, 40];
const SIDE_RANGE: (u16, u16) = (20, 70);

/// Minimum size of the panes' part of the grid for more than three panes.
const ROOMY: (u16, u16) = (80, 33);

/// Minimum number of rows of the panes below the large pane in the grid, if the large pane requests more rows than it
/// gets by default.
const MIDDLE: u16 = 9;

/// Minimum width at which the wide form has a column for the panes 7 to 9.
const FURTHER: u16 = 250;

impl Layout {
    /// Computes the layout of a screen that is not too small.
    pub fn of(app: &App, area: Rect) -> Self {
        let class = SizeClass::of(area.width, area.height);
        let form = match class {
            _ if app.work.is_none() => LayoutForm::Start,
            _ if app.focus.zoomed => LayoutForm::Zoomed,
            SizeClass::TooSmall | SizeClass::Compact => LayoutForm::Compact,
            SizeClass::Grid => LayoutForm::Grid,
            SizeClass::Wide => LayoutForm::Wide,
        };
        let row = |y: u16, height: u16| Rect { y: area.y + y, height, ..area };
        let logs = if form == LayoutForm::Wide { 3 } else { 1 };
        let (header, tabs) = (row(0, 1), row(1, 1));
        let log = row(area.height - 1 - logs, logs);
        let content = row(2, area.height - 3 - logs);
        let mut layout = Self {
            form,
            header,
            tabs,
            content,
            panes: Vec::with_capacity(12),
            popup: None,
            log,
            footer: row(area.height - 1, 1),
        };
        // A blank row below the tabs, as above every title; on short screens there is none.
        let top = u16::from(area.height >= 20);
        let inside = Rect {
            x: content.x + 1,
            y: content.y + top,
            width: content.width - 2,
            height: content.height - top,
        };
        match form {
            LayoutForm::Start => {}
            LayoutForm::Compact => layout.compact(app, inside),
            LayoutForm::Zoomed => {
                layout.panes.push(Placed { pane: app.focus.pane, area: inside, large: true, popup: false });
            }
            LayoutForm::Grid => layout.grid(app, inside),
            LayoutForm::Wide => layout.wide(app, inside),
        }
        layout
    }

    /// Returns the place of a pane.
    pub fn place(&self, pane: PaneId) -> Option<&Placed> {
        self.popup.iter().chain(&self.panes).find(|placed| placed.pane == pane)
    }

    fn put(&mut self, pane: Option<PaneId>, area: Rect, large: bool) {
        if let Some(pane) = pane
            && !area.is_empty()
        {
            self.panes.push(Placed { pane, area, large, popup: false });
        }
    }

    fn compact(&mut self, app: &App, inside: Rect) {
        const STRIP: u16 = 3;
        let [main, strip] = split(inside, inside.height.saturating_sub(STRIP + 1));
        let large = app.pane_info(app.focus.large).or_else(|| app.kind_panes().first());
        self.put(large.map(PaneInfo::id), main, true);
        self.put(Some(PaneId::Solve), strip, false);
        if matches!(app.focus.pane, PaneId::Params | PaneId::Plans) {
            let width = main.width.min(64);
            let area = Rect { x: main.x + (main.width - width) / 2, width, ..main };
            self.popup = Some(Placed { pane: app.focus.pane, area, large: true, popup: true });
        }
    }

    fn grid(&mut self, app: &App, inside: Rect) {
        let (side, main) = beside(inside, side_width(app, SIDE[0], inside.width));
        let heights = [share(side.height, 12, 35).max(6), share(side.height, 8, 35).max(6)];
        let plans = side.height.saturating_sub(heights[0] + heights[1] + 2);
        let [params, rest] = split(side, heights[0]);
        let [table, solve] = split(rest, plans);
        self.shell(params, table, solve);
        let homes = Homes::of(app, 0);
        // On a small screen, fewer panes are drawn: three large enough to read.
        let is_small = main.width < ROOMY.0 || main.height < ROOMY.1;
        let bottom = if (homes.has(4) || homes.has(5)) && !is_small { 5 } else { 0 };
        let middle = homes.has(1) || homes.has(3) || homes.has(6);
        let upper = main.height - if bottom > 0 { bottom + 1 } else { 0 };
        // The large pane gets its preferred height as long as the panes below keep a useful height.
        let wish = homes.wish().min(upper.saturating_sub(MIDDLE + 1));
        let large = if middle { share(upper.saturating_sub(1), 15, 28).max(wish) } else { upper };
        let [top, rest] = split(main, large);
        let [middle, last] = split(rest, upper.saturating_sub(large + 1));
        self.put(homes.at(2), top, true);
        let part = if is_small { (1, 2) } else { (36, 89) };
        let right = if homes.has(1) { share(middle.width, part.0, part.1) } else { middle.width };
        let (left, stack) = if homes.has(3) || homes.has(6) {
            beside(middle, middle.width.saturating_sub(right + GAP))
        } else {
            (middle, Rect::ZERO)
        };
        self.put(homes.at(1), left, false);
        self.stacked(homes.at(3), homes.at(6).filter(|_| !is_small || !homes.has(3)), stack);
        self.halves(homes.at(4), homes.at(5), last);
    }

    fn wide(&mut self, app: &App, inside: Rect) {
        // On very wide screens the side bar gets some of the additional width.
        let usual = SIDE[1] + inside.width.saturating_sub(200) / 10;
        let (side, main) = beside(inside, side_width(app, usual, inside.width));
        let extra = inside.width >= FURTHER && app.kind_panes().len() > 6;
        let homes = Homes::of(app, if extra { 9 } else { 6 });
        let (main, further) =
            if extra { beside(main, main.width - share(main.width, 1, 4) - GAP) } else { (main, Rect::ZERO) };
        let rows = inside.height.saturating_sub(2);
        let (high, low) = (share(rows, 18, 51), share(rows, 14, 51));
        let bands = |column: Rect| {
            let [first, rest] = split(column, high);
            let [second, third] = split(rest, rows - high - low);
            [first, second, third]
        };
        let [params, table, solve] = bands(side);
        self.shell(params, table, solve);
        let [first, second, third] = bands(main);
        let right = share(main.width, 55, 156);
        let halves = |band: Rect, both: bool| {
            if both { beside(band, band.width.saturating_sub(right + GAP)) } else { (band, band) }
        };
        let (left, ports) = halves(first, homes.has(1) && homes.has(3));
        self.put(homes.at(1), left, false);
        self.put(homes.at(3), ports, false);
        let (left, path) = halves(second, homes.has(6));
        self.put(homes.at(2), left, true);
        if homes.has(6) {
            self.put(homes.at(6), path, false);
        }
        self.halves(homes.at(4), homes.at(5), third);
        if extra {
            for (number, area) in (7..).zip(bands(further)) {
                self.put(homes.at(number), area, false);
            }
        }
    }

    fn shell(&mut self, params: Rect, plans: Rect, solve: Rect) {
        self.put(Some(PaneId::Params), params, false);
        self.put(Some(PaneId::Plans), plans, false);
        self.put(Some(PaneId::Solve), solve, false);
    }

    fn stacked(&mut self, upper: Option<PaneId>, lower: Option<PaneId>, area: Rect) {
        match (upper, lower) {
            (Some(_), Some(_)) if area.height >= 7 => {
                let [first, second] = split(area, (area.height - 1) / 2);
                self.put(upper, first, false);
                self.put(lower, second, false);
            }
            _ => self.put(upper.or(lower), area, false),
        }
    }

    fn halves(&mut self, left: Option<PaneId>, right: Option<PaneId>, area: Rect) {
        match (left, right) {
            (Some(_), Some(_)) => {
                let (first, second) = beside(area, (area.width - GAP) / 2);
                self.put(left, first, false);
                self.put(right, second, false);
            }
            _ => self.put(left.or(right), area, false),
        }
    }
}

/// Homes of the panes: the numbers of the places at which they are drawn by default.
#[derive(Clone, Copy, Debug)]
struct Homes {
    /// Panes of the kind.
    panes: &'static [PaneInfo],
    /// Home of the pane in the large place.
    large: u8,
    /// Number of the large place: home of the pane that is drawn there by default.
    centre: u8,
}

impl Homes {
    /// Returns the homes for the present large pane. The first `housed` panes stay where they are when they get the
    /// focus.
    fn of(app: &App, housed: u8) -> Self {
        let panes = app.kind_panes();
        let count = panes.iter().map(|info| info.home).max().unwrap_or(0);
        let centre = count.clamp(1, 2);
        let home = |pane: PaneId| app.pane_info(pane).map(|info| info.home);
        let large = match home(app.focus.large) {
            Some(home) if home > housed => home,
            _ => centre,
        };
        Self { panes, large, centre }
    }

    /// Returns the pane whose home has this number.
    fn owner(self, home: u8) -> Option<PaneId> {
        self.panes.iter().find(|info| info.home == home).map(PaneInfo::id)
    }

    /// Returns the pane that is drawn at the home with this number: the pane `large` is drawn in the large place, and
    /// the pane of the large place is drawn at the home of `large`.
    fn at(self, home: u8) -> Option<PaneId> {
        let owner = if home == 2 {
            self.large
        } else if home == self.large {
            self.centre
        } else {
            home
        };
        // A pane that is drawn in the large place is not drawn again at its own home.
        let doubled = home != 2 && owner == self.large;
        if doubled { None } else { self.owner(owner) }
    }

    /// Returns the preferred number of rows of the pane whose home is the large place. This number does not depend on
    /// the focus.
    fn wish(self) -> u16 {
        self.panes.iter().find(|info| info.home == self.centre).map_or(0, |info| info.rows)
    }

    fn has(self, home: u8) -> bool {
        self.at(home).is_some()
    }
}

/// Returns the fraction `part` / `whole` of a length, rounded.
fn share(length: u16, part: u32, whole: u32) -> u16 {
    ((u32::from(length) * part + whole / 2) / whole) as u16
}

fn side_width(app: &App, usual: u16, width: u16) -> u16 {
    let most = SIDE_RANGE.1.min(width.saturating_sub(44).max(SIDE_RANGE.0));
    usual.saturating_add_signed(app.focus.side).clamp(SIDE_RANGE.0, most)
}

/// Splits an area into its upper `rows` rows and the rest, with a blank row between them.
fn split(area: Rect, rows: u16) -> [Rect; 2] {
    let rows = rows.min(area.height);
    let below = (rows + 1).min(area.height);
    [Rect { height: rows, ..area }, Rect { y: area.y + below, height: area.height - below, ..area }]
}

/// Splits an area into its left `columns` columns and the rest, with a gap between them.
fn beside(area: Rect, columns: u16) -> (Rect, Rect) {
    let columns = columns.min(area.width);
    let right = (columns + GAP).min(area.width);
    (Rect { width: columns, ..area }, Rect { x: area.x + right, width: area.width - right, ..area })
}
