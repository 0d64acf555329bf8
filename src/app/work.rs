//! The open scenario: its knobs with the user's changes, the method and the settings of the newest solve.
//!
//! A change affects active runs only if their methods accept it as a live change; otherwise it waits for the next
//! solve. Differences from the newest solve are marked; undo restores whole setups.

use lightbay_core::kind::ObjectiveInfo;
use lightbay_core::method::MethodInfo;
use lightbay_core::param::{Domain, Effect, ParamInfo, ParamValue, Setting};
use lightbay_core::problem::{Problem, Problems, suggestion};
use lightbay_core::run::{Common, common_params};
use lightbay_engines::{AnyScenario, name_param};
use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::app::pane::{ItemId, PaneInfo};
use crate::app::source::SourceScenario;

/// Maximum number of changes that can be undone.
const UNDO_DEPTH: usize = 100;

/// Everything that the user can set before a solve.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// The scenario with all changes.
    pub scenario: AnyScenario,
    /// SHA-256 of the scenario, computed without its name.
    pub sha256: String,
    /// Method that the key `r` starts.
    pub method: String,
    /// Values set for the knobs of each method; all other knobs have their defaults.
    pub params: BTreeMap<String, BTreeMap<String, ParamValue>>,
    /// Seed, time limit and gap.
    pub common: Common,
}

impl Setup {
    /// Makes the setup of a scenario with the defaults of a method.
    ///
    /// # Errors
    /// A scenario that cannot be written (a number that is not finite).
    pub fn new(scenario: AnyScenario, method: &str) -> Result<Self, Problem> {
        let sha256 = scenario.sha256().map_err(|error| Problem::new("", error.to_string(), ""))?;
        Ok(Self {
            scenario,
            sha256,
            method: method.to_owned(),
            params: BTreeMap::new(),
            common: Common::default(),
        })
    }

    /// Returns the values given for the knobs of a method.
    pub fn params_of(&self, method: &str) -> Vec<(String, ParamValue)> {
        self.params.get(method).map_or_else(Vec::new, |given| {
            given.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
        })
    }
}

/// Block of the form to which a row belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// Knobs of the scenario.
    Scenario,
    /// The choice of the method.
    Method,
    /// Knobs of the method.
    Params,
    /// Limits and seed, common to all methods.
    Common,
}

/// One row of the form.
#[derive(Clone, Debug, PartialEq)]
pub struct FormRow {
    /// Identity of the row, which stays the same when rows are added or removed.
    pub id: ItemId,
    /// Name of the knob.
    pub name: String,
    /// Block to which the row belongs.
    pub section: Section,
    /// Description of the knob.
    pub info: ParamInfo,
    /// Value of the knob; `None` if the value is derived from the scenario.
    pub value: Option<ParamValue>,
    /// The value in the newest solve (or in the file, before the first solve), if it differs from the present value.
    pub was: Option<Option<ParamValue>>,
}

impl FormRow {
    /// Returns `true` if the value differs from the value in the newest solve. A name changes no run, so it does not
    /// count.
    pub fn changed(&self) -> bool {
        self.was.is_some() && self.name != name_param().name
    }
}

/// A change that was made.
#[derive(Clone, Debug, PartialEq)]
pub struct KnobChange {
    /// Name of the knob.
    pub name: String,
    /// Entry of a list, if only this entry was changed.
    pub index: Option<usize>,
    /// Block to which the knob belongs.
    pub section: Section,
    /// Value before the change.
    pub old: Option<ParamValue>,
    /// Value after the change.
    pub new: ParamValue,
    /// Effect of the change on runs.
    pub effect: Effect,
    /// `false` if everything already had its value, so that nothing changed.
    pub made: bool,
}

/// An open scenario with its settings, their history and the methods for it.
#[derive(Clone, Debug)]
pub struct Work {
    /// Kind of the scenario.
    pub kind: &'static str,
    /// File, preset or session from which the scenario was read, as the user wrote it.
    pub source: String,
    /// Description of the objective.
    pub objective: ObjectiveInfo,
    /// Panes of the kind.
    pub panes: &'static [PaneInfo],
    /// Methods of the kind.
    pub methods: Vec<MethodInfo>,
    /// The setup as it was opened.
    pub opened: Setup,
    /// The setup with all changes.
    pub now: Setup,
    /// Settings of the newest solve; `None` before the first solve.
    pub solved: Option<Setup>,
    /// The scenario in the file `source`.
    pub source_scenario: SourceScenario,
    names: Vec<String>,
    undo: Vec<Setup>,
    redo: Vec<Setup>,
}

