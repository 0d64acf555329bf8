//! Sessions on disk, whole and damaged.

use super::plans::{delete_plan, entries, read_plan};
use super::*;
use crate::book::PlanId;
use crate::replay::ReplayLimits;
use crate::toy;
use lightbay_core::checked::{AnyChecked, Checked};
use lightbay_core::kind::Depth;
use lightbay_core::param::{ParamValue, Params};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

mod odd;

const DATE: &str = "2026-01-01T00:00:00Z";

fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path().join("sessions"));
    (folder, store)
}

fn scenario() -> Value {
    json!({"schema": "lightbay.scenario/1", "kind": "toy", "name": "Toy box", "size": 1})
}

fn write(session: &Session, number: u64, value: f64) {
    let json = toy::plan(value).to_json().unwrap();
    write_plan(&session.plans_folder(), PlanId(number), &json).unwrap();
}

#[test]
fn names_are_made_safe() {
    for (wanted, name) in [
        ("megatron_177b", "megatron_177b"),
        ("../../etc/passwd", "etc-passwd"),
        ("  a  b  ", "a-b"),
        ("-rf", "rf"),
        (".hidden", "hidden"),
        ("\u{1b}[2J", "2J"),
        ("", "session"),
        ("///", "session"),
        ("Größe 1.5", "Größe-1.5"),
    ] {
        assert_eq!(sanitise(wanted), name, "{wanted:?}");
    }
    assert_eq!(sanitise(&"x".repeat(500)).len(), MAX_NAME);
}

#[test]
fn sessions_of_the_same_name_are_numbered() {
    let (_folder, store) = store();
    let names: Vec<String> = (0..3)
        .map(|_| store.create("megatron_177b", "toy", &scenario(), DATE).unwrap().name().to_owned())
        .collect();
    assert_eq!(names, ["megatron_177b", "megatron_177b-2", "megatron_177b-3"]);
    assert_eq!(store.names().unwrap(), names);
}

#[test]
fn what_was_saved_comes_back() {
    let (_folder, store) = store();
    let mut session = store.create("box", "toy", &scenario(), DATE).unwrap();
    let mut parameters = Params::default();
    parameters.set("gap", ParamValue::Float(1.0));
    parameters.set("ports", ParamValue::List(vec![ParamValue::Int(4), ParamValue::Int(6)]));
    let file = SessionFile {
        method: Some("guess".to_owned()),
        next_run: 4,
        last_plan: Some(PlanId(3)),
        baseline: Some(PlanId(1)),
        marks: BTreeSet::from([PlanId(1), PlanId(3)]),
        changed: BTreeMap::from([("bandwidth_gbps".to_owned(), ParamValue::Float(800.0))]),
        parameters: BTreeMap::from([("guess".to_owned(), parameters)]),
        shell: toml::from_str("focus = 3\n[zoom]\n5 = 2.5\n").unwrap(),
        ..session.file().clone()
    };
    session.save(file.clone()).unwrap();
    drop(session);
    let session = store.open("box", DATE).unwrap();
    assert_eq!(*session.file(), file);
    assert_eq!(session.read_scenario().unwrap(), (scenario(), None));
    assert!(session.remarks().is_empty() && session.read_only().is_none());
    let list = store.list().unwrap();
    assert_eq!((list[0].name.as_str(), list[0].file.scenario.as_str()), ("box", "Toy box"));
    assert_eq!(list[0].plans, 0);
    assert!(list[0].open_in.as_deref().is_some_and(|who| who.starts_with("process ")));
}

/// A name of a session that fits where those of the files in it do not: paths have at most 4095 bytes.
#[cfg(target_os = "linux")]
#[test]
fn a_session_that_cannot_be_made_leaves_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    let mut deep = folder.path().to_owned();
    while deep.as_os_str().len() < 3900 {
        deep.push("d".repeat(100));
    }
    deep.push("d".repeat(4090 - 1 - deep.as_os_str().len()));
    let store = Store::at(&deep);
    for _ in 0..3 {
        assert!(store.create("box", "toy", &scenario(), DATE).is_err());
    }
    assert_eq!(std::fs::read_dir(&deep).unwrap().count(), 0);
}

#[test]
fn a_second_opener_may_only_look() {
    let (_folder, store) = store();
    let first = store.create("box", "toy", &scenario(), DATE).unwrap();
    let mut second = store.open("box", DATE).unwrap();
    let note = second.read_only().unwrap();
    assert!(note.starts_with(&format!("read only: the session is open in process {}", std::process::id())));
    assert_eq!(second.read_scenario().unwrap().0, scenario());
    let error = second.save(SessionFile::default()).unwrap_err();
    assert!(matches!(error, SessionError::ReadOnly { .. }), "{error}");
    assert!(second.delete_plan(PlanId(1)).is_err());
    let error = store.remove("box").unwrap_err();
    assert!(matches!(error, SessionError::InUse { .. }), "{error}");
    drop(first);
    assert!(store.open("box", DATE).unwrap().read_only().is_none(), "free again");
    store.remove("box").unwrap();
    assert!(store.names().unwrap().is_empty());
}

