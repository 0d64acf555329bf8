//! Decides whether an action is possible now, with the reason if it is not possible: footer and palette show an
//! impossible action in grey, and choosing it shows the reason.

use crate::app::pane::PaneId;
use crate::app::runs::RunState;
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

/// Returns [`Possible::Yes`] always.
pub const fn always(_: &App) -> Possible {
    Possible::Yes
}

/// Returns [`Possible::Yes`] if a scenario is open, else [`Possible::No`].
pub const fn open(app: &App) -> Possible {
    Possible::if_so(app.work.is_some(), "nothing is open; open a file or an example first")
}

/// Returns [`Possible::Yes`] if the open scenario has a pane that charts sweeps, else [`Possible::No`]; every kind has
/// such a pane.
pub fn sweeps(app: &App) -> Possible {
    let some = app.kind_panes().iter().any(|info| info.sweeps.is_some());
    Possible::if_so(some, "nothing is open to sweep over; open a file or an example first")
}

/// Returns [`Possible::Yes`] if a run is active or waiting or a sweep is active, else [`Possible::No`].
pub fn busy(app: &App) -> Possible {
    if !app.runs.is_busy()
        && !app.sweeps.is_busy()
        && app.runs.iter().any(|run| run.state == RunState::Elsewhere)
    {
        return Possible::No(
            "the solve runs in another process, which the strip names; stop or pause it there",
        );
    }
    Possible::if_so(
        app.runs.is_busy() || app.sweeps.is_busy(),
        "no solve runs; press {solve_warm} to start one",
    )
}

/// Returns [`Possible::Yes`] if the selected item can be edited, else [`Possible::No`].
pub fn editable(app: &App) -> Possible {
    match app.focus.pane {
        PaneId::Start => Possible::No("nothing is open; open a file or an example first"),
        PaneId::Params => open(app),
        _ if crate::app::update::has_sweeps(app) => Possible::Yes,
        pane => Possible::if_so(
            app.editing_of(pane).is_some() || app.setting_of(pane).is_some(),
            "nothing in this pane can be edited; {go_to_parameters} goes to the parameters, where {edit} changes one",
        ),
    }
}

/// Returns that the action is possible if keys are being recorded.
pub fn recording(app: &App) -> Possible {
    Possible::if_so(app.recording.is_some(), "no keys are being recorded; :record FILE starts")
}

/// Returns [`Possible::Yes`] if a change can be undone, else [`Possible::No`].
pub fn undo(app: &App) -> Possible {
    Possible::if_so(app.work.as_ref().is_some_and(super::work::Work::can_undo), "nothing is left to undo")
}

/// Returns [`Possible::Yes`] if a change can be redone, else [`Possible::No`].
pub fn redo(app: &App) -> Possible {
    Possible::if_so(app.work.as_ref().is_some_and(super::work::Work::can_redo), "there is no change to redo")
}

/// Returns [`Possible::Yes`] if the session has a plan, else [`Possible::No`].
pub fn plan(app: &App) -> Possible {
    Possible::if_so(!app.plans.is_empty(), "no plan exists yet; press {solve_warm}")
}

/// Returns [`Possible::Yes`] if two plans can be compared, else [`Possible::No`].
pub fn two_plans(app: &App) -> Possible {
    Possible::if_so(
        app.plans.rows().len() > 1,
        "a comparison needs two plans; solve with another method or parameter",
    )
}

/// Returns [`Possible::Yes`] if the focused pane has several steps, else [`Possible::No`].
pub fn steps(app: &App) -> Possible {
    let steps = app.drawn_pane(app.focus.pane).is_some_and(|pane| pane.steps > 1);
    Possible::if_so(steps, "this pane has nothing to step through")
}

/// Returns [`Possible::Yes`] if the axis of the focused pane can be stretched, else [`Possible::No`].
pub fn zooms(app: &App) -> Possible {
    Possible::if_so(
        app.pane_info(app.focus.pane).is_some_and(|info| info.zooms),
        "this pane has no axis to stretch",
    )
}

/// Returns [`Possible::Yes`] if the focused pane has several forms, else [`Possible::No`].
pub fn folds(app: &App) -> Possible {
    let has_one = app.drawn_pane(app.focus.pane).is_some_and(|pane| pane.has_one_view);
    let forms = app.pane_info(app.focus.pane).is_some_and(|info| info.modes.len() > 1) && !has_one;
    Possible::if_so(forms, "this pane has only one view")
}

/// Returns [`Possible::Yes`] if the focused pane has an overlay, else [`Possible::No`].
pub fn overlays(app: &App) -> Possible {
    let overlay = app.pane_info(app.focus.pane).is_some_and(|info| !info.overlay.is_empty());
    Possible::if_so(overlay, "this pane has no overlay")
}

/// Returns [`Possible::Yes`] if the focused pane has items or charts sweeps, else [`Possible::No`].
pub fn selected(app: &App) -> Possible {
    let items = app.items(app.focus.pane);
    let some = !items.is_empty() || crate::app::update::has_sweeps(app);
    Possible::if_so(some, "nothing is selected here")
}
