//! Several jobs on the same pods: every job before and after the trading of ports, and the ports of each pod.

use super::{missing, no_plan};
use crate::model::jobs::{JobPorts, Ledger, PodLedger, ledger};
use crate::plan::{JobResult, TrainingResult};
use crate::scenario::shared::SharedPods;
use lightbay_core::clock::Deadline;
use lightbay_core::problem::Problems;
use lightbay_core::report::text::number;
use lightbay_core::report::{
    Cell, Column, Facts, Phrase, Report, Section, SectionOf, Table, Tone, Unavailable, Unit,
};

/// Index of the column with NCT minus 1, which is drawn as bars.
const EXCESS: usize = 12;

/// The report of several jobs.
pub(super) struct SeveralReport<'a> {
    shared: &'a SharedPods,
    result: Option<&'a TrainingResult>,
    ledger: Ledger,
    replicas: u32,
    /// Number of inter-pod tasks of one replica, summed over the jobs.
    tasks: u64,
}

impl<'a> SeveralReport<'a> {
    pub(super) fn new(shared: &'a SharedPods, result: Option<&'a TrainingResult>) -> Result<Self, Problems> {
        let shapes = shared.layout()?.shapes;
        let replicas = shapes.first().map_or(0, |shape| shape.replicas);
        let tasks =
            shared.jobs.iter().zip(&shapes).map(|(placed, shape)| placed.job.transfer_count(shape)).sum();
        let ledger = ledger(shared, result)?;
        Ok(Self { shared, result, ledger, replicas, tasks })
    }

    fn placement(&self) -> Section {
        let mut facts = Facts::new();
        facts.add("jobs", "jobs", self.shared.jobs.len());
        facts.add("pods", "pods", self.ledger.pods.len());
        facts.sentence("in each replica");
        facts.add("replicas", "replicas", self.replicas);
        facts.add("tasks", "tasks between pods", self.tasks);
        Section::new("Jobs on the same pods", facts)
    }

    /// Number of ports of a job, summed over the pods.
    fn total(&self, job: usize, figure: impl Fn(JobPorts) -> u32) -> u64 {
        let here = |pod: &PodLedger| pod.jobs.get(job).copied().flatten().map_or(0, &figure);
        self.ledger.pods.iter().map(|pod| u64::from(here(pod))).sum()
    }

    /// Names the first and the last pod that a job covers: `p0 to p2`.
    fn covered(&self, job: usize) -> String {
        let here = |pod: &&PodLedger| pod.jobs.get(job).is_some_and(Option::is_some);
        let mut pods = self.ledger.pods.iter().filter(here);
        let first = pods.next().map_or("", |pod| &pod.name);
        pods.next_back().map_or_else(|| first.to_owned(), |last| format!("{first} to {}", last.name))
    }

    /// Tables of every job before and after the trading of ports, and of the ports of every pod.
    fn reallocation(&self) -> Section {
        let pods = self.ledger.pods.len();
        let context = format!("{} jobs on {pods} pods", self.shared.jobs.len());
        let section = Section::empty("Reallocation")
            .context(Phrase::new().muted(context))
            .block("jobs", "Jobs", self.jobs())
            .block("ports", "Ports of the pods by job", self.ports());
        let mean = |of: fn(&JobResult) -> Option<f64>| {
            let mut sums = (0.0, 0.0);
            for (placed, job) in self.shared.jobs.iter().zip(&self.result?.jobs) {
                let weight = f64::from(placed.weight);
                sums = (sums.0 + weight * of(job)?, sums.1 + weight);
            }
            (sums.1 > 0.0).then(|| sums.0 / sums.1)
        };
        match (mean(|job| job.alone.result.nct), mean(|job| job.shared.result.nct)) {
            (Some(alone), Some(shared)) => {
                section.answer(Phrase::new().muted("NCT ").text(nct(alone)).muted(" to ").answer(nct(shared)))
            }
            _ => section,
        }
    }

    fn jobs(&self) -> Table {
        let mut columns = vec![
            Column::words("name", "job"),
            Column::counts("weight", "weight").priority(5),
            Column::words("pods", "pods").priority(7),
            Column::counts("ports_brought", "ports").priority(3),
        ];
        let planned = self.result.is_some();
        if planned {
            columns.extend([
                Column::words("role", "").priority(6),
                Column::counts("ports_out", "out"),
                Column::counts("ports_in", "in"),
                Column::counts("ports_used", "used").priority(3),
                Column::numbers("alone_makespan_s", "alone", Unit::SECONDS).priority(2),
                Column::numbers("shared_makespan_s", "shared", Unit::SECONDS).priority(1),
                Column::numbers("alone_nct", "NCT alone", Unit::RATIO),
                Column::numbers("shared_nct", "shared", Unit::RATIO),
                Column::numbers("excess_nct", "excess", Unit::RATIO).priority(4),
            ]);
        }
        let table = Table::new(["job", "jobs"], columns);
        let mut table = if planned { table.bar(EXCESS) } else { table };
        let moved =
            self.result.map_or(0, |result| result.jobs.iter().map(|job| sum(&job.taken)).sum::<u32>());
        for (index, placed) in self.shared.jobs.iter().enumerate() {
            let mut cells = vec![
                Cell::new(placed.name.as_str()),
                Cell::new(placed.weight).tone(Tone::Muted),
                Cell::new(self.covered(index)).tone(Tone::Muted),
                Cell::new(self.total(index, |ports| ports.brought)),
            ];
            let job: Option<&JobResult> = self.result.and_then(|result| result.jobs.get(index));
            if let Some(job) = job {
                cells.extend(self.planned(index, job));
            }
            let row = table.row(cells);
            row.item = Some(index as u32);
            if let Some(job) = job {
                row.sentence = told(job, moved);
            }
        }
        table
    }

