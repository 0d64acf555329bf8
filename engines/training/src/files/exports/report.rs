//! The report of a plan for a review: what was asked, what was found and what of it is proven, why the plan is what it is,
//! and what simpler plans would cost.

use super::facts::{Explained, Facts, link_word};
use super::picture;
use crate::Training;
use crate::plan::RateControl;
use lightbay_core::checked::Checked;
use lightbay_core::problem::counted;
use lightbay_core::quantity;
use lightbay_formats::markdown::{Document, text as safe};

mod asked;
mod compared;
mod prices;
mod trials;
pub(super) mod verdict;
mod why;

/// The file; the picture is in it unless it is said in which file it is.
pub(super) fn text(plan: &Checked<Training>, facts: &Facts, picture: Option<&str>) -> String {
    let mut document = Document::new();
    document.heading(1, &format!("{}: circuits for one training iteration", safe(&facts.name)));
    let verdict: Vec<String> = verdict::lines(plan, facts).iter().map(|line| safe(line)).collect();
    document.paragraph(&verdict.join("\n"));
    if let Some(lead) = compared::lead(facts) {
        document.paragraph(&lead);
    }
    let about = format!("topology and timeline of {}", facts.name);
    match picture {
        Some(file) => document.picture(&about, file),
        None => document.embedded_picture(&about, "image/svg+xml", picture::svg(plan, facts).as_bytes()),
    }
    document.heading(2, "What was asked");
    asked::write(&mut document, plan.plan(), facts);
    match facts.explained() {
        Some(explained) if !explained.analysis.tasks.is_empty() => {
            document.heading(2, "Circuits");
            circuits(&mut document, facts, explained);
            document.heading(2, "Ports");
            ports(&mut document, facts, explained);
            document.heading(2, "Why it takes this long");
            why::write(&mut document, facts, explained);
            document.heading(2, "What other circuits would reach");
            compared::write(&mut document, facts);
            prices::write(&mut document, facts, explained);
            trials::write(&mut document, &plan.plan().scenario.body, facts, explained);
        }
        _ => document.paragraph("Nothing crosses pods: compute alone decides, and no circuit is needed."),
    }
    document.heading(2, "What is proven, and how to check it");
    proof(&mut document, plan, facts);
    document.into_text()
}

/// Seconds as milliseconds to the microsecond.
fn ms(seconds: f64) -> String {
    // What rounds to nothing has no sign.
    format!("{:.3}", (seconds * 1e6).round() / 1e3 + 0.0)
}

/// Seconds with six decimals.
fn s(seconds: f64) -> String {
    format!("{seconds:.6}")
}

/// A whole volume.
fn gigabytes(bytes: i64) -> String {
    format!("{:.3}", bytes as f64 / 1e9)
}

fn circuits(document: &mut Document, facts: &Facts, plan: &Explained) {
    let rows: Vec<Vec<String>> = facts
        .instance()
        .links
        .iter()
        .zip(&plan.analysis.links)
        .enumerate()
        .map(|(index, (link, known))| {
            let [a, b] = facts.ends(index).map(safe);
            let slack = if known.slack_s.is_finite() { ms(known.slack_s) } else { "–".to_owned() };
            vec![
                format!("{a} – {b}"),
                link_word(link.kind).to_owned(),
                known.circuits.to_string(),
                known.bound.to_string(),
                gigabytes(facts.carried_bytes(2 * index)),
                gigabytes(facts.carried_bytes(2 * index + 1)),
                known.peak_flows.to_string(),
                quantity::percent((known.busy * 1e4).round() / 1e4),
                slack,
                if known.holds_up { "yes" } else { "" }.to_owned(),
            ]
        })
        .collect();
    document.table(
        &[
            "pods",
            "carries",
            ">circuits",
            ">useful at most",
            ">GB there",
            ">GB back",
            ">flows at once",
            ">busy",
            ">slack ms",
            "holds up",
        ],
        &rows,
    );
    document.paragraph(
        "*Useful at most*: more circuits than this cannot end the iteration earlier. *Busy*: bytes in the fuller\n\
         direction as a share of what the circuits could carry in the iteration. *Slack*: how much later the most\n\
         urgent transfer could end without delay for the iteration. *Holds up*: transfers of the critical path wait for\n\
         circuits here.",
    );
}

fn ports(document: &mut Document, facts: &Facts, plan: &Explained) {
    let free = facts.network().budget.free(&plan.analysis.circuits);
    let pods = facts.instance().pods.iter().enumerate().filter(|(_, pod)| !pod.mirror);
    let rows: Vec<Vec<String>> = pods
        .map(|(index, pod)| {
            let used = i64::from(pod.ports) - free[index];
            vec![safe(facts.pod(index)), pod.ports.to_string(), used.to_string(), free[index].to_string()]
        })
        .collect();
    document.table(&["pod", ">ports", ">used", ">free"], &rows);
    let mirrors = facts.instance().pods.iter().filter(|pod| pod.mirror).count();
    if mirrors > 0 {
        document.paragraph(&format!(
            "One replica is planned and all others get the same circuits; {} for its neighbours among them.",
            counted(mirrors as u64, "mirror stands", "mirrors stand")
        ));
    }
}

fn proof(document: &mut Document, plan: &Checked<Training>, facts: &Facts) {
    let envelope = plan.plan();
    let mut points = vec![safe(&verdict::proof(plan, facts))];
    let contention = &facts.setting().evaluator.contention;
    points.push(if contention.tail_exact() {
        "Only transfers at the end of the iteration compete with each other, so the makespan of any circuits is \
         computed exactly, not estimated."
            .to_owned()
    } else {
        let reasons: Vec<String> = contention.loose.iter().take(3).map(|reason| safe(&reason.to_string())).collect();
        let more = contention.loose.len().saturating_sub(3);
        let more = if more > 0 { format!(", and {more} reasons more") } else { String::new() };
        format!(
            "Transfers compete before the end of the iteration ({}{more}), so which of them goes first is part of the \
             search.",
            reasons.join("; ")
        )
    });
    points.push(match envelope.result.rate_control {
        RateControl::Joint => {
            "Rates are part of the plan: senders have to keep to the segments of its schedule. Where \
                               they do not, fair sharing decides; the table above says what that costs."
                .to_owned()
        }
        RateControl::Fair => {
            "Nothing controls rates: transfers that share circuits share them fairly.".to_owned()
        }
    });
    points.extend(plan.remarks().iter().map(|remark| safe(remark)));
    points.push(format!(
        "Found by `{}` with seed {} on {} after {}, lightbay {}; {}.",
        safe(&envelope.method),
        envelope.seed,
        counted(envelope.threads as u64, "thread", "threads"),
        quantity::elapsed(envelope.provenance.elapsed_s),
        safe(&envelope.provenance.lightbay_version),
        match &envelope.provenance.not_reproducible_because {
            None => "the same inputs give the same plan again".to_owned(),
            Some(why) => format!("not repeatable: {}", safe(why)),
        }
    ));
    points.push(format!(
        "`lightbay check PLAN --exact` verifies the plan again, with code that shares nothing with the search. SHA-256 of \
         the scenario: `{}`.",
        safe(&envelope.provenance.scenario_sha256)
    ));
    document.list(&points);
}
