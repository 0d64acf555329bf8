//! A schedule as a timeline for ui.perfetto.dev and chrome://tracing: a track for every link.

use super::OTHER_SIZES;
use super::occupation::{advice, group_name, group_of, totals, transmissions};
use crate::plan::CollectiveResult;
use crate::scenario::CollectiveScenario;
use lightbay_core::format::{FormatInfo, SubjectSort};
use lightbay_core::problem::{Problem, Problems};
use lightbay_formats::Value;
use lightbay_formats::chrome_trace::{Process, Slice, Trace, write};
use std::collections::BTreeMap;

/// Name of the format.
pub const NAME: &str = "trace";

/// Returns the description of the format.
pub(super) fn format() -> FormatInfo {
    FormatInfo::new(
        NAME,
        "The schedule for ui.perfetto.dev and chrome://tracing: one track per link, one slice per piece.",
        SubjectSort::Plan,
        "json",
    )
    .leaving_out(&["links that carry no data", OTHER_SIZES, "what proves the bound"])
}

/// Returns the timeline as JSON.
///
/// # Errors
/// Sends without a link, or that start before their data has arrived.
pub fn trace(
    name: &str,
    scenario: &CollectiveScenario,
    result: &CollectiveResult,
) -> Result<String, Problems> {
    let transmissions = transmissions(scenario, result)?;
    let group = group_of(scenario);
    let node = |id: u32| scenario.topology.nodes.get(id as usize).map_or("", |node| node.name.as_str());
    // Links by the group that they leave; links to other groups are separate from links inside the group.
    let mut tracks: BTreeMap<(u32, bool), BTreeMap<(u32, u32), usize>> = BTreeMap::new();
    for one in &transmissions {
        let leaves = group(one.from) != group(one.to);
        tracks.entry((group(one.from), leaves)).or_default().insert((one.from, one.to), 0);
    }
    let mut processes = Vec::with_capacity(tracks.len());
    let mut places: BTreeMap<(u32, u32), (usize, usize)> = BTreeMap::new();
    for (process, ((of, leaves), links)) in tracks.iter_mut().enumerate() {
        for (thread, (ends, _)) in links.iter().enumerate() {
            places.insert(*ends, (process, thread));
        }
        let name = group_name(scenario, *of);
        processes.push(Process {
            name: if *leaves { format!("out of {name}") } else { name },
            threads: links.keys().map(|(from, to)| format!("{}→{}", node(*from), node(*to))).collect(),
        });
    }
    let mut slices = Vec::with_capacity(transmissions.len());
    for one in &transmissions {
        let Some(&(process, thread)) = places.get(&(one.from, one.to)) else { continue };
        slices.push(Slice {
            process,
            thread,
            name: format!("chunk {}", one.chunk),
            category: if one.adds_up { "add up" } else { "spread" },
            start_s: one.begins_us * 1e-6,
            end_s: one.ends_us * 1e-6,
            args: vec![
                ("piece", Value::from(one.piece)),
                ("bytes", Value::from(one.bytes)),
                ("epoch", Value::from(one.epoch)),
                ("usable_us", Value::from(one.usable_us)),
            ],
        });
    }
    let claims = &result.claims;
    let mut about = vec![
        ("name".to_owned(), Value::from(name)),
        ("collective".to_owned(), scenario.demand.collective.label().into()),
        ("finish_us".to_owned(), claims.finish_us.into()),
        ("epoch_us".to_owned(), result.time.epoch_us.into()),
        ("algbw_gbyte_per_s".to_owned(), claims.algbw_gbyte_per_s.into()),
    ];
    if let Some(bound) = claims.lower_bound_epochs {
        about.push(("lower_bound_us".to_owned(), (f64::from(bound) * result.time.epoch_us).into()));
    }
    about.extend(
        advice(scenario, result, &totals(scenario, result)?).map(|text| ("advice".to_owned(), text.into())),
    );
    let trace = Trace { processes, slices, about };
    Ok(write(&trace).map_err(|error| Problem::new("", error.to_string(), "check the plan"))?)
}
