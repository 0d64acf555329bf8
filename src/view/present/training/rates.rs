//! Pane 7: the rates of the tasks of a directed link over time, under fair sharing and with scheduled rates on the same
//! circuits.

use super::explained::Explained;
use super::{CONTENTION, Choice, JobFacts, links, pieces};
use crate::app::action::Command;
use crate::app::drawn::{Drawn, Item, PaneDrawn};
use crate::app::pane::{ItemId, PaneId};
use crate::view::present::rows::{columns, ends, from, line, row};
use crate::view::present::{PaneInput, Title, below, body, frame, plain};
use lightbay_engines::training::analysis::LinkRates;
use lightbay_engines::training::plan::RateControl;
use lightbay_engines::training::report;
use lightbay_widgets::{
    Column, PaneState as Shown, Piece, Stack, StackLayer, StackMark, Table, TableRow, TableState, Tone,
    number,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{StatefulWidget, Widget};
use std::sync::Arc;

/// Minimum width at which the two rules (fair sharing, scheduled rates) have their full names.
const NAMED: u16 = 36;

/// Minimum width at which both rules are drawn side by side.
const BOTH: u16 = 56;

/// Minimum height for a table below the areas, and maximum number of its rows.
const TABLE: (u16, u16) = (16, 9);

/// If the chosen task is shorter than this fraction of the active time of its link, the time axis covers only the task
/// and some time around it.
const SHORT: f64 = 0.02;

/// Key of the state for which the data of the pane was computed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Key {
    plan: u64,
    way: u32,
    span: (f64, f64),
}

/// Rates on the circuits of the plan under one rule: fair sharing or scheduled rates.
#[derive(Debug, Default)]
struct Side {
    rates: LinkRates,
    /// Visible tasks of the link.
    tasks: Vec<u32>,
    layers: Vec<StackLayer>,
    marks: Vec<StackMark>,
    makespan_s: f64,
}

impl Side {
    /// Returns the maximum load of the link, NICs.
    fn peak(&self) -> f64 {
        let sum = |at: usize| {
            let amounts = self.layers.iter().filter_map(|layer| layer.amounts.get(at));
            amounts.filter(|amount| amount.is_finite()).sum::<f64>()
        };
        (0..self.rates.times_s.len()).map(sum).fold(0.0, f64::max)
    }
}

/// Data of the pane, refilled when plan, link or time change.
#[derive(Debug, Default)]
pub struct RatesPane {
    key: Option<Key>,
    fair: Side,
    joint: Side,
    columns: Vec<Column>,
    rows: Vec<TableRow>,
    items: Arc<[Item]>,
    table: TableState,
}

