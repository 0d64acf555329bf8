//! Compares plans: the inputs that differ, and the results that are better or worse.
//!
//! The first plan is the reference. Differences come first (scenario knobs, parameters, origin of the plans), then the
//! objective and the metrics with signed difference, percentage and verdict. Two figures within the tolerance are a
//! tie; the table states the tolerance.

use crate::error::SessionError;
use lightbay_core::kind::{ObjectiveInfo, Sense};
use lightbay_core::metric::{self, MetricInfo, Role};
use lightbay_core::param::ParamValue;
use lightbay_core::plan::{Header, Objective};
use lightbay_core::quantity;
use lightbay_core::report::Unit;
use lightbay_core::standing::{KnownBound, NO_BOUND, Standing};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

mod apart;
mod pages;
#[cfg(test)]
mod tests;
mod text;

pub use apart::{Apart, NotRanked};

/// Default relative tolerance below which two figures are a tie.
pub const TOLERANCE: f64 = 1e-9;

/// A plan to be compared.
#[derive(Clone, Copy, Debug)]
pub struct ComparedPlan<'a> {
    /// Name of the plan: a file name, `plan 7`.
    pub label: &'a str,
    /// Everything but scenario and result.
    pub header: &'a Header,
    /// The bounds on the plan, and for each bound whether the checker proved it or a method claims it.
    pub standing: &'a Standing,
    /// Knobs of the plan's scenario, with their values.
    pub knobs: &'a [(String, ParamValue)],
    /// Description of the problem that the plan's method solves, if the method does not optimise the objective of its
    /// kind.
    pub other_question: Option<&'a str>,
    /// Differences between the scenarios of this plan and of the first plan, other than knobs; `None` for the first
    /// plan.
    pub apart: Option<&'a Apart>,
}

/// Owner of a setting: the part of the input to which the setting belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// A knob of the scenario, or another field of the scenario.
    Scenario,
    /// The origin of the scenario: files, assumptions.
    Origin,
    /// A parameter of the method.
    Parameter,
    /// The origin of the plan: method, status, seed, threads.
    Plan,
}

impl Scope {
    /// Returns the word used in files and on screen.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Scenario => "scenario",
            Self::Origin => "origin",
            Self::Parameter => "parameter",
            Self::Plan => "plan",
        }
    }
}

/// A setting in which the plans differ.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SettingDifference {
    /// Owner of the setting.
    pub scope: Scope,
    /// Name of the setting.
    pub name: String,
    /// Value of the setting in each plan; `None` if the plan does not have it.
    pub values: Vec<Option<ParamValue>>,
}

/// Verdict on a figure of a plan, compared with the same figure of the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The figure is better.
    Better,
    /// The figure is worse.
    Worse,
    /// The figures are equal within the tolerance.
    Tie,
    /// The figures differ, but neither a larger nor a smaller value counts as better.
    Different,
}

impl Verdict {
    /// Returns the word used in files and on screen.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Tie => "tie",
            Self::Different => "different",
        }
    }
}

/// A figure of a plan, compared with the same figure of the reference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MetricChange {
    /// Figure of the plan minus figure of the reference.
    pub difference: f64,
    /// The difference as a percentage of the magnitude of the reference's figure; `None` if this figure is 0.
    pub percent: Option<f64>,
    /// Verdict on the figure.
    pub verdict: Verdict,
}

/// Form in which people read a figure.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum FigureForm {
    /// A number without a known unit.
    #[default]
    Plain,
    /// A number with a unit.
    Unit(Unit),
    /// A bound on the objective, rounded to the safe side.
    Bound(ObjectiveInfo),
    /// A gap, in per cent.
    Gap,
    /// The duration of a run.
    Elapsed,
}

impl Figure {
    /// Formats a value of the figure with its unit.
    pub fn text(&self, value: f64) -> String {
        match &self.form {
            FigureForm::Plain => quantity::number(value),
            FigureForm::Unit(unit) => quantity::with_unit(value, *unit),
            FigureForm::Bound(objective) => objective.bound_with_unit(value),
            FigureForm::Gap => quantity::gap(value),
            FigureForm::Elapsed => quantity::elapsed(value),
        }
    }
}

/// A figure, with its value in every plan.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Figure {
    /// Name with unit.
    pub name: String,
    /// Name for people.
    #[serde(skip)]
    pub label: String,
    /// Form in which people read the values.
    #[serde(skip)]
    pub form: FigureForm,
    /// Role of the figure: only outcomes are judged.
    pub role: Role,
    /// Direction in which the figure improves, for an outcome with a known direction.
    pub sense: Option<Sense>,
    /// Value of the figure in each plan; `None` if the plan does not have it.
    pub values: Vec<Option<f64>>,
    /// Comparisons with the reference, one for each further plan; `None` where either value is missing.
    pub changes: Vec<Option<MetricChange>>,
}

