//! Pane 11: who gives ports to whom. Of several jobs on one set of pods: every job before and after, and the ports of
//! every pod; the job chosen here is the one that the other panes show. Of one job: the ports that it could give.

use super::explained::{Exchange, Explained, JobFigures, Whole};
use crate::app::action::Action;
use crate::app::drawn::{Drawn, Hit, Item, JobKey, JobResult, PaneDrawn};
use crate::app::pane::PaneId;
use crate::view::present::desk::Desk;
use crate::view::present::rows::{from, line};
use crate::view::present::{PaneInput, Title, below, body, frame, plain};
use lightbay_engines::training::model::parts::JobPorts;
use lightbay_engines::training::plan::RateControl;
use lightbay_engines::training::search::reallocate::{Surplus, surplus};
use lightbay_engines::training::simulate::evaluate::Rates;
use lightbay_widgets::{
    Column, Meter, PaneState as Shown, Part, Piece, Table, TableRow, TableState, Tone, number,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{StatefulWidget, Widget};
use std::sync::Arc;

/// Number of the pane: what is selected in it decides what the others show.
pub const NUMBER: u8 = 11;

/// Columns of a bar.
const BAR: u16 = 16;

/// From this width on bars stand beside the jobs.
const BARS_FROM: u16 = 88;

/// From this width on sentences end in what can be done with them.
const REMARKS_FROM: u16 = 96;

/// Results of the search for ports that one job could give.
const SORT: u64 = 11;

/// Data of the pane, refilled when the plan changes.
#[derive(Debug)]
pub struct ReallocationPane {
    surplus: Desk<u64, Surplus>,
    key: Option<u64>,
    jobs: Vec<TableRow>,
    columns: Vec<Column>,
    pods: Vec<TableRow>,
    pod_columns: Vec<Column>,
    items: Arc<[Item]>,
    table: TableState,
    pod_table: TableState,
}

impl Default for ReallocationPane {
    fn default() -> Self {
        Self {
            surplus: Desk::new(SORT, 6),
            key: None,
            jobs: Vec::new(),
            columns: Vec::new(),
            pods: Vec::new(),
            pod_columns: Vec::new(),
            items: Arc::default(),
            table: TableState::default(),
            pod_table: TableState::default(),
        }
    }
}

impl ReallocationPane {
    /// Takes in what a helper thread made; gives back what is not of this pane.
    ///
    /// # Errors
    /// The result, if it is for another desk.
    pub fn accept(&mut self, key: JobKey, result: JobResult) -> Result<(), JobResult> {
        self.surplus.accept(key, result)
    }

    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        whole: &Whole,
        area: Rect,
        buf: &mut Buffer,
        drawn: &mut PaneDrawn,
        out: &mut Drawn,
    ) {
        match (&whole.exchange, whole.parts.first()) {
            (Some(exchange), _) => self.draw_exchange(input, whole, exchange, area, buf, drawn, out),
            (None, Some(only)) => self.draw_surplus(input, only, area, buf, drawn, out),
            (None, None) => {}
        }
    }

    #[expect(clippy::too_many_arguments, reason = "a pane is drawn from all that it shows")]
    fn draw_exchange(
        &mut self,
        input: &PaneInput<'_>,
        whole: &Whole,
        exchange: &Exchange,
        area: Rect,
        buf: &mut Buffer,
        drawn: &mut PaneDrawn,
        out: &mut Drawn,
    ) {
        let theme = &input.app.look.theme;
        let inner = body(area, 1);
        let bars = inner.width >= BARS_FROM;
        // Columns depend on the width, rows on the plan.
        let key = whole.key << 1 | u64::from(bars);
        if self.key != Some(key) {
            self.key = Some(key);
            self.fill_exchange(exchange, bars);
        }
        let moved: u32 = exchange.jobs.iter().map(|job| job.taken).sum();
        let mean = |at: usize| mean(&exchange.jobs, |job| job.nct[at]);
        let value = match (mean(0), mean(1)) {
            (Some(before), Some(after)) => vec![
                Piece::muted("NCT "),
                Piece::text(number::nct(before)),
                Piece::muted(" to "),
                Piece::answer(number::nct(after)),
            ],
            _ => Vec::new(),
        };
        let pods = exchange.ledger.pods.len();
        let context = vec![Piece::muted(format!("{} jobs on {pods} pods", exchange.jobs.len()))];
        frame(input, &Title { context, value }, Shown::Ready, area, buf);
        if inner.is_empty() {
            return;
        }
        let chosen = whole.chosen(input.state.selected);
        let jobs_height = (self.jobs.len() as u16 + 1).min(inner.height);
        let upper = Rect { height: jobs_height, ..inner };
        self.table.selected = u32::try_from(chosen).ok();
        (&Table::new(theme, &self.columns, &self.jobs)).render(upper, buf, &mut self.table);
        if bars {
            let worst = exchange.jobs.iter().filter_map(|job| job.nct[0]).fold(1.0, f64::max) - 1.0;
            let x = inner.right().saturating_sub(BAR);
            let rows = exchange.jobs.iter().skip(self.table.offset);
            for (y, job) in (upper.y + 1..upper.bottom()).zip(rows) {
                if let Some(after) = job.nct[1] {
                    // The bar ends where the job is now, the track where the slowest was before.
                    let parts = [Part::new(after - 1.0, Tone::Answer, '#')];
                    let place = Rect { x, y, width: BAR, height: 1 };
                    (&Meter::new(theme, &parts, worst).track(true)).render(place, buf);
                }
            }
        }
        let lower = from(inner, jobs_height + 1);
        if lower.height >= 2 {
            (&Table::new(theme, &self.pod_columns, &self.pods)).render(lower, buf, &mut self.pod_table);
        }
        let mut sentence = exchange.jobs.get(chosen).map_or_else(Vec::new, |job| told(job, moved));
        if inner.width >= REMARKS_FROM {
            sentence.push(Piece::muted("  shown in the other panes"));
        }
        line(theme, &sentence, below(inner), buf);
        drawn.items = Arc::clone(&self.items);
        drawn.page = usize::from(jobs_height.saturating_sub(1));
        drawn.offset = self.table.offset;
        drawn.sentence = plain(&sentence);
        drawn.details = exchange.jobs.iter().map(|job| plain(&told(job, moved))).collect();
        let pane = drawn.pane;
        out.hits.extend(self.table.hits.iter().map(|hit| Hit {
            rect: hit.rect,
            click: Action::Select { pane, item: Some(hit.id) },
            open: None,
        }));
    }

    fn fill_exchange(&mut self, exchange: &Exchange, bars: bool) {
        self.columns = vec![
            Column::left("job", 22).grow(),
            Column::left("", 8).priority(5),
            Column::right("weight", 6).priority(4),
            Column::right("out", 5),
            Column::right("in", 5),
            Column::right("used", 9).priority(3),
            Column::right("alone s", 10).priority(2),
            Column::right("shared s", 10).priority(1),
            Column::right("NCT alone", 9),
            Column::right("shared", 7),
        ];
        if bars {
            self.columns.push(Column::left("excess NCT", BAR));
        }
        self.jobs.clear();
        for (id, job) in (0..).zip(&exchange.jobs) {
            let [before, after] = job
                .nct
                .map(|nct| nct.map_or_else(|| number::UNKNOWN.to_owned(), |nct| number::nct(nct).into()));
            let faster = job.makespan_s[1] < job.makespan_s[0] * (1.0 - 1e-7);
            let tone = if faster { Tone::Good } else { Tone::Text };
            self.jobs.push(TableRow::item(
                id,
                vec![
                    Piece::text(job.name.clone()),
                    Piece::muted(role(job)),
                    Piece::muted(job.weight.to_string()),
                    count(job.given, "-"),
                    count(job.taken, "+"),
                    Piece::text(format!("{} of {}", job.used, job.ports)),
                    Piece::muted(number::seconds6(job.makespan_s[0])),
                    Piece::new(number::seconds6(job.makespan_s[1]), tone),
                    Piece::muted(before),
                    Piece::new(after, tone),
                ],
            ));
        }
        self.items =
            (0..).zip(&exchange.jobs).map(|(id, _)| Item { id, row: id, place: 0.0 }).collect::<Arc<[_]>>();
        self.pod_columns = vec![
            Column::left("pod", 4),
            Column::right("ports", 5),
            Column::right("spare", 5).priority(2),
            Column::right("free", 4).priority(1),
        ];
        for job in &exchange.jobs {
            let width = (job.name.chars().count() as u16).clamp(11, 24);
            self.pod_columns.push(Column::right(job.name.clone(), width));
        }
        self.pods.clear();
        for (id, pod) in (0..).zip(&exchange.ledger.pods) {
            let mut cells = vec![
                Piece::text(pod.name.clone()),
                Piece::text(pod.ports.to_string()),
                Piece::muted(pod.spare.to_string()),
                Piece::muted(pod.left().to_string()),
            ];
            cells.extend(pod.jobs.iter().map(|ports| ports.map_or_else(|| Piece::muted("-"), cell)));
            self.pods.push(TableRow { kind: lightbay_widgets::RowKind::Fixed, ..TableRow::item(id, cells) });
        }
    }

    fn draw_surplus(
        &mut self,
        input: &PaneInput<'_>,
        only: &Arc<Explained>,
        area: Rect,
        buf: &mut Buffer,
        drawn: &mut PaneDrawn,
        out: &mut Drawn,
    ) {
        let theme = &input.app.look.theme;
        let job = JobKey { pane: PaneId::Kind(NUMBER), plan: only.key, size: (0, 0), variant: 0 };
        let of = Arc::clone(only);
        let made = self.surplus.look(&only.key, job, &mut out.jobs, move || spared(&of));
        let context = vec![Piece::muted("one job: its spare ports")];
        let surplus = match made {
            None => {
                let waiting = Shown::Waiting("the fewest ports that keep the makespan");
                return frame(input, &Title { context, value: Vec::new() }, waiting, area, buf);
            }
            Some(Err(why)) => {
                let failed = Shown::Failed { what: &why, remedy: "press r to solve again" };
                return frame(input, &Title { context, value: Vec::new() }, failed, area, buf);
            }
            Some(Ok(surplus)) => surplus,
        };
        if self.key != Some(only.key << 1) {
            self.key = Some(only.key << 1);
            self.fill_surplus(only, &surplus);
        }
        let (has, needs): (u32, u32) = (surplus.ports.iter().sum(), surplus.needed.iter().sum());
        let value = vec![
            Piece::answer(format!("{} of {has}", has.saturating_sub(needs))),
            Piece::muted(" ports to spare"),
        ];
        frame(input, &Title { context, value }, Shown::Ready, area, buf);
        let inner = body(area, 1);
        if inner.is_empty() {
            return;
        }
        (&Table::new(theme, &self.pod_columns, &self.pods)).render(inner, buf, &mut self.pod_table);
        let before: u32 = surplus.used.iter().sum();
        let mut sentence = vec![
            Piece::answer(format!(
                "> {needs} ports keep {} s",
                number::seconds6(surplus.fewest.makespan).as_str()
            )),
            Piece::muted(format!("  the plan uses {before}")),
        ];
        if inner.width >= REMARKS_FROM {
            sentence.push(Piece::muted("  a scenario of several jobs trades the rest"));
        }
        line(theme, &sentence, below(inner), buf);
        drawn.sentence = plain(&sentence);
    }

    fn fill_surplus(&mut self, only: &Explained, surplus: &Surplus) {
        self.items = Arc::default();
        self.pod_columns = vec![
            Column::left("pod", 8).grow(),
            Column::right("ports", 6),
            Column::right("plan uses", 9).priority(1),
            Column::right("needs", 6),
            Column::right("spare", 10),
        ];
        self.pods.clear();
        let pods = &only.analysis.setting.instance.pods;
        for (id, (place, pod)) in (0..).zip(pods.iter().filter(|pod| !pod.mirror).enumerate()) {
            let at = |list: &[u32]| list.get(place).copied().unwrap_or(0);
            let (has, uses, needs) = (at(&surplus.ports), at(&surplus.used), at(&surplus.needed));
            let gives = has.saturating_sub(needs);
            let gives = if gives > 0 { Piece::new(gives.to_string(), Tone::Good) } else { Piece::muted("0") };
            let cells = vec![
                Piece::text(pod.name.clone()),
                Piece::text(has.to_string()),
                Piece::muted(uses.to_string()),
                Piece::text(needs.to_string()),
                gives,
            ];
            self.pods.push(TableRow { kind: lightbay_widgets::RowKind::Fixed, ..TableRow::item(id, cells) });
        }
    }
}

