//! The critical path, and where time is lost on it.

use super::super::facts::{Explained, Facts};
use super::{ms, s};
use crate::analysis::ChainTask;
use lightbay_core::problem::counted;
use lightbay_formats::markdown::{Document, text as safe};
use std::collections::BTreeMap;

/// Rows of the table of losses.
const MOST_ROWS: usize = 12;
/// Tasks of the path that are named at either end.
const ENDS: usize = 4;
/// Losses below are rounding, seconds.
const NOISE_S: f64 = 5e-7;

/// What a task of the critical path loses against the ideal network.
struct Loss {
    task: u32,
    /// With its link to itself it would take so much longer than with NICs alone, seconds.
    circuits_s: f64,
    /// And so much longer because others use the link or its NICs at the same time, seconds.
    sharing_s: f64,
}

impl Loss {
    const fn of(own: &ChainTask) -> Self {
        let ChainTask { task, loses, .. } = own;
        Self { task: *task, circuits_s: loses.too_few_s, sharing_s: loses.contention_s }
    }

    fn total_s(&self) -> f64 {
        self.circuits_s + self.sharing_s
    }
}

pub(super) fn write(document: &mut Document, facts: &Facts, plan: &Explained) {
    let analysis = &plan.analysis;
    let ideal = &facts.setting().evaluator.ideal;
    document.paragraph(&format!(
        "The critical path has {}. They communicate for {} s, against {} s on the critical path of the ideal network;\n\
         the other {} s of the iteration are compute and transfers inside pods, which no circuit can shorten.",
        counted(analysis.path.len() as u64, "transfer", "transfers"),
        s(analysis.chain.comm_s),
        s(ideal.path.comm),
        s(analysis.chain.rigid_s),
    ));
    let name = |task: &u32| safe(&facts.instance().tasks[*task as usize].name);
    let path = &analysis.path;
    let chain: Vec<String> = if path.len() <= 2 * ENDS + 1 {
        path.iter().map(name).collect()
    } else {
        let between = format!("{} more", path.len() - 2 * ENDS);
        let (first, last) = (&path[..ENDS], &path[path.len() - ENDS..]);
        first.iter().map(name).chain(std::iter::once(between)).chain(last.iter().map(name)).collect()
    };
    document.paragraph(&format!("It runs through {}.", chain.join(" → ")));
    let mut losses: Vec<Loss> = analysis.chain.tasks.iter().map(Loss::of).collect();
    losses.retain(|loss| loss.total_s().abs() > NOISE_S);
    if losses.is_empty() {
        document.paragraph("None of them takes longer than on the ideal network.");
        return;
    }
    let sum = |part: fn(&Loss) -> f64| losses.iter().map(part).sum::<f64>();
    let (circuits_s, sharing_s) = (sum(|loss| loss.circuits_s), sum(|loss| loss.sharing_s));
    let mut reasons = Vec::new();
    if circuits_s > NOISE_S {
        reasons.push(format!(
            "{} ms because a link has fewer circuits than the transfer has flows",
            ms(circuits_s)
        ));
    }
    if sharing_s > NOISE_S {
        reasons.push(format!("{} ms because others use the link at the same time", ms(sharing_s)));
    }
    let over_s = analysis.makespan_s - ideal.makespan();
    document.paragraph(&format!(
        "Against the ideal network they lose {} ms together: {}.\nThe iteration is {} ms longer than the ideal one{}",
        ms(circuits_s + sharing_s),
        reasons.join(",\n"),
        ms(over_s),
        if circuits_s + sharing_s > over_s + NOISE_S {
            ": without these losses another path would be the critical one."
        } else {
            "."
        }
    ));
    let mut alike = grouped(facts, plan, losses);
    let together = |losses: &Vec<Loss>| losses.iter().map(Loss::total_s).sum::<f64>();
    alike.sort_by(|a, b| together(b).total_cmp(&together(a)));
    let rows: Vec<Vec<String>> = alike
        .iter()
        .take(MOST_ROWS)
        .filter_map(|losses| {
            let loss = losses.first()?;
            let known = &analysis.tasks[loss.task as usize];
            let task = &facts.instance().tasks[loss.task as usize];
            let link = facts.network().link_of(loss.task);
            let [from, to] = facts.route(facts.network().via[loss.task as usize] as usize).map(safe);
            let others = match losses.len() {
                1 => String::new(),
                count => format!(" and {} alike", count - 1),
            };
            Some(vec![
                format!("{}{others}", safe(&task.name)),
                format!("{from} → {to}"),
                format!("{} on {}", task.flows, analysis.circuits[link]),
                ms(known.takes_s()),
                ms(known.least_s),
                ms(loss.circuits_s),
                ms(loss.sharing_s),
                ms(together(losses)),
            ])
        })
        .collect();
    document.table(
        &[
            "transfer",
            "pods",
            ">flows on circuits",
            ">takes ms",
            ">ideal ms",
            ">lost to circuits ms",
            ">lost to sharing ms",
            ">together ms",
        ],
        &rows,
    );
    let more = alike.len().saturating_sub(MOST_ROWS);
    if more > 0 {
        document.paragraph(&format!("{more} more rows lose no more than the last of these, each."));
    }
}

/// Losses of transfers over the same link that take as long and lose as much, to the microsecond.
fn grouped(facts: &Facts, plan: &Explained, losses: Vec<Loss>) -> Vec<Vec<Loss>> {
    let mut groups: BTreeMap<(u32, [i64; 3]), Vec<Loss>> = BTreeMap::new();
    for loss in losses {
        let takes_s = plan.analysis.tasks[loss.task as usize].takes_s();
        let figures =
            [takes_s, loss.circuits_s, loss.sharing_s].map(|seconds| (seconds * 1e6).round() as i64);
        groups.entry((facts.network().via[loss.task as usize], figures)).or_default().push(loss);
    }
    groups.into_values().collect()
}
