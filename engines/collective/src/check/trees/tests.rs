use super::*;
use crate::check::{ScheduleEnvelope, check};
use crate::compose::{exchange_in_short, figures_of, unfolded, whole_chunks};
use crate::model::task::CollectiveTasks;
use crate::search::construct::{ConstructLimits, construct};
use crate::testing::preset;
use lightbay_core::checked::downcast;
use lightbay_core::testing::Ask;
use lightbay_core::watch::Unwatched;

/// The constructed schedule of an exchange, listed and in short form.
fn exchange(scenario: &CollectiveScenario) -> (CollectiveResult, CollectiveResult) {
    let tasks = CollectiveTasks::of(scenario, None).unwrap();
    let task = &tasks.tasks[0];
    let bounds = [crate::bounds::bound::<_, ()>(task, &mut Unwatched::default()).unwrap()];
    let limits = ConstructLimits { restarts: 1, seed: 1 };
    let schedule = construct::<_, ()>(task, &bounds[0], limits, &mut Unwatched::default(), |_, _| Ok(()));
    let schedule = schedule.unwrap().unwrap();
    let short = exchange_in_short(scenario, &tasks, &schedule, Some(&bounds)).unwrap().result;
    (whole_chunks(scenario, &tasks, &[schedule], Some(&bounds)).result, short)
}

/// The rules that a plan breaks.
fn broken(scenario: &CollectiveScenario, result: &CollectiveResult) -> Vec<String> {
    let bound = result.claims.lower_bound_epochs.map(|bound| f64::from(bound) * result.time.epoch_us);
    let covers = bound::covers(result);
    let metrics = figures_of(result, scenario);
    let envelope = ScheduleEnvelope {
        value: result.claims.finish_us,
        bound,
        bound_covers: bound.is_some().then_some(covers.as_str()),
        metrics: &metrics,
    };
    check(scenario, result, &envelope).violations.iter().map(ToString::to_string).collect()
}

/// The sends of the short form are those of the schedule that it was made from.
#[test]
fn exchanges_in_short_form_stand_for_their_sends() {
    for name in ["torus5x5x4-alltoall-1mb", "h800x16-alltoall-1mb"] {
        let scenario = preset(name);
        let (listed, short) = exchange(&scenario);
        assert!(short.sends.is_empty() && short.trees[0].trees.len() * 16 <= listed.pieces.len(), "{name}");
        assert_eq!(broken(&scenario, &short), Vec::<String>::new(), "{name}");
        assert_eq!(short.claims.bounds, listed.claims.bounds);
        let all = unfolded(&scenario, &short, u64::MAX).unwrap();
        assert_eq!(all.sends.len(), listed.sends.len());
        let sends = |result: &CollectiveResult| {
            let named = result
                .sends
                .iter()
                .map(|send| (send.epoch, send.from, send.to, result.pieces[send.piece as usize].chunk));
            let mut sends: Vec<_> = named.collect();
            sends.sort_unstable();
            sends
        };
        assert_eq!(sends(&all), sends(&listed), "{name}");
    }
}

/// Changes to exchanges in short form break a rule of the plan.
#[test]
fn exchanges_in_short_form_are_checked() {
    let scenario = preset("torus5x5x4-alltoall-1mb");
    let (_, short) = exchange(&scenario);
    let has = |code: &str, change: &dyn Fn(&mut CollectiveResult)| {
        let mut result = short.clone();
        change(&mut result);
        let told = broken(&scenario, &result);
        assert!(told.iter().any(|told| told.starts_with(&format!("{code}:"))), "{code}: {told:?}");
    };
    let last = short.trees[0].trees.len() - 1;
    has("demand", &|result| drop(result.trees[0].trees.pop()));
    has("demand", &|result| result.trees[0].trees[1].dests = result.trees[0].trees[0].dests.clone());
    has("demand", &|result| result.trees[0].trees[1].dests.clear());
    has("demand", &|result| result.trees[0].trees[1].dests.push(3));
    has("demand", &|result| result.trees[0].trees[0].share = "1/2".to_owned());
    has("demand", &|result| drop(result.trees[0].trees[last].edges.pop()));
    has("causality", &|result| {
        let far = result.trees[0].trees.iter_mut().find(|tree| tree.edges.len() > 1).unwrap();
        far.starts[0].fill(0);
    });
    has("capacity", &|result| {
        for tree in &mut result.trees[0].trees {
            tree.starts[0][0] = 0;
        }
    });
    has("piece", &|result| result.trees[0].shard_bytes /= 2.0);
    has("claim", &|result| result.claims.replay_us = Some(1.0));
    has("claim", &|result| result.claims.optimal = !result.claims.optimal);
    has("bound", &|result| {
        let claims = &mut result.claims;
        claims.bounds[0].epochs += 1;
        claims.lower_bound_epochs = claims.lower_bound_epochs.map(|epochs| epochs + 1);
    });
    has("piece", &|result| result.trees[0].generators = vec![[1, 0].into_iter().chain(2..100).collect()]);
    has("time", &|result| result.time.alpha_threshold = 0.5);
    has("piece", &|result| result.trees[0].generators.push((0..100).collect()));
}

