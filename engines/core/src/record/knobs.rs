//! The parameters of a scenario: how each is read and changed, and when it has no effect.

use super::Record;
use crate::param::{ParamInfo, ParamValue};
use crate::problem::{Problem, suggestion};
use std::borrow::Cow;

/// Reason that a parameter has no effect, as the words after "has no effect", and the remedy.
pub type Idle = (Cow<'static, str>, &'static str);

type Get<S> = Box<dyn Fn(&S) -> Option<ParamValue> + Send + Sync>;
type Set<S> = Box<dyn Fn(&mut S, &ParamValue) -> Result<(), Problem> + Send + Sync>;
type IsIdle<S> = fn(&S) -> Option<Idle>;
type SetEntry<S> = fn(&mut S, usize, &ParamValue) -> Result<(), Problem>;

/// A parameter of a scenario `S`.
pub struct Knob<S> {
    info: ParamInfo,
    get: Get<S>,
    set: Set<S>,
    entry: Option<SetEntry<S>>,
    idle: Vec<(Idleness, IsIdle<S>)>,
}

/// Treatment of a parameter that has no effect.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Idleness {
    /// The parameter can be set, because other changes may give it an effect.
    Settable,
    /// The parameter cannot be set.
    Refused,
    /// The scenario does not have the parameter.
    Hidden,
}

impl<S: 'static> Knob<S> {
    /// Makes a parameter of the field `key` of a record that every scenario has.
    ///
    /// # Panics
    /// As for [`Knob::of_part`].
    pub fn of<R: Record + 'static>(
        key: &'static str,
        read: fn(&S) -> Option<&R>,
        change: fn(&mut S) -> &mut R,
    ) -> Self {
        let refuse = description::<R>(key);
        Self::own(
            refuse.clone(),
            move |scenario| read(scenario)?.field(key),
            move |scenario, value| {
                change(scenario).set_field(key, value).ok_or_else(|| refuse.refuse(&value.to_string()))
            },
        )
    }

    /// Makes a parameter of the field `key` of a record that only some scenarios have; use [`Knob::refused_if`] to give
    /// the reason for the other scenarios.
    ///
    /// # Panics
    /// If the record has no such field, or no parameter can express it. That is a mistake in a table, which every test
    /// of the kind detects.
    pub fn of_part<R: Record + 'static>(
        key: &'static str,
        read: fn(&S) -> Option<&R>,
        change: fn(&mut S) -> Option<&mut R>,
    ) -> Self {
        let refuse = description::<R>(key);
        Self::own(
            refuse.clone(),
            move |scenario| read(scenario)?.field(key),
            move |scenario, value| {
                let part = change(scenario);
                part.and_then(|part| part.set_field(key, value))
                    .ok_or_else(|| refuse.refuse(&value.to_string()))
            },
        )
    }

    /// Makes a parameter with its own functions to read and change it. `set` gets only values that `info` has accepted.
    pub fn own(
        info: ParamInfo,
        get: impl Fn(&S) -> Option<ParamValue> + Send + Sync + 'static,
        set: impl Fn(&mut S, &ParamValue) -> Result<(), Problem> + Send + Sync + 'static,
    ) -> Self {
        Self { info, get: Box::new(get), set: Box::new(set), entry: None, idle: Vec::new() }
    }

    /// Replaces the description of the parameter.
    #[must_use]
    pub fn described(mut self, change: impl FnOnce(ParamInfo) -> ParamInfo) -> Self {
        self.info = change(self.info);
        self
    }

    /// Replaces the function that reads the parameter.
    #[must_use]
    pub fn shown_by(mut self, get: impl Fn(&S) -> Option<ParamValue> + Send + Sync + 'static) -> Self {
        self.get = Box::new(get);
        self
    }

    /// Replaces the function that changes the parameter.
    #[must_use]
    pub fn set_by(
        mut self,
        set: impl Fn(&mut S, &ParamValue) -> Result<(), Problem> + Send + Sync + 'static,
    ) -> Self {
        self.set = Box::new(set);
        self
    }

    /// Allows the entries of the parameter to be set one by one, with the function `set`.
    #[must_use]
    pub fn entries(mut self, set: SetEntry<S>) -> Self {
        self.entry = Some(set);
        self
    }

    /// Declares that the parameter has no effect on scenarios for which `idle` returns a reason. The parameter can
    /// still be set, because other changes may give it an effect.
    #[must_use]
    pub fn idle_if(mut self, idle: IsIdle<S>) -> Self {
        self.idle.push((Idleness::Settable, idle));
        self
    }

    /// Declares that the parameter cannot be set on scenarios for which `idle` returns a reason.
    #[must_use]
    pub fn refused_if(mut self, idle: IsIdle<S>) -> Self {
        self.idle.push((Idleness::Refused, idle));
        self
    }

    /// Hides the parameter on scenarios for which `idle` returns a reason.
    #[must_use]
    pub fn hidden_if(mut self, idle: IsIdle<S>) -> Self {
        self.idle.push((Idleness::Hidden, idle));
        self
    }

    /// Returns the reason that the parameter has no effect on a scenario; of several reasons, the one with the
    /// strictest treatment. Ignores reasons with a milder treatment than `from`.
    fn idle(&self, scenario: &S, from: Idleness) -> Option<Problem> {
        let found = self.idle.iter().filter(|(idleness, _)| *idleness >= from);
        let found = found.filter_map(|(idleness, idle)| Some((*idleness, idle(scenario)?)));
        let (_, (why, remedy)) = found.max_by_key(|(idleness, _)| *idleness)?;
        Some(Problem::new(self.info.name.clone(), format!("has no effect {why}"), remedy))
    }
}

