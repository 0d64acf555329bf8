//! A process that is killed while it saves.

use super::*;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

const FOLDER: &str = "LIGHTBAY_TEST_KILL_FOLDER";
const THIS_TEST: &str = "writer::tests::kill::after_a_kill_everything_flushed_is_there_and_work_goes_on";

/// Saves until the process is killed.
fn save_until_killed(folder: &Path) {
    let store = Store::at(folder);
    let clock: Arc<dyn Clock> = Arc::new(ManualClock::default());
    let session = store.create("box", "toy", &json!({"name": "box"}), "").unwrap();
    let writer = SessionWriter::start(&session, Arc::default(), clock, quiet()).unwrap();
    let sink = writer.sink();
    for number in 1.. {
        sink.report(toy::bound(1, 2 * number, 0.1));
        sink.report(toy::incumbent(1, 2 * number + 1, number, 1.0 / number as f64));
        writer.flush(Duration::from_mins(1)).unwrap();
        use std::io::Write as _;
        // Not println!: the harness may hold its output back.
        writeln!(std::io::stdout().lock(), "flushed {number}").unwrap();
    }
}

#[test]
fn after_a_kill_everything_flushed_is_there_and_work_goes_on() {
    // The test starts itself as the process that is killed; the variable tells the two apart.
    if let Some(folder) = std::env::var_os(FOLDER) {
        return save_until_killed(Path::new(&folder));
    }
    for kill_after in [1, 2, 5, 17, 40] {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([THIS_TEST, "--exact", "--nocapture"])
            .env(FOLDER, folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let flushed = lines
            .map_while(Result::ok)
            .filter_map(|line| line.rsplit_once("flushed ").and_then(|(_, number)| number.parse().ok()))
            .find(|number: &u64| *number >= kill_after)
            .expect("the victim lives until it is killed");
        let store = Store::at(folder.path());
        let looking = store.open("box", "").unwrap();
        assert!(looking.read_only().is_some_and(|note| note.contains(&child.id().to_string())));
        // SIGKILL, at whatever byte it is writing.
        child.kill().unwrap();
        child.wait().unwrap();
        drop(looking);

        let session = store.open("box", "").unwrap();
        assert_eq!(session.read_only(), None, "the lock of a dead process is no lock");
        let replay = session.replay(ReplayLimits::ALL).unwrap();
        assert_eq!(replay.broken, 0);
        let history = &replay.runs[&RunId(1)];
        assert!(history.plans >= flushed, "{} of {flushed}", history.plans);
        assert!(history.done.is_none());
        let plans = session.plans().unwrap();
        assert!(plans.len() as u64 >= flushed);
        for (at, entry) in plans.iter().enumerate() {
            let number = at as u64 + 1;
            assert_eq!(entry.plan, PlanId(number));
            assert_eq!(entry.header.as_ref().unwrap().objective.value, 1.0 / number as f64);
        }

        let book = Arc::new(session.book(&replay));
        let next = book.assign(RunId(2), 1);
        assert!(next.0 > history.plans && next.0 > plans.len() as u64);
        let clock: Arc<dyn Clock> = Arc::new(ManualClock::default());
        let writer = SessionWriter::start(&session, book, clock, quiet()).unwrap();
        writer.sink().report(toy::incumbent(2, 0, 1, 0.01));
        writer.close().unwrap();
        let again = session.replay(ReplayLimits::ALL).unwrap();
        assert_eq!((again.broken, again.cut_off), (0, false));
        assert_eq!(again.runs[&RunId(2)].plan, Some(next));
    }
}
