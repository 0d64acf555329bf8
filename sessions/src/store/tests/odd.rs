//! Sessions with something in them that no lightbay put there: links, pipes, numbers without end.

use super::{DATE, scenario, store, write};
use crate::book::{MOST_NUMBER, PlanId};
use crate::error::SessionError;
use crate::replay::ReplayLimits;
use crate::store::Session;
use crate::toy;
use crate::writer::SessionWriter;
use lightbay_core::clock::ManualClock;
use lightbay_core::event::{EventSink as _, RunId};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::Arc;

fn writer(session: &Session) -> Result<SessionWriter, SessionError> {
    let replay = session.replay(ReplayLimits::default())?;
    let book = Arc::new(session.book(&replay));
    SessionWriter::start(session, book, Arc::new(ManualClock::default()), Box::new(|_| {}))
}

/// Everything below a folder, the folder itself included.
fn all(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = vec![folder.to_owned()];
    if !folder.is_dir() {
        return found;
    }
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(all(&path)) } else { found.push(path) }
    }
    found
}

#[test]
fn everything_is_for_its_owner_only() {
    let (folder, store) = store();
    let session = store.create("box", "toy", &scenario(), DATE).unwrap();
    let writer = writer(&session).unwrap();
    writer.sink().report(toy::incumbent(1, 1, 1, 0.5));
    writer.save_session(session.file());
    writer.close().unwrap();
    let found = all(&folder.path().join("sessions"));
    assert_eq!(found.len(), 8, "two folders above, plans, lock, log, scenario, session, a plan: {found:?}");
    for path in found {
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, if path.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
    }
}

#[test]
fn links_and_pipes_in_a_session_are_refused_and_what_they_lead_to_stays() {
    for name in ["session.toml", "scenario.json", "run.log", "lock", "plans", "plans/0001.json"] {
        for pipe in [false, true] {
            let (folder, store) = store();
            let session = store.create("box", "toy", &scenario(), DATE).unwrap();
            write(&session, 1, 0.5);
            writer(&session).unwrap().close().unwrap();
            let path = session.folder().join(name);
            drop(session);
            let outside = folder.path().join("outside");
            fs::rename(&path, &outside).unwrap();
            let before: Vec<_> = all(&outside).iter().map(|path| fs::read(path).ok()).collect();
            if pipe {
                let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
                assert!(made.success());
            } else {
                symlink(&outside, &path).unwrap();
            }
            let session = store.open("box", DATE).unwrap();
            let mut said: Vec<String> = session.remarks().to_vec();
            said.extend(session.read_scenario().err().map(|error| error.to_string()));
            said.extend(session.read_scenario().ok().and_then(|(_, remark)| remark));
            said.extend(session.plans().err().map(|error| error.to_string()));
            let plans = session.plans().unwrap_or_default();
            said.extend(plans.iter().filter_map(|plan| plan.header.as_ref().err()).map(ToString::to_string));
            match writer(&session) {
                Ok(writer) => {
                    // What is written takes the place of nothing that lies elsewhere.
                    writer.keep(PlanId(1), toy::plan(0.25));
                    writer.save_session(session.file());
                    writer.save_scenario(Arc::new(scenario()));
                    said.extend(writer.close().err());
                }
                Err(error) => said.push(error.to_string()),
            }
            let word = if pipe && name != "plans" { "no regular file" } else { "a symbolic link" };
            let plans_pipe = pipe && name == "plans";
            assert!(plans_pipe || said.iter().any(|line| line.contains(word)), "{name} {pipe}: {said:?}");
            assert!(!said.is_empty(), "{name} {pipe}");
            let after: Vec<_> = all(&outside).iter().map(|path| fs::read(path).ok()).collect();
            assert_eq!(after, before, "{name}");
        }
    }
}

#[test]
fn a_number_without_end_is_left_out_and_takes_the_place_of_no_plan() {
    for digits in ["18446744073709551615", "18446744073709551616", "9223372036854775808", "1000000000"] {
        let (_folder, store) = store();
        let session = store.create("box", "toy", &scenario(), DATE).unwrap();
        write(&session, 1, 0.5);
        let stray = session.plans_folder().join(format!("{digits}.json"));
        fs::copy(session.plans_folder().join("0001.json"), &stray).unwrap();
        drop(session);
        let session = store.open("box", DATE).unwrap();
        let remarks = session.remarks().join("\n");
        assert!(remarks.contains(digits) && remarks.contains("rename it to a free number"), "{remarks}");
        assert_eq!(session.plan_numbers().unwrap(), [PlanId(1)]);
        let writer = writer(&session).unwrap();
        assert_eq!(writer.book().assign(RunId(1), 1), PlanId(2));
        writer.sink().report(toy::incumbent(1, 1, 1, 0.25));
        writer.close().unwrap();
        let value = |plan| session.read_plan(PlanId(plan)).unwrap()["objective"]["value"].as_f64();
        assert_eq!((value(1), value(2)), (Some(0.5), Some(0.25)));
        assert!(stray.exists());
    }
}

#[test]
fn the_largest_number_leaves_the_free_ones_below_it() {
    let (_folder, store) = store();
    let session = store.create("box", "toy", &scenario(), DATE).unwrap();
    for number in [1, 3, MOST_NUMBER] {
        write(&session, number, 0.5);
    }
    let book = session.book(&session.replay(ReplayLimits::default()).unwrap());
    let ended = |run| book.conclude(RunId(run), &toy::plan(0.5)).plan;
    let given = [book.assign(RunId(1), 1), book.assign_loose(), ended(2), book.assign_loose()];
    assert_eq!(given.map(|plan| plan.0), [2, 4, 5, 6]);
    assert_eq!(book.assign(RunId(1), 1), PlanId(2), "the same plan has one number");
}

#[test]
fn a_run_without_end_leaves_numbers_for_those_that_follow() {
    let (_folder, store) = store();
    let session = store.create("box", "toy", &scenario(), DATE).unwrap();
    let writer = writer(&session).unwrap();
    writer.sink().report(toy::bound(7, 1, 0.5));
    writer.sink().report(toy::bound(u64::MAX, 1, 0.5));
    writer.close().unwrap();
    let replay = session.replay(ReplayLimits::ALL).unwrap();
    assert_eq!(session.next_run(&replay), 8);
}
