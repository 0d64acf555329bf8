use super::*;
use crate::files::exports::port_map;
use crate::scenario::{Circuit, Port, Side};
use lightbay_core::param::Setting;

/// The list of cables of the worked example: port 4 of ocs-east is free.
const CABLES: &str = "StartDevice,StartPort,EndDevice,EndPort\n\
    leaf-a,Ethernet0,ocs-east,1\nleaf-a,Ethernet8,ocs-east,2\nleaf-b,Ethernet0,ocs-east,3\nleaf-b,Ethernet8,ocs-east,5\n\
    leaf-c,Ethernet0,ocs-east,6\nleaf-a,Ethernet16,ocs-west,1\nleaf-b,Ethernet16,ocs-west,2\nleaf-c,Ethernet8,ocs-west,3\n\
    leaf-c,Ethernet16,ocs-west,4\n";

/// Values that the list of cables does not give.
const GIVEN: [&str; 3] = ["wiring=single_sided", "switches=ocs-east,ocs-west", "panel_ports=6"];

fn read(
    format: &str,
    files: &[(&str, &str)],
    sets: &[&str],
    strict: bool,
) -> Result<ImportedScenario<Crossconnect>, String> {
    let infos = formats();
    let info = infos.iter().find(|info| info.name == format).unwrap();
    let sets: Vec<Setting> = sets.iter().map(|text| text.parse().unwrap()).collect();
    let params = info.values(&sets).map_err(|problems| problems.to_string())?;
    let inputs: Vec<format::Input> = files
        .iter()
        .map(|(name, text)| format::Input { name: (*name).to_owned(), bytes: text.as_bytes().to_vec() })
        .collect();
    import(format, &inputs, &params, strict).map_err(|problems| problems.to_string())
}

fn hall(text: &str) -> CrossconnectScenario {
    read(HALL, &[("hall.csv", text)], &[], false).unwrap().scenario.body
}

#[test]
fn ports_of_cables_keep_their_numbers_and_names() {
    let body = hall(CABLES);
    assert_eq!(body.pod_names.as_deref().unwrap(), ["leaf-a", "leaf-b", "leaf-c"]);
    assert_eq!(body.ports_a, [[2, 1], [2, 1], [1, 2]]);
    assert_eq!(body.wiring, Wiring::SingleSided);
    let east = &body.panels[0];
    assert_eq!((east.name.as_str(), east.ports.len()), ("ocs-east", 6));
    assert_eq!(east.ports[3].pod, None, "port 4 is free");
    let fifth = &east.ports[4];
    assert_eq!((fifth.end(), fifth.pod_port.as_deref()), (Some((Side::A, 1, 1)), Some("Ethernet8")));
    let numbers = body.own_numbers(1).unwrap();
    assert_eq!(numbers[&(Side::A, 2, 1)], 4);
}

/// The same facts as NetBox keeps them: either end may be the switch, and other cables are in the list.
#[test]
fn cables_of_netbox_need_the_names_of_the_switches() {
    let mut text =
        "side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name,status\n".to_owned();
    for (at, line) in CABLES.lines().skip(1).enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        let [pod, port, switch, number] = cells.as_slice() else { panic!() };
        let (pod, switch) =
            (format!("{pod},dcim.interface,{port}"), format!("{switch},dcim.frontport,{number}"));
        let ends = if at % 2 == 0 { [&pod, &switch] } else { [&switch, &pod] };
        text.extend([ends[0], ",", ends[1], ",connected\n"]);
    }
    text += "leaf-a,dcim.interface,mgmt0,oob,dcim.interface,1,connected\n";
    let error = read(HALL, &[("cables.csv", &text)], &[], false).unwrap_err();
    assert!(error.contains("switches: is missing"), "{error}");
    let made = read(HALL, &[("cables.csv", &text)], &["switches=ocs-east,ocs-west"], false).unwrap();
    assert_eq!(made.scenario.body, hall(CABLES));
    assert!(
        made.lines.iter().any(|line| line.contains("1 cable left out: neither end is an optical switch")),
        "{:?}",
        made.lines
    );
}

#[test]
fn spare_ports_and_sizes_of_panels_can_be_asked_for() {
    let files = [("cables.csv", CABLES)];
    let made = read(HALL, &files, &["panel_ports=16"], false).unwrap().scenario.body;
    assert!(made.panels.iter().all(|panel| panel.ports.len() == 16));
    let error = read(HALL, &files, &["panel_ports=5"], false).unwrap_err();
    assert!(error.contains("a cable ends at port 6 of ocs-east"), "{error}");
    let error = read(
        HALL,
        &[("pods.csv", "pod,ports\na,2\nb,2\n"), ("s.csv", "switch,ports\ns,4\n")],
        &["panel_ports=8"],
        false,
    )
    .unwrap_err();
    assert!(error.contains("panel_ports: has no effect"), "{error}");
}

