//! Collective schedules in the XML of MSCCL, as its executors and RCCL read it.
//!
//! A schedule has one program per rank, made of thread blocks that run their steps in order, each with at most one peer
//! to send to and one to receive from. The k-th send from one rank to another on a channel pairs with the k-th receive
//! there.

use crate::graph::xml;
use std::fmt::Write as _;

/// Steps of a thread block that the public executors take.
pub const MOST_STEPS: usize = 256;
/// Thread blocks of a rank that the public executors take.
pub const MOST_BLOCKS: usize = 216;
/// Characters of a name that the public executors take.
const MOST_NAME: usize = 63;

/// Transport protocol of NCCL on the connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Large messages.
    Simple,
    /// Low latency.
    Ll,
    /// Low latency, 128 bytes at a time.
    Ll128,
}

impl Protocol {
    const fn name(self) -> &'static str {
        match self {
            Self::Simple => "Simple",
            Self::Ll => "LL",
            Self::Ll128 => "LL128",
        }
    }
}

/// A buffer of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Buffer {
    /// The chunks that the rank contributes.
    Input,
    /// The chunks that it ends up with.
    Output,
    /// Room for what passes through.
    Scratch,
}

impl Buffer {
    const fn letter(self) -> char {
        match self {
            Self::Input => 'i',
            Self::Output => 'o',
            Self::Scratch => 's',
        }
    }
}

/// A chunk in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BufferPlace {
    /// Which buffer.
    pub buffer: Buffer,
    /// Which chunk of it.
    pub offset: u32,
}

/// Operation of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Sends the source.
    Send,
    /// Receives into the destination.
    Receive,
    /// Receives, reduces with the source and puts the result into the destination.
    ReceiveReduceCopy,
    /// Copies the source to the destination.
    Copy,
}

impl Action {
    const fn name(self) -> &'static str {
        match self {
            Self::Send => "s",
            Self::Receive => "r",
            Self::ReceiveReduceCopy => "rrc",
            Self::Copy => "cpy",
        }
    }
}

/// A step of a thread block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Operation.
    pub action: Action,
    /// Source.
    pub source: BufferPlace,
    /// Destination.
    pub destination: BufferPlace,
    /// Thread block and step of the same rank that must be done first.
    pub after: Option<(u32, u32)>,
    /// `true` if another step waits for it.
    pub awaited: bool,
}

/// A thread block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Rank it sends to.
    pub send: Option<u32>,
    /// Rank it receives from.
    pub receive: Option<u32>,
    /// Channel of its connections.
    pub channel: u32,
    /// Steps in order.
    pub steps: Vec<Step>,
}

/// The program of a rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gpu {
    /// Chunks put in.
    pub input_chunks: u32,
    /// Chunks got out.
    pub output_chunks: u32,
    /// Chunks of room.
    pub scratch_chunks: u32,
    /// Thread blocks by number.
    pub blocks: Vec<Block>,
}

/// A schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Algorithm {
    /// Name; the first 63 characters are kept.
    pub name: String,
    /// `allgather`, `reduce_scatter`, `allreduce`, `alltoall`.
    pub collective: &'static str,
    /// Transport protocol on the connections.
    pub protocol: Protocol,
    /// Chunks of the whole buffer of a rank.
    pub chunks_per_loop: u32,
    /// `true` if input and output are one buffer.
    pub in_place: bool,
    /// Smallest buffer it is used for.
    pub min_bytes: u64,
    /// Largest buffer it is used for.
    pub max_bytes: u64,
    /// Ranks.
    pub gpus: Vec<Gpu>,
}

