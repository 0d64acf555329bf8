//! Reading MSCCL XML.

use super::{Action, Algorithm, Block, Buffer, BufferPlace, CollectiveOp, Gpu, Protocol, Step};
use crate::gz::{self, Limits};
use crate::imported::Imported;
use crate::xml::{self, Attributes};
use lightbay_core::problem::{Problem, Problems, printable};
use roxmltree::Node;
use std::io::BufRead;

/// Maximum size of a file, bytes.
const MOST_BYTES: u64 = 128 << 20;
/// Maximum number of ranks.
const MOST_RANKS: usize = 1 << 14;
const MOST_PARTS: u32 = 1 << 20;

/// Reads a schedule, compressed or not. Checks only its form; see [`check`](super::check) for other problems.
///
/// # Errors
/// Every problem of the file, with its line.
pub fn read(reader: impl BufRead, limits: &Limits) -> Result<Imported<Algorithm>, Problems> {
    let text = gz::text(reader, limits, MOST_BYTES)?;
    let document = xml::parse(&text)?;
    let root = document.root_element();
    if !root.has_tag_name("algo") {
        let message = format!("begins with <{}>", printable(root.tag_name().name()));
        return Err(Problem::new(
            xml::place(root),
            message,
            "use an MSCCL schedule, which begins with <algo>",
        )
        .into());
    }
    let mut problems = Problems::new();
    let Some(mut imported) = head(root, &mut problems) else { return Err(problems) };
    let count = root.children().filter(Node::is_element).count();
    if count > MOST_RANKS {
        problems.add(
            xml::place(root),
            format!("has {count} ranks; the maximum is {MOST_RANKS}"),
            "use fewer",
        );
        return Err(problems);
    }
    for node in root.children().filter(Node::is_element) {
        if !known(node, &["gpu"], &mut problems) {
            continue;
        }
        in_order(node, "id", imported.value.gpus.len(), &mut problems);
        let gpu = gpu(node, &mut problems);
        imported.value.gpus.push(gpu);
    }
    one_buffer(&mut imported.value);
    let ranks = imported.value.gpus.len();
    let attributes = Attributes::of(root);
    if attributes.optional("ngpus").is_some_and(|text| text.trim() != ranks.to_string()) {
        let declared = attributes.optional("ngpus").unwrap_or_default();
        attributes.problem(
            "ngpus",
            format!("is '{}', but the file has {ranks} <gpu> elements", printable(declared)),
            "was the file cut off?",
            &mut problems,
        );
    }
    let used = imported.value.channels();
    if let Some(declared) = attributes.number_or("nchannels", used, 1, MOST_PARTS, &mut problems) {
        if declared < used {
            attributes.problem(
                "nchannels",
                format!("is {declared}, but thread blocks use channel {}", used - 1),
                "declare all channels",
                &mut problems,
            );
        } else if declared > used {
            imported.note(format!("the schedule declares {declared} channels but uses {used}"));
        }
    }
    problems.into_result(imported)
}

/// Completes the number of output chunks, which a file may omit for an in-place all-reduce or all-to-all, because input
/// and output are a single buffer.
fn one_buffer(algorithm: &mut Algorithm) {
    if algorithm.in_place && matches!(algorithm.collective, CollectiveOp::AllReduce | CollectiveOp::AllToAll)
    {
        for gpu in algorithm.gpus.iter_mut().filter(|gpu| gpu.output_chunks == 0) {
            gpu.output_chunks = gpu.input_chunks;
        }
    }
}

fn head(root: Node<'_, '_>, problems: &mut Problems) -> Option<Imported<Algorithm>> {
    let attributes = Attributes::of(root);
    let name = attributes.text("name", problems);
    let protocol = word(&attributes, "proto", &Protocol::ALL, problems);
    let collective = word(&attributes, "coll", &CollectiveOp::NAMES, problems);
    let chunks = attributes.number("nchunksperloop", 1, MOST_PARTS, problems);
    let ngpus = attributes.number::<u32>("ngpus", 1, MOST_RANKS as u32, problems);
    let in_place = attributes.flag("inplace", Some(false), problems);
    let out_of_place = attributes.flag("outofplace", in_place.map(|here| !here), problems);
    let min_bytes = attributes.number_or("minBytes", 0, 0, u64::MAX, problems);
    // Executors interpret 0 as no upper limit.
    let max_bytes = attributes.number_or("maxBytes", u64::MAX, 0, u64::MAX, problems);
    let max_bytes = max_bytes.map(|most| if most == 0 { u64::MAX } else { most });
    ngpus?;
    let algorithm = Algorithm {
        name: name?.to_owned(),
        collective: collective?,
        protocol: protocol?,
        chunks_per_loop: chunks?,
        in_place: in_place?,
        out_of_place: out_of_place?,
        min_bytes: min_bytes?,
        max_bytes: max_bytes?,
        gpus: Vec::new(),
    };
    if algorithm.min_bytes > algorithm.max_bytes {
        let message = format!("is {}, above maxBytes {}", algorithm.min_bytes, algorithm.max_bytes);
        attributes.problem("minBytes", message, "use at most maxBytes", problems);
    }
    let mut imported = Imported::new(algorithm);
    let here = imported.value.in_place;
    let missing = |name: &str| attributes.optional(name).is_none();
    if missing("outofplace") {
        imported.assume("outofplace", u8::from(!here).to_string(), "the attribute outofplace of the file");
    }
    if missing("minBytes") || missing("maxBytes") {
        imported.assume(
            "minBytes and maxBytes",
            "every size",
            "the attributes minBytes and maxBytes of the file",
        );
    }
    if let Some(reduction) = attributes.optional("redop").filter(|name| !["nop", "sum"].contains(name)) {
        imported.note(format!(
            "the schedule reduces by '{}'; the execution treats this operation as a sum",
            printable(reduction)
        ));
    }
    Some(imported)
}

