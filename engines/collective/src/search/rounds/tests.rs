use super::*;
use crate::model::task::CollectiveTasks;
use crate::programs::solver::OwnProcess;
use crate::scenario::{EpochRule, presets};
use lightbay_core::watch::Unwatched;

fn task(name: &str, chunks: u32, alpha_us: Option<f64>, epoch_us: f64) -> CollectiveTask {
    let mut scenario = presets::scenario(name).unwrap();
    let buffer = scenario.demand.output_buffer_bytes.unwrap();
    scenario.demand.chunks_per_rank = chunks;
    scenario.demand.output_buffer_bytes = Some(buffer * f64::from(chunks));
    if let Some(alpha_us) = alpha_us {
        scenario.topology.links.iter_mut().for_each(|link| link.alpha_us = alpha_us);
    }
    scenario.time.epoch = EpochRule::Fixed;
    scenario.time.epoch_us = Some(epoch_us);
    scenario.validate().unwrap();
    CollectiveTasks::of(&scenario, None).unwrap().tasks.remove(0)
}

fn finish(task: &CollectiveTask, epochs: u32, seconds: f64) -> (u32, u32) {
    let folding = Folding::none(&task.network, &task.chunks);
    let bound = crate::testing::bound_epochs(task);
    let options = Options::new().set("random_seed", 1);
    let limits = RoundLimits { epochs, may_grow: false, seconds, options };
    let mut watch = Unwatched::default();
    let mut rounds = 0;
    let found = in_rounds(task, &folding, bound, &limits, &mut OwnProcess::new(&mut watch), |_, end| {
        rounds = end.round;
        Ok(())
    });
    let schedule = found.unwrap();
    crate::testing::follow(task, &schedule);
    (schedule.finish, rounds)
}

#[test]
fn one_dgx1_is_spread_as_the_reference_does() {
    assert_eq!(finish(&task("dgx1-allgather-200kb", 2, Some(0.0), 1.0), 2, 60.0).0, 3);
    assert_eq!(finish(&task("dgx1-allgather-200kb", 2, Some(0.7), 1.0), 3, 60.0).0, 5);
}

#[test]
fn windows_of_slow_links_reach_back_into_the_round_before() {
    // Slow links take 4 epochs for a chunk, as many as a round has.
    let task = task("dgx1-allgather-200kb", 1, Some(0.0), 0.25);
    let (finish, rounds) = finish(&task, 4, 60.0);
    assert!(rounds > 1 && finish >= 8, "{finish} {rounds}");
}
