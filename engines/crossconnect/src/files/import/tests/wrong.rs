//! Files that do not fit: every problem with file, place and value.

use super::*;
use serde_json::json;

/// The worked example has 4 A and 4 B ports on both switches.
fn problems(format: &str, files: &[(&str, &str)], settings: &[(&str, ParamValue)]) -> String {
    let (scenario, _) = testing::example();
    let files: Vec<Input<'_>> =
        files.iter().map(|(name, text)| Input { name, bytes: text.as_bytes() }).collect();
    match installed(format, &files, &scenario, &params(format, settings)) {
        Ok(imported) => panic!("{imported:?}"),
        Err(problems) => problems.to_string(),
    }
}

fn tl1(lines: &str) -> String {
    format!("   SWITCH 26-11-22 10:00:00\nM  1 COMPLD\n{lines};\n")
}

/// Two Polatis files, the second one dark.
fn polatis(lines: &str) -> String {
    problems("polatis_tl1", &[("a/ocs-0.txt", &tl1(lines)), ("ocs-1.txt", &tl1(""))], &[])
}

#[test]
fn the_switches_have_to_be_those_of_the_scenario() {
    let dark = tl1("");
    let of = |names: &[&str], settings: &[(&str, ParamValue)]| {
        let files: Vec<(&str, &str)> = names.iter().map(|name| (*name, dark.as_str())).collect();
        problems("polatis_tl1", &files, settings)
    };
    assert!(of(&["ocs-0"], &[]).contains("no file belongs to switch 1"));
    assert!(
        of(&["ocs-0", "ocs-1", "ocs-2"], &[])
            .contains("ocs-2: belongs to switch 2, which does not exist; the scenario has switches 0 to 1")
    );
    assert!(of(&["ocs-0", "x/ocs-00"], &[]).contains("x/ocs-00: belongs to switch 0, but so does ocs-0"));
    assert!(of(&["ocs-0", "other"], &[]).contains("other: does not name its switch"));
    assert!(of(&["ocs-0", "ocs-"], &[]).contains("does not name its switch"));
    let ids =
        |list: &[i64]| [("ocs_ids", ParamValue::List(list.iter().map(|&id| ParamValue::Int(id)).collect()))];
    assert!(of(&["a", "b"], &ids(&[0])).contains("names 1 switch, but there are 2 files"));
    assert!(of(&["a", "b"], &ids(&[1, 1])).contains("b: belongs to switch 1, but so does a"));
    assert!(of(&[], &[]).contains("no file"));
    let (scenario, _) = testing::example();
    let files = ["a", "b"].map(|name| Input { name, bytes: dark.as_bytes() });
    let read = installed("polatis_tl1", &files, &scenario, &params("polatis_tl1", &ids(&[1, 0]))).unwrap();
    assert_eq!(read.lines, ["switch 0: 0 connections in b", "switch 1: 0 connections in a"]);
    assert!(
        installed("tl1", &files, &scenario, &Params::default())
            .unwrap_err()
            .to_string()
            .contains("polatis_tl1")
    );
}

#[test]
fn connections_have_to_fit_the_ports() {
    for (lines, expected) in [
        (
            "\"9,1\"\n",
            "a/ocs-0.txt, line 3: names ingress port 9, which does not exist; ingress ports of switch 0 are \
             1 to 8",
        ),
        (
            "\"1,8\"\n",
            "line 3: names egress port 8, which does not exist; egress ports of switch 0 are 9 to 16",
        ),
        ("\"1,14\"\n\"1,14\"\n", "line 4: is listed a second time, after a/ocs-0.txt, line 3"),
        ("\"1;14\"\n", "line 3: is '1;14'; lines look like"),
        ("\"-1,14\"\n", "line 3: is '-1,14'"),
        ("\"1,14\n", "line 3: has no closing quote"),
    ] {
        let message = polatis(lines);
        assert!(message.contains(expected), "{lines}: {message}");
    }
}

