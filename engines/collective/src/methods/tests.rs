//! Whole runs of the methods, with their plans checked by the core.

use super::*;
use crate::plan::{CollectiveResult, PieceSend};
use crate::scenario::{CollectiveScenario, Demand, EpochRule, SwitchHop, TimeRule};
use crate::testing::{in_epochs, own, preset};
use lightbay_core::checked::{AnyChecked, BoundTrust, Checked, downcast};
use lightbay_core::event::EndStatus;
use lightbay_core::kind::Depth;
use lightbay_core::plan::Status;
use lightbay_core::testing::Ask;
use std::sync::Arc;

mod cut_through;
mod random;

/// The plan that a method finds.
fn solved(method: &str, scenario: &CollectiveScenario) -> Arc<Checked<Collective>> {
    let ended = Ask::of(&all(), method, scenario.clone()).run();
    let Some(plan) = &ended.done.plan else { panic!("no plan: {:?}", ended.done) };
    downcast::<Collective>(plan).unwrap()
}

/// Finish and bound in epochs.
fn epochs(method: &str, scenario: &CollectiveScenario) -> (u32, Option<u32>) {
    let plan = solved(method, scenario);
    (plan.plan().result.claims.finish_epochs, plan.plan().result.claims.lower_bound_epochs)
}

fn sends_of(result: &CollectiveResult, from: u32, to: u32) -> Vec<u32> {
    let on_link = |send: &&PieceSend| (send.from, send.to) == (from, to);
    result.sends.iter().filter(on_link).map(|send| send.epoch).collect()
}

const SLOW: f64 = 1e-3;

/// E1: one chunk for three GPUs behind one link.
#[test]
fn copies_save_a_link() {
    let links = [(0, 1, SLOW, 0.0), (1, 2, SLOW, 0.0), (1, 3, SLOW, 0.0), (1, 4, SLOW, 0.0)];
    let scenario = in_epochs(own(5, &[], &links, &[(0, &[2, 3, 4])]), 1e6);
    let plan = solved("construct", &scenario);
    assert_eq!(plan.plan().status, Status::Optimal);
    assert_eq!(plan.bound_trust(), BoundTrust::Verified);
    assert_eq!(epochs("construct", &scenario), (2, Some(2)));
    let result = &plan.plan().result;
    assert_eq!(sends_of(result, 0, 1), [0]);
    assert_eq!([2, 3, 4].map(|to| sends_of(result, 1, to)), [[1], [1], [1]]);
    let alone =
        CollectiveScenario { demand: Demand { copy: false, ..scenario.demand.clone() }, ..scenario.clone() };
    assert_eq!(epochs("construct", &alone), (4, Some(4)));
    let shortest = solved("shortest-path", &scenario);
    assert_eq!((shortest.plan().result.claims.finish_epochs, shortest.plan().result.sends.len()), (4, 6));
}

/// E2: chunks that arrive at once wait for each other.
#[test]
fn waiting_counts() {
    let links = [(0, 2, SLOW, 1e6), (1, 2, SLOW / 2.0, 0.0), (2, 3, SLOW, 0.0)];
    let scenario = in_epochs(own(4, &[], &links, &[(0, &[3]), (1, &[3])]), 1e6);
    assert_eq!(epochs("construct", &scenario), (4, Some(4)));
}

/// E3: a GPU stores, a switch does not, and cut-through pays once.
#[test]
fn switches_do_not_store() {
    let links = [(0, 3, SLOW, 0.0), (1, 3, SLOW, 0.0), (2, 3, SLOW, 0.0), (3, 4, SLOW, 0.0)];
    let chunks: &[(u32, &[u32])] = &[(0, &[4]), (1, &[4]), (2, &[4])];
    let gpu = in_epochs(own(5, &[], &links, chunks), 1e6);
    assert_eq!(epochs("construct", &gpu), (4, Some(4)));
    let mut switch = in_epochs(own(5, &[3], &links, chunks), 1e6);
    let plan = solved("construct", &switch);
    let mut begins: Vec<u32> = (0..3).flat_map(|from| sends_of(&plan.plan().result, from, 3)).collect();
    begins.sort_unstable();
    assert_eq!((begins, plan.plan().result.claims.finish_epochs), (vec![0, 1, 2], 4));
    switch.topology.switch_model.hop = SwitchHop::CutThrough;
    assert_eq!(epochs("construct", &switch), (3, Some(3)));
}

