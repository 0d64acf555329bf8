//! Compares the objective and the metrics, which a plan states outside its result, with the same figures in the result.

use super::{Envelope, Findings, code, off};
use crate::plan::TpuResult;
use lightbay_core::checked::Figure;

/// Checks that the objective is the proven throughput.
pub(super) fn objective(result: &TpuResult, envelope: &Envelope<'_>, found: &mut Findings) {
    if off(envelope.value, result.claims.mcf_lower) {
        found.add(
            code::METRICS,
            format!("the objective is {}, but 'mcf_lower' is {}", envelope.value, result.claims.mcf_lower),
        );
    }
}

/// The metrics that the plan of a pod must contain; each repeats a figure of the result.
pub(super) fn figures(nodes: usize, result: &TpuResult) -> Vec<Figure> {
    let claims = &result.claims;
    let routing = result.routing.as_ref().map(|routing| &routing.claims);
    let ratio = routing.and_then(|claims| {
        let (least, most) = (claims.vc_hops.iter().min()?, claims.vc_hops.iter().max()?);
        (*most > 0).then(|| *least as f64 / *most as f64)
    });
    let worst = result.faults.iter().map(|case| case.max_channel_load).collect::<Option<Vec<u64>>>();
    let figures = [
        ("mcf_upper", Some(claims.mcf_upper)),
        ("n_mcf", Some(nodes as f64 * claims.mcf_lower)),
        ("avg_hops", Some(claims.avg_hops)),
        ("diameter", Some(f64::from(claims.diameter))),
        ("max_channel_load", routing.map(|claims| claims.max_channel_load as f64)),
        ("vc_ratio", ratio),
        ("worst_fault_load", worst.and_then(|loads| loads.into_iter().max()).map(|load| load as f64)),
        (
            "saturation_flits_per_cycle_per_node",
            result.simulation.as_ref().map(|simulation| simulation.saturation_flits_per_cycle_per_node),
        ),
    ];
    let carried = |(name, value): (_, Option<f64>)| Some(Figure::exactly(name, code::METRICS, value?));
    figures.into_iter().filter_map(carried).collect()
}
