//! Causes of the loss of a plan: its critical path with the time that each cause adds, and the second critical path.

use super::task::{name, route, starred};
use crate::analysis::{Analysis, Chain, ChainTask};
use lightbay_core::report::text::number;
use lightbay_core::report::{Cell, Column, Facts, Phrase, Row, Section, Table, Tone, Unit};
use std::fmt::Write as _;

/// Number of tasks of the path that an overview shows.
const OVERVIEW: usize = 8;
/// Number of tasks that are named at each end of the path.
const ENDS: usize = 4;
/// Orders in which the tasks can be listed.
pub const ORDERS: &[&str] = &["by added delay", "in their order"];
/// Index of the start among the columns of a task.
const START: usize = 3;
/// Losses below this count as zero, seconds.
const NOTHING_S: f64 = 5e-10;

/// Unit of delays, which are shown with a `+`.
const DELAY: Unit = Unit::MILLISECONDS.signed();

pub(super) fn section(analysis: &Analysis) -> Section {
    let chain = &analysis.chain;
    let path = dearest_first(chain.tasks.iter());
    let section = Section::empty("Critical path")
        .context(Phrase::new().muted(format!("critical, {} tasks", path.len())))
        .answer(Phrase::new().answer(format!("loss {}", ms(chain.loss_s))).muted(" ms"))
        .block("summary", "", summary(analysis))
        .block("tasks", "Tasks by added time, most first", tasks(analysis, chain, &path));
    let section = match &analysis.second {
        None => section,
        Some(second) => {
            let is_own = |task: &&ChainTask| path.iter().all(|other| other.task != task.task);
            let own = dearest_first(second.tasks.iter().filter(is_own));
            let earlier_s = chain.end_s - second.end_s;
            let ends = if earlier_s > NOTHING_S {
                format!("which ends {} ms earlier", ms(earlier_s))
            } else {
                "which ends at the same time".to_owned()
            };
            section.block(
                "second",
                format!("Tasks only on the second critical path, {ends}"),
                tasks(analysis, second, &own),
            )
        }
    };
    section.block("chain", "The path", course(analysis))
}

/// Tasks sorted by the time that they add to the makespan; tasks that differ only by rounding keep the order of the
/// path.
fn dearest_first<'a>(tasks: impl Iterator<Item = &'a ChainTask>) -> Vec<&'a ChainTask> {
    let mut tasks: Vec<&ChainTask> = tasks.collect();
    let adds = |task: &ChainTask| (task.costs.sum_s() * 1e9).round();
    tasks.sort_by(|a, b| adds(b).total_cmp(&adds(a)).then(a.start_s.total_cmp(&b.start_s)));
    tasks
}

fn ms(seconds: f64) -> String {
    number(seconds, Unit::MILLISECONDS)
}

/// The steps from the ideal makespan to the makespan of the plan, cause by cause, and the second critical path.
fn summary(analysis: &Analysis) -> Facts {
    let chain = &analysis.chain;
    let costs = &chain.costs;
    let ideal_s = analysis.setting.evaluator.ideal.makespan();
    let mut facts = Facts::new();
    facts.number("ideal_makespan_s", "ideal network", Unit::MILLISECONDS, ideal_s);
    let mut cause = |name, label, seconds: f64, sentence: &str| {
        let tone = if seconds > NOTHING_S { Tone::Bad } else { Tone::Muted };
        let seconds = if seconds.abs() > NOTHING_S { seconds } else { 0.0 };
        facts.part(name, label, DELAY, Cell::new(seconds).tone(tone));
        facts.sentence(sentence);
    };
    cause("capacity_loss_s", "capacity loss", costs.too_few_s, "fewer circuits than flows");
    cause("contention_delay_s", "contention delay", costs.contention_s, "shared circuits and NICs");
    cause("paused_s", "paused (rate 0)", costs.held_s, "transfers start too late");
    if chain.spare_s > NOTHING_S {
        cause(
            "ahead_s",
            "ahead of ideal",
            -chain.spare_s,
            "slack of the ideal schedule that delays did not use up",
        );
    }
    facts.number("makespan_s", "makespan", Unit::MILLISECONDS, Cell::new(chain.end_s).tone(Tone::Answer));
    match chain.leaves_ideal.and_then(|place| chain.tasks.get(place)) {
        None => {
            facts.add("leaves_ideal_at", "leaves the ideal path", Cell::none().note("nowhere"));
            facts.sentence("an ideal critical path runs through the same tasks to the end");
        }
        Some(task) => {
            facts.add(
                "leaves_ideal_at",
                "leaves the ideal path",
                name(&analysis.setting.instance, task.task),
            );
            let hidden = format!("{} ms hidden by slack in the ideal schedule", ms(task.room_s));
            facts.sentence(if task.room_s > NOTHING_S { hidden } else { "marked ! in the list".to_owned() });
        }
    }
    let second = analysis.second.as_ref().and_then(|second| Some((second, second.tasks.last()?)));
    match second {
        None => {
            facts.add("second_chain", "second chain", Cell::none().note("no other task ends the iteration"));
        }
        Some((second, last)) => {
            facts.number(
                "second_chain_behind_s",
                "second chain",
                Unit::MILLISECONDS,
                chain.end_s - second.end_s,
            );
            let mut words = format!("behind, to {}", name(&analysis.setting.instance, last.task));
            let causes =
                [("capacity loss", second.costs.too_few_s), ("contention delay", second.costs.contention_s)];
            for (cause, seconds) in causes.into_iter().filter(|(_, seconds)| *seconds > NOTHING_S) {
                let _ = write!(words, "  {cause} {}", number(seconds, DELAY));
            }
            facts.sentence(words);
        }
    }
    facts
}

