use super::*;
use crate::model::task::CollectiveTasks;
use crate::programs::solver::OwnProcess;
use crate::scenario::{CollectiveScenario, EpochRule, presets};
use crate::testing::{bound_epochs, follow};
use lightbay_core::watch::Unwatched;

fn limits() -> QuestionLimits {
    QuestionLimits {
        seconds: 60.0,
        until_s: f64::INFINITY,
        options: Options::new().set("random_seed", 1),
        buffer_limit: None,
    }
}

/// AllGather or AllToAll of some chunks of 25 KB among 8 GPUs.
fn dgx1(collective: &str, chunks: u32, alpha_us: f64, epoch_us: f64) -> CollectiveScenario {
    let mut scenario = presets::scenario(&format!("dgx1-{collective}-200kb")).unwrap();
    scenario.demand.chunks_per_rank = chunks;
    scenario.demand.output_buffer_bytes = Some(200_000.0 * f64::from(chunks));
    scenario.topology.links.iter_mut().for_each(|link| link.alpha_us = alpha_us);
    scenario.time.epoch = EpochRule::Fixed;
    scenario.time.epoch_us = Some(epoch_us);
    scenario.validate().unwrap();
    scenario
}

fn task(scenario: &CollectiveScenario) -> CollectiveTask {
    CollectiveTasks::of(scenario, None).unwrap().tasks.remove(0)
}

/// Answer to the question for that many epochs, folded by all symmetries or not at all.
fn answer(task: &CollectiveTask, folds: bool, epochs: u32) -> QuestionOutcome {
    let folding = if folds {
        Folding::largest(&task.network, &task.chunks)
    } else {
        Folding::none(&task.network, &task.chunks)
    };
    let mut watch = Unwatched::default();
    let (asked, schedule) = ask(task, &folding, epochs, &limits(), &mut OwnProcess::new(&mut watch)).unwrap();
    if let Some(schedule) = schedule {
        assert!(schedule.finish <= epochs);
        follow(task, &schedule);
    }
    asked.outcome
}

use QuestionOutcome::{Feasible, Infeasible};

/// Two switches that pass chunks on at once would keep a chunk between them for ever: no start is its own reason.
#[test]
fn chunks_come_from_their_source() {
    let links = [(0, 2, 1.0, 0.0), (2, 3, 2.0, 0.0), (3, 2, 2.0, 0.0), (3, 1, 2.0, 0.0)];
    let mut scenario = crate::testing::own(4, &[2, 3], &links, &[(0, &[1]), (0, &[1])]);
    scenario.topology.switch_model.hop = crate::scenario::SwitchHop::CutThrough;
    for copy in [true, false] {
        scenario.topology.switch_model.copy = copy;
        // In epochs of 500 us each chunk takes two into the first switch, and is then everywhere.
        let task = task(&scenario);
        assert_eq!((answer(&task, false, 3), answer(&task, false, 4)), (Infeasible, Feasible), "{copy}");
    }
}

#[test]
fn published_epochs_of_one_dgx1_are_met_and_proven() {
    for (collective, chunks, fewest) in
        [("allgather", 1, 4), ("allgather", 2, 5), ("allgather", 3, 6), ("alltoall", 1, 4)]
    {
        let task = task(&dgx1(collective, chunks, 0.7, 1.0));
        for folds in [true, false] {
            assert_eq!(answer(&task, folds, fewest), Feasible, "{collective} {chunks} {folds}");
        }
        assert_eq!(answer(&task, false, fewest - 1), Infeasible, "{collective} {chunks}");
    }
}

#[test]
fn finer_epochs_shorten_the_schedules_of_one_dgx1() {
    for (epoch_us, fewest) in [(0.5, [7, 9, 10]), (0.25, [12, 15, 19]), (0.1, [29, 36, 47])] {
        for (chunks, epochs) in (1..).zip(fewest) {
            let task = task(&dgx1("allgather", chunks, 0.7, epoch_us));
            assert_eq!(answer(&task, true, epochs), Feasible, "{chunks} chunks in epochs of {epoch_us} us");
        }
    }
}

#[test]
fn chunks_without_latency_take_an_epoch_more_than_their_number() {
    for chunks in 1..=6 {
        let task = task(&dgx1("allgather", chunks, 0.0, 1.0));
        assert_eq!(bound_epochs(&task), chunks + 1);
        for folds in [true, false] {
            assert_eq!(answer(&task, folds, chunks + 1), Feasible, "{chunks} chunks");
        }
    }
}

fn preset(name: &str) -> CollectiveTask {
    task(&presets::scenario(name).unwrap())
}

#[test]
fn one_amd_chassis_takes_27_epochs() {
    let task = preset("amdx1-allgather-1mb");
    assert_eq!((task.epochs.epoch_us, bound_epochs(&task)), (0.3125, 25));
    assert_eq!(answer(&task, false, 25), Infeasible);
    assert_eq!(answer(&task, false, 26), Infeasible);
}

#[test]
fn two_amd_chassis_take_5_epochs_at_most() {
    let mut scenario = presets::scenario("amdx2-allgather-1gb").unwrap();
    scenario.time.epoch = EpochRule::SlowestLink;
    let task = task(&scenario);
    assert_eq!((task.epochs.epoch_us, bound_epochs(&task)), (1250.0, 4));
    assert_eq!(answer(&task, true, 5), Feasible);
}

