//! Sentences about a task, built from one set of words everywhere.

use super::explained::Explained;
use super::links;
use lightbay_engines::training::analysis::Step;
use lightbay_engines::training::plan::RateControl;
use lightbay_engines::training::scenario::instance::{Task, TaskKind};
use lightbay_widgets::{Piece, Tone, number};

/// Meaning of a kind of task.
pub const fn tone(kind: TaskKind) -> Tone {
    match kind {
        TaskKind::PpFwd => Tone::Forward,
        TaskKind::PpBwd => Tone::Backward,
        TaskKind::Dp => Tone::Gradient,
        TaskKind::Other => Tone::Text,
    }
}

/// `critical path 51 of 198`: how many tasks are on it. The one meaning of critical: no slack while everything after runs
/// as planned, as [`lightbay_engines::training::analysis::TaskFacts::critical`] says.
pub fn critical(facts: &Explained) -> String {
    let on_path = facts.analysis.tasks.iter().filter(|task| task.critical).count();
    format!("critical path {on_path} of {}", facts.analysis.tasks.len())
}

/// `DP s2*`: the name, with its star if it is critical.
pub fn starred(facts: &Explained, task: u32) -> String {
    let star = if facts.analysis.tasks[task as usize].critical { "*" } else { "" };
    format!("{}{star}", facts.name(task))
}

/// Whether stages hold several chunks, so that a micro-batch alone does not name a compute.
pub fn has_chunks(facts: &Explained) -> bool {
    facts.steps.iter().any(|step| step.chunk > 0)
}

/// Micro-batch of a compute, and its chunk if stages hold several: `3.2`.
pub fn step_number(step: &Step, chunks: bool) -> String {
    let micro_batch = step.micro_batch + 1;
    if chunks { format!("{micro_batch}.{}", step.chunk + 1) } else { micro_batch.to_string() }
}

/// Micro-batch of a pipeline transfer, with the chunk that its name may say: `3.2` of `F3.2 s1>s2`.
pub fn task_number(task: &Task) -> String {
    let micro_batch = task.micro_batch.to_string();
    let number = task.name.split(' ').next().and_then(|first| first.strip_prefix(['F', 'B']));
    let chunk = number.and_then(|number| number.strip_prefix(&micro_batch)?.strip_prefix('.'));
    match chunk {
        Some(chunk) if chunk.parse::<u32>().is_ok() => format!("{micro_batch}.{chunk}"),
        _ => micro_batch,
    }
}

/// Tasks that are active on the same directed link at the same time as `task`.
pub fn sharing(facts: &Explained, task: u32) -> Vec<u32> {
    let network = &facts.analysis.setting.evaluator.network;
    let (own, via) = (&facts.analysis.tasks[task as usize], network.via[task as usize]);
    network.carried[via as usize]
        .iter()
        .copied()
        .filter(|other| {
            let facts = &facts.analysis.tasks[*other as usize];
            *other != task && facts.start_s < own.finish_s - 1e-9 && facts.finish_s > own.start_s + 1e-9
        })
        .collect()
}

fn names(facts: &Explained, tasks: &[u32]) -> String {
    const MOST: usize = 3;
    let mut text: Vec<String> = tasks.iter().take(MOST).map(|task| facts.name(*task).to_owned()).collect();
    if tasks.len() > MOST {
        text.push(format!("{} more", tasks.len() - MOST));
    }
    text.join(", ")
}

/// How long the task takes, how long it would at least, its slack, and what the difference is due to.
pub fn timing(facts: &Explained, task: u32) -> Vec<Piece> {
    let analysis = &facts.analysis;
    let own = &analysis.tasks[task as usize];
    let mut pieces = vec![
        Piece::answer(format!("> {}", starred(facts, task))),
        Piece::text(format!("  {} ms", number::millis(own.takes_s(), 1).as_str())),
        Piece::muted(format!(", min {}", number::millis(own.least_s, 1).as_str())),
        Piece::muted("  slack at full rate "),
        Piece::answer(number::millis(own.slack_s, 1).as_str().to_owned()),
    ];
    let late = own.takes_s() - own.least_s;
    if late > own.least_s * 1e-6 {
        let sharing = sharing(facts, task);
        let link = analysis.setting.evaluator.network.link_of(task);
        let (why, cost) = if sharing.is_empty() {
            (format!("  capacity loss ({}): ", circuits(analysis.circuits[link])), late)
        } else {
            ("  contention delay: ".to_owned(), cost_of_sharing(facts, task, &sharing))
        };
        pieces.push(Piece::muted(why));
        let tone = if own.critical && cost > 0.0 { Tone::Bad } else { Tone::Text };
        pieces.push(Piece::new(format!("+{}", number::millis(cost, 1).as_str()), tone).bold());
    }
    pieces
}

