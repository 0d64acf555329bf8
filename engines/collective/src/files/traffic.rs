//! Loads of links and of pairs of groups as tables, for planners of circuits.

use super::OTHER_SIZES;
use super::occupation::{PlaceLoad, group_name, group_of, loads, next_circuit, totals};
use crate::plan::CollectiveResult;
use crate::scenario::CollectiveScenario;
use lightbay_core::format::{FormatInfo, SubjectSort};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::Problems;
use lightbay_formats::Value;
use lightbay_formats::csv::CsvTable;
use std::collections::BTreeSet;

/// Name of the format.
pub const NAME: &str = "traffic";

/// Value that selects pairs of groups instead of links.
const GROUPS: &str = "groups";
/// Value that selects a row for each source and a column for each destination.
const DENSE: &str = "dense";

/// Returns the description of the format.
pub(super) fn format() -> FormatInfo {
    FormatInfo::new(
        NAME,
        "Bytes and busy fraction of every link, or of every pair of groups, as CSV; also the pair of \
         nodes or groups for which one more circuit would help most.",
        SubjectSort::Plan,
        "csv",
    )
    .leaving_out(&["the times of the sends", OTHER_SIZES, "the chunks", "the bound and what proves it"])
    .with(vec![
        ParamInfo::choice(
            "between",
            &["nodes", GROUPS],
            "nodes",
            "Meaning of a row: one link between two nodes, or all links between two groups of nodes.",
        ),
        ParamInfo::choice(
            "form",
            &["long", DENSE],
            "long",
            "Form of the table: a row for each pair, or bytes as a matrix with sources as rows.",
        ),
    ])
}

/// Returns the table of loads as text.
///
/// # Errors
/// Trees that cannot be followed.
pub fn table(
    scenario: &CollectiveScenario,
    result: &CollectiveResult,
    params: &Params,
) -> Result<String, Problems> {
    let totals = totals(scenario, result)?;
    let by_group = params.text("between") == Some(GROUPS);
    let group = group_of(scenario);
    let place = |node: u32| if by_group { group(node) } else { node };
    let loads = loads(scenario, result, &totals, place);
    let name = |place: u32| {
        let node = scenario.topology.nodes.get(place as usize);
        if by_group {
            group_name(scenario, place)
        } else {
            node.map_or_else(String::new, |node| node.name.clone())
        }
    };
    if params.text("form") == Some(DENSE) {
        let places: BTreeSet<u32> = scenario.topology.nodes.iter().map(|node| place(node.id)).collect();
        let names: Vec<String> = places.iter().map(|place| name(*place)).collect();
        let mut table = CsvTable::new(std::iter::once("from\\to").chain(names.iter().map(String::as_str)));
        for from in &places {
            let bytes = |to: &u32| whole(loads.get(&(*from, *to)).map_or(0.0, |load| load.bytes));
            table.row(std::iter::once(Value::from(name(*from))).chain(places.iter().map(bytes)));
        }
        return Ok(table.into_text());
    }
    let next = next_circuit(&loads);
    let mut table = CsvTable::new([
        "from",
        "from_name",
        "to",
        "to_name",
        "links",
        "bytes",
        "busy_us",
        "busy_share",
        "binding_cut",
        "next_circuit",
    ]);
    let finish_us = result.claims.finish_us;
    let word = |truth: bool| Value::from(if truth { "yes" } else { "no" });
    for (pair, load) in &loads {
        let PlaceLoad { bytes, links, binding, .. } = *load;
        let busy_us = load.busy_us();
        table.row([
            Value::from(pair.0),
            name(pair.0).into(),
            pair.1.into(),
            name(pair.1).into(),
            links.into(),
            whole(bytes),
            busy_us.into(),
            if finish_us > 0.0 { busy_us / finish_us } else { 0.0 }.into(),
            word(binding),
            word(next == Some(*pair)),
        ]);
    }
    Ok(table.into_text())
}

/// Rounds bytes to an integer.
fn whole(bytes: f64) -> Value {
    Value::Int(bytes.round() as i64)
}
