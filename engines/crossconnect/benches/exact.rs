//! Removed circuits, bounds and running times of the searching methods on the random family.
//!
//! Without arguments a short list. With arguments `METHOD PODS SWITCHES PERCENT SEEDS SECONDS [KNOB=VALUE …]` that case:
//! `cargo bench -p lightbay-crossconnect --bench exact -- auto 32 16 25 3 10`.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // a table is the point

use lightbay_core::clock::SystemClock;
use lightbay_core::event::{Done, EventBody, Recorder, RunId};
use lightbay_core::param::{ParamValue, Params};
use lightbay_core::run::{Request, Runs, TypedJob};
use lightbay_core::scenario::Scenario;
use lightbay_crossconnect::scenario::Family;
use lightbay_crossconnect::scenario::presets;
use lightbay_crossconnect::{Crossconnect, methods};
use std::sync::Arc;
use std::time::Duration;

struct Case<'a> {
    method: &'a str,
    pods: usize,
    ocs_count: usize,
    percent: u32,
    seeds: u64,
    seconds: f64,
    knobs: &'a [String],
}

/// Returns the end of a run and the seconds until its last improvement.
fn solve(case: &Case<'_>, seed: u64) -> (Done, f64) {
    let method = methods::all().into_iter().find(|method| method.info().name == case.method).unwrap();
    let info = method.info();
    let values: Vec<(&str, ParamValue)> = case
        .knobs
        .iter()
        .map(|text| {
            let (name, value) = text.split_once('=').unwrap();
            (name, info.params.iter().find(|knob| knob.name == name).unwrap().parse(value).unwrap())
        })
        .collect();
    let family = Family { changed_percent: case.percent, instance_seed: seed };
    let request = Request {
        scenario: Arc::new(Scenario::new(
            "bench".to_owned(),
            presets::random(case.pods, case.ocs_count, family),
        )),
        params: Params::resolve(&info.params, values.iter().map(|(name, value)| (*name, value))).unwrap(),
        seed: 1,
        time_limit_s: Some(case.seconds),
        gap: None,
        hot_start: None,
        proves: info.proves,
    };
    let recorder = Arc::new(Recorder::default());
    let runs = Runs::new(1, RunId(1), recorder.clone(), Arc::new(SystemClock::start()), None).unwrap();
    runs.submit(Box::new(TypedJob::<Crossconnect>::new(method, request).unwrap()));
    assert!(runs.wait_idle(Duration::from_hours(1)));
    let events = recorder.events();
    let better = |event: &&lightbay_core::event::Event| matches!(event.body, EventBody::Incumbent(_));
    let last_s = events.iter().rfind(better).map_or(0.0, |event| event.elapsed_s);
    let Some(EventBody::Done(done)) = events.last().map(|event| event.body.clone()) else {
        panic!("the last event is not done")
    };
    (done, last_s)
}

fn table(case: &Case<'_>) {
    let (mut removed, mut bound, mut whole_s, mut last_s) = (0.0, 0.0, 0.0, 0.0);
    let mut proven = 0;
    for seed in 1..=case.seeds {
        let began = std::time::Instant::now();
        let (done, last) = solve(case, seed);
        whole_s += began.elapsed().as_secs_f64();
        last_s += last;
        removed += done.value.unwrap_or(f64::NAN);
        bound += done.bound.unwrap_or(0.0);
        proven += u32::from(done.value == done.bound);
    }
    let mean = |sum: f64| sum / case.seeds as f64;
    let Case { method, pods, ocs_count, percent, .. } = case;
    let name = method.replace('-', "_");
    println!("figure: {name}_{pods}_{ocs_count}_{percent}_removed: {:.1}", mean(removed));
    println!("figure: {name}_{pods}_{ocs_count}_{percent}_s: {:.3}", mean(whole_s));
    println!(
        "{method} {} on ({pods}, {ocs_count}), {percent} % changed: removed {:.1}, bound {:.1}, {proven} of {} proven, \
         best after {:.2} s, {:.2} s in all",
        case.knobs.join(" "),
        mean(removed),
        mean(bound),
        case.seeds,
        mean(last_s),
        mean(whole_s)
    );
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if let [method, pods, ocs_count, percent, seeds, seconds, knobs @ ..] = &words[..] {
        let number = |text: &String| text.parse::<usize>().unwrap();
        table(&Case {
            method,
            pods: number(pods),
            ocs_count: number(ocs_count),
            percent: number(percent) as u32,
            seeds: number(seeds) as u64,
            seconds: seconds.parse().unwrap(),
            knobs,
        });
        return;
    }
    let fixed = ["orientation=fixed".to_owned()];
    for (method, pods, ocs_count, seconds, knobs) in [
        ("lumos-exact", 8, 8, 60.0, &fixed[..]),
        ("lumos-exact", 16, 8, 60.0, &fixed),
        ("lumos-exact", 16, 16, 60.0, &fixed),
        ("lumos-lns", 16, 16, 10.0, &[]),
        ("auto", 16, 16, 10.0, &[]),
        ("auto", 32, 16, 10.0, &[]),
    ] {
        table(&Case { method, pods, ocs_count, percent: 25, seeds: 3, seconds, knobs });
    }
}
