//! Pane 10: how much later each task could end, spread and list, and the links that could give a port.

use super::explained::Explained;
use super::{Choice, Facts, links, pieces};
use crate::app::action::{Action, Command};
use crate::app::drawn::{Drawn, Hit, Item, PaneDrawn};
use crate::view::present::rows::{beside, from, line, row};
use crate::view::present::{PaneInput, Title, below, body, frame, plain};
use lightbay_engines::training::analysis::{SlackBin, slack_bins};
use lightbay_widgets::{
    Bin, Column, Histogram, PaneState as Shown, Piece, Table, TableRow, TableState, Tone, number,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{StatefulWidget, Widget};
use std::sync::Arc;

/// In which order tasks are listed.
pub const ORDERS: &[&str] = &["by slack", "by start", "by link"];

/// From this width on the spread stands beside the list.
const BESIDE: u16 = 100;

/// From this width on the title says how the two sorts of slack differ.
const WORDED: u16 = 90;

/// Columns of the spread beside the list.
const SPREAD: u16 = 34;

/// Data of the pane, refilled when plan or order change.
#[derive(Debug, Default)]
pub struct SlackPane {
    key: Option<(u64, u8)>,
    bins: Vec<Bin>,
    columns: Vec<Column>,
    rows: Vec<TableRow>,
    items: Arc<[Item]>,
    donors: Vec<Piece>,
    table: TableState,
}

impl SlackPane {
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
        let key = (facts.key, input.state.mode);
        if self.key != Some(key) {
            self.key = Some(key);
            self.fill(facts, input.mode());
        }
        let none = slack_bins(&facts.analysis.tasks).first().map_or(0, |bin| bin.tasks);
        let value = vec![Piece::answer(pieces::critical(facts))];
        let mut context = facts.title();
        context.push(Piece::muted(input.mode()));
        if area.width >= WORDED {
            // A task of the path may have slack if what comes after it could run faster than planned.
            context.push(Piece::muted(format!("; {none} without slack at full rate")));
        }
        frame(input, &Title { context, value }, Shown::Ready, area, buf);
        let inner = body(area, 1);
        let bins = self.bins.len() as u16;
        let list = if inner.width >= BESIDE && inner.height >= bins {
            let (left, right) = beside(inner, SPREAD, 3);
            (&Histogram::new(theme, &self.bins)).render(left, buf);
            if left.height >= bins + 3 {
                line(theme, &self.donors, Rect { width: inner.width, ..row(left, left.height - 1) }, buf);
                Rect { height: right.height - 2, ..right }
            } else {
                right
            }
        } else if inner.height >= bins + 8 {
            (&Histogram::new(theme, &self.bins)).render(Rect { height: bins, ..inner }, buf);
            line(theme, &self.donors, row(inner, bins + 1), buf);
            from(inner, bins + 3)
        } else {
            line(theme, &self.donors, row(inner, 0), buf);
            from(inner, 1)
        };
        self.table.selected = choice.task;
        self.table.offset = input.state.offset;
        (&Table::new(theme, &self.columns, &self.rows)).render(list, buf, &mut self.table);
        let sentence = sentence(facts, choice.task);
        line(theme, &sentence, below(inner), buf);
        drawn.items = Arc::clone(&self.items);
        drawn.page = usize::from(list.height.saturating_sub(1)).max(1);
        drawn.offset = self.table.offset;
        drawn.chosen = choice.task.filter(|_| choice.by_person);
        drawn.sentence = plain(&sentence);
        if input.focused {
            drawn.details = choice.task.map(|task| pieces::details(facts, task)).unwrap_or_default();
            drawn.details.push(plain(&self.donors));
        }
        let pane = drawn.pane;
        out.hits.extend(self.table.hits.iter().map(|hit| Hit {
            rect: hit.rect,
            click: Action::Select { pane, item: Some(hit.id) },
            open: Some(Action::Do(Command::Inspect)),
        }));
    }

    fn fill(&mut self, facts: &Explained, order: &str) {
        let analysis = &facts.analysis;
        let network = &analysis.setting.evaluator.network;
        self.bins = slack_bins(&analysis.tasks).iter().map(bin).collect();
        self.columns = vec![
            Column::left("task", 11).grow(),
            Column::left("direction", 9).priority(1),
            Column::right("full rate", 9),
            Column::right("as planned", 10).priority(2),
            Column::right("takes ms", 9).priority(5),
            Column::right("ends s", 9).priority(3),
            Column::left("link", 8).priority(4),
        ];
        let mut tasks: Vec<u32> = (0..analysis.tasks.len() as u32).collect();
        let of = |task: u32| &analysis.tasks[task as usize];
        let by_slack = |a: &u32, b: &u32| of(*a).slack_s.total_cmp(&of(*b).slack_s);
        match order {
            "by start" => tasks.sort_by(|a, b| of(*a).start_s.total_cmp(&of(*b).start_s).then(a.cmp(b))),
            "by link" => tasks.sort_by(|a, b| {
                network.link_of(*a).cmp(&network.link_of(*b)).then_with(|| by_slack(a, b)).then(a.cmp(b))
            }),
            _ => tasks.sort_by(|a, b| by_slack(a, b).then(a.cmp(b))),
        }
        self.rows.clear();
        self.rows.extend(tasks.iter().map(|task| {
            let own = of(*task);
            let donor = analysis.links[network.link_of(*task)].donates();
            let ms = |seconds: f64| number::millis(seconds, 2).as_str().to_owned();
            TableRow::item(
                *task,
                vec![
                    Piece::text(pieces::starred(facts, *task)),
                    Piece::muted(links::route(&analysis.setting.instance, *task)),
                    Piece::answer(ms(own.slack_s)),
                    Piece::text(ms(own.spare_s)),
                    Piece::muted(ms(own.takes_s())),
                    Piece::muted(number::seconds3(own.finish_s)),
                    if donor { Piece::new("spare", Tone::Good) } else { Piece::muted("·") },
                ],
            )
        }));
        self.items =
            (0..).zip(&tasks).map(|(row, task)| Item { id: *task, row, place: 0.0 }).collect::<Arc<[_]>>();
        self.donors = donors(facts);
    }
}

