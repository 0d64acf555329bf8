//! Finds problems for which every executor refuses a schedule, and limits of the public executors that a schedule
//! exceeds.

use super::{
    Algorithm, Block, Buffer, BufferPlace, Gpu, MOST_BLOCKS, MOST_BLOCKS_OF_CHANNEL, MOST_COUNT, MOST_NAME,
    MOST_STEPS, Step,
};
use lightbay_core::problem::Problems;
use std::collections::{BTreeMap, BTreeSet};

/// Finds everything that is wrong with a schedule before it runs: locations outside the buffers, peers and dependencies
/// that do not exist, two thread blocks on one connection, sends without receives.
///
/// # Errors
/// Every problem that was found.
pub fn check(algorithm: &Algorithm) -> Result<(), Problems> {
    let mut problems = Problems::new();
    if algorithm.gpus.is_empty() {
        problems.add("", "has no ranks", "add one <gpu> for each rank");
    }
    if !algorithm.in_place && !algorithm.out_of_place {
        problems.add("", "is neither for in-place nor for out-of-place buffers", "set inplace or outofplace");
    }
    let chunks = algorithm.gpus.iter().map(|gpu| gpu.input_chunks.max(gpu.output_chunks)).max();
    if let Some(chunks) = chunks.filter(|chunks| *chunks != algorithm.chunks_per_loop) {
        let message = format!(
            "is {}, but the largest buffer of a rank has {chunks} chunks, so the executor would use chunks of another \
             size",
            algorithm.chunks_per_loop
        );
        problems.add("nchunksperloop", message, format!("set it to {chunks}"));
    }
    for (rank, gpu) in algorithm.gpus.iter().enumerate() {
        check_gpu(rank, gpu, algorithm.gpus.len(), &mut problems);
    }
    pairs(algorithm, &mut problems);
    problems.into_result(())
}

fn check_gpu(rank: usize, gpu: &Gpu, ranks: usize, problems: &mut Problems) {
    let mut outputs = BTreeSet::new();
    for (input, output) in &gpu.copies {
        if *input >= gpu.input_chunks || *output >= gpu.output_chunks {
            let message = format!(
                "copies input chunk {input} to output chunk {output}, but one of the two does not exist"
            );
            problems.add(format!("gpu {rank}"), message, "correct the <copy> or the number of chunks");
        }
        if !outputs.insert(*output) {
            let message = format!("copies to output chunk {output} twice");
            problems.add(format!("gpu {rank}"), message, "omit one <copy>");
        }
    }
    let mut ends = BTreeSet::new();
    for (number, block) in gpu.blocks.iter().enumerate() {
        let place = format!("gpu {rank}, tb {number}");
        for (what, peer) in [("sends to", block.send), ("receives from", block.receive)] {
            let Some(peer) = peer else { continue };
            if peer as usize >= ranks || peer as usize == rank {
                let message = format!("{what} rank {peer}");
                problems.add(&*place, message, format!("name another rank below {ranks}"));
            }
            if !ends.insert((what, peer, block.channel)) {
                let message = format!(
                    "{what} rank {peer} on channel {}, and so does another thread block",
                    block.channel
                );
                problems.add(&*place, message, "use another channel for one of the two blocks");
            }
        }
        for (index, step) in block.steps.iter().enumerate() {
            check_step(&format!("{place}, step {index}"), step, block, gpu, problems);
        }
    }
}

fn check_step(place: &str, step: &Step, block: &Block, gpu: &Gpu, problems: &mut Problems) {
    let name = step.action.name();
    if step.action.sends() && block.send.is_none() {
        problems.add(
            place,
            format!("is '{name}' in a thread block that has no peer to send to"),
            "set the peer in send",
        );
    }
    if step.action.receives() && block.receive.is_none() {
        let message = format!("is '{name}' in a thread block that has no peer to receive from");
        problems.add(place, message, "set the peer in recv");
    }
    let mut inside = |what: &str, at: BufferPlace| {
        let room = match at.buffer {
            Buffer::Input => gpu.input_chunks,
            Buffer::Output => gpu.output_chunks,
            Buffer::Scratch => gpu.scratch_chunks,
        };
        if u64::from(at.offset) + u64::from(step.count) > u64::from(room) {
            let message = format!(
                "{what} {} chunks at {} of buffer {}, which has {room} chunks",
                step.count,
                at.offset,
                at.buffer.letter()
            );
            problems.add(place, message, "stay within the buffer");
        }
    };
    if step.action.reads() {
        inside("reads", step.source);
    }
    if step.action.writes() {
        inside("writes", step.destination);
    }
    let Some((other, before)) = step.after else { return };
    match gpu.blocks.get(other as usize).and_then(|block| block.steps.get(before as usize)) {
        None => {
            let message = format!("waits for step {before} of tb {other}, which does not exist");
            problems.add(place, message, "correct depid and deps");
        }
        Some(awaited) if !awaited.awaited => {
            let message = format!("waits for step {before} of tb {other}, whose hasdep is 0");
            problems.add(
                place,
                message,
                "set hasdep of that step to 1; otherwise the step does not signal its end",
            );
        }
        Some(_) => {}
    }
}

