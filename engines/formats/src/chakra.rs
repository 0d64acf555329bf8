//! Chakra execution traces, one file for each rank (`PREFIX.RANK.et`), as ASTRA-sim and other simulators read them.
//!
//! A file is a sequence of messages in protobuf encoding, each preceded by its length: first the metadata, then one
//! message for each node. Numbers of node and attribute types are those of schema 1.0.

mod json;
mod stream;

pub use json::read as read_json;
pub use stream::{begins_with, read as read_stream};

use lightbay_core::problem::{Problem, Problems};

/// Maximum number of nodes of a file.
const MOST_NODES: usize = 4_000_000;

/// Type of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChakraSort {
    /// Computation.
    Compute,
    /// Send to another rank.
    Send,
    /// Receive from another rank.
    Receive,
    /// Collective.
    Collective,
    /// Any other type, by its number.
    Other(u32),
}

impl ChakraSort {
    const fn number(self) -> u64 {
        match self {
            Self::Compute => 4,
            Self::Send => 5,
            Self::Receive => 6,
            Self::Collective => 7,
            Self::Other(number) => number as u64,
        }
    }

    const fn of(number: u64) -> Self {
        match number {
            4 => Self::Compute,
            5 => Self::Send,
            6 => Self::Receive,
            7 => Self::Collective,
            number => Self::Other(number as u32),
        }
    }
}

/// Value of an attribute. Integers of all widths are one variant, because writers use different widths.
#[derive(Clone, Debug, PartialEq)]
pub enum ChakraValue {
    /// Integer.
    Int(i64),
    /// Integer that may exceed the largest `i64`.
    Uint(u64),
    /// Truth value.
    Bool(bool),
    /// Number.
    Double(f64),
    /// Text.
    Text(String),
}

/// A node of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct ChakraNode {
    /// Number of the node, unique in the file.
    pub id: u64,
    /// Name of the node.
    pub name: String,
    /// Type of the node.
    pub sort: ChakraSort,
    /// Numbers of the nodes on which this node has a control dependency.
    pub control_deps: Vec<u64>,
    /// Numbers of the nodes on which this node has a data dependency.
    pub data_deps: Vec<u64>,
    /// Duration, µs.
    pub duration_us: u64,
    /// Attributes in order.
    pub attributes: Vec<(String, ChakraValue)>,
}

/// The trace of one rank.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChakraTrace {
    /// Version of the schema; empty if the file does not state it.
    pub version: String,
    /// Nodes in the order of the file.
    pub nodes: Vec<ChakraNode>,
    /// Number of dropped attributes: lists, messages and bytes.
    pub skipped: u64,
}

impl ChakraNode {
    /// Makes a node that sends or receives `bytes` between ranks. `tag` distinguishes the messages of a pair of ranks.
    pub fn message(
        id: u64,
        sort: ChakraSort,
        [from, to]: [u32; 2],
        tag: u32,
        bytes: u64,
        after: Vec<u64>,
    ) -> Self {
        let name = if sort == ChakraSort::Send { "COMM_SEND_NODE" } else { "COMM_RECV_NODE" };
        let int = |name: &str, value: u32| (name.to_owned(), ChakraValue::Int(i64::from(value)));
        let attributes = vec![
            ("is_cpu_op".to_owned(), ChakraValue::Bool(false)),
            ("comm_size".to_owned(), ChakraValue::Int(i64::try_from(bytes).unwrap_or(i64::MAX))),
            int("comm_src", from),
            int("comm_dst", to),
            int("comm_tag", tag),
        ];
        let name = format!("{name}_{from}_{to}_{tag}");
        Self { id, name, sort, control_deps: Vec::new(), data_deps: after, duration_us: 0, attributes }
    }

