//! A section together with the same section of a baseline plan: old values next to new ones, and old curves behind new
//! ones.

use lightbay_core::report::{
    About, Body, Cell, Column, Curve, Curves, Facts, Lane, Matrix, Phrase, Row, Section, Spans, Table, Tone,
    Unit, text,
};
use std::collections::BTreeMap;

/// Maximum number of lanes that are repeated for the baseline; more lanes would leave no room for the plan.
const LANES: usize = 6;

/// Maximum number of curves that are repeated for the baseline.
const CURVES: usize = 4;

/// First item of the cells of a matrix that has no items of its own; it differs from the items of all kinds.
const FIRST_ITEM: u32 = 1 << 19;

/// Adds the values of the same section of a baseline, which is called `name`, where they differ, and says after the title
/// whether any does.
#[must_use]
pub fn compared(mut section: Section, baseline: &Section, name: &str) -> Section {
    let mut differs = false;
    for block in &mut section.blocks {
        let old = baseline.blocks.iter().find(|old| old.name == block.name);
        let Some(old) = old else { continue };
        differs |= match (&mut block.body, &old.body) {
            (Body::Facts(facts), Body::Facts(old)) => compare_facts(facts, old, name),
            (Body::Table(table), Body::Table(old)) => compare_tables(table, old, name),
            (Body::Matrix(matrix), Body::Matrix(old)) => compare_matrices(matrix, old, name),
            (Body::Curves(curves), Body::Curves(old)) => compare_curves(curves, old, name),
            (Body::Spans(spans), Body::Spans(old)) => compare_spans(spans, old, name),
            _ => false,
        };
    }
    let words = if differs { format!("  against {name}") } else { format!("  as in {name}") };
    section.context = section.context.muted(words);
    section
}

/// Returns `true` if two values look different in a unit.
fn differ(new: &Cell, old: &Cell, unit: Unit) -> bool {
    text::in_column(new, unit) != text::in_column(old, unit)
}

/// Adds the old value to the sentence of every fact that differs.
fn compare_facts(facts: &mut Facts, old: &Facts, name: &str) -> bool {
    let mut differs = false;
    for fact in &mut facts.facts {
        let old = old.facts.iter().find(|old| old.name == fact.name && old.label == fact.label);
        let Some(old) = old.filter(|old| differ(&fact.cell, &old.cell, fact.unit)) else { continue };
        differs = true;
        let was = format!("{name}: {}", text::cell(&old.cell, fact.unit));
        fact.sentence = if fact.sentence.is_empty() { was } else { format!("{was}; {}", fact.sentence) };
    }
    differs
}

/// Returns the name by which a row of one table is found in another one: its item, else its first words.
fn key(row: &Row, has_items: bool) -> String {
    match row.item.filter(|_| has_items) {
        Some(item) => item.to_string(),
        None => row.cells.first().map_or_else(String::new, |cell| text::in_column(cell, Unit::NUMBER)),
    }
}

/// Adds a column with the old values after the most important column that differs: of the bars, else of the order of the rows,
/// else the first one.
fn compare_tables(table: &mut Table, old: &Table, name: &str) -> bool {
    if table.newest_last || table.of_plans || table.columns.len() != old.columns.len() {
        return false;
    }
    let has_items = table.rows.iter().chain(&old.rows).all(|row| row.item.is_some());
    let mut known: BTreeMap<String, Option<&Row>> = BTreeMap::new();
    for row in &old.rows {
        // Rows with the same name cannot be told apart.
        known.entry(key(row, has_items)).and_modify(|row| *row = None).or_insert(Some(row));
    }
    let pairs: Vec<Option<&Row>> =
        table.rows.iter().map(|row| known.get(&key(row, has_items)).copied().flatten()).collect();
    let differs = |column: usize| {
        let unit = table.columns[column].unit;
        table.columns[column].right
            && table.rows.iter().zip(&pairs).any(|(row, old)| {
                let cells = row.cells.get(column).zip(old.and_then(|old| old.cells.get(column)));
                cells.is_some_and(|(new, old)| differ(new, old, unit))
            })
    };
    let first = table.bar.into_iter().chain(table.rank).chain(0..table.columns.len());
    let Some(column) = first.into_iter().find(|column| differs(*column)) else { return false };
    let shown = table.columns[column].clone();
    // The old values follow their column, which names them.
    let place = column + 1;
    let later = |index: usize| if index >= place { index + 1 } else { index };
    table.bar = table.bar.map(later);
    table.rank = table.rank.map(later);
    for index in table.orders.iter_mut().flat_map(|order| &mut order.columns) {
        *index = later(*index);
    }
    let added = Column { name: format!("{}_baseline", shown.name), label: name.to_owned(), ..shown.clone() };
    table.columns.insert(place, added);
    for (row, old) in table.rows.iter_mut().zip(pairs) {
        let cell = old.and_then(|old| old.cells.get(column)).cloned();
        let changed =
            cell.as_ref().zip(row.cells.get(column)).filter(|(old, new)| differ(new, old, shown.unit));
        if let Some((old, _)) = changed.filter(|_| !row.sentence.is_empty()) {
            let was = text::cell(old, shown.unit);
            let sentence = std::mem::take(&mut row.sentence);
            row.sentence = sentence.muted(format!("  {name} {} ", shown.label)).text(was);
        }
        row.cells.resize(table.columns.len() - 1, Cell::none());
        row.cells.insert(place, cell.map_or_else(Cell::none, |old| Cell { tone: Tone::Muted, ..old }));
    }
    true
}

