//! The pods of a job, each described by the ranks that it holds.

use crate::scenario::limits::{MAX_GPUS, MAX_PORTS};
use lightbay_core::problem::{Problem, Problems, printable};
use lightbay_core::read::brief;
use lightbay_core::record;
use lightbay_core::record::{FieldType, NumberRange, Place, any, within};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;

record! {
    /// Consecutive ranks of a job that a pod holds.
    #[derive(Eq)]
    pub struct PodRange {
        /// First rank, from 0; ranks are numbered (stage x DP + replica) x GPUs of a stage + GPU.
        pub rank_first: u32 = within(0..=i64::from(MAX_GPUS) - 1),
        /// Last rank.
        pub rank_last: u32 = within(0..=i64::from(MAX_GPUS) - 1),
        /// Name of the pod; a pod may have several ranges.
        pub pod: String = any(),
    }
}

record! {
    /// A port or transceiver of a pod that has failed.
    #[derive(Eq)]
    pub struct FailedPort {
        /// Name of the pod.
        pub pod: String = any(),
        /// Number of the port, from 1.
        pub port: u32 = within(1..=i64::from(MAX_PORTS)),
    }
}

impl FailedPort {
    /// Reads ports such as `p2:1, r0p3:4`; `none` and an empty text mean that no port has failed.
    ///
    /// # Errors
    /// The first part that does not name a port.
    pub fn list(text: &str) -> Result<Vec<Self>, Problem> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty() && *part != "none");
        let port = |part: &str| {
            let (pod, port) = part.rsplit_once(':')?;
            let port = port.trim().parse().ok().filter(|port| (1..=MAX_PORTS).contains(port))?;
            Some(Self { pod: pod.trim().to_owned(), port })
        };
        let wrong = |part: &str| {
            let message = format!("'{}' names no port", printable(part));
            Problem::new("failed_ports", message, "give POD:PORT, where PORT is 1 or more, such as p2:1")
        };
        parts.map(|part| port(part).ok_or_else(|| wrong(part))).collect()
    }

    /// Writes the ports as a text that [`FailedPort::list`] reads.
    pub fn text(ports: &[Self]) -> String {
        ports.iter().map(|failed| format!("{}:{}", failed.pod, failed.port)).collect::<Vec<_>>().join(", ")
    }
}

/// The pods of a job in rank order, or range by range.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum PodMap {
    /// GPUs of each pod; ranks are assigned in order.
    Sizes(Vec<u32>),
    /// The pod of each range of ranks.
    Ranges(Vec<PodRange>),
}

/// Valid numbers of GPUs of a pod in a file.
const GPUS: NumberRange = NumberRange::Int(1, MAX_GPUS as i64);

impl FieldType for PodMap {
    fn read(value: &Value, place: &Place<'_>, range: NumberRange, problems: &mut Problems) -> Option<Self> {
        match value {
            Value::Array(entries) if entries.first().is_some_and(Value::is_object) => {
                Vec::read(value, place, range, problems).map(Self::Ranges)
            }
            Value::Array(entries) if !entries.is_empty() => {
                Vec::read(value, place, GPUS, problems).map(Self::Sizes)
            }
            _ => {
                let remedy = "give a list with the number of GPUs of each pod, or a list of objects with \
                              `rank_first`, `rank_last` and `pod`";
                problems.add(place.to_string(), format!("is {}", brief(value)), remedy);
                None
            }
        }
    }

    fn schema(generator: &mut SchemaGenerator, range: NumberRange) -> Schema {
        json_schema!({ "anyOf": [
            Vec::<u32>::schema(generator, GPUS), Vec::<PodRange>::schema(generator, range),
        ] })
    }
}
