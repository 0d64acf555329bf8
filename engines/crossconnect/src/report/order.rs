//! The phases of an all-to-all, by the rule of the plan and by the other rule (printed or corrected).

use super::OVERVIEW;
use crate::plan::{PhaseOrder, PhaseRule};
use crate::rollout::phases::phase;
use lightbay_core::problem::counted;
use lightbay_core::report::{Cell, Column, Facts, Matrix, Phrase, Section, Table, Tone, Unavailable, Unit};

/// Number of destinations of a phase that are written before an ellipsis.
const DESTINATIONS: usize = 4;

/// Maximum number of GPUs for which all destinations are written.
const WHOLE: usize = 8;

/// Number of GPUs that are named before an ellipsis.
const NAMED: usize = 6;

/// Tables that a screen shows one at a time: the order of the plan, and the order by the other rule.
pub(super) const FORMS: &[&str] = &["list", "other_rule"];

/// Figures of one phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct PhaseFigures {
    /// Maximum number of flows from one pod to another pod.
    most: u32,
    /// GPUs that receive more than one flow.
    hit_twice: Vec<u32>,
    /// Number of GPUs that receive nothing.
    idle: usize,
}

/// An order of phases, with the number of pods and the number of GPUs per pod.
struct SizedOrder<'a> {
    pods: usize,
    gpus: usize,
    rule: PhaseRule,
    phases: std::borrow::Cow<'a, [Vec<u32>]>,
}

impl<'a> SizedOrder<'a> {
    fn own(order: &'a PhaseOrder) -> Self {
        let gpus = (order.gpus_per_pod as usize).max(1);
        let pods = order.phases.first().map_or(0, Vec::len) / gpus;
        Self { pods, gpus, rule: order.rule, phases: order.phases.as_slice().into() }
    }

    /// Returns the order of the other rule.
    fn other(order: &'a PhaseOrder) -> Self {
        let Self { pods, gpus, .. } = Self::own(order);
        let rule = match order.rule {
            PhaseRule::Printed => PhaseRule::Corrected,
            PhaseRule::Corrected => PhaseRule::Printed,
        };
        let made: Vec<Vec<u32>> =
            (1..=(pods * gpus) as u32).map(|t| phase(rule, pods as u32, gpus as u32, t)).collect();
        Self { pods, gpus, rule, phases: made.into() }
    }

    /// Returns the number of flows that every GPU receives in a phase.
    fn received(&self, phase: &[u32]) -> Vec<u32> {
        let mut received = vec![0; self.pods * self.gpus];
        for &to in phase {
            if let Some(received) = received.get_mut(to as usize) {
                *received += 1;
            }
        }
        received
    }

    /// Returns the number of flows from pod to pod in a phase, including flows within a pod.
    fn flows(&self, phase: &[u32]) -> Vec<u32> {
        let mut flows = vec![0; self.pods * self.pods];
        for (from, &to) in phase.iter().enumerate() {
            if let Some(flows) = flows.get_mut(from / self.gpus * self.pods + to as usize / self.gpus) {
                *flows += 1;
            }
        }
        flows
    }

    fn figures(&self, phase: &[u32]) -> PhaseFigures {
        let received = self.received(phase);
        let between =
            self.flows(phase).into_iter().enumerate().filter(|(at, _)| at / self.pods != at % self.pods);
        PhaseFigures {
            most: between.map(|(_, flows)| flows).max().unwrap_or(0),
            hit_twice: (0u32..).zip(&received).filter(|(_, count)| **count > 1).map(|(gpu, _)| gpu).collect(),
            idle: received.iter().filter(|count| **count == 0).count(),
        }
    }

    /// Returns a table with a row for every phase; `first` is the item number of the first row.
    fn table(&self, all: &[PhaseFigures], first: u32) -> Table {
        let columns = vec![
            Column::counts("phase", "phase"),
            Column::counts("flows_per_pod_pair", "flows").priority(2),
            Column::counts("hit_twice", "incast"),
            Column::counts("idle", "idle").priority(3),
            Column::words("destinations", "destinations").priority(4),
        ];
        let mut table = Table::new(["phase", "phases"], columns).overview(OVERVIEW).bar(2);
        for (number, (phase, figures)) in self.phases.iter().zip(all).enumerate() {
            let most = if phase.len() <= WHOLE { WHOLE } else { DESTINATIONS };
            let mut listed: Vec<String> = phase.iter().take(most).map(ToString::to_string).collect();
            if phase.len() > most {
                listed.push("…".to_owned());
            }
            let tone = if figures.hit_twice.is_empty() { Tone::Muted } else { Tone::Bad };
            let row = table.row(vec![
                Cell::new(number + 1),
                Cell::new(figures.most),
                Cell::new(figures.hit_twice.len()).tone(tone),
                Cell::new(figures.idle).tone(Tone::Muted),
                Cell::new(listed.join(" ")),
            ]);
            row.item = Some(first + number as u32);
            row.sentence = sentence(number + 1, figures);
        }
        table
    }
}