/// A switch that cannot copy gets a piece once for each port that it leaves by, also twice in one epoch.
#[test]
fn a_piece_starts_several_times_where_a_switch_cannot_copy() {
    let links = [(0, 3, 20.0), (3, 0, 10.0), (1, 3, 20.0), (3, 1, 10.0), (2, 3, 20.0), (3, 2, 10.0)];
    let links = links.map(|(from, to, rate)| (from, to, rate, 0.0));
    let mut scenario = own(4, &[3], &links, &[(0, &[1, 2])]);
    scenario.topology.switch_model.copy = false;
    // 1 MB takes 50 us into the switch and 100 us out of it.
    scenario.time.epoch = EpochRule::SlowestLink;
    let plan = solved("construct", &scenario);
    let result = &plan.plan().result;
    assert_eq!((sends_of(result, 0, 3), result.claims.finish_us), (vec![0, 0], 200.0));
    // The second of them leaves the switch 100 us after the start, and arrives 100 us later.
    assert_eq!(result.claims.replay_us, Some(200.0));
    let asked = Ask::of(&all(), "teccl-milp", scenario.clone()).typed(&[("epochs", "2")]).run().sound();
    assert_eq!((asked.done.value, asked.done.bound), (Some(200.0), Some(200.0)), "{:?}", asked.done);
    for method in ["auto", "shortest-path", "teccl-astar"] {
        assert!(solved(method, &scenario).plan().objective.value <= 200.0, "{method}");
    }
    // Two parts of a sum pass a switch that cannot reduce side by side.
    scenario.demand = Demand::named(crate::scenario::CollectiveSort::ReduceScatter, 3e6);
    scenario.topology.links.iter_mut().for_each(|link| {
        link.capacity_gbyte_per_s = if link.to == 3 { 10.0 } else { 20.0 };
    });
    assert_eq!(solved("construct", &scenario).plan().objective.value, 300.0);
}

/// E4: a link that takes two epochs for a chunk, and coarser epochs.
#[test]
fn fine_epochs_win() {
    let links = [(0, 1, 2.0 * SLOW, 0.0), (1, 2, SLOW, 0.0)];
    let mut scenario = own(3, &[], &links, &[(0, &[2]), (0, &[2]), (0, &[2])]);
    let fine = solved("construct", &scenario);
    let result = &fine.plan().result;
    assert_eq!((sends_of(result, 0, 1), sends_of(result, 1, 2)), (vec![0, 1, 2], vec![1, 3, 5]));
    assert_eq!((fine.plan().objective.value, fine.plan().status), (3.5e6, Status::Optimal));
    scenario.time.epoch = EpochRule::SlowestLink;
    assert_eq!(solved("construct", &scenario).plan().objective.value, 4e6);
    // In pieces the second link begins even earlier.
    assert!(solved("auto", &scenario).plan().objective.value < 3.5e6);
}

/// E5 and E6: a ring, and one chassis with the latency of its links.
#[test]
fn small_machines_are_optimal() {
    let ring = [(0, 1), (1, 2), (2, 3), (3, 0)];
    let links: Vec<(u32, u32, f64, f64)> =
        ring.iter().flat_map(|&(a, b)| [(a, b, SLOW, 0.0), (b, a, SLOW, 0.0)]).collect();
    let mut scenario = own(4, &[], &links, &[]);
    scenario.demand = Demand::named(crate::scenario::CollectiveSort::AllGather, 4e6);
    assert_eq!(epochs("construct", &scenario), (2, Some(2)));
    let mut dgx1 = preset("dgx1-allgather-200kb");
    dgx1.time.epoch = EpochRule::SlowestLink;
    let plan = solved("construct", &dgx1);
    let claims = &plan.plan().result.claims;
    assert_eq!(
        (claims.finish_us, claims.optimal, claims.bounds[0].because.starts_with("path")),
        (4.0, true, true)
    );
    assert!((claims.replay_us.unwrap() - 3.4).abs() < 1e-9, "{:?}", claims.replay_us);
}