#[test]
fn ports_of_pods_are_spread_in_proportion_and_the_rest_is_spare() {
    let files =
        [("pods.csv", "pod,ports\na,4\nb,4\nc,2\n"), ("switches.csv", "switch,ports\nlarge,8\nsmall,4\n")];
    let body = read(HALL, &files, &[], false).unwrap().scenario.body;
    let of = |ocs: usize| -> u32 { body.ports_a.iter().map(|row| row[ocs]).sum() };
    assert_eq!(body.ports_a.iter().map(|row| row.iter().sum()).collect::<Vec<u32>>(), [4, 4, 2]);
    assert!(of(0) <= 8 && of(1) <= 4);
    assert_eq!(body.panels.iter().map(|panel| panel.ports.len()).collect::<Vec<_>>(), [8, 4]);
    let two = read(HALL, &files, &["wiring=two_sided"], false).unwrap().scenario.body;
    let sides: Vec<u32> = (0..3).map(|pod| two.ports_a[pod].iter().chain(&two.ports_b[pod]).sum()).collect();
    assert_eq!(sides, [4, 4, 2]);
    assert!(two.ports_b.iter().flatten().any(|&ports| ports > 0));
    let exact = [("pods.csv", "pod,large,small\na,3,1\nb,3,1\nc,2,2\n"), files[1]];
    let body = read(HALL, &exact, &[], false).unwrap().scenario.body;
    assert_eq!(body.ports_a, [[3, 1], [3, 1], [2, 2]]);
    for (pods, told) in [
        ("pod,ports\na,9\nb,4\n", "the pods have 13 ports, the switches 12"),
        ("pod,large,small\na,1,5\n", "do not fit on small"),
        ("pod,large,other\na,1,1\n", "'other', which is not a switch"),
        ("pod,ports\na,4\na,4\n", "line 3: names a, which line 2 already names"),
        ("pod,ports\na,x\n", "line 2: has 'x'"),
        ("pod,ports\n", "names no pod"),
    ] {
        let error = read(HALL, &[("pods.csv", pods), files[1]], &[], false).unwrap_err();
        assert!(error.contains(told), "{error}");
    }
    let error = read(HALL, &files[..1], &[], false).unwrap_err();
    assert!(error.contains("no list of switches"), "{error}");
}

#[test]
fn a_matrix_says_the_wanted_circuits() {
    let wanted = |text: &str| read(HALL, &[("cables.csv", CABLES), ("wanted.csv", text)], &GIVEN, true);
    let full =
        wanted("pod,leaf-c,leaf-a,leaf-b\nleaf-c,0,1,2\nleaf-a,1,0,1\nleaf-b,2,1,0\n").unwrap().scenario.body;
    assert_eq!(full.logical_circuits, [[0, 1, 1], [1, 0, 2], [1, 2, 0]]);
    let half = wanted("pod,leaf-a,leaf-b,leaf-c\nleaf-a,,1,1\nleaf-b,,,2\n").unwrap().scenario.body;
    assert_eq!(half.logical_circuits, full.logical_circuits);
    for (text, told) in [
        (
            "pod,leaf-a,leaf-b\nleaf-a,0,1\nleaf-b,2,0\n",
            "line 2: gives 1 circuit from leaf-a to leaf-b, but line 3 gives 2 in the reverse direction",
        ),
        ("pod,leaf-a,leaf-b\nleaf-a,1,1\nleaf-b,1,0\n", "line 2: gives 1 circuit from leaf-a to itself"),
        ("pod,leaf-a,leaf-x\nleaf-a,0,1\nleaf-x,1,0\n", "pod 'leaf-x', but no port belongs to that pod"),
        ("pod,leaf-a,leaf-b\nleaf-a,0,many\n", "line 2: has 'many' in column leaf-b"),
        ("pod,leaf-a,leaf-b\nleaf-a,0,1\nleaf-a,0,1\n", "line 3: is a second row of leaf-a, after line 2"),
        ("pod,leaf-a,leaf-b\nleaf-a,0,9\nleaf-b,9,0\n", "leaf-a"),
    ] {
        let error = wanted(text).unwrap_err();
        assert!(error.contains(told), "{text}: {error}");
    }
    let shuffled = wanted("pod,leaf-a,leaf-b,leaf-c\nleaf-b,1,0,2\nleaf-c,1,2,0\nleaf-a,0,1,1\n").unwrap();
    assert_eq!(shuffled.scenario.body.logical_circuits, full.logical_circuits, "rows in another order");
    let error = read(HALL, &[("cables.csv", CABLES)], &[], true).unwrap_err();
    for told in ["no file gives target circuits", "set 'wiring='", "set 'switches='", "set 'panel_ports='"] {
        assert!(error.contains(told), "{error}");
    }
    let json = r#"{"pods": {"a": 2, "b": 2}, "switches": {"s": 4}, "circuits": {"a": {"b": 2}}}"#;
    assert_eq!(hall(json).logical_circuits, [[0, 2], [2, 0]]);
}