    /// Returns the cells of a job in a plan.
    fn planned(&self, index: usize, job: &JobResult) -> [Cell; 9] {
        let faster = job.shared.makespan_s < job.alone.makespan_s * (1.0 - 1e-7);
        let tone = if faster { Tone::Good } else { Tone::Text };
        let known =
            |nct: Option<f64>, tone: Tone| nct.map_or_else(Cell::none, |nct| Cell::new(nct).tone(tone));
        let moved = |ports: u64| Cell::new(ports).tone(if ports > 0 { Tone::Text } else { Tone::Muted });
        [
            Cell::new(role(job)).tone(Tone::Muted),
            moved(self.total(index, |ports| ports.given)),
            moved(self.total(index, |ports| ports.taken)),
            Cell::new(self.total(index, |ports| ports.used)),
            Cell::new(job.alone.makespan_s).tone(Tone::Muted),
            Cell::new(job.shared.makespan_s).tone(tone),
            known(job.alone.result.nct, Tone::Muted),
            known(job.shared.result.nct, tone),
            known(job.shared.result.nct.map(|nct| nct - 1.0), Tone::Answer),
        ]
    }

    /// One row per pod: its ports, and the ports that every job brought, gives, takes and uses.
    fn ports(&self) -> Table {
        let mut columns = vec![
            Column::words("pod", "pod"),
            Column::counts("ports", "ports"),
            Column::counts("spare", "spare").priority(4),
        ];
        let planned = self.result.is_some();
        if planned {
            columns.push(Column::counts("free", "free").priority(3));
        }
        for (index, placed) in self.shared.jobs.iter().enumerate() {
            let mut column = |name: &str, label: String, priority: u8| {
                columns.push(Column::counts(format!("job_{index}_{name}"), label).priority(priority));
            };
            column("brought", placed.name.clone(), 0);
            if planned {
                column("out", "out".to_owned(), 1);
                column("in", "in".to_owned(), 1);
                column("used", "used".to_owned(), 0);
            }
        }
        let mut table = Table::new(["pod", "pods"], columns);
        for pod in &self.ledger.pods {
            let mut cells = vec![
                Cell::new(pod.name.as_str()),
                Cell::new(pod.ports),
                Cell::new(pod.spare).tone(Tone::Muted),
            ];
            if planned {
                cells.push(Cell::new(pod.left()).tone(Tone::Muted));
            }
            for job in &pod.jobs {
                let count = |of: fn(JobPorts) -> u32, some: Tone| match job.map(of) {
                    None => Cell::none(),
                    Some(ports) => Cell::new(ports).tone(if ports > 0 { some } else { Tone::Muted }),
                };
                cells.push(count(|ports| ports.brought, Tone::Muted));
                if planned {
                    cells.extend([
                        count(|ports| ports.given, Tone::Text),
                        count(|ports| ports.taken, Tone::Good),
                        count(|ports| ports.used, Tone::Text),
                    ]);
                }
            }
            table.row(cells);
        }
        table
    }
}

fn nct(value: f64) -> String {
    number(value, Unit::RATIO)
}

fn sum(ports: &[u32]) -> u32 {
    ports.iter().sum()
}

/// The word for the role of a job in the trading of ports.
fn role(job: &JobResult) -> &'static str {
    match (sum(&job.given) > 0, sum(&job.taken) > 0) {
        (true, true) => "trades",
        (true, false) => "lends",
        (false, true) => "borrows",
        (false, false) => "keeps",
    }
}

/// One sentence on a job; `moved` is the total number of traded ports.
fn told(job: &JobResult, moved: u32) -> Phrase {
    let (given, taken) = (sum(&job.given), sum(&job.taken));
    let mut phrase = Phrase::new().answer(format!("> {}", job.name));
    if taken > 0 {
        phrase = phrase.good(format!("  takes {taken}"));
    }
    if given > 0 {
        phrase = phrase.text(format!("  gives {given}"));
    }
    if taken == 0 && given == 0 {
        phrase = phrase.muted("  keeps its ports");
    }
    if let (Some(before), Some(after)) = (job.alone.result.nct, job.shared.result.nct) {
        let tone = if after < before - 1e-7 { Tone::Answer } else { Tone::Muted };
        phrase = phrase.with(format!("  NCT {} to {}", nct(before), nct(after)), tone);
    }
    if moved == 0 { phrase.muted("  no port helps another job") } else { phrase }
}

impl Report for SeveralReport<'_> {
    fn section(&self, name: &str, _deadline: Deadline) -> Result<Section, Unavailable> {
        match name {
            "job" => Ok(self.placement()),
            "reallocation" => Ok(self.reallocation()),
            _ => match super::SECTIONS.iter().find(|info| info.name == name) {
                None => Err(missing(name)),
                Some(info) if info.of == SectionOf::Plan && self.result.is_none() => Err(no_plan()),
                Some(_) if self.result.is_none() => Err(Unavailable::absent(
                    format!(
                        "the section is for one job, but the scenario has {} jobs",
                        self.shared.jobs.len()
                    ),
                    "write its jobs with `lightbay export --to instance`, and show one",
                )),
                Some(_) => Err(Unavailable::absent(
                    "the plan is for several jobs",
                    "export each job with --to expanded, and show it",
                )),
            },
        }
    }
}
