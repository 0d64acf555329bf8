//! Feasibility problems as series of a run, so that a screen can list them while the run is in progress.

use super::questions::{AskedQuestion, QuestionOutcome};

/// Figures of a feasibility problem: each is a separate series, with one point per problem.
const SERIES: [&str; 8] = [
    "question_epochs",
    "question_folded_by",
    "question_answer",
    "question_columns_in_full",
    "question_columns_in_time",
    "question_columns",
    "question_rows",
    "question_s",
];

/// Answers in the order of their numbers in the series.
const ANSWERS: [QuestionOutcome; 3] =
    [QuestionOutcome::Infeasible, QuestionOutcome::Feasible, QuestionOutcome::Unknown];

/// A feasibility problem as recorded in the series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuestionRecord {
    /// Number of epochs of the schedules in question.
    pub epochs: u32,
    /// Number of symmetries by which the model was reduced; 1 for the full model.
    pub folded_by: u32,
    /// Answer to the problem.
    pub answer: QuestionOutcome,
    /// Number of columns with all chunks in all epochs.
    pub columns_in_full: u64,
    /// Number of columns after pruning everything that cannot happen in time.
    pub columns_in_time: u64,
    /// Number of columns of the model that was solved.
    pub columns: u64,
    /// Number of rows of the model that was solved.
    pub rows: u64,
    /// Seconds until the answer.
    pub seconds: f64,
}

/// Returns the names of the series, each with the point that a problem adds to it.
pub fn points(asked: &AskedQuestion) -> impl Iterator<Item = (&'static str, f64)> {
    let program = &asked.program;
    let answer = ANSWERS.iter().position(|answer| *answer == asked.outcome).unwrap_or_default();
    let figures = [
        f64::from(program.epochs),
        program.folded_by as f64,
        answer as f64,
        program.whole.columns as f64,
        program.pruned.columns as f64,
        f64::from(program.size.columns),
        f64::from(program.size.rows),
        asked.seconds,
    ];
    SERIES.into_iter().zip(figures)
}

/// Returns the problems in the order in which they were solved; `values` returns the values of a series by its name.
pub fn questions(values: impl Fn(&str) -> Vec<f64>) -> Vec<QuestionRecord> {
    let series = SERIES.map(values);
    let told = |at: usize| {
        let figure = |which: usize| series[which].get(at).copied();
        Some(QuestionRecord {
            epochs: figure(0)? as u32,
            folded_by: figure(1)? as u32,
            answer: *ANSWERS.get(figure(2)? as usize)?,
            columns_in_full: figure(3)? as u64,
            columns_in_time: figure(4)? as u64,
            columns: figure(5)? as u64,
            rows: figure(6)? as u64,
            seconds: figure(7)?,
        })
    };
    (0..series[0].len()).map_while(told).collect()
}

#[cfg(test)]
mod tests {
    use super::super::solver::{BuiltProgram, ProgramExtent};
    use super::*;
    use lightbay_highs::model::Size;
    use std::collections::BTreeMap;

    #[test]
    fn what_is_told_can_be_read() {
        let program = BuiltProgram {
            epochs: 35,
            folded_by: 2,
            whole: ProgramExtent { columns: 5_000_000_000, rows: 7 },
            pruned: ProgramExtent { columns: 400, rows: 6 },
            size: Size { columns: 200, rows: 5, ..Size::default() },
        };
        let mut told: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for (outcome, seconds) in [(QuestionOutcome::Unknown, 0.5), (QuestionOutcome::Feasible, 1.5)] {
            for (name, value) in points(&AskedQuestion { program, seconds, outcome }) {
                told.entry(name).or_default().push(value);
            }
        }
        let read = questions(|name| told.get(name).cloned().unwrap_or_default());
        let known: Vec<_> = read.iter().map(|told| (told.answer, told.seconds)).collect();
        assert_eq!(known, [(QuestionOutcome::Unknown, 0.5), (QuestionOutcome::Feasible, 1.5)]);
        let first = read[0];
        assert_eq!((first.epochs, first.folded_by, first.columns_in_full), (35, 2, 5_000_000_000));
        assert_eq!((first.columns_in_time, first.columns, first.rows), (400, 200, 5));
        // A question whose points have not all come yet is not there yet.
        told.get_mut("question_s").unwrap().pop();
        assert_eq!(questions(|name| told.get(name).cloned().unwrap_or_default()).len(), 1);
    }
}