/// E7: items with a head cross into the second chassis.
#[test]
fn a_cut_with_heads_and_tails_binds() {
    let plan = solved("construct", &preset("ndv2x2-allgather-64kb"));
    let claims = &plan.plan().result.claims;
    assert_eq!((claims.finish_epochs, claims.lower_bound_epochs), (76, Some(76)));
    assert!(claims.bounds[0].because.contains("7 chunks, head 10, tail 42"), "{}", claims.bounds[0].because);
    assert!((claims.finish_us - 6.08).abs() < 1e-9);
}

/// E8: all hops against all links.
#[test]
fn a_torus_is_bound_by_its_hops() {
    let no_alpha = |name: &str| {
        let mut scenario = in_epochs(preset(name), 2.0);
        scenario.topology.links.iter_mut().for_each(|link| link.alpha_us = 0.0);
        scenario
    };
    assert_eq!(epochs("construct", &no_alpha("torus4x4-alltoall-1.6mb")).1, Some(8));
    let (finish, bound) = epochs("construct", &no_alpha("torus4x4-allgather-1.6mb"));
    assert_eq!(bound, Some(4));
    assert!((4..=5).contains(&finish));
}

/// E9: sends that feed others of their own epoch are replayed within it.
#[test]
fn replay_sweeps_one_epoch_at_a_time() {
    let mut scenario = preset("dgx2x2-allgather-1gb");
    scenario.time.epoch = EpochRule::SlowestLink;
    let plan = solved("construct", &scenario);
    let claims = &plan.plan().result.claims;
    assert_eq!(claims.finish_us, 10_000.0);
    assert!(claims.replay_us.unwrap() < 9_000.0, "{:?}", claims.replay_us);
}

#[test]
fn baselines_are_far_from_the_bound() {
    let ndv2 = preset("ndv2x2-allgather-1gb");
    let finishes = ["ring", "shortest-path", "single-tree"].map(|method| epochs(method, &ndv2).0);
    assert_eq!(finishes, [56, 259, 36]);
}

#[test]
fn every_method_makes_plans_that_pass() {
    for name in
        ["dgx1-allreduce-200kb", "ndv2x4-alltoall-1mb", "dgx2x1-gather-1mb", "ndv2x4-reducescatter-1mb"]
    {
        for method in ["auto", "construct", "ring", "shortest-path", "single-tree"] {
            let plan = solved(method, &preset(name));
            assert!(plan.plan().objective.value > 0.0, "{method} {name}");
        }
    }
}

#[test]
fn nothing_to_do_is_done_at_once() {
    let links = [(0, 1, SLOW, 0.0)];
    let unwanted = own(2, &[], &links, &[(0, &[])]);
    for method in ["construct", "auto", "ring"] {
        let plan = solved(method, &unwanted);
        assert_eq!((plan.plan().objective.value, plan.plan().result.sends.len()), (0.0, 0));
    }
    assert_eq!(epochs("construct", &own(2, &[], &links, &[])), (0, Some(0)));
}

#[test]
fn links_that_come_and_go_are_waited_for() {
    let mut scenario = in_epochs(own(2, &[], &[(0, 1, SLOW, 0.0)], &[(0, &[1]), (0, &[1])]), 1e6);
    scenario.topology.links[0].up_us = vec![[0.0, 1e6], [3e6, 4.5e6]];
    assert_eq!(epochs("construct", &scenario).0, 4);
    scenario.topology.links[0].up_us = vec![[0.0, 1e6]];
    let ended = Ask::of(&all(), "construct", scenario).run();
    assert!(ended.done.plan.is_none() && format!("{:?}", ended.done).contains("up_us"), "{:?}", ended.done);
}

/// A chunk of 100 us fits into no interval of 60 us, but two pieces of 50 us do.
#[test]
fn pieces_fit_into_intervals_that_are_too_short_for_a_chunk() {
    let mut scenario = own(2, &[], &[(0, 1, 10.0, 0.0), (1, 0, 10.0, 0.0)], &[(0, &[1]), (1, &[0])]);
    scenario.topology.links[0].up_us = vec![[0.0, 60.0], [100.0, 160.0]];
    let plan = solved("auto", &scenario);
    assert!(
        plan.plan().result.claims.finish_us >= 140.0,
        "60 us hold 600 KB of 1 MB: {}",
        plan.plan().result.claims.finish_us
    );
    assert!(plan.plan().result.claims.finish_us <= 150.0 + 1e-9, "{}", plan.plan().result.claims.finish_us);
}

