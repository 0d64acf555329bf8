//! Schedules of collectives as programs of thread blocks.
//!
//! One thread block for each link and direction, its steps in order of epochs. A send waits for the receive that
//! delivered its chunk. Reductions of the same chunk wait for each other, so that they never run at the same time. All
//! waits follow the order of the schedule, so they cannot form a cycle.

use super::{PodSubject, problems_of};
use crate::collectives::{self, Collective, Schedule};
use crate::model::pod::PORTS;
use crate::model::topology::Topology;
use lightbay_core::param::Params;
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::watch::Unwatched;
use lightbay_formats::msccl::{
    Algorithm, Buffer, BufferPlace, ChunkTransfer, CollectiveOp, Gpu, MOST_STEPS, ProgramBuilder, Protocol,
    StepPlace, write,
};

/// Maximum number of ranks of a schedule.
const MOST_RANKS: usize = 256;

/// Plans the collective that the parameters name, and writes its schedule as programs of thread blocks.
///
/// # Errors
/// More than 256 chips, failed switches (except for an all-to-all), an all-to-all without routes, an empty range of
/// buffer sizes, or more thread blocks than executors support.
pub(super) fn text(subject: &PodSubject<'_>, params: &Params) -> Result<String, Problems> {
    let pod = subject.pod;
    if pod.nodes() > MOST_RANKS {
        return Err(Problem::new(
            "cubes",
            format!(
                "the pod has {} chips, but MSCCL schedules are written for at most 256 ranks",
                pod.nodes()
            ),
            "export a pod of at most 4 cubes (256 chips)",
        )
        .into());
    }
    if !subject.scenario.failed_ocs.is_empty() && params.text("collective") != Some("alltoall") {
        return Err(Problem::new(
            "failed_ocs",
            "are set, but collectives other than alltoall use every link of the pod",
            "set collective=alltoall, which follows the routes, or make a scenario of kind collective with --set from=PLAN",
        )
        .into());
    }
    let bytes = |name: &str| params.int(name).map_or(0, i64::unsigned_abs);
    if bytes("min_bytes") > bytes("max_bytes") {
        let remedy = "give at least min_bytes";
        return Err(Problem::new("max_bytes", format!("is {}", bytes("max_bytes")), remedy).into());
    }
    let seed = bytes("seed");
    let gather = || collectives::all_gather(pod, seed, &mut Unwatched::default()).map_err(problems_of);
    let schedule = match params.text("collective") {
        Some("alltoall") => {
            let routing = subject.routing()?;
            collectives::single_path(pod, routing, &mut Unwatched::default()).map_err(problems_of)?.schedule
        }
        Some("reduce_scatter") => derived(gather()?.reversed(pod))?,
        Some("allreduce") => derived(gather()?.all_reduce(pod))?,
        _ => gather()?,
    };
    // Every schedule is executed by the check before it is written.
    collectives::check(pod, &schedule)?;
    let protocol = match params.text("protocol") {
        Some("LL") => Protocol::Ll,
        Some("LL128") => Protocol::Ll128,
        _ => Protocol::Simple,
    };
    let mut algorithm = algorithm(pod, &schedule, subject.name)?;
    algorithm.protocol = protocol;
    algorithm.min_bytes = bytes("min_bytes");
    algorithm.max_bytes = bytes("max_bytes");
    Ok(write(&algorithm))
}

fn derived(schedule: Option<Schedule>) -> Result<Schedule, Problem> {
    schedule
        .ok_or_else(|| Problem::new("collective", "cannot be made from an all-gather", "please report this"))
}

