//! Tests of the text of the files, and of plans and knobs that are refused.

use super::*;

/// The files of the worked example with some settings.
fn example(format: &str, settings: &[(&str, ParamValue)]) -> Result<Vec<File>, Problems> {
    let (scenario, changes) = testing::example();
    let result = testing::result(changes);
    let known = formats().into_iter().find(|known| known.name == format).unwrap();
    let mut params = defaults(&known);
    for (name, value) in settings {
        params.set(*name, value.clone());
    }
    write(format, &Subject { name: "example", scenario: &scenario, result: &result, sha256: None }, &params)
}

fn first(format: &str, settings: &[(&str, ParamValue)]) -> String {
    example(format, settings).unwrap().swap_remove(0).script.into_text()
}

fn words(text: &str) -> ParamValue {
    ParamValue::Text(text.to_owned())
}

#[test]
fn only_switches_that_change_get_files() {
    let names = |settings: &[(&str, ParamValue)]| -> Vec<String> {
        let files = example("polatis_tl1", settings).unwrap().into_iter();
        files.filter(|file| file.beside.is_none()).map(|file| file.name).collect()
    };
    assert_eq!(names(&[]), ["polatis_tl1.ocs-1.tl1", "polatis_tl1.rollback.ocs-1.tl1"]);
    let all = names(&[("full", ParamValue::Bool(true))]);
    assert_eq!(all.len(), 4);
    assert!(all[0].ends_with("ocs-0.tl1"));
}

#[test]
fn files_of_a_batch_sort_together_and_before_the_next() {
    let sample = Sample {
        wiring: Wiring::CrossWired,
        pods: 6,
        ocs_count: 6,
        most_ports: 3,
        failed_ports: 0,
        batches: 3,
        seed: 5,
    };
    let (scenario, changes) = testing::random(sample);
    let result = testing::result(changes);
    let subject = Subject { name: "", scenario: &scenario, result: &result, sha256: None };
    let known = formats().into_iter().find(|known| known.name == "sonic_ocs").unwrap();
    let files = write("sonic_ocs", &subject, &defaults(&known)).unwrap();
    let names: Vec<&str> =
        files.iter().filter(|file| file.beside.is_none()).map(|file| file.name.as_str()).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(names, sorted);
    for part in
        ["sonic_ocs.batch-1.ocs-02.sh", "sonic_ocs.batch-3.ocs-09.sh", "sonic_ocs.rollback-1.ocs-00.sh"]
    {
        assert!(names.contains(&part), "{names:?}");
    }
    assert!(
        files[0].text().contains("batch 1 of 3")
            && files[0].text().contains("Finish a batch on all switches")
    );
}

#[test]
fn commands_are_written_as_the_switches_want_them() {
    // Switch 1 loses 2->0 and 3->1 and gets 2->1 and 3->0; it has 4 A and 4 B ports.
    assert_eq!(
        first("polatis_tl1", &[("ctag", ParamValue::Int(999_998))]),
        "ACT-USER::<user>:999998::<password>;\n\
         DLT-PATCH::3:999999:;\nDLT-PATCH::5:1:;\nDLT-PATCH::4:2:;\nDLT-PATCH::6:3:;\n\
         ENT-PATCH::3,14:4:;\nENT-PATCH::6,11:5:;\nENT-PATCH::4,13:6:;\nENT-PATCH::5,12:7:;\n\
         RTRV-PATCH:::8:;\n"
    );
    assert_eq!(
        first(
            "calient_tl1",
            &[
                ("bidirectional", ParamValue::Bool(true)),
                ("group", words("rows")),
                ("ports_per_slot", ParamValue::Int(4))
            ]
        ),
        "ACT-USER::<user>:1::<password>;\n\
         CANC-CRS::1.1.3,1.2.1:2::,rows,1.1.3-1.2.1;\nDLT-CRS::1.1.3,1.2.1:3::,rows,1.1.3-1.2.1;\n\
         CANC-CRS::1.1.4,1.2.2:4::,rows,1.1.4-1.2.2;\nDLT-CRS::1.1.4,1.2.2:5::,rows,1.1.4-1.2.2;\n\
         ENT-CRS::1.1.3,1.2.2:6::rows,2WAY;\nACT-CRS::1.1.3,1.2.2:7::1.1.3-1.2.2,rows;\n\
         ENT-CRS::1.1.4,1.2.1:8::rows,2WAY;\nACT-CRS::1.1.4,1.2.1:9::1.1.4-1.2.1,rows;\n\
         RTRV-CRS:::10::ALL;\n"
    );
    let sonic = first("sonic_ocs", &[("bidirectional", ParamValue::Bool(true))]);
    let sonic: String =
        sonic.lines().filter(|line| !line.starts_with('#')).flat_map(|line| [line, "\n"]).collect();
    assert!(sonic.ends_with(
        "config ocs-cross-connect delete 3A-1B\nconfig ocs-cross-connect delete 4A-2B\n\
         config ocs-cross-connect add 3A-2B --a-side 3A --b-side 2B\n\
         config ocs-cross-connect add 4A-1B --a-side 4A --b-side 1B\nshow ocs-cross-connect\n"
    ));
    let table = example("csv", &[]).unwrap();
    assert_eq!(
        table[0].text(),
        "ocs_id,action,pod_a,port_a,pod_b,port_b,side_a,panel_a,pod_name_a,side_b,panel_b,pod_name_b,batch,switch_name\n\
         1,remove,2,0,0,0,a,3,pod 2,b,1,pod 0,1,OCS 1\n1,remove,3,0,1,0,a,4,pod 3,b,2,pod 1,1,OCS 1\n\
         1,add,2,0,1,0,a,3,pod 2,b,2,pod 1,1,OCS 1\n1,add,3,0,0,0,a,4,pod 3,b,1,pod 0,1,OCS 1\n"
    );
    assert_eq!(table[1].beside, Some(".rollback.csv"));
}

