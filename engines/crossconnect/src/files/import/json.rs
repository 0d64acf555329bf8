//! States as JSON: the list of Polatis-class switches, connections of the Open Compute Project, and CONFIG_DB.

use super::{Connection, Listing, table};
use lightbay_core::problem::{Problem, Problems, printable};
use lightbay_core::read::{brief, list_at, parse_json};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Returns the key as written, which may begin with the name of its module, and its value; `None` if the key is
/// missing.
fn of_module<'v>(map: &'v Map<String, Value>, key: &str) -> Option<(&'v str, &'v Value)> {
    let found = map.iter().find(|(name, _)| name.rsplit(':').next() == Some(key));
    found.map(|(name, value)| (name.as_str(), value))
}

fn no_list(key: &str) -> Problems {
    Problem::new("", format!("holds no '{key}'"), "check that this is the file you meant").into()
}

/// Returns the name of a port, which may be written as a number; adds a problem and returns `None` if the name is
/// missing or has another type.
fn port(entry: &Map<String, Value>, key: &str, place: &str, problems: &mut Problems) -> Option<String> {
    match entry.get(key) {
        Some(Value::String(name)) => Some(name.clone()),
        Some(Value::Number(number)) if number.is_u64() => Some(number.to_string()),
        Some(other) => {
            problems.add(format!("{place}.{key}"), format!("is {}", brief(other)), "give the port");
            None
        }
        None => {
            problems.add(format!("{place}.{key}"), "is missing", "give the port");
            None
        }
    }
}

/// Reads JSON such as `{"optical-switch:cross-connects": {"pair": [{"ingress": 1, "egress": 13}]}}`.
pub(super) fn pairs(text: &str) -> Result<Listing, Problems> {
    let value = parse_json(text.as_bytes())?;
    let (name, list) = value
        .as_object()
        .and_then(|map| of_module(map, "cross-connects"))
        .ok_or_else(|| no_list("cross-connects"))?;
    let mut problems = Problems::new();
    let mut listing = Listing::default();
    let Some(inner) = list.as_object() else {
        problems.add(name, format!("is {}", brief(list)), "give an object with a list 'pair'");
        return Err(problems);
    };
    // A switch without cross-connects leaves the list out; older firmware has another name for the list.
    let pairs = ["pair", "pairs"].into_iter().find_map(|key| of_module(inner, key));
    if let Some((key, pairs)) = pairs {
        let path = format!("{name}.{key}");
        for (index, entry) in list_at(pairs, &path, &mut problems).unwrap_or_default().iter().enumerate() {
            let place = format!("{path}[{index}]");
            let Some(entry) = entry.as_object() else {
                problems.add(place, format!("is {}", brief(entry)), "give ingress and egress");
                continue;
            };
            let (ingress, egress) =
                (port(entry, "ingress", &place, &mut problems), port(entry, "egress", &place, &mut problems));
            if let Some((ingress, egress)) = ingress.zip(egress) {
                listing.found.push(Connection { place, ingress, egress, both_ways: None });
            }
        }
    }
    problems.into_result(listing)
}

/// Returns every list `port-connection` at any depth, with its path, because gnmic wraps its output.
fn port_connections<'v>(value: &'v Value, path: &str, lists: &mut Vec<(String, &'v Value)>) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                if key.rsplit(':').next() == Some("port-connection") {
                    lists.push((path, inner));
                } else {
                    port_connections(inner, &path, lists);
                }
            }
        }
        Value::Array(list) => {
            for (index, inner) in list.iter().enumerate() {
                port_connections(inner, &format!("{path}[{index}]"), lists);
            }
        }
        _ => {}
    }
}