/// Proven bounds and gaps of a plan, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Proof {
    /// Trust in the bound whose gap is listed: `verified` or `claimed`, followed by `for some plans` if the bound covers only
    /// some plans.
    pub word: &'static str,
    /// Gap for each bound, with the trust in the bound: `28.6 % verified (0.00 % claimed)`.
    pub gaps: String,
    /// Every bound, with the plans for which it holds.
    pub words: String,
}

impl Proof {
    fn of(standing: &Standing) -> Self {
        let word = standing.leading().map_or(NO_BOUND, KnownBound::word);
        Self { word, gaps: standing.brief(), words: standing.words(false) }
    }
}

/// A table that compares plans. The columns are the plans; the first plan is the reference.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CompareTable {
    /// Kind of all plans.
    pub kind: String,
    /// Names of the plans.
    pub labels: Vec<String>,
    /// Plans that are listed but not ranked, because they solve a different problem.
    pub not_ranked: Vec<NotRanked>,
    /// Knobs in which scenarios of ranked plans differ, although they define different problems.
    pub varied: Vec<String>,
    /// Settings that differ.
    pub settings: Vec<SettingDifference>,
    /// The objective, its bound and gap, then the metrics in the order in which the kind declares them.
    pub figures: Vec<Figure>,
    /// Proven bounds of each plan, in words.
    pub proofs: Vec<Proof>,
    /// Relative tolerance below which two figures are a tie.
    pub tolerance: f64,
}

impl CompareTable {
    /// Returns a note if plans of scenarios with different knobs are ranked.
    pub fn varied_sentence(&self) -> Option<String> {
        let is_one = self.varied.len() == 1;
        let what = if is_one { "the parameter" } else { "the parameters" };
        let is_said = !self.varied.is_empty() && self.not_ranked.len() + 1 < self.labels.len();
        is_said.then(|| {
            format!(
                "The scenarios differ in {what} {}; figures are ranked nevertheless.",
                self.varied.join(", ")
            )
        })
    }
}

/// Compares plans. `metrics` are the figures that the kind of the plans declares. Bounds, inputs and effort are listed
/// but not judged. A plan whose method solves a different problem is not judged either.
///
/// # Errors
/// [`SessionError::TooFew`] for fewer than two plans, [`SessionError::Kinds`] for plans of different kinds.
pub fn compare(
    subjects: &[ComparedPlan<'_>],
    tolerance: f64,
    metrics: &[MetricInfo],
) -> Result<CompareTable, SessionError> {
    let [first, rest @ ..] = subjects else { return Err(SessionError::TooFew { count: 0 }) };
    if rest.is_empty() {
        return Err(SessionError::TooFew { count: 1 });
    }
    if let Some(other) = rest.iter().find(|other| other.header.kind != first.header.kind) {
        return Err(SessionError::Kinds {
            label: first.label.to_owned(),
            kind: first.header.kind.clone(),
            other: other.label.to_owned(),
            other_kind: other.header.kind.clone(),
        });
    }
    let settings = settings(subjects);
    let not_ranked: Vec<NotRanked> = subjects.iter().filter_map(apart::not_ranked).collect();
    let varied = apart::varied(subjects, &settings);
    Ok(CompareTable {
        kind: first.header.kind.clone(),
        labels: subjects.iter().map(|subject| subject.label.to_owned()).collect(),
        not_ranked,
        varied,
        settings,
        figures: figures(subjects, tolerance, metrics),
        proofs: subjects.iter().map(|subject| Proof::of(subject.standing)).collect(),
        tolerance,
    })
}

fn settings(subjects: &[ComparedPlan<'_>]) -> Vec<SettingDifference> {
    let mut rows = Vec::new();
    let mut row = |scope, name: &str, values: Vec<Option<ParamValue>>| {
        if values.windows(2).any(|pair| !same(pair[0].as_ref(), pair[1].as_ref())) {
            rows.push(SettingDifference { scope, name: name.to_owned(), values });
        }
    };
    // Knobs are in the order of the first plan that has them, which is the order of forms and help.
    let mut seen = BTreeSet::new();
    for (name, _) in subjects.iter().flat_map(|subject| subject.knobs) {
        if seen.insert(name.as_str()) {
            let value = |subject: &ComparedPlan<'_>| {
                subject.knobs.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
            };
            row(Scope::Scenario, name, subjects.iter().map(value).collect());
        }
    }
    for (scope, name, values) in apart::rows(subjects) {
        row(scope, name, values);
    }
    let names: BTreeSet<&str> =
        subjects.iter().flat_map(|subject| subject.header.parameters.iter().map(|(name, _)| name)).collect();
    for name in names {
        // The seed is shown once, with the origin of the plan.
        if name != "seed" {
            let value = |subject: &ComparedPlan<'_>| subject.header.parameters.get(name).cloned();
            row(Scope::Parameter, name, subjects.iter().map(value).collect());
        }
    }
    let text = |text: &str| Some(ParamValue::Text(text.to_owned()));
    let each = |value: &dyn Fn(&Header) -> Option<ParamValue>| {
        subjects.iter().map(|subject| value(subject.header)).collect()
    };
    row(Scope::Plan, "method", each(&|header| text(&header.method)));
    let status = |subject: &ComparedPlan<'_>| text(&subject.standing.status());
    row(Scope::Plan, "status", subjects.iter().map(status).collect());
    row(Scope::Plan, "seed", each(&|header| Some(ParamValue::Int(header.seed as i64))));
    row(Scope::Plan, "threads", each(&|header| Some(ParamValue::Int(header.threads as i64))));
    rows
}

/// Returns `true` if two values mean the same number, such as 4 and 4.0.
fn same(a: Option<&ParamValue>, b: Option<&ParamValue>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => a == b,
            _ => a == b,
        },
        (None, None) => true,
        _ => false,
    }
}