/// Writes a schedule.
pub fn write(algorithm: &Algorithm) -> String {
    let channels = algorithm.gpus.iter().flat_map(|gpu| &gpu.blocks).map(|block| block.channel + 1).max();
    let name: String = algorithm.name.chars().take(MOST_NAME).collect();
    let mut text = format!(
        "<algo name=\"{}\" proto=\"{}\" nchannels=\"{}\" nchunksperloop=\"{}\" ngpus=\"{}\" coll=\"{}\" \
         inplace=\"{}\" outofplace=\"{}\" minBytes=\"{}\" maxBytes=\"{}\" redop=\"nop\">\n",
        xml(&name),
        algorithm.protocol.name(),
        channels.unwrap_or(1),
        algorithm.chunks_per_loop,
        algorithm.gpus.len(),
        algorithm.collective,
        u8::from(algorithm.in_place),
        u8::from(!algorithm.in_place),
        algorithm.min_bytes,
        algorithm.max_bytes,
    );
    let peer = |rank: Option<u32>| rank.map_or(-1, i64::from);
    for (id, gpu) in algorithm.gpus.iter().enumerate() {
        let _ = writeln!(
            text,
            "  <gpu id=\"{id}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"{}\">",
            gpu.input_chunks, gpu.output_chunks, gpu.scratch_chunks
        );
        for (number, block) in gpu.blocks.iter().enumerate() {
            let _ = writeln!(
                text,
                "    <tb id=\"{number}\" send=\"{}\" recv=\"{}\" chan=\"{}\">",
                peer(block.send),
                peer(block.receive),
                block.channel
            );
            for (index, step) in block.steps.iter().enumerate() {
                let (block_before, step_before) =
                    step.after.map_or((-1, -1), |(block, step)| (i64::from(block), i64::from(step)));
                let _ = writeln!(
                    text,
                    "      <step s=\"{index}\" type=\"{}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" dstoff=\"{}\" \
                     cnt=\"1\" depid=\"{block_before}\" deps=\"{step_before}\" hasdep=\"{}\"/>",
                    step.action.name(),
                    step.source.buffer.letter(),
                    step.source.offset,
                    step.destination.buffer.letter(),
                    step.destination.offset,
                    u8::from(step.awaited),
                );
            }
            text.push_str("    </tb>\n");
        }
        text.push_str("  </gpu>\n");
    }
    text.push_str("</algo>\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_all_to_all_looks_like_the_tools_own() {
        let input = |offset| BufferPlace { buffer: Buffer::Input, offset };
        let output = |offset| BufferPlace { buffer: Buffer::Output, offset };
        let step =
            |action, source, destination| Step { action, source, destination, after: None, awaited: false };
        let gpu = |rank: u32| {
            let other = 1 - rank;
            let copy = step(Action::Copy, input(rank), output(rank));
            let receive = step(Action::Receive, input(rank), output(other));
            let send = Step { after: Some((0, 0)), ..step(Action::Send, input(other), output(rank)) };
            let block = |send, receive, steps| Block { send, receive, channel: 0, steps };
            let blocks = vec![
                block(None, None, vec![Step { awaited: true, ..copy }]),
                block(None, Some(other), vec![receive]),
                block(Some(other), None, vec![send]),
            ];
            Gpu { input_chunks: 2, output_chunks: 2, scratch_chunks: 0, blocks }
        };
        let text = write(&Algorithm {
            name: "two & two".to_owned() + &"x".repeat(100),
            collective: "alltoall",
            protocol: Protocol::Ll,
            chunks_per_loop: 2,
            in_place: false,
            min_bytes: 0,
            max_bytes: 9216,
            gpus: vec![gpu(0), gpu(1)],
        });
        assert!(
            text.starts_with(&format!(
                "<algo name=\"two &amp; two{}\" proto=\"LL\" nchannels=\"1\"",
                "x".repeat(54)
            )),
            "{text}"
        );
        assert!(
            text.contains(
                "coll=\"alltoall\" inplace=\"0\" outofplace=\"1\" minBytes=\"0\" maxBytes=\"9216\""
            )
        );
        assert!(text.contains("<tb id=\"1\" send=\"-1\" recv=\"0\" chan=\"0\">"));
        assert!(text.contains(
            "<step s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"1\" dstbuf=\"o\" dstoff=\"0\" cnt=\"1\" depid=\"0\" deps=\"0\" hasdep=\"0\"/>"
        ));
    }
}