/// Reads connections of the Open Compute Project. Pending and failed connections count as set, connections that are
/// being deleted or invalid are omitted, each with a remark.
pub(super) fn connections(text: &str) -> Result<Listing, Problems> {
    let value = parse_json(text.as_bytes())?;
    let mut lists = Vec::new();
    port_connections(&value, "", &mut lists);
    let empty = value.as_object().is_some_and(|map| {
        of_module(map, "connections").is_some_and(|(_, inner)| inner.as_object().is_some())
    });
    if lists.is_empty() && !empty {
        return Err(no_list("port-connection"));
    }
    let mut problems = Problems::new();
    let mut listing = Listing::default();
    // Templates of the names of connections, each with an example.
    let mut templates: BTreeMap<String, (String, String)> = BTreeMap::new();
    for (path, list) in lists {
        for (index, entry) in list_at(list, &path, &mut problems).unwrap_or_default().iter().enumerate() {
            let place = format!("{path}[{index}]");
            let block = |key: &str| entry.get(key).and_then(Value::as_object);
            let with_ports = |map: &&Map<String, Value>| map.contains_key("input-port-name");
            let Some(ports) = block("state").filter(with_ports).or_else(|| block("config")) else {
                problems.add(place, "has neither config nor state", "give the ports of the connection");
                continue;
            };
            match block("state").and_then(|state| state.get("status")).map(Value::as_str) {
                None | Some(Some("CONNECTED")) => {}
                Some(Some(status @ ("PENDING_CONNECTION" | "FAILED"))) => {
                    listing.notes.push(format!("{place} is {status}; the import counts it as set"));
                }
                Some(Some(status @ ("PENDING_DELETION" | "INVALID"))) => {
                    listing.notes.push(format!("{place} is {status}; the import leaves it out"));
                    continue;
                }
                Some(_) => {
                    let status = entry.pointer("/state/status").unwrap_or(&Value::Null);
                    problems.add(
                        format!("{place}.state.status"),
                        format!("is {}", brief(status)),
                        "use CONNECTED, PENDING_CONNECTION, PENDING_DELETION, FAILED or INVALID",
                    );
                    continue;
                }
            }
            let (ingress, egress) = (
                port(ports, "input-port-name", &place, &mut problems),
                port(ports, "output-port-name", &place, &mut problems),
            );
            if let Some((ingress, egress)) = ingress.zip(egress) {
                let name =
                    [entry.get("name"), ports.get("name")].into_iter().flatten().find_map(Value::as_str);
                if let Some(name) = name.filter(|name| *name != format!("{ingress}_{egress}")) {
                    let between = name.strip_prefix(&*ingress).and_then(|rest| rest.strip_suffix(&*egress));
                    match between {
                        Some(between) => {
                            drop(templates.insert(between.to_owned(), (place.clone(), name.to_owned())));
                        }
                        None => listing.notes.push(format!(
                            "{place}: connection {ingress}_{egress} has the name '{}'; exported requests \
                             delete connections by port names and would not delete this connection; rename \
                             the connection first, or export with full=true, which replaces the whole list",
                            printable(name)
                        )),
                    }
                }
                listing.found.push(Connection { place, ingress, egress, both_ways: None });
            }
        }
    }
    for (between, (place, name)) in templates {
        let (between, name) = (printable(&between), printable(&name));
        listing.notes.push(format!(
            "{place}: connections have names like '{name}'; export with \
             connection_name={{input}}{between}{{output}}, because otherwise requests would not delete the \
             connections"
        ));
    }
    problems.into_result(listing)
}

/// Reads JSON such as `{"OCS_CROSS_CONNECT": {"1A-16B": {"a_side": "1A", "b_side": "16B"}}}`; other tables may be
/// present.
pub(super) fn config_db(text: &str) -> Result<Listing, Problems> {
    const TABLE: &str = "OCS_CROSS_CONNECT";
    let value = parse_json(text.as_bytes())?;
    let mut problems = Problems::new();
    let mut listing = Listing::default();
    // Older versions of SONiC and its design text use other keys for the state of a port.
    let port_state = |port: &str| {
        let entry = value.get("OCS_PORT").and_then(|ports| ports.get(port));
        ["config_status", "state", "status"].into_iter().find_map(|key| entry?.get(key)?.as_str())
    };
    match value.get(TABLE) {
        Some(Value::Object(table)) => {
            for (key, entry) in table {
                let place = format!("{TABLE}.{key}");
                let Some(entry) = entry.as_object() else {
                    problems.add(place, format!("is {}", brief(entry)), "give a_side and b_side");
                    continue;
                };
                let (ingress, egress) = (
                    port(entry, "a_side", &place, &mut problems),
                    port(entry, "b_side", &place, &mut problems),
                );
                if let Some((ingress, egress)) = ingress.zip(egress) {
                    let states = [port_state(&ingress), port_state(&egress)];
                    table::remarks(&mut listing, key, [&ingress, &egress], &states);
                    listing.found.push(Connection { place, ingress, egress, both_ways: None });
                }
            }
        }
        Some(other) => problems.add(TABLE, format!("is {}", brief(other)), "give a table { … }"),
        // CONFIG_DB omits empty tables, but the table of ports shows that the device is an optical switch.
        None if value.get("OCS_PORT").is_some() => {}
        None => return Err(no_list(TABLE)),
    }
    problems.into_result(listing)
}