/// The worked example wants 0-1, 0-2, 1-3 and 2-3 twice each. A port n of side A comes in at n, of side B goes out at 12 + n.
#[test]
fn connections_that_make_no_circuit_are_strays() {
    for (lines, circuits, half, strays) in [
        // Of one side.
        ("\"1,10\"\n", 0, 0, 1),
        // One way.
        ("\"1,14\"\n", 0, 1, 1),
        ("\"6,9\"\n", 0, 1, 1),
        // A port in use twice.
        ("\"1,14\"\n\"6,9\"\n\"1,15\"\n", 1, 0, 1),
        ("\"1,14\"\n\"6,9\"\n\"3,14\"\n", 1, 0, 1),
        // A pod with itself, at a port in use and alone.
        ("\"1,14\"\n\"6,9\"\n\"2,14\"\n", 1, 0, 1),
        ("\"1,13\"\n", 0, 0, 1),
        ("\"1,13\"\n\"5,9\"\n", 0, 0, 2),
        // A port with itself.
        ("\"1,9\"\n", 0, 0, 1),
        // One way and the other, of two circuits at one port: the first is half, the second surplus.
        ("\"1,14\"\n\"7,9\"\n", 0, 1, 2),
    ] {
        let (scenario, _) = testing::example();
        let (reply, dark) = (tl1(lines), tl1(""));
        let files =
            [("ocs-0", &reply), ("ocs-1", &dark)].map(|(name, text)| Input { name, bytes: text.as_bytes() });
        let read = installed("polatis_tl1", &files, &scenario, &params("polatis_tl1", &[])).unwrap();
        let count: usize = read.installed.ocs.iter().map(|ocs| ocs.cross_connects.len()).sum();
        assert_eq!(
            (count, read.half, read.strays.len()),
            (circuits, half, strays),
            "{lines}: {:?}",
            read.lines
        );
        let after = CrossconnectScenario { installed: read.installed, strays: read.strays, ..scenario };
        after.validate().unwrap();
    }
}

#[test]
fn all_problems_come_at_once() {
    let message = polatis("\"9,1\"\n\"1,8\"\n\"x\"\n");
    assert!(message.contains("is 'x'"), "{message}");
    let message = polatis("\"9,1\"\n\"1,8\"\n\"1,14\"\n\"1,14\"\n");
    assert_eq!(message.lines().count(), 3, "{message}");
}

#[test]
fn other_answers_are_refused() {
    let both = |format: &str, text: &str| problems(format, &[("ocs-0", text), ("ocs-1", text)], &[]);
    for (format, text, expected) in [
        ("polatis_tl1", "M  1 DENY\n   IITA\n;\n", "line 1: the switch answers 'DENY'"),
        ("polatis_tl1", "hello\n", "ocs-1: contains no reply to RTRV-PATCH"),
        ("calient_tl1", "M 1 COMPLD\n\"SRCPORT=1.1.1\"\n;\n", "line 2: is 'SRCPORT=1.1.1'"),
        ("calient_tl1", "M 1 COMPLD\n\"SRCPORT=1.1.1,DSTPORT=1.1.6,CONNTYPE=3WAY\"\n;\n", "CONNTYPE=3WAY"),
        (
            "calient_tl1",
            "M 1 COMPLD\n\"SRCPORT=1.1.1,DSTPORT=1.1.6,CONNTYPE=2WAY\"\n;\n",
            "is bidirectional, which the import does not expect; set bidirectional=true",
        ),
        (
            "calient_tl1",
            "M 1 COMPLD\n\"SRCPORT=1.1,DSTPORT=1.1.6\"\n;\n",
            "'1.1' is not the name of a port; names look like 1.1.1",
        ),
        ("polatis_restconf", "[1]", "holds no 'cross-connects'"),
        ("polatis_restconf", "{\"x:cross-connects\": 3}", "x:cross-connects: is '3'"),
        (
            "polatis_restconf",
            "{\"cross-connects\": {\"pair\": [{\"ingress\": 1.5}, 4]}}",
            "ocs-0, cross-connects.pair[0].ingress: is '1.5'",
        ),
        ("polatis_restconf", "{\"cross-connects\"", "line 1, column"),
        ("polatis_netconf", "<data>", "ocs-0, line 1: is not valid XML"),
        ("polatis_netconf", "<a/>", "contains no usable reply"),
        (
            "polatis_netconf",
            "\n\n<rpc-reply>\n<rpc-error><error-message>locked</error-message></rpc-error></rpc-reply>",
            "line 4: the switch answers with an error: locked",
        ),
        (
            "polatis_netconf",
            "<hello/>\n]]>]]>\n<data><cross-connects>\n<pair><ingress>1</ingress></pair></cross-connects></data>",
            "line 4: is a pair without",
        ),
        ("polatis_netconf", "<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>", "not valid XML"),
        ("ocp_ocs", "{}", "holds no 'port-connection'"),
        ("ocp_ocs", "{\"port-connection\": [{}]}", "port-connection[0]: has neither config nor state"),
        (
            "ocp_ocs",
            "{\"port-connection\": [{\"state\": {\"input-port-name\": \"port-1\", \"status\": \"ON\"}}]}",
            "port-connection[0].state.status: is 'ON'",
        ),
        (
            "ocp_ocs",
            "{\"port-connection\": [{\"config\": {\"input-port-name\": true}}]}",
            "output-port-name: is missing",
        ),
        ("sonic_ocs", "{}", "holds no 'OCS_CROSS_CONNECT'"),
        (
            "sonic_ocs",
            "{\"OCS_CROSS_CONNECT\": {\"k\": {\"a_side\": \"1B\", \"b_side\": \"6B\"}}}",
            "OCS_CROSS_CONNECT.k: '1B' is not the name of a port",
        ),
        ("sonic_ocs", "{\"OCS_CROSS_CONNECT\": [], \"OCS_PORT\": {}}", "OCS_CROSS_CONNECT: is a list"),
    ] {
        let message = both(format, text);
        assert!(message.contains(expected), "{format} {text}: {message}");
    }
}

