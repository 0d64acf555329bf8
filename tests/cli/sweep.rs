//! Tests of `lightbay sweep`: the table, parts of a table, the files after a kill or a signal, and `--resume`.

use super::support::{Place, exists};
use serde_json::Value;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Maximum time that a test waits for an event.
const PATIENCE: Duration = Duration::from_mins(1);

/// Arguments of a sweep of eight cells in one line: each cell takes some tenths of a second and starts from the plan of
/// the cell before it.
const LINE: [&str; 9] = [
    "sweep",
    "preset:deepseek_671b",
    "--over",
    "seq=2048..16384..2048",
    "--method",
    "delta-fast",
    "--set",
    "stall_generations=400",
    "--threads=1",
];

/// Returns the lines of the table without the column that depends on the clock.
fn timeless(table: &str) -> Vec<String> {
    let column = |line: &str| line.split(',').position(|name| name == "elapsed_s");
    let at = table.lines().next().and_then(column).unwrap();
    let mut lines: Vec<String> = Vec::new();
    for line in table.lines() {
        let mut fields: Vec<&str> = line.split(',').collect();
        fields.remove(at);
        lines.push(fields.join(","));
    }
    lines
}

fn columns<'t>(table: &'t str, name: &str) -> Vec<&'t str> {
    let at = table.lines().next().unwrap().split(',').position(|column| column == name).unwrap();
    table.lines().skip(1).map(|line| line.split(',').nth(at).unwrap()).collect()
}

fn rows(place: &Place, name: &str) -> usize {
    std::fs::read_to_string(place.path(name)).map_or(0, |text| text.lines().count().saturating_sub(1))
}

fn wait_for_rows(place: &Place, child: &mut Child, name: &str, count: usize) {
    let start = Instant::now();
    while rows(place, name) < count {
        assert!(start.elapsed() < PATIENCE, "row {count} did not come");
        assert_eq!(child.try_wait().unwrap(), None, "it ended before");
        std::thread::yield_now();
    }
}

#[test]
fn a_table_has_a_row_for_every_value_and_method() {
    let place = Place::new();
    let ran = place
        .run(&[
            "sweep",
            "preset:tiny8",
            "--over",
            "bandwidth_gbps=400,800",
            "--method",
            "prop-alloc,delta-joint",
        ])
        .done();
    assert_eq!(ran.err, "", "silent when nobody looks");
    assert_eq!(columns(&ran.out, "bandwidth_gbps"), ["400", "400", "800", "800"]);
    assert_eq!(columns(&ran.out, "method"), ["prop-alloc", "delta-joint", "prop-alloc", "delta-joint"]);
    assert_eq!(columns(&ran.out, "status"), ["heuristic", "optimal", "heuristic", "optimal"]);
    assert_eq!(columns(&ran.out, "objective"), ["makespan_s"; 4]);
    assert_eq!(columns(&ran.out, "started_from"), ["", "", "", "2"]);
    assert_eq!(columns(&ran.out, "hot_start"), ["", "", "", "accepted"]);
    let cold = place
        .run(&["sweep", "preset:tiny8", "--over", "seq=2048,4096", "--method", "delta-joint", "--cold"])
        .done();
    assert_eq!(columns(&cold.out, "started_from"), ["", ""]);
}

#[test]
fn every_kind_can_be_swept() {
    let place = Place::new();
    // Without axes a sweep is a row per method.
    let pods = place.run(&["sweep", "preset:tpu-128", "--method", "pt,random"]).done();
    assert_eq!(columns(&pods.out, "objective"), ["mcf_lower"; 2]);
    let switches = place
        .run(&[
            "sweep",
            "preset:crossconnect-4-4-25",
            "--over",
            "instance_seed=1..3",
            "--method",
            "lumos-halving",
        ])
        .done();
    assert_eq!(columns(&switches.out, "instance_seed"), ["1", "2", "3"]);
    assert_eq!(columns(&switches.out, "started_from"), [""; 3], "another instance starts from nothing");
}

