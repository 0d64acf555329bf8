//! Methods of several steps: if a step fails, or the checker refuses its plan, the earlier plans remain.

use crate::Collective;
use crate::scenario::CollectiveScenario;
use lightbay_core::context::Context;
use lightbay_core::event::Severity;
use lightbay_core::method::{Method, MethodError, MethodInfo, Outcome};
use lightbay_core::param::Params;
use lightbay_core::plan::Status;
use lightbay_core::problem::Problem;
use lightbay_core::scenario::Scenario;

/// A method whose best checked plan is kept if a later step fails or the checker refuses a later plan.
pub(super) struct KeepsBest<M>(pub(super) M);

impl<M: Method<Collective>> Method<Collective> for KeepsBest<M> {
    fn info(&self) -> MethodInfo {
        self.0.info()
    }

    fn idle(&self, scenario: &CollectiveScenario, params: &Params) -> Vec<Problem> {
        self.0.idle(scenario, params)
    }

    fn solve(
        &self,
        scenario: &Scenario<Collective>,
        params: &Params,
        cx: &mut Context<'_, Collective>,
    ) -> Result<Outcome, MethodError> {
        // Returns stops unchanged. Any other error becomes a warning if there is a checked plan.
        let ended = self.0.solve(scenario, params, cx);
        let ended = ended.and_then(|outcome| cx.best_plan().map(|_| outcome));
        let error = match ended {
            Err(MethodError::Stopped(_) | MethodError::CutShort(_)) | Ok(_) => return ended,
            Err(error) => error,
        };
        // After a refusal the last checked plan is the best again.
        if cx.best_plan()?.is_none() {
            return Err(error);
        }
        let text = match &error {
            MethodError::Rejected(violations) => {
                let first = violations.first().map_or_else(String::new, ToString::to_string);
                format!(
                    "the checker refuses a better plan ({} violations, the first is {first}), so the best \
                     checked plan is kept; please report this defect",
                    violations.len()
                )
            }
            error => format!("the search ends early, and the best plan found is kept: {error}"),
        };
        cx.note(Severity::Warning, text);
        Ok(Outcome::done(Status::Feasible))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::session::EpochSession;
    use crate::search::construct::ConstructLimits;
    use crate::testing::preset;
    use lightbay_core::event::{EndStatus, EventBody};
    use lightbay_core::kind::Candidate;
    use lightbay_core::testing::Ask;
    use std::sync::Arc;

    /// Hands a plan over, and then one that says it takes half as long, or fails.
    struct Lies {
        plans_before: bool,
        fails: bool,
    }

    impl Method<Collective> for Lies {
        fn info(&self) -> MethodInfo {
            MethodInfo { name: "auto", help: "", proves: true, hot_start: false, params: Vec::new() }
        }

        fn solve(
            &self,
            scenario: &Scenario<Collective>,
            _params: &Params,
            cx: &mut Context<'_, Collective>,
        ) -> Result<Outcome, MethodError> {
            let session =
                EpochSession::open(&Arc::new(scenario.body.clone()), None, cx)?.bounded(&mut cx.here())?;
            if self.plans_before {
                session.construct(ConstructLimits { restarts: 0, seed: 0 }, &mut cx.here())?;
                if self.fails {
                    return Err(crate::methods::session::never(None));
                }
                let plan = cx.best_plan()?.unwrap();
                let plan = plan.plan();
                let (value, metrics, result) =
                    (plan.objective.value / 2.0, plan.metrics.clone(), plan.result.clone());
                cx.supersede(value, 0.0, "lie", move || Candidate { value, metrics, result })?;
            } else {
                let schedules = vec![crate::model::schedule::EpochSchedule::default()];
                session.offer(schedules, "lie", &mut cx.here())?;
            }
            // A bound that only the lie would meet.
            cx.bound_over(1e9, "plans of nobody");
            Ok(Outcome::done(Status::Optimal))
        }
    }

    #[test]
    fn a_refused_plan_leaves_the_one_before_it() {
        let run = |plans_before, fails| {
            let lies = Lies { plans_before, fails };
            let methods: Vec<Arc<dyn Method<Collective>>> = vec![Arc::new(KeepsBest(lies))];
            Ask::of(&methods, "auto", preset("dgx1-allgather-200kb")).run().told()
        };
        let (done, told) = run(true, false);
        assert_eq!(done.status, EndStatus::Feasible, "{done:?}");
        assert!(
            done.plan.is_some() && done.bound.is_none_or(|bound| bound <= done.value.unwrap()),
            "{done:?}"
        );
        let warned = told.iter().any(|event| {
            matches!(event, EventBody::Note(note) if note.text.contains("the checker refuses a better plan"))
        });
        assert!(warned, "{told:?}");
        let (done, told) = run(true, true);
        assert_eq!(done.status, EndStatus::Feasible, "{done:?}");
        let warned = told.iter().any(
            |event| matches!(event, EventBody::Note(note) if note.text.contains("the search ends early")),
        );
        assert!(done.plan.is_some() && warned, "{told:?}");
        let (done, _) = run(false, false);
        assert_eq!(done.status, EndStatus::Failed);
        assert!(!done.violations.is_empty() && done.plan.is_none(), "{done:?}");
    }
}
