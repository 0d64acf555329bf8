//! Kinds, methods, presets and knobs by name.

use crate::solve::unknown_method;
use crate::subject::{AnyScenario, Variants, any_scenario};
use lightbay_core::kind::{Kind, ObjectiveInfo, SweepInfo};
use lightbay_core::listed::{Listed, Preset};
use lightbay_core::method::{Method, MethodInfo};
use lightbay_core::metric::MetricInfo;
use lightbay_core::param::ParamInfo;
use lightbay_core::plan::Header;
use lightbay_core::problem::{Problem, printable, suggestion};
use lightbay_core::quantity;
use lightbay_core::report::{SectionInfo, Unit};
use lightbay_core::scenario::Scenario;
use lightbay_core::standing::{Findings, Standing};
use lightbay_highs::options::has_hipo;
use std::sync::Arc;

/// A kind of scenario.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KindInfo {
    /// Name in files and on the command line.
    pub name: &'static str,
    /// Purpose, in one line.
    pub help: &'static str,
    /// Description of the objective.
    pub objective: ObjectiveInfo,
    /// Method that is used if no method is named, unless the scenario suggests another method.
    pub default_method: &'static str,
    /// Name of a quick method; screens show its plan before the first solve. Empty for none.
    pub preview_method: &'static str,
}

/// A built-in scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PresetInfo {
    /// Kind of the scenario.
    pub kind: &'static str,
    /// Name after `preset:`.
    pub name: &'static str,
    /// Description, in one line.
    pub help: &'static str,
}

fn kind_info<K: Variants>() -> KindInfo {
    KindInfo {
        name: K::NAME,
        help: K::HELP,
        objective: K::OBJECTIVE,
        default_method: K::DEFAULT_METHOD,
        preview_method: K::PREVIEW_METHOD,
    }
}

/// Returns all kinds that are listed.
pub fn kinds() -> Vec<KindInfo> {
    all_kinds!(K => listed::<K, _>(kind_info::<K>)).into_iter().flatten().collect()
}

/// If the kind `K` is listed, calls the function `of` and returns the value of `of`; otherwise returns `None`.
pub(crate) fn listed<K: Listed, T>(of: impl FnOnce() -> T) -> Option<T> {
    K::IS_LISTED.then(of)
}

/// Describes the built-in solver of linear and integer programs: its version, and the optional components that this
/// machine has.
pub fn solver() -> String {
    let hipo = if has_hipo() { "with HiPO" } else { "without HiPO (no libhighs_extras of this version)" };
    format!("HiGHS {}, {hipo}", lightbay_highs::instance::version())
}

/// Returns a kind by name.
pub fn kind(name: &str) -> Option<KindInfo> {
    named_kind!(name, K => Some(kind_info::<K>()), None)
}

/// Returns the methods of a kind; none for an unknown kind.
pub fn methods(kind: &str) -> Vec<MethodInfo> {
    fn infos<K: Variants>() -> Vec<MethodInfo> {
        K::methods().iter().map(|method| method.info()).collect()
    }
    named_kind!(kind, K => infos::<K>(), Vec::new())
}

/// Returns a method by name.
pub fn method(kind: &str, name: &str) -> Option<MethodInfo> {
    methods(kind).into_iter().find(|method| method.name == name)
}

/// Returns the implementation of a method.
pub(crate) fn implementation<K: Variants>(name: &str) -> Result<Arc<dyn Method<K>>, Problem> {
    match K::methods().iter().find(|known| known.info().name == name) {
        Some(method) => Ok(Arc::clone(method)),
        None => Err(unknown_method(K::NAME, name)),
    }
}

/// Returns the scenario knobs of a kind; none for an unknown kind.
pub fn knobs(kind: &str) -> Vec<ParamInfo> {
    named_kind!(kind, K => K::knobs(None), Vec::new())
}

/// Returns every figure that plans of a kind may have in addition to the objective, including derived figures, in the
/// order of the tables; none for an unknown kind.
pub fn metrics(kind: &str) -> &'static [MetricInfo] {
    named_kind!(kind, K => K::METRICS, &[])
}

/// Returns a figure of a kind by name.
pub fn metric(kind: &str, name: &str) -> Option<MetricInfo> {
    metrics(kind).iter().find(|metric| metric.name == name).copied()
}

