//! Pane 6: the critical path against the ideal network: what each task of it loses, to what, and what that costs.

use super::explained::Explained;
use super::{Choice, Facts, links, pieces};
use crate::app::action::{Action, Command};
use crate::app::drawn::{Drawn, Hit, Item, PaneDrawn};
use crate::view::present::rows::{from, line};
use crate::view::present::{PaneInput, Title, below, body, frame, plain};
use lightbay_engines::training::analysis::{Chain, ChainTask};
use lightbay_widgets::{
    Column, PaneState as Shown, Piece, Table, TableRow, TableState, Tone, Waterfall, WaterfallRow, number,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{StatefulWidget, Widget};
use std::sync::Arc;

/// Below this many seconds nothing was lost.
const NOTHING_S: f64 = 5e-10;

/// Rows that a table needs beside its heading to be worth its place.
const TABLE: u16 = 4;

/// From this height on words below the table say where the path leaves the ideal one, and which chain is next.
const WORDS: u16 = 13;

/// Data of the pane, refilled when the plan changes.
#[derive(Debug, Default)]
pub struct PathPane {
    of_plan: Option<u64>,
    causes: Vec<WaterfallRow>,
    columns: Vec<Column>,
    rows: Vec<TableRow>,
    items: Arc<[Item]>,
    leaves: Vec<Piece>,
    second: Vec<Piece>,
    table: TableState,
}

impl PathPane {
    #[expect(clippy::too_many_arguments, reason = "a pane is drawn from all that it shows")]
    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        facts: &Facts,
        choice: Choice,
        area: Rect,
        buf: &mut Buffer,
        drawn: &mut PaneDrawn,
        out: &mut Drawn,
    ) {
        let theme = &input.app.look.theme;
        if self.of_plan != Some(facts.key) {
            self.of_plan = Some(facts.key);
            self.fill(facts);
        }
        let chain = &facts.analysis.chain;
        let mut context = facts.title();
        context.push(Piece::muted(format!("critical, {} tasks", chain.tasks.len())));
        let value = vec![
            Piece::answer(format!("loss {}", number::millis(chain.loss_s, 2).as_str())),
            Piece::muted(" ms"),
        ];
        frame(input, &Title { context, value }, Shown::Ready, area, buf);
        let inner = body(area, u16::from(area.height >= 6));
        let words = if inner.height >= WORDS { 2 } else { 0 };
        let inner = Rect { height: inner.height - words, ..inner };
        let causes = (self.causes.len() as u16).min(inner.height);
        let spare = inner.height - causes;
        // A blank row, the heading, and something below it.
        let rest = if spare > TABLE + 1 { from(inner, causes + 1) } else { from(inner, inner.height) };
        let top = Rect { height: inner.height - rest.height, ..inner };
        (&Waterfall::new(theme, &self.causes)).render(top, buf);
        self.table.selected = choice.task;
        self.table.offset = input.state.offset;
        self.table.hits.clear();
        if !rest.is_empty() {
            (&Table::new(theme, &self.columns, &self.rows)).render(rest, buf, &mut self.table);
        }
        if words > 0 {
            let under = below(inner);
            line(theme, &self.leaves, under, buf);
            line(theme, &self.second, Rect { y: under.y + 1, ..under }, buf);
        }
        let sentence = sentence(facts, choice.task);
        if area.height >= 6 {
            line(theme, &sentence, Rect { y: area.bottom() - 1, height: 1, ..inner }, buf);
        }
        drawn.items = Arc::clone(&self.items);
        drawn.page = usize::from(rest.height.saturating_sub(1)).max(1);
        drawn.offset = self.table.offset;
        drawn.chosen =
            choice.task.filter(|task| choice.by_person && self.items.iter().any(|i| i.id == *task));
        drawn.sentence = plain(&sentence);
        if input.focused {
            drawn.details = details(facts, &self.leaves, &self.second);
        }
        let pane = drawn.pane;
        out.hits.extend(self.table.hits.iter().map(|hit| Hit {
            rect: hit.rect,
            click: Action::Select { pane, item: Some(hit.id) },
            open: Some(Action::Do(Command::Inspect)),
        }));
    }

    fn fill(&mut self, facts: &Explained) {
        let analysis = &facts.analysis;
        let chain = &analysis.chain;
        self.causes = causes(chain, analysis.setting.evaluator.ideal.makespan());
        self.columns = vec![
            Column::left("task", 10).grow(),
            Column::left("direction", 9).priority(6),
            Column::right("delay ms", 8).priority(7),
            Column::right("takes ms", 8).priority(2),
            Column::right("ideal", 7).priority(5),
            Column::right("start delay", 11).priority(8),
            Column::right("cap. loss", 9).gap(1).priority(4),
            Column::right("contention", 10).priority(3),
            Column::right("adds ms", 7).gap(1),
        ];
        self.rows.clear();
        let mut items = Vec::new();
        for (place, task) in chain.tasks.iter().enumerate() {
            let mark = if chain.leaves_ideal == Some(place) { "!" } else { "" };
            items.push(Item { id: task.task, row: self.rows.len() as u32, place: 0.0 });
            self.rows.push(row(facts, task).mark(mark));
        }
        if let Some(second) = &analysis.second {
            let behind = number::millis(chain.end_s - second.end_s, 2);
            self.rows.push(TableRow::gap());
            self.rows.push(TableRow::heading(format!("second critical path, {} ms behind", behind.as_str())));
            let own = |task: &&ChainTask| chain.tasks.iter().all(|other| other.task != task.task);
            for task in second.tasks.iter().filter(own) {
                items.push(Item { id: task.task, row: self.rows.len() as u32, place: 0.0 });
                self.rows.push(row(facts, task));
            }
        }
        self.items = items.into();
        self.leaves = leaves(facts);
        self.second = second(facts);
    }
}

