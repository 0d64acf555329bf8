//! The summary of an import of traces: what was found, assumed and left out.

use super::assumed;
use super::classes::Classes;
use super::knobs::TraceOptions;
use super::reading::TraceFiles;
use lightbay_core::problem::{Problem, Problems, counted};
use lightbay_core::scenario::Assumed;
use serde_json::{Value, json};

/// All counts and remarks.
#[derive(Debug, Default)]
pub(super) struct TraceSummary {
    pub assumed: Vec<Assumed>,
    pub notes: Vec<String>,
    pub transfers: u64,
    pub bytes_between: f64,
    /// Steps of the graph of the job.
    pub steps: u64,
    ranks: u64,
    pods: u64,
    nodes: u64,
    programs: u64,
    totals: Vec<(&'static str, u64, f64)>,
    compute_s: f64,
}

impl TraceSummary {
    /// Counts what the traces contain, and notes what they lack.
    pub(super) fn count(&mut self, files: &TraceFiles<'_>, classes: &Classes, options: &TraceOptions) {
        let facts = &classes.facts;
        let program = &facts.program;
        self.ranks = facts.ranks;
        self.nodes = program.nodes;
        self.programs = classes.list.len() as u64;
        let mut pods: Vec<u32> = classes.list.iter().map(|class| class.pod).collect();
        pods.dedup();
        self.pods = pods.len() as u64;
        self.totals.clone_from(&facts.totals);
        self.compute_s = program.seconds;
        if files.numbered {
            self.assumed.push(Assumed {
                what: "ranks of the traces".to_owned(),
                value: "the order of the files".to_owned(),
                set_with: "names of the files that contain the ranks".to_owned(),
            });
        }
        let mut assume = |what: &str, value: String, parameter: &str| {
            self.assumed.push(assumed(what, value, parameter));
        };
        if options.ports_per_pod.is_none() {
            assume("optical ports of each pod", "one for each of its ranks".to_owned(), "ports_per_pod");
        }
        if options.elem_bytes.is_none() && !facts.in_bytes {
            let value = if facts.in_elements { "2 bytes (one element)" } else { "1 byte" };
            assume("unit of the sizes", value.to_owned(), "elem_bytes");
        }
        if program.gathers > 0 && options.total.is_none() {
            assume("meaning of the size of an all-gather", "each rank's part".to_owned(), "size");
        }
        if program.untimed > 0 && options.tflops.is_some() && options.memory_gbyte_per_s.is_none() {
            assume("rate of a GPU's memory", "no limit".to_owned(), "memory_gbyte_per_s");
        }
        if facts.unlisted > 0 && facts.ranks > 1 {
            self.assumed.push(Assumed {
                what: format!("ranks of {}", counted(facts.unlisted, "group", "groups")),
                value: "all ranks whose traces name the group".to_owned(),
                set_with: "the file of groups (JSON)".to_owned(),
            });
        }
        let rooted = |name: &&str| ["broadcast", "reduce", "gather", "scatter"].contains(name);
        if facts.totals.iter().any(|(name, ..)| rooted(name)) {
            self.assumed.push(Assumed {
                what: "root of broadcasts, reductions, gathers and scatters".to_owned(),
                value: "the first rank of the group".to_owned(),
                set_with: String::new(),
            });
        }
        let notes = &mut self.notes;
        let mut note = |count: u64, one: &str, many: &str, rest: &str| {
            if count > 0 {
                notes.push(format!("{}{rest}", counted(count, one, many)));
            }
        };
        note(
            facts.dangling,
            "dependency",
            "dependencies",
            " on nodes that the traces do not contain: taken as satisfied",
        );
        let labelled = if options.promote {
            ": taken as collectives without a size"
        } else {
            ": taken as computations (promote_nccl=true makes them collectives)"
        };
        note(
            facts.labelled,
            "computation is",
            "computations are",
            &format!(" named like a collective{labelled}"),
        );
        let sizeless = match options.unsized_bytes {
            Some(bytes) => format!(" without a size: {bytes} bytes each"),
            None => {
                " without a size: fixed work with the time in the trace (unsized_bytes= gives them a size)"
                    .to_owned()
            }
        };
        note(program.sizeless, "collective", "collectives", &sizeless);
        if !options.no_compute {
            note(program.empty, "computation", "computations", " without a time: 0 s");
        }
        for (text, count) in &facts.notes {
            let of = if *count > 1 { format!(" ({count} traces)") } else { String::new() };
            self.notes.push(format!("{text}{of}"));
        }
    }

    /// Returns every assumption as a problem.
    pub(super) fn strict_problems(&self) -> Problems {
        let mut problems = Problems::new();
        for assumed in &self.assumed {
            let (place, remedy) = match assumed.set_with.strip_suffix('=') {
                Some(parameter) => (parameter, format!("set '{}'", assumed.set_with)),
                None if assumed.set_with.is_empty() => ("", "leave out --strict".to_owned()),
                None => ("", format!("give {}", assumed.set_with)),
            };
            let message = format!(
                "{} is not in the files; it would be assumed to be '{}'",
                assumed.what, assumed.value
            );
            problems.push(Problem::new(place, message, remedy));
        }
        problems
    }

    /// Returns the summary as lines for a person.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = vec![
            format!(
                "found: {} in {}, {}, {:.3} ms of computation per rank",
                counted(self.ranks, "rank", "ranks"),
                counted(self.pods, "pod", "pods"),
                counted(self.nodes, "node", "nodes"),
                self.compute_s / self.ranks.max(1) as f64 * 1e3
            ),
            format!(
                "between pods: {}, {} bytes; {} after ranks with equal programs are merged",
                counted(self.transfers, "transfer", "transfers"),
                self.bytes_between,
                counted(self.programs, "program", "programs")
            ),
        ];
        lines.extend(self.totals.iter().map(|(name, calls, bytes)| {
            format!("  {name}: {}, {bytes} bytes", counted(*calls, "part", "parts"))
        }));
        lines.extend(self.assumed.iter().map(|assumed| {
            let with = if assumed.set_with.is_empty() {
                String::new()
            } else {
                format!(" (set with '{}')", assumed.set_with)
            };
            format!("assumed: {} = {}{with}", assumed.what, assumed.value)
        }));
        lines.extend(self.notes.iter().map(|note| format!("note: {note}")));
        lines
    }

    /// Returns the summary as data.
    pub(super) fn json(&self) -> Value {
        let totals: Vec<Value> = self
            .totals
            .iter()
            .map(|(name, calls, bytes)| json!({"kind": name, "parts": calls, "bytes": bytes}))
            .collect();
        json!({
            "ranks": self.ranks,
            "pods": self.pods,
            "nodes": self.nodes,
            "programs": self.programs,
            "steps": self.steps,
            "transfers": self.transfers,
            "bytes_between_pods": self.bytes_between,
            "compute_s_per_rank": self.compute_s / self.ranks.max(1) as f64,
            "totals": totals,
            "assumed": self.assumed,
            "notes": self.notes,
        })
    }
}
