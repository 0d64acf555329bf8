//! Differences of two training plans beyond their figures: circuits link by link, and the times of the gradients.

use super::task::end_name;
use crate::Training;
use crate::plan::TrainingResult;
use crate::scenario::TrainingScenario;
use crate::scenario::instance::{Instance, TaskKind};
use lightbay_core::plan::Plan;
use lightbay_core::report::Tone;
use lightbay_core::report::differences::{CountPair, Differences, PairedCounts, PairedSpans, SpanPair};

/// Circuits and gradients of two plans. Circuits are left out if they change or if the plans have different numbers of
/// links; gradients if the plans have different numbers of tasks. Both are left out for plans of several jobs.
pub(crate) fn of(a: &Plan<Training>, b: &Plan<Training>) -> Differences {
    let instance = match &a.scenario.body {
        TrainingScenario::Instance(instance) => instance.clone(),
        job @ TrainingScenario::Job(_) => match job.build() {
            Ok(built) => built.instance,
            Err(_) => return Differences::default(),
        },
        TrainingScenario::Shared(_) => return Differences::default(),
    };
    if matches!(b.scenario.body, TrainingScenario::Shared(_)) {
        return Differences::default();
    }
    let (a, b) = (&a.result, &b.result);
    Differences { counts: circuits(&instance, a, b), spans: gradients(&instance, a, b) }
}

fn circuits(instance: &Instance, a: &TrainingResult, b: &TrainingResult) -> Option<PairedCounts> {
    let (a, b) = (a.circuits(), b.circuits());
    // Circuits that change are not in this list.
    if a.len() != b.len() || a.is_empty() {
        return None;
    }
    let name = |pod: usize| end_name(instance, pod);
    let pair = |((link, a), b): ((_, u32), u32)| {
        let link: &crate::scenario::instance::Link = link;
        let name = format!("{}–{}", name(link.pod_a.index()), name(link.pod_b.index()));
        CountPair { name, values: [a.into(), b.into()] }
    };
    let counts = instance.links.iter().zip(a).zip(b).map(pair).collect();
    Some(PairedCounts { title: "circuits", counts })
}

fn gradients(instance: &Instance, a: &TrainingResult, b: &TrainingResult) -> Option<PairedSpans> {
    if a.tasks.len() != b.tasks.len() || a.tasks.len() != instance.tasks.len() {
        return None;
    }
    let mut tasks: Vec<usize> =
        (0..instance.tasks.len()).filter(|task| instance.tasks[*task].kind == TaskKind::Dp).collect();
    tasks.sort_by(|x, y| a.tasks[*x].start_s.total_cmp(&a.tasks[*y].start_s).then(x.cmp(y)));
    let ends = |result: &TrainingResult| result.tasks.iter().map(|task| task.finish_s).fold(0.0, f64::max);
    let (last_a, last_b) = (ends(a), ends(b));
    let pair = |task: usize| {
        let (new, old) = (&a.tasks[task], &b.tasks[task]);
        // Only the last end matters: a gradient that ends later without being last costs nothing.
        let decides = (last_a - new.finish_s).abs() < 1e-9 || (last_b - old.finish_s).abs() < 1e-9;
        let tone = match (decides, new.finish_s < old.finish_s) {
            (true, true) => Tone::Good,
            (true, false) => Tone::Bad,
            (false, _) => Tone::Muted,
        };
        let spans_s = [(new.start_s, new.finish_s), (old.start_s, old.finish_s)];
        SpanPair { name: instance.tasks[task].name.clone(), spans_s, tone }
    };
    let spans: Vec<SpanPair> = tasks.into_iter().map(pair).collect();
    (!spans.is_empty()).then_some(PairedSpans { title: "gradients", spans })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

    use super::*;
    use crate::model::samples::toy_a;
    use crate::plan::RateControl;
    use crate::simulate::evaluate::{Evaluator, Rates, Scratch};
    use crate::simulate::schedule;

    fn result(instance: &Instance, x: &[u32]) -> TrainingResult {
        let evaluator = Evaluator::new(instance).unwrap();
        let trace = evaluator.trace(x, Rates::Fair, &mut Scratch::default());
        schedule::result(&evaluator, x, RateControl::Fair, &trace)
    }

    #[test]
    fn circuits_are_compared_link_by_link_where_there_are_as_many() {
        let instance = toy_a();
        let one = vec![1; instance.links.len()];
        let mut more = one.clone();
        more[0] = 2;
        let (a, b) = (result(&instance, &more), result(&instance, &one));
        let counts = circuits(&instance, &a, &b).unwrap().counts;
        assert_eq!((counts.len(), counts[0].values), (instance.links.len(), [2, 1]));
        assert!(counts[0].name.contains('–'), "{}", counts[0].name);
        let mut short = b.clone();
        short.topology.pop();
        assert_eq!(circuits(&instance, &a, &short), None);
    }

    #[test]
    fn only_a_gradient_that_ends_last_is_better_or_worse() {
        let mut instance = toy_a();
        for task in &mut instance.tasks {
            task.kind = TaskKind::Dp;
        }
        let one = vec![1; instance.links.len()];
        let b = result(&instance, &one);
        let mut a = b.clone();
        let last = (0..a.tasks.len()).max_by(|x, y| b.tasks[*x].finish_s.total_cmp(&b.tasks[*y].finish_s));
        a.tasks[last.unwrap()].finish_s += 1.0;
        let spans = gradients(&instance, &a, &b).unwrap().spans;
        assert!(spans.is_sorted_by(|x, y| x.spans_s[0].0 <= y.spans_s[0].0));
        assert_eq!(spans.iter().filter(|pair| pair.tone == Tone::Bad).count(), 1);
        assert!(spans.iter().all(|pair| pair.tone != Tone::Good));
        a.tasks.pop();
        assert_eq!(gradients(&instance, &a, &b), None);
    }
}
