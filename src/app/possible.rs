//! Decides whether an action is possible now, with the reason if it is not possible: footer and palette show an
//! impossible action in grey, and choosing it shows the reason.

use crate::app::pane::PaneId;
use crate::app::state::App;

/// Whether an action is possible, and if not, the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Possible {
    /// The action is possible.
    Yes,
    /// The action is not possible; the text gives the reason and the remedy in one sentence.
    No(&'static str),
}

impl Possible {
    /// Returns `true` if the action is possible.
    pub const fn is_yes(&self) -> bool {
        matches!(self, Self::Yes)
    }

    const fn if_so(so: bool, otherwise: &'static str) -> Self {
        if so { Self::Yes } else { Self::No(otherwise) }
    }
}

/// Returns that the action is possible at any time.
pub const fn always(_: &App) -> Possible {
    Possible::Yes
}

/// Returns that the action is possible if a scenario is open.
pub const fn open(app: &App) -> Possible {
    Possible::if_so(app.work.is_some(), "nothing is open; open a file or an example first")
}

/// Returns that the action is possible if a scenario is open, because every kind has a pane that charts sweeps.
pub fn sweeps(app: &App) -> Possible {
    let some = app.kind_panes().iter().any(|info| info.sweeps.is_some());
    Possible::if_so(some, "nothing is open to sweep over; open a file or an example first")
}

/// Returns that the action is possible if a run is active or waiting.
pub fn busy(app: &App) -> Possible {
    Possible::if_so(app.runs.is_busy() || app.sweeps.is_busy(), "no solve runs; press r to start one")
}

/// Returns that the action is possible if the selected item can be edited.
pub fn editable(app: &App) -> Possible {
    match app.focus.pane {
        PaneId::Params => open(app),
        _ if crate::app::update::has_sweeps(app) => Possible::Yes,
        pane => Possible::if_so(
            app.editing_of(pane).is_some(),
            "nothing in this pane can be edited; Space f goes to the parameters, where e changes one",
        ),
    }
}

/// Returns that the action is possible if there is a change to undo.
pub fn undo(app: &App) -> Possible {
    Possible::if_so(app.work.as_ref().is_some_and(super::work::Work::can_undo), "there is no change to undo")
}

/// Returns that the action is possible if there is a change to redo.
pub fn redo(app: &App) -> Possible {
    Possible::if_so(app.work.as_ref().is_some_and(super::work::Work::can_redo), "there is no change to redo")
}

/// Returns that the action is possible if there is a plan.
pub fn plan(app: &App) -> Possible {
    Possible::if_so(!app.plans.is_empty(), "there is no plan yet; press r")
}

/// Returns that the action is possible if two plans can be compared.
pub fn two_plans(app: &App) -> Possible {
    Possible::if_so(
        app.plans.len() > 1,
        "a comparison needs two plans; solve with another method or parameter",
    )
}

/// Returns that the action is possible if the focused pane has steps.
pub fn steps(app: &App) -> Possible {
    let steps = app.drawn_pane(app.focus.pane).is_some_and(|pane| pane.steps > 1);
    Possible::if_so(steps, "this pane has nothing to step through")
}

/// Returns that the action is possible if the axis of the focused pane can be stretched.
pub fn zooms(app: &App) -> Possible {
    Possible::if_so(
        app.pane_info(app.focus.pane).is_some_and(|info| info.zooms),
        "this pane has no axis to stretch",
    )
}

/// Returns that the action is possible if the focused pane has several forms.
pub fn folds(app: &App) -> Possible {
    let forms = app.pane_info(app.focus.pane).is_some_and(|info| info.modes.len() > 1);
    Possible::if_so(forms, "this pane has only one view")
}

/// Returns that the action is possible if the focused pane has an overlay.
pub fn overlays(app: &App) -> Possible {
    let overlay = app.pane_info(app.focus.pane).is_some_and(|info| !info.overlay.is_empty());
    Possible::if_so(overlay, "this pane has no overlay")
}

/// Returns that the action is possible if an item that can be opened is selected.
pub fn selected(app: &App) -> Possible {
    let items = app.items(app.focus.pane);
    let some = !items.is_empty() || crate::app::update::has_sweeps(app);
    Possible::if_so(some, "nothing is selected here")
}