/// Marks the cells of a matrix that differ, and adds the old value to their sentences.
fn compare_matrices(matrix: &mut Matrix, old: &Matrix, name: &str) -> bool {
    if matrix.rows != old.rows || matrix.columns != old.columns || !matrix.signs.is_empty() {
        return false;
    }
    let changed: Vec<usize> = (0..matrix.cells.len())
        .filter(|at| old.cells.get(*at).is_some_and(|old| differ(&matrix.cells[*at], old, matrix.unit)))
        .collect();
    if changed.is_empty() {
        return false;
    }
    if matrix.about.is_empty() {
        // Only cells with items can be selected.
        let about = |at: usize| About { item: Some(FIRST_ITEM + at as u32), ..About::default() };
        matrix.about = (0..matrix.cells.len()).map(about).collect();
    }
    let columns = matrix.columns.len().max(1);
    for at in changed {
        let was = text::cell(&old.cells[at], matrix.unit);
        let Some(about) = matrix.about.get_mut(at) else { continue };
        if about.sentence.is_empty() {
            let names = format!("> {} x {}", matrix.rows[at / columns], matrix.columns[at % columns]);
            let value = text::cell(&matrix.cells[at], matrix.unit);
            about.sentence = Phrase::new().answer(names).text(format!("  {value}"));
        }
        let sentence = std::mem::take(&mut about.sentence);
        about.sentence = sentence.muted(format!("  {name} ")).text(was);
        if matrix.cells[at].tone == Tone::Text {
            matrix.cells[at].tone = Tone::Changed;
        }
    }
    true
}

/// Adds the old curves behind the new ones.
fn compare_curves(curves: &mut Curves, old: &Curves, name: &str) -> bool {
    let is_old = |curve: &&Curve| {
        let new = curves.curves.iter().find(|new| new.name == curve.name);
        new.is_some_and(|new| new.unit == curve.unit && new.points != curve.points)
            && !curve.points.is_empty()
    };
    let behind = |curve: &Curve| Curve {
        name: format!("{}_baseline", curve.name),
        label: format!("{name} {}", curve.label),
        tone: Tone::Muted,
        ..curve.clone()
    };
    let added: Vec<Curve> = old.curves.iter().filter(is_old).take(CURVES).map(behind).collect();
    let differs = !added.is_empty();
    curves.curves.extend(added);
    differs
}

