//! Pane 1: the graph of tasks on a time axis, with folded steady state, the marked critical path, and the edges of one
//! task.

use super::explained::Explained;
use super::{Choice, JobFacts, RATES_BELOW, links, pieces};
use crate::app::action::Command;
use crate::app::drawn::{Drawn, Item, PaneDrawn};
use crate::app::pane::SizeClass;
use crate::view::present::rows::{self, ends, from, line};
use crate::view::present::{PaneInput, Title, below, body, frame, labels, plain};
use lightbay_engines::training::model::full_dag::NodeKind;
use lightbay_engines::training::report;
use lightbay_engines::training::scenario::instance::{LinkKind, TaskKind};
use lightbay_widgets::{
    AxisPart, Edge, ItemShape, Lane, PaneState as Shown, Piece, Timeline, TimelineItem, TimelineState, Tone,
    number,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::StatefulWidget;
use std::sync::Arc;

/// Number of tasks from which on the steady state is folded; smaller graphs are shown completely.
const FOLD_FROM: usize = 40;

/// Key of the state for which the data of the pane was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Key {
    plan: u64,
    mode: u8,
    numbers: bool,
    full: bool,
    narrow: bool,
    height: u16,
}

/// Minimum width at which the start of the iteration is drawn left of a folded steady state.
const HEAD: u16 = 60;

/// Minimum height at which the computation of the stages is drawn above the transfers, if all rows fit, and the number of
/// rows around the lanes: title, axis, sentence and legend.
const LARGE: u16 = 24;
const AROUND: u16 = 5;

/// Data of the pane, refilled when plan or form change.
#[derive(Debug, Default)]
pub struct DagPane {
    key: Option<Key>,
    lanes: Vec<Lane>,
    items: Vec<TimelineItem>,
    selectable: Arc<[Item]>,
    /// Number of rows of the lanes of links.
    link_rows: u16,
    /// End of the head and start of the tail, seconds; `None` if nothing is folded.
    fold: Option<(f64, f64)>,
    /// Time from one micro-batch to the next in the steady state, seconds.
    period_s: Option<f64>,
    parts: Vec<AxisPart>,
    edges: Vec<Edge>,
    state: TimelineState,
}

