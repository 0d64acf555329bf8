//! Throughput per chip over sizes: designs of the session, the tori, and the bound on any pod.

use super::{OVERVIEW, named_bound};
use crate::analysis::tori::{SizeRow, sizes};
use crate::model::pod::CHIPS;
use lightbay_core::report::{
    Cell, Column, Curve, Curves, Line, Phrase, PlanBeside, Point, Section, Surroundings, Table, Tone, Unit,
};
use std::collections::BTreeMap;

/// Methods that build tori; their plans do not count as designs.
const TORI: [&str; 2] = ["pt", "pdtt"];

/// Unit of throughputs per chip, which have three decimals.
const RATE: Unit = Unit::new("", 1.0, Some(3));

/// For each number of chips, throughput per chip and plan number of the best design.
type Designs = BTreeMap<usize, (f64, u64)>;

/// Chips and throughput per chip of a design; `None` for a torus.
fn design(plan: &PlanBeside) -> Option<(usize, f64)> {
    let &rate = plan.metrics.get("n_mcf").filter(|_| !TORI.contains(&plan.method.as_str()))?;
    // The figure is n times the objective.
    (rate.is_finite() && rate > 0.0 && plan.value > 0.0).then(|| ((rate / plan.value).round() as usize, rate))
}

/// Returns the best design for each number of chips. For the size of the explained plan, this plan is used, so that all
/// sections show the same plan.
fn designs(beside: &Surroundings) -> Designs {
    let mut best = Designs::new();
    for plan in &beside.plans {
        let Some((chips, rate)) = design(plan) else { continue };
        let known = best.entry(chips).or_insert((rate, plan.number));
        if rate > known.0 {
            *known = (rate, plan.number);
        }
    }
    if let Some((plan, (chips, rate))) = beside.shown().and_then(|plan| Some((plan, design(plan)?))) {
        best.insert(chips, (rate, plan.number));
    }
    best
}

/// Rows of the compared sizes with their best known bounds: the bound from the universal cover or, for the size of the
/// explained plan, the bound of the header if it is smaller.
fn bounded(cubes: usize, beside: &Surroundings) -> Vec<SizeRow> {
    let own = cubes * CHIPS;
    let better = |row: &SizeRow| match named_bound(beside) {
        Some(bound) if own == row.chips => row.bound.min(bound * own as f64),
        _ => row.bound,
    };
    sizes(cubes).into_iter().map(|row| SizeRow { bound: better(&row), ..row }).collect()
}

pub(super) fn section(cubes: usize, beside: &Surroundings) -> Section {
    let (rows, designs) = (bounded(cubes, beside), designs(beside));
    let chips = cubes * CHIPS;
    let own = rows.iter().find(|row| row.chips == chips);
    let share = designs.get(&chips).zip(own).map(|((rate, _), row)| rate / row.bound);
    let answer = match share {
        Some(share) => of_the_bound(Phrase::new(), share),
        None => Phrase::new(),
    };
    Section::empty("Sizes")
        .context(Phrase::new().muted("throughput per chip: chips x MCF"))
        .answer(answer)
        .usual(Some(chips as u32))
        .block("sizes", "", table(&rows, &designs, chips))
        .on_screens("curves", "", curves(&rows, &designs))
}

/// Adds a throughput as a share of the bound on any pod to a phrase.
pub(super) fn of_the_bound(phrase: Phrase, share: f64) -> Phrase {
    phrase.answer(format!("{:.1} %", share * 100.0)).muted(" of the bound")
}

/// Returns the throughput of the better torus of a size.
fn torus(row: &SizeRow) -> f64 {
    row.pdtt.unwrap_or(0.0).max(row.pt)
}

