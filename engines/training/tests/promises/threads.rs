//! The same scenario, parameters and seed give the same plan on any number of threads.

use super::support::{Asked, Log, essence, names};
use lightbay_core::event::EventBody;

/// Returns the events of a run about its search, without what depends on the clock.
fn story(log: &Log) -> Vec<String> {
    let told = log.0.iter().filter_map(|event| match &event.body {
        // An incumbent is built at once or later, as time allows; the generations tell of it anyway.
        EventBody::Started(_) | EventBody::Incumbent(_) | EventBody::Done(_) => None,
        // A solver speaks as time allows.
        EventBody::Solver(stats) if stats.unit == "nodes" => None,
        EventBody::Line(_) => None,
        body => Some(serde_json::to_string(body).unwrap()),
    });
    told.collect()
}

fn same_on_any(asked: &Asked, what: &str) {
    let one = asked.solve_on(1);
    for threads in [2, 3] {
        let more = asked.solve_on(threads);
        let plan = |log: &Log| essence(log.done().plan.as_ref().unwrap());
        assert!(plan(&one) == plan(&more), "{what} on {threads} threads");
        assert_eq!(one.done().work, more.done().work, "{what} on {threads} threads");
        assert_eq!(story(&one), story(&more), "{what} on {threads} threads");
    }
}

#[test]
fn every_method() {
    for job in ["small", "one_stage_per_pod", "mixtral_8x22b"] {
        for method in names().into_iter().filter(|method| *method != "delta-fixed-step") {
            let ones = ["1"; 7].join(",");
            let settings = format!("generations=25 min_ports=true topology={ones}");
            same_on_any(&Asked::new(job, method).set(&settings), &format!("{job} {method}"));
        }
    }
}

#[test]
fn searches_too_large_to_be_listed() {
    for method in ["delta-joint", "delta-topo"] {
        let settings = "listed_vectors=1 boxes=300 generations=25";
        same_on_any(&Asked::new("deepseek_671b", method).set(settings), method);
    }
}

#[test]
fn with_another_seed_and_from_a_hot_start() {
    let mut asked = Asked::new("megatron_177b", "delta-level").set("generations=30");
    let one = asked.solve();
    asked.seed = 77;
    same_on_any(&asked, "seed 77");
    let other = asked.solve();
    assert_ne!(story(&one), story(&other), "the seed does nothing");
    asked.hot_start = one.done().plan.clone();
    same_on_any(&asked, "hot start");
}
