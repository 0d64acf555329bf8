//! Runs the program on the inputs for which the project has goals, and prints each figure beside its goal.
//!
//! `figure:` lines become rows of docs/figures.md. `lightbay check` verifies every plan.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark prints its figures and fails by panicking"
)]

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Figure of a run that has a goal.
#[derive(Clone, Copy)]
enum Figure {
    /// Gap to the bound, per cent.
    GapPercent,
    /// Smallest gap to a verified bound, which may cover only a class of plans, per cent.
    ClassGapPercent,
    /// Largest gap to the lower bound over all sizes, per cent.
    LargestGapPercent,
    /// Wall time, s.
    TimeS,
    /// Peak memory of the process and its helpers, MB.
    PeakMb,
    /// Load of the busiest rank over the mean load, in the layer where it is largest.
    BusiestRank,
    /// Wall time with one thread over wall time with two; both runs must find the same plan.
    SpeedUp,
    /// Value of the objective.
    Value,
    /// Bound on the objective.
    Bound,
}

use Figure::{
    Bound, BusiestRank, ClassGapPercent, GapPercent, LargestGapPercent, PeakMb, SpeedUp, TimeS,
    Value as ObjectiveValue,
};

impl Figure {
    /// Returns `true` if larger values are better.
    const fn is_to_grow(self) -> bool {
        matches!(self, Bound | SpeedUp)
    }
}

/// A run, and the goals for its figures.
struct Target {
    name: &'static str,
    /// Scenario, then settings and options of `solve`.
    solve: &'static str,
    /// Largest value that meets the goal; the smallest for a figure that is to grow.
    goals: &'static [(Figure, f64)],
}

const fn target(name: &'static str, solve: &'static str, goals: &'static [(Figure, f64)]) -> Target {
    Target { name, solve, goals }
}

/// Goals of a collective of 1 GB on up to 1,024 GPUs.
const GIGABYTE: &[(Figure, f64)] = &[(GapPercent, 0.5), (TimeS, 3.0), (PeakMb, 300.0)];

/// Goals of a collective of 1 GB on 4,096 GPUs.
const GIGABYTE_ON_4096: &[(Figure, f64)] = &[(GapPercent, 0.5), (TimeS, 30.0), (PeakMb, 1000.0)];

/// Goals of whole chunks on a grid: proven optimal for chunks and epoch.
const WHOLE_CHUNKS: &[(Figure, f64)] = &[(ClassGapPercent, 0.01), (TimeS, 30.0)];

/// Expert loads of OLMoE, which `main` imports as `olmoe.json`.
const LOADS: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/resources/inputs/moe/olmoe1b7b_c4_expert_counts.csv");

