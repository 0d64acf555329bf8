//! Scripts for batch systems that solve the parts of a sweep: for Slurm, GNU parallel and Kubernetes.

use super::Arguments;
use clap::ValueEnum;
use lightbay_core::problem::printable;
use std::path::Path;

/// A batch system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BatchSystem {
    /// A job array of Slurm
    Slurm,
    /// GNU parallel, on this machine or over SSH
    Parallel,
    /// An indexed job of Kubernetes
    K8s,
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,+%@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Returns the name of the table of one part: `table.PART.csv` for `table.csv`, where PART is the variable `part`.
fn table_of(table: &Path, part: &str) -> String {
    let stem = printable(&table.with_extension("").to_string_lossy());
    let ending =
        table.extension().map_or_else(|| "csv".to_owned(), |ending| printable(&ending.to_string_lossy()));
    let part = format!("{}.\"{part}\".{}", quoted(&stem), quoted(&ending));
    part.replace("\"{}\"", "{}")
}

/// Returns the command that solves one part, for a shell.
fn command(arguments: &Arguments, shard: &str, part: &str, table: &Path) -> String {
    let mut words: Vec<String> = vec!["lightbay".to_owned(), "sweep".to_owned()];
    let mut flag = |name: &str, value: &str| words.extend([format!("--{name}"), quoted(value)]);
    for over in &arguments.over {
        flag("over", &over.to_string());
    }
    if !arguments.method.is_empty() {
        flag("method", &arguments.method.join(","));
    }
    for set in &arguments.set {
        flag("set", &set.to_string());
    }
    let limits = &arguments.limits;
    let numbers = [
        ("time-limit", limits.time_limit.map(|limit| limit.to_string())),
        ("gap", limits.gap.map(|gap| gap.to_string())),
        ("seed", limits.seed.map(|seed| seed.to_string())),
        ("threads", limits.threads.map(|threads| threads.to_string())),
    ];
    for (name, value) in numbers {
        if let Some(value) = value {
            flag(name, &value);
        }
    }
    if let Some(plans) = &arguments.plans {
        flag("plans", &plans.to_string_lossy());
    }
    if arguments.cold {
        words.push("--cold".to_owned());
    }
    // The scenarios come first, so that no flag takes one of them as its value.
    let scenarios = arguments.scenarios.iter().map(|source| quoted(&source.to_string()));
    words.splice(2..2, scenarios);
    words.extend(["--resume".to_owned(), "--shard".to_owned(), shard.to_owned()]);
    words.extend(["-o".to_owned(), table_of(table, part)]);
    words.join(" ")
}

/// Returns the script that solves `parts` parts and says how to merge their tables.
pub fn script(batch: BatchSystem, arguments: &Arguments, parts: usize, table: &Path) -> String {
    let merge = format!(
        "lightbay sweep merge {} --force -o {}",
        table_of(table, "*").replace('"', ""),
        quoted(&printable(&table.to_string_lossy()))
    );
    let threads = arguments.limits.threads.map_or_else(|| "2".to_owned(), |threads| threads.to_string());
    match batch {
        BatchSystem::Slurm => {
            let command = command(arguments, &format!("auto/{parts}"), "$SLURM_ARRAY_TASK_ID", table);
            format!(
                "#!/bin/bash\n\
                 #SBATCH --job-name=lightbay-sweep\n\
                 #SBATCH --array=1-{parts}\n\
                 #SBATCH --cpus-per-task={threads}\n\
                 #SBATCH --time=01:00:00\n\
                 #SBATCH --signal=B:TERM@30\n\
                 # 30 s before the time limit, Slurm ends lightbay, which keeps the finished rows. Submit the same script again\n\
                 # to solve the rest. When all parts are done:\n\
                 #   {merge}\n\
                 exec {command}\n"
            )
        }
        BatchSystem::Parallel => {
            let command = command(arguments, &format!("{{}}/{parts}"), "{}", table);
            format!(
                "#!/bin/sh\n\
                 # Solves the parts one after the other on as many cores as --jobs allows; run it again to solve the rest.\n\
                 set -e\n\
                 seq 1 {parts} | parallel --jobs 50% {}\n\
                 {merge}\n",
                quoted(&command)
            )
        }
        BatchSystem::K8s => {
            let command = command(arguments, &format!("auto/{parts}"), "$JOB_COMPLETION_INDEX", table)
                .replace('\\', "\\\\")
                .replace('"', "\\\"");
            format!(
                "# Set the image, and the volume that holds the scenarios and receives the tables. When all parts are done:\n\
                 #   {merge}\n\
                 apiVersion: batch/v1\n\
                 kind: Job\n\
                 metadata:\n  name: lightbay-sweep\n\
                 spec:\n  completionMode: Indexed\n  completions: {parts}\n  parallelism: {parts}\n  backoffLimit: {parts}\n  \
                 template:\n    spec:\n      restartPolicy: OnFailure\n      containers:\n        - name: lightbay\n          \
                 image: lightbay:latest\n          workingDir: /work\n          \
                 command: [\"sh\", \"-c\", \"exec {command}\"]\n          resources:\n            requests:\n              \
                 cpu: \"{threads}\"\n          volumeMounts:\n            - name: work\n              mountPath: /work\n      \
                 volumes:\n        - name: work\n          persistentVolumeClaim:\n            claimName: lightbay-sweep\n"
            )
        }
    }
}
