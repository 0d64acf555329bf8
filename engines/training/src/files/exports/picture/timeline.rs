//! The schedule over time: compute of each stage, and the transfers on each directed link with their rates.

use super::super::facts::{Explained, Facts, link_word, step_name};
use super::{BODY, MARGIN, SMALL, WIDTH, fill};
use crate::analysis::Step;
use crate::model::full_dag::NodeKind;
use lightbay_core::problem::counted;
use lightbay_core::quantity;
use lightbay_formats::svg::{Anchor, Area, Drawing, Fill, Stroke};

/// Width of the names of rows.
const NAMES: f64 = 108.0;
/// Height of a row of compute.
const STAGE: f64 = 13.0;
/// Height of a row of a link.
const LINK: f64 = 38.0;
/// Maximum number of stages that get rows. With more stages, the picture shows only links, because the plan decides
/// circuits of links.
const MOST_STAGES: u32 = 16;

/// The stretch of the iteration that is shown.
pub(super) struct Timeline<'a> {
    pub(super) facts: &'a Facts,
    pub(super) plan: &'a Explained,
    /// Computations of a job and its transfers inside pods; empty for an instance.
    pub(super) steps: &'a [Step],
    pub(super) from_s: f64,
    pub(super) to_s: f64,
}

/// Stretch of a task at one rate, stacked on the other tasks of its link.
#[derive(Clone, Copy, PartialEq)]
struct TimeBlock {
    task: usize,
    start_s: f64,
    end_s: f64,
    /// Sum of the rates of the blocks below this one, NICs.
    base: f64,
    /// Rate of this block, NICs.
    nics: f64,
}