/// From node 2 to node 1: 1 MB at 5 GB/s, 200 us, or two hops of 100 us. Both take 2 epochs, but two hops occupy two
/// links.
#[test]
fn of_equally_short_paths_the_direct_one_is_taken() {
    let links = [(0, 1, 10.0, 0.0), (2, 0, 10.0, 0.0), (2, 1, 5.0, 0.0)];
    let scenario = in_epochs(own(3, &[], &links, &[(2, &[1])]), 100.0);
    assert_eq!(sends_of(&solved("shortest-path", &scenario).plan().result, 2, 1), [0]);
}

#[test]
fn chunks_wait_for_room_in_buffers() {
    let links = [(0, 1, SLOW, 0.0), (1, 2, SLOW / 2.0, 0.0)];
    let mut scenario = own(3, &[], &links, &[(0, &[2]), (0, &[2]), (0, &[2])]);
    // Each chunk takes one epoch to node 1 and two from there.
    assert_eq!(epochs("construct", &scenario), (7, Some(7)));
    scenario.buffer_limit_chunks = Some(1);
    let plan = solved("construct", &scenario);
    assert_eq!(plan.plan().result.claims.finish_epochs, 7);
    assert_eq!(
        sends_of(&plan.plan().result, 0, 1),
        [0, 1, 3],
        "the third chunk waits until the second has left"
    );
    assert!(solved("auto", &scenario).plan().objective.value <= 7e6);
    let refused = Ask::of(&all(), "shortest-path", scenario.clone()).run().done;
    let said = "buffer_limit_chunks: is 1, but a GPU holds 2 chunks for others in this schedule";
    assert!(refused.status == EndStatus::Invalid && refused.message.contains(said), "{refused:?}");
    // Nothing passes a GPU that does not want it, but a switch and a GPU that wants it are no buffers.
    scenario.buffer_limit_chunks = Some(0);
    for method in ["construct", "auto", "teccl-milp"] {
        let refused = Ask::of(&all(), method, scenario.clone()).run().done;
        assert!(refused.message.contains("buffer_limit_chunks: is 0"), "{method}: {refused:?}");
    }
    scenario.demand.chunks = vec![crate::scenario::ChunkWish::new(0, [1, 2])];
    assert_eq!(epochs("construct", &scenario), (3, Some(3)));
}

#[test]
fn tenants_share_a_network_and_the_urgent_one_goes_first() {
    use crate::scenario::{CollectiveSort, TenantDemand};
    let mut scenario = preset("dgx1-allgather-200kb");
    let tenant = |name: &str, priority| TenantDemand {
        name: name.to_owned(),
        collective: CollectiveSort::AllToAll,
        chunks_per_rank: 1,
        ranks: (0..8).collect(),
        root: None,
        priority,
    };
    scenario.demand = Demand {
        collective: CollectiveSort::MultiTenant,
        tenants: vec![tenant("late", 1.0), tenant("urgent", 5.0)],
        output_buffer_bytes: None,
        chunk_bytes: Some(25_000.0),
        ..scenario.demand
    };
    scenario.validate().unwrap();
    let plan = solved("construct", &scenario);
    let result = &plan.plan().result;
    let last = |pieces: std::ops::Range<u32>| {
        let of = result.sends.iter().filter(|send| pieces.contains(&send.piece));
        of.map(|send| send.epoch).max().unwrap()
    };
    assert!(last(56..112) < last(0..56), "the urgent tenant ends first");
}

