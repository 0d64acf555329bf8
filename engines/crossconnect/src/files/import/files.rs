//! Assignment of files to devices.

use super::Input;
use crate::files::devices::Device;
use crate::scenario::{CrossconnectScenario, Panel, Wiring};
use lightbay_core::format::file_stem;
use lightbay_core::param::Params;
use lightbay_core::problem::{Problems, counted};
use std::collections::BTreeMap;

/// Returns every device with its file.
pub(super) fn of<'a>(
    scenario: &CrossconnectScenario,
    devices: &'a [Device],
    files: &'a [Input<'a>],
    params: &Params,
) -> Result<Vec<(&'a Device, &'a Input<'a>)>, Problems> {
    let mut problems = Problems::new();
    let given = params.ints("ocs_ids").filter(|ids| !ids.is_empty());
    if let Some(ids) = given.as_ref().filter(|ids| ids.len() != files.len()) {
        problems.add(
            "ocs_ids",
            format!(
                "names {}, but there are {}",
                counted(ids.len() as u64, "switch", "switches"),
                counted(files.len() as u64, "file", "files")
            ),
            "name the switch of each file",
        );
        return Err(problems);
    }
    let last = devices.iter().map(|device| device.id).max().unwrap_or(0);
    let mut by_id: BTreeMap<u32, &Input<'_>> = BTreeMap::new();
    for (index, file) in files.iter().enumerate() {
        let named = given
            .as_ref()
            .map_or_else(|| switch_in(scenario, file.name), |ids| u32::try_from(ids[index]).ok());
        // With one switch and one file, the assignment is clear.
        let only = (devices.len() == 1 && files.len() == 1).then_some(last);
        let Some(id) = named.or(only) else {
            let remedy = if has_numbers(scenario) {
                "put 'ocs-NUMBER' into the file name, or give ocs_ids"
            } else {
                "put the name of the switch into the file name, because the names are numbers, or give ocs_ids"
            };
            problems.add(file.name, "does not name its switch", remedy);
            continue;
        };
        if devices.iter().all(|device| device.id != id) {
            problems.add(
                file.name,
                format!("belongs to switch {id}, which does not exist"),
                format!("the scenario has switches 0 to {last}; check that the state belongs to them"),
            );
        } else if let Some(first) = by_id.insert(id, file) {
            problems.add(
                file.name,
                format!("belongs to switch {id}, but so does {}", first.name),
                "give one file per switch",
            );
        }
    }
    if problems.is_empty() {
        for device in devices.iter().filter(|device| device.has_ports() && !by_id.contains_key(&device.id)) {
            problems.add(
                "",
                format!("no file belongs to switch {}", device.id),
                format!("give one file for each of the switches 0 to {last}"),
            );
        }
    }
    let assigned = devices.iter().filter_map(|device| Some((device, *by_id.get(&device.id)?))).collect();
    problems.into_result(assigned)
}

/// Returns the switch that a file name identifies: the switch whose name the file name contains (the longest such
/// name), or the switch with the number after `ocs-`. `None` if the file name identifies no switch.
fn switch_in(scenario: &CrossconnectScenario, file: &str) -> Option<u32> {
    let contains = |name: &str| {
        let mut places = file.match_indices(name);
        places.any(|(at, _)| {
            let whole = |sign: Option<char>| sign.is_none_or(|sign| !sign.is_alphanumeric());
            whole(file[..at].chars().next_back()) && whole(file[at + name.len()..].chars().next())
        })
    };
    // People type the name of the switch; exports write it with the characters that every file system allows.
    let named = |panel: &Panel| contains(&panel.name) || contains(&file_stem(&panel.name));
    let named = (0u32..).zip(&scenario.panels).filter(|(_, panel)| named(panel));
    let longest = named.max_by_key(|(_, panel)| panel.name.len()).map(|(ocs, _)| ocs);
    longest
        .filter(|_| scenario.wiring != Wiring::CrossWired)
        .or_else(|| number_in(file).filter(|_| has_numbers(scenario)))
}

/// Returns `true` if the number in a file name is the number of its switch: always if the wiring needs two devices for
/// each switch, which have numbers only, and otherwise unless names are numbers.
fn has_numbers(scenario: &CrossconnectScenario) -> bool {
    scenario.wiring == Wiring::CrossWired || scenario.switches_have_numbers()
}

/// Returns the number after the last `ocs-` of a name; `None` if the name has no such number.
fn number_in(name: &str) -> Option<u32> {
    let (_, rest) = name.rsplit_once("ocs-")?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}