impl Timeline<'_> {
    /// Draws the timeline below `y` and returns the y of its lower end.
    pub(super) fn draw(&self, drawing: &mut Drawing, y: f64) -> f64 {
        let mut at = y;
        let mut stages: Vec<u32> = self.computes().map(|(step, _)| step.stage).collect();
        stages.sort_unstable();
        stages.dedup();
        if stages.last().is_some_and(|last| *last < MOST_STAGES) {
            for stage in stages {
                self.stage(drawing, stage, at);
                at += STAGE;
            }
            at += 6.0;
        }
        for direction in 0..self.facts.network().carried.len() {
            let blocks = self.blocks(direction);
            if !blocks.is_empty() {
                self.link(drawing, direction, &blocks, at);
                at += LINK;
            }
        }
        self.axis(drawing, y, at);
        at + 16.0
    }

    fn x(&self, seconds: f64) -> f64 {
        let share = (seconds - self.from_s) / (self.to_s - self.from_s).max(f64::MIN_POSITIVE);
        MARGIN + NAMES + share.clamp(0.0, 1.0) * (WIDTH - 2.0 * MARGIN - NAMES)
    }

    /// Returns the computes in the shown stretch, each with its fill.
    fn computes(&self) -> impl Iterator<Item = (&Step, Fill)> {
        self.steps.iter().filter_map(|step| {
            let fill = match step.kind {
                NodeKind::Forward => Fill::Light,
                NodeKind::Backward => Fill::Grey,
                _ => return None,
            };
            (step.finish_s > self.from_s && step.start_s < self.to_s).then_some((step, fill))
        })
    }

    fn stage(&self, drawing: &mut Drawing, stage: u32, y: f64) {
        let name = format!("stage {}", stage + 1);
        drawing.text((MARGIN, y + STAGE - 3.5), SMALL, &name);
        let chunks = self.steps.iter().any(|step| step.chunk > 0);
        for (step, fill) in self.computes().filter(|(step, _)| step.stage == stage) {
            let (left, right) = (self.x(step.start_s), self.x(step.finish_s));
            let area = Area { x: left, y: y + 1.0, width: right - left, height: STAGE - 2.0 };
            let letter = if fill == Fill::Light { 'F' } else { 'B' };
            let label = step_name(letter, step, chunks);
            let about = format!("stage {} {label}, {}", stage + 1, span(step.start_s, step.finish_s));
            drawing.rectangle(area, fill, Stroke::solid(0.3), &about);
            if SMALL.width(&label) + 2.0 < area.width {
                let middle = (f64::midpoint(left, right), y + STAGE - 3.5);
                drawing.text(middle, SMALL.at(Anchor::Middle), &label);
            }
        }
    }

    /// Returns the stretches of the tasks on a directed link that lie in the shown time, stacked in the order of tasks.
    fn blocks(&self, direction: usize) -> Vec<TimeBlock> {
        let rate = self.facts.network().rate;
        let mut carried = self.facts.network().carried[direction].clone();
        carried.sort_unstable();
        let mut pieces: Vec<TimeBlock> = Vec::new();
        for task in carried {
            let task = task as usize;
            for segment in &self.plan.result.tasks[task].segments {
                let (start_s, end_s) = (segment.start_s, segment.end_s);
                if segment.volume_bytes > 0.0 && end_s > start_s && end_s > self.from_s && start_s < self.to_s
                {
                    let nics = segment.volume_bytes / (end_s - start_s) / rate;
                    pieces.push(TimeBlock { task, start_s, end_s, base: 0.0, nics });
                }
            }
        }
        stacked(&pieces)
    }

    fn link(&self, drawing: &mut Drawing, direction: usize, blocks: &[TimeBlock], y: f64) {
        let analysis = &self.plan.analysis;
        let circuits = analysis.circuits.get(direction / 2).copied().unwrap_or(0);
        let kind = self.facts.instance().links.get(direction / 2).map_or("", |link| link_word(link.kind));
        let [from, to] = self.facts.route(direction);
        let bottom = y + LINK - 4.0;
        drawing.text((MARGIN, bottom - 12.0), BODY, &format!("{from} → {to}"));
        drawing.text(
            (MARGIN, bottom - 1.0),
            SMALL,
            &format!("{}, {kind}", counted(circuits.into(), "circuit", "circuits")),
        );
        let most = blocks.iter().map(|block| block.base + block.nics).fold(f64::from(circuits), f64::max);
        let scale = (LINK - 8.0) / most;
        let edges = (self.x(self.from_s), self.x(self.to_s));
        let ceiling = bottom - scale * f64::from(circuits);
        drawing.line((edges.0, ceiling), (edges.1, ceiling), Stroke::faint(0.7));
        for block in blocks {
            let task = &self.facts.instance().tasks[block.task];
            let critical = analysis.tasks[block.task].critical;
            let (left, right) = (self.x(block.start_s), self.x(block.end_s));
            let height = scale * block.nics;
            let area = Area { x: left, y: bottom - scale * block.base - height, width: right - left, height };
            let about = format!(
                "{}: {} NICs, {}{}",
                task.name,
                quantity::number((block.nics * 1e4).round() / 1e4),
                span(block.start_s, block.end_s),
                if critical { ", on the critical path" } else { "" }
            );
            // Thick outlines would hide thin blocks.
            let wide = if area.width < 4.0 { 0.9 } else { 2.0 };
            drawing.rectangle(
                area,
                fill(task.kind),
                Stroke::solid(if critical { wide } else { 0.4 }),
                &about,
            );
            if SMALL.width(&task.name) + 8.0 < area.width && height > 9.0 {
                let middle = (f64::midpoint(left, right), area.y + height / 2.0 + 3.0);
                let paper = Area {
                    x: middle.0 - SMALL.width(&task.name) / 2.0 - 2.0,
                    y: middle.1 - 8.0,
                    width: SMALL.width(&task.name) + 4.0,
                    height: 10.0,
                };
                drawing.rectangle(paper, Fill::White, Stroke::default(), "");
                drawing.text(middle, SMALL.at(Anchor::Middle), &task.name);
            }
        }
        drawing.line((edges.0, bottom), (edges.1, bottom), Stroke::solid(0.6));
    }

    /// Draws the time axis below the rows, and marks the end of the iteration on the ideal network.
    fn axis(&self, drawing: &mut Drawing, top: f64, bottom: f64) {
        let step = nice((self.to_s - self.from_s) / 8.0);
        let mut tick = (self.from_s / step).ceil() * step;
        while tick <= self.to_s * (1.0 + 1e-9) {
            let x = self.x(tick);
            drawing.line((x, bottom), (x, bottom + 4.0), Stroke::solid(0.6));
            let decimals = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
            drawing.text((x, bottom + 14.0), SMALL.at(Anchor::Middle), &format!("{tick:.decimals$} s"));
            tick += step;
        }
        let ideal_s = self.facts.setting().evaluator.ideal.makespan();
        if ideal_s > self.from_s && ideal_s < self.to_s {
            let x = self.x(ideal_s);
            drawing.line((x, top - 4.0), (x, bottom), Stroke::dashed(1.0));
            drawing.text((x - 3.0, top - 2.0), SMALL.at(Anchor::End), "ideal network ends");
        }
    }
}