/// `construct` proves its plan optimal for whole chunks only, and `trees` finds a better plan.
#[test]
fn no_plan_of_a_table_beats_a_bound_of_the_table() {
    let place = Place::new();
    let arguments = ["sweep", "preset:ring8-allgather-1mb", "--method", "construct,trees", "--plans", "kept"];
    let table = place.run(&arguments).done().out;
    let numbers =
        |name: &str| -> Vec<f64> { columns(&table, name).iter().map(|cell| cell.parse().unwrap()).collect() };
    let (values, bounds) = (numbers("value"), numbers("bound"));
    assert!(values[1] < values[0]);
    assert_eq!(
        (columns(&table, "bound_trust"), columns(&table, "bound_covers")),
        (vec!["verified"; 2], vec![""; 2])
    );
    assert!(bounds.iter().all(|bound| values.iter().all(|value| value >= bound)), "{table}");
    let row = place.run(&["show", "kept/cell-1.json", "--row"]).done().json();
    assert_eq!((row["bound"].as_f64(), row["gap"].as_f64()), (Some(bounds[0]), Some(numbers("gap")[0])));
}

#[test]
fn several_scenarios_make_one_table() {
    let place = Place::new();
    place.scenario("tiny4", "job.json");
    let ran =
        place.run(&["sweep", "job.json", "preset:tiny8", "--method", "iter-halve", "--json"]).done().json();
    assert_eq!(ran["schema"], "lightbay.sweep/1");
    assert_eq!(ran["cells"], 2);
    assert_eq!(ran["ended"], "through");
    let names: Vec<&Value> = ran["rows"].as_array().unwrap().iter().map(|row| &row["scenario"]).collect();
    assert_eq!(names, ["tiny4", "tiny8"]);
    assert!(ran["rows"][1]["nct"].as_f64().unwrap() > 1.0);
    place.run(&["sweep", "job.json", "preset:tpu-128"]).exit(2).says(&["is of kind tpu"]);
}

#[test]
fn a_cell_that_cannot_be_is_a_row_with_its_reason() {
    let place = Place::new();
    let ran =
        place.run(&["sweep", "preset:tiny8", "--over", "ports_per_pod=4,1,8", "--method", "delta-joint"]);
    let ran = ran.exit(2).says(&["1 of 3 cells failed"]);
    assert_eq!(columns(&ran.out, "status"), ["optimal", "invalid", "optimal"]);
    assert_eq!(columns(&ran.out, "value")[1], "");
    assert!(ran.out.lines().nth(2).unwrap().contains("port"), "{}", ran.out);
    assert_eq!(columns(&ran.out, "started_from"), ["", "", "1"]);
}

#[test]
fn the_parts_of_a_sweep_are_the_whole() {
    let place = Place::new();
    let arguments = [
        "sweep",
        "preset:tiny8",
        "--over",
        "seq=1024,2048",
        "--over",
        "mfu=0.4,0.5",
        "--method",
        "sqrt-alloc,delta-fast",
    ];
    let sweep = |more: &[&str]| place.run(&[&arguments[..], more].concat()).done().out;
    let whole = timeless(&sweep(&[]));
    let mut parts: Vec<String> = Vec::new();
    for part in ["1/3", "2/3", "3/3"] {
        parts.extend(timeless(&sweep(&["--shard", part])).into_iter().skip(1));
    }
    assert_eq!(parts.len(), 8);
    let mut expected: Vec<String> = whole.into_iter().skip(1).collect();
    expected.sort();
    parts.sort();
    assert_eq!(parts, expected);
    place.run(&[&arguments[..], &["--shard", "4/3"]].concat()).exit(2).says(&["write 1/4"]);
}

#[test]
fn after_a_kill_a_sweep_goes_on_to_the_same_table() {
    let place = Place::new();
    place.run(&[&LINE[..], &["-o", "whole.csv"]].concat()).done();
    let mut child = place.spawn(&[&LINE[..], &["-o", "table.csv"]].concat());
    wait_for_rows(&place, &mut child, "table.csv", 2);
    child.kill().unwrap();
    child.wait().unwrap();
    let there = rows(&place, "table.csv");
    assert!((2..8).contains(&there), "{there}");
    assert!(exists(&place.path("table.csv.resume")));
    // As if the kill had come within a line.
    let cut = place.read("table.csv") + "0123,";
    place.write("table.csv", cut);

    place.run(&[&LINE[..], &["-o", "table.csv"]].concat()).exit(2).says(&["continue with --resume"]);
    place.run(&[&LINE[..], &["-o", "table.csv", "--resume"]].concat()).done();
    assert_eq!(timeless(&place.read("table.csv")), timeless(&place.read("whole.csv")));
    assert_eq!(place.files(), ["table.csv", "whole.csv"], "nothing is left beside a complete table");
    // Nothing is left to do.
    place.run(&[&LINE[..], &["-o", "table.csv", "--resume"]].concat()).done();
    assert_eq!(rows(&place, "table.csv"), 8);
}

