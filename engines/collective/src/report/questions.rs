//! Steps of a run, each with its gain, and the feasibility problems that its models solved: does a schedule of K epochs
//! exist?

use crate::programs::question_series::{QuestionRecord, questions};
use crate::programs::questions::QuestionOutcome;
use lightbay_core::report::{
    Cell, Column, Curve, Curves, Line, Phrase, Point, Row, RunBeside, Section, Surroundings, Table, Tone,
    Unavailable, Unit,
};

/// Number that is added to the item of a step, so that it differs from the items of feasibility problems.
const STEP: u32 = 1 << 19;

/// Title of the table of steps.
const STEPS: &str = "Steps, newest first";

const MICROSECONDS: Unit = Unit::new("µs", 1.0, Some(3));

/// Returns the section with every feasibility problem of a run, the newest first, and the steps of the run.
pub(super) fn table(beside: &Surroundings) -> Result<Section, Unavailable> {
    let run = beside.run.as_ref().ok_or_else(|| {
        Unavailable::absent(
            "no run yet: its steps appear here, with the gain of each",
            "solve with auto; teccl-milp and teccl-lp also list the epoch counts that they test",
        )
    })?;
    let asked = questions(|name| run.points(name).iter().map(|point| point.value).collect());
    let steps = steps(run);
    if asked.is_empty() && steps.rows.is_empty() {
        return Err(Unavailable::absent(
            format!("the run of {} has solved no model", run.method),
            "solve with auto, teccl-milp or teccl-lp; they solve models only if the constructed schedule ends \
             after its bound",
        ));
    }
    let section =
        Section::empty("Solver").subject(run.method.clone()).answer(standing(run, &asked, steps.rows.len()));
    let best = best_by_step(run.bound.or(bound_of(beside)), &steps);
    let with_best = |section: Section| match best {
        Some(curves) => section.on_screens("best", "", curves),
        None => section,
    };
    if asked.is_empty() {
        let section = section.context("newest first").block("steps", "", steps);
        return Ok(with_best(section).remark(
            "No number of epochs was tested: models are solved only if the constructed schedule ends after its bound.",
        ));
    }
    let columns = vec![
        Column::counts("epochs", "epochs"),
        Column::words("answer", "schedule?"),
        Column::counts("folded_by", "symmetries"),
        Column::counts("columns_in_full", "in full").priority(3),
        Column::counts("columns_in_time", "in time").priority(2),
        Column::counts("columns", "columns"),
        Column::counts("rows", "rows").priority(1),
        Column::numbers("seconds", "time", Unit::SECONDS.with_decimals(2)),
    ];
    let mut table = Table::new(["question", "questions"], columns);
    for (number, asked) in asked.iter().enumerate().rev() {
        let row = table.row(vec![
            Cell::new(asked.epochs),
            answer(asked),
            Cell::new(asked.folded_by),
            Cell::new(asked.columns_in_full).tone(Tone::Muted),
            Cell::new(asked.columns_in_time).tone(Tone::Muted),
            Cell::new(asked.columns),
            Cell::new(asked.rows),
            Cell::new(asked.seconds),
        ]);
        (row.item, row.sentence) = (Some(number as u32), sentence(asked));
    }
    let section = section
        .block("questions", "Epoch counts tested, newest first", table)
        .on_screens("steps", STEPS, steps);
    Ok(with_best(section)
        .legend("an infeasible full model proves a bound; model columns: in full, in time (without late \
             starts), and after symmetry reduction")
        .remark("A symmetry-reduced model admits only symmetric schedules; if it is infeasible, asymmetric schedules may still exist."))
}