#[expect(clippy::panic, reason = "a table that names a missing field is wrong in every run")]
fn description<R: Record>(key: &'static str) -> ParamInfo {
    R::param(key).unwrap_or_else(|| panic!("no parameter can stand for the field {key}"))
}

/// The parameters of a scenario, in the order in which forms show them.
pub struct Knobs<S>(Vec<Knob<S>>);

impl<S: 'static> Knobs<S> {
    /// Creates the list of parameters; their names must differ.
    pub const fn new(knobs: Vec<Knob<S>>) -> Self {
        Self(knobs)
    }

    /// Returns the descriptions of the parameters that a scenario has; without a scenario, of all parameters.
    pub fn infos(&self, scenario: Option<&S>) -> Vec<ParamInfo> {
        let has =
            |knob: &&Knob<S>| scenario.is_none_or(|scenario| knob.idle(scenario, Idleness::Hidden).is_none());
        self.0.iter().filter(has).map(|knob| knob.info.clone()).collect()
    }

    /// Returns the value of a parameter; `None` for unknown names and for values that no parameter can express.
    pub fn get(&self, scenario: &S, name: &str) -> Option<ParamValue> {
        self.0.iter().find(|knob| knob.info.name == name).and_then(|knob| (knob.get)(scenario))
    }

    /// Returns a problem for each parameter that has no effect on the scenario.
    pub fn idle(&self, scenario: &S) -> Vec<Problem> {
        self.0.iter().filter_map(|knob| knob.idle(scenario, Idleness::Settable)).collect()
    }

    /// Changes a parameter, or one entry of it. Only the range of the parameter itself is checked: several changes may
    /// be valid together although one of the changes alone is not valid, so validate the scenario after the last
    /// change.
    ///
    /// # Errors
    /// An unknown name, a value outside the range, an entry that does not exist, or a value that the parameter itself
    /// refuses.
    pub fn set(
        &self,
        scenario: &mut S,
        name: &str,
        index: Option<usize>,
        value: &ParamValue,
    ) -> Result<(), Problem> {
        let Some(knob) = self.0.iter().find(|knob| knob.info.name == name) else {
            let infos = self.infos(Some(scenario));
            let names: Vec<&str> = infos.iter().map(|info| info.name.as_ref()).collect();
            return Err(Problem::new(name, "is not a parameter of this scenario", suggestion(name, &names)));
        };
        if let Some(problem) = knob.idle(scenario, Idleness::Refused) {
            return Err(problem);
        }
        match (index, knob.entry) {
            (None, _) => (knob.set)(scenario, &knob.info.accept(value)?),
            (Some(index), Some(entry)) => entry(scenario, index, value),
            (Some(_), None) => Err(Problem::new(name, "is not a list", format!("write {name}={value}"))),
        }
    }
}