/// From the ideal makespan to that of the plan, cause by cause.
fn causes(chain: &Chain, ideal_s: f64) -> Vec<WaterfallRow> {
    let total = |name: &'static str, seconds: f64| WaterfallRow {
        name: name.into(),
        value: number::fixed(seconds * 1e3, 2).into(),
        span: None,
        tone: Tone::Text,
        bold: true,
    };
    let mut rows = vec![total("ideal network, ms", ideal_s)];
    let mut at = 0.0;
    let parts = [
        ("capacity loss", chain.costs.too_few_s, true),
        ("contention", chain.costs.contention_s, true),
        ("paused (rate 0)", chain.costs.held_s, false),
        ("ahead of ideal", -chain.spare_s, false),
    ];
    for (name, seconds, always) in parts {
        if always || seconds.abs() > NOTHING_S {
            rows.push(WaterfallRow {
                name: name.into(),
                value: number::signed(seconds * 1e3, 2).into(),
                span: (seconds.abs() > NOTHING_S).then_some((at * 1e3, (at + seconds) * 1e3)),
                tone: Tone::Bad,
                bold: false,
            });
            at += seconds;
        }
    }
    rows.push(total("makespan", chain.end_s));
    rows
}

fn row(facts: &Explained, task: &ChainTask) -> TableRow {
    let ms = |seconds: f64| number::millis(seconds, 2).as_str().to_owned();
    TableRow::item(
        task.task,
        vec![
            Piece::text(pieces::starred(facts, task.task)),
            Piece::muted(links::route(&facts.analysis.setting.instance, task.task)),
            Piece::muted(ms(task.before_s)),
            Piece::text(ms(task.takes_s)),
            Piece::muted(ms(task.ideal_s)),
            loss(task.late_s, Tone::Muted),
            loss(task.loses.too_few_s, Tone::Text),
            loss(task.loses.contention_s, Tone::Text),
            loss(task.costs.sum_s(), Tone::Bad).bold(),
        ],
    )
}

/// Milliseconds that are lost, a dot for none.
fn loss(seconds: f64, tone: Tone) -> Piece {
    if seconds.abs() <= NOTHING_S {
        return Piece::muted("·");
    }
    Piece::new(number::signed(seconds * 1e3, 2), tone)
}

/// Where the path leaves the ideal one.
fn leaves(facts: &Explained) -> Vec<Piece> {
    let chain = &facts.analysis.chain;
    match chain.leaves_ideal.and_then(|place| chain.tasks.get(place)) {
        None => vec![Piece::muted("an ideal critical path runs through the same tasks to the end")],
        Some(task) => {
            let mut words = vec![
                Piece::text("! "),
                Piece::text(pieces::starred(facts, task.task)),
                Piece::muted(" leaves the ideal critical path"),
            ];
            if task.room_s > NOTHING_S {
                let room = number::millis(task.room_s, 2);
                words.push(Piece::muted(format!(
                    ": {} ms hidden by slack in the ideal schedule",
                    room.as_str()
                )));
            }
            words
        }
    }
}

