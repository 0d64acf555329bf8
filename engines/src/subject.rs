//! A scenario or a plan of any kind.

use lightbay_core::checked::{BoundTrust, Checked, SharedPlan, downcast};
use lightbay_core::json::{self, WriteError};
use lightbay_core::kind::Kind;
use lightbay_core::listed::Listed;
use lightbay_core::param::{ParamInfo, ParamValue};
use lightbay_core::plan::{Draft, Header};
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::report::Report;
use lightbay_core::report::differences::Differences;
use lightbay_core::scenario::{Origin, Scenario, sha256_of};
use lightbay_core::standing::Standing;
use lightbay_highs::modelled::Models;
use name::NAME;
use serde_json::Value;
use std::sync::Arc;

pub(crate) mod name;

/// A shared scenario of kind `K`.
type ScenarioOf<K> = Arc<Scenario<K>>;
/// A shared plan of kind `K`.
type PlanOf<K> = Arc<Checked<K>>;
/// A plan file of kind `K`.
type DraftOf<K> = Box<Draft<K>>;

kind_enum! {
    /// A valid scenario of any kind. Cheap to clone.
    #[derive(Clone, Debug, PartialEq)]
    pub enum AnyScenario of ScenarioOf
}

kind_enum! {
    /// A checked plan of any kind. Cheap to clone.
    #[derive(Clone, Debug)]
    pub enum AnyPlan of PlanOf
}

kind_enum! {
    /// A plan file of any kind, with unchecked claims.
    #[derive(Debug)]
    pub(crate) enum AnyDraft of DraftOf
}

/// Conversion of the scenarios and plans of one kind to the types that hold any kind.
pub(crate) trait Variants: Listed + Models {
    /// Converts a scenario of this kind to an [`AnyScenario`].
    fn scenario(scenario: Arc<Scenario<Self>>) -> AnyScenario;

    /// Converts a plan of this kind to an [`AnyPlan`].
    fn plan(plan: Arc<Checked<Self>>) -> AnyPlan;

    /// Converts a plan file of this kind to an [`AnyDraft`].
    fn draft(draft: Box<Draft<Self>>) -> AnyDraft;
}

kind_variants!();

/// Converts a scenario of kind `K` to an [`AnyScenario`].
pub(crate) fn any_scenario<K: Variants>(scenario: Scenario<K>) -> AnyScenario {
    K::scenario(Arc::new(scenario))
}

fn kind_name<K: Kind>(_: &Scenario<K>) -> &'static str {
    K::NAME
}

fn suited_to<K: Kind>(scenario: &Scenario<K>) -> &'static str {
    K::suited_method(&scenario.body)
}

fn knobs_of<K: Kind>(scenario: &Scenario<K>) -> Vec<ParamInfo> {
    K::knobs(Some(&scenario.body))
}

fn idle_in<K: Kind>(scenario: &Scenario<K>) -> Vec<Problem> {
    K::idle(&scenario.body)
}

fn question_of<K: Kind>(scenario: &Scenario<K>) -> Option<String> {
    K::question(&scenario.body)
}

fn knob_of<K: Kind>(scenario: &Scenario<K>, name: &str) -> Option<ParamValue> {
    K::knob(&scenario.body, name)
}

fn set_all<K: Kind>(
    scenario: &Scenario<K>,
    changes: &[(&str, Option<usize>, &ParamValue)],
) -> Result<Scenario<K>, Problems> {
    let mut changed = scenario.clone();
    let mut problems = Problems::new();
    let other = |name: &str| K::SYNONYMS.iter().find(|(word, _)| *word == name).map(|(_, other)| *other);
    let mut changes = changes.to_vec();
    changes.sort_by_key(|(name, ..)| other(name).is_some());
    let mut set = SetSoFar::<K>(Vec::new());
    for (name, index, value) in &changes {
        if let Some(other) = other(name).filter(|other| changes.iter().any(|(name, ..)| name == other)) {
            problems.add(*name, format!("cannot be combined with '{other}'"), "give one of the two");
        } else if *name == NAME {
            match name::text_of(value) {
                Ok(text) => changed.name = text,
                Err(problem) => problems.push(problem),
            }
        } else if let Err(problem) = K::set_knob(&mut changed.body, name, *index, value) {
            problems.push(problem);
        } else if let Some(problem) = set.replaced(&changed.body, name, value) {
            problems.push(problem);
        }
        if let Some(provenance) = &mut changed.provenance {
            provenance.give(name);
        }
    }
    problems.into_result(())?;
    // Several knobs may be valid only together, so the result is validated, not each step.
    K::validate(&changed.body)?;
    Ok(changed)
}

/// Knobs that were set one after the other on a scenario, each with the scenario and its value at that time.
struct SetSoFar<K: Kind>(Vec<(String, K::Scenario, ParamValue)>);