const TARGETS: &[Target] = &[
    target("1 GB AllGather on AMD x2", "preset:amdx2-allgather-1gb", GIGABYTE),
    target("1 GB AllGather on MI250 x2", "preset:mi250x2-allgather-1gb", GIGABYTE),
    target("1 GB AllGather on MI250 x4", "preset:mi250x2-allgather-1gb --set network_size=4", GIGABYTE),
    target("1 GB AllGather on A100 x4", "preset:a100x4-allgather-1gb", GIGABYTE),
    target("1 GB AllGather on H800 x64", "preset:h800x64-allgather-1gb", GIGABYTE),
    target(
        "1 GB AllGather on torus 4x4x4",
        "preset:torus4x4x4-allgather-6.4mb --set output_buffer_bytes=1e9",
        GIGABYTE,
    ),
    target(
        "1 GB AllGather on torus 16x8x8",
        "preset:torus4x4x4-allgather-6.4mb --set output_buffer_bytes=1e9 --set network_size=16x8x8",
        GIGABYTE,
    ),
    target(
        "1 GB AllGather on torus 16x16x16",
        "preset:torus4x4x4-allgather-6.4mb --set output_buffer_bytes=1e9 --set network_size=16x16x16",
        GIGABYTE_ON_4096,
    ),
    target(
        "1 GB AllGather on torus 4x4x4 with one link at half the rate",
        "preset:torus4x4x4-allgather-6.4mb --set output_buffer_bytes=1e9 --set capacities=0-1:25",
        GIGABYTE,
    ),
    target(
        "1 GB AllReduce on H800 x64",
        "preset:h800x64-allgather-1gb --set collective=all_reduce",
        &[(TimeS, 20.0), (PeakMb, 300.0)],
    ),
    target(
        "AllGather of 21 sizes on MI250 x2",
        "preset:mi250x2-allgather-1gb --set sizes=1e3..1e9",
        &[(LargestGapPercent, 24.5)],
    ),
    target(
        "AllGather of 21 sizes on AMD x1",
        "preset:amdx1-allgather-1mb --set output_buffer_bytes=1e9 --set sizes=1e3..1e9",
        &[(LargestGapPercent, 18.0)],
    ),
    target(
        "AllGather of 21 sizes on AMD x2",
        "preset:amdx2-allgather-1gb --set sizes=1e3..1e9",
        &[(LargestGapPercent, 12.5)],
    ),
    target(
        "AllGather of 21 sizes on DGX1",
        "preset:dgx1-allgather-200kb --set output_buffer_bytes=1e9 --set sizes=1e3..1e9",
        &[(LargestGapPercent, 11.5)],
    ),
    target(
        "AllGather of 3 whole chunks on a mesh 7x12",
        "preset:mesh4x4-allgather-1mb --set network_size=7x12 --set chunks_per_rank=3 --set pieces=false",
        WHOLE_CHUNKS,
    ),
    target(
        "AllGather of 2 whole chunks on a mesh 10x10",
        "preset:mesh4x4-allgather-1mb --set network_size=10x10 --set chunks_per_rank=2 --set pieces=false",
        WHOLE_CHUNKS,
    ),
    target(
        "AllGather of 2 whole chunks on a grid 3x4x5",
        "preset:mesh4x4-allgather-1mb --set network_size=3x4x5 --set chunks_per_rank=2 --set pieces=false",
        WHOLE_CHUNKS,
    ),
    target(
        "AllGather of 2 whole chunks on a torus 3x4x5",
        "preset:torus4x4x4-allgather-6.4mb --set network_size=3x4x5 --set chunks_per_rank=2 --set pieces=false",
        WHOLE_CHUNKS,
    ),
    target(
        "AllGather of 21 sizes on MI250 x2 with two threads",
        "preset:mi250x2-allgather-1gb --set sizes=1e3..1e9",
        &[(SpeedUp, 1.6)],
    ),
    target("region of DeepSeek V3", "preset:moe-deepseek_v3", &[(GapPercent, 1.0), (TimeS, 30.0)]),
    target("region of DeepSeek V3 with two threads", "preset:moe-deepseek_v3", &[(SpeedUp, 1.6)]),
    target(
        "placement of the experts of OLMoE on 8 ranks",
        "olmoe.json --set expert_placement=free --set redundant_experts=16",
        &[(BusiestRank, 1.003)],
    ),
    target(
        "placement of the experts of OLMoE on 16 ranks",
        "olmoe.json --set expert_placement=free --set redundant_experts=16 --set ep=16",
        &[(BusiestRank, 1.003)],
    ),
    target(
        "placement of the experts of OLMoE on 32 ranks",
        "olmoe.json --set expert_placement=free --set redundant_experts=64 --set ep=32",
        &[(BusiestRank, 1.003)],
    ),
    target(
        "pod of 512 chips in 30 s",
        "preset:tpu-512 --time-limit 30s",
        &[(GapPercent, 0.5), (TimeS, 31.0)],
    ),
    target(
        "pod of 1024 chips in 60 s",
        "preset:tpu-1024 --time-limit 60s",
        &[(GapPercent, 1.0), (TimeS, 61.0)],
    ),
    target("first plan of a pod of 8192 chips", "preset:tpu-8192 --time-limit 1s", &[(TimeS, 2.0)]),
    target("pod of 8192 chips in 120 s", "preset:tpu-8192 --time-limit 120s", &[(TimeS, 121.0)]),
    target(
        "rewiring of 32 pods on 16 switches in 60 s",
        "preset:crossconnect-32-16-25 --time-limit 60s",
        &[(GapPercent, 5.0), (ObjectiveValue, 110.0), (TimeS, 61.0)],
    ),
    target(
        "rewiring of 64 pods on 16 switches in 60 s",
        "preset:crossconnect-64-16-25 --time-limit 60s",
        &[(Bound, 188.0), (TimeS, 61.0)],
    ),
    // Halving alone: 9380 removed circuits; the goal is 5 % less.
    target(
        "rewiring of 256 pods on 64 switches in 20 s",
        "preset:crossconnect-256-64-25 --time-limit 20s",
        &[(ObjectiveValue, 8911.0), (TimeS, 21.0)],
    ),
    target(
        "training job with 16 pods per replica",
        "preset:megatron_462b --set gpus_per_pod_per_replica=8",
        &[(GapPercent, 0.01), (TimeS, 10.0)],
    ),
];

