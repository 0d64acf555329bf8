//! What the exports write, validated against the YANG models of the switches by libyang. The test needs the models
//! (folder `ocs-yang` in the folder that LIGHTBAY_FIELD_FILES names) and the Python package `oopt-gnpy-libyang`; where
//! either is missing, it says so and passes. LIGHTBAY_YANG_PLANS sets the number of random plans.

use super::*;
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Documents that a file of a format sends to a switch, each with the name of its model in `yang.py`.
fn documents(format: &str, text: &str) -> Vec<Value> {
    if format == "ocp_ocs" {
        let body: String = text.lines().filter(|line| !line.starts_with('#')).collect();
        let request: Value = serde_json::from_str(&body).unwrap();
        let list = |key: &str| request.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
        let replaced = list("replaces")
            .into_iter()
            .flat_map(|whole| whole["value"]["port-connection"].as_array().cloned().unwrap());
        let entries: Vec<Value> =
            replaced.chain(list("updates").into_iter().map(|update| update["value"].clone())).collect();
        return vec![json!({"model": "ocp", "body": with_ports(&entries)})];
    }
    let sonic = |entries: Value| {
        let body = json!({"sonic-ocs:sonic-ocs": {"OCS_CROSS_CONNECT": {"OCS_CROSS_CONNECT_LIST": entries}}});
        json!({"model": "sonic", "body": body})
    };
    if let Some((_, rest)) = text.split_once("<<'LIST'\n") {
        let body: Value = serde_json::from_str(rest.split_once("\nLIST\n").unwrap().0).unwrap();
        return vec![json!({"model": "sonic", "body": body})];
    }
    if !text.starts_with('{') {
        return Vec::new();
    }
    // The model gives the RPC the entries of the list.
    let update: Value = serde_json::from_str(text).unwrap();
    vec![sonic(update["sonic-ocs:input"]["add"].clone())]
}

/// Connections together with the components that their leaf references name: a switch has these components.
fn with_ports(entries: &[Value]) -> Value {
    let port = |entry: &Value, key: &str| entry["config"][key].as_str().unwrap().to_owned();
    let names: std::collections::BTreeSet<String> = entries
        .iter()
        .flat_map(|entry| [port(entry, "input-port-name"), port(entry, "output-port-name")])
        .collect();
    let components: Vec<Value> =
        names.iter().map(|name| json!({"name": name, "config": {"name": name}})).collect();
    json!({
        "openconfig-platform:components": {"component": components},
        "ocp-ocs-optical-switch-connections:connections": {"port-connection": entries},
    })
}

/// A random plan, with settings that vary with its number.
fn random_plan(number: u64) -> (Sample, bool, bool) {
    let wiring = [Wiring::TwoSided, Wiring::CrossWired, Wiring::SingleSided][(number % 3) as usize];
    let sample = Sample {
        wiring,
        pods: 2 + (number / 3 % 5) as u32,
        ocs_count: 1 + (number / 15 % 3) as u32,
        most_ports: 1 + (number / 45 % 3) as u32,
        failed_ports: (number / 135 % 3) as usize,
        batches: 1 + (number / 405 % 3) as usize,
        seed: number,
    };
    (sample, number.is_multiple_of(2) && wiring != Wiring::CrossWired, number.is_multiple_of(7))
}

/// Feeds every file to toy switches, forward and back, and returns the documents of the forward files.
fn sent(number: u64) -> Vec<Value> {
    let (sample, bidirectional, full) = random_plan(number);
    let (scenario, changes) = testing::random(sample);
    if changes.batches.is_empty() && !full {
        return Vec::new();
    }
    let result = testing::result(changes);
    let subject = Subject { name: "random", scenario: &scenario, result: &result, sha256: None };
    let forms = [("ocp_ocs", ""), ("sonic_ocs", "restconf"), ("sonic_ocs", "patch"), ("sonic_ocs", "bulk")];
    let mut all = Vec::new();
    for (format, form) in forms {
        let numbering = Numbering { format, ingress_base: 1, egress_base: None, bidirectional };
        check_commands(sample, numbering, (full, false), form);
        let mut params = numbering.params(full);
        params.set("form", ParamValue::Text(form.to_owned()));
        let files = write(format, &subject, &params).unwrap();
        all.extend(
            files
                .iter()
                .filter(|file| file.beside.is_none() && file.adds > 0)
                .flat_map(|file| documents(format, file.text())),
        );
    }
    all
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that is skipped says why")]
fn files_are_valid_in_the_models_of_the_switches() {
    let Some(folder) = std::env::var_os("LIGHTBAY_FIELD_FILES") else {
        eprintln!("skipped: LIGHTBAY_FIELD_FILES names no folder with the models");
        return;
    };
    let plans: u64 = std::env::var("LIGHTBAY_YANG_PLANS").map_or(100, |count| count.parse().unwrap());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/files/exports/tests/yang.py");
    let mut python = match Command::new("python3")
        .arg(script)
        .arg(std::path::Path::new(&folder).join("ocs-yang"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
    {
        Ok(python) => python,
        Err(error) => {
            eprintln!("skipped: python3: {error}");
            return;
        }
    };
    let mut input = python.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        let mut count = 0u64;
        for document in (0..plans).flat_map(sent) {
            // The script ends at once if the package is missing.
            if writeln!(input, "{document}").is_err() {
                break;
            }
            count += 1;
        }
        count
    });
    let output = python.wait_with_output().unwrap();
    let count = writer.join().unwrap();
    if output.status.code() == Some(77) {
        eprintln!("skipped: the Python package oopt-gnpy-libyang is missing");
        return;
    }
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{count} documents\n"));
    assert!(output.status.success() && count > plans);
}
