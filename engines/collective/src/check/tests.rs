use super::*;
use crate::bounds::bound;
use crate::compose::whole_chunks;
use crate::model::task::CollectiveTasks;
use crate::plan::{SizePoint, SizeRange};
use crate::scenario::presets;
use crate::search::construct::{ConstructLimits, construct};
use lightbay_core::kind::Candidate;
use lightbay_core::watch::Unwatched;

mod times;

/// A constructed plan of a scenario.
fn made(scenario: &CollectiveScenario) -> Candidate<CollectiveResult> {
    scenario.validate().unwrap();
    let tasks = CollectiveTasks::of(scenario, None).unwrap();
    let bounds: Vec<_> =
        tasks.tasks.iter().map(|task| bound::<_, ()>(task, &mut Unwatched::default()).unwrap()).collect();
    let limits = ConstructLimits { restarts: 2, seed: 1 };
    let schedules: Vec<_> = tasks
        .tasks
        .iter()
        .zip(&bounds)
        .map(|(task, bound)| {
            construct::<_, ()>(task, bound, limits, &mut Unwatched::default(), |_, _| Ok(()))
                .unwrap()
                .unwrap()
        })
        .collect();
    whole_chunks(scenario, &tasks, &schedules, Some(&bounds))
}

/// The rules that a plan breaks.
fn broken(scenario: &CollectiveScenario, plan: &Candidate<CollectiveResult>) -> Vec<String> {
    let bound =
        plan.result.claims.lower_bound_epochs.map(|bound| f64::from(bound) * plan.result.time.epoch_us);
    let covers = covers(&plan.result);
    let envelope =
        ScheduleEnvelope { value: plan.value, bound, bound_covers: Some(&covers), metrics: &plan.metrics };
    check(scenario, &plan.result, &envelope).violations.iter().map(ToString::to_string).collect()
}

fn covers(result: &CollectiveResult) -> String {
    bound::covers(result)
}

#[test]
fn constructed_plans_pass_and_their_bounds_are_proven() {
    for name in [
        "dgx1-allgather-200kb",
        "dgx1-alltoall-200kb",
        "dgx1-allreduce-200kb",
        "dgx1-reducescatter-1mb",
        "dgx1-gather-1mb",
        "dgx1-broadcast-1mb",
        "ndv2x2-allgather-64kb",
        "ndv2x2-alltoall-1mb",
        "ndv2x4-allgather-1mb",
        "ndv2x4-reducescatter-1mb",
        "ndv2x4-scatter-1mb",
        "dgx2x2-allgather-1mb",
        "dgx2x2-gather-1mb",
        "amdx2-allgather-1mb",
        "amdx2-allreduce-1mb",
        "a100x2-alltoall-1mb",
        "torus3x3-allgather-1mb",
        "h800x2-allgather-1mb",
    ] {
        let scenario = presets::scenario(name).unwrap_or_else(|| panic!("{name}"));
        let plan = made(&scenario);
        assert_eq!(broken(&scenario, &plan), [] as [&str; 0], "{name}");
        let covers = covers(&plan.result);
        let bound = f64::from(plan.result.claims.lower_bound_epochs.unwrap()) * plan.result.time.epoch_us;
        let envelope = ScheduleEnvelope {
            value: plan.value,
            bound: Some(bound),
            bound_covers: Some(&covers),
            metrics: &plan.metrics,
        };
        assert_eq!(check(&scenario, &plan.result, &envelope).bound, BoundTrust::Verified, "{name}");
    }
}

/// A plan changed by hand has to break a rule.
fn refused(
    name: &str,
    code: &str,
    change: impl Fn(&mut CollectiveScenario, &mut Candidate<CollectiveResult>),
) {
    let mut scenario = presets::scenario(name).unwrap();
    let mut plan = made(&scenario);
    change(&mut scenario, &mut plan);
    let told = broken(&scenario, &plan);
    assert!(told.iter().any(|told| told.starts_with(&format!("{code}:"))), "{code} is not in {told:?}");
}

const NAME: &str = "ndv2x4-allgather-1mb";

#[test]
fn sends_have_links_and_an_order() {
    refused(NAME, code::LINK, |_, plan| plan.result.sends[3].to = 31);
    refused(NAME, code::LINK, |_, plan| plan.result.sends.swap(0, 1));
    // A second start of a piece is of use only where a switch cannot copy it.
    refused(NAME, code::USELESS, |_, plan| {
        let first = plan.result.sends[0];
        plan.result.sends.insert(0, first);
    });
    refused(NAME, code::LINK, |scenario, plan| {
        let first = plan.result.sends[0];
        scenario.failed_links = vec![[first.from, first.to]];
    });
    refused(NAME, code::PIECE, |_, plan| plan.result.sends[0].piece = 1_000);
}

