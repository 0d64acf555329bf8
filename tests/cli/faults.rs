//! Tests of write errors and killed processes: no plan is lost, and no temporary files remain.

use super::support::{Place, Ran};
use std::fs;
use std::process::Command;

/// Runs the program with a limit of `blocks` blocks on the size of written files.
fn limited(place: &Place, blocks: u32, arguments: &[&str]) -> Ran {
    let program = place.command(arguments);
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(format!("ulimit -f {blocks}; exec \"$0\" \"$@\"")).arg(program.get_program());
    shell.args(arguments).current_dir(place.path("."));
    for (name, value) in program.get_envs() {
        if let Some(value) = value {
            shell.env(name, value);
        }
    }
    shell.output().unwrap().into()
}

#[test]
fn a_limit_on_the_size_of_files_is_an_error_and_the_plan_goes_to_standard_output() {
    let place = Place::new();
    let ran = limited(&place, 0, &["solve", "preset:tiny4", "-o", "plan.json"]).exit(1);
    let plan = ran.json();
    assert_eq!((&plan["kind"], &plan["status"]), (&"training".into(), &"optimal".into()));
    ran.says(&["no room to write", "written to standard output instead"]);
    assert_eq!(place.files(), Vec::<String>::new(), "no unfinished file is left");
}

#[test]
fn a_limit_on_the_size_of_files_does_not_reach_helper_processes() {
    let place = Place::new();
    let arguments =
        ["solve", "preset:tiny4", "--method", "delta-interval", "--progress", "plain", "-o", "plan.json"];
    let ran = limited(&place, 0, &arguments).exit(1);
    assert_eq!(ran.json()["status"], "optimal", "{}", ran.err);
    ran.says(&["in a solver process"]);
}

#[test]
fn a_start_clears_what_a_kill_left() {
    const LEFT: &str = ".lightbay-Xy12Zw.tmp";
    let place = Place::new();
    place.write(LEFT, "half a plan");
    place.run(&["solve", "preset:tiny4", "-o", "plan.json"]).done();
    assert_eq!(place.files(), ["plan.json"]);

    let sweep = ["sweep", "preset:tiny4", "--over", "seq=2048,4096", "-o", "table.csv"];
    for resume in [false, true] {
        // As a kill leaves it: unfinished files, and plans of cells that no cell starts from.
        fs::create_dir_all(place.path("table.csv.resume")).unwrap();
        for name in [LEFT, "table.csv.resume/.lightbay-aaaaaa.tmp", "table.csv.resume/cell-7.json"] {
            place.write(name, "half a plan");
        }
        place.run(&[&sweep[..], if resume { &["--resume"][..] } else { &[] }].concat()).done();
        assert_eq!(place.files(), ["plan.json", "table.csv"]);
    }

    fs::create_dir(place.path("plans")).unwrap();
    place.write("plans/.lightbay-bbbbbb.tmp", "half a plan");
    place.run(&["sweep", "preset:tiny4", "--over", "seq=2048,4096", "--plans", "plans"]).done();
    let mut plans: Vec<_> =
        fs::read_dir(place.path("plans")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    plans.sort();
    assert_eq!(plans, ["cell-1.json", "cell-2.json"]);
}