    /// Returns the value of an integer attribute of any width, or of a truth value as 0 or 1.
    pub fn int(&self, name: &str) -> Option<i128> {
        self.attributes.iter().find(|(own, _)| own == name).and_then(|(_, value)| match value {
            ChakraValue::Int(value) => Some(i128::from(*value)),
            ChakraValue::Uint(value) => Some(i128::from(*value)),
            ChakraValue::Bool(value) => Some(i128::from(*value)),
            ChakraValue::Double(_) | ChakraValue::Text(_) => None,
        })
    }
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn number(out: &mut Vec<u8>, field: u64, value: u64) {
    varint(out, field << 3);
    varint(out, value);
}

fn bytes(out: &mut Vec<u8>, field: u64, value: &[u8]) {
    varint(out, field << 3 | 2);
    varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

/// Writes the trace of a rank.
pub fn write(trace: &ChakraTrace) -> Vec<u8> {
    let mut out = Vec::new();
    let mut message = Vec::new();
    if !trace.version.is_empty() {
        bytes(&mut message, 1, trace.version.as_bytes());
    }
    varint(&mut out, message.len() as u64);
    out.extend_from_slice(&message);
    for node in &trace.nodes {
        message.clear();
        number(&mut message, 1, node.id);
        bytes(&mut message, 2, node.name.as_bytes());
        number(&mut message, 3, node.sort.number());
        for (field, deps) in [(4, &node.control_deps), (5, &node.data_deps)] {
            if !deps.is_empty() {
                let mut packed = Vec::new();
                for dep in deps {
                    varint(&mut packed, *dep);
                }
                bytes(&mut message, field, &packed);
            }
        }
        if node.duration_us > 0 {
            number(&mut message, 7, node.duration_us);
        }
        for (name, value) in &node.attributes {
            let mut attribute = Vec::new();
            bytes(&mut attribute, 1, name.as_bytes());
            match value {
                ChakraValue::Int(value) => number(&mut attribute, 9, *value as u64),
                ChakraValue::Uint(value) => number(&mut attribute, 13, *value),
                ChakraValue::Bool(value) => number(&mut attribute, 27, u64::from(*value)),
                ChakraValue::Double(value) => {
                    varint(&mut attribute, 3 << 3 | 1);
                    attribute.extend_from_slice(&value.to_le_bytes());
                }
                ChakraValue::Text(value) => bytes(&mut attribute, 29, value.as_bytes()),
            }
            bytes(&mut message, 10, &attribute);
        }
        varint(&mut out, message.len() as u64);
        out.extend_from_slice(&message);
    }
    out
}

/// A field of a message.
enum ChakraField<'a> {
    Number(u64),
    Fixed64([u8; 8]),
    Fixed32([u8; 4]),
    Bytes(&'a [u8]),
}

fn take_varint(input: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = input.split_first()?;
        *input = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn take<'a>(input: &mut &'a [u8], length: u64) -> Option<&'a [u8]> {
    let (taken, rest) = input.split_at_checked(usize::try_from(length).ok()?)?;
    *input = rest;
    Some(taken)
}

fn take_field<'a>(input: &mut &'a [u8]) -> Option<(u64, ChakraField<'a>)> {
    let key = take_varint(input)?;
    let field = match key & 7 {
        0 => ChakraField::Number(take_varint(input)?),
        1 => ChakraField::Fixed64(take(input, 8)?.try_into().ok()?),
        2 => {
            let length = take_varint(input)?;
            ChakraField::Bytes(take(input, length)?)
        }
        5 => ChakraField::Fixed32(take(input, 4)?.try_into().ok()?),
        _ => return None,
    };
    Some((key >> 3, field))
}

/// Reads the trace of a rank from the content of an uncompressed file. Ignores fields of other versions.
///
/// # Errors
/// A file that is cut off or is not a sequence of messages, and two nodes with the same number.
pub fn read(content: &[u8]) -> Result<ChakraTrace, Problems> {
    const REMEDY: &str = "check that this is a Chakra trace and that it was copied whole";
    let mut problems = Problems::new();
    let mut input = content;
    let mut trace = ChakraTrace::default();
    let mut ids = std::collections::HashSet::new();
    let mut first = true;
    while !input.is_empty() {
        let at = content.len() - input.len();
        let place = if first {
            "metadata".to_owned()
        } else {
            format!("message {} at byte {at}", trace.nodes.len() + 1)
        };
        let message = take_varint(&mut input).and_then(|length| take(&mut input, length));
        let Some(message) = message else {
            problems.add(place, "is cut off", REMEDY);
            break;
        };
        if first {
            first = false;
            let Some(version) = metadata(message) else {
                problems.add(place, "cannot be decoded", REMEDY);
                break;
            };
            trace.version = version;
            continue;
        }
        if trace.nodes.len() >= MOST_NODES {
            problems.add(place, format!("exceeds the limit of {MOST_NODES} nodes"), "use a shorter trace");
            break;
        }
        let Some(node) = node(message, &mut trace.skipped) else {
            problems.add(place, "cannot be decoded", REMEDY);
            break;
        };
        if !ids.insert(node.id) {
            problems.add(
                place,
                format!("is a second node with the number {}", node.id),
                "give every node a different number",
            );
        }
        trace.nodes.push(node);
    }
    if content.is_empty() {
        problems.push(Problem::new("", "this is an empty file", REMEDY));
    }
    problems.into_result(trace)
}