/// Checks that the k-th send and the k-th receive of each connection move the same number of chunks.
fn pairs(algorithm: &Algorithm, problems: &mut Problems) {
    type Ends = [Vec<(usize, usize, u32)>; 2];
    let mut connections: BTreeMap<(usize, usize, u32), Ends> = BTreeMap::new();
    for (rank, gpu) in algorithm.gpus.iter().enumerate() {
        for (number, block) in gpu.blocks.iter().enumerate() {
            for (index, step) in block.steps.iter().enumerate() {
                let here = (number, index, step.count);
                if let Some(peer) = block.send.filter(|_| step.action.sends()) {
                    connections.entry((rank, peer as usize, block.channel)).or_default()[0].push(here);
                }
                if let Some(peer) = block.receive.filter(|_| step.action.receives()) {
                    connections.entry((peer as usize, rank, block.channel)).or_default()[1].push(here);
                }
            }
        }
    }
    for ((from, to, channel), [sends, receives]) in connections {
        if sends.len() != receives.len() {
            let extra = match sends.get(receives.len()).map(|at| (from, at)) {
                Some(found) => Some(found),
                None => receives.get(sends.len()).map(|at| (to, at)),
            };
            let Some((rank, (block, step, _))) = extra else { continue };
            let message = format!(
                "has no partner: from rank {from} to rank {to} on channel {channel} there are {} sends and \
                 {} receives",
                sends.len(),
                receives.len()
            );
            problems.add(format!("gpu {rank}, tb {block}, step {step}"), message, "add the missing steps");
        }
        let unequal = sends.iter().zip(&receives).find(|(send, receive)| send.2 != receive.2);
        if let Some((send, receive)) = unequal {
            let message = format!(
                "sends {} chunks, but its partner (gpu {to}, tb {}, step {}) receives {}",
                send.2, receive.0, receive.1, receive.2
            );
            problems.add(
                format!("gpu {from}, tb {}, step {}", send.0, send.1),
                message,
                "use the same cnt for both",
            );
        }
    }
}

/// Returns the limits of the public executors that a schedule exceeds, each in one sentence.
pub fn limits(algorithm: &Algorithm) -> Vec<String> {
    let mut found = Vec::new();
    let name = algorithm.name.chars().count();
    if name > MOST_NAME {
        found.push(format!("the name has {name} characters, but only the first {MOST_NAME} are written"));
    }
    let blocks = || {
        algorithm.gpus.iter().enumerate().flat_map(|(rank, gpu)| {
            gpu.blocks.iter().enumerate().map(move |(number, block)| (rank, number, block))
        })
    };
    if let Some((rank, number, block)) = blocks().max_by_key(|(.., block)| block.steps.len())
        && block.steps.len() > MOST_STEPS
    {
        let steps = block.steps.len();
        found.push(format!(
            "tb {number} of gpu {rank} has {steps} steps; public executors accept at most {MOST_STEPS}"
        ));
    }
    let widest = algorithm.gpus.iter().enumerate().max_by_key(|(_, gpu)| gpu.blocks.len());
    if let Some((rank, gpu)) = widest.filter(|(_, gpu)| gpu.blocks.len() > MOST_BLOCKS) {
        let count = gpu.blocks.len();
        found.push(format!(
            "gpu {rank} has {count} thread blocks; public executors accept at most {MOST_BLOCKS}"
        ));
    }
    let mut shared: BTreeMap<(usize, u32), usize> = BTreeMap::new();
    for (rank, _, block) in blocks() {
        *shared.entry((rank, block.channel)).or_default() += 1;
    }
    if let Some(((rank, channel), count)) = shared.into_iter().max_by_key(|(_, count)| *count)
        && count > MOST_BLOCKS_OF_CHANNEL
    {
        found.push(format!(
            "gpu {rank} has {count} thread blocks on channel {channel}; public executors accept at most \
             {MOST_BLOCKS_OF_CHANNEL}"
        ));
    }
    let counts =
        blocks().flat_map(|(rank, number, block)| block.steps.iter().map(move |s| (s.count, rank, number)));
    if let Some((count, rank, number)) = counts.max().filter(|(count, ..)| *count >= MOST_COUNT) {
        found.push(format!(
            "a step of tb {number} of gpu {rank} moves {count} chunks; public executors accept fewer than \
             {MOST_COUNT}"
        ));
    }
    found
}