impl RatesPane {
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
    ) {
        let theme = &input.app.look.theme;
        let Some(way) = choice.way else {
            let state = Shown::Empty {
                what: "nothing crosses pods",
                remedy: "change the job and press {solve_warm}",
            };
            return frame(input, &Title::default(), state, area, buf);
        };
        let (whole, around) = whole_span(facts, way, choice.task);
        let (first, last) = input.state.window();
        let length = whole.1 - whole.0;
        let span = (whole.0 + first * length, whole.0 + last * length);
        self.fill(facts, Key { plan: facts.key, way, span });

        let analysis = &facts.analysis;
        let circuits = analysis.circuits[way as usize / 2];
        let both = input.mode().starts_with("max-min fair") && area.width >= BOTH;
        let mut form = Piece::muted(if both { "max-min fair and scheduled" } else { "as planned" });
        if let Some(task) = around {
            form = Piece::muted(format!("{}, around {}", form.text, facts.name(task)));
        }
        let mut context = facts.title();
        context.push(form);
        let name = links::way(&analysis.setting.instance, way);
        let value = vec![Piece::answer(format!("{name}, {}", pieces::circuits(circuits)))];
        frame(input, &Title { context, value }, Shown::Ready, area, buf);

        let inner = body(area, 1);
        let table = if inner.height >= TABLE.0 { (self.rows.len() as u16 + 1).min(TABLE.1) } else { 0 };
        let upper = Rect { height: inner.height - if table > 0 { table + 1 } else { 0 }, ..inner };
        let sides: &[RateControl] = match (both, analysis.rate_control) {
            (true, _) => &[RateControl::Fair, RateControl::Joint],
            (false, RateControl::Fair) => &[RateControl::Fair],
            (false, RateControl::Joint) => &[RateControl::Joint],
        };
        let limit = pieces::circuits(circuits);
        for (control, place) in sides.iter().zip(columns(upper, sides.len() as u16, 3)) {
            let axis =
                self.draw_side(input, facts, *control, (span, &limit, choice.task, table > 0), place, buf);
            // Around a task, the axis is a part of another whole.
            out.axes.extend(axis.filter(|_| around.is_none()).map(|axis| (input.pane, axis)));
        }
        let lower = from(inner, inner.height - table);
        self.table.selected = choice.task;
        self.table.offset = input.state.offset;
        self.table.hits.clear();
        if table > 0 {
            (&Table::new(theme, &self.columns, &self.rows)).render(lower, buf, &mut self.table);
        }
        let sentence = self.sentence(facts, choice.task);
        line(theme, &sentence, below(inner), buf);
        drawn.items = Arc::clone(&self.items);
        drawn.page = usize::from(table.saturating_sub(1)).max(1);
        drawn.offset = self.table.offset;
        drawn.chosen = choice.task;
        drawn.steps = facts.ways.len() as u32;
        drawn.steps_through = facts.place_of(way).map(|place| (PaneId::Kind(CONTENTION), place as ItemId));
        drawn.sentence = plain(&sentence);
        if input.focused {
            drawn.details =
                choice.task.map(|task| report::task::details(&facts.analysis, task)).unwrap_or_default();
        }
        out.hits.extend(self.table.hits.iter().map(|hit| input.hit(hit.rect, hit.id, Command::Inspect)));
    }

    fn draw_side(
        &self,
        input: &PaneInput<'_>,
        facts: &Explained,
        control: RateControl,
        (span, limit, task, has_table): ((f64, f64), &str, Option<u32>, bool),
        area: Rect,
        buf: &mut Buffer,
    ) -> Option<Rect> {
        let theme = &input.app.look.theme;
        let analysis = &facts.analysis;
        let side = match control {
            RateControl::Fair => &self.fair,
            RateControl::Joint => &self.joint,
        };
        let other = if control == RateControl::Fair { &self.joint } else { &self.fair };
        let tone = verdict(side.makespan_s - other.makespan_s);
        let nct = analysis.setting.evaluator.ideal.nct(side.makespan_s);
        let nct = nct.map(|nct| Piece::new(format!("  NCT {}", number::nct(nct).as_str()), tone).bold());
        let mut value = vec![Piece::text(format!("{} s", number::seconds6(side.makespan_s).as_str()))];
        // A narrow side has its end above the areas.
        if area.width < NAMED {
            value.clear();
        }
        value.extend(nct);
        let names = if area.width >= NAMED { ["max-min fair", "scheduled"] } else { ["fair", "sched."] };
        let mut name = vec![Piece::answer(names[usize::from(control == RateControl::Joint)])];
        if area.width >= 50 {
            name.push(Piece::muted(match (control, analysis.rate_control) {
                (RateControl::Fair, _) => ", per flow",
                (RateControl::Joint, RateControl::Joint) => ", part of the plan",
                (RateControl::Joint, RateControl::Fair) => ", not part of the plan",
            }));
        }
        ends(theme, &name, &value, row(area, 0), buf);
        let selected = task.and_then(|task| side.tasks.iter().position(|own| *own == task));
        let circuits = analysis.circuits[self.key.map_or(0, |key| key.way) as usize / 2];
        let stack = Stack::new(theme, &side.rates.times_s, &side.layers)
            .limit(f64::from(circuits), limit)
            .cap(Some(self.cap(facts)))
            .marks(&side.marks)
            .top(self.fair.peak().max(self.joint.peak()))
            .span_s(span.0, span.1)
            .selected(selected)
            .letters(has_table);
        (&stack).render(from(area, 1), buf);
        stack.axis_place(from(area, 1))
    }

    /// Returns the maximum number of NICs that a single task of the link can use.
    fn cap(&self, facts: &Explained) -> f64 {
        let network = &facts.analysis.setting.evaluator.network;
        let tasks = self.fair.rates.tasks.iter();
        tasks.map(|own| network.flows[own.task as usize]).fold(0.0, f64::max)
    }

    fn fill(&mut self, facts: &Explained, key: Key) {
        if self.key == Some(key) {
            return;
        }
        let anew = self.key.is_none_or(|known| (known.plan, known.way) != (key.plan, key.way));
        self.key = Some(key);
        let analysis = &facts.analysis;
        if anew {
            self.fair.rates = analysis.rates(key.way, RateControl::Fair);
            self.joint.rates = analysis.rates(key.way, RateControl::Joint);
            self.fair.makespan_s = analysis.fair.makespan;
            self.joint.makespan_s = analysis.joint.makespan;
        }
        let seen = |task: u32| {
            [&analysis.fair, &analysis.joint].iter().any(|trace| {
                trace.start[task as usize] < key.span.1 && trace.finish[task as usize] > key.span.0
            })
        };
        // A task has the same colour on both sides, even if the sides list their tasks in different orders.
        let order: Vec<u32> =
            self.fair.rates.tasks.iter().map(|own| own.task).filter(|task| seen(*task)).collect();
        for side in [&mut self.fair, &mut self.joint] {
            side.tasks.clone_from(&order);
            side.layers.clear();
            for (place, task) in order.iter().enumerate() {
                let rates = side.rates.tasks.iter().find(|own| own.task == *task);
                side.layers.push(StackLayer {
                    name: facts.name(*task).to_owned().into(),
                    shade: shade(place, order.len()),
                    letter: letter(place),
                    amounts: rates.map(|own| own.nics.clone()).unwrap_or_default(),
                });
            }
        }
        let ends = [self.fair.makespan_s, self.joint.makespan_s];
        for (side, own, other) in [(&mut self.fair, ends[0], ends[1]), (&mut self.joint, ends[1], ends[0])] {
            side.marks.clear();
            if (own - other).abs() > 1e-6 {
                side.marks.push(StackMark {
                    at_s: other,
                    tone: Tone::Muted,
                    dotted: true,
                    ..StackMark::default()
                });
            }
            side.marks.push(StackMark {
                at_s: own,
                name: format!("ends {}", number::seconds3(own).as_str()).into(),
                tone: verdict(own - other),
                dotted: false,
            });
        }
        self.fill_table(facts, &order);
    }

    fn fill_table(&mut self, facts: &Explained, order: &[u32]) {
        let analysis = &facts.analysis;
        let starred = |task: &u32| report::task::starred(&facts.analysis, *task);
        let longest = order.iter().map(|task| starred(task).chars().count()).max().unwrap_or(0) as u16;
        self.columns = vec![
            Column::left("", 3),
            Column::left("task", longest.clamp(10, 20)).gap(1),
            Column::right("starts s", 9).priority(3),
            Column::right("minimum ms", 10).priority(2),
            Column::right("fair ms", 8),
            Column::right("sched. ms", 9),
            Column::right("fair NICs", 9).priority(4),
            Column::right("sched. NICs", 11).priority(5),
            Column::right("slack ms", 8).priority(1),
        ];
        let ms = |seconds: f64| number::millis(seconds, 1).as_str().to_owned();
        self.rows.clear();
        self.rows.extend(order.iter().enumerate().map(|(place, &task)| {
            let own = &analysis.tasks[task as usize];
            let [fair, joint] = takes(facts, task);
            let volume = analysis.setting.evaluator.network.volume[task as usize];
            let rate = analysis.setting.evaluator.network.rate;
            let mean = |takes: f64| number::fixed(volume / takes.max(f64::MIN_POSITIVE) / rate, 2);
            TableRow::item(
                task,
                vec![
                    Piece::new(format!(" {} ", letter(place)), Tone::Stack(shade(place, order.len()))),
                    Piece::text(starred(&task)),
                    Piece::muted(number::seconds3(own.start_s)),
                    Piece::muted(ms(own.least_s)),
                    Piece::new(ms(fair), verdict(fair - joint)),
                    Piece::new(ms(joint), verdict(joint - fair)),
                    Piece::text(mean(fair)),
                    Piece::text(mean(joint)),
                    Piece::text(ms(own.slack_s)),
                ],
            )
        }));
        self.items =
            (0..).zip(order).map(|(row, task)| Item { id: *task, row, place: 0.0 }).collect::<Arc<[_]>>();
    }

    fn sentence(&self, facts: &Explained, task: Option<u32>) -> Vec<Piece> {
        let Some(task) = task else { return vec![Piece::muted("nothing selected")] };
        let [fair, joint] = takes(facts, task);
        let ms = |seconds: f64| number::millis(seconds, 1);
        let mut words = vec![
            Piece::answer(format!("> {}", report::task::starred(&facts.analysis, task))),
            Piece::muted("  fair "),
            Piece::text(format!("{} ms", ms(fair).as_str())),
            Piece::muted(", scheduled "),
            Piece::text(format!("{} ms", ms(joint).as_str())),
        ];
        let change = self.joint.makespan_s - self.fair.makespan_s;
        if change.abs() < 1e-6 {
            words.push(Piece::muted("; rate control does not change the makespan"));
        } else {
            words.push(Piece::muted("; rate control: makespan "));
            let text = format!("{} ms", number::signed(change * 1e3, 1).as_str());
            words.push(Piece::new(text, verdict(change)).bold());
        }
        words
    }
}

