//! Three or more plans side by side: what differs, then the figures with their change against the first plan.

use super::rows::{figure_label_of, shown_in, without_empty_parts};
use crate::view::figures;
use lightbay_core::metric::Role;
use lightbay_core::param::ParamValue;
use lightbay_sessions::compare::{CompareTable as Sheet, Figure, Scope, Verdict};
use lightbay_widgets::{Column, Cut, Piece, TableRow, Tone, number};

/// Minimum number of columns of the names of settings and figures.
const NAME: u16 = 16;

/// Number of columns of a value, and of a change in per cent.
const VALUE: (u16, u16) = (12, 8);

/// Returns the number of plans that fit `width` columns; at least two.
pub fn fitting(width: u16, plans: usize) -> usize {
    let room = width.saturating_sub(NAME + VALUE.0 + 1);
    let others = usize::from(room / (VALUE.0 + VALUE.1 + 2));
    plans.min(others.max(1) + 1)
}

/// Returns the columns for `plans` plans; the first is the reference.
pub fn columns(heads: &[String]) -> Vec<Column> {
    let mut columns = vec![Column::left("", NAME).grow().cut(Cut::End)];
    for (at, head) in heads.iter().enumerate() {
        columns.push(Column::right(head.clone(), VALUE.0).cut(Cut::Middle).gap(1));
        if at > 0 {
            columns.push(Column::right("%", VALUE.1).gap(1));
        }
    }
    columns
}

/// Returns the rows for the first `plans` plans. With `differing`, figures that are equal in all of them are left out.
pub fn table(sheet: &Sheet, figures: &[Figure], plans: usize, differing: bool) -> Vec<TableRow> {
    let mut rows = vec![TableRow::heading("what differs")];
    let value = |value: Option<&Option<ParamValue>>| {
        value.and_then(Option::as_ref).map_or_else(|| number::UNKNOWN.to_owned(), ToString::to_string)
    };
    for scope in [Scope::Plan, Scope::Parameter, Scope::Scenario, Scope::Origin] {
        for setting in sheet.settings.iter().filter(|setting| setting.scope == scope) {
            // Parameters that only some methods have say nothing about the other plans.
            let present = setting.values.iter().take(plans).flatten().count();
            if scope == Scope::Parameter && present < plans {
                continue;
            }
            let mut cells = vec![Piece::text(format!(" {}", setting.name))];
            for at in 0..plans {
                cells.push(Piece::text(value(setting.values.get(at))));
                if at > 0 {
                    cells.push(Piece::text(""));
                }
            }
            rows.push(TableRow::fixed(cells));
        }
    }
    /// Tells whether figures of a role belong to a part.
    type Belongs = fn(Role) -> bool;
    let parts: [(&str, Belongs); 2] =
        [("result", Role::is_judged), ("proof, inputs and effort: not judged", |role| !role.is_judged())];
    let objective = figures.first().map_or("", |figure| figure.name.as_str());
    for (heading, belongs) in parts {
        rows.extend([TableRow::gap(), TableRow::heading(heading)]);
        let of_part = figures.iter().filter(|figure| belongs(figure.role));
        let wanted = of_part.filter(|figure| !differing || differs(figure, plans));
        rows.extend(wanted.map(|figure| row(&sheet.kind, figure, objective, plans)));
    }
    let word = |at: usize| sheet.proofs.get(at).map_or("", |proof| proof.word);
    let mut cells = vec![Piece::text(" bound is")];
    for at in 0..plans {
        cells.push(if at == 0 { Piece::muted(word(at)) } else { Piece::answer(word(at)) });
        if at > 0 {
            cells.push(Piece::text(""));
        }
    }
    if !differing || (1..plans).any(|at| word(at) != word(0)) {
        rows.push(TableRow::fixed(cells));
    }
    if differing {
        without_empty_parts(&mut rows);
    }
    rows
}

/// Returns `true` if a figure differs in one of the first `plans` plans.
pub fn differs(figure: &Figure, plans: usize) -> bool {
    let value = |at: usize| figure.values.get(at).copied().flatten();
    (1..plans).any(|at| match figure.changes.get(at - 1).copied().flatten() {
        Some(change) => change.verdict != Verdict::Tie,
        None => value(at) != value(0),
    })
}

fn row(kind: &str, figure: &Figure, objective: &str, plans: usize) -> TableRow {
    let (label, unit) = figure_label_of(kind, &figure.name, objective);
    let text = |at: usize| {
        let value = figure.values.get(at).copied().flatten();
        value.map_or_else(|| number::UNKNOWN.to_owned(), |value| shown_in(figure, unit, value))
    };
    let mut cells = vec![Piece::text(format!(" {label}")), Piece::muted(text(0))];
    for at in 1..plans {
        cells.push(Piece::answer(text(at)));
        cells.push(match figure.changes.get(at - 1).copied().flatten() {
            None => Piece::text(""),
            Some(change) if change.verdict == Verdict::Tie => Piece::new("tie", Tone::Muted),
            Some(change) => {
                let percent = change.percent.map_or_else(String::new, |value| figures::percent(value).into());
                Piece::new(percent, figures::tone(change.verdict)).bold()
            }
        });
    }
    TableRow::fixed(cells)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightbay_core::kind::Sense;
    use lightbay_sessions::compare::{FigureForm, TOLERANCE, change};

    fn figure(values: [f64; 3]) -> Figure {
        let changes =
            values[1..].iter().map(|value| Some(change(values[0], *value, Some(Sense::Min), TOLERANCE)));
        Figure {
            label: String::new(),
            form: FigureForm::Plain,
            name: "makespan_s".to_owned(),
            role: Role::Result,
            sense: Some(Sense::Min),
            values: values.map(Some).to_vec(),
            changes: changes.collect(),
        }
    }

    fn sheet(figures: Vec<Figure>) -> Sheet {
        Sheet {
            kind: "training".to_owned(),
            labels: ["1 a", "2 b", "3 c"].map(str::to_owned).to_vec(),
            not_ranked: Vec::new(),
            settings: Vec::new(),
            proofs: Vec::new(),
            varied: Vec::new(),
            tolerance: TOLERANCE,
            figures,
        }
    }

    #[test]
    fn as_many_plans_as_fit_are_side_by_side() {
        assert_eq!((fitting(86, 3), fitting(86, 9), fitting(74, 3), fitting(116, 9)), (3, 3, 3, 4));
        assert_eq!(fitting(30, 5), 2, "a pair always has room");
    }

    #[test]
    fn equal_figures_are_left_out_on_request() {
        let figures = [figure([2.0, 2.0, 1.0]), figure([2.0, 2.0, 2.0])];
        let sheet = sheet(figures.to_vec());
        let texts = |plans, differing| -> Vec<String> {
            let rows = table(&sheet, &figures, plans, differing).into_iter();
            rows.filter_map(|row| Some(row.cells.first()?.text.trim().to_owned())).collect()
        };
        let all = [
            "what differs",
            "result",
            "makespan s",
            "makespan s",
            "proof, inputs and effort: not judged",
            "bound is",
        ];
        let own: Vec<String> = texts(3, false).into_iter().filter(|text| !text.is_empty()).collect();
        assert_eq!(own, all);
        assert_eq!(texts(3, true), ["result", "makespan s"]);
        assert_eq!(texts(2, true), ["nothing differs"], "the first two plans are equal");
    }
}
