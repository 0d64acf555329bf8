//! Reads the binary trace of a rank node by node, without the whole file in memory.

use super::{ChakraField, take_field, take_varint};
use crate::gz::io_problem;
use crate::traces::{NodeFacts, RankTrace, TraceBuilder};
use lightbay_core::problem::{Problem, Problems};
use std::io::{self, BufRead, Read as _};

/// Maximum size of one message, bytes.
const MOST_MESSAGE: u64 = 64 << 20;
const REMEDY: &str = "check that this is a Chakra trace and that it was copied whole";

/// Reads the trace of a rank from an unpacked file. `promote` is `true` to read computations with the name of a
/// collective as collectives.
///
/// # Errors
/// A file that is cut off or is not a sequence of messages, and every problem of its nodes.
pub fn read(mut reader: impl BufRead, promote: bool) -> Result<RankTrace, Problems> {
    let mut builder = TraceBuilder::new(promote);
    let mut message = Vec::new();
    let mut deps = Vec::new();
    let mut count = 0_u64;
    while next_message(&mut reader, &mut message)
        .map_err(|problem| Problem { path: place(count), ..problem })?
    {
        if count == 0 {
            let version = super::metadata(&message)
                .ok_or_else(|| Problem::new(place(0), "cannot be decoded", REMEDY))?;
            let trace = builder.trace();
            trace.in_bytes = !version.is_empty();
            trace.in_elements = super::is_of_stage(&message);
        } else {
            add(&message, &mut deps, &mut builder)
                .ok_or_else(|| Problem::new(place(count), "cannot be decoded", REMEDY))??;
        }
        count += 1;
    }
    if count == 0 {
        return Err(Problem::new("", "this is an empty file", REMEDY).into());
    }
    builder.finish()
}

fn place(count: u64) -> String {
    if count == 0 { "metadata".to_owned() } else { format!("message {count}") }
}

/// Reads the next message into `message`; `false` at the end.
fn next_message(reader: &mut impl BufRead, message: &mut Vec<u8>) -> Result<bool, Problem> {
    let failed = |error: &io::Error| io_problem("", error);
    let mut length = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = match reader.fill_buf() {
            Ok([]) if shift == 0 => return Ok(false),
            Ok([]) => return Err(cut_off()),
            Ok([byte, ..]) => *byte,
            Err(error) => return Err(failed(&error)),
        };
        reader.consume(1);
        length |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            if length > MOST_MESSAGE {
                return Err(cut_off());
            }
            message.clear();
            // A length that the file does not have must not allocate.
            let read = io::Read::take(&mut *reader, length).read_to_end(message);
            let read = read.map_err(|error| failed(&error))?;
            return if read as u64 == length { Ok(true) } else { Err(cut_off()) };
        }
    }
    Err(cut_off())
}

fn cut_off() -> Problem {
    Problem::new("", "is cut off", REMEDY)
}

/// An attribute: an integer, or text.
enum AttributeValue<'a> {
    Int(i128),
    Text(&'a str),
    Other,
}

/// Adds a node; `None` if it cannot be decoded.
fn add(mut message: &[u8], deps: &mut Vec<u64>, builder: &mut TraceBuilder) -> Option<Result<(), Problem>> {
    deps.clear();
    let mut facts = NodeFacts::new(0, 0);
    while !message.is_empty() {
        match take_field(&mut message)? {
            (1, ChakraField::Number(id)) => facts.id = id,
            (2, ChakraField::Bytes(name)) => facts.name = str::from_utf8(name).unwrap_or_default(),
            (3, ChakraField::Number(sort)) => facts.sort = sort,
            (4 | 5, field) => super::deps(&field, deps)?,
            (7, ChakraField::Number(duration)) => facts.micros = duration as f64,
            (10, ChakraField::Bytes(bytes)) => {
                let (name, value) = attribute(bytes)?;
                set(&mut facts, name, &value);
            }
            _ => {}
        }
    }
    Some(builder.add(&facts, deps))
}

fn set<'a>(facts: &mut NodeFacts<'a>, name: &[u8], value: &AttributeValue<'a>) {
    match (name, value) {
        (b"num_ops", AttributeValue::Int(value)) => facts.operations = Some(*value),
        (b"tensor_size", AttributeValue::Int(value)) => facts.tensor_size = Some(*value),
        // More exact than the duration, which is in whole microseconds.
        (b"duration_nanos", AttributeValue::Int(value)) => facts.micros = *value as f64 / 1e3,
        (b"comm_size", AttributeValue::Int(value)) => facts.comm_size = Some(*value),
        (b"comm_type", AttributeValue::Int(value)) => facts.comm_type = Some(*value),
        (b"comm_src", AttributeValue::Int(value)) => facts.from = Some(*value),
        (b"comm_dst", AttributeValue::Int(value)) => facts.to = Some(*value),
        (b"comm_tag", AttributeValue::Int(value)) => facts.tag = Some(*value),
        (b"is_cpu_op", AttributeValue::Int(value)) => facts.host = Some(*value != 0),
        (b"pg_name", AttributeValue::Text(text)) => facts.group = Some(text),
        _ => {}
    }
}

/// Returns the name and value of an attribute.
fn attribute(mut message: &[u8]) -> Option<(&[u8], AttributeValue<'_>)> {
    let zigzag = |value: u64| i128::from((value >> 1) as i64 ^ -((value & 1) as i64));
    let (mut name, mut found): (&[u8], _) = (&[], AttributeValue::Other);
    while !message.is_empty() {
        match take_field(&mut message)? {
            (1, ChakraField::Bytes(text)) => name = text,
            (7 | 9, ChakraField::Number(value)) => found = AttributeValue::Int(i128::from(value as i64)),
            (11 | 13 | 27, ChakraField::Number(value)) => found = AttributeValue::Int(i128::from(value)),
            (15 | 17, ChakraField::Number(value)) => found = AttributeValue::Int(zigzag(value)),
            (19, ChakraField::Fixed32(bytes)) => {
                found = AttributeValue::Int(i128::from(u32::from_le_bytes(bytes)));
            }
            (21, ChakraField::Fixed64(bytes)) => {
                found = AttributeValue::Int(i128::from(u64::from_le_bytes(bytes)));
            }
            (23, ChakraField::Fixed32(bytes)) => {
                found = AttributeValue::Int(i128::from(i32::from_le_bytes(bytes)));
            }
            (25, ChakraField::Fixed64(bytes)) => {
                found = AttributeValue::Int(i128::from(i64::from_le_bytes(bytes)));
            }
            (29, ChakraField::Bytes(text)) => {
                found = AttributeValue::Text(str::from_utf8(text).unwrap_or_default());
            }
            _ => {}
        }
    }
    Some((name, found))
}

/// Returns the number of nodes at the start of a file, and whether all of them are collectives, sends or receives.
pub fn begins_with(mut head: &[u8]) -> (usize, bool) {
    let (mut count, mut only_communication) = (0_usize, true);
    while let Some(length) = take_varint(&mut head) {
        let Some(message) = super::take(&mut head, length) else { break };
        if count > 0 {
            let mut rest = message;
            while let Some((field, value)) = take_field(&mut rest) {
                if let (3, ChakraField::Number(sort)) = (field, value) {
                    only_communication &= (5..=7).contains(&sort);
                }
                if rest.is_empty() {
                    break;
                }
            }
        }
        count += 1;
    }
    (count.saturating_sub(1), only_communication)
}