#[test]
fn tori_meet_their_bounds() {
    let mut flat = presets::scenario("torus4x4-allgather-1.6mb").unwrap();
    flat.topology.links.iter_mut().for_each(|link| link.alpha_us = 0.0);
    let flat = task(&flat);
    assert_eq!((bound_epochs(&flat), answer(&flat, true, 4)), (4, Feasible));
    let cube = preset("torus4x4x4-allgather-6.4mb");
    assert_eq!((bound_epochs(&cube), answer(&cube, true, 13)), (13, Feasible));
}

#[test]
fn questions_go_on_to_the_fewest_epochs() {
    // 2 chunks: the bound is 4, the construction finds 6 at most.
    let task = task(&dgx1("allgather", 2, 0.7, 1.0));
    let folding = Folding::largest(&task.network, &task.chunks);
    let mut watch = Unwatched::default();
    let mut solver = OwnProcess::new(&mut watch);
    let mut heard = Vec::new();
    let found =
        fewest_epochs(&task, bound_epochs(&task), 7, &folding, &limits(), &mut solver, |_, asked, found| {
            heard.push((
                asked.program.epochs,
                asked.program.folded_by,
                asked.outcome,
                found.map(|found| found.finish),
            ));
            Ok(())
        });
    let found = found.unwrap();
    assert_eq!((found.schedule.unwrap().finish, found.proven, found.asked.len()), (5, 5, heard.len()));
    assert_eq!(heard, [(4, 4, Infeasible, None), (4, 1, Infeasible, None), (5, 4, Feasible, Some(5))]);
    let sizes = found.asked.last().unwrap().program;
    assert_eq!(u64::from(sizes.size.columns) * 4, sizes.pruned.columns);
    assert!(sizes.pruned.columns * 2 < sizes.whole.columns);
}

#[test]
fn buffers_limit_what_is_held_for_others() {
    // Two chunks for node 2 through node 1, which may hold one at a time: the second link takes two epochs for each.
    let mut scenario = presets::scenario("ring8-allgather-1mb").unwrap();
    scenario.topology = crate::scenario::Topology {
        nodes: scenario.topology.nodes[..3].to_vec(),
        links: vec![
            crate::scenario::LinkRecord::new(0, 1, 50.0, 0.0, "link"),
            crate::scenario::LinkRecord::new(1, 2, 25.0, 0.0, "link"),
        ],
        symmetry_generators: Vec::new(),
        ..scenario.topology
    };
    scenario.family = None;
    let wish = crate::scenario::ChunkWish { source: 0, dests: vec![2], tenant: 0, priority: 1.0 };
    scenario.demand = crate::scenario::Demand::custom(1e6, vec![wish.clone(), wish.clone(), wish]);
    let task = task(&scenario);
    let folding = Folding::none(&task.network, &task.chunks);
    let outcome = |epochs, buffer_limit| {
        let limits = QuestionLimits { buffer_limit, ..limits() };
        let mut watch = Unwatched::default();
        let (asked, schedule) =
            ask(&task, &folding, epochs, &limits, &mut OwnProcess::new(&mut watch)).unwrap();
        if let (Some(schedule), Some(limit)) = (&schedule, buffer_limit) {
            follow(&task, schedule);
            // Chunks at node 1 from their arrival to the epoch in which they leave.
            let span = |chunk: u32| {
                let at =
                    |link| schedule.starts.iter().find(|start| (start.chunk, start.link) == (chunk, link));
                (at(0).unwrap().epoch + 1, at(1).unwrap().epoch)
            };
            let held =
                |epoch| (0..3).filter(|chunk| (span(*chunk).0..=span(*chunk).1).contains(&epoch)).count();
            assert!((0..8).all(|epoch| held(epoch) <= limit as usize));
        }
        asked.outcome
    };
    assert_eq!(outcome(7, None), Feasible);
    assert_eq!(outcome(7, Some(1)), Feasible);
    assert_eq!(outcome(7, Some(0)), Infeasible);
    assert_eq!(outcome(6, None), Infeasible);
}

#[test]
fn early_deliveries_are_worth_more() {
    let task = task(&dgx1("allgather", 1, 0.0, 1.0));
    let folding = Folding::largest(&task.network, &task.chunks);
    let question = CopyQuestion { task: &task, folding: &folding, epochs: 3, buffer_limit: None };
    let mut program = CopyProgram::new(question, &mut Unwatched::default()).unwrap();
    let mut watch = Unwatched::default();
    let mut solver = OwnProcess::new(&mut watch);
    let any = solver.solve(&program.model, Options::new(), lightbay_highs::solution::Start::None).unwrap();
    let any = program.schedule(&any.values.unwrap());
    program.reward_early();
    let start = program.point(&any).unwrap();
    let first = program.model.objective(&start);
    let start = lightbay_highs::solution::Start::Full(start);
    let early = solver.solve(&program.model, Options::new(), start).unwrap();
    let schedule = program.schedule(&early.values.unwrap());
    follow(&task, &schedule);
    // Four neighbours after one epoch, the others after two.
    let most = 8.0 / 4.0 * (4.0 * (1.0 + 1.0 / 2.0 + 1.0 / 3.0) + 3.0 * (1.0 / 2.0 + 1.0 / 3.0));
    assert!(early.objective.unwrap() >= first && (early.objective.unwrap() - most).abs() < 1e-6);
    assert_eq!(schedule.finish, 2);
}