/// Returns the tone of a difference of times: good for an earlier time, bad for a later time.
fn verdict(later_s: f64) -> Tone {
    if later_s.abs() < 1e-6 {
        Tone::Text
    } else if later_s > 0.0 {
        Tone::Bad
    } else {
        Tone::Good
    }
}

/// Returns the shade of a layer. If there are exactly two layers, their shades are not adjacent, because adjacent
/// shades are hard to distinguish.
const fn shade(place: usize, count: usize) -> u8 {
    (if count == 2 { 2 * place } else { place % 4 }) as u8
}

/// Returns the letter that fills a layer without colour.
fn letter(place: usize) -> char {
    char::from(b'a' + (place % 26) as u8)
}

/// Returns the durations of a task under fair sharing and with scheduled rates, seconds.
fn takes(facts: &Explained, task: u32) -> [f64; 2] {
    [&facts.analysis.fair, &facts.analysis.joint]
        .map(|trace| trace.finish[task as usize] - trace.start[task as usize])
}

/// Returns start and end of the time axis before the user stretches it. Also returns the chosen task if the axis shows
/// only this task and some time around it, instead of all activity of the link.
fn whole_span(facts: &Explained, way: u32, task: Option<u32>) -> ((f64, f64), Option<u32>) {
    let analysis = &facts.analysis;
    let carried = &analysis.setting.evaluator.network.carried[way as usize];
    let extent = |tasks: &[u32]| {
        let mut span = (f64::INFINITY, f64::NEG_INFINITY);
        for trace in [&analysis.fair, &analysis.joint] {
            for task in tasks {
                span.0 = span.0.min(trace.start[*task as usize]);
                span.1 = span.1.max(trace.finish[*task as usize]);
            }
        }
        span
    };
    let padded = |(from_s, to_s): (f64, f64), share: f64| {
        let more = (to_s - from_s) * share;
        ((from_s - more).max(0.0), to_s + more)
    };
    let all = extent(carried);
    if let Some(task) = task.filter(|task| carried.contains(task)) {
        let own = extent(&[task]);
        if own.1 - own.0 < SHORT * (all.1 - all.0) {
            return (padded(own, 3.0), Some(task));
        }
    }
    // If the remaining time is shorter than the activity of the link, the end of the iteration is shown too.
    let last = analysis.fair.makespan.max(analysis.joint.makespan);
    let near = last - all.1 < all.1 - all.0;
    let all = if near { (all.0, all.1.max(last)) } else { all };
    (padded(all, 0.02), None)
}