/// Returns every section that explains scenarios and plans of a kind, in the order in which an overview shows the
/// sections; none for an unknown kind.
pub fn sections(kind: &str) -> &'static [SectionInfo] {
    named_kind!(kind, K => K::SECTIONS, &[])
}

/// Returns the sweeps that the workbench offers for a kind; for an unknown kind, the sweeps that every kind has.
pub fn sweeps(kind: &str) -> SweepInfo {
    named_kind!(kind, K => K::SWEEPS, SweepInfo::ANY)
}

/// Description of a figure of a plan: its objective or one of its metrics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FigureInfo {
    /// Name with unit, as in files.
    pub name: &'static str,
    /// Name of the figure for people.
    pub label: &'static str,
    /// Unit of the number.
    pub unit: Unit,
    /// Definition, in one sentence.
    pub definition: &'static str,
}

/// Returns the objective or a metric of a kind by name.
pub fn figure(kind: &str, name: &str) -> Option<FigureInfo> {
    let objective = self::kind(kind)?.objective;
    if objective.name == name {
        let ObjectiveInfo { name, label, unit, definition, .. } = objective;
        return Some(FigureInfo { name, label, unit, definition });
    }
    let MetricInfo { name, label, unit, definition, .. } = metric(kind, name)?;
    Some(FigureInfo { name, label, unit, definition })
}

/// Returns the name of a figure for people; its name in files if the kind does not declare it.
pub fn figure_label(kind: &str, name: &str) -> String {
    figure(kind, name).map_or_else(|| printable(name), |figure| figure.label.to_owned())
}

/// Formats a value of a figure with its unit; a plain number if the kind does not declare the figure.
pub fn figure_text(kind: &str, name: &str, value: f64) -> String {
    figure(kind, name)
        .map_or_else(|| quantity::number(value), |figure| quantity::with_unit(value, figure.unit))
}

/// Formats a bound on the objective of a kind with its unit; the rounding never makes the bound look tighter than it
/// is.
pub fn bound_text(kind: &str, bound: f64) -> String {
    self::kind(kind).map_or_else(|| quantity::number(bound), |kind| kind.objective.bound_with_unit(bound))
}

/// Returns the bounds on a plan of which only the envelope (`header`) is known. `findings` are the results of an
/// earlier check of the plan; without them, all bounds count as claimed.
pub fn saved_standing(header: &Header, findings: Option<&Findings>) -> Option<Standing> {
    named_kind!(&*header.kind, K => Some(Standing::saved::<K>(header, findings)), None)
}

/// Returns `true` if a bound holds for every plan of a scenario of the kind. `covers` is the name of the set of plans
/// for which the bound holds.
pub fn covers_all(kind: &str, covers: &str) -> bool {
    named_kind!(kind, K => K::covers_all(covers), false)
}

/// Describes the problem that a method solves, if the method does not optimise the objective of the kind; otherwise
/// returns `None`.
pub fn other_question(kind: &str, method: &str) -> Option<&'static str> {
    named_kind!(kind, K => K::other_question(method), None)
}

/// Returns all built-in scenarios, by kind. Further scenarios of some families of presets are not listed, because there
/// are too many.
pub fn presets() -> Vec<PresetInfo> {
    fn of<K: Variants>() -> Vec<PresetInfo> {
        let info = |preset: Preset| PresetInfo { kind: K::NAME, name: preset.name, help: preset.help };
        K::presets().into_iter().map(info).collect()
    }
    all_kinds!(K => listed::<K, _>(of::<K>)).into_iter().flatten().flatten().collect()
}

/// Returns a built-in scenario.
///
/// # Errors
/// An unknown name, with the nearest valid name.
pub fn preset(name: &str) -> Result<AnyScenario, Problem> {
    fn of<K: Variants>(name: &str) -> Option<AnyScenario> {
        K::preset(name).map(|body| any_scenario::<K>(Scenario::new(name.to_owned(), body)))
    }
    all_kinds!(K => of::<K>(name)).into_iter().flatten().next().ok_or_else(|| {
        let names: Vec<&str> = presets().iter().map(|preset| preset.name).collect();
        Problem::new("", format!("preset '{name}' does not exist"), suggestion(name, &names))
    })
}
