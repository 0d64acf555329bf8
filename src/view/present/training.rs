//! The panes of kind `training`.

mod activity;
mod choice;
mod dag;
mod explained;
mod links;
mod pieces;
mod ports;
mod rates;
mod reallocation;
mod sections;

use super::rows::from;
use super::section::panes::SWEEPS;
use super::{Explanations, KindPanes, KindScreens, PaneInput, Title, frame};
use crate::app::drawn::{Drawn, JobKey, JobResult, PaneDrawn};
use crate::app::pane::{PaneId, PaneInfo};
use choice::Choice;
use explained::{Explained, Whole};
use lightbay_engines::training::report;
use lightbay_widgets::PaneState as Shown;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use sections::{JobSection, SharedItems};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Panes of the kind.
pub const SCREENS: KindScreens =
    KindScreens { kind: "training", panes: PANES, sections: SECTIONS, make: || Box::<Training>::default() };

/// Number of the pane of the critical path.
const PATH: u8 = 6;

/// Number of the pane of the rates of a link.
const RATES: u8 = 7;

/// Minimum number of rows for the rates of the selected link below another picture.
const RATES_BELOW: u16 = 8;

/// Number of the pane of demand against capacity.
const CONTENTION: u8 = 8;

/// Number of the pane of sweeps.
const WHAT_IF: u8 = 9;

/// Number of the pane of slack.
const SLACK: u8 = 10;

/// Panes of the times of tasks, which also support plans whose circuits change: DAG and activity.
const OF_TIMES: [u8; 2] = [1, 2];

/// Number of the pane of shadow prices.
const SENSITIVITY: u8 = 12;

/// Number of the pane of failures.
const ROBUSTNESS: u8 = 13;

/// Sections of one job as panes: number, name, text shown during the computation, and the item that they share with
/// other panes.
const JOB_SECTIONS: [(u8, &str, &str, SharedItems); 5] = [
    (PATH, "path", "the critical path", SharedItems::Tasks),
    (CONTENTION, "contention", "demand against circuits", SharedItems::Ways),
    (SLACK, "slack", "slack of the tasks", SharedItems::Tasks),
    (SENSITIVITY, "sensitivity", "sensitivity of ports and circuits", SharedItems::Nothing),
    (ROBUSTNESS, "robustness", "the plan under failures", SharedItems::Nothing),
];

/// Sections that no other pane shows.
const SECTIONS: &[&str] = &["job", "pods", "links", "schedule"];

const PANES: &[PaneInfo] = &[
    PaneInfo {
        modes: &["folded", "whole", "full graph"],
        zooms: true,
        ..PaneInfo::new(1, "DAG", "Where does the time go, and what is critical?")
    },
    PaneInfo {
        modes: &["tail, equal columns", "tail, to scale", "all, equal columns", "all, to scale"],
        overlay: "possible intervals",
        zooms: true,
        steps: "interval",
        ..PaneInfo::new(2, "Activity", "Who waits for whom, and which link is full?")
    },
    PaneInfo {
        modes: &["circuits", "useful circuits", "busy, per cent", "flows at peak"],
        ..PaneInfo::new(3, "Ports", "How many circuits does each link have, and which are spare?")
    },
    PaneInfo::new(4, "GA", "Is the search still improving, or stuck?").of_section("generations"),
    PaneInfo::new(5, "Search", "How good is the best plan, provably?").of_section("search"),
    PaneInfo {
        modes: report::path::ORDERS,
        ..PaneInfo::new(
            PATH,
            "Path",
            "Why is it not ideal? The critical path, and why each task on it is late",
        )
    },
    PaneInfo {
        modes: &["max-min fair and scheduled", "as planned"],
        zooms: true,
        steps: "link",
        ..PaneInfo::new(
            RATES,
            "Rates",
            "How do tasks share a link, and how much time does rate control save?",
        )
    },
    PaneInfo {
        modes: report::contention::WINDOWS,
        zooms: true,
        ..PaneInfo::new(CONTENTION, "Contention", "Where and when are circuits oversubscribed?")
    },
    PaneInfo::new(
        WHAT_IF,
        "What-if",
        "What if bandwidth, sequence, micro-batches, ports or MFU were different?",
    )
    .of_section(SWEEPS),
    PaneInfo {
        modes: report::slack::ORDERS,
        ..PaneInfo::new(SLACK, "Slack", "Which tasks have slack, and which links have spare circuits?")
    },
    PaneInfo::new(
        reallocation::NUMBER,
        "Reallocation",
        "Which job has ports to spare, and which one gains from them?",
    ),
    PaneInfo::new(
        SENSITIVITY,
        "Sensitivity",
        "Shadow prices: what is one more port worth, and what does one fewer circuit cost?",
    ),
    PaneInfo::new(
        ROBUSTNESS,
        "Robustness",
        "How much longer is an iteration if compute times grow, or circuits or ports fail?",
    ),
    PaneInfo::new(14, "Reconfigurations", "When do circuits change within the iteration, and why then?")
        .of_section("switchings"),
    PaneInfo::new(
        15,
        "Dark times",
        "How much does one reconfiguration shorten the iteration with each kind of switch?",
    )
    .of_section("delays"),
    PaneInfo::new(
        16,
        "Frontier",
        "How many ports does an iteration of a given length need, with and without reconfiguration?",
    )
    .of_section("frontier"),
];

/// One job of a plan together with its explanation.
type JobFacts = Arc<Explained>;

