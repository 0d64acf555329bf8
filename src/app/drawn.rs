//! Outcome of drawing: places of things on the screen, scroll positions, and work that is too slow for drawing itself.

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
    /// Sensitive rectangles in drawing order; what was drawn last lies on top.
    pub hits: Vec<Hit>,
    /// Every pane that was drawn.
    pub panes: Vec<PaneDrawn>,
    /// Rows of the layer on top that fit, so that a page is a page.
    pub layer_page: usize,
    /// Rows the layer on top has in all.
    pub layer_rows: usize,
    /// Work for a helper thread. Taken out by the loop before the rest reaches the state.
    pub jobs: Vec<ViewJob>,
}

/// A sensitive rectangle.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Its cells.
    pub rect: Rect,
    /// Action of a click.
    pub click: Action,
    /// Action of a double click, if it has one of its own.
    pub open: Option<Action>,
}

/// A drawn pane, as far as the state needs to know it.
#[derive(Clone, Debug, PartialEq)]
pub struct PaneDrawn {
    /// The pane that was drawn.
    pub pane: PaneId,
    /// Its cells, title included.
    pub area: Rect,
    /// Its items, sorted by row and place, the same `Arc` as long as they stay the same.
    pub items: Arc<[Item]>,
    /// Item rows that fit.
    pub page: usize,
    /// The item drawn as chosen because several panes point at it together: moves start from it.
    pub chosen: Option<ItemId>,
    /// First row shown.
    pub offset: usize,
    /// First column shown.
    pub column: usize,
    /// Number of steps that the brackets can go through.
    pub steps: u32,
    /// The pane whose selection the brackets move instead, and the item chosen there now: its items are numbered from 0
    /// to `steps` - 1.
    pub steps_through: Option<(PaneId, ItemId)>,
    /// The brackets go along the axis, from row to row, instead of through one row after the other.
    pub along_axis: bool,
    /// The sentence about the selected item: what is copied.
    pub sentence: String,
    /// Everything known about the selected item, one line each.
    pub details: Vec<String>,
    /// Rules for editing cells of this pane; `None` if they cannot be edited.
    pub edit: Option<Arc<CellEditing>>,
    /// Format of the files that the pane shows, if it shows files.
    pub format: Option<&'static str>,
}

impl PaneDrawn {
    /// A pane without items.
    pub fn new(pane: PaneId, area: Rect) -> Self {
        Self {
            pane,
            area,
            items: Arc::default(),
            page: usize::from(area.height.saturating_sub(1)),
            chosen: None,
            offset: 0,
            column: 0,
            steps: 0,
            steps_through: None,
            along_axis: false,
            sentence: String::new(),
            details: Vec::new(),
            edit: None,
            format: None,
        }
    }
}

/// An item that can be selected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Item {
    /// Its id.
    pub id: ItemId,
    /// The row it is in.
    pub row: u32,
    /// Position in its row, in any scale that is the same for all rows.
    pub place: f32,
}

/// Destination for the entries of an edited list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditTarget {
    /// Into this parameter of the method that evaluates them, as a list.
    Param(&'static str),
    /// Into this knob of the scenario, as `key:value` for every entry that changed: the plan that results is one of
    /// the changed scenario.
    Knob {
        /// The knob.
        name: &'static str,
        /// Key of each entry in the text of the knob.
        keys: Vec<String>,
    },
}

impl EditTarget {
    /// Name of the parameter or knob.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Param(name) | Self::Knob { name, .. } => name,
        }
    }
}

/// Rules for changing a plan by cells of a pane: each cell is an entry of a list that a method evaluates.
#[derive(Clone, Debug, PartialEq)]
pub struct CellEditing {
    /// Method that evaluates a list.
    pub method: &'static str,
    /// Parameter or knob that takes the list.
    pub target: EditTarget,
    /// The list of the plan shown.
    pub values: Vec<i64>,
    /// Smallest and largest entry.
    pub range: (i64, i64),
    /// Name of each entry, for messages.
    pub names: Vec<String>,
    /// Items that stand for an entry, each with the index of the entry in the list.
    pub cells: Vec<(ItemId, usize)>,
    /// `true` if the method starts from the plan that is edited, because a list says what changes and not everything.
    pub from_plan: bool,
    /// Further settings under which every list is evaluated, one plan each, with a name.
    pub variants: Vec<(&'static str, Vec<(String, ParamValue)>)>,
}

impl CellEditing {
    /// The entry that an item stands for.
    pub fn entry(&self, item: ItemId) -> Option<usize> {
        self.cells.iter().find(|(id, _)| *id == item).map(|(_, entry)| *entry)
    }
}

/// Identity of a view job: pane, plan, size and variant. Late results are dropped by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobKey {
    /// Pane that wants it.
    pub pane: PaneId,
    /// Number of the plan, 0 if it is about the scenario alone.
    pub plan: u64,
    /// Size it is for.
    pub size: (u16, u16),
    /// Anything else it depends on.
    pub variant: u64,
}

/// The result of a view job; only the view knows its type.
pub type JobResult = Box<dyn Any + Send>;

/// Work over two milliseconds that drawing found it needs.
#[derive(Clone)]
pub struct ViewJob {
    /// Identity of the job.
    pub key: JobKey,
    /// The work itself: a pure computation.
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
    /// The rectangle at a cell.
    pub fn hit(&self, x: u16, y: u16) -> Option<&Hit> {
        self.hits.iter().rev().find(|hit| hit.rect.contains(Position { x, y }))
    }

    /// The pane at a cell.
    pub fn pane_at(&self, x: u16, y: u16) -> Option<&PaneDrawn> {
        self.panes.iter().rev().find(|pane| pane.area.contains(Position { x, y }))
    }

    /// Returns the drawn pane with an id, if it was drawn.
    pub fn pane(&self, id: PaneId) -> Option<&PaneDrawn> {
        self.panes.iter().find(|pane| pane.pane == id)
    }
}
