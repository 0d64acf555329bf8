//! Differences of two training plans beyond their figures: circuits link by link, and the times of the gradients.

use super::links;
use crate::app::plans::PlanEntry;
use crate::view::present::{CompareBlocks, CompareRow};
use lightbay_engines::AnyPlan;
use lightbay_engines::training::TrainingScenario;
use lightbay_engines::training::plan::TrainingResult;
use lightbay_engines::training::scenario::instance::{Instance, TaskKind};
use lightbay_widgets::{PairRow, Piece, Tone, number};

/// Circuits and gradients of two plans. Empty where the plans have different links or are not in memory.
pub fn blocks(a: &PlanEntry, b: &PlanEntry) -> CompareBlocks {
    let (Some(a), Some(b)) = (parts(a), parts(b)) else { return CompareBlocks::default() };
    let (instance, a, b) = (a.0, a.1, b.1);
    let mut blocks = CompareBlocks::default();
    if a.topology.len() == b.topology.len() {
        let counts = |result: &TrainingResult| result.circuits().into_iter().map(i64::from).collect();
        let names = (0..instance.links.len()).map(|link| links::link(&instance, link)).collect();
        blocks.row = Some(("circuits", CompareRow { names, a: counts(&a), b: counts(&b) }));
    }
    if a.tasks.len() == b.tasks.len() && a.tasks.len() == instance.tasks.len() {
        blocks.bars = gradients(&instance, &a, &b);
    }
    blocks
}

fn parts(entry: &PlanEntry) -> Option<(Instance, TrainingResult)> {
    let AnyPlan::Training(plan) = &entry.plan.as_ref()?.0 else { return None };
    let instance = match &plan.plan().scenario.body {
        TrainingScenario::Instance(instance) => instance.clone(),
        job @ TrainingScenario::Job(_) => job.build().ok()?.instance,
        // Of several jobs the figures say enough: links and tasks are those of one.
        TrainingScenario::Shared(_) => return None,
    };
    Some((instance, plan.plan().result.clone()))
}

fn gradients(
    instance: &Instance,
    a: &TrainingResult,
    b: &TrainingResult,
) -> Option<(&'static str, Vec<PairRow>)> {
    let mut tasks: Vec<usize> =
        (0..instance.tasks.len()).filter(|task| instance.tasks[*task].kind == TaskKind::Dp).collect();
    tasks.sort_by(|x, y| a.tasks[*x].start_s.total_cmp(&a.tasks[*y].start_s).then(x.cmp(y)));
    let ends = |result: &TrainingResult| result.tasks.iter().map(|task| task.finish_s).fold(0.0, f64::max);
    let (last_a, last_b) = (ends(a), ends(b));
    let rows: Vec<PairRow> = tasks
        .into_iter()
        .map(|task| {
            let (new, old) = (&a.tasks[task], &b.tasks[task]);
            let difference = new.finish_s - old.finish_s;
            // Only the last end decides: a gradient that ends later without being last costs nothing.
            let decides = (last_a - new.finish_s).abs() < 1e-9 || (last_b - old.finish_s).abs() < 1e-9;
            let tone = match (decides, difference < 0.0) {
                (true, true) => Tone::Good,
                (true, false) => Tone::Bad,
                (false, _) => Tone::Muted,
            };
            PairRow {
                name: Piece::new(instance.tasks[task].name.clone(), Tone::Gradient),
                new_s: Some((new.start_s, new.finish_s)),
                old_s: Some((old.start_s, old.finish_s)),
                difference: Piece::new(number::signed(difference * 1e3, 1).as_str().to_owned(), tone),
            }
        })
        .collect();
    (!rows.is_empty()).then_some(("gradients", rows))
}
