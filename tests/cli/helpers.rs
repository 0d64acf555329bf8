//! Tests of the solver process, which runs solvers that cannot be stopped: no solver process remains, however the
//! program ends.

use super::support::Place;

/// The argument with which the program starts itself as a solver process.
const HIDDEN: &str = "__solve-in-helper";

#[test]
fn a_person_who_starts_a_helper_is_told_what_it_is() {
    let place = Place::new();
    let ran = place.run(&[HIDDEN]).exit(2);
    assert_eq!(ran.out, "");
    ran.says(&["lightbay runs this command itself", "do not run the command by hand"]);
    let ran = place.feed(&[HIDDEN], b"hello").exit(2);
    assert_eq!(ran.out, "");
    ran.says(&["the job could not be read"]);
    for arguments in [&["--help"][..], &["solve", "--help"], &["man"]] {
        let ran = place.run(arguments).done();
        assert!(!ran.out.contains(HIDDEN), "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::Place;
    use std::io::{BufRead as _, BufReader, Read as _};
    use std::process::{Child, Command};
    use std::time::{Duration, Instant};

    /// Arguments that solve an integer program which takes longer than any test.
    const LONG: [&str; 12] = [
        "solve",
        "preset:megatron_177b",
        "--method",
        "delta-interval",
        "--set",
        "formulation=paper",
        "--set",
        "windows=none",
        "--set",
        "start_generations=0",
        "--progress=json",
        "--threads=1",
    ];

    /// Maximum time that a test waits for an event.
    const PATIENCE: Duration = Duration::from_mins(1);

    /// Returns the number of the parent of a process, and the letter for the state of the process.
    fn parent_and_state(id: u32) -> Option<(u32, char)> {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let mut words = stat[stat.rfind(')')? + 2..].split(' ');
        let state = words.next()?.chars().next()?;
        Some((words.next()?.parse().ok()?, state))
    }

    fn is_dead(id: u32) -> bool {
        parent_and_state(id).is_none_or(|(_, state)| state == 'Z')
    }

    /// Returns the live child processes of a process.
    fn helpers(of: u32) -> Vec<u32> {
        std::fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter(|id| parent_and_state(*id).is_some_and(|(parent, state)| parent == of && state != 'Z'))
            .collect()
    }

    fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            if let Some(found) = look() {
                return found;
            }
            assert!(start.elapsed() < PATIENCE, "{what} did not come");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Starts the long run and waits until its solver process is running.
    fn solving(place: &Place) -> (Child, u32) {
        let mut child = place.spawn(&[&LONG[..], &["-o", "plan.json"]].concat());
        let mut err = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("in a solver process") {
            line.clear();
            assert_ne!(err.read_line(&mut line).unwrap(), 0, "it ended before it solved");
        }
        // Somebody has to go on reading.
        std::thread::spawn(move || drop(err.read_to_end(&mut Vec::new())));
        let helper = wait_for("the helper", || helpers(child.id()).first().copied());
        (child, helper)
    }

    fn signal(id: u32, name: &str) {
        let sent = Command::new("kill").arg(format!("-{name}")).arg(id.to_string()).status().unwrap();
        assert!(sent.success());
    }

    #[test]
    fn no_helper_survives_the_program() {
        for (signals, code) in [
            (&["INT"][..], Some(130)),
            (&["INT", "INT"], Some(130)),
            (&["TERM"], Some(143)),
            (&["KILL"], None),
        ] {
            let place = Place::new();
            let (mut child, helper) = solving(&place);
            for name in signals {
                signal(child.id(), name);
            }
            let status = child.wait().unwrap();
            assert_eq!(status.code(), code, "{signals:?}");
            wait_for("the end of the helper", || is_dead(helper).then_some(()));
            if code.is_some() {
                place.run(&["check", "plan.json"]).done();
            }
        }
    }

    #[test]
    fn the_program_survives_its_helper() {
        let place = Place::new();
        let (mut child, helper) = solving(&place);
        signal(helper, "KILL");
        let status = child.wait().unwrap();
        assert!(helpers(child.id()).is_empty());
        // What had been found before is a plan, of a run that was stopped.
        assert_eq!(status.code(), Some(0));
        place.run(&["check", "plan.json"]).done();
        let plan = place.json("plan.json");
        assert_eq!(plan["status"], "stopped");
        let why = plan["provenance"]["not_reproducible_because"].as_str().unwrap();
        assert!(why.contains("solver process ended during the run"), "{why}");
    }
}
