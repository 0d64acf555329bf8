//! Tests of saved sessions on the command line: names, notes, one file for all, and sessions as inputs.

use super::support::Place;
use lightbay_sessions::{Overwrite, Store, atomic_write};

/// Makes a session with two plans for its scenario, the second one better, and a third for another scenario.
fn session(place: &Place, name: &str) {
    place.plan("tiny8", "iter-halve", "fair.json");
    place.plan("tiny8", "delta-joint", "joint.json");
    place.plan("tiny4", "delta-joint", "other.json");
    let scenario = place.json("joint.json")["scenario"].clone();
    let store = Store::at(place.path("data/sessions"));
    let made = store.create(name, "training", &scenario, "2026-01-02T03:04:05Z").unwrap();
    for (number, plan) in ["fair.json", "joint.json", "other.json"].into_iter().enumerate() {
        let path = made.plans_folder().join(format!("{:04}.json", number + 1));
        atomic_write(&path, place.read(plan).as_bytes(), Overwrite::Refuse).unwrap();
    }
}

#[test]
fn a_session_is_renamed_noted_packed_and_unpacked() {
    let place = Place::new();
    session(&place, "week");
    let run = |arguments: &[&str]| place.run(&[&["--data-dir", "data", "sessions"], arguments].concat());
    run(&["note", "week", "ports", "of", "the", "new", "hall"]).done();
    run(&["list"]).done().prints(&["week", "ports of the new hall"]);
    run(&["rename", "week", "hall 7"]).done().says(&["session 'week' is now 'hall-7'"]);
    run(&["show", "week"]).exit(2).says(&["session 'week' does not exist"]);
    run(&["pack", "hall-7", "-o", "hall.json.gz"]).done();
    run(&["pack", "hall-7", "-o", "hall.json.gz"]).exit(2).says(&["exists already"]);
    run(&["unpack", "hall.json.gz"]).done().says(&["made session 'hall-7-2' with 3 plans"]);
    run(&["unpack", "hall.json.gz", "--name", "copy"]).done();
    let (one, two) = (run(&["show", "hall-7", "--json"]).json(), run(&["show", "copy", "--json"]).json());
    assert_eq!(
        (&one["note"], one["plans"][1]["plan"].clone()),
        (&two["note"], two["plans"][1]["plan"].clone())
    );
    // The list shows the best plan of an unpacked session, too.
    let listed = run(&["list", "--json"]).json();
    let copy = listed["sessions"].as_array().unwrap().iter().find(|entry| entry["name"] == "copy").unwrap();
    assert_eq!((&copy["plans"], &copy["best"]["number"]), (&3.into(), &2.into()));
    run(&["rename", "copy", "hall-7"])
        .exit(2)
        .says(&["session 'hall-7' exists already; choose another name"]);
    let renamed = run(&["rename", "copy", "second", "--json"]).json();
    assert_eq!((&renamed["done"], &renamed["sessions"][0]), (&"renamed".into(), &"second".into()));
    run(&["rename", "second", "copy"]).done();
    run(&["unpack", "joint.json"]).exit(2).says(&["is not a packed session"]);
    // A packed file is text that anybody can edit.
    run(&["pack", "hall-7", "-o", "plain.json"]).done();
    let plain = place.read("plain.json");
    let of_kind = plain.find("\"training\"").unwrap();
    let mixed = [&plain[..of_kind], "\"moe\"", &plain[of_kind + "\"training\"".len()..]].concat();
    place.write("mixed.json", mixed);
    run(&["unpack", "mixed.json"]).exit(2).says(&["kind"]);
    run(&["note", "copy"]).done();
    assert!(run(&["show", "copy", "--json"]).json()["note"].is_null());
}

/// Two folders have a session of one name; each list shows its own best plan.
#[test]
fn the_list_shows_plans_of_its_own_folder() {
    let place = Place::new();
    session(&place, "week");
    let value = |listed: &serde_json::Value| listed["sessions"][0]["best"]["objective"]["value"].clone();
    let own = value(&place.run(&["--data-dir", "data", "sessions", "list", "--json"]).json());
    assert_eq!(own, place.json("joint.json")["objective"]["value"]);
    place.run(&["--data-dir", "data", "sessions", "pack", "week", "-o", "week.json"]).done();
    // The same session in another folder, with the worse plan alone.
    let mut packed = place.json("week.json");
    packed["plans"].as_object_mut().unwrap().retain(|_, plan| plan["method"] == "iter-halve");
    place.write("worse.json", packed.to_string());
    place.run(&["--data-dir", "other", "sessions", "unpack", "worse.json"]).done();
    let other = value(&place.run(&["--data-dir", "other", "sessions", "list", "--json"]).json());
    assert_eq!(other, place.json("fair.json")["objective"]["value"]);
    assert_eq!(own, value(&place.run(&["--data-dir", "data", "sessions", "list", "--json"]).json()));
}

#[test]
fn removing_several_sessions_removes_all_or_none() {
    let place = Place::new();
    session(&place, "week");
    let run = |arguments: &[&str]| place.run(&[&["--data-dir", "data", "sessions"], arguments].concat());
    run(&["rm", "week", "nothing"]).exit(2).says(&["session 'nothing' does not exist"]);
    run(&["list"]).done().prints(&["week"]);
    run(&["rm", "week"]).done().says(&["removed session 'week'"]);
}

#[test]
fn commands_take_the_best_plan_of_a_session_or_a_numbered_one() {
    let place = Place::new();
    session(&place, "week");
    let run = |arguments: &[&str]| place.run(&[&["--data-dir", "data"], arguments].concat());
    let method = |source: &str| run(&["show", source, "--row"]).done().json()["method"].clone();
    assert_eq!(method("session:week"), "delta-joint");
    assert_eq!(method("session:week/1"), "iter-halve");
    run(&["check", "session:week/3"]).done().prints(&["0 violations"]);
    run(&["compare", "session:week/1", "session:week/2"]).done().prints(&["better"]);
    run(&["solve", "session:week", "--method", "iter-halve", "-o", "again.json"]).done();
    assert_eq!(place.json("again.json")["name"], "tiny8");
    run(&["show", "session:week/9"]).exit(2).says(&["plan '9' does not exist", "use one of 1, 2, 3"]);
    run(&["show", "session:none"]).exit(2).says(&["session 'none' does not exist"]);
}