#[test]
fn integer_programs_prove_what_they_find() {
    let mut two = preset("dgx1-allgather-200kb");
    two.demand.chunks_per_rank = 2;
    two.demand.output_buffer_bytes = Some(400e3);
    two.time.epoch = EpochRule::SlowestLink;
    let plan = solved("teccl-milp", &two);
    assert_eq!((plan.plan().objective.value, plan.plan().objective.bound), (5.0, Some(5.0)));
    assert_eq!(plan.plan().status, Status::Optimal);
    // The cut proves 4 epochs, the programs one more, which nobody checks.
    assert_eq!(
        (plan.plan().result.claims.lower_bound_epochs, plan.bound_trust()),
        (Some(4), BoundTrust::Claimed)
    );
    let early = Ask::of(&all(), "teccl-milp", two).typed(&[("early", "true")]).run();
    let early = downcast::<Collective>(early.done.plan.as_ref().unwrap()).unwrap();
    assert_eq!(early.plan().objective.value, 5.0);
    // The sum of the epochs of all deliveries can only fall.
    let last =
        |plan: &Checked<Collective>| plan.plan().result.sends.iter().map(|send| send.epoch).sum::<u32>();
    assert!(last(&early) <= last(&plan));
}

#[test]
fn one_question_is_asked_where_one_is_wanted() {
    let mut two = preset("dgx1-allgather-200kb");
    two.demand.chunks_per_rank = 2;
    two.demand.output_buffer_bytes = Some(400e3);
    two.time.epoch = EpochRule::SlowestLink;
    for (epochs, bound_us) in [("4", 5.0), ("5", 4.0)] {
        let (done, told) =
            Ask::of(&all(), "teccl-milp", two.clone()).typed(&[("epochs", epochs)]).run().told();
        assert_eq!(done.bound, Some(bound_us), "{epochs}");
        // Folded, and whole where there is no symmetric schedule.
        let asked = told.iter().filter(|said| format!("{said:?}").contains("\"question\"")).count();
        assert_eq!(asked, if epochs == "4" { 2 } else { 1 });
    }
}

#[test]
fn integer_programs_keep_to_buffers() {
    let links = [(0, 1, SLOW, 0.0), (1, 2, SLOW / 2.0, 0.0)];
    let mut scenario = own(3, &[], &links, &[(0, &[2]), (0, &[2]), (0, &[2])]);
    scenario.buffer_limit_chunks = Some(1);
    assert_eq!(epochs("teccl-milp", &scenario), (7, Some(7)));
    scenario.buffer_limit_chunks = Some(0);
    let ended = Ask::of(&all(), "teccl-milp", scenario).run();
    assert!(format!("{:?}", ended.done).contains("buffer_limit_chunks"), "{:?}", ended.done);
}

#[test]
fn both_halves_of_all_reduce_are_asked_for() {
    let mut scenario = preset("dgx1-allreduce-200kb");
    scenario.time.epoch = EpochRule::SlowestLink;
    let plan = solved("teccl-milp", &scenario);
    assert_eq!((plan.plan().result.claims.finish_epochs, plan.plan().status), (8, Status::Optimal));
}

#[test]
fn linear_programs_send_parts_of_chunks() {
    let mut scenario = in_epochs(preset("dgx1-alltoall-200kb"), 1.0 / 3.0);
    scenario.topology.links.iter_mut().for_each(|link| link.alpha_us = 0.0);
    let plan = solved("teccl-lp", &scenario);
    let result = &plan.plan().result;
    assert_eq!(result.time.discipline, crate::plan::Discipline::Fluid);
    assert!((result.claims.finish_us - 8.0 / 3.0).abs() < 1e-9, "{}", result.claims.finish_us);
    assert_eq!(plan.plan().status, Status::Optimal);
    assert!(result.claims.optimal, "{:?}", result.claims);
    let copied = Ask::of(&all(), "teccl-lp", preset("dgx1-allgather-200kb")).run();
    assert!(format!("{:?}", copied.done).contains("demand.copy"), "{:?}", copied.done);
}

/// A link that is up for less than a coarse epoch is used in finer ones.
#[test]
fn linear_programs_use_links_that_are_up_for_a_while() {
    let mut scenario = in_epochs(own(2, &[], &[(0, 1, SLOW, 0.0)], &[(0, &[1]), (0, &[1])]), 1e6);
    scenario.topology.links[0].up_us = vec![[0.0, 1e6], [3e6, 4.5e6]];
    // A chunk takes an epoch, in the first one and in that from 3 to 4 s.
    assert_eq!(solved("teccl-lp", &scenario).plan().objective.value, 4e6);
}