/// A person who patches by any listing finds pod, side and index beside what the switch calls the port.
#[test]
fn every_listing_names_pod_side_and_index_of_every_port() {
    for format in formats() {
        let files = example(format.name, &[]).unwrap();
        let name = format.name;
        if name == csv::NAME {
            assert!(
                files[0].text().contains("\n1,remove,2,0,0,0,a,3,pod 2,b,1,pod 0,1,OCS 1\n"),
                "{}",
                files[0].text()
            );
            continue;
        }
        // TL1 has no comments: there the list beside the commands has to do.
        if !name.ends_with("tl1") {
            let label = "A 2.0 (pod 2, port 3 of side A) to B 0.0 (pod 0, port 1 of side B)";
            assert!(files[0].text().contains(label), "{name}: {}", files[0].text());
            assert!(files[0].text().contains(&format!("NAME.{name}.ports.csv")), "{name}");
        }
        let list = files.iter().find(|file| file.beside == Some(port_list::ENDING)).unwrap();
        let mut rows = list.text().lines();
        assert_eq!(rows.next().unwrap(), port_list::COLUMNS.join(","), "{name}");
        // Two switches with 4 A and 4 B ports.
        assert_eq!(rows.clone().count(), 16, "{name}");
        // The B port of pod 0 on switch 1, as the commands call it.
        let row = rows.find(|row| row.starts_with("1,1,0,pod 0,b,0,1,")).unwrap();
        let called: Vec<&str> = row.split(',').skip(7).collect();
        let (ingress, egress) = (called[0], called[1]);
        let commands: String =
            files.iter().filter(|file| file.beside.is_none()).map(super::super::File::text).collect();
        for end in [ingress, egress].into_iter().filter(|end| !end.is_empty()) {
            assert!(commands.contains(end), "{name}: {end} is in no command");
        }
    }
}

#[test]
fn names_of_modules_and_lists_can_be_given() {
    let text = first(
        "ocp_ocs",
        &[("connections_module", words("draft-2")), ("port_template", words("in{side}{n}"))],
    );
    assert!(text.contains("\"/draft-2:connections/port-connection[name=inA3_inB5]\""), "{text}");
    assert!(text.contains("'/ocp-ocs-optical-switch:optical-switch/state/bidirectional' to be false"));
    let text = first("ocp_ocs", &[("connection_name", words("x{output}-{input}"))]);
    assert!(
        text.contains("/port-connection[name=xport-")
            && text.contains("Deletions expect connections named 'x{output}-"),
        "{text}"
    );
    let text = first("ocp_ocs", &[("switch_module", words("other"))]);
    assert!(text.contains("'/other:optical-switch/state/bidirectional'"));
    let text = first("polatis_netconf", &[("list_name", words("pairs"))]);
    assert!(text.contains("<pairs nc:operation=\"delete\"><ingress>3</ingress></pairs>"), "{text}");
}

#[test]
fn the_whole_list_is_put_at_once() {
    let files = example("polatis_restconf", &[("full", ParamValue::Bool(true))]).unwrap();
    let requests: Vec<&str> = files[0].text().lines().filter(|line| line.starts_with("request ")).collect();
    assert_eq!(requests.len(), 2, "{}", files[0].text());
    assert!(files[0].text().contains("request PUT 'optical-switch:cross-connects' @- <<'LIST'\n{\"optical-switch:cross-connects\":{\"pair\":[{\"ingress\":1,\"egress\":14}"));
    // Single requests come with the advice to put the whole list.
    assert!(first("polatis_restconf", &[]).contains("full=true writes a PUT of the whole list"));
}