/// Which chain comes next.
fn second(facts: &Explained) -> Vec<Piece> {
    let analysis = &facts.analysis;
    let last = analysis.second.as_ref().and_then(|second| Some((second, second.tasks.last()?)));
    let Some((second, last)) = last else {
        return vec![Piece::muted("nothing else ends the iteration")];
    };
    let behind_s = analysis.chain.end_s - second.end_s;
    let mut words =
        vec![Piece::muted("second critical path to "), Piece::text(facts.name(last.task).to_owned())];
    if behind_s <= 1e-6 {
        words.push(Piece::answer(", equal length"));
    } else {
        words.push(Piece::answer(format!(" {} ms", number::millis(behind_s, 2).as_str())));
        words.push(Piece::muted(" behind"));
    }
    let causes = [("capacity loss", second.costs.too_few_s), ("contention delay", second.costs.contention_s)];
    for (name, seconds) in causes.into_iter().filter(|(_, seconds)| *seconds > NOTHING_S) {
        words.push(Piece::muted(format!("  {name} ")));
        words.push(Piece::text(number::signed(seconds * 1e3, 2)));
    }
    words
}

fn sentence(facts: &Explained, task: Option<u32>) -> Vec<Piece> {
    let analysis = &facts.analysis;
    let Some(task) = task else { return vec![Piece::muted("nothing selected")] };
    let chains = [Some(&analysis.chain), analysis.second.as_ref()];
    let on = chains.into_iter().flatten().find_map(|chain| chain.tasks.iter().find(|own| own.task == task));
    let Some(own) = on else {
        let mut words = pieces::timing(facts, task);
        words.push(Piece::muted("  not on the path"));
        return words;
    };
    let ms = |seconds: f64| number::millis(seconds, 2);
    let mut words = vec![
        Piece::answer(format!("> {}", pieces::starred(facts, task))),
        Piece::text(format!("  {} ms", ms(own.takes_s).as_str())),
        Piece::muted(format!(", ideal {}", ms(own.ideal_s).as_str())),
    ];
    let costs = own.costs.sum_s();
    let tone = if costs > NOTHING_S { Tone::Bad } else { Tone::Text };
    words.push(Piece::muted("  adds "));
    words.push(Piece::new(ms(costs), tone).bold());
    let parts = [
        ("start delay", own.late_s),
        ("paused", own.loses.held_s),
        ("capacity loss", own.loses.too_few_s),
        ("contention delay", own.loses.contention_s),
    ];
    for (name, seconds) in parts.into_iter().filter(|(_, seconds)| seconds.abs() > NOTHING_S) {
        words.push(Piece::muted(format!("  {name} ")));
        words.push(Piece::text(number::signed(seconds * 1e3, 2)));
    }
    if own.room_s > NOTHING_S {
        words.push(Piece::muted(format!("  hidden by ideal slack {}", ms(own.room_s).as_str())));
    }
    words
}

/// What there is to know about the path, one line each.
fn details(facts: &Explained, leaves: &[Piece], second: &[Piece]) -> Vec<String> {
    let chain = &facts.analysis.chain;
    let ms = |seconds: f64| number::millis(seconds, 3);
    let mut lines = vec![
        format!(
            "makespan {} ms: {} of transfers and {} of compute and fixed delays",
            ms(chain.end_s).as_str(),
            ms(chain.comm_s).as_str(),
            ms(chain.rigid_s).as_str()
        ),
        format!(
            "{} ms later than the ideal network: capacity loss {}, contention delay {}, paused {}",
            ms(chain.loss_s).as_str(),
            ms(chain.costs.too_few_s).as_str(),
            ms(chain.costs.contention_s).as_str(),
            ms(chain.costs.held_s).as_str()
        ),
        plain(leaves),
        plain(second),
    ];
    lines.extend(chain.tasks.iter().map(|task| plain(&sentence(facts, Some(task.task)))));
    lines
}