fn figures(subjects: &[ComparedPlan<'_>], tolerance: f64, metrics: &[MetricInfo]) -> Vec<Figure> {
    let mut rows = Vec::new();
    let mut row =
        |names: (&str, &str, FigureForm), role: Role, sense: Option<Sense>, values: Vec<Option<f64>>| {
            let (name, label, form) = names;
            if values.iter().all(Option::is_none) {
                return;
            }
            let sense = sense.filter(|_| role.is_judged());
            let reference = values[0];
            let changes = values[1..]
                .iter()
                .zip(&subjects[1..])
                .map(|(value, subject)| {
                    let asked_the_same = subject.other_question.is_none()
                        && subjects[0].other_question.is_none()
                        && !subject.apart.is_some_and(Apart::is_other_question);
                    Some(change(reference?, (*value)?, sense.filter(|_| asked_the_same), tolerance))
                })
                .collect();
            rows.push(Figure {
                name: name.to_owned(),
                label: label.to_owned(),
                form,
                role,
                sense,
                values,
                changes,
            });
        };
    let each = |value: &dyn Fn(&Header) -> Option<f64>| {
        subjects.iter().map(|subject| value(subject.header)).collect()
    };
    let objective = &subjects[0].header.objective;
    let value = each(&|header| Some(header.objective.value));
    let of_kind = *subjects[0].standing.objective();
    let names = (objective.name.as_str(), of_kind.label, FigureForm::Unit(of_kind.unit));
    row(names, Role::Result, Some(objective.sense), value);
    let leading: Vec<Option<&KnownBound>> =
        subjects.iter().map(|subject| subject.standing.leading()).collect();
    let bound = ("bound", "bound", FigureForm::Bound(of_kind));
    row(bound, Role::Bound, None, leading.iter().map(|bound| Some(bound.as_ref()?.value)).collect());
    let gap = ("gap", "gap", FigureForm::Gap);
    row(gap, Role::Bound, None, leading.iter().map(|bound| Some(bound.as_ref()?.gap)).collect());
    let names: BTreeSet<&String> =
        subjects.iter().flat_map(|subject| subject.header.metrics.keys()).collect();
    // Figures that the kind declares are in the order of the kind. A derived figure is listed only if the kind declares
    // a comparison for it.
    for info in metrics.iter().filter(|info| info.is_carried() || info.comparison.is_some()) {
        let of = |header: &Header| {
            let Objective { value, bound, .. } = header.objective;
            info.of(&metric::Figures { value, bound, metrics: &header.metrics })
        };
        row((info.name, info.label, FigureForm::Unit(info.unit)), info.role, info.sense, each(&of));
    }
    // The direction of an undeclared figure is unknown.
    for name in names.into_iter().filter(|name| metrics.iter().all(|info| info.name != name.as_str())) {
        let value = each(&|header| header.metrics.get(name).copied());
        row((name, name, FigureForm::Plain), Role::Result, None, value);
    }
    let elapsed = ("elapsed_s", "elapsed", FigureForm::Elapsed);
    row(elapsed, Role::Effort, None, each(&|header| Some(header.provenance.elapsed_s)));
    rows
}

/// Compares a figure with the same figure of the reference; returns difference, percentage and verdict.
pub fn change(reference: f64, value: f64, sense: Option<Sense>, tolerance: f64) -> MetricChange {
    let difference = value - reference;
    let scale = reference.abs().max(value.abs());
    let verdict = if reference == value || difference.abs() <= tolerance * scale {
        Verdict::Tie
    } else {
        match sense {
            Some(sense) if sense.better(value, reference) => Verdict::Better,
            Some(sense) if sense.better(reference, value) => Verdict::Worse,
            _ => Verdict::Different,
        }
    };
    let percent = (reference != 0.0).then(|| 100.0 * difference / reference.abs());
    MetricChange { difference, percent, verdict }
}
