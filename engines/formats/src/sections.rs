//! Sections of a report in other tools' files: Markdown for a review, CSV for spreadsheets and scripts.

use crate::csv::CsvTable;
use crate::markdown::{Document, text as safe};
use crate::value::Value as Field;
use lightbay_core::problem::printable;
use lightbay_core::report::text::{Extent, grid, places};
use lightbay_core::report::{Block, Body, Section, Value};
use lightbay_core::report::{Curves, Facts, Matrix, Spans, Table};

/// Writes a section into a document, below a heading of level 2.
pub fn markdown(document: &mut Document, section: &Section, extent: Extent) {
    document.heading(2, &safe(&section.title));
    for remark in &section.remarks {
        document.paragraph(&safe(remark));
    }
    for block in &section.blocks {
        if !block.title.is_empty() && block.title != section.title {
            document.heading(3, &safe(&block.title));
        }
        let grid = grid(&block.body, extent);
        if grid.rows.is_empty() {
            document.paragraph("There are none.");
            continue;
        }
        let heads: Vec<String> = match &block.body {
            Body::Facts(_) => vec!["figure".to_owned(), "value".to_owned()],
            _ => grid.heads.iter().map(|head| safe(head)).collect(),
        };
        let columns: Vec<String> = heads
            .iter()
            .zip(&grid.right)
            .map(|(head, right)| if *right { format!(">{head}") } else { head.clone() })
            .collect();
        let rows: Vec<Vec<String>> =
            grid.rows.iter().map(|row| row.iter().map(|cell| safe(cell)).collect()).collect();
        document.table(&columns.iter().map(String::as_str).collect::<Vec<_>>(), &rows);
        if grid.rows.len() < grid.total {
            let [_, several] = grid.of;
            document.paragraph(&format!(
                "{} of {} {several}; `--to csv` writes all of them.",
                grid.rows.len(),
                grid.total
            ));
        }
    }
}

/// Converts a block to comma-separated values: all rows, numbers in the base units of the column names.
pub fn csv(block: &Block) -> String {
    match &block.body {
        Body::Facts(facts) => of_facts(facts),
        Body::Table(table) => of_table(table),
        Body::Matrix(matrix) => of_matrix(matrix),
        Body::Curves(curves) => of_curves(curves),
        Body::Spans(spans) => of_spans(spans),
    }
}

fn field(value: &Value) -> Field {
    match value {
        Value::None => Field::Text(String::new()),
        Value::Text(text) => Field::Text(printable(text)),
        Value::Int(value) => Field::Int(*value),
        Value::Float(value) => Field::Float(*value),
        Value::Flag(value) => Field::Text(value.to_string()),
    }
}

fn of_facts(facts: &Facts) -> String {
    let mut table = CsvTable::new(["figure", "value", "note"]);
    for fact in &facts.facts {
        let notes: Vec<&str> = [fact.cell.note.as_str(), fact.sentence.as_str()]
            .into_iter()
            .filter(|note| !note.is_empty())
            .collect();
        table.row([Field::from(fact.name), field(&fact.cell.value), Field::from(notes.join("; "))]);
    }
    table.into_text()
}

fn of_table(table: &Table) -> String {
    let mut file = CsvTable::new(table.columns.iter().map(|column| column.name.as_str()));
    for row in &table.rows {
        file.row(row.cells.iter().map(|cell| field(&cell.value)));
    }
    file.into_text()
}

fn of_matrix(matrix: &Matrix) -> String {
    let mut columns = vec!["row"];
    columns.extend(matrix.columns.iter().map(String::as_str));
    let mut file = CsvTable::new(columns);
    for (name, cells) in matrix.rows.iter().zip(matrix.cells.chunks(matrix.columns.len().max(1))) {
        file.row(
            std::iter::once(Field::from(name.as_str())).chain(cells.iter().map(|cell| field(&cell.value))),
        );
    }
    file.into_text()
}

fn of_curves(curves: &Curves) -> String {
    let mut columns = vec![curves.axis];
    columns.extend(curves.curves.iter().map(|curve| curve.name.as_str()));
    let mut file = CsvTable::new(columns);
    for at in places(curves) {
        let values = curves.curves.iter().map(|curve| {
            let point = curve.points.iter().find(|point| point.at == at);
            point.map_or_else(|| Field::Text(String::new()), |point| Field::Float(point.value))
        });
        file.row(std::iter::once(Field::Float(at)).chain(values));
    }
    file.into_text()
}

fn of_spans(spans: &Spans) -> String {
    let mut file = CsvTable::new(["lane", "name", "start_s", "end_s"]);
    for lane in &spans.lanes {
        for span in &lane.spans {
            file.row([
                Field::from(lane.name.as_str()),
                Field::from(span.name.as_str()),
                Field::Float(span.start_s),
                Field::Float(span.end_s),
            ]);
        }
    }
    file.into_text()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightbay_core::report::{Cell, Column, Unit};

    fn section() -> Section {
        let columns =
            vec![Column::words("task", "task"), Column::numbers("start_s", "start", Unit::MILLISECONDS)];
        let mut table = Table::new(["task", "tasks"], columns).overview(1);
        table.row(vec![Cell::new("a|b"), Cell::new(0.0125)]);
        table.row(vec![Cell::new("c"), Cell::none()]);
        Section::new("Schedule", table).remark("Rates are planned.")
    }

    #[test]
    fn a_document_has_what_an_overview_shows() {
        let mut document = Document::new();
        markdown(&mut document, &section(), Extent::Overview);
        assert_eq!(
            document.into_text(),
            "## Schedule\n\nRates are planned.\n\n| task | start ms |\n|---|---:|\n| a\\|b | 12.500 |\n\n\
             1 of 2 tasks; `--to csv` writes all of them.\n"
        );
    }

    #[test]
    fn a_table_has_every_row_in_base_units() {
        assert_eq!(csv(&section().blocks[0]), "task,start_s\na|b,0.0125\nc,\n");
    }
}