/// The schema name in the metadata of traces from STAGE, a generator of synthetic traces.
const STAGE: &[u8] = b"symbolic_tensor_network";

/// Returns `true` if the metadata belongs to a trace from STAGE, whose sizes are numbers of elements.
fn is_of_stage(metadata: &[u8]) -> bool {
    metadata.windows(STAGE.len()).any(|part| part == STAGE)
}

/// Returns `true` if the sizes in an uncompressed trace are numbers of elements, as in traces from STAGE.
pub fn counts_elements(mut content: &[u8]) -> bool {
    let metadata = take_varint(&mut content).and_then(|length| take(&mut content, length));
    metadata.is_some_and(is_of_stage)
}

fn metadata(mut message: &[u8]) -> Option<String> {
    let mut version = String::new();
    while !message.is_empty() {
        if let (1, ChakraField::Bytes(text)) = take_field(&mut message)? {
            version = std::str::from_utf8(text).ok()?.to_owned();
        }
    }
    Some(version)
}

fn node(mut message: &[u8], skipped: &mut u64) -> Option<ChakraNode> {
    let mut node = ChakraNode {
        id: 0,
        name: String::new(),
        sort: ChakraSort::Other(0),
        control_deps: Vec::new(),
        data_deps: Vec::new(),
        duration_us: 0,
        attributes: Vec::new(),
    };
    while !message.is_empty() {
        match take_field(&mut message)? {
            (1, ChakraField::Number(id)) => node.id = id,
            (2, ChakraField::Bytes(name)) => node.name = String::from_utf8_lossy(name).into_owned(),
            (3, ChakraField::Number(sort)) => node.sort = ChakraSort::of(sort),
            (4, field) => deps(&field, &mut node.control_deps)?,
            (5, field) => deps(&field, &mut node.data_deps)?,
            (7, ChakraField::Number(duration)) => node.duration_us = duration,
            (10, ChakraField::Bytes(bytes)) => {
                let (name, value) = attribute(bytes)?;
                match value {
                    Some(value) => node.attributes.push((name, value)),
                    None => *skipped += 1,
                }
            }
            _ => {}
        }
    }
    Some(node)
}

/// Adds the node numbers of a dependency field, in packed form or as single fields, to `found`.
fn deps(field: &ChakraField<'_>, found: &mut Vec<u64>) -> Option<()> {
    match field {
        ChakraField::Number(dep) => found.push(*dep),
        ChakraField::Bytes(bytes) => {
            let mut rest = *bytes;
            while !rest.is_empty() {
                found.push(take_varint(&mut rest)?);
            }
        }
        ChakraField::Fixed64(_) | ChakraField::Fixed32(_) => return None,
    }
    Some(())
}

