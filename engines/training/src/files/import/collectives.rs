//! Time of the collectives that stay in the pod: measured, from a table of bus bandwidths, or from latency and rate.

use lightbay_core::param::Params;
use lightbay_core::problem::Problems;
use lightbay_formats::aicb::{AicbCollective, AicbWorkload, BusBandwidth, ImportSummary, StageWorkload};

/// Rate of NVLink of the fourth generation, per GPU and direction.
const DEFAULT_GBPS: f64 = 3600.0;
/// Latency of one step of a ring over NVLink, launch included.
const DEFAULT_LATENCY_US: f64 = 5.0;

/// Source of the times.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TimeSource {
    Auto,
    Measured,
    Table,
    Model,
    Zero,
}

/// Computes the time of collectives and records its assumptions.
pub(super) struct Coster<'a> {
    source: TimeSource,
    table: Option<&'a BusBandwidth>,
    bytes_per_s: f64,
    latency_s: f64,
    /// Time of the collectives of stage 0 per iteration, seconds: the parts from measurements, from the table, and from
    /// latency and rate.
    seconds: [f64; 3],
    modelled: bool,
    missing: Vec<String>,
}

impl<'a> Coster<'a> {
    pub(super) fn new(params: &Params, table: Option<&'a BusBandwidth>) -> Self {
        Self {
            source: match params.text("collectives") {
                Some("measured") => TimeSource::Measured,
                Some("busbw") => TimeSource::Table,
                Some("alpha_beta") => TimeSource::Model,
                Some("zero") => TimeSource::Zero,
                _ => TimeSource::Auto,
            },
            table,
            // 1 Gb/s is 1.25e8 bytes/s.
            bytes_per_s: params.float("collective_gbps").unwrap_or(DEFAULT_GBPS) * 1.25e8,
            latency_s: params.float("collective_latency_us").unwrap_or(DEFAULT_LATENCY_US) * 1e-6,
            seconds: [0.0; 3],
            modelled: false,
            missing: Vec::new(),
        }
    }

    /// Time of the in-pod collectives of one forward and one backward pass of a stage.
    pub(super) fn pass_seconds(&mut self, stage: &StageWorkload, micro_batches: u64) -> [f64; 2] {
        [
            self.seconds_of(&stage.forward_collectives, stage.forward_collectives_s, micro_batches),
            self.seconds_of(&stage.backward_collectives, stage.backward_collectives_s, micro_batches),
        ]
    }

    fn seconds_of(&mut self, calls: &[AicbCollective], measured_s: Option<f64>, micro_batches: u64) -> f64 {
        if calls.is_empty() || self.source == TimeSource::Zero {
            return 0.0;
        }
        if let (TimeSource::Auto | TimeSource::Measured, Some(measured)) = (self.source, measured_s) {
            self.seconds[0] += measured;
            return measured;
        }
        if self.source == TimeSource::Measured {
            self.miss("measured time", calls[0]);
            return 0.0;
        }
        let mut sum = 0.0;
        for call in calls {
            let from_table = match self.source {
                TimeSource::Model => None,
                _ => self.table.and_then(|table| table.seconds(call)),
            };
            let (at, seconds) = match from_table {
                Some(seconds) => (1, seconds),
                None if self.source == TimeSource::Table => {
                    self.miss("bus bandwidth", *call);
                    continue;
                }
                None => {
                    self.modelled = true;
                    (2, call.seconds_alpha_beta(self.latency_s, self.bytes_per_s))
                }
            };
            let per_pass = seconds / micro_batches.max(1) as f64;
            self.seconds[at] += per_pass;
            sum += per_pass;
        }
        sum
    }

    fn miss(&mut self, what: &str, call: AicbCollective) {
        let missing = format!("{what} of {} in {}", call.kind.name(), call.group.name());
        if self.missing.len() < Problems::CAP && !self.missing.contains(&missing) {
            self.missing.push(missing);
        }
    }

    /// Reports the source of the times, the assumptions, and missing values.
    pub(super) fn report(
        self,
        workload: &AicbWorkload,
        params: &Params,
        summary: &mut ImportSummary,
        problems: &mut Problems,
    ) {
        for missing in &self.missing {
            problems.add(
                "collectives",
                format!("the files contain no {missing}"),
                "set collectives=auto, or give a bus-bandwidth table that contains it",
            );
        }
        if self.modelled {
            for (name, what, value) in [
                (
                    "collective_gbps",
                    "rate of one GPU inside the pod for collectives",
                    format!("{DEFAULT_GBPS} Gb/s (NVLink 4)"),
                ),
                (
                    "collective_latency_us",
                    "latency of one step of a collective",
                    format!("{DEFAULT_LATENCY_US} us"),
                ),
            ] {
                if params.float(name).is_none() {
                    summary.assume(what, value, format!("{name}="));
                }
            }
        }
        let stages = workload.stages.len().max(1) as f64;
        let parts = [
            "measured in the file",
            "computed from the bus-bandwidth table",
            "computed from latency and rate",
        ];
        for (seconds, part) in self.seconds.into_iter().zip(parts) {
            if seconds > 0.0 {
                summary.notes.push(format!(
                    "collectives inside the pod add {:.3} ms per micro-batch and stage (mean), {part}",
                    seconds / stages * 1e3
                ));
            }
        }
    }
}
