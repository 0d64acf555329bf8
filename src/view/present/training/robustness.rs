//! What becomes of the plan if computes take other times, or circuits and ports fail.

use super::Facts;
use super::barred::{self, Barred};
use super::links;
use super::patience::Patience;
use super::prices::difference;
use super::worked::Worked;
use crate::app::drawn::{Drawn, JobKey, JobResult, PaneDrawn};
use crate::view::present::rows::line;
use crate::view::present::{PaneInput, Title, below, body, frame, plain};
use lightbay_core::method::MethodError;
use lightbay_engines::training::analysis::robustness::{
    Ends, PortCase, Robustness, Spread, Together, Trials,
};
use lightbay_engines::training::scenario::instance::Instance;
use lightbay_widgets::{Column, PaneState as Shown, Piece, TableRow, TableState, Tone, number};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Sort of the jobs of this pane.
const SORT: u64 = 13;

/// Data of the pane.
#[derive(Debug)]
pub struct RobustnessPane {
    worked: Worked<Robustness>,
    table: TableState,
}

impl Default for RobustnessPane {
    fn default() -> Self {
        Self { worked: Worked::new(SORT), table: TableState::default() }
    }
}

/// Trials of the circuits of a plan.
fn work(facts: &Facts, patience: &mut Patience) -> Result<Robustness, MethodError> {
    let analysis = &facts.analysis;
    Robustness::new(&facts.scenario, &analysis.setting, &analysis.circuits, Trials::default(), patience)
}

impl RobustnessPane {
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
        let tried = match self.worked.look(input, facts, out, work) {
            None => {
                return frame(input, &nothing, Shown::Waiting("the plan under failures"), area, buf);
            }
            Some(Err(why)) => {
                return frame(input, &nothing, Shown::Empty { what: &why, remedy: "" }, area, buf);
            }
            Some(Ok(tried)) => tried,
        };
        let context = if area.width >= 60 { "circuits as planned, simulated anew" } else { "" };
        let mut named = facts.title();
        named.push(Piece::muted(context));
        let title = Title { context: named, value: value(&tried) };
        frame(input, &title, Shown::Ready, area, buf);
        let inner = body(area, u16::from(area.height >= 7));
        if inner.is_empty() {
            return;
        }
        let columns = [
            Column::left("case", 24),
            Column::right("sched. s", 11).priority(2),
            Column::right("sched. +ms", 11),
            Column::right("fair s", 11).priority(4),
            Column::right("fair +ms", 11).priority(3),
        ];
        let cases = cases(&facts.analysis.setting.instance, &tried);
        let rows: Vec<Barred> = (0..).zip(&cases).map(|(id, case)| case.row(id, tried.planned)).collect();
        let full = rows.iter().filter_map(|row| row.bar).map(|bar| bar.0).fold(0.0, f64::max);
        barred::draw(input, &columns, &rows, full, &mut self.table, (inner, buf), drawn);
        let sentence = sentence(&cases, &tried, input.state.selected);
        if area.height >= 7 {
            line(&input.app.look.theme, &sentence, below(inner), buf);
        }
        drawn.sentence = plain(&sentence);
        drawn.details = (0..cases.len() as u32)
            .filter(|id| matches!(cases[*id as usize], Case::Row { .. }))
            .map(|id| plain(&self::sentence(&cases, &tried, Some(id))))
            .collect();
    }
}

/// The one number: what the circuit that is missed most costs.
fn value(tried: &Robustness) -> Vec<Piece> {
    if tried.circuits.iter().any(|case| case.ends.is_none()) {
        return vec![Piece::new("a single failure cuts pods off", Tone::Bad)];
    }
    let worst = tried.circuits.iter().filter_map(|case| case.ends).map(|ends| ends.joint_s);
    let worst = worst.fold(f64::NEG_INFINITY, f64::max);
    if worst.is_finite() {
        vec![
            Piece::answer(format!("{} ms", difference(worst - tried.planned.joint_s))),
            Piece::muted(" if a circuit fails"),
        ]
    } else {
        Vec::new()
    }
}

/// A line of the pane.
enum Case {
    Heading(String),
    Row {
        name: String,
        /// What it means, for the sentence.
        means: String,
        /// `None` if pods are cut off from each other.
        ends: Option<Ends>,
    },
}

impl Case {
    fn new(name: impl Into<String>, means: impl Into<String>, ends: Option<Ends>) -> Self {
        Self::Row { name: name.into(), means: means.into(), ends }
    }

