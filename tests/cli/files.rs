//! Tests of the files to which results are written: overwriting, compression, pipes and refused targets.

use super::support::Place;
use std::fs;
use std::io::Read as _;

#[test]
fn existing_files_stay_unless_forced() {
    let place = Place::new();
    place.write("plan.json", "precious");
    let refused = ["solve", "preset:tiny4", "-o", "plan.json"];
    place.run(&refused).exit(2).says(&["plan.json", "exists already", "--force"]);
    assert_eq!(place.read("plan.json"), "precious");
    place.run(&[&refused[..], &["--force"]].concat()).done();
    assert_eq!(place.json("plan.json")["schema"], "lightbay.plan/1");
    for command in [
        &["new", "tiny4", "-o", "plan.json"][..],
        &["export", "preset:tiny4", "--to", "json", "-o", "plan.json"],
    ] {
        place.run(command).exit(2).says(&["exists already"]);
    }
}

#[test]
fn bad_input_overwrites_nothing_even_when_forced() {
    let place = Place::new();
    place.write("plan.json", "precious");
    place.write("bad.json", "{\"schema\": \"lightbay.scenario/1\", \"kind\": \"training\"}");
    place.run(&["solve", "bad.json", "-o", "plan.json", "--force"]).exit(2);
    place.run(&["solve", "preset:tiny4", "--set", "tp=0", "-o", "plan.json", "--force"]).exit(2);
    assert_eq!(place.read("plan.json"), "precious");
    assert_eq!(place.files(), ["bad.json", "plan.json"]);
}

#[test]
fn unwritable_places_are_found_before_anything_is_solved() {
    let place = Place::new();
    fs::create_dir(place.path("folder")).unwrap();
    place.write("file", "");
    for (output, message) in [
        ("missing/plan.json", "the folder 'missing' does not exist"),
        ("folder", "is a folder"),
        ("folder/", "is a folder"),
        ("file/plan.json", "plan.json"),
    ] {
        let ran = place
            .run(&["solve", "preset:tiny4", "-o", output, "--progress", "json"])
            .exit(2)
            .says(&[message]);
        assert!(!ran.err.contains("lightbay.event/1"), "{output}: solving had begun");
        assert_eq!(ran.out, "");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn read_only_folders_are_found_before_anything_is_solved() {
    // No file can be made in /proc, not even by root.
    let place = Place::new();
    let ran = place.run(&["solve", "preset:tiny4", "-o", "/proc/plan.json", "--progress", "json"]);
    assert!(matches!(ran.code, Some(1 | 2)), "{}", ran.err);
    assert!(ran.err.contains("/proc"), "{}", ran.err);
}

#[cfg(target_os = "linux")]
#[test]
fn a_plan_that_cannot_be_written_at_the_end_is_kept_elsewhere() {
    let place = Place::new();
    // The device takes nothing, and that is known only when the plan is there.
    let ran =
        place.run(&["solve", "preset:tiny4", "-o", "/dev/full"]).exit(1).says(&["/dev/full", "instead"]);
    let rescued = ran.err.lines().find_map(|line| line.split("saved as ").nth(1)).unwrap();
    let path = rescued.trim_end_matches(" instead");
    place.run(&["check", path]).done();
}

#[test]
fn names_that_end_with_gz_are_compressed_and_read_back() {
    let place = Place::new();
    place.run(&["new", "tiny8", "-o", "job.json.gz"]).done();
    assert_eq!(&fs::read(place.path("job.json.gz")).unwrap()[..2], &[0x1f, 0x8b]);
    place.run(&["solve", "job.json.gz", "-o", "plan.json.gz"]).done();
    place.run(&["check", "plan.json.gz"]).done();
    // Recognised by content, not by name.
    fs::rename(place.path("plan.json.gz"), place.path("plan.json")).unwrap();
    place.run(&["check", "plan.json"]).done();
}

#[test]
fn scenarios_and_plans_come_by_standard_input() {
    let place = Place::new();
    let scenario = place.run(&["new", "tiny8"]).done().out;
    let plan = place.feed(&["solve", "-"], scenario.as_bytes()).done().out;
    place.feed(&["check", "-"], plan.as_bytes()).done();
    place.feed(&["show", "-", "--json"], plan.as_bytes()).done();
    place.feed(&["check", "-"], b"").exit(2).says(&["standard input", "is empty"]);
    place.feed(&["compare", "-", "-"], plan.as_bytes()).exit(2).says(&["once only"]);
}

#[test]
fn devices_and_pipes_are_written_to_and_not_replaced() {
    let place = Place::new();
    place.run(&["solve", "preset:tiny4", "-o", "/dev/null"]).done();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
    let dash = place.run(&["solve", "preset:tiny4", "-o", "-"]).done();
    assert_eq!(dash.json()["schema"], "lightbay.plan/1");
}

#[test]
fn symbolic_links_stay_and_their_targets_are_replaced() {
    let place = Place::new();
    place.write("real.json", "old");
    std::os::unix::fs::symlink("real.json", place.path("link.json")).unwrap();
    place.run(&["solve", "preset:tiny4", "-o", "link.json", "--force"]).done();
    assert!(fs::symlink_metadata(place.path("link.json")).unwrap().file_type().is_symlink());
    assert_eq!(place.json("real.json")["schema"], "lightbay.plan/1");
}

#[test]
fn nothing_but_the_plan_is_written_to_standard_output() {
    let place = Place::new();
    let mut child = place.spawn(&["solve", "preset:tiny8", "--progress", "plain"]);
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert!(child.wait().unwrap().success());
    let plan: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(plan["schema"], "lightbay.plan/1");
    assert!(out.ends_with("}\n"));
}
