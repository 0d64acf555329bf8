//! Tests of kind `collective` on the command line: import of a machine, export of a schedule, and messages about
//! invalid input.

use super::support::Place;
use serde_json::{Value, json};
use std::path::Path;

fn machine(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/resources/inputs/collectives");
    folder.join(name).display().to_string()
}

#[test]
fn a_schedule_for_a_machine_goes_back_as_a_program() {
    let place = Place::new();
    let file = machine("rccl_topo_8p6l.xml");
    let told = place.run(&["import", "nccl", &file, "-o", "machine.json"]).done();
    assert!(told.err.contains("8 GPUs") || told.out.contains("8 GPUs"), "{}{}", told.out, told.err);
    let scenario = place.json("machine.json");
    assert_eq!(
        (&scenario["kind"], &scenario["demand"]["collective"]),
        (&json!("collective"), &json!("all_gather"))
    );
    assert_eq!(scenario["topology"]["links"].as_array().unwrap().len(), 48);
    for collective in ["all_gather", "all_reduce", "all_to_all"] {
        let set = format!("collective={collective}");
        place
            .run(&[
                "solve",
                "machine.json",
                "--method",
                "construct",
                "--set",
                &set,
                "-o",
                "plan.json",
                "--force",
            ])
            .done();
        place.run(&["check", "plan.json"]).done();
        // Nothing is written that the interpreter does not bring to the end that the collective asks for.
        place.run(&["export", "plan.json", "--to", "msccl", "-o", "plan.xml", "--force"]).done();
        let program = place.read("plan.xml");
        assert!(program.starts_with("<algo ") && program.contains("ngpus=\"8\""), "{program}");
        let table = place.run(&["export", "plan.json", "--to", "sends", "-o", "-"]).done().out;
        assert!(table.starts_with("epoch,start_us,"), "{table}");
    }
    // A file of another tool is told by its content, with the command that reads it.
    place.run(&["show", &file]).exit(2).says(&["lightbay import nccl"]);
}

#[test]
fn topologies_and_sketches_of_other_tools_are_solved() {
    let place = Place::new();
    let (topology, sketch) = (machine("topo-ndv2-1MB.json"), machine("sk1-ndv2-n2.json"));
    let told = place.run(&[
        "import",
        "taccl",
        &topology,
        &sketch,
        "--set",
        "output_buffer_bytes=16000000",
        "-o",
        "two.json",
    ]);
    let told = told.done();
    let said = format!("{}{}", told.out, told.err);
    assert!(said.contains("16 GPUs, 0 switches, 66 links") && said.contains("megabyte"), "{said}");
    place.run(&["solve", "two.json", "--method", "construct", "-o", "two.plan.json"]).done();
    place.run(&["check", "two.plan.json"]).done();
    place
        .run(&["import", "taccl", &topology, &sketch, "--strict"])
        .exit(2)
        .says(&["mb=", "output_buffer_bytes="]);
    // The file itself says which command reads it; a sketch has its topology beside it.
    place.run(&["show", &topology]).exit(2).says(&["lightbay import taccl"]);
    place.run(&["show", &sketch]).exit(2).says(&["lightbay import taccl TOPOLOGY"]);
    place.run(&["import", "taccl", &sketch]).exit(2).says(&["none of the files is a topology"]);
    place.write("mine.json", b"{\"msccl_type\": \"topology\", \"name\": \"m\", \"links\": [[0, 1], [1, 0]]}");
    place.run(&["import", "msccl_topology", "mine.json", "-o", "mine.scenario.json"]).done();
    assert_eq!(place.json("mine.scenario.json")["topology"]["links"].as_array().unwrap().len(), 2);
}

#[test]
fn schedules_of_other_programs_become_plans() {
    let place = Place::new();
    let schedule = machine("teccl_amd_32.xml.gz");
    let told = place
        .run(&["import", "msccl", "preset:amdx2-allgather-1gb", &schedule, "-o", "published.json"])
        .done();
    let said = format!("{}{}", told.out, told.err);
    assert!(said.contains("1910 messages on 2 channels") && said.contains("the plan ends after"), "{said}");
    place.run(&["check", "published.json"]).done();
    let plan = place.json("published.json");
    assert_eq!((&plan["method"], &plan["status"]), (&json!("msccl"), &json!("heuristic")));
    place.run(&["show", "published.json"]).done();
    place.run(&["export", "published.json", "--to", "msccl", "-o", "again.xml"]).done();
    place.run(&["show", &schedule]).exit(2).says(&["lightbay import msccl SCENARIO"]);
    place.run(&["import", "msccl", &schedule]).exit(2).says(&["none of the files is a scenario"]);
    // An execution plan goes out and comes back.
    place.scenario("dgx1-allreduce-200kb", "sum.json");
    place.run(&["solve", "sum.json", "--method", "construct", "-o", "sum.plan.json"]).done();
    place.run(&["export", "sum.plan.json", "--to", "mscclpp", "-o", "sum.mscclpp.json"]).done();
    place.run(&["show", "sum.mscclpp.json"]).exit(2).says(&["lightbay import mscclpp SCENARIO"]);
    place.run(&["import", "mscclpp", "sum.json", "sum.mscclpp.json", "-o", "back.json"]).done();
    place.run(&["check", "back.json"]).done();
}

