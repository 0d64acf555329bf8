//! Scenarios made from plans of other kinds. Only this module connects kinds: one kind writes the data of a plan to
//! types of the core crate, and another kind reads the data from these types.

use crate::subject::{AnyPlan, AnyScenario, Variants, any_scenario, unknown_kind};
use lightbay_core::checked::SharedPlan;
use lightbay_core::listed::{ConvertedScenario, Listed as _, Sources};
use lightbay_core::param::{ParamInfo, ParamValue, Setting};
use lightbay_core::problem::{Problem, Problems};

pub use lightbay_core::listed::Conversion;

/// A scenario made from plans.
#[derive(Clone, Debug)]
pub struct Converted {
    /// The scenario, valid.
    pub scenario: AnyScenario,
    /// Remarks for the user on how the scenario was made, one sentence each.
    pub notes: Vec<String>,
}

impl Converted {
    fn of<K: Variants>(made: ConvertedScenario<K>) -> Self {
        Self { scenario: any_scenario(made.scenario), notes: made.notes }
    }
}

/// Returns the conversion that makes scenarios of a kind from plans; `None` if scenarios of this kind cannot be made
/// from plans.
pub fn conversion(kind: &str) -> Option<Conversion> {
    named_kind!(kind, K => K::conversion(), None)
}

/// Makes a scenario of a kind from plans and settings. `plans` contains each plan together with the name of its
/// parameter in [`Conversion::plans`]; `settings` sets the parameters in [`Conversion::own`] and [`Conversion::early`].
///
/// # Errors
/// Every setting and every plan that is not valid for the kind.
pub fn convert(kind: &str, plans: &[(String, AnyPlan)], settings: &[Setting]) -> Result<Converted, Problems> {
    let Some(conversion) = conversion(kind) else {
        let problem =
            Problem::new("", format!("a scenario of kind {kind} cannot be made from plans"), "give a preset");
        return Err(problem.into());
    };
    let values = parsed(&[conversion.own, conversion.early].concat(), settings)?;
    let plans: Vec<(String, SharedPlan)> =
        plans.iter().map(|(name, plan)| (name.clone(), plan.shared())).collect();
    let sources = Sources { plans: &plans, values: &values };
    named_kind!(kind, K => K::convert(sources).map(Converted::of), Err(unknown_kind(Some(kind)).into()))
}

fn parsed(infos: &[ParamInfo], settings: &[Setting]) -> Result<Vec<(String, ParamValue)>, Problems> {
    let mut problems = Problems::new();
    let mut values = Vec::new();
    for setting in settings {
        let info = infos.iter().find(|info| info.name == setting.name && setting.index.is_none());
        match info.map(|info| info.parse(&setting.text)) {
            Some(Ok(value)) => values.push((setting.name.clone(), value)),
            Some(Err(problem)) => problems.push(problem),
            None => problems.add(
                setting.to_string(),
                "is not a parameter of a scenario made from plans",
                "leave it out",
            ),
        }
    }
    problems.into_result(values)
}
