use super::*;
use crate::scenario::network::LinkNetwork;
use crate::scenario::presets;
use crate::trees::columns::{ColumnLimits, TreeProgram, TreeQuestion};
use crate::trees::sends::list_sends;
use lightbay_core::watch::Unwatched;
use rustc_hash::FxHashMap;

/// Plays sends link by link: no link carries two pieces at once, GPUs send what they have, switches what arrives then;
/// returns when the last GPU has the last piece.
fn played(network: &LinkNetwork, timing: &PieceTiming, sends: &crate::trees::sends::ListSends) -> u32 {
    let mut busy: Vec<u32> = vec![0; network.links().len()];
    let mut arrivals: FxHashMap<(u32, u32), Vec<u32>> = FxHashMap::default();
    for (piece, root) in (0..).zip(&sends.roots) {
        arrivals.insert((piece, *root), vec![0]);
    }
    for send in &sends.sends {
        let link = &network.links()[send.link as usize];
        let occupies = timing.occupies[send.link as usize];
        let begins = send.epoch - occupies.min(send.pace);
        assert!(busy[send.link as usize] <= begins, "link {} is busy at {begins}", send.link);
        busy[send.link as usize] = begins + occupies;
        let here = arrivals.get(&(send.piece, link.from)).expect("the piece is there");
        let there = if network.is_switch(link.from) {
            here.contains(&send.epoch)
        } else {
            here.iter().any(|time| *time <= send.epoch)
        };
        assert!(there, "piece {} leaves {} before it is there", send.piece, link.from);
        let arrival = begins + timing.delays[send.link as usize] + occupies.max(send.pace);
        let reached = arrivals.entry((send.piece, link.to)).or_default();
        assert!(network.is_switch(link.to) || reached.is_empty(), "piece {} arrives twice", send.piece);
        reached.push(arrival);
    }
    let mut finish = 0;
    for piece in 0..sends.roots.len() as u32 {
        for &gpu in network.gpus() {
            finish = finish.max(arrivals[&(piece, gpu)][0]);
        }
    }
    finish
}

/// Schedules AllGather over trees of the best rate and plays it; time in µs.
fn scheduled(name: &str, bytes: f64, pieces: u32) -> f64 {
    let network = LinkNetwork::of(&presets::scenario(name).unwrap().topology).unwrap();
    let ranks: Vec<bool> = (0..network.node_count() as u32).map(|node| !network.is_switch(node)).collect();
    let latencies: Vec<f64> = network.links().iter().map(|link| link.alpha_us).collect();
    let mut finishes = Vec::new();
    for fold in [Fold::of(&network), Fold::trivial(&network)] {
        let weights = vec![1.0; fold.representatives().len()];
        let question = TreeQuestion {
            network: &network,
            fold: &fold,
            ranks: &ranks,
            weights: &weights,
            latencies: &latencies,
        };
        let mut program = TreeProgram::new(&question, ColumnLimits::new(f64::INFINITY)).unwrap().unwrap();
        let packing = program.maximise(&mut Unwatched::default()).unwrap();
        let timing =
            PieceTiming::new(&network, bytes / network.gpus().len() as f64 / f64::from(pieces)).unwrap();
        let batches: Vec<Batch<'_>> = packing
            .trees
            .iter()
            .flat_map(|trees| crate::trees::pieces::spread(trees, pieces))
            .map(|(tree, pieces)| Batch { tree, pieces })
            .collect();
        for order in ListOrder::ALL {
            let schedule = list_schedule(&fold, &timing, &batches, order, network.switch_copies());
            let sends = list_sends(&network, &fold, &timing, &batches, &schedule);
            assert_eq!(played(&network, &timing, &sends), schedule.finish);
            finishes.push(f64::from(schedule.finish) * timing.epoch_us);
        }
    }
    finishes.into_iter().fold(f64::INFINITY, f64::min)
}

/// A ring of four, both ways: 1500 µs are the floor; three pieces of each rank's data suffice for it.
#[test]
fn schedules_of_whole_pieces_can_be_played() {
    assert!(scheduled("dgx1-allgather-200kb", 2e5, 6) < 5.0);
    assert!(scheduled("ndv2x2-allgather-1gb", 1e6, 16) < 43.5);
    assert!(scheduled("a100x2-allgather-1gb", 1e6, 12) < 7.5);
    assert!(scheduled("dgx2x1-allgather-1mb", 1e6, 4) < 10.0);
}
