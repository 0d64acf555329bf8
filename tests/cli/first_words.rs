//! Tests of the help texts and messages that a new user sees first.

use crate::models;
use crate::support::Place;
use lightbay_highs::file::ModelFormat;
use std::path::Path;

#[test]
fn help_is_a_command_too() {
    let place = Place::new();
    let help = place.run(&["help"]).done().out;
    assert_eq!(help, place.run(&["--help"]).done().out);
    for command in ["solve", "import", "show"] {
        let help = place.run(&["help", command]).done().out;
        assert_eq!(help, place.run(&[command, "--help"]).done().out);
    }
    place
        .run(&["help", "slove"])
        .exit(2)
        .says(&["there is no command 'slove'; did you mean `lightbay help solve`?"]);
}

#[test]
fn slips_of_commands_are_told_with_what_was_meant() {
    let place = Place::new();
    for (arguments, told) in [
        (
            &["slove", "preset:tiny8"][..],
            "no command and no file 'slove'; did you mean `lightbay solve preset:tiny8`?",
        ),
        (&["slove"], "did you mean `lightbay solve`?"),
        (&["Show", "a.json", "--json"], "did you mean `lightbay show a.json --json`?"),
        (&["hepl"], "did you mean `lightbay help`?"),
    ] {
        place.run(arguments).exit(2).says(&[told]);
    }
    // A file of that name is a file.
    place.write("slove", "{}");
    place.run(&["slove"]).exit(2).says(&["the workbench needs a terminal"]);
}

#[test]
fn files_of_other_tools_are_told_by_name_with_the_command_that_reads_them() {
    let place = Place::new();
    place.write("workload.txt", "HYBRID_TRANSFORMER model_parallel_NPU_group: 8\n1\n");
    place.write("trace.json", "{\"traceEvents\": []}");
    place.write("bom.json", "\u{feff}{\"schema\": \"lightbay.scenario/2\"}");
    place.write("note.txt", "hello\n");
    place.write("empty.json", "");
    for (file, told) in [
        (
            "workload.txt",
            "this is a SimAI text workload, not a scenario or plan; import it: `lightbay import aicb workload.txt -o scenario.json`",
        ),
        (
            "trace.json",
            "this is a PyTorch profiler trace, not a scenario or plan; import it: `lightbay import traces",
        ),
        ("bom.json", "is version '2' of lightbay.scenario"),
        ("note.txt", "nor a format that lightbay knows"),
        ("empty.json", "is empty"),
    ] {
        for command in ["show", "check", "solve"] {
            let ran = place.run(&[command, file]).exit(2).says(&[file, told]);
            assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
        }
    }
}

#[test]
fn folders_for_exports_are_made() {
    let place = Place::new();
    place.run(&["export", "preset:tiny4", "--to", "csv", "-o", "out/tables/"]).done();
    assert!(place.path("out/tables").is_dir());
    assert!(std::fs::read_dir(place.path("out/tables")).unwrap().next().is_some());
    place.run(&["export", "preset:tiny4", "--to", "nothing", "-o", "other/"]).exit(2);
    assert!(!place.path("other").exists(), "nothing is made for an export that fails");
    place.run(&["export", "preset:tiny4", "--to", "csv", "-o", "tiny.csv"]).exit(2).says(&["-o tiny/"]);
    place.run(&["new", "tiny4", "-o", "none/a.json"]).exit(2).says(&["`mkdir -p none`"]);
}

#[test]
fn states_of_switches_ask_for_their_scenario() {
    let place = Place::new();
    place.write("table.csv", "ocs_id,action,pod_a,port_a,pod_b,port_b\n0,keep,0,0,1,0\n");
    place.run(&["import", "csv", "table.csv"]).exit(2).says(&[
        "none of the files is a scenario",
        "lightbay import csv SCENARIO FILE… -o installed.json",
        "lightbay new crossconnect --set from=PLAN",
    ]);
}