#[test]
fn deep_answers_do_not_exhaust_the_stack() {
    let xml = "<a>".repeat(200_000);
    let json = "[".repeat(200_000);
    for (format, text, expected) in
        [("polatis_netconf", &xml, "is not valid"), ("ocp_ocs", &json, "is nested deeper than")]
    {
        let message = problems(format, &[("ocs-0", text), ("ocs-1", text)], &[]);
        assert!(message.contains(expected), "{format}: {message}");
    }
}

/// The number in `ocs-NUMBER` is ambiguous if the names of the switches are numbers, so file names give the names.
#[test]
fn files_of_switches_whose_names_are_numbers_are_named_after_them() {
    let (mut scenario, mut changes) = testing::example();
    on_panels(&mut scenario, &mut changes);
    for (panel, name) in scenario.panels.iter_mut().zip(["1", "2"]) {
        panel.name = name.to_owned();
    }
    let dark = tl1("");
    let read = |names: [&str; 2]| {
        let files = names.map(|name| Input { name, bytes: dark.as_bytes() });
        installed("polatis_tl1", &files, &scenario, &params("polatis_tl1", &[]))
    };
    assert!(read(["ocs-1.txt", "ocs-2.txt"]).is_ok());
    let refused = read(["ocs-0.txt", "ocs-1.txt"]).unwrap_err().to_string();
    assert!(refused.contains("ocs-0.txt: does not name its switch; put the name of the switch"), "{refused}");
}

/// People name the file after the switch; exports replace signs that some file systems refuse.
#[test]
fn names_of_switches_with_blanks_are_found_in_file_names() {
    let (mut scenario, mut changes) = testing::example();
    on_panels(&mut scenario, &mut changes);
    for (panel, name) in scenario.panels.iter_mut().zip(["ocs east", "süd"]) {
        panel.name = name.to_owned();
    }
    let dark = tl1("");
    for names in [["ocs east.json", "süd.json"], ["plan.ocs_east.json", "state süd 2.json"]] {
        let files = names.map(|name| Input { name, bytes: dark.as_bytes() });
        let read = installed("polatis_tl1", &files, &scenario, &params("polatis_tl1", &[]));
        assert_eq!(read.unwrap().lines[0], format!("switch 0: 0 connections in {}", names[0]));
    }
    let files = ["ocs east.json", "südwest.json"].map(|name| Input { name, bytes: dark.as_bytes() });
    let read = installed("polatis_tl1", &files, &scenario, &params("polatis_tl1", &[]));
    assert!(read.unwrap_err().to_string().contains("südwest.json: does not name its switch"));
}

