//! Sections as JSON: an object of figures, or an array of rows. Numbers are in the base units of their names.

use super::curves::Curves;
use super::section::{Block, Body, Facts, Matrix, Section};
use super::spans::Spans;
use super::table::{LoadSpan, Row, Table};
use super::value::Value;
use serde_json::{Map, Value as Json, json};

/// Converts a section to JSON: its only block, or an object of its blocks by name. `remarks` are added if there are any
/// and the section is an object.
pub fn section(section: &Section) -> Json {
    let written: Vec<&Block> = section.blocks.iter().filter(|block| !block.on_screens).collect();
    let mut whole = match written.as_slice() {
        [only] => body(&only.body),
        blocks => {
            let named = |block: &&Block| (block.name.to_owned(), body(&block.body));
            Json::Object(blocks.iter().map(named).collect::<Map<String, Json>>())
        }
    };
    if let Json::Object(object) = &mut whole
        && !section.remarks.is_empty()
    {
        object.insert("remarks".to_owned(), json!(section.remarks));
    }
    whole
}

/// Converts a value to JSON; numbers that are not finite become `null`.
pub fn value(value: &Value) -> Json {
    match value {
        Value::None => Json::Null,
        Value::Text(text) => json!(text),
        Value::Int(value) => json!(value),
        Value::Float(value) => json!(value),
        Value::Flag(value) => json!(value),
    }
}

fn body(body: &Body) -> Json {
    match body {
        Body::Facts(facts) => of_facts(facts),
        Body::Table(table) => of_table(table),
        Body::Matrix(matrix) => of_matrix(matrix),
        Body::Curves(curves) => of_curves(curves),
        Body::Spans(spans) => of_spans(spans),
    }
}

fn of_facts(facts: &Facts) -> Json {
    Json::Object(facts.facts.iter().map(|fact| (fact.name.to_owned(), value(&fact.cell.value))).collect())
}

fn of_table(table: &Table) -> Json {
    let row = |row: &Row| {
        let cells = table.columns.iter().zip(&row.cells);
        let mut object: Map<String, Json> =
            cells.map(|(column, cell)| (column.name.clone(), value(&cell.value))).collect();
        if let Some(loads) = &table.loads {
            let load = |load: &LoadSpan| json!([load.start_s, load.end_s, load.share]);
            object.insert(loads.name.to_owned(), row.load.iter().map(load).collect());
        }
        Json::Object(object)
    };
    table.rows.iter().map(row).collect()
}

fn of_matrix(matrix: &Matrix) -> Json {
    let width = matrix.columns.len().max(1);
    let rows: Vec<Vec<Json>> = matrix
        .cells
        .chunks(width)
        .map(|cells| cells.iter().map(|cell| value(&cell.value)).collect())
        .collect();
    json!({ "rows": matrix.rows, "columns": matrix.columns, matrix.name: rows })
}

fn of_curves(curves: &Curves) -> Json {
    let curve = |curve: &super::curves::Curve| {
        let points: Vec<[f64; 2]> = curve.points.iter().map(|point| [point.at, point.value]).collect();
        json!({ "name": curve.name, "points": points })
    };
    let mut whole =
        json!({ "axis": curves.axis, "curves": curves.curves.iter().map(curve).collect::<Vec<_>>() });
    if !curves.lines.is_empty() {
        let line = |line: &super::curves::Line| json!({ "name": line.name, "value": line.value });
        whole["lines"] = curves.lines.iter().map(line).collect();
    }
    if !curves.marks.is_empty() {
        let mark = |mark: &super::curves::Mark| json!({ "at": mark.at, "name": mark.name });
        whole["marks"] = curves.marks.iter().map(mark).collect();
    }
    whole
}

fn of_spans(spans: &Spans) -> Json {
    let rows: Vec<Json> = spans
        .lanes
        .iter()
        .flat_map(|lane| {
            lane.spans.iter().map(move |span| {
                json!({ "lane": lane.name, "name": span.name, "start_s": span.start_s, "end_s": span.end_s })
            })
        })
        .collect();
    json!(rows)
}
