//! What one more port in a pod and one circuit less on a link are worth.

use super::Facts;
use super::barred::{self, Barred};
use super::patience::Patience;
use super::worked::Worked;
use super::{links, pieces};
use crate::app::drawn::{Drawn, JobKey, JobResult, PaneDrawn};
use crate::view::present::rows::line;
use crate::view::present::{PaneInput, Title, below, body, frame, plain};
use lightbay_core::method::MethodError;
use lightbay_engines::training::analysis::prices::{CircuitPrice, MORE_PORTS, PortPrice, Prices};
use lightbay_engines::training::plan::RateControl;
use lightbay_engines::training::simulate::evaluate::Rates;
use lightbay_widgets::{Column, PaneState as Shown, Piece, TableRow, TableState, Tone, number};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Sort of the jobs of this pane.
const SORT: u64 = 12;

/// Ids of links begin here, those of pods at 0.
const LINKS: u32 = 1 << 16;

/// Data of the pane.
#[derive(Debug)]
pub struct PricesPane {
    worked: Worked<Prices>,
    table: TableState,
}

impl Default for PricesPane {
    fn default() -> Self {
        Self { worked: Worked::new(SORT), table: TableState::default() }
    }
}

/// Prices around the circuits of a plan, at its rates.
fn work(facts: &Facts, patience: &mut Patience) -> Result<Prices, MethodError> {
    let analysis = &facts.analysis;
    let rates = match analysis.rate_control {
        RateControl::Fair => Rates::Fair,
        RateControl::Joint => Rates::Best,
    };
    Prices::new(&analysis.setting.evaluator, &analysis.circuits, rates, patience)
}

impl PricesPane {
    /// Takes in what a helper thread made; gives back what is of another pane.
    pub fn accept(&mut self, key: JobKey, result: JobResult) -> Result<(), JobResult> {
        self.worked.accept(key, result)
    }

    pub fn draw(
        &mut self,
        input: &PaneInput<'_>,
        facts: &Facts,
        area: Rect,
        buf: &mut Buffer,
        drawn: &mut PaneDrawn,
        out: &mut Drawn,
    ) {
        let nothing = Title { context: Vec::new(), value: Vec::new() };
        let prices = match self.worked.look(input, facts, out, work) {
            None => {
                return frame(
                    input,
                    &nothing,
                    Shown::Waiting("sensitivity of ports and circuits"),
                    area,
                    buf,
                );
            }
            Some(Err(why)) => {
                let state = Shown::Empty { what: &why, remedy: "" };
                return frame(input, &nothing, state, area, buf);
            }
            Some(Ok(prices)) => prices,
        };
        let context = match (area.width >= 60, prices.exact()) {
            (true, true) => "against the proven best plan",
            (true, false) => "estimates: the best plan is not proven",
            (false, true) => "",
            (false, false) => "estimates",
        };
        let mut named = facts.title();
        named.push(Piece::muted(context));
        let title = Title { context: named, value: value(facts, &prices) };
        frame(input, &title, Shown::Ready, area, buf);
        let inner = body(area, u16::from(area.height >= 7));
        if inner.is_empty() {
            return;
        }
        let columns = [
            Column::left("pod or link", 14),
            Column::right("has", 4),
            Column::right("ms", 11),
            Column::right("NCT", 9).priority(2),
            Column::left("", 26).priority(3),
        ];
        let rows = rows(facts, &prices);
        let full = rows.iter().filter_map(|row| row.bar).map(|bar| bar.0).fold(0.0, f64::max);
        barred::draw(input, &columns, &rows, full, &mut self.table, (inner, buf), drawn);
        let sentence = sentence(facts, &prices, input.state.selected);
        if area.height >= 7 {
            line(&input.app.look.theme, &sentence, below(inner), buf);
        }
        drawn.sentence = plain(&sentence);
        drawn.details = details(facts, &prices);
    }
}

/// The one number: what the port that is worth most gains.
fn value(facts: &Facts, prices: &Prices) -> Vec<Piece> {
    let instance = &facts.analysis.setting.instance;
    match prices.pods.first() {
        Some(price) if price.gain_s > 0.0 => vec![
            Piece::answer(format!("{} ms", number::signed(-price.gain_s * 1e3, 2))),
            Piece::muted(format!(" for a port in {}", links::pod(instance, price.pod as usize))),
        ],
        Some(_) => vec![Piece::muted("no single port helps")],
        None => Vec::new(),
    }
}

/// A difference in milliseconds with its sign; nothing is a plain 0.
pub fn difference(seconds: f64) -> String {
    number::signed(seconds * 1e3, 3).to_string()
}

fn nct(prices: &Prices, seconds: f64) -> String {
    prices.nct(seconds).map_or_else(|| number::UNKNOWN.to_owned(), |nct| number::signed(nct, 4).to_string())
}

