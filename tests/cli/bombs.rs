//! Tests of small files that describe huge data: each file is refused with its sizes, within 1 GiB of memory.

use crate::support::{PROGRAM, Place, Ran};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write as _;
use std::process::Stdio;

/// Maximum memory that the program may use for an input of less than 1 MB, kB.
const MEMORY_KB: u32 = 1 << 20;

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Returns a gzip file that contains `start` and then about `megabytes` MB of repeated `unit`, as several gzip members.
fn flood(start: &str, unit: &str, megabytes: usize) -> Vec<u8> {
    let mut file = gzip(start.as_bytes());
    let piece = gzip(unit.repeat((1 << 20) / unit.len()).as_bytes());
    for _ in 0..megabytes {
        file.extend_from_slice(&piece);
    }
    assert!(file.len() < 1_000_000, "{} bytes are no small file", file.len());
    file
}

/// Runs the program with a limit on the memory that it may allocate.
fn limited(place: &Place, arguments: &[&str]) -> Ran {
    let mut command = place.command(arguments);
    let program = std::process::Command::new("sh");
    let environment: Vec<_> =
        command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))).collect();
    let folder = command.get_current_dir().unwrap().to_owned();
    command = program;
    let script = format!("ulimit -d {MEMORY_KB} && exec \"$@\"");
    command.args(["-c", &script, "sh", PROGRAM]).args(arguments);
    command.env_clear().envs(environment).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.output().unwrap().into()
}

#[track_caller]
fn refused(place: &Place, arguments: &[&str], parts: &[&str]) {
    let ran = limited(place, arguments);
    assert!(ran.err.len() < 10_000, "{} bytes of words", ran.err.len());
    ran.exit(2).says(parts);
}

#[test]
fn compressed_floods_are_no_scenarios() {
    const SCENARIO: &str = "{\"schema\": \"lightbay.scenario/1\", \"kind\": \"training\", ";
    let place = Place::new();
    for (name, content, told) in [
        ("zeros", flood("", "\0", 300), "larger than 256 MiB"),
        ("lists", flood("", "[", 200), "deeper than 128 levels"),
        ("objects", flood("", "{\"a\":", 200), "deeper than 128 levels"),
        ("wide", flood("[0", ",0", 250), "more than"),
        ("empty lists", flood("[0", ",[]", 250), "more than"),
        ("texts", flood("[0", ",\"\"", 250), "more than"),
        ("keys", flood("{\"z\":0", ",\"a\":0", 250), "more than"),
        ("knobs", flood(&format!("{SCENARIO}\"job\": [0"), ",{}", 250), "more than"),
        ("name", flood(&format!("{SCENARIO}\"name\": \""), "a", 250), "more than"),
        ("blanks", flood("", " \n", 250), "is empty"),
        ("words", flood("", "x", 250), "nor a format"),
    ] {
        let file = format!("{name}.json.gz");
        // Where it is the text that is long, it ends.
        let content = if name == "name" { [content, gzip(b"\"}")].concat() } else { content };
        place.write(&file, content);
        refused(&place, &["show", &file], &[&file, told]);
    }
    // What is one file of JSON can be asked for everywhere.
    for command in ["check", "solve", "new"] {
        let set = ["new", "crossconnect", "--set", "from=wide.json.gz"];
        let arguments: &[&str] = if command == "new" { &set } else { &[command, "wide.json.gz"] };
        refused(&place, arguments, &["MiB of memory"]);
    }
    refused(&place, &["export", "wide.json.gz", "--to", "instance"], &["MiB of memory"]);
}