/// The fewest ports that keep the makespan of a plan: seconds of work on the largest jobs.
fn spared(of: &Explained) -> Result<Surplus, String> {
    let analysis = &of.analysis;
    let rates = match analysis.rate_control {
        RateControl::Fair => Rates::Fair,
        RateControl::Joint => Rates::Best,
    };
    surplus(&analysis.setting.evaluator, rates, &analysis.circuits, analysis.makespan_s)
        .map_err(|error| error.to_string())
}

/// Mean by weight; `None` if a job has no such figure.
fn mean(jobs: &[JobFigures], figure: impl Fn(&JobFigures) -> Option<f64>) -> Option<f64> {
    let (mut sum, mut weights) = (0.0, 0.0);
    for job in jobs {
        sum += f64::from(job.weight) * figure(job)?;
        weights += f64::from(job.weight);
    }
    (weights > 0.0).then(|| sum / weights)
}

/// The word for what a job does.
const fn role(job: &JobFigures) -> &'static str {
    match (job.given > 0, job.taken > 0) {
        (true, true) => "trades",
        (true, false) => "lends",
        (false, true) => "borrows",
        (false, false) => "keeps",
    }
}

/// A number of ports with its sign; nothing moved is quiet.
fn count(ports: u32, sign: &str) -> Piece {
    match ports {
        0 => Piece::muted("0"),
        ports => Piece::text(format!("{sign}{ports}")),
    }
}