#[test]
fn linear_programs_send_through_switches_and_backwards() {
    for name in ["dgx2x1-alltoall-1mb", "dgx2x1-gather-1mb", "ndv2x2-scatter-1mb"] {
        let plan = solved("teccl-lp", &preset(name));
        let trust = plan.bound_trust();
        assert!(plan.plan().objective.bound.is_some() && trust != BoundTrust::None, "{name}: {trust:?}");
    }
}

#[test]
fn rounds_spread_everything() {
    let mut scenario = preset("dgx1-allgather-200kb");
    scenario.time.epoch = EpochRule::SlowestLink;
    let plan = solved("teccl-astar", &scenario);
    assert_eq!(plan.plan().result.claims.finish_epochs, 4);
    let switched = solved("teccl-astar", &preset("dgx2x1-allgather-1mb"));
    assert!(switched.plan().result.claims.finish_epochs >= 17);
}

/// What a method never writes is refused under its name.
#[test]
fn plans_are_those_of_their_methods() {
    let copied = solved("construct", &preset("dgx1-allgather-200kb"));
    let fluid = solved("teccl-lp", &in_epochs(preset("dgx1-alltoall-200kb"), 1.0 / 3.0));
    assert_eq!(fluid.plan().result.time.discipline, crate::plan::Discipline::Fluid);
    let told = |plan: &Checked<Collective>, method: &str, status| {
        let mut forged = plan.plan().clone();
        (forged.method, forged.status) = (method.to_owned(), status);
        match Checked::verify(forged, lightbay_core::kind::Depth::Usual) {
            Ok(_) => String::new(),
            Err(refused) => refused.violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        }
    };
    for (plan, method, status, text) in [
        (&copied, "teccl-milp", Status::Optimal, ""),
        (&copied, "ring", Status::Optimal, "ring never proves a bound"),
        (&copied, "construct", Status::Heuristic, "construct never ends as a heuristic"),
        (
            &copied,
            "shortest-path",
            Status::Heuristic,
            "shortest-path never copies chunks at intermediate nodes",
        ),
        (&copied, "trees", Status::Feasible, "trees never ignores latencies"),
        (&fluid, "construct", Status::Optimal, "construct never sends parts of chunks"),
        (&fluid, "single-tree", Status::Heuristic, "single-tree never sends parts of chunks"),
    ] {
        let told = told(plan, method, status);
        assert!(if text.is_empty() { told.is_empty() } else { told.contains(text) }, "{method}: {told}");
    }
}

/// A torus of a size with AllGather of so many bytes.
fn torus(size: &str, bytes: f64) -> CollectiveScenario {
    use lightbay_core::param::ParamValue;
    let mut scenario = preset("ring8-allgather-1mb");
    scenario.set("network", None, &ParamValue::Text("torus".to_owned())).unwrap();
    scenario.set("network_size", None, &ParamValue::Text(size.to_owned())).unwrap();
    scenario.set("output_buffer_bytes", None, &ParamValue::Float(bytes)).unwrap();
    scenario
}

/// Large networks are planned in short form, within a thousandth of the floor, and links carry what they can.
#[test]
fn large_tori_are_planned_in_short_form_close_to_their_floor() {
    // 384 GPUs of six links of 50 GB/s: 383/384 of 1 GB enter each at 300 GB/s, 3324.65 us, and a hop takes 1 us.
    let scenario = torus("8x8x6", 1e9);
    let plan = solved("auto", &scenario);
    let result = &plan.plan().result;
    assert!(result.sends.is_empty() && result.trees.len() == 1);
    let floor_us = 1e9 / 384.0 * 383.0 / 300e3;
    let finish_us = plan.plan().objective.value;
    assert!(finish_us >= floor_us && finish_us <= floor_us * 1.001, "{finish_us} {floor_us}");
    assert_eq!(plan.bound_trust(), BoundTrust::Verified);
    let text = plan.to_json().unwrap();
    assert!(text.len() < 4 << 20, "{} bytes", text.len());
}