#[test]
fn signals_leave_whole_rows() {
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let place = Place::new();
        let arguments = [&LINE[..], &["-o", "table.jsonl", "--json"]].concat();
        let mut child = place.spawn(&arguments);
        let start = Instant::now();
        while std::fs::read_to_string(place.path("table.jsonl")).unwrap_or_default().lines().count() < 1 {
            assert!(start.elapsed() < PATIENCE);
            assert_eq!(child.try_wait().unwrap(), None);
            std::thread::yield_now();
        }
        let sent = Command::new("kill").arg(format!("-{name}")).arg(child.id().to_string()).status();
        assert!(sent.unwrap().success());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains("of 8 cells; "), "{said}");
        assert!(said.ends_with("; run the same command with --resume to continue\n"), "{said}");
        // The best plan of the interrupted cell, if there was one, is a whole plan.
        if let Some((_, path)) = said.split_once(" so far is in ") {
            place.run(&["check", path.split(';').next().unwrap()]).done();
        }
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["ended"], "stopped");
        let table = place.read("table.jsonl");
        assert!(table.ends_with('\n') && table.lines().count() < 8);
        for line in table.lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            assert_eq!(row["sweep"], document["sweep"]);
            assert_ne!(row["status"], "stopped", "what was not finished is solved again");
        }
    }
}

#[test]
fn the_best_plan_of_an_interrupted_cell_is_saved() {
    use std::io::{BufRead as _, Read as _};
    let place = Place::new();
    let arguments =
        ["sweep", "preset:tpu-256", "--over", "vc_count=2,3", "-o", "t.csv", "--progress", "json"];
    let mut child = place.spawn(&arguments);
    let mut said = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("\"event\":\"incumbent\"") {
        line.clear();
        assert_ne!(said.read_line(&mut line).unwrap(), 0, "no plan was found");
    }
    let sent = Command::new("kill").arg("-TERM").arg(child.id().to_string()).status();
    assert!(sent.unwrap().success());
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert!(rest.contains("the best plan of cell 1 so far is in t.csv.resume/unfinished-1.json"), "{rest}");
    place.run(&["check", "t.csv.resume/unfinished-1.json"]).done();
}

#[test]
fn the_table_of_another_sweep_is_refused() {
    let place = Place::new();
    let sweep = |over: &str, more: &[&str]| {
        place.run(
            &[&["sweep", "preset:tiny4", "--over", over, "--method", "prop-alloc", "-o", "t.csv"], more]
                .concat(),
        )
    };
    sweep("seq=1024,2048", &[]).done();
    let before = place.read("t.csv");
    sweep("mfu=0.4", &["--resume"]).exit(2).says(&["t.csv: line 1: has the columns of another sweep"]);
    sweep("seq=1024,4096", &["--resume"]).exit(2).says(&["t.csv: line 2: belongs to sweep '"]);
    assert_eq!(place.read("t.csv"), before);
    sweep("mfu=0.4", &["--force"]).done();
    assert_eq!(rows(&place, "t.csv"), 1);
}

#[test]
fn what_is_wrong_is_said_before_anything_is_solved() {
    let place = Place::new();
    for (arguments, says) in [
        (&["--over", "bandwith_gbps=1"][..], "did you mean 'bandwidth_gbps'?"),
        (&["--over", "seq"], "is not a setting"),
        (&["--over", "seq=1..9..0"], "seq.step: '0' is not valid"),
        (&["--over", "seed=1,2", "--seed", "3"], "is also given by --seed"),
        (&["--method", "delta-jont"], "did you mean 'delta-joint'?"),
        (&["--set", "nothing=1"], "--set: nothing"),
        (&["-o", "table.txt"], "does not end with .csv or .jsonl"),
        (&["-o", "no/table.csv"], "'no' does not exist"),
        (&["-o", "-", "--resume"], "name the table with -o"),
    ] {
        place.run(&[&["sweep", "preset:tiny4"], arguments].concat()).exit(2).says(&[says]);
    }
    assert_eq!(place.files(), Vec::<String>::new());
}

