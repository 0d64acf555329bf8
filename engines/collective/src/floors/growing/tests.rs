use super::search::GrowingSearch;
use crate::Collective;
use crate::check::{ScheduleEnvelope, check};
use crate::floors::proof::floors_of;
use crate::methods;
use crate::model::task::CollectiveTasks;
use crate::plan::{FloorProof, floor_words};
use crate::scenario::{CollectiveScenario, Demand, LinkRecord, NodeRecord, NodeSort, SwitchHop};
use crate::scenario::{CollectiveSort, SwitchModel, Topology, presets};
use lightbay_core::checked::{Checked, downcast};
use lightbay_core::random::{Stream, Streams};
use lightbay_core::testing::Ask;
use lightbay_core::watch::Unwatched;
use rand::RngExt;
use std::sync::Arc;

fn sized(preset: &str, bytes: f64) -> CollectiveScenario {
    presets::scenario(preset).unwrap().sized(bytes)
}

/// Returns the floor from single cuts, and the floor from growing cuts if it is larger, at most `limit_us`.
fn floors(scenario: &CollectiveScenario, limit_us: f64) -> Option<(f64, Option<FloorProof>)> {
    let tasks = CollectiveTasks::in_pieces(scenario, None, 1, 0.0).unwrap();
    let from = floors_of(scenario, &tasks)?.with_latency.clone();
    let demand = &scenario.demand;
    let bytes = demand.chunk_size(&scenario.topology) * f64::from(demand.chunks_per_rank);
    let mut search = GrowingSearch::of(scenario, &tasks, from.floor_us)?;
    let raised = search.raise(&from, bytes, limit_us, &mut Unwatched::default()).unwrap();
    Some((from.floor_us, raised))
}

fn solved(method: &str, scenario: &CollectiveScenario) -> Option<Arc<Checked<Collective>>> {
    let plan = Ask::of(&methods::all(), method, scenario.clone()).run().done.plan?;
    downcast::<Collective>(&plan)
}

fn replay_us(plan: &Checked<Collective>) -> f64 {
    let claims = &plan.plan().result.claims;
    claims.replay_us.unwrap_or(claims.finish_us)
}

#[test]
fn growing_cuts_raise_the_floor_of_a_dgx1() {
    let scenario = sized("dgx1-allgather-200kb", 200_000.0);
    let (single_us, raised) = floors(&scenario, 10.0).unwrap();
    assert!((single_us - 1.9).abs() < 1e-9, "{single_us}");
    // The largest fraction of the data that flows over time can deliver reaches 1 at 2.125 us.
    let raised_us = raised.unwrap().floor_us;
    assert!(raised_us > 2.12 && raised_us < 2.126, "{raised_us}");
}

#[test]
fn growing_cuts_raise_the_floor_of_an_amd_chassis() {
    let scenario = sized("amdx1-allgather-1mb", 1_024_000.0);
    let (single_us, raised) = floors(&scenario, 10.0).unwrap();
    let raised_us = raised.map_or(0.0, |raised| raised.floor_us);
    assert!(raised_us > single_us * 1.02 && raised_us < 4.2, "{single_us} {raised_us}");
}

/// No plan of any method is below the floor; the limit of the search is far above all plans.
fn is_below_every_plan(scenario: &CollectiveScenario, name: &str) -> bool {
    let Some((_, Some(raised))) = floors(scenario, 1e9) else { return false };
    for method in ["auto", "construct", "trees", "ring", "shortest-path", "single-tree"] {
        if let Some(plan) = solved(method, scenario) {
            let (floor_us, replay_us) = (raised.floor_us, replay_us(&plan));
            assert!(floor_us <= replay_us * (1.0 + 1e-9), "{name}, {method}: {floor_us} above {replay_us}");
        }
    }
    true
}