impl DagPane {
    /// Draws the pane; returns the rows that it leaves to another picture.
    #[expect(clippy::too_many_arguments, reason = "the pane draws all of these values")]
    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        facts: &JobFacts,
        choice: Choice,
        area: Rect,
        buf: &mut Buffer,
        drawn: &mut PaneDrawn,
        out: &mut Drawn,
    ) -> Rect {
        let theme = &input.app.look.theme;
        let wide = input.large || input.app.size.class == SizeClass::Wide;
        let narrow = area.width < HEAD;
        if self.key.is_none_or(|key| key.plan != facts.key) {
            self.fill(facts, wide, false, narrow);
        }
        // A large pane has room for the computation too.
        let is_large = area.height >= LARGE && self.link_rows + Self::stages(facts) < area.height - AROUND;
        let chosen_full = input.mode() == "full graph";
        let full = chosen_full || is_large;
        let (mode, height) = (input.state.mode, area.height);
        let key = Key { plan: facts.key, mode, numbers: wide, full, narrow, height };
        if self.key != Some(key) {
            self.key = Some(key);
            self.fill(facts, wide, full, narrow);
            self.spread(height);
        }
        let selected = Self::selected(input, facts, choice, full);
        self.place_axis(input, facts, selected);
        self.fill_edges(facts, selected, input.large && input.focused);

        // A large pane leaves the rows that the lanes do not use to another picture.
        let own = self.lane_rows() as u16 + AROUND;
        let rest = from(area, if area.height >= LARGE { own + 1 } else { area.height });
        let rest = if rest.height >= RATES_BELOW { rest } else { Rect::ZERO };
        let area = Rect { height: if rest.is_empty() { area.height } else { own }, ..area };
        let notes = u16::from(wide && area.height >= 14);
        let inner = body(area, 1 + notes);
        let value = pieces::critical(facts);
        let timeline = Timeline::new(theme, &self.parts, &self.lanes, &self.items)
            .edges(&self.edges)
            .pinned(self.lanes.iter().take_while(|lane| lane.rail).count());
        let mut context = facts.title();
        if chosen_full {
            // An explicit instance has transfers and delays, but its compute is unknown.
            context.push(Piece::muted(if facts.steps.is_empty() {
                "full graph: compute unknown  "
            } else {
                "full graph  "
            }));
        }
        if let Some(column_s) = timeline.column_s(inner.width).filter(|_| area.width > 80) {
            context.push(Piece::muted(format!("columns are {} ms", number::millis(column_s, 1).as_str())));
        }
        frame(input, &Title { context, value: vec![Piece::answer(value)] }, Shown::Ready, area, buf);

        self.state.selected = selected;
        self.state.offset = input.state.offset;
        out.axes.extend(timeline.axis_place(inner).map(|place| (input.pane, place)));
        timeline.render(inner, buf, &mut self.state);
        self.report(input, facts, drawn, out, inner);
        drawn.chosen = selected;

        let sentence = Self::sentence(facts, selected);
        let visible = (self.state.visible.start, self.state.visible.len());
        let in_sight = rows::in_sight((visible.0, visible.1, self.lane_rows()), (0, 0, 0));
        let in_sight: Vec<Piece> = in_sight.map(|part| Piece::muted(part.to_string())).into_iter().collect();
        ends(theme, &sentence, &in_sight, below(inner), buf);
        if notes > 0 {
            let legend = self.legend(theme.is_ascii());
            let under = below(inner);
            line(theme, &legend, Rect { y: under.y + 1, ..under }, buf);
        }
        drawn.sentence = plain(&sentence);
        drawn.details = selected
            .filter(|id| (*id as usize) < facts.analysis.tasks.len())
            .map(|task| report::task::details(&facts.analysis, task))
            .unwrap_or_default();
        rest
    }

    fn selected(input: &PaneInput<'_>, facts: &Explained, choice: Choice, full: bool) -> Option<u32> {
        // Other panes share transfers, but not computation.
        let is_own = |id: &u32| {
            *id as usize >= facts.analysis.tasks.len() && input.app.chosen_in.first() == Some(&input.pane)
        };
        input.state.selected.filter(|id| full && is_own(id)).or(choice.task)
    }

    /// Returns the number of stages whose computation is known.
    fn stages(facts: &Explained) -> u16 {
        facts.steps.iter().map(|step| step.stage + 1).max().unwrap_or(0) as u16
    }

    /// Returns the number of rows of all lanes.
    fn lane_rows(&self) -> usize {
        self.lanes.iter().map(|lane| usize::from(lane.rows.max(1))).sum()
    }

    fn fill(&mut self, facts: &Explained, numbers: bool, full: bool, narrow: bool) {
        self.lanes.clear();
        self.items.clear();
        if full {
            self.fill_stages(facts, numbers);
        }
        self.fill_moves(facts);
        let before = self.lane_rows();
        self.fill_links(facts, numbers);
        self.link_rows = (self.lane_rows() - before) as u16;
        self.find_fold(facts, narrow);
        self.count_folded();
        self.place_items();
    }

    /// Separates the gradients of the pods by blank rows, if the rows left are too few for another picture.
    fn spread(&mut self, height: u16) {
        let spare = usize::from(height).saturating_sub(self.lane_rows() + usize::from(AROUND));
        let gaps = self.lanes.iter().filter(|lane| !lane.rail).count().saturating_sub(1);
        if height >= LARGE && (gaps..=usize::from(RATES_BELOW)).contains(&spare) {
            for lane in self.lanes.iter_mut().filter(|lane| !lane.rail).take(gaps) {
                lane.rows += 1;
            }
            self.place_items();
        }
    }

    /// Lists the items by row of the lanes.
    fn place_items(&mut self) {
        let mut row_of = Vec::with_capacity(self.lanes.len());
        let mut row = 0u32;
        for lane in &self.lanes {
            row_of.push(row);
            row += u32::from(lane.rows.max(1));
        }
        let mut items: Vec<Item> = self
            .items
            .iter()
            .map(|item| Item {
                id: item.id,
                row: row_of[item.lane] + u32::from(item.row),
                place: item.start_s as f32,
            })
            .collect();
        items.sort_by(|a, b| a.row.cmp(&b.row).then(a.place.total_cmp(&b.place)));
        self.selectable = items.into();
    }

    /// Adds one lane per stage with the compute tasks of the stage, for the full graph.
    fn fill_stages(&mut self, facts: &Explained, numbers: bool) {
        for stage in 0..u32::from(Self::stages(facts)) {
            self.lanes.push(Lane {
                id: u32::MAX - stage,
                name: format!("stage {}", stage + 1).into(),
                rows: 1,
                rail: true,
                folded: Vec::new(),
            });
        }
        let tasks = facts.analysis.tasks.len() as u32;
        let chunks = pieces::has_chunks(facts);
        let mut items: Vec<TimelineItem> = facts
            .steps
            .iter()
            .enumerate()
            .filter(|(_, step)| matches!(step.kind, NodeKind::Forward | NodeKind::Backward))
            .map(|(index, step)| TimelineItem {
                id: tasks + index as u32,
                lane: step.stage as usize,
                row: 0,
                start_s: step.start_s,
                end_s: step.finish_s,
                name: if numbers { pieces::step_number(step, chunks).into() } else { "".into() },
                shape: if step.kind == NodeKind::Forward { ItemShape::Forward } else { ItemShape::Backward },
                critical: false,
            })
            .collect();
        items.sort_by(|a, b| a.lane.cmp(&b.lane).then(a.start_s.total_cmp(&b.start_s)));
        self.items.append(&mut items);
    }

    /// Adds one lane with the reconfigurations, each from the time at which circuits are set until they carry traffic.
    fn fill_moves(&mut self, facts: &Explained) {
        if facts.events.is_empty() {
            return;
        }
        let delay_s = facts.analysis.setting.instance.reconfiguration.map_or(0.0, |group| group.delay_s);
        let lane = self.lanes.len();
        let first = (facts.analysis.tasks.len() + facts.steps.len()) as u32;
        for (number, event) in (0_u32..).zip(&facts.events) {
            let next_s = facts.events.get(number as usize + 1).map_or(f64::INFINITY, |next| next.time_s);
            self.items.push(TimelineItem {
                id: first + number,
                lane,
                row: 0,
                start_s: event.time_s,
                end_s: (event.time_s + delay_s).min(next_s).min(facts.analysis.makespan_s),
                name: (number + 1).to_string().into(),
                shape: ItemShape::Bar,
                critical: false,
            });
        }
        let id = u32::MAX / 2;
        self.lanes.push(Lane { id, name: "moves".into(), rows: 1, rail: true, folded: Vec::new() });
    }

    /// Adds one lane per direction of a link: first the lanes of pipeline transfers, then the lanes of gradients,
    /// sorted by the start of their first task.
    fn fill_links(&mut self, facts: &Explained, numbers: bool) {
        let analysis = &facts.analysis;
        let (network, instance) = (&analysis.setting.evaluator.network, &analysis.setting.instance);
        let mut directions: Vec<(bool, f64, usize)> = (0..network.carried.len())
            .filter(|direction| !network.carried[*direction].is_empty())
            .map(|direction| {
                let dp = instance.links[direction / 2].kind == LinkKind::Dp;
                let first = network.carried[direction]
                    .iter()
                    .map(|task| analysis.tasks[*task as usize].start_s)
                    .fold(f64::INFINITY, f64::min);
                (dp, if dp { first } else { 0.0 }, direction)
            })
            .collect();
        directions.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        for (dp, _, direction) in directions {
            let mut tasks = network.carried[direction].clone();
            tasks.sort_by(|a, b| {
                let start = |task: u32| analysis.tasks[task as usize].start_s;
                start(*a).total_cmp(&start(*b)).then(a.cmp(b))
            });
            let lane = self.lanes.len();
            let mut ends: Vec<f64> = Vec::new();
            for &task in &tasks {
                let (own, described) = (&analysis.tasks[task as usize], &instance.tasks[task as usize]);
                let row = ends.iter().position(|end| *end <= own.start_s + 1e-9);
                let row = row.unwrap_or_else(|| {
                    ends.push(0.0);
                    ends.len() - 1
                });
                ends[row] = own.finish_s;
                let (shape, name) = match described.kind {
                    TaskKind::PpFwd => (ItemShape::Forward, numbers.then(|| pieces::task_number(described))),
                    TaskKind::PpBwd => (ItemShape::Backward, numbers.then(|| pieces::task_number(described))),
                    TaskKind::Dp | TaskKind::Other => (ItemShape::Bar, Some(described.name.clone())),
                };
                self.items.push(TimelineItem {
                    id: task,
                    lane,
                    row: row as u16,
                    start_s: own.start_s,
                    end_s: own.finish_s,
                    name: name.unwrap_or_default().into(),
                    shape,
                    critical: own.critical,
                });
            }
            let route = tasks.first().map_or_else(String::new, |task| links::route(instance, *task));
            let sender = instance.tasks.get(tasks[0] as usize).map_or(0, |task| task.src_pod.index());
            let mirror =
                instance.links[direction / 2].ports_b == 0 || instance.links[direction / 2].ports_a == 0;
            let name = if dp && mirror { format!("{} dp", links::pod(instance, sender)) } else { route };
            self.lanes.push(Lane {
                id: direction as u32,
                name: name.into(),
                rows: ends.len().max(1) as u16,
                rail: !dp,
                folded: Vec::new(),
            });
        }
        // The widget requires items sorted by lane, row and start.
        self.items.sort_by(|a, b| {
            a.lane.cmp(&b.lane).then(a.row.cmp(&b.row)).then(a.start_s.total_cmp(&b.start_s))
        });
    }

    /// Finds the steady state, which is between the first and the last few micro-batches. If the pane is narrow, the
    /// first micro-batches are folded too.
    fn find_fold(&mut self, facts: &Explained, narrow: bool) {
        let analysis = &facts.analysis;
        self.period_s = Self::period(facts);
        self.fold = None;
        let end = analysis.makespan_s;
        let tail = analysis.events.get(analysis.tail_begins()).copied().unwrap_or(0.0);
        // Gradients that are sent in buckets begin earlier.
        let tasks = analysis.tasks.iter().zip(&analysis.setting.instance.tasks);
        let gradients = tasks.filter(|(_, described)| described.kind == TaskKind::Dp);
        let tail = gradients.map(|(task, _)| task.start_s).fold(tail, f64::min);
        let length = end - tail;
        let (head_to, tail_from) = (0.3 * length, tail - 0.15 * length);
        if analysis.tasks.len() >= FOLD_FROM && head_to < 0.6 * tail_from {
            self.fold = Some((if narrow { 0.0 } else { head_to }, tail_from));
        }
    }

    fn period(facts: &Explained) -> Option<f64> {
        let network = &facts.analysis.setting.evaluator.network;
        let longest = network.carried.iter().max_by_key(|tasks| tasks.len())?;
        let mut starts: Vec<f64> =
            longest.iter().map(|task| facts.analysis.tasks[*task as usize].start_s).collect();
        starts.sort_unstable_by(f64::total_cmp);
        let (from, to) = (starts.len() / 4, starts.len() * 3 / 4);
        (to > from + 2).then(|| (starts[to] - starts[from]) / (to - from) as f64)
    }

    fn count_folded(&mut self) {
        let Some((head_to, tail_from)) = self.fold else { return };
        for (index, lane) in self.lanes.iter_mut().enumerate() {
            let hidden = self
                .items
                .iter()
                .filter(|item| item.lane == index && item.start_s >= head_to && item.end_s < tail_from)
                .count();
            lane.folded = vec![hidden as u32];
        }
    }

    /// Places the axis. A stretched axis shows the selected item.
    fn place_axis(&mut self, input: &PaneInput<'_>, facts: &Explained, selected: Option<u32>) {
        let end = facts.analysis.makespan_s.max(f64::MIN_POSITIVE);
        self.parts.clear();
        if input.state.zoom > 0 {
            let width = end / f64::from(1u32 << input.state.zoom.min(20));
            let around = |at: f64| (at - width / 2.0).clamp(0.0, end - width);
            let from = around(input.state.centre.clamp(0.0, 1.0) * end);
            let item = selected.and_then(|id| self.items.iter().find(|item| item.id == id));
            let hidden = item.filter(|item| item.end_s < from || item.start_s > from + width);
            let from = hidden.map_or(from, |item| around(f64::midpoint(item.start_s, item.end_s)));
            self.parts.push(AxisPart::Span { from_s: from, to_s: from + width, weight: 1 });
            return;
        }
        match self.fold.filter(|_| input.mode() != "whole") {
            Some((head_to, tail_from)) => {
                let head = AxisPart::Span { from_s: 0.0, to_s: head_to, weight: 3 };
                self.parts.extend(Some(head).filter(|_| head_to > 0.0));
                let tail = AxisPart::Span { from_s: tail_from, to_s: end, weight: 11 };
                self.parts.extend([AxisPart::Fold, tail]);
            }
            None => self.parts.push(AxisPart::Span { from_s: 0.0, to_s: end, weight: 1 }),
        }
    }

    /// Adds the edge that decides the start of the selected task, or all edges into the task if `all` is true.
    fn fill_edges(&mut self, facts: &Explained, selected: Option<u32>, all: bool) {
        self.edges.clear();
        let Some(task) = selected.filter(|task| (*task as usize) < facts.analysis.tasks.len()) else {
            return;
        };
        let place = |task: u32| self.items.iter().position(|item| item.id == task);
        let Some(own) = place(task) else { return };
        let label = |delay: f64| format!("+{} ms", number::millis(delay, 1).as_str());
        let mut before = facts.analysis.predecessors(task);
        before.sort_by(|a, b| b.2.cmp(&a.2).then(a.0.cmp(&b.0)));
        if !all {
            before.truncate(1);
        }
        let mut edges = Vec::new();
        for (pred, delay, _) in before {
            edges.extend(place(pred).map(|from| Edge { from, to: own, label: label(delay).into() }));
        }
        if all {
            for (succ, delay, _) in facts.analysis.successors(task) {
                edges.extend(place(succ).map(|to| Edge { from: own, to, label: label(delay).into() }));
            }
        }
        self.edges = edges;
    }

    fn sentence(facts: &Explained, selected: Option<u32>) -> Vec<Piece> {
        let Some(id) = selected else { return vec![Piece::muted("nothing selected")] };
        let tasks = facts.analysis.tasks.len() as u32;
        if id < tasks {
            return pieces::timing(facts, id);
        }
        let Some(step) = facts.steps.get((id - tasks) as usize) else {
            return moved(facts, (id - tasks) as usize - facts.steps.len());
        };
        let (letter, word) =
            if step.kind == NodeKind::Forward { ('F', "forward") } else { ('B', "backward") };
        vec![
            Piece::answer(format!(
                "> {letter}{} stage {}",
                pieces::step_number(step, pieces::has_chunks(facts)),
                step.stage + 1
            )),
            Piece::text(format!(
                "  {}–{} s",
                number::seconds3(step.start_s).as_str(),
                number::seconds3(step.finish_s).as_str()
            )),
            Piece::muted(format!(
                "  {word} compute, {} ms",
                number::millis(step.finish_s - step.start_s, 1).as_str()
            )),
        ]
    }

    fn legend(&self, ascii: bool) -> Vec<Piece> {
        let (forward, backward, bar) = if ascii { (">", "<", "=") } else { ("▸", "◂", "■") };
        let mut line = vec![
            Piece::new(forward, Tone::Forward),
            Piece::muted(" forward  "),
            Piece::new(backward, Tone::Backward),
            Piece::muted(" backward  "),
            Piece::new(bar, Tone::Gradient),
            Piece::muted(" gradients  "),
            Piece::answer("*"),
            Piece::muted(" critical path"),
        ];
        if let Some(period) = self.period_s {
            line.push(Piece::muted(format!("   period {} ms", number::millis(period, 1).as_str())));
        }
        line
    }

    fn report(
        &self,
        input: &PaneInput<'_>,
        facts: &Explained,
        drawn: &mut PaneDrawn,
        out: &mut Drawn,
        inner: Rect,
    ) {
        drawn.items = Arc::clone(&self.selectable);
        drawn.labels =
            labels(input, &self.selectable, |id| links::task(&facts.analysis.setting.instance, id));
        drawn.page = usize::from(inner.height.saturating_sub(1));
        drawn.offset = self.state.offset;
        if let Some(item) = self.state.selected {
            (drawn.steps, drawn.steps_through) = (self.selectable.len() as u32, Some((input.pane, item)));
            drawn.along_axis = true;
        }
        out.hits.extend(self.state.hits.iter().map(|hit| input.hit(hit.rect, hit.id, Command::Inspect)));
    }
}

/// Returns text about the circuits that one reconfiguration changes.
fn moved(facts: &Explained, number: usize) -> Vec<Piece> {
    let Some(event) = facts.events.get(number) else { return Vec::new() };
    let before = &facts.events[(number + facts.events.len() - 1) % facts.events.len()];
    let instance = &facts.analysis.setting.instance;
    let changes = before.circuits.iter().zip(&event.circuits).zip(&instance.links);
    let changes: Vec<String> = changes
        .filter(|((old, new), _)| old != new)
        .map(|((old, new), link)| {
            let [a, b] = [link.pod_a, link.pod_b].map(|pod| links::pod(instance, pod.index()));
            format!("{a}–{b} {old}→{new}")
        })
        .collect();
    vec![
        Piece::answer(format!("> reconfiguration {}", number + 1)),
        Piece::text(format!(" at {} s  {}", number::seconds3(event.time_s).as_str(), changes.join(", "))),
    ]
}
