//! Published cases: epochs, bound and seconds beside those of the paper and of the prototype.
//!
//! Whole runs of the methods, with the check of every plan. `figure:` lines become rows of docs/figures.md.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // figures are the point

#[path = "published/rows.rs"]
mod rows;

use lightbay_collective::scenario::{CollectiveScenario, EpochRule, presets};
use lightbay_collective::{Collective, methods};
use lightbay_core::checked::downcast;
use lightbay_core::testing::Ask;
use std::time::Instant;

/// A finished run.
struct Solved {
    epochs: u32,
    finish_us: f64,
    /// Bound on the finish, µs; stated by the method.
    bound_us: f64,
    seconds: f64,
}

impl Solved {
    /// Bound in words, where it is not the finish.
    fn standing(&self) -> String {
        let gap = 100.0 * (self.finish_us / self.bound_us - 1.0);
        if gap < 1e-7 { "proven".to_owned() } else { format!("{gap:.1} % above the bound") }
    }
}

fn solve(scenario: CollectiveScenario, method: &str, params: &[(&str, &str)]) -> Solved {
    let began = Instant::now();
    let done = Ask::of(&methods::all(), method, scenario).typed(params).run().done;
    let seconds = began.elapsed().as_secs_f64();
    let plan = downcast::<Collective>(done.plan.as_ref().unwrap()).unwrap();
    let plan = plan.plan();
    Solved {
        epochs: plan.result.claims.finish_epochs,
        finish_us: plan.objective.value,
        bound_us: done.bound.or(plan.objective.bound).unwrap(),
        seconds,
    }
}

fn preset(name: &str) -> CollectiveScenario {
    presets::scenario(name).unwrap_or_else(|| panic!("there is no preset {name}"))
}

fn fixed(mut scenario: CollectiveScenario, epoch_us: f64) -> CollectiveScenario {
    (scenario.time.epoch, scenario.time.epoch_us) = (EpochRule::Fixed, Some(epoch_us));
    scenario
}

fn without_latency(mut scenario: CollectiveScenario) -> CollectiveScenario {
    scenario.topology.links.iter_mut().for_each(|link| link.alpha_us = 0.0);
    scenario
}

fn with_chunks(mut scenario: CollectiveScenario, chunks: u32) -> CollectiveScenario {
    let buffer = scenario.demand.output_buffer_bytes.unwrap();
    scenario.demand.chunks_per_rank = chunks;
    scenario.demand.output_buffer_bytes = Some(buffer * f64::from(chunks));
    scenario
}

/// Bound and construction on the tables of the paper.
fn tables() {
    for table in rows::TABLES {
        let mut seconds = 0.0;
        let mut published_s = 0.0;
        for &(size, epoch_us, published_us, solver_s, prototype) in table.cases {
            let name = format!("{}-{}", table.scenario, size.to_lowercase());
            let solved = solve(fixed(preset(&name), epoch_us), "construct", &[]);
            (seconds, published_s) = (seconds + solved.seconds, published_s + solver_s);
            println!(
                "figure: {}, {size}: {} epochs of {epoch_us} us, {:.3} us, {}, {:.3} s (prototype {prototype} \
                 epochs; published {published_us} us in {solver_s} s)",
                table.heading,
                solved.epochs,
                solved.finish_us,
                solved.standing(),
                solved.seconds
            );
        }
        println!("figure: {}, all rows: {seconds:.2} s (published {published_s:.0} s)", table.heading);
    }
}