#[test]
fn no_plan_of_a_preset_is_below_its_floor() {
    let mut raised = 0;
    for (name, sizes) in [
        ("dgx1-allgather-200kb", [50e3, 500e3]),
        ("dgx1-reducescatter-200kb", [100e3, 400e3]),
        ("dgx1-broadcast-200kb", [50e3, 500e3]),
        ("ring8-allgather-1mb", [100e3, 1e6]),
        ("mesh4x4-allgather-1mb", [200e3, 1e6]),
        ("ndv2x2-allgather-1gb", [100e3, 1e6]),
        ("dgx2x1-allgather-1mb", [200e3, 1e6]),
        ("a100x2-allgather-1gb", [200e3, 1e6]),
    ] {
        for bytes in sizes {
            raised += u32::from(is_below_every_plan(&sized(name, bytes), name));
        }
    }
    assert!(raised >= 3, "{raised}");
}

/// A ring of GPUs, or of GPUs with a switch, with chords; rates and latencies of links differ.
fn random_network(random: &mut Stream) -> CollectiveScenario {
    let gpus = random.random_range(3..6_u32);
    let switches = random.random_range(0..2_u32);
    let hops = [SwitchHop::StoreAndForward, SwitchHop::CutThrough];
    let hop = hops[random.random_range(0..2)];
    let nodes = gpus + switches;
    let mut links: Vec<LinkRecord> = Vec::new();
    for from in 0..nodes {
        for to in 0..nodes {
            let near = to == (from + 1) % nodes || from == (to + 1) % nodes;
            if from != to && (near || random.random_range(0..4) == 0) {
                let rate = [10.0, 25.0, 50.0][random.random_range(0..3)];
                let alpha_us = [0.3, 0.7, 1.0, 1.3][random.random_range(0..4)];
                links.push(LinkRecord::new(from, to, rate, alpha_us, "link"));
            }
        }
    }
    let node = |id| NodeRecord {
        id,
        name: id.to_string(),
        kind: if id >= gpus { NodeSort::Switch } else { NodeSort::Gpu },
        group: None,
    };
    let topology = Topology {
        name: "random".to_owned(),
        nodes: (0..nodes).map(node).collect(),
        links,
        switch_model: SwitchModel { copy: random.random_range(0..2) == 0, hop, reduce: false },
        symmetry_generators: Vec::new(),
        notes: String::new(),
    };
    let sorts = [CollectiveSort::AllGather, CollectiveSort::AllGather, CollectiveSort::ReduceScatter];
    let sort = sorts[random.random_range(0..3)];
    let bytes = [2e4, 1e5, 3e5][random.random_range(0..3)] * f64::from(gpus);
    presets::of(topology, None, Demand::named(sort, bytes))
}

#[test]
fn no_plan_of_a_random_network_is_below_its_floor() {
    let mut raised = 0;
    for at in 0..30 {
        let mut random = Streams::new(7).stream(at);
        let scenario = random_network(&mut random);
        if scenario.validate().is_ok() {
            raised += u32::from(is_below_every_plan(&scenario, &format!("network {at}")));
        }
    }
    assert!(raised >= 3, "{raised}");
}

#[test]
fn a_plan_with_growing_cuts_is_checked_and_a_forged_floor_is_refused() {
    let scenario = sized("dgx1-allgather-200kb", 200_000.0);
    let plan = solved("auto", &scenario).unwrap();
    let plan = plan.plan();
    let claimed = &plan.result.claims.floor.as_ref().unwrap().with_latency;
    assert_eq!(claimed.because, floor_words::GROWING);
    assert!(claimed.floor_us > 2.12, "{}", claimed.floor_us);
    let refusals = |change: &dyn Fn(&mut FloorProof)| {
        let mut result = plan.result.clone();
        change(&mut result.claims.floor.as_mut().unwrap().with_latency);
        let envelope = ScheduleEnvelope {
            value: plan.objective.value,
            bound: plan.objective.bound,
            bound_covers: plan.provenance.bound_covers(),
            metrics: &plan.metrics,
        };
        check(&scenario, &result, &envelope).violations.len()
    };
    let growing = |proof: &mut FloorProof, change: &dyn Fn(&mut crate::plan::GrowingCuts)| {
        change(proof.growing.as_mut().unwrap());
    };
    assert_eq!(refusals(&|_| {}), 0);
    assert!(refusals(&|proof| proof.floor_us *= 1.01) > 0);
    assert!(refusals(&|proof| growing(proof, &|growing| growing.cuts.truncate(1))) > 0);
    assert!(refusals(&|proof| proof.growing = None) > 0);
}
