//! Inputs of the published TE-CCL program (`TopologyParams`, `GurobiParams`, `InstanceParams`) and the results that it
//! writes.

use super::{MOST_US, json};
use crate::gz::Limits;
use crate::imported::Imported;
use lightbay_core::problem::{Problem, Problems, printable};
use lightbay_core::read::{Fields, brief, list_at};
use serde_json::Value;
use std::io::BufRead;

/// Maximum number of sends of a result.
const MOST_SENDS: usize = 4_000_000;

/// Length of an epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TecclEpoch {
    /// The fastest link carries one chunk per epoch.
    FastestLink,
    /// The slowest link carries one chunk per epoch.
    SlowestLink,
    /// The length is given, µs.
    Fixed(f64),
}

/// The part of an input that defines the problem.
#[derive(Clone, Debug, PartialEq)]
pub struct TecclInput {
    /// Name of a topology in the program, such as `NDv2`, `DGX2`, `DGX1`, `AMD` or `Mesh`.
    pub topology: String,
    /// Number of chassis.
    pub chassis: u32,
    /// Size of a chunk, bytes.
    pub chunk_bytes: f64,
    /// Latencies of links and of links to switches, µs, if given.
    pub alpha_us: Option<[f64; 2]>,
    /// Side length of a mesh or torus.
    pub side_length: Option<u32>,
    /// `true` for an all-to-all, `false` for an all-gather.
    pub all_to_all: bool,
    /// Number of chunks of each rank, or of each pair.
    pub chunks: u32,
    /// Length of an epoch.
    pub epoch: TecclEpoch,
    /// Factor by which the length of an epoch is multiplied.
    pub epoch_multiplier: u32,
    /// Number of epochs, if given.
    pub epochs: Option<u32>,
    /// Fraction of an epoch up to which a latency is ignored.
    pub alpha_threshold: f64,
    /// `true` if switches can copy chunks.
    pub switch_copy: bool,
    /// Time limit of the solver, s.
    pub time_limit_s: f64,
    /// Relative gap at which the solver may stop.
    pub mip_gap: f64,
}

/// Reads an input. Settings that only affect the solver of the published program become notes.
///
/// # Errors
/// Every problem of the file, by the path of its key.
pub fn read_input(reader: impl BufRead, limits: &Limits) -> Result<Imported<TecclInput>, Problems> {
    let value = json(reader, limits)?;
    let mut problems = Problems::new();
    let found = input(&value, &mut problems);
    match found {
        Some(found) if problems.is_empty() => Ok(found),
        _ => Err(problems),
    }
}

fn input(value: &Value, problems: &mut Problems) -> Option<Imported<TecclInput>> {
    let mut fields = Fields::of(value, "", problems)?;
    let topology = fields.object("TopologyParams", problems);
    let solver = fields.optional_object("GurobiParams", problems);
    let instance = fields.object("InstanceParams", problems);
    fields.finish(problems);
    let (mut topology, mut instance) = (topology?, instance?);
    let name = topology.text("name", problems).map(str::to_owned);
    let chassis = topology.int_or("chassis", 1..=4096, 1, problems);
    let chunk = topology.float_or("chunk_size", 1e-12..=1e6, 1.0, problems);
    let side = topology.int_or("side_length", 0..=4096, 0, problems);
    let alpha = match topology.optional("alpha") {
        None => Some(None),
        Some(value) => match super::numbers(value, "TopologyParams.alpha", problems)?.as_slice() {
            [link, switch] => Some(Some([link * 1e6, switch * 1e6])),
            list => {
                let message = format!("has {} entries", list.len());
                problems.add("TopologyParams.alpha", message, "give the latency of links and of switches, s");
                None
            }
        },
    };
    topology.skip("option");
    let mut unused: Vec<String> =
        topology.has("option").then(|| "TopologyParams.option".to_owned()).into_iter().collect();
    unknown(&topology, &mut unused);
    let (mut limit_h, mut gap) = (Some(2.0), Some(1e-4));
    if let Some(mut solver) = solver {
        limit_h = solver.float_or("time_limit", 0.0..=1e6, 2.0, problems);
        gap = solver.float_or("mip_gap", 0.0..=1.0, 1e-4, problems);
        unknown(&solver, &mut unused);
    }
    let collective = instance.int_or("collective", 1..=2, 1, problems);
    let chunks = instance.int_or("num_chunks", 1..=1 << 16, 1, problems);
    let kind = instance.int_or("epoch_type", 1..=3, 1, problems);
    let duration = instance.float_or("epoch_duration", -1.0..=MOST_US, -1.0, problems);
    let multiplier = instance.int_or("epoch_multiplier", 1..=1 << 20, 1, problems);
    let epochs = instance.int_or("num_epochs", -1..=1 << 24, -1, problems);
    let threshold = instance.float_or("alpha_threshold", 0.0..=1e6, 0.1, problems);
    let copy = instance.bool_or("switch_copy", true, problems);
    unknown(&instance, &mut unused);
    let epoch = match (kind?, duration?) {
        (1, _) => TecclEpoch::FastestLink,
        (2, _) => TecclEpoch::SlowestLink,
        (_, duration) if duration > 0.0 => TecclEpoch::Fixed(duration * 1e6),
        (_, duration) => {
            let message = format!("is {duration}, but must be above 0 for epoch_type 3");
            problems.add("InstanceParams.epoch_duration", message, "set the length of an epoch, s");
            return None;
        }
    };
    let mut found = Imported::new(TecclInput {
        topology: name?,
        chassis: chassis? as u32,
        chunk_bytes: chunk? * 1e9,
        alpha_us: alpha?,
        side_length: side.map(|side| (side > 0).then_some(side as u32))?,
        all_to_all: collective? == 2,
        chunks: chunks? as u32,
        epoch,
        epoch_multiplier: multiplier? as u32,
        epochs: u32::try_from(epochs?).ok().filter(|epochs| *epochs > 0),
        alpha_threshold: threshold?,
        switch_copy: copy?,
        time_limit_s: limit_h? * 3600.0,
        mip_gap: gap?,
    });
    if !unused.is_empty() {
        found.note(format!("not used: {}", unused.join(", ")));
    }
    found.assume("gigabyte of chunk_size", "1e9 bytes", "chunk_size of the file");
    Some(found)
}

