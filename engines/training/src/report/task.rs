//! Sentences on a task of a plan, in the same words everywhere.

use super::{link_name, pod_name};
use crate::analysis::Analysis;
use crate::plan::RateControl;
use crate::scenario::instance::Instance;
use lightbay_core::problem::counted;
use lightbay_core::report::text::number;
use lightbay_core::report::{Phrase, Tone, Unit};

/// Times closer than this count as equal, seconds.
const SAME_MOMENT_S: f64 = 1e-9;

/// Minimum duration at which start and end differ with three decimals, seconds.
const SHORT_S: f64 = 2e-3;

/// Maximum number of tasks that a sentence names.
const NAMED: usize = 3;

/// Formats a time in milliseconds with one decimal.
fn ms(seconds: f64) -> String {
    number(seconds, Unit::MILLISECONDS.with_decimals(1))
}

fn seconds(seconds: f64) -> String {
    number(seconds, Unit::SECONDS.with_decimals(3))
}

/// Name of a task.
pub(crate) fn name(instance: &Instance, task: u32) -> String {
    instance.tasks.get(task as usize).map_or_else(|| task.to_string(), |task| task.name.clone())
}

/// Names the pods of a task: `p0→p1`.
pub(super) fn route(instance: &Instance, task: u32) -> String {
    let Some(task) = instance.tasks.get(task as usize) else { return String::new() };
    between(instance, task.src_pod.index(), task.dst_pod.index())
}

/// Names two pods: `p0→p1`, with `ring` for a mirror.
pub(super) fn between(instance: &Instance, from: usize, to: usize) -> String {
    format!("{}→{}", end_name(instance, from), end_name(instance, to))
}

/// Name of a pod at the end of a link; a mirror is named as the ring neighbour of the pod at the other end.
pub(super) fn end_name(instance: &Instance, pod: usize) -> String {
    match instance.pods.get(pod) {
        Some(found) if found.mirror => "ring".to_owned(),
        _ => pod_name(instance, pod),
    }
}

/// Name of a task, with a star if the task is on the critical path: `DP s2*`.
pub fn starred(analysis: &Analysis, task: u32) -> String {
    let star = if analysis.tasks[task as usize].critical { "*" } else { "" };
    format!("{}{star}", name(&analysis.setting.instance, task))
}

/// Tasks that are active on the same directed link at the same time as a task.
fn sharing(analysis: &Analysis, task: u32) -> Vec<u32> {
    let network = &analysis.setting.evaluator.network;
    let (own, via) = (&analysis.tasks[task as usize], network.via[task as usize]);
    let overlaps = |other: &u32| {
        let facts = &analysis.tasks[*other as usize];
        *other != task
            && facts.start_s < own.finish_s - SAME_MOMENT_S
            && facts.finish_s > own.start_s + SAME_MOMENT_S
    };
    network.carried[via as usize].iter().copied().filter(overlaps).collect()
}

fn names(analysis: &Analysis, tasks: &[u32]) -> String {
    let named = tasks.iter().take(NAMED).map(|task| name(&analysis.setting.instance, *task));
    let mut names: Vec<String> = named.collect();
    if tasks.len() > NAMED {
        names.push(format!("{} more", tasks.len() - NAMED));
    }
    names.join(", ")
}

/// Number of circuits of a link in words: `6 circuits`, or `up to 6 circuits` if they change within the iteration.
fn circuits_of(analysis: &Analysis, link: usize) -> String {
    let up_to = if analysis.moves { "up to " } else { "" };
    format!("{up_to}{}", circuits(analysis.circuits[link]))
}

/// Number of circuits in words: `6 circuits`.
pub(super) fn circuits(count: u32) -> String {
    counted(count.into(), "circuit", "circuits")
}

/// Duration of a task, its minimum duration and its slack; if the task takes longer than the minimum, also the cause.
pub fn timing(analysis: &Analysis, task: u32) -> Phrase {
    let own = &analysis.tasks[task as usize];
    let phrase = Phrase::new()
        .answer(format!("> {}", starred(analysis, task)))
        .text(format!("  {} ms", ms(own.takes_s())))
        .muted(format!(", min {}", ms(own.least_s)))
        .muted("  slack at full rate ")
        .answer(ms(own.slack_s));
    let late_s = own.takes_s() - own.least_s;
    if late_s <= own.least_s * 1e-6 {
        return phrase;
    }
    let sharing = sharing(analysis, task);
    let link = analysis.setting.evaluator.network.link_of(task);
    let (cause, cost_s) = if analysis.moves {
        (format!("  longer, on {}: ", circuits_of(analysis, link)), late_s)
    } else if sharing.is_empty() {
        (format!("  capacity loss ({}): ", circuits_of(analysis, link)), late_s)
    } else {
        ("  contention delay: ".to_owned(), cost_of_sharing(analysis, task, &sharing))
    };
    let tone = if own.critical && cost_s > 0.0 { Tone::Bad } else { Tone::Text };
    phrase.muted(cause).with(format!("+{}", ms(cost_s)), tone)
}