/// Stacks overlapping pieces, the first piece at the bottom. A piece remains one block while its rate and the sum of
/// the rates below it are constant.
fn stacked(pieces: &[TimeBlock]) -> Vec<TimeBlock> {
    let mut times: Vec<f64> = pieces.iter().flat_map(|piece| [piece.start_s, piece.end_s]).collect();
    times.sort_unstable_by(f64::total_cmp);
    times.dedup();
    let mut open: Vec<TimeBlock> = Vec::new();
    let mut done: Vec<TimeBlock> = Vec::new();
    for moment in times.windows(2) {
        let &[from, to] = moment else { continue };
        let mut base = 0.0;
        let mut now: Vec<TimeBlock> = Vec::new();
        for piece in pieces.iter().filter(|piece| piece.start_s <= from && piece.end_s >= to) {
            let block = TimeBlock { task: piece.task, start_s: from, end_s: to, base, nics: piece.nics };
            let same =
                |old: &&TimeBlock| old.task == block.task && old.base == base && old.nics == block.nics;
            let start_s = open.iter().find(same).map_or(from, |old| old.start_s);
            now.push(TimeBlock { start_s, ..block });
            base += piece.nics;
        }
        let goes_on =
            |old: &TimeBlock| now.iter().any(|new| new.task == old.task && new.start_s == old.start_s);
        done.extend(open.iter().filter(|old| !goes_on(old)).copied());
        open = now;
    }
    done.extend(open);
    done
}

/// Rounds a step up to 1, 2 or 5 times a power of ten.
fn nice(step: f64) -> f64 {
    let power = 10f64.powf(step.max(1e-9).log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= step).unwrap_or(10.0);
    factor * power
}

fn span(start_s: f64, end_s: f64) -> String {
    format!("{start_s:.6} to {end_s:.6} s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_stand_on_what_is_sent_beside_them() {
        let piece = |task, start_s, end_s, nics| TimeBlock { task, start_s, end_s, base: 0.0, nics };
        let mut blocks =
            stacked(&[piece(0, 0.0, 2.0, 2.0), piece(1, 1.0, 3.0, 1.0), piece(2, 5.0, 6.0, 4.0)]);
        blocks.sort_by(|a, b| a.task.cmp(&b.task).then(a.start_s.total_cmp(&b.start_s)));
        let block = |task, start_s, end_s, base, nics| TimeBlock { task, start_s, end_s, base, nics };
        assert!(
            blocks
                == [
                    block(0, 0.0, 2.0, 0.0, 2.0),
                    block(1, 1.0, 2.0, 2.0, 1.0),
                    block(1, 2.0, 3.0, 0.0, 1.0),
                    block(2, 5.0, 6.0, 0.0, 4.0),
                ]
        );
    }

    #[test]
    fn ticks_are_round() {
        for (step, tick) in [(0.11, 0.2), (1.6, 2.0), (3.0, 5.0), (7.0, 10.0), (0.001, 0.001)] {
            assert!((nice(step) - tick).abs() < 1e-12, "{step}");
        }
    }
}