/// Adds the old lanes below the new ones.
fn compare_spans(spans: &mut Spans, old: &Spans, name: &str) -> bool {
    let times = |lane: &Lane| lane.spans.iter().map(|span| (span.start_s, span.end_s)).collect::<Vec<_>>();
    if spans.lanes.len() == old.lanes.len()
        && spans
            .lanes
            .iter()
            .zip(&old.lanes)
            .all(|(new, old)| new.name == old.name && times(new) == times(old))
    {
        return false;
    }
    if old.lanes.len() <= LANES {
        let behind = |lane: &Lane| {
            let mut lane = Lane { name: format!("{name} {}", lane.name), tone: Tone::Muted, ..lane.clone() };
            for span in &mut lane.spans {
                // Items are numbers of the plan's own intervals.
                (span.item, span.tone) = (None, Tone::Muted);
            }
            lane
        };
        spans.lanes.extend(old.lanes.iter().map(behind));
        spans.end_s = spans.end_s.max(old.end_s);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightbay_core::report::{Point, Span};

    fn table(loads: &[(&str, u32)]) -> Table {
        let columns = vec![Column::words("link", "link"), Column::counts("load", "load")];
        let mut table = Table::new(["link", "links"], columns).bar(1);
        for (link, load) in loads {
            table.row(vec![Cell::new(*link), Cell::new(*load)]);
        }
        table
    }

    fn section(body: impl Into<Body>) -> Section {
        Section::new("Links", body)
    }

    #[test]
    fn rows_get_the_value_of_the_row_with_the_same_name() {
        let old = section(table(&[("b", 5), ("a", 7), ("c", 1), ("c", 2)]));
        let new = section(table(&[("a", 7), ("b", 6), ("c", 1), ("d", 4)]));
        let new = compared(new, &old, "B 3");
        let Body::Table(table) = &new.blocks[0].body else { panic!("a table") };
        assert_eq!((table.columns[2].label.as_str(), table.bar), ("B 3", Some(1)));
        let values: Vec<Option<f64>> = table.rows.iter().map(|row| row.cells[2].value.as_f64()).collect();
        // Two old rows are called c, so none of them is that of the new one.
        assert_eq!(values, [Some(7.0), Some(5.0), None, None]);
        assert_eq!(new.context.to_string(), "  against B 3");
    }

    #[test]
    fn equal_sections_are_left_alone() {
        let old = section(table(&[("a", 7)]));
        let same = compared(old.clone(), &old, "B 3");
        assert_eq!((same.blocks, same.context.to_string()), (old.blocks, "  as in B 3".to_owned()));
        let mut facts = Facts::new();
        facts.number("load", "load", Unit::COUNT, 3_u32);
        let old = section(facts);
        assert_eq!(compared(old.clone(), &old, "B 3").blocks, old.blocks);
    }

    #[test]
    fn facts_say_what_they_were() {
        let of = |load: f64| {
            let mut facts = Facts::new();
            facts.number("load", "load", Unit::GBPS, load).sentence("of the hottest link");
            section(facts)
        };
        let new = compared(of(3.0), &of(4.0), "B 3");
        let Body::Facts(facts) = &new.blocks[0].body else { panic!("facts") };
        assert_eq!(facts.facts[0].sentence, "B 3: 4 Gb/s; of the hottest link");
    }

    #[test]
    fn old_curves_and_lanes_follow_the_new_ones() {
        let of = |value: f64| {
            let points = vec![Point { at: 0.0, value }, Point { at: 1.0, value }];
            let curve = Curve {
                name: "load".to_owned(),
                label: "load".to_owned(),
                unit: Unit::COUNT,
                points,
                tone: Tone::Answer,
                steps: false,
            };
            section(Curves { curves: vec![curve], ..Curves::default() })
        };
        let new = compared(of(1.0), &of(2.0), "B 3");
        let Body::Curves(curves) = &new.blocks[0].body else { panic!("curves") };
        let labels: Vec<&str> = curves.curves.iter().map(|curve| curve.label.as_str()).collect();
        assert_eq!((labels, curves.curves[1].tone), (vec!["load", "B 3 load"], Tone::Muted));
        let of = |end_s: f64| {
            let span = Span { end_s, item: Some(1), ..Default::default() };
            let lane = Lane { name: "link".to_owned(), spans: vec![span], ..Lane::default() };
            section(Spans { lanes: vec![lane], end_s, ..Spans::default() })
        };
        let new = compared(of(1.0), &of(2.0), "B 3");
        let Body::Spans(spans) = &new.blocks[0].body else { panic!("spans") };
        assert_eq!((spans.lanes[1].name.as_str(), spans.lanes[1].spans[0].item), ("B 3 link", None));
        assert_eq!(spans.end_s, 2.0);
    }

    #[test]
    fn changed_cells_are_marked_and_explained() {
        let of = |load: u32| {
            let name = |text: &str| vec![text.to_owned()];
            section(Matrix {
                unit: Unit::COUNT,
                rows: name("a"),
                columns: name("b"),
                cells: vec![Cell::new(load)],
                ..Matrix::default()
            })
        };
        let new = compared(of(3), &of(4), "B 3");
        let Body::Matrix(matrix) = &new.blocks[0].body else { panic!("a matrix") };
        assert_eq!(matrix.cells[0].tone, Tone::Changed);
        assert_eq!(matrix.about[0].sentence.to_string(), "> a x b  3  B 3 4");
        assert!(matrix.about[0].item.is_some(), "the cell can still be selected");
    }
}