/// Cost of sharing, in seconds: the end of the task minus the time at which the last of this task and the tasks
/// `sharing` its link would end if each of them had all circuits of the link. Waiting for tasks that could not end
/// earlier themselves is not counted.
fn cost_of_sharing(analysis: &Analysis, task: u32, sharing: &[u32]) -> f64 {
    let network = &analysis.setting.evaluator.network;
    let alone_until = |task: u32| {
        let circuits = f64::from(analysis.circuits[network.link_of(task)]);
        let own = &analysis.tasks[task as usize];
        own.start_s + own.least_s * (network.flows[task as usize] / circuits).max(1.0)
    };
    let end_s = sharing.iter().copied().map(alone_until).fold(alone_until(task), f64::max);
    (analysis.tasks[task as usize].finish_s - end_s).max(0.0)
}

/// Tasks with which a task shares its link. For a plan at scheduled rates, also the end of the task under max-min fair
/// rates, if it differs.
pub fn company(analysis: &Analysis, task: u32) -> Phrase {
    let own = &analysis.tasks[task as usize];
    let time = if own.takes_s() >= SHORT_S {
        format!("  {} to {} s", seconds(own.start_s), seconds(own.finish_s))
    } else {
        let takes = number(own.takes_s(), Unit::MILLISECONDS);
        format!("  at {} s for {takes} ms", seconds(own.start_s))
    };
    let mut phrase = Phrase::new().answer(format!("> {}", starred(analysis, task))).text(time);
    let sharing = sharing(analysis, task);
    let circuits = circuits_of(analysis, analysis.setting.evaluator.network.link_of(task));
    phrase = if sharing.is_empty() {
        phrase.muted(format!("  alone on {circuits}"))
    } else {
        phrase.muted(format!("  shares {circuits} with ")).text(names(analysis, &sharing))
    };
    let later_s = own.fair_finish_s - own.finish_s;
    if analysis.rate_control == RateControl::Joint && later_s.abs() > 1e-6 {
        phrase = phrase
            .muted("; max-min fair: ends at ")
            .text(seconds(own.fair_finish_s))
            .muted(", iteration at ")
            .text(seconds(analysis.fair_makespan_s));
    }
    phrase
}

/// Every figure of a task, one line each.
pub fn details(analysis: &Analysis, task: u32) -> Vec<String> {
    let own = &analysis.tasks[task as usize];
    let setting = &analysis.setting;
    let (network, windows) = (&setting.evaluator.network, &setting.windows);
    let index = task as usize;
    let mean = network.volume[index] / own.takes_s().max(f64::MIN_POSITIVE) / network.rate;
    let moment = |seconds: f64| number(seconds, Unit::SECONDS);
    let ms = |seconds: f64| number(seconds, Unit::MILLISECONDS);
    let link = network.link_of(task);
    let mut lines = vec![
        format!("{}  {}", starred(analysis, task), route(&setting.instance, task)),
        format!("link {link}, {}, {}", link_name(&setting.instance, link), circuits_of(analysis, link)),
        format!(
            "flows {}, volume {} bytes, mean rate {mean:.2} NICs",
            network.flows[index],
            number(network.volume[index], Unit::COUNT)
        ),
        format!(
            "start {} s, finish {} s, takes {} ms, minimum duration {} ms",
            moment(own.start_s),
            moment(own.finish_s),
            ms(own.takes_s()),
            ms(own.least_s)
        ),
        format!(
            "on the ideal network {} to {} s{}",
            moment(own.ideal_start_s),
            moment(own.ideal_finish_s),
            if analysis.moves {
                String::new()
            } else {
                format!(", at max-min fair rates until {} s", moment(own.fair_finish_s))
            }
        ),
        format!(
            "slack {} ms; earliest start {} s, latest finish {} s in any plan of at most {} s",
            ms(own.slack_s),
            moment(windows.est[index]),
            moment(windows.lct[index]),
            moment(setting.limit_s)
        ),
    ];
    for (word, list) in [("after", analysis.predecessors(task)), ("before", analysis.successors(task))] {
        for (other, delay_s, tight) in list {
            let room = if tight { ", no slack" } else { "" };
            lines.push(format!("{word} {} {:+.3} ms{room}", starred(analysis, other), delay_s * 1e3));
        }
    }
    lines
}