/// GPUs of a torus hold what they pass on; the short form counts it as the list does.
#[test]
fn buffers_hold_for_exchanges_in_short_form() {
    let mut scenario = preset("torus5x5x4-alltoall-1mb");
    let (listed, short) = exchange(&scenario);
    let told = |scenario: &CollectiveScenario, result: &CollectiveResult| {
        let told = broken(scenario, result);
        told.iter().filter(|told| told.starts_with("buffer:")).count()
    };
    let fits = |scenario: &mut CollectiveScenario, limit, result| {
        scenario.buffer_limit_chunks = Some(limit);
        told(scenario, result) == 0
    };
    assert!(!fits(&mut scenario, 1, &short) && !fits(&mut scenario, 1, &listed));
    let least = (1..2_000).find(|limit| fits(&mut scenario, *limit, &listed)).unwrap();
    assert!(least > 1, "{least}");
    assert!(fits(&mut scenario, least, &short) && !fits(&mut scenario, least - 1, &short), "{least}");
}

/// A part in short form states whether it reduces, and is held against its place in the plan.
#[test]
fn parts_in_short_form_are_the_phases_they_say() {
    let solved = |name: &str| {
        let scenario = preset(name);
        let typed = [("schedule", "list"), ("most_sends", "0")];
        let plan = Ask::of(&crate::methods::all(), "trees", scenario.clone()).typed(&typed).run().done.plan;
        let result = downcast::<crate::Collective>(&plan.unwrap()).unwrap().plan().result.clone();
        assert_eq!(broken(&scenario, &result), Vec::<String>::new(), "{name}");
        (scenario, result)
    };
    let refused = |scenario: &CollectiveScenario, result: &CollectiveResult, part: &str| {
        let told = broken(scenario, result);
        assert!(told.iter().any(|told| told.starts_with("piece:") && told.contains(part)), "{told:?}");
    };
    // Both links of a pair are equal, so that each half is a valid plan in the place of the other.
    let (scenario, result) = solved("torus3x3-allreduce-1mb");
    assert_eq!(result.trees.iter().map(|part| part.adds_up).collect::<Vec<_>>(), [Some(true), Some(false)]);
    let mut swapped = result.clone();
    swapped.trees.swap(0, 1);
    refused(&scenario, &swapped, "trees[0] has adds_up false, but as part 0 of AllReduce it must have true");
    let mut twice = result.clone();
    twice.trees[1] = result.trees[0].clone();
    refused(&scenario, &twice, "trees[1] has adds_up true");
    let mut longer = result.clone();
    longer.trees[1].epoch_us *= 1.0 + 1e-12;
    let told = broken(&scenario, &longer);
    assert!(
        told.iter().any(|told| told.starts_with("time: trees[1] differs from the plan in the epoch length")),
        "{told:?}"
    );
    // A collective that reduces is not the one that spreads, and the other way round.
    for (is, named) in [
        ("torus3x3-reducescatter-1mb", CollectiveSort::AllGather),
        ("torus3x3-allgather-1mb", CollectiveSort::ReduceScatter),
    ] {
        let (mut scenario, result) = solved(is);
        scenario.demand.collective = named;
        refused(&scenario, &result, "trees[0] has adds_up");
    }
    // Plans of before do not state it.
    let mut silent = result;
    silent.trees.iter_mut().for_each(|part| part.adds_up = None);
    assert_eq!(broken(&scenario, &silent), Vec::<String>::new());
}

/// Sends that are listed say it piece by piece.
#[test]
fn pieces_that_are_listed_are_the_phases_they_say() {
    let scenario = preset("torus3x3-allreduce-1mb");
    let tasks = CollectiveTasks::of(&scenario, None).unwrap();
    let limits = ConstructLimits { restarts: 1, seed: 1 };
    let schedules: Vec<_> = tasks
        .tasks
        .iter()
        .map(|task| {
            let bound = crate::bounds::bound::<_, ()>(task, &mut Unwatched::default()).unwrap();
            let found = construct::<_, ()>(task, &bound, limits, &mut Unwatched::default(), |_, _| Ok(()));
            found.unwrap().unwrap()
        })
        .collect();
    let result = whole_chunks(&scenario, &tasks, &schedules, None).result;
    assert_eq!(broken(&scenario, &result), Vec::<String>::new());
    let mut swapped = result;
    swapped.pieces.iter_mut().for_each(|piece| piece.adds_up = !piece.adds_up);
    assert!(!broken(&scenario, &swapped).is_empty());
}
