//! Result of drawing: places of items on the screen, scroll positions, and work that is too slow for the drawing
//! thread.

use crate::app::action::Action;
use crate::app::pane::{ItemId, PaneId};
use lightbay_core::param::ParamValue;
use ratatui::layout::{Position, Rect};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// The outcome of drawing one frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawn {
    /// Clickable rectangles in drawing order; the last one is on top.
    pub hits: Vec<Hit>,
    /// Every pane that was drawn.
    pub panes: Vec<PaneDrawn>,
    /// Columns of each axis that a range can be chosen on, with its pane: the columns show the visible part of the axis.
    pub axes: Vec<(PaneId, Rect)>,
    /// Number of visible rows of the top layer; page keys move by this number.
    pub layer_page: usize,
    /// Total number of rows of the top layer.
    pub layer_rows: usize,
    /// `true` if the newest message does not fit on its line.
    pub message_cut: bool,
    /// `true` if a pane waits for its content: its clock runs.
    pub waits: bool,
    /// Work for a helper thread. The event loop removes this work before it passes the other fields to the state.
    pub jobs: Vec<ViewJob>,
}

/// A rectangle that reacts to clicks.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Cells of the rectangle.
    pub rect: Rect,
    /// Action of a click.
    pub click: Action,
    /// Action of a double click, if it differs from the action of a click.
    pub open: Option<Action>,
}

/// A drawn pane, with the data that the state needs.
#[derive(Clone, Debug, PartialEq)]
pub struct PaneDrawn {
    /// The pane that was drawn.
    pub pane: PaneId,
    /// Cells of the pane, title included.
    pub area: Rect,
    /// Selectable items of the pane, sorted by row and place; the `Arc` stays the same as long as the items do.
    pub items: Arc<[Item]>,
    /// Names of the items for searches, in order; empty if they have no names.
    pub labels: Arc<[(ItemId, String)]>,
    /// Number of item rows that fit.
    pub page: usize,
    /// The item at which the cursor is drawn, if it may differ from the item that the user chose in this pane; the arrow
    /// keys move from this item.
    pub chosen: Option<ItemId>,
    /// Index of the first row shown.
    pub offset: usize,
    /// Index of the first column shown.
    pub column: usize,
    /// Number of steps for the bracket keys.
    pub steps: u32,
    /// Pane whose selection the bracket keys change in place of the step of this pane, and the item that is now chosen
    /// in that pane. If that pane is not this pane, its items are numbered from 0 to `steps` - 1.
    pub steps_through: Option<(PaneId, ItemId)>,
    /// `true` if the bracket keys go through all items of the pane in the order of their positions on the axis; `false`
    /// if they go through one row after the other.
    pub along_axis: bool,
    /// Position of the item that the user chose, as a fraction of the whole axis; zooming keeps it in sight.
    pub on_axis: Option<f64>,
    /// The sentence about the selected item, which can be copied.
    pub sentence: String,
    /// Everything known about the selected item, one line each.
    pub details: Vec<String>,
    /// `true` while the details are computed.
    pub waits_for_details: bool,
    /// `true` if the pane has several views in general, but one view of this plan.
    pub has_one_view: bool,
    /// Rules for editing cells of this pane; `None` if the cells cannot be edited.
    pub edit: Option<Arc<CellEditing>>,
    /// Settings that change the selected item; `None` if the pane offers none.
    pub setting: Option<ItemSetting>,
    /// Format of the files that the pane shows, if it shows files.
    pub format: Option<&'static str>,
}

/// Settings that change an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemSetting {
    /// The settings as a user types them: `output_buffer_bytes=1000000`.
    pub text: String,
    /// `true` if the settings are complete; otherwise the user edits them first.
    pub is_complete: bool,
}

