use super::*;
use crate::bounds::bound;
use crate::model::task::CollectiveTasks;
use crate::scenario::{CollectiveScenario, CollectiveSort, EpochRule, presets};
use crate::testing::follow;
use lightbay_core::watch::Unwatched;

/// Finish and bound of a scenario.
fn solved(scenario: &CollectiveScenario, restarts: u32) -> (u32, u32) {
    scenario.validate().unwrap();
    let tasks = CollectiveTasks::of(scenario, None).unwrap();
    let task = &tasks.tasks[0];
    let bound = bound::<_, ()>(task, &mut Unwatched::default()).unwrap();
    let limits = ConstructLimits { restarts, seed: 1 };
    let found =
        construct::<_, ()>(task, &bound, limits, &mut Unwatched::default(), |_, _| Ok(())).unwrap().unwrap();
    (found.finish, bound.epochs)
}

fn with_epoch(name: &str, epoch_us: f64) -> CollectiveScenario {
    let mut scenario = presets::scenario(name).unwrap();
    scenario.time.epoch = EpochRule::Fixed;
    scenario.time.epoch_us = Some(epoch_us);
    scenario
}

/// Size, epochs and finish of two chassis of NDv2 as published by the reference: AllGather in fine and coarse epochs,
/// AllToAll in fine and coarse epochs.
const TABLE: [(&str, [(f64, u32); 4]); 11] = [
    ("1gb", [(1250.0, 35), (5000.0, 10), (1250.0, 256), (5000.0, 64)]),
    ("256mb", [(320.0, 35), (1280.41, 10), (320.0, 256), (1280.41, 64)]),
    ("64mb", [(80.0, 35), (320.1, 10), (80.0, 256), (320.1, 64)]),
    ("16mb", [(20.0, 35), (80.01, 10), (20.0, 256), (80.01, 64)]),
    ("4mb", [(5.0, 38), (20.0, 10), (5.0, 257), (20.0, 64)]),
    ("1mb", [(1.25, 39), (5.0, 14), (1.25, 258), (5.0, 65)]),
    ("256kb", [(0.32, 46), (1.28, 15), (0.32, 261), (1.28, 66)]),
    ("64kb", [(0.08, 76), (0.32, 24), (0.08, 273), (0.32, 69)]),
    ("16kb", [(0.02, 222), (0.08, 60), (0.02, 333), (0.08, 86)]),
    ("4kb", [(0.02, 212), (0.02, 212), (0.02, 218), (0.02, 218)]),
    ("1kb", [(0.005, 827), (0.01, 416), (0.005, 833), (0.01, 419)]),
];

#[test]
fn all_rows_of_two_ndv2_chassis_are_certified() {
    for (size, columns) in TABLE {
        for (column, (epoch_us, epochs)) in columns.into_iter().enumerate() {
            let collective = if column < 2 { "allgather" } else { "alltoall" };
            let scenario = with_epoch(&format!("ndv2x2-{collective}-{size}"), epoch_us);
            assert_eq!(
                solved(&scenario, 60),
                (epochs, epochs),
                "{collective} {size} in epochs of {epoch_us} us"
            );
        }
    }
}

const SIZES: [&str; 11] =
    ["1gb", "256mb", "64mb", "16mb", "4mb", "1mb", "256kb", "64kb", "16kb", "4kb", "1kb"];

/// Finishes of all sizes with epochs of a rule; those that meet their bound are positive, others negative.
fn row(name: &str, rule: EpochRule) -> Vec<i64> {
    let of = |size: &&str| {
        let mut scenario = presets::scenario(&format!("{name}-{size}")).unwrap();
        scenario.time.epoch = rule;
        let (finish, bound) = solved(&scenario, 8);
        if finish == bound { i64::from(finish) } else { -i64::from(finish) }
    };
    SIZES.iter().map(of).collect()
}

#[test]
fn four_ndv2_chassis_are_certified() {
    let fine = row("ndv2x4-allgather", EpochRule::FastestLink);
    assert_eq!(fine, [99, 99, 99, 101, 103, 109, 127, 208, 581, 1576, 1557]);
    let coarse = row("ndv2x4-allgather", EpochRule::SlowestLink);
    assert_eq!(coarse, [26, 26, 26, 26, 28, 30, 36, 57, 151, 553, 1557]);
}

#[test]
fn two_dgx2_chassis_are_certified_in_coarse_epochs() {
    let gather = row("dgx2x2-allgather", EpochRule::SlowestLink);
    assert_eq!(gather[..10], [4, 4, 4, 4, 4, 9, 12, 32, 104, 403]);
    let all = row("dgx2x2-alltoall", EpochRule::SlowestLink);
    assert_eq!(all[..10], [32, 32, 32, 32, 33, 34, 37, 49, 111, 410]);
}