#[test]
fn files_of_other_tools_need_no_format() {
    let place = Place::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/resources/inputs/collectives");
    let machine = folder.join("rccl_topo_8p6l.xml").display().to_string();
    let named = place.run(&["import", "nccl", &machine, "-o", "named.json"]).done().out;
    assert_eq!(place.run(&["import", &machine, "-o", "found.json"]).done().out, named);
    assert_eq!(place.json("found.json"), place.json("named.json"));
    place.write("table.csv", "ocs_id,action,pod_a,port_a,pod_b,port_b\n0,keep,0,0,1,0\n");
    place.write("loads.csv", "layer,expert,count\n0,0,5\n");
    place.write("page.html", "<!DOCTYPE html><html></html>");
    place.run(&["import", "table.csv"]).exit(2).says(&["none of the files is a scenario"]);
    place.run(&["import", "table.csv", "loads.csv"]).exit(2).says(&[
        "table.csv: is of format csv, but loads.csv is of format routing_counts",
        "put the format before the files",
    ]);
    place.run(&["import", "page.html"]).exit(2).says(&["page.html: this is a web page", "the raw file"]);
    place
        .run(&["import", "named.json"])
        .exit(2)
        .says(&["named.json", "this is a lightbay scenario, which needs no import"]);
    place.run(&["import", "nccl"]).exit(2).says(&["FILE: is missing"]);
    place.run(&["import", "ncl", &machine]).exit(2).says(&["import format 'ncl' does not exist", "'nccl'"]);
    place.run(&["import", "nowhere.xml"]).exit(2).says(&["nowhere.xml: cannot be read"]);
}

#[test]
fn options_without_effect_are_refused() {
    let place = Place::new();
    place.plan("tiny4", "prop-alloc", "plan.json");
    for subject in ["plan.json", "preset:tiny4", "preset:tpu-128", "preset:crossconnect-example"] {
        place.run(&["show", subject, "--thorough"]).exit(2).says(&["--thorough: has no effect here"]);
    }
}