impl PaneDrawn {
    /// Starts the description of a pane without items.
    pub fn new(pane: PaneId, area: Rect) -> Self {
        Self {
            pane,
            area,
            items: Arc::default(),
            labels: Arc::default(),
            page: usize::from(area.height.saturating_sub(1)),
            chosen: None,
            offset: 0,
            column: 0,
            steps: 0,
            steps_through: None,
            along_axis: false,
            on_axis: None,
            sentence: String::new(),
            details: Vec::new(),
            waits_for_details: false,
            has_one_view: false,
            edit: None,
            setting: None,
            format: None,
        }
    }
}

/// An item that can be selected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Item {
    /// Id of the item in its pane.
    pub id: ItemId,
    /// Row of the item.
    pub row: u32,
    /// Position of the item in its row, on a scale that is the same for all rows.
    pub place: f32,
}

/// Parameter or knob that receives the entries of an edited list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditTarget {
    /// The list is the value of this parameter of the method that evaluates it.
    Param(&'static str),
    /// A knob of the scenario gets `key:value` for every changed entry; the resulting plan belongs to the scenario with
    /// the changed knob.
    Knob {
        /// Name of the knob.
        name: &'static str,
        /// Key of each entry in the text of the knob.
        keys: Vec<String>,
    },
}

impl EditTarget {
    /// Returns the name of the parameter or knob.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Param(name) | Self::Knob { name, .. } => name,
        }
    }
}

/// Rules for changing a plan through the cells of a pane: each cell is an entry of a list that a method evaluates.
#[derive(Clone, Debug, PartialEq)]
pub struct CellEditing {
    /// Method that evaluates a list.
    pub method: &'static str,
    /// Parameter or knob that receives the list.
    pub target: EditTarget,
    /// The list of entries of the displayed plan.
    pub values: Vec<i64>,
    /// Smallest and largest value of an entry.
    pub range: (i64, i64),
    /// Name of each entry, for messages.
    pub names: Vec<String>,
    /// Items that represent an entry, each with the index of the entry in the list.
    pub cells: Vec<(ItemId, usize)>,
    /// `true` if the method starts from the edited plan, because the list contains only the changes.
    pub from_plan: bool,
    /// Variants of an evaluation: each variant has a name and further settings, and gives one plan.
    pub variants: Vec<(&'static str, Vec<(String, ParamValue)>)>,
}

impl CellEditing {
    /// Returns the index of the entry that an item represents.
    pub fn entry(&self, item: ItemId) -> Option<usize> {
        self.cells.iter().find(|(id, _)| *id == item).map(|(_, entry)| *entry)
    }
}

/// Identity of a view job: pane, plan, size and variant. The result of a job is dropped if the identity of the current
/// job differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobKey {
    /// Pane that requested the job.
    pub pane: PaneId,
    /// Number of the plan, 0 for a job about the scenario alone.
    pub plan: u64,
    /// Size of the area to be drawn.
    pub size: (u16, u16),
    /// Number that differs if any other input of the job differs.
    pub variant: u64,
}

/// The result of a view job; only the view knows its type.
pub type JobResult = Box<dyn Any + Send>;

/// Work of more than two milliseconds that drawing requests.
#[derive(Clone)]
pub struct ViewJob {
    /// Identity of the job.
    pub key: JobKey,
    /// The work, a pure computation.
    pub work: Arc<dyn Fn() -> JobResult + Send + Sync>,
}

impl fmt::Debug for ViewJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ViewJob").field(&self.key).finish()
    }
}

impl PartialEq for ViewJob {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Drawn {
    /// Returns the topmost clickable rectangle at a cell.
    pub fn hit(&self, x: u16, y: u16) -> Option<&Hit> {
        self.hits.iter().rev().find(|hit| hit.rect.contains(Position { x, y }))
    }

    /// Returns the pane at a cell.
    pub fn pane_at(&self, x: u16, y: u16) -> Option<&PaneDrawn> {
        self.panes.iter().rev().find(|pane| pane.area.contains(Position { x, y }))
    }

    /// Returns the drawn pane with an id, if it was drawn.
    pub fn pane(&self, id: PaneId) -> Option<&PaneDrawn> {
        self.panes.iter().find(|pane| pane.pane == id)
    }
}
