//! Plans of parts of chunks (docs/methods/collective-search.md, section 8).

use super::{claims, existing, figures_of, time};
use crate::bounds::EpochBound;
use crate::model::fluid::FluidLinks;
use crate::model::passing::{Passing, Transmission};
use crate::model::task::{CollectiveTask, CollectiveTasks};
use crate::plan::{ChunkPiece, CollectiveResult, Discipline, PieceSend};
use crate::programs::fluid::{FluidPiece, FluidSchedule};
use crate::scenario::CollectiveScenario;
use lightbay_core::kind::Candidate;

/// Returns a plan that sends chunks in parts, made from a schedule of the first task; `None` if there are no tasks. The
/// plan claims `bound` as the lower bound on its finish.
pub fn parts_of_chunks(
    scenario: &CollectiveScenario,
    tasks: &CollectiveTasks,
    links: &FluidLinks,
    schedule: &FluidSchedule,
    bound: Option<&EpochBound>,
) -> Option<Candidate<CollectiveResult>> {
    let task = tasks.tasks.first()?;
    let time = time(scenario, tasks, Discipline::Fluid);
    let (mut pieces, mut sends) = (Vec::new(), Vec::new());
    for part in &schedule.pieces {
        let piece = pieces.len() as u32;
        let copy = tasks.copies.as_ref().map(|copies| copies[part.chunk as usize]);
        pieces.push(ChunkPiece {
            id: piece,
            chunk: copy.map_or(part.chunk, |(chunk, _)| chunk),
            offset_bytes: part.offset * tasks.chunk_bytes,
            size_bytes: part.size * tasks.chunk_bytes,
            adds_up: task.adds,
            dests: copy.map(|(_, dest)| vec![dest]),
        });
        sends.extend(part.hops.iter().map(|&(link, start)| {
            let ends = &task.real.links()[link as usize];
            let (from, to, epoch) = if task.backwards {
                let model = &links.links[link as usize];
                // Links carry data in the mirrored epochs. The start of a hop out of a cut-through switch is listed one
                // epoch later, although the switch passes the data on at once.
                let early = u32::from(task.real.is_cut_through() && task.real.is_switch(ends.to));
                let carried = start - model.early + 1 + task.epochs.links[link as usize].delay;
                (ends.to, ends.from, schedule.finish - carried + early)
            } else {
                (ends.from, ends.to, start)
            };
            PieceSend { piece, from, to, epoch }
        }));
    }
    sends.sort_unstable_by_key(|send| (send.epoch, send.from, send.to, send.piece));
    let replay_us = replay_us(task, &schedule.pieces);
    let bounds = bound.map(std::slice::from_ref);
    let claims = claims(scenario, tasks, &time, schedule.finish, existing(replay_us), bounds);
    let result = CollectiveResult { time, pieces, sends, trees: Vec::new(), ranges: Vec::new(), claims };
    Some(Candidate { value: result.claims.finish_us, metrics: figures_of(&result, scenario), result })
}

/// Returns the time of the last delivery, µs, if parts are sent in the order of their epochs and every part starts as
/// soon as it has arrived and its link is free and up; infinite if a link is not up for long enough.
fn replay_us(task: &CollectiveTask, parts: &[FluidPiece]) -> f64 {
    let mut order: Vec<(u32, usize, usize, u32)> = Vec::new();
    for (part, piece) in parts.iter().enumerate() {
        order.extend(piece.hops.iter().enumerate().map(|(hop, (link, epoch))| {
            // A hop out of a switch belongs to the epoch of the hop into that switch.
            (*epoch - u32::from(task.epochs.links[*link as usize].through), hop, part, *link)
        }));
    }
    // Hops of a part that fall into one epoch, through cut-through switches, follow each other in the order of the
    // path.
    order.sort_unstable();
    let mut there = vec![Passing::whole(0.0); parts.len()];
    let mut free_us = vec![0.0f64; task.real.links().len()];
    let mut end_us = 0.0f64;
    for (_, _, part, link) in order {
        let ends = &task.real.links()[link as usize];
        let bytes = parts[part].size * task.epochs.chunk_bytes;
        let transmission_us = bytes / (1000.0 * ends.capacity_gbyte_per_s);
        let (through, free) = (task.epochs.links[link as usize].through, &mut free_us[link as usize]);
        // A link is free again when the last byte has left it.
        let hop = Transmission {
            through,
            takes_us: transmission_us,
            alpha_us: ends.alpha_us,
            up_us: &ends.up_us,
            up_after_us: 0.0,
        };
        there[part] = there[part].over(&hop, free);
        end_us = end_us.max(there[part].last_us);
    }
    end_us
}
