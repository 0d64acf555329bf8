//! Pane 2: a grid of tasks and intervals; each interval is the time from one event (such as the start or end of a task)
//! to the next. Rows are the tasks that are active in the visible columns; a row below the tasks of a shared link shows
//! the load of the link.

use super::explained::Explained;
use super::{Choice, JobFacts, RATES_BELOW, links, pieces};
use crate::app::action::Command;
use crate::app::drawn::{Drawn, Item, PaneDrawn};
use crate::app::pane::SizeClass;
use crate::view::present::rows::{self, ends, from, line};
use crate::view::present::section;
use crate::view::present::{PaneInput, Title, below, body, frame, labels, plain};
use lightbay_engines::training::plan::RateControl;
use lightbay_engines::training::report;
use lightbay_widgets::{
    Activity, ActivityKind, ActivityRow, ActivityScale, ActivityState, Interval, Label, PaneState as Shown,
    Piece, Theme, Tone, number, text,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::StatefulWidget;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// Number of rows of names and times above the grid.
const HEADS: u16 = 2;

/// Number of rows around the grid: title, sentence and legend.
const AROUND: u16 = 3;

/// Minimum height at which the limits of shared links are shown at every size of the screen.
const LARGE: u16 = 24;

/// Width below which the legend has no shades.
const NARROW: u16 = 44;

/// Key of the state for which the rows were computed.
#[derive(Debug, Clone, PartialEq, Default)]
struct Key {
    plan: u64,
    columns: Range<usize>,
    room: usize,
}

/// Data of the pane, refilled when plan or columns change.
#[derive(Debug, Default)]
pub struct ActivityPane {
    of_plan: Option<u64>,
    intervals: Vec<Interval>,
    /// Width of the longest task name.
    longest: u16,
    key: Key,
    rows: Vec<ActivityRow>,
    items: Arc<[Item]>,
    state: ActivityState,
}

/// Form of the pane: whether only the tail is shown, and whether the widths of columns are proportional to time.
#[derive(Clone, Copy)]
struct ActivityForm {
    tail: bool,
    to_scale: bool,
}

impl ActivityPane {
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
        if self.of_plan != Some(facts.key) {
            self.of_plan = Some(facts.key);
            self.key = Key::default();
            let names = facts
                .analysis
                .setting
                .instance
                .tasks
                .iter()
                .map(|task| text::width(&task.name, theme.glyphs));
            self.longest = names.max().unwrap_or(0);
            self.intervals.clear();
            self.intervals.extend(
                facts
                    .analysis
                    .events
                    .windows(2)
                    .map(|pair| Interval { start_s: pair[0], length_s: pair[1] - pair[0] }),
            );
        }
        let selected = choice.task;
        let legend = u16::from(area.height >= 9);
        let inner = body(area, 1 + legend);
        let form = ActivityForm {
            tail: input.mode().starts_with("tail"),
            to_scale: input.mode().ends_with("to scale"),
        };
        // The whole iteration is shown from the selected task, because few of its intervals fit.
        let chosen = selected.filter(|_| choice.by_person || !form.tail);
        let (columns, scale, around) = self.columns(input, facts, form, chosen, inner.width);
        // Limits of the links need room; a zoomed pane has it at every size.
        let wide = input.app.size.class != SizeClass::Grid || area.height >= LARGE;
        let room = if wide { usize::MAX } else { inner.height.saturating_sub(HEADS).into() };
        self.fill(facts, columns.clone(), room, selected, input.state.overlay);
        // A large pane leaves the rows that the tasks do not use to another picture.
        let own = self.rows.len() as u16 + HEADS + AROUND;
        let rest = from(area, if area.height >= LARGE { own + 1 } else { area.height });
        let rest = if rest.height >= RATES_BELOW { rest } else { Rect::ZERO };
        let area = Rect { height: if rest.is_empty() { area.height } else { own }, ..area };
        let inner = body(area, 1 + legend);

        let context = match around {
            Some(task) => format!("around {}", facts.name(task)),
            None if form.tail => "DP tail".to_owned(),
            None if columns.len() == self.intervals.len() => "whole iteration".to_owned(),
            None => {
                let shown = self.intervals.get(columns.clone()).unwrap_or_default();
                let ends = shown.first().zip(shown.last());
                let [from, to] = ends.map_or([0.0; 2], |(a, b)| [a.start_s, b.start_s + b.length_s]);
                format!("{} to {} s", number::fixed(from, 1).as_str(), number::fixed(to, 1).as_str())
            }
        };
        let context = format!("{context}{}", if form.to_scale { ", to scale" } else { "" });
        let value = format!("{} of {} intervals", columns.len(), self.intervals.len());
        let mut named = facts.title();
        named.push(Piece::muted(context));
        let title = Title { context: named, value: vec![Piece::answer(value)] };
        frame(input, &title, Shown::Ready, area, buf);
        if self.intervals.is_empty() {
            return Rect::ZERO;
        }

        self.state.selected = selected;
        self.state.interval = input.state.step.map(|step| step as usize);
        self.state.column_offset = columns.start;
        self.state.row_offset = self.row_offset(input, inner.height.saturating_sub(HEADS));
        Activity::new(theme, &self.intervals, &self.rows).scale(scale).windows(input.state.overlay).render(
            inner,
            buf,
            &mut self.state,
        );

        let sentence = self.sentence(facts, selected, input.state.step);
        let height = usize::from(inner.height.saturating_sub(HEADS));
        let rows = (self.state.row_offset, height, self.rows.len());
        let in_sight: Vec<Piece> =
            rows::in_sight(rows, (0, 0, 0)).map(|part| Piece::muted(part.to_string())).into_iter().collect();
        ends(theme, &sentence, &in_sight, below(inner), buf);
        if legend > 0 {
            let under = below(inner);
            let has_limits = self.rows.iter().any(|row| row.kind == ActivityKind::Capacity);
            let legend = legend_line(theme, has_limits, input.state.overlay, under.width);
            line(theme, &legend, Rect { y: under.y + 1, ..under }, buf);
        }
        self.report(input, facts, selected, (drawn, out), inner, &sentence);
        drawn.chosen = selected;
        rest
    }

    /// Returns the displayed intervals, the scale of their widths, and the task that the user chose if it moved the
    /// intervals; its intervals are among them.
    fn columns(
        &self,
        input: &PaneInput<'_>,
        facts: &Explained,
        form: ActivityForm,
        chosen: Option<u32>,
        width: u16,
    ) -> (Range<usize>, ActivityScale, Option<u32>) {
        let count = self.intervals.len();
        let from = if form.tail { facts.analysis.tail_begins().min(count.saturating_sub(1)) } else { 0 };
        let room = usize::from(width.saturating_sub(12)).max(1);
        let zoomed = |whole: usize| (whole >> input.state.zoom.min(20)).max(1);
        let fitting = if form.to_scale {
            zoomed(count - from.min(count)).min(room)
        } else {
            Activity::fitting(width, self.longest, count)
        };
        let fitting = fitting.min(count.max(1));
        let first = match input.state.step {
            // The interval chosen with the bracket keys stays visible; nothing else moves.
            Some(step) => {
                let step = (step as usize).min(count.saturating_sub(1));
                let last = count.saturating_sub(fitting);
                if step >= last {
                    last
                } else {
                    step.saturating_sub(fitting / 2).max(from.min(step)).min(last)
                }
            }
            None if form.tail => count.saturating_sub(fitting),
            None => 0,
        };
        let own = chosen.and_then(|task| facts.analysis.activity.get(task as usize));
        let hidden = own.filter(|own| {
            input.state.step.is_none()
                && (own.first >= first + fitting || own.first + own.nics.len() <= first)
        });
        let around = |own: usize| own.saturating_sub(fitting / 2).min(count.saturating_sub(fitting));
        let moved_by = chosen.filter(|_| hidden.is_some());
        let first = hidden.map_or(first, |own| around(own.first));
        let columns = first..(first + fitting).min(count);
        let scale = if form.to_scale {
            ActivityScale::Proportional(columns.len().max(1))
        } else {
            ActivityScale::Equal
        };
        (columns, scale, moved_by)
    }

    /// Fills in the tasks that are active in the columns: pipeline tasks by start, then gradients link by link, with the
    /// limits of the links if all rows fit.
    fn fill(
        &mut self,
        facts: &Explained,
        columns: Range<usize>,
        room: usize,
        selected: Option<u32>,
        overlay: bool,
    ) {
        let key = Key { plan: facts.key, columns: columns.clone(), room };
        let missing = selected.is_some_and(|task| !self.rows.iter().any(|row| row.id == task));
        if self.key == key && !missing {
            return;
        }
        self.key = key;
        self.rows.clear();
        let analysis = &facts.analysis;
        let network = &analysis.setting.evaluator.network;
        let active = |task: &u32| {
            let activity = &analysis.activity[*task as usize];
            activity.first < columns.end && activity.first + activity.nics.len() > columns.start
        };
        let mut tasks: Vec<u32> =
            (0..analysis.tasks.len() as u32).filter(|task| active(task) || Some(*task) == selected).collect();
        let start = |task: u32| analysis.tasks[task as usize].start_s;
        tasks.sort_by(|a, b| start(*a).total_cmp(&start(*b)).then(a.cmp(b)));
        let shared = |task: u32| analysis.setting.evaluator.contention.contended[task as usize];
        let count = tasks.len();
        let (alone, mut groups): (Vec<u32>, Vec<u32>) = tasks.into_iter().partition(|task| !shared(*task));
        let links: BTreeSet<u32> = groups.iter().map(|task| network.via[*task as usize]).collect();
        let capacity = count + links.len() <= room;
        for task in alone {
            self.push_task(facts, task, overlay);
        }
        while let Some(&first) = groups.first() {
            let via = network.via[first as usize];
            let (group, rest): (Vec<u32>, Vec<u32>) =
                groups.into_iter().partition(|task| network.via[*task as usize] == via);
            for &task in &group {
                self.push_task(facts, task, overlay);
            }
            if capacity {
                self.push_capacity(facts, via, columns.clone());
            }
            groups = rest;
        }
        self.items = self
            .rows
            .iter()
            .filter(|row| row.kind == ActivityKind::Task)
            .zip(0..)
            .map(|(row, index)| Item { id: row.id, row: index, place: 0.0 })
            .collect();
    }

    fn push_task(&mut self, facts: &Explained, task: u32, overlay: bool) {
        let analysis = &facts.analysis;
        let described = &analysis.setting.instance.tasks[task as usize];
        let activity = &analysis.activity[task as usize];
        let windows = &analysis.anchored_windows;
        let index = task as usize;
        let window = overlay.then(|| windows.first[index] as usize - 1..windows.last[index] as usize);
        self.rows.push(ActivityRow {
            id: task,
            kind: ActivityKind::Task,
            name: Label::from(described.name.clone()),
            tone: pieces::tone(described.kind),
            critical: analysis.tasks[index].critical,
            first: activity.first,
            amounts: activity.nics.clone(),
            full: f64::from(described.flows),
            window,
        });
    }

    /// Adds the load of a directed link in the columns, compared with the circuits of the link.
    fn push_capacity(&mut self, facts: &Explained, via: u32, columns: Range<usize>) {
        let analysis = &facts.analysis;
        let circuits = analysis.circuits[via as usize / 2];
        let carried = &analysis.setting.evaluator.network.carried[via as usize];
        let amounts: Vec<f64> = columns
            .clone()
            .map(|interval| {
                carried
                    .iter()
                    .filter_map(|task| {
                        let activity = &analysis.activity[*task as usize];
                        activity.nics.get(interval.checked_sub(activity.first)?)
                    })
                    .sum()
            })
            .collect();
        self.rows.push(ActivityRow {
            id: u32::MAX - via,
            kind: ActivityKind::Capacity,
            name: Label::from(format!("{} {circuits}", if analysis.moves { "max" } else { "of" })),
            tone: Tone::Muted,
            critical: false,
            first: columns.start,
            amounts,
            full: f64::from(circuits),
            window: None,
        });
    }

    /// Returns the first visible row: the selected task stays visible; without a choice the end of the list is shown,
    /// because the last tasks determine the makespan.
    fn row_offset(&self, input: &PaneInput<'_>, height: u16) -> usize {
        let height = usize::from(height).max(1);
        let last = self.rows.len().saturating_sub(height);
        if input.state.selected.is_none() && input.state.offset == 0 {
            return last;
        }
        input.state.offset.min(last)
    }

    fn sentence(&self, facts: &Explained, selected: Option<u32>, step: Option<u32>) -> Vec<Piece> {
        let Some(task) = selected else { return vec![Piece::muted("nothing selected")] };
        let mut sentence = section::pieces(&report::task::company(&facts.analysis, task));
        let Some(interval) = step.and_then(|step| self.intervals.get(step as usize).map(|i| (step, i)))
        else {
            return sentence;
        };
        let row = self.rows.iter().find(|row| row.id == task);
        let amount = row.and_then(|row| row.amount(interval.0 as usize));
        let rate = match amount {
            None => "not active".to_owned(),
            Some(0.0) => "paused (rate 0)".to_owned(),
            Some(amount) => format!("{} NICs", number::fixed(amount, 2).as_str()),
        };
        sentence.push(Piece::muted(format!("; from {} s: ", number::seconds3(interval.1.start_s).as_str())));
        sentence.push(Piece::answer(rate));
        sentence
    }

    fn report(
        &self,
        input: &PaneInput<'_>,
        facts: &Explained,
        selected: Option<u32>,
        (drawn, out): (&mut PaneDrawn, &mut Drawn),
        inner: Rect,
        sentence: &[Piece],
    ) {
        drawn.items = Arc::clone(&self.items);
        drawn.labels = labels(input, &self.items, |id| links::task(&facts.analysis.setting.instance, id));
        drawn.page = usize::from(inner.height.saturating_sub(HEADS));
        drawn.offset = self.state.row_offset;
        drawn.column = self.state.column_offset;
        drawn.steps = self.intervals.len() as u32;
        drawn.sentence = plain(sentence);
        drawn.details = selected.map(|task| report::task::details(&facts.analysis, task)).unwrap_or_default();
        if facts.analysis.rate_control == RateControl::Fair {
            drawn.details.push("rates are max-min fair".to_owned());
        }
        out.hits.extend(self.state.hits.iter().map(|hit| input.hit(hit.rect, hit.id, Command::Inspect)));
    }
}

/// Explains numbers and shades of the cells, and, with `has_limits`, the rows of the links. In a narrow pane signs are more
/// important than shades.
fn legend_line(theme: &Theme, has_limits: bool, overlay: bool, width: u16) -> Vec<Piece> {
    let glyphs = theme.glyphs;
    let narrow = width < NARROW;
    let mut line = vec![Piece::muted(if narrow { "NICs" } else { "NICs of a task" })];
    if theme.shades() && !narrow {
        line.push(Piece::muted(", per flow 0 "));
        line.extend((0..8).map(|step| Piece::new("\u{a0}", Tone::Heat(step))));
        line.push(Piece::muted(" 1"));
    }
    line.push(Piece::text("   0"));
    line.push(Piece::muted(" paused   "));
    line.push(Piece::text(glyphs.inactive));
    line.push(Piece::muted(" not active   "));
    line.push(Piece::answer("*"));
    line.push(Piece::muted(" critical"));
    if has_limits {
        line.push(Piece::text(format!("   {}", glyphs.used)));
        line.push(Piece::muted(" all circuits in use"));
    }
    if overlay {
        line.push(Piece::muted("   lines: may be active if the plan shifts by up to two intervals"));
    }
    line
}