#[test]
fn regular_networks_are_certified_by_folding() {
    let fine = row("dgx2x2-allgather", EpochRule::FastestLink);
    assert_eq!(fine[..5], [31, 31, 31, 31, 33]);
    assert!((-45..=-41).contains(&fine[5]) || fine[5] == 41, "{}", fine[5]);
    let all = row("dgx2x2-alltoall", EpochRule::FastestLink);
    assert_eq!(all[..6], [320, 320, 321, 321, 323, 331]);
    for (name, epoch_us, epochs) in [
        ("torus4x4-allgather-1.6mb", 2.0, 8),
        ("torus4x4x4-allgather-6.4mb", 2.0, 13),
        ("dgx2x1-allgather-1mb", 0.5, 17),
        ("h800x8-allgather-1gb", 86.8, 88),
        ("dgx2x2-allgather-1kb", 0.001, 4006),
        ("dgx2x2-allgather-1kb", 0.005, 803),
    ] {
        assert_eq!(solved(&with_epoch(name, epoch_us), 8), (epochs, epochs), "{name}");
    }
}

#[test]
fn folded_schedules_are_those_of_all_chunks() {
    let scenario = presets::scenario("torus3x4-allgather-1mb").unwrap();
    let tasks = CollectiveTasks::of(&scenario, None).unwrap();
    let folding = folding(&tasks.tasks[0]).unwrap();
    assert_eq!((folding.order(), folding.chunks.as_slice()), (12, &[0][..]));
    let start = ChunkStart { epoch: 5, link: 0, chunk: 0 };
    let mut chunks: Vec<u32> = unfolded(&folding, &[start]).iter().map(|start| start.chunk).collect();
    chunks.sort_unstable();
    assert_eq!(chunks, (0..12).collect::<Vec<u32>>());
}

/// Whole chunks on grids end at the bound, also where links of one dimension are half as fast.
#[test]
fn chunks_on_grids_are_matched_to_links() {
    for (name, chunks, one_rate, two_rates) in
        [("mesh3x4x5-allgather-120mb", 2, 40, 60), ("mesh5x5-allgather-75mb", 3, 36, 48)]
    {
        let mut scenario = presets::scenario(name).unwrap();
        scenario.demand.chunks_per_rank = chunks;
        assert_eq!(solved(&scenario, 24), (one_rate, one_rate), "{name}");
        scenario.topology.symmetry_generators.clear();
        for link in &mut scenario.topology.links {
            if link.from.abs_diff(link.to) > 1 {
                link.capacity_gbyte_per_s = 25.0;
            }
        }
        assert_eq!(solved(&scenario, 24), (two_rates, two_rates), "{name}");
    }
}

/// Trees that are timed together and changed where chunks are late, beside trees placed one after the other; with a
/// symmetry reduction (AMD, MI250) and without (one link of a ring at half the rate, AllGather and ReduceScatter);
/// through a switch that stores chunks (MI250) and through switches that do not (AMD).
#[test]
fn grafts_shorten_schedules_and_keep_them_sound() {
    let mut ring = presets::scenario("ring6-allgather-1mb").unwrap();
    ring.topology.links[0].capacity_gbyte_per_s /= 2.0;
    ring.topology.symmetry_generators.clear();
    let mut turned = ring.clone();
    turned.demand.collective = CollectiveSort::ReduceScatter;
    let preset = |name| presets::scenario(name).unwrap();
    for (scenario, pieces, least_gain) in [
        (preset("amdx1-allgather-1mb"), 8, 0.05),
        (preset("mi250x2-allgather-1mb"), 2, 0.02),
        (preset("amdx2-allgather-1mb"), 2, 0.02),
        (preset("amdx2-reducescatter-1mb"), 1, 0.0),
        (ring, 4, 0.0),
        (turned, 4, 0.0),
    ] {
        let tasks = CollectiveTasks::in_pieces(&scenario, None, pieces, 0.0).unwrap();
        let task = &tasks.tasks[0];
        assert!(suits_grafts(task));
        let bound = bound::<_, ()>(task, &mut Unwatched::default()).unwrap();
        let limits = ConstructLimits { restarts: 4, seed: 1 };
        let known = construct::<_, ()>(task, &bound, limits, &mut Unwatched::default(), |_, _| Ok(()));
        let known = known.unwrap().unwrap();
        let grafted =
            |moves| graft::<_, ()>(task, (task, &known), (moves, 1), &mut Unwatched::default()).unwrap();
        let found = grafted(1500);
        assert_eq!(found, grafted(1500));
        if let Some(found) = &found {
            follow(task, found);
            assert!(found.finish < known.finish && found.finish >= bound.epochs);
        }
        let finish = found.map_or(known.finish, |found| found.finish);
        let most = f64::from(known.finish) * (1.0 - least_gain);
        assert!(f64::from(finish) <= most, "{finish} of {} epochs", known.finish);
    }
    // Data reaches a switch at several paces.
    let mut paces = preset("amdx2-allgather-1mb");
    paces.topology.links.last_mut().unwrap().capacity_gbyte_per_s /= 2.0;
    paces.topology.symmetry_generators.clear();
    assert!(!suits_grafts(&CollectiveTasks::of(&paces, None).unwrap().tasks[0]));
}
