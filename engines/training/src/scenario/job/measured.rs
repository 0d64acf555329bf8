//! Measured times, volumes and order of work of a job.

use crate::scenario::limits::{MAX_BYTES, MAX_GPUS, MAX_SECONDS};
use lightbay_core::problem::Problems;
use lightbay_core::read::brief;
use lightbay_core::record;
use lightbay_core::record::{FieldType, NumberRange, Place, any, within};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::fmt;
use std::str::FromStr;

record! {
    /// Measured times and volumes of a job, instead of the closed forms. Importers write this.
    pub struct Measured {
        /// One entry per pipeline stage.
        pub stages: Vec<MeasuredStage> = any(),
        /// Bytes that one rank of a stage sends to the next stage per micro-batch.
        pub pp_bytes_per_rank: f64 = within(0.0..=MAX_BYTES),
        /// The order in which the stages compute.
        pub order: Order = any().or(Order::OneForwardOneBackward),
        /// Number of replicas of the job when `dp_bytes_per_gpu` was measured. Default: the replicas of the job. A ring
        /// of d replicas sends (d - 1) / d of the gradients, so the bytes for another number of replicas can be
        /// computed.
        pub replicas: Option<u32> = within(1..=i64::from(MAX_GPUS)),
    }
}

impl Measured {
    /// Bytes that cross on a ring of `joined` pods, divided by the measured bytes: ((d - 1) / d) / ((m - 1) / m) for d
    /// pods and m measured replicas. `replicas` is the number of replicas of the job. The factor is 1 if d = m.
    /// Otherwise it is not finite if a single replica was measured, because a single replica has no exchange.
    pub fn ring_factor(&self, replicas: u32, joined: u32) -> f64 {
        let measured = self.replicas.unwrap_or(replicas);
        if measured == joined {
            return 1.0;
        }
        let sent = |replicas: u32| (f64::from(replicas) - 1.0) / f64::from(replicas);
        sent(joined) / sent(measured)
    }
}

record! {
    /// Measured figures of one stage.
    #[derive(Copy)]
    pub struct MeasuredStage {
        /// Forward time of one micro-batch.
        pub fwd_s: f64 = within(0.0..=MAX_SECONDS),
        /// Backward time of one micro-batch.
        pub bwd_s: f64 = within(0.0..=MAX_SECONDS),
        /// Bytes that one GPU sends to its ring neighbour per iteration; 0 = the stage exchanges nothing.
        pub dp_bytes_per_gpu: f64 = within(0.0..=MAX_BYTES),
        /// Part of `dp_bytes_per_gpu` that the micro-batches send (ZeRO); this part is proportional to the number of
        /// micro-batches.
        pub dp_bytes_per_micro_batch: f64 = within(0.0..=MAX_BYTES).or(0.0).omitted(),
    }
}

/// The order in which the stages compute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// One forward, one backward, after a warm-up.
    #[default]
    OneForwardOneBackward,
    /// The literal order of every stage.
    Lists(Vec<Vec<Step>>),
}

impl Order {
    /// The name of the standard order in files.
    pub const ONE_F_ONE_B: &'static str = "1f1b";
}

impl Serialize for Order {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::OneForwardOneBackward => serializer.serialize_str(Self::ONE_F_ONE_B),
            Self::Lists(lists) => lists.serialize(serializer),
        }
    }
}

impl FieldType for Order {
    fn read(value: &Value, place: &Place<'_>, range: NumberRange, problems: &mut Problems) -> Option<Self> {
        match value {
            Value::String(name) if name == Self::ONE_F_ONE_B => Some(Self::OneForwardOneBackward),
            Value::Array(_) => Vec::read(value, place, range, problems).map(Self::Lists),
            _ => {
                let remedy = "give '1f1b', or one list of 'F1', 'B1', … per stage";
                problems.add(place.to_string(), format!("is {}", brief(value)), remedy);
                None
            }
        }
    }

    fn schema(generator: &mut SchemaGenerator, range: NumberRange) -> Schema {
        let lists = Vec::<Vec<Step>>::schema(generator, range);
        json_schema!({ "anyOf": [{ "const": Self::ONE_F_ONE_B }, lists] })
    }
}

/// One compute of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// `true` if the compute is a backward pass.
    pub backward: bool,
    /// The micro-batch, 0-based; written 1-based.
    pub micro_batch: u32,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.backward { 'B' } else { 'F' }, u64::from(self.micro_batch) + 1)
    }
}

impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A text that is not `F` or `B` followed by a micro-batch number of at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a step of a stage: write 'F' or 'B' and the number of the micro-batch (1 or more), such as 'F1'"
)]
pub struct NotAStep;

impl FromStr for Step {
    type Err = NotAStep;
    fn from_str(text: &str) -> Result<Self, NotAStep> {
        let (backward, number) = match (text.strip_prefix('F'), text.strip_prefix('B')) {
            (Some(number), _) => (false, number),
            (_, Some(number)) => (true, number),
            _ => return Err(NotAStep),
        };
        if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
            return Err(NotAStep);
        }
        let number: u32 = number.parse().map_err(|_| NotAStep)?;
        let micro_batch = number.checked_sub(1).ok_or(NotAStep)?;
        Ok(Self { backward, micro_batch })
    }
}

impl FieldType for Step {
    fn read(value: &Value, place: &Place<'_>, _range: NumberRange, problems: &mut Problems) -> Option<Self> {
        let step = value.as_str().and_then(|text| text.parse().ok());
        if step.is_none() {
            let remedy = "write 'F' or 'B' and the number of the micro-batch (1 or more), such as 'F1'";
            problems.add(place.to_string(), format!("is {}", brief(value)), remedy);
        }
        step
    }

    fn schema(_generator: &mut SchemaGenerator, _range: NumberRange) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[FB][1-9][0-9]*$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_written_as_they_are_read() {
        for text in ["F1", "B12"] {
            assert_eq!(text.parse::<Step>().map(|step| step.to_string()).as_deref(), Ok(text));
        }
        for text in ["", "F", "F0", "X1", "B+1", "F99999999999"] {
            assert_eq!(text.parse::<Step>(), Err(NotAStep), "{text}");
        }
    }
}
