//! The plan when compute takes other times than planned and when a circuit fails.

use super::super::facts::{Explained, Facts};
use crate::TrainingScenario;
use crate::analysis::robustness::{Ends, Robustness, Trials};
use lightbay_core::watch::Unwatched;
use lightbay_formats::markdown::{Document, text as safe};

/// Random draws: enough for a mean, few enough for large jobs.
const DRAWS: u32 = 20;

/// A table of what goes wrong, with how much longer an iteration takes.
pub(super) fn write(document: &mut Document, scenario: &TrainingScenario, facts: &Facts, plan: &Explained) {
    let trials = Trials { draws: DRAWS, failures: 1, ..Trials::default() };
    let circuits = &plan.analysis.circuits;
    let Ok(tried) = Robustness::new(scenario, facts.setting(), circuits, trials, &mut Unwatched::default())
    else {
        return;
    };
    let planned = tried.planned;
    let longer = |seconds: f64, from: f64| format!("{:+.3}", ((seconds - from) * 1e6).round() / 1e3 + 0.0);
    let row = |what: String, ends: Ends| {
        vec![what, longer(ends.joint_s, planned.joint_s), longer(ends.fair_s, planned.fair_s)]
    };
    let mut rows = Vec::new();
    if let Some((joint, fair)) = &tried.jitter {
        let what = format!("every compute varies by ±{:.0} %, {DRAWS} samples", trials.jitter * 100.0);
        rows.push(row(format!("{what}: mean"), Ends { joint_s: joint.mean_s, fair_s: fair.mean_s }));
        rows.push(row(format!("{what}: longest"), Ends { joint_s: joint.worst_s, fair_s: fair.worst_s }));
    }
    let later = |a: &Ends, b: &Ends| a.joint_s.total_cmp(&b.joint_s);
    if let Some(slow) = tried.slow.iter().max_by(|a, b| later(&a.ends, &b.ends)) {
        let place = if tried.by_stage {
            format!("stage {}", slow.place + 1)
        } else {
            format!("pod {}", safe(facts.pod(slow.place as usize)))
        };
        let factor = (trials.slow_factor - 1.0) * 100.0;
        rows.push(row(format!("one computes {factor:.0} % longer, at worst {place}"), slow.ends));
    }
    for failure in &tried.circuits {
        let [a, b] = facts.ends(failure.link as usize).map(safe);
        let what = match failure.circuits {
            1 => format!("the only circuit {a} – {b} fails"),
            circuits => format!("one of {circuits} circuits {a} – {b} fails"),
        };
        rows.push(match failure.ends {
            Some(ends) => row(what, ends),
            None => vec![what, "cut off".to_owned(), "cut off".to_owned()],
        });
    }
    if rows.is_empty() {
        return;
    }
    document.heading(2, "When things go wrong");
    document.table(&["what", ">ms longer at scheduled rates", ">ms longer at max-min fair rates"], &rows);
    document.paragraph(
        "The circuits stay as they are; rates adapt. Of replicas that are planned as one, a circuit fails in\n\
         one of them; the others wait for it when gradients are exchanged.",
    );
}