#[test]
fn strict_imports_take_nothing_for_granted_in_any_format() {
    let place = Place::new();
    let bad = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/resources/inputs/bad/placeholder_times.txt");
    std::fs::copy(bad, place.path("workload.txt")).unwrap();
    // SCIP leaves out the columns that are zero.
    models::export(&place, "mps");
    let (objective, values) = models::solution(&place, ModelFormat::Mps);
    let values = values.iter().filter(|(_, value)| *value != 0.0);
    let values: Vec<String> = values.map(|(name, value)| format!("{name} {value} (obj:0)\n")).collect();
    let values = values.concat();
    let head = "solution status: optimal solution found\nobjective value:";
    place.write("scip.sol", format!("{head} {objective}\n{values}"));
    let scenario = place.run(&["new", "crossconnect-example"]).done().out;
    place.write("switches.json", &scenario);
    let tree: serde_json::Value = serde_json::from_str(&scenario).unwrap();
    let switches = tree["ocs_count"].as_u64().unwrap();
    let table = "ocs_id,action,pod_a,port_a,pod_b,port_b\n";
    place.write("table.csv", format!("{table}0,add,0,0,1,0\n"));
    place.write("loads.csv", "layer,expert,count\n0,0,5\n0,1,3\n");
    let machine = "tests/resources/inputs/collectives/rccl_topo_8p6l.xml";
    std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join(machine), place.path("machine.xml")).unwrap();
    for file in ["topo-ndv2-1MB.json", "teccl_amd_32.xml.gz"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/resources/inputs/collectives");
        std::fs::copy(folder.join(file), place.path(file)).unwrap();
    }
    let experts = "tests/resources/inputs/aicb/workload_analytical.txt.gz";
    std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join(experts), place.path("experts.txt.gz")).unwrap();
    place.write("msccl.json", "{\"msccl_type\": \"topology\", \"name\": \"m\", \"links\": [[0, 1], [1, 0]]}");
    // A schedule of one chunk on a scenario of two.
    place.plan("dgx1-allreduce-200kb", "construct", "one.json");
    place.run(&["export", "one.json", "--to", "mscclpp", "-o", "one.mscclpp.json"]).done();
    place.run(&["new", "dgx1-allreduce-200kb", "--set", "chunks_per_rank=2", "-o", "two.json"]).done();
    place.write(
        "teccl.json",
        "{\"TopologyParams\": {\"name\": \"NDv2\", \"chassis\": 2, \"chunk_size\": 0.0625}, \
         \"InstanceParams\": {\"collective\": 1, \"num_chunks\": 1, \"epoch_type\": 2}}",
    );
    // A version, and node 1 of sort 7: comm_type 2 (AllGather), comm_size 2000000.
    let gather =
        b"\x03\x0a\x01x\x24\x08\x01\x18\x07R\x0d\x0a\x09comm_type\x48\x02R\x0f\x0a\x09comm_size\x48\x80\x89\x7a";
    place.write("gather.0.et", gather);
    place.write("gather.1.et", gather);
    place.write(
        "ring.yml",
        "topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n",
    );
    let mut ocp = vec!["import".to_owned(), "ocp_ocs".to_owned(), "switches.json".to_owned()];
    for ocs in 0..switches {
        let entry = "{\"config\": {\"input-port-name\": \"1\", \"output-port-name\": \"2\"}, \"state\": {\"status\": \"INVALID\"}}";
        let name = format!("ocs-{ocs}.json");
        place.write(&name, format!("{{\"connections\": {{\"port-connection\": [{entry}]}}}}"));
        ocp.push(name);
    }
    place.write("map.csv", "switch,port,side,pod,pod_port,label,state\ns,1,,a,,,free\ns,2,,b,,,free\n");
    place.write("cables.csv", "StartDevice,StartPort,EndDevice,EndPort\na,1,s,1\nb,1,s,2\n");
    let (mut calient, mut sonic) = (vec!["import", "calient_tl1"], vec!["import", "sonic_ocs"]);
    let mut glimmerglass = vec!["import", "glimmerglass_tl1"];
    for files in [&mut calient, &mut sonic, &mut glimmerglass] {
        files.push("switches.json");
    }
    let names =
        |ocs| [format!("ocs-{ocs}.txt"), format!("sonic-ocs-{ocs}.json"), format!("fiber-ocs-{ocs}.txt")];
    let names: Vec<[String; 3]> = (0..switches).map(names).collect();
    for [reply, tables, fibers] in &names {
        let line = "GGN:IPORTID=10001,OPORTID=20006,CONNSTATE=fault,CONNCAUSE=none";
        place.write(fibers, format!("M 1 COMPLD\n\"{line}\"\n;\n"));
        glimmerglass.push(fibers);
        place.write(reply, "M 1 COMPLD\n\"SRCPORT=1.1.1,DSTPORT=1.1.6,CONNTYPE=1WAY,OC=FAIL\"\n;\n");
        let ports = "\"OCS_PORT\": {\"1A\": {\"config_status\": \"powered_off\"}}";
        let table = "\"OCS_CROSS_CONNECT\": {\"1A-6B\": {\"a_side\": \"1A\", \"b_side\": \"6B\"}}";
        place.write(tables, format!("{{{ports}, {table}}}"));
        calient.push(reply);
        sonic.push(tables);
    }
    let ocp: Vec<&str> = ocp.iter().map(String::as_str).collect();
    let aicb =
        ["import", "aicb", "workload.txt", "--set", "gpus_per_pod_per_replica=2", "--set", "compute=zero"];
    let model = "tests/resources/inputs/models/config-dense.json";
    std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join(model), place.path("model.json")).unwrap();
    let run = ["--set", "tp=4", "--set", "pp=4", "--set", "gpus=32", "--set", "micro_batches=4"];
    let config = [&["import", "hf_config", "model.json"][..], &run].concat();
    for file in ["calculon-model.json", "megatron-dense.sh"] {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/resources/inputs/models").join(file);
        std::fs::copy(from, place.path(file)).unwrap();
    }
    let calculon = [&["import", "calculon", "calculon-model.json"][..], &run].concat();
    let megatron = [&["import", "megatron", "megatron-dense.sh"][..], &run].concat();
    // What each format leaves open, and what the strict import says of it.
    let table = [
        (&aicb[..], "assumed: ", "it would be assumed to be"),
        (&config, "assumed: mfu 0.4", "leave out --strict"),
        (&calculon, "assumed: vocab 51200", "leave out --strict"),
        (&megatron, "assumed: mfu 0.4", "leave out --strict"),
        (&["import", "csv", "switches.json", "table.csv"], "has no row with 'keep'", "leave out --strict"),
        (&ocp, "is INVALID; the import leaves it out", "leave out --strict"),
        (&calient, "1.1.1-1.1.6 is OC=FAIL; the import counts it as set", "leave out --strict"),
        (
            &sonic,
            "1A-6B: the port on side A is powered_off; the import treats the connection as set",
            "leave out --strict",
        ),
        (&glimmerglass, "10001 to 20006 is fault; the import counts it as set", "leave out --strict"),
        (&["import", "port_map", "map.csv"], "no file gives target circuits", "leave out --strict"),
        (&["import", "hall", "cables.csv"], "no file gives target circuits", "leave out --strict"),
        (&["import", "sol", "scip.sol", "tiny4.mps.names.json"], "taken as zero", "without --strict"),
        (&["import", "nccl", "machine.xml"], "latency of every link is 0.7 us", "leave out --strict"),
        (&["import", "teccl", "teccl.json"], "gigabyte of chunk_size is 1e9 bytes", "leave out --strict"),
        (&["import", "routing_counts", "loads.csv"], "every rank sends the same", "leave out --strict"),
        (&["import", "aicb_moe", "experts.txt.gz"], "shares of the experts", "leave out --strict"),
        (
            &["import", "taccl", "topo-ndv2-1MB.json"],
            "size of a megabyte in the costs is 1e6 bytes",
            "leave out --strict",
        ),
        (
            &["import", "msccl_topology", "msccl.json"],
            "latency of every link is 0.7 us",
            "leave out --strict",
        ),
        (&["import", "network", "ring.yml"], "bytes of a GB is 1e9", "leave out --strict"),
        (
            &["import", "chakra", "gather.0.et", "--set", "network=ring4"],
            "meaning of the size is each rank's part",
            "leave out --strict",
        ),
        (
            &["import", "traces", "gather.0.et", "gather.1.et"],
            "rate of one NIC and circuit = 400 Gb/s",
            "set 'bandwidth_gbps='",
        ),
        (
            &["import", "msccl", "preset:amdx2-allgather-1gb", "teccl_amd_32.xml.gz"],
            "2 as in the schedule instead of 1",
            "leave out --strict",
        ),
        (
            &["import", "mscclpp", "two.json", "one.mscclpp.json"],
            "1 as in the schedule instead of 2",
            "leave out --strict",
        ),
    ];
    let known = place.run(&["methods", "--json"]).done().json()["importers"].clone();
    for importer in known.as_array().unwrap() {
        let name = importer["name"].as_str().unwrap();
        let Some((arguments, told, refused)) = table.iter().find(|(arguments, ..)| arguments[1] == name)
        else {
            // A format that leaves nothing open refuses the flag.
            let told = ["--strict: has no effect, because files of format", name];
            place.run(&["import", name, "switches.json", "table.csv", "--strict"]).exit(2).says(&told);
            continue;
        };
        place.run(arguments).done().says(&[told]);
        place.run(&[arguments, &["--strict"][..]].concat()).exit(2).says(&[refused]);
    }
}