impl<K: Kind> SetSoFar<K> {
    /// Records that the knob `name` was set to `value`, which gave the scenario `body`. Returns the problem if this
    /// replaced the value of a knob that was set before: the earlier setting would be lost without a message.
    fn replaced(&mut self, body: &K::Scenario, name: &str, value: &ParamValue) -> Option<Problem> {
        // A knob may be set again, for example for one entry of its list.
        self.0.retain(|(known, ..)| known != name);
        let lost = self.0.iter().find_map(|(known, then, before)| {
            // A knob that lost its value is refined by the new one, or has no effect together with it.
            let now = K::knob(body, known)?;
            // So is a knob with a value that cannot be set, such as 'own'.
            let is_settable = || K::set_knob(&mut then.clone(), known, None, &now).is_ok();
            (now != *before && is_settable()).then_some((known, before, now))
        });
        let problem = lost.map(|(known, before, now)| {
            let message = format!("{name}={value} changes {known}, which was set to '{before}', to '{now}'");
            Problem::new(
                known.clone(),
                message,
                format!("set {name} before {known}, or leave one of them out"),
            )
        });
        if let Some(shown) = K::knob(body, name) {
            self.0.push((name.to_owned(), body.clone(), shown));
        }
        problem
    }
}

impl AnyScenario {
    /// Returns the name of the scenario's kind.
    pub fn kind(&self) -> &'static str {
        each_kind!(self, Self, scenario => kind_name(scenario))
    }

    /// Returns the display name of the scenario.
    pub fn name(&self) -> &str {
        each_kind!(self, Self, scenario => &scenario.name)
    }

    /// Returns the origin of an imported scenario.
    pub fn provenance(&self) -> Option<&Origin> {
        each_kind!(self, Self, scenario => scenario.provenance.as_ref())
    }

    /// Describes the origin of the scenario, and of a plan that was read from files, as lines for the user; empty for
    /// scenarios and plans made by lightbay.
    pub fn origin_lines(&self, plan: Option<&Header>) -> Vec<String> {
        let mut lines = self.provenance().map(Origin::lines).unwrap_or_default();
        lines.extend(plan.and_then(|header| header.provenance.import()).iter().flat_map(Origin::lines));
        lines
    }

    /// Returns what the import of the scenario assumed for a parameter, such as `400 Gb/s, not in the files`; `None` if
    /// nothing was assumed.
    pub fn assumed_of(&self, param: &str) -> Option<String> {
        let assumed = self.provenance()?.assumed_of(param)?;
        Some(format!("assumed by the import: {}", assumed.phrase()))
    }

    /// Returns the SHA-256 of the scenario without name and origin; equal for scenarios of the same problem.
    ///
    /// # Errors
    /// A number that is not finite.
    pub fn sha256(&self) -> Result<String, WriteError> {
        each_kind!(self, Self, scenario => sha256_of(scenario).map(|sha256| sha256.to_string()))
    }

    /// Returns the scenario as a JSON tree in file order.
    ///
    /// # Errors
    /// A number that is not finite.
    pub fn to_value(&self) -> Result<Value, WriteError> {
        each_kind!(self, Self, scenario => scenario.to_value())
    }

    /// Returns the scenario as file content.
    ///
    /// # Errors
    /// A number that is not finite.
    pub fn to_json(&self) -> Result<Vec<u8>, WriteError> {
        json::to_pretty(&self.to_value()?)
    }

    /// Returns the knobs that have an effect on the scenario.
    pub fn knobs(&self) -> Vec<ParamInfo> {
        let idle = self.idle();
        let mut knobs = self.every_knob();
        knobs.retain(|info| idle.iter().all(|problem| problem.path != info.name));
        knobs
    }

    /// Returns all knobs of the scenario, including the knobs without effect on the scenario, which [`Self::idle`]
    /// lists.
    pub fn every_knob(&self) -> Vec<ParamInfo> {
        each_kind!(self, Self, scenario => knobs_of(scenario))
    }

    /// Returns the knobs of the kind that have no effect on the scenario: name, reason and remedy.
    pub fn idle(&self) -> Vec<Problem> {
        each_kind!(self, Self, scenario => idle_in(scenario))
    }

    /// Returns the part of the scenario that the methods see, as a text, or `None` if the methods see the whole
    /// scenario. Two scenarios with equal texts are the same problem, even if their other content differs.
    pub fn question(&self) -> Option<String> {
        each_kind!(self, Self, scenario => question_of(scenario))
    }

    /// Returns the sections of the scenario, each computed when requested.
    ///
    /// # Errors
    /// A scenario that cannot be built.
    pub fn report(&self) -> Result<Box<dyn Report + '_>, Problems> {
        fn of<K: Kind>(scenario: &Scenario<K>) -> Result<Box<dyn Report + '_>, Problems> {
            K::report(scenario, None)
        }
        each_kind!(self, Self, scenario => of(scenario))
    }

    /// Returns the method to use when no method is named.
    pub fn suited_method(&self) -> &'static str {
        each_kind!(self, Self, scenario => suited_to(scenario))
    }

    /// Returns the present value of a knob, or the name of the scenario if the name of the parameter is `name`.
    pub fn knob(&self, name: &str) -> Option<ParamValue> {
        if name == NAME {
            return Some(ParamValue::Text(self.name().to_owned()));
        }
        each_kind!(self, Self, scenario => knob_of(scenario, name))
    }

    /// Returns the scenario with a knob changed, validated.
    ///
    /// # Errors
    /// Every problem of the value and of the scenario that would result.
    pub fn with(&self, name: &str, index: Option<usize>, value: &ParamValue) -> Result<Self, Problems> {
        self.with_all(&[(name, index, value)])
    }

    /// Returns the scenario after the given knobs were set one after the other; values that the kind refuses are
    /// skipped. The result is not validated and is only for comparisons.
    pub(crate) fn as_far_as_possible(&self, values: &[(String, ParamValue)]) -> Self {
        fn of<K: Variants>(scenario: &Scenario<K>, values: &[(String, ParamValue)]) -> AnyScenario {
            let mut changed = scenario.clone();
            for (name, value) in values {
                let mut next = changed.body.clone();
                if K::set_knob(&mut next, name, None, value).is_ok() {
                    changed.body = next;
                }
            }
            any_scenario::<K>(changed)
        }
        each_kind!(self, Self, scenario => of(scenario, values))
    }

    /// Returns the scenario with several knobs changed together, validated once at the end.
    ///
    /// # Errors
    /// Every problem of the values and of the resulting scenario, every knob that has no effect on it, and every value
    /// that does not change the problem.
    pub fn with_all(&self, changes: &[(&str, Option<usize>, &ParamValue)]) -> Result<Self, Problems> {
        let changed = self.acting(changes)?;
        let mut problems = Problems::new();
        if let Some(question) = changed.question() {
            for (name, _, _) in changes {
                let (before, after) = (self.knob(name), changed.knob(name));
                // Setting a derived knob pins its value: the value has an effect as soon as the inputs of the
                // derivation change.
                if before.is_none() || before == after || *name == NAME || changed.is_usual(name) {
                    continue;
                }
                let others: Vec<_> = changes.iter().filter(|(other, _, _)| other != name).copied().collect();
                let without = self.turned(&others).ok().and_then(|without| without.question());
                if without.as_ref() == Some(&question) {
                    let text = |value: Option<ParamValue>| {
                        value.map_or_else(|| "none".to_owned(), |value| value.to_string())
                    };
                    let message = format!(
                        "'{}' instead of '{}' changes nothing that a plan of this scenario depends on",
                        text(after),
                        text(before)
                    );
                    problems.add(*name, message, "leave it out, or give another value");
                }
            }
        }
        problems.into_result(changed)
    }

    /// Changes knobs like [`Self::with_all`], but also accepts values that do not change the problem.
    pub(crate) fn acting(&self, changes: &[(&str, Option<usize>, &ParamValue)]) -> Result<Self, Problems> {
        let changed = self.turned(changes)?;
        let mut problems = Problems::new();
        for problem in changed.idle() {
            let set = changes.iter().any(|(name, _, _)| *name == problem.path);
            if set && !changed.is_usual(&problem.path) {
                problems.push(problem);
            }
        }
        problems.into_result(changed)
    }

    /// Returns `true` if the value of a knob is its default. Callers accept a knob without effect on the scenario if
    /// its value is the default, because the default requests no change.
    pub(crate) fn is_usual(&self, name: &str) -> bool {
        let default =
            self.every_knob().into_iter().find(|info| info.name == name).and_then(|info| info.default);
        default.is_some() && default == self.knob(name)
    }

    /// Changes knobs like [`Self::with_all`], but accepts knobs that have no effect on the result.
    pub(crate) fn turned(&self, changes: &[(&str, Option<usize>, &ParamValue)]) -> Result<Self, Problems> {
        each_kind!(self, Self, scenario => set_all(scenario, changes).map(any_scenario))
    }

    /// Reads a scenario from a JSON tree.
    ///
    /// # Errors
    /// Every problem found.
    pub fn from_value(value: &Value) -> Result<Self, Problems> {
        let kind = lightbay_core::scenario::kind_of(value);
        named_kind!(
            kind.unwrap_or_default(),
            K => Scenario::<K>::from_value(value).map(any_scenario),
            Err(unknown_kind(kind).into())
        )
    }
}

