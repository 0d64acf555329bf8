//! What a schedule other than plain 1F1B asks of a job.

use super::job::{Job, Order};
use lightbay_core::problem::Problems;

/// What interleaving asks of stages, micro-batches and layers.
pub(super) fn check_virtual_stages(job: &Job, problems: &mut Problems) {
    const FIELD: &str = "job.run.virtual_stages";
    let (pp, n, chunks) = (job.run.pp, job.run.micro_batches, job.run.virtual_stages);
    if chunks == 1 {
        return;
    }
    if pp == 1 {
        let message = format!("is '{chunks}', a pipeline of 1 stage cannot be interleaved");
        problems.add(FIELD, message, "give 1, or a `pp` from 2");
        return;
    }
    if !n.is_multiple_of(pp) {
        let (below, above) = (n / pp * pp, (n / pp + 1) * pp);
        let choices = if below == 0 { format!("{above}") } else { format!("{below} or {above}") };
        problems.add(
            "job.run.micro_batches",
            format!("is '{n}', virtual stages take micro-batches in groups of pp {pp}"),
            format!("give {choices}, or `virtual_stages` 1"),
        );
    }
    if let Some(measured) = &job.measured {
        if matches!(measured.order, Order::Lists(_)) {
            problems.add(
                FIELD,
                format!("is '{chunks}' beside a literal order, whose steps name micro-batches but no chunks"),
                "give 1, or the order '1f1b', which is interleaved",
            );
        }
        // Measured times are those of a whole stage, whatever its layers.
        return;
    }
    let Some(layers) = job.resolved_model().map(|model| model.layers) else { return };
    if !layers.is_multiple_of(pp.saturating_mul(chunks)) {
        let valid = (1..=layers / pp).filter(|chunks| layers.is_multiple_of(pp * chunks));
        let valid: Vec<String> = valid.map(|chunks| chunks.to_string()).collect();
        problems.add(
            FIELD,
            format!(
                "is '{chunks}', {layers} layers cannot be split evenly over {pp} stages of {chunks} chunks"
            ),
            match valid.as_slice() {
                [] => format!("give 1, or a `pp` that divides {layers}"),
                [only] => format!("give {only}, or change `pp`"),
                [all @ .., last] => format!("give {} or {last}, or change `pp`", all.join(", ")),
            },
        );
    }
}