fn find<'a>(infos: &'a [ParamInfo], name: &str) -> Option<&'a ParamInfo> {
    infos.iter().find(|info| info.name == name)
}

/// Returns the value of a method's knob after a change of the whole value, or of one entry of its list.
fn entered(row: &FormRow, index: Option<usize>, value: &ParamValue) -> Result<ParamValue, Problem> {
    let Some(index) = index else { return Ok(value.clone()) };
    let missing = |remedy: String| Problem::new(format!("{}[{index}]", row.name), "does not exist", remedy);
    let Some(ParamValue::List(mut list)) = row.value.clone() else {
        return Err(missing("give the whole list first".to_owned()));
    };
    let last = list.len().saturating_sub(1);
    let entry = list.get_mut(index).ok_or_else(|| missing(format!("give an entry from 0 to {last}")))?;
    *entry = value.clone();
    Ok(ParamValue::List(list))
}

impl Work {
    /// Opens a scenario of a known kind.
    ///
    /// # Errors
    /// A kind that the catalogue does not know, or a scenario that cannot be written.
    pub fn open(source: &str, scenario: AnyScenario, panes: &'static [PaneInfo]) -> Result<Self, Problem> {
        let name = scenario.kind();
        let kind = lightbay_engines::kind(name)
            .ok_or_else(|| Problem::new("kind", format!("'{name}' is not known"), "open another file"))?;
        let suited = scenario.suited_method();
        let opened = Setup::new(scenario, suited)?;
        Ok(Self {
            kind: kind.name,
            source: source.to_owned(),
            objective: kind.objective,
            panes,
            methods: lightbay_engines::methods(kind.name),
            now: opened.clone(),
            opened,
            solved: None,
            source_scenario: SourceScenario::Opened,
            names: Vec::new(),
            undo: Vec::new(),
            redo: Vec::new(),
        })
        .map(|mut work| {
            work.intern();
            work
        })
    }

    /// Returns the description of a method.
    pub fn method(&self, name: &str) -> Option<&MethodInfo> {
        self.methods.iter().find(|method| method.name == name)
    }

    /// Returns the settings with which changes are compared: the settings of the newest solve, or the settings of the
    /// file before the first solve.
    pub fn reference(&self) -> &Setup {
        self.solved.as_ref().unwrap_or(&self.opened)
    }

    /// Returns `true` if the key `r` would start its method with other inputs than the newest solve.
    pub fn changed(&self) -> bool {
        self.now.method != self.reference().method || self.changed_for(&self.now.method)
    }

    /// Returns `true` if a method would now have other inputs than at the newest solve.
    pub fn changed_for(&self, method: &str) -> bool {
        let (now, before) = (&self.now, self.reference());
        let of = |setup: &Setup| setup.common;
        // The hash leaves out the name, which changes no run.
        now.sha256 != before.sha256
            || of(now) != of(before)
            || now.params_of(method) != before.params_of(method)
    }

    /// Records that active methods already use a live change, so it does not wait for the next solve.
    pub fn note_taken(&mut self, change: &KnobChange, methods: &[String]) {
        let Some(solved) = &mut self.solved else { return };
        match (change.section, change.name.as_str()) {
            // Limits change at once; a new seed has an effect only with the next solve.
            (Section::Common, "time_limit_s") => solved.common.time_limit_s = self.now.common.time_limit_s,
            (Section::Common, "gap") => solved.common.gap = self.now.common.gap,
            (Section::Params, name) => {
                for method in methods {
                    let given = self.now.params.get(method).and_then(|params| params.get(name));
                    let params = solved.params.entry(method.clone()).or_default();
                    match given {
                        Some(value) => drop(params.insert(name.to_owned(), value.clone())),
                        None => drop(params.remove(name)),
                    }
                }
                solved.params.retain(|_, params| !params.is_empty());
            }
            _ => {}
        }
    }

    /// Returns the number of rows that differ from the newest solve.
    pub fn changes(&self) -> usize {
        self.rows().iter().filter(|row| row.changed()).count()
    }