fn word<T: Copy>(
    attributes: &Attributes<'_, '_>,
    name: &str,
    known: &[(&str, T)],
    problems: &mut Problems,
) -> Option<T> {
    let text = attributes.text(name, problems)?;
    let found = known.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
    if found.is_none() {
        let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
        let remedy = format!("use one of {}", words.join(", "));
        attributes.problem(name, format!("is '{}'", printable(text)), &remedy, problems);
    }
    found
}

/// Returns `true` if the name of an element is one of `names`; otherwise adds a problem.
fn known(node: Node<'_, '_>, names: &[&str], problems: &mut Problems) -> bool {
    let name = node.tag_name().name();
    if names.contains(&name) {
        return true;
    }
    let allowed: Vec<String> = names.iter().map(|name| format!("<{name}>")).collect();
    problems.add(
        xml::place(node),
        format!("has an element <{}>", printable(name)),
        format!("only {} is allowed here", allowed.join(" and ")),
    );
    false
}

/// Adds a problem if the number of an element differs from its position.
fn in_order(node: Node<'_, '_>, name: &str, place: usize, problems: &mut Problems) {
    let attributes = Attributes::of(node);
    if let Some(id) = attributes.number::<u32>(name, 0, MOST_PARTS, problems)
        && id as usize != place
    {
        attributes.problem(
            name,
            format!("is {id}, but its position is {place}"),
            "number the elements in order, from 0",
            problems,
        );
    }
}

fn gpu(node: Node<'_, '_>, problems: &mut Problems) -> Gpu {
    let attributes = Attributes::of(node);
    let mut chunks = |name: &str| attributes.number(name, 0, MOST_PARTS, problems).unwrap_or(0);
    let mut gpu = Gpu {
        input_chunks: chunks("i_chunks"),
        output_chunks: chunks("o_chunks"),
        scratch_chunks: chunks("s_chunks"),
        ..Gpu::default()
    };
    for child in node.children().filter(Node::is_element) {
        if !known(child, &["copy", "tb"], problems) {
            continue;
        }
        if child.has_tag_name("tb") {
            in_order(child, "id", gpu.blocks.len(), problems);
            gpu.blocks.push(block(child, problems));
            continue;
        }
        let attributes = Attributes::of(child);
        if !gpu.blocks.is_empty() {
            problems.add(
                xml::place(child),
                "is a <copy> after a <tb>",
                "put the <copy> before all <tb> elements",
            );
        }
        let mut offset = |name: &str| attributes.number(name, 0, MOST_PARTS, problems);
        if let (Some(input), Some(output)) = (offset("i_off"), offset("o_off")) {
            gpu.copies.push((input, output));
        }
    }
    gpu
}

fn block(node: Node<'_, '_>, problems: &mut Problems) -> Block {
    let attributes = Attributes::of(node);
    let mut peer = |name: &str| {
        let rank = attributes.number::<i64>(name, -1, MOST_RANKS as i64, problems);
        rank.and_then(|rank| u32::try_from(rank).ok())
    };
    let (send, receive) = (peer("send"), peer("recv"));
    let channel = attributes.number("chan", 0, MOST_PARTS, problems).unwrap_or(0);
    let mut steps = Vec::new();
    for child in node.children().filter(Node::is_element) {
        if known(child, &["step"], problems) {
            in_order(child, "s", steps.len(), problems);
            steps.extend(step(child, problems));
        }
    }
    Block { send, receive, channel, steps }
}

fn step(node: Node<'_, '_>, problems: &mut Problems) -> Option<Step> {
    let attributes = Attributes::of(node);
    let action = word(&attributes, "type", &Action::ALL, problems);
    // A file may have -1 as the offset of a side that the step does not use.
    let lowest = |used: Option<bool>| if used == Some(true) { 0 } else { -1 };
    let mut place = |buffer: &str, offset: &str, used: Option<bool>| {
        let buffer = word(&attributes, buffer, &Buffer::ALL, problems);
        let offset = attributes.number::<i64>(offset, lowest(used), i64::from(MOST_PARTS), problems);
        buffer.zip(offset).map(|(buffer, offset)| BufferPlace { buffer, offset: offset.max(0) as u32 })
    };
    let source = place("srcbuf", "srcoff", action.map(Action::reads));
    let destination = place("dstbuf", "dstoff", action.map(Action::writes));
    let idle = action == Some(Action::Nothing);
    let count = attributes.number("cnt", u32::from(!idle), MOST_PARTS, problems);
    let block = attributes.number::<i64>("depid", -1, i64::from(MOST_PARTS), problems);
    let step = attributes.number::<i64>("deps", -1, i64::from(MOST_PARTS), problems);
    let awaited = attributes.flag("hasdep", None, problems);
    let after = match block.zip(step)? {
        (-1, -1) => None,
        (block, step) if block >= 0 && step >= 0 => Some((block as u32, step as u32)),
        (block, step) => {
            let message = format!("is {block}, but deps is {step}");
            attributes.problem("depid", message, "set depid and deps, or set both to -1", problems);
            return None;
        }
    };
    let awaited = awaited?;
    if idle {
        let waiting = Step { after, awaited, ..Step::waiting((0, 0)) };
        return count.map(|_| waiting);
    }
    Some(Step { action: action?, source: source?, destination: destination?, count: count?, after, awaited })
}