#[test]
fn unknown_names_get_a_suggestion_and_never_leave_the_store() {
    let (folder, store) = store();
    fs::create_dir(folder.path().join("outside")).unwrap();
    drop(store.create("megatron_177b", "toy", &scenario(), DATE).unwrap());
    let message = store.open("megatron_17b", DATE).unwrap_err().to_string();
    assert_eq!(message, "session 'megatron_17b' does not exist; did you mean 'megatron_177b'?");
    for name in ["../outside", "..", ".", "", "/etc", "a/b"] {
        assert!(matches!(store.open(name, DATE), Err(SessionError::NoSession { .. })), "{name}");
        assert!(matches!(store.remove(name), Err(SessionError::NoSession { .. })), "{name}");
    }
    assert!(folder.path().join("outside").is_dir());
}

#[test]
fn plans_come_back_by_number_with_their_headers() {
    let (_folder, store) = store();
    let session = store.create("box", "toy", &scenario(), DATE).unwrap();
    for (number, value) in [(1, 0.5), (2, 0.25), (10_000, 0.75)] {
        write(&session, number, value);
    }
    fs::write(session.plans_folder().join("notes.txt"), b"mine").unwrap();
    fs::write(session.plans_folder().join("3.json"), b"not our name").unwrap();
    let plans = session.plans().unwrap();
    let values: Vec<(u64, f64)> =
        plans.iter().map(|entry| (entry.plan.0, entry.header.as_ref().unwrap().objective.value)).collect();
    assert_eq!(values, [(1, 0.5), (2, 0.25), (10_000, 0.75)]);
    assert_eq!(plans[0].header.as_ref().unwrap(), &toy::plan(0.5).header());
    assert_eq!(session.read_plan(PlanId(2)).unwrap(), toy::plan(0.25).to_value().unwrap());
    session.delete_plan(PlanId(2)).unwrap();
    assert!(session.read_plan(PlanId(2)).is_err());
    let replay = session.replay(ReplayLimits::ALL).unwrap();
    assert_eq!(session.book(&replay).assign_loose(), PlanId(10_001));
}