/// What is written is read back as the same hall.
#[test]
fn port_maps_are_written_and_read() {
    let mut body = hall(CABLES);
    body.panels[0].ports[3].label = Some("kept, \"free\"".to_owned());
    body.panels[0].ports[5].label = Some("-".to_owned());
    let port = |pod, index| (pod, index);
    let circuit =
        |(pod_a, port_a_index), (pod_b, port_b_index)| Circuit { pod_a, port_a_index, pod_b, port_b_index };
    body.installed.ocs = vec![
        crate::scenario::InstalledOcs { ocs_id: 0, cross_connects: vec![circuit(port(1, 1), port(2, 0))] },
        crate::scenario::InstalledOcs { ocs_id: 1, cross_connects: Vec::new() },
    ];
    body.failed_ports = vec![Port { ocs_id: 1, pod: 0, side: Side::A, port_index: 0 }];
    body.logical_circuits = vec![vec![0, 0, 0], vec![0, 0, 1], vec![0, 1, 0]];
    body.panels[1].ports.push(crate::scenario::PanelPort {
        number: 5,
        pod: None,
        side: None,
        port_index: None,
        pod_port: None,
        label: None,
        reserved: true,
    });
    body.validate().unwrap();
    let text = port_map::written(&body);
    assert!(text.contains("ocs-east,5,,leaf-b,Ethernet8,,to 6\n"), "{text}");
    assert!(
        text.contains("ocs-west,5,,,,,reserved\n")
            && text.contains("ocs-west,1,,leaf-a,Ethernet16,,failed\n"),
        "{text}"
    );
    let back = read(PORT_MAP, &[("map.csv", &text)], &[], false).unwrap().scenario.body;
    assert_eq!(back, body);
    let two = crate::scenario::presets::scenario("crossconnect-example").unwrap();
    let text = port_map::written(&two);
    assert!(text.contains("ocs-0,5,b,pod 0,0,,to 4\n"), "one series of numbers: {text}");
    let scenario = Scenario::<Crossconnect>::new("two".to_owned(), two.clone()).to_json().unwrap();
    let files = [("two.json", std::str::from_utf8(&scenario).unwrap()), ("map.csv", &text)];
    let back = read(PORT_MAP, &files, &[], true).unwrap().scenario.body;
    assert_eq!((&back.installed, &back.logical_circuits), (&two.installed, &two.logical_circuits));
    assert_eq!(back.panels[0].name, "ocs-0");
    let files = [files[0], ("map.csv", &text.replace("pod 3", "pod 9"))];
    let error = read(PORT_MAP, &files, &[], false).unwrap_err();
    assert!(error.contains("names pod 'pod 9', which the scenario does not have"), "{error}");
}

