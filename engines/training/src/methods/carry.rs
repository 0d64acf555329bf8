//! Transfer of a plan to a changed scenario.

use super::session::{candidate, compile};
use crate::plan::{RateControl, TrainingResult};
use crate::scenario::TrainingScenario;
use crate::search::carry::{fit, listed, translated, unlisted};
use crate::simulate::evaluate::Rates;
use lightbay_core::kind::Carried;

/// Makes a plan fit a changed scenario: repairs the circuits of the plan, and evaluates them with the rate control of
/// the plan.
///
/// # Errors
/// One sentence that gives the reason.
pub fn carry(
    result: &TrainingResult,
    from: &TrainingScenario,
    to: &TrainingScenario,
) -> Result<Carried<TrainingResult>, String> {
    let (old, new) = (from.build().map_err(|e| e.to_string())?, to.build().map_err(|e| e.to_string())?);
    let x = listed(result, old.instance.links.len()).ok_or(unlisted(result))?;
    let (mut x, mut repairs) = translated(&x, &old.instance, &new.instance)?;
    let evaluator = compile(&new).map_err(|e| e.to_string())?;
    let budget = &evaluator.network.budget;
    let before = budget.total(&x);
    if fit(&evaluator, &mut x)? {
        repairs.push(format!(
            "circuits on {} of {before} ports were removed to fit the pods",
            before - budget.total(&x)
        ));
    }
    let rates = match result.rate_control {
        RateControl::Fair => Rates::Fair,
        RateControl::Joint => Rates::Best,
    };
    Ok(Carried { candidate: candidate(&evaluator, &x, rates), repairs })
}
