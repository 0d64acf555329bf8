//! Whole runs of the method, with their plans checked by the core.

use crate::Collective;
use crate::methods::all;
use crate::plan::CollectiveResult;
use crate::scenario::CollectiveScenario;
use crate::testing::preset;
use lightbay_core::checked::{BoundTrust, Checked, downcast};
use lightbay_core::testing::Ask;
use std::sync::Arc;

fn solved(scenario: &CollectiveScenario, typed: &[(&str, &str)]) -> Arc<Checked<Collective>> {
    let ended = Ask::of(&all(), "trees", scenario.clone()).typed(typed).run();
    let Some(plan) = &ended.done.plan else { panic!("no plan: {:?}", ended.done) };
    downcast::<Collective>(plan).unwrap()
}

fn result(plan: &Checked<Collective>) -> &CollectiveResult {
    &plan.plan().result
}

/// Rules that the sends of a plan in short form break, but for claims that the plan does not make.
fn wrong_in_list(scenario: &CollectiveScenario, short: &CollectiveResult) -> Result<Vec<String>, String> {
    use crate::check::{ScheduleEnvelope, check};
    use crate::compose::{figures_of, unfolded};
    let listed = unfolded(scenario, short, u64::MAX)?;
    let metrics = figures_of(&listed, scenario);
    let value = listed.claims.finish_us;
    let envelope = ScheduleEnvelope { value, bound: None, bound_covers: None, metrics: &metrics };
    let broken = check(scenario, &listed, &envelope).violations;
    let told: Vec<String> = broken.iter().map(ToString::to_string).collect();
    Ok(told.into_iter().filter(|told| !told.contains("replay_us")).collect())
}

/// Reference finishes of trees, µs.
#[test]
fn finishes_are_the_known_ones() {
    for (name, finish_us) in [
        ("ndv2x2-allgather-1mb", 42.97),
        ("ndv2x2-allgather-64mb", 2568.8),
        ("dgx1-allgather-1mb", 7.34),
        ("dgx1-allgather-64mb", 375.05),
        ("a100x2-allgather-64mb", 188.1),
    ] {
        let plan = solved(&preset(name), &[]);
        let value = plan.plan().objective.value;
        assert!(value <= finish_us * 1.001, "{name}: {value}");
        assert_eq!(plan.bound_trust(), BoundTrust::Verified, "{name}");
        let floor = result(&plan).claims.floor.as_ref().unwrap();
        assert!(floor.gap_to_floor >= 0.0, "{name}: {floor:?}");
    }
}

#[test]
fn every_collective_that_copies_runs_along_trees() {
    for name in [
        "dgx1-broadcast-1mb",
        "dgx1-reducescatter-1mb",
        "dgx1-allreduce-1mb",
        "ndv2x2-allreduce-1mb",
        "ndv2x4-reducescatter-1mb",
        "ndv2x2-broadcast-1mb",
        "dgx2x1-reducescatter-1mb",
        "torus3x3-allreduce-1mb",
    ] {
        for (schedule, most_sends) in [("list", "200000"), ("list", "0"), ("periodic", "0")] {
            let plan = solved(&preset(name), &[("schedule", schedule), ("most_sends", most_sends)]);
            let is_short = !result(&plan).trees.is_empty();
            assert_eq!(is_short, most_sends == "0", "{name} {schedule}");
            assert_eq!(is_short, result(&plan).sends.is_empty(), "{name} {schedule}");
            if is_short {
                match wrong_in_list(&preset(name), result(&plan)) {
                    Ok(wrong) => assert_eq!(wrong, Vec::<String>::new(), "{name} {schedule}"),
                    Err(why) => {
                        assert!(name.contains("reduce") && why.contains("share a link"), "{name}: {why}");
                    }
                }
            }
        }
    }
    let mut two = preset("dgx1-allgather-1mb");
    two.demand.chunks_per_rank = 3;
    assert_eq!(result(&solved(&two, &[])).pieces.len() % 24, 0);
}

#[test]
fn other_collectives_are_refused_with_what_to_take() {
    for name in ["dgx1-alltoall-1mb", "dgx1-gather-1mb"] {
        let ended = Ask::of(&all(), "trees", preset(name)).run();
        assert!(format!("{:?}", ended.done).contains("solve it with auto"), "{:?}", ended.done);
    }
    let mut alone = preset("dgx1-allgather-1mb");
    alone.demand.copy = false;
    let ended = Ask::of(&all(), "trees", alone).run();
    assert!(format!("{:?}", ended.done).contains("demand.copy"), "{:?}", ended.done);
}