fn rows(facts: &Facts, prices: &Prices) -> Vec<Barred> {
    let instance = &facts.analysis.setting.instance;
    let mut rows = vec![Barred::heading("one more port")];
    rows.extend(prices.pods.iter().map(|price| {
        let name = links::pod(instance, price.pod as usize);
        let tone = if price.gain_s > 0.0 { Tone::Good } else { Tone::Text };
        let cells = vec![
            Piece::text(name),
            Piece::text(price.ports.to_string()),
            Piece::new(difference(-price.gain_s), tone),
            Piece::text(nct(prices, -price.gain_s)),
            Piece::muted(remark(price)),
        ];
        Barred { row: TableRow::item(price.pod, cells), bar: Some((price.gain_s, Tone::Good)) }
    }));
    rows.push(Barred::heading("one circuit less, the others planned anew"));
    rows.extend(prices.links.iter().map(|price| {
        let name = links::link(instance, price.link as usize);
        let (ms, nct, bar, remark) = match price.loss {
            Some(loss) => (
                Piece::new(
                    difference(loss.replanned_s),
                    if loss.replanned_s > 0.0 { Tone::Bad } else { Tone::Text },
                ),
                nct(prices, loss.replanned_s),
                Some((loss.replanned_s, Tone::Bad)),
                kept(price),
            ),
            None => (
                Piece::new("cut off", Tone::Bad),
                number::UNKNOWN.to_owned(),
                None,
                "its only circuit".to_owned(),
            ),
        };
        let cells = vec![
            Piece::text(name),
            Piece::text(price.circuits.to_string()),
            ms,
            Piece::text(nct),
            Piece::muted(remark),
        ];
        Barred { row: TableRow::item(LINKS + price.link, cells), bar }
    }));
    rows
}

/// What is to be said about a pod in few words.
fn remark(price: &PortPrice) -> String {
    match price.first {
        Some((1, _)) | None if price.free > 0 => format!("{} free", price.free),
        Some((1, _)) => String::new(),
        Some((ports, gain_s)) => format!("{ports} ports: {} ms", difference(-gain_s)),
        None => format!("nor do {MORE_PORTS}"),
    }
}

fn kept(price: &CircuitPrice) -> String {
    price.loss.map_or_else(String::new, |loss| format!("others fixed: {} ms", difference(loss.kept_s)))
}

fn sentence(facts: &Facts, prices: &Prices, selected: Option<u32>) -> Vec<Piece> {
    let instance = &facts.analysis.setting.instance;
    let link = selected.filter(|id| *id >= LINKS).map(|id| id - LINKS);
    if let Some(price) = link.and_then(|id| prices.links.iter().find(|price| price.link == id)) {
        let mut pieces = vec![
            Piece::answer(format!("> {}", links::link(instance, price.link as usize))),
            Piece::text(format!("  {}", pieces::circuits(price.circuits))),
        ];
        match price.loss {
            Some(loss) => pieces.extend([
                Piece::muted("; without one the iteration takes "),
                Piece::answer(format!("{} ms", difference(loss.replanned_s))),
                Piece::muted(if loss.exact { " (proven), " } else { " (estimate), " }),
                Piece::text(format!("{} ms", difference(loss.kept_s))),
                Piece::muted(" with the others fixed"),
            ]),
            None => pieces.push(Piece::muted("; without it the pods are cut off from each other")),
        }
        return pieces;
    }
    let pod = selected.and_then(|id| prices.pods.iter().find(|price| price.pod == id));
    let Some(price) = pod.or_else(|| prices.pods.first()) else { return Vec::new() };
    let mut pieces = vec![
        Piece::answer(format!("> {}", links::pod(instance, price.pod as usize))),
        Piece::muted("  a port more: "),
        Piece::answer(format!("{} ms", difference(-price.gain_s))),
        Piece::muted(if price.exact { " (proven)" } else { " (estimate)" }),
    ];
    match price.first {
        Some((ports, gain_s)) if ports > 1 => {
            pieces.push(Piece::text(format!("  {ports} more: {} ms", difference(-gain_s))));
        }
        None => pieces.push(Piece::muted(format!("  nor do {MORE_PORTS} help"))),
        Some(_) => {}
    }
    if price.free > 0 {
        pieces.push(Piece::muted(format!("  {} of its {} are free", price.free, price.ports)));
    }
    pieces
}

fn details(facts: &Facts, prices: &Prices) -> Vec<String> {
    let mut lines = vec![
        format!(
            "plan {} s, best circuits for these ports {} s{}",
            number::seconds6(prices.plan_makespan_s).as_str(),
            number::seconds6(prices.best_makespan_s).as_str(),
            if prices.proven { ", proven" } else { ", not proven" }
        ),
        "a pod of a job is one in every replica; a circuit lost in one replica costs as much as in all"
            .to_owned(),
        String::new(),
    ];
    let of = |id| plain(&sentence(facts, prices, Some(id)));
    lines.extend(prices.pods.iter().map(|price| of(price.pod)));
    lines.extend(prices.links.iter().map(|price| of(LINKS + price.link)));
    lines
}