fn table(rows: &[SizeRow], designs: &Designs, chips: usize) -> Table {
    let columns = vec![
        Column::counts("chips", "chips"),
        Column::numbers("design", "design", RATE),
        Column::numbers("pdtt", "PDTT", RATE).priority(1),
        Column::numbers("pt", "PT", RATE).priority(2),
        Column::numbers("bound", "bound", RATE),
        Column::words("reached_by", "by"),
        Column::numbers("of_bound", "of bound", Unit::PERCENT.with_decimals(1)),
    ];
    let limit = Line { name: "bound".to_owned(), label: String::new(), value: 1.0 };
    let mut table = Table::new(["size", "sizes"], columns).overview(OVERVIEW).bar(6).limit(Some(limit));
    for size in rows {
        let design = designs.get(&size.chips).copied();
        let is_own = size.chips == chips;
        let cell = |value: f64| Cell::new(value).tone(if is_own { Tone::Answer } else { Tone::Text });
        let (share, by) = match design {
            Some((rate, _)) if is_own => (Cell::new(rate / size.bound).tone(Tone::Answer), "plan"),
            Some((rate, _)) => (Cell::new(rate / size.bound), "plan"),
            // The better torus shows the level that a design should exceed.
            None => (Cell::new(torus(size) / size.bound).tone(Tone::Muted), "torus"),
        };
        let row = table.row(vec![
            Cell::new(size.chips).tone(if is_own { Tone::Answer } else { Tone::Text }),
            design.map_or_else(Cell::none, |(rate, _)| cell(rate)),
            size.pdtt.map_or_else(Cell::none, |rate| Cell::new(rate).tone(Tone::Muted)),
            Cell::new(size.pt).tone(Tone::Muted),
            Cell::new(size.bound),
            Cell::new(by).tone(Tone::Muted),
            share,
        ]);
        (row.item, row.sentence) = (Some(size.chips as u32), sentence(size, design));
    }
    table
}

fn sentence(size: &SizeRow, design: Option<(f64, u64)>) -> Phrase {
    let phrase = Phrase::new().answer(format!("> {} chips", size.chips));
    let Some((rate, plan)) = design else {
        let phrase = phrase.muted("  not designed in this session; ");
        let phrase = match size.pdtt {
            Some(pdtt) => phrase.text(format!("PDTT {pdtt:.3}  ")),
            None => phrase,
        };
        return phrase
            .text(format!("PT {:.3}", size.pt))
            .muted(format!("  any pod at most {:.3}", size.bound));
    };
    let name = if plan > 0 { format!("  plan {plan} ") } else { "  this plan ".to_owned() };
    let phrase = phrase.muted(name).answer(format!("{rate:.3}")).muted(format!(
        "  {:.1} % of the bound {:.3}",
        rate / size.bound * 100.0,
        size.bound
    ));
    let phrase = match size.pdtt {
        Some(pdtt) => phrase.text(format!("  x{:.2} PDTT", rate / pdtt)),
        None => phrase,
    };
    phrase.text(format!("  x{:.2} PT", rate / size.pt))
}

fn curves(rows: &[SizeRow], designs: &Designs) -> Curves {
    let curve = |name: &str, label: &str, tone, points: Vec<Point>| Curve {
        name: name.to_owned(),
        label: label.to_owned(),
        unit: RATE,
        points,
        tone,
        steps: false,
    };
    let of = |value: fn(&SizeRow) -> Option<f64>| -> Vec<Point> {
        // A curve has a gap at sizes without a value.
        let point = |row: &SizeRow| Point { at: row.chips as f64, value: value(row).unwrap_or(f64::NAN) };
        rows.iter().map(point).collect()
    };
    let designed =
        designs.iter().map(|(chips, (rate, _))| Point { at: *chips as f64, value: *rate }).collect();
    let most = rows.iter().map(|row| row.bound).fold(1.0, f64::max);
    Curves {
        axis: "chips",
        axis_label: "chips",
        axis_unit: Unit::COUNT,
        axis_range: None,
        axis_is_log: true,
        curves: vec![
            curve("design", "Design", Tone::Answer, designed),
            curve("bound", "Bound on any pod", Tone::Good, of(|row| Some(row.bound))),
            curve("pdtt", "PDTT", Tone::Muted, of(|row| row.pdtt)),
            curve("pt", "PT", Tone::Muted, of(|row| Some(row.pt))),
        ],
        range: Some((0.0, most)),
        ..Curves::default()
    }
}