/// All importers apply the same limits: on the bytes of a text, and on the size of the file for JSON.
#[test]
fn compressed_floods_are_no_imports() {
    const TABLE: &str = "layer,expert,count\n";
    const SENT: &str = "{\"iteration\":0,\"layer\":0,\"tokens\":[[1]";
    let place = Place::new();
    let large = "MiB of memory";
    for (format, name, content, told) in [
        ("routing_counts", "numbers", flood("[0", ",0", 250), large),
        ("routing_counts", "lists", flood("[[0]", ",[]", 250), large),
        ("routing_counts", "line of lists", [flood(SENT, ",[]", 240), gzip(b"]}")].concat(), large),
        ("routing_counts", "lines", flood("", &format!("{SENT}]}}\n"), 250), "more than"),
        (
            "routing_counts",
            "log",
            flood("", "num_global_tokens_per_expert [1]\n", 250),
            "does not name its layer",
        ),
        ("routing_counts", "rows", flood(TABLE, "0,1,2\n", 250), "is for the same expert"),
        ("routing_counts", "wide row", flood("1", ",1", 250), "is longer than"),
        ("routing_counts", "column", flood("", "1\n", 250), "more than"),
        ("mscclpp", "lists", flood("{\"name\": [0", ",[]", 60), "none of the files is a scenario"),
        ("taccl", "lists", flood("{\"name\": [0", ",[]", 30), large),
        ("teccl", "texts", flood("{\"name\": [0", ",\"\"", 30), large),
        ("msccl_topology", "objects", flood("{\"name\": [0", ",{}", 30), large),
        ("network", "edges", flood("source,target\n", "0,1\n", 250), "more than"),
    ] {
        let file = format!("{name}.gz");
        place.write(&file, content);
        refused(&place, &["import", format, &file, "-o", "o.json"], &[told]);
    }
}

#[test]
fn long_names_and_keys_are_refused_with_their_length() {
    let place = Place::new();
    let long = "n".repeat(900_000);
    let scenario = place.run(&["new", "tiny8"]).done().out;
    for (old, new, told) in [
        ("\"tiny8\"", format!("\"{long}\""), "name: has 900000 characters; give at most 1000"),
        ("\"gpt_7b\"", format!("\"{long}\""), "job.model"),
        ("\"uniform\"", format!("\"{long}\""), "balance"),
        ("\"reverse\"", format!("\"{long}\""), "is not a known key"),
        ("\"training\"", format!("\"{long}\""), "kind"),
        ("lightbay.scenario/1", long.clone(), "schema"),
    ] {
        place.write("long.json", scenario.replacen(old, &new, 1));
        refused(&place, &["show", "long.json"], &[told]);
    }
}

#[test]
fn declared_sizes_are_judged_before_anything_is_laid_out() {
    let place = Place::new();
    let job = place.run(&["new", "tiny8"]).done().out;
    let pod = place.run(&["new", "tpu"]).done().out;
    let switches = place.run(&["new", "crossconnect-example"]).done().out;
    for (scenario, key, value, told) in [
        (&job, "micro_batches", "4000000000", "micro_batches"),
        (&job, "micro_batches", "1000000", "1000000"),
        (&job, "gpus", "4000000000", "gpus"),
        (&job, "gpus", "100000000", "gpus"),
        (&job, "pp", "4000000000", "pp"),
        (&job, "tp", "4000000000", "tp"),
        (&job, "gpus_per_pod_per_replica", "4000000000", "gpus_per_pod_per_replica"),
        (&job, "seq", "9000000000000000000", "seq"),
        (&pod, "cubes", "4000000000", "cubes"),
        (&pod, "cubes", "1000000", "cubes"),
        (&pod, "vc_count", "4000000000", "vc_count"),
        (&pod, "topology", "{\"torus\": [1000000, 1000000, 1000000]}", "topology"),
        (&switches, "pods", "4000000000", "pods"),
        (&switches, "ocs_count", "4000000000", "ocs_count"),
    ] {
        let mut tree: serde_json::Value = serde_json::from_str(scenario).unwrap();
        let parsed: serde_json::Value = serde_json::from_str(value).unwrap();
        match tree.pointer_mut("/job/run").and_then(|run| run.get_mut(key)) {
            Some(known) => *known = parsed,
            None => *tree.get_mut(key).unwrap() = parsed,
        }
        place.write("huge.json", tree.to_string());
        for arguments in [
            &["show", "huge.json"][..],
            &["solve", "huge.json", "--time-limit", "1s"],
            &["export", "huge.json", "--to", "instance"],
        ] {
            refused(&place, arguments, &["huge.json", told]);
        }
    }
}

