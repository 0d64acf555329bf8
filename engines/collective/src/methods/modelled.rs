//! The MILP model of `teccl-milp` for other solvers, and the conversion of their solutions into plans.

use super::milp::{CopyMethod, epochs_knob, reward_knob};
use super::one_size::refuse_sizes;
use crate::Collective;
use crate::bounds::bound;
use crate::compose::whole_chunks;
use crate::model::group::Folding;
use crate::model::task::CollectiveTasks;
use crate::plan::CollectiveResult;
use crate::programs::copying::{CopyProgram, CopyQuestion};
use lightbay_core::kind::Candidate;
use lightbay_core::method::MethodError;
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::scenario::Scenario;
use lightbay_core::watch::Unwatched;
use lightbay_highs::model::Model;
use lightbay_highs::modelled::Modelled;

/// Feasibility tolerance for solutions that other solvers write with few digits.
const TOLERANCE: f64 = 1e-5;

/// The full model of schedules within a given number of epochs.
pub(super) struct CopyModel;

/// Builds the model of a scenario and returns the result of `then`, which is called with the model.
fn with_program<T>(
    scenario: &Scenario<Collective>,
    params: &Params,
    then: impl FnOnce(&CollectiveTasks, &CopyProgram<'_>) -> Result<T, MethodError>,
) -> Result<T, MethodError> {
    let body = &scenario.body;
    refuse_sizes(body, CopyMethod::NAME)?;
    let tasks = CollectiveTasks::of(body, None)?;
    let [task] = &tasks.tasks[..] else {
        return Err(Problems::one(Problem::new(
            "demand.collective",
            format!("is {}, which needs two models, one after the other", body.demand.collective.label()),
            "use one of its halves, reduce_scatter or all_gather",
        ))
        .into());
    };
    let mut watch = Unwatched::default();
    let epochs = match params.count("epochs") as u32 {
        0 => bound::<_, ()>(task, &mut watch)?.epochs,
        given => given,
    };
    let folding = Folding::none(&task.network, &task.chunks);
    let buffer_limit = body.buffer_limit_chunks;
    let question = CopyQuestion { task, folding: &folding, epochs, buffer_limit };
    let mut program = CopyProgram::new(question, &mut watch)?;
    if params.bool("early") {
        program.reward_early();
    }
    then(&tasks, &program)
}

impl Modelled<Collective> for CopyModel {
    fn name(&self) -> &'static str {
        CopyMethod::NAME
    }

    fn params(&self) -> Vec<ParamInfo> {
        vec![epochs_knob(), reward_knob()]
    }

    fn model(&self, scenario: &Scenario<Collective>, params: &Params) -> Result<Model, MethodError> {
        with_program(scenario, params, |_, program| Ok(program.model.clone()))
    }

    fn plan(
        &self,
        scenario: &Scenario<Collective>,
        params: &Params,
        values: &[f64],
    ) -> Result<Candidate<CollectiveResult>, MethodError> {
        with_program(scenario, params, |tasks, program| {
            let columns = program.model.columns();
            if values.len() != columns {
                return Err(MethodError::Failed(format!(
                    "the point has {} values, but the model has {columns} columns; use a point of the \
                     exported model",
                    values.len()
                )));
            }
            if let Some(broken) = program.model.first_broken(values, TOLERANCE) {
                return Err(MethodError::Failed(format!("the point does not satisfy the model: {broken}")));
            }
            let task = tasks.tasks.first().ok_or_else(|| super::session::never(None))?;
            let least = bound::<_, ()>(task, &mut Unwatched::default())?;
            Ok(whole_chunks(&scenario.body, tasks, &[program.schedule(values)], Some(&[least])))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::preset;
    use lightbay_core::param::ParamValue;
    use lightbay_highs::event::NoListener;
    use lightbay_highs::instance::solve_here;
    use lightbay_highs::options::Options;
    use lightbay_highs::solution::Start;

    #[test]
    fn points_of_the_exported_model_are_plans() {
        let scenario = Scenario::new("one".to_owned(), preset("dgx1-allgather-200kb"));
        let usual = Params::resolve(&CopyModel.params(), []).unwrap();
        let model = CopyModel.model(&scenario, &usual).unwrap();
        let found = solve_here(&model, &Options::new(), &Start::None, &mut NoListener).unwrap();
        let plan = CopyModel.plan(&scenario, &usual, &found.values.clone().unwrap()).unwrap();
        let claims = &plan.result.claims;
        assert_eq!(Some(claims.finish_epochs), claims.lower_bound_epochs);
        let longer = ParamValue::Int(i64::from(claims.finish_epochs) + 1);
        let longer = Params::resolve(&CopyModel.params(), [("epochs", &longer)]).unwrap();
        let refused = CopyModel.plan(&scenario, &longer, &found.values.unwrap());
        assert!(refused.unwrap_err().to_string().contains("of the exported model"));
        let both = Scenario::new("two".to_owned(), preset("dgx1-allreduce-200kb"));
        assert!(CopyModel.model(&both, &usual).is_err());
    }
}
