//! Sinks that share one directed link: the exact end of the last sink under either rate rule.
//!
//! Times are seconds; work is counted in seconds at full NIC speed (V/(F*B)) and speed is a fraction of this full
//! speed, so a sink of F flows at speed s uses F*s of the link's `circuits`.
//!
//! Under joint rates all sinks of a link have the same deadline (the end of the iteration minus their common tail), and
//! serving the sink with the most remaining work first, with sharing among sinks of equal remaining work, gives the
//! earliest possible end. This is the fluid highest-level-first rule. The rule is applied here event by event without
//! tolerances: groups that meet are merged, so every step ends at an event.

use crate::simulate::same_moment_s;

/// A sink with its work on the link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sink {
    /// Task id, for ties and for recording.
    pub task: u32,
    /// Earliest start of the sink, seconds.
    pub release: f64,
    /// Work of the sink, seconds at full NIC speed.
    pub work: f64,
    /// Number of flows, F.
    pub flows: f64,
    /// Work that follows the sink, seconds.
    pub tail: f64,
}

/// A stretch of constant speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// Index of the sink in the given slice.
    pub sink: u32,
    /// Start of the stretch, seconds.
    pub start: f64,
    /// End of the stretch, seconds.
    pub end: f64,
    /// Speed as a fraction of full NIC speed.
    pub speed: f64,
}

/// Sinks of equal level, which stay together.
#[derive(Clone, Copy, Debug)]
struct LevelGroup {
    level: f64,
    flows: f64,
    speed: f64,
    name: u32,
}

/// Buffers that are reused between sinks of different links.
#[derive(Clone, Debug, Default)]
pub struct SinkScratch {
    targets: Vec<(f64, u32)>,
    groups: Vec<LevelGroup>,
    group_of: Vec<u32>,
    open: Vec<(f64, f64)>,
}

/// Orders sinks as the solvers below expect them: by release, then by task.
pub fn sort(sinks: &mut [Sink]) {
    sinks.sort_unstable_by(|a, b| a.release.total_cmp(&b.release).then(a.task.cmp(&b.task)));
}

/// Largest finish + tail of sorted sinks under max-min fairness per flow.
pub fn fair(
    sinks: &[Sink],
    circuits: f64,
    scratch: &mut SinkScratch,
    mut record: Option<&mut Vec<Stretch>>,
) -> f64 {
    if let ([sink], None) = (sinks, &record) {
        return sink.release + sink.work / (circuits / sink.flows).min(1.0) + sink.tail;
    }
    // All flows have the same speed, so each sink ends when the common per-flow work reaches its target.
    let targets = &mut scratch.targets;
    targets.clear();
    scratch.open.clear();
    scratch.open.resize(sinks.len(), (0.0, -1.0));
    let (mut now, mut done, mut flows, mut worst) = (0.0, 0.0, 0.0, 0.0f64);
    // An idle link jumps to the next release.
    let mut next = 0;
    loop {
        if targets.is_empty() {
            match sinks.get(next) {
                Some(sink) => now = sink.release,
                None => return worst,
            }
        }
        // Targets are kept in descending order of the common per-flow work at which they end.
        while let Some(sink) = sinks.get(next)
            && sink.release <= now + same_moment_s(now)
        {
            let target = done + sink.work;
            let at = targets.partition_point(|(other, _)| *other > target);
            targets.insert(at, (target, next as u32));
            scratch.open[next].0 = sink.release;
            flows += sink.flows;
            next += 1;
        }
        let speed = (circuits / flows).min(1.0);
        if let Some(list) = record.as_deref_mut() {
            for &(_, sink) in targets.iter() {
                turn(&mut scratch.open[sink as usize], sink, now, speed, list);
            }
        }
        let Some(&(target, _)) = targets.last() else { return worst };
        // Next event: the nearest target, or a release before it.
        let end = now + (target - done) / speed;
        match sinks.get(next) {
            Some(sink) if sink.release < end => {
                done += speed * (sink.release - now);
                now = sink.release;
            }
            _ => {
                (now, done) = (end, target);
                while let Some(&(other, sink)) = targets.last()
                    && other <= done
                {
                    targets.pop();
                    flows -= sinks[sink as usize].flows;
                    worst = worst.max(now + sinks[sink as usize].tail);
                    if let Some(list) = record.as_deref_mut() {
                        turn(&mut scratch.open[sink as usize], sink, now, -1.0, list);
                    }
                }
            }
        }
    }
}

/// Earliest possible end of sorted sinks with equal tails at scheduled rates; tails are not included.
pub fn level_first(
    sinks: &[Sink],
    circuits: f64,
    scratch: &mut SinkScratch,
    record: Option<&mut Vec<Stretch>>,
) -> f64 {
    if let ([sink], None) = (sinks, &record) {
        return sink.release + sink.work / (circuits / sink.flows).min(1.0);
    }
    level_first_over(sinks, |_| (circuits, f64::INFINITY), scratch, record)
}

