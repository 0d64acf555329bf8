//! Rows of the comparison: settings in which the plans differ, figures with signed difference and verdict.

use super::several;
use crate::view::figures::{self, Room, in_unit};
use lightbay_core::metric::Role;
use lightbay_core::param::ParamValue;
use lightbay_core::report::Unit;
use lightbay_engines::figure_label;
use lightbay_sessions::compare::{CompareTable as Sheet, Figure, FigureForm, Scope, Verdict};
use lightbay_widgets::{Piece, RowKind, TableRow, Tone, number};

/// Returns the figures in reading order: outcomes first, then bounds, inputs and effort; within each group in the order
/// in which the kind declares them.
pub fn figures(sheet: &Sheet) -> Vec<Figure> {
    let part = |role: Role| match role {
        Role::Result | Role::Restated => 0,
        Role::Bound => 1,
        Role::Input => 2,
        Role::Effort => 3,
    };
    let mut figures: Vec<Figure> = sheet.figures.clone();
    // The first figure is the objective and stays first.
    if let Some(rest) = figures.get_mut(1..) {
        rest.sort_by_key(|figure| part(figure.role));
    }
    figures
}

/// Returns the verdict in words, such as `6 better on 6 of 7, tie on 1`: counts the outcomes with a known direction of
/// improvement. Bounds, inputs and effort do not count, and each outcome counts once; a plan for a different problem is
/// not ranked.
pub fn verdict(plan: u64, sheet: &Sheet, figures: &[Figure]) -> String {
    if !sheet.not_ranked.is_empty() {
        return "not ranked: different problem".to_owned();
    }
    let judged = figures
        .iter()
        .filter(|figure| figure.sense.is_some() && figure.role.counts())
        .filter_map(|figure| figure.changes.first().copied().flatten());
    let (mut better, mut worse, mut tie) = (0, 0, 0);
    for change in judged {
        match change.verdict {
            Verdict::Better => better += 1,
            Verdict::Worse => worse += 1,
            Verdict::Tie => tie += 1,
            Verdict::Different => {}
        }
    }
    let all = better + worse + tie;
    let mut parts = vec![format!("{plan} better on {better} of {all}")];
    if worse > 0 {
        parts.push(format!("worse on {worse}"));
    }
    if tie > 0 {
        parts.push(format!("tie on {tie}"));
    }
    parts.join(", ")
}

/// Heading of the figures that are not judged.
pub const NOT_JUDGED: &str = "proof, inputs and effort: not judged";