/// Integer and linear programs on one DGX1.
fn programs() {
    let row = |name: String, solved: &Solved, target: &str| {
        println!(
            "figure: {name}: {:.3} us, {}, {:.3} s ({target})",
            solved.finish_us,
            solved.standing(),
            solved.seconds
        );
    };
    for (epoch_us, targets) in
        [(1.0, [4.0, 5.0, 6.0]), (0.5, [3.5, 4.5, 5.0]), (0.25, [3.0, 3.75, 4.75]), (0.1, [2.9, 3.6, 4.7])]
    {
        for (chunks, target) in (1..).zip(targets) {
            let scenario = fixed(with_chunks(preset("dgx1-allgather-200kb"), chunks), epoch_us);
            let solved = solve(scenario, "teccl-milp", &[]);
            let name = format!("DGX1 AllGather, {chunks} chunks of 25 KB, epochs of {epoch_us} us");
            row(name, &solved, &format!("prototype {target} us"));
        }
    }
    let alltoall = solve(fixed(preset("dgx1-alltoall-200kb"), 1.0), "teccl-milp", &[]);
    row("DGX1 AllToAll, 1 chunk of 25 KB, epochs of 1 us".to_owned(), &alltoall, "prototype 4 us");
    for (chunks, paper_s) in (1..).zip([0.09, 0.07, 0.19, 1.45, 8.96, 50.57]) {
        let scenario = fixed(without_latency(with_chunks(preset("dgx1-allgather-200kb"), chunks)), 1.0);
        let solved = solve(scenario, "teccl-milp", &[]);
        let name = format!("DGX1 AllGather without latency, {chunks} chunks");
        row(name, &solved, &format!("prototype {} us, paper {paper_s} s", chunks + 1));
    }
    for (chunks, epoch_us, target) in [(1, 1.0 / 3.0, 2.667), (3, 0.5, 8.0), (8, 1.0 / 3.0, 21.333)] {
        let scenario = fixed(without_latency(with_chunks(preset("dgx1-alltoall-200kb"), chunks)), epoch_us);
        let solved = solve(scenario, "teccl-lp", &[]);
        row(
            format!("DGX1 AllToAll without latency, {chunks} chunks"),
            &solved,
            &format!("prototype {target} us"),
        );
    }
}

/// Other graphs, and the baselines.
fn others() {
    let cases = [
        ("torus4x4x4-allgather-6.4mb", Some(2.0), "prototype 26 us"),
        ("dgx2x1-allgather-1mb", Some(0.5), "prototype 8.5 us"),
        ("amdx1-allgather-1mb", Some(0.3125), "prototype 8.4375 us, proven"),
        ("amdx2-allgather-1gb", Some(1250.0), "prototype 6250 us"),
        ("amdx2-allgather-1mb", Some(1.25), "prototype 25 us, bound 16.25 us"),
    ];
    for (name, epoch_us, target) in cases {
        let scenario = epoch_us.map_or_else(|| preset(name), |epoch_us| fixed(preset(name), epoch_us));
        let solved = solve(scenario, "auto", &[]);
        println!(
            "figure: {name}: {} epochs, {:.4} us, {}, {:.2} s ({target})",
            solved.epochs,
            solved.finish_us,
            solved.standing(),
            solved.seconds
        );
    }
    for (method, prototype) in [("ring", 60), ("shortest-path", 259), ("single-tree", 63)] {
        let began = Instant::now();
        let scenario = fixed(preset("ndv2x2-allgather-1gb"), 1250.0);
        let done = Ask::of(&methods::all(), method, scenario).run().done;
        let plan = downcast::<Collective>(done.plan.as_ref().unwrap()).unwrap();
        println!(
            "figure: NDv2 x2 AllGather 1GB by {method}: {} epochs, {:.3} s (prototype {prototype})",
            plan.plan().result.claims.finish_epochs,
            began.elapsed().as_secs_f64()
        );
    }
}

/// Schedules for 21 sizes from 1 KB to 1 GB.
fn frontiers() {
    for name in
        ["ndv2x2-allgather-1gb", "dgx2x2-allgather-1gb", "ndv2x2-alltoall-1gb", "dgx1-allreduce-200kb"]
    {
        let mut scenario = preset(name);
        scenario.demand.sizes_bytes = (0..21).map(|step| 1000 << step).collect();
        let began = Instant::now();
        let done = Ask::of(&methods::all(), "auto", scenario).typed(&[("programs_s", "0")]).run().done;
        let plan = downcast::<Collective>(done.plan.as_ref().unwrap()).unwrap();
        let ranges = &plan.plan().result.ranges;
        let gaps = ranges.iter().flat_map(|range| &range.points).map(|point| {
            point.finish_us / point.floor.as_ref().map_or(f64::INFINITY, |floor| floor.floor_us) - 1.0
        });
        println!(
            "figure: {name}, 21 sizes from 1 KB: {} schedules, at most {:.1} % above the floor, {:.2} s",
            ranges.len(),
            100.0 * gaps.fold(0.0, f64::max),
            began.elapsed().as_secs_f64()
        );
    }
}

fn main() {
    frontiers();
    tables();
    programs();
    others();
}
