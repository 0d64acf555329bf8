//! Check that a job fits a schedule other than plain 1F1B.

use super::job::{Job, Order};
use crate::scenario::workload::layer_split;
use lightbay_core::problem::{Problems, counted};

/// Checks that stages, micro-batches and layers allow interleaving.
pub(super) fn check_virtual_stages(job: &Job, problems: &mut Problems) {
    const FIELD: &str = "job.run.virtual_stages";
    let (pp, n, chunks) = (job.run.pp, job.run.micro_batches, job.run.virtual_stages);
    if chunks == 1 {
        return;
    }
    if pp == 1 {
        let message = format!("is '{chunks}', but a pipeline of 1 stage cannot be interleaved");
        problems.add(FIELD, message, "give 1, or a `pp` of at least 2");
        return;
    }
    if !n.is_multiple_of(pp) {
        let (below, above) = (n / pp * pp, (n / pp + 1) * pp);
        let choices = if below == 0 { format!("{above}") } else { format!("{below} or {above}") };
        problems.add(
            "job.run.micro_batches",
            format!("is '{n}', but virtual stages need a multiple of pp {pp}"),
            format!("give {choices}, or set `virtual_stages` to 1"),
        );
    }
    if let Some(measured) = &job.measured {
        if matches!(measured.order, Order::Lists(_)) {
            problems.add(
                FIELD,
                format!("is '{chunks}', but the steps of a literal order name micro-batches without chunks"),
                "give 1, or the order '1f1b', which is interleaved",
            );
        }
        // Measured times cover a whole stage, so its layers need not be divisible among the chunks.
        return;
    }
    let Some(layers) = job.resolved_model().map(|model| model.layers) else { return };
    if !layers.is_multiple_of(pp.saturating_mul(chunks)) {
        let valid = (1..=layers / pp).filter(|chunks| layers.is_multiple_of(pp * chunks));
        let valid: Vec<String> = valid.map(|chunks| chunks.to_string()).collect();
        problems.add(
            FIELD,
            format!(
                "is '{chunks}', but {layers} layers cannot be split evenly over {pp} stages of {chunks} chunks"
            ),
            match valid.as_slice() {
                [] => format!("give 1, or a `pp` that divides {layers}"),
                [only] => format!("give {only}, or change `pp`"),
                [all @ .., last] => format!("give {} or {last}, or change `pp`", all.join(", ")),
            },
        );
    }
}

/// Checks that every stage has at least one layer for each bucket. Jobs with measured figures pass, because their
/// stages can be split into equal parts instead.
pub(super) fn check_dp_buckets(job: &Job, problems: &mut Problems) {
    let buckets = job.run.dp_buckets;
    if job.measured.is_some() {
        // If the layers of a stage are unknown, it is split into equal parts.
        return;
    }
    let Some(model) = job.resolved_model() else { return };
    let fewest = layer_split(model.layers, job.run.pp).into_iter().min().unwrap_or(0);
    if buckets > 1 && buckets > fewest && fewest > 0 {
        let has = counted(u64::from(fewest), "layer", "layers");
        problems.add(
            "job.run.dp_buckets",
            format!("is '{buckets}', but a stage has {has} of the model"),
            format!("give 1 to {fewest}: every bucket needs a layer"),
        );
    }
}