/// A bin with its range in words.
fn bin(bin: &SlackBin) -> Bin {
    let label = |seconds: f64| {
        let ms = seconds * 1e3;
        format!("{} ms", number::fixed(ms, usize::from(ms < 1.0)).as_str())
    };
    let (label, tone) = if bin.above_s <= 0.0 {
        ("none".to_owned(), Tone::Bad)
    } else if bin.to_s.is_finite() {
        (format!("to {}", label(bin.to_s)), Tone::Text)
    } else {
        (format!("above {}", label(bin.above_s)), Tone::Text)
    };
    Bin { label: label.into(), amount: bin.tasks as f64, tone }
}

/// The links that could give a port, the one with most slack first.
fn donors(facts: &Explained) -> Vec<Piece> {
    let analysis = &facts.analysis;
    let mut donors: Vec<usize> =
        (0..analysis.links.len()).filter(|link| analysis.links[*link].donates()).collect();
    let slack = |link: usize| analysis.links[link].spare_s;
    donors.sort_by(|a, b| slack(*b).total_cmp(&slack(*a)).then(a.cmp(b)));
    if donors.is_empty() {
        return vec![Piece::muted("no link has spare circuits and slack on all of its tasks")];
    }
    let mut words = vec![Piece::muted("spare circuits")];
    for link in donors {
        words.push(Piece::new(format!("  {}", links::link(&analysis.setting.instance, link)), Tone::Good));
        if slack(link).is_finite() {
            words.push(Piece::muted(format!(" {} ms", number::millis(slack(link), 1).as_str())));
        }
    }
    words
}

fn sentence(facts: &Explained, task: Option<u32>) -> Vec<Piece> {
    let Some(task) = task else { return vec![Piece::muted("nothing selected")] };
    let analysis = &facts.analysis;
    let link = analysis.setting.evaluator.network.link_of(task);
    let mut words = pieces::timing(facts, task);
    let spare = number::millis(analysis.tasks[task as usize].spare_s, 1);
    words.push(Piece::muted(format!(", as planned {}", spare.as_str())));
    let name = links::link(&analysis.setting.instance, link);
    if analysis.links[link].donates() {
        words.push(Piece::muted(format!("  {name} ")));
        words.push(Piece::new("has spare circuits", Tone::Good));
    } else {
        let circuits = pieces::circuits(analysis.circuits[link]);
        words.push(Piece::muted(format!("  {name} keeps its {circuits}")));
    }
    words
}
