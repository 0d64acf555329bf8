//! Several jobs on the same pods: every job before and after ports changed hands, and the ports of each pod.

use super::{missing, no_plan};
use crate::model::parts::{JobPorts, Ledger, PodLedger, ledger};
use crate::plan::{JobResult, TrainingResult};
use crate::scenario::shared::SharedPods;
use lightbay_core::clock::Deadline;
use lightbay_core::problem::Problems;
use lightbay_core::report::{Cell, Column, Facts, Report, Section, Table, Tone, Unavailable, Unit};

/// The report of several jobs.
pub(super) struct SeveralReport<'a> {
    shared: &'a SharedPods,
    result: Option<&'a TrainingResult>,
    ledger: Ledger,
    replicas: u32,
    /// Tasks between pods of one replica of every job.
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

    /// Ports of a job, summed over the pods.
    fn total(&self, job: usize, figure: impl Fn(JobPorts) -> u32) -> u64 {
        let here = |pod: &PodLedger| pod.jobs.get(job).copied().flatten().map_or(0, &figure);
        self.ledger.pods.iter().map(|pod| u64::from(here(pod))).sum()
    }

    /// `p0 to p2`
    fn covered(&self, job: usize) -> String {
        let here = |pod: &&PodLedger| pod.jobs.get(job).is_some_and(Option::is_some);
        let mut pods = self.ledger.pods.iter().filter(here);
        let first = pods.next().map_or("", |pod| &pod.name);
        pods.next_back().map_or_else(|| first.to_owned(), |last| format!("{first} to {}", last.name))
    }

    fn jobs(&self) -> Section {
        let mut columns = vec![
            Column::words("name", "job"),
            Column::counts("weight", "weight"),
            Column::words("pods", "pods"),
            Column::counts("ports_brought", "ports"),
        ];
        if self.result.is_some() {
            columns.extend([
                Column::counts("ports_out", "out"),
                Column::counts("ports_in", "in"),
                Column::counts("ports_used", "used"),
                Column::numbers("alone_makespan_s", "alone", Unit::SECONDS),
                Column::numbers("shared_makespan_s", "shared", Unit::SECONDS),
                Column::numbers("alone_nct", "NCT alone", Unit::RATIO),
                Column::numbers("shared_nct", "NCT shared", Unit::RATIO),
            ]);
        }
        let mut table = Table::new(["job", "jobs"], columns);
        for (index, placed) in self.shared.jobs.iter().enumerate() {
            let mut cells = vec![
                Cell::new(placed.name.as_str()),
                Cell::new(placed.weight),
                Cell::new(self.covered(index)),
                Cell::new(self.total(index, |ports| ports.brought)),
            ];
            let job: Option<&JobResult> = self.result.and_then(|result| result.jobs.get(index));
            if let Some(job) = job {
                let nct = |nct: Option<f64>| nct.map_or_else(Cell::none, Cell::new);
                cells.extend([
                    Cell::new(self.total(index, |ports| ports.given)),
                    Cell::new(self.total(index, |ports| ports.taken)),
                    Cell::new(self.total(index, |ports| ports.used)),
                    Cell::new(job.alone.makespan_s),
                    Cell::new(job.shared.makespan_s).tone(Tone::Answer),
                    nct(job.alone.result.nct),
                    nct(job.shared.result.nct),
                ]);
            }
            table.row(cells).item = Some(index as u32);
        }
        Section::new("Jobs", table)
    }

    /// One row per pod: its ports, and what every job brought, passes on, gets and uses.
    fn ports(&self) -> Section {
        let mut columns = vec![
            Column::words("pod", "pod"),
            Column::counts("ports", "ports"),
            Column::counts("spare", "spare"),
        ];
        let planned = self.result.is_some();
        for (index, placed) in self.shared.jobs.iter().enumerate() {
            let mut column = |name: &str, label: String| {
                columns.push(Column::counts(format!("job_{index}_{name}"), label));
            };
            column("brought", placed.name.clone());
            if planned {
                column("out", "out".to_owned());
                column("in", "in".to_owned());
                column("used", "used".to_owned());
            }
        }
        if planned {
            columns.push(Column::counts("free", "free"));
        }
        let mut table = Table::new(["pod", "pods"], columns);
        for pod in &self.ledger.pods {
            let mut cells = vec![Cell::new(pod.name.as_str()), Cell::new(pod.ports), Cell::new(pod.spare)];
            for job in &pod.jobs {
                let count =
                    |of: fn(JobPorts) -> u32| job.map_or_else(Cell::none, |ports| Cell::new(of(ports)));
                cells.push(count(|ports| ports.brought));
                if planned {
                    cells.extend([
                        count(|ports| ports.given),
                        count(|ports| ports.taken),
                        count(|ports| ports.used),
                    ]);
                }
            }
            if planned {
                cells.push(Cell::new(pod.left()));
            }
            table.row(cells);
        }
        Section::new("Ports", table)
    }
}

impl Report for SeveralReport<'_> {
    fn section(&self, name: &str, _deadline: Deadline) -> Result<Section, Unavailable> {
        match name {
            "job" => Ok(self.placement()),
            "jobs" => Ok(self.jobs()),
            "ports" => Ok(self.ports()),
            _ if super::SECTIONS.iter().all(|info| info.name != name) => Err(missing(name)),
            _ if self.result.is_none() => Err(no_plan()),
            _ => Err(Unavailable::absent(
                "the plan is of several jobs",
                "export each job with --to expanded, and show it",
            )),
        }
    }
}