/// Figures of one run.
struct Measured {
    row: Value,
    /// The plan as `show --json` describes it.
    shown: Value,
    sizes: Value,
    placement: Value,
    time: Duration,
    /// Time of the run with one thread, if the target has a goal for the speed-up.
    time_alone: Option<Duration>,
    peak_mb: f64,
}

impl Measured {
    fn number(&self, name: &str) -> f64 {
        self.row[name].as_f64().unwrap_or(f64::NAN)
    }

    fn figure(&self, figure: Figure) -> (f64, &'static str) {
        match figure {
            GapPercent => (self.number("gap") * 100.0, " %"),
            ClassGapPercent => (least_verified_gap(&self.shown) * 100.0, " %"),
            BusiestRank => (busiest_rank(&self.placement), ""),
            SpeedUp => {
                (self.time_alone.map_or(f64::NAN, |alone| alone.as_secs_f64() / self.time.as_secs_f64()), "")
            }
            LargestGapPercent => (largest_gap(&self.sizes) * 100.0, " %"),
            TimeS => (self.time.as_secs_f64(), " s"),
            PeakMb => (self.peak_mb, " MB"),
            ObjectiveValue => (self.number("value"), ""),
            Bound => (self.number("bound"), ""),
        }
    }
}

/// Returns the largest relative gap of a curve of rates below the curve of the lower bounds.
fn largest_gap(section: &Value) -> f64 {
    let curves = section["curves"]["curves"].as_array().cloned().unwrap_or_default();
    let points = |name: &str| -> Vec<(f64, f64)> {
        let curve = curves.iter().find(|curve| curve["name"] == name);
        let points = curve.and_then(|curve| curve["points"].as_array()).cloned().unwrap_or_default();
        points.iter().filter_map(|point| Some((point[0].as_f64()?, point[1].as_f64()?))).collect()
    };
    let floor = points("floor");
    let gaps = points("plan").into_iter().filter_map(|(size, rate)| {
        let bound = floor.iter().find(|(other, _)| (other - size).abs() < 1e-9 * size)?.1;
        Some(bound / rate - 1.0)
    });
    gaps.fold(f64::NAN, f64::max)
}

/// Returns the smallest gap to a bound that the checker verified.
fn least_verified_gap(shown: &Value) -> f64 {
    let bounds = shown["bounds"].as_array().map_or(&[][..], Vec::as_slice);
    let verified = bounds.iter().filter(|bound| bound["by"] == "checker");
    verified.filter_map(|bound| bound["gap"].as_f64()).fold(f64::NAN, f64::min)
}