/// Converts a schedule to programs of thread blocks.
///
/// # Errors
/// A schedule that does not fit the pod, or more thread blocks than executors support.
pub fn algorithm(pod: &Topology, schedule: &Schedule, name: &str) -> Result<Algorithm, Problem> {
    let wide = schedule.expanded(pod)?;
    let nodes = pod.nodes();
    let mut programs = Programs::new(nodes, schedule.collective);
    let neighbours = pod.neighbours();
    let reducing = |epoch: u32| match schedule.collective {
        Collective::ReduceScatter => true,
        Collective::AllReduce => epoch < schedule.epochs / 2,
        Collective::AllGather | Collective::AllToAll => false,
    };
    for send in &wide.sends {
        let from = send.arc as usize / PORTS;
        let to = neighbours[from][send.arc as usize % PORTS] as usize;
        programs.transfer(from, to, send.arc as usize, send.shard as usize, reducing(send.epoch));
    }
    let remedy = "use a pod with less load per link, or another collective";
    let gpus = programs.built.finish().map_err(|why| Problem::new("collective", why, remedy))?;
    Ok(Algorithm {
        name: name.to_owned(),
        collective: match schedule.collective {
            Collective::AllGather => CollectiveOp::AllGather,
            Collective::ReduceScatter => CollectiveOp::ReduceScatter,
            Collective::AllReduce => CollectiveOp::AllReduce,
            Collective::AllToAll => CollectiveOp::AllToAll,
        },
        protocol: Protocol::Simple,
        chunks_per_loop: nodes as u32,
        in_place: schedule.collective != Collective::AllToAll,
        out_of_place: schedule.collective == Collective::AllToAll,
        min_bytes: 0,
        max_bytes: 1 << 40,
        gpus,
    })
}

/// The programs so far.
struct Programs {
    nodes: usize,
    collective: Collective,
    built: ProgramBuilder,
    /// Number of transfers over each arc.
    transfers: Vec<u32>,
    /// The step that delivered a chunk to its current rank: by rank and shard, or by pair in an all-to-all.
    brought: Vec<Option<StepPlace>>,
    /// Buffer and chunk that hold the shard of each pair, in an all-to-all.
    places: Vec<BufferPlace>,
}

impl Programs {
    fn new(nodes: usize, collective: Collective) -> Self {
        let many = nodes as u32;
        let (input_chunks, output_chunks) = match collective {
            Collective::AllGather => (1, many),
            Collective::ReduceScatter => (many, 1),
            Collective::AllReduce | Collective::AllToAll => (many, many),
        };
        let mut built =
            ProgramBuilder::new(vec![Gpu { input_chunks, output_chunks, ..Gpu::default() }; nodes]);
        let exchange = collective == Collective::AllToAll;
        if exchange {
            for rank in 0..many {
                let place = |buffer| BufferPlace { buffer, offset: rank };
                built.copies(rank, &[(place(Buffer::Input), place(Buffer::Output))]);
            }
        }
        let input = |pair: usize| BufferPlace { buffer: Buffer::Input, offset: (pair % nodes) as u32 };
        Self {
            nodes,
            collective,
            built,
            transfers: vec![0; nodes * PORTS],
            brought: vec![None; nodes * nodes],
            places: if exchange { (0..nodes * nodes).map(input).collect() } else { Vec::new() },
        }
    }

    /// Returns the buffer positions of a shard before and after a transfer to `to`.
    fn ends(&mut self, to: usize, shard: usize) -> (BufferPlace, BufferPlace) {
        let same = |buffer| BufferPlace { buffer, offset: shard as u32 };
        match self.collective {
            Collective::AllGather => (same(Buffer::Output), same(Buffer::Output)),
            Collective::ReduceScatter | Collective::AllReduce => (same(Buffer::Input), same(Buffer::Input)),
            Collective::AllToAll => {
                let destination = if to == shard % self.nodes {
                    BufferPlace { buffer: Buffer::Output, offset: (shard / self.nodes) as u32 }
                } else {
                    BufferPlace { buffer: Buffer::Scratch, offset: self.built.scratch(to as u32) }
                };
                (std::mem::replace(&mut self.places[shard], destination), destination)
            }
        }
    }

    fn transfer(&mut self, from: usize, to: usize, arc: usize, shard: usize, reduce: bool) {
        let channel = self.transfers[arc] / MOST_STEPS as u32;
        self.transfers[arc] += 1;
        let (source, destination) = self.ends(to, shard);
        let (at_from, at_to) = match self.collective {
            Collective::AllToAll => (shard, shard),
            _ => (from * self.nodes + shard, to * self.nodes + shard),
        };
        let step = self.built.transfer(&ChunkTransfer {
            from: from as u32,
            to: to as u32,
            channel,
            source,
            destination,
            brought: self.brought[at_from],
            adds_after: reduce.then_some(self.brought[at_to]),
        });
        self.brought[at_to] = Some(step);
    }
}