/// The number of tasks on the critical path, the first and the last of them, the time in transfers and between
/// transfers, and the loss.
fn course(analysis: &Analysis) -> Facts {
    let chain = &analysis.chain;
    let mut facts = Facts::new();
    facts.add("tasks", "tasks on the path", chain.tasks.len());
    facts.add("runs_through", "runs through", runs_through(analysis));
    facts.number("communication_s", "transfers", Unit::SECONDS, chain.comm_s);
    facts.number("rigid_s", "between transfers", Unit::SECONDS, chain.rigid_s);
    facts.sentence("compute and fixed delays");
    facts.number("loss_s", "loss", Unit::MILLISECONDS, Cell::new(chain.loss_s).tone(Tone::Answer));
    facts.sentence("over the ideal network");
    facts
}

/// Names of the first and last tasks of the path, in order.
fn runs_through(analysis: &Analysis) -> String {
    let path = &analysis.path;
    let named = |task: &u32| name(&analysis.setting.instance, *task);
    if path.len() <= 2 * ENDS + 1 {
        return path.iter().map(named).collect::<Vec<_>>().join(", ");
    }
    let between = format!("{} more", path.len() - 2 * ENDS);
    let (first, last) = (&path[..ENDS], &path[path.len() - ENDS..]);
    let all = first.iter().map(named).chain(std::iter::once(between)).chain(last.iter().map(named));
    all.collect::<Vec<_>>().join(", ")
}

fn tasks(analysis: &Analysis, chain: &Chain, shown: &[&ChainTask]) -> Table {
    let ms = |name: &str, label: &str| Column::numbers(name, label, Unit::MILLISECONDS);
    let delay = |name: &str, label: &str| Column::numbers(name, label, DELAY);
    let columns = vec![
        Column::words("task", "task"),
        Column::words("pods", "pods").priority(6),
        Column::words("flows_on_circuits", "flows on circuits").priority(10),
        Column::numbers("start_s", "start", Unit::SECONDS).priority(9),
        ms("delay_s", "delay before").priority(7),
        ms("takes_s", "takes").priority(2),
        ms("ideal_takes_s", "ideal").priority(5),
        delay("start_delay_s", "start delay").priority(8),
        delay("capacity_loss_s", "cap. loss").priority(4),
        delay("contention_delay_s", "contention").priority(3),
        delay("paused_s", "paused").priority(11),
        ms("room_s", "slack of ideal").priority(12),
        delay("adds_s", "adds"),
    ];
    let mut table = Table::new(["task", "tasks"], columns)
        .overview(OVERVIEW)
        .order(ORDERS[0], Vec::new())
        .order(ORDERS[1], vec![START]);
    let leaves = chain.leaves_ideal.and_then(|place| chain.tasks.get(place)).map(|task| task.task);
    for task in shown {
        let mark = if leaves == Some(task.task) { "!" } else { "" };
        table.push(row(analysis, task)).mark = mark;
    }
    table
}

fn row(analysis: &Analysis, task: &ChainTask) -> Row {
    let instance = &analysis.setting.instance;
    let flows = instance.tasks.get(task.task as usize).map_or(0, |known| known.flows);
    let circuits = analysis.circuits[analysis.setting.evaluator.network.link_of(task.task)];
    let lost = |seconds: f64, tone: Tone| {
        let is_none = seconds.abs() <= NOTHING_S;
        Cell::new(if is_none { 0.0 } else { seconds }).tone(if is_none { Tone::Muted } else { tone })
    };
    Row::new(vec![
        Cell::new(name(instance, task.task)),
        Cell::new(route(instance, task.task)).tone(Tone::Muted),
        Cell::new(format!("{flows} on {circuits}")).tone(Tone::Muted),
        Cell::new(task.start_s).tone(Tone::Muted),
        Cell::new(task.before_s).tone(Tone::Muted),
        Cell::new(task.takes_s),
        Cell::new(task.ideal_s).tone(Tone::Muted),
        lost(task.late_s, Tone::Muted),
        lost(task.loses.too_few_s, Tone::Text),
        lost(task.loses.contention_s, Tone::Text),
        lost(task.loses.held_s, Tone::Text),
        lost(task.room_s, Tone::Muted),
        lost(task.costs.sum_s(), Tone::Bad),
    ])
    .item(task.task)
    .sentence(on_task(analysis, task))
}

/// One sentence on a task of a chain.
fn on_task(analysis: &Analysis, task: &ChainTask) -> Phrase {
    let costs_s = task.costs.sum_s();
    let tone = if costs_s > NOTHING_S { Tone::Bad } else { Tone::Text };
    let mut phrase = Phrase::new()
        .answer(format!("> {}", starred(analysis, task.task)))
        .text(format!("  {} ms", ms(task.takes_s)))
        .muted(format!(", ideal {}  adds ", ms(task.ideal_s)))
        .with(ms(costs_s), tone);
    let parts = [
        ("start delay", task.late_s),
        ("paused", task.loses.held_s),
        ("capacity loss", task.loses.too_few_s),
        ("contention delay", task.loses.contention_s),
    ];
    for (name, seconds) in parts.into_iter().filter(|(_, seconds)| seconds.abs() > NOTHING_S) {
        phrase = phrase.muted(format!("  {name} ")).text(number(seconds, DELAY));
    }
    if task.room_s > NOTHING_S {
        phrase = phrase.muted(format!("  {} hidden by slack in the ideal schedule", ms(task.room_s)));
    }
    phrase
}
