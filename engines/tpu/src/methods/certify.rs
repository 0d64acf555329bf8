//! Certificates of the throughput of a pod, with a plan for every better lower bound.

mod tightening;

use super::finish::hand_over;
use super::settings::certificate_settings;
use crate::Tpu;
use crate::methods::assemble::{PodParts, candidate};
use crate::model::topology::Topology;
use crate::throughput::mcf::{self, Certificate};
use crate::throughput::metrics::Hops;
use lightbay_core::context::Context;
use lightbay_core::method::MethodError;
use std::sync::Arc;
use tightening::Tightening;

/// Certifies a pod and reports every better lower end as soon as it is found.
///
/// # Errors
/// The reason to stop, or a candidate that the checker refused.
pub fn certify(
    pod: &Topology,
    hops: Hops,
    source: &str,
    lengths: Option<&[f64]>,
    cx: &mut Context<'_, Tpu>,
) -> Result<Certificate, MethodError> {
    let settings = certificate_settings(cx.params(), pod.nodes());
    cx.phase(
        "certify",
        format!(
            "{} chips to {} %, {} rounds at most",
            pod.nodes(),
            100.0 * settings.gap,
            settings.max_rounds
        ),
    );
    cx.solver(format!("HiGHS {}", lightbay_highs::instance::version()));
    let mut tightening = Tightening { cx, pod: Arc::new(pod.clone()), hops, source, refused: None };
    let attempt = mcf::attempt(pod, &settings, lengths, &mut tightening);
    if let Some(refused) = tightening.refused {
        return Err(refused);
    }
    match (attempt.stopped, attempt.certificate) {
        (None, Some(certificate)) => Ok(certificate),
        (Some(stopped), certificate) => {
            // The last reported plan has the hop bound as upper end. The certificate of the stopped run can have a
            // tighter upper end, so it replaces this plan.
            if let Some(certificate) = certificate
                && cx.best().is_none_or(|(value, _)| certificate.lower >= value)
            {
                hand_over(&PodParts::of(pod.clone(), hops, certificate), source, cx)?;
            }
            Err(stopped)
        }
        (None, None) => Err(MethodError::Failed("no round of the flow computation was done".to_owned())),
    }
}

/// Reports a pod for which only the throughput is known. Returns whether the plan is better than the best plan so far.
///
/// # Errors
/// The checker refused the pod.
pub fn offer(
    pod: &Topology,
    hops: Hops,
    certificate: &Certificate,
    source: &str,
    cx: &mut Context<'_, Tpu>,
) -> Result<bool, MethodError> {
    let parts = PodParts::of(pod.clone(), hops, certificate.clone());
    cx.incumbent(certificate.lower, 0.0, source, move || candidate(parts))
}
