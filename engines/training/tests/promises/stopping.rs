//! Stopping at any moment leaves a valid plan, or none if there was none yet.

use super::support::{Asked, Board, recheck};
use lightbay_core::context::Stop;
use lightbay_core::event::{EndStatus, Event, EventBody};
use lightbay_core::plan::not_reproducible::PERSON;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Stops when the `k`-th event was said; returns how many events there were.
fn stop_after(asked: &Asked, k: usize) -> usize {
    let count = AtomicUsize::new(0);
    let board = Board::new(2, move |event: &Event, runs| {
        if count.fetch_add(1, Ordering::SeqCst) + 1 == k {
            runs.stop(event.run, Stop::Requested);
        }
    });
    board.submit(asked);
    let log = board.finish();
    let what = format!("{} stopped after {k} of {} events", asked.method, log.0.len());
    let done = log.done();
    let best = log.incumbents().map(|incumbent| incumbent.value).fold(f64::INFINITY, f64::min);
    match &done.plan {
        None => {
            assert_eq!(done.status, EndStatus::NoPlan, "{what}");
            assert_eq!(log.incumbents().count(), 0, "{what}: a plan was lost");
            assert_eq!(done.value, None, "{what}");
        }
        Some(plan) => {
            let read = recheck(plan);
            let because = read.plan().provenance.not_reproducible_because.as_deref();
            match done.status {
                EndStatus::Stopped | EndStatus::NoPlan => assert_eq!(because, Some(PERSON), "{what}"),
                // A proof holds whatever ended the run, but a later phase might have saved more ports.
                EndStatus::Optimal => {
                    assert!(because.is_none_or(|because| because == PERSON), "{what}: {because:?}");
                }
                _ => assert_eq!(because, None, "{what}"),
            }
            // A second phase may give up a hair of the makespan for ports.
            assert!(done.value.unwrap() <= best * (1.0 + 1.1e-7), "{what}: a better plan was lost");
        }
    }
    // Whatever was said before counts, and nothing is said after the end.
    let bounds = log.0.iter().filter_map(|event| match &event.body {
        EventBody::Bound(bound) if bound.only.is_none() => Some(bound.value),
        _ => None,
    });
    for bound in bounds {
        assert!(done.value.is_none_or(|value| bound <= value * (1.0 + 1e-12)), "{what}");
    }
    let ends = log.0.iter().filter(|event| matches!(event.body, EventBody::Done(_))).count();
    assert_eq!(ends, 1, "{what}");
    log.0.len()
}

fn stop_everywhere(asked: &Asked) {
    let all = stop_after(asked, usize::MAX);
    // Every event of the beginning, then ever fewer.
    let mut k = 1;
    while k <= all + 1 {
        stop_after(asked, k);
        k += 1 + k / 6;
    }
}

#[test]
fn of_the_search_with_proof() {
    for preset in ["tiny32", "small", "megatron_177b"] {
        for method in ["delta-joint", "delta-topo"] {
            stop_everywhere(&Asked::new(preset, method).set("min_ports=true"));
        }
    }
}

#[test]
fn of_the_search_over_boxes() {
    for method in ["delta-joint", "delta-topo"] {
        let settings = "listed_vectors=1 generations=6 islands=2 min_ports=true";
        stop_everywhere(&Asked::new("small", method).set(settings));
    }
}

#[test]
fn of_the_genetic_search() {
    for method in ["delta-fast", "delta-level"] {
        let settings = "generations=40 stall_generations=20 min_ports=true";
        stop_everywhere(&Asked::new("small", method).set(settings));
    }
}

#[test]
fn where_nics_are_shared() {
    let settings = "generations=10 islands=2 min_ports=true";
    for method in ["delta-joint", "delta-topo", "delta-level"] {
        stop_everywhere(&Asked::new("one_stage_per_pod", method).set(settings));
    }
}

#[test]
fn of_methods_that_only_evaluate() {
    for method in ["prop-alloc", "sqrt-alloc", "iter-halve", "simulate"] {
        stop_everywhere(&Asked::new("tiny4", method).set("topology=1,3,3"));
    }
}

#[test]
fn from_a_hot_start() {
    let mut asked = Asked::new("megatron_177b", "delta-joint");
    asked.hot_start = asked.solve().done().plan.clone();
    stop_everywhere(&asked);
    let mut asked = Asked::new("small", "delta-fast").set("generations=12");
    asked.hot_start = asked.solve().done().plan.clone();
    stop_everywhere(&asked);
}
