//! Collectives as in files of programs that execute schedules (MSCCL, MSCCL++): the buffers of the ranks, and the
//! chunks that must be in the buffers at the end.

pub mod memory;
pub mod order;

use lightbay_core::problem::Problem;

/// A buffer of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Buffer {
    /// The chunks that the rank contributes.
    Input,
    /// The chunks that the rank has at the end.
    Output,
    /// Space for chunks that pass through.
    Scratch,
}

impl Buffer {
    /// All three buffers, with their names in files.
    pub const ALL: [(&'static str, Self); 3] =
        [("i", Self::Input), ("o", Self::Output), ("s", Self::Scratch)];

    /// Returns the letter for the buffer in files.
    pub const fn letter(self) -> char {
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
    /// Buffer that holds the chunk.
    pub buffer: Buffer,
    /// Index of the chunk in the buffer, from 0.
    pub offset: u32,
}

/// A collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CollectiveOp {
    /// Every rank gets the inputs of all ranks.
    AllGather,
    /// Every rank gets the sum of all inputs.
    AllReduce,
    /// Every rank gets the part of the sum of all inputs that belongs to the rank.
    ReduceScatter,
    /// Every rank gets one part of every input: the part that belongs to the rank.
    AllToAll,
    /// Every rank gets the input of one rank.
    Broadcast,
    /// Any other operation; the file does not define it.
    Custom,
}

impl CollectiveOp {
    /// All operations with their names in files; the writer uses the first name.
    pub const NAMES: [(&'static str, Self); 12] = [
        ("allgather", Self::AllGather),
        ("all_gather", Self::AllGather),
        ("allreduce", Self::AllReduce),
        ("all_reduce", Self::AllReduce),
        ("reduce_scatter", Self::ReduceScatter),
        ("reducescatter", Self::ReduceScatter),
        ("alltoall", Self::AllToAll),
        ("all_to_all", Self::AllToAll),
        ("alltoallv", Self::AllToAll),
        ("broadcast", Self::Broadcast),
        ("bcast", Self::Broadcast),
        ("custom", Self::Custom),
    ];

    /// Returns the operation with the name `name` in files.
    pub fn of(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, op)| *op)
    }

    /// Returns the name that the writer uses.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, op)| *op == self).map_or("custom", |(name, _)| name)
    }
}

/// Number of chunks in each buffer of one rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BufferSizes {
    /// Number of chunks of the input buffer.
    pub input: u32,
    /// Number of chunks of the output buffer.
    pub output: u32,
    /// Number of chunks of scratch space.
    pub scratch: u32,
}

/// An input chunk of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Contribution {
    /// Rank that contributes the chunk.
    pub rank: u32,
    /// Index of the chunk in the input.
    pub chunk: u32,
}

/// Required content of an output slot at the end: the sum of these contributions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Rank that has the output.
    pub rank: u32,
    /// Index of the slot in the output, from 0.
    pub offset: u32,
    /// The contributions, in order of rank and chunk.
    pub sum: Vec<Contribution>,
}

