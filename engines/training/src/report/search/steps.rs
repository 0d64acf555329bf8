//! Steps of a search: every new best plan and, at every count of nodes, the newest bound, with the figures of the search
//! at that time.

use super::{GapOf, Search, unit_of};
use lightbay_core::quantity::grouped;
use lightbay_core::report::text::number;
use lightbay_core::report::{Cell, Column, Phrase, SearchRow, Table, Tone, Unit};

/// Figures that a search may count; each figure gets a column if at least one row has the figure: name, heading and
/// priority.
const COUNTED: [(&str, &str, u8, Count); 4] = [
    ("open", "open", 4, |row| row.stats.open),
    ("pruned", "pruned", 6, |row| row.stats.pruned),
    ("cuts", "cuts", 5, |row| row.stats.cuts),
    ("lp_iterations", "LP it", 3, |row| row.stats.lp_iterations),
];

type Count = fn(&SearchRow) -> Option<u64>;

/// Table of the steps, newest first. `is_claimed`: no checker confirms the last bound.
pub(super) fn table(search: &Search<'_>, is_claimed: bool) -> Table {
    let mut rows = search.run.search.rows.clone();
    // The last step closes the search, so it has the final counts.
    if let (Some(last), Some(stats), false) =
        (rows.last_mut(), &search.run.search.stats, search.run.is_active)
    {
        last.stats.clone_from(stats);
    }
    // The curves have every bound; a step keeps its number when a newer bound of its source replaces it.
    rows.dedup_by(|next, kept| {
        let is_bound = next.what == "bound" && kept.what == "bound" && next.stats.done == kept.stats.done;
        let repeats = is_bound && source(search, next) == source(search, kept);
        if repeats {
            *kept = SearchRow { number: kept.number, ..next.clone() };
        }
        repeats
    });
    let used = |(.., of): &&(&str, &str, u8, Count)| rows.iter().any(|row| of(row).is_some());
    let counted: Vec<_> = COUNTED.iter().filter(used).collect();
    // Enough decimals to distinguish the rows of a short search.
    let decimals = match rows.last().map_or(0.0, |row| row.at_s) {
        at if at < 0.1 => 4,
        at if at < 10.0 => 3,
        _ => 1,
    };
    let mut columns = vec![Column::words("source", "source")];
    // If all steps come before the first node, the column of nodes is omitted.
    let counts_done = rows.iter().any(|row| row.stats.done > 0);
    columns.extend(counts_done.then(|| Column::counts("done", unit_of(search.run).to_owned())));
    columns.extend(
        counted.iter().map(|(name, label, priority, _)| Column::counts(*name, *label).priority(*priority)),
    );
    let (bound_head, bound_tone) =
        if is_claimed { ("claimed", Tone::Text) } else { ("best bound", Tone::Good) };
    columns.extend([
        Column::numbers("bound_s", bound_head, Unit::new("", 1.0, Some(6))).priority(1),
        Column::numbers("best_s", "best sol", Unit::new("", 1.0, Some(6))),
        Column::numbers("gap", "gap", Unit::PERCENT),
        Column::numbers("gap_of_comm", "of comm.", Unit::PERCENT.with_decimals(1)).priority(2),
        Column::numbers("at_s", "time", Unit::SECONDS.with_decimals(decimals)),
    ]);
    let mut table = Table::new(["step", "steps"], columns);
    for row in rows.iter().rev() {
        let gap = gap_of(search, row);
        let (bound, best) =
            if row.what == "bound" { (bound_tone, Tone::Muted) } else { (Tone::Muted, Tone::Answer) };
        let mut cells = vec![Cell::new(source(search, row)).tone(Tone::Muted)];
        cells.extend(counts_done.then(|| Cell::new(row.stats.done)));
        cells.extend(counted.iter().map(|(.., of)| Cell::new(of(row)).tone(Tone::Muted)));
        cells.extend([
            Cell::new(row.bound).tone(bound),
            Cell::new(row.best).tone(best),
            Cell::new(gap.map(|gap| gap.share)),
            Cell::new(gap.and_then(|gap| gap.of_comm)).tone(Tone::Muted),
            Cell::new(row.at_s).tone(Tone::Muted),
        ]);
        let shown = table.row(cells);
        shown.item = Some(row.number);
        shown.sentence = sentence(search, row, gap);
    }
    table
}

fn gap_of(search: &Search<'_>, row: &SearchRow) -> Option<GapOf> {
    row.best.zip(row.bound).map(|(best, bound)| search.gap(best, bound))
}

/// Source of a new best plan, or for a new bound, the phase of the run that proved it.
fn source(search: &Search<'_>, row: &SearchRow) -> String {
    if !row.source.is_empty() {
        return row.source.clone();
    }
    let phase = search.run.phases.iter().rfind(|(since_s, _)| *since_s <= row.at_s);
    match phase.map(|(_, phase)| phase.name.as_str()).filter(|name| *name != row.what) {
        Some(name) => format!("{}, {name}", row.what),
        None => row.what.to_owned(),
    }
}

/// A sentence on a step, without abbreviations.
fn sentence(search: &Search<'_>, row: &SearchRow, gap: Option<GapOf>) -> Phrase {
    let (what, value) = if row.what == "bound" { ("bound ", row.bound) } else { ("", row.best) };
    let value = value.map_or_else(|| "-".to_owned(), |value| number(value, Unit::SECONDS));
    let mut line = Phrase::new().answer(format!("> {what}{value} s"));
    if !row.source.is_empty() {
        line = line.text(format!("  from {}", row.source));
    }
    line = line.muted(format!("  at {:.1} s", row.at_s)).muted(format!(
        "  {} {}",
        unit_of(search.run),
        grouped(row.stats.done)
    ));
    if let Some(gap) = gap {
        line = line.text(format!("  gap {}", gap.words()));
        if let Some(second) = gap.second() {
            line = line.text(format!("  {second}"));
        }
    }
    for (_, label, _, of) in COUNTED {
        if let Some(value) = of(row) {
            line = line.muted(format!("  {label} {}", grouped(value)));
        }
    }
    line
}
