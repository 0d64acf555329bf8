//! Reports plans during the computation of a certificate: every better lower end becomes a plan at once.

use crate::Tpu;
use crate::methods::assemble::{PodParts, candidate};
use crate::model::topology::Topology;
use crate::series;
use crate::throughput::mcf::Certificate;
use crate::throughput::metrics::{self, Hops};
use lightbay_core::context::Context;
use lightbay_core::event::EventBody;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;
use std::sync::Arc;

/// A watch that reports a plan for every lower end of a certificate.
pub(super) struct Tightening<'t, 'c> {
    pub(super) cx: &'t mut Context<'c, Tpu>,
    pub(super) pod: Arc<Topology>,
    pub(super) hops: Hops,
    pub(super) source: &'t str,
    pub(super) refused: Option<MethodError>,
}

impl Watch for Tightening<'_, '_> {
    fn checkpoint(&mut self) -> Result<(), MethodError> {
        match self.refused.take() {
            Some(refused) => Err(refused),
            None => self.cx.checkpoint(),
        }
    }

    fn report(&mut self, body: EventBody) {
        if let EventBody::Series(point) = &body
            && point.name == series::MCF_LOWER
            && point.y > 0.0
        {
            // The hop bound needs no lengths as proof.
            let certificate = Certificate {
                lower: point.y,
                upper: metrics::hop_bound_of(&self.pod, self.hops),
                class_lengths: None,
                link_lengths: None,
                rounds: 0,
            };
            let (pod, hops) = (Arc::clone(&self.pod), self.hops);
            let handed = self.cx.incumbent(point.y, 0.0, self.source, move || {
                candidate(PodParts::of((*pod).clone(), hops, certificate))
            });
            if let Err(error) = handed {
                self.refused = Some(error);
            }
        }
        self.cx.report(body);
    }

    fn count(&mut self, units: u64) {
        self.cx.count_work(units);
    }

    fn elapsed_s(&self) -> f64 {
        self.cx.elapsed_s()
    }

    fn stop_test(&self) -> Box<dyn Fn() -> bool + Send + Sync> {
        Watch::<()>::stop_test(self.cx)
    }

    fn threads(&self) -> usize {
        self.cx.threads()
    }

    fn parallel<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.cx.parallel(work)
    }
}