#[test]
fn the_usual_method_is_no_worse_than_trees() {
    let wide = CollectiveScenario { buffer_limit_chunks: Some(100), ..preset("dgx1-allgather-1mb") };
    for (name, scenario) in [
        ("amdx1-allgather-1mb", preset("amdx1-allgather-1mb")),
        ("a100x2-allgather-64mb", preset("a100x2-allgather-64mb")),
        ("torus3x3-allreduce-1mb", preset("torus3x3-allreduce-1mb")),
        ("a torus", torus("4x4", 1e8)),
        // Every GPU wants every chunk, so no limit on those held for others binds.
        ("a buffer limit that binds nothing", wide),
    ] {
        let [auto, trees] = ["auto", "trees"].map(|method| solved(method, &scenario).plan().objective.value);
        assert!(auto <= trees * (1.0 + 1e-9), "{name}: auto {auto}, trees {trees}");
    }
}

#[test]
fn a_buffer_limit_that_binds_nothing_costs_nothing() {
    // 56 chunks in all, so no GPU ever holds more for others.
    for limit in [56, 1 << 30] {
        let free = preset("dgx1-alltoall-200kb");
        let limited = CollectiveScenario { buffer_limit_chunks: Some(limit), ..free.clone() };
        let [free, limited] =
            [free, limited].map(|scenario| solved("auto", &scenario).plan().objective.value);
        assert!((free - limited).abs() < 1e-9, "{limit}: {limited}, without a limit {free}");
        // Whole chunks take 4 us.
        assert!(free < 3.7, "{free}");
    }
    // Schedules in pieces keep to a limit, too.
    let tight = CollectiveScenario { buffer_limit_chunks: Some(1), ..preset("dgx1-alltoall-200kb") };
    solved("auto", &tight);
    // Not all GPUs take part, so trees pass GPUs that want nothing; there are four chunks.
    let mut some = preset("dgx1-allgather-1mb");
    some.demand.ranks = Some(vec![0, 1, 2, 5]);
    let free = solved("auto", &some).plan().objective.value;
    some.buffer_limit_chunks = Some(4);
    let limited = solved("auto", &some).plan().objective.value;
    assert!((free - limited).abs() < 1e-9, "{limited}, without a limit {free}");
}

#[test]
fn epochs_too_short_to_keep_are_refused_with_one_that_works() {
    let mut scenario = preset("dgx1-allgather-1mb");
    let fixed = |scenario: &mut CollectiveScenario, epoch_us| {
        (scenario.time.epoch, scenario.time.epoch_us) = (EpochRule::Fixed, Some(epoch_us));
    };
    fixed(&mut scenario, 1e-6);
    for method in ["auto", "construct", "ring", "teccl-milp", "teccl-astar"] {
        let refused = Ask::of(&all(), method, scenario.clone()).run();
        let told = format!("{:?}", refused.done);
        // 32 links of 0.7 us and 5 us of transmission: 1.8e8 epochs are above 2^26, of which 2.8e-6 us keep below.
        assert!(told.contains("epoch_us") && told.contains("at least 2.8e-6"), "{method}: {told}");
        assert!(refused.done.plan.is_none(), "{method}");
    }
}