/// A piece without destinations is refused, also if the chunk is one that nobody wants and is listed already.
#[test]
fn pieces_are_for_somebody() {
    let more = |plan: &mut Candidate<CollectiveResult>, dests| {
        let last = plan.result.pieces.last().unwrap().clone();
        plan.result.pieces.push(crate::plan::ChunkPiece { id: last.id + 1, dests, ..last });
    };
    refused(NAME, code::PIECE, |_, plan| more(plan, Some(Vec::new())));
    let mut scenario = crate::testing::own(2, &[], &[(0, 1, 1.0, 0.0)], &[(0, &[1]), (0, &[])]);
    scenario.demand.copy = true;
    let mut plan = made(&scenario);
    assert_eq!(broken(&scenario, &plan), [] as [&str; 0]);
    more(&mut plan, None);
    let told = broken(&scenario, &plan);
    assert!(told.iter().any(|told| told.contains("for nobody leave a gap or overlap")), "{told:?}");
}

#[test]
fn links_carry_what_they_can() {
    // All sends of the first half of the epochs at once.
    refused(NAME, code::CAPACITY, |_, plan| {
        let half = plan.result.claims.finish_epochs / 2;
        for send in &mut plan.result.sends {
            send.epoch = send.epoch.saturating_sub(half);
        }
        plan.result.sends.sort_by_key(|send| (send.epoch, send.from, send.to, send.piece));
        plan.result.sends.dedup();
    });
    refused(NAME, code::DOWN, |scenario, plan| {
        let first = plan.result.sends[0];
        let link =
            scenario.topology.links.iter_mut().find(|link| (link.from, link.to) == (first.from, first.to));
        link.unwrap().up_us = vec![[1e3, 1e4]];
    });
}

#[test]
fn nothing_leaves_before_it_is_there() {
    refused(NAME, code::CAUSALITY, |_, plan| {
        let last = plan.result.sends.pop().unwrap();
        plan.result.sends.insert(0, crate::plan::PieceSend { epoch: 0, ..last });
        plan.result.sends.sort_by_key(|send| (send.epoch, send.from, send.to, send.piece));
    });
    // Waiting at a switch.
    refused(NAME, code::CAUSALITY, |_, plan| {
        let waits = plan.result.sends.iter().position(|send| send.from == 32).unwrap();
        plan.result.sends[waits].epoch += 1;
        plan.result.sends.sort_by_key(|send| (send.epoch, send.from, send.to, send.piece));
    });
    refused(NAME, code::TIME, |scenario, _| scenario.topology.switch_model.copy = false);
    refused(NAME, code::SWITCH, |scenario, plan| {
        scenario.topology.switch_model.copy = false;
        plan.result.time.switch_copy = false;
    });
    refused(NAME, code::TIME, |scenario, _| {
        scenario.topology.switch_model.hop = crate::scenario::SwitchHop::StoreAndForward;
    });
    refused(NAME, code::TIME, |_, plan| plan.result.time.alpha_threshold = 0.5);
}

#[test]
fn everybody_gets_everything_once() {
    refused(NAME, code::DEMAND, |_, plan| {
        plan.result.sends.pop();
    });
    // Back to the source.
    refused(NAME, code::USELESS, |_, plan| {
        let send = plan.result.sends[0];
        let epoch = plan.result.claims.finish_epochs;
        plan.result.sends.push(crate::plan::PieceSend { from: send.to, to: send.from, epoch, ..send });
    });
    // A second time over another link.
    refused(NAME, code::USELESS, |scenario, plan| {
        let send = plan.result.sends[0];
        let links = &scenario.topology.links;
        let other = links.iter().find(|link| link.to == send.to && link.from != send.from).unwrap();
        let epoch = plan.result.claims.finish_epochs;
        plan.result.sends.push(crate::plan::PieceSend { from: other.from, epoch, ..send });
    });
    refused("dgx1-alltoall-200kb", code::USELESS, |scenario, plan| {
        let chunks = scenario.demand.expand(&scenario.topology);
        let other = scenario.topology.links.iter().find(|link| {
            let source = chunks.source(0);
            link.from == source && !chunks.dests(0).any(|dest| dest == link.to)
        });
        let other = other.unwrap();
        let epoch = plan.result.claims.finish_epochs;
        plan.result.sends.push(crate::plan::PieceSend { piece: 0, from: other.from, to: other.to, epoch });
    });
    refused("dgx1-alltoall-200kb", code::BUFFER, |scenario, _| scenario.buffer_limit_chunks = Some(0));
}