pub(super) fn section(order: &PhaseOrder) -> Section {
    let (own, other) = (SizedOrder::own(order), SizedOrder::other(order));
    let figures = |order: &SizedOrder<'_>| -> Vec<PhaseFigures> {
        order.phases.iter().map(|phase| order.figures(phase)).collect()
    };
    let (own_figures, other_figures) = (figures(&own), figures(&other));
    let contended = |all: &[PhaseFigures]| all.iter().filter(|phase| !phase.hit_twice.is_empty()).count();
    let (own_contended, other_contended) = (contended(&own_figures), contended(&other_figures));
    let mut facts = Facts::new();
    facts.add("rule", "order", word(order.rule));
    facts.add("gpus_per_pod", "GPUs in a pod", order.gpus_per_pod);
    facts.add("phases", "phases", order.phases.len());
    facts.add("max_flows_per_pod_pair", "max flows per pod pair", order.max_flows_per_pod_pair);
    facts.add("contended_phases", "phases with contention", toned(order.contended_phases as usize));
    facts.sentence(verdict(own.rule, own_contended, own.phases.len()));
    facts.add("contended_phases_of_other_rule", "with the other rule", toned(other_contended));
    facts.sentence(verdict(other.rule, other_contended, other.phases.len()));
    let answer = Phrase::new().text(word(own.rule));
    let answer = if own_contended == 0 {
        answer.good("  no GPU receives two flows")
    } else {
        let all = own.phases.len();
        answer.bad(format!("  ! in {own_contended} of {all} phases some GPU receives two flows"))
    };
    let first_of_other = own.phases.len() as u32 + 1;
    let own_rows = own.table(&own_figures, 1);
    let other_rows = other.table(&other_figures, first_of_other);
    Section::empty("Phases")
        .context(Phrase::new().muted(format!("{} x {} GPUs", own.pods, own.gpus)))
        .answer(answer)
        .legend(Phrase::new().muted(format!(
            "{}; at most {}; destinations: GPU that GPU 0, 1, 2, … sends to",
            verdict(other.rule, other_contended, other.phases.len()),
            counted(order.max_flows_per_pod_pair.into(), "flow between two pods", "flows between two pods"),
        )))
        // Title and legend contain the figures.
        .block("order", "", facts)
        .only_written()
        .block("list", "", own_rows)
        .on_screens("other_rule", format!("By the {} rule", word(other.rule)), other_rows)
        .usual(Some(1))
}

const fn word(rule: PhaseRule) -> &'static str {
    match rule {
        PhaseRule::Printed => "printed",
        PhaseRule::Corrected => "corrected",
    }
}

fn toned(contended: usize) -> Cell {
    Cell::new(contended).tone(if contended > 0 { Tone::Bad } else { Tone::Good })
}

fn verdict(rule: PhaseRule, contended: usize, phases: usize) -> String {
    let rule = word(rule);
    if contended == 0 {
        format!("{rule}: no GPU receives two flows")
    } else {
        format!("{rule}: GPUs receive two flows in {contended} of {phases} phases")
    }
}

fn sentence(number: usize, figures: &PhaseFigures) -> Phrase {
    let phrase = Phrase::new()
        .answer(format!("> phase {number}"))
        .muted("  at most ")
        .answer(figures.most.to_string())
        .muted(if figures.most == 1 { " flow between two pods" } else { " flows between two pods" });
    if figures.hit_twice.is_empty() {
        return phrase;
    }
    let named: Vec<String> = figures.hit_twice.iter().take(NAMED).map(u32::to_string).collect();
    let dots = if figures.hit_twice.len() > NAMED { " …" } else { "" };
    phrase
        .bad(format!("  ! {} with two flows", figures.hit_twice.len()))
        .muted(format!(": GPU {}{dots}", named.join(" ")))
}

/// Returns the senders and receivers of the phase with this number, counted from 1. The phases of the other rule have
/// the numbers after the last phase of the plan.
pub(super) fn detail(order: &PhaseOrder, item: u32) -> Result<Section, Unavailable> {
    let phases = order.phases.len() as u32;
    let (sized, number) = if item > phases {
        (SizedOrder::other(order), item - phases)
    } else {
        (SizedOrder::own(order), item)
    };
    let phase = (number as usize).checked_sub(1).and_then(|at| sized.phases.get(at)).ok_or_else(|| {
        Unavailable::absent(
            format!("phase {item} does not exist; the order has {phases} phases"),
            "name one of them",
        )
    })?;
    let columns = vec![
        Column::counts("gpu", "GPU"),
        Column::counts("pod", "of pod"),
        Column::counts("to_gpu", "sends to"),
        Column::counts("to_pod", "of pod"),
        Column::words("idle", ""),
    ];
    let mut flows = Table::new(["GPU", "GPUs"], columns);
    for (from, &to) in phase.iter().enumerate() {
        let idle = if from == to as usize { "itself: idle" } else { "" };
        flows.row(vec![
            Cell::new(from),
            Cell::new(from / sized.gpus),
            Cell::new(to),
            Cell::new(to as usize / sized.gpus),
            Cell::new(idle),
        ]);
    }
    let title = format!("phase {number} of {phases}, {}", word(sized.rule));
    Ok(Section::empty(title)
        .context(Phrase::new().muted("flows; rows: sending pods, columns: receiving pods"))
        .on_screens("pods", "", matrix(&sized, phase))
        .block("gpus", "", flows))
}