#[test]
fn wrong_scenarios_are_refused_with_field_value_and_what_is_valid() {
    let place = Place::new();
    place.scenario("dgx2x1-allgather-1mb", "good.json");
    let good = place.json("good.json");
    let custom =
        |chunks: Value| json!({"collective": "custom", "chunk_bytes": 1e5, "copy": true, "chunks": chunks});
    let cases: [(&str, Value, &[&str]); 9] = [
        ("/topology/links/0/capacity_gbyte_per_s", json!(0.0), &["capacity_gbyte_per_s", "0"]),
        ("/topology/links/0/alpha_us", json!(-1.0), &["alpha_us", "-1"]),
        ("/topology/links/0/to", json!(99), &["links[0].to", "99", "nodes are 0 to 16"]),
        (
            "/demand",
            custom(json!([{"source": 16, "dests": [1]}])),
            &["chunks[0].source", "a switch", "use a GPU"],
        ),
        ("/demand", custom(json!([{"source": 0, "dests": [16]}])), &["chunks[0].dests[0]", "a switch"]),
        ("/demand", custom(json!([{"source": 0, "dests": [0]}])), &["chunks[0].dests[0]", "the source"]),
        (
            "/demand",
            custom(json!([{"source": 0, "dests": [1, 1]}])),
            &["chunks[0].dests[1]", "repeats GPU 1"],
        ),
        ("/topology/symmetry_generators", json!([[1, 2]]), &["symmetry_generators[0]"]),
        ("/failed_links", json!([[0, 16]]), &["no path from node 0"]),
    ];
    for (pointer, value, said) in cases {
        let mut wrong = good.clone();
        match wrong.pointer_mut(pointer) {
            Some(place) => *place = value.clone(),
            None => wrong[pointer.trim_start_matches('/')] = value.clone(),
        }
        place.write("wrong.json", serde_json::to_vec(&wrong).unwrap());
        let told = place.run(&["solve", "wrong.json"]).exit(2).says(said);
        assert!(told.err.contains("wrong.json"), "{}", told.err);
    }
    // A chunk that nobody wants, and nothing wanted at all, are no mistakes.
    for chunks in [json!([{"source": 0, "dests": []}, {"source": 1, "dests": [2]}]), json!([])] {
        let mut odd = good.clone();
        odd["demand"] = custom(chunks);
        place.write("odd.json", serde_json::to_vec(&odd).unwrap());
        place.run(&["solve", "odd.json", "-o", "odd.plan.json", "--force"]).done();
        place.run(&["check", "odd.plan.json"]).done();
    }
}

/// Makes a scenario with `new collective --set from=PLAN`, solves it, and checks the plan.
fn carried(place: &Place, plan: &str, settings: &[&str]) -> Value {
    let from = format!("from={plan}");
    let mut all = vec!["new", "collective", "--set", &from];
    all.extend(settings.iter().flat_map(|setting| ["--set", *setting]));
    all.extend(["-o", "carried.json", "--force"]);
    place.run(&all).done().says(&["network:"]);
    place
        .run(&["solve", "carried.json", "--method", "construct", "-o", "carried.plan.json", "--force"])
        .done();
    place.run(&["check", "carried.plan.json"]).done();
    place.json("carried.json")
}