/// A label in the form of the port names must be the name of its port.
#[test]
fn labels_that_name_other_ports_are_refused() {
    let (mut scenario, mut changes) = testing::example();
    on_panels(&mut scenario, &mut changes);
    let dark = tl1("");
    let files = ["ocs-0", "ocs-1"].map(|name| Input { name, bytes: dark.as_bytes() });
    let at = scenario.panels[0].ports.iter().position(|port| port.pod.is_some() && port.number > 1).unwrap();
    let number = scenario.panels[0].ports[at].number;
    scenario.panels[0].ports[at].label = Some("1.9.1".to_owned());
    let read = installed("calient_tl1", &files, &scenario, &params("calient_tl1", &[]));
    let error = read.unwrap_err().to_string();
    assert!(error.contains(&format!("names port {number} of ocs-0 1.")), "{error}");
    assert!(error.contains("but its label is 1.9.1; set port_template, ports_per_slot"), "{error}");
    let own = format!("1.{}.{}", (number - 1) / 8 + 1, (number - 1) % 8 + 1);
    scenario.panels[0].ports[at].label = Some(own);
    assert!(installed("calient_tl1", &files, &scenario, &params("calient_tl1", &[])).is_ok());
}

/// Commands name a two-sided bidirectional connection from side A.
#[test]
fn connections_listed_from_side_b_are_told() {
    let (scenario, _) = testing::example();
    let both = [("bidirectional", ParamValue::Bool(true))];
    let entry = |from: u32, to: u32| {
        json!({"name": format!("port-{from}_port-{to}"), "config": {
            "input-port-name": format!("port-{from}"), "output-port-name": format!("port-{to}")}})
    };
    let told = |from: u32, to: u32| {
        let text = json!({"port-connection": [entry(from, to)]}).to_string();
        let files = [("ocs-0", text.as_str()), ("ocs-1", r#"{"port-connection": []}"#)];
        let files = files.map(|(name, text)| Input { name, bytes: text.as_bytes() });
        installed("ocp_ocs", &files, &scenario, &params("ocp_ocs", &both)).unwrap().assumed
    };
    assert!(told(1, 6).is_empty());
    let reversed = told(6, 1);
    assert!(reversed[0].contains("1 connection is listed from side B: port-6-port-1"), "{reversed:?}");
    assert!(reversed[0].contains("full=true"), "{reversed:?}");
}

#[test]
fn rows_have_to_fit_the_scenario() {
    let table = |rows: &str| {
        problems("csv", &[("t.csv", &format!("ocs_id,action,pod_a,port_a,pod_b,port_b\n{rows}"))], &[])
    };
    for (rows, expected) in [
        (
            "2,keep,0,0,1,0\n",
            "t.csv, line 2: ocs_id is 2; the scenario has switches 0 to 1; check that the state belongs to them",
        ),
        ("0,keep,0,0,1\n", "line 2: has 5 cells"),
        ("0,kept,0,0,1,0\n", "action is 'kept'; did you mean 'keep'?"),
        ("0,keep,0,0,1,x\n", "port_b is 'x'"),
        ("0,keep,0,0,4,0\n", "names pod 4"),
        ("0,keep,0,1,1,0\n", "names port 1 of pod 0, which does not exist; this pod has 1 port on switch 0"),
        ("0,keep,2,0,2,0\n", "joins pod 2 to itself"),
        (
            "# batch\n0,keep,0,0,1,0\n0,add,2,0,1,0\n",
            "line 4: uses port 0 of pod 1, which t.csv, line 3 already uses",
        ),
    ] {
        let message = table(rows);
        assert!(message.contains(expected), "{rows}: {message}");
    }
    assert!(problems("csv", &[("t.csv", "a,b\n")], &[]).contains("t.csv: has the columns 'a,b'"));
    assert!(problems("csv", &[("t.csv", "")], &[]).contains("has the columns ''"));
}

/// The numbers of a row and its panel ports, sides and names must agree, or the table belongs to other wiring.
#[test]
fn further_columns_of_a_table_have_to_agree_with_its_numbers() {
    let (mut scenario, _) = testing::example();
    scenario.pod_names = Some(["leaf-a", "leaf-b", "leaf-c", "-d"].map(str::to_owned).to_vec());
    let header = [&csv_table::COLUMNS[..], &csv_table::MORE_COLUMNS[..]].concat().join(",");
    let read = |row: &str| {
        let text = format!("{header}\n{row}\n");
        let file = [Input { name: "t.csv", bytes: text.as_bytes() }];
        installed("csv", &file, &scenario, &params("csv", &[])).map_err(|problems| problems.to_string())
    };
    for row in [
        "1,keep,0,0,3,0,a,1,leaf-a,b,4,-d,,OCS 1",
        "1,keep,0,0,3,0,a,1,leaf-a,b,4,'-d,,OCS 1",
        "1,keep,0,0,3,0,,,,,,,,",
        "1,keep,0,0,3,0",
    ] {
        assert_eq!(read(row).unwrap().installed.ocs[1].cross_connects.len(), 1, "{row}");
    }
    for (row, expected) in [
        (
            "1,keep,0,0,3,0,a,2,leaf-a,b,4,-d,,OCS 1",
            "line 2: panel_a is '2', but port 0 of pod 0 on switch 1 has '1'",
        ),
        (
            "1,keep,0,0,3,0,a,1,leaf-a,b,3,-d,,OCS 1",
            "panel_b is '3', but port 0 of pod 3 on switch 1 has '4'",
        ),
        ("1,keep,0,0,3,0,b,1,leaf-a,b,4,-d,,OCS 1", "side_a is 'b'"),
        ("1,keep,0,0,3,0,a,1,leaf-c,b,4,-d,,OCS 1", "pod_name_a is 'leaf-c', but pod 0 has 'leaf-a'"),
        ("1,keep,0,0,3,0,a,1,leaf-a,b,4,d,,OCS 1", "pod_name_b is 'd', but pod 3 has '-d'"),
        ("1,keep,0,0,3,0,a,1,leaf-a,b,4,-d,,OCS 0", "switch_name is 'OCS 0', but switch 1 has 'OCS 1'"),
    ] {
        let refused = read(row).unwrap_err();
        assert!(refused.contains(expected), "{row}: {refused}");
    }
}

#[test]
fn tables_of_changes_alone_are_told_from_states() {
    let (scenario, _) = testing::example();
    let text = "\u{feff}\"ocs_id\", action,pod_a,port_a,pod_b,port_b\r\n\r\n1,\"add\",0,0,1,0\r\n";
    let file = [Input { name: "t.csv", bytes: text.as_bytes() }];
    let read = installed("csv", &file, &scenario, &params("csv", &[])).unwrap();
    assert_eq!(read.installed.ocs[1].cross_connects.len(), 1);
    assert!(read.lines[1].contains("full=true"), "{:?}", read.lines);
    assert_eq!(
        read.lines[2],
        "the table lists no circuit on switch 0, so the import assumes that no circuit is installed there"
    );
}

#[test]
fn formats_are_those_of_the_exports() {
    let exported: Vec<&str> = exports::formats().iter().map(|format| format.name).collect();
    // Tables of halls are read by themselves.
    let of_halls = ["port_map", "hall"];
    let imported: Vec<&str> = formats().iter().map(|format| format.name).collect();
    assert_eq!(imported, [&exported[..], &of_halls].concat());
    let sample = Sample {
        wiring: Wiring::TwoSided,
        pods: 2,
        ocs_count: 1,
        most_ports: 1,
        failed_ports: 0,
        batches: 1,
        seed: 1,
    };
    // One switch and one file leave no doubt.
    let (scenario, _) = testing::random(sample);
    let dark = tl1("");
    let file = [Input { name: "anything", bytes: dark.as_bytes() }];
    assert!(installed("polatis_tl1", &file, &scenario, &params("polatis_tl1", &[])).is_ok());
}