#[test]
fn port_maps_that_are_wrong_are_refused_with_the_line() {
    let head = "switch,port,side,pod,pod_port,label,state\n";
    for (rows, told) in [
        ("s,1,,a,,,\ns,1,,b,,,\n", "line 3: port 1 of s is already listed in map.csv, line 2"),
        ("s,1,,a,,,\ns,3,,b,,,\n", "has port 3 of s, but no port 2"),
        ("s,0,,a,,,\n", "line 2: port is '0'"),
        ("s,1,a,a,,,\ns,2,,b,,,\n", "line 3: has no side, but the port in line 2 has a side"),
        ("s,1,c,a,,,\n", "line 2: side is 'c'"),
        ("s,1,,\"a,b\",,,\n", "line 2: pod 'a,b' has the character ','"),
        ("s,1,,a\u{7},,,\n", "line 2: pod"),
        ("s:1,1,,a,,,\n", "line 2: switch 's:1' has the character ':'"),
        (
            "s,1,,a,,,to 2\ns,2,,b,,,free\n",
            "line 2: joins port 1 of s to port 2, which is not joined to the first port",
        ),
        ("s,1,,a,,,to 9\n", "joins port 1 of s to port 9, which the switch does not have"),
        ("s,1,,a,,,to 2\ns,2,,a,,,to 1\n", "of the same pod"),
        ("s,1,a,a,,,to 2\ns,2,a,b,,,to 1\n", "of the same side"),
        ("s,1,,a,,,to 1\n", "which is the port itself"),
        ("s,1,,a,,,broken\n", "line 2: state is 'broken'"),
        ("s,1,,,,,to 2\ns,2,,b,,,to 1\n", "line 2: state is 'to 2' at a port without a pod"),
        ("s,1,,a,,,,x\n", "line 2: has 8 fields, but the header has 7"),
        ("", "has no ports"),
    ] {
        let error = read(PORT_MAP, &[("map.csv", &format!("{head}{rows}"))], &[], false).unwrap_err();
        assert!(error.contains(told), "{rows}: {error}");
        assert!(!error.contains("map.csv, map.csv") && error.contains("map.csv"), "{error}");
    }
    let sided = format!("{head}s,1,a,a,,,\ns,2,b,b,,,\n");
    let body = read(PORT_MAP, &[("map.csv", &sided)], &[], false).unwrap().scenario.body;
    assert_eq!(body.wiring, Wiring::TwoSided);
    let crossed =
        read(PORT_MAP, &[("map.csv", &sided)], &["wiring=cross_wired"], false).unwrap().scenario.body;
    assert_eq!(crossed.wiring, Wiring::CrossWired);
    let error = read(PORT_MAP, &[("map.csv", &sided)], &["wiring=single_sided"], false).unwrap_err();
    assert!(error.contains("with single_sided wiring ports have no sides"), "{error}");
    let plain = format!("{head}s,1,,a,,,\ns,2,,b,,,\n");
    let error = read(PORT_MAP, &[("map.csv", &plain)], &["wiring=two_sided"], false).unwrap_err();
    assert!(error.contains("has no side, but switches with two_sided wiring"), "{error}");
    let error = read(PORT_MAP, &[("cables.csv", CABLES)], &[], false).unwrap_err();
    assert!(error.contains("import it as hall"), "{error}");
}

#[test]
fn lists_of_cables_that_are_wrong_are_refused_with_the_line() {
    let head = "StartDevice,StartPort,EndDevice,EndPort\n";
    for (rows, told) in [
        ("a,1,s,1\nb,1,s,1\n", "line 3: port 1 of s is already listed in hall.csv, line 2"),
        ("a,1,s,1\na,1,s,2\n", "line 3: port 1 of a is already listed"),
        ("a,1,s,1\ns,2,t,1\n", "line 3: joins s to t, and both are switches"),
        ("a,1,s,\n", "line 2: has a cable with no device or no port at one end"),
        ("", "has no cable to an optical switch"),
    ] {
        let error = read(HALL, &[("hall.csv", &format!("{head}{rows}"))], &[], false).unwrap_err();
        assert!(error.contains(told), "{rows}: {error}");
    }
    let error = read(HALL, &[("hall.csv", CABLES)], &["switches=ocs-north"], false).unwrap_err();
    assert!(error.contains("names 'ocs-north', but no cable ends at that device"), "{error}");
    let error = read(HALL, &[("nodes.csv", "node_type,node_id,port,peer_type\n")], &[], false).unwrap_err();
    assert!(error.contains("is the OCDAI list of ports"), "{error}");
}

/// Values that no file gives are recorded, and a parameter that gives the value removes the record.
#[test]
fn what_a_list_of_cables_leaves_open_is_recorded() {
    let assumed = |files: &[(&str, &str)], sets: &[&str]| -> Vec<String> {
        let made = read(HALL, files, sets, false).unwrap();
        made.assumed.iter().map(|assumed| format!("{}|{}", assumed.phrase(), assumed.set_with)).collect()
    };
    let files = [("cables.csv", CABLES), ("wanted.csv", "pod,leaf-a,leaf-b\nleaf-a,,1\nleaf-b,,\n")];
    assert_eq!(
        assumed(&files, &[]),
        [
            "pairs of ports that a switch may connect is single_sided|wiring=",
            "optical switches is the end devices: ocs-east, ocs-west|switches=",
            "ports of a switch, from the largest number in use is 6 on ocs-east, 4 on ocs-west|panel_ports=",
        ]
    );
    assert!(assumed(&files, &GIVEN).is_empty());
    let named = CABLES.replace("ocs-east,", "ocs-east,Port").replace("ocs-west,", "ocs-west,Port");
    let told = assumed(&[("cables.csv", &named), files[1]], &GIVEN);
    assert!(told.len() == 1 && told[0].contains("Port1 of ocs-east is port 1"), "{told:?}");
    let spread = r#"{"pods": {"a": 2, "b": 2}, "switches": {"s": 4}, "circuits": {"a": {"b": 2}}}"#;
    let told = assumed(&[("hall.json", spread)], &["wiring=single_sided"]);
    assert!(told.len() == 1 && told[0].contains("spread in proportion"), "{told:?}");
}