#[test]
fn a_collective_runs_on_the_circuits_of_a_training_plan() {
    let place = Place::new();
    place.plan("tiny4", "prop-alloc", "job.plan.json");
    let made = carried(&place, "job.plan.json", &["output_buffer_bytes=8000000", "circuit_alpha_us=2"]);
    assert_eq!(made["derived_from"]["kind"], "training");
    let links = made["topology"]["links"].as_array().unwrap();
    assert!(!links.is_empty() && links.iter().all(|link| link["kind"] == "ocs" && link["alpha_us"] == 2.0));
    assert_eq!(made["demand"]["output_buffer_bytes"], 8e6);
    let made = carried(&place, "job.plan.json", &["gpus_per_pod=2", "collective=all_reduce"]);
    let nodes = made["topology"]["nodes"].as_array().unwrap();
    assert!(nodes.iter().any(|node| node["kind"] == "switch"));
    let wrong = ["new", "collective", "--set", "from=job.plan.json", "--set", "pod_gbyte_per_s=9"];
    place.run(&wrong).exit(2).says(&["pod_gbyte_per_s", "gpus_per_pod"]);
    place.run(&["new", "collective", "--set", "circuit_gbps=9"]).exit(2).says(&["from: is missing"]);
}

#[test]
fn the_all_to_all_of_a_region_runs_on_its_circuits() {
    let place = Place::new();
    place.plan("moe-small", "mfabric-swap", "region.plan.json");
    let made = carried(&place, "region.plan.json", &[]);
    assert_eq!(
        (made["derived_from"]["kind"].as_str(), made["demand"]["collective"].as_str()),
        (Some("moe"), Some("custom"))
    );
    let nodes = made["topology"]["nodes"].as_array().unwrap();
    assert_eq!(nodes.iter().filter(|node| node["kind"] == "switch").count(), 1);
    let rows = made["demand"]["matrix"].as_array().unwrap();
    assert_eq!((rows.len(), nodes.len()), (4, 5));
    assert!(rows.iter().flat_map(|row| row.as_array().unwrap()).any(|count| count == 24));
    let made = carried(&place, "region.plan.json", &["demand=all_gather"]);
    assert_eq!(made["demand"]["collective"], "all_gather");
    place.plan("crossconnect-example", "lumos-halving", "switches.plan.json");
    let wrong = ["new", "collective", "--set", "from=switches.plan.json", "--set", "demand=traffic"];
    place.run(&wrong).exit(2).says(&["demand: is traffic", "all_gather"]);
}

#[test]
fn a_collective_runs_on_cross_connects_and_on_a_pod() {
    let place = Place::new();
    place.plan("crossconnect-example", "lumos-halving", "switches.plan.json");
    let made = carried(&place, "switches.plan.json", &["circuit_gbps=800"]);
    assert_eq!(made["derived_from"]["kind"], "crossconnect");
    let rate = |link: &Value| link["capacity_gbyte_per_s"].as_f64().unwrap();
    assert!(made["topology"]["links"].as_array().unwrap().iter().all(|link| rate(link) % 100.0 == 0.0));
    place.plan("pt-4x4x8", "pt", "pod.plan.json");
    let made = carried(&place, "pod.plan.json", &["output_buffer_bytes=1280000"]);
    assert_eq!(
        (&made["derived_from"]["kind"], made["topology"]["nodes"].as_array().unwrap().len()),
        (&json!("tpu"), 128)
    );
    // Six ports of every chip, one link each.
    assert_eq!(made["topology"]["links"].as_array().unwrap().len(), 768);
    let wrong = ["new", "collective", "--set", "from=pod.plan.json", "--set", "circuit_gbps=9"];
    place.run(&wrong).exit(2).says(&["circuit_gbps", "the plan contains the nodes, the links"]);
}

#[test]
fn loads_and_timelines_of_a_schedule_are_written() {
    let place = Place::new();
    place.plan("ndv2x2-allgather-64kb", "construct", "plan.json");
    let read = |arguments: &[&str]| {
        let all: Vec<&str> =
            ["export", "plan.json", "-o", "-", "--to"].iter().chain(arguments).copied().collect();
        place.run(&all).done().out
    };
    let links = read(&["traffic"]);
    assert_eq!(links.lines().count(), 67, "{links}");
    assert_eq!(links.lines().filter(|line| line.ends_with(",yes")).count(), 1, "{links}");
    let groups = read(&["traffic", "--set", "between=groups"]);
    assert!(groups.lines().count() == 3 && groups.contains("group 0"), "{groups}");
    let dense = read(&["traffic", "--set", "between=groups", "--set", "form=dense"]);
    assert!(dense.starts_with("from\\to,group 0,group 1\n"), "{dense}");
    let trace: Value = serde_json::from_str(&read(&["trace"])).unwrap();
    assert!(trace["otherData"]["advice"].as_str().unwrap().contains("group"), "{trace}");
    assert!(read(&["svg"]).contains("<svg"));
    assert!(read(&["markdown"]).contains("data:image/svg+xml"));
    let hints = read(&["nccl_tuner"]);
    assert!(hints.starts_with("allgather,0,") && hints.contains(",ring,simple,"), "{hints}");
}
