//! Switch command formats for kinds whose plans assign circuits to switch ports. The commands come from a
//! `crossconnect` scenario with the same ports: the commands change the installed circuits to the circuits of the plan.

use super::{Artifact, FormatInfo, SecondSubject, Subject, SubjectSort};
use crate::crossconnect::files::exports::laid;
use lightbay_core::checked::SharedPlan;
use lightbay_core::exchange::{CircuitMatrix, DerivedFrom, PlacedCircuit};
use lightbay_core::json;
use lightbay_core::listed::{Lays, Listed as _};
use lightbay_core::param::{ParamInfo, Params};
use lightbay_core::problem::{Problem, Problems};

/// Name of the parameter that selects the layer whose circuits are set.
const LAYER: &str = "layer";
/// Maximum value of [`LAYER`].
const MOST_LAYERS: i64 = 1 << 20;
/// Number of layers that are tried if [`LAYER`] is not given; models have fewer layers.
const SCANNED: u32 = 4096;

/// Returns the switch command formats of a kind.
pub(super) fn exporters(kind: &str) -> Vec<FormatInfo> {
    let lays = named_kind!(kind, K => K::LAYS, Lays::Nothing);
    let format = |mut info: FormatInfo| {
        info.of = SubjectSort::Plan;
        match lays {
            Lays::Nothing => {}
            Lays::Once => {
                info.against = Some(SecondSubject {
                    of: SubjectSort::Plan,
                    help: "the plan whose circuits are installed, except those at ports that failed in it; without it, the files assume that the switches hold no circuits",
                    replaces: None,
                });
            }
            Lays::ByLayer => {
                info.folder = true;
                let help = "Layer whose circuits are set; the commands start from the circuits of the previous layer. Default: all layers, each in its own files.";
                info.params.push(ParamInfo::int(LAYER, 0, MOST_LAYERS, 0, help).derived());
            }
        }
        info
    };
    match lays {
        Lays::Nothing => Vec::new(),
        Lays::Once | Lays::ByLayer => laid::exporters().into_iter().map(format).collect(),
    }
}

/// Writes a plan in one of [`exporters`]; `None` for other formats.
pub(super) fn export(
    subject: Subject<'_>,
    against: Option<Subject<'_>>,
    format: &str,
    params: &Params,
) -> Option<Result<Vec<Artifact>, Problems>> {
    exporters(subject.kind()).iter().find(|info| info.name == format)?;
    let Subject::Plan(plan) = subject else { return None };
    let plan = plan.shared();
    let before = match against {
        Some(Subject::Plan(before)) => before.shared().circuits(),
        _ => None,
    };
    let lays = named_kind!(subject.kind(), K => K::LAYS, Lays::Nothing);
    Some(if lays == Lays::ByLayer {
        by_layer(&plan, format, params)
    } else {
        once(&plan, before.as_ref(), format, params)
    })
}

fn once(
    plan: &SharedPlan,
    before: Option<&CircuitMatrix>,
    format: &str,
    params: &Params,
) -> Result<Vec<Artifact>, Problems> {
    let matrix = plan.circuits().ok_or_else(no_circuits)?;
    let installed: Option<Vec<PlacedCircuit>> =
        before.and_then(|before| before.places.as_ref()).map(|places| places.working().copied().collect());
    if let Some(before) = before.filter(|before| before.pods.len() != matrix.pods.len()) {
        let message = format!("has {} pods, but the plan has {}", before.pods.len(), matrix.pods.len());
        return Err(Problem::new("against", message, "give a plan for the same pods").into());
    }
    laid::export(&plan.header().name, &matrix, installed.as_deref(), from(plan)?, format, params)
}

fn by_layer(plan: &SharedPlan, format: &str, params: &Params) -> Result<Vec<Artifact>, Problems> {
    let asked = params.int(LAYER).and_then(|layer| u32::try_from(layer).ok());
    let name = plan.header().name;
    let of = |layer: u32| plan.circuits_of_layer(layer).map(|matrix| (layer, matrix));
    let layers: Vec<(u32, CircuitMatrix)> = match asked {
        Some(layer) => of(layer).into_iter().collect(),
        None => (0..SCANNED).filter_map(of).collect(),
    };
    if layers.is_empty() {
        return Err(match asked.filter(|_| of(0).is_some()) {
            Some(layer) => {
                let message = format!("is {layer}, a layer without circuits in the plan");
                Problem::new(LAYER, message, "give a number from 0, or leave it out for all layers")
            }
            None => no_circuits(),
        }
        .into());
    }
    let digits = layers.iter().map(|(layer, _)| *layer).max().unwrap_or(0).to_string().len();
    let mut artifacts = Vec::new();
    for (layer, matrix) in &layers {
        let places = matrix.places.as_ref();
        let before = places.and_then(|places| places.before.as_deref());
        let changes = places.is_none_or(|places| {
            let mut before = before.unwrap_or_default().to_vec();
            before.sort_unstable();
            before != places.circuits
        });
        // A layer without circuit changes does not need a file.
        if changes || asked.is_some() {
            let name = format!("{name}.layer-{layer:0digits$}");
            artifacts.extend(laid::export(&name, matrix, before, from(plan)?, format, params)?);
        }
    }
    if artifacts.is_empty() {
        let remedy = "set layer= and full=true for the state of one layer";
        return Err(Problem::new("", "no layer changes a circuit", remedy).into());
    }
    Ok(artifacts)
}

fn from(plan: &SharedPlan) -> Result<DerivedFrom, Problem> {
    Ok(DerivedFrom {
        kind: plan.header().kind,
        scenario_sha256: plan.scenario_sha256().to_owned(),
        plan_sha256: json::sha256_hex(&plan.to_json()?),
    })
}

fn no_circuits() -> Problem {
    Problem::new(
        "to",
        "the plan has no circuits on switches",
        "give a plan that assigns circuits to switches",
    )
}
