//! Scenarios from plans of other kinds, by the neutral records of the core. Nothing else joins kinds.

use crate::formats::listed;
use crate::listed::Listed;
use crate::subject::{AnyPlan, AnyScenario};
use lightbay_core::checked::Checked;
use lightbay_core::exchange::{CircuitMatrix, CircuitPlaces, DerivedFrom};
use lightbay_core::json;
use lightbay_core::kind::Kind;
use lightbay_core::param::{ParamInfo, ParamValue, Setting};
use lightbay_core::problem::{Problem, Problems, counted};
use lightbay_core::scenario::Scenario;
use lightbay_crossconnect::Crossconnect;
use lightbay_crossconnect::files::handover::{self, Hall};
use lightbay_crossconnect::scenario::{MAX_OCS, Wiring};
use std::sync::Arc;

/// Knob that names the plan whose circuits are wanted.
const FROM: &str = "from";
/// Knob that names the plan that is installed.
const INSTALLED_FROM: &str = "installed_from";
/// Knob that keeps circuits at their switch and ports.
const KEEP_PORTS: &str = "keep_ports";
/// Knob of the number of switches.
const OCS_COUNT: &str = "ocs_count";
/// Knob of scenarios that says what ports may meet.
const WIRING: &str = "wiring";

/// What `lightbay new KIND` takes to make a scenario from plans.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversion {
    /// Knobs whose values name plans; the first one has to be given.
    pub plans: Vec<ParamInfo>,
    /// Other knobs.
    pub own: Vec<ParamInfo>,
    /// Knobs of the scenario that shape it from the beginning.
    pub early: Vec<ParamInfo>,
}

/// A scenario made from plans.
#[derive(Clone, Debug)]
pub struct Converted {
    /// The scenario, valid.
    pub scenario: AnyScenario,
    /// What a person should know about how it was made, one sentence each.
    pub notes: Vec<String>,
}

/// How scenarios of a kind are made from plans; `None` if they are not.
pub fn conversion(kind: &str) -> Option<Conversion> {
    (kind == Crossconnect::NAME).then(|| Conversion {
        plans: vec![
            ParamInfo::text(FROM, "Plan whose circuits are wanted, over all replicas of a training job."),
            ParamInfo::text(
                INSTALLED_FROM,
                "Plan of kind crossconnect that is carried out: what it keeps and adds is installed.",
            ),
        ],
        own: vec![
            ParamInfo::int(
                OCS_COUNT,
                1,
                MAX_OCS as i64,
                1,
                "Switches over which the ports of every pod are spread evenly. Default: those of 'installed_from', or the \
                 largest number up to 16 that divides the ports.",
            )
            .derived(),
            ParamInfo::bool(
                KEEP_PORTS,
                false,
                "Whether every circuit stays at the switch and ports where the plan has it; else switches and ports are chosen \
                 anew. Default: true where every port is wired to one switch, as in a TPU pod.",
            )
            .derived(),
        ],
        early: Crossconnect::knobs(None).into_iter().filter(|knob| knob.name == WIRING).collect(),
    })
}