/// Adds the paths of unread keys to `unused`.
fn unknown(fields: &Fields<'_>, unused: &mut Vec<String>) {
    unused.extend(fields.unknown().into_iter().map(|problem| printable(&problem.path)));
}

/// A send in a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TecclSend {
    /// Number of the chunk at its source.
    pub chunk: u32,
    /// GPU from which the chunk comes.
    pub source: u32,
    /// GPU that sends the chunk.
    pub from: u32,
    /// GPU that receives the chunk.
    pub to: u32,
    /// Epoch of the send.
    pub epoch: u32,
    /// Switches on the path.
    pub switches: Vec<u32>,
}

/// A result: times and sends. GPU numbers are those of the program's topology, in which switches are nodes too.
#[derive(Clone, Debug, PartialEq)]
pub struct TecclResult {
    /// Length of an epoch, µs.
    pub epoch_us: f64,
    /// Number of epochs.
    pub epochs: u32,
    /// Time at which the collective ends, µs.
    pub finish_us: f64,
    /// Algorithm bandwidth, GB/s.
    pub algbw_gbyte_per_s: f64,
    /// Sends in the order of the file.
    pub sends: Vec<TecclSend>,
}

/// Reads a result.
///
/// # Errors
/// Every problem of the file, by the path of its key.
pub fn read_result(reader: impl BufRead, limits: &Limits) -> Result<TecclResult, Problems> {
    let value = json(reader, limits)?;
    let mut problems = Problems::new();
    let Some(mut fields) = Fields::of(&value, "", &mut problems) else { return Err(problems) };
    let epoch = fields.float("1-Epoch_Duration", 0.0..=1e6, &mut problems);
    let epochs = fields.int("3-Epochs_Required", 0..=1 << 24, &mut problems);
    let finish = fields.float("4-Collective_Finish_Time", 0.0..=1e6, &mut problems);
    let algbw = fields.float("5-Algo_Bandwidth", 0.0..=1e9, &mut problems);
    let flows = fields.required("7-Flows", &mut problems);
    let flows = flows.and_then(|value| list_at(value, "7-Flows", &mut problems)).unwrap_or_default();
    if flows.len() > MOST_SENDS {
        let message = format!("has {} sends", flows.len());
        return Err(Problem::new("7-Flows", message, format!("use at most {MOST_SENDS}")).into());
    }
    let mut sends = Vec::with_capacity(flows.len());
    for (at, flow) in flows.iter().enumerate() {
        match flow.as_str().and_then(send) {
            Some(send) => sends.push(send),
            None => problems.add(
                format!("7-Flows[{at}]"),
                format!("is {}", brief(flow)),
                "write 'Chunk C from S traveled over A->B in epoch E', with 'via switches W' if there are \
                 any",
            ),
        }
    }
    let (Some(epoch), Some(epochs), Some(finish), Some(algbw)) = (epoch, epochs, finish, algbw) else {
        return Err(problems);
    };
    problems.into_result(TecclResult {
        epoch_us: epoch * 1e6,
        epochs: epochs as u32,
        finish_us: finish * 1e6,
        algbw_gbyte_per_s: algbw,
        sends,
    })
}

/// Parses a send such as `Chunk 0 from 4 traveled over 4->3 in epoch 0 via switches 0`.
fn send(text: &str) -> Option<TecclSend> {
    let rest = text.strip_prefix("Chunk ")?;
    let (chunk, rest) = rest.split_once(" from ")?;
    let (source, rest) = rest.split_once(" traveled over ")?;
    let (link, rest) = rest.split_once(" in epoch ")?;
    let (from, to) = link.split_once("->")?;
    let (epoch, via) = rest.split_once(" via switches ").unwrap_or((rest, ""));
    let number = |text: &str| text.trim().parse::<u32>().ok();
    let words = via.split([' ', ',', '-', '>', '[', ']']).filter(|word| !word.is_empty());
    Some(TecclSend {
        chunk: number(chunk)?,
        source: number(source)?,
        from: number(from)?,
        to: number(to)?,
        epoch: number(epoch)?,
        switches: words.map(number).collect::<Option<_>>()?,
    })
}