/// `1 circuit`, `6 circuits`.
pub fn circuits(count: u32) -> String {
    format!("{count} circuit{}", if count == 1 { "" } else { "s" })
}

/// How much later a task ends than it and those it shares its link with would, were each alone on the circuits:
/// what sharing costs, seconds. What a task only waits for others that could not end earlier either is no cost.
fn cost_of_sharing(facts: &Explained, task: u32, sharing: &[u32]) -> f64 {
    let analysis = &facts.analysis;
    let network = &analysis.setting.evaluator.network;
    let alone_until = |task: u32| {
        let circuits = f64::from(analysis.circuits[network.link_of(task)]);
        let flows = network.flows[task as usize];
        let least_s = analysis.tasks[task as usize].least_s;
        analysis.tasks[task as usize].start_s + least_s * (flows / circuits).max(1.0)
    };
    let end = sharing.iter().copied().map(alone_until).fold(alone_until(task), f64::max);
    (analysis.tasks[task as usize].finish_s - end).max(0.0)
}

/// Who the task shares its link with, and what fair sharing would have meant.
pub fn company(facts: &Explained, task: u32) -> Vec<Piece> {
    let analysis = &facts.analysis;
    let own = &analysis.tasks[task as usize];
    let mut pieces = vec![
        Piece::answer(format!("> {}", starred(facts, task))),
        // What is shorter than the decimals would seem to take no time.
        Piece::text(if own.takes_s() >= 2e-3 {
            format!(
                "  {}–{} s",
                number::fixed(own.start_s, 3).as_str(),
                number::fixed(own.finish_s, 3).as_str()
            )
        } else {
            format!(
                "  at {} s for {} ms",
                number::fixed(own.start_s, 3).as_str(),
                number::millis(own.takes_s(), 3).as_str()
            )
        }),
    ];
    let sharing = sharing(facts, task);
    let link = analysis.setting.evaluator.network.link_of(task);
    if sharing.is_empty() {
        pieces.push(Piece::muted(format!("  alone on {}", circuits(analysis.circuits[link]))));
    } else {
        pieces.push(Piece::muted(format!("  shares {} with ", circuits(analysis.circuits[link]))));
        pieces.push(Piece::text(names(facts, &sharing)));
    }
    let later = own.fair_finish_s - own.finish_s;
    if analysis.rate_control == RateControl::Joint && later.abs() > 1e-6 {
        pieces.push(Piece::muted("; max-min fair: ends at "));
        pieces.push(Piece::text(number::seconds3(own.fair_finish_s).as_str().to_owned()));
        pieces.push(Piece::muted(", iteration at "));
        pieces.push(Piece::text(number::seconds3(analysis.fair_makespan_s).as_str().to_owned()));
    }
    pieces
}

/// What there is to know about a task, one line each.
pub fn details(facts: &Explained, task: u32) -> Vec<String> {
    let analysis = &facts.analysis;
    let own = &analysis.tasks[task as usize];
    let network = &analysis.setting.evaluator.network;
    let instance = &analysis.setting.instance;
    let windows = &analysis.setting.windows;
    let mean = network.volume[task as usize] / own.takes_s().max(f64::MIN_POSITIVE) / network.rate;
    let mut lines = vec![
        format!("{}  {}", starred(facts, task), links::route(instance, task)),
        format!(
            "flows {}, volume {} bytes, mean rate {} NICs",
            network.flows[task as usize],
            number::count(network.volume[task as usize] as u64).as_str(),
            number::fixed(mean, 2).as_str()
        ),
        format!(
            "start {} s, finish {} s, takes {} ms, minimum duration {} ms",
            number::seconds6(own.start_s).as_str(),
            number::seconds6(own.finish_s).as_str(),
            number::millis(own.takes_s(), 3).as_str(),
            number::millis(own.least_s, 3).as_str()
        ),
        format!(
            "on the ideal network {} to {} s, at max-min fair rates until {} s",
            number::seconds6(own.ideal_start_s).as_str(),
            number::seconds6(own.ideal_finish_s).as_str(),
            number::seconds6(own.fair_finish_s).as_str()
        ),
        format!(
            "slack {} ms; earliest start {} s, latest finish {} s for any plan within {} s",
            number::millis(own.slack_s, 3).as_str(),
            number::seconds6(windows.est[task as usize]).as_str(),
            number::seconds6(windows.lct[task as usize]).as_str(),
            number::seconds6(analysis.setting.limit_s).as_str()
        ),
    ];
    for (word, list) in [("after", analysis.predecessors(task)), ("before", analysis.successors(task))] {
        for (other, delay, tight) in list {
            lines.push(format!(
                "{word} {} {:+.3} ms{}",
                starred(facts, other),
                delay * 1e3,
                if tight { ", no room" } else { "" }
            ));
        }
    }
    lines
}
