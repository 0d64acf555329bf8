//! What a pane has worked out for a plan on a helper thread, and shows until there is something newer.

use super::Facts;
use super::patience::Patience;
use crate::app::drawn::{Drawn, JobKey, JobResult};
use crate::app::plans::PlanRef;
use crate::view::present::PaneInput;
use crate::view::present::desk::Desk;
use lightbay_core::method::MethodError;
use std::fmt::Debug;
use std::sync::Arc;

/// Results that are kept for plans looked at before.
const KEPT: usize = 6;

/// Results of one pane by plan.
#[derive(Debug)]
pub struct Worked<T> {
    sort: u64,
    desk: Desk<(u64, PlanRef), T>,
    /// The last one, and the job it is of where there are several.
    last: Option<(Option<String>, Arc<T>)>,
}

impl<T: Debug + Send + Sync + 'static> Worked<T> {
    /// Nothing worked out yet; `sort` tells the jobs of this pane from those of others.
    pub fn new(sort: u64) -> Self {
        Self { sort, desk: Desk::new(sort, KEPT), last: None }
    }

    /// Takes in what a helper thread made; gives back what is of another pane.
    ///
    /// # Errors
    /// The result, if it is not for this pane.
    pub fn accept(&mut self, key: JobKey, result: JobResult) -> Result<(), JobResult> {
        self.desk.accept(key, result)
    }

    /// The result for the plan shown, or the last one while it is worked out.
    pub fn look(
        &mut self,
        input: &PaneInput<'_>,
        facts: &Facts,
        out: &mut Drawn,
        work: fn(&Facts, &mut Patience) -> Result<T, MethodError>,
    ) -> Option<Result<Arc<T>, String>> {
        let current = input.app.shown_plan().filter(|_| input.app.shown_key() == facts.plan);
        if let Some(plan) = current {
            let job = JobKey { pane: input.pane, plan: facts.key, size: (0, 0), variant: self.sort };
            let of = Arc::clone(facts);
            let made = self.desk.look(&(facts.key, PlanRef(plan.clone())), job, &mut out.jobs, move || {
                work(&of, &mut Patience::new()).map_err(|error| Patience::why(&error))
            });
            match made {
                Some(Ok(made)) => self.last = Some((facts.job.clone(), made)),
                Some(Err(why)) => return Some(Err(why)),
                None => {}
            }
        }
        // That of one job says nothing about another.
        self.last.iter().find(|(job, _)| *job == facts.job).map(|(_, last)| Ok(Arc::clone(last)))
    }
}