impl AnyPlan {
    /// Returns the plan that an event contains. `None` only for a kind that this catalogue does not list.
    pub fn of(plan: &SharedPlan) -> Option<Self> {
        all_kinds!(K => downcast::<K>(plan).map(K::plan)).into_iter().flatten().next()
    }

    /// Returns the plan in the form that events, sessions and hot starts use.
    pub fn shared(&self) -> SharedPlan {
        each_kind!(self, Self, plan => Arc::clone(plan) as SharedPlan)
    }

    /// Returns the envelope: everything but scenario and result.
    pub fn header(&self) -> Header {
        each_kind!(self, Self, plan => plan.plan().header())
    }

    /// Returns the scenario that the plan is for.
    pub fn scenario(&self) -> AnyScenario {
        fn of<K: Variants>(plan: &Checked<K>) -> AnyScenario {
            K::scenario(Arc::clone(&plan.plan().scenario))
        }
        each_kind!(self, Self, plan => of(plan))
    }

    /// Returns the source of the plan's bound: derived by the checker, claimed by the method, or none.
    pub fn bound_trust(&self) -> BoundTrust {
        each_kind!(self, Self, plan => plan.bound_trust())
    }

    /// Returns the bounds on the plan, and for each bound whether the checker proved it or a method claims it.
    pub fn standing(&self) -> Standing {
        each_kind!(self, Self, plan => plan.standing())
    }