/// Calls `each` with the required content of every slot of every output.
///
/// # Errors
/// Buffers whose sizes do not suit the operation, a broadcast without a root, and [`CollectiveOp::Custom`].
pub fn for_each_wanted(
    op: CollectiveOp,
    sizes: &[BufferSizes],
    root: Option<u32>,
    mut each: impl FnMut(Wanted),
) -> Result<(), Problem> {
    let ranks = sizes.len() as u32;
    let first = sizes.first().copied().unwrap_or_default();
    let (input, output) = (first.input, first.output);
    if let Some(rank) = sizes.iter().position(|size| (size.input, size.output) != (input, output)) {
        let message = format!(
            "has {} input and {} output chunks, but rank 0 has {input} and {output}",
            sizes[rank].input, sizes[rank].output
        );
        return Err(Problem::new(format!("gpu {rank}"), message, "use the same buffer sizes for all ranks"));
    }
    let expect = |fits: bool, rule: &str| {
        if fits {
            return Ok(());
        }
        let message = format!("{} of {ranks} ranks has {input} input and {output} output chunks", op.name());
        Err(Problem::new("", message, rule))
    };
    let by_ranks = |chunks: u32| u64::from(chunks) * u64::from(ranks);
    match op {
        CollectiveOp::AllGather => {
            expect(
                u64::from(output) == by_ranks(input),
                "give each rank as many output chunks as the input chunks of all ranks together",
            )?;
        }
        CollectiveOp::ReduceScatter => {
            expect(
                u64::from(input) == by_ranks(output),
                "give each rank as many input chunks as the output chunks of all ranks together",
            )?;
        }
        CollectiveOp::AllToAll => {
            let divides = ranks > 0 && input.is_multiple_of(ranks);
            expect(
                input == output && divides,
                "give equal numbers of input and output chunks, a multiple of the number of ranks",
            )?;
        }
        CollectiveOp::AllReduce | CollectiveOp::Broadcast => {
            expect(input == output, "give equal numbers of input and output chunks")?;
        }
        CollectiveOp::Custom => {
            return Err(Problem::new(
                "",
                "a custom collective has no fixed result",
                "state the required content of every slot of its outputs",
            ));
        }
    }
    let root = match (op, root) {
        (CollectiveOp::Broadcast, Some(root)) if root < ranks => root,
        (CollectiveOp::Broadcast, _) => {
            return Err(Problem::new("", "the root of the broadcast is unknown", "name the root"));
        }
        _ => 0,
    };
    let part = if op == CollectiveOp::AllToAll { input / ranks.max(1) } else { input };
    let all = |chunk: u32| (0..ranks).map(|rank| Contribution { rank, chunk }).collect();
    for rank in 0..ranks {
        for offset in 0..output {
            let sum = match op {
                CollectiveOp::AllGather => vec![Contribution { rank: offset / part, chunk: offset % part }],
                CollectiveOp::AllToAll => {
                    let chunk = rank * part + offset % part;
                    vec![Contribution { rank: offset / part, chunk }]
                }
                CollectiveOp::ReduceScatter => all(rank * output + offset),
                CollectiveOp::Broadcast => vec![Contribution { rank: root, chunk: offset }],
                CollectiveOp::AllReduce | CollectiveOp::Custom => all(offset),
            };
            each(Wanted { rank, offset, sum });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(op: CollectiveOp, input: u32, output: u32) -> Vec<Wanted> {
        let mut found = Vec::new();
        for_each_wanted(op, &[BufferSizes { input, output, scratch: 0 }; 2], Some(1), |w| found.push(w))
            .unwrap();
        found
    }

    #[test]
    fn outputs_of_two_ranks() {
        let c = |rank, chunk| Contribution { rank, chunk };
        let at = |found: &[Wanted], rank, offset| {
            found.iter().find(|w| (w.rank, w.offset) == (rank, offset)).unwrap().sum.clone()
        };
        let gather = wanted(CollectiveOp::AllGather, 2, 4);
        assert_eq!(at(&gather, 0, 3), [c(1, 1)]);
        let exchange = wanted(CollectiveOp::AllToAll, 4, 4);
        assert_eq!((at(&exchange, 1, 0), at(&exchange, 0, 3)), (vec![c(0, 2)], vec![c(1, 1)]));
        assert_eq!(at(&wanted(CollectiveOp::ReduceScatter, 2, 1), 1, 0), [c(0, 1), c(1, 1)]);
        assert_eq!(at(&wanted(CollectiveOp::AllReduce, 2, 2), 1, 0), [c(0, 0), c(1, 0)]);
        assert_eq!(at(&wanted(CollectiveOp::Broadcast, 1, 1), 0, 0), [c(1, 0)]);
    }

    #[test]
    fn buffers_that_do_not_suit_are_named() {
        let sizes = [BufferSizes { input: 1, output: 3, scratch: 0 }; 2];
        let wrong = |op| for_each_wanted(op, &sizes, None, |_| {}).unwrap_err().to_string();
        assert!(
            wrong(CollectiveOp::AllGather).contains("allgather of 2 ranks has 1 input and 3 output chunks")
        );
        assert!(wrong(CollectiveOp::Custom).contains("content of every slot"));
        let even = [BufferSizes { input: 1, output: 1, scratch: 0 }; 2];
        assert!(for_each_wanted(CollectiveOp::Broadcast, &even, None, |_| {}).is_err());
        let uneven = [even[0], sizes[0]];
        let problem = for_each_wanted(CollectiveOp::AllReduce, &uneven, None, |_| {}).unwrap_err();
        assert_eq!(problem.path, "gpu 1");
    }

    #[test]
    fn every_name_is_understood() {
        for (name, op) in CollectiveOp::NAMES {
            assert_eq!(CollectiveOp::of(name), Some(op));
            assert_eq!(CollectiveOp::of(op.name()), Some(op));
        }
        assert_eq!(CollectiveOp::of("AllGather"), None);
    }
}