/// Earliest possible end of sorted sinks with equal tails on circuits that change over time: `over` gives the circuits
/// at a moment and the time of their next change. Infinite if a sink never ends.
///
/// The rule needs no lookahead: F flows of a sink are F jobs for one processor each, circuits are processors, and
/// serving the jobs with the most remaining work first is optimal for any variation of the number of processors.
pub fn level_first_over(
    sinks: &[Sink],
    over: impl Fn(f64) -> (f64, f64),
    scratch: &mut SinkScratch,
    mut record: Option<&mut Vec<Stretch>>,
) -> f64 {
    let groups = &mut scratch.groups;
    groups.clear();
    scratch.group_of.clear();
    scratch.open.clear();
    scratch.open.resize(sinks.len(), (0.0, -1.0));
    let mut now = 0.0;
    let mut next = 0;
    loop {
        if groups.is_empty() {
            match sinks.get(next) {
                Some(sink) => now = sink.release,
                None => return now,
            }
        }
        while let Some(sink) = sinks.get(next)
            && sink.release <= now + same_moment_s(now)
        {
            // A new sink forms its own group; groups merge when their levels meet.
            let at = groups.partition_point(|group| group.level > sink.work);
            let name = next as u32;
            groups.insert(at, LevelGroup { level: sink.work, flows: sink.flows, speed: 0.0, name });
            scratch.group_of.push(name);
            scratch.open[next].0 = sink.release;
            next += 1;
        }
        // Speeds: the highest groups run at full speed as far as the number of circuits allows.
        let (circuits, change) = over(now);
        let mut left = circuits;
        for group in groups.iter_mut() {
            group.speed = (left / group.flows).clamp(0.0, 1.0);
            left -= group.speed * group.flows;
        }
        if let Some(list) = record.as_deref_mut() {
            for group in groups.iter() {
                for (sink, _) in scratch.group_of.iter().enumerate().filter(|(_, g)| **g == group.name) {
                    turn(&mut scratch.open[sink], sink as u32, now, group.speed, list);
                }
            }
        }
        // The next event: an arrival, two groups becoming level, or the end of the lowest running group.
        let until = sinks.get(next).map_or(change, |sink| sink.release.min(change));
        let mut step = until - now;
        // A sink that ends when its circuits are removed counts as ended, because rounding could leave a tiny remainder
        // that would wait for the next circuits.
        let grace = if until == change && change.is_finite() { 4.0 * f64::EPSILON * change } else { 0.0 };
        step += grace;
        let mut meeting = None;
        let mut ending = None;
        // Only neighbouring groups can meet first, because groups are sorted by level.
        for index in 0..groups.len() {
            let group = groups[index];
            if group.speed > 0.0 && group.level / group.speed < step {
                step = group.level / group.speed;
                (ending, meeting) = (Some(index), None);
            }
            if let Some(below) = groups.get(index + 1)
                && group.speed > below.speed
            {
                let meet = (group.level - below.level).max(0.0) / (group.speed - below.speed);
                if meet <= step {
                    step = meet;
                    (meeting, ending) = (Some(index), None);
                }
            }
        }
        if step == f64::INFINITY {
            return f64::INFINITY;
        }
        let running = meeting.is_none() && ending.is_none();
        if running {
            step = until - now;
        }
        now += step;
        // All levels fall at their speeds until the event.
        for group in groups.iter_mut() {
            group.level = (group.level - group.speed * step).max(0.0);
        }
        // Merged groups never separate again, because they share speed and level.
        if let Some(index) = meeting {
            let below = groups.remove(index + 1);
            groups[index].level = below.level;
            groups[index].flows += below.flows;
            let name = groups[index].name;
            for group in scratch.group_of.iter_mut().filter(|group| **group == below.name) {
                *group = name;
            }
        } else if let Some(index) = ending {
            let group = groups.remove(index);
            for (sink, name) in scratch.group_of.iter_mut().enumerate() {
                if *name == group.name {
                    *name = u32::MAX;
                    if let Some(list) = record.as_deref_mut() {
                        turn(&mut scratch.open[sink], sink as u32, now, -1.0, list);
                    }
                }
            }
        } else {
            now = until;
        }
    }
}

/// A lower bound on the end at any rates: work released from some moment on must use the link after that moment, and no
/// sink runs faster than it would without the other sinks.
pub fn quick_bound(sinks: &[Sink], circuits: f64) -> f64 {
    let mut after = 0.0;
    let mut bound = 0.0f64;
    for sink in sinks.iter().rev() {
        after += sink.work * sink.flows;
        // Work released from here on must use the link, and each sink needs its own time.
        bound = bound
            .max(sink.release + after / circuits)
            .max(sink.release + sink.work / (circuits / sink.flows).min(1.0));
    }
    bound
}

/// Ends the open stretch of a sink if its speed changes (a negative speed ends it for good).
fn turn(open: &mut (f64, f64), sink: u32, now: f64, speed: f64, list: &mut Vec<Stretch>) {
    if open.1 == speed {
        return;
    }
    let from = open.0;
    let now = now.max(from);
    if open.1 >= 0.0 && now > from {
        list.push(Stretch { sink, start: from, end: now, speed: open.1 });
        open.0 = now;
    }
    open.1 = speed;
}

#[cfg(test)]
mod tests;