/// `13/16 -3`: used of brought, and what changed hands.
fn cell(ports: JobPorts) -> Piece {
    let JobPorts { brought, used, given, taken } = ports;
    match (given, taken) {
        (0, 0) => Piece::muted(format!("{used}/{brought}   ")),
        (given, 0) => Piece::text(format!("{used}/{brought} {:>2}", format!("-{given}"))),
        (_, taken) => Piece::new(format!("{used}/{brought} {:>2}", format!("+{taken}")), Tone::Good),
    }
}

fn told(job: &JobFigures, moved: u32) -> Vec<Piece> {
    let mut pieces = vec![Piece::answer(format!("> {}", job.name))];
    if job.taken > 0 {
        pieces.push(Piece::new(format!("  takes {}", job.taken), Tone::Good));
    }
    if job.given > 0 {
        pieces.push(Piece::text(format!("  gives {}", job.given)));
    }
    if job.taken == 0 && job.given == 0 {
        pieces.push(Piece::muted("  keeps its ports"));
    }
    if let [Some(before), Some(after)] = job.nct {
        let change = format!("  NCT {} to {}", number::nct(before).as_str(), number::nct(after).as_str());
        pieces.push(if after < before - 1e-7 { Piece::answer(change) } else { Piece::muted(change) });
    }
    if moved == 0 {
        pieces.push(Piece::muted("  no port helps another job"));
    }
    pieces
}
