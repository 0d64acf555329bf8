//! Slack of every task, its distribution, and the links with spare circuits.

use super::link_name;
use super::task::{circuits, name, route, timing};
use crate::analysis::{Analysis, LinkFacts, SlackBin, slack_bins};
use lightbay_core::report::text::number;
use lightbay_core::report::{Cell, Column, Phrase, Row, Section, Table, Tone, Unit};

/// Number of tasks that an overview shows.
const OVERVIEW: usize = 8;

/// Orders in which the tasks can be listed.
pub const ORDERS: &[&str] = &["by slack", "by start", "by link"];

pub(super) fn section(analysis: &Analysis) -> Section {
    let bins = slack_bins(&analysis.tasks);
    let none = bins.first().map_or(0, |bin| bin.tasks);
    let critical = analysis.tasks.iter().filter(|task| task.critical).count();
    Section::empty("Slack")
        .context(Phrase::new().muted(format!("{none} without slack at full rate{}", donors(analysis))))
        .answer(Phrase::new().answer(format!("{critical} of {} tasks critical", analysis.tasks.len())))
        .remark(
            "Slack at full rate: how much later a task could end without delaying the iteration if everything after it ran at full rate; as planned: if everything after it took as long as in the plan. A star marks the critical path.",
        )
        .block("spread", "Tasks by slack at full rate", spread(&bins))
        .block("tasks", "Tasks, those with least slack first", tasks(analysis))
        .block("spare", "Links with spare circuits", spare(analysis))
}

fn ms(seconds: f64) -> String {
    number(seconds, Unit::MILLISECONDS.with_decimals(1))
}

fn spread(bins: &[SlackBin]) -> Table {
    let columns = vec![
        Column::words("slack", "slack"),
        Column::numbers("up_to_s", "up to", Unit::MILLISECONDS).priority(9),
        Column::counts("tasks", "tasks"),
    ];
    let mut table = Table::new(["range", "ranges"], columns).bar(2);
    for bin in bins {
        let label = |seconds: f64| {
            format!("{} ms", number(seconds, Unit::MILLISECONDS.with_decimals(u8::from(seconds < 1e-3))))
        };
        let (words, tone) = if bin.above_s <= 0.0 {
            ("none".to_owned(), Tone::Bad)
        } else if bin.to_s.is_finite() {
            (format!("to {}", label(bin.to_s)), Tone::Text)
        } else {
            (format!("above {}", label(bin.above_s)), Tone::Text)
        };
        let up_to = if bin.to_s.is_finite() { Cell::new(bin.to_s) } else { Cell::none() };
        table.row(vec![Cell::new(words), up_to.tone(Tone::Muted), Cell::new(bin.tasks).tone(tone)]);
    }
    table
}

/// Links that could give up a circuit, sorted by descending slack.
fn donating(analysis: &Analysis) -> Vec<(usize, &LinkFacts)> {
    let mut links: Vec<(usize, &LinkFacts)> =
        analysis.links.iter().enumerate().filter(|(_, link)| link.donates()).collect();
    links.sort_by(|a, b| b.1.spare_s.total_cmp(&a.1.spare_s).then(a.0.cmp(&b.0)));
    links
}

/// Names of the links with spare circuits, as the end of a sentence.
fn donors(analysis: &Analysis) -> String {
    let names: Vec<String> =
        donating(analysis).iter().map(|(link, _)| link_name(&analysis.setting.instance, *link)).collect();
    if names.is_empty() { String::new() } else { format!("; spare circuits on {}", names.join(", ")) }
}

fn spare(analysis: &Analysis) -> Table {
    let links = donating(analysis);
    let columns = vec![
        Column::words("pods", "pods"),
        Column::counts("circuits", "circuits"),
        Column::numbers("spare_s", "slack as planned", Unit::MILLISECONDS),
        Column::counts("link", "link").priority(5),
    ];
    let mut table = Table::new(["link", "links"], columns);
    for (link, facts) in links {
        let spare = if facts.spare_s.is_finite() { Cell::new(facts.spare_s) } else { Cell::none() };
        let pods = Cell::new(link_name(&analysis.setting.instance, link)).tone(Tone::Good);
        table.row(vec![pods, Cell::new(facts.circuits), spare, Cell::new(link)]).item = Some(link as u32);
    }
    table
}

fn tasks(analysis: &Analysis) -> Table {
    let columns = vec![
        Column::words("task", "task"),
        Column::words("pods", "pods").priority(1),
        Column::numbers("slack_s", "full rate", Unit::MILLISECONDS),
        Column::numbers("spare_s", "as planned", Unit::MILLISECONDS).priority(2),
        Column::numbers("takes_s", "takes", Unit::MILLISECONDS).priority(5),
        Column::numbers("start_s", "starts", Unit::SECONDS).priority(7),
        Column::numbers("finish_s", "ends", Unit::SECONDS).priority(3),
        Column::counts("link", "link").priority(6),
        Column::words("spare", "spare circuits").priority(4),
    ];
    let mut table = Table::new(["task", "tasks"], columns)
        .overview(OVERVIEW)
        .order(ORDERS[0], vec![2])
        .order(ORDERS[1], vec![5])
        .order(ORDERS[2], vec![7, 2]);
    let mut order: Vec<u32> = (0..analysis.tasks.len() as u32).collect();
    let slack_s = |task: u32| analysis.tasks[task as usize].slack_s;
    order.sort_by(|a, b| slack_s(*a).total_cmp(&slack_s(*b)).then(a.cmp(b)));
    for task in order {
        table.push(row(analysis, task));
    }
    table
}

fn row(analysis: &Analysis, task: u32) -> Row {
    let own = &analysis.tasks[task as usize];
    let instance = &analysis.setting.instance;
    let link = analysis.setting.evaluator.network.link_of(task);
    let gives = analysis.links[link].donates();
    Row::new(vec![
        Cell::new(name(instance, task)),
        Cell::new(route(instance, task)).tone(Tone::Muted),
        Cell::new(own.slack_s).tone(Tone::Answer),
        Cell::new(own.spare_s),
        Cell::new(own.takes_s()).tone(Tone::Muted),
        Cell::new(own.start_s).tone(Tone::Muted),
        Cell::new(own.finish_s).tone(Tone::Muted),
        Cell::new(link).tone(Tone::Muted),
        Cell::new(gives).tone(if gives { Tone::Good } else { Tone::Muted }),
    ])
    .item(task)
    .mark(if own.critical { "*" } else { "" })
}

/// One sentence on a task: its slack, and the spare circuits of its link.
pub fn on_task(analysis: &Analysis, task: u32) -> Phrase {
    let instance = &analysis.setting.instance;
    let link = analysis.setting.evaluator.network.link_of(task);
    let spare = ms(analysis.tasks[task as usize].spare_s);
    let phrase = timing(analysis, task).muted(format!(", as planned {spare}"));
    let pods = link_name(instance, link);
    if analysis.links[link].donates() {
        phrase.muted(format!("  {pods} ")).good("has spare circuits")
    } else {
        phrase.muted(format!("  {pods} keeps its {}", circuits(analysis.circuits[link])))
    }
}
