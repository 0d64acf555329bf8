//! The task or link that the user chose in one pane; other panes show the same task, and the directed link that carries
//! it.

use super::explained::Explained;
use super::{CONTENTION, PATH, RATES, SLACK};
use crate::app::pane::PaneId;
use crate::app::state::App;

/// Panes whose items are tasks.
const TASKS: [PaneId; 5] =
    [PaneId::Kind(1), PaneId::Kind(2), PaneId::Kind(PATH), PaneId::Kind(RATES), PaneId::Kind(SLACK)];

/// The pane of circuits; its items are cells, each of which belongs to a link. One other pane has the links themselves
/// as items.
const PORTS: PaneId = PaneId::Kind(3);
const WAYS: PaneId = PaneId::Kind(CONTENTION);

/// The chosen task and directed link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Choice {
    /// Index of the task.
    pub task: Option<u32>,
    /// Index of the directed link.
    pub way: Option<u32>,
    /// `true` if the user chose the task or link.
    pub by_person: bool,
}

impl Choice {
    /// Returns the last choice in any pane; before the first choice, the last task of the critical path and its
    /// directed link. `link_of` returns the link of a cell of circuits.
    pub fn of(app: &App, facts: &Explained, link_of: impl Fn(u32) -> Option<u32>) -> Self {
        let chosen = app.chosen_in.iter().copied();
        let known = chosen.chain([app.focus.pane]).chain(TASKS).chain([WAYS]);
        known.into_iter().find_map(|pane| Self::in_pane(app, facts, pane, &link_of)).unwrap_or_else(|| {
            let task = facts.usual_task();
            Self { task, way: task.map(|task| facts.way_of(task)), by_person: false }
        })
    }

    /// Returns the task and the directed link that the user chose in this pane; `None` if nothing is chosen in it.
    fn in_pane(
        app: &App,
        facts: &Explained,
        pane: PaneId,
        link_of: &impl Fn(u32) -> Option<u32>,
    ) -> Option<Self> {
        let item = app.pane(pane).selected?;
        if TASKS.contains(&pane) {
            let task = Some(item).filter(|task| (*task as usize) < facts.analysis.tasks.len())?;
            return Some(Self { task: Some(task), way: Some(facts.way_of(task)), by_person: true });
        }
        let way = match pane {
            PORTS => {
                let link = link_of(item)?;
                // The direction of the link that comes first in `ways`, because it adds more to the makespan.
                facts.ways.iter().copied().find(|way| way / 2 == link)?
            }
            WAYS => *facts.ways.get(item as usize)?,
            _ => return None,
        };
        Some(Self { task: facts.last_on(way), way: Some(way), by_person: true })
    }
}