/// Returns name and value of an attribute; no value for lists, for bytes, and for attributes without a value.
fn attribute(mut message: &[u8]) -> Option<(String, Option<ChakraValue>)> {
    let zigzag = |value: u64| (value >> 1) as i64 ^ -((value & 1) as i64);
    let (mut name, mut found) = (String::new(), None);
    while !message.is_empty() {
        match take_field(&mut message)? {
            (1, ChakraField::Bytes(text)) => name = String::from_utf8_lossy(text).into_owned(),
            (3, ChakraField::Fixed64(bytes)) => found = Some(ChakraValue::Double(f64::from_le_bytes(bytes))),
            (5, ChakraField::Fixed32(bytes)) => {
                found = Some(ChakraValue::Double(f64::from(f32::from_le_bytes(bytes))));
            }
            (7 | 9, ChakraField::Number(value)) => found = Some(ChakraValue::Int(value as i64)),
            (11 | 13, ChakraField::Number(value)) => found = Some(ChakraValue::Uint(value)),
            (15 | 17, ChakraField::Number(value)) => found = Some(ChakraValue::Int(zigzag(value))),
            (19, ChakraField::Fixed32(bytes)) => {
                found = Some(ChakraValue::Uint(u64::from(u32::from_le_bytes(bytes))));
            }
            (21, ChakraField::Fixed64(bytes)) => found = Some(ChakraValue::Uint(u64::from_le_bytes(bytes))),
            (23, ChakraField::Fixed32(bytes)) => {
                found = Some(ChakraValue::Int(i64::from(i32::from_le_bytes(bytes))));
            }
            (25, ChakraField::Fixed64(bytes)) => found = Some(ChakraValue::Int(i64::from_le_bytes(bytes))),
            (27, ChakraField::Number(value)) => found = Some(ChakraValue::Bool(value != 0)),
            (29, ChakraField::Bytes(text)) => {
                found = Some(ChakraValue::Text(String::from_utf8_lossy(text).into_owned()));
            }
            _ => {}
        }
    }
    Some((name, found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Read as _;

    macro_rules! resource {
        ($name:literal) => {
            include_bytes!(concat!("../../../tests/resources/inputs/collectives/", $name)).as_slice()
        };
    }

    fn unpacked(bytes: &[u8]) -> Vec<u8> {
        let mut content = Vec::new();
        flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut content).unwrap();
        content
    }

    fn count(trace: &ChakraTrace, sort: ChakraSort) -> usize {
        trace.nodes.iter().filter(|node| node.sort == sort).count()
    }

    #[test]
    fn traces_of_other_tools_are_read() {
        let one = read(resource!("all_to_all.3.et")).unwrap();
        assert_eq!((one.nodes.len(), count(&one, ChakraSort::Collective)), (1, 1));
        assert_eq!((one.nodes[0].int("comm_type"), one.nodes[0].int("comm_size")), (Some(6), Some(1 << 20)));
        let dense =
            read(&unpacked(include_bytes!("../../../tests/resources/inputs/traces/dense.0.et.gz"))).unwrap();
        let sorts = [ChakraSort::Collective, ChakraSort::Send, ChakraSort::Receive];
        assert_eq!((dense.nodes.len(), sorts.map(|sort| count(&dense, sort))), (348, [90, 4, 4]));
        assert_eq!(dense.nodes.iter().map(|node| node.data_deps.len()).sum::<usize>(), 469);
        let moe = read(&unpacked(resource!("moe.0.et.gz"))).unwrap();
        assert_eq!((moe.nodes.len(), sorts.map(|sort| count(&moe, sort))), (155, [17, 2, 2]));
    }

    #[test]
    fn cut_and_double_nodes_are_named() {
        let node = |id| ChakraNode::message(id, ChakraSort::Send, [0, 1], 7, 1 << 40, vec![3, 1 << 50]);
        let trace = ChakraTrace { version: "0.0.4".into(), nodes: vec![node(0), node(1)], skipped: 0 };
        let content = write(&trace);
        assert_eq!(read(&content).unwrap(), trace);
        assert_eq!(trace.nodes[0].int("comm_size"), Some(1 << 40));
        let told = read(&content[..content.len() - 1]).unwrap_err().to_string();
        assert!(told.contains("message 2 at byte") && told.contains("is cut off"), "{told}");
        let twice = ChakraTrace { nodes: vec![node(4), node(4)], ..trace };
        assert!(read(&write(&twice)).unwrap_err().to_string().contains("is a second node with the number 4"));
        assert!(read(&[]).is_err());
        // A length that no file has.
        assert!(read(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]).is_err());
    }

    fn any_value() -> impl Strategy<Value = ChakraValue> {
        prop_oneof![
            any::<i64>().prop_map(ChakraValue::Int),
            any::<u64>().prop_map(ChakraValue::Uint),
            any::<bool>().prop_map(ChakraValue::Bool),
            (-1e300..1e300_f64).prop_map(ChakraValue::Double),
            ".{0,6}".prop_map(ChakraValue::Text),
        ]
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(nodes in proptest::collection::vec(
            (".{0,6}", 0..9_u32, proptest::collection::vec(any::<u64>(), 0..3), proptest::collection::vec(any::<u64>(), 0..3),
             any::<u64>(), proptest::collection::vec(("[a-z]{1,6}", any_value()), 0..4)), 0..5), version in "[0-9.]{0,5}")
        {
            let nodes = nodes.into_iter().enumerate().map(
                |(id, (name, sort, control_deps, data_deps, duration_us, attributes))| {
                    let (id, sort) = (id as u64, ChakraSort::of(u64::from(sort)));
                    ChakraNode { id, name, sort, control_deps, data_deps, duration_us, attributes }
                });
            let trace = ChakraTrace { version, nodes: nodes.collect(), skipped: 0 };
            prop_assert_eq!(read(&write(&trace)).unwrap(), trace);
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes);
        }
    }
}
