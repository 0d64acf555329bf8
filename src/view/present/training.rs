//! The panes of kind `training`.

mod activity;
mod compare;
mod dag;
mod explained;
mod figures;
mod ga;
mod links;
mod pieces;
mod ports;
mod search;

use super::{CompareBlocks, Explanations, KindPanes, KindScreens, PaneInput};
use crate::app::drawn::{Drawn, JobKey, JobResult, PaneDrawn};
use crate::app::pane::PaneInfo;
use crate::app::plans::PlanEntry;
use explained::Explained;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;

/// What the kind shows.
pub const SCREENS: KindScreens = KindScreens {
    kind: "training",
    panes: PANES,
    figures: figures::FIGURES,
    make: || Box::<Training>::default(),
};

const PANES: &[PaneInfo] = &[
    PaneInfo {
        modes: &["folded", "whole", "full graph"],
        zooms: true,
        ..PaneInfo::new(1, "DAG", "Where does the time go, and what dictates it?")
    },
    PaneInfo {
        modes: &["tail, equal columns", "tail, to scale", "all, equal columns", "all, to scale"],
        overlay: "index windows",
        zooms: true,
        steps: "interval",
        ..PaneInfo::new(2, "Activity", "Who waits for whom, and which link is full?")
    },
    PaneInfo {
        modes: &["circuits", "useful circuits", "busy, per cent", "flows at peak"],
        ..PaneInfo::new(3, "Ports", "Who has how many circuits, and who could give some?")
    },
    PaneInfo {
        modes: &["log axes", "even axes"],
        ..PaneInfo::new(4, "GA", "Is the search still improving, or stuck?")
    },
    PaneInfo {
        modes: &["over time", "over nodes or vectors", "solver log"],
        ..PaneInfo::new(5, "Search", "How good is the best plan, provably?")
    },
];

/// A plan together with its explanation.
type Facts = Arc<Explained>;

/// The panes with what they keep.
#[derive(Debug, Default)]
struct Training {
    explained: Explanations<Explained>,
    dag: dag::DagPane,
    activity: activity::ActivityPane,
    ports: ports::PortsPane,
    ga: ga::GaPane,
    search: search::SearchPane,
}

impl KindPanes for Training {
    fn accept(&mut self, key: JobKey, result: JobResult) {
        // A late result of another kind is nobody's.
        drop(self.explained.accept(key, result));
    }

    fn draw(
        &mut self,
        input: &PaneInput<'_>,
        area: Rect,
        buf: &mut Buffer,
        drawn: &mut PaneDrawn,
        out: &mut Drawn,
    ) {
        match input.info.number {
            4 => return self.ga.draw(input, area, buf, drawn),
            5 => return self.search.draw(input, area, buf, drawn, out),
            _ => {}
        }
        let Some(explained) = self.explained.shown_or_state(input, area, buf, &mut out.jobs) else { return };
        match input.info.number {
            1 => self.dag.draw(input, &explained, area, buf, drawn, out),
            2 => self.activity.draw(input, &explained, area, buf, drawn, out),
            _ => {
                let baseline = self.explained.of_baseline(input.app, &mut out.jobs);
                self.ports.draw(input, &explained, baseline.as_deref(), area, buf, drawn, out);
            }
        }
    }

    fn compare(&self, a: &PlanEntry, b: &PlanEntry) -> CompareBlocks {
        compare::blocks(a, b)
    }
}