    /// Returns the rows of the form in order. The scenario knobs form two groups: first the knobs after whose change a
    /// new run can still start from known plans, then the other knobs.
    pub fn rows(&self) -> Vec<FormRow> {
        self.rows_against(self.reference())
    }

    /// Returns the id of the first row in which the present setup differs from another setup.
    pub fn first_change(&self, before: &Setup) -> Option<ItemId> {
        self.rows_against(before).iter().find(|row| row.was.is_some()).map(|row| row.id)
    }

    /// Returns the rows of the form whose values differ from another setup.
    pub fn differences(&self, before: &Setup) -> Vec<FormRow> {
        self.rows_against(before).into_iter().filter(|row| row.was.is_some()).collect()
    }

    /// Makes the last changes one change for undo.
    pub fn join_changes(&mut self, count: usize) {
        let keep = self.undo.len().saturating_sub(count.saturating_sub(1));
        self.undo.truncate(keep);
    }

    fn rows_against(&self, reference: &Setup) -> Vec<FormRow> {
        let mut rows = Vec::new();
        let mut row = |section, info: ParamInfo, value: Option<ParamValue>, before: Option<ParamValue>| {
            let id = self.id_of(&info.name).unwrap_or(ItemId::MAX);
            let was = (value != before).then_some(before);
            rows.push(FormRow { id, name: info.name.to_string(), section, info, value, was });
        };
        let idle = self.idle();
        // A parameter without effect shows the reason instead of its help; a parameter that cannot have a value is
        // omitted.
        let told = |mut info: ParamInfo| {
            if let Some(problem) = idle.iter().find(|problem| problem.path == info.name) {
                info.help = format!("{}; {}", problem.message, problem.remedy).into();
            } else if let Some(assumed) = self.now.scenario.assumed_of(&info.name) {
                info.help = format!("({assumed}) {}", info.help).into();
            }
            info
        };
        let mut knobs = self.now.scenario.every_knob();
        knobs.sort_by_key(|info| info.effect == Effect::Cold);
        for info in knobs {
            let (value, before) = (self.now.scenario.knob(&info.name), reference.scenario.knob(&info.name));
            let is_idle = idle.iter().any(|problem| problem.path == info.name);
            if !is_idle || value.is_some() || before.is_some() {
                row(Section::Scenario, told(info), value, before);
            }
        }
        let name = name_param();
        let (value, before) = (self.now.scenario.knob(&name.name), reference.scenario.knob(&name.name));
        row(Section::Scenario, name, value, before);
        let text = |name: &str| Some(ParamValue::Text(name.to_owned()));
        row(Section::Method, self.method_choice(), text(&self.now.method), text(&reference.method));
        if let Some(method) = self.method(&self.now.method) {
            let given = |setup: &Setup, info: &ParamInfo| {
                let value = setup.params.get(method.name).and_then(|params| params.get(info.name.as_ref()));
                value.cloned().or_else(|| info.default.clone())
            };
            for info in &method.params {
                row(Section::Params, told(info.clone()), given(&self.now, info), given(reference, info));
            }
        }
        for info in common_params() {
            let (value, before) = (self.now.common.get(&info.name), reference.common.get(&info.name));
            row(Section::Common, told(info), value, before);
        }
        rows
    }

    /// Returns every knob that has no effect with the present method and the present values of its parameters: name,
    /// reason and remedy.
    pub fn idle(&self) -> Vec<Problem> {
        let method = &self.now.method;
        lightbay_engines::idle(&self.now.scenario, method, &self.now.params_of(method))
    }

