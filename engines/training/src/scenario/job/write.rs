//! Writing a job: if there are measured figures, `run` omits the values that they replace.

use super::{Job, RunConfig};
use crate::scenario::idle::is_replaced;
use serde::ser::{Error, SerializeMap, SerializeStruct};
use serde::{Serialize, Serializer};
use serde_json::Value;

/// Writes a job.
pub(super) fn job<S: Serializer>(written: &Job, serializer: S) -> Result<S::Ok, S::Error> {
    let mut job = serializer.serialize_struct("Job", 8)?;
    if let Some(model) = &written.model {
        job.serialize_field("model", model)?;
    }
    match &written.measured {
        None => job.serialize_field("run", &written.run)?,
        Some(_) => job.serialize_field("run", &BesideMeasured(&written.run))?,
    }
    if let Some(pods) = &written.pods {
        job.serialize_field("pods", pods)?;
    }
    if let Some(ports) = &written.ports_per_pod {
        job.serialize_field("ports_per_pod", ports)?;
    }
    if !written.failed_ports.is_empty() {
        job.serialize_field("failed_ports", &written.failed_ports)?;
    }
    job.serialize_field("reverse", &written.reverse)?;
    if let Some(measured) = &written.measured {
        job.serialize_field("measured", measured)?;
    }
    if let Some(reconfiguration) = &written.reconfiguration {
        job.serialize_field("reconfiguration", reconfiguration)?;
    }
    job.end()
}

/// A run whose times and volumes were measured.
struct BesideMeasured<'r>(&'r RunConfig);

impl Serialize for BesideMeasured<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Value::Object(all) = serde_json::to_value(self.0).map_err(S::Error::custom)? else {
            return Err(S::Error::custom("a run is not an object"));
        };
        let mut run = serializer.serialize_map(None)?;
        for (key, value) in all.iter().filter(|(key, _)| !is_replaced(key)) {
            run.serialize_entry(key, value)?;
        }
        run.end()
    }
}