#[test]
fn floods_for_importers_end_with_a_limit() {
    let place = Place::new();
    place.scenario("crossconnect-3-1-25", "switches.json");
    place.scenario("tiny4", "tiny4.json");
    let aicb = ["import", "aicb"];
    let sol = ["import", "sol", "tiny4.json"];
    let header = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 4096 vpp: 1 ga: 1 all_gpus: 32768\n";
    let row = "layer -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n";
    let table = "ocs_id,action,pod_a,port_a,pod_b,port_b\n";
    let many_attributes = format!("<rpc-reply{}><data/></rpc-reply>", " a=\"\"".repeat(100_000));
    let names = (0..30_000).map(|number| format!("<a xmlns:n{number}=\"u{number}\">"));
    let namespaces = names.collect::<Vec<_>>().concat();
    let entities = "<!DOCTYPE a [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]><rpc-reply><data>&b;</data></rpc-reply>";
    for (arguments, content, told) in [
        (&aicb[..], flood(&format!("{header}1\n"), row, 200), "more than '1000000' rows"),
        (&aicb, flood(header, "\n", 250), "lines"),
        (&aicb, flood(&header.replace("4096", "4000000000"), row, 1), "pp: '4000000000' is too large"),
        (&aicb, flood("comm_type,comm_group,comm_group_size\n", "\n", 250), "lines"),
        (&aicb, flood("[ pp_stage0: [rank0 ~ rank4000000000] ]\ncomm_type,comm_group\n", "x\n", 1), "ranks"),
        (&aicb, flood("train_iter:1\n", "Emb:\n", 100), "Emb: is given twice"),
        (&aicb, flood("x\nTP:\n", "allreduce,: 1\n", 50), "is given twice"),
        (&aicb, flood("MICRO ", "x ", 250), "is longer than"),
        (&sol, flood("x 1\n", "x 1\n", 250), "more than"),
        (&sol, flood("# Objective value = 1\n", "\n", 250), "lines"),
        (&sol, flood("s mip 1 1 o 1\nj 4000000000 1\n", "j 1 1\n", 200), "more than"),
        (&sol, flood("Model status\nOptimal\n# Columns 4000000000\n", "x 1\n", 100), "more than"),
        (&sol, flood("<CPLEXSolution>", "<variable name=\"x\" value=\"1\"/>\n", 200), "more than"),
        (&sol, flood("<CPLEXSolution ", "a", 100), "is longer than"),
        (&["import", "csv", "switches.json"], flood(table, "\n", 250), "larger than 64 MiB"),
        (&["import", "csv", "switches.json"], flood(table, "9,keep,0,0,1,0\n", 8), "and"),
        (
            &["import", "polatis_tl1", "switches.json"],
            flood("M 1 COMPLD\n", "\"1,2\"\n", 250),
            "larger than 16 MiB",
        ),
        (
            &["import", "polatis_tl1", "switches.json"],
            flood("M 1 COMPLD\n", "\"1,2\"\n", 15),
            "does not end with a line ';'",
        ),
        (&["import", "sonic_ocs", "switches.json"], flood("{\"OCS_CROSS_CONNECT\":[0", ",0", 15), "cut off"),
        (&["import", "ocp_ocs", "switches.json"], flood("{\"port-connection\":[{}", ",{}", 15), "cut off"),
        (&["import", "polatis_netconf", "switches.json"], flood("<rpc-reply><data>", "<a/>", 15), "elements"),
        (
            &["import", "polatis_netconf", "switches.json"],
            gzip(many_attributes.as_bytes()),
            "tag of more than",
        ),
        (&["import", "polatis_netconf", "switches.json"], gzip(namespaces.as_bytes()), "namespaces"),
        (&["import", "polatis_netconf", "switches.json"], gzip(entities.as_bytes()), "is not valid XML"),
    ] {
        let file = "ocs-0.flood.gz";
        place.write(file, content);
        let arguments = [arguments, &[file]].concat();
        let ran = limited(&place, &arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}: {}\n{}", ran.out.len(), ran.err);
        assert!(ran.err.contains(told), "{arguments:?}: '{told}' is missing in {}", ran.err);
        assert!(ran.err.len() < 30_000, "{arguments:?}: {} bytes of words", ran.err.len());
    }
}

#[test]
fn free_parts_of_plans_are_limited_too() {
    let place = Place::new();
    let plan = place.run(&["solve", "preset:tiny4", "--method", "prop-alloc"]).done().out;
    let (start, _) = plan.trim_end().rsplit_once('}').unwrap();
    let notes = format!("{start}, \"notes\": [0");
    place.write("notes.json.gz", flood(&notes, ",0", 250));
    refused(&place, &["check", "notes.json.gz"], &["MiB of memory"]);
    // What is just below the limit is read, and written again.
    let mut content = flood(&notes, ",0", 4);
    content.extend(gzip(b"]}"));
    place.write("notes.json.gz", content);
    limited(&place, &["check", "notes.json.gz"]).done();
    limited(&place, &["export", "notes.json.gz", "--to", "json", "-o", "again.json"]).done();
}
