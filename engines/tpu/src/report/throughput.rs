//! Concurrent flow of a pod, compared with tori of its size and with the bounds on all pods of the size.

mod curves;
mod reach;
mod standing;

use crate::analysis::{TorusFigures, Yardsticks};
use crate::model::baselines;
use crate::plan::TpuResult;
use crate::report::named_bound;
use crate::scenario::TpuScenario;
use lightbay_core::quantity::open_percent;
use lightbay_core::report::text::number;
use lightbay_core::report::{Cell, Column, Phrase, RunBeside, Section, Surroundings, Table, Tone, Unit};
use standing::PodStanding;

/// Views of the section on a screen: the time of a run on a logarithmic or a linear axis.
pub(super) const FORMS: &[&str] = &["log_time", "even_time"];

/// Formats a throughput with four significant digits, but with three to nine decimals.
fn mcf(value: f64) -> String {
    number(value, Unit::NUMBER.with_decimals(decimals(value)))
}

/// Returns the number of decimals of [`mcf`].
fn decimals(value: f64) -> u8 {
    if value > 0.0 && value.is_finite() { (3.0 - value.log10().floor()).clamp(3.0, 9.0) as u8 } else { 6 }
}

/// A row of the table of networks: diameter, mean hops, flow per pair.
struct Line {
    name: String,
    diameter: Option<u32>,
    avg_hops: Option<f64>,
    mcf: f64,
    tone: Tone,
}

/// Scenario, plan, reference values and run to compare.
pub(super) struct Compared<'a> {
    pub scenario: &'a TpuScenario,
    pub result: Option<&'a TpuResult>,
    pub yardsticks: &'a Yardsticks,
    pub beside: &'a Surroundings,
}

