//! Parts of a sweep for several machines: the part that this command solves, given as an option or by the index of a
//! batch system.

use crate::cli::console::Console;
use crate::cli::failure::Failure;
use lightbay_core::problem::{counted, printable};
use lightbay_engines::sweep::{Shard, Sweep};

/// Index variables of batch systems: the name, the variable with the first index (may be empty), and the variable with
/// the number of parts, if any.
const INDEXES: [(&str, &str, Option<&str>); 3] = [
    ("SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", Some("SLURM_ARRAY_TASK_COUNT")),
    ("NOMAD_ALLOC_INDEX", "", None),
    ("JOB_COMPLETION_INDEX", "", None),
];

/// Returns the part that `asked` names: `1/4`, `auto` or `auto/4`. `auto` reads the index variable of Slurm, Nomad or
/// Kubernetes.
///
/// # Errors
/// A part that cannot be read, or a missing variable.
pub fn shard(
    asked: &str,
    variable: impl Fn(&str) -> Option<String>,
    console: &mut Console,
) -> Result<Shard, Failure> {
    let refuse = |message: String, remedy: &str| Err(Failure::input("--shard", message, remedy));
    let Some(rest) = asked.strip_prefix("auto") else {
        return asked
            .parse()
            .map_err(|why: String| Failure::input("--shard", why, "or write auto/4 in a batch job"));
    };
    let number = |name: &str| variable(name).and_then(|text| text.trim().parse::<usize>().ok());
    let Some((name, index, known)) = INDEXES.iter().find_map(|(name, first, count)| {
        let first = number(first).unwrap_or(0);
        Some((*name, number(name)?.checked_sub(first)?, count.and_then(number)))
    }) else {
        let names: Vec<&str> = INDEXES.iter().map(|(name, ..)| *name).collect();
        return refuse(
            format!("'{}' finds none of the environment variables {}", printable(asked), names.join(", ")),
            "write the part, such as 1/4, or run the command in an array job",
        );
    };
    let of = match (rest.strip_prefix('/').map(str::parse::<usize>), known) {
        (Some(Ok(of)), _) if of > 0 => of,
        (None, Some(of)) if rest.is_empty() && of > 0 => of,
        (None, None) if rest.is_empty() => {
            return refuse(format!("{name} does not give the number of parts"), "write it, such as auto/4");
        }
        _ => return refuse(format!("'{}' is not a part", printable(asked)), "write 1/4, auto or auto/4"),
    };
    if index >= of {
        let message = format!("{name} is the index of part {}, but there are only {of} parts", index + 1);
        return refuse(message, "give the number of parts that the job array has");
    }
    let shard = Shard { part: index + 1, of };
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