#[test]
fn large_plans_are_compressed_and_one_number_has_one_file() {
    let (_folder, store) = store();
    let session = store.create("box", "toy", &scenario(), DATE).unwrap();
    let folder = session.plans_folder();
    let draft = toy::draft(1, 0.5, "y".repeat(COMPRESS_ABOVE_BYTES));
    let large: std::sync::Arc<dyn AnyChecked> =
        std::sync::Arc::new(Checked::verify(draft, Depth::Usual).unwrap());
    write(&session, 1, 0.25);
    let bytes = write_plan(&folder, PlanId(1), &large.to_json().unwrap()).unwrap();
    assert!(bytes < 1 << 20, "{bytes} bytes");
    let found = entries(&folder).unwrap();
    assert_eq!(found.len(), 1);
    assert!(found[0].path.ends_with("0001.json.gz"));
    assert_eq!(found[0].header.as_ref().unwrap().objective.value, 0.5);
    assert_eq!(read_plan(&folder, PlanId(1)).unwrap(), large.to_value().unwrap());
    write(&session, 1, 0.125);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    delete_plan(&folder, PlanId(1)).unwrap();
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn plans_of_many_values_are_written_so_that_they_are_read_back() {
    let (_folder, store) = store();
    let session = store.create("box", "toy", &scenario(), DATE).unwrap();
    let folder = session.plans_folder();
    // Three million numbers take 206 MiB of memory: more than the 192 MiB that a file of some kilobytes may represent.
    let mut json = br#"{"values": ["#.to_vec();
    json.extend(b"1000000,".repeat(3_000_000));
    json.extend(b"0]}");
    write_plan(&folder, PlanId(1), &json).unwrap();
    assert!(folder.join("0001.json").exists() && !folder.join("0001.json.gz").exists());
    assert_eq!(read_plan(&folder, PlanId(1)).unwrap()["values"].as_array().unwrap().len(), 3_000_001);
    // What no reader takes is refused, and nothing is written.
    let whole = format!("\"{}\"", "y".repeat(257 << 20));
    let refused = write_plan(&folder, PlanId(2), whole.as_bytes()).unwrap_err().to_string();
    assert!(refused.contains("takes 258 MiB, but lightbay opens at most 64 MiB"), "{refused}");
    assert!(!folder.join("0002.json").exists() && !folder.join("0002.json.gz").exists());
}

#[test]
fn a_plan_cut_at_any_byte_is_listed_with_its_problem() {
    let (_folder, store) = store();
    let session = store.create("box", "toy", &scenario(), DATE).unwrap();
    write(&session, 1, 0.5);
    let whole = toy::plan(0.25).to_json().unwrap();
    let content = whole.len() - 1;
    for cut in 0..content {
        fs::write(session.plans_folder().join("0002.json"), &whole[..cut]).unwrap();
        let plans = session.plans().unwrap();
        assert_eq!(plans.len(), 2);
        assert!(plans[0].header.is_ok());
        let problem = plans[1].header.as_ref().unwrap_err().to_string();
        let told = if cut == 0 { "is empty" } else { "cut off" };
        assert!(problem.contains(told), "cut at {cut}: {problem}");
        assert!(session.read_plan(PlanId(2)).is_err());
    }
}

#[test]
fn a_plan_with_a_key_given_twice_is_listed_with_its_problem() {
    let (_folder, store) = store();
    let session = store.create("box", "toy", &scenario(), DATE).unwrap();
    let whole = String::from_utf8(toy::plan(0.25).to_json().unwrap()).unwrap();
    for (key, path) in
        [("schema", "schema"), ("value", "objective.value"), ("elapsed_s", "provenance.elapsed_s")]
    {
        let line = whole.lines().find(|line| line.trim_start().starts_with(&format!("\"{key}\":"))).unwrap();
        let twice = format!("{},\n{line}", line.trim_end_matches(','));
        let damaged = whole.replacen(line, &twice, 1);
        fs::write(session.plans_folder().join("0001.json"), damaged).unwrap();
        let problem = session.plans().unwrap()[0].header.as_ref().unwrap_err().to_string();
        assert!(problem.contains(&format!("{path}: is given twice")), "{problem}");
    }
}

#[test]
fn a_session_file_cut_at_any_byte_is_a_remark_and_the_rest_stays() {
    let (_folder, store) = store();
    let session = store.create("box", "toy", &scenario(), DATE).unwrap();
    write(&session, 1, 0.5);
    let folder = session.folder().to_owned();
    drop(session);
    let whole = fs::read(folder.join(SESSION_FILE)).unwrap();
    for cut in 0..whole.len() {
        fs::write(folder.join(SESSION_FILE), &whole[..cut]).unwrap();
        let session = match store.open("box", DATE) {
            Ok(session) => session,
            // Cut inside of the version, it looks like another version.
            Err(SessionError::Broken { problem, .. }) if problem.path == "schema" => continue,
            Err(error) => panic!("cut at {cut}: {error}"),
        };
        assert_eq!(session.plans().unwrap().len(), 1, "cut at {cut}");
        assert!(session.read_only().is_none(), "cut at {cut}");
        if !session.remarks().is_empty() {
            let kept = fs::read(folder.join("session.toml.broken")).unwrap();
            assert_eq!(kept, &whole[..cut], "a damaged file is set aside, not overwritten");
        }
    }
}

#[test]
fn a_damaged_scenario_is_taken_from_the_newest_plan() {
    let (_folder, store) = store();
    let session = store.create("box", "toy", &scenario(), DATE).unwrap();
    fs::write(session.folder().join(SCENARIO_FILE), b"{\"schema\":").unwrap();
    assert!(session.read_scenario().is_err());
    write(&session, 1, 0.5);
    fs::write(session.plans_folder().join("0002.json"), b"{").unwrap();
    let (found, remark) = session.read_scenario().unwrap();
    assert_eq!(found["size"], 1);
    assert!(remark.unwrap().ends_with("the scenario of plan 1 is used instead"));
}

#[test]
fn another_major_version_is_refused_by_name() {
    let (_folder, store) = store();
    let session = store.create("box", "toy", &scenario(), DATE).unwrap();
    let path = session.folder().join(SESSION_FILE);
    drop(session);
    let text = fs::read_to_string(&path).unwrap().replace("session/1", "session/2");
    fs::write(&path, &text).unwrap();
    let message = store.open("box", DATE).unwrap_err().to_string();
    assert!(message.contains("'lightbay.session/2'") && message.contains("use the version"), "{message}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text, "untouched");
}

#[test]
fn leftovers_of_a_kill_are_cleared_by_the_next_owner_only() {
    let (_folder, store) = store();
    let session = store.create("box", "toy", &scenario(), DATE).unwrap();
    let left = session.plans_folder().join(".lightbay-AbCdEf.tmp");
    fs::write(&left, b"half a pl").unwrap();
    let second = store.open("box", DATE).unwrap();
    assert!(left.exists(), "the owner may be writing it");
    drop((session, second));
    store.open("box", DATE).unwrap();
    assert!(!left.exists());
}