impl Compared<'_> {
    pub(super) fn section(&self) -> Section {
        let run = self.beside.run.as_ref();
        // The figures describe the run while it is active, otherwise the plan.
        let working = run.filter(|run| run.is_active || self.result.is_none());
        let bound = named_bound(self.beside).or_else(|| working?.bound);
        let standing = PodStanding::of(working, self.result, bound, self.yardsticks);
        let section = Section::empty("Throughput, flits per cycle")
            .context(Phrase::new().muted(Self::context(run, &standing)))
            .answer(standing.answer())
            .sentence(self.sentence(run, &standing));
        let networks = self.networks(&standing, working.is_some());
        let growth = run.map(|run| curves::Growth::of(run, &standing)).filter(|growth| !growth.is_empty());
        let section = if let Some(growth) = growth {
            section
                .on_screens("log_time", "", growth.curves(true))
                .on_screens("even_time", "", growth.curves(false))
                .block("networks", "", networks)
        } else {
            let failed = &self.scenario.failed_ocs;
            let reach = reach::curves(self.result, self.yardsticks, failed, self.scenario.nodes());
            section.block("networks", "", networks).on_screens("reach", "", reach)
        };
        run.map_or_else(Vec::new, told).into_iter().fold(section, Section::remark)
    }

    /// Text next to the title: the gap of the certificate of a run, or the unit of throughput if there is no
    /// certificate.
    fn context(run: Option<&RunBeside>, standing: &PodStanding) -> String {
        let rounds = run.map_or(0, |run| run.points(crate::series::MCF_LOWER).len());
        match standing.gap().filter(|_| rounds > 0) {
            Some(gap) => format!("certificate gap {} % after {rounds} rounds", open_percent(gap, 2)),
            None => "flits per cycle and chip pair".to_owned(),
        }
    }

    fn sentence(&self, run: Option<&RunBeside>, standing: &PodStanding) -> Phrase {
        let chips = self.scenario.nodes() as f64;
        let mut phrase = match (standing.certified, standing.metric) {
            (Some(certified), _) => Phrase::new()
                .answer(format!("> certified {}", mcf(certified)))
                .muted(format!("  x {chips} = "))
                .answer(format!("{:.3}", certified * chips))
                .muted(format!(" per chip, bound {:.3}", standing.any * chips)),
            (None, Some(metric)) => {
                Phrase::new().answer(format!("> at most {}", mcf(metric))).muted("  nothing certified yet")
            }
            (None, None) => Phrase::new().muted("> any pod at most ").answer(mcf(standing.any)),
        };
        if let Some(gap) = standing.gap() {
            phrase = phrase.muted("  this pod at most ").text(format!("{} % more", open_percent(gap, 2)));
        }
        if let Some((_, phase)) = run.filter(|run| run.is_active).and_then(|run| run.phases.last()) {
            phrase = phrase.muted(format!("  {}", phase.name)).text(format!(" {}", phase.detail));
        }
        phrase
    }

    /// Table of the networks of this size: pod, tori and bounds. The pod is that of the active run if `is_working`.
    fn networks(&self, standing: &PodStanding, is_working: bool) -> Table {
        let nodes = self.scenario.nodes();
        let cover = self.yardsticks.cover;
        let columns = vec![
            Column::words("network", "network"),
            Column::counts("diameter", "diameter").priority(4),
            Column::numbers("avg_hops", "hops", Unit::RATIO).priority(4),
            Column::numbers("mcf", "per pair", Unit::NUMBER.with_decimals(decimals(standing.any) + 1)),
            Column::numbers("n_mcf", "per chip", Unit::RATIO.with_decimals(3)).priority(3),
            Column::numbers("of_bound", "of the bound", Unit::PERCENT.with_decimals(1)).priority(3),
        ];
        let mut table = Table::new(["network", "networks"], columns).bar(3);
        let mut line = |line: Line| {
            let row = table.row(vec![
                Cell::new(line.name.as_str()),
                line.diameter.map_or_else(Cell::none, Cell::new),
                line.avg_hops.map_or_else(Cell::none, Cell::new),
                // Certificates have about eight exact decimals.
                Cell::new((line.mcf * 1e8).round() / 1e8).tone(line.tone),
                Cell::new(nodes as f64 * line.mcf),
                Cell::new(line.mcf / standing.any),
            ]);
            row.sentence = Phrase::new()
                .answer(format!("> {}", line.name))
                .text(format!("  {}", mcf(line.mcf)))
                .muted(format!("  x {nodes} = {:.3} per chip", nodes as f64 * line.mcf))
                .muted(format!("  {:.1} % of the bound on any pod", line.mcf / standing.any * 100.0));
        };
        let bound = |name: &str, avg_hops, mcf| Line {
            name: name.to_owned(),
            diameter: None,
            avg_hops,
            mcf,
            tone: Tone::Muted,
        };
        if is_working {
            if let Some(mcf) = standing.certified {
                let name = "pod, certified".to_owned();
                line(Line { tone: Tone::Good, name, ..bound("", None, mcf) });
            }
            if let Some(mcf) = standing.metric {
                line(bound("pod, at most", None, mcf));
            }
        } else if let Some(result) = self.result {
            let claims = &result.claims;
            let (diameter, avg_hops) = (Some(claims.diameter), Some(claims.avg_hops));
            line(Line {
                // The checker recomputes the flow of small pods only.
                name: "pod (claimed)".to_owned(),
                diameter,
                avg_hops,
                mcf: claims.mcf_lower,
                tone: Tone::Answer,
            });
            let name = "pod, at most".to_owned();
            line(Line { name, diameter, avg_hops, mcf: claims.mcf_upper, tone: Tone::Text });
            let name = "pod, hop bound".to_owned();
            let links = 3 * nodes - self.scenario.failed_ocs.len() * usize::from(self.scenario.cubes);
            let mcf = 2.0 * links as f64 / claims.hop_sum as f64;
            line(Line { name, diameter, avg_hops, mcf, tone: Tone::Muted });
        }
        // The figures of another scenario would not be comparable with the bounds of this one.
        let baseline =
            self.beside.plans.iter().find(|plan| plan.is_baseline && !plan.is_shown && plan.is_rival);
        if let Some(plan) = baseline {
            let figure = |name: &str| plan.metrics.get(name).copied();
            line(Line {
                name: format!("B {} {}", plan.number, plan.method),
                diameter: figure("diameter").map(|links| links as u32),
                avg_hops: figure("avg_hops"),
                mcf: plan.value,
                tone: Tone::Text,
            });
        }
        let whole = if self.scenario.failed_ocs.is_empty() { "" } else { ", all switches working" };
        let torus = |name: &str, torus: &TorusFigures| Line {
            name: format!("{name} {}{}", baselines::named(torus.shape), whole),
            diameter: Some(torus.hops.diameter),
            avg_hops: Some(torus.hops.average(nodes)),
            mcf: torus.mcf,
            tone: Tone::Text,
        };
        for (name, figures) in [("PT", &self.yardsticks.pt), ("PDTT", &self.yardsticks.pdtt)] {
            if let Some(figures) = figures {
                line(torus(name, figures));
            }
        }
        if standing.any < cover.mcf {
            line(bound("any pod at most", None, standing.any));
        }
        line(bound("cover bound", Some(cover.avg_hops), cover.mcf));
        line(bound("Moore bound", None, self.yardsticks.moore));
        table
    }
}

/// Returns the report of a run in lines: phases, notes and the last value of each series.
fn told(run: &RunBeside) -> Vec<String> {
    let mut lines = vec![format!("{} run {}: {}", run.method, run.id, run.state)];
    let phase = |(at_s, phase): &(f64, lightbay_core::event::Phase)| {
        format!("{at_s:8.2} s  {} {}", phase.name, phase.detail)
    };
    lines.extend(run.phases.iter().map(phase));
    lines.extend(run.notes.iter().map(|(at_s, note)| format!("{at_s:8.2} s  {note}")));
    for (name, points) in &run.series {
        if let Some(last) = points.last() {
            let (value, at_s) = (mcf(last.value), last.at_s);
            lines.push(format!("{name}  {value} at {at_s:.2} s, {} points", points.len()));
        }
    }
    lines
}