#[test]
fn sums_are_complete() {
    let name = "dgx1-allreduce-200kb";
    let first_of = |plan: &Candidate<CollectiveResult>, adds_up: bool| {
        let of = |send: &crate::plan::PieceSend| plan.result.pieces[send.piece as usize].adds_up == adds_up;
        plan.result.sends.iter().position(of).unwrap()
    };
    refused(name, code::DEMAND, |_, plan| {
        let at = first_of(plan, true);
        plan.result.sends.remove(at);
    });
    refused(name, code::CAUSALITY, |_, plan| {
        let at = first_of(plan, false);
        plan.result.sends[at].epoch = 0;
        plan.result.sends.sort_by_key(|send| (send.epoch, send.from, send.to, send.piece));
    });
    refused(name, code::USELESS, |_, plan| {
        let at = first_of(plan, true);
        let send = plan.result.sends[at];
        plan.result.sends.push(crate::plan::PieceSend { epoch: plan.result.claims.finish_epochs, ..send });
    });
    refused(name, code::PIECE, |_, plan| plan.result.pieces[0].adds_up = false);
}

#[test]
fn pieces_make_up_chunks() {
    refused(NAME, code::PIECE, |_, plan| {
        plan.result.pieces.pop();
    });
    refused(NAME, code::PIECE, |_, plan| plan.result.pieces[1].id = 0);
    refused(NAME, code::PIECE, |_, plan| plan.result.pieces[1].chunk = 2);
    refused(NAME, code::PIECE, |_, plan| plan.result.pieces[1].chunk = 9_999);
    refused(NAME, code::PIECE, |_, plan| plan.result.pieces[1].size_bytes *= 0.5);
    refused(NAME, code::PIECE, |_, plan| plan.result.pieces[1].offset_bytes = 1.0);
    refused(NAME, code::PIECE, |_, plan| plan.result.pieces[1].dests = Some(vec![0, 32]));
    refused(NAME, code::PIECE, |_, plan| plan.result.pieces[1].adds_up = true);
}

#[test]
fn claims_are_worked_out_again() {
    refused(NAME, code::CLAIM, |_, plan| plan.result.claims.finish_epochs -= 1);
    refused(NAME, code::CLAIM, |_, plan| plan.result.claims.finish_us *= 0.9);
    refused(NAME, code::CLAIM, |_, plan| plan.result.claims.algbw_gbyte_per_s *= 1.1);
    refused(NAME, code::CLAIM, |_, plan| plan.result.claims.replay_us = Some(0.9));
    refused(NAME, code::CLAIM, |_, plan| plan.result.claims.replay_us = None);
    refused(NAME, code::CLAIM, |_, plan| plan.result.claims.optimal = false);
    refused(NAME, code::CLAIM, |_, plan| plan.value *= 0.9);
    refused(NAME, code::CLAIM, |_, plan| {
        plan.metrics.insert("sends".to_owned(), 1.0);
    });
    refused(NAME, code::BOUND, |_, plan| {
        plan.result.claims.lower_bound_epochs = Some(9_999);
        plan.result.claims.bounds[0].epochs = 9_999;
    });
    // A cut that does not prove what is claimed of it.
    refused(NAME, code::BOUND, |_, plan| plan.result.claims.bounds[0].inside = vec![2]);
}

/// The floors of a plan.
fn floor(plan: &mut Candidate<CollectiveResult>) -> &mut crate::plan::FloorClaim {
    plan.result.claims.floor.as_mut().unwrap()
}

#[test]
fn floors_are_worked_out_again() {
    for name in ["ndv2x4-allgather-1mb", "dgx1-alltoall-200kb", "dgx1-allreduce-200kb", "dgx1-gather-1mb"] {
        refused(name, code::BOUND, |_, plan| floor(plan).without_latency.floor_us *= 1.01);
        refused(name, code::BOUND, |_, plan| floor(plan).with_latency.floor_us *= 1.01);
        refused(name, code::BOUND, |_, plan| floor(plan).without_latency.floor_us *= 0.99);
        refused(name, code::BOUND, |_, plan| floor(plan).without_latency.because = "cut into x".to_owned());
        refused(name, code::CLAIM, |_, plan| floor(plan).gap_to_floor += 0.01);
        refused(name, code::CLAIM, |_, plan| {
            plan.metrics.insert("gap_to_floor".to_owned(), 0.0001);
        });
    }
    // Another cut, by its own words, gives less.
    refused(NAME, code::BOUND, |_, plan| {
        let cut = &mut floor(plan).without_latency;
        (cut.inside, cut.because) = (vec![1], "cut into c0.g1".to_owned());
    });
    refused(NAME, code::BOUND, |_, plan| floor(plan).with_latency.because = "path c0.g0->c0.g1".to_owned());
}