    /// Returns a remark on a soft requirement of the scenario that the plan does not meet, see [`Kind::caveat`].
    pub fn caveat(&self) -> Option<String> {
        fn of<K: Variants>(plan: &Checked<K>) -> Option<String> {
            K::caveat(plan.plan())
        }
        each_kind!(self, Self, plan => of(plan))
    }

    /// Returns the remarks of the checker on the plan.
    pub fn remarks(&self) -> &[String] {
        each_kind!(self, Self, plan => plan.remarks())
    }

    /// Returns the plans for which review reports are written; see [`Listed::reviewed`].
    pub(crate) fn reviewed(&self) -> Result<Vec<Self>, Problems> {
        fn of<K: Variants>(plan: &Arc<Checked<K>>) -> Result<Vec<AnyPlan>, Problems> {
            Ok(K::reviewed(plan)?.into_iter().map(K::plan).collect())
        }
        each_kind!(self, Self, plan => of(plan))
    }

    /// Returns the objective and the bounds of the plan, in sentences for the head of a report.
    pub(crate) fn verdict(&self) -> Result<Vec<String>, Problems> {
        fn of<K: Variants>(plan: &Checked<K>) -> Result<Vec<String>, Problems> {
            K::verdict(plan)
        }
        each_kind!(self, Self, plan => of(plan))
    }

    /// Returns the names of the figures that the plan's method claims and a standard check does not compute.
    pub fn claimed(&self) -> Vec<&'static str> {
        fn of<K: Variants>(plan: &Checked<K>) -> Vec<&'static str> {
            K::claimed(plan.plan())
        }
        each_kind!(self, Self, plan => of(plan))
    }

    /// Returns the differences from another plan, apart from differences of the figures; none if the other plan is of
    /// another kind.
    pub fn differences(&self, other: &Self) -> Differences {
        fn of<K: Kind>(a: &Checked<K>, b: &SharedPlan) -> Differences {
            let b = downcast::<K>(b);
            b.map_or_else(Differences::default, |b| K::differences(a.plan(), b.plan()))
        }
        each_kind!(self, Self, plan => of(plan, &other.shared()))
    }

    /// Returns the sections of the plan and of its scenario, each computed when requested.
    ///
    /// # Errors
    /// A scenario that cannot be built.
    pub fn report(&self) -> Result<Box<dyn Report + '_>, Problems> {
        fn of<K: Kind>(plan: &Checked<K>) -> Result<Box<dyn Report + '_>, Problems> {
            let mut report = K::report(&plan.plan().scenario, Some(plan.plan()))?;
            report.stand(plan.standing());
            Ok(report)
        }
        each_kind!(self, Self, plan => of(plan))
    }

    /// Returns the plan as file content.
    ///
    /// # Errors
    /// A number that is not finite.
    pub fn to_json(&self) -> Result<Vec<u8>, WriteError> {
        self.shared().to_json()
    }
}

/// Returns the problem of a file of an unknown `kind`.
pub(crate) fn unknown_kind(kind: Option<&str>) -> Problem {
    let names: Vec<&str> = crate::kinds().iter().map(|kind| kind.name).collect();
    match kind {
        None => Problem::new("kind", "is missing", format!("use one of {}", names.join(", "))),
        Some(kind) => Problem::new(
            "kind",
            format!("there is no kind '{kind}'"),
            lightbay_core::problem::suggestion(kind, &names),
        ),
    }
}