/// The panes with their stored results.
#[derive(Debug)]
struct Training {
    explained: Explanations<Whole>,
    dag: dag::DagPane,
    activity: activity::ActivityPane,
    ports: ports::PortsPane,
    rates: rates::RatesPane,
    reallocation: reallocation::ReallocationPane,
    /// Sections of one job, by number of the pane.
    sections: BTreeMap<u8, JobSection>,
}

impl Default for Training {
    fn default() -> Self {
        let section = |(pane, name, waits_for, shares)| {
            (pane, JobSection::new(name, waits_for, u64::from(pane), shares))
        };
        Self {
            explained: Explanations::default(),
            dag: dag::DagPane::default(),
            activity: activity::ActivityPane::default(),
            ports: ports::PortsPane::default(),
            rates: rates::RatesPane::default(),
            reallocation: reallocation::ReallocationPane::default(),
            sections: JOB_SECTIONS.into_iter().map(section).collect(),
        }
    }
}

impl KindPanes for Training {
    fn accept(&mut self, key: JobKey, result: JobResult) {
        let own = self.explained.accept(key, result).or_else(|result| self.reallocation.accept(key, result));
        // A late result of another kind is dropped.
        drop(
            self.sections
                .values_mut()
                .fold(own, |rest, pane| rest.or_else(|result| pane.accept(key, result))),
        );
    }

    fn draw(
        &mut self,
        input: &PaneInput<'_>,
        area: Rect,
        buf: &mut Buffer,
        drawn: &mut PaneDrawn,
        out: &mut Drawn,
    ) {
        let Some(whole) = self.explained.shown_or_state(input, area, buf, &mut out.jobs) else { return };
        // All other panes show the job chosen in the pane of jobs.
        let selected = input.app.pane(PaneId::Kind(reallocation::NUMBER)).selected;
        let chosen = self.reallocation.choose(&whole, selected);
        if input.info.number == reallocation::NUMBER {
            self.reallocation.draw(input, &whole, area, buf, (drawn, out));
            let rest = self.reallocation.rest(area);
            if let Some(one) = whole.part(chosen).filter(|one| !one.analysis.moves && !rest.is_empty()) {
                let choice = Choice::of(input.app, &one, |item| self.ports.link_of(item));
                self.draw_rates(input, &one, choice, rest, buf, out);
            }
            return;
        }
        let Some(explained) = whole.part(chosen) else { return };
        if explained.analysis.moves && !OF_TIMES.contains(&input.info.number) {
            let remedy = "see panes 1, 2 and 14; to fill this pane, set switch=none and plan again";
            let state = Shown::Empty { what: "the circuits of the plan change within the iteration", remedy };
            return frame(input, &Title::default(), state, area, buf);
        }
        let choice = Choice::of(input.app, &explained, |item| self.ports.link_of(item));
        let rest = match input.info.number {
            1 => self.dag.draw(input, &explained, choice, area, buf, drawn, out),
            2 => self.activity.draw(input, &explained, choice, area, buf, drawn, out),
            _ => Rect::ZERO,
        };
        match (rest.height >= RATES_BELOW, explained.analysis.moves, input.info.number) {
            (true, false, _) => self.draw_rates(input, &explained, choice, rest, buf, out),
            // Rates assume circuits that stay.
            (true, true, 1) => {
                let Some(below) = other_pane(input, 2) else { return };
                let mut other = PaneDrawn::new(below.pane, rest);
                self.activity.draw(&below, &explained, choice, rest, buf, &mut other, out);
            }
            _ => {}
        }
        match input.info.number {
            number if OF_TIMES.contains(&number) => {}
            RATES => self.rates.draw(input, &explained, choice, area, buf, drawn, out),
            _ => {
                if let Some(section) = self.sections.get_mut(&input.info.number) {
                    // A large pane also shows the rates of the selected link over time.
                    section.draw(input, &explained, choice, area, buf, (drawn, out));
                    let rest = section.rest(area);
                    if !rest.is_empty() {
                        self.draw_rates(input, &explained, choice, rest, buf, out);
                    }
                    return;
                }
                let baseline = self.explained.of_baseline(input.app, &mut out.jobs);
                let baseline = baseline.and_then(|whole| whole.part(chosen));
                let baseline = baseline.filter(|other| !other.analysis.moves);
                // A large pane also shows what the selected link carries over time.
                self.ports.prepare(input, &explained, baseline.as_deref());
                let own = self.ports.rows();
                let rest = from(area, own + 1);
                let with_rates = rest.height >= RATES_BELOW;
                let height = if with_rates { own } else { area.height };
                let place = Rect { height, ..area };
                self.ports.draw(input, &explained, choice, place, buf, drawn, out);
                if with_rates {
                    self.draw_rates(input, &explained, choice, rest, buf, out);
                }
            }
        }
    }
}

impl Training {
    /// Draws the rates of the selected link below another pane.
    fn draw_rates(
        &mut self,
        input: &PaneInput<'_>,
        explained: &JobFacts,
        choice: Choice,
        area: Rect,
        buf: &mut Buffer,
        out: &mut Drawn,
    ) {
        let Some(below) = other_pane(input, RATES) else { return };
        let mut other = PaneDrawn::new(below.pane, area);
        self.rates.draw(&below, explained, choice, area, buf, &mut other, out);
    }
}

/// Returns the input of another pane that is drawn below the pane of `input`.
fn other_pane<'a>(input: &PaneInput<'a>, number: u8) -> Option<PaneInput<'a>> {
    let info = input.app.pane_info(PaneId::Kind(number))?;
    let pane = info.id();
    let state = input.app.pane(pane).clone();
    Some(PaneInput { pane, info, state, focused: false, ..input.clone() })
}
