//! Parts of a sweep for several machines: the part that this command solves, given as an option or by the index of a
//! batch system.

use crate::cli::console::Console;
use crate::cli::failure::Failure;
use lightbay_core::problem::{counted, printable};
use lightbay_engines::sweep::{Shard, Sweep};

/// Index variables of batch systems, each with its first index. The number of parts never comes from the batch system: a
/// job that repeats one part of an array would count only itself.
const INDEXES: [(&str, usize); 3] =
    [("SLURM_ARRAY_TASK_ID", 1), ("NOMAD_ALLOC_INDEX", 0), ("JOB_COMPLETION_INDEX", 0)];

/// Returns the part that `asked` names: `1/4`, or `auto/4`, which reads the index variable of Slurm, Nomad or Kubernetes.
///
/// # Errors
/// A part that cannot be read, or a missing variable.
pub fn shard(
    asked: &str,
    variable: impl Fn(&str) -> Option<String>,
    console: &mut Console,
) -> Result<Shard, Failure> {
    let refuse = |message: String, remedy: &str| Err(Failure::input("--shard", message, remedy));
    let Some(count) = asked.strip_prefix("auto") else {
        return asked
            .parse()
            .map_err(|why: String| Failure::input("--shard", why, "or write auto/4 in a batch job"));
    };
    let Some(of) = count.strip_prefix('/').and_then(|of| of.parse::<usize>().ok()).filter(|of| *of > 0)
    else {
        let message = format!("'{}' does not give the number of parts", printable(asked));
        return refuse(message, "write it, such as auto/4");
    };
    let read = |(name, first): (&'static str, usize)| {
        variable(name).and_then(|text| text.trim().parse::<usize>().ok()).map(|index| (name, first, index))
    };
    let Some((name, first, index)) = INDEXES.into_iter().find_map(read) else {
        let names = INDEXES.map(|(name, _)| name).join(", ");
        return refuse(
            format!("'{}' finds a number in none of the environment variables {names}", printable(asked)),
            "write the part, such as 1/4, or run the command in an array job",
        );
    };
    if !(first..first + of).contains(&index) {
        let message =
            format!("{name} is {index}, but the {of} parts have the indices {first} to {}", first + of - 1);
        return refuse(message, "give the number of parts that the whole array has");
    }
    let shard = Shard { part: index - first + 1, of };
    console.say(&format!("part {shard}, from {name}"));
    Ok(shard)
}

/// Returns a sweep of which every part has a cell: if there are more parts than chains of cells that start from one
/// another's plans, all cells are solved from scratch.
///
/// # Errors
/// More parts than cells.
pub fn divisible(sweep: Sweep, shard: Shard, console: &mut Console) -> Result<Sweep, Failure> {
    let (lines, cells) = (sweep.lines(), sweep.len());
    if shard.of > cells {
        let message =
            format!("names {} parts, but the sweep has {}", shard.of, counted(cells as u64, "cell", "cells"));
        return Err(Failure::input("--shard", message, format!("use at most {cells} parts")));
    }
    if shard.of <= lines {
        return Ok(sweep);
    }
    console.say(&format!(
        "the {cells} cells form {}, too few for {} parts; every cell is solved from scratch, as with --cold",
        counted(lines as u64, "chain of hot starts", "chains of hot starts"),
        shard.of
    ));
    Ok(sweep.cold(true))
}