/// Epochs that a scenario chooses are those of the plan, also where others, or trees, end earlier.
#[test]
fn chosen_epochs_bind() {
    let solved_in = |rule: TimeRule, pieces: &str| {
        let scenario = CollectiveScenario { time: rule, ..preset("dgx1-allgather-1mb") };
        let ended = Ask::of(&all(), "auto", scenario).typed(&[("pieces", pieces), ("programs_s", "0")]).run();
        let plan = downcast::<Collective>(ended.done.plan.as_ref().unwrap()).unwrap();
        (plan.plan().objective.value, plan.plan().result.time, plan.plan().result.trees.is_empty())
    };
    let usual = TimeRule::default();
    // Chunks of 125 kB over 25 and 50 GB/s.
    for (rule, epoch_us) in [
        (TimeRule { epoch: EpochRule::SlowestLink, ..usual }, 5.0),
        (TimeRule { epoch_multiplier: 2.0, ..usual }, 5.0),
        (TimeRule { epoch_multiplier: 3.0, ..usual }, 7.5),
        (TimeRule { epoch: EpochRule::Fixed, epoch_us: Some(4.0), ..usual }, 4.0),
        (TimeRule { alpha_threshold: 0.6, ..usual }, 2.5),
    ] {
        let (_, time, listed) = solved_in(rule, "false");
        assert!((time.epoch_us - epoch_us).abs() < 1e-9 && listed, "{rule:?}: {time:?}");
        assert_eq!((time.alpha_threshold, time.pieces_per_chunk), (rule.alpha_threshold, 1), "{rule:?}");
        // Pieces of chunks take epochs by the same rule.
        let (_, time, listed) = solved_in(rule, "true");
        let of_piece =
            epoch_us / if rule.epoch == EpochRule::Fixed { 1.0 } else { f64::from(time.pieces_per_chunk) };
        assert!((time.epoch_us - of_piece).abs() < 1e-9 && listed, "{rule:?}: {time:?}");
    }
    // A threshold of 0 leaves no latency out, as trees do.
    let free = solved_in(usual, "true").0;
    assert!(solved_in(TimeRule { alpha_threshold: 0.0, ..usual }, "true").0 >= free * (1.0 - 1e-9));
}

/// 1 MB over a link that is up from 250 to 1300 us takes 1000 us. No usual epoch (500, 707 and 1000 us) begins in time; a
/// quarter of the shortest does, and the chunk arrives at 1250.
#[test]
fn epochs_in_which_nothing_fits_end_no_search() {
    let mut scenario = own(3, &[], &[(0, 1, 1.0, 0.0), (0, 2, 2.0, 0.0)], &[(0, &[1]), (0, &[2])]);
    scenario.topology.links[0].up_us = vec![[250.0, 1300.0]];
    let plan = solved("auto", &scenario);
    assert!((plan.plan().objective.value - 1250.0).abs() < 1e-6, "{:?}", plan.plan().objective);
    // The second of two links fits into the slowest epoch alone: 1000 us from 0.
    scenario.topology.links[0].up_us = vec![[0.0, 1000.0]];
    assert!((solved("auto", &scenario).plan().objective.value - 1000.0).abs() < 1e-6);
    // Epochs that the scenario chooses stay, and are named in the refusal.
    scenario.topology.links[0].up_us = vec![[250.0, 1300.0]];
    for method in ["auto", "construct"] {
        let refused = Ask::of(&all(), method, in_epochs(scenario.clone(), 500.0)).run();
        let told = format!("{:?}", refused.done);
        assert!(refused.done.plan.is_none() && told.contains("set shorter epochs"), "{method}: {told}");
    }
}

/// Pieces of chunks in epochs too short to plan in are left out; the plan of whole chunks is written.
#[test]
fn pieces_in_epochs_too_short_end_no_search() {
    let ring = [(0, 1), (1, 2), (2, 3), (3, 0)];
    let links: Vec<_> = ring.into_iter().flat_map(|(a, b)| [(a, b, 1.0, 0.0), (b, a, 1.0, 0.0)]).collect();
    let mut scenario = own(4, &[], &links, &[]);
    scenario.demand = Demand::named(crate::scenario::CollectiveSort::AllGather, 4e6);
    // 12 deliveries of 4e6 epochs each are below 2^26 epochs of links, those of two pieces are above.
    scenario.time.epoch_multiplier = 2.5e-7;
    let ended = Ask::of(&all(), "auto", scenario).typed(&[("programs_s", "0"), ("restarts", "0")]).run();
    // A chunk takes 1000 us, and two of them follow each other on some link.
    assert!(ended.done.value.is_some_and(|value| (value - 2000.0).abs() < 1e-3), "{:?}", ended.done);
}

#[test]
fn trees_are_reported_before_pieces_are_tried() {
    let told = Ask::of(&all(), "auto", preset("ndv2x2-allgather-1mb")).run().told().1;
    let told: Vec<String> = told.iter().map(|said| format!("{said:?}")).collect();
    let first = |what: &str| told.iter().position(|said| said.contains(what)).unwrap();
    assert!(first("source: \"trees\"") < first("chunks in 2 pieces"), "{told:#?}");
}