#[test]
fn plans_of_all_cells_are_kept_where_asked_and_sound() {
    let place = Place::new();
    let arguments =
        ["sweep", "preset:tiny8", "--over", "seq=2048,4096", "--method", "delta-joint", "--plans", "plans"];
    let table = place.run(&arguments).done().out;
    for (cell, sha256) in columns(&table, "scenario_sha256").into_iter().enumerate() {
        let name = format!("plans/cell-{}.json", cell + 1);
        place.run(&["check", &name]).done();
        assert_eq!(place.json(&name)["provenance"]["scenario_sha256"], sha256);
    }
    place.run(&arguments).exit(2).says(&["cell-1.json: exists already"]);
    place.run(&[&arguments[..], &["--force"]].concat()).done();
}

#[test]
fn progress_is_a_line_per_cell_or_events_and_rows() {
    let place = Place::new();
    let arguments = [
        "sweep",
        "preset:tiny8",
        "--over",
        "seq=2048,4096",
        "--method",
        "delta-joint",
        "-o",
        "t.csv",
        "--force",
    ];
    let plain = place.run(&[&arguments[..], &["--progress", "plain"]].concat()).done();
    let lines: Vec<&str> = plain.err.lines().collect();
    assert_eq!(lines.len(), 2, "{}", plain.err);
    assert!(lines[1].starts_with("2/2  seq 4096  delta-joint  optimal  makespan "), "{}", lines[1]);
    let json = place.run(&[&arguments[..], &["--progress", "json"]].concat()).done();
    let mut runs = std::collections::BTreeSet::new();
    let mut found = 0;
    for line in json.err.lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        match value["schema"].as_str() {
            Some("lightbay.event/1") => drop(runs.insert(value["run"].as_u64().unwrap())),
            Some("lightbay.sweep-row/1") => found += 1,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((runs.into_iter().collect::<Vec<_>>(), found), (vec![1, 2], 2));
}

/// Solves the parts of a sweep of three values of one chain.
fn parts(place: &Place, of: usize) -> Vec<String> {
    let over = "bandwidth_gbps=100,200,400";
    (1..=of)
        .map(|part| {
            let name = format!("t.{part}.csv");
            let shard = format!("{part}/{of}");
            place.run(&["sweep", "preset:tiny8", "--over", over, "--shard", &shard, "-o", &name]).done();
            name
        })
        .collect()
}

#[test]
fn more_parts_than_chains_share_the_cells_and_merge_in_any_order() {
    let place = Place::new();
    let names = parts(&place, 3);
    let status = place.run(&["sweep", "status", &names[0], &names[2]]).done().out;
    assert!(status.contains("2 of 3 cells") && status.contains("cell 2 is missing"), "{status}");
    let merged = |names: &[&str]| place.run(&[&["sweep", "merge"], names].concat()).done().out;
    let all = merged(&["t.3.csv", "t.1.csv", "t.2.csv"]);
    assert_eq!(columns(&all, "cell"), ["1", "2", "3"]);
    assert_eq!(
        all,
        merged(&["t.2.csv", "t.2.csv", "t.1.csv", "t.3.csv"]),
        "neither order nor repetition matters"
    );
    let json = place.run(&["sweep", "status", "t.1.csv", "--json"]).done().json();
    assert_eq!((json["cells"].as_u64(), json["missing"].as_array().unwrap().len()), (Some(3), 2));
    place
        .run(&["sweep", "preset:tiny8", "--over", "bandwidth_gbps=1,2", "--shard", "1/3"])
        .exit(2)
        .says(&["2 cells"]);
    let other = ["sweep", "preset:tiny8", "--over", "seq=2048,4096", "-o", "other.csv"];
    place.run(&other).done();
    place
        .run(&["sweep", "merge", "t.1.csv", "other.csv"])
        .exit(2)
        .says(&["other.csv: line 2", "another sweep"]);
}

#[test]
fn batch_systems_give_the_part_and_get_a_script() {
    let place = Place::new();
    let sweep = ["sweep", "preset:tiny8", "--over", "bandwidth_gbps=100,200,400", "--cold"];
    let auto = |variables: &[(&str, &str)], part: &str| {
        let mut command = place.command(&[&sweep[..], &["--shard", part]].concat());
        command.envs(variables.iter().copied()).output().unwrap()
    };
    // A job that repeats the third part alone has an array of one task.
    let slurm =
        [("SLURM_ARRAY_TASK_ID", "3"), ("SLURM_ARRAY_TASK_MIN", "3"), ("SLURM_ARRAY_TASK_COUNT", "1")];
    let found = auto(&slurm, "auto/3");
    assert_eq!(columns(&String::from_utf8(found.stdout).unwrap(), "cell"), ["3"]);
    let found = auto(&[("JOB_COMPLETION_INDEX", "0")], "auto/3");
    assert_eq!(columns(&String::from_utf8(found.stdout).unwrap(), "cell"), ["1"]);
    for (variables, part, says) in [
        (&[("JOB_COMPLETION_INDEX", "0")][..], "auto", "does not give the number of parts"),
        (&[("NOMAD_ALLOC_INDEX", "3")], "auto/3", "the 3 parts have the indices 0 to 2"),
        (&[("SLURM_ARRAY_TASK_ID", "0")], "auto/3", "indices 1 to 3"),
        (&[], "auto/3", "finds a number in none of the environment variables SLURM_ARRAY_TASK_ID"),
    ] {
        let refused = auto(variables, part);
        assert_eq!(refused.status.code(), Some(2));
        assert!(String::from_utf8(refused.stderr).unwrap().contains(says), "{says}");
    }
    let script = |system: &str| {
        place.run(&[&sweep[..], &["--script", system, "-o", "a table.csv"]].concat()).done().out
    };
    assert!(script("slurm").contains("#SBATCH --array=1-3\n") && script("k8s").contains("completions: 3\n"));
    for wrong in [&["--script", "slurm", "-o", "t.txt"][..], &["--script", "slurm", "-o", "t.csv", "--force"]]
    {
        place.run(&[&sweep[..], wrong].concat()).exit(2);
    }
    // The shell reads the command of the script as it was meant.
    let slurm = script("slurm");
    let exec = slurm.lines().last().unwrap().replace("exec lightbay", super::support::PROGRAM);
    let ran = Command::new("sh")
        .args(["-c", &exec])
        .current_dir(place.path(""))
        .env("SLURM_ARRAY_TASK_ID", "2")
        .env("HOME", place.path("home"))
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(columns(&place.read("a table.2.csv"), "cell"), ["2"]);
}

#[test]
fn failed_cells_are_solved_again_where_asked() {
    let place = Place::new();
    // Fewer ports than links: the first cell is infeasible.
    let sweep = ["sweep", "preset:tiny8", "--over", "ports_per_pod=1,8", "-o", "t.csv"];
    let first = place.run(&sweep);
    assert_ne!(first.code, Some(0));
    assert_eq!(rows(&place, "t.csv"), 2);
    let before = place.read("t.csv");
    assert_ne!(place.run(&[&sweep[..], &["--resume"]].concat()).code, Some(0));
    assert_eq!(place.read("t.csv"), before, "nothing is solved again");
    assert_ne!(place.run(&[&sweep[..], &["--resume", "--retry-failed"]].concat()).code, Some(0));
    assert_eq!(columns(&place.read("t.csv"), "cell"), ["2", "1"], "only the failed cell has a new row");
}

/// Runs only if LIGHTBAY_TEST_SLURM is set, because it needs a Slurm cluster; docs/clusters.md shows one on a single host.
#[test]
fn slurm_solves_the_parts_of_a_script() {
    if std::env::var_os("LIGHTBAY_TEST_SLURM").is_none() {
        return;
    }
    let place = Place::new();
    let script = ["sweep", "preset:tiny8", "--over", "mfu=0.3,0.4", "--script", "slurm", "--parts", "2"];
    let script = place.run(&[&script[..], &["--threads", "1", "-o", "table.csv"]].concat()).done().out;
    let program = super::support::PROGRAM;
    place.write("sweep.sbatch", script.replace("exec lightbay ", &format!("exec {program} ")));
    let submitted =
        Command::new("sbatch").args(["--wait", "sweep.sbatch"]).current_dir(place.path("")).status();
    assert!(submitted.unwrap().success());
    place.run(&["sweep", "merge", "table.1.csv", "table.2.csv", "-o", "table.csv"]).done();
    assert_eq!(columns(&place.read("table.csv"), "status"), ["optimal"; 2]);
}
