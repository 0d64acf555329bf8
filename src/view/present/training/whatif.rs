//! Pane 9: what NCT and makespan would be with another bandwidth, length of sequences, number of micro-batches, ports
//! or MFU, by the paper's baselines, the best plan at fair rates and the best one with rates of its own.

use crate::app::sweeps::PaneSweeps;
use crate::view::present::whatif::ChartedFigure;

/// Knobs of the forms of the pane, and what is compared.
pub const SWEEPS: PaneSweeps = PaneSweeps {
    knobs: &["bandwidth_gbps", "seq", "micro_batches", "ports_per_pod", "mfu"],
    methods: &["prop-alloc", "sqrt-alloc", "iter-halve", "delta-topo", "delta-joint"],
};

/// Names of the forms, in the order of the knobs.
pub const MODES: &[&str] = &["bandwidth", "sequence", "micro-batches", "ports", "MFU", "other parameter"];

/// Figure that is charted. No plan is faster than an ideal network, whose NCT is 1.
pub const FIGURE: ChartedFigure = ChartedFigure { metric: ("nct", "NCT"), best: Some(("ideal", 1.0)) };