/// Makes a scenario of a kind from plans, given by the names of [`Conversion::plans`], and settings of
/// [`Conversion::own`] and [`Conversion::early`].
///
/// # Errors
/// Everything that does not fit.
pub fn convert(kind: &str, plans: &[(String, AnyPlan)], settings: &[Setting]) -> Result<Converted, Problems> {
    let Some(conversion) = conversion(kind) else {
        let problem =
            Problem::new("", format!("a scenario of kind {kind} cannot be made from plans"), "give a preset");
        return Err(problem.into());
    };
    let own = parsed(&[conversion.own, conversion.early].concat(), settings)?;
    let plan = |name: &str| plans.iter().find(|(given, _)| given == name).map(|(_, plan)| plan);
    let Some(from) = plan(FROM) else {
        let problem = Problem::new(
            FROM,
            "is missing",
            "give the plan whose circuits are wanted, such as one of kind training: --set from=PLAN",
        );
        return Err(problem.into());
    };
    crossconnect(from, plan(INSTALLED_FROM), &own)
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

fn crossconnect(
    from: &AnyPlan,
    installed: Option<&AnyPlan>,
    own: &[(String, ParamValue)],
) -> Result<Converted, Problems> {
    let matrix = circuits(from)?;
    let installed = match installed {
        None => None,
        Some(AnyPlan::Crossconnect(plan)) => Some(plan.plan()),
        Some(other) => {
            let kind = other.scenario().kind();
            let problem = Problem::new(
                INSTALLED_FROM,
                format!("is a plan of kind {kind}"),
                "give a plan of kind crossconnect, which says what is set on the switches",
            );
            return Err(problem.into());
        }
    };
    let value = |name: &str| own.iter().find(|(known, _)| known == name).map(|(_, value)| value);
    let asked = match value(KEEP_PORTS) {
        Some(ParamValue::Bool(keep)) => Some(*keep),
        _ => None,
    };
    let kept = places(&matrix, asked)?;
    let mut hall = installed.map_or_else(|| Hall::suited(&matrix), |plan| Hall::of(&plan.scenario.body));
    if let (Some(kept), None) = (kept, installed) {
        hall.ocs_count = kept.ports_a.first().map_or(0, Vec::len) as u32;
    }
    if let Some(ParamValue::Int(count)) = value(OCS_COUNT) {
        hall.ocs_count = *count as u32;
    }
    if let Some(word) = value(WIRING).map(ToString::to_string) {
        let known = Wiring::ALL.iter().find(|(known, _)| *known == word);
        hall.wiring = known.map_or(hall.wiring, |(_, wiring)| *wiring);
    }
    let mut handed = match kept {
        Some(kept) => handover::placed(&matrix, kept, hall)?,
        None => handover::scenario(&matrix, hall)?,
    };
    handed.notes.extend(left_out(&matrix, kept.is_some()));
    if let Some(plan) = installed {
        let Some(changes) = plan.result.changes() else {
            let problem = Problem::new(
                INSTALLED_FROM,
                "is an order of phases and sets no switch",
                "give a plan of another method",
            );
            return Err(problem.into());
        };
        handed = handover::install(handed, &plan.scenario.body, changes)?;
    }
    let header = from.header();
    let written = |error: json::WriteError| Problem::new(FROM, error.to_string(), "correct the plan");
    let mut body = handed.scenario;
    body.predicted_makespan_s = (header.objective.name == "makespan_s").then_some(header.objective.value);
    body.derived_from = Some(DerivedFrom {
        kind: header.kind,
        scenario_sha256: from.scenario().sha256().map_err(written)?,
        plan_sha256: json::sha256_hex(&from.to_json().map_err(written)?),
    });
    let scenario = Scenario { name: header.name, body };
    Ok(Converted { scenario: AnyScenario::Crossconnect(Arc::new(scenario)), notes: handed.notes })
}

/// Where the circuits are to stay; `None` if switches and ports are to be chosen anew.
fn places(matrix: &CircuitMatrix, asked: Option<bool>) -> Result<Option<&CircuitPlaces>, Problem> {
    match (&matrix.places, asked) {
        (None, Some(true)) => Err(Problem::new(
            KEEP_PORTS,
            "is true, but the plan says between which pods its circuits run and not at which switch and ports",
            "leave it out, or give a plan of a TPU pod or of two-sided switches",
        )),
        (Some(places), asked) if asked.unwrap_or(places.fixed) => Ok(Some(places)),
        _ => Ok(None),
    }
}

/// What of the plan does not reach the scenario, one sentence each.
fn left_out(matrix: &CircuitMatrix, kept: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if let (Some(places), false) = (&matrix.places, kept) {
        let inside = places.circuits.iter().filter(|circuit| circuit.pod_a == circuit.pod_b).count() as u64;
        let loops = if inside == 0 {
            String::new()
        } else {
            format!(", and {} a pod to itself left out", counted(inside, "circuit of", "circuits of"))
        };
        notes.push(format!(
            "switch and ports of the {} in the plan are not kept{loops}: they are chosen anew; {KEEP_PORTS}=true keeps them",
            counted(places.circuits.len() as u64, "circuit", "circuits")
        ));
    }
    notes.extend(listed("not in the scenario but in the plan", &matrix.left_out));
    notes
}

/// The circuits of a plan between pods.
fn circuits(plan: &AnyPlan) -> Result<CircuitMatrix, Problem> {
    fn of<K: Listed>(plan: &Checked<K>) -> Option<CircuitMatrix> {
        K::circuits(plan.plan())
    }
    each_kind!(plan, AnyPlan, plan => of(plan)).ok_or_else(|| {
        Problem::new(
            FROM,
            format!("is a plan of kind {} without circuits between the pods of all replicas", plan.scenario().kind()),
            "give a plan that lays circuits, such as one for a training job (not for an instance with mirrors)",
        )
    })
}
