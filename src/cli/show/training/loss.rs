//! Why a plan is not ideal: its critical path with what each cause costs, the chain that comes next, and the links
//! that could give a port.

use crate::cli::quantity;
use crate::cli::table::Table;
use lightbay_core::plan::Plan;
use lightbay_core::problem::{Problem, Problems, counted, printable};
use lightbay_engines::training::Training;
use lightbay_engines::training::analysis::{Analysis, Causes, Chain, ChainTask, LinkFacts, Setting};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Tasks of the path that cost most and are shown.
const DEAREST: usize = 8;

/// A plan explained.
pub struct Loss(Analysis);

impl Loss {
    /// Explains a plan of a scenario that is prepared already.
    pub fn of(known: &Setting, plan: &Plan<Training>) -> Result<Self, Problems> {
        Analysis::of(known.clone(), &plan.result).map(Self).map_err(|error| {
            Problem::new("/result", error.to_string(), "show the plan's own scenario").into()
        })
    }

    fn donors(&self) -> impl Iterator<Item = (usize, &LinkFacts)> {
        self.0.links.iter().enumerate().filter(|(_, link)| link.donates())
    }

    fn name(&self, task: u32) -> String {
        self.0
            .setting
            .instance
            .tasks
            .get(task as usize)
            .map_or_else(String::new, |task| printable(&task.name))
    }

    /// As text.
    pub fn text(&self) -> String {
        let chain = &self.0.chain;
        let mut out = format!(
            "\nCritical path, {}: {} s of transfers, {} s between them\n",
            counted(chain.tasks.len() as u64, "task", "tasks"),
            quantity::number(chain.comm_s),
            quantity::number(chain.rigid_s)
        );
        // Writing to a String cannot fail.
        let _ = write!(out, "{}", self.summary());
        let mut dear: Vec<&ChainTask> =
            chain.tasks.iter().filter(|task| task.costs.sum_s().abs() > 5e-10).collect();
        dear.sort_by(|a, b| {
            b.costs.sum_s().total_cmp(&a.costs.sum_s()).then(a.start_s.total_cmp(&b.start_s))
        });
        if !dear.is_empty() {
            let shown = dear.len().min(DEAREST);
            let _ =
                write!(out, "\nWhat costs most, {shown} of {}\n{}", dear.len(), self.tasks(&dear[..shown]));
        }
        out
    }

    fn summary(&self) -> Table {
        let chain = &self.0.chain;
        let mut table = Table::new(&["", ""]);
        let mut row = |name: &str, value: String| table.row([format!("  {name:<14}"), value]);
        row("loss", format!("{} over the ideal network", ms(chain.loss_s)));
        row("too few", format!("{}: fewer circuits than flows", ms(chain.costs.too_few_s)));
        row("contention", format!("{}: shared circuits and NICs", ms(chain.costs.contention_s)));
        if chain.costs.held_s.abs() > 5e-10 {
            row("held back", format!("{}: later starts than needed", ms(chain.costs.held_s)));
        }
        let leaves = chain.leaves_ideal.and_then(|place| chain.tasks.get(place));
        row(
            "leaves ideal",
            leaves.map_or_else(
                || "nowhere: an ideal critical path runs through the same tasks".to_owned(),
                |task| {
                    format!("at {}, which could lose {} for nothing", self.name(task.task), ms(task.room_s))
                },
            ),
        );
        let second = self.0.second.as_ref().and_then(|second| Some((second, second.tasks.last()?)));
        row(
            "second chain",
            second.map_or_else(
                || "none: nothing else ends the iteration".to_owned(),
                |(second, last)| {
                    format!("to {}, {} behind", self.name(last.task), ms(chain.end_s - second.end_s))
                },
            ),
        );
        let donors: Vec<String> =
            self.donors().map(|(link, facts)| format!("link {link} ({})", ms(facts.spare_s))).collect();
        row("donors", if donors.is_empty() { "none".to_owned() } else { donors.join(", ") });
        table
    }

    fn tasks(&self, dear: &[&ChainTask]) -> Table {
        let mut table =
            Table::new(&["  task", ">takes", ">ideal", ">too few", ">contention", ">free", ">costs"]);
        for task in dear {
            table.row([
                format!("  {}", self.name(task.task)),
                ms(task.takes_s),
                ms(task.ideal_s),
                ms(task.loses.too_few_s),
                ms(task.loses.contention_s),
                ms(task.room_s),
                ms(task.costs.sum_s()),
            ]);
        }
        table
    }

    /// As data.
    pub fn json(&self) -> Value {
        json!({
            "critical_path": chain(&self.0.chain),
            "second_chain": self.0.second.as_ref().map(chain),
            "second_chain_behind_s": self.0.second_behind_s(),
            "donor_links": self.donors().map(|(link, _)| link).collect::<Vec<_>>(),
        })
    }
}

/// Milliseconds with their unit; what is nothing has no sign.
fn ms(seconds: f64) -> String {
    let text = format!("{:.3}", seconds * 1e3);
    let text = if text == "-0.000" { "0.000" } else { &text };
    format!("{text} ms")
}

fn causes(causes: &Causes) -> Value {
    json!({ "too_few_s": causes.too_few_s, "contention_s": causes.contention_s, "held_s": causes.held_s })
}

fn chain(chain: &Chain) -> Value {
    let tasks: Vec<Value> = chain
        .tasks
        .iter()
        .map(|task| {
            json!({
                "task": task.task,
                "delay_before_s": task.before_s,
                "start_s": task.start_s,
                "takes_s": task.takes_s,
                "ideal_takes_s": task.ideal_s,
                "late_s": task.late_s,
                "loses": causes(&task.loses),
                "room_s": task.room_s,
                "costs": causes(&task.costs),
            })
        })
        .collect();
    json!({
        "end_s": chain.end_s,
        "communication_s": chain.comm_s,
        "rigid_s": chain.rigid_s,
        "loss_s": chain.loss_s,
        "costs": causes(&chain.costs),
        "spare_s": chain.spare_s,
        "leaves_ideal_at": chain.leaves_ideal.and_then(|place| chain.tasks.get(place)).map(|task| task.task),
        "tasks": tasks,
    })
}