    /// Returns the methods that have a parameter of this name.
    fn methods_with(&self, name: &str) -> Vec<&'static str> {
        let has = |method: &&MethodInfo| method.params.iter().any(|info| info.name == name);
        self.methods.iter().filter(has).map(|method| method.name).collect()
    }

    /// Finds a row by its identity.
    pub fn row(&self, id: ItemId) -> Option<FormRow> {
        self.rows().into_iter().find(|row| row.id == id)
    }

    /// Finds a row by its name.
    pub fn row_named(&self, name: &str) -> Option<FormRow> {
        self.rows().into_iter().find(|row| row.name == name)
    }

    /// Returns the names of everything that can be set now.
    pub fn knob_names(&self) -> Vec<String> {
        self.rows().into_iter().map(|row| row.name).collect()
    }

    /// Makes a change from typed text. The present setup stays as it was if the change is refused.
    ///
    /// # Errors
    /// An unknown name, an invalid value, or every problem of the scenario that would result.
    pub fn set(&mut self, setting: &Setting) -> Result<KnobChange, Problems> {
        let Some(row) = self.row_named(&setting.name) else {
            if let Some(idle) = self.idle().into_iter().find(|problem| problem.path == setting.name) {
                return Err(idle.into());
            }
            let names = self.knob_names();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let remedy = match self.methods_with(&setting.name).first() {
                Some(method) => format!("it belongs to {method}; set method={method} first"),
                None => suggestion(&setting.name, &names),
            };
            return Err(Problem::new(
                setting.name.clone(),
                "is not a parameter of this scenario or method",
                remedy,
            )
            .into());
        };
        let value = match (setting.index, &row.info.domain) {
            (Some(_), Domain::IntList { min, max } | Domain::IntOrList { min, max }) => {
                let entry = ParamInfo { domain: Domain::Int { min: *min, max: *max }, ..row.info.clone() };
                entry.parse(&setting.text)?
            }
            (Some(_), _) => {
                return Err(
                    Problem::new(setting.to_string(), "has no entries", "write it without [ ]").into()
                );
            }
            (None, _) => row.info.parse(&setting.text)?,
        };
        self.put(&row, setting.index, value)
    }

    /// Makes a change with a value that is known to be of the right type.
    ///
    /// # Errors
    /// Every problem of the value and of the scenario that would result.
    pub fn put(
        &mut self,
        row: &FormRow,
        index: Option<usize>,
        value: ParamValue,
    ) -> Result<KnobChange, Problems> {
        let before = self.now.clone();
        match row.section {
            Section::Scenario => {
                let scenario = self.now.scenario.with(&row.name, index, &value)?;
                let sha256 = scenario
                    .sha256()
                    .map_err(|error| Problem::new(row.name.clone(), error.to_string(), ""))?;
                self.now.scenario = scenario;
                self.now.sha256 = sha256;
            }
            Section::Method => {
                if let ParamValue::Text(name) = &value {
                    self.now.method.clone_from(name);
                }
            }
            Section::Params => {
                let value = entered(row, index, &value)?;
                // A name has the same meaning in every method of the kind, so the value is set for all methods that
                // have the knob.
                let same =
                    |info: &ParamInfo| ParamInfo { help: row.info.help.clone(), ..info.clone() } == row.info;
                let share = |method: &&MethodInfo| method.params.iter().any(same);
                for method in self.methods.iter().filter(share) {
                    let params = self.now.params.entry(method.name.to_owned()).or_default();
                    if row.info.default.as_ref() == Some(&value) {
                        params.remove(&row.name);
                    } else {
                        params.insert(row.name.clone(), value.clone());
                    }
                }
                self.now.params.retain(|_, params| !params.is_empty());
            }
            Section::Common => {
                self.now.common.set(&row.name, &value);
            }
        }
        // Limits and seeds apply to all runs and methods.
        if matches!(row.section, Section::Scenario | Section::Params)
            && row.info.default.as_ref() != Some(&value)
            && let Some(idle) = self.idle().into_iter().find(|problem| problem.path == row.name)
        {
            self.now = before;
            return Err(idle.into());
        }
        let made = self.now != before;
        if made {
            self.remember(before);
        }
        let entry = |list: &ParamValue, index: usize| match list {
            ParamValue::List(entries) => entries.get(index).cloned(),
            one => Some(one.clone()),
        };
        Ok(KnobChange {
            name: row.name.clone(),
            index,
            section: row.section,
            old: match (&row.value, index) {
                (Some(list), Some(index)) => entry(list, index),
                (value, _) => value.clone(),
            },
            new: value,
            effect: row.info.effect,
            made,
        })
    }

    /// Switches to another scenario of the kind, as one change.
    ///
    /// # Errors
    /// A scenario that cannot be written (a number that is not finite).
    pub fn adopt(&mut self, scenario: AnyScenario) -> Result<(), Problem> {
        let sha256 = scenario.sha256().map_err(|error| Problem::new("", error.to_string(), ""))?;
        let before = self.now.clone();
        self.now.scenario = scenario;
        self.now.sha256 = sha256;
        self.remember(before);
        Ok(())
    }

    /// Stores a setup for undo.
    fn remember(&mut self, before: Setup) {
        self.undo.push(before);
        if self.undo.len() > UNDO_DEPTH {
            self.undo.remove(0);
        }
        self.redo.clear();
        self.intern();
    }

    /// Undoes the last change. Returns `false` if nothing can be undone.
    pub fn undo(&mut self) -> bool {
        let Some(before) = self.undo.pop() else { return false };
        self.redo.push(std::mem::replace(&mut self.now, before));
        true
    }

    /// Returns the changes since `before` that an active method accepts, apart from changes of the scenario.
    pub fn live_changes(&self, before: &Setup) -> Vec<KnobChange> {
        let change = |section, info: &ParamInfo, old: Option<ParamValue>, new: Option<ParamValue>| {
            let new = new.filter(|new| old.as_ref() != Some(new))?;
            let name = info.name.to_string();
            (info.effect == Effect::Live).then_some(KnobChange {
                name,
                index: None,
                section,
                old,
                new,
                effect: info.effect,
                made: true,
            })
        };
        let common = common_params();
        let mut changes: Vec<KnobChange> = common
            .iter()
            .filter_map(|info| {
                change(Section::Common, info, before.common.get(&info.name), self.now.common.get(&info.name))
            })
            .collect();
        for method in &self.methods {
            for info in &method.params {
                let given = |setup: &Setup| {
                    let value =
                        setup.params.get(method.name).and_then(|params| params.get(info.name.as_ref()));
                    value.cloned().or_else(|| info.default.clone())
                };
                if changes.iter().all(|change| change.name != info.name) {
                    changes.extend(change(Section::Params, info, given(before), given(&self.now)));
                }
            }
        }
        changes
    }

    /// Redoes the change that was undone last. Returns `false` if nothing can be redone.
    pub fn redo(&mut self) -> bool {
        let Some(after) = self.redo.pop() else { return false };
        self.undo.push(std::mem::replace(&mut self.now, after));
        true
    }

    /// Returns `true` if there is a change to undo.
    pub fn can_undo(&self) -> bool {
        !self.undo.is_empty()
    }

    /// Returns `true` if there is a change to redo.
    pub fn can_redo(&self) -> bool {
        !self.redo.is_empty()
    }

    /// Stores the settings of a solve.
    pub fn note_solved(&mut self) {
        self.solved = Some(self.now.clone());
    }

    /// Restores a saved setup, and the settings of the newest solve.
    pub fn restore(&mut self, now: Setup, solved: Option<Setup>) {
        self.now = now;
        self.solved = solved;
        self.intern();
    }

    /// Continues the work of the same session before it was renamed, including its undo history.
    pub fn continue_from(&mut self, before: Self) {
        *self = Self { source: std::mem::take(&mut self.source), ..before };
    }

    fn method_choice(&self) -> ParamInfo {
        let mut info =
            ParamInfo::choice("method", &[""], "", "Method that the next solve starts.").effect(Effect::Warm);
        info.domain =
            Domain::Choice { names: self.methods.iter().map(|method| Cow::Borrowed(method.name)).collect() };
        info.default = None;
        info
    }

    fn id_of(&self, name: &str) -> Option<ItemId> {
        self.names.iter().position(|known| known == name).map(|index| index as ItemId)
    }

    /// Assigns a number to the name of every row of the form; the number stays the same as long as the scenario is
    /// open.
    fn intern(&mut self) {
        let mut names: Vec<String> =
            self.now.scenario.every_knob().iter().map(|info| info.name.to_string()).collect();
        names.push(name_param().name.into_owned());
        names.push("method".to_owned());
        names.extend(
            self.methods.iter().flat_map(|method| method.params.iter()).map(|info| info.name.to_string()),
        );
        names.extend(common_params().iter().map(|info| info.name.to_string()));
        for name in names {
            if self.id_of(&name).is_none() {
                self.names.push(name);
            }
        }
    }

    /// Returns the description of a knob of the method that `r` starts, if the method has a knob of this name.
    pub fn param(&self, name: &str) -> Option<&ParamInfo> {
        find(&self.method(&self.now.method)?.params, name)
    }
}
