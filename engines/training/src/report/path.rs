//! Causes of the loss of a plan: its critical path with what each cause adds, the chain that comes next, and the links that
//! have circuits to spare.

use super::{link_name, pod_name};
use crate::analysis::{Analysis, ChainTask, LinkFacts};
use lightbay_core::report::{Cell, Column, Facts, Section, Table, Tone, Unit};

/// Tasks of the path that an overview shows.
const OVERVIEW: usize = 8;
/// Tasks of the path that are named at either end.
const ENDS: usize = 4;

pub(super) fn section(analysis: &Analysis) -> Section {
    let chain = &analysis.chain;
    let mut dear: Vec<&ChainTask> = chain.tasks.iter().collect();
    dear.sort_by(|a, b| b.costs.sum_s().total_cmp(&a.costs.sum_s()).then(a.start_s.total_cmp(&b.start_s)));
    Section::empty("Critical path")
        .block("summary", "Critical path", summary(analysis))
        .block("tasks", "Tasks, those that add most first", tasks(analysis, &dear))
        .block("spare", "Links with circuits to spare", spare(analysis))
}

fn name(analysis: &Analysis, task: u32) -> String {
    let tasks = &analysis.setting.instance.tasks;
    tasks.get(task as usize).map_or_else(|| task.to_string(), |task| task.name.clone())
}

/// Names of the first and last tasks of the path, in order.
fn runs_through(analysis: &Analysis) -> String {
    let path = &analysis.path;
    let named = |task: &u32| name(analysis, *task);
    if path.len() <= 2 * ENDS + 1 {
        return path.iter().map(named).collect::<Vec<_>>().join(", ");
    }
    let between = format!("{} more", path.len() - 2 * ENDS);
    let (first, last) = (&path[..ENDS], &path[path.len() - ENDS..]);
    let all = first.iter().map(named).chain(std::iter::once(between)).chain(last.iter().map(named));
    all.collect::<Vec<_>>().join(", ")
}

fn summary(analysis: &Analysis) -> Facts {
    let chain = &analysis.chain;
    let mut facts = Facts::new();
    facts.add("tasks", "tasks on the path", chain.tasks.len());
    facts.add("runs_through", "runs through", runs_through(analysis));
    facts.number("communication_s", "transfers", Unit::SECONDS, chain.comm_s);
    facts.number("rigid_s", "between transfers", Unit::SECONDS, chain.rigid_s);
    facts.sentence("compute and fixed delays");
    facts.number("loss_s", "loss", Unit::MILLISECONDS, Cell::new(chain.loss_s).tone(Tone::Answer));
    facts.sentence("over the ideal network");
    facts.number("capacity_loss_s", "capacity loss", Unit::MILLISECONDS, chain.costs.too_few_s);
    facts.sentence("fewer circuits than flows");
    facts.number("contention_delay_s", "contention delay", Unit::MILLISECONDS, chain.costs.contention_s);
    facts.sentence("shared circuits and NICs");
    facts.number("paused_s", "paused (rate 0)", Unit::MILLISECONDS, chain.costs.held_s);
    facts.sentence("later starts than needed");
    let leaves = chain.leaves_ideal.and_then(|place| chain.tasks.get(place));
    match leaves {
        None => {
            facts.add("leaves_ideal_at", "leaves the ideal path", Cell::none().note("nowhere"));
            facts.sentence("an ideal critical path runs through the same tasks");
        }
        Some(task) => {
            facts.add("leaves_ideal_at", "leaves the ideal path", name(analysis, task.task));
            facts.number("leaves_ideal_room_s", "its room", Unit::MILLISECONDS, task.room_s);
            facts.sentence("it may end this much later without delay on the ideal network");
        }
    }
    let second = analysis.second.as_ref().and_then(|second| Some((second, second.tasks.last()?)));
    match second {
        None => {
            facts.add("second_chain", "second chain", Cell::none().note("nothing else ends the iteration"))
        }
        Some((second, last)) => {
            facts.add("second_chain", "second chain", format!("to {}", name(analysis, last.task)));
            facts.number(
                "second_chain_behind_s",
                "behind the path",
                Unit::MILLISECONDS,
                chain.end_s - second.end_s,
            )
        }
    };
    facts
}

fn tasks(analysis: &Analysis, dear: &[&ChainTask]) -> Table {
    let ms = |name: &str, label: &str| Column::numbers(name, label, Unit::MILLISECONDS);
    let columns = vec![
        Column::words("task", "task"),
        Column::words("pods", "pods"),
        Column::words("flows_on_circuits", "flows on circuits"),
        Column::numbers("start_s", "start", Unit::SECONDS),
        ms("takes_s", "takes"),
        ms("ideal_takes_s", "minimum"),
        ms("capacity_loss_s", "capacity loss"),
        ms("contention_delay_s", "contention"),
        ms("paused_s", "paused"),
        ms("room_s", "slack of ideal"),
        ms("adds_s", "adds to makespan"),
    ];
    let mut table = Table::new(["task", "tasks"], columns).overview(OVERVIEW);
    for task in dear {
        let instance = &analysis.setting.instance;
        let known = &instance.tasks[task.task as usize];
        let [from, to] = [known.src_pod, known.dst_pod].map(|pod| pod_name(instance, pod.index()));
        let link = analysis.setting.evaluator.network.link_of(task.task);
        let row = table.row(vec![
            Cell::new(name(analysis, task.task)),
            Cell::new(format!("{from} to {to}")),
            Cell::new(format!("{} on {}", known.flows, analysis.circuits[link])),
            Cell::new(task.start_s),
            Cell::new(task.takes_s),
            Cell::new(task.ideal_s),
            Cell::new(task.loses.too_few_s),
            Cell::new(task.loses.contention_s),
            Cell::new(task.loses.held_s),
            Cell::new(task.room_s),
            Cell::new(task.costs.sum_s()).tone(Tone::Answer),
        ]);
        row.item = Some(task.task);
    }
    table
}

/// Links that could give a circuit away, the one with most slack first.
fn spare(analysis: &Analysis) -> Table {
    let mut links: Vec<(usize, &LinkFacts)> =
        analysis.links.iter().enumerate().filter(|(_, link)| link.donates()).collect();
    links.sort_by(|a, b| b.1.spare_s.total_cmp(&a.1.spare_s).then(a.0.cmp(&b.0)));
    let columns = vec![
        Column::counts("link", "link"),
        Column::words("pods", "pods"),
        Column::counts("circuits", "circuits"),
        Column::numbers("spare_s", "slack", Unit::MILLISECONDS),
    ];
    let mut table = Table::new(["link", "links"], columns);
    for (link, facts) in links {
        let spare = if facts.spare_s.is_finite() { Cell::new(facts.spare_s) } else { Cell::none() };
        let pods = link_name(&analysis.setting.instance, link);
        let row = table.row(vec![Cell::new(link), Cell::new(pods), Cell::new(facts.circuits), spare]);
        row.item = Some(link as u32);
    }
    table
}