/// Returns the largest ratio of busiest rank to mean of the plan's own placements.
fn busiest_rank(section: &Value) -> f64 {
    let rows = section.as_array().map_or(&[][..], Vec::as_slice);
    let own = rows.iter().filter(|row| row["placement"] == "this plan");
    own.filter_map(|row| row["busiest_rank"].as_f64()).fold(f64::NAN, f64::max)
}

/// Returns the peak of the resident memory of a process, MB; 0 if the process has ended.
fn resident_peak_mb(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok()).unwrap_or(0.0) / 1e3
}

fn lightbay(arguments: &[&str], folder: &PathBuf) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lightbay"));
    command.args(arguments).current_dir(folder).env("XDG_DATA_HOME", folder).stdin(Stdio::null());
    command
}

fn json(arguments: &[&str], folder: &PathBuf) -> Value {
    let output = lightbay(arguments, folder).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
}

/// Solves, checks the plan, and measures; `None` if no plan was found.
fn measured(target: &Target, folder: &PathBuf) -> Option<Measured> {
    let mut arguments = vec!["solve"];
    arguments.extend(target.solve.split(' '));
    arguments.extend(["--quiet", "--force", "-o", "plan.json"]);
    let wants_speed_up = target.goals.iter().any(|(figure, _)| matches!(figure, SpeedUp));
    let alone = wants_speed_up.then(|| {
        let began = Instant::now();
        let alone = [arguments.as_slice(), &["--threads=1"]].concat();
        lightbay(&alone, folder).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        let time = began.elapsed();
        (time, json(&["show", "plan.json", "--row"], folder)["value"].clone())
    });
    let _ = std::fs::remove_file(folder.join("plan.json"));
    let began = Instant::now();
    let mut run = lightbay(&arguments, folder).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut peak_mb: f64 = 0.0;
    while run.try_wait().unwrap().is_none() {
        peak_mb = peak_mb.max(resident_peak_mb(run.id()));
        std::thread::sleep(Duration::from_millis(10));
    }
    let time = began.elapsed();
    folder.join("plan.json").exists().then_some(())?;
    let check = lightbay(&["check", "plan.json"], folder).output().unwrap();
    assert!(check.status.success(), "{}: {}", target.name, String::from_utf8_lossy(&check.stdout));
    let row = json(&["show", "plan.json", "--row"], folder);
    if let Some((_, value)) = &alone {
        assert_eq!(value, &row["value"], "{}: threads change the plan", target.name);
    }
    let section = |name| json(&["show", "plan.json", "--json", "--section", name], folder);
    let shown = json(&["show", "plan.json", "--json"], folder);
    let (sizes, placement) = (section("sizes"), section("placement"));
    Some(Measured { row, shown, sizes, placement, time, time_alone: alone.map(|(time, _)| time), peak_mb })
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let folder = std::env::temp_dir().join(format!("lightbay-targets-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let import =
        lightbay(&["import", "routing_counts", LOADS, "-o", "olmoe.json"], &folder).output().unwrap();
    assert!(import.status.success(), "{}", String::from_utf8_lossy(&import.stderr));
    let is_wanted =
        |target: &&Target| wanted.is_empty() || wanted.iter().any(|word| target.name.contains(word.as_str()));
    for target in TARGETS.iter().filter(is_wanted) {
        let text = match measured(target, &folder) {
            None => "no plan".to_owned(),
            Some(measured) => {
                let part = |(figure, goal): &(Figure, f64)| {
                    let (value, unit) = measured.figure(*figure);
                    let is_met = if figure.is_to_grow() { value >= *goal } else { value <= *goal };
                    let sign = if figure.is_to_grow() { "at least" } else { "at most" };
                    let word = if is_met { "met" } else { "open" };
                    let decimals = if matches!(figure, BusiestRank) { 4 } else { 2 };
                    format!("{value:.decimals$}{unit} (goal {sign} {goal}, {word})")
                };
                target.goals.iter().map(part).collect::<Vec<_>>().join("; ")
            }
        };
        println!("figure: {}: {text}", target.name);
    }
    let _ = std::fs::remove_dir_all(&folder);
}
