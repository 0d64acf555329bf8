//! What several jobs on one set of pods amount to: every job before and after ports changed hands, and who has which
//! ports in every pod.

use crate::cli::quantity;
use crate::cli::table::Table;
use lightbay_core::plan::Plan;
use lightbay_core::problem::{Problems, printable};
use lightbay_engines::training::Training;
use lightbay_engines::training::parts::{JobPorts, Ledger, PodLedger, ledger};
use lightbay_engines::training::plan::{JobPlan, JobResult};
use lightbay_engines::training::scenario::shared::SharedPods;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Everything that is shown, computed once for both forms.
pub struct Figures<'a> {
    shared: &'a SharedPods,
    plan: Option<&'a Plan<Training>>,
    ledger: Ledger,
    replicas: u32,
    /// Tasks between pods of one replica of every job.
    tasks: u64,
}

impl<'a> Figures<'a> {
    /// Computes the figures.
    pub fn of(shared: &'a SharedPods, plan: Option<&'a Plan<Training>>) -> Result<Self, Problems> {
        let shapes = shared.layout()?.shapes;
        let replicas = shapes.first().map_or(0, |shape| shape.replicas);
        let tasks =
            shared.jobs.iter().zip(&shapes).map(|(placed, shape)| placed.job.transfer_count(shape)).sum();
        let ledger = ledger(shared, plan.map(|plan| &plan.result))?;
        Ok(Self { shared, plan, ledger, replicas, tasks })
    }

    /// As text.
    pub fn text(&self) -> String {
        let pods = self.ledger.pods.len();
        let placement = format!(
            "  placement       {} jobs on {pods} pods, in each of {} replicas\n  tasks           {} between pods\n",
            self.shared.jobs.len(),
            self.replicas,
            self.tasks
        );
        format!("{placement}\nJobs\n{}\nPorts\n{}", self.jobs(), self.pods())
    }

    fn results(&self) -> impl Iterator<Item = Option<&JobResult>> {
        (0..self.shared.jobs.len()).map(|index| self.plan.and_then(|plan| plan.result.jobs.get(index)))
    }

    /// Ports of a job, summed over the pods.
    fn total(&self, job: usize, figure: impl Fn(JobPorts) -> u32) -> u64 {
        let here = |pod: &PodLedger| pod.jobs.get(job).copied().flatten().map_or(0, &figure);
        self.ledger.pods.iter().map(|pod| u64::from(here(pod))).sum()
    }

    fn jobs(&self) -> Table {
        let mut columns = vec!["  job", ">weight", "pods", ">brought"];
        if self.plan.is_some() {
            columns.extend([">given", ">taken", ">used", ">alone", ">shared", ">NCT alone", ">NCT shared"]);
        }
        let mut table = Table::new(&columns);
        for (index, (placed, result)) in self.shared.jobs.iter().zip(self.results()).enumerate() {
            let mut cells = vec![
                format!("  {}", printable(&placed.name)),
                placed.weight.to_string(),
                self.covered(index),
                self.total(index, |ports| ports.brought).to_string(),
            ];
            if let Some(job) = result {
                cells.extend([
                    self.total(index, |ports| ports.given).to_string(),
                    self.total(index, |ports| ports.taken).to_string(),
                    self.total(index, |ports| ports.used).to_string(),
                    quantity::value("makespan_s", job.alone.makespan_s),
                    quantity::value("makespan_s", job.shared.makespan_s),
                    nct(&job.alone),
                    nct(&job.shared),
                ]);
            }
            table.row(cells);
        }
        table
    }

    /// `p0 to p2`
    fn covered(&self, job: usize) -> String {
        let here = |pod: &&PodLedger| pod.jobs.get(job).is_some_and(Option::is_some);
        let mut pods = self.ledger.pods.iter().filter(here);
        let first = pods.next().map_or("", |pod| &pod.name);
        pods.next_back().map_or_else(|| first.to_owned(), |last| format!("{first} to {}", last.name))
    }

    /// One row per pod: what it has, and what every job brought, gives (-) or takes (+) and uses.
    fn pods(&self) -> Table {
        let names: Vec<String> =
            self.shared.jobs.iter().map(|placed| format!(">{}", printable(&placed.name))).collect();
        let mut columns = vec!["  pod", ">ports", ">spare"];
        columns.extend(names.iter().map(String::as_str));
        if self.plan.is_some() {
            columns.push(">left");
        }
        let mut table = Table::new(&columns);
        for pod in &self.ledger.pods {
            let mut cells = vec![format!("  {}", pod.name), pod.ports.to_string(), pod.spare.to_string()];
            cells.extend(pod.jobs.iter().map(|job| job.map_or_else(|| "-".to_owned(), |job| self.cell(job))));
            if self.plan.is_some() {
                cells.push(pod.left().to_string());
            }
            table.row(cells);
        }
        table
    }

    fn cell(&self, ports: JobPorts) -> String {
        // Writing to a String cannot fail.
        let mut cell = ports.brought.to_string();
        if ports.given > 0 {
            let _ = write!(cell, " -{}", ports.given);
        }
        if ports.taken > 0 {
            let _ = write!(cell, " +{}", ports.taken);
        }
        if self.plan.is_some() {
            let _ = write!(cell, ", uses {}", ports.used);
        }
        cell
    }

    /// As data.
    pub fn json(&self) -> Value {
        let plan = |plan: &JobPlan| {
            json!({
                "makespan_s": plan.makespan_s,
                "ideal_makespan_s": plan.result.ideal_makespan_s,
                "nct": plan.result.nct,
                "ports_used": plan.result.ports_used,
                "circuits": plan.result.circuits(),
            })
        };
        let jobs: Vec<Value> = self
            .shared
            .jobs
            .iter()
            .zip(self.results())
            .map(|(placed, result)| {
                json!({
                    "name": placed.name,
                    "weight": placed.weight,
                    "first_pod": placed.first_pod,
                    "alone": result.map(|job| plan(&job.alone)),
                    "shared": result.map(|job| plan(&job.shared)),
                })
            })
            .collect();
        let pods: Vec<Value> = self
            .ledger
            .pods
            .iter()
            .map(|pod| {
                let jobs: Vec<Option<Value>> = pod
                    .jobs
                    .iter()
                    .map(|job| {
                        job.map(|ports| {
                            json!({
                                "brought": ports.brought,
                                "given": ports.given,
                                "taken": ports.taken,
                                "used": self.plan.map(|_| ports.used),
                            })
                        })
                    })
                    .collect();
                json!({ "name": pod.name, "ports": pod.ports, "spare": pod.spare, "jobs": jobs })
            })
            .collect();
        json!({ "replicas": self.replicas, "tasks": self.tasks, "jobs": jobs, "pods": pods })
    }
}

fn nct(plan: &JobPlan) -> String {
    plan.result.nct.map_or_else(|| "-".to_owned(), |nct| format!("{nct:.4}"))
}
