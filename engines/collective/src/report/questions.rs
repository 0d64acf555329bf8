//! Questions that programs were asked: is there a schedule of so many epochs?

use crate::programs::questions::QuestionOutcome;
use crate::programs::told::{ToldQuestion, questions};
use lightbay_core::report::{
    Cell, Column, Phrase, RunBeside, Section, Surroundings, Table, Tone, Unavailable, Unit,
};

/// Every question of a run, the newest first.
pub(super) fn table(beside: &Surroundings) -> Result<Section, Unavailable> {
    let run = beside.run.as_ref().ok_or_else(|| {
        Unavailable::absent(
            "questions are listed while a run asks them",
            "solve with auto, teccl-milp or teccl-lp",
        )
    })?;
    let asked = questions(|name| run.points(name).iter().map(|point| point.value).collect());
    if asked.is_empty() {
        return Err(Unavailable::absent(
            format!("the run of {} has asked no program", run.method),
            "programs are asked where a schedule stays above the bound: solve with auto, teccl-milp or teccl-lp",
        ));
    }
    let columns = vec![
        Column::counts("epochs", "epochs"),
        Column::words("answer", "schedule?"),
        Column::counts("folded_by", "folded by"),
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
    Ok(Section::new("Questions", table).subject(run.method.clone()).answer(standing(run, &asked)).remark(
        "A symmetry-reduced model admits only symmetric schedules; if it is infeasible, others may still exist.",
    ))
}

fn answer(asked: &ToldQuestion) -> Cell {
    match asked.answer {
        QuestionOutcome::Feasible => Cell::new("feasible").tone(Tone::Good),
        QuestionOutcome::Infeasible => Cell::new("infeasible").tone(Tone::Answer),
        QuestionOutcome::Unknown => Cell::new("unknown").tone(Tone::Warn),
    }
}

fn sentence(asked: &ToldQuestion) -> Phrase {
    let symmetric = asked.folded_by > 1;
    let words = match asked.answer {
        QuestionOutcome::Feasible => "there is such a schedule",
        QuestionOutcome::Infeasible if symmetric => "no schedule with these symmetries; others may exist",
        QuestionOutcome::Infeasible => "proven: there is no such schedule",
        QuestionOutcome::Unknown => "undecided: time limit reached",
    };
    Phrase::new().answer(format!("> {} epochs", asked.epochs)).muted("  ").text(words).muted(format!(
        "  {} columns, {} in time, {} in full",
        asked.columns, asked.columns_in_time, asked.columns_in_full
    ))
}

/// The question that is asked now, or the number of those that were.
fn standing(run: &RunBeside, asked: &[ToldQuestion]) -> Phrase {
    let now = run.phases.last().filter(|(_, phase)| run.is_active && phase.name == "question");
    match now {
        Some((_, phase)) => Phrase::new().muted("asks for ").answer(phase.detail.clone()),
        None => Phrase::new().answer(asked.len().to_string()).muted(" asked"),
    }
}
