//! Tests of imported switch states: incomplete replies, ports that are used twice, circuits in only one direction, and
//! tables that the switch prints. An imported state leads to a plan and to commands for the switch.

use super::support::{Place, Ran};
use std::path::Path;

/// Writes the files of a fabric of 4 pods with 2 ports each on one switch (ports 1 to 8). The target is a ring:
/// circuits 2-3, 4-5, 6-7 and 8-1.
fn hall() -> Place {
    let place = Place::new();
    place.write("hall.json", given("hall.json"));
    place
}

fn given(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/resources/inputs/crossconnects/states");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// Returns the first `lines` lines of a text.
fn head(text: &str, lines: usize) -> String {
    text.split_inclusive('\n').take(lines).collect()
}

/// Imports a state of the switch into `i.json`.
fn import(place: &Place, format: &str, state: &str, more: &[&str]) -> Ran {
    place.write("state", state);
    let asked = ["import", format, "hall.json", "state", "--set", "ocs_ids=0"];
    let ran = place.run(&[&asked[..], more].concat());
    if ran.code == Some(0) {
        place.write("i.json", &ran.out);
    }
    ran
}

/// Returns the commands of the plan for `i.json`, in order: removed and added circuits.
fn commands(place: &Place, format: &str, more: &[&str]) -> Vec<String> {
    place.run(&["solve", "i.json", "-o", "p.json", "--force"]).done();
    place.run(&["check", "p.json"]).done().prints(&["0 violations"]);
    let asked = ["export", "p.json", "--to", format, "-o", "out/", "--force"];
    place.run(&[&asked[..], more].concat()).done();
    let mut files: Vec<_> =
        std::fs::read_dir(place.path("out")).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let forward = files
        .into_iter()
        .filter(|file| !name(file).contains("rollback") && !name(file).contains("ports.csv"));
    let text: String = forward.map(|file| std::fs::read_to_string(file).unwrap()).collect();
    std::fs::remove_dir_all(place.path("out")).unwrap();
    let is_command = |line: &&str| ["config ", "DLT-", "ENT-"].iter().any(|start| line.starts_with(start));
    text.lines().filter(is_command).map(str::to_owned).collect()
}

#[test]
fn replies_that_are_not_whole_are_refused() {
    let place = hall();
    let whole = given("whole.txt");
    let partial: String = head(&whole.replace("COMPLD", "PRTL"), 8) + ";\n";
    let continued = given("continued.txt");
    let both = "M  17 COMPLD\n   \"2,3\"\n   \"4,5\"\n";
    let no_end =
        "does not end with a line ';'; the import ignores this reply; read the state again with RTRV-PATCH";
    for (reply, more, said) in [
        (head(&whole, 8), &[][..], no_end),
        (head(&whole, 7), &[], no_end),
        (partial, &[], "the switch answers 'PRTL'"),
        (head(&continued, 9), &[], "ends with '>', which announces a continuation that is missing"),
        (both.to_owned(), &["--set", "bidirectional=true"], no_end),
        (whole[..150].to_owned(), &[], "has no closing quote; was the reply cut off?"),
        ("M  17 DENY\n   IITA\n;\n".to_owned(), &[], "the switch answers 'DENY'"),
        // The other part of a continued reply has the same tag.
        (continued.replacen("M  17", "M  18", 1), &[], "is to be continued, but the next one has tag 17"),
        // A record of two readings is no state.
        (format!("{whole}{}", whole.replace("17", "18")), &[], "begins a second reply (tag 18)"),
        // The next response begins within the first one.
        (format!("{}{whole}", head(&whole, 8)), &[], "before the next one begins"),
    ] {
        import(&place, "polatis_tl1", &reply, more).exit(2).says(&[said]);
        assert!(!place.path("i.json").exists(), "{reply}");
    }
    // Calient's replies end in the same way.
    let calient = given("calient.txt");
    let cut = head(&calient, 4);
    let asked = ["--set", "bidirectional=true"];
    import(&place, "calient_tl1", &cut, &asked).exit(2).says(&["does not end with a line ';'", "RTRV-CRS"]);
}

#[test]
fn whole_replies_are_read_in_any_dress() {
    let place = hall();
    let whole = given("whole.txt");
    let alarm = "   hall-ocs0 26-03-02 09:41:06\n*C 12 REPT ALM\n   \"OCS:CR,FAN\"\n;\n";
    for reply in [
        whole.clone(),
        given("continued.txt"),
        whole.replace("\r\n", "\n"),
        whole.replace("M  17", "   M  4711"),
        whole.split_once("M  17").map(|(_, rest)| format!("M  17{rest}")).unwrap(),
        format!("{alarm}{whole}"),
        format!("M  1 COMPLD\n;\n{whole}"),
    ] {
        import(&place, "polatis_tl1", &reply, &[])
            .done()
            .says(&["switch 0: 8 connections", "4 circuits are installed"]);
    }
    let empty = import(&place, "polatis_tl1", "M  17 COMPLD\n;\n", &[]).done();
    empty.says(&["0 connections", "0 circuits are installed"]);
}

#[test]
fn connections_that_are_not_well_count_as_set_and_are_named() {
    let place = hall();
    let calient = given("calient.txt");
    let both = ["--set", "bidirectional=true"];
    let ran = import(&place, "calient_tl1", &calient, &both).done();
    let ran = ran.says(&[
        "4 connections",
        "1.1.4-1.1.5 is OC=FAIL; the import counts it as set",
        "1.1.6-1.1.7 is OC=INIT; the import counts it as set",
        "4 circuits are installed",
    ]);
    // AS=UMA with OC=OK is a circuit like any other.
    assert!(!ran.err.contains("1.1.8"), "{}", ran.err);
    let strict = [&both[..], &["--strict"]].concat();
    import(&place, "calient_tl1", &calient, &strict).exit(2).says(&["OC=FAIL", "OC=INIT"]);
    let out = calient.replacen("OS=RDY", "OS=OOS-NP", 1);
    import(&place, "calient_tl1", &out, &both)
        .done()
        .says(&["1.1.2-1.1.3 is OS=OOS-NP; the import counts it as set"]);
    // CONFIG_DB and the table with states name ports that are not good.
    let status = given("ocs-0-status.txt");
    let said = "6A-7B: the port on side A is failed; the import treats the connection as set";
    import(&place, "sonic_ocs", &status, &[]).done().says(&[
        "8 connections",
        "4 circuits are installed",
        said,
    ]);
    import(&place, "sonic_ocs", &status, &["--strict"]).exit(2).says(&[said]);
    let blocked = given("ocs-0-twice.json").replace(
        "\"3B\": {\"label\": \"\", \"config_status\": \"normal\"}",
        "\"3B\": {\"label\": \"\", \"config_status\": \"force_blocked\"}",
    );
    import(&place, "sonic_ocs", &blocked, &[])
        .done()
        .says(&["2A-3B: the port on side B is force_blocked; the import treats the connection as set"]);
}

#[test]
fn a_port_in_use_twice_loses_the_connection_that_is_not_wanted() {
    let place = hall();
    for state in ["ocs-0-twice.json", "ocs-0-generated.txt"] {
        let ran = import(&place, "sonic_ocs", &given(state), &[]).done();
        ran.says(&[
            "9 connections",
            "1 connection makes no circuit (surplus): 2A-6B",
            "4 circuits are installed",
        ]);
        assert_eq!(commands(&place, "sonic_ocs", &[]), ["config ocs-cross-connect delete 2A-6B"]);
        assert_eq!(
            commands(&place, "sonic_ocs", &["--set", "form=cli1"]),
            ["config ocs cross-connect delete 2A-6B"]
        );
    }
    place.run(&["show", "p.json"]).done().prints(&["connections without a circuit"]);
    // Without the ninth connection nothing is to be done.
    let clean = given("ocs-0-generated.txt").replace("2A-6B               2A        6B\n", "");
    import(&place, "sonic_ocs", &clean, &[]).done().says(&["8 connections", "4 circuits are installed"]);
    place.run(&["solve", "i.json", "-o", "p.json", "--force"]).done();
    place
        .run(&["export", "p.json", "--to", "sonic_ocs", "-o", "out/"])
        .exit(2)
        .says(&["the plan changes nothing"]);
}

#[test]
fn of_two_circuits_at_one_port_the_wanted_one_stands() {
    let place = hall();
    // Pods 0 and 2 (ports 1 and 5) want no circuit; 1-8 of the ring comes later in the table, and stands.
    let table =
        "id  a_side  b_side\n--  --  --\n1A-5B  1A  5B\n5A-1B  5A  1B\n8A-1B  8A  1B\n1A-8B  1A  8B\n";
    let ran = import(&place, "sonic_ocs", table, &[]).done();
    ran.says(&["4 connections", "2 connections make no circuit (surplus): 1A-5B", "1 circuit is installed"]);
    let told = commands(&place, "sonic_ocs", &[]);
    let deletes: Vec<&str> = told.iter().map(String::as_str).filter(|line| line.contains("delete")).collect();
    assert_eq!(
        deletes,
        ["config ocs-cross-connect delete 1A-5B", "config ocs-cross-connect delete 5A-1B"],
        "{told:?}"
    );
    assert!(told.len() == 2 + 6 && !told.iter().any(|line| line.contains("8A-1B")), "{told:?}");
}

#[test]
fn the_missing_way_of_a_wanted_circuit_is_added_and_no_live_one_is_touched() {
    let place = hall();
    let state = given("ocs-0-one-way.json");
    let ran = import(&place, "sonic_ocs", &state, &[]).done();
    ran.says(&[
        "7 connections",
        "1 connection lacks the reverse direction (half): 8A-1B",
        "3 circuits are installed",
    ]);
    let add = "config ocs-cross-connect add 1A-8B --a-side 1A --b-side 8B";
    assert_eq!(commands(&place, "sonic_ocs", &[]), [add]);
    assert_eq!(
        commands(&place, "sonic_ocs", &["--set", "form=cli1"]),
        ["config ocs cross-connect add 1A-8B safe"]
    );
    // The same on a switch with commands in TL1, as import and as export: 8 in, 1 out; port n goes out at 8 + n.
    let whole = given("whole.txt").replace("   \"1,16\"\r\n", "");
    import(&place, "polatis_tl1", &whole, &[])
        .done()
        .says(&["1 connection lacks the reverse direction (half): 8-9"]);
    assert_eq!(commands(&place, "polatis_tl1", &[]), ["ENT-PATCH::1,16:2:;"]);
    // Ports 3 and 2 join pods 1 and 0 one way only, and what shares port 2 goes.
    let table = "id  a_side  b_side\n--  --  --\n3A-2B  3A  2B\n2A-6B  2A  6B\n";
    let ran = import(&place, "sonic_ocs", table, &[]).done();
    ran.says(&[
        "1 connection makes no circuit (surplus): 2A-6B",
        "(half): 3A-2B",
        "0 circuits are installed",
    ]);
    let told = commands(&place, "sonic_ocs", &[]);
    assert_eq!(told[0], "config ocs-cross-connect delete 2A-6B");
    assert!(!told.iter().any(|line| line.contains("3A-2B")) && told.len() == 1 + 7, "{told:?}");
}

#[test]
fn loops_are_deleted_before_their_ports_are_used() {
    let place = hall();
    let ran = import(&place, "sonic_ocs", &given("ocs-0-loop.json"), &[]).done();
    ran.says(&["7 connections", "3 connections make no circuit (surplus)", "2 circuits are installed"]);
    let told = commands(&place, "sonic_ocs", &[]);
    let (deletes, adds) = told.split_at(3);
    assert!(deletes.iter().all(|line| line.contains("delete")), "{told:?}");
    assert!(adds.len() == 4 && adds.iter().all(|line| line.contains(" add ")), "{told:?}");
    for name in ["7A-8B", "8A-7B", "6A-6B"] {
        assert!(deletes.iter().any(|line| line.ends_with(name)), "{name}: {told:?}");
    }
}

#[test]
fn where_the_ingress_port_names_a_connection_a_kept_one_is_set_again() {
    let place = hall();
    // Ingress 2 leads to 3 (egress 11) and to 6 (egress 14): deleting patch 2 takes both down.
    let twice = given("whole.txt").replace("\"3,10\"\r\n", "\"3,10\"\r\n   \"2,14\"\r\n");
    let ran = import(&place, "polatis_tl1", &twice, &[]).done();
    ran.says(&["9 connections", "(surplus): 2-14", "4 circuits are installed"]);
    assert_eq!(commands(&place, "polatis_tl1", &[]), ["DLT-PATCH::2:2:;", "ENT-PATCH::2,11:3:;"]);
}

#[test]
fn a_stale_pair_in_the_way_goes_and_unknown_ports_stay_refused() {
    let place = hall();
    let table = |rows: &[&str]| {
        let row = |name: &&str| {
            let (a, b) = name.split_once('-').unwrap();
            format!("{name}  {a}  {b}\n")
        };
        format!(
            "root@sonic:~# show ocs cross-connect config\nid  a_side  b_side\n----  ----  ----\n{}root@sonic:~#\n",
            rows.iter().map(row).collect::<String>()
        )
    };
    let stale = table(&["2A-3B", "3A-2B", "4A-5B", "5A-4B", "6A-1B", "1A-6B"]);
    import(&place, "sonic_ocs", &stale, &[]).done().says(&["6 connections", "3 circuits are installed"]);
    let told = commands(&place, "sonic_ocs", &[]);
    let of = |word: &str| told.iter().filter(|line| line.contains(word)).count();
    assert_eq!((of(" delete "), of(" add ")), (2, 4), "{told:?}");
    let config = given("ocs-0-config.txt");
    import(&place, "sonic_ocs", &config, &[]).done().says(&["8 connections", "4 circuits are installed"]);
    import(&place, "sonic_ocs", &table(&["9A-1B"]), &[]).exit(2).says(&["names ingress port 9"]);
    let again = table(&["2A-3B", "3A-2B", "2A-3B"]);
    import(&place, "sonic_ocs", &again, &[]).exit(2).says(&["repeats the id 2A-3B"]);
    let cut = &config[..config.len() - 4];
    import(&place, "sonic_ocs", cut, &[]).exit(2).says(&["line 10: is '1A-8B  1A'; give rows with id"]);
    import(&place, "sonic_ocs", "hello\n", &[]).exit(2).says(&["holds neither JSON nor a table"]);
    // An id of its own is no name that our commands use.
    let named = config.replace("2A-3B  2A        3B", "ring-1  2A        3B");
    import(&place, "sonic_ocs", &named, &[]).done().says(&["ring-1 is the id of the connection 2A-3B"]);
    import(&place, "sonic_ocs", &named, &["--strict"]).exit(2).says(&["ring-1"]);
    // Nothing but single ways: perhaps the switch carries both directions.
    let one_way = table(&["2A-3B", "4A-5B"]);
    import(&place, "sonic_ocs", &one_way, &[]).done().says(&[
        "2 connections lack the reverse direction (half)",
        "if each connection carries both directions, import with bidirectional=true",
    ]);
}

#[test]
fn a_connection_that_the_switch_names_otherwise_is_told() {
    let place = hall();
    let entry = |name: &str, from: u32, to: u32| {
        let ports = format!("\"input-port-name\": \"port-{from}\", \"output-port-name\": \"port-{to}\"");
        format!("{{\"name\": \"{name}\", \"config\": {{\"name\": \"{name}\", {ports}}}}}")
    };
    let state = |names: [&str; 2]| {
        format!("{{\"port-connection\": [{}, {}]}}", entry(names[0], 2, 13), entry(names[1], 5, 10))
    };
    let usual = ["port-2_port-13", "port-5_port-10"];
    let ran = import(&place, "ocp_ocs", &state(usual), &["--strict"]).done();
    assert!(!ran.err.contains("has the name"), "{}", ran.err);
    // 2-5 is not wanted: the deletion goes by the ports, and names the way out of a list with other names.
    let other = state(["ring-1", usual[1]]);
    let said = "port-connection[0]: connection port-2_port-13 has the name 'ring-1'";
    import(&place, "ocp_ocs", &other, &["--strict"]).exit(2).says(&[said]);
    import(&place, "ocp_ocs", &other, &[]).done().says(&[said, "full=true, which replaces the whole list"]);
    place.run(&["show", "i.json"]).done().prints(&[said]);
    // In one batch: a limit that is never reached takes the place of the usual ones.
    place.run(&["solve", "i.json", "--set", "max_dark_per_pod=64", "-o", "p.json"]).done();
    place.run(&["export", "p.json", "--to", "ocp_ocs", "-o", "out/"]).done();
    let text = place.read("out/hall.ocp_ocs.ocs-0.yaml");
    assert!(text.contains("port-connection[name=port-2_port-13]"), "{text}");
    assert!(text.contains("A connection with another name stays"), "{text}");
    place.run(&["export", "p.json", "--to", "ocp_ocs", "--set", "full=true", "-o", "out/", "--force"]).done();
    let text = place.read("out/hall.ocp_ocs.ocs-0.yaml");
    assert!(text.contains("\"replaces\"") && !text.contains("another name"), "{text}");
    // Names that follow another rule are told once, with the parameter that follows it.
    let said = "connections have names like 'port-5-port-10'; export with connection_name={input}-{output}";
    let ruled = state(["port-2-port-13", "port-5-port-10"]);
    import(&place, "ocp_ocs", &ruled, &[]).done().says(&[said]);
    let rule = ["--set", "connection_name={input}-{output}"];
    place
        .run(&[&["export", "p.json", "--to", "ocp_ocs", "-o", "out/", "--force"], &rule[..]].concat())
        .done();
    let text = place.read("out/hall.ocp_ocs.ocs-0.yaml");
    assert!(text.contains("port-connection[name=port-2-port-13]"), "{text}");
}

/// Ports 5 and 1 belong to pods 2 and 0, which want no circuit: commands delete the connection by the name that the
/// switch gives it.
#[test]
fn bidirectional_connections_are_deleted_by_the_name_of_the_reply() {
    let place = hall();
    let both = ["--set", "bidirectional=true"];
    let table = "{\"OCS_CROSS_CONNECT\": {\"5A-1B\": {\"a_side\": \"5A\", \"b_side\": \"1B\"}}}";
    import(&place, "sonic_ocs", table, &both).done().says(&["1 circuit is installed", "bidirectional=true"]);
    let told = commands(&place, "sonic_ocs", &both);
    assert!(told.contains(&"config ocs-cross-connect delete 5A-1B".to_owned()), "{told:?}");
    let line = "SRCPORT=1.1.5,DSTPORT=1.1.1,GRPNAME=SYSTEM,CONNNAME=1.1.5-1.1.1,CONNTYPE=2WAY,OC=OK";
    let reply = format!("M 1 COMPLD\n\"{line}\"\n;\n");
    import(&place, "calient_tl1", &reply, &both)
        .done()
        .says(&["connections are in the group SYSTEM; export with group=SYSTEM"]);
    let told = commands(&place, "calient_tl1", &[&both[..], &["--set", "group=SYSTEM"]].concat());
    let deletes =
        |line: &String| line.starts_with("DLT-CRS::1.1.5,1.1.1:") && line.ends_with("SYSTEM,1.1.5-1.1.1;");
    assert!(told.iter().any(deletes), "{told:?}");
    let named = reply.replace("CONNNAME=1.1.5-1.1.1", "CONNNAME=ring");
    import(&place, "calient_tl1", &named, &both).done().says(&["connection 1.1.5-1.1.1 has CONNNAME=ring"]);
}