/// Returns the table of the steps of a run, each with the best schedule at its end; consecutive phases with the same
/// name are one step.
fn steps(run: &RunBeside) -> Table {
    let columns = vec![
        Column::counts("number", "#"),
        Column::words("step", "step"),
        Column::numbers("start_s", "from", Unit::SECONDS.with_decimals(2)).priority(1),
        Column::numbers("best_us", "best", MICROSECONDS),
        Column::numbers("gained_us", "gained", MICROSECONDS),
        Column::words("detail", "what").priority(2),
    ];
    let mut table = Table::new(["step", "steps"], columns).bar(4);
    let mut parts: Vec<(f64, &str, &str)> = Vec::new();
    for (at_s, phase) in &run.phases {
        if parts.last().is_none_or(|last| last.1 != phase.name) {
            parts.push((*at_s, &phase.name, &phase.detail));
        }
    }
    let mut before: Option<f64> = None;
    for (at, (from_s, name, detail)) in parts.iter().enumerate() {
        let until_s = parts.get(at + 1).map_or(f64::INFINITY, |next| next.0);
        let known = run.incumbents.iter().filter(|point| point.at_s < until_s);
        let best = known.map(|point| point.value).reduce(f64::min);
        let gained = before.zip(best).map(|(before, best)| before - best);
        let is_gain = gained.is_some_and(|gained| gained > 0.0);
        let detail = detail.replace(" us", " µs");
        let mut sentence = Phrase::new().answer(format!("> {name}"));
        if let Some(gained) = gained.filter(|_| is_gain) {
            sentence = sentence.good(format!("  {gained:.3} µs gained"));
        }
        let row = table.row(vec![
            Cell::new(at + 1).tone(Tone::Muted),
            Cell::new(*name),
            Cell::new(*from_s),
            best.map_or_else(Cell::none, Cell::new),
            gained.map_or_else(Cell::none, Cell::new).tone(if is_gain { Tone::Good } else { Tone::Muted }),
            Cell::new(detail.clone()).tone(Tone::Muted),
        ]);
        row.sentence = sentence.muted(format!("  {detail}  from {from_s:.2} s"));
        row.item = Some(at as u32 | STEP);
        before = best.or(before);
    }
    table.rows.reverse();
    table
}

/// Returns the bound on all plans for the scenario of the run, if the checker knows one.
fn bound_of(beside: &Surroundings) -> Option<f64> {
    beside.plans.iter().filter(|plan| plan.is_of_run).filter_map(|plan| plan.bound).reduce(f64::max)
}

/// Returns the best completion time at the end of each step, with the bound; `None` for fewer than two
/// steps with a schedule.
fn best_by_step(bound: Option<f64>, steps: &Table) -> Option<Curves> {
    let at_step = |(number, row): (u32, &Row)| {
        Some(Point { at: f64::from(number), value: row.cells.get(3)?.value.as_f64()? })
    };
    let points: Vec<Point> = (1_u32..).zip(steps.rows.iter().rev()).filter_map(at_step).collect();
    if points.len() < 2 {
        return None;
    }
    let bound = bound.map(|value| Line { name: "bound_us".to_owned(), label: "bound".to_owned(), value });
    let best = Curve {
        name: "best_us".to_owned(),
        label: "best".to_owned(),
        unit: MICROSECONDS,
        points,
        tone: Tone::Answer,
        steps: true,
    };
    Some(Curves {
        axis: "step",
        axis_label: "step",
        axis_unit: Unit::COUNT,
        curves: vec![best],
        lines: Vec::from_iter(bound),
        ..Curves::default()
    })
}

fn answer(asked: &QuestionRecord) -> Cell {
    match asked.answer {
        QuestionOutcome::Feasible => Cell::new("feasible").tone(Tone::Good),
        QuestionOutcome::Infeasible => Cell::new("infeasible").tone(Tone::Answer),
        QuestionOutcome::Unknown => Cell::new("unknown"),
    }
}

fn sentence(asked: &QuestionRecord) -> Phrase {
    let symmetric = asked.folded_by > 1;
    let words = match asked.answer {
        QuestionOutcome::Feasible => "a schedule exists",
        QuestionOutcome::Infeasible if symmetric => "no symmetric schedule exists; asymmetric ones may exist",
        QuestionOutcome::Infeasible => "proven: no schedule exists",
        QuestionOutcome::Unknown => "undecided: time limit reached",
    };
    Phrase::new().answer(format!("> {} epochs", asked.epochs)).muted("  ").text(words).muted(format!(
        "  model columns: {} in full, {} without late starts, {} after symmetry reduction",
        asked.columns_in_full, asked.columns_in_time, asked.columns
    ))
}

/// Returns a phrase with the feasibility problem that is being solved. If no problem is being solved, the phrase has
/// the number of solved problems or, if there are no problems, the number of steps.
fn standing(run: &RunBeside, asked: &[QuestionRecord], steps: usize) -> Phrase {
    let now = run.phases.last().filter(|(_, phase)| run.is_active && phase.name == "question");
    match now {
        Some((_, phase)) => Phrase::new().muted("testing ").answer(phase.detail.clone()),
        None if asked.is_empty() => {
            let word = if steps == 1 { " step" } else { " steps" };
            Phrase::new().answer(format!("{steps}{word}"))
        }
        None => Phrase::new().answer(format!("{} tested", asked.len())),
    }
}