    fn row(&self, id: u32, planned: Ends) -> Barred {
        let (name, ends) = match self {
            Self::Heading(text) => return Barred::heading(text.clone()),
            Self::Row { name, ends, .. } => (name, ends),
        };
        let mut cells = vec![Piece::text(name.clone())];
        let Some(ends) = ends else {
            cells.extend([Piece::text(number::UNKNOWN), Piece::new("cut off", Tone::Bad)]);
            return Barred { row: TableRow::item(id, cells), bar: None };
        };
        let later = ends.joint_s - planned.joint_s;
        cells.extend([
            Piece::text(number::seconds6(ends.joint_s)),
            Piece::new(difference(later), if later > 5e-7 { Tone::Bad } else { Tone::Text }),
            Piece::muted(number::seconds6(ends.fair_s)),
            Piece::muted(difference(ends.fair_s - planned.fair_s)),
        ]);
        Barred { row: TableRow::item(id, cells), bar: Some((later.max(0.0), Tone::Bad)) }
    }
}

fn cases(instance: &Instance, tried: &Robustness) -> Vec<Case> {
    let trials = &tried.trials;
    let link = |link: u32| links::link(instance, link as usize);
    let pod = |pod: u32| links::pod(instance, pod as usize);
    let mut cases = vec![Case::new("as planned", "nothing goes wrong", Some(tried.planned))];
    if let Some((joint, fair)) = &tried.jitter {
        let share = number::percent(trials.jitter, 0);
        cases.push(Case::Heading(format!("compute jitter ±{share} %, {} samples", trials.draws)));
        let mut spread = |name: &str, means: &str, of: fn(&Spread) -> f64| {
            let ends = Ends { joint_s: of(joint), fair_s: of(fair) };
            cases.push(Case::new(name, means, Some(ends)));
        };
        spread("mean", "the mean of all samples", |spread| spread.mean_s);
        spread("95 %", "95 of 100 samples end by then", |spread| spread.p95_s);
        spread("worst", "the longest sample", |spread| spread.worst_s);
    }
    let slower = number::percent(trials.slow_factor - 1.0, 0);
    let place = if tried.by_stage { "stage" } else { "pod" };
    cases.push(Case::Heading(format!("one {place} computes {slower} % longer")));
    cases.extend(tried.slow.iter().map(|slow| {
        let name = if tried.by_stage { format!("stage {}", slow.place + 1) } else { pod(slow.place) };
        Case::new(name, format!("every compute there takes {slower} % longer"), Some(slow.ends))
    }));
    cases.push(Case::Heading("one circuit fails".to_owned()));
    cases.extend(tried.circuits.iter().map(|case| {
        let name = format!("{}  {} of {}", link(case.link), case.circuits.saturating_sub(1), case.circuits);
        Case::new(name, "are left, the others are fixed", case.ends)
    }));
    cases.push(Case::Heading("one port fails".to_owned()));
    for case in &tried.ports {
        let hit = |hit: &PortCase| hit.link.map_or_else(|| "a free one".to_owned(), link);
        for (word, one) in [("best", &case.best), ("worst", &case.worst)] {
            let means = match one.link {
                Some(_) => format!("{} of its ports are free", case.free.max(0)),
                None => "no circuit uses it".to_owned(),
            };
            cases.push(Case::new(format!("{} {word}: {}", pod(case.pod), hit(one)), means, one.ends));
        }
    }
    for cut in &tried.together {
        if cut.circuits < 2 {
            continue;
        }
        cases.push(Case::Heading(together(cut)));
        let names = |chosen: &[u32]| chosen.iter().map(|id| link(*id)).collect::<Vec<_>>().join(", ");
        for (word, case) in [("least", &cut.best), ("most", &cut.worst)] {
            if let Some((chosen, ends)) = case {
                let means = format!("adds {word} of all choices that cut nothing off");
                cases.push(Case::new(names(chosen), means, Some(*ends)));
            }
        }
    }
    cases
}

fn together(cut: &Together) -> String {
    let cut_off = if cut.cut_off > 0 { format!(", {} cut pods off", cut.cut_off) } else { String::new() };
    format!("{} circuits fail: {} choices{cut_off}", cut.circuits, cut.choices)
}

fn sentence(cases: &[Case], tried: &Robustness, selected: Option<u32>) -> Vec<Piece> {
    let chosen =
        selected.and_then(|id| cases.get(id as usize)).filter(|case| matches!(case, Case::Row { .. }));
    let Some(Case::Row { name, means, ends }) = chosen.or_else(|| cases.first()) else { return Vec::new() };
    let mut pieces = vec![Piece::answer(format!("> {name}")), Piece::muted(format!("  {means}"))];
    match ends {
        Some(ends) => {
            pieces.push(Piece::text(format!("  {} s", number::seconds6(ends.joint_s))));
            let later = ends.joint_s - tried.planned.joint_s;
            if later.abs() >= 5e-7 {
                pieces.push(Piece::answer(format!("  {} ms", difference(later))));
            }
            pieces.push(Piece::muted(format!("  max-min fair {} s", number::seconds6(ends.fair_s))));
        }
        None => pieces.push(Piece::new("  the pods are cut off from each other", Tone::Bad)),
    }
    pieces
}