/// The usual method keeps what ends first: trees, chunks in pieces, or whole chunks that meet the floor.
#[test]
fn the_usual_method_keeps_what_ends_first() {
    let by = |method: &str, name: &str, typed: &[(&str, &str)]| {
        let ended = Ask::of(&all(), method, preset(name)).typed(typed).run();
        let Some(plan) = &ended.done.plan else { panic!("no plan: {:?}", ended.done) };
        downcast::<Collective>(plan).unwrap()
    };
    for name in ["ndv2x2-allgather-1mb", "ndv2x2-alltoall-64kb", "amdx1-allgather-1mb"] {
        let (usual, whole) = (by("auto", name, &[("programs_s", "0")]), by("construct", name, &[]));
        assert!(usual.plan().objective.value < whole.plan().objective.value, "{name}");
        assert!(result(&usual).time.pieces_per_chunk > 1, "{name}");
        assert_eq!(usual.bound_trust(), BoundTrust::Verified, "{name}");
        let alone = by("auto", name, &[("pieces", "false"), ("programs_s", "0")]);
        assert_eq!(result(&alone).time.pieces_per_chunk, 1, "{name}");
    }
    let exchange = by("auto", "ndv2x2-alltoall-1gb", &[]);
    assert_eq!(
        (exchange.plan().objective.value, exchange.plan().objective.bound),
        (320_000.0, Some(320_000.0))
    );
    let covers = exchange.plan().provenance.bound_covers();
    assert_eq!(covers, Some("schedules of any number of chunks in any epochs"));
}

#[test]
fn knobs_limit_pieces() {
    let pieces = |typed: &[(&str, &str)]| {
        let plan = solved(&preset("dgx1-allgather-1mb"), typed);
        result(&plan).time.pieces_per_chunk
    };
    assert_eq!(pieces(&[("most_pieces", "1")]), 1);
    assert!(pieces(&[("most_pieces", "4")]) <= 4);
    assert!(pieces(&[("min_piece_bytes", "50000")]) <= 2);
    assert!(pieces(&[]) > 4);
}

/// Changes to trees in short form break a rule of the plan.
#[test]
fn trees_in_short_form_are_checked() {
    use crate::check::{ScheduleEnvelope, check};
    let scenario = preset("ndv2x2-allreduce-1mb");
    let made = solved(&scenario, &[("most_sends", "0")]);
    let broken = |change: &dyn Fn(&mut CollectiveResult)| -> Vec<String> {
        let mut result = result(&made).clone();
        change(&mut result);
        let envelope = ScheduleEnvelope {
            value: made.plan().objective.value,
            bound: None,
            bound_covers: None,
            metrics: &made.plan().metrics,
        };
        check(&scenario, &result, &envelope).violations.iter().map(ToString::to_string).collect()
    };
    assert_eq!(broken(&|_| ()), Vec::<String>::new());
    let has = |code: &str, change: &dyn Fn(&mut CollectiveResult)| {
        let told = broken(change);
        assert!(told.iter().any(|told| told.starts_with(&format!("{code}:"))), "{code}: {told:?}");
    };
    has("piece", &|result| drop(result.trees.pop()));
    has("piece", &|result| result.trees[0].shard_bytes *= 2.0);
    has("time", &|result| result.trees[1].epoch_us *= 2.0);
    has("time", &|result| result.time.alpha_threshold = 0.1);
    has("claim", &|result| result.trees[0].finish_epochs += 1);
    has("claim", &|result| result.claims.finish_us *= 0.9);
    has("claim", &|result| result.claims.replay_us = Some(1.0));
    has("demand", &|result| result.trees[0].trees.truncate(1));
    has("demand", &|result| result.trees[0].trees[0].edges.truncate(2));
    has("bound", &|result| result.claims.floor.as_mut().unwrap().with_latency.floor_us += 1.0);
}

/// Both forms are read as they were written.
#[test]
fn plans_are_written_and_read() {
    use lightbay_core::problem::Problems;
    use lightbay_core::read::Fields;
    use lightbay_core::record::Record as _;
    for most_sends in ["0", "200000"] {
        let made = solved(&preset("dgx1-allreduce-1mb"), &[("most_sends", most_sends)]);
        let text = serde_json::to_value(result(&made)).unwrap();
        let mut problems = Problems::new();
        let mut fields = Fields::of(&text, "result", &mut problems).unwrap();
        let again = CollectiveResult::of_fields(&mut fields, &mut problems);
        assert_eq!(again.as_ref(), Some(result(&made)), "{problems}");
    }
}

#[test]
fn matchings_are_refused_where_nodes_are_switches() {
    let refused =
        Ask::of(&all(), "trees", preset("a100x2-allgather-64mb")).typed(&[("schedule", "matching")]).run();
    assert!(format!("{:?}", refused.done).contains("some nodes are switches"), "{:?}", refused.done);
    let plan = solved(&preset("torus3x3-allreduce-1mb"), &[("schedule", "matching"), ("most_sends", "0")]);
    assert_eq!(wrong_in_list(&preset("torus3x3-allreduce-1mb"), result(&plan)), Ok(Vec::new()));
}

#[test]
fn networks_that_declare_no_symmetries_are_planned_as_those_that_do() {
    for name in ["a100x2-allgather-64mb", "torus4x4-allreduce-64mb", "amdx2-reducescatter-64mb"] {
        let declared = preset(name);
        let mut own = declared.clone();
        (own.family, own.topology.symmetry_generators) = (None, Vec::new());
        let finish_us = |scenario: &CollectiveScenario| {
            let plan = solved(scenario, &[("most_sends", "0")]);
            assert!(result(&plan).trees.iter().all(|part| !part.generators.is_empty()), "{name}");
            plan.plan().objective.value
        };
        let (known_us, found_us) = (finish_us(&declared), finish_us(&own));
        assert!(found_us <= known_us * 1.005, "{name}: {found_us} against {known_us}");
    }
}