/// Returns the matrix of flows from pod to pod; cells with a receiver of two flows (incast) are marked.
fn matrix(sized: &SizedOrder<'_>, phase: &[u32]) -> Matrix {
    let (pods, gpus) = (sized.pods, sized.gpus);
    let received = sized.received(phase);
    let mut is_hit = vec![false; pods * pods];
    for (from, &to) in phase.iter().enumerate() {
        let twice = received.get(to as usize).is_some_and(|count| *count > 1);
        if let Some(is_hit) = is_hit.get_mut(from / gpus * pods + to as usize / gpus).filter(|_| twice) {
            *is_hit = true;
        }
    }
    let cell = |(count, is_hit): (u32, bool)| match count {
        0 => Cell::new("·").tone(Tone::Muted),
        count if is_hit => Cell::new(count).tone(Tone::Bad),
        count => Cell::new(count),
    };
    let words = |received: &[u32]| {
        let twice = received.iter().filter(|count| **count > 1).count();
        let idle = received.iter().filter(|count| **count == 0).count();
        match (twice, idle) {
            (0, 0) => Phrase::new().muted("each receives once"),
            (0, idle) => Phrase::new().text(format!("{idle} receive nothing")),
            (twice, 0) => Phrase::new().bad(format!("{twice} with incast")),
            (twice, idle) => {
                Phrase::new().bad(format!("{twice} with incast")).muted(format!(", {idle} receive nothing"))
            }
        }
    };
    let names: Vec<String> = (0..pods).map(|pod| pod.to_string()).collect();
    Matrix {
        name: "flows",
        unit: Unit::COUNT,
        rows: names.clone(),
        columns: names,
        cells: sized.flows(phase).into_iter().zip(is_hit).map(cell).collect(),
        shaded: true,
        words: received.chunks(gpus).map(words).collect(),
        ..Matrix::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightbay_core::report::json;

    fn order(rule: PhaseRule, pods: u32, gpus: u32) -> PhaseOrder {
        PhaseOrder {
            rule,
            gpus_per_pod: gpus,
            phases: (1..=pods * gpus).map(|t| phase(rule, pods, gpus, t)).collect(),
            max_flows_per_pod_pair: 1,
            contended_phases: 0,
        }
    }

    fn contended(order: &PhaseOrder) -> usize {
        let own = SizedOrder::own(order);
        own.phases.iter().filter(|phase| !own.figures(phase).hit_twice.is_empty()).count()
    }

    #[test]
    fn the_printed_rule_hits_receivers_twice_unless_pods_and_gpus_are_equal_in_number() {
        // N = 2, P = 4, t = 1: GPUs 0 and 3 receive twice, 4 and 7 never.
        let printed = order(PhaseRule::Printed, 4, 2);
        let own = SizedOrder::own(&printed);
        assert_eq!(own.phases[0], [0, 2, 3, 5, 6, 0, 1, 3]);
        assert_eq!(own.figures(&own.phases[0]), PhaseFigures { most: 1, hit_twice: vec![0, 3], idle: 2 });
        assert_eq!(contended(&printed), 8);
        assert_eq!(contended(&order(PhaseRule::Printed, 3, 3)), 0);
        assert_eq!(contended(&order(PhaseRule::Corrected, 4, 2)), 0);
    }

    #[test]
    fn both_rules_are_told_and_every_phase_has_its_flows() {
        let corrected = order(PhaseRule::Corrected, 4, 2);
        let whole = json::section(&section(&corrected));
        assert_eq!(whole["order"]["contended_phases_of_other_rule"], 8);
        assert!(whole.get("other_rule").is_none(), "screens alone show it");
        let flows = json::section(&detail(&corrected, 2).unwrap());
        assert_eq!(flows.as_array().unwrap().len(), 8);
        assert_eq!(flows[0]["to_gpu"], corrected.phases[1][0]);
        // Behind the last phase stand those of the other rule.
        let other = json::section(&detail(&corrected, 9).unwrap());
        assert_eq!(other[1]["to_gpu"], 2);
        assert!(detail(&corrected, 0).is_err() && detail(&corrected, 17).is_err());
    }
}
