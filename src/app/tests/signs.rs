//! Progress in the title bar, the bell, and comparisons of several plans.

use super::support::Bench;
use crate::app::action::{Action, Command};
use crate::app::effect::Effect;
use crate::app::layer::Layer;
use crate::app::{RunProgress, Signs};
use lightbay_core::event::{Done, EndStatus, EventBody};
use std::time::Duration;

fn told(bench: &Bench) -> Option<RunProgress> {
    bench.effects.iter().rev().find_map(|effect| match effect {
        Effect::SetProgress(progress) => Some(*progress),
        _ => None,
    })
}

#[test]
fn progress_follows_the_active_run() {
    let mut bench = Bench::open();
    bench.app.signs = Signs { progress: true, bell_after_s: 0 };
    bench.keys("r");
    let run = bench.accept(false);
    assert_eq!(told(&bench), Some(RunProgress::Busy));
    bench.act(Action::Do(Command::Set("time_limit_s=100".to_owned())));
    assert_eq!(told(&bench), Some(RunProgress::Percent(0)));
    bench.wait(Duration::from_secs(50));
    assert_eq!(told(&bench), Some(RunProgress::Percent(50)));
    bench.wait(Duration::from_mins(1));
    assert_eq!(told(&bench), Some(RunProgress::Percent(99)), "a run may take longer than its limit");
    bench.replay(run, "iter-halve", 1);
    assert_eq!(told(&bench), Some(RunProgress::Idle));

    let mut quiet = Bench::open();
    quiet.keys("r");
    quiet.accept(false);
    assert_eq!(told(&quiet), None, "nobody asked for it");
}

#[test]
fn the_bell_rings_at_the_end_of_a_long_run() {
    for (after_s, rings) in [(0, false), (30, true), (41, false)] {
        let mut bench = Bench::open();
        bench.app.signs.bell_after_s = after_s;
        bench.keys("r");
        let run = bench.accept(false);
        let done = Done {
            status: EndStatus::NoPlan,
            limit: None,
            message: String::new(),
            violations: Vec::new(),
            value: None,
            bound: None,
            work: 0,
            plan: None,
        };
        bench.say(run, "iter-halve", 40, EventBody::Done(done), None);
        assert_eq!(bench.effects.contains(&Effect::Bell), rings, "after {after_s} s");
    }
}

#[test]
fn three_marked_plans_are_side_by_side_and_then_in_pairs() {
    let mut bench = Bench::open();
    let mut next = 1;
    for method in ["iter-halve", "delta-joint", "iter-halve"] {
        bench.act(Action::Do(Command::Solve { method: Some(method.to_owned()), warm: false }));
        let run = bench.accept(false);
        next = bench.replay(run, method, next);
    }
    let numbers: Vec<u64> = bench.app.plans.rows().iter().map(|entry| entry.number).collect();
    assert_eq!(numbers.len(), 3);
    for number in &numbers {
        bench.app.plans.get_mut(*number).unwrap().marked = true;
    }
    bench.keys("c");
    let shown = |bench: &Bench| match bench.app.layers.last() {
        Some(Layer::Compare(view)) => (view.shown().len(), view.differing),
        _ => panic!("a comparison"),
    };
    assert_eq!(shown(&bench), (2, false), "two plans against the first");
    let Some(Layer::Compare(view)) = bench.app.layers.last() else { panic!("a comparison") };
    let table = bench.app.comparison(view.shown()).unwrap();
    assert_eq!(table.labels.len(), 3);
    let seen: Vec<usize> = (0..3)
        .map(|_| {
            bench.keys("Tab");
            shown(&bench).0
        })
        .collect();
    assert_eq!(seen, [1, 1, 2]);
    bench.keys("d");
    assert_eq!(shown(&bench), (2, true));
    bench.keys("w Enter");
    let written = bench.effects.iter().find_map(|effect| match effect {
        Effect::Export(job) => job.path.file_name().map(|name| name.to_string_lossy().into_owned()),
        _ => None,
    });
    assert!(written.is_some_and(|name| name.matches('-').count() == 3), "all three plans are written");
}
