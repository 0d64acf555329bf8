//! First plan of a large pod: the torus of the job shape.

use super::effort::{FIRST_GAP, LONG_ROUNDS};
use super::{BestPod, FastSearch};
use crate::model::baselines;
use crate::scenario::TpuScenario;
use crate::throughput::metrics;
use lightbay_core::method::MethodError;

impl FastSearch<'_, '_> {
    /// Reports the torus of the job shape as first plan of a large pod, whose first design takes several seconds.
    pub(super) fn torus(&mut self, scenario: &TpuScenario) -> Result<(), MethodError> {
        if self.best.is_some() || self.cubes < LONG_ROUNDS {
            return Ok(());
        }
        let Ok(pod) = baselines::pt(scenario.pt_shape()) else { return Ok(()) };
        let pod = pod.failing(self.failed);
        let Some(hops) = metrics::hops(&pod) else { return Ok(()) };
        self.cx.phase("certify", "the torus of the job shape, as first plan");
        let certificate = self.certify(&pod, hops, None, "torus", self.gap.max(FIRST_GAP))?;
        self.best = Some(BestPod { pod, entry: None, certificate, source: "torus".to_owned() });
        Ok(())
    }
}