/// A name with slot and port keeps its slot: the number of the port is that of the default names of Calient switches.
#[test]
fn ports_that_are_named_by_slot_keep_the_slot() {
    let head = "StartDevice,StartPort,EndDevice,EndPort\n";
    let cables = format!("{head}a,e0,s1,1.1.1\na,e1,s1,1.2.2\nb,e0,s1,1.2.3\nb,e1,s1,1.3.5\n");
    let made = read(HALL, &[("cal.csv", &cables)], &[], false).unwrap();
    let ports = |body: &CrossconnectScenario| -> Vec<(u32, String)> {
        let listed = body.panels[0].ports.iter().filter(|port| port.pod.is_some());
        listed.map(|port| (port.number, port.label.clone().unwrap_or_default())).collect()
    };
    let named = [(1, "1.1.1"), (10, "1.2.2"), (11, "1.2.3"), (21, "1.3.5")];
    assert_eq!(ports(&made.scenario.body), named.map(|(number, name)| (number, name.to_owned())));
    assert!(made.assumed.iter().any(|one| one.value == "1.2.2 of s1 is port 10, with 8 ports per slot"));
    let wide = read(HALL, &[("cal.csv", &cables)], &["ports_per_slot=16"], false).unwrap();
    assert_eq!(ports(&wide.scenario.body)[1], (18, "1.2.2".to_owned()));
    for (rows, told) in [
        ("a,1,s,A1\nb,1,s,B2\n", "the ports of s: the names 'A1' and 'B2' differ before their last number"),
        ("a,1,s,1.1.9\nb,1,s,1.2.1\n", "'1.1.9' names port 9 of slot 1, but a slot has 8 ports"),
    ] {
        let error = read(HALL, &[("cal.csv", &format!("{head}{rows}"))], &[], false).unwrap_err();
        assert!(error.contains(told) && error.contains("import a port map"), "{error}");
    }
    let error = read(HALL, &[("cal.csv", CABLES)], &["ports_per_slot=16"], false).unwrap_err();
    assert!(error.contains("ports_per_slot: has no effect"), "{error}");
}

/// Switches without sides name a bidirectional connection from one end. A port map does not state this end, and numbers
/// the pods in another order than the list of cables.
#[test]
fn a_port_map_keeps_the_first_ports_of_connections_without_sides() {
    use crate::model::assignment::Assignment;
    use crate::plan::{Action, CrossconnectResult};
    use crate::rollout::assemble;
    let cables = "StartDevice,StartPort,EndDevice,EndPort\nA,e1,ocs-x,3\nB,e1,ocs-x,1\nC,e1,ocs-x,2\n";
    let matrix = "pod,A,B,C\nA,,1,\nB,,,\nC,,,\n";
    let first = read(HALL, &[("cables.csv", cables), ("w.csv", matrix)], &[], false).unwrap().scenario.body;
    let of = |result: &CrossconnectResult, action: Action| {
        let entries = result.changes().unwrap().ocs[0].cross_connects.iter();
        let entries = entries.filter(|entry| entry.action == action);
        entries.map(|entry| (entry.switch_port_a, entry.switch_port_b)).collect::<Vec<_>>()
    };
    let plan = assemble::candidate(&first, &Assignment::of(1, [(0, 0, 1)])).result;
    assert_eq!(of(&plan, Action::Add), [(1, 3)]);
    let map = port_map::text(&first, Some(&plan), &Params::default()).unwrap();
    let second = read(PORT_MAP, &[("map.csv", &map)], &[], false).unwrap().scenario.body;
    assert_eq!(second.pod_names.as_deref().unwrap(), ["B", "C", "A"]);
    let empty = assemble::candidate(&second, &Assignment::of(1, [])).result;
    assert_eq!(of(&empty, Action::Remove), [(1, 3)]);
    // The remark names circuits that begin at the higher number, as a switch may report them.
    assert_eq!(port_map::reversed(&second, None), None);
    let mut other = second;
    let circuit = &mut other.installed.ocs[0].cross_connects[0];
    *circuit = circuit.turned();
    assert!(
        port_map::reversed(&other, None).unwrap().starts_with("1 circuit begins at the port with the higher")
    );
}