/// A plan with ranges of one schedule each: up to 150 kB, and up to 400 kB.
fn with_ranges() -> (CollectiveScenario, Candidate<CollectiveResult>) {
    let mut scenario = presets::scenario("dgx1-allgather-200kb").unwrap();
    scenario.demand.sizes_bytes = vec![100_000, 200_000, 400_000];
    let mut plan = made(&scenario);
    let range = |min_bytes, max_bytes, planned_for_bytes: u64, sizes: &[u64]| {
        let sized = scenario.sized(planned_for_bytes as f64);
        let schedule = made(&sized).result;
        let point = |bytes: &u64| SizePoint {
            output_buffer_bytes: *bytes,
            finish_us: replay_of(&sized, &schedule, *bytes as f64 / planned_for_bytes as f64).unwrap(),
            floor: made(&scenario.sized(*bytes as f64)).result.claims.floor.map(|floor| floor.with_latency),
        };
        let points = sizes.iter().map(point).collect();
        SizeRange { min_bytes, max_bytes, planned_for_bytes, schedule, points }
    };
    plan.result.ranges = vec![
        range(100_000, 150_000, 100_000, &[100_000]),
        range(150_001, 400_000, 200_000, &[200_000, 400_000]),
    ];
    let time_us = |range: &SizeRange, bytes: u64| {
        let sized = scenario.sized(range.planned_for_bytes as f64);
        replay_of(&sized, &range.schedule, bytes as f64 / range.planned_for_bytes as f64).unwrap()
    };
    let (early, late) = (&plan.result.ranges[0], &plan.result.ranges[1]);
    let end = crate::search::ranges::crossover(
        100_000,
        200_000,
        |bytes| time_us(early, bytes),
        |bytes| time_us(late, bytes),
    );
    (plan.result.ranges[0].max_bytes, plan.result.ranges[1].min_bytes) = (end, end + 1);
    (scenario, plan)
}

#[test]
fn ranges_are_worked_out_again() {
    let (scenario, plan) = with_ranges();
    assert_eq!(broken(&scenario, &plan), [] as [&str; 0]);
    let refused = |code: &str, change: &dyn Fn(&mut CollectiveScenario, &mut Vec<SizeRange>)| {
        let (mut scenario, mut plan) = with_ranges();
        change(&mut scenario, &mut plan.result.ranges);
        let told = broken(&scenario, &plan);
        assert!(told.iter().any(|told| told.starts_with(&format!("{code}:"))), "{code} is not in {told:?}");
    };
    refused(code::RANGE, &|scenario, _| scenario.demand.sizes_bytes = vec![100_000, 400_000]);
    refused(code::RANGE, &|_, ranges| ranges[1].min_bytes -= 1);
    refused(code::RANGE, &|_, ranges| ranges[1].min_bytes += 1);
    refused(code::RANGE, &|_, ranges| ranges[0].max_bytes = u64::MAX);
    refused(code::RANGE, &|_, ranges| ranges[1].max_bytes = 300_000);
    refused(code::RANGE, &|_, ranges| ranges[1].max_bytes = 500_000);
    refused(code::RANGE, &|_, ranges| ranges[0].min_bytes = 0);
    refused(code::RANGE, &|_, ranges| ranges[0].planned_for_bytes = 0);
    refused(code::RANGE, &|_, ranges| ranges[1].points.swap(0, 1));
    refused(code::RANGE, &|_, ranges| ranges[0].points.clear());
    refused(code::RANGE, &|_, ranges| ranges[1].schedule.ranges = vec![ranges[0].clone()]);
    refused(code::CLAIM, &|_, ranges| ranges[1].points[1].finish_us *= 0.99);
    refused(code::BOUND, &|_, ranges| ranges[1].points[0].floor.as_mut().unwrap().floor_us *= 0.99);
    refused(code::DEMAND, &|_, ranges| {
        ranges[1].schedule.sends.pop();
    });
    refused(code::PIECE, &|_, ranges| ranges[1].planned_for_bytes = 400_000);
}

#[test]
fn every_rule_has_a_test_above() {
    let text = include_str!("tests.rs");
    for rule in code::ALL {
        let named = format!("code::{}", rule.to_uppercase());
        assert!(text.contains(&named), "no test breaks {rule}");
    }
}