#[test]
fn every_line_says_what_it_does() {
    assert_eq!(formats().iter().map(|format| format.name).collect::<Vec<_>>(), NAMES);
    // What stands in every line that takes a connection down, in the first one that sets one up, and nowhere else.
    let marks = [
        ("polatis_tl1", "DLT-PATCH", "ENT-PATCH"),
        ("calient_tl1", "CANC-CRS|DLT-CRS", "ENT-CRS|ACT-CRS"),
        ("polatis_restconf", "request DELETE", "request POST"),
        ("polatis_netconf", "operation=\"delete\"", "</egress>"),
        ("sonic_ocs", "cross-connect delete", "cross-connect add"),
        ("csv", ",remove,", ",add,"),
    ];
    for (format, remove, add) in marks {
        for file in example(format, &[]).unwrap().iter().filter(|file| !file.name.ends_with("ports.csv")) {
            let has = |marks: &str, line: &str| marks.split('|').any(|mark| line.contains(mark));
            for (sort, line) in file.script.lines() {
                assert_eq!(sort == LineSort::Remove, has(remove, line), "{format}: {line}");
                assert_eq!(sort == LineSort::Add, has(add, line), "{format}: {line}");
            }
            let count = |wanted| file.script.lines().filter(|(sort, _)| *sort == wanted).count();
            let each = if format == "calient_tl1" { 2 } else { 1 };
            let lines = (count(LineSort::Remove), count(LineSort::Add));
            assert_eq!(lines, (each * file.removes, each * file.adds), "{}", file.name);
            assert!(file.removes > 0, "{}", file.name);
        }
    }
    for file in example("ocp_ocs", &[]).unwrap().iter().filter(|file| file.switch.is_some()) {
        let of = |wanted| -> String {
            let lines = file.script.lines().filter(|(sort, _)| *sort == wanted);
            lines.map(|(_, line)| line.to_owned() + "\n").collect()
        };
        assert_eq!(of(LineSort::Remove).matches("port-connection[name=").count(), file.removes);
        assert_eq!(of(LineSort::Add).matches("port-connection[name=").count(), file.adds);
        assert!(file.removes > 0 && !of(LineSort::Other).contains("port-connection["), "{}", file.text());
        let comments = file.text().lines().filter(|line| line.starts_with('#')).count();
        assert_eq!(of(LineSort::Comment).lines().count(), comments);
        // What is not a comment is one object, as it would be written in one piece.
        let object: String = file
            .text()
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| line.to_owned() + "\n")
            .collect();
        let value: serde_json::Value = serde_json::from_str(&object).unwrap();
        assert_eq!(format!("{value:#}\n"), object);
    }
}

#[test]
fn nothing_secret_is_written() {
    for format in formats() {
        for file in example(format.name, &[]).unwrap() {
            for line in
                file.text().lines().filter(|line| line.contains("assword") || line.contains("PASSWORD"))
            {
                assert!(line.contains("<password>") || line.contains("OCS_PASSWORD"), "{line}");
            }
        }
    }
}

#[test]
fn settings_that_cannot_be_are_refused() {
    let refused = |format: &str, name: &'static str, value: ParamValue| {
        example(format, &[(name, value)]).unwrap_err().to_string()
    };
    assert!(refused("calient_tl1", "group", words("a;b")).contains("group: is 'a;b'"));
    assert!(refused("calient_tl1", "port_template", words("1.1")).contains("port_template"));
    assert!(refused("ocp_ocs", "connections_module", words("x]")).contains("connections_module"));
    for wrong in ["ring", "{input}", "{input}{input}{output}", "{input}/{output}"] {
        assert!(
            refused("ocp_ocs", "connection_name", words(wrong))
                .contains("'{input}' and '{output}' once each")
        );
    }
    assert!(refused("polatis_tl1", "egress_base", ParamValue::Int(3)).contains("egress_base: is 3"));
    assert!(refused("sonic_ocs", "ports_per_slot", ParamValue::Int(4)).contains("no {slot}"));
    let zero = [("port_template", words("{slot}/{port}")), ("ingress_base", ParamValue::Int(0))];
    assert!(example("ocp_ocs", &zero).unwrap_err().to_string().contains("count from 1"));
    let (scenario, mut changes) = testing::example();
    let order = CrossconnectResult::Order(crate::plan::PhaseOrder {
        rule: crate::plan::PhaseRule::Corrected,
        gpus_per_pod: 1,
        phases: Vec::new(),
        max_flows_per_pod_pair: 0,
        contended_phases: 0,
    });
    let subject = Subject { name: "x", scenario: &scenario, result: &order, sha256: None };
    assert!(write("csv", &subject, &Params::default()).unwrap_err().to_string().contains("order of phases"));
    assert!(
        write("tl1", &subject, &Params::default())
            .unwrap_err()
            .to_string()
            .contains("not a format of switches")
    );
    changes.batches.clear();
    let nothing = testing::result(changes);
    let subject = Subject { name: "x", scenario: &scenario, result: &nothing, sha256: None };
    assert!(write("csv", &subject, &Params::default()).unwrap_err().to_string().contains("changes nothing"));
}

#[test]
fn every_knob_of_a_format_is_described_once() {
    for format in formats() {
        let mut names: Vec<&str> = format.params.iter().map(|info| info.name.as_ref()).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count, "{}", format.name);
        assert!(format.help.ends_with('.') && !format.extension.is_empty());
    }
}
