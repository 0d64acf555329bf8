//! Tests of fabrics described by tables of the user: all files of the plan use the port numbers and names of the user's
//! panels; and tests of run sheets.

use super::support::Place;
use std::path::Path;

fn resource(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/resources/inputs/hall");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// Writes the files of a fabric of three leaves on two switches. One of the target circuits connects the second ports
/// of leaf-b and leaf-c on ocs-east.
fn hall() -> Place {
    let place = Place::new();
    place.write("cables.csv", resource("cables.csv"));
    place.write("wanted.csv", resource("wanted.csv"));
    let told = "3 pods on 2 switches: 9 ports, 4 target circuits, 0 installed";
    place.run(&["import", "hall", "cables.csv", "wanted.csv", "-o", "hall.json"]).done().prints(&[
        told,
        "(set with 'wiring=')",
        "(set with 'switches=')",
        "(set with 'panel_ports=')",
    ]);
    place.run(&["solve", "hall.json", "-o", "plan.json"]).done();
    place.run(&["check", "plan.json"]).done().prints(&["0 violations"]);
    place
}

/// Returns the commands in the files of a folder whose names contain `with` and do not contain `without`.
fn commands(place: &Place, folder: &str, with: &str, without: &str) -> Vec<String> {
    let mut files: Vec<_> =
        std::fs::read_dir(place.path(folder)).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    files.retain(|file| name(file).contains(with) && !name(file).contains(without));
    let texts = files.iter().map(|file| std::fs::read_to_string(file).unwrap());
    let lines: Vec<String> =
        texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    lines.into_iter().filter(|line| line.starts_with("config ")).collect()
}

#[test]
fn commands_name_the_ports_of_the_panels() {
    let place = hall();
    place.run(&["export", "plan.json", "--to", "sonic_ocs", "--set", "form=cli1", "-o", "sonic/"]).done();
    let east = commands(&place, "sonic", "ocs-east", "rollback");
    let west = commands(&place, "sonic", "ocs-west", "rollback");
    assert!(!east.is_empty() && !west.is_empty());
    // Port 4 of ocs-east is free, so no command names it.
    for line in east.iter().chain(&west) {
        assert!(!line.contains(" 4A") || !east.contains(line), "{line}");
    }
    let map = place.run(&["export", "plan.json", "--to", "port_map"]).done().out;
    assert!(map.contains("ocs-east,4,,,,,\n"), "{map}");
    // Every circuit of the commands is in the port map, at both ends.
    for line in &east {
        let pair = line.split_whitespace().find(|word| word.contains("A-")).unwrap();
        let (a, b) = pair.trim_end_matches('B').split_once("A-").unwrap();
        let row = map.lines().find(|row| row.starts_with(&format!("ocs-east,{a},"))).unwrap();
        assert!(row.ends_with(&format!(",to {b}")), "{line}: {row}");
    }
    place.write("map.csv", &map);
    let again = place.run(&["import", "map.csv", "-o", "again.json"]).done();
    again.prints(&["so the installed circuits become the target"]);
    place.run(&["export", "again.json", "--to", "port_map", "-o", "map2.csv"]).done();
    assert_eq!(place.read("map2.csv"), map);
}

/// The list names ports 1 to 6 of ocs-east and 1 to 4 of ocs-west; a larger switch has other egress numbers.
#[test]
fn egress_numbers_that_rest_on_the_list_are_told() {
    let place = hall();
    let told = "Egress ports start at 7 on ocs-east and 5 on ocs-west";
    place.run(&["export", "plan.json", "--to", "polatis_tl1", "-o", "tl1/"]).done().says(&[told]);
    // Separate series start at 1 for every switch.
    let sonic = place.run(&["export", "plan.json", "--to", "sonic_ocs", "-o", "sonic/"]).done();
    assert!(!sonic.err.contains("egress"), "{}", sonic.err);
}

#[test]
fn parameters_speak_of_ports_by_their_numbers_and_of_pods_by_name() {
    let place = hall();
    let with = |set: &str| place.run(&["solve", "hall.json", "--set", set, "--force", "-o", "set.json"]);
    let scenario = || place.json("set.json")["scenario"].clone();
    with("failed_ports=ocs-east:5").done();
    assert_eq!(scenario()["failed_ports"][0]["pod"], 1);
    with("failed_ports=ocs-east:4")
        .exit(2)
        .says(&["failed_ports: has 'ocs-east:4'", "such as 'ocs-east:1', where the port belongs to a pod"]);
    with("failed_ports=ocs-north:1").exit(2);
    with("circuits=leaf-b-leaf-c:1").done();
    assert_eq!(scenario()["logical_circuits"][1][2], 1);
    with("circuits=leaf-b-leaf-x:1").exit(2).says(&["such as 'leaf-a-leaf-b:4'"]);
    with("failed_ocs=ocs-west").done();
    assert_eq!(scenario()["failed_ports"].as_array().unwrap().len(), 4);
}

/// The progress of a change in several steps is derived from the circuits that the switches report.
#[test]
fn progress_is_told_from_what_the_switches_say() {
    let place = Place::new();
    // A ring of four circuits becomes another one, one circuit of a pod at a time.
    let head = "switch,port,side,pod,pod_port,label,state\n";
    let rows = |joined: &[(u32, u32)]| -> String {
        let to = |port: u32| {
            let far = joined.iter().find_map(|&(a, b)| (a == port).then_some(b).or((b == port).then_some(a)));
            far.map_or_else(|| "free".to_owned(), |far| format!("to {far}"))
        };
        let row = |port: u32| format!("s,{port},,p{},,,{}\n", port.div_ceil(2), to(port));
        (1..=8).map(row).collect::<Vec<_>>().concat()
    };
    let old = [(2, 3), (4, 5), (6, 7), (8, 1)];
    place.write("map.csv", format!("{head}{}", rows(&old)));
    place.write("wanted.csv", "pod,p1,p2,p3,p4\np1,,,1,1\np2,,,1,1\np3,,,,\np4,,,,\n");
    place
        .run(&["import", "port_map", "map.csv", "wanted.csv", "--set", "name=ring", "-o", "ring.json"])
        .done();
    place.run(&["solve", "ring.json", "--set", "max_dark_per_pod=1", "-o", "plan.json"]).done();
    let plan = place.json("plan.json");
    let steps = plan["result"]["batches"].as_array().unwrap().len();
    let reply = |pairs: &[(u32, u32)]| -> String {
        let lines = pairs.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
        let line = |(a, b): (u32, u32)| format!("   \"{a},{}\"\n", b + 8);
        let lines = lines.map(line).collect::<Vec<_>>().concat();
        format!("M 1 COMPLD\n{lines};\n")
    };
    place.write("s.txt", reply(&old));
    let start = place.run(&["import", "polatis_tl1", "plan.json", "s.txt", "-o", "now.json"]).done();
    start.prints(&[&format!("step 0 of {steps} done, every port is in its state after this step")]);
    let new: Vec<(u32, u32)> = plan["result"]["ocs"][0]["cross_connects"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["action"] != "remove")
        .map(|entry| ["switch_port_a", "switch_port_b"].map(|key| entry[key].as_u64().unwrap() as u32))
        .map(|[a, b]| (a, b))
        .collect();
    place.write("s.txt", reply(&new));
    let end = place.run(&["import", "polatis_tl1", "plan.json", "s.txt", "-o", "now.json", "--force"]).done();
    end.prints(&[&format!("step {steps} of {steps} done, every port is in its state after this step")]);
    // The removals of the first step are done and its additions are not: the step has begun, and none is done.
    let removed: Vec<(u32, u32)> = plan["result"]["batches"][0]["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|at| &plan["result"]["ocs"][0]["cross_connects"][at["entry"].as_u64().unwrap() as usize])
        .filter(|entry| entry["action"] == "remove")
        .map(|entry| ["switch_port_a", "switch_port_b"].map(|key| entry[key].as_u64().unwrap() as u32))
        .map(|[a, b]| (a, b))
        .collect();
    let is_removed = |&(a, b): &(u32, u32)| removed.contains(&(a, b)) || removed.contains(&(b, a));
    let left: Vec<(u32, u32)> = old.into_iter().filter(|pair| !is_removed(pair)).collect();
    assert!(left.len() < old.len() && !left.is_empty());
    place.write("s.txt", reply(&left));
    let begun =
        place.run(&["import", "polatis_tl1", "plan.json", "s.txt", "-o", "now.json", "--force"]).done();
    begun
        .prints(&[&format!("step 0 of {steps} done, step 1 has begun"), "not yet in the state after it: s:"]);
    place.write("s.txt", reply(&[]));
    let drift =
        place.run(&["import", "polatis_tl1", "plan.json", "s.txt", "-o", "now.json", "--force"]).done();
    drift.prints(&["ports differ from the state after this step", ": s:"]);
    let sheet =
        place.run(&["export", "plan.json", "--to", "run_sheet", "--set", "commands=polatis_tl1"]).done().out;
    for part in [
        "# Run sheet of ring",
        "## Step 1 of",
        "Circuits in service during the step",
        "capacity left",
        "DLT-PATCH::",
        "return to",
    ] {
        assert!(sheet.contains(part), "{part} in {sheet}");
    }
    let page = place.run(&["export", "plan.json", "--to", "run_sheet", "--set", "form=html"]).done().out;
    assert!(page.starts_with("<!DOCTYPE html>"), "{page}");
    place.run(&["show", "plan.json", "--section", "run_sheet"]).done().prints(&["Run sheet"]);
    place.run(&["show", "plan.json", "--section", "run_sheet", "--item", "1"]).done().prints(&["left %"]);
    place.run(&["show", "plan.json", "--section", "port_map"]).done().prints(&["to "]);
}

#[test]
fn the_list_of_cables_of_a_published_fabric_is_a_hall() {
    let place = Place::new();
    place.write("map.csv", resource("ocdai.csv"));
    place.write("wanted.csv", "pod,conv_leaf-01,conv_leaf-02\nconv_leaf-01,,32\nconv_leaf-02,,\n");
    let made = place.run(&["import", "hall", "map.csv", "wanted.csv", "-o", "hall.json"]).done();
    made.prints(&["2 pods on 2 switches: 64 ports, 32 target circuits"]);
    let hall = place.json("hall.json");
    assert_eq!(hall["pod_names"], serde_json::json!(["conv_leaf-01", "conv_leaf-02"]));
    assert_eq!(hall["ports_a"], serde_json::json!([[16, 16], [16, 16]]));
    place.run(&["solve", "hall.json", "-o", "plan.json"]).done();
    place.run(&["check", "plan.json"]).done().prints(&["0 violations"]);
    place.run(&["export", "plan.json", "--to", "polatis_tl1", "-o", "out/"]).done();
    assert!(
        place
            .path("out")
            .read_dir()
            .unwrap()
            .any(|file| { file.unwrap().file_name().to_string_lossy().contains("conv_spine-01") })
    );
}

/// A designed pod is exported as switch commands without a second scenario; if a plan gives the installed circuits,
/// only the differences are written.
#[test]
fn designs_of_pods_and_layers_of_regions_get_commands() {
    let place = Place::new();
    place.run(&["solve", "preset:tpu-128", "--method", "tons-fast", "--seed", "1", "-o", "one.json"]).done();
    place.run(&["export", "one.json", "--to", "polatis_tl1", "-o", "all/"]).done();
    let files = place.path("all").read_dir().unwrap().count();
    assert!(files > 48, "{files}");
    place
        .run(&["export", "one.json", "--against", "one.json", "--to", "polatis_tl1", "-o", "none/"])
        .exit(2)
        .says(&["the plan changes nothing"]);
    place.run(&["export", "one.json", "--to", "run_sheet"]).done().prints(&["# Run sheet of"]);
    let table = place.run(&["export", "one.json", "--to", "circuits"]).done().out;
    let map = place.run(&["export", "one.json", "--to", "port_map"]).done().out;
    // One number per port: the table of the pod, the port map and the commands agree.
    for row in table.lines().skip(1).take(8) {
        let cells: Vec<&str> = row.split(',').collect();
        let [ocs, from, to] = [cells[0], cells[1], cells[2]];
        let port = map.lines().find(|line| line.starts_with(&format!("ocs-{ocs},{from},"))).unwrap();
        assert!(port.ends_with(&format!(",to {to}")), "{row}: {port}");
    }
    place.run(&["solve", "preset:moe-mixtral_8x22b", "--method", "mfabric-swap", "-o", "region.json"]).done();
    place.run(&["export", "region.json", "--to", "sonic_ocs", "-o", "layers/"]).done();
    let layers: Vec<String> = place
        .path("layers")
        .read_dir()
        .unwrap()
        .map(|file| file.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert!(layers.iter().any(|name| name.contains("layer-")), "{layers:?}");
    place.run(&["new", "crossconnect", "--set", "from=region.json", "-o", "one_switch.json"]).done();
    let hall = place.json("one_switch.json");
    assert_eq!(
        (&hall["ocs_count"], &hall["wiring"]),
        (&serde_json::json!(1), &serde_json::json!("single_sided"))
    );
}

/// With the values that the list leaves open, a strict import succeeds.
#[test]
fn strict_imports_of_cables_need_wiring_switches_and_sizes() {
    let place = hall();
    let asked = ["import", "hall", "cables.csv", "wanted.csv", "--strict"];
    place.run(&asked).exit(2).says(&["set 'wiring='", "set 'switches='", "set 'panel_ports='"]);
    let given = ["wiring=single_sided", "switches=ocs-east,ocs-west", "panel_ports=6"];
    let sets: Vec<&str> = given.iter().flat_map(|set| ["--set", set]).collect();
    place.run(&[&asked[..], &sets].concat()).done();
}

/// Ports that a list of cables names by slot and port have these names in commands.
#[test]
fn commands_keep_the_slots_of_ports() {
    let place = Place::new();
    place.write(
        "cal.csv",
        "StartDevice,StartPort,EndDevice,EndPort\na,e0,s1,1.1.1\na,e1,s1,1.2.2\nb,e0,s1,1.2.3\nb,e1,s1,1.3.5\n",
    );
    place.write("w.csv", "pod,b,a\na,2,0\nb,0,2\n");
    place
        .run(&["import", "hall", "cal.csv", "w.csv", "-o", "hall.json"])
        .done()
        .prints(&["1.2.2 of s1 is port 10"]);
    place.run(&["solve", "hall.json", "-o", "plan.json"]).done();
    place.run(&["export", "plan.json", "--to", "calient_tl1", "-o", "out/"]).done();
    let file = std::fs::read_dir(place.path("out"))
        .unwrap()
        .map(|file| file.unwrap().path())
        .find(|file| {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            name.contains("s1") && !name.contains("rollback")
        })
        .unwrap();
    let text = std::fs::read_to_string(file).unwrap();
    for pair in ["1.1.1,1.2.3", "1.2.3,1.1.1", "1.2.2,1.3.5", "1.3.5,1.2.2"] {
        assert!(text.contains(&format!("ENT-CRS::{pair}:")), "{pair}: {text}");
    }
    place
        .run(&[
            "export",
            "plan.json",
            "--to",
            "calient_tl1",
            "--set",
            "ports_per_slot=16",
            "-o",
            "out/",
            "--force",
        ])
        .exit(2)
        .says(&["port_template: names port 10 of s1 1.1.10, but its label is 1.2.2"]);
}