/// A part of the comparison: its heading, and the roles of its figures.
type ComparePart = (&'static str, fn(Role) -> bool);

/// Returns the rows of the comparison.
pub fn table(sheet: &Sheet, figures: &[Figure], differing: bool) -> Vec<TableRow> {
    let mut rows = vec![TableRow::heading("what differs")];
    let text = |value: Option<&Option<ParamValue>>| {
        value.and_then(Option::as_ref).map_or_else(|| number::UNKNOWN.to_owned(), ToString::to_string)
    };
    for scope in [Scope::Plan, Scope::Parameter, Scope::Scenario, Scope::Origin] {
        let mut any = false;
        let mut own = [0_usize; 2];
        for setting in sheet.settings.iter().filter(|setting| setting.scope == scope) {
            any = true;
            // Parameters of one method are not relevant for another method, so only their number is shown.
            if let (Scope::Parameter, [old, new]) = (scope, setting.values.as_slice())
                && old.is_some() != new.is_some()
            {
                own[usize::from(old.is_some())] += 1;
                continue;
            }
            rows.push(TableRow::fixed(vec![
                Piece::text(format!(" {}", setting.name)),
                Piece::answer(text(setting.values.get(1))),
                Piece::muted(text(setting.values.first())),
            ]));
        }
        if own != [0, 0] {
            let count =
                |count: usize| Piece::muted(if count == 0 { "none".to_owned() } else { count.to_string() });
            rows.push(TableRow::fixed(vec![
                Piece::muted(" options of one method only"),
                count(own[0]),
                count(own[1]),
            ]));
        }
        if !any && !differing {
            let name = match scope {
                Scope::Plan => " method, status, seed",
                Scope::Parameter => " parameters",
                Scope::Scenario => " scenario",
                Scope::Origin => continue,
            };
            rows.push(TableRow::fixed(vec![Piece::muted(name), Piece::muted("same"), Piece::muted("same")]));
        }
    }
    let objective = figures.first().map_or("", |figure| figure.name.as_str());
    let parts: [ComparePart; 2] = [("result", Role::is_judged), (NOT_JUDGED, |role| !role.is_judged())];
    for (heading, belongs) in parts {
        rows.extend([TableRow::gap(), TableRow::heading(heading)]);
        rows.extend(
            figures
                .iter()
                .filter(|figure| belongs(figure.role) && (!differing || several::differs(figure, 2)))
                .map(|figure| row(&sheet.kind, figure, objective)),
        );
    }
    let proof = |index: usize| sheet.proofs.get(index).map_or("", |proof| proof.word);
    if !differing || proof(0) != proof(1) {
        rows.push(TableRow::fixed(vec![
            Piece::text(" bound is"),
            Piece::answer(proof(1)),
            Piece::muted(proof(0)),
        ]));
    }
    if differing {
        without_empty_parts(&mut rows);
    }
    rows
}

/// Removes headings without rows, and says so if nothing is left.
pub fn without_empty_parts(rows: &mut Vec<TableRow>) {
    let parts = rows.split(|row| row.kind == RowKind::Heading).skip(1);
    let headings = rows.iter().filter(|row| row.kind == RowKind::Heading);
    let filled = headings.zip(parts).filter_map(|(heading, part)| {
        let part: Vec<TableRow> = part.iter().filter(|row| !row.cells.is_empty()).cloned().collect();
        (!part.is_empty()).then(|| (heading.clone(), part))
    });
    let mut kept: Vec<TableRow> = Vec::new();
    for (heading, part) in filled {
        if !kept.is_empty() {
            kept.push(TableRow::gap());
        }
        kept.push(heading);
        kept.extend(part);
    }
    if kept.is_empty() {
        kept.push(TableRow::fixed(vec![Piece::muted(" nothing differs")]));
    }
    *rows = kept;
}

/// Returns the label of a figure with the symbol of its unit, and the unit.
pub fn figure_label_of(kind: &str, name: &str, objective: &str) -> (String, Unit) {
    let (label, unit) = match name {
        "gap" => ("gap".to_owned(), Unit::PERCENT),
        "elapsed_s" => ("elapsed".to_owned(), Unit::SECONDS.with_decimals(3)),
        "bound" => {
            let unit = lightbay_engines::figure(kind, objective).map_or(Unit::NUMBER, |figure| figure.unit);
            ("bound".to_owned(), unit)
        }
        name => {
            let unit = lightbay_engines::figure(kind, name).map_or(Unit::NUMBER, |figure| figure.unit);
            (figure_label(kind, name), unit)
        }
    };
    (format!("{label} {}", unit.symbol).trim_end().to_owned(), unit)
}

/// Formats a value of a figure. All values of a figure have as many decimals as the value with the most decimals.
pub fn shown_in(figure: &Figure, unit: Unit, value: f64) -> String {
    let unit = match &figure.form {
        FigureForm::Bound(objective) => unit.bounding(objective.sense),
        _ => unit,
    };
    let fraction = figure.values.iter().flatten().any(|value| value.fract() != 0.0);
    if unit.decimals.is_none() && fraction && value.abs() >= 0.1 {
        number::fixed(value, 4).into()
    } else {
        in_unit(value, unit, Room::Long).into()
    }
}

fn row(kind: &str, figure: &Figure, objective: &str) -> TableRow {
    let (label, unit) = figure_label_of(kind, &figure.name, objective);
    let shown = |value: f64| shown_in(figure, unit, value);
    let value = |index: usize| {
        let value = figure.values.get(index).copied().flatten();
        value.map_or_else(|| number::UNKNOWN.to_owned(), shown)
    };
    let mut cells = vec![Piece::text(format!(" {label}")), Piece::answer(value(1)), Piece::muted(value(0))];
    if let Some(change) = figure.changes.first().copied().flatten() {
        // Only figures that the verdict counts have its colours.
        let tone = if figure.role.counts() { figures::tone(change.verdict) } else { Tone::Muted };
        if change.verdict == Verdict::Tie {
            cells.extend([Piece::new("0", Tone::Muted), Piece::new("tie", Tone::Muted)]);
        } else {
            let difference = shown(change.difference);
            let sign = if change.difference > 0.0 { "+" } else { "" };
            cells.push(Piece::new(format!("{sign}{difference}"), tone).bold());
            cells.push(
                Piece::new(
                    change.percent.map_or_else(String::new, |value| figures::percent(value).into()),
                    tone,
                )
                .bold(),
            );
        }
    }
    TableRow::fixed(cells)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightbay_core::kind::Sense;
    use lightbay_sessions::compare::{NotRanked, TOLERANCE, change};

    fn figure(name: &str, role: Role, old: f64, new: f64, sense: Option<Sense>) -> Figure {
        let changes = vec![Some(change(old, new, sense, TOLERANCE))];
        Figure {
            name: name.to_owned(),
            label: String::new(),
            form: FigureForm::Plain,
            role,
            sense,
            values: vec![Some(old), Some(new)],
            changes,
        }
    }

    fn sheet(not_ranked: Vec<NotRanked>) -> Sheet {
        Sheet {
            kind: "training".to_owned(),
            labels: vec!["1 a".to_owned(), "6 b".to_owned()],
            not_ranked,
            settings: Vec::new(),
            figures: Vec::new(),
            proofs: Vec::new(),
            varied: Vec::new(),
            tolerance: TOLERANCE,
        }
    }

    #[test]
    fn the_verdict_counts_outcomes_once() {
        let figures = [
            figure("makespan_s", Role::Result, 12.871, 12.83, Some(Sense::Min)),
            figure("nct", Role::Restated, 1.0787, 1.0691, Some(Sense::Min)),
            figure("total_ports", Role::Result, 42.0, 48.0, Some(Sense::Min)),
            figure("diameter", Role::Result, 5.0, 5.0, Some(Sense::Min)),
            figure("gap", Role::Bound, 0.1, 0.05, None),
            figure("ideal_makespan_s", Role::Input, 12.8, 12.7, None),
            figure("elapsed_s", Role::Effort, 3.0, 11.0, None),
        ];
        assert_eq!(verdict(6, &sheet(Vec::new()), &figures), "6 better on 1 of 3, worse on 1, tie on 1");
        let other = NotRanked {
            label: "6 b".to_owned(),
            method: "b".to_owned(),
            because: "it moves nothing".to_owned(),
        };
        assert_eq!(verdict(6, &sheet(vec![other]), &figures), "not ranked: different problem");
    }
}
